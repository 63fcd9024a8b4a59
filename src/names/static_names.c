#include <gcdumpc/unstable/static_names.h>

#include <string.h>

bool gcd_static_is_labelled(const struct gcd_root *r)
{
    return r->kind == GCD_ROOT_STATIC && strcmp(r->label, r->name) != 0;
}

struct gcd_static_words gcd_static_words(const struct gcd_graph *g, const struct gcd_names *names,
                                         const struct gcd_root *r)
{
    struct gcd_static_words w = { "", { r->label, "", "" } };
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
