#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <gcdumpc/gcdumpc.h>

#include "exit.h"
#include "signals.h"

gcd_cancel_flag cli_canceled, cli_timed_out;
bool cli_reader_gone;

/* The files that a second signal removes. */
static char temporary[CLI_SLOTS][4096];
static volatile sig_atomic_t temporary_set[CLI_SLOTS];
/* A temporary file is being made and its name is not known yet; whatever waits for that checks
 * cli_canceled. */
static volatile sig_atomic_t opening;
static volatile sig_atomic_t first_signal;
static void (*volatile before_end)(void);

#ifdef SYS_getdents64
/* A folder entry as Linux returns it, because readdir is not allowed in a signal handler. */
struct entry {
    uint64_t inode, next;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

/* Removes the files in the open folder FD.  They are few: one read returns them all. */
static void remove_files(int fd)
{
    _Alignas(struct entry) char entries[4096] = { 0 };
    long n = syscall(SYS_getdents64, fd, entries, sizeof entries);
    for (long at = 0; at < n;) {
        const struct entry *e = (const struct entry *)(const void *)(entries + at);
        (void)unlinkat(fd, e->name, 0); /* "." and ".." stay: they are directories */
        at += e->bytes;
    }
}
#else
static void remove_files(int fd)
{
    (void)fd;
}
#endif

/* Removes a temporary file, or a folder, which is the only entry of a private folder. */
static void remove_temporary(char *path)
{
    if (unlink(path) == 0 || errno != EISDIR)
        return;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        remove_files(fd);
    char *slash = strrchr(path, '/');
    if (rmdir(path) != 0 || slash == NULL)
        return;
    *slash = '\0';
    (void)rmdir(path);
}

/* Ends the program at once, with temporary files removed. */
static void end_now(enum cli_exit e)
{
    for (int i = 0; i < CLI_SLOTS; i++)
        if (temporary_set[i])
            remove_temporary(temporary[i]);
    if (before_end != NULL)
        before_end();
    _exit((int)e);
}

/* A mapped file became shorter, or its disk failed: what was read is not there. */
static void on_bus(int sig)
{
    static const char text[] = "gcdumpc: a file was cut while it was read, or its disk failed\n";
    (void)sig;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    end_now(CLI_FAILED);
}

/*
 * The first signal asks politely: the work in hand is given up, temporary files are removed, a
 * session in the target is stopped. A second signal ends the program at once.
 */
static void on_signal(int sig)
{
    if (first_signal == 0)
        first_signal = sig;
    if (!atomic_exchange(&cli_canceled, true) || opening)
        return;
    end_now(CLI_INTERRUPTED);
}

int cli_signal(void)
{
    return first_signal;
}

void cli_before_end(void (*restore)(void))
{
    before_end = restore;
}

void cli_temporary_comes(void)
{
    opening = 1;
}

void cli_temporary(enum cli_slot slot, const char *path)
{
    temporary_set[slot] = 0;
    if (path != NULL && strlen(path) < sizeof temporary[slot]) {
        memcpy(temporary[slot], path, strlen(path) + 1);
        temporary_set[slot] = path[0] != '\0';
    }
    opening = 0;
}

void cli_set_signals(void)
{
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_handler = on_signal;
    sigemptyset(&a.sa_mask);
    static const int stop[] = { SIGINT, SIGTERM, SIGHUP };
    for (size_t i = 0; i < sizeof stop / sizeof *stop;
         i++) /* mask the other signals, so that handlers do not interrupt each other */
        sigaddset(&a.sa_mask, stop[i]);
    for (size_t i = 0; i < sizeof stop / sizeof *stop; i++) {
        struct sigaction old;
        if (sigaction(stop[i], NULL, &old) == 0 &&
            old.sa_handler != SIG_IGN) /* nohup stays nohup */
            (void)sigaction(stop[i], &a, NULL);
    }
    a.sa_handler = on_bus;
    (void)sigaction(SIGBUS, &a, NULL);
    /* a closed pipe becomes a write error, after which files are still removed */
    a.sa_handler = SIG_IGN;
    (void)sigaction(SIGPIPE, &a, NULL);
    (void)sigaction(SIGXFSZ, &a, NULL); /* likewise a file size limit */
}

void cli_end_by_sigpipe(void)
{
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_handler = SIG_DFL;
    (void)sigaction(SIGPIPE, &a, NULL);
    (void)raise(SIGPIPE);
}

static void on_alarm(int sig)
{
    (void)sig;
    if (!atomic_exchange(&cli_canceled, true))
        atomic_store(&cli_timed_out, true);
}

void cli_clear_cancel(void)
{
    atomic_store(&cli_timed_out, false);
    atomic_store(&cli_canceled, false);
}

/* Repeats every second, because a call that must be interrupted may begin just after the first
 * signal. */
void cli_deadline(uint64_t seconds)
{
    struct itimerval t = { .it_value.tv_sec = (time_t)seconds, .it_interval.tv_sec = seconds > 0 };
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_handler = on_alarm;
    sigemptyset(&a.sa_mask);
    (void)sigaction(SIGALRM, &a, NULL);
    (void)setitimer(ITIMER_REAL, &t, NULL);
}

int cli_thread_start(pthread_t *ret, void *(*run)(void *ctx), void *ctx)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int e = pthread_create(ret, NULL, run, ctx);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return e;
}
