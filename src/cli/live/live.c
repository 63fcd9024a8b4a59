/*
 * A live process as an input: its stream is kept and read by the same code as a recording.  If the
 * buffer was too small, another attempt uses a larger one; the better attempt is kept.
 */
#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/ipc_target.h>
#include <gcdumpc/unstable/process_memory.h>

#include "args.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "input/memory.h"
#include "live/clock.h"
#include "live/live.h"
#include "live/target.h"
#include "signals.h"
#include "term/message.h"

#ifdef GCDUMPC_HAVE_IPC

#include <inttypes.h>
#include <string.h>
#include <time.h>

#define GONE_MS 1000u

static uint64_t time_left_ms(const struct live *l)
{
    uint64_t all = cli_timeout_ms(l->args), spent = live_now_ms() - l->start_ms;
    return spent < all ? all - spent : 0;
}

/*
 * The buffer for another attempt after A lost events, in MiB; 0, after a message, when no other
 * attempt is possible.  Checks again how much memory the process can spare, because the attempt may
 * have changed it.
 */
static uint32_t next_buffer(const struct live *l, const struct live_attempt *a)
{
    struct gcd_ipc_budget budget;
    uint32_t mb = live_larger_buffer(l, a, (uint32_t)l->args->live.max_buffer_mb, &budget);
    if (mb == 0 && budget.limit != GCD_IPC_LIMIT_NONE)
        cli_say(l->subject,
                "events were lost, but no further attempt: %s cannot give more than %" PRIu32
                " MiB for the buffer",
                budget.limit == GCD_IPC_LIMIT_CGROUP ? "the cgroup of the process" : "the machine",
                budget.max_buffer_mb);
    else if (mb == 0)
        cli_say(l->subject,
                "events were lost, but no further attempt: the buffer already had the largest size "
                "(%" PRIu32 " MiB%s)",
                a->buffer_mb, l->args->live.max_buffer_mb != 0 ? ", --max-buffer" : "");
    else if (time_left_ms(l) == 0)
        cli_say(l->subject, "events were lost, but no further attempt: the time is up (--timeout)");
    else
        return mb;
    return 0;
}

bool live_is_alone(const struct live *l, unsigned wait_ms)
{
    uint64_t start = live_now_ms();
    while (l->pid != 0 && l->port == NULL) {
        uint32_t n = gcd_ipc_connections(l->pid, l->path);
        if (n == 0)
            return true;
        if (n == GCD_IPC_UNKNOWN || live_now_ms() - start > wait_ms || cli_canceled)
            return false;
        (void)nanosleep(&(struct timespec){ .tv_nsec = wait_ms / 20 * 1000000L }, NULL);
    }
    return false;
}

/*
 * Did the connections break while the process still lives?  Seen once in some hundred dumps, right
 * after another client was killed: the runtime ends that session at the same time.
 */
static bool lives_on(const struct live *l, const struct live_attempt *a)
{
    if (a->status != GCD_E_PEER || a->err.reason != GCD_ERROR_GONE || l->pid == 0 ||
        l->port != NULL)
        return false;
    /* a dying process is still there for a moment */
    (void)nanosleep(&(struct timespec){ .tv_nsec = GONE_MS / 5 * 1000000L }, NULL);
    return gcd_ipc_resident(l->pid) > 0;
}

/* The buffer for another attempt after NOW, in MiB; 0 when none is needed or, after a message, when
 * none is possible. */
static uint32_t again(const struct live *l, const struct live_attempt *now)
{
    if (now->number > l->args->live.retries || cli_canceled ||
        now->refusal.code !=
            GCD_OK) /* data was wrong, not lost, so a larger buffer does not help */
        return 0;
    if (now->status != GCD_OK)
        return lives_on(l, now) && time_left_ms(l) > 0 ? now->buffer_mb : 0;
    if (live_attempt_lost(now))
        return next_buffer(l, now);
    /* A killed client keeps its session, and the types described to it, until the runtime next
     * sends something to it; the heap walk of the attempt did. */
    bool gone = live_attempt_undescribed(now) && live_is_alone(l, GONE_MS) && time_left_ms(l) > 0;
    return gone ? now->buffer_mb : 0;
}

static void swap(struct live_attempt *a, struct live_attempt *b)
{
    struct live_attempt other = *a;
    *a = *b;
    *b = other;
}

/* Makes attempts until one is complete or another would not help; BEST gets the best. */
static void attempts(const struct live *l, uint32_t buffer_mb, struct live_attempt *best)
{
    for (unsigned number = 1; buffer_mb != 0; number++) {
        struct live_attempt now = { .number = number, .buffer_mb = buffer_mb };
        if (number == 1)
            live_attempt_run(l, &now, l->budget.most_bytes, cli_timeout_ms(l->args));
        else /* the estimate was wrong, so the stream has no known bound */
            live_attempt_run(l, &now, 0, time_left_ms(l) + 1); /* 0 would mean no limit */
        bool figures = now.status == GCD_OK && !l->args->quiet;
        if (figures && number > 1)
            live_say_attempt(l, &now);
        buffer_mb = again(l, &now);
        if (figures && number == 1 && buffer_mb != 0) /* else the summary says the same */
            live_say_attempt(l, &now);
        if (buffer_mb != 0 && now.status != GCD_OK)
            cli_say(l->subject,
                    "the process closed the connections but is still running; attempt %u",
                    number + 1);
        else if (buffer_mb != 0 && live_attempt_lost(&now))
            cli_say(l->subject, "events were lost; attempt %u with a buffer of %" PRIu32 " MiB",
                    number + 1, buffer_mb);
        else if (buffer_mb != 0)
            cli_say(l->subject,
                    "the types had been reported to another tool that is now gone; attempt %u",
                    number + 1);
        if (number == 1 || now.status == GCD_E_CANCELED || live_attempt_better(&now, best))
            swap(best, &now);
        else if (now.status != GCD_OK)
            cli_say(l->subject, "attempt %u failed: %s; attempt %u is kept", number, now.err.msg,
                    best->number);
        else if (!l->args->quiet)
            cli_say(l->subject, "attempt %u is kept", best->number);
        live_attempt_done(&now);
    }
}

