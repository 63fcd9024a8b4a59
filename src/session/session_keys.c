/* The keys of dictionaries, caches and sets in words, where the values of a dump are shown. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/text/plural.h>
#include <gcdumpc/unstable/text/quoted.h>

#include "base/error.h"
#include "base/idmap.h"
#include "base/ovf.h"
#include "base/text.h"
#include "session/session.h"

/* Characters of a key in a line for people; beginnings in a sentence. */
#define KEY_CHARACTERS 40u
#define MANY_KEYS      100u
#define NOTABLE_PART   10u
#define GROUPS_SAID    5u
/* A key with so large a part of the bytes is told. */
#define LARGE_PART 4u
/* More keys are not compared: that would read each of their fields. */
#define COMPARED_MAX (UINT64_C(1) << 20)

/* ---- one key ---- */

const char *gcd_session_text(const struct gcd_session *s, uint32_t node, struct gcd_text *ret,
                             char buf[GCD_QUOTED_BYTES])
{
    uint32_t number = GCD_TEXT_NONE;
    *ret = (struct gcd_text){ .utf8 = NULL };
    if (s->values.values != NULL && s->values.show != GCD_SHOW_EQUAL && node != GCD_NODE_NONE)
        number = gcd_values_find(s->values.values, gcd_graph_node_address(s->graph, node));
    if (number == GCD_TEXT_NONE)
        return NULL;
    struct gcd_text t = gcd_values_text(s->values.values, number);
    if (t.utf8 == NULL)
        return NULL;
    const char *secret = gcd_values_secret(&s->values, &t);
    if (secret == NULL) {
        *ret = t;
        return gcd_quoted(t.utf8, t.bytes, t.cut, KEY_CHARACTERS, buf);
    }
    (void)snprintf(buf, GCD_QUOTED_BYTES, "(%s)", secret);
    return buf;
}

const char *gcd_session_key(struct gcd_session *s, const struct gcd_session_entry *e,
                            struct gcd_text *ret, char buf[GCD_QUOTED_BYTES])
{
    const struct gcd_fields *fields;
    *ret = (struct gcd_text){ .utf8 = NULL };
    if (s->values.show == GCD_SHOW_EQUAL || e->entry == GCD_NODE_NONE ||
        e->value == GCD_NODE_NONE || gcd_graph_notes(s->graph)->addresses_made_up ||
        gcd_session_fields(s, NULL, &fields, NULL) != GCD_OK)
        return NULL;
    uint32_t key = gcd_key_of(s->graph, fields, e->collection, e->entry, e->value);
    const char *shown = gcd_session_text(s, key, ret, buf);
    return shown != NULL ? shown : session_other_key(s, fields, e, key, ret, buf);
}

bool gcd_session_step_entry(const struct gcd_suspect *s, size_t i, struct gcd_session_entry *ret)
{
    size_t last = i;
    while (last + 1 < s->path_count && s->path[last + 1].fold == GCD_FOLD_INSIDE)
        last++;
    if (last + 1 >= s->path_count || s->path[last + 1].dependent || s->path[last].skipped ||
        s->path[last + 1].skipped || s->path[i].repeats > 1)
        return false;
    *ret = (struct gcd_session_entry){ .collection = last > i ? s->path[i].node : GCD_NODE_NONE,
                                       .entry = s->path[last].last,
                                       .value = s->path[last + 1].node };
    return true;
}

/* ---- the keys of a collection ---- */

uint32_t gcd_session_suspect_collection(struct gcd_session *session, const struct gcd_suspect *s)
{
    const struct gcd_collections *c;
    if ((s->kind == GCD_SUSPECT_OBJECT || s->kind == GCD_SUSPECT_DESIGN) && s->collection != NULL)
        return s->node;
    if (s->kind != GCD_SUSPECT_TYPE || s->path_count < 2 ||
        gcd_session_collections(session, NULL, &c, NULL) != GCD_OK)
        return GCD_NODE_NONE;
    size_t i = s->path_count - 1; /* one of the objects */
    while (i > 0 && s->path[i - 1].fold == GCD_FOLD_INSIDE)
        i--;
    return i > 0 && !s->path[i - 1].skipped && gcd_collections_has_inside(c, s->path[i - 1].type)
               ? s->path[i - 1].node
               : GCD_NODE_NONE;
}

