#include "write/v8_names.h"

#include <string.h>

#include <gcdumpc/unstable/io/sink_room.h>
#include <gcdumpc/unstable/static_names.h>

#include "base/dec.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "write/json_put.h"

static const char *const group_names[V8_GROUPS] = {
    [GCD_GROUP_STATICS] = "[static variables]",
    [GCD_GROUP_LOCALS] = "[local variables]",
    [GCD_GROUP_FINALIZER] = "[finalizer queue]",
    [GCD_GROUP_STRONG_HANDLES] = "[strong handles]",
    [GCD_GROUP_PINNED_HANDLES] = "[pinned handles]",
    [GCD_GROUP_REFCOUNTED] = "[ref-counted handles]",
    [GCD_GROUP_OTHER] = "[other roots]",
    [GCD_GROUP_WEAK] = "[weak handles]",
    [V8_FROZEN] = "[frozen]",
};

/* ---- numbering ---- */

/* The displayed name of a type: its name, or "NAME [MODULE]". */
#define PARTS 4
struct label {
    const char *text[PARTS];
    size_t n[PARTS];
};

static struct label label_of(const struct v8_names *n, uint32_t type)
{
    struct label l = { .text = { write_type_name(n->options, n->g, type), " [", NULL, "]" } };
    size_t file_n;
    l.n[0] = strlen(l.text[0]);
    if (n->types[type].with_module) {
        l.text[2] =
            write_module_file(gcd_graph_summary(n->g)->types[type].module_path, &file_n, &l.n[2]);
        l.n[1] = 2;
        l.n[3] = 1;
    }
    return l;
}

static uint64_t label_hash(const struct label *l)
{
    uint64_t hash = GCD_TEXT_HASH;
    for (unsigned i = 0; i < PARTS; i++)
        hash = gcd_text_hash(l->text[i], l->n[i], hash);
    return hash;
}

/* Compares whole texts, however they are divided: the name of a type can be "A [B]", too. */
static bool label_equal(const struct label *a, const struct label *b)
{
    size_t at = 0, bt = 0;
    for (unsigned i = 0, k = 0;; at++, bt++) {
        for (; i < PARTS && at == a->n[i]; at = 0)
            i++;
        for (; k < PARTS && bt == b->n[k]; bt = 0)
            k++;
        if (i == PARTS || k == PARTS)
            return i == k;
        if (a->text[i][at] != b->text[k][bt])
            return false;
    }
}

static bool other_module(const struct v8_names *n, uint32_t a, uint32_t b)
{
    const struct gcd_summary *summary = gcd_graph_summary(n->g);
    size_t a_n, b_n, a_stem, b_stem;
    const char *a_file = write_module_file(summary->types[a].module_path, &a_n, &a_stem);
    const char *b_file = write_module_file(summary->types[b].module_path, &b_n, &b_stem);
    return a_n > 0 && (a_stem != b_stem || memcmp(a_file, b_file, a_stem) != 0);
}

/* The first type displayed like TYPE, or TYPE itself.  Two labels with the same hash are not
 * merged: the later one gets its own row. */
static gcd_status find_twin(struct v8_names *n, struct gcd_idmap *seen, uint32_t type,
                            uint32_t *ret, struct gcd_error *err)
{
    struct label own = label_of(n, type), other;
    uint64_t hash = label_hash(&own);
    uint32_t twin = gcd_idmap_get(seen, hash);
    *ret = type;
    if (twin != GCD_IDMAP_NONE &&
        strcmp(own.text[0], write_type_name(n->options, n->g, twin)) == 0 &&
        other_module(n, type, twin)) {
        n->types[type].with_module = true;
        own = label_of(n, type);
        hash = label_hash(&own);
        twin = gcd_idmap_get(seen, hash);
    }
    if (twin == GCD_IDMAP_NONE)
        return gcd_idmap_put(seen, hash, type) ? GCD_OK
                                               : gcd_fail_nomem(err, "numbering the names");
    other = label_of(n, twin);
    if (label_equal(&own, &other))
        *ret = twin;
    return GCD_OK;
}

static gcd_status number_types(struct v8_names *n, struct gcd_error *err)
{
    struct gcd_idmap seen;
    gcd_idmap_init(&seen, &n->alloc);
    gcd_status st = GCD_OK;
    for (uint32_t i = 0; i < n->type_count && st == GCD_OK; i++) {
        struct v8_type_name *t = &n->types[i];
        uint32_t twin;
        st = find_twin(n, &seen, i, &twin, err);
        if (st != GCD_OK)
            break;
        t->string = twin == i ? n->count++ : n->types[twin].string;
        char digits[GCD_DEC_ROOM + 1], *end = gcd_dec_put(digits, t->string);
        *end++ = ',';
        memcpy(t->begin, " ,", 2);
        memcpy(t->begin + 2, digits, (size_t)(end - digits));
        t->begin_n = (uint8_t)(2 + (end - digits));
    }
    gcd_idmap_done(&seen);
    return st;
}

