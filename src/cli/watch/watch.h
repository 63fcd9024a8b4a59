/*
 * Waiting for the moment of a dump:
 *
 *     cmd_watch.c   which processes are watched, and the loop that waits
 *     watched.c     one of them: its memory, its conditions, its dumps
 *     take_dump.c   a dump, in a child process
 *
 * A dump is taken in a child process: others are watched meanwhile, and its memory goes with it.
 */
#ifndef GCD_CLI_WATCH_H
#define GCD_CLI_WATCH_H

#include <sys/types.h>

#include <gcdumpc/unstable/ipc_watch.h>

#include "args.h"
#include "exit.h"
#include "job/when.h"

#ifdef GCDUMPC_HAVE_IPC

/* take_dump.c */
struct watch_child {
    pid_t pid; /* 0 = none */
    int end;   /* is readable when it has ended */
};
/*
 * Starts the dump of the process PID.  DIRECT_ONLY: it has no diagnostic socket.  CLI_FAILED after
 * a message.
 */
enum cli_exit watch_child_start(const struct cli_args *args, uint32_t pid, bool direct_only,
                                struct watch_child *ret);
/* Has it ended?  Its status is then in *RET. */
bool watch_child_ended(struct watch_child *c, enum cli_exit *ret);

/* The resident memory at one moment. */
struct watch_sample {
    uint64_t ms, rss_bytes;
};
#define WATCH_SAMPLES 64u

/* watched.c */
struct watched {
    uint32_t pid;
    char name[256], subject[300];
    bool direct_only, ended;
    bool foreign; /* of another user, who alone may use its socket */
    struct gcd_ipc_watch *watch;
    struct watch_child child;
    struct cli_when_values values;
    struct watch_sample last; /* when it was looked at before */
    uint64_t next_ms;         /* when its memory is read again */
    uint64_t quiet_ms;        /* no dump before */
    unsigned failures;        /* of its dumps, since the last success */
    unsigned dumps;
    /* a ring, for growth */
    struct watch_sample samples[WATCH_SAMPLES];
    size_t sample_count, sample_next;
};

/* Begins to watch P.  False: it has ended, or cannot be watched, after a message. */
bool watched_begin(struct watched *w, const struct gcd_ipc_process *p);
void watched_end(struct watched *w);
/* Reads its memory, and starts a dump if a condition is true.  NOW_MS as in live_now_ms. */
void watched_look(struct watched *w, const struct cli_args *args, const struct cli_whens *whens,
                  uint64_t now_ms);
/* Its dump has ended with E. */
void watched_dumped(struct watched *w, const struct cli_args *args, enum cli_exit e,
                    uint64_t now_ms);

#endif
#endif
