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

#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/status.h>
#include <gcdumpc/summary.h>

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

#ifdef __cplusplus
}
#endif
#endif
