/*
 * A runtime that follows a script of the diagnostic protocol.  It uses threads of the test program:
 * one that accepts, one for each connection.  No wait lasts longer than 10 s, so a broken test
 * fails instead of hanging.
 *
 * The script of a connection is an array of acts; the first connection gets the first script and so
 * on, further ones are closed at once.
 *
 *     static const struct fake_act stream[] = { { FAKE_RECV }, FAKE_OK_SESSION,
 *         FAKE_SEND("Nettrace", 8), { FAKE_CLOSE } };
 *     static const struct fake_act *const scripts[] = { stream };
 *     struct fake_target *t = fake_target_start(scripts, 1);
 */
#ifndef FAKE_TARGET_H
#define FAKE_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fake_op {
    FAKE_CLOSE,   /* close the connection; ends every script */
    FAKE_RECV,    /* receive one whole request and keep it */
    FAKE_BYTES,   /* send BYTES[N], CHUNK at a time (0: all at once), ARG ms between the pieces */
    FAKE_SLEEP,   /* ARG ms */
    FAKE_SET,     /* set flag ARG, 0 ... 31 */
    FAKE_WAIT,    /* until flag ARG is set */
    FAKE_HOLD,    /* keep the connection until the client closes it */
    FAKE_SHUT_WR, /* half-close: the client reads the end of file, but may still send */
    /* a runtime that connects: make the next connection now, without waiting for the end of this
       one */
    FAKE_NEXT,
    FAKE_VANISH /* as if killed: closes the listener and all connections; the socket file stays */
};

struct fake_act {
    enum fake_op op;
    unsigned arg;
    const char *bytes;
    size_t n;
    size_t chunk;
};

#define FAKE_SEND(bytes_, n_)            \
    {                                    \
        FAKE_BYTES, 0, (bytes_), (n_), 0 \
    }
#define FAKE_SEND_PIECES(bytes_, n_, chunk_, ms_)   \
    {                                               \
        FAKE_BYTES, (ms_), (bytes_), (n_), (chunk_) \
    }

/* Replies as bytes; each is one string literal, so that tests can cut and join them. */
#define FAKE_MAGIC "DOTNET_IPC_V1\0"
#define FAKE_OK_SESSION_BYTES             \
    FAKE_MAGIC "\x1c\x00\xff\x00\x00\x00" \
               "\xef\xcd\xab\x89\x67\x45\x23\x01"
#define FAKE_SESSION                    UINT64_C(0x0123456789abcdef)
#define FAKE_ERROR_BYTES(hresult_bytes) FAKE_MAGIC "\x18\x00\xff\xff\x00\x00" hresult_bytes
#define FAKE_BAD_ENCODING_BYTES         FAKE_ERROR_BYTES("\x84\x13\x13\x80")
#define FAKE_UNKNOWN_COMMAND_BYTES      FAKE_ERROR_BYTES("\x85\x13\x13\x80")

/* What a runtime sends when it connects: COOKIE of 16 bytes, PID of 8, as literals. */
#define FAKE_ADVERTISE_BYTES(cookie, pid) "ADVR_V1\0" cookie pid "\0\0"

#define FAKE_COOKIE "fake target ckie"
#define FAKE_PID    "\x39\x30\0\0\0\0\0\0"

#define FAKE_SEND_LITERAL(s) FAKE_SEND((s), sizeof(s) - 1)
#define FAKE_OK_SESSION      FAKE_SEND_LITERAL(FAKE_OK_SESSION_BYTES)
#define FAKE_BAD_ENCODING    FAKE_SEND_LITERAL(FAKE_BAD_ENCODING_BYTES)
#define FAKE_UNKNOWN_COMMAND FAKE_SEND_LITERAL(FAKE_UNKNOWN_COMMAND_BYTES)

struct fake_target;

/* SCRIPTS[n_scripts] and what they point to must live until fake_target_stop.  Ends the program if
 * it cannot start. */
struct fake_target *fake_target_start(const struct fake_act *const *scripts, size_t n_scripts);

/*
 * A runtime that connects to PATH instead and retries until somebody listens: one connection for
 * each script, the next one when a script reaches FAKE_NEXT or ends.
 */
struct fake_target *fake_target_connect(const char *path, const struct fake_act *const *scripts,
                                        size_t n_scripts);

/*
 * The same for a runtime that also advertises itself, with FAKE_COOKIE and FAKE_PID, and plays each
 * script when a request arrives.  So the scripts for fake_target_start work here, too.
 */
struct fake_target *fake_target_dial(const char *path, const struct fake_act *const *scripts,
                                     size_t n_scripts);

/* Connects to PATH, or to the address in "tcp:127.0.0.1:9000"; -1: nobody listens. */
int fake_connect(const char *path);

/* The socket, in a directory of its own. */
const char *fake_target_path(const struct fake_target *t);

/* Waits for all running scripts after cutting their connections, removes the directory, frees. */
void fake_target_stop(struct fake_target *t);

/* Connections so far, of either kind. */
unsigned fake_target_accepted(struct fake_target *t);

/* The request connection I received; its length, 0 when none came.  Valid until fake_target_stop.
 */
size_t fake_target_request(struct fake_target *t, size_t i, const uint8_t **ret_bytes);

/* Did the client close connection I in its FAKE_HOLD?  Waits for it. */
bool fake_target_client_closed(struct fake_target *t, size_t i);

#endif
