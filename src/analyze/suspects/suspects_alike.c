/*
 * The program's own types that people see as one: loads of the same type, and types with one name
 * in many assemblies, such as those of scripts.
 */
#include "analyze/suspects/suspects.h"

#include <gcdumpc/names.h>

#include "base/error.h"
#include "base/mem.h"

static const char *name_of(const struct suspects_work *w, uint32_t type, bool plain)
{
    const struct gcd_names *names = w->o->names;
    if (names == NULL)
        return gcd_graph_summary(w->g)->types[type].name;
    return plain ? gcd_names_plain(names, type) : gcd_names_get(names, type);
}

/*
 * RET[types]: the first own type with the same name.  PLAIN: compares plain names and sets
 * COUNTS[first].  Else it compares shown names, only for types with a low count.
 */
static bool find_first(const struct suspects_work *w, bool plain, uint32_t *ret, uint32_t *counts)
{
    struct gcd_idmap first;
    bool ok = true;
    gcd_idmap_init(&first, w->alloc);
    for (uint32_t i = 0; i < w->types && ok; i++) {
        if (!w->is_own[i] || (!plain && counts[ret[i]] >= SUSPECTS_COPIES))
            continue;
        const char *name = name_of(w, i, plain);
        uint64_t id = gcd_text_hash(name, strlen(name), GCD_TEXT_HASH);
        ret[i] = gcd_idmap_get(&first, id);
        if (ret[i] == GCD_IDMAP_NONE) {
            ret[i] = i;
            ok = gcd_idmap_put(&first, id, i);
        }
        counts[ret[i]] += plain;
    }
    gcd_idmap_done(&first);
    return ok;
}

gcd_status suspects_find_alike(struct suspects_work *w, struct gcd_error *err)
{
    uint32_t *counts = gcd_mem_new_array(w->alloc, w->types, sizeof *counts);
    w->alike = gcd_mem_new_array(w->alloc, w->types, sizeof *w->alike);
    bool ok = counts != NULL && w->alike != NULL;
    for (uint32_t i = 0; i < w->types && ok; i++)
        w->alike[i] = i;
    ok = ok && find_first(w, true, w->alike, counts) && find_first(w, false, w->alike, counts);
    gcd_mem_free(w->alloc, counts, w->types * sizeof *counts);
    return ok ? GCD_OK : gcd_fail_nomem(err, "looking for suspects");
}

uint32_t suspects_assemblies_of(const struct suspects_work *w, uint32_t type)
{
    uint32_t n = 0;
    if (w->o->names == NULL || strcmp(name_of(w, type, true), name_of(w, type, false)) == 0)
        return 1;
    for (uint32_t i = 0; i < w->types; i++)
        n += w->is_own[i] && w->alike[i] == type;
    return n;
}
