/*
 * Follows sampled objects through garbage collections.
 *
 * Events come in any order within an epoch (event.h); they are sorted by time, and applied epoch by
 * epoch.  A sample is dead when a collection that condemned it does not report its memory as
 * surviving or moved, and lost when a lost event may have told what became of it.
 */
#ifndef GCD_SITES_FOLLOW_H
#define GCD_SITES_FOLLOW_H

#include <gcdumpc/event.h>
#include <gcdumpc/unstable/sites.h>

#include "base/idmap.h"
#include "base/text.h"
#include "clr/clr_gc.h"

/* Samples of one stack and type; the living ones are derived at the end. */
struct follow_total {
    uint32_t stack; /* GCD_SITE_NONE = none */
    uint64_t type_id;
    const char *type;
    uint64_t samples, dead, lost;
    uint64_t died; /* of them, while nobody followed: the memory of others may be used again */
    double objects, bytes;
};

struct follow_sample {
    uint64_t address, size_bytes;
    uint32_t total;
    /* at the foreground collection that is being applied, and at the background one; YOUNGER = not
     * of its time */
    uint8_t generation, background;
    uint8_t kind;    /* 0 SOH, 1 LOH, 2 POH */
    double bytes;    /* that it stands for */
    int64_t time_ns; /* for the order; */
    int64_t born_ns; /* of its allocation, by the clock of the first recording */
};

struct follow_range {
    uint64_t start; /* must be first: it is sorted by it */
    uint64_t bytes;
    uint64_t to; /* the new start; the same for what has not moved */
};
struct follow_ranges {
    struct follow_range *items;
    size_t count, cap;
};

struct follow_gc {
    bool open, classified;
    uint32_t number, depth, type;
    int64_t start_ns;
    struct follow_ranges ranges;
};

struct follow_layout {
    uint64_t start; /* must be first */
    uint64_t bytes;
    uint8_t generation;
};

/* A large or pinned object was allocated there. */
struct follow_reuse {
    uint64_t address; /* must be first: it is sorted by it */
    int64_t time_ns;
};

/* An event that waits for its epoch to end. */
struct follow_waiting {
    uint64_t time; /* must be first; gcd_sort_key */
    uint64_t thread;
    uint32_t id, version, gap, stack;
    bool late;         /* of a sample: the window is closed */
    size_t off, bytes; /* of its payload */
};

struct follow_stack {
    uint32_t off, count; /* addresses in follow.addresses */
    uint32_t next;       /* of the same hash */
};

struct follow {
    struct gcd_alloc alloc;
    unsigned ptr_bytes;
    uint32_t epoch;
    enum gcd_site_source source;
    bool window_closed;

    struct follow_waiting *waiting;
    size_t waiting_count, waiting_cap;
    uint8_t *payloads;
    size_t payload_bytes, payload_cap;

    /* stacks of samples: addresses, the leaf first */
    uint64_t *addresses;
    size_t address_count, address_cap;
    struct follow_stack *stacks;
    size_t stack_count, stack_cap;
    struct gcd_idmap stack_by_hash;

    struct follow_total *totals;
    size_t total_count, total_cap;
    struct gcd_idmap total_by_key; /* stack and name of the type */
    struct follow_sample *samples; /* neither dead nor lost */
    size_t sample_count, sample_cap;
    struct gcd_textpool texts;
    struct gcd_idmap type_names; /* type id -> index in names */
    const char **names;
    size_t name_count, name_cap;

    struct follow_gc foreground, background;
    struct follow_ranges filled; /* memory that a collection moves objects to, sorted */
    struct follow_reuse *reuses; /* since the last collection */
    size_t reuse_count, reuse_cap;
    struct follow_layout *layout; /* sorted by start once it is used */
    size_t layout_count, layout_cap;
    bool layout_open, layout_sorted; /* more of its events may follow */

    struct gcd_idmap thread_index; /* thread -> index in thread_ns */
    int64_t *thread_ns;            /* of its last event */
    size_t thread_count, thread_cap;
    int64_t gc_end_ns;     /* of the last collection; INT64_MIN = none */
    bool numbered;         /* number is known */
    uint32_t number;       /* the highest number of a collection */
    uint32_t first_number; /* of this recording */
    uint32_t finished;     /* the highest number of a foreground collection that was applied */
    /* a full collection began in this recording: no earlier background one runs any longer */
    bool full_began;
    /* of the collection of the walk, 0 = not known; what follows it is of no interest */
    uint32_t last_number;
    bool over;
    bool still; /* there are no ranges: collections say nothing */
    bool held;  /* nothing is applied before follow_flush */
    /* a full collection was not followed: objects may have died, and others have their memory */
    bool doubted;

    uint64_t all, dead, lost, gaps, collections;
};

void follow_init(struct follow *f, const struct gcd_alloc *alloc);
void follow_done(struct follow *f);

/* Takes an event of the runtime.  Samples are taken until the window closes. */
GCD_MUST_CHECK gcd_status follow_event(struct follow *f, const struct gcd_event *ev,
                                       struct gcd_error *err);
/* Applies what waits: no older event will come. */
GCD_MUST_CHECK gcd_status follow_flush(struct follow *f, struct gcd_error *err);
/* The next events come from another recording of the same process, with a clock of its own. */
GCD_MUST_CHECK gcd_status follow_next_trace(struct follow *f, struct gcd_error *err);
/* A collection that was not followed: its ranges are not known. */
void follow_pass(struct follow *f, uint32_t number, uint32_t depth, bool compacts);
/* Gives up all samples of generations up to DEPTH (2: all). */
void follow_lose(struct follow *f, uint32_t depth);

/* The chance that an object of SIZE bytes is sampled when on average each 102,400th byte is. */
double follow_chance(uint64_t size);

#endif
