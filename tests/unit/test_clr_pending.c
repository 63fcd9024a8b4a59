/*
 * The numbers of marks with objects to visit: the set gives each one once, the group at hand first,
 * whatever is added meanwhile.
 */
#include "support/check.h"

#include <string.h>

#include "image/clr/clr_pending.h"

#define MOST 600000u /* more than three levels */

static bool is_in[MOST];

static size_t expected(size_t n, size_t at)
{
    for (size_t i = at / CLR_PENDING_GROUP * CLR_PENDING_GROUP; i < n; i++)
        if (is_in[i])
            return i;
    for (size_t i = 0; i < n; i++)
        if (is_in[i])
            return i;
    return SIZE_MAX;
}

static void one_size(size_t n, uint64_t seed)
{
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    struct clr_pending p;
    size_t at = 0, count = 0;
    assert_true(clr_pending_init(&p, n, &a));
    assert_false(clr_pending_take(&p, &at));
    memset(is_in, 0, sizeof is_in);
    for (unsigned step = 0; step < 3000; step++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        size_t i = (size_t)(seed >> 33) % n;
        if ((seed >> 20 & 3) != 0 && step < 2000) { /* then all are taken */
            i = (seed >> 22 & 3) == 0 ? n - 1 - i / 64 : i;
            clr_pending_add(&p, i);
            count += !is_in[i];
            is_in[i] = true;
            continue;
        }
        size_t wanted = expected(n, at);
        bool taken = clr_pending_take(&p, &at);
        assert_int_equal(taken, wanted != SIZE_MAX);
        if (taken) {
            assert_int_equal(at, wanted);
            is_in[at] = false;
            count--;
        }
    }
    while (clr_pending_take(&p, &at))
        count--;
    assert_int_equal(count, 0);
    assert_int_equal(clr_pending_from(&p, 0), SIZE_MAX);
    clr_pending_done(&p, &a);
}

static void test_order(void **state)
{
    static const size_t sizes[] = { 1, 2, 63, 64, 65, 4095, 4096, 4097, 262143, 262144, MOST };
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        one_size(sizes[i], 4711 + i);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_order) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
