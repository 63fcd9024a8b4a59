/*
 * The .etl container of Windows (ETW), shared by its files:
 *
 *     etl_file.c     the buffers: where they lie, what the header of the file says, what is missing
 *     etl_merge.c    buffers of all processors -> records in the order of time
 *     etl_record.c   record headers of all kinds -> events
 *     etl_xpress.c   compressed buffers
 *     etl.c          asking for bytes, the end, what is told about it
 *
 * Its maker describes it nowhere; the layout is that of the header files evntrace.h and evntcons.h and of real files (Windows 7 to 11).
 * Unlike a .nettrace it lies in no order: the buffers of one processor are in order, those of several are mixed by up to a minute.
 * So the headers of all buffers are read first, then one buffer of each processor is held at a time.
 */
#ifndef GCD_ETL_ETL_H
#define GCD_ETL_ETL_H

#include <gcdumpc/io.h>
#include <gcdumpc/trace.h>

#include "base/cur.h"
#include "base/text.h"

#define ETL_BUFFER_HEADER 0x48u

/* Bytes that tell whether a file is an .etl: gcd_input_peek gives them. */
#define ETL_HEAD_BYTES 0x80u

enum etl_buffer_flag { ETL_EVENTS_LOST = 0x02, ETL_BUFFER_LOST = 0x04, ETL_HAS_PROCESSOR = 0x20, ETL_COMPRESSED = 0x40 };
enum etl_clock { ETL_CLOCK_COUNTER = 1, ETL_CLOCK_SYSTEM_TIME = 2, ETL_CLOCK_CPU_CYCLES = 3 };

/* One buffer: 72 bytes on the disk at least. */
struct etl_buffer {
    uint64_t sequence;
    uint64_t off;                /* of its header */
    uint32_t disk_bytes;         /* with header, as far as the file goes */
    uint32_t end;                /* of the records, with header, when decompressed */
    uint16_t part, processor;
    bool compressed;
    bool cut;                    /* the file ends in it */
    bool too_large;              /* it is compressed and says that it holds more than a buffer of its file has room for */
    bool repeated;               /* another buffer has its number: this one is left out */
    bool header;                 /* of the file */
};

/* Where a record lies, and when it was written. */
struct etl_record {
    const uint8_t *p;
    size_t bytes;
    uint64_t ticks;
    uint8_t type;                /* of its header; 0 = nothing that is known */
};

/* The buffers of one processor in one part, one after another. */
struct etl_stream {
    size_t next, end;            /* those that are still to come, in etl.buffers */
    uint8_t *data;               /* the records of the current one */
    size_t cap;
    struct gcd_cur rest;         /* behind the current record */
    struct etl_record record;
    bool cut;                    /* the file ends in the current one */
    bool fresh;                  /* no record of the current one has told a time yet */
    uint64_t last_ticks;         /* of the last record that told a time; 0 = none yet */
};

/* What a GUID is called. */
struct etl_provider {
    uint8_t guid[16];
    enum gcd_provider provider;
    const char *name;
};

/* A file; a recording can consist of several that were written at the same time, each with buffers of all processors. */
struct etl_part {
    size_t number;
    bool begun, damaged;
    uint64_t begin_off, end_off;
    size_t first_buffer;         /* in etl.buffers */
    uint32_t written;            /* number of buffers, as its header says; 0 = it was not closed */
    uint32_t mode;
    uint32_t buffer_bytes;       /* room of a buffer, with header, decompressed; 0 = not told */
};

enum etl_phase {
    ETL_INDEXING,                /* reading the headers of the buffers */
    ETL_FILLING,                 /* reading the first buffer of each processor */
    ETL_MERGING,
    ETL_DONE
};

#define ETL_NS_A_SECOND UINT64_C(1000000000)

struct gcd_etl {
    struct gcd_alloc alloc;
    struct gcd_limits limits;    /* with defaults filled in */
    struct gcd_input *in;
    enum etl_phase phase;
    gcd_status final;            /* not GCD_OK: nothing more will come */
    struct gcd_error final_error;
    bool given;                  /* the oldest record has been given out */

    struct etl_buffer *buffers;  /* in file order, then by part, processor and sequence number */
    size_t buffer_count, buffer_cap;
    uint64_t index_off;
    struct etl_part part;        /* the one that is being indexed */
    uint64_t frequency, first_ticks;
    bool unclosed;               /* one of the parts */
    bool shared_buffers;         /* processors of one of the parts share buffers, so their times can step back */
    uint64_t suspicious;         /* buffers that say that something was lost before them */
    uint64_t missing;            /* numbers of buffers that are not there */

    struct etl_stream *streams;
    size_t stream_count;
    size_t filling;              /* stream whose first buffer is due */
    uint32_t *queue;             /* streams with a record, a heap: the oldest record is first */
    size_t queue_count;
    uint64_t held_bytes;         /* of all streams */
    uint8_t *packed;             /* a compressed buffer */
    size_t packed_cap;
    uint64_t position;           /* bytes of the file that have been read for good */
    uint64_t unpacked;           /* bytes that compressed buffers of these said they hold */
    uint64_t given_bytes;        /* of all records so far: the place of an event in the order of time */

    struct gcd_textpool names;
    struct etl_provider *providers;      /* those that are not known, by GUID */
    size_t provider_count, provider_cap;
    const struct etl_provider *last_provider;
    struct gcd_trace_info info;
};

/* etl.c */
/* Do the first N bytes of a file look like one of these?  There is no magic number. */
bool etl_probe(const uint8_t *head, size_t n);
/* IN must be seekable and outlive it. */
gcd_status etl_new(const struct gcd_alloc *alloc, const struct gcd_limits *limits, struct gcd_input *in, struct gcd_etl **ret,
                   struct gcd_error *err);
void etl_free(struct gcd_etl *e);
/* Read on, one piece.  GCD_OK; GCD_END when nothing more will come; errors of reading. */
gcd_status etl_fetch(struct gcd_etl *e, struct gcd_error *err);
/* As gcd_trace_next. */
gcd_status etl_next(struct gcd_etl *e, struct gcd_event *ret, struct gcd_error *err);
void etl_get_info(const struct gcd_etl *e, struct gcd_trace_info *ret);
/* etl_file.c */
/* The headers of some more buffers; at the end of the file phase becomes ETL_FILLING. */
gcd_status etl_index(struct gcd_etl *e, struct gcd_error *err);

/* etl_merge.c */
gcd_status etl_streams_new(struct gcd_etl *e, struct gcd_error *err);
void etl_streams_free(struct gcd_etl *e);
/* The next buffer that is due. */
gcd_status etl_fill(struct gcd_etl *e, struct gcd_error *err);
/* The oldest record; NULL when a buffer is due.  The queue must not be empty. */
const struct etl_record *etl_oldest(const struct gcd_etl *e);
/* Its record has been used. */
void etl_advance(struct gcd_etl *e);

/* etl_record.c */
/* The record at the start of C, which goes behind it.  False when it cannot be one; at the padding C becomes empty, and true with bytes 0. */
bool etl_record_next(struct gcd_cur *c, struct etl_record *ret);
/* Ticks of the clock to ns since the first record. */
int64_t etl_time_ns(const struct gcd_etl *e, uint64_t ticks);
/* What it says.  False: a record that is no event. */
gcd_status etl_record_event(struct gcd_etl *e, const struct etl_record *r, struct gcd_event *ret, bool *ret_event, struct gcd_error *err);

/* etl_xpress.c */
/* Plain LZ77 of XPRESS (MS-XCA).  True when it makes exactly OUT_BYTES of all of IN. */
bool etl_xpress(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes);

#endif
