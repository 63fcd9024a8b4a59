/* The session, private to this folder. */
#ifndef GCD_SESSION_SESSION_H
#define GCD_SESSION_SESSION_H

#include <pthread.h>
#include <stdatomic.h>

#include <gcdumpc/unstable/session/views.h>

#include "base/threads/locked_alloc.h"
#include "session/node_lists.h"

/* The results that a session keeps.  A part needs only parts before it, so threads never wait in a
 * circle. */
enum session_part {
    PART_ORIGINS,
    PART_COLLECTIONS,
    PART_GENERATIONS,
    PART_FIELDS,
    PART_DOMINATORS,
    PART_PATHS,
    PART_BY_TYPE,
    PART_ROOT_SETS,
    PART_SUSPECTS,
    PART_LARGEST,
    PART_ASYNC,
    PART_WAITS,
    PART_TREE,
    PART_DEPTHS,
    PART_OF_TYPE,
    PART_DOMINATED,
    PART_REFERRERS,
    PART_SLOTS,
    PART_LARGEST_FIRST,
    PART_SITES,
    PARTS
};
#define PART_BIT(part) (1u << (part))

struct gcd_session {
    const struct gcd_graph *graph;
    const struct gcd_names *names;
    struct gcd_names *own_names;        /* NULL: they are the user's */
    struct gcd_session_options options; /* its NAMES and MINE are not used */
    uint8_t *mine;                      /* [type_count + 1], or NULL */
    struct gcd_alloc user, alloc;       /* ALLOC forwards to USER, one call at a time */
    struct gcd_locked_alloc locked;
    const struct gcd_sites *sites; /* or NULL */
    struct gcd_values_view values;
    struct gcd_image_numbers *numbers; /* NULL: not needed yet, or there are none */
    pthread_mutex_t lock;              /* protects RUNNING */
    pthread_cond_t moved;              /* a bit of RUNNING was cleared */
    unsigned running;                  /* PART_BIT of the parts that a thread computes */
    /* PART_BIT of the finished parts: their members below may be read */
    atomic_uint done;
    pthread_mutex_t describing; /* protects COLLECTIONS while one is described */
    struct gcd_origins *origins;
    struct gcd_collections *collections;
    struct gcd_generations *generations;
    struct gcd_fields *fields;
    struct gcd_dominators *dominators;
    struct gcd_paths *paths;
    uint64_t *by_type; /* [type_count + 1] */
    struct gcd_root_sets root_sets;
    struct gcd_suspects *suspects, *largest; /* LARGEST: may be NULL */
    struct gcd_async *async, *waits;
    struct gcd_merged_tree *tree;
    struct node_lists of_type, dominated, referrers;
    uint32_t *slots;                 /* [referrers.count] */
    uint32_t *largest_first;         /* [dominated.count] the lists of DOMINATED in another order */
    uint32_t *depths;                /* [node_count + 1] */
    struct gcd_site_list *site_list; /* NULL without SITES */
};

/* gcd_session_merge once the session has fields and origins. */
gcd_status session_merge(const struct gcd_session *s, const struct gcd_merged_tree_options *options,
                         struct gcd_merged_tree **ret, struct gcd_error *err);

/* The context of a call: its cancel flag, threads and progress, with the session's memory and
 * limits. */
struct gcd_context session_context(const struct gcd_session *s, const struct gcd_context *call);

/* [gcd_session_numbers] Also where values are hidden: for what is nobody's secret. */
GCD_MUST_CHECK gcd_status session_numbers(struct gcd_session *s, struct gcd_image_numbers **ret,
                                          struct gcd_error *err);

/* [gcd_collection_keys] One thread at a time. */
GCD_MUST_CHECK gcd_status session_collection_keys(struct gcd_session *s, uint32_t node,
                                                  gcd_key_fn take, void *ctx,
                                                  struct gcd_error *err);

/* A number for the contents of the object KEY: that of another one only if they are equal, by all
 * odds.  False: not known. */
bool session_key_hash(struct gcd_session *s, uint32_t key, uint64_t *ret);
/* inline_keys.c: the key of E, which is no string; KEY: its object, if it is known to be one. *RET,
 * BUF and the result as those of gcd_session_key. */
const char *session_other_key(struct gcd_session *s, const struct gcd_fields *f,
                              const struct gcd_session_entry *e, uint32_t key, struct gcd_text *ret,
                              char buf[GCD_QUOTED_BYTES]);

/* parts.c: new suspects with these thresholds. */
GCD_MUST_CHECK gcd_status session_suspects(struct gcd_session *s, const struct gcd_context *c,
                                           double share, uint64_t min_bytes,
                                           struct gcd_suspects **ret, struct gcd_error *err);
/* claim.c: GCD_OK: the parts PARTS (bits) are finished.  Computes missing ones, or waits for the
 * thread that does. */
GCD_MUST_CHECK gcd_status session_need(struct gcd_session *s, unsigned parts,
                                       const struct gcd_context *context, struct gcd_error *err);

/*
 * parts.c: computes PARTS (one part, or dominators with paths) and what they need.  Only one thread
 * computes a part.  Leaves nothing of it behind on failure.
 */
GCD_MUST_CHECK gcd_status session_make(struct gcd_session *s, unsigned parts,
                                       const struct gcd_context *context, struct gcd_error *err);
/* Frees all parts. */
void session_drop(struct gcd_session *s);

#endif
