#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/commands.h"
#include "job/job.h"
#include "signals.h"
#include "term/message.h"
#include "term/progress.h"
#include "watch/watch.h"

#ifdef GCDUMPC_HAVE_IPC

#define URGENT_NICE (-10)

static bool lives(uint32_t pid)
{
    return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

/* One dump to OUTPUT; NULL: only the summary. */
static enum cli_exit dump_to(const struct cli_args *args, const char *output, bool summary)
{
    struct cli_args one = *args;
    one.output.path = output == args->output.default_path ? one.output.default_path : output;
    if (!summary)
        one.output.summary = NULL;
    if (one.output.path == NULL) /* these are about files of an output */
        one.job.keep = one.job.keep_days = one.job.max_total_bytes = 0;
    enum cli_exit e = cmd_collect(&one);
    cli_progress_end();
    return e;
}

/* All dumps of the process, the most important first. */
static enum cli_exit dump_all(const struct cli_args *args, uint32_t pid)
{
    const char *const *outputs = args->watch.outputs;
    bool summary = args->output.summary != NULL, has_summary = false;
    enum cli_exit worst = CLI_DONE;
    if (!summary && outputs[0] == NULL)
        return dump_to(args, args->output.default_path, false);
    if (summary && (args->watch.summary_first || outputs[0] == NULL)) {
        worst = dump_to(args, NULL, true);
        has_summary = worst != CLI_FAILED;
    }
    for (size_t i = 0;
         i < CLI_OUTPUTS_MAX && outputs[i] != NULL && lives(pid) && !atomic_load(&cli_canceled);
         i++) {
        enum cli_exit e = dump_to(args, outputs[i], summary && !has_summary);
        has_summary = has_summary || (summary && e != CLI_FAILED);
        worst = job_worse(worst, e);
    }
    if (summary && !has_summary && outputs[0] != NULL && lives(pid) &&
        !atomic_load(&cli_canceled)) {
        cli_say(NULL, "no output was written; trying the summary alone");
        (void)dump_to(args, NULL, true);
    }
    return worst;
}

/* The dump, in the child. */
static void run(const struct cli_args *args, uint32_t pid, bool direct_only)
{
    struct cli_args one = *args;
    one.target = (struct cli_target_args){ .pid = pid };
    one.watch.when[0] = NULL; /* it was true */
    one.live.urgent = true;
    if (args->job.nice == 0) /* before the process itself; without the right to it, beside it */
        (void)setpriority(PRIO_PROCESS, 0, URGENT_NICE);
    if (direct_only)
        one.live.direct = true;
    else
        one.live.direct_first = args->live.strategy == CLI_STRATEGY_AUTO && !cli_is_direct(args);
    enum cli_exit e = dump_all(&one, pid);
    if (atomic_load(&cli_canceled) && !atomic_load(&cli_timed_out) && e != CLI_DONE &&
        e != CLI_INCOMPLETE)
        e = CLI_INTERRUPTED;
    exit((int)e);
}

enum cli_exit watch_child_start(const struct cli_args *args, uint32_t pid, bool direct_only,
                                struct watch_child *ret)
{
    int ends[2];
    *ret = (struct watch_child){ .end = -1 };
    if (pipe2(ends, O_CLOEXEC) != 0)
        return cli_error(CLI_FAILED, NULL, "cannot start a dump: %s", strerror(errno));
    (void)fflush(NULL);
    /* we have no other threads, so a child that is only forked can do everything */
    pid_t child = fork();
    if (child == 0) {
        (void)setpgid(0, 0); /* Ctrl-C reaches only us, and we tell it */
        (void)close(ends[0]);
        run(args, pid, direct_only);
    }
    (void)close(ends[1]);
    if (child < 0) {
        (void)close(ends[0]);
        return cli_error(CLI_FAILED, NULL, "cannot start a dump: %s", strerror(errno));
    }
    *ret = (struct watch_child){ .pid = child, .end = ends[0] };
    return CLI_DONE;
}

bool watch_child_ended(struct watch_child *c, enum cli_exit *ret)
{
    int status = 0;
    if (c->pid == 0 || waitpid(c->pid, &status, WNOHANG) != c->pid)
        return false;
    (void)close(c->end);
    *c = (struct watch_child){ .end = -1 };
    *ret = WIFEXITED(status) ? (enum cli_exit)WEXITSTATUS(status) : CLI_FAILED;
    if (WIFSIGNALED(status))
        cli_say(NULL, "the dump was ended by signal %d", WTERMSIG(status));
    return true;
}

#endif
