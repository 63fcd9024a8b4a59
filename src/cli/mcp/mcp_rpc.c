#include "mcp/mcp_rpc.h"

#include <stdlib.h>
#include <string.h>

#include "output/json_out.h"

static const char no_memory[] = "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32603,\"message\":\"out "
                                "of memory; close a heap that is open\"}}\n";

const char *mcp_message_parse(const char *line, size_t n, struct mcp_message *ret,
                              enum mcp_code *ret_code)
{
    json_error_t problem;
    *ret = (struct mcp_message){
        .root =
            json_loadb(line, n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &problem)
    };
    *ret_code = MCP_E_PARSE;
    if (ret->root == NULL)
        return "the line is not one JSON value in UTF-8, with each key once; send one message a "
               "line";
    *ret_code = MCP_E_REQUEST;
    if (!json_is_object(ret->root))
        return json_is_array(ret->root)
                   ? "batches are not part of the protocol; send one message a line"
                   : "a message is a JSON object";
    const json_t *id = json_object_get(ret->root, "id"),
                 *method = json_object_get(ret->root, "method");
    const char *version = json_string_value(json_object_get(ret->root, "jsonrpc"));
    if (id != NULL && !json_is_string(id) && !json_is_integer(id))
        return "the id of a request is a string or an integer";
    ret->id = id;
    if (version == NULL || strcmp(version, "2.0") != 0)
        return "\"jsonrpc\" must be \"2.0\"";
    if (method == NULL && (json_object_get(ret->root, "result") != NULL ||
                           json_object_get(ret->root, "error") != NULL))
        return NULL;
    if (!json_is_string(method) || strlen(json_string_value(method)) != json_string_length(method))
        return "\"method\" must be a string";
    ret->method = json_string_value(method);
    ret->params = json_object_get(ret->root, "params");
    if (ret->params != NULL && !json_is_object(ret->params)) {
        *ret_code = MCP_E_PARAMS;
        return "\"params\" must be an object";
    }
    return NULL;
}

void mcp_message_done(struct mcp_message *m)
{
    json_decref(m->root);
    *m = (struct mcp_message){ .root = NULL };
}

/* Sends and releases MESSAGE, an object without "jsonrpc"; NULL: out of memory, and an error
 * without id is sent. */
static void send_message(struct mcp_out *out, json_t *message)
{
    bool whole =
        message != NULL && json_object_set_new(message, "jsonrpc", json_string("2.0")) == 0;
    /* all of it first, so that no line is cut */
    char *text = whole ? json_dumps(message, JSON_COMPACT | JSON_ENSURE_ASCII | MCP_REALS) : NULL;
    json_decref(message);
    pthread_mutex_lock(&out->lock);
    if (!out->gone) {
        bool sent = text != NULL ? fputs(text, out->to) >= 0 && putc('\n', out->to) != EOF
                                 : fputs(no_memory, out->to) >= 0;
        out->gone = fflush(out->to) != 0 || !sent;
    }
    pthread_mutex_unlock(&out->lock);
    free(text);
}

static void set(json_t **object, const char *key, json_t *value)
{
    if (*object != NULL && json_object_set_new(*object, key, value) == 0)
        return;
    if (*object == NULL)
        json_decref(value);
    json_decref(*object);
    *object = NULL;
}

/* Copies ids, because they belong to a request that another thread may release. */
static json_t *reply(const json_t *id)
{
    json_t *o = json_object();
    if (id != NULL)
        set(&o, "id", json_deep_copy(id));
    return o;
}

void mcp_send_result(struct mcp_out *out, const json_t *id, json_t *result)
{
    json_t *o = reply(id);
    if (result == NULL) {
        json_decref(o);
        mcp_send_error(out, id, MCP_E_INTERNAL, "out of memory; close a heap that is open", NULL);
        return;
    }
    set(&o, "result", result);
    send_message(out, o);
}

void mcp_send_error(struct mcp_out *out, const json_t *id, enum mcp_code code, const char *text,
                    json_t *data)
{
    json_t *o = reply(id), *error = json_object();
    set(&error, "code", json_integer(code));
    set(&error, "message", cli_json_text(text));
    if (data != NULL)
        set(&error, "data", data);
    set(&o, "error", error);
    send_message(out, o);
}

void mcp_send_notification(struct mcp_out *out, const char *method, json_t *params)
{
    json_t *o = json_object();
    set(&o, "method", json_string(method));
    set(&o, "params", params);
    send_message(out, o);
}

bool mcp_out_gone(struct mcp_out *out)
{
    pthread_mutex_lock(&out->lock);
    bool gone = out->gone;
    pthread_mutex_unlock(&out->lock);
    return gone;
}
