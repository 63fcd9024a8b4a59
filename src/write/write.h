/* A writer is a row in writer.c.  It uses dump and graph only through their public headers. */
#ifndef GCD_WRITE_WRITE_H
#define GCD_WRITE_WRITE_H

#include <gcdumpc/writer.h>
#include <gcdumpc/unstable/estimate.h>
#include <gcdumpc/unstable/staged_file.h>
#include <gcdumpc/unstable/values.h>

struct gcd_format {
    const char *name, *suffix, *about;
    const char *suffix2; /* alternative suffix; NULL = none */
    bool text;
    bool folder; /* kind PLACE: a folder, otherwise a file */
    enum gcd_name_style names;
    enum gcd_workload needs; /* kinds GRAPH and PLACE */
    bool values;             /* it has a place for values */
    unsigned size_percent;   /* see gcd_format_size */
    /* kind PLACE: suffixes of files beside the output that would damage it; ends with NULL; NULL =
     * none */
    const char *const *journals;
    /* The first is for kind STREAM, the second also for GRAPH, the third only for PLACE. */
    gcd_status (*write)(struct gcd_dump *d, struct gcd_sink *s,
                        const struct gcd_write_options *options, struct gcd_write_notes *notes,
                        struct gcd_error *err);
    gcd_status (*write_graph)(const struct gcd_graph *g, struct gcd_sink *s,
                              const struct gcd_write_options *options,
                              struct gcd_write_notes *notes, struct gcd_error *err);
    gcd_status (*write_place)(const struct gcd_graph *g, struct gcd_staged *p,
                              const struct gcd_write_options *options,
                              struct gcd_write_notes *notes, struct gcd_error *err);
};

/* Nodes between two calls of write_check. */
#define WRITE_CHECK_EVERY UINT32_C(65536)

/* The loops of a graph writer call it regularly: progress (DONE of TOTAL, in any unit), cancel, a
 * full disk (S may be NULL). */
GCD_MUST_CHECK gcd_status write_check(const struct gcd_write_options *options, struct gcd_sink *s,
                                      uint64_t done, uint64_t total, struct gcd_error *err);
/* Writes N bytes of foreign text to a file that people read: "?" for what is not shown
 * (gcd_text_next). */
void write_shown(struct gcd_sink *out, const char *s, size_t n);
/* The name of a type in the style that the options request. */
const char *write_type_name(const struct gcd_write_options *options, const struct gcd_graph *g,
                            uint32_t type);
/* Do objects of TYPE have texts in the values that may be written? */
bool write_has_texts(const struct gcd_write_options *options, const struct gcd_graph *g,
                     uint32_t type);
/* The number of the text of NODE, whose type has texts; GCD_TEXT_NONE = it is not known. */
uint32_t write_text_of(const struct gcd_write_options *options, const struct gcd_graph *g,
                       uint32_t node);
/* The file name in the path of a module: *RET_N bytes at the returned address, *RET_STEM of them
 * without ".dll" or ".exe". */
const char *write_module_file(const char *module_path, size_t *ret_n, size_t *ret_stem);
/* Notes that the format cannot store COUNT things; does nothing if COUNT is 0.  ONE follows the
 * number 1, MANY all others. */
void write_note_loss(struct gcd_write_notes *notes, uint64_t count, const char *one,
                     const char *many);
/* The same for the fields of types whose layout is known. */
void write_note_fields(struct gcd_write_notes *notes, const struct gcd_summary *summary);
/* The same for roots and ranges, in a format that stores only the group of a root, and no ranges.
 */
void write_note_root_losses(struct gcd_write_notes *notes, const struct gcd_graph *g,
                            bool weak_roots_are_there);

extern const struct gcd_format gcd_w_csv, gcd_w_dart, gcd_w_folded, gcd_w_gcdump, gcd_w_gclog,
    gcd_w_html, gcd_w_pprof, gcd_w_v8;
extern const struct gcd_format gcd_w_sqlite; /* only with GCDUMPC_SQLITE */

#endif
