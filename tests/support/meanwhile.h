/*
 * Simulates other processes between two system calls: a hook that runs before each system call with
 * a file name.  Only for programs that tests/CMakeLists.txt builds with meanwhile.c, which defines
 * these calls.
 */
#ifndef MEANWHILE_H
#define MEANWHILE_H

enum meanwhile_call {
    MEANWHILE_OPEN,
    MEANWHILE_STAT,
    MEANWHILE_RENAME,
    MEANWHILE_LINK,
    MEANWHILE_UNLINK
};

/* NAME and FLAGS are those of the call.  Calls made by the hook itself are not reported.  NULL: no
 * hook. */
typedef void (*meanwhile_hook)(enum meanwhile_call call, const char *name, int flags);
void meanwhile(meanwhile_hook hook);

#endif
