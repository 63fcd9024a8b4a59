#include "write/gclog_batch.h"

#include <string.h>

#include <gcdumpc/unstable/io/sink_room.h>

#include "base/hex.h"
#include "base/mem.h"
#include "io/sink_thread.h"

/* Room for a letter and three numbers with their spaces. */
#define HEAD_BYTES (3 * (GCD_HEX_MAX + 1) + 16)
/* Room for a space and a number, and for the end of a line. */
#define NUMBER_BYTES ((size_t)GCD_HEX_MAX + 1 + 8)

/* ---- text: on the second thread, if there is one ---- */

struct text {
    struct gcd_sink *out;
    char *begin, *p, *end; /* the part of the sink being filled */
};

static void flush(struct text *t)
{
    if (t->begin != NULL)
        gcd_sink_advance(t->out, (size_t)(t->p - t->begin));
    t->begin = t->p = t->end = NULL;
}

static inline char *room(struct text *t, size_t n)
{
    if ((size_t)(t->end - t->p) < n) {
        flush(t);
        t->begin = t->p = gcd_sink_reserve(t->out, GCD_SINK_RESERVE_MAX);
        t->end = t->begin + GCD_SINK_RESERVE_MAX;
    }
    return t->p;
}

static void put_head(struct text *t, const uint64_t *head)
{
    char *q = room(t, HEAD_BYTES);
    *q++ = 'o';
    *q++ = ' ';
    q = gcd_hex_put(q, head[GCLOG_ADDRESS]);
    *q++ = ' ';
    q = gcd_hex_put(q, (uint32_t)head[GCLOG_COUNTS]);
    *q++ = ' ';
    t->p = gcd_hex_put(q, head[GCLOG_SIZE]);
}

static void put_end(struct text *t)
{
    *room(t, NUMBER_BYTES) = '\n';
    t->p++;
}

/* Formats a batch.  The references move to the front of the numbers, so that all are looked up
 * together. */
static void to_text(void *ctx, struct gcd_slot *slot)
{
    const struct gclog_batches *b = ctx;
    struct text t = { .out = b->out };
    uint64_t *numbers = slot->bytes;
    size_t targets = 0;
    for (size_t at = 0; at < slot->used;) {
        uint64_t counts = numbers[at + GCLOG_COUNTS];
        if (numbers[at + GCLOG_ADDRESS] != 0)
            put_head(&t, &numbers[at]);
        at += GCLOG_HEAD_NUMBERS;
        for (size_t end = at + (size_t)((counts & ~GCLOG_LAST) >> GCLOG_EDGES_SHIFT); at < end;
             at++) {
            char *q = room(&t, NUMBER_BYTES);
            *q = ' ';
            t.p = gcd_hex_put(q + 1, numbers[at]);
            numbers[targets++] = numbers[at];
        }
        if ((counts & GCLOG_LAST) != 0)
            put_end(&t);
    }
    flush(&t);
    slot->at = gcd_dump_count_unknown(b->dump, numbers, targets);
    slot->status = gcd_sink_status(b->out, NULL);
}

/* ---- numbers: on the calling thread ---- */

/* Takes the batch that comes back first as the next one. */
static void next_batch(struct gclog_batches *b)
{
    b->slot = gcd_in_order_next(&b->order);
    if (b->slot->used > 0) {
        b->dangling += b->slot->at;
        b->failed |= b->slot->status != GCD_OK;
    }
    b->numbers = b->slot->bytes;
    b->used = 0;
}

static void hand_out(struct gclog_batches *b)
{
    b->slot->used = b->used;
    gcd_in_order_put(&b->order, b->slot);
    next_batch(b);
}

static void open_head(struct gclog_batches *b, uint64_t address, uint64_t size_bytes)
{
    if (GCLOG_BATCH_NUMBERS - b->used <= GCLOG_HEAD_NUMBERS)
        hand_out(b);
    b->head = b->used;
    b->numbers[b->head + GCLOG_ADDRESS] = address;
    b->numbers[b->head + GCLOG_SIZE] = size_bytes;
    b->used += GCLOG_HEAD_NUMBERS;
}

static void close_head(struct gclog_batches *b, uint64_t last)
{
    uint64_t edges = b->used - b->head - GCLOG_HEAD_NUMBERS;
    b->numbers[b->head + GCLOG_COUNTS] = b->type_id | edges << GCLOG_EDGES_SHIFT | last;
}

bool gclog_batches_init(struct gclog_batches *b, const struct gcd_dump *dump, struct gcd_sink *out,
                        const struct gcd_context *context)
{
    *b = (struct gclog_batches){ .alloc = gcd_alloc_or_default(context->alloc),
                                 .dump = dump,
                                 .out = out };
    unsigned others = context->threads > 1 && gcd_sink_has_thread(out) ? 1 : 0;
    if (!gcd_in_order_init(&b->order, &b->alloc, GCLOG_BATCH_NUMBERS * sizeof *b->numbers, others,
                           to_text, b))
        return false;
    next_batch(b);
    return true;
}

void gclog_batches_begin(struct gclog_batches *b, uint64_t address, uint32_t type_id,
                         uint64_t size_bytes)
{
    b->type_id = type_id;
    open_head(b, address, size_bytes);
}

void gclog_batches_edges(struct gclog_batches *b, const uint64_t *targets, size_t n)
{
    while (n > 0) {
        size_t there = GCLOG_BATCH_NUMBERS - b->used, part = n < there ? n : there;
        memcpy(&b->numbers[b->used], targets, part * sizeof *targets);
        b->used += part;
        targets += part;
        n -= part;
        if (n > 0) {
            close_head(b, 0);
            open_head(b, 0, 0);
        }
    }
}

void gclog_batches_end(struct gclog_batches *b)
{
    close_head(b, GCLOG_LAST);
}

void gclog_batches_finish(struct gclog_batches *b)
{
    for (unsigned i = 0; i < GCD_QUEUE_SLOTS; i++)
        hand_out(b);
    gcd_in_order_done(&b->order);
}
