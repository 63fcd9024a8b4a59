/*
 * Finds the field of each reference of an object.
 *
 * A graph of a memory image knows where each reference is in its object.  Otherwise the references
 * are a subsequence of the slots.  The leftmost and the rightmost slot that each can have follow
 * from one pass in each direction; every slot between them that can refer to the object is
 * possible, and no other.
 */
#include <gcdumpc/unstable/fields.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/graph/graph_places.h>
#include <gcdumpc/unstable/lengths.h>

#include "base/error.h"
#include "base/mem.h"

#define SLOTS_MAX        (GCD_FIELD_EDGES - 1)
#define REFERENCE_BYTES  4u /* at least */
#define LOADER_ALLOCATOR "System.Reflection.LoaderAllocator"
#define KEY_ANY          0u

struct slot {
    const char *name;
    uint32_t key;
};

struct type_layout {
    char kind;  /* of the format; 0 = unknown */
    bool known; /* its slots */
    bool all;   /* it may be of any key */
    uint32_t first_slot, slot_count;
    uint32_t first_key, key_count;
};

struct gcd_fields {
    struct gcd_alloc alloc;
    const struct gcd_graph *graph;
    const struct gcd_summary *summary;
    struct type_layout *types; /* [type_count] */
    struct gcd_length_rule *rules;
    uint32_t type_count, known_count;
    uint32_t loader_allocator; /* type number, GCD_TYPE_NONE = none */
    struct slot *slots;
    size_t slot_count, slot_cap;
    uint32_t *keys;
    size_t key_count, key_cap;
    char *names; /* all in one */
    size_t names_used, names_bytes;
};

/* ---- reading the texts ---- */

static gcd_status no_memory(struct gcd_error *err)
{
    return gcd_fail_nomem(err, "reading the layouts of types");
}

static bool read_number(const char **p, uint32_t *ret)
{
    uint64_t n = 0;
    const char *begin = *p;
    for (; **p >= '0' && **p <= '9' && n <= UINT32_MAX; (*p)++)
        n = n * 10 + (unsigned)(**p - '0');
    *ret = (uint32_t)n;
    return *p > begin && n < UINT32_MAX;
}

/* The keys up to the end of the line; GCD_E_FORMAT: it is damaged. */
static gcd_status read_keys(struct gcd_fields *f, struct type_layout *t, const char **p,
                            struct gcd_error *err)
{
    t->first_key = (uint32_t)f->key_count;
    t->all = **p == '*';
    *p += t->all;
    while (**p != '\n' && **p != '\0') {
        uint32_t key;
        if (t->key_count > 0 && *(*p)++ != ',')
            return GCD_E_FORMAT;
        if (!read_number(p, &key) || (t->key_count > 0 && key <= f->keys[f->key_count - 1]))
            return GCD_E_FORMAT;
        if (!gcd_vec_reserve(&f->alloc, &f->keys, &f->key_cap, f->key_count + 1, sizeof *f->keys,
                             UINT32_MAX))
            return no_memory(err);
        f->keys[f->key_count++] = key;
        t->key_count++;
    }
    return GCD_OK;
}

static gcd_status read_slots(struct gcd_fields *f, struct type_layout *t, const char *p,
                             struct gcd_error *err)
{
    t->first_slot = (uint32_t)f->slot_count;
    while (*p == '\n') {
        struct slot s;
        p++;
        if (!read_number(&p, &s.key) || *p++ != ' ' || t->slot_count == SLOTS_MAX)
            return GCD_E_FORMAT;
        size_t n = strcspn(p, "\n");
        char *name = f->names + f->names_used;
        size_t used = gcd_field_source_name(p, n, name);
        name[used] = '\0';
        f->names_used += used + 1;
        s.name = name;
        p += n;
        if (!gcd_vec_reserve(&f->alloc, &f->slots, &f->slot_cap, f->slot_count + 1,
                             sizeof *f->slots, UINT32_MAX))
            return no_memory(err);
        f->slots[f->slot_count++] = s;
        t->slot_count++;
    }
    return *p == '\0' ? GCD_OK : GCD_E_FORMAT;
}

