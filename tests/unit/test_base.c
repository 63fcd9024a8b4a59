#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cur.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/sort.h"
#include "base/text.h"
#include "support/check.h"

static void cursor_reads_little_endian(void **state)
{
    (void)state;
    const uint8_t b[] = { 1, 2, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0x80, 5 };
    struct gcd_cur c = gcd_cur_make(b, sizeof b, 100);
    assert_int_equal(gcd_cur_u8(&c), 1);
    assert_int_equal(gcd_cur_u16(&c), 2);
    assert_int_equal(gcd_cur_u32(&c), 3);
    assert_true(gcd_cur_u64(&c) == UINT64_C(0x8000000000000004));
    assert_true(gcd_cur_off(&c) == 115);
    assert_int_equal(gcd_cur_u8(&c), 5);
    assert_int_equal(c.err, GCD_OK);
}

static void cursor_keeps_its_first_failure(void **state)
{
    (void)state;
    const uint8_t b[] = { 1, 2, 3 };
    struct gcd_cur c = gcd_cur_make(b, sizeof b, 100);
    (void)gcd_cur_u8(&c);
    assert_int_equal(gcd_cur_u32(&c), 0);
    assert_int_equal(c.err, GCD_E_FORMAT);
    assert_true(c.err_off == 101);
    assert_int_equal(gcd_cur_u8(&c), 0); /* two bytes were left: the window is empty now */
    assert_true(c.err_off == 101);
}

static void array_counts_are_not_believed(void **state)
{
    (void)state;
    const uint8_t b[24] = { 0 };
    struct gcd_cur c = gcd_cur_make(b, sizeof b, 0);
    assert_non_null(gcd_cur_array(&c, 3, 8));
    c = gcd_cur_make(b, sizeof b, 0);
    assert_null(gcd_cur_array(&c, 4, 8));
    c = gcd_cur_make(b, sizeof b, 0);
    /* the product would wrap to something small */
    assert_null(gcd_cur_array(&c, UINT64_MAX / 4, 8));
    assert_int_equal(c.err, GCD_E_FORMAT);
}

static void varuint_limits(void **state)
{
    (void)state;
    const uint8_t max32[] = { 0xff, 0xff, 0xff, 0xff, 0x0f },
                  over32[] = { 0xff, 0xff, 0xff, 0xff, 0x1f };
    const uint8_t max64[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 };
    const uint8_t over64[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 3 };
    const uint8_t endless[] = {
        0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0
    };
    const uint8_t padded[] = { 0x81, 0x00 };
    struct gcd_cur c = gcd_cur_make(max32, sizeof max32, 0);
    assert_true(gcd_cur_varuint32(&c) == UINT32_MAX);
    c = gcd_cur_make(over32, sizeof over32, 0);
    (void)gcd_cur_varuint32(&c);
    assert_int_equal(c.err, GCD_E_FORMAT);
    c = gcd_cur_make(max64, sizeof max64, 0);
    assert_true(gcd_cur_varuint64(&c) == UINT64_MAX);
    c = gcd_cur_make(over64, sizeof over64, 0);
    (void)gcd_cur_varuint64(&c);
    assert_int_equal(c.err, GCD_E_FORMAT);
    c = gcd_cur_make(endless, sizeof endless, 0);
    (void)gcd_cur_varuint64(&c);
    assert_int_equal(c.err, GCD_E_FORMAT);
    c = gcd_cur_make(padded, sizeof padded, 0);
    assert_int_equal(gcd_cur_varuint32(&c), 1);
    c = gcd_cur_make(padded, 1, 0);
    (void)gcd_cur_varuint32(&c);
    assert_int_equal(c.err, GCD_E_FORMAT);
}

static void utf16z_needs_its_terminator(void **state)
{
    (void)state;
    const uint8_t b[] = { 'a', 0, 0, 1, 0, 0, 'z', 0 };
    size_t units;
    struct gcd_cur c = gcd_cur_make(b, sizeof b, 0);
    assert_non_null(gcd_cur_utf16z(&c, &units));
    assert_int_equal(units, 2);
    assert_true(gcd_cur_left(&c) == 2);
    assert_null(gcd_cur_utf16z(&c, &units));
    assert_int_equal(c.err, GCD_E_FORMAT);
}

