/* Names of a program compiled ahead of time, from its symbols. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include <gcdumpc/names.h>
#include <gcdumpc/unstable/full_names.h>
#include <gcdumpc/unstable/recording.h>

#include "support/elf_sample.h"
#include "support/failalloc.h"
#include "support/tb.h"

#define IMAGE UINT64_C(0x7f0000000000)
#define TYPES 20u

static struct gcd_error err;

struct files {
    struct {
        const struct tb_bytes *bytes;
        bool certain;
    } items[4];
    unsigned opened, closed;
};

static gcd_status open_file(void *ctx, const struct gcd_module *m, unsigned n,
                            struct gcd_module_file *ret, struct gcd_error *e)
{
    struct files *f = ctx;
    if (m == NULL || n >= 4 || f->items[n].bytes == NULL)
        return GCD_END;
    assert_true(m->native);
    f->opened++;
    ret->certain = f->items[n].certain;
    ret->path = "/app/shop";
    return gcd_input_from_memory(f->items[n].bytes->p, f->items[n].bytes->n, NULL, &ret->input, e);
}

static void close_file(void *ctx, struct gcd_module_file *file)
{
    ((struct files *)ctx)->closed++;
    gcd_input_free(file->input);
}

/* TYPES types, the first N of them, at 0x1000, 0x1010 …, or MOVED by so much; the first is an
 * array.
 */
static void make_moved_trace(struct tb_bytes *ret, unsigned n, uint32_t moved)
{
    struct tb t;
    tb_init(&t, TB_V4, 8);
    tb_gc_start(&t, 1);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t id = IMAGE + 0x1000 + 16 * i + moved;
        tb_types(&t, TB_LIST(struct tb_type, { .id = id,
                                               .module = IMAGE,
                                               .token = (uint32_t)(0x1000 + 16 * i + moved),
                                               .flags = i == 0 ? 24 : 16 }));
        tb_nodes(&t, TB_LIST(struct tb_node, { 0x10000 + 32 * i, 24, id, 0 }));
    }
    tb_roots(&t, TB_LIST(struct tb_root, { .object = 0x10000, .kind = 2 }));
    tb_gc_end(&t, 1);
    tb_close(&t);
    *ret = t.out;
    t.out = (struct tb_bytes){ 0 };
    tb_done(&t);
}

static void make_trace(struct tb_bytes *ret)
{
    make_moved_trace(ret, TYPES, 0);
}

/* A program with the symbols of the first COUNT types, of build ID. */
static void make_program(struct tb_bytes *ret, unsigned id, size_t count)
{
    static char names[TYPES][64];
    struct elf_sample_symbol symbols[TYPES + 1];
    for (size_t i = 0; i < count; i++) {
        if (i == 0)
            (void)snprintf(names[i], sizeof names[i], "_ZTV14__Array<Int32>");
        else
            (void)snprintf(names[i], sizeof names[i], "_ZTV11shop_Type%02u", (unsigned)i);
        symbols[i] = (struct elf_sample_symbol){ 0x1000 + 16 * i, names[i] };
    }
    elf_sample(ret, id, id != 0 ? 20 : 0, symbols, count);
}

static struct gcd_dump *open_dump(const struct tb_bytes *trace, const struct gcd_alloc *alloc,
                                  struct gcd_input **in)
{
    struct gcd_dump_options options = { .context.alloc = alloc };
    struct gcd_dump *d = NULL;
    assert_int_equal(gcd_input_from_memory(trace->p, trace->n, NULL, in, &err), GCD_OK);
    if (gcd_dump_open(*in, &options, &d, &err) != GCD_OK && err.code != GCD_E_NOMEM)
        fail_msg("%s", err.msg);
    return d;
}

static gcd_status resolve(struct gcd_dump *d, struct files *f)
{
    struct gcd_module_files files = { .ctx = f, .open = open_file, .close = close_file };
    gcd_status st = gcd_dump_resolve(d, &files, &err);
    assert_int_equal(f->opened, f->closed);
    return st;
}

static const char *name_of(const struct gcd_dump *d, unsigned i)
{
    const struct gcd_summary *s = gcd_dump_summary(d);
    for (uint32_t k = 0; k < s->type_count; k++)
        if (s->types[k].id == IMAGE + 0x1000 + 16 * i)
            return s->types[k].name;
    return "none";
}

