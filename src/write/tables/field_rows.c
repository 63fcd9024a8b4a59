#include "write/tables/field_rows.h"

#include <stdlib.h>
#include <string.h>

/* Of an array of numbers there are none: they are more than all fields. */
static bool has_elements(const struct field_rows *f, uint64_t address,
                         struct gcd_image_elements *ret)
{
    return f->numbers != NULL && gcd_image_elements(f->numbers, address, ret) && !ret->numbers;
}

uint32_t field_rows_count(const struct field_rows *f, uint32_t node)
{
    uint64_t address = gcd_graph_node_address(f->graph, node);
    struct gcd_number boxed;
    struct gcd_image_elements all;
    if (has_elements(f, address, &all))
        return all.fields *
               (uint32_t)(all.count < GCD_ELEMENTS_LISTED ? all.count : GCD_ELEMENTS_LISTED);
    uint32_t n = f->numbers != NULL ? gcd_image_field_count(f->numbers, address) : 0;
    return n > 1 && gcd_image_boxed(f->numbers, address, &boxed) == GCD_OK ? 1 : n;
}

void field_rows_read(const struct field_rows *f, uint32_t node, uint32_t i, struct field_row *ret)
{
    const struct gcd_graph *g = f->graph;
    uint64_t address = gcd_graph_node_address(g, node);
    struct gcd_number boxed;
    struct gcd_image_elements all;
    ret->of = (struct gcd_image_field){ .known = false };
    ret->target = GCD_NODE_NONE;
    ret->text = GCD_TEXT_NONE;
    ret->element[0] = '\0'; /* the rest of it is not cleared for each row */
    ret->of.known = gcd_image_boxed(f->numbers, address, &ret->of.number) == GCD_OK;
    if (ret->of.known)
        return;
    if (has_elements(f, address, &all)) {
        uint32_t index = i / all.fields;
        ret->of = gcd_image_element(f->numbers, address, index, i % all.fields);
        (void)gcd_element_name(index, ret->of.name, ret->element, sizeof ret->element);
    } else {
        ret->of = gcd_image_field(f->numbers, address, i);
    }
    uint64_t to = ret->of.number.bits;
    if (!ret->of.known || ret->of.number.kind != GCD_NUMBER_REFERENCE || to == 0)
        return;
    ret->target = gcd_graph_find(g, to);
    if (ret->target == GCD_NODE_NONE)
        return;
    const char *type = gcd_graph_summary(g)->types[gcd_graph_node_type(g, ret->target)].name;
    if (f->view.values != NULL && strcmp(type, "System.String") == 0)
        ret->text = gcd_values_find(f->view.values, to);
    else if (gcd_image_boxed(f->numbers, to, &boxed) == GCD_OK)
        ret->of.number = boxed;
}

const char *field_row_kind(const struct field_row *r)
{
    return !r->of.known               ? "unknown"
           : r->text != GCD_TEXT_NONE ? "string"
                                      : gcd_number_kind_name(&r->of.number);
}

bool field_row_integer(const struct field_row *r, int64_t *ret)
{
    const struct gcd_number *x = &r->of.number;
    if (!r->of.known)
        return false;
    switch (x->kind) {
    case GCD_NUMBER_UNSIGNED:
    case GCD_NUMBER_POINTER:
        *ret = (int64_t)x->bits;
        return x->bits <= INT64_MAX;
    case GCD_NUMBER_DATE_TIME:
    case GCD_NUMBER_DATE_TIME_OFFSET: /* without the kind */
        *ret = (int64_t)(x->bits & UINT64_C(0x3fffffffffffffff));
        return true;
    case GCD_NUMBER_BOOL:
    case GCD_NUMBER_CHAR:
    case GCD_NUMBER_SIGNED:
    case GCD_NUMBER_TIME_SPAN:
    case GCD_NUMBER_DATE:
    case GCD_NUMBER_TIME:
        *ret = (int64_t)x->bits;
        return true;
    default:
        return false;
    }
}

bool field_row_real(const struct field_row *r, double *ret)
{
    const struct gcd_number *x = &r->of.number;
    char buf[GCD_NUMBER_BYTES];
    if (!r->of.known)
        return false;
    if (x->kind == GCD_NUMBER_REAL) {
        memcpy(ret, &x->bits, sizeof *ret);
        return true;
    }
    if (x->kind == GCD_NUMBER_UNSIGNED && x->bits > INT64_MAX) {
        *ret = (double)x->bits;
        return true;
    }
    if (x->kind < GCD_NUMBER_DECIMAL || x->kind >= GCD_NUMBER_NULL)
        return false;
    *ret = strtod(gcd_number_text(x, buf), NULL); /* the nearest one */
    return true;
}

const char *field_row_text(const struct field_rows *f, const struct field_row *r, bool masked,
                           char buf[GCD_NUMBER_BYTES], size_t *ret_n)
{
    const char *text = NULL;
    if (r->text != GCD_TEXT_NONE) {
        struct gcd_text t = gcd_values_text(f->view.values, r->text);
        const char *secret = gcd_values_secret(&f->view, &t);
        *ret_n = t.bytes;
        if (!masked)
            return secret == NULL ? t.utf8 : NULL;
        text = secret;
    } else if (!masked && r->of.known && r->of.number.kind < GCD_NUMBER_NULL) {
        text = gcd_number_text(&r->of.number, buf);
    }
    *ret_n = text != NULL ? strlen(text) : 0;
    return text;
}
