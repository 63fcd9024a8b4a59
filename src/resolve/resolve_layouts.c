/*
 * The layouts of the types of a dump, from the files of its modules.  A file is opened when a type
 * in it is needed, and a few stay open.
 */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/signature.h"
#include "layout/layout.h"
#include "resolve/resolve.h"

#define NESTING_MAX   64u
#define ARGUMENTS_MAX 64u

/* What a type of the heap is among the layouts. */
enum { TYPE_UNSEEN = LAYOUT_NONE, TYPE_VISITED = LAYOUT_NONE - 1 };

struct layouts {
    struct resolve *r;
    struct layout *l;
    struct resolve_file open[LAYOUT_OPEN_MAX];
    uint32_t module[LAYOUT_OPEN_MAX]; /* whose files they are */
    struct layout_module *modules;    /* [r->module_count] */
    uint32_t *same;                   /* [r->module_count] the first module with the same file */
    uint32_t *types;                  /* [heap.type_count] */
};

static gcd_status open_module(void *ctx, uint32_t module, unsigned place, struct gcd_metadata **ret,
                              struct gcd_error *err)
{
    struct layouts *y = ctx;
    gcd_status st = resolve_open_again(y->r, module, &y->open[place], err);
    if (st == GCD_OK)
        *ret = y->open[place].m;
    y->module[place] = module;
    return st;
}

static void close_module(void *ctx, unsigned place)
{
    struct layouts *y = ctx;
    resolve_put_back(y->r, y->module[place], &y->open[place]);
}

/* The name of a module's assembly; a module that no event describes has only its path. */
static gcd_status name_assembly(struct layouts *y, uint32_t module, struct gcd_error *err)
{
    const struct gcd_module *m = &y->r->d->modules[module];
    size_t n;
    const char *name = gcd_module_name(m->path, &n);
    if (m->assembly[0] != '\0') {
        y->modules[module].assembly = m->assembly;
        return GCD_OK;
    }
    gcd_status st = gcd_textpool_add(&y->r->text, name, n, &y->modules[module].assembly);
    return st == GCD_E_NOMEM ? gcd_fail_nomem(err, "finding the fields of types") : GCD_OK;
}

static gcd_status name_modules(struct layouts *y, struct gcd_error *err)
{
    struct gcd_idmap by_mvid;
    gcd_status st = GCD_OK;
    gcd_idmap_init(&by_mvid, y->r->alloc);
    for (uint32_t i = 0; i < y->r->module_count && st == GCD_OK; i++) {
        const struct gcd_module *m = &y->r->d->modules[i], *other;
        y->same[i] = i;
        if (m->native)
            continue;
        if (m->state == GCD_MODULE_RECORDED)
            st = resolve_find_recorded(y->r, i, err);
        if (st != GCD_OK || (m->state != GCD_MODULE_READ && !y->r->modules[i].found))
            continue;
        uint64_t hash = gcd_text_hash((const char *)m->mvid, sizeof m->mvid, GCD_TEXT_HASH);
        uint32_t first = gcd_idmap_get(&by_mvid, hash);
        other = first != GCD_IDMAP_NONE ? &y->r->d->modules[first] : NULL;
        if (other != NULL && memcmp(other->mvid, m->mvid, sizeof m->mvid) == 0)
            y->same[i] = first;
        else if (!gcd_idmap_put(&by_mvid, hash, i))
            st = gcd_fail_nomem(err, "finding the fields of types");
        else
            st = name_assembly(y, i, err);
    }
    gcd_idmap_done(&by_mvid);
    return st;
}

/* ---- types of the heap ---- */

/* The rank of array type T, 0 = a vector; UINT32_MAX = it is no array. */
static uint32_t rank_of_array(const struct heap_type *t)
{
    size_t n = strlen(t->type.name);
    uint32_t rank = 1;
    if (t->element == 0 || n == 0 || t->type.name[n - 1] != ']')
        return UINT32_MAX;
    const char *p = t->type.name + n - 2;
    if (*p == '[')
        return 0;
    for (; p > t->type.name && (*p == ',' || *p == '*'); p--)
        rank += *p == ',';
    return *p == '[' ? rank : UINT32_MAX;
}

/* Number of types that T consists of, and type I of them in the heap; GCD_IDMAP_NONE = unknown. */
static uint32_t part_count(const struct heap_type *t)
{
    return t->definition ? t->parameter_count : t->element != 0;
}

static uint32_t part_of(const struct gcd_heap *h, const struct heap_type *t, uint32_t i)
{
    return gcd_idmap_get(&h->type_by_id,
                         t->definition ? h->parameters[t->first_parameter + i] : t->element);
}

