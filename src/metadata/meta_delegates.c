/*
 * The methods that a class makes delegates of: "ldftn METHOD" before "newobj" of a delegate's
 * constructor (ECMA-335 III.4.21).
 */
#include <string.h>

#include "base/cur.h"
#include "metadata/meta_impl.h"

#define METHODS_MAX      256u  /* of one class */
#define INSTRUCTIONS_MAX 4096u /* of a method */
#define DELEGATES_MAX    32u   /* of one class */
#define LDFTN            0x06u /* after 0xfe */
#define LDVIRTFTN        0x07u
#define NEWOBJ           0x73u

struct delegates {
    uint32_t first, end; /* methods of the class */
    struct delegate {
        uint32_t method, type; /* row; token */
    } items[DELEGATES_MAX];
    size_t count;
    bool too_many;
};

/* The type that declares CONSTRUCTOR: of a generic type its definition; 0 = unknown. */
static uint32_t constructed(struct gcd_metadata *m, uint32_t constructor)
{
    static const enum meta_table parents[] = { META_TYPE_DEF, META_TYPE_REF };
    uint32_t row = constructor & 0xffffff;
    if (constructor >> 24 == META_METHOD_DEF && row > 0 && row <= m->t.table[META_METHOD_DEF].rows)
        return GCD_TOKEN_TYPE | meta_find_last(&m->t, META_TYPE_DEF, TYPE_DEF_METHODS, row);
    if (constructor >> 24 != META_MEMBER_REF || row == 0 || row > m->t.table[META_MEMBER_REF].rows)
        return 0;
    uint32_t coded = meta_cell(&m->t, META_MEMBER_REF, row, MEMBER_REF_CLASS), at = coded >> 3;
    if ((coded & 7) < sizeof parents / sizeof *parents) {
        enum meta_table table = parents[coded & 7];
        return at > 0 && at <= m->t.table[table].rows ? (uint32_t)table << 24 | at : 0;
    }
    if ((coded & 7) != 4 || at == 0 || at > m->t.table[META_TYPE_SPEC].rows)
        return 0;
    size_t n;
    const uint8_t *p =
        meta_blob(&m->t, meta_cell(&m->t, META_TYPE_SPEC, at, TYPE_SPEC_SIGNATURE), &n);
    struct gcd_cur c = gcd_cur_make(p, n, 0);
    uint32_t token = 0;
    (void)meta_element_type(m, &c, &token);
    return c.err == GCD_OK ? token : 0;
}

static void add(struct delegates *d, uint32_t method, uint32_t type)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->items[i].method == method && d->items[i].type == type)
            return;
    d->too_many = d->too_many || d->count == DELEGATES_MAX;
    if (!d->too_many)
        d->items[d->count++] = (struct delegate){ method, type };
}

static void look_at_method(struct gcd_metadata *m, uint32_t row, struct delegates *d)
{
    struct meta_region code = meta_code(m, row);
    uint32_t function = 0;
    uint64_t at = 0;
    for (uint32_t n = 0; n < INSTRUCTIONS_MAX && at < code.n && m->w.st == GCD_OK; n++) {
        uint64_t bytes = meta_instruction_bytes(m, code, at);
        const uint8_t *p = meta_view_in(&m->w, code, at, bytes < 6 ? (size_t)bytes : 1);
        bool loads = bytes == 6 && (p[1] == LDFTN || p[1] == LDVIRTFTN);
        uint32_t token = loads ? gcd_le32(p + 2) : bytes == 5 ? gcd_le32(p + 1) : 0;
        if (function != 0 && p[0] == NEWOBJ) {
            uint32_t type = constructed(m, token);
            if (type != 0)
                add(d, function, type);
        }
        function = loads && token >> 24 == META_METHOD_DEF && (token & 0xffffff) >= d->first &&
                           (token & 0xffffff) < d->end
                       ? token & 0xffffff
                       : 0;
        at += bytes;
    }
}

static void put(struct gcd_metadata *m, const struct delegate *d)
{
    const char *name =
        meta_string(&m->t, meta_cell(&m->t, META_METHOD_DEF, d->method, METHOD_NAME));
    if (name[0] == '\0' || strpbrk(name, " ;/?") != NULL)
        return;
    meta_put(m, name);
    meta_put(m, " &");
    (void)meta_reflection_name(m, d->type);
    meta_put(m, ";");
}

gcd_status gcd_metadata_delegates(struct gcd_metadata *m, uint32_t token, const char **ret,
                                  struct gcd_error *err)
{
    uint32_t row = token & 0xffffff;
    struct delegates d = { .count = 0 };
    meta_begin(m);
    if (token >> 24 != META_TYPE_DEF || row == 0 || row > m->t.table[META_TYPE_DEF].rows) {
        meta_fail(&m->w, GCD_E_ARG, GCD_OFF_NONE, "the module has no such type");
    } else {
        d.first = meta_cell(&m->t, META_TYPE_DEF, row, TYPE_DEF_METHODS);
        d.end = meta_methods_end(m, row);
    }
    d.too_many = d.end > d.first && d.end - d.first > METHODS_MAX;
    for (uint32_t i = d.first; i < d.end && !d.too_many && m->w.st == GCD_OK; i++)
        look_at_method(m, i, &d);
    for (size_t i = 0; i < d.count && !d.too_many && m->w.st == GCD_OK; i++)
        put(m, &d.items[i]);
    meta_put(m, "");
    if (m->w.st == GCD_OK)
        *ret = m->text;
    return meta_end(m, err);
}
