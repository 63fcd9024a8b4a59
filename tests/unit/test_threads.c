/* Parallel loops, bounded queues between threads, outputs that a separate thread compresses and
 * writes. */
#include "support/check.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gcdumpc/io.h>
#include <gcdumpc/unstable/io/sink_room.h>

#include "base/mem.h"
#include "base/threads/in_order.h"
#include "base/threads/locked_alloc.h"
#include "base/threads/parallel.h"
#include "base/threads/queue.h"
#include "support/failalloc.h"

#define PARTS 1000u

static void mark(void *ctx, uint32_t part)
{
    atomic_uint *done = ctx;
    atomic_fetch_add(&done[part], 1);
}

static void each_range_runs_once(void **state)
{
    (void)state;
    static const unsigned threads[] = { 0, 1, 2, 8, 1000 };
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        static atomic_uint done[PARTS];
        for (uint32_t part = 0; part < PARTS; part++)
            atomic_store(&done[part], 0);
        gcd_parallel(threads[i], PARTS, mark, done);
        for (uint32_t part = 0; part < PARTS; part++)
            assert_int_equal(atomic_load(&done[part]), 1);
        gcd_parallel(threads[i], 0, mark, done);
    }
}

static void *take_mask(void *ctx)
{
    return (void *)(intptr_t)pthread_sigmask(SIG_SETMASK, NULL, ctx);
}

/* A program that uses the library handles signals in its own threads, and they get the same number
 * as before. */
static void signals_go_to_other_threads(void **state)
{
    (void)state;
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGUSR1, SIGCHLD };
    sigset_t before, inside, after;
    pthread_t thread;
    void *failed;
    (void)sigemptyset(&before);
    (void)sigaddset(&before, SIGUSR1);
    (void)sigaddset(&before, SIGUSR2);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    assert_int_equal(gcd_thread_start(&thread, 0, take_mask, &inside), 0);
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        assert_int_equal(sigismember(&inside, signals[i]), 1);
        assert_int_equal(sigismember(&after, signals[i]), signals[i] == SIGUSR1);
    }
    (void)sigemptyset(&before);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
}

static void ranges_cover_all(void **state)
{
    (void)state;
    static const uint32_t counts[] = { 0, 1, 63, 64, 65, 1000, UINT32_MAX - 1 };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (uint32_t parts = 1; parts < 9; parts++) {
            uint32_t at = 0, first, end;
            for (uint32_t part = 0; part < parts; part++) {
                gcd_part_range(counts[i], 64, part, parts, &first, &end);
                assert_int_equal(first, at);
                assert_true(end >= first && (end == counts[i] || end % 64 == 0));
                at = end;
            }
            assert_int_equal(at, counts[i]);
        }
}

struct two {
    struct gcd_alloc alloc; /* locked */
    pthread_t caller;
    bool here_by_caller;
    unsigned here, beside; /* what each allocated */
};

/* The test allocators support one thread only: ThreadSanitizer would report more. */
static unsigned allocate(const struct gcd_alloc *a)
{
    unsigned n = 0;
    for (; n < 2000; n++) {
        void *p = gcd_mem_new(a, 1 + n % 100);
        assert_non_null(p);
        gcd_mem_free(a, p, 1 + n % 100);
    }
    return n;
}

static void work_here(void *ctx)
{
    struct two *t = ctx;
    t->here_by_caller = pthread_equal(pthread_self(), t->caller) != 0;
    t->here = allocate(&t->alloc);
}

static void work_beside(void *ctx)
{
    struct two *t = ctx;
    t->beside = allocate(&t->alloc);
}

static void gcd_parallel_invoke_runs_both(void **state)
{
    (void)state;
    for (unsigned threads = 0; threads < 4; threads++) {
        struct failalloc f;
        struct gcd_locked_alloc locked;
        failalloc_init(&f);
        struct two t = { .alloc = gcd_locked_alloc_init(&locked, &f.alloc),
                         .caller = pthread_self() };
        gcd_parallel_invoke(threads, work_here, work_beside, &t);
        gcd_locked_alloc_done(&locked);
        assert_true(t.here_by_caller);
        assert_int_equal(t.here + t.beside, 4000);
        assert_int_equal(f.calls, 4000);
        assert_null(failalloc_complaint(&f));
    }
}

/* ---- bounded queues ---- */

struct taker {
    struct gcd_queue queue;
    uint64_t sum;
    unsigned slots;
    bool in_order;
};

static void *take_all(void *ctx)
{
    struct taker *t = ctx;
    struct gcd_slot *slot;
    while ((slot = gcd_queue_take(&t->queue)) != NULL) {
        t->in_order = t->in_order && slot->at == t->slots;
        t->slots++;
        for (size_t i = 0; i < slot->used; i++)
            t->sum += ((uint8_t *)slot->bytes)[i];
        gcd_queue_give_back(&t->queue, slot);
    }
    return NULL;
}

