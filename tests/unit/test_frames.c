/*
 * The methods of calls on stacks, in an address space made here: a tree of code ranges, a heap of
 * compiled code with its map of nibbles, an image that was compiled beforehand, and the structures
 * of methods.
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
    TABLE = 0x30000,   /* a method table */
    MODULE = 0x31000,  /* of code that was compiled beforehand */
    INFO = 0x31100,
    SIGNED = 0x31300,
    FUNCTIONS = 0x32000,
    BUCKETS = 0x34000,
    STORE = 0x37000, /* the threads of the runtime */
    THREAD = 0x37100,
    STACK = 0x38000,
    STACK_END = 0x39000
};

static uint8_t memory[BYTES], code[CODES], both[BYTES + CODES];
static struct clr c;
static struct image image;
static struct gcd_input *in;
static struct image_segment segments[3];
static uint32_t hole; /* where 12 bytes are missing; 0 = nowhere */
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
    hole = 0;
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

static void open_image(void)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    static const struct gcd_context context = { .cancel = NULL };
    memcpy(both, memory, BYTES);
    memcpy(both + BYTES, code, CODES);
    assert_int_equal(gcd_input_from_memory(both, sizeof both, NULL, &in, &err), GCD_OK);
    assert_int_equal(image_init(&image, in, &alloc, &err), GCD_OK);
    uint32_t end = hole != 0 ? hole : BYTES, next = hole != 0 ? hole + 12 : BYTES;
    segments[0] = (struct image_segment){ .start = BASE, .bytes = end };
    segments[1] =
        (struct image_segment){ .start = BASE + next, .bytes = BYTES - next, .off = next };
    segments[2] = (struct image_segment){ .start = CODE, .bytes = CODES, .off = BYTES };
    image.segments = segments;
    image.segment_count = 3;
    c.alloc = alloc;
    c.context = &context;
    c.image = &image;
    c.dac = BASE + DAC;
}

static void close_image(void)
{
    image.segments = NULL;
    image.threads = NULL;
    image_done(&image);
    gcd_input_free(in);
}

