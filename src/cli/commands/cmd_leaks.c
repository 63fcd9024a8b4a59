#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/async_values.h>
#include <gcdumpc/unstable/pages/pages.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/suspect_checks.h>
#include <gcdumpc/unstable/text/plural.h>

#include "answer/answers.h"
#include "args.h"
#include "commands/command_parts.h"
#include "commands/commands.h"
#include "commands/compare.h"
#include "commands/open_dump.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/fail.h"
#include "input/input.h"
#include "input/memory.h"
#include "output/folded_paths.h"
#include "output/json_out.h"
#include "output/memory_notes.h"
#include "output/output.h"
#include "term/message.h"
#include "term/progress.h"
#include "term/term.h"

/* Default number of consumers, which are many and small. */
#define DEFAULT_CONSUMERS 10u
/* Below this part of the heap it is not worth a word. */
#define WORTH_PART 100u

struct leaks {
    const struct cli_args *args;
    struct cli_dump d;
    const struct gcd_dominators *dominators;
    const struct gcd_suspects *suspects;
    /* begins with the largest consumer; only without suspects; NULL = unknown */
    const struct gcd_suspects *largest;
    char headline[GCD_HEADLINE_BYTES];
    const struct gcd_origins *origins;
    struct cli_unreachable unreachable;
    struct answer *jam; /* where many calls wait; NULL with --csv */
    /* requests at work, if many calls wait and texts may be shown; NULL = not asked for */
    struct answer *requests;
    const char *requests_sentence; /* NULL = there are none */
    size_t shown;                  /* suspects to show, limited by --top */
    /* the dump before, and the suspects by growth since then; NULL = none was given */
    struct answer_older *older;
    const char *older_file;
    const size_t *order;
    enum cli_exit older_judged;
    bool all;                 /* whatever they grew by */
    struct cli_side sides[2]; /* which dumps these are */
};

static const struct gcd_suspect *suspect_of(const struct leaks *l, const struct gcd_suspects *shown,
                                            size_t i)
{
    return gcd_suspects_get(shown, shown == l->suspects && l->order != NULL ? l->order[i] : i);
}

static struct answer_of_suspects asked(const struct leaks *l, const struct gcd_suspects *shown)
{
    return (struct answer_of_suspects){ .session = l->d.session,
                                        .suspects = l->suspects,
                                        .shown = shown,
                                        .dominators = l->dominators,
                                        .origins = l->origins,
                                        .page = { .most = l->shown },
                                        .older = l->older,
                                        .order = shown == l->suspects ? l->order : NULL,
                                        .ordered = l->shown };
}

static struct answer *consumers(const struct leaks *l)
{
    struct answer_of_suspects of = asked(l, l->suspects);
    size_t n = gcd_suspects_consumer_count(l->suspects),
           wanted = l->args->view.top != 0 ? (size_t)l->args->view.top : DEFAULT_CONSUMERS;
    return answer_parts(&of, n > 0 ? gcd_suspects_consumer(l->suspects, 0) : NULL,
                        n < wanted ? n : wanted);
}

/* The first suspects, or the largest consumer; NULL: out of memory. */
static struct answer *suspects(const struct leaks *l, const struct gcd_suspects *shown)
{
    struct answer_of_suspects of = asked(l, shown);
    struct answer *a;
    of.page.most = shown != l->suspects ? 1 : l->shown;
    return answer_suspects(&of, &a, NULL) == GCD_OK ? a : NULL;
}

/* ---- output ---- */

static bool print_and_free(struct answer *a)
{
    bool ok = render_text(a, stdout);
    answer_free(a);
    return ok;
}

/* With the arguments of the command that it names, to be copied. */
static bool print_evidence(const struct leaks *l, int indent, const char *text)
{
    static const char command[] = "gcdumpc diff";
    const char *found = strstr(text, command), *input = l->args->input;
    char *whole = NULL;
    if (found == NULL || input == NULL || strcmp(input, "-") == 0)
        return cli_print_paragraph(indent, text);
    found += sizeof command - 1;
    bool ok = asprintf(&whole, "%.*s %s LATER%s", (int)(found - text), text, input, found) >= 0;
    ok = ok && cli_print_paragraph(indent, whole);
    free(whole);
    return ok;
}

