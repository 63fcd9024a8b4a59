#include <string.h>

#include "base/cur.h"
#include "base/mem.h"
#include "values/value_rows.h"

#define NULL_REFERENCE 1u /* objects lie 8 bytes apart; the same everywhere, so it packs well */
#define DELTA_MOST     10u
/* The longest record without its texts, addresses and bytes. */
#define RECORD_HEAD 24u

/* ---- writing ---- */

gcd_status rows_writing_init(struct rows_writing *w, const struct value_rows *r)
{
    *w = (struct rows_writing){ .r = r, .step = r->enum_count > 0 ? ROWS_ENUM : ROWS_TYPE };
    size_t *first = gcd_mem_new_array(r->alloc, r->type_count + 1, sizeof *first);
    w->addresses = gcd_mem_new_array(r->alloc, r->object_count + 1, sizeof *w->addresses);
    for (size_t i = 0, sum = 0; first != NULL && i < r->type_count; i++) {
        first[i] = sum;
        sum += r->types[i].row_count;
    }
    for (size_t i = 0; first != NULL && w->addresses != NULL && i < r->object_count; i++)
        w->addresses[first[r->objects[i].type] + r->objects[i].row] = r->objects[i].address;
    gcd_mem_free(r->alloc, first, (r->type_count + 1) * sizeof *first);
    return first != NULL && w->addresses != NULL ? GCD_OK : GCD_E_NOMEM;
}

void rows_writing_done(struct rows_writing *w)
{
    if (w->r != NULL)
        gcd_mem_free(w->r->alloc, w->addresses, (w->r->object_count + 1) * sizeof *w->addresses);
    w->addresses = NULL;
}

static size_t room(const struct gcd_put *to)
{
    size_t left = (size_t)(to->end - to->p);
    return left > RECORD_HEAD ? left - RECORD_HEAD : 0;
}

static void put_byte(struct gcd_put *to, unsigned byte)
{
    gcd_put_bytes(to, &(uint8_t){ (uint8_t)byte }, 1);
}

static bool put_name(struct gcd_put *to, const char *name)
{
    size_t n = strlen(name);
    gcd_put_varuint(to, n);
    gcd_put_bytes(to, name, n);
    return true;
}

static bool put_enum(struct rows_writing *w, struct gcd_put *to)
{
    const struct value_enum *x = &w->r->enums[w->next_enum];
    if (room(to) == 0)
        return false;
    put_byte(to, ROWS_ENUM);
    put_byte(to, x->element);
    put_byte(to, x->flags);
    w->next_literal = x->first;
    w->step = ROWS_LITERAL;
    return true;
}

static bool put_literal(struct rows_writing *w, struct gcd_put *to)
{
    const struct value_enum *x = &w->r->enums[w->next_enum];
    if (w->next_literal == x->first + x->count) {
        w->step = ++w->next_enum < w->r->enum_count ? ROWS_ENUM : ROWS_TYPE;
        return true;
    }
    const struct value_literal *l = &w->r->literals[w->next_literal];
    if (room(to) < strlen(l->name))
        return false;
    put_byte(to, ROWS_LITERAL);
    gcd_put_varuint(to, l->value);
    w->next_literal++;
    return put_name(to, l->name);
}

static bool put_type(struct rows_writing *w, struct gcd_put *to)
{
    const struct value_type *t = &w->r->types[w->next_type];
    if (room(to) == 0)
        return false;
    put_byte(to, ROWS_TYPE);
    gcd_put_varuint(to, t->id);
    if (t->stride > 0) {
        put_byte(to, ROWS_ELEMENTS);
        gcd_put_varuint(to, t->stride);
    }
    w->next_column = t->first;
    w->step = ROWS_COLUMN;
    return true;
}

