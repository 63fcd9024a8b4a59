/*
 * Notes of ELF files and core files (elf(5)): {bytes of the name u32, of the content u32, type
 * u32}, then both, each padded to 4 bytes.
 */
#ifndef GCD_BASE_ELF_NOTES_H
#define GCD_BASE_ELF_NOTES_H

#include <stdbool.h>

#include "base/cur.h"

#define GCD_BUILD_ID_MAX 32u /* linkers write 20 bytes, or 16 or 8 */

struct gcd_elf_note {
    uint32_t type;
    const uint8_t *name, *content; /* [name_n], [n] */
    size_t name_n, n;
};

/* The next note.  False: there is none, or it is damaged. */
bool gcd_elf_note_next(struct gcd_cur *c, struct gcd_elf_note *ret);

struct gcd_build_id {
    uint8_t bytes[GCD_BUILD_ID_MAX];
    size_t n; /* 0 = unknown */
};

/* The build id (NT_GNU_BUILD_ID) among N bytes of notes at P.  False: there is none. */
bool gcd_elf_build_id(const uint8_t *p, size_t n, struct gcd_build_id *ret);

#endif