/* FRAMES, [n], become what is kept of them: at most n. */
static void find_methods(struct clr_frame *frames, size_t n)
{
    open_image();
    c.frames = gcd_mem_new_array(&c.alloc, n, sizeof *frames);
    assert_non_null(c.frames);
    c.frame_count = c.frame_cap = n;
    memcpy(c.frames, frames, n * sizeof *frames);
    assert_int_equal(clr_find_methods(&c, &err), GCD_OK);
    assert_true(c.frame_count <= n);
    if (c.frame_count > 0)
        memcpy(frames, c.frames, c.frame_count * sizeof *frames);
    gcd_mem_free(&c.alloc, c.frames, c.frame_cap * sizeof *c.frames);
    c.frames = frames;
    close_image();
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

/* ---- code that was compiled beforehand ---- */

enum { BUCKET_COUNT = 11, FUNCTION_COUNT = 300, UNWIND = 0xf000 };

/* Function I of the table, which begins at OFF of the code, in 16 bytes. */
static void function(unsigned i, uint32_t off)
{
    uint8_t *at = memory + FUNCTIONS + 12 * i;
    put(at, off - 0x10000, 4);
    put(at + 4, off - 0x10000 + 16, 4);
    put(at + 8, UNWIND, 4);
}

/* Enters the MethodDesc number INDEX of its chunk for the code at OFF, as the runtime does. */
static void prepared(uint32_t off, unsigned index, uint32_t row)
{
    uint64_t key = CODE + off;
    uint32_t at = (uint32_t)(key >> 2), step = 1 + ((uint32_t)(key >> 5) + 1) % (BUCKET_COUNT - 1);
    for (;; at += step) {
        uint8_t *bucket = memory + BUCKETS + 64 * (1 + at % BUCKET_COUNT);
        for (unsigned slot = 0; slot < 4; slot++)
            if (bucket[8 * slot] == 0 && bucket[8 * slot + 1] == 0) {
                uint64_t desc = METHODS + 24 + 8 * index;
                put(bucket + 8 * slot, key, 8);
                put(bucket + 32 + 8 * slot, (BASE + desc) >> 1, 7);
                put(memory + desc, row & 0xfff, 2);
                memory[desc + 2] = (uint8_t)index;
                put(memory + METHODS + 18, row >> 12, 2);
                return;
            }
        bucket[32 + 7] |= 0x80; /* others follow */
    }
}

/* 300 functions, 32 bytes apart; every third is a method, and the two behind it its handlers. */
static int setup_precompiled(void **state)
{
    setup(state);
    c.layout.module_precompiled = 0x40;
    c.layout.precompiled_map = 0x80;
    word(PRECOMPILED, CODE + 0x10000);
    word(PRECOMPILED + 32, BASE + MODULE);
    word(MODULE + 0x40, BASE + INFO);
    word(INFO, BASE + MODULE);
    word(INFO + 16, BASE + SIGNED);
    put(memory + SIGNED, 0x00525452, 4);
    word(INFO + 40, BASE + INFO);
    word(INFO + 80, BASE + FUNCTIONS);
    put(memory + INFO + 88, FUNCTION_COUNT, 4);
    word(INFO + 0x80, BASE + BUCKETS);
    word(BUCKETS, BUCKET_COUNT);
    for (unsigned i = 0; i <= FUNCTION_COUNT; i++) /* the last is none of them */
        function(i, 0x10100 + 32 * i);
    /* the first bucket of one method is full */
    memset(memory + BUCKETS +
               64 * (1 + (uint32_t)((CODE + 0x10100 + 32 * 150) >> 2) % BUCKET_COUNT),
           0x11, 32);
    for (unsigned i = 0; i < 102; i += 3)
        prepared(0x10100 + 32 * i, i, 100 + i);
    prepared(0x10100 + 32 * 150, 150, 250);
    /* of version 1: push rbp, r15, r14; a large allocation; push rbx */
    memcpy(code + 0x10000 + UNWIND,
           "\x01\x10\x06\x00\x10\x30\x0f\x01\x00\x02\x06\xe0\x04\xf0\x02\x50", 16);
    return 0;
}

static void finds_methods_compiled_beforehand(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 102; i++) {
        assert_int_equal(method_at(0x10100 + 32 * i + 1), 100 + i - i % 3);
        assert_int_equal(method_at(0x10100 + 32 * i + 16), 100 + i - i % 3);
        assert_int_equal(method_at(0x10100 + 32 * i + 17), 0); /* between them */
    }
    assert_int_equal(method_at(0x10100 + 32 * 150 + 5), 250);
    assert_int_equal(method_at(0x10100), 0);                  /* before the first */
    assert_int_equal(method_at(0x10100 + 32 * 299 + 5), 250); /* its handlers, for all we know */
    assert_int_equal(method_at(0x10100 + 32 * 300 + 5), 0);   /* behind the last */
    struct clr_frame frame = { .code = CODE + 0x10105 };
    find_methods(&frame, 1);
    assert_int_equal(frame.saved, 3);
}

/* How large the frame of a method is, or that it has a frame pointer, as its unwind data say; where
 * these are the same for both, its code. */
