/*
 * The exceptions on a heap, by type, message and inner exception.
 *
 * An exception that was caught is garbage afterwards: an event dump has those that something still
 * holds, a memory image read with its dead objects (image.h, with_dead) also what was swallowed
 * since the last collections.
 *
 *     struct gcd_exceptions *e;
 *     if (gcd_exceptions_new(graph, fields, values, NULL, &e, &err) == GCD_OK) {
 *         for (size_t i = 0; i < gcd_exceptions_count(e); i++)
 *             printf("%" PRIu64 "\n", gcd_exceptions_at(e, i)->count);
 *         gcd_exceptions_free(e);
 *     }
 */
#ifndef GCDUMPC_UNSTABLE_EXCEPTIONS_H
#define GCDUMPC_UNSTABLE_EXCEPTIONS_H

#include <gcdumpc/graph.h>
#include <gcdumpc/unstable/fields.h>
#include <gcdumpc/unstable/values.h>

struct gcd_exceptions;

/* All exceptions of one type with one message and inner exceptions of one type. */
struct gcd_exception {
    uint32_t type;
    uint32_t message;     /* a text of the values; GCD_TEXT_NONE: null, or unknown */
    uint32_t inner_type;  /* GCD_TYPE_NONE: there is none, or it is unknown */
    uint32_t stack_trace; /* that of one of them as a text, which few have; GCD_TEXT_NONE */
    uint32_t node;        /* one of them: if any was thrown, one that was */
    uint32_t trace;       /* its stack trace, an array; GCD_NODE_NONE: unknown */
    uint64_t count;
    uint64_t thrown; /* those that certainly have a stack trace */
};

/*
 * An exception is an object whose type has the fields of System.Exception; where the fields of a
 * type are unknown, its name ends in "Exception".  G, F and V must outlive the result; V NULL: no
 * messages.  CALL may be NULL.  One pass over all objects, memory for the groups.  GCD_E_NOMEM,
 * GCD_E_CANCELED.
 */
GCD_MUST_CHECK gcd_status gcd_exceptions_new(const struct gcd_graph *g, const struct gcd_fields *f,
                                             const struct gcd_values *v,
                                             const struct gcd_context *call,
                                             struct gcd_exceptions **ret, struct gcd_error *err);
void gcd_exceptions_free(struct gcd_exceptions *e);

struct gcd_exception_totals {
    uint64_t objects;
    uint64_t thrown; /* those that certainly have a stack trace */
};
struct gcd_exception_totals gcd_exceptions_totals(const struct gcd_exceptions *e);

/* The groups: most exceptions first, then by type, message and inner exception. */
size_t gcd_exceptions_count(const struct gcd_exceptions *e);
const struct gcd_exception *gcd_exceptions_at(const struct gcd_exceptions *e, size_t i);

#endif
