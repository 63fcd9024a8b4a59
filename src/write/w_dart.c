/*
 * Dart VM heap snapshot, for Dart and Flutter DevTools.
 *
 *     "dartheap" flags name shallowSize capacity externalSize
 *     classes       Root, groups of roots, used types, decoys
 *     objects       the root, one for each group, then the heap; numbered from 1, 0 means "not in
 *                   the file"
 *     no external properties; identity hash codes, from a memory image whose values may be written;
 *     a checksum, see base/file_sums.h
 *
 * Numbers are LEB128.  The public description and real readers disagree in places; README.md in
 * this folder says what we write and why.
 */
#include <string.h>

#include <gcdumpc/unstable/fields.h>
#include <gcdumpc/unstable/image_numbers.h>
#include <gcdumpc/unstable/io/sink_room.h>
#include <gcdumpc/unstable/lengths.h>

#include "base/error.h"
#include "base/file_sums.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/text.h"
#include "io/sink_sum.h"
#include "write/write.h"

enum dart_data {
    DART_NO_DATA = 0,
    DART_BOOL = 2,
    DART_INTEGER = 3,
    DART_DOUBLE = 4,
    DART_LATIN1 = 5,
    DART_UTF16 = 6,
    DART_LENGTH = 7,
    DART_NAME = 8
};

#define ULEB_MAX 10
/* Room for an object without its references: class, size, data, number of references. */
#define OBJECT_BYTES       ((size_t)(3 * ULEB_MAX + 2))
#define REFERENCES_AT_ONCE (GCD_SINK_RESERVE_MAX / ULEB_MAX)
#define ROOT_OBJECT        1u

/* The integer types of the readers: see README.md. */
#define CLASS_BYTES_MAX ((uint64_t)INT32_MAX)
#define HEAP_BYTES_MAX  ((uint64_t)UINT32_MAX)
#define CLASSES_MAX     65535u

static const struct {
    const char *class_name, *name;
} groups[GCD_GROUPS] = {
    [GCD_GROUP_STATICS] = { "[static variables]", "static" },
    [GCD_GROUP_LOCALS] = { "[local variables]", "local" },
    [GCD_GROUP_FINALIZER] = { "[finalizer queue]", "finalizer" },
    [GCD_GROUP_STRONG_HANDLES] = { "[handles]", "handle" },
    [GCD_GROUP_PINNED_HANDLES] = { "[pinned handles]", "pinned" },
    [GCD_GROUP_REFCOUNTED] = { "[ref-counted handles]", "ref-counted" },
    [GCD_GROUP_OTHER] = { "[other roots]", "other" },
};

/* Classes of the Dart VM without which the command line tool fails.  They have no instances. */
static const struct {
    const char *name, *library, *fields[2];
} decoys[] = {
    { "_OneByteString", "dart:core", { NULL } },
    { "_TwoByteString", "dart:core", { NULL } },
    { "_List", "dart:core", { NULL } },
    { "_ImmutableList", "dart:core", { NULL } },
    { "_WeakProperty", "dart:core", { "key_", "value_" } },
    { "_WeakReference", "dart:core", { NULL } },
    { "PatchClass", "dart:core", { NULL } },
    { "FinalizerEntry", "dart:_internal", { "detach_", "value_" } },
};
#define DECOYS (sizeof decoys / sizeof *decoys)

struct dart {
    struct gcd_alloc alloc;
    const struct gcd_graph *g;
    struct gcd_sink *out;
    const struct gcd_write_options *options;
    uint32_t types;
    uint32_t *class_id;              /* [types]; 0 = not used */
    struct gcd_length_rule *lengths; /* [types] */
    struct gcd_fields *fields;
    /* [types] if all fields of all objects of a type are certain, also which are null: their number
     * and the references to nothing that are written for them; else 0 */
    struct dart_fields {
        uint32_t count;
        bool refers; /* an object has references */
        bool texts;  /* objects have texts that may be written */
        uint64_t nulls;
    } * of_type;
    uint32_t *places; /* [place_room] of the references of an object */
    size_t place_room;
    uint64_t nulls; /* of all types */
    uint64_t group_roots[GCD_GROUPS];
    /* number of non-empty groups that are written: without the weak one */
    uint32_t group_count;
    uint32_t nodes;                    /* number written: without the unknown one */
    bool values;                       /* may be written */
    struct gcd_image_numbers *numbers; /* NULL = none may be written, or there is no image */
    uint32_t class_count;
    uint64_t first_object; /* number of node 0 */
    uint64_t done;         /* objects and references */
};

