/*
 * Dart VM heap snapshots, written by a Dart VM or by w_dart.c.
 *
 * References are numbers of objects, and a builder wants all objects before the first reference, so
 * the file is read twice.  Object 1 is the root: it does not become an object, and its references
 * become roots.  In our own files, the next objects are groups of roots; they are recognised by
 * their classes and treated the same.  No memory is reserved because of a number in the file.
 */
#include <inttypes.h>
#include <string.h>

#include <gcdumpc/unstable/text/plural.h>

#include "base/cur.h"
#include "base/error.h"
#include "base/file_sums.h"
#include "base/hex.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/text.h"
#include "base/verdict.h"
#include "io/sink_sum.h"
#include "read/read.h"
#include "read/stream.h"

#define DEFAULT_TYPES   (UINT64_C(2) << 20)
#define DEFAULT_TEXT    (UINT64_C(1) << 30)
#define TARGETS_AT_ONCE ((size_t)1024)
/* Per object: class, size, data, number of references. */
#define OBJECT_BYTES_MIN 4
#define NO_TYPE          UINT32_MAX

static const char magic[] = "dartheap";
#define MAGIC_BYTES (sizeof magic - 1)

enum data_tag { NO_DATA, NULL_DATA, BOOL, INTEGER, DOUBLE, LATIN1, UTF16, LENGTH, NAME };

/* The root kind of a group, by the name of its class. */
static const struct {
    const char *name;
    unsigned kind;
    uint32_t flags;
} groups[] = {
    { "[static variables]", GCD_ROOT_STATIC, 0 },
    { "[local variables]", GCD_ROOT_STACK, 0 },
    { "[finalizer queue]", GCD_ROOT_FINALIZER, 0 },
    { "[handles]", GCD_ROOT_HANDLE, 0 },
    { "[pinned handles]", GCD_ROOT_HANDLE, GCD_ROOT_PINNED },
    { "[ref-counted handles]", GCD_ROOT_HANDLE, GCD_ROOT_REFCOUNTED },
    { "[other roots]", GCD_ROOT_OTHER, 0 },
};
#define GROUPS   (sizeof groups / sizeof *groups)
#define NO_GROUP GROUPS

struct dart_class {
    const char *name, *module;
    uint32_t type;   /* NO_TYPE until its first object */
    uint32_t group;  /* NO_GROUP, or the group represented by its instance */
    uint64_t fields; /* the first references of an object; 0 among them is a null */
};

struct dart {
    struct stream s;
    struct gcd_alloc alloc;
    const struct gcd_graph_options *options;
    struct gcd_build *b;
    struct gcd_error *err;
    struct gcd_textpool text; /* names of classes, used or not */
    struct dart_class *classes;
    size_t class_room;
    char *bytes; /* a string of the file */
    size_t bytes_room;
    bool again; /* second pass: compares or skips what the first one stored */
    uint64_t class_count, reference_count, object_count;
    /* of the objects read so far; the announced number may be larger */
    uint64_t references;
    /* objects at the start that represent roots: number 1, and the groups */
    uint64_t no_objects;
    uint64_t header_bytes, found_bytes; /* of all objects, as named and as found */
    bool ours;                          /* the class of the root says that there is a checksum */
    uint8_t tail[DART_SUM_BYTES];       /* of the file */
    size_t tail_n;
    uint32_t sum; /* of what is before the tail */
};

struct dart_object {
    uint64_t class_id, size_bytes, references;
};

static gcd_status changed(struct dart *d)
{
    return gcd_fail(d->err, GCD_E_FORMAT, "the input has changed since it was first read");
}

/* ---- strings ---- */

/* Reads a string of the file into d->bytes. */
static gcd_status read_text(struct dart *d, size_t *ret_n)
{
    const struct gcd_limits *limits = d->options->context.limits;
    uint64_t n = stream_uleb(&d->s),
             max = gcd_limit_or(limits != NULL ? limits->text_bytes : 0, DEFAULT_TEXT);
    size_t have = 0;
    if (n > max)
        return gcd_fail(d->err, GCD_E_LIMIT, "a name of %s bytes is longer than allowed",
                        GCD_DIGITS(n));
    while (have < n && d->s.st == GCD_OK) {
        const uint8_t *p;
        size_t part = stream_part(&d->s, n - have, &p);
        if (!gcd_vec_reserve(&d->alloc, &d->bytes, &d->bytes_room, have + part, 1,
                             gcd_size_of(max)))
            return gcd_fail_nomem(d->err, "reading a name");
        if (part > 0)
            memcpy(d->bytes + have, p, part);
        have += part;
    }
    *ret_n = have;
    return d->s.st;
}

