#include "support/run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include <gcdumpc/unstable/image.h>

static void *need(void *p)
{
    if (p == NULL) {
        (void)fputs("run: out of memory\n", stderr);
        abort();
    }
    return p;
}

uint64_t run_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

bool run_is_utf8(const char *s, size_t n)
{
    /* by first byte: its range, the number of bytes that follow, the range of the second byte */
    static const uint8_t rows[][5] = {
        { 0x00, 0x7f, 0, 0, 0 },       { 0xc2, 0xdf, 1, 0x80, 0xbf }, { 0xe0, 0xe0, 2, 0xa0, 0xbf },
        { 0xe1, 0xec, 2, 0x80, 0xbf }, { 0xed, 0xed, 2, 0x80, 0x9f }, { 0xee, 0xef, 2, 0x80, 0xbf },
        { 0xf0, 0xf0, 3, 0x90, 0xbf }, { 0xf1, 0xf3, 3, 0x80, 0xbf }, { 0xf4, 0xf4, 3, 0x80, 0x8f },
    };
    for (size_t i = 0; i < n;) {
        const uint8_t *row = NULL, first = (uint8_t)s[i++];
        for (size_t k = 0; k < sizeof rows / sizeof *rows && row == NULL; k++)
            if (first >= rows[k][0] && first <= rows[k][1])
                row = rows[k];
        if (row == NULL || row[2] > n - i)
            return false;
        for (unsigned k = 0; k < row[2]; k++, i++) {
            uint8_t b = (uint8_t)s[i];
            if (b < (k == 0 ? row[3] : 0x80) || b > (k == 0 ? row[4] : 0xbf))
                return false;
        }
    }
    return true;
}

/* ---- text ---- */

struct text {
    char *s;
    size_t n, cap;
};

__attribute__((format(printf, 2, 3))) static void line(struct text *t, const char *fmt, ...)
{
    for (;;) {
        va_list ap;
        va_start(ap, fmt);
        int n = vsnprintf(t->s == NULL ? NULL : t->s + t->n, t->cap - t->n, fmt, ap);
        va_end(ap);
        if (n < 0)
            abort();
        if ((size_t)n + 1 < t->cap - t->n) {
            t->n += (size_t)n;
            t->s[t->n++] = '\n';
            t->s[t->n] = '\0';
            return;
        }
        t->cap = 2 * t->cap + (size_t)n + 256;
        t->s = need(realloc(t->s, t->cap));
    }
}

static void put_status(struct text *t, gcd_status st, const struct gcd_error *err)
{
    if (st < 0)
        line(t, "status %s at %" PRIu64 ": %s", gcd_status_name(st), err->off, err->msg);
    else
        line(t, "status %s", gcd_status_name(st));
}

static void put_trace(struct text *t, const struct gcd_trace_info *i)
{
    line(t, "container %s %u pointers %u process %" PRIu64 " processors %" PRIu32 " start %" PRId64,
         i->container, i->format_version, i->ptr_bytes, i->process, i->processors,
         i->start_unix_ms);
    line(t, "end %d bytes %" PRIu64 " damage %" PRIu64 " trailing %" PRIu64, (int)i->end, i->bytes,
         i->damage_off, i->trailing_bytes);
    line(t, "events %" PRIu64 " unknown %" PRIu64 " unknown blocks %" PRIu64, i->events,
         i->unknown_events, i->unknown_blocks);
    line(t, "lost %" PRIu64 " of %" PRIu64 " irregular %" PRIu64 " verified %d numbers %d",
         i->lost_events, i->lost_threads, i->irregular_steps, i->loss_verified,
         i->has_sequence_numbers);
    line(t, "buffers lost %" PRIu64 " damaged %" PRIu64 " repeated %" PRIu64, i->lost_buffers,
         i->damaged_buffers, i->repeated_buffers);
}

