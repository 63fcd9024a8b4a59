/*
 * Methods that were compiled beforehand (ReadyToRun), by their code, as the runtime finds them
 * (vm/codeman.cpp, vm/readytoruninfo.cpp, vm/hash.cpp; measured on .NET 8 to 11, linux-x64).
 *
 * An image has a table of functions {begin u32, end u32, unwind data u32}, by begin: a method, then
 * its handlers (funclets).  The runtime enters the MethodDesc of each method that it has prepared
 * for a call in a map by the address of its code, so what is on a stack is in it.  The tables of
 * entry points in the file are not needed: they name what may be called, and need more memory than
 * createdump keeps.
 *
 * What the image leaves out ends a search: the method before would be a neighbour's name.
 */
#include "base/cur.h"
#include "image/clr/clr.h"
#include "image/clr/clr_names.h"

#define LINEAR_MAX     10u   /* functions that are searched one by one */
#define HANDLERS       1024u /* of one method, at most */
#define BUCKET_BYTES   64u
#define SLOTS          4u /* of a bucket: keys, then values */
#define FUNCTION_BYTES 12u
#define PROBES_MAX     64u
#define LOOKUPS_MAX    UINT32_C(0x100000) /* of all frames: most need one */
#define VALUE_MASK     (UINT64_MAX >> 1)  /* the first bit of a bucket's values: others follow it */
#define UNWIND_MAX     64u
#define RBP            5u
#define R12            12u
/* operations of unwind data */
#define PUSH  0u
#define LARGE 1u /* room of 8 * the next slot */
#define SMALL 2u

enum {
    SECTION_BEGIN = 0, /* the base of the image */
    SECTION_MODULE = 32,
    INFO_MODULE = 0, /* ReadyToRunInfo */
    INFO_HEADER = 16,
    INFO_COMPOSITE = 40, /* that of the whole image, which may be itself */
    INFO_FUNCTIONS = 80,
    INFO_FUNCTION_COUNT = 88,
    INFO_COLD_COUNT = 104
};

struct function {
    uint32_t begin, end, unwind;
};

static bool read_function(struct clr *c, uint64_t table, uint32_t i, struct function *ret)
{
    uint8_t p[FUNCTION_BYTES];
    if (!image_read(c->image, table + FUNCTION_BYTES * (uint64_t)i, p, sizeof p))
        return false;
    *ret = (struct function){ gcd_le32(p), gcd_le32(p + 4), gcd_le32(p + 8) };
    return true;
}

/* The function with RVA, of TABLE[N].  It looks where the runtime does, because createdump keeps
 * what the runtime has looked at. */
static bool find_function(struct clr *c, uint64_t table, uint32_t n, uint32_t rva, uint32_t *ret)
{
    uint32_t low = 0, high = n - 1;
    struct function f;
    while (high - low > LINEAR_MAX) {
        uint32_t middle = low + (high - low) / 2;
        if (rva < image_u32(c->image, table + FUNCTION_BYTES * (uint64_t)middle))
            high = middle - 1;
        else
            low = middle;
    }
    for (*ret = low; *ret <= high; ++*ret)
        if (read_function(c, table, *ret, &f) && rva >= f.begin && rva < f.end)
            return true;
    return false;
}

/* The MethodDesc of code that begins at KEY, of the map with BUCKETS; 0 = there is none.  False:
 * the image lacks a part of the map.  {keys u64 x 4, values u64 x 4}; the first key of all is the
 * number of buckets behind it. */
static bool look_up(struct clr *c, uint64_t buckets, uint64_t key, uint64_t *ret)
{
    uint32_t size = image_u32(c->image, buckets), at = (uint32_t)(key >> 2);
    *ret = 0;
    if (size < 2)
        return false;
    uint32_t step = 1 + ((uint32_t)(key >> 5) + 1) % (size - 1);
    for (unsigned i = 0; i < PROBES_MAX && c->method_lookups < LOOKUPS_MAX; i++, at += step) {
        uint8_t bucket[BUCKET_BYTES], *values = bucket + 8 * SLOTS;
        c->method_lookups++;
        if (!image_read(c->image, buckets + BUCKET_BYTES * (1 + (uint64_t)(at % size)), bucket,
                        sizeof bucket))
            return false;
        for (unsigned slot = 0; slot < SLOTS; slot++)
            if (gcd_le64(bucket + 8 * slot) == key) {
                *ret = (gcd_le64(values + 8 * slot) & VALUE_MASK) << 1;
                return true;
            }
        if ((gcd_le64(values) & ~VALUE_MASK) == 0)
            return true;
    }
    return false;
}

