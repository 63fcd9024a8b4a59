/*
 * The file: a sequence of buffers; the first one has a record that describes the file.
 *
 * Four sources show what is missing: the counters of that record, the buffer numbers (0, 1, 2 …,
 * not in file order), a flag of the buffer after a gap, and the size stated by each buffer.
 *
 * The number identifies a buffer within its file: the numbers are complete and unique in every file
 * seen, while the position in the file means nothing.  So only the numbers present matter, never
 * the count of buffers.
 */
#include <inttypes.h>
#include <string.h>

#include <gcdumpc/unstable/io/input_parts.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/sort.h"
#include "etl/etl.h"

/* Real buffers have 64 KiB, compressed ones a fifth of that: enough for at least 25 GiB. */
#define MAX_BUFFERS ((size_t)2 << 20)

/* Headers read between two checks of the clock or for a signal. */
#define HEADERS_AT_ONCE 1024u

#define FILE_MODE_CIRCULAR       0x02u
#define FILE_MODE_COMPRESSED     0x04000000u
#define FILE_MODE_SHARED_BUFFERS 0x10000000u /* EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING */
#define COMPRESSION_XPRESS       3u

/* Offsets in the buffer header. */
#define OFF_SEQUENCE  0x18
#define OFF_PROCESSOR 0x28
#define OFF_STATE     0x2c
#define OFF_END       0x30
#define OFF_FLAGS     0x34
#define OFF_TYPE      0x36
#define TYPE_HEADER   4u

bool etl_probe(const uint8_t *head, size_t n)
{
    const uint8_t *record = head + ETL_BUFFER_HEADER;
    /* a header buffer that begins with a kernel record of group 0, number 0 */
    return n >= ETL_BUFFER_HEADER + 0x20 && gcd_le32(head) >= ETL_BUFFER_HEADER + 0x20 &&
           gcd_le16(head + OFF_TYPE) == TYPE_HEADER && record[3] == 0xc0 &&
           (record[2] == 1 || record[2] == 2) && gcd_le16(record + 6) == 0;
}

/* ---- the first record ---- */

/* Days from 1601 to 1970. */
#define FILETIME_TO_UNIX_MS INT64_C(11644473600000)
/* 18 GHz: no clock is faster, and times in nanoseconds fit into 64 bits. */
#define FREQUENCY_MAX (UINT64_MAX / ETL_NS_A_SECOND)

static gcd_status take_clock(struct gcd_etl *e, uint32_t clock, uint64_t frequency,
                             struct gcd_error *err)
{
    if (clock == ETL_CLOCK_SYSTEM_TIME)
        frequency = 10000000; /* FILETIME */
    if (e->part.number > 0 && frequency != e->frequency)
        return gcd_fail(err, GCD_E_UNSUPPORTED,
                        "file %zu has a different clock than the first one: they do not belong to "
                        "one recording",
                        e->part.number + 1);
    e->frequency = frequency;
    if (clock == ETL_CLOCK_CPU_CYCLES)
        return gcd_fail(err, GCD_E_UNSUPPORTED,
                        "the recording counts time in processor cycles, which cannot be compared "
                        "between processors");
    if (e->frequency == 0 || e->frequency > FREQUENCY_MAX)
        return gcd_fail(err, GCD_E_FORMAT, "the clock frequency of the recording is %" PRIu64,
                        e->frequency);
    return GCD_OK;
}

/* TRACE_LOGFILE_HEADER of evntrace.h; its pointers have the size used by the system that wrote it.
 */
