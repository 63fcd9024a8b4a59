#include "answer/answers.h"

#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/text/plural.h>

#include "base/error.h"

/* Objects shown at each end of a path; the ones in between become one line. */
#define ENDS_SHOWN 20u

static const struct answer_column columns[] = {
    COLUMN("path", "#", ANSWER_COUNT),
    FIELD("depth", ANSWER_COUNT),
    FIELD("kind", ANSWER_TEXT),
    COLUMN("bytes", "Bytes", ANSWER_BYTES),
    COLUMN("object", "Object", ANSWER_TEXT),
    COLUMN("step", "Path", ANSWER_TREE),
    DETAIL("type", ANSWER_TEXT),
    DETAIL("address", ANSWER_ADDRESS),
    DETAIL("node", ANSWER_COUNT),
    DETAIL("root", ANSWER_TEXT),
    DETAIL("field", ANSWER_TEXT),
    DETAIL("flags", ANSWER_TEXT),
    DETAIL("more", ANSWER_COUNT),
    DETAIL("class", ANSWER_TEXT),
    DETAIL("label", ANSWER_TEXT),
    DETAIL("origin", ANSWER_TEXT),
    DETAIL("fold", ANSWER_TEXT),
    DETAIL("element", ANSWER_COUNT),
    DETAIL("key", ANSWER_TEXT),
};
const struct answer_shape answer_object_paths_shape = ANSWER_SHAPE(columns);

struct filling {
    const struct answer_of_paths *of;
    const struct gcd_graph *graph;
    const struct gcd_origins *origins;
    const struct gcd_fields *fields;
    struct gcd_object_paths *all;
    struct answer *a;
};

/* One line of a path: an object, or MORE objects in the middle. */
struct line {
    struct gcd_object_step step; /* node GCD_NODE_NONE = MORE objects */
    uint64_t more;
};
#define LINES_MAX (2 * ENDS_SHOWN + 1)

static void put_head(const struct filling *f, uint32_t path, uint32_t depth, const char *kind)
{
    answer_row(f->a);
    answer_count(f->a, "path", path);
    answer_count(f->a, "depth", depth);
    answer_text(f->a, "kind", kind);
    answer_depth(f->a, "step", depth);
}

static void put_root(const struct filling *f, uint32_t path, uint32_t depth,
                     const struct gcd_root *r)
{
    put_head(f, path, depth, "root");
    answer_root_label(f->a, "step", f->of->session, r);
    answer_text(f->a, "root", answer_root_key(r));
    answer_static(f->a, f->of->session, r);
}

/* A line of a path with its place in the output. */
struct placed {
    uint32_t path, depth;
    const struct line *line, *next; /* NEXT: what it holds, NULL = nothing */
    enum gcd_fold fold, next_fold;
    /* of a collection, the hidden object that holds an element, and that element; else as above */
    const struct line *entry, *element;
    const struct line *collection; /* whose part ENTRY is, NULL = of none */
};

/* "[\"tenant-42\"]" for the key by which P holds its element; and the cell "key". */
static const char *put_key(const struct filling *f, const struct placed *p)
{
    if (p->element == NULL || p->element->step.dependent)
        return "";
    struct gcd_session_entry e = { .collection = p->collection != NULL ? p->collection->step.node
                                                                       : GCD_NODE_NONE,
                                   .entry = p->entry->step.node,
                                   .value = p->element->step.node };
    return answer_key(f->a, "key", f->of->session, &e);
}

/* By which field the object of P holds the next one. */
static struct gcd_field field_of_object(const struct filling *f, const struct placed *p)
{
    if (p->next == NULL || p->next->step.node == GCD_NODE_NONE || p->next->step.dependent)
        return GCD_FIELD_UNKNOWN;
    return gcd_fields_between(f->fields, p->line->step.node, p->next->step.node);
}

static gcd_status put_object(const struct filling *f, const struct placed *p, struct gcd_error *err)
{
    const struct gcd_object_step *step = &p->line->step;
    struct gcd_field via = field_of_object(f, p);
    uint32_t type_id = gcd_graph_node_type(f->graph, step->node);
    const char *type = gcd_names_get(gcd_session_names(f->of->session), type_id);
    char field[GCD_FIELD_LABEL_BYTES] = "", elements[ANSWER_ELEMENTS_BYTES] = "",
         call[GCD_ASYNC_STEP_BYTES];
    gcd_status st =
        f->of->folds ? answer_elements_of(f->of->session, NULL, step->node, elements, err) : GCD_OK;
    if (st != GCD_OK)
        return st;
    if (!f->of->folds || p->next_fold != GCD_FOLD_INSIDE)
        (void)gcd_field_suffix(&via, field);
    put_head(f, p->path, p->depth, "object");
    answer_count(f->a, "bytes", gcd_graph_node_size(f->graph, step->node));
    answer_object(f->a, f->of->session, step->node);
    answer_format(f->a, "step", "%s%s%s%s%s",
                  gcd_names_step(gcd_session_names(f->of->session), type_id, call), field,
                  put_key(f, p), elements, step->dependent ? " (by a dependent handle)" : "");
    answer_text(f->a, "type", type);
    answer_text(f->a, "flags", step->dependent ? "dependent" : NULL);
    answer_fold(f->a, f->origins, type_id, p->fold);
    answer_field(f->a, &via);
    return GCD_OK;
}

