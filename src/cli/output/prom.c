#include "output/prom.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/text/shown.h>

void cli_prom_metric(struct cli_prom *p, const char *name, const char *help)
{
    p->metric = name;
    p->labeled = false;
    fprintf(p->to, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

/* A backslash that would look like the beginning of one of our codes. */
static bool begins_code(const char *s)
{
    return s[0] == '\\' && s[1] == 'u' && strspn(s + 2, "0123456789abcdefABCDEF") >= 4;
}

/* Codes instead of "?": names that differ must stay different, because two equal series make the
 * whole file invalid. */
static void put_code(FILE *to, uint32_t c)
{
    if (c > 0xffff)
        fprintf(to, "\\\\u%04" PRIx32, 0xd800 + ((c - 0x10000) >> 10));
    fprintf(to, "\\\\u%04" PRIx32, c > 0xffff ? 0xdc00 + (c & 0x3ff) : c);
}

void cli_prom_label(struct cli_prom *p, const char *key, const char *value)
{
    if (!p->labeled)
        fprintf(p->to, "%s{", p->metric);
    fprintf(p->to, "%s%s=\"", p->labeled ? "," : "", key);
    for (size_t n; *value != '\0'; value += n) {
        uint32_t c;
        bool shown;
        n = gcd_text_next(value, strlen(value), &c, &shown);
        if (c == '\n')
            fputs("\\n", p->to);
        else if (!shown || begins_code(value))
            put_code(p->to, c);
        else if (c == '\\' || c == '"')
            fprintf(p->to, "\\%c", (char)c);
        else
            (void)fwrite(value, 1, n, p->to);
    }
    putc('"', p->to);
    p->labeled = true;
}

/* Digit by digit: the decimal point of printf depends on the locale, and a double has 53 bits. */
void cli_prom_value(struct cli_prom *p, uint64_t value, uint64_t unit)
{
    uint64_t rest = value % unit;
    if (p->labeled)
        fputs("} ", p->to);
    else
        fprintf(p->to, "%s ", p->metric);
    fprintf(p->to, "%" PRIu64, value / unit);
    if (rest > 0)
        putc('.', p->to);
    for (; rest > 0; rest = rest * 10 % unit)
        putc((int)('0' + rest * 10 / unit), p->to);
    putc('\n', p->to);
    p->labeled = false;
}
