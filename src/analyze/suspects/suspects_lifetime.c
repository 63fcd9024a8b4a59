/* How long a suspect lives, judging by the types on the path to its owner, and by the root. */
#include "analyze/suspects/suspects_words.h"

#include <gcdumpc/unstable/static_names.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"

#define INJECTION "Microsoft.Extensions.DependencyInjection."
#define SCOPE     INJECTION "ServiceLookup.ServiceProviderEngineScope"
#define IN_MEMORY "Microsoft.EntityFrameworkCore.InMemory."

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
    const uint32_t *edges = gcd_graph_few_edges(w->g, scope, &n);
    for (size_t i = 0; i < n; i++) {
        uint32_t type = suspects_type_of(w, edges[i]);
        const uint32_t *its = gcd_graph_few_edges(w->g, edges[i], &back);
        if (!gcd_text_begins(gcd_graph_summary(w->g)->types[type].name, INJECTION))
            continue;
        for (size_t k = 0; k < back; k++)
            if (its[k] == scope && edges[i] != scope)
                return true;
    }
    return false;
}

bool suspects_is_passage(const struct suspects_work *w, uint32_t node)
{
    const char *name = gcd_graph_summary(w->g)->types[suspects_type_of(w, node)].name;
    return strcmp(name, SCOPE) == 0
               ? is_root_scope(w, node)
               : suspects_is_container(name) || gcd_text_begins(name, IN_MEMORY);
}

bool suspects_is_container(const char *name)
{
    return strcmp(name, INJECTION "ServiceProvider") == 0 ||
           strstr(name, INJECTION "ServiceLookup.") != NULL ||
           gcd_text_begins(name, "Microsoft.Extensions.Hosting.Internal.") ||
           strcmp(name, "Microsoft.AspNetCore.Builder.WebApplication") == 0 ||
           /* each socket that waits, and with it all that is to go on: .NET 10 has an array of
            * contexts, 8 and 9 have a dictionary of SocketAsyncEngine+SocketAsyncContextWrapper */
           strstr(name, "System.Net.Sockets.SocketAsyncContext") != NULL ||
           strstr(name, "System.Net.Sockets.SocketAsyncEngine") != NULL;
}

