/*
 * Bytes in, bytes out.
 *
 * An input is something that can be read from its start, once or any number of times; a reader is one cursor over it and
 * undoes gzip on the way.  A sink is where an output goes: it keeps the first error, so a writer writes on and checks once.
 */
#ifndef GCDUMPC_IO_H
#define GCDUMPC_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/cancel.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- input ---- */

struct gcd_input;
struct gcd_reader;

/* A stream of a small heap fits; what is larger would be memory taken from the process that is being dumped. */
#define GCD_SPOOL_MEMORY_BYTES ((size_t)32 << 20)

struct gcd_input_options {
    const struct gcd_alloc *alloc;
    bool reread;             /* more than one reader will be made, one after another or side by side */
    const char *spool_dir;   /* folder for the copy of a pipe that must be read again; NULL = /tmp */
    size_t spool_memory_bytes;   /* of gcd_input_new_spool: stays in memory up to here; 0 = GCD_SPOOL_MEMORY_BYTES */
    const gcd_cancel_flag *cancel;   /* may be NULL; looked at while a pipe is silent, ends with GCD_E_CANCELED */
    bool keep_room;          /* of gcd_input_new_spool: see struct gcd_sink_options */
};

/*
 * Open PATH, "-" being standard input.  Of something that cannot seek (a pipe, a terminal) a copy is kept in an unlinked
 * temporary file while the first reader runs, when OPTIONS->reread says so.  OPTIONS may be NULL.
 * GCD_E_IO; GCD_E_ARG for a directory.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_input_open(const char *path, const struct gcd_input_options *options,
                                                 struct gcd_input **ret, struct gcd_error *err);

/*
 * An empty input, filled with gcd_input_append before it is read.  Up to OPTIONS->spool_memory_bytes stay in memory, then all of it moves to an
 * unlinked temporary file in OPTIONS->spool_dir.  That is opened at once: a folder that cannot be written is found before the first byte.
 * After a failed append the input holds what was appended before, and takes no more.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_input_new_spool(const struct gcd_input_options *options, struct gcd_input **ret,
                                                      struct gcd_error *err);
GCD_API GCD_MUST_CHECK gcd_status gcd_input_append(struct gcd_input *in, const void *bytes, size_t n,
                                                   struct gcd_error *err);

/* BYTES stay the caller's and must outlive the input. */
GCD_API GCD_MUST_CHECK gcd_status gcd_input_from_memory(const void *bytes, size_t n, const struct gcd_input_options *options,
                                                        struct gcd_input **ret, struct gcd_error *err);

/* No reader of it may be left.  NULL is fine. */
GCD_API void gcd_input_free(struct gcd_input *in);

/* Bytes as they lie on the disk, before gzip is undone; UINT64_MAX when not known (a pipe). */
GCD_API uint64_t gcd_input_size(const struct gcd_input *in);

/* True when both name the same file of the file system; false when either is no file or does not exist. */
GCD_API bool gcd_input_is_file(const struct gcd_input *in, const char *path);

/*
 * The first bytes of the content, gzip undone, into BYTES; *RET_N is less than WANT only when there are no more, or the compressed data
 * are damaged.  WANT <= GCD_PEEK_MAX.  Of a pipe it must be asked before the first reader is made, which begins at the start all the same.
 */
#define GCD_PEEK_MAX 256
GCD_API GCD_MUST_CHECK gcd_status gcd_input_peek(struct gcd_input *in, uint8_t *bytes, size_t want, size_t *ret_n, struct gcd_error *err);

/*
 * Keep a copy of a pipe after all, in OPTIONS->spool_dir: for who has peeked and seen that it must be read again.  Before the first reader,
 * else GCD_E_STATE.  Does nothing for what can be reread anyway.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_input_keep(struct gcd_input *in, const struct gcd_input_options *options, struct gcd_error *err);

/*
 * For formats that lie in no order: after this gcd_input_read_at works, on the content with gzip undone.  Of a pipe and of gzip data a copy is
 * made in the spool_dir that the input was opened with, and takes the place of the input.  Before the first reader of a pipe.
 * GCD_E_TRUNCATED, GCD_E_FORMAT: the gzip data are damaged; what came before that can be read at any place all the same.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_input_make_seekable(struct gcd_input *in, struct gcd_error *err);

/*
 * N inputs that are one, the bytes of each behind those of the one before: a recording in several files.  Each is made seekable, which must
 * succeed.  They belong to the joined input when this returns GCD_OK, else still to the caller.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_input_join(struct gcd_input **parts, size_t n, const struct gcd_input_options *options,
                                                 struct gcd_input **ret, struct gcd_error *err);
/* How many they were, 1 for any other input; the size of each. */
GCD_API size_t gcd_input_part_count(const struct gcd_input *in);
GCD_API uint64_t gcd_input_part_size(const struct gcd_input *in, size_t i);

