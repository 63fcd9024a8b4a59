/*
 * What asynchronous operations wait for, from the objects of a dump alone.
 *
 *     struct gcd_async *a;
 *     if (gcd_async_new(g, NULL, &a, &err) == GCD_OK) {
 *         const uint32_t *stacks = gcd_async_stacks(a, &n);
 *         // frames[stacks[i]] is the outermost frame of a stack
 *         for (size_t i = 0; i < n; i++)
 *             for (uint32_t f = stacks[i]; f != GCD_FRAME_NONE; f = frames[f].parent)
 *                 ... frames[f].name
 *     }
 *
 * An async method that waits is a box on the heap (AsyncStateMachineBox).  The box refers to what
 * resumes its caller, to itself, and to what it waits for, and that refers back to the box.  A wait
 * is certain if both references exist, and marked as probable if only one does.
 *
 * A stack begins with what is awaited (a delay, a socket, a TaskCompletionSource ...), followed by
 * the methods that wait for it, the innermost first. Stacks with the same frames are merged and
 * counted.  An operation that waits for several others (Task.WhenAll), or that several wait for, is
 * in one stack for each.
 *
 * Known to hold for .NET 8 to 11.  Methods without state machines (runtime async) are read as .NET
 * 11 makes them; the objects of .NET 10 for them, which it makes only when asked, are counted.
 */
#ifndef GCDUMPC_UNSTABLE_ASYNC_H
#define GCDUMPC_UNSTABLE_ASYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/status.h>

struct gcd_async;
struct gcd_fields;
struct gcd_names;
struct gcd_origins;

/* No frame; no type. */
#define GCD_FRAME_NONE UINT32_MAX

/* What a frame is; from DELAY on the innermost frame of a stack. */
enum gcd_async_kind {
    /* an async method; what runs after a task (ContinueWith), as with async { } of F# */
    GCD_ASYNC_METHOD,
    /* a method of runtime async, without state machine: the objects of a dump do not say which one.
     * Its name says what it keeps, its type is one of these */
    GCD_ASYNC_RUNTIME_METHOD,
    GCD_ASYNC_WHEN_ALL, /* Task.WhenAll */
    GCD_ASYNC_WHEN_ANY,
    GCD_ASYNC_UNWRAP, /* Task.Run of an async method, Unwrap */
    GCD_ASYNC_CONTINUE_WITH,
    GCD_ASYNC_WAIT_ASYNC, /* Task.WaitAsync */
    GCD_ASYNC_AS_TASK,    /* ValueTask.AsTask */
    GCD_ASYNC_THREAD,     /* a thread blocks in Wait, Result or GetResult */
    GCD_ASYNC_DELAY,
    GCD_ASYNC_SEMAPHORE,
    GCD_ASYNC_SOCKET,
    GCD_ASYNC_CHANNEL_READER,
    GCD_ASYNC_CHANNEL_WRITER,
    GCD_ASYNC_CHANNEL, /* reader or writer */
    GCD_ASYNC_TIMER,   /* PeriodicTimer */
    GCD_ASYNC_PIPE,
    GCD_ASYNC_FILE,
    GCD_ASYNC_TASK_SOURCE, /* a task completed by hand: TaskCompletionSource */
    GCD_ASYNC_DELEGATE,    /* a delegate that runs, or is queued */
    GCD_ASYNC_OTHER,       /* an object of TYPE */
    GCD_ASYNC_QUEUED,      /* waits only for a thread */
    GCD_ASYNC_RUNNING,     /* a thread stack refers to it, and it waits for nothing else */
    /* waits for nothing: runs, is about to, or is an async iterator between two elements */
    GCD_ASYNC_READY,
    GCD_ASYNC_CIRCLE, /* waits for itself, through others */
    GCD_ASYNC_KINDS
};

/* Its name in JSON and CSV: "when_all". */
const char *gcd_async_kind_name(enum gcd_async_kind kind);

struct gcd_async_frame {
    /* the frame that it waits for, with a smaller index; GCD_FRAME_NONE: it is the innermost */
    uint32_t parent;
    uint32_t depth;   /* 0 for the innermost */
    const char *name; /* for people: "Shop.Rpc.CallAsync", "Task.Delay" */
    uint32_t type;    /* one of the types with this name; GCD_FRAME_NONE = none */
    enum gcd_async_kind kind;
    bool probable; /* it probably waits for its parent */
    bool repeats;  /* the method waits for itself several times in a row */
    /* includes what waits for it: more than 256 frames, or too many stacks */
    bool cut;
    uint64_t stacks; /* stacks that end here: nobody waits for them.  Saturates */
    /* of these, stacks all of whose operations, and what they wait for, have survived a collection
     * before that of the dump: they have waited since then, or wait for what is older than they */
    uint64_t old_stacks;
    /* kept alive only by these stacks; an object counts once.  Saturates */
    uint64_t bytes;
};

/* Completed operations that are still in memory. */
struct gcd_async_completed {
    const char *name; /* of the method */
    uint32_t type;
    uint64_t objects, bytes; /* shallow */
};

struct gcd_async_totals {
    uint64_t operations; /* not completed: async methods, and tasks made of other tasks */
    uint64_t stacks, old_stacks, bytes; /* sums of those of the frames */
    uint64_t probable_stacks;           /* stacks with a probable frame */
    uint64_t completed, completed_bytes;
    uint64_t runtime_calls; /* operations that are calls of methods without state machines */
    uint64_t runtime_async; /* other objects of runtime async; nothing more is known of them */
    /* objects of F# async computations and their agents, which are no operations here */
    uint64_t fsharp_async;
    bool ages_known; /* the dump has memory ranges; else old_stacks are 0 */
};

