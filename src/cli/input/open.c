#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/read.h>
#include <gcdumpc/unstable/image.h>
#include <gcdumpc/unstable/io/input_parts.h>
#include <gcdumpc/unstable/io/text_lines.h>
#include <gcdumpc/unstable/spool.h>

#include "args.h"
#include "base/text.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "input/memory.h"
#include "term/message.h"
#include "term/path.h"
#include "term/progress.h"
#include "term/suggest.h"

size_t cli_dump_stem(const char *name)
{
    static const char *const suffixes[] = { ".nettrace", ".netperf", ".etl",
                                            ".gclog",    ".gcdump",  ".dartheap" };
    size_t n = gcd_text_without(name, ".gz");
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (n > strlen(suffixes[i]) && gcd_bytes_end(name, n, suffixes[i]))
            return n - strlen(suffixes[i]);
    return n;
}

void cli_base_name(const char *path, char *ret, size_t cap)
{
    const char *base = strcmp(path, "-") != 0 ? cli_path_name(path) : "";
    size_t n = cli_dump_stem(base);
    (void)snprintf(ret, cap, "%.*s", (int)(n < cap ? n : cap - 1), base);
}

static struct gcd_graph_options graph_options(const struct cli_args *args,
                                              const struct gcd_input *in)
{
    return (struct gcd_graph_options){ .context = cli_context(args, "building the graph"),
                                       .keep_unknown = args->output.keep_unknown,
                                       .progress_total = gcd_input_size(in) };
}

enum cli_exit cli_make_graph(const struct cli_args *args, enum cli_need need, struct cli_dump *d)
{
    struct gcd_error err = GCD_ERROR_INIT;
    if (d->graph != NULL)
        return CLI_DONE;
    enum cli_exit e = cli_memory_plan(args, d, need);
    if (e != CLI_DONE)
        return e;
    struct gcd_graph_options options = graph_options(args, d->input);
    if (gcd_graph_from_dump(d->dump, &options, &d->graph, &err) != GCD_OK)
        return cli_fail(d->subject, &err);
    cli_progress_end();
    return CLI_DONE;
}

enum cli_exit cli_find_dominators(const struct cli_args *args, const struct cli_dump *d,
                                  const struct gcd_dominators **ret)
{
    struct gcd_context context = cli_context_steps(args, "finding dominators");
    struct gcd_error err = GCD_ERROR_INIT;
    if (gcd_session_dominators(d->session, &context, ret, &err) != GCD_OK)
        return cli_fail(d->subject, &err);
    cli_progress_end();
    return CLI_DONE;
}

static bool begins(const uint8_t *bytes, size_t n, const char *with, size_t k)
{
    return n >= k && memcmp(bytes, with, k) == 0;
}

/* How files begin that have to be unpacked first, and those that hold no heap that we can read. */
static const struct other_file {
    const char *magic;
    size_t n;
    const char *said;
} other_files[] = {
    { "\x28\xb5\x2f\xfd", 4,
      "is compressed with zstd: zstd -dc FILE | gcdumpc COMMAND - reads it" },
    { "\x04\x22\x4d\x18", 4, "is compressed with lz4: lz4 -dc FILE | gcdumpc COMMAND - reads it" },
    { "\xfd"
      "7zXZ\0",
      6, "is compressed with xz: xz -dc FILE | gcdumpc COMMAND - reads it" },
    { "BZh", 3, "is compressed with bzip2: bzip2 -dc FILE | gcdumpc COMMAND - reads it" },
    { "MDMP", 4, "is a memory dump of Windows; of memory, only core files of Linux can be read" },
    { "\x7f"
      "ELF",
      4, "is a program or a library, not a core file" },
};

/* What is known of the file that begins with HEAD[N]; NULL: nothing. */
static const char *find_other_file(const uint8_t *head, size_t n)
{
    for (size_t i = 0; i < sizeof other_files / sizeof *other_files; i++)
        if (begins(head, n, other_files[i].magic, other_files[i].n))
            return other_files[i].said;
    return NULL;
}

/* What a transfer as text did to the file that begins with HEAD[N], and the remedy; NULL: nothing
 * known. */
static const char *find_text_damage(struct gcd_input *in, const uint8_t *head, size_t n)
{
    static const char magic[] = "\x14\0\0\0!FastSerialization";
    struct gcd_reader *r;
    const uint8_t *p;
    size_t got;
    if (begins(head, n, "\xff\xfe", 2) || begins(head, n, "\xfe\xff", 2) ||
        begins(head, n, "\xef\xbb\xbf", 3))
        return "is text in Unicode: the > of PowerShell has changed it; make the file with -o, "
               "with > in cmd, or fetch it with kubectl cp";
    /* a recording, a .gcdump, a .dartheap, and gzip */
    if (begins(head, n, "TmV0dHJhY2", 10) || begins(head, n, "FAAAACFGYXN0", 12) ||
        begins(head, n, "ZGFydGhlYX", 10) || begins(head, n, "H4sI", 4))
        return "is encoded in base64; base64 -d FILE > COPY decodes it";
    if ((!begins(head, n, "Nettrace", 8) && !begins(head, n, "dartheap", 8) &&
         !begins(head, n, magic, sizeof magic - 1)) ||
        gcd_reader_new(in, &r, NULL) != GCD_OK)
        return NULL;
    bool lines = gcd_reader_next(r, &p, &got, NULL) == GCD_OK && gcd_has_text_lines(p, got);
    gcd_reader_free(r);
    return lines ? "was changed on the way: " GCD_TEXT_LINES_REMEDY : NULL;
}

