#include "answer/answers.h"

#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/blocked.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/text/plural.h>

#include "base/error.h"
#include "base/mem.h"

/* Frames of one stack that people see. */
#define SHOWN_FRAMES 40u
/* The most frames of a stack (async.h). */
#define FRAMES_MAX 256u

static const struct answer_column frame_columns[] = {
    FIELD("name", ANSWER_TEXT),
    FIELD("kind", ANSWER_TEXT),
    FIELD("certain", ANSWER_FLAG),
    FIELD("repeats", ANSWER_FLAG),
};
static const struct answer_shape frames_shape = ANSWER_SHAPE(frame_columns);

static const struct answer_column stack_columns[] = {
    COLUMN("count", "Stacks", ANSWER_COUNT),
    COLUMN("old", "Old", ANSWER_COUNT),
    COLUMN("bytes", "Retained", ANSWER_BYTES),
    FIELD("certain", ANSWER_FLAG),
    FIELD("waits_for", ANSWER_TEXT),
    FIELD("kind", ANSWER_TEXT),
    FIELD("depth", ANSWER_COUNT),
    FIELD("cut", ANSWER_FLAG),
    FIELD("stack", ANSWER_TEXT),
    PEOPLE("frame", "Stack, the innermost first", ANSWER_TREE),
    ROWS("frames", ANSWER_FOR_PROGRAMS, &frames_shape),
};
const struct answer_shape answer_stacks_shape = ANSWER_SHAPE(stack_columns);

static const struct answer_column completed_columns[] = {
    COLUMN("name", "Method", ANSWER_TEXT),
    COLUMN("count", "Objects", ANSWER_COUNT),
    COLUMN("bytes", "Bytes", ANSWER_BYTES),
};
static const struct answer_shape completed_shape = ANSWER_SHAPE(completed_columns);

void answer_async_remarks(const struct gcd_async_totals *t, char ret[ANSWER_ASYNC_REMARKS_BYTES])
{
    int n = 0;
    ret[0] = '\0';
    if (t->runtime_calls > 0)
        n = snprintf(
            ret, ANSWER_ASYNC_REMARKS_BYTES,
            "Calls of runtime async: %s. Their objects do not say of which method they are, only "
            "what it keeps.",
            GCD_DIGITS(t->runtime_calls));
    if (t->runtime_async > 0 && n >= 0)
        n += snprintf(ret + n, ANSWER_ASYNC_REMARKS_BYTES - (size_t)n,
                      "%sObjects of runtime async: %s. What those methods wait for is not known.",
                      n > 0 ? "\n" : "", GCD_DIGITS(t->runtime_async));
    if (t->fsharp_async > 0 && n >= 0 && n < (int)ANSWER_ASYNC_REMARKS_BYTES)
        (void)snprintf(ret + n, ANSWER_ASYNC_REMARKS_BYTES - (size_t)n,
                       "%sF# async computations are not read: what they and their agents wait for "
                       "is not known (objects of them: %s).",
                       n > 0 ? "\n" : "", GCD_DIGITS(t->fsharp_async));
}

/* Fills RET[FRAMES_MAX] with the frames of the stack that ends with FRAME, innermost first.
 * Returns their number. */
static size_t frames_of(const struct gcd_async_frame *frames, uint32_t frame, uint32_t *ret)
{
    size_t n = frames[frame].depth + (size_t)1;
    for (size_t i = n; i-- > 0; frame = frames[frame].parent)
        ret[i] = frame;
    return n;
}

/* All frames as one text, innermost first. */
static void put_joined(struct answer *a, const struct gcd_async_frame *frames, const uint32_t *path,
                       size_t n)
{
    size_t bytes = 1, used = 0;
    for (size_t i = 0; i < n; i++)
        bytes += strlen(frames[path[i]].name) + 3;
    char *text = gcd_mem_new(&a->alloc, bytes);
    for (size_t i = 0; i < n && text != NULL; i++) {
        size_t length = strlen(frames[path[i]].name);
        if (i > 0)
            memcpy(text + used, " < ", 3);
        used += i > 0 ? 3 : 0;
        memcpy(text + used, frames[path[i]].name, length);
        used += length;
    }
    answer_text(a, "stack", text);
    if (text == NULL)
        a->top->status = GCD_E_NOMEM;
    gcd_mem_free(&a->alloc, text, bytes);
}

