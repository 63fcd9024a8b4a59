/*
 * Portable PDB (dotnet/runtime, docs/design/specs/PortablePdb-Metadata.md): metadata whose first
 * tables are documents and the sequence points of methods.  An image can contain one, deflated
 * (PE-COFF.md, "Embedded Portable PDB").
 */
#include <gcdumpc/unstable/symbols.h>

#include <string.h>

#include <gcdumpc/unstable/spool.h>

#include "base/cur.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "io/inflate.h"
#include "metadata/meta_tables.h"
#include "metadata/pe.h"

#define TOKEN_METHOD       UINT32_C(0x06000000)
#define TABLE_DOCUMENT     0x30u
#define TABLE_METHOD       0x31u
#define HIDDEN_LINE        UINT32_C(0xfeefee)
#define LINE_MAX_          UINT32_C(0x20000000) /* the format allows fewer */
#define FILE_NAME_MAX      ((size_t)4096)
#define EXPANDED_MAX       (UINT64_C(1) << 30)
#define EXPANDED_IN_MEMORY ((size_t)8 << 20)

struct gcd_symbols {
    struct gcd_alloc alloc;
    struct meta_window w;
    struct meta_tables t;
    struct gcd_input *expanded; /* of an embedded one; NULL = none */
    struct gcd_module_guid guid;
    /* offsets of the tables, their rows, and the bytes of a row */
    uint64_t documents_off, methods_off;
    uint32_t documents, methods;
    uint8_t document_bytes, method_bytes;
    uint8_t blob_bytes, guid_bytes, document_index_bytes;
    char file[3 * FILE_NAME_MAX + 1];
};

static uint32_t index_at(const uint8_t *p, unsigned bytes)
{
    return bytes == 2 ? gcd_le16(p) : gcd_le32(p);
}

/* The tables of the symbols, in stream TABLES. */
static void lay_out_symbols(struct gcd_symbols *s, struct meta_region tables)
{
    struct meta_window *w = &s->w;
    const uint8_t *p = meta_view_in(w, tables, 0, 24);
    uint8_t heaps = p[6];
    uint64_t valid = gcd_le64(p + 8), at = 24;
    s->guid_bytes = heaps & 2 ? 4 : 2;
    s->blob_bytes = heaps & 4 ? 4 : 2;
    if ((valid & ((UINT64_C(1) << TABLE_DOCUMENT) - 1)) != 0)
        meta_fail(w, GCD_E_UNSUPPORTED, tables.off, "the symbols have tables of an image");
    for (unsigned i = TABLE_DOCUMENT; i < 64; i++) {
        if ((valid >> i & 1) == 0)
            continue;
        uint32_t rows = gcd_le32(meta_view_in(w, tables, at, 4));
        at += 4;
        if (rows >= UINT32_C(1) << 24)
            meta_fail(w, GCD_E_FORMAT, tables.off, "a table has more rows than a token can say");
        if (i == TABLE_DOCUMENT)
            s->documents = rows;
        if (i == TABLE_METHOD)
            s->methods = rows;
    }
    s->document_index_bytes = s->documents > UINT16_MAX ? 4 : 2;
    s->document_bytes = (uint8_t)(2 * s->blob_bytes + 2 * s->guid_bytes);
    s->method_bytes = (uint8_t)(s->document_index_bytes + s->blob_bytes);
    s->documents_off = at;
    s->methods_off = at + (uint64_t)s->documents * s->document_bytes;
    uint64_t end = s->methods_off + (uint64_t)s->methods * s->method_bytes;
    if (end > tables.n || tables.off > w->size || tables.n > w->size - tables.off)
        meta_fail(w, GCD_E_FORMAT, tables.off, "the tables are longer than what is there");
    s->documents_off += tables.off;
    s->methods_off += tables.off;
}

static void open_pdb(struct gcd_symbols *s)
{
    struct meta_region tables =
        meta_find_streams(&s->t, &s->w, (struct meta_region){ .off = 0, .n = s->w.size });
    if (s->w.st == GCD_OK && s->t.pdb.n < 20)
        meta_fail(&s->w, GCD_E_UNSUPPORTED, GCD_OFF_NONE, "it has no symbols");
    memcpy(s->guid.bytes, meta_view_in(&s->w, s->t.pdb, 0, 16), sizeof s->guid.bytes);
    lay_out_symbols(s, tables);
}

