/*
 * The file: buffers one behind the other, the first one with a record that describes the whole.
 *
 * What is missing is known from four places: the counters of that record, the numbers of the buffers (0, 1, 2 …, not in file order), a flag
 * of the buffer behind a gap, and the size that each buffer says.
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"
#include "etl/etl.h"

/* Real buffers have 64 KiB, compressed ones a fifth of that: some 25 GiB at least. */
#define MAX_BUFFERS ((size_t)2 << 20)

/* Headers that are read between two looks at the clock or a signal. */
#define HEADERS_AT_ONCE 1024u

#define FILE_MODE_CIRCULAR 0x02u
#define FILE_MODE_COMPRESSED 0x04000000u
#define COMPRESSION_XPRESS 3u

/* Of the buffer header. */
#define OFF_SEQUENCE 0x18
#define OFF_PROCESSOR 0x28
#define OFF_STATE 0x2c
#define OFF_END 0x30
#define OFF_FLAGS 0x34
#define OFF_TYPE 0x36
#define TYPE_HEADER 4u

bool etl_probe(const uint8_t *head, size_t n)
{
    const uint8_t *record = head + ETL_BUFFER_HEADER;
    /* a header buffer, and in it a record of the kernel of group 0, number 0 */
    return n >= ETL_BUFFER_HEADER + 0x20 && gcd_le32(head) >= ETL_BUFFER_HEADER + 0x20 && gcd_le16(head + OFF_TYPE) == TYPE_HEADER &&
           record[3] == 0xc0 && (record[2] == 1 || record[2] == 2) && gcd_le16(record + 6) == 0;
}

/* ---- the first record ---- */

/* Days from 1601 to 1970. */
#define FILETIME_TO_UNIX_MS INT64_C(11644473600000)

static gcd_status check_clock(struct gcd_etl *e, uint32_t clock, struct gcd_error *err)
{
    if (clock == ETL_CLOCK_SYSTEM_TIME)
        e->frequency = 10000000;         /* FILETIME */
    if (clock == ETL_CLOCK_CPU_CYCLES)
        return gcd_fail(err, GCD_E_UNSUPPORTED, "the recording counts time in processor cycles, which cannot be compared between processors");
    if (e->frequency == 0 || e->frequency > INT64_MAX)
        return gcd_fail(err, GCD_E_FORMAT, "the clock frequency of the recording is %" PRIu64, e->frequency);
    return GCD_OK;
}

/* TRACE_LOGFILE_HEADER of evntrace.h; its pointers have the size of the system that wrote it. */
static gcd_status file_header(struct gcd_etl *e, const uint8_t *head, size_t n, struct gcd_error *err)
{
    const uint8_t *record = head + ETL_BUFFER_HEADER;
    size_t ptr = record[2] == 1 ? 4 : 8;
    struct gcd_cur c = gcd_cur_make(record, n - ETL_BUFFER_HEADER, ETL_BUFFER_HEADER);
    e->first_ticks = gcd_le64(record + 0x10);
    gcd_cur_skip(&c, 0x20 + 4);          /* buffer size */
    e->info.format_version = gcd_cur_u8(&c);
    gcd_cur_skip(&c, 3 + 4);             /* build of the system */
    e->info.processors = gcd_cur_u32(&c);
    gcd_cur_skip(&c, 16);                /* end, timer resolution, largest size */
    e->mode = gcd_cur_u32(&c);
    e->written = gcd_cur_u32(&c);
    gcd_cur_skip(&c, 4);
    uint32_t ptr_bytes = gcd_cur_u32(&c);
    e->info.lost_events = gcd_cur_u32(&c);
    gcd_cur_skip(&c, 4 + 2 * ptr + 0xac + 4 + 8);        /* processor speed, names, time zone, boot */
    e->frequency = gcd_cur_u64(&c);
    uint64_t start = gcd_cur_u64(&c);
    uint32_t clock = gcd_cur_u32(&c);
    e->info.lost_buffers = gcd_cur_u32(&c);
    if (c.err != GCD_OK)
        return gcd_fail_at(err, GCD_E_TRUNCATED, n, "the file ends within its header");
    if (ptr_bytes != 4 && ptr_bytes != 8)
        return gcd_fail_at(err, GCD_E_FORMAT, ETL_BUFFER_HEADER + 0x20 + 0x2c, "the pointer size of the recording is %" PRIu32
                           ", 4 or 8 is possible", ptr_bytes);
    uint32_t compression = gcd_le32(head + OFF_STATE) & 0xffff;
    if ((e->mode & FILE_MODE_COMPRESSED) != 0 && (compression == 2 || compression == 4))
        return gcd_fail_at(err, GCD_E_UNSUPPORTED, OFF_STATE, "its buffers are compressed with %s; only XPRESS is known here",
                           compression == 2 ? "LZNT1" : "XPRESS with Huffman codes");
    GCD_TRY(check_clock(e, clock, err));
    e->info.ptr_bytes = ptr_bytes;
    if (start / 10000 < INT64_MAX / 2)
        e->info.start_unix_ms = (int64_t)(start / 10000) - FILETIME_TO_UNIX_MS;
    return GCD_OK;
}

