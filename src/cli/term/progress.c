#include <stdio.h>

#include "base/monotonic.h"
#include "term/progress.h"
#include "term/term.h"

#define FIRST_AFTER_NS   UINT64_C(1000000000)
#define AT_MOST_EVERY_NS UINT64_C(170000000)

static struct {
    bool off, checked, shown;
    uint64_t start_ns, last_ns;
    /* NULL: progress is printed */
    void (*take)(void *ctx, const char *verb, uint64_t done, uint64_t total);
    void *ctx;
} state;

void cli_progress_off(void)
{
    state.off = true;
}

void cli_progress_to(void (*take)(void *ctx, const char *verb, uint64_t done, uint64_t total),
                     void *ctx)
{
    state.take = take;
    state.ctx = ctx;
}

/* Hands progress to the taker instead of printing it, if there is one. */
static bool is_taken(const char *verb, uint64_t done, uint64_t total)
{
    if (state.take != NULL)
        state.take(state.ctx, verb, done, total);
    return state.take != NULL;
}

/* Is another line due? */
static bool is_due(void)
{
    if (state.off)
        return false;
    uint64_t now = gcd_clock_ns();
    if (!state.checked) {
        state.checked = true;
        state.off = !cli_is_terminal(stderr);
        state.start_ns = now;
        return false;
    }
    if (now - state.start_ns < FIRST_AFTER_NS || now - state.last_ns < AT_MOST_EVERY_NS)
        return false;
    state.last_ns = now;
    state.shown = true;
    return true;
}

void cli_progress(void *verb, uint64_t done_bytes, uint64_t total_bytes)
{
    char n[CLI_NUMBER_BYTES];
    if (is_taken(verb, done_bytes, total_bytes) || !is_due())
        return;
    if (total_bytes == UINT64_MAX || total_bytes == 0)
        fprintf(stderr, "\r%s: %s\033[K", (const char *)verb, cli_size(done_bytes, n));
    else
        fprintf(stderr, "\r%s: %3.0f %% of %s\033[K", (const char *)verb,
                100.0 * (double)done_bytes / (double)total_bytes, cli_size(total_bytes, n));
    fflush(stderr);
}

void cli_progress_steps(void *verb, uint64_t done, uint64_t total)
{
    if (is_taken(verb, done, total) || !is_due())
        return;
    if (total == UINT64_MAX || total == 0)
        fprintf(stderr, "\r%s\033[K", (const char *)verb);
    else
        fprintf(stderr, "\r%s: %3.0f %%\033[K", (const char *)verb,
                100.0 * (double)done / (double)total);
    fflush(stderr);
}

void cli_progress_end(void)
{
    if (state.shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr); /* before what standard output shows */
    }
    state.shown = false;
}
