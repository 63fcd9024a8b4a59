#include <gcdumpc/io.h>
#include <gcdumpc/unstable/io/input_bytes.h>
#include <gcdumpc/unstable/io/input_parts.h>
#include <gcdumpc/unstable/spool.h>

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "io/attached.h"
#include "io/file.h"
#include "io/gunzip.h"
#include "io/unzstd.h"

/* Large enough that the system call is cheap compared with processing the bytes, small enough for
 * the second-level cache. */
#define READ_BYTES ((size_t)256 * 1024)

/*
 * Limits for a gzip bomb: zeros shrink to a thousandth, heaps to a tenth.  Output that exceeds both
 * BOMB_BYTES and BOMB_RATIO times the input is refused; a large array of equal references still
 * passes.
 */
#define BOMB_BYTES (UINT64_C(1) << 30)
#define BOMB_RATIO 512u
#define HOLE_BYTES 4096u /* of a hole in a copy */

/* One byte identifies gzip: no supported format begins with it.  Nor with that of zstd, but text
 * may. */
#define GZIP_FIRST 0x1f

enum packing { PACKING_NONE, PACKING_GZIP, PACKING_ZSTD };

enum input_kind { INPUT_MEMORY, INPUT_FILE, INPUT_STREAM, INPUT_SPOOL, INPUT_PARTS };

struct input_file {
    int fd;
    uint64_t base;
    int origin_fd;      /* FD is a seekable copy of this file, -1 = none */
    const uint8_t *map; /* [map_bytes] of FD; NULL = it is not mapped */
    size_t map_bytes;
};

struct input_stream {
    int fd, copy_fd; /* -1: no copy */
    bool taken;      /* its only reader exists or existed */
    bool ended;
    struct gcd_reader *peeked; /* that reader, after a peek and before it is handed out */
    uint8_t *early;            /* bytes it has read so far, while a copy can still be requested */
    size_t early_n, early_cap;
};

/* Filled by gcd_input_append: only SIZE bytes count, a failed write may have left more. */
struct input_spool {
    int fd;
    const uint8_t *memory; /* while it is small: BYTES, or none yet; NULL = in the file */
    uint8_t *bytes;
    size_t cap, max;
    uint64_t room_until; /* disk space is known to suffice up to this size */
};

/* Seekable inputs in sequence. */
struct input_parts {
    struct gcd_input **items;
    size_t count;
};

struct gcd_input {
    struct gcd_alloc alloc;
    enum input_kind kind;
    uint64_t size;
    const gcd_cancel_flag *cancel;
    char *spool_dir;     /* a copy of the option; NULL = the default */
    uint64_t most_bytes; /* of a copy; 0 = any */
    void *attached;
    void (*free_attached)(void *state);
    union {
        const uint8_t *memory;
        struct input_file file;
        struct input_stream stream;
        struct input_spool spool;
        struct input_parts parts;
    };
};

struct gcd_reader {
    struct gcd_input *in;
    uint64_t pos;     /* raw bytes read so far */
    bool from_stream; /* reads the stream itself and fills the spool */
    bool sniffed, raw_ended;
    bool peeking;
    enum packing packing;
    struct gcd_gunzip gunzip;
#ifdef GCDUMPC_HAVE_ZSTD
    struct gcd_unzstd unzstd;
#endif
    uint8_t *raw;         /* [READ_BYTES] */
    const uint8_t *raw_p; /* bytes that are not unpacked yet */
    size_t raw_n;
    uint8_t *plain;             /* [READ_BYTES], only of what is packed */
    uint64_t made;              /* bytes decompressed */
    uint8_t head[GCD_PEEK_MAX]; /* bytes read by a peek, to be returned again, */
    size_t head_n;
    const uint8_t *rest_p; /* and the rest of the same piece */
    size_t rest_n;
};

