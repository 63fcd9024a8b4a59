/*
 * A writer is a row: see writer.c.  It sees the dump only through gcdumpc/dump.h.
 */
#ifndef GCD_WRITE_WRITE_H
#define GCD_WRITE_WRITE_H

#include <gcdumpc/writer.h>

struct gcd_format {
    const char *name, *suffix, *about;
    bool text;
    gcd_status (*write)(struct gcd_dump *d, struct gcd_sink *s, const struct gcd_write_options *options,
                        struct gcd_write_notes *notes, struct gcd_error *err);
};

extern const struct gcd_format gcd_w_gclog;

#endif
