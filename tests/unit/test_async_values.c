/* What tasks, timers and requests are about: counted, sorted and named, of objects whose fields a
 * recording has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/async_values.h>
#include <gcdumpc/unstable/session/views.h>

#include "answer/answers.h"
#include "base/mem.h"
#include "support/check.h"
#include "support/failalloc.h"
#include "values/values.h"
/* its struct of this name is another one */
#define answer pile_answer
#include "support/pile.h"
#undef answer

#define BASE    UINT64_C(0x7f0000001000)
#define STEP    UINT64_C(0x1000)
#define TASK    "System.Threading.Tasks.Task"
#define TIMER   "System.Threading.TimerQueueTimer"
#define CALL    "System.Threading.TimerCallback"
#define REQUEST "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.Http1Connection"
#define NEVER   GCD_TIMER_NEVER

static struct gcd_error err = GCD_ERROR_INIT;

enum row { ROW_TASK, ROW_TIMER, ROW_CALL, ROW_REQUEST, ROW_NONE };

/* An object with the numbers of its fields; references are numbers of objects, counted from 1. */
struct object {
    const char *type;
    enum row row;
    uint32_t size, a, b, c, d;
    const char *text;
};

#define A_TASK(bytes, flags)              \
    {                                     \
        TASK, ROW_TASK, bytes, .a = flags \
    }
#define A_CALL(target)                  \
    {                                   \
        CALL, ROW_CALL, 64, .a = target \
    }
#define A_TIMER(due, period, callback, state)                    \
    {                                                            \
        TIMER, ROW_TIMER, 96, due, period, callback, state, NULL \
    }
#define A_REQUEST(status, method, path)                      \
    {                                                        \
        REQUEST, ROW_REQUEST, 500, status, method, .c = path \
    }

static const struct object objects[] = {
    A_TASK(64, 0),
    A_TASK(64, 0x10000),
    A_TASK(64, 0x2010000), /* queued */
    A_TASK(64, 0x20000),
    A_TASK(72, 0x2030000), /* running, as it was queued before */
    A_TASK(64, 0x2000000),
    A_TASK(64, 0x820000), /* runs no longer, but its children do */
    A_TASK(64, 0x1000000),
    A_TASK(64, 0x1820000),
    A_TASK(64, 0x1000001),
    A_TASK(64, 0x400000),
    A_TASK(80, 0x1430000),
    A_TASK(64, 0x200000),
    A_TASK(64, 0x3630000),
    /* calls: of a cache, of a lambda without an object, of a delegate that is its own target */
    { "Shop.Cache", ROW_NONE, 40, .a = 0 },
    { "Shop.Clock+<>c", ROW_NONE, 24, .a = 0 },
    { "Shop.Job", ROW_NONE, 32, .a = 0 },
    A_CALL(15),
    A_CALL(16),
    A_CALL(20),
    A_CALL(0),
    A_CALL(99), /* to nothing that the heap has */
    /* timers: due, period, callback, state */
    A_TIMER(1000, 0, 18, 17),
    A_TIMER(1000, NEVER, 18, 0),
    A_TIMER(1000, 1500, 18, 0),
    A_TIMER(NEVER, 1500, 19, 17),
    A_TIMER(59999, 86400000, 19, 0),
    A_TIMER(7200000, 120000, 20, 17),
    A_TIMER(999, 1000, 21, 0),
    A_TIMER(999, 1000, 22, 0),
    A_TIMER(1000, NEVER, 18, 17),
    /* requests: status, method, path */
    { "System.String", ROW_NONE, 40, .text = "/orders" },
    { "System.String", ROW_NONE, 40, .text = "/orders" },
    { "System.String", ROW_NONE, 40, .text = "/" },
    A_REQUEST(1, 1, 32), /* its headers are still read */
    A_REQUEST(2, 1, 34),
    A_REQUEST(2, 1, 32),
    A_REQUEST(3, 1, 33),
    A_REQUEST(4, 2, 33),
    A_REQUEST(5, 1, 33), /* ended */
    A_REQUEST(4, 0, 0),
    A_REQUEST(3, 3, 0),
};
#define OBJECTS (sizeof objects / sizeof *objects)

struct heap {
    struct gcd_graph *g;
    struct gcd_session *s;
    struct gcd_values *values;
    struct gcd_values_view view;
};

static void need(gcd_status st)
{
    assert_int_equal(st, GCD_OK);
}

static void column(struct value_rows *r, const char *name, struct value_column like)
{
    need(value_rows_add_column(r, &like, name, strlen(name)));
}