static gcd_status read_layout(struct gcd_fields *f, uint32_t type, struct gcd_error *err)
{
    const char *p = f->summary->types[type].layout;
    struct type_layout t = { .kind = *p };
    if (*p == '\0' || strchr("ovm", *p++) == NULL)
        return GCD_OK;
    t.known = *p != '?';
    p += !t.known;
    if (*p++ != ' ')
        return GCD_OK;
    gcd_status st = read_keys(f, &t, &p, err);
    if (st == GCD_OK)
        st = read_slots(f, &t, p, err);
    if (st != GCD_OK)
        return st == GCD_E_FORMAT ? GCD_OK : st;
    f->types[type] = t;
    f->known_count += t.known;
    return GCD_OK;
}

static gcd_status make_room(struct gcd_fields *f, struct gcd_error *err)
{
    f->names_bytes = 1;
    for (uint32_t i = 0; i < f->type_count; i++)
        if (f->summary->types[i].layout != NULL)
            f->names_bytes += strlen(f->summary->types[i].layout) + 1;
    f->types = gcd_mem_new_array(&f->alloc, f->type_count, sizeof *f->types);
    f->rules = gcd_mem_new_array(&f->alloc, f->type_count, sizeof *f->rules);
    f->names = gcd_mem_new(&f->alloc, f->names_bytes);
    bool room = f->names != NULL && (f->type_count == 0 || (f->types != NULL && f->rules != NULL));
    return room ? gcd_length_rules(f->summary, &f->alloc, f->rules, err) : no_memory(err);
}

gcd_status gcd_fields_new(const struct gcd_graph *g, const struct gcd_alloc *alloc,
                          struct gcd_fields **ret, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct gcd_fields *f = gcd_mem_new(&a, sizeof *f);
    if (f == NULL)
        return no_memory(err);
    f->alloc = a;
    f->graph = g;
    f->summary = gcd_graph_summary(g);
    f->type_count = f->summary->type_count;
    f->loader_allocator = GCD_TYPE_NONE;
    gcd_status st = make_room(f, err);
    for (uint32_t i = 0; i < f->type_count && st == GCD_OK; i++) {
        if (strcmp(f->summary->types[i].name, LOADER_ALLOCATOR) == 0)
            f->loader_allocator = i;
        if (f->summary->types[i].layout != NULL)
            st = read_layout(f, i, err);
    }
    if (st == GCD_OK)
        *ret = f;
    else
        gcd_fields_free(f);
    return st;
}

void gcd_fields_free(struct gcd_fields *f)
{
    if (f == NULL)
        return;
    struct gcd_alloc a = f->alloc;
    gcd_mem_free(&a, f->types, f->type_count * sizeof *f->types);
    gcd_mem_free(&a, f->rules, f->type_count * sizeof *f->rules);
    gcd_mem_free(&a, f->slots, f->slot_cap * sizeof *f->slots);
    gcd_mem_free(&a, f->keys, f->key_cap * sizeof *f->keys);
    gcd_mem_free(&a, f->names, f->names_bytes);
    gcd_mem_free(&a, f, sizeof *f);
}

uint32_t gcd_fields_type_count(const struct gcd_fields *f)
{
    return f->known_count;
}

uint32_t gcd_fields_slot_count(const struct gcd_fields *f)
{
    return (uint32_t)f->slot_count;
}

const char *gcd_fields_slot_name(const struct gcd_fields *f, uint32_t slot)
{
    return f->slots[slot].name;
}

/* ---- one object ---- */

