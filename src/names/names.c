#include <gcdumpc/names.h>
#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/loads.h>
#include <gcdumpc/unstable/static_names.h>
#include <gcdumpc/unstable/type_names.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/text.h"
#include "names/csharp.h"

/* For all names together.  A spelling can be slightly longer than the text limit of the input. */
#define TEXT_BYTES_MAX (UINT64_C(4) << 30)

/* A class that declares static variables: it need not be among the types. */
struct class_name {
    const char *raw, *name;
};

struct gcd_names {
    struct gcd_alloc alloc;
    struct gcd_textpool text;
    const char **name;  /* [count] */
    const char **plain; /* [count], in the C# style, before they were made unique */
    /* [count], in the C# style, the runtime's own names; NULL = as plain */
    const char **runtime;
    uint32_t count;
    struct class_name *classes; /* [class_count] sorted by RAW */
    size_t class_count, class_room;
    const char **lambda_of;    /* [count], see gcd_names_lambda_method */
    struct gcd_idmap machines; /* hashes of the state machines that are in boxes */
    enum gcd_name_style style;
};

static gcd_status text_error(gcd_status st, struct gcd_error *err)
{
    if (st == GCD_E_LIMIT)
        return gcd_fail(err, st, "the names of types take more than %" PRIu64 " bytes",
                        TEXT_BYTES_MAX);
    return st == GCD_OK ? st : gcd_fail_nomem(err, "spelling the names of types");
}

static bool is_csharp(enum gcd_name_style style)
{
    return style == GCD_NAMES_CSHARP || style == GCD_NAMES_SEPARATE_LOADS;
}

/* ---- spelling ---- */

static bool is_native(const struct gcd_type *t)
{
    return (t->flags & GCD_TYPE_NATIVE) != 0 && t->name_token != 0;
}

/*
 * The place of a type in a program compiled ahead of time is the same in each run of a build, so
 * the build id belongs to it.
 */
static size_t name_native(const struct gcd_type *t, const struct gcd_summary *from, char *ret,
                          size_t cap)
{
    const char *id =
        t->module_number < from->module_count ? from->modules[t->module_number].build_id : NULL;
    return (size_t)(id != NULL ? snprintf(ret, cap, "UNKNOWN %.64s of build %.8s", t->raw_name, id)
                               : snprintf(ret, cap, "UNKNOWN %.64s", t->raw_name));
}

/*
 * For a type without a name.  If OTHERS have one, its name did not fit into an event (64 KB): its
 * module and token did, and they are the same in the next dump.  So is the position in a program
 * compiled ahead of time, wherever that is loaded: its name is "Type(0x398f48)" from the beginning.
 */
static size_t name_unknown(const struct gcd_type *t, const struct gcd_summary *from, bool others,
                           char *ret, size_t cap)
{
    size_t len;
    const char *module = gcd_module_name(t->module_path, &len);
    bool known = others && t->described && t->name_token != 0 && len > 0 && len < cap / 2;
    if (is_native(t))
        return name_native(t, from, ret, cap);
    int n = known ? snprintf(ret, cap, "UNKNOWN [%.*s 0x%08" PRIx32 "]", (int)len, module,
                             t->name_token)
                  : snprintf(ret, cap, "UNKNOWN 0x%" PRIx64, t->id);
    return (size_t)n;
}

