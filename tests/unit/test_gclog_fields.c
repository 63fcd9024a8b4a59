/*
 * Records of gclog files at their limits: numbers, kinds of roots, long lines, sections, first
 * bytes, progress.
 */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <gcdumpc/read.h>

#include "read/read.h"
#include "support/tb.h"

static struct gcd_error err = GCD_ERROR_INIT;
static struct gcd_graph *g;

static int teardown(void **state)
{
    (void)state;
    gcd_graph_free(g);
    g = NULL;
    return 0;
}

static gcd_status read_bytes(const void *p, size_t n, const struct gcd_graph_options *o)
{
    struct gcd_input *in;
    gcd_graph_free(g);
    g = NULL;
    assert_int_equal(gcd_input_from_memory(p, n, NULL, &in, &err), GCD_OK);
    gcd_status st = gcd_graph_read(in, o, &g, &err);
    gcd_input_free(in);
    return st;
}

/* LINES between a beginning and its end. */
static void read_lines(const char *lines)
{
    char text[8000];
    int n = snprintf(text, sizeof text, "a 2 x 0\n%s\nc x 0\n", lines);
    assert_int_equal(read_bytes(text, (size_t)n, NULL), GCD_OK);
}

static uint64_t damaged(void)
{
    return gcd_graph_notes(g)->records_damaged;
}

/* ---- numbers ---- */

static void numbers_of_all_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
        uint64_t value;
    } rows[] = {
        { "0", true, 0 },
        { "9", true, 9 },
        { "a", true, 10 },
        { "f", true, 15 },
        { "A", true, 10 },
        { "F", true, 15 },
        { "10", true, 16 },
        { "0123456789abcdef", true, UINT64_C(0x0123456789abcdef) },
        { "FEDCBA9876543210", true, UINT64_C(0xfedcba9876543210) },
        { "ffffffffffffffff", true, UINT64_MAX },
        { "0ffffffffffffffff", true, UINT64_MAX },
        { "10000000000000000", false, 0 },
        { "1ffffffffffffffff", false, 0 },
        { "/", false, 0 },
        { ":", false, 0 },
        { "@", false, 0 },
        { "G", false, 0 },
        { "`", false, 0 },
        { "g", false, 0 },
        { "-1", false, 0 },
        { "1.", false, 0 },
        { "+1", false, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char line[80];
        (void)snprintf(line, sizeof line, "o 8 1 %s", rows[i].text);
        read_lines(line);
        if (damaged() != !rows[i].good || gcd_graph_node_count(g) != rows[i].good ||
            (rows[i].good && gcd_graph_node_size(g, 0) != rows[i].value))
            fail_msg("%s", rows[i].text);
    }
}

/* ---- roots ---- */

static void kinds_of_roots(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        unsigned kind;
        uint32_t flags;
        bool damaged;
        const char *type;
    } rows[] = {
        { "r 8 0 1", GCD_ROOT_OTHER, 1, false, "Object" },
        { "r 8 1 4", GCD_ROOT_STACK, 4, false, "Object" },
        { "r 8 2 0", GCD_ROOT_FINALIZER, 0, false, "Object" },
        { "r 8 3 8", GCD_ROOT_HANDLE, 8, false, "Object" },
        { "r 8 4 0 2", GCD_ROOT_STATIC, 0, false, "Holder" },
        { "r 8 4 0", GCD_ROOT_STATIC, 0, false, "Object" },
        { "r 8 4 0 z", GCD_ROOT_STATIC, 0, false, "Object" },
        { "r 8 5 10", GCD_ROOT_OTHER, 16, false, "Object" },
        { "r 8 6 0", GCD_ROOT_OTHER, 0, true, "Object" },
        { "r 8 1 1ffffffff", GCD_ROOT_STACK, UINT32_MAX, false, "Object" },
        { "r 8 1 0 2", GCD_ROOT_STACK, 0, false, "Object" },
        { "r 8 4 0 77", GCD_ROOT_STATIC, 0, false, "Type(77)" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char lines[100];
        (void)snprintf(lines, sizeof lines, "t 1 Object\nt 2 Holder\n%s\no 8 1 18", rows[i].line);
        read_lines(lines);
        assert_int_equal(gcd_graph_summary(g)->root_count, 1);
        const struct gcd_root *r = &gcd_graph_summary(g)->roots[0];
        if (r->kind != rows[i].kind || r->flags != rows[i].flags || damaged() != rows[i].damaged ||
            strcmp(gcd_graph_summary(g)->types[r->type].name, rows[i].type) != 0)
            fail_msg("%s: kind %u, flags %u, %s", rows[i].line, r->kind, r->flags,
                     gcd_graph_summary(g)->types[r->type].name);
    }
    read_lines("r 0 1 0\nr 10 1 0\nr 10 4 0 2\no 8 1 18\nt 2 A");
    assert_true(gcd_graph_summary(g)->root_count == 0 && gcd_graph_notes(g)->roots_dangling == 2 &&
                damaged() == 0);
}

