/* Callbacks that the thread pool runs when a handle is signalled. */
#include "analyze/findings/findings.h"
#include "analyze/suspects/suspects_words.h"

static bool is_type(const struct gcd_type *t)
{
    return findings_is_named(t->name, "System.Threading.", "RegisteredWaitHandle");
}

const struct finding_rule finding_waits = {
    .kind = GCD_SUSPECT_WAITS,
    .least = FINDING_WAITS,
    .replaces = true,
    .is_type = is_type,
    .look = findings_any,
};

void suspects_tell_waits(struct suspect_words *s, const struct suspect *x)
{
    suspects_put_count(s, x->pub.objects, "callback waits", "callbacks wait");
    suspects_put(s, " for a handle in the thread pool");
    suspects_put_behind(s, x, " for ");
}

void suspects_advise_waits(struct suspect_words *s, const struct suspect *x)
{
    suspects_put(s, "Unregister each RegisteredWaitHandle when its work is done");
    if (x->pub.held_count > 0) {
        suspects_put(s, ": look in ");
        (void)suspects_put_holders(s, x, suspects_put_who);
    }
    suspects_put(s, ".");
}