static gcd_status spell(struct gcd_names *n, const struct gcd_summary *from,
                        enum gcd_name_style style, struct gcd_error *err)
{
    struct csharp c;
    gcd_status st = GCD_OK;
    bool named = false;
    for (uint32_t i = 0; i < from->type_count && !named; i++)
        named = from->types[i].named;
    csharp_init(&c, &n->alloc);
    for (uint32_t i = 0; i < from->type_count && st == GCD_OK; i++) {
        const struct gcd_type *t = &from->types[i];
        char unknown[320];
        const char *s = style == GCD_NAMES_RAW ? t->raw_name : t->name;
        size_t len = strlen(s);
        /* the number of a type in its module is the same in the next dump, unlike an address */
        bool by_number = strncmp(s, "TypeID(", strlen("TypeID(")) == 0;
        if (len == 0 || (!t->named && !by_number && is_csharp(style))) {
            s = unknown;
            len = name_unknown(t, from, named, unknown, sizeof unknown);
        } else if (is_csharp(style)) {
            /* only the runtime reports element types: names in files may already be C# */
            st = csharp_name(&c, s, t->element_type != 0 || is_native(t));
            s = c.out;
            len = c.n;
        }
        if (st == GCD_OK)
            st = gcd_textpool_add_utf8(&n->text, (const uint8_t *)s, len, &n->name[i]);
    }
    csharp_done(&c);
    return text_error(st, err);
}

/* ---- classes of static variables ---- */

static bool has_class(const struct gcd_root *r)
{
    return r->kind == GCD_ROOT_STATIC && r->class_name[0] != '\0';
}

static int compare_raw(const void *ctx, uint32_t a, uint32_t b)
{
    const char *const *raw = ctx;
    return strcmp(raw[a], raw[b]);
}

static gcd_status add_class(struct gcd_names *n, const char *raw, enum gcd_name_style style,
                            struct csharp *c)
{
    struct class_name *add = &n->classes[n->class_count];
    gcd_status st = gcd_textpool_add_utf8(&n->text, (const uint8_t *)raw, strlen(raw), &add->raw);
    add->name = add->raw;
    if (st == GCD_OK && is_csharp(style))
        st = csharp_name(c, raw, true);
    if (st == GCD_OK && is_csharp(style))
        st = gcd_textpool_add_utf8(&n->text, (const uint8_t *)c->out, c->n, &add->name);
    n->class_count += st == GCD_OK;
    return st;
}

/* RAW[COUNT]: the classes, repeated. */
static gcd_status add_classes(struct gcd_names *n, const char *const *raw, size_t count,
                              enum gcd_name_style style)
{
    uint32_t *order = gcd_sort_order(&n->alloc, count, compare_raw, raw);
    gcd_status st = order != NULL && gcd_vec_reserve(&n->alloc, &n->classes, &n->class_room, count,
                                                     sizeof *n->classes, UINT32_MAX)
                        ? GCD_OK
                        : GCD_E_NOMEM;
    struct csharp c;
    csharp_init(&c, &n->alloc);
    for (size_t i = 0; i < count && st == GCD_OK; i++)
        if (i == 0 || strcmp(raw[order[i]], raw[order[i - 1]]) != 0)
            st = add_class(n, raw[order[i]], style, &c);
    csharp_done(&c);
    gcd_mem_free(&n->alloc, order, count * sizeof *order);
    return st;
}

static gcd_status spell_classes(struct gcd_names *n, const struct gcd_summary *from,
                                enum gcd_name_style style, struct gcd_error *err)
{
    const char **raw = NULL;
    size_t count = 0, room = 0;
    gcd_status st = GCD_OK;
    for (size_t i = 0; i < from->root_count && st == GCD_OK; i++) {
        const struct gcd_root *r = &from->roots[i];
        if (!has_class(r) || (count > 0 && strcmp(raw[count - 1], r->class_name) == 0))
            continue;
        if (gcd_vec_reserve(&n->alloc, &raw, &room, count + 1, sizeof *raw, UINT32_MAX))
            raw[count++] = r->class_name;
        else
            st = GCD_E_NOMEM;
    }
    if (count > 0 && st == GCD_OK)
        st = add_classes(n, raw, count, style);
    gcd_mem_free(&n->alloc, raw, room * sizeof *raw);
    return text_error(st, err);
}

const char *gcd_names_class(const struct gcd_names *n, const struct gcd_root *r)
{
    if (!has_class(r))
        return "";
    size_t low = 0, high = n->class_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int c = strcmp(n->classes[mid].raw, r->class_name);
        if (c == 0)
            return n->classes[mid].name;
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return r->class_name; /* from another dump */
}

