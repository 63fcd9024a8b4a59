#include "values/value_rows.h"

#include <string.h>

#include "base/mem.h"
#include "base/signature.h"
#include "base/sort.h"

#define NAMES_MAX (UINT64_C(64) << 20)
#define MANY      ((size_t)UINT32_MAX - 1)

/* ---- how values are read ---- */

uint32_t value_number_bytes(uint32_t element)
{
    static const uint8_t bytes[] = { [2] = 1, [3] = 2, [4] = 1,  [5] = 1,  [6] = 2,  [7] = 2,
                                     [8] = 4, [9] = 4, [10] = 8, [11] = 8, [12] = 4, [13] = 8 };
    if (element == ELEMENT_INTPTR || element == ELEMENT_UINTPTR || element == ELEMENT_PTR ||
        element == ELEMENT_FNPTR)
        return 8;
    return element < sizeof bytes ? bytes[element] : 0;
}

uint32_t value_form_bytes(enum value_form form, uint32_t element, uint32_t *ret_alignment)
{
    static const struct {
        uint8_t bytes, alignment;
    } structs[VALUE_FORMS] = {
        [FORM_REFERENCE] = { 8, 8 }, [FORM_DATE_TIME] = { 8, 8 },
        [FORM_TIME_SPAN] = { 8, 8 }, [FORM_DATE] = { 4, 4 },
        [FORM_TIME] = { 8, 8 },      [FORM_GUID] = { 16, 4 },
        [FORM_DECIMAL] = { 16, 8 },  [FORM_DATE_TIME_OFFSET] = { 16, 8 },
        [FORM_INT128] = { 16, 16 },  [FORM_UINT128] = { 16, 16 },
        [FORM_HALF] = { 2, 2 },
    };
    uint32_t number = form == FORM_NUMBER ? value_number_bytes(element) : 0;
    *ret_alignment = number != 0 ? number : structs[form].alignment;
    return number != 0 ? number : structs[form].bytes;
}

/* ---- what there is ---- */

void value_rows_init(struct value_rows *r, const struct gcd_alloc *alloc, uint64_t most)
{
    *r = (struct value_rows){ .alloc = alloc, .most = most };
    gcd_textpool_init(&r->text, alloc, NAMES_MAX);
}

void value_rows_done(struct value_rows *r)
{
    for (size_t i = 0; i < r->type_count; i++)
        gcd_mem_free(r->alloc, r->types[i].rows, r->types[i].room);
    gcd_mem_free(r->alloc, r->types, r->type_cap * sizeof *r->types);
    gcd_mem_free(r->alloc, r->columns, r->column_cap * sizeof *r->columns);
    gcd_mem_free(r->alloc, r->enums, r->enum_cap * sizeof *r->enums);
    gcd_mem_free(r->alloc, r->literals, r->literal_cap * sizeof *r->literals);
    gcd_mem_free(r->alloc, r->objects, r->object_cap * sizeof *r->objects);
    gcd_textpool_done(&r->text);
}

static bool reserve(struct value_rows *r, void *items, size_t *cap, size_t count, size_t item_bytes)
{
    return gcd_vec_reserve(r->alloc, items, cap, count + 1, item_bytes, MANY);
}

/* Plans count, too: two packed bytes can be a type. */
static gcd_status add_item(struct value_rows *r, void *items, size_t *cap, size_t count,
                           size_t item_bytes)
{
    if (item_bytes > r->most - r->bytes)
        return GCD_E_LIMIT;
    if (!reserve(r, items, cap, count, item_bytes))
        return GCD_E_NOMEM;
    r->bytes += item_bytes;
    return GCD_OK;
}

gcd_status value_rows_add_enum(struct value_rows *r, uint8_t element, bool flags)
{
    if (value_number_bytes(element) == 0)
        return GCD_E_FORMAT;
    gcd_status st = add_item(r, &r->enums, &r->enum_cap, r->enum_count, sizeof *r->enums);
    if (st != GCD_OK)
        return st;
    r->enums[r->enum_count++] =
        (struct value_enum){ .first = r->literal_count, .element = element, .flags = flags };
    return GCD_OK;
}

gcd_status value_rows_add_literal(struct value_rows *r, uint64_t value, const char *name, size_t n)
{
    if (r->enum_count == 0 || n > VALUE_NAME_BYTES)
        return GCD_E_FORMAT;
    struct value_literal l = { .value = value };
    gcd_status st = add_item(r, &r->literals, &r->literal_cap, r->literal_count, sizeof l);
    if (st == GCD_OK)
        st = gcd_textpool_add_utf8(&r->text, (const uint8_t *)name, n, &l.name);
    if (st != GCD_OK)
        return st;
    r->literals[r->literal_count++] = l;
    r->enums[r->enum_count - 1].count++;
    return GCD_OK;
}

gcd_status value_rows_add_type(struct value_rows *r, uint64_t id)
{
    gcd_status st = add_item(r, &r->types, &r->type_cap, r->type_count, sizeof *r->types);
    if (st != GCD_OK)
        return st;
    r->types[r->type_count++] = (struct value_type){ .id = id, .first = (uint32_t)r->column_count };
    return GCD_OK;
}

