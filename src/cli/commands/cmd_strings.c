#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/duplicates.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/text/plural.h>

#include "answer/answers.h"
#include "args.h"
#include "commands/command_parts.h"
#include "commands/commands.h"
#include "commands/open_dump.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/fail.h"
#include "input/input.h"
#include "input/memory.h"
#include "output/document.h"
#include "output/json_out.h"
#include "output/pattern.h"
#include "signals.h"
#include "term/message.h"
#include "term/progress.h"
#include "term/term.h"

#define DEFAULT_ROWS 20u
#define ARRAY_ROWS   5u

/* The rows of a kind that are shown. */
struct chosen {
    const struct gcd_duplicate **rows; /* [count] */
    size_t count, matched;
    struct answer *answer;
};

struct strings {
    const struct cli_args *args;
    struct cli_dump d;
    const struct gcd_values *values;
    struct gcd_duplicates *duplicates;
    struct cli_pattern *filter; /* NULL = none */
    struct chosen kinds[GCD_DUPLICATE_KINDS];
};

static enum cli_exit fail_of(const struct strings *s, enum cli_match m)
{
    return m == CLI_MATCH_CANCELED ? cli_error(CLI_INTERRUPTED, s->d.subject, "interrupted")
                                   : cli_no_memory(s->d.subject);
}

static enum cli_match matches(const struct strings *s, const struct gcd_duplicate *r)
{
    char buffer[3 * GCD_MAX_STRING_LIMIT + 1];
    if (r->bytes < s->args->view.min_bytes)
        return CLI_NO_MATCH;
    if (s->filter == NULL)
        return CLI_MATCH;
    struct gcd_text t = gcd_values_text(s->values, r->text);
    if (t.utf8 == NULL)
        return CLI_NO_MATCH;
    (void)snprintf(buffer, sizeof buffer, "%.*s", (int)t.bytes, t.utf8);
    return cli_pattern_match(s->filter, buffer, &cli_canceled);
}

/* Chooses the rows of KIND that are wanted; people see only what is there several times, unless
 * they look for a text. */
static enum cli_exit choose(struct strings *s, enum gcd_duplicate_kind kind)
{
    const struct cli_view_args *view = &s->args->view;
    bool people = !view->json && !view->csv;
    struct chosen *c = &s->kinds[kind];
    size_t n;
    const struct gcd_duplicate *rows = gcd_duplicates_rows(s->duplicates, kind, &n);
    uint64_t top = view->top != 0                  ? view->top
                   : !people                       ? UINT64_MAX
                   : kind == GCD_DUPLICATE_STRINGS ? DEFAULT_ROWS
                                                   : ARRAY_ROWS;
    c->rows = calloc((top < n ? (size_t)top : n) + 1, sizeof *c->rows);
    if (c->rows == NULL)
        return cli_no_memory(s->d.subject);
    for (size_t i = 0; i < n; i++) {
        if (people && s->filter == NULL && rows[i].wasted_bytes == 0)
            break; /* they are in this order */
        enum cli_match m = matches(s, &rows[i]);
        if (m != CLI_MATCH && m != CLI_NO_MATCH)
            return fail_of(s, m);
        if (m == CLI_MATCH && c->matched++ < top)
            c->rows[c->count++] = &rows[i];
    }
    return CLI_DONE;
}

static gcd_status make_answer(struct strings *s, enum gcd_duplicate_kind kind,
                              const struct gcd_fields *fields, const struct gcd_context *context,
                              struct gcd_error *err)
{
    struct chosen *c = &s->kinds[kind];
    struct gcd_duplicate_holders holders;
    struct gcd_duplicate_question about = { c->rows, c->count, fields };
    gcd_status st = gcd_duplicates_holders(s->duplicates, &about, context, &holders, err);
    if (st != GCD_OK)
        return st;
    bool raw = s->args->view.values == CLI_VALUES_RAW;
    struct answer_of_duplicates of = { .session = s->d.session,
                                       .view = { s->values, raw ? GCD_SHOW_RAW : GCD_SHOW_MASKED },
                                       .rows = c->rows,
                                       .row_count = c->count,
                                       .holders = holders.items,
                                       .holder_count = holders.count };
    st = answer_duplicates(&of, kind == GCD_DUPLICATE_ARRAYS, &c->answer, err);
    gcd_duplicate_holders_free(s->duplicates, &holders);
    return st;
}

static enum cli_exit analyse(struct strings *s)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_context context = cli_context_steps(s->args, "comparing values");
    const struct gcd_fields *fields;
    context.alloc = cli_alloc();
    if (gcd_duplicates_new(s->d.graph, s->values, &context, &s->duplicates, &err) != GCD_OK ||
        gcd_session_fields(s->d.session, &context, &fields, &err) != GCD_OK)
        return cli_fail(s->d.subject, &err);
    for (enum gcd_duplicate_kind k = 0; k < GCD_DUPLICATE_KINDS; k++) {
        enum cli_exit e = choose(s, k);
        if (e != CLI_DONE)
            return e;
        if (make_answer(s, k, fields, &context, &err) != GCD_OK)
            return cli_fail(s->d.subject, &err);
    }
    cli_progress_end();
    return CLI_DONE;
}

/* ---- text ---- */