/* How many registers but rbp a function pushes, and whether it keeps a frame pointer, or else how
 * large its frame is: {version, bytes of the prolog, codes, frame register, then for each code the
 * end of its instruction and its operation, the last of the prolog first}.  The frame register is
 * named only where rsp changes later.  Any other function with a frame pointer pushes rbp first,
 * but so does one that uses rbp for something else and none of r12 to r15, which come before it
 * then. */
static void read_unwind(struct clr *c, uint64_t unwind, struct clr_frame *f)
{
    /* the slots that follow an operation: a large allocation has one more if its register is 1 */
    static const uint8_t more[16] = { [1] = 1, [4] = 1, [5] = 2, [6] = 2, [8] = 1, [9] = 2 };
    unsigned head = image_u16(c->image, unwind + 2), codes = head & 0xff, first = 0;
    uint32_t room = 0;
    bool is_whole = codes <= UNWIND_MAX, saves_pointer = false, saves_far = false;
    for (unsigned i = 0; i < codes && i < UNWIND_MAX; i++) {
        uint64_t at = unwind + 4 + 2 * (uint64_t)i;
        unsigned op = image_u16(c->image, at) >> 8;
        bool pushes = (op & 15) == PUSH;
        f->saved = (uint8_t)(f->saved + (pushes && op >> 4 != RBP));
        saves_pointer = saves_pointer || op == (RBP << 4 | PUSH);
        saves_far = saves_far || (pushes && op >> 4 >= R12);
        room += pushes               ? 8
                : (op & 15) == SMALL ? 8 * (op >> 4) + 8
                : op == LARGE        ? 8 * (uint32_t)image_u16(c->image, at + 2)
                                     : 0;
        is_whole = is_whole && (pushes || (op & 15) == SMALL || op == LARGE);
        first = op;
        i += more[op & 15] + (unsigned)(op == 0x11);
    }
    bool is_named = (head >> 8 & 15) == RBP;
    f->keeps_pointer = is_named || (codes > 0 && first == (RBP << 4 | PUSH) && saves_far);
    /* where it calls, rsp is a multiple of 16; without its unwind data it has no codes */
    if (!is_named && !saves_pointer && is_whole && room % 16 == 8)
        f->bytes = room;
}

void clr_find_precompiled(struct clr *c, uint64_t section, struct clr_frame *f)
{
    uint64_t base = image_u64(c->image, section + SECTION_BEGIN);
    uint64_t module = image_u64(c->image, section + SECTION_MODULE);
    uint64_t info = image_u64(c->image, module + c->layout.module_precompiled);
    uint64_t table = image_u64(c->image, info + INFO_FUNCTIONS);
    uint64_t whole = image_u64(c->image, info + INFO_COMPOSITE);
    uint64_t header = image_u64(c->image, whole + INFO_HEADER);
    uint32_t n = image_u32(c->image, info + INFO_FUNCTION_COUNT), i;
    /* cold parts of methods lie elsewhere: no published build has any */
    if (c->layout.precompiled_map == 0 || info == 0 || n == 0 || f->code - 1 - base > UINT32_MAX ||
        image_u64(c->image, info + INFO_MODULE) != module ||
        image_u32(c->image, info + INFO_COLD_COUNT) != 0)
        return;
    clr_need_code(c, f->code - 1,
                  &(struct clr_code){ .base = base, .table = table, .header = header, .count = n });
    /* the image can have one of them, in a page that the process has written to */
    c->gaps.unread_code = c->gaps.unread_code || image_available(c->image, header) == 0 ||
                          image_available(c->image, table) == 0;
    if (image_u32(c->image, header) != CLR_READY_TO_RUN ||
        !find_function(c, table, n, (uint32_t)(f->code - 1 - base), &i))
        return;
    uint64_t buckets = image_u64(c->image, whole + c->layout.precompiled_map), method = 0;
    struct function at;
    for (unsigned steps = 0; steps < HANDLERS && method == 0; steps++, i--) {
        if (!read_function(c, table, i, &at) || !look_up(c, buckets, base + at.begin, &method))
            return;
        if (steps == 0)
            read_unwind(c, base + at.unwind, f);
        if (steps == 0 && !f->keeps_pointer && f->bytes == CLR_NONE)
            clr_read_prolog(c, base + at.begin, f);
        if (i == 0)
            break;
    }
    if (method != 0)
        clr_method_of(c, method, f);
}
