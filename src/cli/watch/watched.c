#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>

#include "input/fail.h"
#include "term/message.h"
#include "watch/watch.h"

#ifdef GCDUMPC_HAVE_IPC

/* Near a limit; reading costs a few microseconds. */
#define LEAST_MS 20u
/* Far from it.  A limit can be lowered meanwhile. */
#define MOST_MS 5000u
/* While the kernel wakes us.  It does not count memory that another cgroup had to pay for, and it
 * wakes us too late when other memory of the cgroup becomes free meanwhile. */
#define KERNEL_MS       5000u
#define KERNEL_LEAST_MS 100u
/* Looks that can wait are put together: each wake-up of the watcher costs more than a look. */
#define TOGETHER_MS 1000u
/* After a failed dump, doubled with each one up to the cool-down. */
#define AGAIN_MS 10000u

bool watched_begin(struct watched *w, const struct gcd_ipc_process *p)
{
    struct gcd_error err = GCD_ERROR_INIT;
    *w = (struct watched){ .pid = p->pid, .child.end = -1 };
    const char *name = p->entry_assembly[0] != '\0' ? p->entry_assembly
                       : p->exe[0] != '\0'          ? p->exe
                                                    : p->name;
    (void)snprintf(w->name, sizeof w->name, "%s", name);
    (void)snprintf(w->subject, sizeof w->subject, "process %" PRIu32 " (%s)", w->pid, w->name);
    w->direct_only = p->reason == GCD_ERROR_NO_SOCKET;
    w->foreign = p->reason == GCD_ERROR_PERMISSION;
    gcd_status st = gcd_ipc_watch_new(p->pid, NULL, &w->watch, &err);
    if (st != GCD_OK && err.reason != GCD_ERROR_NO_PROCESS)
        (void)cli_fail(w->subject, &err);
    return st == GCD_OK;
}

void watched_end(struct watched *w)
{
    gcd_ipc_watch_free(w->watch);
    w->watch = NULL;
    w->ended = true;
}

/* ---- growth ---- */

/* Keeps its memory, as often as the longest window needs. */
static void keep_sample(struct watched *w, uint64_t window_ms, uint64_t now_ms)
{
    size_t last = (w->sample_next + WATCH_SAMPLES - 1) % WATCH_SAMPLES;
    if (w->sample_count > 0 && now_ms - w->samples[last].ms < window_ms / (WATCH_SAMPLES - 2))
        return;
    w->samples[w->sample_next] =
        (struct watch_sample){ .ms = now_ms, .rss_bytes = w->values.now.rss_bytes };
    w->sample_next = (w->sample_next + 1) % WATCH_SAMPLES;
    w->sample_count += w->sample_count < WATCH_SAMPLES;
}

/* Its memory WINDOW_MS ago, or at the first sample after that. */
static uint64_t before(const struct watched *w, uint64_t window_ms, uint64_t now_ms)
{
    size_t first = (w->sample_next + WATCH_SAMPLES - w->sample_count) % WATCH_SAMPLES;
    uint64_t bytes = 0;
    for (size_t i = 0; i < w->sample_count; i++) {
        const struct watch_sample *s = &w->samples[(first + i) % WATCH_SAMPLES];
        bool inside = now_ms - s->ms <= window_ms;
        if (inside && bytes != 0)
            break; /* the last one before the window */
        bytes = s->rss_bytes;
        if (inside)
            break;
    }
    return bytes;
}

static void fill_growth(struct watched *w, const struct cli_whens *whens, uint64_t now_ms)
{
    if (whens->window_ms == 0)
        return;
    keep_sample(w, whens->window_ms, now_ms);
    for (size_t i = 0; i < whens->count; i++)
        for (size_t k = 0; k < whens->items[i].count; k++) {
            uint64_t window = whens->items[i].tests[k].window_ms;
            w->values.before_bytes[i][k] = window != 0 ? before(w, window, now_ms) : 0;
        }
}

