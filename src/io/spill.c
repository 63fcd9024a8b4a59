/*
 * The allocator with a bound on memory.  A block of GCD_SPILL_BLOCK bytes and more is a mapping of
 * its own, anonymous as long as the budget lasts, otherwise of its own file.  The mapping keeps the
 * file alive, so no descriptor stays open, and the file disappears with the block.
 */
#include <gcdumpc/unstable/spill.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "io/spill_file.h"

/* Size of the header before a large block; keeps its alignment. */
#define HEAD_BYTES 64u
struct head {
    bool in_file;
};

struct gcd_spill {
    struct gcd_alloc alloc; /* what others use */
    struct gcd_alloc own;   /* malloc: small blocks */
    uint64_t budget;
    const char *const *folders;
    size_t page_bytes;

    _Atomic uint64_t used; /* anonymous memory: small blocks and large ones in no file */
    pthread_mutex_t lock;  /* of FAILURE */
    struct gcd_error failure;
};

/* ---- the budget ---- */

static void give_back(struct gcd_spill *s, uint64_t bytes)
{
    (void)atomic_fetch_sub(&s->used, bytes);
}

static bool take_if_it_fits(struct gcd_spill *s, uint64_t bytes)
{
    uint64_t before = atomic_fetch_add(&s->used, bytes);
    if (bytes <= s->budget && before <= s->budget - bytes)
        return true;
    give_back(s, bytes);
    return false;
}

static void *fail(struct gcd_spill *s, const struct gcd_error *err)
{
    (void)pthread_mutex_lock(&s->lock);
    s->failure = *err;
    (void)pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* ---- large blocks ---- */

static bool is_large(size_t bytes)
{
    return bytes >= GCD_SPILL_BLOCK;
}

static struct head *head_of(void *block)
{
    return (struct head *)(void *)((char *)block - HEAD_BYTES);
}

static bool is_mappable(size_t bytes)
{
    return bytes <= SIZE_MAX / 2;
}

/* Size of the mapping: whole pages. */
static size_t mapped_bytes(const struct gcd_spill *s, size_t bytes)
{
    return (bytes + HEAD_BYTES + s->page_bytes - 1) / s->page_bytes * s->page_bytes;
}

static void *map_file(const char *folder, size_t n, struct gcd_error *err)
{
    int fd;
    if (gcd_spill_file_open(folder, &fd, err) != GCD_OK)
        return NULL;
    void *at = gcd_spill_file_reserve(fd, n, err) == GCD_OK ? gcd_spill_map(fd, n, err) : NULL;
    (void)close(fd);
    return at;
}

static void *map_some_file(const struct gcd_spill *s, size_t n, struct gcd_error *err)
{
    void *at = NULL;
    for (size_t i = 0; s->folders[i] != NULL && at == NULL; i++)
        at = map_file(s->folders[i], n, err);
    return at;
}

static void *large_new(struct gcd_spill *s, size_t bytes)
{
    struct gcd_error err = GCD_ERROR_INIT;
    if (!is_mappable(bytes)) {
        (void)gcd_fail_nomem(&err, "taking memory");
        return fail(s, &err);
    }
    size_t n = mapped_bytes(s, bytes);
    bool in_file = !take_if_it_fits(s, n);
    struct head *h = in_file ? map_some_file(s, n, &err) : gcd_spill_map(-1, n, &err);
    if (h == NULL) {
        if (!in_file)
            give_back(s, n);
        return fail(s, &err);
    }
    h->in_file = in_file;
    return (char *)h + HEAD_BYTES;
}

static void large_free(struct gcd_spill *s, void *block, size_t bytes)
{
    struct head *h = head_of(block);
    size_t n = mapped_bytes(s, bytes);
    bool in_file = h->in_file;
    gcd_spill_unmap(h, n);
    if (!in_file)
        give_back(s, n);
}

/* Remaps a large block; NULL if it must be copied to another one. */
static void *large_resize(struct gcd_spill *s, void *block, size_t old_bytes, size_t new_bytes)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct head *h = head_of(block);
    size_t old_n = mapped_bytes(s, old_bytes), new_n = mapped_bytes(s, new_bytes);
    bool in_file = h->in_file;
    if (new_n > old_n && (in_file || !take_if_it_fits(s, new_n - old_n)))
        return NULL;
    struct head *to = gcd_spill_remap(h, in_file, old_n, new_n, &err);
    if (!in_file && to == NULL && new_n > old_n)
        give_back(s, new_n - old_n);
    else if (!in_file && to != NULL && new_n < old_n)
        give_back(s, old_n - new_n);
    return to != NULL ? (char *)to + HEAD_BYTES : NULL;
}

/* ---- the allocator ---- */

