/* What to look at next: where in the program, and for what.  Advice on objects and on objects of
 * one type; other kinds have their own. */
#include "analyze/suspects/suspects_words.h"

#include <string.h>

#include <gcdumpc/unstable/fields.h>
#include <gcdumpc/unstable/keys.h>
#include <gcdumpc/unstable/static_names.h>
#include <gcdumpc/unstable/suspect_checks.h>

#include "base/limit_name.h"
#include "base/ovf.h"
#include "base/text.h"

/* This many objects show whether their type is that of a chain. */
#define CHAIN_SEEN 16u

/* The condition of an advice that only holds for what grows.  Comes first. */
static void put_if_it_grows(struct suspect_words *s)
{
    suspects_put(s, "If it grows, ");
    s->condition = s->n;
    s->size_only = true;
}

/* What has no young element may have been built once. */
static void put_if_needed(struct suspect_words *s, const struct suspect *x)
{
    if (x->settled)
        suspects_put(s, "If all of it is needed, nothing is wrong. ");
}

/* "Look in Shop.SessionStore for ", or "Look for " if no owner is known. */
static void put_look_for(struct suspect_words *s, const struct gcd_suspect *p, bool capital)
{
    suspects_put(s, capital ? "Look" : "look");
    const struct suspect *x = (const struct suspect *)p;
    bool user = p->owner == GCD_TYPE_NONE && x->contained && x->user_references > 0;
    if (user || p->owner != GCD_TYPE_NONE) {
        suspects_put(s, " in ");
        suspects_put_where(s, user ? x->user : p->owner);
    }
    suspects_put(s, " for ");
}

static bool is_in_static(const struct suspect_words *s, const struct gcd_suspect *p)
{
    return p->owner == GCD_TYPE_NONE && suspects_in_own_static(s->w, p);
}

/* Names the suspect by the variable that holds it, else "it". */
static void put_it(struct suspect_words *s, const struct gcd_suspect *p)
{
    if (is_in_static(s, p))
        suspects_put_root(s, p->root);
    else
        suspects_put(s, "it");
}

void suspects_put_look_in(struct suspect_words *s, const struct gcd_suspect *p)
{
    if (is_in_static(s, p)) {
        suspects_put(s, ": look at ");
        suspects_put_root(s, p->root);
    } else if (p->owner != GCD_TYPE_NONE) {
        suspects_put(s, ": look in ");
        suspects_put_where(s, p->owner);
    }
    suspects_put(s, ".");
}

/* ---- one object ---- */

/* A collection that grows without end: the words of the advice before and after its name. */
struct growth {
    const char *before, *behind;
};

static struct growth growth_of(enum gcd_collection_kind kind)
{
    if (suspects_is_queue(kind))
        return (struct growth){
            "what takes elements out of ",
            ": it has ended, is too slow, or is missing; what nobody takes out needs a limit."
        };
    switch (kind) {
    case GCD_COLLECTION_CACHE:
        return (struct growth){ "entries without an expiration in ",
                                ", or give it a size limit (SizeLimit)." };
    case GCD_COLLECTION_TEXT:
        return (struct growth){ "what appends to ", " and never clears it." };
    case GCD_COLLECTION_ARRAY:
        return (struct growth){ "what fills ", "." };
    case GCD_COLLECTION_HANDLERS:
        return (struct growth){ "a += to ", " without its -=." };
    default:
        return (struct growth){ "what adds to ", " and never removes." };
    }
}

/* Do objects of TYPE refer to each other, as far as the first ones in the heap show? */
static bool is_chain(const struct suspects_work *w, uint32_t type)
{
    uint32_t seen = 0, linked = 0;
    for (uint32_t node = 0; node < w->nodes && seen < CHAIN_SEEN; node++) {
        size_t n, i = 0;
        if (suspects_type_of(w, node) != type)
            continue;
        const uint32_t *edges = gcd_graph_node_edges(w->g, node, &n);
        while (i < n && suspects_type_of(w, edges[i]) != type)
            i++;
        linked += i < n;
        seen++;
    }
    return linked > seen / 2;
}

/* The type of the queue or channel that most of an object of OWNER is in, as far as the first ones
 * in the heap show; GCD_TYPE_NONE. */
static uint32_t queue_of(const struct suspects_work *w, uint32_t owner)
{
    uint32_t seen = 0;
    for (uint32_t node = 0; node < w->nodes && seen < CHAIN_SEEN; node++) {
        size_t n;
        if (w->alike[suspects_type_of(w, node)] != owner)
            continue;
        const uint32_t *edges = gcd_graph_few_edges(w->g, node, &n);
        seen++;
        for (size_t i = 0; i < n; i++)
            if (suspects_is_queue(
                    gcd_collections_kind(w->collections, suspects_type_of(w, edges[i]))) &&
                gcd_dominators_retained(w->d, edges[i]) > gcd_dominators_retained(w->d, node) / 2)
                return suspects_type_of(w, edges[i]);
    }
    return GCD_TYPE_NONE;
}

/* Who registers and does not take back, not the bus, is to blame: "OrderTicket for what adds a
 * method of each of its objects to MessageBus._handlers and never removes it." */
static void put_listener(struct suspect_words *s, const struct gcd_suspect *p, uint32_t listener)
{
    suspects_put_where(s, listener);
    suspects_put(s, suspects_is_lambda(s, listener)
                        ? " for the lambda that it adds to "
                        : " for what adds a method of each of its objects to ");
    suspects_put_owner_place(s, p);
    suspects_put(s, " and never removes it.");
}

