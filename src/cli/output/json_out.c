/*
 * Reports for programs.  Fields are added, never renamed or retyped; addresses are hexadecimal
 * strings, bytes plain integers.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/estimate.h>
#include <gcdumpc/unstable/process_memory.h>

#include "input/input.h"
#include "input/memory.h"
#include "output/json_out.h"

#include "answer/answers.h"
#include "output/names_known.h"
#include "term/term.h"

static void put(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value); /* cli_json_prepare notes exhausted memory */
}

json_t *cli_json_verdict(const struct gcd_verdict *v)
{
    json_t *o = json_object(), *reasons = json_array();
    for (size_t i = 0; i < v->reason_count; i++) {
        json_t *r = json_object();
        cli_json_put_text(r, "code", v->reasons[i].name);
        cli_json_count(r, "amount", v->reasons[i].amount);
        cli_json_put_text(r, "text", v->reasons[i].text);
        json_array_append_new(reasons, r);
    }
    put(o, "complete", json_boolean(v->complete));
    put(o, "unverified", json_boolean(v->unverified));
    put(o, "reasons", reasons);
    return o;
}

bool cli_json_put_verdict(json_t *o, const struct cli_dump *d)
{
    if (d->no_values[0] != '\0')
        cli_json_put_text(o, "values_missing", d->no_values);
    return json_object_set_new(o, "verdict", cli_json_verdict(&cli_summary(d)->verdict)) == 0;
}

void cli_json_told(json_t *o, const char *key, uint64_t n, const struct gcd_unnamed *u)
{
    if (answer_is_untold(u, n))
        put(o, key, json_null());
    else
        cli_json_count(o, key, n);
}

void cli_json_names_missing(json_t *o, const struct gcd_unnamed *u)
{
    put(o, "names_missing", cli_json_text_or_null(u->text));
}

json_t *cli_json_head(const char *subject)
{
    json_t *o = json_object();
    put(o, "schema", json_integer(cli_json_schema()));
    put(o, "recording", cli_json_text(subject));
    return o;
}

static json_t *trace_of(const struct gcd_trace_info *t)
{
    static const char *const ends[] = { "open", "closed", "truncated", "damaged" };
    json_t *o = json_object();
    cli_json_put_text(o, "container", t->container);
    cli_json_count(o, "version", t->format_version);
    cli_json_count(o, "pointer_bytes", t->ptr_bytes);
    put(o, "start_unix_ms",
        t->start_unix_ms == INT64_MIN ? json_null() : json_integer(t->start_unix_ms));
    cli_json_count(o, "bytes", t->bytes);
    cli_json_put_text(o, "end", ends[t->end]);
    cli_json_count(o, "events", t->events);
    cli_json_count(o, "lost_events", t->lost_events);
    cli_json_count(o, "lost_buffers", t->lost_buffers);
    cli_json_count(o, "damaged_buffers", t->damaged_buffers);
    cli_json_count(o, "repeated_buffers", t->repeated_buffers);
    put(o, "loss_verified", json_boolean(t->loss_verified));
    return o;
}

static json_t *process(const struct gcd_summary *f)
{
    json_t *o = json_object();
    put(o, "pid", f->process != 0 ? cli_json_number(f->process) : json_null());
    cli_json_put_text(o, "name", f->process_name);
    cli_json_put_text(o, "command_line", f->command_line);
    cli_json_put_text(o, "os", f->os);
    cli_json_put_text(o, "architecture", f->arch);
    cli_json_put_text(o, "runtime_version", f->runtime_version);
    return o;
}

/* Processes with a heap dump. */
static json_t *processes(const struct gcd_dump *d)
{
    const struct gcd_summary *summary = gcd_dump_summary(d);
    json_t *a = json_array();
    for (size_t i = 0; i < summary->process_count; i++) {
        const struct gcd_process *p = &summary->processes[i];
        json_t *o = json_object();
        cli_json_count(o, "pid", p->process);
        cli_json_put_text(o, "name", p->name);
        cli_json_count(o, "dumps", p->dumps);
        put(o, "chosen", json_boolean(p->chosen));
        json_array_append_new(a, o);
    }
    return a;
}

