#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/async.h>
#include <gcdumpc/unstable/async_values.h>
#include <gcdumpc/unstable/origins.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/text/plural.h>

#include "answer/answers.h"
#include "args.h"
#include "base/ovf.h"
#include "commands/commands.h"
#include "commands/open_dump.h"
#include "commands/command_parts.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/fail.h"
#include "input/input.h"
#include "output/document.h"
#include "output/json_out.h"
#include "output/pattern.h"
#include "signals.h"
#include "term/message.h"
#include "term/progress.h"
#include "term/term.h"

#define DEFAULT_STACKS  20u
#define SHOWN_COMPLETED 5u
#define SHOWN_TIMERS    10u
#define SHOWN_REQUESTS  20u

#define IDLE_OWNERS 2
static const struct {
    const char *prefix, *name;
} idle_owners[IDLE_OWNERS] = { { "Microsoft.AspNetCore.Server.Kestrel.", "Kestrel" },
                               { "System.Net.Http.", "HttpClient" } };

struct waiting {
    const struct cli_args *args;
    struct cli_dump d;
    const struct gcd_async *async;
    struct gcd_async_totals totals;
    struct gcd_unnamed unnamed;
    /* [stack_count] shown: those that pass --filter and --min-bytes, the first --top of them */
    uint32_t *stacks;
    size_t stack_count, matched;
    struct answer_stack *folded; /* [stack_count] for people: in place of STACKS; NULL = none */
    /* in text: what only the framework waits for, which is not in STACKS and not MATCHED */
    uint64_t idle_sockets, idle_pipes;
    bool idle_of[IDLE_OWNERS];
    uint64_t heap_bytes;
    struct gcd_async_values *values;          /* of memory; NULL = there is none at hand */
    struct answer *tasks, *timers, *requests; /* if VALUES are there */
    struct answer *jam;                       /* in text, where many calls wait; NULL = not asked */
};

/* ---- text ---- */

static void print_completed(const struct waiting *w)
{
    char a[CLI_NUMBER_BYTES];
    size_t n;
    const struct gcd_async_completed *c = gcd_async_completed(w->async, &n);
    if (n == 0)
        return;
    bool people = cli_is_terminal(stdout);
    printf("\nOver, but still in memory: %s\n", cli_number(w->totals.completed, people, a));
    for (size_t i = 0; i < n && i < SHOWN_COMPLETED; i++) {
        printf("%8s  ", cli_number(c[i].objects, people, a));
        cli_print_sanitized(stdout, c[i].name);
        putchar('\n');
    }
    if (n > SHOWN_COMPLETED)
        printf("          (and of %s more method%s)\n", GCD_DIGITS(n - SHOWN_COMPLETED),
               gcd_plural(n - SHOWN_COMPLETED));
}

static void print_head(const struct waiting *w)
{
    char a[CLI_NUMBER_BYTES], b[CLI_NUMBER_BYTES], c[CLI_NUMBER_BYTES];
    bool people = cli_is_terminal(stdout);
    size_t different;
    (void)gcd_async_stacks(w->async, &different);
    if (answer_is_untold(&w->unnamed, w->totals.operations + w->totals.runtime_async))
        return; /* print_untold */
    if (w->totals.operations == 0) {
        puts(answer_nothing_waits(gcd_graph_summary(w->d.graph), &w->totals));
        return;
    }
    printf("Asynchronous operations: %s.  Stacks: %s", cli_number(w->totals.operations, people, a),
           cli_number(w->totals.stacks, people, b));
    printf(", different: %s.", cli_number(different, people, c));
    if (people)
        printf("  Retained: %s of %s.\n\n", cli_size(w->totals.bytes, a),
               cli_size(w->heap_bytes, b));
    else
        printf("  Retained: %s of %s bytes.\n\n", GCD_DIGITS(w->totals.bytes),
               GCD_DIGITS(w->heap_bytes));
}

