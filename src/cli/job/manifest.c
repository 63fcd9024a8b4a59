#include <gcdumpc/gcdumpc.h>

#include "exit.h"
#include "job/job.h"
#include "job/state_file.h"
#include "term/lists.h"
#include "term/message.h"
#include "term/path.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef GCDUMPC_HAVE_IPC

/*
 * ".NAME.gcdumpc-files", or ".NAME+JOB.gcdumpc-files" of a job with a name:
 *
 *     {"process": NAME, "job": JOB or null, "files": {TEMPLATE: [[name, inode, seconds,
 * nanoseconds]]}}
 *
 * A file is known by its inode and the time of its last change; its name is for people.  The inode
 * alone may be reused for another file, and a name may be given to one.  The inode 0 announces a
 * file: a run that is killed between writing it and listing it leaves this, and the next run looks
 * which file it was.
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

/* How many files --adopt has taken over. */
struct adopting {
    size_t count;
};

struct found {
    struct cli_keep_file *items;
    size_t count, cap;
};

static void add(struct found *to, const json_t *files)
{
    for (size_t i = 0; i < json_array_size(files); i++)
        if (cli_list_grow(&to->items, to->count, &to->cap, sizeof *to->items))
            to->items[to->count++] = unpack(json_array_get(files, i));
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
    struct found own = { .count = 0 };
    *ret = (struct manifest_files){ .count = 0 };
    if (!path_of(d, path, sizeof path))
        return;
    json_t *o = load(d, path);
    add(&own, json_object_get(json_object_get(o, "files"), key_of(d, kind)));
    json_decref(o);
    cli_keep_sort(own.items, own.count);
    *ret = (struct manifest_files){ .items = own.items, .count = own.count };
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

static void add_list(const struct job_dump *d, const char *path, struct found *to)
{
    json_t *o = state_file_load(path, MOST_BYTES), *files = NULL;
    const char *template;
    if (exists_still(d, json_string_value(json_object_get(o, "job"))))
        files = json_object_get(o, "files");
    json_t *of_template;
    json_object_foreach(files, template, of_template)
    {
        add(to, of_template);
    }
    json_decref(o);
}

void manifest_others(const struct job_dump *d, struct manifest_files *ret)
{
    char stem[4096], folder[4096], path[4400];
    struct found all = { .count = 0 };
    *ret = (struct manifest_files){ .count = 0 };
    if (!state_file_stem(d, stem, sizeof stem))
        return;
    cli_path_folder(stem, folder, sizeof folder);
    const char *name = cli_path_name(stem);
    size_t n = strlen(name), end = strlen(SUFFIX), lists = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL && lists < MOST_LISTS;) {
        size_t all_bytes = strlen(e->d_name);
        if (strncmp(e->d_name, name, n) != 0 || all_bytes < n + end ||
            strcmp(e->d_name + all_bytes - end, SUFFIX) != 0 ||
            (e->d_name[n] != '+' && all_bytes != n + end))
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        add_list(d, path, &all);
        lists++;
    }
    if (dir != NULL)
        (void)closedir(dir);
    cli_keep_sort(all.items, all.count);
    *ret = (struct manifest_files){ .items = all.items, .count = all.count };
}

/* ---- writing ---- */

/* What a search of one template's files finds. */
struct sweep {
    const struct cli_keep_file *listed, *others; /* sorted */
    size_t listed_count, other_count;
    const json_t *before;
    bool adopts; /* take what nobody lists */
    json_t *ret;
    size_t adopted;
};

static int64_t seconds_of(const json_t *file)
{
    return json_integer_value(json_array_get(file, 2));
}

/* Announced by a run that was killed before it listed the file. */
static bool is_announced(const json_t *list, const char *name, const struct stat *st)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        const char *its = json_string_value(json_array_get(one, 0));
        if (is_announcement(one) && its != NULL && strcmp(its, name) == 0 &&
            st->st_mtim.tv_sec >= seconds_of(one))
            return true;
    }
    return false;
}

