/*
 * The data of the page as JSON, for the modules in src/write/html/page.  Rows are arrays;
 * page/data.js documents their columns.
 */
#include <stdio.h>
#include <string.h>

#include <gcdumpc/generations.h>
#include <gcdumpc/names.h>
#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/process_memory.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/suspect_checks.h>
#include <gcdumpc/version.h>

#include "base/error.h"
#include "base/mem.h"
#include "write/html/html_data.h"
#include "write/json_put.h"
#include "write/write.h"

/* Maximum bytes of all names of frames; a hostile dump has names of megabytes. */
#define NAMES_BYTES         ((size_t)5 << 19)
#define NAMES_BYTES_OF_PART ((size_t)1 << 20)
/* Maximum bytes of texts that occur a few times, or once per type. */
#define TEXT_BYTES   ((size_t)2000)
#define MODULE_BYTES ((size_t)120)
/* Maximum bytes of a page, and of its part after the data. */
#define PAGE_BYTES   (UINT64_C(5) << 20)
#define BEHIND_BYTES (UINT64_C(160) << 10)

struct page {
    const struct html_data *h;
    struct json_put j;
    uint32_t *number;           /* [labels] in the list of names, UINT32_MAX = not used */
    uint32_t *labels;           /* [count] the labels of the list */
    size_t count, field_values; /* FIELD_VALUES: how many there is room for */
    uint32_t *field;            /* [slots] in the list of fields + 1; 0 = not used */
    uint32_t *slots;            /* [field_count] the slots of the list */
    size_t field_count;
};

/* ---- names: each once, in the order of first use ---- */

/* Adds a label to the list of names; the label of a type is the number of the type. */
static void use(struct page *p, uint32_t label)
{
    if (p->number[label] != UINT32_MAX)
        return;
    p->number[label] = (uint32_t)p->count;
    p->labels[p->count++] = label;
}

/* The number of the field of SLOT, which may be GCD_SLOT_NONE; 0 = none. */
static uint32_t field_number(const struct page *p, uint32_t slot)
{
    return slot != GCD_SLOT_NONE ? p->field[slot] : 0;
}

static void use_field(struct page *p, uint32_t slot)
{
    if (slot == GCD_SLOT_NONE || p->field[slot] != 0)
        return;
    p->slots[p->field_count++] = slot;
    p->field[slot] = (uint32_t)p->field_count;
}

static void use_tree(struct page *p, const struct gcd_merged_tree *t)
{
    size_t n;
    const struct gcd_merged_step *steps = gcd_merged_tree_steps(t, &n);
    for (size_t i = 0; i < n; i++) {
        use(p, steps[i].label);
        use_field(p, steps[i].slot);
    }
}

static bool has_elements(const struct gcd_suspect *s)
{
    return s->collection != NULL && s->element.type != GCD_TYPE_NONE;
}

static void use_suspect(struct page *p, const struct gcd_suspect *s)
{
    for (size_t k = 0; k < s->path_count; k++)
        use(p, s->path[k].type);
    for (size_t k = 0; k < s->held_count; k++)
        use(p, s->held[k].type);
    for (size_t k = 0; k < s->content_count; k++)
        use(p, s->content[k].type);
    for (size_t k = 0; k < s->own_count; k++)
        use(p, s->own[k].type);
    if (has_elements(s))
        use(p, s->element.type);
}

static bool is_in_variable(const struct page *p, const struct gcd_suspect *s)
{
    return s->owner == GCD_TYPE_NONE && s->root != SIZE_MAX &&
           gcd_root_group(&gcd_graph_summary(p->h->g)->roots[s->root]) == GCD_GROUP_STATICS;
}

/* Is S large by design, and what holds it known by name: a class, or a static variable? */
static bool is_design(const struct page *p, const struct gcd_suspect *s)
{
    return s->kind == GCD_SUSPECT_DESIGN && (s->owner != GCD_TYPE_NONE || is_in_variable(p, s));
}

static void use_design(struct page *p, const struct gcd_suspect *s)
{
    if (!is_design(p, s))
        return;
    if (s->owner != GCD_TYPE_NONE)
        use(p, s->owner);
    if (s->element.type != GCD_TYPE_NONE)
        use(p, s->element.type);
    for (size_t k = 0; k < s->own_count; k++)
        use(p, s->own[k].type);
}

/* The number of suspects that the page shows. */
static size_t suspect_count(const struct page *p)
{
    size_t n = gcd_suspects_count(p->h->suspects);
    return n < HTML_SUSPECTS ? n : HTML_SUSPECTS;
}

static bool has_consumer(const struct page *p)
{
    return p->h->consumer != NULL && gcd_suspects_count(p->h->consumer) > 0;
}

static void use_shared(struct page *p)
{
    char buf[GCD_FIELD_LABEL_BYTES];
    size_t n;
    const struct gcd_shared_row *rows = gcd_shared_rows(p->h->shared, &n);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < rows[i].part_count; k++)
            use(p, rows[i].parts[k].type);
        for (size_t k = 0; k < rows[i].holder_count; k++) {
            const struct html_shared_path *path = html_shared_path(p->h, i, k, buf);
            for (size_t step = 0; step < path->count; step++)
                use(p, path->steps[step].type);
        }
    }
}

static void use_detail(struct page *p, const struct html_detail *d)
{
    use(p, d->type);
    for (size_t list = 0; list < HTML_LISTS; list++)
        for (size_t i = 0; i < d->lists[list].count; i++)
            if (d->lists[list].items[i].type < GCD_NODE_ROOT)
                use(p, d->lists[list].items[i].type);
    if (d->tree != NULL)
        use_tree(p, d->tree);
}

