/*
 * A heap walk from a living .NET process, over its diagnostic socket.
 *
 * Part of the library gcdumpc_ipc, which needs libuv; left out of a build with GCDUMPC_IPC=OFF.  The functions here block
 * (each runs an event loop of its own), print nothing and install no signal handler.  The protocol is the one of the
 * dotnet/diagnostics repository, documentation/design-docs/ipc-protocol.md.
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

/* Keywords of the runtime provider: GC, Type, GCHeapDump, GCHeapCollect, GCHeapAndTypeNames: forces a GC and walks. */
#define GCD_IPC_KEYWORDS_HEAP_SNAPSHOT UINT64_C(0x1980001)

/* sun_path holds 108 bytes on Linux; a path through /proc/PID/root may be longer and is still usable. */
#define GCD_IPC_PATH_MAX 4096

/* Why the socket of a process could not be found or used; refines the GCD_E_* status for programs. */
enum gcd_ipc_reason {
    GCD_IPC_REASON_NONE,
    GCD_IPC_REASON_NO_PROCESS,  /* no process of that number */
    GCD_IPC_REASON_NO_SOCKET,   /* the process has no diagnostic socket: not .NET, or diagnostics are off */
    GCD_IPC_REASON_PERMISSION,  /* the socket belongs to another user */
    GCD_IPC_REASON_STALE,       /* a socket file without a listener */
    GCD_IPC_REASON_REFUSED,     /* the runtime answered with an error */
    GCD_IPC_REASON_TIMEOUT,     /* no answer in time */
    GCD_IPC_REASON_GONE         /* the process ended during the dump */
};

/*
 * Find the diagnostic socket of the process PID (as seen by the caller).  Looks in the target's TMPDIR (from
 * /proc/PID/environ when readable, else our own OWN_TMPDIR, else /tmp) for dotnet-diagnostic-PID-KEY-socket, KEY being the
 * process start time; a process in another pid namespace is looked for under /proc/PID/root with its inner pid, and so is
 * one that has nothing in the directory itself (it may have a /tmp of its own).  A name with another KEY is taken only when
 * somebody listens there.  The file has to belong to the user of the process or to root, and the listener, when it is visible, has to be
 * PID: anybody can listen under any name.
 * OWN_TMPDIR: the caller's TMPDIR, or NULL.  RET_PATH: GCD_IPC_PATH_MAX bytes, NUL-terminated on success; a path below /proc/PID/root is for
 * the functions here: links in it are those of the process, which to others may lead out of its root.
 * GCD_E_NOT_FOUND: NO_PROCESS (also for a zombie, and for the number of a thread), NO_SOCKET, STALE; GCD_E_IO: PERMISSION, or
 * another failure to read; GCD_E_FORMAT.  *RET_REASON (may be NULL) is set in any case, RET_PATH only on success.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_ipc_find_socket(uint32_t pid, const char *own_tmpdir, char *ret_path,
                                                      enum gcd_ipc_reason *ret_reason, struct gcd_error *err);

/* What the process says about itself.  All strings UTF-8, NUL-terminated, empty when unknown (older runtimes). */
struct gcd_ipc_process_info {
    uint64_t pid;            /* as the process sees itself */
    uint8_t cookie[16];      /* identity of this runtime instance */
    char *command_line;
    char *os;
    char *arch;
    char *entry_assembly;    /* .NET 7 and later */
    char *runtime_version;   /* .NET 7 and later, e.g. "10.0.12" */
};

/*
 * Ask who is there: ProcessInfo3, then 2, then 1 as the runtime knows them.  TIMEOUT_MS bounds the whole, 0 = no bound.
 * GCD_E_UNSUPPORTED when the runtime knows none of them (.NET Core 3); GCD_E_NOT_FOUND, GCD_E_PEER, GCD_E_IO, GCD_E_FORMAT
 * as in gcd_ipc_collect.  Free with gcd_ipc_process_info_done.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_ipc_process_info(const char *socket_path, uint64_t timeout_ms,
                                                       struct gcd_ipc_process_info *ret, enum gcd_ipc_reason *ret_reason,
                                                       struct gcd_error *err);
GCD_API void gcd_ipc_process_info_done(struct gcd_ipc_process_info *info);

/*
 * A reverse diagnostic port: a socket at which a runtime started with DOTNET_DiagnosticPorts=PATH[,suspend|nosuspend] connects to
 * us (.NET 5 and later).  Not for two threads at the same time.
 */
