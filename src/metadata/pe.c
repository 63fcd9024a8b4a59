#include "metadata/pe.h"

#include <string.h>

#include "base/cur.h"

#define SECTIONS_MAX      96u /* what the loader of Windows accepts */
#define DEBUG_ENTRIES_MAX 64u
#define DIRECTORY_DEBUG   6u
#define DIRECTORY_CLI     14u
#define DEBUG_CODEVIEW    2u
#define DEBUG_EMBEDDED    17u

struct directory {
    uint32_t rva, n;
};

struct pe {
    struct meta_window *w;
    struct {
        uint32_t rva, off, raw_bytes;
    } section[SECTIONS_MAX];
    uint32_t sections;
    struct directory debug, cli;
};

/* The part of the file that an address range of the loaded image comes from. */
static struct meta_region region_of(struct pe *pe, struct directory d)
{
    for (uint32_t i = 0; i < pe->sections; i++) {
        uint32_t at = d.rva - pe->section[i].rva;
        if (d.rva >= pe->section[i].rva && at < pe->section[i].raw_bytes &&
            d.n <= pe->section[i].raw_bytes - at)
            return (struct meta_region){ .off = (uint64_t)pe->section[i].off + at, .n = d.n };
    }
    meta_fail(pe->w, GCD_E_FORMAT, GCD_OFF_NONE, "an address of the image is in no section");
    return (struct meta_region){ 0 };
}

static struct directory directory_at(const uint8_t *p)
{
    return (struct directory){ .rva = gcd_le32(p), .n = gcd_le32(p + 4) };
}

/* The optional header: N bytes at OFF. */
static void read_optional(struct pe *pe, struct meta_region r)
{
    uint16_t magic = gcd_le16(meta_view_in(pe->w, r, 0, 2));
    uint32_t at = magic == 0x20b ? 112 : 96;
    if (magic != 0x20b && magic != 0x10b) {
        meta_fail(pe->w, GCD_E_FORMAT, r.off, "the optional header is of no known kind");
        return;
    }
    uint32_t directories = gcd_le32(meta_view_in(pe->w, r, at - 4, 4));
    if (directories > DIRECTORY_DEBUG)
        pe->debug = directory_at(meta_view_in(pe->w, r, at + DIRECTORY_DEBUG * 8, 8));
    if (directories > DIRECTORY_CLI)
        pe->cli = directory_at(meta_view_in(pe->w, r, at + DIRECTORY_CLI * 8, 8));
}

static void read_sections(struct pe *pe, uint64_t off)
{
    for (uint32_t i = 0; i < pe->sections; i++) {
        const uint8_t *p = meta_view(pe->w, off + (uint64_t)i * 40, 40);
        pe->section[i].rva = gcd_le32(p + 12);
        pe->section[i].raw_bytes = gcd_le32(p + 16);
        pe->section[i].off = gcd_le32(p + 20);
    }
}

static void read_headers(struct pe *pe)
{
    struct meta_window *w = pe->w;
    const uint8_t *dos = meta_view(w, 0, 64);
    uint64_t off = gcd_le32(dos + 60);
    if (dos[0] != 'M' || dos[1] != 'Z') {
        meta_fail(w, GCD_E_UNSUPPORTED, 0, "it is no PE image");
        return;
    }
    const uint8_t *coff = meta_view(w, off, 24);
    if (memcmp(coff, "PE\0\0", 4) != 0) {
        meta_fail(w, GCD_E_FORMAT, off, "the PE signature is missing");
        return;
    }
    struct meta_region optional = { .off = off + 24, .n = gcd_le16(coff + 20) };
    pe->sections = gcd_le16(coff + 6);
    if (pe->sections > SECTIONS_MAX) {
        meta_fail(w, GCD_E_FORMAT, off, "more sections than an image can have");
        pe->sections = 0;
    }
    read_optional(pe, optional);
    read_sections(pe, optional.off + optional.n);
}

