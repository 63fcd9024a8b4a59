/*
 * From samples to sites: which of them the walk confirms, the methods and lines of their stacks,
 * and totals by stack and type.
 */
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/symbols.h>
#include <gcdumpc/unstable/type_names.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"
#include "sites/recorder.h"
#include "sites/sites.h"

#define METHOD_BYTES 1024u
#define CANDIDATES   8u /* files per module */
/* The size that a tick gives for a large object is up to 32 bytes too large, for a pinned one 24
 * too small (measured, .NET 8 to 10). */
#define LARGE_MORE  32u
#define PINNED_LESS 24u

/* An instruction of a method; several addresses can have the same. */
struct place {
    const struct code_method *method;
    struct gcd_il_range part;
    bool leaf;      /* it allocates; others call */
    uint32_t frame; /* in the sites */
};

struct finish {
    struct gcd_site_recorder *r;
    struct gcd_sites_owner *to;
    struct place *places;
    size_t place_count, place_cap;
    struct gcd_idmap place_by_hash;
    uint32_t *address_place; /* [follow.address_count] GCD_SITE_NONE = unknown code */
    uint32_t *stack_of;      /* [follow.stack_count] */
    uint32_t *total_of;      /* [follow.total_count] */
};

static gcd_status no_room(struct gcd_error *err)
{
    return gcd_fail_nomem(err, "finding the sites of allocations");
}

/* ---- frames ---- */

/* As in the source: "Shop.Rpc.CallAsync" for Shop.Rpc+<CallAsync>d__2.MoveNext, "Harbour.load, line
 * 23" for Harbour+load@23.MoveNext of F#; RET[METHOD_BYTES]. */
static void method_text(const struct code_method *m, char *ret)
{
    char type[METHOD_BYTES];
    if (gcd_name_csharp(m->type, true, type, sizeof type) != GCD_OK)
        (void)snprintf(type, sizeof type, "%s", m->type);
    if (type[0] != '\0')
        gcd_call_name(type, m->name, ret, METHOD_BYTES);
    else
        (void)snprintf(ret, METHOD_BYTES, "%.*s", (int)METHOD_BYTES - 1, m->name);
}

/* The instruction that calls from ADDRESS, which is where it returns to. */
static gcd_status find_instruction(struct finish *f, uint64_t address, bool leaf, uint32_t *ret,
                                   struct gcd_error *err)
{
    struct place p = { .leaf = leaf, .frame = GCD_SITE_NONE };
    p.method = code_find(&f->r->code, address - 1, &p.part);
    *ret = GCD_SITE_NONE;
    if (p.method == NULL)
        return GCD_OK;
    /* code does not overlap, so another place with this key is rare, and then only a copy */
    uint64_t key = (p.method->start * 31 + p.part.first) * 2 + leaf;
    uint32_t i = gcd_idmap_get(&f->place_by_hash, key);
    if (i == GCD_IDMAP_NONE || f->places[i].method != p.method ||
        f->places[i].part.first != p.part.first || f->places[i].leaf != leaf) {
        i = (uint32_t)f->place_count;
        if (!gcd_vec_reserve(&f->r->alloc, &f->places, &f->place_cap, f->place_count + 1,
                             sizeof *f->places, UINT32_MAX / 2) ||
            !gcd_idmap_put(&f->place_by_hash, key, i))
            return no_room(err);
        f->places[f->place_count++] = p;
    }
    *ret = i;
    return GCD_OK;
}

/* The files of a module: NULL = there is none. */
struct module {
    const struct gcd_module_files *files;
    struct gcd_module_file symbol_file, image_file;
    struct gcd_symbols *symbols;
    struct gcd_metadata *image;
};

/* Are the symbols with this GUID those of M? */
static bool is_of(const struct gcd_module *m, const struct gcd_module_guid *guid,
                  const struct gcd_module_file *file)
{
    static const uint8_t unknown[16];
    return memcmp(m->pdb_guid, unknown, sizeof unknown) == 0
               ? file->certain
               : memcmp(guid->bytes, m->pdb_guid, sizeof guid->bytes) == 0;
}

