#include "support/pe_image.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECTION_OFF 0x200u
#define SECTION_RVA 0x2000u

void pe_image_init(struct pe_image *p)
{
    *p = (struct pe_image){ .codeviews = 1, .sections = 1 };
    pe_image_begin(p);
}

void pe_image_begin(struct pe_image *p)
{
    tb_u8(&p->strings, 0);
    tb_u8(&p->blobs, 0);
    (void)pe_image_row(p, 0x00, "2sggg", 0, "Test.dll", 0xaa, 0, 0);
}

static uint32_t add_blob(struct pe_image *p, const char *hex)
{
    uint32_t at = (uint32_t)p->blobs.n;
    size_t n = strlen(hex) / 2;
    if (n < 0x80) {
        tb_u8(&p->blobs, (unsigned)n);
    } else {
        tb_u8(&p->blobs, 0x80 | (unsigned)n >> 8);
        tb_u8(&p->blobs, (unsigned)n & 0xff);
    }
    for (size_t i = 0; i < n; i++) {
        const char digits[3] = { hex[2 * i], hex[2 * i + 1], '\0' };
        tb_u8(&p->blobs, (unsigned)strtoul(digits, NULL, 16));
    }
    return at;
}

static uint32_t add_guid(struct pe_image *p, unsigned byte)
{
    if (byte == 0)
        return 0;
    for (int i = 0; i < 16; i++)
        tb_u8(&p->guids, byte);
    return (uint32_t)(p->guids.n / 16);
}

static void put_index(struct pe_image *p, struct tb_bytes *to, uint32_t index)
{
    if (p->wide)
        tb_u32(to, index);
    else
        tb_u16(to, index);
}

uint32_t pe_image_row(struct pe_image *p, unsigned table, const char *columns, ...)
{
    struct tb_bytes *to = &p->rows[table];
    va_list ap;
    va_start(ap, columns);
    for (; *columns != '\0'; columns++) {
        if (*columns == '2' || (*columns == 'f' && !p->many_fields)) {
            tb_u16(to, va_arg(ap, unsigned));
        } else if (*columns == '4' || (*columns == 'f' && p->many_fields)) {
            tb_u32(to, va_arg(ap, unsigned));
        } else if (*columns == 'g') {
            put_index(p, to, add_guid(p, va_arg(ap, unsigned)));
        } else if (*columns == 'b') {
            put_index(p, to, add_blob(p, va_arg(ap, const char *)));
        } else {
            const char *s = va_arg(ap, const char *);
            put_index(p, to, s[0] == '\0' ? 0 : (uint32_t)p->strings.n);
            if (s[0] != '\0')
                tb_put(&p->strings, s, strlen(s) + 1);
        }
    }
    va_end(ap);
    return ++p->row_count[table];
}

static void put_stream(struct tb_bytes *b, size_t at, size_t n, const char *name)
{
    tb_u32(b, (uint32_t)at);
    tb_u32(b, (uint32_t)n);
    tb_put(b, name, strlen(name) + 1);
    while (b->n % 4 != 0)
        tb_u8(b, 0);
}

static void put_metadata(struct pe_image *p, struct tb_bytes *b)
{
    struct tb_bytes tables = { 0 };
    uint64_t valid = 0;
    for (unsigned i = 0; i < 64; i++)
        valid |= p->row_count[i] > 0 ? UINT64_C(1) << i : 0;
    tb_u32(&tables, 0);
    tb_u8(&tables, 2);
    tb_u8(&tables, 0);
    tb_u8(&tables, p->wide ? 7 : 0);
    tb_u8(&tables, 1);
    tb_u64(&tables, valid);
    tb_u64(&tables, valid);
    for (unsigned i = 0; i < 64; i++)
        if (p->row_count[i] > 0)
            tb_u32(&tables, p->row_count[i] + p->extra_rows);
    for (unsigned i = 0; i < 64; i++)
        if (p->row_count[i] > 0)
            tb_put(&tables, p->rows[i].p, p->rows[i].n);
    size_t at = 16 + 12 + 4 + 12 + 20 + 16 + 16; /* the root and four stream headers */
    tb_put(b, "BSJB\1\0\1\0\0\0\0\0\14\0\0\0v4.0.30319\0\0\0\0\4\0", 32);
    put_stream(b, at, tables.n, p->in_memory ? "#-" : "#~");
    at += tables.n;
    put_stream(b, at, p->strings.n, "#Strings");
    at += p->strings.n;
    put_stream(b, at, p->guids.n, "#GUID");
    at += p->guids.n;
    put_stream(b, at, p->blobs.n, "#Blob");
    tb_put(b, tables.p, tables.n);
    tb_put(b, p->strings.p, p->strings.n);
    tb_put(b, p->guids.p, p->guids.n);
    tb_put(b, p->blobs.p, p->blobs.n);
    tb_free(&tables);
}

