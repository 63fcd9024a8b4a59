/* The fields of single objects with their values, for the panel. */
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/image_numbers.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/text/quoted.h>

#include "write/html/html_data.h"
#include "write/json_put.h"

#define FIELDS_MAX       40u /* of an object */
#define SHOWN_CHARACTERS 80u
#define NAME_BYTES       ((size_t)120)
#define VALUE_BYTES      ((size_t)200)

struct values {
    struct json_put *j;
    struct gcd_session *session;
    const struct gcd_graph *g;
    struct gcd_values_view view;
};

/* [FIELD, VALUE], of a reference to an object whose value is its type [FIELD, VALUE, 1]. */
static void put_line(const struct values *v, const char *field, const char *value, bool refers)
{
    json_put_open(v->j, NULL, '[');
    json_put_text(v->j, NULL, field, NAME_BYTES);
    json_put_text(v->j, NULL, value, VALUE_BYTES);
    if (refers)
        json_put_number(v->j, NULL, 1);
    json_put_close(v->j, ']');
}

static void put_target(const struct values *v, const char *field, uint32_t node)
{
    uint32_t type = gcd_graph_node_type(v->g, node), text = GCD_TEXT_NONE;
    char quoted[GCD_QUOTED_BYTES];
    bool string = strcmp(gcd_graph_summary(v->g)->types[type].name, "System.String") == 0;
    if (v->view.values != NULL && string)
        text = gcd_values_find(v->view.values, gcd_graph_node_address(v->g, node));
    if (text == GCD_TEXT_NONE) {
        put_line(v, field, gcd_names_get(gcd_session_names(v->session), type), true);
        return;
    }
    struct gcd_text t = gcd_values_text(v->view.values, text);
    const char *secret = gcd_values_secret(&v->view, &t);
    if (secret != NULL)
        (void)snprintf(quoted, sizeof quoted, "(%s)", secret);
    else if (t.utf8 != NULL)
        (void)gcd_quoted(t.utf8, t.bytes, t.cut, SHOWN_CHARACTERS, quoted);
    else
        (void)snprintf(quoted, sizeof quoted, "(only its hash is known)");
    put_line(v, field, quoted, false);
}

static void put_field(const struct values *v, const struct gcd_image_field *f)
{
    char buf[GCD_NUMBER_BYTES];
    bool reference = f->known && f->number.kind == GCD_NUMBER_REFERENCE;
    uint32_t node =
        reference && f->number.bits != 0 ? gcd_graph_find(v->g, f->number.bits) : GCD_NODE_NONE;
    if (node != GCD_NODE_NONE)
        put_target(v, f->name, node);
    else if (reference)
        put_line(v, f->name, f->number.bits == 0 ? "null" : "?", false);
    else
        put_line(v, f->name, f->known ? gcd_number_text(&f->number, buf) : "?", false);
}

void html_put_values(const struct html_data *h, uint32_t node, size_t *left, struct json_put *j)
{
    struct values v = {
        .j = j, .session = h->session, .g = h->g, .view = gcd_session_values(h->session)
    };
    struct gcd_image_numbers *numbers = NULL;
    uint64_t address = gcd_graph_node_address(h->g, node);
    if (v.view.show == GCD_SHOW_EQUAL || gcd_graph_notes(h->g)->addresses_made_up ||
        gcd_session_numbers(h->session, &numbers, NULL) != GCD_OK || numbers == NULL)
        return;
    struct gcd_image_elements all = { .fields = 0 };
    bool array = gcd_image_elements(numbers, address, &all) && !all.numbers && all.count > 0;
    uint64_t count = array ? all.count * all.fields : gcd_image_field_count(numbers, address);
    uint32_t most = count < FIELDS_MAX ? (uint32_t)count : FIELDS_MAX;
    if (count == 0 || most > *left)
        return;
    *left -= most;
    json_put_open(j, NULL, '[');
    for (uint32_t i = 0; i < most; i++) {
        char name[NAME_BYTES];
        struct gcd_image_field f =
            array ? gcd_image_element(numbers, address, i / all.fields, i % all.fields)
                  : gcd_image_field(numbers, address, i);
        if (array)
            f.name = gcd_element_name(i / all.fields, f.name, name, sizeof name);
        put_field(&v, &f);
    }
    if (most < count)
        put_line(&v, "...", "", false);
    json_put_close(j, ']');
}
