#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/origins.h>
#include <gcdumpc/unstable/process_memory.h>
#include <gcdumpc/unstable/session/views.h>

#include "args.h"
#include "summary/summary.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "input/memory.h"
#include "output/json_out.h"
#include "output/output.h"
#include "term/message.h"
#include "term/path.h"
#include "term/progress.h"
#include "term/term.h"

#define DEFAULT_ROWS 100u
/* More of the program's own types are listed than of others, because they are asked about later:
 * which version introduced one? */
#define OWN_FACTOR 10u

/* ---- labels ---- */

enum cli_exit cli_summary_check(const struct cli_args *args)
{
    const char *const *labels = args->output.labels;
    if (labels[0] != NULL && args->output.summary == NULL)
        return cli_error(CLI_USAGE, NULL, "--label is for a summary; give its file with --summary");
    if (args->view.top != 0 && args->output.summary == NULL)
        return cli_error(CLI_USAGE, NULL,
                         "--top is for a summary here; give its file with --summary");
    for (size_t i = 0; i < CLI_LABELS_MAX && labels[i] != NULL; i++) {
        size_t n = strcspn(labels[i], "=");
        if (n == 0 || labels[i][n] == '\0')
            return cli_error(CLI_USAGE, NULL,
                             "--label takes KEY=VALUE, as version=1.4.2, not \"%s\"", labels[i]);
        for (size_t k = 0; k < i; k++)
            if (strncmp(labels[k], labels[i], n + 1) == 0)
                return cli_error(CLI_USAGE, NULL, "--label %.*s is given twice",
                                 (int)(n < 200 ? n : 200), labels[i]);
    }
    return CLI_DONE;
}

static void put(json_t *o, const char *key, json_t *value)
{
    (void)json_object_set_new(o, key, value); /* cli_json_line notices exhausted memory */
}

static json_t *labels_of(const struct cli_args *args)
{
    json_t *o = json_object();
    for (size_t i = 0; i < CLI_LABELS_MAX && args->output.labels[i] != NULL; i++) {
        const char *text = args->output.labels[i];
        json_t *key = json_stringn(text, strcspn(text, "="));
        json_t *spelled = key != NULL ? key : cli_json_text("?"); /* not UTF-8 */
        put(o, json_string_value(spelled) != NULL ? json_string_value(spelled) : "?",
            cli_json_text(strchr(text, '=') + 1));
        json_decref(spelled);
    }
    return o;
}

/* ---- facts ---- */

/* Is PATH the file of assembly NAME? */
static bool is_assembly(const char *path, const char *name)
{
    const char *file = cli_any_path_name(path);
    size_t n = strlen(name);
    return n > 0 && strncmp(file, name, n) == 0 &&
           (strcmp(file + n, ".dll") == 0 || strcmp(file + n, ".exe") == 0);
}

/* Identifies the build of the program by the debug information that its entry assembly names; "" =
 * not known. */
static const char *build_id(const struct gcd_summary *s, char ret[33])
{
    static const uint8_t none[16];
    ret[0] = '\0';
    for (size_t i = 0; i < s->module_count; i++) {
        const struct gcd_module *m = &s->modules[i];
        if (!is_assembly(m->path, s->process_name) || memcmp(m->pdb_guid, none, sizeof none) == 0)
            continue;
        for (size_t k = 0; k < sizeof m->pdb_guid; k++)
            (void)snprintf(ret + 2 * k, 3, "%02x", m->pdb_guid[k]);
        break;
    }
    return ret;
}

/* Only for a live process is the host known. */
static void put_process(json_t *o, const struct gcd_summary *s, const struct cli_summary_file *file)
{
    char host[256] = "", build[33];
    if (file->live)
        (void)gethostname(host, sizeof host - 1);
    cli_json_put_text(o, "host", host);
    cli_json_put_text(
        o, "name", s->process_name[0] != '\0' || file->name == NULL ? s->process_name : file->name);
    put(o, "pid", s->process != 0 ? cli_json_number(s->process) : json_null());
    cli_json_put_text(o, "runtime_version", s->runtime_version);
    cli_json_put_text(o, "os", s->os);
    cli_json_put_text(o, "architecture", s->arch);
    cli_json_put_text(o, "build_id", build_id(s, build));
}

