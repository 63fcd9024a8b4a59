#include "write/html/html_page.h"

#include <gcdumpc/io.h>

#include "base/error.h"

static gcd_status copy(struct gcd_reader *r, struct gcd_sink *s, struct gcd_error *err)
{
    const uint8_t *bytes;
    size_t n;
    gcd_status st;
    while ((st = gcd_reader_next(r, &bytes, &n, err)) == GCD_OK)
        gcd_sink_write(s, bytes, n);
    return st == GCD_END ? GCD_OK : st;
}

gcd_status html_part_write(const unsigned char *part, size_t n, const struct gcd_alloc *alloc,
                           struct gcd_sink *s, struct gcd_error *err)
{
    struct gcd_input_options options = { .context.alloc = alloc };
    struct gcd_input *in;
    struct gcd_reader *r;
    GCD_TRY(gcd_input_from_memory(part, n, &options, &in, err));
    gcd_status st = gcd_reader_new(in, &r, err);
    if (st == GCD_OK) {
        st = copy(r, s, err);
        gcd_reader_free(r);
    }
    gcd_input_free(in);
    return st;
}
