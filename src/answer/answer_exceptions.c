#include "answer/answers.h"

#include <gcdumpc/unstable/graph/graph_places.h>

#include "base/error.h"

static const struct answer_column columns[] = {
    COLUMN("count", "Count", ANSWER_COUNT),
    COLUMN("thrown", "Thrown", ANSWER_COUNT),
    COLUMN("type", "Type", ANSWER_TEXT),
    COLUMN("inner_type", "Inner exception", ANSWER_TEXT),
    PEOPLE("shown", "Message", ANSWER_TEXT),
    FIELD("text", ANSWER_TEXT),
    FIELD("cut", ANSWER_FLAG),
    FIELD("masked", ANSWER_TEXT),
    DETAIL("stack_trace", ANSWER_TEXT),
    FIELD("address", ANSWER_ADDRESS),
};
const struct answer_shape answer_exceptions_shape = ANSWER_SHAPE(columns);

static void put_group(struct answer *a, const struct answer_of_exceptions *of,
                      const struct gcd_exception *x)
{
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
    answer_count(a, "address", gcd_graph_node_address(gcd_session_graph(of->session), x->node));
}

gcd_status answer_exceptions(const struct answer_of_exceptions *of, struct answer **ret,
                             struct gcd_error *err)
{
    size_t all = gcd_exceptions_count(of->exceptions);
    struct answer *a = *ret = answer_new(NULL, &answer_exceptions_shape);
    if (a == NULL)
        return gcd_fail_nomem(err, "listing exceptions");
    a->first = of->first < all ? of->first : all;
    for (size_t i = (size_t)a->first; i < all && i - a->first < of->most; i++)
        put_group(a, of, gcd_exceptions_at(of->exceptions, i));
    a->total = all;
    if (!gcd_graph_has_places(gcd_session_graph(of->session)))
        answer_hide(a, "thrown"); /* that a field is null would not be certain */
    if (of->view.values == NULL) {
        answer_hide_text(a);
        answer_hide(a, "stack_trace");
    }
    return GCD_OK;
}