/* An empty input. */
static gcd_status input_new(const struct gcd_input_options *options, struct gcd_input **ret,
                            struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(options != NULL ? options->context.alloc : NULL);
    struct gcd_input *in = gcd_mem_new(&a, sizeof *in);
    if (in == NULL)
        return gcd_fail_nomem(err, "opening the input");
    in->alloc = a;
    in->memory = (const uint8_t *)"";
    in->cancel = options != NULL ? options->context.cancel : NULL;
    in->most_bytes = options != NULL ? options->most_bytes : 0;
    if (options != NULL && options->spool_dir != NULL) {
        in->spool_dir = gcd_mem_strndup(&a, options->spool_dir, strlen(options->spool_dir));
        if (in->spool_dir == NULL) {
            gcd_mem_free(&a, in, sizeof *in);
            return gcd_fail_nomem(err, "opening the input");
        }
    }
    *ret = in;
    return GCD_OK;
}

/* The bytes of an input in memory; NULL = they are elsewhere. */
static const uint8_t *memory_of(const struct gcd_input *in)
{
    return in->kind == INPUT_MEMORY  ? in->memory
           : in->kind == INPUT_SPOOL ? in->spool.memory
                                     : NULL;
}

static const char *spool_folder(const struct gcd_input_options *options)
{
    return options != NULL && options->spool_dir != NULL ? options->spool_dir : "/tmp";
}

static void take_file(struct gcd_input *in, int fd, uint64_t base, int origin_fd)
{
    in->kind = INPUT_FILE;
    in->file = (struct input_file){ .fd = fd, .base = base, .origin_fd = origin_fd };
}

gcd_status gcd_input_open(const char *path, const struct gcd_input_options *options,
                          struct gcd_input **ret, struct gcd_error *err)
{
    struct gcd_input *in = NULL;
    enum gcd_file_kind kind;
    uint64_t base;
    int fd;
    GCD_TRY(input_new(options, &in, err));
    gcd_status st = gcd_file_open_read(path, &fd, &kind, &base, &in->size, err);
    if (st == GCD_OK && kind != GCD_FILE_STREAM) {
        take_file(in, fd, base, -1);
    } else if (st == GCD_OK) {
        in->kind = INPUT_STREAM;
        in->stream = (struct input_stream){ .fd = fd, .copy_fd = -1 };
        if (options != NULL && options->reread)
            st = gcd_file_open_unlinked(spool_folder(options), &in->stream.copy_fd, err);
    }
    if (st != GCD_OK) {
        gcd_input_free(in);
        return st;
    }
    *ret = in;
    return GCD_OK;
}

gcd_status gcd_input_open_regular(const char *path, const struct gcd_alloc *alloc,
                                  struct gcd_input **ret, struct gcd_regular_file *ret_file,
                                  struct gcd_error *err)
{
    struct gcd_regular_file file;
    struct gcd_input *in = NULL;
    GCD_TRY(input_new(&(struct gcd_input_options){ .context.alloc = alloc }, &in, err));
    int fd;
    gcd_status st = gcd_file_open_regular(path, &fd, &file, err);
    if (st != GCD_OK) {
        gcd_input_free(in);
        return st;
    }
    take_file(in, fd, 0, -1);
    in->size = file.bytes;
    if (ret_file != NULL)
        *ret_file = file;
    *ret = in;
    return GCD_OK;
}

gcd_status gcd_input_new_spool(const struct gcd_input_options *options, struct gcd_input **ret,
                               struct gcd_error *err)
{
    struct gcd_input *in = NULL;
    GCD_TRY(input_new(options, &in, err));
    int fd;
    gcd_status st = gcd_file_open_unlinked(spool_folder(options), &fd, err);
    if (st != GCD_OK) {
        gcd_input_free(in);
        return st;
    }
    bool keeps = options != NULL && options->keep_room;
    in->kind = INPUT_SPOOL;
    in->spool = (struct input_spool){ .fd = fd,
                                      .memory = (const uint8_t *)"",
                                      .max = options != NULL && options->spool_memory_bytes != 0
                                                 ? options->spool_memory_bytes
                                                 : GCD_SPOOL_MEMORY_BYTES,
                                      .room_until = keeps ? GCD_ROOM_KEPT : GCD_ROOM_UNKEPT };
    *ret = in;
    return GCD_OK;
}

