#include <gcdumpc/unstable/duplicates.h>

#include <string.h>

#include "base/context.h"
#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/sort.h"
#include "base/text.h"

#define CANCEL_EVERY 65536u

struct gcd_duplicates {
    struct gcd_alloc alloc;
    const struct gcd_graph *graph;
    const struct gcd_values *values;
    uint32_t *text_of; /* [node_count] of each object; GCD_TEXT_NONE */
    bool *is_string;   /* [type_count + 1] */
    uint32_t node_count;
    uint32_t text_count;
    struct gcd_duplicate *rows; /* [row_count] the strings first */
    size_t row_count, row_room;
    struct gcd_duplicate_totals totals[GCD_DUPLICATE_KINDS];
};

static enum gcd_duplicate_kind kind_of(const struct gcd_duplicates *d, uint32_t type)
{
    return d->is_string[type] ? GCD_DUPLICATE_STRINGS : GCD_DUPLICATE_ARRAYS;
}

/* Is TYPE, an object of which has TEXT, the type of strings?  Where types have no names, texts with
 * characters are of strings, as are all but those of an image of memory, which also has arrays. */
static bool are_strings(const struct gcd_duplicates *d, uint32_t type, uint32_t text)
{
    const struct gcd_summary *s = gcd_graph_summary(d->graph);
    return !s->types[type].named &&
           (gcd_values_text(d->values, text).utf8 != NULL || s->image.made_from[0] == '\0');
}

/* Objects and values are mostly in the same order: try the next value before a search. */
static uint32_t text_at(const struct gcd_values *v, uint64_t address, size_t *next)
{
    if (*next < gcd_values_count(v) && gcd_values_at(v, *next).address == address)
        return gcd_values_at(v, (*next)++).text;
    return gcd_values_find(v, address);
}

static gcd_status find_texts(struct gcd_duplicates *d, const gcd_cancel_flag *cancel,
                             struct gcd_error *err)
{
    const struct gcd_summary *s = gcd_graph_summary(d->graph);
    size_t next = 0;
    uint8_t *has = gcd_mem_new_array(&d->alloc, (size_t)s->type_count + 1, 1);
    if (has == NULL)
        return gcd_fail_nomem(err, "comparing values");
    gcd_status st = GCD_OK;
    for (uint32_t n = 0; n < d->node_count && st == GCD_OK; n++) {
        if (n % CANCEL_EVERY == 0)
            st = gcd_check_canceled(cancel, err);
        uint32_t text = text_at(d->values, gcd_graph_node_address(d->graph, n), &next);
        d->text_of[n] = text;
        uint32_t type = gcd_graph_node_type(d->graph, n);
        if (text == GCD_TEXT_NONE)
            continue;
        has[type] = 1;
        d->is_string[type] = d->is_string[type] || are_strings(d, type, text);
    }
    for (uint32_t n = 0; n < d->node_count && st == GCD_OK; n++) {
        uint32_t type = gcd_graph_node_type(d->graph, n);
        if (d->text_of[n] == GCD_TEXT_NONE && (has[type] || d->is_string[type]))
            d->totals[kind_of(d, type)].unknown++;
    }
    gcd_mem_free(&d->alloc, has, (size_t)s->type_count + 1);
    return st;
}

/* Adds all objects to the row of their text: ROWS has one for each. */
static void count_objects(struct gcd_duplicates *d)
{
    for (uint32_t n = 0; n < d->node_count; n++) {
        if (d->text_of[n] == GCD_TEXT_NONE)
            continue;
        struct gcd_duplicate *r = &d->rows[d->text_of[n]];
        uint64_t bytes = gcd_graph_node_size(d->graph, n);
        if (r->count > 0)
            r->wasted_bytes += bytes;
        r->type = gcd_graph_node_type(d->graph, n);
        r->text = d->text_of[n];
        r->bytes += bytes;
        r->count++;
    }
}

static int compare_rows(const void *ctx, uint32_t a, uint32_t b)
{
    const struct gcd_duplicates *d = ctx;
    const struct gcd_duplicate *x = &d->rows[a], *y = &d->rows[b];
    enum gcd_duplicate_kind kx = kind_of(d, x->type), ky = kind_of(d, y->type);
    if (kx != ky)
        return kx < ky ? -1 : 1;
    if (x->wasted_bytes != y->wasted_bytes)
        return x->wasted_bytes > y->wasted_bytes ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->text < y->text ? -1 : x->text > y->text;
}