/* A sentence in the making. */
struct sentence {
    char *to; /* [GCD_KEYS_BYTES] */
    size_t n;
};

GCD_PRINTF(2, 3)
static void say(struct sentence *s, const char *form, ...)
{
    va_list args;
    va_start(args, form);
    gcd_text_append(s->to, GCD_KEYS_BYTES, &s->n, form, args);
    va_end(args);
}

/* A longer beginning that examples share hides where they differ. */
#define SHARED_BYTES (KEY_CHARACTERS / 2)

/* With how many bytes, whole characters, the N TEXTS begin alike. */
static uint32_t shared_beginning(const struct gcd_values *values, const uint32_t *texts, size_t n)
{
    struct gcd_text first = gcd_values_text(values, texts[0]);
    uint32_t shared = n > 1 ? first.bytes : 0;
    for (size_t i = 1; i < n; i++) {
        struct gcd_text text = gcd_values_text(values, texts[i]);
        uint32_t same = 0;
        while (same < shared && same < text.bytes && text.utf8[same] == first.utf8[same])
            same++;
        shared = same;
    }
    while (shared > 0 && shared < first.bytes && ((uint8_t)first.utf8[shared] & 0xc0) == 0x80)
        shared--;
    return shared;
}

/* "3,000 keys, such as "a", "b", "c"", "3,000 of its 4,000 keys are known"; "3,000 keys, such as
 * those that begin with "beginning" and go on with "a", "b", "c"" */
static void say_examples(struct sentence *to, const struct gcd_values *values,
                         const struct gcd_keys *k, const struct gcd_collection *of)
{
    char quoted[GCD_QUOTED_BYTES];
    uint64_t count = gcd_keys_totals(k).count;
    size_t n;
    const uint32_t *texts = gcd_keys_examples(k, &n);
    if (count < of->at_least)
        say(to, "%s of its %s%s keys are known", GCD_DIGITS(count),
            gcd_collection_is_exact(of) ? "" : "at least ", GCD_DIGITS(of->at_least));
    else
        say(to, "%s key%s", GCD_DIGITS(count), gcd_plural(count));
    uint32_t shared = shared_beginning(values, texts, n);
    if (shared < SHARED_BYTES)
        shared = 0;
    for (size_t i = 0; i < n; i++) {
        struct gcd_text text = gcd_values_text(values, texts[i]);
        say(to, "%s", i > 0 ? ", " : n == count ? ": " : ", such as ");
        if (i == 0 && shared > 0)
            say(to, "those that begin with %s and go on with ",
                gcd_quoted(text.utf8, shared, false, KEY_CHARACTERS, quoted));
        say(to, "%s",
            gcd_quoted(text.utf8 + shared, text.bytes - shared, text.cut, KEY_CHARACTERS, quoted));
    }
    say(to, ".");
}

/* " "tenant-42/"… has 61 % of their bytes (1,200 keys), "tenant-7/"… 10 % (200)."  Of many keys
 * that have little in common, that is said. */
