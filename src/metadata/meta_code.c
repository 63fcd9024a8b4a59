/*
 * Instructions of methods (ECMA-335 II.25.4, III).
 */
#include <string.h>

#include "base/cur.h"
#include "metadata/meta_impl.h"
#include "metadata/pe.h"

#define INSTRUCTIONS_MAX 100000u /* of a method */
#define TWO_BYTES        0xfeu
#define SWITCH           0x45u
#define CALL             0x28u
#define CALLVIRT         0x6fu
#define NEWOBJ           0x73u
#define BOX              0x8cu
#define NEWARR           0x8du

/* Bytes of the operands of instructions FIRST to LAST; the others have none. */
struct operands {
    uint8_t first, last, bytes;
};
static const struct operands one_byte[] = {
    { 0x0e, 0x13, 1 }, { 0x1f, 0x1f, 1 }, { 0x20, 0x20, 4 }, { 0x21, 0x21, 8 }, { 0x22, 0x22, 4 },
    { 0x23, 0x23, 8 }, { 0x27, 0x29, 4 }, { 0x2b, 0x37, 1 }, { 0x38, 0x45, 4 }, { 0x6f, 0x75, 4 },
    { 0x79, 0x79, 4 }, { 0x7b, 0x81, 4 }, { 0x8c, 0x8d, 4 }, { 0x8f, 0x8f, 4 }, { 0xa3, 0xa5, 4 },
    { 0xc2, 0xc2, 4 }, { 0xc6, 0xc6, 4 }, { 0xd0, 0xd0, 4 }, { 0xdd, 0xdd, 4 }, { 0xde, 0xde, 1 },
    { 0, 0, 0 },
};
static const struct operands two_bytes[] = {
    { 0x06, 0x07, 4 }, { 0x09, 0x0e, 2 }, { 0x12, 0x12, 1 }, { 0x15, 0x16, 4 },
    { 0x19, 0x19, 1 }, { 0x1c, 0x1c, 4 }, { 0, 0, 0 },
};

static unsigned operand_bytes(const struct operands *table, uint8_t opcode)
{
    for (; table->bytes != 0; table++)
        if (opcode >= table->first && opcode <= table->last)
            return table->bytes;
    return 0;
}

struct meta_region meta_code(struct gcd_metadata *m, uint32_t row)
{
    uint32_t rva = meta_cell(&m->t, META_METHOD_DEF, row, METHOD_RVA);
    struct meta_region r = { 0 };
    if (rva == 0 || m->w.st != GCD_OK)
        return r;
    r = pe_find_address(&m->w, rva);
    uint8_t first = *meta_view_in(&m->w, r, 0, 1);
    uint64_t header = 1, bytes = first >> 2;
    if ((first & 3) == 3) {
        const uint8_t *p = meta_view_in(&m->w, r, 0, 12);
        header = (uint64_t)(p[1] >> 4) * 4;
        bytes = gcd_le32(p + 4);
    }
    if (header > r.n || bytes > r.n - header)
        meta_fail(&m->w, GCD_E_FORMAT, r.off, "the code of a method leads out of its section");
    r.off += header;
    r.n = m->w.st == GCD_OK ? bytes : 0;
    return r;
}

uint64_t meta_instruction_bytes(struct gcd_metadata *m, struct meta_region code, uint64_t at)
{
    uint8_t opcode = *meta_view_in(&m->w, code, at, 1);
    if (opcode == TWO_BYTES)
        return 2 + (uint64_t)operand_bytes(two_bytes, *meta_view_in(&m->w, code, at + 1, 1));
    uint64_t n = 1 + (uint64_t)operand_bytes(one_byte, opcode);
    if (opcode == SWITCH)
        n += (uint64_t)gcd_le32(meta_view_in(&m->w, code, at + 1, 4)) * 4;
    return n;
}

gcd_status gcd_metadata_instruction(struct gcd_metadata *m, uint32_t token,
                                    struct gcd_il_range range, bool allocates, uint32_t *ret,
                                    struct gcd_error *err)
{
    uint32_t row = token & 0xffffff, to = range.end, call = to, best = to;
    meta_begin(m);
    if ((token & 0xff000000) != GCD_TOKEN_METHOD || row == 0 ||
        row > m->t.table[META_METHOD_DEF].rows)
        return GCD_END;
    struct meta_region code = meta_code(m, row);
    uint64_t at = 0;
    for (uint32_t n = 0; n < INSTRUCTIONS_MAX && at < code.n && at < to && m->w.st == GCD_OK; n++) {
        uint8_t opcode = *meta_view_in(&m->w, code, at, 1);
        bool calls = opcode == CALL || opcode == CALLVIRT || opcode == NEWOBJ;
        bool makes = opcode == NEWOBJ || opcode == NEWARR || opcode == BOX;
        if (at >= range.first && calls && call == to)
            call = (uint32_t)at;
        if (at >= range.first && (allocates ? makes : calls) && best == to)
            best = (uint32_t)at;
        at += meta_instruction_bytes(m, code, at);
    }
    gcd_status st = meta_end(m, err);
    if (st != GCD_OK)
        return st;
    best = best == to ? call : best;
    if (best == to)
        return GCD_END;
    *ret = best;
    return GCD_OK;
}
