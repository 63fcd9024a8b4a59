/*
 * Leak suspects in the making.  Each file searches for one kind and adds what it finds (suspects.c has the order); numbers, paths and
 * sentences are filled in afterwards, the same way for all.
 */
#ifndef GCD_ANALYZE_SUSPECTS_H
#define GCD_ANALYZE_SUSPECTS_H

#include <string.h>

#include <gcdumpc/suspects.h>
#include <gcdumpc/unstable/collections.h>
#include <gcdumpc/unstable/origins.h>
#include <gcdumpc/unstable/suspect_checks.h>

#include "analyze/dominators/live_edges.h"
#include "base/idmap.h"
#include "base/text.h"

/* This many handlers of one event are suspicious at any size. */
#define SUSPECTS_HANDLERS 1000u
/* So are this many objects that wait for their finalizers. */
#define SUSPECTS_WAITING 10000u
/* At least this many pinned objects; the runtime itself pins some. */
#define SUSPECTS_PINNED 10u
/* Collections of one size: the least number, and the largest size of each. */
#define SUSPECTS_ALIKE 10000u
#define SUSPECTS_SMALL 512u
/* Arrays of static variables that are looked at. */
#define SUSPECTS_STATICS 64u
/* Own types of one name in this many assemblies are one for people. */
#define SUSPECTS_COPIES 10u

/* Findings: so many objects of one group are one at any size. */
#define FINDING_TIMERS 1000u
#define FINDING_REGISTRATIONS 1000u
#define FINDING_CONTINUATIONS 1000u
#define FINDING_TASKS 1000u
#define FINDING_CALLS 1000u
#define FINDING_BOXED 10000u
#define FINDING_ENTITIES 1000u
#define FINDING_HTTP 100u
#define FINDING_METHODS 1000u
#define FINDING_WAITS 1000u
#define FINDING_INTERNED 10000u
#define FINDING_LOADS 10u
#define FINDING_CONTEXTS 100u         /* collectible contexts besides those */
#define FINDING_PINS 1000u
#define FINDING_WEAK_ENTRIES 1000u
/* So many are enough for a finding that takes the place of another suspect, because it keeps the bytes of one alive. */
#define FINDING_FEW 10u
/* FRAGMENTATION: the part of the large object heap that is free, 1 in this many. */
#define FINDING_FREE_PART 4u

/* No suspect. */
#define SUSPECTS_NONE UINT32_MAX
/* Clauses in the sentence of one suspect. */
#define SUSPECTS_ALSO 4u

/* What holds the objects of a TYPE that are held the same way. */
enum suspect_holder { SUSPECT_BY_ROOTS, SUSPECT_BY_OBJECT, SUSPECT_BY_TYPE };

struct suspect {
    struct gcd_suspect pub;      /* the first: gcd_suspects_also */
    uint32_t id;                 /* other than its place in the list, it stays */
    uint32_t within;             /* that overlaps: the suspect to which nine tenths of its objects belong; SUSPECTS_NONE */
    uint32_t into;               /* the suspect that tells it in a clause; SUSPECTS_NONE = it is in the list */
    uint32_t also[SUSPECTS_ALSO];    /* [pub.also_count] suspects that it tells */
    struct gcd_suspect_step *path;
    size_t path_room;            /* items allocated */
    bool recursive;              /* OBJECT: the first object of a list or tree of its own type */
    enum suspect_holder holder;  /* TYPE, when pub.alike > 0 */
    uint32_t user;               /* of objects that roots hold: the own type that refers to most of them, USER_REFERENCES times */
    uint64_t user_references;
    uint64_t statics;            /* TYPE of which arrays of static variables keep most: so many */
    uint32_t container;          /* OBJECT, and HANDLERS found as one: the suspect owns what this object dominates; else GCD_NODE_NONE */
    struct gcd_collection collection;    /* OBJECT that is one, TYPE in one; else its kind is GCD_COLLECTION_NONE */
    uint64_t type_objects;       /* FINALIZERS, PINNED: suspected objects of pub.type */
    uint64_t references;         /* COLLECTIONS: objects in their arrays; SPARSE: places in use */
    uint64_t places;             /* SPARSE: all of them */
    uint64_t each_bytes;         /* COLLECTIONS: size of one */
    bool is_array;               /* COLLECTIONS: arrays without elements */
    uint64_t around_bytes;       /* PINNED: ranges with the free bytes */
    uint32_t owner_type;         /* TRACKER: of the DbContext; WEAK_TABLE: of the keys; else GCD_TYPE_NONE */
    const struct gcd_module *module;     /* ASSEMBLIES: the first copy */
    uint32_t copies;
    bool collectible;
    uint32_t heaviest_type;      /* findings: what keeps most of the bytes, other than who is behind; else GCD_TYPE_NONE */
};