struct gcd_ipc_port;

/* A runtime that has connected. */
struct gcd_ipc_runtime {
    uint64_t pid;            /* as the caller sees it, or the process itself: */
    bool visible;            /* false: it is not visible here, and PID may be another process of ours */
    uint8_t cookie[16];      /* as in struct gcd_ipc_process_info */
};

/*
 * Listen at PATH, in a file of mode 0600 that only this user (and root) can connect to.  A socket file of this user that nobody
 * listens at is replaced.  GCD_E_IO: somebody does, it is another user's, it is no socket, there is no such folder; GCD_E_ARG;
 * GCD_E_NOMEM.  Free with gcd_ipc_port_free, which removes the file.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_ipc_port_listen(const char *path, struct gcd_ipc_port **ret, struct gcd_error *err);
GCD_API void gcd_ipc_port_free(struct gcd_ipc_port *port);

/*
 * Wait for a runtime: the first that says who it is, for good; a second call returns the same one.  Others that connect
 * are kept waiting, without harm to them, until the port is freed.  TIMEOUT_MS: 0 = no bound.  CANCEL, RET_REASON may be NULL.
 * GCD_E_PEER: nobody came (TIMEOUT), or it has ended (GONE); GCD_E_CANCELED; GCD_E_IO.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_ipc_port_wait(struct gcd_ipc_port *port, uint64_t timeout_ms, const gcd_cancel_flag *cancel,
                                                    struct gcd_ipc_runtime *ret, enum gcd_ipc_reason *ret_reason,
                                                    struct gcd_error *err);

/* Of the runtime that gcd_ipc_port_wait has returned, any number of times: who it is, as gcd_ipc_process_info. */
GCD_API GCD_MUST_CHECK gcd_status gcd_ipc_port_process_info(struct gcd_ipc_port *port, uint64_t timeout_ms,
                                                            const gcd_cancel_flag *cancel, struct gcd_ipc_process_info *ret,
                                                            enum gcd_ipc_reason *ret_reason, struct gcd_error *err);
/*
 * Let it start, if it waits for that ("suspend", the default).  Nothing happens to one that runs.  A runtime that has not started
 * yet forces no GC for gcd_ipc_collect, and that is so for some milliseconds after the resume, too (measured, .NET 8 to 10).
 * Errors as gcd_ipc_process_info, and GCD_E_CANCELED.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_ipc_port_resume(struct gcd_ipc_port *port, uint64_t timeout_ms, const gcd_cancel_flag *cancel,
                                                      enum gcd_ipc_reason *ret_reason, struct gcd_error *err);
/* Let MS pass, while looking after the port.  GCD_OK when they have; GCD_E_PEER (GONE): the process has ended; GCD_E_CANCELED, GCD_E_IO. */
GCD_API GCD_MUST_CHECK gcd_status gcd_ipc_port_pause(struct gcd_ipc_port *port, uint64_t ms, const gcd_cancel_flag *cancel,
                                                     enum gcd_ipc_reason *ret_reason, struct gcd_error *err);
/* How many other runtimes are waiting. */
GCD_API size_t gcd_ipc_port_others(const struct gcd_ipc_port *port);

/* A process with a diagnostic socket.  Strings are not NULL, empty when unknown; bytes of the system, so maybe not UTF-8. */
struct gcd_ipc_process {
    uint32_t pid;            /* as the caller sees it; 0 = its socket is here but the process is not visible */
    uint32_t uid;            /* effective user; UINT32_MAX = unknown */
    uint64_t uptime_ms;      /* 0 = unknown */
    uint64_t rss_bytes;      /* resident memory; 0 = unknown */
    char *name;              /* as the kernel calls it, 15 bytes at most */
    char *exe;               /* file name of the program, without its folder; "dotnet" for many */
    char *command_line;      /* arguments joined with spaces; what does not fit into 1 MiB is cut */
    char *socket_path;       /* empty when it may not be used */
    char *entry_assembly;    /* these three from the process itself */
    char *runtime_version;
    char *arch;
    enum gcd_ipc_reason reason; /* why these three are unknown: PERMISSION, TIMEOUT, REFUSED, GONE ...; NONE = it answered */
};

