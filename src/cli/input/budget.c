/*
 * --memory, or what our own cgroup has left: opens the budget, compares it with the estimate, and
 * reports what will happen.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/estimate.h>
#include <gcdumpc/unstable/ipc_target.h>
#include <gcdumpc/unstable/spill.h>

#include "args.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "input/memory.h"
#include "term/message.h"
#include "term/term.h"

static uint64_t budget;
static bool by_cgroup; /* nobody has given it */

/* What the budget does not count, the program's own tables, its code and its threads, takes at
 * least this much. */
#define BESIDE_BYTES (UINT64_C(16) << 20)

/* Of the budget, one in so many bytes stays for what is in memory when files are needed, too. */
#define PAGES_OF_FILES 2u

/* Without --memory the kernel would kill us, without a word, when our cgroup is full.  0: it has no
 * limit. */
static uint64_t budget_of_cgroup(void)
{
    struct gcd_ipc_memory m = { .cgroup_limit_bytes = 0 };
#ifdef GCDUMPC_HAVE_IPC
    gcd_ipc_memory((uint32_t)getpid(), &m);
#endif
    if (m.cgroup_limit_bytes == 0)
        return 0;
    uint64_t room =
        m.cgroup_limit_bytes > m.cgroup_used_bytes ? m.cgroup_limit_bytes - m.cgroup_used_bytes : 0;
    uint64_t kept = room / 4 > BESIDE_BYTES ? room / 4 : BESIDE_BYTES;
    return room > kept + GCD_SPILL_BUDGET_MIN ? room - kept : GCD_SPILL_BUDGET_MIN;
}

const char *const *cli_spill_folders(const struct cli_args *args)
{
    static const char *folders[4];
    const char *tmpdir = getenv("TMPDIR");
    size_t n = 0;
    if (args->limits.spill_dir != NULL) {
        folders[n++] = args->limits.spill_dir;
    } else {
        if (tmpdir != NULL && tmpdir[0] != '\0')
            folders[n++] = tmpdir;
        folders[n++] = "/var/tmp";
    }
    folders[n] = NULL;
    return folders;
}

enum cli_exit cli_memory_open(const struct cli_args *args)
{
    struct gcd_error err = GCD_ERROR_INIT;
    if (cli_memory_spill() != NULL || args->limits.max_memory_bytes != 0)
        return CLI_DONE;
    by_cgroup = args->limits.memory_bytes == 0;
    budget = by_cgroup ? budget_of_cgroup() : args->limits.memory_bytes;
    if (budget == 0)
        return CLI_DONE;
    struct gcd_spill_options options = { .budget_bytes = budget,
                                         .folders = cli_spill_folders(args) };
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

/* "--memory 40000000", or whose limit it is. */
static const char *budget_text(char text[CLI_NUMBER_BYTES + 80])
{
    char n[CLI_NUMBER_BYTES];
    (void)snprintf(text, CLI_NUMBER_BYTES + 80,
                   by_cgroup ? "the %s bytes that gcdumpc may use of its cgroup" : "--memory %s",
                   cli_number(budget, true, n));
    return text;
}

enum cli_exit cli_memory_check_live(const char *subject, uint64_t bytes)
{
    struct gcd_error err = GCD_ERROR_INIT;
    char n[CLI_NUMBER_BYTES], text[CLI_NUMBER_BYTES + 80];
    const char *folder;
    struct gcd_spill *spill = cli_memory_spill();
    if (spill == NULL || !by_cgroup || gcd_spill_check(spill, bytes, &folder, &err) == GCD_OK)
        return CLI_DONE;
    return cli_error(CLI_FAILED, subject,
                     "reading the dump could need %s bytes of memory, and the part above %s "
                     "cannot be spilled: %s; save only the events (-o x.nettrace), give gcdumpc "
                     "more memory or --spill-dir a folder on a disk; --force continues anyway",
                     cli_number(bytes, true, n), budget_text(text), err.msg);
}

enum cli_exit cli_memory_plan(const struct cli_args *args, const struct cli_dump *d,
                              enum cli_need need)
{
    struct gcd_error err = GCD_ERROR_INIT;
    char a[CLI_NUMBER_BYTES], text[CLI_NUMBER_BYTES + 80];
    const char *folder;
    struct gcd_spill *spill = cli_memory_spill();
    if (spill == NULL ||
        d->dump == NULL) /* the objects of a graph file are not counted before they are read */
        return CLI_DONE;
    uint64_t bytes = cli_estimate(d, workload_of(need));
    if (gcd_spill_check(spill, bytes, &folder, &err) != GCD_OK)
        return cli_error(
            CLI_FAILED, d->subject,
            "needs about %s bytes of memory, and the part above %s cannot be spilled: %s",
            cli_number(bytes, true, a), budget_text(text), err.msg);
    if (folder != NULL && by_cgroup) /* the cgroup pays for the pages of files, too (tests/bench) */
        gcd_spill_lower_budget(spill, budget / PAGES_OF_FILES);
    if (folder != NULL && !args->quiet)
        cli_say(d->subject,
                "needs about %s bytes of memory, more than %s: the large part goes to "
                "temporary files in %s",
                cli_number(bytes, true, a), budget_text(text), folder);
    return CLI_DONE;
}
