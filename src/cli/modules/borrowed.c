#include "modules/borrowed.h"

#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/read.h>
#include <gcdumpc/unstable/full_names.h>

#include "input/fail.h"
#include "input/memory.h"
#include "term/message.h"

/* Does D have types of a native program, all without names? */
static bool lacks_names(const struct gcd_summary *s)
{
    bool native = false;
    for (size_t i = 0; i < s->module_count; i++) {
        const struct gcd_module *m = &s->modules[i];
        if (m->native && (m->state == GCD_MODULE_READ || m->state == GCD_MODULE_RECORDED))
            return false;
        native = native || m->native;
    }
    return native;
}

/* Opens FILE, or FILE of FILE#2. */
static gcd_status open_other(const char *file, const struct gcd_input_options *options,
                             struct gcd_input **ret, struct gcd_error *err)
{
    gcd_status st = gcd_input_open(file, options, ret, err);
    const char *hash = strrchr(file, '#');
    char *whole = st == GCD_E_IO && hash != NULL ? strndup(file, (size_t)(hash - file)) : NULL;
    if (whole != NULL)
        st = gcd_input_open(whole, options, ret, err);
    free(whole);
    return st;
}

/* Borrows from FILE.  What cannot be read lends nothing: whoever compares it says why. */
static gcd_status borrow_from(const struct cli_args *args, const char *file, struct gcd_dump *d,
                              bool *ret_same, struct gcd_error *err)
{
    struct gcd_input_options input_options = { .context = cli_context(args, NULL) };
    struct gcd_dump_options options = { .context = cli_context(args, "reading"),
                                        .no_layouts = true };
    struct gcd_input *in = NULL;
    struct gcd_dump *other = NULL;
    struct gcd_error own = GCD_ERROR_INIT;
    const char *format = NULL;
    gcd_status st = open_other(file, &input_options, &in, &own);
    if (st == GCD_OK)
        st = gcd_graph_probe(in, &format, &own);
    if (st == GCD_OK && format == NULL)
        st = gcd_dump_open(in, &options, &other, &own);
    if (st == GCD_OK && other != NULL)
        st = gcd_dump_borrow_names(d, gcd_dump_summary(other), ret_same, &own);
    gcd_dump_free(other);
    gcd_input_free(in);
    if (st != GCD_E_NOMEM && st != GCD_E_CANCELED)
        return GCD_OK;
    *err = own;
    return st;
}

enum cli_exit cli_borrow_names(const struct cli_args *args, const struct cli_dump *d)
{
    if (d->dump == NULL || !lacks_names(gcd_dump_summary(d->dump)))
        return CLI_DONE;
    for (size_t i = 0; i < args->modules.other_count; i++) {
        const char *file = args->modules.others[i];
        struct gcd_error err = GCD_ERROR_INIT;
        bool same = false;
        if (strcmp(file, "-") == 0 || (args->input != NULL && strcmp(file, args->input) == 0))
            continue;
        if (borrow_from(args, file, d->dump, &same, &err) != GCD_OK)
            return cli_fail(d->subject, &err);
        if (!same || lacks_names(gcd_dump_summary(d->dump)))
            continue;
        if (!args->quiet)
            cli_say(d->subject, "takes the names of types from %s, of the same build", file);
        return CLI_DONE;
    }
    return CLI_DONE;
}
