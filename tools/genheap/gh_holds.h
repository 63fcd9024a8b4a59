/* What keeps objects alive from outside, collected during the first walk for the retained sizes of
 * the truth file. */
#ifndef GH_HOLDS_H
#define GH_HOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gh_pair {
    uint64_t key, value;
};

/* By object index; 8 bytes per root, 16 per handle. */
struct gh_holds {
    uint64_t *roots;       /* static variables and all roots that are neither weak nor late */
    struct gh_pair *pairs; /* dependent handles */
    size_t n_roots, cap_roots, n_pairs, cap_pairs;
    bool no_memory;
};

void gh_holds_root(struct gh_holds *h, uint64_t object);
void gh_holds_pair(struct gh_holds *h, uint64_t key, uint64_t value);
void gh_holds_done(struct gh_holds *h);

#endif
