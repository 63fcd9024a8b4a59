/*
 * What the operating system does for gcdumpc/unstable/spill.h: memory in files without names.
 */
#ifndef GCD_IO_SPILL_FILE_H
#define GCD_IO_SPILL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/status.h>

size_t gcd_spill_page_bytes(void);

/* Opens a file without a name in FOLDER, which must be on a disk. */
gcd_status gcd_spill_file_open(const char *folder, int *ret_fd, struct gcd_error *err);
/* Does its disk have BYTES of free room? */
gcd_status gcd_spill_file_room(int fd, uint64_t bytes, struct gcd_error *err);
/* Makes the file N bytes long and reserves their room on the disk. */
gcd_status gcd_spill_file_reserve(int fd, size_t n, struct gcd_error *err);

/* Maps the first N bytes of the file, or anonymous memory if FD is -1; NULL on failure. */
void *gcd_spill_map(int fd, size_t n, struct gcd_error *err);
/* Changes the size of a mapping and may move it; a file can only shrink.  On failure returns NULL
 * and changes nothing. */
void *gcd_spill_remap(void *at, bool in_file, size_t old_bytes, size_t new_bytes,
                      struct gcd_error *err);
void gcd_spill_unmap(void *at, size_t n);

#endif