static void check_name(const struct gcd_dump *d, const char *expected)
{
    const struct gcd_summary *s = gcd_dump_summary(d);
    struct gcd_names *n;
    assert_int_equal(gcd_names_new(s, GCD_NAMES_CSHARP, NULL, &n, &err), GCD_OK);
    for (uint32_t k = 0; k < s->type_count; k++)
        if (s->types[k].id == IMAGE + 0x1010)
            assert_string_equal(gcd_names_get(n, k), expected);
    gcd_names_free(n);
}

struct fixture {
    struct tb_bytes trace, program, stripped, other, odd;
    struct gcd_input *in;
    struct gcd_dump *d;
};

static void begin(struct fixture *f)
{
    make_trace(&f->trace);
    make_program(&f->program, 0xab, TYPES);
    make_program(&f->stripped, 0xab, 0);
    make_program(&f->other, 0xcd, TYPES);
    make_program(&f->odd, 0, TYPES - 1);
    f->d = open_dump(&f->trace, NULL, &f->in);
}

static void done(struct fixture *f)
{
    gcd_dump_free(f->d);
    gcd_input_free(f->in);
    tb_free(&f->trace);
    tb_free(&f->program);
    tb_free(&f->stripped);
    tb_free(&f->other);
    tb_free(&f->odd);
}

/* The program that the process maps is stripped; the file with its symbols has its build id. */
static void test_build_id(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    assert_false(gcd_dump_summary(f.d)->verdict.complete);
    struct files files = {
        .items = { { &f.stripped, true }, { &f.other, false }, { &f.program, false } }
    };
    assert_int_equal(resolve(f.d, &files), GCD_OK);
    const struct gcd_module *m = &gcd_dump_summary(f.d)->modules[0];
    assert_int_equal(m->state, GCD_MODULE_READ);
    assert_string_equal(m->path, "/app/shop");
    assert_string_equal(m->build_id, "abababababababababababababababababababab");
    assert_string_equal(name_of(f.d, 0), "System.Int32[]");
    assert_string_equal(name_of(f.d, 1), "shop_Type01");
    assert_true(gcd_dump_summary(f.d)->verdict.complete);
    done(&f);
}

static void test_another_build(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    struct files files = { .items = { { &f.stripped, true }, { &f.other, false } } };
    assert_int_equal(resolve(f.d, &files), GCD_OK);
    assert_int_equal(gcd_dump_summary(f.d)->modules[0].state, GCD_MODULE_REPLACED);
    assert_string_equal(name_of(f.d, 1), "Type(0x1010)");
    check_name(f.d, "UNKNOWN Type(0x1010) of build abababab");
    assert_false(gcd_dump_summary(f.d)->verdict.complete);
    done(&f);
}

/* The recording does not say which build it was: each type must be where the file has one. */
static void test_without_a_build_id(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    struct files odd = { .items = { { &f.odd, false } } };
    assert_int_equal(resolve(f.d, &odd), GCD_OK);
    assert_int_equal(gcd_dump_summary(f.d)->modules[0].state, GCD_MODULE_REPLACED);
    check_name(f.d, "UNKNOWN Type(0x1010)");
    struct files whole = { .items = { { &f.odd, false }, { &f.program, false } } };
    assert_int_equal(resolve(f.d, &whole), GCD_OK);
    assert_int_equal(gcd_dump_summary(f.d)->modules[0].state, GCD_MODULE_READ);
    check_name(f.d, "shop_Type01");
    done(&f);
}

/* One place, two types. */
static void test_two_names(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    struct tb_bytes two;
    static const struct elf_sample_symbol symbols[] = { { 0x1000, "_ZTV6shop_A" },
                                                        { 0x1010, "_ZTV6shop_B" },
                                                        { 0x1010, "_ZTV6shop_C" },
                                                        { 0x1020, "_ZTV6shop_D" },
                                                        { 0x1020, "_ZTV6shop_D" } };
    elf_sample(&two, 0xab, 20, symbols, 5);
    struct files files = { .items = { { &two, true } } };
    assert_int_equal(resolve(f.d, &files), GCD_OK);
    assert_string_equal(name_of(f.d, 0), "shop_A");
    assert_string_equal(name_of(f.d, 1), "Type(0x1010)");
    assert_string_equal(name_of(f.d, 2), "shop_D");
    tb_free(&two);
    done(&f);
}