static inline char *put_uleb(char *p, uint64_t v)
{
    while (v >= 0x80) {
        *p++ = (char)(v | 0x80);
        v >>= 7;
    }
    *p++ = (char)v;
    return p;
}

static void put_number(struct gcd_sink *s, uint64_t v)
{
    char *p = gcd_sink_reserve(s, ULEB_MAX);
    gcd_sink_advance(s, (size_t)(put_uleb(p, v) - p));
}

static void put_text(struct gcd_sink *s, const char *text)
{
    size_t n = strlen(text);
    put_number(s, n);
    gcd_sink_write(s, text, n);
}

/* The number of an object in the file; the unknown node has none, which is 0. */
static inline uint64_t object_id(const struct dart *d, uint32_t node)
{
    return node < d->nodes ? d->first_object + node : 0;
}

/* ---- fields ---- */

/*
 * A reader takes the references of an object for its fields in order, so a class can have fields
 * only if every object of it tells them.  Objects of a type that can be unloaded refer to their
 * loader allocator, which is in no field: they have none.
 */
static gcd_status find_fields(struct dart *d, struct gcd_error *err)
{
    uint32_t first;
    GCD_TRY(gcd_fields_new(d->g, &d->alloc, &d->fields, err));
    d->of_type = gcd_mem_new_array(&d->alloc, d->types, sizeof *d->of_type);
    if (d->of_type == NULL)
        return gcd_fail_nomem(err, "numbering the fields");
    for (uint32_t i = 0; i < d->types; i++) {
        d->of_type[i].texts = write_has_texts(d->options, d->g, i);
        if (!gcd_fields_has_fields(d->fields, i))
            continue;
        d->of_type[i].count = gcd_fields_of_type(d->fields, i, &first);
        d->place_room = d->of_type[i].count > d->place_room ? d->of_type[i].count : d->place_room;
    }
    d->places = gcd_mem_new_array(&d->alloc, d->place_room, sizeof *d->places);
    return d->places != NULL ? GCD_OK : gcd_fail_nomem(err, "numbering the fields");
}

static gcd_status check_fields(struct dart *d, struct gcd_error *err)
{
    GCD_TRY(find_fields(d, err));
    for (uint32_t i = 0; i < d->nodes; i++) {
        size_t n;
        struct dart_fields *t = &d->of_type[gcd_graph_node_type(d->g, i)];
        (void)gcd_graph_node_edges(d->g, i, &n);
        if (i % WRITE_CHECK_EVERY == 0)
            GCD_TRY(write_check(d->options, d->out, 0, 1, err));
        t->refers = t->refers || n > 0;
        if (t->count == 0)
            continue;
        /* a layout from a hostile recording could make the file grow without bounds */
        bool fits = n <= t->count && t->count <= gcd_graph_node_size(d->g, i) / 4;
        if (fits && gcd_fields_places(d->fields, i, d->places))
            t->nulls += t->count - n;
        else
            *t = (struct dart_fields){ .refers = true };
    }
    for (uint32_t i = 0; i < d->types; i++)
        d->nulls += d->of_type[i].nulls;
    return GCD_OK;
}

/* Puts the N TARGETS of NODE into D->places, where they are in its fields; the others are 0. */
static void spread_over_fields(struct dart *d, uint32_t node, const uint32_t *targets, size_t n,
                               uint32_t count)
{
    bool certain = gcd_fields_places(d->fields, node, d->places); /* checked before */
    for (size_t k = count, i = certain ? n : 0; k-- > 0;)         /* a place is never below I */
        d->places[k] = i > 0 && d->places[i - 1] == k ? targets[--i] : GCD_NODE_NONE;
}

/* ---- classes ---- */

static bool is_plain(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           strchr("._~-", c) != NULL;
}

static size_t encoded_bytes(const char *s, size_t n)
{
    size_t sum = n;
    for (size_t i = 0; i < n; i++)
        sum += is_plain(s[i]) ? 0 : 2;
    return sum;
}

