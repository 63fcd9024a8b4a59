/* SipHash-1-3 (Aumasson, Bernstein): fast, and with a key nobody can find a text by trying. */
#include "values/values.h"

const uint8_t values_no_key[GCD_VALUES_KEY_BYTES];

static inline uint64_t turn(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void round_of(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = turn(v[1], 13) ^ v[0];
    v[0] = turn(v[0], 32);
    v[2] += v[3];
    v[3] = turn(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = turn(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = turn(v[1], 17) ^ v[2];
    v[2] = turn(v[2], 32);
}

void values_hash_init(struct values_hash *h, const uint8_t key[GCD_VALUES_KEY_BYTES])
{
    uint64_t k0 = gcd_le64(key), k1 = gcd_le64(key + 8);
    *h = (struct values_hash){
        .v = { k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
               k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573) }
    };
}

static inline void take_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    round_of(v);
    v[0] ^= word;
}

void values_hash_words(struct values_hash *h, const uint8_t *p, size_t n)
{
    uint64_t v[4];
    memcpy(v, h->v, sizeof v);
    for (size_t i = 0; i + 8 <= n; i += 8)
        take_word(v, gcd_le64(p + i));
    memcpy(h->v, v, sizeof v);
    h->bytes += n;
}

uint64_t values_hash_end(struct values_hash *h, const uint8_t *p, size_t n)
{
    size_t whole = n / 8 * 8;
    values_hash_words(h, p, whole);
    uint64_t last = (h->bytes + n - whole) << 56;
    for (size_t i = whole; i < n; i++)
        last |= (uint64_t)p[i] << 8 * (i - whole);
    take_word(h->v, last);
    h->v[2] ^= 0xff;
    for (unsigned i = 0; i < 3; i++)
        round_of(h->v);
    return h->v[0] ^ h->v[1] ^ h->v[2] ^ h->v[3];
}

uint64_t values_hash_of(const uint8_t key[GCD_VALUES_KEY_BYTES], const uint8_t *p, size_t n)
{
    struct values_hash h;
    values_hash_init(&h, key);
    return values_hash_end(&h, p, n);
}
