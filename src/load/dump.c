/* A dump from a trace: the first pass, and the accessors of gcdumpc/dump.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/text/plural.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"
#include "clr/clr_ids.h"
#include "load/load.h"

/* IN NULL: the caller will feed it. */
static gcd_status dump_new(struct gcd_input *in, const struct gcd_dump_options *options,
                           struct gcd_dump **ret, struct gcd_error *err)
{
    static const struct gcd_dump_options defaults;
    if (options == NULL)
        options = &defaults;
    struct gcd_alloc a = gcd_alloc_or_default(options->context.alloc);
    struct gcd_dump *d = gcd_mem_new(&a, sizeof *d);
    if (d == NULL)
        return gcd_fail_nomem(err, "opening a dump");
    d->alloc = a;
    if (options->context.limits != NULL)
        d->limits = *options->context.limits;
    d->options = *options;
    d->addr_pages_left = HEAP_ADDR_PAGES;
    load_process_start_init(&d->started, &d->alloc,
                            gcd_limit_or(d->limits.text_bytes, UINT64_C(1) << 30));
    d->failure = d->trace_error = d->input_error = (struct gcd_error)GCD_ERROR_INIT;
    d->options.context.alloc = &d->alloc;
    d->options.context.limits = &d->limits;
    const struct gcd_context *context = &d->options.context;
    gcd_status st = in != NULL ? gcd_trace_open(in, context, &d->trace, err)
                               : gcd_trace_new(context, &d->trace, err);
    if (st != GCD_OK) {
        gcd_dump_free(d);
        return st;
    }
    gcd_trace_skip_records(d->trace, false, true);
    if (!d->options.check_references)
        gcd_trace_want_sums(d->trace);
    gcd_trace_get_info(d->trace, &d->summary.trace); /* of a dump that cannot be closed, too */
    *ret = d;
    return GCD_OK;
}

gcd_status gcd_dump_new(const struct gcd_dump_options *options, struct gcd_dump **ret,
                        struct gcd_error *err)
{
    return dump_new(NULL, options, ret, err);
}

void gcd_dump_free(struct gcd_dump *d)
{
    if (d == NULL)
        return;
    gcd_trace_free(d->trace);
    for (size_t i = 0; i < d->heap_count; i++)
        heap_free(d->heaps[i]);
    gcd_mem_free(&d->alloc, d->heaps, d->heap_cap * sizeof *d->heaps);
    gcd_mem_free(&d->alloc, d->types, d->type_cap * sizeof *d->types);
    gcd_mem_free(&d->alloc, d->modules, d->module_room * sizeof *d->modules);
    gcd_mem_free(&d->alloc, d->roots, d->root_room * sizeof *d->roots);
    gcd_mem_free(&d->alloc, d->type_number, d->type_number_count * sizeof *d->type_number);
    load_process_start_done(&d->started);
    values_free(d->own_values);
    null_maps_free(d->own_null_maps);
    gcd_mem_free(&d->alloc, d->processes, d->process_cap * sizeof *d->processes);
    struct gcd_alloc a = d->alloc;
    gcd_mem_free(&a, d, sizeof *d);
}

/* Does this status end the trace without invalidating what was read? */
static bool is_damage(gcd_status st)
{
    return st == GCD_E_TRUNCATED || st == GCD_E_FORMAT || st == GCD_E_LIMIT;
}

/* Processes distinguished in one trace. */
#define MAX_PROCESSES 256u

/*
 * The heap of the process that wrote EV, because ids of types and objects differ between processes.
 * *RET is NULL when the process does not matter.
 */
static gcd_status heap_of(struct gcd_dump *d, const struct gcd_event *ev, struct gcd_heap **ret,
                          struct gcd_error *err)
{
    *ret = NULL;
    for (size_t i = d->heap_count; i-- > 0;)
        if (d->heaps[i]->process == ev->process) {
            *ret = d->heaps[i];
            return GCD_OK;
        }
    if ((d->options.process != 0 && d->options.process != ev->process) ||
        d->heap_count >= MAX_PROCESSES) {
        if (ev->provider == GCD_PROVIDER_RUNTIME && ev->id == GCD_EV_BULK_NODE) {
            d->has_other_process = true;
            d->other_process = ev->process;
        }
        return GCD_OK;
    }
    if (!gcd_vec_reserve(&d->alloc, &d->heaps, &d->heap_cap, d->heap_count + 1, sizeof *d->heaps,
                         MAX_PROCESSES))
        return gcd_fail_nomem(err, "opening a dump");
    GCD_TRY(heap_new(&d->options, ev->process, &d->addr_pages_left, ret, err));
    (*ret)->trace = d->trace;
    d->heaps[d->heap_count++] = *ret;
    return GCD_OK;
}

