#include "metadata/elf_file.h"

#include <string.h>

#include "base/cur.h"
#include "base/elf_notes.h"
#include "base/error.h"
#include "base/mem.h"
#include "metadata/meta_window.h"

enum {
    HEADER_BYTES = 64,
    SECTION_BYTES = 64,
    SEGMENT_BYTES = 56,
    SYMBOL_BYTES = 24,
    SECTIONS_MAX = 4096,
    SEGMENTS_MAX = 512,
    NOTES_BYTES = 4096,
    FILE_PAGE_BYTES = 4096,
    PT_LOAD = 1,
    SHT_SYMTAB = 2,
    SHT_NOTE = 7
};

struct elf_file {
    struct gcd_alloc alloc;
    struct meta_window w;
    uint64_t base; /* the address of the image in the file's addresses */
    struct gcd_build_id build_id;
    struct meta_region symbols, names;
};

static void begin(struct elf_file *f)
{
    f->w.st = GCD_OK;
    f->w.err = (struct gcd_error)GCD_ERROR_INIT;
}

static uint64_t u64_at(struct elf_file *f, uint64_t off)
{
    return gcd_le64(meta_view(&f->w, off, 8));
}

static uint32_t u32_at(struct elf_file *f, uint64_t off)
{
    return gcd_le32(meta_view(&f->w, off, 4));
}

/* The least address of a segment that is loaded. */
static void read_segments(struct elf_file *f, uint64_t at, unsigned count)
{
    uint64_t first = UINT64_MAX;
    for (unsigned i = 0; i < count && f->w.st == GCD_OK; i++) {
        uint64_t h = at + (uint64_t)i * SEGMENT_BYTES, address = u64_at(f, h + 16);
        if (u32_at(f, h) == PT_LOAD && address < first)
            first = address;
    }
    f->base = first != UINT64_MAX ? first / FILE_PAGE_BYTES * FILE_PAGE_BYTES : 0;
}

/* A build id is in the first notes, or alone. */
static void read_notes(struct elf_file *f, struct meta_region r)
{
    uint8_t notes[NOTES_BYTES];
    size_t n = r.n < sizeof notes ? (size_t)r.n : sizeof notes;
    for (size_t at = 0, part; at < n; at += part) {
        part = n - at < META_VIEW_MAX ? n - at : META_VIEW_MAX;
        memcpy(notes + at, meta_view_in(&f->w, r, at, part), part);
    }
    if (f->w.st == GCD_OK)
        (void)gcd_elf_build_id(notes, n, &f->build_id);
}

static struct meta_region section(struct elf_file *f, uint64_t header)
{
    return (struct meta_region){ .off = u64_at(f, header + 24), .n = u64_at(f, header + 32) };
}

static bool is_inside(const struct elf_file *f, struct meta_region r)
{
    return r.off <= f->w.size && r.n <= f->w.size - r.off;
}

static void read_sections(struct elf_file *f, uint64_t at, unsigned count)
{
    for (unsigned i = 0; i < count && f->w.st == GCD_OK; i++) {
        uint64_t h = at + (uint64_t)i * SECTION_BYTES;
        uint32_t type = u32_at(f, h + 4), link = u32_at(f, h + 40);
        struct meta_region r = section(f, h);
        if (type != SHT_NOTE && type != SHT_SYMTAB)
            continue;
        if (!is_inside(f, r)) {
            meta_fail(&f->w, GCD_E_TRUNCATED, h, "a section lies behind the end of the file");
        } else if (type == SHT_NOTE && f->build_id.n == 0) {
            read_notes(f, r);
        } else if (type == SHT_SYMTAB && link < count) {
            struct meta_region names = section(f, at + (uint64_t)link * SECTION_BYTES);
            if (!is_inside(f, names))
                meta_fail(&f->w, GCD_E_TRUNCATED, h, "a section lies behind the end of the file");
            f->symbols = r;
            f->names = names;
        }
    }
}

