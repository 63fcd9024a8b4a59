#include "gh_walk.h"

#include <string.h>

#include "gh_bytes.h"

/* The runtime gives each buffer 63 KiB - 0x100 of records. */
#define RECORDS_BYTES (63u * 1024 - 0x100)
#define TYPES_MAX     31u
#define STATICS_BYTES 64464u
#define STATICS_SPARE 512u

static void bulk_reset(struct gh_bulk *b)
{
    b->count = 0;
    b->at = b->payload + b->header_bytes;
}

static void bulk_init(struct gh_bulk *b, enum gh_meta meta, enum gh_kind kind,
                      uint32_t record_bytes)
{
    b->meta = meta;
    b->kind = kind;
    b->header_bytes = 10;
    b->record_bytes = record_bytes;
    b->max_records = record_bytes ? RECORDS_BYTES / record_bytes : UINT32_MAX;
    b->index = 0;
    bulk_reset(b);
}

static bool bulk_send(struct gh_walk *w, struct gh_bulk *b)
{
    struct gh_emit how = { .kind = b->kind, .n_items = b->count };

    return gh_pipe_event(w->pipe, w->thread, b->meta, how, b->payload,
                         (size_t)(b->at - b->payload));
}

/* Index, Count, ClrInstanceID: 16, 17, 18, 19.  The index also counts lost events. */
static void bulk_flush(struct gh_walk *w, struct gh_bulk *b)
{
    if (b->count == 0)
        return;
    gh_put_u16(gh_put_u32(gh_put_u32(b->payload, b->index++), b->count), 0);
    bulk_send(w, b);
    bulk_reset(b);
    if (w->between)
        w->between(w->between_ctx);
}

static inline void put_node(struct gh_walk *w, uint64_t addr, uint64_t size, uint64_t type_id,
                            uint64_t n_edges)
{
    struct gh_bulk *b = &w->node;
    uint8_t *p = gh_put_ptr(b->at, addr, w->m->ptr_bytes);

    p = gh_put_u64(p, size);
    p = gh_put_u64(p, type_id);
    b->at = gh_put_u64(p, n_edges);
    if (++b->count == b->max_records)
        bulk_flush(w, b);
}

static inline void put_edge(struct gh_walk *w, uint64_t addr)
{
    struct gh_bulk *b = &w->edge;

    b->at = gh_put_u32(gh_put_ptr(b->at, addr, w->m->ptr_bytes), 0);
    if (++b->count == b->max_records)
        bulk_flush(w, b);
}

/* ---- types
 * -----------------------------------------------------------------------------------------------
 */

static void flush_types(struct gh_walk *w)
{
    struct gh_bulk *b = &w->type;
    uint32_t i;

    if (b->count == 0)
        return;
    gh_put_u16(gh_put_u32(b->payload, b->count), 0);
    if (bulk_send(w, b))
        for (i = 0; i < b->count; i++)
            w->described[w->type_batch[i]] = true;
    bulk_reset(b);
}

static void put_type(struct gh_walk *w, uint32_t type)
{
    const struct gh_types *ty = w->m->types;
    const struct gh_type *t = &ty->t[type];
    struct gh_bulk *b = &w->type;
    uint8_t *p = b->at;
    unsigned i;

    w->type_batch[b->count] = (uint16_t)type;
    p = gh_put_u64(p, t->id);
    p = gh_put_u64(p, ty->modules[t->module].id);
    p = gh_put_u32(p, t->token);
    /* bits 0-7 and the rank of a multi-dimensional array */
    p = gh_put_u32(p, t->flags);
    p = gh_put_u8(p, t->element);
    p = gh_put_utf16z(p, w->o->empty_names ? "" : t->name);
    p = gh_put_u32(p, t->n_params);
    for (i = 0; i < t->n_params; i++)
        p = gh_put_u64(p, ty->t[t->params[i]].id);
    b->at = p;
    if (++b->count == TYPES_MAX)
        flush_types(w);
}