/* Events of other providers share the numbering with those of the runtime, but not its walk. */
static void note_other(struct gcd_dump *d, const struct gcd_event *ev)
{
    for (size_t i = 0; i < d->heap_count; i++) {
        if (d->heaps[i]->process != ev->process)
            continue;
        if (ev->gap > 0)
            heap_gap(d->heaps[i], ev);
        heap_stranger(d->heaps[i], ev);
    }
}

/* Are there sites, and where are the values of the recording: gcdumpc writes them once, behind all
 * other events. */
static void note_recorded(struct gcd_dump *d, const struct gcd_event *ev)
{
    struct recorded_values v;
    d->has_sites = d->has_sites || (ev->provider == GCD_PROVIDER_NAMES &&
                                    ev->id >= RECORDED_SITES && ev->id <= RECORDED_SITE_SAMPLE);
    if (ev->provider != GCD_PROVIDER_NAMES || ev->id < RECORDED_VALUES ||
        ev->id > RECORDED_VALUES_END) {
        d->last_off = ev->off;
        d->recorded_values.begin = 0;
        return;
    }
    bool first = d->recorded_values.events++ == 0;
    if (first && ev->id == RECORDED_VALUES && recorded_read_values(ev, &v) == GCD_OK &&
        v.off > d->last_off)
        d->recorded_values.begin = v.off;
    else if (ev->id == RECORDED_VALUES)
        d->recorded_values.begin = 0;
}

/* Takes all events that have arrived.  GCD_NEED_MORE, GCD_END (of the trace, however it ended), or
 * an error. */
static gcd_status take_events(struct gcd_dump *d, struct gcd_error *err)
{
    struct gcd_event ev;
    gcd_status st;
    while ((st = gcd_trace_next(d->trace, &ev, &d->trace_error)) == GCD_OK) {
        struct gcd_heap *h;
        note_recorded(d, &ev);
        if (ev.provider == GCD_PROVIDER_OTHER) {
            note_other(d, &ev);
            continue;
        }
        if (ev.provider == GCD_PROVIDER_WINDOWS) {
            GCD_TRY(load_process_start_event(&d->started, &ev, err));
            continue;
        }
        GCD_TRY(heap_of(d, &ev, &h, err));
        if (h != NULL)
            GCD_TRY(heap_event(h, &ev, err));
    }
    d->decoded = st;
    if (st < 0 && !is_damage(st)) {
        *err = d->trace_error;
        return st;
    }
    return st == GCD_NEED_MORE ? st : GCD_END;
}

/*
 * The same, with a sticky error.  After a failure the trace is in the middle of bytes that belong
 * to the caller and may be gone by the next call, and the event is lost.
 */
static gcd_status drain(struct gcd_dump *d, struct gcd_error *err)
{
    if (d->failure.code == GCD_OK) {
        gcd_status st = take_events(d, &d->failure);
        if (st >= 0)
            return st;
    }
    if (err != NULL)
        *err = d->failure;
    return d->failure.code;
}

gcd_status gcd_dump_feed(struct gcd_dump *d, const void *bytes, size_t n, struct gcd_error *err)
{
    if (d->closed)
        return gcd_fail(err, GCD_E_STATE, "the dump is closed");
    if (d->failure.code != GCD_OK)
        return drain(d, err);
    GCD_TRY(gcd_trace_feed(d->trace, bytes, n, err));
    gcd_status st = drain(d, err);
    if (st < 0)
        return st;
    for (size_t i = 0; i < d->heap_count; i++)
        if (d->heaps[i]->whole)
            return GCD_END;
    return GCD_OK;
}

gcd_status gcd_dump_decoded(const struct gcd_dump *d, struct gcd_error *err)
{
    if (d->decoded < 0 && err != NULL)
        *err = d->trace_error;
    return d->decoded;
}

uint64_t gcd_dump_walk_events(const struct gcd_dump *d)
{
    uint64_t n = 0;
    bool begun = false;
    for (size_t i = 0; i < d->heap_count; i++) {
        const struct gcd_heap *h = d->heaps[i];
        begun = begun || h->with_objects > 0;
        n += h->overflow.events;
        for (size_t k = 0; k < h->walk_count; k++)
            n += h->walks[k]->events;
    }
    return begun ? n : 0;
}

