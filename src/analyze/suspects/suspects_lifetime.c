/* How long a suspect lives, judging by the types on the path to its owner, and by the root. */
#include "analyze/suspects/suspects_words.h"

#include <gcdumpc/unstable/static_names.h>

#define INJECTION "Microsoft.Extensions.DependencyInjection."
#define SCOPE     INJECTION "ServiceLookup.ServiceProviderEngineScope"
/* Classes of services have fewer fields. */
#define FIELDS_MAX 64u
#define IN_MEMORY  "Microsoft.EntityFrameworkCore.InMemory."

/* Types that tell more about a lifetime than the root of the path.  TEXT describes what they hold,
 * and follows "It" or "One of them". */
static const struct marker {
    const char *type; /* prefix of the name */
    const char *text;
    /* counts only if just collections and delegates are between it and the owner */
    bool near;
} markers[] = {
    { SCOPE, " belongs to a scope of the service provider that nobody has disposed", true },
    { INJECTION "ServiceProvider",
      " is registered in the service provider and lives as long as the program", true },
    { INJECTION "ServiceLookup.CallSite",
      " is registered in the service provider and lives as long as the program", true },
    { IN_MEMORY,
      " is a table of an in-memory database of Entity Framework, which lives as long as "
      "the program",
      true },
    { "Microsoft.Extensions.Hosting.IHostedService",
      " is a hosted service and lives as long as the program", true },
    { "Microsoft.Extensions.Hosting.BackgroundService",
      " is a hosted service and lives as long as the program", true },
    { "Microsoft.AspNetCore.Http.RequestDelegate",
      " is part of the request pipeline and lives as long as the program", true },
    { "System.Threading.TimerQueueTimer", " is held by a timer that is running", false },
    { "System.Threading.CancellationTokenSource+CallbackNode",
      " is registered with a CancellationToken", false },
    { "System.Threading.AsyncLocalValueMap", " is the value of an AsyncLocal", false },
    { "System.Threading.ThreadLocal`1", " is the value of a ThreadLocal", false },
    { "System.Runtime.CompilerServices.ConditionalWeakTable`2",
      " is attached to another object by a ConditionalWeakTable", false },
};
#define MARKERS (sizeof markers / sizeof *markers)

/*
 * The root scope and what made it, the ServiceProvider (before .NET 6: its engine), refer to each
 * other.  Other scopes refer to it only: who has a scope in a field has all that it is to dispose
 * of.
 */
static bool is_root_scope(const struct suspects_work *w, uint32_t scope)
{
    size_t n, back;
    const uint32_t *edges = gcd_graph_node_edges(w->g, scope, &n);
    for (size_t i = 0; i < n && i < FIELDS_MAX; i++) {
        uint32_t type = gcd_graph_node_type(w->g, edges[i]);
        const uint32_t *its = gcd_graph_node_edges(w->g, edges[i], &back);
        if (!gcd_text_begins(gcd_graph_summary(w->g)->types[type].name, INJECTION))
            continue;
        for (size_t k = 0; k < back && k < FIELDS_MAX; k++)
            if (its[k] == scope && edges[i] != scope)
                return true;
    }
    return false;
}

bool suspects_is_passage(const struct suspects_work *w, uint32_t node)
{
    const char *name = gcd_graph_summary(w->g)->types[gcd_graph_node_type(w->g, node)].name;
    return strcmp(name, SCOPE) == 0
               ? is_root_scope(w, node)
               : suspects_is_container(name) || gcd_text_begins(name, IN_MEMORY);
}

bool suspects_is_container(const char *name)
{
    return strcmp(name, INJECTION "ServiceProvider") == 0 ||
           strstr(name, INJECTION "ServiceLookup.") != NULL ||
           gcd_text_begins(name, "Microsoft.Extensions.Hosting.Internal.") ||
           strcmp(name, "Microsoft.AspNetCore.Builder.WebApplication") == 0;
}

