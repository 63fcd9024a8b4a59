#include "support/graph_roots.h"

#include <stdlib.h>
#include <string.h>

static bool is_callback_type(const struct gcd_type *type)
{
    return type->name[0] == 'S' && /* asked often, and strcmp is slow with sanitizers */
           (strcmp(type->name, "System.Threading.TimerQueueTimer") == 0 ||
            strcmp(type->name, "System.Threading.CancellationTokenSource+CallbackNode") == 0);
}

static bool is_callback(const struct gcd_graph *g, uint32_t node)
{
    return is_callback_type(&gcd_graph_summary(g)->types[gcd_graph_node_type(g, node)]);
}

static bool is_call_type(const struct gcd_type *type)
{
    return type->name[0] == 'S' && type->name[strlen(type->name) - 1] == ']' &&
           strstr(type->name, "+AsyncStateMachineBox`1[") != NULL;
}

static bool is_call(const struct gcd_graph *g, uint32_t node)
{
    return is_call_type(&gcd_graph_summary(g)->types[gcd_graph_node_type(g, node)]);
}

static bool is_wide(const struct gcd_graph *g, uint32_t node)
{
    size_t n = 0;
    (void)gcd_graph_node_edges(g, node, &n);
    return n >= 64;
}

static bool is_dependent(const struct gcd_graph *g, uint32_t key, uint32_t value)
{
    for (size_t i = 0; i < gcd_graph_dependent_count(g); i++)
        if (gcd_graph_dependent(g, i)->key == key && gcd_graph_dependent(g, i)->value == value)
            return true;
    return false;
}

/* A way that a set of nodes spreads: does FROM lead to TO? */
typedef bool leads_fn(const struct gcd_graph *g, uint32_t from, uint32_t to);

static bool leads_uncalled(const struct gcd_graph *g, uint32_t from, uint32_t to)
{
    return (gcd_graph_refers(g, from, to) && !is_callback(g, from)) || is_dependent(g, from, to);
}

static bool is_covered(const struct gcd_graph *g, size_t root, leads_fn *leads);

/* What counts of a graph, found anew for another one. */
static struct {
    uint64_t print;
    uint8_t *seen;   /* what is reached without what is late */
    uint8_t *late;   /* whose references to these do not count */
    uint8_t *is_cut; /* while SEEN is found */
} known;

static void mix(uint64_t *print, uint64_t value)
{
    *print = (*print ^ value) * UINT64_C(0x100000001b3);
    *print ^= *print >> 29;
}

static uint64_t print_of(const struct gcd_graph *g)
{
    uint64_t print = UINT64_C(0xcbf29ce484222325);
    const struct gcd_summary *s = gcd_graph_summary(g);
    for (uint32_t node = 0; node < gcd_graph_node_count(g); node++) {
        size_t n = 0;
        const uint32_t *edges = gcd_graph_node_edges(g, node, &n);
        mix(&print, (uint64_t)n << 8 | (uint64_t)is_call(g, node) << 1 | is_callback(g, node));
        for (size_t i = 0; i < n; i++)
            mix(&print, edges[i]);
    }
    for (size_t i = 0; i < s->root_count; i++) {
        mix(&print, (uint64_t)s->roots[i].flags << 32 | s->roots[i].node);
        mix(&print, (uint64_t)s->roots[i].kind);
    }
    for (size_t i = 0; i < gcd_graph_dependent_count(g); i++)
        mix(&print,
            (uint64_t)gcd_graph_dependent(g, i)->key << 32 | gcd_graph_dependent(g, i)->value);
    return print;
}

static bool leads_uncut(const struct gcd_graph *g, uint32_t from, uint32_t to)
{
    return (gcd_graph_refers(g, from, to) && !known.is_cut[from]) || is_dependent(g, from, to);
}

