#include "input/native_symbols.h"

#include <stdbool.h>
#include <stdio.h>

#include "term/path.h"

static const char *native_name(const struct gcd_summary *s, const struct gcd_module *m)
{
    const char *name = cli_path_name(m->path);
    return name[0] != '\0' ? name : s->process_name[0] != '\0' ? s->process_name : "PROGRAM";
}

const char *cli_symbols_wanted(const struct gcd_summary *s, const struct gcd_module *m,
                               char buf[CLI_SYMBOLS_BYTES])
{
    const char *id = m->build_id != NULL ? m->build_id : "";
    (void)snprintf(buf, CLI_SYMBOLS_BYTES,
                   "--modules DIR finds them in %.100s.dbg, which publishing makes%s%.64s",
                   native_name(s, m), id[0] != '\0' ? "; build id " : "", id);
    return buf;
}

const char *cli_symbols_text(const struct gcd_summary *s, const struct gcd_module *m,
                             char buf[CLI_SYMBOLS_BYTES])
{
    char wanted[CLI_SYMBOLS_BYTES];
    const char *id = m->build_id != NULL ? m->build_id : "";
    bool known = m->state == GCD_MODULE_READ || m->state == GCD_MODULE_RECORDED;
    if (known)
        (void)snprintf(buf, CLI_SYMBOLS_BYTES, "%s%.100s%s%.64s",
                       m->state == GCD_MODULE_RECORDED ? "in the recording, of " : "of ",
                       native_name(s, m), id[0] != '\0' ? ", build id " : "", id);
    else
        (void)snprintf(buf, CLI_SYMBOLS_BYTES, "none%s%.80s: %.300s",
                       m->problem[0] != '\0' ? ", " : "", m->problem,
                       cli_symbols_wanted(s, m, wanted));
    return buf;
}
