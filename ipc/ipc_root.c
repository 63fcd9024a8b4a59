#include "ipc/ipc_root.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gcdumpc/ipc.h>

enum { MAX_LINKS = 40 }; /* as the kernel has it */

struct walk {
    char *name;                  /* what is resolved so far */
    size_t n, cap;
    size_t n_base;               /* of it the part that stands for the root, or the start */
    bool below_root;             /* base is the root, so ".." at it stays there */
    char rest[GCD_IPC_PATH_MAX]; /* what is still to go */
};

static int begin_at(struct walk *w, const char *base, bool is_root)
{
    size_t n = strlen(base);
    if (n >= w->cap)
        return -ENAMETOOLONG;
    memcpy(w->name, base, n + 1);
    w->n = w->n_base = n;
    w->below_root = is_root;
    return 0;
}

/* Put the target of the link w->name, which is the last component, in front of the rest. */
static int take_link(struct walk *w, const char *root, size_t n_before)
{
    char joined[GCD_IPC_PATH_MAX];
    ssize_t n = readlink(w->name, joined, sizeof joined);
    if (n < 0)
        return -errno;
    size_t n_rest = strlen(w->rest), n_link = (size_t)n;
    if (n_link == 0)
        return -ENOENT;
    if (n_link + 1 + n_rest >= sizeof joined)
        return -ENAMETOOLONG;
    joined[n_link] = '/';
    memcpy(joined + n_link + 1, w->rest, n_rest + 1);
    memcpy(w->rest, joined, n_link + 1 + n_rest + 1);
    w->n = n_before;
    w->name[w->n] = '\0';
    return w->rest[0] == '/' ? begin_at(w, root, true) : 0;
}

static int go_up(struct walk *w)
{
    if (w->n == w->n_base)
        return w->below_root ? 0 : -EXDEV;
    while (w->n > w->n_base && w->name[w->n - 1] != '/')
        w->n--;
    w->name[--w->n] = '\0';
    return 0;
}

int gcd_root_resolve(const char *root, const char *start, const char *path, char *ret, size_t cap)
{
    struct walk w = { .name = ret, .cap = cap };
    unsigned links = 0;
    int r = begin_at(&w, path[0] == '/' ? root : start, path[0] == '/');
    if (r != 0)
        return r;
    if (strlen(path) >= sizeof w.rest)
        return -ENAMETOOLONG;
    memcpy(w.rest, path, strlen(path) + 1);
    for (;;) {
        size_t n_slashes = strspn(w.rest, "/");
        size_t n_part = strcspn(w.rest + n_slashes, "/");
        if (n_part == 0)
            return 0;
        char part[256];
        if (n_part >= sizeof part)
            return -ENAMETOOLONG;
        memcpy(part, w.rest + n_slashes, n_part);
        part[n_part] = '\0';
        memmove(w.rest, w.rest + n_slashes + n_part, strlen(w.rest + n_slashes + n_part) + 1);
        if (strcmp(part, ".") == 0)
            continue;
        if (strcmp(part, "..") == 0) {
            if ((r = go_up(&w)) != 0)
                return r;
            continue;
        }
        if (w.n + 1 + n_part >= cap)
            return -ENAMETOOLONG;
        size_t n_before = w.n;
        w.name[w.n++] = '/';
        memcpy(w.name + w.n, part, n_part + 1);
        w.n += n_part;
        struct stat sb;
        if (lstat(w.name, &sb) != 0)
            return -errno;
        if (!S_ISLNK(sb.st_mode))
            continue;
        if (++links > MAX_LINKS)
            return -ELOOP;
        if ((r = take_link(&w, root, n_before)) != 0)
            return r;
    }
}
