/*
 * A dump from a trace: the first pass, and what the accessors of gcdumpc/dump.h give out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "load/load.h"

gcd_status gcd_dump_new(const struct gcd_dump_options *options, struct gcd_dump **ret, struct gcd_error *err)
{
    static const struct gcd_dump_options defaults;
    if (options == NULL)
        options = &defaults;
    struct gcd_alloc a = gcd_alloc_or_default(options->alloc);
    struct gcd_dump *d = gcd_mem_new(&a, sizeof *d);
    if (d == NULL)
        return gcd_fail_nomem(err, "opening a dump");
    d->alloc = a;
    if (options->limits != NULL)
        d->limits = *options->limits;
    d->options = *options;
    d->trace_error = d->input_error = (struct gcd_error)GCD_ERROR_INIT;
    gcd_status st = gcd_trace_new(&a, &d->limits, &d->trace, err);
    if (st == GCD_OK)
        st = heap_new(options, &d->heap, err);
    if (st != GCD_OK) {
        gcd_dump_free(d);
        return st;
    }
    *ret = d;
    return GCD_OK;
}

void gcd_dump_free(struct gcd_dump *d)
{
    if (d == NULL)
        return;
    gcd_trace_free(d->trace);
    heap_free(d->heap);
    gcd_mem_free(&d->alloc, d->types, d->type_cap * sizeof *d->types);
    gcd_mem_free(&d->alloc, d->type_number, d->type_number_count * sizeof *d->type_number);
    struct gcd_alloc a = d->alloc;
    gcd_mem_free(&a, d, sizeof *d);
}

/* Does the trace's own trouble end the reading without making what was read worthless? */
static bool is_damage(gcd_status st)
{
    return st == GCD_E_TRUNCATED || st == GCD_E_FORMAT || st == GCD_E_LIMIT;
}

/* All events that have arrived.  GCD_NEED_MORE, GCD_END (of the trace, however it ended), or an error. */
static gcd_status drain(struct gcd_dump *d, struct gcd_error *err)
{
    struct gcd_event ev;
    gcd_status st;
    while ((st = gcd_trace_next(d->trace, &ev, &d->trace_error)) == GCD_OK)
        GCD_TRY(heap_event(d->heap, &ev, err));
    if (st < 0 && !is_damage(st)) {
        if (err != NULL)
            *err = d->trace_error;
        return st;
    }
    return st == GCD_NEED_MORE ? st : GCD_END;
}

gcd_status gcd_dump_feed(struct gcd_dump *d, const void *bytes, size_t n, struct gcd_error *err)
{
    if (d->closed)
        return gcd_fail(err, GCD_E_STATE, "the dump is closed");
    GCD_TRY(gcd_trace_feed(d->trace, bytes, n, err));
    gcd_status st = drain(d, err);
    if (st < 0)
        return st;
    return d->heap->whole ? GCD_END : GCD_OK;
}

bool gcd_dump_begun(const struct gcd_dump *d)
{
    const struct gcd_heap *h = d->heap;
    for (size_t i = 0; i < h->walk_count; i++)
        if (h->walks[i]->objects > 0)
            return true;
    return false;
}

/* "Type(0x…)" for what nobody described; the same spelling as the .NET tools. */
static gcd_status name_undescribed(struct gcd_dump *d, struct gcd_type *t, struct gcd_error *err)
{
    char buf[32];
    int n = snprintf(buf, sizeof buf, "Type(0x%" PRIx64 ")", t->id);
    return heap_text(d->heap, buf, (size_t)n, &t->name, err);
}

static gcd_status add_type(struct gcd_dump *d, uint32_t heap_index, struct gcd_error *err)
{
    struct gcd_heap *h = d->heap;
    if (d->type_number[heap_index] != GCD_TYPE_NONE)
        return GCD_OK;
    struct gcd_type *t = &d->types[d->type_count];
    *t = h->types[heap_index];
    if (heap_index < h->chosen->counts_cap) {
        t->objects = h->chosen->counts[heap_index].objects;
        t->bytes = h->chosen->counts[heap_index].bytes;
        t->edges = h->chosen->counts[heap_index].edges;
    }
    t->module_path = heap_module_path(h, t->module);
    if (!t->described)
        GCD_TRY(name_undescribed(d, t, err));
    d->type_number[heap_index] = d->type_count++;
    return GCD_OK;
}