static void advise_below(struct suspect_words *s, const struct gcd_suspect *p,
                         const struct suspects_below *below)
{
    bool chain = below->chains || is_chain(s->w, p->own[0].type);
    if (below->collections) { /* which may be large tables */
        put_if_needed(s, (const struct suspect *)p);
        put_if_it_grows(s);
        put_look_for(s, p, false);
        suspects_put(s, "what adds ");
        suspects_put_where(s, p->own[0].type);
        suspects_put(s, " objects to these collections and never removes them.");
        return;
    }
    suspects_put(s, "Look in ");
    if (below->listens && p->owner != GCD_TYPE_NONE && s->w->is_own[p->owner]) {
        put_listener(s, p, p->own[0].type);
        return;
    }
    /* a class of a library, such as Subject<T>, only does as it is told */
    bool own = s->w->is_own[below->owner];
    suspects_put_where(s, own || p->owner == GCD_TYPE_NONE ? below->owner : p->owner);
    uint32_t queue = queue_of(s->w, below->owner);
    if (queue != GCD_TYPE_NONE) {
        suspects_put(s, " for what takes elements out of its ");
        suspects_put_type(s, queue);
        suspects_put(s, ": it has ended, is too slow, or is missing; what nobody takes out needs a "
                        "limit.");
        return;
    }
    suspects_put(s, chain ? " for what links each new " : " for what adds ");
    suspects_put_where(s, p->own[0].type);
    suspects_put(s, chain ? " to the one before" : " objects");
    if (below->chains)
        suspects_put_link(s, " by its field ", below->link);
    suspects_put(s, chain ? " and never lets go of the old ones." : " and never lets go of them.");
}

/* Handlers of an event that the framework keeps in a collection of its own. */
static bool is_delegate(const struct suspect_words *s, uint32_t type)
{
    return type != GCD_TYPE_NONE && suspects_is_delegate(s->w, type);
}

/* A collection of delegates that the program itself keeps is no event, unless they are of a type
 * for events. */
static bool can_be_event(const struct suspect_words *s, const struct gcd_suspect *p)
{
    bool kept = p->owner != GCD_TYPE_NONE && s->w->is_own[p->owner];
    return !kept ||
           strstr(gcd_graph_summary(s->w->g)->types[p->element.type].name, "EventHandler") != NULL;
}

/* What a pool has to hand out is in a collection without keys. */
static bool has_no_keys(enum gcd_collection_kind kind)
{
    return kind == GCD_COLLECTION_STACK || kind == GCD_COLLECTION_QUEUE ||
           kind == GCD_COLLECTION_CONCURRENT_STACK || kind == GCD_COLLECTION_CONCURRENT_QUEUE ||
           kind == GCD_COLLECTION_CONCURRENT_BAG || kind == GCD_COLLECTION_LIST ||
           kind == GCD_COLLECTION_CHANNEL || kind == GCD_COLLECTION_BLOCKING;
}

/* Is it the name of a variable for what a pool has to hand out: "_pool", "s_freeBuffers",
 * "IdleSessions"? */
static bool is_pool_variable(const char *name)
{
    static const char *const words[] = { "pool", "free", "idle", "spare", "available", "reusable" };
    size_t n = 0;
    if (gcd_text_begins(name, "s_") || gcd_text_begins(name, "m_"))
        name += 2;
    name += strspn(name, "_");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        n = strlen(words[i]);
        if ((name[0] | 0x20) == words[i][0] && strncmp(name + 1, words[i] + 1, n - 1) == 0 &&
            (name[n] < 'a' || name[n] > 'z'))
            return true;
    }
    n = strlen(name);
    return gcd_bytes_end(name, n, "Pool") || gcd_bytes_end(name, n, "FreeList");
}

/* Is it what a pool that the program wrote itself has to hand out?  The names say so: "Pool<T>",
 * "BufferPool", "Renderer._freeBuffers". */
static bool is_own_pool(const struct suspect_words *s, const struct suspect *x)
{
    uint32_t owner = x->pub.owner;
    if (!has_no_keys(x->collection.kind))
        return false;
    if (owner == GCD_TYPE_NONE || !s->w->is_own[owner]) {
        if (!suspects_in_own_static(s->w, &x->pub))
            return false;
        const char *label = gcd_static_words(s->w->g, NULL,
                                             &gcd_graph_summary(s->w->g)->roots[x->pub.root])
                                .label[0],
                   *dot = strrchr(label, '.');
        return is_pool_variable(dot != NULL ? dot + 1 : label);
    }
    const char *name = gcd_graph_summary(s->w->g)->types[owner].name;
    return gcd_bytes_end(name, strcspn(name, "`["), "Pool") ||
           is_pool_variable(suspects_owner_field(s, &x->pub));
}

/* ---- caches with a limit ---- */

/* Objects that an owner refers to, among which its options may be. */
#define OPTIONS_SEEN 64u
/* Fewer elements are near many numbers. */
#define LEAST_LIMITED     GCD_LEAST_LIMIT
#define LIMIT_FIELD_BYTES 100u /* names of limits are shorter */
/* A limit that is named after a field is more than this many times what is in it: it says nothing.
 */
#define FAR_BELOW 16u
/* One part in so many may be on its way out. */
#define NEARLY_ALL_OF 64u
/* So many times a limit is more than what is cut back only now and then. */
#define FAR_ABOVE 2u

/* The number in FIELD of NODE, unless it is negative; false: not known. */
static bool number_in(const struct suspects_work *w, uint32_t node, const char *field,
                      uint64_t *ret)
{
    int64_t number;
    if (node == GCD_NODE_NONE || w->o->number == NULL || gcd_graph_notes(w->g)->addresses_made_up ||
        !w->o->number(w->o->numbers, gcd_graph_node_address(w->g, node), field, &number))
        return false;
    *ret = number < 0 ? UINT64_MAX : (uint64_t)number;
    return true;
}

/* That in FIELD of the first object to which NODE refers that has such a field: options can be of a
 * derived class (MemoryDistributedCacheOptions). */
static bool number_in_part(const struct suspects_work *w, uint32_t node, const char *field,
                           uint64_t *ret)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(w->g, node, &n);
    for (size_t i = 0; i < n; i++)
        if (number_in(w, edges[i], field, ret))
            return true;
    return false;
}

static bool is_bounded(const struct suspects_work *w, uint32_t channel)
{
    return gcd_text_begins(gcd_graph_summary(w->g)->types[suspects_type_of(w, channel)].name,
                           "System.Threading.Channels.BoundedChannel");
}

/* What has the numbers in objects. */
#define KNOWS_NUMBERS \
    "a process (leaks --direct), a core file, or a recording of collect --values all"

/* A channel that was made with a limit, and a BlockingCollection whose limit is known, are no
 * leaks. Does it say what there is to say? */
