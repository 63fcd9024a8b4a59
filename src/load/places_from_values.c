/*
 * Places of references from the values of a recording: the runtime sends the references of an
 * object without nulls, so which fields they are of may be uncertain; the fields that were read
 * from its memory say it.  An object has places only if one assignment fits, and just one:
 * otherwise its fields were changed between the walk and the reading, or are not all known.
 */
#include <string.h>

#include <gcdumpc/unstable/fields.h>

#include "base/context.h"
#include "base/cur.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"
#include "graph/graph_build.h"
#include "load/load.h"
#include "values/values.h"

#define SLOTS_MAX   256u /* of a type; with more, its objects have no places */
#define NAME_BYTES  VALUE_NAME_BYTES
#define CHECK_EVERY 65536u
#define NO_COLUMN   UINT32_MAX

/* A reference of a type, in the order of memory. */
struct slot {
    uint32_t column; /* that has its value; NO_COLUMN: none certainly has */
};

/* The slots of the objects of one type of the rows. */
struct slots {
    bool made;
    uint32_t first, count; /* 0: they are not known */
    bool all;              /* each has a column */
};

struct placing {
    const struct gcd_alloc *alloc;
    const struct gcd_summary *summary;
    const struct value_rows *rows;
    const gcd_cancel_flag *cancel;
    struct slots *types; /* [rows->type_count] */
    struct slot *slots;
    size_t slot_count, slot_cap;
    size_t next; /* the object of the rows that is likely the next node */
    struct load_maps maps;
};

/* ---- what a type has ---- */

/* The column of type T with references that has NAME; NO_COLUMN: none, or several. */
static uint32_t column_of(const struct value_rows *r, const struct value_type *t, const char *name)
{
    uint32_t found = NO_COLUMN;
    for (uint32_t i = t->first; i < t->first + t->count; i++) {
        if (strcmp(r->columns[i].name, name) != 0 || (r->columns[i].flags & VALUE_BOXED) != 0)
            continue;
        if (found != NO_COLUMN || r->columns[i].form != FORM_REFERENCE)
            return NO_COLUMN;
        found = i;
    }
    return found;
}

/* The slot of the line at *P of a layout (unstable/fields.h), behind which *P is set.  False: there
 * is none, or out of memory. */
static bool add_slot(struct placing *w, const struct value_type *t, const char **p)
{
    char name[NAME_BYTES + 1];
    size_t line = strcspn(*p, "\n"), key = strcspn(*p, " \n"), n = line - key;
    struct slot s = { NO_COLUMN };
    if (n > 1 && n - 1 <= NAME_BYTES) {
        n = gcd_field_source_name(*p + key + 1, n - 1, name);
        name[n] = '\0';
        s.column = column_of(w->rows, t, name);
    }
    if (!gcd_vec_reserve(w->alloc, &w->slots, &w->slot_cap, w->slot_count + 1, sizeof s, SIZE_MAX))
        return false;
    *p += line;
    w->slots[w->slot_count++] = s;
    return true;
}

/* Fields of a base class may have the name of one of this class: then neither has a column. */
static void forget_shared(struct placing *w, struct slots *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t column = w->slots[s->first + i].column;
        bool shared = false;
        for (uint32_t k = i + 1; k < s->count && column != NO_COLUMN; k++)
            if (w->slots[s->first + k].column == column) {
                w->slots[s->first + k].column = NO_COLUMN;
                shared = true;
            }
        if (shared)
            w->slots[s->first + i].column = NO_COLUMN;
        s->all = s->all && w->slots[s->first + i].column != NO_COLUMN;
    }
}

static bool make_slots(struct placing *w, uint32_t number, const char *layout, struct slots *ret)
{
    const struct value_type *t = &w->rows->types[number];
    *ret = (struct slots){ .made = true, .first = (uint32_t)w->slot_count, .all = true };
    if (layout == NULL || strncmp(layout, "o ", 2) != 0)
        return true;
    for (const char *p = layout + strcspn(layout, "\n"); *p == '\n'; ret->count++) {
        p++;
        if (!add_slot(w, t, &p))
            return false;
    }
    if (ret->count > SLOTS_MAX)
        ret->count = 0;
    forget_shared(w, ret);
    return true;
}

/* ---- an object ---- */

/* An object whose references are assigned. */
struct assigning {
    const struct gcd_graph *g;
    const uint32_t *targets; /* [n] */
    uint32_t n;
    const struct slot *slots; /* [count] */
    uint32_t count;
    uint64_t values[SLOTS_MAX]; /* of those with a column */
};

static bool is_to(const struct assigning *a, uint32_t edge, uint32_t slot)
{
    return edge < a->n && gcd_graph_node_address(a->g, a->targets[edge]) == a->values[slot];
}

/* Each slot is known. */
static bool assign_all(const struct assigning *a, uint32_t *ret)
{
    uint32_t edge = 0;
    for (uint32_t s = 0; s < a->count; s++) {
        if (a->values[s] == 0)
            continue;
        if (!is_to(a, edge, s))
            return false;
        ret[edge++] = s;
    }
    return edge == a->n;
}

