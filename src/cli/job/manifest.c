#include <gcdumpc/gcdumpc.h>

#include "exit.h"
#include "job/job.h"
#include "job/state_file.h"
#include "term/lists.h"
#include "term/message.h"
#include "term/path.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef GCDUMPC_HAVE_IPC

/*
 * ".NAME.gcdumpc-files", or ".NAME+JOB.gcdumpc-files" of a job with a name:
 *
 *     {"process": NAME, "job": JOB or null, "files": {TEMPLATE: [FILE, ...], ...}}
 *
 * A FILE is [name, inode, seconds, nanoseconds]: it is known by its inode and the time of its last
 * change; its name is for people.  The inode alone may be reused for another file, and a name may
 * be given to one.  The inode 0 announces a file: a run that is killed between writing it and
 * listing it leaves this, and the next run looks which file it was.
 */
#define SUFFIX ".gcdumpc-files"

/* Limits: newest files of one template; templates of one list; bytes of a list; jobs whose lists
 * are read. */
#define MOST_FILES     20000u
#define MOST_TEMPLATES 64u
#define MOST_BYTES     (64u << 20)
#define MOST_LISTS     256u

/* A run has ended after a day. */
#define ANNOUNCED_SECONDS 86400

static const char *job_of(const struct job_dump *d)
{
    return d->args->job.name;
}

static bool path_of(const struct job_dump *d, char *ret, size_t cap)
{
    char stem[4096], job[CLI_TEMPLATE_NAME_BYTES] = "";
    if (!state_file_stem(d, stem, sizeof stem) ||
        (job_of(d) != NULL && !cli_template_spell(job_of(d), job)))
        return false;
    int n = snprintf(ret, cap, "%s%s%s" SUFFIX, stem, job_of(d) != NULL ? "+" : "", job);
    return n > 0 && (size_t)n < cap;
}

/* ---- one list ---- */

static json_t *pack(const char *name, const struct cli_keep_file *f)
{
    json_t *text = json_string(name);
    return json_pack("[o, I, I, I]", text != NULL ? text : json_null(), (json_int_t)f->inode,
                     (json_int_t)f->changed.tv_sec, (json_int_t)f->changed.tv_nsec);
}

static struct cli_keep_file unpack(const json_t *j)
{
    return (struct cli_keep_file){
        .inode = (ino_t)json_integer_value(json_array_get(j, 1)),
        .changed = { .tv_sec = (time_t)json_integer_value(json_array_get(j, 2)),
                     .tv_nsec = (long)json_integer_value(json_array_get(j, 3)) }
    };
}

/* A file that a run was about to write: without an inode, with the time when the run began. */
static bool is_announcement(const json_t *file)
{
    return json_integer_value(json_array_get(file, 1)) == 0;
}

/* False: out of memory. */
static bool add(struct manifest_files *to, struct cli_keep_file file)
{
    if (!cli_list_grow(&to->items, to->count, &to->room, sizeof *to->items))
        return false;
    to->items[to->count++] = file;
    return true;
}

static bool add_all(struct manifest_files *to, const json_t *files)
{
    bool ok = true;
    for (size_t i = 0; i < json_array_size(files) && ok; i++)
        ok = add(to, unpack(json_array_get(files, i)));
    return ok;
}

/* Is O the list of D's job, or of no job without one? */
static bool is_own(const struct job_dump *d, const json_t *o)
{
    const char *job = json_string_value(json_object_get(o, "job")), *own = job_of(d);
    return own == NULL ? job == NULL : job != NULL && strcmp(job, own) == 0;
}

/* The list of D's job; an empty one when it is lost or damaged, or another job's or process's,
 * whose name makes the same path. */
static json_t *load(const struct job_dump *d, const char *path)
{
    char name[CLI_TEMPLATE_NAME_BYTES]; /* as in names, because it may be no UTF-8 */
    (void)cli_template_spell(d->values.name, name);
    json_t *o = state_file_load(path, MOST_BYTES);
    const char *process = json_string_value(json_object_get(o, "process"));
    if (process != NULL && strcmp(process, name) == 0 && is_own(d, o) &&
        json_is_object(json_object_get(o, "files")))
        return o;
    json_decref(o);
    return json_pack("{s:s, s:s?, s:{}}", "process", name, "job", job_of(d), "files");
}

/* What stands for the template of a file of KIND. */
static const char *key_of(const struct job_dump *d, enum job_file kind)
{
    const char *names[JOB_FILES];
    job_given_names(d->args, names);
    json_t *text = json_string(names[kind]);
    const char *ret = text != NULL ? names[kind] : "a name that is no UTF-8";
    json_decref(text);
    return ret;
}

