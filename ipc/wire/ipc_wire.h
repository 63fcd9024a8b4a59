/*
 * Messages of the diagnostic protocol as bytes.  No I/O and no libuv: requests are built in the
 * caller's buffer, replies are parsed from the caller's bytes.  A reply comes from another process
 * and is hostile input like any file.
 *
 * Source of the formats: dotnet/diagnostics, documentation/design-docs/ipc-protocol.md.  All
 * integers are little-endian.
 */
#ifndef GCD_IPC_WIRE_H
#define GCD_IPC_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/ipc.h>
#include <gcdumpc/status.h>

#define GCD_WIRE_HEADER_BYTES 20u
/* The size field has 16 bits and counts the header, so no message is larger. */
#define GCD_WIRE_MESSAGE_MAX 65535u
/* Enough for this library's requests: one provider with the runtime's name, and some event ids. */
#define GCD_WIRE_REQUEST_MAX 1024u

#define GCD_WIRE_RUNTIME_PROVIDER "Microsoft-Windows-DotNETRuntime"

/* Command set * 256 + command id. */
enum gcd_wire_command {
    GCD_WIRE_STOP_TRACING = 0x0201,
    GCD_WIRE_COLLECT_TRACING = 0x0202,
    GCD_WIRE_COLLECT_TRACING2 = 0x0203,
    GCD_WIRE_COLLECT_TRACING3 = 0x0204, /* .NET 9 */
    GCD_WIRE_COLLECT_TRACING4 = 0x0205, /* .NET 9 */
    GCD_WIRE_COLLECT_TRACING5 = 0x0206, /* .NET 10 */
    GCD_WIRE_COLLECT_TRACING6 = 0x0207, /* .NET 11 */
    GCD_WIRE_PROCESS_INFO = 0x0400,     /* .NET 5 */
    GCD_WIRE_RESUME_RUNTIME = 0x0401,   /* .NET 5 */
    GCD_WIRE_PROCESS_INFO2 = 0x0404,    /* .NET 7 */
    GCD_WIRE_PROCESS_INFO3 = 0x0408,    /* .NET 8 */
    GCD_WIRE_OK = 0xff00,
    GCD_WIRE_ERROR = 0xffff
};

/* "CollectTracing2" and so on, for messages; never NULL. */
const char *gcd_wire_command_name(enum gcd_wire_command command);

/* Serialization format of the stream. */
enum { GCD_WIRE_FORMAT_NETPERF = 0, GCD_WIRE_FORMAT_NETTRACE = 1 };

/*
 * Which events a session keeps, after keywords and level.  Zeroed: all of them.  A filter does not
 * change what the runtime does to produce events: a filter that keeps nothing still forces a GC.
 */
struct gcd_wire_filter {
    bool only;           /* true: only these ids; false: all but these */
    const uint32_t *ids; /* [n_ids] */
    size_t n_ids;
};

struct gcd_wire_provider {
    uint64_t keywords;
    uint32_t level;                /* 0 ... 5 */
    const char *name;              /* UTF-8, not empty */
    const char *arguments;         /* UTF-8; NULL or empty: none */
    struct gcd_wire_filter filter; /* from CollectTracing5 on */
};

/* Keywords of the rundown: module and assembly names, and the default of commands that offer no
 * choice. */
#define GCD_WIRE_RUNDOWN_LOADER UINT64_C(0x8)
#define GCD_WIRE_RUNDOWN_ALL    UINT64_C(0x80020139)
/* and of methods with their IL maps: code of the JIT compiler and of images in use */
#define GCD_WIRE_RUNDOWN_METHODS UINT64_C(0x20118)

/*
 * The request to the runtime, independent of the command that carries it: each command uses the
 * fields it can carry.  What the others lose: 1 always runs the full rundown, 1 and 2 walk stacks
 * (heap events have none).
 */
struct gcd_wire_collect {
    uint32_t buffer_mb; /* 1 ... 4095 */
    uint32_t format;
    bool rundown;             /* 2, 3: all of it or nothing */
    uint64_t rundown_keyword; /* from 4 on; 0 = no rundown */
    bool stackwalk;           /* from 3 on */
    /* 6: a thread with an event for a full buffer waits instead of dropping it */
    bool block;
    const struct gcd_wire_provider *providers; /* [n_providers] */
    size_t n_providers;                        /* 1 ... 1000 */
};

