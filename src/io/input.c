#include <gcdumpc/io.h>
#include <gcdumpc/unstable/io/input_parts.h>
#include <gcdumpc/unstable/spool.h>

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "io/attached.h"
#include "io/file.h"
#include "io/gunzip.h"

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

/* One byte identifies gzip: no supported format begins with it. */
#define GZIP_FIRST 0x1f

struct gcd_input {
    struct gcd_alloc alloc;
    const uint8_t *memory; /* input in memory, otherwise NULL */
    uint8_t *spooled;      /* the same, when we own it: a spool that is still small */
    size_t spooled_cap, spooled_max;
    uint64_t room_until; /* disk space is known to suffice up to this size */
    /* filled by gcd_input_append: only SIZE bytes count, a failed write may have left more */
    bool appended;
    int fd; /* -1: memory */
    enum gcd_file_kind kind;
    uint64_t base, size;
    int origin_fd; /* FD is a seekable copy of this file, -1 = none */
    int spool_fd;  /* copy of a stream, -1 = none */
    uint64_t spool_bytes;
    bool stream_taken; /* the only reader of the stream exists or existed */
    bool stream_ended;
    const gcd_cancel_flag *cancel;
    char *spool_dir;          /* a copy of the option; NULL = the default */
    struct gcd_input **parts; /* of a joined input: seekable, in sequence */
    size_t part_count;
    /* the stream's only reader, after a peek and before it is handed out */
    struct gcd_reader *peeked;
    uint8_t *early; /* bytes it has read so far, while a copy can still be requested */
    size_t early_n, early_cap;
    void *attached;
    void (*free_attached)(void *state);
};

