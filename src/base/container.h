/*
 * What an event container (src/nettrace, src/etl) offers.  src/trace has the table of containers.
 */
#ifndef GCD_BASE_CONTAINER_H
#define GCD_BASE_CONTAINER_H

#include <stdbool.h>

#include <gcdumpc/trace.h>

struct gcd_container;

/* The state of every container begins with this. */
struct gcd_trace {
    const struct gcd_container *container;
    bool fed; /* opened without an input */
};

/* Functions as in gcdumpc/trace.h unless said otherwise. */
struct gcd_container {
    /* Do the first N bytes look like this container?  NULL: it takes every other file; events or an
     * error follow from next(). */
    bool (*probe)(const uint8_t *head, size_t n);
    bool joins_files; /* several files can form one recording */
    /* IN outlives the trace; NULL: the trace is fed.  The caller fills in struct gcd_trace. */
    gcd_status (*open)(const struct gcd_context *context, struct gcd_input *in,
                       struct gcd_trace **ret, struct gcd_error *err);
    void (*free)(struct gcd_trace *t);
    /* NULL: the container needs an input. */
    gcd_status (*feed)(struct gcd_trace *t, const void *bytes, size_t n, struct gcd_error *err);
    void (*finish)(struct gcd_trace *t); /* NULL: nothing to do */
    gcd_status (*fetch)(struct gcd_trace *t, struct gcd_error *err);
    gcd_status (*next)(struct gcd_trace *t, struct gcd_event *ret, struct gcd_error *err);
    uint64_t (*position)(const struct gcd_trace *t);
    void (*get_info)(const struct gcd_trace *t, struct gcd_trace_info *ret);
    bool (*thread_closed)(const struct gcd_trace *t, uint64_t thread);
    /* NULL: events are not counted per thread. */
    bool (*get_thread)(const struct gcd_trace *t, size_t i, uint64_t *ret_thread,
                       uint64_t *ret_events, uint64_t *ret_lost);
    void (*keep_stacks)(struct gcd_trace *t); /* NULL: its events have no stacks */
    /* NULL: the records are there anyway. */
    void (*skip_records)(struct gcd_trace *t, bool nodes, bool edges);
    /* NULL: it has none. */
    const struct gcd_type_sum *(*sum)(const struct gcd_trace *t, size_t i, uint64_t *ret_type);
};

/* What the objects of one type have in all; EDGES: references that are not null; SIZE_BITS: their
 * sizes, combined with "or". */
struct gcd_type_sum {
    uint64_t objects, bytes, edges, size_bits;
};
/* Objects of types are summed where that takes less time than to give each of them: then the
 * records of bulk events of nodes and edges may be anything, and from the first one of nodes on
 * gcd_trace_sum has the sum number I, until it returns NULL.  Before the first event. */
void gcd_trace_want_sums(struct gcd_trace *t);
const struct gcd_type_sum *gcd_trace_sum(const struct gcd_trace *t, size_t i, uint64_t *ret_type);

/* The caller does not look at the records of these bulk events, only at their number: they may be
 * anything, because they take time where events are made from memory.  Before the first event. */
void gcd_trace_skip_records(struct gcd_trace *t, bool nodes, bool edges);

/* The next event of a trace that was opened on an input, whose bytes are fetched as needed. GCD_END
 * after the last one; errors of gcd_trace_next and gcd_trace_fetch, also what CANCEL says. */
gcd_status gcd_trace_pull(struct gcd_trace *t, const gcd_cancel_flag *cancel, struct gcd_event *ret,
                          struct gcd_error *err);

/* ---- events that gcdumpc writes into a recording ---- */

/* The kinds of fields, with the numbers that .nettrace has for them (System.TypeCode; 17 is a
 * GUID). */
enum gcd_field_kind {
    GCD_FIELD_UINT32 = 10,
    GCD_FIELD_UINT64 = 12,
    GCD_FIELD_DOUBLE = 14,
    GCD_FIELD_GUID = 17,
    GCD_FIELD_TEXT = 18
};

struct gcd_new_field {
    enum gcd_field_kind kind;
    const char *name; /* ASCII */
};

struct gcd_new_event {
    uint32_t id, version;
    const char *name; /* ASCII */
    const struct gcd_new_field *fields;
    size_t field_count;
};

/* All events of PROVIDER. */
struct gcd_new_events {
    enum gcd_provider provider;
    const struct gcd_new_event *events;
    size_t count;
};

#endif
