/*
 * Objects grouped by the value of one of their fields: which tenants the orders are of, how many
 * have none.
 *
 *     struct gcd_field_values_of of = { .fields = fields, .values = values, .types = wanted,
 *                                       .field = "Tenant" };
 *     struct gcd_field_values *v;
 *     if (gcd_field_values_new(graph, dominators, &of, &v, &err) == GCD_OK) {
 *         for (size_t i = 0; i < gcd_field_values_count(v); i++)
 *             printf("%" PRIu64 "\n", gcd_field_values_at(v, i)->count);
 *         gcd_field_values_free(v);
 *     }
 *
 * The value of a reference is the text of a string, else the type of the object.  Other fields have
 * values where the memory of the objects is at hand.
 */
#ifndef GCDUMPC_UNSTABLE_FIELD_VALUES_H
#define GCDUMPC_UNSTABLE_FIELD_VALUES_H

#include <gcdumpc/context.h>
#include <gcdumpc/dominators.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/unstable/fields.h>
#include <gcdumpc/unstable/image_numbers.h>
#include <gcdumpc/unstable/values.h>

enum gcd_field_value_kind {
    GCD_FIELD_TEXT, /* a string; value: a text of the values */
    GCD_FIELD_TYPE, /* another object, or a string without a known text; value: its type */
    GCD_FIELD_NUMBER,
    GCD_FIELD_NULL,
    GCD_FIELD_STRUCT, /* a value type: its parts have values of their own, or are not read */
    GCD_FIELD_UNTOLD  /* which reference is that of the field is not certain, or there is none; or
                         the memory of a number is missing */
};

/* The living objects whose field has one value. */
struct gcd_field_value {
    enum gcd_field_value_kind kind;
    uint32_t value;           /* of the first two kinds */
    struct gcd_number number; /* its name lives as long as OF->numbers */
    uint32_t node;            /* one of them: the one that retains most, of equals the first */
    uint64_t count, bytes;    /* saturates */
    uint64_t retained_bytes;  /* a lower bound of what they retain together; saturates */
};

struct gcd_field_values_of {
    struct gcd_context context;
    const struct gcd_fields *fields;   /* of the graph */
    const struct gcd_values *values;   /* NULL: there are none */
    struct gcd_image_numbers *numbers; /* of FIELD; NULL: no memory is at hand */
    const uint8_t *types;              /* [type_count of the graph] not 0: its objects */
    const char *field;                 /* as gcd_fields_slot_name; of equal names the last, which
                                          hides those of the base classes.  A field of NUMBERS
                                          hides one that only FIELDS has */
};

struct gcd_field_values;

/*
 * Objects of types without such a field do not count, but gcd_field_values_without says how many
 * there are.  G, D, its dominators, and OF need only outlive the call.  Memory during the call: 16
 * bytes per living object.  GCD_E_NOT_FOUND: no type has it, and the message lists the fields there
 * are; GCD_E_NOMEM, GCD_E_CANCELED.
 */
GCD_MUST_CHECK gcd_status gcd_field_values_new(const struct gcd_graph *g,
                                               const struct gcd_dominators *d,
                                               const struct gcd_field_values_of *of,
                                               struct gcd_field_values **ret,
                                               struct gcd_error *err);
void gcd_field_values_free(struct gcd_field_values *v);

/* Those that retain most first, equal ones by count, kind and value. */
size_t gcd_field_values_count(const struct gcd_field_values *v);
/* The living objects of the types whose types have no such field. */
uint64_t gcd_field_values_without(const struct gcd_field_values *v);
const struct gcd_field_value *gcd_field_values_at(const struct gcd_field_values *v, size_t i);

#endif
