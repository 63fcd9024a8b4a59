#include "write/stacks.h"

#include <gcdumpc/names.h>
#include <gcdumpc/unstable/merged_tree.h>

#include "base/context.h"
#include "write/write.h"

/* No new paths when there are this many. */
#define STACKS_MAX (UINT32_C(1) << 18)

const char *stacks_frame(const struct frames *f, uint32_t label, const char **ret_module)
{
    struct gcd_step_name n = gcd_merged_tree_name(f->tree, label);
    *ret_module = "";
    switch (n.kind) {
    case GCD_STEP_GROUP:
        return gcd_root_group_label(n.group)->frame;
    case GCD_STEP_VARIABLE:
        return gcd_graph_summary(f->g)->roots[n.root].label;
    case GCD_STEP_SEVERAL_ROOTS:
        return "[several roots]";
    case GCD_STEP_PSEUDO_ROOTS:
    case GCD_STEP_UNREACHABLE:
        return "[not reachable from roots]";
    case GCD_STEP_DEEPER:
        return "...";
    case GCD_STEP_TYPE:
        break;
    }
    *ret_module = gcd_graph_summary(f->g)->types[n.type].module_path;
    return write_type_name(f->options, f->g, n.type);
}

/* The analysis is the first half of the work, merging the second. */
struct half {
    const struct gcd_context *all;
    double first;
};

static void half_progress(void *ctx, uint64_t done, uint64_t total)
{
    const struct half *h = ctx;
    const uint64_t steps = 1000000;
    if (total > 0)
        gcd_context_report(h->all, (uint64_t)((h->first + (double)done / (double)total) / 2 * (double)steps), steps);
}

gcd_status stacks_new(const struct gcd_graph *g, const struct gcd_write_options *o, struct gcd_merged_tree **ret, struct gcd_error *err)
{
    struct half half = { &o->context, 0 };
    struct gcd_context context = o->context;
    struct gcd_dominators *d = NULL;
    struct gcd_paths *p = NULL;
    gcd_status st;
    context.progress = half_progress;
    context.progress_ctx = &half;
    if (o->stack_by == GCD_STACK_BY_PATHS)
        st = gcd_paths_new(g, &context, &p, err);
    else
        st = gcd_dominators_new(g, &context, &d, err);
    half.first = 1;
    struct gcd_merged_tree_options merge = { .context = context, .paths = p, .dominators = d, .stacks = true, .max_depth = STACKS_DEPTH,
                                             .max_steps = STACKS_MAX };
    if (st == GCD_OK)
        st = gcd_merged_tree_new(g, &merge, ret, err);
    gcd_dominators_free(d);
    gcd_paths_free(p);
    return st;
}

void stacks_note(const struct gcd_graph *g, const struct gcd_merged_tree *t, struct gcd_write_notes *notes)
{
    notes->objects = gcd_graph_node_count(g);
    notes->roots = gcd_graph_summary(g)->root_count;
    for (uint32_t i = 0; i < gcd_graph_summary(g)->type_count; i++)
        notes->types += gcd_graph_summary(g)->types[i].objects > 0;
    write_note_loss(notes, gcd_merged_tree_totals(t).cut_count,
                    "objects lie too deep, or have one path too many, and are counted in frames \"...\"");
}
