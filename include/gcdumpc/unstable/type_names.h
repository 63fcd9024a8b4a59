/*
 * Names as people write and read them: what --filter needs besides names.h.
 */
#ifndef GCDUMPC_UNSTABLE_TYPE_NAMES_H
#define GCDUMPC_UNSTABLE_TYPE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/names.h>
#include <gcdumpc/status.h>
#include <gcdumpc/summary.h>

/* The style of the names. */
enum gcd_name_style gcd_names_style(const struct gcd_names *n);

/*
 * The runtime's name of type number TYPE: as gcd_names_plain, but a nested type has no outer types
 * even where they are known.  Dumps without full names use this name.
 */
const char *gcd_names_runtime(const struct gcd_names *n, uint32_t type);

/*
 * Stores RAW in C# spelling, with a NUL, in RET[CAP]; RAW itself if it does not parse as a name.
 * RUNTIME: RAW is known to come from the runtime, so the dimensions of an array of arrays are
 * reversed.  GCD_E_LIMIT: it does not fit; GCD_E_NOMEM.
 */
GCD_MUST_CHECK gcd_status gcd_name_csharp(const char *raw, bool runtime, char *ret, size_t cap);

/*
 * The types with objects, and how many of them have no name.  What is known by names, such as tasks
 * and exceptions, may be among those; if MOST have none, that nothing was found says nothing.
 */
#define GCD_UNNAMED_BYTES 96
struct gcd_unnamed {
    uint64_t types, all;
    bool most;
    char text[GCD_UNNAMED_BYTES]; /* "no type has a name", "3 of 202 types have no name", "" */
};
struct gcd_unnamed gcd_types_unnamed(const struct gcd_summary *s);

#endif