/* When the garbage collection began; INT64_MIN = unknown. */
static int64_t time_of(const struct gcd_summary *s)
{
    int64_t ms = s->trace.start_unix_ms;
    return ms == INT64_MIN || __builtin_add_overflow(ms, s->gc_start_ns / 1000000, &ms) ? INT64_MIN
                                                                                        : ms;
}

static void put_time(json_t *o, const struct gcd_summary *s)
{
    char when[CLI_TIME_BYTES];
    int64_t ms = time_of(s);
    cli_json_put_text(o, "time", cli_time(ms, when));
    put(o, "unix_ms", ms != INT64_MIN ? json_integer(ms) : json_null());
}

static void put_facts(json_t *o, const struct gcd_summary *s)
{
    json_t *verdict = cli_json_verdict(&s->verdict);
    (void)json_object_update(o, verdict); /* fields complete, unverified, reasons */
    json_decref(verdict);
    cli_json_count(o, "objects", s->objects);
    cli_json_count(o, "bytes", s->bytes);
    cli_json_count(o, "references", s->edges);
    cli_json_count(o, "type_count", s->types_used);
    put(o, "pause_ns", s->pause_ns != 0 ? cli_json_number(s->pause_ns) : json_null());
    put(o, "gc_heaps", s->gc_heaps != 0 ? cli_json_number(s->gc_heaps) : json_null());
    cli_json_count(o, "walks", s->dumps);
    cli_json_count(o, "lost_events", s->trace.lost_events);
    cli_json_count(o, "event_bytes", s->trace.bytes);
}

static void put_if(json_t *o, const char *key, bool known, uint64_t n)
{
    put(o, key, known ? cli_json_number(n) : json_null());
}

static json_t *memory_of(const struct gcd_process_memory *m)
{
    json_t *o = json_object();
    bool known = m->resident_bytes != 0;
    put_if(o, "resident_bytes", known, m->resident_bytes);
    put_if(o, "anonymous_bytes", known, m->anonymous_bytes);
    put_if(o, "file_bytes", known, m->file_bytes);
    put_if(o, "shared_bytes", known, m->shared_bytes);
    put_if(o, "swapped_bytes", known, m->swapped_bytes);
    put_if(o, "gc_heap_bytes", m->gc_known, m->gc_bytes);
    put_if(o, "native_or_unknown_bytes", m->gc_known, gcd_native_bytes(m));
    put_if(o, "cgroup_limit_bytes", m->cgroup_limit_bytes > 0, m->cgroup_limit_bytes);
    put_if(o, "cgroup_used_bytes", m->cgroup_limit_bytes > 0, m->cgroup_used_bytes);
    return o;
}

static json_t *roots_of(const struct gcd_summary *s)
{
    uint64_t counts[GCD_GROUPS] = { 0 };
    json_t *o = json_object();
    for (size_t i = 0; i < s->root_count; i++)
        counts[gcd_root_group(&s->roots[i])]++;
    for (int i = 0; i < GCD_GROUPS; i++)
        cli_json_count(o, gcd_root_group_label((enum gcd_root_group)i)->key, counts[i]);
    return o;
}

static json_t *ranges_of(const struct gcd_summary *s)
{
    static const char *const names[] = { "gen0", "gen1", "gen2", "loh", "poh" };
    json_t *rows = json_array();
    for (size_t g = 0; g < sizeof names / sizeof *names && s->range_count > 0; g++) {
        uint64_t used = 0, reserved = 0;
        for (size_t i = 0; i < s->range_count; i++)
            if (s->ranges[i].generation == g) {
                used = used + s->ranges[i].used_bytes >= used ? used + s->ranges[i].used_bytes
                                                              : UINT64_MAX;
                reserved = reserved + s->ranges[i].reserved_bytes >= reserved
                               ? reserved + s->ranges[i].reserved_bytes
                               : UINT64_MAX;
            }
        json_t *row = json_object();
        cli_json_put_text(row, "generation", names[g]);
        cli_json_count(row, "used_bytes", used);
        cli_json_count(row, "reserved_bytes", reserved);
        (void)json_array_append_new(rows, row);
    }
    return rows;
}

/* ---- types ---- */

struct rank {
    uint64_t by;
    uint32_t type;
};

static int largest_first(const void *va, const void *vb)
{
    const struct rank *a = va, *b = vb;
    return a->by != b->by ? (a->by < b->by ? 1 : -1) : (a->type > b->type) - (a->type < b->type);
}

