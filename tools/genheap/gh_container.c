#include "gh_container.h"

#include <stdlib.h>
#include <string.h>

#include "gh_bytes.h"

#define BLOBS_BYTES_MAX (100u * 1024u) /* of one event or metadata block, without its header */
#define SMALL_BYTES_MAX (64u * 1024u)
#define BLOB_HEADER_MAX 100u

/* ---- bytes to the file
 * ----------------------------------------------------------------------------------- */

static void write_bytes(struct gh_container *c, const uint8_t *p, size_t n)
{
    uint64_t left = c->off < c->cut_off ? c->cut_off - c->off : 0;
    size_t real = left < n ? (size_t)left : n;

    if (real && !c->failed && fwrite(p, 1, real, c->file) != real)
        c->failed = true;
    c->off += n;
}

static bool buf_init(struct gh_buf *b, size_t cap)
{
    b->mem = malloc(GH_HEADROOM + cap);
    b->data = b->mem ? b->mem + GH_HEADROOM : NULL;
    b->len = 0;
    b->cap = cap;
    return b->mem != NULL;
}

static void buf_done(struct gh_buf *b)
{
    free(b->mem);
    b->mem = NULL;
}

static uint8_t *buf_end(struct gh_buf *b)
{
    return b->data + b->len;
}

static void buf_end_at(struct gh_buf *b, const uint8_t *p)
{
    b->len = (size_t)(p - b->data);
}

/* "05 05 01 version minReader name 06" in V4; in V3 the begin tag is 4. */
static uint8_t *put_object_start(const struct gh_container *c, uint8_t *p, const char *name,
                                 uint32_t version, uint32_t min_reader)
{
    unsigned begin = c->format == GH_V3 ? 4 : 5;
    size_t len = strlen(name);

    p = gh_put_u8(p, begin);
    p = gh_put_u8(p, begin);
    p = gh_put_u8(p, 1);
    p = gh_put_u32(p, version);
    p = gh_put_u32(p, min_reader);
    p = gh_put_u32(p, (uint32_t)len);
    memcpy(p, name, len);
    return gh_put_u8(p + len, 6);
}

/* Their numbers in V6. */
enum block_kind {
    BK_END,
    BK_TRACE,
    BK_EVENT,
    BK_META,
    BK_SEQUENCE_POINT,
    BK_STACK,
    BK_THREAD,
    BK_REMOVE_THREAD,
    BK_LABELS
};

/*
 * Writes one block: HEADER, then the bytes of B.  One call writes both, so B needs its headroom.  B
 * is empty afterwards. Returns the file offset of B's first byte.
 */
static uint64_t write_block(struct gh_container *c, enum block_kind kind, const uint8_t *header,
                            size_t header_bytes, struct gh_buf *b)
{
    static const char *const names[] = {
        [BK_EVENT] = "EventBlock",
        [BK_META] = "MetadataBlock",
        [BK_SEQUENCE_POINT] = "SPBlock",
        [BK_STACK] = "StackBlock",
    };
    uint8_t head[GH_HEADROOM], *p = head;
    size_t head_bytes;
    uint64_t at;

    if (c->format == GH_V6) {
        p = gh_put_u32(p, (uint32_t)(header_bytes + b->len) | (uint32_t)kind << 24);
    } else {
        p = put_object_start(c, p, names[kind], c->format == GH_V3 ? 1 : 2,
                             c->format == GH_V3 ? 0 : 2);
        p = gh_put_u32(p, (uint32_t)(header_bytes + b->len));
        while ((c->off + (uint64_t)(p - head)) % 4)
            *p++ = 0;
    }
    if (header_bytes)
        memcpy(p, header, header_bytes);
    head_bytes = (size_t)(p - head) + header_bytes;
    memcpy(b->data - head_bytes, head, head_bytes);
    at = c->off + head_bytes;
    if (c->format != GH_V6)
        b->data[b->len++] = 6; /* buffers have a spare byte */
    write_bytes(c, b->data - head_bytes, head_bytes + b->len);
    b->len = 0;
    return at;
}

