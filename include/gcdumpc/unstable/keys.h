/*
 * The keys of a collection: under which texts a dictionary, a cache or a set has its elements, and
 * what lies below those with the same beginning, "tenant-42/".
 *
 *     struct gcd_keys *k;
 *     gcd_status st = gcd_keys_new(&about, node, &context, &k, &err);
 *     if (st == GCD_OK) {
 *         size_t n;
 *         const struct gcd_key_group *groups = gcd_keys_groups(k, &n);
 *         ...
 *     }
 *
 * Only keys that are strings, and whose text the values have (values.h); numbers and the like are
 * those of gcd_session_key.  A key belongs to a value
 * if the fields of both are certain (fields.h): those of a Hashtable never are, and those of a
 * Dictionary of strings by strings are not.
 */
#ifndef GCDUMPC_UNSTABLE_KEYS_H
#define GCDUMPC_UNSTABLE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/dominators.h>
#include <gcdumpc/unstable/collections.h>
#include <gcdumpc/unstable/fields.h>
#include <gcdumpc/unstable/values.h>

/* An entry of a collection; KEY GCD_NODE_NONE: it is no object, as a number.  VALUE GCD_NODE_NONE:
 * null, no object, not certain, or that of a set. */
struct gcd_key_pair {
    uint32_t key, value;
    uint32_t key_holder, value_holder; /* the parts of the collection that refer to them */
};

typedef gcd_status (*gcd_key_fn)(void *ctx, const struct gcd_key_pair *pair, struct gcd_error *err);

/*
 * Calls TAKE for each entry of the collection NODE whose key is certain, or no object.  One thread
 * uses C at a time.  GCD_END: NODE is no collection; GCD_E_NOMEM, GCD_E_CANCELED; what TAKE
 * returns, unless GCD_OK.
 */
GCD_MUST_CHECK gcd_status gcd_collection_keys(struct gcd_collections *c, const struct gcd_fields *f,
                                              uint32_t node, gcd_key_fn take, void *ctx,
                                              struct gcd_error *err);

/*
 * The key under which ENTRY, an entry, an array of them or one of values, has VALUE; GCD_NODE_NONE:
 * there is none, or it is not certain.  COLLECTION: ENTRY is part of it, where a value has a key;
 * GCD_NODE_NONE: of none.
 */
uint32_t gcd_key_of(const struct gcd_graph *g, const struct gcd_fields *f, uint32_t collection,
                    uint32_t entry, uint32_t value);

/* The array whose elements are the keys of those of VALUES, the array of values of COLLECTION;
 * GCD_NODE_NONE: not known. */
uint32_t gcd_key_array_of(const struct gcd_graph *g, const struct gcd_fields *f,
                          uint32_t collection, uint32_t values);

/* Is WORD the last part of NAME[N], that of a field, whatever marks it as private: "_key",
 * "Item.Key"? */
bool gcd_field_is_called(const char *name, size_t n, const char *word);

struct gcd_keys;

struct gcd_keys_question {
    const struct gcd_graph *graph;
    struct gcd_collections *collections;
    const struct gcd_fields *fields;
    const struct gcd_dominators *dominators;
    struct gcd_values_view view; /* with values that may be seen */
};

/*
 * The keys of NODE.  The graph and the values must outlive the result.  CALL may be NULL.  Takes 24
 * bytes for each key.  GCD_END: none is known; GCD_E_NOMEM, GCD_E_CANCELED.
 */
GCD_MUST_CHECK gcd_status gcd_keys_new(const struct gcd_keys_question *about, uint32_t node,
                                       const struct gcd_context *call, struct gcd_keys **ret,
                                       struct gcd_error *err);
void gcd_keys_free(struct gcd_keys *k);

struct gcd_key_totals {
    uint64_t count;     /* entries whose key has a text */
    uint64_t different; /* texts */
    uint64_t bytes; /* that only this collection keeps alive below these keys and their values */
};
struct gcd_key_totals gcd_keys_totals(const struct gcd_keys *k);

/* Keys with the same beginning. */
struct gcd_key_group {
    const char *secret;    /* gcd_secret_name of all; NULL = none, and then */
    const char *beginning; /* [bytes] of their texts, not terminated */
    uint32_t beginning_bytes;
    uint64_t count, bytes;
};
#define GCD_KEY_GROUPS   10u
#define GCD_KEY_EXAMPLES 3u

/* The groups with most bytes, at most GCD_KEY_GROUPS; 0: their beginnings tell nothing. */
const struct gcd_key_group *gcd_keys_groups(const struct gcd_keys *k, size_t *ret_n);
/* Some texts that are no secrets, from the first to the last in the order of their bytes; at most
 * GCD_KEY_EXAMPLES. */
const uint32_t *gcd_keys_examples(const struct gcd_keys *k, size_t *ret_n);

#endif
