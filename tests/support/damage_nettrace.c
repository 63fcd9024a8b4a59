#include "support/damage_parts.h"

#include <stdlib.h>
#include <string.h>

struct reader {
    const uint8_t *p, *end;
};

static const uint8_t *take(struct reader *r, size_t n)
{
    damage_need((size_t)(r->end - r->p) >= n, "a field within its block");
    r->p += n;
    return r->p - n;
}

static uint64_t fixed(struct reader *r, size_t n)
{
    const uint8_t *p = take(r, n);
    uint64_t v = 0;
    for (size_t i = n; i-- > 0;)
        v = v << 8 | p[i];
    return v;
}

static uint64_t varuint(struct reader *r)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t b = *take(r, 1);
        v |= (uint64_t)(b & 127) << shift;
        if (b < 128)
            return v;
    }
}

/* ---- kinds of events ---- */

/* Event ids of the runtime provider by metadata id; larger ids do not matter. */
#define METAS 4096u

struct metas {
    uint32_t id[METAS];
};

#define RUNTIME_NAME "Microsoft-Windows-DotNETRuntime"

/* UTF-16 up to its terminator; is it the runtime provider's name? */
static bool take_utf16_name(struct reader *r)
{
    const char *name = RUNTIME_NAME;
    bool same = true;
    for (uint64_t unit; (unit = fixed(r, 2)) != 0;) {
        same = same && *name != '\0' && unit == (uint8_t)*name;
        name += *name != '\0';
    }
    return same && *name == '\0';
}

static void put_meta(struct metas *m, uint64_t meta, bool runtime, uint64_t id)
{
    if (meta < METAS)
        m->id[meta] = runtime ? (uint32_t)id : 0;
}

static void metas_v4(struct metas *m, const struct damage_event *e)
{
    struct reader r = { e->payload, e->payload + e->payload_bytes };
    uint64_t meta = fixed(&r, 4);
    bool runtime = take_utf16_name(&r);
    put_meta(m, meta, runtime, fixed(&r, 4));
}

static void metas_v6(struct metas *m, struct reader r)
{
    (void)take(&r, (size_t)fixed(&r, 2));
    while (r.p < r.end) {
        size_t n = (size_t)fixed(&r, 2);
        struct reader row = { r.p, r.p + n };
        (void)take(&r, n);
        uint64_t meta = varuint(&row);
        size_t name_bytes = (size_t)varuint(&row);
        const uint8_t *name = take(&row, name_bytes);
        put_meta(m, meta,
                 name_bytes == strlen(RUNTIME_NAME) && memcmp(name, RUNTIME_NAME, name_bytes) == 0,
                 varuint(&row));
    }
}

/* ---- events ---- */

static void compressed(struct reader *r, unsigned format, struct damage_event *e)
{
    uint8_t flags = (uint8_t)fixed(r, 1);
    e->meta_at = flags & 0x01 ? r->p : NULL;
    if (flags & 0x01)
        e->meta = (uint32_t)varuint(r);
    e->meta_bytes = e->meta_at != NULL ? (size_t)(r->p - e->meta_at) : 0;
    if (flags & 0x02) {
        e->number += (uint32_t)varuint(r) + 1;
        e->capture = varuint(r);
        e->processor = (uint32_t)varuint(r);
    } else if (e->meta != 0) {
        e->number++;
    }
    if (flags & 0x04)
        e->thread = varuint(r);
    if (flags & 0x08)
        e->stack = (uint32_t)varuint(r);
    e->ticks += varuint(r);
    if (flags & 0x10 && format == 6)
        e->labels = (uint32_t)varuint(r);
    else if (flags & 0x10)
        memcpy(e->activities, take(r, 16), 16);
    if (flags & 0x20 && format != 6)
        memcpy(e->activities + 16, take(r, 16), 16);
    if (flags & 0x80)
        e->payload_bytes = (size_t)varuint(r);
    e->payload = take(r, e->payload_bytes);
    e->meta |= flags & 0x40 ? 0 : UINT32_C(1) << 31;
}

static void uncompressed(struct reader *r, unsigned format, struct damage_event *e)
{
    size_t n = (size_t)fixed(r, 4);
    struct reader event = { r->p, r->p + n };
    (void)take(r, n);
    e->meta_at = event.p;
    e->meta_bytes = 4;
    e->meta = (uint32_t)fixed(&event, 4);
    e->number = (uint32_t)fixed(&event, 4);
    e->thread = fixed(&event, 8);
    e->capture = fixed(&event, 8);
    e->processor = (uint32_t)fixed(&event, 4);
    e->stack = (uint32_t)fixed(&event, 4);
    e->ticks = fixed(&event, 8);
    if (format == 6)
        e->labels = (uint32_t)fixed(&event, 4);
    else
        memcpy(e->activities, take(&event, 32), 32);
    e->payload_bytes = (size_t)fixed(&event, 4);
    e->payload = take(&event, e->payload_bytes);
}

static void read_events(unsigned format, struct damage_block *b, struct metas *m)
{
    struct reader r = { b->body, b->body + b->body_bytes };
    size_t header_bytes = (size_t)fixed(&r, 2);
    bool short_headers = fixed(&r, 2) & 1;
    (void)take(&r, header_bytes - 4);
    struct damage_event e = { .meta = 0 };
    while (r.p < r.end) {
        if (short_headers) {
            e.meta &= INT32_MAX;
            compressed(&r, format, &e);
        } else {
            uncompressed(&r, format, &e);
        }
        uint32_t meta = e.meta & INT32_MAX;
        e.id = meta < METAS ? m->id[meta] : 0;
        damage_add_event(b, b->event_count, &e);
    }
}