/* Drops the texts of no object, and puts the others in order. */
static gcd_status order_rows(struct gcd_duplicates *d, struct gcd_error *err)
{
    for (size_t i = 0; i < d->text_count; i++)
        if (d->rows[i].count > 0)
            d->rows[d->row_count++] = d->rows[i];
    uint32_t *order = gcd_sort_order(&d->alloc, d->row_count, compare_rows, d);
    struct gcd_duplicate *sorted = gcd_mem_new_array(&d->alloc, d->row_room, sizeof *sorted);
    gcd_status st =
        order != NULL && sorted != NULL ? GCD_OK : gcd_fail_nomem(err, "comparing values");
    for (size_t i = 0; i < d->row_count && st == GCD_OK; i++) {
        const struct gcd_duplicate *r = &d->rows[order[i]];
        enum gcd_duplicate_kind kind = kind_of(d, r->type);
        struct gcd_duplicate_totals *t = &d->totals[kind];
        sorted[i] = *r;
        t->objects += r->count;
        t->bytes += r->bytes;
        t->contents++;
        t->wasted_bytes += r->wasted_bytes;
    }
    if (st == GCD_OK) {
        struct gcd_duplicate *old = d->rows;
        d->rows = sorted;
        sorted = old;
    }
    gcd_mem_free(&d->alloc, sorted, d->row_room * sizeof *sorted);
    gcd_mem_free(&d->alloc, order, d->row_count * sizeof *order);
    return st;
}

static gcd_status fill(struct gcd_duplicates *d, const gcd_cancel_flag *cancel,
                       struct gcd_error *err)
{
    const struct gcd_summary *s = gcd_graph_summary(d->graph);
    d->text_of = gcd_mem_new_uncleared(&d->alloc, d->node_count, sizeof *d->text_of);
    d->rows = gcd_mem_new_array(&d->alloc, d->row_room, sizeof *d->rows);
    d->is_string = gcd_mem_new_array(&d->alloc, s->type_count + 1, sizeof *d->is_string);
    if ((d->text_of == NULL && d->node_count > 0) || d->rows == NULL || d->is_string == NULL)
        return gcd_fail_nomem(err, "comparing values");
    for (size_t i = 0; i < s->type_count; i++)
        d->is_string[i] = strcmp(s->types[i].name, "System.String") == 0;
    GCD_TRY(find_texts(d, cancel, err));
    count_objects(d);
    return order_rows(d, err);
}

gcd_status gcd_duplicates_new(const struct gcd_graph *g, const struct gcd_values *v,
                              const struct gcd_context *call, struct gcd_duplicates **ret,
                              struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(call != NULL ? call->alloc : NULL);
    struct gcd_duplicates *d = gcd_mem_new(&a, sizeof *d);
    if (d == NULL)
        return gcd_fail_nomem(err, "comparing values");
    d->alloc = a;
    d->graph = g;
    d->values = v;
    d->node_count = gcd_graph_node_count(g);
    d->text_count = gcd_values_text_count(v);
    d->row_room = (size_t)d->text_count + 1;
    gcd_status st = fill(d, call != NULL ? call->cancel : NULL, err);
    if (st == GCD_OK)
        *ret = d;
    else
        gcd_duplicates_free(d);
    return st;
}

void gcd_duplicates_free(struct gcd_duplicates *d)
{
    if (d == NULL)
        return;
    gcd_mem_free(&d->alloc, d->text_of, d->node_count * sizeof *d->text_of);
    gcd_mem_free(&d->alloc, d->rows, d->row_room * sizeof *d->rows);
    gcd_mem_free(&d->alloc, d->is_string,
                 (gcd_graph_summary(d->graph)->type_count + 1) * sizeof *d->is_string);
    struct gcd_alloc a = d->alloc;
    gcd_mem_free(&a, d, sizeof *d);
}

