/*
 * A living process as an input: its stream is kept in a temporary file and read by the same code as a recording.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cli.h"

#ifdef GCDUMPC_HAVE_IPC

#define DEFAULT_TIMEOUT_S 3600u
#define SILENCE_MS 5000u

uint64_t cli_timeout_ms(const struct cli_args *args)
{
    return (args->timeout_s != 0 ? args->timeout_s : DEFAULT_TIMEOUT_S) * 1000;
}

struct live {
    struct gcd_input *spool;     /* NULL when the objects will not be read */
    struct gcd_dump *dump;
    bool whole;
};

/* Keep the bytes first: they cannot be had twice. */
static gcd_status on_data(void *ctx, const uint8_t *bytes, size_t n, struct gcd_error *err)
{
    struct live *l = ctx;
    gcd_status st = l->spool != NULL ? gcd_input_append(l->spool, bytes, n, err) : GCD_OK;
    if (st == GCD_OK)
        st = gcd_dump_feed(l->dump, bytes, n, err);
    if (st == GCD_END)
        l->whole = true;
    return st;
}

/*
 * Small events can be lost as well as large ones (measured, .NET 10 with a full buffer: no GCEnd came): then nothing tells the
 * end but silence.  The runtime passes its buffers on every 100 ms.
 */
static bool on_idle(void *ctx, uint64_t silent_ms)
{
    const struct live *l = ctx;
    return silent_ms >= SILENCE_MS && gcd_dump_begun(l->dump);
}

static void on_step(void *ctx, enum gcd_ipc_step step, uint64_t bytes)
{
    static const char *const verbs[] = {
        [GCD_IPC_STEP_CONNECT] = "connecting", [GCD_IPC_STEP_GC] = "waiting for the garbage collection",
        [GCD_IPC_STEP_READ] = "receiving", [GCD_IPC_STEP_STOP] = "stopping", [GCD_IPC_STEP_DONE] = "done",
    };
    (void)ctx;
    cli_progress((void *)(uintptr_t)verbs[step], bytes, UINT64_MAX);
}

enum cli_exit cli_open_live(const struct cli_args *args, const struct gcd_dump_options *options, bool reread,
                            const char *spool_dir, struct cli_dump *ret)
{
    char path[GCD_IPC_PATH_MAX];
    struct gcd_error err = GCD_ERROR_INIT;
    struct live l = { .whole = false };
    struct gcd_input_options input_options = { .reread = true, .spool_dir = spool_dir };
    enum cli_exit e = cli_find_target(args, ret, path);
    if (e != CLI_DONE)
        return e;
    gcd_status st = GCD_OK;
    if (reread || args->save_trace != NULL)
        st = gcd_input_new_spool(&input_options, &ret->input, &err);
    if (st == GCD_OK)
        st = gcd_dump_new(options, &ret->dump, &err);
    if (st != GCD_OK)
        return cli_fail(ret->subject, &err);
    l.spool = ret->input;
    l.dump = ret->dump;
    static const enum gcd_ipc_strategy strategies[] = {
        [CLI_STRATEGY_AUTO] = GCD_IPC_STRATEGY_AUTO, [CLI_STRATEGY_SINGLE] = GCD_IPC_STRATEGY_SINGLE,
        [CLI_STRATEGY_DRAIN] = GCD_IPC_STRATEGY_DRAIN,
    };
    struct gcd_ipc_collect_result result;
    struct gcd_ipc_collect_options collect = {
        .socket_path = ret->port == NULL ? path : NULL, .port = ret->port, .strategy = strategies[args->strategy], .ranges = !args->no_ranges,
        .buffer_mb = (uint32_t)args->buffer_mb, .rundown = args->rundown,
        .timeout_ms = cli_timeout_ms(args), .on_data = on_data, .on_step = on_step, .on_idle = on_idle,
        .ctx = &l, .cancel = &cli_canceled,
    };
    st = gcd_ipc_collect(&collect, &result, &err);
    cli_progress_end();
    if (st == GCD_E_PEER && l.whole) {
        /* the heap was walked to its end; what is missing behind it, the verdict says */
        cli_say(ret->subject, "%s", err.msg);
        st = GCD_OK;
    }
    if (st != GCD_OK)
        return cli_fail(ret->subject, &err);
    ret->received = true;
    st = gcd_dump_close(ret->dump, ret->input, &err);
    return st == GCD_OK ? CLI_DONE : cli_fail(ret->subject, &err);
}

#else

enum cli_exit cli_open_live(const struct cli_args *args, const struct gcd_dump_options *options, bool reread,
                            const char *spool_dir, struct cli_dump *ret)
{
    (void)args;
    (void)options;
    (void)reread;
    (void)spool_dir;
    return cli_no_ipc(ret->subject);
}

#endif
