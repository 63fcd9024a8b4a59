#include <string.h>

#include <gcdumpc/unstable/field_values.h>
#include <gcdumpc/unstable/fields.h>
#include <gcdumpc/unstable/image_numbers.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/text/plural.h>

#include "answer/answers.h"
#include "base/context.h"
#include "base/error.h"
#include "base/ovf.h"

#define FIELD_BYTES 1024u /* of a name that may be that of a backing field */

static const struct answer_column columns[] = {
    COLUMN("retained_bytes", "Retained", ANSWER_BYTES),
    COLUMN("share", "Of live", ANSWER_SHARE),
    COLUMN("count", "Count", ANSWER_COUNT),
    COLUMN("bytes", "Bytes", ANSWER_BYTES),
    PEOPLE("shown", "Value", ANSWER_TEXT),
    FIELD("kind", ANSWER_TEXT),
    FIELD("text", ANSWER_TEXT),
    FIELD("cut", ANSWER_FLAG),
    FIELD("masked", ANSWER_TEXT),
    FIELD("type", ANSWER_TEXT),
    FIELD("number", ANSWER_DIGITS),
    FIELD("name", ANSWER_TEXT),
    DETAIL("object", ANSWER_TEXT),
    DETAIL("address", ANSWER_ADDRESS),
    DETAIL("node", ANSWER_COUNT),
};
const struct answer_shape answer_field_values_shape = ANSWER_SHAPE(columns);

static const char *const of_texts[] = { "text", "cut", "masked" };
static const char *const of_numbers[] = { "number", "name" };
static const char *const kinds[] = {
    [GCD_FIELD_TEXT] = "string", [GCD_FIELD_TYPE] = "object",   [GCD_FIELD_NUMBER] = "number",
    [GCD_FIELD_NULL] = "null",   [GCD_FIELD_STRUCT] = "struct", [GCD_FIELD_UNTOLD] = "unknown"
};

static bool is_128(const struct gcd_number *x)
{
    return x->kind == GCD_NUMBER_INT128 || x->kind == GCD_NUMBER_UINT128;
}

/* Has X digits?  NaN and infinity have none. */
static bool has_digits(const struct gcd_number *x)
{
    if (x->kind == GCD_NUMBER_REAL)
        return (x->bits >> 52 & 0x7ff) != 0x7ff;
    return x->kind < GCD_NUMBER_REAL || x->kind == GCD_NUMBER_DECIMAL || is_128(x);
}

void answer_put_number(struct answer *a, const struct gcd_number *x)
{
    char buf[GCD_NUMBER_BYTES];
    struct gcd_number bare = { .kind = x->kind, .bits = x->bits, .high = x->high };
    answer_text(a, "shown", gcd_number_text(x, buf));
    answer_text(a, "name", x->name);
    if (x->kind == GCD_NUMBER_BOOL)
        answer_text(a, "name", gcd_number_text(x, buf));
    else if (x->kind == GCD_NUMBER_CHAR)
        answer_format(a, "number", "%u", (unsigned)x->bits);
    else if (has_digits(x))
        answer_text(a, "number", gcd_number_text(&bare, buf));
    else
        answer_text(a, "name", gcd_number_text(x, buf));
}

static void put_value(struct answer *a, const struct answer_of_heap *of,
                      const struct gcd_values_view *view, const struct gcd_field_value *v)
{
    answer_text(a, "kind", kinds[v->kind]);
    if (v->kind == GCD_FIELD_TEXT) {
        struct gcd_text t = gcd_values_text(view->values, v->value);
        answer_put_text(a, &t, gcd_values_secret(view, &t));
    } else if (v->kind == GCD_FIELD_TYPE) {
        const char *type = gcd_names_get(gcd_session_names(of->session), v->value);
        answer_text(a, "type", type);
        answer_text(a, "shown", type);
    } else if (v->kind == GCD_FIELD_NUMBER) {
        answer_put_number(a, &v->number);
        if (v->number.kind > GCD_NUMBER_REAL && !is_128(&v->number))
            answer_text(a, "kind", gcd_number_kind_name(&v->number));
    } else {
        answer_format(a, "shown", "(%s)", kinds[v->kind]);
    }
}

