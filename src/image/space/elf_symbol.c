/*
 * Exported symbols of an ELF file as the process maps it: program headers → dynamic section → hash
 * table (DT_GNU_HASH), symbols, names.  Layouts: elf(5), and the hash in "ELF Binaries and
 * Relocation Entries", gabi.
 */
#include <string.h>

#include "image/space/image.h"

enum {
    FILE_PAGE_BYTES = 4096,
    PHDR_BYTES = 56,
    SYMBOL_BYTES = 24,
    PT_LOAD = 1,
    PT_DYNAMIC = 2,
    DT_STRTAB = 5,
    DT_SYMTAB = 6,
    CHAIN_MAX = 4096
};
#define DT_GNU_HASH  UINT64_C(0x6ffffef5)
#define DYNAMICS_MAX 512u
#define NAME_MAX     64u

struct tables {
    uint64_t base; /* what is added to the addresses in the file */
    uint64_t symbols, names, hash;
};

/* glibc relocates the addresses in the dynamic section, musl does not. */
static uint64_t relocated(const struct tables *t, uint64_t value)
{
    return value >= t->base ? value : t->base + value;
}

static bool find_tables(struct image *m, uint64_t file, struct tables *ret)
{
    uint64_t headers = image_u64(m, file + 32), dynamic = 0, first = UINT64_MAX;
    uint16_t count = image_u16(m, file + 56);
    for (uint16_t i = 0; i < count; i++) {
        uint64_t h = file + headers + (uint64_t)i * PHDR_BYTES;
        uint32_t type = image_u32(m, h);
        if (type == PT_LOAD && image_u64(m, h + 16) < first)
            first = image_u64(m, h + 16);
        if (type == PT_DYNAMIC)
            dynamic = image_u64(m, h + 16);
    }
    if (dynamic == 0 || first == UINT64_MAX)
        return false;
    ret->base = file - first / FILE_PAGE_BYTES * FILE_PAGE_BYTES;
    for (unsigned i = 0; i < DYNAMICS_MAX; i++) {
        uint64_t at = ret->base + dynamic + 16 * (uint64_t)i;
        uint64_t tag = image_u64(m, at), value = image_u64(m, at + 8);
        if (tag == 0)
            break;
        if (tag == DT_STRTAB)
            ret->names = relocated(ret, value);
        else if (tag == DT_SYMTAB)
            ret->symbols = relocated(ret, value);
        else if (tag == DT_GNU_HASH)
            ret->hash = relocated(ret, value);
    }
    return ret->names != 0 && ret->symbols != 0 && ret->hash != 0;
}

static bool is_named(struct image *m, const struct tables *t, uint64_t symbol, const char *name)
{
    char text[NAME_MAX];
    size_t n = strlen(name) + 1;
    return n <= sizeof text && image_read(m, t->names + image_u32(m, symbol), text, n) &&
           memcmp(text, name, n) == 0;
}

uint64_t elf_symbol(struct image *m, uint64_t file, const char *name)
{
    struct tables t = { .base = 0 };
    uint8_t magic[4];
    if (!image_read(m, file, magic, sizeof magic) || memcmp(magic, "\177ELF", 4) != 0 ||
        !find_tables(m, file, &t))
        return 0;
    uint32_t buckets = image_u32(m, t.hash), first = image_u32(m, t.hash + 4),
             words = image_u32(m, t.hash + 8), hash = 5381;
    for (const char *p = name; *p != '\0'; p++)
        hash = hash * 33 + (unsigned char)*p;
    if (buckets == 0)
        return 0;
    uint64_t table = t.hash + 16 + 8 * (uint64_t)words, chain = table + 4 * (uint64_t)buckets;
    uint32_t i = image_u32(m, table + 4 * (uint64_t)(hash % buckets));
    for (unsigned steps = 0; i >= first && i != 0 && steps < CHAIN_MAX; i++, steps++) {
        uint32_t h = image_u32(m, chain + 4 * ((uint64_t)i - first));
        uint64_t symbol = t.symbols + (uint64_t)i * SYMBOL_BYTES;
        if ((h | 1) == (hash | 1) && is_named(m, &t, symbol, name))
            return t.base + image_u64(m, symbol + 8);
        if ((h & 1) != 0)
            break;
    }
    return 0;
}
