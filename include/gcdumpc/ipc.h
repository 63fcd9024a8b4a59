/*
 * A heap walk of a running .NET process, over its diagnostic socket.
 *
 * Part of the library gcdumpc_ipc, which needs libuv and is left out of a build with
 * GCDUMPC_IPC=OFF.  The functions here block (each runs its own event loop), print nothing and
 * install no signal handler.  The protocol is described in the dotnet/diagnostics repository,
 * documentation/design-docs/ipc-protocol.md.
 *
 * A word in capitals beside a status, such as "GCD_E_PEER (GONE)", is the reason in struct
 * gcd_error: GCD_ERROR_GONE.
 */
#ifndef GCDUMPC_IPC_H
#define GCDUMPC_IPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/cancel.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Keywords of the runtime provider: GC, Type, GCHeapDump, GCHeapCollect, GCHeapAndTypeNames: forces
 * a GC with a heap walk. */
#define GCD_IPC_KEYWORDS_HEAP_SNAPSHOT UINT64_C(0x1980001)

/* sun_path holds 108 bytes on Linux; a path through /proc/PID/root may be longer and is still
 * usable. */
#define GCD_IPC_PATH_MAX 4096

/*
 * Find the diagnostic socket of the process PID (as seen by the caller).  Searches the target's
 * TMPDIR (from /proc/PID/environ when readable, otherwise OWN_TMPDIR, otherwise /tmp) for
 * dotnet-diagnostic-PID-KEY-socket; KEY is the process start time.  A process in another pid
 * namespace is searched under /proc/PID/root with its inner pid, and so is a process without a
 * socket in the directory itself (it may have its own /tmp).  A name with a different KEY is
 * accepted only if somebody listens there.  The file must belong to the user of the process or to
 * root, and the listener, if visible, must be PID: anybody can listen under any name. OWN_TMPDIR:
 * the caller's TMPDIR, or NULL.  RET_PATH: GCD_IPC_PATH_MAX bytes, NUL-terminated on success.  Pass
 * a path below /proc/PID/root only to the functions here: the process controls the links in it, and
 * other code may follow them out of its root. GCD_E_NOT_FOUND: NO_PROCESS (also for a zombie, and
 * for the number of a thread), NO_SOCKET, STALE_SOCKET; GCD_E_IO: PERMISSION, or another failure to
 * read; GCD_E_FORMAT.  RET_PATH is set only on success.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_ipc_find_socket(uint32_t pid, const char *own_tmpdir,
                                                      char *ret_path, struct gcd_error *err);

/* What the process says about itself.  All strings are UTF-8, NUL-terminated, and empty when
 * unknown (older runtimes). */
struct gcd_ipc_process_info {
    uint64_t pid;       /* as the process sees it */
    uint8_t cookie[16]; /* identity of this runtime instance */
    char *command_line;
    char *os;
    char *arch;
    char *entry_assembly;  /* .NET 7 and later */
    char *runtime_version; /* .NET 7 and later, e.g. "10.0.12" */
};

/*
 * Ask a process about itself: ProcessInfo3, then 2, then 1, until the runtime supports one.
 * TIMEOUT_MS bounds the whole call, 0 = no bound. GCD_E_UNSUPPORTED when the runtime supports none
 * of them (.NET Core 3); GCD_E_NOT_FOUND, GCD_E_PEER, GCD_E_IO, GCD_E_FORMAT as in gcd_ipc_collect.
 * Free with gcd_ipc_process_info_done.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_ipc_process_info(const char *socket_path, uint64_t timeout_ms,
                                                       struct gcd_ipc_process_info *ret,
                                                       struct gcd_error *err);
GCD_API void gcd_ipc_process_info_done(struct gcd_ipc_process_info *info);

/*
 * A reverse diagnostic port: a socket to which a runtime started with
 * DOTNET_DiagnosticPorts=PATH[,suspend|nosuspend] connects (.NET 5 and later).  Not for use by two
 * threads at once.
 */
struct gcd_ipc_port;