/* The line before the sentence about a suspect. */
static bool print_growth(int indent, const char *text)
{
    char *line = NULL;
    bool ok = asprintf(&line, "%s.", text) >= 0 && cli_print_paragraph(indent, line);
    free(line);
    return ok && printf("%*s", indent, "") >= 0;
}

/* The note that says the same as S; NULL. */
static const struct gcd_suspect *same_note(const struct leaks *l, const struct gcd_suspect *s)
{
    for (size_t i = 0; i < gcd_suspects_note_count(l->suspects); i++)
        if (strcmp(gcd_suspects_note(l->suspects, i)->sentence, s->sentence) == 0)
            return gcd_suspects_note(l->suspects, i);
    return NULL;
}

/* The number of suspects that only their size speaks against. */
static size_t holders(const struct leaks *l)
{
    size_t n = 0;
    for (size_t i = 0; i < gcd_suspects_count(l->suspects); i++)
        n += gcd_suspects_get(l->suspects, i)->size_only;
    return n;
}

/* The sentence about S, after its level where the list has both; growth is told without. */
static bool print_sentence(const struct leaks *l, const struct gcd_suspect *s, int indent)
{
    size_t large = holders(l);
    char *line = NULL;
    if (l->older != NULL || large == 0 || large == gcd_suspects_count(l->suspects))
        return cli_print_paragraph(indent, s->sentence);
    bool ok =
        asprintf(&line, "%s: %s", s->size_only ? "Large holder" : "Suspect", s->sentence) >= 0 &&
        cli_print_paragraph(indent, line);
    free(line);
    return ok;
}

/* Number I of SHOWN, which has row I of TABLE. */
static bool print_suspect(const struct leaks *l, const struct gcd_suspects *shown,
                          const struct answer *table, size_t i)
{
    const struct gcd_suspect *s = suspect_of(l, shown, i);
    struct answer_of_suspects of = asked(l, shown);
    const struct answer_cell *grown = answer_find(table, i, "grown");
    putchar('\n');
    int indent = printf("%zu.", i + 1);
    bool ok = grown == NULL || !grown->known || print_growth(indent, grown->text);
    ok = ok && print_sentence(l, s, indent);
    static const char *const more[] = { "allocated", "keys" };
    for (size_t k = 0; k < sizeof more / sizeof *more && ok; k++) {
        const struct answer_cell *cell = answer_find(table, i, more[k]);
        if (cell == NULL || !cell->known)
            continue;
        printf("%*s", indent, "");
        ok = cli_print_paragraph(indent, cell->text);
    }
    if (s->advice[0] != '\0') {
        printf("%*s", indent, "");
        ok = cli_print_paragraph(indent, answer_find(table, i, "advice")->text) && ok;
        const struct answer_cell *evidence = answer_find(table, i, "evidence");
        if (evidence->known) {
            printf("%*s", indent, "");
            ok = print_evidence(l, indent, evidence->text) && ok;
        }
    }
    if (shown == l->largest && same_note(l, s) != NULL) { /* which is not printed again */
        printf("%*s", indent, "");
        ok = cli_print_paragraph(indent, same_note(l, s)->advice) && ok;
    }
    if (s->path_count > 0 && ok) {
        putchar('\n');
        ok = print_and_free(answer_suspect_path(&of, s, cli_folds(l->args)));
    }
    if (s->way_count > 0) { /* the printed path is one of several */
        char which[CLI_NUMBER_BYTES];
        printf("\ngcdumpc paths FILE --object %s shows all that holds this one.\n",
               answer_object_text(l->d.graph, s->node, which));
    }
    if (s->content_count > 1) {
        puts("\nIn it, by type:");
        ok = print_and_free(answer_parts(&of, s->content, s->content_count)) && ok;
    }
    return ok;
}

static bool print_jam(const struct leaks *l)
{
    bool ok = cli_print_waiting(l->jam);
    if (l->jam->rows == 0)
        return true;
    if (l->requests_sentence != NULL) {
        printf("%*s", 8, "");
        ok = cli_print_paragraph(8, l->requests_sentence) && ok;
    }
    if (strcmp(answer_find(l->jam, l->jam->rows - 1, "kind")->text, "calls") == 0)
        printf("%*s gcdumpc async shows their stacks.\n", 8, "");
    return ok;
}