/* Header of event blocks, and of metadata blocks in V4. */
static size_t put_block_header(const struct gh_container *c, const struct gh_block *k, uint8_t *to)
{
    uint8_t *p = to;
    bool odd = c->format == GH_V6 && c->odd_headers;

    if (c->format == GH_V3)
        return 0;
    p = gh_put_u16(p, odd ? 24 : 20);
    p = gh_put_u16(p, c->compressed ? 1 : 0);
    p = gh_put_u64(p, k->time_min);
    p = gh_put_u64(p, k->time_max);
    if (odd)
        p = gh_put_u32(p, 0xFFFFFFFF);
    return (size_t)(p - to);
}

/* ---- blocks
 * ---------------------------------------------------------------------------------------------- */

static void block_reset(struct gh_block *k)
{
    k->b.len = 0;
    memset(&k->prev, 0, sizeof k->prev);
    k->time_min = UINT64_MAX;
    k->time_max = 0;
}

static void flush_meta(struct gh_container *c)
{
    uint8_t header[32];
    size_t n;

    if (c->meta.b.len == 0)
        return;
    if (c->format == GH_V6) {
        n = c->odd_headers ? 5 : 2; /* here the size does not include itself */
        memset(header, 0xEE, sizeof header);
        gh_put_u16(header, (unsigned)n - 2);
    } else {
        n = put_block_header(c, &c->meta, header);
    }
    write_block(c, BK_META, header, n, &c->meta.b);
    block_reset(&c->meta);
}

static void flush_numbered(struct gh_container *c, enum block_kind kind, struct gh_buf *b,
                           uint32_t next_id, uint32_t *count)
{
    uint8_t header[8];

    if (*count == 0)
        return;
    gh_put_u32(gh_put_u32(header, next_id - *count), *count);
    write_block(c, kind, header, sizeof header, b);
    *count = 0;
}

static void flush_events(struct gh_container *c)
{
    uint8_t header[32];
    size_t n;
    uint64_t at;
    uint32_t i;

    if (c->events.b.len == 0)
        return;
    n = put_block_header(c, &c->events, header);
    at = write_block(c, BK_EVENT, header, n, &c->events.b);
    for (i = 0; i < c->n_blobs && at + c->blobs[i].end <= c->cut_off; i++) {
        c->n_events_written++;
        if (c->blobs[i].counted) {
            c->events_written[c->blobs[i].kind]++;
            c->items_written[c->blobs[i].kind] += c->blobs[i].n_items;
        }
    }
    c->n_blobs = 0;
    block_reset(&c->events);
}

void gh_container_flush(struct gh_container *c)
{
    flush_meta(c);
    flush_numbered(c, BK_STACK, &c->stacks, c->next_stack_id, &c->n_stacks);
    if (c->threads.len)
        write_block(c, BK_THREAD, NULL, 0, &c->threads);
    flush_numbered(c, BK_LABELS, &c->labels, c->next_label_id, &c->n_labels);
    flush_events(c);
}

/* ---- event headers
 * --------------------------------------------------------------------------------------- */

struct header {
    uint32_t meta, seq, processor, stack, label, payload_bytes;
    uint64_t capture, thread, time;
    uint8_t activity;
    bool sorted;
};

static uint8_t *put_activity(uint8_t *p, unsigned activity, unsigned related)
{
    p = gh_put_u64(p, activity ? gh_mix(activity * 2 + related) : 0);
    return gh_put_u64(p, activity ? gh_mix(activity * 2 + related + 1000) : 0);
}

/* 0 = none: only every second activity has a related id */
static unsigned related(unsigned activity)
{
    return activity % 2 ? 0 : activity;
}