static gcd_status read_file_header(struct gcd_etl *e, struct gcd_error *err)
{
    uint8_t head[0x200];
    size_t n;
    GCD_TRY(gcd_input_read_at(e->in, 0, head, sizeof head, &n, err));
    if (n == 0)
        return gcd_fail_at(err, GCD_E_TRUNCATED, 0, "the input is empty");
    if (!etl_probe(head, n))
        return gcd_fail_at(err, GCD_E_FORMAT, 0, "the header buffer of the .etl is damaged");
    return file_header(e, head, n, err);
}

/* Differences of times beyond these bounds are damage; within them none can overflow. */
#define TIME_MAX (INT64_MAX / 4)

int64_t etl_time_ns(const struct gcd_etl *e, uint64_t ticks)
{
    bool negative = ticks < e->first_ticks;
    uint64_t d = negative ? e->first_ticks - ticks : ticks - e->first_ticks;
    unsigned __int128 ns = (unsigned __int128)d * 1000000000u / e->frequency;
    int64_t t = ns > TIME_MAX ? TIME_MAX : (int64_t)ns;
    return negative ? -t : t;
}

/* ---- the buffers ---- */

/* By processor, then by number; stable, so that equal numbers stay in file order. */
static int compare(const void *ctx, uint32_t i, uint32_t k)
{
    const struct etl_buffer *a = (const struct etl_buffer *)ctx + i, *b = (const struct etl_buffer *)ctx + k;
    if (a->processor != b->processor)
        return a->processor < b->processor ? -1 : 1;
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

/* Numbers that no buffer has. */
static void count_missing(struct gcd_etl *e)
{
    uint64_t lowest = UINT64_MAX, highest = 0;
    for (size_t i = 0; i < e->buffer_count; i++) {
        uint64_t s = e->buffers[i].sequence;
        lowest = s < lowest ? s : lowest;
        highest = s > highest ? s : highest;
    }
    /* a circular file forgets its oldest buffers; that is what was asked for */
    uint64_t first = (e->mode & FILE_MODE_CIRCULAR) != 0 ? lowest : 0;
    uint64_t most = highest - first;     /* one less than there should be */
    if (most >= e->buffer_count)
        e->missing = most - e->buffer_count + 1;
}

static gcd_status sort_buffers(struct gcd_etl *e, struct gcd_error *err)
{
    size_t n = e->buffer_count;
    uint32_t *order = gcd_mem_new_array(&e->alloc, n, sizeof *order);
    struct etl_buffer *sorted = gcd_mem_new_array(&e->alloc, n, sizeof *sorted);
    for (size_t i = 0; order != NULL && i < n; i++)
        order[i] = (uint32_t)i;
    bool ok = order != NULL && sorted != NULL && gcd_sort_numbers(&e->alloc, order, n, compare, e->buffers);
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

static gcd_status index_end(struct gcd_etl *e, struct gcd_error *err)
{
    e->info.bytes = e->index_off;
    if (e->info.damage_off == GCD_OFF_NONE) {
        count_missing(e);
        /* a file that was cut between two buffers looks whole, except that its header knows better */
        if ((e->mode & FILE_MODE_CIRCULAR) == 0 && e->buffer_count < e->written) {
            e->info.damage_off = e->index_off;
            e->missing = 0;
        }
    }
    GCD_TRY(sort_buffers(e, err));
    e->phase = ETL_FILLING;
    return etl_streams_new(e, err);
}

/* What one header says, of a buffer of which HAVE bytes are in the file. */
static void take_buffer(struct gcd_etl *e, const uint8_t *h, uint32_t size, uint64_t have)
{
    uint16_t flags = gcd_le16(h + OFF_FLAGS), processor = gcd_le16(h + OFF_PROCESSOR);
    struct etl_buffer *b = &e->buffers[e->buffer_count++];
    *b = (struct etl_buffer){ .sequence = gcd_le64(h + OFF_SEQUENCE), .off = e->index_off, .end = gcd_le32(h + OFF_END),
                              .disk_bytes = have < size ? (uint32_t)have : size, .cut = have < size };
    /* Windows 7 keeps the processor in the low byte, the alignment in the high one */
    b->processor = (flags & ETL_HAS_PROCESSOR) != 0 ? processor & 0x7ff : processor & 0xff;
    b->compressed = (flags & ETL_COMPRESSED) != 0;
    e->suspicious += (flags & (ETL_EVENTS_LOST | ETL_BUFFER_LOST)) != 0;
}

/* The header at index_off.  *RET_END: nothing more is there. */
static gcd_status index_one(struct gcd_etl *e, bool *ret_end, struct gcd_error *err)
{
    uint8_t h[ETL_BUFFER_HEADER];
    size_t n;
    *ret_end = true;
    GCD_TRY(gcd_input_read_at(e->in, e->index_off, h, sizeof h, &n, err));
    uint32_t size = n >= 4 ? gcd_le32(h) : 0;
    if (n == sizeof h && size == 0) {    /* room that was never written to */
        e->info.trailing_bytes = gcd_input_size(e->in) - e->index_off;
        return GCD_OK;
    }
    if (n < sizeof h) {
        if (n > 0)
            e->info.damage_off = e->index_off = e->index_off + n;
        return GCD_OK;
    }
    if (size < ETL_BUFFER_HEADER) {
        e->info.damage_off = e->index_off;
        e->info.end = GCD_TRACE_CORRUPT;
        return GCD_OK;
    }
    if (e->buffer_count == MAX_BUFFERS)
        return gcd_fail_at(err, GCD_E_LIMIT, e->index_off, "more than %zu buffers", MAX_BUFFERS);
    if (!gcd_vec_reserve(&e->alloc, &e->buffers, &e->buffer_cap, e->buffer_count + 1, sizeof *e->buffers, MAX_BUFFERS))
        return gcd_fail_nomem(err, "reading the buffers of an .etl");
    uint64_t have = gcd_input_size(e->in) - e->index_off;
    take_buffer(e, h, size, have);
    e->index_off += have < size ? have : size;
    if (have < size)
        e->info.damage_off = e->index_off;
    *ret_end = have < size;
    return GCD_OK;
}

gcd_status etl_index(struct gcd_etl *e, struct gcd_error *err)
{
    bool end = false;
    if (e->index_off == 0 && e->info.ptr_bytes == 0)
        GCD_TRY(read_file_header(e, err));
    for (unsigned i = 0; i < HEADERS_AT_ONCE && !end; i++)
        GCD_TRY(index_one(e, &end, err));
    return end ? index_end(e, err) : GCD_OK;
}
