#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static void *default_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes)
{
    (void)ctx;
    (void)old_bytes;
    if (new_bytes == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_bytes);
}

struct gcd_alloc gcd_alloc_or_default(const struct gcd_alloc *a)
{
    if (a != NULL)
        return *a;
    return (struct gcd_alloc){ .resize = default_resize };
}

bool gcd_alloc_is_default(const struct gcd_alloc *a)
{
    return a->resize == default_resize;
}

void *gcd_mem_new(const struct gcd_alloc *a, size_t bytes)
{
    if (bytes == 0)
        bytes = 1;
    void *p = a->resize(a->ctx, NULL, 0, bytes);
    if (p != NULL)
        memset(p, 0, bytes);
    return p;
}

void *gcd_mem_new_array(const struct gcd_alloc *a, size_t count, size_t item_bytes)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, item_bytes, &bytes))
        return NULL;
    return gcd_mem_new(a, bytes);
}

void *gcd_mem_new_uncleared(const struct gcd_alloc *a, size_t count, size_t item_bytes)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, item_bytes, &bytes))
        return NULL;
    return a->resize(a->ctx, NULL, 0, bytes == 0 ? 1 : bytes);
}

void gcd_mem_free(const struct gcd_alloc *a, void *ptr, size_t bytes)
{
    if (ptr != NULL)
        a->resize(a->ctx, ptr, bytes == 0 ? 1 : bytes, 0);
}

bool gcd_vec_reserve(const struct gcd_alloc *a, void *items, size_t *cap, size_t need,
                     size_t item_bytes, size_t max)
{
    if (need <= *cap)
        return true;
    if (need > max)
        return false;
    size_t new_cap = *cap < 8 ? 8 : *cap;
    while (new_cap < need)
        if (__builtin_mul_overflow(new_cap, (size_t)2, &new_cap))
            return false;
    if (new_cap > max)
        new_cap = max;
    size_t old_bytes = *cap * item_bytes;
    size_t new_bytes;
    if (__builtin_mul_overflow(new_cap, item_bytes, &new_bytes))
        return false;
    void *old;
    memcpy(&old, items, sizeof old);
    char *p = a->resize(a->ctx, old, old_bytes, new_bytes);
    if (p == NULL)
        return false;
    memset(p + old_bytes, 0, new_bytes - old_bytes);
    void *v = p;
    memcpy(items, &v, sizeof v);
    *cap = new_cap;
    return true;
}

char *gcd_mem_strndup(const struct gcd_alloc *a, const char *s, size_t n)
{
    char *p = gcd_mem_new(a, n + 1);
    if (p != NULL && n > 0)
        memcpy(p, s, n);
    return p;
}
