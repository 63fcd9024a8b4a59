#include <gcdumpc/gcdumpc.h>

#include "args.h"
#include "commands/object_paths.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "input/memory.h"
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

/* How OBJECT is held: by a root, or by another object. */
struct way {
    size_t root;                 /* SIZE_MAX: none, or an object is a pseudo-root */
    uint32_t via;                /* GCD_NODE_NONE: by the root */
    bool dependent;
};

struct finder {
    const struct cli_args *args;
    const struct cli_dump *d;
    const struct gcd_names *names;
    const struct gcd_paths *paths;
    uint32_t object, max;
    struct way *ways;            /* [max] */
    uint32_t count;
    uint64_t more;               /* ways that are not shown */
    struct cli_table *table;
};

static void found(struct finder *f, struct way w)
{
    if (f->count < f->max)
        f->ways[f->count++] = w;
    else
        f->more++;
}

static void find_roots(struct finder *f)
{
    const struct gcd_graph *g = f->d->graph;
    if (gcd_paths_pseudo_roots(f->paths) > 0 && gcd_paths_parent(f->paths, f->object) == GCD_NODE_ROOT)
        found(f, (struct way){ SIZE_MAX, GCD_NODE_NONE, false });
    for (size_t i = 0; i < gcd_graph_summary(g)->root_count; i++)
        if (gcd_graph_summary(g)->roots[i].node == f->object && gcd_root_group(&gcd_graph_summary(g)->roots[i]) != GCD_GROUP_WEAK)
            found(f, (struct way){ i, GCD_NODE_NONE, false });
}

static bool get(const uint64_t *bits, uint32_t node)
{
    return (bits[node >> 6] >> (node & 63) & 1) != 0;
}

static void set(uint64_t *bits, uint32_t node)
{
    bits[node >> 6] |= UINT64_C(1) << (node & 63);
}

/* In the order of their own paths, so the shortest come first.  BEHIND and KEYS are cleared bits, one a node. */
static void find_referrers(struct finder *f, uint64_t *behind, uint64_t *keys)
{
    const struct gcd_graph *g = f->d->graph;
    const uint32_t *order = gcd_paths_order(f->paths);
    for (size_t i = 0; i < gcd_graph_dependent_count(g); i++)
        if (gcd_graph_dependent(g, i)->value == f->object)
            set(keys, gcd_graph_dependent(g, i)->key);
    for (uint32_t i = 0; i < gcd_paths_reachable(f->paths); i++) {
        uint32_t node = order[i], parent = gcd_paths_parent(f->paths, node);
        if (node == f->object || (parent != GCD_NODE_ROOT && get(behind, parent))) {
            set(behind, node);           /* its own path leads through the object */
            continue;
        }
        bool by_reference = gcd_graph_refers(g, node, f->object);
        if (by_reference || get(keys, node))
            found(f, (struct way){ SIZE_MAX, node, !by_reference });
    }
}

/* ---- lines ---- */

static const struct cli_column columns[] = {
    { "path", "#", CLI_CELL_COUNT }, { "depth", NULL, CLI_CELL_COUNT }, { "kind", NULL, CLI_CELL_TEXT }, { "bytes", "Bytes", CLI_CELL_BYTES },
    { NULL, "Object", CLI_CELL_TEXT }, { NULL, "Path", CLI_CELL_TREE }, { "type", NULL, CLI_CELL_TEXT }, { "address", NULL, CLI_CELL_ADDRESS },
    { "node", NULL, CLI_CELL_COUNT }, { "root", NULL, CLI_CELL_TEXT }, { "field", NULL, CLI_CELL_TEXT }, { "flags", NULL, CLI_CELL_TEXT },
    { "more", NULL, CLI_CELL_COUNT },
};

static void put_none(const struct finder *f, unsigned n)
{
    while (n-- > 0)
        cli_table_none(f->table);
}

static void put_head(const struct finder *f, uint32_t path, uint32_t depth, const char *kind)
{
    cli_table_count(f->table, path);
    cli_table_count(f->table, depth);
    cli_table_text(f->table, kind);
}

static void put_root(const struct finder *f, uint32_t path, uint32_t depth, const struct gcd_root *r)
{
    char *text = cli_root_label(f->d->graph, f->names, r);
    put_head(f, path, depth, "root");
    put_none(f, 2);
    cli_table_branch(f->table, depth, text);
    put_none(f, 3);
    cli_table_text(f->table, cli_root_key(r));
    if (r != NULL && r->kind == GCD_ROOT_STATIC && r->name[0] != '\0')
        cli_table_text(f->table, r->name);
    else
        cli_table_none(f->table);
    put_none(f, 2);
    free(text);
}

static void put_object(const struct finder *f, uint32_t path, uint32_t depth, uint32_t node, bool dependent)
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
    cli_table_none(f->table);
    free(text);
}

static void put_rest(const struct finder *f, uint32_t path, uint32_t depth, uint64_t more, const char *what)
{
    char text[80];
    (void)snprintf(text, sizeof text, "(%" PRIu64 " more %s)", more, what);
    put_head(f, path, depth, "rest");
    put_none(f, 2);
    cli_table_branch(f->table, depth, text);
    put_none(f, 6);
    cli_table_count(f->table, more);
}

/* ---- paths ---- */

struct chain {
    uint32_t *nodes;             /* from the object up to the one that a root holds */
    size_t n, room;
};

