/*
 * The .etl container of Windows (ETW), shared by its files:
 *
 *     etl_file.c     the buffers: where they are, the file header, what is missing
 *     etl_merge.c    buffers of all processors -> records ordered by time
 *     etl_record.c   record headers of all kinds -> events
 *     etl_xpress.c   compressed buffers
 *     etl.c          reading, the end, the loss report
 *
 * There is no official description; the layout comes from the header files evntrace.h and
 * evntcons.h and from real files (Windows 7 to 11). Unlike a .nettrace it is not ordered: the
 * buffers of one processor are in order, those of different processors can be a minute apart.  So
 * the headers of all buffers are read first, then one buffer of each processor is held at a time.
 */
#ifndef GCD_ETL_ETL_H
#define GCD_ETL_ETL_H

#include <gcdumpc/io.h>
#include <gcdumpc/trace.h>

#include "base/container.h"
#include "base/cur.h"
#include "base/text.h"

#define ETL_BUFFER_HEADER 0x48u

/* Bytes needed to recognise an .etl: gcd_input_peek provides them. */
#define ETL_HEAD_BYTES 0x80u

enum etl_buffer_flag {
    ETL_EVENTS_LOST = 0x02,
    ETL_BUFFER_LOST = 0x04,
    ETL_HAS_PROCESSOR = 0x20,
    ETL_COMPRESSED = 0x40
};
enum etl_clock { ETL_CLOCK_COUNTER = 1, ETL_CLOCK_SYSTEM_TIME = 2, ETL_CLOCK_CPU_CYCLES = 3 };

/* One buffer: at least 72 bytes on disk. */
struct etl_buffer {
    uint64_t sequence;
    uint64_t off;        /* of its header */
    uint32_t disk_bytes; /* including the header, as far as the file reaches */
    uint32_t end;        /* of the records, including the header, when decompressed */
    uint16_t part, processor;
    bool compressed;
    bool cut; /* the file ends in it */
    /* compressed, and claims to hold more than a buffer of its file has room for */
    bool too_large;
    bool repeated; /* another buffer has its number: this one is skipped */
    bool header;   /* of the file */
};

/* The position of a record, and its time. */
struct etl_record {
    const uint8_t *p;
    size_t bytes;
    uint64_t ticks;
    uint8_t type; /* of its header; 0 = unknown */
};

/* The buffers of one processor in one part, in sequence. */
struct etl_stream {
    size_t next, end; /* the remaining ones, in etl.buffers */
    uint8_t *data;    /* the records of the current one */
    size_t cap;
    struct gcd_cur rest; /* after the current record */
    struct etl_record record;
    bool cut;            /* the file ends in the current one */
    bool fresh;          /* no record of the current buffer has had a time yet */
    uint64_t last_ticks; /* of the last record with a time; 0 = none yet */
};

/* The name of a GUID. */
struct etl_provider {
    uint8_t guid[16];
    enum gcd_provider provider;
    const char *name;
};

/* A file; a recording can consist of several files written at the same time, each with buffers of
 * all processors. */
struct etl_part {
    size_t number;
    bool begun, damaged;
    uint64_t begin_off, end_off;
    size_t first_buffer; /* in etl.buffers */
    /* number of buffers according to its header; 0 = it was not closed */
    uint32_t written;
    uint32_t mode;
    /* room of a buffer, including the header, decompressed; 0 = unknown */
    uint32_t buffer_bytes;
};

enum etl_phase {
    ETL_INDEXING, /* reading the headers of the buffers */
    ETL_FILLING,  /* reading the first buffer of each processor */
    ETL_MERGING,
    ETL_DONE
};

#define ETL_NS_A_SECOND UINT64_C(1000000000)

struct gcd_etl {
    struct gcd_trace trace; /* must be the first member */
    struct gcd_alloc alloc;
    struct gcd_limits limits; /* with defaults filled in */
    struct gcd_input *in;
    struct gcd_error input_error; /* of the seekable copy of it */
    enum etl_phase phase;
    gcd_status final; /* not GCD_OK: no more events will come */
    struct gcd_error final_error;
    bool given; /* the oldest record was returned */

    struct etl_buffer *buffers; /* in file order, then by part, processor and sequence number */
    size_t buffer_count, buffer_cap;
    uint64_t index_off;
    struct etl_part part; /* the one being indexed */
    uint64_t frequency, first_ticks;
    bool unclosed; /* at least one part */
    /* processors of a part share buffers, so their times can step back */
    bool shared_buffers;
    uint64_t suspicious; /* buffers whose flag says that something was lost before them */
    uint64_t missing;    /* missing buffer numbers */

    struct etl_stream *streams;
    size_t stream_count;
    size_t filling;  /* the stream whose first buffer is due */
    uint32_t *queue; /* streams with a record, as a heap: the oldest record first */
    size_t queue_count;
    uint64_t held_bytes; /* of all streams */
    uint8_t *packed;     /* a compressed buffer */
    size_t packed_cap;
    uint64_t position;    /* bytes of the file consumed so far */
    uint64_t unpacked;    /* bytes that its compressed buffers claimed to hold */
    uint64_t given_bytes; /* of all records so far: the position of an event in time order */

    struct gcd_textpool names;
    struct etl_provider *providers; /* unknown ones, by GUID */
    size_t provider_count, provider_cap;
    const struct etl_provider *last_provider;
    struct gcd_trace_info info;
};

/* etl.c */
/* Do the first N bytes look like an .etl?  There is no magic number. */
bool etl_probe(const uint8_t *head, size_t n);
extern const struct gcd_container etl_container;
/* etl_file.c */
/* Indexes the headers of some more buffers; at the end of the file the phase becomes ETL_FILLING.
 */
gcd_status etl_index(struct gcd_etl *e, struct gcd_error *err);

/* etl_merge.c */
gcd_status etl_streams_new(struct gcd_etl *e, struct gcd_error *err);
void etl_streams_free(struct gcd_etl *e);
/* Reads the next buffer that is due. */
gcd_status etl_fill(struct gcd_etl *e, struct gcd_error *err);
/* The oldest record; NULL when a buffer is due first.  The queue must not be empty. */
const struct etl_record *etl_oldest(const struct gcd_etl *e);
/* Moves past the oldest record. */
void etl_advance(struct gcd_etl *e);

/* etl_record.c */
/* Reads the record at the start of C and advances C.  False when it cannot be a record; at the
 * padding, empties C and returns true with 0 bytes. */
bool etl_record_next(struct gcd_cur *c, struct etl_record *ret);
/* Converts ticks of the clock to ns since the first record. */
int64_t etl_time_ns(const struct gcd_etl *e, uint64_t ticks);
/* Converts a record to an event.  *RET_EVENT false: the record is not an event. */
gcd_status etl_record_event(struct gcd_etl *e, const struct etl_record *r, struct gcd_event *ret,
                            bool *ret_event, struct gcd_error *err);

/* etl_xpress.c */
/* Plain LZ77 of XPRESS (MS-XCA).  True when all of IN decompresses to exactly OUT_BYTES. */
bool etl_xpress(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes);

#endif
