/*
 * Traces of sampled allocations, and their events one by one.
 */
#ifndef SITE_TRACE_H
#define SITE_TRACE_H

#include "support/tb.h"

enum site_source { SITE_SAMPLED, SITE_TICKS };

/* Type of all samples, an array of bytes. */
#define SITE_TYPE UINT64_C(0x7100)

/* AllocationSampled, or GCAllocationTick that stands for 100,000 bytes. */
void site_sample(struct tb *t, enum site_source source, uint32_t kind, uint64_t address,
                 uint64_t size);
struct site_range {
    uint64_t from, to, bytes; /* TO 0: it survives in place */
};
/* Surviving and moved ranges of the open collection, in an event each. */
void site_ranges(struct tb *t, const struct site_range *ranges, size_t n);
void site_collect(struct tb *t, uint32_t number, uint32_t depth, uint32_t type,
                  const struct site_range *ranges, size_t n);
/* Rundown: a module, and a method with an IL map: IL 0 at 0, IL 7 at 16. */
void site_method(struct tb *t, uint64_t start, uint32_t bytes, const char *type, const char *name,
                 uint32_t token);

/*
 * A whole recording in RET (tb_done): objects at 0x1000 (moves to 0x9000, then stays), 0x2000
 * (dies), 0x20000 (large, stays); two collections of generation 1; stacks of two methods; a heap
 * walk with what is left.
 */
void site_trace(struct tb *ret, enum site_source source);

#endif
