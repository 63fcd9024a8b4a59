/* Event handlers: a delegate with an invocation list. */
#include "analyze/suspects/suspects.h"
#include "analyze/suspects/suspects_words.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"

/* Maximum number of lists that are suspicious only because of their length. */
#define LONGEST 16u
/* Shorter lists are not counted by event, because most objects with an event have a handler or two.
 */
#define SPREAD_LEAST 10u

/*
 * The number of handlers of DELEGATE, 0 = not a delegate with its own list; RET_LIST: their array.
 * A list with several holders belongs to none of them, so no list is processed twice.
 */
static size_t handlers_of(const struct suspects_work *w, uint32_t delegate, uint32_t *ret_list)
{
    size_t count;
    uint32_t list = gcd_collections_handlers(w->collections, delegate, &count);
    if (list == GCD_NODE_NONE || suspects_parent(w, list) != delegate)
        return 0;
    *ret_list = list;
    return count;
}

struct event_list {
    uint32_t delegate, list;
    size_t count;   /* 0 = listed already */
    uint32_t group; /* of lists that are not long */
};

struct targets {
    struct gcd_suspect_part *parts; /* by type */
    size_t count, room;
    struct gcd_idmap map;
};

static gcd_status count_target(const struct suspects_work *w, struct targets *t, uint32_t handler,
                               uint32_t target, struct gcd_error *err)
{
    uint32_t type = suspects_type_of(w, target), at = gcd_idmap_get(&t->map, type);
    if (at == GCD_IDMAP_NONE) {
        at = (uint32_t)t->count;
        if (!gcd_vec_reserve(w->alloc, &t->parts, &t->room, t->count + 1, sizeof *t->parts,
                             UINT32_MAX - 1) ||
            !gcd_idmap_put(&t->map, type, at))
            return gcd_fail_nomem(err, "looking at event handlers");
        t->parts[t->count++] = (struct gcd_suspect_part){ .type = type };
    }
    t->parts[at].objects++;
    if (suspects_parent(w, target) == handler)
        gcd_add_saturating(&t->parts[at].bytes, gcd_dominators_retained(w->d, target));
    return GCD_OK;
}

/* Counts the handlers of E, and the types of the target objects with what these retain if only
 * their handler holds them. */
static gcd_status count_handlers(const struct suspects_work *w, struct suspect *x,
                                 struct targets *t, const struct event_list *e,
                                 struct gcd_error *err)
{
    size_t count, n;
    const uint32_t *handlers = gcd_graph_node_edges(w->g, e->list, &count);
    x->pub.objects += count;
    gcd_add_saturating(&x->pub.shallow_bytes, gcd_graph_node_size(w->g, e->delegate));
    gcd_add_saturating(&x->pub.shallow_bytes, gcd_graph_node_size(w->g, e->list));
    for (size_t i = 0; i < count; i++) {
        const uint32_t *edges = gcd_graph_node_edges(w->g, handlers[i], &n);
        gcd_add_saturating(&x->pub.shallow_bytes, gcd_graph_node_size(w->g, handlers[i]));
        if (n == 0 ||
            edges[0] == handlers[i]) /* the target of a static method is the delegate itself */
            continue;
        GCD_TRY(count_target(w, t, handlers[i], edges[0], err));
        x->pub.held_objects++;
    }
    return GCD_OK;
}

/* Describes X by the lists of GROUP among LISTS. */
static gcd_status describe(const struct suspects_work *w, struct suspect *x,
                           const struct event_list *lists, size_t n, uint32_t group,
                           struct gcd_error *err)
{
    struct targets t = { .parts = NULL };
    gcd_status st = GCD_OK;
    gcd_idmap_init(&t.map, w->alloc);
    x->pub.objects = x->pub.shallow_bytes = 0;
    for (size_t i = 0; i < n && st == GCD_OK; i++)
        if (lists[i].group == group)
            st = count_handlers(w, x, &t, &lists[i], err);
    for (size_t i = 0; i < t.count && st == GCD_OK; i++) {
        suspects_keep_most(x->pub.held, &x->pub.held_count, GCD_SUSPECT_HOLDERS, t.parts[i]);
        gcd_add_saturating(&x->held_bytes, t.parts[i].bytes);
    }
    gcd_idmap_done(&t.map);
    gcd_mem_free(w->alloc, t.parts, t.room * sizeof *t.parts);
    return st;
}

