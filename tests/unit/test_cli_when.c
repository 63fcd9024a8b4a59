/* --when: the grammar, what is true, and how long nothing can become true. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "job/when.h"
#include "term/message.h"

#define MIB (UINT64_C(1) << 20)

static struct cli_whens parse(const char *a, const char *b)
{
    struct cli_whens w;
    const char *texts[CLI_WHEN_MAX + 1] = { a, b };
    assert_int_equal(cli_whens_parse(texts, &w), CLI_DONE);
    return w;
}

/* 600 of 1,000 MiB, of which 200 are left. */
static const struct cli_when_values some = { .now = { .rss_bytes = 600 * MIB,
                                                      .limit_bytes = 1000 * MIB,
                                                      .limit = GCD_IPC_LIMIT_CGROUP,
                                                      .left_bytes = 200 * MIB,
                                                      .heap_bytes = 500 * MIB,
                                                      .pressure = 1250 } };

static void what_is_true(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_true;
    } want[] = {
        { "rss > 59.9%", true },
        { "rss > 60%", false },
        { "rss >= 60 %", true },
        { "  rss>599M  ", true },
        { "rss > 600MiB", false },
        { "rss >= 629145600", true },
        { "rss > 1048576", true },
        { "rss > 85B", true },
        { "rss > 0", true },
        { "left < 0 and rss > 1M", false },
        { "rss > 0.6G", false },
        { "rss > 0.58 G", true },
        { "rss < 601M", true },
        { "rss <= 599M", false },
        { "heap > 49%", true },
        { "heap > 500M", false },
        { "left < 200M", false },
        { "left <= 20%", true },
        { "left < 21%", true },
        { "pressure > 12.4%", true },
        { "pressure > 12.5%", false },
        { "rss > 10% and left < 201M", true },
        { "rss > 10% and left < 199M", false },
        { "rss > 600M and left < 201M", false },
        { "rss > 1K and heap > 1K and left > 1K and pressure > 1%", true },
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct cli_whens w = parse(want[i].text, NULL);
        if ((cli_whens_true(&w, &some) != NULL) != want[i].is_true)
            fail_msg("%s", want[i].text);
    }
    struct cli_whens any = parse("rss > 99%", "left < 99%");
    assert_ptr_equal(cli_whens_true(&any, &some), &any.items[1]);
    assert_int_equal(any.parts, GCD_IPC_WATCH_LEFT);
    assert_int_equal(parse("heap > 1M and pressure > 1%", "growth/1m > 1M").parts,
                     GCD_IPC_WATCH_HEAP | GCD_IPC_WATCH_PRESSURE);
}

static void growth(void **state)
{
    (void)state;
    struct cli_whens w = parse("growth/10m > 200M", "growth/1h > 150%");
    assert_true(w.items[1].tests[0].limit == 150);
    w = parse("growth/10m > 200M", "growth/1h > 50%");
    struct cli_when_values v = some;
    assert_int_equal(w.window_ms, 3600000);
    assert_int_equal(w.items[0].tests[0].window_ms, 600000);
    assert_null(cli_whens_true(&w, &v)); /* what it had before is unknown */
    v.before_bytes[0][0] = 400 * MIB;
    v.before_bytes[1][0] = 400 * MIB;
    assert_null(cli_whens_true(&w, &v));
    v.before_bytes[0][0] = 399 * MIB;
    assert_ptr_equal(cli_whens_true(&w, &v), &w.items[0]);
    v.before_bytes[0][0] = 700 * MIB; /* it shrank */
    v.before_bytes[1][0] = 399 * MIB;
    assert_ptr_equal(cli_whens_true(&w, &v), &w.items[1]);
}

/* What is unknown is never true, whatever is compared. */
static void the_unknown(void **state)
{
    (void)state;
    static const char *const texts[] = { "rss > 1%",  "rss < 99%", "heap < 99M",
                                         "left > 1M", "left < 1M", "pressure < 99%" };
    struct cli_when_values v = {
        .now = { .rss_bytes = MIB, .left_bytes = UINT64_MAX, .pressure = UINT32_MAX }
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct cli_whens w = parse(texts[i], NULL);
        assert_null(cli_whens_true(&w, &v));
        assert_true(cli_whens_growth_bytes(&w, &v) == 0);
        assert_true(cli_whens_quiet_ms(&w, &v) == 1000);
    }
}

static char said[512];

static void take(void *ctx, const char *subject, const char *text)
{
    (void)ctx;
    (void)subject;
    (void)snprintf(said, sizeof said, "%s", text);
}

