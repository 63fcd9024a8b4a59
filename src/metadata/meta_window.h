/*
 * Bytes of an image, a page at a time.
 *
 * The first failure is kept and turns every later view into zeros, so code reads what it needs and
 * checks the status only in loops and before it returns a result.  No number in the image decides
 * how much memory is allocated.
 */
#ifndef GCD_METADATA_META_WINDOW_H
#define GCD_METADATA_META_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>

#define META_PAGE_BYTES ((size_t)4096)
#define META_PAGES      64u
#define META_VIEW_MAX   ((size_t)256)

struct meta_window {
    struct gcd_input *in;
    uint64_t base, size;           /* the image: bytes of the input from BASE on */
    uint8_t *pages;                /* [META_PAGES * META_PAGE_BYTES] */
    uint64_t page[META_PAGES];     /* the page in a slot, + 1; 0 = none */
    uint8_t across[META_VIEW_MAX]; /* a view that two pages share */
    gcd_status st;                 /* GCD_OK, or the first failure */
    struct gcd_error err;
};

/* A part of the image. */
struct meta_region {
    uint64_t off, n;
};

/* Lets W, zeroed, see the N bytes of IN from OFF on, or what there is of them; also another image
 * later. */
void meta_show(struct meta_window *w, struct gcd_input *in, uint64_t off, uint64_t n);
/* Allocates the pages of W, which has no failure yet.  False: out of memory. */
bool meta_open(struct meta_window *w, const struct gcd_alloc *alloc);
void meta_close(struct meta_window *w, const struct gcd_alloc *alloc);

/* N bytes at OFF of the image, valid until the next view; zeros after a failure.  N <=
 * META_VIEW_MAX.  GCD_E_TRUNCATED beyond the end. */
const uint8_t *meta_view(struct meta_window *w, uint64_t off, size_t n);

/* The same at OFF of a region; GCD_E_FORMAT beyond its end. */
const uint8_t *meta_view_in(struct meta_window *w, struct meta_region r, uint64_t off, size_t n);

/* Record a failure at OFF of the image, unless there already is one. */
void meta_fail(struct meta_window *w, gcd_status st, uint64_t off, const char *what);

/* The first failure, also in ERR if it is one; GCD_OK. */
gcd_status meta_status(const struct meta_window *w, struct gcd_error *err);

#endif
