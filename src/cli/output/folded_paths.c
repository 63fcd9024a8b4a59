#include "output/folded_paths.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <gcdumpc/gcdumpc.h>

#include "input/fail.h"
#include "input/memory.h"
#include "output/filter.h"
#include "term/message.h"

/* Adds what PATTERN means to MINE[types]. */
static enum cli_exit add_mine(const char *pattern, const struct cli_dump *d, const struct gcd_names *names, uint8_t *mine, uint8_t *room)
{
    const struct gcd_summary *summary = cli_type_summary(d);
    struct cli_filter *filter;
    bool any = false;
    enum cli_exit e = cli_filter_new(pattern, &filter);
    if (e == CLI_DONE)
        e = cli_filter_select(filter, d->subject, summary, names, room);
    for (uint32_t i = 0; i < summary->type_count && e == CLI_DONE; i++) {
        mine[i] |= room[i];
        any = any || room[i] != 0;
    }
    if (e == CLI_DONE && !any)
        cli_say(d->subject, "no type matches --mine \"%s\"", pattern);
    cli_filter_free(filter);
    return e;
}

enum cli_exit cli_mine_of(const struct cli_args *args, const struct cli_dump *d, const struct gcd_names *names, uint8_t **ret)
{
    size_t n = (size_t)cli_type_summary(d)->type_count + 1;
    *ret = NULL;
    if (args->view.mine[0] == NULL)
        return CLI_DONE;
    uint8_t *mine = calloc(2, n);
    enum cli_exit e = mine != NULL ? CLI_DONE : cli_no_memory(d->subject);
    for (size_t i = 0; i < CLI_MINE_MAX && args->view.mine[i] != NULL && e == CLI_DONE; i++)
        e = add_mine(args->view.mine[i], d, names, mine, mine + n);
    if (e == CLI_DONE)
        *ret = mine;
    else
        free(mine);
    return e;
}

enum cli_exit cli_origins_of(const struct cli_args *args, const struct cli_dump *d, const struct gcd_names *names, struct gcd_origins **ret)
{
    uint8_t *mine;
    struct gcd_error err = GCD_ERROR_INIT;
    enum cli_exit e = cli_mine_of(args, d, names, &mine);
    struct gcd_origins_options options = { .alloc = cli_alloc(), .mine = mine };
    if (e == CLI_DONE && gcd_origins_new(cli_type_summary(d), &options, ret, &err) != GCD_OK)
        e = cli_fail(d->subject, &err);
    free(mine);
    return e;
}

enum cli_exit cli_folding_of(const struct cli_dump *d, struct cli_folding *ret)
{
    struct gcd_error err = GCD_ERROR_INIT;
    *ret = (struct cli_folding){ .session = d->session };
    gcd_status st = gcd_session_origins(d->session, NULL, &ret->origins, &err);
    if (st == GCD_OK)
        st = gcd_session_collections(d->session, NULL, &ret->collections, &err);
    return st == GCD_OK ? CLI_DONE : cli_fail(d->subject, &err);
}

const char *cli_hidden_text(uint64_t n, uint64_t library, char buf[CLI_HIDDEN_BYTES])
{
    const char *whose = library == 0 ? "framework" : library == n ? "library" : "framework and library";
    (void)snprintf(buf, CLI_HIDDEN_BYTES, "... %" PRIu64 " %s step%s", n, whose, n == 1 ? "" : "s");
    return buf;
}

void cli_fold_cells(struct cli_table *t, const struct gcd_origins *o, uint32_t type, enum gcd_fold fold)
{
    static const char *const folds[] = { "shown", "inside", "hidden" };  /* enum gcd_fold */
    if (type == GCD_TYPE_NONE) {
        cli_table_none(t);
        cli_table_none(t);
        return;
    }
    cli_table_text(t, gcd_origin_name(gcd_origins_get(o, type)));
    cli_table_text(t, folds[fold]);
}