static uint8_t *put_compressed(const struct gh_container *c, uint8_t *p, struct gh_prev *v,
                               const struct header *h)
{
    uint8_t *flags = p++;
    unsigned f = h->sorted ? 0x40 : 0;
    uint32_t expected = v->seq + (c->format == GH_V6 || h->meta != 0);

    if (h->meta != v->meta) {
        f |= 0x01;
        p = gh_put_varuint(p, h->meta);
    }
    if (h->seq != expected || h->capture != v->capture || h->processor != v->processor) {
        f |= 0x02;
        p = gh_put_varuint(p, (uint32_t)(h->seq - v->seq - 1));
        p = gh_put_varuint(p, h->capture);
        p = gh_put_varuint(p, h->processor);
    }
    if (h->thread != v->thread) {
        f |= 0x04;
        p = gh_put_varuint(p, h->thread);
    }
    if (h->stack != v->stack) {
        f |= 0x08;
        p = gh_put_varuint(p, h->stack);
    }
    p = gh_put_varuint(p, h->time - v->time);
    if (c->format == GH_V6) {
        if (h->label != v->label) {
            f |= 0x10;
            p = gh_put_varuint(p, h->label);
        }
    } else {
        if (h->activity != v->activity) {
            f |= 0x10;
            p = put_activity(p, h->activity, 0);
        }
        if (related(h->activity) != related(v->activity)) {
            f |= 0x20;
            p = put_activity(p, related(h->activity), 1);
        }
    }
    if (h->payload_bytes != v->payload_bytes) {
        f |= 0x80;
        p = gh_put_varuint(p, h->payload_bytes);
    }
    *flags = (uint8_t)f;
    v->meta = h->meta;
    v->seq = h->seq;
    v->capture = h->capture;
    v->processor = h->processor;
    v->thread = h->thread;
    v->stack = h->stack;
    v->time = h->time;
    v->label = h->label;
    v->activity = h->activity;
    v->payload_bytes = h->payload_bytes;
    return p;
}

/* The EventSize in front is filled in by the caller. */
static uint8_t *put_uncompressed(const struct gh_container *c, uint8_t *p, const struct header *h)
{
    p = gh_put_u32(p, 0);
    if (c->format == GH_V3) {
        p = gh_put_u32(p, h->meta);
        p = gh_put_u32(p, (uint32_t)h->thread);
        p = gh_put_u64(p, h->time);
    } else {
        p = gh_put_u32(p, h->meta | (h->sorted ? 0 : 0x80000000u)); /* set = not sorted */
        p = gh_put_u32(p, h->seq);
        p = gh_put_u64(p, h->thread);
        p = gh_put_u64(p, h->capture);
        p = gh_put_u32(p, h->processor);
        p = gh_put_u32(p, h->stack);
        p = gh_put_u64(p, h->time);
    }
    if (c->format == GH_V6) {
        p = gh_put_u32(p, h->label);
    } else {
        p = put_activity(p, h->activity, 0);
        p = put_activity(p, related(h->activity), 1);
    }
    return gh_put_u32(p, h->payload_bytes);
}

static size_t stack_bytes(const struct gh_container *c, unsigned stack)
{
    return stack ? (stack + 1) * (size_t)c->ptr_bytes : 0;
}

static uint8_t *put_stack(const struct gh_container *c, uint8_t *p, unsigned stack)
{
    uint64_t code = c->ptr_bytes == 8 ? UINT64_C(0x7FC200000000) : 0xF8000000u;
    unsigned i;

    p = gh_put_u32(p, (uint32_t)stack_bytes(c, stack));
    for (i = 0; i < stack_bytes(c, stack) / c->ptr_bytes; i++)
        p = gh_put_ptr(p, code + (stack * 64 + i) * 0x33, c->ptr_bytes);
    return p;
}

