/*
 * Counts lost events.
 *
 * The runtime numbers the events of each capture thread, including those it drops because its
 * buffer is full.  A gap tells how many are missing and from which thread, but not where: it
 * becomes visible at the thread's next buffer or only at the next sequence point (measured on .NET
 * 8, 9, 10). So the count is final after the sequence point that closes the trace.
 *
 * The numbers, the times of each thread and the sequence points between all threads increase
 * through the whole file (nettrace.md, sections 9 and 11; no exception in any recording).  A block
 * that is duplicated, moved or from another recording violates this somewhere, and then the loss
 * counts are not verified.
 */
#include <inttypes.h>

#include "base/error.h"
#include "base/mem.h"
#include "nettrace/nt.h"

/* Larger differences are steps back; the writer uses the same limit. */
#define STEP_BACK UINT32_C(0x80000000)

void nt_seq_init(struct nt_seq *s, const struct gcd_alloc *a, uint64_t max_threads)
{
    *s = (struct nt_seq){ .max = max_threads < GCD_IDMAP_NONE ? (size_t)max_threads
                                                              : GCD_IDMAP_NONE - 1,
                          .last_index = GCD_IDMAP_NONE,
                          .points = 1 };
    gcd_idmap_init(&s->by_id, a);
}

void nt_seq_done(struct nt_seq *s, const struct gcd_alloc *a)
{
    gcd_idmap_done(&s->by_id);
    gcd_mem_free(a, s->threads, s->cap * sizeof *s->threads);
    s->threads = NULL;
    s->count = s->cap = 0;
}

/* The entry of THREAD, created if new; *RET NULL when there are too many.  False when out of
 * memory. */
static bool entry(struct nt_seq *s, const struct gcd_alloc *a, uint64_t thread,
                  struct nt_thread **ret)
{
    if (s->last_index != GCD_IDMAP_NONE && s->last_id == thread) {
        *ret = &s->threads[s->last_index];
        return true;
    }
    uint32_t i = gcd_idmap_get(&s->by_id, thread);
    if (i == GCD_IDMAP_NONE) {
        *ret = NULL;
        if (s->count >= s->max) {
            s->overflow = true;
            return true;
        }
        if (!gcd_vec_reserve(a, &s->threads, &s->cap, s->count + 1, sizeof *s->threads, s->max) ||
            !gcd_idmap_put(&s->by_id, thread, (uint32_t)s->count))
            return false;
        i = (uint32_t)s->count++;
        s->threads[i] = (struct nt_thread){ .id = thread };
    }
    s->last_id = thread;
    s->last_index = i;
    *ret = &s->threads[i];
    return true;
}

static void count_lost(struct nt_seq *s, struct nt_thread *t, uint32_t n)
{
    t->lost += n;
    s->lost += n;
}

/* The thread of T has ended, and the system gave its id to another one, which counts from 1 again.
 */
static void change_owner(struct nt_thread *t)
{
    t->old_closed = t->closed && (!t->has_old || t->old_closed);
    t->old = t->last;
    t->has_old = true;
    t->last = 1;
}

/* Combines two consecutive gaps. */
static uint32_t add_gaps(uint32_t a, uint32_t b)
{
    if (a == GCD_GAP_DISORDER || b == GCD_GAP_DISORDER)
        return GCD_GAP_DISORDER;
    return a < GCD_GAP_DISORDER - 1 - b ? a + b : GCD_GAP_DISORDER - 1;
}

/* Event NUMBER of T at TICKS; returns the gap before it. */
static uint32_t next_event(struct nt_seq *s, struct nt_thread *t, uint32_t number, uint64_t ticks)
{
    uint32_t gap = number - t->last - 1;
    if (ticks < t->ticks || (gap >= STEP_BACK && (number != 1 || ticks == t->ticks))) {
        s->irregular++;
        return GCD_GAP_DISORDER;
    }
    if (gap >= STEP_BACK) {
        change_owner(t);
        return GCD_GAP_DISORDER;
    }
    count_lost(s, t, gap);
    t->last = number;
    return gap;
}

bool nt_seq_event(struct nt_seq *s, const struct gcd_alloc *a, const struct nt_numbered *e,
                  uint32_t *ret_gap)
{
    struct nt_thread *t;
    *ret_gap = GCD_GAP_DISORDER;
    if (!entry(s, a, e->thread, &t))
        return false;
    s->irregular += e->ticks < s->point_ticks;
    s->latest_ticks = e->ticks > s->latest_ticks ? e->ticks : s->latest_ticks;
    if (t == NULL)
        return true;
    if (t->seen) {
        *ret_gap = next_event(s, t, e->number, e->ticks);
    } else {
        *ret_gap = e->number - 1;
        count_lost(s, t, e->number - 1);
        t->seen = true;
        t->last = e->number;
    }
    *ret_gap = add_gaps(*ret_gap, t->told);
    t->told = 0;
    t->ticks = e->ticks > t->ticks ? e->ticks : t->ticks;
    t->events++;
    t->closed = false;
    t->reported = e->reported;
    return true;
}