/* "Type(0x…)" for a type without description; spelled as in the .NET tools. */
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
    *t = h->types[heap_index].type;
    if (heap_index < h->chosen->counts_cap) {
        t->objects = h->chosen->counts[heap_index].objects;
        t->bytes = h->chosen->counts[heap_index].bytes;
        t->edges = h->chosen->counts[heap_index].edges;
        t->uneven_sizes = h->chosen->counts[heap_index].size_bits % 8 != 0;
    }
    t->module_path = heap_module_path(h, t->module);
    for (unsigned i = 0; i < GCD_TYPE_PARAMETERS; i++)
        t->parameters[i] =
            i < h->types[heap_index].parameter_count
                ? heap_element_type(h, h->parameters[h->types[heap_index].first_parameter + i])
                : 0;
    if (!t->described)
        GCD_TRY(name_undescribed(d, t, err));
    t->raw_name = t->name;
    d->type_number[heap_index] = d->type_count++;
    return GCD_OK;
}

/* The types used by the walk, numbered as they were counted, then those of static
 * variables. */
static gcd_status collect_types(struct gcd_dump *d, struct gcd_error *err)
{
    struct gcd_heap *h = d->heap;
    struct heap_walk *w = h->chosen;
    size_t most = h->type_count;
    d->type_number = gcd_mem_new_array(&d->alloc, most, sizeof *d->type_number);
    d->type_number_count = most;
    if (d->type_number == NULL ||
        !gcd_vec_reserve(&d->alloc, &d->types, &d->type_cap, most == 0 ? 1 : most, sizeof *d->types,
                         GCD_IDMAP_NONE))
        return gcd_fail_nomem(err, "building the type table");
    for (size_t i = 0; i < most; i++)
        d->type_number[i] = GCD_TYPE_NONE;
    for (size_t i = 0; i < w->used_count; i++)
        GCD_TRY(add_type(d, w->used_types[i], err));
    for (size_t i = 0; i < w->root_count; i++) {
        struct gcd_root *r = &w->roots[i];
        if (r->kind != GCD_ROOT_STATIC)
            continue;
        GCD_TRY(add_type(d, r->type, err));
        r->type = d->type_number[r->type];
    }
    return GCD_OK;
}

/* The order of the list of roots: by kind, then that of the events. */
static unsigned place_of(const struct gcd_root *r)
{
    return r->kind == GCD_ROOT_STATIC ? 0 : r->kind == GCD_ROOT_COM ? 2 : 1;
}
#define ROOT_PLACES 3u

static gcd_status collect_roots(struct gcd_dump *d, struct gcd_error *err)
{
    struct heap_walk *w = d->heap->chosen;
    struct gcd_summary *s = &d->summary;
    d->root_room = w->root_count;
    d->roots = gcd_mem_new_array(&d->alloc, d->root_room, sizeof *d->roots);
    if (d->roots == NULL)
        return gcd_fail_nomem(err, "building the list of roots");
    for (unsigned place = 0; place < ROOT_PLACES; place++)
        for (size_t i = 0; i < w->root_count; i++)
            if (place_of(&w->roots[i]) == place)
                d->roots[s->root_count++] = w->roots[i];
    heap_walk_free_roots(d->heap, w);
    s->roots = d->roots;
    for (size_t i = 0; i < s->root_count; i++) {
        s->statics += s->roots[i].kind == GCD_ROOT_STATIC;
        s->ccws += s->roots[i].kind == GCD_ROOT_COM;
    }
    return GCD_OK;
}

/* Sorts by key; keeps the order of events within one key. */
static gcd_status sort_dependents(struct gcd_dump *d, struct gcd_error *err)
{
    struct heap_walk *w = d->heap->chosen;
    if (!gcd_sort_by_u64(&d->alloc, w->dependent_items, w->dependent_count,
                         sizeof *w->dependent_items))
        return gcd_fail_nomem(err, "sorting dependent handles");
    return GCD_OK;
}

static gcd_status collect_processes(struct gcd_dump *d, struct gcd_error *err)
{
    for (size_t i = 0; i < d->heap_count; i++) {
        struct gcd_heap *h = d->heaps[i];
        if (h->with_objects == 0)
            continue;
        if (!gcd_vec_reserve(&d->alloc, &d->processes, &d->process_cap, d->process_count + 1,
                             sizeof *d->processes, MAX_PROCESSES))
            return gcd_fail_nomem(err, "listing processes");
        struct gcd_process *p = &d->processes[d->process_count++];
        *p = (struct gcd_process){ .process = h->process,
                                   .dumps = h->with_objects,
                                   .chosen = h == d->heap };
        GCD_TRY(heap_process_name(h, &p->name, err));
    }
    d->summary.processes = d->processes;
    d->summary.process_count = d->process_count;
    return GCD_OK;
}

