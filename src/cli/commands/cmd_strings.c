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
#define HOLDER_ROWS  10u

struct strings {
    const struct cli_args *args;
    struct cli_dump d;
    const struct gcd_values *values;
    struct gcd_duplicates *duplicates;
    struct cli_pattern *filter; /* NULL = none */
    struct kind {
        struct cli_strings_chosen chosen;
        struct answer *answer;
    } kinds[GCD_DUPLICATE_KINDS];
    struct answer *holders; /* of all strings that are there several times */
};

/* ---- what is shown ---- */

static enum cli_match matches(const struct gcd_values *v, const struct cli_strings_wanted *w,
                              const struct gcd_duplicate *r)
{
    char buffer[3 * GCD_MAX_STRING_LIMIT + 1];
    if (r->bytes < w->min_bytes)
        return CLI_NO_MATCH;
    if (w->filter == NULL)
        return CLI_MATCH;
    struct gcd_text t = gcd_values_text(v, r->text);
    if (t.utf8 == NULL)
        return CLI_NO_MATCH;
    (void)snprintf(buffer, sizeof buffer, "%.*s", (int)t.bytes, t.utf8);
    return cli_pattern_match(w->filter, buffer, &cli_canceled);
}

enum cli_match cli_choose_strings(const struct gcd_duplicates *d, const struct gcd_values *v,
                                  const struct cli_strings_wanted *w,
                                  struct cli_strings_chosen *ret)
{
    size_t n;
    const struct gcd_duplicate *rows = gcd_duplicates_rows(d, w->kind, &n);
    *ret = (struct cli_strings_chosen){ .count = 0 };
    ret->rows = calloc((w->most < n ? (size_t)w->most : n) + 1, sizeof *ret->rows);
    if (ret->rows == NULL)
        return CLI_MATCH_NO_MEMORY;
    for (size_t i = 0; i < n; i++) {
        if (w->only_copies && rows[i].wasted_bytes == 0)
            break; /* they are in this order */
        enum cli_match m = matches(v, w, &rows[i]);
        if (m != CLI_MATCH && m != CLI_NO_MATCH)
            return m;
        if (m == CLI_MATCH && ret->matched++ >= w->first && ret->count < w->most)
            ret->rows[ret->count++] = &rows[i];
    }
    return CLI_MATCH;
}

/* What holds the values of the rows of ABOUT: the field that leads to an array or collection. */
static gcd_status find_holders(struct gcd_session *session, const struct gcd_duplicates *d,
                               struct gcd_duplicate_question about,
                               const struct gcd_context *context, struct gcd_duplicate_holders *ret,
                               struct gcd_error *err)
{
    gcd_status st = gcd_session_fields(session, context, &about.fields, err);
    if (st == GCD_OK)
        st = gcd_session_paths(session, context, &about.paths, err);
    return st == GCD_OK ? gcd_duplicates_holders(d, &about, context, ret, err) : st;
}

gcd_status cli_answer_strings(const struct cli_strings_shown *of, const struct gcd_context *context,
                              struct answer **ret, struct gcd_error *err)
{
    struct gcd_duplicate_holders holders;
    const struct gcd_duplicate_question about = { .rows = of->chosen->rows,
                                                  .count = of->chosen->count };
    gcd_status st = find_holders(of->session, of->duplicates, about, context, &holders, err);
    if (st != GCD_OK)
        return st;
    struct answer_of_duplicates shown = { .session = of->session,
                                          .view = of->view,
                                          .rows = of->chosen->rows,
                                          .row_count = of->chosen->count,
                                          .holders = holders.items,
                                          .holder_count = holders.count };
    st = answer_duplicates(&shown, of->kind == GCD_DUPLICATE_ARRAYS, ret, err);
    gcd_duplicate_holders_free(of->duplicates, &holders);
    return st;
}

static enum cli_exit choose(struct strings *s, const struct cli_strings_wanted *wanted,
                            struct cli_strings_chosen *ret)
{
    enum cli_match m = cli_choose_strings(s->duplicates, s->values, wanted, ret);
    return m == CLI_MATCH            ? CLI_DONE
           : m == CLI_MATCH_CANCELED ? cli_error(CLI_INTERRUPTED, s->d.subject, "interrupted")
                                     : cli_no_memory(s->d.subject);
}

