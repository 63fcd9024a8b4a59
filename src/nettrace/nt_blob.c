#include "base/error.h"
#include "nettrace/nt.h"

/* Flag byte of a compressed event header: which fields follow. */
#define HAS_META_ID      0x01
#define HAS_SEQUENCE     0x02 /* sequence number, capture thread, processor */
#define HAS_THREAD       0x04
#define HAS_STACK        0x08
#define HAS_ACTIVITY     0x10 /* format 6: label list */
#define HAS_RELATED      0x20
#define HAS_PAYLOAD_SIZE 0x80 /* 0x40 is the flag "sorted", which has no field */

#define BLOCK_HEADER_BYTES 20
#define COMPRESSED         1

gcd_status nt_block_begin(struct gcd_nt *nt, const struct nt_frame *f, size_t body_bytes, bool cut,
                          struct gcd_error *err)
{
    struct gcd_cur c = gcd_cur_make(f->body, body_bytes, f->body_off);
    nt->block_is_meta = f->kind == NT_METADATA;
    nt->block_cut = cut;
    nt->block_compressed = false;
    nt->header = (struct nt_header){ .has_sequence = nt->format != 3 };
    if (nt->format != 3 && !(nt->format == 6 && nt->block_is_meta)) {
        uint16_t header_bytes = gcd_cur_u16(&c);
        uint16_t flags = gcd_cur_u16(&c);
        if (c.err == GCD_OK && header_bytes < BLOCK_HEADER_BYTES)
            return gcd_fail_at(err, GCD_E_FORMAT, f->body_off,
                               "a block header of %u bytes, at least %u are expected", header_bytes,
                               BLOCK_HEADER_BYTES);
        gcd_cur_skip(&c, header_bytes > 4 ? header_bytes - 4u : 0);
        nt->block_compressed = flags & COMPRESSED;
    }
    if (c.err != GCD_OK && !cut)
        return nt_cur_error(&c, "a block header", err);
    nt->block = c;
    nt->in_block = true;
    return GCD_OK;
}

/* Missing fields keep the value of the previous blob; see NetTraceFormat.md, "Header compression".
 */
static void read_compressed(struct gcd_nt *nt, struct gcd_cur *c)
{
    struct nt_header *h = &nt->header;
    uint8_t flags = gcd_cur_u8(c);
    if (flags & HAS_META_ID)
        h->meta_id = gcd_cur_varuint32(c);
    if (flags & HAS_SEQUENCE) {
        /* metadata blobs have this group, too, although the specification says they do not: .NET 8,
         * 9 and 10 write it with a delta of -1 */
        h->sequence += gcd_cur_varuint32(c) + 1;
        h->capture_thread = gcd_cur_varuint64(c);
        (void)gcd_cur_varuint32(c); /* processor */
    } else if (h->meta_id != 0) {
        h->sequence++;
    }
    if (flags & HAS_THREAD)
        (void)gcd_cur_varuint64(
            c); /* the thread that the event is about, which may differ from its writer */
    if (flags & HAS_STACK)
        h->stack = gcd_cur_varuint32(c);
    h->ticks += gcd_cur_varuint64(c);
    if (nt->format == 6) {
        if (flags & HAS_ACTIVITY)
            h->label_list = gcd_cur_varuint32(c);
    } else {
        if (flags & HAS_ACTIVITY)
            gcd_cur_skip(c, 16);
        if (flags & HAS_RELATED)
            gcd_cur_skip(c, 16);
    }
    if (flags & HAS_PAYLOAD_SIZE)
        h->payload_bytes = gcd_cur_varuint32(c);
}

/*
 * The event header of an uncompressed block.  EventSize counts everything after itself, including
 * padding: it determines the next blob, not the computed padding.
 */
