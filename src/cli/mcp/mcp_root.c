/*
 * Walks the path from one open folder to the next without following links: what it opens is below
 * the root, even if others rename files meanwhile.
 */
#include "mcp/mcp_root.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LISTED_MAX 20u

/* NAME without the root in front; NULL = it is not below the root. */
static const char *inside(const struct mcp_server *s, const char *name)
{
    size_t n = strlen(s->root);
    if (name[0] != '/')
        return name;
    while (n > 1 && s->root[n - 1] == '/')
        n--;
    if (strncmp(name, s->root, n) != 0 || (name[n] != '/' && n > 1))
        return NULL;
    return name + n + strspn(name + n, "/");
}

static enum mcp_outcome outside(struct mcp_call *c, const char *name)
{
    return mcp_fail(c,
                    "%.200s: files are only read and written below %s, without links and \"..\"; "
                    "give a path in that "
                    "folder",
                    name, c->server->root);
}

/* Replaces *FD, an open folder, by its folder NAME[N].  0, or an errno. */
static int enter(int *fd, const char *name, size_t n)
{
    char part[NAME_MAX + 1];
    if (n >= sizeof part)
        return ENAMETOOLONG;
    memcpy(part, name, n);
    part[n] = '\0';
    if (strcmp(part, "..") == 0)
        return EXDEV;
    int next = openat(*fd, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
        problem = next < 0 ? errno : 0;
    (void)close(*fd);
    *fd = next;
    return problem;
}

/* Opens the folder of PATH, which is relative.  0, or an errno. */
static int walk(int root_fd, const char *path, int *ret_fd, const char **ret_name)
{
    int fd = openat(root_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC), problem = fd < 0 ? errno : 0;
    path += strspn(path, "/");
    for (size_t n = strcspn(path, "/"); path[n] != '\0' && problem == 0; n = strcspn(path, "/")) {
        problem = enter(&fd, path, n);
        path += n + strspn(path + n, "/");
    }
    if (problem == 0 && (path[0] == '\0' || strcmp(path, "..") == 0))
        problem = path[0] == '\0' ? EISDIR : EXDEV;
    if (problem != 0 && fd >= 0)
        (void)close(fd);
    *ret_fd = fd;
    *ret_name = path;
    return problem;
}

/* ---- which files there are ---- */

bool mcp_root_is_dump(const char *name)
{
    return cli_dump_stem(name) < gcd_text_without(name, ".gz");
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The name of an entry in the list, to be freed; NULL: it is not listed, or out of memory. */
static char *listed(const struct dirent *e)
{
    char *name = NULL;
    if (e->d_type == DT_DIR && e->d_name[0] != '.')
        return asprintf(&name, "%s/", e->d_name) >= 0 ? name : NULL;
    return e->d_type == DT_REG && mcp_root_is_dump(e->d_name) ? strdup(e->d_name) : NULL;
}

/* Lists the dumps and folders in the folder FD, which it closes. */
static void list(int fd, FILE *to)
{
    char *names[LISTED_MAX];
    size_t n = 0, more = 0;
    DIR *d = fdopendir(fd);
    if (d == NULL) {
        (void)close(fd);
        return;
    }
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char *name = listed(e);
        if (name != NULL && n < LISTED_MAX) {
            names[n++] = name;
        } else if (name != NULL) {
            more++;
            free(name);
        }
    }
    (void)closedir(d);
    qsort(names, n, sizeof *names, compare_names);
    for (size_t i = 0; i < n; i++) {
        fprintf(to, "%s%s", i == 0 ? "; there are: " : ", ", names[i]);
        free(names[i]);
    }
    if (n == 0)
        fputs("; it has no recording or dump", to);
    if (more > 0)
        fprintf(to, " and %zu more", more);
}

/* Fails because there is no file NAME; the error lists the recordings and dumps in the root itself.
 */
static enum mcp_outcome fail_absent(struct mcp_call *c, const char *name)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    int fd = openat(c->server->root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f != NULL && fd >= 0)
        list(fd, f);
    else if (fd >= 0)
        (void)close(fd);
    if (f != NULL && fclose(f) != 0)
        text = NULL;
    enum mcp_outcome e = mcp_fail(c, "%.200s does not exist in %s%s", name, c->server->root,
                                  text != NULL ? text : "");
    free(text);
    return e;
}

/* ---- opening ---- */

enum mcp_outcome mcp_root_open_folder(struct mcp_call *c, const char *name, int *ret_fd,
                                      const char **ret_name)
{
    const char *path = c->server->root_fd >= 0 ? inside(c->server, name) : NULL;
    if (c->server->root_fd < 0)
        return mcp_fail(c, "no files can be used: the server was started without --root");
    if (path == NULL)
        return outside(c, name);
    int problem = walk(c->server->root_fd, path, ret_fd, ret_name);
    if (problem == ELOOP || problem == ENOTDIR || problem == EXDEV)
        return outside(c, name);
    return problem == 0        ? MCP_DONE
           : problem == ENOENT ? fail_absent(c, name)
                               : mcp_fail(c, "%.200s: %s", name, strerror(problem));
}

enum mcp_outcome mcp_root_open(struct mcp_call *c, const char *name, int *ret_fd)
{
    int folder;
    const char *last;
    enum mcp_outcome e = mcp_root_open_folder(c, name, &folder, &last);
    if (e != MCP_DONE)
        return e;
    int fd = openat(folder, last, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC),
        problem = fd < 0 ? errno : 0;
    struct stat st;
    (void)close(folder);
    *ret_fd = fd;
    /* opening a pipe would wait for its other end */
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        (void)close(fd);
        return mcp_fail(c, "%.200s is no file", name);
    }
    if (problem == ELOOP)
        return outside(c, name);
    return problem == 0        ? MCP_DONE
           : problem == ENOENT ? fail_absent(c, name)
                               : mcp_fail(c, "%.200s: %s", name, strerror(problem));
}