static void say_groups(struct sentence *to, const struct gcd_keys *k)
{
    char quoted[GCD_QUOTED_BYTES];
    struct gcd_key_totals t = gcd_keys_totals(k);
    size_t n;
    const struct gcd_key_group *groups = gcd_keys_groups(k, &n);
    if (t.count >= MANY_KEYS && t.different == t.count &&
        (n == 0 || groups[0].bytes < t.bytes / NOTABLE_PART)) {
        say(to, " Every key is different, and no beginning has a tenth of their bytes.");
        return;
    }
    for (size_t i = 0; i < n && i < GROUPS_SAID; i++) {
        const struct gcd_key_group *g = &groups[i];
        double percent = t.bytes > 0 ? 100.0 * (double)g->bytes / (double)t.bytes : 0;
        if (g->secret != NULL)
            say(to, "%s(%s)", i > 0 ? ", " : " ", g->secret);
        else
            say(to, "%s%s…", i > 0 ? ", " : " ",
                gcd_quoted(g->beginning, g->beginning_bytes, false, KEY_CHARACTERS, quoted));
        say(to, " %s%.0f %%%s (%s%s)", i > 0 ? "" : "has ", percent, i > 0 ? "" : " of their bytes",
            GCD_DIGITS(g->count),
            i > 0           ? ""
            : g->count == 1 ? " key"
                            : " keys");
    }
    if (n > 0)
        say(to, ".");
}

/* The entries of a collection whose keys are no texts. */
struct other_keys {
    struct gcd_session *s;
    const struct gcd_fields *fields;
    const struct gcd_dominators *dominators;
    uint32_t node;
    uint64_t count, bytes, most; /* BYTES below them, of which one has MOST */
    struct gcd_session_entry largest;
    struct gcd_idmap contents; /* by session_key_hash; of KNOWN keys, DIFFERENT ones */
    uint64_t known, different;
    uint64_t wanted[GCD_KEY_EXAMPLES]; /* numbers of entries */
    struct gcd_session_entry examples[GCD_KEY_EXAMPLES];
};

static uint64_t retained_below(const struct other_keys *k, uint32_t holder, uint32_t node)
{
    return gcd_dominators_parent(k->dominators, node) == holder
               ? gcd_dominators_retained(k->dominators, node)
               : 0;
}

/* [gcd_key_fn] */
static gcd_status take_content(void *ctx, const struct gcd_key_pair *pair, struct gcd_error *err)
{
    struct other_keys *k = ctx;
    uint64_t hash;
    if (pair->key == GCD_NODE_NONE || !session_key_hash(k->s, pair->key, &hash))
        return GCD_OK;
    k->known++;
    if (gcd_idmap_get(&k->contents, hash) != GCD_IDMAP_NONE)
        return GCD_OK;
    k->different++;
    return gcd_idmap_put(&k->contents, hash, 1) ? GCD_OK : gcd_fail_nomem(err, "comparing keys");
}

/* Keys with equal contents, which a dictionary has only if it does not compare these. */
static gcd_status say_equal_keys(struct sentence *to, struct other_keys *k, struct gcd_error *err)
{
    if (k->count > COMPARED_MAX)
        return GCD_OK;
    gcd_idmap_init(&k->contents, &k->s->alloc);
    gcd_status st = session_collection_keys(k->s, k->node, take_content, k, err);
    gcd_idmap_done(&k->contents);
    if (st == GCD_OK && k->known == k->count && k->different < k->known)
        say(to, " They have only %s different content%s.", GCD_DIGITS(k->different),
            gcd_plural(k->different));
    return st;
}

/* [gcd_key_fn] */
static gcd_status take_other(void *ctx, const struct gcd_key_pair *pair, struct gcd_error *err)
{
    struct other_keys *k = ctx;
    struct gcd_session_entry e = { k->node, pair->value_holder, pair->value };
    (void)err;
    if (pair->value == GCD_NODE_NONE)
        return GCD_OK;
    for (size_t i = 0; i < GCD_KEY_EXAMPLES; i++)
        if (k->wanted[i] == k->count)
            k->examples[i] = e;
    uint64_t bytes = retained_below(k, pair->value_holder, pair->value);
    k->count++;
    gcd_add_saturating(&k->bytes, bytes);
    if (bytes > k->most) {
        k->most = bytes;
        k->largest = e;
    }
    return GCD_OK;
}

