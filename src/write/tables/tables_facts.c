/* The table of facts.  Facts have the same names as in the JSON reports. */
#include <stdio.h>

#include <gcdumpc/version.h>

#include "write/tables/tables.h"

/* Raised when a table or column changes its meaning or is removed; not for additions. */
#define TABLES_SCHEMA 1

static void add(struct tables *t, const char *key, const char *part, struct table_value value)
{
    struct table_fact *f = &t->facts[t->fact_count++];
    (void)snprintf(f->key, sizeof f->key, "%s%s", key, part);
    f->value = value;
}

static void add_number(struct tables *t, const char *key, uint64_t n)
{
    add(t, key, "", (struct table_value){ .kind = TABLE_NUMBER, .number = n });
}

static void add_signed(struct tables *t, const char *key, int64_t n)
{
    add(t, key, "", (struct table_value){ .kind = TABLE_SIGNED, .number = (uint64_t)n });
}

/* "" = unknown */
static void add_text(struct tables *t, const char *key, const char *s)
{
    add(t, key, "",
        (struct table_value){ .kind = s[0] != '\0' ? TABLE_TEXT : TABLE_NONE, .text = s });
}

static void add_verdict(struct tables *t, const struct gcd_verdict *v)
{
    add_number(t, "complete", v->complete);
    add_number(t, "unverified", v->unverified);
    for (size_t i = 0; i < v->reason_count; i++) {
        const struct gcd_reason *r = &v->reasons[i];
        add(t, "reason.", r->name, (struct table_value){ .kind = TABLE_TEXT, .text = r->text });
        add(t, "amount.", r->name,
            (struct table_value){ .kind = TABLE_NUMBER, .number = r->amount });
    }
}

static void add_process(struct tables *t, const struct gcd_summary *f)
{
    const char *name =
        f->process_name[0] != '\0' || t->options->name == NULL ? f->process_name : t->options->name;
    add_number(t, "pid", f->process);
    add_text(t, "process_name", name);
    add_text(t, "command_line", f->command_line);
    add_text(t, "os", f->os);
    add_text(t, "architecture", f->arch);
    add_text(t, "runtime_version", f->runtime_version);
    add_number(t, "pointer_bytes", f->trace.ptr_bytes);
    add_text(t, "container", f->trace.container != NULL ? f->trace.container : "");
    if (f->trace.start_unix_ms != INT64_MIN)
        add_signed(t, "start_unix_ms", f->trace.start_unix_ms);
    add_number(t, "lost_events", f->trace.lost_events);
}

static void add_gc(struct tables *t, const struct gcd_summary *f)
{
    add_number(t, "dumps", f->dumps);
    add_number(t, "dump_number", f->walk_number);
    add_number(t, "gc_start_seen", f->gc_start_seen);
    add_number(t, "gc_end_seen", f->gc_end_seen);
    add_number(t, "gc_number", f->gc_number);
    add_number(t, "gc_generation", f->gc_depth);
    add_number(t, "gc_reason", f->gc_reason);
    add_number(t, "gc_type", f->gc_type);
    add_number(t, "gc_heaps", f->gc_heaps);
    add_signed(t, "gc_start_ns", f->gc_start_ns);
    add_signed(t, "gc_end_ns", f->gc_end_ns);
}

static void add_heap(struct tables *t, const struct gcd_summary *f, const struct gcd_graph_notes *n)
{
    add_number(t, "objects", f->objects);
    add_number(t, "bytes", f->bytes);
    add_number(t, "edges", f->edges);
    add_number(t, "edges_declared", f->edges_declared);
    add_number(t, "types", f->types_used);
    add_number(t, "types_undescribed", f->types_undescribed);
    add_number(t, "roots_stack", f->root_counts[GCD_ROOT_STACK]);
    add_number(t, "roots_finalizer", f->root_counts[GCD_ROOT_FINALIZER]);
    add_number(t, "roots_handle", f->root_counts[GCD_ROOT_HANDLE]);
    add_number(t, "roots_other", f->root_counts[GCD_ROOT_OTHER]);
    add_number(t, "roots_weak", f->weak_roots);
    add_number(t, "roots_pinned", f->pinned_roots);
    add_number(t, "roots_null", f->null_roots);
    add_number(t, "statics", f->statics);
    add_number(t, "dependent_handles", f->dependent_handles);
    add_number(t, "ccws", f->ccws);
    add_number(t, "rcws", f->rcws);
    add_number(t, "ranges", f->range_count);
    add_number(t, "edges_missing", n->edges_missing);
    add_number(t, "edges_dangling", n->edges_dangling);
    add_number(t, "roots_dangling", n->roots_dangling);
    add_number(t, "dependents_dropped", n->dependents_dropped);
    add_number(t, "objects_dropped", n->objects_dropped);
    add_number(t, "objects_doubled", n->objects_doubled);
    add_number(t, "addresses_made_up", n->addresses_made_up);
}

void tables_add_facts(struct tables *t)
{
    const struct gcd_summary *f = gcd_graph_summary(t->graph);
    uint32_t unknown = gcd_graph_unknown(t->graph);
    add_number(t, "schema", TABLES_SCHEMA);
    add_text(t, "gcdumpc_version", GCDUMPC_VERSION);
    add_verdict(t, &f->verdict);
    add_process(t, f);
    add_gc(t, f);
    add_heap(t, f, gcd_graph_notes(t->graph));
    if (unknown != GCD_NODE_NONE)
        add_number(t, "unknown_object", unknown);
}
