/*
 * The names that Native AOT gives types in the symbols of a program: "_ZTV14aot_Shop_Order" is the
 * method table of a type.  They are mangled: ".", "+", "`", "<" and "_" all become "_", so most
 * names can be read in several ways.
 */
#ifndef GCD_NAMES_AOT_NAMES_H
#define GCD_NAMES_AOT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include <gcdumpc/status.h>

struct aot_definitions;

/* Longer names stay unknown. */
#define AOT_SYMBOL_MAX ((size_t)8192)
/* Enough for the spelling of any such symbol. */
#define AOT_NAME_MAX (4 * AOT_SYMBOL_MAX)

/* framework_assemblies.c: sorted by strcmp. */
extern const char *const aot_framework_assemblies[];
extern const size_t aot_framework_assembly_count;

/* Is S[N] the mangled name of one of them? */
bool aot_is_framework(const char *s, size_t n);

/* Is it the symbol of a method table, of a type or of the objects with the static fields of a
 * class?  *RET, *RET_N: the mangled name in it. */
bool aot_symbol_of_type(const char *symbol, size_t n, const char **ret, size_t *ret_n);

/*
 * Writes the mangled name M[N] in the runtime's spelling to RET[AOT_NAME_MAX], with a NUL; returns
 * its length, 0 = too long.  Types of the framework, arrays, pointers and type arguments are
 * spelled as the runtime does; a definition of another assembly that is not in KNOWN (may be NULL),
 * and whatever can be read in two ways, stays as it is.  VALUE_TYPE: the objects are boxed values.
 */
size_t aot_name(const char *m, size_t n, bool value_type, const struct aot_definitions *known,
                char *ret);

#endif
