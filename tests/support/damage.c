#include "support/damage_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

void damage_need(bool ok, const char *what)
{
    if (ok)
        return;
    (void)fprintf(stderr, "damage: expected %s\n", what);
    abort();
}

static void *room(void *items, size_t count, size_t *cap, size_t item_bytes)
{
    if (count < *cap)
        return items;
    *cap = 2 * *cap + 16;
    items = realloc(items, *cap * item_bytes);
    damage_need(items != NULL, "memory");
    return items;
}

void damage_add_block(struct damage *d, const struct damage_block *b)
{
    d->blocks = room(d->blocks, d->count, &d->cap, sizeof *d->blocks);
    d->blocks[d->count++] = *b;
}

void damage_add_event(struct damage_block *b, size_t at, const struct damage_event *e)
{
    b->events = room(b->events, b->event_count, &b->event_cap, sizeof *b->events);
    memmove(b->events + at + 1, b->events + at, (b->event_count - at) * sizeof *b->events);
    b->events[at] = *e;
    b->event_count++;
}

struct damage *damage_open(const uint8_t *bytes, size_t n)
{
    struct damage *d = calloc(1, sizeof *d);
    damage_need(d != NULL && n > 20, "a recording");
    d->bytes = bytes;
    d->n = n;
    if (memcmp(bytes, "Nettrace", 8) == 0)
        damage_split_nettrace(d, bytes, n);
    else
        damage_split_etl(d, bytes, n);
    return d;
}

void damage_free(struct damage *d)
{
    for (size_t i = 0; i < d->count; i++)
        free(d->blocks[i].events);
    free(d->blocks);
    free(d);
}

bool damage_is_etl(const struct damage *d)
{
    return d->format == 0;
}

static void join(const struct damage *d, struct tb_bytes *ret)
{
    if (damage_is_etl(d))
        damage_join_etl(d, ret);
    else
        damage_join_nettrace(d, ret);
}

void damage_none(const struct damage *d, struct tb_bytes *ret)
{
    join(d, ret);
}

/* ---- what events are ---- */

static bool has_walked(const struct damage *d, uint64_t thread)
{
    for (size_t b = 0; b < d->count; b++)
        for (size_t k = 0; k < d->blocks[b].event_count; k++)
            if (d->blocks[b].events[k].id == 18 && d->blocks[b].events[k].capture == thread)
                return true;
    return false;
}

/* Is number *BIT within the N bytes at P?  Otherwise *BIT becomes its distance from their end. */
static bool is_within(const uint8_t *p, size_t n, uint64_t *bit)
{
    if (p != NULL && *bit < 8 * n)
        return true;
    *bit -= p != NULL ? 8 * n : 0;
    return false;
}

/* The byte of number *BIT, which becomes the number within that piece; NULL after the last, and
 * then UINT64_MAX - *BIT bits were there if it was UINT64_MAX. */
static const uint8_t *find_identity(const struct damage *d, uint64_t *bit, uint32_t *ret_id)
{
    *ret_id = 0;
    for (size_t n = 0; n < d->count; n++) {
        const struct damage_block *b = &d->blocks[n];
        bool records = d->format == 6 ? b->kind == 3 : b->kind == 'M';
        if (records && is_within(b->body, b->body_bytes, bit))
            return b->body + *bit / 8;
        for (size_t k = 0; k < b->event_count; k++) {
            const struct damage_event *e = &b->events[k];
            *ret_id = e->id;
            if (e->meta_at != NULL && has_walked(d, e->capture) &&
                is_within(e->meta_at, e->meta_bytes, bit))
                return e->meta_at + *bit / 8;
        }
    }
    return NULL;
}

uint64_t damage_identity_bits(const struct damage *d)
{
    uint64_t bit = UINT64_MAX;
    uint32_t id;
    (void)find_identity(d, &bit, &id);
    return UINT64_MAX - bit;
}

void damage_flip_identity(const struct damage *d, uint64_t bit, struct tb_bytes *ret,
                          struct damage_notes *notes)
{
    uint32_t id;
    const uint8_t *p = find_identity(d, &bit, &id);
    damage_need(p != NULL, "a bit");
    size_t at = (size_t)(p - d->bytes);
    *ret = (struct tb_bytes){ NULL, 0, 0 };
    tb_put(ret, d->bytes, d->n);
    ret->p[at] ^= (uint8_t)(1u << bit % 8);
    *notes = (struct damage_notes){ .merged = false };
    (void)snprintf(notes->text, sizeof notes->text, " byte %zu from %02x to %02x, of event %u", at,
                   *p, ret->p[at], id);
}

