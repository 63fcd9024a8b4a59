/*
 * What lambdas have captured.  The variables of one block are in one object, which lives as long as
 * any lambda that uses one of them: a small lambda can keep what only another one needed.
 */
#include "analyze/suspects/suspects_words.h"

#include <string.h>

/* So many of these objects are looked at, and so many different variables. */
#define SEEN      64u
#define VARIABLES 8u

/* What a variable retains in the objects that were looked at, and an object in it. */
struct variable {
    struct gcd_field field;
    uint32_t value;
    uint64_t bytes;
};

/* The class of variables behind X: that of what is called, or the first one in it. */
static uint32_t class_of(const struct suspect_words *s, const struct gcd_suspect *p)
{
    if (p->held_count > 0 && suspects_is_lambda(s, p->held[0].type))
        return p->held[0].type;
    for (size_t i = 0; i < p->own_count; i++)
        if (suspects_is_lambda(s, p->own[i].type))
            return p->own[i].type;
    return GCD_TYPE_NONE;
}

/* Adds what the variables in NODE retain to ALL[N]. */
static size_t add_variables(const struct suspect_words *s, uint32_t node, struct variable *all,
                            size_t n)
{
    size_t count, k;
    const uint32_t *edges = gcd_graph_node_edges(s->w->g, node, &count);
    for (size_t i = 0; i < count; i++) {
        struct gcd_field f = gcd_fields_between(s->w->o->fields, node, edges[i]);
        if (suspects_parent(s->w, edges[i]) != node || f.name == NULL || f.other != NULL)
            continue;
        for (k = 0; k < n && strcmp(all[k].field.name, f.name) != 0;)
            k++;
        if (k == VARIABLES)
            continue;
        if (k == n)
            all[n++] = (struct variable){ f, edges[i], 0 };
        all[k].bytes += gcd_dominators_retained(s->w->d, edges[i]);
    }
    return n;
}

void suspects_put_captured(struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    struct variable all[VARIABLES], *most = all;
    uint32_t seen = 0, class = s->w->o->fields != NULL ? class_of(s, p) : GCD_TYPE_NONE;
    size_t n = 0;
    if (p->owner_node != GCD_NODE_NONE && suspects_is_lambda(s, p->owner) &&
        suspects_owner_field(s, p)[0] != '\0') {
        suspects_put(s, " The variable lives as long as any lambda that uses one of the same "
                        "block.");
        return;
    }
    for (uint32_t node = 0; node < s->w->nodes && seen < SEEN && class != GCD_TYPE_NONE; node++)
        if (suspects_type_of(s->w, node) == class) {
            n = add_variables(s, node, all, n);
            seen++;
        }
    for (size_t i = 1; i < n; i++)
        most = all[i].bytes > most->bytes ? &all[i] : most;
    if (n == 0 ||
        (double)most->bytes / seen * (double)gcd_graph_summary(s->w->g)->types[class].objects <
            (double)p->bytes / 2)
        return;
    suspects_put(s, " Most of that is in the variable ");
    suspects_put_name(s, most->field.name);
    suspects_put(s, " (");
    suspects_put_type(s, suspects_type_of(s->w, most->value));
    suspects_put(s, ") of ");
    suspects_put_where(s, class);
    suspects_put(s, ", which lives as long as any lambda that uses a variable of the same block.");
}
