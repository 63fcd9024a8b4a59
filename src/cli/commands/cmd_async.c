#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/async.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/text/plural.h>

#include "args.h"
#include "commands/commands.h"
#include "commands/open_dump.h"
#include "commands/command_parts.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/fail.h"
#include "input/input.h"
#include "output/json_out.h"
#include "output/output.h"
#include "output/pattern.h"
#include "output/table.h"
#include "signals.h"
#include "term/message.h"
#include "term/progress.h"
#include "term/term.h"

#define DEFAULT_STACKS  20u
#define SHOWN_FRAMES    40u /* frames printed of one stack, for people */
#define SHOWN_COMPLETED 5u
#define PROBABLY        " (probably)"

struct waiting {
    const struct cli_args *args;
    struct cli_dump d;
    const struct gcd_async *async;
    const struct gcd_async_frame *frames;
    struct gcd_async_totals totals;
    /* [stack_count] shown: those that pass --filter and --min-bytes, the first --top of them */
    uint32_t *stacks;
    size_t stack_count, matched;
    uint64_t heap_bytes;
};

static bool is_probable(const struct waiting *w, uint32_t frame)
{
    for (; frame != GCD_FRAME_NONE; frame = w->frames[frame].parent)
        if (w->frames[frame].probable)
            return true;
    return false;
}

/* Fills RET[256] with the frames of the stack that ends with FRAME, innermost first.  Returns their
 * number. */
static size_t frames_of(const struct waiting *w, uint32_t frame, uint32_t *ret)
{
    size_t n = w->frames[frame].depth + (size_t)1;
    for (size_t i = n; i-- > 0; frame = w->frames[frame].parent)
        ret[i] = frame;
    return n;
}

static const char *remark(const struct gcd_async_frame *f)
{
    if (f->repeats)
        return f->probable ? ", several times one after another" PROBABLY
                           : ", several times one after another";
    return f->probable ? PROBABLY : "";
}

/* ---- the table ---- */

#define STACK_COLUMNS(old)                                                               \
    {                                                                                    \
        { "count", "Stacks", CLI_CELL_COUNT }, { "old", old, CLI_CELL_COUNT },           \
            { "bytes", "Retained", CLI_CELL_BYTES }, { "certain", NULL, CLI_CELL_TEXT }, \
            { "waits_for", NULL, CLI_CELL_TEXT }, { "kind", NULL, CLI_CELL_TEXT },       \
            { "depth", NULL, CLI_CELL_COUNT }, { "stack", NULL, CLI_CELL_TEXT },         \
            { NULL, "Stack, the innermost first", CLI_CELL_TREE },                       \
    }
static const struct cli_column columns[] = STACK_COLUMNS("Old"),
                               columns_without_ages[] = STACK_COLUMNS(NULL);
#define COLUMNS (sizeof columns / sizeof *columns)

static void put_numbers(const struct waiting *w, struct cli_table *t,
                        const struct gcd_async_frame *f)
{
    cli_table_count(t, f->stacks);
    if (w->totals.ages_known)
        cli_table_count(t, f->old_stacks);
    else
        cli_table_none(t);
    cli_table_count(t, f->bytes);
}

