/* Asynchronous operations, and one stack of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/origins.h>
#include <gcdumpc/unstable/text/plural.h>

#include "browse/opening.h"
#include "term/term.h"

static const struct gcd_async_frame *frames_of(const struct browse_view *v)
{
    size_t n;
    return gcd_async_frames(v->model->async, &n);
}

/* The innermost frame of the stack that ends with FRAME. */
static uint32_t innermost(const struct gcd_async_frame *frames, uint32_t frame)
{
    while (frames[frame].parent != GCD_FRAME_NONE)
        frame = frames[frame].parent;
    return frame;
}

/* The innermost frame of the program in the stack that ends with LAST; without one, LAST. */
static uint32_t own_frame(const struct browse_view *v, uint32_t last)
{
    const struct gcd_async_frame *frames = frames_of(v);
    uint32_t own = last;
    for (uint32_t f = last; f != GCD_FRAME_NONE && v->model->origins != NULL; f = frames[f].parent)
        if (frames[f].type != GCD_FRAME_NONE &&
            gcd_origins_get(v->model->origins, frames[f].type) == GCD_ORIGIN_OWN)
            own = f;
    return own;
}

static void stack_line(const struct browse_view *v, const struct browse_section *s, uint64_t i,
                       struct browse_line *ret)
{
    size_t n;
    const struct gcd_async_frame *frames = frames_of(v);
    uint32_t last = gcd_async_stacks(v->model->async, &n)[i], own = own_frame(v, last);
    (void)s;
    /* first what is waited for, then who of the program waits; all others are in the stack */
    browse_put_name(ret, frames[innermost(frames, last)].name);
    if (frames[own].depth > 0) {
        (void)snprintf(ret->tail, sizeof ret->tail, frames[own].depth > 1 ? " < %u more < " : " < ",
                       (unsigned)frames[own].depth - 1);
        ret->more = frames[own].name;
    }
    ret->has[0] = ret->has[1] = true;
    ret->numbers[0] = frames[last].bytes;
    ret->numbers[1] = frames[last].stacks;
    ret->has[2] = gcd_async_totals(v->model->async).ages_known;
    ret->numbers[2] = frames[last].old_stacks;
    ret->part = frames[last].bytes;
    ret->whole = v->model->summary->bytes;
    ret->goal = GOAL_STACK;
    ret->to = last;
}

static void completed_line(const struct browse_view *v, const struct browse_section *s, uint64_t i,
                           struct browse_line *ret)
{
    size_t n;
    const struct gcd_async_completed *c = &gcd_async_completed(v->model->async, &n)[i];
    (void)s;
    browse_put_name(ret, c->name);
    ret->has[0] = ret->has[1] = true;
    ret->numbers[0] = c->bytes;
    ret->numbers[1] = c->objects;
    ret->goal = c->type != GCD_FRAME_NONE ? GOAL_TYPE : GOAL_NONE;
    ret->to = c->type;
}

static char *totals_text(const struct gcd_summary *s, const struct gcd_async_totals *t,
                         const struct gcd_unnamed *u)
{
    char a[CLI_NUMBER_BYTES], b[CLI_NUMBER_BYTES], c[CLI_NUMBER_BYTES], *text = NULL;
    char remarks[ANSWER_ASYNC_REMARKS_BYTES], untold[ANSWER_UNTOLD_BYTES];
    int n;
    answer_untold(u, t->operations + t->runtime_async, "Which asynchronous operations wait",
                  untold);
    if (answer_is_untold(u, t->operations + t->runtime_async))
        return strdup(untold);
    if (t->operations == 0)
        n = asprintf(&text, "%s", answer_nothing_waits(s, t));
    else
        n = asprintf(&text,
                     "%s asynchronous operation%s in %s stack%s, which alone %s %s alive. Enter "
                     "shows a stack, the innermost frame first.",
                     cli_number(t->operations, true, a), gcd_plural(t->operations),
                     cli_number(t->stacks, true, b), gcd_plural(t->stacks),
                     gcd_by_number(t->stacks, "keeps", "keep"), cli_size(t->bytes, c));
    answer_async_remarks(t, remarks);
    if (n < 0 || (remarks[0] == '\0' && untold[0] == '\0'))
        return n < 0 ? NULL : text;
    char *more = NULL;
    n = asprintf(&more, "%s%s%s%s%s", text, remarks[0] != '\0' ? "\n" : "", remarks,
                 untold[0] != '\0' ? "\n" : "", untold);
    free(text);
    return n < 0 ? NULL : more;
}

