#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/text/plural.h>

#include "answer/answers.h"
#include "args.h"
#include "commands/object_paths.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/fail.h"
#include "input/input.h"
#include "output/document.h"
#include "output/json_out.h"
#include "term/message.h"
#include "term/term.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Of an object for people. */
#define LINE_BYTES   100u
#define FIELDS_SHOWN 100u

enum cli_exit cli_find_object(const char *which, const struct cli_dump *d, uint32_t *ret)
{
    bool is_address = which[0] == '0' && (which[1] == 'x' || which[1] == 'X');
    const char *digits = is_address ? which + 2 : which;
    size_t n = strlen(digits),
           good = strspn(digits, is_address ? "0123456789abcdefABCDEF" : "0123456789");
    errno = 0;
    uint64_t number = strtoull(digits, NULL, is_address ? 16 : 10);
    if (n == 0 || good < n || errno != 0)
        return cli_error(CLI_USAGE, NULL,
                         "--object takes an address (0x...) or the number of an object, not \"%s\"",
                         which);
    if (is_address && gcd_graph_notes(d->graph)->addresses_made_up)
        return cli_error(
            CLI_FAILED, d->subject,
            "there are no addresses in this dump; --object takes the number of an object");
    if (is_address)
        *ret = gcd_graph_find(d->graph, number);
    else
        *ret = number < gcd_graph_node_count(d->graph) ? (uint32_t)number : GCD_NODE_NONE;
    if (*ret != GCD_NODE_NONE)
        return CLI_DONE;
    if (is_address)
        cli_say(d->subject,
                "there is no object at %s; gcdumpc retained shows addresses, which differ between "
                "dumps",
                which);
    else
        cli_say(d->subject, "there is no object %s; they are numbered from 0 to %" PRIu32, which,
                gcd_graph_node_count(d->graph) - 1);
    return CLI_FAILED;
}

static json_t *json_head(const struct cli_dump *d, const struct answer_of_paths *of)
{
    json_t *o = cli_json_head(d->subject);
    json_object_set_new(o, "orientation", json_string(of->to_root ? "to_root" : "from_root"));
    cli_json_count(o, "guessed_roots", gcd_paths_pseudo_roots(of->paths));
    json_object_set_new(o, "reachable",
                        json_boolean(gcd_paths_parent(of->paths, of->object) != GCD_NODE_NONE));
    return o;
}

static bool is_frozen(const struct cli_dump *d, const struct gcd_paths *p, uint32_t object)
{
    struct gcd_generations *ages = NULL;
    size_t hint = 0;
    struct gcd_error err = GCD_ERROR_INIT;
    bool frozen =
        gcd_frozen_new(cli_summary(d), gcd_paths_pseudo_roots(p), NULL, &ages, &err) == GCD_OK &&
        gcd_is_frozen(ages, gcd_graph_node_address(d->graph, object), &hint);
    gcd_generations_free(ages);
    return frozen;
}

/* The fields of OBJECT as a debugger shows them: "Order { Id = 4711 }", a line for each where that
 * is too long. */
static void print_object(const struct cli_dump *d, uint32_t object, struct answer *fields)
{
    const char *type = gcd_names_get(d->names, gcd_graph_node_type(d->graph, object));
    size_t all = answer_plain_rows(fields), n = all < FIELDS_SHOWN ? all : FIELDS_SHOWN,
           length = strlen(type) + 4;
    for (size_t i = 0; i < n; i++)
        length += strlen(answer_value_line(fields, i)) + 2;
    bool wraps = length > LINE_BYTES;
    cli_print_sanitized(stdout, type);
    printf(" {");
    for (size_t i = 0; i < n; i++) {
        printf(wraps ? "\n  " : " ");
        cli_print_sanitized(stdout, answer_value_line(fields, i));
        printf(i + 1 < all ? "," : "");
    }
    if (n < all)
        printf("\n  (%s more)", GCD_DIGITS(all - n));
    printf(wraps ? "\n}\n" : " }\n");
}

enum cli_exit cli_object_paths(const struct cli_args *args, const struct cli_dump *d,
                               const struct gcd_paths *p, uint32_t object)
{
    struct gcd_context context = cli_context(args, NULL);
    struct answer_of_paths of = {
        .session = d->session,
        .call = &context,
        .paths = p,
        .object = object,
        .max = args->view.max_paths != 0 ? (uint32_t)args->view.max_paths : CLI_DEFAULT_PATHS,
        .to_root = args->view.to_root,
        .folds = cli_folds(args),
    };
    struct gcd_error err = GCD_ERROR_INIT;
    struct cli_titled titled[] = { { .key = "paths" }, { .key = "fields" } };
    gcd_status st = answer_object_paths(&of, &titled[0].answer, &err);
    if (st == GCD_OK)
        st = answer_object_values(d->session, &context, object, &titled[1].answer, &err);
    char number[ANSWER_OBJECT_BYTES];
    if (st == GCD_OK && titled[1].answer != NULL && !args->view.json && !args->view.csv)
        print_object(d, object, titled[1].answer);
    if (st == GCD_OK && answer_plain_rows(titled[0].answer) == 0)
        cli_say(d->subject, "no root leads to the object %s, a %s%s%s",
                answer_object_text(d->graph, object, number),
                gcd_names_get(d->names, gcd_graph_node_type(d->graph, object)),
                is_frozen(d, p, object) ? ": it is frozen, a literal or type that only code holds"
                                        : "",
                cli_judge(d) == CLI_DONE ? "" : "; what is missing in the dump may");
    enum cli_exit e =
        st != GCD_OK
            ? cli_fail(d->subject, &err)
            : cli_print_answers(args, d, args->view.json ? json_head(d, &of) : NULL, titled,
                                args->view.json && titled[1].answer != NULL ? 2 : 1);
    answer_free(titled[0].answer);
    answer_free(titled[1].answer);
    return e;
}