struct gcd_ipc_process_list {
    struct gcd_ipc_process *items; /* [count], by pid */
    size_t count;
    size_t room;             /* private */
};

struct gcd_ipc_list_options {
    const char *own_tmpdir;  /* the caller's TMPDIR, or NULL */
    uint64_t answer_ms;      /* how long each process may take to say who it is; 0 = 500 */
    uint64_t total_ms;       /* all of them together; 0 = 5000 */
    const gcd_cancel_flag *cancel; /* looked at before each process; may be NULL */
};

/*
 * All processes with a diagnostic socket that the caller can see: those whose socket gcd_ipc_find_socket finds or finds to
 * be another user's, and who listens at other sockets in OWN_TMPDIR and /tmp.  Then each is asked who it is, up to 16 at the same time;
 * one that does not answer (stopped, in a garbage collection, busy with another client) is listed with what is known.
 * OPTIONS may be NULL.  GCD_E_NOMEM; GCD_E_IO when /proc cannot be read; GCD_E_CANCELED.  Free with gcd_ipc_list_done.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_ipc_list(const struct gcd_ipc_list_options *options, struct gcd_ipc_process_list *ret,
                                               struct gcd_error *err);
/* Zeroed or filled by gcd_ipc_list; twice is fine. */
GCD_API void gcd_ipc_list_done(struct gcd_ipc_process_list *list);

/* What is reached first when a process takes more memory. */
enum gcd_ipc_limit { GCD_IPC_LIMIT_NONE, GCD_IPC_LIMIT_CGROUP, GCD_IPC_LIMIT_MACHINE };

struct gcd_ipc_memory {
    uint64_t rss_bytes;      /* resident; 0 = unknown */
    uint64_t room_bytes;     /* how much more until a limit: of its cgroup or one around it, of the machine; UINT64_MAX = unknown */
    enum gcd_ipc_limit limit; /* which one that is */
    uint64_t away_bytes;     /* memory of the process that does not count as resident: swapped out, or in huge pages of its own */
    uint64_t machine_bytes;  /* all that the machine has, with its swap space; 0 = unknown */
};

/* The memory of the process PID; 0 stands for one that is not visible: then only the machine is looked at. */
GCD_API void gcd_ipc_memory(uint32_t pid, struct gcd_ipc_memory *ret);
/* rss_bytes alone, for sampling. */
GCD_API uint64_t gcd_ipc_resident(uint32_t pid);
/* Has a signal (SIGSTOP) or a debugger stopped the process PID?  It answers nothing until it goes on.  False when that is not known. */
GCD_API bool gcd_ipc_stopped(uint32_t pid);

/*
 * Connections that are open at SOCKET_PATH of the process PID, ours among them: other tools, and what the process has not closed yet.
 * GCD_IPC_UNKNOWN when that cannot be seen.
 */
#define GCD_IPC_UNKNOWN UINT32_MAX
GCD_API uint32_t gcd_ipc_connections(uint32_t pid, const char *socket_path);

/* What a heap walk takes, estimated from the memory of the process, and what can be given to it. */
struct gcd_ipc_budget {
    uint64_t likely_bytes;   /* of the event stream: a usual heap; 0 = unknown */
    uint64_t most_bytes;     /* a heap of nothing but small objects and references; 0 = unknown */
    uint32_t buffer_mb;      /* a buffer that should do, at most max_buffer_mb */
    uint32_t max_buffer_mb;  /* the largest that the process bears; 0 = not even a small one */
    enum gcd_ipc_limit limit; /* what max_buffer_mb comes from; NONE: the caller, or the protocol */
};

/* MAX_BUFFER_MB: the caller's own limit, 0 = 4095. */
GCD_API struct gcd_ipc_budget gcd_ipc_budget(const struct gcd_ipc_memory *memory, uint32_t max_buffer_mb);

