#include "answer/answers.h"

#include <inttypes.h>

#include <gcdumpc/unstable/graph/graph_places.h>
#include <gcdumpc/unstable/image_numbers.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/text/plural.h>

#include "base/error.h"

/* Of a stack trace; of those behind the method that threw, for people. */
#define CALLS_MAX   64u
#define CALLS_SHOWN 4u

static const struct answer_column call_columns[] = { FIELD(NULL, ANSWER_TEXT) };
static const struct answer_shape calls_shape = ANSWER_SHAPE(call_columns);

static const struct answer_column columns[] = {
    COLUMN("count", "Count", ANSWER_COUNT),
    COLUMN("thrown", "Thrown", ANSWER_COUNT),
    COLUMN("bytes", "Bytes", ANSWER_BYTES),
    COLUMN("type", "Type", ANSWER_TEXT),
    COLUMN("inner_type", "Inner exception", ANSWER_TEXT),
    PEOPLE("shown", "Message", ANSWER_TEXT),
    FIELD("text", ANSWER_TEXT),
    FIELD("cut", ANSWER_FLAG),
    FIELD("masked", ANSWER_TEXT),
    FIELD("thrown_in", ANSWER_TEXT),
    FIELD("hresult", ANSWER_TEXT),
    DETAIL("stack_trace", ANSWER_TEXT),
    COLUMN("address", "Example", ANSWER_ADDRESS),
    PEOPLE("call", "Thrown in", ANSWER_TREE),
    ROWS("calls", ANSWER_FOR_PROGRAMS, &calls_shape),
};
const struct answer_shape answer_exceptions_shape = ANSWER_SHAPE(columns);

/* The stack trace at ADDRESS in RET[CALLS_MAX]; returns the number of calls.  RET_OWN: the
 * innermost one outside the framework, else the innermost. */
static size_t read_calls(struct gcd_image_numbers *numbers, uint64_t address,
                         struct gcd_image_call *ret, size_t *ret_own)
{
    size_t own = 0, n = gcd_image_calls(numbers, address, ret, CALLS_MAX);
    while (own < n && ret[own].framework)
        own++;
    *ret_own = own < n ? own : 0;
    return n;
}

/* [gcd_exceptions_of.thrown_in] Of image numbers. */
static const char *thrown_in(void *numbers, uint64_t address)
{
    struct gcd_image_call calls[CALLS_MAX];
    size_t own;
    return read_calls(numbers, address, calls, &own) > 0 && calls[own].name[0] != '\0'
               ? calls[own].name
               : NULL;
}

/* A recording may have the numbers, but not the calls. */
static bool has_calls(const struct answer_of_exceptions *of)
{
    return of->numbers != NULL && !gcd_image_numbers_recorded(of->numbers);
}

gcd_status answer_find_exceptions(struct answer_of_exceptions *of, const struct gcd_context *call,
                                  struct gcd_error *err)
{
    struct gcd_exceptions_of what = { .context = *call, .values = of->view.values };
    struct gcd_values_view view = { .memory = of->in, .values = of->view.values };
    gcd_status st = gcd_image_numbers_new(&view, "_HResult", call->alloc, &of->numbers, err);
    if (st < 0)
        return st;
    if (has_calls(of)) {
        what.thrown_in = thrown_in;
        what.traces = of->numbers;
    }
    GCD_TRY(gcd_session_fields(of->session, call, &what.fields, err));
    return gcd_exceptions_new(gcd_session_graph(of->session), &what, &of->found, err);
}

void answer_exceptions_done(struct answer_of_exceptions *of)
{
    gcd_exceptions_free(of->found);
    gcd_image_numbers_free(of->numbers);
    of->found = NULL;
    of->numbers = NULL;
}

bool answer_knows_thrown(const struct gcd_exceptions *found, const struct gcd_graph *g)
{
    struct gcd_exception_totals t = gcd_exceptions_totals(found);
    return gcd_graph_has_places(g) || (t.objects > 0 && t.uncertain == 0);
}

/* The HResult of the exception at ADDRESS, as people search for it: "0x80131509". */
static void put_hresult(struct answer *a, struct gcd_image_numbers *numbers, uint64_t address)
{
    struct gcd_number n;
    if (numbers != NULL && gcd_image_number(numbers, address, &n) == GCD_OK)
        answer_format(a, "hresult", "0x%08" PRIx32, (uint32_t)n.bits);
}

