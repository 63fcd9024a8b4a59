/* The fields of one object with their values. */
#include "answer/answers.h"

#include <string.h>

#include <gcdumpc/unstable/image_numbers.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/text/plural.h>

#include "base/error.h"
#include "base/mem.h"

static const struct answer_column columns[] = {
    FIELD("field", ANSWER_TEXT),    PEOPLE("shown", NULL, ANSWER_TEXT),
    FIELD("kind", ANSWER_TEXT),     FIELD("text", ANSWER_TEXT),
    FIELD("cut", ANSWER_FLAG),      FIELD("masked", ANSWER_TEXT),
    FIELD("number", ANSWER_DIGITS), FIELD("name", ANSWER_TEXT),
    FIELD("boxed", ANSWER_FLAG),    FIELD("type", ANSWER_TEXT),
    FIELD("object", ANSWER_TEXT),   DETAIL("address", ANSWER_ADDRESS),
    DETAIL("node", ANSWER_COUNT),
};
const struct answer_shape answer_object_values_shape = ANSWER_SHAPE(columns);

struct listing {
    struct gcd_session *session;
    const struct gcd_graph *g;
    struct gcd_values_view view;
    struct gcd_image_numbers *numbers; /* NULL: there is no image */
    struct answer *a;
};

static void put_number(struct answer *a, const struct gcd_number *x)
{
    answer_text(a, "kind", gcd_number_kind_name(x));
    answer_put_number(a, x);
}

/* What the field refers to. */
static void put_target(const struct listing *w, uint32_t node)
{
    struct answer *a = w->a;
    uint64_t address = gcd_graph_node_address(w->g, node);
    uint32_t type = gcd_graph_node_type(w->g, node),
             text =
                 w->view.values != NULL ? gcd_values_find(w->view.values, address) : GCD_TEXT_NONE;
    struct gcd_number boxed;
    const char *name = gcd_names_get(gcd_session_names(w->session), type);
    answer_text(a, "type", name);
    answer_object(a, w->session, node);
    if (text != GCD_TEXT_NONE &&
        strcmp(gcd_graph_summary(w->g)->types[type].raw_name, "System.String") == 0) {
        struct gcd_text t = gcd_values_text(w->view.values, text);
        answer_text(a, "kind", "string");
        answer_put_text(a, &t, gcd_values_secret(&w->view, &t));
    } else if (w->numbers != NULL && gcd_image_boxed(w->numbers, address, &boxed) == GCD_OK) {
        put_number(a, &boxed);
        answer_flag(a, "boxed", true);
    } else {
        answer_text(a, "kind", "object");
        answer_text(a, "shown", name);
    }
}

static void put_plain(struct answer *a, const char *kind, const char *shown)
{
    answer_text(a, "kind", kind);
    answer_text(a, "shown", shown);
}

static void put_reference(const struct listing *w, uint64_t address)
{
    uint32_t node = address != 0 ? gcd_graph_find(w->g, address) : GCD_NODE_NONE;
    if (address == 0) {
        put_plain(w->a, "null", "null");
    } else if (node != GCD_NODE_NONE) {
        put_target(w, node);
    } else { /* the dump has not the object: it is not in the heap, or came later */
        put_plain(w->a, "object", "?");
        answer_count(w->a, "address", address);
    }
}

static void put_field(const struct listing *w, const struct gcd_image_field *f)
{
    char buf[GCD_NUMBER_BYTES];
    if (!f->known)
        put_plain(w->a, "unknown", "?");
    else if (f->number.kind == GCD_NUMBER_REFERENCE)
        put_reference(w, f->number.bits);
    else if (f->number.kind == GCD_NUMBER_OTHER)
        put_plain(w->a, gcd_number_kind_name(&f->number), gcd_number_text(&f->number, buf));
    else
        put_number(w->a, &f->number);
}

/* From the memory of the object. */
static void list_memory(const struct listing *w, uint64_t address, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct gcd_image_field f = gcd_image_field(w->numbers, address, i);
        answer_row(w->a);
        answer_text(w->a, "field", f.name);
        put_field(w, &f);
    }
}