/* N bytes from OFF on; *RET_N is less only at the end.  GCD_E_STATE of a pipe. */
GCD_API GCD_MUST_CHECK gcd_status gcd_input_read_at(struct gcd_input *in, uint64_t off, void *buf, size_t n, size_t *ret_n,
                                                    struct gcd_error *err);

/* A cursor at the start.  GCD_E_STATE: a pipe whose first reader has not reached the end, or that is not kept for rereading. */
GCD_API GCD_MUST_CHECK gcd_status gcd_reader_new(struct gcd_input *in, struct gcd_reader **ret, struct gcd_error *err);
GCD_API void gcd_reader_free(struct gcd_reader *r);

/*
 * The next bytes, at least one, as a view that is valid until the next call.  GCD_OK; GCD_END; GCD_E_IO; of a gzip input
 * also GCD_E_TRUNCATED (it ends early) and GCD_E_FORMAT (it is damaged): all bytes before that have been delivered.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_reader_next(struct gcd_reader *r, const uint8_t **ret_bytes, size_t *ret_n,
                                                  struct gcd_error *err);

/* How far the cursor is, in the unit of gcd_input_size: for progress. */
GCD_API uint64_t gcd_reader_position(const struct gcd_reader *r);

/* ---- output ---- */

struct gcd_sink;

struct gcd_sink_options {
    const struct gcd_alloc *alloc;
    const gcd_cancel_flag *cancel;   /* may be NULL; looked at when a signal interrupts a write, ends with GCD_E_CANCELED */
    unsigned threads;            /* 2 or more: a file is compressed and written by a thread of its own, in 1 MiB more */
    /*
     * Others decide how much is written: it fails (GCD_E_IO, ENOSPC) before the disk is full, with a 64th of it left, 256 MiB at most.  The first
     * 4 MiB of a file are always written, and only regular files are looked at.
     */
    bool keep_room;
    bool for_all;                /* others may read the file (mode 0644 and what the umask leaves of it): no dump, but numbers about one */
};

/*
 * An output at PATH, "-" being standard output.  A regular file is written as a temporary file beside it (mode 0600) that takes
 * the place of PATH in gcd_sink_commit and is removed otherwise; anything else (a device, a pipe) is written directly.  The folder is opened
 * as by gcd_folder_open_parent, once: what becomes of its name later does not matter.
 * Temporary files that killed processes of the same user left in the folder are removed first (gcd_sink_sweep); those in use are locked.  Of a
 * large file only the last 40 MB or so stay in the page cache.
 * The content is gzip when the name ends in ".gz".  OPTIONS may be NULL.
 * GCD_E_IO; GCD_E_ARG for a directory.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_sink_open(const char *path, const struct gcd_sink_options *options,
                                                struct gcd_sink **ret, struct gcd_error *err);

/*
 * Open the folder PATH as an output in it finds it, for openat and the like (O_PATH).  Links on the way that neither root nor this user has made
 * are not followed: GCD_E_IO, with ENOTDIR as os_errno.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_folder_open(const char *path, int *ret_fd, struct gcd_error *err);

/* The same for the folder that PATH is in: what is before its last slash, or the current one. */
GCD_API GCD_MUST_CHECK gcd_status gcd_folder_open_parent(const char *path, int *ret_fd, struct gcd_error *err);

/* Open the file PATH for reading in the same way, without waiting for the writer of a pipe. */
GCD_API GCD_MUST_CHECK gcd_status gcd_path_open(const char *path, int *ret_fd, struct gcd_error *err);

/*
 * Do the folder that is open as DIR_FD, and all folders that it is in, belong to root or this user, and can nobody else put another one into its
 * place?  Elsewhere nothing should be removed by its name: others decide what has it.
 */
GCD_API bool gcd_folder_is_ours(int dir_fd);

/*
 * Remove from the open folder DIR_FD what killed processes of the same user left of outputs, as gcd_sink_open and gcd_staged_open do in theirs: for
 * folders that nothing is written into any more.  Nothing unless gcd_folder_is_ours, and only what cannot be anything else.  How many were
 * removed; what cannot be removed stays.
 */
GCD_API uint64_t gcd_sink_sweep(int dir_fd);

/*
 * A name of the temporary file, good as long as the sink is: "" when there is none (any more).  For a signal handler that must leave nothing
 * behind.
 */
GCD_API const char *gcd_sink_temporary(const struct gcd_sink *s);

/* An output in memory; its bytes are taken with gcd_sink_memory after the commit and belong to the sink. */
GCD_API GCD_MUST_CHECK gcd_status gcd_sink_new_memory(const struct gcd_alloc *alloc, struct gcd_sink **ret,
                                                      struct gcd_error *err);