static void use_all(struct page *p)
{
    const struct html_data *h = p->h;
    for (size_t i = 0; i < h->type_count; i++)
        use(p, h->types[i]);
    use_tree(p, h->tree);
    for (size_t i = 0; i < h->holder_count; i++) {
        use(p, h->holders[i].label);
        use_field(p, h->holders[i].slot);
    }
    for (size_t i = 0; i < h->path_count; i++)
        use_tree(p, h->paths[i].tree);
    for (size_t i = 0; i < h->path_count; i++)
        use(p, h->paths[i].type);
    for (size_t i = 0; i < h->detail_count; i++)
        use_detail(p, &h->details[i]);
    const struct gcd_page_growth *growth;
    for (size_t i = 0; i < suspect_count(p); i++)
        use_suspect(p, html_suspect(h, i, &growth));
    for (size_t i = 0; i < gcd_suspects_note_count(h->suspects); i++)
        use_design(p, gcd_suspects_note(h->suspects, i));
    if (has_consumer(p))
        use_suspect(p, gcd_suspects_get(h->consumer, 0));
    use_shared(p);
    for (size_t i = 0; i < h->fills.count; i++) {
        use(p, h->fills.rows[i].owner);
        use(p, h->fills.rows[i].element);
    }
    for (size_t i = 0; i < h->dead_count; i++)
        use(p, h->dead[i].type);
}

static const char *name_of(const struct page *p, size_t i)
{
    const char *module;
    return stacks_frame(
        &(struct stacks){ .g = p->h->g, .options = p->h->options, .tree = p->h->by_paths },
        p->labels[i], &module);
}

static const char *field_of(const struct page *p, size_t i)
{
    return gcd_fields_slot_name(p->h->fields, p->slots[i]);
}

/* The bytes of TEXT in the page if it has at most LIMIT. */
static size_t bytes_of(const struct page *p, const char *text, size_t limit)
{
    size_t n = json_put_measure(&p->j, text);
    return n < limit ? n : limit;
}

/* The maximum length of names with which all fit. */
static size_t name_limit(const struct page *p)
{
    static const size_t limits[] = { 4000, 1000, 500, 250, 120, 60 };
    size_t k = 0;
    for (;; k++) {
        size_t sum = 0;
        for (size_t i = 0; i < p->count; i++)
            sum += bytes_of(p, name_of(p, i), limits[k]);
        for (size_t i = 0; i < p->field_count; i++)
            sum += bytes_of(p, field_of(p, i), limits[k]);
        if (sum <= (p->h->role->part ? NAMES_BYTES_OF_PART : NAMES_BYTES) ||
            k == sizeof limits / sizeof *limits - 1)
            return limits[k];
    }
}

/* The kind of a name: "r" a root group or similar, "s" a static variable, "t" a type. */
static char kind_of(const struct page *p, size_t i)
{
    struct gcd_step_name step = gcd_merged_tree_name(p->h->by_paths, p->labels[i]);
    bool variable = step.kind == GCD_STEP_VARIABLE && step.group == GCD_GROUP_STATICS;
    return step.kind == GCD_STEP_TYPE ? 't' : variable ? 's' : 'r';
}

void html_put_call(struct json_put *j, size_t number, const char *call, size_t max)
{
    json_put_open(j, NULL, '[');
    json_put_number(j, NULL, number);
    json_put_text(j, NULL, call, max);
    json_put_close(j, ']');
}

/* The types that have another name in paths and trees, by the number of their name. */
static void put_calls(struct page *p, size_t limit)
{
    char buf[GCD_ASYNC_STEP_BYTES];
    json_put_open(&p->j, "calls", '[');
    for (size_t i = 0; i < p->count; i++) {
        struct gcd_step_name step = gcd_merged_tree_name(p->h->by_paths, p->labels[i]);
        if (step.kind != GCD_STEP_TYPE)
            continue;
        const char *call = p->h->options->names != NULL
                               ? gcd_names_step(p->h->options->names, step.type, buf)
                               : gcd_async_step_name(name_of(p, i), false, false, buf);
        if (call == buf)
            html_put_call(&p->j, i, call, limit);
    }
    json_put_close(&p->j, ']');
}

static void put_names(struct page *p)
{
    size_t limit = name_limit(p);
    json_put_open(&p->j, "names", '[');
    for (size_t i = 0; i < p->count; i++)
        json_put_text(&p->j, NULL, name_of(p, i), limit);
    json_put_close(&p->j, ']');
    json_put_open(&p->j, "kinds", '[');
    for (size_t i = 0; i < p->count; i++) {
        char kind[2] = { kind_of(p, i), '\0' };
        json_put_text(&p->j, NULL, kind, 1);
    }
    json_put_close(&p->j, ']');
    json_put_open(&p->j, "fields", '[');
    for (size_t i = 0; i < p->field_count; i++)
        json_put_text(&p->j, NULL, field_of(p, i), limit);
    json_put_close(&p->j, ']');
    put_calls(p, limit);
}

/* ---- the dump ---- */

