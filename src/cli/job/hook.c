/*
 * --on-success and --on-failure: runs a program after a dump.  There is no shell: blanks separate
 * words, and nothing else is special.  The program gets its own process group, so that everything
 * it starts ends with it.  Its output goes to standard error, which carries messages.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gcdumpc/unstable/text/shown.h>

#include "exit.h"
#include "job/job.h"
#include "signals.h"
#include "term/message.h"

#ifdef GCDUMPC_HAVE_IPC

#define WORDS_MAX      64u
#define VARIABLES      16u
#define VARIABLE_BYTES 4200u
#define POLL_MS        50
#define PATIENCE_MS    300000
#define GRACE_MS       3000

extern char **environ;

struct environment {
    /* our environment and the variables for the dump; NULL at the end */
    char **all;
    size_t count;
    char text[VARIABLES][VARIABLE_BYTES];
    size_t used;
};

/* Shells print variables: VALUE comes from the process. */
static void set_shown(struct environment *e, const char *name, const char *value)
{
    size_t n = strlen(name), least = 5; /* of a character, "=" and NUL */
    char *to = e->text[e->used];
    memcpy(to, name, n);
    to[n++] = '=';
    for (size_t part; *value != '\0' && n + least < VARIABLE_BYTES; value += part) {
        uint32_t code;
        bool shown;
        part = gcd_text_next(value, strlen(value), &code, &shown);
        memcpy(to + n, shown ? value : "?", shown ? part : 1);
        n += shown ? part : 1;
    }
    to[n] = '\0';
    e->all[e->count++] = e->text[e->used++];
}

GCD_PRINTF(2, 3)
static void set(struct environment *e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(e->text[e->used], VARIABLE_BYTES, fmt, ap);
    va_end(ap);
    e->all[e->count++] = e->text[e->used++];
}

/* NULL when out of memory. */
static struct environment *environment_of(const struct job_dump *d)
{
    size_t n = 0;
    while (environ[n] != NULL)
        n++;
    struct environment *e = calloc(1, sizeof *e);
    char **all = calloc(n + VARIABLES + 1, sizeof *all);
    if (e == NULL || all == NULL) {
        free(e);
        free(all);
        return NULL;
    }
    e->all = all;
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "GCDUMPC_", 8) != 0)
            e->all[e->count++] = environ[i];
    set(e, "GCDUMPC_STATUS=%s", job_status_name(d->status));
    set(e, "GCDUMPC_EXIT=%d", (int)d->exit);
    set_shown(e, "GCDUMPC_NAME", d->name);
    set(e, "GCDUMPC_PID=%" PRIu32, d->pid);
    set_shown(e, "GCDUMPC_RUNTIME", d->runtime);
    set(e, "GCDUMPC_FILE=%s", d->status == JOB_FAILED ? "" : d->paths[JOB_OUTPUT]);
    set(e, "GCDUMPC_SUMMARY=%s", d->status == JOB_FAILED ? "" : d->paths[JOB_SUMMARY]);
    set(e, "GCDUMPC_FILE_BYTES=%" PRIu64, d->file_bytes);
    set(e, "GCDUMPC_COMPLETE=%s", d->facts.complete ? "yes" : "no");
    set(e, "GCDUMPC_OBJECTS=%" PRIu64, d->facts.objects);
    set(e, "GCDUMPC_HEAP_BYTES=%" PRIu64, d->facts.heap_bytes);
    set(e, "GCDUMPC_PAUSE_MS=%" PRIu64, (d->facts.pause_ns + 500000) / 1000000);
    set(e, "GCDUMPC_LOST_EVENTS=%" PRIu64, d->facts.lost_events);
    set(e, "GCDUMPC_SECONDS=%.1f", (double)d->duration_ms / 1000);
    set_shown(e, "GCDUMPC_REASON", d->reason);
    return e;
}

static bool interrupted(void)
{
    return atomic_load(&cli_canceled) && !atomic_load(&cli_timed_out);
}

/* Has PID ended within MS milliseconds?  Leaves it a zombie, so that its number still names its
 * group.  ATTENTIVE: a signal to us ends the wait. */