static void sub_cursor_is_bounded(void **state)
{
    (void)state;
    const uint8_t b[] = { 1, 2, 3, 4 };
    struct gcd_cur c = gcd_cur_make(b, sizeof b, 10);
    struct gcd_cur s = gcd_cur_sub(&c, 2);
    assert_int_equal(gcd_cur_u8(&c), 3);
    (void)gcd_cur_u16(&s);
    (void)gcd_cur_u8(&s);
    assert_int_equal(s.err, GCD_E_FORMAT);
    assert_true(s.err_off == 12);
    s = gcd_cur_sub(&c, 9);
    assert_int_equal(s.err, GCD_E_FORMAT);
    assert_int_equal(c.err, GCD_E_FORMAT);
}

static void hex_is_what_printf_says(void **state)
{
    (void)state;
    uint64_t v = 1;
    for (unsigned i = 0; i < 200000; i++) {
        uint64_t x = i < 64    ? UINT64_C(1) << i
                     : i < 128 ? (UINT64_C(1) << (i - 64)) - 1
                               : v >> (v & 63);
        char got[GCD_HEX_MAX + 9], want[32];
        *gcd_hex_put(got, x) = '\0';
        (void)snprintf(want, sizeof want, "%" PRIx64, x);
        assert_string_equal(got, want);
        v = v * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    }
}

static void idmap_keeps_everything(void **state)
{
    (void)state;
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    struct gcd_idmap m;
    gcd_idmap_init(&m, &a);
    assert_true(gcd_idmap_get(&m, 7) == GCD_IDMAP_NONE);
    for (uint32_t i = 0; i < 100000; i++)
        assert_true(gcd_idmap_put(&m, (uint64_t)i * 0x1000, i));
    assert_true(gcd_idmap_put(&m, 0, 42));
    for (uint32_t i = 1; i < 100000; i++)
        assert_true(gcd_idmap_get(&m, (uint64_t)i * 0x1000) == i);
    assert_true(gcd_idmap_get(&m, 0) == 42);
    assert_true(gcd_idmap_get(&m, UINT64_MAX) == GCD_IDMAP_NONE);
    assert_int_equal(m.used, 100000);
    gcd_idmap_clear(&m);
    assert_true(gcd_idmap_get(&m, 0x1000) == GCD_IDMAP_NONE);
    gcd_idmap_done(&m);
}

