#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/signature.h"
#include "clr/clr_ids.h"
#include "heap/heap.h"

#define TYPE_FLAG_ARRAY UINT32_C(8)

static gcd_status text_error(gcd_status st, struct gcd_error *err)
{
    if (st == GCD_E_LIMIT)
        return gcd_fail(err, st, "the names in the trace exceed the limit for text");
    return st == GCD_OK ? st : gcd_fail_nomem(err, "reading names");
}

gcd_status heap_text_utf16(struct gcd_heap *h, const uint8_t *p, size_t units, const char **ret,
                           struct gcd_error *err)
{
    return text_error(gcd_textpool_add_utf16(&h->text, p, units, ret), err);
}

gcd_status heap_text(struct gcd_heap *h, const char *s, size_t n, const char **ret,
                     struct gcd_error *err)
{
    return text_error(gcd_textpool_add(&h->text, s, n, ret), err);
}

gcd_status heap_type_index(struct gcd_heap *h, uint64_t id, uint32_t *ret, struct gcd_error *err)
{
    uint32_t i = gcd_idmap_get(&h->type_by_id, id);
    if (i == GCD_IDMAP_NONE) {
        if (h->type_count >= h->limits.types)
            return gcd_fail(err, GCD_E_LIMIT, "more than %zu types", h->type_count);
        if (!gcd_vec_reserve(&h->alloc, &h->types, &h->type_cap, h->type_count + 1,
                             sizeof *h->types, GCD_IDMAP_NONE) ||
            !gcd_idmap_put(&h->type_by_id, id, (uint32_t)h->type_count))
            return gcd_fail_nomem(err, "reading the type table");
        i = (uint32_t)h->type_count++;
        h->types[i] = (struct heap_type){ .known = { .before = GCD_IDMAP_NONE },
                                          .type = { .id = id, .name = "", .module_path = "" } };
    }
    *ret = i;
    return GCD_OK;
}

/* A record without a name (names not requested, Native AOT) still has a number that can be looked
 * up; spelled as in the .NET tools. */
static gcd_status placeholder_name(struct gcd_heap *h, const struct gcd_clr_type *t,
                                   const char **ret, struct gcd_error *err)
{
    char buf[48];
    int n = snprintf(buf, sizeof buf, "%s(0x%" PRIx32 ")",
                     t->flags & TYPE_FLAG_ARRAY ? "ArrayType" : "Type", t->name_token);
    return heap_text(h, buf, (size_t)n, ret, err);
}

/* Hash of a name in MODULE, 0 = none; 0 for no name. */
static uint64_t hash_of(const uint8_t *utf16, size_t units, uint64_t module)
{
    uint64_t h = gcd_text_hash((const char *)&module, sizeof module, GCD_TEXT_HASH);
    return units > 0 ? gcd_text_hash((const char *)utf16, 2 * units, h) | 1 : 0;
}

/* Types, modules or assemblies: each item begins with a struct heap_known. */
struct table {
    void *items; /* points to the pointer to the items */
    size_t *cap, *count, item_bytes;
    struct gcd_idmap *by_id;
};

static struct table types_of(struct gcd_heap *h)
{
    return (struct table){ &h->types, &h->type_cap, &h->type_count, sizeof *h->types, NULL };
}

static struct table modules_of(struct gcd_heap *h)
{
    return (struct table){ &h->modules, &h->module_cap, &h->module_count, sizeof *h->modules,
                           &h->module_by_id };
}

static struct table assemblies_of(struct gcd_heap *h)
{
    return (struct table){ &h->assemblies, &h->assembly_cap, &h->assembly_count,
                           sizeof *h->assemblies, &h->assembly_by_id };
}

/* Item I of T gets a new description: moves the old one to a further item. */
static gcd_status keep_copy(struct gcd_heap *h, struct table t, uint32_t i, struct gcd_error *err)
{
    char *base;
    struct heap_known *known;
    if (*t.count >= h->limits.types)
        return gcd_fail(err, GCD_E_LIMIT, "more than %zu types or modules", *t.count);
    if (!gcd_vec_reserve(&h->alloc, t.items, t.cap, *t.count + 1, t.item_bytes, GCD_IDMAP_NONE))
        return gcd_fail_nomem(err, "reading the type table");
    memcpy(&base, t.items, sizeof base);
    memcpy(base + *t.count * t.item_bytes, base + i * t.item_bytes, t.item_bytes);
    known = (struct heap_known *)(base + *t.count * t.item_bytes);
    known->copy = true;
    known = (struct heap_known *)(base + i * t.item_bytes);
    known->before = (uint32_t)(*t.count)++;
    return GCD_OK;
}

