/* zstd (RFC 8878) on top of libzstd: several frames in sequence, constant memory. */
#ifndef GCD_IO_UNZSTD_H
#define GCD_IO_UNZSTD_H

#include <stdbool.h>

#include <gcdumpc/alloc.h>

#include "io/gunzip.h"

/* How a frame begins. */
#define GCD_ZSTD_MAGIC "\x28\xb5\x2f\xfd"

struct gcd_unzstd {
    struct ZSTD_DCtx_s *z;
    const struct gcd_alloc *alloc;
    bool between_frames; /* a frame has ended, the next one has not begun */
    const char *damage;  /* permanent: the data before was good; NULL = none */
};

/* A outlives it. */
gcd_status gcd_unzstd_init(struct gcd_unzstd *u, const struct gcd_alloc *a, struct gcd_error *err);
void gcd_unzstd_done(struct gcd_unzstd *u);

/* As gcd_gunzip_step.  A frame that needs more than 128 MiB of its past is refused: GCD_E_FORMAT.
 */
gcd_status gcd_unzstd_step(struct gcd_unzstd *u, struct gcd_gunzip_io *io, struct gcd_error *err);

#endif
