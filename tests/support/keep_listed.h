/* Retention with a list of everything that the template could have named. */
#ifndef GCD_TEST_KEEP_LISTED_H
#define GCD_TEST_KEEP_LISTED_H

#include "job/keep.h"
#include "support/check.h"

struct list {
    struct cli_keep_file files[2000];
    size_t count;
};

static bool add_to_list(void *ctx, int dir_fd, const char *name, const struct stat *st)
{
    struct list *l = ctx;
    (void)dir_fd;
    (void)name;
    assert_true(l->count < sizeof l->files / sizeof *l->files);
    l->files[l->count++] = (struct cli_keep_file){ .inode = st->st_ino, .changed = st->st_mtim };
    return true;
}

static enum cli_exit keep_listed(struct cli_keep keep, const struct cli_template *t,
                                 const struct cli_template_values *v, uint64_t coming,
                                 uint64_t *ret_removed)
{
    struct list all = { .count = 0 };
    struct cli_kept kept;
    (void)cli_template_each(t, v, add_to_list, &all, NULL);
    cli_keep_sort(all.files, all.count);
    keep.listed = all.files;
    keep.listed_count = all.count;
    enum cli_exit e = cli_keep_apply(&keep, t, v, coming, &kept);
    assert_int_equal(kept.unlisted, 0);
    *ret_removed = kept.removed;
    return e;
}

#endif
