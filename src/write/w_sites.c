/*
 * Profiles of sampled allocations (unstable/sites.h): pprof with stacks, lines and modules,
 * collapsed stacks, and speedscope's own format.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/sites.h>
#include <gcdumpc/version.h>

#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/text.h"
#include "write/json_put.h"
#include "write/protobuf.h"
#include "write/write.h"

#define TOOL "gcdumpc " GCDUMPC_VERSION
/* The runtime's mean distance of samples, in bytes. */
#define PERIOD_BYTES 102400u
#define FRAMES_MAX   512u
#define BODY_BYTES   (FRAMES_MAX * VARINT_BYTES + 256u)
#define TEXT_MAX     1000u
#define TEXTS_MAX    ((size_t)1 << 29)

/* The frames of STACK, the innermost first; the outermost of very deep ones are left out, as the
 * runtime does.  Returns their number. */
static size_t frames_of(const struct gcd_sites *s, uint32_t stack, uint32_t ret[FRAMES_MAX])
{
    size_t n = 0;
    for (; stack != GCD_SITE_NONE && n < FRAMES_MAX; stack = s->stacks[stack].caller)
        ret[n++] = s->stacks[stack].frame;
    return n;
}

static const char *method_of(const struct gcd_site_frame *f)
{
    return f->method[0] != '\0' ? f->method : "(unknown code)";
}

/* ---- pprof ---- */

struct profile {
    const struct gcd_sites *s;
    struct gcd_alloc alloc;
    struct gcd_sink *out;
    /* hash of a text -> the last one with it; each is written when first used */
    struct gcd_idmap strings;
    struct string {
        const char *text;
        uint32_t next; /* the one before with the same hash */
    } * texts;
    size_t text_room;
    struct gcd_idmap functions; /* hash of method and file -> number */
    struct gcd_idmap mappings;  /* number of the text -> number */
    uint32_t string_count, function_count, mapping_count;
    bool full; /* out of memory */
};

/* The number of TEXT, which the reader of the profile counts itself. */
static uint32_t string_number(struct profile *p, const char *text)
{
    uint64_t hash = gcd_text_hash(text, strlen(text) + 1, GCD_TEXT_HASH);
    uint32_t head = gcd_idmap_get(&p->strings, hash), i = p->string_count;
    for (uint32_t k = head; k != GCD_IDMAP_NONE; k = p->texts[k].next)
        if (strcmp(p->texts[k].text, text) == 0)
            return k;
    if (!gcd_vec_reserve(&p->alloc, &p->texts, &p->text_room, i + (size_t)1, sizeof *p->texts,
                         TEXTS_MAX) ||
        !gcd_idmap_put(&p->strings, hash, i)) {
        p->full = true;
        return 0;
    }
    p->texts[p->string_count++] = (struct string){ .text = text, .next = head };
    write_bytes(p->out, PROFILE_STRING, text, strlen(text));
    return i;
}

static uint32_t mapping_number(struct profile *p, const char *module)
{
    char body[8 * VARINT_BYTES], *q = body;
    if (module[0] == '\0')
        return 0;
    uint32_t name = string_number(p, module), i = gcd_idmap_get(&p->mappings, name);
    if (i != GCD_IDMAP_NONE)
        return i;
    i = ++p->mapping_count;
    q = put_number(put_number(q, MAPPING_ID, i), MAPPING_FILENAME, name);
    q = put_number(put_number(q, MAPPING_HAS_FUNCTIONS, 1), MAPPING_HAS_FILENAMES, 1);
    q = put_number(q, MAPPING_HAS_LINES, 1);
    write_bytes(p->out, PROFILE_MAPPING, body, (size_t)(q - body));
    p->full = p->full || !gcd_idmap_put(&p->mappings, name, i);
    return i;
}

static uint32_t function_number(struct profile *p, const struct gcd_site_frame *f)
{
    char body[6 * VARINT_BYTES], *q = body;
    uint32_t name = string_number(p, method_of(f)), file = string_number(p, f->file);
    uint64_t key = (uint64_t)name << 32 | file;
    uint32_t i = gcd_idmap_get(&p->functions, key);
    if (i != GCD_IDMAP_NONE)
        return i;
    i = ++p->function_count;
    q = put_number(put_number(q, FUNCTION_ID, i), FUNCTION_NAME, name);
    q = put_number(q, FUNCTION_FILENAME, file);
    write_bytes(p->out, PROFILE_FUNCTION, body, (size_t)(q - body));
    p->full = p->full || !gcd_idmap_put(&p->functions, key, i);
    return i;
}