static bool advise_bounded(struct suspect_words *s, const struct suspect *x)
{
    uint64_t limit = UINT64_MAX;
    uint32_t node = x->collection.node;
    bool channel = is_bounded(s->w, node),
         known = (channel || x->collection.kind == GCD_COLLECTION_BLOCKING) &&
                 number_in(s->w, node, channel ? "_bufferedCapacity" : "_boundedCapacity", &limit);
    if (!channel && x->collection.kind == GCD_COLLECTION_BLOCKING && !known) {
        suspects_put(s, "It may be full and within its limit, which %s shows. ", KNOWS_NUMBERS);
        return false;
    }
    if (!channel && limit == UINT64_MAX)
        return false;
    if (known && limit != UINT64_MAX) {
        suspects_put(s, "Its limit is ");
        suspects_put_number(s, limit);
        suspects_put(s, ": it");
    } else {
        suspects_put(s, "It was made with a limit: it");
    }
    suspects_put(s, " keeps no more. If it stays full, what takes elements out of it is too slow, "
                    "has ended, or is missing.");
    s->by_design = s->limited = true;
    return true;
}

/* So many entries of a cache are asked when they expire. */
#define ASKED_EXPIRY 64u

static bool expires(const struct suspects_work *w, uint32_t entry)
{
    uint64_t at, sliding = 0;
    if (!number_in(w, entry, "_absoluteExpirationTicks", &at))
        return false;
    return at != UINT64_MAX || (number_in(w, entry, "_slidingExpiration", &sliding) &&
                                sliding > 0 && sliding != UINT64_MAX);
}

/* Does each entry of CACHE expire, as far as the first ones tell? */
static bool entries_expire(const struct suspects_work *w, uint32_t cache)
{
    uint32_t asked = 0, type = GCD_TYPE_NONE;
    bool all = true;
    const struct gcd_summary *s = gcd_graph_summary(w->g);
    for (uint32_t i = 0; i < s->type_count && type == GCD_TYPE_NONE; i++)
        if (strcmp(s->types[i].name, "Microsoft.Extensions.Caching.Memory.CacheEntry") == 0)
            type = i;
    for (uint32_t node = 0; node < w->nodes && type != GCD_TYPE_NONE && asked < ASKED_EXPIRY && all;
         node++) {
        if (suspects_type_of(w, node) != type || !gcd_graph_refers(w->g, node, cache))
            continue;
        all = expires(w, node);
        asked++;
    }
    return asked > 0 && all;
}

/* A MemoryCache with a SizeLimit is no leak.  Does it say what there is to say? */
static bool advise_limited(struct suspect_words *s, const struct suspect *x)
{
    uint64_t limit, used;
    uint32_t cache = x->collection.node;
    if (!number_in_part(s->w, cache, "_sizeLimit", &limit)) {
        suspects_put(s, "A cache may be full and within its limit, which %s shows. ",
                     KNOWS_NUMBERS);
        return false;
    }
    if (limit == UINT64_MAX) {
        s->unlimited = true;
        if (!entries_expire(s->w, cache)) {
            suspects_put(s, "It has no SizeLimit. ");
            return false;
        }
        suspects_put(s, "It has no SizeLimit, but its entries expire. ");
        put_if_it_grows(s);
        suspects_put(s, "let them expire sooner, or give it a size limit (SizeLimit).");
        return true;
    }
    suspects_put(s, "Its SizeLimit is ");
    suspects_put_number(s, limit);
    if (number_in_part(s->w, cache, "_cacheSize", &used) && used != UINT64_MAX) {
        suspects_put(s, ", and ");
        suspects_put_number(s, used);
        suspects_put(s, " are used");
    }
    suspects_put(s, ": it keeps no more. If that is too much memory, lower the limit, or give "
                    "entries the sizes that they have.");
    s->by_design = s->limited = true;
    return true;
}

bool gcd_limit_is_capacity(const char *field)
{
    return strstr(field, "apacity") != NULL;
}

struct limit {
    char field[LIMIT_FIELD_BYTES];
    uint64_t number;
};

/* Keeps FIELD[N] in RET if NUMBER is a limit, the smallest so far, of at least LEAST. */
static void keep_limit(struct limit *ret, const char *field, size_t n, uint64_t number)
{
    if (n == 0 || n >= sizeof ret->field || (ret->field[0] != '\0' && ret->number <= number))
        return;
    memcpy(ret->field, field, n);
    ret->field[n] = '\0';
    ret->number = number;
}

/* The same for the constants of TYPE (gcd_metadata_note) that limit what is in its field OF, or "".
 */
static void constant_limits(const struct suspects_work *w, uint32_t type, const char *of,
                            uint64_t least, struct limit *ret)
{
    for (const char *p = gcd_graph_summary(w->g)->types[type].events, *end; p != NULL; p = end) {
        size_t n = strcspn(p, " ;");
        uint64_t number = 0;
        if ((end = strchr(p, ';')) == NULL)
            return;
        end++;
        if (p[n] != ' ' || p[n + 1] != '#' || n >= LIMIT_FIELD_BYTES)
            continue;
        for (const char *d = p + n + 2; *d >= '0' && *d <= '9' && number < UINT64_MAX / 16; d++)
            number = number * 10 + (uint64_t)(*d - '0');
        if (number >= least && gcd_is_limit_name(p, n, of))
            keep_limit(ret, p, n, number);
    }
}

static bool knows_numbers(const struct suspects_work *w)
{
    return w->o->limit != NULL && !gcd_graph_notes(w->g)->addresses_made_up;
}

/* The limit in NODE, or of its class, of its field OF or "", of at least LEAST. */
static bool limit_in(const struct suspects_work *w, uint32_t node, const char *of, uint64_t least,
                     struct limit *ret)
{
    uint64_t number;
    const char *field =
        knows_numbers(w)
            ? w->o->limit(w->o->numbers, gcd_graph_node_address(w->g, node), of, least, &number)
            : NULL;
    ret->field[0] = '\0';
    if (field != NULL)
        keep_limit(ret, field, strlen(field), number);
    constant_limits(w, suspects_type_of(w, node), of, least, ret);
    return ret->field[0] != '\0';
}

/* The limit in NODE, or in its options, if COUNT may be near it. */
static bool limit_of(const struct suspects_work *w, uint32_t node, uint64_t count,
                     struct limit *ret)
{
    static const char *const words[] = { "Options", "Settings", "Configuration", "Limits" };
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(w->g, node, &n);
    bool found = limit_in(w, node, "", count, ret);
    for (size_t i = 0; i < n && i < OPTIONS_SEEN && !found; i++) {
        uint32_t type = suspects_type_of(w, edges[i]);
        const char *name = gcd_graph_summary(w->g)->types[type].name;
        for (size_t k = 0; k < sizeof words / sizeof *words && !found && w->is_own[type]; k++)
            found = gcd_bytes_end(name, strcspn(name, "`["), words[k]) &&
                    limit_in(w, edges[i], "", count, ret);
    }
    return found;
}

