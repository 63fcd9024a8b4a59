/* Sites: samples by line of the program and type. */
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/sites.h>

#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/text.h"

#define CLASS_BYTES  1200u
#define METHOD_BYTES 600u /* that people see of a method */

struct list {
    struct gcd_site_list list; /* must be first */
    struct gcd_alloc alloc;
    struct gcd_site *items;
    uint8_t *origins;
    uint32_t *site_of;
    double *of_type;
    size_t type_count;
};

/* The class of a method: all before its last name, and not the dot of ".ctor". */
static enum gcd_origin origin_of(const struct gcd_origins *o, const struct gcd_site_frame *f)
{
    char class[CLASS_BYTES];
    const char *dot = strrchr(f->method, '.');
    if (dot == NULL || f->method[0] == '\0')
        return GCD_ORIGIN_FRAMEWORK; /* unknown code is not the program's own */
    if (dot > f->method && dot[-1] == '.')
        dot--;
    (void)snprintf(class, sizeof class, "%.*s", (int)(dot - f->method), f->method);
    return gcd_origins_of_name(o, class);
}

/* The innermost frame of the program itself, else the innermost one. */
static uint32_t own_frame(const struct list *l, uint32_t stack)
{
    const struct gcd_sites *s = l->list.sites;
    uint32_t first = stack != GCD_SITE_NONE ? s->stacks[stack].frame : GCD_SITE_NONE;
    for (; stack != GCD_SITE_NONE; stack = s->stacks[stack].caller)
        if (l->origins[s->stacks[stack].frame] == GCD_ORIGIN_OWN)
            return s->stacks[stack].frame;
    return first;
}

static void add_total(struct gcd_site *site, const struct gcd_site_total *t)
{
    site->objects += t->alive_objects;
    site->bytes += t->alive_bytes;
    site->variance += t->alive_variance + 2 * site->guessed * t->alive_guessed;
    site->guessed += t->alive_guessed;
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

/* Groups the totals, which come with the most bytes first. */
static bool group_totals(struct list *l, const struct gcd_summary *summary,
                         struct gcd_idmap *type_by_id, struct gcd_idmap *site_by_key)
{
    const struct gcd_sites *s = l->list.sites;
    uint32_t types = summary->type_count;
    for (uint32_t i = 0; i < summary->type_count; i++)
        if (number_of(type_by_id, summary->types[i].id, i) == GCD_IDMAP_NONE)
            return false;
    for (uint32_t i = 0; i < s->total_count; i++) {
        const struct gcd_site_total *t = &s->totals[i];
        uint32_t frame = own_frame(l, t->stack), type = number_of(type_by_id, t->type_id, types);
        uint32_t k = number_of(site_by_key, (uint64_t)frame << 32 | type, (uint32_t)l->list.count);
        if (type == GCD_IDMAP_NONE || k == GCD_IDMAP_NONE)
            return false;
        types += type == types;
        if (k == l->list.count)
            l->items[l->list.count++] =
                (struct gcd_site){ .frame = frame, .type = type, .total = i };
        add_total(&l->items[k], t);
        l->of_type[type] += t->alive_bytes;
        l->site_of[i] = k;
    }
    for (size_t i = 0; i < s->living_count; i++)
        l->items[l->site_of[s->living[i].total]].age_ms += s->living[i].age_ms;
    return true;
}

gcd_status gcd_site_list_new(const struct gcd_sites *s, const struct gcd_summary *summary,
                             const struct gcd_origins *origins, struct gcd_site_list **ret,
                             struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    struct gcd_idmap type_by_id, site_by_key;
    struct list *l = gcd_mem_new(&a, sizeof *l);
    if (l == NULL)
        return gcd_fail_nomem(err, "listing sites");
    l->alloc = a;
    l->list.sites = s;
    l->type_count = summary->type_count + s->total_count;
    l->list.origins = l->origins = gcd_mem_new(&a, s->frame_count + 1);
    l->list.items = l->items = gcd_mem_new_array(&a, s->total_count + 1, sizeof *l->items);
    l->list.site_of = l->site_of = gcd_mem_new_array(&a, s->total_count + 1, sizeof *l->site_of);
    l->list.of_type = l->of_type = gcd_mem_new_array(&a, l->type_count + 1, sizeof *l->of_type);
    bool ok = l->origins != NULL && l->items != NULL && l->site_of != NULL && l->of_type != NULL;
    for (size_t i = 0; ok && i < s->frame_count; i++)
        l->origins[i] = (uint8_t)origin_of(origins, &s->frames[i]);
    gcd_idmap_init(&type_by_id, &a);
    gcd_idmap_init(&site_by_key, &a);
    ok = ok && group_totals(l, summary, &type_by_id, &site_by_key);
    gcd_idmap_done(&type_by_id);
    gcd_idmap_done(&site_by_key);
    if (ok) {
        *ret = &l->list;
        return GCD_OK;
    }
    gcd_site_list_free(&l->list);
    return gcd_fail_nomem(err, "listing sites");
}

void gcd_site_frame_text(const struct gcd_site_frame *f, char *ret, size_t cap)
{
    char line[300] = "";
    if (f->line != 0)
        (void)snprintf(line, sizeof line, " (%.255s:%u)", gcd_file_name(f->file),
                       (unsigned)f->line);
    size_t taken = strlen(line) + 1, method = cap > taken ? cap - taken : 0;
    (void)snprintf(ret, cap, "%.*s%s", method < METHOD_BYTES ? (int)method : (int)METHOD_BYTES,
                   f->method[0] != '\0' ? f->method : "(unknown code)", line);
}

const struct gcd_site_frame *gcd_site_frame_of(const struct gcd_site_list *l,
                                               const struct gcd_site *site)
{
    static const struct gcd_site_frame unknown = { "", "", "", 0 };
    return site->frame != GCD_SITE_NONE ? &l->sites->frames[site->frame] : &unknown;
}

const char *gcd_site_type_name(const struct gcd_site_list *l, const struct gcd_site *site,
                               const struct gcd_summary *summary, const struct gcd_names *names)
{
    return site->type < summary->type_count ? gcd_names_get(names, site->type)
                                            : l->sites->totals[site->total].type;
}

void gcd_site_list_free(struct gcd_site_list *list)
{
    struct list *l = (struct list *)list;
    if (l == NULL)
        return;
    struct gcd_alloc a = l->alloc;
    size_t totals = l->list.sites->total_count;
    gcd_mem_free(&a, l->origins, l->list.sites->frame_count + 1);
    gcd_mem_free(&a, l->items, (totals + 1) * sizeof *l->items);
    gcd_mem_free(&a, l->site_of, (totals + 1) * sizeof *l->site_of);
    gcd_mem_free(&a, l->of_type, (l->type_count + 1) * sizeof *l->of_type);
    gcd_mem_free(&a, l, sizeof *l);
}
