/*
 * Immutable collections, whose versions share what has not changed.  A path leads to each element
 * through one version only, so paths give a version any number of elements between those that are
 * new in it and all.  Here each version is counted alone, as a description of it does.
 */
#include "answer/answers.h"

#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/static_names.h>
#include <gcdumpc/unstable/text/plural.h>

#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/text.h"

/* The names of some owners and elements are shorter. */
#define TEXT_BYTES_MAX (UINT64_C(64) << 20)
/* Versions may visit each object so many times on average; nothing is known of more. */
#define VISITS_MAX UINT64_C(4)
#define DOING      "counting the versions of collections"

struct counting {
    struct gcd_session *session;
    const struct gcd_graph *g;
    const struct gcd_alloc *alloc;
    struct answer_versions *to;
    uint8_t *shares; /* [types] objects of that type are parts of versions */
    uint64_t *seen;  /* [nodes] bits of those in LIST */
    uint32_t *list;  /* the parts of one version */
    size_t list_room;
    uint64_t left;         /* visits */
    uint64_t version;      /* the number of the one that is visited */
    struct gcd_idmap rows; /* by owner and type of the element */
};

void answer_versions_done(struct answer_versions *v)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(v->text.alloc);
    gcd_mem_free(&alloc, v->items, v->room * sizeof *v->items);
    gcd_textpool_done(&v->text);
}

/* Finds the types of immutable collections and their parts; false: there are none. */
static bool find_types(struct counting *c)
{
    static const char *const spaces[] = { "System.Collections.Immutable.Immutable",
                                          "Microsoft.FSharp.Collections." };
    const struct gcd_summary *s = gcd_graph_summary(c->g);
    for (uint32_t i = 0; i < s->type_count; i++)
        for (size_t k = 0; k < sizeof spaces / sizeof *spaces; k++)
            if (gcd_text_begins(s->types[i].name, spaces[k]))
                c->shares[i] = 1;
    return memchr(c->shares, 1, s->type_count + 1) != NULL;
}

/* One more element of TYPE in version number VERSION, which OWNER holds. */
static gcd_status count(struct counting *c, const char *owner, uint32_t id, uint32_t type,
                        uint64_t version, struct gcd_error *err)
{
    struct answer_versions *to = c->to;
    uint32_t at = gcd_idmap_pair(&c->rows, id, type);
    if (at == GCD_IDMAP_NONE ||
        (at == to->count && !gcd_vec_reserve(c->alloc, &to->items, &to->room, to->count + 1,
                                             sizeof *to->items, GCD_IDMAP_NONE)))
        return gcd_fail_nomem(err, DOING);
    struct answer_version *row = &to->items[at];
    if (at == to->count) {
        const char *name = gcd_names_plain(gcd_session_names(c->session), type);
        to->count++;
        if (gcd_textpool_add(&to->text, owner, strlen(owner), &row->owner) != GCD_OK ||
            gcd_textpool_add(&to->text, name, strlen(name), &row->element) != GCD_OK)
            return gcd_fail_nomem(err, DOING);
    }
    if (row->last != version) {
        row->last = version;
        row->now = 0;
        row->versions++;
    }
    row->sum++;
    if (++row->now > row->most)
        row->most = row->now;
    return GCD_OK;
}

static bool see(struct counting *c, uint32_t node, size_t *n)
{
    uint64_t *word = &c->seen[node / 64], bit = UINT64_C(1) << node % 64;
    if ((*word & bit) != 0)
        return true;
    if (!gcd_vec_reserve(c->alloc, &c->list, &c->list_room, *n + 1, sizeof *c->list, SIZE_MAX))
        return false;
    *word |= bit;
    c->list[(*n)++] = node;
    return true;
}

/* The version NODE, which OWNER holds.  GCD_END: there are too many. */
static gcd_status visit(struct counting *c, const char *owner, uint32_t id, uint32_t node,
                        struct gcd_error *err)
{
    uint64_t version = ++c->version;
    size_t n = 0, edges;
    bool ok = see(c, node, &n);
    gcd_status st = GCD_OK;
    for (size_t i = 0; i < n && ok && st == GCD_OK; i++) {
        const uint32_t *to = gcd_graph_node_edges(c->g, c->list[i], &edges);
        st = c->left-- == 0 ? GCD_END : GCD_OK;
        /* suspects tell lists and trees by their parts; an empty one is the end of all others */
        if (st == GCD_OK && edges > 0)
            st = count(c, owner, id, gcd_graph_node_type(c->g, c->list[i]), version, err);
        for (size_t k = 0; k < edges && ok && st == GCD_OK; k++) {
            uint32_t type = gcd_graph_node_type(c->g, to[k]);
            if (c->shares[type])
                ok = see(c, to[k], &n);
            else
                st = count(c, owner, id, type, version, err);
        }
    }
    for (size_t i = 0; i < n; i++)
        c->seen[c->list[i] / 64] = 0;
    return ok ? st : gcd_fail_nomem(err, DOING);
}

/* Those that the objects of the program's classes refer to. */
static gcd_status visit_objects(struct counting *c, struct gcd_error *err)
{
    const struct gcd_origins *origins;
    const struct gcd_names *names = gcd_session_names(c->session);
    uint32_t nodes = gcd_graph_node_count(c->g);
    size_t edges;
    GCD_TRY(gcd_session_origins(c->session, NULL, &origins, err));
    for (uint32_t node = 0; node < nodes; node++) {
        uint32_t type = gcd_graph_node_type(c->g, node);
        if (gcd_origins_get(origins, type) != GCD_ORIGIN_OWN)
            continue;
        const uint32_t *to = gcd_graph_node_edges(c->g, node, &edges);
        for (size_t k = 0; k < edges; k++)
            if (c->shares[gcd_graph_node_type(c->g, to[k])])
                GCD_TRY(visit(c, gcd_names_plain(names, type), type, to[k], err));
    }
    return GCD_OK;
}