static bool ended(pid_t pid, int ms, bool attentive)
{
    for (int waited = 0; waited < ms && !(attentive && interrupted()); waited += POLL_MS) {
        siginfo_t info = { .si_pid = 0 };
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid)
            return true;
        (void)poll(NULL, 0, POLL_MS);
    }
    return false;
}

/* Sets *RET_STATUS as waitpid does.  False when we stopped the program: after a signal to us, or
 * because it took too long. */
static bool wait_for(pid_t pid, int *ret_status)
{
    /* the program may report the interrupt, but we do not wait long */
    bool late = interrupted();
    bool by_itself = ended(pid, late ? GRACE_MS : PATIENCE_MS, !late);
    if (!by_itself) {
        (void)kill(-pid, SIGTERM);
        (void)ended(pid, GRACE_MS, false);
        (void)kill(-pid, SIGKILL);
        if (!ended(pid, GRACE_MS, false)) /* even SIGKILL did not help: it hangs in the kernel */
            return false;
    }
    while (waitpid(pid, ret_status, 0) < 0 && errno == EINTR)
        ;
    return by_itself;
}

static int set_attributes(posix_spawnattr_t *a)
{
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE); /* we ignore it, and the program would inherit that */
    sigaddset(&defaults, SIGXFSZ);
    int e = posix_spawnattr_setsigdefault(a, &defaults);
    if (e == 0)
        e = posix_spawnattr_setpgroup(a, 0);
    return e == 0 ? posix_spawnattr_setflags(a, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP) : e;
}

/* No input, because reading from a terminal would stop a background group. */
static int set_files(posix_spawn_file_actions_t *files)
{
    int e = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    return e == 0 ? posix_spawn_file_actions_adddup2(files, STDERR_FILENO, STDOUT_FILENO) : e;
}

/* 0 or an errno. */
static int start(char **words, char **env, pid_t *ret)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    int e = posix_spawnattr_init(&attributes);
    if (e != 0)
        return e;
    e = posix_spawn_file_actions_init(&files);
    if (e == 0) {
        e = set_attributes(&attributes);
        if (e == 0)
            e = set_files(&files);
        if (e == 0)
            e = posix_spawnp(ret, words[0], &files, &attributes, words, env);
        (void)posix_spawn_file_actions_destroy(&files);
    }
    (void)posix_spawnattr_destroy(&attributes);
    return e;
}

static enum cli_exit run(char **words, char **env)
{
    pid_t pid;
    int status = 0, e = start(words, env, &pid);
    if (e != 0)
        return cli_error(CLI_FAILED, words[0], "cannot be run: %s", strerror(e));
    if (!wait_for(pid, &status)) {
        cli_say(words[0], interrupted() ? "was stopped because gcdumpc was interrupted"
                                        : "was stopped because it took too long");
        return interrupted() ? CLI_INTERRUPTED : CLI_FAILED;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return CLI_DONE;
    if (WIFEXITED(status))
        cli_say(words[0], "failed with status %d", WEXITSTATUS(status));
    else
        cli_say(words[0], "was ended by signal %d", WTERMSIG(status));
    return CLI_FAILED;
}

enum cli_exit job_hook(const struct job_dump *d)
{
    const char *command = d->status == JOB_DONE      ? d->args->job.on_success
                          : d->status == JOB_SKIPPED ? NULL
                                                     : d->args->job.on_failure;
    char *words[WORDS_MAX + 1], *at = NULL;
    size_t n = 0;
    if (command == NULL)
        return CLI_DONE;
    char *text = strdup(command);
    struct environment *env = environment_of(d);
    for (char *w = text != NULL ? strtok_r(text, " \t", &at) : NULL; w != NULL && n < WORDS_MAX;
         w = strtok_r(NULL, " \t", &at))
        words[n++] = w;
    words[n] = NULL;
    enum cli_exit e = CLI_FAILED;
    if (text == NULL || env == NULL)
        cli_say(NULL, "out of memory");
    else if (n == 0 || n == WORDS_MAX)
        cli_say(NULL, "a command to run has no words, or more than %u", WORDS_MAX - 1);
    else
        e = run(words, env->all);
    if (env != NULL)
        free(env->all);
    free(env);
    free(text);
    return e;
}

#endif
