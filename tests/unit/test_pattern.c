/*
 * Patterns for names: random ones match the same as in regexec and fnmatch of the C library where
 * POSIX says what they mean, and their cost is bounded.
 */
#include <fnmatch.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "output/pattern.h"
#include "support/check.h"
#include "support/run.h"

static gcd_cancel_flag canceled;

static struct cli_pattern *regex(const char *text)
{
    struct cli_pattern *p;
    const char *wrong = cli_pattern_regex(text, strlen(text), &p);
    if (wrong != NULL || p == NULL)
        fail_msg("%s: %s", text, wrong);
    return p;
}

static struct cli_pattern *glob(const char *text)
{
    struct cli_pattern *p;
    assert_null(cli_pattern_glob(text, strlen(text), &p));
    assert_non_null(p);
    return p;
}

static bool has(struct cli_pattern *p, const char *text)
{
    enum cli_match m = cli_pattern_match(p, text, &canceled);
    assert_int_not_equal(m, CLI_MATCH_CANCELED);
    return m == CLI_MATCH;
}

static void expect(struct cli_pattern *p, const char *text, bool wanted)
{
    if (has(p, text) != wanted)
        fail_msg("\"%s\": expected %d", text, wanted);
    cli_pattern_free(p);
}

static void test_names(void **state)
{
    (void)state;
    expect(regex("^Shop\\.(Order|Item)"), "Shop.Item[]", true);
    expect(regex("^Shop\\.(Order|Item)"), "My.Shop.Item", false);
    expect(regex("Order$"), "Shop.Order", true);
    expect(regex("Order$"), "Shop.OrderLine", false);
    expect(regex("List<.*Order>"), "System.Collections.Generic.List<Shop.Order>", true);
    expect(regex("[0-9]{3,}"), "A12B345", true);
    expect(regex("[0-9]{4}"), "A12B345", false);
    expect(regex("Stra\xc3\x9f"
                 "e"),
           "Demo.Stra\xc3\x9f"
           "e",
           true);
    expect(regex("Stra..e"),
           "Demo.Stra\xc3\x9f"
           "e",
           true);
    expect(regex("[^ -~]"),
           "Demo.Stra\xc3\x9f"
           "e",
           true);
    expect(regex(""), "", true);
    expect(regex("a\nb"), "a\nb", true);
    expect(regex("^b"), "a\nb", false); /* line ends are ordinary characters */
    expect(glob("Shop.*"), "Shop.Order", true);
    expect(glob("Shop.*"), "Shop.", true);
    expect(glob("Shop.*"), "My.Shop.Order", false);
    expect(glob("*.Byte[]"), "System.Byte[]", true);
    expect(glob("*.Byte[]"), "System.Byte[][]", false);
    expect(glob("?\\?"), "a\\b", true);
    expect(glob("*"), "", true);
    expect(glob("?"), "", false);
}

