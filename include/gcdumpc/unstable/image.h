/*
 * How a core file is read.
 */
#ifndef GCDUMPC_UNSTABLE_IMAGE_H
#define GCDUMPC_UNSTABLE_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/io.h>
#include <gcdumpc/status.h>
#include <gcdumpc/unstable/full_names.h>
#include <gcdumpc/unstable/values.h>

struct gcd_image_options {
    /* a dump has also the objects that no root reaches: the next collection would free them */
    bool with_dead;
    /* where to look for the modules whose metadata the image lacks (gcore, kernel cores); used by
     * the first dump or trace of the input.  A file counts only if its classes have the bases of
     * those in the image.  NULL: nowhere */
    const struct gcd_module_files *files;
    /* a dump can have these values (gcd_dump_options.values), of strings and of arrays of numbers;
     * GCD_VALUES_NONE: none */
    struct gcd_values_options values;
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

#endif
