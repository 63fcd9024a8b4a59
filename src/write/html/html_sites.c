/* Stacks that allocated what is still alive, in the form of the stacks of html_waits.c, and the
 * lines of each type. */
#include <string.h>

#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "write/html/html_data.h"
#include "write/json_put.h"

/* Maximum numbers of stacks with their types, most bytes first, of their frames, and of lines of
 * types; maximum bytes of a name. */
#define ROWS       1000u
#define FRAMES     6000u
#define LINES      2000u
#define NAME_BYTES 400u

struct numbering {
    const struct html_data *h;
    const struct gcd_site_list *l;
    const uint32_t *type_names;
    uint32_t *number;       /* [stack_count] of the page; UINT32_MAX = not used */
    struct gcd_idmap names; /* frame, or TYPE_NAME and a total's type -> number */
    uint32_t rows, frames, name_count;
};

/* JavaScript knows no larger whole numbers. */
static uint64_t whole(double n)
{
    return n < 9e15 ? gcd_site_estimate(n) : 0;
}

/* The page's number of the name of a type; -1 = none. */
static int64_t type_number(const struct numbering *n, uint32_t total)
{
    uint32_t type = n->l->items[n->l->site_of[total]].type;
    bool known = type < gcd_graph_summary(n->h->g)->type_count;
    return known && n->type_names[type] != UINT32_MAX ? (int64_t)n->type_names[type] : -1;
}

static const char *type_text(const struct numbering *n, uint32_t total)
{
    return gcd_site_type_name(n->l, &n->l->items[n->l->site_of[total]], gcd_graph_summary(n->h->g),
                              gcd_session_names(n->h->session));
}

/* Chooses the totals of the page, and numbers their stacks: a caller comes first. */
static void choose_rows(struct numbering *n)
{
    const struct gcd_sites *s = n->l->sites;
    memset(n->number, 0xff, s->stack_count * sizeof *n->number);
    while (n->rows < s->total_count && n->rows < ROWS && s->totals[n->rows].alive > 0) {
        uint32_t missing = 0, stack = s->totals[n->rows].stack;
        for (uint32_t k = stack; k != GCD_SITE_NONE && n->number[k] == UINT32_MAX;
             k = s->stacks[k].caller)
            missing++;
        if (n->frames + missing > FRAMES)
            break;
        n->frames += missing;
        for (; missing > 0; missing--, stack = s->stacks[stack].caller)
            n->number[stack] = 0;
        n->rows++;
    }
    n->frames = 0;
    for (size_t i = 0; i < s->stack_count; i++)
        if (n->number[i] != UINT32_MAX)
            n->number[i] = n->frames++;
}

/* The number of a name, which is written if it is new. */
static bool put_name(struct numbering *n, uint64_t key, const char *text, struct json_put *j)
{
    if (gcd_idmap_get(&n->names, key) != GCD_IDMAP_NONE)
        return true;
    json_put_text(j, NULL, text, NAME_BYTES);
    return gcd_idmap_put(&n->names, key, n->name_count++);
}

static uint64_t type_key(const struct numbering *n, uint32_t total)
{
    return UINT64_C(1) << 32 | n->l->items[n->l->site_of[total]].type;
}

static bool put_names(struct numbering *n, struct json_put *j)
{
    const struct gcd_sites *s = n->l->sites;
    char text[NAME_BYTES];
    bool ok = true;
    json_put_open(j, "names", '[');
    for (size_t i = 0; i < s->stack_count && ok; i++) {
        if (n->number[i] == UINT32_MAX)
            continue;
        gcd_site_frame_text(&s->frames[s->stacks[i].frame], text, sizeof text);
        ok = put_name(n, s->stacks[i].frame, text, j);
    }
    for (uint32_t i = 0; i < n->rows && ok; i++)
        ok = put_name(n, type_key(n, i), type_text(n, i), j);
    json_put_close(j, ']');
    return ok;
}

static void put_frame(struct numbering *n, uint32_t caller, uint64_t key, int64_t type,
                      struct json_put *j)
{
    json_put_open(j, NULL, '[');
    json_put_signed(j, NULL, caller == GCD_SITE_NONE ? -1 : (int64_t)n->number[caller]);
    json_put_number(j, NULL, gcd_idmap_get(&n->names, key));
    json_put_number(j, NULL, 0);
    json_put_signed(j, NULL, type);
    json_put_close(j, ']');
}