static const char *name_at(const struct suspect_words *s, const struct gcd_suspect *p, size_t i)
{
    return gcd_graph_summary(s->w->g)->types[p->path[i].type].name;
}

static const struct marker *marker_of(const char *name)
{
    for (size_t i = 0; i < MARKERS; i++)
        if (gcd_text_begins(name, markers[i].type))
            return &markers[i];
    return NULL;
}

bool suspects_is_plumbing(const char *name)
{
    static const char *const begins[] = { "System.Object[]", "System.Collections.",
                                          "System.Func`",    "System.Lazy`",
                                          INJECTION,         "System.Action" };
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (gcd_text_begins(name, begins[i]))
            return true;
    return false;
}

/* The step of the owner, else of the object. */
static size_t owner_step(const struct gcd_suspect *p)
{
    for (size_t i = p->path_count; i-- > 0;)
        if (p->path[i].node == p->owner_node)
            return i;
    return p->path_count - 1;
}

/* The last marker before step END; NULL = none. */
static const struct marker *find_marker(const struct suspect_words *s, const struct gcd_suspect *p,
                                        size_t end, size_t *ret_step)
{
    bool plumbing = true;
    for (size_t i = end; i-- > 0;) {
        const char *name = name_at(s, p, i);
        const struct marker *m = marker_of(name);
        if (m != NULL && (plumbing || !m->near)) {
            *ret_step = i;
            return m;
        }
        if (gcd_origins_get(s->w->origins, p->path[i].type) == GCD_ORIGIN_OWN)
            return NULL;
        plumbing = plumbing && suspects_is_plumbing(name);
    }
    return NULL;
}

/* The root scope belongs to the provider itself, however the path comes to it. */
static const char *text_of(const struct suspect_words *s, const struct gcd_suspect *p,
                           const struct marker *m, size_t step)
{
    if (m == &markers[0] && ((step > 0 && marker_of(name_at(s, p, step - 1)) == &markers[1]) ||
                             (!p->path[step].skipped && is_root_scope(s->w, p->path[step].node))))
        return " is kept by the root scope of the service provider, which lives as long as the "
               "program";
    return m->text;
}

bool suspects_is_own_static(const struct suspects_work *work, size_t root)
{
    return root != SIZE_MAX &&
           gcd_static_is_own(work->g, work->origins, &gcd_graph_summary(work->g)->roots[root]);
}

bool suspects_in_own_static(const struct suspects_work *w, const struct gcd_suspect *x)
{
    return !((const struct suspect *)x)->contained && suspects_is_own_static(w, x->root);
}

bool suspects_is_in_root_scope(const struct suspect_words *s, const struct suspect *x)
{
    size_t step = 0;
    const struct marker *m = find_marker(s, &x->pub, owner_step(&x->pub), &step);
    /* it is the list of disposable services, not something in it */
    bool itself = x->pub.path_count <= step + 2;
    return m != NULL && itself && text_of(s, &x->pub, m, step) != m->text;
}

bool suspects_has_marker(const struct suspect_words *s, const struct suspect *x)
{
    size_t step;
    return find_marker(s, &x->pub, owner_step(&x->pub), &step) != NULL;
}

bool suspects_is_in_memory_database(const struct suspect_words *s, const struct suspect *x)
{
    size_t step;
    const struct marker *m = find_marker(s, &x->pub, owner_step(&x->pub), &step);
    return m != NULL && gcd_text_begins(m->type, IN_MEMORY);
}

void suspects_put_lifetime(struct suspect_words *s, const struct suspect *x, const char *subject)
{
    const struct gcd_suspect *p = &x->pub;
    size_t step = 0;
    const struct marker *m = find_marker(s, p, owner_step(p), &step);
    if (m != NULL)
        suspects_put(s, " %s%s", subject, text_of(s, p, m, step));
    if (m == NULL || suspects_in_own_static(s->w, p)) {
        suspects_put(s, m == NULL ? " %s is held by " : ", below ", subject);
        suspects_put_root(s, p->root);
    }
    suspects_put(s, ".");
}