/* Does FIELD limit how many elements its object has, and nothing else?  "_maxMessages" may be of
 * each element, and "_maxSize" of bytes. */
static bool is_own_limit(const char *field)
{
    static const char *const names[] = { "capacity", "limit",       "maxEntries", "maxItems",
                                         "maxCount", "maxElements", "maxKeys",    "maxCapacity" };
    size_t i = 0;
    while (i < sizeof names / sizeof *names && !gcd_field_is_called(field, strlen(field), names[i]))
        i++;
    return i < sizeof names / sizeof *names;
}

/* Has NODE only one collection, or a dictionary and a linked list of its nodes?  Then a limit is of
 * no other. */
static bool has_one_collection(const struct suspects_work *w, uint32_t node)
{
    size_t n, lists = 0, others = 0;
    const uint32_t *edges = gcd_graph_few_edges(w->g, node, &n);
    for (size_t i = 0; i < n; i++) {
        enum gcd_collection_kind kind =
            gcd_collections_kind(w->collections, suspects_type_of(w, edges[i]));
        lists += kind == GCD_COLLECTION_LINKED_LIST;
        others += kind != GCD_COLLECTION_NONE && kind != GCD_COLLECTION_LINKED_LIST;
    }
    return lists <= 1 && others <= 1;
}

static bool has_own_owner(const struct suspect_words *s, const struct gcd_suspect *p)
{
    return p->owner_node != GCD_NODE_NONE && s->w->is_own[p->owner];
}

/* The largest limit of the owner of P, if COUNT is far above it; NULL = it is not, or not known. */
static const char *exceeded_limit(const struct suspect_words *s, const struct gcd_suspect *p,
                                  uint64_t count, uint64_t *ret)
{
    const struct suspects_work *w = s->w;
    const char *found = NULL, *field;
    uint64_t limit = LEAST_LIMITED - 1;
    if (!has_own_owner(s, p) || !knows_numbers(w) || !has_one_collection(w, p->owner_node))
        return NULL;
    uint64_t address = gcd_graph_node_address(w->g, p->owner_node);
    while ((field = w->o->limit(w->o->numbers, address, "", limit + 1, &limit)) != NULL) {
        if (limit > count / FAR_ABOVE)
            return NULL;
        if (!is_own_limit(field))
            continue;
        found = field;
        *ret = limit;
    }
    return found;
}

/* "its limit is 500 (capacity of LruCache)" */
static void put_limit(struct suspect_words *s, const struct gcd_suspect *p, const char *field,
                      uint64_t limit)
{
    suspects_put(s, "ts limit is ");
    suspects_put_number(s, limit);
    suspects_put(s, " (%.100s of ", field);
    suspects_put_where(s, p->owner);
    suspects_put(s, ")");
}

static void say_limited(struct suspect_words *s, const struct gcd_suspect *p,
                        const struct limit *limit)
{
    suspects_put(s, "I");
    put_limit(s, p, limit->field, limit->number);
    suspects_put(s, ": it keeps no more. If that is too much memory, lower the limit.");
    s->by_design = s->limited = true;
}

/* Has NODE, which has COUNT elements in FIELD, a limit that is named after that field and not
 * passed? */
static bool is_named_limit(const struct suspects_work *w, uint32_t node, const char *field,
                           uint64_t count, struct limit *ret)
{
    return field[0] != '\0' && count >= LEAST_LIMITED &&
           limit_in(w, node, field, count - count / NEARLY_ALL_OF, ret) &&
           ret->number / FAR_BELOW <= count;
}

/* COUNT elements of P that are nearly as many as a field or a constant of its owner allows, or far
 * more.  Does it say what there is to say?  Other numbers are seldom that near. */
static bool advise_own_limit(struct suspect_words *s, const struct suspect *x, uint64_t count)
{
    const struct gcd_suspect *p = &x->pub;
    struct limit limit;
    uint64_t number;
    if (!has_own_owner(s, p) || count < LEAST_LIMITED)
        return false;
    bool array = x->collection.kind == GCD_COLLECTION_ARRAY;
    if (limit_of(s->w, p->owner_node, count - count / NEARLY_ALL_OF, &limit) &&
        count >= limit.number - limit.number / 4 &&
        !(array && gcd_limit_is_capacity(limit.field))) {
        say_limited(s, p, &limit);
        return true;
    }
    if (!array && is_named_limit(s->w, p->owner_node, suspects_owner_field(s, p), count, &limit)) {
        say_limited(s, p, &limit);
        return true;
    }
    const char *field = array ? NULL : exceeded_limit(s, p, count, &number);
    if (field == NULL)
        return false;
    suspects_put(s, "I");
    put_limit(s, p, field, number);
    suspects_put(s, ", but it holds ");
    suspects_put_number(s, count);
    suspects_put(s, ". ");
    put_look_for(s, p, true);
    suspects_put(s, "what should remove the others.");
    s->certain = true;
    return true;
}

/* The fields of one object that are looked at. */
#define FIELDS_SEEN 64u

/* P, an object of the program, has collections with limits that are named after them.  Do these
 * allow all that P holds, such as the keys of two of them?  Then it says so. */
static bool advise_limits(struct suspect_words *s, const struct gcd_suspect *p)
{
    const struct suspects_work *w = s->w;
    struct limit limit, most = { .number = 0 };
    uint64_t sum = 0;
    size_t n;
    if (p->held_count == 0 || !w->is_own[p->type] || w->o->fields == NULL)
        return false;
    const uint32_t *edges = gcd_graph_few_edges(w->g, p->node, &n);
    for (size_t i = 0; i < n && i < FIELDS_SEEN; i++) {
        struct gcd_field f = gcd_fields_get(w->o->fields, p->node, i);
        struct gcd_collection c;
        struct gcd_error own = GCD_ERROR_INIT;
        if (f.slot == GCD_SLOT_NONE || f.name[0] == '\0' ||
            gcd_collections_kind(w->collections, suspects_type_of(w, edges[i])) ==
                GCD_COLLECTION_NONE ||
            gcd_collection_describe(w->collections, edges[i], &c, &own) != GCD_OK ||
            !is_named_limit(w, p->node, f.name, c.at_least, &limit))
            continue;
        gcd_add_saturating(&sum, limit.number);
        if (limit.number > most.number)
            most = limit;
    }
    if (most.number == 0 || p->held[0].objects > sum)
        return false;
    suspects_put(s, "What it keeps has limits, such as ");
    suspects_put_number(s, most.number);
    suspects_put(s, " (%.100s of ", most.field);
    suspects_put_where(s, p->type);
    suspects_put(s, "). If that is too much memory, lower them.");
    s->by_design = s->limited = true;
    return true;
}

