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
 * Where an output is going to lie.  Its folder is open, so it stays there, whatever others make of the names on the way; untrusted
 * links (base/safe_open.h) do not lead to it.
 */
struct gcd_spot {
    int dir_fd;                  /* -1 = there is none: it is written directly */
    char name[NAME_MAX + 1];     /* in that folder, */
    char temp[NAME_MAX + 1];     /* and until it gets that; of a folder the one around it */
    bool folder;
};
/*
 * A temporary folder is GCD_SPOT_INSIDE in one of the temporary name: nothing else looks so, so nobody can make us take a folder of ours for one by
 * giving it that name.
 */
#define GCD_SPOT_INSIDE "gcdumpc-folder"
#define GCD_SPOT_NONE (struct gcd_spot){ .dir_fd = -1 }

/*
 * Open PATH for writing.  For a file to come or to be replaced: a temporary file beside it, of which RET_SPOT tells; for a device, a pipe or
 * standard output RET_SPOT is GCD_SPOT_NONE and PATH itself is open.  MODE: permissions of a new file.
 */
gcd_status gcd_file_open_write(const char *path, unsigned mode, const gcd_cancel_flag *cancel, int *ret_fd, struct gcd_spot *ret_spot,
                               struct gcd_error *err);

/*
 * A temporary file (mode 0600) or folder (0700) beside PATH, that gcd_file_publish shall give that name.  GCD_E_IO when something is there
 * that a folder must not replace: a file, a folder with something in it.
 */
gcd_status gcd_file_open_place(const char *path, bool folder, int *ret_fd, struct gcd_spot *ret_spot, struct gcd_error *err);

/*
 * The temporary file or folder itself, ".NAME.PID-N.gcdumpc-tmp", in the open folder of SPOT.  It is locked (flock) as long as FD is open: what
 * a killed process left in this folder is not, and is removed now (gcd_sink_sweep).
 */
gcd_status gcd_file_open_temporary(struct gcd_spot *spot, bool folder, unsigned mode, int *ret_fd, struct gcd_error *err);

/* A path of the temporary output at PATH for those who need one, RET[CAP]; "" when there is none.  It ends with the spot. */
void gcd_spot_path(const struct gcd_spot *spot, const char *path, char *ret, size_t cap);
/* Without the output, if it is still a temporary one; FD: as it is open.  Any number of times. */
void gcd_spot_clear(struct gcd_spot *spot, int fd);

/* What has been written is on the disk.  A descriptor that cannot be synced is no failure. */
gcd_status gcd_file_sync(int fd, struct gcd_error *err);
/* Of a regular file, else 0. */
uint64_t gcd_file_bytes(int fd);
/* Sync FD, give it its name, sync the folder; then SPOT is GCD_SPOT_NONE.  A folder replaces only an empty one. */
gcd_status gcd_file_publish(int fd, struct gcd_spot *spot, struct gcd_error *err);

/* The temporary folder TEMP of the open folder DIR_FD, what is in it open as FD, with the files; folders there are none of ours and stay. */
void gcd_file_remove_folder_at(int fd, int dir_fd, const char *temp);
/* GCD_SPOT_INSIDE of TEMP, in RET. */
void gcd_spot_inside(const char *temp, char ret[static NAME_MAX + 1 + sizeof GCD_SPOT_INSIDE]);
gcd_status gcd_file_close(int fd, struct gcd_error *err);

/* Is PATH the file that is open as FD? */
bool gcd_file_same(int fd, const char *path);

#endif