/* Those in static variables. */
static gcd_status visit_roots(struct counting *c, struct gcd_error *err)
{
    const struct gcd_summary *s = gcd_graph_summary(c->g);
    char name[ANSWER_COME_BYTES];
    for (size_t i = 0; i < s->root_count; i++) {
        const struct gcd_root *r = &s->roots[i];
        if (r->kind != GCD_ROOT_STATIC || r->node >= GCD_NODE_ROOT || r->name[0] == '\0' ||
            !c->shares[gcd_graph_node_type(c->g, r->node)])
            continue;
        const struct gcd_static_words w = gcd_static_words(c->g, gcd_session_names(c->session), r);
        (void)snprintf(name, sizeof name, "static variable %s%s%s", w.label[0], w.label[1],
                       w.label[2]);
        GCD_TRY(visit(c, name, (uint32_t)s->type_count + (uint32_t)i, r->node, err));
    }
    return GCD_OK;
}

gcd_status answer_versions_count(struct gcd_session *s, const struct gcd_alloc *alloc,
                                 struct answer_versions *ret, struct gcd_error *err)
{
    struct counting c = { .session = s, .g = gcd_session_graph(s), .alloc = alloc, .to = ret };
    size_t types = gcd_graph_summary(c.g)->type_count,
           words = (size_t)gcd_graph_node_count(c.g) / 64 + 1;
    gcd_textpool_init(&ret->text, alloc, TEXT_BYTES_MAX);
    gcd_idmap_init(&c.rows, alloc);
    c.left = VISITS_MAX * gcd_graph_node_count(c.g);
    c.shares = gcd_mem_new_array(alloc, types + 1, sizeof *c.shares);
    c.seen = gcd_mem_new_array(alloc, words, sizeof *c.seen);
    gcd_status st = c.shares != NULL && c.seen != NULL ? GCD_OK : gcd_fail_nomem(err, DOING);
    if (st == GCD_OK && find_types(&c)) {
        st = visit_objects(&c, err);
        if (st == GCD_OK)
            st = visit_roots(&c, err);
    }
    if (st == GCD_END) {
        ret->count = 0;
        st = GCD_OK;
    }
    gcd_idmap_done(&c.rows);
    gcd_mem_free(alloc, c.shares, (types + 1) * sizeof *c.shares);
    gcd_mem_free(alloc, c.seen, words * sizeof *c.seen);
    gcd_mem_free(alloc, c.list, c.list_room * sizeof *c.list);
    return st;
}

static const struct answer_version *find(const struct answer_versions *in, const char *owner,
                                         const char *element)
{
    for (size_t i = 0; i < in->count; i++)
        if (strcmp(in->items[i].owner, owner) == 0 && strcmp(in->items[i].element, element) == 0)
            return &in->items[i];
    return NULL;
}

/* Has each version more than before, or one of them? */
static bool has_grown(const struct answer_version *was, const struct answer_version *is)
{
    return is->most > was->most ||
           (double)is->sum / (double)is->versions > (double)was->sum / (double)was->versions;
}

bool answer_versions_correct(const struct answer_versions versions[2], const char *owner,
                             const char *element, struct answer_version_counts *to)
{
    const struct answer_version *was = find(&versions[0], owner, element),
                                *is = find(&versions[1], owner, element);
    to->known = was != NULL && is != NULL;
    if (!to->known)
        return false;
    bool grown = has_grown(was, is);
    to->few = was->most > to->objects[0] || is->most > to->objects[1];
    if (grown && !to->few)
        return false;
    uint64_t seemed = to->objects[1] > to->objects[0] ? to->objects[1] - to->objects[0] : 0,
             come = is->most > was->most ? is->most - was->most : 0, bytes = to->bytes;
    to->objects[0] = was->most;
    to->objects[1] = is->most;
    if (grown && come < seemed)
        to->bytes = (uint64_t)((double)bytes / (double)seemed * (double)come);
    return !grown || to->bytes < bytes / 2;
}

const char *answer_versions_text(const struct answer_come *come, const struct gcd_diff_row *all,
                                 char ret[ANSWER_COME_BYTES])
{
    char count[128], bytes[GCD_TEXT_SIZE_BYTES];
    const char *field = come->field != NULL ? come->field : "";
    if (come->objects[1] == come->objects[0])
        (void)snprintf(count, sizeof count, "%s", GCD_DIGITS(come->objects[1]));
    else
        (void)snprintf(count, sizeof count, "%s -> %s", GCD_DIGITS(come->objects[0]),
                       GCD_DIGITS(come->objects[1]));
    (void)snprintf(
        ret, ANSWER_COME_BYTES,
        "%.600s%s%.200s has %s %.400s%s. In the heap are %s -> %s of them, +%s, in other "
        "versions of that immutable collection, too, which share with it what has not "
        "changed.",
        come->owner_said, field[0] != '\0' ? "." : "", field, count, come->element_said,
        come->objects[1] == come->objects[0] ? ", as before" : "", GCD_DIGITS(all->sums[0].objects),
        GCD_DIGITS(all->sums[1].objects), gcd_text_size(come->bytes, bytes));
    return ret;
}
