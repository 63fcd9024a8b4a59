/*
 * Arrays that grow, and search in sorted ones.
 */
#ifndef GCD_CLI_TERM_LISTS_H
#define GCD_CLI_TERM_LISTS_H

#include <stdbool.h>
#include <stddef.h>

/* Room for an item behind COUNT of ITEM_BYTES each.  ITEMS points to the pointer to them, *ROOM is how many it has room for.  False: no memory. */
bool cli_list_grow(void *items, size_t count, size_t *room, size_t item_bytes);

/* The first of COUNT sorted items that does not come before KEY, by COMPARE(item, KEY); COUNT when there is none. */
size_t cli_list_find(const void *items, size_t count, size_t item_bytes, const char *key, int (*compare)(const void *item, const char *key));

#endif
