/*
 * Types that are loaded several times: an assembly in several load contexts, collectible ones mostly, has a method table for each of them.
 *
 * Two types are loads of the same one when they have the same name and token, and the files of their modules have the same path (or, made in
 * memory, the same assembly name) and the same identity, as far as the recording says.  Types of modules that are not known are never the same.
 */
#ifndef GCDUMPC_UNSTABLE_LOADS_H
#define GCDUMPC_UNSTABLE_LOADS_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/dump.h>
#include <gcdumpc/status.h>
#include <gcdumpc/summary.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What tells the file of M from others: its path, or the name of an assembly made in memory; "" = unknown.  Lives as long as the summary. */
static inline const char *gcd_module_label(const struct gcd_module *m)
{
    return m->path[0] != '\0' ? m->path : m->assembly;
}

/*
 * RET_FIRST[type_count]: for each type the first one that it is a load of, its own number when there is no other.  *RET_SOME: is there any other?
 * ALLOC may be NULL.  GCD_E_NOMEM.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_same_types(const struct gcd_summary *summary, const struct gcd_alloc *alloc, uint32_t *ret_first,
                                                 bool *ret_some, struct gcd_error *err);

/*
 * Makes all loads of a type one: objects and static variables of any of them are those of the first one; the others stay in the list of types,
 * without objects.  D must be closed, with full names (full_names.h) if they are wanted; call it before names, graphs and objects are made
 * of it.
 * GCD_E_NOMEM, GCD_E_STATE.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_dump_merge_loads(struct gcd_dump *d, struct gcd_error *err);

#ifdef __cplusplus
}
#endif
#endif
