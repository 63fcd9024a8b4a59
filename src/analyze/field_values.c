/* Objects by the value of a field: see gcdumpc/unstable/field_values.h. */
#include <gcdumpc/unstable/field_values.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/merged_tree.h>

#include "analyze/dominators/preorder.h"
#include "base/context.h"
#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/ovf.h"

#define CHECK_EVERY UINT32_C(65536)
#define DOING       "grouping objects by a field"
#define NAMES_BYTES 300u /* of fields in a message */
/* Instead of the number of a slot: */
#define SLOT_NUMBER (GCD_SLOT_NONE - 1) /* the field is a number */
#define SLOT_MEMORY (GCD_SLOT_NONE - 2) /* it is a reference, which only memory tells */
#define SLOT_STRUCT (GCD_SLOT_NONE - 3)
#define SLOT_ASK    (GCD_SLOT_NONE - 4) /* perhaps it is a number: each object says it */

struct gcd_field_values {
    struct gcd_alloc alloc;
    struct gcd_field_value *items; /* [count] */
    size_t count, cap;
    uint64_t without;
};

/* What is needed only while they are found. */
struct grouping {
    const struct gcd_graph *g;
    const struct gcd_dominators *d;
    const struct gcd_field_values_of *of;
    struct gcd_alloc alloc;
    size_t types;
    uint32_t *slots;         /* [types] the field; GCD_SLOT_NONE: its objects are not wanted */
    struct gcd_idmap groups; /* kind, value -> an item; the value of a number is one of NUMBERS */
    struct gcd_idmap sorts, bits, halves, numbers; /* kind, enum -> a; a word -> b; a, b of the low
                                                      word -> c; c, b of the high one -> its
                                                      number */
    uint32_t *end;  /* [items] where the last counted subtree of a group ends */
    uint64_t *most; /* [items] what its node retains */
    size_t end_cap, most_cap;
    struct gcd_field_pass *pass;
    struct gcd_preorder *order;
    struct gcd_field_values *ret;
};

/* ---- which field ---- */

/* The last field of TYPE with that name. */
static uint32_t slot_of(const struct grouping *w, uint32_t type)
{
    uint32_t first, n = gcd_fields_of_type(w->of->fields, type, &first);
    if (!gcd_fields_has_fields(w->of->fields, type))
        return GCD_SLOT_NONE;
    while (n > 0)
        if (strcmp(gcd_fields_slot_name(w->of->fields, first + --n), w->of->field) == 0)
            return first + n;
    return GCD_SLOT_NONE;
}

/* Adds NAME to NAMES[NAMES_BYTES] unless it is there, ", " between them. */
static void add_name(char *names, const char *name)
{
    const char *at = names;
    size_t used = strlen(names), length = strlen(name);
    while ((at = strstr(at, name)) != NULL &&
           ((at > names && at[-1] != ' ') || (at[length] != ',' && at[length] != '\0')))
        at++;
    if (at != NULL || length == 0 || (used > 3 && strcmp(names + used - 3, "...") == 0))
        return;
    if (used + length + 8 < NAMES_BYTES)
        (void)snprintf(names + used, NAMES_BYTES - used, "%s%s", used > 0 ? ", " : "", name);
    else
        (void)snprintf(names + used, NAMES_BYTES - used, ", ...");
}

/* Adds the fields of the object at ADDRESS that are values. */
static void add_value_names(const struct grouping *w, uint64_t address, char *names)
{
    uint32_t n = gcd_image_field_count(w->of->numbers, address);
    for (uint32_t i = 0; i < n; i++) {
        struct gcd_image_field f = gcd_image_field(w->of->numbers, address, i);
        if (!f.known ||
            (f.number.kind != GCD_NUMBER_REFERENCE && f.number.kind != GCD_NUMBER_OTHER))
            add_name(names, f.name);
    }
}

