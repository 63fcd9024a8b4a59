/* Numbers as texts; those of objects: golden/test_core.py. */
#include "support/check.h"

#include <string.h>

#include <gcdumpc/unstable/image_numbers.h>

static void test_numbers_as_texts(void **state)
{
    (void)state;
    static const struct {
        enum gcd_number_kind kind;
        uint64_t bits;
        const char *text;
    } numbers[] = {
        { GCD_NUMBER_BOOL, 0, "false" },
        { GCD_NUMBER_BOOL, 1, "true" },
        { GCD_NUMBER_CHAR, 'x', "'x'" },
        { GCD_NUMBER_CHAR, 27, "'\\u001b'" },
        { GCD_NUMBER_CHAR, 0x202e, "'\\u202e'" },
        { GCD_NUMBER_SIGNED, UINT64_MAX, "-1" },
        { GCD_NUMBER_UNSIGNED, UINT64_MAX, "18446744073709551615" },
        { GCD_NUMBER_REAL, UINT64_C(0x3fe0000000000000), "0.5" },
        { GCD_NUMBER_REAL, UINT64_C(0x3fd3333333333334), "0.30000000000000004" },
        { GCD_NUMBER_REAL, UINT64_C(0x7ff0000000000000), "Infinity" },
        { GCD_NUMBER_REAL, UINT64_C(0xfff0000000000000), "-Infinity" },
        { GCD_NUMBER_REAL, UINT64_C(0xfff8000000000000), "NaN" },
        { GCD_NUMBER_REAL, 0, "0" },
        { GCD_NUMBER_REAL, UINT64_C(1) << 63, "-0" },
        { GCD_NUMBER_REAL, 1, "5E-324" },
        { GCD_NUMBER_REAL, UINT64_C(0x7fefffffffffffff), "1.7976931348623157E+308" },
        { GCD_NUMBER_REAL, UINT64_C(0x4376345785d8a000), "1E+17" },
        { GCD_NUMBER_REAL, UINT64_C(0x4341c37937e08000), "10000000000000000" },
        { GCD_NUMBER_REAL, UINT64_C(0x3f1a36e2eb1c432d), "0.0001" },
        { GCD_NUMBER_REAL, UINT64_C(0x3ee4f8b588e368f1), "1E-05" },
        { GCD_NUMBER_REAL, UINT64_C(0xc08f400000000000), "-1000" },
        { GCD_NUMBER_REAL, UINT64_C(0x3ff8000000000000), "1.5" },
    };
    char buf[GCD_NUMBER_BYTES];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct gcd_number x = { .kind = numbers[i].kind, .bits = numbers[i].bits };
        assert_string_equal(gcd_number_text(&x, buf), numbers[i].text);
        x.name = "Failed";
        assert_string_equal(gcd_number_text(&x, buf), "Failed");
    }
}

