/*
 * Are dumps of one program?  The same process has several command lines: the runtime adds its
 * assembly in events, memory has what was typed, and a core file has the begin of it.
 */
#include <string.h>

#include "base/text.h"
#include "commands/compare.h"

/* What Linux keeps in a core file: of a command line, and of a name. */
#define KEPT_OF_LINE 79u
#define KEPT_OF_NAME 15u

struct word {
    const char *text;
    size_t n;
};

static struct word next_word(const char **line)
{
    const char *begin = *line + strspn(*line, " ");
    struct word w = { begin, strcspn(begin, " ") };
    *line = begin + w.n;
    return w;
}

static bool ends_in(struct word w, const char *end)
{
    return w.n > strlen(end) && gcd_bytes_end(w.text, w.n, end);
}

/* The file of W, without its folders and without ".dll" or ".exe". */
static struct word file_of(struct word w)
{
    for (size_t i = w.n; i > 0; i--)
        if (w.text[i - 1] == '/' || w.text[i - 1] == '\\') {
            w = (struct word){ w.text + i, w.n - i };
            break;
        }
    if (ends_in(w, ".dll") || ends_in(w, ".exe"))
        w.n -= strlen(".dll");
    return w;
}

static bool is_same(struct word a, struct word b)
{
    return a.n == b.n && memcmp(a.text, b.text, a.n) == 0;
}

/* "shop" of "dotnet /srv/shop.dll", "./shop --all" and "/srv/shop /srv/shop.dll --all". */
static struct word program_of(const char *line)
{
    const struct word host = { "dotnet", strlen("dotnet") };
    struct word first = file_of(next_word(&line));
    for (struct word w = next_word(&line); is_same(first, host) && w.n > 0; w = next_word(&line))
        if (ends_in(w, ".dll"))
            return file_of(w);
    return first;
}

/* Do both begin with the whole path of a file of that name, and not with the same? */
static bool in_other_folders(const char *a, const char *b)
{
    struct word one = next_word(&a), other = next_word(&b);
    return one.n > 0 && other.n > 0 && one.text[0] == '/' && other.text[0] == '/' &&
           is_same(file_of(one), file_of(other)) && !is_same(one, other);
}

/* Has a core file cut the command line of S in its first word? */
static bool is_cut(const struct cli_side *s)
{
    return s->from_memory && strcspn(s->command_line, " ") >= KEPT_OF_LINE;
}

bool cli_is_same_program(const struct cli_side *a, const struct cli_side *b)
{
    const char *one = a->command_line, *other = b->command_line;
    if (one[0] == '\0' || other[0] == '\0' || is_cut(a) || is_cut(b))
        return a->name[0] == '\0' || b->name[0] == '\0' ||
               (a->from_memory || b->from_memory ? strncmp(a->name, b->name, KEPT_OF_NAME)
                                                 : strcmp(a->name, b->name)) == 0;
    return is_same(program_of(one), program_of(other)) && !in_other_folders(one, other);
}
