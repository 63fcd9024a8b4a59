#include "gh_holds.h"

#include <stdlib.h>

/* Adds an element of SIZE bytes; NULL: no memory. */
static void *room(struct gh_holds *h, void *array, size_t n, size_t *cap, size_t size)
{
    void *grown = array;

    if (n == *cap) {
        size_t more = *cap ? *cap * 2 : 1024;

        grown = realloc(array, more * size);
        if (grown)
            *cap = more;
        else
            h->no_memory = true;
    }
    return grown;
}

void gh_holds_root(struct gh_holds *h, uint64_t object)
{
    uint64_t *roots = room(h, h->roots, h->n_roots, &h->cap_roots, sizeof *roots);

    if (!roots)
        return;
    h->roots = roots;
    h->roots[h->n_roots++] = object;
}

void gh_holds_pair(struct gh_holds *h, uint64_t key, uint64_t value)
{
    struct gh_pair *pairs = room(h, h->pairs, h->n_pairs, &h->cap_pairs, sizeof *pairs);

    if (!pairs)
        return;
    h->pairs = pairs;
    h->pairs[h->n_pairs++] = (struct gh_pair){ key, value };
}

void gh_holds_done(struct gh_holds *h)
{
    free(h->roots);
    free(h->pairs);
    *h = (struct gh_holds){ 0 };
}
