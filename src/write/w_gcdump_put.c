#include "write/gcdump_put.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/io/sink_room.h>

#include "base/error.h"
#include "base/text.h"
#include "io/sink_hole.h"

void gcdump_out_init(struct gcdump_out *o, struct gcd_sink *s)
{
    *o = (struct gcdump_out){ .sink = s, .start = gcd_sink_bytes(s), .st = GCD_OK };
}

void gcdump_out_window(struct gcdump_out *o, void *p, size_t n)
{
    *o = (struct gcdump_out){ .begin = p, .p = p, .end = (uint8_t *)p + n, .st = GCD_OK };
}

void gcdump_out_later(struct gcdump_out *o, struct gcd_sink *s, uint64_t at, void *p, size_t n)
{
    gcdump_out_window(o, p, n);
    o->sink = s;
    o->later_at = at;
}

static void fill_later(struct gcdump_out *o)
{
    size_t n = (size_t)(o->p - o->begin);
    gcd_sink_fill(o->sink, o->later_at, o->begin, n);
    o->later_at += n;
    o->p = o->begin;
}

void gcdump_out_flush(struct gcdump_out *o)
{
    if (o->later_at != 0) {
        fill_later(o);
        return;
    }
    if (o->begin != NULL)
        gcd_sink_advance(o->sink, (size_t)(o->p - o->begin));
    o->begin = o->p = o->end = NULL;
}

void gcdump_out_refill(struct gcdump_out *o)
{
    gcdump_out_flush(o);
    if (o->later_at != 0)
        return;
    o->begin = o->p = (uint8_t *)gcd_sink_reserve(o->sink, GCD_SINK_RESERVE_MAX);
    o->end = o->begin + GCD_SINK_RESERVE_MAX;
}

uint64_t gcdump_out_offset(const struct gcdump_out *o)
{
    return gcd_sink_bytes(o->sink) - o->start + (uint64_t)(o->p - o->begin);
}

void gcdump_put_bytes(struct gcdump_out *o, const void *bytes, size_t n)
{
    gcdump_out_flush(o);
    gcd_sink_write(o->sink, bytes, n);
}

/* ---- strings ---- */

static uint32_t next_char(const uint8_t **p, size_t *n)
{
    uint32_t c;
    size_t len = gcd_utf8_take(*p, *n, &c);
    *p += len;
    *n -= len;
    return c;
}

static void put_unit(struct gcdump_out *o, uint32_t c)
{
    if (c <= 0x7f) {
        gcdump_put_u8(o, c);
    } else if (c <= 0x7ff) {
        gcdump_put_u8(o, 0xc0 | c >> 6);
        gcdump_put_u8(o, 0x80 | (c & 0x3f));
    } else {
        gcdump_put_u8(o, 0xe0 | c >> 12);
        gcdump_put_u8(o, 0x80 | (c >> 6 & 0x3f));
        gcdump_put_u8(o, 0x80 | (c & 0x3f));
    }
}

/* The length counts UTF-16 code units, and each is encoded separately: a character above U+FFFF
 * takes two times three bytes. */
void gcdump_put_text(struct gcdump_out *o, const struct gcdump_text *parts, size_t count)
{
    uint64_t units = 0;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *p = (const uint8_t *)parts[i].s;
        for (size_t n = parts[i].n; n > 0;)
            units += next_char(&p, &n) > 0xffff ? 2 : 1;
    }
    if (units > INT32_MAX) {
        o->st = GCD_E_LIMIT;
        gcdump_put_u32(o, UINT32_MAX);
        return;
    }
    gcdump_put_u32(o, (uint32_t)units);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *p = (const uint8_t *)parts[i].s;
        for (size_t n = parts[i].n; n > 0;) {
            uint32_t c = next_char(&p, &n);
            if (c > 0xffff) {
                put_unit(o, 0xd800 + ((c - 0x10000) >> 10));
                c = 0xdc00 + ((c - 0x10000) & 0x3ff);
            }
            put_unit(o, c);
        }
    }
}

void gcdump_put_string(struct gcdump_out *o, const char *s)
{
    gcdump_put_text(o, &(struct gcdump_text){ s, strlen(s) }, 1);
}