static void put_process(struct page *p)
{
    const struct gcd_summary *f = gcd_graph_summary(p->h->g);
    const char *name = f->process_name[0] != '\0'    ? f->process_name
                       : p->h->options->name != NULL ? p->h->options->name
                                                     : "";
    json_put_open(&p->j, "process", '{');
    json_put_text(&p->j, "name", name, TEXT_BYTES);
    json_put_number(&p->j, "pid", f->process);
    json_put_text(&p->j, "command_line", f->command_line, TEXT_BYTES);
    json_put_text(&p->j, "os", f->os, TEXT_BYTES);
    json_put_text(&p->j, "architecture", f->arch, TEXT_BYTES);
    json_put_text(&p->j, "runtime_version", f->runtime_version, TEXT_BYTES);
    json_put_text(&p->j, "format", f->trace.container != NULL ? f->trace.container : "",
                  TEXT_BYTES);
    json_put_close(&p->j, '}');
}

/* The missing parts, and the number of this dump among several. */
static void put_loss(struct page *p)
{
    const struct gcd_summary *f = gcd_graph_summary(p->h->g);
    json_put_open(&p->j, "loss", '{');
    json_put_number(&p->j, "objects", f->objects_lost);
    json_put_bool(&p->j, "exact", f->objects_lost_exact);
    json_put_number(&p->j, "undescribed", f->types_undescribed);
    json_put_text(&p->j, "first", f->verdict.reason_count > 0 ? f->verdict.reasons[0].name : "",
                  TEXT_BYTES);
    json_put_number(&p->j, "dumps", f->dumps);
    json_put_number(&p->j, "number", f->walk_number);
    json_put_close(&p->j, '}');
}

static void put_gc(struct page *p)
{
    const struct gcd_summary *f = gcd_graph_summary(p->h->g);
    json_put_open(&p->j, "gc", '{');
    if (f->trace.start_unix_ms != INT64_MIN)
        json_put_signed(&p->j, "start_unix_ms", f->trace.start_unix_ms);
    json_put_signed(&p->j, "start_ns", f->gc_start_ns);
    json_put_number(&p->j, "pause_ns", f->pause_ns);
    json_put_number(&p->j, "number", f->gc_number);
    json_put_number(&p->j, "heaps", f->gc_heaps);
    json_put_close(&p->j, '}');
}

static void put_memory(struct page *p)
{
    const struct gcd_process_memory *m = &gcd_graph_summary(p->h->g)->memory;
    char text[GCD_MEMORY_TEXT_BYTES];
    size_t n = gcd_process_memory_text(m, text, sizeof text);
    if (n == 0)
        return;
    json_put_open(&p->j, "memory", '{');
    json_put_number(&p->j, "resident", m->resident_bytes);
    if (m->gc_known) {
        json_put_number(&p->j, "gc", m->gc_bytes);
        json_put_number(&p->j, "native", gcd_native_bytes(m));
    }
    json_put_number(&p->j, "file", m->file_bytes);
    json_put_number(&p->j, "shared", m->shared_bytes);
    json_put_number(&p->j, "swapped", m->swapped_bytes);
    json_put_number(&p->j, "cgroup_limit", m->cgroup_limit_bytes);
    json_put_number(&p->j, "cgroup_used", m->cgroup_used_bytes);
    json_put_bool(&p->j, "look_for_native", gcd_is_native(m));
    json_put_text(&p->j, "text", text, n);
    json_put_close(&p->j, '}');
}

/* One row per part of the memory: key, title, bytes, whether that is all of it. */
static void put_memory_parts(struct page *p)
{
    struct gcd_memory_size sizes[GCD_MEMORY_PARTS];
    const struct gcd_summary *s = gcd_graph_summary(p->h->g);
    gcd_memory_parts(s, s->bytes - p->h->alive_bytes, sizes);
    json_put_open(&p->j, "memory_parts", '[');
    for (unsigned i = 0; i < GCD_MEMORY_PARTS; i++) {
        json_put_open(&p->j, NULL, '[');
        json_put_text(&p->j, NULL, gcd_memory_part_key((enum gcd_memory_part)i), TEXT_BYTES);
        json_put_text(&p->j, NULL, gcd_memory_part_title((enum gcd_memory_part)i), TEXT_BYTES);
        json_put_number(&p->j, NULL, sizes[i].bytes);
        json_put_bool(&p->j, NULL, sizes[i].known);
        json_put_close(&p->j, ']');
    }
    json_put_close(&p->j, ']');
}

static void put_totals(struct page *p)
{
    const struct html_data *h = p->h;
    const struct gcd_summary *f = gcd_graph_summary(h->g);
    json_put_open(&p->j, "totals", '{');
    json_put_number(&p->j, "objects", f->objects);
    json_put_number(&p->j, "bytes", f->bytes);
    json_put_number(&p->j, "references", f->edges);
    json_put_number(&p->j, "types", h->types_with_objects);
    json_put_number(&p->j, "roots", gcd_graph_summary(h->g)->root_count);
    json_put_number(&p->j, "dependent_handles", gcd_graph_dependent_count(h->g));
    json_put_number(&p->j, "reachable_objects", h->alive_objects);
    json_put_number(&p->j, "reachable_bytes", h->alive_bytes);
    json_put_number(&p->j, "own_bytes", h->own_bytes);
    json_put_number(&p->j, "observed", gcd_suspects_observed_bytes(h->suspects));
    json_put_number(&p->j, "stand_ins", h->pseudo_roots);
    json_put_close(&p->j, '}');
    json_put_open(&p->j, "root_groups", '[');
    for (unsigned i = 0; i < GCD_GROUPS; i++) {
        const char *many = gcd_root_group_label((enum gcd_root_group)i)->many;
        json_put_text(&p->j, NULL, many, strlen(many));
    }
    json_put_close(&p->j, ']');
    json_put_open(&p->j, "roots", '[');
    for (size_t i = 0; i < GCD_GROUPS; i++)
        json_put_number(&p->j, NULL, h->roots[i]);
    json_put_close(&p->j, ']');
}

