#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "heap/heap.h"

#define TYPE_FLAG_ARRAY UINT32_C(8)

static gcd_status text_error(gcd_status st, struct gcd_error *err)
{
    if (st == GCD_E_LIMIT)
        return gcd_fail(err, st, "the names in the trace exceed the limit for text");
    return st == GCD_OK ? st : gcd_fail_nomem(err, "reading names");
}

gcd_status heap_text_utf16(struct gcd_heap *h, const uint8_t *p, size_t units, const char **ret, struct gcd_error *err)
{
    return text_error(gcd_textpool_add_utf16(&h->text, p, units, ret), err);
}

gcd_status heap_text(struct gcd_heap *h, const char *s, size_t n, const char **ret, struct gcd_error *err)
{
    return text_error(gcd_textpool_add(&h->text, s, n, ret), err);
}

gcd_status heap_type_index(struct gcd_heap *h, uint64_t id, uint32_t *ret, struct gcd_error *err)
{
    uint32_t i = gcd_idmap_get(&h->type_by_id, id);
    if (i == GCD_IDMAP_NONE) {
        if (h->type_count >= h->limits.types)
            return gcd_fail(err, GCD_E_LIMIT, "more than %zu types", h->type_count);
        if (!gcd_vec_reserve(&h->alloc, &h->types, &h->type_cap, h->type_count + 1, sizeof *h->types, GCD_IDMAP_NONE) ||
            !gcd_idmap_put(&h->type_by_id, id, (uint32_t)h->type_count))
            return gcd_fail_nomem(err, "reading the type table");
        i = (uint32_t)h->type_count++;
        h->types[i] = (struct gcd_type){ .id = id, .name = "", .module_path = "" };
    }
    *ret = i;
    return GCD_OK;
}

/*
 * A record without a name (names not asked for, Native AOT) still has a number that a person can look up; the same
 * spelling as the .NET tools use.
 */
static gcd_status stand_in_name(struct gcd_heap *h, const struct gcd_clr_type *t, const char **ret, struct gcd_error *err)
{
    char buf[48];
    int n = snprintf(buf, sizeof buf, "%s(0x%" PRIx32 ")", t->flags & TYPE_FLAG_ARRAY ? "ArrayType" : "Type", t->name_token);
    return heap_text(h, buf, (size_t)n, ret, err);
}

/* Types are sent once per process and session, in any place: before the GC, between the nodes, after the last of them. */
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
        struct gcd_type *type = &h->types[i];
        if (type->named || (type->described && t.name_units == 0))
            continue;                    /* sent again for a second dump: equal, unless only one of the sessions asked for names */
        type->named = t.name_units > 0;
        if (type->named)
            GCD_TRY(heap_text_utf16(h, t.name, t.name_units, &type->name, err));
        else
            GCD_TRY(stand_in_name(h, &t, &type->name, err));
        type->module = t.module;
        type->name_token = t.name_token;
        type->flags = t.flags;
        type->element_type = t.element_type;
        type->described = true;
    }
    return GCD_OK;
}

/* The item of ID in a table, made when it is new. */
static gcd_status item_of(struct gcd_heap *h, struct gcd_idmap *by_id, uint64_t id, void *items, size_t *cap, size_t *count,
                          size_t item_bytes, uint32_t *ret, struct gcd_error *err)
{
    *ret = gcd_idmap_get(by_id, id);
    if (*ret != GCD_IDMAP_NONE)
        return GCD_OK;
    if (*count >= h->limits.types)
        return gcd_fail(err, GCD_E_LIMIT, "more than %zu modules", *count);
    if (!gcd_vec_reserve(&h->alloc, items, cap, *count + 1, item_bytes, GCD_IDMAP_NONE) ||
        !gcd_idmap_put(by_id, id, (uint32_t)*count))
        return gcd_fail_nomem(err, "reading module names");
    *ret = (uint32_t)(*count)++;
    return GCD_OK;
}

gcd_status heap_module(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    struct gcd_clr_module m;
    uint32_t i;
    gcd_status st = gcd_clr_module(ev, &m);
    if (st != GCD_OK)
        return st;
    GCD_TRY(item_of(h, &h->module_by_id, m.id, &h->modules, &h->module_cap, &h->module_count, sizeof *h->modules, &i, err));
    h->modules[i] = (struct heap_module){ .path = "", .assembly = m.assembly };
    return heap_text_utf16(h, m.path, m.path_units, &h->modules[i].path, err);
}

/* "Name, Version=1.0.0.0, Culture=neutral, …": the name is what a person looks for. */
gcd_status heap_assembly(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    struct gcd_clr_assembly a;
    uint32_t i;
    gcd_status st = gcd_clr_assembly(ev, &a);
    if (st != GCD_OK)
        return st;
    GCD_TRY(item_of(h, &h->assembly_by_id, a.id, &h->assembly_names, &h->assembly_cap, &h->assembly_count,
                    sizeof *h->assembly_names, &i, err));
    h->assembly_names[i] = "";
    size_t n = 0;
    while (n < a.name_units && gcd_le16(a.name + 2 * n) != ',')
        n++;
    return heap_text_utf16(h, a.name, n, &h->assembly_names[i], err);
}

const char *heap_module_path(const struct gcd_heap *h, uint64_t module)
{
    uint32_t m = gcd_idmap_get(&h->module_by_id, module);
    if (m == GCD_IDMAP_NONE)
        return "";
    if (h->modules[m].path[0] != '\0')
        return h->modules[m].path;
    uint32_t a = gcd_idmap_get(&h->assembly_by_id, h->modules[m].assembly);
    return a != GCD_IDMAP_NONE ? h->assembly_names[a] : "";
}

gcd_status heap_runtime_info(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    struct gcd_clr_runtime r;
    gcd_status st = gcd_clr_runtime(ev, &r);
    if (st != GCD_OK)
        return st;
    char buf[64];
    int n = snprintf(buf, sizeof buf, "%u.%u.%u", r.version[0], r.version[1], r.version[2]);
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

static bool ends_with(const char *s, size_t n, const char *suffix)
{
    size_t k = strlen(suffix);
    return n > k && memcmp(s + n - k, suffix, k) == 0;
}

/*
 * The command line is one string in which nothing is quoted, except on Windows, so this is a best guess: the first word's base name
 * without ".exe"; for "dotnet app.dll …" that of the first word that ends in ".dll", without it.  It depends on the trace only,
 * so that a live dump and its recording carry the same name.
 */
gcd_status heap_process_name(struct gcd_heap *h, const char **ret, struct gcd_error *err)
{
    const char *p = h->command_line;
    const char *first = "";
    size_t first_n = 0;
    for (bool is_first = true; *p != '\0';) {
        p += strspn(p, " ");
        bool quoted = *p == '"';             /* on Windows, where a path has spaces */
        p += quoted;
        size_t word_n = strcspn(p, quoted ? "\"" : " "), n;
        const char *name = base_name(p, word_n, &n);
        if (is_first) {
            if (ends_with(name, n, ".exe"))
                n -= 4;
            first = name;
            first_n = n;
            if (n != 6 || memcmp(name, "dotnet", 6) != 0)
                break;
            is_first = false;
        } else if (ends_with(name, n, ".dll")) {
            first = name;
            first_n = n - 4;
            break;
        }
        p += word_n + (quoted && p[word_n] != '\0');
    }
    return heap_text(h, first, first_n, ret, err);
}
