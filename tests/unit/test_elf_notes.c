/* Notes of ELF files: in order, padded, damaged anywhere. */
#include "support/check.h"

#include <string.h>

#include "base/elf_notes.h"
#include "base/hex.h"
#include "support/tb.h"

static size_t put_note(uint8_t *p, uint32_t type, const char *name, size_t name_n, size_t n)
{
    memset(p, 0xee, 12 + name_n + n + 8);
    for (unsigned i = 0; i < 4; i++) {
        p[i] = (uint8_t)(name_n >> 8 * i);
        p[4 + i] = (uint8_t)(n >> 8 * i);
        p[8 + i] = (uint8_t)(type >> 8 * i);
    }
    memcpy(p + 12, name, name_n);
    size_t at = 12 + (name_n + 3) / 4 * 4;
    for (size_t i = 0; i < n; i++)
        p[at + i] = (uint8_t)(0xa0 + i);
    return at + (n + 3) / 4 * 4;
}

static void test_all_in_order(void **state)
{
    (void)state;
    uint8_t p[256];
    struct gcd_elf_note note;
    size_t n = put_note(p, 7, "CORE", 5, 3);
    n += put_note(p + n, 8, "", 0, 0);
    n += put_note(p + n, 9, "X", 1, 6);
    struct gcd_cur c = gcd_cur_make(p, n - 2, 0); /* the last one is not padded */
    assert_true(gcd_elf_note_next(&c, &note));
    assert_int_equal(note.type, 7);
    assert_int_equal(note.name_n, 5);
    assert_memory_equal(note.name, "CORE", 5);
    assert_int_equal(note.n, 3);
    assert_memory_equal(note.content, "\xa0\xa1\xa2", 3);
    assert_true(gcd_elf_note_next(&c, &note));
    assert_int_equal(note.type, 8);
    assert_int_equal(note.n, 0);
    assert_true(gcd_elf_note_next(&c, &note));
    assert_int_equal(note.type, 9);
    assert_memory_equal(note.content, "\xa0\xa1\xa2\xa3\xa4\xa5", 6);
    assert_false(gcd_elf_note_next(&c, &note));
    assert_int_equal(c.err, GCD_OK);
    c = gcd_cur_make(p, n - 3, 0);
    assert_true(gcd_elf_note_next(&c, &note) && gcd_elf_note_next(&c, &note));
    assert_false(gcd_elf_note_next(&c, &note));
}

static void test_build_id(void **state)
{
    (void)state;
    uint8_t p[512];
    struct gcd_build_id id = { .n = 0 };
    char hex[2 * GCD_BUILD_ID_MAX + 1];
    size_t n = put_note(p, 3, "GNU", 4, GCD_BUILD_ID_MAX + 1); /* too long, */
    n += put_note(p + n, 3, "GNU", 4, 0);                      /* empty, */
    n += put_note(p + n, 3, "GNX", 4, 20);                     /* of others, */
    n += put_note(p + n, 3, "GNU", 3, 20);
    n += put_note(p + n, 3, "GNU\0x", 5, 20);
    n += put_note(p + n, 1, "GNU", 4, 20); /* of another type */
    assert_false(gcd_elf_build_id(p, n, &id));
    size_t all = n + put_note(p + n, 3, "GNU", 4, 20);
    assert_false(gcd_elf_build_id(p, all - 1, &id));
    assert_int_equal(id.n, 0);
    assert_true(gcd_elf_build_id(p, all, &id));
    gcd_hex_bytes(id.bytes, id.n, hex);
    assert_string_equal(hex, "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3");
    (void)put_note(p, 3, "GNU", 4, GCD_BUILD_ID_MAX);
    assert_true(gcd_elf_build_id(p, n, &id));
    assert_int_equal(id.n, GCD_BUILD_ID_MAX);
    gcd_hex_bytes(p, 0, hex);
    assert_string_equal(hex, "");
}

/* Sizes that lead out of the notes, or around the end of all memory. */
static void test_damage(void **state)
{
    (void)state;
    static const uint8_t sizes[] = { 0xff, 0x80, 0x7f, 0x00 };
    for (size_t at = 0; at < 8; at++)
        for (size_t i = 0; i < sizeof sizes; i++) {
            uint8_t p[64];
            struct gcd_elf_note note;
            size_t n = put_note(p, 3, "GNU", 4, 20), found = 0;
            memset(p + at, sizes[i], at < 4 ? 4 - at : 8 - at);
            struct gcd_cur c = gcd_cur_make(p, n, 0);
            while (gcd_elf_note_next(&c, &note))
                assert_true(++found < 4 && note.content + note.n <= p + n);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_in_order),
        cmocka_unit_test(test_build_id),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
