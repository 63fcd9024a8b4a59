#include <sched.h>
#include <sys/random.h>

#include "args.h"
#include "input/input.h"
#include "input/memory.h"
#include "signals.h"
#include "term/progress.h"

static unsigned thread_count(const struct cli_args *args)
{
    cpu_set_t ours;
    if (args->limits.threads != 0)
        return (unsigned)args->limits.threads;
    /* the call fails on a machine with more than 1024 processors; nothing here can use that many */
    int cores = sched_getaffinity(0, sizeof ours, &ours) == 0 ? CPU_COUNT(&ours) : CLI_THREADS_MAX;
    return cores < CLI_THREADS_MAX ? (unsigned)cores : CLI_THREADS_MAX;
}

struct gcd_context cli_context(const struct cli_args *args, const char *verb)
{
    return (struct gcd_context){ .alloc = cli_alloc(),
                                 .limits = &args->limits.input,
                                 .cancel = &cli_canceled,
                                 .threads = thread_count(args),
                                 .progress = verb != NULL ? cli_progress : NULL,
                                 .progress_ctx = (void *)(uintptr_t)verb };
}

struct gcd_context cli_context_steps(const struct cli_args *args, const char *verb)
{
    struct gcd_context c = cli_context(args, verb);
    c.progress = cli_progress_steps;
    return c;
}

struct gcd_values_view cli_values_view(const struct cli_args *args, const struct cli_dump *d)
{
    static const enum gcd_values_show shows[] = {
        [CLI_VALUES_HIDDEN] = GCD_SHOW_EQUAL,
        [CLI_VALUES_MASKED] = GCD_SHOW_MASKED,
        [CLI_VALUES_RAW] = GCD_SHOW_RAW,
    };
    return (struct gcd_values_view){ .values = d->dump != NULL ? gcd_dump_values(d->dump) : NULL,
                                     .show = shows[args->view.values],
                                     .memory = d->input };
}

gcd_status cli_random_key(uint8_t ret[GCD_VALUES_KEY_BYTES], struct gcd_error *err)
{
    if (getrandom(ret, GCD_VALUES_KEY_BYTES, 0) == GCD_VALUES_KEY_BYTES)
        return GCD_OK;
    *err = (struct gcd_error){ .code = GCD_E_IO,
                               .off = GCD_OFF_NONE,
                               .msg = "the system gives no random key for hashes" };
    return GCD_E_IO;
}
