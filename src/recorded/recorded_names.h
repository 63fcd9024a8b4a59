/*
 * The payloads of the events that gcdumpc adds to a recording: names, and the memory of the
 * process.  README.md has the fields.
 */
#ifndef GCD_RECORDED_RECORDED_NAMES_H
#define GCD_RECORDED_RECORDED_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/event.h>
#include <gcdumpc/summary.h>

#include "base/container.h"

/* Event numbers. */
enum {
    RECORDED_START = 1,
    RECORDED_MODULE,
    RECORDED_TYPE,
    RECORDED_STATIC,
    RECORDED_MEMORY,
    RECORDED_IMAGE,
    RECORDED_LAYOUT,
    RECORDED_VALUES, /* then parts with values (src/values), and the end */
    RECORDED_VALUES_PART,
    RECORDED_VALUES_END,
    RECORDED_SITES, /* src/sites reads and writes these */
    RECORDED_SITE_FRAME,
    RECORDED_SITE_STACK,
    RECORDED_SITE_TOTAL,
    RECORDED_SITE_SAMPLE,
    RECORDED_THREAD,
    RECORDED_NULL_MAPS, /* then parts with null maps (src/values), and the end */
    RECORDED_NULL_MAPS_PART,
    RECORDED_NULL_MAPS_END
};
/* The kinds of items between the start and the end of a batch. */
enum recorded_kind {
    RECORDED_MODULES,
    RECORDED_TYPES,
    RECORDED_STATICS,
    RECORDED_LAYOUTS,
    RECORDED_THREADS,
    RECORDED_KINDS
};
/* The kind of event ID; RECORDED_KINDS = it is no item. */
static inline enum recorded_kind recorded_kind_of(uint32_t id)
{
    return id == RECORDED_LAYOUT   ? RECORDED_LAYOUTS
           : id == RECORDED_THREAD ? RECORDED_THREADS
           : id >= RECORDED_MODULE && id < RECORDED_MEMORY
               ? (enum recorded_kind)(id - RECORDED_MODULE)
               : RECORDED_KINDS;
}
static inline unsigned recorded_event_of(enum recorded_kind kind)
{
    return kind == RECORDED_LAYOUTS   ? RECORDED_LAYOUT
           : kind == RECORDED_THREADS ? RECORDED_THREAD
                                      : RECORDED_MODULE + (unsigned)kind;
}

/* A payload is never larger; readers take events of up to 64 KiB. */
#define RECORDED_PAYLOAD_MAX ((size_t)32768)

/* Their layouts, in the order of their numbers from RECORDED_START on. */
extern const struct gcd_new_events recorded_events;
/* The same, and those that few recordings have: about sites, threads and null maps. */
extern const struct gcd_new_events recorded_events_all;

/* ---- reading ---- */

struct recorded_start {
    uint32_t gc_number, walk_number;
    uint32_t counts[RECORDED_KINDS];
};

/* UTF-16LE, not NULL. */
struct recorded_text {
    const uint8_t *p;
    size_t units;
};

/* An item of any kind; texts live as long as the payload. */
struct recorded_item {
    uint64_t id; /* of the module, of the type, or the address of the variable or thread */
    /* module: assembly, path, build id; type: declaring type, events, name; variable: field,
     * declaring type, label; layout: gcd_type.layout;
     * thread: name, label */
    struct recorded_text text[3];
    uint8_t mvid[16]; /* module */
    bool has_public_key;
    uint8_t public_key_token[8];
};

/* GCD_OK, or GCD_E_FORMAT when the payload is too short. */
gcd_status recorded_read_start(const struct gcd_event *ev, struct recorded_start *ret);
/* EV is an item.  GCD_E_FORMAT also for a layout that is not as it was written. */
gcd_status recorded_read_item(const struct gcd_event *ev, struct recorded_item *ret);

/* The memory of the process at a heap walk. */
struct recorded_memory {
    uint32_t gc_number, walk_number;
    struct gcd_process_memory memory;
};

/* GCD_OK, or GCD_E_FORMAT when the payload is too short or has impossible values. */
gcd_status recorded_read_memory(const struct gcd_event *ev, struct recorded_memory *ret);

/* The memory image that a heap was read from; texts live as long as the payload. */
struct recorded_image {
    uint32_t gc_number, walk_number;
    uint32_t flags;               /* RECORDED_WITH_... */
    struct recorded_text text[4]; /* as in struct gcd_image_facts */
};
#define RECORDED_WITH_DEAD   1u
#define RECORDED_WITH_PLACES 2u /* ReferencingFieldID in GCBulkEdge: see gcd_clr_edge_place */

/* GCD_OK, or GCD_E_FORMAT when the payload is too short. */
gcd_status recorded_read_image(const struct gcd_event *ev, struct recorded_image *ret);

/* The values of a walk: how they begin. */
struct recorded_values {
    uint32_t gc_number, walk_number;
    uint32_t kind, max_string; /* as in struct gcd_values_facts */
    /* where gcdumpc began to add them, behind all else; 0 = elsewhere */
    uint64_t off;
};
/* How they end. */
struct recorded_values_end {
    uint32_t parts;
    uint64_t objects, collected, changed, unread, after_ms;
    uint64_t numbers; /* objects with rows: older ones have none */
};
/* GCD_OK, or GCD_E_FORMAT when the payload is too short or has impossible values. */
gcd_status recorded_read_values(const struct gcd_event *ev, struct recorded_values *ret);
gcd_status recorded_read_values_end(const struct gcd_event *ev, struct recorded_values_end *ret);

/* The null maps of a walk: how they begin, and how they end. */
struct recorded_null_maps {
    uint32_t gc_number, walk_number;
};
struct recorded_null_maps_end {
    uint32_t parts;
    uint64_t objects, collected, changed, unread, after_ms;
};
gcd_status recorded_read_null_maps(const struct gcd_event *ev, struct recorded_null_maps *ret);
gcd_status recorded_read_null_maps_end(const struct gcd_event *ev,
                                       struct recorded_null_maps_end *ret);

/* ---- writing ---- */

/* The payloads of their events; as below. */
size_t recorded_put_values(uint8_t *buffer, const struct recorded_values *v);
size_t recorded_put_values_end(uint8_t *buffer, const struct recorded_values_end *v);

size_t recorded_put_null_maps(uint8_t *buffer, const struct recorded_null_maps *m);
size_t recorded_put_null_maps_end(uint8_t *buffer, const struct recorded_null_maps_end *m);

/* One pass over the names of a summary. */
struct recorded_pass {
    const struct gcd_summary *summary;
    enum recorded_kind kind; /* of the next item, */
    size_t next;             /* and its place in the list */
};

/* The payload of the event that begins a batch, in BUFFER[RECORDED_PAYLOAD_MAX]; returns its size.
 */
size_t recorded_put_start(uint8_t *buffer, const struct recorded_start *s);
/* The payload of the event for the memory; as above. */
size_t recorded_put_memory(uint8_t *buffer, const struct recorded_memory *m);
/* The next payload, of an item of *RET_KIND; returns its size, 0 = no more.  Names too long for an
 * event are left out. */
size_t recorded_put_next(struct recorded_pass *pass, uint8_t *buffer, enum recorded_kind *ret_kind);

#endif
