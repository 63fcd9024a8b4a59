/* The known answers, as JSON. */
#ifndef GH_TRUTH_H
#define GH_TRUTH_H

#include <stdbool.h>

#include "gh_retained.h"
#include "gh_script.h"

/* After the container is closed, with the model as it was for the first dump.  false: the file could not be written (complaint printed). */
bool gh_truth_write(const struct gh_script *s, const struct gh_container *c, const struct gh_retained *retained, uint64_t file_bytes);

#endif
