#include <stdlib.h>

#include "base/mem.h"
#include "heap/heap.h"
#include "support/check.h"

static void small_heaps_are_exact(void **state)
{
    (void)state;
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    struct heap_addrs *s = heap_addrs_new(&a, 8);
    for (uint64_t i = 0; i < 100000; i++)
        assert_true(heap_addrs_add(s, &a, UINT64_C(0x7f0000000000) + i * 24));
    assert_true(heap_addrs_exact(s));
    for (uint64_t i = 0; i < 100000 * 24; i++)
        assert_true(heap_addrs_has(s, UINT64_C(0x7f0000000000) + i) == (i % 24 == 0));
    assert_false(heap_addrs_has(s, 0));
    assert_false(heap_addrs_has(s, UINT64_MAX));
    heap_addrs_free(s, &a);
}

static void pointers_of_four_bytes(void **state)
{
    (void)state;
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    struct heap_addrs *s = heap_addrs_new(&a, 4);
    assert_true(heap_addrs_add(s, &a, 0x1004));
    assert_true(heap_addrs_has(s, 0x1004));
    assert_false(heap_addrs_has(s, 0x1000));
    assert_false(heap_addrs_has(s, 0x1008));
    heap_addrs_free(s, &a);
}

/* More than the pages can hold apart: no object may be denied, and exactness must not be claimed. */
static void large_heaps_never_deny_an_object(void **state)
{
    (void)state;
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    struct heap_addrs *s = heap_addrs_new(&a, 8);
    for (uint64_t i = 0; i < 3000; i++)
        assert_true(heap_addrs_add(s, &a, (i << 20) + 8 * i));
    assert_false(heap_addrs_exact(s));
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < 3000; i++) {
        assert_true(heap_addrs_has(s, (i << 20) + 8 * i));
        wrong += heap_addrs_has(s, (i << 20) + 8 * i + 8);
    }
    assert_true(wrong < 300);
    heap_addrs_free(s, &a);
}

static void odd_addresses_cost_exactness(void **state)
{
    (void)state;
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    struct heap_addrs *s = heap_addrs_new(&a, 8);
    assert_true(heap_addrs_add(s, &a, 0x1003));
    assert_true(heap_addrs_has(s, 0x1003));
    assert_false(heap_addrs_exact(s));
    heap_addrs_free(s, &a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_heaps_are_exact), cmocka_unit_test(pointers_of_four_bytes),
        cmocka_unit_test(large_heaps_never_deny_an_object), cmocka_unit_test(odd_addresses_cost_exactness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
