#include "job/job.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#ifdef GCDUMPC_HAVE_IPC

#define MOST_BYTES 65536

/* ".NAME.gcdumpc-last" beside the outputs, or above the folders that have fields in their names. */
static bool path_of(const struct job_dump *d, char *ret, size_t cap)
{
    char folder[4096], name[300];
    if (d->template == NULL || !cli_template_folder(d->template, folder, sizeof folder))
        return false;
    cli_template_clean(d->values.name, name, sizeof name);
    int n = snprintf(ret, cap, "%s/.%s.gcdumpc-last", folder, name);
    return n > 0 && (size_t)n < cap;
}

static uint64_t number(const json_t *o, const char *key)
{
    json_int_t n = json_integer_value(json_object_get(o, key));
    return n > 0 ? (uint64_t)n : 0;
}

bool job_last_read(const struct job_dump *d, struct job_last *ret)
{
    char path[4200], text[MOST_BYTES];
    struct stat st;
    if (!path_of(d, path, sizeof path))
        return false;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() ? read(fd, text, sizeof text) : -1;
    (void)close(fd);
    json_t *o = n > 0 ? json_loadb(text, (size_t)n, 0, NULL) : NULL;
    if (o == NULL)
        return false;
    *ret = (struct job_last){ .time = (time_t)number(o, "time"), .rss_bytes = number(o, "rss_bytes"), .heap_bytes = number(o, "heap_bytes"),
                              .pause_ns = number(o, "pause_ns"), .duration_ms = number(o, "duration_ms") };
    json_decref(o);
    return true;
}

enum cli_exit job_last_write(const struct job_dump *d)
{
    char path[4200];
    if (!path_of(d, path, sizeof path))
        return CLI_DONE;
    json_t *o = json_pack("{s:I, s:I, s:I, s:I, s:I}", "time", (json_int_t)d->begun, "rss_bytes", (json_int_t)d->rss_bytes, "heap_bytes",
                          (json_int_t)d->facts.heap_bytes, "pause_ns", (json_int_t)d->facts.pause_ns, "duration_ms", (json_int_t)d->duration_ms);
    char *text = o != NULL ? json_dumps(o, 0) : NULL;
    json_decref(o);
    enum cli_exit e = cli_write_text(path, false, text);
    free(text);
    return e;
}

#endif