/* Can slot S refer to an object of TYPE?  False is certain. */
static bool may_refer(const struct gcd_fields *f, const struct slot *s, uint32_t type)
{
    const struct type_layout *t = &f->types[type];
    if (s->key == KEY_ANY || t->kind == 0 || t->all)
        return true;
    uint32_t low = t->first_key, high = t->first_key + t->key_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (f->keys[middle] == s->key)
            return true;
        if (f->keys[middle] < s->key)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/*
 * Can place P of T refer to TYPE?  Place 0 comes before all slots: objects of a type that can be
 * unloaded refer to its loader allocator there.
 */
static bool place_may(const struct gcd_fields *f, const struct type_layout *t, uint32_t p,
                      uint32_t type)
{
    return p == 0 ? type == f->loader_allocator
                  : may_refer(f, &f->slots[t->first_slot + p - 1], type);
}

/* The first place from P on, and the last one before P, that may refer to TYPE.  After the last
 * place: none; the first place of a reference stops the other one. */
static uint32_t next_place(const struct gcd_fields *f, const struct type_layout *t, uint32_t p,
                           uint32_t type)
{
    while (p <= t->slot_count && !place_may(f, t, p, type))
        p++;
    return p;
}

static uint32_t place_before(const struct gcd_fields *f, const struct type_layout *t, uint32_t p,
                             uint32_t type)
{
    while (!place_may(f, t, --p, type))
        continue;
    return p;
}

/* The references of an object. */
struct references {
    const uint32_t *targets;
    size_t n;
};

/* The leftmost and the rightmost place that reference EDGE can have; false: there is no solution.
 */
static bool find_places(const struct gcd_fields *f, const struct type_layout *t,
                        struct references r, size_t edge, uint32_t ret[2])
{
    uint32_t places = t->slot_count + 1, p = 0;
    if (r.n > places)
        return false;
    for (size_t i = 0; i < r.n; i++, p++) { /* to the end: is there a solution? */
        uint32_t type = gcd_graph_node_type(f->graph, r.targets[i]);
        p = next_place(f, t, p, type);
        if (p >= places)
            return false;
        if (i == edge)
            ret[0] = p;
    }
    p = places;
    for (size_t i = r.n; i-- > edge;)
        p = place_before(f, t, p, gcd_graph_node_type(f->graph, r.targets[i]));
    ret[1] = p;
    return true;
}

static struct gcd_field nothing(bool array)
{
    return (struct gcd_field){ .slot = GCD_SLOT_NONE, .element = GCD_ELEMENT_NONE, .array = array };
}

/* SLOT is possible, too. */
static void add_candidate(const struct gcd_fields *f, uint32_t slot, struct gcd_field *r)
{
    const char *name = f->slots[slot].name;
    if (r->name == NULL)
        r->name = name;
    else
        r->other = name;
    r->slot = r->other == NULL ? slot : GCD_SLOT_NONE;
}

static struct gcd_field field_of_object(const struct gcd_fields *f, const struct type_layout *t,
                                        struct references of, size_t edge)
{
    struct gcd_field r = nothing(false);
    uint32_t type = gcd_graph_node_type(f->graph, of.targets[edge]), places[2] = { 0, 0 };
    if (!find_places(f, t, of, edge, places))
        return r;
    for (uint32_t p = places[0]; p <= places[1]; p++) {
        if (!place_may(f, t, p, type))
            continue;
        if (p == 0 || r.other != NULL) /* the loader allocator is no field */
            return nothing(false);
        add_candidate(f, t->first_slot + p - 1, &r);
    }
    return r;
}

/* An array of references: all elements are known if none is null. */
static struct gcd_field element_of_vector(const struct gcd_fields *f, uint32_t node, uint32_t type,
                                          size_t edge)
{
    struct gcd_field r = nothing(true);
    size_t n;
    uint64_t length = 0;
    const uint32_t *edges = gcd_graph_node_edges(f->graph, node, &n);
    bool allocator = gcd_graph_node_type(f->graph, edges[0]) == f->loader_allocator;
    if (allocator && edge == 0) /* perhaps an element */
        return nothing(false);
    r.name = "";
    if (f->types[type].kind == 'v' &&
        gcd_length_of(&f->rules[type], gcd_graph_node_size(f->graph, node), &length) &&
        n == length + allocator)
        r.element = edge - allocator;
    return r;
}

/* By the place of the reference EDGE of NODE, which has EDGES.  False: it is unknown, or the layout
 * does not fit. */
static bool field_by_place(const struct gcd_fields *f, uint32_t node, size_t edge, size_t edges,
                           uint32_t to, struct gcd_field *ret)
{
    uint32_t place = gcd_graph_edge_place(f->graph, node, edge);
    uint32_t type = gcd_graph_node_type(f->graph, node);
    const struct type_layout *t = &f->types[type];
    bool array = t->kind != 'o';
    uint64_t element = 0;
    if (place >= gcd_graph_node_size(f->graph, node) / REFERENCE_BYTES || t->slot_count == 0)
        return false;
    if (array) {
        element = place / t->slot_count;
        place %= t->slot_count;
    } else if (gcd_graph_edge_place(f->graph, node, edges - 1) >= t->slot_count) {
        return false;
    }
    if (place >= t->slot_count || !place_may(f, t, place + 1, to))
        return false;
    *ret = nothing(array);
    add_candidate(f, t->first_slot + place, ret);
    if (ret->name[0] == '\0')
        ret->slot = GCD_SLOT_NONE;
    if (t->kind == 'v')
        ret->element = element;
    return true;
}

/* The type of the object alone tells, as for an array of values, elements of which may have been
 * left out. */
static struct gcd_field slot_by_type(const struct gcd_fields *f, const struct type_layout *t,
                                     uint32_t type)
{
    struct gcd_field r = nothing(t->kind != 'o');
    if (type == f->loader_allocator)
        return nothing(false);
    for (uint32_t i = 0; i < t->slot_count; i++) {
        const struct slot *s = &f->slots[t->first_slot + i];
        if (!may_refer(f, s, type))
            continue;
        if (r.other != NULL)
            return nothing(r.array);
        add_candidate(f, t->first_slot + i, &r);
    }
    return r;
}

bool gcd_fields_has_fields(const struct gcd_fields *f, uint32_t type)
{
    return f->types[type].known && f->types[type].kind == 'o';
}

struct gcd_field gcd_fields_get(const struct gcd_fields *f, uint32_t node, size_t edge)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(f->graph, node, &n);
    uint32_t type = gcd_graph_node_type(f->graph, node);
    const struct type_layout *t = &f->types[type];
    if (!t->known || edge >= n)
        return nothing(t->kind == 'v' || t->kind == 'm');
    struct gcd_field field;
    if (gcd_graph_has_places(f->graph) &&
        field_by_place(f, node, edge, n, gcd_graph_node_type(f->graph, edges[edge]), &field))
        return field;
    if (t->kind != 'o')
        return t->slot_count == 1 && f->slots[t->first_slot].name[0] == '\0'
                   ? element_of_vector(f, node, type, edge)
                   : slot_by_type(f, t, gcd_graph_node_type(f->graph, edges[edge]));
    return field_of_object(f, t, (struct references){ edges, n }, edge);
}

