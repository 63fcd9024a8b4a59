/*
 * The search for leak suspects.  Each file searches for one kind and adds what it finds (suspects.c
 * has the order); numbers, paths and sentences are filled in afterwards, the same way for all.
 */
#ifndef GCD_ANALYZE_SUSPECTS_H
#define GCD_ANALYZE_SUSPECTS_H

#include <string.h>

#include <gcdumpc/suspects.h>
#include <gcdumpc/unstable/collections.h>
#include <gcdumpc/unstable/duplicates.h>
#include <gcdumpc/unstable/graph/graph_types.h>
#include <gcdumpc/unstable/origins.h>
#include <gcdumpc/unstable/suspect_checks.h>

#include "analyze/dominators/dominators.h"
#include "analyze/dominators/live_edges.h"
#include "base/idmap.h"
#include "base/text.h"

/* This many handlers of one event are suspicious at any size. */
#define SUSPECTS_HANDLERS 1000u
/* This many objects that wait for their finalizers are suspicious at any size. */
#define SUSPECTS_WAITING 10000u
/* At least this many pinned objects; the runtime itself pins some. */
#define SUSPECTS_PINNED 10u
/* Collections of one size: the minimum number, and the maximum size of each. */
#define SUSPECTS_ALIKE 10000u
#define SUSPECTS_SMALL 512u
/* Arrays of static variables that are examined. */
#define SUSPECTS_STATICS 64u
/* Own types with one name in at least this many assemblies count as one type. */
#define SUSPECTS_COPIES 10u

/* Findings: this many objects of one group are one at any size. */
#define FINDING_TIMERS        1000u
#define FINDING_REGISTRATIONS 1000u
#define FINDING_CONTINUATIONS 1000u
#define FINDING_TASKS         1000u
#define FINDING_CALLS         1000u
#define FINDING_BOXED         10000u
#define FINDING_ENTITIES      1000u
#define FINDING_HTTP          100u
#define FINDING_METHODS       1000u
#define FINDING_WAITS         1000u
#define FINDING_INTERNED      10000u
#define FINDING_LOADS         10u
#define FINDING_GENERATED     100u /* copies of an assembly that is made at run time */
#define FINDING_CONTEXTS      100u /* collectible contexts besides those */
#define FINDING_PINS          1000u
#define FINDING_WEAK_ENTRIES  1000u
/* This many objects are enough if the finding replaces another suspect, because it keeps as much
 * alive as a suspect. */
#define FINDING_FEW 10u
/* FRAGMENTATION: at least one part in this many of the large object heap is free. */
#define FINDING_FREE_PART 4u
/* Between fewer large objects there are only a few gaps, where something large was a moment ago. */
#define FINDING_LARGE 20u

/* No suspect. */
#define SUSPECTS_NONE UINT32_MAX
/* Maximum number of clauses in the sentence of one suspect. */
#define SUSPECTS_ALSO 4u

/* What holds those objects of a TYPE that are held like the typical one (pub.alike). */
enum suspect_holder { SUSPECT_BY_ROOTS, SUSPECT_BY_OBJECT, SUSPECT_BY_TYPE };

/* A value of a ConditionalWeakTable grows if its collection has this many elements. */
#define SUSPECTS_MANY_EACH 10u

