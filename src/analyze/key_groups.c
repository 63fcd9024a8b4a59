/*
 * The keys of a collection by their beginnings.  The texts are sorted; a group is a range of them
 * with one beginning, which ends behind a separator.  The largest group is divided as long as that
 * tells something: most keys share their beginning with another, and one beginning is frequent.
 */
#include <gcdumpc/unstable/keys.h>

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/sort.h"

/* A beginning that not one of so many keys has tells nothing. */
#define TELLING_PART 20u
/* Groups while dividing; what does not fit stays one. */
#define GROUPS_MAX 64u

struct item {
    uint64_t bytes;
    const char *secret; /* gcd_secret_name of its text */
    uint32_t text;
};

/* Items [first, end) begin with the same N bytes. */
struct range {
    size_t first, end;
    uint32_t n;
    uint64_t bytes;
    bool whole; /* cannot be divided */
};

struct gcd_keys {
    struct gcd_alloc alloc;
    struct gcd_keys_question about;
    struct gcd_key_totals totals;
    struct item *items; /* by secret, then by text */
    size_t item_count, item_cap;
    struct gcd_key_group groups[GCD_KEY_GROUPS];
    size_t group_count;
    uint32_t examples[GCD_KEY_EXAMPLES];
    size_t example_count;
};

/* ---- the entries ---- */

/* What would go with NODE if HOLDER, a part of the collection, were gone. */
static uint64_t bytes_below(const struct gcd_keys_question *about, uint32_t holder, uint32_t node)
{
    return node != GCD_NODE_NONE && gcd_dominators_parent(about->dominators, node) == holder
               ? gcd_dominators_retained(about->dominators, node)
               : 0;
}

static gcd_status take_pair(void *ctx, const struct gcd_key_pair *pair, struct gcd_error *err)
{
    struct gcd_keys *k = ctx;
    const struct gcd_keys_question *about = &k->about;
    if (pair->key == GCD_NODE_NONE)
        return GCD_OK;
    uint32_t number =
        gcd_values_find(about->view.values, gcd_graph_node_address(about->graph, pair->key));
    struct gcd_text text = { .utf8 = NULL };
    if (number != GCD_TEXT_NONE)
        text = gcd_values_text(about->view.values, number);
    if (text.utf8 == NULL)
        return GCD_OK;
    if (!gcd_vec_reserve(&k->alloc, &k->items, &k->item_cap, k->item_count + 1, sizeof *k->items,
                         UINT32_MAX))
        return gcd_fail_nomem(err, "reading keys");
    uint64_t bytes = bytes_below(about, pair->key_holder, pair->key);
    gcd_add_saturating(&bytes, bytes_below(about, pair->value_holder, pair->value));
    k->items[k->item_count++] =
        (struct item){ bytes, gcd_values_secret(&about->view, &text), number };
    gcd_add_saturating(&k->totals.bytes, bytes);
    return GCD_OK;
}

static struct gcd_text text_of(const struct gcd_keys *k, size_t i)
{
    return gcd_values_text(k->about.view.values, k->items[i].text);
}

static int compare_items(const void *ctx, uint32_t a, uint32_t b)
{
    const struct gcd_keys *k = ctx;
    const char *x = k->items[a].secret, *y = k->items[b].secret;
    if (x != y) /* of a table: equal names are the same */
        return x == NULL ? -1 : y == NULL ? 1 : strcmp(x, y);
    struct gcd_text s = text_of(k, a), t = text_of(k, b);
    uint32_t n = s.bytes < t.bytes ? s.bytes : t.bytes;
    int order = memcmp(s.utf8, t.utf8, n);
    return order != 0                             ? order
           : s.bytes != t.bytes                   ? (s.bytes < t.bytes ? -1 : 1)
           : k->items[a].text != k->items[b].text ? (k->items[a].text < k->items[b].text ? -1 : 1)
                                                  : 0;
}

