/* The parts of the server for programs, without a client: lines from any pieces, messages, schemas,
 * what waits and what is canceled. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "mcp/mcp.h"
#include "mcp/mcp_call.h"
#include "mcp/mcp_lines.h"
#include "mcp/mcp_schema.h"
#include "signals.h"
#include "support/check.h"

/* ---- lines ---- */

struct taken {
    char text[4096]; /* each line with its end; "!" for one that was left out */
    size_t used, longest;
};

static void take(void *ctx, const char *line, size_t n)
{
    struct taken *t = ctx;
    if (line == NULL) {
        t->text[t->used++] = '!';
    } else if (n < 64) {
        memcpy(t->text + t->used, line, n);
        t->used += n;
    }
    t->longest = n > t->longest ? n : t->longest;
    t->text[t->used++] = '\n';
    t->text[t->used] = '\0';
}

static void test_lines_in_all_slices(void **state)
{
    (void)state;
    static const char text[] = "one\ntwo\r\n\n\r\n\rthree\r\r\nlast";
    for (size_t slice = 1; slice <= sizeof text; slice++) {
        struct taken t = { .used = 0 };
        struct mcp_lines l = { .take = take, .ctx = &t };
        for (size_t at = 0; at < sizeof text - 1; at += slice)
            mcp_lines_feed(&l, text + at,
                           sizeof text - 1 - at < slice ? sizeof text - 1 - at : slice);
        mcp_lines_end(&l);
        assert_string_equal(t.text, "one\ntwo\n\rthree\r\nlast\n");
    }
}

/* LINE_BYTES are taken, one more is not, and what comes after it is. */
static void test_long_lines(void **state)
{
    (void)state;
    char *line = malloc(MCP_LINE_BYTES + 1);
    assert_non_null(line);
    memset(line, 'x', MCP_LINE_BYTES + 1);
    for (size_t n = MCP_LINE_BYTES - 1; n <= MCP_LINE_BYTES + 1; n++) {
        struct taken t = { .used = 0 };
        struct mcp_lines l = { .take = take, .ctx = &t };
        for (size_t at = 0; at < n; at += 65536)
            mcp_lines_feed(&l, line + at, n - at < 65536 ? n - at : 65536);
        mcp_lines_feed(&l, "\nnext", 5);
        mcp_lines_end(&l);
        assert_string_equal(t.text, n > MCP_LINE_BYTES ? "!\nnext\n" : "\nnext\n");
        assert_int_equal(t.longest, n > MCP_LINE_BYTES ? 4 : n);
    }
    free(line);
}

/* ---- schemas ---- */

static void check_schema(const char *notation, const char *want)
{
    char json[1024]; /* WANT has ' for " */
    assert_true(snprintf(json, sizeof json, "%s", want) < (int)sizeof json);
    for (char *p = json; *p != '\0'; p++)
        *p = *p == '\'' ? '"' : *p;
    json_t *got = mcp_schema_of(notation, NULL), *expected = json_loads(json, 0, NULL);
    assert_non_null(expected);
    char *text = json_dumps(got, JSON_COMPACT | JSON_SORT_KEYS);
    if (!json_equal(got, expected))
        fail_msg("%s: %s", notation, text);
    free(text);
    json_decref(got);
    json_decref(expected);
}

static void test_schemas(void **state)
{
    (void)state;
    check_schema("", "{'type':'object','properties':{},'required':[]}");
    check_schema("a:s b:i~ c:b? d:n?~", "{'type':'object','properties':{'a':{'type':'string'},'b':{"
                                        "'type':'integer'},'c':{'type':['boolean','null']},"
                                        "'d':{'type':['number','null']}},'required':['a','c']}");
    check_schema("a[] b[c:s]~ d:a", "{'type':'object','properties':{'a':{'type':'array','items':{'"
                                    "type':'string'}},'b':{'type':'array','items':"
                                    "{'type':'object','properties':{'c':{'type':'string'}},'"
                                    "required':['c']}},'d':{'type':'array','items':"
                                    "{'type':'array'}}},'required':['a','d']}");
    check_schema("a{b[c{d:i}? e:s]}~ f:s",
                 "{'type':'object','properties':{'a':{'type':'object','properties':{'b':{'type':'"
                 "array','items':{'type':'object',"
                 "'properties':{'c':{'anyOf':[{'type':'object','properties':{'d':{'type':'integer'}"
                 "},'required':['d']},"
                 "{'type':'null'}]},'e':{'type':'string'}},'required':['c','e']}}},'required':['b']"
                 "},'f':{'type':'string'}},"
                 "'required':['f']}");
}

