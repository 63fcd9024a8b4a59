#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/text/plural.h>

#include "args.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/input.h"
#include "input/native_symbols.h"
#include "term/message.h"
#include "term/term.h"

void cli_say_dangling(const char *subject, uint64_t edges, uint64_t roots, bool at_least)
{
    const char *bound = at_least ? "at least " : "";
    if (edges > 0)
        cli_say(subject, "%s%s reference%s to addresses without an object", bound,
                GCD_DIGITS(edges), gcd_by_number(edges, " leads", "s lead"));
    if (roots > 0)
        cli_say(subject, "%s%s root%s addresses without an object", bound, GCD_DIGITS(roots),
                gcd_by_number(roots, " holds", "s hold"));
}

void cli_say_dropped(const char *subject, uint64_t objects)
{
    if (objects > 0)
        cli_say(subject, "%s object%s without an address %s dropped", GCD_DIGITS(objects),
                gcd_plural(objects), gcd_by_number(objects, "was", "were"));
}

void cli_say_pseudo_roots(const char *subject, uint32_t n)
{
    if (n > 0)
        cli_say(subject,
                "the dump has no roots; %" PRIu32
                " object%s that nothing else refers to %s, so the results are a guess",
                n, gcd_plural(n),
                gcd_by_number(n, "serves as pseudo-root", "serve as pseudo-roots"));
}

/* Reports what does not fit into the graph. */
static void warn_graph(const char *subject, const struct gcd_graph_notes *n)
{
    cli_say_dangling(subject, n->edges_dangling, n->roots_dangling, false);
    if (n->dependents_dropped > 0)
        cli_say(subject, "%s dependent handle%s key or value is not an object",
                GCD_DIGITS(n->dependents_dropped),
                gcd_by_number(n->dependents_dropped, " was dropped: its", "s were dropped: their"));
    cli_say_dropped(subject, n->objects_dropped);
    if (n->objects_doubled > 0)
        cli_say(subject, "%s object%s the address of another one", GCD_DIGITS(n->objects_doubled),
                gcd_by_number(n->objects_doubled, " has", "s have"));
}

static bool is_core3(const struct cli_dump *d)
{
    const struct gcd_summary *f = cli_summary(d);
    if (d->core3 || strcmp(f->runtime_version, "3") == 0 ||
        strncmp(f->runtime_version, "3.", 2) == 0)
        return true;
    for (size_t i = 0; i < f->module_count; i++)
        if (strstr(f->modules[i].path, "Microsoft.NETCore.App/3.") != NULL ||
            strstr(f->modules[i].path, "Microsoft.NETCore.App\\3.") != NULL)
            return true;
    return false;
}

#define HELP_BYTES 512

/* For a dump that lacks only names: the runtime describes a type once while anybody listens for
 * types. */
static const char *what_helps_with_names(const struct cli_dump *d, char buf[HELP_BYTES])
{
    const struct gcd_summary *s = cli_summary(d);
    for (size_t i = 0; i < s->module_count; i++)
        if (s->modules[i].native) {
            char symbols[CLI_SYMBOLS_BYTES];
            (void)snprintf(buf, HELP_BYTES, "; Native AOT sends none: %s",
                           cli_symbols_wanted(s, &s->modules[i], symbols));
            return buf;
        }
    if (s->image.made_from[0] != '\0')
        return "; its memory lacks the metadata of these types: give the folder with the program's "
               "assemblies as --modules DIR, or take a core dump of type 4 (full)";
    bool undescribed = cli_summary(d)->types_undescribed > 0;
    if (undescribed && is_core3(d))
        return "; a runtime of .NET Core 3 reports each type once: it has done so for an earlier "
               "dump or another tool; only a process that was "
               "started again has names again";
    if (d->live)
        return undescribed ? "; the process has reported them to another tool that is still "
                             "connected (dotnet-trace, a monitor): stop it, "
                             "then dump again"
                           : "; a program compiled ahead of time (Native AOT) sends none";
    return undescribed ? "; it was recorded without keyword 0x80000, or while another tool used it"
                       : "; it was recorded without keyword 0x1000000, or from a program that "
                         "sends none (Native AOT)";
}

/* Advice for the first reason: the others mostly follow from it. */
static const char *what_helps(const struct cli_dump *d, char buf[HELP_BYTES])
{
    const struct gcd_verdict *v = &cli_summary(d)->verdict;
    switch (v->reason_count > 0 ? v->reasons[0].code : GCD_REASON_COUNT) {
    case GCD_REASON_TYPES_UNDESCRIBED:
        return v->reason_count == 1 ? what_helps_with_names(d, buf) : "";
    case GCD_REASON_MEMORY_MISSING:
        return "; take another core dump, of type 2 (heap) or 4 (full)";
    case GCD_REASON_EVENTS_LOST:
        return d->live ? d->remedy
                       : "; record it again with a larger buffer, as gcdumpc --pid N does";
    case GCD_REASON_TRACE_TRUNCATED:
    case GCD_REASON_TRACE_DAMAGED:
    case GCD_REASON_INPUT_DAMAGED:
        return d->live ? "; dump it again"
                       : "; copy it again if the original is intact, or record it again";
    default:
        return "";
    }
}

