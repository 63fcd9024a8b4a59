#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <gcdumpc/unstable/text/plural.h>

#include "term/term.h"
#include "term/wrap.h"

static struct {
    bool human;
    enum cli_color color;
} style;

void cli_style(bool human, enum cli_color color)
{
    style.human = human;
    style.color = color;
}

static bool is_real_terminal(FILE *f)
{
    const char *term = getenv("TERM");
    return isatty(fileno(f)) && term != NULL && strcmp(term, "dumb") != 0;
}

bool cli_is_terminal(FILE *f)
{
    return (style.human && f == stdout) || is_real_terminal(f);
}

void cli_bold(FILE *f, bool on)
{
    const char *no = getenv("NO_COLOR");
    if (style.color == CLI_COLOR_ALWAYS ||
        (style.color == CLI_COLOR_AUTO && is_real_terminal(f) && (no == NULL || no[0] == '\0')))
        fputs(on ? "\033[1m" : "\033[0m", f);
}

size_t cli_window_columns(FILE *f)
{
    struct winsize w;
    return isatty(fileno(f)) && ioctl(fileno(f), TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col
                                                                                      : SIZE_MAX;
}

void cli_print_wrapped(FILE *to, const char *s, size_t column, size_t hang)
{
    size_t window = cli_is_terminal(to) ? cli_window_columns(to) : SIZE_MAX;
    hang = hang < window / 2 ? hang : window / 2;
    while (window != SIZE_MAX && column + cli_print_cut(NULL, s, SIZE_MAX) > window) {
        size_t width = window > column ? window - column : 1, n = cli_break_words(s, width);
        (void)cli_print_bytes(to, s, n);
        s += n;
        s += strspn(s, " ");
        fprintf(to, "\n%*s", (int)hang, "");
        column = hang;
    }
    cli_print_sanitized(to, s);
    putc('\n', to);
}

#define PARAGRAPH_COLUMNS 120u /* of wide terminals and files */

bool cli_print_paragraph(int indent, const char *text)
{
    char *copy = strdup(text);
    size_t column = (size_t)indent, window = cli_window_columns(stdout),
           columns = window < PARAGRAPH_COLUMNS ? window : PARAGRAPH_COLUMNS;
    if (copy == NULL)
        return false;
    for (char *word = copy, *end; word != NULL; word = end != NULL ? end + 1 : NULL) {
        end = strchr(word, ' ');
        if (end != NULL)
            *end = '\0';
        size_t w = cli_print_cut(NULL, word, SIZE_MAX);
        bool first = column <= (size_t)indent, fits = column + 1 + w <= columns || first;
        if (!fits)
            printf("\n%*s", indent > 0 ? indent + 1 : 0, "");
        else if (!first || indent > 0)
            putchar(' ');
        cli_print_sanitized(stdout, word);
        column = (fits ? column : (size_t)indent) + 1 + w;
    }
    putchar('\n');
    free(copy);
    return true;
}

void cli_print_prose(FILE *to, const char *s)
{
    bool narrow = cli_is_terminal(to) && cli_window_columns(to) < CLI_PROSE_COLUMNS;
    while (*s != '\0') {
        size_t n = strcspn(s, "\n");
        size_t indent = strspn(s, " ");
        /* An indented line continues below the text after its first wide gap. */
        const char *gap = strstr(s + indent, "  ");
        size_t hang = indent == 0                  ? 0
                      : gap != NULL && gap < s + n ? (size_t)(gap - s) + strspn(gap, " ")
                                                   : indent + CLI_GAP;
        while (narrow && indent == 0 && n > 0 && s[n] == '\n' && s[n + 1] != '\n' &&
               s[n + 1] != ' ' && s[n + 1] != '\0')
            n += 1 + strcspn(s + n + 1, "\n");
        char *line = strndup(s, n);
        if (line == NULL) { /* then the rest stays as it is */
            (void)fputs(s, to);
            return;
        }
        for (char *p = line; (p = strchr(p, '\n')) != NULL;)
            *p = ' ';
        cli_print_wrapped(to, line, 0, hang);
        free(line);
        s += n + (s[n] == '\n');
    }
}

const char *cli_number(uint64_t n, bool separators, char buf[CLI_NUMBER_BYTES])
{
    if (separators)
        return gcd_digits(n, buf);
    (void)snprintf(buf, CLI_NUMBER_BYTES, "%" PRIu64, n);
    return buf;
}

const char *cli_size(uint64_t n, char buf[CLI_NUMBER_BYTES])
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    double v = (double)n;
    size_t unit = 0;
    for (; v >= (unit == 0 ? 1024 : 1023.95); unit++)
        v /= 1024;
    (void)snprintf(buf, CLI_NUMBER_BYTES, unit == 0 ? "%.0f %s" : "%.1f %s", v, units[unit]);
    return buf;
}

const char *cli_time(int64_t unix_ms, char buf[CLI_TIME_BYTES])
{
    struct tm tm;
    buf[0] = '\0';
    if (unix_ms == INT64_MIN)
        return buf;
    int ms = (int)((unix_ms % 1000 + 1000) % 1000); /* also before 1970 */
    time_t s = (time_t)(unix_ms / 1000 - (unix_ms % 1000 < 0));
    if (gmtime_r(&s, &tm) !=
        NULL) /* libraries differ in how strftime writes a year of more than four digits */
        (void)snprintf(buf, CLI_TIME_BYTES, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
                       tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
                       tm.tm_sec, ms);
    return buf;
}