/* The types that the walk uses, renumbered in the order of first use by an object, then those of static variables. */
static gcd_status collect_types(struct gcd_dump *d, struct gcd_error *err)
{
    struct gcd_heap *h = d->heap;
    struct heap_walk *w = h->chosen;
    size_t most = h->type_count;
    d->type_number = gcd_mem_new_array(&d->alloc, most, sizeof *d->type_number);
    d->type_number_count = most;
    if (d->type_number == NULL ||
        !gcd_vec_reserve(&d->alloc, &d->types, &d->type_cap, most == 0 ? 1 : most, sizeof *d->types, GCD_IDMAP_NONE))
        return gcd_fail_nomem(err, "building the type table");
    for (size_t i = 0; i < most; i++)
        d->type_number[i] = GCD_TYPE_NONE;
    for (size_t i = 0; i < w->used_count; i++)
        GCD_TRY(add_type(d, w->used_types[i], err));
    for (size_t i = 0; i < w->static_count; i++) {
        GCD_TRY(add_type(d, w->static_items[i].type, err));
        w->static_items[i].type = d->type_number[w->static_items[i].type];
    }
    return GCD_OK;
}

/* By key; those of one key stay in the order of the events. */
static gcd_status sort_dependents(struct gcd_dump *d, struct gcd_error *err)
{
    struct heap_walk *w = d->heap->chosen;
    bool sorted = true;
    for (size_t i = 1; i < w->dependent_count && sorted; i++)
        sorted = w->dependent_items[i - 1].key <= w->dependent_items[i].key;
    if (sorted)
        return GCD_OK;
    /* bottom-up merge sort: stable, no recursion, one buffer of the same size */
    size_t n = w->dependent_count;
    struct gcd_dependent *from = w->dependent_items, *other = gcd_mem_new_array(&d->alloc, n, sizeof *other);
    if (other == NULL)
        return gcd_fail_nomem(err, "sorting dependent handles");
    struct gcd_dependent *to = other;
    for (size_t run = 1; run < n; run = run <= n / 2 ? run * 2 : n) {
        for (size_t start = 0; start < n; start += 2 * run) {
            size_t i = start, mid = start + run < n ? start + run : n, j = mid, end = mid + run < n ? mid + run : n;
            for (size_t k = start; k < end; k++)
                to[k] = i < mid && (j >= end || from[i].key <= from[j].key) ? from[i++] : from[j++];
        }
        struct gcd_dependent *swap = from;
        from = to;
        to = swap;
    }
    if (from != w->dependent_items)
        memcpy(w->dependent_items, from, n * sizeof *from);
    gcd_mem_free(&d->alloc, other, n * sizeof *other);
    return GCD_OK;
}

static gcd_status collect_facts(struct gcd_dump *d, struct gcd_error *err)
{
    struct gcd_heap *h = d->heap;
    const struct heap_walk *w = h->chosen;
    struct gcd_dump_facts *f = &d->facts;
    gcd_trace_get_info(d->trace, &f->trace);
    f->process = h->process;
    GCD_TRY(heap_process_name(h, &f->process_name, err));
    f->command_line = h->command_line;
    f->os = h->os;
    f->arch = h->arch;
    f->runtime_version = h->runtime_version;
    for (size_t i = 0; i < h->walk_count; i++)
        f->dumps += h->walks[i]->objects > 0;
    f->processes_ignored = h->other_processes;
    f->gc_number = w->gc_number;
    f->gc_start_seen = w->have_start;
    f->gc_end_seen = w->closed;
    f->gc_heaps = w->heaps;
    f->gc_start_ns = w->have_start ? w->start.time_ns : w->first_ns;
    f->gc_end_ns = w->closed ? w->end_ns : w->last_ns;
    if (w->have_start) {
        f->gc_depth = w->start.gc.depth;
        f->gc_reason = w->start.gc.reason;
        f->gc_type = w->start.gc.type;
    }
    f->objects = w->objects;
    f->bytes = w->bytes;
    f->edges = w->edges;
    f->edges_declared = w->edges_declared;
    memcpy(f->roots, w->roots, sizeof f->roots);
    f->weak_roots = w->weak_roots;
    f->pinned_roots = w->pinned_roots;
    f->null_roots = w->null_roots;
    f->statics = w->static_count;
    f->dependent_handles = w->dependent_count;
    f->ccws = w->ccw_count;
    f->rcws = w->rcws;
    f->ranges = w->range_count;
    for (uint32_t i = 0; i < d->type_count; i++) {
        const struct gcd_type *t = &d->types[i];
        if (t->objects == 0)
            continue;
        f->types++;
        f->types_undescribed += !t->described;
        f->objects_undescribed += t->described ? 0 : t->objects;
    }
    return GCD_OK;
}

