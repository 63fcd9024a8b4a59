/* The values of a dump: those of its recording, or new ones. */
#include "base/error.h"
#include "load/load.h"
#include "values/values.h"

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

void gcd_values_free(struct gcd_values *v)
{
    values_free(v);
}