const struct gcd_duplicate *gcd_duplicates_rows(const struct gcd_duplicates *d,
                                                enum gcd_duplicate_kind kind, size_t *ret_n)
{
    *ret_n = d->totals[kind].contents;
    return d->rows +
           (kind == GCD_DUPLICATE_STRINGS ? 0 : d->totals[GCD_DUPLICATE_STRINGS].contents);
}

struct gcd_duplicate_totals gcd_duplicates_totals(const struct gcd_duplicates *d,
                                                  enum gcd_duplicate_kind kind)
{
    return d->totals[kind];
}

uint32_t gcd_duplicates_text(const struct gcd_duplicates *d, uint32_t node)
{
    return d->text_of[node];
}

/* ---- what holds them ---- */

struct holders {
    const struct gcd_duplicates *d;
    const struct gcd_fields *fields;
    const struct gcd_paths *paths; /* NULL = collections hold */
    bool *is_container;            /* [types] with PATHS: arrays and collections */
    struct gcd_idmap static_of;    /* with PATHS: object -> static variable that refers to it */
    uint32_t *row_of;              /* [text_count] number of the row + 1; 0 = not wanted */
    struct gcd_idmap ways;         /* type and slot, or root -> number of the way */
    struct gcd_idmap found;        /* row and way -> index in items */
    uint32_t way_count;
    /* An object counts once for each way, however many refer to it so. */
    uint32_t *last_way;       /* [node_count] number of the way + 1 by which it was counted last */
    struct gcd_idmap counted; /* object and way, of objects that are reached by several ways */
    struct gcd_duplicate_holder *items;
    size_t count, cap;
};

/* References of a type that are not certain to go through one field share a way. */
#define NO_SLOT    UINT32_C(0xfffffffe)
#define ROOT_SPACE (UINT64_C(0xffffffff) << 32)

/* *RET: is NODE reached by the way NUMBER for the first time?  False: out of memory. */
static bool is_first(struct holders *h, uint32_t node, uint32_t number, bool *ret)
{
    uint32_t last = h->last_way[node];
    uint64_t key = (uint64_t)node << 32;
    *ret = last == 0;
    h->last_way[node] = number + 1;
    if (last == 0 || last == number + 1)
        return true;
    *ret = gcd_idmap_get(&h->counted, key | number) == GCD_IDMAP_NONE;
    return gcd_idmap_put(&h->counted, key | (last - 1), 1) &&
           gcd_idmap_put(&h->counted, key | number, 1);
}

static gcd_status add_holder(struct holders *h, uint32_t node, uint64_t way,
                             const struct gcd_duplicate_holder *from, struct gcd_error *err)
{
    uint32_t text = h->d->text_of[node];
    const char *what = "finding what holds values";
    uint32_t number = gcd_idmap_get(&h->ways, way);
    if (number == GCD_IDMAP_NONE) {
        number = h->way_count++;
        if (!gcd_idmap_put(&h->ways, way, number))
            return gcd_fail_nomem(err, what);
    }
    bool first;
    if (!is_first(h, node, number, &first))
        return gcd_fail_nomem(err, what);
    if (!first)
        return GCD_OK;
    uint64_t key = (uint64_t)h->row_of[text] << 32 | number;
    uint32_t i = gcd_idmap_get(&h->found, key);
    if (i == GCD_IDMAP_NONE) {
        i = (uint32_t)h->count;
        if (!gcd_vec_reserve(&h->d->alloc, &h->items, &h->cap, h->count + 1, sizeof *h->items,
                             GCD_IDMAP_NONE) ||
            !gcd_idmap_put(&h->found, key, i))
            return gcd_fail_nomem(err, what);
        h->items[h->count] = *from;
        h->items[h->count++].text = text;
    }
    h->items[i].count++;
    gcd_add_saturating(&h->items[i].bytes, gcd_graph_node_size(h->d->graph, node));
    return GCD_OK;
}

