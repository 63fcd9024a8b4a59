#include <gcdumpc/unstable/staged_file.h>

#include <limits.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "io/file.h"

struct gcd_staged {
    struct gcd_alloc alloc;
    enum gcd_staged_kind kind;
    uint64_t written;    /* bytes written anywhere */
    uint64_t room_until; /* disk space is known to suffice up to this size */
    int fd;              /* the temporary file or folder; -1 = committed, or never opened */
    size_t path_n;
    char *path; /* [path_n + 1] */
    struct gcd_temporary temporary;
    char temp[PATH_MAX]; /* its path; "" = none */
};

gcd_status gcd_staged_open(const char *path, enum gcd_staged_kind kind,
                           const struct gcd_alloc *alloc, struct gcd_staged **ret,
                           struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct gcd_staged *p = gcd_mem_new(&a, sizeof *p);
    if (p == NULL)
        return gcd_fail_nomem(err, "opening the output");
    p->alloc = a;
    p->kind = kind;
    p->fd = -1;
    p->room_until = GCD_ROOM_UNKEPT;
    p->temporary = GCD_TEMPORARY_NONE;
    p->path_n = strlen(path);
    while (kind == GCD_STAGED_FOLDER && p->path_n > 1 && path[p->path_n - 1] == '/')
        p->path_n--;
    p->path = gcd_mem_strndup(&a, path, p->path_n);
    gcd_status st = p->path == NULL ? gcd_fail_nomem(err, "opening the output")
                                    : gcd_file_open_staged(p->path, kind == GCD_STAGED_FOLDER,
                                                           &p->fd, &p->temporary, err);
    if (st != GCD_OK) {
        gcd_staged_free(p);
        return st;
    }
    gcd_temporary_path(&p->temporary, p->path, p->temp, sizeof p->temp);
    *ret = p;
    return GCD_OK;
}

const char *gcd_staged_temporary(const struct gcd_staged *p)
{
    return p->temp;
}

const char *gcd_staged_path(const struct gcd_staged *p)
{
    return p->path;
}

enum gcd_staged_kind gcd_staged_kind(const struct gcd_staged *p)
{
    return p->kind;
}

void gcd_staged_keep_room(struct gcd_staged *p)
{
    p->room_until = GCD_ROOM_KEPT;
}

bool gcd_staged_keeps_room(const struct gcd_staged *p)
{
    return p->room_until != GCD_ROOM_UNKEPT;
}

uint64_t gcd_staged_bytes(const struct gcd_staged *p)
{
    return p->fd >= 0 ? gcd_file_bytes(p->fd) : 0;
}

static gcd_status is_file(const struct gcd_staged *p, struct gcd_error *err)
{
    return p->fd >= 0 && p->kind == GCD_STAGED_FILE
               ? GCD_OK
               : gcd_fail(err, GCD_E_STATE, "the output is a folder, or committed");
}

gcd_status gcd_staged_read_at(const struct gcd_staged *p, uint64_t off, void *buf, size_t n,
                              size_t *ret_n, struct gcd_error *err)
{
    GCD_TRY(is_file(p, err));
    size_t done = 0;
    for (size_t got = 1; done < n && got > 0; done += got)
        GCD_TRY(gcd_file_read_at(p->fd, off + done, (char *)buf + done, n - done, &got, err));
    *ret_n = done;
    return GCD_OK;
}

gcd_status gcd_staged_write_at(struct gcd_staged *p, uint64_t off, const void *buf, size_t n,
                               struct gcd_error *err)
{
    GCD_TRY(is_file(p, err));
    GCD_TRY(gcd_file_keep_room(p->fd, &p->room_until, p->written, n, err));
    p->written += n;
    return gcd_file_write_at(p->fd, off, buf, n, err);
}

gcd_status gcd_staged_resize(struct gcd_staged *p, uint64_t bytes, struct gcd_error *err)
{
    GCD_TRY(is_file(p, err));
    return gcd_file_resize(p->fd, bytes, err);
}

gcd_status gcd_staged_commit(struct gcd_staged *p, struct gcd_error *err)
{
    if (p->fd < 0)
        return gcd_fail(err, GCD_E_STATE, "the output is already committed");
    GCD_TRY(gcd_file_publish(p->fd, &p->temporary, err));
    p->temp[0] = '\0';
    (void)gcd_file_close(p->fd, NULL); /* it is synced: it exists, whatever close says */
    p->fd = -1;
    return GCD_OK;
}

void gcd_staged_free(struct gcd_staged *p)
{
    if (p == NULL)
        return;
    gcd_temporary_remove(&p->temporary, p->fd);
    if (p->fd >= 0)
        (void)gcd_file_close(p->fd, NULL);
    if (p->path != NULL)
        gcd_mem_free(&p->alloc, p->path, p->path_n + 1);
    struct gcd_alloc a = p->alloc;
    gcd_mem_free(&a, p, sizeof *p);
}