/* ---- blocks ---- */

/* Does a whole object begin at P[0..N), OFF bytes from the start?  Not at the end tag, and not
 * where a killed process stopped writing. */
static bool whole_object(const uint8_t *p, size_t n, size_t off)
{
    if (n < 20 || *p == 1)
        return false;
    size_t head = 15 + (size_t)p[11] + 1;
    if (p[15] == 'T')
        return n >= head + 49;
    struct reader size = { p + head, p + head + 4 };
    head += 4;
    head += (4 - (off + head) % 4) % 4;
    return n >= head && n - head > fixed(&size, 4);
}

static void split_v4(struct damage *d, const uint8_t *p, size_t n, struct metas *m)
{
    struct reader r = { p + 32, p + n };
    damage_add_block(d, &(struct damage_block){ .body = p, .body_bytes = 32, .fixed = true });
    while (whole_object(r.p, (size_t)(r.end - r.p), (size_t)(r.p - p))) {
        struct damage_block b = { .head = r.p };
        (void)take(&r, 11);
        size_t name_bytes = (size_t)fixed(&r, 4);
        b.kind = *r.p;
        (void)take(&r, name_bytes + 1);
        b.head_bytes = (size_t)(r.p - b.head);
        b.fixed = b.kind == 'T';
        b.body_bytes = b.fixed ? 48 : (size_t)fixed(&r, 4);
        if (!b.fixed)
            (void)take(&r, (4 - (size_t)(r.p - p) % 4) % 4);
        b.body = take(&r, b.body_bytes);
        (void)take(&r, 1);
        if (b.kind == 'M') {
            struct damage_block records = b;
            read_events(4, &records, m);
            for (size_t i = 0; i < records.event_count; i++)
                metas_v4(m, &records.events[i]);
            free(records.events);
        }
        b.is_events = b.kind == 'E';
        if (b.is_events)
            read_events(4, &b, m);
        damage_add_block(d, &b);
    }
    damage_add_block(d, &(struct damage_block){
                            .body = r.p, .body_bytes = (size_t)(r.end - r.p), .fixed = true });
}

static void split_v6(struct damage *d, const uint8_t *p, size_t n, struct metas *m)
{
    struct reader r = { p + 20, p + n };
    damage_add_block(d, &(struct damage_block){ .body = p, .body_bytes = 20, .fixed = true });
    while (r.p < r.end) {
        uint32_t x = (uint32_t)fixed(&r, 4);
        struct damage_block b = { .kind = x >> 24, .body_bytes = x & 0xffffff };
        b.body = take(&r, b.body_bytes);
        b.fixed = b.kind < 2;
        b.is_events = b.kind == 2;
        if (b.kind == 3)
            metas_v6(m, (struct reader){ b.body, b.body + b.body_bytes });
        if (b.is_events)
            read_events(6, &b, m);
        b.head = b.body - 4; /* not part of the file header */
        damage_add_block(d, &b);
    }
}

void damage_split_nettrace(struct damage *d, const uint8_t *p, size_t n)
{
    static struct metas m;
    memset(&m, 0, sizeof m);
    d->format = n > 20 && p[8] == 0 ? 6 : 4;
    if (d->format == 6)
        split_v6(d, p, n, &m);
    else
        split_v4(d, p, n, &m);
}

static void write_event(unsigned format, const struct damage_event *e, struct tb_bytes *ret)
{
    tb_u32(ret, (uint32_t)(e->payload_bytes + (format == 6 ? 48 : 76)));
    tb_u32(ret, e->meta);
    tb_u32(ret, e->number);
    tb_u64(ret, e->thread);
    tb_u64(ret, e->capture);
    tb_u32(ret, e->processor);
    tb_u32(ret, e->stack);
    tb_u64(ret, e->ticks);
    if (format == 6)
        tb_u32(ret, e->labels);
    else
        tb_put(ret, e->activities, 32);
    tb_u32(ret, (uint32_t)e->payload_bytes);
    tb_put(ret, e->payload, e->payload_bytes);
}

static void write_body(unsigned format, const struct damage_block *b, struct tb_bytes *ret)
{
    if (!b->is_events) {
        tb_put(ret, b->body, b->body_bytes);
        return;
    }
    tb_u16(ret, 20);
    tb_u16(ret, 0); /* long headers */
    tb_zeros(ret, 16);
    for (size_t i = 0; i < b->event_count; i++)
        write_event(format, &b->events[i], ret);
}

void damage_join_nettrace(const struct damage *d, struct tb_bytes *ret)
{
    struct tb_bytes body = { NULL, 0, 0 };
    *ret = body;
    for (size_t i = 0; i < d->count; i++) {
        const struct damage_block *b = &d->blocks[i];
        body.n = 0;
        write_body(d->format, b, &body);
        if (b->head == NULL) {
            tb_put(ret, body.p, body.n);
            continue;
        }
        if (d->format == 6) {
            tb_u32(ret, b->kind << 24 | (uint32_t)body.n);
            tb_put(ret, body.p, body.n);
            continue;
        }
        tb_put(ret, b->head, b->head_bytes);
        if (!b->fixed) {
            tb_u32(ret, (uint32_t)body.n);
            tb_zeros(ret, (4 - ret->n % 4) % 4);
        }
        tb_put(ret, body.p, body.n);
        tb_u8(ret, 6);
    }
    tb_free(&body);
}
