/*
 * The FastSerialization container of a .gcdump and its classes.  Notes only positions, and compares
 * every count with the remaining bytes; the objects nest in one fixed way, so no recursion is
 * needed.
 */
#include <string.h>

#include "base/context.h"
#include "base/error.h"
#include "base/file_sums.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "read/gcdump_in.h"

#define SIGNATURE_BYTES 24
/* Also limits a compressed file, which is held in memory: this many bytes, plus a multiple of its
 * size. */
#define PLAUSIBLE_BYTES ((size_t)256 << 20)
#define PLAUSIBLE_RATIO 64u
/* No type record, deferred type or segment is smaller. */
#define TYPE_BYTES     12
#define DEFERRED_BYTES 9
#define SEGMENT_BYTES  55

enum tag {
    TAG_NULL = 1,
    TAG_REFERENCE = 2,
    TAG_BEGIN = 4,
    TAG_BEGIN_PRIVATE = 5,
    TAG_END = 6,
    TAG_BYTE = 8,
    TAG_INT16 = 9,
    TAG_INT32 = 10,
    TAG_INT64 = 11,
    TAG_SKIP = 12,
    TAG_STRING = 13,
    TAG_BLOB = 14
};

enum class_id {
    CLASS_HEAP_DUMP,
    CLASS_GRAPH,
    CLASS_MODULE,
    CLASS_HEAP_INFO,
    CLASS_SEGMENT,
    CLASS_JS_HEAP,
    CLASS_INTEROP,
    CLASSES
};

static const struct {
    const char *name;
    uint32_t newest, oldest; /* supported versions */
} class_info[CLASSES] = {
    [CLASS_HEAP_DUMP] = { "GCHeapDump", 10, 4 },     [CLASS_GRAPH] = { "Graphs.MemoryGraph", 1, 0 },
    [CLASS_MODULE] = { "Graphs.Module", 0, 0 },      [CLASS_HEAP_INFO] = { "DotNetHeapInfo", 0, 0 },
    [CLASS_SEGMENT] = { "GCHeapDumpSegment", 1, 0 }, [CLASS_JS_HEAP] = { "JSHeapInfo", 0, 0 },
    [CLASS_INTEROP] = { "InteropInfo", 0, 0 },
};

/* ---- the file ---- */

gcd_status gcdump_load(struct gcdump_in *f, struct gcd_input *in, struct gcd_error *err)
{
    struct gcd_reader *r;
    const uint8_t *bytes;
    size_t n;
    gcd_status st;
    GCD_TRY(gcd_reader_new(in, &r, err));
    while ((st = gcd_reader_next(r, &bytes, &n, err)) == GCD_OK) {
        size_t need = gcd_size_sum(f->bytes, n);
        if (need > PLAUSIBLE_BYTES &&
            (need - PLAUSIBLE_BYTES) / PLAUSIBLE_RATIO > gcd_reader_position(r)) {
            st = gcd_fail(err, GCD_E_LIMIT,
                          "its compression ratio is above %u to 1, which no heap reaches",
                          PLAUSIBLE_RATIO);
            break;
        }
        /* grow by an eighth: the file may have a gigabyte, and doubling would take another one */
        if (need > f->room) {
            size_t room = gcd_size_sum(need, need / 8 + 65536);
            uint8_t *p = f->alloc.resize(f->alloc.ctx, f->file, f->room, room);
            if (p == NULL) {
                st = gcd_fail_nomem(err, "holding the file");
                break;
            }
            f->file = p;
            f->room = room;
        }
        memcpy(f->file + f->bytes, bytes, n);
        f->bytes = need;
        st = gcd_context_step(&f->options->context, gcd_reader_position(r),
                              f->options->progress_total, err);
        if (st != GCD_OK)
            break;
    }
    gcd_reader_free(r);
    return st == GCD_END ? GCD_OK : st;
}

/* ---- failures ---- */

gcd_status gcdump_bad(uint64_t off, const char *why, struct gcd_error *err)
{
    return gcd_fail_at(err, GCD_E_FORMAT, off, "the .gcdump is damaged at byte %llu: %s",
                       (unsigned long long)off, why);
}

/* The bytes are wrong, not missing. */
static void lie(struct gcdump_in *f, gcd_status st, const char *why)
{
    if (f->cur.err == GCD_OK)
        f->why = why;
    gcd_cur_fail(&f->cur, st);
}

