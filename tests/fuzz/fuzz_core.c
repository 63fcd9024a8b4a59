/*
 * A core file with damage anywhere: the one of traces/net10-core, to which the input is a list of
 * changes.  The core itself is too large for a fuzzer to change.
 *
 * Results are consistent; memory is bounded; no leak.  Reading is bounded by the watch of the
 * driver.
 */
#include <string.h>
#include <zlib.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/async_values.h>
#include <gcdumpc/unstable/image_numbers.h>

#include "fuzz/fuzz.h"
#include "support/failalloc.h"
#include "support/run.h"

#define CORE_MAX   ((size_t)64 << 20)
#define PEAK_BYTES ((size_t)256 << 20)
/* A change: kind, place (4 bytes), value or source (4 bytes). */
#define CHANGE_BYTES 9u
#define CHANGES_MAX  256u

static const struct gcd_limits limits = {
    .block_bytes = 1 << 20, .types = 20000, .roots = 200000, .text_bytes = 16 << 20
};

static uint8_t *core, *changed;
static size_t core_bytes;

static void load_core(void)
{
    gzFile f = gzopen(FUZZ_CORE, "rb");
    core = malloc(CORE_MAX);
    changed = malloc(CORE_MAX);
    if (f == NULL || core == NULL || changed == NULL)
        abort();
    int n = gzread(f, core, (unsigned)CORE_MAX);
    if (n <= 0)
        abort();
    core_bytes = (size_t)n;
    (void)gzclose(f);
}

static uint32_t number(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The first 64 KiB have the headers and notes, and are changed as often as all the rest. */
static size_t place_of(uint32_t n, size_t bytes)
{
    size_t range = (n & 1) != 0 ? 65536 : core_bytes - bytes;
    return (n >> 1) % range;
}

static void apply(const uint8_t *p)
{
    size_t at = place_of(number(p + 1), 8), from = place_of(number(p + 5), 8);
    if (p[0] % 4 == 0) /* a word of another place: mostly a pointer */
        memmove(changed + at, core + from, 8);
    else if (p[0] % 4 == 1)
        memset(changed + at, p[5], 8);
    else if (p[0] % 4 == 2)
        changed[at] = p[5];
    else
        changed[at] ^= (uint8_t)(1u << p[5] % 8);
}

/* All fields of an object, and its value if it is a boxed one. */
static void ask_fields(struct gcd_image_numbers *n, uint64_t address)
{
    struct gcd_number x;
    char buf[GCD_NUMBER_BYTES];
    uint32_t count = gcd_image_field_count(n, address);
    for (uint32_t i = 0; i < count; i++) {
        struct gcd_image_field f = gcd_image_field(n, address, i);
        if (f.known && f.number.name == NULL &&
            strlen(gcd_number_text(&f.number, buf)) >= GCD_NUMBER_BYTES)
            fuzz_fail("a value has a text", f.name);
    }
    struct gcd_image_call calls[8];
    size_t called = gcd_image_calls(n, address, calls, 8); /* any array may be a stack trace */
    for (size_t i = 0; i < called; i++)
        if (calls[i].name[0] == '\0' && !calls[i].framework)
            fuzz_fail("a method that is unknown is not the program's", "see gcd_image_calls");
    if (gcd_image_boxed(n, address, &x) == GCD_OK && gcd_number_text(&x, buf) == NULL)
        fuzz_fail("a boxed value has a text", "see gcd_number_text");
}

/* Numbers of all objects, as far as the first ones of a type have them. */
static void ask_numbers(size_t bytes)
{
    static const char *const fields[] = { "_count", "X", "m_config", "value__" };
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_input *in;
    struct gcd_dump *dump = NULL;
    struct gcd_graph *g = NULL;
    struct failalloc f;
    failalloc_init(&f);
    struct gcd_dump_options options = { .context = { .alloc = &f.alloc, .limits = &limits } };
    struct gcd_graph_options of_graph = { .context = options.context };
    struct gcd_input_options of_input = { .context = options.context };
    if (gcd_input_from_memory(changed, bytes, &of_input, &in, &err) != GCD_OK)
        abort();
    if (gcd_dump_open(in, &options, &dump, &err) == GCD_OK &&
        gcd_graph_from_dump(dump, &of_graph, &g, &err) == GCD_OK)
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
            struct gcd_values_view view = { .memory = in };
            struct gcd_image_numbers *n = NULL;
            struct gcd_number x;
            char buf[GCD_NUMBER_BYTES];
            if (gcd_image_numbers_new(&view, fields[i], &f.alloc, &n, &err) != GCD_OK)
                continue;
            for (uint32_t node = 0; node < gcd_graph_node_count(g); node++)
                if (gcd_image_number(n, gcd_graph_node_address(g, node), &x) == GCD_OK &&
                    strlen(gcd_number_text(&x, buf)) > 65536)
                    fuzz_fail("a number has a text", "see gcd_number_text");
            for (uint32_t node = 0; node < gcd_graph_node_count(g) && i == 0; node++)
                ask_fields(n, gcd_graph_node_address(g, node));
            gcd_image_numbers_free(n);
        }
    struct gcd_async_values_of of_async = { .context = options.context, .view = { .memory = in } };
    struct gcd_async_values *v = NULL;
    if (g != NULL && gcd_async_values_new(g, &of_async, &v, &err) == GCD_OK)
        gcd_async_values_free(v);
    gcd_graph_free(g);
    gcd_dump_free(dump);
    gcd_input_free(in);
    if (failalloc_complaint(&f) != NULL)
        fuzz_fail("nothing leaks", failalloc_complaint(&f));
    if (f.peak_bytes > PEAK_BYTES)
        fuzz_fail("memory of numbers is bounded", "see peak_bytes");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (core == NULL)
        load_core();
    memcpy(changed, core, core_bytes);
    size_t bytes = core_bytes;
    for (size_t i = 0; i + CHANGE_BYTES <= size && i / CHANGE_BYTES < CHANGES_MAX;
         i += CHANGE_BYTES)
        apply(data + i);
    if (size >= 4 && data[0] % 16 == 15) /* cut */
        bytes = place_of(number(data + size - 4), 8);
    struct failalloc f;
    struct run a;
    failalloc_init(&f);
    struct run_options o = {
        .alloc = &f.alloc, .input = true, .limits = &limits, .no_gclog = true
    };
    run_trace(changed, bytes, &o, &a);
    const char *wrong = run_check(&a);
    if (wrong == NULL)
        wrong = failalloc_complaint(&f);
    if (wrong != NULL)
        fuzz_fail("a result holds together", wrong);
    if (f.peak_bytes > PEAK_BYTES)
        fuzz_fail("memory is bounded", "see peak_bytes");
    run_done(&a);
    if (size > 1 && data[1] % 8 == 0)
        ask_numbers(bytes);
    return 0;
}
