/*
 * Names come from foreign processes and files.  Characters that a terminal would obey instead of
 * showing become question marks.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <gcdumpc/unstable/text/shown.h>

#include "term/term.h"

#define UTF8_BYTES 4

/* The character at S, before the NUL. */
static size_t next(const char *s, uint32_t *ret_code, bool *ret_shown)
{
    return gcd_text_next(s, strnlen(s, UTF8_BYTES), ret_code, ret_shown);
}

size_t cli_print_char(FILE *to, const char *s)
{
    uint32_t c;
    bool shown;
    size_t n = next(s, &c, &shown);
    if (to != NULL && shown)
        (void)fwrite(s, 1, n, to);
    else if (to != NULL)
        putc('?', to);
    return n;
}

/* Joiners, invisible operators, variation selectors: terminals give them different widths, and they
 * could make a name look like another one. */
static bool is_invisible(uint32_t c)
{
    return (c >= 0x200b && c <= 0x200d) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
           c == 0x00ad || (c >= 0xfe00 && c <= 0xfe0f) || (c >= 0xe0000 && c <= 0xe0fff);
}

size_t cli_screen_char(const char *s, bool ascii, uint32_t *ret, unsigned *ret_columns)
{
    uint32_t c;
    bool shown;
    size_t n = next(s, &c, &shown);
    int columns = c < 0x7f ? 1 : ascii || is_invisible(c) ? -1 : wcwidth((wchar_t)c);
    if (!shown || columns < 0) {
        c = '?';
        columns = 1;
    }
    *ret = c;
    *ret_columns = (unsigned)columns;
    return n;
}

size_t cli_print_cut(FILE *to, const char *s, size_t columns)
{
    size_t used = 0;
    while (*s != '\0' && used < columns) {
        s += cli_print_char(to, s);
        used++;
    }
    return used;
}

size_t cli_print_bytes(FILE *to, const char *s, size_t n)
{
    size_t used = 0;
    for (size_t i = 0; i < n; used++)
        i += cli_print_char(to, s + i);
    return used;
}

const char *cli_shorten(const char *s, char buf[CLI_SHORT_BYTES])
{
    static const char dots[] = "...";
    const size_t half = (CLI_SHORT_COLUMNS - strlen(dots)) / 2;
    if (strlen(s) <= CLI_SHORT_COLUMNS)
        return s;
    size_t all = cli_print_cut(NULL, s, SIZE_MAX), at = 0, head = 0;
    if (all <= CLI_SHORT_COLUMNS)
        return s;
    for (size_t i = 0; i < all - half; i++) {
        head = i == half ? at : head;
        at += cli_print_char(NULL, s + at);
    }
    memcpy(buf, s, head);
    memcpy(buf + head, dots, strlen(dots));
    memcpy(buf + head + strlen(dots), s + at, strlen(s + at) + 1);
    return buf;
}

void cli_print_sanitized(FILE *to, const char *s)
{
    (void)cli_print_cut(to, s, SIZE_MAX);
}

char *cli_text_copy(const char *s, size_t n)
{
    char *copy = malloc(n + 1);
    if (copy == NULL)
        return NULL;
    for (size_t i = 0; i < n; i++)
        copy[i] = s[i] != '\0' ? s[i] : '?';
    copy[n] = '\0';
    return copy;
}
