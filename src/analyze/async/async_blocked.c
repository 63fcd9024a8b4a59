/*
 * The method in which threads block until a task has completed.  A memory image has the words of
 * their stacks, each with the method of its frame, and one of these words is the event that the
 * thread waits for.
 */
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/origins.h>
#include <gcdumpc/unstable/static_names.h>

#include "analyze/async/async_gates.h"
#include "base/text.h"

/* So many methods are told apart, and so many events of threads. */
#define METHODS 8u
#define EVENTS  256u
/* of the threads that block, in the method that is told: the frames of others may be inlined */
#define LEAST_PART 4u

#define POOL_THREAD ".NET TP Worker"

static bool is_event(const char *type)
{
    static const char task[] = "System.Threading.Tasks.Task+SetOn";
    return gcd_text_begins(type, task) && gcd_text_ends(type, "Mres");
}

struct method {
    const char *name;
    uint64_t threads, pool;
};

static bool was_seen(const uint32_t *seen, size_t n, uint32_t node)
{
    for (size_t i = 0; i < n; i++)
        if (seen[i] == node)
            return true;
    return false;
}

void async_find_blocked(const struct gcd_async_jam_of *of, struct gcd_async_jam *jam, char *ret,
                        size_t cap)
{
    const struct gcd_summary *s = gcd_graph_summary(of->graph);
    struct method all[METHODS], *most = all;
    uint32_t seen[EVENTS];
    size_t n = 0, count = 0;
    for (size_t i = 0; i < s->root_count && count < EVENTS; i++) {
        const struct gcd_root *r = &s->roots[i];
        const char *method = gcd_root_method(r);
        size_t k = 0;
        if (method == NULL || !is_event(s->types[gcd_graph_node_type(of->graph, r->node)].name) ||
            was_seen(seen, count, r->node) ||
            gcd_origins_of_name(of->origins, method) != GCD_ORIGIN_OWN)
            continue;
        seen[count++] = r->node;
        while (k < n && strcmp(all[k].name, method) != 0)
            k++;
        if (k == METHODS)
            continue;
        if (k == n)
            all[n++] = (struct method){ method, 0, 0 };
        all[k].threads++;
        all[k].pool += strcmp(r->name, POOL_THREAD) == 0;
    }
    for (size_t i = 1; i < n; i++)
        most = all[i].threads > most->threads ? &all[i] : most;
    /* not a few others, such as Main, which waits for the end */
    if (n == 0 || most->threads < jam->threads / LEAST_PART)
        return;
    jam->blocked = most->threads;
    jam->pool = most->pool == most->threads;
    (void)snprintf(ret, cap, "%s", most->name);
}