static gcd_status file_header(struct gcd_etl *e, const uint8_t *head, size_t n,
                              struct gcd_error *err)
{
    const uint8_t *record = head + ETL_BUFFER_HEADER;
    size_t ptr = record[2] == 1 ? 4 : 8;
    struct gcd_cur c = gcd_cur_make(record, n - ETL_BUFFER_HEADER, ETL_BUFFER_HEADER);
    bool first = e->part.number == 0;
    gcd_cur_skip(&c, 0x20);
    e->part.buffer_bytes = gcd_cur_u32(&c);
    uint8_t version = gcd_cur_u8(&c);
    gcd_cur_skip(&c, 3 + 4); /* build of the system */
    uint32_t processors = gcd_cur_u32(&c);
    gcd_cur_skip(&c, 16); /* end, timer resolution, largest size */
    e->part.mode = gcd_cur_u32(&c);
    e->part.written = gcd_cur_u32(&c);
    gcd_cur_skip(&c, 4);
    uint32_t ptr_bytes = gcd_cur_u32(&c);
    e->info.lost_events += gcd_cur_u32(&c);
    /* processor speed, names, time zone, boot */
    gcd_cur_skip(&c, 4 + 2 * ptr + 0xac + 4 + 8);
    uint64_t frequency = gcd_cur_u64(&c);
    uint64_t start = gcd_cur_u64(&c);
    uint32_t clock = gcd_cur_u32(&c);
    e->info.lost_buffers += gcd_cur_u32(&c);
    if (c.err != GCD_OK)
        return gcd_fail_at(err, GCD_E_TRUNCATED, e->part.begin_off + n,
                           "the file ends within its header");
    if (ptr_bytes != 4 && ptr_bytes != 8)
        return gcd_fail_at(err, GCD_E_FORMAT, ETL_BUFFER_HEADER + 0x20 + 0x2c,
                           "the pointer size of the recording is %" PRIu32 ", not 4 or 8",
                           ptr_bytes);
    uint32_t compression = gcd_le32(head + OFF_STATE) & 0xffff;
    if ((e->part.mode & FILE_MODE_COMPRESSED) != 0 && (compression == 2 || compression == 4))
        return gcd_fail_at(err, GCD_E_UNSUPPORTED, OFF_STATE,
                           "its buffers are compressed with %s; only XPRESS is supported",
                           compression == 2 ? "LZNT1" : "XPRESS with Huffman codes");
    GCD_TRY(take_clock(e, clock, frequency, err));
    e->unclosed = e->unclosed || e->part.written == 0;
    e->shared_buffers = e->shared_buffers || (e->part.mode & FILE_MODE_SHARED_BUFFERS) != 0;
    if (!first)
        return GCD_OK;
    e->first_ticks = gcd_le64(record + 0x10);
    e->info.format_version = version;
    e->info.processors = processors;
    e->info.ptr_bytes = ptr_bytes;
    if (start / 10000 < INT64_MAX / 2)
        e->info.start_unix_ms = (int64_t)(start / 10000) - FILETIME_TO_UNIX_MS;
    return GCD_OK;
}

/* Reads N bytes from OFF, but not from the next part. */
static gcd_status read_part(struct gcd_etl *e, uint64_t off, uint8_t *to, size_t n, size_t *ret_n,
                            struct gcd_error *err)
{
    uint64_t left = e->part.end_off - off;
    return gcd_input_read_at(e->in, off, to, left < n ? (size_t)left : n, ret_n, err);
}

/* A header with its times, sizes and counts: no two recordings share one. */
#define HEAD_BYTES 0x200u

/* A file given twice would duplicate all its events. */
static gcd_status refuse_twice(struct gcd_etl *e, const uint8_t *head, size_t n,
                               struct gcd_error *err)
{
    uint8_t other[HEAD_BYTES];
    uint64_t off = 0;
    size_t got;
    for (size_t i = 0; i < e->part.number; off += gcd_input_part_size(e->in, i++)) {
        GCD_TRY(gcd_input_read_at(e->in, off, other, n, &got, err));
        if (got == n && memcmp(other, head, n) == 0)
            return gcd_fail(err, GCD_E_UNSUPPORTED,
                            "file %zu and file %zu are the same recording: give it once", i + 1,
                            e->part.number + 1);
    }
    return GCD_OK;
}

static gcd_status begin_part(struct gcd_etl *e, struct gcd_error *err)
{
    uint8_t head[HEAD_BYTES];
    size_t n;
    struct etl_part *p = &e->part;
    p->begun = true;
    p->begin_off = e->index_off;
    p->end_off = p->begin_off + gcd_input_part_size(e->in, p->number);
    p->first_buffer = e->buffer_count;
    GCD_TRY(read_part(e, p->begin_off, head, sizeof head, &n, err));
    if (n == 0 && p->number == 0)
        return gcd_fail_at(err, GCD_E_TRUNCATED, 0, "the input is empty");
    if (!etl_probe(head, n))
        return gcd_fail_at(err, GCD_E_UNSUPPORTED, p->begin_off, "file %zu is not an .etl",
                           p->number + 1);
    GCD_TRY(refuse_twice(e, head, n, err));
    return file_header(e, head, n, err);
}

/* ---- the buffers ---- */

