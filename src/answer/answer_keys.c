/* The keys of dictionaries, caches and sets, where the values of a dump are shown. */
#include "answer/answers.h"

#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/text/plural.h>

/* Characters of a key in a line for people; beginnings in a sentence. */
#define KEY_CHARACTERS 40u
#define GROUPS_SAID    5u

static const struct answer_column columns[] = {
    FIELD("beginning", ANSWER_TEXT), FIELD("masked", ANSWER_TEXT), FIELD("count", ANSWER_COUNT),
    FIELD("bytes", ANSWER_BYTES),    FIELD("share", ANSWER_SHARE),
};
const struct answer_shape answer_keys_shape = ANSWER_SHAPE(columns);

/* ---- one key ---- */

/* The string NODE in quotes, its secret in brackets, NULL = not known, or it may not be seen. *RET:
 * its text, utf8 NULL unless all may see it. */
static const char *shown_text(struct answer *a, const struct gcd_session *s, uint32_t node,
                              struct gcd_text *ret)
{
    char quoted[ANSWER_QUOTED_BYTES];
    struct gcd_values_view view = gcd_session_values(s);
    uint32_t number = GCD_TEXT_NONE;
    *ret = (struct gcd_text){ .utf8 = NULL };
    if (view.values != NULL && view.show != GCD_SHOW_EQUAL && node != GCD_NODE_NONE)
        number = gcd_values_find(view.values, gcd_graph_node_address(gcd_session_graph(s), node));
    if (number == GCD_TEXT_NONE)
        return NULL;
    struct gcd_text t = gcd_values_text(view.values, number);
    if (t.utf8 == NULL)
        return NULL;
    const char *secret = gcd_values_secret(&view, &t);
    if (secret != NULL)
        return answer_keep(a, "(%s)", secret);
    *ret = t;
    return answer_keep(a, "%s", answer_quoted(t.utf8, t.bytes, t.cut, KEY_CHARACTERS, quoted));
}

const char *answer_key(struct answer *a, const char *cell, const struct answer_entry *e)
{
    const struct gcd_fields *fields;
    struct gcd_text t;
    if (gcd_session_values(e->session).values == NULL || e->entry == GCD_NODE_NONE ||
        e->value == GCD_NODE_NONE || gcd_session_fields(e->session, NULL, &fields, NULL) != GCD_OK)
        return "";
    uint32_t key =
        gcd_key_of(gcd_session_graph(e->session), fields, e->entry, e->value, e->of_collection);
    const char *shown = shown_text(a, e->session, key, &t);
    if (cell != NULL && t.utf8 != NULL)
        answer_format(a, cell, "%.*s", (int)t.bytes, t.utf8);
    return shown != NULL ? answer_keep(a, "[%s]", shown) : "";
}

/* ---- the keys of a collection ---- */

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

/* "3,000 keys, such as "a", "b", "c"", "3,000 of its 4,000 keys are known" */
static const char *examples_of(struct answer *a, struct gcd_session *s, const struct gcd_keys *k,
                               const struct gcd_collection *of)
{
    char quoted[ANSWER_QUOTED_BYTES];
    uint64_t count = gcd_keys_totals(k).count;
    size_t n;
    const uint32_t *texts = gcd_keys_examples(k, &n);
    const char *line = answer_keep(a, "%s key%s", GCD_DIGITS(count), gcd_plural(count));
    if (count < of->at_least)
        line =
            answer_keep(a, "%s of its %s%s keys are known", GCD_DIGITS(count),
                        gcd_collection_is_exact(of) ? "" : "at least ", GCD_DIGITS(of->at_least));
    for (size_t i = 0; i < n; i++) {
        struct gcd_text text = gcd_values_text(gcd_session_values(s).values, texts[i]);
        line = answer_keep(a, "%s%s%s", line,
                           i > 0        ? ", "
                           : n == count ? ": "
                                        : ", such as ",
                           answer_quoted(text.utf8, text.bytes, text.cut, KEY_CHARACTERS, quoted));
    }
    return line;
}

/* ""tenant-42/"… has 61 % of their bytes (1,200 keys), "tenant-7/"… 10 % (200)" */
static const char *groups_of(struct answer *a, const struct gcd_keys *k)
{
    char quoted[ANSWER_QUOTED_BYTES];
    struct gcd_key_totals t = gcd_keys_totals(k);
    size_t n;
    const struct gcd_key_group *groups = gcd_keys_groups(k, &n);
    const char *line = "";
    for (size_t i = 0; i < n && i < GROUPS_SAID; i++) {
        const struct gcd_key_group *g = &groups[i];
        const char *name = answer_keep(a, "(%s)", g->secret);
        if (g->secret == NULL)
            name = answer_keep(
                a, "%s…",
                answer_quoted(g->beginning, g->beginning_bytes, false, KEY_CHARACTERS, quoted));
        double percent = t.bytes > 0 ? 100.0 * (double)g->bytes / (double)t.bytes : 0;
        line = answer_keep(a, "%s%s%s %s%.0f %%%s (%s%s)", line, i > 0 ? ", " : "", name,
                           i > 0 ? "" : "has ", percent, i > 0 ? "" : " of their bytes",
                           GCD_DIGITS(g->count),
                           i > 0           ? ""
                           : g->count == 1 ? " key"
                                           : " keys");
    }
    return line;
}

/* The sentence about the keys of NODE; NULL = none are known. */
static gcd_status keys_of(struct gcd_session *s, uint32_t node, struct answer *groups,
                          const char **ret, struct gcd_error *err)
{
    struct gcd_keys *k;
    struct gcd_collection it;
    gcd_status st = gcd_session_keys(s, NULL, node, &k, err);
    if (st != GCD_OK)
        return st == GCD_END ? GCD_OK : st;
    st = gcd_session_collection(s, NULL, node, &it, err);
    if (st == GCD_OK) {
        put_groups(groups, k);
        const char *more = groups_of(groups, k);
        *ret = answer_keep(groups, "%s.%s%s%s", examples_of(groups, s, k, &it),
                           more[0] != '\0' ? " " : "", more, more[0] != '\0' ? "." : "");
    }
    gcd_keys_free(k);
    return st == GCD_END ? GCD_OK : st;
}

gcd_status answer_suspect_keys(const struct answer_of_suspects *of, const struct gcd_suspect *s,
                               struct answer *groups, const char **ret, struct gcd_error *err)
{
    struct gcd_text text;
    uint32_t node = answer_suspect_collection(of, s);
    *ret = NULL;
    if (s->kind == GCD_SUSPECT_DUPLICATES) {
        const char *shown = shown_text(groups, of->session, s->node, &text);
        *ret = shown != NULL ? answer_keep(groups, "The text: %s.", shown) : NULL;
        return GCD_OK;
    }
    return node != GCD_NODE_NONE ? keys_of(of->session, node, groups, ret, err) : GCD_OK;
}