/* How the references can be assigned to slots of which some are unknown: WAYS[S][E], up to 2, for
 * the slots from S on and the references from E on. */
static bool assign_some(const struct assigning *a, uint32_t *ret)
{
    static const uint8_t most = 2;
    uint8_t ways[SLOTS_MAX + 1][SLOTS_MAX + 1]; /* 64 KiB: only what is used is set */
    memset(ways[a->count], 0, a->n);
    ways[a->count][a->n] = 1;
    for (uint32_t s = a->count; s-- > 0;)
        for (uint32_t e = 0; e <= a->n; e++) {
            bool known = a->slots[s].column != NO_COLUMN, null = known && a->values[s] == 0;
            bool here = known ? !null && is_to(a, e, s) : e < a->n;
            unsigned sum =
                (!known || null ? ways[s + 1][e] : 0u) + (here ? ways[s + 1][e + 1] : 0u);
            ways[s][e] = (uint8_t)(sum < most ? sum : most);
        }
    if (ways[0][0] != 1)
        return false;
    for (uint32_t s = 0, e = 0; e < a->n; s++) {
        bool known = a->slots[s].column != NO_COLUMN;
        if (known ? a->values[s] != 0 : ways[s + 1][e + 1] == 1)
            ret[e++] = s;
    }
    return true;
}

/* The row of the object at ADDRESS, and its type; NULL = it has none.  Rows and nodes are mostly in
 * the same order. */
static const uint8_t *row_of(struct placing *w, uint64_t address, uint32_t *ret_type)
{
    const struct value_object *all = w->rows->objects;
    size_t i = w->next, n = w->rows->object_count;
    if (i < n && all[i].address > address && (i == 0 || all[i - 1].address < address))
        return NULL;
    if (i >= n || all[i].address != address) {
        i = gcd_count_up_to(all, n, sizeof *all, address);
        if (i == 0 || all[i - 1].address != address) {
            w->next = i;
            return NULL;
        }
        i--;
    }
    w->next = i + 1;
    *ret_type = all[i].type;
    return value_rows_of(w->rows, &all[i]);
}

/* [graph_placer] */
static gcd_status place(void *ctx, const struct gcd_graph *g, uint32_t node, uint32_t *ret,
                        struct gcd_error *err)
{
    struct placing *w = ctx;
    size_t n;
    uint32_t type;
    struct assigning a = { .g = g, .targets = gcd_graph_node_edges(g, node, &n) };
    const struct gcd_type *of = &w->summary->types[gcd_graph_node_type(g, node)];
    if (node % CHECK_EVERY == 0)
        GCD_TRY(gcd_check_canceled(w->cancel, err));
    if (load_maps_place(&w->maps, g, node, ret) == GCD_OK)
        return GCD_OK;
    if (w->rows == NULL || n == 0 || n > SLOTS_MAX || of->layout == NULL || of->layout[0] != 'o')
        return GCD_END;
    const uint8_t *row = row_of(w, gcd_graph_node_address(g, node), &type);
    if (row == NULL || w->rows->types[type].id != of->id)
        return GCD_END;
    struct slots *s = &w->types[type];
    if (!s->made && !make_slots(w, type, of->layout, s))
        return gcd_fail_nomem(err, "finding the fields of references");
    a.n = (uint32_t)n;
    if (a.n > s->count)
        return GCD_END;
    a.slots = &w->slots[s->first];
    a.count = s->count;
    for (uint32_t i = 0; i < s->count; i++)
        if (a.slots[i].column != NO_COLUMN)
            a.values[i] = gcd_le64(row + w->rows->columns[a.slots[i].column].at);
    return (s->all ? assign_all(&a, ret) : assign_some(&a, ret)) ? GCD_OK : GCD_END;
}

gcd_status load_place_references(const struct gcd_dump *d, struct gcd_graph *g,
                                 const gcd_cancel_flag *cancel, struct gcd_error *err)
{
    const struct value_rows *rows = d->values != NULL ? d->values->rows : NULL;
    if (rows != NULL && rows->object_count == 0)
        rows = NULL;
    struct placing w = {
        .alloc = &d->alloc, .summary = gcd_graph_summary(g), .rows = rows, .cancel = cancel
    };
    size_t types = (rows != NULL ? rows->type_count : 0) + 1;
    GCD_TRY(load_maps_init(&w.maps, d, g, err));
    if (rows == NULL && w.maps.maps == NULL)
        return GCD_OK;
    w.types = gcd_mem_new_array(w.alloc, types, sizeof *w.types);
    gcd_status st = w.types != NULL ? graph_place(g, place, &w, err)
                                    : gcd_fail_nomem(err, "finding the fields of references");
    load_maps_done(&w.maps);
    gcd_mem_free(w.alloc, w.types, types * sizeof *w.types);
    gcd_mem_free(w.alloc, w.slots, w.slot_cap * sizeof *w.slots);
    return st;
}
