/*
 * Owners that fill up to a limit: the eight latest entries of each of 24,000 accounts.  Between two
 * dumps more entries come, but no owner gets more than the fullest ones had before, and many have
 * just as many.  In a leak the fullest grow, too.
 */
#include "answer/answers.h"

#include <string.h>

#include <gcdumpc/unstable/owner_fills.h>
#include <gcdumpc/unstable/session/views.h>

#include "base/error.h"

/* One owner in so many is full: where the fullest just stopped to grow, few are equal. */
#define FULL_OF 4u

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

const struct answer_fill *answer_fills_limited(const struct answer_fills *before,
                                               const struct answer_fills *now,
                                               const struct answer_come *come)
{
    const struct answer_fill *one = find(before, come->owner, come->element),
                             *other = find(now, come->owner, come->element);
    if (one == NULL || other == NULL)
        return NULL;
    const struct gcd_owner_fill *was = &one->counts, *is = &other->counts;
    if (is->most > was->most || is->full < is->owners / FULL_OF)
        return NULL;
    /* new owners bring their own: what holds the owners is the question then */
    uint64_t owners = is->owners > was->owners ? is->owners - was->owners : 0,
             come_there = is->elements > was->elements ? is->elements - was->elements : 0;
    return owners <= come_there / is->most / 2 ? other : NULL;
}