static void enum_of(struct value_rows *r, const char *const *names, size_t n)
{
    need(value_rows_add_enum(r, 8, false));
    for (size_t i = 0; i < n; i++)
        need(value_rows_add_literal(r, i, names[i], strlen(names[i])));
}

static void describe(struct value_rows *r)
{
    static const char
        *const status[] = { "RequestPending",   "ParsingHeaders", "AppStarted",
                            "HeadersCommitted", "HeadersFlushed", "ResponseCompleted" },
               *const methods[] = { "None", "Get", "Post", "Custom" };
    const struct value_column number = { .form = FORM_NUMBER, .element = 9 },
                              reference = { .form = FORM_REFERENCE };
    enum_of(r, status, 6);
    enum_of(r, methods, 4);
    need(value_rows_add_type(r, 0x7f01));
    column(r, "m_stateFlags", (struct value_column){ .form = FORM_NUMBER, .element = 8 });
    need(value_rows_add_type(r, 0x7f02));
    column(r, "_dueTime", number);
    column(r, "_period", number);
    column(r, "_timerCallback", reference);
    column(r, "_state", reference);
    need(value_rows_add_type(r, 0x7f03));
    column(r, "_target", reference);
    need(value_rows_add_type(r, 0x7f04));
    column(r, "_requestProcessingStatus",
           (struct value_column){ .form = FORM_NUMBER, .element = 8, .of = 1 });
    column(r, "Method", (struct value_column){ .form = FORM_NUMBER, .element = 8, .of = 2 });
    column(r, "Path", reference);
}

static uint64_t address_of(uint32_t number)
{
    return number == 0 ? 0 : BASE + STEP * (number - 1);
}

static void add_row(struct value_rows *r, size_t i)
{
    const struct object *o = &objects[i];
    uint8_t *row;
    need(value_rows_add(r, o->row, BASE + STEP * i, &row));
    struct gcd_put w = gcd_put_make(row, r->types[o->row].row_bytes);
    if (o->row == ROW_CALL) {
        gcd_put_le(&w, address_of(o->a), 8);
        return;
    }
    gcd_put_le(&w, o->a, 4);
    if (o->row == ROW_TASK)
        return;
    gcd_put_le(&w, o->b, 4);
    gcd_put_le(&w, address_of(o->c), 8);
    if (o->row == ROW_TIMER)
        gcd_put_le(&w, address_of(o->d), 8);
}

static void add_text(struct gcd_values *v, uint64_t address, const char *text)
{
    struct values_content c = { .hash = strlen(text),
                                .length = (uint32_t)strlen(text),
                                .bytes = (uint32_t)strlen(text),
                                .utf8 = text };
    need(values_add(v, address, 0, &c, NULL));
}

/* The heap of the first COUNT objects. */
static struct heap heap_of(size_t count)
{
    struct heap h = { .g = NULL };
    struct gcd_values_options o = { .kind = GCD_VALUES_ALL };
    struct pile *p = pile_new();
    need(values_new(NULL, NULL, &o, &h.values, NULL));
    describe(h.values->rows);
    for (size_t i = 0; i < count; i++) {
        (void)node(p, objects[i].type, objects[i].size);
        if (objects[i].row != ROW_NONE)
            add_row(h.values->rows, i);
        if (objects[i].text != NULL)
            add_text(h.values, BASE + STEP * i, objects[i].text);
    }
    need(values_sort(h.values, NULL));
    h.g = pile_graph(p);
    h.view = (struct gcd_values_view){ .values = h.values, .show = GCD_SHOW_RAW };
    need(gcd_session_new(h.g, NULL, &h.s, &err));
    gcd_session_use_values(h.s, &h.view);
    return h;
}

static void done(struct heap *h)
{
    gcd_session_free(h->s);
    gcd_graph_free(h->g);
    values_free(h->values);
}

static struct gcd_async_values *values_of(const struct heap *h)
{
    struct gcd_async_values *v = NULL;
    struct gcd_async_values_of of = { .view = h->view };
    need(gcd_async_values_new(h->g, &of, &v, &err));
    return v;
}