/* False when it does not fit or memory runs out: then use the file. */
static bool append_to_memory(struct gcd_input *in, const void *bytes, size_t n)
{
    struct input_spool *to = &in->spool;
    size_t used = (size_t)in->size;
    if (n > to->max - used ||
        !gcd_vec_reserve(&in->alloc, &to->bytes, &to->cap, used + n, 1, to->max))
        return false;
    to->memory = to->bytes;
    memcpy(to->bytes + used, bytes, n);
    in->size += n;
    return true;
}

static void forget_memory(struct gcd_input *in)
{
    gcd_mem_free(&in->alloc, in->spool.bytes, in->spool.cap);
    in->spool.bytes = NULL;
    in->spool.cap = 0;
    in->spool.memory = NULL;
}

gcd_status gcd_input_append(struct gcd_input *in, const void *bytes, size_t n,
                            struct gcd_error *err)
{
    struct input_spool *to = &in->spool;
    if (in->kind != INPUT_SPOOL)
        return gcd_fail(err, GCD_E_STATE, "only a spool is appended to");
    if (n == 0 || (to->memory != NULL && append_to_memory(in, bytes, n)))
        return GCD_OK;
    uint64_t there = to->memory != NULL ? 0 : in->size;
    gcd_status st =
        gcd_file_keep_room(to->fd, &to->room_until, there, (size_t)(in->size - there) + n, err);
    if (st == GCD_OK && to->memory != NULL)
        st = gcd_file_write(to->fd, NULL, to->memory, (size_t)in->size, err);
    if (st == GCD_OK) {
        if (to->memory != NULL)
            forget_memory(in);
        st = gcd_file_write(to->fd, NULL, bytes, n, err);
    }
    if (st == GCD_OK)
        in->size += n;
    else
        gcd_error_wrap(err, "temporary copy of the stream");
    return st;
}

gcd_status gcd_input_from_memory(const void *bytes, size_t n,
                                 const struct gcd_input_options *options, struct gcd_input **ret,
                                 struct gcd_error *err)
{
    struct gcd_input *in = NULL;
    GCD_TRY(input_new(options, &in, err));
    if (bytes != NULL)
        in->memory = bytes;
    in->size = n;
    *ret = in;
    return GCD_OK;
}

void *gcd_input_attached(const struct gcd_input *in)
{
    return in->attached;
}

void gcd_input_attach(struct gcd_input *in, void *state, void (*free_state)(void *state))
{
    in->attached = state;
    in->free_attached = free_state;
}

const struct gcd_alloc *gcd_input_alloc(const struct gcd_input *in)
{
    return &in->alloc;
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        (void)gcd_file_close(fd, NULL);
}

static void free_early(struct gcd_input *in)
{
    gcd_mem_free(&in->alloc, in->stream.early, in->stream.early_cap);
    in->stream.early = NULL;
    in->stream.early_cap = in->stream.early_n = 0;
}

/* Releases all but the file that was opened first, and returns that; -1 = none. */
static int release_kind(struct gcd_input *in)
{
    switch (in->kind) {
    case INPUT_MEMORY:
        return -1;
    case INPUT_FILE:
        if (in->file.map != NULL)
            gcd_file_unmap(in->file.map, in->file.map_bytes);
        if (in->file.origin_fd >= 0)
            close_if_open(in->file.fd);
        return in->file.origin_fd >= 0 ? in->file.origin_fd : in->file.fd;
    case INPUT_STREAM:
        gcd_reader_free(in->stream.peeked);
        free_early(in);
        close_if_open(in->stream.copy_fd);
        return in->stream.fd;
    case INPUT_SPOOL:
        forget_memory(in);
        return in->spool.fd;
    case INPUT_PARTS:
        for (size_t i = 0; i < in->parts.count; i++)
            gcd_input_free(in->parts.items[i]);
        gcd_mem_free(&in->alloc, in->parts.items, in->parts.count * sizeof(struct gcd_input *));
        return -1;
    }
    return -1;
}

