#include "job/keep.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECONDS_A_DAY 86400

struct file {
    struct timespec changed;
    uint64_t bytes;
    dev_t device;
    ino_t inode;
};

struct files {
    struct file *items;
    size_t count, cap;
    uint64_t removed;
    int failed_errno;            /* of the first that could not be removed */
};

static struct file file_of(const struct stat *st)
{
    return (struct file){ .changed = st->st_mtim, .bytes = (uint64_t)st->st_size, .device = st->st_dev, .inode = st->st_ino };
}

static bool collect(void *ctx, int dir_fd, const char *name, const struct stat *st)
{
    struct files *f = ctx;
    (void)dir_fd;
    (void)name;
    if (f->count == f->cap) {
        size_t cap = f->cap == 0 ? 64 : 2 * f->cap;
        struct file *items = realloc(f->items, cap * sizeof *items);
        if (items == NULL)
            return false;
        f->items = items;
        f->cap = cap;
    }
    f->items[f->count++] = file_of(st);
    return true;
}

static int compare_times(const struct timespec *a, const struct timespec *b)
{
    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? -1 : 1;
    return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

static int newest_first(const void *va, const void *vb)
{
    const struct file *a = va, *b = vb;
    int c = compare_times(&b->changed, &a->changed);
    return c != 0 ? c : (a->inode > b->inode) - (a->inode < b->inode);
}

/* Of F, newest first, keep what KEEP allows beside the one that is coming; what is left is to be removed. */
static void choose(struct files *f, const struct cli_keep *keep, uint64_t coming, time_t now)
{
    uint64_t kept = 1, bytes = coming;
    size_t victims = 0;
    bool full = false;
    for (size_t i = 0; i < f->count; i++) {
        const struct file *one = &f->items[i];
        bool old = keep->days > 0 && keep->days < INT64_MAX / SECONDS_A_DAY && one->changed.tv_sec < now - (time_t)keep->days * SECONDS_A_DAY;
        /* the oldest go: once one does not fit, no older one stays in its place */
        full = full || (keep->files > 0 && kept >= keep->files) ||
               (keep->total_bytes > 0 && (bytes > keep->total_bytes || one->bytes > keep->total_bytes - bytes));
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
    struct file one = file_of(st);
    const struct file *chosen = bsearch(&one, f->items, f->count, sizeof one, newest_first);
    if (chosen == NULL || chosen->device != one.device)
        return true;
    if (unlinkat(dir_fd, name, 0) == 0)
        f->removed++;
    else if (errno != ENOENT && f->failed_errno == 0)
        f->failed_errno = errno;
    return true;
}

enum cli_exit cli_keep_apply(const struct cli_keep *keep, const struct cli_template *t, const struct cli_template_values *values,
                             uint64_t coming, uint64_t *ret_removed)
{
    struct files f = { .count = 0 };
    *ret_removed = 0;
    if (keep->files == 0 && keep->days == 0 && keep->total_bytes == 0)
        return CLI_DONE;
    /* two walks instead of a list of names: between them somebody may put a link into the place of a folder */
    bool ok = cli_template_each(t, values, collect, &f);
    if (ok) {
        if (f.count > 1)
            qsort(f.items, f.count, sizeof *f.items, newest_first);
        choose(&f, keep, coming, time(NULL));
        ok = f.count == 0 || cli_template_each(t, values, remove_chosen, &f);
    }
    int e = ok ? f.failed_errno : errno;
    free(f.items);
    *ret_removed = f.removed;
    if (e == 0)
        return CLI_DONE;
    cli_say(NULL, "earlier dumps cannot be removed: %s", strerror(e));
    return CLI_FAILED;
}

struct newest {
    struct stat *ret;
    bool found;
};

static bool take_newer(void *ctx, int dir_fd, const char *name, const struct stat *st)
{
    struct newest *n = ctx;
    (void)dir_fd;
    (void)name;
    if (!n->found || compare_times(&st->st_mtim, &n->ret->st_mtim) > 0)
        *n->ret = *st;
    n->found = true;
    return true;
}

bool cli_keep_newest(const struct cli_template *t, const struct cli_template_values *values, struct stat *ret)
{
    struct newest n = { .ret = ret };
    (void)cli_template_each(t, values, take_newer, &n);
    return n.found;
}
