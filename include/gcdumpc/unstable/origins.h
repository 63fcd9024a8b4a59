/*
 * Whose code a type is: the program's own, a library's, or the framework's.
 *
 *     gcd_origins_new(gcd_graph_summary(graph), NULL, &o, &err);
 *     if (gcd_origins_get(o, gcd_graph_node_type(graph, node)) == GCD_ORIGIN_OWN)
 *
 * The module decides: its place among the shared frameworks, and the public key of its assembly, where its file was read (full_names.h).  Microsoft's
 * keys are the framework's, also those of ASP.NET Core and Entity Framework; another key is a library's, unless the entry assembly has it; without a
 * key it is the program's.  Of a module whose file was not read, the name decides, and where no module is known, the namespace.
 * A generic type belongs to whom its definition belongs to (List<Shop.Order> is the framework's), an array to whom its elements belong to, and the
 * state of an asynchronous method to whom the method belongs to.
 */
#ifndef GCDUMPC_UNSTABLE_ORIGINS_H
#define GCDUMPC_UNSTABLE_ORIGINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/status.h>
#include <gcdumpc/summary.h>
#include <gcdumpc/unstable/collections.h>

#ifdef __cplusplus
extern "C" {
#endif

enum gcd_origin {
    GCD_ORIGIN_OWN,
    GCD_ORIGIN_LIBRARY,
    GCD_ORIGIN_FRAMEWORK,
    GCD_ORIGINS
};
/* For programs: "own", "library", "framework"; static. */
GCD_API const char *gcd_origin_name(enum gcd_origin origin);

struct gcd_origins;

struct gcd_origins_options {
    const struct gcd_alloc *alloc;       /* may be NULL */
    const uint8_t *mine;         /* [type_count] not 0: the program's own, and of the others none is; NULL = by modules and namespaces */
};

/*
 * Looks at all types of SUMMARY, the strings of which must outlive the result.  OPTIONS may be NULL.  Takes 1 byte per type and 32 per namespace
 * and type definition.  GCD_E_NOMEM.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_origins_new(const struct gcd_summary *summary, const struct gcd_origins_options *options,
                                                  struct gcd_origins **ret, struct gcd_error *err);
GCD_API void gcd_origins_free(struct gcd_origins *o);

/* Of type number TYPE. */
GCD_API enum gcd_origin gcd_origins_get(const struct gcd_origins *o, uint32_t type);
/*
 * Of a type that need not have objects, by its NAME in the runtime's spelling, as the class of a static variable: by that of the type of this
 * name, of its outer types, or of those in its namespace.
 */
GCD_API enum gcd_origin gcd_origins_of_name(const struct gcd_origins *o, const char *name);

/* ---- folded paths ---- */

/*
 * What people need not see of a path: steps of libraries and the framework, and the inside of collections.
 *
 *     Shop.SessionStore                                   shown: the program's own
 *     ConcurrentDictionary<System.Guid, Shop.UserSession>     shown: the collection at the end
 *     ... .Tables, ... .VolatileNode[]                    inside: part of the line before
 *
 * All outputs that show paths fold them here.
 */
enum gcd_fold {
    GCD_FOLD_SHOWN,
    GCD_FOLD_INSIDE,             /* part of the collection that is the last step before it with another answer */
    GCD_FOLD_HIDDEN              /* not the program's own; hidden steps side by side are one line */
};

struct gcd_fold_step {
    uint32_t type;               /* GCD_TYPE_NONE: no objects of one type, always shown */
    bool keep;                   /* must be shown, also inside of a collection */
    enum gcd_fold fold;          /* the answer */
};

/*
 * Answers for STEPS[N], from the root's side on; each refers to the next.  Shown are the last step, which is what the path is about, what it keeps,
 * the program's own types, the collection whose element or inside the last step is, and a step alone between shown ones.
 */
GCD_API void gcd_fold_path(const struct gcd_origins *origins, struct gcd_collections *collections, struct gcd_fold_step *steps, size_t n);

/* ---- folded trees: many paths that have steps in common ---- */

/* What folding has to know of a node of a tree, besides its place. */
#define GCD_FOLD_FACT_SHOWN 1u           /* it must be shown: the program's own, or no objects of one type */
#define GCD_FOLD_FACT_COLLECTION 2u
#define GCD_FOLD_FACT_PART 4u            /* part of how the collection above it stores its elements */
#define GCD_FOLD_FACT_LIBRARY 8u         /* of a library, not of the framework */

struct gcd_fold_node {
    uint32_t parent;             /* an earlier node; UINT32_MAX at the top */
    uint32_t type;               /* GCD_TYPE_NONE: no objects of one type */
    bool ends;                   /* something ends here, or a way goes on to something that is left out */
    uint8_t facts;               /* GCD_FOLD_FACT_... */
    enum gcd_fold fold;          /* the answer */
    uint32_t unit, below, only;  /* used by the functions */
};

/* Sets the facts of NODES[N] by their types and parents. */
GCD_API void gcd_fold_facts(const struct gcd_origins *origins, struct gcd_collections *collections, struct gcd_fold_node *nodes, size_t n);
/*
 * Answers for NODES[N] by their facts, the same as of paths: a way ends where it branches.  All that is inside of a collection is part of it, also
 * where it branches; what is below the inside is then below the collection.  A hidden node has a single one below it besides what is inside of it.
 */
GCD_API void gcd_fold_tree(struct gcd_fold_node *nodes, size_t n);

#ifdef __cplusplus
}
#endif
#endif