static void test_dates_and_the_like_as_texts(void **state)
{
    (void)state;
    const uint64_t day = UINT64_C(864000000000), utc = UINT64_C(1) << 62, last = 3652058 * day,
                   noon = UINT64_C(639000000000000000); /* 2025-11-29 08:00 */
    static const uint64_t minus = UINT64_MAX;
    const struct {
        enum gcd_number_kind kind;
        uint64_t bits, high;
        const char *text;
    } values[] = {
        { GCD_NUMBER_DATE_TIME, 0, 0, "0001-01-01 00:00:00" },
        { GCD_NUMBER_DATE_TIME, noon | utc, 0, "2025-11-29 08:00:00Z" },
        { GCD_NUMBER_DATE_TIME, (noon + 1) | 2 * utc, 0, "2025-11-29 08:00:00.0000001 local" },
        { GCD_NUMBER_DATE_TIME, (noon + 5000000) | 3 * utc, 0, "2025-11-29 08:00:00.5 local" },
        { GCD_NUMBER_DATE_TIME, last + day - 1, 0, "9999-12-31 23:59:59.9999999" },
        { GCD_NUMBER_DATE_TIME, last + day, 0, "(invalid: 0x2bca2875f4374000, 0x0)" },
        { GCD_NUMBER_DATE_TIME_OFFSET, noon, 90, "2025-11-29 09:30:00+01:30" },
        { GCD_NUMBER_DATE_TIME_OFFSET, noon, minus, "2025-11-29 07:59:00-00:01" },
        { GCD_NUMBER_DATE_TIME_OFFSET, 0, minus, "(invalid: 0x0, 0xffffffffffffffff)" },
        { GCD_NUMBER_DATE_TIME_OFFSET, noon, 14 * 60 + 1, "(invalid: 0x8de2f1d4b798000, 0x349)" },
        { GCD_NUMBER_DATE, 59, 0, "0001-03-01" },
        { GCD_NUMBER_DATE, 738944, 0, "2024-02-29" },
        { GCD_NUMBER_DATE, 693654, 0, "1900-03-01" },
        { GCD_NUMBER_DATE, 730484, 0, "2000-12-31" },
        { GCD_NUMBER_DATE, 3652058, 0, "9999-12-31" },
        { GCD_NUMBER_DATE, 3652059, 0, "(invalid: 0x37b9db, 0x0)" },
        { GCD_NUMBER_TIME, day - 1, 0, "23:59:59.9999999" },
        { GCD_NUMBER_TIME, day, 0, "(invalid: 0xc92a69c000, 0x0)" },
        { GCD_NUMBER_TIME_SPAN, 0, 0, "00:00:00" },
        { GCD_NUMBER_TIME_SPAN, minus, 0, "-00:00:00.0000001" },
        { GCD_NUMBER_TIME_SPAN, day + 10000000, 0, "1.00:00:01" },
        { GCD_NUMBER_TIME_SPAN, UINT64_C(1) << 63, 0, "-10675199.02:48:05.4775808" },
        { GCD_NUMBER_GUID, UINT64_C(0x7766554433221100), UINT64_C(0xffeeddccbbaa9988),
          "33221100-5544-7766-8899-aabbccddeeff" },
        { GCD_NUMBER_DECIMAL, 0, 0, "0" },
        { GCD_NUMBER_DECIMAL, 150, UINT64_C(2) << 48, "1.50" },
        { GCD_NUMBER_DECIMAL, 5, UINT64_C(3) << 48 | UINT64_C(1) << 63, "-0.005" },
        { GCD_NUMBER_DECIMAL, 0, UINT64_C(1) << 48, "0.0" },
        { GCD_NUMBER_DECIMAL, 1000, UINT64_C(3) << 48, "1.000" },
        { GCD_NUMBER_DECIMAL, minus, UINT64_C(0xffffffff), "79228162514264337593543950335" },
        { GCD_NUMBER_DECIMAL, minus, UINT64_C(0xffffffff) | UINT64_C(28) << 48,
          "7.9228162514264337593543950335" },
        { GCD_NUMBER_DECIMAL, 1, UINT64_C(28) << 48, "0.0000000000000000000000000001" },
        { GCD_NUMBER_DECIMAL, 1, UINT64_C(29) << 48, "(invalid: 0x1, 0x1d000000000000)" },
        { GCD_NUMBER_REAL, UINT64_C(0x3fb99999a0000000), 4, "0.1" },
        { GCD_NUMBER_REAL, UINT64_C(0x36a0000000000000), 4, "1E-45" },
        { GCD_NUMBER_REAL, UINT64_C(0x47efffffe0000000), 4, "3.4028235E+38" },
        { GCD_NUMBER_REAL, UINT64_C(0x41cdcd6500000000), 4, "1E+09" },
        { GCD_NUMBER_REAL, UINT64_C(0x4170000000000000), 4, "16777216" },
        { GCD_NUMBER_REAL, UINT64_C(0x3fb9980000000000), 2, "0.1" },
        { GCD_NUMBER_REAL, UINT64_C(0x3f90000000000000), 2, "0.01563" }, /* not 0.01562 */
        { GCD_NUMBER_REAL, UINT64_C(0x40effc0000000000), 2, "65500" },
        { GCD_NUMBER_REAL, UINT64_C(0x3e70000000000000), 2, "6E-08" },
        { GCD_NUMBER_REAL, UINT64_C(0xc0b0c00000000000), 2, "-4290" }, /* as near to -4292 */
        { GCD_NUMBER_REAL, UINT64_C(0x40b0c40000000000), 2, "4292" },
        { GCD_NUMBER_INT128, minus, minus, "-1" },
        { GCD_NUMBER_INT128, 0, UINT64_C(1) << 63, "-170141183460469231731687303715884105728" },
        { GCD_NUMBER_UINT128, minus, minus, "340282366920938463463374607431768211455" },
        { GCD_NUMBER_UINT128, 0, 0, "0" },
        { GCD_NUMBER_UINT128, 0, 1, "18446744073709551616" },
        { GCD_NUMBER_NULL, 0, 0, "null" },
        { GCD_NUMBER_REFERENCE, 0, 0, "null" },
        { GCD_NUMBER_REFERENCE, 4096, 0, "0x1000" },
        { GCD_NUMBER_POINTER, 0, 0, "null" },
        { GCD_NUMBER_POINTER, 4096, 0, "0x1000" },
        { GCD_NUMBER_OTHER, 0, 0, "{...}" },
    };
    char buf[GCD_NUMBER_BYTES];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct gcd_number x = { .kind = values[i].kind,
                                .bits = values[i].bits,
                                .high = values[i].high };
        assert_string_equal(gcd_number_text(&x, buf), values[i].text);
    }
}

static void test_kinds_have_names(void **state)
{
    (void)state;
    struct gcd_number x = { .kind = GCD_NUMBER_SIGNED };
    assert_string_equal(gcd_number_kind_name(&x), "integer");
    x.of = 1;
    assert_string_equal(gcd_number_kind_name(&x), "enum");
    x = (struct gcd_number){ .kind = GCD_NUMBER_REFERENCE };
    assert_string_equal(gcd_number_kind_name(&x), "null");
    x.bits = 8;
    assert_string_equal(gcd_number_kind_name(&x), "object");
    x.kind = GCD_NUMBER_OTHER;
    assert_string_equal(gcd_number_kind_name(&x), "struct");
    x.kind = GCD_NUMBER_POINTER;
    assert_string_equal(gcd_number_kind_name(&x), "pointer");
}

static void test_other_inputs_have_none(void **state)
{
    (void)state;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_values_view view = { .memory = NULL };
    struct gcd_image_numbers *n;
    struct gcd_input *in;
    assert_int_equal(gcd_image_numbers_new(&view, "State", NULL, &n, &err), GCD_END);
    assert_int_equal(gcd_input_from_memory("x", 1, NULL, &in, &err), GCD_OK);
    view.memory = in;
    assert_int_equal(gcd_image_numbers_new(&view, "State", NULL, &n, &err), GCD_END);
    gcd_input_free(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_as_texts),
        cmocka_unit_test(test_dates_and_the_like_as_texts),
        cmocka_unit_test(test_kinds_have_names),
        cmocka_unit_test(test_other_inputs_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