void nt_seq_pass_on(struct nt_seq *s, uint32_t gap)
{
    if (s->last_index != GCD_IDMAP_NONE)
        s->threads[s->last_index].told = gap;
}

bool nt_seq_point(struct nt_seq *s, const struct gcd_alloc *a, uint64_t thread, uint32_t number)
{
    struct nt_thread *t;
    if (!entry(s, a, thread, &t))
        return false;
    if (t == NULL)
        return true;
    uint32_t gap = number - t->last;
    if (t->has_old && number == t->old && t->old_point != s->points) {
        /* a reused id is listed twice: this is the dead thread, the live one has its own entry */
        t->old_point = s->points;
        t->old_closed = true;
        return true;
    }
    t->closed = true;
    if (!t->seen) {
        count_lost(s, t, number);
        t->seen = true;
        t->last = number;
    } else if (gap != 0 && gap < STEP_BACK) {
        count_lost(s, t, gap);
        t->last = number;
        t->told = add_gaps(t->told, gap);
    } /* else: a lower bound that has been exceeded already */
    return true;
}

bool nt_seq_closed(const struct nt_seq *s, uint64_t thread)
{
    bool any = false;
    for (size_t i = 0; i < s->count; i++)
        if (s->threads[i].events > 0 && s->threads[i].reported == thread) {
            if (!s->threads[i].closed || (s->threads[i].has_old && !s->threads[i].old_closed))
                return false;
            any = true;
        }
    return any;
}

static void forget_all(struct nt_seq *s)
{
    gcd_idmap_clear(&s->by_id); /* the entries stay: they hold the counts */
    s->last_index = GCD_IDMAP_NONE;
}

void nt_seq_forget_thread(struct nt_seq *s, uint64_t thread)
{
    uint32_t i = gcd_idmap_get(&s->by_id, thread);
    if (i != GCD_IDMAP_NONE) /* the next owner of the index counts from 1 again */
        s->threads[i].seen = s->threads[i].has_old = false;
}

/* All events before a sequence point are older, all after it are younger. */
static void barrier(struct nt_seq *s, uint64_t ticks)
{
    s->irregular += ticks < s->latest_ticks || ticks < s->point_ticks;
    s->point_ticks = ticks;
}

gcd_status nt_sequence_point(struct gcd_nt *nt, struct gcd_cur *c, struct gcd_error *err)
{
    uint64_t ticks = gcd_cur_u64(c);
    uint32_t flags = nt->format == 6 ? gcd_cur_u32(c) : 0;
    uint32_t count = gcd_cur_u32(c);
    size_t smallest = nt->format == 6 ? 2 : 12;
    if (c->err == GCD_OK && count > gcd_cur_left(c) / smallest)
        return gcd_fail_at(err, GCD_E_FORMAT, gcd_cur_off(c),
                           "a sequence point of %" PRIu32 " threads in %zu bytes", count,
                           gcd_cur_left(c));
    nt->seq.points++;
    nt_stacks_forget(nt);
    barrier(&nt->seq, ticks);
    for (uint32_t i = 0; i < count && c->err == GCD_OK; i++) {
        uint64_t thread = nt->format == 6 ? gcd_cur_varuint64(c) : gcd_cur_u64(c);
        uint32_t number = nt->format == 6 ? gcd_cur_varuint32(c) : gcd_cur_u32(c);
        if (c->err == GCD_OK && !nt_seq_point(&nt->seq, &nt->alloc, thread, number))
            return gcd_fail_nomem(err, "reading a sequence point");
    }
    if (c->err != GCD_OK)
        return nt_cur_error(c, "a sequence point", err);
    nt->sequence_point_last = true;
    gcd_idmap_clear(&nt->label_version);
    nt->label_overflow = false;
    if (flags & 1) {
        forget_all(&nt->seq);
        gcd_idmap_clear(&nt->thread_by_index);
        nt->thread_name_count = 0;
    }
    if (flags & 2) { /* the metadata */
        gcd_idmap_clear(&nt->meta_by_id);
        gcd_idmap_clear(&nt->meta_by_event);
        nt->meta_count = 0;
    }
    return GCD_OK;
}
