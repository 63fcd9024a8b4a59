/* How text becomes the roff of a manual page. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/manual/man_text.h"
#include "support/check.h"

static char printed[4096];

/* The output of MAN_TEXT; if that is NULL, of man_put_words with WORDS. */
static const char *roff(const char *text, const char *const *words)
{
    FILE *f = tmpfile();
    int saved = dup(STDOUT_FILENO);
    assert_true(f != NULL && saved >= 0);
    (void)fflush(stdout);
    assert_true(dup2(fileno(f), STDOUT_FILENO) >= 0);
    if (text != NULL)
        man_text(text);
    else
        man_put_words(words);
    (void)fflush(stdout);
    assert_true(dup2(saved, STDOUT_FILENO) >= 0);
    rewind(f);
    printed[fread(printed, 1, sizeof printed - 1, f)] = '\0';
    (void)close(saved);
    (void)fclose(f);
    return printed;
}

struct row {
    const char *text, *roff;
};

static void check(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_string_equal(roff(rows[i].text, NULL), rows[i].roff);
}
#define CHECK(rows) check(rows, sizeof(rows) / sizeof *(rows))

/* Characters that roff would take for an escape or print differently. */
static void characters(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "a\\b", "a\\eb\n" },
        { "it's", "it\\(aqs\n" },
        { "`x`", "\\(gax\\(ga\n" },
        { "^x", "\\(hax\n" },
        { "~/x", "\\(ti/x\n" },
        { "a \"b\" c", "a \"b\" c\n" },
        /* a dash to be typed, and a hyphen between two words */
        { "--pid and -p", "\\-\\-pid and \\-p\n" },
        { "well-known", "well-known\n" },
        { "(--a-b) \"-c\" [--d]", "(\\-\\-a\\-b) \"\\-c\" [\\-\\-d]\n" },
        { "a (b-c)", "a (b-c)\n" },
    };
    CHECK(rows);
}

static void text_like_a_macro(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { ".csv", "\\&.csv\n" },
        { "'x", "\\&\\(aqx\n" },
        { "a .csv", "a .csv\n" },
        { "One.  .csv", "One.\n\\&.csv\n" },
    };
    CHECK(rows);
}

/* A line ends after a sentence but not after an abbreviation, and before it gets long. */
static void lines(void **state)
{
    (void)state;
    static const char letters[] =
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    static const struct row rows[] = {
        { "One.  Two?  Three!  Four", "One.\nTwo?\nThree!\nFour\n" },
        { "One.\nTwo", "One.\nTwo\n" },
        { "e.g. one", "e.g. one\n" },
        { "one\ntwo   three", "one two three\n" },
        { "One:  two", "One: two\n" },
    };
    CHECK(rows);
    for (int length = 75; length <= 76; length++) {
        char text[100], want[100];
        (void)snprintf(text, sizeof text, "%.*s y", length, letters);
        (void)snprintf(want, sizeof want, "%.*s%sy\n", length, letters,
                       length + 2 <= 77 ? " " : "\n");
        assert_string_equal(roff(text, NULL), want);
    }
}

static void blocks(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "One\n\nTwo\n", "One\n.PP\nTwo\n" },
        { "One\n\n", "One\n" },
        { "  --a N   what it is\n", ".TP\n\\-\\-a N\nwhat it is\n" },
        { "  --a N   what it is,\n           and more\n",
          ".TP\n\\-\\-a N\nwhat it is, and more\n" },
        { "  --a\n      what it is\n", ".TP\n\\-\\-a\nwhat it is\n" },
        { "  --a   one\n  --b   two\n", ".TP\n\\-\\-a\none\n.TP\n\\-\\-b\ntwo\n" },
        { "  gcdumpc -p 1\n", ".RS 4\n.EX\ngcdumpc \\-p 1\n.EE\n.RE\n" },
        /* text after a list is not part of its last item, with or without an empty line between
           them */
        { "  --a   one\nText\n", ".TP\n\\-\\-a\none\n.PP\nText\n" },
        { "  --a   one\n\nText\n", ".TP\n\\-\\-a\none\n.PP\nText\n" },
        { "Text\n  --a   one\n", "Text\n.TP\n\\-\\-a\none\n" },
    };
    CHECK(rows);
}

static void words(void **state)
{
    (void)state;
    assert_string_equal(
        roff(NULL, (const char *const[]){ "B", "--pid", "R", " ", "I", "N-1", "R", "\\", NULL }),
        "\\fB\\-\\-pid\\fR \\fIN\\-1\\fR\\e\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters), cmocka_unit_test(text_like_a_macro),
        cmocka_unit_test(lines),      cmocka_unit_test(blocks),
        cmocka_unit_test(words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
