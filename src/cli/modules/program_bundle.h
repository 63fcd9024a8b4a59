/*
 * A single-file program: the assemblies in it, found by name.
 */
#ifndef GCD_CLI_MODULES_PROGRAM_BUNDLE_H
#define GCD_CLI_MODULES_PROGRAM_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/io.h>
#include <gcdumpc/status.h>
#include <gcdumpc/unstable/bundle.h>

#define BUNDLE_ENTRIES_MAX ((size_t)100000)

struct bundle_entry {
    char *full;       /* folder of the program, then */
    const char *path; /* the path in the bundle */
    const char *name; /* the last part of that */
    uint64_t off, bytes, stored_bytes;
    /* a kept copy, because a file is read several times; NULL = none */
    struct gcd_input *expanded;
};

struct program_bundle {
    char *path; /* of the program */
    struct gcd_input *input;
    struct gcd_bundle *bundle;  /* NULL = not a bundle */
    struct bundle_entry *items; /* [count] sorted by name without case, then by path */
    size_t count, room;
    uint64_t expanded_bytes; /* of all kept copies */
};

/*
 * Opens PATH if it is a single-file program, which runs in FOLDER ("/app/", or "" when that is not
 * known).  GCD_OK; GCD_END: it is something else, or does not exist; GCD_E_NOMEM; any other error:
 * it is one, but damaged, and RET has the entries before the damage.  Call program_bundle_done in
 * any case.
 */
gcd_status program_bundle_open(const char *path, const char *folder, struct program_bundle *ret,
                               struct gcd_error *err);
/* The first entry with NAME or after it in the order; count when there is none. */
size_t program_bundle_find(const struct program_bundle *b, const char *name);
/* A file of a bundle, open for reading. */
struct bundle_view {
    struct gcd_input *input;
    uint64_t off, bytes;
    bool own; /* the input is a copy that is not kept, to be freed */
};
/* OPTIONS: for the copy of a compressed file. */
gcd_status program_bundle_view(struct program_bundle *b, struct bundle_entry *e,
                               const struct gcd_input_options *options, struct bundle_view *ret,
                               struct gcd_error *err);
void program_bundle_done(struct program_bundle *b);

#endif
