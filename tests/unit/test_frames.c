/*
 * The methods of calls on stacks, in an address space made here: a tree of code ranges, a heap of
 * compiled code with its map of nibbles, and the structures of methods.
 */
#include "support/check.h"

#include <string.h>

#include <gcdumpc/io.h>

#include "base/mem.h"
#include "image/clr/clr.h"
#include "support/tb.h"

#define BASE  UINT64_C(0x7f1234560000) /* of the memory here */
#define BYTES 0x40000u
#define CODE  UINT64_C(0x7f9876540000) /* of code, of which only the headers are there */
#define CODES 0x20000u

enum {
    DAC = 0x0,
    MAP = 0x100,
    TABLES = 0x1000, /* one of each level: 2 KiB */
    FRAGMENTS = 0x4000,
    JIT = 0x4100, /* sections */
    PRECOMPILED = 0x4200,
    HEAP = 0x4300,
    NIBBLES = 0x5000,
    HEADERS = 0x10000, /* what is behind the code headers */
    METHODS = 0x20000, /* a chunk */
    TABLE = 0x30000    /* a method table */
};

static uint8_t memory[BYTES], code[CODES], both[BYTES + CODES];
static struct clr c;
static struct image image;
static struct gcd_input *in;
static struct image_segment segments[2];
static struct gcd_error err = GCD_ERROR_INIT;

static void put(uint8_t *at, uint64_t v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        at[i] = (uint8_t)(v >> 8 * i);
}

static void word(uint64_t off, uint64_t v)
{
    put(memory + off, v, 8);
}

/* The nibble of the 32 bytes at OFF: a method begins in their dword N. */
static void mark(uint32_t off, unsigned n)
{
    uint8_t *at = memory + NIBBLES + off / 256 * 4;
    uint32_t old =
        (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    put(at, old | (n + 1) << (28 - 4 * (off / 32 % 8)), 4);
}

/* A method of CODE at OFF, number INDEX of its chunk; ROW of metadata. */
static void method(uint32_t off, unsigned index, uint32_t row)
{
    uint64_t desc = METHODS + 24 + 8 * index;
    put(code + off - 8, BASE + HEADERS + 64 * index, 8);
    word(HEADERS + 64 * index + 24, BASE + desc);
    put(memory + desc, (row & 0xfff) | 0x5000, 2); /* the high bits are flags */
    memory[desc + 2] = (uint8_t)index;
    put(memory + METHODS + 18, row >> 12 | 0x3000, 2);
}

/* A range of code in the tree. */
static void range(uint64_t from, uint64_t end, uint64_t section, uint64_t next)
{
    uint64_t f = FRAGMENTS + 32 * (uint64_t)(section == JIT);
    word(f, next != 0 ? (BASE + next) | 1 : 0);
    word(f + 8, from);
    word(f + 16, end);
    word(f + 24, BASE + section);
    for (unsigned level = 0; level < 4; level++) {
        uint64_t table = TABLES + 0x800 * (uint64_t)level;
        uint64_t below = level == 3 ? f : table + 0x800;
        word(table + 8 * (from >> (17 + 8 * (3 - level)) & 0xff), (BASE + below) | (level & 1));
    }
}

static int setup(void **state)
{
    (void)state;
    memset(memory, 0, sizeof memory);
    memset(code, 0, sizeof code);
    memset(&c, 0, sizeof c);
    word(DAC, BASE + MAP);
    word(MAP, BASE + TABLES);
    range(CODE + 0x10000, CODE + 0x20000, PRECOMPILED, 0);
    range(CODE, CODE + 0x10000, JIT, FRAGMENTS);
    put(memory + JIT + 16, 2, 4);
    word(JIT + 40, BASE + HEAP);
    word(HEAP + 16, CODE + 0x100);
    word(HEAP + 24, CODE + 0xf000);
    word(HEAP + 32, CODE);
    word(HEAP + 40, BASE + NIBBLES);
    word(METHODS, BASE + TABLE);
    put(memory + TABLE + 8, 77 << 8, 4);
    word(TABLE + 24, BASE + 0xb000); /* the module */
    return 0;
}

static void find_methods(struct clr_frame *frames, size_t n)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    memcpy(both, memory, BYTES);
    memcpy(both + BYTES, code, CODES);
    assert_int_equal(gcd_input_from_memory(both, sizeof both, NULL, &in, &err), GCD_OK);
    assert_int_equal(image_init(&image, in, &alloc, &err), GCD_OK);
    segments[0] = (struct image_segment){ .start = BASE, .bytes = BYTES, .off = 0 };
    segments[1] = (struct image_segment){ .start = CODE, .bytes = CODES, .off = BYTES };
    image.segments = segments;
    image.segment_count = 2;
    struct gcd_context context = { .cancel = NULL };
    c.alloc = alloc;
    c.context = &context;
    c.image = &image;
    c.dac = BASE + DAC;
    c.layout.major = 10;
    c.frames = frames;
    c.frame_count = n;
    assert_int_equal(clr_find_methods(&c, &err), GCD_OK);
    image.segments = NULL;
    image_done(&image);
    gcd_input_free(in);
}