/* What waits besides, unless all types have names. */
static void print_untold(const struct waiting *w)
{
    char text[ANSWER_UNTOLD_BYTES];
    answer_untold(&w->unnamed, w->totals.operations + w->totals.runtime_async,
                  "Which asynchronous operations wait", text);
    if (text[0] != '\0')
        puts(text);
}

static void print_idle(const struct waiting *w)
{
    uint64_t sockets = w->idle_sockets, pipes = w->idle_pipes;
    if (sockets == 0 && pipes == 0)
        return;
    fputs("(Only the framework waits for ", stdout);
    if (sockets > 0)
        printf("%s socket%s", GCD_DIGITS(sockets), gcd_plural(sockets));
    if (pipes > 0)
        printf("%s%s pipe%s", sockets > 0 ? " and " : "", GCD_DIGITS(pipes), gcd_plural(pipes));
    for (size_t i = 0, n = 0; i < IDLE_OWNERS; i++)
        if (w->idle_of[i])
            printf("%s%s", n++ == 0 ? " of " : " and ", idle_owners[i].name);
    puts("; --top lists them)");
}

/* ---- what memory tells ---- */

static void print_tasks(const struct waiting *w)
{
    size_t n = answer_plain_rows(w->tasks);
    for (size_t i = 0; i < n; i++)
        printf("%s%s %s", i == 0 ? "\nTasks: " : ", ",
               GCD_DIGITS(answer_find(w->tasks, i, "count")->number),
               answer_find(w->tasks, i, "state")->text);
    if (n > 0)
        puts(".");
}

static bool print_table(const struct answer *a)
{
    size_t n = answer_plain_rows(a);
    if (n == 0)
        return true;
    putchar('\n');
    bool ok = render_text(a, stdout);
    if (n < a->total)
        printf("(%s more lines; --json has all)\n", GCD_DIGITS(a->total - n));
    return ok || ferror(stdout);
}

static bool print_values(const struct waiting *w)
{
    if (w->values == NULL)
        return true;
    print_tasks(w);
    bool ok = print_table(w->timers) && print_table(w->requests);
    if (answer_plain_rows(w->requests) > 0 && w->args->view.values == CLI_VALUES_HIDDEN)
        puts("(Paths: --show-values)");
    return ok;
}

static enum cli_exit find_values(struct waiting *w)
{
    const struct cli_view_args *view = &w->args->view;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_context context = cli_context_steps(w->args, "reading tasks and timers");
    size_t timers = view->json ? SIZE_MAX : SHOWN_TIMERS,
           requests = view->json ? SIZE_MAX : SHOWN_REQUESTS;
    if (view->csv) /* one table, that of the stacks */
        return CLI_DONE;
    gcd_status st = answer_find_async_values(w->d.session, &context, &w->values, &err);
    cli_progress_end();
    if (st == GCD_OK && w->values != NULL)
        st = answer_tasks(w->d.session, w->values, &w->tasks, &err);
    if (st == GCD_OK && w->values != NULL)
        st = answer_timers(w->d.session, w->values, timers, &w->timers, &err);
    if (st == GCD_OK && w->values != NULL)
        st = answer_requests(w->d.session, w->values, requests, &w->requests, &err);
    return st == GCD_OK ? CLI_DONE : cli_fail(w->d.subject, &err);
}

bool cli_print_waiting(const struct answer *jam)
{
    for (size_t i = 0; i < jam->rows; i++) {
        fputs("Waiting:", stdout);
        if (!cli_print_paragraph(8, answer_find(jam, i, "sentence")->text))
            return false;
    }
    return true;
}

