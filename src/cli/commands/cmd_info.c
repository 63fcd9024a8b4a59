#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/image.h>
#include <gcdumpc/unstable/estimate.h>
#include <gcdumpc/unstable/graph/graph_memory.h>
#include <gcdumpc/unstable/process_memory.h>
#include <gcdumpc/unstable/text/plural.h>

#include "args.h"
#include "commands/commands.h"
#include "commands/open_dump.h"
#include "exit.h"
#include "input/fail.h"
#include "input/dump_verdict.h"
#include "input/input.h"
#include "input/native_symbols.h"
#include "input/memory.h"
#include "output/json_out.h"
#include "output/memory_notes.h"
#include "output/names_known.h"
#include "term/term.h"

/* A row was lost because memory ran out. */
static bool no_memory;

GCD_PRINTF(2, 3)
static void row(const char *label, const char *fmt, ...)
{
    char *line = NULL; /* allocated, because command lines are long */
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(&line, fmt, ap);
    va_end(ap);
    printf("%-18s ", label);
    if (n < 0) {
        no_memory = true;
        return;
    }
    cli_print_wrapped(stdout, line, 19, 19);
    free(line);
}

static void print_recording(const struct gcd_summary *f, const struct cli_dump *d, bool sep)
{
    char n[CLI_NUMBER_BYTES];
    const struct gcd_trace_info *t = &f->trace;
    bool is_core = gcd_trace_is_image(t);
    if (f->image.ended_by[0] != '\0')
        row("ended by", "%s", f->image.ended_by);
    row(d->dump != NULL && !is_core ? "recording" : "file", "%s", d->subject);
    if (is_core)
        row("format", "%s, 64-bit process", d->live ? "memory" : "core file");
    else if (d->dump == NULL)
        row("format", "%s", t->container);
    else
        row("format", "%s version %u, %u-bit process, %s bytes, %s", t->container,
            t->format_version, 8 * t->ptr_bytes, cli_number(t->bytes, sep, n),
            t->end == GCD_TRACE_CLOSED      ? "closed"
            : t->end == GCD_TRACE_TRUNCATED ? "cut off"
                                            : "damaged");
    char when[CLI_TIME_BYTES];
    if (cli_time(t->start_unix_ms, when)[0] != '\0')
        row("recorded", "%s", when);
    if (f->process != 0)
        row("process", "%" PRIu64 "%s%s", f->process, f->process_name[0] != '\0' ? ", " : "",
            f->process_name);
    if (f->command_line[0] != '\0')
        row("command line", "%s", f->command_line);
    if (f->runtime_version[0] != '\0' || f->os[0] != '\0')
        row("runtime", "%s%s%s%s%s%s",
            f->runtime_version[0] == '\0'  ? ""
            : f->runtime_version[0] == '3' ? ".NET Core "
                                           : ".NET ",
            f->runtime_version, f->runtime_version[0] != '\0' && f->os[0] != '\0' ? ", " : "",
            f->os, f->arch[0] != '\0' ? " " : "", f->arch);
}

/* A heap that was read from memory: no collection, and no pause. */
static void print_image(const struct gcd_summary *f)
{
    bool live = strcmp(f->image.made_from, "process") == 0;
    if (live && f->pause_ns != 0)
        row("stopped", "%.1f ms, without a garbage collection", (double)f->pause_ns / 1e6);
    row("made from", "%s, %s; %s", live ? "the memory of the process" : "a core file",
        f->image.with_dead ? "with dead objects" : "without dead objects",
        f->gc_heaps > 1 ? "server GC" : "workstation GC");
    for (const char *s = f->image.gaps; *s != '\0'; s += strcspn(s, "\n"), s += *s == '\n')
        row(s == f->image.gaps ? "missing" : "", "%.*s", (int)strcspn(s, "\n"), s);
}