static void put_text(const struct filling *f, uint32_t path, uint32_t depth, const char *text,
                     uint64_t more)
{
    put_head(f, path, depth, "rest");
    answer_text(f->a, "step", text);
    answer_count(f->a, "more", more);
}

static void put_rest(const struct filling *f, uint32_t path, uint32_t depth, uint64_t more,
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
static size_t put_hidden(const struct filling *f, const struct gcd_fold_step *folds, size_t n,
                         size_t i, const uint32_t path_depth[2])
{
    char buf[ANSWER_HIDDEN_BYTES];
    uint64_t library = 0;
    size_t k = i;
    for (; k < n && folds[f->of->to_root ? n - 1 - k : k].fold == GCD_FOLD_HIDDEN; k++)
        library += gcd_origins_get(f->origins, folds[f->of->to_root ? n - 1 - k : k].type) ==
                   GCD_ORIGIN_LIBRARY;
    put_text(f, path_depth[0], path_depth[1], answer_hidden_text(k - i, library, buf), k - i);
    return k - i;
}

/* The last of the lines that line AT stands for: a collection for its internals behind it. */
static size_t last_of(const struct gcd_fold_step *folds, size_t n, size_t at, bool hides)
{
    while (hides && at + 1 < n && folds[at + 1].fold == GCD_FOLD_INSIDE)
        at++;
    return at;
}

/* Adds the objects in output order.  *DEPTH: in for the first line, out for what follows. */
static gcd_status put_steps(const struct filling *f, const struct gcd_object_path *p, uint32_t path,
                            uint32_t *depth, struct gcd_error *err)
{
    struct line lines[LINES_MAX];
    struct gcd_fold_step folds[LINES_MAX];
    size_t n = lines_of(p, lines);
    bool hides = f->of->folds;
    for (size_t i = 0; i < n; i++)
        folds[i] =
            (struct gcd_fold_step){ .type = lines[i].step.node != GCD_NODE_NONE
                                                ? gcd_graph_node_type(f->graph, lines[i].step.node)
                                                : GCD_TYPE_NONE };
    folds[n - 1].keep = true;
    gcd_status st = gcd_session_fold_path(f->of->session, NULL, folds, n, err);
    for (size_t i = 0; i < n && st == GCD_OK; i++) {
        size_t at = f->of->to_root ? n - 1 - i : i;
        if (hides && folds[at].fold == GCD_FOLD_INSIDE)
            continue;
        if (hides && folds[at].fold == GCD_FOLD_HIDDEN)
            i += put_hidden(f, folds, n, i, (const uint32_t[]){ path, *depth }) - 1;
        else if (lines[at].step.node == GCD_NODE_NONE)
            put_rest(f, path, *depth, lines[at].more,
                     gcd_by_number(lines[at].more, "object", "objects"));
        else {
            size_t last = last_of(folds, n, at, hides);
            size_t whole = last; /* the collection, if the entry is in one */
            while (whole > 0 && folds[whole].fold == GCD_FOLD_INSIDE)
                whole--;
            bool inside =
                whole < last && (last + 1 == n || folds[last + 1].fold != GCD_FOLD_INSIDE);
            struct placed place = { .path = path,
                                    .depth = *depth,
                                    .line = &lines[at],
                                    .next = at + 1 < n ? &lines[at + 1] : NULL,
                                    .fold = folds[at].fold,
                                    .next_fold = at + 1 < n ? folds[at + 1].fold : GCD_FOLD_SHOWN,
                                    .entry = &lines[last],
                                    .element = last + 1 < n ? &lines[last + 1] : NULL,
                                    .collection = inside ? &lines[whole] : NULL };
            st = put_object(f, &place, err);
        }
        ++*depth;
    }
    return st;
}

static gcd_status put_path(const struct filling *f, const struct gcd_object_path *p, uint32_t path,
                           struct gcd_error *err)
{
    const struct gcd_root *r =
        p->root != SIZE_MAX ? &gcd_graph_summary(f->graph)->roots[p->root] : NULL;
    uint32_t depth = f->of->to_root ? 0 : 1;
    if (!f->of->to_root)
        put_root(f, path, 0, r);
    gcd_status st = put_steps(f, p, path, &depth, err);
    if (f->of->to_root && st == GCD_OK)
        put_root(f, path, depth, r);
    return st;
}

static gcd_status put_all(const struct filling *f, struct gcd_error *err)
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
    return st;
}

gcd_status answer_object_paths(const struct answer_of_paths *of, struct answer **ret,
                               struct gcd_error *err)
{
    struct filling f = { .of = of, .graph = gcd_session_graph(of->session) };
    struct gcd_object_paths_options options = { .object = of->object, .max = of->max };
    *ret = NULL;
    if (of->call != NULL)
        options.context = *of->call;
    GCD_TRY(gcd_session_origins(of->session, of->call, &f.origins, err));
    GCD_TRY(gcd_session_fields(of->session, of->call, &f.fields, err));
    GCD_TRY(gcd_object_paths_new(f.graph, of->paths, &options, &f.all, err));
    f.a = *ret = answer_new(NULL, &answer_object_paths_shape);
    gcd_status st = f.a != NULL ? put_all(&f, err) : gcd_fail_nomem(err, "listing paths");
    if (st == GCD_OK)
        f.a->total = f.a->rows;
    gcd_object_paths_free(f.all);
    return st;
}
