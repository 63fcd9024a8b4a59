/*
 * The files below the folders of --modules, found by name.
 */
#ifndef GCD_CLI_MODULES_FOLDER_INDEX_H
#define GCD_CLI_MODULES_FOLDER_INDEX_H

#include <stdbool.h>
#include <stddef.h>

#define FOLDER_INDEX_DEPTH 8u            /* folders below the one that was named */
#define FOLDER_INDEX_ENTRIES ((size_t)100000)

struct indexed_file {
    char *path;
    const char *name;            /* its last part */
    unsigned order;              /* number of the folder that was named, and the depth below it */
};

struct folder_index {
    struct indexed_file *items;  /* [count] by name, upper and lower case alike, then by order and path */
    size_t count, room;
    size_t seen;                 /* entries of all kinds */
    bool cut;                    /* there were more than MOST, or deeper folders */
    size_t most;                 /* 0 = FOLDER_INDEX_ENTRIES */
};

/* Adds the files below FOLDER, number NUMBER; a folder that cannot be read is left out, links to folders are not followed.  False: no memory. */
bool folder_index_add(struct folder_index *x, const char *folder, unsigned number);
/* Call it behind the last folder. */
void folder_index_sort(struct folder_index *x);
/* The first file with NAME or behind it in the order; count when there is none. */
size_t folder_index_find(const struct folder_index *x, const char *name);
void folder_index_done(struct folder_index *x);

#endif
