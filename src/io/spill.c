/*
 * The allocator of a memory budget.  A block of GCD_SPILL_BLOCK bytes and more is a mapping of its own, of the file or of none, and
 * has a row in a table sorted by address; whether a block has one is told by its size alone.
 *
 * What keeps the budget is the watcher.  A page of the file is resident from the moment somebody looks at it, and a thread can look at
 * hundreds in a millisecond, so the watcher comes back the sooner the less room is left, and gives back so much that it
 * takes a while until it is needed again.  It goes round through all parts of the file: what was given back and is wanted again comes from
 * the page cache in a microsecond.
 */
#include <gcdumpc/spill.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "io/spill_file.h"

#define NO_FILE UINT64_MAX
/* How much is given back before it is counted again. */
#define DROP_BYTES ((size_t)4 << 20)
/* Resident memory grows by so many bytes in a microsecond at most, as far as has been seen; and how long the watcher sleeps. */
#define BYTES_PER_US 4000u
#define SLEEP_MIN_US 50u
#define SLEEP_MAX_US 5000u
#define MARGIN (UINT64_C(24) << 20)
#define WATCHER_STACK ((size_t)256 << 10)

struct spill_block {
    char *at;
    size_t bytes;                /* whole pages */
    uint64_t off;                /* in the file, or NO_FILE */
};

struct gcd_spill {
    struct gcd_alloc alloc;      /* what others use */
    struct gcd_alloc own;        /* malloc: small blocks, and the table */
    uint64_t budget;
    bool relieved_by_caller;
    uint64_t high, low;          /* resident memory: where giving back begins and ends */
    const char *const *folders;
    size_t page_bytes;
    int resident_fd;

    pthread_mutex_t lock;        /* of all below */
    uint64_t in_memory_max;      /* of large blocks */
    int fd;                      /* -1 = not made yet */
    int single_fd;               /* for gcd_spill_single */
    struct spill_block *blocks;  /* ascending by address */
    size_t count, room;
    uint64_t end;                /* of the file */
    struct gcd_spill_facts facts;
    struct gcd_error failure;
    bool watched, stop;
    pthread_t watcher;
    pthread_cond_t wake;         /* for STOP */
    char *hand;                  /* up to here parts have been given back */
};

/* ---- the table ---- */

/* The first block at AT or above. */
static size_t find(const struct gcd_spill *s, const char *at)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (s->blocks[mid].at < at)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void count(struct gcd_spill *s, const struct spill_block *b, bool more)
{
    uint64_t *sum = b->off == NO_FILE ? &s->facts.in_memory_bytes : &s->facts.file_bytes;
    *sum = more ? *sum + b->bytes : *sum - b->bytes;
    if (s->facts.file_bytes > s->facts.file_bytes_most)
        s->facts.file_bytes_most = s->facts.file_bytes;
}

/* There is room for it. */
static void insert(struct gcd_spill *s, const struct spill_block *b)
{
    size_t i = find(s, b->at);
    memmove(&s->blocks[i + 1], &s->blocks[i], (s->count - i) * sizeof *b);
    s->blocks[i] = *b;
    s->count++;
    count(s, b, true);
}

static struct spill_block take_out(struct gcd_spill *s, const char *at)
{
    size_t i = find(s, at);
    struct spill_block b = s->blocks[i];
    s->count--;
    memmove(&s->blocks[i], &s->blocks[i + 1], (s->count - i) * sizeof b);
    count(s, &b, false);
    return b;
}

/* ---- the watcher ---- */

/* The next piece behind the hand that is in the file; false when there is none at all. */
static bool drop_next(struct gcd_spill *s)
{
    size_t i = find(s, s->hand);
    if (i > 0 && s->blocks[i - 1].at + s->blocks[i - 1].bytes > s->hand)
        i--;                     /* the hand is in the middle of it */
    for (size_t tried = 0; tried <= s->count; tried++, i++) {
        if (i >= s->count) {
            i = 0;
            s->hand = NULL;
        }
        const struct spill_block *b = &s->blocks[i];
        if (b->off == NO_FILE)
            continue;
        char *from = s->hand > b->at ? s->hand : b->at;
        size_t left = (size_t)(b->at + b->bytes - from), n = left < DROP_BYTES ? left : DROP_BYTES;
        gcd_spill_drop(from, n);
        s->hand = from + n;
        return true;
    }
    return false;
}