static void what_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } want[] = {
        { "", "rss, heap, left, pressure or growth/TIME is expected at character 1" },
        { "memory > 5%", "rss, heap, left, pressure or growth/TIME is expected at character 1" },
        { "rss", ">, >=, < or <= is expected at character 4" },
        { "rss = 5%", ">, >=, < or <= is expected at character 5" },
        { "rss >", "a number is expected at character 6" },
        { "rss > -5%", "a number is expected at character 7" },
        { "rss > 101%", "at most 100 is expected at character 10" },
        { "rss > 85",
          "without a unit these are 85 bytes: write 85% or 85M, or 85B if bytes are meant" },
        { "rss > 1048575", "without a unit these are 1048575 bytes: write 1048575M, or 1048575B" },
        { "left < 200 and rss > 5%",
          "these are 200 bytes: write 200M, or 200B if bytes are meant" },
        { "growth/1h > 150", "these are 150 bytes: write 150% or 150M, or 150B" },
        { "heap > 0.5", "these are 0.5 bytes: write 0.5% or 0.5M, or 0.5B" },
        { "rss > 1,5G", "\".\" before decimals is expected at character 8, not \",5G\"" },
        { "rss > 5X", "B, K, M, G, KB, MB, GB, KiB, MiB or GiB is expected at character 8" },
        { "rss > 5% or left < 5%", "\"and\" or the end is expected at character 10" },
        { "rss > 5% and", "rss, heap, left, pressure or growth/TIME is expected at character 13" },
        { "pressure > 5M", "% is expected at character 13" },
        { "growth > 5M", "/TIME, such as growth/10m, is expected at character 7" },
        { "growth/10 > 5M",
          "s, m, h or d, in a time from 1s to 365d, is expected at character 10" },
        { "growth/0s > 5M", "s, m, h or d, in a time from 1s to 365d, is expected" },
        { "growth/366d > 5M", "s, m, h or d, in a time from 1s to 365d, is expected" },
        { "rss > 1% and rss > 1% and rss > 1% and rss > 1% and rss > 1%",
          "it has more than 4 tests" },
    };
    cli_say_to(take, NULL);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct cli_whens w;
        const char *texts[] = { want[i].text, NULL };
        said[0] = '\0';
        assert_int_equal(cli_whens_parse(texts, &w), CLI_USAGE);
        if (strstr(said, want[i].message) == NULL)
            fail_msg("%s: %s", want[i].text, said);
    }
    cli_say_to(NULL, NULL);
}

/* Growth of 1 GiB/s decides when to look again. */
static void how_long_nothing_happens(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        uint64_t ms, bytes;
    } want[] = {
        { "rss > 70%", NULL, 100, 100 * MIB },
        { "rss > 70%", "rss > 650M", 50, 50 * MIB },
        { "rss > 70% and rss > 650M", NULL, 100, 100 * MIB },
        { "left < 150M", NULL, 50, 0 },
        { "rss > 70%", "left < 150M", 50, 0 },
        { "rss > 70% and left < 150M", NULL, 100, 100 * MIB },
        /* reading mappings is not cheap */
        { "heap > 60%", NULL, 1000, 100 * MIB },
        { "pressure > 50%", NULL, 1000, 0 },
        { "rss > 70%", "pressure > 50%", 100, 0 },
        { "rss < 10%", NULL, 1000, 0 },
        /* one part is true already */
        { "left < 300M and rss > 70%", NULL, 100, 100 * MIB },
        { "rss > 10%", NULL, 0, 1 },
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct cli_whens w = parse(want[i].a, want[i].b);
        uint64_t ms = cli_whens_quiet_ms(&w, &some), bytes = cli_whens_growth_bytes(&w, &some);
        if (ms != want[i].ms || bytes != want[i].bytes)
            fail_msg("%s: %llu ms, %llu bytes", want[i].a, (unsigned long long)ms,
                     (unsigned long long)bytes);
    }
}

static void the_figures(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
    } want[] = {
        { "rss > 85%", "rss 600.0 MiB, limit 1000.0 MiB (of its cgroup)" },
        { "rss > 1G", "rss 600.0 MiB" },
        { "growth/1m > 10%", "rss 600.0 MiB" },
        { "heap > 1M and left < 2%",
          "heap 500.0 MiB, left 200.0 MiB, limit 1000.0 MiB (of its cgroup)" },
        { "pressure > 20%", "pressure 12.50 %" },
    };
    char text[200];
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct cli_whens w = parse(want[i].text, NULL);
        cli_when_say(&w.items[0], &some, text, sizeof text);
        assert_string_equal(text, want[i].said);
        for (size_t cap = 1; cap <= strlen(want[i].said); cap++) { /* cut, but never beyond */
            memset(text, 'x', sizeof text);
            cli_when_say(&w.items[0], &some, text, cap);
            assert_true(strlen(text) < cap && text[cap] == 'x');
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_true),
        cmocka_unit_test(growth),
        cmocka_unit_test(the_unknown),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(how_long_nothing_happens),
        cmocka_unit_test(the_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
