#include <gcdumpc/unstable/origins.h>

/* A collection with its inside, or a single step: steps [first, end). */
struct unit {
    size_t first, end;
};

static struct unit unit_at(struct gcd_collections *c, const struct gcd_fold_step *steps, size_t n, size_t first)
{
    struct unit u = { first, first + 1 };
    uint32_t outer = steps[first].type;
    if (outer != GCD_TYPE_NONE)
        while (u.end < n && !steps[u.end].keep && steps[u.end].type != GCD_TYPE_NONE &&
               gcd_collections_is_inside(c, outer, steps[u.end - 1].type, steps[u.end].type))
            u.end++;
    return u;
}

static bool is_shown(const struct gcd_origins *origins, const struct gcd_fold_step *steps, struct unit u)
{
    return steps[u.first].keep || steps[u.first].type == GCD_TYPE_NONE || gcd_origins_get(origins, steps[u.first].type) == GCD_ORIGIN_OWN;
}

static void put(struct gcd_fold_step *steps, struct unit u, enum gcd_fold fold)
{
    for (size_t i = u.first; i < u.end; i++)
        steps[i].fold = fold == GCD_FOLD_SHOWN && i > u.first ? GCD_FOLD_INSIDE : fold;
}

/* Units alone between shown ones take one line in any case. */
static void show_single(struct gcd_collections *c, struct gcd_fold_step *steps, size_t n)
{
    struct unit u, hidden = { 0, 0 };
    size_t run = 0;
    for (size_t at = 0; at < n; at = u.end) {
        u = unit_at(c, steps, n, at);
        if (steps[at].fold == GCD_FOLD_HIDDEN) {
            hidden = u;
            run++;
            continue;
        }
        if (run == 1)
            put(steps, hidden, GCD_FOLD_SHOWN);
        run = 0;
    }
}

void gcd_fold_path(const struct gcd_origins *origins, struct gcd_collections *collections, struct gcd_fold_step *steps, size_t n)
{
    struct unit u, before = { 0, 0 };
    for (size_t at = 0; at < n; at = u.end) {
        u = unit_at(collections, steps, n, at);
        bool last = u.end == n;
        if (last && before.end > 0 && steps[before.first].type != GCD_TYPE_NONE &&
            gcd_collections_kind(collections, steps[before.first].type) != GCD_COLLECTION_NONE)
            put(steps, before, GCD_FOLD_SHOWN);          /* what the last step is an element of */
        put(steps, u, last || is_shown(origins, steps, u) ? GCD_FOLD_SHOWN : GCD_FOLD_HIDDEN);
        before = u;
    }
    show_single(collections, steps, n);
}
