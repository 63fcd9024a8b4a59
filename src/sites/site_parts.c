/* Where the living samples of a suspect were allocated. */
#include <stdio.h>

#include <gcdumpc/unstable/sites.h>
#include <gcdumpc/unstable/text/plural.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"

/* Fewer say nothing about a share. */
#define FEWEST_SAMPLES 3u

static int compare_parts(const void *ctx, uint32_t a, uint32_t b)
{
    const struct gcd_site_part *parts = ctx;
    double p = parts[a].bytes, q = parts[b].bytes;
    return p != q ? (p > q ? -1 : 1) : a < b ? -1 : a > b;
}

/* The objects that a suspect holds, or of a type, its objects with what they hold. */
struct holding {
    const struct gcd_graph *graph;
    const struct gcd_dominators *dominators;
    const struct gcd_suspect *suspect;
    uint8_t *known; /* [nodes] INSIDE or OUTSIDE; 0 = not asked yet */
};
enum { INSIDE = 1, OUTSIDE };

/* Does the suspect hold the reachable NODE?  Remembers it of all nodes above, so that each is
 * visited once. */
static bool holds(struct holding *h, uint32_t node)
{
    uint32_t count = gcd_graph_node_count(h->graph), top = node;
    uint8_t found = 0;
    for (; top < count && (found = h->known[top]) == 0;
         top = gcd_dominators_parent(h->dominators, top))
        if (h->suspect->kind == GCD_SUSPECT_TYPE
                ? gcd_graph_node_type(h->graph, top) == h->suspect->type
                : top == h->suspect->node) {
            found = h->known[top] = INSIDE;
            break;
        }
    found = found != 0 ? found : OUTSIDE;
    for (; node != top; node = gcd_dominators_parent(h->dominators, node))
        h->known[node] = found;
    return found == INSIDE;
}

/* Sums up the living samples of H in SUMS [frames]; returns the number of frames with some. */
static size_t sum_held(const struct gcd_site_list *l, struct holding *h, struct gcd_site_part *sums)
{
    const struct gcd_sites *s = l->sites;
    size_t used = 0;
    for (size_t i = 0; i < s->living_count; i++) {
        uint32_t node = gcd_graph_find(h->graph, s->living[i].address);
        uint32_t frame = l->items[l->site_of[s->living[i].total]].frame;
        if (frame == GCD_SITE_NONE || node == GCD_NODE_NONE ||
            gcd_dominators_parent(h->dominators, node) == GCD_NODE_NONE || !holds(h, node))
            continue;
        used += sums[frame].samples == 0;
        sums[frame].frame = frame;
        sums[frame].bytes += s->living[i].bytes;
        sums[frame].samples++;
    }
    return used;
}

gcd_status gcd_site_parts_of(const struct gcd_site_list *l, const struct gcd_graph *g,
                             const struct gcd_dominators *d, const struct gcd_suspect *s,
                             struct gcd_site_parts *ret, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    size_t n = gcd_graph_node_count(g), frames = l->sites->frame_count;
    *ret = (struct gcd_site_parts){ .count = 0 };
    if (s->node == GCD_NODE_NONE ||
        (s->kind != GCD_SUSPECT_OBJECT && s->kind != GCD_SUSPECT_HANDLERS &&
         s->kind != GCD_SUSPECT_TYPE))
        return GCD_OK;
    struct holding h = {
        .graph = g, .dominators = d, .suspect = s, .known = gcd_mem_new(&a, n + 1)
    };
    struct gcd_site_part *sums = gcd_mem_new_array(&a, frames + 1, sizeof *sums);
    uint32_t *order = NULL;
    if (h.known != NULL && sums != NULL) {
        ret->count = sum_held(l, &h, sums);
        order = gcd_sort_order(&a, frames, compare_parts, sums);
        ret->items = gcd_mem_new_array(&a, ret->count + 1, sizeof *ret->items);
    }
    bool ok = order != NULL && ret->items != NULL;
    for (size_t i = 0; ok && i < ret->count; i++) {
        ret->items[i] = sums[order[i]];
        ret->samples += ret->items[i].samples;
        ret->bytes += ret->items[i].bytes;
    }
    gcd_mem_free(&a, order, frames * sizeof *order);
    gcd_mem_free(&a, sums, (frames + 1) * sizeof *sums);
    gcd_mem_free(&a, h.known, n + 1);
    if (ok)
        return GCD_OK;
    gcd_site_parts_done(ret);
    return gcd_fail_nomem(err, "finding the site of a suspect");
}

void gcd_site_parts_done(struct gcd_site_parts *p)
{
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    gcd_mem_free(&a, p->items, (p->count + 1) * sizeof *p->items);
    *p = (struct gcd_site_parts){ .count = 0 };
}

void gcd_site_parts_text(const struct gcd_site_parts *p, const struct gcd_sites *s, char *ret)
{
    char line[GCD_SITE_TEXT_BYTES - 100];
    ret[0] = '\0';
    if (p->samples < FEWEST_SAMPLES)
        return;
    gcd_site_frame_text(&s->frames[p->items[0].frame], line, sizeof line);
    (void)snprintf(ret, GCD_SITE_TEXT_BYTES,
                   "Allocated in %s: %u %% of what was sampled of it (%s objects).", line,
                   (unsigned)(100 * p->items[0].bytes / p->bytes + 0.5), GCD_DIGITS(p->samples));
}