/* ---- when to look ---- */

static uint64_t between(uint64_t least, uint64_t n, uint64_t most)
{
    return n < least ? least : n > most ? most : n;
}

/* When its memory is read although the kernel wakes us: halfway to the limit, as fast as it has
 * grown since the last look. */
static uint64_t without_kernel_ms(struct watched *w, uint64_t to_go_bytes, uint64_t now_ms)
{
    struct watch_sample last = w->last,
                        now = { .ms = now_ms, .rss_bytes = w->values.now.rss_bytes };
    w->last = now;
    if (last.rss_bytes == 0 || now.rss_bytes <= last.rss_bytes)
        return KERNEL_MS;
    double left_ms =
        (double)to_go_bytes / (double)(now.rss_bytes - last.rss_bytes) * (double)(now.ms - last.ms);
    return left_ms / 2 < KERNEL_MS ? between(KERNEL_LEAST_MS, (uint64_t)(left_ms / 2), KERNEL_MS)
                                   : KERNEL_MS;
}

/* Arms the kernel, and says when the memory is read without it. */
static void plan(struct watched *w, const struct cli_whens *whens, uint64_t now_ms)
{
    uint64_t quiet = cli_whens_quiet_ms(whens, &w->values);
    uint64_t to_go = cli_whens_growth_bytes(whens, &w->values);
    bool kernel_wakes =
        gcd_ipc_watch_arm(w->watch, to_go, (whens->parts & GCD_IPC_WATCH_PRESSURE) != 0);
    uint64_t wait = without_kernel_ms(w, to_go, now_ms);
    if (!kernel_wakes)
        wait = between(LEAST_MS, quiet, MOST_MS);
    /* the samples of growth must be there */
    if (whens->window_ms != 0)
        wait = between(LEAST_MS, wait, between(LEAST_MS, whens->window_ms / WATCH_SAMPLES, wait));
    w->next_ms = now_ms + wait;
    if (wait > 2 * TOGETHER_MS)
        w->next_ms -= w->next_ms % TOGETHER_MS;
}

void watched_look(struct watched *w, const struct cli_args *args, const struct cli_whens *whens,
                  uint64_t now_ms)
{
    char text[300];
    if (!gcd_ipc_watch_read(w->watch, whens->parts, &w->values.now)) {
        w->next_ms = now_ms + LEAST_MS; /* it is ending */
        return;
    }
    fill_growth(w, whens, now_ms);
    const struct cli_when *met = cli_whens_true(whens, &w->values);
    if (met == NULL || w->child.pid != 0) {
        plan(w, whens, now_ms);
        return;
    }
    if (now_ms < w->quiet_ms) {
        w->next_ms = now_ms + between(LEAST_MS, w->quiet_ms - now_ms, MOST_MS);
        return;
    }
    cli_when_say(met, &w->values, text, sizeof text);
    if (!args->quiet)
        cli_say(w->subject, "%s: %s; it is dumped", met->text, text);
    if (watch_child_start(args, w->pid, w->direct_only, &w->child) != CLI_DONE)
        watched_dumped(w, args, CLI_FAILED, now_ms);
    w->next_ms = now_ms + MOST_MS;
}

void watched_dumped(struct watched *w, const struct cli_args *args, enum cli_exit e,
                    uint64_t now_ms)
{
    uint64_t cooldown_ms = args->watch.cooldown_s * 1000, wait = cooldown_ms;
    if (e == CLI_DONE || e == CLI_INCOMPLETE) {
        w->failures = 0;
    } else {
        unsigned doubled = w->failures < 16 ? w->failures : 16;
        w->failures++;
        wait = (uint64_t)AGAIN_MS << doubled;
        wait = wait < cooldown_ms ? wait : cooldown_ms;
    }
    w->dumps++;
    w->quiet_ms = now_ms + wait;
    w->next_ms = now_ms;
}

#endif
