/*
 * A core file with damage anywhere: the one of traces/net10-core, to which the input is a list of
 * changes.  The core itself is too large for a fuzzer to change.
 *
 * Results are consistent; memory is bounded; no leak.  Reading is bounded by the watch of the
 * driver.
 */
#include <string.h>
#include <zlib.h>

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
    return 0;
}