/* Spreads SEEN from the roots of ranks up to LAST that no local variable covers. */
static void spread(const struct gcd_graph *g, int last, leads_fn *leads, uint8_t *seen)
{
    const struct gcd_summary *s = gcd_graph_summary(g);
    bool again = true;
    for (size_t i = 0; i < s->root_count; i++)
        if ((s->roots[i].flags & GCD_ROOT_WEAK) == 0 && graph_root_rank(g, i) <= last &&
            !is_covered(g, i, leads_uncalled))
            seen[s->roots[i].node] = 1;
    while (again) {
        again = false;
        for (uint32_t node = 0; node < gcd_graph_node_count(g); node++)
            for (uint32_t to = 0; to < gcd_graph_node_count(g) && seen[node]; to++)
                if (!seen[to] && leads(g, node, to)) {
                    seen[to] = 1;
                    again = true;
                }
    }
}

/* Is NODE the wide object of a local variable, or just below a narrow one? */
static bool is_snapshot(const struct gcd_graph *g, uint32_t node, const uint8_t *early)
{
    const struct gcd_summary *s = gcd_graph_summary(g);
    bool found = false;
    for (size_t i = 0; i < s->root_count && !found && is_wide(g, node) && !early[node]; i++) {
        uint32_t local = s->roots[i].node;
        found = s->roots[i].kind == GCD_ROOT_STACK && !early[local] &&
                (local == node || (!is_wide(g, local) && gcd_graph_refers(g, local, node))) &&
                !is_covered(g, i, leads_uncalled);
    }
    return found;
}

/* Is there a reference to NODE in at most STEPS from a timer or registration, or a call that is not
 * seen, only by way of what is not seen? */
static bool is_near_callback(const struct gcd_graph *g, uint32_t node, unsigned steps)
{
    bool found = is_callback(g, node) || (is_call(g, node) && !known.seen[node]);
    for (uint32_t by = 0; by < gcd_graph_node_count(g) && !found && steps > 0 && !known.seen[node];
         by++)
        found = gcd_graph_refers(g, by, node) && (is_callback(g, by) || !known.seen[by]) &&
                is_near_callback(g, by, steps - 1);
    return found;
}

static bool most_are_seen(const struct gcd_graph *g, uint32_t node)
{
    size_t n = 0, seen = 0;
    const uint32_t *edges = gcd_graph_node_edges(g, node, &n);
    for (size_t i = 0; i < 64 && n >= 64; i++) /* a sample */
        seen += known.seen[edges[n / 64 * i]];
    return seen > 32;
}

static void know(const struct gcd_graph *g)
{
    uint32_t nodes = gcd_graph_node_count(g);
    const struct gcd_summary *s = gcd_graph_summary(g);
    uint64_t print = print_of(g);
    bool rooted = false;
    if (known.seen != NULL && known.print == print)
        return;
    free(known.seen);
    free(known.late);
    free(known.is_cut);
    known.print = print;
    known.seen = calloc(nodes + 1, 1);
    known.late = calloc(nodes + 1, 1);
    known.is_cut = calloc(nodes + 1, 1);
    for (size_t i = 0; i < s->root_count; i++)
        rooted = rooted || ((s->roots[i].flags & GCD_ROOT_WEAK) == 0 && graph_root_rank(g, i) <= 4);
    if (!rooted)
        return;
    uint8_t *early = calloc(nodes + 1, 1);
    spread(g, 3, leads_uncalled, early);
    for (uint32_t node = 0; node < nodes; node++)
        known.is_cut[node] = is_callback(g, node) || is_snapshot(g, node, early);
    spread(g, 4, leads_uncut, known.seen);
    for (uint32_t node = 0; node < nodes; node++)
        known.late[node] =
            is_near_callback(g, node, 3) || (known.is_cut[node] && most_are_seen(g, node));
    free(early);
}

static bool has_callbacks(const struct gcd_graph *g)
{
    const struct gcd_summary *s = gcd_graph_summary(g);
    for (uint32_t i = 0; i < s->type_count; i++)
        if (is_callback_type(&s->types[i]) || is_call_type(&s->types[i]))
            return true;
    return false;
}