static void advise_listener(struct suspect_words *s, const struct suspect *x)
{
    put_if_it_grows(s);
    suspects_put(s, "look in ");
    if (!x->observers) {
        put_listener(s, &x->pub, x->listener);
        return;
    }
    suspects_put_where(s, x->listener != GCD_TYPE_NONE ? x->listener : x->pub.owner);
    if (x->listener == GCD_TYPE_NONE) {
        suspects_put(s, " for subscriptions that are never disposed of.");
        return;
    }
    suspects_put(s, " for a subscription to ");
    suspects_put_owner_place(s, &x->pub);
    suspects_put(s, " that it never disposes of.");
}

/* References that do not keep their targets alive, but have to be removed themselves. */
static bool is_weak(const struct suspect_words *s, uint32_t type)
{
    return type != GCD_TYPE_NONE &&
           gcd_text_begins(gcd_graph_summary(s->w->g)->types[type].name, "System.WeakReference");
}

/* "an expression tree", "an array", "StringBuilder": a key of TYPE. */
static void put_content_key(struct suspect_words *s, uint32_t type)
{
    const char *name = gcd_graph_summary(s->w->g)->types[type].name;
    if (gcd_text_begins(name, SUSPECTS_EXPRESSIONS))
        suspects_put(s, "an expression tree");
    else if (gcd_text_is_array(name))
        suspects_put(s, "an array");
    else
        suspects_put_type(s, type);
}

/* "Look in PredicateCache for what makes them: keep" */
static void put_look_where_made(struct suspect_words *s, const struct gcd_suspect *p)
{
    if (is_in_static(s, p)) {
        suspects_put(s, "Look where ");
        suspects_put_root(s, p->root);
        suspects_put(s, " is used: keep");
    } else if (p->owner != GCD_TYPE_NONE) {
        suspects_put(s, "Look in ");
        suspects_put_where(s, p->owner);
        suspects_put(s, " for what makes them: keep");
    } else {
        suspects_put(s, "Keep");
    }
}

/* Keys that nobody finds again. */
static void advise_lost_keys(struct suspect_words *s, const struct suspect *x)
{
    bool set = x->collection.kind == GCD_COLLECTION_SET;
    suspects_put(s, "No lookup finds its %s again: nothing else refers to them, and ",
                 set ? "elements" : "keys");
    if (x->lost_by[0] == '\0') {
        put_content_key(s, x->lost_keys);
        suspects_put(s, " compares by reference, so a new one is never found. ");
        put_look_where_made(s, &x->pub);
        suspects_put(s, " each and use it again, use what compares by content, as a string does,");
    } else {
        suspects_put_type(s, x->lost_keys);
        if (x->lost_by[0] == '*') {
            suspects_put(s, " has no Equals. Give it Equals and GetHashCode, as a record has "
                            "them,");
        } else {
            suspects_put(s, ", a record, compares ");
            suspects_put_name(s, x->lost_by);
            suspects_put(s, " by reference. Write its Equals and GetHashCode,");
        }
    }
    suspects_put(s, " or give the %s an IEqualityComparer.", set ? "set" : "dictionary");
    s->certain = true;
}

/* Are there the messages of an agent of F#? */
static bool is_mailbox(const struct suspects_work *w, uint32_t collection)
{
    uint32_t up = suspects_parent(w, collection);
    return up < GCD_NODE_ROOT &&
           gcd_text_begins(gcd_graph_summary(w->g)->types[suspects_type_of(w, up)].name,
                           "Microsoft.FSharp.Control.Mailbox`1");
}

static void advise_collection(struct suspect_words *s, const struct suspect *x)
{
    struct suspects_below below;
    if (x->lost_by != NULL) {
        advise_lost_keys(s, x);
        return;
    }
    if (suspects_look_below(s->w, x, &below) && below.grows) {
        advise_below(s, &x->pub, &below);
        return;
    }
    if (x->collection.kind == GCD_COLLECTION_FROZEN) {
        suspects_put(s, "It cannot grow: if all of it is needed, nothing is wrong.");
        s->by_design = true;
        return;
    }
    uint64_t count =
        x->pub.element.type != GCD_TYPE_NONE ? x->pub.element.objects : x->collection.at_least;
    if (advise_own_limit(s, x, count))
        return;
    if (is_own_pool(s, x)) {
        suspects_put(s, "A pool keeps what was returned for the next peak. If it is too large, "
                        "let it keep fewer. A second dump shows whether it still grows.");
        s->by_design = true;
        return;
    }
    if (x->pub.own_count > 0 && is_delegate(s, x->pub.element.type) && can_be_event(s, &x->pub)) {
        suspects_put(s, "Look for a += without its -= in ");
        suspects_put_where(s, x->pub.own[0].type);
        suspects_put(s, ".");
        return;
    }
    if (x->listener != GCD_TYPE_NONE || x->subscriptions) {
        advise_listener(s, x);
        return;
    }
    if (x->failure != GCD_TYPE_NONE) {
        suspects_put(s, "Look in ");
        suspects_put_where(s, x->failed);
        suspects_put(s, " for what takes elements out of it: a task of it has failed with ");
        suspects_put_article(s, x->failure, true);
        suspects_put_type(s, x->failure);
        suspects_put(s, " (gcdumpc exceptions), so it may have ended.");
        return;
    }
    if (x->siblings > 0) {
        put_look_for(s, &x->pub, true);
        suspects_put(s,
                     "what takes elements out of it: it has ended, waits, or is too slow, while "
                     "those of the others keep up.%s",
                     is_bounded(s->w, x->collection.node)
                         ? ""
                         : " Give it a limit, as Channel.CreateBounded does.");
        return;
    }
    enum gcd_collection_kind kind = x->collection.kind;
    if (suspects_is_table(s, suspects_type_of(s->w, x->collection.node)))
        kind = GCD_COLLECTION_DICTIONARY; /* of a class that is derived from it */
    bool if_grows = kind != GCD_COLLECTION_ARRAY && kind != GCD_COLLECTION_HANDLERS;
    if ((kind == GCD_COLLECTION_CACHE && advise_limited(s, x)) || advise_bounded(s, x))
        return;
    if (kind != GCD_COLLECTION_CACHE && if_grows)
        put_if_needed(s, x);
    if (if_grows)
        put_if_it_grows(s);
    if (kind == GCD_COLLECTION_ARRAY) {
        suspects_put(s, "If all of it is needed, nothing is wrong; else ");
        s->size_only = true;
    }
    put_look_for(s, &x->pub, !if_grows && kind != GCD_COLLECTION_ARRAY);
    if (is_weak(s, x->pub.element.type)) {
        suspects_put(s, "what removes each WeakReference whose target is gone: it is missing, or "
                        "comes too seldom. Their targets are free, they are not.");
        return;
    }
    if (is_mailbox(s->w, x->collection.node)) {
        suspects_put(s, "the MailboxProcessor in ");
        put_it(s, &x->pub);
        suspects_put(s, kind == GCD_COLLECTION_LIST
                            ? ": its Scan keeps these messages until one of them matches."
                            : ": these messages wait for its agent, which has ended, is too slow, "
                              "or waits itself.");
        return;
    }
    const struct growth grows = growth_of(kind);
    s->may_be_limited = if_grows && kind != GCD_COLLECTION_TEXT;
    suspects_put(s, "%s", suspects_has_many_keys(s->w, x) ? "what adds keys to " : grows.before);
    put_it(s, &x->pub);
    suspects_put(s, "%s", grows.behind);
}