/* The processes of a recording of a whole machine. */
static void print_processes(const struct gcd_dump *d)
{
    const struct gcd_summary *summary = gcd_dump_summary(d);
    size_t n = summary->process_count;
    for (size_t i = 0; n > 1 && i < n; i++) {
        const struct gcd_process *p = &summary->processes[i];
        row(i == 0 ? "processes" : "", "%" PRIu64 "%s%s: %u heap dump%s%s", p->process,
            p->name[0] != '\0' ? ", " : "", p->name, p->dumps, gcd_plural(p->dumps),
            p->chosen ? ", this one" : "");
    }
}

static const char *gc_reason_word(uint32_t reason)
{
    switch (reason) {
    case GCD_GC_REASON_INDUCED:
        return "induced";
    case GCD_GC_REASON_INDUCED_NOT_FORCED:
        return "induced, not forced";
    case GCD_GC_REASON_INDUCED_COMPACTING:
        return "induced, compacting";
    case GCD_GC_REASON_INDUCED_AGGRESSIVE:
        return "induced, aggressive";
    default:
        return "not induced";
    }
}

static void print_gc(const struct gcd_summary *f)
{
    static const char *const types[] = { "blocking", "background", "foreground" };
    char heaps[40] = "";
    if (f->gc_heaps > 0)
        (void)snprintf(heaps, sizeof heaps,
                       f->gc_heaps > 1 ? ", server GC with %u heaps" : ", workstation GC",
                       f->gc_heaps);
    if (f->gc_start_seen)
        row("GC", "number %u, %s, %s, generation %u%s", f->gc_number, gc_reason_word(f->gc_reason),
            f->gc_type < 3 ? types[f->gc_type] : "of unknown type", f->gc_depth, heaps);
    else
        row("GC", "its start was not recorded%s", heaps);
    row("GC time", "%.3f s after the start, %.1f ms with the heap walk",
        (double)f->gc_start_ns / 1e9, (double)(f->gc_end_ns - f->gc_start_ns) / 1e6);
    if (f->pause_ns != 0)
        row("pause", "%.1f ms", (double)f->pause_ns / 1e6);
    else
        row("pause", "was not recorded");
    if (f->pauses > 1)
        row("", "%" PRIu64 " pauses in the recording, %.1f ms in all", f->pauses,
            (double)f->pauses_ns / 1e6);
    if (f->dumps > 1)
        row("dumps", "%u heap dumps in the recording, this is number %u", f->dumps, f->walk_number);
}

/* NOTES may be NULL. */
static void print_heap(const struct gcd_summary *f, const struct gcd_graph_notes *notes, bool sep)
{
    char a[CLI_NUMBER_BYTES], b[CLI_NUMBER_BYTES], c[CLI_NUMBER_BYTES], d[CLI_NUMBER_BYTES],
        e[CLI_NUMBER_BYTES];
    row("objects", "%s", cli_number(f->objects, sep, a));
    if (sep)
        row("bytes", "%s (%s)", cli_number(f->bytes, true, a), cli_size(f->bytes, b));
    else
        row("bytes", "%" PRIu64, f->bytes);
    row("references", "%s", cli_number(f->edges, sep, a));
    if (f->types_undescribed > 0)
        row("types", "%s, %s of them without description", cli_number(f->types_used, sep, a),
            cli_number(f->types_undescribed, sep, b));
    else
        row("types", "%s", cli_number(f->types_used, sep, a));
    if (notes != NULL && notes->size_classes > 0)
        row("", "%s size class%s of the file, such as \"(Bytes > 1K)\", %s joined with %s",
            cli_number(notes->size_classes, sep, a), gcd_by_number(notes->size_classes, "", "es"),
            gcd_by_number(notes->size_classes, "is", "are"),
            gcd_by_number(notes->size_classes, "its type", "their types"));
    uint64_t roots = 0;
    for (int i = 0; i < GCD_ROOT_KINDS; i++)
        roots += f->root_counts[i];
    row("roots", "%s: stack %s, finalizer queue %s, handles %s, other %s",
        cli_number(roots, sep, a), cli_number(f->root_counts[GCD_ROOT_STACK], sep, b),
        cli_number(f->root_counts[GCD_ROOT_FINALIZER], sep, c),
        cli_number(f->root_counts[GCD_ROOT_HANDLE], sep, d),
        cli_number(f->root_counts[GCD_ROOT_OTHER], sep, e));
    row("", "of these weak %s, pinned %s", cli_number(f->weak_roots, sep, a),
        cli_number(f->pinned_roots, sep, b));
    row("static variables", "%s", cli_number(f->statics, sep, a));
    row("dependent handles", "%s", cli_number(f->dependent_handles, sep, a));
    if (f->ccws > 0 || f->rcws > 0)
        row("COM wrappers", "%s callable, %s runtime", cli_number(f->ccws, sep, a),
            cli_number(f->rcws, sep, b));
    row("generation ranges", "%s", cli_number(f->range_count, sep, a));
    uint64_t used, unused;
    gcd_range_bytes(f, &used, &unused);
    if (used > 0)
        row("", "%s bytes used, of them %s free between the objects", cli_number(used, sep, a),
            cli_number(unused, sep, b));
}

