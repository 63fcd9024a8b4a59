/*
 * Metrics for Prometheus, through a file that node_exporter's textfile collector reads: text
 * exposition format 0.0.4.  All samples of a metric come together after one HELP and TYPE, and no
 * two have the same labels.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/generations.h>
#include <gcdumpc/root_sets.h>
#include <gcdumpc/unstable/process_memory.h>

#include "commands/report/report.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "output/prom.h"
#include "output/root_labels.h"

/* Each type is a time series, so only a few are written by default. */
#define TYPES_DEFAULT 20u

struct prom {
    struct report *r;
    struct cli_prom out;
    char pid[24]; /* "" when the dump does not know it */
};

/* Every sample names its process: several such files are collected side by side, and processes can
 * share a name. */
static void begin_sample(struct prom *p)
{
    const char *name = cli_summary(&p->r->d)->process_name;
    cli_prom_label(&p->out, "process", name[0] != '\0' ? name : p->r->d.name);
    if (p->pid[0] != '\0')
        cli_prom_label(&p->out, "pid", p->pid);
}

/* A metric with the single sample VALUE / UNIT. */
static void put_quotient(struct prom *p, const char *name, const char *help, uint64_t value,
                         uint64_t unit)
{
    cli_prom_metric(&p->out, name, help);
    begin_sample(p);
    cli_prom_value(&p->out, value, unit);
}

static void put_one(struct prom *p, const char *name, const char *help, uint64_t value)
{
    put_quotient(p, name, help, value, 1);
}

/* ---- the dump ---- */

static void put_info(struct prom *p, const struct gcd_summary *f)
{
    cli_prom_metric(&p->out, "gcdumpc_info",
                    "The program that wrote the dump, and its source; always 1.");
    begin_sample(p);
    cli_prom_label(&p->out, "version", GCDUMPC_VERSION);
    cli_prom_label(&p->out, "runtime", f->runtime_version);
    cli_prom_value(&p->out, 1, 1);
}

static void put_verdict(struct prom *p, const struct gcd_verdict *v)
{
    put_one(p, "gcdumpc_dump_complete", "1 if nothing is missing in the dump.", v->complete);
    put_one(p, "gcdumpc_dump_unverified",
            "1 if the input cannot tell whether something is missing.", v->unverified);
    if (v->reason_count == 0)
        return;
    cli_prom_metric(&p->out, "gcdumpc_dump_incomplete",
                    "Why the dump is incomplete; what the amount counts depends on the reason.");
    for (size_t i = 0; i < v->reason_count; i++) {
        begin_sample(p);
        cli_prom_label(&p->out, "reason", v->reasons[i].name);
        cli_prom_value(&p->out, v->reasons[i].amount, 1);
    }
}

static void put_times(struct prom *p, const struct gcd_summary *f)
{
    uint64_t duration =
        f->gc_end_ns > f->gc_start_ns ? (uint64_t)f->gc_end_ns - (uint64_t)f->gc_start_ns : 0;
    if (duration > 0)
        put_quotient(p, "gcdumpc_dump_duration_seconds",
                     "From the start of the collection to the end of the heap walk.", duration,
                     1000000000);
    if (f->pause_ns > 0)
        put_quotient(p, "gcdumpc_dump_pause_seconds",
                     "How long the process was paused for the dump.", f->pause_ns, 1000000000);
    int64_t ms = f->trace.start_unix_ms;
    if (ms > 0 && f->gc_start_ns >= 0)
        put_quotient(p, "gcdumpc_dump_timestamp_seconds",
                     "When the dump was taken, in seconds since 1970.",
                     (uint64_t)ms + (uint64_t)f->gc_start_ns / 1000000, 1000);
}

static void put_totals(struct prom *p, const struct gcd_summary *f)
{
    put_one(p, "gcdumpc_heap_objects", "Objects in the heap.", f->objects);
    put_one(p, "gcdumpc_heap_bytes", "Bytes of all objects, without the gaps between them.",
            f->bytes);
    put_one(p, "gcdumpc_heap_references", "References between objects.", f->edges);
    put_one(p, "gcdumpc_heap_types", "Types that have objects.", f->types_used);
}