/* ---- a case ---- */

/* The recording being damaged: a copy that shares the payloads of the original, except those in
 * OWN. */
struct hurt {
    struct damage d;
    const struct damage *other;
    uint64_t random;
    uint8_t **own;
    size_t own_count, own_cap;
    struct damage_notes *notes;
};

__attribute__((format(printf, 2, 3))) static void note(struct hurt *h, const char *fmt, ...)
{
    size_t n = strlen(h->notes->text);
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(h->notes->text + n, sizeof h->notes->text - n, fmt, ap);
    va_end(ap);
}

static size_t draw(struct hurt *h, size_t n)
{
    return n == 0 ? 0 : (size_t)(run_random(&h->random) >> 8) % n;
}

static void copy_block(struct damage *to, const struct damage_block *b)
{
    struct damage_block copy = *b;
    copy.events = NULL;
    copy.event_count = copy.event_cap = 0;
    for (size_t i = 0; i < b->event_count; i++)
        damage_add_event(&copy, i, &b->events[i]);
    damage_add_block(to, &copy);
}

/* A writable copy that replaces P. */
static uint8_t *own_copy(struct hurt *h, const uint8_t **p, size_t n)
{
    uint8_t *copy = malloc(n + 1);
    damage_need(copy != NULL, "memory");
    memcpy(copy, *p, n);
    h->own = room(h->own, h->own_count, &h->own_cap, sizeof *h->own);
    h->own[h->own_count++] = copy;
    *p = copy;
    return copy;
}

/* ---- blocks ---- */

/* A block that may move; SIZE_MAX when there is none. */
static size_t draw_block(struct hurt *h)
{
    for (unsigned tries = 0; tries < 50; tries++) {
        size_t i = draw(h, h->d.count);
        if (!h->d.blocks[i].fixed)
            return i;
    }
    return SIZE_MAX;
}

static struct damage_block take_block(struct hurt *h, size_t at)
{
    struct damage_block b = h->d.blocks[at];
    memmove(h->d.blocks + at, h->d.blocks + at + 1, (--h->d.count - at) * sizeof b);
    return b;
}

static void put_block(struct hurt *h, size_t at, const struct damage_block *b)
{
    damage_add_block(&h->d, b);
    memmove(h->d.blocks + at + 1, h->d.blocks + at, (h->d.count - 1 - at) * sizeof *b);
    h->d.blocks[at] = *b;
}

static void drop_block(struct hurt *h)
{
    size_t i = draw_block(h);
    if (i == SIZE_MAX)
        return;
    note(h, " drop block %zu;", i);
    struct damage_block b = take_block(h, i);
    free(b.events);
}

static void double_block(struct hurt *h)
{
    size_t i = draw_block(h), to = draw(h, 2) == 0 ? i + 1 : draw_block(h);
    if (i == SIZE_MAX || to == SIZE_MAX)
        return;
    note(h, " double block %zu at %zu;", i, to);
    struct damage one = { .count = 0 };
    copy_block(&one, &h->d.blocks[i]);
    put_block(h, to, &one.blocks[0]);
    free(one.blocks);
}

static void swap_blocks(struct hurt *h)
{
    size_t a = draw_block(h), b = draw(h, 2) == 0 ? a + 1 : draw_block(h);
    if (a == SIZE_MAX || b >= h->d.count || h->d.blocks[b].fixed)
        return;
    note(h, " swap blocks %zu and %zu;", a, b);
    struct damage_block x = h->d.blocks[a];
    h->d.blocks[a] = h->d.blocks[b];
    h->d.blocks[b] = x;
}

static void move_block(struct hurt *h)
{
    size_t from = draw_block(h);
    if (from == SIZE_MAX)
        return;
    struct damage_block b = take_block(h, from);
    size_t to = draw_block(h);
    if (to == SIZE_MAX)
        to = from;
    note(h, " move block %zu to %zu;", from, to);
    put_block(h, to, &b);
}

/* Cuts its end. */
static void cut_block(struct hurt *h)
{
    size_t i = draw_block(h);
    if (i == SIZE_MAX)
        return;
    struct damage_block *b = &h->d.blocks[i];
    if (b->is_events) {
        b->event_count = draw(h, b->event_count + 1);
        note(h, " cut block %zu behind %zu events;", i, b->event_count);
    } else if (damage_is_etl(
                   &h->d)) { /* only the file can end early, and the blocks that show it */
        while (h->d.count > i + 1)
            free(take_block(h, h->d.count - 1).events);
        b->body_bytes = draw(h, b->body_bytes);
        note(h, " cut behind %zu bytes of block %zu;", b->body_bytes, i);
    } else {
        b->body_bytes = draw(h, b->body_bytes);
        note(h, " cut block %zu to %zu bytes;", i, b->body_bytes);
    }
}

