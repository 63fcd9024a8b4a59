/*
 * The references of objects, in an address space made here: in one run and in several, in objects
 * that lie in memory as a whole and in those that do not; and layouts that no method table has.
 */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include <gcdumpc/io.h>

#include "base/mem.h"
#include "image/clr/clr.h"

#define BASE      UINT64_C(0x7f1200000000)
#define BYTES     0x40000u
#define TABLE     0x1000u /* method tables, 0x100 bytes apart */
#define OBJECT    0x20000u
#define MISSING   0x30000u /* three bytes behind, up to 12, are missing */
#define REFERENCE UINT32_C(0x01000000)
#define ARRAY     UINT32_C(0x80000000)

static uint8_t memory[BYTES];
static struct gcd_error err = GCD_ERROR_INIT;
static struct clr c;
static struct image image;
static struct gcd_input *in;
static struct image_segment segments[2];

static void word(uint64_t off, uint64_t v)
{
    for (unsigned i = 0; i < 8; i++)
        memory[off + i] = (uint8_t)(v >> 8 * i);
}

/* Method table number N, whose first run begins at OFFSET: RUN bytes, without those of the object;
 * the second one, if there is one, comes before it in memory. */
static uint64_t table(unsigned n, uint32_t flags, uint32_t base_bytes, uint64_t offset,
                      uint64_t run)
{
    uint64_t at = TABLE + 0x100u * n;
    word(at, flags | REFERENCE | (uint64_t)base_bytes << 32);
    word(at - 8, 1);
    word(at - 16, offset);
    word(at - 24, run);
    return BASE + at;
}

static void open_image(bool map)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    assert_int_equal(gcd_input_from_memory(memory, sizeof memory, NULL, &in, &err), GCD_OK);
    assert_int_equal(image_init(&image, in, &alloc, &err), GCD_OK);
    segments[0] = (struct image_segment){ .start = BASE, .bytes = MISSING + 3 };
    segments[1] = (struct image_segment){ .start = BASE + MISSING + 12,
                                          .bytes = BYTES - MISSING - 12,
                                          .off = MISSING + 12 };
    image.segments = segments;
    image.segment_count = 2;
    if (map)
        image_map(&image);
    c = (struct clr){ .alloc = alloc, .image = &image, .layout.major = 10 };
    gcd_idmap_init(&c.type_by_id, &alloc);
}

static void close_image(void)
{
    gcd_mem_free(&c.alloc, c.types, c.type_cap * sizeof *c.types);
    gcd_mem_free(&c.alloc, c.series, c.series_cap * sizeof *c.series);
    gcd_idmap_done(&c.type_by_id);
    image.segments = NULL;
    image.segment_count = 0;
    image_done(&image);
    gcd_input_free(in);
}

/* "slot:target ..." of the object at OFF, both small numbers; RESUME: as if the image was read
 * after each. */
static const char *references(uint64_t off, bool resume)
{
    static char text[256];
    gcd_status st = GCD_OK;
    struct clr_object o;
    struct clr_slots s;
    uint64_t target, slot, n = 0;
    size_t used = 0;
    text[0] = '\0';
    if (!clr_object_at(&c, BASE + off, &o, &st))
        return "none";
    clr_slots_begin(&s, &c, &o);
    for (; clr_slots_next(&s, &target, &slot); n++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u:%u", n > 0 ? " " : "",
                                 (unsigned)(slot - BASE - off), (unsigned)target);
        assert_true(used < sizeof text);
        if (resume)
            clr_slots_resume(&s);
    }
    clr_slots_begin(&s, &c, &o);
    assert_int_equal(clr_slots_count(&s), n);
    return text;
}

static void check(uint64_t off, const char *wanted)
{
    for (unsigned way = 0; way < 4; way++) {
        open_image((way & 1) != 0);
        assert_string_equal(references(off, (way & 2) != 0), wanted);
        close_image();
    }
}

