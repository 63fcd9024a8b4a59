#include "gh_pipe.h"

#include <stdlib.h>
#include <string.h>

#include "gh_bytes.h"

void gh_pipe_init(struct gh_pipe *p, struct gh_container *c, const struct gh_opts *o)
{
    memset(p, 0, sizeof *p);
    p->c = c;
    p->o = o;
    p->now = GH_QPC_START + 1000000;
    p->dump = -1;
    p->next_index = 1;
}

void gh_pipe_done(struct gh_pipe *p)
{
    free(p->queue);
    free(p->bytes);
    p->queue = NULL;
    p->bytes = NULL;
}

struct gh_thread *gh_pipe_thread(struct gh_pipe *p, uint64_t id, const char *name,
                                 uint32_t processor)
{
    struct gh_thread *t = &p->threads[p->n_threads++];

    if (p->n_threads > GH_THREADS_MAX)
        abort(); /* the script asks for a fixed number */
    memset(t, 0, sizeof *t);
    t->id = id;
    t->name = name;
    t->processor = processor;
    t->index = p->next_index++;
    t->queue_first = t->queue_last = GH_NO_EVENT;
    return t;
}

void gh_pipe_wait(struct gh_pipe *p, uint64_t ns)
{
    p->now += ns;
}

void gh_pipe_dump(struct gh_pipe *p, int32_t number)
{
    p->dump = number;
    memset(p->nth, 0, sizeof p->nth);
}

static bool is_lost(struct gh_pipe *p, enum gh_kind kind)
{
    const struct gh_opts *o = p->o;
    uint64_t nth = p->nth[kind]++;
    unsigned i;

    for (i = 0; i < o->n_drops; i++) {
        const struct gh_drop *d = &o->drops[i];

        if (d->kind == kind && nth >= d->first && nth <= d->last &&
            (p->dump < 0 || (uint32_t)p->dump == d->dump))
            return true;
    }
    return kind < GH_K_BULK_COUNT && o->drop_permille &&
           gh_below(gh_hash2(o->seed ^ 0xD809, p->n_attempted), 1000) < o->drop_permille;
}

/* Keeps a copy of the event until the end of the pass. */
static void enqueue(struct gh_pipe *p, const struct gh_event *ev)
{
    struct gh_thread *t = ev->capture;
    struct gh_queued *q;

    if (p->n_queued == p->cap_queued) {
        uint32_t cap = p->cap_queued ? p->cap_queued * 2 : 256;
        struct gh_queued *grown = realloc(p->queue, cap * sizeof *grown);

        if (!grown) {
            p->no_memory = true;
            return;
        }
        p->queue = grown;
        p->cap_queued = cap;
    }
    if (p->cap_bytes - p->n_bytes < ev->payload_bytes) {
        uint64_t cap = (p->cap_bytes + ev->payload_bytes) * 2;
        uint8_t *grown = realloc(p->bytes, (size_t)cap);

        if (!grown) {
            p->no_memory = true;
            return;
        }
        p->bytes = grown;
        p->cap_bytes = cap;
    }
    if (ev->payload_bytes)
        memcpy(p->bytes + p->n_bytes, ev->payload, ev->payload_bytes);
    q = &p->queue[p->n_queued];
    q->ev = *ev;
    q->payload_off = p->n_bytes;
    q->next = GH_NO_EVENT;
    p->n_bytes += ev->payload_bytes;
    if (t->queue_first == GH_NO_EVENT) {
        t->queue_first = p->n_queued;
        p->run_order[p->n_runs++] = (uint32_t)(t - p->threads);
    } else {
        p->queue[t->queue_last].next = p->n_queued;
    }
    t->queue_last = p->n_queued++;
}

void gh_pipe_end_pass(struct gh_pipe *p)
{
    uint32_t i, k;

    /* threads enter run_order with their first event, so they are sorted by its time */
    for (i = 0; i < p->n_runs; i++) {
        struct gh_thread *t = &p->threads[p->run_order[i]];

        for (k = t->queue_first; k != GH_NO_EVENT; k = p->queue[k].next) {
            struct gh_queued *q = &p->queue[k];

            q->ev.payload = p->bytes + q->payload_off;
            q->ev.sorted = k == t->queue_first;
            gh_container_event(p->c, &q->ev);
        }
        t->queue_first = t->queue_last = GH_NO_EVENT;
    }
    p->n_runs = p->n_queued = 0;
    p->n_bytes = 0;
    p->runner = NULL;
}