struct suspect {
    struct gcd_suspect pub; /* the first: gcd_suspects_also */
    uint32_t id;            /* never changes, unlike the position in the list */
    /* if it overlaps: the suspect to which nine tenths of its objects belong; SUSPECTS_NONE = none
     */
    uint32_t within;
    /* the suspect that reports this one in a clause; SUSPECTS_NONE = it is in the list itself */
    uint32_t into;
    bool small; /* below the limits, and no clause of another suspect: not told */
    /* [pub.also_count] suspects that this one reports in clauses */
    uint32_t also[SUSPECTS_ALSO];
    struct gcd_suspect_step *path;
    size_t path_room;           /* items allocated */
    bool recursive;             /* OBJECT: the first object of a list or tree of its own type */
    enum suspect_holder holder; /* TYPE, if pub.alike > 0 */
    /* an object on its path holds everything that a program makes once: it tells more than the
     * variable that leads there */
    bool contained;
    /* if roots or such an object hold the objects: the own type that refers to most of them,
     * USER_REFERENCES times */
    uint32_t user;
    uint64_t user_references;
    /* TYPE of which arrays of static variables keep most: number of these arrays */
    uint64_t statics;
    /* OBJECT, and HANDLERS found as one: the suspect owns what this object dominates; else
     * GCD_NODE_NONE */
    uint32_t container;
    /* an OBJECT that is a collection, a TYPE in one; else its kind is GCD_COLLECTION_NONE */
    struct gcd_collection collection;
    uint64_t type_objects; /* FINALIZERS, PINNED: suspected objects of pub.type */
    uint64_t type_bytes;   /* FINALIZERS: what these keep alive */
    uint64_t references;   /* COLLECTIONS: objects in their arrays; SPARSE: used slots */
    uint64_t places;       /* SPARSE: all slots */
    uint64_t nulls;        /* SPARSE: of these, elements that are known to be null */
    uint64_t each_bytes;   /* COLLECTIONS: size of one */
    bool is_array;         /* COLLECTIONS: arrays without elements */
    uint64_t around_bytes; /* PINNED: ranges with the free bytes */
    /* DUPLICATES: the strings with a known text, the most wasteful text, what holds most of its
     * strings, and of all that are there several times; COUNT 0 = not known */
    uint64_t strings;
    struct gcd_duplicate same;
    uint32_t same_length;
    struct gcd_duplicate_holder by, most_by;
    /* TRACKER: of the DbContext; WEAK_TABLE: of the keys; else GCD_TYPE_NONE */
    uint32_t owner_type;
    /* WEAK_TABLE: the type and the average number of elements of the collection that a value is or
     * has; FINALIZERS: the type of most objects, if it is not that of most bytes, and their number;
     * GCD_TYPE_NONE = none */
    uint32_t each_type;
    uint64_t each_elements;
    const struct gcd_module *module; /* ASSEMBLIES: the first copy */
    uint32_t copies;
    /* a collection: nothing in it is young */
    bool settled;
    uint64_t young, old_elements; /* while that is found out: objects of all types, elements */
    /* OBJECT, a collection of few elements: the own type whose objects hold most of those of
     * pub.own[0] directly; GCD_TYPE_NONE = not looked for, or none */
    uint32_t below;
    bool below_listens;  /* most of these objects have a method that a delegate holds */
    uint32_t below_link; /* one of them; another one holds it, and most others; GCD_NODE_NONE */
    /* so many others are above one of them, on average, if others are above most; else 0 */
    uint32_t below_depth;
    /* OBJECT, a queue: an own object that knows it, of FAILED, has a task that failed with an
     * exception of FAILURE; GCD_TYPE_NONE = none has */
    uint32_t failure, failed;
    /* OBJECT, a channel: number of objects of its owner's class with such a channel, of which only
     * FULL_SIBLINGS, itself included, have many elements; 0 = not so */
    uint64_t siblings, full_siblings;
    /* OBJECT, a collection of delegates or of what has one: the own type of nearly all targets, if
     * that is not the owner; of IObserver<T>: the elements' type; GCD_TYPE_NONE */
    uint32_t listener;
    bool observers;     /* LISTENER are observers */
    bool subscriptions; /* which Rx keeps in an array */
    /* OBJECT, a dictionary and a linked list of the same nodes; LOST: of which the dictionary finds
     * only FOUND_NODES */
    enum { SUSPECT_NOT_RECENT, SUSPECT_RECENT, SUSPECT_RECENT_LOST } recent;
    uint64_t found_nodes;
    /* OBJECT, a dictionary or a set with keys of a type that are never found: they compare the
     * field LOST_BY by reference, "*" = themselves, "" = the same, of the framework; NULL = not so
     */
    uint32_t lost_keys;
    const char *lost_by;
    /* HANDLERS of one event of so many objects; 0 = of one object */
    uint64_t event_holders;
    /* if there are HANDLERS that overlap: the bytes that only events keep alive */
    uint64_t by_events;
    bool collectible;
    /* findings: the type that keeps most of the bytes, unless it is the one behind the finding;
     * else GCD_TYPE_NONE */
    uint32_t heaviest_type;
    uint64_t linked;     /* CANCELLATION: callbacks of sources linked to this one */
    uint64_t held_bytes; /* findings, HANDLERS: of all types behind them, not only pub.held */
    /* of the objects that it holds directly: the one that retains most; 0 = none */
    uint64_t largest_bytes;
    uint32_t largest_type;
    /* it is SERVICE, or held by it, which a service provider holds; its path leads through SITE,
     * the call site; GCD_NODE_NONE = not so */
    uint32_t service, site;
    uint32_t shared; /* its bit in struct suspects_shared; 0 = none */
};

