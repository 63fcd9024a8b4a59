/* Names, and everything in a .gcdump besides the graph. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/text.h"
#include "base/verdict.h"
#include "read/gcdump_in.h"

/* ---- strings ---- */

/* Code units of one to three bytes, not validated; a character above U+FFFF is two surrogates. */
static void to_utf16le(const uint8_t *p, uint32_t units, uint8_t *out)
{
    for (uint32_t i = 0; i < units; i++) {
        unsigned u = *p++;
        if (u >= 0xe0) {
            u = (u & 0x0f) << 12 | (p[0] & 0x3fu) << 6 | (p[1] & 0x3fu);
            p += 2;
        } else if (u >= 0x80) {
            u = (u & 0x1f) << 6 | (p[0] & 0x3fu);
            p++;
        }
        *out++ = (uint8_t)u;
        *out++ = (uint8_t)(u >> 8);
    }
}

gcd_status gcdump_text(struct gcdump_in *f, const struct gcdump_string *s, char **text,
                       size_t *room, struct gcd_error *err)
{
    if (s->units > f->text_limit)
        return gcd_fail(err, GCD_E_LIMIT, "the names need more memory than allowed");
    /* UTF-8 at the start, UTF-16 at the end: three bytes are written only after two have been read
     */
    size_t units = s->units, need = gcd_size_sum(gcd_size_product(units, 5), 1);
    if (!gcd_vec_reserve(&f->alloc, text, room, need, 1, SIZE_MAX / 2))
        return gcd_fail_nomem(err, "reading the names");
    const uint8_t *p = f->file + s->off;
    size_t n = units;
    if (units > 0 && s->bytes == units && memchr(p, '\0', units) == NULL) {
        memcpy(*text, p, units);
    } else if (units > 0) {
        uint8_t *utf16 = (uint8_t *)*text + 3 * units;
        to_utf16le(p, s->units, utf16);
        n = gcd_utf16le_to_utf8(utf16, units, *text);
    }
    (*text)[n] = '\0';
    return GCD_OK;
}

/* The name of a type; for one known only by its number in a module, the name shown by readers
 * without symbols.  Into f->text. */
static gcd_status type_name(struct gcdump_in *f, uint32_t t, struct gcd_type *to,
                            struct gcd_error *err)
{
    char number[32];
    bool deferred = t < f->deferred_count && f->types[t].name.null;
    GCD_TRY(gcdump_text(f, deferred ? &f->deferred[t].suffix : &f->types[t].name, &f->text,
                        &f->text_room, err));
    to->named = !deferred && f->text[0] != '\0';
    if (!to->named) {
        size_t suffix_n = strlen(f->text);
        int n = deferred
                    ? snprintf(number, sizeof number, "TypeID(0x%" PRIx32 ")", f->deferred[t].id)
                    : snprintf(number, sizeof number, "Type(0x%" PRIx32 ")", t);
        if (!gcd_vec_reserve(&f->alloc, &f->text, &f->text_room, suffix_n + (size_t)n + 1, 1,
                             SIZE_MAX / 2))
            return gcd_fail_nomem(err, "reading the names");
        memmove(f->text + n, f->text, suffix_n + 1);
        memcpy(f->text, number, (size_t)n);
    } else if (!f->ours && !f->javascript)
        gcdump_undo_brackets(f->text);
    to->name = f->text;
    return GCD_OK;
}

gcd_status gcdump_put_type(struct gcdump_in *f, struct gcd_build *b, uint32_t t,
                           struct gcd_error *err)
{
    struct gcdump_type *type = &f->types[t];
    if (type->number != GCDUMP_NONE)
        return GCD_OK;
    if (type->same != t) {
        GCD_TRY(gcdump_put_type(f, b, type->same, err));
        type->number = f->types[type->same].number;
        return GCD_OK;
    }
    struct gcd_type to = { .id = t, .described = true };
    bool elsewhere = type->module.null && t < f->deferred_count;
    GCD_TRY(type_name(f, t, &to, err));
    const struct gcdump_string *module = elsewhere ? &f->deferred[t].module : &type->module;
    if (f->module == NULL || f->module->off != module->off ||
        f->module->bytes != module->bytes) /* most share the module of the previous type */
        GCD_TRY(gcdump_text(f, module, &f->text2, &f->text2_room, err));
    f->module = module;
    to.module_path = f->text2;
    return gcd_build_type(b, &to, &type->number, err);
}

/* ---- our own log: see gcdump_put_log of the writer ---- */

