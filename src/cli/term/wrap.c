#include "term/wrap.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* Columns up to this width are not narrowed; wider ones never become narrower than this. */
#define TEXT_LEAST 24u

static bool is_long(const struct cli_wrapped_column *p)
{
    return p->shown && p->text && p->width > TEXT_LEAST;
}

static void side_by_side(struct cli_wrapped_column *places, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        if (places[i].shown) {
            places[i].line = 0;
            places[i].at = at;
            at += places[i].width + CLI_GAP;
        }
}

/* The total width of the text columns if each gets at most MOST. */
static size_t sum_of_texts(const struct cli_wrapped_column *places, size_t n, size_t most)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++)
        if (is_long(&places[i]))
            sum += places[i].width < most ? places[i].width : most;
    return sum;
}

/* Divides ROOM among the text columns: the widest shrink to the width of the next, and so on. False
 * when they would be too narrow. */
static bool narrow(struct cli_wrapped_column *places, size_t n, size_t room)
{
    size_t most = room;
    while (most >= TEXT_LEAST && sum_of_texts(places, n, most) > room)
        most--;
    for (size_t i = 0; i < n && most >= TEXT_LEAST; i++)
        if (is_long(&places[i]) && places[i].width > most)
            places[i].width = most;
    return most >= TEXT_LEAST;
}

static void one_below_the_other(struct cli_wrapped_column *places, size_t n, size_t window)
{
    size_t line = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        struct cli_wrapped_column *p = &places[i];
        if (!p->shown)
            continue;
        bool alone = is_long(p);
        if (at > 0 && (alone || at + p->width > window)) {
            line++;
            at = CLI_GAP;
        }
        if (alone && window > at && p->width > window - at)
            p->width = window - at;
        p->line = line;
        p->at = at;
        at = alone ? window : at + p->width + CLI_GAP;
    }
}

void cli_wrap_columns(struct cli_wrapped_column *places, size_t n, size_t window)
{
    size_t all = 0, fixed = 0;
    for (size_t i = 0; i < n; i++)
        if (places[i].shown) {
            all += places[i].width + CLI_GAP;
            fixed += (is_long(&places[i]) ? 0 : places[i].width) + CLI_GAP;
        }
    if (window == SIZE_MAX || all <= window + CLI_GAP ||
        (fixed < window + CLI_GAP && narrow(places, n, window + CLI_GAP - fixed)))
        side_by_side(places, n);
    else
        one_below_the_other(places, n, window);
}

/* The blank at S[I] is between a number and its unit, which stay together. */
static bool before_unit(const char *s, size_t i)
{
    return s[i] == ' ' && i > 0 && isdigit((unsigned char)s[i - 1]) &&
           (isalpha((unsigned char)s[i + 1]) || s[i + 1] == '%');
}

/* The length up to the last of ENDS before WIDTH, if that fills a third of the line; blanks at the
 * break do not count. */
static size_t broken(const char *s, size_t width, const char *ends)
{
    size_t used = 0, i = 0, best = 0;
    for (; s[i] != '\0'; i++) {
        bool follows = ((unsigned char)s[i] & 0xc0) == 0x80; /* a continuation byte */
        if (!follows && used == width)
            break;
        used += !follows;
        if (strchr(ends, s[i]) != NULL && used > width / 3 && !before_unit(s, i))
            best = s[i] == ' ' ? i : i + 1;
    }
    if (s[i] == '\0' || (s[i] == ' ' && !before_unit(s, i)))
        best = i;
    while (best > 1 && s[i] != '\0' && s[best - 1] == ' ')
        best--;
    return best > 0 ? best : i > 0 ? i : 1;
}

size_t cli_break(const char *s, size_t width)
{
    return broken(s, width, " ,.<+/;");
}

size_t cli_break_words(const char *s, size_t width)
{
    return broken(s, width, " ");
}