/* A run of blocks of the other recording. */
static void merge_blocks(struct hurt *h)
{
    if (h->other == NULL)
        return;
    size_t first = draw(h, h->other->count), n = draw(h, 2) == 0 ? 1 : h->other->count,
           at = draw_block(h), put = 0;
    if (at == SIZE_MAX)
        return;
    for (size_t i = first; i < h->other->count && put < n; i++) {
        struct damage one = { .count = 0 };
        if (h->other->blocks[i].fixed)
            continue;
        copy_block(&one, &h->other->blocks[i]);
        put_block(h, at + put++, &one.blocks[0]);
        free(one.blocks);
    }
    note(h, " %zu blocks of the other recording from %zu on at %zu;", put, first, at);
    h->notes->merged = true;
}

/* ---- events ---- */

struct where {
    size_t block, event;
};

static size_t event_total(const struct hurt *h)
{
    size_t n = 0;
    for (size_t i = 0; i < h->d.count; i++)
        n += h->d.blocks[i].event_count;
    return n;
}

/* Event number N of all blocks; past the last one the end of the last block with events. */
static struct where event_at(const struct hurt *h, size_t n)
{
    struct where w = { SIZE_MAX, 0 };
    for (size_t i = 0; i < h->d.count; i++) {
        if (!h->d.blocks[i].is_events)
            continue;
        w = (struct where){ i, h->d.blocks[i].event_count };
        if (n < h->d.blocks[i].event_count) {
            w.event = n;
            break;
        }
        n -= h->d.blocks[i].event_count;
    }
    return w;
}

/* The events of a dump: GCStart, GCEnd, bulk events, ranges. */
static bool is_heap_event(const struct damage_event *e)
{
    return e->id == 1 || e->id == 2 || (e->id >= 15 && e->id <= 19) || e->id == 23 || e->id == 38;
}

/* The number of a random event, mostly one of a dump. */
static size_t draw_event(struct hurt *h)
{
    size_t total = event_total(h), n = draw(h, total);
    for (unsigned tries = 0; tries < 20 && total > 0; tries++) {
        struct where w = event_at(h, n);
        if (is_heap_event(&h->d.blocks[w.block].events[w.event]))
            break;
        n = draw(h, total);
    }
    return n;
}

static struct damage_event *event_of(struct hurt *h, size_t n)
{
    struct where w = event_at(h, n);
    if (w.block == SIZE_MAX || w.event >= h->d.blocks[w.block].event_count)
        return NULL;
    return &h->d.blocks[w.block].events[w.event];
}

static void put_event(struct hurt *h, size_t n, const struct damage_event *e)
{
    struct where w = event_at(h, n);
    damage_add_event(&h->d.blocks[w.block], w.event, e);
}

static void remove_events(struct hurt *h, size_t from, size_t to)
{
    size_t n = 0;
    for (size_t i = 0; i < h->d.count; i++) {
        struct damage_block *b = &h->d.blocks[i];
        size_t kept = 0;
        for (size_t k = 0; k < b->event_count; k++, n++)
            if (n < from || n >= to)
                b->events[kept++] = b->events[k];
        b->event_count = kept;
    }
}

static void drop_events(struct hurt *h)
{
    size_t a = draw_event(h), b = draw(h, 2) == 0 ? a + 1 : draw_event(h);
    if (b < a) {
        size_t x = a;
        a = b;
        b = x;
    }
    note(h, " drop events %zu to %zu;", a, b);
    remove_events(h, a, b);
}

static void double_event(struct hurt *h)
{
    size_t from = draw_event(h), to = draw(h, 2) == 0 ? from + 1 : draw_event(h);
    const struct damage_event *e = event_of(h, from);
    if (e == NULL)
        return;
    struct damage_event copy = *e;
    note(h, " double event %zu at %zu;", from, to);
    put_event(h, to, &copy);
}

static void swap_events(struct hurt *h)
{
    size_t from = draw_event(h), to = draw_event(h);
    struct damage_event *a = event_of(h, from), *b = event_of(h, to);
    if (a == NULL || b == NULL)
        return;
    note(h, " swap events %zu and %zu;", from, to);
    struct damage_event x = *a;
    *a = *b;
    *b = x;
}

