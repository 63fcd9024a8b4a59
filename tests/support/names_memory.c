#include "support/names_memory.h"

#include <gcdumpc/names.h>

#include "support/check.h"
#include "support/failalloc.h"

void check_names_memory(const struct gcd_summary *summary)
{
    struct failalloc f = { .failed = 1 };
    for (uint64_t at = 1; f.failed > 0; at++) {
        struct gcd_names *n = NULL;
        struct gcd_error err;
        failalloc_init(&f);
        f.fail_at = at;
        gcd_status st = gcd_names_new(summary, GCD_NAMES_CSHARP, &f.alloc, &n, &err);
        assert_int_equal(st, f.failed > 0 ? GCD_E_NOMEM : GCD_OK);
        assert_int_equal(n == NULL, f.failed > 0);
        gcd_names_free(n);
        assert_null(failalloc_complaint(&f));
        assert_true(at < 1000);
    }
}
