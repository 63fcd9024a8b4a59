/*
 * A recording with additions: names, and the memory of the process.
 *
 * gcd_dump_resolve (full_names.h) reads names from the files of the modules.  Written into the
 * recording, they make these files unnecessary on another machine, or on this one after the next
 * update of the program.  gcd_dump_open and gcd_dump_close find them there.
 */
#ifndef GCDUMPC_UNSTABLE_RECORDING_H
#define GCDUMPC_UNSTABLE_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/dump.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>
#include <gcdumpc/unstable/sites.h>
#include <gcdumpc/unstable/values.h>

/* What becomes of values (values.h). */
enum gcd_recording_values {
    GCD_RECORDING_VALUES_KEEP, /* those of the dump, or of its recording */
    GCD_RECORDING_VALUES_REMOVE,
    GCD_RECORDING_VALUES_HASH /* only which are equal: hashed with KEY */
};

struct gcd_recording_options {
    struct gcd_context context;
    bool plain;      /* copy the bytes unchanged, without names and memory; values as below */
    bool no_layouts; /* leave out the fields of types, those that the recording has, too */
    const struct gcd_sites *sites; /* of sampled allocations, also with PLAIN; NULL = none */
    enum gcd_recording_values values;
    uint8_t key[GCD_VALUES_KEY_BYTES]; /* do not keep it */
};

/* What gcd_recording_write can do for a dump. */
enum gcd_recording_names {
    GCD_RECORDING_NAMES_NEW,  /* it adds names */
    GCD_RECORDING_NAMES_SAME, /* the recording already has all known names, or none are known */
    /* the recording is cut, damaged or in another format than runtimes send: nothing is added */
    GCD_RECORDING_NAMES_NO_ROOM
};
enum gcd_recording_names gcd_recording_names(const struct gcd_dump *d);

/*
 * Copies the recording IN to TO, decompressed (of a core file it writes one), and adds the names
 * resolved for D and the process memory set for it (process_memory.h), and sites.  D is the dump of
 * IN, closed; NULL or one that could not be closed: add nothing. Does not commit TO.  *RET_NAMES
 * (may be NULL): the number of names added, of types and static variables. GCD_E_FORMAT: IN has
 * changed since it was read; GCD_E_STATE: D was opened without the values that its recording has,
 * and they have to be written once more; GCD_E_UNSUPPORTED: its values, or the fields of its
 * types, cannot be removed; GCD_E_CANCELED; errors of IN and TO.
 */
GCD_MUST_CHECK gcd_status gcd_recording_write(struct gcd_dump *d, struct gcd_input *in,
                                              struct gcd_sink *to,
                                              const struct gcd_recording_options *options,
                                              uint64_t *ret_names, struct gcd_error *err);

#endif
