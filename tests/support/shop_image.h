/*
 * An assembly with one of each thing that gcdumpc/unstable/metadata.h tells, and all that it tells of one, as text.
 */
#ifndef SHOP_IMAGE_H
#define SHOP_IMAGE_H

#include <gcdumpc/unstable/metadata.h>

#include "support/pe_image.h"

void shop_image(struct pe_image *p, bool wide);

/* Everything that can be asked, a line each, up to a megabyte or until something fails: its status is the result.  RET: tb_free. */
gcd_status metadata_text(struct gcd_metadata *m, struct tb_bytes *ret, struct gcd_error *err);

#endif