/* The runtime's own names of types that were given outer types, in C# spelling. */
static gcd_status spell_runtime(struct gcd_names *n, const struct gcd_summary *from,
                                struct gcd_error *err)
{
    uint32_t i = 0;
    while (i < n->count && from->types[i].raw_name == from->types[i].name)
        i++;
    if (i == n->count)
        return GCD_OK;
    n->runtime = gcd_mem_new_array(&n->alloc, n->count, sizeof *n->runtime);
    if (n->runtime == NULL)
        return text_error(GCD_E_NOMEM, err);
    memcpy(n->runtime, n->plain, n->count * sizeof *n->plain);
    struct csharp c;
    gcd_status st = GCD_OK;
    csharp_init(&c, &n->alloc);
    for (; i < n->count && st == GCD_OK; i++) {
        const struct gcd_type *t = &from->types[i];
        if (t->raw_name == t->name || t->raw_name[0] == '\0')
            continue;
        char place[320];
        if (is_native(t)) {
            size_t len = name_native(t, from, place, sizeof place);
            st = gcd_textpool_add_utf8(&n->text, (const uint8_t *)place, len, &n->runtime[i]);
            continue;
        }
        st = csharp_name(&c, t->raw_name, t->element_type != 0);
        if (st == GCD_OK)
            st = gcd_textpool_add_utf8(&n->text, (const uint8_t *)c.out, c.n, &n->runtime[i]);
    }
    csharp_done(&c);
    return text_error(st, err);
}

gcd_status gcd_name_csharp(const char *raw, bool runtime, char *ret, size_t cap)
{
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    struct csharp c;
    csharp_init(&c, &a);
    gcd_status st = csharp_name(&c, raw, runtime);
    if (st == GCD_OK && c.n >= cap)
        st = GCD_E_LIMIT;
    if (st == GCD_OK) {
        if (c.n > 0)
            memcpy(ret, c.out, c.n);
        ret[c.n] = '\0';
    }
    csharp_done(&c);
    return st;
}

/* ---- unique names ---- */

static int compare_modules(const struct gcd_type *a, const struct gcd_type *b)
{
    size_t na, nb;
    const char *ma = gcd_module_name(a->module_path, &na),
               *mb = gcd_module_name(b->module_path, &nb);
    int c = memcmp(ma, mb, na < nb ? na : nb);
    return c != 0 ? c : (na > nb) - (na < nb);
}

static int compare_tokens(const struct gcd_type *a, const struct gcd_type *b)
{
    return (a->name_token > b->name_token) - (a->name_token < b->name_token);
}

/*
 * .NET 11 makes a type for each layout of what a suspended call of runtime async keeps, all with
 * the name and token of the class that they extend.  The size of its objects is the same in the
 * next dump.  0: no such type, or its size is not known.
 */
static uint64_t layout_bytes(const struct gcd_type *t)
{
    static const char name[] = "System.Runtime.CompilerServices.Continuation";
    bool known = t->objects > 0 && t->bytes % t->objects == 0 && strcmp(t->raw_name, name) == 0;
    return known ? t->bytes / t->objects : 0;
}

static int compare_layouts(const struct gcd_type *a, const struct gcd_type *b)
{
    uint64_t x = layout_bytes(a), y = layout_bytes(b);
    return (x > y) - (x < y);
}

struct order {
    const struct gcd_names *names;
    const struct gcd_summary *from;
    const uint32_t *first; /* [types] the first load of each; itself for SEPARATE_LOADS */
};

/* Sorts by name, module, token, layout, so that equal names are adjacent, and the loads of a type
 * among them. */
static int compare(const void *ctx, uint32_t a, uint32_t b)
{
    const struct order *o = ctx;
    int c = strcmp(o->names->name[a], o->names->name[b]);
    const struct gcd_type *ta = &o->from->types[a], *tb = &o->from->types[b];
    if (c == 0)
        c = compare_modules(ta, tb);
    if (c == 0)
        c = compare_tokens(ta, tb);
    if (c == 0)
        c = compare_layouts(ta, tb);
    return c != 0 ? c : (o->first[a] > o->first[b]) - (o->first[a] < o->first[b]);
}

