#include "modules/folder_index.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "term/lists.h"
#include "term/path.h"

/* The open folders, from the given one down to the one being read. */
struct descent {
    DIR *open[FOLDER_INDEX_DEPTH + 1];
    char *path[FOLDER_INDEX_DEPTH + 1];
    unsigned n;
};

/* FOLDER/NAME; free it. */
static char *join(const char *folder, const char *name)
{
    size_t n = strlen(folder);
    char *path = NULL;
    return asprintf(&path, "%s%s%s", folder, n > 0 && folder[n - 1] == '/' ? "" : "/", name) < 0
               ? NULL
               : path;
}

/* Adds PATH, which it takes over.  False: out of memory. */
static bool add_file(struct folder_index *x, char *path, unsigned order)
{
    if (!cli_list_grow(&x->items, x->count, &x->room, sizeof *x->items)) {
        free(path);
        return false;
    }
    x->items[x->count++] =
        (struct indexed_file){ .path = path, .name = cli_path_name(path), .order = order };
    return true;
}

/* Opens the folder PATH, which it takes over.  A folder that cannot be opened is left out. */
static void enter(struct descent *d, int dir_fd, const char *name, char *path)
{
    int fd = openat(dir_fd, name,
                    O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | (d->n > 0 ? O_NOFOLLOW : 0));
    DIR *open = fd >= 0 ? fdopendir(fd) : NULL;
    if (open == NULL) {
        if (fd >= 0)
            (void)close(fd);
        free(path);
        return;
    }
    d->open[d->n] = open;
    d->path[d->n++] = path;
}

static void leave(struct descent *d)
{
    (void)closedir(d->open[--d->n]);
    free(d->path[d->n]);
}

/* The kind of an entry: folder, file, link to anything, or neither.  Some file systems do not tell
 * without being asked. */
static unsigned char kind_of(int dir_fd, const struct dirent *e)
{
    struct stat st;
    if (e->d_type != DT_UNKNOWN)
        return e->d_type;
    return fstatat(dir_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0
               ? (unsigned char)IFTODT(st.st_mode)
               : DT_UNKNOWN;
}

/* Handles one entry.  False: out of memory. */
static bool take(struct folder_index *x, struct descent *d, const struct dirent *e, unsigned number)
{
    int dir_fd = dirfd(d->open[d->n - 1]);
    unsigned char kind = kind_of(dir_fd, e);
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
        (kind != DT_DIR && kind != DT_REG && kind != DT_LNK))
        return true;
    if (kind == DT_DIR && d->n > FOLDER_INDEX_DEPTH) {
        x->cut = true;
        return true;
    }
    char *path = join(d->path[d->n - 1], e->d_name);
    if (path == NULL)
        return false;
    if (kind != DT_DIR)
        return add_file(x, path, number * (FOLDER_INDEX_DEPTH + 1) + d->n - 1);
    enter(d, dir_fd, e->d_name, path);
    return true;
}

bool folder_index_add(struct folder_index *x, const char *folder, unsigned number)
{
    struct descent d = { .n = 0 };
    char *path = strdup(folder);
    bool room = path != NULL;
    if (room)
        enter(&d, AT_FDCWD, folder, path);
    while (d.n > 0 && room) {
        const struct dirent *e = readdir(d.open[d.n - 1]);
        if (e == NULL) {
            leave(&d);
        } else if (x->seen >= (x->most != 0 ? x->most : FOLDER_INDEX_ENTRIES)) {
            x->cut = true;
            break;
        } else {
            x->seen++;
            room = take(x, &d, e, number);
        }
    }
    while (d.n > 0)
        leave(&d);
    return room;
}

static int by_name(const void *a, const void *b)
{
    const struct indexed_file *x = a, *y = b;
    int c = strcasecmp(x->name, y->name);
    if (c == 0)
        c = (x->order > y->order) - (x->order < y->order);
    return c != 0 ? c : strcmp(x->path, y->path);
}

void folder_index_sort(struct folder_index *x)
{
    if (x->count > 0)
        qsort(x->items, x->count, sizeof *x->items, by_name);
}

static int compare_name(const void *item, const char *name)
{
    return strcasecmp(((const struct indexed_file *)item)->name, name);
}

size_t folder_index_find(const struct folder_index *x, const char *name)
{
    return cli_list_find(x->items, x->count, sizeof *x->items, name, compare_name);
}

void folder_index_done(struct folder_index *x)
{
    for (size_t i = 0; i < x->count; i++)
        free(x->items[i].path);
    free(x->items);
    *x = (struct folder_index){ .items = NULL };
}
