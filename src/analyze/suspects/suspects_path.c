/*
 * The path from a root to a suspect, for people: consecutive objects of one type are one step, and
 * a very long path keeps only its two ends.
 */
#include "analyze/suspects/suspects.h"

#include "base/error.h"
#include "base/mem.h"

/* Steps kept at the object, and at the root. */
#define NEAR 24u
#define FAR  8u

struct way {
    struct gcd_suspect_step near[NEAR]; /* from the object up */
    struct gcd_suspect_step far[FAR];   /* the last of the further steps, a ring */
    size_t near_count;
    uint64_t far_count;     /* number of the further steps */
    uint64_t skipped;       /* number of objects in steps that left the ring */
    uint32_t first_skipped; /* the skipped object nearest to the root */
};

static bool is_dependent(const struct live_edges *f, uint32_t key, uint32_t value)
{
    size_t n = gcd_graph_dependent_count(f->g);
    for (size_t i = live_edges_first_dependent(f, key);
         i < n && gcd_graph_dependent(f->g, i)->key == key; i++)
        if (gcd_graph_dependent(f->g, i)->value == value)
            return !gcd_graph_refers(f->g, key, value);
    return false;
}

/* Adds NODE, the next object on the way up.  The suspect itself is always a separate step. */
static void go_up(struct way *way, uint32_t node, uint32_t type, bool dependent)
{
    struct gcd_suspect_step *last = way->far_count > 0    ? &way->far[(way->far_count - 1) % FAR]
                                    : way->near_count > 1 ? &way->near[way->near_count - 1]
                                                          : NULL;
    if (last != NULL && last->type == type && !last->dependent) {
        last->repeats++;
        last->node = node;
        last->dependent = dependent;
        return;
    }
    struct gcd_suspect_step step = {
        .node = node, .type = type, .repeats = 1, .dependent = dependent, .last = node
    };
    if (way->near_count < NEAR) {
        way->near[way->near_count++] = step;
        return;
    }
    struct gcd_suspect_step *slot = &way->far[way->far_count++ % FAR];
    if (way->far_count > FAR) {
        way->skipped += slot->repeats;
        way->first_skipped = slot->node;
    }
    *slot = step;
}

static gcd_status keep(const struct suspects_work *w, struct suspect *x, const struct way *way,
                       struct gcd_error *err)
{
    size_t far = way->far_count < FAR ? (size_t)way->far_count : FAR,
           n = way->near_count + far + (way->skipped > 0);
    struct gcd_suspect_step *path = gcd_mem_new_array(w->alloc, n, sizeof *path);
    if (path == NULL)
        return gcd_fail_nomem(err, "describing the path to a suspect");
    gcd_mem_free(w->alloc, x->path, x->path_room * sizeof *x->path);
    x->path = path;
    x->path_room = n;
    n = 0;
    for (uint64_t i = 0; i < far; i++)
        x->path[n++] = way->far[(way->far_count - 1 - i) % FAR];
    if (way->skipped > 0)
        x->path[n++] = (struct gcd_suspect_step){ .node = way->first_skipped,
                                                  .type = suspects_type_of(w, way->first_skipped),
                                                  .repeats = way->skipped,
                                                  .skipped = true };
    for (size_t i = way->near_count; i > 0; i--)
        x->path[n++] = way->near[i - 1];
    x->pub.path = x->path;
    x->pub.path_count = n;
    return GCD_OK;
}

gcd_status suspects_path(const struct suspects_work *w, struct suspect *x, struct gcd_error *err)
{
    struct way way = { .near_count = 0 };
    /* only the part needed to look up dependent handles */
    struct live_edges f = { .g = w->g };
    uint32_t node = x->pub.node, steps = 0;
    if (node == GCD_NODE_NONE || gcd_paths_parent(w->paths, node) == GCD_NODE_NONE)
        return GCD_OK;
    for (;;) {
        uint32_t up = x->site != GCD_NODE_NONE && node == x->service
                          ? x->site
                          : gcd_paths_parent(w->paths, node);
        go_up(&way, node, suspects_type_of(w, node),
              up != GCD_NODE_ROOT && is_dependent(&f, up, node));
        if (up == GCD_NODE_ROOT)
            break;
        node = up;
        if (++steps % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
    }
    /* most of the arrays have other contents */
    bool others = x->pub.kind == GCD_SUSPECT_TYPE && x->statics == 0 && node == x->pub.node;
    size_t handle = others ? SIZE_MAX : suspects_statics_root(w, node);
    x->pub.root = handle != SIZE_MAX ? handle : gcd_paths_root(w->paths, node);
    return keep(w, x, &way, err);
}
