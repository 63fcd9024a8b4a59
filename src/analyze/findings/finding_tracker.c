/* Entities that one DbContext of Entity Framework tracks.  Each has an entry, which refers to the
 * state manager of the context. */
#include "analyze/findings/findings.h"
#include "analyze/suspects/suspects_words.h"

#define SPACE "Microsoft.EntityFrameworkCore.ChangeTracking.Internal."

static bool is_type(const struct gcd_type *t)
{
    return findings_is_named(t->name, SPACE, "InternalEntityEntry");
}

static bool look(const struct findings *f, uint32_t node, struct finding_member *ret)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(f->w->g, node, &n);
    for (size_t i = 0; i < n; i++)
        if (findings_is_named(f->types[suspects_type_of(f->w, edges[i])].name, SPACE,
                              "StateManager")) {
            ret->group = ret->node = edges[i];
            ret->type = suspects_type_of(f->w, edges[i]);
            return true;
        }
    return false;
}

/* The entity is the object in an entry that is not the framework's, even if others share it. */
static uint32_t entity(const struct findings *f, uint32_t node)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(f->w->g, node, &n);
    for (size_t i = 0; i < n; i++)
        if (findings_has(f, edges[i], FINDING_OWN))
            return suspects_type_of(f->w, edges[i]);
    return GCD_TYPE_NONE;
}

const struct finding_rule finding_tracker = {
    .kind = GCD_SUSPECT_TRACKER,
    .least = FINDING_ENTITIES,
    .replaces = true,
    .is_type = is_type,
    .look = look,
    .who = entity,
};

void suspects_tell_tracker(struct suspect_words *s, const struct suspect *x)
{
    suspects_put(s, "One DbContext");
    if (x->owner_type != GCD_TYPE_NONE) {
        suspects_put(s, ", ");
        suspects_put_type(s, x->owner_type);
        suspects_put(s, ",");
    }
    suspects_put(s, " tracks ");
    suspects_put_count(s, x->pub.objects, "entity", "entities");
    suspects_put_behind(s, x, " ");
}
