#include "live/counter.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define COUNTER "gc-heap-size"
/* The counter is in megabytes of 1,000,000 bytes (.NET Core 3 to 10). */
#define COUNTER_UNIT 1e6
#define COUNTER_MOST 1e9

/* The length of the UTF-16LE text at the beginning of P[N], with its two terminating zeros; 0 = it
 * has no end. */
static size_t text_end(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i + 1 < n; i += 2)
        if (p[i] == 0 && p[i + 1] == 0)
            return i + 2;
    return 0;
}

/* Is the text at P equal to WANTED?  N: its bytes with the terminating zeros. */
static bool is_text(const uint8_t *p, size_t n, const char *wanted)
{
    bool same = n == 2 * (strlen(wanted) + 1);
    for (size_t i = 0; same && wanted[i] != '\0'; i++)
        same = p[2 * i] == (uint8_t)wanted[i] && p[2 * i + 1] == 0;
    return same;
}

/* The event begins with the name of the counter, its title and its value, an IEEE double. */
uint64_t live_counter_heap(const uint8_t *payload, size_t n)
{
    uint64_t bits = 0;
    double value;
    size_t name = n > 0 ? text_end(payload, n) : 0;
    if (name == 0 || !is_text(payload, name, COUNTER))
        return 0;
    size_t title = text_end(payload + name, n - name), at = name + title;
    if (title == 0 || n - at < sizeof value)
        return 0;
    for (unsigned i = 0; i < sizeof bits; i++)
        bits |= (uint64_t)payload[at + i] << 8 * i;
    memcpy(&value, &bits, sizeof value);
    return isfinite(value) && value > 0 && value < COUNTER_MOST
               ? (uint64_t)(value * COUNTER_UNIT + 0.5)
               : 0;
}