/* The calls on the stack trace of X. */
static void put_calls(struct answer *a, const struct answer_of_exceptions *of,
                      const struct gcd_exception *x)
{
    struct gcd_image_call calls[CALLS_MAX];
    size_t n = 0, own;
    if (of->numbers != NULL && x->trace != GCD_NODE_NONE)
        n = read_calls(of->numbers,
                       gcd_graph_node_address(gcd_session_graph(of->session), x->trace), calls,
                       &own);
    struct answer *rows = answer_rows(a, "calls");
    for (size_t i = 0; i < n; i++) {
        answer_row(rows);
        answer_text(rows, NULL, calls[i].name[0] != '\0' ? calls[i].name : "?");
    }
}

static void put_line(struct answer *a, const char *text)
{
    answer_row(a);
    answer_text(a, "call", text);
    answer_depth(a, "call", 1);
}

/* Lines for the first calls behind the method that threw, for people. */
static void put_lines(struct answer *a, const struct answer_of_exceptions *of,
                      const struct gcd_exception *x)
{
    struct gcd_image_call calls[CALLS_MAX];
    size_t own, n, shown = 0;
    if (x->thrown_in == NULL)
        return;
    n = read_calls(of->numbers, gcd_graph_node_address(gcd_session_graph(of->session), x->trace),
                   calls, &own);
    size_t behind = n > own + 1 ? n - own - 1 : 0;
    while (shown < behind && (shown < CALLS_SHOWN || behind == CALLS_SHOWN + 1))
        put_line(a, calls[own + ++shown].name);
    if (shown < behind)
        put_line(a, answer_keep(a, "(%s%s more calls)", GCD_DIGITS(behind - shown),
                                n == CALLS_MAX ? " or" : ""));
}

static void put_group(struct answer *a, const struct answer_of_exceptions *of,
                      const struct gcd_exception *x)
{
    uint64_t address = gcd_graph_node_address(gcd_session_graph(of->session), x->node);
    const struct gcd_names *names = gcd_session_names(of->session);
    const struct gcd_values_view *view = &of->view;
    answer_row(a);
    answer_count(a, "count", x->count);
    answer_count(a, "thrown", x->thrown);
    answer_count(a, "bytes", x->bytes);
    answer_text(a, "type", gcd_names_get(names, x->type));
    if (x->inner_type != GCD_TYPE_NONE)
        answer_text(a, "inner_type", gcd_names_get(names, x->inner_type));
    if (x->message != GCD_TEXT_NONE) {
        struct gcd_text t = gcd_values_text(view->values, x->message);
        answer_put_text(a, &t, gcd_values_secret(view, &t));
    }
    if (x->stack_trace != GCD_TEXT_NONE) {
        struct gcd_text t = gcd_values_text(view->values, x->stack_trace);
        if (t.utf8 != NULL && gcd_values_secret(view, &t) == NULL)
            answer_format(a, "stack_trace", "%.*s", (int)t.bytes, t.utf8);
    }
    if (view->show != GCD_SHOW_EQUAL)
        put_hresult(a, of->numbers, address);
    answer_text(a, "thrown_in", x->thrown_in);
    answer_text(a, "call", x->thrown_in);
    answer_count(a, "address", address);
    put_calls(a, of, x);
    if (of->people)
        put_lines(a, of, x);
}

gcd_status answer_exceptions(const struct answer_of_exceptions *of, struct answer **ret,
                             struct gcd_error *err)
{
    size_t all = gcd_exceptions_count(of->found);
    struct answer *a = *ret = answer_new(NULL, &answer_exceptions_shape);
    if (a == NULL)
        return gcd_fail_nomem(err, "listing exceptions");
    a->first = of->first < all ? of->first : all;
    for (size_t i = (size_t)a->first; i < all && i - a->first < of->most; i++)
        put_group(a, of, gcd_exceptions_at(of->found, i));
    a->total = all;
    if (of->numbers == NULL || of->view.show == GCD_SHOW_EQUAL)
        answer_hide(a, "hresult");
    if (!has_calls(of)) {
        answer_hide(a, "thrown_in");
        answer_hide(a, "call");
        answer_hide(a, "calls");
    }
    if (of->people && gcd_graph_notes(gcd_session_graph(of->session))->addresses_made_up)
        answer_hide(a, "address");
    if (!answer_knows_thrown(of->found, gcd_session_graph(of->session)))
        answer_hide(a, "thrown"); /* that a field is null would not be certain */
    if (of->view.values == NULL) {
        answer_hide_text(a);
        answer_hide(a, "stack_trace");
    }
    return GCD_OK;
}