static void unwind_data_tell_the_frame(void **state)
{
    static const struct {
        const char *data, *code;
        unsigned n;
        bool keeps;
        uint32_t bytes, saved;
    } rows[] = {
        /* push rbp, r15 */
        { "\x01\x03\x02\x00\x03\xf0\x01\x50", "", 8, true, CLR_NONE, 1 },
        /* push rbp, rbx; room */
        { "\x01\x06\x03\x00\x06\x22\x02\x30\x01\x50", "", 10, false, CLR_NONE, 1 },
        { "\x01\x06\x03\x00\x06\x22\x02\x30\x01\x50",
          "\x55\x53\x48\x83\xec\x18\x48\x8d\x6c\x24\x20", 10, true, CLR_NONE, 1 },
        { "\x01\x06\x03\x00\x06\x22\x02\x30\x01\x50", "\x55\x53\x48\x83\xec\x18\x48\x8b\xe9", 10,
          false, CLR_NONE, 1 },
        /* push r15, rbp, rbx */
        { "\x01\x04\x03\x00\x04\x30\x03\x50\x02\xf0", "", 10, false, CLR_NONE, 2 },
        /* push rbx; room of 32; of 144 */
        { "\x01\x05\x02\x00\x05\x32\x01\x30", "", 8, false, 40, 1 },
        { "\x01\x08\x03\x00\x08\x01\x12\x00\x01\x30", "", 10, false, 152, 1 },
        { "\x01\x05\x02\x00\x05\x22\x01\x30", "", 8, false, CLR_NONE, 1 }, /* no calls */
        { "\x01\x10\x01\x05\x01\x50", "", 6, true, CLR_NONE, 0 },          /* named */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct clr_frame frame = { .slot = BASE + STACK + 8,
                                   .code = CODE + 0x10105,
                                   .link = BASE + STACK + 0x30 };
        setup_precompiled(state);
        word(STACK + 0x18, CODE + 0x310); /* there may be a hidden call */
        memset(code + 0x10000 + UNWIND, 0, 16);
        memcpy(code + 0x10000 + UNWIND, rows[i].data, rows[i].n);
        memcpy(code + 0x10100, rows[i].code, strlen(rows[i].code));
        find_methods(&frame, 1);
        assert_int_equal(frame.method, 100);
        assert_int_equal(frame.keeps_pointer, rows[i].keeps);
        assert_int_equal(frame.bytes, rows[i].bytes);
        assert_int_equal(frame.saved, rows[i].saved);
    }
}

/* What cannot be read, or is something else, names no neighbour. */
static void names_no_neighbour(void **state)
{
    (void)state;
    enum { HANDLER = 0x10100 + 32 * 151 + 5 };
    static const struct {
        uint32_t at, n;
        uint64_t v;
    } damage[] = {
        { MODULE + 0x40, 8, 0 },
        { INFO, 8, BASE }, /* of another module */
        { SIGNED, 4, 0 },
        { INFO + 88, 4, 0 },                       /* no functions */
        { INFO + 104, 4, 2 },                      /* cold parts */
        { INFO + 80, 8, BASE + BYTES - 12 * 151 }, /* the image lacks the handler, */
        { INFO + 80, 8, BASE - 12 * 151 },         /* the method, */
        { INFO + 0x80, 8, BASE + BYTES },          /* the map, */
        { BUCKETS, 8, UINT32_MAX },                /* most of it, */
        { PRECOMPILED + 32, 8, BASE + BYTES },     /* the module */
    };
    assert_int_equal(method_at(HANDLER), 250);
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        setup_precompiled(state);
        put(memory + damage[i].at, damage[i].v, damage[i].n);
        assert_int_equal(method_at(HANDLER), 0);
    }
    setup_precompiled(state);
    hole = FUNCTIONS + 12 * 150; /* methods before it are there */
    assert_int_equal(method_at(HANDLER), 0);
    hole = BUCKETS + 64 * (1 + (uint32_t)((CODE + HANDLER - 5) >> 2) % BUCKET_COUNT);
    assert_int_equal(method_at(HANDLER), 0);
    hole = 0;
    assert_int_equal(method_at(HANDLER), 250);
    c.method_lookups = UINT32_C(0x100000);
    assert_int_equal(method_at(HANDLER), 0);
}

/* ---- calls that have returned ---- */

/* A frame at OFF of the stack: its caller's frame pointer, and the code that it returns to. */
static void pushed(uint32_t off, uint32_t link, uint64_t to)
{
    word(STACK + off, BASE + STACK + link);
    word(STACK + off + 8, to);
}