bool graph_leads(const struct gcd_graph *g, uint32_t from, uint32_t to)
{
    if (!gcd_graph_refers(g, from, to))
        return is_dependent(g, from, to);
    if (!is_wide(g, from) && !has_callbacks(g)) /* most often */
        return true;
    know(g);
    return !known.late[from] || !known.seen[to] || is_dependent(g, from, to);
}

bool graph_refers(const struct gcd_graph *g, uint32_t from, uint32_t to)
{
    return gcd_graph_refers(g, from, to) || is_dependent(g, from, to);
}

static void mark_by(const struct gcd_graph *g, const uint32_t *from, size_t n,
                    const uint8_t *without, leads_fn *leads, uint8_t *seen)
{
    uint32_t nodes = gcd_graph_node_count(g), *stack = malloc((nodes + 1) * sizeof *stack);
    size_t depth = 0;
    memset(seen, 0, nodes);
    for (size_t i = 0; i < n; i++)
        if (!seen[from[i]] && (without == NULL || !without[from[i]])) {
            seen[from[i]] = 1;
            stack[depth++] = from[i];
        }
    while (depth > 0) {
        uint32_t node = stack[--depth];
        size_t edge_count, dependents = gcd_graph_dependent_count(g);
        const uint32_t *edges = gcd_graph_node_edges(g, node, &edge_count);
        for (size_t i = 0; i < edge_count + dependents; i++) {
            uint32_t to = i < edge_count ? edges[i] : gcd_graph_dependent(g, i - edge_count)->value;
            if (!seen[to] && (without == NULL || !without[to]) && leads(g, node, to)) {
                seen[to] = 1;
                stack[depth++] = to;
            }
        }
    }
    free(stack);
}

void graph_mark(const struct gcd_graph *g, const uint32_t *from, size_t n, const uint8_t *without,
                uint8_t *seen)
{
    mark_by(g, from, n, without, graph_leads, seen);
}

int graph_root_rank(const struct gcd_graph *g, size_t root)
{
    const struct gcd_root *r = &gcd_graph_summary(g)->roots[root];
    if (r->kind == GCD_ROOT_STATIC || r->kind == GCD_ROOT_STACK)
        return r->kind == GCD_ROOT_STATIC ? 0 : 4;
    if (r->kind == GCD_ROOT_COM || (r->flags & GCD_ROOT_REFCOUNTED) != 0)
        return 5;
    if (r->kind == GCD_ROOT_HANDLE)
        return (r->flags & GCD_ROOT_PINNED) != 0 ? 2 : 1;
    return r->kind == GCD_ROOT_FINALIZER ? 6 : 3;
}

static bool is_strong(const struct gcd_graph *g, size_t root)
{
    return (gcd_graph_summary(g)->roots[root].flags & GCD_ROOT_WEAK) == 0;
}

size_t graph_root_of(const struct gcd_graph *g, uint32_t node)
{
    const struct gcd_summary *summary = gcd_graph_summary(g);
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < summary->root_count; i++)
        if (summary->roots[i].node == node && is_strong(g, i) && !graph_root_is_covered(g, i) &&
            (best == SIZE_MAX || graph_root_rank(g, i) < graph_root_rank(g, best)))
            best = i;
    return best;
}

int graph_root_tier(const struct gcd_graph *g, size_t root)
{
    int rank = root != SIZE_MAX ? graph_root_rank(g, root) : 0;
    return rank < 4 ? 0 : rank - 3;
}

/* The nodes of strong roots, those that are covered too, whose tier is from LEAST to MOST. */
static uint32_t *roots_of(const struct gcd_graph *g, int least, int most, size_t *ret_n)
{
    const struct gcd_summary *summary = gcd_graph_summary(g);
    uint32_t *roots = malloc((summary->root_count + 1) * sizeof *roots);
    *ret_n = 0;
    for (size_t i = 0; i < summary->root_count; i++)
        if (is_strong(g, i) && graph_root_tier(g, i) >= least && graph_root_tier(g, i) <= most)
            roots[(*ret_n)++] = summary->roots[i].node;
    return roots;
}

/* One local variable after the other follows what none has followed before: first those that
 * nothing refers to. */
