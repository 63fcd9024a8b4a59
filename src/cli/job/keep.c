#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/folders.h>

#include "base/ovf.h"
#include "exit.h"
#include "job/keep.h"
#include "term/lists.h"
#include "term/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECONDS_A_DAY 86400

struct file {
    struct timespec changed;
    /* the clock was wrong then or is wrong now, so the age is unknown */
    bool future;
    uint64_t bytes;
    struct cli_keep_id id;
};

struct files {
    const struct cli_keep *keep;
    time_t now;
    struct file *items;
    size_t count, cap;
    uint64_t removed, unlisted;
    /* one is in a folder where others can rename files, so it could be any file */
    bool foreign;
    int failed_errno; /* of the first failed removal */
};

static struct file file_of(const struct stat *st, time_t now)
{
    return (struct file){ .changed = st->st_mtim,
                          .future = st->st_mtim.tv_sec > now + SECONDS_A_DAY,
                          .bytes = (uint64_t)st->st_size,
                          .id = { .device = st->st_dev, .inode = st->st_ino } };
}

static int compare_times(const struct timespec *a, const struct timespec *b)
{
    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? -1 : 1;
    return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

static int compare_files(const void *va, const void *vb)
{
    const struct cli_keep_file *a = va, *b = vb;
    if (a->inode != b->inode)
        return a->inode < b->inode ? -1 : 1;
    return compare_times(&a->changed, &b->changed);
}

void cli_keep_sort(struct cli_keep_file *files, size_t n)
{
    if (n > 1)
        qsort(files, n, sizeof *files, compare_files);
}

bool cli_keep_is_among(const struct cli_keep_file *files, size_t n, const struct stat *st)
{
    struct cli_keep_file one = { .inode = st->st_ino, .changed = st->st_mtim };
    return n > 0 && bsearch(&one, files, n, sizeof one, compare_files) != NULL;
}

static bool is_own(const struct cli_keep *keep, const struct cli_keep_id *id)
{
    for (size_t i = 0; i < keep->own_count; i++)
        if (keep->own[i].device == id->device && keep->own[i].inode == id->inode)
            return true;
    return false;
}

static bool collect(void *ctx, int dir_fd, const char *name, const struct stat *st)
{
    struct files *f = ctx;
    (void)dir_fd;
    (void)name;
    const struct cli_keep *keep = f->keep;
    struct file one = file_of(st, f->now);
    if (!is_own(keep, &one.id) && !cli_keep_is_among(keep->listed, keep->listed_count, st)) {
        f->unlisted += !cli_keep_is_among(keep->others, keep->other_count, st);
        return true;
    }
    if (!cli_list_grow(&f->items, f->count, &f->cap, sizeof *f->items))
        return false;
    f->items[f->count++] = one;
    return true;
}

static int newest_first(const void *va, const void *vb)
{
    const struct file *a = va, *b = vb;
    if (a->future != b->future)
        return a->future ? 1 : -1;
    int c = compare_times(&b->changed, &a->changed);
    return c != 0 ? c : (a->id.inode > b->id.inode) - (a->id.inode < b->id.inode);
}

/* Drops the files that KEEP allows beside the coming one from F, which is sorted newest first; the
 * rest must go. */
static void choose(struct files *f, const struct cli_keep *keep, uint64_t coming)
{
    uint64_t kept = 1, bytes = coming;
    size_t victims = 0, others = 0;
    bool full = false;
    for (size_t i = 0; i < f->count; i++) {
        struct file *one = &f->items[i];
        if (!is_own(keep, &one->id)) {
            f->items[others++] = *one;
            continue;
        }
        kept++;
        gcd_add_saturating(&bytes, one->bytes);
    }
    for (size_t i = 0; i < others; i++) {
        const struct file *one = &f->items[i];
        bool old = keep->days > 0 && keep->days < INT64_MAX / SECONDS_A_DAY && !one->future &&
                   one->changed.tv_sec < f->now - (time_t)keep->days * SECONDS_A_DAY;
        /* the oldest go: after the first file that does not fit, no older one stays */
        full = full || (keep->files > 0 && kept >= keep->files) ||
               (keep->total_bytes > 0 &&
                (bytes > keep->total_bytes || one->bytes > keep->total_bytes - bytes));
        if (old || full) {
            f->items[victims++] = *one;
        } else {
            kept++;
            bytes += one->bytes;
        }
    }
    f->count = victims;
}

static bool remove_chosen(void *ctx, int dir_fd, const char *name, const struct stat *st)
{
    struct files *f = ctx;
    struct file one = file_of(st, f->now);
    const struct file *chosen = bsearch(&one, f->items, f->count, sizeof one, newest_first);
    if (chosen == NULL || chosen->id.device != one.id.device)
        return true;
    if (!gcd_folder_is_ours(dir_fd))
        f->foreign = true;
    else if (unlinkat(dir_fd, name, 0) == 0)
        f->removed++;
    else if (errno != ENOENT && f->failed_errno == 0)
        f->failed_errno = errno;
    return true;
}

enum cli_exit cli_keep_apply(const struct cli_keep *keep, const struct cli_template *t,
                             const struct cli_template_values *values, uint64_t coming,
                             struct cli_kept *ret)
{
    struct files f = { .keep = keep, .now = time(NULL) };
    *ret = (struct cli_kept){ .removed = 0 };
    if (keep->files == 0 && keep->days == 0 && keep->total_bytes == 0)
        return CLI_DONE;
    /* sweep a second time instead of keeping a list of names, because a folder may be replaced with
     * a link in between */
    bool ok = cli_template_each(t, values, collect, &f, NULL);
    if (ok) {
        if (f.count > 1)
            qsort(f.items, f.count, sizeof *f.items, newest_first);
        choose(&f, keep, coming);
        ok = f.count == 0 || cli_template_each(t, values, remove_chosen, &f, &f.removed);
    }
    int e = ok ? f.failed_errno : errno;
    free(f.items);
    *ret = (struct cli_kept){ .removed = f.removed, .unlisted = f.unlisted };
    if (e == 0 && !f.foreign)
        return CLI_DONE;
    if (e != 0)
        return cli_error(CLI_FAILED, NULL, "earlier dumps cannot be removed: %s", strerror(e));
    return cli_error(CLI_FAILED, NULL,
                     "earlier dumps are not removed: their folder, or one around it, belongs to "
                     "another user, who could have put "
                     "other files there");
}

struct newest {
    struct stat *ret;
    bool found;
    time_t now;
};

static bool take_newer(void *ctx, int dir_fd, const char *name, const struct stat *st)
{
    struct newest *n = ctx;
    (void)dir_fd;
    (void)name;
    if (st->st_mtim.tv_sec > n->now)
        return true;
    if (!n->found || compare_times(&st->st_mtim, &n->ret->st_mtim) > 0)
        *n->ret = *st;
    n->found = true;
    return true;
}

bool cli_keep_newest(const struct cli_template *t, const struct cli_template_values *values,
                     struct stat *ret)
{
    struct newest n = { .ret = ret, .now = time(NULL) };
    (void)cli_template_each(t, values, take_newer, &n, NULL);
    return n.found;
}
