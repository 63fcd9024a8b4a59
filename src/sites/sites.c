#include "sites/sites.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"

#define ITEMS_MAX      ((size_t)1 << 27)
#define TEXT_BYTES_MAX (UINT64_C(1) << 30)

gcd_status sites_new(const struct gcd_alloc *alloc, struct gcd_sites_owner **ret,
                     struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct gcd_sites_owner *s = gcd_mem_new(&a, sizeof *s);
    if (s == NULL)
        return gcd_fail_nomem(err, "finding the sites of allocations");
    s->alloc = a;
    gcd_textpool_init(&s->texts, &s->alloc, TEXT_BYTES_MAX);
    gcd_idmap_init(&s->frame_by_hash, &s->alloc);
    gcd_idmap_init(&s->stack_by_hash, &s->alloc);
    gcd_idmap_init(&s->total_by_hash, &s->alloc);
    *ret = s;
    return GCD_OK;
}

void gcd_sites_free(struct gcd_sites *sites)
{
    struct gcd_sites_owner *s = (struct gcd_sites_owner *)sites;
    if (s == NULL)
        return;
    struct gcd_alloc a = s->alloc;
    gcd_mem_free(&a, s->frames, s->frame_cap * sizeof *s->frames);
    gcd_mem_free(&a, s->stacks, s->stack_cap * sizeof *s->stacks);
    gcd_mem_free(&a, s->totals, s->total_cap * sizeof *s->totals);
    gcd_mem_free(&a, s->living, s->living_cap * sizeof *s->living);
    gcd_mem_free(&a, s->frame_next, s->frame_next_cap * sizeof *s->frame_next);
    gcd_mem_free(&a, s->stack_next, s->stack_next_cap * sizeof *s->stack_next);
    gcd_mem_free(&a, s->total_next, s->total_next_cap * sizeof *s->total_next);
    gcd_idmap_done(&s->frame_by_hash);
    gcd_idmap_done(&s->stack_by_hash);
    gcd_idmap_done(&s->total_by_hash);
    gcd_textpool_done(&s->texts);
    gcd_mem_free(&a, s, sizeof *s);
}

static gcd_status no_room(const struct gcd_sites_owner *s, struct gcd_error *err)
{
    if (s->texts.bytes >= TEXT_BYTES_MAX / 2)
        return gcd_fail(err, GCD_E_LIMIT, "the names of the methods are too long");
    return gcd_fail_nomem(err, "finding the sites of allocations");
}

static bool keep_text(struct gcd_sites_owner *s, const char *from, const char **ret)
{
    return gcd_textpool_add(&s->texts, from, strlen(from), ret) == GCD_OK;
}

static uint64_t hash_text(const char *text, uint64_t h)
{
    return gcd_text_hash(text, strlen(text) + 1, h);
}

gcd_status sites_add_frame(struct gcd_sites_owner *s, const struct gcd_site_frame *frame,
                           struct gcd_error *err)
{
    if (!gcd_vec_reserve(&s->alloc, &s->frames, &s->frame_cap, s->frame_count + 1,
                         sizeof *s->frames, ITEMS_MAX))
        return no_room(s, err);
    s->frames[s->frame_count++] = *frame;
    return GCD_OK;
}

gcd_status sites_frame(struct gcd_sites_owner *s, const struct gcd_site_frame *frame, uint32_t *ret,
                       struct gcd_error *err)
{
    uint64_t hash = hash_text(frame->method, hash_text(frame->file, GCD_TEXT_HASH + frame->line));
    uint32_t head = gcd_idmap_get(&s->frame_by_hash, hash);
    for (uint32_t i = head; i != GCD_SITE_NONE; i = s->frame_next[i]) {
        const struct gcd_site_frame *f = &s->frames[i];
        if (f->line == frame->line && strcmp(f->method, frame->method) == 0 &&
            strcmp(f->file, frame->file) == 0 && strcmp(f->module, frame->module) == 0) {
            *ret = i;
            return GCD_OK;
        }
    }
    struct gcd_site_frame kept = { .line = frame->line };
    uint32_t n = (uint32_t)s->frame_count;
    if (!gcd_vec_reserve(&s->alloc, &s->frame_next, &s->frame_next_cap, n + (size_t)1,
                         sizeof *s->frame_next, ITEMS_MAX) ||
        !keep_text(s, frame->method, &kept.method) || !keep_text(s, frame->file, &kept.file) ||
        !keep_text(s, frame->module, &kept.module) || !gcd_idmap_put(&s->frame_by_hash, hash, n))
        return no_room(s, err);
    s->frame_next[n] = head;
    *ret = n;
    return sites_add_frame(s, &kept, err);
}