/* Sorts the types with objects by bytes, or by RETAINED if not NULL, largest first.  NULL when out
 * of memory. */
static struct rank *ranking(const struct gcd_summary *s, const uint64_t *retained, size_t *ret_n)
{
    struct rank *ranks = calloc((size_t)s->type_count + 1, sizeof *ranks);
    size_t n = 0;
    for (uint32_t i = 0; ranks != NULL && i < s->type_count; i++)
        if (s->types[i].objects > 0)
            ranks[n++] = (struct rank){ retained != NULL ? retained[i] : s->types[i].bytes, i };
    if (n > 1)
        qsort(ranks, n, sizeof *ranks, largest_first);
    *ret_n = n;
    return ranks;
}

static json_t *type_row(const struct cli_summary_graph *g, const struct gcd_names *raw,
                        const struct gcd_summary *s, uint32_t type)
{
    const struct gcd_type *t = &s->types[type];
    const char *name = gcd_names_plain(g->names, type), *sent = gcd_names_plain(raw, type);
    json_t *o = json_object();
    cli_json_put_text(o, "name", name);
    if (strcmp(name, sent) != 0)
        cli_json_put_text(o, "raw_name", sent);
    cli_json_put_text(o, "module", cli_path_name(t->module_path));
    cli_json_put_text(o, "origin", gcd_origin_name(gcd_origins_get(g->origins, type)));
    cli_json_count(o, "count", t->objects);
    cli_json_count(o, "own_bytes", t->bytes);
    cli_json_count(o, "retained_bytes", g->retained[type]);
    return o;
}

static json_t *rows_of(const struct cli_summary_graph *g, const struct gcd_names *raw,
                       const struct gcd_summary *s, const uint64_t *retained, uint64_t most)
{
    size_t n, own = 0;
    json_t *rows = json_array();
    struct rank *ranks = ranking(s, retained, &n);
    for (size_t i = 0; i < n; i++) {
        bool more = retained == NULL && own < OWN_FACTOR * most &&
                    gcd_origins_get(g->origins, ranks[i].type) == GCD_ORIGIN_OWN;
        if (i >= most && !more)
            continue;
        own += more;
        (void)json_array_append_new(rows, type_row(g, raw, s, ranks[i].type));
    }
    if (ranks == NULL) {
        json_decref(rows);
        return NULL;
    }
    free(ranks);
    return rows;
}

/* The names that the runtime sends, spelled like the shown ones. */
static enum cli_exit raw_names(const struct cli_dump *d, const struct gcd_summary *s,
                               struct gcd_names **ret)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_summary raw = *s;
    struct gcd_type *types = calloc((size_t)s->type_count + 1, sizeof *types);
    if (types == NULL)
        return cli_no_memory(NULL);
    memcpy(types, s->types, s->type_count * sizeof *types);
    for (uint32_t i = 0; i < s->type_count; i++)
        types[i].name = types[i].raw_name;
    raw.types = types;
    gcd_status st = gcd_names_new(&raw, GCD_NAMES_CSHARP, cli_alloc(), ret, &err);
    free(types);
    return st == GCD_OK ? CLI_DONE : cli_fail(d->subject, &err);
}

static enum cli_exit put_types(const struct cli_args *args, json_t *o, const struct cli_dump *d,
                               const struct cli_summary_graph *g)
{
    const struct gcd_summary *s = gcd_graph_summary(d->graph);
    uint64_t most = args->view.top != 0 ? args->view.top : DEFAULT_ROWS;
    struct gcd_names *raw = NULL;
    enum cli_exit e = raw_names(d, s, &raw);
    if (e != CLI_DONE)
        return e;
    put(o, "types", rows_of(g, raw, s, NULL, most));
    put(o, "holders", rows_of(g, raw, s, g->retained, most));
    gcd_names_free(raw);
    return json_object_get(o, "types") != NULL && json_object_get(o, "holders") != NULL
               ? CLI_DONE
               : cli_no_memory(NULL);
}

/* ---- all of it ---- */

