/*
 * Sites under construction: from samples (finish.c) or from a recording (stored.c).
 */
#ifndef GCD_SITES_SITES_H
#define GCD_SITES_SITES_H

#include <gcdumpc/unstable/sites.h>

#include "base/idmap.h"
#include "base/text.h"

struct gcd_sites_owner {
    struct gcd_sites sites; /* must be first */
    struct gcd_alloc alloc;
    struct gcd_textpool texts;
    struct gcd_site_frame *frames;
    struct gcd_site_stack *stacks;
    struct gcd_site_total *totals;
    struct gcd_site_sample *living;
    size_t frame_count, frame_cap, stack_count, stack_cap, total_count, total_cap, living_count,
        living_cap;
    /* hash -> the last item with it; NEXT chains the others */
    struct gcd_idmap frame_by_hash, stack_by_hash, total_by_hash;
    uint32_t *frame_next, *stack_next, *total_next;
    size_t frame_next_cap, stack_next_cap, total_next_cap;
};

GCD_MUST_CHECK gcd_status sites_new(const struct gcd_alloc *alloc, struct gcd_sites_owner **ret,
                                    struct gcd_error *err);
/* The number of FRAME, whose texts are copied; of the stack that is FRAME called by CALLER. */
GCD_MUST_CHECK gcd_status sites_frame(struct gcd_sites_owner *s, const struct gcd_site_frame *frame,
                                      uint32_t *ret, struct gcd_error *err);
/* Adds FRAME with the next number, even if there is one like it; its texts are in the pool. */
GCD_MUST_CHECK gcd_status sites_add_frame(struct gcd_sites_owner *s,
                                          const struct gcd_site_frame *frame,
                                          struct gcd_error *err);
GCD_MUST_CHECK gcd_status sites_stack(struct gcd_sites_owner *s, uint32_t frame, uint32_t caller,
                                      uint32_t *ret, struct gcd_error *err);
/* Adds TOTAL to the one of its stack and type. */
GCD_MUST_CHECK gcd_status sites_total(struct gcd_sites_owner *s, const struct gcd_site_total *total,
                                      uint32_t *ret, struct gcd_error *err);
void sites_count_end(struct gcd_sites_owner *s, uint32_t total, bool dead);
GCD_MUST_CHECK gcd_status sites_living(struct gcd_sites_owner *s,
                                       const struct gcd_site_sample *sample, struct gcd_error *err);
/* Sorts totals and living samples, and sums up. */
GCD_MUST_CHECK gcd_status sites_seal(struct gcd_sites_owner *s, struct gcd_error *err);

#endif
