/*
 * Core files with damaged pointers, numbers and headers, and with failing allocations: what is read
 * of each is compared with a file, so that no check of the memory can be dropped unnoticed.
 */
#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/image_numbers.h>

#include "support/expected.h"
#include "sweep/sweep.h"

#define CASES       52u
#define ALLOCATIONS 24u
/* The sample and its graph need less, and a damaged length must not make it more. */
#define MEMORY_BYTES ((size_t)128 << 20)

static uint8_t *whole, *hurt;
static size_t whole_bytes;
/* of pointers and of small numbers; most of the file is 0 */
static size_t *places, place_count;

static uint64_t word_at(size_t at)
{
    uint64_t v;
    memcpy(&v, whole + at, 8);
    return v;
}

/* Does a segment of the memory have this address? */
static bool is_pointer(uint64_t v)
{
    uint64_t headers = word_at(32), address, bytes;
    uint16_t n;
    memcpy(&n, whole + 56, 2);
    for (uint16_t i = 0; i < n; i++) {
        memcpy(&address, whole + headers + 56u * i + 16, 8);
        memcpy(&bytes, whole + headers + 56u * i + 40, 8);
        if (address != 0 && v >= address && v - address < bytes)
            return true;
    }
    return false;
}

static int begin(void **state)
{
    (void)state;
    whole = run_load(GCDUMPC_SOURCE "/traces/net10-core/heap.core.gz", &whole_bytes);
    hurt = malloc(whole_bytes);
    places = malloc(whole_bytes / 8 * sizeof *places);
    if (hurt == NULL || places == NULL)
        return -1;
    for (size_t at = 0; at + 8 <= whole_bytes; at += 8)
        if (word_at(at) != 0 && (word_at(at) < 0x10000 || is_pointer(word_at(at))))
            places[place_count++] = at;
    return place_count == 0;
}

static int end(void **state)
{
    (void)state;
    free(whole);
    free(hurt);
    free(places);
    return 0;
}

static void damage(uint64_t *seed)
{
    size_t at = places[run_random(seed) % place_count],
           other = places[run_random(seed) % place_count];
    const uint64_t old = word_at(at),
                   ways[] = { 0,          old + 8, old - 1,       old | UINT64_C(1) << 63,
                              UINT64_MAX, old * 2, word_at(other) };
    memcpy(hurt + at, &ways[run_random(seed) % (sizeof ways / sizeof *ways)], 8);
}

/* Up to 256 damages, or one in the headers. */
static void damage_all(unsigned number)
{
    uint64_t seed = number;
    memcpy(hurt, whole, whole_bytes);
    if (number % 8 == 7)
        hurt[run_random(&seed) % 8192] ^= (uint8_t)(1u << run_random(&seed) % 8);
    else
        for (unsigned i = 0; i < 4u << number % 7; i++)
            damage(&seed);
}

static uint64_t digest(uint64_t sum, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ p[i]) * UINT64_C(0x100000001b3);
    return sum;
}

/* The fields of every 16th object, by name, kind and value. */
static uint64_t fields(struct gcd_input *in, const struct gcd_graph *g, const struct gcd_alloc *a)
{
    struct gcd_image_numbers *numbers = NULL;
    struct gcd_number boxed;
    uint64_t sum = 0;
    char buf[GCD_NUMBER_BYTES];
    if (gcd_image_numbers_new(in, NULL, a, &numbers, NULL) != GCD_OK)
        return 0;
    for (uint32_t node = 0; node < gcd_graph_node_count(g); node += 16) {
        uint64_t address = gcd_graph_node_address(g, node);
        uint32_t count = gcd_image_field_count(numbers, address);
        for (uint32_t i = 0; i < count; i++) {
            struct gcd_image_field f = gcd_image_field(numbers, address, i);
            sum = digest(sum, f.name, strlen(f.name));
            sum = digest(sum, &f.known, 1);
            if (f.known) {
                const char *text = gcd_number_text(&f.number, buf),
                           *kind = gcd_number_kind_name(&f.number);
                sum = digest(digest(sum, text, strlen(text)), kind, strlen(kind));
            }
        }
        if (gcd_image_boxed(numbers, address, &boxed) == GCD_OK)
            sum = digest(sum, &boxed.bits, 8);
        sum += gcd_image_hash_code(numbers, address);
    }
    gcd_image_numbers_free(numbers);
    return sum;
}