/* Opens candidate N for the path of M into TO, as what it lacks: an image, or symbols. */
static gcd_status open_candidate(struct finish *f, struct module *to, const struct gcd_module *m,
                                 unsigned n, bool image, struct gcd_error *err)
{
    struct gcd_module_file *file = image ? &to->image_file : &to->symbol_file;
    *file = (struct gcd_module_file){ .bytes = UINT64_MAX, .path = "" };
    gcd_status st = to->files->open(to->files->ctx, m, n, file, err);
    if (st != GCD_OK)
        return st;
    bool fits = false;
    if (image) {
        st = gcd_metadata_open(file->input, file->off, file->bytes, &f->r->alloc, &to->image, err);
        const struct gcd_module_identity *id =
            st == GCD_OK ? gcd_metadata_identity(to->image) : NULL;
        for (size_t i = 0; id != NULL && i < id->codeview_count && !fits; i++)
            fits = is_of(m, &id->codeview[i].guid, file);
    } else {
        st = gcd_symbols_open(file->input, file->off, file->bytes, &f->r->alloc, &to->symbols, err);
        struct gcd_module_guid guid =
            st == GCD_OK ? gcd_symbols_guid(to->symbols) : (struct gcd_module_guid){ { 0 } };
        fits = st == GCD_OK && is_of(m, &guid, file);
    }
    if (fits)
        return GCD_OK;
    if (image)
        gcd_metadata_free(to->image);
    else
        gcd_symbols_free(to->symbols);
    to->image = image ? NULL : to->image;
    to->symbols = image ? to->symbols : NULL;
    to->files->close(to->files->ctx, file);
    return st != GCD_OK ? st : gcd_fail(err, GCD_E_NOT_FOUND, "it is of another build");
}

static gcd_status open_at(struct finish *f, struct module *to, const struct code_module *m,
                          const char *path, bool image, struct gcd_error *err)
{
    struct gcd_module about = {
        .path = path, .problem = "", .assembly = "", .pdb_age = m->pdb_age
    };
    memcpy(about.pdb_guid, m->pdb_guid, sizeof about.pdb_guid);
    for (unsigned k = 0; k < CANDIDATES; k++) {
        struct gcd_error own = GCD_ERROR_INIT;
        gcd_status st = open_candidate(f, to, &about, k, image, &own);
        if (st == GCD_OK || st == GCD_END)
            return GCD_OK;
        GCD_TRY(gcd_only_fatal(st, &own, err));
    }
    return GCD_OK;
}

/* The symbols of M: beside it, else in it; and its instructions. */
static gcd_status open_module(struct finish *f, struct module *to, const struct code_module *m,
                              struct gcd_error *err)
{
    const struct gcd_alloc *a = &f->r->alloc;
    size_t n = strlen(m->path), stem = n > 4 && m->path[n - 4] == '.' ? n - 4 : n;
    char *path = gcd_mem_new(a, n + 5);
    if (path == NULL)
        return no_room(err);
    memcpy(path, m->path, stem);
    memcpy(path + stem, ".pdb", 5);
    gcd_status st = open_at(f, to, m, path, false, err);
    if (st == GCD_OK && to->symbols == NULL)
        st = open_at(f, to, m, m->path, false, err);
    if (st == GCD_OK && to->symbols != NULL)
        st = open_at(f, to, m, m->path, true, err);
    gcd_mem_free(a, path, n + 5);
    return st;
}

static void close_module(struct module *m)
{
    bool image = m->image != NULL, symbols = m->symbols != NULL;
    gcd_metadata_free(m->image);
    gcd_symbols_free(m->symbols);
    if (image)
        m->files->close(m->files->ctx, &m->image_file);
    if (symbols)
        m->files->close(m->files->ctx, &m->symbol_file);
}

/* The line of P.  Optimised code tells only the part of a method: there, the first instruction that
 * can be meant. */
static gcd_status find_line(struct module *m, const struct place *p, struct gcd_line *ret,
                            struct gcd_error *err)
{
    struct gcd_error own = GCD_ERROR_INIT;
    uint32_t il = p->part.first;
    *ret = (struct gcd_line){ .file = "" };
    if (m->symbols == NULL || il == CODE_NO_IL)
        return GCD_OK;
    if (m->image != NULL)
        GCD_TRY(gcd_only_fatal(
            gcd_metadata_instruction(m->image, p->method->token, p->part, p->leaf, &il, &own), &own,
            err));
    return gcd_only_fatal(gcd_symbols_line(m->symbols, p->method->token, il, ret, &own), &own, err);
}

static int compare_modules(const void *ctx, uint32_t a, uint32_t b)
{
    const struct place *places = ctx;
    uint64_t x = places[a].method->module, y = places[b].method->module;
    return x < y ? -1 : x > y;
}

