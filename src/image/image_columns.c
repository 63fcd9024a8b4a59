#include "image/image_columns.h"

#include <string.h>

#include <gcdumpc/unstable/keys.h>

#include "base/error.h"

void image_columns_init(struct image_columns *c, struct gcd_image_numbers *numbers,
                        struct value_rows *rows)
{
    *c = (struct image_columns){ .numbers = numbers, .rows = rows };
    gcd_idmap_init(&c->types, &numbers->alloc);
    gcd_idmap_init(&c->enums, &numbers->alloc);
}

void image_columns_done(struct image_columns *c)
{
    gcd_idmap_done(&c->types);
    gcd_idmap_done(&c->enums);
}

/* The number + 1 in the rows of enum OF of the image; 0 = of none. */
static gcd_status enum_of(struct image_columns *c, uint32_t of, uint32_t *ret)
{
    const struct enumeration *x = of != 0 ? &c->numbers->enums.items[of - 1] : NULL;
    uint32_t known = of != 0 ? gcd_idmap_get(&c->enums, of) : 0;
    gcd_status st = GCD_OK;
    if (known != GCD_IDMAP_NONE) {
        *ret = known;
        return GCD_OK;
    }
    st = value_rows_add_enum(c->rows, x->element, x->flags);
    for (size_t i = 0; st == GCD_OK && i < x->count; i++) {
        size_t n = strlen(x->literals[i].name);
        if (n <= VALUE_NAME_BYTES)
            st = value_rows_add_literal(c->rows, x->literals[i].value, x->literals[i].name, n);
    }
    *ret = (uint32_t)c->rows->enum_count;
    return st == GCD_OK && !gcd_idmap_put(&c->enums, of, *ret) ? GCD_E_NOMEM : st;
}

static gcd_status add_column(struct image_columns *c, const struct image_place *p, bool boxed)
{
    struct value_column column = { .form = p->form, .element = p->element };
    const char *name = p->name != NULL ? p->name : "";
    column.flags = (uint8_t)((boxed ? VALUE_BOXED : 0) | (p->value_at != 0 ? VALUE_NULLABLE : 0));
    gcd_status st = enum_of(c, p->form == FORM_NUMBER ? p->of : 0, &column.of);
    return st == GCD_OK ? value_rows_add_column(c->rows, &column, name, strlen(name)) : st;
}

static uint32_t places_of(const struct image_plan *plan)
{
    return plan->count + plan->element_fields; /* one of them is 0 */
}

/* Is it an array of numbers?  Of these no elements are kept, unless they are keys. */
static bool is_of_numbers(const struct gcd_image_numbers *n, const struct image_plan *plan)
{
    return plan->element_fields == 1 && n->places[plan->first].form == FORM_NUMBER &&
           n->places[plan->first].name[0] == '\0';
}

/* Have the objects or elements of PLAN references? */
static bool has_references(const struct gcd_image_numbers *n, const struct image_plan *plan)
{
    for (uint32_t i = 0; i < places_of(plan); i++)
        if (n->places[plan->first + i].form == FORM_REFERENCE)
            return true;
    return false;
}

/* The most bytes that a row of PLAN may have. */
static size_t row_bytes(const struct gcd_image_numbers *n, const struct image_plan *plan)
{
    uint32_t alignment;
    size_t sum =
        value_form_bytes((enum value_form)plan->boxed.form, plan->boxed.element, &alignment);
    for (uint32_t i = 0; i < places_of(plan); i++) {
        const struct image_place *p = &n->places[plan->first + i];
        sum += 1 + value_form_bytes((enum value_form)p->form, p->element, &alignment);
    }
    return sum;
}

/* The type of the objects of PLAN; IMAGE_NO_ROWS: none of their values are kept. */
static gcd_status type_of(struct image_columns *c, uint64_t table, const struct image_plan *plan,
                          uint32_t *ret)
{
    bool boxed = plan->boxed.form != FORM_OTHER;
    *ret = gcd_idmap_get(&c->types, table);
    if (*ret != GCD_IDMAP_NONE)
        return GCD_OK;
    *ret = IMAGE_NO_ROWS;
    if ((places_of(plan) > 0 || boxed) && row_bytes(c->numbers, plan) <= VALUE_ROW_BYTES &&
        plan->element_bytes <= VALUE_ROW_BYTES) {
        *ret = (uint32_t)c->rows->type_count;
        gcd_status st = value_rows_add_type(c->rows, table);
        if (st == GCD_OK && plan->element_bytes > 0)
            st = value_rows_set_stride(c->rows, plan->element_bytes);
        if (st == GCD_OK && boxed)
            st = add_column(c, &plan->boxed, true);
        for (uint32_t i = 0; st == GCD_OK && i < places_of(plan); i++)
            st = add_column(c, &c->numbers->places[plan->first + i], false);
        if (st != GCD_OK)
            return st;
    }
    return gcd_idmap_put(&c->types, table, *ret) ? GCD_OK : GCD_E_NOMEM;
}

gcd_status image_columns_type(struct image_columns *c, uint64_t table, bool of_keys,
                              const struct image_plan **ret_plan, uint32_t *ret)
{
    const struct image_plan *plan = *ret_plan = image_plan_of_table(c->numbers, table);
    *ret = IMAGE_NO_ROWS;
    if (plan == NULL || (of_keys ? plan->element_fields == 0 : is_of_numbers(c->numbers, plan)))
        return GCD_OK;
    return type_of(c, table, plan, ret);
}

