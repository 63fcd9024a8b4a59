#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/sql/sql_command.h"

#ifdef GCDUMPC_HAVE_LIBEDIT

#include <histedit.h>

#define HISTORY_STATEMENTS 500

struct sql_lines {
    EditLine *edit;
    History *history;
    const char *prompt;
};

static char *prompt_of(EditLine *edit)
{
    struct sql_lines *l = NULL;
    (void)el_get(edit, EL_CLIENTDATA, &l);
    return (char *)(uintptr_t)l->prompt;
}

struct sql_lines *sql_lines_open(void)
{
    struct sql_lines *l = calloc(1, sizeof *l);
    HistEvent event;
    if (l == NULL)
        return NULL;
    (void)setlocale(LC_CTYPE, "");       /* the keys that are pressed are in the user's encoding */
    l->edit = el_init("gcdumpc", stdin, stdout, stderr);
    l->history = history_init();
    if (l->edit == NULL || l->history == NULL) {
        sql_lines_close(l);
        return NULL;
    }
    (void)history(l->history, &event, H_SETSIZE, HISTORY_STATEMENTS);
    (void)history(l->history, &event, H_SETUNIQUE, 1);
    (void)el_set(l->edit, EL_CLIENTDATA, l);
    (void)el_set(l->edit, EL_PROMPT, prompt_of);
    (void)el_set(l->edit, EL_EDITOR, "emacs");
    (void)el_set(l->edit, EL_HIST, history, l->history);
    (void)el_set(l->edit, EL_SIGNAL, 0); /* signals are ours */
    return l;
}

void sql_lines_close(struct sql_lines *l)
{
    if (l == NULL)
        return;
    if (l->history != NULL)
        history_end(l->history);
    if (l->edit != NULL)
        el_end(l->edit);
    free(l);
}

char *sql_lines_next(struct sql_lines *l, const char *prompt)
{
    int n = 0;
    l->prompt = prompt;
    const char *line = el_gets(l->edit, &n);
    if (line == NULL || n <= 0)
        return NULL;
    return strndup(line, strcspn(line, "\r\n"));
}

void sql_lines_remember(struct sql_lines *l, const char *statement)
{
    HistEvent event;
    (void)history(l->history, &event, H_ENTER, statement);
}

#else

/* The terminal itself edits a line a little. */
struct sql_lines {
    char *line;
    size_t room;
};

struct sql_lines *sql_lines_open(void)
{
    return calloc(1, sizeof(struct sql_lines));
}

void sql_lines_close(struct sql_lines *l)
{
    if (l != NULL)
        free(l->line);
    free(l);
}

char *sql_lines_next(struct sql_lines *l, const char *prompt)
{
    fputs(prompt, stdout);
    (void)fflush(stdout);
    ssize_t n = getline(&l->line, &l->room, stdin);
    if (n < 0) {
        clearerr(stdin);                 /* interrupted */
        return NULL;
    }
    return strndup(l->line, strcspn(l->line, "\r\n"));
}

void sql_lines_remember(struct sql_lines *l, const char *statement)
{
    (void)l;
    (void)statement;
}

#endif
