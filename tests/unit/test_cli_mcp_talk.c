/*
 * A talk with the server of mcp about two bundled recordings: every tool with every argument,
 * answers compared with a file.  What is said about suspects is tested elsewhere.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "mcp/mcp.h"
#include "support/expected.h"

static struct cli_args args = { .quiet = true };
static struct mcp_server server;
static FILE *to, *shown;
static char *answers, *all;
static size_t answers_bytes, all_bytes;

static int begin(void **state)
{
    (void)state;
    shown = open_memstream(&all, &all_bytes);
    to = open_memstream(&answers, &answers_bytes);
    if (shown == NULL || to == NULL || !mcp_server_init(&server, &args, to))
        return 1;
    server.root = "traces";
    server.root_fd = open(GCDUMPC_SOURCE "/traces", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return server.root_fd < 0;
}

/* Calls TOOL and shows its answer. */
static void call(const char *tool, const char *arguments)
{
    static unsigned id;
    char line[2000];
    (void)snprintf(
        line, sizeof line,
        "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"tools/call\",\"params\":{\"_meta\":{"
        "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
        "\"io.modelcontextprotocol/clientCapabilities\":{}},\"name\":\"%s\","
        "\"arguments\":{%s}}}",
        ++id, tool, arguments);
    mcp_take(&server, line, strlen(line));
    assert_true(mcp_work(&server));
    assert_int_equal(fclose(to), 0);
    /* notifications of progress come before it */
    char *last = answers;
    for (char *end = strchr(last, '\n'); end != NULL && end[1] != '\0'; end = strchr(last, '\n'))
        last = end + 1;
    json_t *answer = json_loads(last, 0, NULL);
    const json_t *result = json_object_get(answer, "result"),
                 *content = json_object_get(result, "structuredContent");
    assert_non_null(answer);
    char *cursor = (char *)(uintptr_t)json_string_value(json_object_get(content, "next_cursor"));
    if (cursor != NULL) /* without its checksum */
        cursor[strspn(cursor, "0123456789")] = '\0';
    fprintf(shown, "%s {%s}\n", tool, arguments);
    if (content != NULL)
        (void)json_dumpf(content, shown, JSON_INDENT(1) | JSON_SORT_KEYS);
    else
        (void)json_dumpf(result != NULL ? json_object_get(result, "content") : answer, shown,
                         JSON_INDENT(1));
    fputs("\n\n", shown);
    json_decref(answer);
    free(answers);
    server.out.to = to = open_memstream(&answers, &answers_bytes);
    assert_non_null(to);
}

#define H "\"heap\":\"h1\""

static void heaps(void **state)
{
    (void)state;
    call("types", H);
    call("open", "\"file\":\"../README.md\"");
    call("open", "\"file\":\"none\"");
    call("open", "\"file\":\"net10-wks-ranges/heap.nettrace.gz\"");
    call("open", "\"file\":\"net10-wks-lossy/heap.nettrace.gz\"");
    call("open", "\"file\":\"net8-wks-two-dumps/heap.nettrace.gz\",\"walk\":2");
    call("open", "\"file\":\"net8-wks-two-dumps/heap.nettrace.gz\",\"walk\":3");
    call("summary", H);
    call("summary", "\"heap\":\"9\"");
}

static void types(void **state)
{
    (void)state;
    call("types", H ",\"limit\":3");
    call("types", H ",\"limit\":2,\"sort\":\"count\"");
    call("types", H ",\"limit\":2,\"sort\":\"name\"");
    call("types", H ",\"limit\":2,\"sort\":\"retained\"");
    call("types", H ",\"limit\":2,\"retained\":true,\"filter\":\"HeapLab.*\"");
    call("types", H ",\"filter\":\"none\"");
    call("type", H ",\"type\":\"HeapLab.Guest\"");
    call("type", H ",\"type\":\"HeapLab.*\",\"limit\":2");
    static const char *const by[] = { "objects", "types", "content", "dominators" };
    for (size_t i = 0; i < 4; i++) {
        char arguments[200];
        (void)snprintf(arguments, sizeof arguments,
                       H ",\"by\":\"%s\",\"type\":\"HeapLab.Guest\",\"limit\":3", by[i]);
        call("retained", arguments);
    }
    call("retained", H ",\"limit\":3");
    call("retained", H ",\"by\":\"content\"");
    call("retained", H ",\"by\":\"nonsense\"");
}