void gh_pipe_sequence_point(struct gh_pipe *p)
{
    uint32_t i, flags = 0;

    gh_pipe_end_pass(p);
    p->bytes_since_sp = 0;
    if (p->o->format == GH_V3)
        return;
    p->now++;
    p->n_sps++;
    if (p->o->format == GH_V6)
        flags = (p->o->forget_threads ? 1u : 0u) | (p->o->noise && p->n_sps % 2 ? 2u : 0u);
    gh_container_sequence_point(p->c, p->now, p->threads, p->n_threads, flags);
    for (i = 0; i < p->n_threads; i++) {
        struct gh_thread *t = &p->threads[i];

        if (t->listed && !(t->gone && p->o->format == GH_V6))
            t->visible = t->attempted;
        t->shown = t->attempted;
        t->refused_bytes = 0;
    }
    if (flags & 1) {
        /* forgotten threads return with new indexes, and for a reader their numbers begin at 1 */
        uint32_t n = p->n_threads;

        for (i = 0; i < n; i++) {
            struct gh_thread *t = &p->threads[i];

            p->n_visible_lost += t->visible - t->n_written;
            t->n_written = 0;
            t->defined = false;
            t->listed = false;
            t->index = p->next_index++;
            t->attempted = t->shown = t->visible = 0;
        }
    }
    if (p->o->noise && p->o->format == GH_V6)
        gh_container_unknown_block(p->c, p->o->seed + p->n_sps);
}

bool gh_pipe_event(struct gh_pipe *p, struct gh_thread *t, enum gh_meta meta, struct gh_emit how,
                   const uint8_t *payload, size_t payload_bytes)
{
    bool counted = p->dump <= 0;
    struct gh_event ev = {
        .capture = t,
        .about = how.about ? how.about : t,
        .meta = meta,
        .kind = how.kind,
        .n_items = how.n_items,
        .stack = how.stack,
        .activity = how.activity,
        .counted = counted,
        .payload = payload,
        .payload_bytes = (uint32_t)payload_bytes,
    };

    p->now += 700 + payload_bytes + (gh_mix(p->now) & 0x3FF);
    p->n_attempted++;
    t->attempted++;
    if (is_lost(p, how.kind)) {
        p->n_lost++;
        if (counted) {
            p->events_lost[how.kind]++;
            p->items_lost[how.kind] += how.n_items;
        }
        if (t->refused_bytes == 0 || payload_bytes < t->refused_bytes)
            t->refused_bytes = (uint32_t)payload_bytes;
        return false;
    }
    /* an event as long as a lost one goes into a new buffer, whose first number is right */
    bool hidden = p->o->hide_gaps && t->refused_bytes > 0 && payload_bytes < t->refused_bytes;
    t->shown = hidden ? t->shown + 1 : t->attempted;
    t->refused_bytes = hidden ? t->refused_bytes : 0;
    t->visible = t->shown;
    t->listed = true;
    t->n_written++;
    ev.seq = t->shown;
    ev.time = p->now;
    p->bytes_since_sp += payload_bytes + 64;
    /* V3 is sorted by time, as events arrive */
    if (!p->runner || p->runner == t || p->o->format == GH_V3) {
        ev.sorted = !p->runner || p->o->format == GH_V3;
        p->runner = t;
        gh_container_event(p->c, &ev);
    } else {
        enqueue(p, &ev);
    }
    if (p->bytes_since_sp >= p->o->sp_bytes)
        gh_pipe_sequence_point(p);
    return true;
}

void gh_pipe_thread_ends(struct gh_pipe *p, struct gh_thread *t)
{
    t->gone = true;
    if (p->o->format == GH_V6 && t->defined) {
        gh_pipe_end_pass(p);
        gh_container_remove_thread(p->c, t);
        t->visible = t->attempted;
    }
}

uint64_t gh_pipe_visible_loss(const struct gh_pipe *p)
{
    uint64_t lost = p->n_visible_lost;
    uint32_t i;

    for (i = 0; i < p->n_threads; i++)
        lost += p->threads[i].visible - p->threads[i].n_written;
    return lost;
}