static enum cli_exit print_text(const struct waiting *w, const struct answer *stacks)
{
    errno = 0;
    cli_mark_incomplete(stdout, w->d.subject, &cli_summary(&w->d)->verdict);
    print_head(w);
    if (w->jam != NULL && w->jam->rows > 0) {
        if (!cli_print_waiting(w->jam))
            return cli_no_memory(w->d.subject);
        putchar('\n');
    }
    if (w->stack_count > 0 && !render_text(stacks, stdout) && !ferror(stdout))
        return cli_no_memory(w->d.subject);
    if (w->stack_count < w->matched)
        printf("(%s more stack%s; --top shows more)\n", GCD_DIGITS(w->matched - w->stack_count),
               gcd_plural(w->matched - w->stack_count));
    print_idle(w);
    print_untold(w);
    print_completed(w);
    if (!print_values(w))
        return cli_no_memory(w->d.subject);
    char remarks[ANSWER_ASYNC_REMARKS_BYTES];
    answer_async_remarks(&w->totals, remarks);
    if (remarks[0] != '\0')
        printf("\n%s\n", remarks);
    return CLI_DONE;
}

/* ---- JSON ---- */

json_t *cli_async_head(json_t *o, const struct gcd_async *async, const struct gcd_unnamed *u)
{
    const struct gcd_async_totals t = gcd_async_totals(async);
    cli_json_told(o, "operations", t.operations, u);
    cli_json_told(o, "stack_count", t.stacks, u);
    cli_json_told(o, "bytes", t.bytes, u);
    cli_json_told(o, "probable_stacks", t.probable_stacks, u);
    cli_json_told(o, "completed_count", t.completed, u);
    cli_json_told(o, "completed_bytes", t.completed_bytes, u);
    cli_json_told(o, "runtime_async_calls", t.runtime_calls, u);
    cli_json_told(o, "runtime_async_objects", t.runtime_async, u);
    cli_json_told(o, "fsharp_async_objects", t.fsharp_async, u);
    cli_json_names_missing(o, u);
    json_object_set_new(o, "old_stacks",
                        t.ages_known ? cli_json_number(t.old_stacks) : json_null());
    return o;
}

static json_t *json_head(const struct waiting *w)
{
    json_t *o = cli_json_head(w->d.subject);
    cli_json_count(o, "heap_bytes", w->heap_bytes);
    cli_json_told(o, "different", w->matched, &w->unnamed);
    (void)json_object_set_new(o, "waiting",
                              w->jam != NULL ? render_json_rows(w->jam, NULL) : json_array());
    return cli_async_head(o, w->async, &w->unnamed);
}

/* ---- the command ---- */

enum cli_exit cli_stack_pattern(const char *text, struct cli_pattern **ret)
{
    const char *problem = cli_pattern_new(text, strlen(text), ret);
    if (problem != NULL)
        return cli_error(CLI_USAGE, NULL, "--filter %s: %s", text, problem);
    return *ret != NULL ? CLI_DONE : cli_no_memory(NULL);
}

enum cli_match cli_choose_stacks(const struct gcd_async *async, struct cli_pattern *p,
                                 uint64_t min_bytes, uint32_t **ret, size_t *ret_n)
{
    size_t n, frame_count;
    const uint32_t *stacks = gcd_async_stacks(async, &n);
    const struct gcd_async_frame *frames = gcd_async_frames(async, &frame_count);
    enum cli_match m = CLI_MATCH;
    *ret = calloc(n + 1, sizeof **ret);
    *ret_n = 0;
    for (size_t i = 0; i < n && *ret != NULL; i++) {
        m = frames[stacks[i]].bytes < min_bytes ? CLI_NO_MATCH : CLI_MATCH;
        for (uint32_t f = stacks[i]; p != NULL && m == CLI_MATCH;) {
            m = cli_pattern_match(p, frames[f].name, &cli_canceled);
            f = frames[f].parent;
            if (m != CLI_NO_MATCH || f == GCD_FRAME_NONE)
                break;
            m = CLI_MATCH;
        }
        if (m == CLI_MATCH_NO_MEMORY || m == CLI_MATCH_CANCELED)
            return m;
        if (m == CLI_MATCH)
            (*ret)[(*ret_n)++] = stacks[i];
    }
    return *ret != NULL ? CLI_MATCH : CLI_MATCH_NO_MEMORY;
}

enum whose { WHOSE_PROGRAM, WHOSE_LIBRARY, WHOSE_FRAMEWORK, WHOSES };

