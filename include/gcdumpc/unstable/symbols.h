/*
 * The lines of methods, from portable PDB files: beside the assembly, or embedded in it.
 *
 *     struct gcd_symbols *s;
 *     if (gcd_symbols_open(in, 0, UINT64_MAX, NULL, &s, &err) == GCD_OK) {
 *         struct gcd_line line;
 *         st = gcd_symbols_line(s, 0x06000012, 7, &line, &err);
 *         gcd_symbols_free(s);
 *     }
 */
#ifndef GCDUMPC_UNSTABLE_SYMBOLS_H
#define GCDUMPC_UNSTABLE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>
#include <gcdumpc/unstable/metadata.h>

struct gcd_symbols;

/*
 * Opens the N bytes of IN from OFF on: a portable PDB, or an image with an embedded one, which is
 * expanded.  IN must be seekable and outlive the symbols.  ALLOC may be NULL.  GCD_E_NOT_FOUND: the
 * image has no embedded symbols; GCD_E_UNSUPPORTED: it is another kind of file, such as a Windows
 * PDB; errors as gcd_metadata_open.
 */
GCD_MUST_CHECK gcd_status gcd_symbols_open(struct gcd_input *in, uint64_t off, uint64_t n,
                                           const struct gcd_alloc *alloc, struct gcd_symbols **ret,
                                           struct gcd_error *err);
void gcd_symbols_free(struct gcd_symbols *s);

/* Belongs to the image with this GUID in its CodeView record. */
struct gcd_module_guid gcd_symbols_guid(const struct gcd_symbols *s);

struct gcd_line {
    const char *file; /* UTF-8; valid until the next call */
    uint32_t line;
};

/*
 * The line of method TOKEN at IL_OFFSET: that of the last sequence point at or before it.  GCD_END:
 * the method has none, as compiler-generated ones.  GCD_E_FORMAT: the symbols are damaged.
 */
GCD_MUST_CHECK gcd_status gcd_symbols_line(struct gcd_symbols *s, uint32_t token,
                                           uint32_t il_offset, struct gcd_line *ret,
                                           struct gcd_error *err);

#endif
