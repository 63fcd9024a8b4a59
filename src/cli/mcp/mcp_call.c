#include "mcp/mcp_call.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/text/plural.h>

#include "input/fail.h"
#include "mcp/mcp_schema.h"
#include "output/json_out.h"
#include "term/message.h"
#include "term/suggest.h"

/* ---- arguments ---- */

static const struct mcp_arg *find(const struct mcp_arg *args, const char *name)
{
    for (; args->name != NULL; args++)
        if (strcmp(args->name, name) == 0)
            return args;
    return NULL;
}

static const struct mcp_arg *argument(const struct mcp_tool *t, const char *name)
{
    const struct mcp_arg *a = find(t->args, name);
    if (a == NULL && (t->flags & MCP_TAKES_HEAP) != 0)
        a = find(mcp_heap_args, name);
    return a == NULL && (t->flags & MCP_PAGED) != 0 ? find(mcp_page_args, name) : a;
}

/* Is VALUE one of WORDS, "a|b|c"? */
static bool is_word(const char *words, const char *value)
{
    size_t n = strlen(value);
    for (const char *p = words; *p != '\0';) {
        size_t k = strcspn(p, "|");
        if (k == n && memcmp(p, value, n) == 0)
            return true;
        p += k + (p[k] == '|');
    }
    return false;
}

static enum mcp_outcome check_text(struct mcp_call *c, const struct mcp_arg *a, const json_t *value)
{
    const char *text = json_string_value(value);
    if (strlen(text) != json_string_length(value))
        return mcp_fail(c, "\"%s\" must not contain a NUL character", a->name);
    if (a->words != NULL && !is_word(a->words, text))
        return mcp_fail(c, "\"%s\" is one of %s", a->name, a->words);
    return MCP_DONE;
}

static enum mcp_outcome check(struct mcp_call *c, const struct mcp_arg *a, const json_t *value)
{
    bool text = json_is_string(value), number = json_is_integer(value);
    switch (a->kind) {
    case MCP_TEXT:
        return text ? check_text(c, a, value)
                    : mcp_fail(c, "\"%s\" must be a text: %s", a->name, a->about);
    case MCP_FLAG:
        return json_is_boolean(value)
                   ? MCP_DONE
                   : mcp_fail(c, "\"%s\" must be true or false: %s", a->name, a->about);
    case MCP_NUMBER:
        if (number && json_integer_value(value) >= a->min && json_integer_value(value) <= a->max)
            return MCP_DONE;
        return mcp_fail(c, "\"%s\" must be an integer from %" PRId64 " to %" PRId64 ": %s", a->name,
                        a->min, a->max, a->about);
    case MCP_OBJECT:
        if (text)
            return check_text(c, a, value);
        return number && json_integer_value(value) >= 0
                   ? MCP_DONE
                   : mcp_fail(c, "\"%s\" must be a text or a number: %s", a->name, a->about);
    }
    return MCP_FAILED;
}

static enum mcp_outcome unknown(struct mcp_call *c, const char *name)
{
    char meant[CLI_MEANT_BYTES];
    struct cli_nearest near;
    cli_nearest_begin(&near, name);
    for (const struct mcp_arg *a = c->tool->args; a->name != NULL; a++)
        cli_nearest_try(&near, a->name);
    for (const struct mcp_arg *a = mcp_page_args;
         a->name != NULL && (c->tool->flags & MCP_PAGED) != 0; a++)
        cli_nearest_try(&near, a->name);
    return mcp_fail(c, "%s has no argument \"%.60s\"%s", c->tool->name, name,
                    cli_meant(&near, "", meant));
}

static enum mcp_outcome check_all(struct mcp_call *c)
{
    const char *name;
    json_t *value;
    json_object_foreach(c->arguments, name, value)
    {
        const struct mcp_arg *a = argument(c->tool, name);
        enum mcp_outcome e = a == NULL                             ? unknown(c, name)
                             : json_is_null(value) && !a->required ? MCP_DONE
                                                                   : check(c, a, value);
        if (e != MCP_DONE)
            return e;
    }
    for (const struct mcp_arg *a = c->tool->args; a->name != NULL; a++)
        if (a->required && json_object_get(c->arguments, a->name) == NULL)
            return mcp_fail(c, "%s needs \"%s\": %s", c->tool->name, a->name, a->about);
    return MCP_DONE;
}

const char *mcp_text(const struct mcp_call *c, const char *name)
{
    return json_string_value(json_object_get(c->arguments, name));
}

int64_t mcp_number(const struct mcp_call *c, const char *name, int64_t def)
{
    const json_t *value = json_object_get(c->arguments, name);
    return json_is_integer(value) ? json_integer_value(value) : def;
}

bool mcp_flag(const struct mcp_call *c, const char *name)
{
    return json_is_true(json_object_get(c->arguments, name));
}

/* ---- errors ---- */

enum mcp_outcome mcp_fail(struct mcp_call *c, const char *fmt, ...)
{
    va_list ap;
    free(c->error);
    va_start(ap, fmt);
    if (vasprintf(&c->error, fmt, ap) < 0)
        c->error = NULL;
    va_end(ap);
    return MCP_FAILED;
}

enum mcp_outcome mcp_fail_said(struct mcp_call *c)
{
    size_t n = json_array_size(c->said);
    return mcp_fail(c, "%s",
                    n > 0 ? json_string_value(json_array_get(c->said, n - 1)) : "it did not work");
}

