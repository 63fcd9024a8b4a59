/* A view as a text file: all lines, numbers with all digits, names not cut. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "browse/opening.h"
#include "output/output.h"
#include "signals.h"
#include "term/message.h"
#include "term/term.h"

/* Bytes handed to the sink at once. */
#define PIECE_BYTES    65536
#define NUMBER_COLUMNS 15

static void put_number(FILE *to, bool has, uint64_t n)
{
    if (has)
        fprintf(to, "%*" PRIu64 "  ", NUMBER_COLUMNS, n);
    else
        fprintf(to, "%*s  ", NUMBER_COLUMNS, "");
}

static void put_item(FILE *to, const struct browse_section *s, const struct browse_line *line)
{
    for (size_t i = 0; i < BROWSE_NUMBERS; i++)
        if (s->heads[i] != NULL)
            put_number(to, line->has[i], line->numbers[i]);
    if (!s->hidden_share && s->heads[0] != NULL) {
        if (line->whole > 0)
            fprintf(to, "%6.2f %%  ", 100.0 * (double)line->part / (double)line->whole);
        else
            fprintf(to, "%10s", "");
    }
    fprintf(to, "%*s", (int)(2 * line->indent), "");
}

static void put_heads(FILE *to, const struct browse_section *s)
{
    for (size_t i = 0; i < BROWSE_NUMBERS; i++)
        if (s->heads[i] != NULL)
            fprintf(to, "%*s  ", NUMBER_COLUMNS, s->heads[i]);
    if (!s->hidden_share && s->heads[0] != NULL)
        fprintf(to, "%8s  ", "Share");
    fprintf(to, "%s\n", s->what);
}

static void put_line(FILE *to, const struct browse_view *v, uint64_t i)
{
    uint64_t in;
    struct browse_line line;
    const struct browse_section *s = browse_section_at(v, i, &in);
    browse_line_at(v, i, &line);
    if (s->line != NULL && in == 0)
        put_heads(to, s);
    if (line.style == STYLE_ITEM)
        put_item(to, s, &line);
    (void)cli_print_bytes(to, line.name, line.name_bytes);
    cli_print_sanitized(to, line.tail);
    cli_print_sanitized(to, line.more != NULL ? line.more : "");
    putc('\n', to);
}

/* Writes first what the reader of the file must know. */
static void put_top(FILE *to, const struct browse_view *v)
{
    const struct gcd_verdict *verdict = &v->model->summary->verdict;
    cli_print_sanitized(to, v->model->dump->subject);
    fputs(": ", to);
    cli_print_sanitized(to, v->title);
    putc('\n', to);
    for (size_t i = 0; i < verdict->reason_count; i++) {
        fputs(i == 0 ? "INCOMPLETE: " : "; ", to);
        cli_print_sanitized(to, verdict->reasons[i].text);
    }
    fputs(verdict->reason_count > 0 ? "\n\n" : "\n", to);
}

static gcd_status put_all(const struct browse_view *v, struct gcd_sink *sink,
                          const struct gcd_context *call, struct gcd_error *err)
{
    char *piece = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&piece, &size);
    gcd_status st = f != NULL ? GCD_OK : browse_no_memory(err);
    uint64_t n = browse_lines(v);
    if (st == GCD_OK)
        put_top(f, v);
    for (uint64_t i = 0; i < n && st == GCD_OK; i++) {
        put_line(f, v, i);
        if (ftello(f) < PIECE_BYTES && i + 1 < n)
            continue;
        if (fflush(f) != 0)
            st = browse_no_memory(err);
        if (st == GCD_OK)
            gcd_sink_write(sink, piece, (size_t)ftello(f));
        rewind(f);
        if (st == GCD_OK)
            st = gcd_sink_status(sink, err);
        if (st == GCD_OK)
            st = browse_step(call, i, n, err);
    }
    if (f != NULL)
        (void)fclose(f);
    free(piece);
    return st;
}

gcd_status browse_write(const struct browse_view *v, const char *path,
                        const struct gcd_context *call, struct gcd_error *err)
{
    struct gcd_sink *sink = NULL;
    struct gcd_sink_options options = { .context = { .alloc = call != NULL ? call->alloc : NULL } };
    if (cli_sink_open(path, &options, CLI_SLOT_OUTPUT, &sink) != CLI_DONE)
        return browse_fail(err, GCD_E_IO, "%s", cli_last_said());
    gcd_status st = put_all(v, sink, call, err);
    if (st == GCD_OK)
        st = gcd_sink_commit(sink, err);
    gcd_sink_free(sink);
    cli_temporary(CLI_SLOT_OUTPUT, NULL);
    return st;
}