/* Writes "NAME (BYTES bytes #NUMBER)" for a layout. */
static gcd_status tell_layout_apart(struct gcd_names *n, uint32_t i, uint64_t bytes,
                                    uint32_t number, struct csharp *room)
{
    char tail[64], which[16] = "";
    if (number > 0)
        (void)snprintf(which, sizeof which, " #%" PRIu32, number);
    (void)snprintf(tail, sizeof tail, " (%" PRIu64 " bytes%s)", bytes, which);
    room->n = 0;
    if (!csharp_put(room, n->name[i], strlen(n->name[i])) || !csharp_put(room, tail, strlen(tail)))
        return GCD_E_NOMEM;
    return gcd_textpool_add_utf8(&n->text, (const uint8_t *)room->out, room->n, &n->name[i]);
}

/* Writes "NAME [MODULE 0xTOKEN #NUMBER]" without the unknown or unnecessary parts. */
static gcd_status tell_apart(struct gcd_names *n, const struct gcd_type *t, uint32_t i, bool token,
                             uint32_t number, struct csharp *room)
{
    size_t len;
    const char *module = gcd_module_name(t->module_path, &len);
    char tail[48] = "";
    if (token)
        (void)snprintf(tail, sizeof tail, " 0x%08" PRIx32, t->name_token);
    if (number > 0)
        (void)snprintf(tail + strlen(tail), sizeof tail - strlen(tail), " #%" PRIu32, number);
    const char *rest = len == 0 && tail[0] != '\0' ? tail + 1 : tail;
    if (len == 0 && rest[0] == '\0')
        return GCD_OK;
    room->n = 0;
    if (!csharp_put(room, n->name[i], strlen(n->name[i])) || !csharp_put(room, " [", 2) ||
        !csharp_put(room, module, len) || !csharp_put(room, rest, strlen(rest)) ||
        !csharp_put(room, "]", 1))
        return GCD_E_NOMEM;
    return gcd_textpool_add_utf8(&n->text, (const uint8_t *)room->out, room->n, &n->name[i]);
}

/* Removes further loads from items[0 .. n); returns how many items remain. */
static size_t keep_first(const struct order *o, uint32_t *items, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || o->first[items[i]] != o->first[items[kept - 1]])
            items[kept++] = items[i];
    return kept;
}

/* Do the types, of one module, also have one token and one layout? */
static bool is_same(const struct gcd_type *a, const struct gcd_type *b)
{
    return compare_tokens(a, b) == 0 && compare_layouts(a, b) == 0;
}

/* The types items[0 .. n) have equal names. */
static gcd_status tell_group_apart(struct gcd_names *names, const struct gcd_summary *from,
                                   const uint32_t *items, size_t n, struct csharp *room)
{
    gcd_status st = GCD_OK;
    size_t module_start = 0, module_end = 0; /* the range of types with the same module */
    size_t token_start = 0;                  /* with the same module, token and layout */
    for (size_t i = 0; i < n && st == GCD_OK; i++) {
        const struct gcd_type *t = &from->types[items[i]];
        if (i == module_end) {
            module_start = i;
            while (module_end < n && compare_modules(t, &from->types[items[module_end]]) == 0)
                module_end++;
        }
        if (i == module_start || !is_same(t, &from->types[items[i - 1]]))
            token_start = i;
        bool next_same = i + 1 < module_end && is_same(t, &from->types[items[i + 1]]);
        bool token = module_end - module_start > 1 && t->name_token != 0;
        uint32_t number = next_same || token_start < i ? (uint32_t)(i - token_start + 1) : 0;
        st = layout_bytes(t) > 0 ? tell_layout_apart(names, items[i], layout_bytes(t), number, room)
                                 : tell_apart(names, t, items[i], token, number, room);
    }
    return st;
}

