/* An answer and its renderers: a column that only this test knows is in every output. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "answer/answer.h"
#include "answer/answers.h"
#include "mcp/mcp_schema.h"
#include "render/render.h"
#include "support/check.h"
#include "support/failalloc.h"

static const struct answer_column parts_columns[] = { COLUMN("paint", "Paint", ANSWER_TEXT) };
static const struct answer_shape parts = ANSWER_SHAPE(parts_columns);
static const struct answer_column word_columns[] = { COLUMN(NULL, NULL, ANSWER_TEXT) };
static const struct answer_shape words = ANSWER_SHAPE(word_columns);

static const struct answer_column columns[] = {
    COLUMN("wheels", "Wheels", ANSWER_COUNT),
    COLUMN("load", "Load", ANSWER_BYTES),
    COLUMN("full", "Full", ANSWER_SHARE),
    COLUMN("more", "More", ANSWER_DELTA),
    FIELD("is_red", ANSWER_FLAG),
    DETAIL("garage", ANSWER_ADDRESS),
    PEOPLE("remark", "Remark", ANSWER_TEXT),
    COLUMN("car", "Car", ANSWER_TREE),
    ROWS("parts", ANSWER_FOR_ALL, &parts),
    ROWS("words", ANSWER_FOR_PROGRAMS, &words),
};
static const struct answer_shape cars = ANSWER_SHAPE(columns);

static struct answer *cars_with(const struct gcd_alloc *alloc)
{
    struct answer *a = answer_new(alloc, &cars);
    answer_row(a);
    answer_count(a, "wheels", 4);
    answer_count(a, "load", 2048);
    answer_share(a, "full", 1, 3);
    answer_delta(a, "more", 9, 4);
    answer_flag(a, "is_red", true);
    answer_count(a, "garage", 0xa0);
    answer_text(a, "remark", "old");
    answer_format(a, "car", "%s-%d", "Beetle", 7);
    struct answer *inner = answer_rows(a, "parts");
    answer_row(inner);
    answer_text(inner, "paint", "matt");
    inner = answer_rows(a, "words");
    answer_row(inner);
    answer_text(inner, NULL, "hello");
    answer_row(a);
    answer_text(a, "car", "none");
    answer_depth(a, "car", 1);
    answer_begin_sums(a);
    answer_row(a);
    answer_count(a, "wheels", 4);
    answer_text(a, "car", "total");
    return a;
}

static struct answer *two_cars(void)
{
    return cars_with(NULL);
}

static char *printed(bool (*render)(const struct answer *, FILE *), const struct answer *a)
{
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    assert_non_null(to);
    assert_true(render(a, to));
    assert_int_equal(fclose(to), 0);
    return text;
}

static void test_text_shows_all_columns_with_a_title(void **state)
{
    (void)state;
    struct answer *a = two_cars();
    char *text = printed(render_text, a);
    assert_string_equal(text, "Wheels  Load    Full  More  Remark  Car\n"
                              "     4  2048  33.33%    -5  old     Beetle-7\n"
                              "                                      none\n"
                              "     4                              total\n");
    free(text);
    answer_hide(a, "load");
    text = printed(render_text, a);
    assert_null(strstr(text, "Load"));
    free(text);
    answer_free(a);
}

static void test_csv_shows_all_columns_for_programs(void **state)
{
    (void)state;
    struct answer *a = two_cars();
    char *text = printed(render_csv, a);
    assert_string_equal(text, "wheels,load,full,more,is_red,garage,car\n"
                              "4,2048,0.333333,-5,1,0xa0,\"Beetle-7\"\n"
                              ",,,,,,\"none\"\n");
    free(text);
    answer_free(a);
}

static void check_rows(const struct render_json *how, const char *want)
{
    struct answer *a = two_cars();
    json_t *got = render_json_rows(a, how), *expected = json_loads(want, 0, NULL);
    assert_non_null(expected);
    json_t *full = json_object_get(json_array_get(got, 0), "full");
    json_real_set(full, (double)(int)(json_real_value(full) * 10000 + 0.5) / 10000);
    assert_true(json_equal(got, expected));
    json_decref(got);
    json_decref(expected);
    answer_free(a);
}

static void test_json_and_agents_get_the_same_keys(void **state)
{
    (void)state;
    check_rows(NULL, "[{\"wheels\":4,\"load\":2048,\"full\":0.3333,\"more\":-5,\"is_red\":true,"
                     "\"garage\":\"0xa0\",\"car\":\"Beetle-7\",\"parts\":[{\"paint\":\"matt\"}],"
                     "\"words\":[\"hello\"]},{\"wheels\":null,\"load\":null,\"full\":null,\"more\":"
                     "null,\"is_red\":null,\"garage\":null,\"car\":\"none\",\"parts\":null,"
                     "\"words\":null}]");
    check_rows(&(struct render_json){ .brief = true },
               "[{\"wheels\":4,\"load\":2048,\"full\":0.3333,\"more\":-5,\"is_red\":true,"
               "\"car\":\"Beetle-7\",\"parts\":[{\"paint\":\"matt\"}]},{\"car\":\"none\"}]");
}

static void test_the_schema_for_agents_has_the_columns(void **state)
{
    (void)state;
    const struct answer_shape *shapes[] = { &cars };
    json_t *got = mcp_schema_of("cars[*]", shapes),
           *items = json_object_get(json_object_get(json_object_get(got, "properties"), "cars"),
                                    "items"),
           *all = json_object_get(items, "properties");
    static const char *const types[][2] = { { "wheels", "integer" }, { "load", "integer" },
                                            { "full", "number" },    { "more", "integer" },
                                            { "is_red", "boolean" }, { "car", "string" },
                                            { "parts", "array" } };
    assert_int_equal(json_object_size(all), sizeof types / sizeof *types);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        assert_string_equal(
            json_string_value(json_object_get(json_object_get(all, types[i][0]), "type")),
            types[i][1]);
    json_decref(got);
}

static void test_a_column_that_does_not_exist_is_an_error(void **state)
{
    (void)state;
    struct answer *a = two_cars();
    answer_count(a, "wings", 2);
    FILE *to = fopen("/dev/null", "w");
    assert_non_null(to);
    errno = 0;
    assert_false(render_text(a, to));
    assert_int_equal(errno, EINVAL);
    assert_false(render_csv(a, to));
    assert_null(render_json_rows(a, NULL));
    (void)fclose(to);
    answer_free(a);
}

/* Nothing is shown of an answer that lacks a part, wherever memory ran out. */
static void test_an_answer_without_memory_is_an_error(void **state)
{
    (void)state;
    for (uint64_t at = 1;; at++) {
        struct failalloc f;
        char *text = NULL;
        size_t n;
        failalloc_init(&f);
        f.fail_at = at;
        struct answer *a = cars_with(&f.alloc);
        FILE *to = open_memstream(&text, &n);
        assert_non_null(to);
        errno = 0;
        bool ok = render_text(a, to) && render_csv(a, to);
        assert_true(ok || errno == ENOMEM);
        assert_true(ok == (f.failed == 0));
        assert_true(a == NULL || a->status == (ok ? GCD_OK : GCD_E_NOMEM));
        assert_int_equal(fclose(to), 0);
        assert_true(ok == (n > 0));
        free(text);
        answer_free(a);
        assert_null(failalloc_complaint(&f));
        if (ok)
            break;
    }
}

