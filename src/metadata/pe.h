/*
 * The Portable Executable around metadata: where the metadata are, and which symbols belong to the
 * image (PE format; ECMA-335 II.25).
 */
#ifndef GCD_METADATA_PE_H
#define GCD_METADATA_PE_H

#include <gcdumpc/unstable/metadata.h>

#include "metadata/meta_window.h"

/* Where the metadata are; fills *RET from the debug directory.  A failure is recorded in the
 * window. */
struct meta_region pe_find_metadata(struct meta_window *w, struct gcd_module_identity *ret);
/* What is loaded at address RVA of the image, up to the end of its section. */
struct meta_region pe_find_address(struct meta_window *w, uint32_t rva);
/* Embedded symbols of an image; empty = none. */
struct meta_region pe_find_embedded(struct meta_window *w);

#endif
