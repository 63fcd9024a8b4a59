#include <gcdumpc/io.h>
#include <gcdumpc/unstable/folders.h>
#include <gcdumpc/unstable/io/sink_room.h>

#include <limits.h>
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/threads/parallel.h"
#include "base/threads/queue.h"
#include "io/file.h"
#include "io/gunzip.h"
#include "io/packed.h"
#include "io/sink_hole.h"
#include "io/sink_sum.h"
#include "io/sink_thread.h"

/* Several times the largest reservation, so that a flush never happens for a nearly empty buffer.
 */
#define BUFFER_BYTES (4 * GCD_SINK_RESERVE_MAX)
#define GZIP_BYTES   ((size_t)128 * 1024)
/* Level 6 is half as fast as level 1 and saves less than a tenth of the size on heap dumps
 * (measured, gclog). */
#define GZIP_LEVEL 1
/* For small outputs that are read many times. */
#define PACKED_LEVEL 9

struct gcd_sink {
    struct gcd_alloc alloc;
    struct gcd_error error; /* the first one; sticky */
    uint64_t flushed_bytes;
    char *buffer; /* [BUFFER_BYTES]; with a thread, the buffer of a slot */
    size_t used;
    /* a thread compresses and writes, and owns the members for that until it is joined */
    bool threaded;
    pthread_t thread;
    struct gcd_queue queue;
    struct gcd_slot *slot;   /* the slot of BUFFER */
    struct gcd_error behind; /* the thread's error */
    atomic_bool failed;      /* set once there is one */
    int fd;                  /* -1 = memory */
    uint64_t file_bytes;     /* written to it, after gzip */
    uint64_t room_until;     /* disk space is known to suffice up to this size */
    const gcd_cancel_flag *cancel;
    struct gcd_temporary temporary; /* of a file that is not written in place */
    char *temp;                     /* its current path, [PATH_MAX]; "" = none */
    bool gzip, finished, committed;
    /* sums of the bytes before and in the last part that was left out, and after it or of all */
    bool summed;
    uint32_t sum_before, sum_left, sum;
    uint64_t left_bytes, left_end; /* of that part; 0 = none */
    z_stream z;
    uint8_t *packed; /* [GZIP_BYTES] */
    uint8_t *memory;
    size_t memory_n, memory_cap;
};

/* Written under a temporary name, not directly. */
static bool is_file(const struct gcd_sink *s)
{
    return s->temporary.dir_fd >= 0;
}

static gcd_status sink_new(const struct gcd_alloc *alloc, struct gcd_sink **ret,
                           struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct gcd_sink *s = gcd_mem_new(&a, sizeof *s);
    if (s == NULL)
        return gcd_fail_nomem(err, "opening the output");
    s->alloc = a;
    s->fd = -1;
    s->temporary = GCD_TEMPORARY_NONE;
    s->error = s->behind = (struct gcd_error)GCD_ERROR_INIT;
    s->buffer = gcd_mem_new_uncleared(&s->alloc, BUFFER_BYTES, 1);
    if (s->buffer == NULL) {
        gcd_sink_free(s);
        return gcd_fail_nomem(err, "opening the output");
    }
    *ret = s;
    return GCD_OK;
}

