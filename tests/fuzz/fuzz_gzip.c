/*
 * The input layer: any bytes as an input in memory, and any bytes compressed and read back.
 *
 * Two readers of one input give the same, equal to zlib's own inflate member by member; compressing
 * and decompressing changes nothing, however the bytes are divided into members.
 */
#include <zlib.h>

#include <gcdumpc/io.h>
#include <gcdumpc/unstable/spool.h>

#include "fuzz/fuzz.h"
#include "support/failalloc.h"

/* Limit of the output: a small file can expand to very much. */
#define ENOUGH  ((size_t)1 << 20)
#define MEMBERS ((size_t)32)

struct plain {
    uint8_t p[ENOUGH];
    size_t n;
    gcd_status st; /* GCD_END, an error, or GCD_OK at the limit */
};

static void *need(void *p)
{
    if (p == NULL)
        abort();
    return p;
}

static void take(struct plain *to, const uint8_t *p, size_t n)
{
    if (n > ENOUGH - to->n)
        n = ENOUGH - to->n;
    memcpy(to->p + to->n, p, n);
    to->n += n;
}

static void read_input(struct gcd_input *in, struct plain *r)
{
    struct gcd_reader *reader;
    struct gcd_error err = GCD_ERROR_INIT;
    const uint8_t *bytes;
    size_t n;
    if (gcd_reader_new(in, &reader, &err) != GCD_OK)
        abort();
    uint64_t before = 0;
    r->n = 0;
    r->st = GCD_OK;
    while (r->n < ENOUGH && (r->st = gcd_reader_next(reader, &bytes, &n, &err)) == GCD_OK) {
        if (n == 0)
            fuzz_fail("a piece has bytes", "it has none");
        uint64_t now = gcd_reader_position(reader);
        if (now < before || now > gcd_input_size(in))
            fuzz_fail("the position grows up to the size", "it does not");
        before = now;
        take(r, bytes, n);
    }
    if (r->st != GCD_OK) { /* the end is final */
        gcd_status again = gcd_reader_next(reader, &bytes, &n, &err);
        if (again != r->st)
            fuzz_fail("the end is final", gcd_status_name(again));
    }
    if (r->st < 0 && (err.code != r->st || err.msg[0] == '\0'))
        fuzz_fail("an error says so", gcd_status_name(r->st));
    gcd_reader_free(reader);
}

/* The same with zlib alone, from one block of memory. */
static void reference(const uint8_t *p, size_t size, struct plain *r)
{
    /* kept between inputs, like the other one: creating it takes longer than using it */
    static z_stream z;
    static uint8_t out[8192];
    r->n = 0;
    r->st = GCD_END;
    if (size == 0 || p[0] != 0x1f) {
        take(r, p, size);
        return;
    }
    if (z.state == NULL && inflateInit2(&z, 15 + 16) != Z_OK)
        abort();
    for (size_t at = 0; at < size && p[at] == 0x1f && r->st == GCD_END;) {
        if (inflateReset(&z) != Z_OK)
            abort();
        z.next_in = (z_const Bytef *)(uintptr_t)(p + at);
        z.avail_in = (uInt)(size - at);
        int st;
        do {
            z.next_out = out;
            z.avail_out = sizeof out;
            st = inflate(&z, Z_NO_FLUSH);
            take(r, out, sizeof out - z.avail_out);
        } while (st == Z_OK && r->n < ENOUGH);
        if (st != Z_STREAM_END)
            r->st = st == Z_OK ? GCD_OK : st == Z_BUF_ERROR ? GCD_E_TRUNCATED : GCD_E_FORMAT;
        at = size - z.avail_in;
    }
}

static void compare(const struct plain *a, const struct plain *b, const char *property)
{
    if (a->n != b->n || memcmp(a->p, b->p, a->n) != 0)
        fuzz_fail(property, "other bytes");
    if (a->n < ENOUGH && a->st != b->st)
        fuzz_fail(property, gcd_status_name(a->st));
}

/* P[0..SIZE) as gzip, in up to MEMBERS members whose sizes depend on the bytes. */
static uint8_t *compress_members(const uint8_t *p, size_t size, uint64_t hash, size_t *ret_n)
{
    static z_stream z;
    size_t cap = 2 * size + MEMBERS * 64, n = 0;
    uint8_t *out = need(malloc(cap));
    size_t at = 0;
    if (z.state == NULL && deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    do {
        size_t part = size / MEMBERS + 1 + (size_t)(hash >> 8) % (1 + size / 4);
        part = part < size - at ? part : size - at;
        if (deflateReset(&z) != Z_OK ||
            deflateParams(&z, (int)(hash % 10), Z_DEFAULT_STRATEGY) != Z_OK)
            abort();
        z.next_in = (z_const Bytef *)(uintptr_t)(p + at);
        z.avail_in = (uInt)part;
        z.next_out = out + n;
        z.avail_out = (uInt)(cap - n);
        if (deflate(&z, Z_FINISH) != Z_STREAM_END)
            abort();
        n = cap - z.avail_out;
        at += part;
        hash = hash * UINT64_C(6364136223846793005) + 1442695040888963407;
    } while (at < size);
    *ret_n = n;
    return out;
}

/* An input in memory, or for some the same bytes in a spool file. */
static struct gcd_input *make_input(const uint8_t *p, size_t size, bool spool,
                                    const struct gcd_alloc *alloc)
{
    struct gcd_input_options options = { .context.alloc = alloc, .reread = true };
    struct gcd_input *in;
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st = spool ? gcd_input_new_spool(&options, &in, &err)
                          : gcd_input_from_memory(p, size, &options, &in, &err);
    if (st == GCD_OK && spool)
        st = gcd_input_append(in, p, size, &err);
    if (st != GCD_OK)
        fuzz_fail("an input can be made", err.msg);
    return in;
}

/* Which input is in a spool file, and which is read twice, depends on its bytes: HASH. */
static void try_bytes(const uint8_t *p, size_t size, uint64_t hash, const struct plain *expected)
{
    static struct plain a, b;
    struct failalloc f;
    failalloc_init(&f);
    struct gcd_input *in = make_input(p, size, (hash >> 16) % 32 == 0, &f.alloc);
    read_input(in, &a);
    compare(&a, expected, "the same as expected");
    if ((hash >> 32) % 4 == 0) {
        read_input(in, &b);
        compare(&a, &b, "two readers give the same");
    }
    gcd_input_free(in);
    fuzz_check_memory(&f);
    if (f.peak_bytes > (size_t)2 << 20)
        fuzz_fail("memory is bounded", "see peak_bytes");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct plain expected;
    uint64_t hash = fuzz_hash(data, size);
    reference(data, size, &expected);
    try_bytes(data, size, hash, &expected);
    /* compressing is by far the slowest: one input in four, and all gzip inputs */
    if (size > 0 && size < ENOUGH && (data[0] == 0x1f || (hash >> 24) % 4 == 0)) {
        size_t n;
        uint8_t *packed = compress_members(data, size, hash, &n);
        memcpy(expected.p, data, size);
        expected.n = size;
        expected.st = GCD_END;
        try_bytes(packed, n, hash, &expected);
        free(packed);
    }
    return 0;
}