static void slots_arrive_in_order(void **state)
{
    (void)state;
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    struct taker t = { .in_order = true };
    pthread_t thread;
    uint64_t sum = 0;
    assert_true(gcd_queue_init(&t.queue, &a, 64));
    assert_int_equal(gcd_thread_start(&thread, 0, take_all, &t), 0);
    for (unsigned n = 0; n < 5000; n++) {
        struct gcd_slot *slot = gcd_queue_empty(&t.queue);
        assert_non_null(slot);
        slot->at = n;
        slot->used = n % 65;
        for (size_t i = 0; i < slot->used; i++)
            sum += ((uint8_t *)slot->bytes)[i] = (uint8_t)(n * 7 + i);
        gcd_queue_put(&t.queue, slot);
        if (n == 1234) {
            gcd_queue_drain(&t.queue);
            assert_int_equal(t.slots, 1235);
        }
    }
    gcd_queue_end(&t.queue);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_null(gcd_queue_empty(&t.queue));
    gcd_queue_done(&t.queue);
    assert_true(t.in_order);
    assert_int_equal(t.slots, 5000);
    assert_int_equal(t.sum, sum);
}

/* ---- work that comes back in order ---- */

static void square(void *ctx, struct gcd_slot *slot)
{
    (void)ctx;
    *(uint64_t *)slot->bytes = slot->at * slot->at;
}

/* Checks what comes back with the next slot, if anything; counts it. */
static struct gcd_slot *take_back(struct gcd_in_order *o, uint64_t *count)
{
    struct gcd_slot *slot = gcd_in_order_next(o);
    if (slot->used > 0) {
        assert_int_equal(slot->at, *count);
        assert_int_equal(*(uint64_t *)slot->bytes, *count * *count);
        ++*count;
    }
    slot->used = 0;
    return slot;
}

static void work_comes_back_in_order(void **state)
{
    (void)state;
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    for (unsigned threads = 0; threads < 6; threads++) {
        struct gcd_in_order o;
        uint64_t count = 0;
        assert_true(gcd_in_order_init(&o, &a, sizeof(uint64_t), threads, square, NULL));
        for (uint64_t n = 0; n < 5000; n++) {
            struct gcd_slot *slot = take_back(&o, &count);
            slot->at = n;
            slot->used = 1;
            gcd_in_order_put(&o, slot);
        }
        for (unsigned i = 0; i < GCD_QUEUE_SLOTS; i++)
            gcd_in_order_put(&o, take_back(&o, &count));
        assert_int_equal(count, 5000);
        gcd_in_order_done(&o);
    }
}

/* ---- outputs ---- */

static void write_lines(const char *path, unsigned threads)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_sink *s;
    assert_int_equal(
        gcd_sink_open(path, &(struct gcd_sink_options){ .context.threads = threads }, &s, &err),
        GCD_OK);
    for (unsigned i = 0; i < 200000; i++) {
        char *to = gcd_sink_reserve(s, 32);
        gcd_sink_advance(s, (size_t)snprintf(to, 32, "line %u\n", i * 2654435761u));
    }
    assert_int_equal(gcd_sink_commit(s, &err), GCD_OK);
    gcd_sink_free(s);
}

static char *read_file(const char *path, size_t *ret_n)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    char *p = malloc((size_t)st.st_size + 1);
    int fd = open(path, O_RDONLY);
    *ret_n = (size_t)st.st_size;
    assert_int_equal(read(fd, p, *ret_n), (ssize_t)*ret_n);
    close(fd);
    return p;
}

static void a_threaded_output_has_the_same_bytes(void **state)
{
    (void)state;
    static const char *const suffixes[] = { "txt", "txt.gz" };
    char folder[] = "/tmp/gcdumpc-test-XXXXXX", one[64], two[64];
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(one, sizeof one, "%s/one.%s", folder, suffixes[i]);
        (void)snprintf(two, sizeof two, "%s/two.%s", folder, suffixes[i]);
        write_lines(one, 1);
        write_lines(two, 2);
        size_t n, m;
        char *a = read_file(one, &n), *b = read_file(two, &m);
        assert_int_equal(n, m);
        assert_memory_equal(a, b, n);
        free(a);
        free(b);
        unlink(one);
        unlink(two);
    }
    /* discarded half-way */
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_sink *s;
    (void)snprintf(one, sizeof one, "%s/one", folder);
    assert_int_equal(
        gcd_sink_open(one, &(struct gcd_sink_options){ .context.threads = 2 }, &s, &err), GCD_OK);
    for (unsigned i = 0; i < 300000; i++)
        gcd_sink_text(s, "something ");
    gcd_sink_free(s);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_range_runs_once),
        cmocka_unit_test(signals_go_to_other_threads),
        cmocka_unit_test(ranges_cover_all),
        cmocka_unit_test(gcd_parallel_invoke_runs_both),
        cmocka_unit_test(slots_arrive_in_order),
        cmocka_unit_test(work_comes_back_in_order),
        cmocka_unit_test(a_threaded_output_has_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
