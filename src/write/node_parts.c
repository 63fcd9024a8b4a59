#include "write/node_parts.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/threads/in_order.h"

/* Maximum number of nodes of a part, if their maximum size fits. */
#define PART_NODES UINT32_C(8192)

struct run {
    const struct gcd_graph *g;
    const struct node_writer *writer;
    struct gcd_in_order order;
    uint32_t count;
};

/* The number of dependent handles whose key is less than NODE; they are sorted by key. */
static size_t dependents_before(const struct gcd_graph *g, uint32_t node)
{
    size_t low = 0, high = gcd_graph_dependent_count(g);
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (gcd_graph_dependent(g, mid)->key < node)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool has_room(const struct run *r, uint32_t first, uint32_t end)
{
    size_t n;
    const uint32_t *from = gcd_graph_node_edges(r->g, first, &n),
                   *to = gcd_graph_node_edges(r->g, end - 1, &n) + n;
    uint64_t edges =
        (uint64_t)(to - from) + (dependents_before(r->g, end) - dependents_before(r->g, first));
    return edges <= NODE_PART_BYTES &&
           (end - first) * r->writer->node_bytes + edges * r->writer->edge_bytes <= NODE_PART_BYTES;
}

/* The end of the part that begins with FIRST; FIRST itself if one node does not fit. */
static uint32_t part_end(const struct run *r, uint32_t first)
{
    uint32_t n = r->count - first < PART_NODES ? r->count - first : PART_NODES;
    while (n > 0 && !has_room(r, first, first + n))
        n /= 2;
    return first + n;
}

static void fill(void *ctx, struct gcd_slot *slot)
{
    const struct run *r = ctx;
    r->writer->fill(r->writer->ctx, slot->bytes);
}

/* Writes the part that comes back first, then its slot is free. */
static gcd_status put_next(struct run *r, struct gcd_slot **ret, struct gcd_error *err)
{
    *ret = gcd_in_order_next(&r->order);
    bool filled = (*ret)->used > 0;
    (*ret)->used = 0;
    return filled ? r->writer->put(r->writer->ctx, (*ret)->bytes, err) : GCD_OK;
}

/* Writes all parts that are still out. */
static gcd_status put_rest(struct run *r, struct gcd_error *err)
{
    struct gcd_slot *slot;
    for (unsigned i = 0; i < GCD_QUEUE_SLOTS; i++) {
        GCD_TRY(put_next(r, &slot, err));
        gcd_in_order_put(&r->order, slot);
    }
    return GCD_OK;
}

static gcd_status hand_out(struct run *r, uint32_t first, uint32_t end, struct gcd_error *err)
{
    struct gcd_slot *slot;
    GCD_TRY(put_next(r, &slot, err));
    struct node_part *part = slot->bytes;
    part->first = first;
    part->end = end;
    part->dependent = dependents_before(r->g, first);
    part->used = 0;
    slot->used = 1;
    gcd_in_order_put(&r->order, slot);
    return GCD_OK;
}

static gcd_status run_all(struct run *r, struct gcd_error *err)
{
    for (uint32_t first = 0, end; first < r->count; first = end) {
        end = part_end(r, first);
        if (end > first) {
            GCD_TRY(hand_out(r, first, end, err));
            continue;
        }
        end = first + 1;
        GCD_TRY(put_rest(r, err));
        GCD_TRY(r->writer->put_nodes(r->writer->ctx, first, end, err));
    }
    return put_rest(r, err);
}

gcd_status node_parts_write(const struct gcd_graph *g, const struct node_writer *writer,
                            const struct gcd_context *context, struct gcd_error *err)
{
    struct run r = { .g = g, .writer = writer, .count = gcd_graph_node_count(g) };
    struct gcd_alloc alloc = gcd_alloc_or_default(context->alloc);
    if (context->threads < 2 ||
        !gcd_in_order_init(&r.order, &alloc, sizeof(struct node_part) + NODE_PART_BYTES,
                           context->threads, fill, &r))
        return writer->put_nodes(writer->ctx, 0, r.count, err);
    gcd_status st = run_all(&r, err);
    gcd_in_order_done(&r.order);
    return st;
}
