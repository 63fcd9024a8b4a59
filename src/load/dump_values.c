/* The values of a dump: those of its recording, or new ones, or of the memory image it is. */
#include <gcdumpc/unstable/image_numbers.h>

#include "base/context.h"
#include "base/error.h"
#include "image/image_columns.h"
#include "load/load.h"
#include "values/values.h"

#define CHECK_EVERY UINT64_C(65536)

const struct gcd_values *gcd_dump_values(const struct gcd_dump *d)
{
    return d->values;
}

gcd_status gcd_dump_set_values(struct gcd_dump *d, struct gcd_values *v, struct gcd_error *err)
{
    if (!d->closed || d->heap == NULL)
        return gcd_fail(err, GCD_E_STATE, "the dump is not closed");
    values_free(d->own_values);
    d->values = d->own_values = v;
    d->summary.values = v->facts;
    return GCD_OK;
}

/* ---- values in objects ---- */

static gcd_status add_objects(struct gcd_dump *d, struct gcd_objects *from,
                              struct image_columns *to, const struct gcd_context *context,
                              struct gcd_error *err)
{
    struct gcd_object o;
    gcd_status st;
    uint64_t done = 0;
    while ((st = gcd_objects_next(from, &o, err)) == GCD_OK) {
        if (++done % CHECK_EVERY == 0)
            GCD_TRY(gcd_check_canceled(context->cancel, err));
        GCD_TRY(values_rows_status(d->values, image_columns_add(to, d->types[o.type].id, o.address),
                                   err));
    }
    return st == GCD_END ? GCD_OK : st;
}

static gcd_status keep_numbers(struct gcd_dump *d, struct gcd_image_numbers *numbers,
                               const struct gcd_context *context, struct gcd_error *err)
{
    struct image_columns c;
    struct gcd_objects *objects = NULL;
    image_columns_init(&c, numbers, d->values->rows);
    gcd_status st = gcd_objects_new(d, &objects, err);
    if (st == GCD_OK)
        st = add_objects(d, objects, &c, context, err);
    if (st == GCD_OK)
        st = values_rows_status(d->values, value_rows_sort(d->values->rows), err);
    gcd_objects_free(objects);
    image_columns_done(&c);
    if (st != GCD_OK)
        return st;
    d->summary.values.numbers = d->values->rows->object_count - d->values->rows->element_count;
    d->summary.values.unread += c.unread;
    return GCD_OK;
}

gcd_status gcd_dump_keep_numbers(struct gcd_dump *d, struct gcd_input *in,
                                 const struct gcd_context *context, struct gcd_error *err)
{
    struct gcd_image_numbers *numbers;
    struct gcd_values_view view = { .memory = in };
    if (d->values == NULL || d->summary.values.kind != GCD_VALUES_ALL ||
        d->values->rows->object_count > 0)
        return GCD_END;
    gcd_status st = gcd_image_numbers_new(&view, NULL, &d->alloc, &numbers, err);
    if (st != GCD_OK)
        return st;
    st = keep_numbers(d, numbers, gcd_context_or_default(context), err);
    gcd_image_numbers_free(numbers);
    return st;
}