/* The lists of one event of many objects of a type. */
struct spread {
    struct event_list longest;
    uint64_t holders, handlers, bytes;
};

struct search {
    struct event_list items[LONGEST]; /* in descending order */
    size_t n;
    struct event_list *lists; /* those that are not long */
    size_t list_count, list_room;
    struct spread *groups;
    size_t group_count, group_room;
    struct gcd_idmap map; /* type of the holder, type of the delegate -> number of the group */
};

static void keep(struct search *l, uint32_t delegate, uint32_t list, size_t count)
{
    size_t i = l->n < LONGEST ? l->n++ : LONGEST;
    for (; i > 0 && l->items[i - 1].count < count; i--)
        if (i < LONGEST)
            l->items[i] = l->items[i - 1];
    if (i < LONGEST)
        l->items[i] = (struct event_list){ delegate, list, count, 0 };
}

/* Turns OBJECT suspects that are such a list, or the delegate that holds one, into HANDLERS
 * suspects. */
static gcd_status rename_containers(struct suspects_work *w, struct search *l,
                                    struct gcd_error *err)
{
    for (size_t i = 0; i < w->s->count; i++) {
        struct suspect *x = &w->s->items[i];
        if (x->pub.kind != GCD_SUSPECT_OBJECT)
            continue;
        uint32_t list, delegate = x->pub.node;
        if (handlers_of(w, delegate, &list) == 0) {
            delegate = suspects_parent(w, x->pub.node);
            if (delegate >= GCD_NODE_ROOT || handlers_of(w, delegate, &list) == 0 ||
                list != x->pub.node)
                continue;
        }
        x->recursive = false;
        x->pub.kind = GCD_SUSPECT_HANDLERS;
        x->pub.node = delegate;
        x->pub.type = suspects_type_of(w, delegate);
        GCD_TRY(describe(w, x, &(struct event_list){ delegate, list, 1, 0 }, 1, 0, err));
        for (size_t k = 0; k < l->n; k++)
            if (l->items[k].list == list)
                l->items[k].count = 0;
    }
    return GCD_OK;
}

/* Remembers a list with COUNT handlers, too few to be suspicious alone. */
static gcd_status keep_spread(const struct suspects_work *w, struct search *l, uint32_t delegate,
                              uint32_t list, size_t count, struct gcd_error *err)
{
    uint32_t holder = suspects_parent(w, delegate), group;
    if (holder >= GCD_NODE_ROOT)
        return GCD_OK;
    uint64_t key = (uint64_t)suspects_type_of(w, holder) << 32 | suspects_type_of(w, delegate);
    group = gcd_idmap_get(&l->map, key);
    if (group == GCD_IDMAP_NONE) {
        group = (uint32_t)l->group_count;
        if (!gcd_vec_reserve(w->alloc, &l->groups, &l->group_room, l->group_count + 1,
                             sizeof *l->groups, UINT32_MAX - 1) ||
            !gcd_idmap_put(&l->map, key, group))
            return gcd_fail_nomem(err, "looking at event handlers");
        l->groups[l->group_count++] = (struct spread){ .holders = 0 };
    }
    if (!gcd_vec_reserve(w->alloc, &l->lists, &l->list_room, l->list_count + 1, sizeof *l->lists,
                         UINT32_MAX))
        return gcd_fail_nomem(err, "looking at event handlers");
    struct event_list e = { delegate, list, count, group };
    struct spread *g = &l->groups[group];
    l->lists[l->list_count++] = e;
    if (count > g->longest.count)
        g->longest = e;
    g->holders++;
    g->handlers += count;
    gcd_add_saturating(&g->bytes, gcd_dominators_retained(w->d, delegate));
    return GCD_OK;
}

/*
 * Searches the lists, which are few, instead of testing all objects for delegates: a list belongs
 * to the delegate that dominates it.
 */