void gcd_input_free(struct gcd_input *in)
{
    if (in == NULL)
        return;
    if (in->attached != NULL)
        in->free_attached(in->attached);
    close_if_open(release_kind(in));
    if (in->spool_dir != NULL)
        gcd_mem_free(&in->alloc, in->spool_dir, strlen(in->spool_dir) + 1);
    struct gcd_alloc a = in->alloc;
    gcd_mem_free(&a, in, sizeof *in);
}

uint64_t gcd_input_size(const struct gcd_input *in)
{
    return in->size;
}

bool gcd_input_is_file(const struct gcd_input *in, const char *path)
{
    for (size_t i = 0; in->kind == INPUT_PARTS && i < in->parts.count; i++)
        if (gcd_input_is_file(in->parts.items[i], path))
            return true;
    int fd = in->kind == INPUT_FILE     ? in->file.origin_fd >= 0 ? in->file.origin_fd : in->file.fd
             : in->kind == INPUT_STREAM ? in->stream.fd
             : in->kind == INPUT_SPOOL  ? in->spool.fd
                                        : -1;
    return fd >= 0 && gcd_file_same(fd, path);
}

gcd_status gcd_reader_new(struct gcd_input *in, struct gcd_reader **ret, struct gcd_error *err)
{
    bool stream = in->kind == INPUT_STREAM, from_stream = stream && !in->stream.taken;
    if (stream && in->stream.peeked != NULL) {
        *ret = in->stream.peeked;
        in->stream.peeked = NULL;
        free_early(in);
        return GCD_OK;
    }
    if (stream && !from_stream && (in->stream.copy_fd < 0 || !in->stream.ended))
        return gcd_fail(err, GCD_E_STATE, "a pipe cannot be read a second time");
    struct gcd_reader *r = gcd_mem_new(&in->alloc, sizeof *r);
    if (r == NULL)
        return gcd_fail_nomem(err, "opening the input");
    r->in = in;
    r->from_stream = from_stream;
    if (memory_of(in) == NULL) {
        r->raw = gcd_mem_new_uncleared(&in->alloc, READ_BYTES, 1);
        if (r->raw == NULL) {
            gcd_reader_free(r);
            return gcd_fail_nomem(err, "opening the input");
        }
    }
    if (from_stream)
        in->stream.taken = true;
    *ret = r;
    return GCD_OK;
}

void gcd_reader_free(struct gcd_reader *r)
{
    if (r == NULL)
        return;
    gcd_gunzip_done(&r->gunzip);
#ifdef GCDUMPC_HAVE_ZSTD
    gcd_unzstd_done(&r->unzstd);
#endif
    gcd_mem_free(&r->in->alloc, r->raw, READ_BYTES);
    gcd_mem_free(&r->in->alloc, r->plain, READ_BYTES);
    gcd_mem_free(&r->in->alloc, r, sizeof *r);
}

/* Keeps what a peek reads from a stream, so that a copy can begin with it. */
static gcd_status keep_early(struct gcd_reader *r, struct gcd_error *err)
{
    struct input_stream *from = &r->in->stream;
    if (!gcd_vec_reserve(&r->in->alloc, &from->early, &from->early_cap, from->early_n + r->raw_n, 1,
                         SIZE_MAX))
        return gcd_fail_nomem(err, "looking into the input");
    if (r->raw_n > 0)
        memcpy(from->early + from->early_n, r->raw, r->raw_n);
    from->early_n += r->raw_n;
    return GCD_OK;
}

gcd_status gcd_input_keep(struct gcd_input *in, const struct gcd_input_options *options,
                          struct gcd_error *err)
{
    struct input_stream *from = &in->stream;
    if (in->kind != INPUT_STREAM || from->copy_fd >= 0)
        return GCD_OK;
    if (from->taken && from->peeked == NULL)
        return gcd_fail(err, GCD_E_STATE, "a pipe cannot be kept after reading has begun");
    GCD_TRY(gcd_file_open_unlinked(spool_folder(options), &from->copy_fd, err));
    return gcd_file_write(from->copy_fd, NULL, from->early, from->early_n, err);
}

