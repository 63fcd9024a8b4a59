#include "answer/answers.h"

#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/text/plural.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/text.h"

/* Frames of one stack that people see below a site. */
#define SHOWN_FRAMES 12u
#define FRAMES_MAX   512u

static const struct answer_column frame_columns[] = {
    FIELD("method", ANSWER_TEXT), FIELD("file", ANSWER_TEXT),   FIELD("line", ANSWER_COUNT),
    FIELD("module", ANSWER_TEXT), FIELD("origin", ANSWER_TEXT),
};
static const struct answer_shape frames_shape = ANSWER_SHAPE(frame_columns);

static const struct answer_column site_columns[] = {
    COLUMN("count", "Objects", ANSWER_COUNT),
    COLUMN("bytes", "Bytes", ANSWER_BYTES),
    COLUMN("error_share", "\xc2\xb1", ANSWER_SHARE),
    COLUMN("type_share", "Of type", ANSWER_SHARE),
    COLUMN("bytes_per_second", "Per second", ANSWER_BYTES),
    COLUMN("age_seconds", "Age, s", ANSWER_COUNT),
    FIELD("samples", ANSWER_COUNT),
    FIELD("alive_samples", ANSWER_COUNT),
    FIELD("dead_samples", ANSWER_COUNT),
    FIELD("lost_samples", ANSWER_COUNT),
    FIELD("allocated_count", ANSWER_COUNT),
    FIELD("allocated_bytes", ANSWER_BYTES),
    FIELD("method", ANSWER_TEXT),
    FIELD("file", ANSWER_TEXT),
    FIELD("line", ANSWER_COUNT),
    FIELD("type", ANSWER_TEXT),
    PEOPLE("site", "Line, type, and callers", ANSWER_TREE),
    ROWS("frames", ANSWER_FOR_PROGRAMS, &frames_shape),
};
static const struct answer_shape sites_shape = ANSWER_SHAPE(site_columns);

static int compare_sites(const void *ctx, uint32_t a, uint32_t b)
{
    const struct answer_of_sites *of = ctx;
    const struct gcd_site *x = &of->list->items[a], *y = &of->list->items[b];
    bool dead = of->also_dead;
    double p = dead ? x->allocated_bytes : x->bytes, q = dead ? y->allocated_bytes : y->bytes;
    return p != q ? (p > q ? -1 : 1) : a < b ? -1 : a > b;
}

/* ---- rows ---- */

static const char *method_of(const struct gcd_site_frame *f)
{
    return f->method[0] != '\0' ? f->method : "(unknown code)";
}

void answer_site_text(const struct gcd_site_frame *f, const char *type, char *ret)
{
    size_t n = 0;
    if (f->line != 0)
        n = (size_t)snprintf(ret, ANSWER_SITE_BYTES, "%.255s:%u ", gcd_file_name(f->file),
                             (unsigned)f->line);
    (void)snprintf(ret + n, ANSWER_SITE_BYTES - n, "%.600s%s%.250s%s", method_of(f),
                   type != NULL ? " (" : "", type != NULL ? type : "", type != NULL ? ")" : "");
}

static void put_frames(struct answer *a, const struct answer_of_sites *of, uint32_t stack)
{
    const struct gcd_sites *s = of->list->sites;
    struct answer *rows = answer_rows(a, "frames");
    for (unsigned n = 0; stack != GCD_SITE_NONE && n < FRAMES_MAX;
         stack = s->stacks[stack].caller, n++) {
        const struct gcd_site_frame *f = &s->frames[s->stacks[stack].frame];
        answer_row(rows);
        answer_known(rows, "method", f->method);
        answer_known(rows, "file", f->file);
        if (f->line != 0)
            answer_count(rows, "line", f->line);
        answer_known(rows, "module", f->module);
        answer_text(rows, "origin",
                    gcd_origin_name((enum gcd_origin)of->list->origins[s->stacks[stack].frame]));
    }
}

static void put_line(struct answer *a, const char *text)
{
    answer_row(a);
    answer_text(a, "site", text);
    answer_depth(a, "site", 1);
}

/* The program's own callers of the site, a line each. */
static void put_callers(struct answer *a, const struct answer_of_sites *of,
                        const struct gcd_site *site)
{
    const struct gcd_sites *s = of->list->sites;
    uint32_t stack = s->totals[site->total].stack;
    unsigned shown = 0;
    uint64_t hidden = 0;
    char text[ANSWER_SITE_BYTES];
    while (stack != GCD_SITE_NONE && s->stacks[stack].frame != site->frame)
        stack = s->stacks[stack].caller;
    if (stack == GCD_SITE_NONE)
        return;
    for (stack = s->stacks[stack].caller; stack != GCD_SITE_NONE; stack = s->stacks[stack].caller) {
        uint32_t frame = s->stacks[stack].frame;
        if (of->list->origins[frame] != GCD_ORIGIN_OWN && !of->full)
            continue;
        if (shown++ >= SHOWN_FRAMES && !of->full) {
            hidden++;
            continue;
        }
        answer_site_text(&s->frames[frame], NULL, text);
        put_line(a, text);
    }
    if (hidden > 0) {
        (void)snprintf(text, sizeof text, "(%s more)", GCD_DIGITS(hidden));
        put_line(a, text);
    }
}

