/*
 * The Portable Executable around metadata: where it lies, and which symbols belong to it (PE format; ECMA-335 II.25).
 */
#ifndef GCD_METADATA_PE_H
#define GCD_METADATA_PE_H

#include <gcdumpc/unstable/metadata.h>

#include "metadata/meta_window.h"

/* Where the metadata lie; *RET is filled as far as the debug directory goes.  A failure is in the window. */
struct meta_region pe_find_metadata(struct meta_window *w, struct gcd_module_identity *ret);

#endif
