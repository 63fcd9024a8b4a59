/*
 * gcdumpc watch: finds the processes, waits for what the kernel reports of them and for the time of
 * the next look, and starts their dumps.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gcdumpc/gcdumpc.h>

#include "commands/commands.h"
#include "input/fail.h"
#include "job/template.h"
#include "live/clock.h"
#include "live/target.h"
#include "opts.h"
#include "output/output.h"
#include "signals.h"
#include "term/message.h"
#include "term/path.h"
#include "term/term.h"
#include "watch/watch.h"

#ifdef GCDUMPC_HAVE_IPC

/* How soon a new process is found. */
#define FIND_MS 2000u
/* A signal that comes right before the wait is seen after it. */
#define WAIT_MS 1000u
/* A dump that got the same signal ends by itself meanwhile; others are told. */
#define GRACE_MS 500u

struct watch {
    const struct cli_args *args;
    struct cli_whens whens;
    struct gcd_ipc_finder *finder;
    struct watched *items; /* [count] */
    size_t count, room;
    struct pollfd *polls; /* [room * (GCD_IPC_WATCH_DESCRIPTORS + 1)] */
    uint64_t find_ms;
    bool said_none;
    enum cli_exit last; /* the status of the last dump */
    size_t dumps;       /* that have ended */
};

/* ---- which processes ---- */

static bool is_wanted(const struct watch *w, const struct gcd_ipc_process *p)
{
    const struct cli_target_args *t = &w->args->target;
    if (p->pid == 0 || p->pid == (uint32_t)getpid())
        return false;
    return cli_target_fits(p, t) > 0;
}

/* The process that --pid names; 0 = there may be several, or later ones. */
static uint64_t only_pid(const struct watch *w)
{
    return w->args->target.container == NULL ? w->args->target.pid : 0;
}

static bool is_watched(const struct watch *w, uint32_t pid)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->items[i].pid == pid && !w->items[i].ended)
            return true;
    return false;
}

static enum cli_exit make_room(struct watch *w)
{
    if (w->count < w->room)
        return CLI_DONE;
    size_t room = w->room * 2 + 8;
    struct watched *items = realloc(w->items, room * sizeof *items);
    if (items == NULL)
        return cli_no_memory(NULL);
    w->items = items;
    struct pollfd *polls =
        realloc(w->polls, room * (GCD_IPC_WATCH_DESCRIPTORS + 1) * sizeof *polls);
    if (polls == NULL)
        return cli_no_memory(NULL);
    w->polls = polls;
    w->room = room;
    return CLI_DONE;
}

static enum cli_exit add(struct watch *w, const struct gcd_ipc_process *p, uint64_t now_ms)
{
    enum cli_exit e = make_room(w);
    if (e != CLI_DONE || !watched_begin(&w->items[w->count], p))
        return e;
    struct watched *one = &w->items[w->count++];
    one->next_ms = now_ms;
    w->said_none = false;
    if (one->foreign) /* better now than when the dump is needed */
        cli_say(one->subject, "is watched, but cannot be dumped: it belongs to another user; run "
                              "gcdumpc as that user or as root");
    else if (!w->args->quiet && !w->args->live.dry_run)
        cli_say(one->subject, "is watched%s",
                one->direct_only ? "; it has no diagnostic socket, so only its memory can be read"
                                 : "");
    return CLI_DONE;
}

static enum cli_exit find(struct watch *w, uint64_t now_ms)
{
    struct gcd_ipc_list_options options = { .own_tmpdir = getenv("TMPDIR"),
                                            .cancel = &cli_canceled };
    struct gcd_ipc_process_list l = { .items = NULL };
    struct gcd_error err = GCD_ERROR_INIT;
    enum cli_exit e = CLI_DONE;
    w->find_ms = now_ms + FIND_MS - now_ms % 1000; /* with looks, see watched.c */
    if (only_pid(w) != 0 && w->count > 0)
        return CLI_DONE; /* there will be no other */
    gcd_status st = gcd_ipc_finder_next(w->finder, now_ms, &options, &l, &err);
    if (st == GCD_E_CANCELED)
        return CLI_DONE;
    if (st != GCD_OK)
        return cli_fail(NULL, &err);
    e = cli_target_is_clear(&l, &w->args->target);
    for (size_t i = 0; i < l.count && e == CLI_DONE; i++)
        if (is_wanted(w, &l.items[i]) && !is_watched(w, l.items[i].pid))
            e = add(w, &l.items[i], now_ms);
    gcd_ipc_list_done(&l);
    if (e == CLI_DONE && w->count == 0 && only_pid(w) != 0)
        return cli_error(CLI_FAILED, NULL,
                         "process %" PRIu64 " is no .NET process that can be dumped; see gcdumpc "
                         "ps",
                         only_pid(w));
    if (w->count == 0 && !w->said_none && !w->args->quiet) {
        cli_say(cli_target_text(&w->args->target), "no such process yet; waiting for it");
        w->said_none = true;
    }
    return e;
}

