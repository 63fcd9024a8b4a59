#include "write/tables/sqlite_pages.h"

#include <string.h>

#include <gcdumpc/unstable/staged_file.h>

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/threads/parallel.h"

enum { HEADER_BYTES = 100, AT_PAGE_BYTES = 16, AT_RESERVED = 20, AT_COUNT = 28 };
enum { PAGE_MIN = 512, USABLE_MIN = 480, RUN_BYTES = 256 << 10 };
/* The first byte of a page. */
enum { INNER_INDEX = 2, INNER_TABLE = 5, LEAF_INDEX = 10, LEAF_TABLE = 13 };
enum { LEAF_HEADER = 8, INNER_HEADER = 12, CHILD_BYTES = 4, POSITION_BYTES = 2 };
/* Programs lock bytes from here on, so the page that contains them is never used. */
#define LOCK_BYTE UINT32_C(0x40000000)

static void put16(unsigned char *to, uint32_t v)
{
    to[0] = (unsigned char)(v >> 8);
    to[1] = (unsigned char)v;
}

static void put32(unsigned char *to, uint32_t v)
{
    put16(to, v >> 16);
    put16(to + 2, v & 0xffff);
}

static uint32_t get32(const unsigned char *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

/* ---- the file ---- */

static void *write_all(void *ctx)
{
    struct sqlite_pages *p = ctx;
    struct gcd_slot *slot;
    while ((slot = gcd_queue_take(&p->queue)) != NULL) {
        if (!atomic_load_explicit(&p->failed, memory_order_relaxed) &&
            gcd_staged_append_at(p->staged, slot->at, slot->bytes, slot->used, &p->behind) !=
                GCD_OK)
            atomic_store_explicit(&p->failed, true, memory_order_release);
        gcd_queue_give_back(&p->queue, slot);
    }
    return NULL;
}

/* Starts the thread that writes; without it, the calling thread writes. */
static void start_thread(struct sqlite_pages *p)
{
    if (!gcd_queue_init(&p->queue, &p->alloc, p->run_room))
        return;
    p->threaded = gcd_thread_start(&p->thread, 0, write_all, p) == 0;
    if (!p->threaded) {
        gcd_queue_done(&p->queue);
        return;
    }
    p->slot = gcd_queue_empty(&p->queue);
    p->run = p->slot->bytes;
}

static gcd_status behind(const struct sqlite_pages *p, struct gcd_error *err)
{
    if (!atomic_load_explicit(&p->failed, memory_order_acquire))
        return GCD_OK;
    if (err != NULL)
        *err = p->behind;
    return p->behind.code;
}

gcd_status sqlite_pages_open(struct sqlite_pages *p, struct gcd_staged *staged,
                             const struct gcd_context *context, struct gcd_error *err)
{
    context = gcd_context_or_default(context);
    *p = (struct sqlite_pages){ .alloc = gcd_alloc_or_default(context->alloc),
                                .staged = staged,
                                .behind = GCD_ERROR_INIT };
    unsigned char header[HEADER_BYTES];
    size_t n;
    GCD_TRY(gcd_staged_read_at(staged, 0, header, sizeof header, &n, err));
    if (n == sizeof header) {
        uint32_t bytes = (uint32_t)header[AT_PAGE_BYTES] << 8 | header[AT_PAGE_BYTES + 1];
        p->page_bytes = bytes == 1 ? 65536 : bytes;
        p->usable_bytes = p->page_bytes - header[AT_RESERVED];
        p->count = get32(header + AT_COUNT);
    }
    if (p->page_bytes < PAGE_MIN || p->usable_bytes < USABLE_MIN ||
        (uint64_t)p->count * p->page_bytes != gcd_staged_bytes(staged))
        return gcd_fail(err, GCD_E_UNSUPPORTED, "SQLite has made a database of unknown layout");
    p->run_room = RUN_BYTES / p->page_bytes * p->page_bytes;
    p->run_at = (uint64_t)p->count * p->page_bytes;
    if (context->threads > 1)
        start_thread(p);
    if (!p->threaded)
        p->run = gcd_mem_new_uncleared(&p->alloc, p->run_room, 1);
    return p->run != NULL ? GCD_OK : gcd_fail_nomem(err, "writing a database");
}

static gcd_status flush(struct sqlite_pages *p, struct gcd_error *err)
{
    gcd_status st = GCD_OK;
    if (p->run_bytes > 0 && p->threaded) {
        p->slot->used = p->run_bytes;
        p->slot->at = p->run_at;
        gcd_queue_put(&p->queue, p->slot);
        p->slot = gcd_queue_empty(&p->queue);
        p->run = p->slot->bytes;
        st = behind(p, err);
    } else if (p->run_bytes > 0) {
        st = gcd_staged_append_at(p->staged, p->run_at, p->run, p->run_bytes, err);
    }
    p->run_bytes = 0;
    p->run_at = (uint64_t)p->count * p->page_bytes;
    return st;
}

/* Gives PAGE the next number. */
static gcd_status append(struct sqlite_pages *p, const unsigned char *page, uint32_t *ret_number,
                         struct gcd_error *err)
{
    if (p->run_bytes == p->run_room)
        GCD_TRY(flush(p, err));
    if (p->count == LOCK_BYTE / p->page_bytes) {
        GCD_TRY(flush(p, err));
        p->count++;
        p->run_at += p->page_bytes;
    }
    if (p->count >= UINT32_MAX - 1)
        return gcd_fail(err, GCD_E_LIMIT, "a database has at most 4,294,967,294 pages");
    memcpy(p->run + p->run_bytes, page, p->page_bytes);
    p->run_bytes += p->page_bytes;
    *ret_number = ++p->count;
    return GCD_OK;
}

/* Writes N bytes, at most a page, at OFF, where the file already has a page. */
static gcd_status replace(struct sqlite_pages *p, uint64_t off, const void *bytes, size_t n,
                          struct gcd_error *err)
{
    GCD_TRY(flush(p, err));
    memcpy(p->run, bytes, n);
    p->run_bytes = n;
    p->run_at = off;
    return flush(p, err);
}

gcd_status sqlite_pages_finish(struct sqlite_pages *p, struct gcd_error *err)
{
    unsigned char count[4];
    put32(count, p->count);
    GCD_TRY(replace(p, AT_COUNT, count, sizeof count, err));
    if (p->threaded)
        gcd_queue_drain(&p->queue);
    return behind(p, err);
}

void sqlite_pages_done(struct sqlite_pages *p)
{
    if (p->threaded) {
        gcd_queue_end(&p->queue);
        (void)pthread_join(p->thread, NULL);
        gcd_queue_done(&p->queue);
        p->threaded = false;
    } else {
        gcd_mem_free(&p->alloc, p->run, p->run_room);
    }
    p->run = NULL;
}

/* ---- cells ---- */

/* A cell is built backwards, in ROOM_BYTES before its end: a number is stored as 8 bytes, and the
 * bytes that it does not need are overwritten. */
enum { ROOM_BYTES = 8 + SQLITE_CELL_MAX };
struct cell {
    unsigned char *start, *end;
};

static void put64_before(struct cell *c, uint64_t v)
{
    unsigned char *to = c->start - 8;
    for (unsigned i = 0; i < 8; i++)
        to[i] = (unsigned char)(v >> (56 - 8 * i));
}

/* Puts a number before the others; returns its type. */
static unsigned char put_number(struct cell *c, const struct sqlite_number *n)
{
    enum { TYPE_NULL = 0, TYPE_0 = 8 };
    static const unsigned char bytes[] = { 0, 1, 2, 3, 4, 6, 8 };
    if (n->null)
        return TYPE_NULL;
    uint64_t v = (uint64_t)n->value, size = n->value < 0 ? ~v : v;
    if (v <= 1)
        return (unsigned char)(TYPE_0 + v);
    unsigned type = size < UINT64_C(1) << 7    ? 1
                    : size < UINT64_C(1) << 15 ? 2
                    : size < UINT64_C(1) << 23 ? 3
                    : size < UINT64_C(1) << 31 ? 4
                    : size < UINT64_C(1) << 47 ? 5
                                               : 6;
    put64_before(c, v);
    c->start -= bytes[type];
    return (unsigned char)type;
}

/* SQLite's variable-length integer: 7 bits per byte, highest bits first. */
static void put_varint(struct cell *c, uint64_t v)
{
    if (v >> 56 != 0) { /* then the last of 9 bytes has 8 bits */
        *--c->start = (unsigned char)v;
        v >>= 8;
        for (unsigned i = 0; i < 8; i++, v >>= 7)
            *--c->start = (unsigned char)(v | 0x80);
        return;
    }
    *--c->start = v & 0x7f;
    while ((v >>= 7) != 0)
        *--c->start = (unsigned char)(v | 0x80);
}

static void put_record(struct cell *c, const struct sqlite_number *row, size_t n)
{
    unsigned char types[SQLITE_ROW_MAX];
    for (size_t i = n; i-- > 0;)
        types[i] = put_number(c, &row[i]);
    for (size_t i = n; i-- > 0;)
        *--c->start = types[i];
    *--c->start = (unsigned char)(1 + n);
}

/* ---- pages ---- */

static uint32_t header_bytes(unsigned level)
{
    return level == 0 ? LEAF_HEADER : INNER_HEADER;
}

static gcd_status start(struct sqlite_tree *t, unsigned level, struct gcd_error *err)
{
    struct sqlite_level *l = &t->levels[level];
    if (l->page == NULL)
        l->page = gcd_mem_new(&t->pages->alloc, t->pages->page_bytes);
    if (l->page == NULL)
        return gcd_fail_nomem(err, "writing a database");
    l->cells = 0;
    l->top = t->pages->usable_bytes;
    return GCD_OK;
}

static bool fits(const struct sqlite_level *l, unsigned level, uint32_t n)
{
    return l->top - header_bytes(level) - l->cells * POSITION_BYTES >= n + POSITION_BYTES;
}

/* Adds the cell of N bytes before TOP to the page. */
static void claim(struct sqlite_level *l, unsigned level, uint32_t n)
{
    l->top -= n;
    l->last_bytes = n;
    put16(l->page + header_bytes(level) + l->cells++ * POSITION_BYTES, l->top);
}

static void finish_header(const struct sqlite_tree *t, unsigned level, uint32_t right)
{
    const struct sqlite_level *l = &t->levels[level];
    uint32_t positions_end = header_bytes(level) + l->cells * POSITION_BYTES;
    l->page[0] = level > 0  ? t->index ? INNER_INDEX : INNER_TABLE
                 : t->index ? LEAF_INDEX
                            : LEAF_TABLE;
    put16(l->page + 1, 0); /* no free blocks */
    put16(l->page + 3, l->cells);
    put16(l->page + 5, l->top);
    l->page[7] = 0;
    if (level > 0)
        put32(l->page + LEAF_HEADER, right);
    memset(l->page + positions_end, 0, l->top - positions_end);
}

/*
 * Writes the full page of a level and starts the next one.  *RET_KEY: the key that separates both,
 * after four bytes with the number of the page. In an index, and above the leaves, the key is the
 * last cell, which leaves the page; so neither page is ever empty.
 */
static gcd_status turn_page(struct sqlite_tree *t, unsigned level, struct cell *ret_key,
                            struct gcd_error *err)
{
    struct sqlite_level *l = &t->levels[level];
    uint32_t right = 0, number;
    ret_key->start = ret_key->end;
    if (level == 0 && !t->index) {
        put_varint(ret_key, t->rowid);
    } else {
        const unsigned char *last = l->page + l->top, *end = last + l->last_bytes;
        if (level > 0) {
            right = get32(last);
            last += CHILD_BYTES;
        }
        ret_key->start -= end - last;
        memcpy(ret_key->start, last, (size_t)(end - last));
        l->cells--;
        l->top += l->last_bytes;
    }
    finish_header(t, level, right);
    GCD_TRY(append(t->pages, l->page, &number, err));
    ret_key->start -= CHILD_BYTES;
    put32(ret_key->start, number);
    return start(t, level, err);
}

static gcd_status add_cell(struct sqlite_tree *t, struct cell *c, struct gcd_error *err)
{
    unsigned char rooms[2][ROOM_BYTES];
    for (unsigned level = 0; level < SQLITE_LEVELS_MAX; level++) {
        struct sqlite_level *l = &t->levels[level];
        uint32_t n = (uint32_t)(c->end - c->start);
        struct cell key = { .end = rooms[level % 2] + ROOM_BYTES };
        if (l->page == NULL)
            GCD_TRY(start(t, level, err));
        bool full = !fits(l, level, n);
        if (full)
            GCD_TRY(turn_page(t, level, &key, err));
        memcpy(l->page + l->top - n, c->start, n);
        claim(l, level, n);
        if (!full)
            return GCD_OK;
        *c = key;
    }
    return gcd_fail(err, GCD_E_LIMIT, "a table of a database has too many levels");
}

gcd_status sqlite_tree_begin(struct sqlite_tree *t, struct sqlite_pages *pages, uint32_t root,
                             struct gcd_error *err)
{
    *t = (struct sqlite_tree){ .pages = pages, .root = root };
    unsigned char header[LEAF_HEADER] = { 0 };
    size_t n;
    if (root > 1 && root <= pages->count)
        GCD_TRY(gcd_staged_read_at(pages->staged, (uint64_t)(root - 1) * pages->page_bytes, header,
                                   sizeof header, &n, err));
    t->index = header[0] == LEAF_INDEX;
    if ((header[0] != LEAF_INDEX && header[0] != LEAF_TABLE) || header[3] != 0 || header[4] != 0)
        return gcd_fail(err, GCD_E_UNSUPPORTED, "SQLite has made a database of unknown layout");
    return GCD_OK;
}

gcd_status sqlite_tree_add(struct sqlite_tree *t, uint64_t rowid, const struct sqlite_number *row,
                           size_t n, struct gcd_error *err)
{
    struct sqlite_level *leaf = &t->levels[0];
    /* the row is built in place */
    bool there = leaf->page != NULL && fits(leaf, 0, ROOM_BYTES);
    unsigned char room[ROOM_BYTES];
    struct cell c = { .end = there ? leaf->page + leaf->top : room + ROOM_BYTES };
    c.start = c.end;
    put_record(&c, row, n);
    uint64_t record_bytes = (uint64_t)(c.end - c.start);
    if (!t->index)
        put_varint(&c, rowid);
    put_varint(&c, record_bytes);
    if (there)
        claim(leaf, 0, (uint32_t)(c.end - c.start));
    else
        GCD_TRY(add_cell(t, &c, err));
    t->rowid = rowid;
    return GCD_OK;
}

gcd_status sqlite_tree_end(struct sqlite_tree *t, struct gcd_error *err)
{
    uint32_t child = 0;
    for (unsigned level = 0; level < SQLITE_LEVELS_MAX && t->levels[level].page != NULL; level++) {
        finish_header(t, level, child);
        bool top = level + 1 == SQLITE_LEVELS_MAX || t->levels[level + 1].page == NULL;
        const unsigned char *page = t->levels[level].page;
        GCD_TRY(top ? replace(t->pages, (uint64_t)(t->root - 1) * t->pages->page_bytes, page,
                              t->pages->page_bytes, err)
                    : append(t->pages, page, &child, err));
    }
    return GCD_OK;
}

void sqlite_tree_done(struct sqlite_tree *t)
{
    for (unsigned level = 0; level < SQLITE_LEVELS_MAX; level++) {
        gcd_mem_free(&t->pages->alloc, t->levels[level].page, t->pages->page_bytes);
        t->levels[level].page = NULL;
    }
}
