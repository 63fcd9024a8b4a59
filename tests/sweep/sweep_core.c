/*
 * Core files with damaged pointers, numbers and headers, and with failing allocations: what is read
 * of each is compared with a file, so that no check of the memory can be dropped unnoticed.
 */
#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/async_values.h>
#include <gcdumpc/unstable/image.h>
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

static bool begin(void)
{
    whole = run_load(GCDUMPC_SOURCE "/traces/net10-core/heap.core.gz", &whole_bytes);
    hurt = malloc(whole_bytes);
    places = malloc(whole_bytes / 8 * sizeof *places);
    if (hurt == NULL || places == NULL)
        return false;
    for (size_t at = 0; at + 8 <= whole_bytes; at += 8)
        if (word_at(at) != 0 && (word_at(at) < 0x10000 || is_pointer(word_at(at))))
            places[place_count++] = at;
    return place_count > 0;
}

static void end(void)
{
    free(whole);
    free(hurt);
    free(places);
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
    struct gcd_values_view view = { .memory = in };
    struct gcd_image_numbers *numbers = NULL;
    struct gcd_number boxed;
    uint64_t sum = 0;
    char buf[GCD_NUMBER_BYTES];
    if (gcd_image_numbers_new(&view, NULL, a, &numbers, NULL) != GCD_OK)
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
        struct gcd_image_elements all = { .count = 0 };
        if (gcd_image_elements(numbers, address, &all))
            for (uint32_t i = 0; i < all.fields; i++) {
                struct gcd_image_field f = gcd_image_element(numbers, address, all.count / 2, i);
                sum = digest(digest(sum, f.name, strlen(f.name)), &f.known, 1);
            }
        if (gcd_image_boxed(numbers, address, &boxed) == GCD_OK)
            sum = digest(sum, &boxed.bits, 8);
        sum += gcd_image_hash_code(numbers, address);
    }
    gcd_image_numbers_free(numbers);
    return sum;
}

/* All tasks, timers and requests are objects. */
static void check_async_values(struct gcd_input *in, const struct gcd_graph *g,
                               const struct gcd_alloc *a)
{
    struct gcd_async_values_of of = { .context = { .alloc = a }, .view = { .memory = in } };
    struct gcd_async_values *v = NULL;
    uint64_t sum = 0;
    size_t timers, requests;
    assert_int_equal(gcd_async_values_new(g, &of, &v, NULL), GCD_OK);
    for (unsigned i = 0; i < GCD_TASK_STATES; i++)
        sum += gcd_async_tasks(v)[i].count;
    (void)gcd_async_timers(v, &timers);
    (void)gcd_async_requests(v, &requests);
    assert_true(sum + timers + requests <= gcd_graph_node_count(g));
    gcd_async_values_free(v);
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
    const struct gcd_image_options mapped = { .map = true }; /* the run before reads pages */
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
        gcd_input_set_image(in, &mapped, &err) == GCD_OK &&
        gcd_dump_open(in, &(struct gcd_dump_options){ .context = context }, &dump, &err) ==
            GCD_OK &&
        gcd_graph_from_dump(dump, &(struct gcd_graph_options){ .context = context }, &g, &err) ==
            GCD_OK) {
        fprintf(to, ", fields %016" PRIx64, fields(in, g, &f.alloc));
        check_async_values(in, g, &f.alloc);
    }
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

/* ---- stack traces of exceptions ---- */

/* A trace, as in image_numbers.c. */
#define LENGTH      8u /* of an array, behind its method table */
#define DATA        16u
#define HEAD        16u
#define CALL        32u
#define METHOD      16u
#define CALLS       32u
#define CALLS_MAX   8192u
#define TRACE_CASES 32u

/* An image that is open. */
struct opened {
    struct failalloc f;
    struct gcd_input *in;
    struct gcd_dump *dump;
    struct gcd_image_numbers *numbers; /* NULL: it cannot be read */
};

/* The sample has no exception that was thrown: an array of bytes becomes its trace.  ARRAY and
 * HOLDER, an array of objects, are addresses. */
static uint64_t array, holder;
static uint64_t *methods; /* [method_count] MethodDescs of the sample that have a name */
static size_t method_count;
static struct gcd_image_call calls[CALLS_MAX];

static uint8_t *byte_at(uint64_t address)
{
    uint64_t headers = word_at(32), start, at, bytes;
    uint16_t n;
    memcpy(&n, whole + 56, 2);
    for (uint16_t i = 0; i < n; i++) {
        memcpy(&at, whole + headers + 56u * i + 8, 8);
        memcpy(&start, whole + headers + 56u * i + 16, 8);
        memcpy(&bytes, whole + headers + 56u * i + 32, 8);
        if (start != 0 && address >= start && address - start < bytes)
            return hurt + at + (address - start);
    }
    fail_msg("the sample has no memory at %" PRIx64, address);
    return NULL;
}

