/*
 * The bundle of a single-file program (.NET 5 and later).
 *
 * Somewhere in the data of the host program are 8 bytes, the offset of the header, followed by a
 * signature of 32 bytes.  The header: major, minor version u32, count of files i32, id text, from
 * version 2 on offset and size of two JSON files and flags (5 x u64), then the files: offset, size
 * i64, from version 6 on compressed size i64, kind u8, path text.  A text is preceded by its
 * length, seven bits per byte.  Compressed data are deflate without a header.  Inferred from
 * bundles made by the SDKs of .NET 8 to 10.
 */
#include <gcdumpc/unstable/bundle.h>
#include <gcdumpc/unstable/spool.h>

#include <string.h>

#include "base/cur.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "io/inflate.h"
#include "metadata/meta_window.h"

#define MARK_BYTES     32u
#define SCAN_MAX       ((uint64_t)64 << 20)
#define SCAN_STEP      ((size_t)64 * 1024)
#define PATH_BYTES_MAX ((size_t)4096)
#define FILES_MAX      UINT32_C(1000000)
#define EXPAND_MAX     ((uint64_t)256 << 20)

/* SHA-256 of ".net core bundle\n"; every byte is off by one here, so that a program with this code
 * does not look like a bundle. */
static const uint8_t mark_plus_one[MARK_BYTES] = { 0x8c, 0x13, 0x03, 0xba, 0x6b, 0x62, 0x21, 0x39,
                                                   0x73, 0x7c, 0x94, 0x03, 0x15, 0xd8, 0xa1, 0x33,
                                                   0x14, 0xf6, 0xba, 0xe7, 0xf0, 0xaf, 0x34, 0x19,
                                                   0xef, 0x3c, 0x2e, 0xcf, 0x25, 0xb4, 0x6b, 0xaf };

struct gcd_bundle {
    struct gcd_alloc alloc;
    struct meta_window w;
    uint64_t at; /* of the next file's entry */
    uint32_t left, version;
    char path[3 * PATH_BYTES_MAX + 1];
};

/* The signature in N bytes, or NULL. */
static const uint8_t *find_mark(const uint8_t *p, size_t n)
{
    /* volatile, so that the compiler does not compute it */
    const volatile uint8_t *from = mark_plus_one;
    uint8_t mark[MARK_BYTES];
    for (size_t i = 0; i < MARK_BYTES; i++)
        mark[i] = (uint8_t)(from[i] - 1);
    return memmem(p, n, mark, sizeof mark);
}

/* The offset of the header, from the bytes before the signature. */
static gcd_status find_header(struct gcd_bundle *b, uint8_t *buf, uint64_t *ret,
                              struct gcd_error *err)
{
    for (uint64_t off = 0; off < b->w.size && off < SCAN_MAX; off += SCAN_STEP - MARK_BYTES - 8) {
        size_t got;
        GCD_TRY(gcd_input_read_at(b->w.in, off, buf, SCAN_STEP, &got, err));
        const uint8_t *mark = got > 8 ? find_mark(buf + 8, got - 8) : NULL;
        if (mark != NULL && gcd_le64(mark - 8) != 0) {
            *ret = gcd_le64(mark - 8);
            return GCD_OK;
        }
        if (got < SCAN_STEP)
            break;
    }
    return gcd_fail(err, GCD_E_UNSUPPORTED, "it is no bundle");
}

static uint32_t next_u32(struct gcd_bundle *b)
{
    uint32_t v = gcd_le32(meta_view(&b->w, b->at, 4));
    b->at += 4;
    return v;
}

static uint64_t next_u64(struct gcd_bundle *b)
{
    uint64_t v = gcd_le64(meta_view(&b->w, b->at, 8));
    b->at += 8;
    return v;
}

/* A text, as it becomes b->path. */
static void next_text(struct gcd_bundle *b)
{
    uint8_t raw[PATH_BYTES_MAX];
    uint32_t n = 0, more = 1;
    for (unsigned shift = 0; more != 0 && shift < 21; shift += 7) {
        uint8_t byte = *meta_view(&b->w, b->at++, 1);
        n |= (uint32_t)(byte & 0x7f) << shift;
        more = byte & 0x80;
    }
    if (more != 0 || n > sizeof raw) {
        meta_fail(&b->w, GCD_E_FORMAT, b->at, "a path in the bundle is too long");
        n = 0;
    }
    for (size_t done = 0, step; done < n; done += step) {
        step = n - done < META_VIEW_MAX ? n - done : META_VIEW_MAX;
        memcpy(raw + done, meta_view(&b->w, b->at + done, step), step);
    }
    b->at += n;
    b->path[gcd_utf8_sanitize(raw, n, b->path)] = '\0';
}

