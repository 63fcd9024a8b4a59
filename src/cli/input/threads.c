#include <sched.h>

#include "args.h"
#include "input/input.h"

/* What threads pass on to each other takes some megabytes, and of a smaller budget too much. */
#define WORTH_THREADS (UINT64_C(64) << 20)

unsigned cli_threads(const struct cli_args *args)
{
    cpu_set_t ours;
    if (args->limits.threads != 0)
        return (unsigned)args->limits.threads;
    if (args->limits.memory_bytes != 0 && args->limits.memory_bytes < WORTH_THREADS)
        return 1;
    /* of a machine with more than 1024 the call fails: none of what is done here wants as many */
    int cores = sched_getaffinity(0, sizeof ours, &ours) == 0 ? CPU_COUNT(&ours) : CLI_THREADS_MAX;
    return cores < CLI_THREADS_MAX ? (unsigned)cores : CLI_THREADS_MAX;
}