static const char *bytes_text(uint64_t bytes, char buf[CLI_NUMBER_BYTES])
{
    if (cli_is_terminal(stdout))
        return cli_size(bytes, buf);
    (void)snprintf(buf, CLI_NUMBER_BYTES, "%s bytes", GCD_DIGITS(bytes));
    return buf;
}

static void print_totals(const struct strings *s, enum gcd_duplicate_kind kind)
{
    char bytes[CLI_NUMBER_BYTES], wasted[CLI_NUMBER_BYTES];
    struct gcd_duplicate_totals t = gcd_duplicates_totals(s->duplicates, kind);
    bool strings = kind == GCD_DUPLICATE_STRINGS;
    printf("%s: %s, %s.  Different: %s.  Wasted by copies: %s (%.1f %%).\n",
           strings ? "Strings" : "Arrays of numbers", GCD_DIGITS(t.objects),
           bytes_text(t.bytes, bytes), GCD_DIGITS(t.contents), bytes_text(t.wasted_bytes, wasted),
           t.bytes > 0 ? 100.0 * (double)t.wasted_bytes / (double)t.bytes : 0.0);
    if (t.unknown > 0)
        printf("Their values are not known: %s.\n", GCD_DIGITS(t.unknown));
}

static enum cli_exit print_text(const struct strings *s)
{
    cli_mark_incomplete(stdout, s->d.subject, &cli_summary(&s->d)->verdict);
    for (enum gcd_duplicate_kind k = 0; k < GCD_DUPLICATE_KINDS; k++) {
        const struct chosen *c = &s->kinds[k];
        if (k == GCD_DUPLICATE_ARRAYS &&
            (s->filter != NULL || gcd_duplicates_totals(s->duplicates, k).objects == 0))
            continue; /* nobody looks for them, or there are none */
        if (k > 0)
            putchar('\n');
        print_totals(s, k);
        if (c->count > 0) {
            putchar('\n');
            if (!render_text(c->answer, stdout) && !ferror(stdout))
                return cli_no_memory(s->d.subject);
        }
        if (c->count < c->matched)
            printf("(%s more; --top shows more)\n", GCD_DIGITS(c->matched - c->count));
    }
    return CLI_DONE;
}

/* ---- JSON ---- */

static json_t *json_head(const struct strings *s)
{
    static const char *const keys[] = { "string_totals", "array_totals" };
    json_t *o = cli_json_head(s->d.subject);
    cli_json_count(o, "heap_bytes", gcd_graph_summary(s->d.graph)->bytes);
    json_object_set_new(o, "values", cli_json_values(gcd_values_facts(s->values)));
    for (enum gcd_duplicate_kind k = 0; k < GCD_DUPLICATE_KINDS; k++) {
        struct gcd_duplicate_totals t = gcd_duplicates_totals(s->duplicates, k);
        json_t *totals = json_object();
        cli_json_count(totals, "count", t.objects);
        cli_json_count(totals, "bytes", t.bytes);
        cli_json_count(totals, "different", t.contents);
        cli_json_count(totals, "wasted_bytes", t.wasted_bytes);
        cli_json_count(totals, "unknown", t.unknown);
        json_object_set_new(o, keys[k], totals);
    }
    return o;
}

static enum cli_exit print_all(const struct strings *s)
{
    const struct cli_view_args *view = &s->args->view;
    struct cli_titled answers[] = {
        { .key = "strings", .answer = s->kinds[GCD_DUPLICATE_STRINGS].answer },
        { .key = "arrays", .answer = s->kinds[GCD_DUPLICATE_ARRAYS].answer },
    };
    return !view->json && !view->csv
               ? print_text(s)
               : cli_print_answers(s->args, &s->d, view->json ? json_head(s) : NULL, answers,
                                   view->json ? 2 : 1);
}

/* ---- the command ---- */

static enum cli_exit open_values(struct strings *s)
{
    enum cli_exit e = cli_open_session(s->args, CLI_NEED_GRAPH, &s->d);
    if (e != CLI_DONE)
        return e;
    s->values = s->d.dump != NULL ? gcd_dump_values(s->d.dump) : NULL;
    if (s->values == NULL)
        return cli_error(CLI_FAILED, s->d.subject,
                         "has no texts of strings: a core file has them, and a recording made with "
                         "gcdumpc collect --values strings");
    if (s->filter != NULL && gcd_values_facts(s->values)->kind != GCD_VALUES_STRINGS)
        return cli_error(CLI_FAILED, s->d.subject,
                         "has only the hashes of its strings: --filter needs their texts");
    return CLI_DONE;
}

enum cli_exit cmd_strings(const struct cli_args *args)
{
    struct cli_args own = *args; /* whoever asks for strings wants their values */
    struct strings s = { .args = &own };
    enum cli_exit e = CLI_DONE;
    own.dump.values = GCD_VALUES_STRINGS;
    if (args->view.filter != NULL)
        e = cli_stack_pattern(args->view.filter, &s.filter);
    if (e == CLI_DONE)
        e = open_values(&s);
    if (e == CLI_DONE)
        e = analyse(&s);
    if (e == CLI_DONE)
        e = cli_finish(args, &s.d, print_all(&s), 0);
    for (size_t k = 0; k < GCD_DUPLICATE_KINDS; k++) {
        answer_free(s.kinds[k].answer);
        free(s.kinds[k].rows);
    }
    gcd_duplicates_free(s.duplicates);
    cli_pattern_free(s.filter);
    cli_close(&s.d);
    return e;
}