static gcd_status report(const struct gcdump_in *f, struct gcd_error *err)
{
    const struct gcd_cur *c = &f->cur;
    if (f->why == NULL && !f->closed)
        return gcd_fail_at(err, GCD_E_TRUNCATED, c->err_off, "the .gcdump ends early, at byte %zu",
                           f->bytes);
    if (c->err == GCD_E_FORMAT)
        return gcdump_bad(c->err_off,
                          f->why != NULL ? f->why : "a length exceeds the remaining bytes", err);
    return gcd_fail_at(err, c->err, c->err_off, "%s", f->why);
}

/* ---- the container ---- */

static uint64_t load_label(const struct gcdump_in *f, size_t off)
{
    return gcd_leptr(f->file + off, f->label_bytes);
}

/* Nothing states the width of labels; the trailer fits for one width only. */
static void find_trailer(struct gcdump_in *f)
{
    for (f->label_bytes = 4; f->label_bytes <= 8; f->label_bytes += 4) {
        size_t w = f->label_bytes, n = f->bytes;
        if (n < SIGNATURE_BYTES + 2 * w || load_label(f, n - w) != n - 2 * w)
            continue;
        uint64_t table = load_label(f, n - 2 * w);
        if (table <= SIGNATURE_BYTES || table > n - 2 * w - 4 || f->file[table - 1] != TAG_END)
            continue;
        if (gcd_le32(f->file + table) != (n - 2 * w - table - 4) / w ||
            (n - 2 * w - table - 4) % w != 0)
            continue;
        f->closed = true;
        f->forward_table = table;
        f->sum_at = n - 3 * w;
        f->has_sum = w == 4 && gcd_le32(f->file + table) >= 2 &&
                     gcd_le32(f->file + f->sum_at - 4) == GCDUMP_SUM_MARK;
        return;
    }
    f->label_bytes = 4;
}

/* Continue at the end of a region.  Only forward, otherwise parsing might never end. */
static void go_forward(struct gcdump_in *f, uint32_t index)
{
    uint64_t now = gcd_cur_off(&f->cur);
    if (f->cur.err != GCD_OK)
        return;
    if (!f->closed) {
        lie(f, GCD_E_TRUNCATED,
            "the .gcdump ends early: the table at its end is missing, which it needs");
        return;
    }
    uint64_t to = index < gcd_le32(f->file + f->forward_table)
                      ? load_label(f, (size_t)f->forward_table + 4 + (size_t)index * f->label_bytes)
                      : 0;
    if (to < now || to > f->forward_table)
        lie(f, GCD_E_FORMAT, "a region ends before it begins");
    else
        gcd_cur_skip(&f->cur, (size_t)(to - now));
}

static struct gcdump_string read_string(struct gcdump_in *f)
{
    struct gcd_cur *c = &f->cur;
    uint32_t units = gcd_cur_u32(c);
    struct gcdump_string s = { .null = true };
    if (c->err != GCD_OK || units > INT32_MAX)
        return s;
    const uint8_t *p = c->p;
    if (units > gcd_cur_left(c)) {
        gcd_cur_fail(c, GCD_E_FORMAT);
        return s;
    }
    for (uint32_t i = 0; i < units; i++) {
        size_t n = p == c->end ? 1 : *p < 0x80 ? 1 : *p < 0xe0 ? 2 : 3;
        if (n > (size_t)(c->end - p)) {
            gcd_cur_fail(c, GCD_E_FORMAT);
            return s;
        }
        p += n;
    }
    s = (struct gcdump_string){ .off = (size_t)(c->p - f->file),
                                .bytes = (size_t)(p - c->p),
                                .units = units };
    c->p = p;
    return s;
}

static bool is(const struct gcdump_in *f, const struct gcdump_string *s, const char *text)
{
    size_t n = strlen(text);
    return !s->null && s->bytes == n && memcmp(f->file + s->off, text, n) == 0;
}

static uint64_t read_label(struct gcdump_in *f)
{
    return gcd_cur_ptr(&f->cur, f->label_bytes);
}

