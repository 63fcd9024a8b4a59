/*
 * The exceptions on a heap, by type, message, inner exception and the method that threw them.
 *
 * An exception that was caught is garbage afterwards: an event dump has those that something still
 * holds, a memory image read with its dead objects (image.h, with_dead) also what was swallowed
 * since the last collections.
 *
 *     struct gcd_exceptions_of of = { .fields = fields, .values = values };
 *     struct gcd_exceptions *e;
 *     if (gcd_exceptions_new(graph, &of, &e, &err) == GCD_OK) {
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

/* All exceptions of one type with one message and inner exceptions of one type, thrown in one
 * method. */
struct gcd_exception {
    uint32_t type;
    uint32_t message;      /* a text of the values; GCD_TEXT_NONE: null, or unknown */
    uint32_t inner_type;   /* GCD_TYPE_NONE: there is none, or it is unknown */
    const char *thrown_in; /* of gcd_exceptions_of; NULL: unknown */
    uint32_t stack_trace;  /* that of one of them as a text, which few have; GCD_TEXT_NONE */
    uint32_t node;         /* one of them: if any was thrown, one that was */
    uint32_t trace;        /* its stack trace, an array; GCD_NODE_NONE: unknown */
    uint64_t count, bytes; /* saturates */
    uint64_t thrown;       /* those that certainly have a stack trace */
    uint64_t uncertain;    /* those of which not all references are of certain fields */
};

struct gcd_exceptions_of {
    struct gcd_context context;
    const struct gcd_fields *fields; /* of the graph */
    const struct gcd_values *values; /* NULL: no messages */
    /* NULL, or the name of the method that threw an exception with the stack trace, an array, at
     * ADDRESS; NULL = unknown.  Names must outlive the result; equal names are one method. */
    const char *(*thrown_in)(void *traces, uint64_t address);
    void *traces;
};

/*
 * An exception is an object whose type has the fields of System.Exception; where the fields of a
 * type are unknown, its name ends in "Exception".  G, the fields and values of OF must outlive the
 * result.  One pass over all objects, memory for the groups.  GCD_E_NOMEM, GCD_E_CANCELED.
 */
GCD_MUST_CHECK gcd_status gcd_exceptions_new(const struct gcd_graph *g,
                                             const struct gcd_exceptions_of *of,
                                             struct gcd_exceptions **ret, struct gcd_error *err);
void gcd_exceptions_free(struct gcd_exceptions *e);

struct gcd_exception_totals {
    uint64_t objects, bytes; /* saturates */
    uint64_t thrown;         /* those that certainly have a stack trace */
    uint64_t uncertain;      /* those of which not all references are of certain fields */
};
struct gcd_exception_totals gcd_exceptions_totals(const struct gcd_exceptions *e);

/* The groups: most exceptions first, then by type, message, inner exception and method. */
size_t gcd_exceptions_count(const struct gcd_exceptions *e);
const struct gcd_exception *gcd_exceptions_at(const struct gcd_exceptions *e, size_t i);

#endif
