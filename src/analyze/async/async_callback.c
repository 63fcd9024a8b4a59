/*
 * What a ContinueWith calls.  Its delegate refers to the variables of a lambda; in F#, async { }
 * begins with a ContinueWith of the core library, and closures of this library lead to that of the
 * user's function:
 *
 *     ContinuationTaskFromResultTask -> Action<Task<int>> -> clo@193 -> AsyncActivation<int>
 *         -> AsyncActivationContents<int> -> AsyncPrimitives.Bind@588 -> Shop.Main.work@8-1
 */
#include "analyze/async/async.h"

/* How many objects to look at, and how many references of each. */
#define STEPS 32u
#define REFS  8u

/* The nearest callback, breadth first.  What is behind other tasks is theirs. */
uint32_t async_callback(const struct async *a, uint32_t node)
{
    uint32_t seen[STEPS] = { node };
    size_t count = 1;
    for (size_t at = 0; at < count; at++) {
        size_t n;
        const uint32_t *refs = async_refs(a, seen[at], REFS, &n);
        for (size_t i = 0; i < n; i++) {
            enum async_type type = async_type_of(a, refs[i]);
            if (type == TYPE_CALLBACK)
                return a->label_of[gcd_graph_node_type(a->g, refs[i])];
            bool leads_on = type == TYPE_ANY || type == TYPE_ACTION || type == TYPE_ACTION_OBJECT;
            if (leads_on && count < STEPS && !async_contains(seen, count, refs[i]))
                seen[count++] = refs[i];
        }
    }
    return LABEL_NONE;
}
