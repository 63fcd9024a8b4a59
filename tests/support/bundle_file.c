#include "support/bundle_file.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define PARTS_MAX 8

static void put_text(struct tb_bytes *b, const char *s)
{
    tb_varuint(b, strlen(s));
    tb_put(b, s, strlen(s));
}

/* Deflate without a header; returns the size. */
static size_t put_compressed(struct tb_bytes *out, const void *bytes, size_t n)
{
    z_stream z = { .next_in = (z_const Bytef *)(uintptr_t)bytes, .avail_in = (uInt)n };
    size_t room = n + 1000;
    uint8_t *to = malloc(room);
    z.next_out = to;
    z.avail_out = (uInt)room;
    if (to == NULL || deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
        deflate(&z, Z_FINISH) != Z_STREAM_END)
        abort();
    (void)deflateEnd(&z);
    size_t made = room - z.avail_out;
    tb_put(out, to, made);
    free(to);
    return made;
}

void bundle_file(struct tb_bytes *out, size_t host_bytes, unsigned version,
                 const struct bundle_part *parts, size_t n)
{
    /* every byte plus one, so that a test program that reads itself as a host finds no second mark
     */
    static const volatile uint8_t mark_plus_one[33] =
        "\x8c\x13\x03\xba\x6b\x62\x21\x39\x73\x7c\x94\x03\x15\xd8\xa1\x33"
        "\x14\xf6\xba\xe7\xf0\xaf\x34\x19\xef\x3c\x2e\xcf\x25\xb4\x6b\xaf";
    uint64_t off[PARTS_MAX] = { 0 }, stored[PARTS_MAX] = { 0 };
    struct tb_bytes header = { 0 };
    *out = (struct tb_bytes){ 0 };
    tb_zeros(out, host_bytes);
    size_t header_at = out->n;
    tb_zeros(out, 8);
    for (size_t i = 0; i < 32; i++)
        tb_u8(out, (mark_plus_one[i] - 1u) & 0xff);
    for (size_t i = 0; i < n && i < PARTS_MAX; i++) {
        off[i] = out->n;
        if (parts[i].compressed)
            stored[i] = put_compressed(out, parts[i].bytes, parts[i].n);
        else
            tb_put(out, parts[i].bytes, parts[i].n);
    }
    tb_u64(&header, out->n);
    memcpy(out->p + header_at, header.p, 8);
    tb_free(&header);
    tb_u32(out, version);
    tb_u32(out, 0);
    tb_u32(out, (uint32_t)n);
    put_text(out, "an id");
    tb_zeros(out, 40);
    for (size_t i = 0; i < n && i < PARTS_MAX; i++) {
        tb_u64(out, off[i]);
        tb_u64(out, parts[i].n + (uint64_t)parts[i].lie);
        if (version >= 6)
            tb_u64(out, stored[i]);
        tb_u8(out, 1);
        put_text(out, parts[i].path);
    }
}
