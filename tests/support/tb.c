#include "support/tb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- bytes ---- */

static void *need(void *p)
{
    if (p == NULL) {
        (void)fputs("tb: out of memory\n", stderr);
        abort();
    }
    return p;
}

static uint8_t *room(struct tb_bytes *b, size_t n)
{
    if (n > b->cap - b->n) {
        b->cap = 2 * b->cap + n + 64;
        b->p = need(realloc(b->p, b->cap));
    }
    uint8_t *at = b->p + b->n;
    b->n += n;
    return at;
}

void tb_put(struct tb_bytes *b, const void *bytes, size_t n)
{
    if (n > 0)
        memcpy(room(b, n), bytes, n);
}

void tb_zeros(struct tb_bytes *b, size_t n)
{
    if (n > 0)
        memset(room(b, n), 0, n);
}

static void little(struct tb_bytes *b, uint64_t v, size_t n)
{
    uint8_t *p = room(b, n);
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

void tb_u8(struct tb_bytes *b, unsigned v)
{
    little(b, v, 1);
}

void tb_u16(struct tb_bytes *b, unsigned v)
{
    little(b, v, 2);
}

void tb_u32(struct tb_bytes *b, uint32_t v)
{
    little(b, v, 4);
}

void tb_u64(struct tb_bytes *b, uint64_t v)
{
    little(b, v, 8);
}

void tb_varuint(struct tb_bytes *b, uint64_t v)
{
    for (; v > 0x7f; v >>= 7)
        tb_u8(b, (unsigned)(v & 0x7f) | 0x80);
    tb_u8(b, (unsigned)v);
}

void tb_utf16z(struct tb_bytes *b, const char *utf8)
{
    if (utf8 == NULL)
        return;
    const uint8_t *s = (const uint8_t *)utf8;
    while (*s != 0) {
        unsigned more = *s >= 0xf0 ? 3 : *s >= 0xe0 ? 2 : *s >= 0xc0 ? 1 : 0;
        uint32_t cp = more == 0 ? *s : *s & (0x3fu >> more);
        for (s++; more > 0; more--)
            cp = cp << 6 | (*s++ & 0x3fu);
        if (cp >= 0x10000) {
            tb_u16(b, 0xd800 + ((cp - 0x10000) >> 10));
            cp = 0xdc00 + ((cp - 0x10000) & 0x3ff);
        }
        tb_u16(b, cp);
    }
    tb_u16(b, 0);
}

void tb_utf8(struct tb_bytes *b, const char *utf8)
{
    tb_varuint(b, strlen(utf8));
    tb_put(b, utf8, strlen(utf8));
}

void tb_free(struct tb_bytes *b)
{
    free(b->p);
    *b = (struct tb_bytes){ NULL, 0, 0 };
}

/* ---- the container ---- */

#define SYNC_TICKS        500
#define CAPTURE_PROCESSOR 1

enum {
    V6_END,
    V6_TRACE,
    V6_EVENTS,
    V6_METADATA,
    V6_SEQUENCE_POINT,
    V6_STACKS,
    V6_THREADS,
    V6_REMOVED,
    V6_LABELS
};

static bool is_v6(const struct tb *t)
{
    return t->format == TB_V6 || t->format == TB_V6_PLAIN;
}

static bool is_compressed(const struct tb *t)
{
    return t->format == TB_V4 || t->format == TB_V6;
}

static void object_begin(struct tb *t, const char *name, uint32_t version, uint32_t min_reader)
{
    unsigned tag = t->format == TB_V3 ? 4 : 5;
    tb_u8(&t->out, tag);
    tb_u8(&t->out, tag);
    tb_u8(&t->out, 1);
    tb_u32(&t->out, version);
    tb_u32(&t->out, min_reader);
    tb_u32(&t->out, (uint32_t)strlen(name));
    tb_put(&t->out, name, strlen(name));
    tb_u8(&t->out, 6);
}

void tb_object(struct tb *t, const char *name, uint32_t version, uint32_t min_reader,
               const void *body, size_t n)
{
    object_begin(t, name, version, min_reader);
    tb_u32(&t->out, (uint32_t)n);
    tb_zeros(&t->out, (4 - t->out.n % 4) % 4);
    tb_put(&t->out, body, n);
    tb_u8(&t->out, 6);
}

void tb_block_v6(struct tb *t, uint32_t kind, const void *body, size_t n)
{
    tb_u32(&t->out, kind << 24 | (uint32_t)n);
    tb_put(&t->out, body, n);
}

/* The fields common to both kinds of headers: 2024-05-07 10:00:00.000 UTC, clock, frequency,
 * pointer size. */
static void trace_begin(struct tb_bytes *b, unsigned ptr_bytes)
{
    static const uint16_t when[8] = { 2024, 5, 2, 7, 10, 0, 0, 0 };
    for (size_t i = 0; i < 8; i++)
        tb_u16(b, when[i]);
    tb_u64(b, SYNC_TICKS);
    tb_u64(b, 1000000000);
    tb_u32(b, ptr_bytes);
}

void tb_init(struct tb *t, enum tb_format format, unsigned ptr_bytes)
{
    memset(t, 0, sizeof *t);
    t->format = format;
    t->ptr_bytes = ptr_bytes;
    t->thread = 7;
    t->process = 1234;
    t->time_ns = t->step_ns = 1000;
    t->block_bytes = (size_t)100 << 10;
    t->stack = 1;
    if (format != TB_V3)
        tb_put(&t->out, "Nettrace", 8);
    if (is_v6(t)) {
        struct tb_bytes body = { NULL, 0, 0 };
        tb_u32(&t->out, 0);
        tb_u32(&t->out, 6);
        tb_u32(&t->out, 0);
        trace_begin(&body, ptr_bytes);
        tb_u32(&body, 2);
        tb_utf8(&body, "ProcessId");
        tb_utf8(&body, "1234");
        tb_utf8(&body, "HardwareThreadCount");
        tb_utf8(&body, "2");
        tb_block_v6(t, V6_TRACE, body.p, body.n);
        tb_free(&body);
        return;
    }
    tb_u32(&t->out, 20);
    tb_put(&t->out, "!FastSerialization.1", 20);
    object_begin(t, "Trace", format == TB_V3 ? 3 : 4, format == TB_V3 ? 0 : 4);
    trace_begin(&t->out, ptr_bytes);
    tb_u32(&t->out, t->process);
    tb_u32(&t->out, 2);
    tb_u32(&t->out, 1000000);
    tb_u8(&t->out, 6);
}

void tb_done(struct tb *t)
{
    tb_free(&t->out);
    tb_free(&t->payload);
    tb_free(&t->metas);
    tb_free(&t->events);
    free(t->threads);
    t->threads = NULL;
}

static struct tb_thread *thread_entry(struct tb *t)
{
    for (size_t i = 0; i < t->thread_count; i++)
        if (t->threads[i].id == t->thread)
            return &t->threads[i];
    if (t->thread_count == t->thread_cap) {
        t->thread_cap = 2 * t->thread_cap + 8;
        t->threads = need(realloc(t->threads, t->thread_cap * sizeof *t->threads));
    }
    struct tb_thread *e = &t->threads[t->thread_count++];
    *e = (struct tb_thread){ .id = t->thread, .process = t->process };
    return e;
}

void tb_lose(struct tb *t, uint32_t n)
{
    thread_entry(t)->number += n;
}

/*
 * Omits header fields under the same conditions as the runtime (dotnet/runtime,
 * src/native/eventpipe/ep-block.c), so the blobs look the same: 0xcf and 0x8f at the start of a
 * block and 0x80, 0x81 or 0 after it.
 */
static void blob_compressed(struct tb *t, bool is_meta, uint32_t meta_id, uint32_t number,
                            uint64_t ticks, const void *payload, size_t n)
{
    struct tb_bytes *b = is_meta ? &t->metas : &t->events;
    __typeof__(t->last) *last = is_meta ? &t->last_meta : &t->last;
    bool first = b->n == 0;
    unsigned flags = first ? 0x40 : 0;
    uint32_t stack = is_meta ? 0 : t->stack;
    flags |= meta_id != last->meta_id ? 0x01 : 0;
    flags |= number != last->number + (meta_id != 0) || t->thread != last->capture ? 0x02 : 0;
    flags |= t->thread != last->thread ? 0x04 : 0;
    flags |= stack != last->stack ? 0x08 : 0;
    flags |= is_v6(t) && t->labels != last->labels ? 0x10 : 0;
    flags |= n != last->payload_bytes ? 0x80 : 0;
    tb_u8(b, flags);
    if (flags & 0x01)
        tb_varuint(b, meta_id);
    if (flags & 0x02) {
        tb_varuint(b, (uint32_t)(number - last->number - 1));
        tb_varuint(b, t->thread);
        tb_varuint(b, CAPTURE_PROCESSOR);
    }
    if (flags & 0x04)
        tb_varuint(b, t->thread);
    if (flags & 0x08)
        tb_varuint(b, stack);
    tb_varuint(b, ticks - last->ticks);
    if (flags & 0x10)
        tb_varuint(b, t->labels);
    if (flags & 0x80)
        tb_varuint(b, n);
    tb_put(b, payload, n);
    last->meta_id = meta_id;
    last->number = number;
    last->capture = last->thread = t->thread;
    last->stack = stack;
    last->labels = t->labels;
    last->ticks = ticks;
    last->payload_bytes = (uint32_t)n;
}

/* Blocks and their headers begin at multiples of 4, so padding each blob to a multiple of 4 is
 * padding by file offset. */
static void blob_plain(struct tb *t, bool is_meta, uint32_t meta_id, uint32_t number,
                       uint64_t ticks, const void *payload, size_t n)
{
    struct tb_bytes *b = is_meta ? &t->metas : &t->events;
    size_t pad = is_v6(t) ? 0 : (4 - n % 4) % 4;
    tb_u32(b, (uint32_t)((is_v6(t) ? 48 : 76) + n + pad));
    tb_u32(b, meta_id | (b->n == 4 ? 0 : UINT32_C(1) << 31));
    tb_u32(b, number);
    tb_u64(b, t->thread);
    tb_u64(b, t->thread);
    tb_u32(b, CAPTURE_PROCESSOR);
    tb_u32(b, is_meta ? 0 : 1);
    tb_u64(b, ticks);
    if (is_v6(t))
        tb_u32(b, t->labels);
    else
        tb_zeros(b, 32);
    tb_u32(b, (uint32_t)n);
    tb_put(b, payload, n);
    tb_zeros(b, pad);
}

static void blob_v3(struct tb *t, uint32_t meta_id, uint64_t ticks, const void *payload, size_t n)
{
    struct tb_bytes *b = &t->events;
    size_t pad = (4 - n % 4) % 4;
    tb_u32(b, (uint32_t)(52 + n + 4 + 8 + pad));
    tb_u32(b, meta_id);
    tb_u32(b, (uint32_t)t->thread);
    tb_u64(b, ticks);
    tb_zeros(b, 32);
    tb_u32(b, (uint32_t)n);
    tb_put(b, payload, n);
    tb_u32(b, 8); /* a stack of one frame */
    tb_u64(b, 0xdead);
    tb_zeros(b, pad);
}

static void blob(struct tb *t, bool is_meta, uint32_t meta_id, uint32_t number, uint64_t ticks,
                 const void *payload, size_t n)
{
    if (t->format == TB_V3)
        blob_v3(t, meta_id, ticks, payload, n);
    else if (is_compressed(t))
        blob_compressed(t, is_meta, meta_id, number, ticks, payload, n);
    else
        blob_plain(t, is_meta, meta_id, number, ticks, payload, n);
}

static void define_v6(struct tb *t, uint32_t meta_id, const struct tb_meta *m)
{
    struct tb_bytes row = { NULL, 0, 0 };
    tb_varuint(&row, meta_id);
    tb_utf8(&row, m->provider);
    tb_varuint(&row, m->event_id);
    tb_utf8(&row, "");
    tb_u16(&row, 0);
    tb_u16(&row, 4);
    tb_u8(&row, 8); /* level */
    tb_u8(&row, 4);
    tb_u8(&row, 9); /* version */
    tb_u8(&row, m->version);
    tb_u16(&t->metas, (unsigned)row.n);
    tb_put(&t->metas, row.p, row.n);
    tb_free(&row);
}

static void define(struct tb *t, uint32_t meta_id, const struct tb_meta *m)
{
    if (is_v6(t)) {
        define_v6(t, meta_id, m);
        return;
    }
    struct tb_bytes r = { NULL, 0, 0 };
    tb_u32(&r, meta_id);
    tb_utf16z(&r, m->provider);
    tb_u32(&r, m->event_id);
    tb_utf16z(&r, "");
    tb_u64(&r, 0);
    tb_u32(&r, m->version);
    tb_u32(&r, 4);
    tb_u32(&r, 0);
    blob(t, true, 0, 0, (uint64_t)(t->time_ns + SYNC_TICKS), r.p, r.n);
    tb_free(&r);
}

void tb_event_by_meta(struct tb *t, uint32_t meta_id, const void *payload, size_t n)
{
    if (t->events.n > t->block_bytes)
        tb_flush(t);
    blob(t, false, meta_id, ++thread_entry(t)->number, (uint64_t)(t->time_ns + SYNC_TICKS), payload,
         n);
    t->time_ns += t->step_ns;
}

void tb_event(struct tb *t, const char *provider, uint32_t event_id, uint32_t version,
              const void *payload, size_t n)
{
    size_t i = 0;
    while (i < t->meta_count && (strcmp(t->meta[i].provider, provider) != 0 ||
                                 t->meta[i].event_id != event_id || t->meta[i].version != version))
        i++;
    if (i == t->meta_count) {
        if (i == sizeof t->meta / sizeof *t->meta) {
            (void)fputs("tb: too many kinds of events\n", stderr);
            abort();
        }
        struct tb_meta *m = &t->meta[t->meta_count++];
        (void)snprintf(m->provider, sizeof m->provider, "%s", provider);
        m->event_id = event_id;
        m->version = version;
        define(t, (uint32_t)i + 1, m);
    }
    tb_event_by_meta(t, (uint32_t)i + 1, payload, n);
}

/* The header of event blocks, and of metadata blocks of format 4, followed by the blobs. */
static void block_of_blobs(struct tb *t, const char *name, uint32_t v6_kind, struct tb_bytes *blobs)
{
    struct tb_bytes b = { NULL, 0, 0 };
    tb_u16(&b, 20);
    tb_u16(&b, is_compressed(t));
    tb_u64(&b, SYNC_TICKS);
    tb_u64(&b, (uint64_t)(t->time_ns + SYNC_TICKS));
    tb_put(&b, blobs->p, blobs->n);
    if (is_v6(t))
        tb_block_v6(t, v6_kind, b.p, b.n);
    else
        tb_object(t, name, 2, 2, b.p, b.n);
    tb_free(&b);
    blobs->n = 0;
}

static void announce_threads(struct tb *t)
{
    struct tb_bytes rows = { NULL, 0, 0 };
    for (size_t i = 0; i < t->thread_count; i++) {
        struct tb_thread *e = &t->threads[i];
        if (e->announced)
            continue;
        struct tb_bytes row = { NULL, 0, 0 };
        tb_varuint(&row, e->id);
        tb_u8(&row, 1);
        tb_utf8(&row, "worker");
        tb_u8(&row, 2);
        tb_varuint(&row, e->process);
        tb_u8(&row, 3);
        tb_varuint(&row, 5000 + e->id);
        tb_u16(&rows, (unsigned)row.n);
        tb_put(&rows, row.p, row.n);
        tb_free(&row);
        e->announced = true;
    }
    if (rows.n > 0)
        tb_block_v6(t, V6_THREADS, rows.p, rows.n);
    tb_free(&rows);
}

void tb_stacks(struct tb *t, const uint64_t *addresses, size_t n, size_t each)
{
    struct tb_bytes b = { NULL, 0, 0 };
    tb_flush(t);
    tb_u32(&b, 2);
    tb_u32(&b, (uint32_t)(n / each));
    for (size_t i = 0; i < n; i++) {
        if (i % each == 0)
            tb_u32(&b, (uint32_t)(8 * each));
        tb_u64(&b, addresses[i]);
    }
    if (is_v6(t))
        tb_block_v6(t, V6_STACKS, b.p, b.n);
    else
        tb_object(t, "StackBlock", 2, 2, b.p, b.n);
    tb_free(&b);
}

void tb_flush(struct tb *t)
{
    /* an interned empty stack, as the runtime writes for events without one */
    static const uint8_t stacks[12] = { 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0 };
    if (t->format == TB_V3) {
        if (t->events.n > 0)
            tb_object(t, "EventBlock", 1, 0, t->events.p, t->events.n);
        t->events.n = 0;
        return;
    }
    if (is_v6(t)) {
        announce_threads(t);
        if (t->metas.n > 0) {
            struct tb_bytes b = { NULL, 0, 0 };
            tb_u16(&b, 2); /* two unknown header bytes */
            tb_u16(&b, 0xeeee);
            tb_put(&b, t->metas.p, t->metas.n);
            tb_block_v6(t, V6_METADATA, b.p, b.n);
            tb_free(&b);
            t->metas.n = 0;
        }
    } else if (t->metas.n > 0) {
        block_of_blobs(t, "MetadataBlock", V6_METADATA, &t->metas);
    }
    if (t->events.n > 0 && !t->stacks_written) {
        if (is_v6(t))
            tb_block_v6(t, V6_STACKS, stacks, sizeof stacks);
        else
            tb_object(t, "StackBlock", 2, 2, stacks, sizeof stacks);
        t->stacks_written = true;
    }
    if (t->events.n > 0)
        block_of_blobs(t, "EventBlock", V6_EVENTS, &t->events);
    memset(&t->last, 0, sizeof t->last);
    memset(&t->last_meta, 0, sizeof t->last_meta);
}

void tb_sequence_point(struct tb *t, uint32_t flags)
{
    tb_flush(t);
    if (t->format == TB_V3)
        return;
    struct tb_bytes b = { NULL, 0, 0 };
    tb_u64(&b, (uint64_t)(t->time_ns + SYNC_TICKS));
    if (is_v6(t))
        tb_u32(&b, flags);
    tb_u32(&b, (uint32_t)t->thread_count);
    for (size_t i = 0; i < t->thread_count; i++) {
        if (is_v6(t)) {
            tb_varuint(&b, t->threads[i].id);
            tb_varuint(&b, t->threads[i].number);
        } else {
            tb_u64(&b, t->threads[i].id);
            tb_u32(&b, t->threads[i].number);
        }
    }
    if (is_v6(t))
        tb_block_v6(t, V6_SEQUENCE_POINT, b.p, b.n);
    else
        tb_object(t, "SPBlock", 2, 2, b.p, b.n);
    tb_free(&b);
    t->stacks_written = false; /* stack ids end here */
    if (is_v6(t) && flags & 1)
        t->thread_count = 0;
    if (is_v6(t) && flags & 2)
        t->meta_count = 0;
}

void tb_label_version(struct tb *t, uint32_t index, unsigned version)
{
    struct tb_bytes b = { NULL, 0, 0 };
    tb_u32(&b, index);
    tb_u32(&b, 1);
    tb_u8(&b, 5); /* two strings */
    tb_utf8(&b, "key");
    tb_utf8(&b, "value");
    tb_u8(&b, 0x8a); /* version, the last label of the list */
    tb_u8(&b, version);
    tb_flush(t);
    tb_block_v6(t, V6_LABELS, b.p, b.n);
    tb_free(&b);
}

void tb_remove_thread(struct tb *t)
{
    struct tb_thread *e = thread_entry(t);
    struct tb_bytes b = { NULL, 0, 0 };
    tb_flush(t);
    tb_varuint(&b, e->id);
    tb_varuint(&b, e->number);
    tb_block_v6(t, V6_REMOVED, b.p, b.n);
    tb_free(&b);
    *e = t->threads[--t->thread_count];
}

void tb_end(struct tb *t)
{
    tb_flush(t);
    if (is_v6(t))
        tb_block_v6(t, V6_END, NULL, 0);
    else
        tb_u8(&t->out, 1);
}

void tb_close(struct tb *t)
{
    tb_sequence_point(t, 0);
    tb_end(t);
}

/* ---- the events of a heap walk ---- */

static struct tb_bytes *payload(struct tb *t)
{
    t->payload.n = 0;
    return &t->payload;
}

static void pointer(const struct tb *t, struct tb_bytes *b, uint64_t v)
{
    little(b, v, t->ptr_bytes);
}

static void emit(struct tb *t, const char *provider, uint32_t event_id, uint32_t version)
{
    tb_event(t, provider, event_id, version, t->payload.p, t->payload.n);
}

void tb_gc_start_full(struct tb *t, uint32_t number, uint32_t depth, uint32_t reason, uint32_t type)
{
    struct tb_bytes *b = payload(t);
    tb_u32(b, number);
    tb_u32(b, depth);
    tb_u32(b, reason);
    tb_u32(b, type);
    tb_u16(b, 0);
    tb_u64(b, 0);
    emit(t, TB_RUNTIME, 1, 2);
}

void tb_gc_start(struct tb *t, uint32_t number)
{
    tb_gc_start_full(t, number, 2, 1, 0);
}

void tb_gc_end(struct tb *t, uint32_t number)
{
    int64_t step_ns = t->step_ns;
    t->step_ns = 0;
    if (t->index[TB_NODES] > 0 && !t->bare) { /* every walk has them */
        if (t->index[TB_ROOTS] == 0)
            tb_roots(t, NULL, 0);
        if (!t->statics)
            tb_statics(t, NULL, 0);
    }
    t->step_ns = step_ns;
    t->statics = false;
    struct tb_bytes *b = payload(t);
    tb_u32(b, number);
    tb_u32(b, 2);
    tb_u16(b, 0);
    emit(t, TB_RUNTIME, 2, 1);
    memset(t->index, 0, sizeof t->index);
}

void tb_heap_count(struct tb *t, uint32_t heaps)
{
    struct tb_bytes *b = payload(t);
    tb_u64(b, 0);
    tb_u32(b, heaps);
    tb_zeros(b, 26);
    emit(t, TB_RUNTIME, 205, 2);
}

void tb_types(struct tb *t, const struct tb_type *types, size_t n)
{
    struct tb_bytes *b = payload(t);
    tb_u32(b, (uint32_t)n);
    tb_u16(b, 0);
    for (size_t i = 0; i < n; i++) {
        tb_u64(b, types[i].id);
        tb_u64(b, types[i].module);
        tb_u32(b, types[i].token);
        tb_u32(b, types[i].flags);
        tb_u8(b, types[i].element_type);
        tb_utf16z(b, types[i].name != NULL ? types[i].name : "");
        tb_u32(b, types[i].parameter != 0);
        if (types[i].parameter != 0)
            tb_u64(b, types[i].parameter);
    }
    emit(t, TB_RUNTIME, 15, 0);
}

/* Index, count, runtime instance. */
static struct tb_bytes *bulk(struct tb *t, unsigned kind, size_t n)
{
    struct tb_bytes *b = payload(t);
    tb_u32(b, t->index[kind]++);
    tb_u32(b, (uint32_t)n);
    tb_u16(b, 0);
    return b;
}

void tb_nodes(struct tb *t, const struct tb_node *nodes, size_t n)
{
    struct tb_bytes *b = bulk(t, TB_NODES, n);
    for (size_t i = 0; i < n; i++) {
        pointer(t, b, nodes[i].address);
        tb_u64(b, nodes[i].size);
        tb_u64(b, nodes[i].type);
        tb_u64(b, nodes[i].edges);
    }
    emit(t, TB_RUNTIME, 18, 0);
}

void tb_edges(struct tb *t, const uint64_t *targets, size_t n)
{
    struct tb_bytes *b = bulk(t, TB_EDGES, n);
    for (size_t i = 0; i < n; i++) {
        pointer(t, b, targets[i]);
        tb_u32(b, 0);
    }
    emit(t, TB_RUNTIME, 19, 0);
}

void tb_roots(struct tb *t, const struct tb_root *roots, size_t n)
{
    struct tb_bytes *b = bulk(t, TB_ROOTS, n);
    for (size_t i = 0; i < n; i++) {
        pointer(t, b, roots[i].object);
        tb_u8(b, roots[i].kind);
        tb_u32(b, roots[i].flags);
        pointer(t, b, roots[i].id);
    }
    emit(t, TB_RUNTIME, 16, 0);
}

void tb_statics(struct tb *t, const struct tb_static *statics, size_t n)
{
    struct tb_bytes *b = payload(t);
    tb_u32(b, (uint32_t)n);
    tb_u64(b, 0xd0d0); /* the application domain */
    tb_u16(b, 0);
    for (size_t i = 0; i < n; i++) {
        tb_u64(b, statics[i].slot);
        tb_u64(b, statics[i].object);
        tb_u64(b, statics[i].type);
        tb_u32(b, 0);
        tb_utf16z(b, statics[i].name != NULL ? statics[i].name : "");
    }
    emit(t, TB_RUNTIME, 38, 0);
    t->statics = true;
}

void tb_dependents(struct tb *t, const struct tb_dependent *dependents, size_t n)
{
    struct tb_bytes *b = bulk(t, TB_DEPENDENTS, n);
    for (size_t i = 0; i < n; i++) {
        pointer(t, b, dependents[i].key);
        pointer(t, b, dependents[i].value);
        pointer(t, b, 0xf00);
    }
    emit(t, TB_RUNTIME, 17, 0);
}

void tb_ccws(struct tb *t, const uint64_t *objects, size_t n)
{
    struct tb_bytes *b = payload(t);
    tb_u32(b, (uint32_t)n);
    tb_u16(b, 0);
    for (size_t i = 0; i < n; i++) {
        tb_u64(b, 0xcc0);
        tb_u64(b, objects[i]);
        tb_zeros(b, 16);
        tb_u32(b, 1);
        tb_u32(b, 0);
        tb_u32(b, 1);
    }
    emit(t, TB_RUNTIME, 36, 0);
}

void tb_rcws(struct tb *t, const uint64_t *objects, size_t n)
{
    struct tb_bytes *b = payload(t);
    tb_u32(b, (uint32_t)n);
    tb_u16(b, 0);
    for (size_t i = 0; i < n; i++) {
        tb_u64(b, objects[i]);
        tb_zeros(b, 24);
        tb_u32(b, 1);
        tb_u32(b, 0);
    }
    emit(t, TB_RUNTIME, 37, 0);
}

void tb_range(struct tb *t, unsigned generation, uint64_t start, uint64_t used_bytes,
              uint64_t reserved_bytes)
{
    struct tb_bytes *b = payload(t);
    tb_u8(b, generation);
    pointer(t, b, start);
    tb_u64(b, used_bytes);
    tb_u64(b, reserved_bytes);
    tb_u16(b, 0);
    emit(t, TB_RUNTIME, 23, 0);
}

void tb_module(struct tb *t, uint64_t id, const char *path)
{
    tb_module_symbols(t, id, path, 0, 0);
}

void tb_module_symbols(struct tb *t, uint64_t id, const char *path, unsigned guid, uint32_t age)
{
    struct tb_bytes *b = payload(t);
    tb_u64(b, id);
    tb_u64(b, 0xa55e);
    tb_u32(b, 8);
    tb_u32(b, 0);
    tb_utf16z(b, path);
    tb_utf16z(b, "");
    tb_u16(b, 0);
    for (int i = 0; i < 16; i++)
        tb_u8(b, guid);
    tb_u32(b, age);
    tb_utf16z(b, "");
    tb_zeros(b, 20); /* of the native code */
    tb_utf16z(b, "");
    emit(t, TB_RUNDOWN, 154, 2);
}

void tb_runtime_info(struct tb *t, unsigned major, unsigned minor, unsigned patch,
                     const char *command_line)
{
    struct tb_bytes *b = payload(t);
    tb_u16(b, 0);
    tb_u16(b, 2); /* CoreCLR */
    for (size_t i = 0; i < 2; i++) {
        tb_u16(b, major);
        tb_u16(b, minor);
        tb_u16(b, patch);
        tb_u16(b, 0);
    }
    tb_u32(b, 0);
    tb_u8(b, 0);
    tb_utf16z(b, command_line);
    tb_zeros(b, 16);
    tb_utf16z(b, "");
    emit(t, TB_RUNDOWN, 187, 0);
}

void tb_process_info(struct tb *t, const char *command_line, const char *os, const char *arch)
{
    struct tb_bytes *b = payload(t);
    tb_utf16z(b, command_line);
    tb_utf16z(b, os);
    tb_utf16z(b, arch);
    emit(t, TB_EVENTPIPE, 1, 1);
}
