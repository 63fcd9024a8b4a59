/*
 * Null maps: which references of an object were null at its heap walk.
 *
 * The runtime sends the references of an object in the order of its memory, without nulls, so which
 * fields and elements they are of may be uncertain (unstable/fields.h).  A bit for each reference
 * says it.  A recording has these bits if they were asked for (collect --fields exact); they have
 * no content of the program.
 */
#ifndef GCDUMPC_UNSTABLE_NULL_MAPS_H
#define GCDUMPC_UNSTABLE_NULL_MAPS_H

#include <gcdumpc/dump.h>
#include <gcdumpc/status.h>

struct gcd_null_maps;

/*
 * D, which is closed, gets the maps M instead of those of its recording; gcd_recording_write keeps
 * them.  They then belong to D.  GCD_E_STATE; nothing has changed.
 */
GCD_MUST_CHECK gcd_status gcd_dump_set_null_maps(struct gcd_dump *d, struct gcd_null_maps *m,
                                                 struct gcd_error *err);

#endif
