/*
 * JSON-RPC 2.0 as the Model Context Protocol uses it: one message per line.
 */
#ifndef GCD_CLI_MCP_RPC_H
#define GCD_CLI_MCP_RPC_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

/* Supported revisions: the newest, in which every request states its version in "_meta", and the
 * one before, which begins with "initialize". */
#define MCP_MODERN "2026-07-28"
#define MCP_LEGACY "2025-11-25"
#define MCP_META   "io.modelcontextprotocol/"

/* Writes numbers as SQLite does: 0.9582 stays 0.9582. */
#define MCP_REALS JSON_REAL_PRECISION(15)

enum mcp_code {
    MCP_E_PARSE = -32700,
    MCP_E_REQUEST = -32600,
    MCP_E_METHOD = -32601,
    MCP_E_PARAMS = -32602,
    MCP_E_INTERNAL = -32603,
    MCP_E_VERSION = -32022
};

struct mcp_message {
    json_t *root;       /* owned; the members below point into it */
    const json_t *id;   /* a string or an integer; NULL = a notification */
    const char *method; /* NULL = an answer, which is ignored */
    json_t *params;     /* an object; NULL = none */
};

/*
 * Parses LINE[N].  Returns NULL and sets *RET; or returns a sentence about the error, with
 * *RET_CODE, and RET->id if the id could be read.  Call mcp_message_done in any case.
 */
const char *mcp_message_parse(const char *line, size_t n, struct mcp_message *ret,
                              enum mcp_code *ret_code);
void mcp_message_done(struct mcp_message *m);

/* Output of answers: whole lines, from any thread. */
struct mcp_out {
    pthread_mutex_t lock;
    FILE *to;
    bool gone; /* the reader is gone */
};

/* Send the answer to ID: RESULT, which is released, or an error (ID NULL: it could not be read)
 * with DATA, which may be NULL and is released. */
void mcp_send_result(struct mcp_out *out, const json_t *id, json_t *result);
void mcp_send_error(struct mcp_out *out, const json_t *id, enum mcp_code code, const char *text,
                    json_t *data);
/* Sends a message that has no answer. */
void mcp_send_notification(struct mcp_out *out, const char *method, json_t *params);
/* Is the reader gone? */
bool mcp_out_gone(struct mcp_out *out);

/* Are the ids equal? */
static inline bool mcp_same_id(const json_t *a, const json_t *b)
{
    return json_typeof(a) == json_typeof(b) && json_equal(a, b);
}

#endif
