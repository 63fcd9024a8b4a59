#include <string.h>

#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/field_sizes.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/static_names.h>
#include <gcdumpc/unstable/text/plural.h>

#include "answer/answers.h"
#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"

static const struct answer_column field_columns[] = {
    COLUMN("retained_bytes", "Retained", ANSWER_BYTES),
    COLUMN("share", "Of live", ANSWER_SHARE),
    COLUMN("count", "Count", ANSWER_COUNT),
    COLUMN("label", "Field", ANSWER_TEXT),
    DETAIL("class", ANSWER_TEXT),
    DETAIL("field", ANSWER_TEXT),
    DETAIL("other_field", ANSWER_TEXT),
    DETAIL("is_static", ANSWER_FLAG),
};
const struct answer_shape answer_fields_shape = ANSWER_SHAPE(field_columns);

struct naming {
    const struct answer_of_heap *of;
    const struct gcd_graph *g;
    const struct gcd_names *names;
    const struct gcd_fields *fields;
};

/* ---- which fields ---- */

static bool has_name(const struct answer_of_heap *of, const struct gcd_summary *s, const char *name)
{
    for (uint32_t t = 0; t < s->type_count; t++)
        if (of->types[t] != 0 && strcmp(s->types[t].name, name) == 0)
            return true;
    return false;
}

static gcd_status choose(const struct answer_of_heap *of, const struct gcd_summary *s,
                         uint8_t *types, uint8_t *roots, struct gcd_error *err)
{
    const struct gcd_origins *origins;
    GCD_TRY(gcd_session_origins(of->session, of->call, &origins, err));
    for (uint32_t t = 0; t < s->type_count; t++)
        types[t] = of->types != NULL ? of->types[t] : gcd_origins_get(origins, t) == GCD_ORIGIN_OWN;
    for (size_t i = 0; i < s->root_count; i++) {
        const struct gcd_root *r = &s->roots[i];
        if (r->kind != GCD_ROOT_STATIC || r->class_name[0] == '\0')
            continue;
        roots[i] = of->types != NULL
                       ? has_name(of, s, r->class_name)
                       : gcd_origins_of_name(origins, r->class_name) == GCD_ORIGIN_OWN;
    }
    return GCD_OK;
}

/* ---- rows ---- */

static const char *name_of(const struct naming *n, const struct gcd_field_size *row, size_t i)
{
    if (row->fields[i] == GCD_SLOT_NONE)
        return NULL;
    return row->type == GCD_TYPE_NONE ? gcd_graph_summary(n->g)->roots[row->fields[i]].name
                                      : gcd_fields_slot_name(n->fields, row->fields[i]);
}

/* "Shop.Cache.s_items", of a static variable. */
static const char *static_label(struct answer *a, const struct naming *n, size_t root)
{
    const struct gcd_static_words w =
        gcd_static_words(n->g, n->names, &gcd_graph_summary(n->g)->roots[root]);
    return answer_keep(a, "%s%s%s", w.label[0], w.label[1], w.label[2]);
}

static void put_static(struct answer *a, const struct naming *n, const struct gcd_field_size *row)
{
    answer_flag(a, "is_static", true);
    if (row->holder == GCD_HOLDER_FIELD)
        answer_static(a, n->of->session, &gcd_graph_summary(n->g)->roots[row->fields[0]]);
    else if (row->holder == GCD_HOLDER_TWO)
        answer_format(a, "label", "%s and %s", static_label(a, n, row->fields[0]),
                      static_label(a, n, row->fields[1]));
    else
        answer_text(a, "label", "(several static variables together)");
}

static void put_field(struct answer *a, const struct naming *n, const struct gcd_field_size *row)
{
    char step[GCD_ASYNC_STEP_BYTES];
    const char *class = gcd_names_step(n->names, row->type, step), *one = name_of(n, row, 0),
               *other = name_of(n, row, 1);
    answer_flag(a, "is_static", false);
    answer_text(a, "class", gcd_names_get(n->names, row->type));
    if (row->holder == GCD_HOLDER_FIELD)
        answer_format(a, "label", "%s.%s", class, one);
    else if (row->holder == GCD_HOLDER_TWO)
        answer_format(a, "label", "%s.%s and %s", class, one, other);
    else
        answer_format(a, "label", "%s (%s)", class,
                      row->holder == GCD_HOLDER_SEVERAL ? "several fields together"
                                                        : "unknown field");
}

static void put_row(struct answer *a, const struct naming *n, const struct gcd_field_size *row,
                    uint64_t whole)
{
    answer_row(a);
    answer_count(a, "retained_bytes", row->bytes);
    answer_share(a, "share", row->bytes, whole);
    answer_count(a, "count", row->objects);
    if (row->type == GCD_TYPE_NONE)
        put_static(a, n, row);
    else
        put_field(a, n, row);
    answer_text(a, "field", name_of(n, row, 0));
    answer_text(a, "other_field", name_of(n, row, 1));
}

static void put_rows(struct answer *a, const struct naming *n, const struct gcd_field_sizes *sizes,
                     uint64_t whole)
{
    size_t count;
    const struct gcd_field_size *rows = gcd_field_sizes_rows(sizes, &count);
    const struct answer_page *page = &n->of->page;
    uint64_t at = page->first < count ? page->first : count;
    a->first = page->first;
    a->total = count;
    for (uint64_t shown = 0; at < count && (page->most == 0 || shown < page->most); at++, shown++)
        if (rows[at].bytes < page->min_bytes)
            break;
        else
            put_row(a, n, &rows[at], whole);
    if (at == count || page->no_rest)
        return;
    answer_row(a); /* what several fields retain overlaps, so only their number is known */
    answer_format(a, "label", "(%s more field%s)", GCD_DIGITS(count - at), gcd_plural(count - at));
}

gcd_status answer_fields(const struct answer_of_heap *of, struct answer **ret,
                         struct gcd_error *err)
{
    struct naming n = { .of = of,
                        .g = gcd_session_graph(of->session),
                        .names = gcd_session_names(of->session) };
    const struct gcd_summary *s = gcd_graph_summary(n.g);
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    const struct gcd_dominators *d;
    struct gcd_field_sizes *sizes = NULL;
    *ret = NULL;
    GCD_TRY(gcd_session_dominators(of->session, of->call, &d, err));
    GCD_TRY(gcd_session_fields(of->session, of->call, &n.fields, err));
    uint8_t *types = gcd_mem_new(&alloc, (size_t)s->type_count + 1),
            *roots = gcd_mem_new(&alloc, s->root_count + 1);
    struct gcd_field_sizes_of which = { *gcd_context_or_default(of->call), n.fields, types, roots };
    gcd_status st = types != NULL && roots != NULL ? choose(of, s, types, roots, err)
                                                   : gcd_fail_nomem(err, "adding up fields");
    if (st == GCD_OK)
        st = gcd_field_sizes_new(n.g, d, &which, &sizes, err);
    if (st == GCD_OK && (*ret = answer_new(NULL, &answer_fields_shape)) == NULL)
        st = gcd_fail_nomem(err, "listing fields");
    if (st == GCD_OK)
        put_rows(*ret, &n, sizes, gcd_dominators_retained(d, GCD_NODE_ROOT));
    gcd_field_sizes_free(sizes);
    gcd_mem_free(&alloc, types, (size_t)s->type_count + 1);
    gcd_mem_free(&alloc, roots, s->root_count + 1);
    return st;
}
