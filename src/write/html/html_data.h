/*
 * The content of the page, collected before any of it is written.  Its size depends on these
 * numbers and not on the heap.
 */
#ifndef GCD_WRITE_HTML_DATA_H
#define GCD_WRITE_HTML_DATA_H

#include <gcdumpc/dominators.h>
#include <gcdumpc/generations.h>
#include <gcdumpc/session.h>
#include <gcdumpc/suspects.h>
#include <gcdumpc/unstable/fields.h>
#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/origins.h>
#include <gcdumpc/unstable/owner_fills.h>
#include <gcdumpc/unstable/pages/pages.h>
#include <gcdumpc/unstable/shared.h>
#include <gcdumpc/unstable/sites.h>
#include <gcdumpc/unstable/suspect_checks.h>
#include <gcdumpc/writer.h>

#include "base/threads/locked_alloc.h"
#include "write/stacks.h"

#define HTML_TYPES         4000 /* rows of the table of types; the rest is compressed */
#define HTML_TYPES_OF_PART 3000
#define HTML_TREE          12000 /* nodes of the dominator tree */
#define HTML_LARGE         100   /* single objects */
/* types on the path to one of them; those further out share one name */
#define HTML_HOLDERS    60
#define HTML_PATHS      24  /* types whose paths are shown */
#define HTML_PATH_NODES 400 /* nodes of each of them */
/* types with details: the first by bytes, and those with a thousandth of all bytes */
#define HTML_DETAILS         1200
#define HTML_DETAILS_FIRST   500
#define HTML_DETAILS_OF_PART 400
#define HTML_DETAIL_NODES    30   /* of their paths */
#define HTML_PAIRS           6    /* other types in each of their lists */
#define HTML_OBJECTS         5    /* largest objects */
#define HTML_FIELD_VALUES    6000 /* fields of objects, with their values */
#define HTML_SUSPECTS        20
#define HTML_DEAD            12 /* types of dead objects */
#define HTML_SHARED          40   /* rows of what several hold, */
#define HTML_SHARED_PART     1000 /* each at least one such part of the live bytes */
#define HTML_SHARED_STEPS    40   /* of the path to a holder */
#define HTML_GENERATIONS     6    /* 0, 1, 2, large, pinned, and objects outside all ranges */

/* The purpose of the page. */
struct html_role {
    /* the newer dump in a page of two dumps: fewer types, shorter names */
    bool part;
    const char *start; /* the first section: "map" or "suspects" */
    /* on the graph, with a thread-safe allocator and the names of the options; NULL = the page
     * makes its own */
    struct gcd_session *session;
};

/* What holds a large object, with its field that leads to the next one or GCD_SLOT_NONE. */
struct html_holder {
    uint32_t label, slot;
};

struct html_large {
    uint64_t retained;
    uint32_t node;
    /* position and number of its holders in the list of all, outermost first, ending with the
     * object
     */
    size_t holder, holders;
};

/* Objects or references of a type, relative to another one.  As a holder, TYPE: GCD_NODE_ROOT = no
 * single object, GCD_NODE_NONE = nothing. */
struct html_pair {
    uint32_t type;
    uint64_t count, bytes;
};

enum { HTML_ABOVE, HTML_BELOW, HTML_REFS, HTML_LISTS };

struct html_object {
    uint32_t node;
    uint64_t retained;
};

/* Details of a type: the dominators of its objects by type, what they dominate and refer to, those
 * that retain most, and the paths to all. */
struct html_detail {
    uint32_t type;
    struct html_list {
        struct html_pair items[HTML_PAIRS];
        size_t count;
    } lists[HTML_LISTS];
    struct html_object objects[HTML_OBJECTS];
    size_t object_count;
    struct html_part {
        uint64_t objects, bytes;
    } generations[HTML_GENERATIONS]; /* of its objects */
    struct gcd_merged_tree *tree;    /* NULL if it is one of html_data.paths */
};

/* The path to a holder, from the root on; the last step is the holder. */
struct html_shared_path {
    struct gcd_suspect_step steps[HTML_SHARED_STEPS + 1];
    size_t count; /* 0: a static variable, which is the root */
    size_t root;  /* SIZE_MAX = unknown */
};

struct html_data {
    struct gcd_alloc alloc; /* the user's, with a lock: analyses run in parallel */
    struct gcd_locked_alloc locked;
    const struct gcd_graph *g;
    const struct gcd_write_options *options;
    const struct html_role *role;
    struct gcd_session *session, *own_session; /* SESSION owns the results below that are const */
    const struct gcd_dominators *dominators;
    const struct gcd_origins *origins;
    const struct gcd_async *async;
    const struct gcd_fields *fields;
    uint8_t *field_types; /* [types of the graph] 1 = the fields of this class are told apart */
    const struct gcd_site_list *sites; /* of sampled allocations; NULL = none */
    const struct gcd_suspects *suspects;
    struct gcd_owner_fills fills; /* for a second dump that is dropped on the page, */
    struct html_limit {
        const char *field; /* NULL = not known */
        uint64_t number;
    } limits[GCD_OWNER_FILLS_MAX]; /* and the limit in each owner */
    struct gcd_page_said said;    /* before the suspects, if the page compares dumps */
    /* [grown_count] of such a page: the suspects in their order; NULL = in their own */
    const struct gcd_page_growth *grown;
    size_t grown_count;
    /* the first of these is shown if there are no suspects; NULL = nothing to show */
    const struct gcd_suspects *consumer;
    char headline[GCD_HEADLINE_BYTES];
    struct gcd_shared *shared;             /* what several hold together */
    struct html_shared_path *shared_paths; /* [HTML_SHARED * GCD_SHARED_HOLDERS] by row */
    struct gcd_merged_tree *by_paths;      /* has the names of all labels */
    struct gcd_preorder *preorder;         /* freed when the tree is done */
    uint64_t *retained;                    /* [types of the graph] */
    uint32_t *types; /* [type_room] the first type_count, by bytes, are shown */
    size_t type_count, type_room, types_with_objects;
    uint64_t reachable_objects, reachable_bytes;
    uint64_t alive_objects, alive_bytes; /* those, and frozen ones, which only code holds */
    struct gcd_suspect_part dead[HTML_DEAD]; /* all other objects by type, the largest first */
    size_t dead_count, dead_types;
    /* of the program's own live objects outside the suspects, with what they keep alive */
    uint64_t own_bytes;
    /* number of pseudo-roots, if the dump has no roots (dominators.h) */
    uint32_t pseudo_roots;
    struct gcd_merged_tree *tree; /* the dominator tree, its largest steps */
    struct html_large large[HTML_LARGE];
    size_t large_count;
    struct html_holder *holders;
    size_t holder_count, holder_room;
    struct html_path {
        uint32_t type;
        struct gcd_merged_tree *tree;
    } paths[HTML_PATHS];
    size_t path_count;
    struct html_detail *details; /* [HTML_DETAILS] */
    size_t detail_count;
    struct gcd_generation generations[HTML_GENERATIONS];
    uint64_t roots[GCD_GROUPS]; /* number in each group */
};