/* Sums by type over objects that only the roots together hold. */
struct suspects_top {
    uint64_t objects, bytes;             /* all */
    uint64_t group_objects, group_bytes; /* of these: neither suspects themselves nor waiting for finalizers */
    uint64_t group_shallow;
};

struct gcd_suspects {
    struct gcd_alloc alloc;
    struct gcd_textpool pool;            /* sentences */
    uint64_t heap_bytes, threshold;
    struct suspect *items;
    size_t count, room;
    uint32_t added;                      /* also those that others took the place of */
    uint32_t *order;                     /* [count] once they are sorted: those that others tell last */
    size_t told;                         /* the others */
    struct gcd_suspect_check checks[GCD_SUSPECT_KINDS];
    struct gcd_suspect_part *consumers;
    size_t consumer_count, consumer_room;
};

/* An object of the suspect with this id.  Unless that overlaps others, the object counts for it, with all it keeps alive. */
struct suspects_owned {
    uint32_t node, id;
};

/* Of the objects of a TYPE some are drawn, which stand for all. */
struct suspects_drawn {
    uint64_t path;                       /* hash of the types on its shortest path */
    uint64_t weight;                     /* bytes */
    uint32_t suspect, node, by;          /* BY: its parent on the path */
};

/* An array in which the runtime keeps static variables, and the number of the handle that holds it. */
struct suspects_statics {
    uint32_t node;
    size_t root;
};

struct suspects_work {
    struct gcd_suspects *s;
    const struct gcd_alloc *alloc;       /* that of s */
    const struct gcd_suspects_options *o;
    const struct gcd_graph *g;
    const struct gcd_dominators *d;
    const struct gcd_paths *paths;       /* NULL until somebody needs them */
    struct gcd_paths *own_paths;
    uint32_t nodes, types;
    size_t most;                         /* the largest possible number of suspects */
    struct gcd_collections *collections;
    uint64_t described;                  /* objects and references of all collections that were described */
    const struct gcd_origins *origins;
    struct gcd_origins *own_origins;
    uint8_t *is_own;                     /* [types] of the program's own, and can be an owner: no array, no delegate */
    uint32_t *alike;                     /* [types] of own ones the first that is the same for people; others themselves */
    uint64_t *inside;                    /* one bit per node: inside of a collection that is suspected; NULL = there is none */
    uint64_t *waiting;                   /* one bit per node: held by the finalizer queue alone; NULL = the queue is empty */
    size_t words;
    uint16_t *owner;                     /* [nodes] 1 + number of the suspect that an object counts for, or: */
    struct suspects_top *top;            /* [types] */
    struct suspects_owned *owned;        /* of findings */
    size_t owned_count, owned_room;
    struct suspects_statics statics[SUSPECTS_STATICS];
    size_t static_count;
};

/* Not known yet; counts for no suspect. */
#define SUSPECTS_UNKNOWN 0u
#define SUSPECTS_NOBODY UINT16_MAX

/* With nothing known but KIND, NODE and TYPE. */
struct gcd_suspect suspects_blank(enum gcd_suspect_kind kind, uint32_t node, uint32_t type);
/* Adds a suspect, nothing known except KIND, NODE and TYPE; the next one added moves it.  GCD_E_NOMEM, GCD_E_LIMIT. */
gcd_status suspects_add(struct suspects_work *w, enum gcd_suspect_kind kind, uint32_t node, uint32_t type, struct suspect **ret,
                        struct gcd_error *err);
/* NODE is one of the objects of the suspect that was added last: struct suspects_owned.  GCD_E_NOMEM. */
gcd_status suspects_own(struct suspects_work *w, uint32_t node, struct gcd_error *err);
/* Long loops call it every 2^20 steps. */
#define SUSPECTS_CHECK_EVERY (UINT32_C(1) << 20)
gcd_status suspects_check(const struct suspects_work *w, struct gcd_error *err);
/* Keeps the largest parts in TOP[*N], in descending order; equal ones stay in the order of arrival. */
void suspects_keep_most(struct gcd_suspect_part top[GCD_SUSPECT_PARTS], size_t *n, struct gcd_suspect_part part);

/* Is it an array, judging by its type's name: "X[]", "X[,]", but not "List`1[X]"? */
static inline bool suspects_is_array(const char *name)
{
    size_t n = strlen(name);
    return n >= 2 && name[n - 1] == ']' && (name[n - 2] == '[' || name[n - 2] == ',');
}

static inline bool suspects_waits(const struct suspects_work *w, uint32_t node)
{
    return w->waiting != NULL && bits_get(w->waiting, node);
}

/*
 * suspects_content.c: gcd_collection_describe.  GCD_END also when so many collections share their inside that it has been walked through too often,
 * which no program does.
 */