static void skip_text(struct dart *d)
{
    stream_skip(&d->s, stream_uleb(&d->s));
}

static gcd_status keep_text(struct dart *d, const char *s, size_t n, const char **ret)
{
    gcd_status st = gcd_textpool_add_utf8(&d->text, (const uint8_t *)s, n, ret);
    if (st == GCD_E_LIMIT)
        return gcd_fail(d->err, GCD_E_LIMIT, "the names need more memory than allowed");
    return st == GCD_OK ? GCD_OK : gcd_fail_nomem(d->err, "reading the names");
}

static gcd_status read_kept_text(struct dart *d, const char **ret)
{
    size_t n;
    GCD_TRY(read_text(d, &n));
    return keep_text(d, d->bytes, n, ret);
}

/* ---- classes ---- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes percent-encoding in place; returns the new length. */
static size_t decode(char *s, size_t n)
{
    size_t to = 0;
    for (size_t i = 0; i < n; i++) {
        int high = s[i] == '%' && n - i > 2 ? hex_digit(s[i + 1]) : -1,
            low = high >= 0 ? hex_digit(s[i + 2]) : -1;
        s[to] = s[i];
        if (low >= 0) {
            s[to] = (char)(high << 4 | low);
            i += 2;
        }
        to++;
    }
    return to;
}

/*
 * The module is the URI of a library.  A .NET module is written as "package:A/A.dll" (or .exe, or
 * just A), which becomes "A.dll" again, or empty for "unknown".  RET_NONE: there is neither a URI
 * nor a library name.
 */
static gcd_status read_module(struct dart *d, const char *library, const char **ret, bool *ret_none)
{
    static const char scheme[] = "package:";
    size_t k = sizeof scheme - 1, n;
    GCD_TRY(read_text(d, &n));
    char *s = d->bytes,
         *slash = n > k && memcmp(s, scheme, k) == 0 ? memchr(s + k, '/', n - k) : NULL;
    *ret_none = n == 0 && library[0] == '\0';
    if (n == 0) {
        *ret = library;
        return GCD_OK;
    }
    if (slash != NULL) {
        size_t stem = (size_t)(slash - s) - k, rest = n - k - stem - 1;
        const char *file = slash + 1, *tail = file + stem;
        bool same = rest >= stem && memcmp(file, s + k, stem) == 0;
        if (same && (rest == stem || (rest == stem + 4 && (memcmp(tail, ".dll", 4) == 0 ||
                                                           memcmp(tail, ".exe", 4) == 0)))) {
            bool unknown = rest == 7 && memcmp(file, "unknown", 7) == 0;
            return keep_text(d, file, unknown ? 0 : decode(slash + 1, rest), ret);
        }
    }
    return keep_text(d, s, n, ret);
}

static gcd_status read_class(struct dart *d, struct dart_class *c)
{
    const char *library;
    (void)stream_uleb(&d->s);
    GCD_TRY(read_kept_text(d, &c->name));
    GCD_TRY(read_kept_text(d, &library));
    bool none;
    GCD_TRY(read_module(d, library, &c->module, &none));
    c->type = NO_TYPE;
    c->group = NO_GROUP;
    for (uint32_t i = 0; i < GROUPS && none; i++)
        if (strcmp(c->name, groups[i].name) == 0)
            c->group = i;
    return GCD_OK;
}

static gcd_status read_reserved(struct dart *d)
{
    size_t n;
    GCD_TRY(read_text(d, &n));
    d->ours = n == strlen(DART_SUM_NAME) && memcmp(d->bytes, DART_SUM_NAME, n) == 0;
    return GCD_OK;
}

