/*
 * What else a session (session.h) computes once and keeps: results of other unstable headers. CALL,
 * results and errors are as in session.h.
 */
#ifndef GCDUMPC_UNSTABLE_SESSION_VIEWS_H
#define GCDUMPC_UNSTABLE_SESSION_VIEWS_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/generations.h>
#include <gcdumpc/session.h>
#include <gcdumpc/unstable/async.h>
#include <gcdumpc/unstable/collections.h>
#include <gcdumpc/unstable/fields.h>
#include <gcdumpc/unstable/image_numbers.h>
#include <gcdumpc/unstable/keys.h>
#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/origins.h>
#include <gcdumpc/unstable/owner_fills.h>
#include <gcdumpc/unstable/sites.h>
#include <gcdumpc/unstable/text/quoted.h>
#include <gcdumpc/unstable/suspect_checks.h>

/* The SITES of its dump, which outlive S; no other thread uses S yet. */
void gcd_session_use_sites(struct gcd_session *s, const struct gcd_sites *sites);

/* The values of the dump, which must outlive S, and what people may see of them; none at first.  No
 * other thread uses S yet. */
void gcd_session_use_values(struct gcd_session *s, const struct gcd_values_view *view);
struct gcd_values_view gcd_session_values(const struct gcd_session *s);
/* [gcd_image_numbers_new] The values in the objects of a memory image, for all fields, as far as
 * they may be seen; *RET NULL: there are none.  One thread at a time. */
GCD_MUST_CHECK gcd_status gcd_session_numbers(struct gcd_session *s, struct gcd_image_numbers **ret,
                                              struct gcd_error *err);

/* [gcd_suspects_options.limit] Of S; also where values may not be seen, because limits are nobody's
 * secrets. */
const char *gcd_session_limit(struct gcd_session *s, uint64_t address, uint64_t least,
                              uint64_t *ret);

/* Which await the asynchronous method with its variables in the object at ADDRESS of the SESSION, a
 * struct gcd_session, has come to, from 0 in the order of the source; GCD_STEP_UNKNOWN: none, or it
 * is not known.  Also where values may not be seen. */
uint32_t gcd_session_step(void *session, uint64_t address);

/* The field of each owner of F that limits what it has, and its value: all that are looked at must
 * have the same, and the fullest nearly as many.  NULL = not known. */
const char *gcd_session_owner_limit(struct gcd_session *s, const struct gcd_owner_fill *f,
                                    uint64_t *ret);

/* The sites by line and type, with the origins below; NULL = it has none. */
GCD_MUST_CHECK gcd_status gcd_session_site_list(struct gcd_session *s,
                                                const struct gcd_context *call,
                                                const struct gcd_site_list **ret,
                                                struct gcd_error *err);
/* [gcd_origins_new] */
GCD_MUST_CHECK gcd_status gcd_session_origins(struct gcd_session *s, const struct gcd_context *call,
                                              const struct gcd_origins **ret,
                                              struct gcd_error *err);
/* [gcd_async_new] */
GCD_MUST_CHECK gcd_status gcd_session_async(struct gcd_session *s, const struct gcd_context *call,
                                            const struct gcd_async **ret, struct gcd_error *err);
/* [gcd_async_waits_new] */
GCD_MUST_CHECK gcd_status gcd_session_waits(struct gcd_session *s, const struct gcd_context *call,
                                            const struct gcd_async **ret, struct gcd_error *err);
/* [gcd_suspects_new] With other thresholds than those of the session; the caller frees them before
 * the session. */
GCD_MUST_CHECK gcd_status gcd_session_suspects_from(struct gcd_session *s,
                                                    const struct gcd_context *call, double share,
                                                    uint64_t min_bytes, struct gcd_suspects **ret,
                                                    struct gcd_error *err);
/* [gcd_largest_consumer] of a heap without suspects; *RET NULL: there are suspects, or the heap is
 * empty. */
GCD_MUST_CHECK gcd_status gcd_session_largest_consumer(struct gcd_session *s,
                                                       const struct gcd_context *call,
                                                       const struct gcd_suspects **ret,
                                                       struct gcd_error *err);
/* [gcd_suspects_headline] */
GCD_MUST_CHECK gcd_status gcd_session_headline(struct gcd_session *s,
                                               const struct gcd_context *call,
                                               char ret[GCD_HEADLINE_BYTES], struct gcd_error *err);
/*
 * A merged tree that tells the fields of the program's own classes and of libraries apart, as far
 * as they are known; those of the framework are nobody's question.  OPTIONS without fields.  The
 * caller frees the tree before the session.  Errors of gcd_merged_tree_new.
 */
GCD_MUST_CHECK gcd_status gcd_session_merge(struct gcd_session *s, const struct gcd_context *call,
                                            const struct gcd_merged_tree_options *options,
                                            struct gcd_merged_tree **ret, struct gcd_error *err);
/*
 * The same for the paths to the objects of OPTIONS->types, without paths: what holds them.  If they
 * are of one type, a path leads through one of them only to what can be reached in no other way
 * (paths_around.h).
 */
GCD_MUST_CHECK gcd_status gcd_session_merge_paths(struct gcd_session *s,
                                                  const struct gcd_context *call,
                                                  const struct gcd_merged_tree_options *options,
                                                  struct gcd_merged_tree **ret,
                                                  struct gcd_error *err);
/* [gcd_merged_tree_new] The dominator tree of all objects, merged by type and field like those of
 * gcd_session_merge, with the default bounds of merged_tree.h. */
