/*
 * A dump with incomplete names, and the assemblies of its modules.
 */
#ifndef RESOLVE_SAMPLE_H
#define RESOLVE_SAMPLE_H

#include <gcdumpc/dump.h>

#include "support/pe_image.h"
#include "support/tb.h"

/* Ids of the modules: /app/Shop.dll with its CodeView record, /app/Tools.dll without,
 * /app/Core.dll. */
#define SAMPLE_SHOP   UINT64_C(0x5000)
#define SAMPLE_KIT    UINT64_C(0x6000)
#define SAMPLE_CORE   UINT64_C(0x7000)
#define SAMPLE_STREAM UINT64_C(0x8000) /* Shop.dll once more, without a path */

/* Tokens: 2 Store`1, 3 its Node, 4 its Node's Deep, 5 Item, 6 Other, 7 Special, 8 Shut. */
void sample_shop(struct pe_image *p);
/* Token 2 Tools.Kit with s_lock and s_kit; its base class is in no file. */
void sample_tools(struct pe_image *p);

/*
 * A trace with one object of each type of these modules, at the type's id + 0x10000, and these
 * static variables.
 */
enum sample_modules {
    SAMPLE_MODULES,    /* described by events: three */
    SAMPLE_AND_STREAM, /* ... and one that was loaded from a stream */
    SAMPLE_NO_MODULES
};
void sample_trace(const struct tb_static *statics, size_t n, enum sample_modules modules,
                  struct tb_bytes *ret);

#endif
