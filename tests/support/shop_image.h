/*
 * An assembly with one of everything that gcdumpc/unstable/metadata.h reports, and a dump of all
 * answers as text.
 */
#ifndef SHOP_IMAGE_H
#define SHOP_IMAGE_H

#include <gcdumpc/unstable/metadata.h>

#include "support/pe_image.h"

void shop_image(struct pe_image *p, bool wide);

/* All answers, one per line, up to a megabyte or the first failure, whose status it returns.  RET:
 * tb_free. */
gcd_status metadata_text(struct gcd_metadata *m, struct tb_bytes *ret, struct gcd_error *err);

#endif
