#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/folders.h>

#include "exit.h"
#include "input/memory.h"
#include "job/job.h"
#include "output/output.h"
#include "signals.h"
#include "term/lists.h"
#include "term/path.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>
#include <stdio.h>

#ifdef GCDUMPC_HAVE_IPC

/* Limits: processes of one name; newest files of one job; jobs. */
#define MOST_PROCESSES 300u
#define MOST_FILES     4000u
#define MOST_JOBS      8u

/* The longest entry and file, with numbers of 20 digits.  Whatever is written must be readable
 * again. */
#define ENTRY_BYTES 256u
#define FILE_BYTES  80u
#define MOST_BYTES  (4u << 20)
_Static_assert((MOST_PROCESSES + 1) * ENTRY_BYTES + (MOST_JOBS + 1) * MOST_FILES * FILE_BYTES <
                   MOST_BYTES,
               "a full run state can be read");

/* Rounding to seconds makes two times appear in the wrong order by less than this. */
#define START_SECONDS 2

/* Together ten seconds. */
#define LOCK_TRIES  200
#define LOCK_TRY_MS 50

/*
 * ".NAME.gcdumpc-last" beside the outputs, or beside the summaries without outputs, or above the
 * folders whose names have fields.  Machines that share a folder use %h in their names and get
 * ".NAME@HOST.gcdumpc-last", because PIDs mean nothing on another machine.
 */
