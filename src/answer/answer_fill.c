/*
 * Owners that fill up to a limit: the eight latest entries of each of 24,000 accounts.  Between two
 * dumps more entries come, but no owner gets more than the fullest ones had before, and many have
 * just as many.  In a leak the fullest grow, too.  Where fields are known, they tell the limit.
 */
#include "answer/answers.h"

#include <string.h>

#include <gcdumpc/unstable/owner_fills.h>
#include <gcdumpc/unstable/session/views.h>

#include "base/error.h"

/* One owner in so many is full: where the fullest just stopped to grow, few are equal. */
#define FULL_OF 4u
/* The fullest trimmed owner grows by at most one part in so many of what the others do, */
#define SMALL_PART 8
/* and of fewer objects three quarters are too near to all. */
#define LEAST_TRIMMED 8u
/* Without so small a part, all owners are equal. */
#define NEARLY_ALL_OF 10u

gcd_status answer_fills_count(struct gcd_session *s, const struct gcd_alloc *alloc,
                              struct answer_fills *ret, struct gcd_error *err)
{
    const struct gcd_context context = { .alloc = alloc };
    const struct gcd_names *names = gcd_session_names(s);
    const struct gcd_dominators *d;
    const struct gcd_origins *origins;
    struct gcd_owner_fills found;
    GCD_TRY(gcd_session_dominators(s, NULL, &d, err));
    GCD_TRY(gcd_session_origins(s, NULL, &origins, err));
    GCD_TRY(gcd_owner_fills(gcd_session_graph(s), d, origins, &context, &found, err));
    for (size_t i = 0; i < found.count; i++) {
        struct answer_fill *f = &ret->fills[i];
        const char *of = gcd_names_plain(names, found.rows[i].owner),
                   *in = gcd_names_plain(names, found.rows[i].element);
        f->counts = found.rows[i];
        if (gcd_textpool_add(&ret->text, of, strlen(of), &f->owner) != GCD_OK ||
            gcd_textpool_add(&ret->text, in, strlen(in), &f->element) != GCD_OK)
            return gcd_fail_nomem(err, "counting what each owner holds");
    }
    ret->count = found.count;
    return GCD_OK;
}

static const struct answer_fill *find(const struct answer_fills *in, const char *owner,
                                      const char *element)
{
    for (size_t i = 0; i < in->count; i++)
        if (strcmp(in->fills[i].owner, owner) == 0 && strcmp(in->fills[i].element, element) == 0)
            return &in->fills[i];
    return NULL;
}

/*
 * Caches that are cut back when they are full, to 800 of 1,000: in each dump the fullest is
 * somewhere near the limit.  In a leak the fullest grow by as much as the others; here by no more
 * than a small part of that.  That other owners were there before tells it from a few large ones
 * that have ended while the others still grow.
 */
static bool is_trimmed(const struct gcd_owner_fill *was, const struct gcd_owner_fill *is)
{
    double each = (double)is->elements / (double)is->owners,
           before = (double)was->elements / (double)was->owners, grown = each / before - 1,
           most = (double)is->most / (double)was->most - 1;
    return most <= grown / SMALL_PART && was->nearly >= was->owners / FULL_OF &&
           is->nearly >= is->owners / FULL_OF && is->most >= LEAST_TRIMMED;
}

struct answer_limit answer_fills_limit(const struct answer_fills *before,
                                       const struct answer_fills *now,
                                       const struct answer_come *come, struct gcd_session *newer)
{
    struct answer_limit none = { .fill = NULL };
    const struct answer_fill *one = find(before, come->owner, come->element),
                             *other = find(now, come->owner, come->element);
    if (one == NULL || other == NULL)
        return none;
    const struct gcd_owner_fill *was = &one->counts, *is = &other->counts;
    bool full = is->most <= was->most && is->full >= is->owners / FULL_OF,
         trimmed = !full && is_trimmed(was, is);
    /* new owners bring their own: what holds the owners is the question then; those that had none
     * are not new */
    bool counted = come->owners[1] > 0;
    uint64_t owned = counted ? come->owners[0] : was->owners,
             owns = counted ? come->owners[1] : is->owners,
             owners = owns > owned ? owns - owned : 0,
             come_there = is->elements > was->elements ? is->elements - was->elements : 0;
    if (owners > come_there / is->most / 2)
        return none;
    if (full || trimmed)
        return (struct answer_limit){ .fill = other, .most_before = was->most, .trimmed = trimmed };
    struct answer_limit own = { .fill = other };
    own.field = newer != NULL ? gcd_session_owner_limit(newer, is, &own.number) : NULL;
    if (own.field != NULL)
        return own;
    if (is->most > was->most && is->most >= LEAST_TRIMMED &&
        is->full >= is->owners - is->owners / NEARLY_ALL_OF)
        none.equal = other;
    return none;
}