static void calls_that_have_returned_are_none(void **state)
{
    (void)state;
    struct image_thread thread = { .id = 4711, .stack_pointer = BASE + STACK };
    static const uint32_t want[] = { 0x301, 0x201, 0x204, 0x206, 0x207, 0x208, 0x209, 0x20a };
    uint32_t kept[16], n = 0;
    thread.registers[4] = BASE + STACK + 0x100;
    thread.registers[16] = CODE + 0x300;
    for (uint32_t off = 0x10; off < 0x50; off += 0x10) /* left over in the innermost frame */
        pushed(off, off < 0x40 ? off + 0x10 : 0x400, CODE + 0x20d);
    pushed(0x100, 0x400, CODE + 0x201);
    pushed(0x200, 0x300, CODE + 0x202); /* left over in the frame of the caller */
    pushed(0x300, 0x400, CODE + 0x203);
    pushed(0x400, 0x800, CODE + 0x204);
    pushed(0x500, 0xa00, CODE + 0x205); /* left over */
    pushed(0x800, 0x850, CODE + 0x206); /* its caller has no frame pointer */
    pushed(0x900, 0xf00, CODE + 0x207); /* alone */
    pushed(0xa00, 0xb00, CODE + 0x208);
    pushed(0xa40, 0xfc0, CODE + 0x20b); /* left over */
    pushed(0xb00, 0xc00, CODE + 0x209);
    pushed(0xc00, 0xff0, CODE + 0x20a);
    word(DAC + 8 * 6, BASE + STORE);
    word(STORE, BASE + STORE + 16);
    word(STORE + 16, BASE + THREAD + 8);
    word(THREAD + 8, BASE + THREAD + 8);
    word(THREAD + 16, thread.id);
    word(THREAD + 24, BASE + STACK_END);
    word(THREAD + 32, BASE + STACK);
    open_image();
    static struct clr_region nothing = { .start = UINT64_MAX };
    c.dac_index = 10;
    c.regions = &nothing;
    c.layout = (struct clr_layout){ .thread_link = 8, .thread_os_id = 16, .thread_stack_base = 24 };
    image.threads = &thread;
    image.thread_count = 1;
    assert_int_equal(clr_read_stacks(&c, &err), GCD_OK);
    for (size_t i = 0; i < c.frame_count; i++)
        if (c.frames[i].code != 0)
            kept[n++] = (uint32_t)(c.frames[i].code - CODE);
    assert_int_equal(c.frame_count, 16);
    assert_int_equal(n, sizeof want / sizeof *want);
    assert_memory_equal(kept, want, sizeof want);
    gcd_mem_free(&c.alloc, c.frames, c.frame_cap * sizeof *c.frames);
    gcd_mem_free(&c.alloc, c.threads, c.thread_cap * sizeof *c.threads);
    gcd_mem_free(&c.alloc, c.stack_words, c.stack_word_cap * sizeof *c.stack_words);
    close_image();
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
    static const bool linked[] = { true, false, false };
    struct clr_frame frames[6];
    struct clr_stack_word words[7];
    put(memory + PRECOMPILED + 32, 1, 8);
    mark(0x200, 0);
    method(0x200, 1, 1);
    /* push rbp; push r15; push r12; push rbx; sub rsp, 16; lea rbp, [rsp + 40] */
    memcpy(code + 0x200, "\x55\x41\x57\x41\x54\x53\x48\x83\xec\x10\x48\x8d\x6c\x24\x28", 15);
    for (uint32_t i = 0; i < 6; i++)
        frames[i] = (struct clr_frame){ .slot = 0x1008 + 0x100 * (uint64_t)i,
                                        .code = CODE + codes[i],
                                        .next = i == 4 ? CLR_NONE : i + 1,
                                        .thread = i >= 4 };
    for (uint32_t i = 0; i < 7; i++)
        words[i] = (struct clr_stack_word){ .frame = i };
    c.stack_words = words;
    c.stack_word_count = 7;
    find_methods(frames, 6);
    assert_int_equal(c.frame_count, 3);
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(words[i].frame, want[i]);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(frames[i].is_linked, linked[i]);
    assert_int_equal(frames[1].saved, 3);
    assert_true(frames[1].keeps_pointer);
}

/* The frame of a method ends at its frame pointer; the owner of a word above it is unknown, as in
 * methods whose frame is not known. */