/* Makes the frames of the places NUMBERS[N], which are in one module. */
static gcd_status name_frames(struct finish *f, const uint32_t *numbers, size_t n,
                              const struct gcd_module_files *files, struct gcd_error *err)
{
    const struct code_module *m = code_module_of(&f->r->code, f->places[numbers[0]].method->module);
    struct module module = { .files = files };
    gcd_status st = GCD_OK;
    if (m != NULL && m->path[0] != '\0' && files != NULL)
        st = open_module(f, &module, m, err);
    for (size_t i = 0; i < n && st == GCD_OK; i++) {
        char method[METHOD_BYTES];
        struct gcd_line line;
        struct place *p = &f->places[numbers[i]];
        st = find_line(&module, p, &line, err);
        method_text(p->method, method);
        struct gcd_site_frame frame = { .method = method,
                                        .file = line.file,
                                        .module = m != NULL ? m->path : "",
                                        .line = line.line };
        if (st == GCD_OK)
            st = sites_frame(f->to, &frame, &p->frame, err);
    }
    close_module(&module);
    return st;
}

static gcd_status make_frames(struct finish *f, const struct gcd_module_files *files,
                              struct gcd_error *err)
{
    struct gcd_site_recorder *r = f->r;
    const struct follow *w = &r->follow;
    f->address_place = gcd_mem_new_array(&r->alloc, w->address_count + 1, sizeof *f->address_place);
    if (f->address_place == NULL)
        return no_room(err);
    for (size_t i = 0; i < w->stack_count; i++)
        for (uint32_t k = 0; k < w->stacks[i].count; k++) {
            size_t at = w->stacks[i].off + (size_t)k;
            GCD_TRY(find_instruction(f, w->addresses[at], k == 0, &f->address_place[at], err));
        }
    uint32_t *order = gcd_sort_order(&r->alloc, f->place_count, compare_modules, f->places);
    gcd_status st = order != NULL ? GCD_OK : no_room(err);
    for (size_t i = 0, n; i < f->place_count && st == GCD_OK; i += n) {
        for (n = 1;
             i + n < f->place_count && compare_modules(f->places, order[i], order[i + n]) == 0; n++)
            continue;
        st = name_frames(f, &order[i], n, files, err);
    }
    gcd_mem_free(&r->alloc, order, f->place_count * sizeof *order);
    return st;
}

/* ---- stacks and totals ---- */

/* The stack of COUNT addresses, from the outermost caller inwards. */
static gcd_status make_stack(struct finish *f, const struct follow_stack *s, uint32_t *ret,
                             struct gcd_error *err)
{
    uint32_t stack = GCD_SITE_NONE;
    for (size_t k = s->count; k-- > 0;) {
        uint32_t place = f->address_place[s->off + k], frame;
        struct gcd_site_frame unknown = { "", "", "", 0 };
        if (place != GCD_SITE_NONE)
            frame = f->places[place].frame;
        else
            GCD_TRY(sites_frame(f->to, &unknown, &frame, err));
        GCD_TRY(sites_stack(f->to, frame, stack, &stack, err));
    }
    *ret = stack;
    return GCD_OK;
}

static gcd_status make_totals(struct finish *f, struct gcd_error *err)
{
    const struct follow *w = &f->r->follow;
    f->stack_of = gcd_mem_new_array(&f->r->alloc, w->stack_count + 1, sizeof *f->stack_of);
    f->total_of = gcd_mem_new_array(&f->r->alloc, w->total_count + 1, sizeof *f->total_of);
    if (f->stack_of == NULL || f->total_of == NULL)
        return no_room(err);
    for (size_t i = 0; i < w->stack_count; i++)
        GCD_TRY(make_stack(f, &w->stacks[i], &f->stack_of[i], err));
    for (size_t i = 0; i < w->total_count; i++) {
        const struct follow_total *t = &w->totals[i];
        struct gcd_site_total to = {
            .stack = t->stack != GCD_SITE_NONE ? f->stack_of[t->stack] : GCD_SITE_NONE,
            .type_id = t->type_id,
            .type = t->type,
            .samples = t->samples,
            .dead = t->dead,
            .lost = t->lost,
            .objects = t->objects,
            .bytes = t->bytes,
        };
        GCD_TRY(sites_total(f->to, &to, &f->total_of[i], err));
    }
    return GCD_OK;
}