/* Each tool has a name of its own, a title, sentences, and schemas of objects. */
static void test_tools(void **state)
{
    (void)state;
    const struct mcp_tool *t;
    size_t n = 0;
    for (; (t = mcp_tool_at(n)) != NULL; n++) {
        json_t *in = mcp_input_schema(t), *out = mcp_output_schema(t);
        assert_ptr_equal(mcp_tool_find(t->name), t);
        assert_string_equal(json_string_value(json_object_get(in, "type")), "object");
        assert_string_equal(json_string_value(json_object_get(out, "type")), "object");
        assert_true(strlen(t->about) > 20 && t->about[strlen(t->about) - 1] == '.');
        json_decref(in);
        json_decref(out);
    }
    assert_int_equal(n, 17);
    assert_null(mcp_tool_find("nothing"));
}

/* ---- pages ---- */

/* What a page says about missing rows, for a list of TOTAL rows of which at most 100 are listed. */
static void check_cut(uint64_t total, const char *want)
{
    struct mcp_call c = { .tool = mcp_tool_find("types"),
                          .arguments = json_pack("{s:i}", "limit", 2),
                          .out = json_object() };
    assert_int_equal(mcp_page_begin(&c), MCP_DONE);
    mcp_page_total_capped(&c, total, 100);
    while (mcp_page_wants(&c))
        mcp_page_add(&c, json_object());
    mcp_page_end(&c, "rows");
    const char *cut = json_string_value(json_object_get(c.out, "cut"));
    if (want == NULL)
        assert_null(cut);
    else
        assert_string_equal(cut, want);
    json_decref(c.page.rows);
    json_decref(c.arguments);
    json_decref(c.out);
}

/* Rows of BYTES each: how many fit in a page of 1,000. */
static uint64_t rows_of(size_t bytes)
{
    struct mcp_call c = { .tool = mcp_tool_find("types"),
                          .arguments = json_pack("{s:i}", "max_chars", 1000),
                          .out = json_object() };
    char text[4096];
    assert_true(bytes < sizeof text);
    memset(text, 'x', bytes - 4);
    assert_int_equal(mcp_page_begin(&c), MCP_DONE);
    mcp_page_total(&c, 10);
    while (mcp_page_wants(&c))
        mcp_page_add(&c, json_pack("[s%]", text, bytes - 4));
    uint64_t n = json_array_size(c.page.rows);
    json_decref(c.page.rows);
    json_decref(c.arguments);
    json_decref(c.out);
    return n;
}

static void test_size_of_a_page(void **state)
{
    (void)state;
    assert_int_equal(rows_of(50), 10);
    assert_int_equal(rows_of(250), 4);
    assert_int_equal(rows_of(251), 3);
    assert_int_equal(rows_of(501), 1);
    assert_int_equal(rows_of(2000), 1); /* larger than a page: alone */
}

static void test_what_was_cut(void **state)
{
    (void)state;
    check_cut(0, NULL);
    check_cut(2, NULL);
    check_cut(100, "rows 1 to 2 of 100; next_cursor has more, limit makes pages larger");
    check_cut(101, "rows 1 to 2 of 101, the first 100 are listed: a filter, or sql, finds others; "
                   "next_cursor has more, limit makes pages larger");
}

/* ---- the server ---- */

struct talk {
    struct cli_args args;
    struct mcp_server s;
    FILE *to;
    char *text;
    size_t size;
};

