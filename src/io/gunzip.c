#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include <gcdumpc/unstable/io/text_lines.h>

#include "base/error.h"
#include "base/mem.h"
#include "io/gunzip.h"

/* Blocks begin with their size. */
#define HEADER_BYTES ((size_t)16)

void *gcd_sized_alloc(const struct gcd_alloc *a, size_t n)
{
    size_t all = n + HEADER_BYTES;
    char *p = all > n ? gcd_mem_new(a, all) : NULL;
    if (p == NULL)
        return NULL;
    memcpy(p, &all, sizeof all);
    return p + HEADER_BYTES;
}

void gcd_sized_free(const struct gcd_alloc *a, void *address)
{
    char *p = address != NULL ? (char *)address - HEADER_BYTES : NULL;
    size_t n;
    if (p == NULL)
        return;
    memcpy(&n, p, sizeof n);
    gcd_mem_free(a, p, n);
}

static voidpf zlib_alloc(voidpf opaque, uInt items, uInt size)
{
    return gcd_sized_alloc(opaque, (size_t)items * size);
}

static void zlib_free(voidpf opaque, voidpf address)
{
    gcd_sized_free(opaque, address);
}

void gcd_zlib_use_alloc(z_stream *z, const struct gcd_alloc *a)
{
    z->zalloc = zlib_alloc;
    z->zfree = zlib_free;
    z->opaque = (voidpf)(uintptr_t)a;
}

gcd_status gcd_gunzip_init(struct gcd_gunzip *g, const struct gcd_alloc *a, struct gcd_error *err)
{
    memset(g, 0, sizeof *g);
    gcd_zlib_use_alloc(&g->z, a);
    if (inflateInit2(&g->z, 15 + 16) != Z_OK)
        return gcd_fail_nomem(err, "starting to decompress");
    g->open = true;
    return GCD_OK;
}

void gcd_gunzip_done(struct gcd_gunzip *g)
{
    if (g->open)
        (void)inflateEnd(&g->z);
    g->open = false;
}

gcd_status gcd_gunzip_step(struct gcd_gunzip *g, struct gcd_gunzip_io *io, struct gcd_error *err)
{
    size_t n = io->in_bytes;
    io->used = io->made = 0;
    if (g->damaged)
        return gcd_fail(err, GCD_E_FORMAT, "the gzip data are damaged: %s",
                        g->text_lines      ? GCD_TEXT_LINES_REMEDY
                        : g->z.msg != NULL ? g->z.msg
                                           : "no reason given");
    if (g->between_members && n > 0) {
        if (io->in[0] != 0x1f) {
            g->done = true;
        } else {
            (void)inflateReset(&g->z);
            g->between_members = false;
        }
    }
    if (g->done || (g->between_members && n == 0)) {
        io->used = n;
        return io->at_end || g->done ? GCD_END : GCD_OK;
    }
    if (n == 0 && io->at_end)
        return gcd_fail(err, GCD_E_TRUNCATED, "the gzip data end early");
    if (n > UINT_MAX)
        n = UINT_MAX;
    g->z.next_in = (z_const Bytef *)(uintptr_t)io->in;
    g->z.avail_in = (uInt)n;
    g->z.next_out = io->out;
    g->z.avail_out = (uInt)io->out_bytes;
    int z = inflate(&g->z, Z_NO_FLUSH);
    io->used = n - g->z.avail_in;
    io->made = io->out_bytes - g->z.avail_out;
    if (z == Z_STREAM_END)
        g->between_members = true;
    else if (z == Z_MEM_ERROR)
        return gcd_fail_nomem(err, "decompressing");
    else if (z != Z_OK && z != Z_BUF_ERROR) {
        g->damaged = true; /* reported by the next step: the data before is good */
        g->text_lines = gcd_has_text_lines(io->in, n);
    }
    return GCD_OK;
}
