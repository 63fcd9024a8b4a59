/*
 * Reports for programs.  Fields are added, never renamed or retyped; addresses are hexadecimal strings, bytes plain integers.
 */
#include <inttypes.h>
#include <string.h>

#include <jansson.h>

#include "cli.h"

/* JSON integers end at 2^63-1 here; a larger value can only come from damaged data. */
static json_t *number(uint64_t n)
{
    return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

static json_t *address(uint64_t a)
{
    char buf[32];
    (void)snprintf(buf, sizeof buf, "0x%" PRIx64, a);
    return json_string(buf);
}

/* File names need not be UTF-8. */
static json_t *text(const char *s)
{
    json_t *j = json_string(s);
    if (j != NULL)
        return j;
    char buf[1024];
    size_t n = 0;
    for (; *s != '\0' && n < sizeof buf - 1; s++)
        buf[n++] = (signed char)*s < 0 ? '?' : *s;
    return json_stringn(buf, n);
}

static json_t *text_or_null(const char *s)
{
    return s[0] != '\0' ? text(s) : json_null();
}

static json_t *verdict(const struct gcd_dump *d)
{
    const struct gcd_verdict *v = gcd_dump_verdict(d);
    json_t *reasons = json_array();
    for (size_t i = 0; i < v->reason_count; i++)
        json_array_append_new(reasons, json_pack("{s:s, s:o, s:o}", "code", v->reasons[i].name, "amount",
                                                 number(v->reasons[i].amount), "text", text(v->reasons[i].text)));
    return json_pack("{s:b, s:o}", "complete", v->complete, "reasons", reasons);
}

static int print(json_t *j)
{
    int failed = j == NULL || json_dumpf(j, stdout, JSON_INDENT(2)) != 0;
    putchar('\n');
    json_decref(j);
    return failed ? -1 : 0;
}

static json_t *trace(const struct gcd_trace_info *t)
{
    static const char *const ends[] = { "open", "closed", "truncated", "damaged" };
    return json_pack("{s:s, s:i, s:i, s:o, s:o, s:s, s:o, s:o, s:b}", "container", t->container, "version", (int)t->format_version,
                     "pointer_bytes", (int)t->ptr_bytes, "start_unix_ms",
                     t->start_unix_ms == INT64_MIN ? json_null() : json_integer(t->start_unix_ms), "bytes", number(t->bytes),
                     "end", ends[t->end], "events", number(t->events), "lost_events", number(t->lost_events),
                     "loss_verified", t->loss_verified);
}

int cli_json_info(const struct gcd_dump *d, const char *subject)
{
    const struct gcd_dump_facts *f = gcd_dump_facts(d);
    json_t *process = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "pid", f->process != 0 ? number(f->process) : json_null(),
                                "name", text_or_null(f->process_name), "command_line", text_or_null(f->command_line),
                                "os", text_or_null(f->os), "architecture", text_or_null(f->arch),
                                "runtime_version", text_or_null(f->runtime_version));
    json_t *gc = json_pack("{s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "start_seen", f->gc_start_seen, "end_seen", f->gc_end_seen,
                           "number", number(f->gc_number), "generation", number(f->gc_depth), "reason", number(f->gc_reason),
                           "type", number(f->gc_type), "heaps", f->gc_heaps != 0 ? number(f->gc_heaps) : json_null(),
                           "start_ns", json_integer(f->gc_start_ns), "end_ns", json_integer(f->gc_end_ns));
    json_t *roots = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "stack", number(f->roots[GCD_ROOT_STACK]), "finalizer",
                              number(f->roots[GCD_ROOT_FINALIZER]), "handle", number(f->roots[GCD_ROOT_HANDLE]), "other",
                              number(f->roots[GCD_ROOT_OTHER]), "weak", number(f->weak_roots), "pinned", number(f->pinned_roots),
                              "null", number(f->null_roots));
    json_t *dump = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "objects", number(f->objects),
                             "bytes", number(f->bytes), "edges", number(f->edges), "edges_declared", number(f->edges_declared),
                             "types", number(f->types), "types_undescribed", number(f->types_undescribed), "roots", roots,
                             "statics", number(f->statics), "dependent_handles", number(f->dependent_handles), "ccws", number(f->ccws),
                             "rcws", number(f->rcws), "ranges", number(f->ranges), "complete", gcd_dump_verdict(d)->complete);
    return print(json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:i, s:o}", "schema", CLI_JSON_SCHEMA, "recording", text(subject), "trace",
                           trace(&f->trace), "process", process, "gc", gc, "dump", dump, "dumps", (int)f->dumps, "verdict", verdict(d)));
}

int cli_json_report(const struct gcd_dump *d, const char *subject, const uint32_t *order, size_t n)
{
    const struct gcd_dump_facts *f = gcd_dump_facts(d);
    json_t *types = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct gcd_type *t = gcd_dump_type(d, order[i]);
        json_array_append_new(types, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", text(t->name), "module", text_or_null(t->module_path),
                                               "id", address(t->id), "count", number(t->objects), "bytes", number(t->bytes), "edges",
                                               number(t->edges), "share",
                                               json_real(f->bytes > 0 ? (double)t->bytes / (double)f->bytes : 0)));
    }
    return print(json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", CLI_JSON_SCHEMA, "recording", text(subject), "objects",
                           number(f->objects), "bytes", number(f->bytes), "type_count", number(f->types), "types", types,
                           "verdict", verdict(d)));
}
