/*
 * One thread reads, and answers what needs no work.  Tool calls wait for the worker, which is the
 * thread that called mcp_serve.  All work checks the flag cli_canceled: a client that cancels its
 * call sets it for that call, a signal for all.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "exit.h"
#include "mcp/mcp.h"
#include "mcp/mcp_call.h"
#include "mcp/mcp_lines.h"
#include "output/json_out.h"
#include "signals.h"
#include "term/message.h"
#include "term/progress.h"

/* How often the threads check for signals and for a client that is gone. */
#define LOOK_MS           100
#define PROGRESS_EVERY_NS UINT64_C(250000000)

bool mcp_server_init(struct mcp_server *s, const struct cli_args *args, FILE *to)
{
    *s = (struct mcp_server){ .args = args, .root_fd = -1, .root = "", .out.to = to };
    return pthread_mutex_init(&s->lock, NULL) == 0 && pthread_mutex_init(&s->out.lock, NULL) == 0 &&
           pthread_cond_init(&s->wake, NULL) == 0;
}

static void free_request(struct mcp_request *r)
{
    if (r == NULL)
        return;
    mcp_message_done(&r->message);
    free(r);
}

void mcp_server_done(struct mcp_server *s)
{
    while (s->first != NULL) {
        struct mcp_request *r = s->first;
        s->first = r->next;
        free_request(r);
    }
    while (s->heaps.count > 0)
        mcp_heap_close(&s->heaps, s->heaps.items[0]);
    pthread_cond_destroy(&s->wake);
    pthread_mutex_destroy(&s->out.lock);
    pthread_mutex_destroy(&s->lock);
}

/* ---- the reader ---- */

/* Takes the request ID out of the queue; NULL: it is not there.  Call it with the lock. */
static struct mcp_request *take_out(struct mcp_server *s, const json_t *id)
{
    struct mcp_request *before = NULL;
    for (struct mcp_request *r = s->first; r != NULL; before = r, r = r->next)
        if (mcp_same_id(r->message.id, id)) {
            *(before != NULL ? &before->next : &s->first) = r->next;
            if (s->last == r)
                s->last = before;
            s->waiting--;
            return r;
        }
    return NULL;
}

static void cancel(struct mcp_server *s, const json_t *id)
{
    if (!json_is_string(id) && !json_is_integer(id))
        return;
    pthread_mutex_lock(&s->lock);
    struct mcp_request *waiting = take_out(s, id);
    if (waiting == NULL && s->current != NULL && mcp_same_id(s->current->message.id, id) &&
        !s->canceled) {
        s->canceled = true;
        atomic_store(&cli_canceled, true);
    }
    pthread_mutex_unlock(&s->lock);
    free_request(waiting);
}

static bool is_known(struct mcp_server *s, const json_t *id)
{
    bool known = s->current != NULL && mcp_same_id(s->current->message.id, id);
    for (const struct mcp_request *r = s->first; r != NULL && !known; r = r->next)
        known = mcp_same_id(r->message.id, id);
    return known;
}

/* Queues M for the worker and empties it.  Returns a sentence if it cannot. */
static const char *enqueue(struct mcp_server *s, struct mcp_message *m, bool modern)
{
    struct mcp_request *r = calloc(1, sizeof *r);
    const char *problem = r == NULL ? "out of memory; close a heap that is open" : NULL;
    pthread_mutex_lock(&s->lock);
    if (problem == NULL && s->waiting == MCP_QUEUE_MAX)
        problem = "too many calls wait; send the next one after an answer";
    if (problem == NULL) {
        *r = (struct mcp_request){ .message = *m, .modern = modern };
        *m = (struct mcp_message){ .root = NULL };
        *(s->last != NULL ? &s->last->next : &s->first) = r;
        s->last = r;
        s->waiting++;
        pthread_cond_signal(&s->wake);
        r = NULL;
    }
    pthread_mutex_unlock(&s->lock);
    free(r);
    return problem;
}