/* ---- tables and trees ---- */

static void put_types(struct page *p)
{
    const struct html_data *h = p->h;
    json_put_open(&p->j, "types", '[');
    for (size_t i = 0; i < h->type_count; i++) {
        const struct gcd_type *t = &gcd_graph_summary(h->g)->types[h->types[i]];
        size_t file_n, stem;
        const char *file = write_module_file(t->module_path, &file_n, &stem);
        json_put_open(&p->j, NULL, '[');
        json_put_number(&p->j, NULL, p->number[h->types[i]]);
        json_put_text(&p->j, NULL, file, MODULE_BYTES);
        json_put_number(&p->j, NULL, t->objects);
        json_put_number(&p->j, NULL, t->bytes);
        json_put_number(&p->j, NULL, h->retained[h->types[i]]);
        json_put_number(&p->j, NULL, (uint64_t)html_origin(h, h->types[i]));
        json_put_close(&p->j, ']');
    }
    json_put_close(&p->j, ']');
}

/* Folds a tree of paths; false: there is nothing to fold. */
static bool fold_tree(const struct page *p, const struct gcd_merged_tree *t,
                      struct gcd_fold_node nodes[HTML_PATH_NODES])
{
    size_t n;
    uint64_t left[HTML_PATH_NODES]; /* objects of a step that are in no step below it */
    const struct html_data *h = p->h;
    const struct gcd_merged_step *steps = gcd_merged_tree_steps(t, &n);
    if (n > HTML_PATH_NODES)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct gcd_step_name name = gcd_merged_tree_name(h->by_paths, steps[i].label);
        nodes[i] = (struct gcd_fold_node){ .parent = steps[i].parent,
                                           .type = name.kind == GCD_STEP_TYPE ? name.type
                                                                              : GCD_TYPE_NONE };
        left[i] = steps[i].count;
        if (steps[i].parent != GCD_STEP_NONE)
            left[steps[i].parent] -= steps[i].count;
    }
    for (size_t i = 0; i < n; i++)
        nodes[i].ends = left[i] > 0;
    if (gcd_session_fold_facts(h->session, NULL, nodes, n, NULL) != GCD_OK)
        return false;
    gcd_fold_tree(nodes, n);
    return true;
}

/* One row per node: its parent (-1: none), name, own objects and bytes, objects and bytes with all
 * below; the number of its field and, in a tree of paths, its fold, up to the last one that is not
 * 0.
 */
static void put_tree(struct page *p, const char *key, const struct gcd_merged_tree *t, bool paths)
{
    struct gcd_fold_node nodes[HTML_PATH_NODES];
    bool folds = paths && fold_tree(p, t, nodes);
    size_t n;
    const struct gcd_merged_step *steps = gcd_merged_tree_steps(t, &n);
    json_put_open(&p->j, key, '[');
    for (size_t i = 0; i < n; i++) {
        const struct gcd_merged_step *s = &steps[i];
        json_put_open(&p->j, NULL, '[');
        json_put_signed(&p->j, NULL, s->parent == GCD_STEP_NONE ? -1 : (int64_t)s->parent);
        json_put_number(&p->j, NULL, p->number[s->label]);
        json_put_number(&p->j, NULL, s->own_count);
        json_put_number(&p->j, NULL, s->own_bytes);
        json_put_number(&p->j, NULL, s->count);
        json_put_number(&p->j, NULL, s->bytes);
        unsigned fold = folds ? (unsigned)nodes[i].fold : 0;
        if (fold != 0 || s->slot != GCD_SLOT_NONE)
            json_put_number(&p->j, NULL, field_number(p, s->slot));
        if (fold != 0)
            json_put_number(&p->j, NULL, fold);
        json_put_close(&p->j, ']');
    }
    json_put_close(&p->j, ']');
}

static void put_large(struct page *p)
{
    const struct html_data *h = p->h;
    const struct gcd_graph_notes *notes = gcd_graph_notes(h->g);
    json_put_open(&p->j, "largest", '[');
    for (size_t i = 0; i < h->large_count; i++) {
        const struct html_large *l = &h->large[i];
        uint64_t address = notes->addresses_made_up ? 0 : gcd_graph_node_address(h->g, l->node);
        json_put_open(&p->j, NULL, '[');
        json_put_number(&p->j, NULL, p->number[gcd_graph_node_type(h->g, l->node)]);
        json_put_number(&p->j, NULL, gcd_graph_node_size(h->g, l->node));
        json_put_number(&p->j, NULL, l->retained);
        json_put_hex(&p->j, NULL, address);
        json_put_open(&p->j, NULL, '[');
        for (size_t k = 0; k < l->holders; k++)
            json_put_number(&p->j, NULL, p->number[h->holders[l->holder + k].label]);
        json_put_close(&p->j, ']');
        json_put_open(&p->j, NULL, '[');
        for (size_t k = 0; k < l->holders; k++)
            json_put_number(&p->j, NULL, field_number(p, h->holders[l->holder + k].slot));
        json_put_close(&p->j, ']');
        html_put_values(h, l->node, &p->field_values, &p->j);
        json_put_close(&p->j, ']');
    }
    json_put_close(&p->j, ']');
}