/* Computes all of it; OPTIONS and ROLE must outlive H.  Always call html_data_done. */
GCD_MUST_CHECK gcd_status html_data_make(struct html_data *h, const struct gcd_graph *g,
                                         const struct gcd_write_options *options,
                                         const struct html_role *role, struct gcd_error *err);
void html_data_done(struct html_data *h);

/* The context without progress, for calls that are only part of a step. */
static inline struct gcd_context html_quietly(const struct html_data *h)
{
    struct gcd_context quiet = h->options->context;
    quiet.progress = NULL;
    return quiet;
}

/* OPTIONS, which may be NULL, with the names of SESSION. */
struct gcd_write_options html_options_of(const struct gcd_session *session,
                                         const struct gcd_write_options *options);

/* html_details.c: chooses the types with details, once the types are sorted; then finds the
 * details. */
GCD_MUST_CHECK gcd_status html_details_choose(struct html_data *h, struct gcd_error *err);
GCD_MUST_CHECK gcd_status html_details_collect(struct html_data *h, struct gcd_error *err);

/* html_own.c: the origin of a type; sets own_bytes; does S have bytes of the heap that no other
 * suspect has? */
enum gcd_origin html_origin(const struct html_data *h, uint32_t type);
GCD_MUST_CHECK gcd_status html_own_bytes(struct html_data *h, struct gcd_error *err);
bool html_is_counted(const struct gcd_suspect *s);
/* Suspect number I as the page orders them, and in RET how it has grown, NULL = unknown. */
const struct gcd_suspect *html_suspect(const struct html_data *h, size_t i,
                                       const struct gcd_page_growth **ret);

/* html_shared.c: fills shared, before the tree uses up the preorder; then, with the session,
 * shared_paths. */
GCD_MUST_CHECK gcd_status html_shared_find(struct html_data *h, const struct gcd_paths *paths,
                                           struct gcd_error *err);
GCD_MUST_CHECK gcd_status html_shared_climb(struct html_data *h, const struct gcd_paths *paths,
                                            struct gcd_error *err);
void html_shared_done(struct html_data *h);
/* The path to holder I of ROW, and by which of its fields it holds, "._byUser" or "", in BUF. */
const struct html_shared_path *html_shared_path(const struct html_data *h, size_t row, size_t i,
                                                char buf[GCD_FIELD_LABEL_BYTES]);

/* html_json.c: one object, named KEY, at the end of the page so far.  *RET_OTHERS: number of types
 * of which the page has only the sum. */
struct json_put;
/* A row of "calls": NUMBER, and what people call objects of type NAME; nothing if they call them by
 * NAME. */
void html_put_call(struct json_put *j, size_t number, const char *call, size_t max);
GCD_MUST_CHECK gcd_status html_json_put(const struct html_data *h, struct json_put *j,
                                        const char *key, size_t *ret_others, struct gcd_error *err);

/* html_values.c: the fields of NODE with their values, if they may be seen and the memory is at
 * hand, as long as there are *LEFT fields that the page has room for. */
void html_put_values(const struct html_data *h, uint32_t node, size_t *left, struct json_put *j);

/* Writes the stacks of sampled allocations, if there are any.  TYPE_NAMES as for html_put_waits. */
GCD_MUST_CHECK gcd_status html_put_sites(const struct html_data *h, const uint32_t *type_names,
                                         struct json_put *j, struct gcd_error *err);
/* html_waits.c: "waits", if something waits.  TYPE_NAMES[type]: the number of its name, UINT32_MAX
 * = it has none. */
GCD_MUST_CHECK gcd_status html_put_waits(const struct html_data *h, const uint32_t *type_names,
                                         struct json_put *j, struct gcd_error *err);

/* html_outer.c: "outer", the types without parameters in which types of the list of names are
 * nested.  TYPE_NAMES as for html_put_waits. */
GCD_MUST_CHECK gcd_status html_put_outer(const struct html_data *h, const uint32_t *type_names,
                                         struct json_put *j, struct gcd_error *err);

/*
 * html_rest.c: "rest_types", the types after the first type_count, compressed into at most ROOM
 * bytes of the page, and "other_types", the *RET_OTHERS types without room.
 */
GCD_MUST_CHECK gcd_status html_put_rest(const struct html_data *h, uint64_t room,
                                        struct json_put *j, size_t *ret_others,
                                        struct gcd_error *err);

#endif
