#include "support/run_graph.h"

gcd_status run_graph_read(const struct graph_reader *reader, const void *bytes, size_t n,
                          const struct gcd_graph_options *options, struct gcd_graph **ret,
                          struct gcd_error *err)
{
    static const struct gcd_graph_options defaults;
    if (options == NULL)
        options = &defaults;
    const struct gcd_alloc *alloc = options->context.alloc;
    struct gcd_input *in = NULL;
    struct gcd_build *b = NULL;
    gcd_status st = gcd_input_from_memory(
        bytes, n, &(struct gcd_input_options){ .context.alloc = alloc }, &in, err);
    if (st == GCD_OK)
        st = gcd_build_new(options, &b, err);
    if (st == GCD_OK)
        st = reader->read(in, options, b, err);
    if (st == GCD_OK)
        st = gcd_build_seal(b, ret, err);
    else
        gcd_build_free(b);
    gcd_input_free(in);
    return st;
}

gcd_status run_graph_write(const char *format, const struct gcd_graph *g,
                           const struct gcd_alloc *alloc, struct tb_bytes *ret,
                           struct gcd_write_notes *notes, struct gcd_error *err)
{
    struct gcd_sink *s;
    gcd_status st = gcd_sink_new_memory(alloc, &s, err);
    if (st != GCD_OK)
        return st;
    st = gcd_write_graph(gcd_format_by_name(format), g, s,
                         &(struct gcd_write_options){ .context.alloc = alloc }, notes, err);
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

const char *run_graph_check(const struct gcd_graph *g)
{
    const struct gcd_summary *summary = gcd_graph_summary(g);
    uint32_t nodes = gcd_graph_node_count(g);
    uint64_t edges = 0;
    for (uint32_t n = 0; n < nodes; n++) {
        struct gcd_node node;
        gcd_graph_node(g, n, &node);
        edges += node.edge_count;
        if (node.type >= summary->type_count)
            return "an object of no type";
        for (size_t i = 0; i < node.edge_count; i++)
            if (node.edges[i] >= nodes)
                return "a reference that leads to no object";
    }
    if (edges != gcd_graph_edge_count(g))
        return "references are not counted";
    for (size_t i = 0; i < summary->root_count; i++)
        if (summary->roots[i].node >= nodes || summary->roots[i].type >= summary->type_count)
            return "a root that leads to no object";
    if (!summary->verdict.complete && summary->verdict.reason_count == 0)
        return "incomplete without a reason";
    return NULL;
}
