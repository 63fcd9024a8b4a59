/*
 * What EventPipe does between the threads that write events and the file: sequence numbers, lost
 * events, the order of the threads' runs, sequence points.  Time goes forward with every event.
 *
 * A pass is what the runtime's writer does every 100 ms, or up to a sequence point: it takes the
 * thread with the oldest waiting event, writes all of that thread's events, then looks for the next
 * thread.  So the events of the first thread of a pass are written at once; those of the others
 * wait in memory for the end of the pass.  Let a thread with many events be the first of its pass.
 */
#ifndef GH_PIPE_H
#define GH_PIPE_H

#include <stdbool.h>
#include <stdint.h>

#include "gh_container.h"
#include "gh_opts.h"

#define GH_THREADS_MAX 64u
#define GH_NO_EVENT    UINT32_MAX

struct gh_queued {
    struct gh_event ev; /* payload: offset in the bytes of the pass */
    uint64_t payload_off;
    uint32_t next;
};

struct gh_pipe {
    struct gh_container *c;
    const struct gh_opts *o;
    struct gh_thread threads[GH_THREADS_MAX];
    uint32_t n_threads;
    uint64_t now;
    uint64_t bytes_since_sp;
    uint32_t n_sps;
    struct gh_thread *runner; /* first thread of this pass */
    struct gh_queued *queue;
    uint32_t n_queued, cap_queued;
    uint8_t *bytes;
    uint64_t n_bytes, cap_bytes;
    uint32_t run_order[GH_THREADS_MAX], n_runs;
    uint32_t next_index; /* V6 */
    /* losses */
    int32_t dump;             /* running dump, -1 = none */
    uint64_t nth[GH_K_COUNT]; /* events of each kind so far, in this dump */
    uint64_t n_attempted, n_lost;
    uint64_t n_visible_lost; /* of forgotten thread indexes */
    /* first dump, or outside of dumps */
    uint64_t events_lost[GH_K_COUNT], items_lost[GH_K_COUNT];
    bool no_memory;
};

/* An event to write; set fields that do not matter to zero. */
struct gh_emit {
    struct gh_thread *about; /* NULL = the capturing thread */
    enum gh_kind kind;
    uint32_t n_items;
    uint8_t stack, activity;
};

void gh_pipe_init(struct gh_pipe *p, struct gh_container *c, const struct gh_opts *o);
void gh_pipe_done(struct gh_pipe *p);

struct gh_thread *gh_pipe_thread(struct gh_pipe *p, uint64_t id, const char *name,
                                 uint32_t processor);

/* Time passes. */
void gh_pipe_wait(struct gh_pipe *p, uint64_t ns);

/* From now on, events belong to dump NUMBER (-1: to none); the counts of --drop restart. */
void gh_pipe_dump(struct gh_pipe *p, int32_t number);

/* false: the event was lost. */
bool gh_pipe_event(struct gh_pipe *p, struct gh_thread *t, enum gh_meta meta, struct gh_emit how,
                   const uint8_t *payload, size_t payload_bytes);

void gh_pipe_end_pass(struct gh_pipe *p);
void gh_pipe_sequence_point(struct gh_pipe *p);

/* The thread ends.  V6 says so with a RemoveThread block. */
void gh_pipe_thread_ends(struct gh_pipe *p, struct gh_thread *t);

/* Lost events that the sequence numbers show up to the end of the file (V4, V6). */
uint64_t gh_pipe_visible_loss(const struct gh_pipe *p);

#endif
