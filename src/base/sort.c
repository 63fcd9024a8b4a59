#include "base/sort.h"

#include <string.h>

#include "base/mem.h"

static uint64_t key_at(const unsigned char *items, size_t i, size_t item_bytes)
{
    uint64_t key;
    memcpy(&key, items + i * item_bytes, sizeof key);
    return key;
}

/* Where the items from START on stop to ascend. */
static size_t run_end(const unsigned char *items, size_t start, size_t n, size_t item_bytes)
{
    size_t i = start + 1;
    while (i < n && key_at(items, i - 1, item_bytes) <= key_at(items, i, item_bytes))
        i++;
    return i < n ? i : n;
}

static void merge(const unsigned char *from, unsigned char *to, size_t start, size_t mid,
                  size_t end, size_t item_bytes)
{
    size_t i = start, j = mid, k = start;
    for (; i < mid && j < end; k++) {
        bool left = key_at(from, i, item_bytes) <= key_at(from, j, item_bytes);
        memcpy(to + k * item_bytes, from + (left ? i++ : j++) * item_bytes, item_bytes);
    }
    memcpy(to + k * item_bytes, from + i * item_bytes, (mid - i) * item_bytes);
    k += mid - i;
    memcpy(to + k * item_bytes, from + j * item_bytes, (end - j) * item_bytes);
}

/* Merges runs that ascend, two and two, until one is left: what is nearly in order, as objects of
 * a heap are, takes few rounds. */
bool gcd_sort_by_u64(const struct gcd_alloc *a, void *items, size_t n, size_t item_bytes)
{
    if (n == 0 || run_end(items, 0, n, item_bytes) == n)
        return true;
    unsigned char *from = items, *other = gcd_mem_new_array(a, n, item_bytes);
    if (other == NULL)
        return false;
    unsigned char *to = other;
    for (bool sorted = false; !sorted;) {
        for (size_t start = 0, end; start < n; start = end) {
            size_t mid = run_end(from, start, n, item_bytes);
            end = mid < n ? run_end(from, mid, n, item_bytes) : n;
            merge(from, to, start, mid, end, item_bytes);
            sorted = start == 0 && end == n;
        }
        unsigned char *swap = from;
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, n * item_bytes);
    gcd_mem_free(a, other, n * item_bytes);
    return true;
}

bool gcd_sort_numbers(const struct gcd_alloc *a, uint32_t *items, size_t n,
                      int (*compare)(const void *ctx, uint32_t a, uint32_t b), const void *ctx)
{
    uint32_t *scratch = gcd_mem_new_array(a, n, sizeof *scratch);
    if (scratch == NULL)
        return false;
    for (size_t run = 1; run < n; run = run <= n / 2 ? run * 2 : n) {
        for (size_t start = 0, end; start < n; start = end) {
            size_t mid = n - start > run ? start + run : n;
            end = n - mid > run ? mid + run : n;
            for (size_t i = start, j = mid, k = start; k < end; k++) {
                bool left = i < mid && (j >= end || compare(ctx, items[i], items[j]) <= 0);
                scratch[k] = items[left ? i++ : j++];
            }
        }
        memcpy(items, scratch, n * sizeof *items);
    }
    gcd_mem_free(a, scratch, n * sizeof *scratch);
    return true;
}

uint32_t *gcd_sort_order(const struct gcd_alloc *a, size_t n,
                         int (*compare)(const void *ctx, uint32_t a, uint32_t b), const void *ctx)
{
    uint32_t *items = gcd_mem_new_array(a, n, sizeof *items);
    for (size_t i = 0; items != NULL && i < n; i++)
        items[i] = (uint32_t)i;
    if (items == NULL || gcd_sort_numbers(a, items, n, compare, ctx))
        return items;
    gcd_mem_free(a, items, n * sizeof *items);
    return NULL;
}
