/*
 * Dumps to files.  Formats are rows of one table; a program finds them by name or by the name of the output.
 */
#ifndef GCDUMPC_WRITER_H
#define GCDUMPC_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/dump.h>
#include <gcdumpc/cancel.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gcd_format;

/* Format number I of the table, NULL after the last. */
GCD_API const struct gcd_format *gcd_format_at(size_t i);
GCD_API const struct gcd_format *gcd_format_by_name(const char *name);
/* By the suffix of a path, a ".gz" behind it being ignored; NULL when none fits. */
GCD_API const struct gcd_format *gcd_format_by_path(const char *path);

GCD_API const char *gcd_format_name(const struct gcd_format *f);     /* for --format */
GCD_API const char *gcd_format_suffix(const struct gcd_format *f);   /* with its dot */
GCD_API const char *gcd_format_about(const struct gcd_format *f);    /* a few words */
GCD_API bool gcd_format_is_text(const struct gcd_format *f);

struct gcd_write_options {
    const struct gcd_alloc *alloc;
    const char *name;            /* of the program that was dumped, when the dump does not know it; NULL = none */
    const gcd_cancel_flag *cancel;   /* may be NULL; polled every 64 Ki objects, ends with GCD_E_CANCELED */
    gcd_progress_fn progress;    /* may be NULL */
    void *progress_ctx;
    uint64_t progress_total;     /* handed to PROGRESS */
};

/* What the writer noticed in the data, for a warning.  All zero in a sound dump. */
struct gcd_write_notes {
    uint64_t objects, edges, roots, types;   /* records written; dependent handles count as edges */
    uint64_t edges_missing;          /* references that objects declare and nobody received or could be matched */
    uint64_t edges_dangling;         /* to addresses where no object is; written all the same */
    bool dangling_is_minimum;        /* there may be more of them: the heap is too large for an exact count */
    uint64_t roots_dangling;
    uint64_t dependents_dropped;     /* dependent handles whose key is no object */
    uint64_t objects_dropped;        /* with address 0 */
};

/*
 * Write D to S in format F; the caller commits S.  D must be rereadable (gcd_objects_new).  OPTIONS may be NULL, RET_NOTES too.
 * Memory does not depend on the number of objects.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_write(const struct gcd_format *f, struct gcd_dump *d, struct gcd_sink *s,
                                            const struct gcd_write_options *options, struct gcd_write_notes *ret_notes,
                                            struct gcd_error *err);

#ifdef __cplusplus
}
#endif
#endif