static void put_facts(struct text *t, const struct gcd_summary *f)
{
    put_trace(t, &f->trace);
    line(t, "process %" PRIu64 " [%s] [%s] [%s] [%s] [%s]", f->process, f->process_name,
         f->command_line, f->os, f->arch, f->runtime_version);
    line(t, "dumps %u ignored %u", f->dumps, f->processes_ignored);
    line(t,
         "gc %" PRIu32 " depth %" PRIu32 " reason %" PRIu32 " type %" PRIu32
         " seen %d %d heaps %" PRIu32 " ns %" PRId64 " %" PRId64,
         f->gc_number, f->gc_depth, f->gc_reason, f->gc_type, f->gc_start_seen, f->gc_end_seen,
         f->gc_heaps, f->gc_start_ns, f->gc_end_ns);
    line(t, "objects %" PRIu64 " bytes %" PRIu64 " edges %" PRIu64 " declared %" PRIu64, f->objects,
         f->bytes, f->edges, f->edges_declared);
    for (size_t i = 0; i < GCD_ROOT_KINDS; i++)
        line(t, "roots %zu: %" PRIu64, i, f->root_counts[i]);
    line(t, "weak %" PRIu64 " pinned %" PRIu64 " null %" PRIu64, f->weak_roots, f->pinned_roots,
         f->null_roots);
    line(t,
         "statics %" PRIu64 " dependents %" PRIu64 " ccws %" PRIu64 " rcws %" PRIu64
         " ranges %" PRIu64,
         f->statics, f->dependent_handles, f->ccws, f->rcws, (uint64_t)f->range_count);
    line(t, "types %" PRIu64 " undescribed %" PRIu64 " objects of them %" PRIu64, f->types_used,
         f->types_undescribed, f->objects_undescribed);
}

static void put_lists(struct text *t, const struct gcd_dump *d)
{
    const struct gcd_summary *summary = gcd_dump_summary(d);
    for (uint32_t i = 0; i < summary->type_count; i++) {
        const struct gcd_type *x = &summary->types[i];
        line(t,
             "type %" PRIx64 " module %" PRIx64 " [%s] [%s] %" PRIu64 " %" PRIu64 " token %" PRIx32
             " flags %" PRIx32 " element %x %d [%s]",
             x->id, x->module, x->name, x->module_path, x->objects, x->bytes, x->name_token,
             x->flags, x->element_type, x->described, x->raw_name);
    }
    for (size_t i = 0; i < summary->root_count; i++) {
        const struct gcd_root *x = &summary->roots[i];
        line(t,
             "root %" PRIx64 " id %" PRIx64 " kind %d flags %" PRIx32 " type %" PRIu32
             " [%s] [%s] [%s]",
             x->object, x->id, (int)x->kind, x->flags, x->type, x->name, x->class_name, x->label);
    }
    for (size_t i = 0; i < summary->module_count; i++) {
        const struct gcd_module *x = &summary->modules[i];
        line(t,
             "module %" PRIx64 " [%s] [%s] [%s] state %d flags %" PRIx32 " key %d %02x mvid %02x",
             x->id, x->path, x->assembly, x->problem, (int)x->state, x->flags, x->has_public_key,
             x->public_key_token[7], x->mvid[15]);
    }
    for (size_t i = 0; i < gcd_dump_dependent_count(d); i++)
        line(t, "dependent %" PRIx64 " %" PRIx64, gcd_dump_dependent(d, i)->key,
             gcd_dump_dependent(d, i)->value);
    for (size_t i = 0; i < summary->range_count; i++) {
        const struct gcd_range *x = &summary->ranges[i];
        line(t, "range %" PRIx64 " used %" PRIx64 " reserved %" PRIx64 " generation %u", x->start,
             x->used_bytes, x->reserved_bytes, x->generation);
    }
}

static char *describe(gcd_status st, const struct gcd_error *err, const struct gcd_dump *d)
{
    struct text t = { NULL, 0, 0 };
    put_status(&t, st, err);
    if (st == GCD_OK) {
        const struct gcd_verdict *v = &gcd_dump_summary(d)->verdict;
        line(&t, "%s", v->complete ? "complete" : "incomplete");
        for (size_t i = 0; i < v->reason_count; i++)
            line(&t, "because %s %" PRIu64 ": %s", v->reasons[i].name, v->reasons[i].amount,
                 v->reasons[i].text);
        put_facts(&t, gcd_dump_summary(d));
        put_lists(&t, d);
    }
    return t.s;
}

/* ---- running ---- */

/* Feeds N bytes in slices.  Each slice is at the end of its own block and is overwritten as early
 * as allowed. */
