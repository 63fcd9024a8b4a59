/*
 * Where the objects of a few types hang: for each type the tree of its shortest paths from the roots.
 *
 * A stack that ends with a type has the objects of that type and no others.  Those in frames "..." have no such stack, and are counted one by
 * one, by stack and type.
 */
#include <string.h>

#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "write/html_data.h"
#include "write/write.h"

/* Objects of one of the types that are in one frame "...". */
struct end {
    uint32_t stack, type;        /* type: number in wanted */
    uint64_t objects, bytes;
};

struct ends {
    const struct stacks *s;
    struct end *items;
    size_t count, cap;
    struct gcd_idmap known;      /* stack << 8 | number of the type -> end */
    uint8_t *number;             /* [types] 1 + number in wanted, 0 = not wanted */
    bool *is_cut;                /* [stacks] does it end with "..."? */
    uint64_t *objects, *bytes;   /* [stacks] of the type in hand */
};

static gcd_status count_end(struct ends *e, uint32_t stack, uint32_t type, uint64_t size, struct gcd_error *err)
{
    uint64_t key = (uint64_t)stack << 8 | type;
    uint32_t at = gcd_idmap_get(&e->known, key);
    if (at == GCD_IDMAP_NONE) {
        at = (uint32_t)e->count;
        if (!gcd_vec_reserve(&e->s->alloc, &e->items, &e->cap, e->count + 1, sizeof *e->items, GCD_IDMAP_NONE)
            || !gcd_idmap_put(&e->known, key, at))
            return gcd_fail_nomem(err, "counting paths");
        e->items[e->count++] = (struct end){ .stack = stack, .type = type };
    }
    e->items[at].objects++;
    e->items[at].bytes = e->items[at].bytes <= UINT64_MAX - size ? e->items[at].bytes + size : UINT64_MAX;
    return GCD_OK;
}

static gcd_status check(const struct stacks *s, struct gcd_error *err)
{
    return write_check(s->options, NULL, 2 * (uint64_t)s->nodes, 2 * (uint64_t)s->nodes, err);
}

static gcd_status count_cut(struct ends *e, struct gcd_error *err)
{
    const struct stacks *s = e->s;
    if (s->merged == 0)
        return check(s, err);
    for (size_t i = 0; i < s->count; i++)
        e->is_cut[i] = stacks_is_cut(s->items[i].frame);
    for (uint32_t node = 0; node < s->nodes; node++) {
        if (node % WRITE_CHECK_EVERY == 0)
            GCD_TRY(check(s, err));
        if (!e->is_cut[s->place[node]])
            continue;
        unsigned number = e->number[gcd_graph_node_type(s->g, node)];
        if (number != 0)
            GCD_TRY(count_end(e, s->place[node], number - 1, gcd_graph_node_size(s->g, node), err));
    }
    return GCD_OK;
}

static gcd_status make(struct html_data *h, struct ends *e, const uint32_t *wanted, size_t n, struct gcd_error *err)
{
    const struct stacks *s = e->s;
    e->number = gcd_mem_new(&s->alloc, gcd_graph_type_count(s->g));
    e->is_cut = gcd_mem_new_uncleared(&s->alloc, s->count, sizeof *e->is_cut);
    e->objects = gcd_mem_new_uncleared(&s->alloc, s->count, sizeof *e->objects);
    e->bytes = gcd_mem_new_uncleared(&s->alloc, s->count, sizeof *e->bytes);
    if (e->number == NULL || e->is_cut == NULL || e->objects == NULL || e->bytes == NULL)
        return gcd_fail_nomem(err, "counting paths");
    for (size_t i = 0; i < n; i++)
        e->number[wanted[i]] = (uint8_t)(i + 1);
    GCD_TRY(count_cut(e, err));
    for (size_t i = 0; i < n; i++) {
        uint32_t frame = stacks_type_frame(s, wanted[i]);
        for (size_t k = 0; k < s->count; k++) {
            e->objects[k] = s->items[k].frame == frame ? s->items[k].objects : 0;
            e->bytes[k] = s->items[k].frame == frame ? s->items[k].bytes : 0;
        }
        for (size_t k = 0; k < e->count; k++)
            if (e->items[k].type == i) {
                e->objects[e->items[k].stack] = e->items[k].objects;
                e->bytes[e->items[k].stack] = e->items[k].bytes;
            }
        struct html_path *p = &h->paths[h->path_count++];
        p->type = wanted[i];
        GCD_TRY(html_tree_make(&p->tree, s, e->objects, e->bytes, HTML_PATH_NODES, err));
    }
    return GCD_OK;
}

gcd_status html_paths_make(struct html_data *h, const struct stacks *s, const uint32_t *wanted, size_t n, struct gcd_error *err)
{
    _Static_assert(HTML_PATHS < UINT8_MAX, "numbers of types are bytes here");
    struct ends e = { .s = s };
    gcd_idmap_init(&e.known, &s->alloc);
    gcd_status st = s->count == 0 ? GCD_OK : make(h, &e, wanted, n, err);
    gcd_mem_free(&s->alloc, e.items, e.cap * sizeof *e.items);
    gcd_mem_free(&s->alloc, e.number, gcd_graph_type_count(s->g));
    gcd_mem_free(&s->alloc, e.is_cut, s->count * sizeof *e.is_cut);
    gcd_mem_free(&s->alloc, e.objects, s->count * sizeof *e.objects);
    gcd_mem_free(&s->alloc, e.bytes, s->count * sizeof *e.bytes);
    gcd_idmap_done(&e.known);
    return st;
}
