/*
 * The page around the data, made from src/write/html/page by tools/cmake/html-page.cmake.
 */
#ifndef GCD_WRITE_HTML_PAGE_H
#define GCD_WRITE_HTML_PAGE_H

#include <stddef.h>

/* Before the JSON and behind it. */
extern const unsigned char html_page_head[], html_page_tail[];
extern const size_t html_page_head_bytes, html_page_tail_bytes;

#endif