/* Forgets the processes that have ended and whose dumps are over. */
static void drop_ended(struct watch *w)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->count; i++) {
        struct watched *one = &w->items[i];
        if (one->ended && one->child.pid == 0) {
            if (!w->args->quiet)
                cli_say(one->subject, "has ended%s", one->dumps == 0 ? ", without a dump" : "");
            gcd_ipc_finder_forget(w->finder, one->pid);
            continue;
        }
        if (kept != i)
            w->items[kept] = *one;
        kept++;
    }
    w->count = kept;
}

/* ---- the loop ---- */

static void look_at_all(struct watch *w, uint64_t now_ms)
{
    for (size_t i = 0; i < w->count; i++) {
        struct watched *one = &w->items[i];
        enum cli_exit e;
        if (watch_child_ended(&one->child, &e)) {
            w->last = e;
            w->dumps++;
            watched_dumped(one, w->args, e, now_ms);
        }
        if (!one->ended && one->next_ms <= now_ms)
            watched_look(one, w->args, &w->whens, now_ms);
    }
}

static int wait_ms(const struct watch *w, uint64_t now_ms)
{
    uint64_t until = now_ms + WAIT_MS - now_ms % WAIT_MS;
    until = w->find_ms < until ? w->find_ms : until;
    for (size_t i = 0; i < w->count; i++)
        if (!w->items[i].ended && w->items[i].next_ms < until)
            until = w->items[i].next_ms;
    return until > now_ms ? (int)(until - now_ms) : 0;
}

/* Waits for the kernel, a dump, or the next look. */
static void wait_for_all(struct watch *w, uint64_t now_ms)
{
    size_t n = 0, k = 0;
    for (size_t i = 0; i < w->count; i++) {
        const struct watched *one = &w->items[i];
        if (!one->ended)
            n += gcd_ipc_watch_descriptors(one->watch, w->polls + n);
        if (one->child.pid != 0)
            w->polls[n++] = (struct pollfd){ .fd = one->child.end, .events = POLLIN };
    }
    if (poll(w->polls, (nfds_t)n, wait_ms(w, now_ms)) <= 0)
        return;
    for (size_t i = 0; i < w->count; i++) {
        struct watched *one = &w->items[i];
        struct pollfd same[GCD_IPC_WATCH_DESCRIPTORS];
        bool ended = false;
        size_t own = one->ended ? 0 : gcd_ipc_watch_descriptors(one->watch, same);
        if (own > 0 && gcd_ipc_watch_woken(one->watch, w->polls + k, own, &ended))
            one->next_ms = 0;
        k += own + (one->child.pid != 0);
        if (ended)
            watched_end(one);
    }
}

/* Tells the dumps at hand to stop, and waits for them. */
static void end_children(struct watch *w)
{
    bool told = false;
    size_t left = 1;
    for (uint64_t start = live_now_ms(); left > 0;) {
        left = 0;
        for (size_t i = 0; i < w->count; i++) {
            enum cli_exit e;
            if (w->items[i].child.pid == 0 || watch_child_ended(&w->items[i].child, &e))
                continue;
            left++;
            if (!told && live_now_ms() - start >= GRACE_MS)
                (void)kill(w->items[i].child.pid, SIGTERM);
        }
        told = told || live_now_ms() - start >= GRACE_MS;
        if (left > 0)
            (void)poll(NULL, 0, 50);
    }
}

static bool is_over(const struct watch *w)
{
    return atomic_load(&cli_canceled) || (w->args->watch.once && w->dumps > 0) ||
           (only_pid(w) != 0 && w->count == 0);
}

static enum cli_exit run(struct watch *w)
{
    for (;;) {
        uint64_t now_ms = live_now_ms();
        enum cli_exit e = now_ms >= w->find_ms ? find(w, now_ms) : CLI_DONE;
        if (e != CLI_DONE)
            return e;
        look_at_all(w, now_ms);
        drop_ended(w);
        if (is_over(w))
            break;
        wait_for_all(w, now_ms);
    }
    end_children(w);
    if (atomic_load(&cli_canceled))
        return cli_signal() == SIGTERM ? CLI_DONE : CLI_INTERRUPTED;
    return w->dumps > 0 ? w->last : CLI_FAILED;
}