static gcd_status sort_items(struct gcd_keys *k, struct gcd_error *err)
{
    uint32_t *order = gcd_sort_order(&k->alloc, k->item_count, compare_items, k);
    struct item *sorted = gcd_mem_new_array(&k->alloc, k->item_cap, sizeof *sorted);
    gcd_status st = GCD_OK;
    if (order != NULL && sorted != NULL) {
        for (size_t i = 0; i < k->item_count; i++)
            sorted[i] = k->items[order[i]];
        struct item *old = k->items;
        k->items = sorted;
        sorted = old;
    } else {
        st = gcd_fail_nomem(err, "sorting keys");
    }
    gcd_mem_free(&k->alloc, sorted, k->item_cap * sizeof *sorted);
    gcd_mem_free(&k->alloc, order, k->item_count * sizeof *order);
    return st;
}

/* ---- beginnings ---- */

static bool is_separator(char c)
{
    return (unsigned char)c < 128 && !(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') &&
           !(c >= 'a' && c <= 'z');
}

/* The end of the word that begins at N in T, behind its separator; T->bytes: none follows. */
static uint32_t word_end(const struct gcd_text *t, uint32_t n)
{
    while (n < t->bytes && !is_separator(t->utf8[n]))
        n++;
    return n < t->bytes ? n + 1 : n;
}

/* How many bytes, up to the end of a word, all texts of R begin with; they are sorted. */
static uint32_t common(const struct gcd_keys *k, const struct range *r)
{
    struct gcd_text a = text_of(k, r->first), b = text_of(k, r->end - 1);
    uint32_t n = r->n;
    for (uint32_t end; n < a.bytes; n = end) {
        end = word_end(&a, n);
        bool word = is_separator(a.utf8[end - 1]) && end <= b.bytes;
        if (!word || memcmp(a.utf8 + n, b.utf8 + n, end - n) != 0)
            break;
    }
    return n;
}

/* The end of the range from FIRST on, at most END, whose texts have the same word at N. */
static size_t same_word(const struct gcd_keys *k, size_t first, size_t end, uint32_t n,
                        uint32_t *ret_n)
{
    struct gcd_text a = text_of(k, first);
    uint32_t to = word_end(&a, n);
    size_t i = first + 1;
    *ret_n = to;
    if (to == n || !is_separator(a.utf8[to - 1]))
        return i; /* the text ends here: it is its own group */
    for (; i < end; i++) {
        struct gcd_text b = text_of(k, i);
        if (b.bytes < to || memcmp(a.utf8 + n, b.utf8 + n, to - n) != 0)
            break;
    }
    return i;
}

/*
 * Divides R by the next word: up to ROOM groups of at least two keys in RET, the rest is left out.
 * Returns their number; 0: that would tell nothing.
 */
static size_t divide(const struct gcd_keys *k, const struct range *r, struct range *ret,
                     size_t room)
{
    size_t n = 0, groups = 0, kept = 0, most = 0, all = r->end - r->first;
    uint32_t from = common(k, r);
    for (size_t i = r->first, end; i < r->end; i = end) {
        struct range part = { .first = i };
        end = part.end = same_word(k, i, r->end, from, &part.n);
        size_t keys = end - i;
        groups++;
        most = keys > most ? keys : most;
        if (keys < 2)
            continue;
        kept += keys;
        for (size_t j = i; j < end; j++)
            gcd_add_saturating(&part.bytes, k->items[j].bytes);
        size_t at = n;
        if (n == room) { /* instead of the smallest */
            at = 0;
            for (size_t j = 1; j < n; j++)
                at = ret[j].bytes < ret[at].bytes ? j : at;
            if (ret[at].bytes >= part.bytes)
                continue;
        } else {
            n++;
        }
        ret[at] = part;
    }
    bool tells = groups > 1 && kept * 2 > all && most * TELLING_PART >= all;
    return tells ? n : 0;
}

/* ---- groups ---- */

static void sort_ranges(struct range *ranges, size_t n)
{
    for (size_t i = 1; i < n; i++) /* few */
        for (size_t j = i; j > 0 && ranges[j].bytes > ranges[j - 1].bytes; j--) {
            struct range other = ranges[j];
            ranges[j] = ranges[j - 1];
            ranges[j - 1] = other;
        }
}

/* Divides the range that has at least half of the bytes, until none has, or it cannot be divided.
 */
static size_t find_ranges(const struct gcd_keys *k, size_t count, struct range ret[GROUPS_MAX])
{
    struct range all = { .first = 0, .end = count };
    size_t n = 0;
    if (count >= 2)
        n = divide(k, &all, ret, GROUPS_MAX / 2);
    sort_ranges(ret, n);
    while (n > 0 && n < GROUPS_MAX / 2 && !ret[0].whole && ret[0].bytes > 0 &&
           ret[0].bytes >= k->totals.bytes / 2) {
        struct range parts[GROUPS_MAX / 2];
        size_t m = divide(k, &ret[0], parts, GROUPS_MAX / 2);
        if (m == 0) {
            ret[0].whole = true;
            continue;
        }
        ret[0] = parts[0];
        memcpy(ret + n, parts + 1, (m - 1) * sizeof *parts);
        n += m - 1;
        sort_ranges(ret, n);
    }
    return n;
}

static void add_group(struct gcd_keys *k, const struct gcd_key_group *group)
{
    size_t at = k->group_count;
    if (at == GCD_KEY_GROUPS && k->groups[at - 1].bytes >= group->bytes)
        return;
    at -= at == GCD_KEY_GROUPS;
    for (; at > 0 && k->groups[at - 1].bytes < group->bytes; at--)
        k->groups[at] = k->groups[at - 1];
    k->groups[at] = *group;
    k->group_count += k->group_count < GCD_KEY_GROUPS;
}

static void find_groups(struct gcd_keys *k)
{
    struct range ranges[GROUPS_MAX];
    size_t plain = k->item_count;
    while (plain > 0 && k->items[plain - 1].secret != NULL)
        plain--;
    for (size_t i = plain, end; i < k->item_count; i = end) {
        struct gcd_key_group group = { .secret = k->items[i].secret };
        for (end = i; end < k->item_count && k->items[end].secret == group.secret; end++)
            gcd_add_saturating(&group.bytes, k->items[end].bytes);
        group.count = end - i;
        add_group(k, &group);
    }
    size_t n = find_ranges(k, plain, ranges);
    for (size_t i = 0; i < n; i++) {
        struct gcd_key_group group = { .beginning = text_of(k, ranges[i].first).utf8,
                                       .beginning_bytes = ranges[i].n,
                                       .count = ranges[i].end - ranges[i].first,
                                       .bytes = ranges[i].bytes };
        add_group(k, &group);
    }
    size_t examples = plain < GCD_KEY_EXAMPLES ? plain : GCD_KEY_EXAMPLES;
    for (size_t i = 0; i < examples; i++)
        k->examples[k->example_count++] =
            k->items[examples > 1 ? i * (plain - 1) / (examples - 1) : 0].text;
}

gcd_status gcd_keys_new(const struct gcd_keys_question *about, uint32_t node,
                        const struct gcd_context *call, struct gcd_keys **ret,
                        struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(call != NULL ? call->alloc : NULL);
    struct gcd_keys *k = gcd_mem_new(&a, sizeof *k);
    *ret = NULL;
    if (k == NULL)
        return gcd_fail_nomem(err, "reading keys");
    k->alloc = a;
    k->about = *about;
    gcd_status st = gcd_collection_keys(about->collections, about->fields, node, take_pair, k, err);
    if (st == GCD_OK && k->item_count == 0)
        st = GCD_END;
    if (st == GCD_OK)
        st = sort_items(k, err);
    if (st == GCD_OK) {
        k->totals.count = k->item_count;
        for (size_t i = 0; i < k->item_count; i++)
            k->totals.different += i == 0 || k->items[i].text != k->items[i - 1].text;
        find_groups(k);
        *ret = k;
    } else {
        gcd_keys_free(k);
    }
    return st;
}

void gcd_keys_free(struct gcd_keys *k)
{
    if (k == NULL)
        return;
    struct gcd_alloc a = k->alloc;
    gcd_mem_free(&a, k->items, k->item_cap * sizeof *k->items);
    gcd_mem_free(&a, k, sizeof *k);
}

struct gcd_key_totals gcd_keys_totals(const struct gcd_keys *k)
{
    return k->totals;
}

const struct gcd_key_group *gcd_keys_groups(const struct gcd_keys *k, size_t *ret_n)
{
    *ret_n = k->group_count;
    return k->groups;
}

const uint32_t *gcd_keys_examples(const struct gcd_keys *k, size_t *ret_n)
{
    *ret_n = k->example_count;
    return k->examples;
}
