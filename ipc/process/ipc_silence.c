/*
 * Why a runtime does not answer, as far as its process tells: it cannot accept a connection because
 * it has no file descriptor left, or it waits at its start until a tool resumes it.
 */
#include "ipc/process/ipc_silence.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/text/plural.h>

#include "ipc/process/ipc_procfs.h"

/* A runtime starts this thread before the program, but after it has waited to be resumed. */
#define FIRST_THREAD ".NET Finalizer"

/* Soft limit of open files; 0 = unknown or unlimited. */
static uint64_t most_files(const char *proc, uint32_t pid)
{
    char path[64], text[4096];
    const char *line;
    (void)snprintf(path, sizeof path, "%.30s/%" PRIu32 "/limits", proc, pid);
    if (gcd_procfs_small(path, text, sizeof text) != 0 ||
        (line = strstr(text, "Max open files")) == NULL)
        return 0;
    return strtoull(line + strlen("Max open files"), NULL, 10);
}

/* Stops counting above MOST; 0 = unknown. */
static uint64_t open_files(const char *proc, uint32_t pid, uint64_t most)
{
    char path[64];
    uint64_t n = 0;
    (void)snprintf(path, sizeof path, "%.30s/%" PRIu32 "/fd", proc, pid);
    DIR *dir = opendir(path);
    for (struct dirent *e; dir != NULL && n <= most && (e = readdir(dir)) != NULL;)
        n += e->d_name[0] != '.';
    if (dir != NULL)
        (void)closedir(dir);
    return n;
}

/* The port of DOTNET_DiagnosticPorts, "PATH[,connect|listen][,suspend|nosuspend][;...]", at which
 * the process waits; PORT[0] is '\0' when it waits for nobody there. */
static void waited_port(char *port)
{
    char *save = NULL, *one = strtok_r(port, ";", &save);
    for (; one != NULL; one = strtok_r(NULL, ";", &save))
        if (strstr(one, ",nosuspend") == NULL) {
            one[strcspn(one, ",")] = '\0';
            memmove(port, one, strlen(one) + 1);
            return;
        }
    port[0] = '\0';
}

bool gcd_silence_read(const char *proc, uint32_t pid, char *ret, size_t cap)
{
    char value[GCD_IPC_PATH_MAX];
    uint64_t most = most_files(proc, pid), n = most != 0 ? open_files(proc, pid, most) : 0;
    /* a runtime that could not accept one keeps its last free descriptor for nothing (measured) */
    if (n != 0 && n + 1 >= most) {
        (void)snprintf(ret, cap,
                       "it has %s of %s files open, so its runtime cannot accept a connection: "
                       "raise the limit "
                       "(prlimit, as root), or start it with a higher one (ulimit -n)",
                       GCD_DIGITS(n), GCD_DIGITS(most));
        return true;
    }
    if (gcd_procfs_has_thread(proc, pid, FIRST_THREAD))
        return false;
    if (gcd_procfs_variable(proc, pid, "DOTNET_DiagnosticPorts", value, sizeof value))
        waited_port(value);
    if (value[0] != '\0') {
        (void)snprintf(ret, cap,
                       "it waits at its start for a tool to resume it "
                       "(DOTNET_DiagnosticPorts=%.100s): gcdumpc collect --listen %.100s does, or "
                       "start it with \",nosuspend\"",
                       value, value);
        return true;
    }
    if (gcd_procfs_variable(proc, pid, "DOTNET_DefaultDiagnosticPortSuspend", value,
                            sizeof value) &&
        strcmp(value, "1") == 0) {
        (void)snprintf(ret, cap,
                       "it waits at its start for a tool to resume it "
                       "(DOTNET_DefaultDiagnosticPortSuspend=1): start it without that, or with "
                       "DOTNET_DiagnosticPorts=FILE and gcdumpc collect --listen FILE");
        return true;
    }
    return false;
}

bool gcd_ipc_silence(uint32_t pid, char *ret, size_t cap)
{
    return gcd_silence_read("/proc", pid, ret, cap);
}