static void put_stack(struct answer *a, const struct gcd_async *async, const struct answer_stack *f,
                      const uint32_t *path, size_t n)
{
    size_t count;
    const struct gcd_async_frame *frames = gcd_async_frames(async, &count);
    bool certain = true;
    for (size_t i = 0; i < n; i++)
        certain = certain && !frames[path[i]].probable;
    answer_row(a);
    answer_count(a, "count", f->stacks);
    if (gcd_async_totals(async).ages_known)
        answer_count(a, "old", f->old_stacks);
    answer_count(a, "bytes", f->bytes);
    answer_flag(a, "certain", certain);
    answer_text(a, "waits_for", frames[path[0]].name);
    answer_text(a, "kind", gcd_async_kind_name(frames[path[0]].kind));
    answer_count(a, "depth", n);
    answer_flag(a, "cut", frames[f->frame].cut);
    put_joined(a, frames, path, n);
    answer_text(a, "frame", frames[path[0]].name);
}

static void put_frames(struct answer *a, const struct gcd_async_frame *frames, const uint32_t *path,
                       size_t n)
{
    struct answer *rows = answer_rows(a, "frames");
    for (size_t i = 0; i < n; i++) {
        const struct gcd_async_frame *f = &frames[path[i]];
        answer_row(rows);
        answer_text(rows, "name", f->name);
        answer_text(rows, "kind", gcd_async_kind_name(f->kind));
        answer_flag(rows, "certain", !f->probable);
        answer_flag(rows, "repeats", f->repeats);
    }
}

static void put_line(struct answer *a, const char *text, const struct gcd_async_frame *f)
{
    answer_row(a);
    answer_format(a, "frame", "%s%s%s", text,
                  f != NULL && f->repeats ? ", several times one after another" : "",
                  f != NULL && f->probable ? " (probably)" : "");
    answer_depth(a, "frame", 1);
}

/* A line for each frame but the first, for people. */
static void put_lines(struct answer *a, const struct gcd_async_frame *frames, const uint32_t *path,
                      size_t n)
{
    for (size_t k = 1; k < n; k++) {
        size_t left_out = k == SHOWN_FRAMES && n > SHOWN_FRAMES + 2 ? n - SHOWN_FRAMES - 1 : 0;
        if (left_out > 0) {
            answer_row(a);
            answer_format(a, "frame", "(%s more frame%s)", GCD_DIGITS(left_out),
                          gcd_plural(left_out));
            answer_depth(a, "frame", 1);
            k += left_out;
        }
        put_line(a, frames[path[k]].name, &frames[path[k]]);
    }
    if (frames[path[n - 1]].cut)
        put_line(a, "(and what waits for it)", NULL);
}

/* "... 7 framework steps" */
static void put_hidden(struct answer *a, const struct answer_stack *f)
{
    char text[ANSWER_HIDDEN_BYTES];
    if (f->hidden == 0)
        return;
    (void)answer_hidden_text(f->hidden, 0, text);
    answer_row(a);
    answer_format(a, "frame", "%s%s", text, f->varies ? " or fewer" : "");
    answer_depth(a, "frame", 1);
}

static struct answer_stack one_stack(const struct gcd_async_frame *frames, uint32_t frame)
{
    const struct gcd_async_frame *f = &frames[frame];
    return (struct answer_stack){
        .frame = frame, .stacks = f->stacks, .old_stacks = f->old_stacks, .bytes = f->bytes
    };
}

gcd_status answer_stacks(const struct gcd_async *async, const struct answer_of_stacks *of,
                         struct answer **ret, struct gcd_error *err)
{
    size_t count;
    uint32_t path[FRAMES_MAX];
    const struct gcd_async_frame *frames = gcd_async_frames(async, &count);
    struct answer *a = *ret = answer_new(NULL, &answer_stacks_shape);
    if (a == NULL)
        return gcd_fail_nomem(err, "listing stacks");
    if (of->people && !gcd_async_totals(async).ages_known)
        answer_hide(a, "old");
    for (size_t i = 0; i < of->n; i++) {
        struct answer_stack s =
            of->folded != NULL ? of->folded[i] : one_stack(frames, of->stacks[i]);
        size_t depth = frames_of(frames, s.frame, path);
        put_stack(a, async, &s, path, depth);
        if (!of->people) {
            put_frames(a, frames, path, depth);
            continue;
        }
        put_lines(a, frames, path, depth);
        put_hidden(a, &s);
    }
    a->total = of->n;
    return GCD_OK;
}

