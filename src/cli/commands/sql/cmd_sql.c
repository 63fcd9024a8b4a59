#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gcdumpc/gcdumpc.h>

#include "commands/commands.h"
#include "commands/open_dump.h"
#include "commands/sql/sql_command.h"
#include "input/fail.h"
#include "input/memory.h"
#include "signals.h"
#include "term/message.h"
#include "term/progress.h"

/* More than SQLite accepts. */
#define STATEMENTS_MAX (UINT32_C(16) << 20)

/* For the line that is shown with a caret: most columns before the caret, and in all. */
#define CARET_COLUMNS 60u
#define LINE_COLUMNS  100u

/* ---- errors ---- */

/* The number of characters in S[N]. */
static size_t columns_of(const char *s, size_t n)
{
    size_t columns = 0;
    for (size_t i = 0, step; i < n; i += step, columns++)
        for (step = 1; i + step < n && ((unsigned char)s[i + step] & 0xc0) == 0x80; step++)
            ;
    return columns;
}

/* Prints the line of TEXT around byte AT, with a caret below it. */
static void show_place(const char *text, size_t at)
{
    size_t begin = at, end = at + strcspn(text + at, "\r\n");
    while (begin > 0 && text[begin - 1] != '\n' && text[begin - 1] != '\r')
        begin--;
    size_t before = columns_of(text + begin, at - begin);
    for (; before > CARET_COLUMNS; before--) /* skip the beginning of a long line */
        for (begin++; ((unsigned char)text[begin] & 0xc0) == 0x80; begin++)
            ;
    while (columns_of(text + begin, end - begin) > LINE_COLUMNS)
        end--;
    cli_say_more("    %.*s", (int)(end - begin), text + begin);
    cli_say_more("    %*s^", (int)before, "");
}

/* Reports what is wrong with TEXT: the line, with a caret below the place. */
static enum cli_exit report_error(const char *subject, const char *text,
                                  const struct gcd_error *err)
{
    if (err->code != GCD_E_ARG)
        return cli_fail(subject, err);
    enum cli_exit e = cli_error(CLI_USAGE, subject, "%s", err->msg);
    if (err->off != GCD_OFF_NONE && err->off <= strlen(text))
        show_place(text, (size_t)err->off);
    return e;
}

/* ---- running ---- */

static enum cli_exit run_query(const struct sql_shell *s, struct gcd_sql_query *q)
{
    cli_deadline(cli_is_live(s->args) ? 0 : s->args->live.timeout_s);
    enum cli_exit e = sql_print(s, q);
    cli_deadline(0);
    return e;
}

enum cli_exit sql_run(const struct sql_shell *s, const char *text)
{
    struct gcd_context call = cli_context_steps(s->args, "answering");
    const char *at = text;
    enum cli_exit e = CLI_DONE;
    while (e == CLI_DONE) {
        struct gcd_error err = GCD_ERROR_INIT;
        struct gcd_sql_query *q;
        const char *begin = at;
        gcd_status st = gcd_sql_prepare(s->db, &call, &at, &q, &err);
        if (st == GCD_END)
            break;
        if (st != GCD_OK)
            return report_error(s->d.subject, begin, &err);
        e = run_query(s, q);
        gcd_sql_query_free(q);
    }
    return e;
}

/* ---- where statements come from ---- */

/* The content of FROM as a string, to be freed. */
static enum cli_exit read_all(FILE *from, const char *name, char **ret)
{
    size_t n = 0, room = 0;
    char *text = NULL;
    do {
        if (n + 1 >= room) {
            room = room > 0 ? 2 * room : 4096;
            char *more = realloc(text, room);
            if (more == NULL || room > STATEMENTS_MAX) {
                free(more != NULL ? more : text);
                return more == NULL ? cli_no_memory(name)
                                    : cli_error(CLI_FAILED, name,
                                                "larger than 16 MiB, too large for statements");
            }
            text = more;
        }
        n += fread(text + n, 1, room - n - 1, from);
    } while (!feof(from) && !ferror(from));
    text[n] = '\0';
    *ret = text;
    if (!ferror(from) && memchr(text, '\0', n) == NULL)
        return CLI_DONE;
    free(text);
    *ret = NULL;
    return cli_error(CLI_FAILED, name, "%s",
                     ferror(from) ? strerror(errno) : "is not text: it contains a zero byte");
}

/* The statements; *RET NULL: read them from the terminal. */
static enum cli_exit statements_of(const struct cli_args *args, char **ret)
{
    const char *path = args->view.sql_file;
    *ret = NULL;
    if (args->view.sql != NULL) {
        *ret = strdup(args->view.sql);
        return *ret != NULL ? CLI_DONE : cli_no_memory(NULL);
    }
    bool heap = args->input != NULL && strcmp(args->input, "-") == 0;
    if (path == NULL && heap)
        return cli_error(CLI_USAGE, NULL,
                         "standard input is the heap; give a statement, or --file");
    if (path == NULL && isatty(STDIN_FILENO))
        return CLI_DONE;
    if (path == NULL || strcmp(path, "-") == 0)
        return read_all(stdin, "standard input", ret);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return cli_error(CLI_FAILED, path, "%s", strerror(errno));
    enum cli_exit e = read_all(f, path, ret);
    (void)fclose(f);
    return e;
}

/* Checks TEXT before a heap is read or a process disturbed. */
static enum cli_exit check(const struct cli_args *args, const char *text)
{
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st = gcd_sql_check(text != NULL ? text : "", &err);
    if (st == GCD_E_UNSUPPORTED)
        return cli_error(
            CLI_FAILED, NULL,
            "this build has no SQLite, so there is no sql; report, retained and paths need none");
    return st == GCD_OK ? CLI_DONE : report_error(args->view.sql_file, text, &err);
}

static enum cli_exit open_shell(const struct cli_args *args, struct sql_shell *s)
{
    struct gcd_error err = GCD_ERROR_INIT;
    s->input = *args;
    /* keep types as recorded, as the format sqlite does; several may share a name */
    s->input.view.separate_loads = true;
    enum cli_exit e = cli_open(&s->input, CLI_NEED_RETAINED, &s->d);
    if (e == CLI_DONE)
        e = cli_make_session(args, &s->d);
    struct gcd_sql_options options = { .context = cli_context(args, NULL), .name = s->d.name };
    if (e == CLI_DONE && gcd_sql_new(s->d.session, &options, &s->db, &err) != GCD_OK)
        e = cli_fail(s->d.subject, &err);
    cli_progress_end();
    return e;
}

enum cli_exit cmd_sql(const struct cli_args *args)
{
    struct sql_shell s = { .args = args,
                           .mode = args->view.json  ? SQL_JSON
                                   : args->view.csv ? SQL_CSV
                                                    : SQL_TABLE };
    char *text;
    cli_memory_for_sql();
    enum cli_exit e = statements_of(args, &text);
    if (e == CLI_DONE && !sql_is_command(text))
        e = check(args, text);
    if (e == CLI_DONE && sql_is_command(text)) { /* which needs no heap */
        e = sql_command(&s, text);
    } else if (e == CLI_DONE) {
        e = open_shell(args, &s);
        if (e == CLI_DONE)
            e = cli_finish(args, &s.d, text != NULL ? sql_run(&s, text) : sql_prompt(&s), 0);
        gcd_sql_free(s.db);
        cli_close(&s.d);
    }
    free(text);
    return e;
}
