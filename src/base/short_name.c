#include "base/short_name.h"

#include <string.h>

bool gcd_short_is_part(char c)
{
    return c != '\0' && strchr("<>[](),*& ", c) == NULL;
}

unsigned gcd_short_outer(const char *raw, const char *p, size_t n)
{
    for (const char *at = raw; *at != '\0'; at++) {
        unsigned outer = 0;
        size_t k = 0;
        if (at > raw && gcd_short_is_part(at[-1]))
            continue;
        for (; k < n && (at[k] == p[k] || (at[k] == '+' && p[k] == '.')); k++)
            outer += at[k] != p[k] && k + 1 < n;
        if (k == n && (!gcd_short_is_part(at[k]) || at[k] == '`' || at[k] == '+'))
            return outer;
    }
    return 0;
}

size_t gcd_short_begin(const char *p, size_t n, unsigned segments)
{
    size_t at = n;
    while (at > 0 && p[at - 1] == '.')
        at--;
    while (at > 0 && (p[at - 1] != '.' || --segments > 0))
        at--;
    return at;
}

const char *gcd_short_name(const char *name, const char *raw, char *ret, size_t cap)
{
    size_t used = 0;
    for (const char *p = name; *p != '\0' && used + 1 < cap;) {
        size_t n = 0, skip;
        while (gcd_short_is_part(p[n]))
            n++;
        skip = n > 0 && *p != '.' ? gcd_short_begin(p, n, 1 + gcd_short_outer(raw, p, n)) : 0;
        n = n > 0 ? n : 1;
        size_t copied = n - skip < cap - 1 - used ? n - skip : cap - 1 - used;
        memcpy(ret + used, p + skip, copied);
        used += copied;
        p += n;
    }
    ret[used] = '\0';
    return ret;
}