static bool path_of(const struct job_dump *d, char *ret, size_t cap)
{
    char folder[4096], name[CLI_TEMPLATE_NAME_BYTES], host[CLI_TEMPLATE_NAME_BYTES] = "";
    const struct cli_template *names = job_template(d);
    if (names == NULL || !cli_template_folder(names, folder, sizeof folder) ||
        !cli_template_spell(d->values.name, name))
        return false;
    bool shared = cli_template_uses(names, "h");
    if (shared && !cli_template_spell(d->values.host, host))
        return false;
    int n = snprintf(ret, cap, "%s/.%s%s%s.gcdumpc-last", folder, name, shared ? "@" : "", host);
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

/* NULL = there is no usable state. */
static json_t *load(const char *path)
{
    struct stat st;
    int dir_fd = -1, fd = -1;
    if (gcd_folder_open_parent(path, &dir_fd, NULL) == GCD_OK) {
        fd = openat(dir_fd, cli_path_name(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        (void)close(dir_fd);
    }
    if (fd < 0)
        return NULL;
    bool ours = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
                st.st_size > 0 && st.st_size <= (off_t)MOST_BYTES;
    char *text = ours ? malloc((size_t)st.st_size) : NULL;
    ssize_t n = text != NULL ? read(fd, text, (size_t)st.st_size) : -1;
    (void)close(fd);
    json_t *o = n > 0 ? json_loadb(text, (size_t)n, 0, NULL) : NULL;
    free(text);
    if (json_is_object(o))
        return o;
    json_decref(o);
    return NULL;
}

static bool has_gone(uint64_t pid)
{
    return pid == 0 || pid > INT32_MAX || (kill((pid_t)pid, 0) != 0 && errno == ESRCH);
}

bool run_state_read(const struct job_dump *d, struct run_state *ret)
{
    char path[4200], key[16];
    *ret = (struct run_state){ .time = 0 };
    json_t *o = path_of(d, path, sizeof path) ? load(path) : NULL;
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

/* ---- which job owns a file ---- */

/* A file of a job: [inode, seconds, nanoseconds]. */
static json_t *pack_file(const struct cli_keep_file *f)
{
    return json_pack("[I, I, I]", (json_int_t)f->inode, (json_int_t)f->changed.tv_sec,
                     (json_int_t)f->changed.tv_nsec);
}

static struct cli_keep_file unpack_file(const json_t *j)
{
    return (struct cli_keep_file){
        .inode = (ino_t)json_integer_value(json_array_get(j, 0)),
        .changed = { .tv_sec = (time_t)json_integer_value(json_array_get(j, 1)),
                     .tv_nsec = (long)json_integer_value(json_array_get(j, 2)) }
    };
}

static bool is_another_job(const struct cli_job_args *job, const char *name)
{
    if (job->name == NULL) /* not from a configuration: any job is another one */
        return true;
    for (size_t i = 0; i < job->other_count; i++)
        if (strcmp(job->others[i], name) == 0)
            return strcmp(job->name, name) != 0;
    return false; /* a job that no longer exists owns nothing */
}

struct cli_keep_file *run_state_others(const struct job_dump *d, size_t *ret_count)
{
    char path[4200];
    const char *job;
    json_t *o = path_of(d, path, sizeof path) ? load(path) : NULL, *list,
           *all = json_object_get(o, "files");
    struct cli_keep_file *ret = NULL;
    size_t n = 0, cap = 0;
    json_object_foreach(all, job, list) for (size_t i = 0;
                                             i < json_array_size(list) &&
                                             is_another_job(&d->args->job, job) &&
                                             cli_list_grow(&ret, n, &cap, sizeof *ret);
                                             i++) ret[n++] = unpack_file(json_array_get(list, i));
    json_decref(o);
    *ret_count = n;
    return ret;
}

/* BEFORE plus the files of D, if D belongs to a named job. */
static json_t *files_of(const struct job_dump *d, json_t *before)
{
    json_t *ret = json_object(), *list, *own = NULL;
    const char *job;
    json_object_foreach(before, job, list)
    {
        bool is_own = d->args->job.name != NULL && strcmp(job, d->args->job.name) == 0;
        if (is_own)
            own = json_incref(list);
        else if (is_another_job(&d->args->job, job) && json_object_size(ret) < MOST_JOBS)
            (void)json_object_set(ret, job, list);
    }
    if (!json_is_array(own)) {
        json_decref(own);
        own = json_array();
    }
    for (size_t i = 0; i < d->written_count; i++)
        (void)json_array_append_new(own, pack_file(&d->written[i]));
    while (json_array_size(own) > MOST_FILES)
        (void)json_array_remove(own, 0);
    if (d->args->job.name != NULL)
        (void)json_object_set(ret, d->args->job.name, own);
    json_decref(own);
    return ret;
}

/*
 * Jobs for other processes of this name write the same file, so the folder is locked while it is
 * read and written.  Anyone who can read the folder can hold that lock forever, and not every file
 * system has locks: then continue without.  *RET_FD: to be closed, or -1.
 */
static void lock_folder(const char *path, int *ret_fd)
{
    char folder[4200];
    cli_path_folder(path, folder, sizeof folder);
    *ret_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < LOCK_TRIES && *ret_fd >= 0 && !atomic_load(&cli_canceled) &&
                    flock(*ret_fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
         i++)
        (void)nanosleep(&(struct timespec){ .tv_nsec = LOCK_TRY_MS * 1000000L }, NULL);
}

enum cli_exit run_state_write(const struct job_dump *d)
{
    char path[4200];
    int lock_fd = -1;
    if (!path_of(d, path, sizeof path))
        return CLI_DONE;
    lock_folder(path, &lock_fd);
    json_t *before = load(path), *o = entry(d);
    if (o != NULL &&
        (json_object_set_new(o, "pid", json_integer(d->pid)) != 0 ||
         json_object_set_new(o, "processes", entries(d, json_object_get(before, "processes"))) !=
             0 ||
         json_object_set_new(o, "files", files_of(d, json_object_get(before, "files"))) != 0)) {
        json_decref(o);
        o = NULL;
    }
    char *text = o != NULL ? json_dumps(o, 0) : NULL;
    json_decref(before);
    json_decref(o);
    struct gcd_sink_options options = {
        .context = { .alloc = cli_alloc(), .cancel = &cli_canceled }, .file_only = true
    };
    enum cli_exit e = cli_write_text(path, &options, text);
    free(text);
    if (lock_fd >= 0)
        (void)close(lock_fd);
    return e;
}

#endif
