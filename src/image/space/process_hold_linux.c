/*
 * The child that stops a process (ptrace(2)): PTRACE_SEIZE and PTRACE_INTERRUPT for each thread,
 * until no new one appears.  It shares its answer with us in memory.  It is a copy of a program
 * that may have several threads, so it calls nothing but the system.
 */
#include "image/space/process_hold.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/error.h"
#include "base/mem.h"

#define STACK_POINTER 19u /* rsp in struct user_regs_struct */
#define LISTING_BYTES 32768u
#define PASSES_MAX    100u
#define POLL_NS       20000
#define ANSWER_NS     UINT64_C(2000000000) /* for the child, beyond the time of the stop */

enum answer { STOPPED, RELEASED, TOO_LATE, REFUSED, ENDED, MANY_THREADS };

struct held_thread {
    pid_t id;
    bool stopped, gone;
    int signal; /* that it was about to receive */
};

/* Memory of both. */
struct shared {
    uint64_t most_ns;              /* of the stop: the question */
    uint64_t begun_ns, ended_ns;   /* of the stop */
    uint32_t answer;               /* enum answer */
    int error;                     /* errno */
    uint32_t count, stopped_count; /* of HELD; of THREADS */
    struct held_thread held[HOLD_THREADS_MAX];
    struct image_thread threads[HOLD_THREADS_MAX];
};

struct process_hold {
    struct gcd_alloc alloc;
    uint32_t pid;
    pid_t child;
    int socket;
    struct shared *shared;
};

/* ---- in the child ---- */

static long trace(int request, pid_t id, uintptr_t address, uintptr_t data)
{
    return syscall(SYS_ptrace, request, id, address, data);
}

/* Is the thread a zombie, or has it ended?  It cannot be traced, and does nothing more. */
static bool has_ended(uint32_t pid, pid_t id)
{
    char path[64], text[512];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/task/%d/stat", pid, (int)id);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true;
    ssize_t n = read(fd, text, sizeof text - 1);
    (void)close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *state = strrchr(text, ')');
    return state == NULL || state[1] != ' ' || state[2] == 'Z' || state[2] == 'X';
}

static struct held_thread *held_of(struct shared *s, pid_t id)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->held[i].id == id)
            return &s->held[i];
    return NULL;
}

/* Seizes the thread ID unless it is held already.  False: S->answer says why not. */
static bool seize_thread(struct shared *s, uint32_t pid, pid_t id, bool *ret_new)
{
    if (held_of(s, id) != NULL)
        return true;
    if (s->count == HOLD_THREADS_MAX) {
        s->answer = MANY_THREADS;
        return false;
    }
    if (trace(PTRACE_SEIZE, id, 0, 0) != 0) {
        s->error = errno;
        s->answer = REFUSED;
        return s->error == ESRCH || has_ended(pid, id);
    }
    s->held[s->count++] = (struct held_thread){ .id = id };
    *ret_new = true;
    (void)trace(PTRACE_INTERRUPT, id, 0, 0);
    return true;
}

/* Seizes all threads that the folder FD lists. */
static bool seize_listed(struct shared *s, uint32_t pid, int fd, bool *ret_new)
{
    union {
        char bytes[LISTING_BYTES];
        uint64_t aligned;
    } list;
    long n;
    if (lseek(fd, 0, SEEK_SET) != 0)
        return false;
    while ((n = syscall(SYS_getdents64, fd, list.bytes, sizeof list.bytes)) > 0) {
        uint16_t bytes;
        /* struct linux_dirent64: inode, offset, bytes u16 at 16, type u8, name at 19 */
        for (long at = 0; at < n; at += bytes) {
            memcpy(&bytes, list.bytes + at + 16, sizeof bytes);
            long id = strtol(list.bytes + at + 19, NULL, 10);
            if (id > 0 && !seize_thread(s, pid, (pid_t)id, ret_new))
                return false;
        }
    }
    return true;
}

static bool all_stopped(const struct shared *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (!s->held[i].stopped && !s->held[i].gone)
            return false;
    return true;
}