static void utf16_becomes_utf8(void **state)
{
    (void)state;
    static const struct {
        uint16_t units[4];
        size_t n;
        const char *utf8;
    } rows[] = {
        { { 'A' }, 1, "A" },
        { { 0xe4, 0x416, 0x20ac }, 3, "\xc3\xa4\xd0\x96\xe2\x82\xac" },
        { { 0xd83d, 0xde00 }, 2, "\xf0\x9f\x98\x80" },
        { { 0xd83d }, 1, "\xef\xbf\xbd" },
        { { 0xde00, 'x' }, 2, "\xef\xbf\xbdx" },
        { { 0xd83d, 'x' }, 2, "\xef\xbf\xbdx" },
        { { 0xd83d, 0xd83d, 0xde00 }, 3, "\xef\xbf\xbd\xf0\x9f\x98\x80" },
        { { 0xffff }, 1, "\xef\xbf\xbf" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t le[8];
        char out[16];
        for (size_t k = 0; k < rows[i].n; k++) {
            le[2 * k] = (uint8_t)rows[i].units[k];
            le[2 * k + 1] = (uint8_t)(rows[i].units[k] >> 8);
        }
        size_t n = gcd_utf16le_to_utf8(le, rows[i].n, out);
        assert_int_equal(n, strlen(rows[i].utf8));
        assert_memory_equal(out, rows[i].utf8, n);
    }
}

static void utf8_is_cleaned(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "plain \xc3\xa4", "plain \xc3\xa4" },
        { "\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd" },                 /* overlong */
        { "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" }, /* surrogate */
        { "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
        { "\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd" }, /* cut */
        { "\xf0\x9f\x98\x80!", "\xf0\x9f\x98\x80!" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char out[32];
        size_t n = gcd_utf8_sanitize((const uint8_t *)rows[i][0], strlen(rows[i][0]), out);
        assert_int_equal(n, strlen(rows[i][1]));
        assert_memory_equal(out, rows[i][1], n);
    }
}

static void textpool_has_a_ceiling(void **state)
{
    (void)state;
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    struct gcd_textpool p;
    const char *s, *t;
    gcd_textpool_init(&p, &a, 10);
    assert_int_equal(gcd_textpool_add(&p, "hello", 5, &s), GCD_OK);
    assert_int_equal(gcd_textpool_add(&p, "world", 5, &t), GCD_OK);
    assert_string_equal(s, "hello");
    assert_string_equal(t, "world");
    assert_int_equal(gcd_textpool_add(&p, "!", 1, &t), GCD_E_LIMIT);
    gcd_textpool_done(&p);
}

static void vec_stops_at_its_maximum(void **state)
{
    (void)state;
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    uint32_t *v = NULL;
    size_t cap = 0;
    assert_true(gcd_vec_reserve(&a, &v, &cap, 1, sizeof *v, 20));
    assert_int_equal(cap, 8);
    v[7] = 9;
    assert_true(gcd_vec_reserve(&a, &v, &cap, 17, sizeof *v, 20));
    assert_int_equal(cap, 20);
    assert_int_equal(v[7], 9);
    assert_int_equal(v[19], 0);
    assert_false(gcd_vec_reserve(&a, &v, &cap, 21, sizeof *v, 20));
    assert_int_equal(cap, 20);
    gcd_mem_free(&a, v, cap * sizeof *v);
}

static void sizes_do_not_wrap(void **state)
{
    (void)state;
    assert_true(gcd_size_sum(3, 4) == 7 && gcd_size_product(3, 4) == 12);
    assert_true(gcd_size_sum(SIZE_MAX, 1) == SIZE_MAX && gcd_size_sum(SIZE_MAX - 1, 1) == SIZE_MAX);
    assert_true(gcd_size_product(SIZE_MAX / 5 + 1, 5) == SIZE_MAX &&
                gcd_size_product(SIZE_MAX / 5, 5) <= SIZE_MAX);
    assert_true(gcd_size_product(0, SIZE_MAX) == 0);
    assert_true(gcd_size_sum(gcd_size_product(SIZE_MAX / 5 + 1, 5), 1) == SIZE_MAX);
    assert_true(gcd_size_of(7) == 7 && gcd_size_of(SIZE_MAX) == SIZE_MAX &&
                gcd_size_of(UINT64_MAX) == SIZE_MAX);
    uint64_t sum = UINT64_MAX - 2;
    assert_true(gcd_sum_saturating(3, 4) == 7 &&
                gcd_sum_saturating(UINT64_MAX - 1, 1) == UINT64_MAX);
    assert_true(gcd_sum_saturating(UINT64_MAX, 2) == UINT64_MAX &&
                gcd_sum_saturating(2, UINT64_MAX) == UINT64_MAX);
    for (int i = 0; i < 4; i++)
        gcd_add_saturating(&sum, 1);
    assert_true(sum == UINT64_MAX);
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    char *v = NULL;
    size_t cap = 0;
    assert_false(gcd_vec_reserve(&a, &v, &cap, SIZE_MAX, 1, SIZE_MAX / 2));
    assert_null(v);
}

static void errors_are_printable_and_chained(void **state)
{
    (void)state;
    struct gcd_error e = GCD_ERROR_INIT;
    assert_int_equal(gcd_fail_at(&e, GCD_E_FORMAT, 12, "a\x1b[31m\n%d", 5), GCD_E_FORMAT);
    assert_string_equal(e.msg, "a?[31m?5");
    assert_true(e.off == 12);
    gcd_error_wrap(&e, "layer %d", 2);
    assert_int_equal(e.code, GCD_E_FORMAT);
    assert_string_equal(e.msg, "layer 2: a?[31m?5");
    char big[600];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    (void)gcd_fail(&e, GCD_E_ARG, "%s", big);
    assert_int_equal(strlen(e.msg), sizeof e.msg - 1);
    gcd_error_wrap(&e, "%s", big);
    assert_int_equal(strlen(e.msg), sizeof e.msg - 1);
    gcd_error_wrap(NULL, "nothing");
    /* control characters are dropped, the text around them stays */
    static const char *const shown[][2] = {
        { "\x1f", "?" },
        { " ", " " },
        { "~", "~" },
        { "\x7f", "?" },
        { "\xc2\x80", "??" },
        { "\xc2\x9f", "??" },
        { "\xc2\xa0", "\xc2\xa0" },
        { "\xff", "?" },
        { "\xe2\x82", "??" },
    };
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        (void)gcd_fail(&e, GCD_E_ARG, "%s", shown[i][0]);
        assert_string_equal(e.msg, shown[i][1]);
    }
    /* the cause is cut to fit */
    for (size_t n = sizeof e.msg - 6; n <= sizeof e.msg - 1; n++) {
        char outer[sizeof e.msg + 1], want[2 * sizeof e.msg];
        memset(outer, 'o', n);
        outer[n] = '\0';
        (void)gcd_fail(&e, GCD_E_ARG, "cause");
        gcd_error_wrap(&e, "%s", outer);
        (void)snprintf(want, sizeof want, "%s%s", outer, n + 3 < sizeof e.msg ? ": cause" : "");
        want[sizeof e.msg - 1] = '\0';
        assert_string_equal(e.msg, want);
    }
    /* a reason stays when a layer adds its clause, and ends with the error it belongs to */
    assert_int_equal(gcd_because(&e, GCD_ERROR_NO_FILE, gcd_fail_os(&e, 2, "cannot open")),
                     GCD_E_IO);
    gcd_error_wrap(&e, "layer");
    assert_int_equal(e.reason, GCD_ERROR_NO_FILE);
    (void)gcd_fail(&e, GCD_E_ARG, "another");
    assert_int_equal(e.reason, GCD_ERROR_OTHER);
    assert_int_equal(gcd_because(NULL, GCD_ERROR_NO_FILE, GCD_E_IO), GCD_E_IO);
    assert_int_equal(gcd_fail(NULL, GCD_E_ARG, "no one listens"), GCD_E_ARG);
    assert_string_equal(gcd_status_name(GCD_E_PEER), "GCD_E_PEER");
    assert_string_equal(gcd_status_text((gcd_status)99), "unknown status");
}

