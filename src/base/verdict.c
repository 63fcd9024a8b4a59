#include "base/verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
#define REASON_NAME(code, name) [code] = name,
    GCD_REASON_LIST(REASON_NAME)
#undef REASON_NAME
};

void gcd_verdict_add(struct gcd_verdict *v, enum gcd_reason_code code, uint64_t amount,
                     const char *fmt, ...)
{
    size_t at = v->reason_count;
    v->complete = false;
    while (at > 0 && v->reasons[at - 1].code > code)
        at--;
    if (v->reason_count >= GCD_REASON_COUNT || (at > 0 && v->reasons[at - 1].code == code))
        return;
    struct gcd_reason *r = &v->reasons[at];
    memmove(r + 1, r, (v->reason_count++ - at) * sizeof *r);
    r->code = code;
    r->name = names[code];
    r->amount = amount;
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(r->text, sizeof r->text, fmt, ap);
    va_end(ap);
}

void gcd_verdict_remove(struct gcd_verdict *v, enum gcd_reason_code code)
{
    size_t kept = 0;
    for (size_t i = 0; i < v->reason_count; i++)
        if (v->reasons[i].code != code)
            v->reasons[kept++] = v->reasons[i];
    v->reason_count = kept;
    v->complete = kept == 0;
}
