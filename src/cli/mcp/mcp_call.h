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
    json_t *arguments;     /* an object; checked against the tool's table */
    struct mcp_heap *heap; /* for a tool that takes one */
    json_t *out;           /* the answer, an object */
    char *error;           /* why there is no answer; NULL = out of memory */
    json_t *said;          /* messages of the program during the call, an array */
    /* in these messages PATH is replaced by SHOWN; NULL = nothing to replace */
    const char *path, *shown;
    size_t text_max; /* longer texts in rows are shortened and counted */
    size_t shortened;
    struct mcp_page {
        uint64_t from, next, total; /* rows: first of the page, next, all that are listed */
        uint64_t limit, most_chars, chars;
        bool full;
        uint64_t unlisted; /* rows after TOTAL, which are never listed */
        json_t *rows;
    } page;
};

/*
 * Runs the tool that PARAMS name and returns its result for the protocol; NULL: out of memory.
 * *RET_ERROR: an error in PARAMS, such as an unknown tool.
 */
json_t *mcp_call_run(struct mcp_server *s, json_t *params, bool modern, const char **ret_error);

/* ---- for tools ---- */

/* Argument NAME; without it NULL, DEF, false.  Texts contain no NUL. */
const char *mcp_text(const struct mcp_call *c, const char *name);
int64_t mcp_number(const struct mcp_call *c, const char *name, int64_t def);
bool mcp_flag(const struct mcp_call *c, const char *name);

/* Fails the call: the client gets this sentence, which says what to do. */
enum mcp_outcome mcp_fail(struct mcp_call *c, const char *fmt, ...) GCD_PRINTF(2, 3);
/* Fail with an error of the library, in the words of the commands; or with their last message. */
enum mcp_outcome mcp_fail_by(struct mcp_call *c, const struct gcd_error *err);
enum mcp_outcome mcp_fail_said(struct mcp_call *c);
enum mcp_outcome mcp_no_memory(struct mcp_call *c);
/* The outcome of a status. */
static inline enum mcp_outcome mcp_status(struct mcp_call *c, gcd_status st,
                                          const struct gcd_error *err)
{
    return st == GCD_OK ? MCP_DONE : mcp_fail_by(c, err);
}

/* The context for library calls: the cancel flag, and progress called VERB. */
struct gcd_context mcp_context(const struct mcp_call *c, const char *verb);

/* Set a field of O.  mcp_put_name shortens TEXT when it is longer than the call allows. */
void mcp_put(json_t *o, const char *key, json_t *value);
void mcp_put_name(struct mcp_call *c, json_t *o, const char *key, const char *text);
/* TEXT, shortened likewise. */
json_t *mcp_name(struct mcp_call *c, const char *text);

/* mcp_words.c: finds the object that argument NAME names. */
enum mcp_outcome mcp_find_object(struct mcp_call *c, const char *name, uint32_t *ret);
/* Finds the types that the pattern in argument NAME matches: *RET[type_count of the graph + 1], to
 * be freed; NULL without that argument. */
enum mcp_outcome mcp_find_types(struct mcp_call *c, const char *name, uint8_t **ret);
/* What such an argument takes. */
#define MCP_PATTERN_TEXT \
    "like Shop.*, *.List<string>, byte[], /REGEX/, module(Shop*); the whole name must match"

/* ---- rows in pages (mcp_page.c) ---- */

/*
 * Call one of these before the first row; page.from is then the first row wanted.  TOTAL: number of
 * all rows, MCP_TOTAL_UNKNOWN until they are counted.
 */
#define MCP_TOTAL_UNKNOWN UINT64_MAX
/* For lists of the first MOST rows; the answer says how many there are. */
void mcp_page_total_capped(struct mcp_call *c, uint64_t total, uint64_t most);
void mcp_page_total(struct mcp_call *c, uint64_t total);
void mcp_page_found_end(struct mcp_call *c, uint64_t total);
/* Does row page.next fit on the page? */
bool mcp_page_wants(const struct mcp_call *c);
/* Adds row page.next; releases ROW. */
void mcp_page_add(struct mcp_call *c, json_t *row);
/* mcp_page_begin reads limit, cursor and max_chars; mcp_page_end writes KEY and what was cut. */
enum mcp_outcome mcp_page_begin(struct mcp_call *c);
void mcp_page_end(struct mcp_call *c, const char *key);

/* No list is longer: what comes after so many rows, a filter or sql finds. */
#define MCP_ROWS_MAX 100000u
/* The rows that the page wants; rows of A that fit, with what was cut.  Frees A, whose making had
 * the status ST. */
struct answer_page mcp_page_wanted(const struct mcp_call *c);
enum mcp_outcome mcp_page_answer(struct mcp_call *c, const char *key, gcd_status st,
                                 struct answer *a, const struct gcd_error *err);
/* Row I of A as an object. */
json_t *mcp_row(struct mcp_call *c, const struct answer *a, size_t i);

/* Puts all rows of A, which it frees. */
enum mcp_outcome mcp_put_rows(struct mcp_call *c, const char *key, struct answer *a);

/* ---- heaps (mcp_heaps.c) ---- */

/* Opens FILE, as the client names it, and adds it to the heaps of the server. */
enum mcp_outcome mcp_heap_open(struct mcp_call *c, const char *file, struct mcp_heap **ret);
/* Finds the heap that argument NAME names, or the only one. */
enum mcp_outcome mcp_heap_find(struct mcp_call *c, const char *name, struct mcp_heap **ret);
/* Names the types of H, which has a native program without names, by OTHER, if that is of the same
 * build: reads the file of H again.  Without it H stays as it is. */
void mcp_heap_borrow(struct mcp_call *c, struct mcp_heap *h, const struct mcp_heap *other);
/* Frees it and its memory. */
void mcp_heap_close(struct mcp_heaps *heaps, struct mcp_heap *h);

#endif