/* Objects that are inside the one before until somebody disposes of them; types by the begin of
 * their names. */
static const struct scope {
    const char *type, *one, *many, *behind, *advice;
    uint32_t others; /* so many of these objects are none */
} scopes[] = {
    { "Microsoft.Extensions.Logging.LoggerFactoryScopeProvider", "log scope", "log scopes",
      ", each inside the one before",
      "ILogger.BeginScope without using: each scope stays open inside the one before.", 0 },
    { "Microsoft.Extensions.Logging.LoggerExternalScopeProvider", "log scope", "log scopes",
      ", each inside the one before",
      "ILogger.BeginScope without using: each scope stays open inside the one before.", 0 },
    { "System.Diagnostics.Activity", "Activity", "Activity objects", ", each inside the one before",
      "an Activity that is started and never stopped: each is the parent of the next.", 0 },
    { "System.Threading.ThreadLocal`1+LinkedSlot", "value of a thread", "values of threads",
      " in a ThreadLocal",
      "what each thread adds to its value; if the ThreadLocal tracks all values, those of threads "
      "that have ended stay until it is disposed of.",
      1 },
};

static const struct scope *scope_of(const struct suspect_words *s, uint32_t type)
{
    const char *name = gcd_graph_summary(s->w->g)->types[type].name;
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
        if (gcd_text_begins(name, scopes[i].type))
            return &scopes[i];
    return NULL;
}

/* Of N values of threads at least half are of threads that have ended: the heap has so many
 * objects of threads; else 0. */
static uint64_t few_threads(const struct suspect_words *s, const struct scope *scope, uint64_t n)
{
    const struct gcd_summary *summary = gcd_graph_summary(s->w->g);
    for (uint32_t i = 0; i < summary->type_count && scope->others > 0; i++)
        if (strcmp(summary->types[i].name, "System.Threading.Thread") == 0 &&
            summary->types[i].objects < n / 2)
            return summary->types[i].objects;
    return 0;
}

uint64_t suspects_put_scopes(struct suspect_words *s, uint64_t n, uint32_t type, bool behind)
{
    const struct scope *scope = scope_of(s, type);
    if (scope == NULL)
        return 0;
    suspects_put_count(s, n - scope->others, scope->one, scope->many);
    suspects_put(s, "%s", behind ? scope->behind : "");
    uint64_t threads = few_threads(s, scope, n);
    if (threads > 0) {
        suspects_put(s, ", with only ");
        suspects_put_count(s, threads, "thread left", "threads left");
    }
    return n - scope->others;
}

/* So many objects are above most of a list, or this part of its objects. */
#define LIST_DEPTH 32u
#define LIST_PART  8u
#define LIST_STEPS 512u

/* Are the objects of P a list, each below the one before?  Most of a tree is near its root. */
static bool is_list(const struct suspects_work *w, const struct gcd_suspect *p)
{
    uint64_t all = gcd_graph_summary(w->g)->types[p->type].objects, seen = 0;
    uint64_t deep = p->objects / LIST_PART < LIST_DEPTH ? p->objects / LIST_PART : LIST_DEPTH;
    uint32_t asked = 0, below = 0;
    for (uint32_t node = 0; node < w->nodes; node++) {
        uint32_t depth = 0, steps = 0;
        if (suspects_type_of(w, node) != p->type || seen++ % (all / CHAIN_SEEN + 1) != 0)
            continue;
        for (uint32_t up = suspects_parent(w, node);
             up < GCD_NODE_ROOT && depth < deep && steps < LIST_STEPS;
             up = suspects_parent(w, up), steps++)
            depth += suspects_type_of(w, up) == p->type;
        below += depth >= deep;
        asked++;
    }
    return below > asked / 2;
}

/* A list or tree that consists of the objects themselves. */
static void advise_chain(struct suspect_words *s, const struct gcd_suspect *p)
{
    if (suspects_is_call(s, p->type)) {
        suspects_put(s, "Each call waits for the one before it: look in ");
        suspects_put_where(s, p->type);
        suspects_put(s, ", and see what the last one waits for: gcdumpc async.");
        return;
    }
    const struct scope *scope = scope_of(s, p->type);
    if (scope != NULL && few_threads(s, scope, p->objects) > 0) {
        suspects_put(s, "Most of these threads have ended: a ThreadLocal that tracks all values "
                        "keeps theirs until it is disposed of. ");
        put_look_for(s, p, true);
        suspects_put(s, "trackAllValues, or for threads that are made again and again.");
        return;
    }
    if (scope != NULL) {
        if (scope->others > 0)
            put_if_it_grows(s);
        put_look_for(s, p, scope->others == 0);
        suspects_put(s, "%s", scope->advice);
        return;
    }
    put_if_it_grows(s);
    put_look_for(s, p, false);
    bool list = is_list(s->w, p);
    suspects_put(s, list ? "what links each new " : "what adds ");
    suspects_put_type(s, p->type);
    suspects_put(s, list ? " to those before it and never lets go of the old ones."
                         : " objects to this tree and never removes them.");
}

