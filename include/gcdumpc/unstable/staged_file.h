/*
 * The inside of a staged output (io.h), for the writers of this library and for signal handlers.
 */
#ifndef GCDUMPC_UNSTABLE_STAGED_FILE_H
#define GCDUMPC_UNSTABLE_STAGED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/io.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The temporary name, "" once it has its final name; also for a signal handler.  A staged folder is the only entry of another folder, which is
 * removed with it; its own subfolders are not.
 */
GCD_API const char *gcd_staged_temporary(const struct gcd_staged *p);
GCD_API enum gcd_staged_kind gcd_staged_kind(const struct gcd_staged *p);

/* From now on writes keep free disk space, as struct gcd_sink_options.keep_room describes. */
GCD_API void gcd_staged_keep_room(struct gcd_staged *p);
GCD_API bool gcd_staged_keeps_room(const struct gcd_staged *p);

/* Its current size in bytes; 0 for a folder. */
GCD_API uint64_t gcd_staged_bytes(const struct gcd_staged *p);

/*
 * Access to the file of P until the commit: read N bytes at OFF (*RET_N is less only at the end); write N bytes at OFF (a gap before OFF is filled
 * with zeros); set its size to BYTES.  GCD_E_IO; GCD_E_STATE for a folder or after the commit.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_staged_read_at(const struct gcd_staged *p, uint64_t off, void *buf, size_t n, size_t *ret_n,
                                                    struct gcd_error *err);
GCD_API GCD_MUST_CHECK gcd_status gcd_staged_write_at(struct gcd_staged *p, uint64_t off, const void *buf, size_t n, struct gcd_error *err);
/*
 * As gcd_staged_write_at, for large parts that follow each other: also starts to write earlier ones to the disk, and drops those from the page cache,
 * so that the commit need not wait for the whole file.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_staged_append_at(struct gcd_staged *p, uint64_t off, const void *buf, size_t n, struct gcd_error *err);
GCD_API GCD_MUST_CHECK gcd_status gcd_staged_resize(struct gcd_staged *p, uint64_t bytes, struct gcd_error *err);

#ifdef __cplusplus
}
#endif
#endif
