#include <errno.h>

#include "input/dump_verdict.h"
#include "input/input.h"
#include "output/document.h"
#include "term/message.h"

static bool print_json(const struct cli_document *doc, FILE *to)
{
    json_t *o = doc->head;
    bool ok = o != NULL;
    for (size_t i = 0; i < doc->count; i++)
        ok = json_object_set_new(o, doc->answers[i].key,
                                 render_json_rows(doc->answers[i].answer, NULL)) == 0 &&
             ok;
    ok = cli_json_put_verdict(o, doc->d) && ok;
    if (ok)
        return cli_json_print(o, to) == 0;
    json_decref(o);
    errno = errno != 0 ? errno : ENOMEM;
    return false;
}

static bool print_text(const struct cli_document *doc, FILE *to)
{
    bool ok = true;
    cli_mark_incomplete(to, doc->d->subject, &cli_summary(doc->d)->verdict);
    for (size_t i = 0; i < doc->count && ok; i++) {
        if (doc->answers[i].title != NULL)
            fprintf(to, "%s%s\n", i > 0 ? "\n" : "", doc->answers[i].title);
        ok = render_text(doc->answers[i].answer, to);
    }
    return ok;
}

enum cli_exit cli_print_document(const struct cli_document *doc, FILE *to)
{
    bool ok = true;
    errno = 0;
    if (doc->as == CLI_AS_JSON)
        ok = print_json(doc, to);
    else if (doc->as == CLI_AS_TEXT)
        ok = print_text(doc, to);
    for (size_t i = 0; i < doc->count && ok && doc->as == CLI_AS_CSV; i++)
        ok = render_csv(doc->answers[i].answer, to);
    if (ok || ferror(to))
        return CLI_DONE;
    return cli_error(CLI_FAILED, doc->d->subject, "%s",
                     errno == ENOMEM ? "out of memory" : "cannot print the result");
}

enum cli_exit cli_print_answers(const struct cli_args *args, const struct cli_dump *d, json_t *head,
                                const struct cli_titled *answers, size_t n)
{
    struct cli_document doc = { .d = d,
                                .as = args->view.json  ? CLI_AS_JSON
                                      : args->view.csv ? CLI_AS_CSV
                                                       : CLI_AS_TEXT,
                                .head = head,
                                .answers = answers,
                                .count = n };
    return cli_print_document(&doc, stdout);
}
