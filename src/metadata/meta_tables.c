#include "metadata/meta_tables.h"

#include <string.h>

#include "base/cur.h"
#include "base/text.h"
#include "metadata/meta_schema.h"

#define STREAMS_MAX 16u
#define VERSION_MAX 255u /* II.24.2.1 */

enum { WIDE_STRINGS = 1, WIDE_GUIDS = 2, WIDE_BLOBS = 4, EXTRA_DATA = 0x40 };

/* ---- streams ---- */

/* Reads a stream's name, up to 32 bytes with the zero, padded to a multiple of four; sets *AT to
 * the next header. */
static void stream_name(struct meta_window *w, struct meta_region r, uint64_t *at, char name[32])
{
    size_t n = 0;
    for (bool ended = false; !ended && n < 32; n += 4) {
        memcpy(name + n, meta_view_in(w, r, *at + n, 4), 4);
        ended = memchr(name + n, '\0', 4) != NULL;
    }
    name[31] = '\0';
    *at += n;
}

struct meta_region meta_find_streams(struct meta_tables *t, struct meta_window *w,
                                     struct meta_region r)
{
    struct meta_region tables = { 0 };
    t->w = w;
    const uint8_t *root = meta_view_in(t->w, r, 0, 16);
    uint32_t version = gcd_le32(root + 12);
    if (memcmp(root, "BSJB", 4) != 0)
        meta_fail(t->w, GCD_E_FORMAT, r.off, "the signature of the metadata is missing");
    if (version > VERSION_MAX + 1)
        meta_fail(t->w, GCD_E_FORMAT, r.off, "the version of the metadata is too long");
    uint64_t at = 16 + (uint64_t)version;
    uint32_t streams = gcd_le16(meta_view_in(t->w, r, at + 2, 2));
    if (streams > STREAMS_MAX)
        meta_fail(t->w, GCD_E_FORMAT, r.off, "too many streams");
    at += 4;
    for (uint32_t i = 0; i < streams && t->w->st == GCD_OK; i++) {
        char name[32];
        const uint8_t *p = meta_view_in(t->w, r, at, 8);
        struct meta_region s = { .off = gcd_le32(p), .n = gcd_le32(p + 4) };
        at += 8;
        stream_name(t->w, r, &at, name);
        if (s.off > r.n || s.n > r.n - s.off)
            meta_fail(t->w, GCD_E_FORMAT, r.off, "a stream leads out of the metadata");
        s.off += r.off;
        if (strcmp(name, "#~") == 0 || strcmp(name, "#-") == 0)
            tables = s;
        else if (strcmp(name, "#Pdb") == 0)
            t->pdb = s;
        else if (strcmp(name, "#Strings") == 0)
            t->strings = s;
        else if (strcmp(name, "#GUID") == 0)
            t->guids = s;
        else if (strcmp(name, "#Blob") == 0)
            t->blobs = s;
    }
    return tables;
}

/* ---- layout of the tables ---- */

static uint8_t coded_bytes(const struct meta_tables *t, enum coded kind)
{
    for (unsigned i = 0; i < coded_kinds[kind].n; i++)
        if (t->table[coded_kinds[kind].table[i]].rows >= UINT32_C(1)
                                                             << (16 - coded_kinds[kind].tag_bits))
            return 4;
    return 2;
}

static uint8_t column_bytes(const struct meta_tables *t, uint8_t column, uint8_t heaps)
{
    switch (column) {
    case COLUMN_2:
        return 2;
    case COLUMN_4:
        return 4;
    case COLUMN_STRING:
        return heaps & WIDE_STRINGS ? 4 : 2;
    case COLUMN_GUID:
        return heaps & WIDE_GUIDS ? 4 : 2;
    case COLUMN_BLOB:
        return heaps & WIDE_BLOBS ? 4 : 2;
    default:
        if (column >= COLUMN_CODED)
            return coded_bytes(t, (enum coded)(column - COLUMN_CODED));
        return column < META_TABLES && t->table[column].rows > UINT16_MAX ? 4 : 2;
    }
}