/* The bytes of the objects that belong to OWNER, a suspect that does not overlap (SUSPECTS_NONE =
 * none), and to the overlapping ones in SETS. */
struct suspects_shared {
    uint32_t sets, owner;
    uint64_t bytes;
};

/* Few elements of a collection, and below them most of the bytes in objects of pub.own[0]: EACH has
 * an object of OWNER, of which there are OWNERS; 0 = these are the elements.  GROWS: too many for
 * one object. */
struct suspects_below {
    uint32_t owner;
    uint64_t owners, each;
    bool grows;
    bool listens;     /* by a method that a delegate holds */
    bool collections; /* OWNER is a collection of the framework */
    bool chains;      /* each object holds the next one of its type, and so on */
    bool trees;       /* each element is the root of a tree of its type */
    uint32_t link;    /* an object that one of its type holds, as most are; GCD_NODE_NONE */
};

/* Sums by type over the objects that no single object dominates. */
struct suspects_top {
    uint64_t objects, bytes; /* all */
    /* of these: neither suspects themselves nor waiting for finalizers */
    uint64_t group_objects, group_bytes;
    uint64_t group_shallow;
};

struct gcd_suspects {
    struct gcd_alloc alloc;
    struct gcd_textpool pool; /* sentences */
    uint64_t heap_bytes, threshold, observed_bytes;
    uint64_t alive_bytes; /* of the heap: what roots reach */
    struct suspect *items;
    size_t count, room;
    uint32_t added; /* including suspects that were replaced */
    /* [count] set when they are sorted; suspects in clauses of others come last */
    uint32_t *order;
    size_t told;  /* number of those with a sentence of their own */
    size_t notes; /* after them */
    struct gcd_suspect_check checks[GCD_SUSPECT_KINDS];
    struct gcd_unnamed unnamed;
    bool lacks_references; /* as in suspects_work */
    struct gcd_suspect_part *consumers;
    size_t consumer_count, consumer_room;
    uint32_t *objects; /* of findings that do not overlap */
    size_t object_count, object_room;
    struct suspects_shared *shared;
    size_t shared_count, shared_room;
};

/* An object of the suspect with this id.  Unless the suspect overlaps others, the object counts for
 * it, with all that it keeps alive. */
struct suspects_owned {
    uint32_t node, id;
};

/* A sample of the objects of a TYPE; the samples represent all of them. */
struct suspects_drawn {
    uint64_t path;              /* hash of the types on its shortest path */
    uint64_t weight;            /* bytes */
    uint32_t suspect, node, by; /* BY: its parent on the path */
};

/* An array in which the runtime keeps static variables, and the number of the handle that holds it.
 */
struct suspects_statics {
    uint32_t node;
    size_t root;
};