/* ---- references ---- */

/* Any number of references, including null and words that are not numbers. */
static void lines_with_many_references(void **state)
{
    (void)state;
    static const unsigned counts[] = { 0, 1, 511, 512, 513, 1024, 1025 };
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (unsigned odd = 0; odd < 3; odd++) {
            struct tb_bytes b = { NULL, 0, 0 };
            static const char begin[] = "a 2 x 0\no 8 1 18", end[] = "\no 10 1 18\nc x 0\n";
            tb_put(&b, begin, sizeof begin - 1);
            for (unsigned i = 0; i < counts[c]; i++) {
                if (i == 300 && odd > 0)
                    tb_put(&b, odd == 1 ? " 0" : " zz", odd == 1 ? 2 : 3);
                tb_put(&b, i % 2 == 0 ? " 8" : " 10", i % 2 == 0 ? 2 : 3);
            }
            tb_put(&b, end, sizeof end - 1);
            assert_int_equal(read_bytes(b.p, b.n, NULL), GCD_OK);
            size_t n;
            const uint32_t *edges = gcd_graph_node_edges(g, 0, &n);
            assert_int_equal(n, counts[c]);
            for (unsigned i = 0; i < n; i++)
                assert_int_equal(edges[i], i % 2);
            assert_int_equal(damaged(), odd == 2 && counts[c] > 300);
            /* null does not count as dangling */
            assert_true(gcd_graph_notes(g)->edges_dangling == 0);
            (void)gcd_graph_node_edges(g, 1, &n);
            assert_int_equal(n, 0);
            tb_free(&b);
        }
}

/* ---- names and sections ---- */

static void names_of_types(void **state)
{
    (void)state;
    static const char text[] = "a 2 x 0\no 8 1 18\no 10 2 18\no 18 3 18\no 20 4 18\no 28 ab 18\nt "
                               "1  lead\nt 2 a b \nt 3\tc\nt 4 n\0ul\r\nc x 0\n";
    static const char *const names[] = { " lead", "a b ", "c", "n_ul", "Type(ab)" };
    assert_int_equal(read_bytes(text, sizeof text - 1, NULL), GCD_OK);
    for (uint32_t i = 0; i < 5; i++) {
        const struct gcd_type *t = &gcd_graph_summary(g)->types[gcd_graph_node_type(g, i)];
        assert_string_equal(t->name, names[i]);
        assert_true(t->id == (i < 4 ? i + 1 : 0xab) && t->described == (i < 4) &&
                    t->named == (i < 4) && t->objects == 1);
    }
    assert_int_equal(damaged(), 0);
}