static bool climb(struct chain *c, const struct finder *f, const struct way *w)
{
    c->n = 0;
    for (uint32_t node = f->object; node != GCD_NODE_ROOT;) {
        if (c->n == c->room) {
            size_t room = c->room > 0 ? 2 * c->room : 64;
            uint32_t *nodes = cli_array_grow(cli_alloc(), c->nodes, c->room, room, sizeof *nodes);
            if (nodes == NULL)
                return false;
            c->nodes = nodes;
            c->room = room;
        }
        c->nodes[c->n++] = node;
        if (c->n == 1)
            node = w->via != GCD_NODE_NONE ? w->via : GCD_NODE_ROOT;
        else
            node = gcd_paths_parent(f->paths, node);
    }
    return true;
}

static bool is_value_of(const struct finder *f, uint32_t value, uint32_t key)
{
    const struct gcd_graph *g = f->d->graph;
    return gcd_graph_dependent_count(g) > 0 && !gcd_graph_refers(g, key, value);
}

/* Line K of the objects in the order in which they are shown; the middle of a long path is one line. */
static void put_chain(const struct finder *f, const struct chain *c, const struct way *w, uint32_t path, uint32_t depth)
{
    for (size_t k = 0; k < c->n; k++, depth++) {
        if (c->n > 2 * ENDS_SHOWN + 1 && k == ENDS_SHOWN) {
            size_t more = c->n - 2 * ENDS_SHOWN;
            put_rest(f, path, depth, more, "objects");
            k += more - 1;
            continue;
        }
        size_t at = f->args->view.to_root ? k : c->n - 1 - k;
        bool dependent = at == 0 ? w->dependent : at + 1 < c->n && is_value_of(f, c->nodes[at], c->nodes[at + 1]);
        put_object(f, path, depth, c->nodes[at], dependent);
    }
}

static bool put_way(const struct finder *f, struct chain *c, const struct way *w, uint32_t path)
{
    if (!climb(c, f, w))
        return false;
    size_t root = w->via != GCD_NODE_NONE ? gcd_paths_root(f->paths, w->via) : w->root;
    const struct gcd_root *r = root != SIZE_MAX ? &gcd_graph_summary(f->d->graph)->roots[root] : NULL;
    size_t lines = c->n > 2 * ENDS_SHOWN + 1 ? 2 * ENDS_SHOWN + 1 : c->n;
    if (!f->args->view.to_root)
        put_root(f, path, 0, r);
    put_chain(f, c, w, path, f->args->view.to_root ? 0 : 1);
    if (f->args->view.to_root)
        put_root(f, path, (uint32_t)lines, r);
    return true;
}

static json_t *json_head(const struct finder *f)
{
    json_t *o = cli_json_head(f->d->subject);
    json_object_set_new(o, "orientation", json_string(f->args->view.to_root ? "to_root" : "from_root"));
    cli_json_count(o, "stand_ins", gcd_paths_pseudo_roots(f->paths));
    json_object_set_new(o, "reachable", json_boolean(gcd_paths_parent(f->paths, f->object) != GCD_NODE_NONE));
    return o;
}

static enum cli_exit run(struct finder *f)
{
    size_t words = ((size_t)gcd_graph_node_count(f->d->graph) + 63) / 64;
    const struct gcd_alloc *alloc = cli_alloc();
    uint64_t *behind = cli_array_new(alloc, words, sizeof *behind), *keys = cli_array_new(alloc, words, sizeof *keys);
    struct chain chain = { .nodes = NULL };
    f->ways = cli_array_new(alloc, f->max, sizeof *f->ways);
    f->table = cli_table_new(columns, sizeof columns / sizeof *columns);
    bool ok = behind != NULL && keys != NULL && f->ways != NULL && f->table != NULL;
    if (ok) {
        find_roots(f);
        find_referrers(f, behind, keys);
    }
    for (uint32_t i = 0; ok && i < f->count; i++)
        ok = put_way(f, &chain, &f->ways[i], i + 1);
    if (ok && f->more > 0)
        put_rest(f, f->count + 1, 0, f->more, "ways to hold it");
    cli_array_free(alloc, behind, words, sizeof *behind);
    cli_array_free(alloc, keys, words, sizeof *keys);
    cli_array_free(alloc, chain.nodes, chain.room, sizeof *chain.nodes);
    if (!ok)
        return cli_no_memory(f->d->subject);
    if (f->count == 0) {
        char number[CLI_NUMBER_BYTES];
        cli_say(f->d->subject, "no root leads to the object %s, a %s", cli_object_text(f->d->graph, f->object, number),
                gcd_names_get(f->names, gcd_graph_node_type(f->d->graph, f->object)));
    }
    struct cli_titled titled = { .key = "paths", .table = f->table };
    return cli_print_tables(f->args, f->d, f->args->view.json ? json_head(f) : NULL, &titled, 1);
}

enum cli_exit cli_object_paths(const struct cli_args *args, const struct cli_dump *d, const struct gcd_names *names, const struct gcd_paths *p,
                               uint32_t object, uint32_t default_paths)
{
    uint32_t nodes = gcd_graph_node_count(d->graph), max = args->view.max_paths != 0 ? (uint32_t)args->view.max_paths : default_paths;
    size_t most = (size_t)nodes + gcd_graph_summary(d->graph)->root_count;
    struct finder f = { .args = args, .d = d, .names = names, .paths = p, .object = object, .max = max < most ? max : (uint32_t)most };
    enum cli_exit e = run(&f);
    cli_array_free(cli_alloc(), f.ways, f.max, sizeof *f.ways);
    cli_table_free(f.table);
    return e;
}