static void put32(uint64_t address, uint32_t v)
{
    memcpy(byte_at(address), &v, 4);
}

static void put64(uint64_t address, uint64_t v)
{
    memcpy(byte_at(address), &v, 8);
}

static void open_hurt(struct opened *o)
{
    *o = (struct opened){ .in = NULL };
    failalloc_init(&o->f);
    struct gcd_context context = { .alloc = &o->f.alloc };
    if (gcd_input_from_memory(hurt, whole_bytes, &(struct gcd_input_options){ .context = context },
                              &o->in, NULL) == GCD_OK &&
        gcd_dump_open(o->in, &(struct gcd_dump_options){ .context = context }, &o->dump, NULL) ==
            GCD_OK)
        (void)!gcd_image_numbers_new(&(struct gcd_values_view){ .memory = o->in }, NULL,
                                     &o->f.alloc, &o->numbers, NULL);
}

static void close_hurt(struct opened *o)
{
    gcd_image_numbers_free(o->numbers);
    gcd_dump_free(o->dump);
    gcd_input_free(o->in);
    assert_null(failalloc_complaint(&o->f));
    assert_true(o->f.peak_bytes < MEMORY_BYTES);
}

/* A trace of METHODS[N] in the array. */
static void put_trace(const uint64_t *items, size_t n)
{
    memcpy(hurt, whole, whole_bytes);
    put64(array + DATA, n);
    for (size_t i = 0; i < n; i++)
        put64(array + DATA + HEAD + CALL * i + METHOD, items[i]);
}

static int compare_words(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, 8);
    memcpy(&y, b, 8);
    return x < y ? -1 : x > y;
}

static void find_arrays(void)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct opened o;
    struct gcd_graph *g = NULL;
    uint64_t most = 0;
    memcpy(hurt, whole, whole_bytes);
    open_hurt(&o);
    assert_int_equal(gcd_graph_from_dump(o.dump, NULL, &g, &err), GCD_OK);
    for (uint32_t i = 0; i < gcd_graph_node_count(g); i++) {
        const char *type = gcd_graph_summary(g)->types[gcd_graph_node_type(g, i)].name;
        uint64_t bytes = gcd_graph_node_size(g, i);
        if (strcmp(type, "System.Byte[]") == 0 && bytes > most) {
            most = bytes;
            array = gcd_graph_node_address(g, i);
        }
        if (strcmp(type, "System.Object[]") == 0 && bytes > DATA + 8)
            holder = gcd_graph_node_address(g, i);
    }
    gcd_graph_free(g);
    close_hurt(&o);
    assert_true(most >= DATA + HEAD + (uint64_t)CALL * 1024 && holder != 0);
}

/* What names METHODS[N] get; keeps those with a name. */
static size_t keep_named(uint64_t *items, size_t n)
{
    struct opened o;
    size_t kept = 0;
    put_trace(items, n);
    open_hurt(&o);
    assert_int_equal(gcd_image_calls(o.numbers, array, calls, CALLS_MAX), n);
    for (size_t i = 0; i < n; i++)
        if (calls[i].name[0] != '\0')
            items[kept++] = items[i];
    close_hurt(&o);
    return kept;
}

static int find_methods(void **state)
{
    (void)state;
    size_t n = 0;
    find_arrays();
    memcpy(hurt, whole, whole_bytes);
    uint32_t length;
    memcpy(&length, byte_at(array + LENGTH), 4);
    size_t fits = (length - HEAD) / CALL < CALLS_MAX ? (length - HEAD) / CALL : CALLS_MAX;
    methods = malloc(whole_bytes / 4 * sizeof *methods);
    assert_non_null(methods);
    /* the segments lie at multiples of 4 of the file */
    for (size_t at = 0; at + 8 <= whole_bytes; at += 4)
        if (word_at(at) % 8 == 0 && is_pointer(word_at(at)))
            methods[n++] = word_at(at);
    qsort(methods, n, sizeof *methods, compare_words);
    size_t different = 0;
    for (size_t i = 0; i < n; i++)
        if (different == 0 || methods[different - 1] != methods[i])
            methods[different++] = methods[i];
    for (size_t i = 0; i < different; i += fits) {
        size_t part = different - i < fits ? different - i : fits;
        memmove(methods + method_count, methods + i, part * sizeof *methods);
        method_count += keep_named(methods + method_count, part);
    }
    return method_count < 1000;
}

static int free_methods(void **state)
{
    (void)state;
    free(methods);
    return 0;
}

/* CALLS methods of all parts of the sample. */
static const uint64_t *some_methods(void)
{
    static uint64_t some[CALLS];
    for (size_t i = 0; i < CALLS; i++)
        some[i] = methods[i * method_count / CALLS];
    return some;
}

