/*
 * Assemblies loaded many times, in separate load contexts or from memory, and those that are
 * generated at run time.  The list of modules shows them, also if no object is left; the objects of
 * all copies' types count together.  Also many collectible contexts, whatever is loaded in them.
 */
#include "analyze/suspects/suspects_words.h"

#include <string.h>

#include <gcdumpc/retained.h>
#include <gcdumpc/unstable/loads.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"

#define MOST_ASSEMBLIES  8u
#define MODULE_DYNAMIC   4u /* flag of the module event */
#define LOADER_ALLOCATOR "System.Reflection.LoaderAllocator"
#define ASSEMBLY         "System.Reflection.RuntimeAssembly"

struct assembly {
    uint32_t module, copies;
    uint64_t objects, bytes;
    uint32_t node; /* one of the objects, in a collectible context if possible */
    bool in_context, replaces;
};

struct assemblies {
    struct suspects_work *w;
    const struct gcd_summary *summary;
    uint32_t *order;               /* modules by label */
    uint32_t *of_module, *of_type; /* index in items, or GCD_CLASS_NONE */
    struct assembly items[MOST_ASSEMBLIES];
    uint32_t count;
    uint64_t allocators; /* objects: one for each collectible context */
    uint32_t allocator;  /* one of them, or the Assembly object of such a context */
    bool has_assembly;
};

static int compare(const void *ctx, uint32_t a, uint32_t b)
{
    const struct gcd_module *m = ctx;
    return strcmp(gcd_module_label(&m[a]), gcd_module_label(&m[b]));
}

/* Modules with the same label are neighbours in ORDER. */
static void find_copies(struct assemblies *a)
{
    const struct gcd_module *m = a->summary->modules;
    size_t n = a->summary->module_count;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && compare(m, a->order[i], a->order[end]) == 0; end++)
            ;
        if (gcd_module_label(&m[a->order[i]])[0] == '\0')
            continue;
        if (end - i > a->w->s->checks[GCD_SUSPECT_ASSEMBLIES].objects)
            a->w->s->checks[GCD_SUSPECT_ASSEMBLIES].objects = end - i;
        bool generated = (m[a->order[i]].flags & MODULE_DYNAMIC) != 0;
        if (end - i < (generated ? FINDING_GENERATED : FINDING_LOADS) ||
            a->count == MOST_ASSEMBLIES)
            continue;
        a->items[a->count] = (struct assembly){ .module = a->order[i],
                                                .copies = (uint32_t)(end - i),
                                                .node = GCD_NODE_NONE };
        for (size_t k = i; k < end; k++)
            a->of_module[a->order[k]] = a->count;
        a->count++;
    }
}

static bool is_allocator(const struct assemblies *a, uint32_t node)
{
    return strcmp(a->summary->types[suspects_type_of(a->w, node)].name, LOADER_ALLOCATOR) == 0;
}

/* Is NODE the Assembly object of an assembly in a collectible context? */
static bool is_assembly(const struct assemblies *a, uint32_t node)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(a->w->g, node, &n);
    return strcmp(a->summary->types[suspects_type_of(a->w, node)].name, ASSEMBLY) == 0 && n > 0 &&
           is_allocator(a, edges[0]);
}

/* The first reference of an object of a collectible context is to its LoaderAllocator. */
static void add_object(struct assemblies *a, struct assembly *it, uint32_t node)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(a->w->g, node, &n);
    bool in_context = n > 0 && is_allocator(a, edges[0]);
    if (it->objects++ == 0 || (in_context && !it->in_context))
        it->node = node;
    it->in_context = it->in_context || in_context;
}

