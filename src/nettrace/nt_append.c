#include "nettrace/nt_append.h"

#include <string.h>

#include "base/cur.h"
#include "base/error.h"
#include "base/mem.h"
#include "nettrace/nt.h"

/* Flags of a compressed event header; see nt_blob.c. */
#define HAS_META_ID      0x01u
#define HAS_SEQUENCE     0x02u
#define HAS_THREAD       0x04u
#define SORTED           0x40u
#define HAS_PAYLOAD_SIZE 0x80u

/* Header of a block: its size, flag 1 = compressed event headers, the times of its first and last
 * event. */
#define BLOCK_HEADER_BYTES 20u
/* A full block; with one more event it stays below the 100 KiB of the runtime. */
#define BLOCK_BYTES      ((size_t)65536)
#define EVENT_HEADER_MAX 64u
#define BUFFER_BYTES     (BLOCK_BYTES + EVENT_HEADER_MAX + NT_APPEND_PAYLOAD_MAX)

struct nt_append {
    struct gcd_alloc alloc;
    struct gcd_sink *to;
    const struct gcd_new_events *events;
    struct nt_tail tail;
    uint64_t off;         /* in the recording */
    uint32_t sequence;    /* number of the last event */
    struct gcd_put block; /* events that are not written yet */
    uint8_t buffer[BUFFER_BYTES];
};

bool nt_tail_of(const struct gcd_trace *t, struct nt_tail *ret)
{
    struct gcd_trace_info info;
    if (t->container != &nt_container)
        return false;
    const struct gcd_nt *nt = (const struct gcd_nt *)t;
    nt_container.get_info(t, &info);
    if (nt->format != 4 || !info.loss_verified || info.unknown_events > 0 ||
        nt->seq.count + 1 >= nt->seq.max || nt->highest_meta >= NT_META_ID_MAX)
        return false;
    uint64_t thread = INT32_MAX; /* systems count from the lower end */
    while (gcd_idmap_get(&nt->seq.by_id, thread) != GCD_IDMAP_NONE)
        thread--;
    uint64_t latest = nt->seq.latest_ticks, point = nt->seq.point_ticks;
    *ret = (struct nt_tail){ .end_off = nt->off - 1,
                             .meta_id = nt->highest_meta + 1,
                             .thread = thread,
                             .ticks = latest > point ? latest : point };
    return true;
}

static void put(struct nt_append *a, const void *bytes, size_t n)
{
    gcd_sink_write(a->to, bytes, n);
    a->off += n;
}

/* An object of the serializer with a body of N bytes; see frame_object in nt_frame.c.  The versions
 * are those that runtimes write. */
static void put_object(struct nt_append *a, const char *name, const uint8_t *body, size_t n)
{
    static const uint8_t begin[] = { 5, 5, 1, 2, 0, 0, 0, 2, 0, 0, 0 }, end = 6, zeros[4];
    uint8_t head[64];
    struct gcd_put w = gcd_put_make(head, sizeof head);
    gcd_put_bytes(&w, begin, sizeof begin);
    gcd_put_le(&w, strlen(name), 4);
    gcd_put_bytes(&w, name, strlen(name));
    gcd_put_bytes(&w, &end, 1);
    gcd_put_le(&w, n, 4);
    put(a, head, gcd_put_bytes_done(&w));
    put(a, zeros, (4 - a->off % 4) % 4);
    put(a, body, n);
    put(a, &end, 1);
}

static void begin_block(struct nt_append *a)
{
    a->block = gcd_put_make(a->buffer, sizeof a->buffer);
    gcd_put_le(&a->block, BLOCK_HEADER_BYTES, 2);
    gcd_put_le(&a->block, 1, 2);
    gcd_put_le(&a->block, a->tail.ticks, 8);
    gcd_put_le(&a->block, a->tail.ticks, 8);
}

static void flush(struct nt_append *a, const char *name)
{
    if (gcd_put_bytes_done(&a->block) > BLOCK_HEADER_BYTES)
        put_object(a, name, a->buffer, gcd_put_bytes_done(&a->block));
    begin_block(a);
}

