/*
 * RPM GC log: text, one record per line; src/write/README.md describes what we write, and this
 * comment what else is accepted.
 *
 * LF or CRLF, blank lines, a byte order mark, upper case, leading zeros and several spaces are
 * fine.  A type may be described after its objects, and an object may be referenced before its own
 * line.  An invalid line is skipped and counted, an invalid reference is omitted. Lines can have
 * any length, so none is held in memory: the first pass reads everything except references, the
 * second one only these. Several sections make one graph; type numbers are valid in their own
 * section, and an object number that occurs in two sections means the object of the first.
 */
#include <gcdumpc/unstable/text/plural.h>

#include <string.h>

#include "base/context.h"
#include "base/error.h"
#include "base/file_sums.h"
#include "base/hex.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/verdict.h"
#include "io/sink_sum.h"
#include "read/read.h"

#define END            (-1)
#define EDGES_AT_ONCE  512u
#define PROGRESS_EVERY UINT64_C(65536)
#define MAX_NAME       ((size_t)16 << 20)

/* A cursor over the bytes of the file. */
struct text {
    struct gcd_reader *reader;
    const uint8_t *p, *end;
    uint64_t line; /* 1 = first */
    bool ended;
    /* checksum of the section up to SUMMED, in the slice */
    uint32_t sum;
    const uint8_t *summed;
    gcd_status st; /* of reading: GCD_OK, or what stopped it */
};

/* A root whose object may come later. */
struct late_root {
    uint64_t object;
    uint32_t type, flags;
    unsigned kind;
};

struct gclog_in {
    struct gcd_alloc alloc;
    const struct gcd_graph_options *options;
    struct gcd_build *b;
    struct gcd_error *err;
    struct text t;
    struct gcd_idmap types; /* of this section: id -> number */
    struct late_root *roots;
    size_t root_count, root_cap;
    char *name; /* of the current line */
    size_t name_n, name_cap;
    char *section; /* name of the section */
    size_t section_n;
    uint64_t stamp;
    bool in_section, seen_end;
    uint32_t sections;
    uint64_t objects; /* of the section */
    uint64_t types_added, types_described;
    bool has_sum, incomplete, complete; /* sections with a checksum: of such dumps */
    uint64_t objects_lost;              /* of sections with a wrong one */
    uint32_t sums_wrong;
    bool prefix_seen; /* a number began with 0x, as CLRProfiler writes addresses */
};

/* ---- bytes and words ---- */

/* The checksum up to P, without carriage returns: we write none, and transfers as text add some. */
static void sum_up(struct text *t, const uint8_t *p)
{
    while (t->summed < p) {
        size_t n = (size_t)(p - t->summed);
        const uint8_t *cr = memchr(t->summed, '\r', n), *to = cr != NULL ? cr : p;
        t->sum = gcd_sum(t->sum, t->summed, (size_t)(to - t->summed));
        t->summed = to + (cr != NULL);
    }
}

static bool refill(struct text *t, struct gcd_error *err)
{
    size_t n = 0;
    if (t->ended)
        return false;
    sum_up(t, t->end);
    gcd_status st = gcd_reader_next(t->reader, &t->p, &n, err);
    t->summed = t->p;
    t->end = n > 0 ? t->p + n : t->p; /* at the end there is no slice to point to */
    t->ended = st != GCD_OK;
    if (st < 0)
        t->st = st;
    return st == GCD_OK;
}

static inline int peek(struct gclog_in *g)
{
    return g->t.p < g->t.end || refill(&g->t, g->err) ? *g->t.p : END;
}

static inline bool is_line_end(int c)
{
    return c == '\n' || c == END;
}

/* A carriage return counts as a space: it only occurs before a line feed. */
static inline void skip_spaces(struct gclog_in *g)
{
    int c;
    while ((c = peek(g)) == ' ' || c == '\t' || c == '\r')
        g->t.p++;
}

static void skip_line(struct gclog_in *g)
{
    int c;
    while (!is_line_end(c = peek(g)))
        g->t.p++;
    if (c == '\n') {
        g->t.p++;
        g->t.line++;
    }
}