/* Counts the objects of the copies, and finds one collectible context. */
static gcd_status look_at_objects(struct assemblies *a, struct gcd_error *err)
{
    const struct suspects_work *w = a->w;
    uint64_t bytes[MOST_ASSEMBLIES] = { 0 };
    for (uint32_t i = 0; i < w->types; i++) {
        uint32_t module = a->summary->types[i].module_number;
        a->of_type[i] = module < a->summary->module_count ? a->of_module[module] : GCD_CLASS_NONE;
    }
    const struct gcd_type_classes classes = { a->of_type, a->count };
    if (a->count > 0)
        GCD_TRY(gcd_retained_by_class(w->g, w->d, &classes, w->alloc, bytes, err));
    for (uint32_t i = 0; i < a->count; i++)
        a->items[i].bytes = bytes[i];
    for (uint32_t node = 0; node < w->nodes; node++) {
        uint32_t type = suspects_type_of(w, node), class = a->of_type[type];
        if (node % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
        if (suspects_parent(w, node) == GCD_NODE_NONE)
            continue;
        if (class != GCD_CLASS_NONE)
            add_object(a, &a->items[class], node);
        if (is_allocator(a, node) && a->allocators++ == 0 && !a->has_assembly)
            a->allocator = node;
        if (!a->has_assembly && is_assembly(a, node)) {
            a->has_assembly = true;
            a->allocator = node;
        }
    }
    return GCD_OK;
}

/* Replaces the suspects that are types of the assembly. */
static void replace(struct assemblies *a, uint32_t number)
{
    struct gcd_suspects *s = a->w->s;
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->items[i].pub.kind == GCD_SUSPECT_TYPE && a->of_type[s->items[i].pub.type] == number)
            a->items[number].replaces = true;
        else
            s->items[n++] = s->items[i];
    s->count = n;
}

static gcd_status own_nodes(struct assemblies *a, uint32_t number, struct gcd_error *err)
{
    struct suspects_work *w = a->w;
    for (uint32_t node = 0; node < w->nodes; node++)
        if (a->of_type[suspects_type_of(w, node)] == number &&
            suspects_parent(w, node) != GCD_NODE_NONE)
            GCD_TRY(suspects_own(w, node, err));
    return GCD_OK;
}

static gcd_status add(struct assemblies *a, uint32_t number, struct gcd_error *err)
{
    struct suspects_work *w = a->w;
    struct assembly *it = &a->items[number];
    const struct gcd_module *m = &a->summary->modules[it->module];
    bool large = it->bytes >= w->s->threshold;
    struct suspect *x;
    bool collectible = a->allocators >= it->copies / 2;
    uint32_t node =
        a->allocators > 0 && (it->node == GCD_NODE_NONE || (collectible && !it->in_context))
            ? a->allocator
            : it->node;
    if (!large && w->o->only_large)
        return GCD_OK;
    if (large)
        replace(a, number);
    uint32_t type = node != GCD_NODE_NONE ? suspects_type_of(w, node) : GCD_TYPE_NONE;
    GCD_TRY(suspects_add(w, GCD_SUSPECT_ASSEMBLIES, node, type, &x, err));
    x->pub.overlaps = !it->replaces;
    x->pub.objects = it->objects;
    x->pub.bytes = x->pub.retained_bytes = it->bytes;
    x->module = m;
    x->copies = it->copies;
    x->collectible = collectible;
    return it->replaces ? own_nodes(a, number, err) : GCD_OK;
}

static uint64_t allocators_in(const struct gcd_summary *s)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->type_count; i++)
        if (strcmp(s->types[i].name, LOADER_ALLOCATOR) == 0)
            n += s->types[i].objects;
    return n;
}

/* Contexts other than those of copies of one assembly: compiled scripts, assemblies of generated
 * code. */
static gcd_status add_contexts(struct assemblies *a, struct gcd_error *err)
{
    struct suspects_work *w = a->w;
    uint64_t others = a->allocators;
    struct suspect *x;
    for (uint32_t i = 0; i < a->count; i++)
        others -= a->items[i].copies < others ? a->items[i].copies : others;
    if (others < FINDING_CONTEXTS || w->o->only_large)
        return GCD_OK;
    GCD_TRY(suspects_add(w, GCD_SUSPECT_ASSEMBLIES, a->allocator, suspects_type_of(w, a->allocator),
                         &x, err));
    x->pub.overlaps = true;
    x->pub.objects = others;
    x->collectible = true;
    return GCD_OK;
}