/* The type of an object: the first object of a class defines it, later ones refer to it. */
static const struct gcdump_class *read_type(struct gcdump_in *f)
{
    uint64_t label = gcd_cur_off(&f->cur);
    unsigned tag = gcd_cur_u8(&f->cur);
    if (tag == TAG_REFERENCE) {
        label = read_label(f);
        for (size_t i = 0; i < f->class_count; i++)
            if (f->classes[i].label == label)
                return &f->classes[i];
        lie(f, GCD_E_FORMAT, "an object has a type that was not defined before it");
        return NULL;
    }
    if ((tag != TAG_BEGIN && tag != TAG_BEGIN_PRIVATE) || gcd_cur_u8(&f->cur) != TAG_NULL ||
        f->class_count == GCDUMP_CLASSES) {
        lie(f, GCD_E_FORMAT, "an object has no type");
        return NULL;
    }
    struct gcdump_class k = { .label = label, .class_id = CLASSES };
    k.version = gcd_cur_u32(&f->cur);
    k.minimum = gcd_cur_u32(&f->cur);
    struct gcdump_string name = read_string(f);
    if (gcd_cur_u8(&f->cur) != TAG_END) {
        lie(f, GCD_E_FORMAT, "the type of an object does not end");
        return NULL;
    }
    for (unsigned i = 0; i < CLASSES; i++)
        if (is(f, &name, class_info[i].name))
            k.class_id = i;
    if (k.class_id == CLASSES)
        lie(f, GCD_E_UNSUPPORTED, "the .gcdump holds an object of an unknown class");
    else if (k.minimum > 0 && (k.minimum > class_info[k.class_id].newest ||
                               k.version < class_info[k.class_id].oldest))
        lie(f, GCD_E_UNSUPPORTED, "the .gcdump has a version that is not supported");
    if (f->cur.err != GCD_OK)
        return NULL;
    f->classes[f->class_count++] = k;
    return &f->classes[f->class_count - 1];
}

/* Enters an object of CLASS_ID; NULL when there is none: a null or a failure. */
static const struct gcdump_class *begin_object(struct gcdump_in *f, enum class_id class_id)
{
    unsigned tag = gcd_cur_u8(&f->cur);
    if (f->cur.err != GCD_OK || tag == TAG_NULL)
        return NULL;
    if (tag != TAG_BEGIN && tag != TAG_BEGIN_PRIVATE) {
        lie(f, GCD_E_FORMAT, "an object is missing");
        return NULL;
    }
    const struct gcdump_class *k = read_type(f);
    if (k != NULL && k->class_id != class_id) {
        lie(f, GCD_E_FORMAT, "there is an object of another class where one is expected");
        return NULL;
    }
    return k;
}

/* Skips the remaining tagged fields, which later versions of the class have. */
static void end_object(struct gcdump_in *f)
{
    for (;;)
        switch (gcd_cur_u8(&f->cur)) {
        case TAG_END:
            return;
        case TAG_NULL:
            break;
        case TAG_BYTE:
            gcd_cur_skip(&f->cur, 1);
            break;
        case TAG_INT16:
            gcd_cur_skip(&f->cur, 2);
            break;
        case TAG_INT32:
            gcd_cur_skip(&f->cur, 4);
            break;
        case TAG_INT64:
            gcd_cur_skip(&f->cur, 8);
            break;
        case TAG_STRING:
            (void)read_string(f);
            break;
        case TAG_BLOB:
            gcd_cur_skip(&f->cur, gcd_cur_u32(&f->cur));
            break;
        case TAG_REFERENCE:
            (void)read_label(f);
            break;
        case TAG_SKIP:
            go_forward(f, gcd_cur_u32(&f->cur));
            break;
        default:
            lie(f, GCD_E_FORMAT, "an object does not end where it should");
            return;
        }
}

static bool next_is(const struct gcdump_in *f, enum tag tag)
{
    return gcd_cur_left(&f->cur) > 0 && *f->cur.p == tag;
}

/* ---- the graph ---- */

static void parse_types(struct gcdump_in *f)
{
    struct gcd_cur *c = &f->cur;
    uint32_t count = gcd_cur_u32(c);
    if (c->err != GCD_OK)
        return;
    if (count == 0 || count > gcd_cur_left(c) / TYPE_BYTES) {
        gcd_cur_fail(c, GCD_E_FORMAT);
        return;
    }
    f->types = gcd_mem_new_array(&f->alloc, count, sizeof *f->types);
    if (f->types == NULL) {
        lie(f, GCD_E_NOMEM, "out of memory while reading the types");
        return;
    }
    f->type_count = count;
    for (uint32_t t = 0; t < count && c->err == GCD_OK; t++) {
        struct gcdump_type *type = &f->types[t];
        type->name = read_string(f);
        type->size = (int32_t)gcd_cur_u32(c);
        type->module = read_string(f);
        gcdump_check_name(f, &type->name);
        gcdump_check_name(f, &type->module);
        type->number = GCDUMP_NONE;
        type->same = t;
        const uint8_t *name = f->file + type->name.off;
        type->bracketed =
            type->name.bytes >= 2 && name[0] == '[' && name[type->name.bytes - 1] == ']';
    }
}

