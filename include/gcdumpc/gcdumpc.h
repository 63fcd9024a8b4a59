/*
 * gcdumpc: .NET heap dumps outside a debugger, as a library.
 *
 * The shortest program:
 *
 *     struct gcd_error err = GCD_ERROR_INIT;
 *     struct gcd_input *in;
 *     struct gcd_dump *dump;
 *     if (gcd_input_open("app.nettrace", NULL, &in, &err) == GCD_OK && gcd_dump_open(in, NULL, &dump, &err) == GCD_OK)
 *         printf("%" PRIu64 " objects\n", gcd_dump_summary(dump)->objects);
 *
 * One header a layer: status.h, alloc.h (errors, memory, limits); io.h (inputs and outputs); event.h, trace.h (events of a
 * trace); dump.h (the heap dump in it); summary.h (what is known of a dump or graph as a whole); writer.h (dumps to files).
 * A live process: ipc.h, not included here.
 *
 * A bound on the memory of all of it: spill.h; how much will be needed: estimate.h.
 *
 * The library prints nothing, never exits, reads no environment, has no global state: one object belongs to one thread at a
 * time, different objects are independent.
 */
#ifndef GCDUMPC_GCDUMPC_H
#define GCDUMPC_GCDUMPC_H

#include <gcdumpc/alloc.h>
#include <gcdumpc/cancel.h>
#include <gcdumpc/diff.h>
#include <gcdumpc/diff_page.h>
#include <gcdumpc/dominators.h>
#include <gcdumpc/dump.h>
#include <gcdumpc/estimate.h>
#include <gcdumpc/event.h>
#include <gcdumpc/generations.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/io.h>
#include <gcdumpc/lengths.h>
#include <gcdumpc/metadata.h>
#include <gcdumpc/names.h>
#include <gcdumpc/paths.h>
#include <gcdumpc/retained.h>
#include <gcdumpc/root_sets.h>
#include <gcdumpc/spill.h>
#include <gcdumpc/status.h>
#include <gcdumpc/summary.h>
#include <gcdumpc/suspects.h>
#include <gcdumpc/trace.h>
#include <gcdumpc/tree_diff.h>
#include <gcdumpc/merged_tree.h>
#include <gcdumpc/version.h>
#include <gcdumpc/writer.h>

#endif