/* Whose code the stack that ends with frame F has, next to that of the framework. */
static enum whose whose_stack(const struct gcd_async_frame *frames,
                              const struct gcd_origins *origins, uint32_t f)
{
    enum whose whose = WHOSE_FRAMEWORK;
    for (; f != GCD_FRAME_NONE; f = frames[f].parent) {
        enum gcd_origin origin = frames[f].type != GCD_FRAME_NONE
                                     ? gcd_origins_get(origins, frames[f].type)
                                     : GCD_ORIGIN_FRAMEWORK;
        if (origin == GCD_ORIGIN_OWN)
            return WHOSE_PROGRAM;
        if (origin == GCD_ORIGIN_LIBRARY)
            whose = WHOSE_LIBRARY;
    }
    return whose;
}

/* Is the stack that ends with frame F, all of it code of the framework, one that waits for a socket
 * or a pipe, as a server or a connection without work does?  Counts it, then. */
static bool count_idle_stack(struct waiting *w, const struct gcd_async_frame *frames, uint32_t f)
{
    uint32_t first = f;
    while (frames[first].parent != GCD_FRAME_NONE)
        first = frames[first].parent;
    enum gcd_async_kind kind = frames[first].kind;
    if (kind != GCD_ASYNC_SOCKET && kind != GCD_ASYNC_PIPE)
        return false;
    *(kind == GCD_ASYNC_SOCKET ? &w->idle_sockets : &w->idle_pipes) += frames[f].stacks;
    for (; f != GCD_FRAME_NONE; f = frames[f].parent)
        for (size_t i = 0; i < IDLE_OWNERS; i++)
            w->idle_of[i] = w->idle_of[i] || strncmp(frames[f].name, idle_owners[i].prefix,
                                                     strlen(idle_owners[i].prefix)) == 0;
    return true;
}

/* Also a method of runtime async that may be the program's. */
static bool is_own_frame(const struct gcd_async_frame *f, const struct gcd_origins *origins)
{
    return f->type == GCD_FRAME_NONE ? f->kind == GCD_ASYNC_RUNTIME_METHOD
                                     : gcd_origins_get(origins, f->type) == GCD_ORIGIN_OWN;
}

