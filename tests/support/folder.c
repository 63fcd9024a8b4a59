#include "support/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/check.h"

int make_folder(char ret[FOLDER_BYTES])
{
    (void)snprintf(ret, FOLDER_BYTES, "/tmp/gcd-test-XXXXXX");
    return mkdtemp(ret) != NULL ? 0 : -1;
}

const char *path_in_folder(const char *folder, const char *name)
{
    static char path[8][FOLDER_BYTES + 300];
    static unsigned which;
    char *p = path[which++ % 8];
    (void)snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

size_t folder_entries(const char *path)
{
    size_t n = 0;
    DIR *d = opendir(path);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    (void)closedir(d);
    return n;
}

void fill_file(const char *path, const void *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    assert_int_equal(close(fd), 0);
}

static int remove_one(const char *path, const struct stat *sb, int type, struct FTW *ftw)
{
    (void)sb;
    (void)type;
    (void)ftw;
    return remove(path);
}

int remove_folder(const char *path)
{
    return nftw(path, remove_one, 256, FTW_DEPTH | FTW_PHYS);
}
