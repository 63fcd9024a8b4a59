/* Fields of names at their limits, and which earlier dumps are kept; the test sets the clock. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exit.h"
#include "job/keep.h"
#include "job/template.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/keep_listed.h"
#include "term/message.h"

#define NOW 1795279385 /* 2026-11-21 16:43:05 UTC */
#define DAY 86400

time_t __wrap_time(time_t *ret);
time_t __wrap_time(time_t *ret)
{
    if (ret != NULL)
        *ret = NOW;
    return NOW;
}

/* Its name on 32-bit machines with 64-bit times. */
time_t __wrap___time64(time_t *ret);
time_t __wrap___time64(time_t *ret)
{
    return __wrap_time(ret);
}

static char folder[FOLDER_BYTES];
static const struct cli_template_values values = {
    .name = "Shop", .pid = 4711, .host = "web1", .time = NOW
};

static int setup(void **state)
{
    (void)state;
    cli_hold(true);
    return make_folder(folder);
}

static int teardown(void **state)
{
    (void)state;
    return remove_folder(folder);
}

static void path_in(char *ret, const char *name)
{
    assert_true(snprintf(ret, PATH_MAX, "%s/%s", folder, name) < PATH_MAX);
}

static void put(const char *name, size_t size, time_t changed)
{
    char path[PATH_MAX];
    path_in(path, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    assert_int_equal(
        futimens(fd, (struct timespec[2]){ { .tv_sec = changed }, { .tv_sec = changed } }), 0);
    assert_int_equal(close(fd), 0);
}

static bool there(const char *name)
{
    char path[PATH_MAX];
    path_in(path, name);
    return access(path, F_OK) == 0;
}

static struct cli_template *in_folder(const char *text)
{
    char all[PATH_MAX];
    struct cli_template *t;
    path_in(all, text);
    assert_int_equal(cli_template_new(all, &t), CLI_DONE);
    return t;
}

static uint64_t apply(const char *text, struct cli_keep keep, uint64_t coming)
{
    struct cli_template *t = in_folder(text);
    uint64_t removed = 99;
    assert_int_equal(keep_listed(keep, t, &values, coming, &removed), CLI_DONE);
    cli_template_free(t);
    return removed;
}

/* Could TEMPLATE have produced NAME? */
static bool fits(const char *template, const char *name)
{
    put(name, 1, NOW - 10);
    uint64_t removed = apply(template, (struct cli_keep){ .files = 1 }, 0);
    char path[PATH_MAX];
    path_in(path, name);
    (void)unlink(path);
    return removed == 1;
}

static void fields(void **state)
{
    (void)state;
    static const struct {
        const char *template, *least, *most, *below, *above;
    } rows[] = {
        { "x%Y", "x1970", "x2026", "x1969", "x2027" },
        { "x%m", "x01", "x12", "x00", "x13" },
        { "x%d", "x01", "x31", "x00", "x32" },
        { "x%H", "x00", "x23", NULL, "x24" },
        { "x%M", "x00", "x59", NULL, "x60" },
        { "x%S", "x00", "x59", NULL, "x60" },
        { "x%j", "x001", "x366", "x000", "x367" },
        { "x%y", "x00", "x99", NULL, "x100" },
        { "x%F", "x2026-01-01", "x2026-12-31", "x2026-00-01", "x2026-13-01" },
        { "x%p", "x1", "x2147483647", "x0", "x2147483648" },
        { "x%s", "x1", "x1795365785", "x0", "x1795365786" },
        { "x%Y%m%d", "x20240229", "x20261231", "x20250229", "x20260431" },
        { "x%p-%s", "x1-2", "x111-222", "x01-2", "x1-02" },
        { "x%n", "xShop", "xShop", "xSho", "xShopp" },
        { "x%h", "xweb1", "xweb1", "xweb", "xweb12" },
        { "x%%", "x%", "x%", "x", "x%%" },
        { "x%p-%s", "x1-2", "x111-222", "x1", "x1-2-3" },
        { "x%p%p", "x12", "x1234", "x1", "x12a" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(fits(rows[i].template, rows[i].least));
        assert_true(fits(rows[i].template, rows[i].most));
        if (rows[i].below != NULL)
            assert_false(fits(rows[i].template, rows[i].below));
        assert_false(fits(rows[i].template, rows[i].above));
    }
}

/* Only this process: its pid with no digit beside it. */
static void the_number_of_a_process(void **state)
{
    (void)state;
    static const char *const others[] = { "x47111.a", "x4712.a", "x471.a", "x04711.a", "x1.a" };
    struct cli_template_values own = values;
    struct cli_template *t = in_folder("x%p.a");
    struct stat st;
    own.this_process = true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        put(others[i], 1, NOW - 10);
    assert_false(cli_keep_newest(t, &own, &st));
    assert_true(cli_keep_newest(t, &values, &st));
    put("x4711.a", 1, NOW - 7);
    assert_true(cli_keep_newest(t, &own, &st) && st.st_mtim.tv_sec == NOW - 7);
    put("x4711.a", 1, NOW);
    assert_true(cli_keep_newest(t, &own, &st) && st.st_mtim.tv_sec == NOW);
    put("x4711.a", 1, NOW + 1); /* in the future: not an earlier dump */
    assert_false(cli_keep_newest(t, &own, &st));
    cli_template_free(t);
}

/* More digits follow: the file belongs to a process with a longer pid. */
static void a_number_behind_it(void **state)
{
    (void)state;
    struct cli_template_values own = values;
    struct cli_template *t = in_folder("x%p%s");
    struct stat st;
    own.this_process = true;
    /* 4711 at 1795279000 or 47111 at 795279000: ambiguous */
    put("x47111795279000", 1, NOW - 10);
    put("x4711171795279000", 1, NOW - 5);
    assert_true(cli_keep_newest(t, &values, &st) && st.st_mtim.tv_sec == NOW - 5);
    assert_false(cli_keep_newest(t, &own, &st));
    cli_template_free(t);
}

/* Anybody who can write to the folder can give his own file such a name. */
static void files_of_others(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct cli_template *t = in_folder("x%p");
    struct stat st;
    if (geteuid() != 0)
        skip(); /* only root can make files of another user */
    put("x1", 1, NOW - 10);
    path_in(path, "x1");
    assert_int_equal(chown(path, 12345, 12345), 0);
    assert_false(cli_keep_newest(t, &values, &st));
    assert_int_equal(apply("x%p", (struct cli_keep){ .files = 1 }, 1), 0);
    assert_true(there("x1"));
    put("x2", 1, NOW - 10);
    /* and it does not count */
    assert_int_equal(apply("x%p", (struct cli_keep){ .files = 2 }, 1), 0);
    cli_template_free(t);
}

/* The newest, in whatever order the folder lists them. */
static void the_newest(void **state)
{
    (void)state;
    struct cli_template *t = in_folder("x%p.a");
    struct stat st;
    for (int i = 1; i <= 9; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "x%d.a", i);
        put(name, 1, NOW - 100 + (i * 5) % 9);
    }
    assert_true(cli_keep_newest(t, &values, &st) && st.st_mtim.tv_sec == NOW - 92);
    cli_template_free(t);
}

/* A file exactly --keep-days old stays; one second older goes. */
static void days(void **state)
{
    (void)state;
    for (uint64_t d = 1; d <= 3; d++) {
        put("x1", 1, NOW - (time_t)d * DAY);
        put("x2", 1, NOW - (time_t)d * DAY - 1);
        put("x3", 1, NOW + DAY + 1); /* its age is unknown */
        assert_int_equal(apply("x%p", (struct cli_keep){ .days = d }, 1), 1);
        assert_true(there("x1") && !there("x2") && there("x3"));
    }
}

/* More than a day ahead counts as older than all others. */
static void the_future(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        put("x1", 1, NOW + DAY + more);
        put("x2", 1, NOW - 1000);
        assert_int_equal(apply("x%p", (struct cli_keep){ .files = 2 }, 1), 1);
        assert_true(there("x1") == (more == 0) && there("x2") == (more == 1));
    }
}

