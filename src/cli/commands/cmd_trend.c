#include <stdlib.h>

#include <gcdumpc/gcdumpc.h>

#include "args.h"
#include "commands/commands.h"
#include "commands/compare.h"
#include "exit.h"
#include "input/fail.h"
#include "output/output.h"

/* ---- the page ---- */

static enum cli_exit write_page(const struct cli_args *args, const struct cli_comparison *c,
                                struct gcd_sink *s)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_page_dump *dumps = calloc(c->side_count, sizeof *dumps);
    struct gcd_page_site *sites = NULL;
    size_t site_count = 0;
    if (cli_compares_sites(c))
        sites = cli_compare_page_sites(c, &site_count);
    if (dumps == NULL || (sites == NULL && cli_compares_sites(c))) {
        free(dumps);
        free(sites);
        return cli_no_memory(args->output.path);
    }
    for (size_t i = 0; i < c->side_count; i++)
        dumps[i] = cli_compare_page_dump(c, i);
    struct gcd_trend_page page = { .dumps = dumps,
                                   .dump_count = c->side_count,
                                   .types = c->diff,
                                   .retained = c->retained,
                                   .sites = sites,
                                   .site_count = site_count };
    gcd_status st = gcd_write_trend_page(&page, s, &err);
    free(dumps);
    free(sites);
    return st == GCD_OK ? cli_page_commit(args, s) : cli_fail(args->output.path, &err);
}

/* The page has retained sizes, because its reader cannot ask for them. */
static enum cli_exit trend_page(const struct cli_args *args)
{
    struct cli_args all = *args;
    struct cli_comparison c = { .takes_summaries = true };
    struct gcd_sink *s = NULL;
    all.view.retained = true;
    enum cli_exit e = cli_page_open(args, "trend", &s);
    if (e == CLI_DONE)
        e = cli_compare_open(&all, NULL, &c);
    if (e == CLI_DONE)
        e = write_page(args, &c, s);
    if (e == CLI_DONE)
        e = cli_compare_end(&c);
    cli_compare_close(&c);
    cli_page_close(s);
    return e;
}

enum cli_exit cmd_trend(const struct cli_args *args)
{
    struct cli_comparison c = { .takes_summaries = true };
    if (args->output.path != NULL)
        return trend_page(args);
    enum cli_exit e = cli_compare_open(args, NULL, &c);
    if (e == CLI_DONE)
        e = cli_compare_print(&c, "types", answer_trend);
    if (e == CLI_DONE)
        e = cli_compare_end(&c);
    cli_compare_close(&c);
    return e;
}
