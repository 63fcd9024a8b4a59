#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/folders.h>

#include "input/memory.h"
#include "job/state_file.h"
#include "output/output.h"
#include "signals.h"
#include "term/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#ifdef GCDUMPC_HAVE_IPC

/* Together ten seconds. */
#define LOCK_TRIES  200
#define LOCK_TRY_MS 50

bool state_file_stem(const struct job_dump *d, char *ret, size_t cap)
{
    char folder[4096], name[CLI_TEMPLATE_NAME_BYTES], host[CLI_TEMPLATE_NAME_BYTES] = "";
    const struct cli_template *names = job_template(d);
    if (names == NULL || !cli_template_folder(names, folder, sizeof folder) ||
        !cli_template_spell(d->values.name, name))
        return false;
    bool shared = cli_template_uses(names, "h");
    if (shared && !cli_template_spell(d->values.host, host))
        return false;
    int n = snprintf(ret, cap, "%s/.%s%s%s", folder, name, shared ? "@" : "", host);
    return n > 0 && (size_t)n < cap;
}

static char *read_all(int fd, size_t n)
{
    char *text = malloc(n);
    size_t at = 0;
    ssize_t got = 1;
    while (text != NULL && at < n && got > 0) {
        got = read(fd, text + at, n - at);
        at += got > 0 ? (size_t)got : 0;
    }
    if (at == n)
        return text;
    free(text);
    return NULL;
}

json_t *state_file_load(const char *path, size_t most_bytes)
{
    struct stat st;
    int dir_fd = -1, fd = -1;
    if (gcd_folder_open_parent(path, &dir_fd, NULL) == GCD_OK) {
        fd = openat(dir_fd, cli_path_name(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        (void)close(dir_fd);
    }
    if (fd < 0)
        return NULL;
    bool ours = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
                st.st_size > 0 && (uint64_t)st.st_size <= most_bytes;
    char *text = ours ? read_all(fd, (size_t)st.st_size) : NULL;
    (void)close(fd);
    json_t *o = text != NULL ? json_loadb(text, (size_t)st.st_size, 0, NULL) : NULL;
    free(text);
    if (json_is_object(o))
        return o;
    json_decref(o);
    return NULL;
}

int state_file_lock(const char *path)
{
    char folder[4200];
    cli_path_folder(path, folder, sizeof folder);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < LOCK_TRIES && fd >= 0 && !atomic_load(&cli_canceled) &&
                    flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
         i++)
        (void)nanosleep(&(struct timespec){ .tv_nsec = LOCK_TRY_MS * 1000000L }, NULL);
    return fd;
}

enum cli_exit state_file_write(const char *path, json_t *o)
{
    char *text = o != NULL ? json_dumps(o, 0) : NULL;
    json_decref(o);
    struct gcd_sink_options options = {
        .context = { .alloc = cli_alloc(), .cancel = &cli_canceled }, .file_only = true
    };
    enum cli_exit e = cli_write_text(path, &options, text);
    free(text);
    return e;
}

#endif