static bool visit(void *ctx, int dir_fd, const char *name, const struct stat *st)
{
    struct sweep *s = ctx;
    (void)dir_fd;
    struct cli_keep_file f = { .inode = st->st_ino, .changed = st->st_mtim };
    bool listed =
             cli_keep_is_among(s->listed, s->listed_count, st) || is_announced(s->before, name, st),
         adopted = !listed && s->adopts && !cli_keep_is_among(s->others, s->other_count, st);
    s->adopted += adopted;
    return !(listed || adopted) || json_array_append_new(s->ret, pack(name, &f)) == 0;
}

/* Drops the oldest files of FILES until at most MOST_FILES are left. */
static void shorten(json_t *files)
{
    while (json_array_size(files) > MOST_FILES) {
        size_t oldest = 0;
        for (size_t i = 1; i < json_array_size(files); i++)
            if (seconds_of(json_array_get(files, i)) < seconds_of(json_array_get(files, oldest)))
                oldest = i;
        (void)json_array_remove(files, oldest);
    }
}

/* Announcements of runs that may still be at work, also those of other processes. */
static void keep_announced(const struct job_dump *d, const json_t *before, json_t *to)
{
    for (size_t i = 0; i < json_array_size(before); i++) {
        json_t *one = json_array_get(before, i);
        const char *name = json_string_value(json_array_get(one, 0));
        bool there = false;
        for (size_t k = 0; k < json_array_size(to) && name != NULL; k++) {
            const char *its = json_string_value(json_array_get(json_array_get(to, k), 0));
            there = there || (its != NULL && strcmp(its, name) == 0);
        }
        if (is_announcement(one) && !there && seconds_of(one) + ANNOUNCED_SECONDS > d->begun)
            (void)json_array_append(to, one);
    }
}

/* The files of KIND that are still there, and what D has written or is about to; if ADOPTS, also
 * what nobody lists.  NULL: out of memory. */
static json_t *files_of(const struct job_dump *d, enum job_file kind, const json_t *before,
                        struct adopting *a)
{
    struct found listed = { .count = 0 };
    struct manifest_files others = { .count = 0 };
    const struct cli_keep_file *own = &d->written[kind];
    struct sweep s = { .before = before, .adopts = a != NULL, .ret = json_array() };
    add(&listed, before);
    if (own->inode != 0 &&
        cli_list_grow(&listed.items, listed.count, &listed.cap, sizeof *listed.items))
        listed.items[listed.count++] = *own;
    cli_keep_sort(listed.items, listed.count);
    if (a != NULL)
        manifest_others(d, &others);
    s.listed = listed.items;
    s.listed_count = listed.count;
    s.others = others.items;
    s.other_count = others.count;
    bool found =
        s.ret != NULL && cli_template_each(d->templates[kind], &d->values, visit, &s, NULL);
    free(listed.items);
    free(others.items);
    if (a != NULL)
        a->count += s.adopted;
    if (!found) { /* a folder cannot be read: what was listed stays so */
        json_decref(s.ret);
        s.ret = before != NULL ? json_deep_copy(before) : json_array();
        if (own->inode != 0)
            (void)json_array_append_new(s.ret, pack(cli_path_name(d->paths[kind]), own));
    } else {
        keep_announced(d, before, s.ret);
    }
    if (own->inode == 0 && d->paths[kind][0] != '\0')
        (void)json_array_append_new(
            s.ret, pack(cli_path_name(d->paths[kind]),
                        &(struct cli_keep_file){ .changed = { .tv_sec = d->begun } }));
    shorten(s.ret);
    return s.ret;
}

static enum cli_exit write_list(const struct job_dump *d, struct adopting *a)
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
        json_t *now = files_of(d, (enum job_file)i, json_object_get(files, key), a);
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
    struct adopting a = { .count = 0 };
    enum cli_exit e = write_list(d, &a);
    if (e == CLI_DONE && !d->args->quiet && d->args->job.log == CLI_LOG_NONE)
        cli_say(d->name, "%zu earlier file%s of this job now", a.count,
                a.count == 1 ? " is" : "s are");
    return e;
}

#endif
