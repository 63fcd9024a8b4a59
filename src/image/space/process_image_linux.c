/*
 * What /proc says about a process: the files that it maps, its threads, its command line.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "image/space/image.h"

#define MAPPINGS_MAX  UINT64_C(1000000)
#define THREADS_MAX   1000000u
#define LINE_BYTES    8192u
#define COMMAND_BYTES 4096u

/* "START-END PERMISSIONS OFFSET DEVICE INODE  PATH": with a path from "/" on, which may have blanks
 * and may end in " (deleted)". */
static gcd_status add_mapping(struct image *m, char *line, struct gcd_error *err)
{
    uint64_t start, end, off;
    int at = 0;
    size_t n = strcspn(line, "\n");
    line[n] = '\0';
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &start, &end, &off,
               &at) < 3 ||
        at == 0 || line[at] != '/')
        return GCD_OK;
    line[gcd_text_without(line, " (deleted)")] = '\0';
    if (!gcd_vec_reserve(&m->alloc, &m->mappings, &m->mapping_cap, m->mapping_count + 1,
                         sizeof *m->mappings, MAPPINGS_MAX))
        return gcd_fail_nomem(err, "reading the mappings of a process");
    struct image_mapping *to = &m->mappings[m->mapping_count];
    *to = (struct image_mapping){ .start = start, .end = end, .file_off = off };
    gcd_status st =
        gcd_textpool_add_utf8(&m->text, (const uint8_t *)line + at, strlen(line + at), &to->path);
    if (st != GCD_OK)
        return gcd_fail(err, st, "cannot keep the paths of a process");
    m->mapping_count++;
    return GCD_OK;
}

static gcd_status read_mappings(struct image *m, uint32_t pid, struct gcd_error *err)
{
    char path[64], line[LINE_BYTES];
    gcd_status st = GCD_OK;
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/maps", pid);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return errno == ENOENT ? gcd_fail_gone(err)
                               : gcd_fail_os(err, errno, "cannot read its mappings");
    while (st == GCD_OK && fgets(line, sizeof line, f) != NULL)
        st = add_mapping(m, line, err);
    (void)fclose(f);
    return st;
}

/* The number of thread ID of the process PID in the innermost PID namespace of the process, where
 * the runtime has asked for it: the last one of "NSpid:". */
static uint32_t inner_id(uint32_t pid, uint32_t id)
{
    char path[64], line[256];
    const char *last = NULL;
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/task/%" PRIu32 "/status", pid, id);
    FILE *f = fopen(path, "re");
    while (f != NULL && last == NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, "NSpid:", 6) == 0)
            last = strrchr(line, '\t');
    if (f != NULL)
        (void)fclose(f);
    uint32_t inner = last != NULL ? (uint32_t)strtoul(last + 1, NULL, 10) : 0;
    return inner != 0 ? inner : id;
}

/* What the kernel calls thread ID of the process PID; "" = it has ended. */
static void read_thread_name(uint32_t pid, uint32_t id, char ret[IMAGE_THREAD_NAME_BYTES])
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/task/%" PRIu32 "/comm", pid, id);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, ret, IMAGE_THREAD_NAME_BYTES) : 0;
    if (fd >= 0)
        (void)close(fd);
    ret[n > 0 ? n - 1 : 0] = '\0'; /* in place of the end of the line */
}

/* Threads have kept their names; both lists are in the order of the kernel. */
static void keep_name(const struct image_thread *before, size_t n, size_t *at,
                      struct image_thread *to)
{
    for (size_t i = 0; i < n; i++, ++*at) {
        const struct image_thread *t = &before[*at % n];
        if (t->id != to->id)
            continue;
        memcpy(to->name, t->name, sizeof to->name);
        return;
    }
}

gcd_status process_image_stopped(struct image *m, const struct image_thread *threads, size_t n,
                                 struct gcd_error *err)
{
    bool inside = inner_id(m->process, m->process) != m->process;
    struct image_thread *before = m->threads;
    size_t before_count = m->thread_count, before_cap = m->thread_cap, at = 0;
    m->threads = NULL;
    m->thread_count = m->thread_cap = 0;
    bool room =
        gcd_vec_reserve(&m->alloc, &m->threads, &m->thread_cap, n, sizeof *m->threads, THREADS_MAX);
    for (; room && m->thread_count < n; m->thread_count++) {
        struct image_thread *to = &m->threads[m->thread_count];
        *to = threads[m->thread_count];
        to->id = inside ? inner_id(m->process, to->id) : to->id;
        keep_name(before, before_count, &at, to);
    }
    gcd_mem_free(&m->alloc, before, before_cap * sizeof *before);
    if (!room)
        return gcd_fail_nomem(err, "reading the threads of a process");
    image_forget_pages(m);
    return GCD_OK;
}

static void read_thread(uint32_t pid, uint32_t id, struct image_thread *ret)
{
    *ret = (struct image_thread){ .id = inner_id(pid, id) };
    read_thread_name(pid, id, ret->name);
}

static gcd_status read_threads(struct image *m, uint32_t pid, struct gcd_error *err)
{
    char path[64];
    gcd_status st = GCD_OK;
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/task", pid);
    DIR *dir = opendir(path);
    const struct dirent *e;
    if (dir == NULL)
        return gcd_fail_gone(err);
    while (st == GCD_OK && (e = readdir(dir)) != NULL) {
        uint32_t id = (uint32_t)strtoul(e->d_name, NULL, 10);
        if (id == 0)
            continue;
        if (!gcd_vec_reserve(&m->alloc, &m->threads, &m->thread_cap, m->thread_count + 1,
                             sizeof *m->threads, THREADS_MAX))
            st = gcd_fail_nomem(err, "reading the threads of a process");
        else
            read_thread(pid, id, &m->threads[m->thread_count++]);
    }
    (void)closedir(dir);
    return st;
}

static gcd_status read_command_line(struct image *m, uint32_t pid, struct gcd_error *err)
{
    char text[COMMAND_BYTES];
    (void)snprintf(text, sizeof text, "/proc/%" PRIu32 "/cmdline", pid);
    int fd = open(text, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text) : 0;
    if (fd >= 0)
        (void)close(fd);
    while (n > 0 && text[n - 1] == '\0')
        n--;
    for (ssize_t i = 0; i < n; i++)
        text[i] = text[i] == '\0' ? ' ' : text[i];
    gcd_status st = gcd_textpool_add_utf8(&m->text, (const uint8_t *)text, n > 0 ? (size_t)n : 0,
                                          &m->command_line);
    return st == GCD_OK ? GCD_OK : gcd_fail(err, st, "cannot keep the command line of a process");
}

gcd_status process_image_read(struct image *m, uint32_t pid, struct gcd_error *err)
{
    m->process = pid;
    GCD_TRY(read_mappings(m, pid, err));
    GCD_TRY(read_threads(m, pid, err));
    return read_command_line(m, pid, err);
}