/*
 * The buffer for the next attempt after one with BUFFER_MB has lost LOST_EVENTS (0 = it is not known how many) and delivered STREAM_BYTES: at
 * least twice as much as far as the budget goes; 0 when it allows no more than BUFFER_MB.
 */
GCD_API uint32_t gcd_ipc_budget_after_loss(const struct gcd_ipc_budget *budget, uint32_t buffer_mb, uint64_t stream_bytes,
                                           uint64_t lost_events);

/*
 * The most bytes of an event stream that MEMORY explains: four times the memory of the process, resident or not, and 1 GiB; when that is not
 * known, the same of the machine; UINT64_MAX when neither is.  A stream of more is no heap walk.
 */
GCD_API uint64_t gcd_ipc_stream_max(const struct gcd_ipc_memory *memory);

/*
 * Keeps two dumps of one process apart.  The lock is a name in the kernel (an abstract unix socket) that is gone when its holder is; it
 * cannot be seen from another network namespace.  Zeroed before first use.
 */
struct gcd_ipc_lock {
    int fds[2];              /* private, each + 1 */
    uint32_t holder_pid;     /* who has it instead of us; 0 = nobody, or not visible */
    bool usurped;            /* the name is taken by a user who has no business with the process: we go on without a lock */
};

/*
 * Lock the process PID (0 = not known) and the socket SOCKET_PATH (NULL = none).
 * GCD_OK, also when usurped; GCD_E_STATE: another program of ours, of root or of the process's user is dumping it: HOLDER_PID.
 * Release with gcd_ipc_unlock in any case.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_ipc_lock(uint32_t pid, const char *socket_path, struct gcd_ipc_lock *ret, struct gcd_error *err);
/* The same for all processes of the machine that ask for this lock, too, and run as this user or root. */
GCD_API GCD_MUST_CHECK gcd_status gcd_ipc_lock_machine(struct gcd_ipc_lock *ret, struct gcd_error *err);
GCD_API void gcd_ipc_unlock(struct gcd_ipc_lock *lock);

/*
 * The events of a collection as they arrive.  BYTES belongs to the caller of the function and is valid during the call only.
 * The stream starts with the first byte of the nettrace format.  Return GCD_OK to go on; GCD_END when the heap walk
 * is whole: the session is then stopped, and the rest of the stream is still delivered, up to its end; a negative status
 * stops the session as soon as possible and is returned by gcd_ipc_collect unchanged.
 */
typedef gcd_status (*gcd_ipc_data_fn)(void *ctx, const uint8_t *bytes, size_t n, struct gcd_error *err);

/*
 * The steps of a collection, for progress: called when a step begins, at every read and about ten times a second meanwhile.
 * BYTES: how much of the stream has arrived.  DONE comes only when gcd_ipc_collect is going to return GCD_OK.
 */
enum gcd_ipc_step { GCD_IPC_STEP_CONNECT, GCD_IPC_STEP_GC, GCD_IPC_STEP_READ, GCD_IPC_STEP_STOP, GCD_IPC_STEP_DONE };
typedef void (*gcd_ipc_step_fn)(void *ctx, enum gcd_ipc_step step, uint64_t bytes);

/*
 * Asked about ten times a second while the session is open and the stream is silent: SILENT_MS since the last byte or the reply.
 * True stops the session as if on_data had said GCD_END.  For streams whose last events were lost in the runtime.
 */
typedef bool (*gcd_ipc_idle_fn)(void *ctx, uint64_t silent_ms);

/*
 * SINGLE: one session triggers the GC and records.  .NET 5 to 10 deliver nothing before the heap walk is over: what does not fit
 * into the buffer is lost.  DRAIN: one session records and is read while a second one triggers the GC, so that the buffer
 * has to hold only what the reader is behind.  AUTO: DRAIN, except where the runtime delivers during the walk anyway, and
 * up to .NET 9 when the whole stream fits into the buffer: there DRAIN costs further GCs.
 */
