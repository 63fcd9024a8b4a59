/* Reads statements line by line from a terminal, each up to its semicolon. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>

#include "commands/sql/sql_command.h"
#include "input/fail.h"
#include "output/output.h"
#include "signals.h"
#include "term/message.h"
#include "term/term.h"

/* The statement so far. */
struct statement {
    char *text;
    size_t bytes, room;
};

static bool append(struct statement *st, const char *line)
{
    size_t n = strlen(line);
    if (st->bytes + n + 2 > st->room) {
        size_t room = 2 * (st->bytes + n + 2);
        char *text = realloc(st->text, room);
        if (text == NULL)
            return false;
        st->text = text;
        st->room = room;
    }
    memcpy(st->text + st->bytes, line, n);
    st->bytes += n;
    memcpy(st->text + st->bytes, "\n", 2);
    st->bytes++;
    return true;
}

/* ---- commands of the prompt ---- */

static void print_tables(void)
{
    struct gcd_sql_table t;
    for (size_t i = 0; gcd_sql_table_at(i, &t); i++) {
        int column = printf("  %-22s  ", t.name);
        cli_print_wrapped(stdout, t.about, column > 0 ? (size_t)column : 0, 26);
    }
}

/* Prints the schema of table NAME; "" = of all tables. */
static void print_schema(const char *name)
{
    struct gcd_sql_table t;
    bool any = false;
    for (size_t i = 0; gcd_sql_table_at(i, &t); i++) {
        size_t n = strcspn(t.name, "(");
        if (name[0] != '\0' && (strlen(name) != n || memcmp(name, t.name, n) != 0))
            continue;
        any = true;
        if (t.columns[0] == '\0') {
            printf("%s\n", t.name);
            continue;
        }
        printf("%s:\n    ", t.name);
        cli_print_wrapped(stdout, t.columns, 4, 4);
    }
    if (!any)
        printf("there is no table \"%s\"; .tables lists them\n", name);
}

static void print_prompt_help(void)
{
    cli_print_prose(
        stdout,
        "A statement ends with a semicolon and can take several lines; Ctrl-C ends one that runs.\n"
        "  .tables           tables, views and functions\n"
        "  .schema [TABLE]   their columns\n"
        "  .mode MODE        how rows are shown: table, json or csv\n"
        "  .quit             ends, like Ctrl-D\n"
        "For example: SELECT type, count(*) FROM objects GROUP BY type ORDER BY 2 DESC LIMIT 10;\n"
        "gcdumpc-sql(1) has more.\n");
}

/* Runs the command in LINE, which begins with a dot.  False: quit.  *RET_KNOWN false: there is none
 * with that name, which has been said. */
static bool run_command(struct sql_shell *s, char *line, bool *ret_known)
{
    for (size_t n = strlen(line); n > 0 && (line[n - 1] == ' ' || line[n - 1] == ';'); n--)
        line[n - 1] = '\0';
    char *word = line + strcspn(line, " \t");
    if (*word != '\0')
        *word++ = '\0';
    word += strspn(word, " \t");
    *ret_known = true;
    if (strcmp(line, ".quit") == 0 || strcmp(line, ".exit") == 0)
        return false;
    if (strcmp(line, ".tables") == 0)
        print_tables();
    else if (strcmp(line, ".schema") == 0)
        print_schema(word);
    else if (strcmp(line, ".help") == 0)
        print_prompt_help();
    else if (strcmp(line, ".mode") == 0 &&
             (strcmp(word, "table") == 0 || strcmp(word, "json") == 0 || strcmp(word, "csv") == 0))
        s->mode = word[0] == 't' ? SQL_TABLE : word[0] == 'j' ? SQL_JSON : SQL_CSV;
    else {
        *ret_known = false;
        cli_say(NULL, "there is no command \"%s%s%s\"; .help lists them", line,
                word[0] != '\0' ? " " : "", word);
    }
    return true;
}

bool sql_is_command(const char *text)
{
    return text != NULL && text[0] == '.' && strpbrk(text, "\r\n") == NULL;
}

enum cli_exit sql_command(struct sql_shell *s, const char *text)
{
    bool known;
    char *line = strdup(text);
    if (line == NULL)
        return cli_no_memory(s->d.subject);
    (void)run_command(s, line, &known);
    free(line);
    return known ? CLI_DONE : CLI_FAILED;
}

/* ---- the loop ---- */

/* In the middle of a statement, too: none has such a line. */
static bool is_quit(const char *line)
{
    return (strncmp(line, ".quit", 5) == 0 || strncmp(line, ".exit", 5) == 0) &&
           line[5 + strspn(line + 5, " \t")] == '\0';
}

/* Handles LINE, which it may change.  False: quit. */
static bool take(struct sql_shell *s, struct sql_lines *lines, struct statement *st, char *line,
                 enum cli_exit *ret)
{
    bool known;
    if (line[0] == '.' && (st->bytes == 0 || is_quit(line)))
        return run_command(s, line, &known);
    if (st->bytes == 0 && line[strspn(line, " \t;")] == '\0')
        return true;
    if (!append(st, line)) {
        *ret = cli_no_memory(s->d.subject);
        return false;
    }
    if (!gcd_sql_is_complete(st->text))
        return true;
    st->text[st->bytes - 1] = '\0';
    sql_lines_remember(lines, st->text);
    (void)sql_run(s, st->text); /* errors have been reported */
    st->bytes = 0;
    *ret = cli_flush_stdout();
    cli_clear_cancel(); /* a canceled statement does not end the prompt */
    return *ret == CLI_DONE;
}

enum cli_exit sql_prompt(struct sql_shell *s)
{
    struct statement st = { .text = NULL };
    struct sql_lines *lines = sql_lines_open();
    enum cli_exit e = lines != NULL ? CLI_DONE : cli_no_memory(s->d.subject);
    bool more = lines != NULL;
    if (more && !s->args->quiet)
        puts("Statements end with a semicolon.  .help shows more, .quit or Ctrl-D ends.");
    while (more) {
        char *line = sql_lines_next(lines, st.bytes == 0 ? "sql> " : "...> ");
        if (line == NULL && atomic_load(&cli_canceled)) { /* Ctrl-C: drop the statement */
            putchar('\n');
            st.bytes = 0;
            cli_clear_cancel();
            continue;
        }
        more = line != NULL && take(s, lines, &st, line, &e);
        if (line == NULL)
            putchar('\n');
        free(line);
    }
    sql_lines_close(lines);
    free(st.text);
    return e;
}
