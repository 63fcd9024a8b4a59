/* How the program prints numbers, sizes, times, names and lines that do not fit: each rule at its
 * limit. */
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/json_out.h"
#include "output/prom.h"
#include "support/check.h"
#include "term/path.h"
#include "term/suggest.h"
#include "term/term.h"
#include "term/wrap.h"

static void sizes(void **state)
{
    (void)state;
    static const struct {
        uint64_t n;
        const char *text;
    } rows[] = {
        { 0, "0 B" },
        { 1, "1 B" },
        { 1023, "1023 B" },
        { 1024, "1.0 KiB" },
        { 1075, "1.0 KiB" },
        { 1076, "1.1 KiB" },
        { 1536, "1.5 KiB" },
        { 1048524, "1023.9 KiB" },
        { 1048525, "1.0 MiB" }, /* never 1024.0 of a unit */
        { 1073689395, "1023.9 MiB" },
        { 1073689396, "1.0 GiB" },
        { UINT64_C(1) << 40, "1.0 TiB" },
        { UINT64_C(3) << 49, "1.5 PiB" },
        { UINT64_C(1) << 60, "1.0 EiB" },
        { UINT64_MAX, "16.0 EiB" },
    };
    char buf[CLI_NUMBER_BYTES];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(cli_size(rows[i].n, buf), rows[i].text);
}

static void numbers(void **state)
{
    (void)state;
    static const struct {
        uint64_t n;
        const char *text, *plain;
    } rows[] = {
        { 0, "0", "0" },
        { 999, "999", "999" },
        { 1000, "1,000", "1000" },
        { 12345, "12,345", "12345" },
        { 999999, "999,999", "999999" },
        { 1000000, "1,000,000", "1000000" },
        { UINT64_MAX, "18,446,744,073,709,551,615", "18446744073709551615" },
    };
    char buf[CLI_NUMBER_BYTES];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(cli_number(rows[i].n, true, buf), rows[i].text);
        assert_string_equal(cli_number(rows[i].n, false, buf), rows[i].plain);
    }
    json_t *j = cli_json_number(INT64_MAX);
    assert_int_equal(json_integer_value(j), INT64_MAX);
    json_decref(j);
    j = cli_json_number((uint64_t)INT64_MAX + 1);
    assert_int_equal(json_integer_value(j), INT64_MAX);
    json_decref(j);
}

static void times(void **state)
{
    (void)state;
    static const struct {
        int64_t ms;
        const char *text;
    } rows[] = {
        { 0, "1970-01-01T00:00:00.000Z" },
        { 999, "1970-01-01T00:00:00.999Z" },
        { 1000, "1970-01-01T00:00:01.000Z" },
        { -1, "1969-12-31T23:59:59.999Z" },
        { -1000, "1969-12-31T23:59:59.000Z" },
        { -1001, "1969-12-31T23:59:58.999Z" },
        { INT64_C(1795279385007), "2026-11-21T16:43:05.007Z" },
        { INT64_MIN, "" },
        { INT64_MIN + 1, "-292275055-05-16T16:47:04.193Z" },
        { INT64_MAX, "292278994-08-17T07:12:55.807Z" },
    };
    char buf[CLI_TIME_BYTES];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(cli_time(rows[i].ms, buf), rows[i].text);
}

/* The output of a print function for S. */
static char *printed(const char *s, size_t columns)
{
    static char buf[400];
    FILE *f = fmemopen(buf, sizeof buf, "w");
    assert_non_null(f);
    (void)cli_print_cut(f, s, columns);
    assert_int_equal(fclose(f), 0);
    return buf;
}

static const char *utf8(uint32_t c)
{
    static char s[5];
    memset(s, 0, sizeof s);
    if (c < 0x80) {
        s[0] = (char)c;
    } else if (c < 0x800) {
        s[0] = (char)(0xc0 | c >> 6), s[1] = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        s[0] = (char)(0xe0 | c >> 12), s[1] = (char)(0x80 | (c >> 6 & 63)),
        s[2] = (char)(0x80 | (c & 63));
    } else {
        s[0] = (char)(0xf0 | c >> 18), s[1] = (char)(0x80 | (c >> 12 & 63)),
        s[2] = (char)(0x80 | (c >> 6 & 63)), s[3] = (char)(0x80 | (c & 63));
    }
    return s;
}

