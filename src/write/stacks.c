#include "write/stacks.h"

#include <string.h>

#include <gcdumpc/names.h>

#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/sort.h"
#include "write/write.h"

/* Frames: the root groups, these three, names of static variables, types. */
#define FRAME_SEVERAL ((uint32_t)GCD_GROUPS)     /* held by several roots together, by none of them alone */
#define FRAME_UNREACHABLE (FRAME_SEVERAL + 1)
#define FRAME_CUT (FRAME_SEVERAL + 2)
#define FRAME_STATIC (FRAME_SEVERAL + 3)

static const char *const fixed[] = { "[several roots]", "[not reachable from roots]", "..." };

/* So many nodes are looked up together, and wait for memory together. */
#define TOGETHER 64u

struct waiting {
    uint32_t node, parent, frame;
    uint64_t size;
};

/* What is needed while they are made. */
struct maker {
    struct stacks *s;
    struct gcd_idmap child;      /* stack << 32 | frame -> stack */
    struct gcd_idmap root;       /* node -> the first root that keeps it alive */
    uint64_t *is_parent;         /* a bit a node */
    size_t words;
    bool no_roots;               /* objects serve as pseudo-roots */
    const struct gcd_dominators *dominators;     /* one of both */
    const struct gcd_paths *paths;
    uint32_t top[FRAME_STATIC];  /* stacks of the first frames, STACKS_NONE = not there yet */
    struct waiting waiting[TOGETHER];
    size_t count;
};

const char *stacks_frame(const struct stacks *s, uint32_t frame, const char **ret_module)
{
    *ret_module = "";
    if (frame < FRAME_SEVERAL)
        return gcd_root_group_label((enum gcd_root_group)frame)->frame;
    if (frame < FRAME_STATIC)
        return fixed[frame - FRAME_SEVERAL];
    uint32_t type = stacks_frame_type(s, frame);
    if (type == STACKS_NONE)
        return gcd_graph_root(s->g, s->static_name[frame - FRAME_STATIC])->name;
    *ret_module = gcd_graph_type(s->g, type)->module_path;
    return write_type_name(s->options, s->g, type);
}

uint32_t stacks_frame_type(const struct stacks *s, uint32_t frame)
{
    return frame >= FRAME_STATIC + s->static_names ? frame - FRAME_STATIC - (uint32_t)s->static_names : STACKS_NONE;
}

bool stacks_is_static(const struct stacks *s, uint32_t frame)
{
    return frame >= FRAME_STATIC && frame < FRAME_STATIC + s->static_names;
}

bool stacks_is_cut(uint32_t frame)
{
    return frame == FRAME_CUT;
}

uint32_t stacks_type_frame(const struct stacks *s, uint32_t type)
{
    return (uint32_t)(FRAME_STATIC + s->static_names) + type;
}

/* ---- names of static variables ---- */

static int compare_names(const void *ctx, uint32_t a, uint32_t b)
{
    return strcmp(gcd_graph_root(ctx, a)->name, gcd_graph_root(ctx, b)->name);
}

static gcd_status name_statics(struct stacks *s, struct gcd_error *err)
{
    size_t n = 0, roots = gcd_graph_root_count(s->g);
    for (size_t i = 0; i < roots; i++)
        n += gcd_graph_root(s->g, i)->kind == GCD_ROOT_STATIC;
    if (n > UINT32_MAX / 2)
        return gcd_fail(err, GCD_E_LIMIT, "%zu static variables are more than a profile can take", n);
    s->static_name = gcd_mem_new_array(&s->alloc, n, sizeof *s->static_name);
    if (s->static_name == NULL)
        return gcd_fail_nomem(err, "sorting static variables");
    s->static_room = n;
    n = 0;
    for (size_t i = 0; i < roots; i++)
        if (gcd_graph_root(s->g, i)->kind == GCD_ROOT_STATIC)
            s->static_name[n++] = (uint32_t)i;
    if (!gcd_sort_numbers(&s->alloc, s->static_name, n, compare_names, s->g))
        return gcd_fail_nomem(err, "sorting static variables");
    for (size_t i = 0; i < n; i++)
        if (s->static_names == 0 || compare_names(s->g, s->static_name[s->static_names - 1], s->static_name[i]) != 0)
            s->static_name[s->static_names++] = s->static_name[i];
    return GCD_OK;
}