/* The method of the call that returns to OFF of the code: its row; 0 = unknown. */
static uint32_t method_at(uint32_t off)
{
    struct clr_frame frame = { .code = CODE + off };
    find_methods(&frame, 1);
    if (c.frame_count == 0 || frame.module == 0)
        return 0;
    assert_int_equal(frame.module, BASE + 0xb000);
    assert_int_equal(frame.type, 77);
    return frame.method;
}

static void finds_the_method_that_begins_before(void **state)
{
    (void)state;
    mark(0x200, 3);
    method(0x20c, 1, 0x12345);
    mark(0x240, 0);
    method(0x240, 2, 0x12346);
    mark(0x900, 7);
    method(0x91c, 200, 0x12347);
    assert_int_equal(method_at(0x20d), 0x12345);
    assert_int_equal(method_at(0x20c), 0); /* returns to before it */
    assert_int_equal(method_at(0x23f), 0x12345);
    assert_int_equal(method_at(0x240), 0x12345); /* a call is its last instruction */
    assert_int_equal(method_at(0x241), 0x12346);
    assert_int_equal(method_at(0x900), 0x12346); /* words without a method between them */
    assert_int_equal(method_at(0x91c), 0x12346);
    assert_int_equal(method_at(0x91d), 0x12347);
    assert_int_equal(method_at(0x93d), 0x12347);
}

/* .NET 10 and later: a word of the map is the distance of a long method. */
static void finds_a_long_method(void **state)
{
    (void)state;
    mark(0x200, 3);
    method(0x20c, 1, 1);
    put(memory + NIBBLES + 4 * (0x500 / 256), 0x200 | (9 + 3), 4);
    assert_int_equal(method_at(0x577), 1);
    put(memory + NIBBLES + 4 * (0x500 / 256), 0x240 | 9, 4);
    method(0x240, 3, 3);
    assert_int_equal(method_at(0x577), 3);
    put(memory + NIBBLES + 4 * (0x500 / 256), 0x200 | (9 + 3), 4);
    mark(0x660, 4);
    method(0x670, 2, 2);
    assert_int_equal(method_at(0x671), 2);
    assert_int_equal(method_at(0x670), 1); /* the word before it has the distance */
}

static void finds_nothing_elsewhere(void **state)
{
    (void)state;
    mark(0x200, 0);
    method(0x200, 1, 1);
    assert_int_equal(method_at(0x201), 1);
    assert_int_equal(method_at(0xf001), 0);  /* beyond the heap */
    assert_int_equal(method_at(0x10200), 0); /* code that was compiled beforehand */
    assert_int_equal(method_at(0x80), 0);    /* before the heap */
    put(code + 0x200 - 8, 15, 8);            /* a stub */
    assert_int_equal(method_at(0x201), 0);
    put(code + 0x200 - 8, 0, 8);
    assert_int_equal(method_at(0x201), 0);
}

/* Links that lead in a circle, and a map without any method, end. */
static void damage_ends(void **state)
{
    (void)state;
    word(FRAGMENTS, BASE + FRAGMENTS + 32);
    assert_int_equal(method_at(0x1ffff), 0);
    assert_int_equal(method_at(0x3000), 0);
    word(HEAP + 40, UINT64_MAX - 100);
    assert_int_equal(method_at(0x3000), 0);
    word(MAP, BASE + BYTES + 4096);
    assert_int_equal(method_at(0x3000), 0);
}