static void sizes(void **state)
{
    (void)state;
    static const struct {
        uint64_t total, coming, removed;
    } rows[] = {
        { 100, 40, 0 },
        { 100, 41, 1 },
        { 100, 70, 1 },
        { 100, 71, 2 },
        { 100, 100, 2 },
        { 100, 101, 2 },
        { 60, 0, 0 },
        { 59, 0, 1 },
        { 1, UINT64_MAX, 2 },
        { UINT64_MAX, UINT64_MAX - 60, 0 },
        { UINT64_MAX, UINT64_MAX - 59, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put("x1", 30, NOW - 10);
        put("x2", 30, NOW - 20);
        assert_int_equal(
            apply("x%p", (struct cli_keep){ .total_bytes = rows[i].total }, rows[i].coming),
            rows[i].removed);
        assert_true(there("x1") == (rows[i].removed < 2) && there("x2") == (rows[i].removed < 1));
    }
}

/* Very many files: the oldest go first, those of this run all stay. */
static void many(void **state)
{
    (void)state;
    char name[16], path[PATH_MAX];
    struct stat st;
    struct cli_keep_id own[2];
    for (int i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof name, "x%d", i + 1);
        put(name, 1, NOW - 1000 + (i * 7) % 300); /* number i is the (i * 7 % 300)th */
    }
    for (int i = 0; i < 2; i++) {
        (void)snprintf(name, sizeof name, "x%d", i * 43 + 1);
        path_in(path, name);
        assert_int_equal(stat(path, &st), 0);
        own[i] = (struct cli_keep_id){ .device = st.st_dev, .inode = st.st_ino };
    }
    assert_int_equal(apply("x%p", (struct cli_keep){ .files = 101, .own = own, .own_count = 2 }, 1),
                     200);
    for (int i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof name, "x%d", i + 1);
        assert_true(there(name) == ((i * 7) % 300 >= 202 || i == 0 || i == 43));
    }
    /* the same inode number on another disk is a different file */
    own[0].device++;
    assert_int_equal(apply("x%p", (struct cli_keep){ .files = 2, .own = own, .own_count = 2 }, 1),
                     99);
    assert_true(there("x44") && !there("x1"));
}