static enum cli_exit cannot_read(const struct cli_dump *d, const uint8_t *head, size_t n,
                                 gcd_status st, const struct gcd_error *err)
{
    const char *damage = st != GCD_E_CANCELED && st != GCD_E_IO && st != GCD_E_NOMEM
                             ? find_text_damage(d->input, head, n)
                             : NULL;
    if (damage != NULL)
        return cli_error(CLI_FAILED, d->subject, "%s", damage);
    if (st != GCD_E_UNSUPPORTED || err->off != 0)
        return cli_fail(d->subject, err);
    const char *other = find_other_file(head, n);
    if (other != NULL)
        return cli_error(CLI_FAILED, d->subject, "%s", other);
    return cli_error(CLI_FAILED, d->subject,
                     "is neither a recording (.nettrace, .etl) nor a core file, nor a dump in "
                     ".gclog, .gcdump or "
                     ".dartheap; other formats are written only, and summaries of dumps are for "
                     "gcdumpc trend");
}

/* Opens a file that is a graph already.  It is read several times, even from a pipe. */
static enum cli_exit open_graph(const struct cli_args *args,
                                const struct gcd_input_options *input_options, const uint8_t *head,
                                size_t n, struct cli_dump *ret)
{
    struct gcd_error err = GCD_ERROR_INIT;
    if (args->dump.walk > 1 || args->dump.process != 0 || args->dump.process_name != NULL)
        return cli_error(
            CLI_FAILED, ret->subject,
            "contains only one dump; --walk and --process are for recordings with several");
    enum cli_exit e = cli_memory_plan(args, ret, CLI_NEED_GRAPH);
    if (e != CLI_DONE)
        return e;
    struct gcd_graph_options options = graph_options(args, ret->input);
    gcd_status st = gcd_input_keep(ret->input, input_options, &err);
    if (st == GCD_OK)
        st = gcd_graph_read(ret->input, &options, &ret->graph, &err);
    return st == GCD_OK ? CLI_DONE : cannot_read(ret, head, n, st, &err);
}

/* Reports a missing file: its name is misspelled, or it is still to be recorded. */
static enum cli_exit no_input(const char *path, const struct gcd_error *err)
{
    if (err->reason != GCD_ERROR_NO_FILE)
        return cli_fail(path, err);
    char *near = cli_nearest_file(path);
    enum cli_exit e =
        near != NULL
            ? cli_error(CLI_FAILED, path, "%s (did you mean \"%s\"?)", err->msg, near)
            : cli_error(CLI_FAILED, path, "%s; gcdumpc --pid N -o FILE.nettrace records a process",
                        err->msg);
    free(near);
    return e;
}

enum cli_exit cli_open_input(const struct cli_args *args, const struct gcd_input_options *options,
                             struct gcd_input **ret)
{
    struct gcd_input *parts[1 + CLI_MORE_INPUTS];
    struct gcd_error err = GCD_ERROR_INIT;
    size_t n = 0;
    gcd_status st = GCD_OK;
    const char *subject = cli_input_name(args);
    for (; n <= args->more_count && st == GCD_OK; n += st == GCD_OK) {
        subject = n == 0 ? cli_input_name(args) : args->more[n - 1];
        if (strcmp(n == 0 ? args->input : subject, "-") == 0 && isatty(STDIN_FILENO) &&
            !args->quiet)
            cli_say(NULL, "waiting for a dump on standard input, which is the terminal (Ctrl-C "
                          "ends)");
        st = gcd_input_open(n == 0 ? args->input : subject, options, &parts[n], &err);
    }
    if (st == GCD_OK && n == 1) {
        *ret = parts[0];
        return CLI_DONE;
    }
    if (st == GCD_OK)
        st = gcd_input_join(parts, n, options, ret, &err);
    for (size_t i = 0; i < n && st != GCD_OK; i++)
        gcd_input_free(parts[i]);
    return st == GCD_OK ? CLI_DONE : no_input(subject, &err);
}

static enum cli_exit no_dead_objects(const char *subject)
{
    return cli_error(CLI_USAGE, subject,
                     "is no core file, so it has no dead objects (--with-dead): the runtime sends "
                     "only what its roots reach");
}

