/* Converts one name from the runtime's spelling to C#. */
#ifndef GCD_NAMES_CSHARP_H
#define GCD_NAMES_CSHARP_H

#include <stdbool.h>
#include <stddef.h>

#include <gcdumpc/alloc.h>

struct csharp_level;

/* Buffers reused for one name after another. */
struct csharp {
    const struct gcd_alloc *alloc;
    char *out; /* [n], no NUL */
    size_t n, cap;
    struct csharp_level *levels; /* open type argument lists */
    size_t depth, level_cap;
};

void csharp_init(struct csharp *c, const struct gcd_alloc *alloc);
void csharp_done(struct csharp *c);

/* Append to c->out.  False when out of memory. */
bool csharp_put(struct csharp *c, const char *s, size_t n);

/*
 * Writes RAW in C# spelling to c->out; RAW itself when it does not parse.  RUNTIME: RAW is known to
 * be in the runtime's spelling, so the dimensions of an array of arrays are reversed even if the
 * name itself does not show it.  GCD_E_NOMEM.
 */
gcd_status csharp_name(struct csharp *c, const char *raw, bool runtime);

#endif
