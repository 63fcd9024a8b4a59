/*
 * Merges the buffers of all processors into records ordered by time, with one buffer of each
 * processor in memory.
 *
 * A thread moves between processors, so only time orders its events.  Two records of the same tick
 * come in the order of the processors; ETW does the same.
 */
#include <inttypes.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "etl/etl.h"

/* Total size of the buffers held, in units of the largest block. */
#define HELD_BLOCKS 16u

/*
 * Beyond this ratio plus a largest block it is not a recording.  Buffers of 64 KiB cannot reach it,
 * whatever they hold: each has a header of 72 bytes on disk.  The highest real ratio is 14 to 1.
 */
#define RATIO 1024u

/* The header belongs to no processor: a merged file can have older records. */
static bool same_stream(const struct etl_buffer *a, const struct etl_buffer *b)
{
    return a->part == b->part && a->header == b->header && a->processor == b->processor;
}

gcd_status etl_streams_new(struct gcd_etl *e, struct gcd_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < e->buffer_count; i++)
        n += i == 0 || !same_stream(&e->buffers[i], &e->buffers[i - 1]);
    e->streams = gcd_mem_new_array(&e->alloc, n, sizeof *e->streams);
    e->queue = gcd_mem_new_array(&e->alloc, n, sizeof *e->queue);
    e->stream_count = n;
    if (e->streams == NULL || e->queue == NULL)
        return gcd_fail_nomem(err, "reading the buffers of an .etl");
    size_t s = 0;
    for (size_t i = 0; i < e->buffer_count; i++) {
        if (i > 0 && !same_stream(&e->buffers[i], &e->buffers[i - 1]))
            e->streams[++s].next = i;
        e->streams[s].end = i + 1;
    }
    return GCD_OK;
}

void etl_streams_free(struct gcd_etl *e)
{
    for (size_t i = 0; e->streams != NULL && i < e->stream_count; i++)
        gcd_mem_free(&e->alloc, e->streams[i].data, e->streams[i].cap);
    gcd_mem_free(&e->alloc, e->streams, e->stream_count * sizeof *e->streams);
    gcd_mem_free(&e->alloc, e->queue, e->stream_count * sizeof *e->queue);
    gcd_mem_free(&e->alloc, e->packed, e->packed_cap);
}

/* ---- the queue ---- */

static bool older(const struct gcd_etl *e, uint32_t a, uint32_t b)
{
    uint64_t ta = e->streams[a].record.ticks, tb = e->streams[b].record.ticks;
    return ta != tb ? ta < tb : a < b;
}

static void sift_down(struct gcd_etl *e)
{
    uint32_t moving = e->queue[0];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < e->queue_count; at = child) {
        if (child + 1 < e->queue_count && older(e, e->queue[child + 1], e->queue[child]))
            child++;
        if (!older(e, e->queue[child], moving))
            break;
        e->queue[at] = e->queue[child];
    }
    e->queue[at] = moving;
}

static void push(struct gcd_etl *e, uint32_t stream)
{
    size_t at = e->queue_count++;
    for (; at > 0 && older(e, stream, e->queue[(at - 1) / 2]); at = (at - 1) / 2)
        e->queue[at] = e->queue[(at - 1) / 2];
    e->queue[at] = stream;
}

static void pop(struct gcd_etl *e)
{
    e->queue[0] = e->queue[--e->queue_count];
    if (e->queue_count > 0)
        sift_down(e);
}

const struct etl_record *etl_oldest(const struct gcd_etl *e)
{
    const struct etl_record *r = &e->streams[e->queue[0]].record;
    return r->bytes > 0 ? r : NULL;
}

/*
 * The buffers of one processor follow each other in time, in all files seen.  One that begins
 * before the last record of the previous one has the wrong number or processor.
 */
static void check_time(struct gcd_etl *e, struct etl_stream *s)
{
    uint64_t ticks = s->record.ticks;
    if (s->record.bytes == 0 || ticks == 0)
        return;
    if (s->fresh && ticks < s->last_ticks && !e->shared_buffers)
        e->info.damaged_buffers++;
    s->fresh = false;
    s->last_ticks = ticks;
}

/* Moves S to its next record, or ends its buffer. */
static void step(struct gcd_etl *e, struct etl_stream *s)
{
    if (etl_record_next(&s->rest, &s->record)) {
        check_time(e, s);
        return;
    }
    if (!s->cut)
        e->info.damaged_buffers++; /* from here on record boundaries are unknown */
    s->record = (struct etl_record){ .bytes = 0 };
}

void etl_advance(struct gcd_etl *e)
{
    struct etl_stream *s = &e->streams[e->queue[0]];
    step(e, s);
    if (s->record.bytes > 0)
        sift_down(e);
}

/* ---- buffers ---- */