bool suspects_is_gate(const struct suspects_work *w, const struct suspect *x)
{
    const struct suspect_words s = { .w = w };
    return x->pub.held_count > 0 && suspects_is_call(&s, suspects_part_type(&s, &x->pub)) &&
           strcmp(gcd_graph_summary(w->g)->types[x->pub.type].name,
                  "System.Threading.SemaphoreSlim") == 0;
}

/*
 * A limit on what runs at once is healthy while some calls are past it.  Is there no other call of
 * the methods that wait?  Then none is left that could call Release.
 */
static bool is_jammed(const struct suspect_words *s, const struct gcd_suspect *p)
{
    for (size_t i = 0; i < p->own_count; i++)
        if (suspects_is_call(s, p->own[i].type) &&
            gcd_graph_summary(s->w->g)->types[p->own[i].type].objects > p->own[i].objects)
            return false;
    return true;
}

static void advise_waited_for(struct suspect_words *s, const struct gcd_suspect *p)
{
    if (!is_jammed(s, p)) {
        suspects_put(s, "These calls wait for its Release, which others have to call: gcdumpc "
                        "async shows what those do.");
        s->size_only = true;
        return;
    }
    suspects_put(s, "These calls wait for its Release, and no other call of the same methods is "
                    "under way. ");
    put_look_for(s, p, true);
    suspects_put(s, "a way past Release, such as an exception: it belongs into a finally.");
}

/* What a cache of the program keeps in a linked list, and no longer finds. */
static void advise_lost(struct suspect_words *s, const struct suspect *x)
{
    const char *field;
    uint64_t limit;
    suspects_put(s, "Its linked list has ");
    suspects_put_number(s, x->pub.held[0].objects);
    suspects_put(s, " nodes, but its dictionary only ");
    suspects_put_number(s, x->found_nodes);
    suspects_put(s, " of them");
    if ((field = exceeded_limit(s, &x->pub, x->pub.held[0].objects, &limit)) != NULL) {
        suspects_put(s, ", and i");
        put_limit(s, &x->pub, field, limit);
    }
    suspects_put(s, ". ");
    put_look_for(s, &x->pub, true);
    suspects_put(s, "what removes from the dictionary and not from the list.");
    s->certain = true;
}

static void advise_root_scope(struct suspect_words *s, const struct gcd_suspect *p)
{
    suspects_put(s, "Resolve ");
    if (p->element.type != GCD_TYPE_NONE)
        suspects_put_type(s, p->element.type);
    else
        suspects_put(s, "disposable services");
    suspects_put(s, " from a scope that is disposed of: the root scope keeps each disposable "
                    "service until the program ends.");
}

bool suspects_is_local(const struct suspect_words *s, const struct gcd_suspect *p)
{
    return p->path_count == 1 && p->root != SIZE_MAX &&
           gcd_root_group(&gcd_graph_summary(s->w->g)->roots[p->root]) == GCD_GROUP_LOCALS;
}

#define POOL_QUEUE "System.Threading.ThreadPoolWorkQueue"
/* A thread that blocks in Wait or Result has one. */
#define BLOCKED "System.Threading.Tasks.Task+SetOnInvokeMres"
/* Programs block some threads for good, as Main. */
#define BLOCKED_LEAST 4u

/* Does P have work items that wait for a thread?  The queue, or an array of them, is in it. */
static bool is_in_thread_pool(const struct suspect_words *s, const struct gcd_suspect *p)
{
    for (size_t i = p->path_count; i > 0 && i + 3 > p->path_count; i--)
        if (gcd_text_begins(gcd_graph_summary(s->w->g)->types[p->path[i - 1].type].name,
                            POOL_QUEUE))
            return true;
    return false;
}

static void advise_thread_pool(struct suspect_words *s)
{
    const struct gcd_summary *summary = gcd_graph_summary(s->w->g);
    uint64_t blocked = 0;
    for (uint32_t i = 0; i < summary->type_count; i++)
        if (strcmp(summary->types[i].name, BLOCKED) == 0)
            gcd_add_saturating(&blocked, summary->types[i].objects);
    if (blocked >= BLOCKED_LEAST) {
        suspects_put(s, "These are work items that wait for a thread of the thread pool. Threads "
                        "block in Wait or Result, and gcdumpc async shows for what: await it "
                        "instead.");
        return;
    }
    put_if_it_grows(s);
    suspects_put(s, "look for what keeps the threads of the thread pool busy, or blocks them: "
                    "these are work items that wait for one.");
}

static void advise_object(struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    bool collection = x->collection.kind != GCD_COLLECTION_NONE;
    if (suspects_statics_root(s->w, p->node) != SIZE_MAX) {
        suspects_advise_statics(s);
    } else if (is_in_thread_pool(s, p)) {
        advise_thread_pool(s);
    } else if (x->recursive && p->objects > 1 && !collection) {
        advise_chain(s, p);
    } else if (p->path_count > 0 && suspects_is_in_root_scope(s, x)) {
        advise_root_scope(s, p);
    } else if (collection) {
        advise_collection(s, x);
    } else if (x->recent == SUSPECT_RECENT_LOST) {
        advise_lost(s, x);
    } else if (x->recent == SUSPECT_RECENT && advise_own_limit(s, x, p->held[0].objects)) {
        return;
    } else if (x->recent == SUSPECT_RECENT) {
        suspects_put(s, "A dictionary and a linked list of the same nodes are a cache of what was "
                        "used last. If it is too large, lower its limit. A second dump shows "
                        "whether it still grows.");
        s->by_design = true;
    } else if (suspects_is_gate(s->w, (const struct suspect *)p)) {
        advise_waited_for(s, p);
    } else if (advise_limits(s, p)) {
        return;
    } else if (p->shallow_bytes >= p->bytes / 2) {
        suspects_put(s, "It cannot grow: if all of it is needed, nothing is wrong; else ");
        s->size_only = true;
        put_look_for(s, p, false);
        suspects_put(s, "what makes ");
        put_it(s, p);
        suspects_put(s, " so large.");
    } else {
        const char *field = suspects_only_field(s, p);
        if (p->held_count > 0)
            put_if_it_grows(s);
        put_look_for(s, p, p->held_count == 0);
        if (field[0] != '\0') {
            suspects_put(s, "what adds to ");
            suspects_put_name(s, field);
            suspects_put(s, " and never removes.");
            return;
        }
        suspects_put(s, "why ");
        put_it(s, p);
        suspects_put(s, p->held_count > 0 ? " still keeps " : " is still kept.");
        if (p->held_count > 0) {
            bool call = suspects_is_call(s, p->held[0].type), one = p->held[0].objects == 1;
            suspects_put(s, one ? "one " : "");
            suspects_put_where(s, suspects_part_type(s, p));
            suspects_put(s, one ? (call ? " call." : ".") : call ? " calls." : " objects.");
        }
    }
}

