/*
 * The priority of a job.
 */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "args.h"
#include "exit.h"
#include "job/job.h"
#include "term/message.h"

#ifdef GCDUMPC_HAVE_IPC

/* ioprio_set(2); glibc has neither the call nor the names. */
#define IOPRIO_WHO_PROCESS 1
#define IOPRIO_CLASS_IDLE  3
#define IOPRIO_CLASS_SHIFT 13

enum cli_exit job_set_priority(const struct cli_args *args)
{
    if (args->job.nice != 0 && setpriority(PRIO_PROCESS, 0, (int)args->job.nice) != 0)
        return cli_error(CLI_FAILED, NULL, "--nice %d: %s", (int)args->job.nice, strerror(errno));
    if (args->job.io_idle && syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0,
                                     IOPRIO_CLASS_IDLE << IOPRIO_CLASS_SHIFT) != 0)
        return cli_error(CLI_FAILED, NULL, "--io-idle: %s", strerror(errno));
    return CLI_DONE;
}

#endif
