#include "sites/stored.h"

#include <string.h>

#include <gcdumpc/trace.h>

#include "base/container.h"
#include "base/cur.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "sites/sites.h"

#define FLAG_FOLLOWED 1u
#define ESTIMATE_MAX  1e18

/* ---- writing ---- */

static void put_double(struct gcd_put *w, double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    gcd_put_le(w, bits, 8);
}

static void put_text(struct gcd_put *w, const char *s)
{
    gcd_put_utf16z(w, s, strlen(s));
}

/* What is too long for an event stays empty: the number of the frame must not be missing. */
static size_t put_frame(const struct gcd_site_frame *f, uint8_t *buffer)
{
    const char *const texts[] = { f->method, f->file, f->module };
    for (size_t kept = 3;; kept--) {
        struct gcd_put w = gcd_put_make(buffer, RECORDED_PAYLOAD_MAX);
        gcd_put_le(&w, kept > 1 ? f->line : 0, 4); /* no line without its file */
        for (size_t i = 0; i < 3; i++)
            put_text(&w, i < kept ? texts[i] : "");
        if (!w.full || kept == 0)
            return gcd_put_bytes_done(&w);
    }
}

static size_t put_total(const struct gcd_site_total *t, uint8_t *buffer)
{
    struct gcd_put w = gcd_put_make(buffer, RECORDED_PAYLOAD_MAX);
    size_t n = strlen(t->type), most = RECORDED_PAYLOAD_MAX / 4;
    gcd_put_le(&w, t->stack, 4);
    gcd_put_le(&w, t->type_id, 8);
    gcd_put_le(&w, t->samples, 8);
    gcd_put_le(&w, t->dead, 8);
    gcd_put_le(&w, t->lost, 8);
    put_double(&w, t->objects);
    put_double(&w, t->bytes);
    gcd_put_utf16z(&w, t->type, n < most ? n : most);
    return gcd_put_bytes_done(&w);
}

static size_t put_sample(const struct gcd_site_sample *s, uint8_t *buffer)
{
    struct gcd_put w = gcd_put_make(buffer, RECORDED_PAYLOAD_MAX);
    gcd_put_le(&w, s->total, 4);
    gcd_put_le(&w, s->address, 8);
    gcd_put_le(&w, s->size_bytes, 8);
    put_double(&w, s->bytes);
    gcd_put_le(&w, s->age_ms, 8);
    return gcd_put_bytes_done(&w);
}

static size_t put_item(const struct gcd_sites *s, uint32_t event, size_t i, uint8_t *buffer)
{
    struct gcd_put w = gcd_put_make(buffer, RECORDED_PAYLOAD_MAX);
    switch (event) {
    case RECORDED_SITE_FRAME:
        return put_frame(&s->frames[i], buffer);
    case RECORDED_SITE_STACK:
        gcd_put_le(&w, s->stacks[i].frame, 4);
        gcd_put_le(&w, s->stacks[i].caller, 4);
        return gcd_put_bytes_done(&w);
    case RECORDED_SITE_TOTAL:
        return put_total(&s->totals[i], buffer);
    default:
        return put_sample(&s->living[i], buffer);
    }
}

size_t stored_put_next(struct stored_pass *pass, uint8_t *buffer, uint32_t *ret_event)
{
    const struct gcd_sites *s = pass->sites;
    const size_t counts[] = { s->frame_count, s->stack_count, s->total_count, s->living_count };
    if (pass->event == 0)
        pass->event = RECORDED_SITE_FRAME;
    for (; pass->event <= RECORDED_SITE_SAMPLE; pass->event++, pass->next = 0)
        if (pass->next < counts[pass->event - RECORDED_SITE_FRAME]) {
            *ret_event = pass->event;
            return put_item(s, pass->event, pass->next++, buffer);
        }
    return 0;
}

/* Damage must not make wrong sites: the first event up to the check, then all payloads in order. */
static uint64_t check_payload(const uint8_t *p, size_t n, uint64_t h)
{
    return gcd_text_hash((const char *)p, n, h);
}

