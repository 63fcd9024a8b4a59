/* Boxed values: objects of a primitive, an enum or a struct.  In files without element types, only
 * the names of primitives tell. */
#include "analyze/findings/findings.h"
#include "analyze/suspects/suspects_words.h"

#include <string.h>

/* ECMA-335 II.23.1.16. */
static bool is_value(uint8_t element_type)
{
    return (element_type >= 0x02 && element_type <= 0x0d) || element_type == 0x11 ||
           element_type == 0x18 || element_type == 0x19;
}

static bool is_type(const struct gcd_type *t)
{
    static const char *const names[] = { "Boolean", "Char",     "SByte",          "Byte",
                                         "Int16",   "UInt16",   "Int32",          "UInt32",
                                         "Int64",   "UInt64",   "Single",         "Double",
                                         "Decimal", "DateTime", "DateTimeOffset", "TimeSpan",
                                         "Guid",    "IntPtr",   "UIntPtr" };
    if (t->element_type != 0)
        return is_value(t->element_type);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(t->name, "System.", 7) == 0 && strcmp(t->name + 7, names[i]) == 0)
            return true;
    return false;
}

static bool look(const struct findings *f, uint32_t node, struct finding_member *ret)
{
    (void)f;
    (void)node;
    ret->group = ret->type;
    return true;
}

const struct finding_rule finding_boxed = {
    .kind = GCD_SUSPECT_BOXED,
    .least = FINDING_BOXED,
    .only_large = true,
    .is_type = is_type,
    .look = look,
    .who = findings_holder,
};

void suspects_tell_boxed(struct suspect_words *s, const struct suspect *x)
{
    suspects_put_number(s, x->pub.objects);
    suspects_put(s, " boxed ");
    suspects_put_type(s, x->pub.type);
    suspects_put(s, " values take ");
    suspects_put_bytes(s, x->pub.shallow_bytes);
    suspects_put_behind(s, x, " in ");
}
