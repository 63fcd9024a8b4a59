/*
 * The page around the data, made from src/write/html/page by tools/cmake/html-page.cmake.
 */
#ifndef GCD_WRITE_HTML_PAGE_H
#define GCD_WRITE_HTML_PAGE_H

#include <stddef.h>

#include <gcdumpc/unstable/pages/pages.h>

struct html_data;

/* The page before the part that is shown without scripts, between that part and the JSON, and after
 * the JSON; compressed with gzip. */
extern const unsigned char html_page_head[], html_page_middle[], html_page_tail[];
extern const size_t html_page_head_bytes, html_page_middle_bytes, html_page_tail_bytes;

/* html_parts.c: writes one of them uncompressed.  ALLOC may be NULL. */
GCD_MUST_CHECK gcd_status html_part_write(const unsigned char *part, size_t n,
                                          const struct gcd_alloc *alloc, struct gcd_sink *s,
                                          struct gcd_error *err);

/* html_plain.c: the part shown without scripts: for one dump; for two, with the suspects of the
 * newer one unless H is NULL; for several. */
void html_plain_write(const struct html_data *h, struct gcd_sink *s);
void html_plain_write_sides(const struct gcd_diff_page *page, const struct html_data *h,
                            struct gcd_sink *s);
void html_plain_write_dumps(const struct gcd_trend_page *page, struct gcd_sink *s);

#endif