/* What an event describes: EVENT is its type, module or assembly. */
struct description {
    const void *event;
    uint64_t hash; /* of its name */
};

/* Among the items of T with the id of item I, the one that an event at NS repeats; GCD_IDMAP_NONE =
 * none. */
static uint32_t find_same(struct table t, uint32_t i, struct description d,
                          bool (*is_same)(const struct heap_known *, const void *), int64_t ns)
{
    struct heap_known_query q = { .item_bytes = t.item_bytes,
                                  .is_same = is_same,
                                  .description = &d };
    memcpy(&q.items, t.items, sizeof q.items);
    return heap_known_find(&q, i, ns);
}

/* A record without a name proves nothing: perhaps only one of the sessions requested names. */
static bool is_same_type(const struct heap_known *k, const void *description)
{
    const struct heap_type *a = (const struct heap_type *)k;
    const struct description *d = description;
    const struct gcd_clr_type *b = d->event;
    return a->type.described && a->type.module == b->module &&
           a->type.name_token == b->name_token && a->type.flags == b->flags &&
           a->type.element_type == b->element_type &&
           (k->text_hash == d->hash || k->text_hash == 0 || d->hash == 0);
}

/*
 * An array has token 0, a pointer or function pointer any token (measured, .NET 10); the only
 * parameter of an array or pointer is its element or target type.
 */
static bool is_definition(const struct gcd_clr_type *t)
{
    uint16_t last = t->name_units > 0 ? gcd_le16(t->name + 2 * (t->name_units - 1)) : 0;
    return (t->name_token & 0xffffff) != 0 && t->element_type != ELEMENT_FNPTR && last != '*' &&
           last != '&';
}

static gcd_status describe_type(struct gcd_heap *h, uint32_t i, const struct gcd_clr_type *t,
                                int64_t ns, struct gcd_error *err)
{
    uint64_t hash = hash_of(t->name, t->name_units, t->module);
    uint32_t same = find_same(types_of(h), i, (struct description){ t, hash }, is_same_type, ns);
    struct heap_type *to = &h->types[i];
    if (same != GCD_IDMAP_NONE) {
        to = &h->types[same];
        heap_known_extend(&to->known, ns, HEAP_SEEN);
        if (to->type.named || t->name_units == 0)
            return GCD_OK;
        to->known.text_hash = hash;
    } else {
        if (to->type.described)
            GCD_TRY(keep_copy(h, types_of(h), i, err));
        to = &h->types[i];
        heap_known_begin(&to->known, ns, hash, HEAP_SEEN);
    }
    to->type.named = t->name_units > 0;
    to->type.module = t->module;
    to->type.name_token = t->name_token;
    to->type.flags = t->flags;
    to->type.element_type = t->element_type;
    to->definition = is_definition(t);
    to->element = to->definition || t->parameter_count != 1 ? 0 : gcd_le64(t->parameters);
    if (!gcd_vec_reserve(&h->alloc, &h->parameters, &h->parameter_cap,
                         h->parameter_count + t->parameter_count, sizeof *h->parameters, SIZE_MAX))
        return gcd_fail_nomem(err, "reading the type table");
    to->first_parameter = h->parameter_count;
    to->parameter_count = t->parameter_count;
    for (uint32_t k = 0; k < t->parameter_count; k++)
        h->parameters[h->parameter_count++] = gcd_le64(t->parameters + 8 * (size_t)k);
    to->type.described = true;
    if (to->type.named)
        return heap_text_utf16(h, t->name, t->name_units, &to->type.name, err);
    return placeholder_name(h, t, &to->type.name, err);
}

/* Types are sent once per process and session, anywhere: before the GC, between the nodes, after
 * the last of them. */
gcd_status heap_bulk_type(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    struct gcd_cur items;
    uint32_t count;
    struct gcd_clr_type t;
    gcd_status st = gcd_clr_bulk_type(ev, &items, &count);
    if (st != GCD_OK)
        return st;
    for (uint32_t n = 0; n < count; n++) {
        if (!gcd_clr_next_type(&items, &t))
            return items.err;
        uint32_t i;
        GCD_TRY(heap_type_index(h, t.id, &i, err));
        GCD_TRY(describe_type(h, i, &t, ev->time_ns, err));
    }
    return GCD_OK;
}