/* First and last of each range of characters that a terminal would obey. */
static void characters(void **state)
{
    (void)state;
    static const uint32_t obeyed[][2] = {
        { 0x01, 0x1f },     { 0x7f, 0x9f },     { 0x061c, 0x061c },
        { 0x200e, 0x200f }, { 0x202a, 0x202e }, { 0x2066, 0x2069 },
        { 0x2028, 0x202e }, { 0xfff9, 0xfffb }, { 0xe0000, 0xe007f },
    };
    for (size_t i = 0; i < sizeof obeyed / sizeof *obeyed; i++) {
        uint32_t first = obeyed[i][0], last = obeyed[i][1];
        assert_string_equal(printed(utf8(first), SIZE_MAX), "?");
        assert_string_equal(printed(utf8(last), SIZE_MAX), "?");
        assert_string_equal(printed(utf8(last + 1), SIZE_MAX), utf8(last + 1));
        if (first > 1 && first != 0x202a)
            assert_string_equal(printed(utf8(first - 1), SIZE_MAX), utf8(first - 1));
    }
    static const uint32_t shown[] = { 0x7ff,  0x800,  0xd7ff,  0xe000,
                                      0xfffd, 0xffff, 0x10000, 0x10ffff };
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        assert_string_equal(printed(utf8(shown[i]), SIZE_MAX), utf8(shown[i]));
    /* each invalid byte becomes one question mark */
    static const char *const rows[][2] = {
        { "\xc1\xbf", "??" },
        { "\xc2", "?" },
        { "\xc2"
          "a",
          "?a" },
        { "\xe0\x9f\xbf", "???" },
        { "\xe0\xa0\x80", "\xe0\xa0\x80" },
        { "\xed\xa0\x80", "???" },
        { "\xed\xbf\xbf", "???" },
        { "\xf0\x8f\xbf\xbf", "????" },
        { "\xf4\x90\x80\x80", "????" },
        { "\xf5\x80\x80\x80", "????" },
        { "\x80", "?" },
        { "\xff", "?" },
        { "\xe2\x82", "??" },
        { "a\xe2\x82\xac"
          "b",
          "a\xe2\x82\xac"
          "b" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(printed(rows[i][0], SIZE_MAX), rows[i][1]);
    assert_string_equal(printed("a\xe2\x82\xac"
                                "bc",
                                2),
                        "a\xe2\x82\xac");
    assert_int_equal(cli_print_cut(NULL,
                                   "a\xe2\x82\xac"
                                   "bc",
                                   SIZE_MAX),
                     4);
    assert_int_equal(cli_print_cut(NULL, "abc", 2), 2);
    assert_int_equal(cli_print_bytes(NULL,
                                     "a\xe2\x82\xac"
                                     "bc",
                                     4),
                     2);
}

static void lines_that_are_broken(void **state)
{
    (void)state;
    static const struct {
        const char *s;
        size_t width, at, at_words;
    } rows[] = {
        { "abcdef", 3, 3, 3 },
        { "abcdef", 6, 6, 6 },
        { "abcdef", 7, 6, 6 },
        { "ab cdef", 5, 2, 2 },
        { "ab,cdef", 5, 3, 5 },
        { "ab.cdef", 5, 3, 5 },
        /* just a third of the line is filled, then a little less */
        { "a bcdefgh", 6, 6, 6 },
        { "a bcdefgh", 5, 1, 1 },
        { "abc def", 3, 3, 3 },
        { "abc  def", 6, 3, 3 },
        { "abc   ", 4, 3, 3 },
        { "\xc3\xa4\xc3\xb6\xc3\xbc", 2, 4, 4 },
        { "Shop.A<B>+C/D;E", 13, 12, 13 },
        { "x", 0, 1, 1 },
        /* a number and its unit stay together */
        { "take 12 MiB", 8, 4, 4 },
        { "take 12 MiB", 7, 4, 4 },
        { "all, 93 % of", 8, 4, 4 },
        { "in 12 (all)", 7, 5, 5 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(cli_break(rows[i].s, rows[i].width), rows[i].at);
        assert_int_equal(cli_break_words(rows[i].s, rows[i].width), rows[i].at_words);
    }
}

struct want {
    size_t width, line, at;
};

static void placed(const struct cli_wrapped_column *places, size_t n, size_t window,
                   const struct want *want)
{
    struct cli_wrapped_column p[8];
    memcpy(p, places, n * sizeof *p);
    cli_wrap_columns(p, n, window);
    for (size_t i = 0; i < n; i++)
        if (p[i].shown &&
            (p[i].width != want[i].width || p[i].line != want[i].line || p[i].at != want[i].at))
            fail_msg("window %zu, column %zu: width %zu, line %zu, at %zu", window, i, p[i].width,
                     p[i].line, p[i].at);
}

static void layouts(void **state)
{
    (void)state;
    static const struct cli_wrapped_column two[] = { { .shown = true, .width = 5 },
                                                     { .shown = true, .text = true, .width = 10 } };
    placed(two, 2, SIZE_MAX, (struct want[]){ { 5, 0, 0 }, { 10, 0, 7 } });
    placed(two, 2, 17, (struct want[]){ { 5, 0, 0 }, { 10, 0, 7 } });
    placed(two, 2, 16, (struct want[]){ { 5, 0, 0 }, { 10, 1, 2 } });
    static const struct cli_wrapped_column wide[] = {
        { .shown = true, .width = 5 }, { .width = 90 }, { .shown = true, .text = true, .width = 30 }
    };
    placed(wide, 3, 37, (struct want[]){ { 5, 0, 0 }, { 0 }, { 30, 0, 7 } });
    placed(wide, 3, 36, (struct want[]){ { 5, 0, 0 }, { 0 }, { 29, 0, 7 } });
    placed(wide, 3, 31, (struct want[]){ { 5, 0, 0 }, { 0 }, { 24, 0, 7 } });
    placed(wide, 3, 30, (struct want[]){ { 5, 0, 0 }, { 0 }, { 28, 1, 2 } });
    placed(wide, 3, 32 + 5, (struct want[]){ { 5, 0, 0 }, { 0 }, { 30, 0, 7 } });
    static const struct cli_wrapped_column texts[] = {
        { .shown = true, .text = true, .width = 30 },
        { .shown = true, .text = true, .width = 60 },
        { .shown = true, .text = true, .width = 24 }
    };
    /* only wide columns shrink, the widest first */
    placed(texts, 3, 106, (struct want[]){ { 30, 0, 0 }, { 48, 0, 32 }, { 24, 0, 82 } });
    placed(texts, 3, 84, (struct want[]){ { 28, 0, 0 }, { 28, 0, 30 }, { 24, 0, 60 } });
    placed(texts, 3, 76, (struct want[]){ { 24, 0, 0 }, { 24, 0, 26 }, { 24, 0, 52 } });
    placed(texts, 3, 75, (struct want[]){ { 30, 0, 0 }, { 60, 1, 2 }, { 24, 2, 2 } });
    static const struct cli_wrapped_column numbers_only[] = { { .shown = true, .width = 8 },
                                                              { .shown = true, .width = 8 },
                                                              { .shown = true, .width = 8 } };
    placed(numbers_only, 3, 28, (struct want[]){ { 8, 0, 0 }, { 8, 0, 10 }, { 8, 0, 20 } });
    placed(numbers_only, 3, 27, (struct want[]){ { 8, 0, 0 }, { 8, 0, 10 }, { 8, 1, 2 } });
    placed(numbers_only, 3, 18, (struct want[]){ { 8, 0, 0 }, { 8, 0, 10 }, { 8, 1, 2 } });
    placed(numbers_only, 3, 17, (struct want[]){ { 8, 0, 0 }, { 8, 1, 2 }, { 8, 2, 2 } });
}

static void near_words(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        unsigned d;
    } rows[] = {
        { "abc", "abc", 0 },   { "abc", "ABC", 0 }, { "abc", "abd", 1 }, { "abc", "ab", 1 },
        { "ab", "abc", 1 },    { "ab", "ba", 1 },   { "Ab", "bA", 1 },   { "abcd", "acbd", 1 },
        { "ca", "abc", 3 },    { "", "abc", 3 },    { "abc", "", 3 },    { "kitten", "sitting", 3 },
        { "abcd", "badc", 2 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(
            cli_edit_distance(rows[i].a, strlen(rows[i].a), rows[i].b, strlen(rows[i].b)),
            rows[i].d);
    static const unsigned most[] = { 1, 1, 1, 1, 2, 2, 2, 2, 3 };
    for (size_t n = 0; n < sizeof most / sizeof *most; n++)
        assert_int_equal(cli_edit_most(n), most[n]);
    static const struct {
        const char *wanted, *candidates[3], *best;
    } meant[] = {
        { "keepp", { "keep", "kep" }, "keep" },
        { "abcdefgh", { "abcdeXYZ" }, "abcdeXYZ" },
        { "abcdefgh", { "abcdWXYZ" }, NULL },
        { "abc", { "abX", "abY" }, "abX" },
        { "abc", { "aXY" }, NULL },
        { "k", { "k2", "k" }, NULL },
        { "ab", { "aX" }, "aX" },
        { "gen", { "generation" }, "generation" },
        { "gen", { "Generation", "gem" }, "Generation" },
    };
    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++) {
        struct cli_nearest near;
        char buf[CLI_MEANT_BYTES], want[CLI_MEANT_BYTES] = "";
        cli_nearest_begin(&near, meant[i].wanted);
        for (size_t k = 0; k < 3 && meant[i].candidates[k] != NULL; k++)
            cli_nearest_try(&near, meant[i].candidates[k]);
        if (meant[i].best != NULL)
            (void)snprintf(want, sizeof want, " (did you mean \"--%s\"?)", meant[i].best);
        assert_string_equal(cli_meant(&near, "--", buf), want);
    }
    char word[CLI_NEAR_LENGTH + 2];
    struct cli_nearest near;
    memset(word, 'a', sizeof word);
    word[CLI_NEAR_LENGTH] = '\0';
    cli_nearest_begin(&near, word);
    cli_nearest_try(&near, word);
    assert_ptr_equal(near.best, word);
    word[CLI_NEAR_LENGTH] = 'a';
    word[CLI_NEAR_LENGTH + 1] = '\0';
    cli_nearest_begin(&near, word);
    cli_nearest_try(&near, word + 1);
    assert_null(near.best);
    cli_nearest_begin(&near, word + 1);
    cli_nearest_try(&near, word);
    assert_null(near.best);
}

static void paths(void **state)
{
    (void)state;
    static const char *const rows[][3] = { { "a/b", "b", "a" }, { "b", "b", "." },
                                           { "/b", "b", "/" },  { "/a/b", "b", "/a" },
                                           { "a/", "", "a" },   { "", "", "." } };
    char folder[20];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(cli_path_name(rows[i][0]), rows[i][1]);
        cli_path_folder(rows[i][0], folder, sizeof folder);
        assert_string_equal(folder, rows[i][2]);
    }
}

static void metrics(void **state)
{
    (void)state;
    static const struct {
        uint64_t value, unit;
        const char *text;
    } rows[] = {
        { 5, 1, "m 5\n" },
        { 0, 1000, "m 0\n" },
        { 1, 1000, "m 0.001\n" },
        { 1500, 1000, "m 1.5\n" },
        { 999, 1000, "m 0.999\n" },
        { 1000, 1000, "m 1\n" },
        { UINT64_MAX, 1000000000, "m 18446744073.709551615\n" },
    };
    char buf[200];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        FILE *f = tmpfile();
        assert_non_null(f);
        struct cli_prom p = { .to = f, .metric = "m" };
        cli_prom_value(&p, rows[i].value, rows[i].unit);
        rewind(f);
        buf[fread(buf, 1, sizeof buf - 1, f)] = '\0';
        assert_string_equal(buf, rows[i].text);
        assert_int_equal(fclose(f), 0);
    }
    FILE *f = tmpfile();
    assert_non_null(f);
    struct cli_prom p = { .to = f };
    cli_prom_metric(&p, "m", "Help.");
    cli_prom_label(&p, "a", "x\"\\\n\x1b\xc3\xa4");
    cli_prom_label(&p, "b", "\xff.\xc3\xa4");
    cli_prom_value(&p, 7, 1);
    cli_prom_label(&p, "c", "");
    cli_prom_value(&p, 8, 1);
    cli_prom_label(&p, "d", "\xe2\x80\xae\xf3\xa0\x80\x81\xc2\x9b"); /* U+202E, U+E0001, U+9B */
    cli_prom_label(&p, "e", "\\u001B \\u001x \\u00");
    cli_prom_value(&p, 9, 1);
    rewind(f);
    buf[fread(buf, 1, sizeof buf - 1, f)] = '\0';
    assert_string_equal(buf, "# HELP m Help.\n# TYPE m gauge\n"
                             "m{a=\"x\\\"\\\\\\n\\\\u001b\xc3\xa4\",b=\"\\\\ufffd.\xc3\xa4\"} 7\n"
                             "m{c=\"\"} 8\n"
                             "m{d=\"\\\\u202e\\\\udb40\\\\udc01\\\\u009b\","
                             "e=\"\\\\u005cu001B \\\\u001x \\\\u00\"} 9\n");
    assert_int_equal(fclose(f), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(numbers),
        cmocka_unit_test(times),
        cmocka_unit_test(characters),
        cmocka_unit_test(lines_that_are_broken),
        cmocka_unit_test(layouts),
        cmocka_unit_test(near_words),
        cmocka_unit_test(paths),
        cmocka_unit_test(metrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
