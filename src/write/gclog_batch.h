/*
 * The objects of a gclog.  A second thread formats and writes them while the calling thread reads
 * on and sends it batches of numbers.  Until it is done, only that thread uses the sink.  If the
 * sink has no thread of its own, the calling thread does everything.
 */
#ifndef GCD_WRITE_GCLOG_BATCH_H
#define GCD_WRITE_GCLOG_BATCH_H

#include <gcdumpc/dump.h>
#include <gcdumpc/io.h>

#include "base/threads/in_order.h"

/* The head before the references of an object; an object that does not fit continues in the next
 * batch. */
enum {
    GCLOG_ADDRESS, /* 0: more references of the previous object */
    GCLOG_SIZE,    /* bytes */
    /* number of the type, 31 bits for the references in this batch, and whether the object ends
       here */
    GCLOG_COUNTS,
    GCLOG_HEAD_NUMBERS
};
#define GCLOG_EDGES_SHIFT 32u
#define GCLOG_LAST        (UINT64_C(1) << 63)

/* 512 KiB: waking the other thread costs as much as formatting some hundred objects (tests/bench).
 */
#define GCLOG_BATCH_NUMBERS ((size_t)65536)

struct gclog_batches {
    struct gcd_alloc alloc;
    const struct gcd_dump *dump;
    struct gcd_sink *out;
    struct gcd_in_order order;
    struct gcd_slot *slot; /* its bytes are NUMBERS */
    uint64_t *numbers;     /* [GCLOG_BATCH_NUMBERS] heads, each before its references */
    size_t used;
    size_t head;       /* position of the current object's head */
    uint32_t type_id;  /* type of the current object */
    bool failed;       /* the sink has failed; known some batches later */
    uint64_t dangling; /* references without an object; set at the end */
};

/* Starts a second thread if CONTEXT has two.  False if out of memory. */
bool gclog_batches_init(struct gclog_batches *b, const struct gcd_dump *dump, struct gcd_sink *out,
                        const struct gcd_context *context);
/* An object; then its references, in any number of calls; then its end. */
void gclog_batches_begin(struct gclog_batches *b, uint64_t address, uint32_t type_id,
                         uint64_t size_bytes);
void gclog_batches_edges(struct gclog_batches *b, const uint64_t *targets, size_t n);
void gclog_batches_end(struct gclog_batches *b);
/* Writes the rest and frees B; then the caller may use the sink again. */
void gclog_batches_finish(struct gclog_batches *b);

#endif
