/*
 * How a core file is read.
 */
#ifndef GCDUMPC_UNSTABLE_IMAGE_H
#define GCDUMPC_UNSTABLE_IMAGE_H

#include <stdbool.h>

#include <gcdumpc/io.h>
#include <gcdumpc/status.h>

struct gcd_image_options {
    /* a dump has also the objects that no root reaches: the next collection would free them */
    bool with_dead;
};

/* For all dumps and traces of IN, which must not have been opened yet.  Has no effect on other
 * files than core files.  GCD_E_STATE, GCD_E_NOMEM. */
GCD_MUST_CHECK gcd_status gcd_input_set_image(struct gcd_input *in,
                                              const struct gcd_image_options *options,
                                              struct gcd_error *err);

#endif
