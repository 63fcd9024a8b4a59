#include "answer/answers.h"

#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/text/plural.h>

#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/text.h"

/* Frames of one stack that people see below a site. */
#define SHOWN_FRAMES 12u
#define FRAMES_MAX   512u
#define TEXT_BYTES   1200u
/* Fewer say nothing about a share. */
#define FEWEST_SAMPLES 3u

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
const struct answer_shape answer_sites_shape = ANSWER_SHAPE(site_columns);

/* The totals of one type whose innermost frame of the program is the same. */
struct site {
    uint32_t frame, type, total; /* TOTAL: the one with the most bytes, for its stack */
    double objects, bytes, variance, allocated_objects, allocated_bytes;
    uint64_t samples, alive, dead, lost, age_ms;
};

struct listing {
    const struct answer_of_sites *of;
    struct gcd_alloc alloc;
    uint8_t *origins; /* [frame_count] enum gcd_origin */
    double *of_type;  /* [type_count] living bytes */
    size_t type_count;
    struct site *sites;
    size_t count;
};

/* The class of a method: all before its last name, and not the dot of ".ctor". */
static enum gcd_origin origin_of(const struct gcd_origins *o, const struct gcd_site_frame *f)
{
    char class[TEXT_BYTES];
    const char *dot = strrchr(f->method, '.');
    if (dot == NULL || f->method[0] == '\0')
        return GCD_ORIGIN_FRAMEWORK; /* unknown code is not the program's own */
    if (dot > f->method && dot[-1] == '.')
        dot--;
    (void)snprintf(class, sizeof class, "%.*s", (int)(dot - f->method), f->method);
    return gcd_origins_of_name(o, class);
}

static bool classify_frames(struct listing *l)
{
    const struct gcd_sites *s = l->of->sites;
    l->origins = gcd_mem_new(&l->alloc, s->frame_count + 1);
    for (size_t i = 0; l->origins != NULL && i < s->frame_count; i++)
        l->origins[i] = (uint8_t)origin_of(l->of->origins, &s->frames[i]);
    return l->origins != NULL;
}

/* The innermost frame of the program itself, else the innermost one; GCD_SITE_NONE without any. */
static uint32_t site_frame(const struct listing *l, uint32_t stack)
{
    const struct gcd_sites *s = l->of->sites;
    uint32_t first = stack != GCD_SITE_NONE ? s->stacks[stack].frame : GCD_SITE_NONE;
    for (; stack != GCD_SITE_NONE; stack = s->stacks[stack].caller)
        if (l->origins[s->stacks[stack].frame] == GCD_ORIGIN_OWN)
            return s->stacks[stack].frame;
    return first;
}

static void add_total(struct site *site, const struct gcd_site_total *t)
{
    site->objects += t->alive_objects;
    site->bytes += t->alive_bytes;
    site->variance += t->alive_variance;
    site->allocated_objects += t->objects;
    site->allocated_bytes += t->bytes;
    site->samples += t->samples;
    site->alive += t->alive;
    site->dead += t->dead;
    site->lost += t->lost;
}

/* The number of ID, which is NEXT if it is new; GCD_IDMAP_NONE without memory. */
static uint32_t number_of(struct gcd_idmap *m, uint64_t id, uint32_t next)
{
    uint32_t n = gcd_idmap_get(m, id);
    return n == GCD_IDMAP_NONE && gcd_idmap_put(m, id, next) ? next : n;
}

/* Groups the totals, which come with the most bytes first.  Types have their numbers of the
 * summary; more follow for those that it does not have. */
static bool group(struct listing *l)
{
    const struct gcd_sites *s = l->of->sites;
    const struct gcd_summary *summary = l->of->summary;
    struct gcd_idmap type_by_id, site_by_key;
    uint32_t types = summary->type_count;
    l->type_count = types + s->total_count;
    l->of_type = gcd_mem_new_array(&l->alloc, l->type_count, sizeof *l->of_type);
    l->sites = gcd_mem_new_array(&l->alloc, s->total_count + 1, sizeof *l->sites);
    uint32_t *site_of = gcd_mem_new_array(&l->alloc, s->total_count + 1, sizeof *site_of);
    bool ok = l->of_type != NULL && l->sites != NULL && site_of != NULL;
    gcd_idmap_init(&type_by_id, &l->alloc);
    gcd_idmap_init(&site_by_key, &l->alloc);
    for (uint32_t i = 0; ok && i < summary->type_count; i++)
        ok = number_of(&type_by_id, summary->types[i].id, i) != GCD_IDMAP_NONE;
    for (uint32_t i = 0; ok && i < s->total_count; i++) {
        const struct gcd_site_total *t = &s->totals[i];
        uint32_t frame = site_frame(l, t->stack), type = number_of(&type_by_id, t->type_id, types);
        uint32_t k = number_of(&site_by_key, (uint64_t)frame << 32 | type, (uint32_t)l->count);
        ok = type != GCD_IDMAP_NONE && k != GCD_IDMAP_NONE;
        if (!ok)
            break;
        types += type == types;
        if (k == l->count)
            l->sites[l->count++] = (struct site){ .frame = frame, .type = type, .total = i };
        add_total(&l->sites[k], t);
        l->of_type[type] += t->alive_bytes;
        site_of[i] = k;
    }
    for (size_t i = 0; ok && i < s->living_count; i++)
        l->sites[site_of[s->living[i].total]].age_ms += s->living[i].age_ms;
    gcd_idmap_done(&type_by_id);
    gcd_idmap_done(&site_by_key);
    gcd_mem_free(&l->alloc, site_of, (s->total_count + 1) * sizeof *site_of);
    return ok;
}

