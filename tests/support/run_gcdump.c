#include "support/run_gcdump.h"

#include "read/read.h"

gcd_status run_gcdump_read(const void *bytes, size_t n, const struct gcd_graph_options *options, struct gcd_graph **ret,
                           struct gcd_error *err)
{
    const struct gcd_alloc *alloc = options != NULL ? options->alloc : NULL;
    struct gcd_input *in = NULL;
    struct gcd_build *b = NULL;
    gcd_status st = gcd_input_from_memory(bytes, n, &(struct gcd_input_options){ .alloc = alloc }, &in, err);
    if (st == GCD_OK)
        st = gcd_build_new(options, &b, err);
    if (st == GCD_OK)
        st = gcd_r_gcdump.read(in, options, b, err);
    if (st == GCD_OK)
        st = gcd_build_seal(b, ret, err);
    else
        gcd_build_free(b);
    gcd_input_free(in);
    return st;
}

gcd_status run_gcdump_write(const struct gcd_graph *g, const struct gcd_alloc *alloc, struct tb_bytes *ret, struct gcd_write_notes *notes,
                            struct gcd_error *err)
{
    struct gcd_sink *s;
    gcd_status st = gcd_sink_new_memory(alloc, &s, err);
    if (st != GCD_OK)
        return st;
    st = gcd_write_graph(gcd_format_by_name("gcdump"), g, s, &(struct gcd_write_options){ .alloc = alloc }, notes, err);
    if (st == GCD_OK)
        st = gcd_sink_commit(s, err);
    if (st == GCD_OK) {
        size_t n;
        const uint8_t *p = gcd_sink_memory(s, &n);
        *ret = (struct tb_bytes){ NULL, 0, 0 };
        tb_put(ret, p, n);
    }
    gcd_sink_free(s);
    return st;
}