size_t stored_put_start(const struct gcd_sites *s, uint8_t *buffer)
{
    struct stored_pass pass = { .sites = s };
    uint32_t event;
    uint8_t head[128];
    struct gcd_put w = gcd_put_make(head, sizeof head);
    const uint32_t small[] = { s->gc_number, s->walk_number, (uint32_t)s->source,
                               s->followed ? FLAG_FOLLOWED : 0 };
    const uint64_t large[] = { s->begin_unix_ms > 0 ? (uint64_t)s->begin_unix_ms : 0, s->window_ms,
                               s->settle_ms, s->lost_events, s->collections };
    const size_t counts[] = { s->frame_count, s->stack_count, s->total_count, s->living_count };
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        gcd_put_le(&w, small[i], 4);
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        gcd_put_le(&w, large[i], 8);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        gcd_put_le(&w, counts[i], 4);
    uint64_t check = check_payload(head, gcd_put_bytes_done(&w), GCD_TEXT_HASH);
    for (size_t n; (n = stored_put_next(&pass, buffer, &event)) > 0;)
        check = check_payload(buffer, n, check);
    gcd_put_le(&w, check, 8);
    memcpy(buffer, head, gcd_put_bytes_done(&w));
    return gcd_put_bytes_done(&w);
}

/* ---- reading ---- */

struct reading {
    const struct gcd_summary *summary;
    struct gcd_alloc alloc;
    struct gcd_sites_owner *to; /* NULL before the first event of this walk */
    uint64_t counts[4];         /* announced */
    uint64_t check, computed;
    bool damaged;
};

/* An estimate; false for what none can be. */
static bool take_double(struct gcd_cur *c, double *ret)
{
    uint64_t bits = gcd_cur_u64(c);
    memcpy(ret, &bits, sizeof bits);
    return *ret >= 0 && *ret < ESTIMATE_MAX;
}

static gcd_status take_start(struct reading *r, const struct gcd_event *ev, struct gcd_error *err)
{
    struct gcd_cur c = gcd_cur_make(ev->payload, ev->payload_bytes, ev->off);
    struct gcd_sites s = { .gc_number = gcd_cur_u32(&c) };
    s.walk_number = gcd_cur_u32(&c);
    uint32_t source = gcd_cur_u32(&c);
    s.followed = (gcd_cur_u32(&c) & FLAG_FOLLOWED) != 0;
    uint64_t begin = gcd_cur_u64(&c);
    s.window_ms = gcd_cur_u64(&c);
    s.settle_ms = gcd_cur_u64(&c);
    s.lost_events = gcd_cur_u64(&c);
    s.collections = gcd_cur_u64(&c);
    s.begin_unix_ms = begin > 0 && begin <= INT64_MAX ? (int64_t)begin : INT64_MIN;
    s.source = source <= GCD_SITE_TICKS ? (enum gcd_site_source)source : GCD_SITE_NO_SOURCE;
    if (c.err == GCD_OK &&
        (s.gc_number != r->summary->gc_number || s.walk_number != r->summary->walk_number))
        return GCD_OK; /* of another walk */
    for (size_t i = 0; i < 4; i++)
        r->counts[i] = gcd_cur_u32(&c);
    if (c.err == GCD_OK)
        r->computed = check_payload(ev->payload, (size_t)(c.p - ev->payload), GCD_TEXT_HASH);
    r->check = gcd_cur_u64(&c);
    if (c.err != GCD_OK || r->to != NULL) {
        r->damaged = true;
        return GCD_OK;
    }
    GCD_TRY(sites_new(&r->alloc, &r->to, err));
    r->to->sites = s;
    return GCD_OK;
}

/* A text of the payload as UTF-8, in the pool of the sites. */
static gcd_status take_text(struct reading *r, struct gcd_cur *c, const char **ret,
                            struct gcd_error *err)
{
    size_t units;
    const uint8_t *p = gcd_cur_utf16z(c, &units);
    *ret = "";
    if (c->err != GCD_OK || units == 0)
        return GCD_OK;
    gcd_status st = gcd_textpool_add_utf16(&r->to->texts, p, units, ret);
    return st == GCD_OK ? GCD_OK
                        : gcd_fail(err, st,
                                   "the names of the sampled allocations take too "
                                   "much memory");
}

static gcd_status take_frame(struct reading *r, struct gcd_cur *c, struct gcd_error *err)
{
    struct gcd_site_frame f = { .line = gcd_cur_u32(c) };
    GCD_TRY(take_text(r, c, &f.method, err));
    GCD_TRY(take_text(r, c, &f.file, err));
    GCD_TRY(take_text(r, c, &f.module, err));
    return c->err == GCD_OK ? sites_add_frame(r->to, &f, err) : GCD_OK;
}

static gcd_status take_stack(struct reading *r, struct gcd_cur *c, struct gcd_error *err)
{
    uint32_t frame = gcd_cur_u32(c), caller = gcd_cur_u32(c), number;
    uint32_t expected = (uint32_t)r->to->stack_count;
    if (c->err != GCD_OK || frame >= r->to->frame_count ||
        (caller != GCD_SITE_NONE && caller >= expected)) {
        r->damaged = true;
        return GCD_OK;
    }
    GCD_TRY(sites_stack(r->to, frame, caller, &number, err));
    r->damaged = r->damaged || number != expected;
    return GCD_OK;
}