static void nothing_is_asked(void **state)
{
    (void)state;
    put("x1", 1, NOW - 100 * DAY);
    assert_int_equal(apply("x%p", (struct cli_keep){ .files = 0 }, 1), 0);
    assert_true(there("x1"));
    assert_int_equal(apply("x%p", (struct cli_keep){ .days = 1 }, 1), 1);
}

/* The buffer for a name: the last byte is the terminator. */
static void how_long(void **state)
{
    (void)state;
    char small[8], path[PATH_MAX];
    struct cli_template *t;
    struct cli_template_values v = values;
    assert_int_equal(cli_template_new("abc-%p", &t), CLI_DONE);
    v.pid = 123;
    assert_int_equal(cli_template_expand(t, &v, small, sizeof small), CLI_DONE);
    assert_string_equal(small, "abc-123");
    v.pid = 1234;
    assert_int_equal(cli_template_expand(t, &v, small, sizeof small), CLI_FAILED);
    cli_template_free(t);
    static const struct {
        const char *name, *spelt;
    } rows[] = {
        { "abc", "abc" }, { "\xc3\xa4", "\xc3\xa4" }, { "\x1f\x7f/.", "%1F%7F%2F." },
        { " !~", " !~" }, { ".a.b", "%2Ea.b" },       { "", "%unknown" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(cli_template_spell(rows[i].name, path));
        assert_string_equal(path, rows[i].spelt);
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(fields),
        TEST(the_number_of_a_process),
        TEST(a_number_behind_it),
        TEST(files_of_others),
        TEST(the_newest),
        TEST(days),
        TEST(the_future),
        TEST(sizes),
        TEST(many),
        TEST(nothing_is_asked),
        TEST(how_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
