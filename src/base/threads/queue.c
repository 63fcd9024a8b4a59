#include "base/threads/queue.h"

#include "base/mem.h"

bool gcd_queue_init(struct gcd_queue *q, const struct gcd_alloc *a, size_t slot_bytes)
{
    *q = (struct gcd_queue){ .slot_bytes = slot_bytes };
    bool ok = true;
    for (unsigned i = 0; i < GCD_QUEUE_SLOTS; i++)
        ok = (q->slots[i].bytes = gcd_mem_new_uncleared(a, slot_bytes, 1)) != NULL && ok;
    ok = ok && pthread_mutex_init(&q->lock, NULL) == 0;
    if (ok && pthread_cond_init(&q->moved, NULL) != 0) {
        (void)pthread_mutex_destroy(&q->lock);
        ok = false;
    }
    if (ok) {
        q->alloc = a;
        return true;
    }
    for (unsigned i = 0; i < GCD_QUEUE_SLOTS; i++)
        gcd_mem_free(a, q->slots[i].bytes, slot_bytes);
    return false;
}

void gcd_queue_done(struct gcd_queue *q)
{
    if (q->alloc == NULL)
        return;
    (void)pthread_cond_destroy(&q->moved);
    (void)pthread_mutex_destroy(&q->lock);
    for (unsigned i = 0; i < GCD_QUEUE_SLOTS; i++)
        gcd_mem_free(q->alloc, q->slots[i].bytes, q->slot_bytes);
    q->alloc = NULL;
}

struct gcd_slot *gcd_queue_empty(struct gcd_queue *q)
{
    struct gcd_slot *slot = &q->slots[q->fill];
    (void)pthread_mutex_lock(&q->lock);
    while (slot->state != GCD_SLOT_EMPTY && !q->ended)
        (void)pthread_cond_wait(&q->moved, &q->lock);
    bool ended = q->ended;
    (void)pthread_mutex_unlock(&q->lock);
    return ended ? NULL : slot;
}

static void move(struct gcd_queue *q, struct gcd_slot *slot, enum gcd_slot_state state)
{
    (void)pthread_mutex_lock(&q->lock);
    slot->state = state;
    (void)pthread_cond_broadcast(&q->moved);
    (void)pthread_mutex_unlock(&q->lock);
}

void gcd_queue_put(struct gcd_queue *q, struct gcd_slot *slot)
{
    q->fill = (q->fill + 1) % GCD_QUEUE_SLOTS;
    move(q, slot, GCD_SLOT_FULL);
}

struct gcd_slot *gcd_queue_take(struct gcd_queue *q)
{
    (void)pthread_mutex_lock(&q->lock);
    while (q->slots[q->take].state != GCD_SLOT_FULL && !q->ended)
        (void)pthread_cond_wait(&q->moved, &q->lock);
    struct gcd_slot *slot = &q->slots[q->take];
    if (slot->state == GCD_SLOT_FULL) {
        slot->state = GCD_SLOT_TAKEN;
        q->take = (q->take + 1) % GCD_QUEUE_SLOTS;
    } else {
        slot = NULL;
    }
    (void)pthread_mutex_unlock(&q->lock);
    return slot;
}

void gcd_queue_give_back(struct gcd_queue *q, struct gcd_slot *slot)
{
    move(q, slot, GCD_SLOT_EMPTY);
}

static bool all_empty(const struct gcd_queue *q)
{
    for (unsigned i = 0; i < GCD_QUEUE_SLOTS; i++)
        if (q->slots[i].state != GCD_SLOT_EMPTY)
            return false;
    return true;
}

void gcd_queue_drain(struct gcd_queue *q)
{
    (void)pthread_mutex_lock(&q->lock);
    while (!all_empty(q))
        (void)pthread_cond_wait(&q->moved, &q->lock);
    (void)pthread_mutex_unlock(&q->lock);
}

void gcd_queue_end(struct gcd_queue *q)
{
    (void)pthread_mutex_lock(&q->lock);
    q->ended = true;
    (void)pthread_cond_broadcast(&q->moved);
    (void)pthread_mutex_unlock(&q->lock);
}