static struct gcdump_string read_module(struct gcdump_in *f)
{
    struct gcd_cur *c = &f->cur;
    struct gcdump_string none = { .null = true };
    uint64_t label = gcd_cur_off(c);
    if (next_is(f, TAG_REFERENCE)) {
        gcd_cur_skip(c, 1);
        uint32_t i = gcd_idmap_get(&f->module_at, read_label(f));
        if (i == GCD_IDMAP_NONE) /* only backward references: anything else would cost its length
                                    again and again */
            lie(f, GCD_E_FORMAT, "there is no module where one is referred to");
        return i == GCD_IDMAP_NONE ? none : f->modules[i];
    }
    if (begin_object(f, CLASS_MODULE) == NULL)
        return none;
    struct gcdump_string path = read_string(f);
    gcd_cur_skip(c, 20); /* base, size (of 4 bytes), time */
    (void)read_string(f);
    gcd_cur_skip(c, 20); /* identity of the symbols */
    end_object(f);
    if (c->err != GCD_OK)
        return none;
    if (!gcd_vec_reserve(&f->alloc, &f->modules, &f->module_room, f->module_count + 1,
                         sizeof *f->modules, UINT32_MAX) ||
        !gcd_idmap_put(&f->module_at, label, (uint32_t)f->module_count)) {
        lie(f, GCD_E_NOMEM, "out of memory while reading the modules");
        return none;
    }
    f->modules[f->module_count++] = path;
    return path;
}

static void parse_deferred(struct gcdump_in *f)
{
    struct gcd_cur *c = &f->cur;
    uint32_t region = gcd_cur_u32(c), count = gcd_cur_u32(c);
    if (c->err != GCD_OK)
        return;
    if (count > f->type_count || count > gcd_cur_left(c) / DEFERRED_BYTES) {
        gcd_cur_fail(c, GCD_E_FORMAT);
        return;
    }
    f->deferred = gcd_mem_new_array(&f->alloc, count, sizeof *f->deferred);
    if (f->deferred == NULL) {
        lie(f, GCD_E_NOMEM, "out of memory while reading the types");
        return;
    }
    f->deferred_count = count;
    for (uint32_t i = 0; i < count && c->err == GCD_OK; i++) {
        f->deferred[i].id = gcd_cur_u32(c);
        f->deferred[i].module = read_module(f);
        f->deferred[i].suffix = read_string(f);
    }
    go_forward(f, region);
}

static uint64_t read_count(struct gcdump_in *f)
{
    return f->wide ? gcd_cur_u64(&f->cur) : gcd_cur_u32(&f->cur);
}

static size_t read_array(struct gcdump_in *f, uint64_t count, size_t item_bytes)
{
    const uint8_t *p = gcd_cur_array(&f->cur, count, item_bytes);
    return p != NULL ? (size_t)(p - f->file) : 0;
}

static void parse_graph(struct gcdump_in *f)
{
    struct gcd_cur *c = &f->cur;
    const struct gcdump_class *k = begin_object(f, CLASS_GRAPH);
    if (k == NULL) {
        lie(f, GCD_E_FORMAT, "there is no graph in it");
        return;
    }
    bool has_deferred = k->minimum >= 1;
    f->total = gcd_cur_u64(c);
    f->root = gcd_cur_u32(c);
    parse_types(f);
    uint64_t nodes = read_count(f);
    f->offsets = read_array(f, nodes, 4);
    f->blob_bytes = gcd_cur_u32(c);
    f->blob = read_array(f, f->blob_bytes, 1);
    if (has_deferred)
        parse_deferred(f);
    uint64_t addresses = read_count(f);
    f->addresses = read_array(f, addresses, 8);
    if (c->err == GCD_OK && (addresses != nodes || nodes >= GCD_NODE_NONE))
        lie(f, GCD_E_FORMAT, "the number of addresses differs from the number of nodes");
    if (c->err == GCD_OK && f->root >= nodes)
        lie(f, GCD_E_FORMAT, "the root is not one of the nodes");
    f->node_count = (uint32_t)nodes;
    if (next_is(f, TAG_BYTE)) {
        gcd_cur_skip(c, 1);
        f->is_64bit = gcd_cur_u8(c) != 0;
    }
    end_object(f);
}