static gcd_status read_classes(struct dart *d)
{
    uint64_t max = gcd_limit_or(
        d->options->context.limits != NULL ? d->options->context.limits->types : 0, DEFAULT_TYPES);
    for (uint64_t i = 0; i < d->class_count && d->s.st == GCD_OK; i++) {
        if (d->again) {
            (void)stream_uleb(&d->s);
            for (unsigned k = 0; k < 3; k++)
                skip_text(d);
        } else {
            if (i >= max)
                return gcd_fail(d->err, GCD_E_LIMIT, "there are more than %" PRIu64 " classes",
                                max);
            if (!gcd_vec_reserve(&d->alloc, &d->classes, &d->class_room, (size_t)i + 1,
                                 sizeof *d->classes, gcd_size_of(max)))
                return gcd_fail_nomem(d->err, "reading the classes");
            GCD_TRY(read_class(d, &d->classes[i]));
        }
        if (i == 0 && !d->again)
            GCD_TRY(read_reserved(d));
        else
            skip_text(d);
        uint64_t fields = stream_uleb(&d->s);
        if (!d->again)
            d->classes[i].fields = fields;
        for (; fields > 0 && d->s.st == GCD_OK; fields--) {
            (void)stream_uleb(&d->s);
            (void)stream_uleb(&d->s);
            skip_text(d);
            skip_text(d);
        }
    }
    return d->s.st;
}

/* Everything before the objects. */
static gcd_status read_header(struct dart *d)
{
    struct stream *s = &d->s;
    for (size_t i = 0; i < MAGIC_BYTES; i++) {
        const uint8_t *p;
        if (stream_part(s, 1, &p) == 1 && *p != (uint8_t)magic[i])
            stream_fail(s, i, "this is not a Dart heap snapshot");
    }
    (void)stream_uleb(s);
    size_t n;
    GCD_TRY(read_text(d, &n));
    if (!d->again)
        GCD_TRY(gcd_build_text(d->b, d->bytes, n, &gcd_build_summary(d->b)->process_name, d->err));
    d->header_bytes = stream_uleb(s);
    for (unsigned i = 0; i < 2; i++)
        (void)stream_uleb(s); /* capacity, bytes outside the heap */
    uint64_t classes = stream_uleb(s);
    if (d->again && s->st == GCD_OK && classes != d->class_count)
        return changed(d);
    d->class_count = classes;
    GCD_TRY(read_classes(d));
    uint64_t references = stream_uleb(s), objects = stream_uleb(s);
    if (d->again && s->st == GCD_OK &&
        (references != d->reference_count || objects != d->object_count))
        return changed(d);
    d->reference_count = references;
    d->object_count = objects;
    return s->st;
}

/* ---- objects ---- */

/* LEB128 of either sign: writers and readers disagree about integers. */
static void skip_integer(struct stream *s)
{
    const uint8_t *p;
    for (unsigned i = 0; i < 10; i++)
        if (stream_part(s, 1, &p) == 0 || *p < 0x80)
            return;
    stream_fail(s, stream_off(s), "a number has more than 64 bits");
}

static void skip_data(struct stream *s)
{
    uint64_t off = stream_off(s), tag = stream_uleb(s), n;
    switch (tag) {
    case NO_DATA:
    case NULL_DATA:
        break;
    case BOOL:
    case LENGTH:
        (void)stream_uleb(s);
        break;
    case INTEGER:
        skip_integer(s);
        break;
    case DOUBLE:
        stream_skip(s, 8);
        break;
    case LATIN1:
        (void)stream_uleb(s);
        stream_skip(s, stream_uleb(s));
        break;
    case UTF16:
        (void)stream_uleb(s);
        n = stream_uleb(s);
        stream_skip(s, n); /* twice, so that nothing can overflow */
        stream_skip(s, n);
        break;
    case NAME:
        stream_skip(s, stream_uleb(s));
        break;
    default:
        stream_fail(s, off, "an object has data of the unknown kind %" PRIu64, tag);
    }
}

static gcd_status read_object(struct dart *d, struct dart_object *o)
{
    struct stream *s = &d->s;
    uint64_t off = stream_off(s);
    o->class_id = stream_uleb(s);
    if (o->class_id == 0 || o->class_id > d->class_count)
        stream_fail(s, off, "an object is of class %" PRIu64 " of %" PRIu64, o->class_id,
                    d->class_count);
    o->size_bytes = stream_uleb(s);
    skip_data(s);
    off = stream_off(s);
    o->references = stream_uleb(s);
    if (o->references > d->reference_count - d->references)
        stream_fail(s, off, "the objects have more than the announced %" PRIu64 " references",
                    d->reference_count);
    d->references += s->st == GCD_OK ? o->references : 0;
    return s->st;
}