/* The places of all references of NODE, an object; false: not all are known, or the layout does not
 * fit. */
static bool places_from_graph(const struct gcd_fields *f, uint32_t node, uint32_t *ret)
{
    const struct type_layout *t = &f->types[gcd_graph_node_type(f->graph, node)];
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(f->graph, node, &n);
    if (!gcd_graph_has_places(f->graph))
        return false;
    for (size_t i = 0; i < n; i++) {
        ret[i] = gcd_graph_edge_place(f->graph, node, i);
        if (ret[i] >= t->slot_count ||
            !place_may(f, t, ret[i] + 1, gcd_graph_node_type(f->graph, edges[i])))
            return false;
    }
    return true;
}

void gcd_fields_slots(const struct gcd_fields *f, uint32_t node, uint32_t *ret)
{
    const struct type_layout *t = &f->types[gcd_graph_node_type(f->graph, node)];
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(f->graph, node, &n);
    uint32_t p = 0;
    bool fits = n <= t->slot_count + 1u;
    if (places_from_graph(f, node, ret)) {
        for (size_t i = 0; i < n; i++)
            ret[i] += t->first_slot;
        return;
    }
    for (size_t i = 0; i < n && fits; i++, p++) { /* the leftmost place of each */
        p = next_place(f, t, p, gcd_graph_node_type(f->graph, edges[i]));
        fits = p <= t->slot_count;
        ret[i] = p;
    }
    p = t->slot_count + 1;
    for (size_t i = n; i-- > 0;) { /* is it also the rightmost one? */
        p = fits ? place_before(f, t, p, gcd_graph_node_type(f->graph, edges[i])) : 0;
        ret[i] = p > 0 && p == ret[i] ? t->first_slot + p - 1 : GCD_SLOT_NONE;
    }
}

