/*
 * What the operating system does for gcdumpc/spill.h: memory in a file, memory that is resident.
 */
#ifndef GCD_IO_SPILL_FILE_H
#define GCD_IO_SPILL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/status.h>

size_t gcd_spill_page_bytes(void);

/* A file without a name in FOLDER, which is on a disk. */
gcd_status gcd_spill_file_open(const char *folder, int *ret_fd, struct gcd_error *err);
/* Has its disk so much room? */
gcd_status gcd_spill_file_room(int fd, uint64_t bytes, struct gcd_error *err);
/* Take room on the disk for N bytes at OFF, and give it back. */
gcd_status gcd_spill_file_take(int fd, uint64_t off, size_t n, struct gcd_error *err);
void gcd_spill_file_give_back(int fd, uint64_t off, size_t n);

/* N bytes of the file at OFF, or of no file when FD is -1; NULL when that fails. */
void *gcd_spill_map(int fd, uint64_t off, size_t n, struct gcd_error *err);
/* To another size, maybe elsewhere; NULL when that fails, then nothing has changed. */
void *gcd_spill_remap(void *at, size_t old_bytes, size_t new_bytes, struct gcd_error *err);
void gcd_spill_unmap(void *at, size_t n);
/*
 * For gcd_spill_single; -1 when the system has no such thing.  Of N mapped bytes only the pages that somebody looks at become resident from now
 * on.  Else the system maps their neighbours with them, sixteen pages for a byte, which no budget keeps up with.
 */
int gcd_spill_single_open(void);
void gcd_spill_single(int fd, void *at, size_t n);
/* N bytes of a mapped file stay what they are, but are not resident any more. */
void gcd_spill_drop(void *at, size_t n);

/* The calling thread sleeps nearly always and shall run as soon as it wakes up, whatever else runs, as far as the system has means for that. */
void gcd_spill_run_promptly(void);

/* For gcd_spill_resident; -1 when the system does not tell. */
int gcd_spill_resident_open(void);
uint64_t gcd_spill_resident(int fd);

#endif