/* The item of ID in T, created if new. */
static gcd_status item_of(struct gcd_heap *h, struct table t, uint64_t id, uint32_t *ret,
                          struct gcd_error *err)
{
    *ret = gcd_idmap_get(t.by_id, id);
    if (*ret != GCD_IDMAP_NONE)
        return GCD_OK;
    if (*t.count >= h->limits.types)
        return gcd_fail(err, GCD_E_LIMIT, "more than %zu modules", *t.count);
    if (!gcd_vec_reserve(&h->alloc, t.items, t.cap, *t.count + 1, t.item_bytes, GCD_IDMAP_NONE) ||
        !gcd_idmap_put(t.by_id, id, (uint32_t)*t.count))
        return gcd_fail_nomem(err, "reading module names");
    *ret = (uint32_t)(*t.count)++;
    return GCD_OK;
}

/* For the runtime's own provider; the rundown uses the same numbers for other events. */
static enum heap_moment moment_of(const struct gcd_event *ev)
{
    if (ev->provider != GCD_PROVIDER_RUNTIME)
        return HEAP_SEEN;
    return ev->id == GCD_EV_MODULE_UNLOAD || ev->id == GCD_EV_ASSEMBLY_UNLOAD ? HEAP_UNLOADED
                                                                              : HEAP_LOADED;
}

static bool is_same_module(const struct heap_known *k, const void *description)
{
    const struct description *d = description;
    const struct gcd_clr_module *m = d->event;
    return ((const struct heap_module *)k)->assembly == m->assembly && k->text_hash == d->hash;
}

gcd_status heap_module(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    struct gcd_clr_module m;
    uint32_t i;
    gcd_status st = gcd_clr_module(ev, &m);
    if (st != GCD_OK)
        return st;
    uint64_t hash = hash_of(m.path, m.path_units, 0);
    size_t before = h->module_count;
    GCD_TRY(item_of(h, modules_of(h), m.id, &i, err));
    if (h->module_count > before) {
        h->modules[i].known.before = GCD_IDMAP_NONE;
    } else {
        uint32_t same = find_same(modules_of(h), i, (struct description){ &m, hash },
                                  is_same_module, ev->time_ns);
        if (same != GCD_IDMAP_NONE) {
            heap_known_extend(&h->modules[same].known, ev->time_ns, moment_of(ev));
            return GCD_OK;
        }
        GCD_TRY(keep_copy(h, modules_of(h), i, err));
    }
    struct heap_module *to = &h->modules[i];
    heap_known_begin(&to->known, ev->time_ns, hash, moment_of(ev));
    to->path = to->pdb_path = "";
    to->id = m.id;
    to->assembly = m.assembly;
    to->flags = m.flags;
    memcpy(to->pdb_guid, m.pdb_guid, sizeof to->pdb_guid);
    to->pdb_age = m.pdb_age;
    GCD_TRY(heap_text_utf16(h, m.path, m.path_units, &to->path, err));
    return heap_text_utf16(h, m.pdb_path, m.pdb_path_units, &to->pdb_path, err);
}

static bool is_same_assembly(const struct heap_known *k, const void *description)
{
    return k->text_hash == ((const struct description *)description)->hash;
}

/* "Name, Version=1.0.0.0, Culture=neutral, …": only the name is interesting. */
gcd_status heap_assembly(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    struct gcd_clr_assembly a;
    uint32_t i;
    gcd_status st = gcd_clr_assembly(ev, &a);
    if (st != GCD_OK)
        return st;
    size_t n = 0, before = h->assembly_count;
    while (n < a.name_units && gcd_le16(a.name + 2 * n) != ',')
        n++;
    uint64_t hash = hash_of(a.name, n, 0);
    GCD_TRY(item_of(h, assemblies_of(h), a.id, &i, err));
    if (h->assembly_count > before) {
        h->assemblies[i].known.before = GCD_IDMAP_NONE;
    } else {
        uint32_t same = find_same(assemblies_of(h), i, (struct description){ &a, hash },
                                  is_same_assembly, ev->time_ns);
        if (same != GCD_IDMAP_NONE) {
            heap_known_extend(&h->assemblies[same].known, ev->time_ns, moment_of(ev));
            return GCD_OK;
        }
        GCD_TRY(keep_copy(h, assemblies_of(h), i, err));
    }
    struct heap_assembly *to = &h->assemblies[i];
    heap_known_begin(&to->known, ev->time_ns, hash, moment_of(ev));
    to->name = "";
    return heap_text_utf16(h, a.name, n, &to->name, err);
}