/* All frames as one text, innermost first; NULL = out of memory. */
static char *joined(const struct waiting *w, const uint32_t *path, size_t n)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    for (size_t i = 0; f != NULL && i < n; i++)
        fprintf(f, "%s%s", i > 0 ? " < " : "", w->frames[path[i]].name);
    if (f == NULL || fclose(f) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static void put_line(const struct waiting *w, struct cli_table *t, uint32_t stack,
                     const uint32_t *path, size_t n)
{
    char *text = joined(w, path, n);
    put_numbers(w, t, &w->frames[stack]);
    cli_table_text(t, is_probable(w, stack) ? "no" : "yes");
    cli_table_text(t, w->frames[path[0]].name);
    cli_table_text(t, gcd_async_kind_name(w->frames[path[0]].kind));
    cli_table_count(t, n);
    cli_table_text(t, text);
    cli_table_branch(t, 0, w->frames[path[0]].name);
    free(text);
}

static void put_frame(struct cli_table *t, const char *name, const char *after)
{
    char *text = NULL;
    for (size_t i = 0; i + 1 < COLUMNS; i++)
        cli_table_none(t);
    if (asprintf(&text, "%s%s", name, after) < 0)
        text = NULL;
    cli_table_branch(t, 1, text);
    free(text);
}

/* PEOPLE: one line per frame. */
static struct cli_table *stacks_table(const struct waiting *w, bool people)
{
    struct cli_table *t =
        cli_table_new(w->totals.ages_known ? columns : columns_without_ages, COLUMNS);
    uint32_t path[256];
    char more[64];
    for (size_t i = 0; i < w->stack_count; i++) {
        size_t n = frames_of(w, w->stacks[i], path);
        put_line(w, t, w->stacks[i], path, n);
        for (size_t k = 1; people && k < n; k++) {
            size_t left_out = k == SHOWN_FRAMES && n > SHOWN_FRAMES + 2 ? n - SHOWN_FRAMES - 1 : 0;
            if (left_out > 0) {
                (void)snprintf(more, sizeof more, "(%s more frame%s)", GCD_DIGITS(left_out),
                               gcd_plural(left_out));
                put_frame(t, more, "");
                k += left_out;
            }
            put_frame(t, w->frames[path[k]].name, remark(&w->frames[path[k]]));
        }
        if (people && w->frames[w->stacks[i]].cut)
            put_frame(t, "(and what waits for it)", "");
    }
    return t;
}

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
    if (w->totals.operations == 0) {
        puts(w->totals.runtime_async > 0 ? "No async method with a state machine waits."
                                         : "No asynchronous operation waits.");
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

static bool print_text(const struct waiting *w)
{
    char a[CLI_NUMBER_BYTES];
    struct cli_table *t = stacks_table(w, true);
    cli_mark_incomplete(stdout, w->d.subject, &cli_summary(&w->d)->verdict);
    print_head(w);
    bool ok = w->stack_count == 0 || cli_table_print(t, stdout);
    cli_table_free(t);
    if (w->stack_count < w->matched)
        printf("(%s more stack%s; --top shows more)\n", GCD_DIGITS(w->matched - w->stack_count),
               gcd_plural(w->matched - w->stack_count));
    print_completed(w);
    if (w->totals.runtime_async > 0)
        printf("\nObjects of runtime async: %s.  What those methods wait for is not known.\n",
               cli_number(w->totals.runtime_async, true, a));
    return ok;
}

/* ---- JSON ---- */

static json_t *frame_json(const struct gcd_async_frame *f)
{
    json_t *o = json_object();
    bool ok = json_object_set_new(o, "name", cli_json_text(f->name)) == 0;
    ok = ok && json_object_set_new(o, "kind", json_string(gcd_async_kind_name(f->kind))) == 0;
    ok = ok && json_object_set_new(o, "certain", json_boolean(!f->probable)) == 0;
    ok = ok && json_object_set_new(o, "repeats", json_boolean(f->repeats)) == 0;
    return ok ? o : NULL;
}

static json_t *stack_json(const struct waiting *w, uint32_t stack)
{
    uint32_t path[256];
    size_t n = frames_of(w, stack, path);
    const struct gcd_async_frame *f = &w->frames[stack];
    json_t *o = json_object(), *frames = json_array();
    bool ok = json_object_set_new(o, "count", cli_json_number(f->stacks)) == 0;
    ok = ok && json_object_set_new(o, "old",
                                   w->totals.ages_known ? cli_json_number(f->old_stacks)
                                                        : json_null()) == 0;
    ok = ok && json_object_set_new(o, "bytes", cli_json_number(f->bytes)) == 0;
    ok = ok && json_object_set_new(o, "certain", json_boolean(!is_probable(w, stack))) == 0;
    ok = ok && json_object_set_new(o, "cut", json_boolean(f->cut)) == 0;
    for (size_t i = 0; i < n && ok; i++)
        ok = json_array_append_new(frames, frame_json(&w->frames[path[i]])) == 0;
    ok = json_object_set_new(o, "frames", frames) == 0 && ok;
    return ok ? o : NULL;
}

static json_t *completed_json(const struct waiting *w)
{
    size_t n;
    const struct gcd_async_completed *c = gcd_async_completed(w->async, &n);
    json_t *all = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *o = json_object();
        bool ok = json_object_set_new(o, "name", cli_json_text(c[i].name)) == 0 &&
                  json_object_set_new(o, "count", cli_json_number(c[i].objects)) == 0 &&
                  json_object_set_new(o, "bytes", cli_json_number(c[i].bytes)) == 0;
        if (json_array_append_new(all, ok ? o : NULL) != 0)
            return NULL;
    }
    return all;
}

static bool print_json(const struct waiting *w)
{
    const struct gcd_async_totals *t = &w->totals;
    json_t *o = cli_json_head(w->d.subject), *stacks = json_array();
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        { "heap_bytes", w->heap_bytes },
        { "operations", t->operations },
        { "stack_count", t->stacks },
        { "bytes", t->bytes },
        { "probable_stacks", t->probable_stacks },
        { "different", w->matched },
        { "completed_count", t->completed },
        { "completed_bytes", t->completed_bytes },
        { "runtime_async_objects", t->runtime_async },
    };
    bool ok = o != NULL && stacks != NULL;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && ok; i++)
        ok = json_object_set_new(o, numbers[i].key, cli_json_number(numbers[i].value)) == 0;
    ok = ok &&
         json_object_set_new(o, "old_stacks",
                             t->ages_known ? cli_json_number(t->old_stacks) : json_null()) == 0;
    for (size_t i = 0; i < w->stack_count && ok; i++)
        ok = json_array_append_new(stacks, stack_json(w, w->stacks[i])) == 0;
    ok = json_object_set_new(o, "stacks", stacks) == 0 && ok;
    ok = ok && json_object_set_new(o, "completed", completed_json(w)) == 0 &&
         json_object_set_new(o, "verdict", cli_json_verdict(&cli_summary(&w->d)->verdict)) == 0;
    if (ok)
        return cli_json_print(o, stdout) == 0;
    json_decref(o);
    return false;
}