/* The structs or numbers in array NODE, the first of them. */
static void list_elements(const struct listing *w, uint32_t node)
{
    struct gcd_image_elements all;
    uint64_t address = gcd_graph_node_address(w->g, node), bytes = gcd_graph_node_size(w->g, node);
    if (w->numbers == NULL || !gcd_image_elements(w->numbers, address, &all))
        return;
    uint64_t most = all.count < GCD_ELEMENTS_LISTED ? all.count : GCD_ELEMENTS_LISTED;
    if (bytes > GCD_ARRAY_BASE_BYTES && all.bytes > 0) /* a recording may have only some of them */
        all.count = (bytes - GCD_ARRAY_BASE_BYTES) / all.bytes;
    for (uint64_t index = 0; index < most; index++)
        for (uint32_t i = 0; i < all.fields; i++) {
            char name[GCD_ELEMENT_NAME_BYTES];
            struct gcd_image_field f = gcd_image_element(w->numbers, address, index, i);
            answer_row(w->a);
            answer_format(w->a, "field", "%s", gcd_element_name(index, f.name, name, sizeof name));
            put_field(w, &f);
        }
    if (most < all.count) {
        answer_row(w->a);
        answer_text(w->a, "kind", "more");
        answer_format(w->a, "shown", "(%s more elements)", GCD_DIGITS(all.count - most));
    }
}

/* The value of a boxed object, in one row. */
static bool list_boxed(const struct listing *w, uint64_t address)
{
    struct gcd_number x;
    if (w->numbers == NULL || gcd_image_boxed(w->numbers, address, &x) != GCD_OK)
        return false;
    answer_row(w->a);
    put_number(w->a, &x);
    answer_flag(w->a, "boxed", true);
    return true;
}

/* From the references of the object, whose type has fields. */
static gcd_status list_references(const struct listing *w, const struct gcd_fields *fields,
                                  uint32_t node, struct gcd_error *err)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(w->g, node, &n);
    uint32_t first, count = gcd_fields_of_type(fields, gcd_graph_node_type(w->g, node), &first);
    uint32_t *slots = gcd_mem_new_array(&w->a->alloc, n + 1, sizeof *slots);
    bool certain = true;
    if (slots == NULL)
        return gcd_fail_nomem(err, "listing values");
    gcd_fields_slots(fields, node, slots);
    for (size_t i = 0; i < n; i++)
        certain = certain && slots[i] != GCD_SLOT_NONE;
    for (uint32_t s = first; s < first + count; s++) {
        size_t i = 0;
        while (i < n && slots[i] != s)
            i++;
        answer_row(w->a);
        answer_text(w->a, "field", gcd_fields_slot_name(fields, s));
        if (i < n)
            put_target(w, edges[i]);
        else
            put_plain(w->a, certain ? "null" : "unknown", certain ? "null" : "?");
    }
    gcd_mem_free(&w->a->alloc, slots, (n + 1) * sizeof *slots);
    return GCD_OK;
}

gcd_status answer_object_values(struct gcd_session *s, const struct gcd_context *call,
                                uint32_t node, struct answer **ret, struct gcd_error *err)
{
    struct listing w = { .session = s, .g = gcd_session_graph(s), .view = gcd_session_values(s) };
    const struct gcd_fields *fields;
    uint64_t address = gcd_graph_node_address(w.g, node);
    *ret = NULL;
    if (w.view.show == GCD_SHOW_EQUAL || gcd_graph_notes(w.g)->addresses_made_up)
        return GCD_OK;
    GCD_TRY(gcd_session_numbers(s, &w.numbers, err));
    GCD_TRY(gcd_session_fields(s, call, &fields, err));
    uint32_t count = w.numbers != NULL ? gcd_image_field_count(w.numbers, address) : 0;
    if (w.numbers == NULL && w.view.values == NULL)
        return GCD_OK;
    if ((w.a = answer_new(NULL, &answer_object_values_shape)) == NULL)
        return gcd_fail_nomem(err, "listing values");
    gcd_status st = GCD_OK;
    list_elements(&w, node);
    if (!list_boxed(&w, address) && count > 0)
        list_memory(&w, address, count);
    else if (answer_plain_rows(w.a) == 0 &&
             gcd_fields_has_fields(fields, gcd_graph_node_type(w.g, node)))
        st = list_references(&w, fields, node, err);
    w.a->total = w.a->rows;
    if (st != GCD_OK || w.a->rows == 0)
        answer_free(w.a);
    else
        *ret = w.a;
    return st;
}

/* ---- for people ---- */

static const char *cell_text(const struct answer *a, size_t row, const char *key)
{
    const struct answer_cell *c = answer_find(a, row, key);
    return c != NULL && c->known ? c->text : NULL;
}

const char *answer_value_line(struct answer *a, size_t row)
{
    const char *field = cell_text(a, row, "field"), *shown = cell_text(a, row, "shown"),
               *kind = cell_text(a, row, "kind");
    const struct answer_cell *boxed = answer_find(a, row, "boxed");
    bool object = kind != NULL && strcmp(kind, "object") == 0;
    return answer_keep(a, "%s%s%s%s", field != NULL ? field : "",
                       field == NULL ? ""
                       : object      ? " → "
                                     : " = ",
                       shown != NULL ? shown : "?",
                       boxed != NULL && boxed->known ? " (boxed)" : "");
}
