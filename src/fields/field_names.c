/* Names that compilers make of those in the source. */
#include <gcdumpc/unstable/fields.h>

#include <stdbool.h>
#include <string.h>

#include "base/text.h"

static bool begins(const char *p, size_t n, const char *with)
{
    size_t k = strlen(with);
    return n >= k && memcmp(p, with, k) == 0;
}

static bool is_property(const char *rest, size_t n)
{
    return n == 15 && begins(rest, n, "k__BackingField");
}

/* Of "<NAME>REST": property, field of an anonymous type, variable of a state machine, parameter of
 * a primary constructor. */
static bool keeps_name(const char *rest, size_t n)
{
    size_t digits = 3;
    if (begins(rest, n, "5__"))
        while (digits < n && rest[digits] >= '0' && rest[digits] <= '9')
            digits++;
    return is_property(rest, n) || (n == 8 && begins(rest, n, "i__Field")) ||
           (n == 1 && rest[0] == 'P') || (digits > 3 && digits == n);
}

/* Of Visual Basic: "calls" of "$STATIC$OnChange$20211C1245$calls", "Name" of "$Name" in an
 * anonymous type; not "$S3" or "$A0", values in between.  The position of the name, 0 = none. */
static size_t behind_dollar(const char *p, size_t n)
{
    size_t at = 1, digits = 2;
    if (n < 2 || p[0] != '$')
        return 0;
    if (begins(p, n, "$STATIC$")) {
        for (size_t i = 0; i < n; i++)
            at = p[i] == '$' ? i + 1 : at;
        return at < n && !begins(p + at, n - at, "Init") ? at : 0;
    }
    while (digits < n && p[digits] >= '0' && p[digits] <= '9')
        digits++;
    return memchr(p + 1, '$', n - 1) == NULL && (n == 2 || digits < n) ? 1 : 0;
}

/* The part *RET[*RET_N] of the segment P[N] that is in the source. */
static void find_source(const char *p, size_t n, const char **ret, size_t *ret_n)
{
    /* captured this, parameters, the current item; Visual Basic */
    static const char *const before[] = { "<>4__",         "<>3__",
                                          "<>2__",         "CS$<>8__",
                                          "$VB$Local_",    "$VB$NonLocal_$VB$",
                                          "$VB$NonLocal_", "$VB$ResumableLocal_",
                                          "$VB$",          "$P_" };
    size_t close = gcd_text_closing(p, n);
    *ret = p;
    *ret_n = n;
    if (close < n && close > 1 && keeps_name(p + close + 1, n - close - 1)) {
        *ret = p + 1;
        *ret_n = close - 1;
        return;
    }
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        size_t k = strlen(before[i]);
        if (!begins(p, n, before[i]) || n == k)
            continue;
        const char *end = memchr(p + k, '$', n - k); /* and a number */
        *ret = p + k;
        *ret_n = end != NULL && end > p + k ? (size_t)(end - p) - k : n - k;
        return;
    }
    if (begins(p, n, "<>u__")) { /* what an asynchronous method awaits */
        *ret = "await";
        *ret_n = 5;
        return;
    }
    size_t at = behind_dollar(p, n);
    *ret = p + at;
    *ret_n = n - at;
    if (n > 1 && p[n - 1] == '@') /* F# */
        *ret_n = n - 1;
}

/* Is the segment P[N] the structure "<>8__1" of a state machine, in which the variables are that a
 * local function captures? */
static bool is_captured(const char *p, size_t n)
{
    size_t digits = 5;
    while (digits < n && p[digits] >= '0' && p[digits] <= '9')
        digits++;
    return begins(p, n, "<>8__") && digits > 5 && digits == n;
}

size_t gcd_field_source_name(const char *name, size_t n, char *buf)
{
    size_t done = 0, used = 0;
    while (done <= n) {
        size_t end = done;
        int depth = 0;
        for (; end < n && (depth > 0 || name[end] != '.'); end++)
            depth += (name[end] == '<') - (name[end] == '>');
        if (end < n && is_captured(name + done, end - done)) {
            done = end + 1;
            continue;
        }
        const char *part, *index = memchr(name + done, '[', end - done);
        size_t part_n, own = index != NULL ? (size_t)(index - name) - done : end - done;
        find_source(name + done, own, &part, &part_n);
        memcpy(buf + used, part, part_n);
        used += part_n;
        memcpy(buf + used, name + done + own, end - done - own);
        used += end - done - own;
        if (end < n)
            buf[used++] = '.';
        done = end + 1;
    }
    return used;
}

bool gcd_field_property(const char *name, size_t n, size_t *ret_n)
{
    size_t close = gcd_text_closing(name, n);
    *ret_n = close > 0 ? close - 1 : 0;
    return close < n && close > 1 && is_property(name + close + 1, n - close - 1);
}