static void words_beyond_a_frame_are_of_no_call(void **state)
{
    (void)state;
    struct clr_frame frames[] = {
        { .slot = 0x1008, .link = 0x1100, .keeps_pointer = true, .is_linked = true, .saved = 3 },
        { .slot = 0x1108, .link = 0x1200, .is_linked = true },
        { .slot = 0x1208, .link = 0x1300, .keeps_pointer = true, .saved = 1, .thread = 1 },
        { .slot = 0x1408, .link = 0x1500, .is_linked = true, .saved = 1, .thread = 1 },
        { .slot = 0x1438, .link = 0x1500, .is_hidden = true, .keeps_pointer = true, .thread = 1 },
    };
    static const struct {
        uint64_t at;
        uint32_t frame, thread, want;
    } rows[] = {
        { 0, 0, 0, 0 },      /* in a register */
        { 0x1000, 0, 0, 0 }, /* in what the call has called */
        { 0x1010, 0, 0, 0 }, /* in its frame */
        { 0x10e0, 0, 0, 0 },
        { 0x10e8, 0, 0, 1 }, /* saved by it */
        { 0x10f8, 0, 0, 1 },
        { 0x1100, 0, 0, CLR_NONE }, /* above its frame */
        { 0x1100, 1, 0, 1 },
        { 0x1110, 1, 0, CLR_NONE }, /* how large it is, is not known */
        { 0x12f0, 2, 1, 2 },
        { 0x12f8, 2, 1, CLR_NONE }, /* of an unknown caller */
        { 0x1210, 2, 0, CLR_NONE }, /* of another thread */
        { 0x1210, 5, 1, CLR_NONE },
        { 0x1400, 4, 1, 3 }, /* in what the call around which a hidden one is has called */
        { 0x1428, 4, 1, 3 },
        { 0x1430, 4, 1, 4 }, /* saved for the hidden one */
        { 0x1440, 4, 1, 4 },
        { 0x1500, 4, 1, CLR_NONE },
    };
    c = (struct clr){ .frames = frames, .frame_count = 5 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct clr_stack_word w = { .at = rows[i].at,
                                    .frame = rows[i].frame,
                                    .thread = rows[i].thread };
        assert_int_equal(clr_frame_of(&c, &w), rows[i].want);
    }
}

/* A method without a frame pointer has a frame of known size; behind it is the return address of
 * its caller, which the chain of frame pointers leaves out. */
static void calls_around_methods_without_a_frame_pointer_are_found(void **state)
{
    (void)state;
    const uint64_t slot = BASE + STACK + 0x108;
    mark(0x200, 0);
    method(0x200, 1, 1); /* push rbx; sub rsp, 32 */
    memcpy(code + 0x200, "\x53\x48\x83\xec\x20\x90", 6);
    mark(0x300, 0);
    method(0x300, 2, 2); /* push rbp; mov rbp, rsp */
    memcpy(code + 0x300, "\x55\x48\x8b\xec", 4);
    word(STACK + 0x108 + 8 + 0x28, CODE + 0x310);
    struct clr_frame frames[3] = {
        { .slot = slot, .code = CODE + 0x210, .link = BASE + STACK + 0x200, .next = 2 },
        { .slot = slot + 16 },
        { .slot = BASE + STACK + 0x208, .code = CODE + 0x320, .next = CLR_NONE },
    };
    find_methods(frames, 3);
    assert_int_equal(c.frame_count, 3);
    assert_int_equal(frames[0].method, 1);
    assert_false(frames[0].keeps_pointer);
    assert_int_equal(frames[0].bytes, 0x28);
    assert_int_equal(frames[0].saved, 1);
    assert_true(frames[0].is_linked);
    assert_int_equal(frames[1].slot, slot + 0x30);
    assert_int_equal(frames[1].method, 2);
    assert_true(frames[1].is_hidden && frames[1].keeps_pointer && frames[1].is_linked);
    assert_int_equal(frames[2].slot, BASE + STACK + 0x208);
    assert_false(frames[2].is_hidden || frames[2].is_linked);
}

/* A call of an unknown method hides none, if no word between it and its frame pointer leads to code
 * but its own return address. */