static void several_sections(void **state)
{
    (void)state;
    static const char text[] = "a 2 first 10\nt 1 A\no 8 1 18 10\nc first 10\na 2 second 20\nt 1 "
                               "B\no 10 1 20 8\nc second 20\n";
    assert_int_equal(read_bytes(text, sizeof text - 1, NULL), GCD_OK);
    assert_true(gcd_graph_node_count(g) == 2 && gcd_graph_edge_count(g) == 2 &&
                gcd_graph_summary(g)->verdict.complete);
    assert_string_equal(gcd_graph_summary(g)->types[gcd_graph_node_type(g, 0)].name, "A");
    assert_string_equal(gcd_graph_summary(g)->types[gcd_graph_node_type(g, 1)].name, "B");
    const struct gcd_summary *f = gcd_graph_summary(g);
    assert_string_equal(f->process_name, "first");
    assert_true(f->gc_start_ns == 16000000 && f->gc_end_ns == 16000000);
    static const struct {
        const char *end;
        bool same;
    } ends[] = {
        { "c app 1f", true },  { "c app 01F", true },  { "c  app   1f ", true },
        { "c app 1e", false }, { "c apps 1f", false }, { "c ap 1f", false },
        { "c 1f", false },     { "c app", false },
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char one[80];
        (void)snprintf(one, sizeof one, "a 2 app 1f\n%s\n", ends[i].end);
        assert_int_equal(read_bytes(one, strlen(one), NULL), GCD_OK);
        if (damaged() != !ends[i].same)
            fail_msg("%s", ends[i].end);
        assert_int_equal(gcd_graph_summary(g)->verdict.complete, ends[i].same);
    }
}

/* ---- messages ---- */

static void what_was_not_understood(void **state)
{
    (void)state;
    read_lines("t 1 A\no 8 1 18\nx\nq");
    const struct gcd_verdict *v = &gcd_graph_summary(g)->verdict;
    assert_true(!v->complete && v->reason_count == 1 &&
                v->reasons[0].code == GCD_REASON_TRACE_DAMAGED && v->reasons[0].amount == 2);
    assert_string_equal(v->reasons[0].text, "2 lines were not understood, the first is line 4");
    read_lines("t 1 A\no 8 1 18\nx");
    v = &gcd_graph_summary(g)->verdict;
    assert_true(!v->complete && v->reason_count == 1 &&
                v->reasons[0].code == GCD_REASON_TRACE_DAMAGED && v->reasons[0].amount == 1);
    read_lines("t 1 A\no 8 1 18");
    v = &gcd_graph_summary(g)->verdict;
    assert_true(v->complete && v->reason_count == 0);
    static const char cut[] = "a 2 x 0\nt 1 A\no 8 1 18\n";
    assert_int_equal(read_bytes(cut, sizeof cut - 1, NULL), GCD_OK);
    v = &gcd_graph_summary(g)->verdict;
    assert_true(!v->complete && v->reason_count == 1 &&
                v->reasons[0].code == GCD_REASON_TRACE_TRUNCATED && v->reasons[0].amount == 4);
    assert_string_equal(v->reasons[0].text, "the file ends before its last record, at line 4");
    static const char clr[] = "a 2 x 0\no 8 1 18\nr 0x10 1 0\n";
    assert_int_equal(read_bytes(clr, sizeof clr - 1, NULL), GCD_E_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "line 3: this is a CLRProfiler log"));
}

/* Repairs: a name that is missing, an object that is hidden by another one. */
static void what_was_made_up(void **state)
{
    (void)state;
    read_lines("o 8 1 18");
    const struct gcd_verdict *v = &gcd_graph_summary(g)->verdict;
    assert_true(!v->complete && v->reason_count == 1 &&
                v->reasons[0].code == GCD_REASON_TYPES_UNDESCRIBED && v->reasons[0].amount == 1);
    read_lines("t 1 A\no 8 1 18\no 8 1 20");
    v = &gcd_graph_summary(g)->verdict;
    assert_true(!v->complete && v->reason_count == 1 &&
                v->reasons[0].code == GCD_REASON_INPUT_DAMAGED);
}

