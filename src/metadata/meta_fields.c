/*
 * Static fields, with their declaring class and declared type; fields of objects; constants.
 */
#include <string.h>

#include <gcdumpc/unstable/metadata.h>

#include "base/cur.h"
#include "base/signature.h"
#include "metadata/meta_impl.h"

#define FIELD_LITERAL   0x40u /* II.23.1.5 */
#define SIGNATURE_FIELD 6u    /* II.23.2.4 */
#define ATTRIBUTES_MAX  64u   /* attributes of one declaration that are examined */

uint32_t meta_fields_end(struct gcd_metadata *m, uint32_t row)
{
    uint32_t all = m->t.table[META_FIELD].rows + 1;
    if (row == m->t.table[META_TYPE_DEF].rows)
        return all;
    uint32_t end = meta_cell(&m->t, META_TYPE_DEF, row + 1, TYPE_DEF_FIELDS);
    if (end > all || end < meta_cell(&m->t, META_TYPE_DEF, row, TYPE_DEF_FIELDS))
        meta_fail(&m->w, GCD_E_FORMAT, GCD_OFF_NONE, "fields of a type are in no order");
    return m->w.st == GCD_OK ? end : 0;
}

/* A type and its namespace. */
struct type_name {
    const char *space, *name;
};

/* Is CONSTRUCTOR, a CustomAttributeType (II.24.2.6), that of attribute T? */
static bool constructs(struct gcd_metadata *m, uint32_t constructor, struct type_name t)
{
    uint32_t row = constructor >> 3;
    /* a method definition: in the library that defines the attribute */
    if ((constructor & 7) == 2) {
        uint32_t type = meta_find_last(&m->t, META_TYPE_DEF, TYPE_DEF_METHODS, row);
        return type != 0 && meta_is_type(m, META_TYPE_DEF, type, t.space, t.name);
    }
    uint32_t parent =
        (constructor & 7) == 3 ? meta_cell(&m->t, META_MEMBER_REF, row, MEMBER_REF_CLASS) : 0;
    if (parent == 0 || (parent & 7) > 1)
        return false;
    return meta_is_type(m, (parent & 7) == 1 ? META_TYPE_REF : META_TYPE_DEF, parent >> 3, t.space,
                        t.name);
}

uint32_t meta_attribute(struct gcd_metadata *m, uint32_t parent, const char *namespace,
                        const char *name)
{
    uint32_t first, n = meta_find(&m->t, META_CUSTOM_ATTRIBUTE, ATTRIBUTE_PARENT, parent, &first);
    if (n > ATTRIBUTES_MAX)
        meta_fail(&m->w, GCD_E_LIMIT, GCD_OFF_NONE,
                  "a declaration has more attributes than any compiler writes");
    for (uint32_t i = 0; i < n && m->w.st == GCD_OK; i++)
        if (constructs(m, meta_cell(&m->t, META_CUSTOM_ATTRIBUTE, first + i, ATTRIBUTE_TYPE),
                       (struct type_name){ namespace, name }))
            return first + i;
    return 0;
}

/* The next static field after F->token; false if there is none. */
static bool find_static(struct gcd_metadata *m, struct gcd_static_field *f)
{
    uint32_t row = f->token & 0xffffff, type = f->class_token & 0xffffff,
             types = m->t.table[META_TYPE_DEF].rows;
    if (type == 0 && types > 0) {
        type = 1;
        row = meta_cell(&m->t, META_TYPE_DEF, 1, TYPE_DEF_FIELDS) - 1;
    }
    while (type <= types && m->w.st == GCD_OK) {
        uint32_t end = meta_fields_end(m, type);
        while (++row < end && m->w.st == GCD_OK) {
            uint32_t flags = meta_cell(&m->t, META_FIELD, row, FIELD_FLAGS);
            if ((flags & META_FIELD_STATIC) == 0 || (flags & FIELD_LITERAL) != 0)
                continue;
            f->token = GCD_TOKEN_FIELD | row;
            f->class_token = GCD_TOKEN_TYPE | type;
            f->flags = flags;
            return true;
        }
        row = end - 1;
        type++;
    }
    return false;
}

bool meta_field_signature(struct gcd_metadata *m, uint32_t row, struct gcd_cur *ret)
{
    size_t n;
    const uint8_t *p = meta_blob(&m->t, meta_cell(&m->t, META_FIELD, row, FIELD_SIGNATURE), &n);
    *ret = gcd_cur_make(p, n, 0);
    if (gcd_cur_u8(ret) != SIGNATURE_FIELD)
        meta_fail(&m->w, GCD_E_FORMAT, GCD_OFF_NONE,
                  "the signature of a field is of something else");
    return m->w.st == GCD_OK;
}

gcd_status gcd_metadata_next_static(struct gcd_metadata *m, struct gcd_static_field *f,
                                    struct gcd_error *err)
{
    struct gcd_static_field next = *f;
    meta_begin(m);
    if (m->t.table[META_TYPE_DEF].rows == 0 || !find_static(m, &next))
        return m->w.st == GCD_OK ? GCD_END : meta_end(m, err);
    struct gcd_cur c;
    if (meta_field_signature(m, next.token & 0xffffff, &c))
        next.element_type = meta_element_type(m, &c, &next.type_token);
    next.thread_static =
        meta_attribute(m, (next.token & 0xffffff) << 5 | 1, "System", "ThreadStaticAttribute") != 0;
    const char *name =
        meta_string(&m->t, meta_cell(&m->t, META_FIELD, next.token & 0xffffff, FIELD_NAME));
    if (m->w.st == GCD_OK) {
        memcpy(m->field_name, name, strlen(name) + 1);
        next.name = m->field_name;
        *f = next;
    }
    return meta_end(m, err);
}