static void put_paths(struct page *p)
{
    json_put_open(&p->j, "paths", '[');
    for (size_t i = 0; i < p->h->path_count; i++) {
        json_put_open(&p->j, NULL, '{');
        json_put_number(&p->j, "type", p->number[p->h->paths[i].type]);
        put_tree(p, "tree", p->h->paths[i].tree, true);
        json_put_close(&p->j, '}');
    }
    json_put_close(&p->j, ']');
}

/* One row per type: name (-1: no single object, -2: none), objects or references, bytes.  Behind
 * references of objects of type FROM comes their field, unless it is not known. */
static void put_pairs(struct page *p, const char *key, const struct html_list *l, uint32_t from)
{
    char buf[GCD_FIELD_LABEL_BYTES];
    json_put_open(&p->j, key, '[');
    for (size_t i = 0; i < l->count; i++) {
        uint32_t type = l->items[i].type;
        json_put_open(&p->j, NULL, '[');
        json_put_signed(&p->j, NULL,
                        type == GCD_NODE_ROOT   ? -1
                        : type == GCD_NODE_NONE ? -2
                                                : (int64_t)p->number[type]);
        json_put_number(&p->j, NULL, l->items[i].count);
        json_put_number(&p->j, NULL, l->items[i].bytes);
        struct gcd_field field = from != GCD_TYPE_NONE
                                     ? gcd_fields_of_types(p->h->fields, from, type)
                                     : GCD_FIELD_UNKNOWN;
        if (gcd_field_suffix(&field, buf)[0] != '\0')
            json_put_text(&p->j, NULL, buf, TEXT_BYTES);
        json_put_close(&p->j, ']');
    }
    json_put_close(&p->j, ']');
}

/* One row per object: address or null, own bytes, retained bytes; of the largest its fields. */
static void put_objects(struct page *p, const struct html_detail *d)
{
    json_put_open(&p->j, "largest", '[');
    for (size_t i = 0; i < d->object_count; i++) {
        uint32_t node = d->objects[i].node;
        json_put_open(&p->j, NULL, '[');
        json_put_hex(&p->j, NULL,
                     gcd_graph_notes(p->h->g)->addresses_made_up
                         ? 0
                         : gcd_graph_node_address(p->h->g, node));
        json_put_number(&p->j, NULL, gcd_graph_node_size(p->h->g, node));
        json_put_number(&p->j, NULL, d->objects[i].retained);
        if (i == 0)
            html_put_values(p->h, node, &p->field_values, &p->j);
        json_put_close(&p->j, ']');
    }
    json_put_close(&p->j, ']');
}

/* One row per non-empty generation: its number in GENERATIONS, objects, bytes. */
static void put_detail_generations(struct page *p, const struct html_detail *d)
{
    json_put_open(&p->j, "generations", '[');
    for (size_t i = 0; i < HTML_GENERATIONS; i++) {
        if (d->generations[i].objects == 0)
            continue;
        json_put_open(&p->j, NULL, '[');
        json_put_number(&p->j, NULL, i);
        json_put_number(&p->j, NULL, d->generations[i].objects);
        json_put_number(&p->j, NULL, d->generations[i].bytes);
        json_put_close(&p->j, ']');
    }
    json_put_close(&p->j, ']');
}

static void put_details(struct page *p)
{
    json_put_open(&p->j, "details", '[');
    for (size_t i = 0; i < p->h->detail_count; i++) {
        const struct html_detail *d = &p->h->details[i];
        json_put_open(&p->j, NULL, '{');
        json_put_number(&p->j, "type", p->number[d->type]);
        put_pairs(p, "above", &d->lists[HTML_ABOVE], GCD_TYPE_NONE);
        put_pairs(p, "below", &d->lists[HTML_BELOW], GCD_TYPE_NONE);
        put_pairs(p, "refs", &d->lists[HTML_REFS], d->type);
        put_objects(p, d);
        put_detail_generations(p, d);
        if (d->tree != NULL)
            put_tree(p, "tree", d->tree, true);
        json_put_close(&p->j, '}');
    }
    json_put_close(&p->j, ']');
}

/* One row per type: name, objects, bytes. */
static void put_parts(struct page *p, const char *key, const struct gcd_suspect_part *parts,
                      size_t n)
{
    json_put_open(&p->j, key, '[');
    for (size_t i = 0; i < n; i++) {
        json_put_open(&p->j, NULL, '[');
        json_put_number(&p->j, NULL, p->number[parts[i].type]);
        json_put_number(&p->j, NULL, parts[i].objects);
        json_put_number(&p->j, NULL, parts[i].bytes);
        json_put_close(&p->j, ']');
    }
    json_put_close(&p->j, ']');
}

#define STEP_LABEL_BYTES (GCD_FIELD_LABEL_BYTES + GCD_QUOTED_BYTES + 2)

/* Appends "[\"tenant-42\"]", the key by which step I holds the next one, if it may be seen. */
static void append_key(const struct page *p, const struct gcd_suspect *s, size_t i,
                       char buf[STEP_LABEL_BYTES])
{
    struct gcd_session_entry e;
    struct gcd_text text;
    char quoted[GCD_QUOTED_BYTES];
    size_t n = strlen(buf);
    if (s->path[i].fold != GCD_FOLD_INSIDE && gcd_session_step_entry(s, i, &e) &&
        gcd_session_key(p->h->session, &e, &text, quoted) != NULL)
        (void)snprintf(buf + n, STEP_LABEL_BYTES - n, "[%s]", quoted);
}

/* The number of a root, which may be SIZE_MAX. */
static void put_root(struct page *p, size_t number)
{
    if (number == SIZE_MAX)
        return;
    const struct gcd_root *root = &gcd_graph_summary(p->h->g)->roots[number];
    json_put_number(&p->j, "root_group", gcd_root_group(root));
    json_put_text(&p->j, "root_name", root->label, TEXT_BYTES);
}

