/*
 * How many objects of each type there are: those that the walk met, less those that are dead.  Few
 * are, as a rule, so what lives need not be read again.
 */
#include "base/context.h"
#include "base/error.h"
#include "image/clr/clr.h"

#define CANCEL_EVERY 65536u

/* Takes off the objects of R that are dead; or, if the events have them, too, adds their
 * references, which marking has not counted; as it has not those of frozen objects. */
static gcd_status correct_region(struct clr *c, const struct clr_region *r, struct gcd_error *err)
{
    struct clr_lost lost = { 0 };
    struct clr_slots slots;
    struct clr_object o;
    struct clr_scan s;
    uint64_t steps = 0;
    bool frozen = r->generation == CLR_FROZEN;
    clr_scan_begin(&s, c, r, &lost);
    s.dead = true;
    while (frozen ? clr_scan_next(&s, &o) : clr_scan_next_live(&s, &o)) {
        struct gcd_type_sum *sum = &c->types[o.type].sum;
        if (++steps % CANCEL_EVERY == 0)
            GCD_TRY(gcd_check_canceled(c->context->cancel, err));
        if (frozen || c->with_dead) {
            clr_slots_begin(&slots, c, &o);
            sum->edges += clr_slots_count(&slots);
        } else {
            sum->objects--;
            sum->bytes -= o.bytes;
        }
    }
    return s.st == GCD_OK ? GCD_OK : gcd_fail_nomem(err, "counting objects");
}

gcd_status clr_sum(struct clr *c, uint64_t *ret, struct gcd_error *err)
{
    uint64_t live = 0, dead = 0, strange = 0, objects = 0;
    *ret = c->summed_objects;
    if (c->summed || !clr_is_intact(c))
        return GCD_OK;
    c->summed = true;
    for (size_t i = 0; i < c->mark_count; i++) {
        live += gcd_count_bits(c->marks[i].live);
        dead += gcd_count_bits(c->starts[i] & ~c->marks[i].live);
        strange |= c->marks[i].live & ~c->starts[i];
    }
    if (strange != 0 || (dead > live && !c->with_dead))
        return GCD_OK;
    image_expect(c->image, IMAGE_ASCENDING);
    gcd_status st = GCD_OK;
    for (size_t i = 0; i < c->region_count && st == GCD_OK; i++)
        st = correct_region(c, &c->regions[i], err);
    image_expect(c->image, IMAGE_ANYWHERE);
    for (size_t i = 0; i < c->type_count; i++)
        objects += c->types[i].sum.objects;
    *ret = c->summed_objects = st == GCD_OK ? objects : 0;
    return st;
}