static inline uint64_t read_reference(struct dart *d)
{
    uint64_t off = stream_off(&d->s), to = stream_uleb(&d->s);
    if (to > d->object_count)
        stream_fail(&d->s, off, "a reference leads to object %" PRIu64 " of %" PRIu64, to,
                    d->object_count);
    return to;
}

static gcd_status use_class(struct dart *d, uint64_t id, uint32_t *ret)
{
    struct dart_class *c = &d->classes[id - 1];
    char made_up[32] = "Class 0x";
    bool named = c->name[0] != '\0';
    if (c->type == NO_TYPE) {
        if (!named)
            *gcd_hex_put(made_up + strlen(made_up), id) = '\0';
        struct gcd_type t = { .id = id,
                              .name = named ? c->name : made_up,
                              .module_path = c->module,
                              .described = true,
                              .named = named };
        GCD_TRY(gcd_build_type(d->b, &t, &c->type, d->err));
    }
    *ret = c->type;
    return GCD_OK;
}

/* First pass: the objects. */
static gcd_status read_nodes(struct dart *d, uint64_t input_bytes)
{
    if (d->object_count > GCD_NODE_NONE)
        return gcd_fail(d->err, GCD_E_LIMIT, "%s objects are too many for a graph",
                        GCD_DIGITS(d->object_count));
    if (input_bytes != UINT64_MAX && d->object_count <= input_bytes / OBJECT_BYTES_MIN &&
        d->object_count > 1)
        GCD_TRY(gcd_build_reserve(d->b, d->object_count - 1, 0, d->err));
    for (uint64_t id = 1; id <= d->object_count; id++) {
        struct dart_object o;
        GCD_TRY(read_object(d, &o));
        bool group = id > 1 && id == d->no_objects + 1 && o.size_bytes == 0 &&
                     d->classes[o.class_id - 1].group != NO_GROUP;
        if (id == 1 || group) {
            d->no_objects = id;
        } else {
            uint32_t type;
            GCD_TRY(use_class(d, o.class_id, &type));
            GCD_TRY(gcd_build_node(d->b, 0, type, o.size_bytes, d->err));
            d->found_bytes += o.size_bytes;
        }
        for (uint64_t i = 0; i < o.references && d->s.st == GCD_OK; i++)
            (void)read_reference(d);
    }
    /* external properties */
    for (uint64_t n = stream_uleb(&d->s); n > 0 && d->s.st == GCD_OK; n--) {
        (void)stream_uleb(&d->s);
        (void)stream_uleb(&d->s);
        skip_text(d);
    }
    /* identity hash codes of some kind, or none at all; our checksum */
    d->tail_n = stream_tail(&d->s, d->tail, sizeof d->tail);
    d->sum = d->s.sum;
    return d->s.st;
}

/*
 * The node of object ID.  0 means: in our files, a reference to a missing object; in a field, and
 * in the files of a Dart VM, a null.  False: not a reference at all.
 */
static inline bool node_of(const struct dart *d, uint64_t id, bool is_field, uint32_t *ret)
{
    *ret = id > d->no_objects ? (uint32_t)(id - d->no_objects - 1) : GCD_NODE_NONE;
    return id != 0 || (d->no_objects > 1 && !is_field);
}

static gcd_status read_edges(struct dart *d, const struct dart_object *o)
{
    uint64_t count = o->references, fields = d->classes[o->class_id - 1].fields, done = 0;
    uint32_t targets[TARGETS_AT_ONCE];
    GCD_TRY(gcd_build_next_node(d->b, d->err));
    while (count > 0) {
        size_t n = 0;
        for (size_t i = 0; i < TARGETS_AT_ONCE && count > 0; i++, count--)
            n += node_of(d, read_reference(d), done++ < fields, &targets[n]);
        if (d->s.st != GCD_OK)
            return d->s.st;
        GCD_TRY(gcd_build_edge_nodes(d->b, targets, n, d->err));
    }
    return GCD_OK;
}

static gcd_status read_roots(struct dart *d, uint64_t id, const struct dart_object *o)
{
    uint32_t group = id > 1 ? d->classes[o->class_id - 1].group : NO_GROUP;
    struct gcd_root r = { .name = "", .kind = GCD_ROOT_OTHER };
    if (id > 1 && group == NO_GROUP)
        return changed(d);
    if (id > 1) {
        r.kind = groups[group].kind;
        r.flags = groups[group].flags;
    }
    for (uint64_t i = 0; i < o->references; i++) {
        uint64_t to = read_reference(d);
        if (d->s.st != GCD_OK)
            return d->s.st;
        bool own = id == 1 && to <= d->no_objects; /* from the root to its groups */
        if (own || !node_of(d, to, false, &r.node))
            continue;
        r.type = r.node != GCD_NODE_NONE ? gcd_build_node_type(d->b, r.node) : 0;
        GCD_TRY(gcd_build_root(d->b, &r, d->err));
    }
    return GCD_OK;
}

