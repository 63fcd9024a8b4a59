/*
 * Layouts of types from the metadata of their modules: which references an object of a type has, in
 * which order, by which fields, and what each of them can refer to.
 *
 *     layout_types.c    types: a definition with its arguments, arrays; signatures
 *     layout_modules.c  which definition a reference of a module names
 *     layout_defs.c     definitions: fields, base, interfaces
 *     layout_slots.c    the references of an object
 *     layout_kinds.c    which of them can refer to an object of a type
 *
 * The order is that of the GC, see README.md.  What is not certain is unknown, and only for the
 * types that depend on it.
 */
#ifndef GCD_LAYOUT_LAYOUT_H
#define GCD_LAYOUT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/status.h>
#include <gcdumpc/unstable/metadata.h>

#define LAYOUT_NONE UINT32_MAX
/* Modules that are open at the same time. */
#define LAYOUT_OPEN_MAX 8u

/* How modules are opened; OPEN puts module number MODULE into PLACE < LAYOUT_OPEN_MAX. */
struct layout_files {
    void *ctx;
    gcd_status (*open)(void *ctx, uint32_t module, unsigned place, struct gcd_metadata **ret,
                       struct gcd_error *err);
    void (*close)(void *ctx, unsigned place);
};

struct layout_module {
    const char
        *assembly; /* simple name; NULL = the module has no file, or is the same as another */
};

struct layout;

/* MODULES[COUNT] and what they point to must outlive the layouts. */
gcd_status layout_new(const struct gcd_alloc *alloc, const struct layout_files *files,
                      const struct layout_module *modules, uint32_t count, struct layout **ret,
                      struct gcd_error *err);
void layout_free(struct layout *l);

/* ---- types: each has one number ---- */

/* A number, a pointer: an element type of ECMA-335 II.23.1.16 without references. */
gcd_status layout_plain(struct layout *l, uint8_t element, uint32_t *ret, struct gcd_error *err);
/* Nothing is known about it, except whether it is a VALUE. */
gcd_status layout_unknown(struct layout *l, bool value, uint32_t *ret, struct gcd_error *err);
/* Types in the place of parameters. */
struct layout_arguments {
    const uint32_t *types; /* [count] */
    size_t count;
};
/* A definition or reference of a module with its arguments. */
struct layout_name {
    uint32_t module, token;
    bool value;
    struct layout_arguments arguments;
};
gcd_status layout_named(struct layout *l, const struct layout_name *name, uint32_t *ret,
                        struct gcd_error *err);
/* RANK 0: a vector, "T[]". */
gcd_status layout_array(struct layout *l, uint32_t element, uint32_t rank, uint32_t *ret,
                        struct gcd_error *err);

/* ---- what is known about them ---- */

/* Finds the slots of TYPE.  Call it for all types of objects, then layout_describe for each. */
gcd_status layout_find_slots(struct layout *l, uint32_t type, struct gcd_error *err);
/*
 * The layout of objects of TYPE in the format of gcd_type.layout (gcdumpc/summary.h); "" = nothing
 * is known.  Valid until the next call.
 */
gcd_status layout_describe(struct layout *l, uint32_t type, const char **ret,
                           struct gcd_error *err);

#endif
