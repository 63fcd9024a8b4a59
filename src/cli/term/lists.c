#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "term/lists.h"

#define FIRST_ROOM 64u

bool cli_list_grow(void *items, size_t count, size_t *room, size_t item_bytes)
{
    void *old, *more;
    size_t n = *room == 0 ? FIRST_ROOM : 2 * *room;
    if (count < *room)
        return true;
    if (*room > SIZE_MAX / 2 / item_bytes)
        return false;
    memcpy(&old, items, sizeof old);
    more = realloc(old, n * item_bytes);
    if (more == NULL)
        return false;
    memcpy(items, &more, sizeof more);
    *room = n;
    return true;
}

size_t cli_list_find(const void *items, size_t count, size_t item_bytes, const char *key,
                     int (*compare)(const void *item, const char *key))
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare((const char *)items + middle * item_bytes, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
