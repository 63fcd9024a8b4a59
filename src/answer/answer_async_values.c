/* What tasks, timers and requests are about, from memory. */
#include "answer/answers.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/async_values.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/text/plural.h>

#include "base/error.h"

static const struct answer_column task_columns[] = {
    COLUMN("count", "Tasks", ANSWER_COUNT),
    COLUMN("bytes", "Bytes", ANSWER_BYTES),
    COLUMN("state", "State", ANSWER_TEXT),
    COLUMN("address", "Example", ANSWER_ADDRESS),
};
const struct answer_shape answer_tasks_shape = ANSWER_SHAPE(task_columns);

static const struct answer_column timer_columns[] = {
    COLUMN("count", "Timers", ANSWER_COUNT), PEOPLE("due", "Due after", ANSWER_TEXT),
    FIELD("due_ms", ANSWER_COUNT),           FIELD("period_ms", ANSWER_COUNT),
    COLUMN("type", "For", ANSWER_TEXT),      COLUMN("address", "Example", ANSWER_ADDRESS),
};
const struct answer_shape answer_timers_shape = ANSWER_SHAPE(timer_columns);

static const struct answer_column request_columns[] = {
    COLUMN("count", "Requests", ANSWER_COUNT),
    COLUMN("method", "Method", ANSWER_TEXT),
    PEOPLE("shown", "Path", ANSWER_TEXT),
    FIELD("text", ANSWER_TEXT),
    FIELD("cut", ANSWER_FLAG),
    FIELD("masked", ANSWER_TEXT),
    COLUMN("address", "Example", ANSWER_ADDRESS),
};
const struct answer_shape answer_requests_shape = ANSWER_SHAPE(request_columns);

gcd_status answer_find_async_values(struct gcd_session *s, const struct gcd_context *call,
                                    struct gcd_async_values **ret, struct gcd_error *err)
{
    struct gcd_async_values_of of = { .context = *call, .view = gcd_session_values(s) };
    *ret = NULL;
    gcd_status st = gcd_async_values_new(gcd_session_graph(s), &of, ret, err);
    return st == GCD_END ? GCD_OK : st;
}

static void put_address(struct answer *a, const struct gcd_session *s, uint32_t node)
{
    answer_count(a, "address", gcd_graph_node_address(gcd_session_graph(s), node));
}

gcd_status answer_tasks(struct gcd_session *s, const struct gcd_async_values *v,
                        struct answer **ret, struct gcd_error *err)
{
    const struct gcd_tasks *tasks = gcd_async_tasks(v);
    struct answer *a = *ret = answer_new(NULL, &answer_tasks_shape);
    if (a == NULL)
        return gcd_fail_nomem(err, "listing tasks");
    for (unsigned i = GCD_TASK_STATES; i-- > 0;) { /* those that failed first */
        if (tasks[i].count == 0)
            continue;
        answer_row(a);
        answer_count(a, "count", tasks[i].count);
        answer_count(a, "bytes", tasks[i].bytes);
        answer_text(a, "state", gcd_task_state_name((enum gcd_task_state)i));
        put_address(a, s, tasks[i].node);
    }
    a->total = a->rows;
    return GCD_OK;
}

/* ---- timers ---- */

#define TIME_BYTES 24u

/* "30 s", "1.5 s", "2 h" */
static const char *time_text(uint32_t ms, char ret[TIME_BYTES])
{
    static const struct {
        uint32_t ms;
        const char *name;
    } units[] = { { 86400000, "d" }, { 3600000, "h" }, { 60000, "min" }, { 1000, "s" } };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (ms >= units[i].ms && ms % units[i].ms == 0) {
            (void)snprintf(ret, TIME_BYTES, "%" PRIu32 " %s", ms / units[i].ms, units[i].name);
            return ret;
        }
    if (ms >= 1000)
        (void)snprintf(ret, TIME_BYTES, "%" PRIu32 ".%03" PRIu32 " s", ms / 1000, ms % 1000);
    else
        (void)snprintf(ret, TIME_BYTES, "%" PRIu32 " ms", ms);
    return ret;
}

