#include "base/idmap.h"

#include "base/mem.h"

#define FIRST_SLOTS ((size_t)64)

void gcd_idmap_init(struct gcd_idmap *m, const struct gcd_alloc *a)
{
    *m = (struct gcd_idmap){ .alloc = a,
                             .seed = (uint64_t)(uintptr_t)m * UINT64_C(0xd6e8feb86659fd93) };
}

void gcd_idmap_done(struct gcd_idmap *m)
{
    if (m->slots != NULL)
        gcd_mem_free(m->alloc, m->slots, m->slot_count * sizeof *m->slots);
    m->slots = NULL;
    m->slot_count = m->used = 0;
}

void gcd_idmap_clear(struct gcd_idmap *m)
{
    if (m->used == 0)
        return;
    if (m->slot_count > FIRST_SLOTS) { /* an empty table must not cost as much as a full one */
        gcd_idmap_done(m);
        return;
    }
    for (size_t i = 0; i < m->slot_count; i++)
        m->slots[i].value = GCD_IDMAP_NONE;
    m->used = 0;
}

static void insert(struct gcd_idmap *m, uint64_t id, uint32_t value)
{
    size_t i = gcd_idmap_home(m, id);
    while (m->slots[i].value != GCD_IDMAP_NONE && m->slots[i].id != id)
        i = (i + 1) & (m->slot_count - 1);
    if (m->slots[i].value == GCD_IDMAP_NONE)
        m->used++;
    m->slots[i] = (struct gcd_idmap_slot){ .id = id, .value = value };
}

/* At most half full: probes stay short even for runs of adjacent ids. */
static bool grow(struct gcd_idmap *m)
{
    struct gcd_idmap old = *m;
    size_t n = old.slot_count == 0 ? FIRST_SLOTS : old.slot_count * 2;
    if (n < old.slot_count)
        return false;
    m->slots = gcd_mem_new_array(m->alloc, n, sizeof *m->slots);
    if (m->slots == NULL) {
        m->slots = old.slots;
        return false;
    }
    m->slot_count = n;
    m->used = 0;
    for (size_t i = 0; i < n; i++)
        m->slots[i].value = GCD_IDMAP_NONE;
    for (size_t i = 0; i < old.slot_count; i++)
        if (old.slots[i].value != GCD_IDMAP_NONE)
            insert(m, old.slots[i].id, old.slots[i].value);
    if (old.slots != NULL)
        gcd_mem_free(m->alloc, old.slots, old.slot_count * sizeof *old.slots);
    return true;
}

bool gcd_idmap_put(struct gcd_idmap *m, uint64_t id, uint32_t value)
{
    if (m->used >= m->slot_count / 2 && !grow(m))
        return false;
    insert(m, id, value);
    return true;
}

uint32_t gcd_idmap_number(struct gcd_idmap *m, uint64_t id)
{
    uint32_t n = gcd_idmap_get(m, id);
    if (n != GCD_IDMAP_NONE)
        return n;
    n = (uint32_t)m->used;
    return gcd_idmap_put(m, id, n) ? n : GCD_IDMAP_NONE;
}
