/*
 * Objects that wait for their finalizers form one suspect; an object that alone retains the share
 * belongs to another suspect.
 */
#include "analyze/suspects/suspects.h"
#include "analyze/suspects/suspects_words.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/text.h"

/* The queue comes last in the order of roots: an object that another root reaches does not count as
 * waiting. */
static gcd_status leave_to_others(struct suspects_work *w, struct gcd_error *err)
{
    const struct gcd_summary *summary = gcd_graph_summary(w->g);
    GCD_TRY(suspects_find_paths(w, err));
    for (size_t i = 0; i < summary->root_count; i++) {
        const struct gcd_root *r = &summary->roots[i];
        if (gcd_root_group(r) < GCD_GROUP_FINALIZER ||
            gcd_paths_parent(w->paths, r->node) != GCD_NODE_ROOT)
            bits_clear(w->waiting, r->node);
    }
    return GCD_OK;
}

static gcd_status mark_waiting(struct suspects_work *w, struct gcd_error *err)
{
    for (size_t i = 0; i < gcd_graph_summary(w->g)->root_count; i++) {
        const struct gcd_root *r = &gcd_graph_summary(w->g)->roots[i];
        if (gcd_root_group(r) != GCD_GROUP_FINALIZER)
            continue;
        if (w->waiting == NULL) {
            w->waiting = gcd_mem_new_array(w->alloc, w->words, sizeof *w->waiting);
            if (w->waiting == NULL)
                return gcd_fail_nomem(err, "looking at the finalizer queue");
        }
        bits_set(w->waiting, r->node);
    }
    return w->waiting != NULL ? leave_to_others(w, err) : GCD_OK;
}

/* What waits of each type. */
struct waiting {
    uint64_t objects, bytes;
};

/* The type that keeps the most bytes, one of the program before any of a library or framework that
 * does not keep twice as much; *RET_MANY: that with the most objects. */
static uint32_t type_of_bytes(const struct suspects_work *w, const struct waiting *of_type,
                              uint32_t *ret_many)
{
    uint32_t most = GCD_TYPE_NONE, own = GCD_TYPE_NONE;
    *ret_many = GCD_TYPE_NONE;
    for (uint32_t i = 0; i < w->types; i++) {
        if (of_type[i].objects == 0)
            continue;
        if (most == GCD_TYPE_NONE || of_type[i].bytes > of_type[most].bytes)
            most = i;
        if (w->is_own[i] && (own == GCD_TYPE_NONE || of_type[i].bytes > of_type[own].bytes))
            own = i;
        if (*ret_many == GCD_TYPE_NONE || of_type[i].objects > of_type[*ret_many].objects)
            *ret_many = i;
    }
    return own != GCD_TYPE_NONE && of_type[own].bytes >= of_type[most].bytes / 2 ? own : most;
}