/* Losses reported by the trace, besides the index numbers of a walk. */
struct loss_report {
    bool final;             /* it covers every loss */
    bool buffers;           /* whole buffers are lost or damaged, with any number of events */
    uint64_t lost, damaged; /* events not received; events that could not be used */
};

static struct loss_report report_loss(const struct gcd_dump *d, const struct heap_walk *w,
                                      const struct gcd_trace_info *t)
{
    return (struct loss_report){
        .final = t->end == GCD_TRACE_CLOSED && d->input_error.code == GCD_OK && t->loss_verified &&
                 gcd_trace_thread_closed(d->trace, w->thread),
        .buffers = t->lost_buffers > 0 || t->damaged_buffers > 0 || t->repeated_buffers > 0,
        .lost = t->lost_events,
        .damaged = t->unknown_events + w->damaged + d->heap->damaged_outside,
    };
}

/*
 * How far W can be trusted.  If its GCStart or GCEnd is missing, the end of one walk and the
 * beginning of the next may be missing, too: data after the first missing event may belong to
 * another walk, even when the index numbers fit together.
 */
static enum heap_certain certain_of(const struct gcd_dump *d, const struct heap_walk *w)
{
    struct gcd_trace_info t;
    uint64_t missing = 0;
    gcd_trace_get_info(d->trace, &t);
    struct loss_report loss = report_loss(d, w, &t);
    for (size_t i = 0; i < HEAP_BULKS; i++)
        missing += w->index[i].missing;
    /* index numbers that jump although nothing is missing are wrong; if anything is misplaced, all
     * of them may be */
    bool jumps = loss.final && !loss.buffers && missing > loss.lost + loss.damaged;
    bool doubtful = t.numbers_events &&
                    (w->runs[HEAP_RUNS_NODES].doubtful || w->runs[HEAP_RUNS_EDGES].doubtful);
    if (d->input_error.code == GCD_E_FORMAT)
        return HEAP_CERTAIN_NOTHING; /* a checksum failed: any byte before can be wrong */
    if (t.irregular_steps > 0 && (w->whole || t.numbers_events))
        return HEAP_CERTAIN_DOUBTFUL;
    if (w->whole && (jumps || doubtful))
        return HEAP_CERTAIN_FRONT;
    if (w->whole)
        return loss.final && !loss.buffers && loss.damaged == 0 && missing == loss.lost
                   ? HEAP_CERTAIN_HOLES
                   : HEAP_CERTAIN_ALL;
    if (t.numbers_events)
        return HEAP_CERTAIN_FRONT;
    bool cut_off = w->have_start && !w->closed && loss.lost == 0 && !loss.buffers;
    return cut_off ? HEAP_CERTAIN_FRONT : HEAP_CERTAIN_NOTHING;
}

/* .NET Core 3 does not report its version; the folder of its files has it. */
static gcd_status find_version(struct gcd_dump *d, struct gcd_error *err)
{
    static const char folder[] = "Microsoft.NETCore.App";
    for (size_t i = 0; i < d->summary.module_count; i++) {
        const char *p = strstr(d->modules[i].path, folder);
        if (p == NULL)
            continue;
        p += sizeof folder - 1;
        if ((*p != '/' && *p != '\\') || strncmp(p + 1, "3.", 2) != 0)
            continue;
        return heap_text(d->heap, p + 1, strcspn(p + 1, "/\\"), &d->heap->runtime_version, err);
    }
    return GCD_OK;
}