/*
 * Only what they say changes places, within a walk: nothing tells an event of another one with the
 * same index, or a range before the walk from one after it.
 */
static void swap_payloads(struct hurt *h)
{
    size_t from = draw_event(h), to = from + 1 + draw(h, 30);
    struct damage_event *a = event_of(h, from), *b = event_of(h, to);
    for (size_t n = from; a != NULL && b != NULL && n <= to; n++)
        if (event_of(h, n)->id == 1 || event_of(h, n)->id == 2 || event_of(h, n)->id == 23)
            return;
    if (a == NULL || b == NULL)
        return;
    note(h, " swap payloads of events %zu and %zu;", from, to);
    const uint8_t *payload = a->payload;
    size_t n = a->payload_bytes;
    a->payload = b->payload;
    a->payload_bytes = b->payload_bytes;
    b->payload = payload;
    b->payload_bytes = n;
}

static void move_event(struct hurt *h)
{
    size_t from = draw_event(h), to = draw_event(h);
    const struct damage_event *e = event_of(h, from);
    if (e == NULL)
        return;
    struct damage_event moved = *e;
    note(h, " move event %zu to %zu;", from, to);
    remove_events(h, from, from + 1);
    put_event(h, to, &moved);
}

static void cut_event(struct hurt *h)
{
    size_t n = draw_event(h);
    struct damage_event *e = event_of(h, n);
    if (e == NULL || !is_heap_event(e))
        return;
    size_t bytes = draw(h, e->payload_bytes);
    if (e->id == 1 && bytes >= 8) /* an older version of GCStart is shorter, but complete */
        bytes = 7;
    if (e->id == 2 && bytes >= 4)
        bytes = 3;
    if (e->id == 23 && bytes >= e->payload_bytes - 2) /* the rest does not matter */
        bytes = e->payload_bytes - 3;
    note(h, " cut event %zu of id %u from %zu to %zu bytes;", n, e->id, e->payload_bytes, bytes);
    e->payload_bytes = bytes;
}

static void renumber_event(struct hurt *h)
{
    size_t n = draw_event(h);
    struct damage_event *e = event_of(h, n);
    if (e == NULL)
        return;
    uint32_t to = draw(h, 3) == 0 ? 1 : (uint32_t)(e->number + draw(h, 7) - 3);
    note(h, " event %zu has number %u instead of %u;", n, to, e->number);
    e->number = to;
}

/*
 * Changes the index of a bulk event or the number of a GC, both the first field.  Only alone: with
 * a matching loss the result can be consistent, so that it cannot be detected.
 */
static void reindex_event(struct hurt *h)
{
    size_t n = draw_event(h);
    struct damage_event *e = event_of(h, n);
    if (e == NULL || !is_heap_event(e) || e->id == 15 || e->id == 23 || e->id == 38 ||
        e->payload_bytes < 4)
        return;
    uint8_t *p = own_copy(h, &e->payload, e->payload_bytes);
    uint8_t change = (uint8_t)(1 + draw(h, 3));
    note(h, " event %zu of id %u has index %u ^ %u;", n, e->id, p[0], change);
    p[0] ^= change;
}

/*
 * The runtime gets no new buffer for a thread: from here on events that fit into the old buffer are
 * written, with numbers that continue as if nothing was missing, and the others are lost; until
 * there is memory again.
 */
static void starve(struct hurt *h)
{
    size_t from = draw_event(h), to = draw_event(h), total = event_total(h), rest = draw(h, 64258);
    struct damage_event *first = event_of(h, from);
    if (first == NULL)
        return;
    uint64_t thread = first->capture;
    uint32_t number = first->number, lost = 0;
    for (size_t n = from; n < total;) {
        struct damage_event *e = event_of(h, n);
        if (e == NULL)
            break;
        if (e->capture != thread) {
            n++;
            continue;
        }
        if (n + lost >= to)
            break;
        size_t bytes = e->payload_bytes + 20;
        if (bytes <= rest) {
            rest -= bytes;
            e->number = number++;
            n++;
        } else {
            rest -= draw(h, rest / 8 + 1); /* events of other threads are written */
            remove_events(h, n, n + 1);
            total--;
            lost++;
        }
    }
    note(h, " starve thread %llu from event %zu to %zu;", (unsigned long long)thread, from, to);
}

static bool is_indexed(const struct damage_event *e)
{
    return (e->id == 18 || e->id == 19) && e->payload_bytes > 4;
}

/* What the next event of the walking thread has: its number, or the indexes by kind. */
struct seam {
    uint32_t number, index[2];
};

