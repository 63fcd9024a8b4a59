/* A suspect in one line: where it is, what there is of it, and how sure that is. */
#include "analyze/suspects/suspects_words.h"

#include <string.h>

#include <gcdumpc/unstable/origins.h>
#include <gcdumpc/unstable/process_memory.h>
#include <gcdumpc/unstable/static_names.h>

#include "base/most_types.h"

/* What is a smaller part of a healthy heap is not worth a word. */
#define WORTH_PART 100u

void suspects_put_root_place(struct suspect_words *s, size_t root)
{
    const struct gcd_root *r = &gcd_graph_summary(s->w->g)->roots[root];
    const struct gcd_static_words w = gcd_static_words(s->w->g, s->w->o->names, r);
    if (gcd_root_group(r) != GCD_GROUP_STATICS || w.label[0][0] == '\0') {
        suspects_put(s, "%s",
                     gcd_root_is_thread_static(s->w->g, r) ? "thread-static variable"
                     : suspects_statics_root(s->w, r->node) == root
                         ? "static variable"
                         : gcd_root_group_label(gcd_root_group(r))->one);
        return;
    }
    for (size_t i = 0; i < sizeof w.label / sizeof *w.label; i++)
        suspects_put_name(s, w.label[i]);
}

/* "List<Quote> in a local of Program.Main": several locals of one method are several suspects. */
static void suspects_put_in_local(struct suspect_words *s, const struct gcd_suspect *p)
{
    const char *method = gcd_root_method(&gcd_graph_summary(s->w->g)->roots[p->root]);
    suspects_put_type(s, p->type);
    suspects_put(s, method != NULL ? " in a local of " : " in a local variable");
    if (method == NULL)
        return;
    suspects_put_short(s, method, strlen(method), 2, method);
}