struct suspects_work {
    bool notes_designs; /* what is large by design is a note; else a suspect like others */
    struct gcd_suspects *s;
    const struct gcd_alloc *alloc; /* &s->alloc */
    const struct gcd_suspects_options *o;
    const struct gcd_graph *g;
    struct gcd_graph_types type_of; /* of G */
    const struct gcd_dominators *d;
    const struct gcd_paths *paths; /* NULL until needed */
    struct gcd_paths *own_paths;
    uint32_t nodes, types;
    bool lacks_references; /* the dump is incomplete: what is not there proves nothing */
    size_t most;           /* the largest possible number of suspects */
    struct gcd_collections *collections;
    /* objects and references of all collections described so far */
    uint64_t described;
    const struct gcd_origins *origins;
    struct gcd_origins *own_origins;
    /* [types] the program's own, and a possible owner: no array, no delegate */
    uint8_t *is_own;
    /* [types] of an own type the first type that people see as the same; of others the type itself
     */
    uint32_t *alike;
    /* one bit per node: an internal object of a suspected collection; NULL = there is none */
    uint64_t *inside;
    /* the program's own objects that are registered in a service provider as the only ones of their
     * services -> the call site that holds each */
    struct gcd_idmap sites;
    /* one bit per node: only the finalizer queue holds it; NULL = the queue is empty */
    uint64_t *waiting;
    size_t words;
    /* [nodes] 1 + number of the suspect that the object counts for, or SUSPECTS_UNKNOWN,
     * SUSPECTS_NOBODY */
    uint16_t *owner;
    struct suspects_top *top;     /* [types] */
    struct suspects_owned *owned; /* of findings */
    size_t owned_count, owned_room;
    struct suspects_statics statics[SUSPECTS_STATICS];
    size_t static_count;
};

/* gcd_graph_node_type and gcd_dominators_parent, without calls: they are asked of each object, in
 * some twenty passes. */
static inline uint32_t suspects_type_of(const struct suspects_work *w, uint32_t node)
{
    return gcd_graph_type_at(&w->type_of, node);
}
static inline uint32_t suspects_parent(const struct suspects_work *w, uint32_t node)
{
    return w->d->parent[node];
}

/* Not known yet; counts for no suspect. */
#define SUSPECTS_UNKNOWN 0u
#define SUSPECTS_NOBODY  UINT16_MAX

/* A suspect of which only KIND, NODE and TYPE are set. */
struct gcd_suspect suspects_blank(enum gcd_suspect_kind kind, uint32_t node, uint32_t type);
/* Adds a suspect of which only KIND, NODE and TYPE are set.  Valid until the next call.
 * GCD_E_NOMEM, GCD_E_LIMIT. */
gcd_status suspects_add(struct suspects_work *w, enum gcd_suspect_kind kind, uint32_t node,
                        uint32_t type, struct suspect **ret, struct gcd_error *err);
/* Records NODE as an object of the suspect added last (struct suspects_owned).  GCD_E_NOMEM. */
gcd_status suspects_own(struct suspects_work *w, uint32_t node, struct gcd_error *err);
/* Long loops call it every 2^20 steps. */
#define SUSPECTS_CHECK_EVERY (UINT32_C(1) << 20)
gcd_status suspects_check(const struct suspects_work *w, struct gcd_error *err);
/* Keeps the MAX largest parts in TOP[*N], by bytes, then objects; equal ones in the order of
 * arrival. */
void suspects_keep_most(struct gcd_suspect_part *top, size_t *n, size_t max,
                        struct gcd_suspect_part part);

static inline bool suspects_waits(const struct suspects_work *w, uint32_t node)
{
    return w->waiting != NULL && bits_get(w->waiting, node);
}

/*
 * suspects_content.c: gcd_collection_describe.  GCD_END also if collections share so many internal
 * objects that the walks have visited too many; no real program does that.
 */
gcd_status suspects_describe(struct suspects_work *w, uint32_t node, struct gcd_collection *ret,
                             struct gcd_error *err);
/* Describes X, the suspected collection x->pub.node. */
gcd_status suspects_add_elements(struct suspects_work *w, struct suspect *x, struct gcd_error *err);
/* suspects_object.c: OBJECT suspects, the containers of the dominator tree. */
gcd_status suspects_containers(struct suspects_work *w, struct gcd_error *err);
/* suspects.c: w->paths, if they are not known yet. */
gcd_status suspects_find_paths(struct suspects_work *w, struct gcd_error *err);
/* suspects_observed.c: the bytes of the runtime's descriptions of its events; is TYPE what holds
 * them; does NODE belong to them? */
void suspects_find_observed(struct suspects_work *w);
bool suspects_is_source(const struct gcd_graph *g, uint32_t type);
bool suspects_is_observed(const struct suspects_work *w, uint32_t node);
/* suspects_finalizers.c: w->waiting and FINALIZERS. */
gcd_status suspects_finalizers(struct suspects_work *w, struct gcd_error *err);
/* suspects_type.c: w->top, the consumers and TYPE; what holds the objects of TYPE, once paths are
 * known. */
