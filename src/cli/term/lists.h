/*
 * Growing arrays, and search in sorted ones.
 */
#ifndef GCD_CLI_TERM_LISTS_H
#define GCD_CLI_TERM_LISTS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes room for one more item after COUNT items of ITEM_BYTES each.  ITEMS points to the array
 * pointer; *ROOM is its capacity in items.  False: out of memory.
 */
bool cli_list_grow(void *items, size_t count, size_t *room, size_t item_bytes);

/* The first of COUNT sorted items that is not before KEY, by COMPARE(item, KEY); COUNT when there
 * is none. */
size_t cli_list_find(const void *items, size_t count, size_t item_bytes, const char *key,
                     int (*compare)(const void *item, const char *key));

#endif