/* The memory of the process before the dump, for recordings that gcdumpc made. */
static void print_memory(const struct gcd_process_memory *m, bool sep)
{
    char text[GCD_MEMORY_TEXT_BYTES], a[CLI_NUMBER_BYTES], b[CLI_NUMBER_BYTES], c[CLI_NUMBER_BYTES],
        d[CLI_NUMBER_BYTES];
    if (gcd_process_memory_text(m, text, sizeof text) == 0) {
        row("process memory", "not in this file, so native memory is not known");
        return;
    }
    row("process memory", "%s bytes resident before the dump: anonymous %s, files %s, shared %s",
        cli_number(m->resident_bytes, sep, a), cli_number(m->anonymous_bytes, sep, b),
        cli_number(m->file_bytes, sep, c), cli_number(m->shared_bytes, sep, d));
    if (m->gc_known)
        row("", "of the anonymous memory %s in the ranges of the GC, %s native or unknown",
            cli_number(m->gc_bytes, sep, a), cli_number(gcd_native_bytes(m), sep, b));
    if (m->swapped_bytes > 0)
        row("", "besides, %s bytes swapped out", cli_number(m->swapped_bytes, sep, a));
    if (m->cgroup_limit_bytes > 0)
        row("", "its cgroup uses %s of %s bytes", cli_number(m->cgroup_used_bytes, sep, a),
            cli_number(m->cgroup_limit_bytes, sep, b));
    row("", "%s", text);
}

/* The objects that no root leads to; references of recordings are not followed here. */
static void print_unreachable(const struct cli_dump *d, const struct cli_unreachable *u)
{
    char *text = u->known ? cli_unreachable_text(d, u) : NULL;
    if (text != NULL)
        row("not reachable", "%s", text);
    else if (!u->known)
        row("not reachable", "not counted here; gcdumpc leaks does");
    no_memory = no_memory || (text == NULL && u->known);
    free(text);
}

/* Which names are as in the source code, and why the others are not. */
static void print_names(const struct gcd_summary *f, bool fields, bool sep)
{
    char a[CLI_NUMBER_BYTES], b[CLI_NUMBER_BYTES], c[CLI_NUMBER_BYTES], d[CLI_NUMBER_BYTES],
        e[CLI_NUMBER_BYTES];
    static const enum gcd_module_state problems[] = { GCD_MODULE_NOT_FOUND, GCD_MODULE_REPLACED,
                                                      GCD_MODULE_UNREADABLE, GCD_MODULE_NO_PATH };
    struct cli_names_known k;
    if (!cli_names_known(f, &k))
        return;
    if (k.modules[GCD_MODULE_NOT_READ] == f->module_count) {
        row("full names", "none: no module was looked for");
        row("fields", "none: no module was looked for");
        return;
    }
    row("full names", "%s of %s types, %s of %s static variables%s%s%s",
        cli_number(k.types_known, sep, a), cli_number(k.types, sep, b),
        cli_number(k.statics_known, sep, c), cli_number(k.statics, sep, d),
        k.statics_several > 0 ? ", of " : "",
        k.statics_several > 0 ? cli_number(k.statics_several, sep, e) : "",
        k.statics_several > 0 ? " several classes are possible" : "");
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        char *text = k.modules[problems[i]] > 0 ? cli_module_problem(f, &k, problems[i]) : NULL;
        if (text != NULL)
            row("", "%s", text);
        no_memory = no_memory || (text == NULL && k.modules[problems[i]] > 0);
        free(text);
    }
    for (size_t i = 0, n = 0; i < f->module_count && n < CLI_MODULES_NAMED; i++) {
        char buf[CLI_SYMBOLS_BYTES];
        if (f->modules[i].native)
            row(n++ == 0 ? "symbols" : "", "%s", cli_symbols_text(f, &f->modules[i], buf));
    }
    if (!fields) {
        row("fields", "none: --no-fields");
        return;
    }
    row("fields", "of %s of %s types", cli_number(k.types_with_fields, sep, a),
        cli_number(k.types, sep, b));
    char *text = cli_modules_without_fields(f);
    if (text != NULL && text[0] != '\0')
        row("", "%s", text);
    no_memory = no_memory || text == NULL;
    free(text);
}