static int compare_sites(const void *ctx, uint32_t a, uint32_t b)
{
    const struct listing *l = ctx;
    const struct site *x = &l->sites[a], *y = &l->sites[b];
    bool dead = l->of->also_dead;
    double p = dead ? x->allocated_bytes : x->bytes, q = dead ? y->allocated_bytes : y->bytes;
    return p != q ? (p > q ? -1 : 1) : a < b ? -1 : a > b;
}

/* ---- rows ---- */

static const char *method_of(const struct gcd_site_frame *f)
{
    return f->method[0] != '\0' ? f->method : "(unknown code)";
}

static void frame_text(const struct gcd_site_frame *f, const char *type, char *ret)
{
    size_t n = 0;
    if (f->line != 0)
        n = (size_t)snprintf(ret, TEXT_BYTES, "%.255s:%u ", gcd_file_name(f->file),
                             (unsigned)f->line);
    (void)snprintf(ret + n, TEXT_BYTES - n, "%.600s%s%.250s%s", method_of(f),
                   type != NULL ? " (" : "", type != NULL ? type : "", type != NULL ? ")" : "");
}

static const char *type_name(const struct listing *l, const struct site *site)
{
    return site->type < l->of->summary->type_count ? gcd_names_get(l->of->names, site->type)
                                                   : l->of->sites->totals[site->total].type;
}

static uint64_t rounded(double n)
{
    return n > 0 && n < 1e18 ? (uint64_t)(n + 0.5) : 0;
}

static void put_frames(struct answer *a, const struct listing *l, uint32_t stack)
{
    const struct gcd_sites *s = l->of->sites;
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
                    gcd_origin_name((enum gcd_origin)l->origins[s->stacks[stack].frame]));
    }
}

static void put_line(struct answer *a, const char *text)
{
    answer_row(a);
    answer_text(a, "site", text);
    answer_depth(a, "site", 1);
}

/* The program's own callers of the site, a line each. */
static void put_callers(struct answer *a, const struct listing *l, const struct site *site)
{
    const struct gcd_sites *s = l->of->sites;
    uint32_t stack = s->totals[site->total].stack;
    unsigned shown = 0;
    uint64_t hidden = 0;
    char text[TEXT_BYTES];
    while (stack != GCD_SITE_NONE && s->stacks[stack].frame != site->frame)
        stack = s->stacks[stack].caller;
    if (stack == GCD_SITE_NONE)
        return;
    for (stack = s->stacks[stack].caller; stack != GCD_SITE_NONE; stack = s->stacks[stack].caller) {
        uint32_t frame = s->stacks[stack].frame;
        if (l->origins[frame] != GCD_ORIGIN_OWN && !l->of->full)
            continue;
        if (shown++ >= SHOWN_FRAMES && !l->of->full) {
            hidden++;
            continue;
        }
        frame_text(&s->frames[frame], NULL, text);
        put_line(a, text);
    }
    if (hidden > 0) {
        (void)snprintf(text, sizeof text, "(%s more)", GCD_DIGITS(hidden));
        put_line(a, text);
    }
}

static void put_site(struct answer *a, const struct listing *l, const struct site *site)
{
    const struct gcd_sites *s = l->of->sites;
    const struct gcd_site_total *t = &s->totals[site->total];
    static const struct gcd_site_frame unknown = { "", "", "", 0 };
    const struct gcd_site_frame *f =
        site->frame != GCD_SITE_NONE ? &s->frames[site->frame] : &unknown;
    const char *type = type_name(l, site);
    double of_type = l->of_type[site->type];
    char text[TEXT_BYTES];
    answer_row(a);
    answer_count(a, "count", rounded(site->objects));
    answer_count(a, "bytes", rounded(site->bytes));
    if (site->alive > 0)
        answer_share(a, "error_share", rounded(gcd_site_error(site->variance)),
                     rounded(site->bytes));
    if (of_type > 0)
        answer_share(a, "type_share", rounded(site->bytes), rounded(of_type));
    if (s->window_ms > 0)
        answer_count(a, "bytes_per_second",
                     rounded(site->allocated_bytes * 1000 / (double)s->window_ms));
    if (site->alive > 0 && site->age_ms > 0)
        answer_count(a, "age_seconds", (site->age_ms / site->alive + 500) / 1000);
    answer_count(a, "samples", site->samples);
    answer_count(a, "alive_samples", site->alive);
    answer_count(a, "dead_samples", site->dead);
    answer_count(a, "lost_samples", site->lost);
    answer_count(a, "allocated_count", rounded(site->allocated_objects));
    answer_count(a, "allocated_bytes", rounded(site->allocated_bytes));
    answer_known(a, "method", f->method);
    answer_known(a, "file", f->file);
    if (f->line != 0)
        answer_count(a, "line", f->line);
    answer_text(a, "type", type);
    frame_text(f, type, text);
    answer_text(a, "site", text);
    put_frames(a, l, t->stack);
}