static void tasks_have_the_last_state_that_they_were_in(void **state)
{
    (void)state;
    static const struct gcd_tasks wanted[GCD_TASK_STATES] = {
        { 1, 64, 0 },  { 2, 128, 1 },  { 2, 136, 3 },  { 2, 128, 5 },
        { 3, 192, 7 }, { 2, 144, 10 }, { 2, 128, 12 },
    };
    static const char *const names[] = { "created",   "queued",   "running", "waiting",
                                         "completed", "canceled", "faulted" };
    struct heap h = heap_of(OBJECTS);
    struct gcd_async_values *v = values_of(&h);
    struct answer *a;
    for (unsigned i = 0; i < GCD_TASK_STATES; i++) {
        assert_int_equal(gcd_async_tasks(v)[i].count, wanted[i].count);
        assert_int_equal(gcd_async_tasks(v)[i].bytes, wanted[i].bytes);
        assert_int_equal(gcd_async_tasks(v)[i].node, wanted[i].node);
    }
    need(answer_tasks(h.s, v, &a, &err));
    assert_int_equal(a->rows, GCD_TASK_STATES);
    assert_int_equal(a->total, GCD_TASK_STATES);
    for (unsigned i = 0; i < GCD_TASK_STATES; i++) {
        const struct gcd_tasks *t = &wanted[GCD_TASK_STATES - 1 - i];
        assert_string_equal(answer_find(a, i, "state")->text, names[GCD_TASK_STATES - 1 - i]);
        assert_int_equal(answer_find(a, i, "count")->number, t->count);
        assert_int_equal(answer_find(a, i, "bytes")->number, t->bytes);
        assert_int_equal(answer_find(a, i, "address")->number, BASE + STEP * t->node);
    }
    answer_free(a);
    gcd_async_values_free(v);
    done(&h);
}

static void timers_are_told_by_when_and_for_what(void **state)
{
    (void)state;
    static const struct {
        uint64_t count;
        uint32_t due, period, node;
        const char *type, *said;
    } wanted[] = {
        { 3, 1000, NEVER, 22, "Shop.Cache", "1 s" },
        { 2, 999, 1000, 28, NULL, "999 ms, every 1 s" },
        { 1, 1000, 1500, 24, "Shop.Cache", "1 s, every 1.500 s" },
        { 1, 59999, 86400000, 26, "Shop.Clock.<>c", "59.999 s, every 1 d" },
        { 1, 7200000, 120000, 27, "Shop.Job", "2 h, every 2 min" },
        { 1, NEVER, NEVER, 25, "Shop.Job", "never (infinite)" },
    };
    struct heap h = heap_of(OBJECTS);
    struct gcd_async_values *v = values_of(&h);
    struct answer *a;
    size_t n;
    const struct gcd_timers *t = gcd_async_timers(v, &n);
    assert_int_equal(n, 6);
    for (size_t most = 0; most <= n + 1; most++) {
        need(answer_timers(h.s, v, most, &a, &err));
        assert_int_equal(a->rows, most < n ? most : n);
        assert_int_equal(a->total, n);
        for (size_t i = 0; i < a->rows; i++) {
            const struct answer_cell *type = answer_find(a, i, "type"),
                                     *due = answer_find(a, i, "due_ms"),
                                     *period = answer_find(a, i, "period_ms");
            assert_int_equal(t[i].count, wanted[i].count);
            assert_int_equal(t[i].due_ms, wanted[i].due);
            assert_int_equal(t[i].period_ms, wanted[i].period);
            assert_int_equal(t[i].node, wanted[i].node);
            assert_int_equal(answer_find(a, i, "count")->number, wanted[i].count);
            assert_string_equal(answer_find(a, i, "due")->text, wanted[i].said);
            assert_int_equal(answer_find(a, i, "address")->number, BASE + STEP * wanted[i].node);
            assert_int_equal(due->known, wanted[i].due != NEVER);
            assert_int_equal(period->known, wanted[i].period != NEVER);
            assert_true(!due->known || due->number == wanted[i].due);
            assert_true(!period->known || period->number == wanted[i].period);
            assert_int_equal(type->known, wanted[i].type != NULL);
            if (type->known)
                assert_string_equal(type->text, wanted[i].type);
        }
        answer_free(a);
    }
    gcd_async_values_free(v);
    done(&h);
}

