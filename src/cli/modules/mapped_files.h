/*
 * The files that a living process has mapped: /proc/PID/maps.  .NET maps every assembly that it loads from a file.
 */
#ifndef GCD_CLI_MODULES_MAPPED_FILES_H
#define GCD_CLI_MODULES_MAPPED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapped_file {
    char *path;                  /* as the process sees it */
    uint64_t start, end;         /* one of its mappings */
    uint64_t inode;
    bool deleted;                /* the path is gone, or is another file's now */
};

struct mapped_files {
    struct mapped_file *items;   /* [count] by path, each once */
    size_t count, room;
};

/* Files beyond so many are left out: no process maps them. */
#define MAPPED_FILES_MAX ((size_t)65536)

/* False: no memory.  A process that has ended, or may not be looked at, maps nothing. */
bool mapped_files_read(uint32_t pid, struct mapped_files *ret);
/* The first file with PATH or behind it in the order; count when there is none. */
size_t mapped_files_find(const struct mapped_files *m, const char *path);
void mapped_files_done(struct mapped_files *m);

/* Adds what LINE of /proc/PID/maps tells, without mappings that are no files.  ROOT[N_ROOT] in front of its path is the root folder of the process.
   False: no memory. */
bool mapped_files_line(struct mapped_files *m, char *line, const char *root, size_t n_root);
/* Call it behind the last line. */
void mapped_files_sort(struct mapped_files *m);

/*
 * When the process PID began, in nanoseconds since 1970 by the clock of this moment; INT64_MIN = unknown.  If the clock was set since,
 * so is the answer, but the times of files are not.
 */
int64_t process_start_ns(uint32_t pid);

#endif
