/* diff begins with what has grown, by the rules of leaks OLD NEW, which compares suspects. */
#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/session/views.h>

#include "answer/answers.h"
#include "commands/compare.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "term/progress.h"

#include <stdio.h>

/* The line for the open newest dump, in TEXT. */
static gcd_status find_line(const struct cli_comparison *c, char text[ANSWER_LINE_BYTES],
                            bool *ret_any, struct gcd_error *err)
{
    struct gcd_context looking = cli_context_steps(c->args, "looking for suspects");
    struct answer_of_suspects of = { .session = c->newest->session, .older = c->older };
    const struct gcd_paths *paths;
    gcd_status st =
        gcd_session_paths_with_dominators(of.session, &looking, &of.dominators, &paths, err);
    if (st != GCD_OK || gcd_paths_pseudo_roots(paths) > 0) /* then it would be a guess */
        return st;
    st = gcd_session_origins(of.session, &looking, &of.origins, err);
    if (st == GCD_OK)
        st = gcd_session_suspects(of.session, &looking, &of.suspects, err);
    if (st == GCD_OK)
        st = answer_older_match(c->older, of.session, of.suspects, NULL, err);
    return st == GCD_OK ? answer_growth_line(&of, text, ret_any, err) : st;
}

enum cli_exit cli_growth_say(const struct cli_comparison *c)
{
    struct gcd_error err = GCD_ERROR_INIT;
    char text[ANSWER_LINE_BYTES];
    bool any = false, complete = true;
    for (size_t i = 0; i < c->side_count; i++)
        complete = complete && c->sides[i].verdict.complete;
    if (!c->wants_answer || c->older == NULL || !complete)
        return CLI_DONE;
    if (find_line(c, text, &any, &err) != GCD_OK)
        return cli_fail(c->newest->subject, &err);
    cli_progress_end();
    if (!any)
        return CLI_DONE;
    cli_print_sanitized(stdout, text);
    (void)fputs("\n\n", stdout); /* cli_flush_stdout reports failed writes */
    return CLI_DONE;
}
