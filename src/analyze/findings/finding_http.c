/* HTTP handlers, each with connections of its own. */
#include "analyze/findings/findings.h"
#include "analyze/suspects/suspects_words.h"

static bool is_type(const struct gcd_type *t)
{
    return findings_is_named(t->name, "System.Net.Http.", "SocketsHttpHandler");
}

const struct finding_rule finding_http = {
    .kind = GCD_SUSPECT_HTTP,
    .least = FINDING_HTTP,
    .is_type = is_type,
    .look = findings_any,
    .who = findings_holder,
};

void suspects_tell_http(struct suspect_words *s, const struct suspect *x)
{
    suspects_put_count(s, x->pub.objects, "HTTP handler is", "HTTP handlers are");
    suspects_put(s, " alive, each with connections of its own");
    suspects_put_behind(s, x, " in ");
}
