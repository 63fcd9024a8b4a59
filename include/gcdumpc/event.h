/*
 * One event of a trace, whatever container it came from.
 */
#ifndef GCDUMPC_EVENT_H
#define GCDUMPC_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The providers a heap walk needs, told apart by name or GUID. */
enum gcd_provider {
    GCD_PROVIDER_OTHER,
    GCD_PROVIDER_RUNTIME,    /* Microsoft-Windows-DotNETRuntime */
    GCD_PROVIDER_RUNDOWN,    /* Microsoft-Windows-DotNETRuntimeRundown */
    GCD_PROVIDER_EVENTPIPE,  /* Microsoft-DotNETCore-EventPipe */
    GCD_PROVIDER_WINDOWS     /* the kernel of Windows: names of processes */
};

/* An event that is not where it belongs: its number or its time steps back, or its thread id has a new owner since the event before it. */
#define GCD_GAP_DISORDER UINT32_MAX

struct gcd_event {
    enum gcd_provider provider;
    uint32_t id, version;
    uint32_t gap;                /* number of events of this thread that are missing right before it, or GCD_GAP_DISORDER; always 0 in
                                    formats that do not number events */
    const char *provider_name;   /* UTF-8; lives as long as the trace */
    uint64_t process;            /* process id as the target sees itself */
    uint64_t thread;             /* the thread that wrote the event: order and sequence numbers hold per thread */
    int64_t time_ns;             /* since the start of the trace; can be slightly negative */
    unsigned ptr_bytes;          /* 4 or 8 */
    const uint8_t *payload;      /* valid until the next event is asked for */
    size_t payload_bytes;
    uint64_t off;                /* of the payload, in the uncompressed trace; in an .etl its place in the order of time.  It rises from event to
                                    event, and is the same each time the trace is read */
};

/* Public name of a provider, "" for GCD_PROVIDER_OTHER. */
GCD_API const char *gcd_provider_name(enum gcd_provider p);

#ifdef __cplusplus
}
#endif
#endif