static gcd_status feed(struct gcd_dump *d, const uint8_t *bytes, size_t n,
                       const struct run_options *o, struct gcd_error *err)
{
    size_t most = o->slice == RUN_RANDOM ? 5000 : o->slice == 0 || o->slice > n ? n : o->slice;
    uint64_t seed = o->seed;
    uint8_t *block = need(malloc(most + 1));
    gcd_status st = GCD_OK;
    for (size_t at = 0; at < n && st >= 0;) {
        size_t part = most;
        if (o->slice == RUN_RANDOM) {
            uint64_t r = run_random(&seed);
            part = (size_t)(r >> 8) % (r % 4 == 0 ? most : (size_t)(r % 4 == 1 ? 200 : 20));
        }
        if (part > n - at)
            part = n - at;
        uint8_t *p = block + most + 1 - part;
        memcpy(p, bytes + at, part);
        st = gcd_dump_feed(d, p, part, err);
        memset(p, 0xdd, part);
        at += part;
    }
    free(block);
    return st < 0 ? st : GCD_OK;
}

static gcd_status open_dump(struct gcd_input *in, const void *bytes, size_t n,
                            const struct run_options *o, struct gcd_dump **ret,
                            struct gcd_error *err)
{
    struct gcd_dump_options options = { .context.alloc = o->alloc,
                                        .context.limits = o->limits,
                                        .process = o->process,
                                        .walk_number = o->walk_number,
                                        .check_references = o->check_references,
                                        .values = true };
    if (o->input) {
        struct gcd_image_options image = { .values.kind = GCD_VALUES_STRINGS };
        gcd_status set = gcd_input_set_image(in, &image, err);
        return set == GCD_OK ? gcd_dump_open(in, &options, ret, err) : set;
    }
    struct gcd_dump *d;
    gcd_status st = gcd_dump_new(&options, &d, err);
    if (st != GCD_OK)
        return st;
    st = feed(d, bytes, n, o, err);
    if (st == GCD_OK) {
        st = gcd_dump_close(d, in, err);
    } else { /* the bytes are gone: nothing may read them from now on */
        struct gcd_error again = GCD_ERROR_INIT;
        if (gcd_dump_feed(d, "", 1, &again) != st || gcd_dump_close(d, in, &again) != st ||
            strcmp(again.msg, err->msg) != 0)
            abort();
    }
    if (st != GCD_OK)
        gcd_dump_free(d);
    else
        *ret = d;
    return st;
}

static void *more(void *items, size_t *cap, size_t count, size_t item_bytes)
{
    if (count <= *cap)
        return items;
    *cap = 2 * count + 64;
    return need(realloc(items, *cap * item_bytes));
}

static gcd_status read_objects(struct gcd_dump *d, struct run *r)
{
    struct gcd_objects *cursor;
    gcd_status st = gcd_objects_new(d, &cursor, &r->objects_err);
    if (st != GCD_OK)
        return st;
    struct gcd_object o;
    while ((st = gcd_objects_next(cursor, &o, &r->objects_err)) == GCD_OK) {
        if (o.type >= gcd_dump_summary(d)->type_count)
            abort();
        r->objects = more(r->objects, &r->object_cap, r->object_count + 1, sizeof *r->objects);
        struct run_object *to = &r->objects[r->object_count++];
        *to = (struct run_object){ .address = o.address,
                                   .size_bytes = o.size_bytes,
                                   .edges = o.edges,
                                   .type_id = gcd_dump_summary(d)->types[o.type].id,
                                   .first_target = r->target_count };
        const uint64_t *targets;
        size_t n;
        while ((st = gcd_objects_edges(cursor, &targets, &n, &r->objects_err)) == GCD_OK) {
            if (n == 0)
                abort();
            r->targets = more(r->targets, &r->target_cap, r->target_count + n, sizeof *r->targets);
            memcpy(r->targets + r->target_count, targets, n * sizeof *targets);
            r->target_count += n;
        }
        to->targets = r->target_count - to->first_target;
        r->objects_denied += !gcd_dump_knows(d, o.address, NULL);
        if (st < 0)
            break;
    }
    gcd_objects_free(cursor);
    return st;
}