struct line {
    const char *key, *value;
    size_t key_n, value_n;
};

static bool key_is(const struct line *l, const char *key)
{
    return strlen(key) == l->key_n && memcmp(l->key, key, l->key_n) == 0;
}

static uint64_t to_number(const char *s, size_t n)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n && s[i] >= '0' && s[i] <= '9'; i++)
        if (__builtin_mul_overflow(v, UINT64_C(10), &v) ||
            __builtin_add_overflow(v, (uint64_t)(s[i] - '0'), &v))
            return UINT64_MAX;
    return v;
}

static uint32_t to_number32(const struct line *l)
{
    uint64_t v = to_number(l->value, l->value_n);
    return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

static int64_t to_time(const struct line *l)
{
    uint64_t v = to_number(l->value, l->value_n);
    return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

static const char *const reason_names[GCD_REASON_COUNT] = {
#define REASON_NAME(code, name) [code] = name,
    GCD_REASON_LIST(REASON_NAME)
#undef REASON_NAME
};

/* Adds a clause of foreign text: without characters that move a terminal's cursor, cut between two
 * characters. */
static void add_reason(struct gcd_verdict *v, enum gcd_reason_code code, uint64_t amount,
                       const char *text, size_t n)
{
    char clean[sizeof v->reasons->text];
    if (n > sizeof clean - 1)
        for (n = sizeof clean - 1; n > 0 && ((uint8_t)text[n] & 0xc0) == 0x80; n--)
            continue;
    for (size_t i = 0; i < n; i++)
        clean[i] = (uint8_t)text[i] < 0x20 || text[i] == 0x7f ? '_' : text[i];
    gcd_verdict_add(v, code, amount, "%.*s", (int)n, clean);
}

/* "events_lost=12 no_gc_end=0", and the explanations in the lines after it. */
static void take_reasons(struct gcd_verdict *v, const struct line *l, const char *rest)
{
    for (unsigned code = 0; code < GCD_REASON_COUNT; code++) {
        size_t name_n = strlen(reason_names[code]);
        for (const char *p = l->value, *end = p + l->value_n; p < end; p++) {
            if ((size_t)(end - p) <= name_n || memcmp(p, reason_names[code], name_n) != 0 ||
                p[name_n] != '=' || p[-1] != ' ')
                continue;
            const char *text = reason_names[code];
            size_t n = name_n;
            const char *detail = strstr(rest, text);
            if (detail != NULL && detail[-1] == '\n' && detail[name_n] == ':' &&
                detail[name_n + 1] == ' ') {
                text = detail + name_n + 2;
                n = strcspn(text, "\n");
            }
            p += name_n + 1;
            add_reason(v, (enum gcd_reason_code)code, to_number(p, (size_t)(end - p)), text, n);
            break;
        }
    }
}

static gcd_status take_line(struct gcdump_in *f, struct gcd_build *b, const struct line *l,
                            struct gcd_error *err)
{
    struct gcd_summary *to = gcd_build_summary(b);
    struct gcd_graph_notes *n = gcd_build_notes(b);
    const struct {
        const char *key;
        const char **to;
    } texts[] = {
        { "command line", &to->command_line },
        { "os", &to->os },
        { "arch", &to->arch },
        { "runtime", &to->runtime_version },
    };
    const struct {
        const char *key;
        uint32_t *to;
    } numbers[] = {
        { "gc number", &to->gc_number }, { "gc depth", &to->gc_depth },
        { "gc reason", &to->gc_reason }, { "gc type", &to->gc_type },
        { "gc heaps", &to->gc_heaps },
    };
    const struct {
        const char *key;
        uint64_t *to;
    } sums[] = {
        { "references missing", &n->edges_missing },
        { "references dangling", &n->edges_dangling },
        { "roots dangling", &n->roots_dangling },
        { "dependent handles dropped", &n->dependents_dropped },
        { "objects dropped", &n->objects_dropped },
        { "objects", &f->log_objects },
        { "references", &f->log_references },
    };
    f->log_counts = f->log_counts || key_is(l, "objects");
    const struct {
        const char *key;
        int64_t *to;
    } times[] = { { "gc start ns", &to->gc_start_ns }, { "gc end ns", &to->gc_end_ns } };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (key_is(l, texts[i].key))
            return gcd_build_text(b, l->value, l->value_n, texts[i].to, err);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (key_is(l, numbers[i].key))
            *numbers[i].to = to_number32(l);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        if (key_is(l, sums[i].key))
            *sums[i].to = to_number(l->value, l->value_n);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (key_is(l, times[i].key))
            *times[i].to = to_time(l);
    return GCD_OK;
}

/* False when the log is not ours. */
static gcd_status take_log(struct gcdump_in *f, struct gcd_build *b, const char *log,
                           struct gcd_error *err)
{
    struct gcd_verdict *v = &gcd_build_summary(b)->verdict;
    static const char complete[] = "gcdumpc: complete\n", unverified[] = "gcdumpc: unverified\n",
                      incomplete[] = "gcdumpc: incomplete:";
    f->ours = true;
    if (strncmp(log, incomplete, sizeof incomplete - 1) == 0) {
        const char *items = log + sizeof incomplete - 1;
        struct line l = { .value = items, .value_n = strcspn(items, "\n") };
        take_reasons(v, &l, items + l.value_n);
        f->ours = v->reason_count > 0;
    } else if (strncmp(log, complete, sizeof complete - 1) == 0) {
        v->complete = true;
    } else if (strncmp(log, unverified, sizeof unverified - 1) == 0) {
        v->complete = v->unverified = true;
    } else {
        f->ours = false;
    }
    const char *p = strchr(log, '\n');
    for (const char *end; f->ours && p != NULL; p = end) {
        end = strchr(++p, '\n');
        const char *colon = end != NULL ? memmem(p, (size_t)(end - p), ": ", 2) : NULL;
        if (colon == NULL)
            continue;
        GCD_TRY(take_line(
            f, b, &(struct line){ p, colon + 2, (size_t)(colon - p), (size_t)(end - colon - 2) },
            err));
    }
    return GCD_OK;
}

/* ---- facts ---- */

/* The generations follow each other in a segment, the youngest last; missing ones end at its
 * beginning or at 0. */
static gcd_status put_ranges(const struct gcdump_in *f, struct gcd_build *b, struct gcd_error *err)
{
    for (uint32_t i = 0; i < f->segment_count; i++) {
        const uint64_t *w = f->segments[i].words;
        uint64_t at = w[0];
        for (unsigned generation = 5; generation-- > 0;) {
            uint64_t end = w[2 + generation] < w[1] ? w[2 + generation] : w[1];
            if (end <= at)
                continue;
            GCD_TRY(gcd_build_range(b,
                                    &(struct gcd_range){ .start = at,
                                                         .used_bytes = end - at,
                                                         .reserved_bytes = end - at,
                                                         .generation = generation },
                                    err));
            at = end;
        }
    }
    return GCD_OK;
}

/* 100 ns since the year 1 to ms since 1970; BEFORE_NS earlier. */
static int64_t to_unix_ms(uint64_t ticks, int64_t before_ns)
{
    const int64_t unix_epoch = INT64_C(621355968000000000), last = INT64_C(3155378975999999999);
    if (ticks == 0 || ticks > (uint64_t)last)
        return INT64_MIN;
    return ((int64_t)ticks - before_ns / 100 - unix_epoch) / 10000;
}

gcd_status gcdump_put_facts(struct gcdump_in *f, struct gcd_build *b, struct gcd_error *err)
{
    struct gcd_summary *to = gcd_build_summary(b);
    struct gcd_verdict *v = &gcd_build_summary(b)->verdict;
    GCD_TRY(gcdump_text(f, &f->process_name, &f->text, &f->text_room, err));
    GCD_TRY(gcd_build_text(b, f->text, strlen(f->text), &to->process_name, err));
    GCD_TRY(gcdump_text(f, &f->log, &f->text, &f->text_room, err));
    GCD_TRY(take_log(f, b, f->text, err));
    if (!f->ours) {
        v->complete = v->unverified = true;
        if (f->sampled)
            gcd_verdict_add(v, GCD_REASON_LOSS_UNVERIFIED, 0,
                            "the file contains only a sample of the objects");
    }
    to->trace = (struct gcd_trace_info){
        .container = "gcdump",
        .format_version = f->version,
        .ptr_bytes = f->is_64bit ? 8 : 4,
        .process = f->process,
        .start_unix_ms = to_unix_ms(f->ticks, to->gc_start_ns),
        .end = GCD_TRACE_CLOSED,
        .bytes = f->bytes,
        .damage_off = GCD_OFF_NONE,
    };
    to->process = f->process;
    to->dumps = to->walk_number = 1;
    to->rcws = f->rcws;
    return put_ranges(f, b, err);
}
