#include "base/belt.h"

#include "base/mem.h"

bool gcd_belt_init(struct gcd_belt *b, const struct gcd_alloc *a, size_t box_bytes)
{
    *b = (struct gcd_belt){ .box_bytes = box_bytes };
    bool ok = true;
    for (unsigned i = 0; i < GCD_BELT_BOXES; i++)
        ok = (b->boxes[i].bytes = gcd_mem_new_uncleared(a, box_bytes, 1)) != NULL && ok;
    ok = ok && pthread_mutex_init(&b->lock, NULL) == 0;
    if (ok && pthread_cond_init(&b->moved, NULL) != 0) {
        (void)pthread_mutex_destroy(&b->lock);
        ok = false;
    }
    if (ok) {
        b->alloc = a;
        return true;
    }
    for (unsigned i = 0; i < GCD_BELT_BOXES; i++)
        gcd_mem_free(a, b->boxes[i].bytes, box_bytes);
    return false;
}

void gcd_belt_done(struct gcd_belt *b)
{
    if (b->alloc == NULL)
        return;
    (void)pthread_cond_destroy(&b->moved);
    (void)pthread_mutex_destroy(&b->lock);
    for (unsigned i = 0; i < GCD_BELT_BOXES; i++)
        gcd_mem_free(b->alloc, b->boxes[i].bytes, b->box_bytes);
    b->alloc = NULL;
}

struct gcd_box *gcd_belt_empty(struct gcd_belt *b)
{
    struct gcd_box *box = &b->boxes[b->fill];
    (void)pthread_mutex_lock(&b->lock);
    while (box->state != GCD_BOX_EMPTY && !b->ended)
        (void)pthread_cond_wait(&b->moved, &b->lock);
    bool ended = b->ended;
    (void)pthread_mutex_unlock(&b->lock);
    return ended ? NULL : box;
}

static void move(struct gcd_belt *b, struct gcd_box *box, enum gcd_box_state state)
{
    (void)pthread_mutex_lock(&b->lock);
    box->state = state;
    (void)pthread_cond_broadcast(&b->moved);
    (void)pthread_mutex_unlock(&b->lock);
}

void gcd_belt_put(struct gcd_belt *b, struct gcd_box *box)
{
    b->fill = (b->fill + 1) % GCD_BELT_BOXES;
    move(b, box, GCD_BOX_FULL);
}

struct gcd_box *gcd_belt_take(struct gcd_belt *b)
{
    (void)pthread_mutex_lock(&b->lock);
    while (b->boxes[b->take].state != GCD_BOX_FULL && !b->ended)
        (void)pthread_cond_wait(&b->moved, &b->lock);
    struct gcd_box *box = &b->boxes[b->take];
    if (box->state == GCD_BOX_FULL) {
        box->state = GCD_BOX_TAKEN;
        b->take = (b->take + 1) % GCD_BELT_BOXES;
    } else {
        box = NULL;
    }
    (void)pthread_mutex_unlock(&b->lock);
    return box;
}

void gcd_belt_give_back(struct gcd_belt *b, struct gcd_box *box)
{
    move(b, box, GCD_BOX_EMPTY);
}

static bool all_empty(const struct gcd_belt *b)
{
    for (unsigned i = 0; i < GCD_BELT_BOXES; i++)
        if (b->boxes[i].state != GCD_BOX_EMPTY)
            return false;
    return true;
}

void gcd_belt_settle(struct gcd_belt *b)
{
    (void)pthread_mutex_lock(&b->lock);
    while (!all_empty(b))
        (void)pthread_cond_wait(&b->moved, &b->lock);
    (void)pthread_mutex_unlock(&b->lock);
}

void gcd_belt_end(struct gcd_belt *b)
{
    (void)pthread_mutex_lock(&b->lock);
    b->ended = true;
    (void)pthread_cond_broadcast(&b->moved);
    (void)pthread_mutex_unlock(&b->lock);
}