/* A runtime that has connected. */
struct gcd_ipc_runtime {
    uint64_t pid; /* as the caller sees it; if not visible, as the process sees it */
    /* false: not visible to the caller, and PID may be another process here */
    bool visible;
    uint8_t cookie[16]; /* as in struct gcd_ipc_process_info */
};

/*
 * Listen at PATH, in a file of mode 0600 to which only this user (and root) can connect.  Replaces
 * a socket file of this user that nobody listens on.  GCD_E_IO: somebody listens, the file belongs
 * to another user, it is not a socket, or its folder does not exist; GCD_E_ARG; GCD_E_NOMEM.  Free
 * with gcd_ipc_port_free, which removes the file.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_ipc_port_listen(const char *path, struct gcd_ipc_port **ret,
                                                      struct gcd_error *err);
GCD_API void gcd_ipc_port_free(struct gcd_ipc_port *port);

/*
 * Wait for a runtime.  The first one that identifies itself is chosen for good; a second call
 * returns the same one.  Other runtimes wait, unharmed, until the port is freed.  TIMEOUT_MS: 0 =
 * no bound.  CANCEL may be NULL. GCD_E_PEER: nobody connected (TIMEOUT), or the chosen runtime has
 * ended (GONE); GCD_E_CANCELED; GCD_E_IO.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_ipc_port_wait(struct gcd_ipc_port *port, uint64_t timeout_ms,
                                                    const gcd_cancel_flag *cancel,
                                                    struct gcd_ipc_runtime *ret,
                                                    struct gcd_error *err);

/* gcd_ipc_process_info of the runtime that gcd_ipc_port_wait returned.  May be called repeatedly.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_ipc_port_process_info(struct gcd_ipc_port *port,
                                                            uint64_t timeout_ms,
                                                            const gcd_cancel_flag *cancel,
                                                            struct gcd_ipc_process_info *ret,
                                                            struct gcd_error *err);
/*
 * Let the runtime start if it waits for that ("suspend", the default).  Has no effect on a running
 * one.  Before the start and for some milliseconds after the resume, a runtime forces no GC for
 * gcd_ipc_collect (measured, .NET 8 to 10).  Errors as gcd_ipc_process_info, and GCD_E_CANCELED.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_ipc_port_resume(struct gcd_ipc_port *port,
                                                      uint64_t timeout_ms,
                                                      const gcd_cancel_flag *cancel,
                                                      struct gcd_error *err);
/* A process with a diagnostic socket.  Strings are never NULL, empty when unknown, and may not be
 * UTF-8. */
struct gcd_ipc_process {
    /* as the caller sees it; 0 = its socket is visible here but the process is not */
    uint32_t pid;
    uint32_t inner_pid;   /* as the process itself sees it; 0 = unknown */
    uint32_t uid;         /* effective user; UINT32_MAX = unknown */
    uint64_t uptime_ms;   /* 0 = unknown */
    uint64_t rss_bytes;   /* resident memory; 0 = unknown */
    char *name;           /* the kernel's name for it, at most 15 bytes */
    char *exe;            /* file name of the program, without its folder; "dotnet" for many */
    char *command_line;   /* arguments joined with spaces, cut after 1 MiB */
    char *socket_path;    /* empty when there is none, or the caller may not use it */
    char *entry_assembly; /* this and the next two come from the process itself */
    char *runtime_version;
    char *arch;
    char *container; /* the id of its container, 64 hexadecimal digits; empty = in none */
    bool answered;   /* those three are known */
    bool coreclr; /* its memory can be read, which takes the right to (Native AOT, Mono: false) */
    /* why not: PERMISSION, TIMEOUT, REFUSED, GONE ..., NO_SOCKET: its diagnostics are off */
    enum gcd_error_reason reason;
};

struct gcd_ipc_process_list {
    struct gcd_ipc_process *items; /* [count], by pid */
    size_t count;
    size_t room; /* private */
};

struct gcd_ipc_list_options {
    const char *own_tmpdir;        /* the caller's TMPDIR, or NULL */
    uint64_t answer_ms;            /* time for each process to answer; 0 = 500 */
    uint64_t total_ms;             /* for all of them together; 0 = 5000 */
    const gcd_cancel_flag *cancel; /* checked before each process; may be NULL */
};