/* STACK: only in the V3 blob. */
static void put_blob(struct gh_container *c, struct gh_block *k, const struct header *h,
                     const uint8_t *payload, unsigned stack)
{
    uint8_t *start = buf_end(&k->b), *p = start;

    p = c->compressed ? put_compressed(c, p, &k->prev, h) : put_uncompressed(c, p, h);
    if (h->payload_bytes)
        memcpy(p, payload, h->payload_bytes);
    p += h->payload_bytes;
    if (c->format == GH_V3)
        p = put_stack(c, p, stack);
    if (!c->compressed) {
        if (c->format != GH_V6) /* block bodies start at a multiple of 4 of the file */
            while ((p - k->b.data) % 4)
                *p++ = 0;
        gh_put_u32(start, (uint32_t)(p - start - 4));
    }
    buf_end_at(&k->b, p);
    if (h->time < k->time_min)
        k->time_min = h->time;
    if (h->time > k->time_max)
        k->time_max = h->time;
}

/* ---- what events refer to
 * -------------------------------------------------------------------------------- */

static uint8_t *put_string(uint8_t *p, const char *s)
{
    size_t n = strlen(s);

    p = gh_put_varuint(p, n);
    memcpy(p, s, n);
    return p + n;
}

static uint8_t *put_fields_v4(uint8_t *p, const struct gh_meta_row *row)
{
    unsigned i;

    p = gh_put_u32(p, row->n_fields);
    for (i = 0; i < row->n_fields; i++) {
        p = gh_put_u32(p, row->fields[i].type);
        p = gh_put_utf16z(p, row->fields[i].name);
    }
    return p;
}

/* The old list cannot describe array fields: it is empty then, and a tag describes them (V5). */
static uint8_t *put_fields_tag(uint8_t *p, const struct gh_meta_row *row)
{
    uint8_t *size = p;
    unsigned i;

    p = gh_put_u32(p, 0);
    p = gh_put_u8(p, 2);
    p = gh_put_u32(p, row->n_fields);
    for (i = 0; i < row->n_fields; i++) {
        uint8_t *field = p;

        p = gh_put_u32(p, 0);
        p = gh_put_utf16z(p, row->fields[i].name);
        p = gh_put_u32(p, row->fields[i].type);
        if (row->fields[i].type == 19)
            p = gh_put_u32(p, row->fields[i].element);
        gh_put_u32(field, (uint32_t)(p - field));
    }
    gh_put_u32(size, (uint32_t)(p - size - 5));
    return p;
}

static uint8_t *put_meta_v4(uint8_t *p, const struct gh_meta_row *row, uint32_t id, bool tags)
{
    bool arrays = false;
    unsigned i;

    for (i = 0; i < row->n_fields; i++)
        arrays |= row->fields[i].type == 19;
    p = gh_put_u32(p, id);
    p = gh_put_utf16z(p, row->provider);
    p = gh_put_u32(p, row->id);
    p = gh_put_utf16z(p, row->name);
    p = gh_put_u64(p, row->keywords);
    p = gh_put_u32(p, row->version);
    p = gh_put_u32(p, row->level);
    p = arrays ? gh_put_u32(p, 0) : put_fields_v4(p, row);
    if (tags && row->opcode) {
        p = gh_put_u32(p, 1);
        p = gh_put_u8(p, 1);
        p = gh_put_u8(p, row->opcode);
    }
    if (tags && arrays)
        p = put_fields_tag(p, row);
    return p;
}

static uint8_t *put_meta_v6(uint8_t *p, const struct gh_meta_row *row, uint32_t id)
{
    uint8_t *size = p, *optional;
    unsigned i;

    p = gh_put_varuint(p + 2, id);
    p = put_string(p, row->provider);
    p = gh_put_varuint(p, row->id);
    p = put_string(p, row->name);
    p = gh_put_u16(p, row->n_fields);
    for (i = 0; i < row->n_fields; i++) {
        uint8_t *field = p;

        p = put_string(p + 2, row->fields[i].name);
        p = gh_put_u8(p, row->fields[i].type);
        if (row->fields[i].type == 19)
            p = gh_put_u8(p, row->fields[i].element);
        gh_put_u16(field, (unsigned)(p - field - 2));
    }
    optional = p;
    p += 2;
    if (row->opcode)
        p = gh_put_u8(gh_put_u8(p, 1), row->opcode);
    if (row->keywords)
        p = gh_put_u64(gh_put_u8(p, 3), row->keywords);
    if (row->level)
        p = gh_put_u8(gh_put_u8(p, 8), row->level);
    if (row->version)
        p = gh_put_u8(gh_put_u8(p, 9), row->version);
    gh_put_u16(optional, (unsigned)(p - optional - 2));
    gh_put_u16(size, (unsigned)(p - size - 2));
    return p;
}