static const char *name_at(const struct suspects_work *w, const struct gcd_suspect *p, size_t i)
{
    return gcd_graph_summary(w->g)->types[p->path[i].type].name;
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

static bool is_call_site(const char *name)
{
    return gcd_text_begins(name, INJECTION "ServiceLookup.") && gcd_text_ends(name, "CallSite");
}

/* A call site keeps the only object of its service, once that is made.  A shortest path often goes
 * through a timer or a socket instead, which says nothing.  One of the sites that hold an object is
 * enough. */
gcd_status suspects_find_registered(struct suspects_work *w, struct gcd_error *err)
{
    const struct gcd_type *types = gcd_graph_summary(w->g)->types;
    bool any = false;
    uint8_t *is_site = gcd_mem_new_array(w->alloc, w->types, sizeof *is_site);
    if (is_site == NULL)
        return gcd_fail_nomem(err, "looking for services");
    for (uint32_t i = 0; i < w->types; i++) {
        is_site[i] = is_call_site(types[i].name);
        any |= is_site[i] && types[i].objects > 0;
    }
    gcd_status st = GCD_OK;
    for (uint32_t node = 0; node < w->nodes && any && st == GCD_OK; node++) {
        size_t n;
        const uint32_t *edges = gcd_graph_node_edges(w->g, node, &n);
        if (node % SUSPECTS_CHECK_EVERY == 0)
            st = suspects_check(w, err);
        for (size_t i = 0; i < n && is_site[suspects_type_of(w, node)] && st == GCD_OK; i++)
            if (w->is_own[suspects_type_of(w, edges[i])] &&
                gcd_paths_parent(w->paths, node) != GCD_NODE_NONE &&
                gcd_idmap_get(&w->sites, edges[i]) == GCD_IDMAP_NONE &&
                !gcd_idmap_put(&w->sites, edges[i], node))
                st = gcd_fail_nomem(err, "looking for services");
    }
    gcd_mem_free(w->alloc, is_site, w->types);
    return st;
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
static const struct marker *find_marker(const struct suspects_work *w, const struct gcd_suspect *p,
                                        size_t end, size_t *ret_step)
{
    bool plumbing = true;
    for (size_t i = end; i-- > 0;) {
        const char *name = name_at(w, p, i);
        const struct marker *m = marker_of(name);
        if (m != NULL && (plumbing || !m->near)) {
            *ret_step = i;
            return m;
        }
        if (gcd_origins_get(w->origins, p->path[i].type) == GCD_ORIGIN_OWN)
            return NULL;
        plumbing = plumbing && suspects_is_plumbing(name);
    }
    return NULL;
}

/* The root scope belongs to the provider itself, however the path comes to it. */
static const char *text_of(const struct suspect_words *s, const struct gcd_suspect *p,
                           const struct marker *m, size_t step)
{
    if (m == &markers[0] && ((step > 0 && marker_of(name_at(s->w, p, step - 1)) == &markers[1]) ||
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
    const struct marker *m = find_marker(s->w, &x->pub, owner_step(&x->pub), &step);
    /* it is the list of disposable services, not something in it */
    bool itself = x->pub.path_count <= step + 2;
    return m != NULL && itself && text_of(s, &x->pub, m, step) != m->text;
}

bool suspects_has_marker(const struct suspect_words *s, const struct suspect *x)
{
    size_t step;
    return find_marker(s->w, &x->pub, owner_step(&x->pub), &step) != NULL;
}

bool suspects_is_in_memory_database(const struct suspect_words *s, const struct suspect *x)
{
    size_t step;
    const struct marker *m = find_marker(s->w, &x->pub, owner_step(&x->pub), &step);
    return m != NULL && gcd_text_begins(m->type, IN_MEMORY);
}

/* The step of the nearest on the path to the owner, itself included, that is registered in a
 * service provider; SIZE_MAX = nothing is, or a marker or an own static variable tells more. */
static size_t registered_step(const struct suspects_work *w, const struct gcd_suspect *p)
{
    size_t step = 0, i = owner_step(p) + 1;
    if (w->sites.used == 0 || p->owner_node == GCD_NODE_NONE || suspects_in_own_static(w, p) ||
        find_marker(w, p, owner_step(p), &step) != NULL)
        return SIZE_MAX;
    while (i > 0 && (p->path[i - 1].skipped || p->path[i - 1].repeats > 1 ||
                     gcd_idmap_get(&w->sites, p->path[i - 1].node) == GCD_IDMAP_NONE))
        i--;
    return i > 0 ? i - 1 : SIZE_MAX;
}

gcd_status suspects_lead_through_site(const struct suspects_work *w, struct suspect *x,
                                      struct gcd_error *err)
{
    size_t step = registered_step(w, &x->pub);
    uint32_t node, steps = 0;
    if (step == SIZE_MAX)
        return GCD_OK;
    node = x->pub.path[step].node;
    x->service = node;
    for (uint32_t up = gcd_idmap_get(&w->sites, node); up < GCD_NODE_ROOT;
         up = gcd_paths_parent(w->paths, up)) {
        if (up == node) /* who leads to the site has the service itself */
            return GCD_OK;
        if (++steps % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
    }
    x->site = gcd_idmap_get(&w->sites, node);
    return suspects_path(w, x, err);
}

bool suspects_names_step(const struct suspects_work *w, const struct suspect *x, size_t i)
{
    const struct gcd_suspect *p = &x->pub;
    size_t end = 0, at = 0;
    if (p->path[i].skipped)
        return false;
    if (x->site == GCD_NODE_NONE)
        return find_marker(w, p, owner_step(p), &at) != NULL && at == i;
    while (end < p->path_count && p->path[end].node != x->service)
        end++;
    at = end;
    while (at > 0 && strcmp(name_at(w, p, at - 1), INJECTION "ServiceProvider") != 0)
        at--;
    return i + 1 == (at > 0 ? at : end);
}

/* " It is held by Shop.Feed, which is registered in the service provider ...".  False: nothing is.
 */
static bool put_registered(struct suspect_words *s, const struct suspect *x, const char *subject)
{
    const struct gcd_suspect *p = &x->pub;
    size_t i = 0;
    if (x->service == GCD_NODE_NONE)
        return false;
    while (i < p->path_count && p->path[i].node != x->service)
        i++;
    suspects_put(s, " %s is ", subject);
    if (i < owner_step(p)) {
        suspects_put(s, "held by ");
        suspects_put_type(s, p->path[i].type);
        suspects_put(s, ", which is ");
    }
    suspects_put(s, "registered in the service provider and lives as long as the program.");
    return true;
}

/* " It is held by a call of Shop.Program.Main, which has not ended": the nearest above step END, if
 * the root is a variable of the framework, which only leads to what waits. */
static bool put_waiting(struct suspect_words *s, const struct gcd_suspect *p, size_t end,
                        const char *subject)
{
    size_t i = end;
    const struct gcd_root *root =
        p->root != SIZE_MAX ? &gcd_graph_summary(s->w->g)->roots[p->root] : NULL;
    /* without its class it may be the program's */
    if (root == NULL || gcd_root_group(root) != GCD_GROUP_STATICS || root->class_name[0] == '\0' ||
        suspects_is_own_static(s->w, p->root))
        return false;
    while (i > 0 && (p->path[i - 1].skipped || !suspects_is_call(s, p->path[i - 1].type)))
        i--;
    if (i == 0)
        return false;
    suspects_put(s, " %s is held by a call of ", subject);
    suspects_put_where(s, p->path[i - 1].type);
    suspects_put(s, ", which has not ended.");
    return true;
}

void suspects_put_lifetime(struct suspect_words *s, const struct suspect *x, const char *subject)
{
    const struct gcd_suspect *p = &x->pub;
    size_t step = 0;
    const struct marker *m = find_marker(s->w, p, owner_step(p), &step);
    if (put_registered(s, x, subject))
        return;
    if (m == NULL && p->owner_node != GCD_NODE_NONE && put_waiting(s, p, owner_step(p), subject))
        return;
    if (m != NULL)
        suspects_put(s, " %s%s", subject, text_of(s, p, m, step));
    if (m == NULL || suspects_in_own_static(s->w, p)) {
        suspects_put(s, m == NULL ? " %s is held by " : ", below ", subject);
        suspects_put_root(s, p->root);
    }
    suspects_put(s, ".");
}
