#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/text/plural.h>

#include "answer/answers.h"
#include "args.h"
#include "commands/object_paths.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "output/document.h"
#include "output/json_out.h"
#include "term/message.h"
#include "term/term.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/root_labels.h"

/* Objects shown at each end of a path; the ones in between become one line. */
#define ENDS_SHOWN 20u

enum cli_exit cli_find_object(const char *which, const struct cli_dump *d, uint32_t *ret)
{
    bool is_address = which[0] == '0' && (which[1] == 'x' || which[1] == 'X');
    const char *digits = is_address ? which + 2 : which;
    size_t n = strlen(digits),
           good = strspn(digits, is_address ? "0123456789abcdefABCDEF" : "0123456789");
    errno = 0;
    uint64_t number = strtoull(digits, NULL, is_address ? 16 : 10);
    if (n == 0 || good < n || errno != 0)
        return cli_error(CLI_USAGE, NULL,
                         "--object takes an address (0x...) or the number of an object, not \"%s\"",
                         which);
    if (is_address && gcd_graph_notes(d->graph)->addresses_made_up)
        return cli_error(
            CLI_FAILED, d->subject,
            "there are no addresses in this dump; --object takes the number of an object");
    if (is_address)
        *ret = gcd_graph_find(d->graph, number);
    else
        *ret = number < gcd_graph_node_count(d->graph) ? (uint32_t)number : GCD_NODE_NONE;
    if (*ret != GCD_NODE_NONE)
        return CLI_DONE;
    if (is_address)
        cli_say(d->subject,
                "there is no object at %s; gcdumpc retained shows addresses, which differ between "
                "dumps",
                which);
    else
        cli_say(d->subject, "there is no object %s; they are numbered from 0 to %" PRIu32, which,
                gcd_graph_node_count(d->graph) - 1);
    return CLI_FAILED;
}

struct shown {
    const struct cli_args *args;
    const struct cli_dump *d;
    const struct gcd_names *names;
    const struct gcd_paths *paths;
    uint32_t object;
    struct gcd_object_paths *all;
    const struct cli_folding *folding;
    const struct gcd_fields *fields;
    struct answer *answer;
};

/* ---- lines ---- */

static const struct answer_column columns[] = {
    COLUMN("path", "#", ANSWER_COUNT),
    FIELD("depth", ANSWER_COUNT),
    FIELD("kind", ANSWER_TEXT),
    COLUMN("bytes", "Bytes", ANSWER_BYTES),
    COLUMN("object", "Object", ANSWER_TEXT),
    COLUMN("step", "Path", ANSWER_TREE),
    FIELD("type", ANSWER_TEXT),
    FIELD("address", ANSWER_ADDRESS),
    FIELD("node", ANSWER_COUNT),
    FIELD("root", ANSWER_TEXT),
    FIELD("field", ANSWER_TEXT),
    FIELD("flags", ANSWER_TEXT),
    FIELD("more", ANSWER_COUNT),
    FIELD("class", ANSWER_TEXT),
    FIELD("label", ANSWER_TEXT),
    FIELD("origin", ANSWER_TEXT),
    FIELD("fold", ANSWER_TEXT),
    FIELD("element", ANSWER_COUNT),
};
static const struct answer_shape shape = ANSWER_SHAPE(columns);

/* One line of a path: an object, or MORE objects in the middle. */
struct line {
    struct gcd_object_step step; /* node GCD_NODE_NONE = MORE objects */
    uint64_t more;
};
#define LINES_MAX (2 * ENDS_SHOWN + 1)

static void put_head(const struct shown *f, uint32_t path, uint32_t depth, const char *kind)
{
    answer_row(f->answer);
    answer_count(f->answer, "path", path);
    answer_count(f->answer, "depth", depth);
    answer_text(f->answer, "kind", kind);
    answer_depth(f->answer, "step", depth);
}

static void put_root(const struct shown *f, uint32_t path, uint32_t depth, const struct gcd_root *r)
{
    put_head(f, path, depth, "root");
    answer_root_label(f->answer, "step", f->d->session, r);
    answer_text(f->answer, "root", answer_root_key(r));
    answer_static(f->answer, f->d->session, r);
}

/* A line of a path with its place in the output. */
struct placed {
    uint32_t path, depth;
    const struct line *line, *next; /* NEXT: what it holds, NULL = nothing */
    enum gcd_fold fold, next_fold;
};

