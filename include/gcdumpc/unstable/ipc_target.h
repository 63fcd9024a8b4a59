/*
 * What a dump costs its target, locks against two dumps at the same time, ports to which it
 * connects over TCP, and waiting at a port.  Part of libgcdumpc_ipc.
 */
#ifndef GCDUMPC_UNSTABLE_IPC_TARGET_H
#define GCDUMPC_UNSTABLE_IPC_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/cancel.h>
#include <gcdumpc/status.h>
#include <gcdumpc/summary.h>

/* The limit that is reached first when a process takes more memory. */
enum gcd_ipc_limit { GCD_IPC_LIMIT_NONE, GCD_IPC_LIMIT_CGROUP, GCD_IPC_LIMIT_MACHINE };

struct gcd_ipc_memory {
    uint64_t rss_bytes; /* resident; 0 = unknown */
    /* growth possible before a limit (its cgroup, an enclosing one, the machine); UINT64_MAX =
     * unknown */
    uint64_t room_bytes;
    enum gcd_ipc_limit limit; /* the closest limit */
    uint64_t away_bytes;      /* memory not counted as resident: swapped out, or in huge pages */
    uint64_t machine_bytes;   /* memory of the machine including swap; 0 = unknown */
    /* of the enclosing cgroup with the least room left; 0 = none or unknown; */
    uint64_t cgroup_limit_bytes;
    uint64_t cgroup_used_bytes; /* its usage, without files that the kernel can drop */
};

/* The memory of the process PID; PID 0 = a process that is not visible: then only the machine
 * counts. */
void gcd_ipc_memory(uint32_t pid, struct gcd_ipc_memory *ret);
/* rss_bytes alone, for sampling. */
uint64_t gcd_ipc_resident(uint32_t pid);
/*
 * The memory of a process at one moment, with all its mappings, so that the memory in the ranges of
 * the GC can be computed once the dump has told where they are.
 */
struct gcd_ipc_mappings;
/*
 * Reads the mappings of the process PID.  ALLOC may be NULL.  If they may not be read, the result
 * is empty, and gcd_ipc_mappings_problem says why. GCD_E_NOT_FOUND: the process is not visible, or
 * has ended; GCD_E_NOMEM.
 */
GCD_MUST_CHECK gcd_status gcd_ipc_mappings_new(uint32_t pid, const struct gcd_alloc *alloc,
                                               struct gcd_ipc_mappings **ret,
                                               struct gcd_error *err);
void gcd_ipc_mappings_free(struct gcd_ipc_mappings *m);
/* Why the mappings could not be read; "" when they were. */
const char *gcd_ipc_mappings_problem(const struct gcd_ipc_mappings *m);
/* Fills *RET.  RANGES[N]: those of the GC, from a dump of the process made afterwards. */
void gcd_ipc_mappings_memory(const struct gcd_ipc_mappings *m, const struct gcd_range *ranges,
                             size_t n, struct gcd_process_memory *ret);

/*
 * The largest possible heap of the process PID, with garbage, judged by its memory alone: nothing
 * is asked of the process, because an event session leaves objects in its heap.  0 = unknown.
 */
uint64_t gcd_ipc_heap_most(uint32_t pid);

/* Has a signal (SIGSTOP) or a debugger stopped the process PID?  It does not answer until it
 * continues.  False when unknown. */
bool gcd_ipc_stopped(uint32_t pid);

/* Why the process PID does not answer, as text in RET[CAP]: no file descriptor is left, or it waits
 * at its start to be resumed.  False: neither, or unknown. */
bool gcd_ipc_silence(uint32_t pid, char *ret, size_t cap);

/*
 * Does the process PID use the server GC, judged by the names of its first threads?  One thread per
 * heap runs during a collection and during the heap walk that follows, where all but one only spin
 * (measured, .NET 10).  False when unknown.
 */
bool gcd_ipc_server_gc(uint32_t pid);

/*
 * Does the process PID have a composite ReadyToRun image (NAME.r2r.dll, precompiled code of many
 * assemblies)?  The list of its modules takes its runtime seconds, for each of them goes through
 * that code (measured, .NET 10, ASP.NET Core: 6 s of processor time, else 0.1 s).  False when
 * unknown.
 */
bool gcd_ipc_is_composite(uint32_t pid);

/*
 * Open connections at SOCKET_PATH of the process PID, including ours: other tools, and connections
 * the process has not closed yet. GCD_IPC_UNKNOWN when they cannot be counted.
 */
#define GCD_IPC_UNKNOWN UINT32_MAX
uint32_t gcd_ipc_connections(uint32_t pid, const char *socket_path);

/* The estimated cost of a heap walk, from the memory of the process, and the buffer it can get. */
struct gcd_ipc_budget {
    uint64_t likely_bytes; /* size of the event stream for a typical heap; 0 = unknown */
    uint64_t most_bytes;   /* for a heap of small objects and references only; 0 = unknown */
    uint32_t buffer_mb;    /* a buffer that should suffice, at most max_buffer_mb */
    /* the largest that the process has room for; 0 = not even room for a small one */
    uint32_t max_buffer_mb;
    /* the limit that determines max_buffer_mb; NONE: the caller's or the protocol's */
    enum gcd_ipc_limit limit;
};

