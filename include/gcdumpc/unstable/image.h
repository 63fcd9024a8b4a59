/*
 * Heaps that are read from memory: of core files, and of living processes without a garbage
 * collection.
 */
#ifndef GCDUMPC_UNSTABLE_IMAGE_H
#define GCDUMPC_UNSTABLE_IMAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <gcdumpc/context.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>
#include <gcdumpc/trace.h>
#include <gcdumpc/unstable/full_names.h>
#include <gcdumpc/unstable/values.h>

struct gcd_image_options {
    /* a dump has also the objects that no root reaches: the next collection would free them */
    bool with_dead;
    /* where to look for the modules whose metadata the image lacks (gcore, kernel cores); used as
     * long as the input lives.  A file counts only if its classes have the bases of
     * those in the image.  NULL: nowhere */
    const struct gcd_module_files *files;
    /* a dump can have these values (gcd_dump_options.values), of strings and of arrays of numbers;
     * GCD_VALUES_NONE: none */
    struct gcd_values_options values;
    /* a core file is mapped, which is faster: for programs that handle SIGBUS, which ends them if
     * others cut the file meanwhile, or its disk fails */
    bool map;
};

/* For all dumps and traces of IN, which must not have been opened yet.  Has no effect on other
 * files than core files.  GCD_E_STATE, GCD_E_NOMEM. */
GCD_MUST_CHECK gcd_status gcd_input_set_image(struct gcd_input *in,
                                              const struct gcd_image_options *options,
                                              struct gcd_error *err);

/*
 * The metadata of the module with this ID (gcd_module.id) as the core file has it, after a dump or
 * trace of IN was read: for gcd_module_files, so that fields have names without any file.  *RET is
 * an input of the metadata alone; free it before IN.  GCD_END: there are none, or IN is no core
 * file.  GCD_E_NOMEM, GCD_E_FORMAT.
 */
GCD_MUST_CHECK gcd_status gcd_input_image_module(struct gcd_input *in, uint64_t id,
                                                 struct gcd_input **ret, struct gcd_error *err);

/* Are its events made from memory? */
static inline bool gcd_trace_is_image(const struct gcd_trace_info *t)
{
    return strcmp(t->container, "core") == 0 || strcmp(t->container, "process") == 0;
}

/* ---- living processes ---- */

struct gcd_direct_options {
    struct gcd_context context;
    struct gcd_image_options image;
    /* bounds for one stop of the process, for all of them, and for the whole, in ns; 0: 2 s, 10
     * times the bound for one, a minute */
    uint64_t max_stop_ns, max_stop_total_ns, timeout_ns;
    /* up to this many bytes the copy of the heap is memory; a larger one goes to an unlinked file
     * in one of FOLDERS, which ends with NULL.  Folders in memory are passed over */
    uint64_t memory_bytes;
    const char *const *folders;
    /* the process may end soon: no trial beforehand of how long a stop takes, and it is stopped
     * until all that is needed of it has been read, not only its heap */
    bool urgent;
};

struct gcd_direct_result {
    unsigned tries;             /* how often the process was stopped */
    uint64_t stop_ns;           /* the last time */
    uint64_t stopped_before_ns; /* all other times together */
    uint64_t estimate_ns;       /* of a stop, before the first one; 0 = not known */
    uint64_t heap_bytes;        /* copied; 0 = not known */
    const char *folder;         /* of the copy; NULL: it was in memory */
};

/*
 * Reads the heap of the process PID: stops it, copies the memory of its heap, and lets it go on
 * before the copy is read; it causes no garbage collection.  The result is an input for
 * gcd_dump_open.  A copy counts only if no garbage collection was under way, all of the heap can be
 * walked, and no reference leads to nothing; otherwise there is another try, as long as the bounds
 * allow.  Whatever happens to the caller, the process goes on after max_stop_ns at the latest.
 *
 * RET_RESULT is filled in even on failure.  GCD_E_NOT_FOUND (NO_PROCESS); GCD_E_IO (PERMISSION):
 * the message says which right is missing; GCD_E_UNSUPPORTED: not .NET 8 to 11 on Linux x64;
 * GCD_E_LIMIT: it cannot be done within the bounds; GCD_E_PEER (GONE): it has ended; GCD_E_NOMEM,
 * GCD_E_CANCELED.
 */
GCD_MUST_CHECK gcd_status gcd_input_new_direct(uint32_t pid,
                                               const struct gcd_direct_options *options,
                                               struct gcd_input **ret,
                                               struct gcd_direct_result *ret_result,
                                               struct gcd_error *err);

/*
 * What that does before it stops the process for the first time: RET_RESULT says how large the heap
 * is, how long a stop would take, and where the copy would be.  Takes the memory of the copy during
 * the call.  Errors as above; GCD_E_LIMIT: it would be refused.
 */
GCD_MUST_CHECK gcd_status gcd_direct_estimate(uint32_t pid,
                                              const struct gcd_direct_options *options,
                                              struct gcd_direct_result *ret_result,
                                              struct gcd_error *err);

#endif