static void say_which_dump(const struct cli_dump *d)
{
    const struct gcd_summary *f = cli_summary(d);
    if (f->dumps <= 1)
        return;
    if (d->live)
        cli_say(d->subject,
                "the heap was walked %u times, each with a pause: %s; this is walk number %u",
                f->dumps,
                f->dumps_forced > 1
                    ? "the program or another tool forces garbage collections"
                    : "the program's own garbage collections fell into the dump, and the runtime "
                      "walked the heap in them, too",
                f->walk_number);
    else
        cli_say(d->subject,
                "the recording holds %u heap dumps, this is number %u; --walk N chooses", f->dumps,
                f->walk_number);
}

struct lost {
    uint64_t n;
    const char *why;
};

static void add_lost(char buf[CLI_VALUES_BYTES], size_t n, const struct lost lost[3])
{
    for (size_t i = 0; i < 3; i++)
        if (lost[i].n > 0)
            n += (size_t)snprintf(buf + n, CLI_VALUES_BYTES - n, "; %s not: they %s",
                                  GCD_DIGITS(lost[i].n), lost[i].why);
}

#define MOVED    "may have been moved by a garbage collection"
#define NOT_READ "were not read in time, or could not be"

const char *cli_values_text(const struct gcd_values_facts *f, char buf[CLI_VALUES_BYTES])
{
    buf[0] = '\0';
    if (f->kind == GCD_VALUES_NONE)
        return buf;
    size_t n =
        (size_t)snprintf(buf, CLI_VALUES_BYTES, "%s of %s string%s%s",
                         f->kind == GCD_VALUES_HASHES ? "hashes" : "texts", GCD_DIGITS(f->objects),
                         gcd_plural(f->objects), f->after_ms == 0 ? " and arrays of numbers" : "");
    if (f->numbers > 0)
        n += (size_t)snprintf(buf + n, CLI_VALUES_BYTES - n, "; fields of %s object%s",
                              GCD_DIGITS(f->numbers), gcd_plural(f->numbers));
    if (f->after_ms > 0)
        n += (size_t)snprintf(buf + n, CLI_VALUES_BYTES - n, ", read %s ms after the walk",
                              GCD_DIGITS(f->after_ms));
    add_lost(buf, n,
             (const struct lost[]){ { f->collected, MOVED },
                                    { f->changed, "changed before they were read, or meanwhile" },
                                    { f->unread, NOT_READ } });
    return buf;
}

const char *cli_fields_text(const struct gcd_summary *s, char buf[CLI_VALUES_BYTES])
{
    const struct gcd_null_maps_facts *f = &s->null_maps;
    (void)snprintf(buf, CLI_VALUES_BYTES, "%s",
                   s->image.with_places ? "exact, as in each dump that is made of memory" : "");
    if (!f->known)
        return buf;
    size_t n = (size_t)snprintf(
        buf, CLI_VALUES_BYTES,
        "exact, also in %s object%s with null references, read %s ms after the walk",
        GCD_DIGITS(f->objects), gcd_plural(f->objects), GCD_DIGITS(f->after_ms));
    add_lost(buf, n,
             (const struct lost[]){ { f->collected, MOVED },
                                    { f->changed, "changed before they were read" },
                                    { f->unread, NOT_READ } });
    return buf;
}

enum cli_exit cli_judge(const struct cli_dump *d)
{
    return cli_summary(d)->verdict.complete ? CLI_DONE : CLI_INCOMPLETE;
}

void cli_say_verdict(const struct cli_dump *d, bool quiet)
{
    const struct gcd_summary *f = cli_summary(d);
    const struct gcd_verdict *v = &f->verdict;
    const char *subject = d->subject;
    if (!quiet)
        say_which_dump(d);
    if (!quiet && f->processes_ignored > 0)
        cli_say(subject,
                "the recording holds dumps of other processes, too; this is process %" PRIu64
                ", --process chooses",
                f->process);
    if (f->trace.trailing_bytes > 0)
        cli_say(subject, "%s bytes after the end of the recording are ignored",
                GCD_DIGITS(f->trace.trailing_bytes));
    if (d->graph != NULL)
        warn_graph(subject, gcd_graph_notes(d->graph));
    if (v->complete)
        return;
    char all[1500] = "";
    for (size_t i = 0; i < v->reason_count; i++) {
        size_t n = strlen(all);
        (void)snprintf(all + n, sizeof all - n, "%s%s", i == 0 ? "" : "; ", v->reasons[i].text);
    }
    char help[HELP_BYTES];
    cli_say(subject, "the dump is incomplete: %s%s", all, what_helps(d, help));
}

enum cli_exit cli_refuse(const char *subject)
{
    return cli_error(CLI_FAILED, subject, "refused by --strict: nothing is written or shown");
}

void cli_mark_incomplete(FILE *to, const char *subject, const struct gcd_verdict *v)
{
    if (v->complete)
        return;
    fputs("(INCOMPLETE dump: ", to);
    cli_print_sanitized(to, subject);
    fputs(")\n", to);
}