static void runs(void **state)
{
    (void)state;
    memset(memory, 0, sizeof memory);
    /* a class with references at 8 to 24, of which one is null */
    word(OBJECT, table(1, 0, 48, 8, UINT64_C(0) - 24));
    word(OBJECT + 8, 1);
    word(OBJECT + 24, 3);
    word(OBJECT + 32, 99); /* a number */
    check(OBJECT, "8:1 24:3");
    /* and one at 32, as a second run */
    word(TABLE + 0x100 - 8, 2);
    word(TABLE + 0x100 - 32, 32);
    word(TABLE + 0x100 - 40, UINT64_C(0) - 40);
    check(OBJECT, "8:1 24:3 32:99");
    /* an array of three */
    word(OBJECT, table(2, ARRAY | 8, 24, 16, UINT64_C(0) - 24));
    word(OBJECT + 8, 3);
    word(OBJECT + 16, 5);
    word(OBJECT + 40, 99); /* the object behind it */
    check(OBJECT, "16:5 24:3 32:99");
    /* a run that is said to be longer than its object */
    word(OBJECT, table(3, 0, 32, 16, 1024));
    check(OBJECT, "16:5 24:3");
    /* one that ends before it begins */
    word(OBJECT, table(4, 0, 32, 16, UINT64_C(0) - 40));
    check(OBJECT, "");
    /* an array of bytes whose table claims references: nothing is read behind its last slot */
    word(OBJECT, table(5, ARRAY | 1, 24, 16, UINT64_C(0) - 16));
    word(OBJECT + 8, 3);
    check(OBJECT, "16:5 24:3");
}

/* Some bytes are not there: those slots are null. */
static void an_object_with_a_gap(void **state)
{
    (void)state;
    memset(memory, 0, sizeof memory);
    word(MISSING - 16, table(1, 0, 56, 8, UINT64_C(0) - 16));
    for (unsigned i = 1; i < 7; i++)
        word(MISSING - 16 + 8 * i, i);
    check(MISSING - 16, "8:1 32:4 40:5");
    /* the last slot of an array of bytes begins before its end */
    word(MISSING - 24, table(2, ARRAY | 1, 24, 16, UINT64_C(0) - 16));
    word(MISSING - 16, 3);
    check(MISSING - 24, "16:1");
}

/* No run begins outside of an object: from address 0 on there are 2^44 slots up to one. */
static void runs_outside_of_objects(void **state)
{
    (void)state;
    const uint64_t offsets[] = { 24, 32, UINT64_C(0) - BASE - OBJECT, UINT64_MAX - 7, 0, 12 };
    for (unsigned i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        memset(memory, 0, sizeof memory);
        word(OBJECT, table(1, 0, 24, offsets[i], UINT64_C(1) << 60));
        check(OBJECT, "none");
    }
    word(OBJECT, table(1, 0, 24, 16, UINT64_C(0) - 16));
    word(OBJECT + 16, 7);
    check(OBJECT, "16:7");
}

/* One region from OBJECT on is an array of bytes, and a root holds what is at OFF: how many
 * references lead to no object. */
static uint64_t dangling(uint64_t off)
{
    const struct gcd_context context = { .cancel = NULL };
    struct clr_region region = { .start = BASE + OBJECT, .end = BASE + OBJECT + 0x1000 };
    struct clr_root root = { .object = BASE + off, .kind = CLR_ROOT_HANDLE };
    uint32_t bucket = 1;
    open_image(true);
    c.context = &context;
    c.regions = &region;
    c.region_count = 1;
    c.buckets = &bucket;
    c.bucket_count = 1;
    c.bucket_shift = 63;
    c.roots = &root;
    c.root_count = 1;
    assert_int_equal(clr_walk(&c, &err), GCD_OK);
    assert_int_equal(clr_mark(&c, &err), GCD_OK);
    assert_int_equal(c.walked.bytes, 0);
    gcd_mem_free(&c.alloc, c.marks, c.mark_cap * sizeof *c.marks);
    gcd_mem_free(&c.alloc, c.starts, c.mark_cap * sizeof *c.starts);
    gcd_mem_free(&c.alloc, c.blocks, c.block_count * sizeof *c.blocks);
    uint64_t found = c.gaps.dangling;
    close_image();
    return found;
}

/* A reference to the inside of an object, where an array of 2^32 references seems to begin. */
static void an_object_that_is_longer_than_its_region(void **state)
{
    (void)state;
    memset(memory, 0, sizeof memory);
    word(OBJECT, table(1, ARRAY | 1, 24, 16, 0));
    memory[TABLE + 0x100 + 3] &= 0xfe; /* no references, */
    word(TABLE + 0x110, BASE);         /* and a parent, as gaps have none */
    word(OBJECT + 8, 0x1000 - 24);
    assert_int_equal(dangling(OBJECT), 0);
    word(OBJECT + 64, table(2, ARRAY | 8, 24, 16, UINT64_C(0) - 24));
    word(OBJECT + 72, UINT32_MAX);
    assert_int_equal(dangling(OBJECT + 64), 1);
    word(OBJECT + 72, 3);
    assert_int_equal(dangling(OBJECT + 64), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs),
        cmocka_unit_test(an_object_with_a_gap),
        cmocka_unit_test(runs_outside_of_objects),
        cmocka_unit_test(an_object_that_is_longer_than_its_region),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
