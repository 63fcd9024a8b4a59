#include "write/stacks.h"

#include <gcdumpc/names.h>
#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/origins.h>

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "write/write.h"

/* Maximum number of paths. */
#define STACKS_MAX (UINT32_C(1) << 18)

const char *stacks_frame(const struct stacks *f, uint32_t label, const char **ret_module)
{
    *ret_module = "";
    if (stacks_by_waits(f))
        return f->names[label];
    struct gcd_step_name n = gcd_merged_tree_name(f->tree, label);
    switch (n.kind) {
    case GCD_STEP_GROUP:
        return gcd_root_group_label(n.group)->frame;
    case GCD_STEP_VARIABLE:
        return n.group == GCD_GROUP_STATICS ? gcd_graph_summary(f->g)->roots[n.root].label
                                            : gcd_graph_summary(f->g)->roots[n.root].name;
    case GCD_STEP_SEVERAL_ROOTS:
        return "[several roots]";
    case GCD_STEP_PSEUDO_ROOTS:
    case GCD_STEP_UNREACHABLE:
        return "[not reachable from roots]";
    case GCD_STEP_FROZEN:
        return "[frozen]";
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
        gcd_context_report(
            h->all, (uint64_t)((h->first + (double)done / (double)total) / 2 * (double)steps),
            steps);
}

/* RET[type_count]: 1 = the fields of this class are told apart. */
static gcd_status choose_classes(const struct stacks *s, uint8_t *ret, struct gcd_error *err)
{
    const struct gcd_write_options *o = s->options;
    struct gcd_origins_options options = { .alloc = o->context.alloc };
    struct gcd_origins *own;
    if (o->origins != NULL) {
        gcd_origins_outside_framework(o->origins, ret);
        return GCD_OK;
    }
    GCD_TRY(gcd_origins_new(gcd_graph_summary(s->g), &options, &own, err));
    gcd_origins_outside_framework(own, ret);
    gcd_origins_free(own);
    return GCD_OK;
}

/* FIELD_TYPES[type_count]: whose fields are told apart; NULL = of none. */
static gcd_status merge(struct stacks *s, const uint8_t *field_types, struct gcd_error *err)
{
    const struct gcd_write_options *o = s->options;
    struct half half = { &o->context, 0 };
    struct gcd_context context = o->context;
    struct gcd_dominators *d = NULL;
    struct gcd_paths *p = NULL;
    gcd_status st;
    context.progress = half_progress;
    context.progress_ctx = &half;
    if (o->stack_by == GCD_STACK_BY_PATHS)
        st = gcd_paths_new(s->g, &context, &p, err);
    else
        st = gcd_dominators_new(s->g, &context, &d, err);
    half.first = 1;
    struct gcd_merged_tree_options merge = { .context = context,
                                             .paths = p,
                                             .dominators = d,
                                             .fields = s->fields,
                                             .field_types = field_types,
                                             .stacks = true,
                                             .max_depth = STACKS_DEPTH,
                                             .max_steps = STACKS_MAX };
    if (st == GCD_OK)
        st = gcd_merged_tree_new(s->g, &merge, &s->tree, err);
    gcd_dominators_free(d);
    gcd_paths_free(p);
    if (st != GCD_OK)
        return st;
    s->steps = gcd_merged_tree_steps(s->tree, &s->count);
    s->labels = gcd_merged_tree_label_count(s->tree);
    s->cut = gcd_merged_tree_totals(s->tree).cut_count;
    return GCD_OK;
}

static gcd_status merge_by_fields(struct stacks *s, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(s->options->context.alloc);
    size_t types = (size_t)gcd_graph_summary(s->g)->type_count + 1;
    uint8_t *classes = gcd_mem_new_array(&a, types, sizeof *classes);
    gcd_status st = classes != NULL ? choose_classes(s, classes, err)
                                    : gcd_fail_nomem(err, "choosing the classes with fields");
    if (st == GCD_OK)
        st = gcd_fields_new(s->g, &a, &s->fields, err);
    if (st == GCD_OK)
        st = merge(s, classes, err);
    gcd_mem_free(&a, classes, types * sizeof *classes);
    return st;
}

gcd_status stacks_new(const struct gcd_graph *g, const struct gcd_write_options *options,
                      bool by_fields, struct stacks *ret, struct gcd_error *err)
{
    *ret = (struct stacks){ .g = g, .options = options };
    if (options->stack_by != GCD_STACK_BY_WAITS)
        return by_fields ? merge_by_fields(ret, err) : merge(ret, NULL, err);
    GCD_TRY(gcd_async_new(g, &options->context, &ret->async, err));
    return stacks_of_waits(ret, err);
}

void stacks_done(struct stacks *s)
{
    struct gcd_alloc a = gcd_alloc_or_default(s->options->context.alloc);
    gcd_merged_tree_free(s->tree);
    gcd_fields_free(s->fields);
    gcd_async_free(s->async);
    gcd_mem_free(&a, s->made, s->made_room * sizeof *s->made);
    gcd_mem_free(&a, s->names, s->name_room * sizeof *s->names);
}

void stacks_note(const struct stacks *s, struct gcd_write_notes *notes)
{
    const struct gcd_summary *summary = gcd_graph_summary(s->g);
    notes->objects = gcd_graph_node_count(s->g);
    notes->roots = summary->root_count;
    for (uint32_t i = 0; i < summary->type_count; i++)
        notes->types += summary->types[i].objects > 0;
    if (stacks_by_waits(s))
        write_note_loss(
            notes, s->cut,
            "stack has more frames, and its outer ones are counted in frames \"...\"",
            "stacks have more frames, and their outer ones are counted in frames \"...\"");
    else
        write_note_loss(
            notes, s->cut,
            "object lies too deep, or has one path too many, and is counted in frames \"...\"",
            "objects lie too deep, or have one path too many, and are counted in frames \"...\"");
}
