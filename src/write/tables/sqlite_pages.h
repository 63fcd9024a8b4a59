/*
 * B-trees of an SQLite database, written as pages without SQLite.  SQLite creates the schema, which
 * gives each tree an empty page.  Then rows come in key order, and each page is filled and written
 * once, leaves first.  The result is what SQLite itself writes for rows in that order, at a tenth
 * of the cost.  https://www.sqlite.org/fileformat2.html explains pages, cells and records.
 *
 *     GCD_TRY(sqlite_pages_open(&pages, staged, alloc, err));
 *     GCD_TRY(sqlite_tree_begin(&t, &pages, root, err));
 *     GCD_TRY(sqlite_tree_add(&t, rowid, numbers, n, err)); ...
 *     GCD_TRY(sqlite_tree_end(&t, err));
 *     GCD_TRY(sqlite_pages_finish(&pages, err));
 */
#ifndef GCD_WRITE_SQLITE_PAGES_H
#define GCD_WRITE_SQLITE_PAGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>
#include <gcdumpc/unstable/staged_file.h>

#include "base/threads/queue.h"

/* A row of this many numbers fits into a page of any size without an overflow page, and its length
 * into one byte. */
#define SQLITE_ROW_MAX 8u
/* Length of the record, rowid or child page, length of the header, then a type and 8 bytes per
 * number. */
#define SQLITE_CELL_MAX (1u + 9u + 1u + SQLITE_ROW_MAX * 9u)
/* A page holds at least 5 cells, and there are at most 2^32 pages. */
#define SQLITE_LEVELS_MAX 16u

struct sqlite_number {
    int64_t value;
    bool null;
};

/* The file: new pages are appended.  A thread may write them while the next ones are filled. */
struct sqlite_pages {
    struct gcd_alloc alloc;
    struct gcd_staged *staged;
    uint32_t page_bytes, usable_bytes; /* of a page; an extension of SQLite may reserve its end */
    uint32_t count;                    /* pages in the file */
    unsigned char *run;                /* [run_room] consecutive pages that are not yet written */
    size_t run_bytes, run_room;
    uint64_t run_at; /* where they go in the file */
    bool threaded;
    pthread_t thread;
    struct gcd_queue queue; /* to the thread; RUN is in SLOT */
    struct gcd_slot *slot;
    atomic_bool failed; /* the thread failed with this error */
    struct gcd_error behind;
};

/*
 * SQLite must have closed the database in STAGED, which must outlive P and which nothing else may
 * use meanwhile.  CONTEXT may be NULL; with two threads, one only writes.  Always call
 * sqlite_pages_done.
 */
GCD_MUST_CHECK gcd_status sqlite_pages_open(struct sqlite_pages *p, struct gcd_staged *staged,
                                            const struct gcd_context *context,
                                            struct gcd_error *err);
/* Writes the remaining pages, and the number of pages into the header. */
GCD_MUST_CHECK gcd_status sqlite_pages_finish(struct sqlite_pages *p, struct gcd_error *err);
void sqlite_pages_done(struct sqlite_pages *p);

/* A page that is being filled: cells from its end to its beginning, their positions from its
 * beginning on. */
struct sqlite_level {
    unsigned char *page; /* NULL: this level does not exist yet */
    uint32_t cells, top; /* number of cells, start of the last one */
    uint32_t last_bytes; /* of the last cell */
};

struct sqlite_tree {
    struct sqlite_pages *pages;
    uint32_t root;  /* number of the page that SQLite has created */
    bool index;     /* also a table WITHOUT ROWID */
    uint64_t rowid; /* of the last row */
    struct sqlite_level levels[SQLITE_LEVELS_MAX];
};

/*
 * Begins to fill the tree whose empty page is number ROOT (sqlite_master.rootpage).  PAGES must
 * outlive T.  GCD_E_UNSUPPORTED: the page is not empty.  Always call sqlite_tree_done.
 */
GCD_MUST_CHECK gcd_status sqlite_tree_begin(struct sqlite_tree *t, struct sqlite_pages *pages,
                                            uint32_t root, struct gcd_error *err);
/*
 * Adds a row of N numbers, at most SQLITE_ROW_MAX.  In a table, ROWID must be greater than that of
 * the previous row; in an index, rows must come in SQLite's order: NULL, then numbers by value.  An
 * INTEGER PRIMARY KEY column is NULL.  GCD_E_NOMEM, GCD_E_IO, GCD_E_LIMIT: too many pages.
 */
GCD_MUST_CHECK gcd_status sqlite_tree_add(struct sqlite_tree *t, uint64_t rowid,
                                          const struct sqlite_number *row, size_t n,
                                          struct gcd_error *err);
/* Writes the pages that are not full, the last one of them as the root.  A tree without rows stays
 * as SQLite created it. */
GCD_MUST_CHECK gcd_status sqlite_tree_end(struct sqlite_tree *t, struct gcd_error *err);
/* Frees the memory of T; always call it, also after sqlite_tree_end. */
void sqlite_tree_done(struct sqlite_tree *t);

#endif