static gcd_status run(struct assemblies *a, struct gcd_error *err)
{
    for (size_t i = 0; i < a->summary->module_count; i++) {
        a->order[i] = (uint32_t)i;
        a->of_module[i] = GCD_CLASS_NONE;
    }
    if (!gcd_sort_numbers(a->w->alloc, a->order, a->summary->module_count, compare,
                          a->summary->modules))
        return gcd_fail_nomem(err, "looking at assemblies");
    find_copies(a);
    if (a->count == 0 && allocators_in(a->summary) < FINDING_CONTEXTS)
        return GCD_OK;
    GCD_TRY(look_at_objects(a, err));
    for (uint32_t i = 0; i < a->count; i++)
        GCD_TRY(add(a, i, err));
    return add_contexts(a, err);
}

gcd_status suspects_assemblies(struct suspects_work *w, struct gcd_error *err)
{
    struct assemblies a = { .w = w, .summary = gcd_graph_summary(w->g) };
    size_t n = a.summary->module_count;
    w->s->checks[GCD_SUSPECT_ASSEMBLIES].unknown = n == 0;
    if (n == 0)
        return GCD_OK;
    a.order = gcd_mem_new_array(w->alloc, n, sizeof *a.order);
    a.of_module = gcd_mem_new_array(w->alloc, n, sizeof *a.of_module);
    a.of_type = gcd_mem_new_array(w->alloc, w->types, sizeof *a.of_type);
    bool ok = a.order != NULL && a.of_module != NULL && a.of_type != NULL;
    gcd_status st = ok ? run(&a, err) : gcd_fail_nomem(err, "looking at assemblies");
    gcd_mem_free(w->alloc, a.order, n * sizeof *a.order);
    gcd_mem_free(w->alloc, a.of_module, n * sizeof *a.of_module);
    gcd_mem_free(w->alloc, a.of_type, w->types * sizeof *a.of_type);
    return st;
}

void suspects_put_assembly(struct suspect_words *s, const struct gcd_module *m)
{
    const char *label = gcd_module_label(m);
    size_t n;
    const char *name =
        strpbrk(label, "/\\") != NULL ? gcd_module_name(label, &n) : (n = strlen(label), label);
    suspects_put(s, "%.*s", (int)(n < SUSPECT_WORDS_BYTES / 16 ? n : SUSPECT_WORDS_BYTES / 16),
                 name);
}

void suspects_say_assemblies(struct suspect_words *s, const struct suspect *x)
{
    if (x->module == NULL) {
        suspects_put_number(s, x->pub.objects);
        suspects_put(s, " collectible contexts are alive, each with assemblies of its own that "
                        "cannot be unloaded. One ");
        suspects_put_type(s, x->pub.type);
        suspects_put_held_by(s, x, "is");
        return;
    }
    bool generated = (x->module->flags & MODULE_DYNAMIC) != 0;
    if (generated) {
        suspects_put_number(s, x->copies);
        suspects_put(s, " assemblies ");
    } else {
        suspects_put(s, "The assembly ");
    }
    suspects_put_assembly(s, x->module);
    if (generated) {
        suspects_put(s, ", generated at run time, are loaded");
    } else {
        suspects_put(s, " is loaded ");
        suspects_put_count(s, x->copies, "time", "times");
    }
    suspects_put(s, x->collectible ? ", in collectible contexts that something still uses."
                    : generated    ? ", which are never unloaded."
                                   : ".");
    if (x->pub.objects == 0) {
        suspects_put(s, " The code and metadata of each are outside of the heap.");
        return;
    }
    suspects_put(s, " The ");
    suspects_put_count(s, x->pub.objects, "object", "objects");
    suspects_put(s, " of its types");
    suspects_put_kept(s, &x->pub, x->pub.objects != 1);
    suspects_put(s, ". One ");
    suspects_put_type(s, x->pub.type);
    suspects_put_held_by(s, x, "is");
}

void suspects_advise_assemblies(struct suspect_words *s, const struct suspect *x)
{
    if (x->collectible)
        suspects_put(s, "A context is unloaded when nothing refers to its objects, types and "
                        "delegates any more: look at the path.");
    else if ((x->module->flags & MODULE_DYNAMIC) != 0)
        suspects_put(s, "Keep what generates them: XmlSerializer makes one for each new "
                        "XmlSerializer with a root, overrides or extra types.");
    else
        suspects_put(s, "Load it once and keep the Assembly, or load it in a collectible "
                        "AssemblyLoadContext and unload that.");
}
