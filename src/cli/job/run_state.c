#include <gcdumpc/gcdumpc.h>

#include "exit.h"
#include "job/job.h"
#include "job/state_file.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#ifdef GCDUMPC_HAVE_IPC

/* Limit: processes of one name. */
#define MOST_PROCESSES 300u

/* The longest entry, with numbers of 20 digits.  Whatever is written must be readable again; files
 * of 0.2.0 also list the files of jobs. */
#define ENTRY_BYTES 256u
#define MOST_BYTES  (4u << 20)
_Static_assert((MOST_PROCESSES + 1) * ENTRY_BYTES < MOST_BYTES, "a full run state can be read");

/* Rounding to seconds makes two times appear in the wrong order by less than this. */
#define START_SECONDS 2

static bool path_of(const struct job_dump *d, char *ret, size_t cap)
{
    char stem[4096];
    if (!state_file_stem(d, stem, sizeof stem))
        return false;
    int n = snprintf(ret, cap, "%s.gcdumpc-last", stem);
    return n > 0 && (size_t)n < cap;
}

static uint64_t number(const json_t *o, const char *key)
{
    json_int_t n = json_integer_value(json_object_get(o, key));
    return n > 0 ? (uint64_t)n : 0;
}

static struct run_state last_of(const json_t *o)
{
    return (struct run_state){ .time = (time_t)number(o, "time"),
                               .rss_bytes = number(o, "rss_bytes"),
                               .heap_bytes = number(o, "heap_bytes"),
                               .stream_bytes = number(o, "event_bytes"),
                               .pause_ns = number(o, "pause_ns"),
                               .duration_ms = number(o, "duration_ms") };
}

static bool has_gone(uint64_t pid)
{
    return pid == 0 || pid > INT32_MAX || (kill((pid_t)pid, 0) != 0 && errno == ESRCH);
}

bool run_state_read(const struct job_dump *d, struct run_state *ret)
{
    char path[4200], key[16];
    *ret = (struct run_state){ .time = 0 };
    json_t *o = path_of(d, path, sizeof path) ? state_file_load(path, MOST_BYTES) : NULL;
    if (o == NULL)
        return false;
    (void)snprintf(key, sizeof key, "%" PRIu32, d->pid);
    const json_t *own = json_object_get(json_object_get(o, "processes"), key);
    if (own != NULL)
        *ret = last_of(own);
    else if (has_gone(number(o, "pid"))) /* it may have been restarted as this process; otherwise it
                                            is another one of the same name */
        *ret = last_of(o);
    ret->of_another = own == NULL || (d->started != 0 && ret->time + START_SECONDS <= d->started);
    json_decref(o);
    return true;
}

static json_t *entry(const struct job_dump *d)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "time", (json_int_t)d->begun, "rss_bytes",
                     (json_int_t)d->rss_bytes, "heap_bytes", (json_int_t)d->facts.heap_bytes,
                     "event_bytes", (json_int_t)d->facts.stream_bytes, "pause_ns",
                     (json_int_t)d->facts.pause_ns, "duration_ms", (json_int_t)d->duration_ms);
}

/* The entries of BEFORE for processes that still run, plus D. */
static json_t *entries(const struct job_dump *d, json_t *before)
{
    json_t *ret = json_object(), *one;
    const char *key;
    char own[16];
    json_object_foreach(before, key, one) if (json_object_size(ret) < MOST_PROCESSES &&
                                              !has_gone(strtoull(key, NULL, 10)))(void)
        json_object_set(ret, key, one);
    (void)snprintf(own, sizeof own, "%" PRIu32, d->pid);
    (void)json_object_set_new(ret, own, entry(d));
    return ret;
}

enum cli_exit run_state_write(const struct job_dump *d)
{
    char path[4200];
    if (!path_of(d, path, sizeof path))
        return CLI_DONE;
    int lock_fd = state_file_lock(path);
    json_t *before = state_file_load(path, MOST_BYTES), *o = entry(d);
    if (o != NULL && (json_object_set_new(o, "pid", json_integer(d->pid)) != 0 ||
                      json_object_set_new(o, "processes",
                                          entries(d, json_object_get(before, "processes"))) != 0)) {
        json_decref(o);
        o = NULL;
    }
    json_decref(before);
    enum cli_exit e = state_file_write(path, o);
    if (lock_fd >= 0)
        (void)close(lock_fd);
    return e;
}

#endif
