/*
 * What went wrong, as a number and as a sentence.
 *
 * Every function that can fail returns a gcd_status and fills the caller's struct gcd_error, if
 * any, with a message for people: what could not be done, then the facts.  Nothing here allocates
 * or has global state.
 */
#ifndef GCDUMPC_STATUS_H
#define GCDUMPC_STATUS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GCD_API               __attribute__((visibility("default")))
#define GCD_MUST_CHECK        __attribute__((warn_unused_result))
#define GCD_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define GCD_API
#define GCD_MUST_CHECK
#define GCD_PRINTF(fmt, args)
#endif

/* name, value, text.  0 is success, positive values are not errors, negative ones are errors. */
#define GCD_STATUS_LIST(X)                                       \
    X(GCD_OK, 0, "success")                                      \
    X(GCD_END, 1, "end of data")                                 \
    X(GCD_NEED_MORE, 2, "more input is needed")                  \
    X(GCD_E_NOMEM, -1, "out of memory")                          \
    X(GCD_E_IO, -2, "input/output error")                        \
    X(GCD_E_TRUNCATED, -3, "the data end early")                 \
    X(GCD_E_FORMAT, -4, "the data are damaged")                  \
    X(GCD_E_UNSUPPORTED, -5, "not supported")                    \
    X(GCD_E_LIMIT, -6, "a limit was reached")                    \
    X(GCD_E_ARG, -7, "invalid argument")                         \
    X(GCD_E_STATE, -8, "called at the wrong time")               \
    X(GCD_E_CANCELED, -9, "canceled")                            \
    X(GCD_E_PEER, -10, "the other process refused or went away") \
    X(GCD_E_NOT_FOUND, -11, "not found")

typedef enum gcd_status {
#define GCD_STATUS_ENUM(name, value, text) name = (value),
    GCD_STATUS_LIST(GCD_STATUS_ENUM)
#undef GCD_STATUS_ENUM
} gcd_status;

/*
 * Distinguishes errors with the same status, for instance to suggest what to do.  Code must decide
 * by status and reason, because messages may change at any time.
 */
enum gcd_error_reason {
    GCD_ERROR_OTHER,     /* nothing more is known than the status */
    GCD_ERROR_NO_FILE,   /* GCD_E_IO: the input to open does not exist */
    GCD_ERROR_NO_FOLDER, /* GCD_E_IO: the folder of the output does not exist */
    /* GCD_E_IO: the write would use disk space that must stay free */
    GCD_ERROR_DISK_RESERVE,
    GCD_ERROR_BLOCK_LIMIT,  /* GCD_E_LIMIT: gcd_limits.block_bytes */
    GCD_ERROR_COPY_LIMIT,   /* GCD_E_LIMIT: gcd_input_options.most_bytes */
    GCD_ERROR_OBJECT_LIMIT, /* GCD_E_LIMIT: gcd_limits.objects */
    /* GCD_E_NOT_FOUND: the recording has dumps of other processes only */
    GCD_ERROR_PROCESS_NOT_RECORDED,
    /* GCD_E_NOT_FOUND: the recording has fewer dumps than the number asked for */
    GCD_ERROR_WALK_NOT_RECORDED,
    /* Why a running process could not be dumped (gcdumpc/ipc.h). */
    GCD_ERROR_NO_PROCESS, /* GCD_E_NOT_FOUND: no process with this number */
    /* GCD_E_NOT_FOUND: the process has no diagnostic socket: not .NET, or diagnostics are off */
    GCD_ERROR_NO_SOCKET,
    GCD_ERROR_STALE_SOCKET, /* GCD_E_NOT_FOUND: a socket file without a listener */
    GCD_ERROR_PERMISSION,   /* GCD_E_IO: the socket belongs to another user */
    /* GCD_E_PEER, GCD_E_UNSUPPORTED: the runtime answered with an error */
    GCD_ERROR_REFUSED,
    GCD_ERROR_TIMEOUT, /* GCD_E_PEER: no answer in time */
    GCD_ERROR_GONE     /* GCD_E_PEER: the process ended during the dump */
};

/* No byte offset is known. */
#define GCD_OFF_NONE UINT64_MAX

/*
 * Lives on the caller's stack; initialise it with GCD_ERROR_INIT.  msg can be printed as it is:
 * UTF-8 without control characters.  It never names the file, which only the caller knows.
 */
struct gcd_error {
    gcd_status code;
    enum gcd_error_reason reason;
    uint64_t off; /* byte offset in the (uncompressed) input, or GCD_OFF_NONE */
    int os_errno; /* errno of the failed system call, or 0 */
    char msg[512];
};
#define GCD_ERROR_INIT                            \
    {                                             \
        GCD_OK, GCD_ERROR_OTHER, GCD_OFF_NONE, 0, \
        {                                         \
            0                                     \
        }                                         \
    }

/* Short text of a status, in English; never NULL. */
GCD_API const char *gcd_status_text(gcd_status st);
/* The enumerator's name, e.g. "GCD_E_IO"; never NULL. */
GCD_API const char *gcd_status_name(gcd_status st);

#ifdef __cplusplus
}
#endif
#endif
