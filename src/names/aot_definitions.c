/*
 * Mangles as NativeAotNameMangler of ILCompiler does, .NET 8 to 11: the assembly, with "S_P_" for
 * "System.Private.", then "_" and the names of outer types, namespace and type.  Each UTF-16 unit
 * that is no ASCII letter or digit becomes "_".  Two types of an assembly with one mangled name get
 * numbers in the order in which the compiler saw them, so neither is certain.
 */
#include "names/aot_definitions.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "names/aot_names.h"

#define TEXT_MAX ((uint64_t)256 << 20)

void aot_definitions_init(struct aot_definitions *d, const struct gcd_alloc *alloc)
{
    *d = (struct aot_definitions){ .alloc = alloc };
    gcd_idmap_init(&d->by_hash, alloc);
    gcd_textpool_init(&d->text, alloc, TEXT_MAX);
}

void aot_definitions_done(struct aot_definitions *d)
{
    gcd_idmap_done(&d->by_hash);
    gcd_mem_free(d->alloc, d->items, d->cap * sizeof *d->items);
    gcd_textpool_done(&d->text);
}

/* ---- mangling ---- */

struct mangled {
    size_t n;
    char s[AOT_SYMBOL_MAX];
};

static void put(struct mangled *m, char c)
{
    if (m->n < sizeof m->s)
        m->s[m->n++] = c;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void put_sanitized(struct mangled *m, const char *s, bool escaped)
{
    if (is_digit(*s))
        put(m, '_');
    for (size_t at = 0, n = strlen(s); at < n;) {
        uint32_t code;
        bool plain =
            is_digit(s[at]) || (s[at] >= 'A' && s[at] <= 'Z') || (s[at] >= 'a' && s[at] <= 'z');
        at += escaped && s[at] == '\\' && at + 1 < n ? 1 : 0;
        size_t bytes = gcd_utf8_next((const uint8_t *)s + at, n - at, &code);
        put(m, plain ? s[at] : '_');
        if (code > 0xffff) /* two units of UTF-16 */
            put(m, '_');
        at += bytes;
    }
}

/* False: it is of the framework. */
static bool put_assembly(struct mangled *m, const char *name)
{
    static const char private[] = "System.Private.", shorter[] = "S.P.";
    m->n = 0;
    if (gcd_text_begins(name, private)) {
        put_sanitized(m, shorter, false);
        name += strlen(private);
    }
    put_sanitized(m, name, false);
    bool other = !aot_is_framework(m->s, m->n);
    put(m, '_');
    return other;
}

/* ---- the table ---- */

static struct aot_definition *find(const struct aot_definitions *d, const char *s, size_t n)
{
    uint32_t i = gcd_idmap_get(&d->by_hash, gcd_text_hash(s, n, GCD_TEXT_HASH));
    struct aot_definition *item = i != GCD_IDMAP_NONE ? &d->items[i] : NULL;
    return item != NULL && strlen(item->mangled) == n && memcmp(item->mangled, s, n) == 0 ? item
                                                                                          : NULL;
}

static gcd_status add(struct aot_definitions *d, const struct mangled *m, const char *name,
                      struct gcd_error *err)
{
    struct aot_definition *old = find(d, m->s, m->n);
    if (old != NULL) {
        if (old->name != NULL && strcmp(old->name, name) != 0)
            old->name = NULL;
        return GCD_OK;
    }
    struct aot_definition item;
    gcd_status st = gcd_textpool_add(&d->text, m->s, m->n, &item.mangled);
    if (st == GCD_OK)
        st = gcd_textpool_add(&d->text, name, strlen(name), &item.name);
    if (st == GCD_E_LIMIT)
        return gcd_fail(err, st, "its types exceed the limit for text");
    if (st != GCD_OK ||
        !gcd_vec_reserve(d->alloc, &d->items, &d->cap, d->count + 1, sizeof item, UINT32_MAX - 1) ||
        !gcd_idmap_put(&d->by_hash, gcd_text_hash(m->s, m->n, GCD_TEXT_HASH), (uint32_t)d->count))
        return gcd_fail_nomem(err, "listing the types of an assembly");
    d->items[d->count++] = item;
    return GCD_OK;
}

gcd_status aot_definitions_add(struct aot_definitions *d, struct gcd_metadata *m,
                               struct gcd_error *err)
{
    struct mangled name;
    if (!put_assembly(&name, gcd_metadata_identity(m)->assembly_name))
        return GCD_OK;
    size_t assembly = name.n;
    for (uint32_t i = 1, count = gcd_metadata_type_count(m); i < count; i++) {
        const char *type;
        gcd_status st = gcd_metadata_reflection_name(m, GCD_TOKEN_TYPE + 1 + i, &type, NULL, err);
        if (st == GCD_OK) {
            name.n = assembly;
            put_sanitized(&name, type, true);
            st = name.n < sizeof name.s ? add(d, &name, type, err) : GCD_OK;
        }
        if (st != GCD_OK)
            return st;
    }
    return GCD_OK;
}

/* Could "Order_1" be the second type that is mangled as "Order"? */
static bool is_numbered(const struct aot_definitions *d, const char *s, size_t n)
{
    size_t k = n;
    while (k > 0 && is_digit(s[k - 1]))
        k--;
    const struct aot_definition *first =
        k > 1 && k < n && s[k - 1] == '_' ? find(d, s, k - 1) : NULL;
    return first != NULL && first->name == NULL;
}

const char *aot_definition(const struct aot_definitions *d, const char *s, size_t n)
{
    const struct aot_definition *item = d != NULL ? find(d, s, n) : NULL;
    return item != NULL && !is_numbered(d, s, n) ? item->name : NULL;
}