bool gcd_fields_places(const struct gcd_fields *f, uint32_t node, uint32_t *ret)
{
    size_t n;
    (void)gcd_graph_node_edges(f->graph, node, &n);
    gcd_fields_slots(f, node, ret);
    for (size_t i = 0; i < n; i++) {
        if (ret[i] == GCD_SLOT_NONE)
            return false;
        ret[i] -= f->types[gcd_graph_node_type(f->graph, node)].first_slot;
    }
    return true;
}

/* Are the references of a node of TYPE to EDGES[N], which are many, like those before?  Now they
 * are. */
static bool is_alike(const struct gcd_fields *f, struct gcd_field_pass *pass, uint32_t type,
                     const uint32_t *edges, size_t n)
{
    bool alike = pass->type == type && pass->n == n;
    for (size_t i = 0; i < n; i++) {
        uint32_t target = gcd_graph_node_type(f->graph, edges[i]);
        alike = alike && pass->many_targets[i] == target;
        pass->many_targets[i] = target;
    }
    pass->type = type;
    pass->n = (uint32_t)n;
    return alike;
}

/* The pattern of a node of TYPE that refers to EDGES[N]; *RET_NEW: its slots are not known yet. */
static struct gcd_field_pattern *pattern_of(const struct gcd_fields *f, struct gcd_field_pass *pass,
                                            uint32_t type, const uint32_t *edges, size_t n,
                                            bool *ret_new)
{
    uint32_t targets[GCD_FIELD_PATTERN_EDGES] = { 0 }, hash = type;
    for (size_t i = 0; i < n; i++) {
        targets[i] = gcd_graph_node_type(f->graph, edges[i]);
        hash = hash * UINT32_C(0x9e3779b1) + targets[i];
    }
    struct gcd_field_pattern *p =
        &pass->patterns[hash * UINT32_C(0x9e3779b1) >> 16 & (GCD_FIELD_PATTERNS - 1)];
    *ret_new = p->type != type || p->n != n;
    for (size_t i = 0; i < n && !*ret_new; i++)
        *ret_new = p->targets[i] != targets[i];
    p->type = type;
    p->n = (uint32_t)n;
    memcpy(p->targets, targets, n * sizeof *targets);
    return p;
}

/* Sets the slots of NODE, an object of TYPE that refers to EDGES[N]. */
static void look_at(const struct gcd_fields *f, struct gcd_field_pass *pass, uint32_t node,
                    uint32_t type, const uint32_t *edges, size_t n)
{
    bool is_new;
    for (size_t i = 0; i < GCD_FIELD_PATTERNS && pass->next == 0; i++)
        pass->patterns[i].n = pass->n = 0;
    if (n > GCD_FIELD_PATTERN_EDGES || gcd_graph_has_places(f->graph)) {
        /* with places, the same types say nothing */
        if (gcd_graph_has_places(f->graph) || !is_alike(f, pass, type, edges, n))
            gcd_fields_slots(f, node, pass->many_slots);
        pass->slots = pass->many_slots;
        return;
    }
    struct gcd_field_pattern *p = pattern_of(f, pass, type, edges, n, &is_new);
    if (is_new)
        gcd_fields_slots(f, node, p->slots);
    pass->slots = p->slots;
}