/* More frequent ones first, else as they were. */
static int compare_folded(const void *a, const void *b)
{
    const struct answer_stack *x = a, *y = b;
    if (x->stacks != y->stacks)
        return x->stacks > y->stacks ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

/* The end of stack F as it is shown: its last frame of the program if more than one frame is
 * behind that. */
static struct answer_stack folded_stack(const struct gcd_async_frame *frames,
                                        const struct gcd_origins *origins, uint32_t f)
{
    struct answer_stack s = { .frame = f,
                              .stacks = frames[f].stacks,
                              .old_stacks = frames[f].old_stacks,
                              .bytes = frames[f].bytes };
    uint32_t own = f, behind = 0;
    for (; own != GCD_FRAME_NONE && !is_own_frame(&frames[own], origins); behind++)
        own = frames[own].parent;
    if (own != GCD_FRAME_NONE && behind > 1 && !frames[f].cut) {
        s.frame = own;
        s.hidden = behind;
    }
    return s;
}

/* Folds the first OWN of W->stacks, which have code of the program; all others stay as they are. */
static enum cli_exit fold_for_people(struct waiting *w, const struct gcd_origins *origins,
                                     size_t own)
{
    size_t frame_count, n = 0;
    const struct gcd_async_frame *frames = gcd_async_frames(w->async, &frame_count);
    uint32_t *at = calloc(frame_count + 1, sizeof *at); /* 1 + position in W->folded; 0 = none */
    w->folded = calloc(w->matched + 1, sizeof *w->folded);
    if (at == NULL || w->folded == NULL) {
        free(at);
        return cli_no_memory(w->d.subject);
    }
    for (size_t i = 0; i < w->matched; i++) {
        struct answer_stack s = folded_stack(frames, origins, w->stacks[i]);
        struct answer_stack *same =
            s.hidden > 0 && at[s.frame] > 0 ? &w->folded[at[s.frame] - 1] : NULL;
        if (i == own)
            qsort(w->folded, n, sizeof *w->folded, compare_folded);
        if (same == NULL) {
            at[s.frame] = s.hidden > 0 ? (uint32_t)n + 1 : 0;
            w->folded[n++] = s;
            continue;
        }
        gcd_add_saturating(&same->stacks, s.stacks);
        gcd_add_saturating(&same->old_stacks, s.old_stacks);
        gcd_add_saturating(&same->bytes, s.bytes);
        same->varies = same->varies || same->hidden != s.hidden;
        same->hidden = s.hidden > same->hidden ? s.hidden : same->hidden;
    }
    if (own == w->matched)
        qsort(w->folded, n, sizeof *w->folded, compare_folded);
    w->matched = n;
    free(at);
    return CLI_DONE;
}

bool cli_own_stacks_first(const struct gcd_async *async, const struct gcd_origins *origins,
                          uint32_t *stacks, size_t n, size_t *ret_own)
{
    size_t frame_count, counts[WHOSES] = { 0 };
    const struct gcd_async_frame *frames = gcd_async_frames(async, &frame_count);
    uint32_t *lists = calloc(WHOSES * n + 1, sizeof *lists); /* [WHOSES][n] */
    if (lists == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        enum whose whose = whose_stack(frames, origins, stacks[i]);
        lists[whose * n + counts[whose]++] = stacks[i];
    }
    for (size_t whose = 0, k = 0; whose < WHOSES; whose++)
        for (size_t i = 0; i < counts[whose]; i++)
            stacks[k++] = lists[whose * n + i];
    *ret_own = counts[WHOSE_PROGRAM];
    free(lists);
    return true;
}

/* For people: stacks with the program's own code come first; those of an idle framework are only
 * counted, unless FOLDS is false. */
static enum cli_exit sort_for_people(struct waiting *w, const struct gcd_origins *origins,
                                     bool folds)
{
    size_t frame_count, n = 0, own;
    const struct gcd_async_frame *frames = gcd_async_frames(w->async, &frame_count);
    for (size_t i = 0; i < w->matched; i++)
        if (!folds || whose_stack(frames, origins, w->stacks[i]) != WHOSE_FRAMEWORK ||
            !count_idle_stack(w, frames, w->stacks[i]))
            w->stacks[n++] = w->stacks[i];
    w->matched = n;
    if (!cli_own_stacks_first(w->async, origins, w->stacks, n, &own))
        return cli_no_memory(w->d.subject);
    return folds ? fold_for_people(w, origins, own) : CLI_DONE;
}

/* ORIGINS: NULL = not for people. */
static enum cli_exit choose(struct waiting *w, const struct gcd_origins *origins,
                            struct cli_pattern *p)
{
    const struct cli_view_args *view = &w->args->view;
    uint64_t top = view->top != 0            ? view->top
                   : view->json || view->csv ? UINT64_MAX
                                             : DEFAULT_STACKS;
    enum cli_match m = cli_choose_stacks(w->async, p, view->min_bytes, &w->stacks, &w->matched);
    enum cli_exit e = m == CLI_MATCH_NO_MEMORY ? cli_no_memory(w->d.subject)
                      : m == CLI_MATCH_CANCELED
                          ? cli_error(CLI_INTERRUPTED, w->d.subject, "interrupted")
                          : CLI_DONE;
    if (e == CLI_DONE && origins != NULL)
        e = sort_for_people(w, origins, p == NULL && view->top == 0);
    w->stack_count = w->matched < top ? w->matched : (size_t)top;
    return e;
}

static enum cli_exit analyse(struct waiting *w)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct cli_pattern *p = NULL;
    struct gcd_context context = cli_context_steps(w->args, "finding asynchronous operations");
    enum cli_exit e =
        w->args->view.filter != NULL ? cli_stack_pattern(w->args->view.filter, &p) : CLI_DONE;
    const struct gcd_origins *origins = NULL;
    bool people = !w->args->view.json && !w->args->view.csv;
    if (e == CLI_DONE &&
        (gcd_session_async(w->d.session, &context, &w->async, &err) != GCD_OK ||
         (people && gcd_session_origins(w->d.session, &context, &origins, &err) != GCD_OK)))
        e = cli_fail(w->d.subject, &err);
    cli_progress_end();
    if (e == CLI_DONE) {
        w->totals = gcd_async_totals(w->async);
        w->unnamed = gcd_types_unnamed(gcd_graph_summary(w->d.graph));
        w->heap_bytes = gcd_graph_summary(w->d.graph)->bytes;
        e = choose(w, origins, p);
    }
    if (e == CLI_DONE && !w->args->view.csv && p == NULL &&
        answer_jam(w->d.session, &context, &w->jam, &err) != GCD_OK)
        e = cli_fail(w->d.subject, &err);
    cli_pattern_free(p);
    return e;
}