/* ---- after the graph ---- */

static void parse_segments(struct gcdump_in *f)
{
    struct gcd_cur *c = &f->cur;
    f->segment_count = gcd_cur_u32(c);
    if (f->segment_count > gcd_cur_left(c) / SEGMENT_BYTES) {
        gcd_cur_fail(c, GCD_E_FORMAT);
        return;
    }
    f->segments = gcd_mem_new_array(&f->alloc, f->segment_count, sizeof *f->segments);
    if (f->segments == NULL) {
        lie(f, GCD_E_NOMEM, "out of memory while reading the segments");
        return;
    }
    for (uint32_t i = 0; i < f->segment_count && c->err == GCD_OK; i++) {
        const struct gcdump_class *k = begin_object(f, CLASS_SEGMENT);
        if (k == NULL) {
            lie(f, GCD_E_FORMAT, "an announced segment is missing");
            return;
        }
        for (unsigned w = 0; w < GCDUMP_SEGMENT_WORDS; w++)
            f->segments[i].words[w] =
                w < GCDUMP_SEGMENT_WORDS - 1 || k->version >= 1 ? gcd_cur_u64(c) : 0;
        end_object(f);
    }
}

static void parse_heap_info(struct gcdump_in *f)
{
    if (begin_object(f, CLASS_HEAP_INFO) == NULL)
        return;
    gcd_cur_skip(&f->cur, 8); /* size of all segments */
    parse_segments(f);
    end_object(f);
}

/* Nodes and pointers of COM wrappers: only their number is used. */
static void parse_interop(struct gcdump_in *f)
{
    struct gcd_cur *c = &f->cur;
    if (begin_object(f, CLASS_INTEROP) == NULL)
        return;
    if (gcd_cur_u32(c) > 0) {
        f->rcws = gcd_cur_u32(c);
        uint32_t ccws = gcd_cur_u32(c), interfaces = gcd_cur_u32(c), modules = gcd_cur_u32(c);
        (void)gcd_cur_array(c, f->rcws, 40);
        (void)gcd_cur_array(c, ccws, 32);
        (void)gcd_cur_array(c, interfaces, 33);
        for (uint32_t i = 0; i < modules && c->err == GCD_OK; i++) {
            gcd_cur_skip(c, 16);
            (void)read_string(f);
        }
    }
    end_object(f);
}

static void parse_process(struct gcdump_in *f)
{
    f->log = read_string(f);
    f->ticks = gcd_cur_u64(&f->cur);
    (void)read_string(f); /* machine */
    f->process_name = read_string(f);
    f->process = gcd_cur_u32(&f->cur);
    gcd_cur_skip(&f->cur, 16); /* commit, working set */
}

static void parse_old_facts(struct gcdump_in *f)
{
    struct gcd_cur *c = &f->cur;
    gcd_cur_skip(c, 25); /* sums */
    if (f->version >= 5)
        parse_process(f);
    if (f->version >= 6)
        parse_segments(f);
    if (f->version >= 7)
        f->is_64bit = gcd_cur_u8(c) != 0;
}

static void parse_facts(struct gcdump_in *f)
{
    struct gcd_cur *c = &f->cur;
    const uint32_t one = UINT32_C(0x3f800000); /* as float */
    gcd_cur_skip(c, 1);                        /* 64 bit: as in the graph */
    uint32_t count_multiplier = gcd_cur_u32(c), size_multiplier = gcd_cur_u32(c);
    f->sampled = count_multiplier != one || size_multiplier != one;
    f->javascript = begin_object(f, CLASS_JS_HEAP) != NULL;
    if (f->javascript)
        end_object(f);
    parse_heap_info(f);
    parse_process(f);
    uint32_t multipliers = gcd_cur_u32(c);
    if (multipliers != 0 && multipliers != f->type_count)
        lie(f, GCD_E_FORMAT, "the number of multipliers differs from the number of types");
    (void)gcd_cur_array(c, multipliers, 4);
    f->sampled = f->sampled || multipliers > 0;
    if (next_is(f, TAG_SKIP)) {
        gcd_cur_skip(c, 5);
        parse_interop(f);
    }
}

/* ---- the whole file ---- */

