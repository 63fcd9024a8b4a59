/*
 * Values of AsyncLocal that are alive because work was started while they were set: the execution
 * context of that time belongs to the timer, the task or the callback.
 */
#include "analyze/findings/findings.h"
#include "analyze/suspects/suspects_words.h"

#define THREADING "System.Threading."

static bool is_type(const struct gcd_type *t)
{
    return findings_is_named(t->name, THREADING, "ExecutionContext");
}

/* The map of values that only the context NODE keeps alive; GCD_NODE_NONE = none. */
static uint32_t map_of(const struct suspects_work *w, uint32_t node)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(w->g, node, &n);
    for (size_t i = 0; i < n; i++)
        if (gcd_text_begins(gcd_graph_summary(w->g)->types[suspects_type_of(w, edges[i])].name,
                            THREADING "AsyncLocalValueMap") &&
            suspects_parent(w, edges[i]) == node)
            return edges[i];
    return GCD_NODE_NONE;
}

static bool look(const struct findings *f, uint32_t node, struct finding_member *ret)
{
    (void)ret;
    return map_of(f->w, node) != GCD_NODE_NONE;
}

/* The program's type with the most bytes, else the type of the largest value. */
static uint32_t value_of(const struct findings *f, uint32_t node)
{
    uint64_t bytes, most = 0;
    uint32_t type = findings_heaviest(f, node, &bytes), map = map_of(f->w, node);
    size_t n = 0;
    const uint32_t *edges = map != GCD_NODE_NONE ? gcd_graph_node_edges(f->w->g, map, &n) : NULL;
    for (size_t i = 0; i < n && bytes == 0; i++)
        if (gcd_dominators_retained(f->w->d, edges[i]) > most) {
            most = gcd_dominators_retained(f->w->d, edges[i]);
            type = suspects_type_of(f->w, edges[i]);
        }
    return type;
}

const struct finding_rule finding_flows = {
    .kind = GCD_SUSPECT_FLOWS,
    .least = FINDING_FEW,
    .only_large = true,
    .replaces = true,
    .is_type = is_type,
    .look = look,
    .who = value_of,
};

/* The static variable with the AsyncLocal whose value the context NODE has; SIZE_MAX = unknown. */
static size_t variable_of(const struct suspects_work *w, uint32_t node)
{
    uint32_t map = map_of(w, node);
    size_t n = 0;
    const uint32_t *edges = map != GCD_NODE_NONE ? gcd_graph_node_edges(w->g, map, &n) : NULL;
    for (size_t i = 0; i < n; i++) {
        const char *name = gcd_graph_summary(w->g)->types[suspects_type_of(w, edges[i])].name;
        if (gcd_text_begins(name, THREADING "AsyncLocal`1") &&
            gcd_paths_parent(w->paths, edges[i]) == GCD_NODE_ROOT &&
            suspects_is_own_static(w, gcd_paths_root(w->paths, edges[i])))
            return gcd_paths_root(w->paths, edges[i]);
    }
    return SIZE_MAX;
}

static void put_variable(struct suspect_words *s, const struct suspect *x)
{
    size_t root = variable_of(s->w, x->pub.node);
    suspects_put(s, root != SIZE_MAX ? "the AsyncLocal in " : "AsyncLocal variables");
    if (root != SIZE_MAX)
        suspects_put_root(s, root);
}

void suspects_tell_flows(struct suspect_words *s, const struct suspect *x)
{
    suspects_put_bytes(s, x->pub.bytes);
    suspects_put(s, " are values of ");
    put_variable(s, x);
    suspects_put_behind(s, x, " ");
    suspects_put(s, ": the execution contexts in which work was started (");
    suspects_put_number(s, x->pub.objects);
    suspects_put(s, ") keep them");
}

void suspects_advise_flows(struct suspect_words *s, const struct suspect *x)
{
    suspects_put(s, "Start such work with ExecutionContext.SuppressFlow(), or clear ");
    put_variable(s, x);
    suspects_put(s, " before.");
}
