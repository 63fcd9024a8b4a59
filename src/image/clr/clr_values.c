/*
 * The values of objects: texts of strings (length u32 at 8, then UTF-16), and hashes of the content
 * of arrays without references.
 */
#include "base/error.h"
#include "base/mem.h"
#include "image/clr/clr_events.h"

#define STRING_BASE  22u /* bytes of an empty string */
#define VECTOR_BASE  24u
#define VECTOR_ITEMS 16u

static bool is_string(const struct clr_type *t)
{
    return t->base_bytes == STRING_BASE && t->component_bytes == 2 && t->rank == 0;
}

static bool is_vector_of_numbers(const struct clr_type *t)
{
    return t->rank == 1 && t->base_bytes == VECTOR_BASE && t->component_bytes > 0 && !t->references;
}

/* Adds N bytes from ADDRESS on to H in pieces, and ends it.  False: the image lacks some. */
static bool hash_rest(struct clr_events *e, struct values_hash *h, uint64_t address, uint64_t n,
                      uint64_t *ret)
{
    uint8_t *piece = e->values.units;
    for (; n > CLR_VALUE_BYTES; n -= CLR_VALUE_BYTES, address += CLR_VALUE_BYTES) {
        if (!image_read(e->c->image, address, piece, CLR_VALUE_BYTES))
            return false;
        values_hash_words(h, piece, CLR_VALUE_BYTES);
    }
    if (!image_read(e->c->image, address, piece, (size_t)n))
        return false;
    *ret = values_hash_end(h, piece, (size_t)n);
    return true;
}

static bool read_string(struct clr_events *e, const struct clr_object *o)
{
    const struct gcd_values_options *options = &e->c->values;
    struct clr_values_at *v = &e->values;
    struct values_hash h;
    uint32_t units = (uint32_t)((o->bytes - STRING_BASE) / 2);
    uint64_t bytes = 2 * (uint64_t)units;
    values_hash_init(&h, options->key);
    v->content = (struct values_content){ .length = units };
    if (!hash_rest(e, &h, o->address + CLR_STRING_TEXT, bytes, &v->content.hash))
        return false;
    if (options->kind < GCD_VALUES_STRINGS)
        return true;
    size_t begin = bytes < CLR_VALUE_BYTES ? (size_t)bytes : CLR_VALUE_BYTES;
    if (bytes > CLR_VALUE_BYTES && !image_read(e->c->image, o->address + CLR_STRING_TEXT, v->units,
                                               begin)) /* it has the end of the text */
        return false;
    v->content.bytes = values_characters(options, v->units, (uint32_t)(begin / 2), v->text);
    v->content.utf8 = v->text;
    return true;
}

/* Arrays of different types are different, whatever they contain. */
static bool read_vector(struct clr_events *e, const struct clr_object *o, const struct clr_type *t)
{
    uint8_t type[8];
    struct values_hash h;
    struct gcd_put w = gcd_put_make(type, sizeof type);
    uint64_t bytes = o->bytes - VECTOR_BASE;
    gcd_put_le(&w, t->id, 8);
    values_hash_init(&h, e->c->values.key);
    values_hash_words(&h, type, sizeof type);
    e->values.content =
        (struct values_content){ .length = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX };
    return hash_rest(e, &h, o->address + VECTOR_ITEMS, bytes, &e->values.content.hash);
}

/* Reads the next object with a value; false: there are no more. */
static bool next_value(struct clr_events *e)
{
    struct clr_values_at *v = &e->values;
    while (clr_events_object(e, &v->scan, &e->next, &v->lost, &v->object)) {
        const struct clr_type *t = &e->c->types[v->object.type];
        if (!is_string(t) && !is_vector_of_numbers(t))
            continue;
        if (is_string(t) ? read_string(e, &v->object) : read_vector(e, &v->object, t))
            return true;
        v->unread++;
    }
    return false;
}

static gcd_status begin(struct clr_values_at *v, const struct gcd_alloc *a, struct gcd_error *err)
{
    v->begun = true;
    v->units = gcd_mem_new_uncleared(a, CLR_VALUE_BYTES, 1);
    v->text = gcd_mem_new_uncleared(a, VALUES_TEXT_BYTES, 1);
    return v->units != NULL && v->text != NULL ? GCD_OK : gcd_fail_nomem(err, "reading values");
}

gcd_status clr_values_next(struct clr_events *e, size_t *ret_n, struct gcd_error *err)
{
    struct clr_values_at *v = &e->values;
    struct values_part p;
    *ret_n = 0;
    if (!v->begun)
        GCD_TRY(begin(v, &e->c->alloc, err));
    values_part_begin(&p, e->payload);
    while (v->has_object || (v->has_object = next_value(e))) {
        if (!values_part_content(&p, v->object.address, &v->content))
            break;
        v->has_object = false;
        v->objects++;
    }
    if (v->scan.st != GCD_OK)
        return gcd_fail_nomem(err, "reading values");
    if (p.records > 0)
        *ret_n = values_part_end(&p, v->parts++);
    return GCD_OK;
}
