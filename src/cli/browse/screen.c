#include "browse/screen.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "signals.h"
#include "term/message.h"

/* How long to wait after Esc: the rest of an escape sequence arrives at once, even over slow lines.
 */
#define ESCAPE_MS 50
/* A signal between the check of its flag and the wait is seen after at most this time. */
#define WAIT_MS 500

static struct {
    bool ascii, fallback, open;
    /* stop signals are not ignored, so there is a shell with job control */
    bool stops;
    SCREEN *screen;
    FILE *in; /* standard input, or the terminal if a dump comes from there */
    int fd;
    struct termios mode; /* the terminal's mode before */
    char leave[64];      /* sequences that restore the terminal, for a signal handler */
} tty;

static volatile sig_atomic_t stop_wanted, continued;

/* ---- is there a terminal? ---- */

/* The name of the terminal for messages. */
static const char *terminal_name(void)
{
    const char *term = getenv("TERM");
    return term != NULL ? term : "";
}

/*
 * Chooses UTF-8 if the user's locale asks for it, even where that locale is not installed, as on
 * servers that get LC_* through SSH.  Everything else is ASCII: the extra characters of ISO 8859
 * are not worth the trouble.
 */
static void choose_locale(void)
{
    const char *const names[] = { getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG") };
    const char *wanted = "";
    for (size_t i = 0; i < sizeof names / sizeof *names && wanted[0] == '\0'; i++)
        wanted = names[i] != NULL ? names[i] : "";
    bool utf8 = strcasestr(wanted, "utf-8") != NULL || strcasestr(wanted, "utf8") != NULL;
    if (setlocale(LC_CTYPE, "") == NULL || (utf8 && strcmp(nl_langinfo(CODESET), "UTF-8") != 0))
        (void)setlocale(LC_CTYPE, utf8 ? "C.UTF-8" : "C");
    tty.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}

bool screen_is_ascii(void)
{
    return tty.ascii;
}

/* Does the machine know the terminal, or can it be treated like xterm? */
static bool find_terminal(void)
{
    int wrong;
    if (setupterm(NULL, STDOUT_FILENO, &wrong) == OK)
        return true;
    if (wrong == 0 && access("/usr/share/terminfo", F_OK) ==
                          0) /* there is a database, and it lacks only this terminal */
        return false;
    (void)setenv("TERMINFO", browse_fallback, 1);
    tty.fallback = setupterm(browse_fallback_name, STDOUT_FILENO, &wrong) == OK;
    return tty.fallback;
}

enum cli_exit screen_check(void)
{
    if (!isatty(STDOUT_FILENO))
        return cli_error(CLI_FAILED, NULL,
                         "browse needs a terminal; for files and pipes there are gcdumpc leaks, "
                         "retained, report and paths");
    if (isatty(STDIN_FILENO))
        tty.in = stdin;
    else /* standard input may be a dump */
        tty.in = fopen("/dev/tty", "re");
    if (tty.in == NULL)
        return cli_error(CLI_FAILED, NULL,
                         "browse needs a terminal for its keys, and standard input is not one");
    choose_locale();
    if (terminal_name()[0] == '\0')
        return cli_error(CLI_FAILED, NULL,
                         "browse needs the name of the terminal: set TERM, for example TERM=xterm");
    if (strcmp(terminal_name(), "dumb") == 0 || !find_terminal())
        return cli_error(
            CLI_FAILED, NULL,
            "the terminal \"%s\" is unknown; set TERM to what it is like, for example TERM=xterm",
            terminal_name());
    char *move = tigetstr("cup");
    if (move == NULL || move == (char *)-1) /* NOLINT: the documented error value */
        return cli_error(
            CLI_FAILED, NULL,
            "the terminal \"%s\" cannot move its cursor; set TERM if it is another one",
            terminal_name());
    (void)del_curterm(set_curterm(NULL)); /* newterm makes its own */
    return CLI_DONE;
}

/* ---- begin and end ---- */

/* Called in a signal handler, just before the program ends. */
static void restore(void)
{
    ssize_t n = write(STDOUT_FILENO, tty.leave, strlen(tty.leave));
    (void)n;
    (void)tcsetattr(tty.fd, TCSANOW, &tty.mode);
}

static void on_stop(int sig)
{
    if (sig == SIGTSTP)
        stop_wanted = 1;
    else
        continued = 1;
}

static void catch_stops(bool on)
{
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_handler = on ? on_stop : SIG_DFL;
    sigemptyset(&a.sa_mask);
    if (tty.stops)
        (void)sigaction(SIGTSTP, &a, NULL);
    (void)sigaction(SIGCONT, &a, NULL);
}

static void remember_end(void)
{
    static const char *const names[] = { "sgr0", "cnorm", "rmcup" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *s = tigetstr((char *)(uintptr_t)names[i]);
        size_t used = strlen(tty.leave);
        if (s != NULL && s != (char *)-1 && used + strlen(s) < sizeof tty.leave) /* NOLINT */
            (void)strcpy(tty.leave + used, s);
    }
}

/* Also accepts the keys of terminals other than TERM, because TERM is often only nearly right. */
static void define_keys(void)
{
    static const struct {
        const char *sequence;
        int key;
    } more[] = {
        { "\033[A", KEY_UP },   { "\033OA", KEY_UP },     { "\033[B", KEY_DOWN },
        { "\033OB", KEY_DOWN }, { "\033[C", KEY_RIGHT },  { "\033OC", KEY_RIGHT },
        { "\033[D", KEY_LEFT }, { "\033OD", KEY_LEFT },   { "\033[H", KEY_HOME },
        { "\033OH", KEY_HOME }, { "\033[1~", KEY_HOME },  { "\033[7~", KEY_HOME },
        { "\033[F", KEY_END },  { "\033OF", KEY_END },    { "\033[4~", KEY_END },
        { "\033[8~", KEY_END }, { "\033[5~", KEY_PPAGE }, { "\033[6~", KEY_NPAGE },
        { "\033[3~", KEY_DC },  { "\033[Z", KEY_BTAB },
    };
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        (void)define_key(more[i].sequence, more[i].key);
}

static void use_colours(void)
{
    const char *no = getenv("NO_COLOR");
    if ((no != NULL && no[0] != '\0') || !has_colors() || start_color() != OK)
        return;
    short back = use_default_colors() == OK ? -1 : COLOR_BLACK;
    (void)init_pair(1, COLORS >= 256 ? 75 : COLOR_CYAN, back);    /* bars */
    (void)init_pair(2, COLOR_RED, back);                          /* problems */
    (void)init_pair(3, COLORS >= 256 ? 179 : COLOR_YELLOW, back); /* headings */
}

enum cli_exit screen_open(void)
{
    struct sigaction before;
    tty.fd = fileno(tty.in);
    tty.stops = sigaction(SIGTSTP, NULL, &before) == 0 && before.sa_handler != SIG_IGN;
    if (tcgetattr(tty.fd, &tty.mode) != 0)
        return cli_error(CLI_FAILED, NULL, "the terminal does not answer: %s", strerror(errno));
    tty.screen = newterm(tty.fallback ? browse_fallback_name : NULL, stdout, tty.in);
    if (tty.screen == NULL)
        return cli_error(CLI_FAILED, NULL, "the terminal \"%s\" cannot show a browser",
                         terminal_name());
    tty.open = true;
    remember_end();
    cli_before_end(restore);
    catch_stops(true);
    (void)raw();
    (void)noecho();
    (void)nonl();
    (void)keypad(stdscr, TRUE);
    (void)nodelay(stdscr, TRUE);
    (void)set_escdelay(ESCAPE_MS);
    define_keys();
    use_colours();
    return CLI_DONE;
}

void screen_close(void)
{
    if (!tty.open)
        return;
    tty.open = false;
    (void)endwin();
    catch_stops(false);
    cli_before_end(NULL);
    (void)tcsetattr(tty.fd, TCSANOW, &tty.mode);
    delscreen(tty.screen);
    if (tty.in != stdin)
        (void)fclose(tty.in);
}

size_t screen_columns(void)
{
    return COLS > 0 ? (size_t)COLS : 0;
}

size_t screen_lines(void)
{
    return LINES > 0 ? (size_t)LINES : 0;
}

/* ---- keys ---- */

/* Stops the program; returns when the shell continues it. */
static void stop(bool whole_job)
{
    stop_wanted = 0;
    if (!tty.stops)
        return;
    (void)endwin();
    catch_stops(false);
    if (whole_job)
        (void)kill(0, SIGTSTP);
    else
        (void)raise(SIGTSTP);
    catch_stops(true);
    stop_wanted = 0;
    continued = 1;
}

void screen_suspend(void)
{
    stop(true);
}

static uint32_t special(wint_t key)
{
    static const struct {
        int theirs;
        uint32_t ours;
    } keys[] = {
        { KEY_UP, SCREEN_KEY_UP },
        { KEY_DOWN, SCREEN_KEY_DOWN },
        { KEY_LEFT, SCREEN_KEY_LEFT },
        { KEY_RIGHT, SCREEN_KEY_RIGHT },
        { KEY_PPAGE, SCREEN_KEY_PAGE_UP },
        { KEY_NPAGE, SCREEN_KEY_PAGE_DOWN },
        { KEY_HOME, SCREEN_KEY_HOME },
        { KEY_END, SCREEN_KEY_FINISH },
        { KEY_BACKSPACE, SCREEN_KEY_BACKSPACE },
        { KEY_DC, SCREEN_KEY_DELETE },
        { KEY_BTAB, SCREEN_KEY_BACK_TAB },
        { KEY_ENTER, '\r' },
        { KEY_SUSPEND, SCREEN_CTRL('z') }, /* TERM=linux has this key */
        { KEY_RESIZE, SCREEN_KEY_REDRAW },
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if ((wint_t)keys[i].theirs == key)
            return keys[i].ours;
    return SCREEN_KEY_OTHER;
}

/* A key that ncurses has already read; SCREEN_KEY_NONE = none. */
static uint32_t next_key(void)
{
    wint_t key;
    int kind = get_wch(&key);
    if (kind == ERR)
        return SCREEN_KEY_NONE;
    if (kind == KEY_CODE_YES)
        return special(key);
    return key == 0x7f || key == '\b' ? SCREEN_KEY_BACKSPACE : key == '\n' ? '\r' : (uint32_t)key;
}

/* Handles the signals since the last call. */
static uint32_t signalled(void)
{
    if (atomic_load(&cli_canceled))
        return SCREEN_KEY_END;
    if (stop_wanted)
        stop(false);
    if (!continued)
        return SCREEN_KEY_NONE;
    continued = 0; /* another program used the terminal */
    (void)raw();
    (void)clearok(curscr, TRUE);
    return SCREEN_KEY_REDRAW;
}

uint32_t screen_key(int timeout_ms, int ready)
{
    struct pollfd fds[2] = { { .fd = tty.fd, .events = POLLIN },
                             { .fd = ready, .events = POLLIN } };
    for (int waited = 0;; waited += timeout_ms >= 0 ? WAIT_MS : 0) {
        uint32_t key = signalled();
        if (key == SCREEN_KEY_NONE)
            key = next_key();
        if (key != SCREEN_KEY_NONE)
            return key;
        int left = timeout_ms < 0                  ? WAIT_MS
                   : timeout_ms - waited < WAIT_MS ? timeout_ms - waited
                                                   : WAIT_MS;
        if (left <= 0)
            return SCREEN_KEY_NONE;
        int n = poll(fds, 2, left);
        if (n > 0 && (fds[1].revents & POLLIN) != 0)
            return SCREEN_KEY_READY;
        if (n > 0 && (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
            return SCREEN_KEY_END;
        if (n > 0 && (key = next_key()) != SCREEN_KEY_NONE)
            return key;
    }
}