static void print_too_long(const struct gcd_summary *f, bool sep)
{
    char a[CLI_NUMBER_BYTES];
    struct cli_names_known k;
    (void)cli_names_known(f, &k);
    if (k.types_too_long > 0)
        row("", "%s type%s named by module and token: %s name %s",
            cli_number(k.types_too_long, sep, a), gcd_by_number(k.types_too_long, " is", "s are"),
            gcd_by_number(k.types_too_long, "its", "their"),
            f->image.made_from[0] != '\0' ? "is in metadata that the image does not have"
                                          : "does not fit into an event (64 KB)");
}

/* The memory estimates that --memory is compared with. */
static void print_needs(const struct cli_dump *d, bool sep)
{
    char n[CLI_NUMBER_BYTES];
    for (enum gcd_workload i = 0; i < GCD_WORKLOADS; i++)
        row(i == 0 ? "memory for" : "", "%s: about %s bytes", cli_workload_name(i),
            cli_number(cli_estimate(d, i), sep, n));
}

enum cli_exit cmd_info(const struct cli_args *args)
{
    if (args->view.events)
        return cmd_events(args);
    struct cli_dump d;
    struct cli_unreachable unreachable;
    enum cli_exit e = cli_open(args, CLI_NEED_FIELDS, &d);
    if (e == CLI_DONE)
        e = cli_count_unreachable(args, &d, NULL, &unreachable);
    if (e == CLI_DONE) {
        const struct gcd_verdict *v = &cli_summary(&d)->verdict;
        if (args->view.json) {
            no_memory =
                cli_json_info(&d, cli_json_unreachable(&unreachable)) != 0 && errno == ENOMEM;
        } else {
            bool sep = cli_is_terminal(stdout);
            char n[CLI_NUMBER_BYTES], values[CLI_VALUES_BYTES];
            const struct gcd_summary *f = cli_summary(&d);
            print_recording(f, &d, sep);
            if (d.dump != NULL) {
                print_processes(d.dump);
                if (f->image.made_from[0] != '\0')
                    print_image(f);
                else
                    print_gc(f);
            }
            print_heap(f, d.graph != NULL ? gcd_graph_notes(d.graph) : NULL, sep);
            print_unreachable(&d, &unreachable);
            print_memory(&f->memory, sep);
            if (f->values.kind != GCD_VALUES_NONE)
                row("values", "%s", cli_values_text(&f->values, values));
            if (f->null_maps.known)
                row("exact fields", "%s", cli_fields_text(f, values));
            print_names(f, !args->modules.no_fields, sep);
            print_needs(&d, sep);
            if (d.graph != NULL)
                row("graph", "%s bytes of memory", cli_number(gcd_graph_memory(d.graph), sep, n));
            row("verdict", "%s",
                !v->complete    ? "incomplete"
                : v->unverified ? "the format does not tell"
                                : "complete");
            for (size_t i = 0; i < v->reason_count; i++)
                row("", "%s", v->reasons[i].text);
            print_too_long(cli_summary(&d), sep);
        }
        e = cli_finish(args, &d, no_memory ? cli_no_memory(d.subject) : CLI_DONE, 0);
    }
    cli_close(&d);
    return e;
}