/* Second pass: the references. */
static gcd_status read_references(struct dart *d)
{
    uint64_t before = d->references;
    GCD_TRY(gcd_build_nodes_end(d->b, d->err));
    GCD_TRY(gcd_build_reserve(d->b, 0, before, d->err));
    d->references = 0;
    for (uint64_t id = 1; id <= d->object_count; id++) {
        struct dart_object o;
        GCD_TRY(read_object(d, &o));
        GCD_TRY(id <= d->no_objects ? read_roots(d, id, &o) : read_edges(d, &o));
    }
    return d->references == before ? GCD_OK : changed(d);
}

/* ---- the file ---- */

static gcd_status read_once(struct dart *d, struct gcd_input *in)
{
    GCD_TRY(stream_open(&d->s, in, d->options, d->again, 2, d->err));
    gcd_status st = read_header(d);
    if (st == GCD_OK)
        st = d->again ? read_references(d) : read_nodes(d, gcd_input_size(in));
    stream_close(&d->s);
    return st;
}

/* Truncated files were refused. */
static void judge(struct dart *d)
{
    struct gcd_verdict *v = &gcd_build_summary(d->b)->verdict;
    size_t name_n = strlen(DART_SUM_NAME);
    bool has = d->tail_n == DART_SUM_BYTES && memcmp(d->tail, DART_SUM_NAME, name_n) == 0,
         right = has && gcd_sum(d->sum, d->tail, name_n + 1) == gcd_le32(d->tail + name_n + 1);
    v->complete = true;
    v->unverified = !right || d->tail[name_n] == 'u';
    if (has != d->ours || has != right)
        gcd_verdict_add(v, GCD_REASON_INPUT_DAMAGED, 0,
                        "the file was damaged after it was written: its checksum is %s",
                        has ? "wrong" : "missing");
    else if (!has && d->references != d->reference_count)
        gcd_verdict_add(v, GCD_REASON_INPUT_DAMAGED, 0,
                        "the file is damaged: it has %s references, not %" PRIu64 " as it says",
                        GCD_DIGITS(d->references), d->reference_count);
    else if (!has && d->no_objects > 1 &&
             d->found_bytes != d->header_bytes) /* a VM counts other memory, too */
        gcd_verdict_add(v, GCD_REASON_INPUT_DAMAGED, 0,
                        "the file is damaged: its objects have %s bytes, not %" PRIu64
                        " as it says",
                        GCD_DIGITS(d->found_bytes), d->header_bytes);
    if (right && d->tail[name_n] == 'i')
        gcd_verdict_add(v, GCD_REASON_LOSS_UNVERIFIED, 0,
                        "the dump was incomplete when this file was written");
}

static gcd_status dart_read(struct gcd_input *in, const struct gcd_graph_options *options,
                            struct gcd_build *b, struct gcd_error *err)
{
    static const struct gcd_graph_options defaults;
    struct dart d = { .options = options != NULL ? options : &defaults, .b = b, .err = err };
    d.alloc = gcd_alloc_or_default(d.options->context.alloc);
    gcd_textpool_init(
        &d.text, &d.alloc,
        gcd_limit_or(d.options->context.limits != NULL ? d.options->context.limits->text_bytes : 0,
                     DEFAULT_TEXT));
    gcd_status st = read_once(&d, in);
    d.again = true;
    if (st == GCD_OK)
        st = read_once(&d, in);
    if (st == GCD_OK)
        judge(&d);
    gcd_textpool_done(&d.text);
    gcd_mem_free(&d.alloc, d.classes, d.class_room * sizeof *d.classes);
    gcd_mem_free(&d.alloc, d.bytes, d.bytes_room);
    return st;
}

static bool dart_probe(const uint8_t *head, size_t n)
{
    return n >= MAGIC_BYTES && memcmp(head, magic, MAGIC_BYTES) == 0;
}

const struct graph_reader gcd_r_dart = { .name = "dart", .probe = dart_probe, .read = dart_read };