gcd_status answer_completed(const struct gcd_async *async, struct answer **ret,
                            struct gcd_error *err)
{
    size_t n;
    const struct gcd_async_completed *c = gcd_async_completed(async, &n);
    struct answer *a = *ret = answer_new(NULL, &completed_shape);
    if (a == NULL)
        return gcd_fail_nomem(err, "listing methods");
    for (size_t i = 0; i < n; i++) {
        answer_row(a);
        answer_text(a, "name", c[i].name);
        answer_count(a, "count", c[i].objects);
        answer_count(a, "bytes", c[i].bytes);
    }
    return GCD_OK;
}

static const struct answer_column jam_columns[] = {
    FIELD("kind", ANSWER_TEXT),
    COLUMN("count", "Calls", ANSWER_COUNT),
    FIELD("old", ANSWER_COUNT),
    COLUMN("method", "Wait in", ANSWER_TEXT),
    COLUMN("waits_for", "For", ANSWER_TEXT),
    FIELD("place", ANSWER_TEXT),
    FIELD("others", ANSWER_COUNT),
    FIELD("others_wait_for", ANSWER_TEXT),
    FIELD("others_method", ANSWER_TEXT),
    COLUMN("sentence", "Sentence", ANSWER_TEXT),
};
const struct answer_shape answer_jam_shape = ANSWER_SHAPE(jam_columns);

static void put_jam(struct answer *a, const struct gcd_async *async,
                    const struct gcd_async_jam *jam, const char *place)
{
    size_t n;
    const struct gcd_async_frame *frames = gcd_async_frames(async, &n);
    const char *method = frames[jam->method].name, *what = frames[jam->waits_for].name;
    answer_row(a);
    answer_text(a, "kind", "calls");
    answer_count(a, "count", jam->stacks);
    if (gcd_async_totals(async).ages_known)
        answer_count(a, "old", jam->old_stacks);
    answer_text(a, "method", method);
    answer_text(a, "waits_for", what);
    answer_known(a, "place", answer_keep(a, "%s", place));
    answer_count(a, "others", jam->others);
    if (jam->others > 0)
        answer_text(a, "others_wait_for", frames[jam->others_wait_for].name);
    if (jam->others_method != GCD_FRAME_NONE)
        answer_text(a, "others_method", frames[jam->others_method].name);
    char sentence[GCD_ASYNC_JAM_BYTES];
    gcd_async_jam_text(async, jam, place, sentence, sizeof sentence);
    answer_text(a, "sentence", answer_keep(a, "%s", sentence));
}

/* Threads that wait for locks or block in Wait or Result. */
static void put_threads(struct answer *a, const struct gcd_graph *g, bool tasks_told)
{
    char text[GCD_BLOCKED_BYTES];
    uint64_t threads = gcd_blocked_text(g, tasks_told, text, sizeof text);
    if (text[0] == '\0')
        return;
    answer_row(a);
    answer_text(a, "kind", "threads");
    answer_count(a, "count", threads);
    answer_text(a, "sentence", answer_keep(a, "%s", text));
}

gcd_status answer_jam(struct gcd_session *s, const struct gcd_context *call, struct answer **ret,
                      struct gcd_error *err)
{
    const struct gcd_async *async;
    struct gcd_async_jam_of of = { .graph = gcd_session_graph(s), .names = gcd_session_names(s) };
    struct gcd_async_jam jam;
    char place[GCD_ASYNC_PLACE_BYTES] = "";
    bool found;
    if (call != NULL)
        of.context = *call;
    GCD_TRY(gcd_session_waits(s, call, &async, err));
    GCD_TRY(gcd_session_origins(s, call, &of.origins, err));
    GCD_TRY(gcd_async_find_jam(async, of.origins, of.context.alloc, &jam, &found, err));
    if (found) {
        GCD_TRY(gcd_session_fields(s, call, &of.fields, err));
        of.step = gcd_session_step;
        of.steps = s;
        GCD_TRY(gcd_async_jam_place(async, &jam, &of, place, sizeof place, err));
    }
    struct answer *a = *ret = answer_new(NULL, &answer_jam_shape);
    if (a == NULL)
        return gcd_fail_nomem(err, "finding where calls wait");
    put_threads(a, of.graph, found && jam.blocked > 0);
    if (found)
        put_jam(a, async, &jam, place);
    return GCD_OK;
}