static void put_rows(struct answer *a, const struct answer_of_heap *of,
                     const struct gcd_values_view *view, const struct gcd_field_values *values,
                     uint64_t whole)
{
    const struct answer_page *page = &of->page;
    size_t count = gcd_field_values_count(values);
    uint64_t at = page->first < count ? page->first : count, objects = 0, bytes = 0;
    a->first = page->first;
    a->total = count;
    for (uint64_t shown = 0; at < count && (page->most == 0 || shown < page->most); at++, shown++) {
        const struct gcd_field_value *v = gcd_field_values_at(values, (size_t)at);
        if (v->retained_bytes < page->min_bytes)
            break;
        answer_row(a);
        answer_count(a, "retained_bytes", v->retained_bytes);
        answer_share(a, "share", v->retained_bytes, whole);
        answer_count(a, "count", v->count);
        answer_count(a, "bytes", v->bytes);
        put_value(a, of, view, v);
        answer_object(a, of->session, v->node);
    }
    if (page->no_rest)
        return;
    answer_begin_sums(a);
    for (uint64_t i = at; i < count; i++) {
        const struct gcd_field_value *v = gcd_field_values_at(values, (size_t)i);
        gcd_add_saturating(&objects, v->count);
        gcd_add_saturating(&bytes, v->bytes);
    }
    if (at < count) {
        answer_row(a); /* what several groups retain together is not the sum */
        answer_count(a, "count", objects);
        answer_count(a, "bytes", bytes);
        answer_format(a, "shown", "(%s more value%s)", GCD_DIGITS(count - at),
                      gcd_plural(count - at));
    }
    if (gcd_field_values_without(values) > 0) {
        answer_row(a);
        answer_count(a, "count", gcd_field_values_without(values));
        answer_text(a, "shown", "(without such a field)");
    }
}

gcd_status answer_field_values(const struct answer_of_heap *of, const char *field,
                               struct answer **ret, struct gcd_error *err)
{
    const struct gcd_dominators *d;
    struct gcd_field_values *values = NULL;
    size_t length = strlen(field);
    char source[FIELD_BYTES + 1];
    gcd_status st = GCD_OK;
    struct gcd_values_view view = gcd_session_values(of->session);
    struct gcd_field_values_of which = { .context = *gcd_context_or_default(of->call),
                                         .types = of->types,
                                         .field = field };
    *ret = NULL;
    if (length <= FIELD_BYTES) { /* "<State>k__BackingField", as reflection shows it */
        source[gcd_field_source_name(field, length, source)] = '\0';
        field = which.field = source;
    }
    if (view.show == GCD_SHOW_EQUAL)
        view.values = NULL;
    which.values = view.values;
    GCD_TRY(gcd_session_dominators(of->session, of->call, &d, err));
    GCD_TRY(gcd_session_fields(of->session, of->call, &which.fields, err));
    if (view.show != GCD_SHOW_EQUAL)
        st = gcd_image_numbers_new(&view, field, which.context.alloc, &which.numbers, err);
    if (st >= 0)
        st = gcd_field_values_new(gcd_session_graph(of->session), d, &which, &values, err);
    if (st == GCD_OK && (*ret = answer_new(NULL, &answer_field_values_shape)) == NULL)
        st = gcd_fail_nomem(err, "listing values");
    if (st == GCD_OK) {
        put_rows(*ret, of, &view, values, gcd_dominators_retained(d, GCD_NODE_ROOT));
        for (size_t i = 0; i < sizeof of_texts / sizeof *of_texts && view.values == NULL; i++)
            answer_hide(*ret, of_texts[i]);
        for (size_t i = 0;
             i < sizeof of_numbers / sizeof *of_numbers && view.show == GCD_SHOW_EQUAL; i++)
            answer_hide(*ret, of_numbers[i]);
    }
    gcd_field_values_free(values);
    gcd_image_numbers_free(which.numbers);
    return st;
}

bool answer_lacks_texts(const struct answer *a)
{
    for (size_t row = 0; row < answer_plain_rows(a); row++) {
        const struct answer_cell *type = answer_find(a, row, "type");
        if (type != NULL && type->known &&
            (strcmp(type->text, "System.String") == 0 || strcmp(type->text, "string") == 0))
            return true;
    }
    return false;
}
