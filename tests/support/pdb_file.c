#include "support/pdb_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include <gcdumpc/unstable/symbols.h>

#include "support/pe_image.h"

/* A blob of fewer than 128 bytes; returns its index. */
static uint32_t put_blob(struct tb_bytes *heap, const void *bytes, size_t n)
{
    uint32_t at = (uint32_t)heap->n;
    tb_u8(heap, (unsigned)n);
    tb_put(heap, bytes, n);
    return at;
}

/* The name of a document: a slash, and the blobs of its parts. */
static uint32_t put_document(struct tb_bytes *heap, const char *last)
{
    uint8_t name[5] = { '/', 0 }; /* the first part is empty */
    name[2] = (uint8_t)put_blob(heap, "src", 3);
    name[3] = (uint8_t)put_blob(heap, "Shop", 4);
    name[4] = (uint8_t)put_blob(heap, last, strlen(last));
    return put_blob(heap, name, sizeof name);
}

static void put_index(struct tb_bytes *b, uint32_t index, bool wide)
{
    if (wide)
        tb_u32(b, index);
    else
        tb_u16(b, index);
}

static void put_tables(struct tb_bytes *b, struct tb_bytes *blobs, bool wide)
{
    /* IL, lines, columns, line, column */
    static const uint8_t first[] = { 0, 0, 0,  5, 10, 1,    7, 0, 5, 4, 2, /* hidden: */ 13,
                                     0, 0, 10, 0, 5,  0x7f, 0 };
    static const uint8_t third[] = { 0, 1, 0, 0, 3,    0x80, 100, 1, /* a document: */ 0,
                                     2, 5, 0, 3, 0x81, 0x90, 0 };
    uint32_t store = put_document(blobs, "Store.cs"), orders = put_document(blobs, "Orders.cs");
    const uint32_t points[] = { put_blob(blobs, first, sizeof first), 0,
                                put_blob(blobs, third, sizeof third) };
    tb_u32(b, 0);
    tb_u8(b, 2);
    tb_u8(b, 0);
    tb_u8(b, wide ? 7 : 0);
    tb_u8(b, 1);
    tb_u64(b, UINT64_C(3) << 0x30);
    tb_u64(b, 0);
    tb_u32(b, 2);
    tb_u32(b, 3);
    for (size_t i = 0; i < 2; i++) {
        put_index(b, i == 0 ? store : orders, wide);
        put_index(b, 0, wide);
        put_index(b, 0, wide);
        put_index(b, 0, wide);
    }
    for (size_t i = 0; i < 3; i++) {
        tb_u16(b, i == 0 ? 1 : 0);
        put_index(b, points[i], wide);
    }
}

static void put_stream(struct tb_bytes *b, const char *name, size_t off, size_t n)
{
    size_t length = strlen(name) + 1;
    tb_u32(b, (uint32_t)off);
    tb_u32(b, (uint32_t)n);
    tb_put(b, name, length);
    tb_zeros(b, (4 - length % 4) % 4);
}

void pdb_file(struct tb_bytes *ret, bool wide)
{
    struct tb_bytes blobs = { 0 }, tables = { 0 };
    tb_u8(&blobs, 0);
    put_tables(&tables, &blobs, wide);
    tb_put(ret, "BSJB", 4);
    tb_u16(ret, 1);
    tb_u16(ret, 1);
    tb_u32(ret, 0);
    tb_u32(ret, 12);
    tb_put(ret, "PDB v1.0\0\0\0\0", 12);
    tb_u16(ret, 0);
    tb_u16(ret, 3);
    size_t pdb = 32 + 16 + 12 + 16, at = pdb + 32;
    put_stream(ret, "#Pdb", pdb, 32);
    put_stream(ret, "#~", at, tables.n);
    put_stream(ret, "#Blob", at + tables.n, blobs.n);
    for (int i = 0; i < 16; i++)
        tb_u8(ret, 0xc0);
    tb_zeros(ret, 16);
    tb_put(ret, tables.p, tables.n);
    tb_put(ret, blobs.p, blobs.n);
    tb_free(&tables);
    tb_free(&blobs);
}

void pdb_embedded(struct tb_bytes *ret)
{
    struct tb_bytes pdb = { 0 };
    struct pe_image p;
    uint8_t packed[4096];
    z_stream z = { .zalloc = NULL };
    pdb_file(&pdb, false);
    if (deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    z.next_in = pdb.p;
    z.avail_in = (unsigned)pdb.n;
    z.next_out = packed;
    z.avail_out = sizeof packed;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END)
        abort();
    pe_image_init(&p);
    tb_put(&p.embedded, "MPDB", 4);
    tb_u32(&p.embedded, (uint32_t)pdb.n);
    tb_put(&p.embedded, packed, sizeof packed - z.avail_out);
    (void)deflateEnd(&z);
    pe_image_close(&p);
    tb_put(ret, p.out.p, p.out.n);
    pe_image_done(&p);
    tb_free(&pdb);
}

void pdb_text(struct gcd_symbols *s, struct tb_bytes *ret)
{
    for (uint32_t row = 0; row <= 4; row++)
        for (uint32_t il = 0; il <= 40; il += 5) {
            struct gcd_line line;
            struct gcd_error err = GCD_ERROR_INIT;
            char text[64];
            gcd_status st = gcd_symbols_line(s, UINT32_C(0x06000000) + row, il, &line, &err);
            if (st != GCD_OK)
                continue;
            (void)snprintf(text, sizeof text, "%u+%u:%u ", (unsigned)row, (unsigned)il,
                           (unsigned)line.line);
            tb_put(ret, text, strlen(text));
            tb_put(ret, line.file, strlen(line.file));
            tb_u8(ret, '\n');
        }
}