static json_t *gc(const struct gcd_summary *f)
{
    json_t *o = json_object();
    put(o, "start_seen", json_boolean(f->gc_start_seen));
    put(o, "end_seen", json_boolean(f->gc_end_seen));
    cli_json_count(o, "number", f->gc_number);
    cli_json_count(o, "generation", f->gc_depth);
    cli_json_count(o, "reason", f->gc_reason);
    cli_json_count(o, "type", f->gc_type);
    put(o, "heaps", f->gc_heaps != 0 ? cli_json_number(f->gc_heaps) : json_null());
    put(o, "start_ns", json_integer(f->gc_start_ns));
    put(o, "end_ns", json_integer(f->gc_end_ns));
    put(o, "pause_ns", f->pause_ns != 0 ? cli_json_number(f->pause_ns) : json_null());
    cli_json_count(o, "pauses", f->pauses);
    cli_json_count(o, "pauses_ns", f->pauses_ns);
    return o;
}

json_t *cli_json_roots(const struct gcd_summary *f)
{
    json_t *o = json_object();
    cli_json_count(o, "stack", f->root_counts[GCD_ROOT_STACK]);
    cli_json_count(o, "finalizer", f->root_counts[GCD_ROOT_FINALIZER]);
    cli_json_count(o, "handle", f->root_counts[GCD_ROOT_HANDLE]);
    cli_json_count(o, "other", f->root_counts[GCD_ROOT_OTHER]);
    cli_json_count(o, "weak", f->weak_roots);
    cli_json_count(o, "pinned", f->pinned_roots);
    cli_json_count(o, "null", f->null_roots);
    return o;
}

static json_t *dump(const struct gcd_verdict *v, const struct gcd_summary *f)
{
    json_t *o = json_object();
    cli_json_count(o, "objects", f->objects);
    cli_json_count(o, "bytes", f->bytes);
    cli_json_count(o, "edges", f->edges);
    cli_json_count(o, "edges_declared", f->edges_declared);
    cli_json_count(o, "objects_lost", f->objects_lost);
    put(o, "objects_lost_exact", json_boolean(f->objects_lost_exact));
    cli_json_count(o, "edges_lost", f->edges_lost);
    put(o, "edges_lost_exact", json_boolean(f->edges_lost_exact));
    cli_json_count(o, "edges_dropped", f->edges_dropped);
    cli_json_count(o, "types", f->types_used);
    cli_json_count(o, "types_undescribed", f->types_undescribed);
    put(o, "roots", cli_json_roots(f));
    cli_json_count(o, "statics", f->statics);
    cli_json_count(o, "dependent_handles", f->dependent_handles);
    cli_json_count(o, "ccws", f->ccws);
    cli_json_count(o, "rcws", f->rcws);
    cli_json_count(o, "ranges", f->range_count);
    put(o, "complete", json_boolean(v->complete));
    return o;
}

/* The estimated memory in bytes. */
static json_t *memory(const struct cli_dump *d)
{
    json_t *o = json_object();
    for (enum gcd_workload i = 0; i < GCD_WORKLOADS; i++)
        cli_json_count(o, cli_workload_name(i), cli_estimate(d, i));
    return o;
}

/* What was read beside a walk: how many, how many not and why, and when. */
static void put_read(json_t *o, uint64_t count, const uint64_t lost[3], uint64_t after_ms)
{
    cli_json_count(o, "count", count);
    cli_json_count(o, "collected", lost[0]);
    cli_json_count(o, "changed", lost[1]);
    cli_json_count(o, "unread", lost[2]);
    cli_json_count(o, "after_ms", after_ms);
}

/* Null when nothing is known, like each of its members. */
json_t *cli_json_values(const struct gcd_values_facts *f)
{
    static const char *const kinds[] = { "none", "hashes", "strings", "all" };
    if (f->kind == GCD_VALUES_NONE)
        return json_null();
    json_t *o = json_object();
    put(o, "kind", json_string(kinds[f->kind]));
    cli_json_count(o, "max_string", f->max_string);
    put_read(o, f->objects, (const uint64_t[]){ f->collected, f->changed, f->unread }, f->after_ms);
    cli_json_count(o, "numbers", f->numbers);
    return o;
}

json_t *cli_json_null_maps(const struct gcd_null_maps_facts *f)
{
    if (!f->known)
        return json_null();
    json_t *o = json_object();
    put_read(o, f->objects, (const uint64_t[]){ f->collected, f->changed, f->unread }, f->after_ms);
    return o;
}