gcd_status suspects_types(struct suspects_work *w, struct gcd_error *err);
gcd_status suspects_holders(struct suspects_work *w, struct gcd_error *err);
/* suspects_shared.c: s->shared, once it is known which suspects are told. */
gcd_status suspects_share(struct suspects_work *w, struct gcd_error *err);
/* suspects_settled.c: which collections have nothing young in them. */
gcd_status suspects_find_settled(struct suspects_work *w, struct gcd_error *err);
/* suspects_keys.c: dictionaries and sets whose keys are never found; nodes of expression trees. */
#define SUSPECTS_EXPRESSIONS "System.Linq.Expressions."
gcd_status suspects_find_lost_keys(struct suspects_work *w, struct gcd_error *err);
/* suspects_siblings.c: what NODE has in a field, of TYPE, or GCD_NODE_NONE; full channels among
 * empty ones. */
uint32_t suspects_field_of(const struct suspects_work *w, uint32_t node, uint32_t type);
gcd_status suspects_find_siblings(struct suspects_work *w, struct gcd_error *err);
/* suspects_listener.c: are the objects of a TYPE held as targets of delegates; whose methods
 * collections of delegates have. */
bool suspects_is_listener(const struct suspects_work *w, const struct suspect *x);
gcd_status suspects_find_listeners(struct suspects_work *w, struct gcd_error *err);
/* suspects_by_events.c: by_events of all. */
gcd_status suspects_find_by_events(struct suspects_work *w, struct gcd_error *err);
/* The events in X keep most of it alive. */
static inline bool suspects_is_by_events(const struct suspect *x)
{
    return x->by_events >= x->pub.bytes / 2;
}
/* suspects_failed.c: queues that an object with a failed task knows. */
static inline bool suspects_is_queue(enum gcd_collection_kind kind)
{
    return kind == GCD_COLLECTION_QUEUE || kind == GCD_COLLECTION_PRIORITY_QUEUE ||
           kind == GCD_COLLECTION_CONCURRENT_QUEUE || kind == GCD_COLLECTION_BLOCKING ||
           kind == GCD_COLLECTION_CHANNEL;
}
gcd_status suspects_find_failed(struct suspects_work *w, struct gcd_error *err);
/* suspects_recent.c: caches of what was used last. */
gcd_status suspects_find_recent(struct suspects_work *w, struct gcd_error *err);
/* suspects_below.c: what holds most of the objects in collections of few elements; what that means
 * for X.  False: nothing worth a word. */
gcd_status suspects_find_below(struct suspects_work *w, struct gcd_error *err);
bool suspects_look_below(const struct suspects_work *w, const struct suspect *x,
                         struct suspects_below *ret);
/* Is X a dictionary of many small collections: its keys are what there are many of? */
bool suspects_has_many_keys(const struct suspects_work *w, const struct suspect *x);
/* Sets the user of X. */
gcd_status suspects_find_user(const struct suspects_work *w, struct suspect *x,
                              struct gcd_error *err);
/* suspects_ways.c: other paths to the objects of TYPE suspects, judging by COUNT samples. */
gcd_status suspects_ways(struct suspects_work *w, const struct suspects_drawn *drawn, size_t count,
                         struct gcd_error *err);
/* suspects_lifetime.c: is ROOT a static variable of one of the program's own classes, or, if its
 * class is unknown, of an own type? */
bool suspects_is_own_static(const struct suspects_work *w, size_t root);
/* Is X held by such a variable, and not only because it leads to a service provider? */
bool suspects_in_own_static(const struct suspects_work *w, const struct gcd_suspect *x);
/* Is NAME, as the runtime writes it, a type that holds everything a program makes once, such as
 * ServiceProvider? */
bool suspects_is_container(const char *name);
/* w->sites. */
gcd_status suspects_find_registered(struct suspects_work *w, struct gcd_error *err);
/* Makes the path of X the one that its sentence tells, if that is a service provider. */
gcd_status suspects_lead_through_site(const struct suspects_work *w, struct suspect *x,
                                      struct gcd_error *err);
