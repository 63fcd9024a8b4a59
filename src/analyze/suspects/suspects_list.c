#include "analyze/suspects/suspects.h"

#include "base/error.h"
#include "base/mem.h"

struct gcd_suspect suspects_blank(enum gcd_suspect_kind kind, uint32_t node, uint32_t type)
{
    return (struct gcd_suspect){ .kind = kind,
                                 .node = node,
                                 .type = type,
                                 .root = SIZE_MAX,
                                 .owner_node = GCD_NODE_NONE,
                                 .owner = GCD_TYPE_NONE,
                                 .owner_module = "",
                                 .element = { .type = GCD_TYPE_NONE } };
}

gcd_status suspects_add(struct suspects_work *w, enum gcd_suspect_kind kind, uint32_t node,
                        uint32_t type, struct suspect **ret, struct gcd_error *err)
{
    struct gcd_suspects *s = w->s;
    if (s->count == w->most)
        return gcd_fail(err, GCD_E_LIMIT,
                        "more than %zu suspects: the sizes of the objects cannot be true", w->most);
    if (!gcd_vec_reserve(&s->alloc, &s->items, &s->room, s->count + 1, sizeof *s->items, w->most))
        return gcd_fail_nomem(err, "looking for suspects");
    *ret = &s->items[s->count++];
    **ret = (struct suspect){ .pub = suspects_blank(kind, node, type),
                              .id = s->added++,
                              .within = SUSPECTS_NONE,
                              .into = SUSPECTS_NONE,
                              .container = kind == GCD_SUSPECT_OBJECT ? node : GCD_NODE_NONE,
                              .service = GCD_NODE_NONE,
                              .site = GCD_NODE_NONE,
                              .owner_type = GCD_TYPE_NONE,
                              .heaviest_type = GCD_TYPE_NONE };
    return GCD_OK;
}

gcd_status suspects_own(struct suspects_work *w, uint32_t node, struct gcd_error *err)
{
    if (!gcd_vec_reserve(w->alloc, &w->owned, &w->owned_room, w->owned_count + 1, sizeof *w->owned,
                         SIZE_MAX))
        return gcd_fail_nomem(err, "looking for findings");
    w->owned[w->owned_count++] = (struct suspects_owned){ node, w->s->items[w->s->count - 1].id };
    return GCD_OK;
}

gcd_status suspects_check(const struct suspects_work *w, struct gcd_error *err)
{
    return gcd_check_canceled(w->o->context.cancel, err);
}

static bool is_more(struct gcd_suspect_part a, struct gcd_suspect_part b)
{
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.objects > b.objects;
}

void suspects_keep_most(struct gcd_suspect_part *top, size_t *n, size_t max,
                        struct gcd_suspect_part part)
{
    size_t i = *n < max ? (*n)++ : max;
    for (; i > 0 && is_more(part, top[i - 1]); i--)
        if (i < max)
            top[i] = top[i - 1];
    if (i < max)
        top[i] = part;
}