static void test_names_without_their_namespaces(void **state)
{
    static const struct {
        const char *pattern, *name;
        bool fold, wanted;
    } cases[] = {
        { "Order", "Shop.Order", false, true },
        { "Order", "Shop.Reorder", false, false },
        { "Order", "Order", false, true },
        { "Order", "My.Shop.Order", false, true },
        { "Shop.Order", "My.Shop.Order", false, true },
        { "Order", "Shop.Order[]", false, false },
        { "Order", "Shop.Order.Line", false, false },
        { "Order", "List<Shop.Order>", false, false },
        { "List<Order, Item>", "My.List<A.Order, B.C.Item>", false, true },
        { "List<Order>.Node", "My.List<A.Order>.Node", false, true },
        { "List<Order>.Node", "My.List<A.Order>.B.Node", false, false },
        { "Node", "My.List<A.Order>.Node", false, true },
        { "Node*", "My.List<A.Node>", false, false },
        { "No*", "My.Node", false, true },
        { "*Node", "My.Node", false, true },
        { "order", "Shop.Order", false, false },
        { "order", "Shop.ORDER", true, true },
        { "or?er", "shop.Order", true, true },
        { "order_1", "Shop.Order_1", true, true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cli_pattern *p;
        const char *text = cases[i].pattern;
        assert_null(cli_pattern_loose(text, strlen(text), cases[i].fold, &p));
        assert_non_null(p);
        expect(p, cases[i].name, cases[i].wanted);
    }
}

/* ---- compared with the C library ---- */

#define TEXTS 12

static const char *one_of(const char *const *words, size_t n, uint64_t *seed)
{
    return words[run_random(seed) % n];
}

static void random_text(char *to, size_t max, const char *letters, uint64_t *seed)
{
    size_t n = (size_t)(run_random(seed) % max), some = strlen(letters);
    for (size_t i = 0; i < n; i++)
        to[i] = letters[run_random(seed) % some];
    to[n] = '\0';
}

static void compare(const char *text, uint64_t *seed)
{
    regex_t theirs;
    struct cli_pattern *ours;
    if (regcomp(&theirs, text, REG_EXTENDED | REG_NOSUB) != 0)
        return;
    const char *wrong = cli_pattern_regex(text, strlen(text), &ours);
    if (wrong != NULL)
        fail_msg("%s: %s", text, wrong);
    for (size_t i = 0; i < TEXTS; i++) {
        char s[12];
        /* theirs treats a line feed specially */
        random_text(s, sizeof s, "abcA _.-]}\t\xc3(){", seed);
        if (has(ours, s) != (regexec(&theirs, s, 0, NULL, 0) == 0))
            fail_msg("%s: \"%s\" is not the same", text, s);
    }
    regfree(&theirs);
    cli_pattern_free(ours);
}

/* What POSIX defines means the same; of its escapes, those that people use. */
static void test_as_regexec(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "a",
        "b",
        "c",
        "A",
        " ",
        "_",
        ".",
        "-",
        "ab",
        "\\.",
        "\\(",
        "\\)",
        "\\{",
        "\\}",
        "\\/",
        "(a|b)",
        "(ab)",
        "(a|)",
        "(|b)",
        "(.|ab)",
        "|",
        "[ab]",
        "[^a]",
        "[a-c]",
        "[]a]",
        "[^]a]",
        "[a-]",
        "[-a]",
        "[^-a]",
        "[+--]",
        "[a-c-]",
        "[\\]",
        "[a\\]",
        "[^a\\.]",
        "[[:alpha:]]",
        "[[:space:]_]",
        "[^[:alnum:]]",
        "[[:upper:][:digit:]]",
        "\\w",
        "\\W",
        "\\s",
        "\\S",
        "\\b",
        "\\B",
        "\\<",
        "\\>",
        "\\`",
        "\\'",
        "^",
        "$",
        "]",
        "}",
    };
    static const char *const repeats[] = { "",    "",    "",      "*",    "+",    "?",
                                           "{2}", "{0}", "{0,1}", "{1,}", "{1,3}" };
    uint64_t seed = 18;
    for (unsigned k = 0; k < 40000; k++) {
        char text[128] = "";
        for (size_t n = 1 + run_random(&seed) % 6; n > 0; n--) {
            const char *piece = one_of(pieces, sizeof pieces / sizeof *pieces, &seed);
            strcat(text, piece);
            if (strchr("|^$", piece[0]) == NULL &&
                (piece[0] != '\\' || !strchr("bB<>`'", piece[1])))
                strcat(text, one_of(repeats, sizeof repeats / sizeof *repeats, &seed));
        }
        compare(text, &seed);
    }
}

