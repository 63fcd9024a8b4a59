/*
 * One event of a trace of any container.
 */
#ifndef GCDUMPC_EVENT_H
#define GCDUMPC_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The providers a heap walk needs, identified by name or GUID. */
enum gcd_provider {
    GCD_PROVIDER_OTHER,
    GCD_PROVIDER_RUNTIME,   /* Microsoft-Windows-DotNETRuntime */
    GCD_PROVIDER_RUNDOWN,   /* Microsoft-Windows-DotNETRuntimeRundown */
    GCD_PROVIDER_EVENTPIPE, /* Microsoft-DotNETCore-EventPipe */
    GCD_PROVIDER_WINDOWS,   /* the Windows kernel: names of processes */
    /* gcdumpc: names from the files of modules, added to a recording (unstable/recording.h) */
    GCD_PROVIDER_NAMES
};

/* A misplaced event: its number or time goes back, or a new thread has taken over its thread id
 * since the previous event. */
#define GCD_GAP_DISORDER UINT32_MAX

struct gcd_event {
    enum gcd_provider provider;
    uint32_t id, version;
    uint32_t gap; /* events of this thread missing right before it, or GCD_GAP_DISORDER; always 0 in
                     formats without event numbers */
    const char *provider_name; /* UTF-8; lives as long as the trace */
    uint64_t process;          /* process id as the target sees it */
    /* the thread that wrote it; order and sequence numbers hold per thread */
    uint64_t thread;
    int64_t time_ns;        /* since the start of the trace; can be slightly negative */
    unsigned ptr_bytes;     /* 4 or 8 */
    const uint8_t *payload; /* valid until the next event */
    size_t payload_bytes;
    uint64_t keywords; /* in the description of the event; 0 = none or not known */
    uint64_t off; /* of the payload in the uncompressed trace; in an .etl, the event's rank by time.
                     Rises from event to event and is the same in every reading */
    /* nettrace: sequence points before it: all events of an epoch are older than those of the next
     */
    uint32_t epoch;
    /* addresses of PTR_BYTES, the leaf first, little-endian and not aligned; valid until the next
     * event.  NULL: none, or gcd_trace_keep_stacks was not called */
    const uint8_t *stack;
    size_t stack_bytes;
};

/* The public name of a provider; "" for GCD_PROVIDER_OTHER. */
GCD_API const char *gcd_provider_name(enum gcd_provider p);

#ifdef __cplusplus
}
#endif
#endif