/* One row per step: name (-1: omitted objects), number of consecutive objects, bytes that the first
 * one retains, fold or 0, its FIELD that leads to the next one, or the key. */
static void put_step(struct page *p, const struct gcd_suspect_step *step, const char *field)
{
    json_put_open(&p->j, NULL, '[');
    json_put_signed(&p->j, NULL, step->skipped ? -1 : (int64_t)p->number[step->type]);
    json_put_number(&p->j, NULL, step->repeats);
    json_put_number(&p->j, NULL, gcd_dominators_retained(p->h->dominators, step->node));
    json_put_bool(&p->j, NULL, step->dependent);
    json_put_number(&p->j, NULL, step->fold);
    if (field[0] != '\0')
        json_put_text(&p->j, NULL, field, TEXT_BYTES);
    json_put_close(&p->j, ']');
}

static void put_suspect_path(struct page *p, const struct gcd_suspect *s)
{
    if (s->path_count == 0)
        return;
    put_root(p, s->root);
    json_put_open(&p->j, "path", '[');
    for (size_t i = 0; i < s->path_count; i++) {
        char buf[STEP_LABEL_BYTES];
        struct gcd_field field = gcd_suspect_field(s, i, p->h->fields);
        (void)gcd_field_suffix(&field, buf);
        append_key(p, s, i, buf);
        put_step(p, &s->path[i], buf);
    }
    json_put_close(&p->j, ']');
}

/* What several hold: each holder with its path, whose last step is the holder; a static variable is
 * its own path. */
static void put_shared(struct page *p)
{
    size_t n;
    const struct gcd_shared_row *rows = gcd_shared_rows(p->h->shared, &n);
    json_put_open(&p->j, "shared", '[');
    for (size_t i = 0; i < n; i++) {
        json_put_open(&p->j, NULL, '{');
        json_put_number(&p->j, "objects", rows[i].objects);
        json_put_number(&p->j, "bytes", rows[i].bytes);
        put_parts(p, "parts", rows[i].parts, rows[i].part_count);
        json_put_open(&p->j, "holders", '[');
        for (size_t k = 0; k < rows[i].holder_count; k++) {
            char last[GCD_FIELD_LABEL_BYTES], buf[GCD_FIELD_LABEL_BYTES];
            const struct html_shared_path *path = html_shared_path(p->h, i, k, last);
            json_put_open(&p->j, NULL, '{');
            put_root(p, path->root);
            json_put_open(&p->j, "path", '[');
            for (size_t step = 0; step < path->count; step++) {
                const struct gcd_suspect_step *s = &path->steps[step];
                struct gcd_field field = GCD_FIELD_UNKNOWN;
                if (step + 1 < path->count && s->repeats == 1 && !s->skipped && !s[1].skipped)
                    field = gcd_fields_between(p->h->fields, s->node, s[1].node);
                put_step(p, s, step + 1 < path->count ? gcd_field_suffix(&field, buf) : last);
            }
            json_put_close(&p->j, ']');
            json_put_close(&p->j, '}');
        }
        json_put_close(&p->j, ']');
        json_put_close(&p->j, '}');
    }
    json_put_close(&p->j, ']');
}

/* Which keys its collection has, where they may be seen; KEY may be NULL. */
static gcd_status put_keys(struct page *p, const char *key, const struct gcd_suspect *s,
                           struct gcd_error *err)
{
    char text[GCD_KEYS_BYTES];
    GCD_TRY(gcd_session_suspect_keys(p->h->session, s, NULL, text, err));
    if (text[0] != '\0')
        json_put_text(&p->j, key, text, GCD_KEYS_BYTES);
    return GCD_OK;
}

/* Where it was allocated, if that was sampled. */
static gcd_status put_suspect_site(struct page *p, const struct gcd_suspect *s,
                                   struct gcd_error *err)
{
    struct gcd_site_parts parts;
    char text[GCD_SITE_TEXT_BYTES];
    if (p->h->sites == NULL)
        return GCD_OK;
    GCD_TRY(gcd_site_parts_of(p->h->sites, p->h->g, p->h->dominators, s, &parts, err));
    gcd_site_parts_text(&parts, p->h->sites->sites, text);
    if (text[0] != '\0')
        json_put_text(&p->j, "allocated", text, TEXT_BYTES);
    gcd_site_parts_done(&parts);
    return GCD_OK;
}

/* How S has grown, if that is known. */
static void put_growth(struct page *p, const struct gcd_page_growth *growth)
{
    if (growth == NULL)
        return;
    json_put_signed(&p->j, "grown", growth->grown);
    json_put_bool(&p->j, "worth", growth->worth);
    json_put_text(&p->j, "growth", growth->said, TEXT_BYTES);
}