/* ---- the command ---- */

enum cli_match cli_stack_match(const struct gcd_async_frame *frames, uint32_t stack,
                               struct cli_pattern *p)
{
    enum cli_match m = CLI_NO_MATCH;
    for (uint32_t f = stack; f != GCD_FRAME_NONE && m == CLI_NO_MATCH; f = frames[f].parent)
        m = cli_pattern_match(p, frames[f].name, &cli_canceled);
    return m;
}

enum cli_exit cli_stack_pattern(const char *text, struct cli_pattern **ret)
{
    size_t n = strlen(text);
    bool regex = n > 2 && text[0] == '/' && text[n - 1] == '/';
    const char *problem =
        regex ? cli_pattern_regex(text + 1, n - 2, ret) : cli_pattern_glob(text, n, ret);
    if (problem != NULL)
        return cli_error(CLI_USAGE, NULL, "--filter %s: %s", text, problem);
    return *ret != NULL ? CLI_DONE : cli_no_memory(NULL);
}

static enum cli_exit choose(struct waiting *w, struct cli_pattern *p)
{
    size_t n;
    const uint32_t *stacks = gcd_async_stacks(w->async, &n);
    uint64_t top = w->args->view.top != 0                    ? w->args->view.top
                   : w->args->view.json || w->args->view.csv ? UINT64_MAX
                                                             : DEFAULT_STACKS;
    w->stacks = calloc(n + 1, sizeof *w->stacks);
    if (w->stacks == NULL)
        return cli_no_memory(w->d.subject);
    for (size_t i = 0; i < n; i++) {
        enum cli_match m =
            w->frames[stacks[i]].bytes < w->args->view.min_bytes ? CLI_NO_MATCH : CLI_MATCH;
        if (m == CLI_MATCH && p != NULL)
            m = cli_stack_match(w->frames, stacks[i], p);
        if (m == CLI_MATCH_NO_MEMORY)
            return cli_no_memory(w->d.subject);
        if (m == CLI_MATCH_CANCELED)
            return cli_error(CLI_INTERRUPTED, w->d.subject, "interrupted");
        if (m == CLI_MATCH && w->matched++ < top)
            w->stacks[w->stack_count++] = stacks[i];
    }
    return CLI_DONE;
}

static enum cli_exit analyse(struct waiting *w)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct cli_pattern *p = NULL;
    struct gcd_context context = cli_context_steps(w->args, "finding asynchronous operations");
    size_t n;
    enum cli_exit e =
        w->args->view.filter != NULL ? cli_stack_pattern(w->args->view.filter, &p) : CLI_DONE;
    if (e == CLI_DONE && gcd_session_async(w->d.session, &context, &w->async, &err) != GCD_OK)
        e = cli_fail(w->d.subject, &err);
    cli_progress_end();
    if (e == CLI_DONE) {
        w->frames = gcd_async_frames(w->async, &n);
        w->totals = gcd_async_totals(w->async);
        w->heap_bytes = gcd_graph_summary(w->d.graph)->bytes;
        e = choose(w, p);
    }
    cli_pattern_free(p);
    return e;
}

static enum cli_exit print_all(const struct waiting *w)
{
    bool ok;
    if (w->args->view.json) {
        ok = print_json(w);
    } else if (w->args->view.csv) {
        struct cli_table *t = stacks_table(w, false);
        ok = cli_table_csv(t, stdout);
        cli_table_free(t);
    } else {
        ok = print_text(w);
    }
    /* cli_flush_stdout reports failed writes */
    return ok || ferror(stdout) ? CLI_DONE : cli_no_memory(w->d.subject);
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
        e = cli_finish(args, &w.d, print_all(&w), 0);
    free(w.stacks);
    cli_close(&w.d);
    return e;
}