static inline int digit(int c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

enum word { WORD_NONE, WORD_NUMBER, WORD_OTHER };

/* The next word of the line as a hexadecimal number.  Skips a word that is not one. */
static enum word next_number(struct gclog_in *g, uint64_t *ret)
{
    uint64_t v = 0;
    unsigned digits = 0;
    bool good = true;
    int c;
    skip_spaces(g);
    if (is_line_end(peek(g)))
        return WORD_NONE;
    while (!is_line_end(c = peek(g)) && c != ' ' && c != '\t' && c != '\r') {
        int d = digit(c);
        g->prefix_seen |= digits == 1 && v == 0 && (c == 'x' || c == 'X');
        digits++;
        good = good && d >= 0 && v >> 60 == 0;
        v = v << 4 | (uint64_t)(d >= 0 ? d : 0);
        g->t.p++;
    }
    *ret = v;
    return good ? WORD_NUMBER : WORD_OTHER;
}

static gcd_status no_memory(struct gclog_in *g)
{
    return gcd_fail_nomem(g->err, "reading a gclog file");
}

/* The rest of the line into g->name, without the CR of a line end. */
static gcd_status take_rest(struct gclog_in *g)
{
    int c;
    g->name_n = 0;
    while (!is_line_end(c = peek(g))) {
        if (!gcd_vec_reserve(&g->alloc, &g->name, &g->name_cap, g->name_n + 1, 1, MAX_NAME))
            return g->name_n >= MAX_NAME
                       ? gcd_fail(g->err, GCD_E_LIMIT, "line %llu: a name of more than 16 MiB",
                                  (unsigned long long)g->t.line)
                       : no_memory(g);
        /* like writers do: NUL would end the name, or leave it empty */
        g->name[g->name_n++] = c != '\0' ? (char)c : '_';
        g->t.p++;
    }
    if (g->name_n > 0 && g->name[g->name_n - 1] == '\r')
        g->name_n--;
    return GCD_OK;
}

static void damaged(struct gclog_in *g, uint64_t line)
{
    struct gcd_graph_notes *n = gcd_build_notes(g->b);
    if (n->records_damaged++ == 0)
        n->damaged_line = line;
}

/* ---- records of the first pass; each function reads to the end of its line ---- */

/* The number of type ID; creates a type that is not described yet, its name comes later or never.
 */
static gcd_status type_of(struct gclog_in *g, uint64_t id, uint32_t *ret)
{
    *ret = gcd_idmap_get(&g->types, id);
    if (*ret != GCD_IDMAP_NONE)
        return GCD_OK;
    char name[GCD_HEX_MAX + 8] = "Type(";
    char *end = gcd_hex_put(name + 5, id);
    memcpy(end, ")", 2);
    struct gcd_type t = { .id = id, .name = name, .module_path = "" };
    g->types_added++;
    GCD_TRY(gcd_build_type(g->b, &t, ret, g->err));
    return gcd_idmap_put(&g->types, id, *ret) ? GCD_OK : no_memory(g);
}

/* KEY and a hexadecimal number in the name of the checksum. */
static bool sum_field(const struct gclog_in *g, const char *key, uint64_t *ret)
{
    const char *p = memmem(g->name, g->name_n, key, strlen(key)), *end = g->name + g->name_n;
    uint64_t v = 0;
    int d = -1;
    if (p == NULL)
        return false;
    for (p += strlen(key); p < end && (d = digit((unsigned char)*p)) >= 0 && v >> 60 == 0; p++)
        v = v << 4 | (uint64_t)d;
    *ret = v;
    return p < end && (*p == ' ' || *p == ']');
}

static bool name_begins(const struct gclog_in *g, const char *with)
{
    return g->name_n >= strlen(with) && memcmp(g->name, with, strlen(with)) == 0;
}

/* False: it is a type. */
static bool sum_record(struct gclog_in *g, uint32_t sum)
{
    uint64_t told, objects, references;
    if (!name_begins(g, GCLOG_SUM_NAME) || !sum_field(g, " crc32=", &told) ||
        !sum_field(g, " objects=", &objects) || !sum_field(g, " references=", &references))
        return false;
    bool unverified = name_begins(g, GCLOG_SUM_NAME "unverified "),
         complete = name_begins(g, GCLOG_SUM_NAME "complete ");
    g->complete = complete && (g->complete || !g->has_sum);
    g->incomplete = g->incomplete || (!complete && !unverified);
    g->has_sum = true;
    if (told == sum)
        return true;
    g->sums_wrong++;
    g->objects_lost += objects > g->objects ? objects - g->objects : 0;
    return true;
}

/* SUM: of the section up to the record. */
static gcd_status type_record(struct gclog_in *g, uint64_t line, uint32_t sum)
{
    uint64_t id;
    uint32_t number;
    if (next_number(g, &id) != WORD_NUMBER || is_line_end(peek(g))) {
        damaged(g, line);
        return GCD_OK;
    }
    g->t.p++; /* one separator, the rest is the name */
    GCD_TRY(take_rest(g));
    if (g->name_n == 0) {
        damaged(g, line);
        return GCD_OK;
    }
    if (sum_record(g, sum))
        return GCD_OK;
    GCD_TRY(type_of(g, id, &number));
    bool again;
    GCD_TRY(gcd_build_type_name(g->b, number, g->name, g->name_n, &again, g->err));
    g->types_described += !again;
    if (again) /* defined twice: the first one counts */
        damaged(g, line);
    return GCD_OK;
}

/* A line that looks like roots or objects but is not; CLRProfiler uses the same letters. */
static gcd_status not_understood(struct gclog_in *g, uint64_t line)
{
    if (g->prefix_seen)
        return gcd_fail(g->err, GCD_E_UNSUPPORTED,
                        "line %llu: this is a CLRProfiler log, not an RPM gclog",
                        (unsigned long long)line);
    damaged(g, line);
    return GCD_OK;
}

static gcd_status root_record(struct gclog_in *g, uint64_t line)
{
    static const unsigned kinds[] = { GCD_ROOT_OTHER,  GCD_ROOT_STACK,  GCD_ROOT_FINALIZER,
                                      GCD_ROOT_HANDLE, GCD_ROOT_STATIC, GCD_ROOT_OTHER };
    uint64_t object, kind, flags, container = 0;
    if (next_number(g, &object) != WORD_NUMBER || next_number(g, &kind) != WORD_NUMBER ||
        next_number(g, &flags) != WORD_NUMBER)
        return not_understood(g, line);
    if (object == 0)
        return GCD_OK;
    if (kind >= sizeof kinds / sizeof *kinds)
        damaged(g, line);
    struct late_root r = { .object = object,
                           .type = GCD_NODE_NONE,
                           .flags = (uint32_t)flags,
                           .kind =
                               kind < sizeof kinds / sizeof *kinds ? kinds[kind] : GCD_ROOT_OTHER };
    if (r.kind == GCD_ROOT_STATIC && next_number(g, &container) == WORD_NUMBER)
        GCD_TRY(type_of(g, container, &r.type));
    if (!gcd_vec_reserve(&g->alloc, &g->roots, &g->root_cap, g->root_count + 1, sizeof *g->roots,
                         SIZE_MAX / sizeof *g->roots))
        return no_memory(g);
    g->roots[g->root_count++] = r;
    return GCD_OK;
}

/* "o ID TYPE SIZE", both passes: is it a record? */
static bool object_head(struct gclog_in *g, uint64_t *id, uint64_t *type, uint64_t *size)
{
    return next_number(g, id) == WORD_NUMBER && *id != 0 && next_number(g, type) == WORD_NUMBER &&
           next_number(g, size) == WORD_NUMBER;
}

static gcd_status object_record(struct gclog_in *g, uint64_t line)
{
    uint64_t id, type, size;
    uint32_t number;
    if (!object_head(g, &id, &type, &size))
        return not_understood(g, line);
    GCD_TRY(type_of(g, type, &number));
    g->objects++;
    return gcd_build_node(g->b, id, number, size, g->err);
}

/* NAME [STAMP] in g->name; the stamp is the last word when it has at most eight hexadecimal digits
 * and is not the only word. */
static void split_stamp(struct gclog_in *g, size_t *ret_n, uint64_t *ret_stamp)
{
    const char *s = g->name;
    size_t n = g->name_n, start;
    while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t'))
        n--;
    *ret_n = n;
    *ret_stamp = 0;
    for (start = n; start > 0 && s[start - 1] != ' '; start--)
        if (digit((unsigned char)s[start - 1]) < 0)
            return;
    if (start == 0 || n - start > 8)
        return;
    for (size_t i = start; i < n; i++)
        *ret_stamp = *ret_stamp << 4 | (uint64_t)digit((unsigned char)s[i]);
    while (start > 0 && s[start - 1] == ' ')
        start--;
    *ret_n = start;
}

static gcd_status begin_record(struct gclog_in *g, uint64_t line)
{
    uint64_t version;
    if (next_number(g, &version) != WORD_NUMBER || version != 2)
        damaged(g, line); /* continue: no other version exists */
    skip_spaces(g);
    GCD_TRY(take_rest(g));
    size_t n;
    split_stamp(g, &n, &g->stamp);
    gcd_idmap_clear(&g->types);
    g->in_section = true;
    g->seen_end = false;
    g->sections++;
    g->objects = 0;
    gcd_mem_free(&g->alloc, g->section, g->section_n);
    g->section_n = 0;
    g->section = gcd_mem_new(&g->alloc, n > 0 ? n : 1);
    if (g->section == NULL)
        return no_memory(g);
    g->section_n = n > 0 ? n : 1;
    if (n > 0)
        memcpy(g->section, g->name, n);
    struct gcd_summary *f = gcd_build_summary(g->b);
    if (f->process_name[0] != '\0') /* from the first section */
        return GCD_OK;
    f->gc_start_ns = f->gc_end_ns = (int64_t)g->stamp * 1000000;
    return gcd_build_text(g->b, g->name, n, &f->process_name, g->err);
}

static gcd_status end_record(struct gclog_in *g, uint64_t line)
{
    size_t n;
    uint64_t stamp;
    skip_spaces(g);
    GCD_TRY(take_rest(g));
    split_stamp(g, &n, &stamp);
    bool same = g->in_section && stamp == g->stamp && n == strnlen(g->section, g->section_n) &&
                (n == 0 || memcmp(g->name, g->section, n) == 0);
    if (!same)
        damaged(g, line);
    g->in_section = false;
    g->seen_end = true;
    return GCD_OK;
}

static gcd_status record(struct gclog_in *g, int letter)
{
    uint64_t line = g->t.line;
    if (letter == 'a') { /* the checksum begins with the section */
        g->t.sum = 0;
        g->t.summed = g->t.p;
    } else if (letter == 't') {
        sum_up(&g->t, g->t.p);
    }
    uint32_t sum = g->t.sum;
    g->t.p++;
    int c = peek(g);
    if (c != ' ' && c != '\t') {
        damaged(g, line);
        return GCD_OK;
    }
    switch (letter) {
    case 'a':
        return begin_record(g, line);
    case 't':
        return type_record(g, line, sum);
    case 'r':
        return root_record(g, line);
    case 'o':
        return object_record(g, line);
    case 'c':
        return end_record(g, line);
    default:
        damaged(g, line);
        return GCD_OK;
    }
}

/* ---- the two passes ---- */

static gcd_status start(struct gclog_in *g, struct gcd_input *in)
{
    g->t = (struct text){ .line = 1 };
    GCD_TRY(gcd_reader_new(in, &g->t.reader, g->err));
    static const uint8_t mark[] = { 0xef, 0xbb, 0xbf };
    for (size_t i = 0; i < sizeof mark && peek(g) == mark[i]; i++)
        g->t.p++;
    return GCD_OK;
}

static void show_progress(const struct gclog_in *g)
{
    if (g->t.line % PROGRESS_EVERY == 0)
        gcd_context_report(&g->options->context, gcd_reader_position(g->t.reader),
                           g->options->progress_total);
}

static bool canceled(const struct gclog_in *g)
{
    return g->t.line % PROGRESS_EVERY == 0 && gcd_is_canceled(g->options->context.cancel);
}

static gcd_status first_pass(struct gclog_in *g)
{
    int c;
    while (skip_spaces(g), (c = peek(g)) != END) {
        if (c != '\n')
            GCD_TRY(record(g, c));
        skip_line(g);
        show_progress(g);
        if (canceled(g))
            return gcd_fail(g->err, GCD_E_CANCELED, "interrupted");
    }
    return g->t.st;
}

/* The references of the object whose head was just read. */
static gcd_status put_edges(struct gclog_in *g, uint64_t line)
{
    uint64_t targets[EDGES_AT_ONCE];
    size_t n = 0;
    enum word w;
    while ((w = next_number(g, &targets[n])) != WORD_NONE) {
        if (w == WORD_OTHER)
            damaged(g, line);
        else if (targets[n] != 0) /* null */
            n++;
        if (n == EDGES_AT_ONCE) {
            GCD_TRY(gcd_build_edges(g->b, targets, n, g->err));
            n = 0;
        }
    }
    return gcd_build_edges(g->b, targets, n, g->err);
}

static gcd_status second_pass(struct gclog_in *g)
{
    int c;
    while (skip_spaces(g), (c = peek(g)) != END) {
        uint64_t line = g->t.line, id, type, size;
        if (c == 'o') {
            g->t.p++;
            c = peek(g);
            if ((c == ' ' || c == '\t') && object_head(g, &id, &type, &size)) {
                GCD_TRY(gcd_build_next_node(g->b, g->err));
                GCD_TRY(put_edges(g, line));
            }
        }
        skip_line(g);
        show_progress(g);
    }
    return g->t.st;
}

static gcd_status put_roots(struct gclog_in *g)
{
    for (size_t i = 0; i < g->root_count; i++) {
        const struct late_root *r = &g->roots[i];
        uint32_t node = gcd_build_find(g->b, r->object);
        struct gcd_root root = {
            .node = node, .kind = r->kind, .flags = r->flags, .type = r->type
        };
        if (r->type == GCD_NODE_NONE)
            root.type = node != GCD_NODE_NONE ? gcd_build_node_type(g->b, node) : 0;
        GCD_TRY(gcd_build_root(g->b, &root, g->err));
    }
    return GCD_OK;
}

static void judge(struct gclog_in *g)
{
    struct gcd_verdict *v = &gcd_build_summary(g->b)->verdict;
    const struct gcd_graph_notes *n = gcd_build_notes(g->b);
    uint64_t unnamed = g->types_added - g->types_described;
    v->complete = true;
    v->unverified = !g->complete && !g->incomplete;
    if (!g->seen_end)
        gcd_verdict_add(v, GCD_REASON_TRACE_TRUNCATED, g->t.line,
                        "the file ends before its last record, at line %llu",
                        (unsigned long long)g->t.line);
    if (n->records_damaged > 0)
        gcd_verdict_add(v, GCD_REASON_TRACE_DAMAGED, n->records_damaged,
                        "%s lines were not understood, the first is line %llu",
                        GCD_DIGITS(n->records_damaged), (unsigned long long)n->damaged_line);
    if (g->sums_wrong > 0)
        gcd_verdict_add(v, GCD_REASON_INPUT_DAMAGED, 0,
                        "the file was changed after it was written: its checksum is wrong");
    else if (n->objects_doubled > 0 && g->sections <= 1 && !g->has_sum)
        gcd_verdict_add(v, GCD_REASON_INPUT_DAMAGED, 0,
                        "the file is damaged: objects have the number of another one");
    if (g->incomplete)
        gcd_verdict_add(v, GCD_REASON_LOSS_UNVERIFIED, 0,
                        "the dump was incomplete when this file was written");
    if (g->objects_lost > 0)
        gcd_verdict_add(v, GCD_REASON_OBJECTS_LOST, g->objects_lost,
                        "%s object%s of the file %s lost", GCD_DIGITS(g->objects_lost),
                        gcd_plural(g->objects_lost), gcd_by_number(g->objects_lost, "is", "are"));
    if (unnamed > 0)
        gcd_verdict_add(v, GCD_REASON_TYPES_UNDESCRIBED, unnamed, "%s type%s no record",
                        GCD_DIGITS(unnamed), gcd_by_number(unnamed, " has", "s have"));
}

static gcd_status gclog_read(struct gcd_input *in, const struct gcd_graph_options *options,
                             struct gcd_build *b, struct gcd_error *err)
{
    struct gclog_in g = { .alloc = gcd_alloc_or_default(options->context.alloc),
                          .options = options,
                          .b = b,
                          .err = err };
    gcd_idmap_init(&g.types, &g.alloc);
    gcd_status st = start(&g, in);
    if (st == GCD_OK)
        st = first_pass(&g);
    gcd_reader_free(g.t.reader);
    g.t.reader = NULL;
    if (st == GCD_OK)
        st = gcd_build_nodes_end(b, err);
    if (st == GCD_OK)
        st = start(&g, in);
    if (st == GCD_OK)
        st = second_pass(&g);
    gcd_reader_free(g.t.reader);
    if (st == GCD_OK)
        st = put_roots(&g);
    if (st == GCD_OK)
        judge(&g);
    gcd_idmap_done(&g.types);
    gcd_mem_free(&g.alloc, g.roots, g.root_cap * sizeof *g.roots);
    gcd_mem_free(&g.alloc, g.name, g.name_cap);
    gcd_mem_free(&g.alloc, g.section, g.section_n);
    return st;
}

/* A record letter, a space, a hexadecimal number: also a file without its first line, and a
 * CLRProfiler log, which is refused later. */
static bool gclog_probe(const uint8_t *head, size_t n)
{
    size_t i = n >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (i < n && (head[i] == '\n' || head[i] == '\r' || head[i] == ' '))
        i++;
    return n - i >= 3 && memchr("atro", head[i], 4) != NULL &&
           (head[i + 1] == ' ' || head[i + 1] == '\t') && digit(head[i + 2]) >= 0;
}

const struct graph_reader gcd_r_gclog = {
    .name = "gclog",
    .probe = gclog_probe,
    .read = gclog_read,
};
