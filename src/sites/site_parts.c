/* Where the living samples of a suspect were allocated. */
#include <stdio.h>

#include <gcdumpc/unstable/sites.h>
#include <gcdumpc/unstable/text/plural.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/text.h"

/* Fewer say nothing about a share. */
#define FEWEST_SAMPLES 3u

static int compare_parts(const void *ctx, uint32_t a, uint32_t b)
{
    const struct gcd_site_part *parts = ctx;
    double p = parts[a].bytes, q = parts[b].bytes;
    return p != q ? (p > q ? -1 : 1) : a < b ? -1 : a > b;
}

/* Marks in INSIDE [nodes] what S holds, or of a type, its objects with what they hold. */
static void mark_inside(const struct gcd_graph *g, const struct gcd_dominators *d,
                        const struct gcd_suspect *s, uint8_t *inside)
{
    const uint32_t *order = gcd_dominators_order(d);
    for (uint32_t i = 0; i < gcd_dominators_reachable(d); i++) {
        uint32_t parent = gcd_dominators_parent(d, order[i]);
        bool own = s->kind == GCD_SUSPECT_TYPE ? gcd_graph_node_type(g, order[i]) == s->type
                                               : order[i] == s->node;
        inside[order[i]] = own || (parent < gcd_graph_node_count(g) && inside[parent] != 0);
    }
}

/* Sums up the living samples INSIDE in SUMS [frames]; returns the number of frames with some. */
static size_t sum_inside(const struct gcd_site_list *l, const struct gcd_graph *g,
                         const uint8_t *inside, struct gcd_site_part *sums)
{
    const struct gcd_sites *s = l->sites;
    size_t used = 0;
    for (size_t i = 0; i < s->living_count; i++) {
        uint32_t node = gcd_graph_find(g, s->living[i].address);
        uint32_t frame = l->items[l->site_of[s->living[i].total]].frame;
        if (node == GCD_NODE_NONE || inside[node] == 0 || frame == GCD_SITE_NONE)
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
    uint8_t *inside = gcd_mem_new(&a, n + 1);
    struct gcd_site_part *sums = gcd_mem_new_array(&a, frames + 1, sizeof *sums);
    uint32_t *order = NULL;
    if (inside != NULL && sums != NULL) {
        mark_inside(g, d, s, inside);
        ret->count = sum_inside(l, g, inside, sums);
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
    gcd_mem_free(&a, inside, n + 1);
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
    char line[300] = "";
    ret[0] = '\0';
    if (p->samples < FEWEST_SAMPLES)
        return;
    const struct gcd_site_frame *f = &s->frames[p->items[0].frame];
    if (f->line != 0)
        (void)snprintf(line, sizeof line, " (%.255s:%u)", gcd_file_name(f->file),
                       (unsigned)f->line);
    (void)snprintf(ret, GCD_SITE_TEXT_BYTES,
                   "Allocated in %.600s%s: %u %% of what was sampled of it (%s objects).",
                   f->method[0] != '\0' ? f->method : "(unknown code)", line,
                   (unsigned)(100 * p->items[0].bytes / p->bytes + 0.5), GCD_DIGITS(p->samples));
}
