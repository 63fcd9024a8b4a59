/* The role of types in findings, and the search for the type behind an object. */
#include "analyze/findings/findings.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"

/* The search visits this many objects, and this many references of each: the type behind an object
 * is near. */
#define WHO_NODES 48u
#define WHO_EDGES 16u
/* The search for a holder visits this many objects above. */
#define HOLDER_STEPS 12u
/* The search for what a timer holds visits this many delegates and closures. */
#define THIN_NODES 8u

/* Skips the type arguments at P, in either spelling. */
static const char *after_arguments(const char *p)
{
    int depth = 0;
    if (*p == '`')
        p += 1 + strspn(p + 1, "0123456789");
    while (*p == '<' || *p == '[' || depth > 0) {
        depth += gcd_text_bracket(*p);
        if (*p++ == '\0')
            return p - 1;
    }
    return p;
}

bool findings_is_named(const char *name, const char *space, const char *last)
{
    size_t n = strlen(space), k = strlen(last);
    bool in_space = strncmp(name, space, n) == 0;
    const char *p = in_space ? name + n : name;
    if ((!in_space && strncmp(name, last, k) != 0) || gcd_text_is_array(name))
        return false; /* the first, because most types are of a program */
    for (;;) {        /* outer types */
        size_t end = strcspn(p, "+.`[<");
        const char *next = after_arguments(p + end);
        if (*next != '+' && *next != '.')
            return end == k && memcmp(p, last, k) == 0 && *next == '\0';
        if (!in_space)
            return false;
        p = next + 1;
    }
}

/* Types that belong to the whole program, or from which everything can be reached. */
static bool is_skipped(const char *name)
{
    static const char *const begin[] = { "System.Reflection.",    "System.RuntimeType",
                                         "System.Globalization.", "System.String",
                                         "System.Version",        "System.Threading.Thread" };
    static const char *const threading[] = { "TimerQueue", "Registrations",
                                             "ThreadPoolTaskScheduler", "SynchronizationContext" };
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (gcd_text_begins(name, begin[i]))
            return true;
    for (size_t i = 0; i < sizeof threading / sizeof *threading; i++)
        if (findings_is_named(name, "System.Threading.", threading[i]))
            return true;
    return gcd_text_begins(name, "System.Threading.Tasks.ThreadPoolTaskScheduler");
}

bool findings_is_box(const char *name)
{
    return findings_is_named(name, "System.Runtime.CompilerServices.", "AsyncStateMachineBox") ||
           findings_is_named(name, "System.Runtime.CompilerServices.",
                             "DebugFinalizableAsyncStateMachineBox");
}