static bool print_jam_below(const struct leaks *l)
{
    if (l->jam->rows > 0)
        putchar('\n');
    return print_jam(l);
}

/* In a heap without suspects, what hangs is the answer. */
static bool print_consumers(const struct leaks *l)
{
    bool people = cli_is_terminal(stdout), ok = print_jam(l);
    if (l->jam->rows > 0)
        putchar('\n');
    (void)cli_print_paragraph(0, l->headline);
    uint64_t least = gcd_suspects_threshold(l->suspects);
    char a[CLI_NUMBER_BYTES];
    printf("Suspects retain %s%s or more (--share, --min-bytes).\n",
           people ? cli_size(least, a) : cli_number(least, false, a), people ? "" : " bytes");
    if (l->largest != NULL && ok) {
        struct answer *table = suspects(l, l->largest);
        puts("\nThe largest consumer:");
        ok = table != NULL && print_suspect(l, l->largest, table, 0);
        answer_free(table);
    }
    puts("\nThe largest consumers by type:");
    return ok && print_and_free(consumers(l));
}

static void print_heaps(const struct leaks *l)
{
    char before[CLI_NUMBER_BYTES], after[CLI_NUMBER_BYTES];
    printf("The heap had %s, and has %s.\n\n", cli_size(answer_older_heap_bytes(l->older), before),
           cli_size(gcd_suspects_heap_bytes(l->suspects), after));
}

/* What is said before the suspects that have grown. */
static bool print_said(const struct leaks *l)
{
    struct answer *a = answer_growth_said(l->older);
    static const char *const keys[] = { "sentence", "advice", "evidence" };
    bool ok = a != NULL, any = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && ok; i++) {
        const struct answer_cell *cell = answer_find(a, 0, keys[i]);
        if (!cell->known)
            continue;
        ok = i == 2 ? print_evidence(l, 0, cell->text) : cli_print_paragraph(0, cell->text);
        any = true;
    }
    if (any && l->shown > 0)
        putchar('\n');
    answer_free(a);
    return ok;
}

static bool print_suspects(const struct leaks *l)
{
    size_t n = gcd_suspects_count(l->suspects);
    if (l->older != NULL)
        print_heaps(l);
    else if (n == 0)
        return print_consumers(l);
    if (l->older != NULL && !print_said(l))
        return false;
    if (l->shown == 0)
        return print_jam_below(l);
    struct answer *table = suspects(l, l->suspects);
    bool ok = l->older != NULL || (cli_print_paragraph(0, l->headline) && putchar('\n') != EOF);
    ok = ok && render_text(table, stdout);
    if (l->shown < n)
        printf("(%s more %s%s%s)\n", GCD_DIGITS(n - l->shown),
               l->older == NULL ? "suspect" : "place", gcd_plural(n - l->shown),
               l->older == NULL ? ""
               : l->all         ? ", which grew less or not"
                        : ", which grew less or not: --share 0.1 --min-bytes 64K shows all");
    ok = ok && print_jam_below(l);
    for (size_t i = 0; i < l->shown && ok; i++)
        ok = print_suspect(l, l->suspects, table, i);
    answer_free(table);
    return ok;
}

static bool print_memory(const struct leaks *l)
{
    uint64_t observed = gcd_suspects_observed_bytes(l->suspects);
    bool worth = observed > gcd_suspects_heap_bytes(l->suspects) / WORTH_PART;
    char *text = cli_memory_parts_text(&l->d, &l->unreachable, worth ? observed : 0);
    if (text == NULL)
        return false;
    fputs("\nMemory:", stdout);
    bool ok = cli_print_paragraph(7, text + 1);
    free(text);
    return ok;
}

/* The keys of the collection that note S is about, if they may be seen. */
static bool print_keys(const struct leaks *l, const struct gcd_suspect *s)
{
    struct answer_of_suspects of = asked(l, l->suspects);
    struct answer *groups = answer_new(NULL, &answer_keys_shape);
    const char *keys = NULL;
    bool ok = groups != NULL && answer_suspect_keys(&of, s, groups, &keys, NULL) == GCD_OK;
    if (ok && keys != NULL) {
        printf("%*s", 5, "");
        ok = cli_print_paragraph(5, keys);
    }
    answer_free(groups);
    return ok;
}