static gcd_status take_total(struct reading *r, struct gcd_cur *c, struct gcd_error *err)
{
    struct gcd_site_total t = { .stack = gcd_cur_u32(c) };
    uint32_t number, expected = (uint32_t)r->to->total_count;
    t.type_id = gcd_cur_u64(c);
    t.samples = gcd_cur_u64(c);
    t.dead = gcd_cur_u64(c);
    t.lost = gcd_cur_u64(c);
    bool sound = take_double(c, &t.objects);
    sound = take_double(c, &t.bytes) && sound;
    GCD_TRY(take_text(r, c, &t.type, err));
    if (c->err != GCD_OK || !sound || (t.stack != GCD_SITE_NONE && t.stack >= r->to->stack_count)) {
        r->damaged = true;
        return GCD_OK;
    }
    GCD_TRY(sites_total(r->to, &t, &number, err));
    r->damaged = r->damaged || number != expected;
    return GCD_OK;
}

static gcd_status take_sample(struct reading *r, struct gcd_cur *c, struct gcd_error *err)
{
    struct gcd_site_sample s = { .total = gcd_cur_u32(c) };
    s.address = gcd_cur_u64(c);
    s.size_bytes = gcd_cur_u64(c);
    bool sound = take_double(c, &s.bytes);
    s.age_ms = gcd_cur_u64(c);
    if (c->err != GCD_OK || !sound || s.total >= r->to->total_count) {
        r->damaged = true;
        return GCD_OK;
    }
    return sites_living(r->to, &s, err);
}

static gcd_status take_event(struct reading *r, const struct gcd_event *ev, struct gcd_error *err)
{
    struct gcd_cur c = gcd_cur_make(ev->payload, ev->payload_bytes, ev->off);
    gcd_status st = GCD_OK;
    if (ev->provider != GCD_PROVIDER_NAMES || ev->id < RECORDED_SITES ||
        ev->id > RECORDED_SITE_SAMPLE)
        return GCD_OK;
    if (ev->id == RECORDED_SITES)
        return take_start(r, ev, err);
    if (r->to == NULL || r->damaged)
        return GCD_OK;
    r->computed = check_payload(ev->payload, ev->payload_bytes, r->computed);
    if (ev->id == RECORDED_SITE_FRAME)
        st = take_frame(r, &c, err);
    else if (ev->id == RECORDED_SITE_STACK)
        st = take_stack(r, &c, err);
    else if (ev->id == RECORDED_SITE_TOTAL)
        st = take_total(r, &c, err);
    else
        st = take_sample(r, &c, err);
    r->damaged = r->damaged || c.err != GCD_OK;
    return st;
}

static bool is_whole(const struct reading *r)
{
    const struct gcd_sites_owner *s = r->to;
    return !r->damaged && r->check == r->computed && r->counts[0] == s->frame_count &&
           r->counts[1] == s->stack_count && r->counts[2] == s->total_count &&
           r->counts[3] == s->living_count;
}

gcd_status gcd_sites_read(struct gcd_input *in, const struct gcd_summary *summary,
                          const struct gcd_context *context, struct gcd_sites **ret,
                          struct gcd_error *err)
{
    struct reading r = { .summary = summary,
                         .alloc = gcd_alloc_or_default(context != NULL ? context->alloc : NULL) };
    struct gcd_trace *t;
    struct gcd_event ev;
    *ret = NULL;
    GCD_TRY(gcd_trace_open(in, context, &t, err));
    const gcd_cancel_flag *cancel = context != NULL ? context->cancel : NULL;
    gcd_status st;
    while ((st = gcd_trace_pull(t, cancel, &ev, err)) == GCD_OK)
        if ((st = take_event(&r, &ev, err)) != GCD_OK)
            break;
    gcd_trace_free(t);
    if (st == GCD_END || st == GCD_E_TRUNCATED || st == GCD_E_FORMAT) /* the rest is not needed */
        st = GCD_OK;
    if (st == GCD_OK && (r.damaged || (r.to != NULL && !is_whole(&r))))
        st = gcd_fail(err, GCD_E_FORMAT, "the sampled allocations in it are damaged or cut off");
    if (st == GCD_OK && r.to != NULL)
        st = sites_seal(r.to, err);
    if (st == GCD_OK && r.to != NULL)
        *ret = &r.to->sites;
    else if (r.to != NULL)
        gcd_sites_free(&r.to->sites);
    return st;
}
