/*
 * How long a dump is expected to pause the process.  It depends on the number of objects, which is
 * unknown before the first dump: small objects take longer than the size of the heap suggests,
 * large arrays almost no time.
 */
#include "job/job.h"
#include "live/live.h"

#ifdef GCDUMPC_HAVE_IPC

/* The pause of a smaller process is mostly overhead, which does not grow with memory. */
#define LEAST_KNOWN_RSS 1000000u

static uint64_t mebibytes(uint64_t bytes)
{
    return bytes / (UINT64_C(1) << 20) + (bytes % (UINT64_C(1) << 20) >= UINT64_C(1) << 19);
}

static bool is_known(const struct run_state *last)
{
    return last->pause_ns != 0 && last->rss_bytes >= LEAST_KNOWN_RSS;
}

/* N, scaled from the last dump to the memory that the process has now. */
static double scaled(uint64_t n, const struct job_dump *d, const struct run_state *last)
{
    return (double)n * (double)d->rss_bytes / (double)last->rss_bytes;
}

struct job_pause job_expected_pause(const struct job_dump *d, const struct run_state *last,
                                    uint64_t heap_most_bytes)
{
    if (is_known(last)) {
        uint64_t ms = (uint64_t)scaled(last->pause_ns, d, last) / 1000000;
        return (struct job_pause){ .ms = ms, .most_ms = ms, .basis = JOB_BY_LAST_DUMP };
    }
    uint64_t mib = mebibytes(heap_most_bytes != 0 ? heap_most_bytes : d->rss_bytes);
    return (struct job_pause){ .ms = mib * LIVE_PAUSE_US_PER_MIB / 1000,
                               .most_ms = mib * LIVE_PAUSE_MOST_US_PER_MIB / 1000,
                               .basis = heap_most_bytes != 0 ? JOB_BY_HEAP : JOB_BY_MEMORY };
}

const char *job_basis_text(enum job_basis basis)
{
    static const char *const texts[] = { "by its memory and the last dump",
                                         "by its heap, 2 ms for each MiB",
                                         "by its memory, 2 ms for each MiB" };
    return texts[basis];
}

uint64_t job_expected_stream(const struct job_dump *d, const struct run_state *last)
{
    double n = is_known(last) ? scaled(last->stream_bytes, d, last) : 0;
    return n < 9e18 ? (uint64_t)n : 0;
}

#endif
