#include "answer/answers.h"

#include <inttypes.h>

#include <gcdumpc/unstable/graph/graph_places.h>
#include <gcdumpc/unstable/image_numbers.h>

#include "base/error.h"

/* Of a stack trace. */
#define CALLS_MAX 64u

static const struct answer_column call_columns[] = { FIELD(NULL, ANSWER_TEXT) };
static const struct answer_shape calls_shape = ANSWER_SHAPE(call_columns);

static const struct answer_column columns[] = {
    COLUMN("count", "Count", ANSWER_COUNT),
    COLUMN("thrown", "Thrown", ANSWER_COUNT),
    COLUMN("type", "Type", ANSWER_TEXT),
    COLUMN("inner_type", "Inner exception", ANSWER_TEXT),
    PEOPLE("shown", "Message", ANSWER_TEXT),
    FIELD("text", ANSWER_TEXT),
    FIELD("cut", ANSWER_FLAG),
    FIELD("masked", ANSWER_TEXT),
    COLUMN("thrown_in", "Thrown in", ANSWER_TEXT),
    FIELD("hresult", ANSWER_TEXT),
    DETAIL("stack_trace", ANSWER_TEXT),
    FIELD("address", ANSWER_ADDRESS),
    ROWS("calls", ANSWER_FOR_PROGRAMS, &calls_shape),
};
const struct answer_shape answer_exceptions_shape = ANSWER_SHAPE(columns);

/* The HResult of the exception at ADDRESS, as people search for it: "0x80131509". */
static void put_hresult(struct answer *a, struct gcd_image_numbers *numbers, uint64_t address)
{
    struct gcd_number n;
    if (numbers != NULL && gcd_image_number(numbers, address, &n) == GCD_OK)
        answer_format(a, "hresult", "0x%08" PRIx32, (uint32_t)n.bits);
}

/* The calls on the stack trace of X, and the innermost one outside the framework. */
static void put_calls(struct answer *a, const struct answer_of_exceptions *of,
                      struct gcd_image_numbers *numbers, const struct gcd_exception *x)
{
    struct gcd_image_call calls[CALLS_MAX];
    size_t n = 0, own = 0;
    if (numbers != NULL && x->trace != GCD_NODE_NONE)
        n = gcd_image_calls(numbers,
                            gcd_graph_node_address(gcd_session_graph(of->session), x->trace), calls,
                            CALLS_MAX);
    while (own < n && calls[own].framework)
        own++;
    if (n > 0 && calls[own < n ? own : 0].name[0] != '\0')
        answer_text(a, "thrown_in", calls[own < n ? own : 0].name);
    struct answer *rows = answer_rows(a, "calls");
    for (size_t i = 0; i < n; i++) {
        answer_row(rows);
        answer_text(rows, NULL, calls[i].name[0] != '\0' ? calls[i].name : "?");
    }
}

static void put_group(struct answer *a, const struct answer_of_exceptions *of,
                      struct gcd_image_numbers *numbers, const struct gcd_exception *x)
{
    uint64_t address = gcd_graph_node_address(gcd_session_graph(of->session), x->node);
    const struct gcd_names *names = gcd_session_names(of->session);
    const struct gcd_values_view *view = &of->view;
    answer_row(a);
    answer_count(a, "count", x->count);
    answer_count(a, "thrown", x->thrown);
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
        put_hresult(a, numbers, address);
    answer_count(a, "address", address);
    put_calls(a, of, numbers, x);
}

gcd_status answer_exceptions(const struct answer_of_exceptions *of, struct answer **ret,
                             struct gcd_error *err)
{
    size_t all = gcd_exceptions_count(of->exceptions);
    struct gcd_image_numbers *numbers = NULL;
    struct answer *a = *ret = answer_new(NULL, &answer_exceptions_shape);
    if (a == NULL)
        return gcd_fail_nomem(err, "listing exceptions");
    gcd_status st = gcd_image_numbers_new(of->in, "_HResult", NULL, &numbers, err);
    if (st < 0)
        return st;
    a->first = of->first < all ? of->first : all;
    for (size_t i = (size_t)a->first; i < all && i - a->first < of->most; i++)
        put_group(a, of, numbers, gcd_exceptions_at(of->exceptions, i));
    a->total = all;
    gcd_image_numbers_free(numbers);
    if (st == GCD_END || of->view.show == GCD_SHOW_EQUAL)
        answer_hide(a, "hresult");
    if (st == GCD_END) {
        answer_hide(a, "thrown_in");
        answer_hide(a, "calls");
    }
    if (!gcd_graph_has_places(gcd_session_graph(of->session)))
        answer_hide(a, "thrown"); /* that a field is null would not be certain */
    if (of->view.values == NULL) {
        answer_hide_text(a);
        answer_hide(a, "stack_trace");
    }
    return GCD_OK;
}