/* The type of T, whose parts are known. */
static gcd_status compose(struct layouts *y, const struct heap_type *t, uint32_t *ret,
                          struct gcd_error *err)
{
    uint32_t parts[ARGUMENTS_MAX], n = part_count(t);
    const struct gcd_heap *h = y->r->d->heap;
    bool value = !gcd_element_is_reference(t->type.element_type);
    if (!t->type.described || heap_type_doubtful(h, t) || n > ARGUMENTS_MAX)
        return layout_unknown(y->l, value, ret, err);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t part = part_of(h, t, i);
        if (part == GCD_IDMAP_NONE || y->types[part] >= TYPE_VISITED)
            GCD_TRY(layout_unknown(y->l, true, &parts[i], err));
        else
            parts[i] = y->types[part];
    }
    if (!t->definition) {
        uint32_t rank = rank_of_array(t);
        if (rank == UINT32_MAX)
            return layout_plain(y->l, ELEMENT_PTR, ret, err);
        return layout_array(y->l, parts[0], rank, ret, err);
    }
    uint32_t module = gcd_idmap_get(&y->r->module_by_id, t->type.module);
    if (module == GCD_IDMAP_NONE || y->modules[y->same[module]].assembly == NULL)
        return layout_unknown(y->l, value, ret, err);
    struct layout_name name = { y->same[module],
                                GCD_TOKEN_TYPE | (t->type.name_token & UINT32_C(0xffffff)),
                                value,
                                { parts, n } };
    return layout_named(y->l, &name, ret, err);
}

/* The type of heap type WANTED, after those that it consists of. */
static gcd_status find_type(struct layouts *y, uint32_t wanted, struct gcd_error *err)
{
    const struct gcd_heap *h = y->r->d->heap;
    uint32_t stack[NESTING_MAX];
    unsigned depth = 0;
    stack[depth++] = wanted;
    while (depth > 0) {
        uint32_t i = stack[depth - 1], missing = GCD_IDMAP_NONE;
        const struct heap_type *t = &h->types[i];
        if (y->types[i] < TYPE_VISITED) {
            depth--;
            continue;
        }
        y->types[i] = TYPE_VISITED;
        for (uint32_t k = 0; k < part_count(t) && missing == GCD_IDMAP_NONE; k++) {
            uint32_t part = part_of(h, t, k);
            if (part != GCD_IDMAP_NONE && y->types[part] == TYPE_UNSEEN)
                missing = part;
        }
        if (missing != GCD_IDMAP_NONE && depth < NESTING_MAX) {
            stack[depth++] = missing;
            continue;
        }
        uint32_t type;
        GCD_TRY(compose(y, t, &type, err));
        y->types[i] = type;
        depth--;
    }
    return GCD_OK;
}

static gcd_status find_layouts(struct layouts *y, struct gcd_error *err)
{
    struct gcd_dump *d = y->r->d;
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < d->type_count; i++) {
            uint32_t type = gcd_idmap_get(&d->heap->type_by_id, d->types[i].id);
            const char *text = "";
            if (type == GCD_IDMAP_NONE || d->types[i].objects == 0)
                continue;
            if (i % 64 == 0)
                GCD_TRY(gcd_check_canceled(d->options.context.cancel, err));
            if (pass == 0) {
                GCD_TRY(find_type(y, type, err));
                GCD_TRY(layout_find_slots(y->l, y->types[type], err));
                continue;
            }
            GCD_TRY(layout_describe(y->l, y->types[type], &text, err));
            if (text[0] != '\0')
                GCD_TRY(heap_text(d->heap, text, strlen(text), &d->types[i].layout, err));
        }
    return GCD_OK;
}

/* Keys have a meaning only among layouts that were found together. */
static bool has_layouts(const struct gcd_dump *d)
{
    for (uint32_t i = 0; i < d->type_count; i++)
        if (d->types[i].layout != NULL)
            return true;
    return false;
}

gcd_status resolve_layouts(struct resolve *r, struct gcd_error *err)
{
    if (has_layouts(r->d))
        return GCD_OK;
    struct layouts y = { .r = r };
    struct layout_files files = { &y, open_module, close_module };
    size_t types = r->d->heap->type_count;
    y.modules = gcd_mem_new_array(r->alloc, r->module_count, sizeof *y.modules);
    y.same = gcd_mem_new_array(r->alloc, r->module_count, sizeof *y.same);
    y.types = gcd_mem_new_array(r->alloc, types, sizeof *y.types);
    bool room = (r->module_count == 0 || (y.modules != NULL && y.same != NULL)) &&
                (types == 0 || y.types != NULL);
    gcd_status st =
        room ? name_modules(&y, err) : gcd_fail_nomem(err, "finding the fields of types");
    for (size_t i = 0; i < types && room; i++)
        y.types[i] = TYPE_UNSEEN;
    if (st == GCD_OK)
        st = layout_new(r->alloc, &files, y.modules, (uint32_t)r->module_count, &y.l, err);
    if (st == GCD_OK)
        st = find_layouts(&y, err);
    layout_free(y.l);
    gcd_mem_free(r->alloc, y.modules, r->module_count * sizeof *y.modules);
    gcd_mem_free(r->alloc, y.same, r->module_count * sizeof *y.same);
    gcd_mem_free(r->alloc, y.types, types * sizeof *y.types);
    return st;
}
