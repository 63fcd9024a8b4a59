/*
 * gcdumpc mcp: a server of the Model Context Protocol for programs that look for leaks.
 *
 *     mcp_lines     bytes to lines
 *     mcp_rpc       lines to messages, and answers
 *     mcp_server    reads and answers; hands calls of tools to one worker, cancels them
 *     mcp_call      the arguments and the answer of one call
 *     mcp_page      rows of an answer, in pages of a stated size
 *     mcp_heaps     the heaps that are open
 *     mcp_root      files below one folder
 *     tools/        the tools, each a row of a table with its arguments and the shape of its answer
 */
#ifndef GCD_CLI_MCP_H
#define GCD_CLI_MCP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/session.h>

#include "answer/answers.h"
#include "args.h"
#include "input/input.h"
#include "mcp/mcp_rpc.h"

#define MCP_QUEUE_MAX 32u /* most waiting calls */
#define MCP_HEAPS_MAX 16u
#define MCP_NOTES_MAX 20u /* most messages kept per call */

/* ---- tools ---- */

enum mcp_kind {
    MCP_TEXT,
    MCP_NUMBER,
    MCP_FLAG,
    MCP_OBJECT
}; /* OBJECT: an address "0x...", or the number of an object */

struct mcp_arg {
    const char *name;
    enum mcp_kind kind;
    bool required;
    int64_t min, max;  /* for a NUMBER */
    const char *words; /* "a|b|c": the allowed texts; NULL = any */
    const char *about;
};

enum mcp_outcome { MCP_DONE, MCP_FAILED };

struct mcp_call;

/* Flags of a tool: the arguments it takes besides its own. */
#define MCP_TAKES_HEAP 1u
#define MCP_PAGED      2u
#define MCP_CHANGES    4u /* it changes something */

struct mcp_tool {
    const char *name, *title, *about;
    const struct mcp_arg *args; /* the last one has no name */
    const char *answer;         /* the shape of its answer, in the notation of mcp_schema.h */
    unsigned flags;
    enum mcp_outcome (*run)(struct mcp_call *c);
    const struct answer_shape *shapes[6]; /* of the rows in ANSWER, in its order */
};

/* Tool I in list order; NULL after the last. */
const struct mcp_tool *mcp_tool_at(size_t i);
const struct mcp_tool *mcp_tool_find(const char *name);

extern const struct mcp_tool mcp_list_processes, mcp_collect, mcp_open, mcp_summary, mcp_close,
    mcp_suspects, mcp_types, mcp_type, mcp_object, mcp_paths, mcp_retained, mcp_tree, mcp_async,
    mcp_strings, mcp_exceptions, mcp_diff, mcp_sql;

/* ---- heaps ---- */

struct mcp_heap {
    char id[8];            /* "h1"; never used again */
    char *file;            /* as the client named it */
    struct cli_args *args; /* the arguments it was opened with */
    struct cli_dump d;     /* with names and session */
    json_t *notes;         /* what the commands report about it, an array of texts */
    char *incomplete;      /* the message that says so; NULL = it is complete */
};

struct mcp_heaps {
    struct mcp_heap *items[MCP_HEAPS_MAX];
    size_t count;
    unsigned last_number;
};

/* ---- the server ---- */

struct mcp_request {
    struct mcp_request *next;
    struct mcp_message message;
    bool modern;
};

struct mcp_server {
    const struct cli_args *args;
    /* the folder that files must be in; -1 = none, so files are refused */
    int root_fd;
    const char *root; /* the name of that folder, for people */
    struct mcp_out out;
    struct mcp_heaps heaps; /* used only by the worker */
    pthread_mutex_t lock;   /* protects the members below */
    pthread_cond_t wake;
    struct mcp_request *first, *last;
    size_t waiting;
    struct mcp_request *current; /* what the worker is working on; NULL = nothing */
    bool canceled;               /* the client canceled it */
    uint64_t until_ns;           /* deadline of that call; 0 = none */
    bool late;                   /* the deadline has passed */
    bool ended;                  /* the input has ended */
    bool initialized;            /* a client of the older revision has sent "initialize" */
};

/* Initializes S.  ARGS and TO must outlive it.  False: out of memory. */
bool mcp_server_init(struct mcp_server *s, const struct cli_args *args, FILE *to);
void mcp_server_done(struct mcp_server *s);
/* Handles a line of the client; LINE NULL: it was too long.  Answers at once, or queues a call for
 * mcp_work.  CTX is the server. */
void mcp_take(void *ctx, const char *line, size_t n);
/* Runs the next call; false: none is waiting. */
bool mcp_work(struct mcp_server *s);
/* For the worker: gives the current call SECONDS from now; 0 = no limit. */
void mcp_set_limit(struct mcp_server *s, uint64_t seconds);
/* Reads and answers standard input to its end; returns the exit status of the program. */
enum cli_exit mcp_serve(struct mcp_server *s);

/* mcp_list.c: results of "initialize", "server/discover" and "tools/list"; NULL: no memory. */
json_t *mcp_initialize_result(const struct mcp_server *s);
json_t *mcp_discover_result(const struct mcp_server *s);
json_t *mcp_list_result(const struct mcp_server *s, bool modern);

#endif