static unsigned debug_entries(const struct pe_image *p)
{
    return p->codeviews + (p->embedded.n > 0);
}

static void put_headers(struct pe_image *p, size_t section_bytes)
{
    unsigned entries = debug_entries(p);
    struct tb_bytes *b = &p->out;
    unsigned optional = p->pe32 ? 224 : 240;
    tb_put(b, "MZ", 2);
    tb_zeros(b, 58);
    tb_u32(b, 64);
    tb_put(b, "PE\0\0", 4);
    tb_u16(b, p->pe32 ? 0x14c : 0x8664);
    tb_u16(b, p->sections);
    tb_zeros(b, 12);
    tb_u16(b, optional);
    tb_u16(b, 0x2022);
    tb_u16(b, p->pe32 ? 0x10b : 0x20b);
    tb_zeros(b, optional - 2 - 4 - 16 * 8);
    tb_u32(b, 16);
    for (unsigned i = 0; i < 16; i++) {
        tb_u32(b, i == 14 ? SECTION_RVA : i == 6 && entries > 0 ? SECTION_RVA + 72 : 0);
        tb_u32(b, i == 14 ? 72 : i == 6 ? entries * 28 : 0);
    }
    for (unsigned i = 0; i < p->sections; i++) {
        tb_put(b, ".text\0\0\0", 8);
        tb_u32(b, (uint32_t)section_bytes);
        tb_u32(b, SECTION_RVA);
        tb_u32(b, (uint32_t)section_bytes);
        tb_u32(b, SECTION_OFF);
        tb_zeros(b, 16);
    }
    if (b->n < SECTION_OFF)
        tb_zeros(b, SECTION_OFF - b->n);
}

void pe_image_close(struct pe_image *p)
{
    struct tb_bytes section = { 0 }, metadata = { 0 };
    put_metadata(p, &metadata);
    uint32_t debug = 72, codeview = debug + debug_entries(p) * 28,
             embedded = codeview + p->codeviews * 32, meta = embedded + (uint32_t)p->embedded.n;
    tb_u32(&section, 72);
    tb_u32(&section, 0x50002);
    tb_u32(&section, SECTION_RVA + meta);
    tb_u32(&section, (uint32_t)metadata.n);
    tb_zeros(&section, 72 - 16);
    for (unsigned i = 0; i < p->codeviews; i++) {
        tb_zeros(&section, 12);
        tb_u32(&section, 2);
        tb_u32(&section, 32);
        tb_u32(&section, SECTION_RVA + codeview + i * 32);
        tb_u32(&section, SECTION_OFF + codeview + i * 32);
    }
    if (p->embedded.n > 0) {
        tb_zeros(&section, 12);
        tb_u32(&section, 17);
        tb_u32(&section, (uint32_t)p->embedded.n);
        tb_u32(&section, SECTION_RVA + embedded);
        tb_u32(&section, SECTION_OFF + embedded);
    }
    for (unsigned i = 0; i < p->codeviews; i++) {
        tb_put(&section, "RSDS", 4);
        for (int n = 0; n < 16; n++)
            tb_u8(&section, 0xc0 + i);
        tb_u32(&section, i + 1);
        tb_put(&section, "Test.pdb", 8);
    }
    tb_put(&section, p->embedded.p, p->embedded.n);
    p->metadata_off = SECTION_OFF + meta;
    tb_put(&section, metadata.p, metadata.n);
    put_headers(p, section.n);
    tb_put(&p->out, section.p, section.n);
    tb_free(&section);
    tb_free(&metadata);
}

void pe_image_done(struct pe_image *p)
{
    tb_free(&p->out);
    tb_free(&p->strings);
    tb_free(&p->blobs);
    tb_free(&p->guids);
    tb_free(&p->embedded);
    for (unsigned i = 0; i < 64; i++)
        tb_free(&p->rows[i]);
}