GCD_MUST_CHECK gcd_status gcd_session_dominator_tree(struct gcd_session *s,
                                                     const struct gcd_context *call,
                                                     const struct gcd_merged_tree **ret,
                                                     struct gcd_error *err);
/* [gcd_generations_new] For gcd_generations_find; no objects are counted. */
GCD_MUST_CHECK gcd_status gcd_session_generations(struct gcd_session *s,
                                                  const struct gcd_context *call,
                                                  const struct gcd_generations **ret,
                                                  struct gcd_error *err);
/* [gcd_fields_new] Through which field a reference goes. */
GCD_MUST_CHECK gcd_status gcd_session_fields(struct gcd_session *s, const struct gcd_context *call,
                                             const struct gcd_fields **ret, struct gcd_error *err);
/* [gcd_collections_new] Which types are collections; to describe one: gcd_session_collection. */
GCD_MUST_CHECK gcd_status gcd_session_collections(struct gcd_session *s,
                                                  const struct gcd_context *call,
                                                  const struct gcd_collections **ret,
                                                  struct gcd_error *err);

/*
 * [gcd_collection_describe] Describes the collection NODE, one thread at a time; GCD_END: it is
 * none.  Only the session's own cancel flag stops it.
 */
GCD_MUST_CHECK gcd_status gcd_session_collection(struct gcd_session *s,
                                                 const struct gcd_context *call, uint32_t node,
                                                 struct gcd_collection *ret, struct gcd_error *err);
/*
 * [gcd_keys_new] The keys of NODE, as far as they may be seen; the caller frees them.  One thread
 * at a time.
 */
GCD_MUST_CHECK gcd_status gcd_session_keys(struct gcd_session *s, const struct gcd_context *call,
                                           uint32_t node, struct gcd_keys **ret,
                                           struct gcd_error *err);
/* The text of string NODE in quotes, its secret in brackets; NULL = not known, or it may not be
 * seen.  *RET: the text, utf8 NULL unless all may see it.  The result is BUF. */
const char *gcd_session_text(const struct gcd_session *s, uint32_t node, struct gcd_text *ret,
                             char buf[GCD_QUOTED_BYTES]);
/* ENTRY, part of a collection or not, has VALUE: gcd_key_of. */
struct gcd_session_entry {
    uint32_t collection; /* GCD_NODE_NONE: the entry is of none */
    uint32_t entry, value;
};
/* The same of the key of E. */
const char *gcd_session_key(struct gcd_session *s, const struct gcd_session_entry *e,
                            struct gcd_text *ret, char buf[GCD_QUOTED_BYTES]);
/* The entry by which step I of the path of S, a collection with its internals, holds the next step;
 * false: none. */
bool gcd_session_step_entry(const struct gcd_suspect *s, size_t i, struct gcd_session_entry *ret);
/* The collection whose keys tell what S is: S itself, or what holds the objects of a type;
 * GCD_NODE_NONE. */
uint32_t gcd_session_suspect_collection(struct gcd_session *session, const struct gcd_suspect *s);
/*
 * What values tell about S, if they may be seen: the keys of that collection, or the text of equal
 * strings.  Sentences in BUF, "" = nothing; *RET (may be NULL): the keys, which the caller frees,
 * NULL = none.  One thread at a time.
 */
#define GCD_KEYS_BYTES 6000
GCD_MUST_CHECK gcd_status gcd_session_suspect_keys(struct gcd_session *session,
                                                   const struct gcd_suspect *s,
                                                   struct gcd_keys **ret, char buf[GCD_KEYS_BYTES],
                                                   struct gcd_error *err);
/* [gcd_fold_path] Which of STEPS[N] to hide; one thread at a time. */
GCD_MUST_CHECK gcd_status gcd_session_fold_path(struct gcd_session *s,
                                                const struct gcd_context *call,
                                                struct gcd_fold_step *steps, size_t n,
                                                struct gcd_error *err);
/* [gcd_fold_facts] What gcd_fold_tree needs to know about NODES[N]; one thread at a time. */
GCD_MUST_CHECK gcd_status gcd_session_fold_facts(struct gcd_session *s,
                                                 const struct gcd_context *call,
                                                 struct gcd_fold_node *nodes, size_t n,
                                                 struct gcd_error *err);

/* No path to the object exists. */
#define GCD_DEPTH_NONE UINT32_MAX
/* (*RET)[node_count] the number of objects before each on its path (gcd_session_paths), 0 if a root
 * holds it.  Keeps 4 bytes per node. */
GCD_MUST_CHECK gcd_status gcd_session_depths(struct gcd_session *s, const struct gcd_context *call,
                                             const uint32_t **ret, struct gcd_error *err);

/*
 * (*RET)[count of gcd_session_referrers of NODE]: for each entry the index of that reference among
 * those of its object.  Keeps 4 bytes per reference.
 */
GCD_MUST_CHECK gcd_status gcd_session_referrer_slots(struct gcd_session *s,
                                                     const struct gcd_context *call, uint32_t node,
                                                     const uint32_t **ret, struct gcd_error *err);

/*
 * As gcd_session_dominated_by, but the largest retained size first, equal ones in ascending order;
 * constant time however long the list is.  Keeps 4 bytes per node besides those of
 * gcd_session_dominated_by; the first call takes 40 bytes per node.
 */
GCD_MUST_CHECK gcd_status gcd_session_dominated_largest(struct gcd_session *s,
                                                        const struct gcd_context *call,
                                                        uint32_t node, struct gcd_node_list *ret,
                                                        struct gcd_error *err);

#endif
