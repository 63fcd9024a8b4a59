#include <gcdumpc/unstable/static_names.h>

#include <string.h>

#include <gcdumpc/unstable/fields.h>

/* The class of the start-up code of a file in F#, "<StartupCode$Harbour>.$Main". */
static size_t startup_code(const char *label, size_t n)
{
    static const char begin[] = "<StartupCode$";
    size_t i = sizeof begin - 1;
    if (n <= i || memcmp(label, begin, i) != 0)
        return 0;
    while (i < n && label[i] != '>')
        i++;
    return i + 2 < n && label[i + 1] == '.' && label[i + 2] == '$' ? i + 3 : 0;
}

/* Without the line at the end of a variable of F#: "state@8". */
static size_t without_line(const char *label, size_t n)
{
    size_t i = n;
    while (i > 0 && label[i - 1] >= '0' && label[i - 1] <= '9')
        i--;
    return i < n && i > 1 && label[i - 1] == '@' ? i - 1 : n;
}

size_t gcd_static_source_label(const char *label, size_t n, char *buf)
{
    static const char between[] = " or ";
    size_t used = 0;
    for (size_t at = 0, end; at <= n; at = end + sizeof between - 1) {
        for (end = at;
             end + sizeof between - 1 < n && memcmp(label + end, between, sizeof between - 1) != 0;)
            end++;
        if (end + sizeof between - 1 >= n)
            end = n;
        size_t from = at + startup_code(label + at, end - at),
               some = without_line(label + from, end - from);
        used += gcd_field_source_name(label + from, some, buf + used);
        if (end == n)
            break;
        memcpy(buf + used, between, sizeof between - 1);
        used += sizeof between - 1;
    }
    return used;
}

bool gcd_static_is_property(const struct gcd_root *r)
{
    size_t n;
    return r->kind == GCD_ROOT_STATIC && gcd_field_property(r->name, strlen(r->name), &n);
}

bool gcd_static_is_labelled(const struct gcd_root *r)
{
    size_t n = strlen(r->name);
    if (r->kind != GCD_ROOT_STATIC || strcmp(r->label, r->name) == 0)
        return false;
    return !gcd_field_property(r->name, n, &n) || strlen(r->label) != n ||
           memcmp(r->label, r->name + 1, n) != 0;
}

const char *gcd_root_method(const struct gcd_root *r)
{
    static const char in[] = " in "; /* the last one: names of threads may have it, too */
    const char *at = r->kind == GCD_ROOT_STACK ? strstr(r->label, in) : NULL;
    for (const char *next = at; next != NULL; next = strstr(at, in))
        at = next + sizeof in - 1;
    return at;
}

bool gcd_root_is_named_thread(const struct gcd_root *r)
{
    return gcd_root_group(r) == GCD_GROUP_LOCALS && r->name[0] != '\0';
}

bool gcd_root_is_thread_static(const struct gcd_graph *g, const struct gcd_root *r)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(g, r->node, &n);
    uint32_t type = gcd_graph_node_type(g, r->node);
    /* a memory image tells stacks and such variables apart */
    if (gcd_root_group(r) != GCD_GROUP_LOCALS || r->label[0] != '\0' ||
        strcmp(gcd_graph_summary(g)->types[type].name, "System.Object[]") != 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (edges[i] != r->node && gcd_graph_node_type(g, edges[i]) == type)
            return true;
    return false;
}

struct gcd_static_words gcd_static_words(const struct gcd_graph *g, const struct gcd_names *names,
                                         const struct gcd_root *r)
{
    struct gcd_static_words w = { "", { r->label, "", "" } };
    if (r->kind == GCD_ROOT_STACK)
        return w;
    if (r->kind != GCD_ROOT_STATIC)
        return (struct gcd_static_words){ "", { "", "", "" } };
    if (r->class_name[0] != '\0')
        w.class_name = names != NULL ? gcd_names_class(names, r) : r->class_name;
    if (gcd_static_is_labelled(r) || w.class_name[0] != '\0' ||
        r->type == gcd_graph_node_type(g, r->node))
        return w;
    /* as Mono sends it */
    w.class_name =
        names != NULL ? gcd_names_get(names, r->type) : gcd_graph_summary(g)->types[r->type].name;
    if (r->name[0] != '\0')
        w = (struct gcd_static_words){ w.class_name, { w.class_name, ".", r->name } };
    return w;
}

bool gcd_static_is_own(const struct gcd_graph *g, const struct gcd_origins *origins,
                       const struct gcd_root *r)
{
    const struct gcd_static_words w = gcd_static_words(g, NULL, r);
    if (gcd_root_group(r) != GCD_GROUP_STATICS || w.label[0][0] == '\0')
        return false;
    if (w.class_name[0] == '\0' &&
        !gcd_static_is_labelled(r)) /* only the field is known: the type of its value decides */
        return gcd_origins_get(origins, gcd_graph_node_type(g, r->node)) == GCD_ORIGIN_OWN;
    return gcd_origins_of_name(origins, w.class_name[0] != '\0' ? w.class_name : w.label[0]) ==
           GCD_ORIGIN_OWN;
}