/* Takes the record with the checksum out of a gclog, if it is right: tests state the others. */
static void take_sum(struct run *r)
{
    static const char begin[] = "\nt ", name[] = " [gcdumpc ", crc[] = " crc32=";
    char *p = (char *)r->gclog, *end = p + r->gclog_bytes, *at = NULL;
    p[r->gclog_bytes] = '\0';
    for (char *q = p; (q = memmem(q, (size_t)(end - q), begin, sizeof begin - 1)) != NULL; q++)
        at = q + 1;
    const char *sum = at != NULL ? strstr(at, crc) : NULL;
    if (sum == NULL || strstr(at, name) == NULL ||
        strtoul(sum + sizeof crc - 1, NULL, 16) != crc32_z(0, r->gclog, (size_t)(at - p)))
        return;
    char *next = strchr(at, '\n') + 1;
    memmove(at, next, (size_t)(end - next) + 1);
    r->gclog_bytes -= (size_t)(next - at);
}

static gcd_status write_gclog(struct gcd_dump *d, const struct gcd_alloc *alloc, struct run *r)
{
    struct gcd_sink *s;
    gcd_status st = gcd_sink_new_memory(alloc, &s, &r->write_err);
    if (st != GCD_OK)
        return st;
    struct gcd_write_options options = { .context.alloc = alloc };
    st = gcd_write(gcd_format_by_name("gclog"), d, s, &options, &r->notes, &r->write_err);
    if (st == GCD_OK)
        st = gcd_sink_commit(s, &r->write_err);
    if (st == GCD_OK) {
        const uint8_t *p = gcd_sink_memory(s, &r->gclog_bytes);
        r->gclog = need(malloc(r->gclog_bytes + 1));
        memcpy(r->gclog, p, r->gclog_bytes);
        take_sum(r);
    }
    gcd_sink_free(s);
    return st;
}

void run_trace(const void *bytes, size_t n, const struct run_options *options, struct run *ret)
{
    static const struct run_options defaults;
    const struct run_options *o = options != NULL ? options : &defaults;
    memset(ret, 0, sizeof *ret);
    ret->err = ret->objects_err = ret->write_err = (struct gcd_error)GCD_ERROR_INIT;
    struct gcd_input *in;
    struct gcd_dump *d = NULL;
    struct gcd_input_options in_options = { .context.alloc = o->alloc };
    ret->st = gcd_input_from_memory(bytes, n, &in_options, &in, &ret->err);
    if (ret->st != GCD_OK) {
        ret->text = describe(ret->st, &ret->err, NULL);
        return;
    }
    ret->st = open_dump(in, bytes, n, o, &d, &ret->err);
    ret->text = describe(ret->st, &ret->err, d);
    if (ret->st == GCD_OK) {
        ret->facts = *gcd_dump_summary(d);
        ret->verdict = gcd_dump_summary(d)->verdict;
        ret->root_records = gcd_dump_summary(d)->root_count;
        if (!o->no_objects)
            ret->objects_st = read_objects(d, ret);
        if (!o->no_gclog)
            ret->write_st = write_gclog(d, o->alloc, ret);
        gcd_dump_free(d);
        /* dangling from here on */
        ret->facts.trace.container = NULL;
        ret->facts.process_name = ret->facts.command_line = ret->facts.os = ret->facts.arch =
            ret->facts.runtime_version = NULL;
    }
    gcd_input_free(in);
}

void run_done(struct run *r)
{
    free(r->text);
    free(r->objects);
    free(r->targets);
    free(r->gclog);
    memset(r, 0, sizeof *r);
}

/* ---- comparing and checking ---- */

static char complaint_buffer[1200];

__attribute__((format(printf, 1, 2))) static const char *complaint(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(complaint_buffer, sizeof complaint_buffer, fmt, ap);
    va_end(ap);
    return complaint_buffer;
}

/* The first lines that differ. */
static const char *diff_text(const char *a, const char *b)
{
    while (*a != '\0') {
        size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
        if (n != m || memcmp(a, b, n) != 0)
            return complaint("\"%.*s\" against \"%.*s\"", (int)(n < 500 ? n : 500), a,
                             (int)(m < 500 ? m : 500), b);
        a += n + (a[n] == '\n');
        b += m + (b[m] == '\n');
    }
    return *b == '\0' ? NULL : complaint("the second one says more: \"%.500s\"", b);
}