/* No type has the field: says which there are. */
static gcd_status not_found(const struct grouping *w, struct gcd_error *err)
{
    char names[NAMES_BYTES] = "";
    for (uint32_t t = 0; t < w->types; t++) {
        uint32_t first, n = gcd_fields_of_type(w->of->fields, t, &first);
        for (uint32_t i = 0; w->of->types[t] != 0 && i < n; i++)
            if (gcd_fields_has_fields(w->of->fields, t))
                add_name(names, gcd_fields_slot_name(w->of->fields, first + i));
    }
    for (uint32_t i = 0, last = GCD_TYPE_NONE; w->of->numbers != NULL && i < w->order->count; i++) {
        const struct preorder_object *o = &w->order->objects[i];
        if (w->of->types[o->type] == 0 || o->type == last)
            continue;
        add_value_names(w, gcd_graph_node_address(w->g, o->node), names);
        last = o->type;
    }
    if (names[0] == '\0')
        return gcd_fail(err, GCD_E_NOT_FOUND,
                        "no fields of these types are known: they have none, are arrays, or the "
                        "files of their modules are not there");
    return gcd_fail(err, GCD_E_NOT_FOUND, "no field \"%s\"%s: %s", w->of->field,
                    w->of->numbers != NULL ? "; there are" : " refers to an object; those that do",
                    names);
}

/* Where the objects of TYPE have the field. */
static uint32_t place_of(const struct grouping *w, uint32_t type)
{
    enum gcd_number_kind kind = GCD_NUMBER_OTHER;
    uint64_t table = gcd_graph_summary(w->g)->types[type].id;
    gcd_status st = GCD_E_NOT_FOUND;
    uint32_t slot = slot_of(w, type);
    if (w->of->numbers != NULL)
        st = gcd_image_field_kind(w->of->numbers, table, &kind);
    if (st == GCD_OK && kind != GCD_NUMBER_REFERENCE)
        return kind == GCD_NUMBER_OTHER ? SLOT_STRUCT : SLOT_NUMBER;
    if (slot != GCD_SLOT_NONE || w->of->numbers == NULL || st == GCD_END)
        return slot;
    return st == GCD_OK ? SLOT_MEMORY : SLOT_ASK;
}

static bool choose(struct grouping *w)
{
    bool found = false;
    for (uint32_t t = 0; t < w->types; t++) {
        w->slots[t] = w->of->types[t] != 0 ? place_of(w, t) : GCD_SLOT_NONE;
        found |= w->slots[t] < SLOT_ASK;
    }
    return found;
}

/* ---- values ---- */

/* The value of the boxed object at ADDRESS; false: it is none, or is not known. */
static bool boxed_value(const struct grouping *w, uint64_t address, struct gcd_number *ret)
{
    return w->of->numbers != NULL && gcd_image_boxed(w->of->numbers, address, ret) == GCD_OK;
}

static struct gcd_field_value value_of_target(const struct grouping *w, uint32_t target)
{
    struct gcd_field_value v = { .kind = GCD_FIELD_NUMBER };
    const struct gcd_type *types = gcd_graph_summary(w->g)->types;
    uint32_t type = gcd_graph_node_type(w->g, target), text = GCD_TEXT_NONE;
    if (w->of->values != NULL)
        text = gcd_values_find(w->of->values, gcd_graph_node_address(w->g, target));
    /* the values have also contents of arrays */
    if (text != GCD_TEXT_NONE && (strcmp(types[type].name, "System.String") == 0 ||
                                  gcd_values_text(w->of->values, text).utf8 != NULL))
        return (struct gcd_field_value){ .kind = GCD_FIELD_TEXT, .value = text };
    if (boxed_value(w, gcd_graph_node_address(w->g, target), &v.number))
        return v;
    return (struct gcd_field_value){ .kind = GCD_FIELD_TYPE, .value = type };
}

/* References do not tell which of them is that of the field; its memory may. */
static struct gcd_field_value value_in_memory(const struct grouping *w, uint32_t node)
{
    uint64_t to = 0;
    struct gcd_field_value untold = { .kind = GCD_FIELD_UNTOLD };
    if (w->of->numbers == NULL ||
        gcd_image_reference(w->of->numbers, gcd_graph_node_address(w->g, node), &to) != GCD_OK)
        return untold;
    if (to == 0)
        return (struct gcd_field_value){ .kind = GCD_FIELD_NULL };
    uint32_t target = gcd_graph_find(w->g, to);
    return target != GCD_NODE_NONE ? value_of_target(w, target) : untold;
}

static struct gcd_field_value value_of(const struct grouping *w, uint32_t node, uint32_t slot)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(w->g, node, &n);
    bool certain = true;
    for (size_t i = 0; i < n; i++) {
        uint32_t s = gcd_fields_certain(w->of->fields, w->pass, node, i).slot;
        certain = certain && s != GCD_SLOT_NONE;
        if (s != slot)
            continue;
        return value_of_target(w, edges[i]);
    }
    if (certain)
        return (struct gcd_field_value){ .kind = GCD_FIELD_NULL };
    return value_in_memory(w, node);
}

