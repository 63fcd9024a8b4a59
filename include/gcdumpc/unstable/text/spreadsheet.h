/*
 * Texts in CSV, which spreadsheets open.
 */
#ifndef GCDUMPC_UNSTABLE_TEXT_SPREADSHEET_H
#define GCDUMPC_UNSTABLE_TEXT_SPREADSHEET_H

#include <stdbool.h>
#include <string.h>

/* Is S a number, "-1.5E-05"? */
static inline bool gcd_is_number_text(const char *s)
{
    static const char digits[] = "0123456789";
    s += *s == '-';
    size_t n = strspn(s, digits);
    bool number = n > 0;
    s += n;
    if (*s == '.') {
        n = strspn(s + 1, digits);
        number = number && n > 0;
        s += 1 + n;
    }
    if (*s == 'E' || *s == 'e') {
        s++;
        s += *s == '+' || *s == '-';
        n = strspn(s, digits);
        number = number && n > 0;
        s += n;
    }
    return number && *s == '\0';
}

/*
 * Would a spreadsheet interpret S as a formula?  Leading spaces do not prevent that; a negative
 * number is none.  CSV has an apostrophe before it; one that is there already gets another, so that
 * readers can always remove one.
 */
static inline bool gcd_is_formula(const char *s)
{
    const char *first = s + strspn(s, " ");
    if (*s == '\'')
        return true;
    return *first != '\0' && strchr("=+-@\t\r\n", *first) != NULL && !gcd_is_number_text(s);
}

#endif