uint32_t image_columns_most(const struct gcd_image_numbers *n, const struct image_plan *plan)
{
    return is_of_numbers(n, plan) ? 0 : has_references(n, plan) ? UINT32_MAX : VALUE_PLAIN_ELEMENTS;
}

/* Is P a reference, and the last of its names WORD? */
static bool refers_to(const struct image_place *p, const char *word)
{
    const char *dot = strrchr(p->name, '.'), *last = dot != NULL ? dot + 1 : p->name;
    return p->form == FORM_REFERENCE && gcd_field_is_called(last, strlen(last), word);
}

const struct image_place *image_columns_keys(const struct gcd_image_numbers *n,
                                             const struct image_plan *plan, bool *ret_fixed)
{
    const struct image_place *keys = NULL, *codes = NULL;
    bool values = false;
    *ret_fixed = true;
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct image_place *p = &n->places[plan->first + i];
        values = values || refers_to(p, "values");
        *ret_fixed = *ret_fixed && !gcd_field_is_called(p->name, strlen(p->name), "size");
        keys = keys == NULL && refers_to(p, "keys") ? p : keys;
        /* the hash code of a number is the number */
        codes = codes == NULL && refers_to(p, "HashCodes") ? p : codes;
    }
    return !values ? NULL : keys != NULL ? keys : codes;
}

/* Reads the value at P into its cell of ROW; false: the image lacks it. */
static bool read_cell(struct image_columns *c, uint64_t address, const struct image_place *p,
                      const struct value_column *column, uint8_t *row)
{
    uint8_t bytes[16] = { 0 };
    bool has_value = true;
    if (column->bytes == 0)
        return true;
    if (!image_read_place(c->numbers, address, p, bytes, &has_value))
        return false;
    uint32_t flag = (column->flags & VALUE_NULLABLE) != 0;
    if (flag != 0)
        row[column->at] = has_value;
    if (has_value)
        memcpy(row + column->at + flag, bytes, column->bytes - flag);
    return true;
}

/* Adds the row at ADDRESS of an object or of an element. */
static gcd_status add_row(struct image_columns *c, const struct image_plan *plan, uint32_t type,
                          uint64_t address)
{
    uint8_t bytes[VALUE_ROW_BYTES], *row;
    const struct value_type *t = &c->rows->types[type];
    const struct value_column *column = &c->rows->columns[t->first];
    memset(bytes, 0, t->row_bytes);
    bool all =
        plan->boxed.form == FORM_OTHER || read_cell(c, address, &plan->boxed, column++, bytes);
    for (uint32_t i = 0; all && i < places_of(plan); i++)
        all = read_cell(c, address, &c->numbers->places[plan->first + i], column++, bytes);
    c->unread += !all;
    if (!all)
        return GCD_OK;
    gcd_status st = value_rows_add(c->rows, type, address, &row);
    if (st == GCD_OK && t->row_bytes > 0)
        memcpy(row, bytes, t->row_bytes);
    return st;
}

/* Adds elements FROM up to TO of the array at ADDRESS. */
static gcd_status add_elements(struct image_columns *c, const struct image_plan *plan,
                               uint32_t type, uint64_t address, uint64_t from, uint64_t to)
{
    struct gcd_image_elements all;
    if (!gcd_image_elements(c->numbers, address, &all))
        return GCD_OK;
    for (uint64_t i = from; i < all.count && i < to && value_rows_has_room(c->rows); i++) {
        uint64_t unread = c->unread;
        GCD_TRY(add_row(c, plan, type, address + VALUE_ELEMENTS_AT + i * plan->element_bytes));
        if (c->unread > unread) /* the image lacks it, and likely those behind it */
            break;
    }
    return GCD_OK;
}

/* Adds the keys of the collection at ADDRESS that are not kept with their array. */
static gcd_status add_keys(struct image_columns *c, const struct image_plan *plan, uint64_t address)
{
    bool fixed, has_value = true;
    const struct image_place *keys = image_columns_keys(c->numbers, plan, &fixed);
    uint8_t to[16] = { 0 };
    uint32_t type;
    if (keys == NULL || !image_read_place(c->numbers, address, keys, to, &has_value))
        return GCD_OK;
    uint64_t array = gcd_le64(to);
    if (array == 0)
        return GCD_OK;
    uint64_t table = image_u64(c->numbers->image->clr.image, array) & ~UINT64_C(7);
    gcd_status st = image_columns_type(c, table, true, &plan, &type);
    if (st != GCD_OK || type == IMAGE_NO_ROWS)
        return st;
    return add_elements(c, plan, type, array, image_columns_most(c->numbers, plan), UINT64_MAX);
}

gcd_status image_columns_add(struct image_columns *c, uint64_t table, uint64_t address)
{
    uint32_t type;
    const struct image_plan *plan = image_plan_of(c->numbers, address);
    if (plan == NULL || is_of_numbers(c->numbers, plan))
        return GCD_OK;
    GCD_TRY(type_of(c, table, plan, &type));
    if (type == IMAGE_NO_ROWS)
        return GCD_OK;
    if (plan->element_fields > 0)
        return add_elements(c, plan, type, address, 0, image_columns_most(c->numbers, plan));
    GCD_TRY(add_row(c, plan, type, address));
    return add_keys(c, plan, address);
}
