/*
 * A counter event from a hostile process: the result is 0, or a size that the bytes of the event
 * can mean.
 */
#include <string.h>

#include "fuzz/fuzz.h"
#include "live/counter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    uint8_t *exact = malloc(n + (n == 0)); /* a read past the end is detected */
    if (exact == NULL)
        abort();
    if (n > 0)
        memcpy(exact, data, n);
    uint64_t bytes = live_counter_heap(exact, n);
    if (bytes >= UINT64_C(1000000000000000))
        fuzz_fail("the size of a heap is believable", "too large");
    if (bytes > 0 &&
        (n < 26 + 2 + 8 || memcmp(exact, "g\0c\0-\0h\0e\0a\0p\0-\0s\0i\0z\0e\0\0", 26) != 0))
        fuzz_fail("the size of a heap comes from its counter", "another one");
    free(exact);
    return 0;
}