const char *run_diff(const struct run *a, const struct run *b)
{
    const char *text = diff_text(a->text, b->text);
    if (text != NULL)
        return text;
    if (a->objects_st != b->objects_st || a->write_st != b->write_st)
        return complaint("statuses %s and %s against %s and %s", gcd_status_name(a->objects_st),
                         gcd_status_name(a->write_st), gcd_status_name(b->objects_st),
                         gcd_status_name(b->write_st));
    if (a->object_count != b->object_count || a->target_count != b->target_count)
        return complaint("%zu objects with %zu references against %zu with %zu", a->object_count,
                         a->target_count, b->object_count, b->target_count);
    for (size_t i = 0; i < a->object_count; i++) {
        const struct run_object *x = &a->objects[i], *y = &b->objects[i];
        if (x->address != y->address || x->size_bytes != y->size_bytes ||
            x->type_id != y->type_id || x->edges != y->edges || x->targets != y->targets)
            return complaint("object %zu: %" PRIx64 " against %" PRIx64, i, x->address, y->address);
    }
    for (size_t i = 0; i < a->target_count; i++)
        if (a->targets[i] != b->targets[i])
            return complaint("reference %zu: %" PRIx64 " against %" PRIx64, i, a->targets[i],
                             b->targets[i]);
    if (a->gclog_bytes != b->gclog_bytes ||
        (a->gclog_bytes > 0 && memcmp(a->gclog, b->gclog, a->gclog_bytes) != 0))
        return complaint("the gclog outputs differ (%zu and %zu bytes)", a->gclog_bytes,
                         b->gclog_bytes);
    return NULL;
}

static bool is_message(const char *s)
{
    if (*s == '\0' || !run_is_utf8(s, strlen(s)))
        return false;
    for (; *s != '\0'; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f ||
            ((unsigned char)s[0] == 0xc2 && (unsigned char)s[1] < 0xa0))
            return false; /* a control character, U+0080 to U+009F among them */
    return true;
}

static const char *check_failure(const struct run *r)
{
    switch (r->st) {
    case GCD_E_NOMEM:
    case GCD_E_TRUNCATED:
    case GCD_E_FORMAT:
    case GCD_E_UNSUPPORTED:
    case GCD_E_LIMIT:
    case GCD_E_NOT_FOUND:
        break;
    default:
        return complaint("status %s cannot come from an input", gcd_status_name(r->st));
    }
    if (r->err.code != r->st)
        return complaint("status %s, but the error says %s", gcd_status_name(r->st),
                         gcd_status_name(r->err.code));
    return is_message(r->err.msg)
               ? NULL
               : complaint("the message is not printable UTF-8: \"%s\"", r->err.msg);
}

static const char *check_verdict(const struct run *r)
{
    const struct gcd_verdict *v = &r->verdict;
    const struct gcd_summary *f = &r->facts;
    if (v->complete != (v->reason_count == 0) || v->reason_count > GCD_REASON_COUNT)
        return complaint("complete %d for %zu reasons", v->complete, v->reason_count);
    for (size_t i = 0; i < v->reason_count; i++)
        if (!is_message(v->reasons[i].text) ||
            (i > 0 && v->reasons[i].code <= v->reasons[i - 1].code))
            return complaint("reason %zu is out of order or not printable UTF-8: \"%s\"", i,
                             v->reasons[i].text);
    if (!v->complete)
        return NULL;
    if (f->edges != f->edges_declared)
        return complaint("complete with %" PRIu64 " of %" PRIu64 " references", f->edges,
                         f->edges_declared);
    if (f->trace.end != GCD_TRACE_CLOSED || !f->trace.loss_verified || f->trace.lost_events != 0)
        return complaint("complete although the trace is not, or lost events");
    return f->gc_start_seen && f->gc_end_seen
               ? NULL
               : complaint("complete without start or end of the GC");
}

static void add_saturating(uint64_t *sum, uint64_t n)
{
    *sum = *sum > UINT64_MAX - n ? UINT64_MAX : *sum + n;
}

static const char *check_objects(const struct run *r)
{
    const struct gcd_summary *f = &r->facts;
    if (r->objects_st != GCD_END)
        return complaint("reading the objects ended with %s: %s", gcd_status_name(r->objects_st),
                         r->objects_err.msg);
    if (r->object_count != f->objects)
        return complaint("%zu objects read, %" PRIu64 " counted", r->object_count, f->objects);
    uint64_t bytes = 0, declared = 0;
    for (size_t i = 0; i < r->object_count; i++) {
        add_saturating(&bytes, r->objects[i].size_bytes);
        add_saturating(&declared, r->objects[i].edges);
        if (r->objects[i].targets > r->objects[i].edges)
            return complaint("object %zu gives more references than it declares", i);
    }
    if (bytes != f->bytes || declared != f->edges_declared)
        return complaint("%" PRIu64 " bytes and %" PRIu64 " references read, %" PRIu64
                         " and %" PRIu64 " counted",
                         bytes, declared, f->bytes, f->edges_declared);
    if (r->objects_denied > 0)
        return complaint("gcd_dump_knows denies %" PRIu64 " of the objects", r->objects_denied);
    return r->target_count <= f->edges
               ? NULL
               : complaint("%zu references read of %" PRIu64, r->target_count, f->edges);
}