/* Once round at most. */
static uint64_t give_back(struct gcd_spill *s)
{
    uint64_t resident = gcd_spill_resident(s->resident_fd);
    if (resident < s->high)
        return resident;
    for (uint64_t pieces = s->facts.file_bytes / DROP_BYTES + s->count; pieces > 0 && resident > s->low && s->count > 0; pieces--) {
        if (!drop_next(s))
            break;
        resident = gcd_spill_resident(s->resident_fd);
    }
    return resident;
}

static void *watch(void *ctx)
{
    struct gcd_spill *s = ctx;
    gcd_spill_run_promptly();
    (void)pthread_mutex_lock(&s->lock);
    while (!s->stop) {
        uint64_t resident = give_back(s), left = resident < s->high ? (s->high - resident) / BYTES_PER_US : 0;
        uint64_t us = left < SLEEP_MIN_US ? SLEEP_MIN_US : left > SLEEP_MAX_US ? SLEEP_MAX_US : left;
        struct timespec until;
        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += (long)us * 1000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        (void)pthread_cond_timedwait(&s->wake, &s->lock, &until);
    }
    (void)pthread_mutex_unlock(&s->lock);
    return NULL;
}

static gcd_status start_watcher(struct gcd_spill *s, struct gcd_error *err)
{
    if (s->watched || s->relieved_by_caller)
        return GCD_OK;
    int e = gcd_thread_start(&s->watcher, WATCHER_STACK, watch, s);
    s->watched = e == 0;
    return e == 0 ? GCD_OK : gcd_fail_os(err, e, "cannot start a thread");
}

/* ---- the file ---- */

/* In the first folder that is fit for it. */
static gcd_status open_file(struct gcd_spill *s, struct gcd_error *err)
{
    if (s->fd >= 0)
        return GCD_OK;
    gcd_status st = gcd_fail(err, GCD_E_ARG, "there is no folder for a temporary file");
    for (size_t i = 0; s->folders[i] != NULL && st != GCD_OK; i++) {
        st = gcd_spill_file_open(s->folders[i], &s->fd, err);
        s->facts.folder = st == GCD_OK ? s->folders[i] : NULL;
    }
    if (st == GCD_OK)
        s->single_fd = gcd_spill_single_open();
    return st;
}

/* Room for N bytes at its end. */
static gcd_status extend(struct gcd_spill *s, size_t n, struct gcd_error *err)
{
    GCD_TRY(open_file(s, err));
    GCD_TRY(start_watcher(s, err));
    GCD_TRY(gcd_spill_file_take(s->fd, s->end, n, err));
    s->end += n;
    return GCD_OK;
}

/* ---- blocks, all with the lock held ---- */

static bool round_up(const struct gcd_spill *s, size_t bytes, size_t *ret)
{
    if (bytes > SIZE_MAX / 2)
        return false;
    *ret = (bytes + s->page_bytes - 1) / s->page_bytes * s->page_bytes;
    return true;
}

static void forget(struct gcd_spill *s, const struct spill_block *b)
{
    gcd_spill_unmap(b->at, b->bytes);
    if (b->off != NO_FILE)
        gcd_spill_file_give_back(s->fd, b->off, b->bytes);
}

static bool fits_in_memory(const struct gcd_spill *s, size_t more)
{
    return more <= s->in_memory_max && s->facts.in_memory_bytes <= s->in_memory_max - more;
}

static void *large_new(struct gcd_spill *s, size_t bytes)
{
    struct spill_block b = { .off = NO_FILE };
    struct gcd_error *err = &s->failure;
    if (!round_up(s, bytes, &b.bytes) ||
        !gcd_vec_reserve(&s->own, &s->blocks, &s->room, s->count + 1, sizeof *s->blocks, SIZE_MAX / sizeof *s->blocks)) {
        (void)gcd_fail_nomem(err, "taking memory");
        return NULL;
    }
    if (!fits_in_memory(s, b.bytes)) {
        if (extend(s, b.bytes, err) != GCD_OK)
            return NULL;
        b.off = s->end - b.bytes;
    }
    b.at = gcd_spill_map(b.off != NO_FILE ? s->fd : -1, b.off, b.bytes, err);
    if (b.at == NULL) {
        if (b.off != NO_FILE)
            gcd_spill_file_give_back(s->fd, b.off, b.bytes);
        return NULL;
    }
    if (b.off != NO_FILE)
        gcd_spill_single(s->single_fd, b.at, b.bytes);
    insert(s, &b);
    return b.at;
}

