/*
 * Staged outputs: a file written in any order (a database), or a folder of files, that appears
 * complete or not at all, like a sink; and the formats that need one.
 */
#ifndef GCDUMPC_UNSTABLE_STAGED_FILE_H
#define GCDUMPC_UNSTABLE_STAGED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/status.h>
#include <gcdumpc/writer.h>

struct gcd_staged;
enum gcd_staged_kind { GCD_STAGED_FILE, GCD_STAGED_FOLDER };

/*
 * Makes an empty temporary file (mode 0600) or folder (0700) beside PATH.  The commit lets a file
 * replace a regular file, a folder only an empty folder.  Slashes at the end of a folder's name are
 * ignored.  ALLOC may be NULL. GCD_E_IO, also when PATH must not be replaced; GCD_E_ARG for a file
 * name that is a directory or device.
 */
GCD_MUST_CHECK gcd_status gcd_staged_open(const char *path, enum gcd_staged_kind kind,
                                          const struct gcd_alloc *alloc, struct gcd_staged **ret,
                                          struct gcd_error *err);

/* Its final name. */
const char *gcd_staged_path(const struct gcd_staged *p);

/* Like gcd_sink_commit and gcd_sink_free.  The files of a folder must be on the disk
 * (gcd_sink_commit). */
GCD_MUST_CHECK gcd_status gcd_staged_commit(struct gcd_staged *p, struct gcd_error *err);
void gcd_staged_free(struct gcd_staged *p);

/* ---- formats ---- */

/* For GCD_FORMAT_STAGED: file or folder. */
enum gcd_staged_kind gcd_format_staged_kind(const struct gcd_format *f);

/*
 * Writes G to P, opened with the kind from gcd_format_staged_kind, in format F (of kind STAGED,
 * else GCD_E_ARG); the caller commits P.  RET_NOTES as for gcd_write_graph.
 */
GCD_MUST_CHECK gcd_status gcd_write_staged(const struct gcd_format *f, const struct gcd_graph *g,
                                           struct gcd_staged *p,
                                           const struct gcd_write_options *options,
                                           struct gcd_write_notes *ret_notes,
                                           struct gcd_error *err);

/* ---- for the writers of this library and for signal handlers ---- */

/*
 * The temporary name, "" once it has its final name; also for a signal handler.  A staged folder is
 * the only entry of another folder, which is removed with it; its own subfolders are not.
 */
const char *gcd_staged_temporary(const struct gcd_staged *p);
enum gcd_staged_kind gcd_staged_kind(const struct gcd_staged *p);

/* From now on writes keep free disk space, as struct gcd_sink_options.keep_room describes. */
void gcd_staged_keep_room(struct gcd_staged *p);
bool gcd_staged_keeps_room(const struct gcd_staged *p);

/* Its current size in bytes; 0 for a folder. */
uint64_t gcd_staged_bytes(const struct gcd_staged *p);

/*
 * Access to the file of P until the commit: read N bytes at OFF (*RET_N is less only at the end);
 * write N bytes at OFF (a gap before OFF is filled with zeros); set its size to BYTES.  GCD_E_IO;
 * GCD_E_STATE for a folder or after the commit.
 */
GCD_MUST_CHECK gcd_status gcd_staged_read_at(const struct gcd_staged *p, uint64_t off, void *buf,
                                             size_t n, size_t *ret_n, struct gcd_error *err);
GCD_MUST_CHECK gcd_status gcd_staged_write_at(struct gcd_staged *p, uint64_t off, const void *buf,
                                              size_t n, struct gcd_error *err);
GCD_MUST_CHECK gcd_status gcd_staged_resize(struct gcd_staged *p, uint64_t bytes,
                                            struct gcd_error *err);

#endif