/* ITEMS: the types, sorted. */
static gcd_status tell_all_apart(struct gcd_names *n, const struct order *o, uint32_t *items,
                                 struct csharp *room)
{
    gcd_status st = GCD_OK;
    for (size_t i = 0, end; i < n->count && st == GCD_OK; i = end) {
        for (end = i + 1; end < n->count && strcmp(n->name[items[i]], n->name[items[end]]) == 0;)
            end++;
        size_t kept = keep_first(o, items + i, end - i);
        if (kept > 1)
            st = tell_group_apart(n, o->from, items + i, kept, room);
    }
    for (uint32_t i = 0; i < n->count && st == GCD_OK; i++)
        n->name[i] = n->name[o->first[i]];
    return st;
}

/* FIRST[types], for the style of N. */
static gcd_status make_unique(struct gcd_names *n, const struct gcd_summary *from, uint32_t *first,
                              struct gcd_error *err)
{
    bool some;
    struct csharp room;
    GCD_TRY(gcd_same_types(from, &n->alloc, first, &some, err));
    for (uint32_t i = 0; n->style == GCD_NAMES_SEPARATE_LOADS && i < n->count; i++)
        first[i] = i;
    struct order o = { n, from, first };
    uint32_t *items = gcd_sort_order(&n->alloc, n->count, compare, &o);
    n->plain = gcd_mem_new_array(&n->alloc, n->count, sizeof *n->plain);
    gcd_status st = items != NULL && n->plain != NULL ? GCD_OK : GCD_E_NOMEM;
    csharp_init(&room, &n->alloc);
    if (st == GCD_OK) {
        memcpy(n->plain, n->name, n->count * sizeof *n->plain);
        st = tell_all_apart(n, &o, items, &room);
    }
    csharp_done(&room);
    gcd_mem_free(&n->alloc, items, n->count * sizeof *items);
    return text_error(st, err);
}

static gcd_status make_names_unique(struct gcd_names *n, const struct gcd_summary *from,
                                    struct gcd_error *err)
{
    uint32_t *first = gcd_mem_new_array(&n->alloc, n->count, sizeof *first);
    gcd_status st = first != NULL ? make_unique(n, from, first, err) : text_error(GCD_E_NOMEM, err);
    gcd_mem_free(&n->alloc, first, n->count * sizeof *first);
    return st;
}

/* ---- state machines ---- */

static uint64_t hash_of(const char *name, size_t n)
{
    return gcd_text_hash(name, n, GCD_TEXT_HASH);
}

static gcd_status find_machines(struct gcd_names *n, struct gcd_error *err)
{
    bool ok = true;
    for (uint32_t i = 0; i < n->count && ok; i++) {
        const char *machine;
        size_t bytes;
        if (gcd_async_machine(gcd_names_plain(n, i), &machine, &bytes))
            ok = gcd_idmap_put(&n->machines, hash_of(machine, bytes), 0);
    }
    return ok ? GCD_OK : text_error(GCD_E_NOMEM, err);
}

static bool is_in_box(const struct gcd_names *n, uint32_t type)
{
    const char *plain = gcd_names_plain(n, type);
    return gcd_idmap_get(&n->machines, hash_of(plain, strlen(plain))) != GCD_IDMAP_NONE;
}

bool gcd_names_is_iterator(const struct gcd_names *n, uint32_t type)
{
    return gcd_made_of(n->name[type]) == GCD_MADE_OF_STATE && !is_in_box(n, type);
}

/* ---- lambdas ---- */

