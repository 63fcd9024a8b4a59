#include <string.h>
#include <sys/stat.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/pages/pages.h>

#include "answer/answers.h"
#include "args.h"
#include "commands/commands.h"
#include "commands/compare_paths.h"
#include "commands/open_dump.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "output/output.h"

enum { BEFORE, AFTER };

/* ---- the page ---- */

/* How the suspects of the newer dump have grown. */
struct grown {
    const struct cli_comparison *c;
    struct answer_grown suspects;
};

static gcd_status find_grown(void *ctx, const struct gcd_suspects *suspects,
                             const struct gcd_page_growth **ret, size_t *ret_count,
                             struct gcd_page_said *ret_said, struct gcd_error *err)
{
    struct grown *g = ctx;
    gcd_status st = answer_grown_suspects(g->c->older, g->c->newest->session, suspects, g->c->paths,
                                          &g->suspects, err);
    *ret = g->suspects.rows;
    *ret_count = g->suspects.count;
    *ret_said = g->suspects.before;
    return st;
}

static enum cli_exit write_page(const struct cli_args *args, const struct cli_comparison *c,
                                struct gcd_sink *s)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_write_options options = { .context = cli_context_steps(args, "writing"),
                                         .name = c->newest->name };
    struct grown g = { .c = c };
    struct gcd_diff_page page = { .types = c->diff,
                                  .paths = c->paths,
                                  .retained = c->retained,
                                  .newer = c->newest->session,
                                  .options = &options,
                                  .grown = find_grown,
                                  .grown_ctx = &g };
    for (size_t i = BEFORE; i <= AFTER; i++)
        page.sides[i] = cli_compare_page_dump(c, i);
    gcd_status st = gcd_write_diff_page(&page, s, &err);
    answer_grown_done(&g.suspects);
    return st == GCD_OK ? cli_page_commit(args, s) : cli_fail(args->output.path, &err);
}

/* The page gets all rows, because its reader cannot ask again. */
static enum cli_exit diff_page(const struct cli_args *args)
{
    struct cli_args all = *args;
    struct cli_comparison c = { .args = NULL };
    struct cli_dump newest = { .input = NULL };
    struct gcd_sink *s = NULL;
    all.view.paths = all.view.retained = true;
    all.view.min_bytes = 0;
    enum cli_exit e = cli_page_open(args, "diff", &s);
    if (e == CLI_DONE)
        e = cli_compare_open(&all, &newest, &c);
    if (e == CLI_DONE)
        e = write_page(args, &c, s);
    if (e == CLI_DONE)
        e = cli_compare_end(&c);
    cli_compare_close(&c);
    cli_close(&newest);
    cli_page_close(s);
    return e;
}

/* Types are counted while a file is read, suspects need the whole graph: of larger files, only
 * --paths begins with what grew, which needs it anyhow. */
#define ANSWER_FILE_BYTES (INT64_C(16) << 20)

/* Does the output begin with what grew?  Only for people, and where it costs little. */
static bool wants_answer(const struct cli_args *args)
{
    bool wants = !args->view.json && !args->view.csv && args->view.filter == NULL &&
                 args->limits.max_memory_bytes == 0 &&
                 (args->view.paths || (args->limits.memory_bytes == 0 && !cli_is_live(args)));
    for (size_t i = 0; i < args->input_count && wants && !args->view.paths; i++) {
        struct stat st;
        wants = stat(args->inputs[i], &st) == 0 && S_ISREG(st.st_mode) &&
                st.st_size <= ANSWER_FILE_BYTES;
    }
    return wants;
}

enum cli_exit cmd_diff(const struct cli_args *args)
{
    struct cli_comparison c = { .wants_answer = wants_answer(args) };
    struct cli_dump newest = { .input = NULL };
    if (args->output.path != NULL)
        return diff_page(args);
    enum cli_exit e = cli_compare_open(args, c.wants_answer ? &newest : NULL, &c);
    if (e == CLI_DONE)
        e = args->view.paths ? cli_paths_print(&c) : cli_compare_print(&c, "types", answer_diff);
    if (e == CLI_DONE)
        e = cli_compare_end(&c);
    cli_compare_close(&c);
    cli_close(&newest);
    return e;
}
