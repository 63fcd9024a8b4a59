#include "output/folded_paths.h"

#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>

#include "input/fail.h"
#include "input/memory.h"
#include "output/filter.h"
#include "term/message.h"

/* Marks the types that PATTERN selects in MINE[types].  ROOM[types] is scratch space. */
static enum cli_exit add_mine(const char *pattern, const struct cli_dump *d,
                              const struct gcd_names *names, uint8_t *mine, uint8_t *room)
{
    const struct gcd_summary *summary = cli_type_summary(d);
    struct cli_filter *filter;
    bool any = false;
    enum cli_exit e = cli_filter_new(pattern, &filter);
    if (e == CLI_DONE)
        e = cli_filter_select(filter, d->subject, summary, names, NULL, room);
    for (uint32_t i = 0; i < summary->type_count && e == CLI_DONE; i++) {
        mine[i] |= room[i];
        any = any || room[i] != 0;
    }
    if (e == CLI_DONE && !any)
        cli_say(d->subject, "no type matches --mine \"%s\"", pattern);
    cli_filter_free(filter);
    return e;
}

enum cli_exit cli_mine_of(const struct cli_args *args, const struct cli_dump *d,
                          const struct gcd_names *names, uint8_t **ret)
{
    size_t n = (size_t)cli_type_summary(d)->type_count + 1;
    *ret = NULL;
    if (args->view.mine[0] == NULL)
        return CLI_DONE;
    uint8_t *mine = calloc(2, n);
    enum cli_exit e = mine != NULL ? CLI_DONE : cli_no_memory(d->subject);
    for (size_t i = 0; i < CLI_MINE_MAX && args->view.mine[i] != NULL && e == CLI_DONE; i++)
        e = add_mine(args->view.mine[i], d, names, mine, mine + n);
    if (e == CLI_DONE)
        *ret = mine;
    else
        free(mine);
    return e;
}

enum cli_exit cli_origins_of(const struct cli_args *args, const struct cli_dump *d,
                             const struct gcd_names *names, struct gcd_origins **ret)
{
    uint8_t *mine;
    struct gcd_error err = GCD_ERROR_INIT;
    enum cli_exit e = cli_mine_of(args, d, names, &mine);
    struct gcd_origins_options options = { .alloc = cli_alloc(), .mine = mine };
    if (e == CLI_DONE && gcd_origins_new(cli_type_summary(d), &options, ret, &err) != GCD_OK)
        e = cli_fail(d->subject, &err);
    free(mine);
    return e;
}

/* ---- which steps ---- */

struct end {
    uint64_t bytes, count;
    uint32_t step;
};

static int compare_ends(const struct end *a, const struct end *b)
{
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return (a->step > b->step) - (a->step < b->step);
}

/* ENDS[N] is a heap with the smallest path on top, so that the N paths with the most bytes remain.
 */
static void sift_down(struct end *ends, size_t n)
{
    struct end moving = ends[0];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && compare_ends(&ends[child + 1], &ends[child]) > 0)
            child++;
        if (compare_ends(&ends[child], &moving) <= 0)
            break;
        ends[at] = ends[child];
    }
    ends[at] = moving;
}

static void sift_up(struct end *ends, size_t at)
{
    struct end moving = ends[at];
    for (; at > 0 && compare_ends(&moving, &ends[(at - 1) / 2]) > 0; at = (at - 1) / 2)
        ends[at] = ends[(at - 1) / 2];
    ends[at] = moving;
}

static size_t find_ends(const struct cli_type_paths *t, struct end *ends, size_t most)
{
    size_t n = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        struct end e = { t->steps[i].own_bytes, t->steps[i].own_count, i };
        if (e.count == 0)
            continue;
        if (n < most) {
            ends[n] = e;
            sift_up(ends, n++);
        } else if (n > 0 && compare_ends(&e, &ends[0]) < 0) {
            ends[0] = e;
            sift_down(ends, n);
        }
    }
    return n;
}

/* A path ends at a step with wanted objects; the paths with the most bytes are shown. */
static bool choose(struct cli_type_paths *t, uint64_t paths)
{
    size_t most = paths < t->count ? (size_t)paths : t->count;
    struct end *ends = cli_array_new(cli_alloc(), most, sizeof *ends);
    t->shown = cli_array_new(cli_alloc(), t->count, sizeof *t->shown);
    bool ok = ends != NULL && t->shown != NULL;
    size_t n = ok ? find_ends(t, ends, most) : 0;
    for (size_t i = 0; i < n; i++)
        for (uint32_t up = ends[i].step; up != GCD_STEP_NONE && !t->shown[up];
             up = t->steps[up].parent)
            t->shown[up] = true;
    cli_array_free(cli_alloc(), ends, most, sizeof *ends);
    return ok;
}

/* ---- folding ---- */

/* Does the path continue after step I, with the next step as its only child? */
static bool goes_on(const struct cli_type_paths *t, uint32_t i)
{
    return t->steps[i].own_count == 0 && i + 1 < t->steps[i].end && t->shown[i + 1] &&
           t->steps[i + 1].end == t->steps[i].end;
}

/*
 * Folds the chain of steps RANGE[0] up to RANGE[1], each the only child of the one before.
 * ROOM[their number]: to reverse them for paths to the root.
 */
static bool fold_chain(const struct cli_type_paths *t, const uint32_t range[2],
                       struct gcd_fold_step *room, const struct gcd_context *context)
{
    uint32_t first = range[0], end = range[1], n = end - first;
    if (!t->to_root)
        return gcd_session_fold_path(t->session, context, &t->folded[first], n, NULL) == GCD_OK;
    for (uint32_t i = 0; i < n; i++)
        room[i] = t->folded[end - 1 - i];
    gcd_status st = gcd_session_fold_path(t->session, context, room, n, NULL);
    for (uint32_t i = 0; i < n; i++)
        t->folded[end - 1 - i] = room[i];
    return st == GCD_OK;
}