/* Has the largest consumer said what note S says? */
static bool is_told(const struct leaks *l, const struct gcd_suspect *s)
{
    return l->older == NULL && l->largest != NULL && gcd_suspects_count(l->suspects) == 0 &&
           same_note(l, gcd_suspects_get(l->largest, 0)) == s;
}

static bool print_notes(const struct leaks *l)
{
    bool ok = true;
    char untold[ANSWER_UNTOLD_BYTES];
    const struct gcd_unnamed *unnamed = gcd_suspects_unnamed(l->suspects);
    if (unnamed->most && gcd_suspects_count(l->suspects) > 0) { /* else the headline has it */
        fputs("\nNote:", stdout);
        ok = cli_print_paragraph(5, answer_untold(unnamed, 0, GCD_SUSPECTS_BY_NAMES, untold));
    }
    for (size_t i = 0; i < gcd_suspects_note_count(l->suspects) && ok; i++) {
        const struct gcd_suspect *s = gcd_suspects_note(l->suspects, i);
        if ((l->older != NULL && !answer_note_has_grown(l->older, s)) || is_told(l, s))
            continue;
        fputs("\nNote:", stdout);
        ok = cli_print_paragraph(5, s->sentence);
        ok = ok && print_keys(l, s);
        printf("%*s", 5, "");
        ok = cli_print_paragraph(5, s->advice) && ok;
    }
    return ok;
}

/* That there are texts nobody asked to see. */
static void print_hint_of_texts(const struct leaks *l)
{
    bool has = false;
    if (l->args->view.values != CLI_VALUES_HIDDEN ||
        cli_summary(&l->d)->values.kind < GCD_VALUES_STRINGS)
        return;
    for (size_t i = 0; i < l->shown && !has; i++) {
        const struct gcd_suspect *s = suspect_of(l, l->suspects, i);
        has = s->kind == GCD_SUSPECT_DUPLICATES ||
              gcd_session_suspect_collection(l->d.session, s) != GCD_NODE_NONE;
    }
    if (has)
        puts("\nThis dump has the texts of strings: --show-values shows keys and equal texts.");
}

static bool print_text(const struct leaks *l)
{
    bool ok = print_suspects(l) && print_notes(l) && print_memory(l);
    print_hint_of_texts(l);
    if (!ok || !l->args->view.findings)
        return ok;
    puts("\nWhat was looked for, with the largest numbers seen of each kind:");
    return print_and_free(answer_checks(l->suspects));
}

/* Adds A to O as KEY, and frees it. */
static bool attach(json_t *o, const char *key, struct answer *a)
{
    bool ok = json_object_set_new(o, key, render_json_rows(a, NULL)) == 0;
    answer_free(a);
    return ok;
}

/* Adds "largest": null when there are suspects or nothing is known. */
static bool add_largest(const struct leaks *l, json_t *o)
{
    bool ok = l->largest == NULL ? json_object_set_new(o, "largest", json_null()) == 0
                                 : attach(o, "largest", suspects(l, l->largest));
    json_t *rows = json_object_get(o, "largest");
    if (ok && json_is_array(rows))
        ok = json_object_set(o, "largest", json_array_get(rows, 0)) == 0;
    return ok;
}

static struct answer *notes(const struct answer_of_suspects *of)
{
    struct answer *a = NULL;
    if (answer_notes(of, &a, NULL) == GCD_OK)
        return a;
    answer_free(a);
    return NULL;
}