/* The payload of a metadata record; nt_meta_record in nt_meta.c reads it. */
static void put_description(struct gcd_put *w, uint32_t meta_id, const struct gcd_new_events *all,
                            const struct gcd_new_event *e)
{
    const char *provider = gcd_provider_name(all->provider);
    const uint32_t informational = 4;
    gcd_put_le(w, meta_id, 4);
    gcd_put_utf16z(w, provider, strlen(provider));
    gcd_put_le(w, e->id, 4);
    gcd_put_utf16z(w, e->name, strlen(e->name));
    gcd_put_le(w, 0, 8); /* keywords */
    gcd_put_le(w, e->version, 4);
    gcd_put_le(w, informational, 4);
    gcd_put_le(w, e->field_count, 4);
    for (size_t i = 0; i < e->field_count; i++) {
        gcd_put_le(w, e->fields[i].kind, 4);
        gcd_put_utf16z(w, e->fields[i].name, strlen(e->fields[i].name));
    }
}

static void put_descriptions(struct nt_append *a)
{
    for (size_t i = 0; i < a->events->count; i++) {
        uint8_t record[1024];
        struct gcd_put w = gcd_put_make(record, sizeof record);
        put_description(&w, a->tail.meta_id + (uint32_t)i, a->events, &a->events->events[i]);
        gcd_put_le(&a->block, HAS_PAYLOAD_SIZE, 1);
        gcd_put_varuint(&a->block, i == 0 ? a->tail.ticks : 0); /* since the previous one */
        gcd_put_varuint(&a->block, gcd_put_bytes_done(&w));
        gcd_put_bytes(&a->block, record, gcd_put_bytes_done(&w));
    }
    flush(a, "MetadataBlock");
}

gcd_status nt_append_new(const struct gcd_alloc *alloc, const struct nt_tail *tail,
                         const struct gcd_new_events *events, struct gcd_sink *to,
                         struct nt_append **ret, struct gcd_error *err)
{
    struct nt_append *a = gcd_mem_new(alloc, sizeof *a);
    if (a == NULL)
        return gcd_fail_nomem(err, "adding names to the recording");
    a->alloc = *alloc;
    a->to = to;
    a->events = events;
    a->tail = *tail;
    a->off = tail->end_off;
    begin_block(a);
    put_descriptions(a);
    *ret = a;
    return GCD_OK;
}

void nt_append_event(struct nt_append *a, size_t i, const uint8_t *payload, size_t n)
{
    if (gcd_put_bytes_done(&a->block) > BLOCK_BYTES)
        flush(a, "EventBlock");
    struct gcd_put *w = &a->block;
    bool first = gcd_put_bytes_done(w) == BLOCK_HEADER_BYTES;
    gcd_put_le(w, HAS_META_ID | SORTED | HAS_PAYLOAD_SIZE | (first ? HAS_SEQUENCE | HAS_THREAD : 0),
               1);
    gcd_put_varuint(w, a->tail.meta_id + i);
    if (first) { /* later events of this block count from here */
        gcd_put_varuint(w, a->sequence);
        gcd_put_varuint(w, a->tail.thread);
        gcd_put_varuint(w, 0); /* processor */
        gcd_put_varuint(w, a->tail.thread);
    }
    gcd_put_varuint(w, first ? a->tail.ticks : 0);
    gcd_put_varuint(w, n);
    gcd_put_bytes(w, payload, n);
    a->sequence++;
}

void nt_append_end(struct nt_append *a)
{
    uint8_t point[24];
    struct gcd_put w = gcd_put_make(point, sizeof point);
    flush(a, "EventBlock");
    gcd_put_le(&w, a->tail.ticks, 8);
    gcd_put_le(&w, 1, 4); /* threads */
    gcd_put_le(&w, a->tail.thread, 8);
    gcd_put_le(&w, a->sequence, 4);
    put_object(a, "SPBlock", point, gcd_put_bytes_done(&w));
}

void nt_append_free(struct nt_append *a)
{
    if (a == NULL)
        return;
    struct gcd_alloc alloc = a->alloc;
    gcd_mem_free(&alloc, a, sizeof *a);
}
