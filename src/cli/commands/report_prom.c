/*
 * Metrics for Prometheus, through a file that node_exporter's textfile collector reads: text
 * exposition format 0.0.4.  All samples of a metric come together after one HELP and TYPE, and no
 * two have the same labels.
 */
#include <inttypes.h>
#include <stdio.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/root_sets.h>
#include <gcdumpc/unstable/process_memory.h>

#include "commands/report.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "output/prom.h"
#include "term/path.h"

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

static const struct metric {
    const char *key; /* of the column */
    const char *name, *help;
} type_metrics[] = {
    { "count", "gcdumpc_type_objects", "Objects of a type, for the types with the most." },
    { "bytes", "gcdumpc_type_bytes",
      "Bytes of the objects of a type, for the types with the most." },
    { "retained_bytes", "gcdumpc_type_retained_bytes",
      "What the objects of a type keep alive together, a lower bound." },
}, generation_metrics[] = {
    { "count", "gcdumpc_generation_objects", "Objects in a generation." },
    { "bytes", "gcdumpc_generation_bytes", "Bytes of the objects in a generation." },
    { "used_bytes", "gcdumpc_generation_used_bytes",
      "Memory of a generation up to the end of the last object of each range." },
    { "free_bytes", "gcdumpc_generation_free_bytes", "Used bytes that are not objects." },
    { "reserved_bytes", "gcdumpc_generation_reserved_bytes", "Address space of a generation." },
};

/* A sample of M for each row of A that has one. */
static void put_metric(struct prom *p, const struct answer *a, const struct metric *m)
{
    if (!answer_has(a, m->key))
        return; /* not asked for */
    cli_prom_metric(&p->out, m->name, m->help);
    for (size_t i = 0; i < answer_plain_rows(a); i++) {
        const struct answer_cell *value = answer_find(a, i, m->key),
                                 *type = answer_find(a, i, "type"),
                                 *generation = answer_find(a, i, "generation"),
                                 *module = answer_find(a, i, "module");
        if (!value->known)
            continue;
        begin_sample(p);
        if (generation != NULL)
            cli_prom_label(&p->out, "generation", generation->text);
        if (type != NULL)
            cli_prom_label(&p->out, "type", type->text);
        if (module != NULL) /* without its folder: a runtime update would start new time series */
            cli_prom_label(&p->out, "module", module->known ? cli_any_path_name(module->text) : "");
        cli_prom_value(&p->out, value->number, 1);
    }
}

/* The metrics M[N] of the wanted types, by type or generation. */
static enum cli_exit put_histogram(struct prom *p, enum gcd_histogram_by by, const struct metric *m,
                                   size_t n)
{
    const struct cli_view_args *view = &p->r->args->view;
    bool types = by == GCD_BY_TYPE;
    enum answer_sort sort = types ? (enum answer_sort)view->sort : ANSWER_AS_IS;
    struct answer_page page = { .most = !types           ? 0
                                        : view->top != 0 ? view->top
                                                         : TYPES_DEFAULT,
                                .min_bytes = types ? view->min_bytes : 0 };
    const struct gcd_histogram *h = NULL;
    struct answer *a = NULL;
    enum cli_exit e = report_histogram(p->r, by, &h);
    if (e == CLI_DONE)
        e = report_answer(p->r, h, &(struct report_rows){ by, sort, page, false }, &a);
    for (size_t i = 0; i < n && e == CLI_DONE; i++)
        put_metric(p, a, &m[i]);
    if (e == CLI_DONE && a->top->status != GCD_OK)
        e = cli_no_memory(p->r->d.subject);
    answer_free(a);
    gcd_histogram_free(h);
    return e;
}

/* ---- roots ---- */

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
    enum cli_exit e =
        put_histogram(&p, GCD_BY_TYPE, type_metrics, sizeof type_metrics / sizeof *type_metrics);
    if (e == CLI_DONE && f->range_count > 0) /* space of other types is not free */
        e = put_histogram(
            &p, GCD_BY_GENERATION, generation_metrics,
            r->filter != NULL ? 2 : sizeof generation_metrics / sizeof *generation_metrics);
    return e == CLI_DONE ? put_roots(&p) : e;
}
