#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>
#include <wchar.h>

#include "commands/sql/sql_command.h"
#include "signals.h"

/* Waits for input.  False: a signal canceled, even if it came between the prompt and this call,
 * which a read would not notice. */
static bool wait_for_input(void)
{
    sigset_t signals, before;
    fd_set input;
    int n = 0;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, &before);
    while (n == 0 && !atomic_load(&cli_canceled)) {
        FD_ZERO(&input);
        FD_SET(STDIN_FILENO, &input);
        n = pselect(STDIN_FILENO + 1, &input, NULL, NULL, NULL, &before);
        n = n < 0 && errno == EINTR ? 0 : n;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return !atomic_load(&cli_canceled);
}

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

/* Reads the next character for libedit.  1; 0 at the end of the input; -1 for an error or when
 * canceled. */
static int read_key(EditLine *edit, wchar_t *key)
{
    mbstate_t state;
    size_t used = (size_t)-2; /* more bytes are needed */
    (void)edit;
    memset(&state, 0, sizeof state);
    while (used == (size_t)-2) {
        char byte;
        ssize_t n = wait_for_input() ? read(STDIN_FILENO, &byte, 1) : -1;
        if (n <= 0)
            return (int)n;
        used = mbrtowc(key, &byte, 1, &state);
        if (used == (size_t)-1) { /* invalid in this encoding: skip it */
            memset(&state, 0, sizeof state);
            used = (size_t)-2;
        }
    }
    return 1;
}

struct sql_lines *sql_lines_open(void)
{
    struct sql_lines *l = calloc(1, sizeof *l);
    HistEvent event;
    if (l == NULL)
        return NULL;
    (void)setlocale(LC_CTYPE, ""); /* keys arrive in the user's encoding */
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
    (void)el_set(l->edit, EL_GETCFN, read_key);
    (void)el_set(l->edit, EL_EDITOR, "emacs");
    /* A Ctrl-D typed before libedit reads single keys arrives as NUL, which would quote the next
     * key. */
    (void)el_set(l->edit, EL_BIND, "^@", "em-delete-or-list", NULL);
    (void)el_set(l->edit, EL_HIST, history, l->history);
    (void)el_set(l->edit, EL_SIGNAL, 0); /* gcdumpc handles signals */
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

/* Without libedit the terminal offers some line editing. */
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
    ssize_t n = wait_for_input() ? getline(&l->line, &l->room, stdin) : -1;
    if (n < 0) {
        clearerr(stdin); /* it was interrupted */
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