/* ---- what lives ---- */

static bool sizes_fit(const struct follow_sample *s, uint64_t node_bytes, bool ticks)
{
    uint64_t size = (s->size_bytes + 7) & ~UINT64_C(7), node = (node_bytes + 7) & ~UINT64_C(7);
    if (ticks && s->kind != 0)
        return size <= node + LARGE_MORE && node <= size + PINNED_LESS;
    return size == node;
}

/* Is the object at the address of S the one that was sampled? */
static bool is_confirmed(const struct finish *f, const struct gcd_graph *g,
                         const struct follow_sample *s, uint64_t *ret_bytes)
{
    uint32_t node = gcd_graph_find(g, s->address);
    const struct follow_total *t = &f->r->follow.totals[s->total];
    if (node == GCD_NODE_NONE)
        return false;
    const struct gcd_type *type = &gcd_graph_summary(g)->types[gcd_graph_node_type(g, node)];
    *ret_bytes = gcd_graph_node_size(g, node);
    /* types that were loaded several times are one in the graph */
    return (type->id == t->type_id || strcmp(type->raw_name, t->type) == 0) &&
           sizes_fit(s, *ret_bytes, f->r->follow.source == GCD_SITE_TICKS);
}

/* ---- without movement: by type and size ---- */

/* Sampled objects of one type and size that are not followed. */
struct kind {
    double allocated; /* estimated objects */
    uint64_t living;  /* objects of the walk */
};

static uint64_t kind_key(uint64_t type_id, uint64_t size_bytes)
{
    return type_id * UINT64_C(0x9e3779b97f4a7c15) ^ ((size_bytes + 7) & ~UINT64_C(7));
}

/* Adds the samples of small objects: as large a part of them is alive as of all objects that were
 * allocated with their type and size. */
static gcd_status add_by_kind(struct finish *f, const struct gcd_graph *g, struct gcd_error *err)
{
    const struct follow *w = &f->r->follow;
    const struct gcd_summary *summary = gcd_graph_summary(g);
    struct gcd_idmap by_key;
    struct kind *kinds = gcd_mem_new_array(&f->r->alloc, w->sample_count + 1, sizeof *kinds);
    uint32_t count = 0;
    gcd_status st = kinds != NULL ? GCD_OK : no_room(err);
    gcd_idmap_init(&by_key, &f->r->alloc);
    for (size_t i = 0; i < w->sample_count && st == GCD_OK; i++) {
        const struct follow_sample *s = &w->samples[i];
        uint64_t key = kind_key(w->totals[s->total].type_id, s->size_bytes);
        uint32_t k = gcd_idmap_get(&by_key, key);
        if (s->kind != 0)
            continue;
        if (k == GCD_IDMAP_NONE && !gcd_idmap_put(&by_key, key, k = count++))
            st = no_room(err);
        kinds[k].allocated += s->bytes / (double)s->size_bytes;
    }
    for (uint32_t n = 0; n < gcd_graph_node_count(g) && st == GCD_OK; n++) {
        uint32_t k = gcd_idmap_get(&by_key, kind_key(summary->types[gcd_graph_node_type(g, n)].id,
                                                     gcd_graph_node_size(g, n)));
        if (k != GCD_IDMAP_NONE)
            kinds[k].living++;
    }
    for (size_t i = 0; i < w->sample_count && st == GCD_OK; i++) {
        const struct follow_sample *s = &w->samples[i];
        if (s->kind != 0)
            continue;
        const struct kind *k =
            &kinds[gcd_idmap_get(&by_key, kind_key(w->totals[s->total].type_id, s->size_bytes))];
        double part = (double)k->living / k->allocated;
        struct gcd_site_sample to = { .total = f->total_of[s->total],
                                      .size_bytes = s->size_bytes,
                                      .bytes = s->bytes * (part < 1 ? part : 1) };
        if (k->living == 0)
            sites_count_end(f->to, to.total, true);
        else
            st = sites_living(f->to, &to, err);
    }
    gcd_idmap_done(&by_key);
    gcd_mem_free(&f->r->alloc, kinds, (w->sample_count + 1) * sizeof *kinds);
    return st;
}

