/* How many types have no name. */
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/text/plural.h>
#include <gcdumpc/unstable/type_names.h>

/* A graph file may have the words that stand for a missing name. */
static bool has_name(const struct gcd_type *t)
{
    static const char *const words[] = { "UNKNOWN ", "TypeID(", "Type(0x", "ArrayType(0x" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(t->name, words[i], strlen(words[i])) == 0)
            return false;
    return t->named;
}

struct gcd_unnamed gcd_types_unnamed(const struct gcd_summary *s)
{
    struct gcd_unnamed u = { .text = "" };
    for (uint32_t i = 0; i < s->type_count; i++) {
        const struct gcd_type *t = &s->types[i];
        u.all += t->objects > 0;
        u.types += t->objects > 0 && !has_name(t);
    }
    u.most = u.types > u.all / 2;
    if (u.types > 0 && u.types == u.all)
        (void)snprintf(u.text, sizeof u.text, "no type has a name");
    else if (u.types > 0)
        (void)snprintf(u.text, sizeof u.text, "%s of %s types %s no name", GCD_DIGITS(u.types),
                       GCD_DIGITS(u.all), gcd_by_number(u.types, "has", "have"));
    return u;
}
