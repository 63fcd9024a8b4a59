/*
 * Arrays of the runtime that look like the program's: Object[] that a handle or a thread holds.
 *
 * An array in a handle that refers only to strings is part of the table of interned strings and
 * literals.  An array in a thread's roots that holds such arrays is where .NET 9 and later keep the
 * thread-static variables of a thread.  Older versions keep them in arrays in handles, which look
 * like any other.
 */
#include "analyze/findings/findings.h"
#include "analyze/suspects/suspects_words.h"

#include <string.h>

static bool is_type(const struct gcd_type *t)
{
    return strcmp(t->name, "System.Object[]") == 0;
}

static bool holds_only_strings(const struct findings *f, uint32_t node)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(f->w->g, node, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(f->types[suspects_type_of(f->w, edges[i])].name, "System.String") != 0)
            return false;
    return n > 0;
}

static bool holds_arrays(const struct findings *f, uint32_t node)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(f->w->g, node, &n);
    for (size_t i = 0; i < n; i++)
        if (edges[i] != node && suspects_type_of(f->w, edges[i]) == suspects_type_of(f->w, node))
            return true;
    return false;
}

static bool look(const struct findings *f, uint32_t node, struct finding_member *ret)
{
    uint32_t roots = gcd_idmap_get(&f->roots, node);
    size_t n;
    if (roots == GCD_IDMAP_NONE)
        return false;
    /* without some of its references, any array may hold only strings */
    if ((roots & FINDING_IN_HANDLE) != 0 && !f->w->lacks_references &&
        holds_only_strings(f, node)) {
        (void)gcd_graph_node_edges(f->w->g, node, &n);
        ret->objects = n;
        return true;
    }
    ret->rule = &finding_thread_statics;
    return (roots & FINDING_IN_THREAD) != 0 && holds_arrays(f, node);
}

static uint32_t heaviest(const struct findings *f, uint32_t node)
{
    uint64_t bytes;
    return findings_heaviest(f, node, &bytes);
}

const struct finding_rule finding_interned = {
    .kind = GCD_SUSPECT_INTERNED,
    .least = FINDING_INTERNED,
    .replaces = true,
    .is_type = is_type,
    .look = look,
    .who = findings_nobody,
};

/* Only large arrays are a finding. */
const struct finding_rule finding_thread_statics = {
    .kind = GCD_SUSPECT_THREAD_STATICS,
    .least = UINT32_MAX,
    .few = 1,
    .replaces = true,
    .is_type = findings_no_type,
    .look = look,
    .who = heaviest,
};

void suspects_tell_interned(struct suspect_words *s, const struct suspect *x)
{
    suspects_put(s, "The runtime's table of interned strings and literals has ");
    suspects_put_count(s, x->pub.objects, "string", "strings");
}

void suspects_say_interned(struct suspect_words *s, const struct suspect *x)
{
    suspects_tell_interned(s, x);
    suspects_put(s, ", which");
    suspects_put_kept(s, &x->pub, x->pub.objects != 1);
    suspects_put(s, " as long as the program runs.");
}

void suspects_say_thread_statics(struct suspect_words *s, const struct suspect *x)
{
    suspects_put(s, "The thread-static variables of ");
    suspects_put_count(s, x->pub.objects, "thread", "threads");
    suspects_put_kept(s, &x->pub, true);
    suspects_put_behind(s, x, " by way of ");
    suspects_put(s, ".");
}