static void requests_at_work_have_a_method_and_a_path(void **state)
{
    (void)state;
    static const struct {
        uint64_t count;
        uint32_t node;
        const char *method, *path;
    } wanted[] = {
        { 2, 36, "GET", "\"/orders\"" },
        { 2, 40, NULL, NULL },
        { 1, 35, "GET", "\"/\"" },
        { 1, 38, "POST", "\"/orders\"" },
    };
    struct heap h = heap_of(OBJECTS);
    struct gcd_async_values *v = values_of(&h);
    struct answer *a;
    size_t n;
    const struct gcd_requests *q = gcd_async_requests(v, &n);
    assert_int_equal(n, 4);
    for (size_t most = 0; most <= n + 1; most++) {
        need(answer_requests(h.s, v, most, &a, &err));
        assert_int_equal(a->rows, most < n ? most : n);
        assert_int_equal(a->total, n);
        for (size_t i = 0; i < a->rows; i++) {
            const struct answer_cell *method = answer_find(a, i, "method"),
                                     *path = answer_find(a, i, "shown");
            assert_int_equal(q[i].count, wanted[i].count);
            assert_int_equal(q[i].node, wanted[i].node);
            assert_int_equal(answer_find(a, i, "count")->number, wanted[i].count);
            assert_int_equal(answer_find(a, i, "address")->number, BASE + STEP * wanted[i].node);
            assert_int_equal(method->known, wanted[i].method != NULL);
            if (method->known)
                assert_string_equal(method->text, wanted[i].method);
            assert_int_equal(path->known, wanted[i].path != NULL);
            if (path->known)
                assert_string_equal(path->text, wanted[i].path);
        }
        const char *said = answer_requests_sentence(a, v);
        static const char *const sentences[] = {
            NULL,
            "6 requests are at work: GET \"/orders\" (2 times), ...",
            "6 requests are at work: GET \"/orders\" (2 times), ...",
            "6 requests are at work: GET \"/orders\" (2 times), GET \"/\", ...",
            "6 requests are at work: GET \"/orders\" (2 times), GET \"/\", POST \"/orders\", ...",
        };
        const char *sentence = sentences[most < 4 ? most : 4];
        if (sentence == NULL)
            assert_null(said);
        else
            assert_string_equal(said, sentence);
        answer_free(a);
    }
    gcd_async_values_free(v);
    done(&h);
}

static void one_request_is_told_as_one(void **state)
{
    (void)state;
    struct heap h = heap_of(36);
    struct gcd_async_values *v = values_of(&h);
    struct answer *a;
    need(answer_requests(h.s, v, 9, &a, &err));
    assert_string_equal(answer_requests_sentence(a, v), "1 request is at work: GET \"/\"");
    answer_free(a);
    gcd_async_values_free(v);
    done(&h);
}

static void paths_are_only_shown_if_they_are_asked_for(void **state)
{
    (void)state;
    struct heap h = heap_of(OBJECTS);
    size_t n;
    h.view.show = GCD_SHOW_EQUAL;
    gcd_session_use_values(h.s, &h.view);
    struct gcd_async_values *v = values_of(&h);
    struct answer *a;
    const struct gcd_requests *q = gcd_async_requests(v, &n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(q[i].path, GCD_TEXT_NONE);
    need(answer_requests(h.s, v, 9, &a, &err));
    assert_false(answer_has(a, "shown"));
    assert_null(answer_requests_sentence(a, v));
    answer_free(a);
    gcd_async_values_free(v);
    done(&h);
}

static void memory_runs_out(void **state)
{
    (void)state;
    struct heap h = heap_of(OBJECTS);
    bool failed = true;
    for (uint64_t n = 1; failed; n++) {
        struct failalloc f;
        struct gcd_async_values *v = NULL;
        struct gcd_error said = GCD_ERROR_INIT;
        failalloc_init(&f);
        f.fail_at = n;
        struct gcd_async_values_of of = { .context = { .alloc = &f.alloc }, .view = h.view };
        gcd_status st = gcd_async_values_new(h.g, &of, &v, &said);
        failed = f.failed > 0;
        assert_int_equal(st, failed ? GCD_E_NOMEM : GCD_OK);
        assert_int_equal(v == NULL, failed);
        assert_true(!failed || said.msg[0] != '\0');
        gcd_async_values_free(v);
        assert_null(failalloc_complaint(&f));
    }
    gcd_cancel_flag cancel = true;
    struct gcd_async_values *v = NULL;
    struct gcd_async_values_of of = { .context = { .cancel = &cancel }, .view = h.view };
    assert_int_equal(gcd_async_values_new(h.g, &of, &v, &err), GCD_E_CANCELED);
    of = (struct gcd_async_values_of){ .context = { .cancel = NULL } };
    assert_int_equal(gcd_async_values_new(h.g, &of, &v, &err), GCD_END);
    assert_null(v);
    done(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_have_the_last_state_that_they_were_in),
        cmocka_unit_test(timers_are_told_by_when_and_for_what),
        cmocka_unit_test(requests_at_work_have_a_method_and_a_path),
        cmocka_unit_test(one_request_is_told_as_one),
        cmocka_unit_test(paths_are_only_shown_if_they_are_asked_for),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