/* Waits until all seized threads have stopped or ended. */
static bool await_stops(struct shared *s)
{
    while (!all_stopped(s)) {
        int status = 0;
        pid_t id = waitpid(-1, &status, __WALL | WNOHANG);
        struct held_thread *t = id > 0 ? held_of(s, id) : NULL;
        if (t != NULL && WIFSTOPPED(status)) {
            t->stopped = true;
            /* not in the stop of PTRACE_INTERRUPT, and in none of SIGSTOP: a signal is coming */
            t->signal = status >> 16 == 0 ? WSTOPSIG(status) : 0;
        } else if (t != NULL) {
            t->gone = true;
        } else if (id < 0 && errno == ECHILD) {
            return true;
        } else if (gcd_clock_ns() - s->begun_ns >= s->most_ns) {
            s->answer = TOO_LATE;
            return false;
        } else if (id == 0) {
            (void)nanosleep(&(struct timespec){ .tv_nsec = POLL_NS }, NULL);
        }
    }
    return true;
}

static void read_registers(struct shared *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        struct image_thread *to = &s->threads[s->stopped_count];
        struct iovec words = { to->registers, sizeof to->registers };
        if (!s->held[i].stopped ||
            trace(PTRACE_GETREGSET, s->held[i].id, NT_PRSTATUS, (uintptr_t)&words) != 0)
            continue;
        to->id = (uint32_t)s->held[i].id;
        to->stack_pointer = to->registers[STACK_POINTER];
        s->stopped_count++;
    }
}

static void release_threads(struct shared *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->held[i].stopped)
            (void)trace(PTRACE_DETACH, s->held[i].id, 0, (uintptr_t)s->held[i].signal);
    s->ended_ns = gcd_clock_ns();
}

static bool stop_threads(struct shared *s, uint32_t pid, int tasks)
{
    bool is_new = true;
    s->count = s->stopped_count = 0;
    s->begun_ns = gcd_clock_ns();
    for (unsigned pass = 0; is_new && pass < PASSES_MAX; pass++) {
        is_new = false;
        s->answer = ENDED; /* unless it turns out otherwise */
        if (!seize_listed(s, pid, tasks, &is_new) || !await_stops(s))
            return false;
    }
    read_registers(s);
    s->answer = is_new ? TOO_LATE : s->stopped_count > 0 ? STOPPED : ENDED;
    return s->answer == STOPPED;
}

/* Waits for a word of the parent; false: the time of the stop has passed first. */
static bool await_word(int fd, uint64_t until_ns)
{
    for (;;) {
        uint64_t now = gcd_clock_ns();
        struct pollfd p = { .fd = fd, .events = POLLIN };
        struct timespec left = { .tv_sec = 0 };
        if (now < until_ns) {
            left.tv_sec = (time_t)((until_ns - now) / GCD_NS_PER_SECOND);
            left.tv_nsec = (long)((until_ns - now) % GCD_NS_PER_SECOND);
        }
        int n = ppoll(&p, 1, &left, NULL);
        if (n > 0)
            return true;
        if (n == 0 && now >= until_ns)
            return false;
    }
}

static bool read_word(int fd)
{
    char word;
    ssize_t n;
    do
        n = read(fd, &word, 1);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

static void say(int fd)
{
    (void)send(fd, "", 1, MSG_NOSIGNAL);
}

/* A word means: stop; the next one: let go. */
static void serve(struct shared *s, uint32_t pid, int fd)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/task", pid);
    int tasks = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (read_word(fd)) {
        bool stopped = tasks >= 0 && stop_threads(s, pid, tasks);
        if (tasks < 0)
            s->answer = ENDED;
        if (!stopped) {
            release_threads(s);
            if (!all_stopped(s)) /* what has not stopped is let go by the end of the child */
                return;
            say(fd);
            continue;
        }
        say(fd);
        bool asked = await_word(fd, s->begun_ns + s->most_ns);
        release_threads(s);
        s->answer = asked ? RELEASED : TOO_LATE;
        if (!read_word(fd))
            return;
        say(fd);
    }
}

static void run_child(struct shared *s, uint32_t pid, int fd, pid_t parent)
{
    sigset_t all;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent)
        return;
    (void)prctl(PR_SET_NAME, "gcdumpc-hold", 0, 0, 0);
    (void)setpgid(0, 0); /* what stops us, such as Ctrl-Z, must not stop it */
#ifdef SYS_close_range
    if (fd > 0)
        (void)syscall(SYS_close_range, 0, fd - 1, 0);
    (void)syscall(SYS_close_range, fd + 1, ~0u, 0);
#endif
    serve(s, pid, fd);
}