/*
 * All processes with a diagnostic socket that the caller can see: those whose socket
 * gcd_ipc_find_socket finds, or finds to belong to another user, and the listeners of other sockets
 * in OWN_TMPDIR and /tmp.  Up to 16 are then asked in parallel; one that does not answer (stopped,
 * in a garbage collection, busy with another client) is listed with what is known. OPTIONS may be
 * NULL.  GCD_E_NOMEM; GCD_E_IO when /proc cannot be read; GCD_E_CANCELED.  Free with
 * gcd_ipc_list_done.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_ipc_list(const struct gcd_ipc_list_options *options,
                                               struct gcd_ipc_process_list *ret,
                                               struct gcd_error *err);
/* Takes a zeroed list or one filled by gcd_ipc_list; may be called twice. */
GCD_API void gcd_ipc_list_done(struct gcd_ipc_process_list *list);

/*
 * Receives the events of a collection as they arrive.  BYTES belongs to the caller of the function
 * and is valid during the call only.  The stream starts with the first byte of the nettrace format.
 * Return GCD_OK to continue.  GCD_END when the heap walk is complete: the session is then stopped,
 * and the rest of the stream is still delivered.  A negative status stops the session as soon as
 * possible, and gcd_ipc_collect returns it unchanged.
 */
typedef gcd_status (*gcd_ipc_data_fn)(void *ctx, const uint8_t *bytes, size_t n,
                                      struct gcd_error *err);

/*
 * The steps of a collection, for progress: called when a step begins, at every read and about ten
 * times a second in between. BYTES: how much of the stream has arrived.  DONE comes only when
 * gcd_ipc_collect is about to return GCD_OK.
 */
enum gcd_ipc_step {
    GCD_IPC_STEP_CONNECT,
    GCD_IPC_STEP_GC,
    GCD_IPC_STEP_READ,
    GCD_IPC_STEP_STOP,
    GCD_IPC_STEP_DONE
};
typedef void (*gcd_ipc_step_fn)(void *ctx, enum gcd_ipc_step step, uint64_t bytes);

/*
 * Called about ten times a second while the session is open and the stream is silent: SILENT_MS
 * since the last byte or the reply.  True stops the session as if on_data had returned GCD_END. For
 * streams whose last events the runtime lost.
 */
typedef bool (*gcd_ipc_idle_fn)(void *ctx, uint64_t silent_ms);

/*
 * SINGLE: one session triggers the GC and records.  .NET 5 to 10 deliver nothing before the end of
 * the heap walk: events that do not fit into the buffer are lost.  DRAIN: one session records and
 * is read while a second one triggers the GC, so the buffer only has to hold what has not been read
 * yet.  AUTO: DRAIN, except where the runtime delivers during the walk anyway, and up to .NET 9
 * when the whole stream fits into the buffer: there DRAIN costs further GCs.  See also alone.
 */
enum gcd_ipc_strategy { GCD_IPC_STRATEGY_AUTO, GCD_IPC_STRATEGY_SINGLE, GCD_IPC_STRATEGY_DRAIN };

/* "auto", "single", "drain"; never NULL. */
GCD_API const char *gcd_ipc_strategy_name(enum gcd_ipc_strategy strategy);

#define GCD_IPC_PROGRESS_BYTES UINT64_C(65536)

