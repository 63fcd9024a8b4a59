/*
 * Operating system services for inputs and outputs.  Only the *_posix.c files of src/io would
 * differ on another system.  An interrupting signal is not an error; calls that may block forever
 * check a cancel flag.
 */
#ifndef GCD_IO_FILE_H
#define GCD_IO_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/cancel.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>
#include <gcdumpc/unstable/regular_file.h>

enum gcd_file_kind { GCD_FILE_REGULAR, GCD_FILE_STREAM, GCD_FILE_DIRECTORY };

/* Open for reading; "-" is a duplicate of standard input.  RET_BASE: the starting offset in a
 * regular file. */
gcd_status gcd_file_open_read(const char *path, int *ret_fd, enum gcd_file_kind *ret_kind,
                              uint64_t *ret_base, uint64_t *ret_size, struct gcd_error *err);

/* gcd_input_open_regular. */
gcd_status gcd_file_open_regular(const char *path, int *ret_fd, struct gcd_regular_file *ret,
                                 struct gcd_error *err);

/* A file of mode 0600 in DIR without a name; it disappears when closed. */
gcd_status gcd_file_open_unlinked(const char *dir, int *ret_fd, struct gcd_error *err);

/* Up to N bytes at OFF; *RET_N 0 at the end. */
gcd_status gcd_file_read_at(int fd, uint64_t off, void *buf, size_t n, size_t *ret_n,
                            struct gcd_error *err);

/* The first N bytes of a file as memory, until gcd_file_unmap; NULL = the system refuses.  SIGBUS
 * if the file becomes shorter. */
const uint8_t *gcd_file_map(int fd, size_t n);
void gcd_file_unmap(const uint8_t *at, size_t n);

/* Up to N bytes from the current position of a stream; waits for the first of them, or until
 * *CANCEL (may be NULL). */
gcd_status gcd_file_read_stream(int fd, const gcd_cancel_flag *cancel, void *buf, size_t n,
                                size_t *ret_n, struct gcd_error *err);

/* Writes everything.  Checks *CANCEL (may be NULL) when a signal interrupts: a pipe that nobody
 * reads blocks forever. */
gcd_status gcd_file_write(int fd, const gcd_cancel_flag *cancel, const void *buf, size_t n,
                          struct gcd_error *err);

/* Writes everything at OFF; a gap between the end of the file and OFF is filled with zeros. */
gcd_status gcd_file_write_at(int fd, uint64_t off, const void *buf, size_t n,
                             struct gcd_error *err);
/* Extends a file that ends at AT by N bytes, reserves disk space for them, and continues after
 * them.  False if that is impossible. */
bool gcd_file_leave(int fd, uint64_t at, uint64_t n);
gcd_status gcd_file_resize(int fd, uint64_t bytes, struct gcd_error *err);

/*
 * N bytes were written at AT, the end of a new file: writes earlier parts to disk now, while the
 * caller produces the next bytes, and drops them from the page cache.  Otherwise gcd_file_publish
 * would wait for the whole file, and a file of gigabytes would take memory that others need.
 */
gcd_status gcd_file_write_behind(int fd, uint64_t at, size_t n, struct gcd_error *err);

/*
 * Call before writing N bytes after the first AT of a growing file.  *UNTIL is the size for which
 * room is known to exist; it starts as GCD_ROOM_KEPT or GCD_ROOM_UNKEPT.  Beyond it, this checks
 * the disk, for at most 4 MiB more.  GCD_E_IO with ENOSPC when less than a 64th of the disk (at
 * most 256 MiB) would stay free: others write there, too.
 */
#define GCD_ROOM_KEPT   (UINT64_C(4) << 20)
#define GCD_ROOM_UNKEPT UINT64_MAX
gcd_status gcd_file_keep_room(int fd, uint64_t *until, uint64_t at, size_t n,
                              struct gcd_error *err);

/*
 * The temporary file or folder that becomes an output.  Its parent folder stays open, so the output
 * stays there even if others rename folders in its path; no untrusted link (base/safe_open.h) is
 * followed to it.
 */
struct gcd_temporary {
    int dir_fd;              /* its parent folder; -1 = none, the output is written directly */
    char name[NAME_MAX + 1]; /* final name in that folder */
    /* name until then; for a folder, the name of the enclosing temporary folder */
    char temp[NAME_MAX + 1];
    bool folder;
};
/*
 * A temporary folder has this name inside a folder with the temporary name.  Nothing else looks
 * like this, so nobody can make us remove a folder of ours by giving it a temporary name.
 */
#define GCD_TEMPORARY_INNER_NAME "gcdumpc-folder"
#define GCD_TEMPORARY_NONE \
    (struct gcd_temporary) \
    {                      \
        .dir_fd = -1       \
    }

/*
 * Opens PATH for writing.  For a regular or new file, creates a temporary file beside PATH and
 * describes it in RET_TEMPORARY; a device, a pipe or standard output is opened directly, with
 * RET_TEMPORARY = GCD_TEMPORARY_NONE.
 */
gcd_status gcd_file_open_write(const char *path, const struct gcd_sink_options *options,
                               int *ret_fd, struct gcd_temporary *ret_temporary,
                               struct gcd_error *err);

/*
 * Creates a temporary file (mode 0600) or folder (0700) beside PATH; gcd_file_publish will rename
 * it to PATH.  GCD_E_IO if a folder must not replace PATH: it is a file, or a folder that is not
 * empty.
 */
gcd_status gcd_file_open_staged(const char *path, bool folder, int *ret_fd,
                                struct gcd_temporary *ret_temporary, struct gcd_error *err);

/*
 * Creates the temporary file or folder, ".NAME.PID-N.gcdumpc-tmp", in TEMPORARY->dir_fd.  It stays
 * locked (flock) while FD is open.  Also removes leftovers of killed processes in the same folder:
 * those are no longer locked (gcd_sink_sweep).
 */
gcd_status gcd_file_open_temporary(struct gcd_temporary *temporary, bool folder, unsigned mode,
                                   int *ret_fd, struct gcd_error *err);

/* A path of the temporary file for callers that need one, in RET[CAP]; "" if there is none.  Valid
 * as long as TEMPORARY is. */
void gcd_temporary_path(const struct gcd_temporary *temporary, const char *path, char *ret,
                        size_t cap);
/* Removes the output if it is still temporary; FD: its open descriptor.  May be called repeatedly.
 */
void gcd_temporary_remove(struct gcd_temporary *temporary, int fd);

/* Ensures that everything written is on disk.  A descriptor that does not support this is not a
 * failure. */
gcd_status gcd_file_sync(int fd, struct gcd_error *err);
/* Size of a regular file, otherwise 0. */
uint64_t gcd_file_bytes(int fd);
/* Sync FD, rename it to its final name, sync the folder; TEMPORARY becomes GCD_TEMPORARY_NONE.  A
 * folder replaces only an empty one. */
gcd_status gcd_file_publish(int fd, struct gcd_temporary *temporary, struct gcd_error *err);

/* Removes the temporary folder TEMP in the open folder DIR_FD and its files; FD is its open
 * content.  Subfolders are not ours and stay. */
void gcd_file_remove_folder_at(int fd, int dir_fd, const char *temp);
/* The path TEMP/GCD_TEMPORARY_INNER_NAME, in RET. */
void gcd_temporary_folder_name(const char *temp,
                               char ret[static NAME_MAX + 1 + sizeof GCD_TEMPORARY_INNER_NAME]);
gcd_status gcd_file_close(int fd, struct gcd_error *err);

/* Is PATH the file that is open as FD? */
bool gcd_file_same(int fd, const char *path);

#endif
