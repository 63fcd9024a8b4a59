/* What /proc says about a process that may have a diagnostic socket. */
#ifndef GCD_IPC_PROCFS_H
#define GCD_IPC_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/status.h>

/* Reads the beginning of a small file as a string.  0 or a negated errno. */
int gcd_procfs_small(const char *path, char *buf, size_t cap);
/* The number after KEY at the beginning of a line of FOLDER/NAME; 0 when there is none. */
uint64_t gcd_procfs_key(const char *folder, const char *name, const char *key);

/* The environment variable NAME of PID, "" if it has none.  False when the environment cannot be
 * read. */
bool gcd_procfs_variable(const char *proc, uint32_t pid, const char *name, char *ret, size_t cap);

struct gcd_procfs_target {
    uint32_t pid;       /* as the caller sees it */
    uint32_t inner_pid; /* as the process sees it; part of its socket's name */
    bool uids_known;
    /* effective and saved: the owner of files it creates, and of files it may have created before
     * it changed user */
    uint32_t uid, saved_uid;
    bool nested;                   /* the process is in a pid namespace below the caller's */
    uint64_t start_jiffies;        /* the key in the socket's name */
    bool env_known;                /* its environment could be read */
    char tmpdir[GCD_IPC_PATH_MAX]; /* its TMPDIR; empty when unset, or !env_known */
};

/*
 * When PID started, since boot; together with PID this distinguishes a process from a later one
 * with the same number.  GCD_E_NOT_FOUND: no such process, or it has ended; GCD_E_IO; GCD_E_FORMAT.
 */
GCD_MUST_CHECK gcd_status gcd_procfs_start(const char *proc, uint32_t pid, uint64_t *ret_jiffies,
                                           struct gcd_error *err);

/*
 * Read PROC/PID/{stat,status,environ}.  The errors of gcd_procfs_start, and GCD_E_NOT_FOUND when
 * PID is a thread.  An unreadable environment is not an error.
 */
GCD_MUST_CHECK gcd_status gcd_procfs_read(const char *proc, uint32_t pid,
                                          struct gcd_procfs_target *ret, struct gcd_error *err);

/* What a list of processes shows.  Unreadable values are 0 or empty. */
struct gcd_procfs_facts {
    bool kernel;            /* a kernel thread, not a program */
    bool stopped;           /* by a signal or a debugger */
    uint32_t uid;           /* effective; UINT32_MAX = unknown */
    uint64_t start_jiffies; /* since boot */
    uint64_t rss_bytes;
    uint64_t anonymous_bytes, file_bytes, shared_bytes; /* parts of these; before Linux 4.5 0 */
    uint64_t swapped_bytes;
    /* memory that is not resident: swapped out, or in its own huge pages */
    uint64_t away_bytes;
    /* the kernel's name for it: the first 15 bytes of the program's name */
    char name[64];
    char exe[256]; /* file name of the program, without its folder */
};

/* Does process PID exist?  Also true when unknown. */
bool gcd_procfs_exists(const char *proc, uint32_t pid);

/* False when the process is gone or not visible. */
bool gcd_procfs_facts(const char *proc, uint32_t pid, struct gcd_procfs_facts *ret);

/* gcd_procfs_facts and gcd_procfs_read, reading each file once.  False: it is no process that could
 * be dumped, RET_TARGET is not filled, and of RET_FACTS only what the kernel is. */
bool gcd_procfs_both(const char *proc, uint32_t pid, struct gcd_procfs_facts *ret_facts,
                     struct gcd_procfs_target *ret_target);

/* Is one of the first threads of process PID, a thousand at most, called NAME?  False when unknown.
 */
bool gcd_procfs_has_thread(const char *proc, uint32_t pid, const char *name);

/* Is the runtime of process PID CoreCLR, whose heap can be read from its memory?  False when
 * unknown: from .NET 11 on it is known by its library or program, which may not be visible. */
bool gcd_procfs_is_coreclr(const char *proc, uint32_t pid);

/* Does process PID map a composite image, NAME.r2r.dll?  False when unknown. */
bool gcd_procfs_is_composite(const char *proc, uint32_t pid);

/* Has process PID a socket among its first 4,096 descriptors, or can it not be told?  Without one
 * it has no diagnostic socket. */
bool gcd_procfs_may_have_socket(const char *proc, uint32_t pid);

/* Arguments separated by spaces, at most one megabyte; NULL when out of memory, "" when unknown.
 * *RET_CAP: what to free. */
char *gcd_procfs_command_line(const char *proc, uint32_t pid, size_t *ret_cap);

/* Milliseconds since boot; 0 when unknown. */
uint64_t gcd_procfs_now_ms(const char *proc);
/* Milliseconds since a process started, NOW_MS since boot; 0 when unknown. */
uint64_t gcd_procfs_age_ms(uint64_t now_ms, uint64_t start_jiffies);

#endif