static void read_uncompressed(struct gcd_nt *nt, struct gcd_cur *c, size_t *ret_after)
{
    struct nt_header *h = &nt->header;
    uint32_t event_bytes = gcd_cur_u32(c);
    size_t left = gcd_cur_left(c);
    if (event_bytes > left)
        gcd_cur_fail(c, GCD_E_FORMAT);
    h->meta_id = gcd_cur_u32(c);
    if (nt->format == 3) {
        h->capture_thread = gcd_cur_u32(c);
        h->ticks = gcd_cur_u64(c);
        gcd_cur_skip(c, 32); /* activity ids */
    } else {
        h->meta_id &= 0x7fffffff; /* bit 31 set: not sorted */
        h->sequence = gcd_cur_u32(c);
        gcd_cur_skip(c, 8); /* thread */
        h->capture_thread = gcd_cur_u64(c);
        gcd_cur_skip(c, 4); /* processor */
        h->stack = gcd_cur_u32(c);
        h->ticks = gcd_cur_u64(c);
        if (nt->format == 6)
            h->label_list = gcd_cur_u32(c);
        else
            gcd_cur_skip(c, 32);
    }
    h->payload_bytes = gcd_cur_u32(c);
    size_t used = left - gcd_cur_left(c);
    if (c->err == GCD_OK && (event_bytes < used || h->payload_bytes > event_bytes - used))
        gcd_cur_fail(c, GCD_E_FORMAT);
    *ret_after = c->err == GCD_OK ? event_bytes - used - h->payload_bytes : 0;
}

/*
 * Sets the thread that wrote the event.  In format 6 the thread is an index, defined elsewhere, and
 * a sequence point may give the same thread another index.
 */
static void set_thread(const struct gcd_nt *nt, struct gcd_event *ev, bool *ret_known)
{
    ev->thread = nt->header.capture_thread;
    ev->process = nt->info.process;
    *ret_known = true;
    if (nt->format == 6) {
        uint32_t i = gcd_idmap_get(&nt->thread_by_index, nt->header.capture_thread);
        *ret_known = i != GCD_IDMAP_NONE;
        if (i != GCD_IDMAP_NONE && nt->thread_names[i].process != 0)
            ev->process = nt->thread_names[i].process;
        if (i != GCD_IDMAP_NONE && nt->thread_names[i].os_thread != 0)
            ev->thread = nt->thread_names[i].os_thread;
    }
}

/* Labels can prescribe the version of an event.  False when the list is unknown. */
static bool set_version(const struct gcd_nt *nt, struct gcd_event *ev)
{
    if (nt->header.label_list == 0)
        return true;
    uint32_t version = gcd_idmap_get(&nt->label_version, nt->header.label_list);
    if (version != GCD_IDMAP_NONE && version != NT_NO_VERSION)
        ev->version = version;
    return version != GCD_IDMAP_NONE || nt->label_overflow;
}

/* More than 73 years mean damage; within these bounds, differences of times cannot overflow. */
#define TIME_MAX (INT64_MAX / 4)

static int64_t clamp_time(int64_t ns)
{
    return ns > TIME_MAX ? TIME_MAX : ns < -TIME_MAX ? -TIME_MAX : ns;
}

int64_t nt_time_ns(const struct gcd_nt *nt, uint64_t ticks)
{
    const int64_t second = 1000000000;
    int64_t d = (int64_t)(ticks - (uint64_t)nt->sync_ticks);
    int64_t f = (int64_t)nt->frequency;
    if (f == second)
        return clamp_time(d);
    /* beyond 9 GHz, precision does not matter but overflow does */
    while (f > INT64_MAX / second) {
        f /= 2;
        d /= 2;
    }
    int64_t whole;
    if (__builtin_mul_overflow(d / f, second, &whole))
        return d < 0 ? -TIME_MAX : TIME_MAX;
    return clamp_time(clamp_time(whole) + d % f * second / f);
}