static void test_a_file_has_a_name_without_its_folder(void **state)
{
    (void)state;
    assert_string_equal(gcd_file_name("/src/Shop/Store.cs"), "Store.cs");
    assert_string_equal(gcd_file_name("C:\\src\\Store.cs"), "Store.cs");
    assert_string_equal(gcd_file_name("C:\\src/Shop\\Store.cs"), "Store.cs");
    assert_string_equal(gcd_file_name("Store.cs"), "Store.cs");
    assert_string_equal(gcd_file_name(""), "");
}

/* Sorts N items in ascending runs of RUN, each below the one before; 0: at random. */
static void check_sorted(size_t n, size_t run, uint64_t keys)
{
    struct item {
        uint64_t key, number;
    } items[300];
    uint64_t sum = 0, random = n * 31 + run;
    for (size_t i = 0; i < n; i++) {
        random = random * UINT64_C(6364136223846793005) + 1;
        uint64_t key = run == 0 ? (random >> 33) % keys : (i % run) * keys + (n - i) / run;
        items[i] = (struct item){ key, i };
        sum += key;
    }
    const struct gcd_alloc a = gcd_alloc_or_default(NULL);
    assert_true(gcd_sort_by_u64(&a, items, n, sizeof *items));
    for (size_t i = 0; i < n; i++) {
        sum -= items[i].key;
        if (i > 0 && (items[i - 1].key > items[i].key ||
                      (items[i - 1].key == items[i].key && items[i - 1].number > items[i].number)))
            fail_msg("%zu items in runs of %zu, %zu", n, run, i);
    }
    assert_true(sum == 0);
}

