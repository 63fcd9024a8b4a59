#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/image.h>
#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/text/plural.h>

#include "answer/answers.h"
#include "args.h"
#include "commands/command_parts.h"
#include "commands/commands.h"
#include "commands/open_dump.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "output/document.h"
#include "output/filter.h"
#include "output/json_out.h"
#include "term/term.h"

#define DEFAULT_LINES 20u

struct retained {
    const struct cli_args *args;
    struct cli_dump d;
    const struct gcd_dominators *dominators; /* its session's */
    uint8_t *types;                          /* that the pattern selects; NULL = all */
    uint8_t *skip;                           /* that --skip selects; NULL = none */
    uint64_t alive_bytes;
    uint32_t lines; /* --top */
};

/* The types that retain most, as report shows them. */
static gcd_status largest_types(const struct retained *r, struct answer **ret,
                                struct gcd_error *err)
{
    struct gcd_histogram_options options = { .context = cli_context(r->args, NULL),
                                             .graph = r->d.graph,
                                             .wanted = r->types };
    struct answer_histogram from = { .summary = cli_summary(&r->d),
                                     .names = r->d.names,
                                     .has_retained = true,
                                     .alive_bytes = r->alive_bytes,
                                     .filtered = r->types != NULL,
                                     .sort = ANSWER_BY_RETAINED,
                                     .page = { .most = r->lines,
                                               .min_bytes = r->args->view.min_bytes } };
    gcd_status st = gcd_session_retained_by_type(r->d.session, NULL, &from.retained, err);
    if (st == GCD_OK)
        st = gcd_histogram_new(&options, &from.h, err);
    if (st != GCD_OK)
        return st;
    st = answer_of_histogram(&from, ret, err);
    gcd_histogram_free(from.h);
    return st;
}

static gcd_status merged_tree(const struct retained *r, const struct answer_of_heap *of,
                              struct answer **ret, struct gcd_error *err)
{
    /* one level more than shown, so that the last shown level does not include the sizes below it
     */
    struct gcd_merged_tree_options o = { .context = cli_context(r->args, NULL),
                                         .dominators = r->dominators,
                                         .max_depth = (uint32_t)r->args->view.tree + 1 };
    struct gcd_merged_tree *tree;
    gcd_status st = gcd_session_merge(of->session, of->call, &o, &tree, err);
    if (st != GCD_OK)
        return st;
    st = answer_tree(of, tree, (uint32_t)r->args->view.tree, ret, err);
    gcd_merged_tree_free(tree);
    return st;
}

/* A title with the size of what is retained, for people; to be freed.  NULL: out of memory. */
static char *content_title(const struct gcd_retained_set *set)
{
    char a[CLI_NUMBER_BYTES], b[CLI_NUMBER_BYTES], c[CLI_NUMBER_BYTES], d[CLI_NUMBER_BYTES], *text;
    bool sep = cli_is_terminal(stdout);
    int n = asprintf(
        &text, "%s object%s with %s bytes %s %s object%s with %s bytes, %s:",
        cli_number(set->objects, sep, a), gcd_plural(set->objects), cli_number(set->bytes, sep, b),
        gcd_by_number(set->objects, "retains", "retain"), cli_number(set->retained_objects, sep, c),
        gcd_plural(set->retained_objects), cli_number(set->retained_bytes, sep, d),
        gcd_by_number(set->objects, "itself included", "themselves included"));
    return n >= 0 ? text : NULL;
}

/* ---- the command ---- */

/* SET: for --content; NULL = another table. */
static json_t *json_head(const struct retained *r, const struct gcd_retained_set *set)
{
    const struct gcd_summary *f = cli_summary(&r->d);
    uint32_t alive = gcd_dominators_reachable(r->dominators);
    json_t *o = cli_json_head(r->d.subject);
    cli_json_count(o, "objects", f->objects);
    cli_json_count(o, "bytes", f->bytes);
    cli_json_count(o, "alive_objects", alive);
    cli_json_count(o, "alive_bytes", r->alive_bytes);
    cli_json_count(o, "guessed_roots", gcd_dominators_pseudo_roots(r->dominators));
    if (set != NULL) {
        cli_json_count(o, "set_objects", set->objects);
        cli_json_count(o, "set_bytes", set->bytes);
        cli_json_count(o, "retained_objects", set->retained_objects);
        cli_json_count(o, "retained_bytes", set->retained_bytes);
    }
    return o;
}

