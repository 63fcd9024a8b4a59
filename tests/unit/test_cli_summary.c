/* Summaries that are read again: every field, several in a file, and what is none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "input/input.h"
#include "summary/summary.h"
#include "support/check.h"
#include "term/message.h"

static char path[] = "/tmp/gcdumpc-summary-XXXXXX";

static int begin(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    cli_hold(true); /* messages are asked for, not shown */
    return fd < 0 || close(fd) != 0;
}

static int end(void **state)
{
    (void)state;
    return unlink(path);
}

static void put(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

static struct cli_old_summary *read_from(const char *text, uint64_t number)
{
    struct cli_old_summary *s;
    put(text);
    assert_int_equal(cli_summary_read(path, number, &s), CLI_DONE);
    return s;
}

#define ONE(more) "{\"kind\":\"summary\",\"schema\":1" more "}"

static void every_field(void **state)
{
    (void)state;
    struct cli_old_summary *s = read_from(
        ONE(",\"objects\":7,\"bytes\":-5,\"pid\":12,\"name\":\"shop\",\"unix_ms\":-3,"
            "\"type_count\":9,\"retained_bytes\":77,\"complete\":true,\"unverified\":false,"
            "\"types\":[{\"name\":\"A\",\"raw_name\":\"`a\",\"module\":\"m.dll\",\"count\":3,"
            "\"own_bytes\":30,\"retained_bytes\":31},{\"name\":\"\",\"count\":1},"
            "{\"name\":\"None\",\"count\":0},{\"name\":\"B\",\"count\":\"2\"},"
            "{\"name\":\"B\",\"count\":2}],"
            "\"holders\":[{\"name\":\"A\",\"raw_name\":\"`a\",\"module\":\"m.dll\",\"count\":3},"
            "{\"name\":\"A\",\"raw_name\":\"`a\",\"module\":\"n.dll\",\"count\":4},"
            "{\"name\":\"A\",\"raw_name\":\"`b\",\"module\":\"m.dll\",\"count\":5},"
            "{\"name\":\"C\",\"count\":6,\"retained_bytes\":600}]"),
        0);
    assert_non_null(s);
    const struct gcd_summary *f = &s->facts;
    assert_true(f->objects == 7 && f->bytes == 0 && f->process == 12 && f->dumps == 1);
    assert_string_equal(f->process_name, "shop");
    assert_string_equal(f->command_line, "");
    assert_true(f->trace.start_unix_ms == -3 && s->types_of_dump == 9 && s->retained_bytes == 77);
    assert_true(f->verdict.complete && !f->verdict.unverified && f->verdict.reason_count == 0);
    static const struct {
        const char *name, *raw, *module;
        uint64_t count, bytes, retained;
    } want[] = { { "A", "`a", "m.dll", 3, 30, 31 },
                 { "B", "B", "", 2, 0, 0 },
                 { "A", "`a", "n.dll", 4, 0, 0 },
                 { "A", "`b", "m.dll", 5, 0, 0 },
                 { "C", "C", "", 6, 0, 600 } };
    assert_int_equal(f->type_count, sizeof want / sizeof *want);
    assert_ptr_equal(f->types, s->types);
    for (uint32_t i = 0; i < f->type_count; i++) {
        const struct gcd_type *t = &f->types[i];
        assert_string_equal(t->name, want[i].name);
        assert_string_equal(t->raw_name, want[i].name);
        assert_string_equal(s->raw_names[i], want[i].raw);
        assert_string_equal(t->module_path, want[i].module);
        assert_true(t->objects == want[i].count && t->bytes == want[i].bytes && t->id == i + 1);
        assert_true(s->retained[i] == want[i].retained && t->described && t->named);
        assert_true(t->module_number == GCD_MODULE_NONE);
    }
    assert_int_equal(s->lines, 1);
    cli_old_summary_free(s);
    s = read_from(ONE(""), 1);
    assert_true(s->facts.trace.start_unix_ms == INT64_MIN && s->facts.type_count == 0);
    assert_string_equal(s->facts.process_name, "");
    assert_false(s->facts.verdict.complete);
    cli_old_summary_free(s);
}

static void reasons(void **state)
{
    (void)state;
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    fputs("{\"kind\":\"summary\",\"schema\":1,\"complete\":false,\"unverified\":true,\"reasons\":["
          "{\"code\":\"events_lost\",\"amount\":3,\"text\":\"three\"},"
          "{\"code\":\"of_next_year\",\"amount\":-1,\"text\":\"new\"}",
          f);
    for (int i = 0; i < GCD_REASON_COUNT; i++)
        fprintf(f, ",{\"code\":\"types_undescribed\",\"amount\":%d,\"text\":\"\"}", i);
    fputs("]}", f);
    assert_int_equal(fclose(f), 0);
    struct cli_old_summary *s = read_from(text, 0);
    assert_non_null(s);
    const struct gcd_verdict *v = &s->facts.verdict;
    assert_true(!v->complete && v->unverified && v->reason_count == GCD_REASON_COUNT);
    assert_true(v->reasons[0].code == GCD_REASON_EVENTS_LOST && v->reasons[0].amount == 3);
    assert_string_equal(v->reasons[0].name, "events_lost");
    assert_string_equal(v->reasons[0].text, "three");
    assert_true(v->reasons[1].code == GCD_REASON_COUNT && v->reasons[1].amount == 0);
    assert_string_equal(v->reasons[1].name, "other");
    assert_true(v->reasons[3].code == GCD_REASON_TYPES_UNDESCRIBED && v->reasons[3].amount == 1);
    cli_old_summary_free(s);
    free(text);
}

static void several_in_a_file(void **state)
{
    (void)state;
    static const char three[] =
        " \t\r\n" ONE(",\"pid\":1") "\n\n" ONE(",\"pid\":2") ONE(",\"pid\":3") "\r\n ";
    struct cli_old_summary *s;
    for (uint64_t number = 0; number < 4; number++) {
        s = read_from(three, number);
        assert_non_null(s);
        assert_int_equal(s->facts.process, number > 0 ? number : 1);
        assert_int_equal(s->lines, 3);
        cli_old_summary_free(s);
    }
    assert_int_equal(cli_summary_read(path, 4, &s), CLI_FAILED);
    assert_null(s);
    assert_non_null(strstr(cli_last_said(), "has 3 summaries, number 4 was asked for"));
    put(ONE(""));
    assert_int_equal(cli_summary_read(path, 2, &s), CLI_FAILED);
    assert_non_null(strstr(cli_last_said(), "has 1 summary, number 2 was asked for"));
}

/* CLI_DONE without a summary: it is opened as a dump, which says what is wrong. */
static void what_is_no_summary(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "   ",
        "Nettrace",
        "[" ONE("") "]",
        "{",
        "{}",
        "{\"kind\":\"other\",\"schema\":1}",
        "{\"kind\":1,\"schema\":1}",
        "{\"schema\":1}",
        ONE("") "x",
        ONE("") "{}",
        ONE("") ONE("") "{\"kind\":\"summary\"",
        "\v" ONE(""),
    };
    struct cli_old_summary *s;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_null(read_from(texts[i], 0));
    assert_int_equal(cli_summary_read("/nonexistent", 0, &s), CLI_DONE);
    assert_null(s);
    assert_int_equal(cli_summary_read("/tmp", 0, &s), CLI_DONE);
    assert_null(s);
    put("{\"kind\":\"summary\",\"schema\":2}");
    assert_int_equal(cli_summary_read(path, 0, &s), CLI_FAILED);
    assert_null(s);
    assert_non_null(
        strstr(cli_last_said(), "is a summary with schema 2; this gcdumpc reads schema 1"));
    put("{\"kind\":\"summary\"}");
    assert_int_equal(cli_summary_read(path, 0, &s), CLI_FAILED);
    assert_non_null(strstr(cli_last_said(), "is a summary with schema 0"));
}