/* "MPDB", bytes u32, deflate data. */
static gcd_status expand(struct gcd_symbols *s, struct gcd_error *err)
{
    struct meta_window *w = &s->w;
    struct meta_region r = pe_find_embedded(w);
    if (w->st == GCD_OK && r.n == 0)
        return gcd_fail(err, GCD_E_NOT_FOUND, "the image has no symbols in it");
    const uint8_t *p = meta_view_in(w, r, 0, 8);
    uint64_t bytes = gcd_le32(p + 4);
    if (w->st == GCD_OK && memcmp(p, "MPDB", 4) != 0)
        meta_fail(w, GCD_E_UNSUPPORTED, r.off, "the embedded symbols are of an unknown kind");
    if (w->st == GCD_OK && bytes > EXPANDED_MAX)
        meta_fail(w, GCD_E_LIMIT, r.off, "the embedded symbols are too large");
    GCD_TRY(meta_status(w, err));
    struct gcd_input_options options = { .context = { .alloc = &s->alloc },
                                         .reread = true,
                                         .spool_memory_bytes = EXPANDED_IN_MEMORY };
    struct gcd_inflate_part part = { .off = w->base + r.off + 8,
                                     .stored = r.n - 8,
                                     .bytes = bytes };
    GCD_TRY(gcd_input_new_spool(&options, &s->expanded, err));
    GCD_TRY(gcd_inflate_append(w->in, part, s->expanded, &s->alloc, err));
    meta_show(&s->w, s->expanded, 0, UINT64_MAX);
    return GCD_OK;
}

static gcd_status open_symbols(struct gcd_symbols *s, struct gcd_error *err)
{
    const uint8_t *head = meta_view(&s->w, 0, 4);
    if (s->w.st == GCD_OK && head[0] == 'M' && head[1] == 'Z' &&
        head[2] != 'i') /* "Microsoft C…" */
        GCD_TRY(expand(s, err));
    else if (s->w.st == GCD_OK && memcmp(head, "BSJB", 4) != 0)
        return gcd_fail(err, GCD_E_UNSUPPORTED, "it is no portable PDB");
    open_pdb(s);
    return meta_status(&s->w, err);
}

gcd_status gcd_symbols_open(struct gcd_input *in, uint64_t off, uint64_t n,
                            const struct gcd_alloc *alloc, struct gcd_symbols **ret,
                            struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct gcd_symbols *s = gcd_mem_new(&a, sizeof *s);
    if (s == NULL)
        return gcd_fail_nomem(err, "opening symbols");
    s->alloc = a;
    meta_show(&s->w, in, off, n);
    gcd_status st =
        meta_open(&s->w, &a) ? open_symbols(s, err) : gcd_fail_nomem(err, "opening symbols");
    if (st == GCD_OK)
        *ret = s;
    else
        gcd_symbols_free(s);
    return st;
}

void gcd_symbols_free(struct gcd_symbols *s)
{
    if (s == NULL)
        return;
    struct gcd_alloc a = s->alloc;
    gcd_input_free(s->expanded);
    meta_close(&s->w, &a);
    gcd_mem_free(&a, s, sizeof *s);
}

struct gcd_module_guid gcd_symbols_guid(const struct gcd_symbols *s)
{
    return s->guid;
}

/* ---- blobs ---- */

struct reading {
    struct meta_window *w;
    struct meta_region r;
    uint64_t at;
};

static bool has_more(const struct reading *b)
{
    return b->w->st == GCD_OK && b->at < b->r.n;
}

