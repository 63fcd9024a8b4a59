/*
 * How suspects have grown since an older dump of the same program.  Nodes have other numbers and
 * objects other addresses there, so a suspect is found again by its kind and place; the objects it
 * holds are counted by type, as diff counts them.
 */
#include "answer/answers.h"

#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/suspect_checks.h>
#include <gcdumpc/unstable/text/plural.h>

#include "base/error.h"
#include "base/mem.h"

/* A suspect has grown if it has at least one part in this many of the growth of the heap. */
#define WORTH_GROWTH 10u

struct place {
    enum gcd_suspect_kind kind;
    char *name;
    size_t name_bytes;
    uint64_t bytes;
};

/* How a suspect has grown. */
struct growth {
    bool known; /* the older dump has a suspect of the same kind and place */
    uint64_t bytes_before, bytes;
    uint32_t type;       /* of what there are many of in it; GCD_TYPE_NONE = nothing */
    uint64_t objects[2]; /* of that type, in the older and in the newer heap */
    uint64_t grown;      /* bytes; unless KNOWN estimated by these objects */
    double share;        /* of the growth of the heap; 0 = the heap has grown by less */
    bool worth;          /* a tenth of that growth, or any if the heap has not grown */
};

struct answer_older {
    struct gcd_alloc alloc;
    struct gcd_diff *types;
    struct place *places;
    size_t place_count, place_room;
    uint64_t heap_bytes[2];
    bool complete[2];
    const struct gcd_suspects *newer; /* those that were matched, the growth of each, their order */
    struct growth *growths;
    size_t *order, growth_count;
};

void answer_older_free(struct answer_older *o)
{
    if (o == NULL)
        return;
    struct gcd_alloc alloc = o->alloc;
    for (size_t i = 0; i < o->place_count; i++)
        gcd_mem_free(&alloc, o->places[i].name, o->places[i].name_bytes);
    gcd_mem_free(&alloc, o->places, o->place_room * sizeof *o->places);
    gcd_mem_free(&alloc, o->growths, o->growth_count * sizeof *o->growths);
    gcd_mem_free(&alloc, o->order, o->growth_count * sizeof *o->order);
    gcd_diff_free(o->types);
    gcd_mem_free(&alloc, o, sizeof *o);
}

/* Adds the types of S, which count as they do in diff. */
static gcd_status add_types(struct answer_older *o, const struct gcd_session *s,
                            struct gcd_error *err)
{
    const struct gcd_summary *summary = gcd_graph_summary(gcd_session_graph(s));
    const struct gcd_names *names = gcd_session_names(s);
    size_t n = 0;
    struct gcd_diff_type *types =
        gcd_mem_new_array(&o->alloc, (size_t)summary->type_count + 1, sizeof *types);
    if (types == NULL)
        return gcd_fail_nomem(err, "comparing types");
    for (uint32_t i = 0; i < summary->type_count; i++)
        if (summary->types[i].objects > 0)
            types[n++] =
                (struct gcd_diff_type){ gcd_names_plain(names, i),
                                        summary->types[i].module_path,
                                        { summary->types[i].objects, summary->types[i].bytes, 0 } };
    gcd_status st = gcd_diff_add(o->types, types, n, err);
    gcd_mem_free(&o->alloc, types, ((size_t)summary->type_count + 1) * sizeof *types);
    return st;
}

static gcd_status add_place(struct answer_older *o, const struct gcd_suspect *s,
                            struct gcd_error *err)
{
    struct place p = { .kind = s->kind, .name_bytes = strlen(s->place) + 1, .bytes = s->bytes };
    if (gcd_vec_reserve(&o->alloc, &o->places, &o->place_room, o->place_count + 1,
                        sizeof *o->places, SIZE_MAX))
        p.name = gcd_mem_strndup(&o->alloc, s->place, p.name_bytes - 1);
    if (p.name == NULL)
        return gcd_fail_nomem(err, "comparing suspects");
    o->places[o->place_count++] = p;
    return GCD_OK;
}

gcd_status answer_older_new(const struct gcd_session *older, const struct gcd_suspects *suspects,
                            struct answer_older **ret, struct gcd_error *err)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    struct answer_older *o = *ret = gcd_mem_new(&alloc, sizeof *o);
    if (o == NULL)
        return gcd_fail_nomem(err, "comparing suspects");
    o->alloc = alloc;
    o->heap_bytes[0] = gcd_suspects_heap_bytes(suspects);
    o->complete[0] = !gcd_suspects_lack_references(suspects);
    GCD_TRY(gcd_diff_new(NULL, &o->types, err));
    GCD_TRY(add_types(o, older, err));
    for (size_t i = 0; i < gcd_suspects_count(suspects); i++)
        GCD_TRY(add_place(o, gcd_suspects_get(suspects, i), err));
    return GCD_OK;
}

