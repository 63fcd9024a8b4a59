#include "io/unzstd.h"

#define ZSTD_STATIC_LINKING_ONLY /* for an allocator of ours */
#include <zstd.h>
#include <zstd_errors.h>

#include "base/error.h"

static void *zstd_alloc(void *opaque, size_t n)
{
    return gcd_sized_alloc(opaque, n);
}

static void zstd_free(void *opaque, void *address)
{
    gcd_sized_free(opaque, address);
}

gcd_status gcd_unzstd_init(struct gcd_unzstd *u, const struct gcd_alloc *a, struct gcd_error *err)
{
    ZSTD_customMem memory = { zstd_alloc, zstd_free, (void *)(uintptr_t)a };
    *u = (struct gcd_unzstd){ .z = ZSTD_createDStream_advanced(memory), .alloc = a };
    return u->z != NULL ? GCD_OK : gcd_fail_nomem(err, "starting to decompress");
}

void gcd_unzstd_done(struct gcd_unzstd *u)
{
    (void)ZSTD_freeDStream(u->z);
    u->z = NULL;
}

gcd_status gcd_unzstd_step(struct gcd_unzstd *u, struct gcd_gunzip_io *io, struct gcd_error *err)
{
    io->used = io->made = 0;
    if (u->damage != NULL)
        return gcd_fail(err, GCD_E_FORMAT, "the zstd data are damaged: %s", u->damage);
    if (io->in_bytes == 0 && io->at_end && u->between_frames)
        return GCD_END;
    ZSTD_inBuffer in = { .src = io->in, .size = io->in_bytes };
    ZSTD_outBuffer out = { .dst = io->out, .size = io->out_bytes };
    size_t left = ZSTD_decompressStream(u->z, &out, &in);
    io->used = in.pos;
    io->made = out.pos;
    if (ZSTD_isError(left)) {
        if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
            return gcd_fail_nomem(err, "decompressing");
        u->damage = ZSTD_getErrorName(left); /* reported by the next step */
        return GCD_OK;
    }
    /* a step without input gives what is left of the output before */
    if (in.pos > 0 || out.pos > 0)
        u->between_frames = left == 0;
    else if (io->in_bytes == 0 && io->at_end)
        return gcd_fail(err, GCD_E_TRUNCATED, "the zstd data end early");
    return GCD_OK;
}