static void put_encoded(struct gcd_sink *s, const char *text, size_t n)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < n; i++) {
        char *p = gcd_sink_reserve(s, 3);
        unsigned char c = (unsigned char)text[i];
        bool plain = is_plain(text[i]);
        p[0] = plain ? (char)c : '%';
        p[1] = hex[c >> 4];
        p[2] = hex[c & 15];
        gcd_sink_advance(s, plain ? 1 : 3);
    }
}

/* A package named after the assembly: by default, DevTools shows libraries only if they are neither
 * empty nor "dart:". */
static void put_library_uri(struct gcd_sink *s, const char *module_path)
{
    static const char scheme[] = "package:";
    size_t n, stem;
    const char *file = write_module_file(module_path, &n, &stem);
    if (n == 0) {
        file = "unknown";
        n = stem = strlen(file);
    }
    put_number(s, sizeof scheme - 1 + encoded_bytes(file, stem) + 1 + encoded_bytes(file, n));
    gcd_sink_text(s, scheme);
    put_encoded(s, file, stem);
    gcd_sink_text(s, "/");
    put_encoded(s, file, n);
}

/* Writes a class up to the library's name, which is always empty: readers then use the URI. */
static void begin_class(struct gcd_sink *s, const char *name)
{
    put_number(s, 0);
    put_text(s, name);
    put_text(s, "");
}

static void put_field(struct gcd_sink *s, uint64_t index, const char *name)
{
    put_number(s, 1);
    put_number(s, index);
    put_text(s, name);
    put_text(s, "");
}

static void put_class(struct gcd_sink *s, const char *name, const char *uri,
                      const char *const *fields, size_t field_count)
{
    begin_class(s, name);
    put_text(s, uri);
    put_text(s, "");
    put_number(s, field_count);
    for (size_t i = 0; i < field_count; i++)
        put_field(s, i, fields[i]);
}

static gcd_status put_classes(struct dart *d, struct gcd_error *err)
{
    put_number(d->out, d->class_count + DECOYS);
    begin_class(d->out, "Root");
    put_text(d->out, "");
    put_text(d->out, DART_SUM_NAME);
    put_number(d->out, 0);
    for (unsigned i = 0; i < GCD_GROUPS; i++)
        if (groups[i].name != NULL && d->group_roots[i] > 0)
            put_class(d->out, groups[i].class_name, "", NULL, 0);
    for (uint32_t i = 0; i < d->types; i++) {
        if (d->class_id[i] == 0)
            continue;
        begin_class(d->out, write_type_name(d->options, d->g, i));
        put_library_uri(d->out, gcd_graph_summary(d->g)->types[i].module_path);
        put_text(d->out, "");
        uint32_t first, count = d->of_type[i].count;
        if (count > 0)
            (void)gcd_fields_of_type(d->fields, i, &first);
        put_number(d->out, count);
        for (uint32_t k = 0; k < count; k++)
            put_field(d->out, k, gcd_fields_slot_name(d->fields, first + k));
        if (i % WRITE_CHECK_EVERY == 0)
            GCD_TRY(write_check(d->options, d->out, 0, 1, err));
    }
    for (size_t i = 0; i < DECOYS; i++)
        put_class(d->out, decoys[i].name, decoys[i].library, decoys[i].fields,
                  decoys[i].fields[0] != NULL ? 2 : 0);
    return GCD_OK;
}

/* ---- objects ---- */

static gcd_status check(struct dart *d, struct gcd_error *err)
{
    return write_check(d->options, d->out, d->done, d->nodes + gcd_graph_edge_count(d->g), err);
}

static gcd_status put_group(struct dart *d, enum gcd_root_group group, uint32_t class_id,
                            struct gcd_error *err)
{
    const struct gcd_summary *summary = gcd_graph_summary(d->g);
    put_number(d->out, class_id);
    put_number(d->out, 0);
    put_number(d->out, DART_NAME);
    put_text(d->out, groups[group].name);
    put_number(d->out, d->group_roots[group]);
    for (size_t i = 0; i < summary->root_count; i++) {
        const struct gcd_root *r = &summary->roots[i];
        if (gcd_root_group(r) == group)
            put_number(d->out, object_id(d, r->node));
        if (i % WRITE_CHECK_EVERY == 0)
            GCD_TRY(check(d, err));
    }
    return GCD_OK;
}

