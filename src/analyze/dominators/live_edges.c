#include "analyze/dominators/live_edges.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/text.h"

static bool init_keys(struct live_edges *f)
{
    size_t n = gcd_graph_dependent_count(f->g);
    if (n == 0)
        return true;
    f->words = ((size_t)gcd_graph_node_count(f->g) + 63) / 64;
    f->is_key = gcd_mem_new_array(&f->alloc, f->words, sizeof *f->is_key);
    if (f->is_key == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        bits_set(f->is_key, gcd_graph_dependent(f->g, i)->key);
    return true;
}

/* ---- values of threads ---- */

enum thread_local_part { PART_OTHER, PART_LOCAL, PART_SLOT, PART_TABLE };

/* ThreadLocal<T>, its LinkedSlot and its LinkedSlotVolatile[], as runtimes spell them. */
static enum thread_local_part part_of(const struct gcd_type *type)
{
    static const char local[] = "System.Threading.ThreadLocal`1";
    const char *rest = type->name + sizeof local - 1;
    size_t n = strlen(type->name);
    if (type->objects == 0 || !gcd_text_begins(type->name, local))
        return PART_OTHER;
    if (!gcd_text_begins(rest, "+LinkedSlot"))
        return *rest != '+' ? PART_LOCAL : PART_OTHER;
    return strcmp(type->name + n - 2, "[]") == 0 ? PART_TABLE : PART_SLOT;
}

struct tables {
    const struct gcd_graph *g;
    uint8_t *part;  /* [types] */
    uint64_t *held; /* one bit per node: a slot that a ThreadLocal leads to */
};

static uint8_t part_at(const struct tables *t, uint32_t node)
{
    return t->part[gcd_graph_node_type(t->g, node)];
}

/* Marks the slots in the list that begins behind NODE, each of which has neighbours. */
static void hold(const struct tables *t, uint32_t node)
{
    uint32_t next = node;
    while (next != GCD_NODE_NONE) {
        size_t n;
        const uint32_t *edges = gcd_graph_node_edges(t->g, next, &n);
        next = GCD_NODE_NONE;
        for (size_t i = 0; i < n; i++)
            if (part_at(t, edges[i]) == PART_SLOT && !bits_get(t->held, edges[i])) {
                bits_set(t->held, edges[i]);
                next = edges[i];
            }
    }
}

static bool all_held(const struct tables *t, uint32_t table)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(t->g, table, &n);
    for (size_t i = 0; i < n; i++)
        if (!bits_get(t->held, edges[i]))
            return false;
    return true;
}

static void mark_tables(struct live_edges *f, const struct tables *t)
{
    uint32_t nodes = gcd_graph_node_count(f->g);
    for (uint32_t node = 0; node < nodes; node++)
        if (part_at(t, node) == PART_LOCAL)
            hold(t, node);
    for (uint32_t node = 0; node < nodes; node++)
        if (part_at(t, node) == PART_TABLE && all_held(t, node))
            bits_set(f->is_table, node);
}

static bool init_tables(struct live_edges *f)
{
    const struct gcd_summary *s = gcd_graph_summary(f->g);
    size_t words = ((size_t)gcd_graph_node_count(f->g) + 63) / 64;
    struct tables t = { .g = f->g };
    bool any = false, ok;
    for (uint32_t i = 0; i < s->type_count && !any; i++)
        any = part_of(&s->types[i]) == PART_TABLE;
    if (!any)
        return true;
    f->table_words = words;
    f->is_table = gcd_mem_new_array(&f->alloc, words, sizeof *f->is_table);
    t.part = gcd_mem_new(&f->alloc, s->type_count);
    t.held = gcd_mem_new_array(&f->alloc, words, sizeof *t.held);
    ok = f->is_table != NULL && t.part != NULL && t.held != NULL;
    for (uint32_t i = 0; i < s->type_count && ok; i++)
        t.part[i] = (uint8_t)part_of(&s->types[i]);
    if (ok)
        mark_tables(f, &t);
    gcd_mem_free(&f->alloc, t.part, s->type_count);
    gcd_mem_free(&f->alloc, t.held, words * sizeof *t.held);
    return ok;
}

/* ---- no roots ---- */

static bool has_strong_root(const struct gcd_graph *g)
{
    const struct gcd_summary *summary = gcd_graph_summary(g);
    for (size_t i = 0; i < summary->root_count; i++)
        if (gcd_root_group(&summary->roots[i]) != GCD_GROUP_WEAK)
            return true;
    return false;
}

struct search {
    struct live_edges *f;
    uint32_t nodes;
    size_t words;
    uint64_t *seen;  /* one bit per node: first "another object refers to it", then "reached" */
    uint32_t *stack; /* [nodes] */
};

static bool pseudo_root(struct search *s, uint32_t node)
{
    struct live_edges *f = s->f;
    if (!gcd_vec_reserve(&f->alloc, &f->pseudo_roots, &f->pseudo_root_room,
                         f->pseudo_root_count + 1, sizeof *f->pseudo_roots, SIZE_MAX))
        return false;
    f->pseudo_roots[f->pseudo_root_count++] = node;
    return true;
}

