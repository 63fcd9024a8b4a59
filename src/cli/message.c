#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static char last_said[2048];
static bool held;
static const char *place;

void cli_at(const char *where)
{
    place = where;
}

const char *cli_last_said(void)
{
    return last_said;
}

void cli_hold(bool hold)
{
    held = hold;
    if (hold)
        last_said[0] = '\0';
}

GCD_PRINTF(2, 0)
static void say(const char *subject, const char *fmt, va_list ap)
{
    (void)vsnprintf(last_said, sizeof last_said, fmt, ap);
    if (held)
        return;
    cli_progress_end();
    subject = subject != NULL ? subject : place;
    static char line[sizeof last_said + 4096 + 16];      /* with the longest path; there may be no memory any more */
    const char *shown = subject == NULL ? "" : subject[0] != '\0' ? subject : "\"\"";
    (void)snprintf(line, sizeof line, "gcdumpc: %s%s%s", shown, subject != NULL ? ": " : "", last_said);
    cli_print_wrapped(stderr, line, 0, 9);
}

void cli_say(const char *subject, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(subject, fmt, ap);
    va_end(ap);
}

void cli_say_more(const char *fmt, ...)
{
    char *line = NULL;
    va_list ap;
    va_start(ap, fmt);
    if (!held && vasprintf(&line, fmt, ap) >= 0) {
        cli_print_sanitized(stderr, line);
        putc('\n', stderr);
        free(line);
    }
    va_end(ap);
}

/* What can be done about it, where that follows from the kind of error alone. */
static const char *what_next(const struct gcd_error *err, char memory[CLI_MEMORY_HINT_BYTES])
{
    static const struct {
        int os_errno;
        const char *text;
    } steps[] = {
        { EACCES, "; run gcdumpc as the owner or as root, or choose another place" },
        { EPERM, "; run gcdumpc as the owner, or as root" },
        { ENOSPC, "; make room, or write to another disk (TMPDIR moves temporary files)" },
        { EDQUOT, "; make room, or write to another disk (TMPDIR moves temporary files)" },
        { EFBIG, "; a limit of the shell (ulimit -f) or of the file system is too small" },
        { EMFILE, "; raise the limit of open files (ulimit -n)" },
    };
    if (err->code == GCD_E_LIMIT && strstr(err->msg, "block") != NULL)
        return "; --max-block raises it";
    if (err->os_errno == ENOSPC && strstr(err->msg, "stay free") != NULL)
        return "; make room, write to another disk (TMPDIR moves temporary files), or insist with --force";
    if (err->code == GCD_E_LIMIT && strstr(err->msg, "objects are allowed") != NULL)
        return "; --max-objects raises it";
    if (err->code == GCD_E_NOMEM && cli_memory_hint(memory)[0] != '\0')
        return memory;
    if (err->code == GCD_E_NOT_FOUND && strstr(err->msg, "heap dump of") != NULL)
        return "; gcdumpc info lists those that are there";
    if (err->code == GCD_E_NOT_FOUND && strstr(err->msg, "was asked for") != NULL)
        return "; choose with --walk";
    if (err->code == GCD_E_TRUNCATED && err->off == 0)
        return "; record it again";
    if (err->code == GCD_E_NOMEM)
        return "; info, report without --retained and gclog need little of it";
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (err->os_errno == steps[i].os_errno)
            return steps[i].text;
    if (err->os_errno == ENOENT && strncmp(err->msg, "cannot create", 13) == 0)
        return "; make that folder first, or name another";
    return "";
}

enum cli_exit cli_fail(const char *subject, const struct gcd_error *err)
{
    if (err->code == GCD_E_CANCELED && atomic_load(&cli_timed_out)) {
        cli_say(subject, "the time is up (--timeout)");
        return CLI_FAILED;
    }
    if (err->code == GCD_E_CANCELED) {
        cli_say(subject, "interrupted");
        return CLI_INTERRUPTED;
    }
    char memory[CLI_MEMORY_HINT_BYTES];
    const char *hint = what_next(err, memory);
    if (err->code == GCD_E_NOMEM && cli_memory_problem() != NULL)
        cli_say(subject, "%s: %s", err->msg, cli_memory_problem());
    else if (err->off != GCD_OFF_NONE)
        cli_say(subject, "%s (at byte %" PRIu64 ")%s", err->msg, err->off, hint);
    else
        cli_say(subject, "%s%s", err->msg[0] != '\0' ? err->msg : gcd_status_text(err->code), hint);
    return CLI_FAILED;
}