/* Writes the root, which has class 1, and the groups, which have the next classes. */
static gcd_status put_roots(struct dart *d, struct gcd_error *err)
{
    put_number(d->out, ROOT_OBJECT);
    put_number(d->out, 0);
    put_number(d->out, DART_NO_DATA);
    put_number(d->out, d->group_count);
    uint32_t id = ROOT_OBJECT;
    for (uint32_t i = 0; i < d->group_count; i++)
        put_number(d->out, id + 1 + i);
    for (unsigned i = 0; i < GCD_GROUPS; i++)
        if (groups[i].name != NULL && d->group_roots[i] > 0)
            GCD_TRY(put_group(d, (enum gcd_root_group)i, ++id, err));
    return GCD_OK;
}

static gcd_status put_references(struct dart *d, const uint32_t *targets, size_t n,
                                 struct gcd_error *err)
{
    d->done += n;
    while (n > 0) {
        size_t part = n < REFERENCES_AT_ONCE ? n : REFERENCES_AT_ONCE;
        char *p = gcd_sink_reserve(d->out, part * ULEB_MAX), *q = p;
        for (size_t i = 0; i < part; i++)
            q = put_uleb(q, object_id(d, targets[i]));
        gcd_sink_advance(d->out, (size_t)(q - p));
        targets += part;
        n -= part;
        if (part == REFERENCES_AT_ONCE)
            GCD_TRY(check(d, err));
    }
    return GCD_OK;
}

/* ---- values ---- */

static void put_tag(struct gcd_sink *s, enum dart_data tag)
{
    gcd_sink_write(s, &(uint8_t){ (uint8_t)tag }, 1);
}

/* The next character of the text from *AT on. */
static uint32_t next_character(const struct gcd_text *t, uint32_t *at)
{
    uint32_t code;
    *at += (uint32_t)gcd_utf8_take((const uint8_t *)t->utf8 + *at, t->bytes - *at, &code);
    return code;
}

static void put_unit(struct gcd_sink *s, uint32_t unit, bool wide)
{
    gcd_sink_write(s, &(uint8_t[]){ (uint8_t)unit, (uint8_t)(unit >> 8) }, wide ? 2 : 1);
}

/* The units of UTF-16, or bytes of Latin-1 if those suffice, of the beginning of a string. */
static void put_string(struct dart *d, const struct gcd_text *t)
{
    uint64_t stored = 0;
    bool wide = false;
    for (uint32_t at = 0; at < t->bytes;) {
        uint32_t code = next_character(t, &at);
        wide = wide || code > 0xff;
        stored += code > 0xffff ? 2 : 1;
    }
    put_tag(d->out, wide ? DART_UTF16 : DART_LATIN1);
    put_number(d->out, t->length > stored ? t->length : stored);
    put_number(d->out, stored);
    for (uint32_t at = 0; at < t->bytes;) {
        uint32_t code = next_character(t, &at);
        if (code > 0xffff)
            put_unit(d->out, 0xd800 + ((code - 0x10000) >> 10), wide);
        put_unit(d->out, code > 0xffff ? 0xdc00 + (code & 0x3ff) : code, wide);
    }
}

/*
 * Readers take an integer for unsigned or for signed LEB128.  Both read the same number here: the
 * highest bit of the last group is 0, and a negative number has all its 64 bits.
 */
static void put_integer(struct gcd_sink *s, uint64_t bits)
{
    char *p = gcd_sink_reserve(s, ULEB_MAX + 1), *q = put_uleb(p, bits);
    if ((q[-1] & 0x40) != 0) {
        q[-1] = (char)(q[-1] | 0x80);
        *q++ = 0;
    }
    gcd_sink_advance(s, (size_t)(q - p));
}

/* A boxed value: its number, or the name by which people know it. */
static void put_boxed(struct dart *d, const struct gcd_number *x)
{
    char text[GCD_NUMBER_BYTES];
    bool integer =
        x->kind == GCD_NUMBER_SIGNED || (x->kind == GCD_NUMBER_UNSIGNED && x->bits <= INT64_MAX);
    if (x->kind == GCD_NUMBER_BOOL) {
        put_tag(d->out, DART_BOOL);
        put_number(d->out, x->bits != 0);
    } else if (x->kind == GCD_NUMBER_REAL) {
        put_tag(d->out, DART_DOUBLE);
        uint8_t bytes[8];
        for (unsigned i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)(x->bits >> 8 * i);
        gcd_sink_write(d->out, bytes, sizeof bytes);
    } else if (integer && x->name == NULL) {
        put_tag(d->out, DART_INTEGER);
        put_integer(d->out, x->bits);
    } else {
        put_tag(d->out, DART_NAME);
        put_text(d->out, gcd_number_text(x, text));
    }
}