static enum cli_exit analyse(const struct cli_args *args, const struct cli_dump *d,
                             struct cli_summary_graph *g)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_context finding = cli_context_steps(args, "finding dominators"),
                       looking = cli_context_steps(args, "looking for suspects");
    const struct gcd_paths *paths;
    g->names = d->names;
    gcd_status st =
        gcd_session_paths_with_dominators(d->session, &finding, &g->dominators, &paths, &err);
    if (st == GCD_OK)
        st = gcd_session_retained_by_type(d->session, &finding, &g->retained, &err);
    if (st == GCD_OK)
        st = gcd_session_origins(d->session, &looking, &g->origins, &err);
    if (st == GCD_OK)
        st = gcd_session_suspects(d->session, &looking, &g->suspects, &err);
    cli_progress_end();
    return st == GCD_OK ? CLI_DONE : cli_fail(d->subject, &err);
}

static void put_all(const struct cli_args *args, json_t *o, const struct cli_dump *d,
                    const struct cli_summary_file *file, const struct cli_summary_graph *g,
                    json_t *sites)
{
    const struct gcd_summary *s = cli_summary(d);
    put(o, "schema", json_integer(CLI_SUMMARY_SCHEMA));
    cli_json_put_text(o, "kind", CLI_SUMMARY_KIND);
    cli_json_put_text(o, "gcdumpc", GCDUMPC_VERSION);
    put_time(o, s);
    put_process(o, s, file);
    put(o, "labels", labels_of(args));
    cli_json_put_text(o, "file",
                      file->path != NULL && strcmp(file->path, "-") != 0 ? cli_path_name(file->path)
                                                                         : "");
    put_if(o, "file_bytes", file->bytes != 0, file->bytes);
    put_facts(o, s);
    cli_json_count(o, "retained_bytes", gcd_dominators_retained(g->dominators, GCD_NODE_ROOT));
    put(o, "memory", memory_of(&s->memory));
    if (s->values.kind != GCD_VALUES_NONE) /* how many; never which */
        put(o, "values", cli_json_values(&s->values));
    if (d->no_values[0] != '\0')
        cli_json_put_text(o, "values_missing", d->no_values);
    if (s->null_maps.known)
        put(o, "null_maps", cli_json_null_maps(&s->null_maps));
    put(o, "generations", ranges_of(s));
    put(o, "roots", roots_of(s));
    put(o, "findings", cli_summary_findings(d, g));
    if (sites != NULL)
        put(o, "sites", sites);
}

enum cli_exit cli_summary_open(const struct cli_args *args, struct gcd_sink **ret)
{
    *ret = NULL;
    if (args->output.summary == NULL)
        return CLI_DONE;
    return cli_sink_open(args->output.summary,
                         &(struct gcd_sink_options){ .context = cli_context(args, NULL),
                                                     .wait_ms = args->live.timeout_s * 1000 },
                         CLI_SLOT_SUMMARY, ret);
}

static enum cli_exit write_line(const struct cli_args *args, const char *line, struct gcd_sink *s)
{
    struct gcd_error err = GCD_ERROR_INIT;
    bool to_stdout = strcmp(args->output.summary, "-") == 0;
    char n[CLI_NUMBER_BYTES];
    gcd_sink_text(s, line);
    if (gcd_sink_commit(s, &err) != GCD_OK)
        return cli_fail(to_stdout ? "standard output" : args->output.summary, &err);
    if (!args->quiet && !to_stdout)
        cli_say(args->output.summary, "%s bytes of summary written",
                cli_number(strlen(line), true, n));
    return CLI_DONE;
}

enum cli_exit cli_summary_write(const struct cli_args *args, const struct cli_dump *d,
                                const struct cli_summary_file *file, struct gcd_sink *s)
{
    struct cli_summary_graph g = { .names = NULL };
    enum cli_exit e = analyse(args, d, &g);
    if (e != CLI_DONE)
        return e;
    struct gcd_error err = GCD_ERROR_INIT;
    const struct gcd_site_list *list;
    if (gcd_session_site_list(d->session, NULL, &list, &err) != GCD_OK)
        return cli_fail(d->subject, &err);
    json_t *sites = cli_summary_sites(list, gcd_graph_summary(d->graph), g.names);
    json_t *o = json_object();
    put_all(args, o, d, file, &g, sites);
    e = put_types(args, o, d, &g);
    if (e != CLI_DONE) {
        json_decref(o);
        return e;
    }
    char *line = cli_json_line(o);
    e = line != NULL ? write_line(args, line, s) : cli_no_memory(args->output.summary);
    free(line);
    return e;
}

void cli_summary_close(struct gcd_sink *s)
{
    gcd_sink_free(s);
    cli_temporary(CLI_SLOT_SUMMARY, NULL);
}