gcd_status sites_stack(struct gcd_sites_owner *s, uint32_t frame, uint32_t caller, uint32_t *ret,
                       struct gcd_error *err)
{
    uint64_t hash = (uint64_t)caller << 32 | frame;
    uint32_t found = gcd_idmap_get(&s->stack_by_hash, hash), n = (uint32_t)s->stack_count;
    if (found == GCD_IDMAP_NONE) {
        if (!gcd_vec_reserve(&s->alloc, &s->stacks, &s->stack_cap, n + (size_t)1, sizeof *s->stacks,
                             ITEMS_MAX) ||
            !gcd_idmap_put(&s->stack_by_hash, hash, n))
            return no_room(s, err);
        s->stacks[n] = (struct gcd_site_stack){ .frame = frame, .caller = caller };
        s->stack_count++;
        found = n;
    }
    *ret = found;
    return GCD_OK;
}

gcd_status sites_total(struct gcd_sites_owner *s, const struct gcd_site_total *total, uint32_t *ret,
                       struct gcd_error *err)
{
    uint64_t hash = total->type_id ^ (uint64_t)total->stack << 40 ^ (uint64_t)total->stack << 7;
    uint32_t head = gcd_idmap_get(&s->total_by_hash, hash), i, n = (uint32_t)s->total_count;
    for (i = head; i != GCD_SITE_NONE; i = s->total_next[i])
        if (s->totals[i].stack == total->stack && s->totals[i].type_id == total->type_id)
            break;
    if (i == GCD_SITE_NONE) {
        struct gcd_site_total kept = { .stack = total->stack, .type_id = total->type_id };
        if (!gcd_vec_reserve(&s->alloc, &s->totals, &s->total_cap, n + (size_t)1, sizeof *s->totals,
                             ITEMS_MAX) ||
            !gcd_vec_reserve(&s->alloc, &s->total_next, &s->total_next_cap, n + (size_t)1,
                             sizeof *s->total_next, ITEMS_MAX) ||
            !keep_text(s, total->type, &kept.type) || !gcd_idmap_put(&s->total_by_hash, hash, n))
            return no_room(s, err);
        s->total_next[n] = head;
        s->totals[n] = kept;
        s->total_count++;
        i = n;
    }
    struct gcd_site_total *t = &s->totals[i];
    t->samples += total->samples;
    t->dead += total->dead;
    t->lost += total->lost;
    t->objects += total->objects;
    t->bytes += total->bytes;
    *ret = i;
    return GCD_OK;
}

void sites_count_end(struct gcd_sites_owner *s, uint32_t total, bool dead)
{
    s->totals[total].dead += dead;
    s->totals[total].lost += !dead;
}

gcd_status sites_living(struct gcd_sites_owner *s, const struct gcd_site_sample *sample,
                        struct gcd_error *err)
{
    if (!gcd_vec_reserve(&s->alloc, &s->living, &s->living_cap, s->living_count + 1,
                         sizeof *s->living, ITEMS_MAX))
        return no_room(s, err);
    s->living[s->living_count++] = *sample;
    struct gcd_site_total *t = &s->totals[sample->total];
    double size = sample->size_bytes > 0 ? (double)sample->size_bytes : 1;
    /* of a sample with the chance p = size / bytes: the variance of its bytes is bytes² (1 - p) */
    double missed = sample->bytes > size ? 1 - size / sample->bytes : 0;
    t->alive++;
    t->alive_bytes += sample->bytes;
    t->alive_objects += sample->bytes / size;
    if (sample->address != 0) {
        t->alive_variance += sample->bytes * sample->bytes * missed;
    } else { /* the square of all guessed bytes together */
        t->alive_variance += (2 * t->alive_guessed + sample->bytes) * sample->bytes;
        t->alive_guessed += sample->bytes;
    }
    return GCD_OK;
}

/* ---- the result ---- */

