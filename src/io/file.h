/*
 * What the operating system does for the inputs and outputs.  The files of src/io that would differ on another system
 * are those called *_posix.c.  A signal that interrupts is no error; where something can block for ever, a cancel flag is looked at.
 */
#ifndef GCD_IO_FILE_H
#define GCD_IO_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/cancel.h>
#include <gcdumpc/status.h>

enum gcd_file_kind { GCD_FILE_REGULAR, GCD_FILE_STREAM, GCD_FILE_DIRECTORY };

/* Open for reading; "-" is a duplicate of standard input.  RET_BASE: where reading starts in a regular file. */
gcd_status gcd_file_open_read(const char *path, int *ret_fd, enum gcd_file_kind *ret_kind, uint64_t *ret_base,
                              uint64_t *ret_size, struct gcd_error *err);

/* A file of mode 0600 in DIR that has no name (any more) and is gone when it is closed. */
gcd_status gcd_file_open_unlinked(const char *dir, int *ret_fd, struct gcd_error *err);

/* Up to N bytes at OFF; *RET_N 0 at the end. */
gcd_status gcd_file_read_at(int fd, uint64_t off, void *buf, size_t n, size_t *ret_n, struct gcd_error *err);

/* Up to N bytes from where a stream stands; waits for the first of them, but not longer than until *CANCEL (may be NULL). */
gcd_status gcd_file_read_stream(int fd, const gcd_cancel_flag *cancel, void *buf, size_t n, size_t *ret_n, struct gcd_error *err);

/* All of it.  *CANCEL (may be NULL) is looked at when a signal interrupts: a pipe that nobody reads blocks for ever. */
gcd_status gcd_file_write(int fd, const gcd_cancel_flag *cancel, const void *buf, size_t n, struct gcd_error *err);

/* All of it at OFF, what is between the end and OFF becoming zeros. */
gcd_status gcd_file_write_at(int fd, uint64_t off, const void *buf, size_t n, struct gcd_error *err);
gcd_status gcd_file_resize(int fd, uint64_t bytes, struct gcd_error *err);

/*
 * N bytes were written at AT, the end of a new file: what lies some way back is put on the disk now, while the next bytes are being made, and
 * leaves the page cache.  Else gcd_file_publish would wait for all of it, and a file of gigabytes would take memory that others need.
 */
gcd_status gcd_file_write_behind(int fd, uint64_t at, size_t n, struct gcd_error *err);

/*
 * N bytes are going to be written behind the first AT of a growing file, which has room for the first *UNTIL, as far as is known: it begins with
 * GCD_ROOM_KEPT, or GCD_ROOM_UNKEPT.  When it passes that, its disk is looked at, for 4 MiB more at most.  GCD_E_IO with ENOSPC when less than a
 * 64th of the disk, or 256 MiB if that is less, would be left: others write there, too.
 */
#define GCD_ROOM_KEPT (UINT64_C(4) << 20)
#define GCD_ROOM_UNKEPT UINT64_MAX
gcd_status gcd_file_keep_room(int fd, uint64_t *until, uint64_t at, size_t n, struct gcd_error *err);

/*
 * The temporary file or folder that becomes an output.  The folder that holds it stays open, so the output stays there whatever others do to the
 * names in its path; untrusted links (base/safe_open.h) are not followed to it.
 */
struct gcd_temporary {
    int dir_fd;                  /* of the folder that holds it; -1 = none, the output is written directly */
    char name[NAME_MAX + 1];     /* final name in that folder */
    char temp[NAME_MAX + 1];     /* name until then; for a folder, the name of the folder around it */
    bool folder;
};
/*
 * A temporary folder has this name inside a folder with the temporary name.  Nothing else looks like that, so nobody can make us remove a folder of
 * ours by giving it a temporary name.
 */
#define GCD_TEMPORARY_INNER_NAME "gcdumpc-folder"
#define GCD_TEMPORARY_NONE (struct gcd_temporary){ .dir_fd = -1 }

/*
 * Opens PATH for writing.  For a regular or a new file it creates a temporary file beside PATH and describes it in RET_TEMPORARY; a device, a pipe or
 * standard output is opened itself, with RET_TEMPORARY = GCD_TEMPORARY_NONE.  MODE: permissions of a new file.
 */
gcd_status gcd_file_open_write(const char *path, unsigned mode, const gcd_cancel_flag *cancel, int *ret_fd, struct gcd_temporary *ret_temporary,
                               struct gcd_error *err);

/*
 * Creates a temporary file (mode 0600) or folder (0700) beside PATH; gcd_file_publish will rename it to PATH.  GCD_E_IO if PATH must not be
 * replaced by a folder: it is a file, or a folder that is not empty.
 */
gcd_status gcd_file_open_staged(const char *path, bool folder, int *ret_fd, struct gcd_temporary *ret_temporary, struct gcd_error *err);

/*
 * Creates the temporary file or folder, ".NAME.PID-N.gcdumpc-tmp", in TEMPORARY->dir_fd.  It stays locked (flock) while FD is open.  Removes what
 * killed processes left in the same folder: that is no longer locked (gcd_sink_sweep).
 */
gcd_status gcd_file_open_temporary(struct gcd_temporary *temporary, bool folder, unsigned mode, int *ret_fd, struct gcd_error *err);

/* A path of the temporary file for callers that need one, in RET[CAP]; "" if there is none.  Valid as long as TEMPORARY is. */
void gcd_temporary_path(const struct gcd_temporary *temporary, const char *path, char *ret, size_t cap);
/* Removes the output if it is still temporary; FD: its open descriptor.  May be called any number of times. */
void gcd_temporary_remove(struct gcd_temporary *temporary, int fd);

/* What has been written is on the disk.  A descriptor that cannot be synced is no failure. */
gcd_status gcd_file_sync(int fd, struct gcd_error *err);
/* Of a regular file, else 0. */
uint64_t gcd_file_bytes(int fd);
/* Sync FD, give it its name, sync the folder; then TEMPORARY is GCD_TEMPORARY_NONE.  A folder replaces only an empty one. */
gcd_status gcd_file_publish(int fd, struct gcd_temporary *temporary, struct gcd_error *err);

/* The temporary folder TEMP of the open folder DIR_FD, what is in it open as FD, with the files; folders there are none of ours and stay. */
void gcd_file_remove_folder_at(int fd, int dir_fd, const char *temp);
/* GCD_TEMPORARY_INNER_NAME of TEMP, in RET. */
void gcd_temporary_folder_name(const char *temp, char ret[static NAME_MAX + 1 + sizeof GCD_TEMPORARY_INNER_NAME]);
gcd_status gcd_file_close(int fd, struct gcd_error *err);

/* Is PATH the file that is open as FD? */
bool gcd_file_same(int fd, const char *path);

#endif