/* Sets *RET_MODERN if M is of the newest revision.  False after sending an error: M is of no
 * supported one. */
static bool check_version(struct mcp_server *s, const struct mcp_message *m, bool *ret_modern)
{
    const json_t *meta = json_object_get(m->params, "_meta"),
                 *version = json_object_get(meta, MCP_META "protocolVersion");
    bool initialize = strcmp(m->method, "initialize") == 0 || strcmp(m->method, "ping") == 0;
    *ret_modern = version != NULL;
    if (version == NULL) {
        if (initialize || s->initialized)
            return true;
        mcp_send_error(&s->out, m->id, MCP_E_PARAMS,
                       "\"_meta\" needs \"" MCP_META "protocolVersion\": \"" MCP_MODERN
                       "\"; clients of " MCP_LEGACY " begin with initialize",
                       NULL);
        return false;
    }
    if (!json_is_string(version) || strcmp(json_string_value(version), MCP_MODERN) != 0) {
        json_t *requested = json_deep_copy(version);
        mcp_send_error(&s->out, m->id, MCP_E_VERSION, "Unsupported protocol version",
                       json_pack("{s:[s,s],s:o}", "supported", MCP_MODERN, MCP_LEGACY, "requested",
                                 requested));
        return false;
    }
    if (json_is_object(json_object_get(meta, MCP_META "clientCapabilities")))
        return true;
    mcp_send_error(&s->out, m->id, MCP_E_PARAMS,
                   "\"_meta\" needs \"" MCP_META "clientCapabilities\", an object", NULL);
    return false;
}

/* Queues a tool call. */
static void take_call(struct mcp_server *s, struct mcp_message *m, bool modern)
{
    pthread_mutex_lock(&s->lock);
    bool known = is_known(s, m->id);
    pthread_mutex_unlock(&s->lock);
    /* its answer could not be told from that of the other call */
    if (known) {
        mcp_send_error(&s->out, NULL, MCP_E_REQUEST,
                       "the id belongs to a call that has no answer yet; give each call its own",
                       NULL);
        return;
    }
    const char *problem = enqueue(s, m, modern);
    if (problem != NULL)
        mcp_send_error(&s->out, m->id, MCP_E_INTERNAL, problem, NULL);
}

static void take_request(struct mcp_server *s, struct mcp_message *m)
{
    bool modern;
    if (!check_version(s, m, &modern))
        return;
    if (strcmp(m->method, "tools/call") == 0)
        take_call(s, m, modern);
    else if (strcmp(m->method, "tools/list") == 0 &&
             json_is_string(json_object_get(m->params, "cursor")))
        mcp_send_error(&s->out, m->id, MCP_E_PARAMS, "the list of tools has one page and no cursor",
                       NULL);
    else if (strcmp(m->method, "tools/list") == 0)
        mcp_send_result(&s->out, m->id, mcp_list_result(s, modern));
    else if (strcmp(m->method, "server/discover") == 0 && modern)
        mcp_send_result(&s->out, m->id, mcp_discover_result(s));
    else if (strcmp(m->method, "ping") == 0 && !modern)
        mcp_send_result(&s->out, m->id, json_object());
    else if (strcmp(m->method, "initialize") == 0 && !modern) {
        s->initialized = true;
        mcp_send_result(&s->out, m->id, mcp_initialize_result(s));
    } else {
        mcp_send_error(&s->out, m->id, MCP_E_METHOD, "there is no such method", NULL);
    }
}

void mcp_take(void *ctx, const char *line, size_t n)
{
    struct mcp_server *s = ctx;
    struct mcp_message m;
    enum mcp_code code;
    if (line == NULL) {
        mcp_send_error(&s->out, NULL, MCP_E_REQUEST,
                       "the line was longer than 1,048,576 bytes and was left out", NULL);
        return;
    }
    const char *problem = mcp_message_parse(line, n, &m, &code);
    if (problem != NULL)
        mcp_send_error(&s->out, m.id, code, problem, NULL);
    else if (m.method != NULL && m.id != NULL)
        take_request(s, &m);
    else if (m.method != NULL && strcmp(m.method, "notifications/cancelled") == 0)
        cancel(s, json_object_get(m.params, "requestId"));
    mcp_message_done(&m);
}