/* Sends a type when it first appears, then its parameters. */
static void need_type(struct gh_walk *w, uint32_t type)
{
    const struct gh_type *t = &w->m->types->t[type];
    unsigned i;

    if (w->seen[type])
        return;
    w->seen[type] = true;
    if (w->o->late_types)
        w->held[w->n_held++] = type;
    else
        put_type(w, type);
    for (i = 0; i < t->n_params; i++)
        need_type(w, t->params[i]);
}

/* ---- statics, roots, dependent handles
 * ------------------------------------------------------------------- */

static uint64_t table_base(const struct gh_walk *w, unsigned which)
{
    if (w->m->ptr_bytes == 8)
        return UINT64_C(0x7FC080000000) + which * UINT64_C(0x8000000);
    return 0xF2000000u + which * 0x400000u;
}

static void flush_statics(struct gh_walk *w)
{
    struct gh_bulk *b = &w->statics;

    if (b->count == 0)
        return;
    gh_put_u16(gh_put_u64(gh_put_u32(b->payload, b->count), table_base(w, 0) + 0x100), 0);
    bulk_send(w, b);
    bulk_reset(b);
}

static void walk_statics(struct gh_walk *w, uint64_t n)
{
    static const char *const words[] = {
        "s_cache", "Empty",  "s_instance", "Default", "<Current>k__BackingField",
        "s_lock",  "_table", "s_comparer",
    };
    struct gh_bulk *b = &w->statics;
    uint64_t i;

    for (i = 0; i < n; i++) {
        uint64_t h = gh_hash2(w->m->seed ^ 0x57A7, i);
        struct gh_object obj;
        char name[64];
        unsigned len = 0, d;
        const char *word = words[h & 7];
        uint64_t number = i / 8, target = i == 0 ? gh_model_main(w->m) : gh_below(h, w->m->n);

        gh_model_object(w->m, target, &obj);
        if (w->holds)
            gh_holds_root(w->holds, target);
        while (word[len]) {
            name[len] = word[len];
            len++;
        }
        for (d = 0; d < 10 && number; d++, number /= 10)
            name[len++] = (char)('0' + number % 10);
        name[len] = '\0';
        need_type(w, obj.type);
        b->at = gh_put_u64(b->at, table_base(w, 1) + i * 8);
        b->at = gh_put_u64(b->at, obj.addr);
        b->at = gh_put_u64(b->at, w->m->types->t[obj.type].id);
        b->at = gh_put_u32(b->at, 0);
        b->at = gh_put_utf16z(b->at, name);
        b->count++;
        w->totals.statics++;
        if (b->at > b->payload + STATICS_BYTES - STATICS_SPARE)
            flush_statics(w);
    }
    flush_statics(w);
    flush_types(w);
}

#define NO_OBJECT UINT64_MAX

enum { PINNED = 1, WEAK = 2, INTERIOR = 4, REFCOUNTED = 8 };

/* TARGET: index of an object, or NO_OBJECT for address 0. */
static void put_root(struct gh_walk *w, uint64_t target, unsigned kind, unsigned flags, uint64_t id)
{
    struct gh_bulk *b = &w->root;
    struct gh_totals *s = &w->totals;
    uint64_t addr = target != NO_OBJECT ? gh_model_addr(w->m, target) : 0;
    uint8_t *p = gh_put_ptr(b->at, addr, w->m->ptr_bytes);

    if (!gh_model_connected(w->m) && (kind < 2 || flags & REFCOUNTED)) {
        kind = 2; /* what late roots hold would depend on what others reach */
        flags &= ~(unsigned)REFCOUNTED;
    }
    /* stacks, the finalizer queue and ref-counted handles hold only what nothing else reaches: the
     * first handle reaches all */
    if (w->holds && addr && kind > 1 && !(flags & (WEAK | REFCOUNTED)))
        gh_holds_root(w->holds, target);

    p = gh_put_u32(gh_put_u8(p, kind), flags);
    b->at = gh_put_ptr(p, id, w->m->ptr_bytes);
    s->roots++;
    s->roots_by_kind[kind]++;
    s->roots_weak += (flags & WEAK) != 0;
    s->roots_pinned += (flags & PINNED) != 0;
    s->roots_null += addr == 0;
    if (++b->count == b->max_records)
        bulk_flush(w, b);
}

