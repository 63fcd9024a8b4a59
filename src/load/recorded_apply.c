/* Puts the names from the recording into the summary. */
#include <string.h>

#include <gcdumpc/unstable/loads.h>

#include "base/error.h"
#include "load/load.h"

/* The items of KIND in batch B. */
struct items {
    const struct heap_recorded_item *list;
    size_t count;
    struct gcd_idmap by_id;
};

static gcd_status index_items(const struct gcd_dump *d, const struct heap_batch *b,
                              enum recorded_kind kind, struct items *ret, struct gcd_error *err)
{
    ret->list = b->counts[kind] > 0 ? d->heap->recorded.items[kind] + b->first[kind] : NULL;
    ret->count = b->counts[kind];
    for (size_t i = 0; i < ret->count && i < GCD_IDMAP_NONE; i++)
        if (!gcd_idmap_put(&ret->by_id, ret->list[i].id, (uint32_t)i))
            return gcd_fail_nomem(err, "reading recorded names");
    return GCD_OK;
}

static const struct heap_recorded_item *find(const struct items *in, uint64_t id)
{
    uint32_t i = gcd_idmap_get(&in->by_id, id);
    return i != GCD_IDMAP_NONE ? &in->list[i] : NULL;
}

static void apply_module(struct gcd_module *m, const struct heap_recorded_item *from, bool whole)
{
    if (!whole) {
        m->problem = "its names in the recording are not complete";
        return;
    }
    if (m->native) /* its names are those of its types: see below */
        m->build_id = from->text[2][0] != '\0' ? from->text[2] : NULL;
    else
        load_identify(m, GCD_MODULE_RECORDED, from->mvid,
                      from->has_public_key ? from->public_key_token : NULL);
    if (m->assembly[0] == '\0')
        m->assembly = from->text[0];
    if (m->path[0] == '\0')
        m->path = from->text[1];
}

/* Types take the path from their module, which may have just received it. */
static void apply_path(const struct gcd_dump *d, struct gcd_type *t)
{
    const struct gcd_module *m =
        t->module_number != GCD_MODULE_NONE ? &d->modules[t->module_number] : NULL;
    if (m != NULL && m->state == GCD_MODULE_RECORDED && t->module_path[0] == '\0')
        t->module_path = gcd_module_label(m);
}

static void apply_static(struct gcd_root *r, const struct heap_recorded_item *from)
{
    if (strcmp(r->name, from->text[0]) != 0 || from->text[2][0] == '\0')
        return;
    r->class_name = from->text[1];
    r->label = from->text[2];
}

static void apply_thread(struct gcd_root *r, const struct heap_recorded_item *from)
{
    r->name = from->text[0];
    r->label = from->text[1];
}

/* The name of a type of a native program. */
static gcd_status apply_native(struct gcd_dump *d, struct gcd_type *t, const char *name,
                               struct gcd_error *err)
{
    if ((t->flags & GCD_TYPE_NATIVE) == 0 || name[0] == '\0' || t->module_number == GCD_MODULE_NONE)
        return GCD_OK;
    d->modules[t->module_number].state = GCD_MODULE_RECORDED;
    return load_name_native(d, t, name, strlen(name), err);
}

static gcd_status apply(struct gcd_dump *d, struct items in[RECORDED_KINDS], bool whole,
                        struct gcd_error *err)
{
    const struct heap_recorded_item *from;
    for (size_t i = 0; i < d->summary.module_count; i++)
        if ((from = find(&in[RECORDED_MODULES], d->modules[i].id)) != NULL)
            apply_module(&d->modules[i], from, whole);
    for (uint32_t i = 0; i < d->type_count && whole; i++) {
        apply_path(d, &d->types[i]);
        if (!d->options.no_layouts && (from = find(&in[RECORDED_LAYOUTS], d->types[i].id)) != NULL)
            d->types[i].layout = from->text[0];
        if ((from = find(&in[RECORDED_TYPES], d->types[i].id)) == NULL)
            continue;
        if (from->text[0][0] != '\0')
            GCD_TRY(load_nest(d, &d->types[i], from->text[0], strlen(from->text[0]), err));
        GCD_TRY(apply_native(d, &d->types[i], from->text[2], err));
        d->types[i].events = from->text[1][0] != '\0' ? from->text[1] : NULL;
    }
    for (size_t i = 0; i < d->summary.root_count && whole; i++)
        if (d->roots[i].kind == GCD_ROOT_STATIC &&
            (from = find(&in[RECORDED_STATICS], d->roots[i].id)) != NULL)
            apply_static(&d->roots[i], from);
        else if (d->roots[i].kind == GCD_ROOT_STACK &&
                 (from = find(&in[RECORDED_THREADS], d->roots[i].id)) != NULL)
            apply_thread(&d->roots[i], from);
    return GCD_OK;
}

gcd_status load_recorded_names(struct gcd_dump *d, struct gcd_error *err)
{
    struct items in[RECORDED_KINDS];
    bool whole;
    const struct heap_batch *b = heap_recorded_batch(d->heap, &whole);
    gcd_status st = GCD_OK;
    if (b == NULL)
        return GCD_OK;
    for (size_t i = 0; i < RECORDED_KINDS; i++) {
        in[i] = (struct items){ .list = NULL };
        gcd_idmap_init(&in[i].by_id, &d->alloc);
    }
    for (size_t i = 0; i < RECORDED_KINDS && st == GCD_OK; i++)
        st = index_items(d, b, (enum recorded_kind)i, &in[i], err);
    if (st == GCD_OK)
        st = apply(d, in, whole, err);
    for (size_t i = 0; i < RECORDED_KINDS; i++)
        gcd_idmap_done(&in[i].by_id);
    return st;
}