static void reach(struct search *s, uint32_t from)
{
    size_t depth = 0;
    bits_set(s->seen, from);
    s->stack[depth++] = from;
    while (depth > 0) {
        uint32_t node = s->stack[--depth], to;
        for (uint64_t i = 0; (to = live_edges_at(s->f, node, i)) != GCD_NODE_NONE; i++)
            if (!bits_get(s->seen, to)) {
                bits_set(s->seen, to);
                s->stack[depth++] = to;
            }
    }
}

static bool find_pseudo_roots(struct search *s)
{
    uint32_t to;
    for (uint32_t node = 0; node < s->nodes; node++)
        for (uint64_t i = 0; (to = live_edges_at(s->f, node, i)) != GCD_NODE_NONE; i++)
            if (to != node)
                bits_set(s->seen, to);
    for (uint32_t node = 0; node < s->nodes; node++)
        if (!bits_get(s->seen, node) && !pseudo_root(s, node))
            return false;
    memset(s->seen, 0, s->words * sizeof *s->seen);
    for (size_t i = 0; i < s->f->pseudo_root_count; i++)
        reach(s, s->f->pseudo_roots[i]);
    for (uint32_t node = 0; node < s->nodes; node++)
        if (!bits_get(s->seen, node)) {
            if (!pseudo_root(s, node))
                return false;
            reach(s, node);
        }
    return true;
}

static bool init_pseudo_roots(struct live_edges *f)
{
    struct search s = { .f = f, .nodes = gcd_graph_node_count(f->g) };
    if (s.nodes == 0 || has_strong_root(f->g))
        return true;
    s.words = ((size_t)s.nodes + 63) / 64;
    s.seen = gcd_mem_new_array(&f->alloc, s.words, sizeof *s.seen);
    s.stack = gcd_mem_new_uncleared(&f->alloc, s.nodes, sizeof *s.stack);
    bool ok = s.seen != NULL && s.stack != NULL && find_pseudo_roots(&s);
    gcd_mem_free(&f->alloc, s.seen, s.words * sizeof *s.seen);
    gcd_mem_free(&f->alloc, s.stack, s.nodes * sizeof *s.stack);
    return ok;
}

bool live_edges_init_all(struct live_edges *f, const struct gcd_graph *g,
                         const struct gcd_alloc *alloc)
{
    *f = (struct live_edges){ .alloc = *alloc, .g = g };
    return init_keys(f) && init_tables(f) && init_pseudo_roots(f);
}

bool live_edges_init(struct live_edges *f, const struct gcd_graph *g, const struct gcd_alloc *alloc)
{
    return live_edges_init_all(f, g, alloc) && callbacks_of(g, &f->callbacks);
}

void live_edges_done(struct live_edges *f)
{
    gcd_mem_free(&f->alloc, f->is_key, f->words * sizeof *f->is_key);
    gcd_mem_free(&f->alloc, f->pseudo_roots, f->pseudo_root_room * sizeof *f->pseudo_roots);
    gcd_mem_free(&f->alloc, f->is_table, f->table_words * sizeof *f->is_table);
    gcd_mem_free(&f->alloc, f->covered, f->covered_words * sizeof *f->covered);
    f->is_key = f->is_table = f->covered = NULL;
    f->pseudo_roots = NULL;
}

