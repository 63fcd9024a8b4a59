#include <gcdumpc/gcdumpc.h>

#include "args.h"
#include "commands/object_paths.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "output/json_out.h"
#include "term/message.h"
#include "term/term.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/root_labels.h"

/* Of a longer path the objects in the middle are one line. */
#define ENDS_SHOWN 20u

enum cli_exit cli_find_object(const char *which, const struct cli_dump *d, uint32_t *ret)
{
    bool is_address = which[0] == '0' && (which[1] == 'x' || which[1] == 'X');
    const char *digits = is_address ? which + 2 : which;
    size_t n = strlen(digits), good = strspn(digits, is_address ? "0123456789abcdefABCDEF" : "0123456789");
    errno = 0;
    uint64_t number = strtoull(digits, NULL, is_address ? 16 : 10);
    if (n == 0 || good < n || errno != 0)
        return cli_error(CLI_USAGE, NULL, "--object takes an address (0x...) or the number of an object, not \"%s\"", which);
    if (is_address && gcd_graph_notes(d->graph)->addresses_made_up)
        return cli_error(CLI_FAILED, d->subject, "there are no addresses in this dump; --object takes the number of an object");
    if (is_address)
        *ret = gcd_graph_find(d->graph, number);
    else
        *ret = number < gcd_graph_node_count(d->graph) ? (uint32_t)number : GCD_NODE_NONE;
    if (*ret != GCD_NODE_NONE)
        return CLI_DONE;
    if (is_address)
        cli_say(d->subject, "there is no object at %s; gcdumpc retained shows addresses, which differ between dumps", which);
    else
        cli_say(d->subject, "there is no object %s; they are numbered from 0 to %" PRIu32, which, gcd_graph_node_count(d->graph) - 1);
    return CLI_FAILED;
}

struct shown {
    const struct cli_args *args;
    const struct cli_dump *d;
    const struct gcd_names *names;
    const struct gcd_paths *paths;
    uint32_t object;
    struct gcd_object_paths *all;
    struct cli_table *table;
};

/* ---- lines ---- */

static const struct cli_column columns[] = {
    { "path", "#", CLI_CELL_COUNT }, { "depth", NULL, CLI_CELL_COUNT }, { "kind", NULL, CLI_CELL_TEXT }, { "bytes", "Bytes", CLI_CELL_BYTES },
    { NULL, "Object", CLI_CELL_TEXT }, { NULL, "Path", CLI_CELL_TREE }, { "type", NULL, CLI_CELL_TEXT }, { "address", NULL, CLI_CELL_ADDRESS },
    { "node", NULL, CLI_CELL_COUNT }, { "root", NULL, CLI_CELL_TEXT }, { "field", NULL, CLI_CELL_TEXT }, { "flags", NULL, CLI_CELL_TEXT },
    { "more", NULL, CLI_CELL_COUNT }, { "class", NULL, CLI_CELL_TEXT }, { "label", NULL, CLI_CELL_TEXT },
};

static void put_none(const struct shown *f, unsigned n)
{
    while (n-- > 0)
        cli_table_none(f->table);
}

static void put_head(const struct shown *f, uint32_t path, uint32_t depth, const char *kind)
{
    cli_table_count(f->table, path);
    cli_table_count(f->table, depth);
    cli_table_text(f->table, kind);
}

static void put_root(const struct shown *f, uint32_t path, uint32_t depth, const struct gcd_root *r)
{
    char *text = cli_root_label(f->d->graph, f->names, r);
    put_head(f, path, depth, "root");
    put_none(f, 2);
    cli_table_branch(f->table, depth, text);
    put_none(f, 3);
    cli_table_text(f->table, cli_root_key(r));
    cli_field_cell(f->table, r);
    put_none(f, 2);
    cli_static_cells(f->table, f->d->graph, f->names, r);
    free(text);
}

static void put_object(const struct shown *f, uint32_t path, uint32_t depth, uint32_t node, bool dependent)
{
    const struct gcd_graph *g = f->d->graph;
    const char *type = gcd_names_get(f->names, gcd_graph_node_type(g, node));
    char number[CLI_NUMBER_BYTES], *text = NULL;
    if (dependent && asprintf(&text, "%s (by a dependent handle)", type) < 0)
        text = NULL;
    put_head(f, path, depth, "object");
    cli_table_count(f->table, gcd_graph_node_size(g, node));
    cli_table_text(f->table, cli_object_text(g, node, number));
    cli_table_branch(f->table, depth, dependent ? text : type);
    cli_table_text(f->table, type);
    cli_object_address(f->table, g, node);
    cli_table_count(f->table, node);
    put_none(f, 2);
    if (dependent)
        cli_table_text(f->table, "dependent");
    else
        cli_table_none(f->table);
    put_none(f, 3);
    free(text);
}