struct gcd_reader {
    struct gcd_input *in;
    uint64_t pos;     /* raw bytes read so far */
    bool from_stream; /* reads the stream itself and fills the spool */
    bool sniffed, gzip, raw_ended;
    bool peeking;
    struct gcd_gunzip gunzip;
    uint8_t *raw;         /* [READ_BYTES] */
    const uint8_t *raw_p; /* bytes that gzip has not consumed */
    size_t raw_n;
    uint8_t *plain;             /* [READ_BYTES], gzip only */
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
    in->fd = in->spool_fd = in->origin_fd = -1;
    in->kind = GCD_FILE_REGULAR;
    in->cancel = options != NULL ? options->context.cancel : NULL;
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

static const char *spool_folder(const struct gcd_input_options *options)
{
    return options != NULL && options->spool_dir != NULL ? options->spool_dir : "/tmp";
}

gcd_status gcd_input_open(const char *path, const struct gcd_input_options *options,
                          struct gcd_input **ret, struct gcd_error *err)
{
    struct gcd_input *in = NULL;
    GCD_TRY(input_new(options, &in, err));
    gcd_status st = gcd_file_open_read(path, &in->fd, &in->kind, &in->base, &in->size, err);
    if (st == GCD_OK && in->kind == GCD_FILE_STREAM && options != NULL && options->reread)
        st = gcd_file_open_unlinked(spool_folder(options), &in->spool_fd, err);
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
    gcd_status st = gcd_file_open_regular(path, &in->fd, &file, err);
    if (st != GCD_OK) {
        gcd_input_free(in);
        return st;
    }
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
    gcd_status st = gcd_file_open_unlinked(spool_folder(options), &in->fd, err);
    if (st != GCD_OK) {
        gcd_input_free(in);
        return st;
    }
    in->appended = true;
    in->room_until = options != NULL && options->keep_room ? GCD_ROOM_KEPT : GCD_ROOM_UNKEPT;
    in->memory = (const uint8_t *)"";
    in->spooled_max = options != NULL && options->spool_memory_bytes != 0
                          ? options->spool_memory_bytes
                          : GCD_SPOOL_MEMORY_BYTES;
    *ret = in;
    return GCD_OK;
}

/* False when it does not fit or memory runs out: then use the file. */
static bool append_to_memory(struct gcd_input *in, const void *bytes, size_t n)
{
    size_t used = (size_t)in->size;
    if (n > in->spooled_max - used ||
        !gcd_vec_reserve(&in->alloc, &in->spooled, &in->spooled_cap, used + n, 1, in->spooled_max))
        return false;
    in->memory = in->spooled;
    memcpy(in->spooled + used, bytes, n);
    in->size += n;
    return true;
}

static void forget_memory(struct gcd_input *in)
{
    gcd_mem_free(&in->alloc, in->spooled, in->spooled_cap);
    in->spooled = NULL;
    in->spooled_cap = 0;
    in->memory = NULL;
}

gcd_status gcd_input_append(struct gcd_input *in, const void *bytes, size_t n,
                            struct gcd_error *err)
{
    if (n == 0 || (in->memory != NULL && append_to_memory(in, bytes, n)))
        return GCD_OK;
    uint64_t there = in->memory != NULL ? 0 : in->size;
    gcd_status st =
        gcd_file_keep_room(in->fd, &in->room_until, there, (size_t)(in->size - there) + n, err);
    if (st == GCD_OK && in->memory != NULL)
        st = gcd_file_write(in->fd, NULL, in->memory, (size_t)in->size, err);
    if (st == GCD_OK) {
        if (in->memory != NULL)
            forget_memory(in);
        st = gcd_file_write(in->fd, NULL, bytes, n, err);
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
    in->memory = bytes != NULL ? bytes : (const uint8_t *)"";
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

void gcd_input_free(struct gcd_input *in)
{
    if (in == NULL)
        return;
    if (in->attached != NULL)
        in->free_attached(in->attached);
    for (size_t i = 0; i < in->part_count; i++)
        gcd_input_free(in->parts[i]);
    gcd_mem_free(&in->alloc, in->parts, in->part_count * sizeof(struct gcd_input *));
    gcd_reader_free(in->peeked);
    gcd_mem_free(&in->alloc, in->early, in->early_cap);
    gcd_mem_free(&in->alloc, in->spooled, in->spooled_cap);
    if (in->fd >= 0)
        (void)gcd_file_close(in->fd, NULL);
    if (in->spool_fd >= 0)
        (void)gcd_file_close(in->spool_fd, NULL);
    if (in->origin_fd >= 0)
        (void)gcd_file_close(in->origin_fd, NULL);
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
    for (size_t i = 0; i < in->part_count; i++)
        if (gcd_input_is_file(in->parts[i], path))
            return true;
    int fd = in->origin_fd >= 0 ? in->origin_fd : in->fd;
    return fd >= 0 && gcd_file_same(fd, path);
}

gcd_status gcd_reader_new(struct gcd_input *in, struct gcd_reader **ret, struct gcd_error *err)
{
    if (in->peeked != NULL) {
        *ret = in->peeked;
        in->peeked = NULL;
        gcd_mem_free(&in->alloc, in->early, in->early_cap);
        in->early = NULL;
        in->early_cap = in->early_n = 0;
        return GCD_OK;
    }
    bool from_stream = in->kind == GCD_FILE_STREAM && !in->stream_taken;
    if (in->kind == GCD_FILE_STREAM && !from_stream && (in->spool_fd < 0 || !in->stream_ended))
        return gcd_fail(err, GCD_E_STATE, "a pipe cannot be read a second time");
    struct gcd_reader *r = gcd_mem_new(&in->alloc, sizeof *r);
    if (r == NULL)
        return gcd_fail_nomem(err, "opening the input");
    r->in = in;
    r->from_stream = from_stream;
    if (in->memory == NULL) {
        r->raw = gcd_mem_new_uncleared(&in->alloc, READ_BYTES, 1);
        if (r->raw == NULL) {
            gcd_reader_free(r);
            return gcd_fail_nomem(err, "opening the input");
        }
    }
    if (from_stream)
        in->stream_taken = true;
    *ret = r;
    return GCD_OK;
}

void gcd_reader_free(struct gcd_reader *r)
{
    if (r == NULL)
        return;
    gcd_gunzip_done(&r->gunzip);
    gcd_mem_free(&r->in->alloc, r->raw, READ_BYTES);
    gcd_mem_free(&r->in->alloc, r->plain, READ_BYTES);
    gcd_mem_free(&r->in->alloc, r, sizeof *r);
}

/* Keeps what a peek reads from a stream, so that a copy can begin with it. */
static gcd_status keep_early(struct gcd_reader *r, struct gcd_error *err)
{
    struct gcd_input *in = r->in;
    if (!gcd_vec_reserve(&in->alloc, &in->early, &in->early_cap, in->early_n + r->raw_n, 1,
                         SIZE_MAX))
        return gcd_fail_nomem(err, "looking into the input");
    if (r->raw_n > 0)
        memcpy(in->early + in->early_n, r->raw, r->raw_n);
    in->early_n += r->raw_n;
    return GCD_OK;
}

gcd_status gcd_input_keep(struct gcd_input *in, const struct gcd_input_options *options,
                          struct gcd_error *err)
{
    if (in->kind != GCD_FILE_STREAM || in->spool_fd >= 0)
        return GCD_OK;
    if (in->stream_taken && in->peeked == NULL)
        return gcd_fail(err, GCD_E_STATE, "a pipe cannot be kept after reading has begun");
    GCD_TRY(gcd_file_open_unlinked(spool_folder(options), &in->spool_fd, err));
    return gcd_file_write(in->spool_fd, NULL, in->early, in->early_n, err);
}

/* The next raw bytes into the window raw_p, raw_n.  GCD_END at the end. */
static gcd_status read_raw(struct gcd_reader *r, struct gcd_error *err)
{
    struct gcd_input *in = r->in;
    if (in->memory != NULL) {
        r->raw_p = in->memory + r->pos;
        r->raw_n = (size_t)(in->size - r->pos);
    } else if (in->part_count > 0) {
        r->raw_p = r->raw;
        GCD_TRY(gcd_input_read_at(in, r->pos, r->raw, READ_BYTES, &r->raw_n, err));
    } else {
        bool spool = in->kind == GCD_FILE_STREAM && !r->from_stream;
        size_t most = in->appended && in->size - r->pos < READ_BYTES ? (size_t)(in->size - r->pos)
                                                                     : READ_BYTES;
        r->raw_p = r->raw;
        if (r->from_stream)
            GCD_TRY(gcd_file_read_stream(in->fd, in->cancel, r->raw, READ_BYTES, &r->raw_n, err));
        else
            GCD_TRY(gcd_file_read_at(spool ? in->spool_fd : in->fd,
                                     spool ? r->pos : in->base + r->pos, r->raw, most, &r->raw_n,
                                     err));
        if (r->peeking && in->spool_fd < 0)
            GCD_TRY(keep_early(r, err));
        if (r->from_stream && in->spool_fd >= 0) {
            gcd_status st = gcd_file_write(in->spool_fd, NULL, r->raw, r->raw_n, err);
            if (st != GCD_OK) {
                gcd_error_wrap(err, "temporary copy of the pipe");
                return st;
            }
        }
    }
    r->pos += r->raw_n;
    if (r->raw_n == 0) {
        r->raw_ended = true;
        if (r->from_stream)
            in->stream_ended = true;
        return GCD_END;
    }
    return GCD_OK;
}

/* Is it gzip?  A pipe may deliver only its first byte. */
static gcd_status sniff(struct gcd_reader *r, struct gcd_error *err)
{
    gcd_status st = read_raw(r, err);
    if (st != GCD_OK)
        return st;
    r->sniffed = true;
    r->gzip = r->raw_p[0] == GZIP_FIRST;
    if (!r->gzip)
        return GCD_OK;
    r->plain = gcd_mem_new_uncleared(&r->in->alloc, READ_BYTES, 1);
    if (r->plain == NULL)
        return gcd_fail_nomem(err, "starting to decompress");
    return gcd_gunzip_init(&r->gunzip, &r->in->alloc, err);
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
        gcd_status st = gcd_gunzip_step(&r->gunzip, &io, err);
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
    } else if (!r->gzip && !r->raw_ended) {
        gcd_status st = read_raw(r, err);
        if (st != GCD_OK)
            return st;
    }
    if (r->gzip)
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
    struct gcd_reader *r = in->peeked;
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
        in->peeked = r;
    else
        gcd_reader_free(r);
    return st;
}

/* Copies all of IN, decompressed, to FD. */
static gcd_status copy_plain(struct gcd_input *in, int fd, uint64_t *ret_bytes,
                             struct gcd_error *err)
{
    struct gcd_reader *r;
    const uint8_t *p = NULL;
    size_t n = 0;
    GCD_TRY(gcd_reader_new(in, &r, err));
    gcd_status st;
    while ((st = gcd_reader_next(r, &p, &n, err)) == GCD_OK) {
        if (gcd_is_canceled(in->cancel)) {
            st = gcd_fail(err, GCD_E_CANCELED, "interrupted");
            break;
        }
        st = gcd_file_write(fd, NULL, p, n, err);
        if (st != GCD_OK) {
            gcd_error_wrap(err, "temporary copy of the input");
            break;
        }
        *ret_bytes += n;
    }
    gcd_reader_free(r);
    return st;
}

gcd_status gcd_input_make_seekable(struct gcd_input *in, struct gcd_error *err)
{
    int fd;
    uint64_t bytes = 0;
    if (in->part_count > 0)
        return GCD_OK;
    if (in->kind != GCD_FILE_STREAM) {
        uint8_t first;
        size_t n;
        GCD_TRY(gcd_input_read_at(in, 0, &first, 1, &n, err));
        if (n == 0 || first != GZIP_FIRST)
            return GCD_OK;
    }
    GCD_TRY(gcd_file_open_unlinked(in->spool_dir != NULL ? in->spool_dir : "/tmp", &fd, err));
    gcd_status st = copy_plain(in, fd, &bytes, err);
    if (st != GCD_END && st != GCD_E_TRUNCATED && st != GCD_E_FORMAT) {
        (void)gcd_file_close(fd, NULL);
        return st;
    }
    forget_memory(in);
    if (in->spool_fd >= 0)
        (void)gcd_file_close(in->spool_fd, NULL);
    in->spool_fd = -1;
    in->origin_fd = in->fd;
    in->fd = fd;
    in->kind = GCD_FILE_REGULAR;
    in->base = 0;
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
    in->parts = own;
    in->part_count = n;
    *ret = in;
    return GCD_OK;
}

size_t gcd_input_part_count(const struct gcd_input *in)
{
    return in->part_count > 0 ? in->part_count : 1;
}

uint64_t gcd_input_part_size(const struct gcd_input *in, size_t i)
{
    return in->part_count > 0 ? in->parts[i]->size : in->size;
}

static gcd_status read_parts_at(struct gcd_input *in, uint64_t off, uint8_t *buf, size_t n,
                                size_t *ret_n, struct gcd_error *err)
{
    size_t done = 0;
    for (size_t i = 0; i < in->part_count && done < n; i++) {
        uint64_t size = in->parts[i]->size;
        if (off < size) {
            size_t want = size - off < n - done ? (size_t)(size - off) : n - done, got;
            GCD_TRY(gcd_input_read_at(in->parts[i], off, buf + done, want, &got, err));
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
    if (in->kind == GCD_FILE_STREAM)
        return gcd_fail(err, GCD_E_STATE, "a pipe is not seekable");
    if (in->part_count > 0)
        return read_parts_at(in, off, buf, n, ret_n, err);
    size_t done = 0;
    if (in->memory != NULL || in->appended)
        n = off >= in->size ? 0 : in->size - off < n ? (size_t)(in->size - off) : n;
    if (in->memory != NULL && n > 0) {
        memcpy(buf, in->memory + off, n);
        done = n;
    }
    while (in->memory == NULL && done < n) {
        size_t part;
        GCD_TRY(gcd_file_read_at(in->fd, in->base + off + done, (uint8_t *)buf + done, n - done,
                                 &part, err));
        if (part == 0)
            break;
        done += part;
    }
    *ret_n = done;
    return GCD_OK;
}

uint64_t gcd_reader_position(const struct gcd_reader *r)
{
    return r->pos - r->raw_n * (r->gzip ? 1 : 0);
}
