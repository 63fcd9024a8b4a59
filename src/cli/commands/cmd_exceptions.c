#include <jansson.h>
#include <stdio.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/exceptions.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/text/plural.h>

#include "answer/answers.h"
#include "args.h"
#include "commands/command_parts.h"
#include "commands/commands.h"
#include "commands/open_dump.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/fail.h"
#include "input/input.h"
#include "input/memory.h"
#include "output/document.h"
#include "output/json_out.h"
#include "term/progress.h"

#define DEFAULT_ROWS 20u

struct exceptions {
    const struct cli_args *args;
    struct cli_dump d;
    struct answer_of_exceptions of;
    struct answer *answer;
};

static enum cli_exit analyse(struct exceptions *s)
{
    const struct cli_view_args *view = &s->args->view;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_context context = cli_context_steps(s->args, "looking for exceptions");
    context.alloc = cli_alloc();
    s->of = (struct answer_of_exceptions){ .session = s->d.session,
                                           .in = s->d.input,
                                           .people = !view->json && !view->csv,
                                           .most = view->top != 0            ? view->top
                                                   : view->json || view->csv ? UINT64_MAX
                                                                             : DEFAULT_ROWS };
    if (view->values != CLI_VALUES_HIDDEN)
        s->of.view = gcd_session_values(s->d.session);
    if (answer_find_exceptions(&s->of, &context, &err) != GCD_OK ||
        answer_exceptions(&s->of, &s->answer, &err) != GCD_OK)
        return cli_fail(s->d.subject, &err);
    cli_progress_end();
    return CLI_DONE;
}

/* Why exceptions, or facts about them, are not there. */
static void print_notes(const struct exceptions *s)
{
    const struct gcd_image_facts *image = &cli_summary(&s->d)->image;
    bool hidden = s->args->view.values == CLI_VALUES_HIDDEN;
    putchar('\n');
    if (hidden)
        puts("Messages: --show-values.");
    else if (s->of.view.values == NULL)
        puts("No messages: " CLI_WHERE_TEXTS_ARE ".");
    bool known = answer_knows_thrown(s->of.found, s->d.graph);
    if (!known || (image->made_from[0] == '\0' && gcd_exceptions_totals(s->of.found).uncertain > 0))
        puts("Messages and inner exceptions only where they are certain, and not which were "
             "thrown: a core file,\n--direct, or collect --values all has all of that.");
    if (!image->with_dead)
        printf("Without those that are garbage, such as most that were caught%s.\n",
               image->made_from[0] != '\0' ? ": --with-dead" : "");
}

static enum cli_exit print_text(const struct exceptions *s)
{
    struct gcd_exception_totals t = gcd_exceptions_totals(s->of.found);
    uint64_t all = s->answer->total, rows = all < s->of.most ? all : s->of.most;
    cli_mark_incomplete(stdout, s->d.subject, &cli_summary(&s->d)->verdict);
    struct gcd_unnamed unnamed = gcd_types_unnamed(cli_summary(&s->d));
    bool untold = answer_is_untold(&unnamed, t.objects);
    char text[ANSWER_UNTOLD_BYTES];
    answer_untold(&unnamed, t.objects, "Exceptions", text);
    if (!untold)
        printf("Exceptions: %s", GCD_DIGITS(t.objects));
    if (!untold && answer_knows_thrown(s->of.found, s->d.graph))
        printf(", of which %s %s thrown", GCD_DIGITS(t.thrown),
               gcd_by_number(t.thrown, "was", "were"));
    bool complete = t.objects > 0 || text[0] != '\0' || cli_judge(&s->d) == CLI_DONE;
    printf("%s%s%s%s\n", untold ? "" : ".", untold ? "" : answer_may_be_missing(complete),
           untold || text[0] == '\0' ? "" : "  ", text);
    if (untold)
        return CLI_DONE;
    if (rows > 0) {
        putchar('\n');
        if (!render_text(s->answer, stdout) && !ferror(stdout))
            return cli_no_memory(s->d.subject);
    }
    if (rows < all)
        printf("(%s more; --top shows more)\n", GCD_DIGITS(all - rows));
    print_notes(s);
    return CLI_DONE;
}

json_t *cli_exceptions_head(json_t *o, const struct gcd_exceptions *found,
                            const struct gcd_graph *g)
{
    struct gcd_exception_totals t = gcd_exceptions_totals(found);
    struct gcd_unnamed u = gcd_types_unnamed(gcd_graph_summary(g));
    cli_json_told(o, "count", t.objects, &u);
    cli_json_told(o, "bytes", t.bytes, &u);
    if (answer_knows_thrown(found, g))
        cli_json_told(o, "thrown", t.thrown, &u);
    cli_json_names_missing(o, &u);
    return o;
}

static json_t *json_head(const struct exceptions *s)
{
    json_t *o = cli_exceptions_head(cli_json_head(s->d.subject), s->of.found, s->d.graph);
    if (s->of.view.values != NULL)
        json_object_set_new(o, "values", cli_json_values(gcd_values_facts(s->of.view.values)));
    return o;
}

static enum cli_exit print_all(const struct exceptions *s)
{
    const struct cli_view_args *view = &s->args->view;
    struct cli_titled answers[] = { { .key = "exceptions", .answer = s->answer } };
    return !view->json && !view->csv
               ? print_text(s)
               : cli_print_answers(s->args, &s->d, view->json ? json_head(s) : NULL, answers, 1);
}

enum cli_exit cmd_exceptions(const struct cli_args *args)
{
    struct exceptions s = { .args = args };
    enum cli_exit e = cli_open_session(args, CLI_NEED_GRAPH, &s.d);
    if (e == CLI_DONE)
        e = analyse(&s);
    if (e == CLI_DONE)
        e = cli_finish(args, &s.d, print_all(&s), 0);
    answer_free(s.answer);
    answer_exceptions_done(&s.of);
    cli_close(&s.d);
    return e;
}