static void room_for(struct gh_container *c, struct gh_block *k, size_t bytes)
{
    if (k->b.len + bytes > BLOBS_BYTES_MAX)
        gh_container_flush(c);
}

static void define_meta(struct gh_container *c, enum gh_meta meta, const struct gh_event *ev)
{
    uint8_t row[2048], *end;
    uint32_t id = ++c->next_meta_id;

    c->meta_id[meta] = id;
    if (c->format == GH_V6) {
        room_for(c, &c->meta, sizeof row);
        buf_end_at(&c->meta.b, put_meta_v6(buf_end(&c->meta.b), &gh_meta_rows[meta], id));
        return;
    }
    end = put_meta_v4(row, &gh_meta_rows[meta], id, c->format == GH_V4);
    {
        /* the runtime's metadata blobs: sorted, no capture thread, processor -1 */
        struct header h = {
            .processor = 0xFFFFFFFF,
            .thread = ev->capture->id,
            .time = ev->time,
            .sorted = true,
            .payload_bytes = (uint32_t)(end - row),
        };
        struct gh_block *to = c->format == GH_V3 ? &c->events : &c->meta;

        room_for(c, to, sizeof row + BLOB_HEADER_MAX);
        put_blob(c, to, &h, row, 0);
    }
}

/* Stacks and label lists get ids in order of first use after a sequence point. */
static void define_stack(struct gh_container *c, unsigned stack)
{
    if (c->stacks.len + 256 > c->stacks.cap)
        gh_container_flush(c);
    c->stack_id[stack] = c->next_stack_id++;
    buf_end_at(&c->stacks, put_stack(c, buf_end(&c->stacks), stack));
    c->n_stacks++;
}

static void define_label(struct gh_container *c, unsigned activity)
{
    uint8_t *p;

    if (c->labels.len + 256 > c->labels.cap)
        gh_container_flush(c);
    c->label_id[activity] = c->next_label_id++;
    p = buf_end(&c->labels);
    p = gh_put_u8(p, 5);
    p = put_string(p, "tenant");
    p = put_string(p, "north");
    p = gh_put_u8(p, 6);
    p = put_string(p, "shard");
    p = gh_put_varuint(p, activity * 2 - 1); /* zig-zag: a negative number */
    if (related(activity)) {
        p = gh_put_u8(p, 2);
        p = put_activity(p, related(activity), 1);
    }
    p = gh_put_u8(p, 0x81); /* last label of the list */
    p = put_activity(p, activity, 0);
    buf_end_at(&c->labels, p);
    c->n_labels++;
}

static void define_thread(struct gh_container *c, const struct gh_thread *t)
{
    uint8_t *row, *p;

    if (c->threads.len + 512 > c->threads.cap)
        gh_container_flush(c);
    row = buf_end(&c->threads);
    p = gh_put_varuint(row + 2, t->index);
    p = gh_put_u8(p, 1);
    p = put_string(p, t->name);
    p = gh_put_u8(p, 2);
    p = gh_put_varuint(p, GH_PROCESS_ID);
    p = gh_put_u8(p, 3);
    p = gh_put_varuint(p, t->id);
    if (t->index % 2) {
        p = gh_put_u8(p, 4);
        p = put_string(p, "group");
        p = put_string(p, "pool");
    }
    gh_put_u16(row, (unsigned)(p - row - 2));
    buf_end_at(&c->threads, p);
}

/* ---- interface
 * ------------------------------------------------------------------------------------------- */

static void need_thread(struct gh_container *c, struct gh_thread *t)
{
    if (t->defined)
        return;
    define_thread(c, t);
    t->defined = true;
}

