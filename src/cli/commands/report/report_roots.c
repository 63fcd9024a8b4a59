#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/root_sets.h>

#include "commands/report/report.h"
#include "exit.h"
#include "input/input.h"
#include "output/root_labels.h"

static const struct cli_column columns[] = {
    { "roots", "Roots", CLI_CELL_COUNT },
    { "objects", NULL, CLI_CELL_COUNT },
    { "bytes", "Reached", CLI_CELL_BYTES },
    { "retained_objects", NULL, CLI_CELL_COUNT },
    { "retained_bytes", "Retained", CLI_CELL_BYTES },
    { "claimed_objects", NULL, CLI_CELL_COUNT },
    { "claimed_bytes", "Claimed", CLI_CELL_BYTES },
    { "claimed_share", "Share", CLI_CELL_SHARE },
    { "group", NULL, CLI_CELL_TEXT },
    { "name", "Kind of root", CLI_CELL_TEXT },
};
#define RETAINED_FIRST 1u /* columns of --retained */
#define RETAINED_LAST  7u
#define COLUMN_COUNT   (sizeof columns / sizeof *columns)

static void put_pair(struct cli_table *t, bool known, uint64_t objects, uint64_t bytes)
{
    if (known) {
        cli_table_count(t, objects);
        cli_table_count(t, bytes);
    } else {
        cli_table_none(t);
        cli_table_none(t);
    }
}

/* The numbers that a row has: objects that no single kind of root holds lack some. */
enum { HAS_ROOTS = 1, HAS_RETAINED = 2, HAS_CLAIMED = 4, HAS_ALL = 7 };

static void put_row(const struct report *r, struct cli_table *t, const struct gcd_root_set *s,
                    unsigned has, const char *group, const char *name)
{
    if (has & HAS_ROOTS)
        cli_table_count(t, s->roots);
    else
        cli_table_none(t);
    if (r->args->view.retained) {
        put_pair(t, has & HAS_ROOTS, s->objects, s->bytes);
        put_pair(t, has & HAS_RETAINED, s->retained_objects, s->retained_bytes);
        put_pair(t, has & HAS_CLAIMED, s->claimed_objects, s->claimed_bytes);
        if (has & HAS_CLAIMED)
            cli_table_share(t, s->claimed_bytes, cli_summary(&r->d)->bytes);
        else
            cli_table_none(t);
    }
    if (group != NULL)
        cli_table_text(t, group);
    else
        cli_table_none(t);
    cli_table_text(t, name);
}

static void put_rows(const struct report *r, struct cli_table *t, const struct gcd_root_sets *s)
{
    const struct gcd_summary *summary = cli_summary(&r->d);
    uint64_t objects = summary->objects, bytes = summary->bytes;
    struct gcd_root_set several = { .retained_objects = s->shared_objects,
                                    .retained_bytes = s->shared_bytes };
    struct gcd_root_set none = { .retained_objects = s->unreachable_objects,
                                 .retained_bytes = s->unreachable_bytes,
                                 .claimed_objects = s->unreachable_objects,
                                 .claimed_bytes = s->unreachable_bytes };
    struct gcd_root_set total = {
        s->pseudo_roots.roots, objects, bytes, objects, bytes, objects, bytes
    };
    for (unsigned i = 0; i < GCD_GROUPS; i++) {
        total.roots += s->groups[i].roots;
        const struct gcd_root_label *label = gcd_root_group_label((enum gcd_root_group)i);
        if (s->groups[i].roots > 0)
            put_row(r, t, &s->groups[i], HAS_ALL, label->key, label->one);
    }
    if (s->pseudo_roots.roots > 0)
        put_row(r, t, &s->pseudo_roots, HAS_ALL, cli_root_key(NULL), "(no root recorded)");
    if (s->shared_objects > 0)
        put_row(r, t, &several, HAS_RETAINED, "several", "(several kinds together)");
    if (s->unreachable_objects > 0)
        put_row(r, t, &none, HAS_RETAINED | HAS_CLAIMED, "none", "(no root)");
    cli_table_sums(t);
    put_row(r, t, &total, HAS_ALL, NULL, "total");
}

enum cli_exit report_root_table(struct report *r, struct cli_table **ret)
{
    size_t n = 0;
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if (r->args->view.retained || i < RETAINED_FIRST || i > RETAINED_LAST)
            r->columns[n++] = columns[i];
    *ret = cli_table_new(r->columns, n);
    put_rows(r, *ret, &r->h->root_sets);
    return CLI_DONE;
}
