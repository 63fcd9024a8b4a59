/*
 * The managed heap compared with all other memory of the process: struct gcd_process_memory of the
 * summary.
 *
 * The figures are those of the operating system (Linux: /proc/PID/status and smaps, and the
 * cgroup), taken before the dump, when garbage is still in memory; so the ranges of the GC count
 * with everything in them, not only the objects.  Anonymous memory outside these ranges is native
 * or unknown: malloc, thread stacks, compiled code, other runtimes.
 */
#ifndef GCDUMPC_UNSTABLE_PROCESS_MEMORY_H
#define GCDUMPC_UNSTABLE_PROCESS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/dump.h>
#include <gcdumpc/status.h>
#include <gcdumpc/summary.h>

/* Look for native memory if the GC has less than this share of the resident memory, and at least
 * this many bytes are outside it; fewer suffice if nothing else is as much.  The runtime's own are
 * 2 to 13 MiB in small programs and web services. */
#define GCD_NATIVE_GC_PERCENT 50u
#define GCD_NATIVE_BYTES      (UINT64_C(100) << 20)
#define GCD_NATIVE_MOST_BYTES (UINT64_C(48) << 20)

/*
 * Puts M into the summary of D, which must be closed; gcd_recording_write keeps it.  Call it before
 * making graphs from D. GCD_E_STATE.
 */
GCD_MUST_CHECK gcd_status gcd_dump_set_process_memory(struct gcd_dump *d,
                                                      const struct gcd_process_memory *m,
                                                      struct gcd_error *err);

/* Anonymous memory outside the ranges of the GC; 0 unless M->gc_known. */
uint64_t gcd_native_bytes(const struct gcd_process_memory *m);
/* Is so much memory outside the GC that the heap does not explain the memory of the process? */
bool gcd_is_native(const struct gcd_process_memory *m);
/* Bytes that the GC uses in the ranges of S, and how many of them are free between objects; 0 if no
 * ranges are known. */
void gcd_range_bytes(const struct gcd_summary *s, uint64_t *ret_used, uint64_t *ret_free);

/* Where the memory of a process is; "resident" ones were measured before the dump. */
enum gcd_memory_part {
    GCD_MEMORY_ALIVE,  /* objects that roots reach */
    GCD_MEMORY_DEAD,   /* other objects of the dump; unknown: those that were collected for it */
    GCD_MEMORY_FREE,   /* between the objects */
    GCD_MEMORY_UNUSED, /* resident in the ranges of the GC besides: dead then, or committed */
    GCD_MEMORY_NATIVE, /* resident, private, and not of the GC: also threads' stacks */
    GCD_MEMORY_FILES,  /* resident, mapped from files */
    GCD_MEMORY_SHARED, /* resident, shared with other processes */
    GCD_MEMORY_PARTS
};
struct gcd_memory_size {
    bool known; /* all of it: else there may be more than BYTES */
    uint64_t bytes;
};
/* UNREACHABLE: bytes of the objects that no root reaches; UINT64_MAX = unknown. */
void gcd_memory_parts(const struct gcd_summary *s, uint64_t unreachable,
                      struct gcd_memory_size ret[GCD_MEMORY_PARTS]);
/* For people and for programs; static. */
const char *gcd_memory_part_title(enum gcd_memory_part part);
const char *gcd_memory_part_key(enum gcd_memory_part part);

/*
 * A sentence for people, without a full stop: "the GC heap is 120 MiB of 900 MiB resident: look for
 * native memory (650 MiB)".  Returns its length, or 0 if nothing is known.  Cut if it does not fit
 * into CAP bytes with its NUL.
 */
#define GCD_MEMORY_TEXT_BYTES 160
size_t gcd_process_memory_text(const struct gcd_process_memory *m, char *ret, size_t cap);

#endif