static void large_free(struct gcd_spill *s, char *at)
{
    struct spill_block b = take_out(s, at);
    forget(s, &b);
}

static void *shrink(struct gcd_spill *s, struct spill_block *b, size_t bytes)
{
    struct spill_block rest = { .at = b->at + bytes, .bytes = b->bytes - bytes, .off = b->off == NO_FILE ? NO_FILE : b->off + bytes };
    if (rest.bytes > 0) {
        count(s, &rest, false);
        forget(s, &rest);
        b->bytes = bytes;
    }
    return b->at;
}

/* Where it is when nothing is in the way; NULL when it has to become another block, or that failed. */
static void *grow(struct gcd_spill *s, struct spill_block *b, size_t bytes)
{
    struct spill_block more = { .bytes = bytes - b->bytes, .off = b->off };
    struct gcd_error *err = &s->failure;
    bool in_file = b->off != NO_FILE;
    if (in_file ? b->off + b->bytes != s->end : !fits_in_memory(s, more.bytes))
        return NULL;
    if (in_file && extend(s, more.bytes, err) != GCD_OK)
        return NULL;
    char *at = gcd_spill_remap(b->at, b->bytes, bytes, err);
    if (at == NULL) {
        if (in_file)
            gcd_spill_file_give_back(s->fd, s->end - more.bytes, more.bytes);
        return NULL;
    }
    if (in_file)
        gcd_spill_single(s->single_fd, at, bytes);
    struct spill_block moved = take_out(s, b->at);
    moved.at = at;
    moved.bytes = bytes;
    insert(s, &moved);
    return at;
}

/* Both sizes are large. */
static void *large_resize(struct gcd_spill *s, char *at, size_t bytes)
{
    struct spill_block *b = &s->blocks[find(s, at)];
    size_t whole;
    if (!round_up(s, bytes, &whole)) {
        (void)gcd_fail_nomem(&s->failure, "taking memory");
        return NULL;
    }
    return whole <= b->bytes ? shrink(s, b, whole) : grow(s, b, whole);
}

/* ---- the allocator ---- */

static bool is_large(size_t bytes)
{
    return bytes >= GCD_SPILL_BLOCK;
}

static void *new_block(struct gcd_spill *s, size_t bytes)
{
    if (!is_large(bytes))
        return s->own.resize(s->own.ctx, NULL, 0, bytes);
    (void)pthread_mutex_lock(&s->lock);
    void *at = large_new(s, bytes);
    (void)pthread_mutex_unlock(&s->lock);
    return at;
}

static void free_block(struct gcd_spill *s, void *at, size_t bytes)
{
    if (!is_large(bytes)) {
        (void)s->own.resize(s->own.ctx, at, bytes, 0);
        return;
    }
    (void)pthread_mutex_lock(&s->lock);
    large_free(s, at);
    (void)pthread_mutex_unlock(&s->lock);
}

