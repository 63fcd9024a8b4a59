#include "metadata/meta_window.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"

static const uint8_t zeros[META_VIEW_MAX];

void meta_show(struct meta_window *w, struct gcd_input *in, uint64_t off, uint64_t n)
{
    uint64_t size = gcd_input_size(in);
    w->in = in;
    w->base = off;
    w->size = off > size ? 0 : size - off < n ? size - off : n;
    memset(w->page, 0, sizeof w->page);
}

bool meta_open(struct meta_window *w, const struct gcd_alloc *alloc)
{
    w->st = GCD_OK;
    w->err = (struct gcd_error)GCD_ERROR_INIT;
    w->pages = gcd_mem_new_uncleared(alloc, META_PAGES, META_PAGE_BYTES);
    return w->pages != NULL;
}

void meta_close(struct meta_window *w, const struct gcd_alloc *alloc)
{
    gcd_mem_free(alloc, w->pages, META_PAGES * META_PAGE_BYTES);
}

void meta_fail(struct meta_window *w, gcd_status st, uint64_t off, const char *what)
{
    if (w->st == GCD_OK)
        w->st = off == GCD_OFF_NONE ? gcd_fail(&w->err, st, "%s", what)
                                    : gcd_fail_at(&w->err, st, w->base + off, "%s", what);
}

gcd_status meta_status(const struct meta_window *w, struct gcd_error *err)
{
    if (w->st < GCD_OK && err != NULL)
        *err = w->err;
    return w->st;
}

/* The page of that number, or NULL. */
static const uint8_t *page_of(struct meta_window *w, uint64_t number)
{
    size_t slot = (size_t)(number % META_PAGES), got = 0;
    uint8_t *page = w->pages + slot * META_PAGE_BYTES;
    if (w->page[slot] == number + 1)
        return page;
    w->page[slot] = 0;
    uint64_t off = number * META_PAGE_BYTES;
    size_t want = w->size - off < META_PAGE_BYTES ? (size_t)(w->size - off) : META_PAGE_BYTES;
    w->st = gcd_input_read_at(w->in, w->base + off, page, want, &got, &w->err);
    if (w->st == GCD_OK && got < want)
        meta_fail(w, GCD_E_TRUNCATED, off + got, "the file became shorter while it was read");
    if (w->st != GCD_OK)
        return NULL;
    w->page[slot] = number + 1;
    return page;
}

const uint8_t *meta_view(struct meta_window *w, uint64_t off, size_t n)
{
    if (w->st != GCD_OK)
        return zeros;
    if (off > w->size || n > w->size - off) {
        meta_fail(w, GCD_E_TRUNCATED, w->size, "the file ends early");
        return zeros;
    }
    if (n == 0)
        return zeros;
    size_t at = (size_t)(off % META_PAGE_BYTES), first = META_PAGE_BYTES - at;
    const uint8_t *page = page_of(w, off / META_PAGE_BYTES);
    if (page == NULL)
        return zeros;
    if (n <= first)
        return page + at;
    memcpy(w->across, page + at, first);
    page = page_of(w, off / META_PAGE_BYTES + 1);
    if (page == NULL)
        return zeros;
    memcpy(w->across + first, page, n - first);
    return w->across;
}

const uint8_t *meta_view_in(struct meta_window *w, struct meta_region r, uint64_t off, size_t n)
{
    if (off > r.n || n > r.n - off) {
        meta_fail(w, GCD_E_FORMAT, r.off,
                  "an offset or a count leads out of its part of the image");
        return zeros;
    }
    return meta_view(w, r.off + off, n);
}
