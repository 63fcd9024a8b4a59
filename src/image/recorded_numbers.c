/* The values in objects as a recording has them: a row of bytes for each object. */
#include <string.h>

#include "base/mem.h"
#include "image/image_numbers.h"

static gcd_status open_enums(struct gcd_image_numbers *n)
{
    struct image_enums *e = &n->enums;
    e->items = gcd_mem_new_array(&n->alloc, n->rows->enum_count + 1, sizeof *e->items);
    if (e->items == NULL)
        return GCD_E_NOMEM;
    e->cap = n->rows->enum_count + 1;
    for (; e->count < n->rows->enum_count; e->count++) {
        const struct value_enum *from = &n->rows->enums[e->count];
        struct enumeration x = { .element = from->element,
                                 .flags = from->flags,
                                 .count = from->count,
                                 .known = from->count,
                                 .cap = from->count };
        if (x.count == 0)
            continue;
        x.literals = gcd_mem_new_array(&n->alloc, x.count, sizeof *x.literals);
        if (x.literals == NULL)
            return GCD_E_NOMEM;
        for (size_t i = 0; i < x.count; i++) {
            const struct value_literal *l = &n->rows->literals[from->first + i];
            x.literals[i] = (struct enum_literal){ l->value, l->name };
        }
        e->items[e->count] = x;
    }
    return GCD_OK;
}

static void open_column(struct gcd_image_numbers *n, struct image_plan *plan,
                        const struct value_column *c)
{
    struct image_place p = { .name = c->name,
                             .offset = c->at,
                             .of = c->of,
                             .form = c->form,
                             .element = c->element,
                             .value_at = (c->flags & VALUE_NULLABLE) != 0 };
    if ((c->flags & VALUE_BOXED) != 0) {
        plan->boxed = p;
        return;
    }
    size_t length = n->field != NULL ? strlen(n->field) : 0;
    if (length > 0 && plan->element_bytes == 0 && plan->wanted == CLR_NONE &&
        strncmp(c->name, n->field, length) == 0 &&
        (c->name[length] == '\0' || c->name[length] == '.')) {
        plan->wanted = (uint32_t)n->place_count; /* it hides those of the base classes */
        plan->wanted_parts = c->name[length] == '.';
    }
    n->places[n->place_count++] = p;
    if (plan->element_bytes > 0)
        plan->element_fields++;
    else
        plan->count++;
}

gcd_status recorded_numbers_open(struct gcd_image_numbers *n)
{
    const struct value_rows *r = n->rows;
    n->plan_cap = r->type_count + 1;
    n->place_cap = r->column_count + 1;
    n->plans = gcd_mem_new_array(&n->alloc, n->plan_cap, sizeof *n->plans);
    n->places = gcd_mem_new_array(&n->alloc, n->place_cap, sizeof *n->places);
    if (n->plans == NULL || n->places == NULL) {
        n->plan_cap = n->plans != NULL ? n->plan_cap : 0;
        n->place_cap = n->places != NULL ? n->place_cap : 0;
        return GCD_E_NOMEM;
    }
    for (; n->plan_count < r->type_count; n->plan_count++) {
        const struct value_type *t = &r->types[n->plan_count];
        struct image_plan *plan = &n->plans[n->plan_count];
        *plan = (struct image_plan){ .first = (uint32_t)n->place_count,
                                     .wanted = CLR_NONE,
                                     .element_bytes = t->stride };
        for (uint32_t i = 0; i < t->count; i++)
            open_column(n, plan, &r->columns[t->first + i]);
        if (!gcd_idmap_put(&n->by_type, t->id, (uint32_t)n->plan_count))
            return GCD_E_NOMEM;
    }
    return open_enums(n);
}

bool gcd_image_numbers_recorded(const struct gcd_image_numbers *n)
{
    return n->rows != NULL;
}

/* Is there a row for the object at ADDRESS?  Its fields are asked for one after the other. */
static bool find_row(struct gcd_image_numbers *n, uint64_t address)
{
    if (n->row_address != address || address == 0) {
        n->row = value_rows_find(n->rows, address, &n->row_type);
        n->row_address = address;
    }
    return n->row != NULL;
}

const struct image_plan *recorded_plan_of_table(const struct gcd_image_numbers *n, uint64_t table)
{
    uint32_t plan = gcd_idmap_get(&n->by_type, table);
    return plan != GCD_IDMAP_NONE ? &n->plans[plan] : NULL;
}

const struct image_plan *recorded_plan_of(struct gcd_image_numbers *n, uint64_t address)
{
    return find_row(n, address) ? &n->plans[n->row_type] : NULL;
}

/* They are counted once for one array after the other. */
const struct image_plan *recorded_elements_of(struct gcd_image_numbers *n, uint64_t address,
                                              uint64_t *ret_count)
{
    if (n->elements_of != address || address == 0) {
        n->elements = value_rows_elements(n->rows, address, &n->element_type);
        n->elements_of = address;
    }
    *ret_count = n->elements;
    return n->elements > 0 ? &n->plans[n->element_type] : NULL;
}

bool recorded_read_place(struct gcd_image_numbers *n, uint64_t address, const struct image_place *p,
                         uint8_t ret[16], bool *ret_has_value)
{
    uint32_t alignment, size = value_form_bytes((enum value_form)p->form, p->element, &alignment);
    if (!find_row(n, address))
        return false;
    const uint8_t *cell = n->row + p->offset;
    uint8_t flag = size > 0 && p->value_at != 0 ? *cell : 1;
    *ret_has_value = flag != 0;
    if (size > 0)
        memcpy(ret, cell + p->value_at, size);
    return flag <= 1;
}
