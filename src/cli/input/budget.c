/*
 * --memory: opens the budget, compares it with the estimate, and reports what will happen.
 */
#include <stdlib.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/estimate.h>
#include <gcdumpc/unstable/spill.h>

#include "args.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "input/memory.h"
#include "term/message.h"
#include "term/term.h"

static uint64_t budget;

enum cli_exit cli_memory_open(const struct cli_args *args)
{
    static const char *folders[4];
    const char *tmpdir = getenv("TMPDIR");
    size_t n = 0;
    struct gcd_error err = GCD_ERROR_INIT;
    if (args->limits.memory_bytes == 0 || cli_memory_spill() != NULL)
        return CLI_DONE;
    if (args->limits.spill_dir != NULL) {
        folders[n++] = args->limits.spill_dir;
    } else {
        if (tmpdir != NULL && tmpdir[0] != '\0')
            folders[n++] = tmpdir;
        folders[n++] = "/var/tmp";
    }
    folders[n] = NULL;
    budget = args->limits.memory_bytes;
    struct gcd_spill_options options = { .budget_bytes = budget, .folders = folders };
    struct gcd_spill *spill;
    if (gcd_spill_new(&options, &spill, &err) != GCD_OK)
        return cli_fail(NULL, &err);
    cli_memory_use(spill);
    return CLI_DONE;
}

const char *cli_workload_name(enum gcd_workload workload)
{
    static const char *const names[GCD_WORKLOADS] = {
        [GCD_FOR_GRAPH] = "graph", [GCD_FOR_PATHS] = "paths", [GCD_FOR_RETAINED] = "retained",
        [GCD_FOR_LEAKS] = "leaks", [GCD_FOR_PAGE] = "page",   [GCD_FOR_DIFF] = "diff",
    };
    return names[workload];
}

uint64_t cli_estimate(const struct cli_dump *d, enum gcd_workload workload)
{
    return gcd_estimate(cli_summary(d), workload);
}

static enum gcd_workload workload_of(enum cli_need need)
{
    switch (need) {
    case CLI_NEED_PATHS:
        return GCD_FOR_PATHS;
    case CLI_NEED_RETAINED:
        return GCD_FOR_RETAINED;
    case CLI_NEED_LEAKS:
        return GCD_FOR_LEAKS;
    case CLI_NEED_PAGE:
        return GCD_FOR_PAGE;
    case CLI_NEED_DIFF:
        return GCD_FOR_DIFF;
    default:
        return GCD_FOR_GRAPH;
    }
}

enum cli_exit cli_memory_plan(const struct cli_args *args, const struct cli_dump *d,
                              enum cli_need need)
{
    struct gcd_error err = GCD_ERROR_INIT;
    char a[CLI_NUMBER_BYTES], b[CLI_NUMBER_BYTES];
    const char *folder;
    struct gcd_spill *spill = cli_memory_spill();
    if (spill == NULL ||
        d->dump == NULL) /* the objects of a graph file are not counted before they are read */
        return CLI_DONE;
    uint64_t bytes = cli_estimate(d, workload_of(need));
    if (gcd_spill_check(spill, bytes, &folder, &err) != GCD_OK)
        return cli_error(
            CLI_FAILED, d->subject,
            "needs about %s bytes of memory, and the part above --memory %s cannot be spilled: %s",
            cli_number(bytes, true, a), cli_number(budget, true, b), err.msg);
    if (folder != NULL && !args->quiet)
        cli_say(d->subject,
                "needs about %s bytes of memory, more than --memory %s: the large part goes to "
                "temporary files in %s",
                cli_number(bytes, true, a), cli_number(budget, true, b), folder);
    return CLI_DONE;
}
