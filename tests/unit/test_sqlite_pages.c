/* Pages of a database that SQLite has not written: it finds them sound, and the rows in them are
 * those of a database that it has filled itself. */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <gcdumpc/unstable/staged_file.h>

#include "support/check.h"
#include "support/failalloc.h"
#include "support/folder.h"
#include "write/tables/sqlite_disk.h"
#include "write/tables/sqlite_pages.h"

static struct gcd_error err = GCD_ERROR_INIT;
static char folder[FOLDER_BYTES];

static int setup(void **state)
{
    (void)state;
    return make_folder(folder);
}

static int teardown(void **state)
{
    (void)state;
    return remove_folder(folder);
}

/* ---- rows: a function of the number ---- */

enum { COLUMNS = 4 };

static uint64_t mix(uint64_t x)
{
    x = (x + UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* NULL, and numbers on both sides of the limits between the lengths of numbers. */
static struct sqlite_number number_of(uint64_t seed)
{
    uint64_t r = mix(seed), bits = r % 65, half = bits == 0 ? 0 : UINT64_C(1) << (bits - 1);
    uint64_t v = half + (r >> 8) % 5 - 2;
    return (struct sqlite_number){ .null = r % 17 == 0,
                                   .value = r % 17 == 0 ? 0 : (int64_t)(r >> 20 & 1 ? v : ~v) };
}

/* Keys grow slowly, or, with WIDE, up to 2^63 - 1 in the last of N rows. */
static int64_t key_of(uint64_t i, uint64_t n, bool wide)
{
    return wide ? INT64_MAX - (int64_t)((n - 1 - i) * ((UINT64_C(1) << 62) / n)) : (int64_t)i + 1;
}

static void row_of(uint64_t i, uint64_t n, bool wide, struct sqlite_number row[COLUMNS])
{
    row[0] = (struct sqlite_number){ .value = key_of(i, n, wide) };
    for (unsigned k = 1; k < COLUMNS; k++)
        row[k] = number_of(i * COLUMNS + k);
}

/* ---- databases ---- */

static void run(sqlite3 *db, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
}

static int64_t ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t answer = sqlite3_column_int64(s, 0);
    assert_int_equal(sqlite3_finalize(s), SQLITE_OK);
    return answer;
}

static const char schema[] =
    "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, c);"
    "CREATE TABLE w(id INTEGER NOT NULL, a, b, c, PRIMARY KEY(id)) WITHOUT ROWID;"
    "CREATE INDEX i ON w(a);";

struct layout {
    int page_bytes, reserved;
    uint64_t rows;
    bool wide;
    uint32_t skip; /* empty pages in front of ours */
    unsigned threads;
};

static struct gcd_staged *make(const struct layout *l, uint32_t roots[2])
{
    static struct sqlite_disk disk;
    struct gcd_staged *p = NULL;
    sqlite3 *db;
    char sql[64];
    assert_int_equal(gcd_staged_open(path_in_folder(folder, "x"), GCD_STAGED_FILE, NULL, &p, &err),
                     GCD_OK);
    assert_int_equal(sqlite_disk_open(&disk, p, &db), SQLITE_OK);
    (void)snprintf(sql, sizeof sql, "PRAGMA journal_mode = OFF; PRAGMA page_size = %d;",
                   l->page_bytes);
    run(db, sql);
    int reserved = l->reserved;
    assert_int_equal(sqlite3_file_control(db, NULL, SQLITE_FCNTL_RESERVE_BYTES, &reserved),
                     SQLITE_OK);
    run(db, schema);
    roots[0] = (uint32_t)ask(db, "SELECT rootpage FROM sqlite_master WHERE name = 't'");
    roots[1] = (uint32_t)ask(db, "SELECT rootpage FROM sqlite_master WHERE name = 'w'");
    run(db, "DROP INDEX i"); /* SQLite makes it again, from our rows */
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return p;
}

static gcd_status fill(struct sqlite_pages *pages, uint32_t root, const struct layout *l,
                       struct gcd_error *ret_err)
{
    struct sqlite_tree t;
    struct sqlite_number row[COLUMNS];
    gcd_status st = sqlite_tree_begin(&t, pages, root, ret_err);
    for (uint64_t i = 0; i < l->rows && st == GCD_OK; i++) {
        row_of(i, l->rows, l->wide, row);
        uint64_t rowid = (uint64_t)row[0].value;
        row[0].null = !t.index;
        st = sqlite_tree_add(&t, rowid, row, COLUMNS, ret_err);
    }
    if (st == GCD_OK)
        st = sqlite_tree_end(&t, ret_err);
    sqlite_tree_done(&t);
    return st;
}

static gcd_status write_rows(struct gcd_staged *p, const uint32_t roots[2], const struct layout *l,
                             const struct gcd_alloc *alloc, struct gcd_error *ret_err)
{
    struct sqlite_pages pages;
    gcd_status st = sqlite_pages_open(
        &pages, p, &(struct gcd_context){ .alloc = alloc, .threads = l->threads }, ret_err);
    for (unsigned i = 0; i < 2 && st == GCD_OK; i++)
        st = fill(&pages, roots[i], l, ret_err);
    if (st == GCD_OK)
        st = sqlite_pages_finish(&pages, ret_err);
    sqlite_pages_done(&pages);
    return st;
}

static void fill_by_sql(sqlite3 *db, const struct layout *l)
{
    struct sqlite_number row[COLUMNS];
    sqlite3_stmt *s;
    run(db, schema);
    run(db, "BEGIN");
    assert_int_equal(sqlite3_prepare_v2(db, "INSERT INTO t VALUES (?, ?, ?, ?)", -1, &s, NULL),
                     SQLITE_OK);
    for (uint64_t i = 0; i < l->rows; i++) {
        row_of(i, l->rows, l->wide, row);
        for (int k = 0; k < COLUMNS; k++)
            assert_int_equal(row[k].null ? sqlite3_bind_null(s, k + 1)
                                         : sqlite3_bind_int64(s, k + 1, row[k].value),
                             SQLITE_OK);
        assert_int_equal(sqlite3_step(s), SQLITE_DONE);
        assert_int_equal(sqlite3_reset(s), SQLITE_OK);
    }
    assert_int_equal(sqlite3_finalize(s), SQLITE_OK);
    run(db, "INSERT INTO w SELECT * FROM t; COMMIT");
}

static void same_rows(sqlite3 *ours, sqlite3 *theirs, const char *sql)
{
    sqlite3_stmt *s[2];
    assert_int_equal(sqlite3_prepare_v2(ours, sql, -1, &s[0], NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(theirs, sql, -1, &s[1], NULL), SQLITE_OK);
    for (;;) {
        int rc = sqlite3_step(s[0]);
        assert_int_equal(rc, sqlite3_step(s[1]));
        if (rc == SQLITE_DONE)
            break;
        assert_int_equal(rc, SQLITE_ROW);
        for (int k = 0; k < COLUMNS; k++) {
            assert_int_equal(sqlite3_column_type(s[0], k), sqlite3_column_type(s[1], k));
            assert_int_equal(sqlite3_column_int64(s[0], k), sqlite3_column_int64(s[1], k));
        }
    }
    assert_int_equal(sqlite3_finalize(s[0]), SQLITE_OK);
    assert_int_equal(sqlite3_finalize(s[1]), SQLITE_OK);
}

static void sound(sqlite3 *db)
{
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(s, 0), "ok");
    assert_int_equal(sqlite3_finalize(s), SQLITE_OK);
}

/* The database at PATH is ours.  It is also written to afterwards, by SQLite. */
static void compare(const char *path, const struct layout *l)
{
    sqlite3 *ours, *theirs;
    assert_int_equal(sqlite3_open_v2(path, &ours, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_open_v2(":memory:", &theirs, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    fill_by_sql(theirs, l);
    if (l->skip == 0)
        sound(ours);
    assert_int_equal(ask(ours, "SELECT count(*) FROM t"), l->rows);
    same_rows(ours, theirs, "SELECT * FROM t");
    same_rows(ours, theirs, "SELECT * FROM w");
    same_rows(ours, theirs, "SELECT * FROM t ORDER BY id DESC");
    same_rows(ours, theirs, "SELECT w.* FROM t CROSS JOIN w USING (id) ORDER BY t.id");
    if (l->skip == 0 && l->rows <= 3000) { /* pages can be divided, joined and used again */
        static const char change[] =
            "CREATE INDEX i2 ON t(b, c); DELETE FROM t WHERE id % 3 = 0; DELETE FROM w WHERE a % 2 "
            "= 0;"
            "UPDATE w SET b = b / 2, c = 'a text that is longer than the number was';";
        run(ours, change);
        run(theirs, change);
        sound(ours);
        same_rows(ours, theirs, "SELECT * FROM t");
        same_rows(ours, theirs, "SELECT * FROM w");
    }
    assert_int_equal(sqlite3_close(ours), SQLITE_OK);
    assert_int_equal(sqlite3_close(theirs), SQLITE_OK);
}

static void check(const struct layout *l)
{
    uint32_t roots[2];
    struct gcd_staged *p = make(l, roots);
    assert_int_equal(write_rows(p, roots, l, NULL, &err), GCD_OK);
    assert_int_equal(gcd_staged_commit(p, &err), GCD_OK);
    gcd_staged_free(p);
    compare(path_in_folder(folder, "x"), l);
    assert_int_equal(unlink(path_in_folder(folder, "x")), 0);
}

/* ---- tests ---- */

static void every_number_of_rows(void **state)
{
    (void)state;
    for (uint64_t rows = 0; rows < 130;
         rows++) /* the smallest page holds 5 to 30 of them: one page, two, an inner one ... */
        for (unsigned wide = 0; wide < 2; wide++)
            check(&(struct layout){ .page_bytes = 512, .rows = rows, .wide = wide != 0 });
}

static void pages_of_every_size(void **state)
{
    (void)state;
    for (int bytes = 512; bytes <= 65536; bytes *= 2)
        for (int reserved = 0; reserved <= 32; reserved += 16)
            check(&(struct layout){ .page_bytes = bytes,
                                    .reserved = reserved,
                                    .rows = 2500,
                                    .wide = bytes % 1024 == 0,
                                    .threads = bytes % 4096 == 0 ? 2 : 1 });
}

static void many_levels(void **state)
{
    (void)state;
    check(&(struct layout){ .page_bytes = 512, .rows = 60000, .wide = true });
    check(&(struct layout){ .page_bytes = 4096, .rows = 250000, .threads = 2 });
}

/* The page at 1 GiB stays empty.  The pages before it are a gap in the file. */
static void around_the_lock(void **state)
{
    (void)state;
    enum { PAGE = 65536, LOCK = (1 << 30) / PAGE };
    for (uint32_t before = LOCK - 3; before <= LOCK + 1; before++) {
        struct layout l = {
            .page_bytes = PAGE, .rows = 20000, .skip = before, .threads = 1 + before % 2
        };
        uint32_t roots[2];
        struct gcd_staged *p = make(&l, roots);
        unsigned char count[4] = { 0, 0, (unsigned char)(before >> 8), (unsigned char)before },
                      page[PAGE], zeros[PAGE] = { 0 };
        size_t n;
        assert_int_equal(gcd_staged_resize(p, (uint64_t)before * PAGE, &err), GCD_OK);
        assert_int_equal(gcd_staged_write_at(p, 28, count, sizeof count, &err), GCD_OK);
        assert_int_equal(write_rows(p, roots, &l, NULL, &err), GCD_OK);
        assert_int_equal(gcd_staged_read_at(p, (uint64_t)LOCK * PAGE, page, PAGE, &n, &err),
                         GCD_OK);
        assert_int_equal(n, PAGE);
        assert_memory_equal(page, zeros, PAGE);
        assert_int_equal(gcd_staged_commit(p, &err), GCD_OK);
        gcd_staged_free(p);
        compare(path_in_folder(folder, "x"), &l);
        assert_int_equal(unlink(path_in_folder(folder, "x")), 0);
    }
}

static void an_unknown_layout(void **state)
{
    (void)state;
    struct layout l = { .page_bytes = 4096, .rows = 10 };
    uint32_t roots[2], wrong[2];
    struct gcd_staged *p = make(&l, roots);
    for (unsigned i = 0; i < 4; i++) {
        memcpy(wrong, roots, sizeof wrong);
        wrong[i / 2] = i % 2 == 0 ? 1 : 1000; /* that of the schema, none */
        assert_int_equal(write_rows(p, wrong, &l, NULL, &err), GCD_E_UNSUPPORTED);
    }
    /* less pages than the header says */
    assert_int_equal(gcd_staged_resize(p, 3 * 4096, &err), GCD_OK);
    assert_int_equal(write_rows(p, roots, &l, NULL, &err), GCD_E_UNSUPPORTED);
    assert_int_equal(gcd_staged_resize(p, 0, &err), GCD_OK);
    assert_int_equal(write_rows(p, roots, &l, NULL, &err), GCD_E_UNSUPPORTED);
    gcd_staged_free(p);
}

static void no_memory(void **state)
{
    (void)state;
    struct layout l = { .page_bytes = 512, .rows = 2000 };
    for (uint64_t n = 0;; n++) {
        struct failalloc f;
        failalloc_init(&f);
        f.fail_at = n + 1;
        uint32_t roots[2];
        struct gcd_staged *p = make(&l, roots);
        gcd_status st = write_rows(p, roots, &l, &f.alloc, n % 2 == 0 ? &err : NULL);
        gcd_staged_free(p);
        assert_int_equal(st, f.failed > 0 ? GCD_E_NOMEM : GCD_OK);
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
        assert_true(n < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_number_of_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(pages_of_every_size, setup, teardown),
        cmocka_unit_test_setup_teardown(many_levels, setup, teardown),
        cmocka_unit_test_setup_teardown(around_the_lock, setup, teardown),
        cmocka_unit_test_setup_teardown(an_unknown_layout, setup, teardown),
        cmocka_unit_test_setup_teardown(no_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
