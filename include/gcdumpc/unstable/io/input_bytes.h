/*
 * The bytes of an input as memory, for what reads a little here and there of a large file.
 */
#ifndef GCDUMPC_UNSTABLE_IO_INPUT_BYTES_H
#define GCDUMPC_UNSTABLE_IO_INPUT_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/io.h>

/*
 * All bytes of IN, a seekable input; they live as long as it.  NULL = they must be read.  A file is
 * mapped: if others cut it meanwhile, or the disk fails, access raises SIGBUS.
 */
const uint8_t *gcd_input_bytes(struct gcd_input *in, size_t *ret_n);

#endif