static void write_location(struct profile *p, uint32_t frame)
{
    const struct gcd_site_frame *f = &p->s->frames[frame];
    char line[4 * VARINT_BYTES], body[10 * VARINT_BYTES], *q = body;
    uint32_t mapping = mapping_number(p, f->module), function = function_number(p, f);
    char *end = put_number(put_number(line, LINE_FUNCTION_ID, function), LINE_LINE, f->line);
    q = put_number(put_number(q, LOCATION_ID, (uint64_t)frame + 1), LOCATION_MAPPING_ID, mapping);
    q = put_bytes(q, LOCATION_LINE, line, (size_t)(end - line));
    write_bytes(p->out, PROFILE_LOCATION, body, (size_t)(q - body));
}

static void write_total(struct profile *p, const struct gcd_site_total *t)
{
    uint32_t frames[FRAMES_MAX];
    char part[FRAMES_MAX * VARINT_BYTES], body[BODY_BYTES], *q = part, *r = body;
    const uint64_t values[] = { gcd_site_estimate(t->objects), gcd_site_estimate(t->bytes),
                                gcd_site_estimate(t->alive_objects),
                                gcd_site_estimate(t->alive_bytes) };
    size_t n = frames_of(p->s, t->stack, frames);
    uint32_t type = string_number(p, t->type), key = string_number(p, "type");
    for (size_t i = 0; i < n; i++)
        q = put_varint(q, (uint64_t)frames[i] + 1);
    r = put_bytes(r, SAMPLE_LOCATION_ID, part, (size_t)(q - part));
    q = part;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        q = put_varint(q, values[i]);
    r = put_bytes(r, SAMPLE_VALUE, part, (size_t)(q - part));
    q = put_number(put_number(part, LABEL_KEY, key), LABEL_TEXT, type);
    r = put_bytes(r, SAMPLE_LABEL, part, (size_t)(q - part));
    write_bytes(p->out, PROFILE_SAMPLE, body, (size_t)(r - body));
}

static gcd_status write_pprof(const struct gcd_sites *s, struct gcd_sink *to, struct gcd_error *err)
{
    static const char *const values[][2] = { { "alloc_objects", "count" },
                                             { "alloc_space", "bytes" },
                                             { "inuse_objects", "count" },
                                             { "inuse_space", "bytes" } };
    struct profile p = { .s = s, .alloc = gcd_alloc_or_default(NULL), .out = to };
    gcd_idmap_init(&p.strings, &p.alloc);
    gcd_idmap_init(&p.functions, &p.alloc);
    gcd_idmap_init(&p.mappings, &p.alloc);
    (void)string_number(&p, ""); /* number 0 */
    uint32_t type = 0, unit = 0;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        type = string_number(&p, values[i][0]);
        unit = string_number(&p, values[i][1]);
        write_value_type(to, PROFILE_SAMPLE_TYPE, type, unit);
    }
    write_value_type(to, PROFILE_PERIOD_TYPE, string_number(&p, "space"), unit);
    write_number(to, PROFILE_PERIOD, PERIOD_BYTES);
    write_number(to, PROFILE_DEFAULT_SAMPLE_TYPE, type);
    write_number(to, PROFILE_COMMENT, string_number(&p, TOOL));
    if (s->begin_unix_ms > 0 && s->begin_unix_ms < INT64_MAX / 1000000)
        write_number(to, PROFILE_TIME_NANOS, (uint64_t)s->begin_unix_ms * 1000000);
    if (s->window_ms < INT64_MAX / 1000000)
        write_number(to, PROFILE_DURATION_NANOS, s->window_ms * 1000000);
    if (s->total_count > 0) { /* pprof calls the first mapping the program */
        uint32_t frames[FRAMES_MAX];
        size_t n = frames_of(s, s->totals[0].stack, frames);
        (void)mapping_number(&p, n > 0 ? s->frames[frames[n - 1]].module : "");
    }
    for (uint32_t i = 0; i < s->frame_count; i++)
        write_location(&p, i);
    for (size_t i = 0; i < s->total_count; i++)
        write_total(&p, &s->totals[i]);
    gcd_mem_free(&p.alloc, p.texts, p.text_room * sizeof *p.texts);
    gcd_idmap_done(&p.strings);
    gcd_idmap_done(&p.functions);
    gcd_idmap_done(&p.mappings);
    return p.full ? gcd_fail_nomem(err, "writing a profile") : gcd_sink_status(to, err);
}

/* ---- collapsed ---- */

static void put_collapsed(struct gcd_sink *to, const char *text)
{
    char clean[TEXT_MAX];
    size_t n = strlen(text) < sizeof clean - 1 ? strlen(text) : sizeof clean - 1;
    for (size_t i = 0; i < n; i++)
        clean[i] = (char)(text[i] == ';' ? ':' : text[i]);
    write_shown(to, clean, n);
    gcd_sink_text(to, ";");
}