static gcd_status number_fields(struct v8_names *n, struct gcd_error *err)
{
    GCD_TRY(gcd_fields_new(n->g, &n->alloc, &n->fields, err));
    uint32_t fields = gcd_fields_slot_count(n->fields);
    if (gcd_fields_type_count(n->fields) == 0 || fields > UINT32_MAX - n->count) {
        gcd_fields_free(n->fields);
        n->fields = NULL;
        return GCD_OK;
    }
    n->first_field = n->count;
    n->count += fields;
    return GCD_OK;
}

/* Texts get a string each, even if what may be written of two is the same: nodes with texts are of
 * one class for all viewers. */
static gcd_status number_texts(struct v8_names *n, struct gcd_error *err)
{
    bool any = false;
    for (uint32_t i = 0; i < n->type_count; i++) {
        n->types[i].texts = write_has_texts(n->options, n->g, i);
        any = any || n->types[i].texts;
    }
    if (!any)
        return GCD_OK;
    const struct gcd_values *values = n->options->values->values;
    uint32_t count = gcd_values_text_count(values);
    if (count > UINT32_MAX - n->count)
        return gcd_fail(err, GCD_E_LIMIT, "%u texts are too many for this format", (unsigned)count);
    n->texts = gcd_mem_new_array(&n->alloc, count, sizeof *n->texts);
    if (n->texts == NULL && count > 0)
        return gcd_fail_nomem(err, "numbering the texts");
    n->text_count = count;
    for (uint32_t i = 0; i < count; i++)
        n->texts[i] = gcd_values_text(values, i).utf8 != NULL ? n->count++ : 0;
    return GCD_OK;
}

uint32_t v8_names_text(const struct v8_names *n, uint32_t node)
{
    uint32_t text = write_text_of(n->options, n->g, node);
    return text < n->text_count ? n->texts[text] : 0;
}

gcd_status v8_names_init(struct v8_names *n, const struct gcd_alloc *alloc,
                         const struct gcd_graph *g, const struct gcd_write_options *options,
                         struct gcd_error *err)
{
    *n = (struct v8_names){ .alloc = *alloc, .g = g, .options = options };
    uint32_t types = gcd_graph_summary(g)->type_count;
    size_t roots = gcd_graph_summary(g)->root_count;
    if (roots > UINT32_MAX / 2 || types > UINT32_MAX / 4)
        return gcd_fail(err, GCD_E_LIMIT, "%zu roots are too many for this format", roots);
    for (size_t i = 0; i < roots; i++)
        n->groups[gcd_root_group(&gcd_graph_summary(g)->roots[i])]++;
    GCD_TRY(frozen_nodes_find(&n->frozen, g, &n->alloc, err));
    n->groups[V8_FROZEN] = n->frozen.count;
    n->count = 2;
    for (unsigned i = 0; i < V8_GROUPS; i++)
        if (n->groups[i] > 0)
            n->group[i] = n->count++;
    n->first_static = n->count;
    n->count += (uint32_t)n->groups[GCD_GROUP_STATICS];
    n->first_weak = n->count;
    n->count += (uint32_t)n->groups[GCD_GROUP_WEAK];
    n->dependent = n->count;
    n->count += gcd_graph_dependent_count(g) > 0;
    n->first_type = n->count;
    n->types = gcd_mem_new_array(&n->alloc, types, sizeof *n->types);
    if (n->types == NULL && types > 0)
        return gcd_fail_nomem(err, "numbering the names");
    n->type_count = types;
    GCD_TRY(number_types(n, err));
    GCD_TRY(number_fields(n, err));
    return number_texts(n, err);
}

void v8_names_done(struct v8_names *n)
{
    gcd_mem_free(&n->alloc, n->types, n->type_count * sizeof *n->types);
    gcd_mem_free(&n->alloc, n->texts, n->text_count * sizeof *n->texts);
    frozen_nodes_done(&n->frozen, &n->alloc);
    gcd_fields_free(n->fields);
}

/* ---- writing ---- */

/* N bytes of UTF-8 inside a JSON string. */
static void put_json(struct gcd_sink *s, const char *text, size_t n)
{
    json_put_inside(&(struct json_put){ .s = s }, text, n);
}

static void put_without_spaces(struct gcd_sink *s, const char *text, size_t n)
{
    for (size_t i = 0; i < n;) {
        if (text[i] == ' ') {
            i++;
            continue;
        }
        const char *space = memchr(text + i, ' ', n - i);
        size_t word = space != NULL ? (size_t)(space - text) - i : n - i;
        put_json(s, text + i, word);
        i += word;
    }
}