gcd_status suspects_finalizers(struct suspects_work *w, struct gcd_error *err)
{
    struct gcd_suspect sum = { .node = GCD_NODE_NONE };
    GCD_TRY(mark_waiting(w, err));
    if (w->waiting == NULL)
        return GCD_OK;
    struct waiting *of_type = gcd_mem_new_array(w->alloc, w->types, sizeof *of_type), most = { 0 },
                   many = { 0 };
    uint32_t many_type = GCD_TYPE_NONE;
    if (of_type == NULL)
        return gcd_fail_nomem(err, "looking at the finalizer queue");
    for (uint32_t node = 0; node < w->nodes; node++) {
        if (!suspects_waits(w, node))
            continue;
        uint64_t bytes = gcd_dominators_retained(w->d, node);
        uint32_t type = suspects_type_of(w, node);
        sum.objects++;
        gcd_add_saturating(&sum.shallow_bytes, gcd_graph_node_size(w->g, node));
        gcd_add_saturating(&sum.retained_bytes, bytes);
        if (bytes < w->s->threshold) /* otherwise it is, or holds, another suspect */
            gcd_add_saturating(&sum.bytes, bytes);
        of_type[type].objects++;
        gcd_add_saturating(&of_type[type].bytes, bytes);
    }
    if (sum.objects > 0) {
        sum.type = type_of_bytes(w, of_type, &many_type);
        most = of_type[sum.type];
        many = of_type[many_type];
    }
    for (uint32_t node = 0; node < w->nodes && sum.node == GCD_NODE_NONE && sum.objects > 0; node++)
        if (suspects_waits(w, node) && suspects_type_of(w, node) == sum.type)
            sum.node = node;
    gcd_mem_free(w->alloc, of_type, (size_t)w->types * sizeof *of_type);
    w->s->checks[GCD_SUSPECT_FINALIZERS].objects = sum.objects;
    w->s->checks[GCD_SUSPECT_FINALIZERS].bytes = sum.bytes;
    if (sum.bytes < w->s->threshold && (!w->o->by_number || sum.objects < SUSPECTS_WAITING))
        return GCD_OK;
    struct suspect *x;
    GCD_TRY(suspects_add(w, GCD_SUSPECT_FINALIZERS, sum.node, sum.type, &x, err));
    x->pub.objects = sum.objects;
    x->pub.shallow_bytes = sum.shallow_bytes;
    x->pub.retained_bytes = sum.retained_bytes;
    x->pub.bytes = sum.bytes;
    x->type_objects = most.objects;
    x->type_bytes = most.bytes;
    x->each_type = many_type != sum.type ? many_type : GCD_TYPE_NONE;
    x->each_elements = many.objects;
    return GCD_OK;
}

void suspects_say_finalizers(struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    suspects_put_count(s, p->objects, "object waits for its finalizer",
                       "objects wait for their finalizers");
    bool few = x->each_type != GCD_TYPE_NONE;
    if (few) {
        suspects_put(s, ", ");
        suspects_put_number(s, x->type_objects);
        suspects_put(s, " of them ");
    } else {
        suspects_put(s, p->objects == x->type_objects ? ", all " : ", mostly ");
    }
    suspects_put_type(s, p->type);
    if (few) {
        suspects_put(s, " (");
        suspects_put_bytes(s, x->type_bytes);
        suspects_put(s, ") and ");
        suspects_put_number(s, x->each_elements);
        suspects_put(s, " ");
        suspects_put_type(s, x->each_type);
    } else if (p->objects != x->type_objects) {
        suspects_put(s, " (");
        suspects_put_number(s, x->type_objects);
        suspects_put(s, ")");
    }
    suspects_put(s, ", and");
    suspects_put_kept(s, p, p->objects != 1);
    suspects_put(s, ".");
    if (!s->w->is_own[p->type])
        suspects_put_own(s, p);
}

/* The innermost method of the program that the finalizer thread runs, as far as variables of its
 * stack tell; NULL = none. */
static const char *running_finalizer(const struct gcd_summary *f)
{
    static const char thread[] = ".NET Finalizer", in[] = " in ";
    for (size_t i = 0; i < f->root_count; i++) {
        const struct gcd_root *r = &f->roots[i];
        const char *of = r->kind == GCD_ROOT_STACK ? strstr(r->label, thread) : NULL,
                   *method = of != NULL ? strstr(of, in) : NULL;
        if (method == NULL)
            continue;
        method += sizeof in - 1;
        if (!gcd_text_begins(method, "System.") && !gcd_text_begins(method, "Microsoft."))
            return method;
    }
    return NULL;
}

void suspects_advise_finalizers(struct suspect_words *s, const struct suspect *x)
{
    const char *method = running_finalizer(gcd_graph_summary(s->w->g));
    (void)x;
    if (method == NULL) {
        suspects_put(s, "A finalizer is slow or blocked, unless they died just before the dump: "
                        "look at the stack of the finalizer thread.");
        return;
    }
    suspects_put(s, "A finalizer is slow or blocked: the finalizer thread is in ");
    suspects_put_short(s, method, strlen(method), 2, method);
    suspects_put(s, ".");
}
