/*
 * What is in a heap several times: texts of strings, contents of arrays of numbers.
 *
 *     struct gcd_duplicates *d;
 *     if (gcd_duplicates_new(graph, gcd_dump_values(dump), NULL, &d, &err) == GCD_OK) {
 *         size_t n;
 *         const struct gcd_duplicate *rows = gcd_duplicates_rows(d, GCD_DUPLICATE_STRINGS, &n);
 *         printf("%" PRIu64 " bytes are wasted\n", rows[0].wasted_bytes);
 *     }
 */
#ifndef GCDUMPC_UNSTABLE_DUPLICATES_H
#define GCDUMPC_UNSTABLE_DUPLICATES_H

#include <stdbool.h>

#include <gcdumpc/graph.h>
#include <gcdumpc/paths.h>
#include <gcdumpc/unstable/fields.h>
#include <gcdumpc/unstable/values.h>

struct gcd_duplicates;

enum gcd_duplicate_kind { GCD_DUPLICATE_STRINGS, GCD_DUPLICATE_ARRAYS, GCD_DUPLICATE_KINDS };

/* All objects of one content. */
struct gcd_duplicate {
    uint32_t text; /* of the values */
    uint32_t type;
    uint64_t count, bytes;
    uint64_t wasted_bytes; /* of all objects but one */
};

struct gcd_duplicate_totals {
    uint64_t objects, bytes; /* strings, or arrays of numbers, with a value */
    uint64_t contents;
    uint64_t wasted_bytes;
    uint64_t unknown; /* objects of these types without a value */
};

/*
 * G and V must outlive the result, V is not NULL.  CALL may be NULL.  Takes 4 bytes for each object
 * and 32 for each text.  GCD_E_NOMEM, GCD_E_CANCELED.
 */
GCD_MUST_CHECK gcd_status gcd_duplicates_new(const struct gcd_graph *g, const struct gcd_values *v,
                                             const struct gcd_context *call,
                                             struct gcd_duplicates **ret, struct gcd_error *err);
void gcd_duplicates_free(struct gcd_duplicates *d);

/* What wastes most comes first, then what is largest. */
const struct gcd_duplicate *gcd_duplicates_rows(const struct gcd_duplicates *d,
                                                enum gcd_duplicate_kind kind, size_t *ret_n);
struct gcd_duplicate_totals gcd_duplicates_totals(const struct gcd_duplicates *d,
                                                  enum gcd_duplicate_kind kind);

/* The text of NODE; GCD_TEXT_NONE: it is neither a string nor an array of numbers, or not known. */
uint32_t gcd_duplicates_text(const struct gcd_duplicates *d, uint32_t node);

/* What objects of one type, or a static variable, refer to by one field, of one content. */
struct gcd_duplicate_holder {
    uint32_t text;
    uint32_t type;          /* GCD_TYPE_NONE: the static variable */
    size_t root;            /* of the summary of the graph */
    struct gcd_field field; /* through which the references go */
    uint64_t count, bytes;  /* objects; one that several refer to counts once */
};

struct gcd_duplicate_holders {
    struct gcd_duplicate_holder *items; /* [count] */
    size_t count;
};

struct gcd_duplicate_question {
    const struct gcd_duplicate *const *rows; /* [count] */
    size_t count;
    const struct gcd_fields *fields; /* of the graph */
    /* of the graph: an array or a collection is not what holds, but the field that leads to it on
     * the shortest path; NULL = it is */
    const struct gcd_paths *paths;
    bool together; /* the objects of all rows count as one, whose text is that of any */
};

/*
 * What refers to the objects of the rows: for each row together, in the order of the rows, the most
 * objects first.  One pass over all references; 4 bytes for each object, and 32 for each that is
 * held in several ways.  CALL may be NULL.  Errors as above.
 */
GCD_MUST_CHECK gcd_status gcd_duplicates_holders(const struct gcd_duplicates *d,
                                                 const struct gcd_duplicate_question *about,
                                                 const struct gcd_context *call,
                                                 struct gcd_duplicate_holders *ret,
                                                 struct gcd_error *err);
void gcd_duplicate_holders_free(const struct gcd_duplicates *d, struct gcd_duplicate_holders *h);

#endif