/* Adds how many suspects TABLE has, and what is said first. */
static bool add_headline(const struct leaks *l, json_t *o, const struct answer *table)
{
    size_t n = gcd_suspects_count(l->suspects);
    if (l->older == NULL) {
        cli_json_count(o, "suspect_count", n);
        cli_json_count(o, "holder_count", holders(l));
        cli_json_put_text(o, "headline", l->headline);
        cli_json_put_text(o, "none", n == 0 ? l->headline : NULL);
        return true;
    }
    struct answer *a = answer_growth_said(l->older);
    if (a == NULL)
        return false;
    const struct answer_cell *said = answer_find(a, 0, "sentence"),
                             *first = l->shown > 0 ? answer_find(table, 0, "grown") : said;
    cli_json_count(o, "suspect_count", l->shown);
    cli_json_put_text(o, "headline", said->known ? said->text : first->text);
    cli_json_put_text(o, "none", l->shown == 0 ? said->text : NULL);
    bool come = answer_find(a, 0, "owner")->known;
    json_t *rows = render_json_rows(a, NULL);
    bool ok = rows != NULL &&
              json_object_set(o, "growth", come ? json_array_get(rows, 0) : json_null()) == 0;
    json_decref(rows);
    answer_free(a);
    return ok;
}

/* Memory outside the heap in the two dumps; null where one does not know. */
static void add_native(const struct leaks *l, json_t *o)
{
    uint64_t bytes[2];
    json_t *both = json_null();
    if (answer_older_native_bytes(l->older, bytes)) {
        both = json_object();
        cli_json_count(both, "before", bytes[0]);
        cli_json_count(both, "after", bytes[1]);
    }
    (void)json_object_set_new(o, "native_or_unknown", both);
}

static bool print_json(const struct leaks *l)
{
    struct answer_of_suspects of = asked(l, l->suspects);
    json_t *o = cli_json_head(l->d.subject);
    cli_json_count(o, "heap_bytes", gcd_suspects_heap_bytes(l->suspects));
    if (l->older != NULL) {
        cli_json_put_text(o, "older_recording", l->older_file);
        cli_json_count(o, "older_heap_bytes", answer_older_heap_bytes(l->older));
        add_native(l, o);
    }
    cli_json_count(o, "threshold_bytes", gcd_suspects_threshold(l->suspects));
    cli_json_count(o, "observed_bytes", gcd_suspects_observed_bytes(l->suspects));
    (void)json_object_set_new(o, "unreachable", cli_json_unreachable(&l->unreachable));
    (void)json_object_set_new(o, "process_memory",
                              cli_json_process_memory(&cli_summary(&l->d)->memory));
    (void)json_object_set_new(o, "memory_parts", cli_json_memory_parts(&l->d, &l->unreachable));
    struct answer *table = suspects(l, l->suspects);
    bool ok = table != NULL && add_headline(l, o, table);
    cli_json_names_missing(o, gcd_suspects_unnamed(l->suspects));
    ok = attach(o, "suspects", table) && ok &&
         json_object_set_new(o, "waiting", render_json_rows(l->jam, NULL)) == 0 &&
         (l->requests == NULL ||
          json_object_set_new(o, "requests", render_json_rows(l->requests, NULL)) == 0) &&
         attach(o, "notes", notes(&of)) && add_largest(l, o) &&
         attach(o, "consumers", consumers(l)) &&
         (!l->args->view.findings || attach(o, "findings", answer_checks(l->suspects))) &&
         cli_json_put_verdict(o, &l->d);
    if (ok)
        return cli_json_print(o, stdout) == 0;
    json_decref(o);
    return false;
}

static enum cli_exit print_leaks(const struct leaks *l)
{
    bool ok;
    if (l->args->view.json) {
        ok = print_json(l);
    } else if (l->args->view.csv) {
        struct answer *a =
            l->args->view.findings ? answer_checks(l->suspects) : suspects(l, l->suspects);
        ok = render_csv(a, stdout);
        answer_free(a);
    } else {
        const struct gcd_verdict older = { .complete = l->older_judged == CLI_DONE };
        cli_mark_incomplete(stdout, l->older_file, &older);
        cli_mark_incomplete(stdout, l->d.subject, &cli_summary(&l->d)->verdict);
        ok = cli_print_memory_notes(stdout, &l->d, &l->unreachable, true) && print_text(l);
    }
    if (ok || ferror(stdout)) /* cli_flush_stdout reports failed writes */
        return CLI_DONE;
    return cli_no_memory(l->d.subject);
}

/* ---- the command ---- */

static bool has_limits(const struct cli_args *args)
{
    return args->view.share_millis != 0 || args->view.min_bytes != 0;
}