/* GROWTH may be NULL. */
static gcd_status put_suspect(struct page *p, const struct gcd_suspect *s,
                              const struct gcd_page_growth *growth, struct gcd_error *err)
{
    json_put_open(&p->j, NULL, '{');
    json_put_text(&p->j, "title", gcd_suspect_kind_title(s->kind), TEXT_BYTES);
    json_put_text(&p->j, "sentence", s->sentence, TEXT_BYTES);
    GCD_TRY(put_keys(p, "keys", s, err));
    GCD_TRY(put_suspect_site(p, s, err));
    json_put_text(&p->j, "advice", growth != NULL ? growth->advice : s->advice, TEXT_BYTES);
    json_put_text(&p->j, "evidence", growth != NULL ? growth->evidence : s->evidence, TEXT_BYTES);
    if (s->size_only && growth == NULL)
        json_put_bool(&p->j, "size_only", true);
    if (gcd_suspect_kind_is_free(s->kind))
        json_put_bool(&p->j, "free", true);
    json_put_text(&p->j, "place", s->place, TEXT_BYTES);
    json_put_text(&p->j, "what", s->what, TEXT_BYTES);
    put_growth(p, growth);
    json_put_number(&p->j, "objects", s->objects);
    json_put_number(&p->j, "bytes", s->bytes);
    json_put_number(&p->j, "retained", s->retained_bytes);
    json_put_bool(&p->j, "counted", html_is_counted(s));
    put_suspect_path(p, s);
    put_parts(p, "held", s->held, s->held_count);
    put_parts(p, "content", s->content, s->content_count);
    if (has_elements(s)) { /* whoever else holds them */
        json_put_open(&p->j, "elements", '[');
        json_put_number(&p->j, NULL, p->number[s->element.type]);
        json_put_number(&p->j, NULL, s->element.objects);
        if (strcmp(s->collection, "array") == 0)
            json_put_number(&p->j, NULL, s->elements);
        json_put_close(&p->j, ']');
    }
    put_parts(p, "own", s->own, s->own_count);
    json_put_close(&p->j, '}');
    return GCD_OK;
}

static gcd_status put_suspects(struct page *p, struct gcd_error *err)
{
    const struct gcd_page_growth *growth;
    json_put_open(&p->j, "suspects", '[');
    for (size_t i = 0; i < suspect_count(p); i++) {
        const struct gcd_suspect *s = html_suspect(p->h, i, &growth);
        GCD_TRY(put_suspect(p, s, growth, err));
    }
    json_put_close(&p->j, ']');
    json_put_open(&p->j, "consumer", '[');
    if (has_consumer(p))
        GCD_TRY(put_suspect(p, gcd_suspects_get(p->h->consumer, 0), NULL, err));
    json_put_close(&p->j, ']');
    return GCD_OK;
}

static gcd_status put_notes(struct page *p, struct gcd_error *err)
{
    json_put_open(&p->j, "notes", '[');
    for (size_t i = 0; i < gcd_suspects_note_count(p->h->suspects); i++) {
        const struct gcd_suspect *s = gcd_suspects_note(p->h->suspects, i);
        json_put_open(&p->j, NULL, '[');
        json_put_text(&p->j, NULL, s->sentence, TEXT_BYTES);
        GCD_TRY(put_keys(p, NULL, s, err));
        json_put_text(&p->j, NULL, s->advice, TEXT_BYTES);
        json_put_close(&p->j, ']');
    }
    json_put_close(&p->j, ']');
    return GCD_OK;
}

/* Notes, for a second dump that is dropped on the page: the owner or the static variable, the
 * program's types in it, is its limit known, the advice. */
static void put_designs(struct page *p)
{
    json_put_open(&p->j, "designs", '[');
    for (size_t i = 0; i < gcd_suspects_note_count(p->h->suspects); i++) {
        const struct gcd_suspect *s = gcd_suspects_note(p->h->suspects, i);
        if (!is_design(p, s))
            continue;
        json_put_open(&p->j, NULL, '[');
        if (s->owner != GCD_TYPE_NONE)
            json_put_number(&p->j, NULL, p->number[s->owner]);
        else
            json_put_text(&p->j, NULL, s->place, TEXT_BYTES);
        json_put_open(&p->j, NULL, '[');
        if (s->element.type != GCD_TYPE_NONE)
            json_put_number(&p->j, NULL, p->number[s->element.type]);
        for (size_t k = 0; k < s->own_count; k++)
            json_put_number(&p->j, NULL, p->number[s->own[k].type]);
        json_put_close(&p->j, ']');
        json_put_bool(&p->j, NULL, s->limited);
        json_put_text(&p->j, NULL, s->advice, TEXT_BYTES);
        json_put_close(&p->j, ']');
    }
    json_put_close(&p->j, ']');
}

/* A name of a field is seldom longer. */
#define LIMIT_NAME_MAX 100u

/* One row per type: owner, it, owners, elements, the most in one, owners with as many, with nearly
 * as many; the field that limits each owner, and its value. */
static void put_fills(struct page *p)
{
    json_put_open(&p->j, "fills", '[');
    for (size_t i = 0; i < p->h->fills.count; i++) {
        const struct gcd_owner_fill *f = &p->h->fills.rows[i];
        json_put_open(&p->j, NULL, '[');
        json_put_number(&p->j, NULL, p->number[f->owner]);
        json_put_number(&p->j, NULL, p->number[f->element]);
        json_put_number(&p->j, NULL, f->owners);
        json_put_number(&p->j, NULL, f->elements);
        json_put_number(&p->j, NULL, f->most);
        json_put_number(&p->j, NULL, f->full);
        json_put_number(&p->j, NULL, f->nearly);
        if (p->h->limits[i].field != NULL) {
            json_put_text(&p->j, NULL, p->h->limits[i].field, LIMIT_NAME_MAX);
            json_put_number(&p->j, NULL, p->h->limits[i].number);
        }
        json_put_close(&p->j, ']');
    }
    json_put_close(&p->j, ']');
}