/* MAX_BUFFER_MB: the caller's own limit, 0 = 4095. */
struct gcd_ipc_budget gcd_ipc_budget(const struct gcd_ipc_memory *memory, uint32_t max_buffer_mb);

/*
 * The buffer for the next attempt, after an attempt with BUFFER_MB lost LOST_EVENTS (0 = unknown)
 * and delivered STREAM_BYTES: at least twice as large, within the budget; 0 when the budget allows
 * no more than BUFFER_MB.
 */
uint32_t gcd_ipc_budget_after_loss(const struct gcd_ipc_budget *budget, uint32_t buffer_mb,
                                   uint64_t stream_bytes, uint64_t lost_events);

/*
 * The largest event stream that MEMORY explains: four times the memory of the process, resident or
 * not, plus 1 GiB.  If that is unknown, the same for the machine; UINT64_MAX when both are unknown.
 * A larger stream is not a heap walk.
 */
uint64_t gcd_ipc_stream_max(const struct gcd_ipc_memory *memory);

/*
 * Prevents two dumps of one process at the same time.  The lock is a kernel name (an abstract unix
 * socket) that disappears with its holder; it is not visible from another network namespace. Zeroed
 * before first use.
 */
struct gcd_ipc_lock {
    /* private, each + 1: lock of the process, lock of its socket, connection to the holder */
    int fds[3];
    /* the process that holds it instead of us; 0 = nobody, or not visible */
    uint32_t holder_pid;
    /* a user unrelated to the process has taken the name: we continue without a lock */
    bool usurped;
};

/*
 * Lock the process PID (0 = unknown) and the socket SOCKET_PATH (NULL = none).
 * GCD_OK, also when usurped; GCD_E_STATE: HOLDER_PID, another instance of ours, run by root or the
 * process's user, is dumping it.  Always release with gcd_ipc_unlock.
 */
GCD_MUST_CHECK gcd_status gcd_ipc_lock(uint32_t pid, const char *socket_path,
                                       struct gcd_ipc_lock *ret, struct gcd_error *err);
/* The same for all processes of the machine that use this lock and run as this user or root. */
GCD_MUST_CHECK gcd_status gcd_ipc_lock_machine(struct gcd_ipc_lock *ret, struct gcd_error *err);
/*
 * After GCD_E_STATE from one of these: true once the holder has released the lock or died, so that
 * another try may succeed; false after MS milliseconds.  Use this instead of polling: each try
 * leaves a connection in the holder's queue, and a full queue looks like that of a stranger.
 */
bool gcd_ipc_lock_wait(const struct gcd_ipc_lock *lock, int ms);
void gcd_ipc_unlock(struct gcd_ipc_lock *lock);

/*
 * A reverse diagnostic port over TCP: for a runtime that is told HOST:PORT instead of a path, as on
 * phones and in emulators.  TCP has no users: whoever can reach the address can connect and pose as
 * a runtime, and nothing is encrypted.  So the address must be loopback unless the caller insists;
 * even then all users of the machine can connect.
 */
#define GCD_IPC_TCP_BYTES 64
struct gcd_ipc_tcp_place {
    char address[GCD_IPC_TCP_BYTES];  /* "127.0.0.1:9000", "[::1]:9000", with the actual port if 0
                                         was asked for */
    char variable[GCD_IPC_TCP_BYTES]; /* as DOTNET_DiagnosticPorts takes it: without brackets,
                                         "HOST" for all addresses */
    bool loopback;                    /* cannot be reached from another machine */
};
struct gcd_ipc_port;

/*
 * Listen at ADDRESS, "HOST:PORT".  HOST is an IPv4 address, an IPv6 address in brackets, or
 * "localhost" (127.0.0.1); no other name, so that no name server decides which address this is.
 * PORT is 0 to 65535; 0: any free one.  ANY_ADDRESS: HOST need not be loopback.  Use and free the
 * port like one of gcd_ipc_port_listen; there is no file.  RET_PLACE and RET are set only on
 * success.  GCD_E_ARG: ADDRESS is malformed, or not loopback (PERMISSION); GCD_E_IO: another
 * program listens there, or the machine has no such address; GCD_E_NOMEM.
 */
GCD_MUST_CHECK gcd_status gcd_ipc_port_listen_tcp(const char *address, bool any_address,
                                                  struct gcd_ipc_tcp_place *ret_place,
                                                  struct gcd_ipc_port **ret, struct gcd_error *err);

/* Wait MS while serving the port.  GCD_OK: the time has passed; GCD_E_PEER (GONE): the process has
 * ended; GCD_E_CANCELED, GCD_E_IO. */
GCD_MUST_CHECK gcd_status gcd_ipc_port_pause(struct gcd_ipc_port *port, uint64_t ms,
                                             const gcd_cancel_flag *cancel, struct gcd_error *err);
/* The number of other runtimes waiting. */
size_t gcd_ipc_port_others(const struct gcd_ipc_port *port);

#endif