enum cli_exit cli_open_file(const struct cli_args *args, const struct gcd_dump_options *options,
                            const struct cli_reading *how, struct cli_dump *ret)
{
    ret->subject = cli_input_name(args);
    cli_base_name(args->input, ret->name, sizeof ret->name);
    struct gcd_input_options input_options = { .context = cli_context(args, NULL),
                                               .reread = how->reread,
                                               .spool_dir = how->spool,
                                               .most_bytes = args->live.max_bytes };
    enum gcd_values_kind values = cli_values_wanted(args);
    if (values == GCD_VALUES_NONE && how->equal)
        values = GCD_VALUES_HASHES;
    struct gcd_image_options image = {
        .with_dead = args->dump.with_dead,
        .files = how->files,
        .values = { .kind = values, .max_string = (uint32_t)args->dump.max_string },
        .map = !args->dump.unmapped,
    };
    struct gcd_error err = GCD_ERROR_INIT;
    const char *graph_format = NULL;
    enum cli_exit opened = cli_open_input(args, &input_options, &ret->input);
    if (opened != CLI_DONE)
        return opened;
    const char *const outputs[] = { args->output.path, args->output.summary };
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        const char *output =
            outputs[i] != NULL && strcmp(outputs[i], "-") == 0 ? "/dev/stdout" : outputs[i];
        if (output != NULL && gcd_input_is_file(ret->input, output))
            return cli_error(CLI_USAGE, ret->subject,
                             "is the input and the output; choose another name for %s",
                             i == 0 ? "-o" : "--summary");
    }
    uint8_t head[32];
    size_t n = 0;
    gcd_status st = gcd_graph_probe(ret->input, &graph_format, &err);
    if (st == GCD_OK)
        st = gcd_input_set_image(ret->input, &image, &err);
    if (st == GCD_OK)
        st = gcd_input_peek(ret->input, head, sizeof head, &n, &err);
    if (st == GCD_OK && graph_format != NULL && args->more_count > 0)
        return cli_error(
            CLI_FAILED, ret->subject,
            "only .etl recordings can have several files; give one, or compare with gcdumpc diff "
            "or trend");
    if (st == GCD_OK && graph_format != NULL && args->dump.with_dead)
        return no_dead_objects(ret->subject);
    if (st == GCD_OK && graph_format != NULL)
        return open_graph(args, &input_options, head, n, ret);
    if (st == GCD_OK)
        st = gcd_dump_open(ret->input, options, &ret->dump, &err);
    if (args->dump.with_dead && st == GCD_OK &&
        !gcd_trace_is_image(&gcd_dump_summary(ret->dump)->trace))
        return no_dead_objects(ret->subject);
    return st == GCD_OK ? CLI_DONE : cannot_read(ret, head, n, st, &err);
}

/* ---- names ---- */

/* Does PATTERN end with a load number, "#2]"? */
static bool has_number(const char *pattern)
{
    const char *s = pattern != NULL ? strrchr(pattern, '#') : NULL;
    size_t n = s != NULL ? strspn(s + 1, "0123456789") : 0;
    return n > 0 && s[1 + n] == ']';
}

bool cli_separates_loads(const struct cli_args *args)
{
    bool separate =
        args->view.separate_loads || has_number(args->view.filter) || has_number(args->view.type);
    for (size_t i = 0; i < CLI_THRESHOLDS_MAX && args->view.fail_if[i] != NULL; i++)
        separate = separate || has_number(args->view.fail_if[i]);
    return separate;
}

enum cli_exit cli_names_of(const struct cli_args *args, const struct cli_dump *d,
                           enum gcd_name_style def, struct gcd_names **ret)
{
    enum gcd_name_style style = args->view.names == CLI_NAMES_CSHARP ? GCD_NAMES_CSHARP
                                : args->view.names == CLI_NAMES_RAW  ? GCD_NAMES_RAW
                                                                     : def;
    struct gcd_error err = GCD_ERROR_INIT;
    if (style == GCD_NAMES_CSHARP && cli_separates_loads(args))
        style = GCD_NAMES_SEPARATE_LOADS;
    gcd_status st = gcd_names_new(cli_type_summary(d), style, cli_alloc(), ret, &err);
    return st == GCD_OK ? CLI_DONE : cli_fail(d->subject, &err);
}

enum cli_exit cli_name_types(const struct cli_args *args, struct cli_dump *d)
{
    return cli_names_of(args, d, GCD_NAMES_CSHARP, &d->names);
}

enum cli_exit cli_read_sites(const struct cli_args *args, const struct cli_dump *d,
                             struct gcd_sites **ret)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_context context = cli_context(args, "reading sites");
    *ret = NULL;
    if (d->dump == NULL || d->input == NULL || !cli_summary(d)->has_sites ||
        gcd_sites_read(d->input, cli_summary(d), &context, ret, &err) == GCD_OK)
        return CLI_DONE;
    if (err.code == GCD_E_NOMEM || err.code == GCD_E_CANCELED)
        return cli_fail(d->subject, &err);
    cli_say(d->subject, "%s", err.msg);
    return CLI_DONE;
}