/* Tables begin AT bytes into their stream. */
static void lay_out(struct meta_tables *t, struct meta_region r, uint64_t at, uint8_t heaps)
{
    for (unsigned i = 0; i < META_TABLES; i++) {
        uint8_t bytes = 0;
        for (unsigned c = 0; columns[i][c] != COLUMN_END; c++) {
            bytes = (uint8_t)(bytes + column_bytes(t, columns[i][c], heaps));
            t->table[i].at[c + 1] = bytes;
        }
        t->table[i].row_bytes = bytes;
        t->table[i].off = r.off + at;
        at += (uint64_t)bytes * t->table[i].rows;
    }
    if (at > r.n || r.off + r.n > t->w->size)
        meta_fail(t->w, r.off + r.n > t->w->size ? GCD_E_TRUNCATED : GCD_E_FORMAT, r.off,
                  "the tables are longer than what is there");
}

/* In the tables of edit and continue ("#-") others may say in which order the rows come.  The
 * metadata of assemblies that are generated at run time have that name, too, but not these. */
static bool is_edited(const struct meta_tables *t)
{
    static const uint8_t tables[] = { META_FIELD_PTR, META_METHOD_PTR,   META_PARAM_PTR,
                                      META_EVENT_PTR, META_PROPERTY_PTR, META_EDIT_LOG };
    uint64_t rows = 0;
    for (size_t i = 0; i < sizeof tables; i++)
        rows += t->table[tables[i]].rows;
    return rows > 0;
}

void meta_tables_open(struct meta_tables *t, struct meta_window *w, struct meta_region r)
{
    struct meta_region s = meta_find_streams(t, w, r);
    const uint8_t *p = meta_view_in(w, s, 0, 24);
    uint8_t heaps = p[6];
    uint64_t valid = gcd_le64(p + 8), at = 24;
    for (unsigned i = 0; i < 64; i++) {
        if ((valid >> i & 1) == 0)
            continue;
        uint32_t rows = gcd_le32(meta_view_in(w, s, at, 4));
        at += 4;
        if (rows >= UINT32_C(1) << 24)
            meta_fail(w, GCD_E_FORMAT, s.off, "a table has more rows than a token can say");
        if (i < META_TABLES && w->st == GCD_OK)
            t->table[i].rows = rows;
    }
    if (heaps & EXTRA_DATA)
        at += 4;
    if (is_edited(t))
        meta_fail(w, GCD_E_UNSUPPORTED, s.off, "the metadata are of edit and continue");
    if (w->st == GCD_OK)
        lay_out(t, s, at, heaps);
}

/* ---- cells ---- */

uint32_t meta_cell(struct meta_tables *t, enum meta_table table, uint32_t row, unsigned column)
{
    if (row == 0 || row > t->table[table].rows) {
        meta_fail(t->w, GCD_E_FORMAT, GCD_OFF_NONE, "a row that does not exist is referred to");
        return 0;
    }
    const uint8_t *at = t->table[table].at;
    size_t n = (size_t)(at[column + 1] - at[column]);
    const uint8_t *p = meta_view(
        t->w, t->table[table].off + (uint64_t)(row - 1) * t->table[table].row_bytes + at[column],
        n);
    return n == 2 ? gcd_le16(p) : gcd_le32(p);
}

/* Checks the rows, not the header: in a table that is not sorted, a search would miss rows, and
 * names would be silently wrong. */
static bool is_sorted(struct meta_tables *t, enum meta_table table, unsigned column)
{
    uint32_t before = 0;
    for (uint32_t row = 1; !t->sorted[table] && row <= t->table[table].rows; row++) {
        uint32_t value = meta_cell(t, table, row, column);
        if (value < before)
            meta_fail(t->w, GCD_E_UNSUPPORTED, t->table[table].off, "a table is not sorted");
        if (t->w->st != GCD_OK)
            return false;
        before = value;
    }
    return t->sorted[table] = t->w->st == GCD_OK;
}

uint32_t meta_find_last(struct meta_tables *t, enum meta_table table, unsigned column,
                        uint32_t value)
{
    /* the answer is in [low, high] */
    uint32_t low = 0, high = is_sorted(t, table, column) ? t->table[table].rows : 0;
    while (low < high && t->w->st == GCD_OK) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (meta_cell(t, table, middle, column) <= value)
            low = middle;
        else
            high = middle - 1;
    }
    return t->w->st == GCD_OK ? low : 0;
}

