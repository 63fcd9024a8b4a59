/*
 * Bytes in, bytes out.
 *
 * An input can be read from its start, once or any number of times.  A reader is a cursor over it,
 * and decompresses gzip.  A sink is an output; it keeps the first error, so a writer can keep
 * writing and check once.
 */
#ifndef GCDUMPC_IO_H
#define GCDUMPC_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- input ---- */

struct gcd_input;
struct gcd_reader;

/* Enough for the stream of a small heap; more would take memory from the process being dumped. */
#define GCD_SPOOL_MEMORY_BYTES ((size_t)32 << 20)

struct gcd_input_options {
    struct gcd_context context;
    /* several readers will be made, one after another or at the same time */
    bool reread;
    /* folder for the copy of a pipe that must be read again; NULL = /tmp */
    const char *spool_dir;
    /* for gcd_input_new_spool: how much may stay in memory; 0 = GCD_SPOOL_MEMORY_BYTES */
    size_t spool_memory_bytes;
    bool keep_room; /* for gcd_input_new_spool: see struct gcd_sink_options */
    /* for gcd_input_make_seekable: refuses a larger copy of a pipe or gzip data; 0 = any */
    uint64_t most_bytes;
};

/*
 * Opens PATH, "-" = standard input.  With OPTIONS->reread, the first reader of an input that cannot
 * seek (a pipe, a terminal) keeps a copy in an unlinked temporary file.  OPTIONS may be NULL.
 * GCD_E_IO; GCD_E_ARG for a directory.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_input_open(const char *path,
                                                 const struct gcd_input_options *options,
                                                 struct gcd_input **ret, struct gcd_error *err);

/* BYTES belong to the caller and must outlive the input. */
GCD_API GCD_MUST_CHECK gcd_status gcd_input_from_memory(const void *bytes, size_t n,
                                                        const struct gcd_input_options *options,
                                                        struct gcd_input **ret,
                                                        struct gcd_error *err);

/* Free its readers first.  NULL is fine. */
GCD_API void gcd_input_free(struct gcd_input *in);

/* Bytes on the disk, before decompression; UINT64_MAX = unknown (a pipe). */
GCD_API uint64_t gcd_input_size(const struct gcd_input *in);

/*
 * Copies the first bytes of the decompressed content to BYTES; *RET_N is less than WANT only at the
 * end or at damaged gzip data.  WANT <= GCD_PEEK_MAX.  For a pipe, call it before the first reader,
 * which still begins at the start.
 */
#define GCD_PEEK_MAX 256
GCD_API GCD_MUST_CHECK gcd_status gcd_input_peek(struct gcd_input *in, uint8_t *bytes, size_t want,
                                                 size_t *ret_n, struct gcd_error *err);

/*
 * Makes gcd_input_read_at work, on the decompressed content, for formats that need random access.
 * A pipe or gzip data are copied to an unlinked file in the spool_dir of the input, with holes for
 * zeros, and the copy replaces the input.  GCD_E_LIMIT (COPY_LIMIT): it is larger than most_bytes;
 * GCD_E_IO (DISK_RESERVE): too little room would be left.
 * For a pipe, call it before the first reader.  GCD_E_TRUNCATED, GCD_E_FORMAT: the gzip data are
 * damaged; the bytes before the damage can still be read.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_input_make_seekable(struct gcd_input *in,
                                                          struct gcd_error *err);

/* Reads N bytes at OFF; *RET_N is less only at the end.  GCD_E_STATE for a pipe. */
GCD_API GCD_MUST_CHECK gcd_status gcd_input_read_at(struct gcd_input *in, uint64_t off, void *buf,
                                                    size_t n, size_t *ret_n, struct gcd_error *err);

/* Makes a cursor at the start.  GCD_E_STATE: a pipe whose first reader has not reached the end, or
 * that has no copy to reread. */
GCD_API GCD_MUST_CHECK gcd_status gcd_reader_new(struct gcd_input *in, struct gcd_reader **ret,
                                                 struct gcd_error *err);
GCD_API void gcd_reader_free(struct gcd_reader *r);