/* People see only what is there several times, unless they look for a text. */
static enum cli_exit choose_shown(struct strings *s, enum gcd_duplicate_kind kind)
{
    const struct cli_view_args *view = &s->args->view;
    bool people = !view->json && !view->csv;
    const struct cli_strings_wanted wanted = {
        .kind = kind,
        .filter = s->filter,
        .min_bytes = view->min_bytes,
        .only_copies = people && s->filter == NULL,
        .most = view->top != 0                  ? view->top
                : !people                       ? UINT64_MAX
                : kind == GCD_DUPLICATE_STRINGS ? DEFAULT_ROWS
                                                : ARRAY_ROWS,
    };
    return choose(s, &wanted, &s->kinds[kind].chosen);
}

/* What holds all copies of the texts that the filter and --min-bytes leave. */
static enum cli_exit answer_holders(struct strings *s, const struct gcd_context *context)
{
    struct gcd_error err = GCD_ERROR_INIT;
    const struct cli_strings_wanted wanted = { .kind = GCD_DUPLICATE_STRINGS,
                                               .filter = s->filter,
                                               .min_bytes = s->args->view.min_bytes,
                                               .only_copies = true,
                                               .most = UINT64_MAX };
    struct cli_strings_chosen all;
    struct gcd_duplicate_holders found;
    enum cli_exit e = choose(s, &wanted, &all);
    if (e == CLI_DONE) {
        const struct gcd_duplicate_question about = { .rows = all.rows,
                                                      .count = all.count,
                                                      .together = true };
        gcd_status st = find_holders(s->d.session, s->duplicates, about, context, &found, &err);
        if (st == GCD_OK) {
            struct answer_of_duplicates of = { .session = s->d.session,
                                               .holders = found.items,
                                               .holder_count = found.count };
            st = answer_value_holders(&of, s->args->view.json ? SIZE_MAX : HOLDER_ROWS, &s->holders,
                                      &err);
            gcd_duplicate_holders_free(s->duplicates, &found);
        }
        e = st == GCD_OK ? CLI_DONE : cli_fail(s->d.subject, &err);
    }
    free(all.rows);
    return e;
}

static enum cli_exit analyse(struct strings *s)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_context context = cli_context_steps(s->args, "comparing values");
    bool raw = s->args->view.values == CLI_VALUES_RAW;
    context.alloc = cli_alloc();
    if (gcd_duplicates_new(s->d.graph, s->values, &context, &s->duplicates, &err) != GCD_OK)
        return cli_fail(s->d.subject, &err);
    for (enum gcd_duplicate_kind k = 0; k < GCD_DUPLICATE_KINDS; k++) {
        enum cli_exit e = choose_shown(s, k);
        if (e != CLI_DONE)
            return e;
        struct cli_strings_shown of = { .session = s->d.session,
                                        .view = { .values = s->values,
                                                  .show = raw ? GCD_SHOW_RAW : GCD_SHOW_MASKED },
                                        .duplicates = s->duplicates,
                                        .kind = k,
                                        .chosen = &s->kinds[k].chosen };
        if (cli_answer_strings(&of, &context, &s->kinds[k].answer, &err) != GCD_OK)
            return cli_fail(s->d.subject, &err);
    }
    /* a table of its own, which CSV has no place for */
    enum cli_exit e = s->args->view.csv ? CLI_DONE : answer_holders(s, &context);
    if (e == CLI_DONE)
        cli_progress_end();
    return e;
}

/* ---- text ---- */

static const char *bytes_text(uint64_t bytes, char buf[CLI_NUMBER_BYTES])
{
    if (cli_is_terminal(stdout))
        return cli_size(bytes, buf);
    (void)snprintf(buf, CLI_NUMBER_BYTES, "%s bytes", GCD_DIGITS(bytes));
    return buf;
}

/* What U hides of N objects of KIND: once an object of the only type of strings is known, that type
 * is, and arrays of numbers have many types, which only a core file tells. */
static struct gcd_unnamed hides(const struct gcd_unnamed *u, enum gcd_duplicate_kind kind,
                                uint64_t n)
{
    return kind == GCD_DUPLICATE_STRINGS && n == 0 ? *u : (struct gcd_unnamed){ .text = "" };
}