static gcd_status read_stream(struct gcd_reader *r, struct input_stream *from,
                              struct gcd_error *err)
{
    if (!r->from_stream)
        return gcd_file_read_at(from->copy_fd, r->pos, r->raw, READ_BYTES, &r->raw_n, err);
    GCD_TRY(gcd_file_read_stream(from->fd, r->in->cancel, r->raw, READ_BYTES, &r->raw_n, err));
    if (from->copy_fd < 0)
        return r->peeking ? keep_early(r, err) : GCD_OK;
    gcd_status st = gcd_file_write(from->copy_fd, NULL, r->raw, r->raw_n, err);
    if (st != GCD_OK)
        gcd_error_wrap(err, "temporary copy of the pipe");
    return st;
}

/* The next raw bytes into the window raw_p, raw_n.  GCD_END at the end. */
static gcd_status read_raw(struct gcd_reader *r, struct gcd_error *err)
{
    struct gcd_input *in = r->in;
    const uint8_t *memory = memory_of(in);
    r->raw_p = memory != NULL ? memory + r->pos : r->raw;
    if (memory != NULL)
        r->raw_n = (size_t)(in->size - r->pos);
    else if (in->kind == INPUT_STREAM)
        GCD_TRY(read_stream(r, &in->stream, err));
    else if (in->kind == INPUT_FILE) /* once: what is behind its end now may be more than SIZE */
        GCD_TRY(gcd_file_read_at(in->file.fd, in->file.base + r->pos, r->raw, READ_BYTES, &r->raw_n,
                                 err));
    else
        GCD_TRY(gcd_input_read_at(in, r->pos, r->raw, READ_BYTES, &r->raw_n, err));
    r->pos += r->raw_n;
    if (r->raw_n == 0) {
        r->raw_ended = true;
        if (r->from_stream)
            in->stream.ended = true;
        return GCD_END;
    }
    return GCD_OK;
}

/* How P[N], N > 0, is packed.  A pipe may deliver only its first byte. */
static enum packing packing_of(const uint8_t *p, size_t n)
{
    if (p[0] == GZIP_FIRST)
        return PACKING_GZIP;
#ifdef GCDUMPC_HAVE_ZSTD
    if (memcmp(p, GCD_ZSTD_MAGIC, n < 4 ? n : 4) == 0)
        return PACKING_ZSTD;
#else
    (void)n;
#endif
    return PACKING_NONE;
}

static gcd_status sniff(struct gcd_reader *r, struct gcd_error *err)
{
    gcd_status st = read_raw(r, err);
    if (st != GCD_OK)
        return st;
    r->sniffed = true;
    r->packing = packing_of(r->raw_p, r->raw_n);
    if (r->packing == PACKING_NONE)
        return GCD_OK;
    r->plain = gcd_mem_new_uncleared(&r->in->alloc, READ_BYTES, 1);
    if (r->plain == NULL)
        return gcd_fail_nomem(err, "starting to decompress");
#ifdef GCDUMPC_HAVE_ZSTD
    if (r->packing == PACKING_ZSTD)
        return gcd_unzstd_init(&r->unzstd, &r->in->alloc, err);
#endif
    return gcd_gunzip_init(&r->gunzip, &r->in->alloc, err);
}

static gcd_status unpack(struct gcd_reader *r, struct gcd_gunzip_io *io, struct gcd_error *err)
{
#ifdef GCDUMPC_HAVE_ZSTD
    if (r->packing == PACKING_ZSTD)
        return gcd_unzstd_step(&r->unzstd, io, err);
#endif
    return gcd_gunzip_step(&r->gunzip, io, err);
}