uint64_t answer_older_heap_bytes(const struct answer_older *o)
{
    return o->heap_bytes[0];
}

/* The type of what there are many of in S; GCD_TYPE_NONE = none. */
static uint32_t type_of_many(const struct gcd_suspect *s)
{
    if (s->collection != NULL && s->element.type != GCD_TYPE_NONE)
        return s->element.type;
    if (s->held_count > 0 && s->held[0].objects > s->held_objects / 2 && s->held[0].objects > 1)
        return s->held[0].type;
    return s->objects > 1 ? s->type : GCD_TYPE_NONE;
}

static const struct gcd_diff_row *row_of(const struct answer_older *o, const char *name)
{
    for (size_t i = 0; i < gcd_diff_row_count(o->types); i++)
        if (strcmp(gcd_diff_row(o->types, i)->name, name) == 0)
            return gcd_diff_row(o->types, i);
    return NULL;
}

static struct growth find_growth(const struct answer_older *o, const struct gcd_session *newer,
                                 const struct gcd_suspect *s)
{
    struct growth g = { .type = type_of_many(s), .bytes = s->bytes };
    const struct gcd_diff_row *row =
        g.type != GCD_TYPE_NONE ? row_of(o, gcd_names_plain(gcd_session_names(newer), g.type))
                                : NULL;
    if (row == NULL)
        g.type = GCD_TYPE_NONE;
    else
        g.objects[0] = row->sums[0].objects, g.objects[1] = row->sums[1].objects;
    for (size_t i = 0; i < o->place_count && !g.known; i++)
        if (o->places[i].kind == s->kind && strcmp(o->places[i].name, s->place) == 0) {
            g.known = true;
            g.bytes_before = o->places[i].bytes;
        }
    /* Under another place it may have been there: the part of its objects that is new. */
    g.grown = g.bytes > g.bytes_before ? g.bytes - g.bytes_before : 0;
    if (!g.known && row != NULL)
        g.grown = g.objects[1] > g.objects[0]
                      ? (uint64_t)((double)g.bytes * (double)(g.objects[1] - g.objects[0]) /
                                   (double)g.objects[1])
                      : 0;
    uint64_t all = o->heap_bytes[1] > o->heap_bytes[0] ? o->heap_bytes[1] - o->heap_bytes[0] : 0;
    g.share = all > 0 && g.grown <= all ? (double)g.grown / (double)all : 0;
    g.worth = g.grown > 0 && g.grown >= all / WORTH_GROWTH;
    return g;
}

static void sort_by_growth(struct answer_older *o)
{
    for (size_t i = 0; i < o->growth_count; i++) {
        size_t at = i;
        for (; at > 0 && o->growths[o->order[at - 1]].grown < o->growths[i].grown; at--)
            o->order[at] = o->order[at - 1];
        o->order[at] = i;
    }
}

gcd_status answer_older_match(struct answer_older *o, const struct gcd_session *newer,
                              const struct gcd_suspects *suspects, struct gcd_error *err)
{
    size_t n = gcd_suspects_count(suspects);
    o->heap_bytes[1] = gcd_suspects_heap_bytes(suspects);
    o->complete[1] = !gcd_suspects_lack_references(suspects);
    GCD_TRY(add_types(o, newer, err));
    GCD_TRY(gcd_diff_match(o->types, err));
    o->growths = gcd_mem_new_array(&o->alloc, n, sizeof *o->growths);
    o->order = gcd_mem_new_array(&o->alloc, n, sizeof *o->order);
    o->growth_count = n;
    if ((o->growths == NULL || o->order == NULL) && n > 0)
        return gcd_fail_nomem(err, "comparing suspects");
    o->newer = suspects;
    for (size_t i = 0; i < n; i++)
        o->growths[i] = find_growth(o, newer, gcd_suspects_get(suspects, i));
    sort_by_growth(o);
    return GCD_OK;
}

/* Of one of the matched suspects, or of the largest consumer. */
static struct growth growth_of(const struct answer_older *o, const struct gcd_session *newer,
                               const struct gcd_suspect *s)
{
    for (size_t i = 0; i < o->growth_count; i++)
        if (gcd_suspects_get(o->newer, i) == s)
            return o->growths[i];
    return find_growth(o, newer, s);
}

const size_t *answer_order_by_growth(const struct answer_older *o, size_t *ret_worth)
{
    *ret_worth = 0;
    for (size_t i = 0; i < o->growth_count; i++)
        *ret_worth += o->growths[i].worth;
    return o->order;
}

