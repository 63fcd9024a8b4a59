/*
 * The merged paths of a dump as the steps of a gcd_tree_diff, with names that other dumps of the
 * same program have, too.
 */
#include "answer/answers.h"

#include <string.h>

#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/static_names.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"

#define TEXT_BYTES_MAX (UINT64_C(4) << 30)

/* Static variables are roots of their own, so they get a common parent; then the top has one row
 * per kind of root. */
static const char statics[] = "static variables";
/* frozen or dead: a dump without ranges cannot tell which */
static const char unreachable[] = "(no root)";

struct steps {
    const struct answer_of_tree *of;
    struct gcd_alloc alloc;
    struct gcd_tree_diff_step *items; /* [tree steps + 2] */
    uint32_t count;
    const char **names; /* [types + 2 * tree steps + 2] */
    uint32_t name_count;
    struct gcd_textpool texts; /* names of roots */
    uint32_t *place;           /* [tree steps] index in ITEMS */
    size_t tree_steps, types;  /* allocated sizes */
    uint32_t statics;          /* the step "static variables"; GCD_STEP_NONE = none yet */
};

static uint32_t add_step(struct steps *s, uint32_t parent, uint32_t name, uint64_t objects,
                         uint64_t bytes)
{
    s->items[s->count] = (struct gcd_tree_diff_step){ .parent = parent,
                                                      .name = name,
                                                      .objects = objects,
                                                      .bytes = bytes,
                                                      .field = GCD_NAME_NONE,
                                                      .facts = GCD_FOLD_FACT_SHOWN,
                                                      .short_name = GCD_NAME_NONE };
    return s->count++;
}

static uint32_t add_name(struct steps *s, const char *name)
{
    s->names[s->name_count] = name;
    return s->name_count++;
}

/* The name that consists of the PARTS. */
static bool add_text(struct steps *s, const char *const *parts, size_t n, uint32_t *ret)
{
    size_t room = 1, at = 0;
    const char *kept;
    for (size_t i = 0; i < n; i++)
        room += strlen(parts[i]);
    char *text = gcd_mem_new(&s->alloc, room);
    if (text == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t part = strlen(parts[i]);
        memcpy(text + at, parts[i], part);
        at += part;
    }
    bool ok = gcd_textpool_add(&s->texts, text, at, &kept) == GCD_OK;
    gcd_mem_free(&s->alloc, text, room);
    if (ok)
        *ret = add_name(s, kept);
    return ok;
}

/* R NULL: a pseudo-root. */
static bool add_label(struct steps *s, const struct gcd_root *r, uint32_t *ret)
{
    const char *p[ANSWER_ROOT_PARTS];
    answer_root_parts(gcd_session_graph(s->of->session), s->of->names, r, p);
    return add_text(s, p, ANSWER_ROOT_PARTS, ret);
}

/* The names of a static variable: with its class, and without it, as a dump names it that does not
 * know the class.  Matched by raw names only the latter. */
static bool name_static(struct steps *s, const struct gcd_root *r, uint32_t ret[2])
{
    static const char prefix[] = "static variable ";
    const struct gcd_graph *g = gcd_session_graph(s->of->session);
    size_t n = strlen(r->name);
    char *brief = gcd_mem_new(&s->alloc, n + 1);
    if (brief == NULL)
        return false;
    brief[gcd_static_source_label(r->name, n, brief)] = '\0';
    const struct gcd_static_words w = gcd_static_words(g, s->of->names, r);
    const char *const in_short[] = { prefix, brief }, *const in_full[] = { prefix, w.label[0],
                                                                           w.label[1], w.label[2] };
    bool same = w.label[1][0] == '\0' && w.label[2][0] == '\0' && strcmp(w.label[0], brief) == 0;
    bool ok = s->of->raw || same
                  ? add_text(s, in_short, 2, &ret[0])
                  : add_text(s, in_full, 4, &ret[0]) && add_text(s, in_short, 2, &ret[1]);
    gcd_mem_free(&s->alloc, brief, n + 1);
    return ok;
}

/* The names of a root, or of a group of roots.  Whether it is a property not all dumps tell. */
static bool name_root(struct steps *s, struct gcd_step_name name, uint32_t ret[2])
{
    const struct gcd_summary *f = gcd_graph_summary(gcd_session_graph(s->of->session));
    if (name.kind == GCD_STEP_GROUP) {
        const char *one = gcd_root_group_label(name.group)->one;
        return add_text(s, &one, 1, &ret[0]);
    }
    if (name.root == SIZE_MAX)
        return add_label(s, NULL, &ret[0]);
    const struct gcd_root *r = &f->roots[name.root];
    if (name.group != GCD_GROUP_STATICS) {
        const char *const parts[] = { gcd_root_group_label(name.group)->one, " \"", r->name, "\"" };
        return add_text(s, parts, 4, &ret[0]);
    }
    return r->name[0] == '\0' ? add_label(s, r, &ret[0]) : name_static(s, r, ret);
}

