/*
 * One call of a tool: its arguments, the heap it is about, its answer.
 */
#ifndef GCD_CLI_MCP_CALL_H
#define GCD_CLI_MCP_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "mcp/mcp.h"

struct mcp_call {
    struct mcp_server *server;
    const struct mcp_tool *tool;
    json_t *arguments;           /* an object; checked against the tool's table */
    struct mcp_heap *heap;       /* of a tool that takes one */
    json_t *out;                 /* the answer, an object */
    char *error;                 /* why there is none; NULL = out of memory */
    json_t *said;                /* the lines that the program said meanwhile, an array */
    const char *path, *shown;    /* PATH in these lines is SHOWN to people; NULL: nothing to replace */
    size_t text_max;             /* longer texts of rows are shortened, which is counted */
    size_t shortened;
    struct mcp_page {
        uint64_t from, next, total;      /* rows: where the page begins, the next one, all */
        uint64_t limit, most_chars, chars;
        bool full;
        bool capped;                     /* rows behind TOTAL are not listed, whatever is asked */
        json_t *rows;
    } page;
};

/* Runs the tool that PARAMS name and returns its result for the protocol, NULL: no memory.  *RET_ERROR: there is no such tool. */
json_t *mcp_call_run(struct mcp_server *s, json_t *params, bool modern, const char **ret_error);

/* ---- for tools ---- */

/* Argument NAME; when it was not given NULL, DEF, false.  Texts have no NUL inside. */
const char *mcp_text(const struct mcp_call *c, const char *name);
int64_t mcp_number(const struct mcp_call *c, const char *name, int64_t def);
bool mcp_flag(const struct mcp_call *c, const char *name);

/* There is no answer, and the client gets this sentence, which says what to do. */
enum mcp_outcome mcp_fail(struct mcp_call *c, const char *fmt, ...) GCD_PRINTF(2, 3);
/* An error of the library, in the words of the commands; what they said last. */
enum mcp_outcome mcp_fail_by(struct mcp_call *c, const struct gcd_error *err);
enum mcp_outcome mcp_fail_said(struct mcp_call *c);
enum mcp_outcome mcp_no_memory(struct mcp_call *c);
/* The outcome of a status. */
static inline enum mcp_outcome mcp_status(struct mcp_call *c, gcd_status st, const struct gcd_error *err)
{
    return st == GCD_OK ? MCP_DONE : mcp_fail_by(c, err);
}

/* What calls of the library share for this call: cancel, progress as VERB. */
struct gcd_context mcp_context(const struct mcp_call *c, const char *verb);

/* Set a field of O.  mcp_put_name shortens TEXT when it is longer than the call allows. */
void mcp_put(json_t *o, const char *key, json_t *value);
void mcp_put_count(json_t *o, const char *key, uint64_t n);
void mcp_put_text(json_t *o, const char *key, const char *text);
void mcp_put_name(struct mcp_call *c, json_t *o, const char *key, const char *text);
void mcp_put_share(json_t *o, const char *key, uint64_t part, uint64_t whole);
/* The text itself. */
json_t *mcp_name(struct mcp_call *c, const char *text);
/* Object NODE of the heap: "0x...", or its number when the dump has no addresses. */
json_t *mcp_object_id(const struct mcp_call *c, uint32_t node);

/* The object that argument NAME means. */
enum mcp_outcome mcp_find_object(struct mcp_call *c, const char *name, uint32_t *ret);
/* The types that the pattern in argument NAME means: *RET[type_count of the graph + 1], to be freed; NULL when it was not given. */
enum mcp_outcome mcp_find_types(struct mcp_call *c, const char *name, uint8_t **ret);

/* ---- rows in pages (mcp_page.c) ---- */

/*
 * Before the first row: the first one that is wanted is number page.from.  TOTAL: of all rows, MCP_TOTAL_UNKNOWN until they have been
 * counted.
 */
#define MCP_TOTAL_UNKNOWN UINT64_MAX
/* No list is longer than MOST: sets TOTAL, at most that, and says so. */
void mcp_page_total_capped(struct mcp_call *c, uint64_t total, uint64_t most);
void mcp_page_total(struct mcp_call *c, uint64_t total);
void mcp_page_found_end(struct mcp_call *c, uint64_t total);
/* Is there room for row page.next? */
bool mcp_page_wants(const struct mcp_call *c);
/* Row page.next; ROW is released. */
void mcp_page_add(struct mcp_call *c, json_t *row);
/* Reads limit, cursor and max_chars; writes KEY and what was cut. */
enum mcp_outcome mcp_page_begin(struct mcp_call *c);
void mcp_page_end(struct mcp_call *c, const char *key);

/* ---- heaps (mcp_heaps.c) ---- */

/* Opens FILE, named so by the client, and adds it to the heaps of the server. */
enum mcp_outcome mcp_heap_open(struct mcp_call *c, const char *file, struct mcp_heap **ret);
/* The heap that argument NAME means, or the only one. */
enum mcp_outcome mcp_heap_find(struct mcp_call *c, const char *name, struct mcp_heap **ret);
/* Frees it and its memory. */
void mcp_heap_close(struct mcp_heaps *heaps, struct mcp_heap *h);

#endif