const char *heap_assembly_name(const struct gcd_heap *h, uint64_t assembly)
{
    uint32_t a = gcd_idmap_get(&h->assembly_by_id, assembly);
    return a != GCD_IDMAP_NONE ? h->assemblies[a].name : "";
}

const char *heap_module_path(const struct gcd_heap *h, uint64_t module)
{
    uint32_t m = gcd_idmap_get(&h->module_by_id, module);
    if (m == GCD_IDMAP_NONE)
        return "";
    return h->modules[m].path[0] != '\0' ? h->modules[m].path
                                         : heap_assembly_name(h, h->modules[m].assembly);
}

uint8_t heap_element_type(const struct gcd_heap *h, uint64_t id)
{
    uint32_t i = id == 0 ? GCD_IDMAP_NONE : gcd_idmap_get(&h->type_by_id, id);
    return i == GCD_IDMAP_NONE || h->types[i].known.before != GCD_IDMAP_NONE
               ? 0
               : h->types[i].type.element_type;
}

bool heap_type_doubtful(const struct gcd_heap *h, const struct heap_type *t)
{
    uint32_t m = gcd_idmap_get(&h->module_by_id, t->type.module);
    if (t->known.doubtful || m == GCD_IDMAP_NONE)
        return t->known.doubtful;
    uint32_t a = gcd_idmap_get(&h->assembly_by_id, h->modules[m].assembly);
    return h->modules[m].known.doubtful || (h->modules[m].path[0] == '\0' && a != GCD_IDMAP_NONE &&
                                            h->assemblies[a].known.doubtful);
}

gcd_status heap_runtime_info(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    struct gcd_clr_runtime r;
    gcd_status st = gcd_clr_runtime(ev, &r);
    if (st != GCD_OK)
        return st;
    char buf[64];
    int n = snprintf(buf, sizeof buf, "%u.%u.%u", r.version[0], r.version[1], r.version[2]);
    if (r.sku == GCD_CLR_SKU_CORE && strcmp(buf, "4.0.0") == 0) /* .NET Core 3 says so */
        n = snprintf(buf, sizeof buf, "3");
    GCD_TRY(heap_text(h, buf, (size_t)n, &h->runtime_version, err));
    if (h->command_line[0] == '\0' && r.command_line != NULL)
        GCD_TRY(heap_text_utf16(h, r.command_line, r.command_line_units, &h->command_line, err));
    return GCD_OK;
}

gcd_status heap_process_info(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    struct gcd_clr_process p;
    gcd_status st = gcd_clr_process(ev, &p);
    if (st != GCD_OK)
        return st;
    const char **to[3] = { &h->command_line, &h->os, &h->arch };
    for (size_t i = 0; i < 3; i++)
        if (p.text[i] != NULL && p.units[i] > 0)
            GCD_TRY(heap_text_utf16(h, p.text[i], p.units[i], to[i], err));
    return GCD_OK;
}

static const char *base_name(const char *s, size_t n, size_t *ret_n)
{
    size_t start = n;
    while (start > 0 && s[start - 1] != '/' && s[start - 1] != '\\')
        start--;
    *ret_n = n - start;
    return s + start;
}

/*
 * The command line is one string without quotes, except on Windows, so this is a best guess: the
 * base name of the first word without
 * ".exe"; for "dotnet app.dll …" that of the first word that ends in ".dll", without the suffix. It
 * depends only on the trace, so a live dump and its recording get the same name.
 */
gcd_status heap_process_name(struct gcd_heap *h, const char **ret, struct gcd_error *err)
{
    const char *p = h->command_line;
    const char *first = "";
    size_t first_n = 0;
    for (bool is_first = true; *p != '\0';) {
        p += strspn(p, " ");
        bool quoted = *p == '"'; /* on Windows, where a path has spaces */
        p += quoted;
        size_t word_n = strcspn(p, quoted ? "\"" : " "), n;
        const char *name = base_name(p, word_n, &n);
        if (is_first) {
            if (n > 4 && gcd_bytes_end(name, n, ".exe"))
                n -= 4;
            first = name;
            first_n = n;
            if (n != 6 || memcmp(name, "dotnet", 6) != 0)
                break;
            is_first = false;
        } else if (n > 4 && gcd_bytes_end(name, n, ".dll")) {
            first = name;
            first_n = n - 4;
            break;
        }
        p += word_n + (quoted && p[word_n] != '\0');
    }
    return heap_text(h, first, first_n, ret, err);
}