static gcd_status collect_summary(struct gcd_dump *d, struct gcd_error *err)
{
    struct gcd_heap *h = d->heap;
    const struct heap_walk *w = h->chosen;
    struct gcd_summary *f = &d->summary;
    struct heap_pauses pauses;
    gcd_trace_get_info(d->trace, &f->trace);
    f->trace.ptr_bytes = h->ptr_bytes;
    f->process = h->process;
    GCD_TRY(heap_process_name(h, &f->process_name, err));
    f->command_line = h->command_line;
    f->os = h->os;
    f->arch = h->arch;
    if (strcmp(h->runtime_version, "3") == 0)
        GCD_TRY(find_version(d, err));
    f->runtime_version = h->runtime_version;
    f->dumps = h->with_objects;
    f->dumps_forced = heap_forced_walks(h);
    f->walk_number = w->number;
    f->processes_ignored = d->has_other_process;
    for (size_t i = 0; i < d->heap_count; i++)
        f->processes_ignored += d->heaps[i] != h && d->heaps[i]->with_objects > 0;
    f->gc_number = w->gc_number;
    f->gc_start_seen = w->have_start;
    f->gc_end_seen = w->closed;
    f->gc_heaps = w->heaps;
    f->gc_start_ns = w->have_start ? w->start.time_ns : w->first_ns;
    f->gc_end_ns = w->closed ? w->end_ns : w->last_ns;
    heap_pauses(h, f->gc_start_ns, &pauses);
    f->pause_ns = pauses.walk_ns;
    f->pauses = pauses.count;
    f->pauses_ns = pauses.total_ns;
    if (w->have_start) {
        f->gc_depth = w->start.gc.depth;
        f->gc_reason = w->start.gc.reason;
        f->gc_type = w->start.gc.type;
    }
    f->objects = w->objects;
    f->bytes = w->bytes;
    f->edges = w->edges;
    f->edges_declared = w->edges_declared;
    f->objects_lost = w->loss.objects;
    f->objects_lost_exact = w->loss.objects_exact;
    f->edges_lost = w->loss.edges;
    f->edges_lost_exact = w->loss.edges_exact;
    f->edges_dropped = w->loss.edges_dropped;
    memcpy(f->root_counts, w->root_counts, sizeof f->root_counts);
    f->weak_roots = w->weak_roots;
    f->pinned_roots = w->pinned_roots;
    f->null_roots = w->null_roots;
    f->dependent_handles = w->dependent_count;
    f->rcws = w->rcws;
    f->ranges = w->range_items;
    f->range_count = w->range_count;
    f->types = d->types;
    f->type_count = d->type_count;
    for (uint32_t i = 0; i < d->type_count; i++) {
        const struct gcd_type *t = &d->types[i];
        if (t->objects == 0)
            continue;
        f->types_used++;
        f->types_undescribed += !t->described;
        f->objects_undescribed += t->described ? 0 : t->objects;
    }
    return GCD_OK;
}

static gcd_status has_name(struct gcd_dump *d, struct gcd_heap *h, bool *ret, struct gcd_error *err)
{
    const char *name = d->options.process_name;
    *ret = true;
    if (name == NULL)
        return GCD_OK;
    const char *own;
    GCD_TRY(heap_process_name(h, &own, err));
    *ret = strcmp(own, name) == 0;
    return GCD_OK;
}

/* The process whose dump is used: the first with a walk inside the right GC, otherwise the first
 * with any. */
