#include "support/elf_sample.h"

#include <string.h>

static void number(struct tb_bytes *b, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        tb_put(b, &(uint8_t){ (uint8_t)(i < 8 ? v >> 8 * i : 0) }, 1);
}

static void section(struct tb_bytes *b, uint32_t type, uint64_t off, uint64_t n, uint32_t link)
{
    number(b, 0, 4);
    number(b, type, 4);
    number(b, 0, 16); /* flags, address */
    number(b, off, 8);
    number(b, n, 8);
    number(b, link, 4);
    number(b, 0, 20);
}

void elf_sample(struct tb_bytes *ret, unsigned build_id, size_t build_id_bytes,
                const struct elf_sample_symbol *symbols, size_t count)
{
    struct tb_bytes names = { 0 }, table = { 0 }, note = { 0 };
    *ret = (struct tb_bytes){ 0 };
    number(&names, 0, 1);
    number(&table, 0, 24);
    for (size_t i = 0; i < count; i++) {
        number(&table, names.n, 4);
        number(&table, 0, 4);
        number(&table, ELF_SAMPLE_BASE + symbols[i].rva, 8);
        number(&table, 0, 8);
        tb_put(&names, symbols[i].name, strlen(symbols[i].name) + 1);
    }
    /* another note before it */
    number(&note, 4, 4);
    number(&note, 1, 4);
    number(&note, 1, 4);
    tb_put(&note, "GNU\0\7\0\0", 8);
    number(&note, 4, 4);
    number(&note, build_id_bytes, 4);
    number(&note, 3, 4);
    tb_put(&note, "GNU", 4);
    for (size_t i = 0; i < build_id_bytes; i++)
        number(&note, build_id, 1);
    uint64_t at = 64 + 56, note_at = at, table_at = note_at + note.n, names_at = table_at + table.n;
    tb_put(ret, "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 16);
    number(ret, 3, 2);
    number(ret, 62, 2);
    number(ret, 1, 4);
    number(ret, 0, 8);
    number(ret, 64, 8);                 /* segments */
    number(ret, names_at + names.n, 8); /* sections */
    number(ret, 0, 4);
    number(ret, 64, 2);
    number(ret, 56, 2);
    number(ret, 1, 2);
    number(ret, 64, 2);
    number(ret, 4, 2);
    number(ret, 0, 2);
    number(ret, 1, 4); /* PT_LOAD */
    number(ret, 4, 4);
    number(ret, 0, 8);
    number(ret, ELF_SAMPLE_BASE + 0x40, 8); /* within its page */
    number(ret, 0, 32);
    tb_put(ret, note.p, note.n);
    tb_put(ret, table.p, table.n);
    tb_put(ret, names.p, names.n);
    section(ret, 0, 0, 0, 0);
    section(ret, 7, note_at, build_id_bytes > 0 ? note.n : 0, 0);
    section(ret, count > 0 ? 2 : 0, table_at, table.n, 3);
    section(ret, 3, names_at, names.n, 0);
    tb_free(&names);
    tb_free(&table);
    tb_free(&note);
}