/* As in html_waits.c: the parent of a frame is its caller.  The types are the innermost frames, one
 * for each row. */
static void put_stacks(struct numbering *n, struct json_put *j)
{
    const struct gcd_sites *s = n->l->sites;
    json_put_open(j, "frames", '[');
    for (size_t i = 0; i < s->stack_count; i++)
        if (n->number[i] != UINT32_MAX)
            put_frame(n, s->stacks[i].caller, s->stacks[i].frame, -1, j);
    for (uint32_t i = 0; i < n->rows; i++)
        put_frame(n, s->totals[i].stack, type_key(n, i), type_number(n, i), j);
    json_put_close(j, ']');
    json_put_open(j, "rows", '[');
    for (uint32_t i = 0; i < n->rows; i++) {
        json_put_open(j, NULL, '[');
        json_put_number(j, NULL, n->frames + i);
        json_put_number(j, NULL, whole(s->totals[i].alive_objects));
        json_put_number(j, NULL, 0);
        json_put_number(j, NULL, whole(s->totals[i].alive_bytes));
        json_put_close(j, ']');
    }
    json_put_close(j, ']');
}

/* One row per line and type: the name of the type, method and line, objects, bytes, and their
 * standard error. */
static void put_lines(const struct numbering *n, struct json_put *j)
{
    char text[NAME_BYTES];
    size_t shown = 0;
    json_put_open(j, "lines", '[');
    for (size_t i = 0; i < n->l->count && shown < LINES; i++) {
        const struct gcd_site *site = &n->l->items[i];
        int64_t type = type_number(n, site->total);
        if (site->alive == 0 || type < 0 || site->frame == GCD_SITE_NONE)
            continue;
        gcd_site_frame_text(&n->l->sites->frames[site->frame], text, sizeof text);
        json_put_open(j, NULL, '[');
        json_put_signed(j, NULL, type);
        json_put_text(j, NULL, text, NAME_BYTES);
        json_put_number(j, NULL, whole(site->objects));
        json_put_number(j, NULL, whole(site->bytes));
        json_put_number(j, NULL, whole(gcd_site_error(site->variance)));
        json_put_close(j, ']');
        shown++;
    }
    json_put_close(j, ']');
}

static bool put_sites(struct numbering *n, struct json_put *j)
{
    const struct gcd_sites *s = n->l->sites;
    double objects = 0, bytes = 0;
    size_t different = 0;
    for (size_t i = 0; i < s->total_count; i++) {
        objects += s->totals[i].alive_objects;
        bytes += s->totals[i].alive_bytes;
        different += s->totals[i].alive > 0;
    }
    json_put_open(j, "sites", '{');
    json_put_number(j, "samples", s->samples);
    json_put_number(j, "alive", s->alive);
    json_put_number(j, "window_ms", s->window_ms);
    json_put_number(j, "settle_ms", s->settle_ms);
    json_put_bool(j, "followed", s->followed);
    json_put_number(j, "objects", whole(objects));
    json_put_number(j, "bytes", whole(bytes));
    json_put_number(j, "different", different);
    choose_rows(n);
    json_put_number(j, "methods", n->frames);
    if (!put_names(n, j))
        return false;
    put_stacks(n, j);
    put_lines(n, j);
    json_put_close(j, '}');
    return true;
}

gcd_status html_put_sites(const struct html_data *h, const uint32_t *type_names, struct json_put *j,
                          struct gcd_error *err)
{
    struct numbering n = { .h = h, .l = h->sites, .type_names = type_names };
    if (h->sites == NULL)
        return GCD_OK;
    size_t stacks = h->sites->sites->stack_count;
    gcd_idmap_init(&n.names, &h->alloc);
    n.number = gcd_mem_new_array(&h->alloc, stacks + 1, sizeof *n.number);
    bool ok = n.number != NULL && put_sites(&n, j);
    gcd_mem_free(&h->alloc, n.number, (stacks + 1) * sizeof *n.number);
    gcd_idmap_done(&n.names);
    return ok ? GCD_OK : gcd_fail_nomem(err, "numbering frames");
}
