/* What the dump is, and what it lacks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/text/plural.h>

#include "browse/opening.h"
#include "term/term.h"

static void put(FILE *to, const char *label, const char *value)
{
    if (value[0] != '\0')
        fprintf(to, "%-12s %s\n", label, value);
}

static void put_verdict(FILE *to, const struct gcd_verdict *v)
{
    fprintf(to, "\n%s\n",
            !v->complete    ? "The dump is INCOMPLETE:"
            : v->unverified ? "The input does not say whether it is complete."
                            : "The dump is complete.");
    for (size_t i = 0; i < v->reason_count; i++)
        fprintf(to, "  %s\n", v->reasons[i].text);
}

static void put_facts(FILE *to, const struct browse_model *m)
{
    const struct gcd_summary *s = m->summary;
    char text[CLI_TIME_BYTES], n[CLI_NUMBER_BYTES];
    put(to, "input", m->dump->subject);
    put(to, "process", s->process_name);
    if (s->process != 0)
        fprintf(to, "%-12s %" PRIu64 "\n", "process id", s->process);
    put(to, "command line", s->command_line);
    put(to, "runtime", s->runtime_version);
    put(to, "recorded", cli_time(s->trace.start_unix_ms, text));
    put(to, "objects", cli_number(s->objects, true, n));
    put(to, "bytes", cli_size(s->bytes, n));
    put(to, "references", cli_number(s->edges, true, n));
    put(to, "types", cli_number(s->types_used, true, n));
    put(to, "roots", cli_number(s->root_count, true, n));
    if (m->dominators != NULL)
        put(to, "alive", cli_size(gcd_dominators_retained(m->dominators, GCD_NODE_ROOT), n));
    put_verdict(to, &s->verdict);
    if (m->dominators != NULL && gcd_dominators_pseudo_roots(m->dominators) > 0)
        fprintf(to,
                "\nThe dump has no roots; %s object%s that nothing else refers to %s, so sizes and "
                "paths are a guess.\n",
                cli_number(gcd_dominators_pseudo_roots(m->dominators), true, n),
                gcd_plural(gcd_dominators_pseudo_roots(m->dominators)),
                gcd_by_number(gcd_dominators_pseudo_roots(m->dominators), "serves as pseudo-root",
                              "serve as pseudo-roots"));
}

gcd_status browse_open_dump(struct browse_view *v, const struct gcd_context *call,
                            struct gcd_error *err)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    (void)call;
    if (f != NULL)
        put_facts(f, v->model);
    if (f == NULL || fclose(f) != 0) {
        free(text);
        text = NULL;
    }
    v->title = strdup("The dump");
    gcd_status st = browse_add_text(v, text, err);
    return st != GCD_OK || v->title != NULL ? st : browse_no_memory(err);
}