static gcd_status next_plain(struct gcd_reader *r, const uint8_t **ret_bytes, size_t *ret_n,
                             struct gcd_error *err)
{
    for (;;) {
        if (r->raw_n == 0 && !r->raw_ended) {
            gcd_status st = read_raw(r, err);
            if (st < 0)
                return st;
        }
        struct gcd_gunzip_io io = { .in = r->raw_p,
                                    .in_bytes = r->raw_n,
                                    .at_end = r->raw_ended,
                                    .out = r->plain,
                                    .out_bytes = READ_BYTES };
        gcd_status st = unpack(r, &io, err);
        r->raw_p += io.used;
        r->raw_n -= io.used;
        if (io.made > 0) {
            r->made += io.made;
            if (r->made > BOMB_BYTES && (r->made - BOMB_BYTES) / BOMB_RATIO > r->pos)
                return gcd_fail(err, GCD_E_LIMIT,
                                "its compression ratio is above %u to 1, which no heap reaches",
                                BOMB_RATIO);
            *ret_bytes = r->plain;
            *ret_n = io.made;
            return GCD_OK;
        }
        if (st == GCD_END && r->from_stream && !r->raw_ended) {
            /* drain the pipe, so that its copy is complete and its writer is not killed */
            r->raw_n = 0;
            continue;
        }
        if (st != GCD_OK)
            return st;
    }
}

/* Returns the bytes of a peek first. */
static bool give_again(struct gcd_reader *r, const uint8_t **ret_bytes, size_t *ret_n)
{
    *ret_bytes = r->head_n > 0 ? r->head : r->rest_p;
    *ret_n = r->head_n > 0 ? r->head_n : r->rest_n;
    if (r->head_n > 0)
        r->head_n = 0;
    else
        r->rest_n = 0;
    return *ret_n > 0;
}

gcd_status gcd_reader_next(struct gcd_reader *r, const uint8_t **ret_bytes, size_t *ret_n,
                           struct gcd_error *err)
{
    if (r->head_n + r->rest_n > 0 && give_again(r, ret_bytes, ret_n))
        return GCD_OK;
    if (!r->sniffed) {
        gcd_status st = sniff(r, err);
        if (st != GCD_OK)
            return st;
    } else if (r->packing == PACKING_NONE && !r->raw_ended) {
        gcd_status st = read_raw(r, err);
        if (st != GCD_OK)
            return st;
    }
    if (r->packing != PACKING_NONE)
        return next_plain(r, ret_bytes, ret_n, err);
    if (r->raw_ended)
        return GCD_END;
    *ret_bytes = r->raw_p;
    *ret_n = r->raw_n;
    return GCD_OK;
}

/* A slow pipe may deliver its first bytes one by one. */
static gcd_status fill_head(struct gcd_reader *r, size_t want, struct gcd_error *err)
{
    uint8_t head[GCD_PEEK_MAX]; /* bytes read by a peek, to be returned again, */
    size_t have = 0, n = 0;
    const uint8_t *p = NULL;
    gcd_status st = GCD_OK;
    while (have < want && n == 0 && (st = gcd_reader_next(r, &p, &n, err)) == GCD_OK) {
        size_t part = n < sizeof head - have ? n : sizeof head - have;
        memcpy(head + have, p, part);
        have += part;
        p += part;
        n -= part;
    }
    memcpy(r->head, head, have);
    r->head_n = have;
    r->rest_p = p;
    r->rest_n = n;
    /* the reader gets the error again */
    return st == GCD_E_TRUNCATED || st == GCD_E_FORMAT || st == GCD_END ? GCD_OK : st;
}

gcd_status gcd_input_peek(struct gcd_input *in, uint8_t *bytes, size_t want, size_t *ret_n,
                          struct gcd_error *err)
{
    struct gcd_reader *r = in->kind == INPUT_STREAM ? in->stream.peeked : NULL;
    if (want > GCD_PEEK_MAX)
        return gcd_fail(err, GCD_E_ARG, "at most %d bytes can be looked at", GCD_PEEK_MAX);
    if (r == NULL)
        GCD_TRY(gcd_reader_new(in, &r, err));
    r->peeking = r->from_stream;
    gcd_status st = r->head_n < want ? fill_head(r, want, err) : GCD_OK;
    r->peeking = false;
    if (st == GCD_OK) {
        *ret_n = r->head_n < want ? r->head_n : want;
        memcpy(bytes, r->head, *ret_n);
    }
    if (r->from_stream)
        in->stream.peeked = r;
    else
        gcd_reader_free(r);
    return st;
}

