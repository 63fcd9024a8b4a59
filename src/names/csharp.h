/*
 * One name from the runtime's spelling to that of C#.
 */
#ifndef GCD_NAMES_CSHARP_H
#define GCD_NAMES_CSHARP_H

#include <stdbool.h>
#include <stddef.h>

#include <gcdumpc/alloc.h>

struct csharp_level;

/* Room that one name after another is made in. */
struct csharp {
    const struct gcd_alloc *alloc;
    char *out;                   /* [n], no NUL */
    size_t n, cap;
    struct csharp_level *levels; /* type arguments that are open */
    size_t depth, level_cap;
};

void csharp_init(struct csharp *c, const struct gcd_alloc *alloc);
void csharp_done(struct csharp *c);

/* Append to c->out.  False when out of memory. */
bool csharp_put(struct csharp *c, const char *s, size_t n);

/*
 * RAW in C# spelling into c->out; RAW itself when it does not parse.  RUNTIME: it is known to be the runtime's spelling, so that
 * the dimensions of an array of arrays have to change places even when nothing in the name tells.  GCD_E_NOMEM.
 */
gcd_status csharp_name(struct csharp *c, const char *raw, bool runtime);

#endif