static void print_totals(const struct strings *s, enum gcd_duplicate_kind kind)
{
    char bytes[CLI_NUMBER_BYTES], wasted[CLI_NUMBER_BYTES];
    struct gcd_duplicate_totals t = gcd_duplicates_totals(s->duplicates, kind);
    bool strings = kind == GCD_DUPLICATE_STRINGS;
    struct gcd_unnamed u = gcd_types_unnamed(gcd_graph_summary(s->d.graph)),
                       hidden = hides(&u, kind, t.objects);
    if (answer_is_untold(&hidden, t.objects)) {
        char text[ANSWER_UNTOLD_BYTES];
        puts(answer_untold(&hidden, t.objects, "Strings", text));
        return;
    }
    if (t.objects == 0 && cli_judge(&s->d) != CLI_DONE) {
        printf("Strings: 0.%s\n", answer_may_be_missing(false));
        return;
    }
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
        const struct cli_strings_chosen *c = &s->kinds[k].chosen;
        if (k == GCD_DUPLICATE_ARRAYS &&
            (s->filter != NULL || gcd_duplicates_totals(s->duplicates, k).objects == 0))
            continue; /* nobody looks for them, or there are none */
        if (k > 0)
            putchar('\n');
        print_totals(s, k);
        if (c->count > 0) {
            putchar('\n');
            if (!render_text(s->kinds[k].answer, stdout) && !ferror(stdout))
                return cli_no_memory(s->d.subject);
        }
        if (c->count < c->matched)
            printf("(%s more; --top shows more)\n", GCD_DIGITS(c->matched - c->count));
        if (k == GCD_DUPLICATE_STRINGS && s->holders->rows > 0) {
            puts("\nWhat holds the copies of all texts:");
            if (!render_text(s->holders, stdout) && !ferror(stdout))
                return cli_no_memory(s->d.subject);
        }
    }
    return CLI_DONE;
}

/* ---- JSON ---- */

json_t *cli_strings_head(json_t *o, const struct gcd_duplicates *d, enum gcd_duplicate_kind kind,
                         const struct gcd_unnamed *u)
{
    static const char *const keys[] = { "string_totals", "array_totals" };
    struct gcd_duplicate_totals t = gcd_duplicates_totals(d, kind);
    json_t *totals = json_object();
    struct gcd_unnamed hidden = hides(u, kind, t.objects);
    cli_json_told(totals, "count", t.objects, &hidden);
    cli_json_told(totals, "bytes", t.bytes, &hidden);
    cli_json_told(totals, "different", t.contents, &hidden);
    cli_json_told(totals, "wasted_bytes", t.wasted_bytes, &hidden);
    cli_json_told(totals, "unknown", t.unknown, &hidden);
    json_object_set_new(o, keys[kind], totals);
    if (kind == GCD_DUPLICATE_STRINGS)
        cli_json_names_missing(o, &hidden);
    return o;
}

static json_t *json_head(const struct strings *s)
{
    json_t *o = cli_json_head(s->d.subject);
    cli_json_count(o, "heap_bytes", gcd_graph_summary(s->d.graph)->bytes);
    json_object_set_new(o, "values", cli_json_values(gcd_values_facts(s->values)));
    struct gcd_unnamed u = gcd_types_unnamed(gcd_graph_summary(s->d.graph));
    for (enum gcd_duplicate_kind k = 0; k < GCD_DUPLICATE_KINDS; k++)
        (void)cli_strings_head(o, s->duplicates, k, &u);
    return o;
}

static enum cli_exit print_all(const struct strings *s)
{
    const struct cli_view_args *view = &s->args->view;
    struct cli_titled answers[] = {
        { .key = "strings", .answer = s->kinds[GCD_DUPLICATE_STRINGS].answer },
        { .key = "arrays", .answer = s->kinds[GCD_DUPLICATE_ARRAYS].answer },
        { .key = "string_holders", .answer = s->holders },
    };
    return !view->json && !view->csv
               ? print_text(s)
               : cli_print_answers(s->args, &s->d, view->json ? json_head(s) : NULL, answers,
                                   view->json ? 3 : 1);
}

/* ---- the command ---- */

static enum cli_exit open_values(struct strings *s)
{
    enum cli_exit e = cli_open_session(s->args, CLI_NEED_GRAPH, &s->d);
    if (e != CLI_DONE)
        return e;
    s->values = s->d.dump != NULL ? gcd_dump_values(s->d.dump) : NULL;
    if (s->values == NULL)
        return cli_error(CLI_FAILED, s->d.subject, "has no texts of strings: " CLI_WHERE_TEXTS_ARE);
    if (s->filter != NULL && gcd_values_facts(s->values)->kind < GCD_VALUES_STRINGS)
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
        free(s.kinds[k].chosen.rows);
    }
    answer_free(s.holders);
    gcd_duplicates_free(s.duplicates);
    cli_pattern_free(s.filter);
    cli_close(&s.d);
    return e;
}