/* A part of the memory of the process. */
static void put_part(struct prom *p, const char *kind, uint64_t bytes)
{
    begin_sample(p);
    cli_prom_label(&p->out, "kind", kind);
    cli_prom_value(&p->out, bytes, 1);
}

static void put_memory(struct prom *p, const struct gcd_process_memory *m)
{
    uint64_t native = gcd_native_bytes(m);
    if (m->resident_bytes == 0)
        return;
    put_one(p, "gcdumpc_process_resident_bytes", "Resident memory of the process before the dump.",
            m->resident_bytes);
    cli_prom_metric(&p->out, "gcdumpc_process_memory_bytes", "Parts of the resident memory.");
    if (m->gc_known)
        put_part(p, "gc_heap", m->gc_bytes);
    put_part(p, m->gc_known ? "native_or_unknown" : "anonymous",
             m->gc_known ? native : m->anonymous_bytes);
    put_part(p, "file", m->file_bytes);
    put_part(p, "shared", m->shared_bytes);
    put_one(p, "gcdumpc_process_swapped_bytes", "Memory of the process that is swapped out.",
            m->swapped_bytes);
    if (m->cgroup_limit_bytes == 0)
        return;
    put_one(p, "gcdumpc_cgroup_limit_bytes",
            "Memory limit of the cgroup around the process that has the least room left.",
            m->cgroup_limit_bytes);
    put_one(p, "gcdumpc_cgroup_used_bytes",
            "What that cgroup uses, without files that the kernel can drop.", m->cgroup_used_bytes);
}

/* ---- types ---- */

/* The file name without the folder: paths change with every runtime update, which would start new
 * time series. */
static const char *file_name(const char *path)
{
    const char *name = path;
    for (; *path != '\0'; path++)
        if (*path == '/' || *path == '\\')
            name = path + 1;
    return name;
}

enum measure { COUNT, BYTES, RETAINED };

static void put_types(struct prom *p, const struct report_row *rows, size_t n, enum measure which,
                      const char *name, const char *help)
{
    cli_prom_metric(&p->out, name, help);
    for (size_t i = 0; i < n; i++) {
        const struct gcd_histogram_row *v = &rows[i].v;
        begin_sample(p);
        cli_prom_label(&p->out, "type", rows[i].label);
        cli_prom_label(&p->out, "module",
                       file_name(cli_summary(&p->r->d)->types[v->index].module_path));
        cli_prom_value(&p->out,
                       which == COUNT   ? v->objects
                       : which == BYTES ? v->bytes
                                        : v->retained_bytes,
                       1);
    }
}

static enum cli_exit put_all_types(struct prom *p)
{
    const struct cli_view_args *view = &p->r->args->view;
    const struct gcd_histogram *h = NULL;
    enum cli_exit e = report_histogram(p->r, GCD_BY_TYPE, &h);
    struct report_row *rows = e == CLI_DONE ? report_rows(p->r, h) : NULL;
    size_t n = 0;
    uint64_t top = view->top != 0 ? view->top : TYPES_DEFAULT;
    for (size_t i = 0; rows != NULL && i < h->row_count && n < top; i++)
        if (rows[i].v.bytes >= view->min_bytes)
            rows[n++] = rows[i];
    if (rows != NULL) {
        put_types(p, rows, n, COUNT, "gcdumpc_type_objects",
                  "Objects of a type, for the types with the most.");
        put_types(p, rows, n, BYTES, "gcdumpc_type_bytes",
                  "Bytes of the objects of a type, for the types with the most.");
        if (view->retained)
            put_types(p, rows, n, RETAINED, "gcdumpc_type_retained_bytes",
                      "What the objects of a type keep alive together, a lower bound.");
    } else if (e == CLI_DONE) {
        e = cli_no_memory(p->r->d.subject);
    }
    free(rows);
    gcd_histogram_free(h);
    return e;
}