static gcd_status start_gzip(struct gcd_sink *s, int level, struct gcd_error *err)
{
    s->packed = gcd_mem_new_uncleared(&s->alloc, GZIP_BYTES, 1);
    gcd_zlib_use_alloc(&s->z, &s->alloc);
    if (s->packed == NULL ||
        deflateInit2(&s->z, level, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        return gcd_fail_nomem(err, "starting to compress");
    s->gzip = true;
    return GCD_OK;
}

gcd_status gcd_sink_new_packed(const struct gcd_alloc *alloc, struct gcd_sink **ret,
                               struct gcd_error *err)
{
    struct gcd_sink *s;
    GCD_TRY(sink_new(alloc, &s, err));
    gcd_status st = start_gzip(s, PACKED_LEVEL, err);
    if (st == GCD_OK)
        *ret = s;
    else
        gcd_sink_free(s);
    return st;
}

const char *gcd_sink_temporary(const struct gcd_sink *s)
{
    return s->temp != NULL ? s->temp : "";
}

gcd_status gcd_sink_new_memory(const struct gcd_alloc *alloc, struct gcd_sink **ret,
                               struct gcd_error *err)
{
    return sink_new(alloc, ret, err);
}

const uint8_t *gcd_sink_memory(const struct gcd_sink *s, size_t *ret_n)
{
    *ret_n = s->memory_n;
    return s->memory;
}

/* After gzip, if any. */
static gcd_status put(struct gcd_sink *s, const void *bytes, size_t n, struct gcd_error *err)
{
    if (s->fd >= 0) {
        if (is_file(s))
            GCD_TRY(gcd_file_keep_room(s->fd, &s->room_until, s->file_bytes, n, err));
        GCD_TRY(gcd_file_write(s->fd, s->cancel, bytes, n, err));
        if (is_file(s))
            GCD_TRY(gcd_file_write_behind(s->fd, s->file_bytes, n, err));
        s->file_bytes += n;
        return GCD_OK;
    }
    if (!gcd_vec_reserve(&s->alloc, &s->memory, &s->memory_cap, s->memory_n + n, 1, SIZE_MAX / 2))
        return gcd_fail_nomem(err, "writing to memory");
    if (n > 0)
        memcpy(s->memory + s->memory_n, bytes, n);
    s->memory_n += n;
    return GCD_OK;
}

static gcd_status pack(struct gcd_sink *s, const void *bytes, size_t n, int flush,
                       struct gcd_error *err)
{
    s->z.next_in = (Bytef *)bytes;
    s->z.avail_in = (uInt)n;
    int z;
    do {
        s->z.next_out = s->packed;
        s->z.avail_out = (uInt)GZIP_BYTES;
        z = deflate(&s->z, flush);
        GCD_TRY(put(s, s->packed, GZIP_BYTES - s->z.avail_out, err));
    } while (s->z.avail_out == 0 || (flush == Z_FINISH && z == Z_OK));
    return GCD_OK;
}

uint32_t gcd_sum(uint32_t sum, const void *bytes, size_t n)
{
    return (uint32_t)crc32_z(sum, bytes, n);
}

static gcd_status deliver(struct gcd_sink *s, const void *bytes, size_t n, bool last,
                          struct gcd_error *err)
{
    if (s->summed)
        s->sum = gcd_sum(s->sum, bytes, n);
    if (s->gzip)
        return pack(s, bytes, n, last ? Z_FINISH : Z_NO_FLUSH, err);
    return n > 0 ? put(s, bytes, n, err) : GCD_OK;
}

/* ---- a thread compresses and writes while the caller produces the next bytes ---- */

static void *deliver_all(void *ctx)
{
    struct gcd_sink *s = ctx;
    struct gcd_slot *slot;
    while ((slot = gcd_queue_take(&s->queue)) != NULL) {
        if (!atomic_load_explicit(&s->failed, memory_order_relaxed) &&
            deliver(s, slot->bytes, slot->used, false, &s->behind) != GCD_OK)
            atomic_store_explicit(&s->failed, true, memory_order_release);
        gcd_queue_give_back(&s->queue, slot);
    }
    return NULL;
}

/*
 * Only for files: a pipe can block forever, and the signal that should interrupt it arrives in
 * another thread.  Without a thread we write ourselves.
 */
static void start_thread(struct gcd_sink *s)
{
    if (!gcd_queue_init(&s->queue, &s->alloc, BUFFER_BYTES))
        return;
    s->threaded = gcd_thread_start(&s->thread, 0, deliver_all, s) == 0;
    if (!s->threaded) {
        gcd_queue_done(&s->queue);
        return;
    }
    gcd_mem_free(&s->alloc, s->buffer, BUFFER_BYTES);
    s->slot = gcd_queue_empty(&s->queue);
    s->buffer = s->slot->bytes;
}

/* Afterwards everything handed to it is written, or has failed. */
static void join_thread(struct gcd_sink *s)
{
    gcd_queue_end(&s->queue);
    (void)pthread_join(s->thread, NULL);
    gcd_queue_done(&s->queue);
    s->threaded = false;
    s->buffer = NULL;
}

gcd_status gcd_sink_open(const char *path, const struct gcd_sink_options *options,
                         struct gcd_sink **ret, struct gcd_error *err)
{
    static const struct gcd_sink_options defaults;
    struct gcd_sink *s = NULL;
    options = options != NULL ? options : &defaults;
    GCD_TRY(sink_new(options->context.alloc, &s, err));
    s->cancel = options->context.cancel;
    s->room_until = options->keep_room ? GCD_ROOM_KEPT : GCD_ROOM_UNKEPT;
    gcd_status st = GCD_OK;
    s->temp = gcd_mem_new(&s->alloc, PATH_MAX);
    if (s->temp == NULL)
        st = gcd_fail_nomem(err, "opening the output");
    if (st == GCD_OK && gcd_text_ends(path, ".gz"))
        st = start_gzip(s, GZIP_LEVEL, err);
    if (st == GCD_OK)
        st = gcd_file_open_write(path, options, &s->fd, &s->temporary, err);
    if (st != GCD_OK) {
        gcd_sink_free(s);
        return st;
    }
    gcd_temporary_path(&s->temporary, path, s->temp, PATH_MAX);
    if (options->context.threads > 1 && is_file(s))
        start_thread(s);
    *ret = s;
    return GCD_OK;
}

static void flush(struct gcd_sink *s, bool last)
{
    if (s->threaded) {
        s->slot->used = s->used;
        gcd_queue_put(&s->queue, s->slot);
        if (last) {
            join_thread(s);
        } else {
            s->slot = gcd_queue_empty(&s->queue);
            s->buffer = s->slot->bytes;
        }
        if (s->error.code == GCD_OK && atomic_load_explicit(&s->failed, memory_order_acquire))
            s->error = s->behind;
        if (last && s->error.code == GCD_OK)
            (void)deliver(s, "", 0, true, &s->error);
    } else if (s->error.code == GCD_OK) {
        (void)deliver(s, s->buffer, s->used, last, &s->error);
    }
    s->flushed_bytes += s->used;
    s->used = 0;
}

/* Afterwards everything is written, or has failed. */
static void flush_all(struct gcd_sink *s)
{
    flush(s, false);
    if (s->threaded)
        gcd_queue_drain(&s->queue);
}

static uint32_t sum_so_far(const struct gcd_sink *s)
{
    if (s->left_bytes == 0)
        return s->sum;
    uLong head = crc32_combine(s->sum_before, s->sum_left, (z_off_t)s->left_bytes);
    return (uint32_t)crc32_combine(head, s->sum, (z_off_t)(s->flushed_bytes - s->left_end));
}

bool gcd_sink_leave(struct gcd_sink *s, uint64_t n)
{
    if (!is_file(s) || s->gzip)
        return false;
    flush_all(s);
    if (s->error.code != GCD_OK || !gcd_file_leave(s->fd, s->file_bytes, n))
        return false;
    s->sum_before = sum_so_far(s);
    s->file_bytes += n;
    s->flushed_bytes += n;
    s->sum = s->sum_left = 0;
    s->left_bytes = n;
    s->left_end = s->flushed_bytes;
    return true;
}

void gcd_sink_fill(struct gcd_sink *s, uint64_t at, const void *bytes, size_t n)
{
    if (s->error.code == GCD_OK)
        (void)gcd_file_write_at(s->fd, at, bytes, n, &s->error);
    if (s->summed)
        s->sum_left = gcd_sum(s->sum_left, bytes, n);
}

void gcd_sink_sum_begin(struct gcd_sink *s)
{
    flush_all(s);
    s->summed = true;
    s->sum = 0;
    s->left_bytes = 0;
}

uint32_t gcd_sink_sum(struct gcd_sink *s)
{
    flush_all(s);
    return sum_so_far(s);
}

bool gcd_sink_has_thread(const struct gcd_sink *s)
{
    return s->threaded;
}

char *gcd_sink_reserve(struct gcd_sink *s, size_t n)
{
    if (n > BUFFER_BYTES - s->used)
        flush(s, false);
    return s->buffer + s->used;
}

void gcd_sink_advance(struct gcd_sink *s, size_t n)
{
    s->used += n;
}

void gcd_sink_write(struct gcd_sink *s, const void *bytes, size_t n)
{
    const char *p = bytes;
    while (n > 0) {
        size_t part = n < GCD_SINK_RESERVE_MAX ? n : GCD_SINK_RESERVE_MAX;
        memcpy(gcd_sink_reserve(s, part), p, part);
        gcd_sink_advance(s, part);
        p += part;
        n -= part;
    }
}

void gcd_sink_text(struct gcd_sink *s, const char *text)
{
    gcd_sink_write(s, text, strlen(text));
}

uint64_t gcd_sink_bytes(const struct gcd_sink *s)
{
    return s->flushed_bytes + s->used;
}

gcd_status gcd_sink_status(const struct gcd_sink *s, struct gcd_error *err)
{
    if (s->error.code != GCD_OK && err != NULL)
        *err = s->error;
    return s->error.code;
}

gcd_status gcd_sink_finish(struct gcd_sink *s, uint64_t *ret_bytes, struct gcd_error *err)
{
    if (s->committed)
        return gcd_fail(err, GCD_E_STATE, "the output is already committed");
    if (!s->finished)
        flush(s, true);
    s->finished = true;
    GCD_TRY(gcd_sink_status(s, err));
    if (is_file(s))
        GCD_TRY(gcd_file_sync(s->fd, err));
    if (ret_bytes != NULL)
        *ret_bytes = s->fd >= 0 ? gcd_file_bytes(s->fd) : s->memory_n;
    return GCD_OK;
}

gcd_status gcd_sink_commit(struct gcd_sink *s, struct gcd_error *err)
{
    GCD_TRY(gcd_sink_finish(s, NULL, err));
    if (s->fd >= 0) {
        bool published = is_file(s);
        if (published)
            GCD_TRY(gcd_file_publish(s->fd, &s->temporary, err));
        int fd = s->fd;
        s->fd = -1;
        s->temp[0] = '\0';
        gcd_status st = gcd_file_close(fd, published ? NULL : err);
        if (!published &&
            st != GCD_OK) /* a published file is synced: it exists, whatever close says */
            return st;
    }
    s->committed = true;
    return GCD_OK;
}

void gcd_sink_free(struct gcd_sink *s)
{
    if (s == NULL)
        return;
    if (s->threaded) {
        /* discard what is left */
        atomic_store_explicit(&s->failed, true, memory_order_relaxed);
        join_thread(s);
    }
    gcd_temporary_remove(&s->temporary, s->fd);
    if (s->fd >= 0)
        (void)gcd_file_close(s->fd, NULL);
    if (s->gzip)
        (void)deflateEnd(&s->z);
    gcd_mem_free(&s->alloc, s->temp, PATH_MAX);
    gcd_mem_free(&s->alloc, s->packed, GZIP_BYTES);
    gcd_mem_free(&s->alloc, s->buffer, BUFFER_BYTES);
    gcd_mem_free(&s->alloc, s->memory, s->memory_cap);
    struct gcd_alloc a = s->alloc;
    gcd_mem_free(&a, s, sizeof *s);
}
