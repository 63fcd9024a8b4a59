/*
 * Parts of commands that others also use: the outputs of convert for collect and jobs, processes as
 * ps shows them, and what mcp takes from async, exceptions and strings.
 */
#ifndef GCD_CLI_COMMAND_PARTS_H
#define GCD_CLI_COMMAND_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/async.h>
#include <gcdumpc/unstable/duplicates.h>
#include <gcdumpc/unstable/exceptions.h>
#include <gcdumpc/unstable/type_names.h>

#include "args.h"
#include "exit.h"
#include "input/input.h"
#include "output/output.h"
#include "output/pattern.h"
#include "summary/summary.h"

/* cmd_convert.c: -o and --summary.  Open them before anything is read. */
struct cli_outputs {
    struct cli_output file;
    struct gcd_sink *summary; /* NULL = none */
};
/* On failure the message has been printed; call cli_outputs_close in any case. */
enum cli_exit cli_outputs_open(const struct cli_args *args, struct cli_outputs *ret);
/* Writes D, whose process is called NAME (NULL: as D says).  CLI_DONE, CLI_INCOMPLETE or
 * CLI_FAILED. */
enum cli_exit cli_outputs_write(const struct cli_args *args, struct cli_outputs *to,
                                const char *name, struct cli_dump *d);
void cli_outputs_close(struct cli_outputs *to);

/* cmd_sites.c: as cli_open.  With collect --window, allocations are sampled before, and RET has
 * sites (and a graph). */
enum cli_exit cli_open_sampled(const struct cli_args *args, enum cli_need need,
                               struct cli_dump *ret);

#ifdef GCDUMPC_HAVE_IPC
/* cmd_ps.c */
/* The name of user UID in BUF[CAP], or the number if it has none; "" for UINT32_MAX, unknown. */
const char *cli_user_name(uint32_t uid, char *buf, size_t cap);
/* How the process answered: "ok", "no access", "no answer", "failed". */
const char *cli_process_answer(const struct gcd_ipc_process *p);
/* Adds to ROW the id and name of P's container, and the number of P inside. */
void cli_json_put_container(json_t *row, const struct gcd_ipc_process *p);
#endif

/* cmd_async.c */
/* Compiles TEXT, a glob or "/REGEX/", which must outlive *RET.  CLI_USAGE or CLI_FAILED after a
 * message.  Free with cli_pattern_free. */
enum cli_exit cli_stack_pattern(const char *text, struct cli_pattern **ret);
/* Chooses the stacks with at least MIN_BYTES that have a frame whose name matches P (NULL: all):
 * *RET[*RET_N], to be freed.  CLI_MATCH; or why it could not. */
enum cli_match cli_choose_stacks(const struct gcd_async *async, struct cli_pattern *p,
                                 uint64_t min_bytes, uint32_t **ret, size_t *ret_n);
/* Sorts STACKS[N]: those with code of the program, *RET_OWN of them, then of libraries, then all
 * others; else in the same order.  False: out of memory. */
bool cli_own_stacks_first(const struct gcd_async *async, const struct gcd_origins *origins,
                          uint32_t *stacks, size_t n, size_t *ret_own);
/* Adds the totals to O, which is returned; U: of the same dump. */
json_t *cli_async_head(json_t *o, const struct gcd_async *async, const struct gcd_unnamed *u);
struct answer;
/* Prints the rows of JAM (answer_jam), a paragraph each; false: out of memory. */
bool cli_print_waiting(const struct answer *jam);

/* cmd_exceptions.c: adds the totals of FOUND on G to O, which is returned. */
json_t *cli_exceptions_head(json_t *o, const struct gcd_exceptions *found,
                            const struct gcd_graph *g);

/* Where texts of strings come from, for messages. */
#define CLI_WHERE_TEXTS_ARE \
    "a core file has them, and a recording made with gcdumpc collect --values strings"

/* cmd_strings.c */
struct cli_strings_wanted {
    enum gcd_duplicate_kind kind;
    struct cli_pattern *filter; /* that the text matches; NULL = all */
    uint64_t min_bytes;
    bool only_copies;     /* without what is there once */
    uint64_t first, most; /* of those that match */
};
struct cli_strings_chosen {
    const struct gcd_duplicate **rows; /* [count], to be freed */
    size_t count;
    uint64_t matched;
};
/* The contents of D, whose values are V, that W describes.  CLI_MATCH; or why it could not. */
enum cli_match cli_choose_strings(const struct gcd_duplicates *d, const struct gcd_values *v,
                                  const struct cli_strings_wanted *w,
                                  struct cli_strings_chosen *ret);
/* The answer of CHOSEN, which were of KIND; context as for gcd_duplicates_holders. */
struct cli_strings_shown {
    struct gcd_session *session;
    struct gcd_values_view view;
    const struct gcd_duplicates *duplicates;
    enum gcd_duplicate_kind kind;
    const struct cli_strings_chosen *chosen;
};
gcd_status cli_answer_strings(const struct cli_strings_shown *of, const struct gcd_context *context,
                              struct answer **ret, struct gcd_error *err);
/* Adds the totals of KIND to O, which is returned; U: of the same dump. */
json_t *cli_strings_head(json_t *o, const struct gcd_duplicates *d, enum gcd_duplicate_kind kind,
                         const struct gcd_unnamed *u);

#endif