static struct tb_bytes record(struct fixture *f)
{
    struct tb_bytes copy = { 0 };
    struct gcd_sink *sink;
    size_t n;
    assert_int_equal(gcd_sink_new_memory(NULL, &sink, &err), GCD_OK);
    assert_int_equal(gcd_recording_write(f->d, f->in, sink, NULL, NULL, &err), GCD_OK);
    assert_int_equal(gcd_sink_finish(sink, NULL, &err), GCD_OK);
    const uint8_t *p = gcd_sink_memory(sink, &n);
    tb_put(&copy, p, n);
    gcd_sink_free(sink);
    return copy;
}

static void test_recorded(void **state)
{
    (void)state;
    struct fixture f;
    struct gcd_input *in;
    begin(&f);
    struct files files = { .items = { { &f.program, true } } };
    assert_int_equal(resolve(f.d, &files), GCD_OK);
    assert_int_equal(gcd_recording_names(f.d), GCD_RECORDING_NAMES_NEW);
    struct tb_bytes copy = record(&f);
    struct gcd_dump *d = open_dump(&copy, NULL, &in);
    const struct gcd_module *m = &gcd_dump_summary(d)->modules[0];
    assert_int_equal(m->state, GCD_MODULE_RECORDED);
    assert_string_equal(m->path, "/app/shop");
    assert_string_equal(m->build_id, "abababababababababababababababababababab");
    assert_string_equal(name_of(d, 0), "System.Int32[]");
    assert_true(gcd_dump_summary(d)->verdict.complete);
    assert_int_equal(gcd_recording_names(d), GCD_RECORDING_NAMES_SAME);
    gcd_dump_free(d);
    gcd_input_free(in);
    tb_free(&copy);
    done(&f);
}

/* The build is known, the names come later. */
static void test_recorded_build(void **state)
{
    (void)state;
    struct fixture f;
    struct gcd_input *in;
    begin(&f);
    struct files files = { .items = { { &f.stripped, true } } };
    assert_int_equal(resolve(f.d, &files), GCD_OK);
    struct tb_bytes copy = record(&f);
    struct gcd_dump *d = open_dump(&copy, NULL, &in);
    assert_false(gcd_dump_summary(d)->verdict.complete);
    assert_int_equal(gcd_recording_names(d), GCD_RECORDING_NAMES_SAME);
    struct files wrong = { .items = { { &f.other, false } } };
    assert_int_equal(resolve(d, &wrong), GCD_OK);
    check_name(d, "UNKNOWN Type(0x1010) of build abababab");
    struct files right = { .items = { { &f.program, false } } };
    assert_int_equal(resolve(d, &right), GCD_OK);
    check_name(d, "shop_Type01");
    gcd_dump_free(d);
    gcd_input_free(in);
    tb_free(&copy);
    done(&f);
}

/* Another dump of N types, MOVED; BUILD NULL: it does not know its build. */
struct borrower {
    struct tb_bytes trace;
    struct gcd_input *in;
    struct gcd_dump *d;
    bool same;
};

static void borrow(struct borrower *b, const struct fixture *from, unsigned n, uint32_t moved,
                   const struct tb_bytes *build)
{
    make_moved_trace(&b->trace, n, moved);
    b->d = open_dump(&b->trace, NULL, &b->in);
    struct files files = { .items = { { build, true } } };
    if (build != NULL)
        assert_int_equal(resolve(b->d, &files), GCD_OK);
    assert_int_equal(gcd_dump_borrow_names(b->d, gcd_dump_summary(from->d), &b->same, &err),
                     GCD_OK);
}

static void borrower_done(struct borrower *b)
{
    gcd_dump_free(b->d);
    gcd_input_free(b->in);
    tb_free(&b->trace);
}

/* F with names. */
static void begin_named(struct fixture *f)
{
    begin(f);
    struct files files = { .items = { { &f->program, true } } };
    assert_int_equal(resolve(f->d, &files), GCD_OK);
}

static void test_borrowed(void **state)
{
    (void)state;
    struct fixture f;
    struct borrower b;
    begin_named(&f);
    const struct tb_bytes *builds[] = { &f.stripped, NULL }; /* by build id, by places */
    for (size_t i = 0; i < 2; i++) {
        borrow(&b, &f, TYPES, 0, builds[i]);
        assert_true(b.same);
        assert_string_equal(name_of(b.d, 0), "System.Int32[]");
        check_name(b.d, "shop_Type01");
        assert_string_equal(gcd_dump_summary(b.d)->modules[0].build_id,
                            "abababababababababababababababababababab");
        assert_int_equal(gcd_dump_summary(b.d)->modules[0].state, GCD_MODULE_RECORDED);
        assert_true(gcd_dump_summary(b.d)->verdict.complete);
        borrower_done(&b);
    }
    done(&f);
}