enum mcp_outcome mcp_fail_by(struct mcp_call *c, const struct gcd_error *err)
{
    (void)cli_fail(c->heap != NULL ? c->heap->file : NULL, err);
    return mcp_fail_said(c);
}

enum mcp_outcome mcp_no_memory(struct mcp_call *c)
{
    return mcp_fail(c, "out of memory; close a heap that is open");
}

struct gcd_context mcp_context(const struct mcp_call *c, const char *verb)
{
    return cli_context_steps(c->heap != NULL ? c->heap->args : c->server->args, verb);
}

/* Keeps a message of the program, under the name that the client knows. */
static void keep_line(void *ctx, const char *subject, const char *text)
{
    struct mcp_call *c = ctx;
    char *line = NULL;
    if (json_array_size(c->said) >= MCP_NOTES_MAX)
        return;
    bool named = subject != NULL && c->path != NULL && strcmp(subject, c->path) == 0;
    if (asprintf(&line, "%s%s%s",
                 named             ? c->shown
                 : subject != NULL ? subject
                                   : "",
                 subject != NULL ? ": " : "", text) < 0)
        return;
    (void)json_array_append_new(c->said, cli_json_text(line));
    free(line);
}

/* ---- fields ---- */

void mcp_put(json_t *o, const char *key, json_t *value)
{
    (void)json_object_set_new(o, key, value); /* json_out.c records exhausted memory */
}

/* The length of TEXT cut to at most N bytes, at a character boundary. */
static size_t whole_characters(const char *text, size_t n)
{
    while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    return n;
}

json_t *mcp_name(struct mcp_call *c, const char *text)
{
    size_t n = strlen(text);
    if (n <= c->text_max)
        return cli_json_text(text);
    char *cut = NULL;
    c->shortened++;
    size_t kept = whole_characters(text, c->text_max);
    if (asprintf(&cut, "%.*s... (%s more bytes)", (int)kept, text, GCD_DIGITS(n - kept)) < 0)
        return NULL;
    json_t *j = cli_json_text(cut);
    free(cut);
    return j;
}

void mcp_put_name(struct mcp_call *c, json_t *o, const char *key, const char *text)
{
    mcp_put(o, key, text != NULL && text[0] != '\0' ? mcp_name(c, text) : json_null());
}

/* ---- the call ---- */

/* Puts the fields that all answers about a heap have before the others, first what makes the others
 * doubtful. */
static void finish(struct mcp_call *c)
{
    if (c->heap == NULL)
        return;
    json_t *answer = c->out;
    c->out = json_object();
    if (c->heap->incomplete != NULL)
        cli_json_put_text(c->out, "incomplete", c->heap->incomplete);
    mcp_put(c->out, "heap", json_string(c->heap->id));
    (void)json_object_update(c->out, answer);
    json_decref(answer);
}

static enum mcp_outcome run(struct mcp_call *c)
{
    enum mcp_outcome e = check_all(c);
    if (e == MCP_DONE && (c->tool->flags & MCP_TAKES_HEAP) != 0)
        e = mcp_heap_find(c, "heap", &c->heap);
    if (e == MCP_DONE)
        e = mcp_page_begin(c);
    if (e == MCP_DONE)
        e = c->tool->run(c);
    if (e == MCP_DONE)
        finish(c);
    return e;
}

/* {"content": [{"type": "text", "text": TEXT}]}; STRUCTURED NULL: an error.  Takes ownership of
 * both. */
static json_t *result(json_t *text, json_t *structured, bool modern)
{
    json_t *o = json_pack("{s:[{s:s,s:o}]}", "content", "type", "text", "text", text);
    if (structured != NULL)
        mcp_put(o, "structuredContent", structured);
    else
        mcp_put(o, "isError", json_true());
    if (modern)
        mcp_put(o, "resultType", json_string("complete"));
    return o;
}

static json_t *answer(struct mcp_call *c, bool modern)
{
    char *text = json_dumps(c->out, JSON_COMPACT | MCP_REALS);
    json_t *o = text != NULL ? result(json_string(text), json_incref(c->out), modern) : NULL;
    free(text);
    return o;
}

json_t *mcp_call_run(struct mcp_server *s, json_t *params, bool modern, const char **ret_error)
{
    const json_t *name = json_object_get(params, "name");
    json_t *arguments = json_object_get(params, "arguments"), *none = json_object(), *o = NULL;
    struct mcp_call c = { .server = s,
                          .arguments = arguments != NULL ? arguments : none,
                          .out = json_object(),
                          .said = json_array() };
    c.tool = json_is_string(name) ? mcp_tool_find(json_string_value(name)) : NULL;
    *ret_error = c.tool == NULL                 ? "there is no such tool; tools/list lists them"
                 : !json_is_object(c.arguments) ? "\"arguments\" must be an object"
                                                : NULL;
    (void)cli_json_no_memory();
    cli_say_to(keep_line, &c);
    if (*ret_error == NULL) {
        enum mcp_outcome e = run(&c);
        bool lacked = cli_json_no_memory();
        if (lacked && e == MCP_DONE)
            e = mcp_no_memory(&c);
        if (e == MCP_DONE)
            o = answer(&c, modern);
        else
            o = result(cli_json_text(c.error != NULL ? c.error : "out of memory"), NULL, modern);
    }
    cli_say_to(NULL, NULL);
    json_decref(c.page.rows);
    json_decref(c.out);
    json_decref(c.said);
    json_decref(none);
    free(c.error);
    return o;
}
