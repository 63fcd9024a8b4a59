#include "answer/answers.h"

#include <string.h>

#include <gcdumpc/unstable/text/plural.h>
#include <gcdumpc/unstable/text/quoted.h>

#include "base/error.h"

/* Characters of a text in a table for people. */
#define SHOWN_CHARACTERS 60u
/* What holds a text, in one line for people. */
#define SHOWN_HOLDERS 2u

static const struct answer_column holder_columns[] = {
    FIELD("count", ANSWER_COUNT), FIELD("label", ANSWER_TEXT), FIELD("type", ANSWER_TEXT),
    FIELD("field", ANSWER_TEXT),  FIELD("root", ANSWER_TEXT),
};
static const struct answer_shape holders_shape = ANSWER_SHAPE(holder_columns);

static const struct answer_column all_columns[] = {
    COLUMN("count", "Copies", ANSWER_COUNT),
    COLUMN("bytes", "Bytes", ANSWER_BYTES),
    COLUMN("label", "Held by", ANSWER_TEXT),
    FIELD("type", ANSWER_TEXT),
    FIELD("field", ANSWER_TEXT),
    FIELD("root", ANSWER_TEXT),
};
static const struct answer_shape all_shape = ANSWER_SHAPE(all_columns);

static const struct answer_column string_columns[] = {
    COLUMN("count", "Copies", ANSWER_COUNT),
    COLUMN("bytes", "Bytes", ANSWER_BYTES),
    COLUMN("wasted_bytes", "Wasted", ANSWER_BYTES),
    COLUMN("share", "Share", ANSWER_SHARE),
    COLUMN("length", "Length", ANSWER_COUNT),
    PEOPLE("shown", "Text", ANSWER_TEXT),
    FIELD("text", ANSWER_TEXT),
    FIELD("cut", ANSWER_FLAG),
    FIELD("masked", ANSWER_TEXT),
    DETAIL("hash", ANSWER_TEXT),
    COLUMN("held_by", "Held by", ANSWER_TEXT),
    ROWS("holders", ANSWER_FOR_PROGRAMS, &holders_shape),
};
const struct answer_shape answer_strings_shape = ANSWER_SHAPE(string_columns);

static const struct answer_column array_columns[] = {
    COLUMN("count", "Copies", ANSWER_COUNT),
    COLUMN("bytes", "Bytes", ANSWER_BYTES),
    COLUMN("wasted_bytes", "Wasted", ANSWER_BYTES),
    COLUMN("share", "Share", ANSWER_SHARE),
    COLUMN("content_bytes", "Content", ANSWER_BYTES),
    COLUMN("type", "Type", ANSWER_TEXT),
    DETAIL("hash", ANSWER_TEXT),
    COLUMN("held_by", "Held by", ANSWER_TEXT),
    ROWS("holders", ANSWER_FOR_PROGRAMS, &holders_shape),
};
const struct answer_shape answer_arrays_shape = ANSWER_SHAPE(array_columns);

/* ---- texts ---- */

void answer_put_text(struct answer *a, const struct gcd_text *t, const char *secret)
{
    char shown[GCD_QUOTED_BYTES];
    if (t->utf8 == NULL) {
        answer_text(a, "shown", "(only its hash is known)");
        return;
    }
    answer_flag(a, "cut", t->cut);
    if (secret != NULL) {
        answer_text(a, "masked", secret);
        answer_format(a, "shown", "(%s)", secret);
        return;
    }
    answer_format(a, "text", "%.*s", (int)t->bytes, t->utf8);
    answer_text(a, "shown", gcd_quoted(t->utf8, t->bytes, t->cut, SHOWN_CHARACTERS, shown));
}

void answer_hide_text(struct answer *a)
{
    answer_hide(a, "shown");
    answer_hide(a, "text");
    answer_hide(a, "cut");
    answer_hide(a, "masked");
}

/* ---- what holds them ---- */

