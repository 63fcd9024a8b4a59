/*
 * The files that a live process has mapped: /proc/PID/maps.  .NET maps every assembly that it loads
 * from a file.
 */
#ifndef GCD_CLI_MODULES_MAPPED_FILES_H
#define GCD_CLI_MODULES_MAPPED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapped_file {
    char *path;          /* as the process sees it */
    uint64_t start, end; /* one of its mappings */
    uint64_t inode;
    bool deleted; /* the path is gone or is another file now */
};

struct mapped_files {
    struct mapped_file *items; /* [count] sorted by path, each once */
    size_t count, room;
};

/* Further files are left out; no process maps as many. */
#define MAPPED_FILES_MAX ((size_t)65536)

/* False: out of memory.  A process that has ended or may not be examined has no files. */
bool mapped_files_read(uint32_t pid, struct mapped_files *ret);
/* The first file with PATH or after it in the order; count when there is none. */
size_t mapped_files_find(const struct mapped_files *m, const char *path);
void mapped_files_done(struct mapped_files *m);

/*
 * Adds the file in LINE of /proc/PID/maps; ignores mappings that are not files.  ROOT[N_ROOT], the
 * root folder of the process, is removed from its path.  False: out of memory.
 */
bool mapped_files_line(struct mapped_files *m, char *line, const char *root, size_t n_root);
/* Call it after the last line. */
void mapped_files_sort(struct mapped_files *m);

/*
 * When the process PID began, in nanoseconds since 1970 by the present clock; INT64_MIN = unknown.
 * If the clock was set since, the answer moves with it, but the times of files do not.
 */
int64_t process_start_ns(uint32_t pid);

#endif
