/*
 * Types that are loaded several times: if an assembly is loaded in several load contexts (mostly
 * collectible ones), each type has a method table for each of them.
 *
 * Two types are loads of the same type if they have the same name and token, and the files of their
 * modules have the same path (or, if made in memory, the same assembly name) and the same identity,
 * as far as the recording tells.  Types of unknown modules are never the same.
 */
#ifndef GCDUMPC_UNSTABLE_LOADS_H
#define GCDUMPC_UNSTABLE_LOADS_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/dump.h>
#include <gcdumpc/status.h>
#include <gcdumpc/summary.h>

/* What identifies the file of M: its path, or the name of an assembly made in memory; "" = unknown.
 * Lives as long as the summary. */
static inline const char *gcd_module_label(const struct gcd_module *m)
{
    return m->path[0] != '\0' ? m->path : m->assembly;
}

/*
 * RET_FIRST[type_count]: for each type the first load of the same type, or its own number if it is
 * the first.  *RET_SOME: does any type have several loads?  ALLOC may be NULL.  GCD_E_NOMEM.
 */
GCD_MUST_CHECK gcd_status gcd_same_types(const struct gcd_summary *summary,
                                         const struct gcd_alloc *alloc, uint32_t *ret_first,
                                         bool *ret_some, struct gcd_error *err);

/*
 * Merges all loads of a type: their objects and static variables become those of the first one; the
 * others stay in the list of types, without objects.  D must be closed; resolve full names first if
 * they are wanted (full_names.h), and call this before names, graphs and objects are made from it.
 * GCD_E_NOMEM, GCD_E_STATE.
 */
GCD_MUST_CHECK gcd_status gcd_dump_merge_loads(struct gcd_dump *d, struct gcd_error *err);

#endif