/* Calls that have come wait: nobody adds them, and nobody has to remove them. */
static void test_what_has_come(void **state)
{
    (void)state;
    struct answer_come come = { .owner_said = "Bank",
                                .field = "_gate",
                                .element_said = "async Bank.Pay",
                                .objects = { 10, 1200 },
                                .bytes = 4096,
                                .share = 0.5 };
    char text[ANSWER_COME_BYTES];
    assert_string_equal(answer_come_text(&come, text),
                        "Bank._gate: 10 -> 1,200 calls of Bank.Pay, +4.0 KiB, 50 % of the growth");
    assert_string_equal(answer_come_advice(&come, text),
                        "These calls have not ended: gcdumpc async shows what they wait for.");
    come.element_said = "Payment";
    assert_string_equal(answer_come_text(&come, text),
                        "Bank._gate: 10 -> 1,200 Payment, +4.0 KiB, 50 % of the growth");
    assert_string_equal(answer_come_advice(&come, text),
                        "Look in Bank for what adds Payment objects and never removes them.");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_shows_all_columns_with_a_title),
        cmocka_unit_test(test_csv_shows_all_columns_for_programs),
        cmocka_unit_test(test_json_and_agents_get_the_same_keys),
        cmocka_unit_test(test_the_schema_for_agents_has_the_columns),
        cmocka_unit_test(test_a_column_that_does_not_exist_is_an_error),
        cmocka_unit_test(test_an_answer_without_memory_is_an_error),
        cmocka_unit_test(test_what_has_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
