/*
 * Whose code a type is: the program's own, a library's, or the framework's.
 *
 *     gcd_origins_new(gcd_graph_summary(graph), NULL, &o, &err);
 *     if (gcd_origins_get(o, gcd_graph_node_type(graph, node)) == GCD_ORIGIN_OWN)
 *
 * The module decides: its folder (a shared framework), and the public key of its assembly if its
 * file was read (full_names.h).  Microsoft's keys mean framework, including those of ASP.NET Core
 * and Entity Framework.  Another key means library, unless the entry assembly has it, too.  Without
 * a key the module is the program's, unless the path of its symbol file says that it was not
 * compiled where the entry assembly was.  If the file was not read, the name of the module decides;
 * if the module is unknown, the namespace. A generic type has the origin of its definition
 * (List<Shop.Order> is the framework's), an array that of its elements, and the state of an
 * asynchronous method that of the method.
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

enum gcd_origin { GCD_ORIGIN_OWN, GCD_ORIGIN_LIBRARY, GCD_ORIGIN_FRAMEWORK, GCD_ORIGINS };
/* For programs: "own", "library", "framework"; static. */
const char *gcd_origin_name(enum gcd_origin origin);

struct gcd_origins;

struct gcd_origins_options {
    const struct gcd_alloc *alloc; /* may be NULL */
    /* [type_count] not 0: the program's own; all others are not; NULL = by modules and namespaces
     */
    const uint8_t *mine;
};

/*
 * Classifies all types of SUMMARY, whose strings must outlive the result.  OPTIONS may be NULL.
 * Takes 1 byte per type and 32 per namespace and type definition.  GCD_E_NOMEM.
 */
GCD_MUST_CHECK gcd_status gcd_origins_new(const struct gcd_summary *summary,
                                          const struct gcd_origins_options *options,
                                          struct gcd_origins **ret, struct gcd_error *err);
void gcd_origins_free(struct gcd_origins *o);

/* The origin of type number TYPE. */
enum gcd_origin gcd_origins_get(const struct gcd_origins *o, uint32_t type);
/* RET[type_count]: 1 = it is not the framework's: the classes whose fields are told apart. */
void gcd_origins_outside_framework(const struct gcd_origins *o, uint8_t *ret);
/*
 * The origin of a type that need not have objects, such as the class of a static variable, by its
 * NAME in the runtime's spelling: that of the type with this name, of its outer types, or of the
 * types in its namespace.
 */
enum gcd_origin gcd_origins_of_name(const struct gcd_origins *o, const char *name);

/* ---- folded paths ---- */

/*
 * Which steps of a path to hide: those of libraries and the framework, and the internals of
 * collections.
 *
 *     Shop.SessionStore                                   shown: the program's own
 *     ConcurrentDictionary<System.Guid, Shop.UserSession>     shown: the collection of the last
 *         step
 *     ... .Tables, ... .VolatileNode[]                    inside: part of the line before
 *
 * All outputs that show paths fold them here.
 */
enum gcd_fold {
    GCD_FOLD_SHOWN,
    /* part of the collection: the last step before it that is not INSIDE */
    GCD_FOLD_INSIDE,
    GCD_FOLD_HIDDEN /* not the program's own; adjacent hidden steps are one line */
};

struct gcd_fold_step {
    uint32_t type;      /* GCD_TYPE_NONE: not objects of one type; always shown */
    bool keep;          /* must be shown, even inside a collection */
    enum gcd_fold fold; /* the answer */
};

/*
 * Sets FOLD of STEPS[N], from the root on; each refers to the next.  Shows the last step, which is
 * what the path is about; steps with KEEP; the program's own types; the collection that has the
 * last step as an element or internal part; and a single step between shown ones.
 */
void gcd_fold_path(const struct gcd_origins *origins, struct gcd_collections *collections,
                   struct gcd_fold_step *steps, size_t n);

/* ---- folded trees: many paths with common steps ---- */

/* What folding needs to know about a node of a tree, besides its position. */
/* it must be shown: the program's own, or not objects of one type */
#define GCD_FOLD_FACT_SHOWN      1u
#define GCD_FOLD_FACT_COLLECTION 2u
#define GCD_FOLD_FACT_PART       4u /* internal part of the collection above it */
#define GCD_FOLD_FACT_LIBRARY    8u /* of a library, not of the framework */

struct gcd_fold_node {
    uint32_t parent;            /* an earlier node; UINT32_MAX at the top */
    uint32_t type;              /* GCD_TYPE_NONE: no objects of one type */
    bool ends;                  /* a path ends here, or continues to something that is left out */
    uint8_t facts;              /* GCD_FOLD_FACT_... */
    enum gcd_fold fold;         /* the answer */
    uint32_t unit, below, only; /* private */
};

/* Sets FACTS of NODES[N] from their types and parents. */
void gcd_fold_facts(const struct gcd_origins *origins, struct gcd_collections *collections,
                    struct gcd_fold_node *nodes, size_t n);
/*
 * Sets FOLD of NODES[N] from their facts, as for paths; a path ends where it branches.  All
 * internals of a collection are part of it, even where they branch; what is below them is then
 * below the collection.  A hidden node has a single node below it besides its internals.
 */
void gcd_fold_tree(struct gcd_fold_node *nodes, size_t n);

#endif