/* How many of the bytes P[N] at offset OFF are in blocks that are all zero, or all not. */
static size_t block_run(const uint8_t *p, size_t n, uint64_t off, bool *ret_zero)
{
    static const uint8_t zeros[HOLE_BYTES];
    size_t done = 0;
    while (done < n) {
        size_t part = HOLE_BYTES - (size_t)((off + done) % HOLE_BYTES);
        part = part < n - done ? part : n - done;
        bool zero = memcmp(p + done, zeros, part) == 0;
        if (done > 0 && zero != *ret_zero)
            break;
        *ret_zero = zero;
        done += part;
    }
    return done;
}

/* Writes P[N] at OFF, but leaves holes for blocks of zeros, of which core files have many. */
static gcd_status write_sparse(int fd, uint64_t *room, uint64_t off, const uint8_t *p, size_t n,
                               struct gcd_error *err)
{
    while (n > 0) {
        bool zero = false;
        size_t part = block_run(p, n, off, &zero);
        if (!zero) {
            GCD_TRY(gcd_file_keep_room(fd, room, off, part, err));
            GCD_TRY(gcd_file_write_at(fd, off, p, part, err));
        }
        p += part, off += part, n -= part;
    }
    return GCD_OK;
}

/* Copies all of IN, decompressed, to FD. */
static gcd_status copy_plain(struct gcd_input *in, int fd, uint64_t *ret_bytes,
                             struct gcd_error *err)
{
    struct gcd_reader *r;
    const uint8_t *p = NULL;
    size_t n = 0;
    uint64_t room = GCD_ROOM_KEPT;
    GCD_TRY(gcd_reader_new(in, &r, err));
    gcd_status st;
    while ((st = gcd_reader_next(r, &p, &n, err)) == GCD_OK) {
        if (gcd_is_canceled(in->cancel)) {
            st = gcd_fail(err, GCD_E_CANCELED, "interrupted");
            break;
        }
        if (in->most_bytes != 0 && n > in->most_bytes - *ret_bytes) {
            st = gcd_because(err, GCD_ERROR_COPY_LIMIT,
                             gcd_fail(err, GCD_E_LIMIT,
                                      "it has more than %llu bytes when it is unpacked",
                                      (unsigned long long)in->most_bytes));
            break;
        }
        st = write_sparse(fd, &room, *ret_bytes, p, n, err);
        if (st != GCD_OK) {
            gcd_error_wrap(err, "temporary copy of the input");
            break;
        }
        *ret_bytes += n;
    }
    gcd_reader_free(r);
    bool whole = st == GCD_END || st == GCD_E_TRUNCATED || st == GCD_E_FORMAT;
    gcd_status end = whole ? gcd_file_resize(fd, *ret_bytes, err) : st; /* it may end in a hole */
    return end == GCD_OK ? st : end;
}

gcd_status gcd_input_make_seekable(struct gcd_input *in, struct gcd_error *err)
{
    int fd;
    uint64_t bytes = 0;
    if (in->kind == INPUT_PARTS)
        return GCD_OK;
    if (in->kind != INPUT_STREAM) {
        uint8_t head[4];
        size_t n;
        GCD_TRY(gcd_input_read_at(in, 0, head, sizeof head, &n, err));
        if (n == 0 || packing_of(head, n) == PACKING_NONE)
            return GCD_OK;
    }
    GCD_TRY(gcd_file_open_unlinked(in->spool_dir != NULL ? in->spool_dir : "/tmp", &fd, err));
    gcd_status st = copy_plain(in, fd, &bytes, err);
    if (st != GCD_END && st != GCD_E_TRUNCATED && st != GCD_E_FORMAT) {
        (void)gcd_file_close(fd, NULL);
        return st;
    }
    take_file(in, fd, 0, release_kind(in));
    in->size = bytes;
    return st == GCD_END ? GCD_OK : st;
}

