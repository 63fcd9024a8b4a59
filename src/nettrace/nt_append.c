#include "nettrace/nt_append.h"

#include <string.h>
#include <time.h>

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
/* A full block: one more event fits into it. */
#define BLOCK_BYTES      ((size_t)65536)
#define KINDS_MAX        64u
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
    struct {              /* of a recording of its own: the events described so far */
        enum gcd_provider provider;
        uint32_t id, version;
    } kinds[KINDS_MAX];
    size_t kind_count;
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
                             .own_off = nt->own_mixed ? 0 : nt->own_off,
                             .own_highest = nt->own_highest,
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
static void put_record(struct gcd_put *w, uint32_t meta_id, const char *provider,
                       const struct gcd_new_event *e)
{
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

/* A record in the block at hand, which has no events. */
static void put_description(struct nt_append *a, uint32_t meta_id, enum gcd_provider provider,
                            const struct gcd_new_event *e)
{
    uint8_t record[1024];
    struct gcd_put w = gcd_put_make(record, sizeof record);
    bool first = gcd_put_bytes_done(&a->block) == BLOCK_HEADER_BYTES;
    put_record(&w, meta_id, gcd_provider_name(provider), e);
    gcd_put_le(&a->block, HAS_PAYLOAD_SIZE, 1);
    gcd_put_varuint(&a->block, first ? a->tail.ticks : 0); /* since the previous one */
    gcd_put_varuint(&a->block, gcd_put_bytes_done(&w));
    gcd_put_bytes(&a->block, record, gcd_put_bytes_done(&w));
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
    for (size_t i = 0; i < events->count; i++)
        put_description(a, tail->meta_id + (uint32_t)i, events->provider, &events->events[i]);
    flush(a, "MetadataBlock");
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

uint64_t nt_append_off(const struct nt_append *a)
{
    return a->off;
}

void nt_append_free(struct nt_append *a)
{
    if (a == NULL)
        return;
    struct gcd_alloc alloc = a->alloc;
    gcd_mem_free(&alloc, a, sizeof *a);
}

/* ---- a recording of its own ---- */

/* A SYSTEMTIME: year, month, day of the week, day, hour, minute, second, milliseconds. */
static void put_time(struct gcd_put *w, int64_t unix_ms)
{
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm t = { .tm_year = 1601 - 1900, .tm_mday = 1, .tm_wday = 1 }; /* unknown: FILETIME 0 */
    bool known = unix_ms >= 0 && gmtime_r(&seconds, &t) != NULL;
    const int fields[] = { t.tm_year + 1900, t.tm_mon + 1, t.tm_wday, t.tm_mday,
                           t.tm_hour,        t.tm_min,     t.tm_sec };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        gcd_put_le(w, (uint64_t)fields[i], 2);
    gcd_put_le(w, known ? (uint64_t)(unix_ms % 1000) : 0, 2);
}

/* "Nettrace", the serializer's magic, and the object "Trace": its version is that of the format. */
static void put_beginning(struct nt_append *a, const struct gcd_trace_info *of)
{
    static const uint8_t magic[] = "Nettrace\x14\0\0\0!FastSerialization.1",
                         begin[] = { 5, 5, 1, 4, 0, 0, 0, 4, 0, 0, 0 }, end = 6;
    static const char name[] = "Trace";
    uint8_t body[128];
    struct gcd_put w = gcd_put_make(body, sizeof body);
    put(a, magic, sizeof magic - 1);
    gcd_put_bytes(&w, begin, sizeof begin);
    gcd_put_le(&w, sizeof name - 1, 4);
    gcd_put_bytes(&w, name, sizeof name - 1);
    gcd_put_bytes(&w, &end, 1);
    put_time(&w, of->start_unix_ms);
    gcd_put_le(&w, 0, 8);          /* ticks at that time */
    gcd_put_le(&w, 1000000000, 8); /* ticks per second */
    gcd_put_le(&w, 8, 4);          /* bytes of a pointer */
    gcd_put_le(&w, of->process, 4);
    gcd_put_le(&w, 1, 4); /* processors */
    gcd_put_le(&w, 0, 4); /* sampling rate */
    gcd_put_bytes(&w, &end, 1);
    put(a, body, gcd_put_bytes_done(&w));
}

gcd_status nt_write_new(const struct gcd_alloc *alloc, const struct gcd_trace_info *of,
                        const struct gcd_new_events *described, struct gcd_sink *to,
                        struct nt_append **ret, struct gcd_error *err)
{
    static const struct gcd_new_events none = { .count = 0 };
    struct nt_tail tail = { .meta_id = 1, .thread = 1 };
    GCD_TRY(nt_append_new(alloc, &tail, &none, to, ret, err));
    (*ret)->events = described;
    put_beginning(*ret, of);
    return GCD_OK;
}

/* The description of an event of a runtime needs no name and no fields. */
static struct gcd_new_event description_of(const struct nt_append *a, const struct gcd_event *ev)
{
    for (size_t i = 0; ev->provider == a->events->provider && i < a->events->count; i++)
        if (a->events->events[i].id == ev->id)
            return a->events->events[i];
    return (struct gcd_new_event){ .id = ev->id, .version = ev->version, .name = "" };
}

gcd_status nt_write_event(struct nt_append *a, const struct gcd_event *ev, struct gcd_error *err)
{
    size_t i = 0;
    while (i < a->kind_count && (a->kinds[i].provider != ev->provider || a->kinds[i].id != ev->id ||
                                 a->kinds[i].version != ev->version))
        i++;
    if (i == KINDS_MAX || ev->payload_bytes > NT_APPEND_PAYLOAD_MAX)
        return gcd_fail(err, GCD_E_LIMIT, "an event does not fit into a recording");
    if (ev->time_ns > 0 && (uint64_t)ev->time_ns > a->tail.ticks) {
        flush(a, "EventBlock"); /* the times of a block are that of its first event */
        a->tail.ticks = (uint64_t)ev->time_ns;
    }
    if (i == a->kind_count) {
        struct gcd_new_event e = description_of(a, ev);
        a->kinds[i].provider = ev->provider;
        a->kinds[i].id = ev->id;
        a->kinds[i].version = ev->version;
        a->kind_count++;
        flush(a, "EventBlock");
        put_description(a, a->tail.meta_id + (uint32_t)i, ev->provider, &e);
        flush(a, "MetadataBlock");
    }
    nt_append_event(a, i, ev->payload, ev->payload_bytes);
    return GCD_OK;
}

void nt_write_end(struct nt_append *a)
{
    static const uint8_t end_mark = 1;
    nt_append_end(a);
    put(a, &end_mark, 1);
}
