/* browse: a heap in a terminal. */
#include "args.h"
#include "commands/commands.h"
#include "exit.h"
#include "term/message.h"

#ifdef GCDUMPC_HAVE_BROWSE

#include <string.h>

#include "browse/ui.h"
#include "commands/open_dump.h"
#include "input/dump_verdict.h"

/* Starts with suspects, or with types when the heap is too large for suspects or the user cannot
 * wait. */
static void show_first(struct ui *ui)
{
    if (!ui_open_main(ui, BROWSE_SUSPECTS) && !ui->gone) {
        char why[UI_MESSAGE_BYTES];
        memcpy(why, ui->message, sizeof why);
        (void)ui_open_main(ui, BROWSE_TYPES);
        memcpy(ui->message, why, sizeof why);
    }
}

static enum cli_exit run(const struct cli_args *args, struct cli_dump *d)
{
    struct ui ui = { .args = args };
    ui.model = (struct browse_model){ .dump = d,
                                      .graph = d->graph,
                                      .summary = gcd_graph_summary(d->graph),
                                      .session = d->session,
                                      .names = d->names,
                                      .ascii = screen_is_ascii() };
    enum cli_exit e = screen_open();
    if (e != CLI_DONE)
        return e;
    cli_hold(true); /* messages would appear anywhere on the screen */
    show_first(&ui);
    while (!ui.done && !ui.gone) {
        ui_draw(&ui);
        ui_press(&ui, ui_key(&ui));
    }
    ui_free(&ui);
    screen_close();
    cli_hold(false);
    if (ui.gone)
        return cli_error(CLI_FAILED, d->subject, "interrupted");
    return CLI_DONE;
}

enum cli_exit cmd_browse(const struct cli_args *args)
{
    struct cli_dump d;
    enum cli_exit e = screen_check();
    if (e != CLI_DONE)
        return e;
    e = cli_open_session(args, CLI_NEED_PAGE, &d);
    if (e == CLI_DONE)
        e = run(args, &d);
    if (e == CLI_DONE) {
        cli_say_verdict(&d, args->quiet);
        e = cli_judge(&d);
    }
    cli_close(&d);
    return e;
}

#else

enum cli_exit cmd_browse(const struct cli_args *args)
{
    (void)args;
    return cli_error(CLI_FAILED, NULL,
                     "this build has no browser: it was made without ncursesw (GCDUMPC_BROWSE)");
}

#endif