static size_t count_calls(uint64_t address, size_t max)
{
    struct opened o;
    open_hurt(&o);
    assert_non_null(o.numbers);
    size_t n = gcd_image_calls(o.numbers, address, calls, max);
    close_hurt(&o);
    return n;
}

static void test_traces_that_say_wrong_lengths(void **state)
{
    (void)state;
    static const struct {
        uint32_t length, count;
        size_t ret;
    } rows[] = {
        { HEAD + CALL * CALLS, CALLS, CALLS },
        { HEAD + CALL * CALLS, CALLS + 1, 0 },
        { HEAD + CALL * CALLS - 1, CALLS, 0 },
        { HEAD + CALL * CALLS, UINT32_MAX, 0 },
        { HEAD + CALL, 1, 1 },
        { HEAD, 0, 0 },
        { HEAD, 1, 0 },
        { HEAD - 1, 0, 0 },
        { 0, 1, 0 },
        { UINT32_MAX, UINT32_MAX, 0 },
        { UINT32_MAX, UINT32_MAX / CALL - 1, CALLS_MAX }, /* most are beyond the heap */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_trace(some_methods(), CALLS);
        put32(array + LENGTH, rows[i].length);
        put32(array + DATA, rows[i].count);
        size_t n = count_calls(array, CALLS_MAX);
        if (n != rows[i].ret)
            fail_msg("row %zu: %zu calls", i, n);
    }
    put_trace(some_methods(), CALLS);
    assert_int_equal(count_calls(array, 5), 5);
    assert_int_equal(count_calls(array, 0), 0);
}

static void test_traces_that_are_elsewhere(void **state)
{
    (void)state;
    static const uint64_t nowhere[] = { 0, 8, 0x10000, UINT64_MAX, UINT64_MAX - 7 };
    put_trace(some_methods(), CALLS);
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++)
        assert_int_equal(count_calls(nowhere[i], CALLS), 0);
    assert_int_equal(count_calls(array + 4, CALLS), 0);
    put64(holder + DATA, array); /* as from .NET 9 on */
    assert_int_equal(count_calls(holder, CALLS), CALLS);
    put32(holder + LENGTH, 0);
    assert_int_equal(count_calls(holder, CALLS), 0);
    put_trace(some_methods(), CALLS);
    const uint64_t wrong[] = { holder, 0, UINT64_MAX, holder + DATA };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        put64(holder + DATA, wrong[i]);
        assert_int_equal(count_calls(holder, CALLS), 0);
    }
}

/* Damages words around the methods of the trace: their MethodDesc, its chunk and their class. */
static void damage_methods(uint64_t seed)
{
    const uint64_t *some = some_methods();
    for (size_t i = 0; i < CALLS; i++) {
        uint64_t at = some[i] - 64 + 4 * (run_random(&seed) % 24), old;
        memcpy(&old, byte_at(at), 8);
        const uint64_t ways[] = { 0,          old + 8, old ^ 1,
                                  UINT64_MAX, old * 2, some[run_random(&seed) % CALLS] };
        put64(at, ways[run_random(&seed) % (sizeof ways / sizeof *ways)]);
    }
}

static void test_damaged_traces(void **state)
{
    (void)state;
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    assert_non_null(to);
    for (unsigned k = 0; k < TRACE_CASES; k += (unsigned)sweep_stride()) {
        struct opened o;
        uint64_t seed = k, sum = 0;
        size_t named = 0;
        put_trace(some_methods(), CALLS);
        if (k > 0)
            damage_methods(k);
        for (unsigned i = 0; i < 256 * (k % 4); i++)
            damage(&seed);
        open_hurt(&o);
        size_t count = o.numbers != NULL ? gcd_image_calls(o.numbers, array, calls, CALLS_MAX) : 0;
        for (size_t i = 0; i < count; i++) {
            sum = digest(digest(sum, calls[i].name, strlen(calls[i].name)), &calls[i].framework, 1);
            named += calls[i].name[0] != '\0';
            assert_true(calls[i].framework || calls[i].name[0] != '\0');
        }
        fprintf(to, "%u: %zu calls, %zu with a name, %016" PRIx64 "%s\n", k, count, named, sum,
                o.numbers != NULL ? "" : ", cannot be read");
        close_hurt(&o);
    }
    assert_int_equal(fclose(to), 0);
    if (sweep_stride() == 1)
        expect_file("damaged_traces.txt", text);
    free(text);
}

