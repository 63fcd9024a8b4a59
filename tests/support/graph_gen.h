/*
 * Random graphs for property tests: small, with all the rare features of real heaps.
 */
#ifndef GRAPH_GEN_H
#define GRAPH_GEN_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/graph.h>

/* What a graph may contain; all false: only what every format can store. */
struct graph_gen {
    uint64_t seed;
    /* [byte_count] bytes decide first, then the generator from SEED: for a fuzzer */
    const uint8_t *bytes;
    size_t byte_count;
    uint32_t max_nodes; /* at most this many */
    /* letters and dots only; else also quotes, line ends, commas, brackets, other alphabets, very
     * long ones */
    bool plain_names;
    bool plain_sizes;  /* below 2^31; else sometimes up to 2^64 - 1 */
    bool no_addresses; /* made up by the builder */
    bool fields;       /* each third type has three, which may refer to all */
    /* bytes of the longest names (1 in 100); 0 = 65,535, the most that every format takes */
    uint32_t name_bytes;
    bool callbacks;    /* the second type is one of a timer or a registration */
    bool snapshots;    /* some objects refer to 64 and more; most roots are local variables */
    bool keep_unknown; /* with dangling references and roots */
    const struct gcd_alloc *alloc;
};

/* Same options, same graph.  NULL only when the allocator of the options fails; any other failure
 * aborts. */
struct gcd_graph *graph_gen(const struct graph_gen *options);
/* Options with everything enabled. */
struct gcd_graph *graph_gen_random(uint64_t seed, uint32_t max_nodes);

/* Allowed differences between two equal graphs. */
#define GRAPH_EQ_ADDRESSES  1u
#define GRAPH_EQ_BIG_SIZES  2u /* sizes of 2^31 - 1 and more */
#define GRAPH_EQ_ROOT_FLAGS 4u
#define GRAPH_EQ_ROOT_NAMES 8u /* and types and ids of roots */
#define GRAPH_EQ_ROOT_ORDER 16u
#define GRAPH_EQ_WEAK_ROOTS 32u /* they may be missing */
#define GRAPH_EQ_ROOT_KINDS 64u
#define GRAPH_EQ_DEPENDENTS 128u /* in B they may be references, after the key's own */
#define GRAPH_EQ_RANGES     256u
#define GRAPH_EQ_TYPE_IDS   512u /* id, token, flags, element type, described */
#define GRAPH_EQ_MODULES    1024u
/* and the numbers of types: compared by name, module and objects */
#define GRAPH_EQ_UNUSED_TYPES 2048u
#define GRAPH_EQ_FACTS        4096u /* process, runtime, times */
#define GRAPH_EQ_VERDICT      8192u
#define GRAPH_EQ_NAMES        16384u /* of types */

/* NULL, or what differs (in a static buffer). */
const char *graph_eq(const struct gcd_graph *a, const struct gcd_graph *b, unsigned may_differ);

#endif
