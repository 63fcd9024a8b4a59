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

void suspects_say_code(struct suspect_words *s, const struct suspect *x)
{
    suspects_tell_code(s, x);
    suspects_put(s, ". Beside their machine code, which is not on the heap, they");
    suspects_put_kept(s, &x->pub, true);
    suspects_put(s, ".");
    suspects_put_held_by(s, x, "One of them is");
}

void suspects_advise_code(struct suspect_words *s, const struct suspect *x)
{
    (void)x;
    suspects_put(s, "Compile each expression or Regex once and keep it, or do not compile what is "
                    "used only once.");
}