struct gcd_field gcd_fields_certain(const struct gcd_fields *f, struct gcd_field_pass *pass,
                                    uint32_t node, size_t edge)
{
    struct gcd_field r = nothing(false);
    size_t n;
    uint32_t type = gcd_graph_node_type(f->graph, node);
    if (!gcd_fields_has_fields(f, type))
        return gcd_fields_get(f, node, edge);
    const uint32_t *edges = gcd_graph_node_edges(f->graph, node, &n);
    if (n > GCD_FIELD_EDGES || edge >= n)
        return r;
    if (pass->next != node + 1)
        look_at(f, pass, node, type, edges, n);
    pass->next = node + 1;
    r.slot = pass->slots[edge];
    if (r.slot != GCD_SLOT_NONE)
        r.name = f->slots[r.slot].name;
    return r;
}

uint32_t gcd_fields_of_type(const struct gcd_fields *f, uint32_t type, uint32_t *ret_first)
{
    *ret_first = f->types[type].first_slot;
    return f->types[type].slot_count;
}

struct gcd_field gcd_fields_of_types(const struct gcd_fields *f, uint32_t from, uint32_t to)
{
    const struct type_layout *t = &f->types[from];
    return t->known ? slot_by_type(f, t, to) : nothing(false);
}

struct gcd_field gcd_fields_between(const struct gcd_fields *f, uint32_t from, uint32_t to)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(f->graph, from, &n);
    for (size_t i = 0; i < n; i++)
        if (edges[i] == to)
            return gcd_fields_get(f, from, i);
    return nothing(false);
}

struct gcd_field gcd_fields_only(const struct gcd_fields *f, uint32_t from, uint32_t to)
{
    size_t n, found = 0, edge = 0;
    const uint32_t *edges = gcd_graph_node_edges(f->graph, from, &n);
    for (size_t i = 0; i < n && found < 2; i++)
        if (edges[i] == to) {
            found++;
            edge = i;
        }
    return found == 1 ? gcd_fields_get(f, from, edge) : nothing(false);
}

const char *gcd_field_label(const struct gcd_field *x, char buf[GCD_FIELD_LABEL_BYTES])
{
    char index[24] = "[]";
    const char *name = x->name != NULL ? x->name : "";
    buf[0] = '\0';
    if (x->element != GCD_ELEMENT_NONE)
        (void)snprintf(index, sizeof index, "[%" PRIu64 "]", x->element);
    if (x->name == NULL && !x->array)
        return buf;
    const char *dot = x->array && name[0] != '\0' && name[0] != '[' ? "." : "";
    if (x->other != NULL)
        (void)snprintf(buf, GCD_FIELD_LABEL_BYTES, "%s%s%s or %s", x->array ? index : "", dot, name,
                       x->other);
    else
        (void)snprintf(buf, GCD_FIELD_LABEL_BYTES, "%s%s%s", x->array ? index : "", dot, name);
    return buf;
}

const char *gcd_field_suffix(const struct gcd_field *x, char buf[GCD_FIELD_LABEL_BYTES])
{
    char text[GCD_FIELD_LABEL_BYTES];
    const char *label = gcd_field_label(x, text);
    if (strncmp(label, "[]", 2) == 0) /* the type of the holder ends in "[]" */
        label += 2;
    (void)snprintf(buf, GCD_FIELD_LABEL_BYTES, "%s%.*s",
                   label[0] != '\0' && label[0] != '[' && label[0] != '.' ? "." : "",
                   (int)GCD_FIELD_LABEL_BYTES - 2, label);
    return buf;
}