static gcd_status find_lambdas(struct gcd_names *n, const struct gcd_summary *from,
                               struct gcd_error *err)
{
    static const char end[] = " <>;";
    char method[4 * GCD_ASYNC_STEP_BYTES];
    gcd_status st = GCD_OK;
    n->lambda_of = gcd_mem_new_array(&n->alloc, n->count, sizeof *n->lambda_of);
    if (n->lambda_of == NULL)
        return text_error(GCD_E_NOMEM, err);
    for (uint32_t i = 0; i < n->count && st == GCD_OK; i++) {
        const char *events = from->types[i].events;
        size_t k = events != NULL ? strcspn(events, " ;") : 0;
        if (k == 0 || strcmp(events + k, end) != 0 ||
            !gcd_lambda_method(gcd_names_plain(n, i), events, k, method, sizeof method))
            continue;
        st = gcd_textpool_add(&n->text, method, strlen(method), &n->lambda_of[i]);
    }
    return text_error(st, err);
}

const char *gcd_names_lambda_method(const struct gcd_names *n, uint32_t type)
{
    return n->lambda_of[type];
}

const char *gcd_names_step(const struct gcd_names *n, uint32_t type, char buf[GCD_ASYNC_STEP_BYTES])
{
    if (!is_csharp(n->style))
        return n->name[type];
    if (n->lambda_of[type] == NULL)
        return gcd_async_step_name(n->name[type], true, is_in_box(n, type), buf);
    unsigned block = gcd_lambda_block(n->name[type]);
    if (block > 0)
        (void)snprintf(buf, GCD_ASYNC_STEP_BYTES, "variables of %s (%u)", n->lambda_of[type],
                       block + 1);
    else
        (void)snprintf(buf, GCD_ASYNC_STEP_BYTES, "variables of %s", n->lambda_of[type]);
    return buf;
}

gcd_status gcd_names_new(const struct gcd_summary *from, enum gcd_name_style style,
                         const struct gcd_alloc *alloc, struct gcd_names **ret,
                         struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct gcd_names *n = gcd_mem_new(&a, sizeof *n);
    if (n == NULL)
        return text_error(GCD_E_NOMEM, err);
    n->alloc = a;
    n->count = from->type_count;
    n->style = style;
    gcd_textpool_init(&n->text, &n->alloc, TEXT_BYTES_MAX);
    gcd_idmap_init(&n->machines, &n->alloc);
    n->name = gcd_mem_new_array(&n->alloc, n->count, sizeof *n->name);
    gcd_status st = n->name != NULL ? spell(n, from, style, err) : text_error(GCD_E_NOMEM, err);
    if (st == GCD_OK && is_csharp(style))
        st = make_names_unique(n, from, err);
    if (st == GCD_OK && is_csharp(style))
        st = spell_runtime(n, from, err);
    if (st == GCD_OK)
        st = spell_classes(n, from, style, err);
    if (st == GCD_OK)
        st = find_machines(n, err);
    if (st == GCD_OK)
        st = find_lambdas(n, from, err);
    if (st == GCD_OK)
        *ret = n;
    else
        gcd_names_free(n);
    return st;
}

void gcd_names_free(struct gcd_names *n)
{
    if (n == NULL)
        return;
    struct gcd_alloc a = n->alloc;
    gcd_textpool_done(&n->text);
    gcd_idmap_done(&n->machines);
    gcd_mem_free(&a, n->name, n->count * sizeof *n->name);
    gcd_mem_free(&a, n->plain, n->count * sizeof *n->plain);
    gcd_mem_free(&a, n->lambda_of, n->count * sizeof *n->lambda_of);
    gcd_mem_free(&a, n->classes, n->class_room * sizeof *n->classes);
    gcd_mem_free(&a, n->runtime, n->count * sizeof *n->runtime);
    gcd_mem_free(&a, n, sizeof *n);
}

const char *gcd_names_get(const struct gcd_names *n, uint32_t type)
{
    return n->name[type];
}

const char *gcd_names_plain(const struct gcd_names *n, uint32_t type)
{
    return n->plain != NULL ? n->plain[type] : n->name[type];
}

const char *gcd_names_runtime(const struct gcd_names *n, uint32_t type)
{
    return n->runtime != NULL ? n->runtime[type] : gcd_names_plain(n, type);
}

enum gcd_name_style gcd_names_style(const struct gcd_names *n)
{
    return n->style;
}
