/* The known answers, as JSON. */
#ifndef GH_TRUTH_H
#define GH_TRUTH_H

#include <stdbool.h>

#include "gh_retained.h"
#include "gh_script.h"

/* Call it after closing the container, with the model of the first dump.  false: the file could not
 * be written (message printed). */
bool gh_truth_write(const struct gh_script *s, const struct gh_container *c,
                    const struct gh_retained *retained, uint64_t file_bytes);

#endif