static void put_sites(struct answer *a, const struct listing *l, const uint32_t *order)
{
    const struct answer_of_sites *of = l->of;
    uint64_t shown = 0, matching = 0;
    for (size_t i = 0; i < l->count; i++) {
        const struct site *site = &l->sites[order[i]];
        double bytes = of->also_dead ? site->allocated_bytes : site->bytes;
        if ((site->alive == 0 && !of->also_dead) || bytes < (double)of->page.min_bytes)
            continue;
        matching++;
        if (of->page.most != 0 && shown >= of->page.most)
            continue;
        shown++;
        put_site(a, l, site);
        if (of->people)
            put_callers(a, l, site);
    }
    a->total = matching;
}

/* The frame with the most bytes of BYTES, and its share of all. */
static void largest_text(const struct listing *l, const double *bytes, uint64_t samples, char *ret)
{
    const struct gcd_sites *s = l->of->sites;
    size_t best = 0;
    double all = 0;
    for (size_t i = 0; i < s->frame_count; i++) {
        all += bytes[i];
        best = bytes[i] > bytes[best] ? i : best;
    }
    const struct gcd_site_frame *f = &s->frames[best];
    char line[300] = "";
    if (!(bytes[best] > 0))
        return;
    if (f->line != 0)
        (void)snprintf(line, sizeof line, " (%.255s:%u)", gcd_file_name(f->file),
                       (unsigned)f->line);
    (void)snprintf(ret, ANSWER_SITE_BYTES,
                   "Allocated in %.600s%s: %u %% of what was sampled of it (%s objects).",
                   method_of(f), line, (unsigned)(100 * bytes[best] / all + 0.5),
                   GCD_DIGITS(samples));
}

gcd_status answer_allocated_in(const struct answer_of_sites *of, const struct gcd_graph *g,
                               const uint8_t *inside, char *ret, struct gcd_error *err)
{
    struct listing l = { .of = of, .alloc = gcd_alloc_or_default(NULL) };
    const struct gcd_sites *s = of->sites;
    uint64_t samples = 0;
    double *bytes = gcd_mem_new_array(&l.alloc, s->frame_count + 1, sizeof *bytes);
    bool ok = bytes != NULL && classify_frames(&l);
    ret[0] = '\0';
    for (size_t i = 0; ok && i < s->living_count; i++) {
        uint32_t node = gcd_graph_find(g, s->living[i].address);
        uint32_t frame = site_frame(&l, s->totals[s->living[i].total].stack);
        if (node == GCD_NODE_NONE || inside[node] == 0 || frame == GCD_SITE_NONE)
            continue;
        bytes[frame] += s->living[i].bytes;
        samples++;
    }
    if (ok && samples >= FEWEST_SAMPLES)
        largest_text(&l, bytes, samples, ret);
    gcd_mem_free(&l.alloc, bytes, (s->frame_count + 1) * sizeof *bytes);
    gcd_mem_free(&l.alloc, l.origins, s->frame_count + 1);
    return ok ? GCD_OK : gcd_fail_nomem(err, "finding the site of a suspect");
}

gcd_status answer_sites(const struct answer_of_sites *of, struct answer **ret,
                        struct gcd_error *err)
{
    struct listing l = { .of = of, .alloc = gcd_alloc_or_default(NULL) };
    const struct gcd_sites *s = of->sites;
    struct answer *a = *ret = answer_new(NULL, &answer_sites_shape);
    bool ok = a != NULL && classify_frames(&l) && group(&l);
    uint32_t *order = ok ? gcd_sort_order(&l.alloc, l.count, compare_sites, &l) : NULL;
    if (order != NULL)
        put_sites(a, &l, order);
    gcd_mem_free(&l.alloc, order, l.count * sizeof *order);
    gcd_mem_free(&l.alloc, l.sites, (s->total_count + 1) * sizeof *l.sites);
    gcd_mem_free(&l.alloc, l.of_type, l.type_count * sizeof *l.of_type);
    gcd_mem_free(&l.alloc, l.origins, s->frame_count + 1);
    if (order != NULL)
        return GCD_OK;
    answer_free(a);
    *ret = NULL;
    return gcd_fail_nomem(err, "listing sites");
}