/* Writes the data of an object that has a value; false: it has none that may be written. */
static bool put_value(struct dart *d, uint32_t node)
{
    struct gcd_number x;
    if (d->of_type[gcd_graph_node_type(d->g, node)].texts) {
        uint32_t text = write_text_of(d->options, d->g, node);
        struct gcd_text t = { .utf8 = NULL };
        if (text != GCD_TEXT_NONE)
            t = gcd_values_text(d->options->values->values, text);
        if (t.utf8 == NULL || gcd_values_secret(d->options->values, &t) != NULL)
            return false;
        put_string(d, &t);
        return true;
    }
    if (d->numbers == NULL ||
        gcd_image_boxed(d->numbers, gcd_graph_node_address(d->g, node), &x) != GCD_OK)
        return false;
    put_boxed(d, &x);
    return true;
}

/* ---- objects ---- */

static gcd_status put_object(struct dart *d, uint32_t node, size_t *dependent,
                             struct gcd_error *err)
{
    size_t n, first = *dependent, dependents = gcd_graph_dependent_count(d->g);
    const uint32_t *targets = gcd_graph_node_edges(d->g, node, &n);
    uint32_t type = gcd_graph_node_type(d->g, node);
    uint64_t size = gcd_graph_node_size(d->g, node), length;
    while (*dependent < dependents && gcd_graph_dependent(d->g, *dependent)->key == node)
        ++*dependent;
    char *p = gcd_sink_reserve(d->out, OBJECT_BYTES), *q = p;
    q = put_uleb(q, d->class_id[type]);
    q = put_uleb(q, size);
    bool value = false;
    if (d->values) {
        gcd_sink_advance(d->out, (size_t)(q - p));
        value = put_value(d, node);
        q = p = gcd_sink_reserve(d->out, OBJECT_BYTES);
    }
    if (value) {
        /* its data are written */
    } else if (gcd_length_of(&d->lengths[type], size, &length)) {
        *q++ = DART_LENGTH;
        q = put_uleb(q, length);
    } else {
        *q++ = DART_NO_DATA;
    }
    uint32_t fields = d->of_type[type].count;
    if (fields > 0) {
        spread_over_fields(d, node, targets, n, fields);
        targets = d->places;
        n = fields;
    }
    q = put_uleb(q, n + (*dependent - first));
    gcd_sink_advance(d->out, (size_t)(q - p));
    d->done++;
    GCD_TRY(put_references(d, targets, n, err));
    for (size_t i = first; i < *dependent; i++)
        GCD_TRY(put_references(d, &gcd_graph_dependent(d->g, i)->value, 1, err));
    return GCD_OK;
}

static gcd_status put_objects(struct dart *d, struct gcd_error *err)
{
    size_t dependent = 0;
    for (uint32_t i = 0; i < d->nodes; i++) {
        GCD_TRY(put_object(d, i, &dependent, err));
        if (i % WRITE_CHECK_EVERY == 0)
            GCD_TRY(check(d, err));
    }
    return GCD_OK;
}

/* In four bytes: readers of 32-bit numbers find the end of the file, too. */
#define HASH_CODE_BYTES 4u
static void put_hash_code(struct gcd_sink *s, uint32_t code)
{
    uint8_t bytes[HASH_CODE_BYTES];
    for (unsigned i = 0; i < HASH_CODE_BYTES; i++)
        bytes[i] = (uint8_t)((code >> 7 * i & 0x7f) | (i + 1 < HASH_CODE_BYTES ? 0x80 : 0));
    gcd_sink_write(s, bytes, sizeof bytes);
}