/* "3,000 keys, such as 17, 4711, 9000. 4711 has 61 % of their bytes." */
static void say_other_keys(struct sentence *to, struct other_keys *k)
{
    char shown[GCD_QUOTED_BYTES];
    struct gcd_text text;
    uint64_t said = k->count < GCD_KEY_EXAMPLES ? k->count : GCD_KEY_EXAMPLES;
    for (size_t i = 0; i < said; i++) {
        if (gcd_session_key(k->s, &k->examples[i], &text, shown) == NULL) {
            to->to[to->n = 0] = '\0';
            return;
        }
        if (i == 0)
            say(to, "%s key%s%s", GCD_DIGITS(k->count), gcd_plural(k->count),
                said == k->count ? ": " : ", such as ");
        say(to, "%s%s", i > 0 ? ", " : "", shown);
    }
    say(to, "%s", said > 0 ? "." : "");
    if (k->count > 1 && k->most * LARGE_PART >= k->bytes && k->most > 0 &&
        gcd_session_key(k->s, &k->largest, &text, shown) != NULL)
        say(to, " %s has %.0f %% of their bytes.", shown,
            100.0 * (double)k->most / (double)k->bytes);
}

static gcd_status find_other_keys(struct gcd_session *s, uint32_t node, struct sentence *to,
                                  struct gcd_error *err)
{
    struct other_keys k = { .s = s, .node = node };
    struct gcd_image_numbers *numbers;
    GCD_TRY(gcd_session_numbers(s, &numbers, err));
    if (numbers == NULL)
        return GCD_END;
    GCD_TRY(gcd_session_fields(s, NULL, &k.fields, err));
    GCD_TRY(gcd_session_dominators(s, NULL, &k.dominators, err));
    GCD_TRY(session_collection_keys(s, node, take_other, &k, err));
    if (k.count == 0)
        return GCD_END;
    for (size_t i = 0; i < GCD_KEY_EXAMPLES; i++) /* the first, one in the middle, the last */
        k.wanted[i] = k.count > GCD_KEY_EXAMPLES ? i * (k.count - 1) / (GCD_KEY_EXAMPLES - 1) : i;
    k.count = k.bytes = k.most = 0;
    GCD_TRY(session_collection_keys(s, node, take_other, &k, err));
    say_other_keys(to, &k);
    if (to->n > 0)
        GCD_TRY(say_equal_keys(to, &k, err));
    return GCD_END;
}

gcd_status gcd_session_suspect_keys(struct gcd_session *session, const struct gcd_suspect *s,
                                    struct gcd_keys **ret, char buf[GCD_KEYS_BYTES],
                                    struct gcd_error *err)
{
    struct gcd_text text;
    char quoted[GCD_QUOTED_BYTES];
    struct gcd_keys *k = NULL;
    struct gcd_collection it;
    struct sentence to = { .to = buf };
    buf[0] = '\0';
    if (ret != NULL)
        *ret = NULL;
    if (s->kind == GCD_SUSPECT_DUPLICATES) {
        if (gcd_session_text(session, s->node, &text, quoted) != NULL)
            say(&to, "The text: %s.", quoted);
        return GCD_OK;
    }
    uint32_t node = gcd_session_suspect_collection(session, s);
    gcd_status st =
        node != GCD_NODE_NONE ? gcd_session_keys(session, NULL, node, &k, err) : GCD_END;
    if (st == GCD_END && node != GCD_NODE_NONE)
        st = find_other_keys(session, node, &to, err);
    if (st == GCD_OK)
        st = gcd_session_collection(session, NULL, node, &it, err);
    if (st == GCD_OK) {
        say_examples(&to, session->values.values, k, &it);
        say_groups(&to, k);
    }
    if (st == GCD_OK && ret != NULL)
        *ret = k;
    else
        gcd_keys_free(k);
    return st == GCD_END ? GCD_OK : st;
}
