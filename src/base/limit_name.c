#include "base/limit_name.h"

#include <string.h>

#include "base/text.h"

#define NAME_BYTES    64u
#define SHORTEST_NAME 3u /* of a field that a limit is named after */

/* NAME[N] in small letters, without prefix and underscores, cut to NAME_BYTES. */
static const char *plain(const char *name, size_t n, char ret[NAME_BYTES])
{
    size_t used = 0, i = n > 2 && gcd_text_begins(name, "m_") ? 2 : 0;
    for (; i < n && used + 1 < NAME_BYTES; i++)
        if (name[i] != '_')
            ret[used++] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
    ret[used] = '\0';
    return ret;
}

static const char *behind_max(const char *text)
{
    return gcd_text_begins(text, "maximum") ? text + 7
           : gcd_text_begins(text, "max")   ? text + 3
                                            : "";
}

/* "size" and the like begin TEXT. */
static bool begins_with_count(const char *text)
{
    static const char *const of[] = { "size",     "count",   "items",   "entries",  "length",
                                      "elements", "keys",    "objects", "messages", "lines",
                                      "rows",     "records", "samples", "events" };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (gcd_text_begins(text, of[i]))
            return true;
    return false;
}

static bool has_limit_word(const char *text)
{
    return strstr(text, "limit") != NULL || strstr(text, "capacity") != NULL;
}

static bool is_limit(const char *text)
{
    static const char *const whole[] = { "cap", "max", "maximum", "bound" };
    if (gcd_text_begins(text, "initial") || gcd_text_begins(text, "min"))
        return false;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(text, whole[i]) == 0)
            return true;
    return has_limit_word(text) || begins_with_count(behind_max(text));
}

bool gcd_is_limit_name(const char *name, size_t n, const char *field)
{
    char text[NAME_BYTES], of[NAME_BYTES];
    size_t k = strlen(plain(field, strlen(field), of));
    const char *rest = behind_max(plain(name, n, text));
    if (field[0] == '\0')
        return is_limit(text);
    if (k < SHORTEST_NAME)
        return false;
    if (gcd_text_begins(rest, of))
        return rest[k] == '\0' || begins_with_count(rest + k);
    return gcd_text_begins(text, of) && (has_limit_word(text + k) || strcmp(text + k, "max") == 0);
}

bool gcd_may_be_limit(const char *name)
{
    char text[NAME_BYTES];
    return is_limit(plain(name, strlen(name), text)) || strstr(text, "max") != NULL;
}
