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
        { GCD_NUMBER_REAL, UINT64_C(0x7ff0000000000000), "inf" },
    };
    char buf[GCD_NUMBER_BYTES];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct gcd_number x = { .kind = numbers[i].kind, .bits = numbers[i].bits };
        assert_string_equal(gcd_number_text(&x, buf), numbers[i].text);
        x.name = "Failed";
        assert_string_equal(gcd_number_text(&x, buf), "Failed");
    }
}

static void test_other_inputs_have_none(void **state)
{
    (void)state;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_image_numbers *n;
    struct gcd_input *in;
    assert_int_equal(gcd_image_numbers_new(NULL, "State", NULL, &n, &err), GCD_END);
    assert_int_equal(gcd_input_from_memory("x", 1, NULL, &in, &err), GCD_OK);
    assert_int_equal(gcd_image_numbers_new(in, "State", NULL, &n, &err), GCD_END);
    gcd_input_free(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_as_texts),
        cmocka_unit_test(test_other_inputs_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