static void read_header(struct gcd_bundle *b, uint64_t header)
{
    b->at = header;
    b->version = next_u32(b);
    (void)next_u32(b);
    b->left = next_u32(b);
    next_text(b);
    if (b->w.st == GCD_OK && (b->version < 2 || b->version > 6))
        meta_fail(&b->w, GCD_E_UNSUPPORTED, header, "the bundle has an unknown version");
    if (b->left > FILES_MAX)
        meta_fail(&b->w, GCD_E_FORMAT, header, "the bundle has more files than any program");
    b->at += 40;
}

gcd_status gcd_bundle_open(struct gcd_input *in, const struct gcd_alloc *alloc,
                           struct gcd_bundle **ret, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct gcd_bundle *b = gcd_mem_new(&a, sizeof *b);
    if (b == NULL)
        return gcd_fail_nomem(err, "opening a bundle");
    _Static_assert(SCAN_STEP <= META_PAGES * META_PAGE_BYTES,
                   "the pages are not used before the mark is found");
    b->alloc = a;
    meta_show(&b->w, in, 0, UINT64_MAX);
    uint64_t header = 0;
    gcd_status st = meta_open(&b->w, &a) ? find_header(b, b->w.pages, &header, err)
                                         : gcd_fail_nomem(err, "opening a bundle");
    if (st == GCD_OK) {
        read_header(b, header);
        st = meta_status(&b->w, err);
    }
    if (st == GCD_OK)
        *ret = b;
    else
        gcd_bundle_free(b);
    return st;
}

void gcd_bundle_free(struct gcd_bundle *b)
{
    if (b == NULL)
        return;
    struct gcd_alloc a = b->alloc;
    meta_close(&b->w, &a);
    gcd_mem_free(&a, b, sizeof *b);
}

gcd_status gcd_bundle_next(struct gcd_bundle *b, struct gcd_bundle_file *ret, struct gcd_error *err)
{
    if (b->left == 0 && b->w.st == GCD_OK)
        return GCD_END;
    struct gcd_bundle_file f = { .path = b->path };
    f.off = next_u64(b);
    f.bytes = next_u64(b);
    f.stored_bytes = b->version >= 6 ? next_u64(b) : 0;
    uint8_t kind = *meta_view(&b->w, b->at++, 1);
    next_text(b);
    uint64_t there = f.stored_bytes != 0 ? f.stored_bytes : f.bytes;
    if (b->w.st == GCD_OK && (f.off > b->w.size || there > b->w.size - f.off))
        meta_fail(&b->w, GCD_E_TRUNCATED, b->w.size, "a file of the bundle leads out of it");
    if (kind > GCD_BUNDLE_SYMBOLS)
        kind = GCD_BUNDLE_UNKNOWN;
    f.kind = (enum gcd_bundle_kind)kind;
    GCD_TRY(meta_status(&b->w, err)); /* permanent: what follows cannot be found */
    b->left--;
    *ret = f;
    return GCD_OK;
}

gcd_status gcd_bundle_expand(struct gcd_bundle *b, const struct gcd_bundle_file *f,
                             const struct gcd_input_options *options, struct gcd_input **ret,
                             struct gcd_error *err)
{
    struct gcd_input *spool = NULL;
    if (f->stored_bytes == 0)
        return gcd_fail(err, GCD_E_ARG, "the file is not compressed");
    if (f->bytes > EXPAND_MAX)
        return gcd_fail_at(err, GCD_E_LIMIT, f->off, "a file of the bundle is larger than 256 MiB");
    GCD_TRY(gcd_input_new_spool(options, &spool, err));
    struct gcd_inflate_part part = { .off = f->off, .stored = f->stored_bytes, .bytes = f->bytes };
    gcd_status st = gcd_inflate_append(b->w.in, part, spool, &b->alloc, err);
    if (st == GCD_OK)
        *ret = spool;
    else
        gcd_input_free(spool);
    return st;
}
