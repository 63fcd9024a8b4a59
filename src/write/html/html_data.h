/*
 * What the page shows, gathered before any of it is written: its size depends on these numbers and not on the heap.
 */
#ifndef GCD_WRITE_HTML_DATA_H
#define GCD_WRITE_HTML_DATA_H

#include <gcdumpc/dominators.h>
#include <gcdumpc/generations.h>
#include <gcdumpc/session.h>
#include <gcdumpc/suspects.h>
#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/origins.h>
#include <gcdumpc/writer.h>

#include "base/threads/locked_alloc.h"
#include "write/stacks.h"

#define HTML_TYPES 4000          /* rows of the table of types; the rest is compressed */
#define HTML_TYPES_OF_PART 3000
#define HTML_TREE 12000          /* nodes of the dominator tree */
#define HTML_LARGE 100           /* single objects */
#define HTML_HOLDERS 60          /* types on the way to one of them; what is further out is one name */
#define HTML_PATHS 24            /* types whose paths are shown */
#define HTML_PATH_NODES 400      /* nodes of each of them */
#define HTML_DETAILS 1200        /* types about which more is known: the first by bytes, and those with a thousandth of all bytes */
#define HTML_DETAILS_FIRST 500
#define HTML_DETAILS_OF_PART 400
#define HTML_DETAIL_NODES 30     /* of their paths */
#define HTML_PAIRS 6             /* other types in one of their lists */
#define HTML_OBJECTS 5           /* largest objects */
#define HTML_SUSPECTS 20
#define HTML_GENERATIONS 6       /* 0, 1, 2, large, pinned, and objects in none of the ranges */

/* What the page is for. */
struct html_role {
    bool part;                   /* the newer dump in the page of two: fewer types, shorter names */
    const char *start;           /* what comes first: "map", or "suspects" */
    struct gcd_session *session; /* on the graph, with a thread-safe allocator, and with the names of the options; NULL = one for this page */
};

struct html_large {
    uint64_t retained;
    uint32_t node;
    size_t holder, holders;      /* in the list of holders: labels from the outermost one to that of the object */
};

/* Objects or references of a type, seen from another one.  TYPE above: GCD_NODE_ROOT = no single object, GCD_NODE_NONE = nothing holds them. */
struct html_pair {
    uint32_t type;
    uint64_t count, bytes;
};

enum { HTML_ABOVE, HTML_BELOW, HTML_REFS, HTML_LISTS };

struct html_object {
    uint32_t node;
    uint64_t retained;
};

/* The dominators of its objects by type, what they dominate and refer to, the objects that retain most, and the paths to all. */
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
    } generations[HTML_GENERATIONS];     /* of its objects */
    struct gcd_merged_tree *tree;        /* NULL when it is one of html_data.paths */
};

struct html_data {
    struct gcd_alloc alloc;      /* the user's, locked: analyses run beside each other */
    struct gcd_locked_alloc locked;
    const struct gcd_graph *g;
    const struct gcd_write_options *options;
    const struct html_role *role;
    struct gcd_session *session, *own_session;   /* of the first: */
    const struct gcd_dominators *dominators;
    const struct gcd_origins *origins;
    const struct gcd_async *async;
    const struct gcd_suspects *suspects;
    const struct gcd_suspects *consumer; /* the first of these is shown when there are no suspects; NULL = nothing to show */
    struct gcd_merged_tree *by_paths;    /* with the names of all labels */
    struct gcd_preorder *preorder;       /* until the tree is made */
    uint64_t *retained;          /* [types of the graph] */
    uint32_t *types;             /* [type_room] the first type_count are shown, by bytes */
    size_t type_count, type_room, types_with_objects;
    uint64_t reachable_objects, reachable_bytes;
    uint64_t own_bytes;          /* live ones of the program's own objects besides the suspects, with what these keep alive */
    uint32_t pseudo_roots;       /* objects that serve as pseudo-roots, when there are none (dominators.h) */
    struct gcd_merged_tree *tree;        /* the dominator tree, its largest steps */
    struct html_large large[HTML_LARGE];
    size_t large_count;
    uint32_t *holders;
    size_t holder_count, holder_room;
    struct html_path {
        uint32_t type;
        struct gcd_merged_tree *tree;
    } paths[HTML_PATHS];
    size_t path_count;
    struct html_detail *details; /* [HTML_DETAILS] */
    size_t detail_count;
    struct gcd_generation generations[HTML_GENERATIONS];
    uint64_t roots[GCD_GROUPS];  /* how many of each group */
};

/* All of it; OPTIONS and ROLE must outlive it.  html_data_done is due in any case. */
GCD_MUST_CHECK gcd_status html_data_make(struct html_data *h, const struct gcd_graph *g, const struct gcd_write_options *options,
                                         const struct html_role *role, struct gcd_error *err);
void html_data_done(struct html_data *h);

/* For calls that are a part of what progress is shown of. */
static inline struct gcd_context html_quietly(const struct html_data *h)
{
    struct gcd_context quiet = h->options->context;
    quiet.progress = NULL;
    return quiet;
}

/* OPTIONS, which may be NULL, with the names of SESSION. */
struct gcd_write_options html_options_of(const struct gcd_session *session, const struct gcd_write_options *options);

/* html_details.c: which types, when the types are sorted; then what is known about them. */
GCD_MUST_CHECK gcd_status html_details_choose(struct html_data *h, struct gcd_error *err);
GCD_MUST_CHECK gcd_status html_details_collect(struct html_data *h, struct gcd_error *err);

/* html_own.c: whose a type is; the sum of own_bytes; are the bytes of S a part of the heap that no other suspect has? */
enum gcd_origin html_origin(const struct html_data *h, uint32_t type);
GCD_MUST_CHECK gcd_status html_own_bytes(struct html_data *h, struct gcd_error *err);
bool html_is_counted(const struct gcd_suspect *s);

/* html_json.c: one object, named KEY, at the end of what is in the page so far.  *RET_OTHERS: types of which the page has only the sum. */
struct json_put;
/* A row of "calls", unless people call objects of the type NAME by it: NUMBER, and what they call them. */
void html_put_call(struct json_put *j, size_t number, const char *name, size_t max);
GCD_MUST_CHECK gcd_status html_json_put(const struct html_data *h, struct json_put *j, const char *key, size_t *ret_others, struct gcd_error *err);

/* html_waits.c: "waits", if something does.  TYPE_NAMES[type]: the number of its name, UINT32_MAX = it has none. */
GCD_MUST_CHECK gcd_status html_put_waits(const struct html_data *h, const uint32_t *type_names, struct json_put *j, struct gcd_error *err);

/* html_outer.c: "outer", the types without parameters that types of the list of names are nested in.  TYPE_NAMES as for html_put_waits. */
GCD_MUST_CHECK gcd_status html_put_outer(const struct html_data *h, const uint32_t *type_names, struct json_put *j, struct gcd_error *err);

/*
 * html_rest.c: "rest_types", the types behind the first type_count, compressed into at most ROOM bytes of the page, and "other_types", those for
 * which there is no room; there are *RET_OTHERS of them.
 */
GCD_MUST_CHECK gcd_status html_put_rest(const struct html_data *h, uint64_t room, struct json_put *j, size_t *ret_others, struct gcd_error *err);

#endif