/* Reads the dump of P[N] and its graph. */
static gcd_status read_graph(const uint8_t *p, size_t n, struct failalloc *f, struct gcd_error *err)
{
    struct gcd_input *in = NULL;
    struct gcd_dump *dump = NULL;
    struct gcd_graph *g = NULL;
    struct gcd_context context = { .alloc = &f->alloc };
    gcd_status st =
        gcd_input_from_memory(p, n, &(struct gcd_input_options){ .context = context }, &in, err);
    if (st == GCD_OK)
        st = gcd_dump_open(in, &(struct gcd_dump_options){ .context = context }, &dump, err);
    if (st == GCD_OK)
        st = gcd_graph_from_dump(dump, &(struct gcd_graph_options){ .context = context }, &g, err);
    gcd_graph_free(g);
    gcd_dump_free(dump);
    gcd_input_free(in);
    return st;
}

static void show(FILE *to, unsigned number)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_input *in = NULL;
    struct gcd_dump *dump = NULL;
    struct gcd_graph *g = NULL;
    struct failalloc f;
    struct run r;
    failalloc_init(&f);
    run_trace(hurt, whole_bytes,
              &(struct run_options){ .alloc = &f.alloc, .input = true, .no_gclog = true }, &r);
    assert_null(run_check(&r));
    fprintf(to, "%u: %s %016" PRIx64, number, gcd_status_name(r.st),
            digest(0, r.text, strlen(r.text)));
    if (r.st != GCD_OK)
        fprintf(to, " %s", r.err.msg);
    for (size_t i = 0; r.st == GCD_OK && !r.verdict.complete && i < r.verdict.reason_count; i++)
        fprintf(to, "; %s", r.verdict.reasons[i].text);
    bool ok = r.st == GCD_OK;
    run_done(&r);
    struct gcd_context context = { .alloc = &f.alloc };
    if (ok &&
        gcd_input_from_memory(hurt, whole_bytes, &(struct gcd_input_options){ .context = context },
                              &in, &err) == GCD_OK &&
        gcd_dump_open(in, &(struct gcd_dump_options){ .context = context }, &dump, &err) ==
            GCD_OK &&
        gcd_graph_from_dump(dump, &(struct gcd_graph_options){ .context = context }, &g, &err) ==
            GCD_OK)
        fprintf(to, ", fields %016" PRIx64, fields(in, g, &f.alloc));
    fprintf(to, "\n");
    gcd_graph_free(g);
    gcd_dump_free(dump);
    gcd_input_free(in);
    assert_null(failalloc_complaint(&f));
    assert_true(f.peak_bytes < MEMORY_BYTES);
}

static void test_damage(void **state)
{
    (void)state;
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    assert_non_null(to);
    for (unsigned i = 0; i < CASES; i += (unsigned)sweep_stride()) {
        damage_all(i);
        show(to, i);
    }
    assert_int_equal(fclose(to), 0);
    if (sweep_stride() == 1)
        expect_file("damaged_core.txt", text);
    free(text);
}

static void test_allocations(void **state)
{
    (void)state;
    struct failalloc f;
    struct gcd_error err = GCD_ERROR_INIT;
    failalloc_init(&f);
    assert_int_equal(read_graph(whole, whole_bytes, &f, &err), GCD_OK);
    uint64_t calls = f.calls;
    for (uint64_t i = 0; i < ALLOCATIONS; i += sweep_stride()) {
        err = (struct gcd_error)GCD_ERROR_INIT;
        failalloc_init(&f);
        f.fail_at = 1 + calls * i / ALLOCATIONS;
        gcd_status st = read_graph(whole, whole_bytes, &f, &err);
        const char *wrong = sweep_check_outcome(st, &err, SWEEP_CAN_DO_WITHOUT, &f);
        if (wrong != NULL)
            fail_msg("allocation %" PRIu64 " of %" PRIu64 ": %s; %s %s", f.fail_at, calls, wrong,
                     gcd_status_name(st), err.msg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