static struct seam seam_of(const struct damage *d, size_t block)
{
    struct seam s = { 0 };
    for (size_t b = 0; b < block; b++)
        for (size_t k = 0; k < d->blocks[b].event_count; k++) {
            const struct damage_event *e = &d->blocks[b].events[k];
            if (!is_indexed(e))
                continue;
            s.number = e->number + 1;
            memcpy(&s.index[e->id - 18], e->payload, 4);
            s.index[e->id - 18]++;
        }
    return s;
}

/* The block of D after which SEAM fits, else OTHERWISE. */
static size_t find_seam(const struct damage *d, const struct seam *seam, bool by_index,
                        size_t otherwise)
{
    for (size_t b = 1; b < d->count; b++) {
        struct seam s = seam_of(d, b);
        if (seam->number > 0 && (by_index ? memcmp(s.index, seam->index, sizeof s.index) == 0
                                          : s.number == seam->number))
            return b;
    }
    return otherwise;
}

void damage_graft(const struct damage *d, const struct damage *other, uint64_t seed,
                  struct tb_bytes *ret, struct damage_notes *notes)
{
    struct hurt h = {
        .d = { .format = d->format }, .other = other, .random = seed, .notes = notes
    };
    *notes = (struct damage_notes){ .merged = true };
    size_t walk[2] = { d->count, 0 }, cut, at;
    for (size_t b = 0; b < d->count; b++)
        for (size_t k = 0; k < d->blocks[b].event_count; k++)
            if (is_indexed(&d->blocks[b].events[k])) {
                walk[0] = b < walk[0] ? b : walk[0];
                walk[1] = b;
            }
    damage_need(walk[0] < walk[1], "a walk of several blocks");
    cut = walk[0] + 1 + draw(&h, walk[1] - walk[0]);
    struct seam seam = seam_of(d, cut);
    size_t way = draw(&h, 3);
    at = cut + draw(&h, 3) - 1;
    at = at < other->count ? at : other->count - 1;
    at = way == 0 ? at : find_seam(other, &seam, way == 1, at);
    note(&h, " blocks up to %zu, then from %zu of the other recording;", cut, at);
    for (size_t b = 0; b < cut; b++)
        copy_block(&h.d, &d->blocks[b]);
    for (size_t b = at; b < other->count; b++)
        copy_block(&h.d, &other->blocks[b]);
    join(&h.d, ret);
    for (size_t b = 0; b < h.d.count; b++)
        free(h.d.blocks[b].events);
    free(h.d.blocks);
}

typedef void (*damage_fn)(struct hurt *);

static const damage_fn of_blocks[] = { drop_block, double_block, swap_blocks, move_block,
                                       cut_block };
static const damage_fn of_buffers[] = { drop_block, double_block, swap_blocks, move_block };
/* Alone: the generated recordings have the same times, so a block of one could replace a lost one
 * of another unnoticed. */
static const damage_fn alone[] = { merge_blocks, merge_blocks, reindex_event };
static const damage_fn of_events[] = { drop_events,    drop_events, double_event,
                                       swap_events,    move_event,  cut_event,
                                       renumber_event, starve,      swap_payloads };

void damage_make(const struct damage *d, const struct damage *other, uint64_t seed,
                 struct tb_bytes *ret, struct damage_notes *notes)
{
    struct hurt h = {
        .d = { .format = d->format }, .other = other, .random = seed, .notes = notes
    };
    *notes = (struct damage_notes){ .merged = false };
    for (size_t i = 0; i < d->count; i++)
        copy_block(&h.d, &d->blocks[i]);
    bool etl = damage_is_etl(d);
    size_t times = 1 + draw(&h, 8) / 3;
    if (draw(&h, 5) == 0) {
        times = 0;
        alone[draw(&h, etl ? 2 : 3)](&h);
    }
    for (size_t i = 0; i < times; i++) {
        if (etl)
            of_buffers[draw(&h, sizeof of_buffers / sizeof *of_buffers)](&h);
        else if (draw(&h, 3) == 0)
            of_blocks[draw(&h, sizeof of_blocks / sizeof *of_blocks)](&h);
        else
            of_events[draw(&h, sizeof of_events / sizeof *of_events)](&h);
    }
    if (etl && draw(&h, 5) == 0) /* a file is cut last of all */
        cut_block(&h);
    join(&h.d, ret);
    for (size_t i = 0; i < h.d.count; i++)
        free(h.d.blocks[i].events);
    free(h.d.blocks);
    for (size_t i = 0; i < h.own_count; i++)
        free(h.own[i]);
    free(h.own);
}