/*
 * G must outlive the result.  CONTEXT may be NULL.  Memory during the call: about 5 bytes per node
 * and 60 per operation; the result keeps 64 bytes per frame.  No recursion; time grows with objects
 * and references.  GCD_E_NOMEM, GCD_E_CANCELED.
 */
GCD_MUST_CHECK gcd_status gcd_async_new(const struct gcd_graph *g,
                                        const struct gcd_context *context, struct gcd_async **ret,
                                        struct gcd_error *err);
/* Only which operations wait for what, in an eighth of the time: what stacks keep alive is 0 bytes,
 * and does not order them. */
GCD_MUST_CHECK gcd_status gcd_async_waits_new(const struct gcd_graph *g,
                                              const struct gcd_context *context,
                                              struct gcd_async **ret, struct gcd_error *err);
void gcd_async_free(struct gcd_async *a);

/* Everything returned below belongs to A. */

/* Totals. */
struct gcd_async_totals gcd_async_totals(const struct gcd_async *a);
/* [*RET_N] */
const struct gcd_async_frame *gcd_async_frames(const struct gcd_async *a, size_t *ret_n);
/* The frames where stacks end: the most frequent stacks first, then by bytes, then by name.
 * [*RET_N] */
const uint32_t *gcd_async_stacks(const struct gcd_async *a, size_t *ret_n);
/*
 * The method of the program in which most stacks wait that something must end: a semaphore, a task
 * that is completed by hand, a blocked thread, a full channel; or for which threads block.  Else
 * timers, sockets and readers of channels wait as part of their work.  ORIGINS tells which types
 * are the program's.
 */
struct gcd_async_jam {
    uint32_t method;    /* the frame of the innermost method of the program */
    uint32_t waits_for; /* the innermost frame */
    uint64_t stacks, old_stacks;
    uint64_t threads; /* of these, stacks for which a thread blocks in Wait or Result */
    /* other stacks with a method of the program that is in these: who could end the wait; saturates
     */
    uint64_t others;
    uint32_t others_wait_for; /* the innermost frame of most of them; GCD_FRAME_NONE = of none */
    uint64_t others_there;    /* of these so many */
    uint32_t others_method;   /* the innermost method of the program of most of these;
                                 GCD_FRAME_NONE: one of those in which the stacks wait, or none */
    /* gcd_async_jam_place: the semaphores that anybody waits for; and the calls that refer to
     * another one of these than they wait for, themselves or what waits for them: they may hold it
     */
    uint64_t gates, crossing;
    uint64_t semaphores; /* of these, those with PLACE */
    /* calls in a later step than that where others of their method first wait for a semaphore, so
     * that they may hold it: for another one; for the same one again */
    uint64_t later, again;
    bool later_differ; /* LATER wait for several semaphores */
    bool steps_known;  /* else these are 0 */
    /* the threads that block in PLACE, all of the thread pool; 0 = not known */
    uint64_t blocked;
    bool pool;
};
/* False: fewer than GCD_ASYNC_JAM stacks wait in each.  ALLOC may be NULL.  GCD_E_NOMEM. */
#define GCD_ASYNC_JAM 10u
GCD_MUST_CHECK gcd_status gcd_async_find_jam(const struct gcd_async *a,
                                             const struct gcd_origins *origins,
                                             const struct gcd_alloc *alloc,
                                             struct gcd_async_jam *ret, bool *ret_found,
                                             struct gcd_error *err);

/* What the names in the place of a jam come from. */
struct gcd_async_jam_of {
    struct gcd_context context;
    const struct gcd_graph *graph;   /* that of the operations */
    const struct gcd_fields *fields; /* may be NULL */
    const struct gcd_names *names;   /* may be NULL */
    const struct gcd_origins *origins;
    /* which await the call with its variables at ADDRESS has come to, see gcd_session_step; NULL =
     * of no call is that known */
    uint32_t (*step)(void *steps, uint64_t address); /* GCD_STEP_UNKNOWN */
    void *steps;
};
#define GCD_STEP_UNKNOWN UINT32_MAX
/*
 * The field or static variable of the program with the SemaphoreSlim that nearly all calls of JAM
 * wait for, or with the collection in which all are, in RET[CAP]: "Shop.Renderer._gate",
 * "Shop.LockRegistry._locks", cut if it does not fit; "": not one, or it is not known.  .NET 8 to
 * 11: those who wait are in a list that begins and ends in the semaphore.  If threads block, the
 * method of the program in which most of them do; memory images tell it.  Two passes over the
 * objects, and one over those of the program and collections for each level of the collection, at
 * most 7; 3 bits per node.  GCD_E_NOMEM, GCD_E_CANCELED.
 */
GCD_MUST_CHECK gcd_status gcd_async_jam_place(const struct gcd_async *a, struct gcd_async_jam *jam,
                                              const struct gcd_async_jam_of *of, char *ret,
                                              size_t cap, struct gcd_error *err);
#define GCD_ASYNC_PLACE_BYTES 460

/* "39 calls wait in Gate.EnterAsync for SemaphoreSlim.WaitAsync of Gate._slots, all since ...", and
 * for a semaphore who could release it: sentences for people, cut if they do not fit into CAP bytes
 * with their NUL.  PLACE: gcd_async_jam_place. */
void gcd_async_jam_text(const struct gcd_async *a, const struct gcd_async_jam *jam,
                        const char *place, char *ret, size_t cap);
#define GCD_ASYNC_JAM_BYTES 1900

/* Completed operations by method, the most frequent first.  [*RET_N] */
const struct gcd_async_completed *gcd_async_completed(const struct gcd_async *a, size_t *ret_n);

#endif
