/*
 * Collapsed stacks: one line per stack with its frames from the root, separated by ";", a space,
 * and its bytes, or by waits the number of such stacks.
 *
 *     [static variables];orders;Shop.Store;Shop.Order[];Shop.Order 3200
 *
 * Sorted by the texts of the frames, so that two dumps can be compared line by line.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/estimate.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"
#include "write/stacks.h"
#include "write/write.h"

/* Longer frames are cut: no one reads them, and they repeat in every line below. */
#define FRAME_BYTES ((size_t)1000)
/* Types, the root group, a static variable, "...". */
#define PATH_MAX_FRAMES (STACKS_DEPTH + 3)

struct folded {
    struct stacks stacks;
    struct gcd_alloc alloc;
    uint32_t *rank;   /* [labels] place of a frame in the order of their texts */
    uint32_t *sorted; /* [count] by caller, then by rank */
    /* [count + 1] where the stacks with this caller begin; the last: those without one */
    uint32_t *first;
};

static const char *text_of(const struct stacks *f, uint32_t label)
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
    const struct gcd_merged_step *x = &f->stacks.steps[a], *y = &f->stacks.steps[b];
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    return (f->rank[x->label] > f->rank[y->label]) - (f->rank[x->label] < f->rank[y->label]);
}

/* Labels and steps are sorted in the same array, one after the other. */
static size_t sorted_room(const struct folded *f)
{
    return f->stacks.labels > f->stacks.count ? f->stacks.labels : f->stacks.count;
}

static gcd_status sort(struct folded *f, struct gcd_error *err)
{
    f->rank = gcd_mem_new_array(&f->alloc, f->stacks.labels, sizeof *f->rank);
    f->sorted = gcd_mem_new_array(&f->alloc, sorted_room(f), sizeof *f->sorted);
    f->first = gcd_mem_new_array(&f->alloc, f->stacks.count + 1, sizeof *f->first);
    if (f->rank == NULL || f->sorted == NULL || f->first == NULL)
        return gcd_fail_nomem(err, "sorting stacks");
    for (uint32_t i = 0; i < f->stacks.labels; i++)
        f->sorted[i] = i;
    if (!gcd_sort_numbers(&f->alloc, f->sorted, f->stacks.labels, compare_frames, &f->stacks))
        return gcd_fail_nomem(err, "sorting stacks");
    for (uint32_t i = 0; i < f->stacks.labels; i++)
        f->rank[f->sorted[i]] = i;
    for (uint32_t i = 0; i < f->stacks.count; i++)
        f->sorted[i] = i;
    if (!gcd_sort_numbers(&f->alloc, f->sorted, f->stacks.count, compare_stacks, f))
        return gcd_fail_nomem(err, "sorting stacks");
    for (uint32_t i = (uint32_t)f->stacks.count; i-- > 0;) {
        uint32_t caller = f->stacks.steps[f->sorted[i]].parent;
        /* 0: no stack has this caller */
        f->first[caller == GCD_STEP_NONE ? f->stacks.count : caller] = i + 1;
    }
    return GCD_OK;
}

/* Writes a frame without the characters that separate frames and lines. */
static void put_frame(struct gcd_sink *out, const char *text)
{
    size_t n = strlen(text);
    bool cut = n > FRAME_BYTES;
    if (cut)
        for (n = FRAME_BYTES; ((unsigned char)text[n] & 0xc0) == 0x80;)
            n--; /* at the start of a character */
    while (n > 0) {
        const char *semicolon = memchr(text, ';', n);
        size_t part = semicolon != NULL ? (size_t)(semicolon - text) : n;
        write_shown(out, text, part);
        if (semicolon != NULL)
            gcd_sink_text(out, ":");
        part += semicolon != NULL;
        text += part;
        n -= part;
    }
    if (cut)
        gcd_sink_text(out, "...");
}

static void put_stack(struct gcd_sink *out, const struct folded *f, const uint32_t *path,
                      size_t depth, uint64_t value)
{
    for (size_t i = 0; i < depth; i++) {
        if (i > 0)
            gcd_sink_text(out, ";");
        put_frame(out, text_of(&f->stacks, f->stacks.steps[path[i]].label));
    }
    char number[32];
    (void)snprintf(number, sizeof number, " %" PRIu64 "\n", value);
    gcd_sink_text(out, number);
}

static gcd_status put_stacks(const struct folded *f, struct gcd_sink *out,
                             const struct gcd_write_options *options, struct gcd_error *err)
{
    /* stacks; places in sorted, + 1, of the next one */
    uint32_t path[PATH_MAX_FRAMES], at[PATH_MAX_FRAMES + 1];
    uint64_t done = 0;
    size_t depth = 0;
    at[0] = f->first[f->stacks.count];
    while (true) {
        uint32_t caller = depth > 0 ? path[depth - 1] : GCD_STEP_NONE;
        if (at[depth] == 0 || at[depth] > f->stacks.count ||
            f->stacks.steps[f->sorted[at[depth] - 1]].parent != caller) {
            if (depth-- == 0)
                return gcd_sink_status(out, err);
            continue;
        }
        uint32_t number = f->sorted[at[depth]++ - 1];
        path[depth++] = number;
        at[depth] = f->first[number];
        uint64_t value = stacks_by_waits(&f->stacks) ? f->stacks.steps[number].own_count
                                                     : f->stacks.steps[number].own_bytes;
        if (value > 0)
            put_stack(out, f, path, depth, value);
        if (++done % 4096 == 0) /* only the analysis reports progress */
            GCD_TRY(write_check(options, out, 1, 1, err));
    }
}

static gcd_status folded_write(const struct gcd_graph *g, struct gcd_sink *s,
                               const struct gcd_write_options *options,
                               struct gcd_write_notes *notes, struct gcd_error *err)
{
    struct folded f = { .alloc = gcd_alloc_or_default(options->context.alloc) };
    gcd_status st = stacks_new(g, options, false, &f.stacks, err);
    if (st == GCD_OK)
        st = sort(&f, err);
    if (st == GCD_OK)
        st = put_stacks(&f, s, options, err);
    if (st == GCD_OK)
        stacks_note(&f.stacks, notes);
    gcd_mem_free(&f.alloc, f.rank, f.stacks.labels * sizeof *f.rank);
    gcd_mem_free(&f.alloc, f.sorted, sorted_room(&f) * sizeof *f.sorted);
    gcd_mem_free(&f.alloc, f.first, (f.stacks.count + 1) * sizeof *f.first);
    stacks_done(&f.stacks);
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
