/*
 * Statements about small random graphs: any text, and equations, for which a look-up and a scan
 * must agree.  Errors have a reason, no memory leaks, nothing is written.
 */
#include <gcdumpc/unstable/session/sql.h>

#include "fuzz/fuzz.h"
#include "fuzz/fuzz_budget.h"
#include "support/graph_gen.h"
#include "support/run.h"

#define NODES     24u
#define ROWS_MAX  2000u
#define BUDGET_US 100000

static gcd_cancel_flag stop;

/* A number that depends on all rows, in any order; *RET_ROWS of them.  The status of the last step.
 */
static gcd_status rows_of(struct gcd_sql_query *q, uint64_t *ret_hash, uint64_t *ret_rows,
                          struct gcd_error *err)
{
    gcd_status st;
    *ret_hash = *ret_rows = 0;
    while ((st = gcd_sql_step(q, err)) == GCD_OK && ++*ret_rows < ROWS_MAX) {
        uint64_t row = 0;
        for (size_t i = 0; i < gcd_sql_column_count(q); i++) {
            struct gcd_sql_value v = gcd_sql_value(q, i);
            row = row * 31 + (uint64_t)v.kind * 7 + (uint64_t)v.integer +
                  fuzz_hash((const uint8_t *)v.text, v.bytes);
        }
        *ret_hash += row;
    }
    return st;
}

static void check_error(gcd_status st, const struct gcd_error *err, size_t bytes)
{
    if (st >= 0)
        return;
    if (err->code != st || err->msg[0] == '\0' || !run_is_utf8(err->msg, strlen(err->msg)))
        fuzz_fail("errors have a reason", gcd_status_name(st));
    if (st != GCD_E_ARG && st != GCD_E_CANCELED && st != GCD_E_LIMIT && st != GCD_E_NOMEM)
        fuzz_fail("a statement is wrong, too large or canceled", err->msg);
    if (err->off != GCD_OFF_NONE && err->off > bytes)
        fuzz_fail("the place of an error is in the text", err->msg);
}

/* All statements in TEXT. */
static void run_text(struct gcd_sql *db, const struct gcd_context *call, const char *text)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_sql_query *q;
    uint64_t hash, rows;
    gcd_status st;
    while ((st = gcd_sql_prepare(db, call, &text, &q, &err)) == GCD_OK) {
        st = rows_of(q, &hash, &rows, &err);
        check_error(st, &err, strlen(text));
        gcd_sql_query_free(q);
        if (st == GCD_E_CANCELED)
            return;
    }
    check_error(st, &err, strlen(text));
}

/* ---- equations ---- */

static const struct {
    const char *table, *column;
    bool text;
} keys[] = {
    { "objects", "id", false },
    { "objects", "address", false },
    { "objects", "type", true },
    { "objects", "type_id", false },
    { "objects", "parent_id", false },
    { "objects", "dominator", false },
    { "types", "id", false },
    { "types", "name", true },
    { "edges", "from_id", false },
    { "edges", "to_id", false },
    { "dominators", "object_id", false },
    { "dominators", "parent_id", false },
    { "roots", "id", false },
    { "roots", "object_id", false },
    { "dependent_handles", "key_id", false },
    { "dependent_handles", "value_id", false },
    { "refs", "target", false },
    { "refs", "source", false },
    { "modules", "id", false },
    { "ranges", "id", false },
};
#define KEYS (sizeof keys / sizeof *keys)

static uint64_t answer(struct gcd_sql *db, const struct gcd_context *call, const char *text)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_sql_query *q;
    uint64_t hash = 0, rows = 0;
    if (gcd_sql_prepare(db, call, &text, &q, &err) != GCD_OK)
        fuzz_fail("a statement of ours is right", err.msg);
    if (rows_of(q, &hash, &rows, &err) < 0 && err.code != GCD_E_CANCELED)
        fuzz_fail("a statement of ours has an answer", err.msg);
    gcd_sql_query_free(q);
    return hash + rows;
}

/* A column inside an expression is not a key, so the second statement is a scan. */
static void compare_equation(struct gcd_sql *db, const struct gcd_context *call,
                             const uint8_t *data)
{
    const char *t = keys[data[0] % KEYS].table, *c = keys[data[0] % KEYS].column;
    bool text = keys[data[0] % KEYS].text, outer = data[1] % 2 != 0;
    char value[64], by_key[400], by_scan[400];
    if (text)
        (void)snprintf(value, sizeof value, "type_name(%d)", data[2] % 12);
    else if (strcmp(c, "address") == 0)
        (void)snprintf(value, sizeof value, "(SELECT max(address) FROM objects WHERE id <= %d)",
                       data[2] % 30);
    else
        (void)snprintf(value, sizeof value, "%d%s", data[2] % 30 - 2,
                       data[1] % 8 == 2   ? ".0"
                       : data[1] % 8 == 4 ? ".5"
                                          : "");
    const char *op = data[1] % 16 < 12 ? "=" : "IS";
    const char *begin = outer ? "SELECT x.id, t.* FROM objects x LEFT JOIN" : "SELECT t.* FROM",
               *where = outer ? "ON x.id < 9 AND" : "WHERE";
    (void)snprintf(by_key, sizeof by_key, "%s %s t %s t.%s %s %s", begin, t, where, c, op, value);
    (void)snprintf(by_scan, sizeof by_scan, "%s %s t %s coalesce(t.%s, NULL) %s %s", begin, t,
                   where, c, op, value);
    uint64_t a = answer(db, call, by_key), b = answer(db, call, by_scan);
    if (a != b && !atomic_load(&stop))
        fuzz_fail("a look-up finds what a scan does", by_key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 6 || size > 4096)
        return 0;
    struct failalloc memory, graph_memory;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_session *s = NULL;
    struct gcd_sql *db = NULL;
    failalloc_init(&memory);
    failalloc_init(&graph_memory);
    struct gcd_graph *g = graph_gen(&(struct graph_gen){ .seed = data[0],
                                                         .max_nodes = NODES,
                                                         .name_bytes = 300,
                                                         .keep_unknown = data[0] % 3 == 0,
                                                         .alloc = &graph_memory.alloc });
    struct gcd_context context = { .alloc = &memory.alloc, .cancel = &stop };
    fuzz_budget(&stop, BUDGET_US);
    gcd_status st = gcd_session_new(
        g, &(struct gcd_session_options){ .context = { .alloc = &memory.alloc } }, &s, &err);
    if (st == GCD_OK)
        st = gcd_sql_new(s, &(struct gcd_sql_options){ .context = { .alloc = &memory.alloc } }, &db,
                         &err);
    if (st == GCD_OK) {
        char text[4097];
        if (fuzz_hash(data, size) % 8 == 0)
            memory.fail_at = memory.calls + 1 + data[1];
        if (data[1] % 4 == 0) {
            memcpy(text, data + 2, size - 2);
            text[size - 2] = '\0';
            run_text(db, &context, text);
        } else {
            memory.fail_at = 0;
            for (size_t i = 2; i + 3 <= size && i < 32; i += 3)
                compare_equation(db, &context, data + i);
        }
    } else if (st != GCD_E_UNSUPPORTED) {
        fuzz_fail("a session can be asked", err.msg);
    }
    fuzz_budget(&stop, 0);
    gcd_sql_free(db);
    gcd_session_free(s);
    gcd_graph_free(g);
    fuzz_check_memory(&memory);
    fuzz_check_memory(&graph_memory);
    return 0;
}
