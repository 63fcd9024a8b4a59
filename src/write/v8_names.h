/*
 * The string table of a V8 heap snapshot: every name once, numbered before any is written.
 *
 *     ""  "(GC roots)"  existing groups of roots, "[frozen]" for what only code holds
 *         static variables  numbers of weak roots  "dependent handle"  types  fields
 *         texts of strings, where they may be written
 *
 * Viewers distinguish classes by the number of their name.  So types with equal names share a
 * string if they come from the same module; otherwise their module is added.
 */
#ifndef GCD_WRITE_V8_NAMES_H
#define GCD_WRITE_V8_NAMES_H

#include <gcdumpc/unstable/fields.h>

#include "base/idmap.h"
#include "write/frozen.h"
#include "write/write.h"

/* Room for "T,NNNNNNNNNN,", the beginning of a node or an edge. */
#define V8_BEGIN_BYTES 16

struct v8_type_name {
    uint32_t string;
    uint8_t begin_n;
    bool with_module;
    bool texts;                 /* its objects have texts */
    char begin[V8_BEGIN_BYTES]; /* " ,NNN,": the number of the string, after a place for the digit
                                   of the record's type */
};

/* The groups below the roots: those of roots, then frozen objects. */
#define V8_FROZEN GCD_GROUPS
#define V8_GROUPS (GCD_GROUPS + 1u)

struct v8_names {
    struct gcd_alloc alloc;
    const struct gcd_graph *g;
    const struct gcd_write_options *options;
    struct frozen_nodes frozen;
    uint64_t groups[V8_GROUPS]; /* number of roots in each group */
    uint32_t group[V8_GROUPS];  /* string of a non-empty group */
    uint32_t first_static;      /* string of the first static variable; the others follow */
    uint32_t first_weak;        /* string of number 0 of the weak roots */
    uint32_t dependent;
    struct v8_type_name *types; /* [type_count] */
    uint32_t type_count;
    uint32_t first_type, first_field, count; /* strings */
    struct gcd_fields *fields;               /* NULL = no type has a layout */
    uint32_t *texts; /* [text_count] the string of a text; 0 = it is not written */
    uint32_t text_count;
};

/* GCD_E_NOMEM; GCD_E_LIMIT: more strings than numbers.  Always call v8_names_done. */
GCD_MUST_CHECK gcd_status v8_names_init(struct v8_names *n, const struct gcd_alloc *alloc,
                                        const struct gcd_graph *g,
                                        const struct gcd_write_options *options,
                                        struct gcd_error *err);
void v8_names_done(struct v8_names *n);

/* The string with the text of NODE, whose type has texts; 0 = it has none that is written. */
uint32_t v8_names_text(const struct v8_names *n, uint32_t node);

/* All strings as a JSON array. */
GCD_MUST_CHECK gcd_status v8_names_write(const struct v8_names *n, struct gcd_sink *s,
                                         struct gcd_error *err);

#endif
