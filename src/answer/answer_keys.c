/* The keys of dictionaries, caches and sets, where the values of a dump are shown. */
#include "answer/answers.h"

#include <gcdumpc/unstable/session/views.h>

#include "base/error.h"

static const struct answer_column columns[] = {
    FIELD("beginning", ANSWER_TEXT), FIELD("masked", ANSWER_TEXT), FIELD("count", ANSWER_COUNT),
    FIELD("bytes", ANSWER_BYTES),    FIELD("share", ANSWER_SHARE),
};
const struct answer_shape answer_keys_shape = ANSWER_SHAPE(columns);

const char *answer_key(struct answer *a, const char *cell, struct gcd_session *session,
                       const struct gcd_session_entry *e)
{
    struct gcd_text t;
    char quoted[GCD_QUOTED_BYTES];
    const char *shown = gcd_session_key(session, e, &t, quoted);
    if (cell != NULL && t.utf8 != NULL)
        answer_format(a, cell, "%.*s", (int)t.bytes, t.utf8);
    return shown != NULL ? answer_keep(a, "[%s]", shown) : "";
}

static void put_groups(struct answer *a, const struct gcd_keys *k)
{
    struct gcd_key_totals t = gcd_keys_totals(k);
    size_t n;
    const struct gcd_key_group *groups = gcd_keys_groups(k, &n);
    for (size_t i = 0; i < n; i++) {
        answer_row(a);
        if (groups[i].secret == NULL)
            answer_format(a, "beginning", "%.*s", (int)groups[i].beginning_bytes,
                          groups[i].beginning);
        answer_text(a, "masked", groups[i].secret);
        answer_count(a, "count", groups[i].count);
        answer_count(a, "bytes", groups[i].bytes);
        answer_share(a, "share", groups[i].bytes, t.bytes);
    }
}

gcd_status answer_suspect_keys(const struct answer_of_suspects *of, const struct gcd_suspect *s,
                               struct answer *groups, const char **ret, struct gcd_error *err)
{
    char sentence[GCD_KEYS_BYTES];
    struct gcd_keys *k;
    *ret = NULL;
    GCD_TRY(gcd_session_suspect_keys(of->session, s, &k, sentence, err));
    if (k != NULL)
        put_groups(groups, k);
    gcd_keys_free(k);
    if (sentence[0] != '\0')
        *ret = answer_keep(groups, "%s", sentence);
    return GCD_OK;
}
