/*
 * Shared by the pages of two and of several dumps (html_diff.c).
 */
#ifndef GCD_WRITE_HTML_COMPARE_H
#define GCD_WRITE_HTML_COMPARE_H

#include <gcdumpc/unstable/pages/pages.h>

struct json_put;

/* Maximum length of names and texts about a dump, and maximum number of reasons of its verdict. */
struct html_dump_limits {
    size_t text_bytes, reasons;
};
void html_put_dump(struct json_put *j, const struct gcd_page_dump *d,
                   struct html_dump_limits limits);

/* The rows of a comparison that the page has: the first ones, which have grown most, and the last
 * ones. */
struct html_rows {
    size_t grown, shrunk;
};
bool html_row_is_shown(const struct html_rows *rows, size_t i, size_t n);
/* The longest name, in bytes, that all rows have room for. */
size_t html_row_name_limit(const struct json_put *j, const struct gcd_diff *d,
                           const struct html_rows *rows);

#endif