/* What people call the place where X is: "SessionStore._byUser", "Lifetime.s_source". */
void suspects_put_place(struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    bool object = p->kind == GCD_SUSPECT_OBJECT || p->kind == GCD_SUSPECT_HANDLERS;
    if (object && p->owner_node != GCD_NODE_NONE) {
        suspects_put_owner_place(s, p);
    } else if (p->kind == GCD_SUSPECT_HANDLERS && x->contained && suspects_put_event_place(s, p)) {
        return;
    } else if (object && x->contained && suspects_is_in_memory_database(s, x)) {
        suspects_put(s, "in-memory database");
    } else if (object && x->contained) {
        suspects_put_type(s, x->collection.kind != GCD_COLLECTION_NONE
                                 ? suspects_type_of(s->w, x->collection.node)
                                 : p->type);
    } else if (object && suspects_is_local(s, p)) {
        suspects_put_in_local(s, p);
    } else if (object && p->path_count > 0 && p->root != SIZE_MAX) {
        suspects_put_root_place(s, p->root);
    } else if (suspects_is_in_both(s->w, x)) {
        suspects_put_both(s, p);
    } else if (p->kind == GCD_SUSPECT_TYPE && suspects_is_call(s, p->type)) {
        suspects_put_who(s, p->type);
    } else if (p->kind == GCD_SUSPECT_TYPE && p->type != GCD_TYPE_NONE) {
        suspects_put_type(s, p->type);
    } else if (p->kind == GCD_SUSPECT_DUPLICATES && suspects_put_text_holder(s, x)) {
        return;
    } else if (x->module != NULL) {
        suspects_put_assembly(s, x->module);
    } else if (p->held_count > 0 && suspects_has_clause(p->kind)) {
        if (!suspects_is_linked_source(s, p->held[0].type) || !suspects_put_variable(s, "", x))
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

/* So many times the average is worth a word. */
#define LARGEST_TIMES 10u

/* ", 4.3 KiB each, largest 1.2 MiB", of N objects of TYPE that X holds. */
static void put_each_of(struct suspect_words *s, const struct suspect *x, uint64_t bytes,
                        uint64_t n, uint32_t type)
{
    put_each(s, bytes, n);
    /* what other suspects inside X take counts for the largest, but not for the average */
    if (x->pub.bytes != x->pub.retained_bytes || n < 2 || type != x->largest_type ||
        x->largest_bytes == 0 || x->largest_bytes > bytes ||
        x->largest_bytes / LARGEST_TIMES < bytes / n)
        return;
    suspects_put(s, ", largest ");
    suspects_put_bytes(s, x->largest_bytes);
}

/* Is it better to count what X consists of than what X holds? */
static bool counts_more(const struct suspect *x, const struct suspect *lead)
{
    return lead != x &&
           (lead->pub.kind == GCD_SUSPECT_HANDLERS || lead->pub.kind == GCD_SUSPECT_SPARSE ||
            lead->pub.kind == GCD_SUSPECT_WEAK_TABLE);
}

static void put_lead(struct suspect_words *s, const struct suspect *lead)
{
    const struct gcd_suspect *p = &lead->pub;
    if (p->kind == GCD_SUSPECT_HANDLERS) {
        suspects_put_count(s, p->objects, "handler", "handlers");
    } else {
        suspects_put_typed(s, p->objects, p->type);
    }
    if (p->kind == GCD_SUSPECT_SPARSE) {
        suspects_put(s, ", ");
        suspects_put_empty(s, lead);
    } else {
        put_each(s, p->bytes, p->objects);
    }
}

void suspects_put_what(struct suspect_words *s, const struct suspect *x, const struct suspect *lead)
{
    const struct gcd_suspect *p = &x->pub;
    const char *what = suspects_what(p->kind);
    struct suspects_below below;
    if (counts_more(x, lead)) {
        put_lead(s, lead);
    } else if (p->kind == GCD_SUSPECT_ASSEMBLIES) {
        suspects_put_count(s, x->copies > 0 ? x->copies : p->objects, "load", "loads");
    } else if (p->kind == GCD_SUSPECT_OBJECT && x->collection.kind != GCD_COLLECTION_NONE) {
        bool deeper = suspects_look_below(s->w, x, &below);
        if (deeper && below.owners > 0) {
            suspects_put_number(s, below.owners);
            suspects_put(s, " ");
            suspects_put_type(s, below.owner);
            suspects_put(s, " in ");
        }
        uint64_t n = suspects_put_elements(s, x);
        if (deeper && below.each > 1) {
            suspects_put(s, below.chains  ? ", a chain of about "
                            : below.trees ? ", a tree of about "
                                          : ", about ");
            suspects_put_number(s, below.each);
            suspects_put(s, " ");
            suspects_put_type(s, p->own[0].type);
            suspects_put(s, " in each");
        } else if (!deeper) {
            put_each_of(s, x, p->bytes, n,
                        x->collection.elements_of_count > 0 ? x->collection.elements_of[0].type
                                                            : GCD_TYPE_NONE);
        }
    } else if (p->kind == GCD_SUSPECT_OBJECT && (x->recursive || p->held_count == 0)) {
        uint64_t n = x->recursive ? suspects_put_scopes(s, p->objects, p->type, false) : 0;
        if (n == 0)
            suspects_put_typed(s, p->objects, p->type);
        put_each(s, p->bytes, n > 0 ? n : p->objects);
    } else if (x->recent != SUSPECT_NOT_RECENT) {
        suspects_put_recent(s, p);
        put_each_of(s, x, p->held[0].bytes, p->held[0].objects, p->held[0].type);
    } else if (p->kind == GCD_SUSPECT_OBJECT && p->held_objects > 1 &&
               p->held[0].objects <= p->held_objects / 2) {
        (void)suspects_put_parts(s, p);
    } else if (p->kind == GCD_SUSPECT_OBJECT) {
        suspects_put_typed(s, p->held[0].objects, suspects_part_type(s, p));
        put_each_of(s, x, p->held[0].bytes, p->held[0].objects, p->held[0].type);
    } else if (p->kind == GCD_SUSPECT_TYPE) {
        suspects_put_typed(s, p->objects, p->type);
        put_each(s, p->bytes, p->objects);
    } else if (suspects_are_delays(s, x)) {
        suspects_put_count(s, p->held[0].objects, "call in Task.Delay", "calls in Task.Delay");
        put_each(s, p->bytes, p->held[0].objects);
    } else {
        suspects_put_number(s, p->objects);
        suspects_put(s, " %s", p->kind == GCD_SUSPECT_HANDLERS ? "handlers" : what);
        put_each(s, gcd_suspect_kind_is_free(p->kind) ? 0 : p->bytes,
                 gcd_suspect_kind_is_free(p->kind) ? 0 : p->objects);
    }
}

/* The largest consumer of the program's own types that is worth a word; NULL = none. */
static const struct gcd_suspect_part *own_consumer(const struct suspects_work *w,
                                                   const struct gcd_suspects *none)
{
    for (size_t i = 0; i < none->consumer_count; i++) {
        const struct gcd_suspect_part *part = &none->consumers[i];
        if (part->bytes <= none->heap_bytes / WORTH_PART)
            return NULL;
        if (gcd_origins_get(w->origins, part->type) == GCD_ORIGIN_OWN)
            return part;
    }
    return NULL;
}

static bool is_own(const struct suspects_work *w, uint32_t type)
{
    return type != GCD_TYPE_NONE && gcd_origins_get(w->origins, type) == GCD_ORIGIN_OWN;
}

/* So many objects of one type can have a share in native memory. */
#define FEWEST_OWNERS 10u
/* So many types are named, each with this part of all objects that can. */
#define OWNERS_PART 10u
/* Flag in the runtime's type record. */
#define TYPE_FINALIZABLE 2u

/* Can objects of TYPE own native memory?  Handles of the framework, and what others gave a
 * finalizer. */
static bool can_own_native(const struct gcd_graph *g, const struct gcd_origins *origins,
                           uint32_t type)
{
    const struct gcd_type *t = &gcd_graph_summary(g)->types[type];
    const char *handle = strstr(t->name, ".Safe");
    return (t->flags & TYPE_FINALIZABLE) != 0 &&
           ((handle != NULL && strstr(handle, "Handle") != NULL) ||
            gcd_origins_get(origins, type) != GCD_ORIGIN_FRAMEWORK);
}

size_t gcd_native_owners(const struct gcd_graph *g, const struct gcd_origins *origins,
                         uint32_t ret[GCD_NATIVE_OWNERS])
{
    const struct gcd_summary *s = gcd_graph_summary(g);
    uint64_t all = 0;
    size_t n = 0;
    for (uint32_t i = 0; i < s->type_count; i++) {
        if (!can_own_native(g, origins, i))
            continue;
        all += s->types[i].objects;
        most_types_add(s, i, ret, GCD_NATIVE_OWNERS, &n);
    }
    while (n > 0 && (s->types[ret[n - 1]].objects < FEWEST_OWNERS ||
                     s->types[ret[n - 1]].objects < all / OWNERS_PART))
        n--;
    return n;
}

/* What is outside the heap comes before the heap, if it is more.  Returns whether it is. */
static bool put_native(struct suspect_words *s)
{
    const struct gcd_process_memory *m = &gcd_graph_summary(s->w->g)->memory;
    uint32_t owners[GCD_NATIVE_OWNERS];
    if (!gcd_is_native(m))
        return false;
    suspects_put(s, "Most memory is outside the managed heap: ");
    suspects_put_bytes(s, gcd_native_bytes(m));
    suspects_put(s, " of ");
    suspects_put_bytes(s, m->resident_bytes);
    suspects_put(s, " resident are native or unknown");
    size_t n = gcd_native_owners(s->w->g, s->w->origins, owners);
    for (size_t i = 0; i < n; i++) {
        suspects_put(s, i == 0 ? "; " : i + 1 < n ? ", " : " and ");
        suspects_put_typed(s, gcd_graph_summary(s->w->g)->types[owners[i]].objects, owners[i]);
    }
    suspects_put(s, n > 0 ? " with a finalizer can own some of it. " : ". ");
    return true;
}

/* With so large a part missing, what is missing could be a suspect itself. */
#define MISSING_PART 10u

static uint64_t lost_objects(const struct gcd_summary *s)
{
    for (size_t i = 0; i < s->verdict.reason_count; i++)
        if (s->verdict.reasons[i].code == GCD_REASON_OBJECTS_LOST)
            return s->verdict.reasons[i].amount;
    return 0;
}

/* Is so much missing that "nothing looks like a leak" would be a guess?  Says so. */
static bool put_no_statement(struct suspect_words *s, const struct gcd_suspects *none)
{
    const struct gcd_summary *f = gcd_graph_summary(s->w->g);
    uint64_t lost = lost_objects(f), unreached = none->heap_bytes > none->alive_bytes
                                                     ? none->heap_bytes - none->alive_bytes
                                                     : 0;
    if (!none->lacks_references || none->heap_bytes == 0)
        return false;
    if (unreached >= none->heap_bytes / MISSING_PART) {
        suspects_put(s, "No statement is possible: of ");
        suspects_put_share(s, (double)unreached / (double)none->heap_bytes);
        suspects_put(s, " (");
        suspects_put_bytes(s, unreached);
        suspects_put(s, ") what holds it is missing, because the dump is incomplete.");
        return true;
    }
    if (lost <= f->objects / MISSING_PART)
        return false;
    suspects_put(s, "No statement is possible: ");
    suspects_put_count(s, lost, "object", "objects");
    suspects_put(s, lost == 1 ? " is lost; " : " are lost; ");
    suspects_put_number(s, f->objects);
    suspects_put(s, " have arrived.");
    return true;
}

static void put_healthy(struct suspect_words *s, const struct gcd_suspects *none,
                        const struct gcd_suspects *largest)
{
    const char *within = put_native(s) ? " in the heap" : "";
    if (put_no_statement(s, none))
        return;
    const struct gcd_suspect *x = largest != NULL ? gcd_suspects_get(largest, 0) : NULL;
    const struct gcd_suspect_part *own = own_consumer(s->w, none);
    if (x != NULL && own != NULL &&
        (is_own(s->w, x->owner) || is_own(s->w, x->type) || is_own(s->w, x->element.type) ||
         (x->bytes > own->bytes && suspects_in_own_static(s->w, x))))
        own = NULL;
    suspects_put(s, "%s%s looks like a leak%s.",
                 none->unnamed.most ? "No single object or type" : "Nothing",
                 none->lacks_references ? " in what has arrived" : within,
                 none->notes > 0 ? "; what is large by design is noted below" : "");
    if (none->unnamed.most)
        suspects_put(s, " " GCD_SUSPECTS_BY_NAMES " cannot be told: %s.", none->unnamed.text);
    if (own == NULL && x == NULL)
        return;
    suspects_put(s, " Largest: ");
    if (own != NULL && suspects_put_made(s, own->objects, own->type)) {
        suspects_put(s, ", ");
        suspects_put_bytes(s, own->bytes);
        suspects_put(s, ".");
        return;
    }
    if (own != NULL)
        suspects_put_type(s, own->type);
    else
        suspects_put_name(s, x->place);
    suspects_put(s, " ");
    suspects_put_bytes(s, own != NULL ? own->bytes : x->bytes);
    suspects_put(s, " (");
    if (own != NULL)
        suspects_put_count(s, own->objects, "object", "objects");
    else
        suspects_put(s, "%s", x->what);
    suspects_put(s, ").");
}

/* "1 suspect: PriceTicker.Tick, 11.8 MiB, 39.3 % of the heap", "3 large holders, first …": of the
 * rows that are SIZE_ONLY or not. */
static void put_rows(struct suspect_words *s, const struct gcd_suspects *all, bool size_only)
{
    const struct gcd_suspect *first = NULL;
    size_t n = 0;
    for (size_t i = gcd_suspects_count(all); i-- > 0;)
        if (gcd_suspects_get(all, i)->size_only == size_only)
            first = gcd_suspects_get(all, i), n++;
    if (first == NULL)
        return;
    suspects_put_count(s, n, size_only ? "large holder" : "suspect",
                       size_only ? "large holders" : "suspects");
    suspects_put(s, n > 1 ? ", first " : ": ");
    suspects_put_name(s, first->place);
    if (first->bytes > 0) {
        suspects_put(s, ", ");
        suspects_put_bytes(s, first->bytes);
    }
    if (first->share > 0) {
        suspects_put(s, ", ");
        suspects_put_share(s, first->share);
    }
}

static void put_found(struct suspect_words *s, const struct gcd_suspects *all)
{
    size_t n = gcd_suspects_count(all), large = 0, unlimited = 0;
    for (size_t i = 0; i < n; i++) {
        large += gcd_suspects_get(all, i)->size_only;
        unlimited += gcd_suspects_get(all, i)->unlimited;
    }
    (void)put_native(s);
    put_rows(s, all, false);
    suspects_put(s, large > 0 && large < n ? "; " : "");
    put_rows(s, all, true);
    suspects_put(s, ".");
    if (large == n && unlimited > 0)
        suspects_put(s, " One dump shows size, not growth.");
    else if (large == n)
        suspects_put(s, " Nothing else speaks against %s: one dump shows size, not growth.",
                     n > 1 ? "them" : "it");
}

void gcd_suspects_headline(const struct gcd_graph *g, const struct gcd_names *names,
                           const struct gcd_origins *origins, const struct gcd_suspects *all,
                           const struct gcd_suspects *largest, char ret[GCD_HEADLINE_BYTES])
{
    const struct gcd_suspects_options o = { .names = names };
    const struct suspects_work w = { .g = g, .o = &o, .origins = origins };
    struct suspect_words words = { .w = &w };
    if (gcd_suspects_count(all) > 0)
        put_found(&words, all);
    else
        put_healthy(&words, all, largest);
    memcpy(ret, words.text, words.n + 1);
}