static bool waits(const char *name)
{
    static const char *const words[] = { "ContinueWithTaskContinuation",
                                         "AwaitTaskContinuation",
                                         "SynchronizationContextAwaitTaskContinuation",
                                         "TaskSchedulerAwaitTaskContinuation",
                                         "WhenAllPromise",
                                         "UnwrapPromise",
                                         "TwoTaskWhenAnyPromise",
                                         "CompleteOnInvokePromise",
                                         "SetOnInvokeMres",
                                         "CancellationPromise" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (findings_is_named(name, "System.Threading.Tasks.", words[i]))
            return true;
    return findings_is_box(name);
}

/* Works also if the program and the library are one module.  The box of an asynchronous method
 * belongs to the owner of the method. */
static bool is_library(const struct findings *f, uint32_t type)
{
    const char *name = f->types[type].name;
    return !findings_is_box(name) && (f->rule[type] != 0 || gcd_text_begins(name, "System."));
}

static void mark_own(struct findings *f)
{
    for (uint32_t i = 0; i < f->w->types; i++)
        if (gcd_origins_get(f->w->origins, i) == GCD_ORIGIN_OWN &&
            (f->types[i].flags & GCD_TYPE_DELEGATE) == 0 && !is_library(f, i))
            f->traits[i] |= FINDING_OWN;
}

/* Records the roots of arrays that may belong to the runtime. */
static gcd_status mark_roots(struct findings *f, struct gcd_error *err)
{
    const struct gcd_summary *s = gcd_graph_summary(f->w->g);
    for (size_t i = 0; i < s->root_count; i++) {
        enum gcd_root_group group = gcd_root_group(&s->roots[i]);
        uint32_t node = s->roots[i].node,
                 bit = group == GCD_GROUP_LOCALS ? FINDING_IN_THREAD : FINDING_IN_HANDLE, before;
        bool counts = group == GCD_GROUP_LOCALS || group == GCD_GROUP_STRONG_HANDLES ||
                      group == GCD_GROUP_PINNED_HANDLES;
        if (!counts || !findings_is_of(f, node, GCD_SUSPECT_INTERNED))
            continue;
        before = gcd_idmap_get(&f->roots, node);
        if (!gcd_idmap_put(&f->roots, node, bit | (before == GCD_IDMAP_NONE ? 0 : before)))
            return gcd_fail_nomem(err, "looking for findings");
    }
    return GCD_OK;
}

gcd_status findings_classify(struct findings *f, struct gcd_error *err)
{
    for (uint32_t i = 0; i < f->w->types; i++) {
        const struct gcd_type *t = &f->types[i];
        if (t->objects == 0)
            continue;
        f->traits[i] =
            (uint8_t)((waits(t->name) ? FINDING_RUNS : 0) |
                      (is_skipped(t->name) ? FINDING_SKIP : 0) |
                      (strcmp(t->name, "System.Threading.ExecutionContext") == 0 ? FINDING_FLOW
                                                                                 : 0));
        for (size_t r = 0; findings_rule(r) != NULL && f->rule[i] == 0; r++)
            if (findings_rule(r)->is_type(t))
                f->rule[i] = (uint8_t)(r + 1);
    }
    mark_own(f);
    return mark_roots(f, err);
}

bool findings_has(const struct findings *f, uint32_t node, uint8_t trait)
{
    return (f->traits[suspects_type_of(f->w, node)] & trait) != 0;
}

/* Does it only lead to what is called?  A delegate, and the object of a lambda's variables. */
static bool is_thin(const struct gcd_type *t)
{
    return (t->flags & GCD_TYPE_DELEGATE) != 0 || strstr(t->name, "c__DisplayClass") != NULL;
}

bool findings_holds(const struct findings *f, uint32_t node)
{
    uint32_t nodes[THIN_NODES] = { node };
    if (f->callbacks == NULL)
        return true;
    for (size_t at = 0, count = 1; at < count; at++) {
        size_t n;
        const uint32_t *edges = callbacks_edges(f->callbacks, nodes[at]);
        (void)gcd_graph_node_edges(f->w->g, nodes[at], &n);
        for (size_t i = 0; edges != NULL && i < n; i++) {
            if (edges[i] == nodes[at] || findings_is_of(f, edges[i], GCD_SUSPECT_TIMERS) ||
                findings_is_of(f, edges[i], GCD_SUSPECT_CANCELLATION))
                continue;
            if (!is_thin(&f->types[suspects_type_of(f->w, edges[i])]) || count == THIN_NODES)
                return true;
            nodes[count++] = edges[i];
        }
    }
    return false;
}

bool findings_any(const struct findings *f, uint32_t node, struct finding_member *ret)
{
    (void)f;
    (void)node;
    (void)ret;
    return true;
}

uint32_t findings_nobody(const struct findings *f, uint32_t node)
{
    (void)f;
    (void)node;
    return GCD_TYPE_NONE;
}

bool findings_no_type(const struct gcd_type *t)
{
    (void)t;
    return false;
}

bool findings_is_of(const struct findings *f, uint32_t node, enum gcd_suspect_kind kind)
{
    uint8_t rule = f->rule[suspects_type_of(f->w, node)];
    return rule != 0 && findings_rule(rule - 1u)->kind == kind;
}

/* ---- the type behind an object ---- */

struct search {
    const struct findings *f;
    uint8_t without; /* traits of objects that are not met */
    uint32_t nodes[WHO_NODES];
    bool exclusive[WHO_NODES]; /* only the first node keeps it alive */
    size_t n;
    uint64_t seen; /* a bit for each of NODES, some for several */
    /* types: of the program's first exclusive object, of its first other one, of the first object
     * of others */
    uint32_t who, shared, first;
    uint32_t heaviest; /* type of the program's exclusive object that retains most */
    uint64_t heaviest_bytes;
};

static uint64_t seen_bit(uint32_t node)
{
    return UINT64_C(1) << node % 64;
}

/* The number of NODE among those of the search; S->n = it is not there. */
static size_t number_of(const struct search *s, uint32_t node)
{
    size_t i = (s->seen & seen_bit(node)) != 0 ? 0 : s->n;
    while (i < s->n && s->nodes[i] != node)
        i++;
    return i;
}

/* Does only the object where the search began keep NODE alive? */
static bool is_exclusive(const struct search *s, uint32_t node)
{
    size_t up = number_of(s, suspects_parent(s->f->w, node));
    return up < s->n && s->exclusive[up];
}

/* Does an object of TYPE have a link to the object where the search began only because both belong
 * to one rule? */
static bool is_neighbour(const struct search *s, uint32_t type)
{
    uint8_t rule = s->f->rule[suspects_type_of(s->f->w, s->nodes[0])];
    return rule != 0 && findings_rule(rule - 1u)->chained && s->f->rule[type] == rule;
}

/*
 * Is NODE part of object number AT, other than the one where the search began?  An example are the
 * registrations of a linked CancellationTokenSource, which a timer and another source hold: the
 * search finds its creator through them.
 */
static bool is_part(const struct search *s, size_t at, uint32_t node)
{
    return at > 0 && suspects_parent(s->f->w, node) == s->nodes[at];
}

/* Examines NODE, which object number AT refers to. */
static void meet(struct search *s, size_t at, uint32_t node)
{
    uint32_t type = suspects_type_of(s->f->w, node);
    bool own = (s->f->traits[type] & FINDING_OWN) != 0, exclusive;
    if (number_of(s, node) < s->n || (s->f->traits[type] & s->without) != 0)
        return;
    exclusive = is_exclusive(s, node);
    if (((s->f->traits[type] & FINDING_SKIP) != 0 || is_neighbour(s, type)) &&
        !(at > 0 && exclusive) && !is_part(s, at, node))
        return;
    if (own && exclusive) {
        uint64_t bytes = gcd_dominators_retained(s->f->w->d, node);
        if (s->who == GCD_TYPE_NONE)
            s->who = type;
        if (bytes > s->heaviest_bytes) {
            s->heaviest_bytes = bytes;
            s->heaviest = type;
        }
    } else if (own && s->shared == GCD_TYPE_NONE) {
        s->shared = type;
    }
    if (!own && s->first == GCD_TYPE_NONE && (s->f->types[type].flags & GCD_TYPE_DELEGATE) == 0)
        s->first = type;
    if (!own) {
        s->seen |= seen_bit(node);
        s->nodes[s->n] = node;
        s->exclusive[s->n++] = exclusive;
    }
}

static struct search search_from(const struct findings *f, uint32_t node, bool whole,
                                 uint8_t without)
{
    struct search s = { .f = f,
                        .without = without,
                        .nodes = { node },
                        .exclusive = { true },
                        .n = 1,
                        .seen = seen_bit(node),
                        .who = GCD_TYPE_NONE,
                        .shared = GCD_TYPE_NONE,
                        .first = GCD_TYPE_NONE,
                        .heaviest = GCD_TYPE_NONE };
    for (size_t i = 0; i < s.n; i++) {
        size_t n;
        const uint32_t *edges = gcd_graph_node_edges(f->w->g, s.nodes[i], &n);
        for (size_t e = 0;
             e < n && e < WHO_EDGES && s.n < WHO_NODES && (whole || s.who == GCD_TYPE_NONE); e++)
            meet(&s, i, edges[e]);
    }
    return s;
}

/* Does it have the lambdas of a class that use no variables?  All of them share one object. */
static bool is_without_variables(const char *name)
{
    const char *c = strstr(name, "<>c");
    return c != NULL ? strncmp(c, "<>c__Display", 12) != 0 : strstr(name, "_Closure$__") != NULL;
}

uint32_t findings_who(const struct findings *f, uint32_t node)
{
    if (findings_has(f, node, FINDING_OWN))
        return suspects_type_of(f->w, node);
    struct search s = search_from(f, node, false, FINDING_FLOW);
    if (s.who == GCD_TYPE_NONE &&
        (s.shared == GCD_TYPE_NONE || is_without_variables(f->types[s.shared].name)))
        s = search_from(f, node, false, 0);
    return s.who != GCD_TYPE_NONE ? s.who : s.shared != GCD_TYPE_NONE ? s.shared : s.first;
}

uint32_t findings_heaviest(const struct findings *f, uint32_t node, uint64_t *ret_bytes)
{
    struct search s = search_from(f, node, true, 0);
    *ret_bytes = s.heaviest_bytes;
    return s.heaviest;
}

uint32_t findings_holder(const struct findings *f, uint32_t node)
{
    const struct gcd_dominators *d = f->w->d;
    uint32_t first = GCD_TYPE_NONE, collection = GCD_TYPE_NONE, up = gcd_dominators_parent(d, node);
    for (unsigned n = 0; n < HOLDER_STEPS && up < GCD_NODE_ROOT;
         n++, up = gcd_dominators_parent(d, up)) {
        uint32_t type = suspects_type_of(f->w, up);
        if (findings_has(f, up, FINDING_OWN))
            return type;
        if (gcd_collections_kind(f->w->collections, type) != GCD_COLLECTION_NONE)
            collection = collection == GCD_TYPE_NONE ? type : collection;
        else if (first == GCD_TYPE_NONE)
            first = type;
    }
    return first != GCD_TYPE_NONE ? first : collection;
}
