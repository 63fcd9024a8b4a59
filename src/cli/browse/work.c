/* Runs work that takes a moment or minutes while the terminal stays responsive. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "browse/ui.h"
#include "input/input.h"
#include "signals.h"

/* Delay before the first progress line, so that short work does not flicker and a key is answered
 * within 50 ms; then its interval. */
#define FIRST_MS 30
#define NEXT_MS  150

struct work {
    ui_work_fn work;
    void *ctx;
    struct gcd_context call;
    gcd_cancel_flag cancel;
    _Atomic uint64_t done, total;
    int ready; /* eventfd: the work has ended */
    gcd_status status;
    struct gcd_error *err;
};

static void on_progress(void *ctx, uint64_t done, uint64_t total)
{
    struct work *w = ctx;
    atomic_store_explicit(&w->done, done, memory_order_relaxed);
    atomic_store_explicit(&w->total, total, memory_order_relaxed);
}

static void *run(void *ctx)
{
    struct work *w = ctx;
    w->status = w->work(w->ctx, &w->call, w->err);
    ssize_t n = write(w->ready, &(uint64_t){ 1 }, sizeof(uint64_t));
    (void)n;
    return NULL;
}

static void show(struct ui *ui, const char *verb, struct work *w)
{
    uint64_t done = atomic_load_explicit(&w->done, memory_order_relaxed),
             total = atomic_load_explicit(&w->total, memory_order_relaxed);
    char line[UI_MESSAGE_BYTES];
    if (total > 0 && done <= total)
        (void)snprintf(line, sizeof line, "%s: %.0f %%   Ctrl-C gives up", verb,
                       100.0 * (double)done / (double)total);
    else
        (void)snprintf(line, sizeof line, "%s   Ctrl-C gives up", verb);
    screen_draw(&(struct screen_picture){
        .view = ui->view, .model = &ui->model, .title = verb, .message = line, .busy = true });
}

/* Handles a key while the work runs. */
static void press(struct ui *ui, uint32_t key, struct work *w)
{
    if (key == SCREEN_CTRL('c') || key == SCREEN_ESCAPE || key == SCREEN_KEY_END)
        atomic_store(&w->cancel, true);
    else if (key == SCREEN_CTRL('z'))
        screen_suspend(); /* the work continues when the job does */
    else if (ui->ahead_count < UI_AHEAD)
        ui->ahead[ui->ahead_count++] = key;
    ui->gone = ui->gone || key == SCREEN_KEY_END;
}

static void wait_for(struct ui *ui, const char *verb, struct work *w)
{
    bool shown = false;
    for (;;) {
        /* once the terminal is gone, only wait for the work */
        uint32_t key =
            ui->gone ? SCREEN_KEY_READY : screen_key(shown ? NEXT_MS : FIRST_MS, w->ready);
        if (key == SCREEN_KEY_READY)
            return;
        if (key != SCREEN_KEY_NONE && key != SCREEN_KEY_REDRAW)
            press(ui, key, w);
        if (!ui->gone && (shown || key == SCREEN_KEY_NONE || key == SCREEN_KEY_REDRAW)) {
            show(ui, verb, w);
            shown = true;
        }
    }
}

gcd_status ui_work(struct ui *ui, const char *verb, ui_work_fn work, void *ctx,
                   struct gcd_error *err)
{
    struct work w = { .work = work, .ctx = ctx, .err = err };
    pthread_t t;
    atomic_init(&w.cancel, false);
    w.call = cli_context(ui->args, NULL);
    w.call.cancel = &w.cancel;
    w.call.progress = on_progress;
    w.call.progress_ctx = &w;
    w.ready = eventfd(0, EFD_CLOEXEC);
    int e = w.ready >= 0 ? cli_thread_start(&t, run, &w) : errno;
    if (e == 0) {
        wait_for(ui, verb, &w);
        (void)pthread_join(t, NULL);
    } else { /* no thread: run it here, without progress */
        show(ui, verb, &w);
        w.status = work(ctx, &w.call, err);
    }
    if (w.ready >= 0)
        (void)close(w.ready);
    if (w.status == GCD_E_CANCELED)
        ui_say(ui, "given up: %s", verb);
    else if (w.status == GCD_E_ARG && err->off != GCD_OFF_NONE)
        ui_say(ui, "%s (at byte %llu)", err->msg, (unsigned long long)err->off + 1);
    else if (w.status != GCD_OK)
        ui_say(ui, "%s", err->msg);
    return w.status;
}