static void put_site(struct answer *a, const struct answer_of_sites *of,
                     const struct gcd_site *site)
{
    const struct gcd_sites *s = of->list->sites;
    const struct gcd_site_total *t = &s->totals[site->total];
    const struct gcd_site_frame *f = gcd_site_frame_of(of->list, site);
    const char *type = gcd_site_type_name(of->list, site, of->summary, of->names);
    double of_type = of->list->of_type[site->type];
    char text[ANSWER_SITE_BYTES], call[GCD_ASYNC_STEP_BYTES];
    const char *said = site->type < of->summary->type_count && !of->full
                           ? gcd_names_step(of->names, site->type, call)
                           : type;
    answer_row(a);
    answer_count(a, "count", gcd_site_estimate(site->objects));
    answer_count(a, "bytes", gcd_site_estimate(site->bytes));
    if (site->alive > 0)
        answer_share(a, "error_share", gcd_site_estimate(gcd_site_error(site->variance)),
                     gcd_site_estimate(site->bytes));
    if (of_type > 0)
        answer_share(a, "type_share", gcd_site_estimate(site->bytes), gcd_site_estimate(of_type));
    if (s->window_ms > 0)
        answer_count(a, "bytes_per_second",
                     gcd_site_estimate(site->allocated_bytes * 1000 / (double)s->window_ms));
    if (site->alive > 0 && site->age_ms > 0)
        answer_count(a, "age_seconds", (site->age_ms / site->alive + 500) / 1000);
    answer_count(a, "samples", site->samples);
    answer_count(a, "alive_samples", site->alive);
    answer_count(a, "dead_samples", site->dead);
    answer_count(a, "lost_samples", site->lost);
    answer_count(a, "allocated_count", gcd_site_estimate(site->allocated_objects));
    answer_count(a, "allocated_bytes", gcd_site_estimate(site->allocated_bytes));
    answer_known(a, "method", f->method);
    answer_known(a, "file", f->file);
    if (f->line != 0)
        answer_count(a, "line", f->line);
    answer_text(a, "type", type);
    answer_site_text(f, said, text);
    answer_text(a, "site", text);
    put_frames(a, of, t->stack);
}

static void put_sites(struct answer *a, const struct answer_of_sites *of, const uint32_t *order)
{
    uint64_t shown = 0, matching = 0;
    for (size_t i = 0; i < of->list->count; i++) {
        const struct gcd_site *site = &of->list->items[order[i]];
        double bytes = of->also_dead ? site->allocated_bytes : site->bytes;
        if ((of->type != NULL && site->type != *of->type) || (site->alive == 0 && !of->also_dead) ||
            bytes < (double)of->page.min_bytes)
            continue;
        matching++;
        if (of->page.most != 0 && shown >= of->page.most)
            continue;
        shown++;
        put_site(a, of, site);
        if (of->people)
            put_callers(a, of, site);
    }
    a->total = matching;
}

/* ---- sites of a suspect ---- */

static const struct answer_column part_columns[] = {
    FIELD("bytes", ANSWER_BYTES),         FIELD("share", ANSWER_SHARE),
    FIELD("alive_samples", ANSWER_COUNT), FIELD("method", ANSWER_TEXT),
    FIELD("file", ANSWER_TEXT),           FIELD("line", ANSWER_COUNT),
    FIELD("module", ANSWER_TEXT),
};
const struct answer_shape answer_site_parts_shape = ANSWER_SHAPE(part_columns);

bool answer_suspect_site(const struct answer_of_suspects *of, const struct gcd_suspect *s,
                         struct answer *rows, char *text)
{
    const struct gcd_graph *g = gcd_session_graph(of->session);
    const struct gcd_site_list *l = NULL;
    struct gcd_site_parts parts = { .count = 0 };
    text[0] = '\0';
    bool ok = gcd_session_site_list(of->session, NULL, &l, NULL) == GCD_OK;
    if (!ok || l == NULL)
        return ok;
    ok = gcd_site_parts_of(l, g, of->dominators, s, &parts, NULL) == GCD_OK;
    for (size_t i = 0; i < parts.count; i++) {
        const struct gcd_site_part *part = &parts.items[i];
        const struct gcd_site_frame *f = &l->sites->frames[part->frame];
        answer_row(rows);
        answer_count(rows, "bytes", gcd_site_estimate(part->bytes));
        answer_share(rows, "share", gcd_site_estimate(part->bytes), gcd_site_estimate(parts.bytes));
        answer_count(rows, "alive_samples", part->samples);
        answer_known(rows, "method", f->method);
        answer_known(rows, "file", f->file);
        if (f->line != 0)
            answer_count(rows, "line", f->line);
        answer_known(rows, "module", f->module);
    }
    gcd_site_parts_text(&parts, l->sites, text);
    gcd_site_parts_done(&parts);
    return ok;
}

/* ---- all sites ---- */

gcd_status answer_sites(const struct answer_of_sites *of, struct answer **ret,
                        struct gcd_error *err)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    struct answer *a = NULL;
    uint32_t *order = gcd_sort_order(&alloc, of->list->count, compare_sites, of);
    if (order != NULL && (a = answer_new(NULL, &sites_shape)) != NULL)
        put_sites(a, of, order);
    gcd_mem_free(&alloc, order, of->list->count * sizeof *order);
    *ret = a;
    return a != NULL ? GCD_OK : gcd_fail_nomem(err, "listing sites");
}
