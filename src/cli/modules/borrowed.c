#include "modules/borrowed.h"

#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/read.h>
#include <gcdumpc/unstable/full_names.h>

#include "input/fail.h"
#include "modules/module_names.h"
#include "term/message.h"

bool cli_lacks_names(const struct cli_dump *d)
{
    const struct gcd_summary *s = d->dump != NULL ? gcd_dump_summary(d->dump) : NULL;
    bool native = false;
    for (size_t i = 0; s != NULL && i < s->module_count; i++) {
        const struct gcd_module *m = &s->modules[i];
        if (m->native && (m->state == GCD_MODULE_READ || m->state == GCD_MODULE_RECORDED))
            return false;
        native = native || m->native;
    }
    return native;
}

/* The build of the native program in D; "" = unknown, NULL = it has none. */
static const char *build_of(const struct cli_dump *d)
{
    const struct gcd_summary *s = d->dump != NULL ? gcd_dump_summary(d->dump) : NULL;
    for (size_t i = 0; s != NULL && i < s->module_count; i++)
        if (s->modules[i].native)
            return s->modules[i].build_id != NULL ? s->modules[i].build_id : "";
    return NULL;
}

bool cli_may_borrow(const struct cli_dump *d, const struct cli_dump *other)
{
    const char *to = build_of(d), *from = build_of(other);
    return to != NULL && from != NULL && cli_lacks_names(d) && !cli_lacks_names(other) &&
           (to[0] == '\0' || from[0] == '\0' || strcmp(to, from) == 0);
}

void cli_say_borrowed(const char *subject, const char *from)
{
    cli_say(subject, "takes the names of types from %s, of the same build", from);
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
    for (size_t i = 0; i < args->modules.other_count && cli_lacks_names(d); i++) {
        const char *file = args->modules.others[i];
        struct gcd_error err = GCD_ERROR_INIT;
        bool same = false;
        if (strcmp(file, "-") == 0 || (args->input != NULL && strcmp(file, args->input) == 0))
            continue;
        if (borrow_from(args, file, d->dump, &same, &err) != GCD_OK)
            return cli_fail(d->subject, &err);
        if (same && !cli_lacks_names(d) && !args->quiet)
            cli_say_borrowed(d->subject, file);
    }
    return CLI_DONE;
}

enum cli_exit cli_borrow_from_process(const struct cli_args *args, const struct cli_dump *d,
                                      const struct cli_dump *process)
{
    if (args->modules.off || process->pid == 0)
        return CLI_DONE;
    enum cli_exit e = cli_read_modules_of(args, d, process->pid);
    if (e == CLI_DONE && !cli_lacks_names(d) && !args->quiet)
        cli_say_borrowed(d->subject, process->subject);
    return e;
}