GCD_API const uint8_t *gcd_sink_memory(const struct gcd_sink *s, size_t *ret_n);

/* Most bytes of one gcd_sink_reserve. */
#define GCD_SINK_RESERVE_MAX ((size_t)65536)

/*
 * Room for N <= GCD_SINK_RESERVE_MAX bytes to format into, never NULL; gcd_sink_advance then takes the first of them.
 * For formatters in hot loops.
 */
GCD_API char *gcd_sink_reserve(struct gcd_sink *s, size_t n);
GCD_API void gcd_sink_advance(struct gcd_sink *s, size_t n);

/* Take N bytes, or TEXT up to its NUL.  A failure is kept for gcd_sink_status and gcd_sink_commit; after one nothing is written any more. */
GCD_API void gcd_sink_write(struct gcd_sink *s, const void *bytes, size_t n);
GCD_API void gcd_sink_text(struct gcd_sink *s, const char *text);

/* Bytes given to the sink so far, before gzip. */
GCD_API uint64_t gcd_sink_bytes(const struct gcd_sink *s);

/* The first error, or GCD_OK.  A writer of much data asks now and then, so that a full disk does not cost an hour. */
GCD_API gcd_status gcd_sink_status(const struct gcd_sink *s, struct gcd_error *err);

/*
 * The last byte has been given: everything is on the disk (fsync), under a temporary name if there is one.  *RET_BYTES (may be NULL): how many
 * it takes, after gzip; 0 when that cannot be told.  Only gcd_sink_commit and gcd_sink_free may follow.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_sink_finish(struct gcd_sink *s, uint64_t *ret_bytes, struct gcd_error *err);
/*
 * Make the output appear: everything is on the disk (fsync) and under its name when this returns GCD_OK.  On failure, and
 * when the sink is freed without it, nothing appears and an existing file stays as it was.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_sink_commit(struct gcd_sink *s, struct gcd_error *err);
GCD_API void gcd_sink_free(struct gcd_sink *s);

/* ---- output that is no stream of bytes ---- */

/* A file that is not written from its beginning to its end (a database), or a folder of files: it appears whole or not at all, like a sink. */
struct gcd_staged;
enum gcd_staged_kind { GCD_STAGED_FILE, GCD_STAGED_FOLDER };

/*
 * An empty temporary file (mode 0600) or folder (0700) beside PATH.  A file will replace the regular file at PATH, a folder only an empty
 * folder.  Slashes at the end of a folder's name are ignored.  ALLOC may be NULL.
 * GCD_E_IO, also when something is there that must not be replaced; GCD_E_ARG for a file name that is a directory or device.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_staged_open(const char *path, enum gcd_staged_kind kind, const struct gcd_alloc *alloc,
                                                 struct gcd_staged **ret, struct gcd_error *err);

/*
 * The name under which it is filled, "" when it has its own by now; for a signal handler, too.  Folders in a folder are not removed; the folder is
 * the only thing in another one, which goes with it.
 */
GCD_API const char *gcd_staged_temporary(const struct gcd_staged *p);
/* The name that it will have. */
GCD_API const char *gcd_staged_path(const struct gcd_staged *p);
GCD_API enum gcd_staged_kind gcd_staged_kind(const struct gcd_staged *p);

/* From now on gcd_staged_write_at, and what the writers of this library put into a folder, keep room on the disk, as struct gcd_sink_options says. */
GCD_API void gcd_staged_keep_room(struct gcd_staged *p);
GCD_API bool gcd_staged_keeps_room(const struct gcd_staged *p);

/* What it takes by now; 0 for a folder. */
GCD_API uint64_t gcd_staged_bytes(const struct gcd_staged *p);

/*
 * The file of P, until it is committed: N bytes at OFF, of which *RET_N are there, N but at the end; N bytes to OFF, what is between the end and
 * OFF becoming zeros; to be of BYTES bytes.  GCD_E_IO; GCD_E_STATE for a folder or when it is committed.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_staged_read_at(const struct gcd_staged *p, uint64_t off, void *buf, size_t n, size_t *ret_n,
                                                    struct gcd_error *err);
GCD_API GCD_MUST_CHECK gcd_status gcd_staged_write_at(struct gcd_staged *p, uint64_t off, const void *buf, size_t n, struct gcd_error *err);
GCD_API GCD_MUST_CHECK gcd_status gcd_staged_resize(struct gcd_staged *p, uint64_t bytes, struct gcd_error *err);

/* Like gcd_sink_commit and gcd_sink_free.  The files of a folder must be on the disk (gcd_sink_commit). */
GCD_API GCD_MUST_CHECK gcd_status gcd_staged_commit(struct gcd_staged *p, struct gcd_error *err);
GCD_API void gcd_staged_free(struct gcd_staged *p);

#ifdef __cplusplus
}
#endif
#endif
