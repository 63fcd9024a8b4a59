/*
 * Types of a diff that are parts of one thing, for people: a collection with what it has inside, a
 * list with its array.
 */
#ifndef GCD_ANSWER_ALIKE_H
#define GCD_ANSWER_ALIKE_H

#include <gcdumpc/alloc.h>
#include <gcdumpc/diff.h>

struct answer_group {
    uint32_t whole; /* the row that this one is a part of; itself = of none */
    uint32_t parts; /* number of parts of this row, and the last of them */
    uint32_t part;
    struct gcd_diff_sum more[2]; /* of its parts */
};

struct answer_alike {
    struct gcd_alloc alloc;
    size_t n;                    /* rows of the diff */
    struct answer_group *groups; /* [n] */
    uint32_t *order;             /* [count of n] rows that are no parts, by growth in bytes */
    size_t count;
    uint64_t *observed; /* [n] of the growth of each row, bytes that are no growth of the program */
};

struct gcd_session;
/* Of two dumps; OBSERVED as in struct answer_compared.  Call answer_alike_done in any case. */
gcd_status answer_alike_find(const struct gcd_diff *d, struct gcd_session *observed,
                             struct answer_alike *ret, struct gcd_error *err);
void answer_alike_done(struct answer_alike *a);
/* Objects and bytes of ROW with its parts; retained bytes of ROW. */
void answer_alike_sums(const struct answer_alike *a, const struct gcd_diff *d, uint32_t row,
                       struct gcd_diff_sum ret[2]);

#endif
