#include "output/prom.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "term/term.h"

void cli_prom_metric(struct cli_prom *p, const char *name, const char *help)
{
    p->metric = name;
    p->labeled = false;
    fprintf(p->to, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static bool is_utf8(const char *s)
{
    /* NULL also when out of memory: the label is shorter then, but correct */
    json_t *j = json_string(s);
    json_decref(j);
    return j != NULL;
}

void cli_prom_label(struct cli_prom *p, const char *key, const char *value)
{
    bool utf8 = is_utf8(value), terminal = isatty(fileno(p->to));
    if (!p->labeled)
        fprintf(p->to, "%s{", p->metric);
    fprintf(p->to, "%s%s=\"", p->labeled ? "," : "", key);
    for (const char *s = value; *s != '\0'; s++)
        if (*s == '\n')
            fputs("\\n", p->to);
        else if (*s == '\\' || *s == '"')
            fprintf(p->to, "\\%c", *s);
        else if (terminal) /* distinct names must stay distinct: two equal series make the whole
                              file invalid */
            s += cli_print_char(p->to, s) - 1;
        else
            putc((signed char)*s < 0 && !utf8 ? '?' : *s, p->to);
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
