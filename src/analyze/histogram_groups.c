#include "analyze/histogram_groups.h"

#include <string.h>

static struct histogram_label label(const char *s)
{
    return (struct histogram_label){ s, strlen(s) };
}

/*
 * Everything before the last dot that precedes generic arguments, array brackets and nested types.
 * The runtime's spelling distinguishes a namespace from an outer type, C#'s does not.
 */
static struct histogram_label namespace_of(const struct gcd_type *t)
{
    size_t end = strcspn(t->name, "`[<+*&,( ");
    while (end > 0 && t->name[end - 1] != '.')
        end--;
    return end > 1 && t->named ? (struct histogram_label){ t->name, end - 1 } : label("(none)");
}

/* ECMA-335 II.23.1.16: primitives (enums among them), value types, typed references, native
 * integers.  On the heap they are boxed. */
static bool is_value(uint8_t element_type)
{
    return (element_type >= 0x02 && element_type <= 0x0d) || element_type == 0x11 ||
           element_type == 0x16 || element_type == 0x18 || element_type == 0x19;
}

/* Graph files have only names, which reveal strings and arrays. */
static const char *kind_of(const struct gcd_type *t)
{
    size_t n = strlen(t->name);
    if (t->element_type == 0x0e || strcmp(t->name, "System.String") == 0)
        return "string";
    if ((t->flags & GCD_TYPE_ARRAY) != 0 || t->element_type == 0x14 || t->element_type == 0x1d ||
        (t->named && n > 2 && t->name[n - 1] == ']' && strchr("[,*", t->name[n - 2]) != NULL))
        return "array";
    if ((t->flags & GCD_TYPE_DELEGATE) != 0)
        return "delegate";
    if ((t->flags & GCD_TYPE_COM) != 0)
        return "COM wrapper";
    if (is_value(t->element_type))
        return "boxed value";
    if (t->element_type == 0)
        return t->named ? "object" : "unknown";
    return (t->flags & GCD_TYPE_FINALIZABLE) != 0 ? "finalizable class" : "class";
}

/* The path of the module; otherwise the name of its assembly, if the module file has told it. */
static const char *module_of(const struct gcd_summary *s, const struct gcd_type *t)
{
    const struct gcd_module *m =
        t->module_number < s->module_count ? &s->modules[t->module_number] : NULL;
    if (t->module_path[0] != '\0')
        return t->module_path;
    return m != NULL && m->assembly[0] != '\0' ? m->assembly : "(unknown)";
}

struct histogram_label histogram_label_of(enum gcd_histogram_by by, const struct gcd_summary *s,
                                          const struct gcd_type *t)
{
    if (by == GCD_BY_NAMESPACE)
        return namespace_of(t);
    if (by == GCD_BY_MODULE)
        return label(module_of(s, t));
    return label(kind_of(t));
}