gcd_status browse_open_async(struct browse_view *v, const struct gcd_context *call,
                             struct gcd_error *err)
{
    const struct gcd_async *a;
    const struct gcd_origins *origins;
    size_t stacks, completed;
    gcd_status st = gcd_session_async(v->model->session, call, &a, err);
    if (st == GCD_OK)
        st = gcd_session_origins(v->model->session, call, &origins, err);
    if (st != GCD_OK)
        return st;
    struct gcd_async_totals t = gcd_async_totals(a);
    const struct gcd_summary *summary = gcd_graph_summary(gcd_session_graph(v->model->session));
    struct gcd_unnamed unnamed = gcd_types_unnamed(summary);
    (void)gcd_async_stacks(a, &stacks);
    (void)gcd_async_completed(a, &completed);
    st = browse_add_text(v, totals_text(summary, &t, &unnamed), err);
    struct browse_section *s = browse_add_section(v);
    *s = (struct browse_section){ .title = "Stacks that read differently",
                                  .heads = { "Retained", "Stacks", "Old" },
                                  .counts = { [1] = true, [2] = true },
                                  .what = "What is waited for < who waits",
                                  .line = stack_line,
                                  .count = stacks };
    if (completed > 0) {
        s = browse_add_section(v);
        *s = (struct browse_section){ .title = "Over, but still in memory",
                                      .heads = { "Bytes", "Objects" },
                                      .counts = { [1] = true },
                                      .what = "Method",
                                      .line = completed_line,
                                      .count = completed };
    }
    v->title = strdup("Asynchronous operations");
    return st != GCD_OK || v->title != NULL ? st : browse_no_memory(err);
}

static const char *remark(const struct gcd_async_frame *f)
{
    if (f->repeats)
        return f->probable ? ", several times one after another (probably)"
                           : ", several times one after another";
    return f->probable ? " (probably)" : "";
}

gcd_status browse_open_stack(struct browse_view *v, const struct gcd_context *call,
                             struct gcd_error *err)
{
    const struct gcd_async_frame *frames = frames_of(v), *last = &frames[v->subject];
    char a[CLI_NUMBER_BYTES], b[CLI_NUMBER_BYTES], *text = NULL;
    uint32_t path[256]; /* the most frames of a stack (async.h) */
    size_t n = 0;
    (void)call;
    for (uint32_t f = v->subject; f != GCD_FRAME_NONE && n < sizeof path / sizeof *path;
         f = frames[f].parent)
        path[n++] = f;
    if (asprintf(&text, "%s stack%s like this one %s %s alive. Each frame waits for the one above.",
                 cli_number(last->stacks, true, a), gcd_plural(last->stacks),
                 gcd_by_number(last->stacks, "keeps", "keep"), cli_size(last->bytes, b)) < 0)
        text = NULL;
    gcd_status st = browse_add_text(v, text, err);
    struct browse_section *s = browse_add_made_section(v);
    s->title = "Frames";
    s->what = "Frame, the innermost first";
    while (n > 0 && st == GCD_OK) {
        const struct gcd_async_frame *f = &frames[path[--n]];
        struct browse_made made = { .goal = f->type != GCD_FRAME_NONE ? GOAL_TYPE : GOAL_NONE,
                                    .to = f->type };
        if (asprintf(&made.text, "%s%s", f->name, remark(f)) < 0)
            made.text = NULL;
        st = browse_add_made(v, made, err);
    }
    if (st == GCD_OK && last->cut)
        st = browse_add_made(v, (struct browse_made){ .text = strdup("(and what waits for it)") },
                             err);
    if (asprintf(&v->title, "Stack of %s", last->name) < 0)
        v->title = NULL;
    return st != GCD_OK || v->title != NULL ? st : browse_no_memory(err);
}
