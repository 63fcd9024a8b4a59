#include <stdlib.h>

#include "base/mem.h"
#include "heap/heap.h"
#include "support/check.h"

static uint32_t budget = HEAP_ADDR_PAGES;

static void small_heaps_are_exact(void **state)
{
    (void)state;
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    struct heap_addrs *s = heap_addrs_new(&a, 8, &budget);
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
    struct heap_addrs *s = heap_addrs_new(&a, 4, &budget);
    assert_true(heap_addrs_add(s, &a, 0x1004));
    assert_true(heap_addrs_has(s, 0x1004));
    assert_false(heap_addrs_has(s, 0x1000));
    assert_false(heap_addrs_has(s, 0x1008));
    heap_addrs_free(s, &a);
}

/* More addresses than the pages can tell apart: no object may be denied, and the answer must not
 * claim to be exact. */
static void large_heaps_never_deny_an_object(void **state)
{
    (void)state;
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    struct heap_addrs *s = heap_addrs_new(&a, 8, &budget);
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

/* Without a page every address may be an object; released memory can be used again. */
static void without_pages_nothing_is_denied(void **state)
{
    (void)state;
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    uint32_t none = 0, one = 1;
    struct heap_addrs *s = heap_addrs_new(&a, 8, &none);
    assert_true(heap_addrs_add(s, &a, 0x1000));
    assert_true(heap_addrs_has(s, 0x1000) && heap_addrs_has(s, 0x2000));
    assert_false(heap_addrs_exact(s));
    heap_addrs_free(s, &a);
    s = heap_addrs_new(&a, 8, &one);
    assert_true(heap_addrs_add(s, &a, 0x1000));
    assert_true(one == 0);
    assert_true(heap_addrs_add(s, &a, 0x70001000));
    assert_true(heap_addrs_has(s, 0x1000) && heap_addrs_has(s, 0x70001000));
    assert_false(heap_addrs_has(s, 0x2000));
    assert_false(heap_addrs_has(s, 0x50001000)); /* no object is in that MiB */
    heap_addrs_free(s, &a);
    assert_true(one == 1);
}

static void odd_addresses_cost_exactness(void **state)
{
    (void)state;
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    struct heap_addrs *s = heap_addrs_new(&a, 8, &budget);
    assert_true(heap_addrs_add(s, &a, 0x1003));
    assert_true(heap_addrs_has(s, 0x1003));
    assert_false(heap_addrs_exact(s));
    heap_addrs_free(s, &a);
}

/* A batch of any size counts the same as single look-ups. */
static void missing_counts_are_exact(void **state)
{
    (void)state;
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    struct heap_addrs *s = heap_addrs_new(&a, 8, &budget);
    uint64_t addresses[200];
    for (uint64_t i = 0; i < 200; i++) {
        addresses[i] = (i % 5 == 0 ? 0x7f0000000000 : 0x1000) + 24 * i;
        if (i % 3 != 0)
            assert_true(heap_addrs_add(s, &a, addresses[i]));
    }
    uint64_t missing = 0;
    for (size_t n = 0; n <= 200; n++) {
        assert_true(heap_addrs_missing(s, addresses, n) == missing);
        missing += n % 3 == 0;
    }
    heap_addrs_free(s, &a);
    uint32_t none = 0;
    s = heap_addrs_new(&a, 8, &none);
    assert_true(heap_addrs_add(s, &a, 0x1000));
    assert_true(heap_addrs_missing(s, addresses, 200) == 0); /* unknown */
    heap_addrs_free(s, &a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_heaps_are_exact),
        cmocka_unit_test(pointers_of_four_bytes),
        cmocka_unit_test(large_heaps_never_deny_an_object),
        cmocka_unit_test(odd_addresses_cost_exactness),
        cmocka_unit_test(without_pages_nothing_is_denied),
        cmocka_unit_test(missing_counts_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