/* By part, processor, and number. */
static int compare(const void *ctx, uint32_t i, uint32_t k)
{
    const struct etl_buffer *a = (const struct etl_buffer *)ctx + i,
                            *b = (const struct etl_buffer *)ctx + k;
    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    if (a->processor != b->processor)
        return a->processor < b->processor ? -1 : 1;
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

/* Only the first damage is reported. */
static void damage(struct gcd_etl *e, uint64_t off, enum gcd_trace_end end)
{
    e->part.damaged = true;
    if (e->info.damage_off != GCD_OFF_NONE)
        return;
    e->info.damage_off = off;
    e->info.end = end;
}

static gcd_status sort_buffers(struct gcd_etl *e, struct gcd_error *err)
{
    size_t n = e->buffer_count;
    uint32_t *order = gcd_sort_order(&e->alloc, n, compare, e->buffers);
    struct etl_buffer *sorted = gcd_mem_new_array(&e->alloc, n, sizeof *sorted);
    bool ok = order != NULL && sorted != NULL;
    for (size_t i = 0; ok && i < n; i++)
        sorted[i] = e->buffers[order[i]];
    gcd_mem_free(&e->alloc, order, n * sizeof *order);
    if (!ok) {
        gcd_mem_free(&e->alloc, sorted, n * sizeof *sorted);
        return gcd_fail_nomem(err, "sorting buffers");
    }
    gcd_mem_free(&e->alloc, e->buffers, e->buffer_cap * sizeof *e->buffers);
    e->buffers = sorted;
    e->buffer_cap = n;
    return GCD_OK;
}

static int by_number(const void *ctx, uint32_t i, uint32_t k)
{
    const struct etl_buffer *a = (const struct etl_buffer *)ctx + i,
                            *b = (const struct etl_buffer *)ctx + k;
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

/* The buffers of a part by their numbers. */
struct numbers {
    uint64_t highest;
    uint64_t holes; /* unused numbers between the lowest and the highest */
};

/*
 * Marks the buffers that repeat a number; ORDER sorts by number.  A circular file has overwritten
 * its oldest buffers, except the header, as requested by the user; the heap's own checks find out
 * whether they were part of a heap dump.
 */
static struct numbers look_at_numbers(struct etl_buffer *buffers, const uint32_t *order, size_t n,
                                      bool circular)
{
    struct numbers ret = { 0 };
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        struct etl_buffer *b = &buffers[order[i]];
        b->repeated = i > 0 && b->sequence == buffers[order[i - 1]].sequence;
        if (b->repeated || (circular && order[i] == 0))
            continue;
        if (any)
            gcd_add_saturating(&ret.holes, b->sequence - ret.highest - 1);
        ret.highest = b->sequence;
        any = true;
    }
    return ret;
}

static gcd_status same_bytes(struct gcd_etl *e, const struct etl_buffer *a,
                             const struct etl_buffer *b, bool *ret, struct gcd_error *err)
{
    uint8_t here[1024], there[sizeof here];
    *ret = a->disk_bytes == b->disk_bytes;
    for (uint32_t at = 0, n; *ret && at < a->disk_bytes; at += n) {
        size_t got_here, got_there;
        n = a->disk_bytes - at < sizeof here ? a->disk_bytes - at : (uint32_t)sizeof here;
        GCD_TRY(gcd_input_read_at(e->in, a->off + at, here, n, &got_here, err));
        GCD_TRY(gcd_input_read_at(e->in, b->off + at, there, n, &got_there, err));
        *ret = got_here == got_there && memcmp(here, there, got_here) == 0;
    }
    return GCD_OK;
}

/*
 * The first of identical copies of a buffer is used, so no event comes twice.  If buffers with the
 * same number differ, nobody can tell which is the true one: all of them are skipped, and the
 * number counts as missing.  ORDER sorts by number, then by position in the file.
 */
static gcd_status distrust_different(struct gcd_etl *e, struct etl_buffer *buffers,
                                     const uint32_t *order, size_t n, uint64_t *holes,
                                     struct gcd_error *err)
{
    struct etl_buffer *first = NULL;
    for (size_t i = 0; i < n; i++) {
        struct etl_buffer *b = &buffers[order[i]];
        bool same = true;
        if (!b->repeated)
            first = b;
        else if (first != NULL && !first->header && !first->repeated)
            GCD_TRY(same_bytes(e, first, b, &same, err));
        if (!same) {
            first->repeated = true;
            gcd_add_saturating(holes, 1);
        }
    }
    return GCD_OK;
}

static void leave_out_repeated(struct gcd_etl *e)
{
    size_t kept = e->part.first_buffer;
    for (size_t i = kept; i < e->buffer_count; i++) {
        const struct etl_buffer *b = &e->buffers[i];
        if (b->repeated) {
            e->info.repeated_buffers++;
            e->position += b->disk_bytes;
        } else {
            e->buffers[kept++] = *b;
        }
    }
    e->buffer_count = kept;
}

/* All buffers of the part are known: find missing and repeated ones. */
static gcd_status check_numbers(struct gcd_etl *e, struct gcd_error *err)
{
    struct etl_part *p = &e->part;
    struct etl_buffer *own = e->buffers + p->first_buffer;
    size_t n = e->buffer_count - p->first_buffer;
    bool circular = (p->mode & FILE_MODE_CIRCULAR) != 0, whole = n >= p->written || circular;
    uint32_t *order = gcd_sort_order(&e->alloc, n, by_number, own);
    if (order == NULL)
        return gcd_fail_nomem(err, "sorting buffers");
    struct numbers found = look_at_numbers(own, order, n, circular);
    gcd_status st = distrust_different(e, own, order, n, &found.holes, err);
    gcd_mem_free(&e->alloc, order, n * sizeof *order);
    GCD_TRY(st);
    leave_out_repeated(e);
    gcd_add_saturating(&e->missing, found.holes);
    /* a file truncated between two buffers looks complete, only its header shows the loss */
    if (!whole)
        damage(e, e->index_off, GCD_TRACE_TRUNCATED);
    else if (p->written > 0 && found.highest < p->written - 1)
        gcd_add_saturating(&e->missing, p->written - 1 - found.highest);
    else if (p->written > 0 && found.highest >= p->written && !circular)
        e->unclosed = true; /* the header does not count the last ones */
    return GCD_OK;
}

/* The end of a part; after the last part, sorts the buffers. */
static gcd_status end_part(struct gcd_etl *e, struct gcd_error *err)
{
    struct etl_part *p = &e->part;
    GCD_TRY(check_numbers(e, err));
    e->index_off = p->end_off;
    e->info.bytes = p->end_off;
    if (p->number + 1 < gcd_input_part_count(e->in)) {
        *p = (struct etl_part){ .number = p->number + 1 };
        return GCD_OK;
    }
    GCD_TRY(sort_buffers(e, err));
    e->phase = ETL_FILLING;
    return etl_streams_new(e, err);
}

/* Evaluates the header of a buffer of which HAVE bytes are in the file. */
static void take_buffer(struct gcd_etl *e, const uint8_t *h, uint32_t size, uint64_t have)
{
    uint16_t flags = gcd_le16(h + OFF_FLAGS), processor = gcd_le16(h + OFF_PROCESSOR);
    struct etl_buffer *b = &e->buffers[e->buffer_count++];
    *b = (struct etl_buffer){ .sequence = gcd_le64(h + OFF_SEQUENCE),
                              .off = e->index_off,
                              .end = gcd_le32(h + OFF_END),
                              .part = (uint16_t)e->part.number,
                              .disk_bytes = have < size ? (uint32_t)have : size,
                              .cut = have < size };
    /* Windows 7 stores the processor in the low byte, the alignment in the high byte */
    b->processor = (flags & ETL_HAS_PROCESSOR) != 0 ? processor & 0x7ff : processor & 0xff;
    b->compressed = (flags & ETL_COMPRESSED) != 0;
    b->too_large = b->compressed && e->part.buffer_bytes != 0 && b->end > e->part.buffer_bytes;
    b->header = e->index_off == e->part.begin_off;
    e->suspicious += (flags & (ETL_EVENTS_LOST | ETL_BUFFER_LOST)) != 0;
}

/* Indexes the header at index_off.  *RET_END: this part has no more. */
static gcd_status index_one(struct gcd_etl *e, bool *ret_end, struct gcd_error *err)
{
    uint8_t h[ETL_BUFFER_HEADER];
    size_t n;
    uint64_t left = e->part.end_off - e->index_off;
    *ret_end = true;
    GCD_TRY(read_part(e, e->index_off, h, sizeof h, &n, err));
    uint32_t size = n >= 4 ? gcd_le32(h) : 0;
    if (n < sizeof h) {
        if (n > 0)
            damage(e, e->index_off + n, GCD_TRACE_TRUNCATED);
        return GCD_OK;
    }
    if (size == 0) { /* space that was never written */
        e->info.trailing_bytes += left;
        return GCD_OK;
    }
    if (size < ETL_BUFFER_HEADER) {
        damage(e, e->index_off, GCD_TRACE_CORRUPT);
        return GCD_OK;
    }
    if (e->buffer_count == MAX_BUFFERS)
        return gcd_fail_at(err, GCD_E_LIMIT, e->index_off, "more than %zu buffers", MAX_BUFFERS);
    if (!gcd_vec_reserve(&e->alloc, &e->buffers, &e->buffer_cap, e->buffer_count + 1,
                         sizeof *e->buffers, MAX_BUFFERS))
        return gcd_fail_nomem(err, "reading the buffers of an .etl");
    take_buffer(e, h, size, left);
    if (left < size)
        damage(e, e->part.end_off, GCD_TRACE_TRUNCATED);
    e->index_off += left < size ? left : size;
    *ret_end = left <= size;
    return GCD_OK;
}

gcd_status etl_index(struct gcd_etl *e, struct gcd_error *err)
{
    bool end = false;
    if (!e->part.begun)
        GCD_TRY(begin_part(e, err));
    for (unsigned i = 0; i < HEADERS_AT_ONCE && !end; i++)
        GCD_TRY(index_one(e, &end, err));
    return end ? end_part(e, err) : GCD_OK;
}