/* Calls of native code, and words that look like calls, are dropped: what lies in them belongs to
 * the call inside them, or to the innermost one. */
static void words_belong_to_calls_of_compiled_code(void **state)
{
    (void)state;
    enum { NATIVE = 0x30000 };
    static const uint32_t codes[] = { NATIVE, 0x10800, NATIVE, 0x201, NATIVE, 0x201 };
    static const uint32_t want[] = { 0, 0, 0, 1, 2, 2, 3 };
    struct clr_frame frames[6];
    struct clr_stack_word words[7];
    put(memory + PRECOMPILED + 32, 1, 8);
    mark(0x200, 0);
    method(0x200, 1, 1);
    /* push rbp; push r15; push r12; push rbx; sub ... */
    memcpy(code + 0x200, "\x55\x41\x57\x41\x54\x53\x48\x81", 8);
    for (uint32_t i = 0; i < 6; i++)
        frames[i] = (struct clr_frame){ .slot = 0x1008 + 0x100 * (uint64_t)i,
                                        .code = CODE + codes[i],
                                        .thread = i >= 4 };
    for (uint32_t i = 0; i < 7; i++)
        words[i] = (struct clr_stack_word){ .frame = i };
    c.stack_words = words;
    c.stack_word_count = 7;
    find_methods(frames, 6);
    assert_int_equal(c.frame_count, 3);
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(words[i].frame, want[i]);
    assert_int_equal(frames[1].saved, 3);
    frames[2].thread = 0; /* so that it called frame 1 */
    for (uint64_t at = frames[2].slot - 8 - 8 * 5; at < frames[2].slot; at += 8) {
        struct clr_stack_word w = { .at = at, .frame = 1 };
        bool is_saved = at >= frames[2].slot - 8 - 8 * 3 && at < frames[2].slot - 8;
        assert_int_equal(clr_frame_of(&c, &w), is_saved ? 2 : 1);
    }
}

/* A call has the name of the first method from it outwards that has one, within its thread. */
static void roots_are_told_by_the_call_outside(void **state)
{
    (void)state;
    struct clr_thread threads[] = { { .thread = 100 }, { .thread = 200 } };
    struct clr_frame frames[] = {
        { .slot = 1, .thread = 0 },
        { .slot = 2, .thread = 0, .name = "A" },
        { .slot = 3, .thread = 0 },
        { .slot = 4, .thread = 1, .name = "B" },
        { .slot = 5, .thread = 1, .name = "C" },
    };
    struct clr_root roots[] = {
        { .id = 100, .frame = 0 }, { .id = 100, .frame = 1 },        { .id = 100, .frame = 2 },
        { .id = 100, .frame = 3 }, { .id = 200, .frame = 4 },        { .id = 200, .frame = 5 },
        { .id = 7, .frame = 4 },   { .id = 200, .frame = CLR_NONE },
    };
    static const uint64_t want[] = { 2, 2, 100, 100, 5, 200, 7, 200 };
    c = (struct clr){ .threads = threads,
                      .thread_count = 2,
                      .frames = frames,
                      .frame_count = 5,
                      .roots = roots,
                      .root_count = sizeof roots / sizeof *roots };
    clr_tell_frames(&c);
    for (size_t i = 0; i < c.root_count; i++)
        assert_int_equal(roots[i].id, want[i]);
    assert_int_equal(c.frame_count, 2); /* those that hold something */
    assert_string_equal(frames[0].name, "A");
    assert_string_equal(frames[1].name, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(finds_the_method_that_begins_before, setup),
        cmocka_unit_test_setup(finds_a_long_method, setup),
        cmocka_unit_test_setup(finds_nothing_elsewhere, setup),
        cmocka_unit_test_setup(damage_ends, setup),
        cmocka_unit_test_setup(words_belong_to_calls_of_compiled_code, setup),
        cmocka_unit_test(roots_are_told_by_the_call_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
