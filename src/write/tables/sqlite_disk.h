/*
 * A file system (VFS) for SQLite whose only file is an output of ours.  SQLite opens files by name,
 * and follows links and renamed folders on the way, but this file is already open.  So its name,
 * the length of its path and the files beside it do not matter either.
 */
#ifndef GCD_WRITE_SQLITE_DISK_H
#define GCD_WRITE_SQLITE_DISK_H

#include <gcdumpc/io.h>
#include <gcdumpc/status.h>
#include <gcdumpc/unstable/staged_file.h>
#include <sqlite3.h>

struct sqlite_disk {
    sqlite3_vfs vfs;
    sqlite3_vfs *system; /* the default VFS: temporary files, time, random numbers */
    struct gcd_staged *staged;
    /* GCD_OK, or why the last access failed; SQLite reports only that it did */
    struct gcd_error err;
    char name[32];
};

/*
 * Opens the database in the empty file of STAGED, for one thread, without journals and locks.  DISK
 * and STAGED must outlive it.  As with sqlite3_open_v2, always close *RET_DB.
 */
int sqlite_disk_open(struct sqlite_disk *disk, struct gcd_staged *staged, sqlite3 **ret_db);

#endif