static void put_rest(const struct shown *f, uint32_t path, uint32_t depth, uint64_t more, const char *what)
{
    char text[80];
    (void)snprintf(text, sizeof text, "(%" PRIu64 " more %s)", more, what);
    put_head(f, path, depth, "rest");
    put_none(f, 2);
    cli_table_branch(f->table, depth, text);
    put_none(f, 6);
    cli_table_count(f->table, more);
    put_none(f, 2);
}

/* ---- paths ---- */

/* The objects in the order in which they are shown; the middle of a long path is one line. */
static void put_steps(const struct shown *f, const struct gcd_object_path *p, uint32_t path, uint32_t depth)
{
    for (size_t k = 0; k < p->count; k++, depth++) {
        if (p->count > 2 * ENDS_SHOWN + 1 && k == ENDS_SHOWN) {
            size_t more = p->count - 2 * ENDS_SHOWN;
            put_rest(f, path, depth, more, "objects");
            k += more - 1;
            continue;
        }
        const struct gcd_object_step *step = &p->steps[f->args->view.to_root ? k : p->count - 1 - k];
        put_object(f, path, depth, step->node, step->dependent);
    }
}

static void put_path(const struct shown *f, const struct gcd_object_path *p, uint32_t path)
{
    const struct gcd_root *r = p->root != SIZE_MAX ? &gcd_graph_summary(f->d->graph)->roots[p->root] : NULL;
    size_t lines = p->count > 2 * ENDS_SHOWN + 1 ? 2 * ENDS_SHOWN + 1 : p->count;
    if (!f->args->view.to_root)
        put_root(f, path, 0, r);
    put_steps(f, p, path, f->args->view.to_root ? 0 : 1);
    if (f->args->view.to_root)
        put_root(f, path, (uint32_t)lines, r);
}

static json_t *json_head(const struct shown *f)
{
    json_t *o = cli_json_head(f->d->subject);
    json_object_set_new(o, "orientation", json_string(f->args->view.to_root ? "to_root" : "from_root"));
    cli_json_count(o, "stand_ins", gcd_paths_pseudo_roots(f->paths));
    json_object_set_new(o, "reachable", json_boolean(gcd_paths_parent(f->paths, f->object) != GCD_NODE_NONE));
    return o;
}

static gcd_status put_all(const struct shown *f, struct gcd_error *err)
{
    uint64_t more;
    size_t n = gcd_object_paths_count(f->all, &more);
    gcd_status st = GCD_OK;
    struct gcd_object_path path;
    for (size_t i = 0; i < n && (st = gcd_object_paths_get(f->all, i, &path, err)) == GCD_OK; i++)
        put_path(f, &path, (uint32_t)i + 1);
    if (more > 0)
        put_rest(f, (uint32_t)n + 1, 0, more, "ways to hold it");
    if (n == 0) {
        char number[CLI_NUMBER_BYTES];
        cli_say(f->d->subject, "no root leads to the object %s, a %s", cli_object_text(f->d->graph, f->object, number),
                gcd_names_get(f->names, gcd_graph_node_type(f->d->graph, f->object)));
    }
    return st;
}

enum cli_exit cli_object_paths(const struct cli_args *args, const struct cli_dump *d, const struct gcd_names *names, const struct gcd_paths *p,
                               uint32_t object, uint32_t default_paths)
{
    uint32_t max = args->view.max_paths != 0 ? (uint32_t)args->view.max_paths : default_paths;
    struct gcd_object_paths_options options = { .context = cli_context(args, NULL), .object = object, .max = max };
    struct shown f = { .args = args, .d = d, .names = names, .paths = p, .object = object };
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st = gcd_object_paths_new(d->graph, p, &options, &f.all, &err);
    f.table = cli_table_new(columns, sizeof columns / sizeof *columns);
    if (st == GCD_OK)
        st = put_all(&f, &err);
    struct cli_titled titled = { .key = "paths", .table = f.table };
    enum cli_exit e = st != GCD_OK ? cli_fail(d->subject, &err) : cli_print_tables(args, d, args->view.json ? json_head(&f) : NULL, &titled, 1);
    gcd_object_paths_free(f.all);
    cli_table_free(f.table);
    return e;
}
