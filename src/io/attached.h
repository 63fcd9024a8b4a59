/*
 * What a reader of an input has found out about it, for the next reader of the same input.
 */
#ifndef GCD_IO_ATTACHED_H
#define GCD_IO_ATTACHED_H

#include <gcdumpc/io.h>

/* NULL: nothing yet. */
void *gcd_input_attached(const struct gcd_input *in);
/* IN must have nothing attached; frees STATE with FREE_STATE when IN is freed. */
void gcd_input_attach(struct gcd_input *in, void *state, void (*free_state)(void *state));
/* The memory of the input, which lives as long as the state. */
const struct gcd_alloc *gcd_input_alloc(const struct gcd_input *in);

#endif