/*
 * 45 % stack, 5 % finalizer queue, 2 % other, the rest handles in the order of their types.  The
 * first handle holds the main object, the next ones hold the frozen objects, so with enough roots
 * everything is reachable.
 */
static void walk_roots(struct gh_walk *w, uint64_t n)
{
    static const unsigned stack_flags[8] = { 0,      0,        0,        0,
                                             PINNED, INTERIOR, INTERIOR, PINNED | INTERIOR };
    const struct gh_model *m = w->m;
    uint64_t n_stack = n * 45 / 100, n_fin = n / 20, n_handles = n - n_stack - n_fin - n / 50;
    uint64_t held = 1 + m->n_frozen, i;

    if (n_handles < held && n >= held) { /* the handles that hold the heap come first */
        n_handles = held;
        n_stack = n - held;
        n_fin = 0;
    }
    for (i = 0; i < n; i++) {
        uint64_t h = gh_hash2(m->seed ^ 0x2007, i), k = i, target = gh_below(h, m->n);

        if (k < n_stack) {
            bool null = h % 64 == 0;

            put_root(w, null ? NO_OBJECT : target, 0, null ? 0 : stack_flags[h >> 8 & 7],
                     h & 0x1000 ? table_base(w, 2) + (h & 0xFF) * 0x20 : 0);
            continue;
        }
        k -= n_stack;
        if (k < n_fin) {
            put_root(w, target, 1, 0, 0);
            continue;
        }
        k -= n_fin;
        if (k < n_handles) {
            uint64_t slot = table_base(w, 3) + k * 8;

            if (k < held) {
                put_root(w, k == 0 ? gh_model_main(m) : k - 1, 2, 0, slot);
            } else { /* weak, strong, ref-counted, pinned */
                uint64_t part = (k - held) * 16 / (n_handles - held);

                put_root(w, target, 2,
                         part < 3    ? WEAK
                         : part < 10 ? 0
                         : part < 12 ? REFCOUNTED
                                     : PINNED,
                         slot);
            }
            continue;
        }
        put_root(w, target, 3, 0, table_base(w, 3) + k * 8);
    }
}

static void walk_dependent(struct gh_walk *w, uint64_t n)
{
    struct gh_bulk *b = &w->handle;
    uint64_t i;

    for (i = 0; i < n; i++) {
        uint64_t h = gh_hash2(w->m->seed ^ 0xDE9, i);
        bool null = h % 50 == 0;
        uint64_t key = gh_below(h, w->m->n), value = gh_below(h << 24, w->m->n);

        if (w->holds && !null)
            gh_holds_pair(w->holds, key, value);
        b->at = gh_put_ptr(b->at, null ? 0 : gh_model_addr(w->m, key), w->m->ptr_bytes);
        b->at = gh_put_ptr(b->at, gh_model_addr(w->m, value), w->m->ptr_bytes);
        b->at = gh_put_ptr(b->at, table_base(w, 4) + i * 8, w->m->ptr_bytes);
        w->totals.dependent++;
        w->totals.dependent_null += null;
        if (++b->count == b->max_records)
            bulk_flush(w, b);
    }
}

/* ---- objects
 * --------------------------------------------------------------------------------------------- */

static inline void count_object(struct gh_walk *w, uint32_t type, uint64_t size, uint64_t n_edges,
                                enum gh_gen gen)
{
    struct gh_totals *s = &w->totals;

    s->objects++;
    s->bytes += size;
    s->edges += n_edges;
    s->type_objects[type]++;
    s->type_bytes[type] += size;
    s->gen_objects[gen]++;
    s->gen_bytes[gen] += (size + w->m->ptr_bytes - 1) & ~(uint64_t)(w->m->ptr_bytes - 1);
}

/* Objects FIRST … END-1 one by one: all shapes but mix, frozen and large objects. */
static void walk_single(struct gh_walk *w, uint64_t first, uint64_t end)
{
    const struct gh_model *m = w->m;
    struct gh_object obj;
    uint64_t i, k;

    for (i = first; i < end; i++) {
        gh_model_object(m, i, &obj);
        need_type(w, obj.type);
        count_object(w, obj.type, obj.size, obj.n_edges, obj.gen);
        put_node(w, obj.addr, obj.size, m->types->t[obj.type].id, obj.n_edges);
        for (k = 0; k < obj.n_edges; k++)
            put_edge(w, gh_model_addr(m, gh_model_target(m, i, k)));
    }
}

