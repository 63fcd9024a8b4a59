/*
 * Small graphs of asynchronous operations, object by object, as CoreCLR makes them.
 *
 *     static const struct async_object objects[] = {
 *         OBJECT(ANY("Shop.Kept"), 1, 2),                     number 0, the only root; refers to 1
 *             and 2
 *         OBJECT(BOX("System.Int32", "Shop.Rpc+<Call>d__1"), 3, 1, 2),
 *         ...
 */
#ifndef ASYNC_GRAPH_H
#define ASYNC_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/graph.h>
#include <gcdumpc/unstable/async.h>

struct async_object {
    const char *type; /* in the runtime's spelling, with outer types */
    uint32_t count, refs[12];
};

#define OBJECT(type_, ...)                                             \
    {                                                                  \
        type_, sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), \
        {                                                              \
            __VA_ARGS__                                                \
        }                                                              \
    }
#define LEAF(type_) \
    {               \
        type_, 0,   \
        {           \
            0       \
        }           \
    }

#define RUNTIME "System.Runtime.CompilerServices."
#define TASKS   "System.Threading.Tasks."
#define BOX(machine) \
    RUNTIME "AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1[System.Int32," machine "]"
#define POOLED(machine) \
    RUNTIME "PoolingAsyncValueTaskMethodBuilder`1+StateMachineBox`1[System.Int32," machine "]"
#define TASK          TASKS "Task"
#define CONTEXT       "System.Threading.ExecutionContext"
#define ACTION        "System.Action"
#define ACTION_OBJECT "System.Action`1[System.Object]"
#define LIST          "System.Collections.Generic.List`1[System.Object]"
#define ARRAY         "System.Object[]"
#define SENTINEL      "System.Object"

/* nested types without their outer ones; everything is in generation 2; but object I in 0 */
enum { ASYNC_BARE = 1, ASYNC_RANGES = 2 };
#define ASYNC_YOUNG(i) (ASYNC_RANGES | (i) << 8)

/* Each object has 100 bytes.  Free with gcd_graph_free; aborts when memory runs out. */
struct gcd_graph *async_graph(const struct async_object *objects, size_t n, unsigned flags);

/* "2 Task.Delay < Shop.A < Shop.B" for each stack, sorted; "~" behind frames that are probable, "*"
 * behind repeated ones.  free() it. */
char *async_text(const struct gcd_async *a);

#endif