static void test_not_borrowed_from_another_build(void **state)
{
    (void)state;
    struct fixture f;
    struct borrower b;
    begin_named(&f);
    struct tb_bytes other;
    elf_sample(&other, 0xcd, 20, NULL, 0);
    static const struct {
        unsigned types;
        uint32_t moved;
        bool known;
    } cases[] = {
        { TYPES, 0, true },   /* in the same places, but the id says it */
        { TYPES, 8, false },  /* all in other places */
        { TYPES, 48, false }, /* most in places of other types: three have moved out */
        { 15, 0, false },     /* too few to be sure */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        borrow(&b, &f, cases[i].types, cases[i].moved, cases[i].known ? &other : NULL);
        assert_false(b.same);
        assert_int_equal(strncmp(name_of(b.d, 4), "shop", 4) == 0, 0);
        assert_false(gcd_dump_summary(b.d)->verdict.complete);
        borrower_done(&b);
    }
    tb_free(&other);
    done(&f);
}

/* Types that only one of the dumps has keep their numbers. */
static void test_borrowed_in_part(void **state)
{
    (void)state;
    struct fixture f, few;
    struct borrower b;
    begin(&f);
    few = f;
    make_moved_trace(&few.trace, 18, 0);
    few.d = open_dump(&few.trace, NULL, &few.in);
    struct files files = { .items = { { &f.program, true } } };
    assert_int_equal(resolve(few.d, &files), GCD_OK);
    borrow(&b, &few, TYPES, 0, NULL);
    assert_true(b.same);
    check_name(b.d, "shop_Type01");
    assert_string_equal(name_of(b.d, 18), "Type(0x1120)");
    const struct gcd_verdict *v = &gcd_dump_summary(b.d)->verdict;
    assert_true(!v->complete && v->reason_count == 1 && v->reasons[0].amount == 2);
    assert_int_equal(v->reasons[0].code, GCD_REASON_TYPES_UNDESCRIBED);
    assert_string_equal(v->reasons[0].text,
                        "2 of its types have no name, in the other dump neither");
    borrower_done(&b);
    gcd_dump_free(few.d);
    gcd_input_free(few.in);
    tb_free(&few.trace);
    done(&f);
}

static void test_borrowing_without_memory(void **state)
{
    (void)state;
    struct fixture f;
    begin_named(&f);
    for (uint64_t n = 1;; n++) {
        struct failalloc fa;
        struct gcd_input *in;
        bool same;
        failalloc_init(&fa);
        fa.fail_at = n;
        struct gcd_dump *d = open_dump(&f.trace, &fa.alloc, &in);
        if (d != NULL && gcd_dump_borrow_names(d, gcd_dump_summary(f.d), &same, &err) != GCD_OK)
            assert_int_equal(err.code, GCD_E_NOMEM);
        gcd_dump_free(d);
        gcd_input_free(in);
        assert_null(failalloc_complaint(&fa));
        if (fa.failed == 0)
            break;
    }
    done(&f);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    for (uint64_t n = 1;; n++) {
        struct failalloc fa;
        struct gcd_input *in;
        failalloc_init(&fa);
        fa.fail_at = n;
        struct gcd_dump *d = open_dump(&f.trace, &fa.alloc, &in);
        struct files files = { .items = { { &f.program, true } } };
        if (d != NULL && resolve(d, &files) != GCD_OK)
            assert_int_equal(err.code, GCD_E_NOMEM);
        gcd_dump_free(d);
        gcd_input_free(in);
        assert_null(failalloc_complaint(&fa));
        if (fa.failed == 0)
            break;
    }
    done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build_id),
        cmocka_unit_test(test_another_build),
        cmocka_unit_test(test_without_a_build_id),
        cmocka_unit_test(test_two_names),
        cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_recorded_build),
        cmocka_unit_test(test_borrowed),
        cmocka_unit_test(test_borrowed_in_part),
        cmocka_unit_test(test_not_borrowed_from_another_build),
        cmocka_unit_test(test_borrowing_without_memory),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
