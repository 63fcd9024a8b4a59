/*
 * Writes the formats of kind PLACE without the program: table_writer FORMAT PATH SEED NODES writes
 * a random graph (support/graph_gen.h), table_writer FORMAT PATH RECORDING that of a recording.
 * FORMAT "graph" prints what is in it, names as hexadecimal bytes, for a reader that must not
 * depend on any format: a line begins with the name of its table.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/dominators.h>
#include <gcdumpc/writer.h>
#include <gcdumpc/unstable/staged_file.h>

#include "support/graph_gen.h"

static struct gcd_error err = GCD_ERROR_INIT;

static int fail(void)
{
    fprintf(stderr, "table_writer: %s\n", err.msg);
    return 1;
}

static void put_hex(const char *s)
{
    printf(" x");
    for (; *s != '\0'; s++)
        printf("%02x", (unsigned char)*s);
}

static int print_tables(const struct gcd_graph *g, const struct gcd_names *names)
{
    const struct gcd_summary *summary = gcd_graph_summary(g);
    for (uint32_t i = 0; i < summary->type_count; i++) {
        const struct gcd_type *t = &summary->types[i];
        printf("types %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u %d %d", i,
               t->objects, t->bytes, t->id, t->module, t->name_token, t->flags, t->described,
               t->named);
        put_hex(t->name);
        put_hex(t->module_path);
        put_hex(gcd_names_get(names, i));
        putchar('\n');
    }
    for (uint32_t i = 0; i < gcd_graph_node_count(g); i++) {
        struct gcd_node n;
        gcd_graph_node(g, i, &n);
        printf("objects %u %u %" PRIu64 " %" PRIu64 "\n", i, n.type, n.size_bytes, n.address);
        for (size_t k = 0; k < n.edge_count; k++)
            printf("edges %u %zu %u\n", i, k, n.edges[k]);
    }
    for (size_t i = 0; i < summary->root_count; i++) {
        const struct gcd_root *r = &summary->roots[i];
        printf("roots %zu %u %u %" PRIu64 " %u %u", i, r->kind, r->flags, r->id, r->node, r->type);
        put_hex(r->name);
        putchar('\n');
    }
    for (size_t i = 0; i < gcd_graph_dependent_count(g); i++)
        printf("dependent_handles %zu %u %u\n", i, gcd_graph_dependent(g, i)->key,
               gcd_graph_dependent(g, i)->value);
    for (size_t i = 0; i < summary->range_count; i++) {
        const struct gcd_range *r = &summary->ranges[i];
        printf("ranges %zu %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", i, r->generation, r->start,
               r->used_bytes, r->reserved_bytes);
    }
    struct gcd_dominators *d;
    if (gcd_dominators_new(g, NULL, &d, &err) != GCD_OK)
        return fail();
    for (uint32_t i = 0; i < gcd_graph_node_count(g); i++)
        if (gcd_dominators_parent(d, i) != GCD_NODE_NONE)
            printf("dominators %u %" PRId64 " %" PRIu64 "\n", i,
                   gcd_dominators_parent(d, i) == GCD_NODE_ROOT
                       ? -1
                       : (int64_t)gcd_dominators_parent(d, i),
                   gcd_dominators_retained(d, i));
    gcd_dominators_free(d);
    return 0;
}

static struct gcd_graph *from_recording(const char *path)
{
    struct gcd_input *in = NULL;
    struct gcd_dump *dump = NULL;
    struct gcd_graph *g = NULL;
    if (gcd_input_open(path, &(struct gcd_input_options){ .reread = true }, &in, &err) != GCD_OK ||
        gcd_dump_open(in, NULL, &dump, &err) != GCD_OK ||
        gcd_graph_from_dump(dump, NULL, &g, &err) != GCD_OK)
        fail();
    gcd_dump_free(dump);
    gcd_input_free(in);
    return g;
}

static int write_place(const char *format, const char *path, const struct gcd_graph *g,
                       const struct gcd_names *names)
{
    const struct gcd_format *f = gcd_format_by_name(format);
    struct gcd_staged *p = NULL;
    struct gcd_write_notes notes;
    if (f == NULL) {
        fprintf(stderr, "table_writer: no format %s\n", format);
        return 77;
    }
    int status = 0;
    struct gcd_write_options options = { .names = names };
    if (gcd_staged_open(path, gcd_format_staged_kind(f), NULL, &p, &err) != GCD_OK ||
        gcd_write_staged(f, g, p, &options, &notes, &err) != GCD_OK ||
        gcd_staged_commit(p, &err) != GCD_OK)
        status = fail();
    for (size_t i = 0; status == 0 && i < notes.loss_count; i++)
        printf("%" PRIu64 " %s\n", notes.losses[i].count, notes.losses[i].text);
    gcd_staged_free(p);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 4 && argc != 5) {
        fprintf(stderr, "usage: table_writer FORMAT PATH SEED NODES, or FORMAT PATH RECORDING\n");
        return 2;
    }
    struct graph_gen o = { .seed = strtoull(argv[3], NULL, 10), .keep_unknown = true };
    o.max_nodes = argc == 5 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0;
    o.no_addresses = o.seed % 4 == 3;
    struct gcd_graph *g = argc == 5 ? graph_gen(&o) : from_recording(argv[3]);
    if (g == NULL)
        return 1;
    struct gcd_names *names = NULL;
    int status = gcd_names_new(gcd_graph_summary(g), GCD_NAMES_CSHARP, NULL, &names, &err) != GCD_OK
                     ? fail()
                 : strcmp(argv[1], "graph") == 0 ? print_tables(g, names)
                                                 : write_place(argv[1], argv[2], g, names);
    gcd_names_free(names);
    gcd_graph_free(g);
    return status;
}