uint32_t meta_find(struct meta_tables *t, enum meta_table table, unsigned column, uint32_t value,
                   uint32_t *ret_first)
{
    uint32_t before = value > 0 ? meta_find_last(t, table, column, value - 1) : 0;
    uint32_t last = meta_find_last(t, table, column, value);
    *ret_first = before + 1;
    return last > before && t->w->st == GCD_OK ? last - before : 0;
}

/* ---- heaps ---- */

const char *meta_string(struct meta_tables *t, uint32_t index)
{
    uint8_t raw[META_STRING_MAX];
    size_t n = 0;
    for (bool ended = index == 0; !ended;) {
        uint64_t at = (uint64_t)index + n, left = at < t->strings.n ? t->strings.n - at : 0;
        size_t step = left < 64 ? (size_t)left : 64;
        const uint8_t *p = meta_view_in(t->w, t->strings, at, step == 0 ? 1 : step),
                      *end = memchr(p, 0, step);
        ended = end != NULL || t->w->st != GCD_OK;
        size_t take = end != NULL ? (size_t)(end - p) : step;
        if (n + take > sizeof raw) {
            meta_fail(t->w, GCD_E_LIMIT, t->strings.off + index,
                      "a name is longer than any compiler writes");
            take = 0;
            ended = true;
        }
        memcpy(raw + n, p, take);
        n += take;
    }
    t->string[t->w->st == GCD_OK ? gcd_utf8_sanitize(raw, n, t->string) : 0] = '\0';
    return t->string;
}

struct meta_region meta_blob_region(struct meta_tables *t, uint32_t index)
{
    uint64_t left = index < t->blobs.n ? t->blobs.n - index : 0;
    size_t header = left < 4 ? (size_t)left : 4;
    struct meta_region r = { .off = t->blobs.off + index };
    if (index == 0)
        return r;
    const uint8_t *p = meta_view_in(t->w, t->blobs, index, header == 0 ? 1 : header);
    size_t used = p[0] < 0x80 ? 1 : p[0] < 0xc0 ? 2 : 4;
    uint32_t n = p[0];
    if (used > header)
        meta_fail(t->w, GCD_E_FORMAT, r.off, "a blob leads out of its heap");
    else if (used == 2)
        n = (uint32_t)(p[0] & 0x3f) << 8 | p[1];
    else if (used == 4)
        n = (uint32_t)(p[0] & 0x1f) << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    if (t->w->st != GCD_OK || n > left - used) {
        meta_fail(t->w, GCD_E_FORMAT, r.off, "a blob leads out of its heap");
        return r;
    }
    return (struct meta_region){ .off = r.off + used, .n = n };
}

const uint8_t *meta_blob(struct meta_tables *t, uint32_t index, size_t *ret_n)
{
    struct meta_region r = meta_blob_region(t, index);
    if (r.n > sizeof t->blob)
        meta_fail(t->w, GCD_E_LIMIT, r.off, "a signature is longer than any compiler writes");
    size_t n = t->w->st == GCD_OK ? (size_t)r.n : 0;
    for (size_t at = 0, step; at < n; at += step) {
        step = n - at < META_VIEW_MAX ? n - at : META_VIEW_MAX;
        memcpy(t->blob + at, meta_view_in(t->w, r, at, step), step);
    }
    *ret_n = t->w->st == GCD_OK ? n : 0;
    return t->blob;
}

const uint8_t *meta_guid(struct meta_tables *t, uint32_t index)
{
    static const uint8_t none[16];
    return index == 0 ? none : meta_view_in(t->w, t->guids, (uint64_t)(index - 1) * 16, 16);
}

uint32_t meta_type_token(struct meta_tables *t, uint32_t coded)
{
    static const uint8_t table[4] = { META_TYPE_DEF, META_TYPE_REF, META_TYPE_SPEC, META_TABLES };
    uint32_t kind = table[coded & 3], row = coded >> 2;
    if (row == 0)
        return 0;
    if (kind == META_TABLES || row > t->table[kind].rows) {
        meta_fail(t->w, GCD_E_FORMAT, GCD_OFF_NONE, "a type that does not exist is referred to");
        return 0;
    }
    return kind << 24 | row;
}