static void forget(struct gcdump_in *f)
{
    gcd_mem_free(&f->alloc, f->types, f->type_count * sizeof *f->types);
    gcd_mem_free(&f->alloc, f->deferred, f->deferred_count * sizeof *f->deferred);
    gcd_mem_free(&f->alloc, f->segments, f->segment_count * sizeof *f->segments);
    f->types = NULL;
    f->deferred = NULL;
    f->segments = NULL;
    f->type_count = f->deferred_count = f->segment_count = 0;
    f->class_count = f->module_count = 0;
    f->odd_names = false;
    gcd_idmap_clear(&f->module_at);
}

static gcd_status parse_as(struct gcdump_in *f, bool wide, struct gcd_error *err)
{
    forget(f);
    f->wide = wide;
    f->why = NULL;
    f->cur = gcd_cur_make(f->file, f->bytes, 0);
    gcd_cur_skip(&f->cur, SIGNATURE_BYTES);
    const struct gcdump_class *k = begin_object(f, CLASS_HEAP_DUMP);
    if (k == NULL) {
        lie(f, GCD_E_FORMAT, "there is no heap dump in it");
        return report(f, err);
    }
    f->version = k->version;
    if (f->version < class_info[CLASS_HEAP_DUMP].oldest ||
        f->version == 8) /* no program has ever read version 8 */
        lie(f, GCD_E_UNSUPPORTED, "the .gcdump has a version that is not supported");
    parse_graph(f);
    if (f->version < 8)
        parse_old_facts(f);
    else
        parse_facts(f);
    end_object(f);
    return f->cur.err == GCD_OK ? GCD_OK : report(f, err);
}

/* Does the last object end where the table after the objects begins? */
static bool fits(const struct gcdump_in *f)
{
    return f->closed && gcd_cur_off(&f->cur) + 1 == f->forward_table;
}

gcd_status gcdump_parse(struct gcdump_in *f, struct gcd_error *err)
{
    struct gcd_error first = GCD_ERROR_INIT;
    find_trailer(f);
    gcdump_check_sum(f);
    gcd_status st = parse_as(f, false, &first);
    f->fits = fits(f);
    if (f->closed && st != GCD_E_NOMEM && (st != GCD_OK || !f->fits)) {
        /* PerfView's command DotNetGCDumpFromETLFile writes node counts of 8 bytes without saying
         * so in the file: accepted if everything fits */
        gcd_status wide = parse_as(f, true, NULL);
        f->fits = wide == GCD_OK && fits(f);
        if (f->fits)
            return GCD_OK;
        if (wide == GCD_E_NOMEM)
            return report(f, err);
        if (st == GCD_OK)
            return parse_as(f, false, err);
    }
    if (st != GCD_OK && err != NULL)
        *err = first;
    return st;
}

/* ---- nodes ---- */

gcd_status gcdump_get_node(const struct gcdump_in *f, uint32_t n, struct gcdump_node *ret,
                           struct gcd_error *err)
{
    uint32_t off = gcdump_offset(f, n);
    const uint8_t *blob = f->file + f->blob;
    if (off >= f->blob_bytes)
        return gcdump_bad(f->offsets + (size_t)n * 4, "a node is outside the block of nodes", err);
    ret->p = blob + off;
    ret->end = blob + f->blob_bytes;
    int32_t type, children;
    if (!gcdump_cint(&ret->p, ret->end, &type) || (uint32_t)type >> 1 >= f->type_count)
        return gcdump_bad(f->blob + off, "a node has no valid type", err);
    ret->type = (uint32_t)type >> 1;
    ret->size = f->types[ret->type].size;
    if ((type & 1) != 0 && !gcdump_cint(&ret->p, ret->end, &ret->size))
        return gcdump_bad(f->blob + off, "the size of a node is missing", err);
    if (ret->size < 0 || !gcdump_cint(&ret->p, ret->end, &children) || children < 0 ||
        children > ret->end - ret->p)
        return gcdump_bad(f->blob + off, "a node has an impossible size or number of references",
                          err);
    ret->children = (uint32_t)children;
    return GCD_OK;
}

gcd_status gcdump_next_child(const struct gcdump_in *f, uint32_t n, struct gcdump_node *node,
                             uint32_t *ret, struct gcd_error *err)
{
    int32_t rel;
    if (!gcdump_cint(&node->p, node->end, &rel))
        return gcdump_bad(f->blob + f->blob_bytes, "references of a node are missing", err);
    int64_t child = (int64_t)n + rel;
    if (child < 0 || child >= f->node_count)
        return gcdump_bad((uint64_t)(node->p - f->file), "a reference leads to no node", err);
    *ret = (uint32_t)child;
    return GCD_OK;
}
