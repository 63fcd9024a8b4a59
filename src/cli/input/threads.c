#include <sched.h>

#include "args.h"
#include "input/input.h"

unsigned cli_threads(const struct cli_args *args)
{
    cpu_set_t ours;
    if (args->limits.threads != 0)
        return (unsigned)args->limits.threads;
    /* of a machine with more than 1024 the call fails: none of what is done here wants as many */
    int cores = sched_getaffinity(0, sizeof ours, &ours) == 0 ? CPU_COUNT(&ours) : CLI_THREADS_MAX;
    return cores < CLI_THREADS_MAX ? (unsigned)cores : CLI_THREADS_MAX;
}