/* By which field the object of P holds the next one. */
static struct gcd_field field_of_object(const struct shown *f, const struct placed *p)
{
    if (p->next == NULL || p->next->step.node == GCD_NODE_NONE || p->next->step.dependent)
        return GCD_FIELD_UNKNOWN;
    return gcd_fields_between(f->fields, p->line->step.node, p->next->step.node);
}

static gcd_status put_object(const struct shown *f, const struct placed *p, struct gcd_error *err)
{
    const struct gcd_object_step *step = &p->line->step;
    struct gcd_field via = field_of_object(f, p);
    char field[GCD_FIELD_LABEL_BYTES] = "";
    const struct gcd_graph *g = f->d->graph;
    const char *type = gcd_names_get(f->names, gcd_graph_node_type(g, step->node));
    char elements[ANSWER_ELEMENTS_BYTES] = "", call[GCD_ASYNC_STEP_BYTES];
    gcd_status st = cli_folds(f->args)
                        ? answer_elements_of(f->folding->session, NULL, step->node, elements, err)
                        : GCD_OK;
    if (st != GCD_OK)
        return st;
    if (!cli_folds(f->args) || p->next_fold != GCD_FOLD_INSIDE)
        (void)gcd_field_suffix(&via, field);
    put_head(f, p->path, p->depth, "object");
    answer_count(f->answer, "bytes", gcd_graph_node_size(g, step->node));
    answer_object(f->answer, f->d->session, step->node);
    answer_format(f->answer, "step", "%s%s%s%s", gcd_async_step_name(type, call), field, elements,
                  step->dependent ? " (by a dependent handle)" : "");
    answer_text(f->answer, "type", type);
    answer_text(f->answer, "flags", step->dependent ? "dependent" : NULL);
    answer_fold(f->answer, f->folding->origins, gcd_graph_node_type(g, step->node), p->fold);
    answer_field(f->answer, &via);
    return GCD_OK;
}

static void put_text(const struct shown *f, uint32_t path, uint32_t depth, const char *text,
                     uint64_t more)
{
    put_head(f, path, depth, "rest");
    answer_text(f->answer, "step", text);
    answer_count(f->answer, "more", more);
}

static void put_rest(const struct shown *f, uint32_t path, uint32_t depth, uint64_t more,
                     const char *what)
{
    char text[80];
    (void)snprintf(text, sizeof text, "(%s more %s)", GCD_DIGITS(more), what);
    put_text(f, path, depth, text, more);
}

/* ---- paths ---- */

/* The lines of P from the root on; the middle of a long path is one line. */
static size_t lines_of(const struct gcd_object_path *p, struct line lines[LINES_MAX])
{
    size_t n = 0, cut = p->count > LINES_MAX ? p->count - 2 * ENDS_SHOWN : 0;
    for (size_t k = 0; k < p->count; k++) {
        lines[n++] = (struct line){ .step = p->steps[p->count - 1 - k] };
        if (cut > 0 && k + 1 == ENDS_SHOWN) {
            lines[n++] = (struct line){ .step = { .node = GCD_NODE_NONE }, .more = cut };
            k += cut;
        }
    }
    return n;
}

/* Adds one line for the hidden steps from line I on, in output order; returns how many they are. */
static size_t put_hidden(const struct shown *f, const struct gcd_fold_step *folds, size_t n,
                         size_t i, const uint32_t path_depth[2])
{
    char buf[ANSWER_HIDDEN_BYTES];
    uint64_t library = 0;
    size_t k = i;
    for (; k < n && folds[f->args->view.to_root ? n - 1 - k : k].fold == GCD_FOLD_HIDDEN; k++)
        library += gcd_origins_get(f->folding->origins,
                                   folds[f->args->view.to_root ? n - 1 - k : k].type) ==
                   GCD_ORIGIN_LIBRARY;
    put_text(f, path_depth[0], path_depth[1], answer_hidden_text(k - i, library, buf), k - i);
    return k - i;
}