static bool is_covered(const struct gcd_graph *g, size_t root, leads_fn *leads)
{
    uint32_t nodes = gcd_graph_node_count(g), wanted = gcd_graph_summary(g)->roots[root].node;
    uint8_t *early = malloc(nodes + 1), *followed = malloc(nodes + 1), *now = malloc(nodes + 1);
    bool *is_local = calloc(nodes + 1, sizeof *is_local),
         *is_held = calloc(nodes + 1, sizeof *is_held), covered = false;
    size_t early_count, local_count;
    uint32_t *first = roots_of(g, 0, 0, &early_count), *locals = roots_of(g, 1, 1, &local_count);
    mark_by(g, first, early_count, NULL, leads, early);
    memcpy(followed, early, nodes);
    for (size_t i = 0; i < local_count; i++)
        is_local[locals[i]] = early[locals[i]] == 0;
    for (uint32_t by = 0; by < nodes; by++)
        for (uint32_t to = 0; to < nodes && !early[by]; to++)
            is_held[to] = is_held[to] || (by != to && leads(g, by, to));
    bool asked = graph_root_tier(g, root) == 1 && is_local[wanted];
    for (uint32_t turn = 0; turn < 2 * nodes && asked && !covered; turn++) {
        uint32_t node = turn % nodes;
        if (!is_local[node] || is_held[node] != (turn >= nodes))
            continue;
        covered = node == wanted && followed[node];
        if (followed[node])
            continue;
        mark_by(g, &node, 1, followed, leads, now);
        for (uint32_t by = 0; by < nodes; by++)
            covered |= now[by] && node != wanted && leads(g, by, wanted);
        for (uint32_t by = 0; by < nodes; by++)
            followed[by] |= now[by];
    }
    free(early);
    free(first);
    free(locals);
    free(followed);
    free(now);
    free(is_local);
    free(is_held);
    return covered;
}

bool graph_root_is_covered(const struct gcd_graph *g, size_t root)
{
    return is_covered(g, root, graph_leads);
}

void graph_live(const struct gcd_graph *g, const uint8_t *without, uint8_t *seen)
{
    uint32_t nodes = gcd_graph_node_count(g);
    uint8_t *early = malloc(nodes + 1), *late = malloc(nodes + 1);
    size_t early_count, n, late_count = 0;
    uint32_t *from = roots_of(g, 0, 0, &early_count), *roots = graph_roots(g, &n);
    uint32_t *others = malloc((n + 1) * sizeof *others);
    graph_mark(g, from, early_count, NULL, early);
    for (size_t i = 0; i < n; i++)
        if (!early[roots[i]])
            others[late_count++] = roots[i];
    graph_mark(g, others, late_count, without, late);
    graph_mark(g, from, early_count, without, seen);
    for (uint32_t node = 0; node < nodes; node++)
        seen[node] = early[node] ? seen[node] : late[node];
    free(early);
    free(late);
    free(from);
    free(roots);
    free(others);
}

uint32_t *graph_roots(const struct gcd_graph *g, size_t *ret_n)
{
    const struct gcd_summary *summary = gcd_graph_summary(g);
    uint32_t nodes = gcd_graph_node_count(g),
             *roots = malloc((nodes + summary->root_count + 1) * sizeof *roots);
    uint8_t *seen = calloc(nodes + 1, 1);
    size_t n = 0;
    for (size_t i = 0; i < summary->root_count; i++)
        if (is_strong(g, i) && !graph_root_is_covered(g, i))
            roots[n++] = summary->roots[i].node;
    if (n == 0) {
        for (uint32_t node = 0; node < nodes; node++) {
            bool held = false;
            for (uint32_t by = 0; by < nodes; by++)
                held |= by != node && graph_leads(g, by, node);
            if (!held)
                roots[n++] = node;
        }
        graph_mark(g, roots, n, NULL, seen);
        for (uint32_t node = 0; node < nodes; node++)
            if (!seen[node]) {
                roots[n++] = node;
                graph_mark(g, roots, n, NULL, seen);
            }
    }
    free(seen);
    *ret_n = n;
    return roots;
}