/* The small objects of shape mix, block by block from the templates. */
static void walk_blocks(struct gh_walk *w)
{
    const struct gh_model *m = w->m;
    uint64_t block;

    for (block = 0; block < m->n_blocks; block++) {
        const struct gh_template *t = gh_model_template(m, block);
        uint64_t base = gh_model_block_base(m, block), first = block * GH_BLOCK;
        uint32_t n = m->n_small - first < GH_BLOCK ? (uint32_t)(m->n_small - first) : GH_BLOCK;
        enum gh_gen gen = gh_model_region_gen(m, block / GH_REGION_BLOCKS);
        const uint16_t *code = t->code;
        uint32_t i, k;

        for (i = 0; i < n; i++) {
            uint32_t type = t->type[i], n_edges = t->edges[i];

            if (!w->seen[type])
                need_type(w, type);
            count_object(w, type, t->size[i], n_edges, gen);
            put_node(w, base + t->off[i], t->size[i], m->types->t[type].id, n_edges);
            for (k = 0; k < n_edges; k++) {
                uint16_t to = *code++;

                if (to < GH_BLOCK)
                    put_edge(w, base + t->off[gh_model_in_block(to, n)]);
                else
                    put_edge(w, gh_model_addr(m, gh_model_code_target(m, to, first + i, k)));
            }
        }
    }
}

void gh_walk_init(struct gh_walk *w, const struct gh_opts *o, const struct gh_model *m,
                  struct gh_pipe *pipe)
{
    uint32_t p = o->ptr_bytes;

    memset(w, 0, sizeof *w);
    w->o = o;
    w->m = m;
    w->pipe = pipe;
    bulk_init(&w->root, GH_M_ROOT, GH_K_ROOT, 2 * p + 5);
    bulk_init(&w->handle, GH_M_HANDLE, GH_K_HANDLE, 3 * p);
    bulk_init(&w->node, GH_M_NODE, GH_K_NODE, p + 24);
    bulk_init(&w->edge, GH_M_EDGE, GH_K_EDGE, p + 4);
    bulk_init(&w->type, GH_M_TYPE, GH_K_TYPE, 0);
    bulk_init(&w->statics, GH_M_STATIC, GH_K_STATIC, 0);
    w->type.header_bytes = 6;
    w->statics.header_bytes = 14;
}

void gh_walk_run(struct gh_walk *w, struct gh_thread *t)
{
    const struct gh_model *m = w->m;
    uint64_t n = m->n, roots, statics, dependent;
    uint32_t i;

    memset(&w->totals, 0, sizeof w->totals);
    w->thread = t;
    w->root.index = w->handle.index = w->node.index = w->edge.index = 0;
    bulk_reset(&w->type);
    bulk_reset(&w->statics);

    roots = w->o->n_roots != GH_AUTO ? w->o->n_roots
                                     : 1 + m->n_frozen + (n / 50 < 2000 ? n / 50 : 2000);
    statics = w->o->n_statics != GH_AUTO ? w->o->n_statics : n / 20 < 338 ? n / 20 : 338;
    dependent = w->o->n_dependent != GH_AUTO ? w->o->n_dependent : n / 200 < 100 ? n / 200 : 100;
    if (n == 0)
        roots = statics = dependent = 0;

    walk_statics(w, statics);
    walk_roots(w, roots);
    walk_dependent(w, dependent);
    if (m->shape == GH_SHAPE_MIX) {
        walk_single(w, 0, m->n_frozen);
        walk_blocks(w);
        walk_single(w, m->n_frozen + m->n_small, n);
    } else {
        walk_single(w, 0, n);
    }
    bulk_flush(w, &w->root);
    bulk_flush(w, &w->handle);
    bulk_flush(w, &w->node);
    bulk_flush(w, &w->edge);
    for (i = 0; i < w->n_held; i++)
        put_type(w, w->held[i]);
    w->n_held = 0;
    flush_types(w);
}