/* Drops the samples that the walk does not confirm. */
static void drop_dead(struct finish *f, const struct gcd_graph *g)
{
    struct follow *w = &f->r->follow;
    size_t kept = 0;
    for (size_t i = 0; i < w->sample_count; i++) {
        struct follow_sample s = w->samples[i];
        uint64_t node_bytes = s.size_bytes;
        bool exact = !w->still || s.kind != 0;
        if (exact && !is_confirmed(f, g, &s, &node_bytes)) {
            sites_count_end(f->to, f->total_of[s.total], true);
            w->totals[s.total].died++;
        } else {
            s.size_bytes = node_bytes;
            w->samples[kept++] = s;
        }
    }
    w->sample_count = kept;
}

/*
 * What was not followed may have died, and its memory hold another object of its type and size.
 * Then others of its total have died, too, and not all their memory holds such objects.
 */
static gcd_status add_living(struct finish *f, const struct gcd_graph *g, struct gcd_error *err)
{
    const struct gcd_site_recorder *r = f->r;
    drop_dead(f, g);
    for (size_t i = 0; i < r->follow.sample_count; i++) {
        const struct follow_sample *s = &r->follow.samples[i];
        struct gcd_site_sample to = { .total = f->total_of[s->total],
                                      .size_bytes = s->size_bytes,
                                      .bytes = s->bytes };
        bool certain = r->follow.totals[s->total].died == 0 || !r->follow.doubted;
        if (r->follow.still && s->kind == 0)
            continue;
        if (!certain && !r->follow.still) {
            sites_count_end(f->to, to.total, false);
            continue;
        }
        int64_t born = r->begin_unix_ms + (s->born_ns - r->first_ns) / 1000000;
        if (certain) {
            to.address = s->address;
            if (r->walk_unix_ms > born && r->begin_unix_ms != INT64_MIN)
                to.age_ms = (uint64_t)(r->walk_unix_ms - born);
        }
        GCD_TRY(sites_living(f->to, &to, err));
    }
    return r->follow.still ? add_by_kind(f, g, err) : GCD_OK;
}

static void set_facts(struct gcd_sites *to, const struct gcd_site_recorder *r,
                      const struct gcd_summary *summary)
{
    to->gc_number = summary->gc_number;
    to->walk_number = summary->walk_number;
    to->source = r->follow.source;
    to->begin_unix_ms = r->begin_unix_ms;
    int64_t end_ns = r->close_ns != INT64_MIN ? r->close_ns : r->last_ns;
    to->window_ms = end_ns > r->first_ns ? (uint64_t)(end_ns - r->first_ns) / 1000000 : 0;
    int64_t end_unix_ms = r->begin_unix_ms + (int64_t)to->window_ms;
    to->settle_ms = r->begin_unix_ms != INT64_MIN && r->walk_unix_ms > end_unix_ms
                        ? (uint64_t)(r->walk_unix_ms - end_unix_ms)
                        : 0;
    to->followed = !r->follow.still;
    to->lost_events = r->lost_events;
    to->collections = r->follow.collections;
}

gcd_status gcd_site_recorder_finish(struct gcd_site_recorder *r, const struct gcd_graph *graph,
                                    const struct gcd_module_files *files, struct gcd_sites **ret,
                                    struct gcd_error *err)
{
    struct finish f = { .r = r };
    GCD_TRY(code_seal(&r->code, err));
    GCD_TRY(sites_new(&r->alloc, &f.to, err));
    gcd_idmap_init(&f.place_by_hash, &r->alloc);
    gcd_status st = make_frames(&f, files, err);
    if (st == GCD_OK)
        st = make_totals(&f, err);
    if (st == GCD_OK)
        st = add_living(&f, graph, err);
    gcd_idmap_done(&f.place_by_hash);
    gcd_mem_free(&r->alloc, f.address_place,
                 (r->follow.address_count + 1) * sizeof *f.address_place);
    gcd_mem_free(&r->alloc, f.stack_of, (r->follow.stack_count + 1) * sizeof *f.stack_of);
    gcd_mem_free(&r->alloc, f.total_of, (r->follow.total_count + 1) * sizeof *f.total_of);
    gcd_mem_free(&r->alloc, f.places, f.place_cap * sizeof *f.places);
    if (st == GCD_OK) {
        set_facts(&f.to->sites, r, gcd_graph_summary(graph));
        st = sites_seal(f.to, err);
    }
    if (st == GCD_OK)
        *ret = &f.to->sites;
    else
        gcd_sites_free(&f.to->sites);
    return st;
}