static uint32_t static_frame(const struct stacks *s, size_t root)
{
    const char *name = gcd_graph_root(s->g, root)->name;
    size_t low = 0, high = s->static_names;
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (strcmp(gcd_graph_root(s->g, s->static_name[mid])->name, name) <= 0)
            low = mid;
        else
            high = mid;
    }
    return (uint32_t)(FRAME_STATIC + low);
}

/* ---- stacks ---- */

static gcd_status new_stack(struct stacks *s, uint32_t caller, uint32_t frame, uint32_t *ret, struct gcd_error *err)
{
    if (!gcd_vec_reserve(&s->alloc, &s->items, &s->cap, s->count + 1, sizeof *s->items, STACKS_NONE))
        return gcd_fail_nomem(err, "stacking objects");
    uint32_t depth = caller == STACKS_NONE ? 0 : s->items[caller].depth + (stacks_frame_type(s, frame) != STACKS_NONE);
    s->items[s->count] = (struct stack){ .caller = caller, .frame = frame, .depth = depth, .cut = STACKS_NONE };
    *ret = (uint32_t)s->count++;
    return GCD_OK;
}

static uint64_t child_key(uint32_t caller, uint32_t frame)
{
    return (uint64_t)caller << 32 | frame;
}

static gcd_status cut(struct maker *m, uint32_t caller, uint32_t *ret, struct gcd_error *err)
{
    *ret = m->s->items[caller].cut;
    if (*ret != STACKS_NONE)
        return GCD_OK;
    GCD_TRY(new_stack(m->s, caller, FRAME_CUT, ret, err));
    m->s->items[caller].cut = *ret;
    return GCD_OK;
}

/* The stack of CALLER with FRAME behind it, or with "..." when there shall be no new ones: so at most twice max. */
static gcd_status call(struct maker *m, uint32_t caller, uint32_t frame, uint32_t *ret, struct gcd_error *err)
{
    uint64_t key = child_key(caller, frame);
    *ret = gcd_idmap_get(&m->child, key);
    if (*ret != GCD_IDMAP_NONE)
        return GCD_OK;
    if (m->s->count >= m->s->max)
        return cut(m, caller, ret, err);
    GCD_TRY(new_stack(m->s, caller, frame, ret, err));
    return gcd_idmap_put(&m->child, key, *ret) ? GCD_OK : gcd_fail_nomem(err, "stacking objects");
}

static gcd_status first_frame(struct maker *m, uint32_t frame, uint32_t *ret, struct gcd_error *err)
{
    if (m->top[frame] == STACKS_NONE)
        GCD_TRY(new_stack(m->s, STACKS_NONE, frame, &m->top[frame], err));
    *ret = m->top[frame];
    return GCD_OK;
}

/* Where the path of a node begins that no other node holds. */
static gcd_status begin(struct maker *m, uint32_t node, uint32_t *ret, struct gcd_error *err)
{
    uint32_t root = gcd_idmap_get(&m->root, node);
    if (root == GCD_IDMAP_NONE)
        return first_frame(m, m->no_roots ? FRAME_UNREACHABLE : FRAME_SEVERAL, ret, err);
    const struct gcd_graph_root *r = gcd_graph_root(m->s->g, root);
    GCD_TRY(first_frame(m, (uint32_t)gcd_graph_root_group(r), ret, err));
    return r->kind == GCD_ROOT_STATIC && r->name[0] != '\0' ? call(m, *ret, static_frame(m->s, root), ret, err) : GCD_OK;
}

static uint32_t parent_of(const struct maker *m, uint32_t node)
{
    return m->dominators != NULL ? gcd_dominators_parent(m->dominators, node) : gcd_paths_parent(m->paths, node);
}

static gcd_status place(struct maker *m, const struct waiting *x, struct gcd_error *err)
{
    struct stacks *s = m->s;
    uint32_t at;
    if (x->parent == GCD_NODE_ROOT)
        GCD_TRY(begin(m, x->node, &at, err));
    else if (x->parent == GCD_NODE_NONE)
        GCD_TRY(first_frame(m, FRAME_UNREACHABLE, &at, err));
    else
        at = s->place[x->parent];
    if (s->items[at].frame != x->frame && s->items[at].frame != FRAME_CUT)
        GCD_TRY(s->items[at].depth < STACKS_DEPTH ? call(m, at, x->frame, &at, err) : cut(m, at, &at, err));
    struct stack *stack = &s->items[at];
    s->place[x->node] = at;
    s->merged += stack->frame == FRAME_CUT;
    stack->objects++;
    stack->bytes = stack->bytes <= UINT64_MAX - x->size ? stack->bytes + x->size : UINT64_MAX;
    return GCD_OK;
}

