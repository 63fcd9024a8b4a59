/*
 * Compressed traces that are cut or changed, compared with zlib's own result for the same bytes; a
 * trace from damaged gzip data is never complete.
 */
#include <inttypes.h>

#include <zlib.h>

#include <gcdumpc/io.h>

#include "sweep/sweep.h"

/* How the bytes are wrapped. */
struct wrapping {
    const char *name;
    int level;
    size_t member;       /* bytes of content in each gzip member; 0 = one member */
    bool named;          /* header with a file name, a comment and a checksum */
    const char *padding; /* after the last member; ignored */
    size_t padding_bytes;
};

static const struct wrapping wrappings[] = {
    { "deflated", 6, 0, false, NULL, 0 },
    { "stored", 0, 0, false, NULL, 0 },
    { "members", 6, 1000, false, NULL, 0 },
    { "named", 1, 3000, true, "\0\0\0\0\0\0", 6 },
};
#define WRAPPINGS (sizeof wrappings / sizeof *wrappings)

static void add_member(struct tb_bytes *to, const struct wrapping *w, const uint8_t *p, size_t n)
{
    static Bytef file[] = "heap.nettrace", comment[] = "made for a test";
    gz_header header = { .name = file, .comment = comment, .hcrc = 1, .os = 3, .time = 1 };
    z_stream z;
    memset(&z, 0, sizeof z);
    assert_int_equal(deflateInit2(&z, w->level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    if (w->named)
        assert_int_equal(deflateSetHeader(&z, &header), Z_OK);
    size_t cap = deflateBound(&z, (uLong)n) + 200;
    uint8_t *out = malloc(cap);
    assert_non_null(out);
    z.next_in = (z_const Bytef *)(uintptr_t)p;
    z.avail_in = (uInt)n;
    z.next_out = out;
    z.avail_out = (uInt)cap;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    tb_put(to, out, cap - z.avail_out);
    free(out);
    (void)deflateEnd(&z);
}

static struct tb_bytes wrap(const struct wrapping *w, const uint8_t *p, size_t n)
{
    struct tb_bytes to = { NULL, 0, 0 };
    size_t member = w->member == 0 ? n : w->member;
    for (size_t at = 0; at < n; at += member)
        add_member(&to, w, p + at, n - at < member ? n - at : member);
    tb_put(&to, w->padding, w->padding_bytes);
    return to;
}

/* zlib's result for N bytes: the content, and the final status. */
enum ending { WHOLE, CUT, DAMAGED };

struct reference {
    struct tb_bytes content;
    enum ending ending;
};

static struct reference unwrap(const uint8_t *p, size_t n)
{
    struct reference r = { { NULL, 0, 0 }, WHOLE };
    uint8_t out[4096];
    if (n == 0 || p[0] != 0x1f) { /* not compressed at all */
        tb_put(&r.content, p, n);
        return r;
    }
    for (size_t at = 0; at < n && p[at] == 0x1f && r.ending == WHOLE;) {
        z_stream z;
        memset(&z, 0, sizeof z);
        assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
        z.next_in = (z_const Bytef *)(uintptr_t)(p + at);
        z.avail_in = (uInt)(n - at);
        int st;
        do {
            z.next_out = out;
            z.avail_out = sizeof out;
            st = inflate(&z, Z_NO_FLUSH);
            tb_put(&r.content, out, sizeof out - z.avail_out);
        } while (st == Z_OK);
        if (st != Z_STREAM_END)
            r.ending = st == Z_BUF_ERROR ? CUT : DAMAGED;
        at = n - z.avail_in;
        (void)inflateEnd(&z);
    }
    return r;
}

/* Truncated and changed data are distinguished. */
static const char *check_ending(const struct run *r, enum ending ending)
{
    const char *text = r->err.msg; /* without a dump, it is in front of the message */
    if (r->st != GCD_OK && r->st != GCD_E_TRUNCATED)
        return NULL; /* the content is not a trace: reading ends before the damage */
    if (r->st == GCD_OK) {
        text = NULL;
        for (size_t i = 0; i < r->verdict.reason_count; i++)
            if (r->verdict.reasons[i].code == GCD_REASON_INPUT_DAMAGED)
                text = r->verdict.reasons[i].text;
        if ((text != NULL) != (ending != WHOLE))
            return text != NULL ? "a sound input is called damaged"
                                : "a damaged input is not mentioned";
    }
    if (ending == CUT && strstr(text, "the gzip data end early") == NULL)
        return "an input that ends early is not called that";
    return ending == DAMAGED && strstr(text, "the gzip data are damaged") == NULL
               ? "a damaged input is not called that"
               : NULL;
}

/* R is the result of N bytes at P, WHOLE that of the undamaged ones. */
static const char *check_wrapped(const struct run *whole, const struct run *r, const uint8_t *p,
                                 size_t n)
{
    const char *wrong = run_check(r);
    if (wrong != NULL)
        return wrong;
    struct reference ref = unwrap(p, n);
    struct run plain;
    run_trace(ref.content.p, ref.content.n, &(struct run_options){ .no_gclog = true }, &plain);
    if (ref.ending == DAMAGED) { /* any byte can be wrong, so no reference is certain */
        plain.target_count = 0;
        for (size_t i = 0; i < plain.object_count; i++)
            plain.objects[i].targets = plain.objects[i].first_target = 0;
    }
    if (r->st == GCD_OK && r->facts.trace.bytes != ref.content.n)
        wrong = "not the same number of bytes as from zlib";
    else if (r->st == GCD_OK && r->verdict.complete && ref.ending != WHOLE)
        wrong = ref.ending == CUT ? "complete, although the gzip data end early"
                                  : "complete, although the gzip data are damaged";
    else if (r->st == GCD_OK && r->verdict.complete && r->object_count != whole->object_count)
        wrong = "complete, but not the same objects";
    else if ((r->st == GCD_OK) != (plain.st == GCD_OK))
        wrong = "not the same status as from zlib's bytes";
    else if (r->object_count != plain.object_count || r->target_count != plain.target_count)
        wrong = "not the same objects as from zlib's bytes";
    else if (r->object_count > 0 &&
             (memcmp(r->objects, plain.objects, r->object_count * sizeof *r->objects) != 0 ||
              (r->target_count > 0 &&
               memcmp(r->targets, plain.targets, r->target_count * sizeof *r->targets) != 0)))
        wrong = "not the same objects as from zlib's bytes";
    else if (ref.ending == WHOLE && ref.content.n > 0)
        wrong = run_diff(&plain, r); /* not damaged: everything is equal */
    if (wrong == NULL)
        wrong = check_ending(r, ref.ending);
    run_done(&plain);
    tb_free(&ref.content);
    return wrong;
}

static void try_bytes(sweep_decoder decode, const char *name, const struct run *whole,
                      const uint8_t *p, size_t n, const char *what, size_t at, struct tally *t)
{
    /* its own block, so that a sanitizer sees reads past the cut */
    uint8_t *copy = malloc(n + 1);
    assert_non_null(copy);
    memcpy(copy + 1, p, n);
    struct run r;
    decode(copy + 1, n, &(struct run_options){ .input = true, .no_gclog = true }, &r);
    const char *wrong = check_wrapped(whole, &r, p, n);
    if (wrong != NULL)
        tally_complain(t, "%s, %s %zu: %s; %s", name, what, at, wrong, r.text);
    t->runs++;
    run_done(&r);
    free(copy);
}

enum change { TRUNCATE, FLIP };

/* Every STEPth byte of some samples (the content matters little here), wrapped in one way. */
static void sweep_samples(sweep_decoder decode, const struct wrapping *w, enum change change,
                          size_t step, struct tally *t)
{
    struct tb_bytes b;
    const struct tb_sample *s;
    for (size_t i = 0; (s = tb_sample(i, &b)) != NULL; i++) {
        if (i % 3 != 0) {
            tb_free(&b);
            continue;
        }
        struct run whole;
        char name[80];
        struct tb_bytes z = wrap(w, b.p, b.n);
        run_trace(b.p, b.n, NULL, &whole);
        (void)snprintf(name, sizeof name, "%s %s", s->name, w->name);
        try_bytes(decode, name, &whole, z.p, z.n, "unchanged", 0, t);
        for (size_t at = 0; at < z.n; at += step * sweep_stride()) {
            if (change == TRUNCATE) {
                try_bytes(decode, name, &whole, z.p, at, "cut at", at, t);
                continue;
            }
            uint8_t mask = at % 2 == 0 ? 0x01 : 0x80;
            z.p[at] ^= mask;
            try_bytes(decode, name, &whole, z.p, z.n, "changed at", at, t);
            z.p[at] ^= mask;
        }
        run_done(&whole);
        tb_free(&z);
        tb_free(&b);
    }
}

static void test_truncate(void **state)
{
    (void)state;
    struct tally t = { 0 };
    for (size_t i = 0; i < WRAPPINGS; i++)
        sweep_samples(sweep_decode, &wrappings[i], TRUNCATE, wrappings[i].level == 0 ? 3 : 1, &t);
    tally_expect_none(&t);
}

static void test_flip(void **state)
{
    (void)state;
    struct tally t = { 0 };
    for (size_t i = 0; i < WRAPPINGS; i++)
        sweep_samples(sweep_decode, &wrappings[i], FLIP, wrappings[i].level == 0 ? 5 : 1, &t);
    tally_expect_none(&t);
}

/* Large members, and pieces that end at the reader's buffer limits. */
static void test_bundled(void **state)
{
    (void)state;
    static const size_t members[] = { 0, 1 << 18, 100000 };
    struct tally t = { 0 };
    const char *name;
    size_t n;
    uint8_t *p;
    for (size_t i = 0; (p = run_bundled(GCDUMPC_SOURCE, i, &name, &n)) != NULL; i += 3) {
        struct run whole;
        run_trace(p, n, NULL, &whole);
        for (size_t k = 0; k < sizeof members / sizeof *members; k++) {
            struct wrapping w = { "members", 1, members[k], false, NULL, 0 };
            struct tb_bytes z = wrap(&w, p, n);
            try_bytes(sweep_decode, name, &whole, z.p, z.n, "unchanged, members", members[k], &t);
            uint64_t seed = i + k;
            for (size_t j = 0; j < 6; j++) {
                size_t at = (size_t)(run_random(&seed) % z.n);
                try_bytes(sweep_decode, name, &whole, z.p, at, "cut at", at, &t);
                z.p[at] ^= 0x10;
                try_bytes(sweep_decode, name, &whole, z.p, z.n, "changed at", at, &t);
                z.p[at] ^= 0x10;
            }
            tb_free(&z);
        }
        run_done(&whole);
        free(p);
    }
    tally_expect_none(&t);
}

/* ---- decoders broken on purpose ---- */

/* Reads the first member only. */
static void decode_first_member(const uint8_t *bytes, size_t n, const struct run_options *options,
                                struct run *ret)
{
    size_t end = n;
    for (size_t i = 1; i + 3 < n && end == n; i++)
        if (bytes[i] == 0x1f && bytes[i + 1] == 0x8b && bytes[i + 2] == 8 && bytes[i + 3] == 0)
            end = i;
    run_trace(bytes, end, options, ret);
}

/* Ignores how the gzip data ends. */
static void decode_trusting(const uint8_t *bytes, size_t n, const struct run_options *options,
                            struct run *ret)
{
    struct reference ref = unwrap(bytes, n);
    struct run_options o = *options;
    o.input = false;
    run_trace(ref.content.p, ref.content.n, &o, ret);
    tb_free(&ref.content);
}

/* Reports damage as a cut. */
static void decode_confused(const uint8_t *bytes, size_t n, const struct run_options *options,
                            struct run *ret)
{
    run_trace(bytes, n, options, ret);
    for (size_t i = 0; i < ret->verdict.reason_count; i++)
        if (ret->verdict.reasons[i].code == GCD_REASON_INPUT_DAMAGED)
            (void)strcpy(ret->verdict.reasons[i].text, "the gzip data end early");
}

/* Drops everything before the damage. */
static void decode_strict(const uint8_t *bytes, size_t n, const struct run_options *options,
                          struct run *ret)
{
    struct reference ref = unwrap(bytes, n);
    run_trace(bytes, ref.ending == WHOLE ? n : 0, options, ret);
    tb_free(&ref.content);
}

static void test_self(void **state)
{
    (void)state;
    static const sweep_decoder broken[] = { decode_first_member, decode_trusting, decode_confused,
                                            decode_strict };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct tally t = { 0 };
        sweep_samples(broken[i], &wrappings[2], FLIP, 3, &t);
        tally_expect_some(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncate),
        cmocka_unit_test(test_flip),
        cmocka_unit_test(test_bundled),
        cmocka_unit_test(test_self),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