static void gaps_without_code_hide_no_call(void **state)
{
    (void)state;
    struct clr_frame unknown = { .slot = BASE + STACK + 8,
                                 .code = CODE + 0x10800,
                                 .link = BASE + STACK + 0x30 };
    put(memory + PRECOMPILED + 32, 1, 8);
    word(STACK + 0x18, CODE + 0x10800);
    word(STACK + 0x28, CODE + 0x30000);
    struct clr_frame frame = unknown;
    find_methods(&frame, 1);
    assert_true(frame.keeps_pointer);
    word(STACK + 0x28, CODE + 0x10801);
    frame = unknown;
    find_methods(&frame, 1);
    assert_false(frame.keeps_pointer);
    word(STACK + 0x28, 0);
    frame = unknown;
    frame.link += 0x1000; /* too far to look */
    find_methods(&frame, 1);
    assert_false(frame.keeps_pointer);
}

/* No caller is found where the frame does not end at code, or its size is not known. */
static void no_call_is_guessed(void **state)
{
    static const struct {
        const char *code;
        uint64_t link, returns_to, slot;
    } rows[] = {
        { "\x53\x48\x83\xec\x20\x90", 0x200, 0, 0x108 },            /* no code */
        { "\x53\x48\x83\xec\x20\x90", 0x138, CODE + 0x310, 0x108 }, /* above the frame pointer */
        { "\x53\x48\x83\xec\x28\x90", 0x200, CODE + 0x310, 0x108 }, /* rsp is no multiple of 16 */
        { "\x53\x55\x48\x83\xec\x20", 0x200, CODE + 0x310, 0x108 }, /* rbp is something else */
        { "\x53\x4c\x8d\x9c\x24\x20", 0x200, CODE + 0x310, 0x108 }, /* touches pages */
        { "\x55\x48\x83\xec\x20\x90", 0x200, CODE + 0x310, 0x108 },
        /* the innermost frame begins anywhere */
        { "\x53\x48\x83\xec\x20\x90", 0x200, CODE + 0x310, 0x100 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct clr_frame frames[2] = { { .slot = BASE + STACK + rows[i].slot,
                                         .code = CODE + 0x210,
                                         .link = BASE + STACK + rows[i].link,
                                         .next = CLR_NONE } };
        (void)setup(state);
        mark(0x200, 0);
        method(0x200, 1, 1);
        memcpy(code + 0x200, rows[i].code, 6);
        mark(0x300, 0);
        method(0x300, 2, 2);
        for (uint32_t at = 0x110; at < 0x150; at += 8)
            word(STACK + at, rows[i].returns_to);
        find_methods(frames, 2);
        assert_int_equal(c.frame_count, 1);
        assert_false(frames[0].is_linked);
    }
}

/* Which code keeps a frame pointer. */
static void methods_keep_a_frame_pointer(void **state)
{
    (void)state;
    static const struct {
        const char *code;
        bool keeps;
    } rows[] = {
        { "\x55\x48\x8b\xec\x90\x90\x90\x90", true }, /* mov rbp, rsp */
        { "\x55\x50\x48\x8d\x6c\x24\x08\x90", true }, /* push rax */
        { "\x55\x48\x81\xec\x10\x01\x01\x01\xc5\xf8\x77\x48\x8d\xac\x24", true },
        { "\x55\x48\x83\xec\x10\x48\x8d\x7c\x24\x10", false }, /* lea rdi */
        { "\x55\x53\x48\x83\xec\x10\x48\x8b\xfe\x90", false },
        { "\x53\x48\x83\xec\x10\x48\x8d\x6c\x24\x10", false }, /* no push rbp */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct clr_frame frame = { .slot = BASE + STACK + 8,
                                   .code = CODE + 0x201,
                                   .link = BASE + STACK + 0x30 };
        (void)setup(state);
        word(STACK + 0x20, CODE + 0x310); /* there may be a hidden call */
        mark(0x200, 0);
        method(0x200, 1, 1);
        memcpy(code + 0x200, rows[i].code, strlen(rows[i].code));
        find_methods(&frame, 1);
        assert_int_equal(c.frame_count, 1);
        assert_int_equal(frame.keeps_pointer, rows[i].keeps);
    }
}

/* A call has the name of the first method from it outwards that has one, within its thread. */
static void roots_are_told_by_the_call_outside(void **state)
{
    (void)state;
    struct clr_thread threads[] = { { .thread = 100 }, { .thread = 200 }, { .thread = 300 } };
    struct clr_frame frames[] = {
        { .slot = 1, .thread = 0, .name = "X", .is_framework = true },
        { .slot = 2, .thread = 0, .name = "A" },
        { .slot = 3, .thread = 0 },
        { .slot = 4, .thread = 1, .name = "B" },
        { .slot = 5, .thread = 1, .name = "C" },
        { .slot = 6, .thread = 1, .name = "F", .is_framework = true }, /* has no other */
        { .slot = 7, .thread = 1, .name = "G", .is_framework = true },
        { .slot = 8, .thread = 1 },
        /* its caller is hidden, or not linked: nothing outside tells it */
        { .slot = 9, .thread = 2, .name = "Y", .is_framework = true, .is_linked = true },
        { .slot = 10, .thread = 2, .keeps_pointer = true },
        { .slot = 11, .thread = 2, .name = "D" },
    };
    struct clr_root roots[] = {
        { .id = 100, .frame = 0 },        { .id = 100, .frame = 1 }, { .id = 100, .frame = 2 },
        { .id = 100, .frame = 3 },        { .id = 200, .frame = 4 }, { .id = 200, .frame = 5 },
        { .id = 200, .frame = 6 },        { .id = 200, .frame = 7 }, { .id = 7, .frame = 4 },
        { .id = 200, .frame = CLR_NONE }, { .id = 300, .frame = 8 }, { .id = 300, .frame = 9 },
        { .id = 300, .frame = 10 },
    };
    static const uint64_t want[] = { 2, 2, 100, 100, 5, 6, 7, 200, 7, 200, 9, 300, 11 };
    for (uint32_t i = 0; i < 7; i++) {
        frames[i].keeps_pointer = true;
        frames[i].is_linked = frames[i].thread == frames[i + 1].thread;
    }
    c = (struct clr){ .threads = threads,
                      .thread_count = 3,
                      .frames = frames,
                      .frame_count = 11,
                      .roots = roots,
                      .root_count = sizeof roots / sizeof *roots };
    clr_tell_frames(&c);
    for (size_t i = 0; i < c.root_count; i++)
        assert_int_equal(roots[i].id, want[i]);
    assert_int_equal(c.frame_count, 6); /* those that hold something */
    assert_string_equal(frames[0].name, "A");
    assert_string_equal(frames[1].name, "C");
    assert_string_equal(frames[2].name, "F");
    assert_string_equal(frames[3].name, "G");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(finds_the_method_that_begins_before, setup),
        cmocka_unit_test_setup(finds_a_long_method, setup),
        cmocka_unit_test_setup(finds_nothing_elsewhere, setup),
        cmocka_unit_test_setup(damage_ends, setup),
        cmocka_unit_test_setup(finds_methods_compiled_beforehand, setup_precompiled),
        cmocka_unit_test_setup(unwind_data_tell_the_frame, setup),
        cmocka_unit_test_setup(names_no_neighbour, setup_precompiled),
        cmocka_unit_test_setup(calls_that_have_returned_are_none, setup),
        cmocka_unit_test_setup(words_belong_to_calls_of_compiled_code, setup),
        cmocka_unit_test_setup(words_beyond_a_frame_are_of_no_call, setup),
        cmocka_unit_test_setup(methods_keep_a_frame_pointer, setup),
        cmocka_unit_test_setup(calls_around_methods_without_a_frame_pointer_are_found, setup),
        cmocka_unit_test_setup(no_call_is_guessed, setup),
        cmocka_unit_test_setup(gaps_without_code_hide_no_call, setup),
        cmocka_unit_test(roots_are_told_by_the_call_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
