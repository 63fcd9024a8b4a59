/*
 * What the pages of two and of several dumps have in common (html_diff.c).
 */
#ifndef GCD_WRITE_HTML_COMPARE_H
#define GCD_WRITE_HTML_COMPARE_H

#include <gcdumpc/unstable/pages/pages.h>

struct json_put;

/* How long names and texts about a dump may be, and how many reasons of its verdict are told. */
struct html_dump_limits {
    size_t text_bytes, reasons;
};
void html_put_dump(struct json_put *j, const struct gcd_page_dump *d, struct html_dump_limits limits);

/* Which rows of a comparison the page has: the first, which have grown most, and the last. */
struct html_rows {
    size_t grown, shrunk;
};
bool html_row_is_shown(const struct html_rows *rows, size_t i, size_t n);
/* The longest names of rows for which there is room, in bytes. */
size_t html_row_name_limit(const struct json_put *j, const struct gcd_diff *d, const struct html_rows *rows);

#endif
