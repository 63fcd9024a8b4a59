/*
 * What a client sends to gcdumpc mcp: any bytes, calls with any arguments, and calls with arguments
 * that their tool knows, about a small random graph.
 *
 * Each line that the server sends is a JSON-RPC message; a call has one answer, with a text;
 * nothing is printed; memory is given back.
 */
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "fuzz/fuzz_budget.h"
#include "mcp/mcp.h"
#include "mcp/mcp_lines.h"
#include "mcp/mcp_schema.h"
#include "output/json_out.h"
#include "signals.h"
#include "support/graph_gen.h"
#include "term/message.h"

#define NODES     24u
#define BUDGET_US 200000
#define META                                \
    "\"_meta\":{\"io.modelcontextprotocol/" \
    "protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}"

/* An open heap; NULL: no memory. */
static struct mcp_heap *heap_of(uint64_t seed, const struct cli_args *args)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct mcp_heap *h = calloc(1, sizeof *h);
    if (h == NULL)
        return NULL;
    h->file = strdup("x.nettrace");
    h->args = malloc(sizeof *h->args);
    h->notes = json_array();
    if (h->file == NULL || h->args == NULL)
        abort();
    *h->args = *args;
    h->d = (struct cli_dump){ .subject = h->file, .graph = graph_gen_random(seed, NODES) };
    if (gcd_names_new(gcd_graph_summary(h->d.graph), GCD_NAMES_CSHARP, NULL, &h->d.names, &err) !=
            GCD_OK ||
        gcd_session_new(h->d.graph, &(struct gcd_session_options){ .names = h->d.names },
                        &h->d.session, &err) != GCD_OK)
        fuzz_fail("a session can be made", err.msg);
    (void)snprintf(h->id, sizeof h->id, "h1");
    return h;
}

/* Messages in TEXT, each checked; *RET_ANSWERS: those with an id. */
static size_t count_messages(const char *text, size_t *ret_answers)
{
    size_t n = 0;
    *ret_answers = 0;
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1, n++) {
        json_t *j =
            json_loadb(text, (size_t)(end - text), JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
        const char *version = json_string_value(json_object_get(j, "jsonrpc"));
        if (version == NULL || strcmp(version, "2.0") != 0)
            fuzz_fail("a line is a message", text);
        *ret_answers += json_object_get(j, "id") != NULL;
        json_t *content = json_object_get(json_object_get(j, "result"), "content");
        if (content != NULL &&
            json_string_length(json_object_get(json_array_get(content, 0), "text")) == 0)
            fuzz_fail("an answer has a text", text);
        json_decref(j);
    }
    if (*text != '\0')
        fuzz_fail("lines have an end", text);
    return n;
}

/* The line of a call of TOOL with ARGUMENTS, which it releases.  The caller frees the line. */
static char *line_of(const char *tool, json_t *arguments)
{
    json_t *meta = json_loads("{" META "}", 0, NULL);
    json_t *j = json_pack("{s:s,s:i,s:s,s:{s:s,s:o,s:O}}", "jsonrpc", "2.0", "id", 1, "method",
                          "tools/call", "params", "name", tool, "arguments", arguments, "_meta",
                          json_object_get(meta, "_meta"));
    char *text = j != NULL ? json_dumps(j, JSON_COMPACT) : NULL;
    json_decref(meta);
    json_decref(j);
    return text;
}

/* A value for A chosen by BYTE. */
static json_t *value_of(const struct mcp_arg *a, uint8_t byte)
{
    static const char *const texts[] = {
        "*",
        "?",
        "h1",
        "0x1",
        "",
        "/a/",
        "module(*)",
        "T*",
        "SELECT * FROM objects",
        "SELECT type, count(*) FROM refs, objects",
        "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) SELECT max(x) FROM a"
    };
    size_t n = 0, at;
    if (byte == 255)
        return json_null();
    if (a->kind == MCP_FLAG)
        return json_boolean(byte % 2);
    if (a->kind == MCP_NUMBER || (a->kind == MCP_OBJECT && byte % 2 == 0))
        return json_integer((json_int_t)byte - 2 +
                            (a->kind == MCP_NUMBER && byte % 3 == 0 ? (json_int_t)a->min : 0));
    if (a->words == NULL)
        return json_string(texts[byte % (sizeof texts / sizeof *texts)]);
    for (at = 0; a->words[at] != '\0'; at++)
        n += a->words[at] == '|';
    const char *word = a->words;
    for (size_t i = byte % (n + 1); i > 0; i--)
        word = strchr(word, '|') + 1;
    return json_stringn(word, strcspn(word, "|"));
}

static void choose(json_t *o, const struct mcp_arg *args, const uint8_t *data, size_t size,
                   size_t *at)
{
    for (; args->name != NULL && *at < size; args++, ++*at)
        if (args->required || data[*at] % 4 != 0)
            json_object_set_new(o, args->name, value_of(args, data[*at]));
}

/* Sends one call, which has one answer, unless it took too long. */
static void call(struct mcp_server *s, FILE *to, char **text, char *line)
{
    size_t answers;
    if (line == NULL)
        return;
    mcp_take(s, line, strlen(line));
    while (mcp_work(s))
        ;
    free(line);
    if (fflush(to) != 0 || *text == NULL)
        abort();
    (void)count_messages(*text, &answers);
    if (answers != 1 && !atomic_load(&cli_canceled))
        fuzz_fail("a call has one answer", *text);
}

static void send_all(struct mcp_server *s, FILE *to, char **text, const uint8_t *data, size_t size)
{
    const struct mcp_tool *t = mcp_tool_at(data[2] % 13u); /* not those of living processes */
    size_t at = 3;
    if (data[1] % 3 == 0) {
        struct mcp_lines l = { .take = mcp_take, .ctx = s };
        for (size_t n = data[2] % 32u + 1; at < size; at += n)
            mcp_lines_feed(&l, (const char *)data + at, n < size - at ? n : size - at);
        mcp_lines_end(&l);
        while (mcp_work(s))
            ;
        return;
    }
    json_t *arguments =
        data[1] % 3 == 1 ? json_loadb((const char *)data + at, size - at, 0, NULL) : json_object();
    if (data[1] % 3 == 2) {
        choose(arguments, t->args, data, size, &at);
        choose(arguments, mcp_page_args, data, size, &at);
    }
    if (arguments != NULL)
        call(s, to, text, line_of(t->name, arguments));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct cli_args args = { .quiet = true };
    struct mcp_server s;
    char *text = NULL;
    size_t bytes = 0, answers;
    if (size < 4 || size > 4096 || memmem(data, size, "list_processes", 14) != NULL ||
        memmem(data, size, "\\u", 2) != NULL)
        return 0;
    FILE *to = open_memstream(&text, &bytes);
    cli_json_prepare();
    if (to == NULL || !mcp_server_init(&s, &args, to))
        abort();
    fuzz_budget(&cli_canceled, BUDGET_US);
    if (data[0] % 8 != 0)
        s.heaps.items[s.heaps.count++] = heap_of(data[0], &args);
    send_all(&s, to, &text, data, size);
    fuzz_budget(&cli_canceled, 0);
    mcp_server_done(&s);
    if (fclose(to) != 0)
        abort();
    (void)count_messages(text, &answers);
    free(text);
    return 0;
}