/* Moves the input and the dump of the chosen attempt to RET. */
static enum cli_exit take(const struct live *l, struct live_attempt *a, struct cli_dump *ret)
{
    enum cli_exit e = a->status == GCD_OK ? CLI_DONE : cli_fail(l->subject, &a->err);
    bool partial = l->args->live.keep_partial && a->status != GCD_OK &&
                   a->status != GCD_E_CANCELED && a->result.stream_bytes > 0;
    ret->received = a->ended || partial;
    ret->core3 = a->result.core3;
    ret->input = a->spool;
    ret->dump = a->dump;
    memcpy(ret->no_values, a->no_values, sizeof ret->no_values);
    if (a->status == GCD_OK && live_attempt_lost(a))
        (void)live_after_loss(l, a, ret->remedy);
    a->spool = NULL;
    a->dump = NULL;
    return partial && a->usable ? CLI_DONE : e;
}

/* Records the memory of the process before the first attempt, whose garbage collection and buffer
 * change it. */
void live_keep_memory(const struct live *l, struct gcd_dump *d)
{
    struct gcd_process_memory m;
    struct gcd_error err = GCD_ERROR_INIT;
    if (l->mappings == NULL)
        return;
    const struct gcd_summary *s = gcd_dump_summary(d);
    gcd_ipc_mappings_memory(l->mappings, s->ranges, s->range_count, &m);
    if (gcd_dump_set_process_memory(d, &m, &err) != GCD_OK)
        cli_say(l->subject, "%s", err.msg);
    const char *problem = gcd_ipc_mappings_problem(l->mappings);
    if (problem[0] != '\0' && !l->args->quiet)
        cli_say(l->subject, "cannot tell how much of its memory is the GC heap: %s", problem);
}

/* *RET_DONE: do not try another way. */
static enum cli_exit open_directly(struct live *l, struct cli_dump *ret, bool *ret_done)
{
    const struct cli_args *args = l->args;
    struct gcd_error err = GCD_ERROR_INIT;
    *ret_done = true;
    enum cli_exit e = args->live.lock != NULL
                          ? CLI_DONE
                          : live_lock_take(args, l->subject, l->pid, l->path, &l->lock);
    gcd_status st = e == CLI_DONE ? live_take_directly(l, ret, &err) : GCD_OK;
    live_lock_release(&l->lock);
    if (st == GCD_OK)
        return e;
    if (cli_is_direct(args) || st == GCD_E_CANCELED || cli_canceled)
        return live_fail_directly(l, st, &err);
    *ret_done = false;
    gcd_input_free(ret->input);
    ret->input = NULL;
    ret->asked = false;
    cli_say(l->subject, "its memory cannot be read (%s); asking the process for its heap", err.msg);
    return CLI_DONE;
}

enum cli_exit cli_open_live(const struct cli_args *args, const struct gcd_dump_options *options,
                            bool reread, const char *spool_dir, struct cli_dump *ret)
{
    struct live l = { .args = args,
                      .options = options,
                      .spool_dir = reread || args->live.save_trace != NULL ? spool_dir : NULL };
    struct live_attempt best = { .number = 0 };
    uint32_t buffer_mb;
    enum cli_exit e = args->target.listen != NULL ? cli_listen_open(args, ret)
                                                  : cli_find_target(args, ret, l.path);
    if (e != CLI_DONE)
        return e;
    l.subject = ret->subject;
    l.port = ret->port;
    l.pid = ret->pid;
    if (cli_is_direct(args) || args->live.direct_first) {
        bool done;
        e = open_directly(&l, ret, &done);
        if (done)
            return e;
    }
    e = live_preflight(&l, &buffer_mb);
    if (e == CLI_DONE) {
        if (l.pid == 0 || gcd_ipc_mappings_new(l.pid, cli_alloc(), &l.mappings, NULL) != GCD_OK)
            l.mappings = NULL; /* the summary says that its memory is unknown */
        l.start_ms = live_now_ms();
        ret->asked = true;
        cli_deadline(0); /* attempts end by themselves, and say what they waited for */
        attempts(&l, buffer_mb, &best);
        if (best.usable)
            live_keep_memory(&l, best.dump);
        if (best.usable && !args->quiet && (best.status == GCD_OK || args->live.keep_partial))
            live_say_summary(&l, &best);
        e = take(&l, &best, ret);
    }
    live_attempt_done(&best);
    live_lock_release(&l.lock);
    gcd_ipc_mappings_free(l.mappings);
    return e;
}

#else

enum cli_exit cli_open_live(const struct cli_args *args, const struct gcd_dump_options *options,
                            bool reread, const char *spool_dir, struct cli_dump *ret)
{
    (void)args;
    (void)options;
    (void)reread;
    (void)spool_dir;
    return cli_no_ipc(ret->subject);
}

#endif
