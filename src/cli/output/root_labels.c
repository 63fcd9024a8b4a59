#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/static_names.h>
#include <gcdumpc/unstable/text/plural.h>

#include "args.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/input.h"
#include "output/filter.h"
#include "output/json_out.h"
#include "output/root_labels.h"
#include "term/message.h"
#include "term/term.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *cli_root_key(const struct gcd_root *r)
{
    return r != NULL ? gcd_root_group_label(gcd_root_group(r))->key : "stand_in";
}

char *cli_root_label(const struct gcd_graph *g, const struct gcd_names *names,
                     const struct gcd_root *r)
{
    if (r == NULL)
        return strdup("(no root recorded)");
    const char *group = gcd_root_group_label(gcd_root_group(r))->one;
    const struct gcd_static_words w = gcd_static_words(g, names, r);
    if (w.label[0][0] == '\0')
        return strdup(group);
    char *text = NULL;
    int n = asprintf(&text, "%s %s%s%s", group, w.label[0], w.label[1], w.label[2]);
    return n >= 0 ? text : NULL;
}

static void put_text(struct cli_table *t, const char *text)
{
    if (text[0] != '\0')
        cli_table_text(t, text);
    else
        cli_table_none(t);
}

void cli_static_cells(struct cli_table *t, const struct gcd_graph *g, const struct gcd_names *names,
                      const struct gcd_root *r)
{
    struct gcd_static_words w = { "", { "", "", "" } };
    char *label = NULL;
    if (r != NULL)
        w = gcd_static_words(g, names, r);
    put_text(t, w.class_name);
    if (w.label[0][0] == '\0') {
        cli_table_none(t);
        return;
    }
    if (asprintf(&label, "%s%s%s", w.label[0], w.label[1], w.label[2]) < 0)
        label = NULL;
    cli_table_text(t, label);
    free(label);
}

void cli_field_cell(struct cli_table *t, const struct gcd_root *r)
{
    put_text(t, r != NULL && r->kind == GCD_ROOT_STATIC ? r->name : "");
}

void cli_say_pseudo_roots(const char *subject, uint32_t n)
{
    if (n > 0)
        cli_say(subject,
                "the dump has no roots; %" PRIu32
                " object%s that nothing else refers to %s, so the results are a guess",
                n, gcd_plural(n),
                gcd_by_number(n, "serves as pseudo-root", "serve as pseudo-roots"));
}

enum cli_exit cli_match_types(const char *pattern, const struct cli_dump *d,
                              const struct gcd_names *names, uint8_t **ret)
{
    struct cli_filter *filter;
    enum cli_exit e = cli_filter_new(pattern, &filter);
    if (e == CLI_DONE)
        e = cli_filter_types(filter, d, names, ret);
    cli_filter_free(filter);
    return e;
}

const char *cli_object_text(const struct gcd_graph *g, uint32_t node, char buf[CLI_NUMBER_BYTES])
{
    bool known = !gcd_graph_notes(g)->addresses_made_up;
    (void)snprintf(buf, CLI_NUMBER_BYTES, known ? "0x%" PRIx64 : "%" PRIu64,
                   known ? gcd_graph_node_address(g, node) : (uint64_t)node);
    return buf;
}

void cli_object_address(struct cli_table *t, const struct gcd_graph *g, uint32_t node)
{
    if (gcd_graph_notes(g)->addresses_made_up)
        cli_table_none(t);
    else
        cli_table_address(t, gcd_graph_node_address(g, node));
}

/* Takes ownership of O. */
static bool print_json(json_t *o, const struct cli_dump *d, const struct cli_titled_table *tables,
                       size_t n)
{
    bool ok = o != NULL;
    for (size_t i = 0; i < n; i++)
        ok = json_object_set_new(o, tables[i].key, cli_table_json(tables[i].table)) == 0 && ok;
    ok = json_object_set_new(o, "verdict", cli_json_verdict(&cli_summary(d)->verdict)) == 0 && ok;
    if (ok)
        return cli_json_print(o, stdout) == 0;
    json_decref(o);
    errno = ENOMEM;
    return false;
}

enum cli_exit cli_print_tables(const struct cli_args *args, const struct cli_dump *d, json_t *o,
                               const struct cli_titled_table *tables, size_t n)
{
    bool ok = true;
    errno = 0;
    if (args->view.json)
        ok = print_json(o, d, tables, n);
    else
        json_decref(o);
    if (ok && !args->view.json && !args->view.csv)
        cli_mark_incomplete(stdout, d->subject, &cli_summary(d)->verdict);
    for (size_t i = 0; i < n && ok && !args->view.json; i++) {
        if (args->view.csv) {
            ok = cli_table_csv(tables[i].table, stdout);
            continue;
        }
        if (tables[i].title != NULL)
            printf("%s%s\n", i > 0 ? "\n" : "", tables[i].title);
        ok = cli_table_print(tables[i].table, stdout);
    }
    if (ok || ferror(stdout)) /* cli_flush_stdout reports failed writes */
        return CLI_DONE;
    return cli_error(CLI_FAILED, d->subject, "%s",
                     errno == ENOMEM ? "out of memory" : "cannot print the result");
}