gcd_status gcd_metadata_field_type(struct gcd_metadata *m, const struct gcd_static_field *f,
                                   const char **ret, struct gcd_error *err)
{
    struct gcd_cur c;
    meta_begin(m);
    if (meta_field_signature(m, f->token & 0xffffff, &c))
        meta_signature(m, &c, f->class_token & 0xffffff);
    meta_put(m, "");
    if (m->w.st == GCD_OK)
        *ret = m->text;
    return meta_end(m, err);
}

/* ---- fields of one type ---- */

/* The next field of type TOKEN after field AFTER whose flags are FLAGS in MASK; 0 = there is none.
 */
static uint32_t next_field(struct gcd_metadata *m, uint32_t token, uint32_t after, uint32_t mask,
                           uint32_t flags)
{
    uint32_t type = token & 0xffffff;
    if (token >> 24 != META_TYPE_DEF || type == 0 || type > m->t.table[META_TYPE_DEF].rows) {
        meta_fail(&m->w, GCD_E_ARG, GCD_OFF_NONE, "the module has no such type");
        return 0;
    }
    uint32_t end = meta_fields_end(m, type),
             row = after != 0 ? (after & 0xffffff) + 1
                              : meta_cell(&m->t, META_TYPE_DEF, type, TYPE_DEF_FIELDS);
    for (; row < end && m->w.st == GCD_OK; row++)
        if ((meta_cell(&m->t, META_FIELD, row, FIELD_FLAGS) & mask) == flags)
            return m->w.st == GCD_OK ? row : 0;
    return 0;
}

static const char *keep_name(struct gcd_metadata *m, uint32_t row)
{
    const char *name = meta_string(&m->t, meta_cell(&m->t, META_FIELD, row, FIELD_NAME));
    memcpy(m->field_name, name, strlen(name) + 1);
    return m->field_name;
}

/* The type of field F from its signature. */
static void read_type(struct gcd_metadata *m, struct gcd_cur *c, struct gcd_instance_field *f)
{
    f->element_type = meta_element_type(m, c, &f->type_token);
    if (f->element_type == ELEMENT_VAR)
        f->parameter = gcd_cur_compressed(c);
    else if (f->element_type == ELEMENT_VALUETYPE && gcd_cur_left(c) > 0 &&
             gcd_cur_compressed(c) == 1) { /* the number of arguments: it is generic */
        f->argument_type = meta_element_type(m, c, &f->argument_token);
        if (f->argument_type == ELEMENT_VAR)
            f->parameter = gcd_cur_compressed(c);
    }
}

gcd_status gcd_metadata_next_field(struct gcd_metadata *m, uint32_t token,
                                   struct gcd_instance_field *f, struct gcd_error *err)
{
    struct gcd_instance_field next = { .element_type = 0 };
    struct gcd_cur c;
    meta_begin(m);
    uint32_t row = next_field(m, token, f->token, META_FIELD_STATIC, 0);
    if (row == 0)
        return m->w.st == GCD_OK ? GCD_END : meta_end(m, err);
    if (meta_field_signature(m, row, &c))
        read_type(m, &c, &next);
    next.token = GCD_TOKEN_FIELD | row;
    next.name = keep_name(m, row);
    if (m->w.st == GCD_OK)
        *f = next;
    return meta_end(m, err);
}

/* The number of 1, 2, 4 or 8 bytes of element type TYPE (II.23.1.16: odd ones are unsigned). */
static bool number_of(const uint8_t *p, size_t n, uint32_t type, uint64_t *ret)
{
    bool is_signed = type >= 4 && type <= 10 && type % 2 == 0;
    if ((n != 1 && n != 2 && n != 4 && n != 8) || type < 2 || type > 11)
        return false;
    uint64_t value = 0;
    unsigned unused = 64 - 8 * (unsigned)n;
    for (size_t i = n; i-- > 0;)
        value = value << 8 | p[i];
    if (is_signed && unused > 0)
        value = (uint64_t)((int64_t)(value << unused) >> unused);
    *ret = value;
    return true;
}

gcd_status gcd_metadata_next_literal(struct gcd_metadata *m, uint32_t token, struct gcd_literal *l,
                                     struct gcd_error *err)
{
    uint32_t row = l->token, first;
    meta_begin(m);
    while ((row = next_field(m, token, row, FIELD_LITERAL, FIELD_LITERAL)) != 0) {
        struct gcd_literal next = { .token = GCD_TOKEN_FIELD | row };
        size_t n;
        if (meta_find(&m->t, META_CONSTANT, CONSTANT_PARENT, row << 2, &first) == 0)
            continue;
        uint32_t type = meta_cell(&m->t, META_CONSTANT, first, CONSTANT_TYPE) & 0xff;
        const uint8_t *p =
            meta_blob(&m->t, meta_cell(&m->t, META_CONSTANT, first, CONSTANT_VALUE), &n);
        if (m->w.st != GCD_OK || !number_of(p, n, type, &next.value))
            continue;
        next.name = keep_name(m, row);
        if (m->w.st == GCD_OK)
            *l = next;
        return meta_end(m, err);
    }
    return m->w.st == GCD_OK ? GCD_END : meta_end(m, err);
}