static gcd_status write_collapsed(const struct gcd_sites *s, bool allocated, struct gcd_sink *to,
                                  struct gcd_error *err)
{
    uint32_t frames[FRAMES_MAX];
    char text[TEXT_MAX];
    for (size_t i = 0; i < s->total_count; i++) {
        const struct gcd_site_total *t = &s->totals[i];
        uint64_t bytes = gcd_site_estimate(allocated ? t->bytes : t->alive_bytes);
        if (bytes == 0)
            continue;
        for (size_t n = frames_of(s, t->stack, frames); n-- > 0;) {
            gcd_site_frame_text(&s->frames[frames[n]], text, sizeof text);
            put_collapsed(to, text);
        }
        size_t length = strlen(t->type) < TEXT_MAX ? strlen(t->type) : TEXT_MAX;
        write_shown(to, t->type, length);
        (void)snprintf(text, sizeof text, " %" PRIu64 "\n", bytes);
        gcd_sink_text(to, text);
    }
    return gcd_sink_status(to, err);
}

/* ---- speedscope ---- */

static void put_profile(struct json_put *j, const struct gcd_sites *s, bool allocated)
{
    uint32_t frames[FRAMES_MAX];
    uint64_t sum = 0;
    json_put_open(j, NULL, '{');
    json_put_text(j, "type", "sampled", TEXT_MAX);
    json_put_text(j, "name", allocated ? "allocated bytes" : "living bytes", TEXT_MAX);
    json_put_text(j, "unit", "bytes", TEXT_MAX);
    json_put_open(j, "samples", '[');
    for (size_t i = 0; i < s->total_count; i++) {
        uint64_t bytes =
            gcd_site_estimate(allocated ? s->totals[i].bytes : s->totals[i].alive_bytes);
        if (bytes == 0)
            continue;
        json_put_open(j, NULL, '[');
        for (size_t n = frames_of(s, s->totals[i].stack, frames); n-- > 0;)
            json_put_number(j, NULL, frames[n]);
        json_put_close(j, ']');
    }
    json_put_close(j, ']');
    json_put_open(j, "weights", '[');
    for (size_t i = 0; i < s->total_count; i++) {
        uint64_t bytes =
            gcd_site_estimate(allocated ? s->totals[i].bytes : s->totals[i].alive_bytes);
        sum += bytes;
        if (bytes > 0)
            json_put_number(j, NULL, bytes);
    }
    json_put_close(j, ']');
    json_put_number(j, "startValue", 0);
    json_put_number(j, "endValue", sum);
    json_put_close(j, '}');
}

static gcd_status write_speedscope(const struct gcd_sites *s, struct gcd_sink *to,
                                   struct gcd_error *err)
{
    struct json_put j = { .s = to };
    json_put_open(&j, NULL, '{');
    json_put_text(&j, "$schema", "https://www.speedscope.app/file-format-schema.json", TEXT_MAX);
    json_put_text(&j, "exporter", TOOL, TEXT_MAX);
    json_put_text(&j, "name", "sampled allocations", TEXT_MAX);
    json_put_open(&j, "shared", '{');
    json_put_open(&j, "frames", '[');
    for (size_t i = 0; i < s->frame_count; i++) {
        json_put_open(&j, NULL, '{');
        json_put_text(&j, "name", method_of(&s->frames[i]), TEXT_MAX);
        if (s->frames[i].file[0] != '\0')
            json_put_text(&j, "file", s->frames[i].file, 4 * TEXT_MAX);
        if (s->frames[i].line != 0)
            json_put_number(&j, "line", s->frames[i].line);
        json_put_close(&j, '}');
    }
    json_put_close(&j, ']');
    json_put_close(&j, '}');
    json_put_open(&j, "profiles", '[');
    put_profile(&j, s, false);
    put_profile(&j, s, true);
    json_put_close(&j, ']');
    json_put_close(&j, '}');
    gcd_sink_text(to, "\n");
    return gcd_sink_status(to, err);
}

/* ---- all ---- */

enum gcd_sites_format gcd_sites_format_of(const char *path)
{
    static const struct {
        const char *suffix;
        enum gcd_sites_format format;
    } suffixes[] = { { ".pb", GCD_SITES_PPROF },
                     { ".folded", GCD_SITES_COLLAPSED },
                     { ".speedscope.json", GCD_SITES_SPEEDSCOPE } };
    size_t n = gcd_text_without(path, ".gz");
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (gcd_bytes_end(path, n, suffixes[i].suffix))
            return suffixes[i].format;
    }
    return GCD_SITES_NO_FORMAT;
}

gcd_status gcd_sites_write(const struct gcd_sites *s, enum gcd_sites_format format, bool allocated,
                           struct gcd_sink *to, struct gcd_error *err)
{
    switch (format) {
    case GCD_SITES_PPROF:
        return write_pprof(s, to, err);
    case GCD_SITES_COLLAPSED:
        return write_collapsed(s, allocated, to, err);
    case GCD_SITES_SPEEDSCOPE:
        return write_speedscope(s, to, err);
    default:
        return gcd_fail(err, GCD_E_ARG, "sites have no such format");
    }
}
