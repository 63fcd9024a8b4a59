/* The heap of an image as the events that the runtime would have sent for a walk of it. */
#ifndef GCD_IMAGE_CLR_EVENTS_H
#define GCD_IMAGE_CLR_EVENTS_H

#include <gcdumpc/event.h>

#include "image/clr/clr.h"
#include "values/values.h"

#define CLR_EVENT_BYTES ((size_t)65536)

/* Which values have been written. */
struct clr_values_at {
    struct clr_scan scan;
    struct clr_lost lost;
    struct clr_object object; /* read, and not written yet */
    struct values_content content;
    bool begun, has_object;
    uint32_t parts;
    uint64_t objects, unread;
    uint8_t *units; /* [CLR_VALUE_BYTES] */
    char *text;     /* [VALUES_TEXT_BYTES] */
};
#define CLR_VALUE_BYTES ((size_t)65536)

struct clr_events {
    struct clr *c;
    unsigned phase;
    size_t next;    /* item of the phase */
    uint32_t index; /* of the next event of this kind */
    struct clr_scan scan;
    struct clr_object object; /* the one whose references are being written */
    struct clr_slots slots;
    bool has_object;
    bool skip_nodes, skip_edges; /* their records: only their number counts */
    bool sums_wanted, summed;    /* not of each object, but of all of a type: clr_sum */
    uint64_t nodes_left;         /* of all, if they are summed */
    uint64_t edges_left;         /* the same, or of OBJECT, if they only count */
    uint64_t follows;            /* the place after that of its last reference */
    uint32_t node_index, edge_index;
    uint32_t node_count, edge_count; /* in the two buffers below */
    struct clr_lost lost;
    struct clr_values_at values;
    uint64_t off;                     /* of the next payload */
    uint8_t *payload, *nodes, *edges; /* [CLR_EVENT_BYTES] each */
};

gcd_status clr_events_init(struct clr_events *e, struct clr *c, struct gcd_error *err);
void clr_events_done(struct clr_events *e);
/* GCD_OK; GCD_END after the last; GCD_E_CANCELED, GCD_E_NOMEM. */
gcd_status clr_events_next(struct clr_events *e, struct gcd_event *ret, struct gcd_error *err);
/* clr_values.c: the next part with values in E->payload; *RET_N 0 = no more. */
gcd_status clr_values_next(struct clr_events *e, size_t *ret_n, struct gcd_error *err);
/* The next object of the regions from number *NEXT on that the events have; false: there are no
 * more. */
bool clr_events_object(struct clr_events *e, struct clr_scan *scan, size_t *next,
                       struct clr_lost *lost, struct clr_object *ret);
/* How much of the heap has been written, in thousandths. */
unsigned clr_events_progress(const struct clr_events *e);

#endif
