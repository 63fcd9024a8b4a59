#include "support/damage_parts.h"

static uint32_t le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

void damage_split_etl(struct damage *d, const uint8_t *p, size_t n)
{
    d->format = 0;
    for (size_t at = 0; at < n;) {
        damage_need(n - at >= 72, "the header of a buffer");
        size_t bytes = le32(p + at);
        if (bytes > n - at) /* the last buffer need not be filled up */
            bytes = n - at;
        damage_need(bytes >= 72, "a buffer with a header");
        damage_add_block(
            d, &(struct damage_block){ .body = p + at, .body_bytes = bytes, .fixed = at == 0 });
        at += bytes;
    }
}

void damage_join_etl(const struct damage *d, struct tb_bytes *ret)
{
    *ret = (struct tb_bytes){ NULL, 0, 0 };
    for (size_t i = 0; i < d->count; i++)
        tb_put(ret, d->blocks[i].body, d->blocks[i].body_bytes);
}