static bool put_column(struct rows_writing *w, struct gcd_put *to)
{
    const struct value_type *t = &w->r->types[w->next_type];
    if (w->next_column == (size_t)t->first + t->count) {
        w->step = ROWS_ROWS;
        w->next_row = 0;
        return true;
    }
    const struct value_column *c = &w->r->columns[w->next_column];
    if (room(to) < strlen(c->name))
        return false;
    put_byte(to, ROWS_COLUMN);
    put_byte(to, c->form);
    put_byte(to, c->element);
    put_byte(to, c->flags);
    gcd_put_varuint(to, c->of);
    w->next_column++;
    return put_name(to, c->name);
}

/* A reference at P of the object at ADDRESS as it is recorded. */
static uint64_t packed_reference(const uint8_t *p, uint64_t address)
{
    uint64_t to = gcd_le64(p);
    return to == 0 ? NULL_REFERENCE : to - address;
}

static void put_cells(struct rows_writing *w, struct gcd_put *to, uint32_t n)
{
    const struct value_type *t = &w->r->types[w->next_type];
    const uint64_t *addresses = w->addresses + w->first_of_type + w->next_row;
    const uint8_t *rows = t->rows + (size_t)w->next_row * t->row_bytes;
    for (uint32_t k = 0; k < t->count; k++) {
        const struct value_column *c = &w->r->columns[t->first + k];
        for (uint32_t i = 0; i < n && c->bytes > 0; i++) {
            const uint8_t *cell = rows + (size_t)i * t->row_bytes + c->at;
            if (c->form == FORM_REFERENCE)
                gcd_put_le(to, packed_reference(cell, addresses[i]), 8);
            else
                gcd_put_bytes(to, cell, c->bytes);
        }
    }
}

/* As many rows of the type as fit. */
static bool put_rows(struct rows_writing *w, struct gcd_put *to)
{
    const struct value_type *t = &w->r->types[w->next_type];
    uint32_t left = t->row_count - w->next_row;
    if (left == 0) {
        w->first_of_type += t->row_count;
        w->next_type++;
        w->step = ROWS_TYPE;
        return true;
    }
    uint64_t most = room(to) / (DELTA_MOST + t->row_bytes);
    uint32_t n = left < most ? left : (uint32_t)most;
    if (n == 0)
        return false;
    put_byte(to, ROWS_ROWS);
    gcd_put_varuint(to, w->next_type);
    gcd_put_varuint(to, n);
    for (uint64_t i = 0, last = 0; i < n; i++) {
        uint64_t address = w->addresses[w->first_of_type + w->next_row + i];
        gcd_put_varuint(to, address - last);
        last = address;
    }
    if (t->row_bytes > 0)
        put_cells(w, to, n);
    w->next_row += n;
    return true;
}

bool rows_writing_next(struct rows_writing *w, struct gcd_put *to)
{
    const uint8_t *begin = to->p;
    bool fits = true;
    while (fits && (w->step != ROWS_TYPE || w->next_type < w->r->type_count))
        fits = w->step == ROWS_ENUM      ? put_enum(w, to)
               : w->step == ROWS_LITERAL ? put_literal(w, to)
               : w->step == ROWS_TYPE    ? put_type(w, to)
               : w->step == ROWS_COLUMN  ? put_column(w, to)
                                         : put_rows(w, to);
    return to->p > begin;
}

/* ---- reading ---- */

static const char *read_name(struct gcd_cur *c, size_t *ret_n)
{
    *ret_n = gcd_cur_varuint32(c);
    return (const char *)gcd_cur_bytes(c, *ret_n);
}

static gcd_status read_enum(struct value_rows *r, struct gcd_cur *c)
{
    uint8_t element = gcd_cur_u8(c), flags = gcd_cur_u8(c);
    return c->err != GCD_OK ? c->err : value_rows_add_enum(r, element, flags != 0);
}

static gcd_status read_literal(struct value_rows *r, struct gcd_cur *c)
{
    size_t n;
    uint64_t value = gcd_cur_varuint64(c);
    const char *name = read_name(c, &n);
    return c->err != GCD_OK ? c->err : value_rows_add_literal(r, value, name, n);
}