void gh_container_event(struct gh_container *c, const struct gh_event *ev)
{
    struct header h = {
        .seq = ev->seq,
        .processor = ev->capture->processor,
        .time = ev->time,
        .activity = ev->activity,
        .capture = ev->capture->id,
        .thread = ev->about->id,
        .sorted = ev->sorted,
        .payload_bytes = ev->payload_bytes,
    };
    struct gh_blob *blob;

    if (c->format == GH_V6) {
        need_thread(c, ev->capture);
        need_thread(c, ev->about);
        h.capture = ev->capture->index;
        h.thread = ev->about->index;
        if (ev->activity && !c->label_id[ev->activity])
            define_label(c, ev->activity);
        h.label = ev->activity ? c->label_id[ev->activity] : 0;
        h.activity = 0;
    }
    if (!c->meta_id[ev->meta])
        define_meta(c, ev->meta, ev);
    h.meta = c->meta_id[ev->meta];
    if (c->format != GH_V3) {
        if (!c->stack_id[ev->stack])
            define_stack(c, ev->stack);
        h.stack = c->stack_id[ev->stack];
    }
    if (c->n_blobs == GH_BLOBS_MAX)
        gh_container_flush(c);
    room_for(c, &c->events, ev->payload_bytes + BLOB_HEADER_MAX + stack_bytes(c, ev->stack));
    put_blob(c, &c->events, &h, ev->payload, ev->stack);
    blob = &c->blobs[c->n_blobs++];
    blob->end = (uint32_t)c->events.b.len;
    blob->kind = (uint8_t)ev->kind;
    blob->n_items = ev->n_items;
    blob->counted = ev->counted;
}

void gh_container_sequence_point(struct gh_container *c, uint64_t time,
                                 const struct gh_thread *threads, uint32_t n_threads,
                                 uint32_t flags)
{
    uint32_t i, n = 0;
    uint8_t *p, *count;

    gh_container_flush(c);
    for (i = 0; i < n_threads; i++)
        n += threads[i].listed && !(c->format == GH_V6 && threads[i].gone);
    p = gh_put_u64(c->small.data, time);
    if (c->format == GH_V6)
        p = gh_put_u32(p, flags);
    count = p;
    p = gh_put_u32(count, n);
    for (i = 0; i < n_threads; i++) {
        const struct gh_thread *t = &threads[i];

        if (!t->listed || (c->format == GH_V6 && t->gone))
            continue;
        if (c->format == GH_V6)
            p = gh_put_varuint(gh_put_varuint(p, t->index), t->attempted);
        else
            p = gh_put_u32(gh_put_u64(p, t->id), t->attempted);
    }
    buf_end_at(&c->small, p);
    write_block(c, BK_SEQUENCE_POINT, NULL, 0, &c->small);
    memset(c->stack_id, 0, sizeof c->stack_id);
    memset(c->label_id, 0, sizeof c->label_id);
    c->next_stack_id = c->next_label_id = 1;
    if (flags & 2) {
        memset(c->meta_id, 0, sizeof c->meta_id);
        c->next_meta_id = 0;
    }
}

void gh_container_remove_thread(struct gh_container *c, const struct gh_thread *t)
{
    gh_container_flush(c);
    buf_end_at(&c->small, gh_put_varuint(gh_put_varuint(c->small.data, t->index), t->attempted));
    write_block(c, BK_REMOVE_THREAD, NULL, 0, &c->small);
}

void gh_container_unknown_block(struct gh_container *c, uint64_t salt)
{
    uint64_t i, n = gh_mix(salt) % 300;

    gh_container_flush(c);
    for (i = 0; i < n; i++)
        c->small.data[i] = (uint8_t)gh_mix(salt + i);
    c->small.len = (size_t)n;
    write_block(c, (enum block_kind)(9 + salt % 200), NULL, 0, &c->small);
}