struct gcd_ipc_collect_options {
    const char *socket_path;
    /* alternative: the runtime returned by gcd_ipc_port_wait; one collection at a time */
    struct gcd_ipc_port *port;
    enum gcd_ipc_strategy strategy;
    /* 0 = GCD_IPC_KEYWORDS_HEAP_SNAPSHOT; without GCHeapCollect (0x800000) the strategy is SINGLE
     */
    uint64_t keywords;
    bool ranges;         /* also record the memory ranges of the generations */
    uint32_t level;      /* 0 = 4, Informational; at most 5 */
    uint32_t buffer_mb;  /* size of the event buffer in the target: 1 ... 4095; 0 = 1024 */
    uint64_t most_bytes; /* upper bound of the stream, for AUTO; 0 = unknown */
    /*
     * No other client is connected.  Then a session that forces the GC itself needs no other one
     * before it, and AUTO chooses that for a small process: every session before the walk leaves
     * objects in the heap, the runtime's descriptions of its events (measured, .NET 10: 255 KB).
     */
    bool alone;
    /* also record the stacks of events, and at the end the names and IL maps of methods (before
       .NET 9 with rundown only) */
    bool stacks;
    /* before .NET 9: the full rundown (module names, runtime version; adds all methods).  From
       .NET 9 on modules and version are small and requested unless NO_MODULES says otherwise */
    bool rundown;
    /* not even these, if the modules can be had otherwise: see gcd_ipc_is_composite */
    bool no_modules;
    uint64_t timeout_ms; /* for the whole collection; 0 = none */
    /* gives up when less than GCD_IPC_PROGRESS_BYTES come within this time; 0 = never */
    uint64_t stall_ms;
    gcd_ipc_data_fn on_data;
    gcd_ipc_step_fn on_step; /* may be NULL */
    gcd_ipc_idle_fn on_idle; /* may be NULL: then only on_data stops the session */
    void *ctx;
    const gcd_cancel_flag *cancel; /* polled at least ten times a second; may be NULL */
};

struct gcd_ipc_collect_result {
    enum gcd_ipc_strategy strategy; /* SINGLE or DRAIN; AUTO when none was chosen yet */
    const char *command; /* the command that opened the session, "CollectTracing5"; static; NULL =
                            none did */
    uint64_t session_id; /* of the recording session */
    uint64_t stream_bytes;
    bool stopped;      /* the runtime confirmed the end of every session it had opened */
    bool stream_ended; /* the stream ended properly, after the stop was requested */
    /* it supports no ProcessInfo command: .NET Core 3, which describes each type once per process
     */
    bool core3;
};

/*
 * Asks for process information, chooses the strategy and the newest command that the runtime
 * supports, starts, delivers the stream, stops on further connections while still reading, and
 * returns at the end of the stream.
 *
 * A session that was opened is stopped in the runtime before this returns, whatever happens (error,
 * timeout, cancel), unless the process is gone; that takes at most 5 s more.  .NET 5 to 10 answer
 * the request for a GC only after GC and heap walk: an earlier cancel or timeout waits 2 s for the
 * answer and then closes the connections, and the runtime drops the sessions by itself after the
 * walk.  A GC that was requested takes place in any case.
 *
 * Only the wait for that answer is unbounded.  Everything that needs no heap walk must arrive
 * within 10 s: process information, a session that only records, a stop (10 s without a byte), the
 * first bytes of a walk that is reported as over.  A stream that continues after the stop is read
 * for 10 min.
 *
 * GCD_OK: the stream was delivered up to its end after on_data returned GCD_END (its last bytes say
 * whether it is complete; ret->stopped may be false when the runtime is slow to confirm).
 * GCD_E_PEER: refused (REFUSED); no answer in time (TIMEOUT); went away (GONE), also when the
 * stream ended before a stop was requested.  If ret->stream_ended is then set, everything that the
 * runtime sent was delivered. GCD_E_NOT_FOUND: nobody listens at the socket (NO_SOCKET,
 * STALE_SOCKET).  GCD_E_IO: also no permission (PERMISSION). GCD_E_UNSUPPORTED: the runtime
 * supports none of the commands (REFUSED).  GCD_E_FORMAT: the other end does not speak the
 * protocol. GCD_E_CANCELED, GCD_E_ARG (a value that must never be sent to a runtime), or the status
 * of on_data, with its message.  RET is always filled; ERR is untouched on GCD_OK.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_ipc_collect(const struct gcd_ipc_collect_options *options,
                                                  struct gcd_ipc_collect_result *ret,
                                                  struct gcd_error *err);

#ifdef __cplusplus
}
#endif
#endif
