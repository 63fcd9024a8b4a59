/*
 * The file: blocks, event headers, metadata, stacks, in three formats (NetPerf V3, NetTrace V4,
 * NetTrace V6). Takes events in file order; gh_pipe decides the order.
 */
#ifndef GH_CONTAINER_H
#define GH_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gh_opts.h"

/* ticks at the start of the trace, 1 tick = 1 ns */
#define GH_QPC_START   UINT64_C(0x1B0A6132C9C9)
#define GH_PROCESS_ID  4217u
#define GH_PROCESSORS  8u
#define GH_PAYLOAD_MAX 65536u

/* Event types, each a row of the table in gh_meta.c. */
enum gh_meta {
    GH_M_GCSTART,
    GH_M_GCEND,
    GH_M_RESTART_END,
    GH_M_HEAPSTATS,
    GH_M_RESTART_BEGIN,
    GH_M_SUSPEND_END,
    GH_M_SUSPEND_BEGIN,
    GH_M_TRIGGERED,
    GH_M_RANGE,
    GH_M_TYPE,
    GH_M_ROOT,
    GH_M_HANDLE,
    GH_M_NODE,
    GH_M_EDGE,
    GH_M_STATIC,
    GH_M_MARK,
    GH_M_GLOBAL,
    GH_M_DYNAMIC,
    GH_M_TICK,
    GH_M_SURVIVORS,
    GH_M_RUNTIME_INFO,
    GH_M_DCEND_INIT,
    GH_M_DCEND_COMPLETE,
    GH_M_DOMAIN_MODULE,
    GH_M_MODULE,
    GH_M_ASSEMBLY,
    GH_M_APPDOMAIN,
    GH_M_PROCESS_INFO,
    GH_M_SAMPLE,
    GH_M_ORDER_START,
    GH_M_ORDER_STOP,
    GH_M_ORDER_PLACED,
    GH_M_ORDER_ITEMS,
    GH_M_ORDER_TEXT,
    GH_M_COUNT
};

struct gh_field {
    uint8_t type, element; /* element: only for arrays (type 19) */
    const char *name;
};

struct gh_meta_row {
    const char *provider, *name;
    uint64_t keywords;
    uint32_t id;
    uint8_t version, level, opcode;
    uint8_t n_fields;
    const struct gh_field *fields;
};

extern const struct gh_meta_row gh_meta_rows[GH_M_COUNT];

struct gh_thread {
    uint64_t id;
    const char *name;
    uint32_t processor;
    /* events the thread tried to write: the true sequence number */
    uint32_t attempted;
    uint32_t shown; /* number given to its last event in the file */
    /* --hide-gaps: no event of this size fits into its buffer any more; 0 = all do */
    uint32_t refused_bytes;
    /* highest number a reader has met, in an event or a sequence point */
    uint32_t visible;
    uint64_t n_written;
    bool listed;                      /* has had a buffer, so sequence points list it */
    bool gone;                        /* ended; still listed in V4, removed in V6 */
    bool defined;                     /* V6: a Thread block has it */
    uint32_t index;                   /* V6 */
    uint32_t queue_first, queue_last; /* gh_pipe: waiting events of this pass */
};

struct gh_event {
    struct gh_thread *capture, *about;
    enum gh_meta meta;
    enum gh_kind kind;
    uint32_t n_items; /* records in a bulk event */
    uint32_t seq;
    uint64_t time;
    uint8_t stack;    /* 0 = empty, else one of a few invented ones */
    uint8_t activity; /* 0 = none, else number of an invented id */
    bool sorted;
    /* of the first dump or of none: the truth file counts it as written */
    bool counted;
    const uint8_t *payload;
    uint32_t payload_bytes;
};

/* Bytes with room in front for headers that are known only at the end. */
#define GH_HEADROOM 128u
struct gh_buf {
    uint8_t *mem;  /* [GH_HEADROOM + cap] */
    uint8_t *data; /* mem + GH_HEADROOM */
    size_t len, cap;
};

/* State of the compressed headers; zero at the start of each block. */
struct gh_prev {
    uint32_t meta, seq, processor, stack, label, payload_bytes;
    uint64_t capture, thread, time;
    uint8_t activity;
};

struct gh_block {
    struct gh_buf b;
    struct gh_prev prev;
    uint64_t time_min, time_max;
};

struct gh_blob {
    uint32_t end; /* in the block */
    uint32_t n_items;
    uint8_t kind;
    bool counted;
};

#define GH_BLOBS_MAX  16384u
#define GH_STACKS     6u
#define GH_ACTIVITIES 8u

struct gh_container {
    FILE *file;
    uint64_t off; /* of the whole file without --truncate */
    uint64_t cut_off;
    bool failed;
    enum gh_format format;
    bool compressed, odd_headers; /* odd: larger headers where V6 allows them */
    unsigned ptr_bytes;
    struct gh_block events, meta;
    struct gh_buf stacks, threads, labels, small;
    uint32_t n_stacks, n_labels; /* pending in the buffers */
    uint32_t meta_id[GH_M_COUNT], next_meta_id;
    uint32_t stack_id[GH_STACKS], next_stack_id;
    uint32_t label_id[GH_ACTIVITIES], next_label_id;
    struct gh_blob blobs[GH_BLOBS_MAX];
    uint32_t n_blobs;
    /* what is complete in the file */
    uint64_t n_events_written;
    uint64_t events_written[GH_K_COUNT], items_written[GH_K_COUNT];
};

bool gh_container_open(struct gh_container *c, const struct gh_opts *o);
void gh_container_event(struct gh_container *c, const struct gh_event *ev);

/* All pending blocks: metadata and stacks before the events that need them. */
void gh_container_flush(struct gh_container *c);

/* V4, V6.  FLAGS: V6 only, 1 = threads are forgotten, 2 = metadata are forgotten. */
void gh_container_sequence_point(struct gh_container *c, uint64_t time,
                                 const struct gh_thread *threads, uint32_t n_threads,
                                 uint32_t flags);
void gh_container_remove_thread(struct gh_container *c, const struct gh_thread *t); /* V6 */
void gh_container_unknown_block(struct gh_container *c, uint64_t salt);             /* V6 */
void gh_container_end_tag(struct gh_container *c);

/* false if a write failed.  *RET_FILE_BYTES: actual length of the file. */
bool gh_container_close(struct gh_container *c, uint64_t *ret_file_bytes);

#endif