/* Four zero bytes per object mean "none", both for readers of 32-bit numbers and of LEB128. */
static gcd_status put_identity_hash_codes(struct dart *d, uint64_t objects, struct gcd_error *err)
{
    if (d->numbers != NULL) {
        for (uint64_t i = 1; i < d->first_object; i++)
            put_hash_code(d->out, 0);
        for (uint32_t i = 0; i < d->nodes; i++) {
            put_hash_code(d->out, gcd_image_hash_code(d->numbers, gcd_graph_node_address(d->g, i)));
            if (i % WRITE_CHECK_EVERY == 0)
                GCD_TRY(check(d, err));
        }
        return GCD_OK;
    }
    for (uint64_t left = 4 * objects; left > 0;) {
        size_t part = left < GCD_SINK_RESERVE_MAX ? (size_t)left : GCD_SINK_RESERVE_MAX;
        memset(gcd_sink_reserve(d->out, part), 0, part);
        gcd_sink_advance(d->out, part);
        left -= part;
        if (part == GCD_SINK_RESERVE_MAX)
            GCD_TRY(check(d, err));
    }
    return GCD_OK;
}

static void put_sum(struct dart *d)
{
    const struct gcd_verdict *v = &gcd_graph_summary(d->g)->verdict;
    gcd_sink_text(d->out, DART_SUM_NAME);
    gcd_sink_text(d->out, !v->complete ? "i" : v->unverified ? "u" : "c");
    uint32_t sum = gcd_sink_sum(d->out);
    for (unsigned i = 0; i < 4; i++)
        gcd_sink_write(d->out, &(uint8_t){ (uint8_t)(sum >> 8 * i) }, 1);
}

/* ---- the file ---- */

static gcd_status find_values(struct dart *d, struct gcd_error *err)
{
    const struct gcd_values_view *view = d->options->values;
    d->values = view != NULL && view->show != GCD_SHOW_EQUAL;
    gcd_status st =
        d->values ? gcd_image_numbers_new(view, NULL, &d->alloc, &d->numbers, err) : GCD_OK;
    return st == GCD_END ? GCD_OK : st;
}

static gcd_status prepare(struct dart *d, struct gcd_error *err)
{
    const struct gcd_summary *summary = gcd_graph_summary(d->g);
    d->types = summary->type_count;
    d->nodes = gcd_graph_node_count(d->g) - (gcd_graph_unknown(d->g) != GCD_NODE_NONE);
    d->class_id = gcd_mem_new_array(&d->alloc, d->types, sizeof *d->class_id);
    d->lengths = gcd_mem_new_array(&d->alloc, d->types, sizeof *d->lengths);
    if (d->types > 0 && (d->class_id == NULL || d->lengths == NULL))
        return gcd_fail_nomem(err, "numbering the types");
    for (size_t i = 0; i < summary->root_count; i++)
        d->group_roots[gcd_root_group(&summary->roots[i])]++;
    for (unsigned i = 0; i < GCD_GROUPS; i++)
        d->group_count += groups[i].name != NULL && d->group_roots[i] > 0;
    d->first_object = ROOT_OBJECT + d->group_count + 1;
    d->class_count = ROOT_OBJECT + d->group_count;
    uint32_t unknown =
        d->nodes < gcd_graph_node_count(d->g) ? gcd_graph_node_type(d->g, d->nodes) : UINT32_MAX;
    for (uint32_t i = 0; i < d->types; i++)
        if (summary->types[i].objects > (i == unknown))
            d->class_id[i] = ++d->class_count;
    GCD_TRY(gcd_length_rules(summary, &d->alloc, d->lengths, err));
    GCD_TRY(check_fields(d, err));
    return find_values(d, err);
}

/* The known size of the heap including gaps; never less than its objects. */
static uint64_t capacity(const struct gcd_graph *g)
{
    const struct gcd_summary *summary = gcd_graph_summary(g);
    uint64_t sum = 0, bytes = summary->bytes;
    for (size_t i = 0; i < summary->range_count; i++)
        gcd_add_saturating(&sum, summary->ranges[i].used_bytes);
    return sum > bytes ? sum : bytes;
}

