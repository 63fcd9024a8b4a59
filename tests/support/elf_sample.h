/* A small ELF file with a build id and symbols, as Native AOT makes it. */
#ifndef ELF_SAMPLE_H
#define ELF_SAMPLE_H

#include <stdint.h>

#include "support/tb.h"

#define ELF_SAMPLE_BASE UINT64_C(0x10000) /* the address that the file wants */

struct elf_sample_symbol {
    uint64_t rva;
    const char *name;
};

/* BUILD_ID_BYTES bytes BUILD_ID, 0 = none; COUNT 0 = stripped. */
void elf_sample(struct tb_bytes *ret, unsigned build_id, size_t build_id_bytes,
                const struct elf_sample_symbol *symbols, size_t count);

#endif