static gcd_status place_waiting(struct maker *m, struct gcd_error *err)
{
    struct stacks *s = m->s;
    for (size_t i = 0; i < m->count; i++) {
        struct waiting *x = &m->waiting[i];
        x->parent = parent_of(m, x->node);
        x->frame = stacks_type_frame(s, gcd_graph_node_type(s->g, x->node));
        x->size = gcd_graph_node_size(s->g, x->node);
        __builtin_prefetch(&s->place[x->parent < GCD_NODE_ROOT ? x->parent : x->node]);
    }
    for (size_t i = 0; i < m->count; i++) {
        const struct waiting *x = &m->waiting[i];
        uint32_t caller = x->parent < GCD_NODE_ROOT ? s->place[x->parent] : STACKS_NONE;
        if (caller == STACKS_NONE)       /* or placed just now, and so at hand */
            continue;
        __builtin_prefetch(&s->items[caller]);
        gcd_idmap_fetch(&m->child, child_key(caller, x->frame));
    }
    for (size_t i = 0; i < m->count; i++)
        GCD_TRY(place(m, &m->waiting[i], err));
    m->count = 0;
    return GCD_OK;
}

/* When it is WANTED: without a branch, which would be as hard to foretell as the heap is. */
static gcd_status place_later(struct maker *m, uint32_t node, bool wanted, struct gcd_error *err)
{
    m->waiting[m->count].node = node;
    m->count += wanted;
    return m->count == TOGETHER ? place_waiting(m, err) : GCD_OK;
}

static bool is_parent(const struct maker *m, uint32_t node)
{
    return (m->is_parent[node >> 6] >> (node & 63) & 1) != 0;
}

static gcd_status check(const struct maker *m, uint64_t done, struct gcd_error *err)
{
    return write_check(m->s->options, NULL, 2 * (uint64_t)m->s->nodes + done, 4 * (uint64_t)m->s->nodes, err);
}

/*
 * The order of the analysis, parents first, jumps about in the heap, and nearly all of the time is waiting for memory.  So only the nodes that
 * are parents, a third of a heap, are met in this order; the others follow in that of the heap.
 */
static gcd_status place_parents(struct maker *m, const uint32_t *order, uint32_t reachable, struct gcd_error *err)
{
    for (uint32_t i = 0; i < reachable; i++) {
        if (i % WRITE_CHECK_EVERY == 0)
            GCD_TRY(check(m, i, err));
        GCD_TRY(place_later(m, order[i], is_parent(m, order[i]), err));
    }
    return place_waiting(m, err);
}

static gcd_status place_others(struct maker *m, struct gcd_error *err)
{
    for (uint32_t node = 0; node < m->s->nodes; node++) {
        if (node % WRITE_CHECK_EVERY == 0)
            GCD_TRY(check(m, (uint64_t)m->s->nodes + node, err));
        GCD_TRY(place_later(m, node, !is_parent(m, node), err));
    }
    return place_waiting(m, err);
}

static gcd_status place_all(struct maker *m, struct gcd_error *err)
{
    const struct gcd_dominators *d = m->dominators;
    for (uint32_t node = 0; node < m->s->nodes; node++) {
        uint32_t parent = parent_of(m, node);
        if (parent < GCD_NODE_ROOT)
            m->is_parent[parent >> 6] |= UINT64_C(1) << (parent & 63);
    }
    GCD_TRY(place_parents(m, d != NULL ? gcd_dominators_order(d) : gcd_paths_order(m->paths),
                          d != NULL ? gcd_dominators_reachable(d) : gcd_paths_reachable(m->paths), err));
    return place_others(m, err);
}