static gcd_status put_file(struct dart *d, struct gcd_error *err)
{
    const struct gcd_summary *f = gcd_graph_summary(d->g);
    const char *name =
        f->process_name[0] != '\0' || d->options->name == NULL ? f->process_name : d->options->name;
    gcd_sink_sum_begin(d->out);
    gcd_sink_text(d->out, "dartheap");
    put_number(d->out, 0);
    put_text(d->out, name);
    put_number(d->out, f->bytes);
    put_number(d->out, capacity(d->g));
    put_number(d->out, 0);
    GCD_TRY(put_classes(d, err));
    uint64_t strong = f->root_count - d->group_roots[GCD_GROUP_WEAK];
    uint64_t objects = d->first_object - 1 + d->nodes;
    put_number(d->out, d->group_count + strong + gcd_graph_edge_count(d->g) + d->nulls +
                           gcd_graph_dependent_count(d->g));
    put_number(d->out, objects);
    GCD_TRY(put_roots(d, err));
    GCD_TRY(put_objects(d, err));
    put_number(d->out, 0);
    GCD_TRY(put_identity_hash_codes(d, objects, err));
    put_sum(d);
    return gcd_sink_status(d->out, err);
}

static bool is_array(const struct gcd_type *t)
{
    size_t n = strlen(t->name);
    return n > 0 && t->name[n - 1] == ']';
}

/* Classes with references of which not all objects tell their fields. */
static uint64_t without_fields(const struct dart *d)
{
    const struct gcd_summary *f = gcd_graph_summary(d->g);
    uint64_t n = 0, with = 0;
    for (uint32_t i = 0; i < d->types; i++) {
        with += d->of_type[i].refers && d->of_type[i].count > 0;
        n += d->of_type[i].refers && d->of_type[i].count == 0 && !is_array(&f->types[i]);
    }
    return with > 0 ? n : 0; /* a recording without fields loses none */
}

static void note(const struct dart *d, struct gcd_write_notes *notes)
{
    uint64_t large = 0;
    const struct gcd_summary *f = gcd_graph_summary(d->g);
    for (uint32_t i = 0; i < d->types; i++)
        large += f->types[i].bytes > CLASS_BYTES_MAX;
    notes->objects = d->nodes;
    notes->edges = gcd_graph_edge_count(d->g) + gcd_graph_dependent_count(d->g);
    notes->roots = f->root_count - d->group_roots[GCD_GROUP_WEAK];
    notes->types = d->class_count - ROOT_OBJECT - d->group_count;
    write_note_root_losses(notes, d->g, false);
    write_note_loss(notes, d->group_roots[GCD_GROUP_STATICS], "static variable loses its name",
                    "static variables lose their names");
    write_note_loss(notes, gcd_graph_dependent_count(d->g),
                    "dependent handle becomes a reference of its key",
                    "dependent handles become references of their keys");
    write_note_loss(notes, without_fields(d),
                    "class has no fields: one of its objects does not tell them",
                    "classes have no fields: an object of each does not tell them");
    write_note_loss(notes, large,
                    "type has more than 2 GiB of objects, which some readers miscount",
                    "types have more than 2 GiB of objects, which some readers miscount");
    write_note_loss(notes, f->bytes > HEAP_BYTES_MAX ? f->bytes : 0,
                    "bytes of objects are more than DevTools can sum up",
                    "bytes of objects are more than DevTools can sum up");
    write_note_loss(notes, d->class_count > CLASSES_MAX ? d->class_count : 0,
                    "classes are more than some readers can number",
                    "classes are more than some readers can number");
}

static gcd_status dart_write(const struct gcd_graph *g, struct gcd_sink *s,
                             const struct gcd_write_options *options, struct gcd_write_notes *notes,
                             struct gcd_error *err)
{
    struct dart d = {
        .alloc = gcd_alloc_or_default(options->context.alloc), .g = g, .out = s, .options = options
    };
    gcd_status st = prepare(&d, err);
    if (st == GCD_OK)
        st = put_file(&d, err);
    if (st == GCD_OK)
        note(&d, notes);
    gcd_mem_free(&d.alloc, d.class_id, d.types * sizeof *d.class_id);
    gcd_mem_free(&d.alloc, d.lengths, d.types * sizeof *d.lengths);
    gcd_mem_free(&d.alloc, d.of_type, d.types * sizeof *d.of_type);
    gcd_mem_free(&d.alloc, d.places, d.place_room * sizeof *d.places);
    gcd_fields_free(d.fields);
    gcd_image_numbers_free(d.numbers);
    return st;
}

const struct gcd_format gcd_w_dart = {
    .name = "dart",
    .suffix = ".dartheap",
    .about = "Dart VM heap snapshot (binary)",
    .size_percent = 30,
    .names = GCD_NAMES_CSHARP,
    .values = true,
    .write_graph = dart_write,
};