/* Does the sentence of X name step I as what tells its lifetime? */
bool suspects_names_step(const struct suspects_work *w, const struct suspect *x, size_t i);
/* Is NODE such an object, or a database in memory, to which many lead that do not hold its content?
 * A scope that is not the root scope is none: who leads to it holds its services. */
bool suspects_is_passage(const struct suspects_work *w, uint32_t node);
/* Or one with which such types keep their content? */
bool suspects_is_plumbing(const char *name);
/* suspects_statics.c: w->statics; the root of NODE if it is one of these, else SIZE_MAX. */
gcd_status suspects_find_statics(struct suspects_work *w, struct gcd_error *err);
size_t suspects_statics_root(const struct suspects_work *w, uint32_t node);
/* suspects_handlers.c: HANDLERS; turns some OBJECT suspects into HANDLERS. */
gcd_status suspects_handlers(struct suspects_work *w, struct gcd_error *err);
/* suspects_pinned.c: PINNED. */
gcd_status suspects_pinned(struct suspects_work *w, struct gcd_error *err);
/* suspects_collections.c: COLLECTIONS. */
gcd_status suspects_collections(struct suspects_work *w, struct gcd_error *err);
/* suspects_sparse.c: SPARSE. */
gcd_status suspects_sparse(struct suspects_work *w, struct gcd_error *err);
/* suspects_duplicates.c: DUPLICATES. */
gcd_status suspects_duplicates(struct suspects_work *w, struct gcd_error *err);
/* findings/: all kinds of findings, rules first. */
gcd_status suspects_findings(struct suspects_work *w, struct gcd_error *err);
gcd_status suspects_assemblies(struct suspects_work *w, struct gcd_error *err);
gcd_status suspects_fragmentation(struct suspects_work *w, struct gcd_error *err);
gcd_status suspects_pins(struct suspects_work *w, struct gcd_error *err);
gcd_status suspects_weak_tables(struct suspects_work *w, struct gcd_error *err);
/* suspects_content.c: the owner of each object (w->owner); what OBJECT, TYPE and FINALIZERS
 * suspects hold and consist of. */
gcd_status suspects_content(struct suspects_work *w, struct gcd_error *err);
/* suspects_merge.c: sets WITHIN of each suspect, right after their content; sets INTO when
 * everything but the sentences is known. */
gcd_status suspects_within(struct suspects_work *w, struct gcd_error *err);
gcd_status suspects_merge(struct suspects_work *w, struct gcd_error *err);
/* The order of suspects: those that overlap others last, then by bytes.  CTX: struct gcd_suspects;
 * for gcd_sort_numbers. */
int suspects_compare(const void *ctx, uint32_t a, uint32_t b);
/* suspects_owner.c: w->origins and w->is_own; the owner and the collection of one suspect. */
gcd_status suspects_find_origins(struct suspects_work *w, struct gcd_error *err);
bool suspects_is_delegate(const struct suspects_work *w, uint32_t type);
/* suspects_alike.c: w->alike; the number of assemblies that have TYPE, a value of w->alike; 1
 * unless its shown name tells the copies apart. */
gcd_status suspects_find_alike(struct suspects_work *w, struct gcd_error *err);
uint32_t suspects_assemblies_of(const struct suspects_work *w, uint32_t type);
gcd_status suspects_owner(const struct suspects_work *w, struct suspect *x, struct gcd_error *err);
/* Is UP between NODE and the root of the dominator tree, or NODE itself? */
bool suspects_dominates(const struct suspects_work *w, uint32_t up, uint32_t node);
/* suspects_path.c: path and root of one suspect. */
gcd_status suspects_path(const struct suspects_work *w, struct suspect *x, struct gcd_error *err);
/* suspects_kinds.c: the initial check of each kind; sentence and advice of one suspect. */
void suspects_begin_checks(struct gcd_suspects *s);
/* What a suspect of KIND counts, in the plural. */
const char *suspects_what(enum gcd_suspect_kind kind);
/* Can a suspect of KIND be a clause of another one?  Are its objects of its type? */
bool suspects_has_clause(enum gcd_suspect_kind kind);
bool suspects_counts_type(enum gcd_suspect_kind kind);
gcd_status suspects_sentence(const struct suspects_work *w, struct suspect *x,
                             struct gcd_error *err);

#endif
