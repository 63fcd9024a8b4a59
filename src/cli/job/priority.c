/*
 * The priority of a job, and its deadline.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "args.h"
#include "exit.h"
#include "job/job.h"
#include "signals.h"
#include "term/message.h"

#ifdef GCDUMPC_HAVE_IPC

/* ioprio_set(2); glibc has neither the call nor the names. */
#define IOPRIO_WHO_PROCESS 1
#define IOPRIO_CLASS_IDLE 3
#define IOPRIO_CLASS_SHIFT 13

enum cli_exit job_set_priority(const struct cli_args *args)
{
    if (args->job.nice != 0 && setpriority(PRIO_PROCESS, 0, (int)args->job.nice) != 0)
        return cli_error(CLI_FAILED, NULL, "--nice %d: %s", (int)args->job.nice, strerror(errno));
    if (args->job.io_idle && syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_CLASS_IDLE << IOPRIO_CLASS_SHIFT) != 0)
        return cli_error(CLI_FAILED, NULL, "--io-idle: %s", strerror(errno));
    return CLI_DONE;
}

static void on_alarm(int sig)
{
    (void)sig;
    atomic_store(&cli_timed_out, true);
    atomic_store(&cli_canceled, true);
}

/* Repeats each second, because a call to interrupt may begin just after the first signal. */
void job_deadline(uint64_t seconds)
{
    struct itimerval t = { .it_value.tv_sec = (time_t)seconds, .it_interval.tv_sec = 1 };
    struct sigaction a;
    if (seconds == 0)
        return;
    memset(&a, 0, sizeof a);
    a.sa_handler = on_alarm;
    sigemptyset(&a.sa_mask);
    (void)sigaction(SIGALRM, &a, NULL);
    (void)setitimer(ITIMER_REAL, &t, NULL);
}

#endif