/* ARGS for one of two dumps. */
static struct cli_args args_of(const struct cli_args *args, const char *file)
{
    struct cli_args one = *args;
    one.input = file;
    one.more_count = 0;
    if (!has_limits(args)) {
        one.view.share = ANSWER_GROWN_SHARE;
        one.view.min_bytes = ANSWER_GROWN_BYTES;
    }
    return one;
}

/* The older one of two dumps: OLD NEW, or OLD and a process; NULL = only one dump was given.  Two
 * .etl files are one recording. */
static const char *older_of(const struct cli_args *args)
{
    bool etl = args->input != NULL && strstr(args->input, ".etl") != NULL;
    if (cli_is_live(args))
        return args->input;
    return args->more_count == 1 && !etl ? args->input : NULL;
}

/* Keeps what is needed of the older dump; its verdict counts in the end. */
static enum cli_exit read_older(struct leaks *l, const struct cli_args *args)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct cli_args one = args_of(args, l->older_file);
    struct cli_dump d = { .input = NULL };
    const struct gcd_suspects *found = NULL;
    one.target = (struct cli_target_args){ .pid = 0 };
    struct gcd_context looking = cli_context_steps(&one, "looking for suspects");
    enum cli_exit e = cli_open_session(&one, CLI_NEED_LEAKS, &d);
    if (e == CLI_DONE && gcd_session_suspects(d.session, &looking, &found, &err) != GCD_OK)
        e = cli_fail(d.subject, &err);
    if (e == CLI_DONE &&
        answer_older_new(d.session, found, true, cli_alloc(), &l->older, &err) != GCD_OK)
        e = cli_fail(d.subject, &err);
    if (e == CLI_DONE) {
        cli_progress_end();
        cli_say_verdict(&d, args->quiet);
        l->older_judged = cli_judge(&d);
        if (!cli_side_of(&d, NULL, &l->sides[0]))
            e = cli_no_memory(NULL);
    }
    cli_close(&d);
    return e;
}

/* Orders the suspects; those that did not grow are not shown, unless limits were given. */
static enum cli_exit compare(struct leaks *l, bool all)
{
    struct gcd_error err = GCD_ERROR_INIT;
    size_t worth;
    if (!cli_side_of(&l->d, NULL, &l->sides[1]))
        return cli_no_memory(NULL);
    cli_compare_warn(&l->sides[0], &l->sides[1]);
    if (answer_older_match(l->older, l->d.session, l->suspects, NULL, &err) != GCD_OK)
        return cli_fail(l->d.subject, &err);
    l->order = answer_order_by_growth(l->older, &worth);
    l->all = all;
    if (!all && worth < l->shown)
        l->shown = worth;
    return CLI_DONE;
}

#define REQUESTS_MAX 20u

static gcd_status find_requests(struct leaks *l, const struct gcd_context *call,
                                struct gcd_error *err)
{
    struct gcd_async_values *v = NULL;
    if (l->jam->rows == 0 || l->args->view.values == CLI_VALUES_HIDDEN)
        return GCD_OK;
    gcd_status st = answer_find_async_values(l->d.session, call, &v, err);
    if (st == GCD_OK && v != NULL)
        st = answer_requests(l->d.session, v, REQUESTS_MAX, &l->requests, err);
    if (st == GCD_OK && v != NULL)
        l->requests_sentence = answer_requests_sentence(l->requests, v);
    gcd_async_values_free(v);
    return st;
}

