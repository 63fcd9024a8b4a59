/* XPRESS, plain LZ77 ([MS-XCA] 2.3): greedy, with the last position of each three-byte sequence. */
#include <string.h>

#include "etl_out.h"

#define DISTANCE_MAX 8192u

struct packer {
    uint8_t *out;
    size_t n;
    size_t flags_at; /* where the current flag word goes */
    uint32_t flags;
    unsigned flag_count;
    /* offset of a byte whose upper half is free; 0 = none, because offset 0 holds a flag word */
    size_t half_at;
};

static void flag(struct packer *k, uint32_t bit)
{
    k->flags = k->flags << 1 | bit;
    if (++k->flag_count == 32) {
        put32(k->out + k->flags_at, k->flags);
        k->flag_count = 0;
        k->flags_at = k->n;
        k->n += 4;
    }
}

static void copy(struct packer *k, size_t distance, size_t length)
{
    size_t rest = length - 3;
    put16(k->out + k->n, (uint32_t)((distance - 1) << 3 | (rest < 7 ? rest : 7)));
    k->n += 2;
    if (rest < 7)
        return;
    size_t half = rest - 7 < 15 ? rest - 7 : 15;
    if (k->half_at != 0) {
        k->out[k->half_at] = (uint8_t)(k->out[k->half_at] | half << 4);
        k->half_at = 0;
    } else {
        k->half_at = k->n;
        k->out[k->n++] = (uint8_t)half;
    }
    if (half < 15)
        return;
    k->out[k->n++] = (uint8_t)(rest - 22 < 255 ? rest - 22 : 255);
    if (rest - 22 < 255)
        return;
    put16(k->out + k->n, rest < 65536 ? (uint32_t)rest : 0);
    k->n += 2;
    if (rest >= 65536) {
        put32(k->out + k->n, (uint32_t)rest);
        k->n += 4;
    }
}

size_t out_xpress(const uint8_t *in, size_t n, uint8_t *out)
{
    static uint32_t places[65536]; /* + 1; 0 = none */
    struct packer k = { .out = out, .n = 4 };
    memset(places, 0, sizeof places);
    for (size_t i = 0; i < n;) {
        size_t length = 0, from = 0;
        if (n - i >= 3) {
            uint32_t h = ((uint32_t)in[i] | (uint32_t)in[i + 1] << 8 | (uint32_t)in[i + 2] << 16) *
                             2654435761u >>
                         16;
            from = places[h];
            places[h] = (uint32_t)i + 1;
            if (from > 0 && i - (from - 1) <= DISTANCE_MAX)
                while (i + length < n && in[from - 1 + length] == in[i + length])
                    length++;
        }
        if (length >= 3) {
            copy(&k, i - (from - 1), length);
            i += length;
            flag(&k, 1);
        } else {
            k.out[k.n++] = in[i++];
            flag(&k, 0);
        }
    }
    if (k.flag_count == 0)
        k.n -= 4; /* the last word describes no item */
    else          /* unused bits are ones */
        put32(out + k.flags_at, k.flags << (32 - k.flag_count) | (UINT32_MAX >> k.flag_count));
    return k.n;
}
