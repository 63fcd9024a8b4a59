/*
 * Lists the collections of a dump for tests: collections_list FILE prints a line for each object
 * that is one,
 *     ADDRESS KIND ELEMENTS AT_LEAST AT_MOST CAPACITY REFERENCES STRUCTURE_OBJECTS STRUCTURE_BYTES
 *         TYPE
 * with "-" for unknown values.
 */
#include <inttypes.h>
#include <stdio.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/collections.h>

static void put(uint64_t n)
{
    if (n == GCD_COUNT_UNKNOWN)
        printf("- ");
    else
        printf("%" PRIu64 " ", n);
}

static void put_collection(const struct gcd_graph *g, uint32_t node,
                           const struct gcd_collection *it)
{
    printf("%" PRIx64 " %s ", gcd_graph_node_address(g, node), gcd_collection_kind_name(it->kind));
    put(it->elements);
    put(it->at_least);
    put(it->at_most);
    put(it->capacity);
    put(it->references);
    put(it->structure_objects);
    put(it->structure_bytes);
    printf("%s\n", gcd_graph_summary(g)->types[gcd_graph_node_type(g, node)].name);
}

static gcd_status list(const struct gcd_graph *g, struct gcd_collections *c, struct gcd_error *err)
{
    for (uint32_t node = 0; node < gcd_graph_node_count(g); node++) {
        struct gcd_collection it;
        gcd_status st = gcd_collection_describe(c, node, &it, err);
        if (st < 0)
            return st;
        if (st == GCD_OK)
            put_collection(g, node, &it);
    }
    return GCD_OK;
}

static gcd_status open_graph(const char *path, struct gcd_input **ret_in,
                             struct gcd_dump **ret_dump, struct gcd_graph **ret,
                             struct gcd_error *err)
{
    const char *format;
    gcd_status st = gcd_input_open(path, NULL, ret_in, err);
    if (st != GCD_OK)
        return st;
    if (gcd_graph_probe(*ret_in, &format, err) == GCD_OK && format != NULL)
        return gcd_graph_read(*ret_in, NULL, ret, err);
    st = gcd_dump_open(*ret_in, NULL, ret_dump, err);
    return st == GCD_OK ? gcd_graph_from_dump(*ret_dump, NULL, ret, err) : st;
}

int main(int argc, char **argv)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_input *in = NULL;
    struct gcd_dump *dump = NULL;
    struct gcd_graph *g = NULL;
    struct gcd_collections *c = NULL;
    if (argc != 2)
        return 2;
    gcd_status st = open_graph(argv[1], &in, &dump, &g, &err);
    if (st == GCD_OK)
        st = gcd_collections_new(g, NULL, &c, &err);
    if (st == GCD_OK)
        st = list(g, c, &err);
    if (st < 0)
        fprintf(stderr, "collections_list: %s\n", err.msg);
    gcd_collections_free(c);
    gcd_graph_free(g);
    gcd_dump_free(dump);
    gcd_input_free(in);
    return st < 0;
}
