/*
 * --dry-run: the expected cost of a dump, estimated from the last dump of the process, or its
 * memory. The process is not asked for anything: every event session leaves objects in its heap.
 * A direct dump is tried as far as its first stop: its heap is copied while it runs.
 */
#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/image.h>

#include "args.h"
#include "commands/open_dump.h"
#include "exit.h"
#include "input/fail.h"
#include "job/job.h"
#include "live/live.h"
#include "live/target.h"
#include "output/json_out.h"
#include "output/output.h"
#include "term/message.h"
#include "term/term.h"

#ifdef GCDUMPC_HAVE_IPC

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS UINT64_C(1000000)

struct plan {
    const struct job_dump *d;
    const struct cli_args *args; /* with the final names of its files */
    struct live live;
    struct live_forecast forecast;
    struct job_pause pause;
    const char *path; /* of the output, or the summary; NULL = none */
    bool direct;      /* by its memory: then only the next two count */
    struct gcd_direct_result stop;
    struct gcd_error error; /* of the estimate */
};

/* Why the dump would be refused: no room for a buffer or on a disk, or what the estimate of a
 * direct one met.  NULL = it would not. */
static const char *refusal(const struct plan *p)
{
    if (p->direct)
        return p->error.code != GCD_OK ? p->error.msg : NULL;
    if (p->args->live.force)
        return NULL;
    if (p->live.budget.max_buffer_mb == 0)
        return "too little memory is left for an event buffer in the process";
    if (live_buffer_is_too_large(&p->live, p->forecast.buffer_mb))
        return "too little memory is left for this --buffer in the process";
    for (size_t i = 0; i < p->forecast.place_count; i++)
        if (p->forecast.places[i].left < p->forecast.places[i].likely)
            return "too little room is left on the disk";
    return NULL;
}

/* ---- for people ---- */

static void print_process(const struct plan *p)
{
    printf("process %" PRIu32 " ", p->d->pid);
    cli_print_sanitized(stdout, p->d->name);
    if (p->d->runtime[0] != '\0') {
        fputs(", .NET ", stdout);
        cli_print_sanitized(stdout, p->d->runtime);
    }
    putchar('\n');
}

static void print_memory(const struct plan *p)
{
    char rss[CLI_NUMBER_BYTES], most[CLI_NUMBER_BYTES];
    printf(
        "  memory  %s resident; GC heap at most %s\n", cli_size(p->live.memory.rss_bytes, rss),
        cli_size(p->live.heap_most_bytes != 0 ? p->live.heap_most_bytes : p->live.memory.rss_bytes,
                 most));
}

static void print_cost(const struct plan *p)
{
    char a[CLI_NUMBER_BYTES], b[CLI_NUMBER_BYTES], left[CLI_NUMBER_BYTES];
    print_memory(p);
    printf("  pause   about %s ms, ", cli_number(p->pause.ms, true, a));
    if (p->pause.most_ms > p->pause.ms)
        printf("up to %s ms if its objects are small, ", cli_number(p->pause.most_ms, true, a));
    puts(job_basis_text(p->pause.basis));
    printf("  events  about %s, at most %s\n", cli_size(p->forecast.stream_likely, a),
           cli_size(p->forecast.stream_most, b));
    printf("  buffer  %s in the process", cli_size(p->forecast.buffer_mb * LIVE_MIB, a));
    if (p->live.memory.room_bytes != UINT64_MAX)
        printf(", whose %s has %s left",
               p->live.memory.limit == GCD_IPC_LIMIT_CGROUP ? "cgroup" : "machine",
               cli_size(p->live.memory.room_bytes, left));
    putchar('\n');
    for (size_t i = 0; i < p->forecast.place_count; i++) {
        const struct live_place *place = &p->forecast.places[i];
        if (place->most == 0)
            continue;
        printf("  disk    about %s, at most %s in ", cli_size(place->likely, a),
               cli_size(place->most, b));
        cli_print_sanitized(stdout, place->folder);
        printf(", where %s are free\n", place->left != UINT64_MAX ? cli_size(place->left, left)
                                                                  : "an unknown number of bytes");
    }
}

static uint64_t stop_ms(const struct plan *p)
{
    return (p->stop.estimate_ns + NS_PER_MS - 1) / NS_PER_MS;
}

/* What the stop costs, and where the copy would be. */
static void print_stop(const struct plan *p)
{
    char a[CLI_NUMBER_BYTES];
    if (p->stop.heap_bytes == 0)
        return;
    if (p->stop.estimate_ns > 0)
        printf("  stop    about %" PRIu64 " ms, no garbage collection\n", stop_ms(p));
    printf("  copy    %s in ", cli_size(p->stop.heap_bytes, a));
    cli_print_sanitized(stdout, p->stop.folder != NULL ? p->stop.folder : "memory");
    putchar('\n');
}

static void print_text(const struct plan *p)
{
    const char *refused = refusal(p);
    print_process(p);
    if (p->direct)
        print_stop(p);
    else
        print_cost(p);
    if (p->path != NULL) {
        fputs("  output  ", stdout);
        cli_print_sanitized(stdout, p->path);
        putchar('\n');
    }
    if (p->d->status == JOB_SKIPPED) {
        fputs("  no dump: ", stdout);
        cli_print_sanitized(stdout, p->d->reason);
        putchar('\n');
    } else if (refused != NULL) {
        fputs("  no dump: ", stdout);
        cli_print_sanitized(stdout, refused);
        puts(p->direct ? "" : "; --force continues anyway");
    }
}

/* ---- for programs ---- */

static json_t *text_or_null(const char *s)
{
    return s != NULL ? cli_json_text_or_null(s) : json_null();
}