/* The data of an entry of the debug directory. */
static struct meta_region data_of(struct pe *pe, const uint8_t *entry)
{
    struct directory d = { .rva = gcd_le32(entry + 20), .n = gcd_le32(entry + 16) };
    struct meta_region r = { .off = gcd_le32(entry + 24), .n = d.n };
    return r.off == 0 ? region_of(pe, d) : r;
}

/* A record "RSDS", GUID, age, path. */
static void read_codeview(struct pe *pe, struct meta_region r, struct gcd_module_identity *ret)
{
    if (r.n < 24)
        return;
    const uint8_t *p = meta_view_in(pe->w, r, 0, 24);
    if (memcmp(p, "RSDS", 4) != 0)
        return; /* an older format, which the runtime does not report */
    if (ret->codeview_count == GCD_CODEVIEW_MAX) {
        meta_fail(pe->w, GCD_E_LIMIT, r.off, "too many CodeView records");
        return;
    }
    struct gcd_codeview *to = &ret->codeview[ret->codeview_count++];
    memcpy(to->guid.bytes, p + 4, 16);
    to->age = gcd_le32(p + 20);
}

/* CodeView records go to RET_ID, embedded symbols to RET_SYMBOLS; NULL = not wanted. */
static void read_debug(struct pe *pe, struct gcd_module_identity *ret_id,
                       struct meta_region *ret_symbols)
{
    if (pe->debug.rva == 0 || pe->debug.n == 0)
        return;
    struct meta_region r = region_of(pe, pe->debug);
    if (r.n / 28 > DEBUG_ENTRIES_MAX) {
        meta_fail(pe->w, GCD_E_LIMIT, r.off, "too many entries in the debug directory");
        return;
    }
    for (uint64_t i = 0; i < r.n / 28; i++) {
        uint8_t entry[28];
        memcpy(entry, meta_view_in(pe->w, r, i * 28, 28), 28);
        if (gcd_le32(entry + 12) == DEBUG_CODEVIEW && ret_id != NULL)
            read_codeview(pe, data_of(pe, entry), ret_id);
        if (gcd_le32(entry + 12) == DEBUG_EMBEDDED && ret_symbols != NULL)
            *ret_symbols = data_of(pe, entry);
    }
}

struct meta_region pe_find_address(struct meta_window *w, uint32_t rva)
{
    struct pe pe = { .w = w };
    read_headers(&pe);
    for (uint32_t i = 0; i < pe.sections && w->st == GCD_OK; i++) {
        uint32_t at = rva - pe.section[i].rva;
        if (rva >= pe.section[i].rva && at < pe.section[i].raw_bytes)
            return (struct meta_region){ .off = (uint64_t)pe.section[i].off + at,
                                         .n = pe.section[i].raw_bytes - at };
    }
    meta_fail(w, GCD_E_FORMAT, GCD_OFF_NONE, "an address of the image is in no section");
    return (struct meta_region){ 0 };
}

struct meta_region pe_find_embedded(struct meta_window *w)
{
    struct pe pe = { .w = w };
    struct meta_region r = { 0 };
    read_headers(&pe);
    read_debug(&pe, NULL, &r);
    return r;
}

struct meta_region pe_find_metadata(struct meta_window *w, struct gcd_module_identity *ret)
{
    struct pe pe = { .w = w };
    /* only the metadata, as src/image takes it from the memory of a process */
    if (memcmp(meta_view(w, 0, 4), "BSJB", 4) == 0)
        return (struct meta_region){ .off = 0, .n = w->size };
    read_headers(&pe);
    if (pe.cli.rva == 0)
        meta_fail(w, GCD_E_UNSUPPORTED, GCD_OFF_NONE, "the image has no .NET metadata");
    if (w->st != GCD_OK)
        return (struct meta_region){ 0 };
    struct meta_region header = region_of(&pe, (struct directory){ .rva = pe.cli.rva, .n = 72 });
    struct meta_region metadata = region_of(&pe, directory_at(meta_view_in(w, header, 8, 8)));
    read_debug(&pe, ret, NULL);
    return metadata;
}
