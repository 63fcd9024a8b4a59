/*
 * What has grown outside the managed heap between two dumps: it comes first if it is more than what
 * the heap has got.
 */
#include "answer/answer_older.h"

#include <stdio.h>

#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/suspect_checks.h>
#include <gcdumpc/unstable/text/plural.h>

#include "base/short_name.h"

/* The runtime's own memory varies by less, */
#define LEAST_BYTES (UINT64_C(4) << 20)
/* and by such a part of what it was. */
#define LEAST_PART 20u

/* Memory for files, sorting and the like, which libraries keep, varies by such a part of all: where
 * nothing that can own native memory has become more, less is no sign of a leak. */
#define LEAST_PART_OF_ALL 32u

/* What the runtime keeps of the buffers of the first recording is less: of 17 programs one kept 5.8
 * MiB, the others at most 1.1 MiB.  Memory is measured before a dump, so that comes between it and
 * the second one. */
#define FIRST_BYTES (UINT64_C(8) << 20)

static uint64_t least_bytes(const struct answer_older *o)
{
    bool is_first =
        answer_older_unobserved(o) && o->heap_bytes[1] - o->own_bytes[1] >= ANSWER_GROWN_BYTES;
    return is_first ? FIRST_BYTES : LEAST_BYTES;
}

static uint64_t grown(const uint64_t bytes[2])
{
    return bytes[1] > bytes[0] ? bytes[1] - bytes[0] : 0;
}

/* Adds of which objects that can own native memory there are more, "; FrameHandle objects, which
 * have a finalizer, went from 154 to 187"; returns of how many types. */
static size_t put_owners(struct answer_older *o, const struct gcd_session *newer,
                         const struct gcd_origins *origins, size_t n)
{
    const struct gcd_graph *g = gcd_session_graph(newer);
    char step[GCD_ASYNC_STEP_BYTES];
    uint32_t owners[GCD_NATIVE_OWNERS];
    size_t count = gcd_native_owners(g, origins, owners), said = 0;
    for (size_t i = 0; i < count && n < sizeof o->outside; i++) {
        const char *name = gcd_names_plain(gcd_session_names(newer), owners[i]);
        const struct gcd_diff_row *row = answer_type_row(o->types, name);
        if (row == NULL || row->sums[1].objects <= row->sums[0].objects)
            continue;
        const char *said_of =
            gcd_short_name(name, gcd_graph_summary(g)->types[owners[i]].name, step, sizeof step);
        n += (size_t)snprintf(o->outside + n, sizeof o->outside - n,
                              "%s%.400s objects%s went from %s to %s", said == 0 ? "; " : ", ",
                              said_of, said == 0 ? ", which have a finalizer," : "",
                              GCD_DIGITS(row->sums[0].objects), GCD_DIGITS(row->sums[1].objects));
        said++;
    }
    if (n < sizeof o->outside)
        (void)snprintf(o->outside + n, sizeof o->outside - n, ".");
    return said;
}

void answer_older_outside(struct answer_older *o, const struct gcd_session *newer,
                          const struct gcd_origins *origins)
{
    char more[GCD_TEXT_SIZE_BYTES], was[GCD_TEXT_SIZE_BYTES], is[GCD_TEXT_SIZE_BYTES];
    uint64_t by;
    o->native_bytes[1] = answer_older_native(newer);
    if (o->native_bytes[0] == UINT64_MAX || o->native_bytes[1] == UINT64_MAX)
        return;
    by = grown(o->native_bytes);
    if (by < least_bytes(o) || by < o->native_bytes[0] / LEAST_PART || by <= grown(o->own_bytes))
        return;
    int n = snprintf(o->outside, sizeof o->outside,
                     "Most has come outside the managed heap: +%s native or unknown, %s -> %s",
                     gcd_text_size(by, more), gcd_text_size(o->native_bytes[0], was),
                     gcd_text_size(o->native_bytes[1], is));
    uint64_t all = gcd_graph_summary(gcd_session_graph(newer))->memory.resident_bytes;
    if (put_owners(o, newer, origins, n > 0 ? (size_t)n : 0) == 0 && by < all / LEAST_PART_OF_ALL)
        o->outside[0] = '\0';
}
