#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

const char *gcd_status_text(gcd_status st)
{
    switch (st) {
#define GCD_STATUS_TEXT(name, value, text) \
    case name:                             \
        return text;
        GCD_STATUS_LIST(GCD_STATUS_TEXT)
#undef GCD_STATUS_TEXT
    }
    return "unknown status";
}

const char *gcd_status_name(gcd_status st)
{
    switch (st) {
#define GCD_STATUS_NAME(name, value, text) \
    case name:                             \
        return #name;
        GCD_STATUS_LIST(GCD_STATUS_NAME)
#undef GCD_STATUS_NAME
    }
    return "GCD_?";
}

/* Names from the input appear in messages, and messages on terminals: replace control characters,
 * including U+0080 to U+009F. */
static void make_printable(char *s)
{
    size_t n = strlen(s);
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        size_t len = gcd_utf8_next((const uint8_t *)s + i, n - i, &cp);
        bool bad = len == 0 || cp < 0x20 || (cp >= 0x7f && cp < 0xa0);
        size_t step = len == 0 ? 1 : len;
        if (bad)
            memset(s + i, '?', step);
        i += step;
    }
}

GCD_PRINTF(5, 0)
static gcd_status record(struct gcd_error *err, gcd_status code, uint64_t off, int os_errno,
                         const char *fmt, va_list ap)
{
    if (err == NULL)
        return code;
    err->code = code;
    err->reason = GCD_ERROR_OTHER;
    err->off = off;
    err->os_errno = os_errno;
    int n = vsnprintf(err->msg, sizeof err->msg, fmt, ap);
    if (n < 0)
        err->msg[0] = '\0';
    if (os_errno != 0) {
        size_t len = strlen(err->msg);
        (void)snprintf(err->msg + len, sizeof err->msg - len, ": %s", strerror(os_errno));
    }
    make_printable(err->msg);
    return code;
}

gcd_status(gcd_fail)(struct gcd_error *err, gcd_status code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    record(err, code, GCD_OFF_NONE, 0, fmt, ap);
    va_end(ap);
    return code;
}

gcd_status(gcd_fail_at)(struct gcd_error *err, gcd_status code, uint64_t off, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    record(err, code, off, 0, fmt, ap);
    va_end(ap);
    return code;
}

gcd_status(gcd_fail_os)(struct gcd_error *err, int os_errno, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    record(err, GCD_E_IO, GCD_OFF_NONE, os_errno, fmt, ap);
    va_end(ap);
    return GCD_E_IO;
}

gcd_status(gcd_fail_nomem)(struct gcd_error *err, const char *what)
{
    return gcd_fail(err, GCD_E_NOMEM, "out of memory while %s", what);
}

gcd_status(gcd_because)(struct gcd_error *err, enum gcd_error_reason reason, gcd_status st)
{
    if (err != NULL)
        err->reason = reason;
    return st;
}

void gcd_error_wrap(struct gcd_error *err, const char *fmt, ...)
{
    if (err == NULL)
        return;
    char old[sizeof err->msg];
    memcpy(old, err->msg, sizeof old);
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(err->msg, sizeof err->msg, fmt, ap);
    va_end(ap);
    size_t len = n < 0 ? 0 : strlen(err->msg);
    if (len + 3 < sizeof err->msg) {
        memcpy(err->msg + len, ": ", 2);
        size_t room = sizeof err->msg - len - 3;
        size_t old_len = strlen(old) < room ? strlen(old) : room;
        memcpy(err->msg + len + 2, old, old_len);
        err->msg[len + 2 + old_len] = '\0';
    }
    make_printable(err->msg);
}