/*
 * DevTools takes a name that begins with '<' for an HTML element, and "Detached <" for one outside
 * the page, and cuts it at the next space; a name without spaces is shown completely.
 */
static void put_type(const struct v8_names *n, struct gcd_sink *s, uint32_t type)
{
    static const char detached[] = "Detached ";
    const char *name = write_type_name(n->options, n->g, type), *rest = name;
    if (strncmp(name, detached, sizeof detached - 1) == 0)
        rest += sizeof detached - 1;
    bool tight = *rest == '<';
    size_t head = tight ? (size_t)(rest - name) : strlen(name);
    put_json(s, name, head);
    put_without_spaces(s, name + head, strlen(name + head));
    if (!n->types[type].with_module)
        return;
    size_t file_n, stem;
    const char *file =
        write_module_file(gcd_graph_summary(n->g)->types[type].module_path, &file_n, &stem);
    gcd_sink_text(s, tight ? "[" : " [");
    if (tight)
        put_without_spaces(s, file, stem);
    else
        put_json(s, file, stem);
    gcd_sink_text(s, "]");
}

static void put_static(const struct v8_names *n, struct gcd_sink *s, const struct gcd_root *r)
{
    const char *type = write_type_name(n->options, n->g, r->type);
    gcd_sink_text(s, ",\"");
    if (gcd_static_is_labelled(r)) {
        put_json(s, r->label, strlen(r->label));
    } else {
        put_json(s, type, strlen(type));
        if (r->name[0] != '\0') {
            gcd_sink_text(s, ".");
            put_json(s, r->name, strlen(r->name));
        }
    }
    gcd_sink_text(s, "\"");
}

/* The text, "(token)" if it looks like a secret, with "…" if it is cut. */
static void put_text(const struct v8_names *n, struct gcd_sink *s, uint32_t text)
{
    struct gcd_text t = gcd_values_text(n->options->values->values, text);
    const char *secret = gcd_values_secret(n->options->values, &t);
    gcd_sink_text(s, secret != NULL ? ",\"(" : ",\"");
    if (secret != NULL)
        put_json(s, secret, strlen(secret));
    else
        put_json(s, t.utf8, t.bytes);
    gcd_sink_text(s, secret != NULL ? ")\"" : t.cut ? "…\"" : "\"");
}

gcd_status v8_names_write(const struct v8_names *n, struct gcd_sink *s, struct gcd_error *err)
{
    const struct gcd_summary *summary = gcd_graph_summary(n->g);
    gcd_sink_text(s, "[\"\",\"(GC roots)\"");
    for (unsigned i = 0; i < V8_GROUPS; i++)
        if (n->groups[i] > 0) {
            gcd_sink_text(s, ",\"");
            gcd_sink_text(s, group_names[i]);
            gcd_sink_text(s, "\"");
        }
    for (size_t i = 0; i < summary->root_count; i++)
        if (gcd_root_group(&summary->roots[i]) == GCD_GROUP_STATICS)
            put_static(n, s, &summary->roots[i]);
    for (uint64_t i = 0; i < n->groups[GCD_GROUP_WEAK]; i++) {
        char *p = gcd_sink_reserve(s, GCD_DEC_ROOM + 4), *q = p;
        memcpy(q, ",\"", 2);
        q = gcd_dec_put(q + 2, i);
        *q++ = '"';
        gcd_sink_advance(s, (size_t)(q - p));
    }
    if (gcd_graph_dependent_count(n->g) > 0)
        gcd_sink_text(s, ",\"dependent handle\"");
    uint32_t next = n->first_type;
    for (uint32_t i = 0; i < n->type_count; i++) {
        if (n->types[i].string != next)
            continue; /* an earlier type has the same name */
        next++;
        gcd_sink_text(s, ",\"");
        put_type(n, s, i);
        gcd_sink_text(s, "\"");
        if (next % WRITE_CHECK_EVERY == 0)
            GCD_TRY(write_check(n->options, s, 1, 1, err));
    }
    for (uint32_t i = 0; n->fields != NULL && i < gcd_fields_slot_count(n->fields); i++) {
        const char *name = gcd_fields_slot_name(n->fields, i);
        gcd_sink_text(s, ",\"");
        put_json(s, name, strlen(name));
        gcd_sink_text(s, "\"");
        if (i % WRITE_CHECK_EVERY == 0)
            GCD_TRY(write_check(n->options, s, 1, 1, err));
    }
    for (uint32_t i = 0; i < n->text_count; i++) {
        if (n->texts[i] != 0)
            put_text(n, s, i);
        if (i % WRITE_CHECK_EVERY == 0)
            GCD_TRY(write_check(n->options, s, 1, 1, err));
    }
    gcd_sink_text(s, "]");
    return gcd_sink_status(s, err);
}
