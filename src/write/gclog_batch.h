/*
 * The objects of a gclog, which another thread turns into text and writes while the calling one reads: batches of numbers go there.  Only that
 * thread uses the sink meanwhile; a sink without a thread of its own is used by the calling thread alone.
 */
#ifndef GCD_WRITE_GCLOG_BATCH_H
#define GCD_WRITE_GCLOG_BATCH_H

#include <gcdumpc/dump.h>
#include <gcdumpc/io.h>

#include "base/threads/in_order.h"

/* Before the references of an object; one that does not fit goes on in the next batch. */
enum {
    GCLOG_ADDRESS,               /* 0: goes on with more references */
    GCLOG_SIZE,                  /* bytes */
    GCLOG_COUNTS,                /* number of the type, 31 bits for the references in this batch, and whether the object ends here */
    GCLOG_HEAD_NUMBERS
};
#define GCLOG_EDGES_SHIFT 32u
#define GCLOG_LAST (UINT64_C(1) << 63)

#define GCLOG_BATCH_NUMBERS ((size_t)8192)

struct gclog_batches {
    struct gcd_alloc alloc;
    const struct gcd_dump *dump;
    struct gcd_sink *out;
    struct gcd_in_order order;
    struct gcd_slot *slot;       /* its bytes are NUMBERS */
    uint64_t *numbers;           /* [GCLOG_BATCH_NUMBERS] heads, each before its references */
    size_t used;
    size_t head;                 /* where that of the object is that is being put; */
    uint32_t type_id;            /* its type */
    bool failed;                 /* the sink; known some batches later */
    uint64_t dangling;           /* references without an object, when all is finished */
};

/* Another thread if CONTEXT has two.  False when out of memory. */
bool gclog_batches_init(struct gclog_batches *b, const struct gcd_dump *dump, struct gcd_sink *out, const struct gcd_context *context);
/* An object; then its references, in any number of calls; then its end. */
void gclog_batches_begin(struct gclog_batches *b, uint64_t address, uint32_t type_id, uint64_t size_bytes);
void gclog_batches_edges(struct gclog_batches *b, const uint64_t *targets, size_t n);
void gclog_batches_end(struct gclog_batches *b);
/* Writes what B still has, and frees it: the sink is the caller's again. */
void gclog_batches_finish(struct gclog_batches *b);

#endif