void manifest_files(const struct job_dump *d, enum job_file kind, struct manifest_files *ret)
{
    char path[4200];
    *ret = (struct manifest_files){ .count = 0 };
    if (!path_of(d, path, sizeof path))
        return;
    json_t *o = load(d, path);
    (void)add_all(ret, json_object_get(json_object_get(o, "files"), key_of(d, kind)));
    json_decref(o);
    cli_keep_sort(ret->items, ret->count);
}

/* ---- all lists ---- */

static bool exists_still(const struct job_dump *d, const char *job)
{
    const struct cli_job_args *a = &d->args->job;
    if (job == NULL || a->name == NULL) /* other jobs are unknown without a configuration */
        return true;
    for (size_t i = 0; i < a->other_count; i++)
        if (strcmp(a->others[i], job) == 0)
            return true;
    return false;
}

static bool add_list(const struct job_dump *d, const char *path, struct manifest_files *to)
{
    json_t *o = state_file_load(path, MOST_BYTES), *files = NULL, *of_template;
    const char *template;
    bool ok = true;
    if (exists_still(d, json_string_value(json_object_get(o, "job"))))
        files = json_object_get(o, "files");
    json_object_foreach(files, template, of_template)
    {
        ok = ok && add_all(to, of_template);
    }
    json_decref(o);
    return ok;
}

bool manifest_others(const struct job_dump *d, struct manifest_files *ret)
{
    char stem[4096], folder[4096], path[4400];
    *ret = (struct manifest_files){ .count = 0 };
    if (!state_file_stem(d, stem, sizeof stem))
        return true;
    cli_path_folder(stem, folder, sizeof folder);
    const char *name = cli_path_name(stem);
    size_t n = strlen(name), end = strlen(SUFFIX), lists = 0;
    bool ok = true;
    DIR *dir = opendir(folder);
    for (struct dirent *e; ok && dir != NULL && (e = readdir(dir)) != NULL && lists < MOST_LISTS;) {
        size_t all_bytes = strlen(e->d_name);
        if (strncmp(e->d_name, name, n) != 0 || all_bytes < n + end ||
            strcmp(e->d_name + all_bytes - end, SUFFIX) != 0 ||
            (e->d_name[n] != '+' && all_bytes != n + end))
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        ok = add_list(d, path, ret);
        lists++;
    }
    if (dir != NULL)
        (void)closedir(dir);
    cli_keep_sort(ret->items, ret->count);
    return ok;
}

/* ---- writing ---- */

/* The search for the files of one template. */
struct sweep {
    struct manifest_files listed, others;
    json_t *announced; /* without files so far */
    bool adopts;       /* take what nobody lists */
    json_t *ret;
    size_t adopted;
};

static int64_t seconds_of(const json_t *file)
{
    return json_integer_value(json_array_get(file, 2));
}

/* The index of NAME in FILES; their number: it is not there. */
static size_t find_name(const json_t *files, const char *name)
{
    size_t i = 0, n = json_array_size(files);
    for (; i < n; i++) {
        const char *its = json_string_value(json_array_get(json_array_get(files, i), 0));
        if (its != NULL && strcmp(its, name) == 0)
            break;
    }
    return i;
}

/* Was it announced by a run that was killed before it listed the file? */
static bool take_announced(struct sweep *s, const char *name, const struct stat *st)
{
    size_t i = find_name(s->announced, name);
    if (i == json_array_size(s->announced) ||
        st->st_mtim.tv_sec < seconds_of(json_array_get(s->announced, i)))
        return false;
    (void)json_array_remove(s->announced, i);
    return true;
}

static bool visit(void *ctx, int dir_fd, const char *name, const struct stat *st)
{
    struct sweep *s = ctx;
    (void)dir_fd;
    struct cli_keep_file f = { .inode = st->st_ino, .changed = st->st_mtim };
    bool listed =
             take_announced(s, name, st) || cli_keep_is_among(s->listed.items, s->listed.count, st),
         adopted = !listed && s->adopts && !cli_keep_is_among(s->others.items, s->others.count, st);
    s->adopted += adopted;
    return !(listed || adopted) || json_array_append_new(s->ret, pack(name, &f)) == 0;
}

static json_t *announced_in(const json_t *before)
{
    json_t *ret = json_array();
    for (size_t i = 0; i < json_array_size(before); i++)
        if (is_announcement(json_array_get(before, i)))
            (void)json_array_append(ret, json_array_get(before, i));
    return ret;
}

/* Adds to FILES what was announced by runs that may still be at work. */
static void keep_announced(json_t *files, const json_t *announced, time_t now)
{
    for (size_t i = 0; i < json_array_size(announced); i++)
        if (seconds_of(json_array_get(announced, i)) + ANNOUNCED_SECONDS > now)
            (void)json_array_append(files, json_array_get(announced, i));
}