/* ---- generations and roots ---- */

static const struct {
    const char *name, *help;
} generation_metrics[] = {
    { "gcdumpc_generation_objects", "Objects in a generation." },
    { "gcdumpc_generation_bytes", "Bytes of the objects in a generation." },
    { "gcdumpc_generation_used_bytes",
      "Memory of a generation up to the end of the last object of each range." },
    { "gcdumpc_generation_free_bytes", "Used bytes that are not objects." },
    { "gcdumpc_generation_reserved_bytes", "Address space of a generation." },
};

static uint64_t generation_value(const struct gcd_generation *g, size_t metric)
{
    const uint64_t values[] = { g->objects, g->bytes, g->used_bytes, report_free_bytes(g),
                                g->reserved_bytes };
    return values[metric];
}

static enum cli_exit put_generations(struct prom *p)
{
    const struct gcd_histogram *h = NULL;
    if (cli_summary(&p->r->d)->range_count == 0)
        return CLI_DONE;
    enum cli_exit e = report_histogram(p->r, GCD_BY_GENERATION, &h);
    for (size_t k = 0; k < sizeof generation_metrics / sizeof *generation_metrics && e == CLI_DONE;
         k++) {
        bool of_ranges = k >= 2;
        if (of_ranges && p->r->filter != NULL)
            break; /* space of other types is not free */
        cli_prom_metric(&p->out, generation_metrics[k].name, generation_metrics[k].help);
        for (size_t i = 0; i < h->row_count; i++) {
            if (of_ranges && h->rows[i].generation->ranges == 0)
                continue;
            begin_sample(p);
            cli_prom_label(&p->out, "generation", h->rows[i].label);
            cli_prom_value(&p->out, generation_value(h->rows[i].generation, k), 1);
        }
    }
    gcd_histogram_free(h);
    return e;
}

static const struct {
    const char *name, *help;
} root_metrics[] = {
    { "gcdumpc_roots", "Roots by kind." },
    { "gcdumpc_root_retained_bytes", "Bytes kept alive by the roots of a kind and of no other." },
    { "gcdumpc_root_claimed_bytes",
      "Bytes kept alive by the roots of a kind and of none before it: each object once." },
};

static enum cli_exit put_roots(struct prom *p)
{
    const struct gcd_histogram *h = NULL;
    enum cli_exit e = report_histogram(p->r, GCD_BY_ROOT, &h);
    size_t n = p->r->args->view.retained ? sizeof root_metrics / sizeof *root_metrics : 1;
    for (size_t k = 0; k < n && e == CLI_DONE; k++) {
        cli_prom_metric(&p->out, root_metrics[k].name, root_metrics[k].help);
        for (unsigned i = 0; i < GCD_GROUPS; i++) {
            const struct gcd_root_set *set = &h->root_sets.groups[i];
            const uint64_t values[] = { set->roots, set->retained_bytes, set->claimed_bytes };
            begin_sample(p);
            cli_prom_label(&p->out, "kind", gcd_root_group_label((enum gcd_root_group)i)->key);
            cli_prom_value(&p->out, values[k], 1);
        }
    }
    gcd_histogram_free(h);
    return e;
}

enum cli_exit report_prometheus(struct report *r, FILE *to)
{
    const struct gcd_summary *f = cli_summary(&r->d);
    struct prom p = { .r = r, .out = { .to = to } };
    if (f->process != 0)
        (void)snprintf(p.pid, sizeof p.pid, "%" PRIu64, f->process);
    put_info(&p, f);
    put_verdict(&p, &f->verdict);
    put_times(&p, f);
    put_totals(&p, f);
    put_memory(&p, &f->memory);
    enum cli_exit e = put_all_types(&p);
    if (e == CLI_DONE)
        e = put_generations(&p);
    return e == CLI_DONE ? put_roots(&p) : e;
}