static void read_header(struct elf_file *f)
{
    uint8_t h[HEADER_BYTES];
    memcpy(h, meta_view(&f->w, 0, f->w.size < HEADER_BYTES ? 0 : HEADER_BYTES), HEADER_BYTES);
    if (f->w.st != GCD_OK)
        return;
    if (memcmp(h, "\177ELF\2\1", 6) != 0) {
        meta_fail(&f->w, GCD_E_UNSUPPORTED, 0, "it is no ELF file of 64 bits, little-endian");
        return;
    }
    unsigned segments = gcd_le16(h + 56), sections = gcd_le16(h + 60);
    if (segments > SEGMENTS_MAX || sections > SECTIONS_MAX || gcd_le16(h + 54) < SEGMENT_BYTES ||
        (sections > 0 && gcd_le16(h + 58) != SECTION_BYTES)) {
        meta_fail(&f->w, GCD_E_LIMIT, 0, "it has more parts than a program");
        return;
    }
    read_segments(f, gcd_le64(h + 32), segments);
    read_sections(f, gcd_le64(h + 40), sections);
}

gcd_status elf_file_open(struct gcd_input *in, uint64_t off, uint64_t n,
                         const struct gcd_alloc *alloc, struct elf_file **ret,
                         struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct elf_file *f = gcd_mem_new(&a, sizeof *f);
    if (f == NULL)
        return gcd_fail_nomem(err, "opening a program");
    f->alloc = a;
    meta_show(&f->w, in, off, n);
    if (!meta_open(&f->w, &a))
        meta_fail(&f->w, GCD_E_NOMEM, GCD_OFF_NONE, "out of memory while opening a program");
    read_header(f);
    gcd_status st = meta_status(&f->w, err);
    if (st == GCD_OK)
        *ret = f;
    else
        elf_file_free(f);
    return st;
}

void elf_file_free(struct elf_file *f)
{
    if (f == NULL)
        return;
    struct gcd_alloc a = f->alloc;
    meta_close(&f->w, &a);
    gcd_mem_free(&a, f, sizeof *f);
}

const uint8_t *elf_file_build_id(const struct elf_file *f, size_t *ret_n)
{
    *ret_n = f->build_id.n;
    return f->build_id.bytes;
}

uint64_t elf_file_symbols(const struct elf_file *f)
{
    return f->symbols.n / SYMBOL_BYTES;
}

gcd_status elf_file_symbol(struct elf_file *f, uint64_t i, struct elf_entry *ret,
                           struct gcd_error *err)
{
    begin(f);
    const uint8_t *p = meta_view_in(&f->w, f->symbols, i * SYMBOL_BYTES, SYMBOL_BYTES);
    *ret = (struct elf_entry){ .rva = gcd_le64(p + 8) - f->base, .name = gcd_le32(p) };
    return meta_status(&f->w, err);
}

gcd_status elf_file_name(struct elf_file *f, uint32_t name, char *ret, size_t cap, size_t *ret_n,
                         struct gcd_error *err)
{
    size_t n = 0;
    begin(f);
    while (n < cap && f->w.st == GCD_OK) {
        uint64_t left = name < f->names.n ? f->names.n - name : 0;
        size_t take = left - n < META_VIEW_MAX ? (size_t)(left - n) : META_VIEW_MAX;
        take = take < cap - n ? take : cap - n;
        const uint8_t *p = meta_view_in(&f->w, f->names, (uint64_t)name + n, take > 0 ? take : 1);
        const uint8_t *end = memchr(p, 0, take);
        size_t got = end != NULL ? (size_t)(end - p) : take;
        if (f->w.st == GCD_OK)
            memcpy(ret + n, p, got);
        n += got;
        if (end != NULL || take == 0)
            break;
    }
    *ret_n = n < cap ? n : cap;
    if (n < cap)
        ret[n] = '\0';
    return meta_status(&f->w, err);
}