/* What tells X apart from other numbers; GCD_IDMAP_NONE: out of memory. */
static uint32_t number_of(struct grouping *w, const struct gcd_number *x)
{
    uint32_t sort = gcd_idmap_number(&w->sorts, (uint64_t)x->kind << 32 | x->of),
             low = gcd_idmap_number(&w->bits, x->bits), high = gcd_idmap_number(&w->bits, x->high);
    if (sort == GCD_IDMAP_NONE || low == GCD_IDMAP_NONE || high == GCD_IDMAP_NONE)
        return GCD_IDMAP_NONE;
    uint32_t half = gcd_idmap_number(&w->halves, (uint64_t)sort << 32 | low);
    return half != GCD_IDMAP_NONE ? gcd_idmap_number(&w->numbers, (uint64_t)half << 32 | high)
                                  : half;
}

/* The value of a field that is no reference.  GCD_END: nothing is known of the object. */
static gcd_status number_value(struct grouping *w, uint32_t node, struct gcd_field_value *ret,
                               struct gcd_error *err)
{
    struct gcd_field_value v = { .kind = GCD_FIELD_NUMBER };
    gcd_status st = gcd_image_number(w->of->numbers, gcd_graph_node_address(w->g, node), &v.number);
    if (st == GCD_END)
        return st;
    if (st != GCD_OK || v.number.kind == GCD_NUMBER_NULL)
        v = (struct gcd_field_value){ .kind = st != GCD_OK ? GCD_FIELD_UNTOLD : GCD_FIELD_NULL };
    else if ((v.value = number_of(w, &v.number)) == GCD_IDMAP_NONE)
        return gcd_fail_nomem(err, DOING);
    *ret = v;
    return GCD_OK;
}

/* The number of the group like MODEL, made if needed; SIZE_MAX: out of memory. */
static size_t find_group(struct grouping *w, const struct gcd_field_value *model)
{
    struct gcd_field_values *r = w->ret;
    uint64_t key = (uint64_t)model->kind << 32 | model->value;
    uint32_t group = gcd_idmap_get(&w->groups, key);
    if (group != GCD_IDMAP_NONE)
        return group;
    if (r->count == GCD_IDMAP_NONE ||
        !gcd_vec_reserve(&r->alloc, &r->items, &r->cap, r->count + 1, sizeof *r->items, SIZE_MAX) ||
        !gcd_vec_reserve(&w->alloc, &w->end, &w->end_cap, r->count + 1, sizeof *w->end, SIZE_MAX) ||
        !gcd_vec_reserve(&w->alloc, &w->most, &w->most_cap, r->count + 1, sizeof *w->most,
                         SIZE_MAX) ||
        !gcd_idmap_put(&w->groups, key, (uint32_t)r->count))
        return SIZE_MAX;
    r->items[r->count] = *model;
    w->end[r->count] = 0;
    w->most[r->count] = 0;
    return r->count++;
}

/* Object number I of the order. */
static gcd_status add(struct grouping *w, uint32_t i, struct gcd_error *err)
{
    const struct preorder_object *o = &w->order->objects[i];
    struct gcd_field_value model = { .kind = GCD_FIELD_NUMBER };
    uint32_t slot = w->slots[o->type];
    if (slot == SLOT_NUMBER || slot == SLOT_ASK) {
        gcd_status st = number_value(w, o->node, &model, err);
        if (st == GCD_END && slot == SLOT_ASK) {
            w->ret->without++;
            return GCD_OK;
        }
        if (st != GCD_OK && st != GCD_END)
            return st;
        if (st == GCD_END)
            model.kind = GCD_FIELD_UNTOLD;
    } else if (slot == SLOT_STRUCT) {
        model.kind = GCD_FIELD_STRUCT;
    } else {
        model = slot == SLOT_MEMORY ? value_in_memory(w, o->node) : value_of(w, o->node, slot);
        if (model.kind == GCD_FIELD_NUMBER &&
            (model.value = number_of(w, &model.number)) == GCD_IDMAP_NONE)
            return gcd_fail_nomem(err, DOING);
    }
    size_t group = find_group(w, &model);
    if (group == SIZE_MAX)
        return gcd_fail_nomem(err, DOING);
    struct gcd_field_value *v = &w->ret->items[group];
    uint64_t retained = preorder_retained(w->order, o);
    if (v->count == 0 || retained > w->most[group] ||
        (retained == w->most[group] && o->node < v->node)) {
        w->most[group] = retained;
        v->node = o->node;
    }
    v->count++;
    gcd_add_saturating(&v->bytes, gcd_graph_node_size(w->g, o->node));
    if (i < w->end[group]) /* below another one of this group */
        return GCD_OK;
    w->end[group] = i + o->below;
    gcd_add_saturating(&v->retained_bytes, retained);
    return GCD_OK;
}

