/*
 * Converts text to the roff of man(7).  Filled lines break after a sentence and before column 78;
 * macros and escapes in the text are made harmless.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tools/manual/man_text.h"

enum { LINE_COLUMNS = 78 };

void man_line(const char *line)
{
    puts(line);
}

/* Prints N literal bytes.  DASHES: "-" is a dash to type, not a hyphen. */
static void put_plain(const char *s, size_t n, bool dashes)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] == '\\')
            fputs("\\e", stdout);
        else if (s[i] == '-' && dashes)
            fputs("\\-", stdout);
        else if (s[i] == '\'')
            fputs("\\(aq", stdout);
        else if (s[i] == '`')
            fputs("\\(ga", stdout);
        else if (s[i] == '^')
            fputs("\\(ha", stdout);
        else if (s[i] == '~')
            fputs("\\(ti", stdout);
        else
            putchar(s[i]);
}

/* Is the word an option, possibly in quotes or brackets? */
static bool is_option(const char *word, size_t n)
{
    size_t i = 0;
    while (i < n && strchr("\"([", word[i]) != NULL)
        i++;
    return i < n && word[i] == '-';
}

static bool ends_sentence(const char *word, size_t n, const char *after)
{
    char last = word[n - 1];
    return (last == '.' || last == '?' || last == '!') &&
           (after[0] == '\0' || after[0] == '\n' || strncmp(after, "  ", 2) == 0);
}

/* Prints N bytes as filled text. */
static void fill(const char *s, size_t n)
{
    size_t column = 0;
    for (const char *p = s, *end = s + n; p < end;) {
        while (p < end && isspace((unsigned char)*p))
            p++;
        const char *word = p;
        while (p < end && !isspace((unsigned char)*p))
            p++;
        size_t length = (size_t)(p - word);
        if (length == 0)
            break;
        if (column > 0 && column + 1 + length > LINE_COLUMNS) {
            putchar('\n');
            column = 0;
        }
        if (column > 0)
            putchar(' ');
        else if (word[0] == '.' || word[0] == '\'')
            fputs("\\&", stdout);
        put_plain(word, length, is_option(word, length));
        column += length + 1;
        if (p < end && ends_sentence(word, length, p)) {
            putchar('\n');
            column = 0;
        }
    }
    if (column > 0)
        putchar('\n');
}

/* The number of leading spaces of LINE. */
static size_t indent(const char *line)
{
    return strspn(line, " ");
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end == NULL ? line + strlen(line) : end + 1;
}

/* The end of the block that starts at LINE: an empty line, or an indentation that does not fit. */
static const char *block_end(const char *line, bool indented)
{
    const char *p = next_line(line);
    while (*p != '\0' && *p != '\n' && (indented ? indent(p) > 2 : indent(p) < 2))
        p = next_line(p);
    return p;
}

/* Prints "  TERM   explanation" with its continuation lines, or "  TERM" with the explanation
 * below; else an example, verbatim. */
static void put_item(const char *line, const char *end)
{
    const char *eol = next_line(line) - 1, *term = line + indent(line), *gap = strstr(term, "  ");
    if (gap != NULL && gap > eol)
        gap = NULL;
    if (gap == NULL && next_line(line) == end) {
        fputs(".RS 4\n.EX\n", stdout);
        put_plain(term, (size_t)(eol - term), true);
        fputs("\n.EE\n.RE\n", stdout);
        return;
    }
    const char *term_end = gap != NULL ? gap : eol;
    fputs(".TP\n", stdout);
    put_plain(term, (size_t)(term_end - term), true);
    putchar('\n');
    fill(term_end, (size_t)(end - term_end));
}

void man_text(const char *text)
{
    bool after_item = false;
    for (const char *p = text; *p != '\0';) {
        if (*p == '\n') {
            if (p[1] != '\0')
                fputs(".PP\n", stdout);
            after_item = false;
            p++;
            continue;
        }
        bool item = indent(p) >= 2;
        const char *end = block_end(p, item);
        if (item) {
            put_item(p, end);
        } else {
            if (after_item)
                fputs(".PP\n", stdout);
            fill(p, (size_t)(end - p));
        }
        after_item = item;
        p = end;
    }
}

void man_put_words(const char *const *words)
{
    for (; words[0] != NULL; words += 2) {
        char font = words[0][0];
        if (font != 'R')
            printf("\\f%c", font);
        put_plain(words[1], strlen(words[1]), true);
        if (font != 'R')
            fputs("\\fR", stdout);
    }
    putchar('\n');
}