static enum cli_exit print_all(const struct waiting *w)
{
    struct gcd_error err = GCD_ERROR_INIT;
    bool json = w->args->view.json, people = !json && !w->args->view.csv;
    struct cli_titled answers[] = { { .key = "stacks" },
                                    { .key = "completed" },
                                    { .key = "tasks", .answer = w->tasks },
                                    { .key = "timers", .answer = w->timers },
                                    { .key = "requests", .answer = w->requests } };
    size_t count = !json ? 1 : w->values == NULL ? 2 : sizeof answers / sizeof *answers;
    struct answer_of_stacks of = { w->stacks, w->folded, w->stack_count, people };
    gcd_status st = answer_stacks(w->async, &of, &answers[0].answer, &err);
    if (st == GCD_OK && json)
        st = answer_completed(w->async, &answers[1].answer, &err);
    enum cli_exit e =
        st != GCD_OK ? cli_fail(w->d.subject, &err)
        : people     ? print_text(w, answers[0].answer)
                 : cli_print_answers(w->args, &w->d, json ? json_head(w) : NULL, answers, count);
    answer_free(answers[0].answer);
    answer_free(answers[1].answer);
    return e;
}

/* -o: writes what convert --stack-by waits does. */
static enum cli_exit write_profile(const struct cli_args *args)
{
    struct cli_args waits = *args;
    const struct gcd_format *f = args->output.format != NULL
                                     ? gcd_format_by_name(args->output.format)
                                     : gcd_format_by_path(args->output.path);
    const char *name = f != NULL ? gcd_format_name(f) : "";
    if (strcmp(name, "collapsed") != 0 && strcmp(name, "pprof") != 0)
        return cli_error(
            CLI_USAGE, args->output.path,
            "async writes flame graphs: .folded, .pb or .pb.gz, or --format collapsed or pprof");
    if (args->view.json || args->view.csv || args->view.filter != NULL || args->view.top != 0 ||
        args->view.min_bytes != 0)
        return cli_error(CLI_USAGE, NULL,
                         "async -o writes all stacks: it cannot be combined with --json, --csv, "
                         "--filter, --top and --min-bytes");
    waits.output.stack_by = GCD_STACK_BY_WAITS;
    return cmd_convert(&waits);
}

enum cli_exit cmd_async(const struct cli_args *args)
{
    if (args->output.path != NULL)
        return write_profile(args);
    struct waiting w = { .args = args };
    enum cli_exit e = cli_open_session(args, CLI_NEED_RETAINED, &w.d);
    if (e == CLI_DONE)
        e = analyse(&w);
    if (e == CLI_DONE)
        e = find_values(&w);
    if (e == CLI_DONE)
        e = cli_finish(args, &w.d, print_all(&w), 0);
    answer_free(w.jam);
    answer_free(w.tasks);
    answer_free(w.timers);
    answer_free(w.requests);
    gcd_async_values_free(w.values);
    free(w.folded);
    free(w.stacks);
    cli_close(&w.d);
    return e;
}