/*
 * Requests.  BUF, CAP: room for the message; *RET_N: its length.
 * GCD_E_ARG: a value that must never be sent (runtimes before .NET 10 crash on some), a string that
 * is not UTF-8, or a message that does not fit.  GCD_E_UNSUPPORTED: COMMAND is not a known collect
 * command.
 */
GCD_MUST_CHECK gcd_status gcd_wire_encode_collect(enum gcd_wire_command command,
                                                  const struct gcd_wire_collect *collect,
                                                  uint8_t *buf, size_t cap, size_t *ret_n,
                                                  struct gcd_error *err);
GCD_MUST_CHECK gcd_status gcd_wire_encode_stop(uint64_t session_id, uint8_t *buf, size_t cap,
                                               size_t *ret_n, struct gcd_error *err);
/* A request without payload: the three process information commands, and ResumeRuntime. */
GCD_MUST_CHECK gcd_status gcd_wire_encode_plain(enum gcd_wire_command command, uint8_t *buf,
                                                size_t cap, size_t *ret_n, struct gcd_error *err);

/* The collect command to try when the runtime does not know COMMAND; false: there is none. */
bool gcd_wire_older_collect(enum gcd_wire_command command, enum gcd_wire_command *ret);

struct gcd_wire_header {
    uint16_t size; /* of the whole message, at least GCD_WIRE_HEADER_BYTES */
    uint16_t command;
};

/* BYTES: GCD_WIRE_HEADER_BYTES of them.  GCD_E_FORMAT with the offset of the wrong field. */
GCD_MUST_CHECK gcd_status gcd_wire_decode_header(const uint8_t *bytes, struct gcd_wire_header *ret,
                                                 struct gcd_error *err);

/*
 * Did the runtime accept the request?  GCD_OK; GCD_E_UNSUPPORTED when it does not know the command
 * (the only error after which an older command may be tried); GCD_E_PEER for every other refusal,
 * with its code in *RET_HRESULT (may be NULL); GCD_E_FORMAT.
 */
GCD_MUST_CHECK gcd_status gcd_wire_check_reply(const struct gcd_wire_header *header,
                                               const uint8_t *payload, size_t n,
                                               uint32_t *ret_hresult, struct gcd_error *err);

/* The payload of the OK to a collect command and to StopTracing. */
GCD_MUST_CHECK gcd_status gcd_wire_decode_session_id(const uint8_t *payload, size_t n,
                                                     uint64_t *ret_session_id,
                                                     struct gcd_error *err);

/*
 * The payload of the OK to the process information command COMMAND.  Strings come from ALLOC and
 * belong to the caller (each has strlen + 1 bytes); fields the command does not have are empty
 * strings.  Invalid UTF-16 and embedded NULs become U+FFFD.  Bytes after the known fields are
 * ignored, as the protocol demands.
 */
GCD_MUST_CHECK gcd_status gcd_wire_decode_process_info(enum gcd_wire_command command,
                                                       const uint8_t *payload, size_t n,
                                                       const struct gcd_alloc *alloc,
                                                       struct gcd_ipc_process_info *ret,
                                                       struct gcd_error *err);
/* Frees the strings and clears INFO. */
void gcd_wire_process_info_done(const struct gcd_alloc *alloc, struct gcd_ipc_process_info *info);

/* What a runtime sends when it connects to us, before it waits for one request. */
#define GCD_WIRE_ADVERTISE_BYTES 34u

struct gcd_wire_advertise {
    uint8_t cookie[16]; /* identity of the runtime instance, the same on all its connections */
    uint64_t pid;       /* as the process sees it */
};

/* BYTES: GCD_WIRE_ADVERTISE_BYTES of them.  GCD_E_FORMAT: not an advertise message. */
GCD_MUST_CHECK gcd_status gcd_wire_decode_advertise(const uint8_t *bytes,
                                                    struct gcd_wire_advertise *ret,
                                                    struct gcd_error *err);

#endif