static void objects(void **state)
{
    (void)state;
    call("object", H ",\"object\":0,\"limit\":2");
    call("object", H ",\"object\":\"0x1\"");
    call("object", H ",\"object\":\"7\",\"list\":\"refers_to\",\"limit\":2");
    call("object", H ",\"object\":100,\"list\":\"dominates\",\"limit\":2");
    call("object", H ",\"object\":2000,\"list\":\"referred_by\",\"limit\":2");
    call("object", "\"heap\":\"h2\",\"object\":0,\"limit\":1"); /* of unknown generation */
    call("tree", H ",\"limit\":2");
    call("tree", H ",\"limit\":2,\"object\":0");
    call("tree", H ",\"limit\":4,\"by\":\"types\",\"depth\":2");
    call("tree", H ",\"by\":\"types\",\"object\":1");
    call("paths", H ",\"object\":100,\"limit\":3");
    call("paths", H ",\"object\":100,\"limit\":3,\"to_root\":true,\"full\":true");
    call("paths", H ",\"type\":\"HeapLab.Guest\",\"limit\":6");
    call("paths", H ",\"type\":\"HeapLab.Guest\",\"to_root\":true,\"max_paths\":1");
    call("paths", H ",\"type\":\"HeapLab.Guest\",\"full\":true,\"limit\":4");
    call("paths", H ",\"type\":\"HeapLab.Guest\",\"object\":1");
    call("paths", H);
    call("async", H ",\"limit\":3");
    call("async", H ",\"filter\":\"none\"");
    call("exceptions", H ",\"limit\":2");
    call("strings", H);
}

static void pages_and_questions(void **state)
{
    (void)state;
    call("types", H ",\"limit\":2,\"cursor\":\"2\"");
    call("types", H ",\"limit\":2,\"cursor\":\"x\"");
    call("types", H ",\"limit\":2,\"cursor\":\"99999\"");
    call("types", H ",\"limit\":0");
    call("types", H ",\"sort\":7");
    call("types", H ",\"nonsense\":7");
    call("sql", H ",\"statement\":\"SELECT id, name, 1.5, NULL, x'00ff' FROM types LIMIT 2\"");
    call("sql", H ",\"statement\":\"SELECT count(*) AS n FROM objects\"");
    call("sql", H ",\"statement\":\"SELECT id FROM objects\",\"limit\":2");
    call("sql", H ",\"statement\":\"SELEC\"");
    call("sql", H ",\"statement\":\"SELECT 1; SELECT 2\"");
    call("sql", H ",\"statement\":\"SELECT printf('%5000d', 1) AS long\"");
    call("nonsense", "");
}

static void differences(void **state)
{
    (void)state;
    call("diff", "\"old\":\"h1\",\"new\":\"h3\",\"limit\":3");
    call("diff", "\"old\":\"h3\",\"new\":\"h1\",\"limit\":2,\"sort\":\"count\"");
    call("diff",
         "\"old\":\"h1\",\"new\":\"h3\",\"limit\":2,\"sort\":\"name\",\"filter\":\"HeapLab.*\"");
    call("diff", "\"old\":\"h1\",\"new\":\"h3\",\"limit\":2,\"retained\":true");
    call("diff", "\"old\":\"h1\",\"new\":\"h1\"");
    call("diff", "\"old\":\"h1\",\"new\":\"h7\"");
    call("close", H);
    call("summary", H);
    call("close", H);
}

static void as_expected(void **state)
{
    (void)state;
    assert_int_equal(close(server.root_fd), 0);
    mcp_server_done(&server);
    assert_int_equal(fclose(to), 0);
    free(answers);
    assert_int_equal(fclose(shown), 0);
    expect_file("mcp_talk.txt", all);
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heaps),       cmocka_unit_test(types),
        cmocka_unit_test(objects),     cmocka_unit_test(pages_and_questions),
        cmocka_unit_test(differences), cmocka_unit_test(as_expected),
    };
    return cmocka_run_group_tests_name("test_cli_mcp_talk", tests, begin, NULL);
}
