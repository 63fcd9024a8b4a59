/*
 * Shared by the files that open views.
 */
#ifndef GCD_CLI_BROWSE_OPENING_H
#define GCD_CLI_BROWSE_OPENING_H

#include "answer/answers.h"
#include "browse/model.h"

/* One function per kind of view.  On failure the caller frees what V holds. */
gcd_status browse_open_suspects(struct browse_view *v, const struct gcd_context *call,
                                struct gcd_error *err);
gcd_status browse_open_suspect(struct browse_view *v, const struct gcd_context *call,
                               struct gcd_error *err);
gcd_status browse_open_tree(struct browse_view *v, const struct gcd_context *call,
                            struct gcd_error *err);
gcd_status browse_open_types(struct browse_view *v, const struct gcd_context *call,
                             struct gcd_error *err);
gcd_status browse_open_type(struct browse_view *v, const struct gcd_context *call,
                            struct gcd_error *err);
gcd_status browse_open_object(struct browse_view *v, const struct gcd_context *call,
                              struct gcd_error *err);
gcd_status browse_open_async(struct browse_view *v, const struct gcd_context *call,
                             struct gcd_error *err);
gcd_status browse_open_stack(struct browse_view *v, const struct gcd_context *call,
                             struct gcd_error *err);
gcd_status browse_open_rows(struct browse_view *v, const struct gcd_context *call,
                            struct gcd_error *err);
gcd_status browse_open_dump(struct browse_view *v, const struct gcd_context *call,
                            struct gcd_error *err);

/* Fills ERR, which may be NULL; returns STATUS. */
gcd_status browse_fail(struct gcd_error *err, gcd_status status, const char *fmt, ...)
    GCD_PRINTF(3, 4);
gcd_status browse_no_memory(struct gcd_error *err);
/* Call it every BROWSE_STEP rounds of a loop: reports progress.  GCD_E_CANCELED when the flag of
 * CALL, which may be NULL, is set. */
#define BROWSE_STEP (UINT64_C(1) << 16)
gcd_status browse_step(const struct gcd_context *call, uint64_t done, uint64_t total,
                       struct gcd_error *err);

/* A new section at the end; V has room for BROWSE_SECTIONS. */
struct browse_section *browse_add_section(struct browse_view *v);
/* Adds a section of wrapped TEXT, which it takes over; NULL: out of memory. */
gcd_status browse_add_text(struct browse_view *v, char *text, struct gcd_error *err);
/* Sets the text of section S, likewise. */
gcd_status browse_put_text(const struct browse_view *v, struct browse_section *s, char *text,
                           struct gcd_error *err);
/* Adds a line to the last section, which shows made lines; takes over its text, NULL: out of
 * memory. */
gcd_status browse_add_made(struct browse_view *v, struct browse_made made, struct gcd_error *err);
/* Adds such a section. */
struct browse_section *browse_add_made_section(struct browse_view *v);

/* Makes a line of a node: retained size, size, type and address. */
void browse_node_line(const struct browse_view *v, const struct browse_section *s, uint64_t i,
                      struct browse_line *ret);
/* The same in a list of what refers to the object of the view, or to what it refers: with the
 * field. */
void browse_referrer_line(const struct browse_view *v, const struct browse_section *s, uint64_t i,
                          struct browse_line *ret);
void browse_reference_line(const struct browse_view *v, const struct browse_section *s, uint64_t i,
                           struct browse_line *ret);
/* Fills RET for NODE. */
void browse_put_node(const struct browse_view *v, uint32_t node, struct browse_line *ret);
/* Sets the column titles of such a section. */
void browse_node_heads(struct browse_section *s);
void browse_put_name(struct browse_line *ret, const char *name);
/* What people call TYPE. */
void browse_put_type(struct browse_line *ret, const struct browse_model *m, uint32_t type);

/* Adds the lines of A, a path whose making had the status ST, and frees it. */
gcd_status browse_add_path(struct browse_view *v, gcd_status st, struct answer *a,
                           struct gcd_error *err);

#endif
