/*
 * Collapsed stacks: one line per stack, its frames from the root separated by ";", a space, its bytes.
 *
 *     [static variables];orders;Shop.Store;Shop.Order[];Shop.Order 3200
 *
 * Sorted by the texts of the frames, so that two dumps can be compared line by line.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/estimate.h>
#include <gcdumpc/unstable/merged_tree.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"
#include "write/stacks.h"
#include "write/write.h"

/* Longer frames are cut: nobody reads them, and they repeat in every line below. */
#define FRAME_BYTES ((size_t)1000)
/* Types, the root group, a static variable, "...". */
#define PATH_MAX_FRAMES (STACKS_DEPTH + 3)

struct folded {
    struct frames frames;
    struct gcd_alloc alloc;
    struct gcd_merged_tree *tree;
    const struct gcd_merged_step *steps;
    size_t count;
    uint32_t labels;
    uint32_t *rank;              /* [labels] place of a frame in the order of their texts */
    uint32_t *sorted;            /* [count] by caller, then by rank */
    uint32_t *first;             /* [count + 1] where the stacks with this caller begin; the last: those without one */
};

static const char *text_of(const struct frames *f, uint32_t label)
{
    const char *module;
    return stacks_frame(f, label, &module);
}

static int compare_frames(const void *ctx, uint32_t a, uint32_t b)
{
    return strcmp(text_of(ctx, a), text_of(ctx, b));
}

static int compare_stacks(const void *ctx, uint32_t a, uint32_t b)
{
    const struct folded *f = ctx;
    const struct gcd_merged_step *x = &f->steps[a], *y = &f->steps[b];
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    return (f->rank[x->label] > f->rank[y->label]) - (f->rank[x->label] < f->rank[y->label]);
}

/* Labels and steps are sorted in the same array, one after the other. */
static size_t sorted_room(const struct folded *f)
{
    return f->labels > f->count ? f->labels : f->count;
}

static gcd_status sort(struct folded *f, struct gcd_error *err)
{
    f->rank = gcd_mem_new_array(&f->alloc, f->labels, sizeof *f->rank);
    f->sorted = gcd_mem_new_array(&f->alloc, sorted_room(f), sizeof *f->sorted);
    f->first = gcd_mem_new_array(&f->alloc, f->count + 1, sizeof *f->first);
    if (f->rank == NULL || f->sorted == NULL || f->first == NULL)
        return gcd_fail_nomem(err, "sorting stacks");
    for (uint32_t i = 0; i < f->labels; i++)
        f->sorted[i] = i;
    if (!gcd_sort_numbers(&f->alloc, f->sorted, f->labels, compare_frames, &f->frames))
        return gcd_fail_nomem(err, "sorting stacks");
    for (uint32_t i = 0; i < f->labels; i++)
        f->rank[f->sorted[i]] = i;
    for (uint32_t i = 0; i < f->count; i++)
        f->sorted[i] = i;
    if (!gcd_sort_numbers(&f->alloc, f->sorted, f->count, compare_stacks, f))
        return gcd_fail_nomem(err, "sorting stacks");
    for (uint32_t i = (uint32_t)f->count; i-- > 0;) {
        uint32_t caller = f->steps[f->sorted[i]].parent;
        f->first[caller == GCD_STEP_NONE ? f->count : caller] = i + 1;   /* 0: nobody calls it so */
    }
    return GCD_OK;
}

/* A frame without what separates frames and lines. */
static void put_frame(struct gcd_sink *out, const char *text)
{
    size_t n = strlen(text);
    bool cut = n > FRAME_BYTES;
    if (cut)
        for (n = FRAME_BYTES; ((unsigned char)text[n] & 0xc0) == 0x80;)
            n--;                         /* at the start of a character */
    char *p = gcd_sink_reserve(out, FRAME_BYTES);
    for (size_t i = 0; i < n; i++)
        p[i] = text[i] == ';' ? ':' : text[i] == '\n' || text[i] == '\r' ? '_' : text[i];
    gcd_sink_advance(out, n);
    if (cut)
        gcd_sink_text(out, "...");
}

static void put_stack(struct gcd_sink *out, const struct folded *f, const uint32_t *path, size_t depth, uint64_t bytes)
{
    for (size_t i = 0; i < depth; i++) {
        if (i > 0)
            gcd_sink_text(out, ";");
        put_frame(out, text_of(&f->frames, f->steps[path[i]].label));
    }
    char number[32];
    (void)snprintf(number, sizeof number, " %" PRIu64 "\n", bytes);
    gcd_sink_text(out, number);
}

static gcd_status put_stacks(const struct folded *f, struct gcd_sink *out, const struct gcd_write_options *options, struct gcd_error *err)
{
    uint32_t path[PATH_MAX_FRAMES], at[PATH_MAX_FRAMES + 1];     /* stacks; places in sorted, + 1, of the next one */
    uint64_t done = 0;
    size_t depth = 0;
    at[0] = f->first[f->count];
    while (true) {
        uint32_t caller = depth > 0 ? path[depth - 1] : GCD_STEP_NONE;
        if (at[depth] == 0 || at[depth] > f->count || f->steps[f->sorted[at[depth] - 1]].parent != caller) {
            if (depth-- == 0)
                return gcd_sink_status(out, err);
            continue;
        }
        uint32_t number = f->sorted[at[depth]++ - 1];
        path[depth++] = number;
        at[depth] = f->first[number];
        if (f->steps[number].own_bytes > 0)
            put_stack(out, f, path, depth, f->steps[number].own_bytes);
        if (++done % 4096 == 0)          /* the analysis was all of the progress */
            GCD_TRY(write_check(options, out, 1, 1, err));
    }
}

static gcd_status folded_write(const struct gcd_graph *g, struct gcd_sink *s, const struct gcd_write_options *options,
                               struct gcd_write_notes *notes, struct gcd_error *err)
{
    struct folded f = { .alloc = gcd_alloc_or_default(options->context.alloc) };
    gcd_status st = stacks_new(g, options, &f.tree, err);
    if (st == GCD_OK) {
        f.frames = (struct frames){ g, options, f.tree };
        f.steps = gcd_merged_tree_steps(f.tree, &f.count);
        f.labels = gcd_merged_tree_label_count(f.tree);
        st = sort(&f, err);
    }
    if (st == GCD_OK)
        st = put_stacks(&f, s, options, err);
    if (st == GCD_OK)
        stacks_note(g, f.tree, notes);
    gcd_mem_free(&f.alloc, f.rank, f.labels * sizeof *f.rank);
    gcd_mem_free(&f.alloc, f.sorted, sorted_room(&f) * sizeof *f.sorted);
    gcd_mem_free(&f.alloc, f.first, (f.count + 1) * sizeof *f.first);
    gcd_merged_tree_free(f.tree);
    return st;
}

const struct gcd_format gcd_w_folded = {
    .name = "collapsed",
    .needs = GCD_FOR_RETAINED,
    .suffix = ".folded",
    .about = "collapsed stacks, bytes (text)",
    .size_percent = 60,
    .text = true,
    .names = GCD_NAMES_CSHARP,
    .write_graph = folded_write,
};
