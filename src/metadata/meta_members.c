#include "metadata/meta_members.h"

#include <string.h>

#include "base/cur.h"
#include "base/error.h"
#include "base/text.h"
#include "metadata/meta_impl.h"

#define COMPILER_SPACE "System.Runtime.CompilerServices"
#define INLINE_NAME    "InlineArrayAttribute"
#define GENERATED_NAME "CompilerGeneratedAttribute"
#define NESTED_MIN     2u /* TypeAttributes, II.23.1.15: those of nested types begin here */
#define NESTED_MASK    7u

/* The row of TOKEN in TABLE, 0 after a failure. */
static uint32_t row_of(struct gcd_metadata *m, enum meta_table table, uint32_t token)
{
    uint32_t row = token & 0xffffff;
    if (token >> 24 == (uint32_t)table && row != 0 && row <= m->t.table[table].rows)
        return row;
    meta_fail(&m->w, GCD_E_ARG, GCD_OFF_NONE, "the module has no such type");
    return 0;
}

/* Keeps TEXT beyond the next text that is read. */
static const char *keep_text(struct gcd_metadata *m, const char *text)
{
    memcpy(m->field_name, text, strlen(text) + 1);
    return m->field_name;
}

static uint32_t offset_of_field(struct gcd_metadata *m, uint32_t row)
{
    uint32_t first;
    return meta_find(&m->t, META_FIELD_LAYOUT, FIELD_LAYOUT_FIELD, row, &first) == 1
               ? meta_cell(&m->t, META_FIELD_LAYOUT, first, FIELD_LAYOUT_OFFSET)
               : META_NO_OFFSET;
}

/*
 * The name of field ROW of TYPE.  If only an attribute tells that the compiler has made it, it is
 * as in the source: Visual Basic keeps a property and a variable with events in "_Title", an event
 * in "ClosedEvent", F# the parts of a case, a nested class, in "_name".
 */
static const char *name_of_member(struct gcd_metadata *m, uint32_t type, uint32_t row)
{
    const char *name =
        keep_text(m, meta_string(&m->t, meta_cell(&m->t, META_FIELD, row, FIELD_NAME)));
    size_t n = strlen(name);
    bool lower = n > 1 && name[1] >= 'a' && name[1] <= 'z',
         nested =
             (meta_cell(&m->t, META_TYPE_DEF, type, TYPE_DEF_FLAGS) & NESTED_MASK) >= NESTED_MIN,
         kept = n > 1 && name[0] == '_' && (!lower || nested),
         event = n > 5 && gcd_text_ends(name, "Event");
    if ((!kept && !event) || meta_attribute(m, row << 5 | 1, COMPILER_SPACE, GENERATED_NAME) == 0)
        return name;
    if ((n = meta_event_length(m, type)) > 0) /* also C#'s, perhaps "_Closed" */
        m->field_name[n] = '\0';
    return name + (n > 0 ? 0 : kept);
}

gcd_status meta_next_member(struct gcd_metadata *m, uint32_t token, struct meta_member *x,
                            struct gcd_error *err)
{
    struct gcd_cur c;
    meta_begin(m);
    uint32_t type = row_of(m, META_TYPE_DEF, token);
    uint32_t end = type != 0 ? meta_fields_end(m, type) : 0,
             row = x->row != 0 ? x->row + 1
                   : type != 0 ? meta_cell(&m->t, META_TYPE_DEF, type, TYPE_DEF_FIELDS)
                               : 0;
    while (row < end && m->w.st == GCD_OK &&
           (meta_cell(&m->t, META_FIELD, row, FIELD_FLAGS) & META_FIELD_STATIC) != 0)
        row++;
    if (row >= end && m->w.st == GCD_OK)
        return GCD_END;
    if (m->w.st != GCD_OK)
        return meta_end(m, err);
    uint32_t offset = offset_of_field(m, row);
    const char *name = name_of_member(m, type, row);
    if (meta_field_signature(m, row, &c))
        *x = (struct meta_member){ row, name, c.p, gcd_cur_left(&c), offset };
    return meta_end(m, err);
}