/* ---- ours ---- */

static gcd_status start_child(struct process_hold *h, struct gcd_error *err)
{
    int ends[2];
    pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return gcd_fail_os(err, errno, "cannot make a socket");
    pid_t child = fork();
    if (child == 0) {
        run_child(h->shared, h->pid, ends[1], parent);
        (void)kill(getpid(), SIGKILL); /* without what a program does at its end */
    }
    int e = errno;
    (void)close(ends[1]);
    if (child < 0) {
        (void)close(ends[0]);
        return gcd_fail_os(err, e, "cannot start a process");
    }
    h->child = child;
    h->socket = ends[0];
    return GCD_OK;
}

static void end_child(struct process_hold *h)
{
    if (h->child <= 0)
        return;
    (void)kill(h->child, SIGKILL);
    while (waitpid(h->child, NULL, 0) < 0 && errno == EINTR) {
    }
    (void)close(h->socket);
    h->child = 0;
}

gcd_status process_hold_new(uint32_t pid, const struct gcd_alloc *alloc, struct process_hold **ret,
                            struct gcd_error *err)
{
    struct process_hold *h = gcd_mem_new(alloc, sizeof *h);
    if (h == NULL)
        return gcd_fail_nomem(err, "stopping a process");
    *h = (struct process_hold){ .alloc = *alloc, .pid = pid };
    h->shared = mmap(NULL, sizeof *h->shared, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    gcd_status st =
        h->shared != MAP_FAILED ? start_child(h, err) : gcd_fail_nomem(err, "stopping a process");
    if (st != GCD_OK) {
        process_hold_free(h);
        return st;
    }
    *ret = h;
    return GCD_OK;
}

void process_hold_free(struct process_hold *h)
{
    if (h == NULL)
        return;
    end_child(h); /* lets the process go on */
    if (h->shared != MAP_FAILED)
        (void)munmap(h->shared, sizeof *h->shared);
    struct gcd_alloc a = h->alloc;
    gcd_mem_free(&a, h, sizeof *h);
}

/* Says a word to the child, and waits for its answer.  A child that does not answer is ended. */
static bool ask_child(struct process_hold *h, uint64_t most_ns)
{
    bool answered = h->child > 0 && send(h->socket, "", 1, MSG_NOSIGNAL) == 1 &&
                    await_word(h->socket, gcd_clock_ns() + most_ns + ANSWER_NS) &&
                    read_word(h->socket);
    if (!answered)
        end_child(h);
    return answered;
}

static gcd_status failure(const struct process_hold *h, struct gcd_error *err)
{
    switch ((enum answer)h->shared->answer) {
    case REFUSED:
        if (h->shared->error == EPERM)
            return gcd_because(
                err, GCD_ERROR_PERMISSION,
                gcd_fail_os(err, EPERM, "cannot stop it: another debugger may be tracing it"));
        return gcd_fail_os(err, h->shared->error, "cannot stop it");
    case TOO_LATE:
        return gcd_because(err, GCD_ERROR_TIMEOUT,
                           gcd_fail(err, GCD_E_PEER,
                                    "not all of its threads stopped within %" PRIu64 " ms",
                                    h->shared->most_ns / GCD_NS_PER_MS));
    case MANY_THREADS:
        return gcd_fail(err, GCD_E_LIMIT, "it has more than %u threads", HOLD_THREADS_MAX);
    default:
        return gcd_fail_gone(err);
    }
}

gcd_status process_hold_stop(struct process_hold *h, uint64_t most_ns, struct gcd_error *err)
{
    if (h->child == 0)
        GCD_TRY(start_child(h, err));
    h->shared->most_ns = most_ns;
    h->shared->answer = TOO_LATE; /* what it is if the child ends */
    return ask_child(h, most_ns) && h->shared->answer == STOPPED ? GCD_OK : failure(h, err);
}

const struct image_thread *process_hold_threads(const struct process_hold *h, size_t *ret_count)
{
    *ret_count = h->shared->stopped_count;
    return h->shared->threads;
}

bool process_hold_release(struct process_hold *h, uint64_t *ret_ns)
{
    bool answered = ask_child(h, 0);
    uint64_t end = answered ? h->shared->ended_ns : gcd_clock_ns();
    *ret_ns = end - h->shared->begun_ns;
    return answered && h->shared->answer == RELEASED;
}
