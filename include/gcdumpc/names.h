/*
 * Names of types for people: C# spelling instead of the runtime's, and different names for
 * different types.
 *
 *     System.Collections.Generic.Dictionary`2[System.String,System.Int32[]]
 *     System.Collections.Generic.Dictionary<System.String, System.Int32[]>
 *
 * All tables, files and reports take names and the labels of root groups from here.
 */
#ifndef GCDUMPC_NAMES_H
#define GCDUMPC_NAMES_H

#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/status.h>
#include <gcdumpc/summary.h>

#ifdef __cplusplus
extern "C" {
#endif

enum gcd_name_style {
    GCD_NAMES_CSHARP,
    /* gcd_type.raw_name: as the runtime (or the file) sent them, so nested types lack their outer
       types */
    GCD_NAMES_RAW,
    /* gcd_type.name: in the runtime's spelling, with the outer types where they are known */
    GCD_NAMES_RUNTIME,
    /* as CSHARP, but each load of a type that is loaded several times has its own name */
    GCD_NAMES_SEPARATE_LOADS
};

struct gcd_names;

/*
 * Makes names for all types of a dump or graph, by type number.  In the C# style a type without a
 * name is "UNKNOWN 0x<id>", and types of the same name get their module, " [Module]", and also
 * their token if the module is the same, and a number if nothing else tells them apart.  A type
 * that is loaded several times, in different load contexts, is one type with one name, unless the
 * style is SEPARATE_LOADS.  Raw names stay as they are, including placeholders like "Type(0x<id>)".
 * The names are copies: the dump or graph may be freed.  ALLOC may be NULL.  GCD_E_NOMEM,
 * GCD_E_LIMIT.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_names_new(const struct gcd_summary *summary,
                                                enum gcd_name_style style,
                                                const struct gcd_alloc *alloc,
                                                struct gcd_names **ret, struct gcd_error *err);
GCD_API void gcd_names_free(struct gcd_names *n);

/* The name of type number TYPE; valid UTF-8, never empty, may hold any character but NUL. */
GCD_API const char *gcd_names_get(const struct gcd_names *n, uint32_t type);
/* The same without module and token: types of the same name share it, also across dumps. */
GCD_API const char *gcd_names_plain(const struct gcd_names *n, uint32_t type);

/*
 * The labels of a group of roots, in every report and in every format that has no terms of its own.
 * A thread stack holds local variables, arguments and registers, and through them thread-static
 * variables.  The strings are static.
 */
struct gcd_root_label {
    const char *key;        /* for programs: "statics" */
    const char *one, *many; /* "static variable", "static variables" */
    const char *frame;      /* as a frame or node: "[static variables]" */
};
GCD_API const struct gcd_root_label *gcd_root_group_label(enum gcd_root_group group);

#ifdef __cplusplus
}
#endif
#endif
