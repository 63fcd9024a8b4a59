/* Sorts lists of nodes and types by a 64-bit key each. */
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/session/radix_sort.h>

#include "browse/opening.h"
#include "input/memory.h"

const char *browse_order_name(enum browse_order order)
{
    static const char *const names[BROWSE_ORDERS] = { "as recorded", "retained", "bytes", "count",
                                                      "name" };
    return names[order];
}

/* ---- keys ---- */

struct named {
    const char *name; /* as lines show it */
    char *made;       /* NAME, if it is not that of the type; owned */
    uint32_t type;
};

static int compare_names(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int c = strcmp(x->name, y->name);
    return c != 0 ? c : x->type < y->type ? -1 : 1;
}

/* Without memory, the type's own name: lines are in another order then. */
static struct named named(const struct gcd_names *names, uint32_t type)
{
    char step[GCD_ASYNC_STEP_BYTES];
    const char *own = gcd_names_get(names, type), *shown = gcd_names_step(names, type, step);
    char *made = shown != own ? strdup(shown) : NULL;
    return (struct named){ made != NULL ? made : own, made, type };
}

/* RET[types]: the rank of each name; NULL: out of memory. */
static uint32_t *name_places(const struct browse_model *m)
{
    uint32_t n = m->summary->type_count;
    struct named *all = calloc((size_t)n + 1, sizeof *all);
    uint32_t *ret = calloc((size_t)n + 1, sizeof *ret);
    if (all != NULL && ret != NULL) {
        for (uint32_t i = 0; i < n; i++)
            all[i] = named(m->names, i);
        qsort(all, n, sizeof *all, compare_names);
        for (uint32_t i = 0, place = 0; i < n; i++) {
            place += i > 0 && strcmp(all[i - 1].name, all[i].name) != 0;
            ret[all[i].type] = place;
        }
    }
    for (uint32_t i = 0; i < n && all != NULL; i++)
        free(all[i].made);
    free(all);
    if (all != NULL)
        return ret;
    free(ret);
    return NULL;
}

static uint64_t type_key(const struct browse_model *m, const struct browse_sorting *what,
                         const uint64_t *by_type, uint32_t type)
{
    switch (what->order) {
    case ORDER_RETAINED:
        return by_type[type];
    case ORDER_COUNT:
        return what->amounts != NULL ? what->amounts[type] : m->summary->types[type].objects;
    default:
        return m->summary->types[type].bytes;
    }
}

/* What the order needs from the session. */
struct needed {
    const struct gcd_dominators *dominators;
    const uint64_t *by_type;
    uint32_t *places;
};

static uint64_t key_of(const struct browse_model *m, const struct browse_sorting *what,
                       const struct needed *n, uint32_t id)
{
    if (n->places != NULL)
        return UINT32_MAX - n->places[what->are_types ? id : gcd_graph_node_type(m->graph, id)];
    if (what->are_types)
        return type_key(m, what, n->by_type, id);
    return what->order == ORDER_RETAINED ? gcd_dominators_retained(n->dominators, id)
                                         : gcd_graph_node_size(m->graph, id);
}

static gcd_status need(const struct browse_model *m, const struct browse_sorting *what,
                       const struct gcd_context *call, struct needed *ret, struct gcd_error *err)
{
    *ret = (struct needed){ .dominators = NULL };
    if (what->order == ORDER_NAME) {
        ret->places = name_places(m);
        return ret->places != NULL ? GCD_OK : browse_no_memory(err);
    }
    if (what->order != ORDER_RETAINED)
        return GCD_OK;
    return what->are_types ? gcd_session_retained_by_type(m->session, call, &ret->by_type, err)
                           : gcd_session_dominators(m->session, call, &ret->dominators, err);
}

/* ---- sorting ---- */

static gcd_status sort_with(const struct browse_model *m, const struct browse_sorting *what,
                            const struct needed *needed, const struct gcd_context *call,
                            uint32_t *ret, struct gcd_error *err)
{
    size_t n = (size_t)what->count;
    struct gcd_keyed *items = cli_array_new(cli_alloc(), n + 1, sizeof *items),
                     *room = cli_array_new(cli_alloc(), n + 1, sizeof *room);
    gcd_status st = items != NULL && room != NULL ? GCD_OK : browse_no_memory(err);
    for (size_t i = 0; i < n && st == GCD_OK; i++) {
        items[i] = (struct gcd_keyed){ key_of(m, what, needed, what->ids[i]), what->ids[i] };
        if (i % BROWSE_STEP == 0)
            st = browse_step(call, i / (n + 1), GCD_RADIX_ROUNDS + 1, err);
    }
    if (st == GCD_OK)
        st = gcd_radix_sort(&items, &room, n, call, (const uint64_t[]){ 1, GCD_RADIX_ROUNDS + 1 },
                            err);
    for (size_t i = 0; i < n && st == GCD_OK; i++)
        ret[i] = items[i].id;
    cli_array_free(cli_alloc(), items, n + 1, sizeof *items);
    cli_array_free(cli_alloc(), room, n + 1, sizeof *room);
    return st;
}

gcd_status browse_sort_ids(const struct browse_model *m, const struct browse_sorting *what,
                           const struct gcd_context *call, uint32_t *ret, struct gcd_error *err)
{
    struct needed needed;
    if (what->order == ORDER_AS_IS) {
        if (what->count > 0)
            memmove(ret, what->ids, (size_t)what->count * sizeof *ret);
        return GCD_OK;
    }
    gcd_status st = need(m, what, call, &needed, err);
    if (st == GCD_OK)
        st = sort_with(m, what, &needed, call, ret, err);
    free(needed.places);
    return st;
}

/* ---- sections of a view ---- */

enum browse_order browse_next_order(const struct browse_view *v, size_t *ret_section)
{
    uint64_t in;
    size_t at = (size_t)(browse_section_at(v, v->cursor, &in) - v->sections);
    /* the section at the cursor, else the first list that has an order */
    for (size_t i = 0;
         i < v->section_count && (v->sections[at].orders == 0 || v->sections[at].count == 0); i++)
        at = i;
    const struct browse_section *s = &v->sections[at];
    *ret_section = at;
    if (v->section_count == 0 || s->orders == 0)
        return ORDER_AS_IS;
    for (unsigned i = 1; i <= BROWSE_ORDERS; i++) {
        unsigned next = ((unsigned)s->order + i) % BROWSE_ORDERS;
        if ((s->orders & 1u << next) != 0)
            return (enum browse_order)next;
    }
    return s->order;
}

gcd_status browse_sort(struct browse_view *v, size_t section, enum browse_order order,
                       const struct gcd_context *call, struct gcd_error *err)
{
    struct browse_section *s = &v->sections[section];
    size_t n = (size_t)s->count;
    struct browse_sorting what = { .ids = s->ids,
                                   .count = s->count,
                                   .are_types = s->are_types,
                                   .amounts = s->amounts,
                                   .order = order };
    uint32_t *sorted = cli_array_new(cli_alloc(), n, sizeof *sorted);
    if (sorted == NULL && n > 0)
        return browse_no_memory(err);
    gcd_status st = browse_sort_ids(v->model, &what, call, sorted, err);
    if (st != GCD_OK) {
        cli_array_free(cli_alloc(), sorted, n, sizeof *sorted);
        return st;
    }
    cli_array_free(cli_alloc(), s->sorted, n, sizeof *s->sorted);
    s->sorted = sorted;
    s->ids = sorted;
    s->order = order;
    return GCD_OK;
}
