/*
 * JSON-RPC 2.0 as the Model Context Protocol uses it: one message a line.
 */
#ifndef GCD_CLI_MCP_RPC_H
#define GCD_CLI_MCP_RPC_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

/*
 * The revisions that are spoken: the newest, in which every request says its version in "_meta", and the one before, which begins with
 * "initialize".
 */
#define MCP_MODERN "2026-07-28"
#define MCP_LEGACY "2025-11-25"
#define MCP_META "io.modelcontextprotocol/"

/* Numbers are written as SQLite does: 0.9582 stays that. */
#define MCP_REALS JSON_REAL_PRECISION(15)

enum mcp_code {
    MCP_E_PARSE = -32700, MCP_E_REQUEST = -32600, MCP_E_METHOD = -32601, MCP_E_PARAMS = -32602, MCP_E_INTERNAL = -32603,
    MCP_E_VERSION = -32022
};

struct mcp_message {
    json_t *root;                /* owned; what follows is part of it */
    const json_t *id;            /* a string or an integer; NULL: a notification */
    const char *method;          /* NULL: an answer, which nobody asked for */
    json_t *params;              /* an object; NULL = none */
};

/*
 * Parses LINE[N].  NULL and *RET; or a sentence about what is wrong, with *RET_CODE, and in RET->id the id when it could be read.  Call
 * mcp_message_done in any case.
 */
const char *mcp_message_parse(const char *line, size_t n, struct mcp_message *ret, enum mcp_code *ret_code);
void mcp_message_done(struct mcp_message *m);

/* Where answers go: whole lines, from any thread. */
struct mcp_out {
    pthread_mutex_t lock;
    FILE *to;
    bool gone;                   /* nobody reads any more */
};

/* Sends and releases MESSAGE, an object without "jsonrpc"; NULL: memory was exhausted, and an error without id is sent. */
void mcp_send(struct mcp_out *out, json_t *message);
/* The answer to ID with RESULT, which is released; an error, ID NULL: it could not be read.  DATA may be NULL, and is released. */
void mcp_send_result(struct mcp_out *out, const json_t *id, json_t *result);
void mcp_send_error(struct mcp_out *out, const json_t *id, enum mcp_code code, const char *text, json_t *data);
/* A message without an answer. */
void mcp_send_notification(struct mcp_out *out, const char *method, json_t *params);
/* Does nobody read any more? */
bool mcp_out_gone(struct mcp_out *out);

/* The same id? */
static inline bool mcp_same_id(const json_t *a, const json_t *b)
{
    return json_typeof(a) == json_typeof(b) && json_equal(a, b);
}

#endif