/* Finds the types that only contain, and the objects of static variables. */
static gcd_status find_containers(struct holders *h, struct gcd_error *err)
{
    const struct gcd_summary *s = gcd_graph_summary(h->d->graph);
    h->is_container =
        gcd_mem_new_array(&h->d->alloc, (size_t)s->type_count + 1, sizeof *h->is_container);
    if (h->is_container == NULL)
        return gcd_fail_nomem(err, "finding what holds values");
    for (uint32_t i = 0; i < s->type_count; i++)
        h->is_container[i] = gcd_text_is_array(s->types[i].name) ||
                             gcd_text_begins(s->types[i].name, "System.Collections.") ||
                             gcd_text_begins(s->types[i].name, "Microsoft.FSharp.Collections.");
    for (size_t i = 0; i < s->root_count && i < GCD_IDMAP_NONE; i++)
        if (s->roots[i].kind == GCD_ROOT_STATIC && s->roots[i].node < h->d->node_count &&
            !gcd_idmap_put(&h->static_of, s->roots[i].node, (uint32_t)i))
            return gcd_fail_nomem(err, "finding what holds values");
    return GCD_OK;
}

/* Further up is no collection, which nest in each other and in arrays. */
#define CONTAINERS 16u

/* FROM is the container NODE: makes it the field, or the static variable, that leads to it.  False:
 * none is near. */
static bool leave_containers(const struct holders *h, uint32_t node,
                             struct gcd_duplicate_holder *from)
{
    uint32_t at = node, below = node;
    for (unsigned i = 0; i < CONTAINERS && at < GCD_NODE_ROOT; i++) {
        uint32_t type = gcd_graph_node_type(h->d->graph, at);
        if (!h->is_container[type]) {
            from->type = type;
            from->field = gcd_fields_between(h->fields, at, below);
            return true;
        }
        below = at;
        at = gcd_paths_parent(h->paths, at);
    }
    uint32_t root = at == GCD_NODE_ROOT ? gcd_idmap_get(&h->static_of, below) : GCD_IDMAP_NONE;
    if (root != GCD_IDMAP_NONE) {
        from->type = GCD_TYPE_NONE;
        from->root = root;
        from->field = GCD_FIELD_UNKNOWN;
    }
    return root != GCD_IDMAP_NONE;
}

/* The number of what FROM says. */
static uint64_t way_of(const struct gcd_duplicate_holder *from)
{
    uint32_t slot = from->field.slot != GCD_SLOT_NONE ? from->field.slot : NO_SLOT;
    return from->type == GCD_TYPE_NONE ? ROOT_SPACE | (uint32_t)from->root
                                       : (uint64_t)from->type << 32 | slot;
}

static gcd_status add_references(struct holders *h, uint32_t node, struct gcd_error *err)
{
    const struct gcd_duplicates *d = h->d;
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(d->graph, node, &n);
    uint32_t type = gcd_graph_node_type(d->graph, node);
    bool leaves = h->paths != NULL && h->is_container[type], left = false;
    struct gcd_duplicate_holder above = { .type = type, .root = SIZE_MAX };
    for (size_t i = 0; i < n; i++) {
        uint32_t text = d->text_of[edges[i]];
        if (text == GCD_TEXT_NONE || h->row_of[text] == 0)
            continue;
        struct gcd_duplicate_holder from = { .type = type,
                                             .root = SIZE_MAX,
                                             .field = gcd_fields_get(h->fields, node, i) };
        if (leaves && !left) { /* the same for all of them */
            above.field = from.field;
            left = leave_containers(h, node, &above);
            leaves = left;
        }
        if (left)
            from = above;
        if (from.field.other != NULL) /* the others of this way may have other fields */
            from.field.name = from.field.other = NULL;
        from.field.element = GCD_ELEMENT_NONE;
        GCD_TRY(add_holder(h, edges[i], way_of(&from), &from, err));
    }
    return GCD_OK;
}

static gcd_status add_roots(struct holders *h, struct gcd_error *err)
{
    const struct gcd_summary *s = gcd_graph_summary(h->d->graph);
    for (size_t i = 0; i < s->root_count; i++) {
        const struct gcd_root *r = &s->roots[i];
        if (r->kind != GCD_ROOT_STATIC || r->node >= h->d->node_count)
            continue;
        uint32_t text = h->d->text_of[r->node];
        struct gcd_duplicate_holder from = { .type = GCD_TYPE_NONE,
                                             .root = i,
                                             .field = GCD_FIELD_UNKNOWN };
        if (text != GCD_TEXT_NONE && h->row_of[text] != 0)
            GCD_TRY(add_holder(h, r->node, way_of(&from), &from, err));
    }
    return GCD_OK;
}