static gcd_status make(struct maker *m, struct gcd_error *err)
{
    struct stacks *s = m->s;
    size_t roots = gcd_graph_root_count(s->g);
    if (roots >= GCD_IDMAP_NONE)
        return gcd_fail(err, GCD_E_LIMIT, "%zu roots are more than a profile can take", roots);
    GCD_TRY(name_statics(s, err));
    if (FRAME_STATIC + s->static_names + gcd_graph_type_count(s->g) >= STACKS_NONE)
        return gcd_fail(err, GCD_E_LIMIT, "static variables and types are more than a profile can take");
    s->frames = stacks_type_frame(s, gcd_graph_type_count(s->g));
    for (size_t i = roots; i-- > 0;)     /* backwards: the first root of a node stays */
        if (gcd_graph_root_group(gcd_graph_root(s->g, i)) != GCD_GROUP_WEAK)
            if (!gcd_idmap_put(&m->root, gcd_graph_root(s->g, i)->node, (uint32_t)i))
                return gcd_fail_nomem(err, "sorting roots");
    m->no_roots = m->root.used == 0;
    s->place = gcd_mem_new_uncleared(&s->alloc, s->nodes, sizeof *s->place);
    m->words = ((size_t)s->nodes + 63) / 64;
    m->is_parent = gcd_mem_new_array(&s->alloc, m->words, sizeof *m->is_parent);
    if (s->place == NULL || m->is_parent == NULL)
        return gcd_fail_nomem(err, "stacking objects");
    memset(s->place, 0xff, s->nodes * sizeof *s->place);     /* STACKS_NONE */
    return place_all(m, err);
}

gcd_status stacks_along(struct stacks *s, const struct gcd_graph *g, const struct gcd_write_options *options,
                        const struct gcd_dominators *d, const struct gcd_paths *p, uint32_t max, struct gcd_error *err)
{
    *s = (struct stacks){ .alloc = gcd_alloc_or_default(options->alloc), .g = g, .options = options, .max = max,
                          .nodes = gcd_graph_node_count(g) };
    struct maker m = { .s = s, .dominators = d, .paths = p };
    memset(m.top, 0xff, sizeof m.top);   /* STACKS_NONE */
    gcd_idmap_init(&m.child, &s->alloc);
    gcd_idmap_init(&m.root, &s->alloc);
    gcd_status st = make(&m, err);
    gcd_mem_free(&s->alloc, m.is_parent, m.words * sizeof *m.is_parent);
    gcd_idmap_done(&m.child);
    gcd_idmap_done(&m.root);
    return st;
}

/* The analysis is the first half of the work, whatever steps it counts in. */
static void first_half(void *ctx, uint64_t done, uint64_t total)
{
    const struct stacks *s = ctx;
    if (total > 0)
        s->options->progress(s->options->progress_ctx, (uint64_t)((double)done / (double)total * (double)s->nodes), 2 * (uint64_t)s->nodes);
}

gcd_status stacks_make(struct stacks *s, const struct gcd_graph *g, const struct gcd_write_options *options, struct gcd_error *err)
{
    *s = (struct stacks){ .alloc = gcd_alloc_or_default(options->alloc), .g = g, .options = options, .nodes = gcd_graph_node_count(g) };
    gcd_progress_fn progress = options->progress != NULL ? first_half : NULL;
    struct gcd_dominators *d = NULL;
    struct gcd_paths *p = NULL;
    gcd_status st;
    struct gcd_paths_options paths = { .alloc = &s->alloc, .cancel = options->cancel, .threads = options->threads, .progress = progress,
                                       .progress_ctx = s };
    struct gcd_dominators_options dominators = { .alloc = &s->alloc, .cancel = options->cancel, .threads = options->threads, .progress = progress,
                                                 .progress_ctx = s };
    if (options->stack_by == GCD_STACK_BY_PATHS)
        st = gcd_paths_new(g, &paths, &p, err);
    else
        st = gcd_dominators_new(g, &dominators, &d, err);
    if (st == GCD_OK)
        st = stacks_along(s, g, options, d, p, STACKS_MAX, err);
    stacks_drop_places(s);
    gcd_dominators_free(d);
    gcd_paths_free(p);
    return st;
}

void stacks_drop_places(struct stacks *s)
{
    gcd_mem_free(&s->alloc, s->place, s->nodes * sizeof *s->place);
    s->place = NULL;
}

void stacks_done(struct stacks *s)
{
    stacks_drop_places(s);
    gcd_mem_free(&s->alloc, s->items, s->cap * sizeof *s->items);
    gcd_mem_free(&s->alloc, s->static_name, s->static_room * sizeof *s->static_name);
}

void stacks_note(const struct stacks *s, struct gcd_write_notes *notes)
{
    notes->objects = gcd_graph_node_count(s->g);
    notes->roots = gcd_graph_root_count(s->g);
    for (uint32_t i = 0; i < gcd_graph_type_count(s->g); i++)
        notes->types += gcd_graph_type(s->g, i)->objects > 0;
    write_note_loss(notes, s->merged, "objects lie too deep, or have one path too many, and are counted in frames \"...\"");
}