/* "Shop.Country.Name", "elements of string[]", "static variable Shop.Names.s_all" */
static const char *label_of(struct answer *a, const struct answer_of_duplicates *of,
                            const struct gcd_duplicate_holder *h)
{
    char suffix[GCD_FIELD_LABEL_BYTES];
    if (h->type == GCD_TYPE_NONE) {
        const struct gcd_root *r =
            &gcd_graph_summary(gcd_session_graph(of->session))->roots[h->root];
        return answer_keep(a, "static variable %s", r->label);
    }
    const char *type = gcd_names_get(gcd_session_names(of->session), h->type);
    bool plain = h->field.name == NULL || h->field.name[0] == '\0';
    if (plain)
        return h->field.array ? answer_keep(a, "elements of %s", type) : type;
    return answer_keep(a, "%s%s", type, gcd_field_suffix(&h->field, suffix));
}

static void put_holder(struct answer *rows, const struct answer_of_duplicates *of,
                       const struct gcd_duplicate_holder *h, const char *label)
{
    answer_row(rows);
    answer_count(rows, "count", h->count);
    answer_text(rows, "label", label);
    if (h->type == GCD_TYPE_NONE) {
        answer_text(rows, "root", "statics");
        return;
    }
    answer_text(rows, "type", gcd_names_get(gcd_session_names(of->session), h->type));
    answer_known(rows, "field", h->field.name);
}

/* Those from *NEXT on that are of TEXT. */
static void put_holders(struct answer *a, const struct answer_of_duplicates *of, uint32_t text,
                        size_t *next)
{
    const char *line = "";
    size_t n = 0;
    struct answer *rows = answer_rows(a, "holders");
    for (; *next < of->holder_count && of->holders[*next].text == text; ++*next, n++) {
        const struct gcd_duplicate_holder *h = &of->holders[*next];
        const char *label = label_of(a, of, h);
        put_holder(rows, of, h, label);
        if (n < SHOWN_HOLDERS)
            line =
                answer_keep(a, "%s%s%s ×%s", line, n > 0 ? ", " : "", label, GCD_DIGITS(h->count));
    }
    if (n > SHOWN_HOLDERS)
        line = answer_keep(a, "%s and %s more", line, GCD_DIGITS(n - SHOWN_HOLDERS));
    answer_known(a, "held_by", line);
}

gcd_status answer_value_holders(const struct answer_of_duplicates *of, size_t most,
                                struct answer **ret, struct gcd_error *err)
{
    struct answer *a = *ret = answer_new(NULL, &all_shape);
    if (a == NULL)
        return gcd_fail_nomem(err, "listing what holds strings");
    for (size_t i = 0; i < of->holder_count && i < most; i++) {
        put_holder(a, of, &of->holders[i], label_of(a, of, &of->holders[i]));
        answer_count(a, "bytes", of->holders[i].bytes);
    }
    a->total = of->holder_count;
    return GCD_OK;
}

gcd_status answer_duplicates(const struct answer_of_duplicates *of, bool arrays,
                             struct answer **ret, struct gcd_error *err)
{
    const struct gcd_graph *g = gcd_session_graph(of->session);
    size_t next = 0;
    struct answer *a = *ret =
        answer_new(NULL, arrays ? &answer_arrays_shape : &answer_strings_shape);
    if (a == NULL)
        return gcd_fail_nomem(err, "listing strings");
    for (size_t i = 0; i < of->row_count; i++) {
        const struct gcd_duplicate *r = of->rows[i];
        struct gcd_text t = gcd_values_text(of->view.values, r->text);
        answer_row(a);
        answer_count(a, "count", r->count);
        answer_count(a, "bytes", r->bytes);
        answer_count(a, "wasted_bytes", r->wasted_bytes);
        answer_share(a, "share", r->wasted_bytes, gcd_graph_summary(g)->bytes);
        answer_count(a, arrays ? "content_bytes" : "length", t.length);
        if (arrays)
            answer_text(a, "type", gcd_names_get(gcd_session_names(of->session), r->type));
        else
            answer_put_text(a, &t, gcd_values_secret(&of->view, &t));
        answer_format(a, "hash", "%016" PRIx64, t.hash);
        put_holders(a, of, r->text, &next);
    }
    a->total = of->row_count;
    if (of->view.show == GCD_SHOW_EQUAL) {
        answer_hide(a, "hash"); /* who has the hash of a text can try texts */
        if (!arrays)
            answer_hide_text(a);
    }
    return GCD_OK;
}