enum gcd_ipc_strategy { GCD_IPC_STRATEGY_AUTO, GCD_IPC_STRATEGY_SINGLE, GCD_IPC_STRATEGY_DRAIN };

/* "auto", "single", "drain"; never NULL. */
GCD_API const char *gcd_ipc_strategy_name(enum gcd_ipc_strategy strategy);

struct gcd_ipc_collect_options {
    const char *socket_path;
    struct gcd_ipc_port *port; /* instead: the runtime that gcd_ipc_port_wait has returned; for one collection after the other */
    enum gcd_ipc_strategy strategy;
    uint64_t keywords;        /* 0 = GCD_IPC_KEYWORDS_HEAP_SNAPSHOT; without GCHeapCollect (0x800000) it is SINGLE */
    bool ranges;              /* also the memory ranges of the generations */
    uint32_t level;           /* 0 = 4, Informational; at most 5 */
    uint32_t buffer_mb;       /* size of the event buffer in the target: 1 ... 4095; 0 = 1024 */
    uint64_t most_bytes;      /* the stream has no more, for AUTO; 0 = unknown */
    bool rundown;             /* before .NET 9: the full rundown (module names, runtime version; adds all methods).
                                 From .NET 9 on modules and version are small and always asked for */
    uint64_t timeout_ms;      /* for the whole collection; 0 = none */
    gcd_ipc_data_fn on_data;
    gcd_ipc_step_fn on_step;  /* may be NULL */
    gcd_ipc_idle_fn on_idle;  /* may be NULL: then only on_data ends the session */
    void *ctx;
    const gcd_cancel_flag *cancel; /* polled at least ten times a second; may be NULL */
};

struct gcd_ipc_collect_result {
    enum gcd_ipc_strategy strategy; /* SINGLE or DRAIN; AUTO when it did not come to that */
    const char *command;      /* with which the session was opened, "CollectTracing5"; static; NULL = none was */
    uint64_t session_id;      /* of the session that records */
    uint64_t stream_bytes;
    bool stopped;             /* the runtime confirmed the end of every session that it had opened */
    bool stream_ended;        /* the stream ended in order, after the stop was asked for and not before it */
    enum gcd_ipc_reason reason;
};

/*
 * Ask who it is, choose the strategy and the newest command that the runtime knows, start, deliver the stream, stop on
 * further connections while still reading, end at the end of the stream.  Whatever happens after a session was opened (error,
 * timeout, cancel), it is stopped in the runtime before this returns, unless the process is gone; that takes at most 5 s
 * more.  .NET 5 to 10 answer the request for a GC only when that and the heap walk are over: a cancel or timeout before that waits
 * 2 s for the answer and then closes the connections, and the runtime drops the sessions by itself when it has walked the heap: a
 * GC that was asked for takes place.  That answer alone is waited for without a bound.  What needs no heap walk has to be there within
 * 10 s: who it is, a session that only records, a stop (10 s without a byte), the first bytes of a walk that is said to be over.  A stream that
 * goes on after the stop is read for 10 min.
 *
 * GCD_OK: the stream was delivered up to its end after on_data had said GCD_END (whether it is whole is told by its
 * last bytes; ret->stopped may be false when the runtime is slow to confirm).
 * GCD_E_PEER: refused (REFUSED); no answer in time (TIMEOUT); went away (GONE), also when the stream ended before a
 * stop was asked for.  If ret->stream_ended is set then, all that the runtime had to say was delivered nevertheless.
 * GCD_E_NOT_FOUND: nobody listens at the socket (NO_SOCKET, STALE).  GCD_E_IO: also no permission (PERMISSION).
 * GCD_E_UNSUPPORTED: the runtime knows none of the commands (REFUSED).  GCD_E_FORMAT: the other end does not speak the
 * protocol.  GCD_E_CANCELED, GCD_E_ARG (a value that must never be sent to a runtime), or what on_data returned, then with
 * its message.  RET is filled in any case; ERR is untouched on GCD_OK.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_ipc_collect(const struct gcd_ipc_collect_options *options,
                                                  struct gcd_ipc_collect_result *ret, struct gcd_error *err);

#ifdef __cplusplus
}
#endif
#endif