/* Adds a root below its kind. */
static bool add_root(struct steps *s, struct gcd_step_name name, const struct gcd_merged_step *t,
                     uint32_t *ret)
{
    uint32_t parent = GCD_STEP_NONE;
    if (name.kind != GCD_STEP_PSEUDO_ROOTS && name.group == GCD_GROUP_STATICS) {
        if (s->statics == GCD_STEP_NONE)
            s->statics = add_step(s, GCD_STEP_NONE, add_name(s, statics), 0, 0);
        s->items[s->statics].objects += t->count;
        s->items[s->statics].bytes += t->bytes;
        parent = s->statics;
    }
    *ret = parent;
    if (parent != GCD_STEP_NONE &&
        name.kind == GCD_STEP_GROUP) /* too many to list: their common parent stands for all */
        return true;
    uint32_t names[2] = { GCD_NAME_NONE, GCD_NAME_NONE };
    if (!name_root(s, name, names))
        return false;
    *ret = add_step(s, parent, names[0], t->count, t->bytes);
    s->items[*ret].short_name = names[1];
    return true;
}

/* Sets the fold facts of all steps that have a type. */
static gcd_status add_facts(struct steps *s, struct gcd_error *err)
{
    size_t n;
    const struct gcd_merged_step *t = gcd_merged_tree_steps(s->of->tree, &n);
    struct gcd_fold_node *nodes = gcd_mem_new_array(&s->alloc, n, sizeof *nodes);
    if (nodes == NULL && n > 0)
        return gcd_fail_nomem(err, "comparing paths");
    for (size_t i = 0; i < n; i++) {
        struct gcd_step_name name = gcd_merged_tree_name(s->of->tree, t[i].label);
        nodes[i] = (struct gcd_fold_node){ .parent = t[i].parent,
                                           .type = name.kind == GCD_STEP_TYPE ? name.type
                                                                              : GCD_TYPE_NONE };
    }
    gcd_status st = gcd_session_fold_facts(s->of->session, NULL, nodes, n, err);
    for (size_t i = 0; i < n; i++)
        if (s->place[i] != GCD_STEP_NONE)
            s->items[s->place[i]].facts = nodes[i].facts;
    gcd_mem_free(&s->alloc, nodes, n * sizeof *nodes);
    return st;
}

static bool make_room(struct steps *s)
{
    (void)gcd_merged_tree_steps(s->of->tree, &s->tree_steps);
    s->types = gcd_graph_summary(gcd_session_graph(s->of->session))->type_count;
    s->items = gcd_mem_new_array(&s->alloc, s->tree_steps + 2, sizeof *s->items);
    s->names = gcd_mem_new_array(&s->alloc, s->types + 2 * s->tree_steps + 2, sizeof *s->names);
    s->place = gcd_mem_new_array(&s->alloc, s->tree_steps + 1, sizeof *s->place);
    return s->items != NULL && s->names != NULL && s->place != NULL;
}

static bool convert(struct steps *s)
{
    size_t n;
    const struct gcd_merged_step *t = gcd_merged_tree_steps(s->of->tree, &n);
    struct gcd_merged_tree_totals totals = gcd_merged_tree_totals(s->of->tree);
    if (!make_room(s))
        return false;
    for (uint32_t i = 0; i < s->types; i++)
        add_name(s, gcd_names_plain(s->of->names, i));
    for (size_t i = 0; i < n; i++) {
        struct gcd_step_name name = gcd_merged_tree_name(s->of->tree, t[i].label);
        if (name.kind != GCD_STEP_TYPE) {
            if (!add_root(s, name, &t[i], &s->place[i]))
                return false;
            continue;
        }
        const char *field = gcd_merged_tree_field(s->of->tree, &t[i]);
        s->place[i] =
            add_step(s, t[i].parent == GCD_STEP_NONE ? GCD_STEP_NONE : s->place[t[i].parent],
                     name.type, t[i].count, t[i].bytes);
        if (field != NULL && field[0] != '\0')
            s->items[s->place[i]].field = add_name(s, field);
    }
    if (totals.dead_count > 0 || totals.frozen_count > 0)
        add_step(s, GCD_STEP_NONE, add_name(s, unreachable),
                 totals.dead_count + totals.frozen_count, totals.dead_bytes + totals.frozen_bytes);
    return true;
}

gcd_status answer_tree_add(struct gcd_tree_diff *to, const struct answer_of_tree *of,
                           struct gcd_error *err)
{
    struct steps s = { .of = of,
                       .alloc = gcd_alloc_or_default(of->alloc),
                       .statics = GCD_STEP_NONE };
    gcd_textpool_init(&s.texts, &s.alloc, TEXT_BYTES_MAX);
    gcd_status st = convert(&s) ? add_facts(&s, err) : gcd_fail_nomem(err, "comparing paths");
    if (st == GCD_OK)
        st = gcd_tree_diff_add(to, s.names, s.name_count, s.items, s.count, err);
    gcd_textpool_done(&s.texts);
    gcd_mem_free(&s.alloc, s.items, (s.tree_steps + 2) * sizeof *s.items);
    gcd_mem_free(&s.alloc, s.names, (s.types + 2 * s.tree_steps + 2) * sizeof *s.names);
    gcd_mem_free(&s.alloc, s.place, (s.tree_steps + 1) * sizeof *s.place);
    return st;
}