void gcdump_put_string_or_null(struct gcdump_out *o, const char *s)
{
    if (s[0] != '\0')
        gcdump_put_string(o, s);
    else
        gcdump_put_u32(o, UINT32_MAX);
}

void gcdump_put_begin(struct gcdump_out *o, const char *class_name, uint32_t version,
                      uint32_t minimum_reader)
{
    gcdump_put_u8(o, GCDUMP_BEGIN);
    gcdump_put_u8(o, GCDUMP_BEGIN);
    gcdump_put_u8(o, GCDUMP_NULL);
    gcdump_put_u32(o, version);
    gcdump_put_u32(o, minimum_reader);
    gcdump_put_string(o, class_name);
    gcdump_put_u8(o, GCDUMP_END);
}

/* ---- the log ---- */

static void log_number(struct gcd_sink *s, const char *key, uint64_t v)
{
    char line[96];
    (void)snprintf(line, sizeof line, "%s: %" PRIu64 "\n", key, v);
    gcd_sink_text(s, line);
}

static void log_text(struct gcd_sink *s, const char *key, const char *v)
{
    if (v[0] == '\0')
        return;
    gcd_sink_text(s, key);
    gcd_sink_text(s, ": ");
    for (const char *end; *v != '\0'; v = end) { /* a fact takes one line */
        end = v + strcspn(v, "\r\n");
        gcd_sink_write(s, v, (size_t)(end - v));
        if (*end != '\0')
            gcd_sink_text(s, " ");
        end += strspn(end, "\r\n");
    }
    gcd_sink_text(s, "\n");
}

static void log_verdict(struct gcd_sink *s, const struct gcd_verdict *v)
{
    char item[96];
    gcd_sink_text(s, !v->complete    ? "gcdumpc: incomplete:"
                     : v->unverified ? "gcdumpc: unverified"
                                     : "gcdumpc: complete");
    for (size_t i = 0; i < v->reason_count; i++) {
        (void)snprintf(item, sizeof item, " %s=%" PRIu64, v->reasons[i].name, v->reasons[i].amount);
        gcd_sink_text(s, item);
    }
    gcd_sink_text(s, "\n");
    for (size_t i = 0; i < v->reason_count; i++)
        log_text(s, v->reasons[i].name, v->reasons[i].text);
}

static void log_facts(struct gcd_sink *s, const struct gcd_graph *g)
{
    const struct gcd_summary *f = gcd_graph_summary(g);
    const struct gcd_graph_notes *n = gcd_graph_notes(g);
    log_text(s, "command line", f->command_line);
    log_text(s, "os", f->os);
    log_text(s, "arch", f->arch);
    log_text(s, "runtime", f->runtime_version);
    log_number(s, "gc number", f->gc_number);
    log_number(s, "gc depth", f->gc_depth);
    log_number(s, "gc reason", f->gc_reason);
    log_number(s, "gc type", f->gc_type);
    log_number(s, "gc heaps", f->gc_heaps);
    log_number(s, "gc start ns", f->gc_start_ns > 0 ? (uint64_t)f->gc_start_ns : 0);
    log_number(s, "gc end ns", f->gc_end_ns > 0 ? (uint64_t)f->gc_end_ns : 0);
    log_number(s, "references missing", n->edges_missing);
    log_number(s, "references dangling", n->edges_dangling);
    log_number(s, "roots dangling", n->roots_dangling);
    log_number(s, "dependent handles dropped", n->dependents_dropped);
    log_number(s, "objects dropped", n->objects_dropped);
}

gcd_status gcdump_put_log(struct gcdump_out *o, const struct gcd_graph *g,
                          const struct gcd_write_notes *written, const struct gcd_alloc *alloc,
                          struct gcd_error *err)
{
    struct gcd_sink *s;
    GCD_TRY(gcd_sink_new_memory(alloc, &s, err));
    log_verdict(s, &gcd_graph_summary(g)->verdict);
    log_facts(s, g);
    log_number(s, "objects", written->objects);
    log_number(s, "references", written->edges);
    gcd_status st = gcd_sink_commit(s, err);
    if (st == GCD_OK) {
        struct gcdump_text t;
        t.s = (const char *)gcd_sink_memory(s, &t.n);
        gcdump_put_text(o, &t, 1);
    }
    gcd_sink_free(s);
    return st;
}