static const char *check_gclog(const struct run *r)
{
    const char *p = (const char *)r->gclog;
    if (r->write_st != GCD_OK)
        return complaint("writing ended with %s: %s", gcd_status_name(r->write_st),
                         r->write_err.msg);
    if (r->gclog_bytes < 8 || memcmp(p, "a 2 ", 4) != 0 || p[r->gclog_bytes - 1] != '\n')
        return complaint("the gclog output does not begin or end as it should");
    uint64_t objects = 0, roots = 0, types = 0, frames = 0, lines = 0;
    for (size_t i = 0; i < r->gclog_bytes; lines++) {
        objects += p[i] == 'o';
        roots += p[i] == 'r';
        types += p[i] == 't';
        frames += p[i] == 'a' || p[i] == 'c';
        i += (size_t)((const char *)memchr(p + i, '\n', r->gclog_bytes - i) - (p + i)) + 1;
    }
    if (frames != 2 || objects != r->notes.objects || roots != r->notes.roots ||
        types != r->notes.types || lines != frames + objects + roots + types)
        return complaint("the gclog output has %" PRIu64 " objects, %" PRIu64 " roots, %" PRIu64
                         " types in %" PRIu64 " lines",
                         objects, roots, types, lines);
    if (r->notes.objects + r->notes.objects_dropped != r->facts.objects)
        return complaint("%" PRIu64 " objects written, %" PRIu64 " dropped, %" PRIu64 " counted",
                         r->notes.objects, r->notes.objects_dropped, r->facts.objects);
    return run_is_utf8(p, r->gclog_bytes) ? NULL : complaint("the gclog output is not UTF-8");
}

const char *run_check(const struct run *r)
{
    if (r->st != GCD_OK)
        return check_failure(r);
    const char *wrong = check_verdict(r);
    uint64_t roots = r->facts.statics + r->facts.ccws;
    for (size_t i = 0; i < GCD_ROOT_KINDS; i++)
        roots += r->facts.root_counts[i];
    if (wrong == NULL && roots != r->root_records)
        wrong = complaint("%" PRIu64 " roots counted, %" PRIu64 " there", roots, r->root_records);
    if (wrong == NULL && r->objects_st != GCD_OK)
        wrong = check_objects(r);
    if (wrong == NULL && (r->gclog != NULL || r->write_st != GCD_OK))
        wrong = check_gclog(r);
    return wrong;
}

/* ---- files ---- */

uint8_t *run_load(const char *path, size_t *ret_n)
{
    gzFile f = gzopen(path, "rb");
    if (f == NULL) {
        (void)fprintf(stderr, "run: cannot open %s\n", path);
        abort();
    }
    uint8_t *p = NULL;
    size_t n = 0, cap = 0;
    for (;;) {
        p = more(p, &cap, n + 65536, 1);
        int got = gzread(f, p + n, 65536);
        if (got < 0) {
            (void)fprintf(stderr, "run: cannot read %s\n", path);
            abort();
        }
        if (got == 0)
            break;
        n += (size_t)got;
    }
    (void)gzclose(f);
    *ret_n = n;
    return p;
}

uint8_t *run_bundled(const char *source_dir, size_t i, const char **ret_name, size_t *ret_n)
{
    static const char *const names[] = {
        "net8-wks",        "net8-svr",          "net8-wks-two-dumps", "net9-wks",
        "net9-svr",        "net10-wks",         "net10-svr",          "net10-wks-killed",
        "net10-wks-lossy", "net10-wks-nonames", "net10-wks-ranges",
    };
    if (i >= sizeof names / sizeof *names)
        return NULL;
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/traces/%s/heap.nettrace.gz", source_dir, names[i]);
    *ret_name = names[i];
    return run_load(path, ret_n);
}