static gcd_status choose_heap(struct gcd_dump *d, struct gcd_error *err)
{
    unsigned dumps = 0, others = 0;
    for (size_t i = 0; i < d->heap_count; i++) {
        struct gcd_heap *h = d->heaps[i];
        bool named;
        if (h->command_line[0] == '\0') /* the runtime itself did not report it */
            h->command_line = load_process_start_line(&d->started, h->process);
        heap_finish(h);
        GCD_TRY(has_name(d, h, &named, err));
        if (!named) {
            others += h->with_objects;
            continue;
        }
        dumps += h->with_objects;
        if (h->chosen != NULL &&
            (d->heap == NULL || (d->heap->chosen->state != HEAP_WALK_CONFIRMED &&
                                 h->chosen->state == HEAP_WALK_CONFIRMED)))
            d->heap = h;
    }
    if (d->heap != NULL)
        return GCD_OK;
    if (dumps > 0)
        return gcd_because(err, GCD_ERROR_WALK_NOT_RECORDED,
                           gcd_fail(err, GCD_E_NOT_FOUND,
                                    "has %u heap dump%s, number %u was asked for", dumps,
                                    gcd_plural(dumps), d->options.walk_number));
    if (others > 0)
        return gcd_because(err, GCD_ERROR_PROCESS_NOT_RECORDED,
                           gcd_fail(err, GCD_E_NOT_FOUND,
                                    "contains no heap dump of a process \"%s\", but of others",
                                    d->options.process_name));
    if (d->has_other_process)
        return gcd_because(err, GCD_ERROR_PROCESS_NOT_RECORDED,
                           gcd_fail(err, GCD_E_NOT_FOUND,
                                    "contains no heap dump of process %" PRIu64
                                    ", but one of process %" PRIu64,
                                    d->options.process, d->other_process));
    return gcd_fail(
        err, GCD_E_NOT_FOUND,
        "contains no heap dump: a recording needs the provider %s with keywords 0x1980001, level 4",
        gcd_provider_name(GCD_PROVIDER_RUNTIME));
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
    st = choose_heap(d, err);
    if (st != GCD_OK) {
        /* not a trace at all, or it ends before a dump: report that instead of a missing dump */
        if (d->trace_error.code < 0 && err != NULL)
            *err = d->trace_error;
        return d->trace_error.code < 0 ? d->trace_error.code : st;
    }
    heap_runs_place(d->heap->chosen, certain_of(d, d->heap->chosen));
    heap_bind(d->heap);
    GCD_TRY(collect_types(d, err));
    GCD_TRY(collect_roots(d, err));
    GCD_TRY(load_modules(d, err));
    GCD_TRY(load_recorded_names(d, err));
    GCD_TRY(sort_dependents(d, err));
    GCD_TRY(collect_summary(d, err));
    GCD_TRY(collect_processes(d, err));
    const struct gcd_process_memory *memory = heap_recorded_memory(d->heap);
    if (memory != NULL)
        d->summary.memory = *memory;
    d->summary.image = heap_recorded_image(d->heap);
    d->summary.values = heap_values_facts(d->heap);
    d->summary.has_sites = d->has_sites;
    GCD_TRY(heap_values_of(d->heap, &d->values, err));
    GCD_TRY(heap_maps_of(d->heap, &d->null_maps, err));
    if (d->null_maps != NULL)
        d->summary.null_maps = d->null_maps->facts;
    heap_verdict(d->heap, &d->summary.trace,
                 gcd_trace_thread_closed(d->trace, d->heap->chosen->thread), d->trace_error.msg,
                 d->input_error.code != GCD_OK ? d->input_error.msg : NULL, &d->summary.verdict);
    load_native_named(d);
    return GCD_OK;
}

/* Reads the whole input.  Damage of the input itself (a truncated gzip file) ends it like a
 * truncated trace. */
static gcd_status read_all(struct gcd_dump *d, struct gcd_input *in, struct gcd_error *err)
{
    for (;;) {
        struct gcd_error io = GCD_ERROR_INIT;
        GCD_TRY(gcd_check_canceled(d->options.context.cancel, err));
        gcd_status st = gcd_trace_fetch(d->trace, &io);
        if (st == GCD_E_TRUNCATED || st == GCD_E_FORMAT) {
            d->input_error = io;
            st = GCD_END;
        } else if (st < 0 && err != NULL) {
            *err = io;
        }
        if (st != GCD_OK)
            return st;
        st = drain(d, err);
        if (d->options.context.progress != NULL)
            d->options.context.progress(d->options.context.progress_ctx,
                                        gcd_trace_position(d->trace), gcd_input_size(in));
        if (st < 0)
            return st;
    }
}

gcd_status gcd_dump_open(struct gcd_input *in, const struct gcd_dump_options *options,
                         struct gcd_dump **ret, struct gcd_error *err)
{
    struct gcd_dump *d = NULL;
    GCD_TRY(dump_new(in, options, &d, err));
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

const struct gcd_summary *gcd_dump_summary(const struct gcd_dump *d)
{
    return &d->summary;
}

/* A dump that could not be closed is empty. */
static const struct heap_walk *chosen(const struct gcd_dump *d)
{
    static const struct heap_walk nothing;
    return d->heap != NULL ? d->heap->chosen : &nothing;
}

size_t gcd_dump_dependent_count(const struct gcd_dump *d)
{
    return chosen(d)->dependent_count;
}

const struct gcd_dependent *gcd_dump_dependent(const struct gcd_dump *d, size_t i)
{
    return &chosen(d)->dependent_items[i];
}

bool gcd_dump_knows(const struct gcd_dump *d, uint64_t address, bool *ret_exact)
{
    const struct heap_addrs *s = chosen(d)->addrs;
    if (ret_exact != NULL)
        *ret_exact = s != NULL && heap_addrs_exact(s);
    return s == NULL || heap_addrs_has(s, address);
}

uint64_t gcd_dump_count_unknown(const struct gcd_dump *d, const uint64_t *addresses, size_t n)
{
    const struct heap_addrs *s = chosen(d)->addrs;
    return s != NULL ? heap_addrs_missing(s, addresses, n) : 0;
}
