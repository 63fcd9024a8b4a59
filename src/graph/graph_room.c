#include "graph/graph_room.h"

#include <string.h>

bool graph_room_grow(const struct gcd_alloc *a, void *items, size_t *room, uint64_t need,
                     size_t item_bytes)
{
    void *old;
    if (need <= *room)
        return true;
    if (need > SIZE_MAX / item_bytes / 2)
        return false;
    size_t want = *room + *room / 2;
    if (want < need)
        want = (size_t)need;
    if (want < 64)
        want = 64;
    memcpy(&old, items, sizeof old);
    void *p = a->resize(a->ctx, old, *room * item_bytes, want * item_bytes);
    if (p == NULL)
        return false;
    memcpy(items, &p, sizeof p);
    *room = want;
    return true;
}

void graph_room_shrink(const struct gcd_alloc *a, void *items, size_t *room, size_t used,
                       size_t item_bytes)
{
    void *old;
    size_t want = used > 0 ? used : 1;
    if (want >= *room)
        return;
    memcpy(&old, items, sizeof old);
    void *p = a->resize(a->ctx, old, *room * item_bytes, want * item_bytes);
    if (p == NULL)
        return;
    memcpy(items, &p, sizeof p);
    *room = want;
}