json_t *cli_json_process_memory(const struct gcd_process_memory *m)
{
    char text[GCD_MEMORY_TEXT_BYTES], when[CLI_TIME_BYTES];
    json_t *o = json_object();
    if (gcd_process_memory_text(m, text, sizeof text) == 0) {
        json_decref(o);
        return json_null();
    }
    cli_json_put_text(o, "measured", cli_time(m->unix_ms, when));
    cli_json_count(o, "resident", m->resident_bytes);
    cli_json_count(o, "anonymous", m->anonymous_bytes);
    cli_json_count(o, "file", m->file_bytes);
    cli_json_count(o, "shared", m->shared_bytes);
    cli_json_count(o, "swapped", m->swapped_bytes);
    put(o, "gc_heap", m->gc_known ? cli_json_number(m->gc_bytes) : json_null());
    put(o, "native_or_unknown", m->gc_known ? cli_json_number(gcd_native_bytes(m)) : json_null());
    put(o, "cgroup_limit",
        m->cgroup_limit_bytes > 0 ? cli_json_number(m->cgroup_limit_bytes) : json_null());
    put(o, "cgroup_used",
        m->cgroup_limit_bytes > 0 ? cli_json_number(m->cgroup_used_bytes) : json_null());
    put(o, "look_for_native", json_boolean(gcd_is_native(m)));
    cli_json_put_text(o, "text", text);
    return o;
}

/* What the ranges of the GC hold after the collection; null when they are not known. */
static json_t *gc_ranges(const struct gcd_summary *f)
{
    uint64_t used, unused, reserved = 0;
    json_t *o = f->range_count > 0 ? json_object() : json_null();
    gcd_range_bytes(f, &used, &unused);
    if (f->range_count == 0)
        return o;
    for (size_t i = 0; i < f->range_count; i++)
        reserved = reserved + f->ranges[i].reserved_bytes >= reserved
                       ? reserved + f->ranges[i].reserved_bytes
                       : UINT64_MAX;
    cli_json_count(o, "used", used);
    cli_json_count(o, "free", unused);
    cli_json_count(o, "reserved", reserved);
    return o;
}

/* null: the dump comes from no memory image. */
static json_t *image(const struct gcd_image_facts *f)
{
    if (f->made_from[0] == '\0')
        return json_null();
    json_t *o = json_object();
    cli_json_put_text(o, "made_from", f->made_from);
    put(o, "ended_by", f->ended_by[0] != '\0' ? cli_json_text(f->ended_by) : json_null());
    cli_json_put_text(o, "gaps", f->gaps);
    put(o, "with_dead", json_boolean(f->with_dead));
    return o;
}

int cli_json_info(const struct cli_dump *d, json_t *unreachable)
{
    const struct gcd_summary *f = cli_summary(d);
    const struct gcd_verdict *v = &f->verdict;
    json_t *o = cli_json_head(d->subject);
    put(o, "trace", trace_of(&f->trace));
    put(o, "process", process(f));
    put(o, "image", image(&f->image));
    put(o, "gc", gc(f));
    put(o, "dump", dump(v, f));
    cli_json_count(o, "dumps", f->dumps);
    if (d->dump != NULL)
        put(o, "processes", processes(d->dump));
    put(o, "names", cli_json_names(f));
    put(o, "memory", memory(d));
    put(o, "process_memory", cli_json_process_memory(&f->memory));
    put(o, "values", cli_json_values(&f->values));
    put(o, "null_maps", cli_json_null_maps(&f->null_maps));
    put(o, "unreachable", unreachable);
    put(o, "gc_ranges", gc_ranges(f));
    put(o, "verdict", cli_json_verdict(v));
    return cli_json_print(o, stdout);
}

int cli_json_events(const struct gcd_trace *trace, const char *subject,
                    const struct cli_event_kind *kinds, size_t n)
{
    struct gcd_trace_info info;
    json_t *o = cli_json_head(subject), *events = json_array(), *threads = json_array();
    uint64_t thread, received, lost;
    gcd_trace_get_info(trace, &info);
    for (size_t i = 0; i < n; i++) {
        json_t *row = json_object();
        put(row, "provider", cli_json_text(kinds[i].provider));
        cli_json_count(row, "id", kinds[i].id);
        cli_json_count(row, "version", kinds[i].version);
        cli_json_count(row, "count", kinds[i].events);
        cli_json_count(row, "payload_bytes", kinds[i].bytes);
        json_array_append_new(events, row);
    }
    for (size_t i = 0; gcd_trace_get_thread(trace, i, &thread, &received, &lost); i++) {
        json_t *row = json_object();
        cli_json_count(row, "thread", thread);
        cli_json_count(row, "events", received);
        cli_json_count(row, "lost_events", lost);
        json_array_append_new(threads, row);
    }
    put(o, "trace", trace_of(&info));
    put(o, "events", events);
    put(o, "threads", threads);
    return cli_json_print(o, stdout);
}