static int compare_totals(const void *ctx, uint32_t a, uint32_t b)
{
    const struct gcd_site_total *totals = ctx, *x = &totals[a], *y = &totals[b];
    if (x->alive_bytes != y->alive_bytes)
        return x->alive_bytes > y->alive_bytes ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int compare_living(const void *ctx, uint32_t a, uint32_t b)
{
    const struct gcd_site_sample *living = ctx, *x = &living[a], *y = &living[b];
    if (x->total != y->total)
        return x->total < y->total ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* Puts the totals in order, and renumbers those of the samples. */
static bool sort_sites(struct gcd_sites_owner *s)
{
    size_t n = s->total_count, k = s->living_count;
    uint32_t *order = gcd_sort_order(&s->alloc, n, compare_totals, s->totals);
    uint32_t *rank = gcd_mem_new_array(&s->alloc, n + 1, sizeof *rank);
    struct gcd_site_total *totals = gcd_mem_new_array(&s->alloc, n + 1, sizeof *totals);
    bool ok = order != NULL && rank != NULL && totals != NULL;
    for (size_t i = 0; i < n && ok; i++) {
        totals[i] = s->totals[order[i]];
        rank[order[i]] = (uint32_t)i;
    }
    for (size_t i = 0; i < k && ok; i++)
        s->living[i].total = rank[s->living[i].total];
    if (ok && n > 0)
        memcpy(s->totals, totals, n * sizeof *totals);
    gcd_mem_free(&s->alloc, totals, (n + 1) * sizeof *totals);
    gcd_mem_free(&s->alloc, rank, (n + 1) * sizeof *rank);
    gcd_mem_free(&s->alloc, order, n * sizeof *order);
    uint32_t *by_total = ok ? gcd_sort_order(&s->alloc, k, compare_living, s->living) : NULL;
    struct gcd_site_sample *living = gcd_mem_new_array(&s->alloc, k + 1, sizeof *living);
    ok = ok && by_total != NULL && living != NULL;
    for (size_t i = 0; i < k && ok; i++)
        living[i] = s->living[by_total[i]];
    if (ok && k > 0)
        memcpy(s->living, living, k * sizeof *living);
    gcd_mem_free(&s->alloc, living, (k + 1) * sizeof *living);
    gcd_mem_free(&s->alloc, by_total, k * sizeof *by_total);
    return ok;
}

/* The first tick also stands for bytes before the window, and what follows the last one is not
 * counted: each uniformly up to one tick, whose bytes have a twelfth of their square as variance.
 * Objects that each cause a tick have no other error. */
static void widen_error(struct gcd_site_total *t)
{
    double tick = t->alive > 0 ? t->alive_bytes / (double)t->alive : 0;
    t->alive_variance = t->alive_variance > tick * tick / 6 ? t->alive_variance : tick * tick / 6;
}

gcd_status sites_seal(struct gcd_sites_owner *s, struct gcd_error *err)
{
    if (!sort_sites(s))
        return no_room(s, err);
    struct gcd_sites *to = &s->sites;
    to->frames = s->frames;
    to->frame_count = s->frame_count;
    to->stacks = s->stacks;
    to->stack_count = s->stack_count;
    to->totals = s->totals;
    to->total_count = s->total_count;
    to->living = s->living;
    to->living_count = s->living_count;
    to->samples = to->dead = to->lost = 0;
    for (size_t i = 0; i < s->total_count; i++) {
        to->samples += s->totals[i].samples;
        to->dead += s->totals[i].dead;
        to->lost += s->totals[i].lost;
    }
    to->alive = s->living_count;
    if (to->source == GCD_SITE_TICKS)
        for (size_t i = 0; i < s->total_count; i++)
            widen_error(&s->totals[i]);
    return GCD_OK;
}

uint64_t gcd_site_estimate(double n)
{
    return n > 0 && n < 1e18 ? (uint64_t)(n + 0.5) : 0;
}

double gcd_site_error(double variance)
{
    double root = variance > 1 ? variance : 1;
    if (!(variance > 0))
        return 0;
    for (unsigned i = 0; i < 200; i++) { /* Newton's method, from above */
        double next = (root + variance / root) / 2;
        if (next >= root)
            break;
        root = next;
    }
    return root;
}