/* All kinds that were checked. */
static void put_checks(struct page *p)
{
    json_put_open(&p->j, "checks", '[');
    for (unsigned i = 0; i < GCD_SUSPECT_KINDS; i++) {
        const struct gcd_suspect_check *c =
            gcd_suspects_check(p->h->suspects, (enum gcd_suspect_kind)i);
        json_put_open(&p->j, NULL, '[');
        json_put_text(&p->j, NULL, gcd_suspect_kind_title((enum gcd_suspect_kind)i), TEXT_BYTES);
        json_put_text(&p->j, NULL, c->what, TEXT_BYTES);
        json_put_number(&p->j, NULL, c->found);
        json_put_number(&p->j, NULL, c->objects);
        json_put_number(&p->j, NULL, c->least_objects);
        json_put_number(&p->j, NULL, c->bytes);
        json_put_number(&p->j, NULL, c->least_bytes);
        json_put_close(&p->j, ']');
    }
    json_put_close(&p->j, ']');
}

/* Nothing if no ranges were recorded. */
static void put_generations(struct page *p)
{
    json_put_open(&p->j, "generations", '[');
    for (size_t i = 0; i < HTML_GENERATIONS && gcd_graph_summary(p->h->g)->range_count > 0; i++) {
        const struct gcd_generation *g = &p->h->generations[i];
        json_put_open(&p->j, NULL, '[');
        json_put_number(&p->j, NULL, g->objects);
        json_put_number(&p->j, NULL, g->bytes);
        json_put_number(&p->j, NULL, g->ranges);
        json_put_number(&p->j, NULL,
                        g->used_bytes -
                            (g->aligned_bytes < g->used_bytes ? g->aligned_bytes : g->used_bytes));
        json_put_number(&p->j, NULL, g->reserved_bytes);
        json_put_close(&p->j, ']');
    }
    json_put_close(&p->j, ']');
}

/* Ends a line; no JSON text contains a line break.  The page parses the lines of large parts when a
 * view needs them (data.js). */
static void end_line(struct page *p)
{
    gcd_sink_write(p->j.s, "\n", 1);
}

static void put_large_parts(struct page *p)
{
    end_line(p);
    put_tree(p, "tree", p->h->tree, false);
    end_line(p);
    put_paths(p);
    end_line(p);
    put_details(p);
    end_line(p);
}

static gcd_status put_all(struct page *p, const char *key, size_t *ret_others,
                          struct gcd_error *err)
{
    json_put_open(&p->j, key, '{');
    json_put_text(&p->j, "kind", "heap", TEXT_BYTES);
    json_put_text(&p->j, "start", p->h->role->start, TEXT_BYTES);
    json_put_text(&p->j, "gcdumpc", GCDUMPC_VERSION, TEXT_BYTES);
    json_put_verdict(&p->j, &gcd_graph_summary(p->h->g)->verdict);
    put_process(p);
    put_loss(p);
    put_gc(p);
    put_totals(p);
    put_memory(p);
    put_memory_parts(p);
    put_names(p);
    GCD_TRY(html_put_outer(p->h, p->number, &p->j, err));
    put_types(p);
    put_large(p);
    put_large_parts(p);
    GCD_TRY(put_suspects(p, err));
    json_put_text(&p->j, "headline", p->h->headline, TEXT_BYTES);
    json_put_number(&p->j, "suspect_bytes", gcd_suspects_threshold(p->h->suspects));
    GCD_TRY(put_notes(p, err));
    put_shared(p);
    put_designs(p);
    if (!p->h->role->part)
        put_fills(p);
    put_parts(p, "dead", p->h->dead, p->h->dead_count);
    json_put_number(&p->j, "dead_types", p->h->dead_types);
    put_checks(p);
    put_generations(p);
    GCD_TRY(html_put_sites(p->h, p->number, &p->j, err));
    GCD_TRY(html_put_waits(p->h, p->number, &p->j, err));
    uint64_t used = gcd_sink_bytes(p->j.s) + BEHIND_BYTES;
    GCD_TRY(html_put_rest(p->h, used < PAGE_BYTES ? PAGE_BYTES - used : 0, &p->j, ret_others, err));
    json_put_close(&p->j, '}');
    return GCD_OK;
}

gcd_status html_json_put(const struct html_data *h, struct json_put *j, const char *key,
                         size_t *ret_others, struct gcd_error *err)
{
    const struct gcd_alloc *a = &h->alloc;
    struct page p = { .h = h, .j = *j, .field_values = HTML_FIELD_VALUES };
    gcd_status st = GCD_OK;
    uint32_t labels = gcd_merged_tree_label_count(h->by_paths),
             slots = gcd_fields_slot_count(h->fields) + 1;
    p.number = gcd_mem_new_uncleared(a, labels, sizeof *p.number);
    p.labels = gcd_mem_new_uncleared(a, labels, sizeof *p.labels);
    p.field = gcd_mem_new_array(a, slots, sizeof *p.field);
    p.slots = gcd_mem_new_uncleared(a, slots, sizeof *p.slots);
    if (p.number == NULL || p.labels == NULL || p.field == NULL || p.slots == NULL) {
        st = gcd_fail_nomem(err, "numbering names");
    } else {
        memset(p.number, 0xff, labels * sizeof *p.number); /* UINT32_MAX */
        use_all(&p);
        st = put_all(&p, key, ret_others, err);
        *j = p.j;
    }
    gcd_mem_free(a, p.number, labels * sizeof *p.number);
    gcd_mem_free(a, p.labels, labels * sizeof *p.labels);
    gcd_mem_free(a, p.field, slots * sizeof *p.field);
    gcd_mem_free(a, p.slots, slots * sizeof *p.slots);
    return st;
}