/* ---- progress ---- */

/* The progress of the current call.  Reported numbers always grow: a whole step per finished part
 * of the work, a fraction for the current part. */
struct progress {
    struct mcp_server *s;
    const json_t *token;
    pthread_mutex_t lock; /* several threads of the library report */
    const char *verb;
    double steps, told;
    uint64_t last;
    uint64_t told_ns;
};

static void tell(struct progress *p, double done, double share)
{
    char text[80];
    (void)snprintf(text, sizeof text, "%s: %.0f %%", p->verb, 100 * share);
    p->told = done;
    mcp_send_notification(&p->s->out, "notifications/progress",
                          json_pack("{s:o,s:f,s:s}", "progressToken", json_deep_copy(p->token),
                                    "progress", done, "message", text));
}

static void report(void *ctx, const char *verb, uint64_t done, uint64_t total)
{
    struct progress *p = ctx;
    pthread_mutex_lock(&p->lock);
    if (p->verb == NULL || strcmp(p->verb, verb) != 0 || done < p->last)
        p->steps += p->verb != NULL; /* the next part of the work */
    p->verb = verb;
    p->last = done;
    double share = total > 0 && total != UINT64_MAX && done < total ? (double)done / (double)total
                   : done > 0                                       ? 0.999
                                                                    : 0;
    uint64_t now = gcd_clock_ns();
    if (now - p->told_ns >= PROGRESS_EVERY_NS && p->steps + share > p->told) {
        p->told_ns = now;
        tell(p, p->steps + share, share);
    }
    pthread_mutex_unlock(&p->lock);
}

static const json_t *token_of(const struct mcp_request *r)
{
    const json_t *token =
        json_object_get(json_object_get(r->message.params, "_meta"), "progressToken");
    return json_is_string(token) || json_is_integer(token) ? token : NULL;
}

/* ---- the worker ---- */

static void nobody(void *ctx, const char *verb, uint64_t done, uint64_t total)
{
    (void)ctx;
    (void)verb;
    (void)done;
    (void)total;
}

/* Runs the call R; its result, or *RET_ERROR. */
static json_t *call(struct mcp_server *s, struct mcp_request *r, const char **ret_error)
{
    struct progress p = { .s = s, .token = token_of(r) };
    pthread_mutex_init(&p.lock, NULL);
    cli_progress_to(p.token != NULL ? report : nobody, &p);
    json_t *result = mcp_call_run(s, r->message.params, r->modern, ret_error);
    cli_progress_to(nobody, NULL);
    pthread_mutex_destroy(&p.lock);
    return result;
}

/* Takes the next call.  Call it with the lock. */
static struct mcp_request *next(struct mcp_server *s)
{
    struct mcp_request *r = s->first;
    if (r != NULL)
        (void)take_out(s, r->message.id);
    s->current = r;
    s->canceled = false;
    return r;
}

bool mcp_work(struct mcp_server *s)
{
    const char *error;
    pthread_mutex_lock(&s->lock);
    struct mcp_request *r = next(s);
    pthread_mutex_unlock(&s->lock);
    if (r == NULL)
        return false;
    json_t *result = call(s, r, &error);
    pthread_mutex_lock(&s->lock);
    bool canceled = s->canceled;
    s->current = NULL;
    if (canceled || s->late)
        atomic_store(&cli_canceled, false);
    s->canceled = s->late = false;
    s->until_ns = 0;
    pthread_mutex_unlock(&s->lock);
    if (canceled || atomic_load(&cli_canceled))
        json_decref(result);
    else if (error != NULL)
        mcp_send_error(&s->out, r->message.id, MCP_E_PARAMS, error, NULL);
    else
        mcp_send_result(&s->out, r->message.id, result);
    free_request(r);
    return true;
}

