/*
 * Memory that a core file leaves out because the process has not changed it (the kernel's default,
 * gcore of some versions): it is read from the file that was mapped there, if that has the build id
 * that the core file shows in the page with the ELF header.
 */
#ifndef GCD_IMAGE_CORE_OVERLAY_H
#define GCD_IMAGE_CORE_OVERLAY_H

#include "image/heap_image.h"

/*
 * Adds the memory of the files that may be the runtime.  *RET_ADDED: some was.  If none was but one
 * is missing, LACKING says so in a clause; else it is "".  GCD_E_NOMEM.
 */
gcd_status core_overlay_runtime(struct heap_image *h, bool *ret_added,
                                char lacking[HEAP_IMAGE_LACKING_BYTES], struct gcd_error *err);

#endif