static void test_as_fnmatch(void **state)
{
    (void)state;
    uint64_t seed = 18;
    for (unsigned k = 0; k < 40000; k++) {
        char text[9], escaped[20], *o = escaped;
        random_text(text, sizeof text, "ab*?[\\*", &seed);
        for (const char *s = text; *s != '\0'; s++) {
            if (*s == '[' || *s == '\\')
                *o++ = '\\';
            *o++ = *s;
        }
        *o = '\0';
        struct cli_pattern *p = glob(text);
        for (size_t i = 0; i < TEXTS; i++) {
            char s[12];
            random_text(s, sizeof s, "ab[\\", &seed);
            if (has(p, s) != (fnmatch(escaped, s, 0) == 0))
                fail_msg("%s: \"%s\" is not the same", text, s);
        }
        cli_pattern_free(p);
    }
}

/* ---- what it costs ---- */

/* 200,000 bytes, with or without something else at the end.  Quadratic time would be minutes. */
static void test_long_names(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_glob, plain, ended;
    } cases[] = {
        { "a.*b", false, false, true },    { "(a|aa)+b", false, false, true },
        { "(a*)*b$", false, false, true }, { "a.{20}b", false, false, true },
        { "^a*$", false, true, false },    { "a+$", false, true, false },
        { "*a*a*a*b", true, false, true }, { "*aaaaaaaaaaaaaaaaab", true, false, true },
        { "a*", true, true, true },        { "*b*", true, false, true },
        { ".+b", false, false, true },
    };
    const size_t n = 200000;
    char *s = malloc(n + 2);
    assert_non_null(s);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(s, 'a', n);
        s[n] = '\0';
        print_message("%s\n", cases[i].text);
        expect((cases[i].is_glob ? glob : regex)(cases[i].text), s, cases[i].plain);
        strcpy(s + n, "b");
        expect((cases[i].is_glob ? glob : regex)(cases[i].text), s, cases[i].ended);
    }
    free(s);
}

/* A canceled match returns an error: neither true nor false. */
static void test_canceled(void **state)
{
    (void)state;
    struct cli_pattern *p = regex("a.*b");
    atomic_store(&canceled, true);
    assert_int_equal(cli_pattern_match(p, "b", &canceled), CLI_MATCH_CANCELED);
    assert_int_equal(cli_pattern_match(p, "ab", &canceled), CLI_MATCH_CANCELED);
    atomic_store(&canceled, false);
    expect(p, "ab", true);
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const patterns[][2] = {
        { "(", "a \"(\" is not closed" },
        { "[a", "a \"[\" is not closed" },
        { ")(", "a \")\" is not opened" },
        { "a\\", "a backslash at its end" },
        { "*", "one of * + ? {" },
        { "(*)", "one of * + ? {" },
        { "a{2,1}", "numbers in braces" },
        { "a{65536}", "numbers in braces" },
        { "[b-a]", "a range in brackets" },
        { "[[:letter:]]", "a class" },
        { "[[.a.]]", "POSIX collating elements" },
        { "(a)\\1", "\\1 to \\9" },
        { "(?=a)", "of the groups" },
        { "(?R)", "of the groups" },
        { "(?<x>a)", "of the groups" },
        { "a\\Kb", "\\1 to \\9" },
        { "(((a{99}){99}){99}){99}", "it is too large" },
    };
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct cli_pattern *p;
        const char *wrong = cli_pattern_regex(patterns[i][0], strlen(patterns[i][0]), &p);
        assert_null(p);
        if (wrong == NULL || strncmp(wrong, patterns[i][1], strlen(patterns[i][1])) != 0)
            fail_msg("%s: %s", patterns[i][0], wrong != NULL ? wrong : "accepted");
    }
    expect(regex("a{32767}b?"), "aa", false);
    expect(regex("(?i)SHOP"), "My.shop", true);
    expect(regex("[(?*]"), "?", true);
    cli_pattern_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),      cmocka_unit_test(test_names_without_their_namespaces),
        cmocka_unit_test(test_as_regexec), cmocka_unit_test(test_as_fnmatch),
        cmocka_unit_test(test_long_names), cmocka_unit_test(test_canceled),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