/* In several pieces, after long blanks, and compressed. */
static void large_and_compressed(void **state)
{
    (void)state;
    size_t n = 3 << 20;
    char *text = malloc(n + 1);
    assert_non_null(text);
    memset(text, ' ', n);
    memcpy(text, ONE(",\"pid\":5,\"name\":\""), strlen(ONE(",\"pid\":5,\"name\":\"")) - 1);
    memset(text + strlen(ONE(",\"pid\":5,\"name\":\"")) - 1, 'n', n - 100);
    memcpy(text + n - 10, "\"}\n       ", 10);
    text[n] = '\0';
    struct cli_old_summary *s = read_from(text, 0);
    assert_non_null(s);
    assert_int_equal(s->facts.process, 5);
    size_t name = strlen(s->facts.process_name);
    cli_old_summary_free(s);
    gzFile z = gzopen(path, "wb");
    assert_int_equal(gzwrite(z, text, (unsigned)n), n);
    assert_int_equal(gzclose(z), Z_OK);
    assert_int_equal(cli_summary_read(path, 0, &s), CLI_DONE);
    assert_non_null(s);
    assert_int_equal(strlen(s->facts.process_name), name);
    cli_old_summary_free(s);
    assert_int_equal(truncate(path, 1000), 0); /* it cannot be read to its end */
    assert_int_equal(cli_summary_read(path, 0, &s), CLI_DONE);
    assert_null(s);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field),          cmocka_unit_test(reasons),
        cmocka_unit_test(several_in_a_file),    cmocka_unit_test(what_is_no_summary),
        cmocka_unit_test(large_and_compressed),
    };
    return cmocka_run_group_tests_name("test_cli_summary", tests, begin, end);
}
