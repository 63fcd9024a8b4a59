/* Methods compiled at run time: expressions, compiled regular expressions, proxies, serializers. */
#include "analyze/findings/findings.h"
#include "analyze/suspects/suspects_words.h"

static bool is_type(const struct gcd_type *t)
{
    return findings_is_named(t->name, "System.Reflection.Emit.", "DynamicMethod");
}

const struct finding_rule finding_code = {
    .kind = GCD_SUSPECT_CODE,
    .least = FINDING_METHODS,
    .is_type = is_type,
    .look = findings_any,
    .who = findings_holder,
};

void suspects_tell_code(struct suspect_words *s, const struct suspect *x)
{
    suspects_put_count(s, x->pub.objects, "method was", "methods were");
    suspects_put(s, " compiled while the program ran and ");
    suspects_put(s, x->pub.objects == 1 ? "is" : "are");
    suspects_put(s, " still alive");
    suspects_put_behind(s, x, " in ");
}
