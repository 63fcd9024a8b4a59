/*
 * What the operating system does for the inputs and outputs.  The files of src/io that would differ on another system
 * are those called *_posix.c.  A signal that interrupts is no error; where something can block for ever, a cancel flag is looked at.
 */
#ifndef GCD_IO_FILE_H
#define GCD_IO_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <gcdumpc/cancel.h>
#include <gcdumpc/status.h>

enum gcd_file_kind { GCD_FILE_REGULAR, GCD_FILE_STREAM, GCD_FILE_DIRECTORY };

/* Open for reading; "-" is a duplicate of standard input.  RET_BASE: where reading starts in a regular file. */
gcd_status gcd_file_open_read(const char *path, int *ret_fd, enum gcd_file_kind *ret_kind, uint64_t *ret_base,
                              uint64_t *ret_size, struct gcd_error *err);

/*
 * Is a link, pipe or device neither root's nor this user's?  Where everybody may write, anybody can put one under the name that an output
 * is going to have.
 */
bool gcd_file_is_planted(const struct stat *st);

/* A file of mode 0600 in DIR that has no name (any more) and is gone when it is closed. */
gcd_status gcd_file_open_unlinked(const char *dir, int *ret_fd, struct gcd_error *err);

/* Up to N bytes at OFF; *RET_N 0 at the end. */
gcd_status gcd_file_read_at(int fd, uint64_t off, void *buf, size_t n, size_t *ret_n, struct gcd_error *err);

/* Up to N bytes from where a stream stands; waits for the first of them, but not longer than until *CANCEL (may be NULL). */
gcd_status gcd_file_read_stream(int fd, const gcd_cancel_flag *cancel, void *buf, size_t n, size_t *ret_n, struct gcd_error *err);

/* All of it.  *CANCEL (may be NULL) is looked at when a signal interrupts: a pipe that nobody reads blocks for ever. */
gcd_status gcd_file_write(int fd, const gcd_cancel_flag *cancel, const void *buf, size_t n, struct gcd_error *err);

/*
 * N bytes were written at AT, the end of a new file: what lies some way back is put on the disk now, while the next bytes are being made, and
 * leaves the page cache.  Else gcd_file_publish would wait for all of it, and a file of gigabytes would take memory that others need.
 */
gcd_status gcd_file_write_behind(int fd, uint64_t at, size_t n, struct gcd_error *err);

/*
 * Open PATH for writing.  For a file to come or to be replaced: a temporary file beside it, whose name is in RET_TEMP
 * (CAP bytes); for a device, a pipe or standard output RET_TEMP is empty and PATH itself is open.  MODE: permissions of a new file.
 */
gcd_status gcd_file_open_write(const char *path, unsigned mode, const gcd_cancel_flag *cancel, int *ret_fd, char *ret_temp, size_t cap,
                               struct gcd_error *err);

/*
 * A temporary file (mode 0600) or folder (0700) beside PATH, that gcd_file_publish shall give that name.  GCD_E_IO when something is there
 * that a folder must not replace: a file, a folder with something in it.
 */
gcd_status gcd_file_open_place(const char *path, bool folder, int *ret_fd, char *ret_temp, size_t cap, struct gcd_error *err);

/*
 * The temporary file or folder itself, ".NAME.PID-N.gcdumpc-tmp".  It is locked (flock) as long as FD is open: what a killed process left in
 * this folder is not, and is removed now.
 */
gcd_status gcd_file_open_temporary(const char *path, bool folder, unsigned mode, int *ret_fd, char *ret_temp, size_t cap,
                                   struct gcd_error *err);

/* What has been written is on the disk.  A descriptor that cannot be synced is no failure. */
gcd_status gcd_file_sync(int fd, struct gcd_error *err);
/* Of a regular file, else 0. */
uint64_t gcd_file_bytes(int fd);
/* Sync FD, rename TEMP to PATH, sync the folder.  TEMP can be a folder, too; it replaces only an empty one. */
gcd_status gcd_file_publish(int fd, const char *temp, const char *path, struct gcd_error *err);

void gcd_file_remove(const char *path);
/* The folder PATH, open as FD, with the files in it; folders in it are none of ours and stay. */
void gcd_file_remove_folder(int fd, const char *path);
/* The same of NAME in the open folder DIR_FD. */
void gcd_file_remove_folder_at(int fd, int dir_fd, const char *name);
gcd_status gcd_file_close(int fd, struct gcd_error *err);

/* Is PATH the file that is open as FD? */
bool gcd_file_same(int fd, const char *path);

#endif
