/*
 * Types by the names that Native AOT gives them, from the assemblies that a program was compiled
 * from: "shop_Shop_Order_Line" is Shop.Order+Line, which the mangled name alone does not tell.
 */
#ifndef GCD_NAMES_AOT_DEFINITIONS_H
#define GCD_NAMES_AOT_DEFINITIONS_H

#include <stddef.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/status.h>
#include <gcdumpc/unstable/metadata.h>

#include "base/idmap.h"
#include "base/text.h"

struct aot_definition {
    const char *mangled;
    const char *name; /* as reflection spells it; NULL: several types have this mangled name */
};

struct aot_definitions {
    const struct gcd_alloc *alloc;
    struct gcd_idmap by_hash; /* of the mangled name -> index */
    struct aot_definition *items;
    size_t count, cap;
    struct gcd_textpool text;
};

void aot_definitions_init(struct aot_definitions *d, const struct gcd_alloc *alloc);
void aot_definitions_done(struct aot_definitions *d);

/* Adds the types of assembly M, unless it is of the framework, whose names a rule reads.
 * GCD_E_NOMEM, GCD_E_LIMIT, or what M cannot read: then some of its types may be missing. */
gcd_status aot_definitions_add(struct aot_definitions *d, struct gcd_metadata *m,
                               struct gcd_error *err);

/* The type that is mangled as S[N], NULL = none, or not certain; D may be NULL. */
const char *aot_definition(const struct aot_definitions *d, const char *s, size_t n);

#endif