/* What did not fit into the graph. */
static void warn_graph(const char *subject, const struct gcd_graph_notes *n)
{
    if (n->edges_dangling > 0)
        cli_say(subject, "%" PRIu64 " references lead to addresses where no object is", n->edges_dangling);
    if (n->roots_dangling > 0)
        cli_say(subject, "%" PRIu64 " roots hold addresses where no object is", n->roots_dangling);
    if (n->dependents_dropped > 0)
        cli_say(subject, "%" PRIu64 " dependent handles were dropped: their key or value is no object", n->dependents_dropped);
    if (n->objects_dropped > 0)
        cli_say(subject, "%" PRIu64 " objects without an address were dropped", n->objects_dropped);
    if (n->objects_doubled > 0)
        cli_say(subject, "%" PRIu64 " objects lie where another one is", n->objects_doubled);
}

/* Nothing was lost, only names lack: the runtime describes a type once as long as anybody listens for types. */
static const char *what_helps_with_names(const struct cli_dump *d)
{
    bool undescribed = cli_facts(d)->types_undescribed > 0;
    if (d->live)
        return undescribed ? "; the process has described them to another tool that still listens (dotnet-trace, a monitor): stop that, "
                             "then dump again"
                           : "; a program that was compiled ahead of time (Native AOT) sends none";
    return undescribed ? "; it was recorded without keyword 0x80000, or while another tool had that"
                       : "; it was recorded without keyword 0x1000000, or of a program that sends none (Native AOT)";
}

/* By the first reason: the others mostly follow from it. */
static const char *what_helps(const struct cli_dump *d)
{
    const struct gcd_verdict *v = cli_verdict_of(d);
    switch (v->reason_count > 0 ? v->reasons[0].code : GCD_REASON_COUNT) {
    case GCD_REASON_TYPES_UNDESCRIBED:
        return v->reason_count == 1 ? what_helps_with_names(d) : "";
    case GCD_REASON_EVENTS_LOST:
        return d->live ? "; dump it again with a larger --buffer" : "; record it again with a larger buffer, as gcdumpc --pid N does";
    case GCD_REASON_TRACE_TRUNCATED:
    case GCD_REASON_TRACE_DAMAGED:
    case GCD_REASON_INPUT_DAMAGED:
        return d->live ? "; dump it again" : "; copy it again if the original is whole, or record it again";
    default:
        return "";
    }
}

static void say_which_dump(const struct cli_dump *d)
{
    const struct gcd_dump_facts *f = cli_facts(d);
    if (f->dumps <= 1)
        return;
    if (d->live)
        cli_say(d->subject, "the heap was walked %u times, a pause each: the program, or another tool, forces garbage collections itself; "
                "this is walk number %u", f->dumps, f->walk_number);
    else
        cli_say(d->subject, "the recording holds %u heap dumps, this is number %u; --walk N chooses", f->dumps, f->walk_number);
}

enum cli_exit cli_verdict(const struct cli_dump *d, bool quiet)
{
    const struct gcd_dump_facts *f = cli_facts(d);
    const struct gcd_verdict *v = cli_verdict_of(d);
    const char *subject = d->subject;
    if (!quiet)
        say_which_dump(d);
    if (!quiet && f->processes_ignored > 0)
        cli_say(subject, "the recording holds dumps of other processes, too; this is process %" PRIu64 ", --process chooses", f->process);
    if (f->trace.trailing_bytes > 0)
        cli_say(subject, "%" PRIu64 " bytes after the end of the recording are ignored", f->trace.trailing_bytes);
    if (d->graph != NULL)
        warn_graph(subject, gcd_graph_notes(d->graph));
    if (v->complete)
        return CLI_DONE;
    char all[1500] = "";
    for (size_t i = 0; i < v->reason_count; i++) {
        size_t n = strlen(all);
        (void)snprintf(all + n, sizeof all - n, "%s%s", i == 0 ? "" : "; ", v->reasons[i].text);
    }
    cli_say(subject, "the dump is incomplete: %s%s", all, what_helps(d));
    return CLI_INCOMPLETE;
}

enum cli_exit cli_refuse(const char *subject)
{
    cli_say(subject, "refused, nothing is written or shown (--strict)");
    return CLI_FAILED;
}

void cli_mark_incomplete(FILE *to, const char *subject, const struct gcd_verdict *v)
{
    if (v->complete)
        return;
    fputs("(INCOMPLETE dump: ", to);
    cli_print_sanitized(to, subject);
    fputs(")\n", to);
}

const char *cli_input_name(const struct cli_args *args)
{
    return args->input == NULL ? "" : strcmp(args->input, "-") == 0 ? "standard input" : args->input;
}