gcd_status suspects_describe(struct suspects_work *w, uint32_t node, struct gcd_collection *ret, struct gcd_error *err);
/* Describes X, the suspected collection x->pub.node. */
gcd_status suspects_add_elements(struct suspects_work *w, struct suspect *x, struct gcd_error *err);
/* suspects_object.c: OBJECT, the containers of the dominator tree. */
gcd_status suspects_containers(struct suspects_work *w, struct gcd_error *err);
/* suspects.c: w->paths, if they are not known yet. */
gcd_status suspects_find_paths(struct suspects_work *w, struct gcd_error *err);
/* suspects_finalizers.c: w->waiting and FINALIZERS. */
gcd_status suspects_finalizers(struct suspects_work *w, struct gcd_error *err);
/* suspects_type.c: w->top, the consumers and TYPE; what holds the objects of TYPE, once paths are known. */
gcd_status suspects_types(struct suspects_work *w, struct gcd_error *err);
gcd_status suspects_holders(struct suspects_work *w, struct gcd_error *err);
/* suspects_ways.c: what else leads to the objects of TYPE, judging by COUNT drawn ones. */
gcd_status suspects_ways(struct suspects_work *w, const struct suspects_drawn *drawn, size_t count, struct gcd_error *err);
/* suspects_lifetime.c: is ROOT a static variable of the program's own classes, or when its class is not known, of an own type? */
bool suspects_is_own_static(const struct suspects_work *w, size_t root);
/* suspects_statics.c: w->statics; the root of NODE when it is one of these, else SIZE_MAX. */
gcd_status suspects_find_statics(struct suspects_work *w, struct gcd_error *err);
size_t suspects_statics_root(const struct suspects_work *w, uint32_t node);
/* suspects_handlers.c: HANDLERS; turns some of OBJECT into HANDLERS. */
gcd_status suspects_handlers(struct suspects_work *w, struct gcd_error *err);
/* suspects_pinned.c: PINNED. */
gcd_status suspects_pinned(struct suspects_work *w, struct gcd_error *err);
/* suspects_collections.c: COLLECTIONS. */
gcd_status suspects_collections(struct suspects_work *w, struct gcd_error *err);
/* suspects_sparse.c: SPARSE. */
gcd_status suspects_sparse(struct suspects_work *w, struct gcd_error *err);
/* findings/: the kinds of findings, those by rules first. */
gcd_status suspects_findings(struct suspects_work *w, struct gcd_error *err);
gcd_status suspects_assemblies(struct suspects_work *w, struct gcd_error *err);
gcd_status suspects_fragmentation(struct suspects_work *w, struct gcd_error *err);
gcd_status suspects_pins(struct suspects_work *w, struct gcd_error *err);
gcd_status suspects_weak_tables(struct suspects_work *w, struct gcd_error *err);
/* suspects_content.c: the owner of each object (w->owner), held and content of OBJECT, TYPE, FINALIZERS. */
gcd_status suspects_content(struct suspects_work *w, struct gcd_error *err);
/* suspects_merge.c: WITHIN of each suspect, right after their content; INTO, when all but their sentences is known. */
gcd_status suspects_within(struct suspects_work *w, struct gcd_error *err);
gcd_status suspects_merge(struct suspects_work *w, struct gcd_error *err);
/* The order of suspects: those that overlap others last, then by bytes.  CTX: struct gcd_suspects; for gcd_sort_numbers. */
int suspects_compare(const void *ctx, uint32_t a, uint32_t b);
/* suspects_owner.c: w->origins and w->is_own; owner and collection of one suspect. */
gcd_status suspects_find_origins(struct suspects_work *w, struct gcd_error *err);
/* suspects_alike.c: w->alike; in how many assemblies TYPE, one of these, is, 1 unless people see it by the name. */
gcd_status suspects_find_alike(struct suspects_work *w, struct gcd_error *err);
uint32_t suspects_assemblies_of(const struct suspects_work *w, uint32_t type);
gcd_status suspects_owner(const struct suspects_work *w, struct suspect *x, struct gcd_error *err);
/* suspects_path.c: path and root of one suspect. */
gcd_status suspects_path(const struct suspects_work *w, struct suspect *x, struct gcd_error *err);
/* suspects_kinds.c: what a check of each kind begins with; sentence and advice of one suspect. */
void suspects_begin_checks(struct gcd_suspects *s);
/* Can a suspect of KIND be told in a clause of another one?  Are its objects of its type? */
bool suspects_has_clause(enum gcd_suspect_kind kind);
bool suspects_counts_type(enum gcd_suspect_kind kind);
gcd_status suspects_sentence(const struct suspects_work *w, struct suspect *x, struct gcd_error *err);

#endif