static int compare_holders(const void *ctx, uint32_t a, uint32_t b)
{
    const struct holders *h = ctx;
    const struct gcd_duplicate_holder *x = &h->items[a], *y = &h->items[b];
    uint32_t rx = h->row_of[x->text], ry = h->row_of[y->text];
    if (rx != ry)
        return rx < ry ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return a < b ? -1 : a > b;
}

static gcd_status order_holders(struct holders *h, struct gcd_duplicate_holder **ret,
                                struct gcd_error *err)
{
    const struct gcd_alloc *a = &h->d->alloc;
    uint32_t *order = gcd_sort_order(a, h->count, compare_holders, h);
    *ret = gcd_mem_new_array(a, h->count + 1, sizeof **ret);
    gcd_status st = GCD_OK;
    if (*ret == NULL || order == NULL) {
        gcd_mem_free(a, *ret, (h->count + 1) * sizeof **ret);
        *ret = NULL;
        st = gcd_fail_nomem(err, "finding what holds values");
    }
    for (size_t i = 0; i < h->count && st == GCD_OK; i++)
        (*ret)[i] = h->items[order[i]];
    gcd_mem_free(a, order, h->count * sizeof *order);
    return st;
}

static gcd_status find_holders(struct holders *h, const gcd_cancel_flag *cancel,
                               struct gcd_error *err)
{
    for (uint32_t n = 0; n < h->d->node_count; n++) {
        if (n % CANCEL_EVERY == 0)
            GCD_TRY(gcd_check_canceled(cancel, err));
        GCD_TRY(add_references(h, n, err));
    }
    return add_roots(h, err);
}

gcd_status gcd_duplicates_holders(const struct gcd_duplicates *d,
                                  const struct gcd_duplicate_question *about,
                                  const struct gcd_context *call, struct gcd_duplicate_holders *ret,
                                  struct gcd_error *err)
{
    struct holders h = { .d = d, .fields = about->fields, .paths = about->paths };
    size_t types = (size_t)gcd_graph_summary(d->graph)->type_count + 1;
    *ret = (struct gcd_duplicate_holders){ .count = 0 };
    gcd_idmap_init(&h.ways, &d->alloc);
    gcd_idmap_init(&h.found, &d->alloc);
    gcd_idmap_init(&h.static_of, &d->alloc);
    gcd_idmap_init(&h.counted, &d->alloc);
    h.row_of = gcd_mem_new_array(&d->alloc, d->row_room, sizeof *h.row_of);
    h.last_way = gcd_mem_new_array(&d->alloc, d->node_count, sizeof *h.last_way);
    gcd_status st = h.row_of != NULL && h.last_way != NULL
                        ? GCD_OK
                        : gcd_fail_nomem(err, "finding what holds values");
    for (size_t i = 0; i < about->count && st == GCD_OK; i++)
        h.row_of[about->rows[i]->text] = about->together ? 1 : (uint32_t)i + 1;
    if (st == GCD_OK && h.paths != NULL)
        st = find_containers(&h, err);
    if (st == GCD_OK && about->count > 0)
        st = find_holders(&h, call != NULL ? call->cancel : NULL, err);
    if (st == GCD_OK)
        st = order_holders(&h, &ret->items, err);
    ret->count = st == GCD_OK ? h.count : 0;
    gcd_idmap_done(&h.ways);
    gcd_idmap_done(&h.found);
    gcd_idmap_done(&h.static_of);
    gcd_idmap_done(&h.counted);
    gcd_mem_free(&d->alloc, h.last_way, d->node_count * sizeof *h.last_way);
    gcd_mem_free(&d->alloc, h.is_container, types * sizeof *h.is_container);
    gcd_mem_free(&d->alloc, h.row_of, d->row_room * sizeof *h.row_of);
    gcd_mem_free(&d->alloc, h.items, h.cap * sizeof *h.items);
    return st;
}

void gcd_duplicate_holders_free(const struct gcd_duplicates *d, struct gcd_duplicate_holders *h)
{
    gcd_mem_free(&d->alloc, h->items, (h->count + 1) * sizeof *h->items);
    *h = (struct gcd_duplicate_holders){ .count = 0 };
}