gcd_status gcd_input_join(struct gcd_input **parts, size_t n,
                          const struct gcd_input_options *options, struct gcd_input **ret,
                          struct gcd_error *err)
{
    struct gcd_input *in = NULL;
    GCD_TRY(input_new(options, &in, err));
    struct gcd_input **own = gcd_mem_new_array(&in->alloc, n, sizeof(struct gcd_input *));
    gcd_status st = own != NULL ? GCD_OK : gcd_fail_nomem(err, "opening the input");
    for (size_t i = 0; i < n && st == GCD_OK; i++) {
        st = gcd_input_make_seekable(parts[i], err);
        if (__builtin_add_overflow(in->size, parts[i]->size, &in->size))
            st = gcd_fail(err, GCD_E_LIMIT, "the files are too large");
    }
    if (st != GCD_OK) {
        gcd_mem_free(&in->alloc, own, n * sizeof(struct gcd_input *));
        gcd_input_free(in);
        return st;
    }
    memcpy(own, parts, n * sizeof(struct gcd_input *));
    in->kind = INPUT_PARTS;
    in->parts = (struct input_parts){ .items = own, .count = n };
    *ret = in;
    return GCD_OK;
}

size_t gcd_input_part_count(const struct gcd_input *in)
{
    return in->kind == INPUT_PARTS ? in->parts.count : 1;
}

uint64_t gcd_input_part_size(const struct gcd_input *in, size_t i)
{
    return in->kind == INPUT_PARTS ? in->parts.items[i]->size : in->size;
}

static gcd_status read_parts_at(const struct input_parts *from, uint64_t off, uint8_t *buf,
                                size_t n, size_t *ret_n, struct gcd_error *err)
{
    size_t done = 0;
    for (size_t i = 0; i < from->count && done < n; i++) {
        uint64_t size = from->items[i]->size;
        if (off < size) {
            size_t want = size - off < n - done ? (size_t)(size - off) : n - done, got;
            GCD_TRY(gcd_input_read_at(from->items[i], off, buf + done, want, &got, err));
            done += got;
            if (got < want)
                break;
            off += got;
        }
        off -= size;
    }
    *ret_n = done;
    return GCD_OK;
}

gcd_status gcd_input_read_at(struct gcd_input *in, uint64_t off, void *buf, size_t n, size_t *ret_n,
                             struct gcd_error *err)
{
    const uint8_t *memory = memory_of(in);
    if (in->kind == INPUT_STREAM)
        return gcd_fail(err, GCD_E_STATE, "a pipe is not seekable");
    if (in->kind == INPUT_PARTS)
        return read_parts_at(&in->parts, off, buf, n, ret_n, err);
    if (in->kind != INPUT_FILE)
        n = off >= in->size ? 0 : in->size - off < n ? (size_t)(in->size - off) : n;
    if (memory != NULL && n > 0)
        memcpy(buf, memory + off, n);
    size_t done = memory != NULL ? n : 0;
    int fd = in->kind == INPUT_FILE ? in->file.fd : in->spool.fd;
    uint64_t base = in->kind == INPUT_FILE ? in->file.base : 0;
    while (memory == NULL && done < n) {
        size_t part;
        GCD_TRY(
            gcd_file_read_at(fd, base + off + done, (uint8_t *)buf + done, n - done, &part, err));
        if (part == 0)
            break;
        done += part;
    }
    *ret_n = done;
    return GCD_OK;
}

const uint8_t *gcd_input_bytes(struct gcd_input *in, size_t *ret_n)
{
    uint64_t base = in->kind == INPUT_FILE ? in->file.base : 0;
    if (in->size == 0 || in->size > SIZE_MAX - base)
        return NULL;
    *ret_n = (size_t)in->size;
    if (in->kind != INPUT_FILE)
        return memory_of(in);
    struct input_file *f = &in->file;
    if (f->map == NULL) {
        f->map_bytes = (size_t)(base + in->size);
        f->map = gcd_file_map(f->fd, f->map_bytes);
    }
    return f->map != NULL ? f->map + base : NULL;
}

uint64_t gcd_reader_position(const struct gcd_reader *r)
{
    return r->pos - r->raw_n * (r->packing != PACKING_NONE ? 1 : 0);
}