/* By how many bytes G has grown; less than 0: it has shrunk. */
static int64_t grown_bytes(const struct growth *g)
{
    uint64_t lost = g->known && g->bytes_before > g->bytes ? g->bytes_before - g->bytes : 0;
    return lost > 0 ? -(int64_t)(lost < INT64_MAX ? lost : INT64_MAX)
                    : (int64_t)(g->grown < INT64_MAX ? g->grown : INT64_MAX);
}

gcd_status answer_grown_suspects(struct answer_older *o, struct gcd_session *newer,
                                 const struct gcd_suspects *suspects, struct answer_grown *ret,
                                 struct gcd_error *err)
{
    struct answer_of_suspects of = {
        .session = newer, .suspects = suspects, .shown = suspects, .older = o
    };
    GCD_TRY(gcd_session_dominators(newer, NULL, &of.dominators, err));
    GCD_TRY(gcd_session_origins(newer, NULL, &of.origins, err));
    GCD_TRY(answer_older_match(o, newer, suspects, err));
    of.order = o->order;
    of.ordered = o->growth_count;
    GCD_TRY(answer_suspects(&of, &ret->texts, err));
    ret->rows = gcd_mem_new_array(&o->alloc, o->growth_count, sizeof *ret->rows);
    if (ret->rows == NULL && o->growth_count > 0)
        return gcd_fail_nomem(err, "comparing suspects");
    ret->count = o->growth_count;
    for (size_t i = 0; i < ret->count; i++) {
        const struct growth *g = &o->growths[o->order[i]];
        ret->rows[i] = (struct gcd_page_growth){
            .suspect = o->order[i],
            .grown = grown_bytes(g),
            .worth = g->worth,
            .said = answer_find(ret->texts, i, "grown")->text,
            .advice = answer_find(ret->texts, i, "advice")->text,
            .evidence = answer_find(ret->texts, i, "evidence")->text,
        };
    }
    return GCD_OK;
}

void answer_grown_done(struct answer_grown *grown)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    gcd_mem_free(&alloc, grown->rows, grown->count * sizeof *grown->rows);
    answer_free(grown->texts);
}

void answer_suspect_growth(struct answer *a, const struct answer_of_suspects *of,
                           const struct gcd_suspect *s)
{
    const struct growth g = growth_of(of->older, of->session, s);
    char step[GCD_ASYNC_STEP_BYTES], share[48] = "", bytes[GCD_TEXT_SIZE_BYTES],
                                     count[GCD_ASYNC_STEP_BYTES + 64] = "";
    if (g.known) {
        answer_count(a, "bytes_before", g.bytes_before);
        answer_delta(a, "bytes_delta", g.bytes_before, g.bytes);
    }
    if (g.type != GCD_TYPE_NONE)
        (void)snprintf(count, sizeof count, "%s -> %s %s", GCD_DIGITS(g.objects[0]),
                       GCD_DIGITS(g.objects[1]),
                       gcd_names_step(gcd_session_names(of->session), g.type, step));
    if (g.share > 0)
        (void)snprintf(share, sizeof share, ", %.0f %% of the growth", 100 * g.share);
    if (g.grown == 0)
        answer_format(a, "grown", "%s has not grown%s%s", s->place, count[0] != '\0' ? ": " : "",
                      count);
    else
        answer_format(a, "grown", "%s: %s%s%s%s%s", s->place, count, count[0] != '\0' ? ", " : "",
                      g.known ? "+" : "about +", gcd_text_size(g.grown, bytes), share);
}

const char *answer_not_grown(const struct answer_older *o)
{
    return o->complete[0] && o->complete[1]
               ? "No suspect has grown between the two dumps."
               : "No suspect has grown in what has arrived of the two dumps; not all has.";
}

/* The advice about S, and how sure it is. */
void answer_grown_advice(struct answer *a, const struct answer_of_suspects *of,
                         const struct gcd_suspect *s)
{
    const struct growth g = growth_of(of->older, of->session, s);
    const char *advice = s->advice + (g.grown > 0 ? s->advice_condition : 0);
    if (advice == s->advice)
        answer_text(a, "advice", advice);
    else
        answer_format(a, "advice", "%c%s", *advice - 'a' + 'A', advice + 1);
    const struct answer_older *o = of->older;
    answer_text(a, "evidence",
                g.grown > 0 && !o->complete[0]
                    ? "The older dump is incomplete: what seems to have grown may be missing in it."
                : g.grown > 0 ? "It grew between two dumps: a third one shows whether that goes on."
                : o->complete[1] ? "It did not grow between the two dumps."
                                 : "The newer dump is incomplete: it may have grown all the same.");
}
