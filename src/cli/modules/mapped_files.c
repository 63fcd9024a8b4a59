#include "modules/mapped_files.h"

#include "base/text.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "term/lists.h"

#define NS_PER_S INT64_C(1000000000)

/* Undoes the escapes of a path in /proc/PID/maps: "\012" is a line feed.  No other character is
 * escaped. */
static void unescape(char *path)
{
    char *to = path;
    for (const char *from = path; *from != '\0'; to++)
        if (strncmp(from, "\\012", 4) == 0) {
            *to = '\n';
            from += 4;
        } else {
            *to = *from++;
        }
    *to = '\0';
}

static bool cut_end(char *text, const char *end)
{
    size_t n = gcd_text_without(text, end);
    bool cut = text[n] != '\0';
    text[n] = '\0';
    return cut;
}

static bool same_file(const struct mapped_file *a, const struct mapped_file *b)
{
    return a->inode == b->inode && a->deleted == b->deleted && strcmp(a->path, b->path) == 0;
}

static bool add(struct mapped_files *m, const struct mapped_file *file)
{
    if (m->count >= MAPPED_FILES_MAX ||
        (m->count > 0 &&
         same_file(&m->items[m->count - 1], file))) /* sections of one file are adjacent */
        return true;
    if (!cli_list_grow(&m->items, m->count, &m->room, sizeof *m->items))
        return false;
    m->items[m->count] = *file;
    m->items[m->count].path = strdup(file->path);
    return m->items[m->count].path != NULL && ++m->count > 0;
}

bool mapped_files_line(struct mapped_files *m, char *line, const char *root, size_t n_root)
{
    struct mapped_file file = { .path = NULL };
    int at = 0;
    (void)cut_end(line, "\n");
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*4c %*x %*x:%*x %" SCNu64 " %n", &file.start,
               &file.end, &file.inode, &at) != 3 ||
        at == 0 || line[at] != '/')
        return true;
    file.path = line + at;
    unescape(file.path);
    file.deleted = cut_end(file.path, " (deleted)");
    if (n_root > 1 && strncmp(file.path, root, n_root) == 0 && file.path[n_root] == '/')
        file.path += n_root;
    return add(m, &file);
}

static int by_path(const void *a, const void *b)
{
    const struct mapped_file *x = a, *y = b;
    int c = strcmp(x->path, y->path);
    if (c == 0)
        c = (x->deleted > y->deleted) - (x->deleted < y->deleted);
    if (c == 0)
        c = (x->inode > y->inode) - (x->inode < y->inode);
    return c != 0 ? c : (x->start > y->start) - (x->start < y->start);
}

void mapped_files_sort(struct mapped_files *m)
{
    size_t n = 0;
    if (m->count > 0)
        qsort(m->items, m->count, sizeof *m->items, by_path);
    for (size_t i = 0; i < m->count; i++)
        if (n > 0 && same_file(&m->items[n - 1], &m->items[i]))
            free(m->items[i].path);
        else
            m->items[n++] = m->items[i];
    m->count = n;
}

bool mapped_files_read(uint32_t pid, struct mapped_files *ret)
{
    char path[64], root[PATH_MAX], *line = NULL;
    size_t room = 0;
    bool enough = true;
    *ret = (struct mapped_files){ .items = NULL };
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/root", pid);
    ssize_t n_root = readlink(path, root, sizeof root); /* longer than "/" after chroot(2): then the
                                                           paths are not as the process sees them */
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/maps", pid);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return true;
    while (enough && getline(&line, &room, f) > 0)
        enough = mapped_files_line(ret, line, root, n_root > 0 ? (size_t)n_root : 0);
    free(line);
    (void)fclose(f);
    mapped_files_sort(ret);
    if (!enough)
        mapped_files_done(ret);
    return enough;
}

static int compare_path(const void *item, const char *path)
{
    return strcmp(((const struct mapped_file *)item)->path, path);
}

size_t mapped_files_find(const struct mapped_files *m, const char *path)
{
    return cli_list_find(m->items, m->count, sizeof *m->items, path, compare_path);
}

void mapped_files_done(struct mapped_files *m)
{
    for (size_t i = 0; i < m->count; i++)
        free(m->items[i].path);
    free(m->items);
    *m = (struct mapped_files){ .items = NULL };
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    return clock_gettime(clock, &now) == 0 ? (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec : 0;
}

int64_t process_start_ns(uint32_t pid)
{
    char path[64], text[1024];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/stat", pid);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return INT64_MIN;
    size_t n = fread(text, 1, sizeof text - 1, f);
    (void)fclose(f);
    text[n] = '\0';
    const char *p = strrchr(text, ')'); /* the program's name before it can contain anything */
    uint64_t ticks;
    long hz = sysconf(_SC_CLK_TCK);
    if (p == NULL || hz <= 0 ||
        sscanf(
            p + 1,
            " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %" SCNu64,
            &ticks) != 1 ||
        ticks / (uint64_t)hz > UINT32_MAX)
        return INT64_MIN;
    int64_t after_boot = (int64_t)(ticks / (uint64_t)hz) * NS_PER_S +
                         (int64_t)(ticks % (uint64_t)hz) * NS_PER_S / hz;
    return clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME) + after_boot;
}