/* GCD_OK with an event; GCD_NEED_MORE if the blob was not an event for the caller. */
static gcd_status take_blob(struct gcd_nt *nt, struct gcd_cur *payload, struct gcd_event *ret,
                            struct gcd_error *err)
{
    const struct nt_header *h = &nt->header;
    if (nt->block_is_meta || (nt->format == 3 && h->meta_id == 0)) {
        gcd_status st = nt_meta_record(nt, payload, err);
        return st == GCD_OK ? GCD_NEED_MORE : st;
    }
    uint32_t m = gcd_idmap_get(&nt->meta_by_id, h->meta_id);
    if (m == GCD_IDMAP_NONE && nt->block_cut)
        return GCD_END; /* the block size was wrong, and this is not an event */
    nt->sequence_point_last = false;
    nt->info.events++;
    struct gcd_event who;
    bool thread_known;
    set_thread(nt, &who, &thread_known);
    uint32_t gap = 0;
    struct nt_numbered numbered = { .thread = h->capture_thread,
                                    .reported = who.thread,
                                    .ticks = h->ticks,
                                    .number = h->sequence };
    if (h->has_sequence && !nt_seq_event(&nt->seq, &nt->alloc, &numbered, &gap))
        return gcd_fail_nomem(err, "counting events");
    if (m == GCD_IDMAP_NONE || nt->metas[m].contradicted) {
        nt->info.unknown_events++;
        nt_seq_pass_on(&nt->seq, gap);
        return GCD_NEED_MORE;
    }
    const struct nt_meta *meta = &nt->metas[m];
    *ret = (struct gcd_event){
        .provider = meta->provider,
        .id = meta->event_id,
        .version = meta->version,
        .gap = gap,
        .provider_name = meta->provider_name,
        .time_ns = nt_time_ns(nt, h->ticks),
        .ptr_bytes = nt->info.ptr_bytes,
        .payload = payload->p,
        .payload_bytes = gcd_cur_left(payload),
        .keywords = meta->keywords,
        .off = gcd_cur_off(payload),
        .epoch = nt->seq.points,
    };
    nt_stack_of(nt, h->stack, ret);
    ret->thread = who.thread;
    ret->process = who.process;
    /* the block that defines them is missing or misplaced; events of other providers do not need
     * them */
    if ((!set_version(nt, ret) || !thread_known) && meta->provider != GCD_PROVIDER_OTHER) {
        nt->seq.irregular++;
        ret->gap = GCD_GAP_DISORDER;
    }
    return GCD_OK;
}

gcd_status nt_block_next(struct gcd_nt *nt, struct gcd_event *ret, struct gcd_error *err)
{
    struct gcd_cur *c = &nt->block;
    if (nt->format == 6 && nt->block_is_meta) {
        gcd_status st = nt_meta_block_v6(nt, c, err);
        return st == GCD_OK ? GCD_END : st;
    }
    while (c->err == GCD_OK && gcd_cur_left(c) > 0) {
        uint64_t at = gcd_cur_off(c);
        size_t after = 0;
        if (nt->block_compressed)
            read_compressed(nt, c);
        else
            read_uncompressed(nt, c, &after);
        if (c->err == GCD_OK && nt->header.payload_bytes > gcd_cur_left(c))
            gcd_cur_fail(c, GCD_E_FORMAT);
        if (c->err != GCD_OK && !nt->block_cut)
            return gcd_fail_at(err, GCD_E_FORMAT, at,
                               "the event at this place reaches beyond its block");
        if (c->err != GCD_OK)
            return GCD_END; /* the last blob of a truncated block */
        struct gcd_cur payload = gcd_cur_sub(c, nt->header.payload_bytes);
        gcd_cur_skip(c, after);
        gcd_status st = take_blob(nt, &payload, ret, err);
        nt->own_mixed |= st == GCD_OK && nt->own_off != 0 && ret->provider != GCD_PROVIDER_NAMES;
        if (st != GCD_NEED_MORE)
            return st;
    }
    return GCD_END;
}