gcd_status gcd_dump_close(struct gcd_dump *d, struct gcd_input *in, struct gcd_error *err)
{
    if (d->closed)
        return gcd_fail(err, GCD_E_STATE, "the dump is closed");
    gcd_trace_finish(d->trace);
    gcd_status st = drain(d, err);
    if (st < 0)
        return st;
    d->closed = true;
    d->input = in;
    st = heap_finish(d->heap, err);
    if (st != GCD_OK) {
        /* a file that is not even a trace, or breaks off before a dump: say that, rather than that no dump was found */
        if (d->trace_error.code < 0 && err != NULL)
            *err = d->trace_error;
        return d->trace_error.code < 0 ? d->trace_error.code : st;
    }
    GCD_TRY(collect_types(d, err));
    GCD_TRY(sort_dependents(d, err));
    GCD_TRY(collect_facts(d, err));
    heap_verdict(d->heap, d->heap->chosen, &d->facts.trace, d->trace_error.msg,
                 d->input_error.code != GCD_OK ? d->input_error.msg : NULL, &d->verdict);
    return GCD_OK;
}

/* Feed the whole input.  Its own damage (a gzip file that was cut) ends it like a trace that was cut. */
static gcd_status read_all(struct gcd_dump *d, struct gcd_input *in, struct gcd_error *err)
{
    struct gcd_reader *r;
    GCD_TRY(gcd_reader_new(in, &r, err));
    gcd_status st;
    do {
        const uint8_t *bytes;
        size_t n;
        struct gcd_error io = GCD_ERROR_INIT;
        if (d->options.cancel != NULL && atomic_load_explicit(d->options.cancel, memory_order_relaxed)) {
            st = gcd_fail(err, GCD_E_CANCELED, "interrupted");
            break;
        }
        st = gcd_reader_next(r, &bytes, &n, &io);
        if (st == GCD_E_TRUNCATED || st == GCD_E_FORMAT) {
            d->input_error = io;
            st = GCD_END;
        } else if (st < 0 && err != NULL) {
            *err = io;
        }
        if (st != GCD_OK)
            break;
        st = gcd_dump_feed(d, bytes, n, err);
        if (d->options.progress != NULL)
            d->options.progress(d->options.progress_ctx, gcd_reader_position(r), gcd_input_size(in));
    } while (st >= 0);
    gcd_reader_free(r);
    return st;
}

gcd_status gcd_dump_open(struct gcd_input *in, const struct gcd_dump_options *options, struct gcd_dump **ret,
                         struct gcd_error *err)
{
    struct gcd_dump *d;
    GCD_TRY(gcd_dump_new(options, &d, err));
    gcd_status st = read_all(d, in, err);
    if (st == GCD_END)
        st = gcd_dump_close(d, in, err);
    if (st == GCD_OK) {
        *ret = d;
        return GCD_OK;
    }
    if (d->input_error.code != GCD_OK && st != GCD_E_CANCELED)
        gcd_error_wrap(err, "%s", d->input_error.msg);
    gcd_dump_free(d);
    return st;
}

const struct gcd_dump_facts *gcd_dump_facts(const struct gcd_dump *d)
{
    return &d->facts;
}

const struct gcd_verdict *gcd_dump_verdict(const struct gcd_dump *d)
{
    return &d->verdict;
}

uint32_t gcd_dump_type_count(const struct gcd_dump *d)
{
    return d->type_count;
}

const struct gcd_type *gcd_dump_type(const struct gcd_dump *d, uint32_t i)
{
    return &d->types[i];
}

size_t gcd_dump_root_count(const struct gcd_dump *d)
{
    return d->heap->chosen->root_count;
}

const struct gcd_root *gcd_dump_root(const struct gcd_dump *d, size_t i)
{
    return &d->heap->chosen->root_items[i];
}

size_t gcd_dump_static_count(const struct gcd_dump *d)
{
    return d->heap->chosen->static_count;
}

const struct gcd_static *gcd_dump_static(const struct gcd_dump *d, size_t i)
{
    return &d->heap->chosen->static_items[i];
}

size_t gcd_dump_ccw_count(const struct gcd_dump *d)
{
    return d->heap->chosen->ccw_count;
}

uint64_t gcd_dump_ccw(const struct gcd_dump *d, size_t i)
{
    return d->heap->chosen->ccw_items[i];
}

size_t gcd_dump_dependent_count(const struct gcd_dump *d)
{
    return d->heap->chosen->dependent_count;
}

const struct gcd_dependent *gcd_dump_dependent(const struct gcd_dump *d, size_t i)
{
    return &d->heap->chosen->dependent_items[i];
}

size_t gcd_dump_range_count(const struct gcd_dump *d)
{
    return d->heap->chosen->range_count;
}

const struct gcd_range *gcd_dump_range(const struct gcd_dump *d, size_t i)
{
    return &d->heap->chosen->range_items[i];
}

bool gcd_dump_knows(const struct gcd_dump *d, uint64_t address, bool *ret_exact)
{
    const struct heap_addrs *s = d->heap->chosen->addrs;
    if (ret_exact != NULL)
        *ret_exact = s != NULL && heap_addrs_exact(s);
    return s == NULL || heap_addrs_has(s, address);
}