static json_t *number_or_null(bool known, uint64_t n)
{
    return known ? cli_json_number(n) : json_null();
}

static void put_memory(json_t *o, const struct plan *p)
{
    const struct gcd_ipc_memory *m = &p->live.memory;
    (void)json_object_set_new(o, "resident_bytes", number_or_null(m->rss_bytes != 0, m->rss_bytes));
    (void)json_object_set_new(
        o, "gc_heap_most_bytes",
        number_or_null(p->live.heap_most_bytes != 0, p->live.heap_most_bytes));
    (void)json_object_set_new(o, "buffer_bytes", cli_json_number(p->forecast.buffer_mb * LIVE_MIB));
    (void)json_object_set_new(o, "room_bytes",
                              number_or_null(m->room_bytes != UINT64_MAX, m->room_bytes));
}

static json_t *places_of(const struct plan *p)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < p->forecast.place_count; i++) {
        const struct live_place *place = &p->forecast.places[i];
        json_t *row = json_object();
        (void)json_object_set_new(row, "folder", cli_json_text(place->folder));
        (void)json_object_set_new(row, "bytes", cli_json_number(place->likely));
        (void)json_object_set_new(row, "most_bytes", cli_json_number(place->most));
        (void)json_object_set_new(row, "free_bytes",
                                  number_or_null(place->left != UINT64_MAX, place->left));
        (void)json_array_append_new(rows, row);
    }
    return rows;
}

static void put_cost(json_t *o, const struct plan *p)
{
    static const char *const bases[] = { "last_dump", "heap", "memory" }; /* enum job_basis */
    (void)json_object_set_new(o, "pause_ms", cli_json_number(p->pause.ms));
    (void)json_object_set_new(o, "most_pause_ms", cli_json_number(p->pause.most_ms));
    (void)json_object_set_new(o, "pause_by", json_string(bases[p->pause.basis]));
    put_memory(o, p);
    (void)json_object_set_new(o, "event_bytes", cli_json_number(p->forecast.stream_likely));
    (void)json_object_set_new(o, "most_event_bytes", cli_json_number(p->forecast.stream_most));
    (void)json_object_set_new(
        o, "file_bytes", number_or_null(p->forecast.output_bytes != 0, p->forecast.output_bytes));
    (void)json_object_set_new(o, "places", places_of(p));
}

static void put_stop(json_t *o, const struct plan *p)
{
    (void)json_object_set_new(o, "stop_ms", number_or_null(p->stop.estimate_ns > 0, stop_ms(p)));
    (void)json_object_set_new(o, "copy_bytes",
                              number_or_null(p->stop.heap_bytes > 0, p->stop.heap_bytes));
    (void)json_object_set_new(o, "copy_folder", text_or_null(p->stop.folder));
}

static enum cli_exit print_json(const struct plan *p)
{
    json_t *o = json_object();
    (void)json_object_set_new(o, "schema", json_integer(cli_json_schema()));
    (void)json_object_set_new(o, "pid", cli_json_number(p->d->pid));
    (void)json_object_set_new(o, "name", text_or_null(p->d->name));
    (void)json_object_set_new(o, "runtime", text_or_null(p->d->runtime));
    (void)json_object_set_new(o, "direct", json_boolean(p->direct));
    if (p->direct)
        put_stop(o, p);
    else
        put_cost(o, p);
    (void)json_object_set_new(o, "file", text_or_null(p->path));
    (void)json_object_set_new(o, "skipped",
                              text_or_null(p->d->status == JOB_SKIPPED ? p->d->reason : NULL));
    (void)json_object_set_new(o, "refused", text_or_null(refusal(p)));
    char *line = cli_json_line(o);
    if (line == NULL)
        return cli_error(CLI_FAILED, NULL, "out of memory");
    fputs(line, stdout);
    free(line);
    return CLI_DONE;
}

/* ---- both ---- */

static enum cli_exit compute(struct plan *p)
{
    struct run_state last;
    if (p->direct && live_estimate_directly(&p->live, &p->stop, &p->error) == GCD_E_CANCELED)
        return cli_fail(p->live.subject, &p->error);
    if (p->direct)
        return CLI_DONE;
    (void)run_state_read(p->d, &last);
    p->live.expected_bytes = job_expected_stream(p->d, &last);
    live_forecast(&p->live, &p->forecast);
    p->pause = job_expected_pause(p->d, &last, p->live.heap_most_bytes);
    return CLI_DONE;
}

enum cli_exit job_dry_run(const struct job_dump *d, const struct cli_args *args)
{
    char spool[4096];
    struct cli_dump target = { .input = NULL };
    struct plan p = { .d = d,
                      .args = args,
                      .direct = cli_is_direct(args),
                      .error = GCD_ERROR_INIT,
                      .live = { .args = args, .pid = d->pid, .spool_dir = spool } };
    enum cli_exit e = cli_find_target(args, &target, p.live.path);
    if (e != CLI_DONE)
        return e;
    cli_spool_folder(args, spool, sizeof spool);
    p.live.subject = target.subject;
    p.path = args->output.path != NULL ? args->output.path : args->output.summary;
    e = compute(&p);
    if (e != CLI_DONE)
        return e;
    if (args->job.log == CLI_LOG_JSON)
        e = print_json(&p);
    else
        print_text(&p);
    enum cli_exit flushed = cli_flush_stdout();
    if (e != CLI_DONE || flushed != CLI_DONE)
        return e != CLI_DONE ? e : flushed;
    return refusal(&p) == NULL || d->status == JOB_SKIPPED ? CLI_DONE : CLI_FAILED;
}

#endif
