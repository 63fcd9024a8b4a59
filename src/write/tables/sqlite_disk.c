/*
 * Why not /proc/self/fd/N with journal_mode=OFF: SQLite (3.40, tried with strace) does not open
 * that name.  It reads the link and opens the path that the link shows, so between the two calls
 * another user can put another file there or replace a folder on the path.  It also fails for paths
 * above 512 bytes, for a file without a name, and without a mounted /proc.  Writes would also
 * bypass gcd_staged_keep_room.
 */
#include "write/tables/sqlite_disk.h"

#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/staged_file.h>

enum { SECTOR_BYTES = 4096 };

/* The database as an open SQLite file. */
struct open_file {
    sqlite3_file base; /* first: SQLite sees only this */
    struct sqlite_disk *disk;
};

static struct sqlite_disk *disk_of(sqlite3_file *file)
{
    return ((struct open_file *)file)->disk;
}

/* ---- the file ---- */

static int file_close(sqlite3_file *file)
{
    (void)file; /* the staged output stays open */
    return SQLITE_OK;
}

static int file_read(sqlite3_file *file, void *buf, int n, sqlite3_int64 off)
{
    struct sqlite_disk *d = disk_of(file);
    size_t got = 0;
    if (gcd_staged_read_at(d->staged, (uint64_t)off, buf, (size_t)n, &got, &d->err) != GCD_OK)
        return SQLITE_IOERR_READ;
    if (got == (size_t)n)
        return SQLITE_OK;
    memset((char *)buf + got, 0, (size_t)n - got); /* SQLite requires zeros */
    return SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *file, const void *buf, int n, sqlite3_int64 off)
{
    struct sqlite_disk *d = disk_of(file);
    return gcd_staged_write_at(d->staged, (uint64_t)off, buf, (size_t)n, &d->err) == GCD_OK
               ? SQLITE_OK
               : SQLITE_IOERR_WRITE;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 bytes)
{
    struct sqlite_disk *d = disk_of(file);
    return gcd_staged_resize(d->staged, (uint64_t)bytes, &d->err) == GCD_OK ? SQLITE_OK
                                                                            : SQLITE_IOERR_TRUNCATE;
}

static int file_sync(sqlite3_file *file, int flags)
{
    (void)file;
    (void)flags; /* gcd_staged_commit syncs */
    return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *ret)
{
    *ret = (sqlite3_int64)gcd_staged_bytes(disk_of(file)->staged);
    return SQLITE_OK;
}

/* No other process uses the file, so locks do nothing. */
static int file_lock(sqlite3_file *file, int kind)
{
    (void)file;
    (void)kind;
    return SQLITE_OK;
}

static int file_is_reserved(sqlite3_file *file, int *ret)
{
    (void)file;
    *ret = 0;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *file, int what, void *arg)
{
    (void)file;
    (void)what;
    (void)arg;
    return SQLITE_NOTFOUND;
}

static int file_sector_bytes(sqlite3_file *file)
{
    (void)file;
    return SECTOR_BYTES;
}

static int file_traits(sqlite3_file *file)
{
    (void)file;
    return 0;
}

static const sqlite3_io_methods file_methods = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_lock,
    .xCheckReservedLock = file_is_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector_bytes,
    .xDeviceCharacteristics = file_traits,
};

/* ---- the file system ---- */

static sqlite3_vfs *system_of(sqlite3_vfs *vfs)
{
    return ((struct sqlite_disk *)vfs->pAppData)->system;
}

static int disk_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                     int *ret_flags)
{
    if ((flags & SQLITE_OPEN_MAIN_DB) == 0)
        return system_of(vfs)->xOpen(system_of(vfs), name, file, flags, ret_flags);
    struct open_file *f = (struct open_file *)file;
    f->base.pMethods = &file_methods;
    f->disk = vfs->pAppData;
    if (ret_flags != NULL)
        *ret_flags = flags;
    return SQLITE_OK;
}

/* Nothing to delete: there is one file, and temporary files delete themselves. */
static int disk_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    (void)name;
    (void)sync;
    return SQLITE_IOERR_DELETE_NOENT;
}

static int disk_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret)
{
    (void)vfs;
    (void)name;
    (void)flags;
    *ret = 0;
    return SQLITE_OK;
}

static int disk_full_name(sqlite3_vfs *vfs, const char *name, int cap, char *ret)
{
    (void)vfs;
    (void)snprintf(ret, (size_t)cap, "%s", name);
    return SQLITE_OK;
}

static int disk_randomness(sqlite3_vfs *vfs, int n, char *ret)
{
    return system_of(vfs)->xRandomness(system_of(vfs), n, ret);
}

static int disk_sleep(sqlite3_vfs *vfs, int us)
{
    return system_of(vfs)->xSleep(system_of(vfs), us);
}

static int disk_time(sqlite3_vfs *vfs, double *ret)
{
    return system_of(vfs)->xCurrentTime(system_of(vfs), ret);
}

static int disk_last_error(sqlite3_vfs *vfs, int n, char *ret)
{
    return system_of(vfs)->xGetLastError(system_of(vfs), n, ret);
}

int sqlite_disk_open(struct sqlite_disk *disk, struct gcd_staged *staged, sqlite3 **ret_db)
{
    *ret_db = NULL;
    *disk = (struct sqlite_disk){ .system = sqlite3_vfs_find(NULL),
                                  .staged = staged,
                                  .err = GCD_ERROR_INIT };
    if (disk->system == NULL)
        return SQLITE_ERROR;
    int own = (int)sizeof(struct open_file), other = disk->system->szOsFile;
    (void)snprintf(disk->name, sizeof disk->name, "gcdumpc-%p", (void *)disk);
    disk->vfs = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = own > other ? own : other,
        .mxPathname = disk->system->mxPathname,
        .zName = disk->name,
        .pAppData = disk,
        .xOpen = disk_open,
        .xDelete = disk_delete,
        .xAccess = disk_access,
        .xFullPathname = disk_full_name,
        .xRandomness = disk_randomness,
        .xSleep = disk_sleep,
        .xCurrentTime = disk_time,
        .xGetLastError = disk_last_error,
    };
    /* looked up by name only once, by us: the database keeps the VFS */
    int rc = sqlite3_vfs_register(&disk->vfs, 0);
    if (rc == SQLITE_OK) {
        rc = sqlite3_open_v2("database", ret_db,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE,
                             disk->name);
        (void)sqlite3_vfs_unregister(&disk->vfs);
    }
    return rc;
}