/* Adds the answers that ARGS select to ANSWERS[2]. */
static gcd_status ask(const struct retained *r, struct cli_titled *answers, size_t *ret_n,
                      struct gcd_retained_set *ret_set, struct gcd_error *err)
{
    const struct cli_view_args *view = &r->args->view;
    struct gcd_context call = cli_context(r->args, NULL);
    struct answer_of_heap of = { .session = r->d.session,
                                 .call = &call,
                                 .types = r->types,
                                 .skip = r->skip,
                                 .page = { .most = r->lines, .min_bytes = view->min_bytes },
                                 .holders = true };
    *ret_n = 1;
    if (view->content != NULL) {
        answers->key = "content";
        return answer_content(&of, &answers->answer, ret_set, err);
    }
    if (view->by_dominator != NULL) {
        answers->key = "dominators";
        return answer_dominators(&of, &answers->answer, err);
    }
    if (view->by_value != NULL) {
        answers->key = "field_values";
        return answer_field_values(&of, view->by_value, &answers->answer, err);
    }
    if (view->by_field) {
        answers->key = "fields";
        return answer_fields(&of, &answers->answer, err);
    }
    if (view->tree != 0) {
        answers->key = "tree";
        of.page.most = view->top != 0 ? r->lines : 0;
        return merged_tree(r, &of, &answers->answer, err);
    }
    if (view->type != NULL) {
        answers->key = "types";
        return answer_exact(&of, &answers->answer, err);
    }
    bool both = view->largest == CLI_LARGEST_BOTH && !view->csv;
    size_t n = 0;
    gcd_status st = GCD_OK;
    if (view->largest != CLI_LARGEST_TYPES) {
        answers[n] = (struct cli_titled){ .key = "largest_objects",
                                          .title = both ? "Objects that retain most:" : NULL };
        st = answer_largest_objects(&of, &answers[n++].answer, err);
    }
    if (st == GCD_OK && (both || view->largest == CLI_LARGEST_TYPES)) {
        answers[n] = (struct cli_titled){ .key = "largest_types",
                                          .title = both ? "Types that retain most:" : NULL };
        st = largest_types(r, &answers[n++].answer, err);
    }
    *ret_n = n;
    return st;
}

/* Why strings have no texts, for people. */
static void print_note(const struct retained *r, const struct answer *a)
{
    if (r->args->view.by_value == NULL || r->args->view.json || r->args->view.csv ||
        !answer_lacks_texts(a))
        return;
    puts(r->args->view.values == CLI_VALUES_HIDDEN ? "\nTexts of strings: --show-values."
                                                   : "\nNo texts of strings: " CLI_WHERE_TEXTS_ARE
                                                     ".");
}

/* Says also why the field is perhaps not found. */
static enum cli_exit fail(const struct retained *r, struct gcd_error *err)
{
    const char *why = "";
    if (err->code == GCD_E_NOT_FOUND && r->args->view.by_value != NULL) {
        if (r->args->view.values == CLI_VALUES_HIDDEN)
            why = "; numbers need --show-values";
        else if (!gcd_trace_is_image(&cli_summary(&r->d)->trace) &&
                 cli_summary(&r->d)->values.numbers == 0)
            why = "; numbers are known in a core file, with --direct, and with --values all";
    }
    size_t used = strlen(err->msg);
    (void)snprintf(err->msg + used, sizeof err->msg - used, "%s", why);
    return cli_fail(r->d.subject, err);
}

static enum cli_exit print(const struct retained *r)
{
    struct cli_titled answers[2] = { { .key = NULL } };
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_retained_set set = { 0 };
    size_t n;
    char *title = NULL;
    const struct gcd_retained_set *content = r->args->view.content != NULL ? &set : NULL;
    enum cli_exit e = ask(r, answers, &n, &set, &err) == GCD_OK ? CLI_DONE : fail(r, &err);
    if (e == CLI_DONE && content != NULL)
        answers[0].title = title = content_title(&set);
    if (e == CLI_DONE)
        e = cli_print_answers(r->args, &r->d, r->args->view.json ? json_head(r, content) : NULL,
                              answers, n);
    if (e == CLI_DONE)
        print_note(r, answers[0].answer);
    while (n > 0)
        answer_free(answers[--n].answer);
    free(title);
    return e;
}

static const char *pattern_of(const struct cli_view_args *view)
{
    const char *const all[] = { view->content, view->by_dominator, view->type, view->filter };
    size_t i = 0;
    while (i < 3 && all[i] == NULL)
        i++;
    return all[i];
}

/* --skip need not match anything: a program may use none of the framework's types. */
static enum cli_exit skipped_types(struct retained *r, const char *pattern)
{
    const struct gcd_summary *summary = gcd_graph_summary(r->d.graph);
    struct cli_filter *filter;
    enum cli_exit e = cli_filter_new(pattern, &filter);
    r->skip = calloc((size_t)summary->type_count + 1, 1);
    if (e == CLI_DONE)
        e = r->skip != NULL
                ? cli_filter_select(filter, r->d.subject, summary, r->d.names, NULL, r->skip)
                : cli_no_memory(r->d.subject);
    cli_filter_free(filter);
    return e;
}

static enum cli_exit run(struct retained *r)
{
    const char *pattern = pattern_of(&r->args->view);
    enum cli_exit e = cli_open_session(r->args, CLI_NEED_RETAINED, &r->d);
    if (e == CLI_DONE && pattern != NULL)
        e = cli_match_types(pattern, &r->d, r->d.names, &r->types);
    if (e == CLI_DONE && r->args->view.skip != NULL)
        e = skipped_types(r, r->args->view.skip);
    if (e == CLI_DONE)
        e = cli_find_dominators(r->args, &r->d, &r->dominators);
    if (e != CLI_DONE)
        return e;
    r->alive_bytes = gcd_dominators_retained(r->dominators, GCD_NODE_ROOT);
    return cli_finish(r->args, &r->d, print(r), gcd_dominators_pseudo_roots(r->dominators));
}

enum cli_exit cmd_retained(const struct cli_args *args)
{
    struct retained r = { .args = args,
                          .lines = args->view.top != 0 ? (uint32_t)args->view.top : DEFAULT_LINES };
    enum cli_exit e = run(&r);
    free(r.types);
    free(r.skip);
    cli_close(&r.d);
    return e;
}
