/*
 * A message bus, a list of callbacks: a collection of delegates, or of subscriptions with a
 * delegate each.  If these are methods of one class, an object of which each, then that class
 * registers and never takes back; the bus only does as it is told.  The same holds for observers.
 */
#include "analyze/suspects/suspects.h"

#include <string.h>

#include "base/error.h"

/* So many objects of the element's type are asked for their target, nearly all of which must be of
 * one type; fewer elements are no subscriptions. */
#define ASKED  64u
#define FEWEST 16u
/* Classes have fewer fields. */
#define FIELDS_MAX 64u

/* The target of DELEGATE; GCD_NODE_NONE: it has none, or itself as that of a static method. */
static uint32_t target_of(const struct suspects_work *w, uint32_t delegate)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(w->g, delegate, &n);
    return n > 0 && edges[0] != delegate ? edges[0] : GCD_NODE_NONE;
}

/* The target of the delegate that NODE is, or has in a field; GCD_NODE_NONE. */
static uint32_t target_in(const struct suspects_work *w, uint32_t node)
{
    size_t n;
    if (suspects_is_delegate(w, suspects_type_of(w, node)))
        return target_of(w, node);
    const uint32_t *edges = gcd_graph_node_edges(w->g, node, &n);
    for (size_t i = 0; i < n && i < FIELDS_MAX; i++)
        if (suspects_is_delegate(w, suspects_type_of(w, edges[i])))
            return target_of(w, edges[i]);
    return GCD_NODE_NONE;
}

/* Is TYPE nested in OWNER, as what its lambdas use is? */
static bool is_part_of(const struct suspects_work *w, uint32_t type, uint32_t owner)
{
    const struct gcd_type *types = gcd_graph_summary(w->g)->types;
    size_t n = strlen(types[owner].name);
    return w->alike[type] == w->alike[owner] ||
           (strncmp(types[type].name, types[owner].name, n) == 0 && types[type].name[n] == '+');
}

/* Is X a collection of observers, each an object of the program that subscribed itself? */
static bool has_observers(const struct suspects_work *w, const struct suspect *x)
{
    const struct gcd_type *types = gcd_graph_summary(w->g)->types;
    const char *name = types[suspects_type_of(w, x->collection.node)].name;
    return strstr(name, "System.IObserver`1[") != NULL && w->is_own[x->pub.element.type] &&
           !is_part_of(w, x->pub.element.type, x->pub.owner);
}

/* Does NODE only pass on what it hears, as an observer that is made of a delegate does?  Then the
 * class has subscribed that the delegate belongs to. */
static bool is_passive(const struct suspects_work *w, uint32_t node)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(w->g, node, &n);
    bool passive = n <= FIELDS_MAX;
    for (size_t i = 0; i < n && passive; i++)
        passive = !w->is_own[suspects_type_of(w, edges[i])];
    return passive;
}

/* ---- Rx ---- */

#define RX      "System.Reactive."
#define RX_SEEN 64u /* objects of one subscription that are looked at */

/* Is X the array of subscriptions of a Subject<T>, or the like, of Rx? */
static bool has_subscriptions(const struct suspects_work *w, const struct suspect *x)
{
    return gcd_text_begins(gcd_graph_summary(w->g)->types[x->pub.element.type].name,
                           RX "Subjects.");
}

/* Is TYPE of what one subscription consists of, and not what it subscribed to? */
static bool is_in_subscription(const struct suspects_work *w, uint32_t type)
{
    const char *name = gcd_graph_summary(w->g)->types[type].name;
    return gcd_text_begins(name, RX) &&
           (!gcd_text_begins(name, RX "Subjects.") || strchr(name, '+') != NULL);
}

/* The object of the program, not of OWNER, that subscription NODE calls; GCD_NODE_NONE. */
static uint32_t subscriber_of(const struct suspects_work *w, uint32_t node, uint32_t owner)
{
    uint32_t all[RX_SEEN] = { node };
    size_t count = 1;
    for (size_t at = 0; at < count; at++) {
        size_t n;
        const uint32_t *edges = gcd_graph_node_edges(w->g, all[at], &n);
        for (size_t i = 0; i < n && i < FIELDS_MAX; i++) {
            uint32_t type = suspects_type_of(w, edges[i]), target = edges[i];
            if (suspects_is_delegate(w, type) && (target = target_of(w, edges[i])) == GCD_NODE_NONE)
                continue;
            type = suspects_type_of(w, target);
            if (w->is_own[type] && !is_part_of(w, type, owner))
                return target;
            if (target == edges[i] && is_in_subscription(w, type) && count < RX_SEEN)
                all[count++] = target;
        }
    }
    return GCD_NODE_NONE;
}

static gcd_status find_one(struct suspects_work *w, struct suspect *x, struct gcd_error *err)
{
    uint32_t asked = 0, same = 0, type = GCD_TYPE_NONE;
    for (uint32_t node = 0; node < w->nodes && asked < ASKED; node++) {
        if (node % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
        if (suspects_type_of(w, node) != x->pub.element.type)
            continue;
        uint32_t target = x->subscriptions ? subscriber_of(w, node, x->pub.owner)
                          : !x->observers || is_passive(w, node) ? target_in(w, node)
                                                                 : GCD_NODE_NONE,
                 of = target != GCD_NODE_NONE ? suspects_type_of(w, target) : GCD_TYPE_NONE;
        asked++;
        if (same == 0)
            type = of;
        same = of == type ? same + 1 : same - 1; /* the majority, if there is one */
    }
    if (type != GCD_TYPE_NONE && w->is_own[type] && same >= asked - asked / 5 &&
        type != x->pub.element.type && !is_part_of(w, type, x->pub.owner) &&
        gcd_graph_summary(w->g)->types[type].objects >=
            (x->observers ? FEWEST : x->pub.element.objects / 2))
        x->listener = type;
    return GCD_OK;
}

bool suspects_is_listener(const struct suspects_work *w, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    return p->path_count > 1 && p->owner != GCD_TYPE_NONE && w->is_own[p->owner] &&
           w->is_own[p->type] && !p->path[p->path_count - 2].skipped &&
           suspects_is_delegate(w, p->path[p->path_count - 2].type) &&
           !is_part_of(w, p->type, p->owner);
}

gcd_status suspects_find_listeners(struct suspects_work *w, struct gcd_error *err)
{
    for (size_t i = 0; i < w->s->count; i++) {
        struct suspect *x = &w->s->items[i];
        const struct gcd_suspect *p = &x->pub;
        x->listener = GCD_TYPE_NONE;
        x->observers = x->subscriptions = false;
        if (p->kind == GCD_SUSPECT_OBJECT && x->collection.kind != GCD_COLLECTION_NONE &&
            p->element.type != GCD_TYPE_NONE && p->element.objects >= FEWEST &&
            p->owner != GCD_TYPE_NONE && w->is_own[p->owner]) {
            x->observers = has_observers(w, x);
            if (x->observers)
                x->listener = p->element.type;
            x->subscriptions = has_subscriptions(w, x);
            x->observers = x->observers || x->subscriptions;
            GCD_TRY(find_one(w, x, err));
        }
    }
    return GCD_OK;
}