/*
 * The next bytes, at least one; valid until the next call.  GCD_OK; GCD_END; GCD_E_IO; for gzip
 * also GCD_E_TRUNCATED (it ends early) and GCD_E_FORMAT (it is damaged), after all bytes before the
 * damage have been delivered.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_reader_next(struct gcd_reader *r, const uint8_t **ret_bytes,
                                                  size_t *ret_n, struct gcd_error *err);

/* The position of the cursor in the unit of gcd_input_size, for progress. */
GCD_API uint64_t gcd_reader_position(const struct gcd_reader *r);

/* ---- output ---- */

struct gcd_sink;

struct gcd_sink_options {
    /* with 2 threads, the second one compresses and writes the file; this takes 1 MiB more */
    struct gcd_context context;
    /*
     * For outputs whose size others decide: writing fails (GCD_E_IO, ENOSPC) before it uses the
     * last 1/64 of the disk, at most 256 MiB.  The first 4 MiB of a file are always written.  Only
     * regular files are checked.
     */
    bool keep_room;
    /* others may read the file (mode 0644, reduced by the umask): for figures about a dump, not for
     * a dump */
    bool for_all;
    /* replaces whatever has the name, even a pipe or a device, and never writes to it */
    bool file_only;
    /* how long to wait until somebody opens a pipe for reading; 0 = until canceled */
    uint64_t wait_ms;
};

/*
 * An output at PATH, "-" = standard output.  A regular file is written as a temporary file beside
 * it (mode 0600), which gcd_sink_commit renames to PATH; without a commit it is removed.  Anything
 * else (a device, a pipe) is written directly.  The folder is opened once, as by
 * gcd_folder_open_parent; renaming it later does not matter.  A pipe or device of another user is
 * refused at once.
 * First removes temporary files that killed processes of this user left in the folder
 * (gcd_sink_sweep); files still in use are locked and stay.  Only the last 40 MB or so of a large
 * file stay in the page cache. Compresses with gzip when the name ends in ".gz".  OPTIONS may be
 * NULL. GCD_E_IO; GCD_E_ARG for a directory.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_sink_open(const char *path,
                                                const struct gcd_sink_options *options,
                                                struct gcd_sink **ret, struct gcd_error *err);

/* An output in memory.  After the commit gcd_sink_memory returns its bytes, which belong to the
 * sink. */
GCD_API GCD_MUST_CHECK gcd_status gcd_sink_new_memory(const struct gcd_alloc *alloc,
                                                      struct gcd_sink **ret, struct gcd_error *err);
GCD_API const uint8_t *gcd_sink_memory(const struct gcd_sink *s, size_t *ret_n);

/* Write N bytes, or TEXT up to its NUL.  After a failure, which gcd_sink_status and gcd_sink_commit
 * report, nothing more is written. */
GCD_API void gcd_sink_write(struct gcd_sink *s, const void *bytes, size_t n);
GCD_API void gcd_sink_text(struct gcd_sink *s, const char *text);

/* Bytes given to the sink so far, before gzip. */
GCD_API uint64_t gcd_sink_bytes(const struct gcd_sink *s);

/* The first error, or GCD_OK.  Writers of large outputs check it now and then, to stop early when
 * the disk is full. */
GCD_API gcd_status gcd_sink_status(const struct gcd_sink *s, struct gcd_error *err);

/*
 * Call it after the last byte: writes everything to the disk (fsync), still under the temporary
 * name.  *RET_BYTES (may be NULL): its size after gzip; 0 = unknown.  Only gcd_sink_commit and
 * gcd_sink_free may follow.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_sink_finish(struct gcd_sink *s, uint64_t *ret_bytes,
                                                  struct gcd_error *err);
/*
 * Makes the output appear: on GCD_OK everything is on the disk (fsync) under its name.  On failure,
 * or when the sink is freed without a commit, nothing appears and an existing file stays as it was.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_sink_commit(struct gcd_sink *s, struct gcd_error *err);
GCD_API void gcd_sink_free(struct gcd_sink *s);

#ifdef __cplusplus
}
#endif
#endif