static gcd_status room(struct gcd_etl *e, struct etl_stream *s, size_t n, struct gcd_error *err)
{
    size_t before = s->cap;
    if (!gcd_vec_reserve(&e->alloc, &s->data, &s->cap, n, 1, SIZE_MAX / 2))
        return gcd_fail_nomem(err, "reading a buffer");
    e->held_bytes += s->cap - before;
    if (e->held_bytes / HELD_BLOCKS > e->limits.block_bytes)
        return gcd_fail(err, GCD_E_LIMIT,
                        "the buffers of %zu processors take more than %" PRIu64 " bytes",
                        e->stream_count, HELD_BLOCKS * e->limits.block_bytes);
    return GCD_OK;
}

/* Reads N bytes after the header of B.  *RET_OK false: they do not exist. */
static gcd_status read_body(struct gcd_etl *e, const struct etl_buffer *b, uint8_t *to, size_t n,
                            bool *ret_ok, struct gcd_error *err)
{
    size_t got;
    GCD_TRY(gcd_input_read_at(e->in, b->off + ETL_BUFFER_HEADER, to, n, &got, err));
    *ret_ok = got == n;
    return GCD_OK;
}

/*
 * A few bytes can claim to hold a whole block, and repetitions of one byte really do.  The amount
 * allowed grows with the bytes read, so that neither time nor memory depends on such claims.
 */
static gcd_status allow(struct gcd_etl *e, size_t n, struct gcd_error *err)
{
    gcd_add_saturating(&e->unpacked, n);
    if (e->unpacked > e->limits.block_bytes &&
        (e->unpacked - e->limits.block_bytes) / RATIO > e->position)
        return gcd_fail(err, GCD_E_LIMIT,
                        "its compression ratio is above %u to 1, which no recording reaches",
                        RATIO);
    return GCD_OK;
}

static gcd_status unpack(struct gcd_etl *e, const struct etl_buffer *b, struct etl_stream *s,
                         size_t n, bool *ret_ok, struct gcd_error *err)
{
    size_t packed = b->disk_bytes - ETL_BUFFER_HEADER;
    if (packed > e->limits.block_bytes)
        return GCD_OK;
    if (!gcd_vec_reserve(&e->alloc, &e->packed, &e->packed_cap, packed, 1, SIZE_MAX / 2))
        return gcd_fail_nomem(err, "reading a buffer");
    GCD_TRY(read_body(e, b, e->packed, packed, ret_ok, err));
    *ret_ok = *ret_ok && etl_xpress(e->packed, packed, s->data, n);
    return GCD_OK;
}

/* Loads the records of B into S.  A damaged buffer is counted and yields none. */
static gcd_status load(struct gcd_etl *e, const struct etl_buffer *b, struct etl_stream *s,
                       struct gcd_error *err)
{
    bool ok = false;
    size_t n = b->end < ETL_BUFFER_HEADER ? 0 : b->end - ETL_BUFFER_HEADER;
    s->rest = gcd_cur_make(s->data, 0, b->off);
    s->cut = b->cut;
    e->position += b->disk_bytes;
    if (b->cut && (b->compressed || b->disk_bytes <= ETL_BUFFER_HEADER))
        return GCD_OK; /* the end of the file is reported anyway */
    if (b->cut && b->end > b->disk_bytes)
        n = b->disk_bytes - ETL_BUFFER_HEADER;
    bool possible = b->end >= ETL_BUFFER_HEADER && n <= e->limits.block_bytes && !b->too_large &&
                    (b->compressed || n <= b->disk_bytes - ETL_BUFFER_HEADER);
    if (possible) {
        if (b->compressed)
            GCD_TRY(allow(e, n, err));
        GCD_TRY(room(e, s, n, err));
        GCD_TRY(b->compressed ? unpack(e, b, s, n, &ok, err)
                              : read_body(e, b, s->data, n, &ok, err));
    }
    if (ok)
        s->rest = gcd_cur_make(s->data, n, b->off);
    else
        e->info.damaged_buffers++;
    return GCD_OK;
}

gcd_status etl_fill(struct gcd_etl *e, struct gcd_error *err)
{
    uint32_t i = e->phase == ETL_FILLING ? (uint32_t)e->filling : e->queue[0];
    struct etl_stream *s = &e->streams[i];
    bool more = s->next < s->end;
    if (more) {
        GCD_TRY(load(e, &e->buffers[s->next++], s, err));
        s->fresh = true;
        step(e, s);
    }
    bool ready = more && s->record.bytes > 0;
    if (e->phase == ETL_MERGING) {
        if (ready)
            sift_down(e);
        else if (!more)
            pop(e);
        return GCD_OK;
    }
    if (ready)
        push(e, i);
    if ((ready || !more) && ++e->filling == e->stream_count)
        e->phase = ETL_MERGING;
    return GCD_OK;
}
