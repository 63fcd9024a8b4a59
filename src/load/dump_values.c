/* The values of a dump: those of its recording, or new ones. */
#include "base/error.h"
#include "load/load.h"
#include "values/values.h"

const struct gcd_values *gcd_dump_values(const struct gcd_dump *d)
{
    return d->values;
}
