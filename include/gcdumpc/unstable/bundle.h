/*
 * Single-file programs of .NET: the host program contains the assemblies, each plain or compressed.
 *
 *     struct gcd_bundle_file f;
 *     while ((st = gcd_bundle_next(b, &f, &err)) == GCD_OK)
 *         if (f.stored_bytes == 0)
 *             st = gcd_metadata_open(in, f.off, f.bytes, NULL, &m, &err);
 *         else if ((st = gcd_bundle_expand(b, &f, NULL, &plain, &err)) == GCD_OK)
 *             st = gcd_metadata_open(plain, 0, UINT64_MAX, NULL, &m, &err);
 */
#ifndef GCDUMPC_UNSTABLE_BUNDLE_H
#define GCDUMPC_UNSTABLE_BUNDLE_H

#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>

struct gcd_bundle;

/* Kinds of files in a bundle. */
enum gcd_bundle_kind {
    GCD_BUNDLE_UNKNOWN,
    GCD_BUNDLE_ASSEMBLY,
    GCD_BUNDLE_NATIVE,
    GCD_BUNDLE_DEPS,
    GCD_BUNDLE_CONFIG,
    GCD_BUNDLE_SYMBOLS
};

struct gcd_bundle_file {
    const char *path; /* "Shop.dll", below the folder of the program; UTF-8, valid until the next
                         call of gcd_bundle_next */
    enum gcd_bundle_kind kind;
    uint64_t off, bytes;   /* offset and size */
    uint64_t stored_bytes; /* size when compressed; 0 = not compressed */
};

/*
 * Open the bundle in IN, which must be seekable and outlive it.  Searches the first 64 MiB for the
 * bundle's signature; no host program is that large. ALLOC may be NULL.  GCD_E_UNSUPPORTED: not a
 * bundle, or one from before .NET 5; GCD_E_TRUNCATED, GCD_E_FORMAT, GCD_E_IO, GCD_E_NOMEM.
 */
GCD_MUST_CHECK gcd_status gcd_bundle_open(struct gcd_input *in, const struct gcd_alloc *alloc,
                                          struct gcd_bundle **ret, struct gcd_error *err);
void gcd_bundle_free(struct gcd_bundle *b);

/* The next file; GCD_END after the last.  A file that does not lie within the bundle is
 * GCD_E_TRUNCATED or GCD_E_FORMAT. */
GCD_MUST_CHECK gcd_status gcd_bundle_next(struct gcd_bundle *b, struct gcd_bundle_file *ret,
                                          struct gcd_error *err);

/*
 * Expands a compressed file into an input of its own, a spool (gcd_input_new_spool) with OPTIONS,
 * which may be NULL.  GCD_E_LIMIT above 256 MiB; GCD_E_FORMAT: damaged, or not of the size that the
 * bundle says.
 */
GCD_MUST_CHECK gcd_status gcd_bundle_expand(struct gcd_bundle *b, const struct gcd_bundle_file *f,
                                            const struct gcd_input_options *options,
                                            struct gcd_input **ret, struct gcd_error *err);

#endif