/* The verdict is that of the dump, unless a byte has changed. */
static void checksums(void **state)
{
    (void)state;
    static const char *const verdicts[] = { "complete", "unverified", "incomplete" };
    for (unsigned i = 0; i < 6; i++) {
        char text[200];
        int n = snprintf(text, sizeof text, "a 2 x 0\nt 1 A\no 8 1 18\n");
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "t 2 [gcdumpc %s crc32=%lx objects=1 references=0]\nc x 0\n", verdicts[i / 2],
                      crc32(0, (const Bytef *)text, (uInt)n));
        if (i % 2 != 0)
            text[20] = '9'; /* the size of the object */
        assert_int_equal(read_bytes(text, (size_t)n, NULL), GCD_OK);
        const struct gcd_summary *f = gcd_graph_summary(g);
        assert_int_equal(f->type_count, 1);
        assert_int_equal(f->verdict.complete, i == 0 || i == 2);
        assert_int_equal(f->verdict.unverified, i / 2 == 1);
        assert_int_equal(f->verdict.reason_count, (i == 4) + (i % 2 != 0) * (1 + (i == 5)));
    }
    /* line ends of Windows are no damage: of "a 2 x 0\nt 1 A\no 8 1 18\n" */
    static const char crlf[] =
        "a 2 x 0\r\nt 1 A\r\no 8 1 18\r\n"
        "t 2 [gcdumpc complete crc32=2e7d6258 objects=1 references=0]\r\nc x 0\r\n";
    assert_int_equal(read_bytes(crlf, sizeof crlf - 1, NULL), GCD_OK);
    assert_true(gcd_graph_summary(g)->verdict.complete &&
                !gcd_graph_summary(g)->verdict.unverified);
}

static void first_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n;
        bool good;
    } rows[] = {
        { "a 2", 3, true },
        { "t 1", 3, true },
        { "r f", 3, true },
        { "o\t0", 3, true },
        { "c 1", 3, false },
        { "a  2", 4, false },
        { "a 2", 2, false },
        { "a x", 3, false },
        { "\r\n \na 2", 7, true },
        { "\xef\xbb\xbf"
          "a 2",
          6, true },
        { "\xef\xbb"
          "a 2",
          5, false },
        { "A 2", 3, false },
        { "", 0, false },
        { "\n\n\n", 3, false },
        { "o G", 3, false },
        { "o F", 3, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (gcd_r_gclog.probe((const uint8_t *)rows[i].text, rows[i].n) != rows[i].good)
            fail_msg("row %zu", i);
}

/* ---- progress ---- */

struct looks {
    uint64_t calls, last;
    gcd_cancel_flag cancel;
    bool stop;
};

static void look(void *ctx, uint64_t done, uint64_t total)
{
    struct looks *l = ctx;
    (void)done;
    assert_int_equal(total, 12345);
    l->calls++;
    l->cancel = l->stop;
}

static void progress_and_cancellation(void **state)
{
    (void)state;
    struct tb_bytes b = { NULL, 0, 0 };
    tb_put(&b, "a 2 x 0\n", 8);
    for (unsigned i = 0; i < 200000; i++)
        tb_put(&b, "o 8 1 18\n", 9);
    tb_put(&b, "c x 0\n", 6);
    struct looks l = { .stop = false };
    struct gcd_graph_options o = { .context.progress = look,
                                   .context.progress_ctx = &l,
                                   .progress_total = 12345,
                                   .context.cancel = &l.cancel };
    assert_int_equal(read_bytes(b.p, b.n, &o), GCD_OK);
    assert_true(l.calls >= 6 && gcd_graph_node_count(g) == 200000); /* three in each reading */
    l.stop = true;
    assert_int_equal(read_bytes(b.p, b.n, &o), GCD_E_CANCELED);
    tb_free(&b);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, teardown)
    const struct CMUnitTest tests[] = {
        TEST(numbers_of_all_sizes),
        TEST(kinds_of_roots),
        TEST(lines_with_many_references),
        TEST(names_of_types),
        TEST(several_sections),
        TEST(what_was_not_understood),
        TEST(what_was_made_up),
        TEST(checksums),
        TEST(first_bytes),
        TEST(progress_and_cancellation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