/* A compressed number (ECMA-335 II.23.2); *RET_BITS: how many it can have. */
static uint32_t read_bits(struct reading *b, unsigned *ret_bits)
{
    uint8_t first = *meta_view_in(b->w, b->r, b->at, 1);
    unsigned n = first < 0x80 ? 1 : first < 0xc0 ? 2 : 4;
    uint8_t p[4] = { 0 };
    memcpy(p, meta_view_in(b->w, b->r, b->at, n), n);
    b->at += n;
    *ret_bits = n == 1 ? 7 : n == 2 ? 14 : 29;
    return n == 1 ? p[0]
           : n == 2
               ? (uint32_t)(p[0] & 0x3f) << 8 | p[1]
               : (uint32_t)(p[0] & 0x1f) << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t read_number(struct reading *b)
{
    unsigned bits;
    return read_bits(b, &bits);
}

/* Its sign is in the lowest bit, rotated. */
static int32_t read_signed(struct reading *b)
{
    unsigned bits;
    uint32_t n = read_bits(b, &bits);
    int32_t value = (int32_t)(n >> 1);
    return (n & 1) != 0 ? value - (int32_t)(UINT32_C(1) << (bits - 1)) : value;
}

/* ---- lines ---- */

/* The name of document ROW: a separator, and blobs with its parts. */
static const char *document_name(struct gcd_symbols *s, uint32_t row)
{
    char raw[FILE_NAME_MAX];
    size_t n = 0;
    if (row == 0 || row > s->documents) {
        meta_fail(&s->w, GCD_E_FORMAT, s->documents_off, "a document does not exist");
        return "";
    }
    const uint8_t *p =
        meta_view(&s->w, s->documents_off + (uint64_t)(row - 1) * s->document_bytes, s->blob_bytes);
    struct reading b = { .w = &s->w, .r = meta_blob_region(&s->t, index_at(p, s->blob_bytes)) };
    char separator = b.r.n > 0 ? (char)*meta_view_in(&s->w, b.r, b.at++, 1) : '\0';
    for (bool first = true; has_more(&b); first = false) {
        struct meta_region part = meta_blob_region(&s->t, read_number(&b));
        if (n + part.n + 1 > sizeof raw) {
            meta_fail(&s->w, GCD_E_LIMIT, part.off, "the name of a source file is too long");
            return "";
        }
        if (!first && separator != '\0')
            raw[n++] = separator;
        for (uint64_t at = 0, step; at < part.n; at += step, n += step) {
            step = part.n - at < META_VIEW_MAX ? part.n - at : META_VIEW_MAX;
            memcpy(raw + n, meta_view_in(&s->w, part, at, (size_t)step), (size_t)step);
        }
    }
    s->file[gcd_utf8_sanitize((const uint8_t *)raw, n, s->file)] = '\0';
    return s->file;
}

struct place {
    uint32_t document, line;
};

/* One sequence point: IL offset, lines and columns, where it begins; hidden ones have no line. */
static uint32_t read_point(struct reading *b, uint32_t *line, bool *placed)
{
    uint32_t lines = read_number(b);
    int32_t columns = lines == 0 ? (int32_t)read_number(b) : read_signed(b);
    if (lines == 0 && columns == 0)
        return HIDDEN_LINE;
    if (*placed) {
        *line += (uint32_t)read_signed(b);
        (void)read_signed(b);
    } else {
        *line = read_number(b);
        (void)read_number(b);
    }
    *placed = true;
    return *line;
}

/* The last sequence point of blob B, in DOCUMENT, at or before IL; line 0 = none. */
static struct place find_place(struct reading *b, uint32_t document, uint32_t il)
{
    struct place found = { .line = 0 };
    uint32_t offset = 0, line = 0;
    bool first = true, placed = false;
    (void)read_number(b); /* the signature of local variables */
    if (document == 0)
        document = read_number(b);
    for (; has_more(b); first = false) {
        uint32_t delta = read_number(b);
        if (delta == 0 && !first) {
            document = read_number(b);
            continue;
        }
        if (delta > il - offset) /* OFFSET never exceeds IL */
            break;
        offset += delta;
        uint32_t at = read_point(b, &line, &placed);
        if (at >= LINE_MAX_)
            meta_fail(b->w, GCD_E_FORMAT, b->r.off, "a line is out of range");
        /* code of the compiler's own belongs to the line before it */
        if (at != HIDDEN_LINE)
            found = (struct place){ .document = document, .line = at };
    }
    return found;
}

gcd_status gcd_symbols_line(struct gcd_symbols *s, uint32_t token, uint32_t il_offset,
                            struct gcd_line *ret, struct gcd_error *err)
{
    uint32_t row = token & 0xffffff;
    s->w.st = GCD_OK;
    s->w.err = (struct gcd_error)GCD_ERROR_INIT;
    if ((token & 0xff000000) != TOKEN_METHOD || row == 0 || row > s->methods)
        return GCD_END;
    const uint8_t *p =
        meta_view(&s->w, s->methods_off + (uint64_t)(row - 1) * s->method_bytes, s->method_bytes);
    uint32_t document = index_at(p, s->document_index_bytes);
    struct reading b = { .w = &s->w,
                         .r = meta_blob_region(
                             &s->t, index_at(p + s->document_index_bytes, s->blob_bytes)) };
    struct place found = { .line = 0 };
    if (b.r.n > 0)
        found = find_place(&b, document, il_offset);
    const char *file = found.line != 0 ? document_name(s, found.document) : "";
    GCD_TRY(meta_status(&s->w, err));
    if (found.line == 0)
        return GCD_END;
    *ret = (struct gcd_line){ .file = file, .line = found.line };
    return GCD_OK;
}