void gh_container_end_tag(struct gh_container *c)
{
    static const uint8_t end_v4 = 1, end_v6[4] = { 0 };

    gh_container_flush(c);
    if (c->format == GH_V6)
        write_bytes(c, end_v6, 4);
    else
        write_bytes(c, &end_v4, 1);
}

static uint8_t *put_trace_start(const struct gh_container *c, uint8_t *p)
{
    static const unsigned utc[8] = { 2024, 5, 2, 14, 9, 26, 53, 589 }; /* a Tuesday */
    unsigned i;

    for (i = 0; i < 8; i++)
        p = gh_put_u16(p, utc[i]);
    p = gh_put_u64(p, GH_QPC_START);
    p = gh_put_u64(p, 1000000000);
    return gh_put_u32(p, c->ptr_bytes);
}

static void write_start(struct gh_container *c)
{
    uint8_t buf[256], *p = buf;

    if (c->format != GH_V3) {
        memcpy(p, "Nettrace", 8);
        p += 8;
    }
    if (c->format == GH_V6) {
        p = gh_put_u32(p, 0);
        p = gh_put_u32(p, 6);
        p = gh_put_u32(p, 0);
        write_bytes(c, buf, (size_t)(p - buf));
        p = put_trace_start(c, c->small.data);
        p = gh_put_u32(p, 3);
        p = put_string(put_string(p, "HardwareThreadCount"), "8");
        p = put_string(put_string(p, "ProcessId"), "4217");
        p = put_string(put_string(p, "ExpectedCPUSamplingRate"), "1000000");
        buf_end_at(&c->small, p);
        write_block(c, BK_TRACE, NULL, 0, &c->small);
        return;
    }
    p = gh_put_u32(p, 20);
    memcpy(p, "!FastSerialization.1", 20);
    p = put_object_start(c, p + 20, "Trace", c->format == GH_V3 ? 3 : 4,
                         c->format == GH_V3 ? 0 : 4);
    p = put_trace_start(c, p);
    p = gh_put_u32(p, GH_PROCESS_ID);
    p = gh_put_u32(p, GH_PROCESSORS);
    p = gh_put_u32(p, 1000000);
    p = gh_put_u8(p, 6);
    write_bytes(c, buf, (size_t)(p - buf));
}

bool gh_container_open(struct gh_container *c, const struct gh_opts *o)
{
    memset(c, 0, sizeof *c);
    c->format = o->format;
    c->compressed = o->compressed;
    c->odd_headers = o->noise;
    c->ptr_bytes = o->ptr_bytes;
    c->cut_off = o->truncate_off;
    c->next_stack_id = c->next_label_id = 1;
    if (!buf_init(&c->events.b, BLOBS_BYTES_MAX + 64) ||
        !buf_init(&c->meta.b, BLOBS_BYTES_MAX + 64) || !buf_init(&c->stacks, SMALL_BYTES_MAX) ||
        !buf_init(&c->threads, SMALL_BYTES_MAX) || !buf_init(&c->labels, SMALL_BYTES_MAX) ||
        !buf_init(&c->small, SMALL_BYTES_MAX)) {
        fprintf(stderr, "genheap: no memory\n");
        return false;
    }
    block_reset(&c->events);
    block_reset(&c->meta);
    if (strcmp(o->out_path, "-") == 0)
        c->file = stdout;
    else
        c->file = fopen(o->out_path, "wb");
    if (!c->file) {
        perror("genheap: cannot create the output");
        return false;
    }
    setvbuf(c->file, NULL, _IONBF, 0); /* only complete blocks count */
    write_start(c);
    return true;
}

bool gh_container_close(struct gh_container *c, uint64_t *ret_file_bytes)
{
    bool ok = !c->failed;

    if (c->file && fclose(c->file) != 0)
        ok = false;
    c->file = NULL;
    buf_done(&c->events.b);
    buf_done(&c->meta.b);
    buf_done(&c->stacks);
    buf_done(&c->threads);
    buf_done(&c->labels);
    buf_done(&c->small);
    *ret_file_bytes = c->off < c->cut_off ? c->off : c->cut_off;
    return ok;
}
