/*
 * The files below the folders of --modules, found by name.
 */
#ifndef GCD_CLI_MODULES_FOLDER_INDEX_H
#define GCD_CLI_MODULES_FOLDER_INDEX_H

#include <stdbool.h>
#include <stddef.h>

#define FOLDER_INDEX_DEPTH   8u /* levels of folders below the given one */
#define FOLDER_INDEX_ENTRIES ((size_t)100000)

struct indexed_file {
    char *path;
    const char *name; /* the last part of the path */
    unsigned order;   /* number of the given folder, and the depth below it */
};

struct folder_index {
    struct indexed_file *items; /* [count] sorted by name without case, then by order and path */
    size_t count, room;
    size_t seen; /* entries of all kinds */
    bool cut;    /* some were left out: more than MOST, or deeper folders */
    size_t most; /* 0 = FOLDER_INDEX_ENTRIES */
};

/*
 * Adds the files below FOLDER, number NUMBER.  Leaves out folders that cannot be read, and does not
 * follow links to folders.  False: out of memory.
 */
bool folder_index_add(struct folder_index *x, const char *folder, unsigned number);
/* Call it after the last folder. */
void folder_index_sort(struct folder_index *x);
/* The first file with NAME or after it in the order; count when there is none. */
size_t folder_index_find(const struct folder_index *x, const char *name);
void folder_index_done(struct folder_index *x);

#endif