gcd_status value_rows_add_column(struct value_rows *r, const struct value_column *like,
                                 const char *name, size_t n)
{
    struct value_column c = *like;
    uint32_t alignment;
    if (r->type_count == 0 || r->types[r->type_count - 1].row_count > 0 || c.form >= VALUE_FORMS ||
        (c.flags & ~VALUE_FLAGS) != 0 || c.of > r->enum_count || n > VALUE_NAME_BYTES)
        return GCD_E_FORMAT;
    struct value_type *t = &r->types[r->type_count - 1];
    bool boxed = (c.flags & VALUE_BOXED) != 0, number = c.form == FORM_NUMBER;
    c.bytes = value_form_bytes((enum value_form)c.form, c.element, &alignment);
    if ((number && c.bytes == 0) || (c.of != 0 && !number) || (boxed && t->count > 0) ||
        (c.form == FORM_REFERENCE && c.flags != 0))
        return GCD_E_FORMAT;
    if (c.bytes > 0 && (c.flags & VALUE_NULLABLE) != 0)
        c.bytes++;
    if (c.bytes > VALUE_ROW_BYTES - t->row_bytes)
        return GCD_E_FORMAT;
    gcd_status st = add_item(r, &r->columns, &r->column_cap, r->column_count, sizeof c);
    if (st == GCD_OK)
        st = gcd_textpool_add_utf8(&r->text, (const uint8_t *)name, n, &c.name);
    if (st != GCD_OK)
        return st;
    c.at = t->row_bytes;
    r->columns[r->column_count++] = c;
    t->row_bytes += c.bytes;
    t->count++;
    return GCD_OK;
}

gcd_status value_rows_set_stride(struct value_rows *r, uint32_t stride)
{
    if (r->type_count == 0 || r->types[r->type_count - 1].count > 0 || stride == 0 ||
        stride > VALUE_ROW_BYTES)
        return GCD_E_FORMAT;
    r->types[r->type_count - 1].stride = stride;
    return GCD_OK;
}

gcd_status value_rows_add(struct value_rows *r, uint32_t type, uint64_t address, uint8_t **ret)
{
    if (type >= r->type_count)
        return GCD_E_FORMAT;
    struct value_type *t = &r->types[type];
    uint64_t bytes = t->row_bytes + sizeof *r->objects;
    if (r->object_count >= MANY || bytes > r->most - r->bytes)
        return GCD_E_LIMIT;
    size_t before = (size_t)t->row_count * t->row_bytes;
    if (!gcd_vec_reserve(r->alloc, &t->rows, &t->room, before + t->row_bytes, 1, SIZE_MAX) ||
        !reserve(r, &r->objects, &r->object_cap, r->object_count, sizeof *r->objects))
        return GCD_E_NOMEM;
    r->bytes += bytes;
    r->element_count += t->stride > 0;
    r->objects[r->object_count++] = (struct value_object){ address, type, t->row_count++ };
    *ret = t->row_bytes > 0 ? t->rows + before : NULL;
    return GCD_OK;
}

/* Rows of a type lie in the order of its objects, so each moves towards the beginning. */
void value_rows_keep(struct value_rows *r, bool (*keep)(void *ctx, size_t i), void *ctx)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->type_count; i++)
        r->types[i].row_count = 0;
    for (size_t i = 0; i < r->object_count; i++) {
        struct value_object o = r->objects[i];
        struct value_type *t = &r->types[o.type];
        if (!keep(ctx, i)) {
            r->bytes -= t->row_bytes + sizeof o;
            r->element_count -= t->stride > 0;
            continue;
        }
        if (t->row_bytes > 0 && o.row != t->row_count)
            memcpy(t->rows + (size_t)t->row_count * t->row_bytes,
                   t->rows + (size_t)o.row * t->row_bytes, t->row_bytes);
        o.row = t->row_count++;
        r->objects[kept++] = o;
    }
    r->object_count = kept;
}

gcd_status value_rows_sort(struct value_rows *r)
{
    bool sorted = true;
    for (size_t i = 1; i < r->object_count && sorted; i++)
        sorted = r->objects[i - 1].address <= r->objects[i].address;
    return sorted || gcd_sort_by_u64(r->alloc, r->objects, r->object_count, sizeof *r->objects)
               ? GCD_OK
               : GCD_E_NOMEM;
}

uint64_t value_rows_elements(const struct value_rows *r, uint64_t address, uint32_t *ret_type)
{
    size_t n = gcd_count_up_to(r->objects, r->object_count, sizeof *r->objects,
                               address + VALUE_ELEMENTS_AT);
    const struct value_object *o = n > 0 ? &r->objects[n - 1] : NULL;
    uint64_t count = 0;
    if (o == NULL || o->address != address + VALUE_ELEMENTS_AT || r->types[o->type].stride == 0)
        return 0;
    *ret_type = o->type;
    do
        count++;
    while (n - 1 + count < r->object_count && o[count].type == o->type &&
           o[count].address - o->address == count * r->types[o->type].stride);
    return count;
}

const uint8_t *value_rows_find(const struct value_rows *r, uint64_t address, uint32_t *ret_type)
{
    static const uint8_t empty[1];
    size_t n = gcd_count_up_to(r->objects, r->object_count, sizeof *r->objects, address);
    if (n == 0 || r->objects[n - 1].address != address)
        return NULL;
    const uint8_t *row = value_rows_of(r, &r->objects[n - 1]);
    *ret_type = r->objects[n - 1].type;
    return row != NULL ? row : empty;
}