static gcd_status find_longest(struct suspects_work *w, const uint8_t *is_list, struct search *l,
                               struct gcd_error *err)
{
    struct gcd_suspect_check *check = &w->s->checks[GCD_SUSPECT_HANDLERS];
    for (uint32_t node = 0; node < w->nodes; node++) {
        if (node % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
        if (!is_list[suspects_type_of(w, node)])
            continue;
        uint32_t delegate = suspects_parent(w, node), list = GCD_NODE_NONE;
        size_t count = delegate < GCD_NODE_ROOT ? handlers_of(w, delegate, &list) : 0;
        if (count > check->objects && list == node) {
            check->objects = count;
            check->bytes = gcd_dominators_retained(w->d, delegate);
        }
        if (count >= SUSPECTS_HANDLERS && list == node)
            keep(l, delegate, list, count);
        else if (count >= SPREAD_LEAST && list == node)
            GCD_TRY(keep_spread(w, l, delegate, list, count, err));
    }
    return GCD_OK;
}

static gcd_status add_list(struct suspects_work *w, const struct event_list *e, uint64_t bytes,
                           struct suspect **ret, struct gcd_error *err)
{
    GCD_TRY(suspects_add(w, GCD_SUSPECT_HANDLERS, e->delegate, suspects_type_of(w, e->delegate),
                         ret, err));
    (*ret)->pub.overlaps = true;
    (*ret)->pub.bytes = (*ret)->pub.retained_bytes = bytes;
    return GCD_OK;
}

/* Many objects have some handlers each, and together they keep a suspect's share alive. */
static gcd_status add_spread(struct suspects_work *w, const struct search *l, uint32_t group,
                             struct gcd_error *err)
{
    const struct spread *g = &l->groups[group];
    struct suspect *x;
    if (g->holders < 2 || g->handlers < SUSPECTS_HANDLERS || g->bytes < w->s->threshold)
        return GCD_OK;
    GCD_TRY(add_list(w, &g->longest, g->bytes, &x, err));
    GCD_TRY(describe(w, x, l->lists, l->list_count, group, err));
    x->event_holders = g->holders;
    for (size_t i = 0; i < l->list_count; i++)
        if (l->lists[i].group == group)
            GCD_TRY(suspects_own(w, l->lists[i].delegate, err));
    return suspects_check(w, err);
}

static gcd_status find_handlers(struct suspects_work *w, struct search *l, const uint8_t *is_list,
                                struct gcd_error *err)
{
    GCD_TRY(find_longest(w, is_list, l, err));
    GCD_TRY(rename_containers(w, l, err));
    for (size_t i = 0; i < l->n; i++) {
        const struct event_list *e = &l->items[i];
        uint64_t bytes = gcd_dominators_retained(w->d, e->delegate);
        struct suspect *x;
        if (e->count == 0)
            continue;
        GCD_TRY(add_list(w, e, bytes, &x, err));
        GCD_TRY(describe(w, x, e, 1, 0, err));
    }
    for (uint32_t i = 0; i < l->group_count; i++)
        GCD_TRY(add_spread(w, l, i, err));
    return GCD_OK;
}

gcd_status suspects_handlers(struct suspects_work *w, struct gcd_error *err)
{
    struct search l = { .n = 0 };
    uint8_t *is_list = gcd_mem_new(w->alloc, w->types);
    if (is_list == NULL)
        return gcd_fail_nomem(err, "looking at event handlers");
    gcd_idmap_init(&l.map, w->alloc);
    for (uint32_t i = 0; i < w->types; i++)
        is_list[i] = gcd_collections_can_hold_handlers(gcd_graph_summary(w->g)->types[i].name);
    gcd_status st = find_handlers(w, &l, is_list, err);
    gcd_idmap_done(&l.map);
    gcd_mem_free(w->alloc, is_list, w->types);
    gcd_mem_free(w->alloc, l.lists, l.list_room * sizeof *l.lists);
    gcd_mem_free(w->alloc, l.groups, l.group_room * sizeof *l.groups);
    return st;
}

/* ---- which event it is ---- */

#define CANDIDATES 3u

/* The target of the handler that IOptionsMonitor.OnChange adds, and returns. */
#define OPTIONS_CHANGE "OptionsMonitor`1+ChangeTrackerDisposable"

/* Fields that can hold the event: names in the text of a type. */
struct candidates {
    const char *name[CANDIDATES];
    size_t length[CANDIDATES];
    size_t count;   /* of all, including those beyond the list */
    bool basic;     /* the first is of Visual Basic */
    bool elsewhere; /* a class in another module may have more */
};

/* Is TYPE an instance of DEFINITION, as "System.EventHandler`1[System.Decimal]" of
 * "System.EventHandler`1"? */
static bool is_of(const char *type, const char *definition, size_t n)
{
    return strncmp(type, definition, n) == 0 && (type[n] == '\0' || type[n] == '[');
}

/* The fields of EVENTS (gcd_metadata_events) that can hold an object of DELEGATE. */
static struct candidates find_candidates(const char *events, const char *delegate)
{
    struct candidates c = { .count = 0 };
    for (const char *p = events, *end; p != NULL && *p != '\0'; p = end + 1) {
        end = strchr(p, ';');
        const char *space = strchr(p, ' ');
        if (end == NULL || space == NULL || space > end) {
            c.elsewhere = *p == '?';
            return c;
        }
        if (!is_of(delegate, space + 1, (size_t)(end - space - 1)))
            continue;
        if (c.count < CANDIDATES) {
            const char *slash = memchr(p, '/', (size_t)(space - p));
            c.name[c.count] = p;
            c.length[c.count] = (size_t)((slash != NULL ? slash : space) - p);
            c.basic = c.count == 0 ? slash != NULL : c.basic;
        }
        c.count++;
    }
    return c;
}

/* The object that refers to the delegate of X, if it can have events. */
static const struct gcd_suspect_step *holder_of(const struct suspect_words *s,
                                                const struct gcd_suspect *p)
{
    const struct gcd_suspect_step *by = p->path_count > 1 ? &p->path[p->path_count - 2] : NULL;
    bool can = by != NULL && !by->skipped && by->repeats == 1 &&
               gcd_collections_kind(s->w->collections, by->type) == GCD_COLLECTION_NONE;
    return can ? by : NULL;
}

static struct candidates candidates_of(const struct suspect_words *s, const struct gcd_suspect *p)
{
    const struct gcd_type *types = gcd_graph_summary(s->w->g)->types;
    const struct gcd_suspect_step *by = holder_of(s, p);
    return find_candidates(by != NULL ? types[by->type].events : NULL, types[p->type].name);
}

static bool is_one(const struct candidates *c)
{
    return c->count == 1 && !c->elsewhere;
}

/* What is known otherwise: the field by which the holder refers to the delegate. */
static const char *field_of_event(const struct suspect_words *s, const struct gcd_suspect *p)
{
    if (holder_of(s, p) == NULL)
        return NULL;
    struct gcd_field f = gcd_suspect_field(p, p->path_count - 2, s->w->o->fields);
    return f.name != NULL && f.name[0] != '\0' && f.other == NULL ? f.name : NULL;
}

static bool is_named(const struct suspect_words *s, const struct gcd_suspect *p,
                     const struct candidates *c)
{
    return is_one(c) || field_of_event(s, p) != NULL;
}

static void put_candidate(struct suspect_words *s, const struct candidates *c, size_t i)
{
    suspects_put(
        s, "%.*s",
        (int)(c->length[i] < SUSPECT_WORDS_BYTES / 16 ? c->length[i] : SUSPECT_WORDS_BYTES / 16),
        c->name[i]);
}

/* ", Changed or Closed" */
static void put_candidates(struct suspect_words *s, const struct candidates *c)
{
    size_t shown = c->count < CANDIDATES ? c->count : CANDIDATES;
    for (size_t i = 0; i < shown; i++) {
        bool last = i + 1 == c->count && !c->elsewhere;
        suspects_put(s, i == 0 || !last ? ", " : " or ");
        put_candidate(s, c, i);
    }
    if (c->count > shown)
        suspects_put(s, " or another");
    else if (c->count > 0 && c->elsewhere)
        suspects_put(s, " or one of a base class");
}

/* "Shop.Feed.Changed" */
static void put_field(struct suspect_words *s, const struct gcd_suspect *p,
                      const struct candidates *c)
{
    suspects_put_type(s, holder_of(s, p)->type);
    suspects_put(s, ".");
    if (is_one(c))
        put_candidate(s, c, 0);
    else
        suspects_put_name(s, field_of_event(s, p));
}

bool suspects_put_event_place(struct suspect_words *s, const struct gcd_suspect *p)
{
    const struct candidates c = candidates_of(s, p);
    if (holder_of(s, p) == NULL || !is_named(s, p, &c))
        return false;
    put_field(s, p, &c);
    return true;
}

/* "The event Feed.Changed (Shop.dll), an Action,", or the known parts of that. */
static void put_event(struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    const struct gcd_suspect_step *by = holder_of(s, p);
    const struct candidates c = candidates_of(s, p);
    if (by != NULL) {
        bool named = is_named(s, p, &c);
        suspects_put(s, named                  ? "The event "
                        : x->event_holders > 0 ? "An event"
                                               : "An event of one ");
        if (named)
            put_field(s, p, &c);
        else if (x->event_holders == 0)
            suspects_put_type(s, by->type);
        if (x->event_holders > 0) {
            suspects_put(s, " of ");
            suspects_put_typed(s, x->event_holders, by->type);
        }
        if (by->node == p->owner_node)
            suspects_put_module(s, p);
        if (!named)
            put_candidates(s, &c);
    } else if (suspects_is_in_static(s, p)) {
        suspects_put(s, "T");
        size_t at = s->n;
        suspects_put_root(s, p->root);
        memmove(s->text + at, s->text + at + 1, s->n - at); /* "the" */
        s->n--;
    } else {
        suspects_put(s, "An event or delegate of type ");
        suspects_put_type(s, p->type);
        return;
    }
    suspects_put(s, ", ");
    suspects_put_article(s, p->type, true);
    suspects_put_type(s, p->type);
    suspects_put(s, ",");
}

void suspects_tell_handlers(struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    put_event(s, x);
    suspects_put(s, " has ");
    suspects_put_number(s, p->objects);
    suspects_put(s, " handlers");
    if (x->event_holders > 0) {
        suspects_put(s, " (about ");
        suspects_put_number(s, p->objects / x->event_holders);
        suspects_put(s, " each)");
    }
    for (size_t i = 0; i < p->held_count; i++) {
        const struct gcd_suspect_part *part = &p->held[i];
        bool all = part->objects == p->objects, lambda = suspects_is_lambda(s, part->type);
        if (!suspects_is_holder(x, i))
            continue;
        suspects_put(s, all                              ? ", all "
                        : i > 0                          ? ", "
                        : part->objects > p->objects / 2 ? ", mostly "
                                                         : ", among them ");
        suspects_put(s, lambda ? "lambdas in " : "methods of ");
        suspects_put_where(s, part->type);
        suspects_put(s, lambda ? "" : " objects");
        if (!all) {
            suspects_put(s, " (");
            suspects_put_number(s, part->objects);
            suspects_put_holder_bytes(s, x, i, ", ");
            suspects_put(s, ")");
        }
    }
}

void suspects_say_handlers(struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    suspects_tell_handlers(s, x);
    suspects_put(s, x->event_holders > 0 ? ". They" : ". It");
    suspects_put_kept(s, p, x->event_holders > 0);
    suspects_put(s, ".");
    if (p->owner_node != GCD_NODE_NONE && p->root != SIZE_MAX)
        suspects_put_lifetime(s, x, x->event_holders > 0 ? "One of them" : "It");
    else if (!suspects_is_in_static(s, p))
        suspects_put_held_by(s, x, x->event_holders > 0 ? "One of them is" : "It is");
    if (p->held_count > 0 && !s->w->is_own[p->held[0].type])
        suspects_put_own(s, p);
}

void suspects_advise_handlers(struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    if (p->held_count > 0 && !s->w->is_own[p->held[0].type] && p->own_count > 0) {
        bool options = strstr(gcd_graph_summary(s->w->g)->types[p->held[0].type].name,
                              OPTIONS_CHANGE) != NULL;
        suspects_put(s, options ? "Look in " : "Look for what subscribes and never unsubscribes: ");
        suspects_put_where(s, p->own[0].type);
        suspects_put(s, options ? " for an OnChange: nobody disposes of the IDisposable that it "
                                  "returns."
                                : ".");
        return;
    }
    const struct candidates c = candidates_of(s, p);
    suspects_put(s, c.basic ? "Look for WithEvents or AddHandler" : "Look for a +=");
    if (is_named(s, p, &c)) {
        suspects_put(s, " on ");
        put_field(s, p, &c);
    }
    suspects_put(s, c.basic ? " without RemoveHandler" : " without its -=");
    if (p->held_count > 0) {
        suspects_put(s, " in ");
        (void)suspects_put_holders(s, x, suspects_put_where);
    }
    suspects_put(s, p->held_count > 0 && suspects_is_lambda(s, p->held[0].type)
                        ? "; only a lambda kept in a variable can be removed."
                        : ".");
}