static void begin(struct talk *t)
{
    *t = (struct talk){ .args = { .quiet = true } };
    t->to = open_memstream(&t->text, &t->size);
    assert_non_null(t->to);
    assert_true(mcp_server_init(&t->s, &t->args, t->to));
}

static void end(struct talk *t)
{
    mcp_server_done(&t->s);
    assert_int_equal(fclose(t->to), 0);
    free(t->text);
}

/* The message that was sent since the last call, when it was one; to be released. */
static json_t *sent(struct talk *t)
{
    assert_int_equal(fclose(t->to), 0);
    char *last = strrchr(t->text, '\n');
    json_t *j = last != NULL && last == strchr(t->text, '\n') ? json_loads(t->text, 0, NULL) : NULL;
    free(t->text);
    t->s.out.to = t->to = open_memstream(&t->text, &t->size);
    assert_non_null(t->to);
    return j;
}

static void say(struct talk *t, const char *line)
{
    mcp_take(&t->s, line, strlen(line));
}

static int64_t code_of(struct talk *t)
{
    json_t *j = sent(t);
    assert_non_null(j);
    int64_t code = json_integer_value(json_object_get(json_object_get(j, "error"), "code"));
    json_decref(j);
    return code;
}

#define META                                \
    "\"_meta\":{\"io.modelcontextprotocol/" \
    "protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define CALL(id, rest) \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{" META "," rest "}}"

static void test_calls_wait_for_the_worker(void **state)
{
    (void)state;
    struct talk t;
    begin(&t);
    assert_false(mcp_work(&t.s));
    say(&t, CALL("1", "\"name\":\"types\""));
    assert_null(sent(&t));
    say(&t, CALL("1", "\"name\":\"types\""));
    assert_int_equal(code_of(&t), MCP_E_REQUEST); /* the same id again */
    assert_true(mcp_work(&t.s));
    json_t *j = sent(&t), *result = json_object_get(j, "result");
    assert_true(json_is_true(json_object_get(result, "isError"))); /* no heap is open */
    json_decref(j);
    assert_false(mcp_work(&t.s));
    end(&t);
}

static void test_what_is_canceled_is_not_answered(void **state)
{
    (void)state;
    struct talk t;
    begin(&t);
    say(&t, CALL("1", "\"name\":\"types\""));
    say(&t, CALL("\"1\"", "\"name\":\"types\""));
    say(&t, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
            "cancelled\",\"params\":{\"requestId\":1}}");
    say(&t, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
            "cancelled\",\"params\":{\"requestId\":2}}");
    assert_true(mcp_work(&t.s));
    json_t *j = sent(&t);
    /* a text is another id */
    assert_string_equal(json_string_value(json_object_get(j, "id")), "1");
    json_decref(j);
    assert_false(mcp_work(&t.s));
    assert_false(atomic_load(&cli_canceled));
    end(&t);
}

static void test_the_queue_has_an_end(void **state)
{
    (void)state;
    struct talk t;
    char line[512];
    begin(&t);
    for (unsigned i = 0; i < MCP_QUEUE_MAX; i++) {
        (void)snprintf(
            line, sizeof line,
            "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"tools/call\",\"params\":{" META "}}", i);
        say(&t, line);
        assert_null(sent(&t));
    }
    say(&t, CALL("99", "\"name\":\"types\""));
    assert_int_equal(code_of(&t), MCP_E_INTERNAL);
    assert_true(mcp_work(&t.s));
    assert_int_equal(code_of(&t), MCP_E_PARAMS); /* it has no name of a tool */
    say(&t, CALL("99", "\"name\":\"types\""));
    assert_null(sent(&t));
    end(&t); /* frees the rest */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_in_all_slices),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_schemas),
        cmocka_unit_test(test_tools),
        cmocka_unit_test(test_size_of_a_page),
        cmocka_unit_test(test_what_was_cut),
        cmocka_unit_test(test_calls_wait_for_the_worker),
        cmocka_unit_test(test_what_is_canceled_is_not_answered),
        cmocka_unit_test(test_the_queue_has_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