/* --dry-run: what would be watched, with the present figures. */
static enum cli_exit show(struct watch *w)
{
    char text[300];
    uint64_t now_ms = live_now_ms();
    enum cli_exit e = find(w, now_ms);
    for (size_t i = 0; i < w->count && e == CLI_DONE; i++) {
        struct watched *one = &w->items[i];
        if (!gcd_ipc_watch_read(one->watch, w->whens.parts, &one->values.now))
            continue;
        const struct cli_when *met = cli_whens_true(&w->whens, &one->values);
        bool kernel = gcd_ipc_watch_arm(one->watch, cli_whens_growth_bytes(&w->whens, &one->values),
                                        (w->whens.parts & GCD_IPC_WATCH_PRESSURE) != 0);
        for (size_t k = 0; k < w->whens.count; k++) {
            const struct cli_when *c = &w->whens.items[k];
            cli_when_say(c, &one->values, text, sizeof text);
            cli_print_sanitized(stdout, one->subject);
            printf(": %s: %s%s%s\n", c->text, text, met == c ? "; true now" : "",
                   kernel ? "; the kernel reports its growth" : "");
        }
    }
    return e == CLI_DONE ? cli_flush_stdout() : e;
}

/* A later dump must not replace the one before. */
static enum cli_exit check_time(const struct cli_args *args)
{
    const char *const paths[] = { args->output.path, args->output.summary };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct cli_template *t = NULL;
        enum cli_exit e = paths[i] != NULL && strchr(paths[i], '%') != NULL
                              ? cli_template_new(paths[i], &t)
                              : CLI_DONE;
        bool has_time = t != NULL && cli_template_has_time(t);
        cli_template_free(t);
        if (e != CLI_DONE)
            return e;
        if (paths[i] != NULL && !has_time)
            return cli_error(CLI_USAGE, NULL,
                             "a later dump would replace %s: its name needs a date and a time of "
                             "day, as '%%n-%%p-%%Y%%m%%dT%%H%%M%%SZ.nettrace.gz', or give --once",
                             paths[i]);
    }
    return CLI_DONE;
}

/* Checks that the parser cannot make. */
static enum cli_exit check(const struct cli_args *args)
{
    struct cli_args one = *args;
    one.watch.when[0] = NULL; /* collect has no growth */
    for (size_t i = 0; i < CLI_OUTPUTS_MAX && (i == 0 || args->watch.outputs[i] != NULL); i++) {
        one.output.path = args->watch.outputs[i];
        if (one.output.path == NULL && one.output.summary == NULL)
            one.output.path = one.output.default_path;
        if (one.output.path != NULL && strcmp(one.output.path, "-") == 0)
            return cli_error(CLI_USAGE, NULL,
                             "watch writes files: -o - is for collect; see gcdumpc watch --help");
        enum cli_exit e = cli_check_job(&one);
        if (e == CLI_DONE && !args->watch.once)
            e = check_time(&one);
        if (e != CLI_DONE)
            return e;
    }
    return CLI_DONE;
}

/* Weeks may pass before the first dump: says at once what it would say then.  The folder may be
 * there by that time, so this is no error. */
static void warn_of_folder(const char *path)
{
    char before[4096], folder[4096];
    size_t n = path != NULL ? strcspn(path, "%") : 0; /* a field is filled in later */
    if (path == NULL || n >= sizeof before - 1)
        return;
    (void)snprintf(before, sizeof before, "%.*s%s", (int)n, path, path[n] == '%' ? "x" : "");
    cli_path_folder(before, folder, sizeof folder);
    if (access(folder, W_OK | X_OK) != 0)
        cli_say(NULL, "a dump could not be written to %s now: %s: %s", path, folder,
                strerror(errno));
}

static void warn_of_folders(const struct cli_args *args)
{
    for (size_t i = 0; i < CLI_OUTPUTS_MAX && args->watch.outputs[i] != NULL; i++)
        warn_of_folder(args->watch.outputs[i]);
    warn_of_folder(args->output.summary);
}

enum cli_exit cmd_watch(const struct cli_args *args)
{
    struct watch w = { .args = args };
    struct gcd_error err = GCD_ERROR_INIT;
    enum cli_exit e = cli_whens_parse(args->watch.when, &w.whens);
    if (e == CLI_DONE)
        e = check(args);
    if (e == CLI_DONE && gcd_ipc_finder_new(NULL, &w.finder, &err) != GCD_OK)
        e = cli_fail(NULL, &err);
    if (e == CLI_DONE)
        warn_of_folders(args);
    if (e == CLI_DONE)
        e = args->live.dry_run ? show(&w) : run(&w);
    end_children(&w);
    for (size_t i = 0; i < w.count; i++)
        watched_end(&w.items[i]);
    gcd_ipc_finder_free(w.finder);
    free(w.polls);
    free(w.items);
    return e;
}

#else

enum cli_exit cmd_watch(const struct cli_args *args)
{
    (void)args;
    return cli_no_ipc(NULL);
}

#endif