/*
 * A method that never returns, such as Main, holds like a static variable, and nothing tells which
 * method it is: so what a local variable holds is judged like all else.
 */
static void put_local(struct suspect_words *s, const struct gcd_suspect *p)
{
    bool known = gcd_graph_summary(s->w->g)->roots[p->root].label[0] != '\0';
    suspects_put(s, " The method that holds it in a local variable frees it when it returns%s",
                 known ? "." : ": see which with dotnet-stack report.");
}

/* What to do with many objects of TYPE, if their framework wants something of those who have them.
 */
static void put_duty(struct suspect_words *s, uint32_t type)
{
    static const struct {
        const char *type, *advice;
    } duties[] = {
        { "System.Text.Json.JsonDocument",
          " A JsonDocument keeps its buffers until it is disposed of: dispose of each, and keep a "
          "JsonElement.Clone() of what is needed." },
        { "Microsoft.AspNetCore.Http.DefaultHttpContext",
          " An HttpContext is for its request alone, and may serve another one later: keep what is "
          "needed of it instead." },
    };
    const char *name = type != GCD_TYPE_NONE ? gcd_graph_summary(s->w->g)->types[type].name : "";
    for (size_t i = 0; i < sizeof duties / sizeof *duties; i++)
        if (strcmp(name, duties[i].type) == 0)
            suspects_put(s, "%s", duties[i].advice);
}

void suspects_advise_object(struct suspect_words *s, const struct suspect *x)
{
    advise_object(s, x);
    put_duty(s, x->pub.element.type);
    /* what waits in an asynchronous method has no stack */
    if (suspects_is_local(s, &x->pub) && !suspects_is_call(s, x->pub.type))
        put_local(s, &x->pub);
}

/* ---- objects of one type ---- */

static void advise_held_by_roots(struct suspect_words *s, const struct gcd_suspect *p)
{
    switch (gcd_root_group(&gcd_graph_summary(s->w->g)->roots[p->root])) {
    case GCD_GROUP_LOCALS:
        suspects_put(s, "Methods that are running hold them in variables: see the stacks of the "
                        "threads (dotnet-stack).");
        return;
    case GCD_GROUP_STRONG_HANDLES:
        suspects_put(
            s, "Free each GCHandle, or unregister each native callback, when its work is done");
        break;
    case GCD_GROUP_PINNED_HANDLES:
        suspects_put(s, "Free each pinned GCHandle, also after an exception, or allocate what "
                        "stays pinned with GC.AllocateArray");
        break;
    case GCD_GROUP_REFCOUNTED:
        suspects_put(
            s, "Native code holds them through COM: look for an interface that is never released.");
        return;
    case GCD_GROUP_OTHER:
        suspects_put(s, "The runtime itself holds them: no variable does.");
        return;
    default:
        suspects_put(s, "Look for what sets these variables and never clears them");
    }
    if (s->w->is_own[p->type]) {
        suspects_put(s, ": look for what makes ");
        suspects_put_where(s, p->type);
        suspects_put(s, " objects");
    }
    suspects_put(s, ".");
}

/* "Shop.Archive", "the static variable Shop.Depot.Open" */
static void put_holder_place(struct suspect_words *s, uint32_t owner_node, uint32_t owner,
                             size_t root)
{
    if (owner_node != GCD_NODE_NONE)
        suspects_put_where(s, owner);
    else
        suspects_put_root(s, root);
}

static void advise_type(struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    uint32_t type = s->w->is_own[p->type] || p->own_count == 0 ? p->type : p->own[0].type;
    if (x->statics > 0) {
        suspects_advise_statics(s);
        return;
    }
    if (x->holder == SUSPECT_BY_ROOTS && p->alike > 0 && p->root != SIZE_MAX) {
        advise_held_by_roots(s, p);
        return;
    }
    if (suspects_is_in_both(s->w, x)) {
        suspects_put(s, "Both must let go: look in ");
        put_holder_place(s, p->owner_node, p->owner, p->root);
        suspects_put(s, " and ");
        put_holder_place(s, p->ways[0].owner_node, p->ways[0].owner, p->ways[0].root);
        suspects_put(s, " for what keeps ");
        suspects_put_where(s, type);
        suspects_put(s, suspects_is_call(s, type) ? " calls that do not end."
                                                  : " objects and never removes them.");
        return;
    }
    if (suspects_is_queue(gcd_collections_kind(s->w->collections, p->type))) {
        put_look_for(s, p, true);
        suspects_put(s, "what takes elements out of them: it has ended, is too slow, or is "
                        "missing; what nobody takes out needs a limit.");
        return;
    }
    suspects_put(s, "All that holds them must let go: ");
    if (suspects_is_listener(s->w, x)) {
        suspects_put(s, "look in ");
        put_listener(s, p, type);
        return;
    }
    put_look_for(s, p, false);
    suspects_put(s, "what makes ");
    suspects_put_where(s, type);
    suspects_put(s, suspects_is_call(s, type) ? " calls that do not end."
                                              : " objects and never releases them.");
}

void suspects_advise_type(struct suspect_words *s, const struct suspect *x)
{
    advise_type(s, x);
    put_duty(s, x->pub.type);
}