static enum cli_exit analyse(struct leaks *l)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_session *session = l->d.session;
    struct gcd_context finding = cli_context_steps(l->args, "finding dominators"),
                       looking = cli_context_steps(l->args, "looking for suspects");
    const struct gcd_paths *paths;
    gcd_status st =
        gcd_session_paths_with_dominators(session, &finding, &l->dominators, &paths, &err);
    if (st == GCD_OK)
        st = gcd_session_origins(session, &looking, &l->origins, &err);
    if (st == GCD_OK)
        st = gcd_session_suspects(session, &looking, &l->suspects, &err);
    bool whole = !l->args->view.csv; /* else only the suspects, or what was looked for */
    if (st == GCD_OK && whole)
        st = gcd_session_largest_consumer(session, &looking, &l->largest, &err);
    if (st == GCD_OK && whole)
        st = gcd_session_headline(session, &looking, l->headline, &err);
    if (st == GCD_OK && whole)
        st = answer_jam(session, &looking, &l->jam, &err);
    if (st == GCD_OK && whole)
        st = find_requests(l, &looking, &err);
    if (st != GCD_OK)
        return cli_fail(l->d.subject, &err);
    enum cli_exit e = cli_count_unreachable(l->args, &l->d, paths, &l->unreachable);
    if (e != CLI_DONE)
        return e;
    size_t n = gcd_suspects_count(l->suspects);
    l->shown = l->args->view.top != 0 && l->args->view.top < n ? (size_t)l->args->view.top : n;
    cli_progress_end();
    return CLI_DONE;
}

static enum cli_exit write_page(const struct cli_args *args, struct cli_dump *d, struct gcd_sink *s)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_write_options options = { .context = cli_context_steps(args, "writing"),
                                         .name = d->name };
    return gcd_write_leaks_page(d->session, s, &options, &err) == GCD_OK
               ? cli_page_commit(args, s)
               : cli_fail(args->output.path, &err);
}

static enum cli_exit leaks_page(const struct cli_args *args)
{
    struct cli_dump d = { .input = NULL };
    struct gcd_sink *s = NULL;
    const struct gcd_dominators *dominators = NULL;
    enum cli_exit e = cli_page_open(args, "leaks", &s);
    if (e == CLI_DONE)
        e = cli_open_session(args, CLI_NEED_PAGE, &d);
    if (e == CLI_DONE)
        e = write_page(args, &d, s);
    if (e == CLI_DONE)
        e = cli_find_dominators(args, &d, &dominators); /* no cost: the page has computed them */
    if (e == CLI_DONE)
        e = cli_finish(args, &d, e, gcd_dominators_pseudo_roots(dominators));
    cli_close(&d);
    cli_page_close(s);
    return e;
}

enum cli_exit cmd_leaks(const struct cli_args *args)
{
    struct leaks l = { .args = args, .older_file = older_of(args) };
    struct cli_args newer, both = *args;
    const char *const files[] = { l.older_file, args->more[0] };
    enum cli_exit e = CLI_DONE;
    if (l.older_file != NULL && args->output.path != NULL)
        return cli_error(CLI_USAGE, NULL,
                         "leaks -o shows one dump; gcdumpc diff -o shows what grew between two");
    if (l.older_file != NULL && cli_is_live(args) && args->more_count > 0)
        return cli_error(CLI_USAGE, NULL, "give two dumps, or one and a process");
    if (args->output.path != NULL)
        return leaks_page(args);
    if (l.older_file != NULL) {
        both.modules.others = files;
        both.modules.other_count = cli_is_live(args) ? 1 : 2;
        both.modules.other_process = cli_is_live(args) ? args : NULL;
        newer = args_of(&both, cli_is_live(args) ? NULL : args->more[0]);
        l.args = &newer;
        e = cli_memory_open(args); /* for both dumps */
        if (e == CLI_DONE)
            e = read_older(&l, &both);
    }
    if (e == CLI_DONE)
        e = cli_open_session(l.args, CLI_NEED_LEAKS, &l.d);
    if (e == CLI_DONE && args->view.values != CLI_VALUES_HIDDEN && !cli_is_live(args) &&
        gcd_session_values(l.d.session).values == NULL)
        cli_say(l.d.subject, "has no texts of strings, so none are shown");
    if (e == CLI_DONE)
        e = analyse(&l);
    if (e == CLI_DONE && l.older != NULL)
        e = compare(&l, has_limits(args));
    if (e == CLI_DONE)
        e = cli_finish(args, &l.d, print_leaks(&l), gcd_dominators_pseudo_roots(l.dominators));
    answer_free(l.jam);
    answer_free(l.requests);
    answer_older_free(l.older);
    for (int i = 0; i < 2; i++)
        cli_side_done(&l.sides[i]);
    cli_close(&l.d);
    return e == CLI_DONE ? l.older_judged : e;
}