static gcd_status read_type(struct value_rows *r, struct gcd_cur *c)
{
    uint64_t id = gcd_cur_varuint64(c);
    return c->err != GCD_OK ? c->err : value_rows_add_type(r, id);
}

static gcd_status read_elements(struct value_rows *r, struct gcd_cur *c)
{
    uint32_t stride = gcd_cur_varuint32(c);
    return c->err != GCD_OK ? c->err : value_rows_set_stride(r, stride);
}

static gcd_status read_column(struct value_rows *r, struct gcd_cur *c)
{
    struct value_column column = { .form = gcd_cur_u8(c) };
    size_t n;
    column.element = gcd_cur_u8(c);
    column.flags = gcd_cur_u8(c);
    column.of = gcd_cur_varuint32(c);
    const char *name = read_name(c, &n);
    return c->err != GCD_OK ? c->err : value_rows_add_column(r, &column, name, n);
}

/* The cells of rows that were added last, COUNT of type T. */
static void read_cells(struct value_rows *r, const struct value_type *t, const uint8_t *cells,
                       uint64_t count)
{
    const struct value_object *objects = r->objects + r->object_count - count;
    uint8_t *rows = t->rows + (t->row_count - count) * t->row_bytes;
    for (uint32_t k = 0; k < t->count; k++) {
        const struct value_column *c = &r->columns[t->first + k];
        for (uint64_t i = 0; i < count && c->bytes > 0; i++, cells += c->bytes) {
            uint8_t *cell = rows + i * t->row_bytes + c->at;
            memcpy(cell, cells, c->bytes);
            if (c->form != FORM_REFERENCE)
                continue;
            uint64_t packed = gcd_le64(cells);
            struct gcd_put w = gcd_put_make(cell, 8);
            gcd_put_le(&w, packed == NULL_REFERENCE ? 0 : objects[i].address + packed, 8);
        }
    }
}

/* Can C have COUNT addresses and rows of TYPE?  Nothing is allocated for more. */
static bool has_cells(const struct value_rows *r, uint32_t type, uint64_t count,
                      const struct gcd_cur *c)
{
    return count <= gcd_cur_left(c) / (1 + (size_t)r->types[type].row_bytes);
}

static gcd_status read_rows(struct value_rows *r, struct gcd_cur *c)
{
    uint32_t type = gcd_cur_varuint32(c);
    uint64_t count = gcd_cur_varuint32(c), address = 0;
    if (c->err != GCD_OK || type >= r->type_count || !has_cells(r, type, count, c))
        return GCD_E_FORMAT;
    for (uint64_t i = 0; i < count; i++) {
        uint8_t *row;
        address += gcd_cur_varuint64(c);
        gcd_status st = c->err != GCD_OK ? c->err : value_rows_add(r, type, address, &row);
        if (st != GCD_OK)
            return st;
    }
    const struct value_type *t = &r->types[type];
    if (t->row_bytes == 0 || count == 0)
        return GCD_OK;
    const uint8_t *cells = gcd_cur_array(c, count, t->row_bytes);
    if (cells == NULL)
        return GCD_E_FORMAT;
    read_cells(r, t, cells, count);
    return GCD_OK;
}

gcd_status rows_read(struct value_rows *r, const uint8_t *p, size_t n)
{
    static gcd_status (*const readers[])(struct value_rows *, struct gcd_cur *) = {
        [ROWS_ENUM] = read_enum,     [ROWS_LITERAL] = read_literal, [ROWS_TYPE] = read_type,
        [ROWS_COLUMN] = read_column, [ROWS_ROWS] = read_rows,       [ROWS_ELEMENTS] = read_elements,
    };
    struct gcd_cur c = gcd_cur_make(p, n, 0);
    gcd_status st = GCD_OK;
    while (st == GCD_OK && gcd_cur_left(&c) > 0) {
        uint8_t kind = gcd_cur_u8(&c);
        st = kind >= ROWS_ENUM && kind <= ROWS_ELEMENTS ? readers[kind](r, &c) : GCD_E_FORMAT;
    }
    return st;
}
