/*
 * An ELF file of 64 bits, little-endian: the program that Native AOT compiled, or the file with its
 * symbols, which strip(1) or ILCompiler separated (".dbg").  Layout: elf(5).
 *
 * Read like other images (meta_window.h): no number in the file decides how much memory is
 * allocated, each access is checked, and each loop visits the rows of one table.
 */
#ifndef GCD_METADATA_ELF_FILE_H
#define GCD_METADATA_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>

struct elf_file;

/* An entry of the table of symbols. */
struct elf_entry {
    uint64_t rva; /* its address, relative to the image */
    uint32_t name;
};

/* IN outlives the file.  GCD_E_UNSUPPORTED: no ELF file of this kind; GCD_E_FORMAT,
 * GCD_E_TRUNCATED, GCD_E_LIMIT, GCD_E_IO, GCD_E_NOMEM. */
gcd_status elf_file_open(struct gcd_input *in, uint64_t off, uint64_t n,
                         const struct gcd_alloc *alloc, struct elf_file **ret,
                         struct gcd_error *err);
void elf_file_free(struct elf_file *f);

/* The build id; 0 bytes = it has none. */
const uint8_t *elf_file_build_id(const struct elf_file *f, size_t *ret_n);

/* The number of symbols; 0 = it was stripped. */
uint64_t elf_file_symbols(const struct elf_file *f);
gcd_status elf_file_symbol(struct elf_file *f, uint64_t i, struct elf_entry *ret,
                           struct gcd_error *err);
/* The name of a symbol in RET[CAP], with a NUL; *RET_N: its bytes, CAP = it is longer. */
gcd_status elf_file_name(struct elf_file *f, uint32_t name, char *ret, size_t cap, size_t *ret_n,
                         struct gcd_error *err);

#endif