static bool is_hidden(const struct cli_type_paths *t, uint32_t step)
{
    return t->folded[step].fold == GCD_FOLD_HIDDEN;
}

/* The indentation depth of the line for step I. */
static uint32_t depth_of(const struct cli_type_paths *t, uint32_t i)
{
    uint32_t up = t->steps[i].parent;
    if (up == GCD_STEP_NONE || !t->folds)
        return t->steps[i].depth;
    bool same = t->folded[i].fold == GCD_FOLD_INSIDE || (is_hidden(t, i) && is_hidden(t, up));
    return t->depths[up] + (same ? 0 : 1);
}

static bool fold(struct cli_type_paths *t, const struct gcd_context *context)
{
    struct gcd_fold_step *room = cli_array_new(cli_alloc(), t->count, sizeof *room);
    t->folded = cli_array_new(cli_alloc(), t->count, sizeof *t->folded);
    t->depths = cli_array_new(cli_alloc(), t->count, sizeof *t->depths);
    bool ok = room != NULL && t->folded != NULL && t->depths != NULL;
    for (uint32_t i = 0; i < t->count && ok; i++) {
        struct gcd_step_name name = gcd_merged_tree_name(t->tree, t->steps[i].label);
        t->folded[i].type = name.kind == GCD_STEP_TYPE ? name.type : GCD_TYPE_NONE;
        t->folded[i].keep = t->steps[i].own_count > 0;
    }
    for (uint32_t i = 0, end; i < t->count && ok; i = end) {
        for (end = i; goes_on(t, end); end++)
            ;
        ok = fold_chain(t, (const uint32_t[]){ i, ++end }, room, context);
    }
    for (uint32_t i = 0; i < t->count && ok; i++)
        t->depths[i] = depth_of(t, i);
    cli_array_free(cli_alloc(), room, t->count, sizeof *room);
    return ok;
}

bool cli_type_paths_choose(struct cli_type_paths *t, const struct gcd_context *context)
{
    size_t n;
    t->steps = gcd_merged_tree_steps(t->tree, &n);
    t->count = (uint32_t)n;
    return choose(t, t->max) && fold(t, context);
}

void cli_type_paths_done(struct cli_type_paths *t)
{
    cli_array_free(cli_alloc(), t->shown, t->count, sizeof *t->shown);
    cli_array_free(cli_alloc(), t->folded, t->count, sizeof *t->folded);
    cli_array_free(cli_alloc(), t->depths, t->count, sizeof *t->depths);
}

/* ---- lines ---- */

struct teller {
    const struct cli_type_paths *t;
    const struct gcd_origins *origins;
    void (*line)(void *ctx, const struct cli_path_line *l);
    void *ctx;
};

/* One line for the chain of hidden steps that begins at FIRST. */
static void tell_hidden(const struct teller *to, uint32_t first)
{
    const struct cli_type_paths *t = to->t;
    const struct gcd_merged_step *s = &t->steps[first];
    struct cli_path_line l = { .kind = CLI_PATH_HIDDEN,
                               .step = first,
                               .depth = t->depths[first],
                               .count = s->count,
                               .bytes = s->bytes };
    for (uint32_t i = first; i < s->end && is_hidden(t, i); i++, l.hidden++)
        l.library += gcd_origins_get(to->origins, t->folded[i].type) == GCD_ORIGIN_LIBRARY;
    to->line(to->ctx, &l);
}

/* One line for the siblings from FIRST up to END that are not shown, so that the lines always add
 * up. */
static void tell_rest(const struct teller *to, uint32_t first, uint32_t end, uint32_t depth)
{
    const struct cli_type_paths *t = to->t;
    struct cli_path_line l = { .kind = CLI_PATH_REST, .depth = depth };
    for (uint32_t i = first; i < end; i = t->steps[i].end)
        if (!t->shown[i]) {
            l.hidden++;
            l.count += t->steps[i].count;
            l.bytes += t->steps[i].bytes;
        }
    if (l.hidden > 0)
        to->line(to->ctx, &l);
}

static void tell_step(const struct teller *to, uint32_t i)
{
    const struct cli_type_paths *t = to->t;
    struct cli_path_line l = { .kind = CLI_PATH_STEP,
                               .step = i,
                               .depth = t->depths[i],
                               .count = t->steps[i].count,
                               .bytes = t->steps[i].bytes };
    if (!t->folds || t->folded[i].fold == GCD_FOLD_SHOWN)
        to->line(to->ctx, &l);
    else if (is_hidden(t, i) &&
             (t->steps[i].parent == GCD_STEP_NONE || !is_hidden(t, t->steps[i].parent)))
        tell_hidden(to, i);
}

/* Follows the order of the steps; after the last child of a step comes the line for its children
 * that are not shown. */
void cli_type_paths_lines(const struct cli_type_paths *t, const struct gcd_origins *origins,
                          void (*line)(void *ctx, const struct cli_path_line *l), void *ctx)
{
    const struct teller to = { t, origins, line, ctx };
    uint32_t open = GCD_STEP_NONE;
    for (uint32_t i = 0; i <= t->count; i++) {
        while (open != GCD_STEP_NONE && i == t->steps[open].end) {
            tell_rest(&to, open + 1, i, t->depths[open] + 1);
            open = t->steps[open].parent;
        }
        if (i == t->count || !t->shown[i])
            continue;
        tell_step(&to, i);
        open = i;
    }
    tell_rest(&to, 0, t->count, 0);
}
