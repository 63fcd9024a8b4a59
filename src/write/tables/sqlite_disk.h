/*
 * An output of ours as the only file of SQLite's file system: SQLite opens files by name, and follows links and renamed folders on the way,
 * but this one is open already.  Nor does it matter then what it is called, how long its path is, or what lies beside it.
 */
#ifndef GCD_WRITE_SQLITE_DISK_H
#define GCD_WRITE_SQLITE_DISK_H

#include <gcdumpc/io.h>
#include <gcdumpc/status.h>
#include <gcdumpc/unstable/staged_file.h>
#include <sqlite3.h>

struct sqlite_disk {
    sqlite3_vfs vfs;
    sqlite3_vfs *system;         /* of this machine: temporary files, time, chance */
    struct gcd_staged *staged;
    struct gcd_error err;        /* GCD_OK, or why the last access failed; SQLite says only that it did */
    char name[32];
};

/*
 * Open the database in the empty file of PLACE, for one thread.  DISK and PLACE must outlive it; without journals and locks.  As sqlite3_open_v2:
 * *RET_DB must be closed in any case.
 */
int sqlite_disk_open(struct sqlite_disk *disk, struct gcd_staged *staged, sqlite3 **ret_db);

#endif
