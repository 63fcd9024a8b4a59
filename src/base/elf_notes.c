#include "base/elf_notes.h"

#include <string.h>

#define NOTE_BYTES      12u
#define NT_GNU_BUILD_ID 3u

bool gcd_elf_note_next(struct gcd_cur *c, struct gcd_elf_note *ret)
{
    if (gcd_cur_left(c) < NOTE_BYTES)
        return false;
    ret->name_n = gcd_cur_u32(c);
    ret->n = gcd_cur_u32(c);
    ret->type = gcd_cur_u32(c);
    ret->name = gcd_cur_bytes(c, ret->name_n);
    gcd_cur_skip(c, (4 - ret->name_n % 4) % 4);
    ret->content = gcd_cur_bytes(c, ret->n);
    if (c->err != GCD_OK)
        return false;
    size_t padding = (4 - ret->n % 4) % 4; /* the last note may lack it */
    gcd_cur_skip(c, padding < gcd_cur_left(c) ? padding : gcd_cur_left(c));
    return true;
}

bool gcd_elf_build_id(const uint8_t *p, size_t n, struct gcd_build_id *ret)
{
    struct gcd_cur c = gcd_cur_make(p, n, 0);
    struct gcd_elf_note note;
    while (gcd_elf_note_next(&c, &note)) {
        if (note.type != NT_GNU_BUILD_ID || note.name_n != 4 || memcmp(note.name, "GNU", 4) != 0 ||
            note.n == 0 || note.n > GCD_BUILD_ID_MAX)
            continue;
        memcpy(ret->bytes, note.content, note.n);
        ret->n = note.n;
        return true;
    }
    return false;
}
