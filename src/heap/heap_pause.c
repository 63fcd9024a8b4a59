/*
 * Pauses of the process: from GCSuspendEEBegin to GCRestartEEEnd.  These two, and the GC between
 * them, can come from different threads and thus in any order: they are collected and matched by
 * time at the end of the trace.
 */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "heap/heap.h"

/* More than any recording has; beyond it the figures cover only the beginning. */
#define MAX_MARKS ((size_t)1 << 20)

gcd_status heap_pause_mark(struct gcd_heap *h, const struct gcd_event *ev, bool restart,
                           struct gcd_error *err)
{
    if (h->pause_count == MAX_MARKS)
        return GCD_OK;
    if (!gcd_vec_reserve(&h->alloc, &h->pause_marks, &h->pause_cap, h->pause_count + 1,
                         sizeof *h->pause_marks, MAX_MARKS))
        return gcd_fail_nomem(err, "reading pauses");
    h->pause_marks[h->pause_count++] = (struct heap_pause_mark){ .time_ns = ev->time_ns,
                                                                 .thread = ev->thread,
                                                                 .restart = restart };
    return GCD_OK;
}

/* In a pause of length zero, the suspension comes before the restart. */
static bool before(const struct heap_pause_mark *a, const struct heap_pause_mark *b)
{
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : !a->restart && b->restart;
}

static void sift_down(struct heap_pause_mark *m, size_t root, size_t n)
{
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && before(&m[child], &m[child + 1]))
            child++;
        if (!before(&m[root], &m[child]))
            return;
        struct heap_pause_mark swap = m[root];
        m[root] = m[child];
        m[child] = swap;
    }
}

/* Heap sort: the input determines the order, so neither recursion nor a quadratic worst case is
 * acceptable. */
static void sort(struct heap_pause_mark *m, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sift_down(m, i, n);
    for (size_t end = n; end-- > 1;) {
        struct heap_pause_mark swap = m[0];
        m[0] = m[end];
        m[end] = swap;
        sift_down(m, 0, end);
    }
}

/* TO is not before FROM; the difference of hostile times may not fit into an int64_t. */
static uint64_t span(int64_t from, int64_t to)
{
    return (uint64_t)to - (uint64_t)from;
}

void heap_pauses(struct gcd_heap *h, int64_t gc_start_ns, struct heap_pauses *ret)
{
    *ret = (struct heap_pauses){ .count = 0 };
    const struct heap_pause_mark *begin = NULL;
    sort(h->pause_marks, h->pause_count);
    for (size_t i = 0; i < h->pause_count; i++) {
        const struct heap_pause_mark *m = &h->pause_marks[i];
        if (!m->restart) {
            /* Another thread waits until this pause is over; the same thread cannot, so its restart
             * was lost. */
            if (begin == NULL || begin->thread == m->thread)
                begin = m;
            continue;
        }
        if (begin == NULL)
            continue;
        uint64_t ns = span(begin->time_ns, m->time_ns);
        ret->count++;
        if (__builtin_add_overflow(ret->total_ns, ns, &ret->total_ns))
            ret->total_ns = UINT64_MAX;
        if (begin->time_ns <= gc_start_ns && gc_start_ns <= m->time_ns)
            ret->walk_ns = ns;
        begin = NULL;
    }
}