/* Cancels the current call when its time is up.  Call it with the lock. */
static void look_at_clock(struct mcp_server *s)
{
    if (s->until_ns == 0 || s->canceled || s->late || gcd_clock_ns() < s->until_ns)
        return;
    s->late = true;
    atomic_store(&cli_canceled, true);
}

void mcp_set_limit(struct mcp_server *s, uint64_t seconds)
{
    pthread_mutex_lock(&s->lock);
    s->until_ns = seconds > 0 ? gcd_clock_ns() + (uint64_t)seconds * GCD_NS_PER_SECOND : 0;
    pthread_mutex_unlock(&s->lock);
}

/* Must the server end, because of a signal or because the client is gone? */
static bool is_over(struct mcp_server *s)
{
    pthread_mutex_lock(&s->lock);
    look_at_clock(s);
    bool over = atomic_load(&cli_canceled) && !s->canceled && !s->late;
    pthread_mutex_unlock(&s->lock);
    return over || mcp_out_gone(&s->out);
}

static void end_input(struct mcp_server *s)
{
    pthread_mutex_lock(&s->lock);
    s->ended = true;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
}

/* Cancels the current call, because nobody reads its answer. */
static void give_up(struct mcp_server *s)
{
    pthread_mutex_lock(&s->out.lock);
    s->out.gone = true;
    pthread_mutex_unlock(&s->out.lock);
    atomic_store(&cli_canceled, true);
}

/* Waits for input.  False: the client is gone, or the worker has ended. */
static bool wait_for_input(struct mcp_server *s, bool input)
{
    struct pollfd fds[2] = { { .fd = input ? STDIN_FILENO : -1, .events = POLLIN },
                             { .fd = fileno(s->out.to), .events = 0 } };
    while (!is_over(s)) {
        int n = poll(fds, 2, LOOK_MS);
        if (n > 0 && (fds[1].revents & POLLERR) != 0) {
            give_up(s);
            return false;
        }
        if (n > 0 && fds[0].revents != 0)
            return true;
        pthread_mutex_lock(&s->lock);
        bool idle = !input && s->first == NULL && s->current == NULL;
        pthread_mutex_unlock(&s->lock);
        if (idle)
            return false;
    }
    return false;
}

static void *read_all(void *ctx)
{
    struct mcp_server *s = ctx;
    struct mcp_lines lines = { .take = mcp_take, .ctx = s };
    char bytes[65536];
    while (wait_for_input(s, true)) {
        ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
            break;
        if (n > 0)
            mcp_lines_feed(&lines, bytes, (size_t)n);
    }
    mcp_lines_end(&lines);
    end_input(s);
    /* waiting calls still get their answers while somebody reads them */
    (void)wait_for_input(s, false);
    return NULL;
}

/* Waits for a call; false: there will be no more. */
static bool wait_for_call(struct mcp_server *s)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&s->lock);
    if (s->first == NULL && !s->ended)
        (void)pthread_cond_timedwait(&s->wake, &s->lock, &until);
    bool more = s->first != NULL || !s->ended;
    pthread_mutex_unlock(&s->lock);
    return more;
}

enum cli_exit mcp_serve(struct mcp_server *s)
{
    pthread_t reader;
    cli_progress_to(nobody, NULL);
    if (pthread_create(&reader, NULL, read_all, s) != 0)
        return cli_error(CLI_FAILED, NULL, "cannot start a thread");
    while (!is_over(s) && wait_for_call(s))
        (void)mcp_work(s);
    pthread_join(reader, NULL);
    cli_progress_to(NULL, NULL);
    bool gone = mcp_out_gone(&s->out);
    return atomic_load(&cli_canceled) && !gone ? CLI_INTERRUPTED : CLI_DONE;
}
