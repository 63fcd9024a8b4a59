#include <gcdumpc/read.h>

#include "base/error.h"
#include "read/read.h"

static const struct graph_reader *const readers[] = { &gcd_r_gclog, &gcd_r_gcdump, &gcd_r_dart };

static gcd_status find_reader(struct gcd_input *in, const struct graph_reader **ret,
                              struct gcd_error *err)
{
    uint8_t head[READ_HEAD_BYTES];
    size_t n;
    *ret = NULL;
    GCD_TRY(gcd_input_peek(in, head, sizeof head, &n, err));
    for (size_t i = 0; i < sizeof readers / sizeof *readers && *ret == NULL; i++)
        if (readers[i]->probe(head, n))
            *ret = readers[i];
    return GCD_OK;
}

gcd_status gcd_graph_probe(struct gcd_input *in, const char **ret_format, struct gcd_error *err)
{
    const struct graph_reader *r;
    GCD_TRY(find_reader(in, &r, err));
    *ret_format = r != NULL ? r->name : NULL;
    return GCD_OK;
}

gcd_status gcd_graph_read(struct gcd_input *in, const struct gcd_graph_options *options,
                          struct gcd_graph **ret, struct gcd_error *err)
{
    static const struct gcd_graph_options defaults;
    const struct graph_reader *r;
    struct gcd_build *b;
    if (options == NULL)
        options = &defaults;
    GCD_TRY(find_reader(in, &r, err));
    if (r == NULL)
        return gcd_fail(err, GCD_E_NOT_FOUND,
                        "this is not a file with a known kind of object graph");
    GCD_TRY(gcd_build_new(options, &b, err));
    gcd_build_summary(b)->trace.container = r->name;
    gcd_status st = r->read(in, options, b, err);
    if (st == GCD_OK)
        return gcd_build_seal(b, ret, err);
    gcd_build_free(b);
    return st;
}