static void put_times(struct answer *a, const struct gcd_timers *t)
{
    char due[TIME_BYTES], period[TIME_BYTES];
    if (t->due_ms == GCD_TIMER_NEVER) {
        answer_text(a, "due", "never (infinite)");
        return;
    }
    bool again = t->period_ms != GCD_TIMER_NEVER;
    answer_count(a, "due_ms", t->due_ms);
    if (again)
        answer_count(a, "period_ms", t->period_ms);
    answer_format(a, "due", "%s%s%s", time_text(t->due_ms, due), again ? ", every " : "",
                  again ? time_text(t->period_ms, period) : "");
}

gcd_status answer_timers(struct gcd_session *s, const struct gcd_async_values *v, size_t most,
                         struct answer **ret, struct gcd_error *err)
{
    size_t n;
    const struct gcd_timers *timers = gcd_async_timers(v, &n);
    struct answer *a = *ret = answer_new(NULL, &answer_timers_shape);
    if (a == NULL)
        return gcd_fail_nomem(err, "listing timers");
    for (size_t i = 0; i < n && i < most; i++) {
        answer_row(a);
        answer_count(a, "count", timers[i].count);
        put_times(a, &timers[i]);
        if (timers[i].type != GCD_TYPE_NONE)
            answer_text(a, "type", gcd_names_get(gcd_session_names(s), timers[i].type));
        put_address(a, s, timers[i].node);
    }
    a->total = n;
    return GCD_OK;
}

/* ---- requests ---- */

#define METHOD_BYTES 16u

/* "GET" for "Get". */
static const char *upper_case(const char *method, char ret[METHOD_BYTES])
{
    size_t n = 0;
    for (; n < METHOD_BYTES - 1 && method[n] != '\0'; n++)
        ret[n] = (char)toupper((unsigned char)method[n]);
    ret[n] = '\0';
    return ret;
}

gcd_status answer_requests(struct gcd_session *s, const struct gcd_async_values *v, size_t most,
                           struct answer **ret, struct gcd_error *err)
{
    size_t n;
    char method[METHOD_BYTES];
    const struct gcd_requests *requests = gcd_async_requests(v, &n);
    struct gcd_values_view view = gcd_session_values(s);
    struct answer *a = *ret = answer_new(NULL, &answer_requests_shape);
    if (a == NULL)
        return gcd_fail_nomem(err, "listing requests");
    for (size_t i = 0; i < n && i < most; i++) {
        answer_row(a);
        answer_count(a, "count", requests[i].count);
        answer_known(a, "method", upper_case(requests[i].method, method));
        if (requests[i].path != GCD_TEXT_NONE) {
            struct gcd_text t = gcd_values_text(view.values, requests[i].path);
            answer_put_text(a, &t, gcd_values_secret(&view, &t));
        }
        put_address(a, s, requests[i].node);
    }
    a->total = n;
    if (view.show == GCD_SHOW_EQUAL || view.values == NULL)
        answer_hide_text(a);
    return GCD_OK;
}

/* ---- for people ---- */

#define EXAMPLES 3u

const char *answer_requests_sentence(struct answer *a, const struct gcd_async_values *v)
{
    size_t n, said = 0;
    uint64_t all = 0;
    const struct gcd_requests *requests = gcd_async_requests(v, &n);
    const char *examples = "";
    for (size_t i = 0; i < n; i++)
        all += requests[i].count;
    for (size_t i = 0; i < answer_plain_rows(a) && said < EXAMPLES; i++) {
        const struct answer_cell *path = answer_find(a, i, "shown"),
                                 *method = answer_find(a, i, "method"),
                                 *count = answer_find(a, i, "count");
        if (path == NULL || !path->known)
            continue;
        examples =
            answer_keep(a, "%s%s%s%s%s", examples, said++ > 0 ? ", " : "",
                        method->known ? method->text : "", method->known ? " " : "", path->text);
        if (count->number > 1)
            examples = answer_keep(a, "%s (%s times)", examples, GCD_DIGITS(count->number));
    }
    return said == 0 ? NULL
                     : answer_keep(a, "%s request%s at work: %s%s", GCD_DIGITS(all),
                                   all == 1 ? " is" : "s are", examples, said < n ? ", ..." : "");
}