/* Adds the objects in output order.  *DEPTH: in for the first line, out for what follows. */
static gcd_status put_steps(const struct shown *f, const struct gcd_object_path *p, uint32_t path,
                            uint32_t *depth, struct gcd_error *err)
{
    struct line lines[LINES_MAX];
    struct gcd_fold_step folds[LINES_MAX];
    size_t n = lines_of(p, lines);
    bool hides = cli_folds(f->args);
    for (size_t i = 0; i < n; i++)
        folds[i] = (struct gcd_fold_step){ .type = lines[i].step.node != GCD_NODE_NONE
                                                       ? gcd_graph_node_type(f->d->graph,
                                                                             lines[i].step.node)
                                                       : GCD_TYPE_NONE };
    folds[n - 1].keep = true;
    gcd_status st = gcd_session_fold_path(f->folding->session, NULL, folds, n, err);
    for (size_t i = 0; i < n && st == GCD_OK; i++) {
        size_t at = f->args->view.to_root ? n - 1 - i : i;
        if (hides && folds[at].fold == GCD_FOLD_INSIDE)
            continue;
        if (hides && folds[at].fold == GCD_FOLD_HIDDEN)
            i += put_hidden(f, folds, n, i, (const uint32_t[]){ path, *depth }) - 1;
        else if (lines[at].step.node == GCD_NODE_NONE)
            put_rest(f, path, *depth, lines[at].more,
                     gcd_by_number(lines[at].more, "object", "objects"));
        else
            st = put_object(f,
                            &(struct placed){ path, *depth, &lines[at],
                                              at + 1 < n ? &lines[at + 1] : NULL, folds[at].fold,
                                              at + 1 < n ? folds[at + 1].fold : GCD_FOLD_SHOWN },
                            err);
        ++*depth;
    }
    return st;
}

static gcd_status put_path(const struct shown *f, const struct gcd_object_path *p, uint32_t path,
                           struct gcd_error *err)
{
    const struct gcd_root *r =
        p->root != SIZE_MAX ? &gcd_graph_summary(f->d->graph)->roots[p->root] : NULL;
    uint32_t depth = f->args->view.to_root ? 0 : 1;
    if (!f->args->view.to_root)
        put_root(f, path, 0, r);
    gcd_status st = put_steps(f, p, path, &depth, err);
    if (f->args->view.to_root && st == GCD_OK)
        put_root(f, path, depth, r);
    return st;
}

static json_t *json_head(const struct shown *f)
{
    json_t *o = cli_json_head(f->d->subject);
    json_object_set_new(o, "orientation",
                        json_string(f->args->view.to_root ? "to_root" : "from_root"));
    cli_json_count(o, "guessed_roots", gcd_paths_pseudo_roots(f->paths));
    json_object_set_new(o, "reachable",
                        json_boolean(gcd_paths_parent(f->paths, f->object) != GCD_NODE_NONE));
    return o;
}

static gcd_status put_all(const struct shown *f, struct gcd_error *err)
{
    uint64_t more;
    size_t n = gcd_object_paths_count(f->all, &more);
    gcd_status st = GCD_OK;
    struct gcd_object_path path;
    for (size_t i = 0; i < n && st == GCD_OK; i++) {
        st = gcd_object_paths_get(f->all, i, &path, err);
        if (st == GCD_OK)
            st = put_path(f, &path, (uint32_t)i + 1, err);
    }
    if (more > 0)
        put_rest(f, (uint32_t)n + 1, 0, more,
                 gcd_by_number(more, "way to hold it", "ways to hold it"));
    if (n == 0) {
        char number[CLI_NUMBER_BYTES];
        cli_say(f->d->subject, "no root leads to the object %s, a %s",
                answer_object_text(f->d->graph, f->object, number),
                gcd_names_get(f->names, gcd_graph_node_type(f->d->graph, f->object)));
    }
    return st;
}

enum cli_exit cli_object_paths(const struct cli_args *args, const struct cli_dump *d,
                               const struct gcd_paths *p, uint32_t object,
                               const struct cli_folding *folding)
{
    uint32_t max = args->view.max_paths != 0 ? (uint32_t)args->view.max_paths : CLI_DEFAULT_PATHS;
    struct gcd_object_paths_options options = { .context = cli_context(args, NULL),
                                                .object = object,
                                                .max = max };
    struct shown f = {
        .args = args, .d = d, .names = d->names, .paths = p, .object = object, .folding = folding
    };
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st = gcd_session_fields(d->session, &options.context, &f.fields, &err);
    if (st == GCD_OK)
        st = gcd_object_paths_new(d->graph, p, &options, &f.all, &err);
    f.answer = answer_new(NULL, &shape);
    if (st == GCD_OK)
        st = put_all(&f, &err);
    struct cli_titled titled = { .key = "paths", .answer = f.answer };
    enum cli_exit e =
        st != GCD_OK
            ? cli_fail(d->subject, &err)
            : cli_print_answers(args, d, args->view.json ? json_head(&f) : NULL, &titled, 1);
    gcd_object_paths_free(f.all);
    answer_free(f.answer);
    return e;
}
