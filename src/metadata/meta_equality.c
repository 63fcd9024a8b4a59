/*
 * Which classes have no equality of contents, so that a key of such a class is found by nobody who
 * has another object.  A record compares its fields: with an array among them, it compares that by
 * reference.
 */
#include <string.h>

#include "base/cur.h"
#include "base/signature.h"
#include "base/text.h"
#include "metadata/meta_impl.h"

#define BASES_MAX   32u  /* classes that a class is derived from */
#define METHODS_MAX 512u /* of one class */

/* The methods of one class that matter here. */
struct equality {
    bool any;       /* Equals, of whatever */
    bool generated; /* all of them are the compiler's */
    bool record;
    bool unknown;
};

static bool is_equals(const char *name)
{
    return strcmp(name, "Equals") == 0 || gcd_text_ends(name, ".Equals");
}

static struct equality equality_of(struct gcd_metadata *m, uint32_t row)
{
    struct equality e = { .generated = true };
    uint32_t first = meta_cell(&m->t, META_TYPE_DEF, row, TYPE_DEF_METHODS),
             end = meta_methods_end(m, row);
    e.unknown = end < first || end - first > METHODS_MAX;
    for (uint32_t i = first; i < end && !e.unknown && m->w.st == GCD_OK; i++) {
        const char *name = meta_string(&m->t, meta_cell(&m->t, META_METHOD_DEF, i, METHOD_NAME));
        e.record = e.record || strcmp(name, "<Clone>$") == 0;
        if (!is_equals(name))
            continue;
        e.any = true;
        e.generated = e.generated && meta_attribute(m, i << 5, "System.Runtime.CompilerServices",
                                                    "CompilerGeneratedAttribute") != 0;
    }
    return e;
}

/* Is the type of field ROW one that is compared by reference, whatever is in it? */
static bool is_compared_by_reference(struct gcd_metadata *m, uint32_t row)
{
    static const char *const classes[] = { "List`1", "Dictionary`2", "HashSet`1" };
    struct gcd_cur c;
    uint32_t token = 0;
    if (!meta_field_signature(m, row, &c))
        return false;
    uint8_t element = meta_element_type(m, &c, &token);
    if (element == ELEMENT_SZARRAY || element == ELEMENT_ARRAY)
        return true;
    for (size_t i = 0; i < sizeof classes / sizeof *classes && element == ELEMENT_CLASS &&
                       token >> 24 == META_TYPE_REF && c.err == GCD_OK;
         i++)
        if (meta_is_type(m, META_TYPE_REF, token & 0xffffff, "System.Collections.Generic",
                         classes[i]))
            return true;
    return false;
}

/* The first such field of record ROW. */
static void put_field(struct gcd_metadata *m, uint32_t row)
{
    uint32_t end = meta_fields_end(m, row);
    for (uint32_t i = meta_cell(&m->t, META_TYPE_DEF, row, TYPE_DEF_FIELDS);
         i < end && m->w.st == GCD_OK; i++) {
        if ((meta_cell(&m->t, META_FIELD, i, FIELD_FLAGS) & META_FIELD_STATIC) != 0 ||
            !is_compared_by_reference(m, i))
            continue;
        const char *name = meta_string(&m->t, meta_cell(&m->t, META_FIELD, i, FIELD_NAME));
        if (name[0] == '\0' || strpbrk(name, " ;/?*") != NULL)
            continue;
        meta_put(m, name);
        meta_put(m, " =;");
        return;
    }
}

gcd_status gcd_metadata_equality(struct gcd_metadata *m, uint32_t token, const char **ret,
                                 struct gcd_error *err)
{
    uint32_t row = token & 0xffffff;
    bool elsewhere = false;
    struct equality e = { .unknown = false };
    meta_begin(m);
    if (token >> 24 != META_TYPE_DEF || row == 0 || row > m->t.table[META_TYPE_DEF].rows)
        meta_fail(&m->w, GCD_E_ARG, GCD_OFF_NONE, "the module has no such type");
    else if (meta_type_name(m, META_TYPE_DEF, row)[0] == '<') /* the compiler's: never a key */
        e.unknown = true;
    for (unsigned i = 0; row != 0 && !e.any && !e.unknown && m->w.st == GCD_OK; i++) {
        e = equality_of(m, row);
        if (e.any && e.record && e.generated && !e.unknown)
            put_field(m, row);
        row = meta_base(m, row, &elsewhere);
        e.unknown = e.unknown || i == BASES_MAX;
    }
    if (!e.any && !e.unknown && !elsewhere && m->w.st == GCD_OK)
        meta_put(m, "* =;");
    meta_put(m, "");
    if (m->w.st == GCD_OK)
        *ret = m->text;
    return meta_end(m, err);
}
