/*
 * Strings whose text another string has already.  Needs the values of the dump, at least which are
 * equal; the texts themselves are nobody's business here.
 */
#include "analyze/suspects/suspects_words.h"

#include <gcdumpc/unstable/values.h>

#include "base/error.h"
#include "base/mem.h"

/* The objects of the suspect are all strings that are there several times. */
static gcd_status own_copies(struct suspects_work *w, const struct gcd_duplicates *d,
                             uint32_t *ret_node, struct gcd_error *err)
{
    size_t n;
    const struct gcd_duplicate *rows = gcd_duplicates_rows(d, GCD_DUPLICATE_STRINGS, &n);
    size_t words = ((size_t)gcd_values_text_count(w->o->values) + 63) / 64;
    uint64_t *several = gcd_mem_new_array(w->alloc, words, sizeof *several);
    gcd_status st = several != NULL ? GCD_OK : gcd_fail_nomem(err, "comparing strings");
    for (size_t i = 0; i < n && st == GCD_OK && rows[i].wasted_bytes > 0; i++)
        bits_set(several, rows[i].text);
    for (uint32_t node = 0; node < w->nodes && st == GCD_OK; node++) {
        if (node % SUSPECTS_CHECK_EVERY == 0)
            st = suspects_check(w, err);
        uint32_t text = st == GCD_OK ? gcd_duplicates_text(d, node) : GCD_TEXT_NONE;
        if (text == GCD_TEXT_NONE || !bits_get(several, text))
            continue;
        if (text == rows[0].text)
            *ret_node = node;
        st = suspects_own(w, node, err);
    }
    gcd_mem_free(w->alloc, several, words * sizeof *several);
    return st;
}

/* What refers to most of the strings of the N ROWS that are there several times, in *RET, which
 * stays as it is if nothing is known to. */
static gcd_status find_holder(const struct suspects_work *w, const struct gcd_duplicates *d,
                              const struct gcd_duplicate *rows, size_t n,
                              struct gcd_duplicate_holder *ret, struct gcd_error *err)
{
    struct gcd_duplicate_holders all = { .count = 0 };
    struct gcd_duplicate_question about = { .fields = w->o->fields, .together = true };
    while (about.count < n && rows[about.count].wasted_bytes > 0)
        about.count++;
    const struct gcd_duplicate **asked =
        gcd_mem_new_array(w->alloc, about.count + 1, sizeof *asked);
    gcd_status st = asked != NULL ? GCD_OK : gcd_fail_nomem(err, "finding what holds strings");
    for (size_t i = 0; i < about.count && st == GCD_OK; i++)
        asked[i] = &rows[i];
    about.rows = asked;
    if (st == GCD_OK)
        st = gcd_duplicates_holders(d, &about, &w->o->context, &all, err);
    if (all.count > 0)
        *ret = all.items[0];
    if (st == GCD_OK)
        gcd_duplicate_holders_free(d, &all);
    gcd_mem_free(w->alloc, asked, (about.count + 1) * sizeof *asked);
    return st;
}

static gcd_status make_suspect(struct suspects_work *w, const struct gcd_duplicates *d,
                               struct gcd_error *err)
{
    size_t n;
    const struct gcd_duplicate *rows = gcd_duplicates_rows(d, GCD_DUPLICATE_STRINGS, &n);
    struct gcd_duplicate_totals totals = gcd_duplicates_totals(d, GCD_DUPLICATE_STRINGS);
    struct gcd_suspect_check *check = &w->s->checks[GCD_SUSPECT_DUPLICATES];
    struct suspect *x;
    check->objects = totals.objects - totals.contents;
    check->bytes = totals.wasted_bytes;
    if (n == 0 || totals.wasted_bytes < w->s->threshold)
        return GCD_OK;
    GCD_TRY(suspects_add(w, GCD_SUSPECT_DUPLICATES, GCD_NODE_NONE, rows[0].type, &x, err));
    x->pub.overlaps = true;
    x->pub.objects = check->objects;
    x->pub.bytes = totals.wasted_bytes;
    x->pub.shallow_bytes = x->pub.retained_bytes = totals.bytes;
    x->strings = totals.objects;
    x->same = rows[0];
    x->same_length = gcd_values_text(w->o->values, rows[0].text).length;
    if (w->o->fields != NULL) {
        GCD_TRY(find_holder(w, d, &rows[0], 1, &x->by, err));
        GCD_TRY(find_holder(w, d, rows, n, &x->most_by, err));
    }
    return own_copies(w, d, &x->pub.node, err);
}

gcd_status suspects_duplicates(struct suspects_work *w, struct gcd_error *err)
{
    struct gcd_duplicates *d = NULL;
    if (w->o->values == NULL) {
        w->s->checks[GCD_SUSPECT_DUPLICATES].unknown = true;
        return GCD_OK;
    }
    struct gcd_context silent = w->o->context;
    silent.progress = NULL;
    GCD_TRY(gcd_duplicates_new(w->g, w->o->values, &silent, &d, err));
    gcd_status st = make_suspect(w, d, err);
    gcd_duplicates_free(d);
    return st;
}

static bool put_holder(struct suspect_words *s, const struct gcd_duplicate_holder *by)
{
    char suffix[GCD_FIELD_LABEL_BYTES];
    if (by->count == 0)
        return false;
    if (by->type == GCD_TYPE_NONE) {
        suspects_put_root(s, by->root);
        return true;
    }
    suspects_put_type(s, by->type);
    suspects_put_name(s, gcd_field_suffix(&by->field, suffix));
    return true;
}

bool suspects_put_text_holder(struct suspect_words *s, const struct suspect *x)
{
    return put_holder(s, &x->most_by);
}

void suspects_tell_duplicates(struct suspect_words *s, const struct suspect *x)
{
    suspects_put_number(s, x->pub.objects);
    suspects_put(s, " of ");
    suspects_put_count(s, x->strings, "string", "strings");
    suspects_put(s, x->pub.objects == 1 ? " is a copy of another" : " are copies of others");
}

void suspects_say_duplicates(struct suspect_words *s, const struct suspect *x)
{
    suspects_tell_duplicates(s, x);
    suspects_put(s, ", which takes ");
    suspects_put_bytes(s, x->pub.bytes);
    suspects_put(s, ", ");
    suspects_put_share(s, x->pub.share);
    if (x->most_by.count > 0) {
        suspects_put(s, ". ");
        suspects_put_count(s, x->most_by.count, "of them is in ", "of them are in ");
        (void)suspects_put_text_holder(s, x);
    }
    suspects_put(s, ". One text of ");
    suspects_put_count(s, x->same_length, "character", "characters");
    suspects_put(s, " is there ");
    suspects_put_number(s, x->same.count);
    suspects_put(s, " times (");
    suspects_put_bytes(s, x->same.bytes);
    suspects_put(s, ")");
    if (x->by.count > 0) {
        suspects_put(s, ", mostly in ");
        (void)put_holder(s, &x->by);
    }
    suspects_put(s, ".");
}