gcd_status meta_inline_length(struct gcd_metadata *m, uint32_t token, uint32_t *ret,
                              struct gcd_error *err)
{
    uint32_t length = 0;
    meta_begin(m);
    uint32_t type = row_of(m, META_TYPE_DEF, token);
    uint32_t row = type != 0 ? meta_attribute(m, type << 5 | 3, COMPILER_SPACE, INLINE_NAME) : 0;
    if (row != 0) {
        size_t n;
        const uint8_t *p =
            meta_blob(&m->t, meta_cell(&m->t, META_CUSTOM_ATTRIBUTE, row, ATTRIBUTE_VALUE), &n);
        struct gcd_cur c = gcd_cur_make(p, n, 0);
        if (gcd_cur_u16(&c) == 1) /* the prolog, II.23.3 */
            length = gcd_cur_u32(&c);
        if (length == 0)
            meta_fail(&m->w, GCD_E_FORMAT, GCD_OFF_NONE, "an inline array has no length");
    }
    if (m->w.st == GCD_OK)
        *ret = length;
    return meta_end(m, err);
}

gcd_status meta_specification(struct gcd_metadata *m, uint32_t token, const uint8_t **ret,
                              size_t *ret_n, struct gcd_error *err)
{
    size_t n = 0;
    meta_begin(m);
    uint32_t row = row_of(m, META_TYPE_SPEC, token);
    const uint8_t *p =
        row != 0 ? meta_blob(&m->t, meta_cell(&m->t, META_TYPE_SPEC, row, TYPE_SPEC_SIGNATURE), &n)
                 : NULL;
    if (m->w.st == GCD_OK) {
        *ret = p;
        *ret_n = n;
    }
    return meta_end(m, err);
}

static const char *assembly_of_reference(struct gcd_metadata *m, uint32_t row)
{
    return keep_text(
        m, meta_string(&m->t, meta_cell(&m->t, META_ASSEMBLY_REF, row, ASSEMBLY_REF_NAME)));
}

/* Where the first "+" of a reflection name is that is not escaped. */
static size_t outermost_length(const char *name)
{
    size_t n = 0;
    for (; name[n] != '\0' && name[n] != '+'; n++)
        n += name[n] == '\\' && name[n + 1] != '\0';
    return n;
}

gcd_status meta_reference(struct gcd_metadata *m, uint32_t token, struct meta_origin *ret,
                          struct gcd_error *err)
{
    struct meta_origin o = { .assembly = "" };
    meta_begin(m);
    uint32_t row = row_of(m, META_TYPE_REF, token), scope = 0;
    if (row != 0) {
        (void)meta_reflection_name(m, token);
        row = m->frames[0].token[0] & 0xffffff; /* of the outermost type */
        scope = meta_cell(&m->t, META_TYPE_REF, row, TYPE_REF_SCOPE);
    }
    /* a ResolutionScope, II.24.2.6 */
    if ((scope & 3) == 2)
        o.assembly = assembly_of_reference(m, scope >> 2);
    else if ((scope & 3) != 0 || scope >> 2 != 1)
        meta_fail(&m->w, GCD_E_UNSUPPORTED, GCD_OFF_NONE, "a type is in another file of a module");
    meta_put(m, "");
    if (m->w.st == GCD_OK) {
        o.name = m->text;
        o.outermost = outermost_length(o.name);
        *ret = o;
    }
    return meta_end(m, err);
}

gcd_status gcd_metadata_reference_assembly(struct gcd_metadata *m, uint32_t token, const char **ret,
                                           struct gcd_error *err)
{
    struct meta_origin o;
    GCD_TRY(meta_reference(m, token, &o, err));
    *ret = o.assembly;
    return GCD_OK;
}

bool gcd_metadata_is_flags(struct gcd_metadata *m, uint32_t token)
{
    struct gcd_error own = GCD_ERROR_INIT;
    meta_begin(m);
    uint32_t type = row_of(m, META_TYPE_DEF, token);
    bool flags = type != 0 && meta_attribute(m, type << 5 | 3, "System", "FlagsAttribute") != 0;
    return meta_end(m, &own) == GCD_OK && flags;
}

gcd_status meta_forwarder(struct gcd_metadata *m, uint32_t row, struct meta_origin *ret,
                          struct gcd_error *err)
{
    struct meta_origin o = { .assembly = "" };
    if (row > m->t.table[META_EXPORTED_TYPE].rows)
        return GCD_END;
    meta_begin(m);
    uint32_t to = meta_cell(&m->t, META_EXPORTED_TYPE, row, EXPORTED_IMPLEMENTATION);
    if ((to & 3) == 1) {
        o.assembly = assembly_of_reference(m, to >> 2);
        meta_put_reflection_name(m, META_EXPORTED_TYPE, row);
    }
    meta_put(m, "");
    if (m->w.st == GCD_OK) {
        o.name = m->text;
        o.outermost = strlen(o.name);
        *ret = o;
    }
    return meta_end(m, err);
}
