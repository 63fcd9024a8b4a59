/*
 * gcdumpc: .NET heap dumps outside a debugger, as a library.
 *
 * The shortest program:
 *
 *     struct gcd_error err = GCD_ERROR_INIT;
 *     struct gcd_input *in;
 *     struct gcd_dump *dump;
 *     if (gcd_input_open("app.nettrace", NULL, &in, &err) == GCD_OK &&
 *         gcd_dump_open(in, NULL, &dump, &err) == GCD_OK)
 *         printf("%" PRIu64 " objects\n", gcd_dump_summary(dump)->objects);
 *
 * The headers, from the bottom up:
 *     status.h alloc.h cancel.h context.h   errors, memory and limits, cancelling, what long calls
 *                                           share
 *     io.h                                  inputs and outputs
 *     event.h trace.h                       the events of a recording
 *     dump.h summary.h                      the heap dump in it; facts about a dump or graph as a
 *                                           whole
 *     graph.h read.h names.h                objects and references in memory, files that hold a
 *                                           graph, names of types
 *     dominators.h retained.h paths.h root_sets.h suspects.h generations.h
 *     session.h                             a graph and its analyses, each computed once; for
 *                                           several threads
 *     histogram.h                           objects and bytes by type, module, kind, length ...
 *     diff.h                                several dumps side by side
 *     writer.h                              dumps to files
 *     version.h
 * A live process: ipc.h, which needs libuv and is not included here.
 *
 * The library prints nothing, never exits, reads no environment variables and has no global state.
 * An object belongs to one thread at a time; different objects are independent.
 */
#ifndef GCDUMPC_GCDUMPC_H
#define GCDUMPC_GCDUMPC_H

#include <gcdumpc/alloc.h>
#include <gcdumpc/cancel.h>
#include <gcdumpc/context.h>
#include <gcdumpc/diff.h>
#include <gcdumpc/dominators.h>
#include <gcdumpc/dump.h>
#include <gcdumpc/event.h>
#include <gcdumpc/generations.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/histogram.h>
#include <gcdumpc/io.h>
#include <gcdumpc/names.h>
#include <gcdumpc/paths.h>
#include <gcdumpc/read.h>
#include <gcdumpc/retained.h>
#include <gcdumpc/root_sets.h>
#include <gcdumpc/session.h>
#include <gcdumpc/status.h>
#include <gcdumpc/summary.h>
#include <gcdumpc/suspects.h>
#include <gcdumpc/trace.h>
#include <gcdumpc/version.h>
#include <gcdumpc/writer.h>

#endif