static void *resize_block(struct gcd_spill *s, void *at, size_t old_bytes, size_t new_bytes)
{
    void *to = NULL;
    if (!is_large(old_bytes) && !is_large(new_bytes))
        return s->own.resize(s->own.ctx, at, old_bytes, new_bytes);
    if (is_large(old_bytes) && is_large(new_bytes)) {
        (void)pthread_mutex_lock(&s->lock);
        to = large_resize(s, at, new_bytes);
        (void)pthread_mutex_unlock(&s->lock);
    }
    if (to != NULL)
        return to;
    to = new_block(s, new_bytes);
    if (to == NULL)
        return NULL;
    memcpy(to, at, old_bytes < new_bytes ? old_bytes : new_bytes);
    free_block(s, at, old_bytes);
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

static gcd_status init_lock(struct gcd_spill *s, struct gcd_error *err)
{
    pthread_condattr_t attr;
    int e = pthread_condattr_init(&attr);
    if (e == 0) {
        e = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        if (e == 0)
            e = pthread_cond_init(&s->wake, &attr);
        (void)pthread_condattr_destroy(&attr);
    }
    if (e == 0 && (e = pthread_mutex_init(&s->lock, NULL)) != 0)
        (void)pthread_cond_destroy(&s->wake);
    return e == 0 ? GCD_OK : gcd_fail_os(err, e, "cannot make a lock");
}

/* What becomes resident between two looks of the watcher, while other programs want its processor, too. */
static uint64_t margin_of(uint64_t budget)
{
    uint64_t margin = budget / 5 > MARGIN ? budget / 5 : MARGIN;
    return margin < budget / 8 * 3 ? margin : budget / 8 * 3;
}

gcd_status gcd_spill_new(const struct gcd_spill_options *options, struct gcd_spill **ret, struct gcd_error *err)
{
    uint64_t budget = options->budget_bytes;
    if (budget < GCD_SPILL_BUDGET_MIN)
        return gcd_fail(err, GCD_E_ARG, "a memory budget must be %llu bytes at least", (unsigned long long)GCD_SPILL_BUDGET_MIN);
    struct gcd_alloc own = gcd_alloc_or_default(NULL);
    struct gcd_spill *s = gcd_mem_new(&own, sizeof *s);
    if (s == NULL)
        return gcd_fail_nomem(err, "making room in a file");
    s->own = own;
    s->alloc = (struct gcd_alloc){ .resize = resize, .ctx = s };
    s->folders = options->folders;
    s->budget = budget;
    s->relieved_by_caller = options->relieved_by_caller;
    s->in_memory_max = budget / 2;
    s->high = budget - margin_of(budget);
    s->low = s->high / 8 * 7;
    s->page_bytes = gcd_spill_page_bytes();
    s->failure = (struct gcd_error)GCD_ERROR_INIT;
    s->fd = s->single_fd = -1;
    s->resident_fd = gcd_spill_resident_open();
    gcd_status st = s->resident_fd >= 0 ? init_lock(s, err) :
                    gcd_fail(err, GCD_E_UNSUPPORTED, "the system does not tell how much memory is resident");
    if (st == GCD_OK) {
        *ret = s;
        return GCD_OK;
    }
    if (s->resident_fd >= 0)
        (void)close(s->resident_fd);
    gcd_mem_free(&own, s, sizeof *s);
    return st;
}

gcd_status gcd_spill_plan(struct gcd_spill *s, uint64_t need_bytes, struct gcd_error *err)
{
    gcd_status st = GCD_OK;
    (void)pthread_mutex_lock(&s->lock);
    if (need_bytes <= s->budget) {
        /* If more is needed than was foreseen, the rest is spilled, and the program itself is not in the sum. */
        uint64_t most = s->budget - margin_of(s->budget);
        s->in_memory_max = need_bytes > most ? need_bytes : most;
    } else {
        s->in_memory_max = 0;
        st = open_file(s, err);
        if (st == GCD_OK)
            st = gcd_spill_file_room(s->fd, need_bytes, err);
    }
    (void)pthread_mutex_unlock(&s->lock);
    return st;
}

void gcd_spill_free(struct gcd_spill *s)
{
    if (s == NULL)
        return;
    if (s->watched) {
        (void)pthread_mutex_lock(&s->lock);
        s->stop = true;
        (void)pthread_cond_signal(&s->wake);
        (void)pthread_mutex_unlock(&s->lock);
        (void)pthread_join(s->watcher, NULL);
    }
    (void)pthread_cond_destroy(&s->wake);
    (void)pthread_mutex_destroy(&s->lock);
    if (s->fd >= 0)
        (void)close(s->fd);
    if (s->single_fd >= 0)
        (void)close(s->single_fd);
    (void)close(s->resident_fd);
    struct gcd_alloc own = s->own;
    gcd_mem_free(&own, s->blocks, s->room * sizeof *s->blocks);
    gcd_mem_free(&own, s, sizeof *s);
}

/* No call here that a signal handler may not make: the lock is only tried, which is one look at its word. */
void gcd_spill_relieve(struct gcd_spill *s)
{
    int before = errno;
    if (pthread_mutex_trylock(&s->lock) != 0)
        return;
    if (s->facts.file_bytes > 0)
        (void)give_back(s);
    (void)pthread_mutex_unlock(&s->lock);
    errno = before;
}

const struct gcd_alloc *gcd_spill_alloc(const struct gcd_spill *s)
{
    return &s->alloc;
}

void gcd_spill_facts(struct gcd_spill *s, struct gcd_spill_facts *ret)
{
    (void)pthread_mutex_lock(&s->lock);
    *ret = s->facts;
    (void)pthread_mutex_unlock(&s->lock);
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