static void *small_resize(struct gcd_spill *s, void *block, size_t old_bytes, size_t new_bytes)
{
    void *to = s->own.resize(s->own.ctx, block, old_bytes, new_bytes);
    if (to == NULL && new_bytes != 0)
        return NULL;
    (void)atomic_fetch_add(&s->used, new_bytes);
    give_back(s, old_bytes);
    return to;
}

static void *new_block(struct gcd_spill *s, size_t bytes)
{
    return is_large(bytes) ? large_new(s, bytes) : small_resize(s, NULL, 0, bytes);
}

static void free_block(struct gcd_spill *s, void *block, size_t bytes)
{
    if (is_large(bytes))
        large_free(s, block, bytes);
    else
        (void)small_resize(s, block, bytes, 0);
}

static void *resize_block(struct gcd_spill *s, void *block, size_t old_bytes, size_t new_bytes)
{
    void *to = NULL;
    if (!is_large(old_bytes) && !is_large(new_bytes))
        return small_resize(s, block, old_bytes, new_bytes);
    if (is_large(old_bytes) && is_large(new_bytes) && is_mappable(new_bytes))
        to = large_resize(s, block, old_bytes, new_bytes);
    if (to != NULL)
        return to;
    to = new_block(s, new_bytes);
    if (to == NULL)
        return NULL;
    memcpy(to, block, old_bytes < new_bytes ? old_bytes : new_bytes);
    free_block(s, block, old_bytes);
    return to;
}

static void *resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes)
{
    struct gcd_spill *s = ctx;
    if (ptr != NULL && new_bytes != 0)
        return resize_block(s, ptr, old_bytes, new_bytes);
    if (ptr != NULL)
        free_block(s, ptr, old_bytes);
    return new_bytes != 0 ? new_block(s, new_bytes) : NULL;
}

/* ---- the whole ---- */

gcd_status gcd_spill_new(const struct gcd_spill_options *options, struct gcd_spill **ret,
                         struct gcd_error *err)
{
    if (options->budget_bytes < GCD_SPILL_BUDGET_MIN)
        return gcd_fail(err, GCD_E_ARG, "a memory budget must be at least %llu bytes",
                        (unsigned long long)GCD_SPILL_BUDGET_MIN);
    struct gcd_alloc own = gcd_alloc_or_default(NULL);
    struct gcd_spill *s = gcd_mem_new(&own, sizeof *s);
    if (s == NULL)
        return gcd_fail_nomem(err, "setting the bound on memory");
    s->alloc = (struct gcd_alloc){ .resize = resize, .ctx = s };
    s->own = own;
    s->budget = options->budget_bytes;
    s->folders = options->folders;
    s->page_bytes = gcd_spill_page_bytes();
    s->failure = (struct gcd_error)GCD_ERROR_INIT;
    int e = pthread_mutex_init(&s->lock, NULL);
    if (e != 0) {
        gcd_mem_free(&own, s, sizeof *s);
        return gcd_fail_os(err, e, "cannot make a lock");
    }
    *ret = s;
    return GCD_OK;
}

void gcd_spill_free(struct gcd_spill *s)
{
    if (s == NULL)
        return;
    (void)pthread_mutex_destroy(&s->lock);
    struct gcd_alloc own = s->own;
    gcd_mem_free(&own, s, sizeof *s);
}

const struct gcd_alloc *gcd_spill_alloc(const struct gcd_spill *s)
{
    return &s->alloc;
}

void gcd_spill_lower_budget(struct gcd_spill *s, uint64_t budget_bytes)
{
    if (budget_bytes < GCD_SPILL_BUDGET_MIN)
        budget_bytes = GCD_SPILL_BUDGET_MIN;
    if (budget_bytes < s->budget)
        s->budget = budget_bytes;
}

static gcd_status check_folder(const char *folder, uint64_t bytes, struct gcd_error *err)
{
    int fd;
    GCD_TRY(gcd_spill_file_open(folder, &fd, err));
    gcd_status st = gcd_spill_file_room(fd, bytes, err);
    (void)close(fd);
    return st;
}

gcd_status gcd_spill_check(const struct gcd_spill *s, uint64_t need_bytes, const char **ret_folder,
                           struct gcd_error *err)
{
    *ret_folder = NULL;
    if (need_bytes <= s->budget)
        return GCD_OK;
    gcd_status st = gcd_fail(err, GCD_E_ARG, "there is no folder for a temporary file");
    for (size_t i = 0; s->folders[i] != NULL && st != GCD_OK; i++) {
        st = check_folder(s->folders[i], need_bytes - s->budget, err);
        if (st == GCD_OK)
            *ret_folder = s->folders[i];
    }
    return st;
}

gcd_status gcd_spill_status(struct gcd_spill *s, struct gcd_error *err)
{
    (void)pthread_mutex_lock(&s->lock);
    gcd_status st = s->failure.code;
    if (st != GCD_OK && err != NULL)
        *err = s->failure;
    (void)pthread_mutex_unlock(&s->lock);
    return st;
}
