/*
 * The code of a process: which method is at an address, and which IL offset (events of the
 * rundown).
 */
#ifndef GCD_SITES_CODE_H
#define GCD_SITES_CODE_H

#include <gcdumpc/event.h>
#include <gcdumpc/status.h>
#include <gcdumpc/unstable/metadata.h>

#include "base/idmap.h"
#include "base/text.h"
#include "clr/clr_gc.h"

#define CODE_NO_IL UINT32_MAX

struct code_method {
    uint64_t start; /* must be first */
    uint32_t bytes;
    uint32_t token;
    uint64_t module;  /* its id */
    const char *type; /* as the runtime spells it */
    const char *name;
    uint32_t map, map_count; /* entries in code.map */
};

struct code_map_entry {
    uint32_t native, il;
};

struct code_module {
    uint64_t id;
    const char *path;
    uint8_t pdb_guid[16];
    uint32_t pdb_age;
};

struct code {
    struct gcd_alloc alloc;
    struct code_method *methods; /* sorted by start after code_seal */
    size_t method_count, method_cap;
    struct code_map_entry *map;
    size_t map_count, map_cap;
    struct code_module *modules;
    size_t module_count, module_cap;
    struct gcd_idmap module_by_id;
    struct gcd_textpool texts;
    /* the IL map that precedes its method */
    uint64_t pending_method;
    uint32_t pending_map, pending_count;
    uint64_t damaged; /* events that could not be read */
};

void code_init(struct code *c, const struct gcd_alloc *alloc);
void code_done(struct code *c);
/* Takes an event of the rundown. */
GCD_MUST_CHECK gcd_status code_event(struct code *c, const struct gcd_event *ev,
                                     struct gcd_error *err);
/* All events have come. */
GCD_MUST_CHECK gcd_status code_seal(struct code *c, struct gcd_error *err);

/* The method at ADDRESS, and the part of its IL that this instruction belongs to: up to the next
 * offset that is known; first = CODE_NO_IL: unknown.  NULL: no method is there. */
const struct code_method *code_find(const struct code *c, uint64_t address,
                                    struct gcd_il_range *ret);
/* NULL = unknown. */
const struct code_module *code_module_of(const struct code *c, uint64_t id);

#endif