static void sorting_keeps_the_order_of_equal_items(void **state)
{
    (void)state;
    static const size_t counts[] = { 0, 1, 2, 3, 7, 64, 65, 300 };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t run = 0; run < 70; run++)
            for (uint64_t keys = 1; keys < 1000; keys *= 10)
                check_sorted(counts[i], run, keys);
}

GCD_PRINTF(4, 5)
static void append(char *to, size_t cap, size_t *n, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    gcd_text_append(to, cap, n, fmt, args);
    va_end(args);
}

/* A text that grows is cut at the end of its buffer, whichever part that is in. */
static void texts_are_cut_at_each_size(void **state)
{
    (void)state;
    static const char whole[] = "three, 14 and 15";
    for (size_t cap = 1; cap <= sizeof whole + 2; cap++) {
        char to[32], wanted[32];
        size_t n = 0;
        memset(to, '#', sizeof to);
        append(to, cap, &n, "%s", "three");
        append(to, cap, &n, ",");
        append(to, cap, &n, "%c", ' ');
        append(to, cap, &n, "%d", 14);
        append(to, cap, &n, "%s", "");
        append(to, cap, &n, " and %d", 15);
        (void)snprintf(wanted, cap, "%s", whole);
        assert_string_equal(to, wanted);
        assert_int_equal(n, strlen(wanted));
        assert_int_equal(to[cap], '#');
    }
}

static void ends_of_texts(void **state)
{
    (void)state;
    assert_true(gcd_text_ends("a.gz", ".gz"));
    assert_true(gcd_text_ends(".gz", ".gz"));
    assert_false(gcd_text_ends("gz", ".gz"));
    assert_int_equal(gcd_text_without("a.gz", ".gz"), 1);
    assert_int_equal(gcd_text_without(".gz", ".gz"), 3); /* it would be all of it */
    assert_int_equal(gcd_text_without("a.gz.b", ".gz"), 6);
    assert_int_equal(gcd_module_stem("Shop.exe"), 4);
    assert_int_equal(gcd_module_stem("Shop.dll"), 4);
    assert_int_equal(gcd_module_stem(".dll"), 4);
}

static void brackets_of_names(void **state)
{
    (void)state;
    static const char name[] = "<A<B>[]>c", list[] = "List`1[A[],B<C>]";
    assert_int_equal(gcd_text_closing(name, strlen(name)), 7);
    assert_int_equal(gcd_text_closing("<A", 2), 2);
    assert_int_equal(gcd_text_opening(list, strlen(list)), 6);
    assert_int_equal(gcd_text_opening("A>", 2), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_cut_at_each_size),
        cmocka_unit_test(ends_of_texts),
        cmocka_unit_test(brackets_of_names),
        cmocka_unit_test(test_a_file_has_a_name_without_its_folder),
        cmocka_unit_test(cursor_reads_little_endian),
        cmocka_unit_test(cursor_keeps_its_first_failure),
        cmocka_unit_test(array_counts_are_not_believed),
        cmocka_unit_test(varuint_limits),
        cmocka_unit_test(utf16z_needs_its_terminator),
        cmocka_unit_test(sub_cursor_is_bounded),
        cmocka_unit_test(hex_is_what_printf_says),
        cmocka_unit_test(idmap_keeps_everything),
        cmocka_unit_test(utf16_becomes_utf8),
        cmocka_unit_test(utf8_is_cleaned),
        cmocka_unit_test(textpool_has_a_ceiling),
        cmocka_unit_test(vec_stops_at_its_maximum),
        cmocka_unit_test(sizes_do_not_wrap),
        cmocka_unit_test(errors_are_printable_and_chained),
        cmocka_unit_test(sorting_keeps_the_order_of_equal_items),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
