/*
 * Estimates the memory of a graph and of the work on it, from the counts of the first pass.
 *
 * Adds up the largest arrays that exist at the same time, and what reading a recording takes
 * (GCD_ESTIMATE_BASE).  Makes two assumptions that only the objects could confirm: objects of types
 * with references keep something alive, and few references are cyclic.  A tree of merged paths
 * grows with the number of different paths, which the first pass cannot know: GCD_FOR_PATHS and
 * GCD_FOR_DIFF assume the largest possible tree, so most heaps need less. tests/bench/README.md
 * compares estimates with measurements.
 */
#ifndef GCDUMPC_UNSTABLE_ESTIMATE_H
#define GCDUMPC_UNSTABLE_ESTIMATE_H

#include <stdint.h>

#include <gcdumpc/status.h>
#include <gcdumpc/summary.h>

/* The program, its libraries, buffers of inputs and outputs: 5.3 MiB as measured, of which 3.4 MiB
 * is a program that only prints its help. */
#define GCD_ESTIMATE_BASE (UINT64_C(11) << 19)

/* The work on a graph, from less to more. */
enum gcd_workload {
    GCD_FOR_GRAPH,    /* nothing: formats that list objects and references */
    GCD_FOR_PATHS,    /* paths from the roots, merged by type */
    GCD_FOR_RETAINED, /* dominators and retained sizes; formats with these */
    GCD_FOR_LEAKS,    /* suspects */
    GCD_FOR_PAGE,     /* a page for browsers */
    /* paths compared with those of another dump, assumed to be equally large */
    GCD_FOR_DIFF,
    GCD_WORKLOADS
};

/* In bytes, for the dump or graph with this summary. */
uint64_t gcd_estimate(const struct gcd_summary *summary, enum gcd_workload workload);

#endif
