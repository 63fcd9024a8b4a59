/* A suspect in one line: where it is, what there is of it, and how sure that is. */
#include "analyze/suspects/suspects_words.h"

#include <gcdumpc/unstable/static_names.h>

static void put_root(struct suspect_words *s, const struct gcd_suspect *p)
{
    const struct gcd_root *r = &gcd_graph_summary(s->w->g)->roots[p->root];
    const struct gcd_static_words w = gcd_static_words(s->w->g, s->w->o->names, r);
    if (gcd_root_group(r) != GCD_GROUP_STATICS || w.label[0][0] == '\0') {
        suspects_put(s, "%s",
                     gcd_root_is_thread_static(s->w->g, r)
                         ? "thread-static variable"
                         : gcd_root_group_label(gcd_root_group(r))->one);
        return;
    }
    for (size_t i = 0; i < sizeof w.label / sizeof *w.label; i++)
        suspects_put_name(s, w.label[i]);
}

/* What people call the place where X is: "SessionStore._byUser", "Lifetime.s_source". */
void suspects_put_place(struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    bool object = p->kind == GCD_SUSPECT_OBJECT || p->kind == GCD_SUSPECT_HANDLERS;
    if (object && p->owner_node != GCD_NODE_NONE) {
        suspects_put_owner_place(s, p);
    } else if (object && x->contained) {
        suspects_put_type(s, x->collection.kind != GCD_COLLECTION_NONE
                                 ? gcd_graph_node_type(s->w->g, x->collection.node)
                                 : p->type);
    } else if (object && p->path_count > 0 && p->root != SIZE_MAX) {
        put_root(s, p);
    } else if (suspects_is_in_both(x)) {
        suspects_put_both(s, p);
    } else if (p->kind == GCD_SUSPECT_TYPE && p->type != GCD_TYPE_NONE) {
        suspects_put_type(s, p->type);
    } else if (x->module != NULL) {
        suspects_put_assembly(s, x->module);
    } else if (p->held_count > 0 && suspects_has_clause(p->kind)) {
        suspects_put_who(s, p->held[0].type);
    } else {
        suspects_put(s, "%s", gcd_suspect_kind_title(p->kind));
    }
}

static void put_each(struct suspect_words *s, uint64_t bytes, uint64_t n)
{
    if (n < 2)
        return;
    suspects_put(s, ", ");
    suspects_put_bytes(s, bytes / n);
    suspects_put(s, " each");
}

void suspects_put_what(struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    const char *what = suspects_what(p->kind);
    if (p->kind == GCD_SUSPECT_ASSEMBLIES) {
        suspects_put_count(s, x->copies > 0 ? x->copies : p->objects, "load", "loads");
    } else if (p->kind == GCD_SUSPECT_OBJECT && x->collection.kind != GCD_COLLECTION_NONE) {
        uint64_t n = suspects_put_elements(s, x);
        put_each(s, p->bytes, n);
    } else if (p->kind == GCD_SUSPECT_OBJECT && (x->recursive || p->held_count == 0)) {
        suspects_put_typed(s, p->objects, p->type);
        put_each(s, p->bytes, p->objects);
    } else if (p->kind == GCD_SUSPECT_OBJECT) {
        suspects_put_typed(s, p->held[0].objects, p->held[0].type);
        put_each(s, p->held[0].bytes, p->held[0].objects);
    } else if (p->kind == GCD_SUSPECT_TYPE) {
        suspects_put_typed(s, p->objects, p->type);
        put_each(s, p->bytes, p->objects);
    } else {
        suspects_put_number(s, p->objects);
        suspects_put(s, " %s", p->kind == GCD_SUSPECT_HANDLERS ? "handlers" : what);
        put_each(s, gcd_suspect_kind_is_free(p->kind) ? 0 : p->bytes,
                 gcd_suspect_kind_is_free(p->kind) ? 0 : p->objects);
    }
}
