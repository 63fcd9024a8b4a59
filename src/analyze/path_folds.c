#include <gcdumpc/unstable/origins.h>

/* A collection with its internals, or a single step: steps [first, end). */
struct unit {
    size_t first, end;
};

static struct unit unit_at(struct gcd_collections *c, const struct gcd_fold_step *steps, size_t n,
                           size_t first)
{
    struct unit u = { first, first + 1 };
    uint32_t outer = steps[first].type;
    if (outer != GCD_TYPE_NONE)
        while (u.end < n && !steps[u.end].keep && steps[u.end].type != GCD_TYPE_NONE &&
               gcd_collections_is_inside(c, outer, steps[u.end - 1].type, steps[u.end].type))
            u.end++;
    return u;
}

static bool is_shown(const struct gcd_origins *origins, const struct gcd_fold_step *steps,
                     struct unit u)
{
    return steps[u.first].keep || steps[u.first].type == GCD_TYPE_NONE ||
           gcd_origins_get(origins, steps[u.first].type) == GCD_ORIGIN_OWN;
}

static void put(struct gcd_fold_step *steps, struct unit u, enum gcd_fold fold)
{
    for (size_t i = u.first; i < u.end; i++)
        steps[i].fold = fold == GCD_FOLD_SHOWN && i > u.first ? GCD_FOLD_INSIDE : fold;
}

/* Shows hidden units that are alone between shown ones: hiding one would take a line, too. */
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

void gcd_fold_path(const struct gcd_origins *origins, struct gcd_collections *collections,
                   struct gcd_fold_step *steps, size_t n)
{
    struct unit u, before = { 0, 0 };
    for (size_t at = 0; at < n; at = u.end) {
        u = unit_at(collections, steps, n, at);
        bool last = u.end == n;
        if (last && before.end > 0 && steps[before.first].type != GCD_TYPE_NONE &&
            gcd_collections_kind(collections, steps[before.first].type) != GCD_COLLECTION_NONE)
            put(steps, before,
                GCD_FOLD_SHOWN); /* the collection that has the last step as an element */
        put(steps, u, last || is_shown(origins, steps, u) ? GCD_FOLD_SHOWN : GCD_FOLD_HIDDEN);
        before = u;
    }
    show_single(collections, steps, n);
}

/* ---- trees ---- */

void gcd_fold_facts(const struct gcd_origins *origins, struct gcd_collections *collections,
                    struct gcd_fold_node *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct gcd_fold_node *at = &nodes[i];
        const struct gcd_fold_node *up = at->parent < i ? &nodes[at->parent] : NULL;
        at->unit = (uint32_t)i;
        at->facts = GCD_FOLD_FACT_SHOWN;
        if (at->type == GCD_TYPE_NONE)
            continue;
        enum gcd_origin origin = gcd_origins_get(origins, at->type);
        at->facts = origin == GCD_ORIGIN_OWN       ? GCD_FOLD_FACT_SHOWN
                    : origin == GCD_ORIGIN_LIBRARY ? GCD_FOLD_FACT_LIBRARY
                                                   : 0;
        if (gcd_collections_kind(collections, at->type) != GCD_COLLECTION_NONE)
            at->facts |= GCD_FOLD_FACT_COLLECTION;
        if (up != NULL && up->type != GCD_TYPE_NONE &&
            gcd_collections_is_inside(collections, nodes[up->unit].type, up->type, at->type)) {
            at->facts |= GCD_FOLD_FACT_PART;
            at->unit = up->unit;
        }
    }
}

/* Numbers the nodes of each unit (a collection with its internals) by its first node, and counts
 * the units below it.  ONLY: the last of these. */
static void find_units(struct gcd_fold_node *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct gcd_fold_node *at = &nodes[i];
        bool has_parent = at->parent < i;
        at->below = 0;
        at->unit =
            has_parent && (at->facts & GCD_FOLD_FACT_PART) ? nodes[at->parent].unit : (uint32_t)i;
        if (at->unit != i) {
            nodes[at->unit].ends |= at->ends;
        } else if (has_parent) {
            struct gcd_fold_node *up = &nodes[nodes[at->parent].unit];
            up->below++;
            up->only = (uint32_t)i;
        }
    }
}

static bool is_last(const struct gcd_fold_node *unit)
{
    return unit->ends || unit->below != 1;
}

static bool is_seen(const struct gcd_fold_node *nodes, const struct gcd_fold_node *unit)
{
    return (unit->facts & GCD_FOLD_FACT_SHOWN) || is_last(unit) ||
           ((unit->facts & GCD_FOLD_FACT_COLLECTION) && is_last(&nodes[unit->only]));
}

void gcd_fold_tree(struct gcd_fold_node *nodes, size_t n)
{
    find_units(nodes, n);
    for (size_t i = 0; i < n; i++)
        if (nodes[i].unit == i)
            nodes[i].fold = is_seen(nodes, &nodes[i]) ? GCD_FOLD_SHOWN : GCD_FOLD_HIDDEN;
    for (size_t i = 0; i < n; i++) {
        struct gcd_fold_node *at = &nodes[i];
        const struct gcd_fold_node *up = at->parent < i ? &nodes[nodes[at->parent].unit] : NULL;
        bool alone =
            at->unit == i && at->fold == GCD_FOLD_HIDDEN && nodes[at->only].fold == GCD_FOLD_SHOWN;
        if (alone && (up == NULL || up->fold == GCD_FOLD_SHOWN))
            at->fold = GCD_FOLD_SHOWN;
    }
    for (size_t i = 0; i < n; i++)
        if (nodes[i].unit != i)
            nodes[i].fold =
                nodes[nodes[i].unit].fold == GCD_FOLD_HIDDEN ? GCD_FOLD_HIDDEN : GCD_FOLD_INSIDE;
}