static void test_allocations(void **state)
{
    (void)state;
    struct failalloc f;
    struct gcd_error err = GCD_ERROR_INIT;
    failalloc_init(&f);
    assert_int_equal(read_graph(whole, whole_bytes, &f, &err), GCD_OK);
    uint64_t all = f.calls;
    for (uint64_t i = 0; i < ALLOCATIONS; i += sweep_stride()) {
        err = (struct gcd_error)GCD_ERROR_INIT;
        failalloc_init(&f);
        f.fail_at = 1 + all * i / ALLOCATIONS;
        gcd_status st = read_graph(whole, whole_bytes, &f, &err);
        const char *wrong = sweep_check_outcome(st, &err, SWEEP_CAN_DO_WITHOUT, &f);
        if (wrong != NULL)
            fail_msg("allocation %" PRIu64 " of %" PRIu64 ": %s; %s %s", f.fail_at, all, wrong,
                     gcd_status_name(st), err.msg);
    }
}

/* ---- states of tasks ---- */

/* The number of tasks in each state, as digits; RET_FIRST: the address of the first that waits. */
static const char *states_of(const struct opened *o, uint64_t *ret_first)
{
    static char text[GCD_TASK_STATES + 1];
    struct gcd_async_values_of of = { .view = { .memory = o->in } };
    struct gcd_async_values *v = NULL;
    struct gcd_graph *g = NULL;
    assert_int_equal(gcd_graph_from_dump(o->dump, NULL, &g, NULL), GCD_OK);
    assert_int_equal(gcd_async_values_new(g, &of, &v, NULL), GCD_OK);
    for (unsigned i = 0; i < GCD_TASK_STATES; i++)
        text[i] = (char)('0' + gcd_async_tasks(v)[i].count);
    uint32_t node = gcd_async_tasks(v)[GCD_TASK_WAITING].node;
    if (ret_first != NULL)
        *ret_first = gcd_graph_node_address(g, node);
    gcd_async_values_free(v);
    gcd_graph_free(g);
    return text;
}

static void test_states_of_tasks(void **state)
{
    (void)state;
    static const struct {
        uint32_t flags;
        const char *states; /* created, queued, running, waiting, completed, canceled, faulted */
    } rows[] = {
        { 0, "1001100" },         { 0x10000, "0101100" },    { 0x30000, "0011100" },
        { 0x2000400, "0002100" }, { 0x830000, "0002100" },   { 0x1030000, "0001200" },
        { 0x5030000, "0001200" }, { 0x430000, "0001110" },   { 0x230000, "0001101" },
        { 0x2200400, "0001101" }, { UINT32_MAX, "0001101" },
    };
    struct opened o;
    uint64_t task = 0;
    uint32_t at = 8, found;
    memcpy(hurt, whole, whole_bytes);
    open_hurt(&o);
    assert_string_equal(states_of(&o, &task), "0002100");
    close_hurt(&o);
    do { /* m_stateFlags: "waits for activation", and creation options */
        memcpy(&found, byte_at(task + at), 4);
        at += 4;
    } while ((found & 0xffff0000) != 0x2000000 && at < 80);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memcpy(hurt, whole, whole_bytes);
        put32(task + at - 4, rows[i].flags);
        open_hurt(&o);
        const char *states = states_of(&o, NULL);
        if (strcmp(states, rows[i].states) != 0)
            fail_msg("flags %08" PRIx32 ": %s", rows[i].flags, states);
        close_hurt(&o);
    }
}

static void test_each_allocation_for_values_of_tasks_can_fail(void **state)
{
    (void)state;
    struct opened o;
    struct gcd_graph *g = NULL;
    uint64_t failed = 1;
    memcpy(hurt, whole, whole_bytes);
    open_hurt(&o);
    assert_int_equal(gcd_graph_from_dump(o.dump, NULL, &g, NULL), GCD_OK);
    for (uint64_t at = 1; failed > 0; at++) {
        struct failalloc f;
        struct gcd_error err = GCD_ERROR_INIT;
        struct gcd_async_values *v = NULL;
        failalloc_init(&f);
        f.fail_at = at;
        struct gcd_async_values_of of = { .context = { .alloc = &f.alloc },
                                          .view = { .memory = o.in } };
        gcd_status st = gcd_async_values_new(g, &of, &v, &err);
        failed = f.failed;
        assert_true(st == GCD_OK || (failed > 0 && st == GCD_E_NOMEM));
        gcd_async_values_free(v);
        assert_null(failalloc_complaint(&f));
    }
    gcd_graph_free(g);
    close_hurt(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_allocations),
    };
    const struct CMUnitTest of_traces[] = {
        cmocka_unit_test(test_traces_that_say_wrong_lengths),
        cmocka_unit_test(test_traces_that_are_elsewhere),
        cmocka_unit_test(test_damaged_traces),
        cmocka_unit_test(test_states_of_tasks),
        cmocka_unit_test(test_each_allocation_for_values_of_tasks_can_fail),
    };
    if (!begin())
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL) +
                 cmocka_run_group_tests(of_traces, find_methods, free_methods);
    end();
    return failed;
}