static int oldest_first(const void *a, const void *b)
{
    int64_t x = seconds_of(*(json_t *const *)a), y = seconds_of(*(json_t *const *)b);
    return (x > y) - (x < y);
}

/* FILES, which it releases, without the oldest ones if there are more than MOST_FILES.  NULL: out
 * of memory. */
static json_t *newest_of(json_t *files)
{
    size_t n = json_array_size(files);
    if (n <= MOST_FILES)
        return files;
    json_t **all = malloc(n * sizeof *all), *ret = all != NULL ? json_array() : NULL;
    for (size_t i = 0; i < n && ret != NULL; i++)
        all[i] = json_array_get(files, i);
    if (ret != NULL)
        qsort(all, n, sizeof *all, oldest_first);
    for (size_t i = n - MOST_FILES; i < n && ret != NULL; i++)
        (void)json_array_append(ret, all[i]);
    free(all);
    json_decref(files);
    return ret;
}

/* S->ret: the files of KIND that are still there.  False: out of memory. */
static bool search(const struct job_dump *d, enum job_file kind, const json_t *before,
                   struct sweep *s)
{
    const struct cli_keep_file *own = &d->written[kind];
    s->ret = json_array();
    s->announced = announced_in(before);
    if (!add_all(&s->listed, before) || (own->inode != 0 && !add(&s->listed, *own)) ||
        (s->adopts && !manifest_others(d, &s->others)))
        return false;
    cli_keep_sort(s->listed.items, s->listed.count);
    if (cli_template_each(d->templates[kind], &d->values, visit, s, NULL)) {
        keep_announced(s->ret, s->announced, d->begun);
    } else { /* a folder cannot be read: what was listed stays so */
        json_decref(s->ret);
        s->ret = before != NULL ? json_deep_copy(before) : json_array();
        if (own->inode != 0)
            (void)json_array_append_new(s->ret, pack(cli_path_name(d->paths[kind]), own));
    }
    return s->ret != NULL;
}

/* The files of KIND that are still there, and what D has written or is about to; ADOPTED not NULL:
 * also what nobody lists, of which it counts so many.  NULL: out of memory. */
static json_t *files_of(const struct job_dump *d, enum job_file kind, const json_t *before,
                        size_t *adopted)
{
    struct sweep s = { .adopts = adopted != NULL };
    bool ok = search(d, kind, before, &s);
    free(s.listed.items);
    free(s.others.items);
    json_decref(s.announced);
    if (!ok) {
        json_decref(s.ret);
        return NULL;
    }
    if (adopted != NULL)
        *adopted += s.adopted;
    if (d->written[kind].inode == 0 && d->paths[kind][0] != '\0')
        (void)json_array_append_new(
            s.ret, pack(cli_path_name(d->paths[kind]),
                        &(struct cli_keep_file){ .changed = { .tv_sec = d->begun } }));
    return newest_of(s.ret);
}

static enum cli_exit write_list(const struct job_dump *d, size_t *adopted)
{
    char path[4200];
    if (!path_of(d, path, sizeof path))
        return CLI_DONE;
    int lock_fd = state_file_lock(path);
    json_t *o = load(d, path), *files = json_object_get(o, "files");
    bool ok = files != NULL;
    for (size_t i = 0; i < JOB_FILES && ok; i++) {
        const char *key = key_of(d, (enum job_file)i);
        if (d->templates[i] == NULL || !cli_template_has_time(d->templates[i]))
            continue;
        json_t *now = files_of(d, (enum job_file)i, json_object_get(files, key), adopted);
        ok = now != NULL && json_object_set_new_nocheck(files, key, now) == 0;
    }
    while (json_object_size(files) > MOST_TEMPLATES)
        (void)json_object_del(files, json_object_iter_key(json_object_iter(files)));
    if (!ok) {
        json_decref(o);
        o = NULL;
    }
    enum cli_exit e = state_file_write(path, o);
    if (lock_fd >= 0)
        (void)close(lock_fd);
    return e;
}

enum cli_exit manifest_write(const struct job_dump *d)
{
    return write_list(d, NULL);
}

enum cli_exit manifest_adopt(const struct job_dump *d)
{
    size_t adopted = 0;
    enum cli_exit e = write_list(d, &adopted);
    if (e == CLI_DONE && !d->args->quiet && d->args->job.log == CLI_LOG_NONE)
        cli_say(d->name, "%zu earlier file%s of this job now", adopted,
                adopted == 1 ? " is" : "s are");
    return e;
}

#endif