static int compare_values(const void *a, const void *b)
{
    const struct gcd_field_value *x = a, *y = b;
    if (x->retained_bytes != y->retained_bytes)
        return x->retained_bytes < y->retained_bytes ? 1 : -1;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->number.high != y->number.high)
        return x->number.high < y->number.high ? -1 : 1;
    if (x->number.bits != y->number.bits)
        return x->number.bits < y->number.bits ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

static gcd_status group(struct grouping *w, struct gcd_error *err)
{
    bool found = choose(w);
    GCD_TRY(gcd_preorder_new(w->g, w->d, &w->of->context, &w->order, err));
    for (uint32_t i = 0; i < w->order->count; i++) {
        if (i % CHECK_EVERY == 0)
            GCD_TRY(gcd_check_canceled(w->of->context.cancel, err));
        uint32_t type = w->order->objects[i].type;
        if (w->slots[type] != GCD_SLOT_NONE)
            GCD_TRY(add(w, i, err));
        else
            w->ret->without += w->of->types[type] != 0;
    }
    if (!found && w->ret->count == 0)
        return not_found(w, err);
    if (w->ret->count > 0)
        qsort(w->ret->items, w->ret->count, sizeof *w->ret->items, compare_values);
    return GCD_OK;
}

gcd_status gcd_field_values_new(const struct gcd_graph *g, const struct gcd_dominators *d,
                                const struct gcd_field_values_of *of, struct gcd_field_values **ret,
                                struct gcd_error *err)
{
    struct grouping w = { .g = g,
                          .d = d,
                          .of = of,
                          .alloc = gcd_alloc_or_default(of->context.alloc),
                          .types = gcd_graph_summary(g)->type_count };
    w.ret = gcd_mem_new(&w.alloc, sizeof *w.ret);
    if (w.ret == NULL)
        return gcd_fail_nomem(err, DOING);
    w.ret->alloc = w.alloc;
    struct gcd_idmap *const maps[] = { &w.groups, &w.sorts, &w.bits, &w.halves, &w.numbers };
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        gcd_idmap_init(maps[i], &w.alloc);
    w.slots = gcd_mem_new_array(&w.alloc, w.types + 1, sizeof *w.slots);
    w.pass = gcd_mem_new(&w.alloc, sizeof *w.pass);
    gcd_status st = w.slots != NULL && w.pass != NULL ? group(&w, err) : gcd_fail_nomem(err, DOING);
    gcd_preorder_free(w.order);
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        gcd_idmap_done(maps[i]);
    gcd_mem_free(&w.alloc, w.slots, (w.types + 1) * sizeof *w.slots);
    gcd_mem_free(&w.alloc, w.pass, sizeof *w.pass);
    gcd_mem_free(&w.alloc, w.end, w.end_cap * sizeof *w.end);
    gcd_mem_free(&w.alloc, w.most, w.most_cap * sizeof *w.most);
    if (st == GCD_OK)
        *ret = w.ret;
    else
        gcd_field_values_free(w.ret);
    return st;
}

void gcd_field_values_free(struct gcd_field_values *v)
{
    if (v == NULL)
        return;
    struct gcd_alloc a = v->alloc;
    gcd_mem_free(&a, v->items, v->cap * sizeof *v->items);
    gcd_mem_free(&a, v, sizeof *v);
}

size_t gcd_field_values_count(const struct gcd_field_values *v)
{
    return v->count;
}

uint64_t gcd_field_values_without(const struct gcd_field_values *v)
{
    return v->without;
}

const struct gcd_field_value *gcd_field_values_at(const struct gcd_field_values *v, size_t i)
{
    return &v->items[i];
}
