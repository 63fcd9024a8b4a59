/*
 * A dump of the memory of a process (--direct): no events, no garbage collection.
 */
#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/image.h>
#include <gcdumpc/unstable/ipc_target.h>

#include "args.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "input/memory.h"
#include "live/clock.h"
#include "live/live.h"
#include "signals.h"
#include "term/message.h"

#ifdef GCDUMPC_HAVE_IPC

#include <unistd.h>

#define NS_PER_MS     UINT64_C(1000000)
#define NS_PER_SECOND UINT64_C(1000000000)
#define BY_EVENTS                                                                      \
    "; without --direct and --max-stop the process itself sends its heap, paused for " \
    "longer"
#define BUDGET_FOR_GRAPH 2u /* of --memory, this part is for what is made of the heap */

/* How large a copy of the heap may be that stays in memory. */
static uint64_t memory_for_copy(const struct cli_args *args)
{
    const struct cli_limit_args *l = &args->limits;
    uint64_t given = l->memory_bytes != 0 ? l->memory_bytes : l->max_memory_bytes;
    struct gcd_ipc_memory m;
    gcd_ipc_memory((uint32_t)getpid(), &m);
    return given != 0 && given / BUDGET_FOR_GRAPH < m.room_bytes ? given / BUDGET_FOR_GRAPH
                                                                 : m.room_bytes;
}

static struct gcd_direct_options options_of(const struct cli_args *args)
{
    return (struct gcd_direct_options){
        .context = cli_context(args, NULL),
        .image = { .with_dead = args->dump.with_dead,
                   .values = { .kind = cli_values_wanted(args),
                               .max_string = (uint32_t)args->dump.max_string } },
        .max_stop_ns = args->live.max_stop_ms * NS_PER_MS,
        .max_stop_total_ns = args->live.max_stop_total_ms * NS_PER_MS,
        .timeout_ns = args->live.timeout_s * NS_PER_SECOND,
        .memory_bytes = memory_for_copy(args),
        .folders = cli_spill_folders(args),
        .urgent = args->live.urgent,
    };
}

gcd_status live_take_directly(struct live *l, struct cli_dump *ret, struct gcd_error *err)
{
    const struct cli_args *args = l->args;
    struct gcd_direct_result result;
    struct gcd_direct_options options = options_of(args);
    options.image.files = ret->files;
    if (gcd_ipc_mappings_new(l->pid, cli_alloc(), &l->mappings, NULL) != GCD_OK)
        l->mappings = NULL; /* the summary says that its memory is unknown */
    l->start_ms = live_now_ms();
    ret->asked = true;
    cli_deadline(0); /* it has a time limit of its own */
    gcd_status st = gcd_input_new_direct(l->pid, &options, &ret->input, &result, err);
    if (st == GCD_OK)
        st = gcd_dump_open(ret->input, l->options, &ret->dump, err);
    if (st == GCD_OK) {
        live_keep_memory(l, ret->dump);
        ret->received = true;
        if (!args->quiet)
            live_say_direct(l, ret->dump, &result, live_now_ms() - l->start_ms);
    }
    gcd_ipc_mappings_free(l->mappings);
    l->mappings = NULL;
    return st;
}

gcd_status live_estimate_directly(const struct live *l, struct gcd_direct_result *ret,
                                  struct gcd_error *err)
{
    struct gcd_direct_options options = options_of(l->args);
    return gcd_direct_estimate(l->pid, &options, ret, err);
}

enum cli_exit live_fail_directly(const struct live *l, gcd_status st, const struct gcd_error *err)
{
    if (st == GCD_E_IO && err->reason == GCD_ERROR_PERMISSION)
        return cli_error(CLI_FAILED, l->subject, "%s" BY_EVENTS, err->msg);
    if (st == GCD_E_LIMIT)
        return cli_error(CLI_FAILED, l->subject,
                         "%s; --max-stop and --max-stop-total allow more" BY_EVENTS, err->msg);
    return cli_fail(l->subject, err);
}

#endif