size_t live_edges_first_dependent(const struct live_edges *f, uint32_t node)
{
    size_t low = 0, high = gcd_graph_dependent_count(f->g);
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (gcd_graph_dependent(f->g, mid)->key < node)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* ---- covered roots ---- */

/* A local variable whose object no root of an early group leads to. */
struct local {
    uint64_t node; /* the first: gcd_sort_by_u64 */
    uint64_t root;
};

struct cover {
    struct live_edges *f;
    uint64_t *seen;       /* one bit per node, as the next two */
    uint64_t *is_local;   /* ... of LOCALS */
    uint64_t *is_held;    /* another object refers to it, which no early root leads to */
    struct local *locals; /* [count] by node */
    size_t count, open;   /* locals that are held, and not covered so far */
    uint32_t *stack;
    size_t depth, room;
};

static size_t take_locals(struct cover *c, const uint64_t *reached)
{
    const struct gcd_summary *s = gcd_graph_summary(c->f->g);
    size_t n = 0;
    for (size_t i = 0; i < s->root_count; i++) {
        const struct gcd_root *r = &s->roots[i];
        if (gcd_root_group(r) != GCD_GROUP_LOCALS || r->node == GCD_NODE_NONE ||
            bits_get(reached, r->node))
            continue;
        if (c->locals != NULL)
            c->locals[n] = (struct local){ r->node, i };
        n++;
    }
    return n;
}

/* In the order of memory: that is much faster than to follow the references. */
static void find_held(struct cover *c, const uint64_t *reached)
{
    uint32_t nodes = gcd_graph_node_count(c->f->g), to;
    for (size_t i = 0; i < c->count; i++)
        bits_set(c->is_local, (uint32_t)c->locals[i].node);
    for (uint32_t node = 0; node < nodes; node++) {
        size_t n;
        if (bits_get(reached, node))
            continue;
        const uint32_t *edges = live_edges_of(c->f, node, &n);
        for (size_t i = 0; i < n; i++)
            if (bits_get(c->is_local, edges[i]) && edges[i] != node)
                bits_set(c->is_held, edges[i]);
        for (uint64_t i = 0; (to = live_edges_value(c->f, node, i)) != GCD_NODE_NONE; i++)
            if (bits_get(c->is_local, to) && to != node)
                bits_set(c->is_held, to);
    }
    for (size_t i = 0; i < c->count; i++)
        c->open += bits_get(c->is_held, (uint32_t)c->locals[i].node);
}

static void cover(struct cover *c, uint32_t node)
{
    size_t i = gcd_count_up_to(c->locals, c->count, sizeof *c->locals, node);
    for (; i > 0 && c->locals[i - 1].node == node; i--) {
        uint64_t root = c->locals[i - 1].root, bit = UINT64_C(1) << root % 64;
        c->open -= (c->f->covered[root / 64] & bit) == 0;
        c->f->covered[root / 64] |= bit;
    }
}

static bool push(struct cover *c, uint32_t node)
{
    bits_set(c->seen, node);
    if (!gcd_vec_reserve(&c->f->alloc, &c->stack, &c->room, c->depth + 1, sizeof *c->stack,
                         SIZE_MAX))
        return false;
    c->stack[c->depth++] = node;
    return true;
}

/* What SOURCE leads to does not include it, so no cycle loses its last root. */
static bool cover_from(struct cover *c, uint32_t source)
{
    if (!push(c, source))
        return false;
    while (c->depth > 0 && c->open > 0) {
        uint32_t node = c->stack[--c->depth], to;
        for (uint64_t i = 0; (to = live_edges_at(c->f, node, i)) != GCD_NODE_NONE; i++) {
            if (to != source && bits_get(c->is_held, to))
                cover(c, to);
            if (!bits_get(c->seen, to) && !push(c, to))
                return false;
        }
    }
    return true;
}

/* First from those that nothing refers to, then from the others, which are in cycles; until all
 * that are held are covered. */
static bool cover_all(struct cover *c, const uint64_t *reached, size_t words)
{
    memcpy(c->seen, reached, words * sizeof *reached);
    (void)take_locals(c, reached);
    if (!gcd_sort_by_u64(&c->f->alloc, c->locals, c->count, sizeof *c->locals))
        return false;
    find_held(c, reached);
    for (unsigned held = 0; held < 2; held++)
        for (size_t i = 0; i < c->count && c->open > 0; i++) {
            uint32_t node = (uint32_t)c->locals[i].node;
            bool again = i > 0 && c->locals[i - 1].node == node; /* on two stacks */
            if (bits_get(c->is_held, node) != (held != 0) || again)
                continue;
            if (bits_get(c->seen, node))
                cover(c, node);
            else if (!cover_from(c, node))
                return false;
        }
    return true;
}

bool live_edges_may_cover(const struct live_edges *f)
{
    const struct gcd_summary *s = gcd_graph_summary(f->g);
    size_t n = 0;
    for (size_t i = 0; i < s->root_count && n < 2 && f->pseudo_roots == NULL; i++)
        n += gcd_root_group(&s->roots[i]) == GCD_GROUP_LOCALS;
    return n >= 2;
}

bool live_edges_cover(struct live_edges *f, const uint64_t *reached)
{
    struct cover c = { .f = f };
    size_t words = ((size_t)gcd_graph_node_count(f->g) + 63) / 64;
    if (!live_edges_may_cover(f))
        return true;
    c.count = take_locals(&c, reached);
    if (c.count < 2)
        return true;
    f->covered_words = (gcd_graph_summary(f->g)->root_count + 63) / 64;
    f->covered = gcd_mem_new_array(&f->alloc, f->covered_words, sizeof *f->covered);
    c.locals = gcd_mem_new_array(&f->alloc, c.count, sizeof *c.locals);
    c.seen = gcd_mem_new_uncleared(&f->alloc, words, sizeof *c.seen);
    c.is_local = gcd_mem_new_array(&f->alloc, words, sizeof *c.is_local);
    c.is_held = gcd_mem_new_array(&f->alloc, words, sizeof *c.is_held);
    bool ok = f->covered != NULL && c.locals != NULL && c.seen != NULL && c.is_local != NULL &&
              c.is_held != NULL && cover_all(&c, reached, words);
    gcd_mem_free(&f->alloc, c.locals, c.count * sizeof *c.locals);
    gcd_mem_free(&f->alloc, c.seen, words * sizeof *c.seen);
    gcd_mem_free(&f->alloc, c.is_local, words * sizeof *c.is_local);
    gcd_mem_free(&f->alloc, c.is_held, words * sizeof *c.is_held);
    gcd_mem_free(&f->alloc, c.stack, c.room * sizeof *c.stack);
    return ok;
}
