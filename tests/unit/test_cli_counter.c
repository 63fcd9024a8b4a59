/* The counter of the managed heap, as a process sends it, and as a hostile one may. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "live/counter.h"
#include "support/check.h"

static uint8_t event[400];
static size_t length;

static void add_text(const char *text)
{
    for (size_t i = 0; i <= strlen(text); i++) {
        event[length++] = (uint8_t)text[i];
        event[length++] = 0;
    }
}

static void add_value(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (unsigned i = 0; i < sizeof bits; i++)
        event[length++] = (uint8_t)(bits >> 8 * i);
}

/* N bytes of the event in memory of exactly that size. */
static uint64_t read_first(size_t n)
{
    uint8_t *p = malloc(n + (n == 0));
    assert_non_null(p);
    memcpy(p, event, n);
    uint64_t bytes = live_counter_heap(p, n);
    free(p);
    return bytes;
}

static uint64_t read_event(const char *name, const char *title, double value)
{
    length = 0;
    add_text(name);
    add_text(title);
    add_value(value);
    add_text("MB"); /* more fields follow */
    return read_first(length);
}

static void a_counter(void **state)
{
    (void)state;
    assert_int_equal(read_event("gc-heap-size", "GC Heap Size", 12.5), 12500000);
    assert_int_equal(read_event("gc-heap-size", "", 0.000001), 1);
    /* rounded, as its decimal fractions are none of a double */
    assert_int_equal(read_event("gc-heap-size", "", 0.0000019), 2);
    assert_int_equal(read_event("gc-heap-size", "x", 999999999), UINT64_C(999999999000000));
}

static void other_counters(void **state)
{
    (void)state;
    static const char *const names[] = { "gc-heap-siz",  "gc-heap-sizes", "gc-heap-size2", "",
                                         "Gc-heap-size", "working-set" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(read_event(names[i], "GC Heap Size", 12.5), 0);
    assert_int_equal(read_event("gc-heap-size", "GC Heap Size", 12.5), 12500000);
    event[1] = 1; /* another letter with the same low byte */
    assert_int_equal(read_first(length), 0);
}

static void odd_values(void **state)
{
    (void)state;
    static const double values[] = { 0, -0.0, -1, 1e9, 1e300, 1e-300, INFINITY, -INFINITY, NAN };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_int_equal(read_event("gc-heap-size", "GC Heap Size", values[i]), 0);
}

/* It may end anywhere; the value is there only when all its bytes are. */
static void cut(void **state)
{
    (void)state;
    (void)read_event("gc-heap-size", "GC", 12.5);
    size_t whole = 26 + 6 + 8;
    for (size_t n = 0; n <= length; n++)
        assert_int_equal(read_first(n), n < whole ? 0 : 12500000);
    assert_int_equal(live_counter_heap(NULL, 0), 0);
}

/* Texts without an end, and ends at odd places. */
static void texts_without_end(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        memset(event, byte, sizeof event);
        for (size_t n = 0; n < sizeof event; n += 13)
            assert_int_equal(read_first(n), 0);
    }
    length = 0;
    add_text("gc-heap-size");
    memset(event + length, 'x', sizeof event - length);
    assert_int_equal(read_first(sizeof event), 0);
    event[length + 1] = event[length + 2] = 0; /* two zeros, but of two letters */
    assert_int_equal(read_first(sizeof event), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counter),         cmocka_unit_test(other_counters),
        cmocka_unit_test(odd_values),        cmocka_unit_test(cut),
        cmocka_unit_test(texts_without_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
