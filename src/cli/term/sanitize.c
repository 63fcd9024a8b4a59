/*
 * Names come from foreign processes and files.  Characters that a terminal would obey instead of
 * showing become question marks.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#include "term/term.h"

/* Decodes the character at S, RET_N bytes long; 0xfffd and 1 when it is not UTF-8. */
static uint32_t next(const unsigned char *s, size_t *ret_n)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    *ret_n = 1;
    if (s[0] < 0x80)
        return s[0];
    size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0xfffd;
    uint32_t c = s[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) /* also the end */
            return 0xfffd;
        c = c << 6 | (s[i] & 0x3f);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0xfffd;
    *ret_n = n;
    return c;
}

/* Do terminals show the character C, N bytes long, instead of obeying it? */
static bool is_shown(uint32_t c, size_t n)
{
    static const struct {
        uint32_t first, last;
    } obeyed[] = {
        /* C0, DEL, C1: cursor, colours, replies that look like typed text */
        { 0x00, 0x1f },
        { 0x7f, 0x9f },
        /* direction of text: it would read differently from what it is */
        { 0x061c, 0x061c },
        { 0x200e, 0x200f },
        { 0x202a, 0x202e },
        /* the same; lines; annotations */
        { 0x2066, 0x2069 },
        { 0x2028, 0x2029 },
        { 0xfff9, 0xfffb },
        { 0xe0000, 0xe007f }, /* tags, invisible */
    };
    for (size_t i = 0; i < sizeof obeyed / sizeof *obeyed; i++)
        if (c >= obeyed[i].first && c <= obeyed[i].last)
            return false;
    return c != 0xfffd || n == 3; /* also a 0xfffd that the text contains */
}

size_t cli_print_char(FILE *to, const char *s)
{
    size_t n;
    uint32_t c = next((const unsigned char *)s, &n);
    bool shown = is_shown(c, n);
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
    size_t n;
    uint32_t c = next((const unsigned char *)s, &n);
    int columns = c < 0x7f ? 1 : ascii || is_invisible(c) ? -1 : wcwidth((wchar_t)c);
    if (!is_shown(c, n) || columns < 0) {
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
