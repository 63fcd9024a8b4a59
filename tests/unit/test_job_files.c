/* Names of outputs with fields, and which earlier outputs are kept. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exit.h"
#include "job/job.h"
#include "job/keep.h"
#include "job/template.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/keep_listed.h"
#include "term/message.h"

static char folder[64], said[4096];

enum cli_exit cli_error(enum cli_exit status, const char *subject, const char *fmt, ...)
{
    size_t n = subject != NULL ? (size_t)snprintf(said, sizeof said, "%s: ", subject) : 0;
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(said + n, sizeof said - n, fmt, ap);
    va_end(ap);
    return status;
}

static int setup(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/gcd-job-XXXXXX");
    said[0] = '\0';
    return mkdtemp(folder) == NULL;
}

static int teardown(void **state)
{
    (void)state;
    return remove_folder(folder);
}

/* 2026-11-21 16:43:05 UTC */
static const struct cli_template_values values = {
    .name = "Shop", .pid = 4711, .host = "web1", .time = 1795279385
};

static struct cli_template *parsed(const char *text)
{
    struct cli_template *t = NULL;
    assert_int_equal(cli_template_new(text, &t), CLI_DONE);
    return t;
}

static void expect(const char *text, const struct cli_template_values *v, const char *path)
{
    char got[PATH_MAX];
    struct cli_template *t = parsed(text);
    assert_int_equal(cli_template_expand(t, v, got, sizeof got), CLI_DONE);
    assert_string_equal(got, path);
    cli_template_free(t);
}

static void names(void **state)
{
    (void)state;
    expect("/var/dumps/%n/%n-%p-%Y%m%dT%H%M%SZ.gclog.gz", &values,
           "/var/dumps/Shop/Shop-4711-20261121T164305Z.gclog.gz");
    expect("./a//b/%F-%j-%y-%s-100%%.gclog", &values,
           "a/b/2026-11-21-325-26-1795279385-100%.gclog");
    expect("%h.gclog", &values, "web1.gclog");
    expect("../x/%p", &values, "../x/4711");
    struct cli_template_values v = values;
    v.name = "../../etc/pass\nwd";
    expect("/d/%n/%n.x", &v, "/d/%2E.%2F..%2Fetc%2Fpass%0Awd/%2E.%2F..%2Fetc%2Fpass%0Awd.x");
    v.name = ".";
    expect("%n", &v, "%2E");
    v.name = "My_App.Web, 100%\x7f\xc3\xa4";
    expect("%n", &v, "My_App.Web, 100%25%7F\xc3\xa4");
    v.name = "";
    expect("%n", &v, "%unknown");
    v.name = v.host = "100%";
    expect("%h", &v, "100%25");
}

/* Names are never cut: two processes could share the same prefix. */
static void names_that_are_too_long(void **state)
{
    (void)state;
    char name[300], want[700], small[100];
    struct cli_template_values v = values;
    struct cli_template *t = parsed("%n.x");
    v.name = name;
    for (int slash = 0; slash < 2; slash++) { /* which takes three bytes */
        memset(name, 'a', sizeof name);
        name[slash ? 198 : 200] = '\0';
        if (slash)
            name[7] = '/';
        (void)snprintf(want, sizeof want, slash ? "%.7s%%2F%s.x" : "%.7s%s.x", name,
                       name + 7 + slash);
        expect("%n.x", &v, want);
        memset(name + (slash ? 198 : 200), 'a', 2);
        name[slash ? 199 : 201] = '\0';
        assert_int_equal(cli_template_expand(t, &v, want, sizeof want), CLI_FAILED);
        assert_non_null(strstr(said, "too long for %n; use %p"));
    }
    cli_template_free(t);
    t = parsed("%n/%n/%n/%n.x");
    name[30] = '\0';
    assert_int_equal(cli_template_expand(t, &v, small, sizeof small), CLI_FAILED);
    assert_string_equal(said, "the name of the output is too long");
    cli_template_free(t);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* No two short names of special characters get the same spelling. */
static void every_name_has_a_spelling_of_its_own(void **state)
{
    (void)state;
    static const char letters[] = "a_./%2F\n0", *const more[] = { "unknown", "%unknown", "",
                                                                  "%%unknown" };
    enum {
        N = sizeof letters - 1,
        ALL = N + N * N + N * N * N + N * N * N * N,
        MORE = sizeof more / sizeof *more
    };
    static char spelt[ALL + MORE][CLI_TEMPLATE_NAME_BYTES];
    size_t count = 0;
    for (unsigned length = 1, all = N; length <= 4; length++, all *= N)
        for (unsigned i = 0; i < all; i++) {
            char name[8] = "";
            for (unsigned k = 0, rest = i; k < length; k++, rest /= N)
                name[k] = letters[rest % N];
            assert_true(cli_template_spell(name, spelt[count++]));
        }
    for (size_t i = 0; i < MORE; i++)
        assert_true(cli_template_spell(more[i], spelt[count++]));
    assert_int_equal(count, ALL + MORE);
    for (size_t i = 0; i < count; i++)
        assert_true(spelt[i][0] != '\0' && spelt[i][0] != '.' && strpbrk(spelt[i], "/\n") == NULL);
    qsort(spelt, count, sizeof spelt[0], compare_texts);
    for (size_t i = 1; i < count; i++)
        assert_string_not_equal(spelt[i - 1], spelt[i]);
}

static void names_that_are_none(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "a%",
        "a%q.gclog",
        "a%E",
        "/",
        "",
        "a/%n/",
        "%n/..",
        "%n/../x",
        "..",
        "%p%p%p",
        "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23/24/25/26/27/28/29/30/31/32/33"
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct cli_template *t = NULL;
        said[0] = '\0';
        assert_int_equal(cli_template_new(bad[i], &t), CLI_USAGE);
        assert_null(t);
        assert_true(said[0] == '"');
    }
}

static void what_keeps_names_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool time, process;
    } want[] = { { "%Y%m%dT%H%M%S", true, false },
                 { "%F-%H%M%S-%p", true, true },
                 { "%s", true, false },
                 { "%Y%m%d", false, false },
                 { "%H%M%S", false, false },
                 { "%y%j%H%M%S", true, false },
                 { "%n", false, false },
                 { "%%s%%p", false, false },
                 { "%F-%H%M", false, false },
                 { "%F-%H%S", false, false },
                 { "%F-%M%S", false, false },
                 { "%m%dT%H%M%S", false, false },
                 { "%Y%mT%H%M%S", false, false },
                 { "%Y%dT%H%M%S", false, false },
                 { "%j%H%M%S", false, false } };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct cli_template *t = parsed(want[i].text);
        assert_true(cli_template_has_time(t) == want[i].time &&
                    cli_template_has_process(t) == want[i].process);
        cli_template_free(t);
    }
}

static void where_a_name_ends(void **state)
{
    (void)state;
    static const char *const clear[] = { "%n-%p",   "%p-%n",  "%n/%p",  "%n%Y%m%d", "%Y%n",
                                         "%nx%p",   "%n%%%s", "%n-1%p", "%n1-%p",   "%F%n",
                                         "%n%F-%s", "%n%h",   "%p%s",   "x1%p" };
    static const char *const unclear[] = { "%n%p",  "%p%n",     "%n%s",     "%h%p",
                                           "%n1%p", "%n%d%p",   "%p%H%M%n", "%n%h%p",
                                           "%n%p-", "a/%n%p/b", "-%s2%n",   "%n-%p%n" };
    for (size_t i = 0; i < sizeof clear / sizeof *clear; i++) {
        struct cli_template *t = parsed(clear[i]);
        assert_true(cli_template_tells_names(t));
        cli_template_free(t);
    }
    for (size_t i = 0; i < sizeof unclear / sizeof *unclear; i++) {
        struct cli_template *t = parsed(unclear[i]);
        assert_false(cli_template_tells_names(t));
        cli_template_free(t);
    }
}

/* FOLDER/NAME of SIZE bytes, changed AGE seconds ago. */
static void put(const char *name, size_t size, time_t age)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *s = path + strlen(folder) + 1; (s = strchr(s, '/')) != NULL; s++) {
        *s = '\0';
        (void)mkdir(path, 0700);
        *s = '/';
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    assert_int_equal(futimens(fd, (struct timespec[2]){ { .tv_sec = time(NULL) - age },
                                                        { .tv_sec = time(NULL) - age } }),
                     0);
    assert_int_equal(close(fd), 0);
}

static bool there(const char *name)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static struct cli_template *template_in_folder(const char *text)
{
    char all[PATH_MAX];
    (void)snprintf(all, sizeof all, "%s/%s", folder, text);
    return parsed(all);
}

static uint64_t apply(const char *text, struct cli_keep keep, uint64_t coming)
{
    struct cli_template *t = template_in_folder(text);
    uint64_t removed;
    assert_int_equal(keep_listed(keep, t, &values, coming, &removed), CLI_DONE);
    cli_template_free(t);
    return removed;
}

#define TEXT "%n-%p-%Y%m%d.gclog"

static void the_oldest_go(void **state)
{
    (void)state;
    put("Shop-1-20260101.gclog", 10, 500);
    put("Shop-2-20260102.gclog", 10, 400);
    put("Shop-3-20260103.gclog", 10, 300);
    assert_int_equal(apply(TEXT, (struct cli_keep){ .files = 9 }, 1), 0);
    assert_int_equal(apply(TEXT, (struct cli_keep){ .files = 4 }, 1), 0);
    assert_int_equal(apply(TEXT, (struct cli_keep){ .files = 3 }, 1), 1);
    assert_true(!there("Shop-1-20260101.gclog") && there("Shop-2-20260102.gclog"));
    assert_int_equal(apply(TEXT, (struct cli_keep){ .total_bytes = 25 }, 5), 0);
    assert_int_equal(apply(TEXT, (struct cli_keep){ .total_bytes = 25 }, 6), 1);
    assert_true(!there("Shop-2-20260102.gclog") && there("Shop-3-20260103.gclog"));
    assert_int_equal(apply(TEXT, (struct cli_keep){ .total_bytes = 5 }, UINT64_MAX), 1);
    assert_false(there("Shop-3-20260103.gclog"));
    /* a small old file is not kept instead of a newer large one */
    put("Shop-4-20260103.gclog", 1, 20);
    put("Shop-5-20260103.gclog", 100, 10);
    assert_int_equal(apply(TEXT, (struct cli_keep){ .total_bytes = 50 }, 1), 2);
    put("Shop-5-20260104.gclog", 10, 3 * 86400 + 60);
    put("Shop-6-20260104.gclog", 10, 3 * 86400 - 60);
    assert_int_equal(apply(TEXT, (struct cli_keep){ .days = 3 }, 1), 1);
    assert_true(there("Shop-6-20260104.gclog"));
    assert_int_equal(apply(TEXT, (struct cli_keep){ .days = UINT64_MAX }, 1), 0);
    assert_int_equal(apply(TEXT, (struct cli_keep){ .files = 1 }, 1), 1);
    assert_false(there("Shop-6-20260104.gclog"));
}

/* What is in no list stays, whatever its name: it is counted, unless it is another job's. */
static void what_is_not_listed_stays(void **state)
{
    (void)state;
    struct list all = { .count = 0 };
    struct cli_kept kept;
    put("Shop-1-20260101.gclog", 10, 500);
    put("Shop-2-20260102.gclog", 10, 400);
    put("Shop-3-20260103.gclog", 10, 300);
    put("Shop-4-20260104.gclog", 10, 200);
    struct cli_template *t = template_in_folder("%n-2-%Y%m%d.gclog");
    assert_true(cli_template_each(t, &values, add_to_list, &all, NULL));
    cli_template_free(t);
    t = template_in_folder("%n-3-%Y%m%d.gclog");
    assert_true(cli_template_each(t, &values, add_to_list, &all, NULL));
    cli_template_free(t);
    assert_int_equal(all.count, 2);
    t = template_in_folder(TEXT);
    struct cli_keep keep = { .files = 1,
                             .listed = all.files,
                             .listed_count = 1,
                             .others = all.files + 1,
                             .other_count = 1 };
    all.files[0].changed.tv_sec--; /* another file with the same inode */
    assert_int_equal(cli_keep_apply(&keep, t, &values, 1, &kept), CLI_DONE);
    assert_true(kept.removed == 0 && kept.unlisted == 3);
    all.files[0].changed.tv_sec++;
    assert_int_equal(cli_keep_apply(&keep, t, &values, 1, &kept), CLI_DONE);
    assert_true(kept.removed == 1 && kept.unlisted == 2);
    assert_true(there("Shop-1-20260101.gclog") && !there("Shop-2-20260102.gclog") &&
                there("Shop-3-20260103.gclog") && there("Shop-4-20260104.gclog"));
    cli_template_free(t);
}

/* A file of this run, here "2": it counts, but it stays. */
static void those_of_the_run_stay(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct stat st;
    put("Shop-1-20260101.gclog", 10, 500);
    put("Shop-2-20260102.gclog", 10, 400);
    put("Shop-3-20260103.gclog", 10, 300);
    put("Shop-4-20260104.gclog", 10, 200);
    (void)snprintf(path, sizeof path, "%s/Shop-2-20260102.gclog", folder);
    assert_int_equal(stat(path, &st), 0);
    struct cli_keep_id own = { .device = st.st_dev, .inode = st.st_ino };
    assert_int_equal(apply(TEXT, (struct cli_keep){ .files = 4, .own = &own, .own_count = 1 }, 1),
                     1);
    assert_true(!there("Shop-1-20260101.gclog") && there("Shop-2-20260102.gclog"));
    assert_int_equal(
        apply(TEXT, (struct cli_keep){ .total_bytes = 30, .own = &own, .own_count = 1 }, 10), 1);
    assert_true(!there("Shop-3-20260103.gclog") && there("Shop-2-20260102.gclog"));
    assert_int_equal(
        apply(TEXT, (struct cli_keep){ .files = 1, .own = &own, .own_count = 1 }, UINT64_MAX), 1);
    assert_true(!there("Shop-4-20260104.gclog") && there("Shop-2-20260102.gclog"));
}

/* Files from the future: they take no later dump's place, and are never the newest. */
static void those_of_the_future(void **state)
{
    (void)state;
    put("Shop-1-20260101.gclog", 10, 500);
    put("Shop-2-20260102.gclog", 10, -5 * 86400);
    put("Shop-3-20260103.gclog", 10, -3 * 86400);
    struct cli_template *t = template_in_folder(TEXT);
    struct stat st;
    assert_true(cli_keep_newest(t, &values, &st));
    assert_true(st.st_mtim.tv_sec <= time(NULL) - 500);
    struct cli_template_values v = values;
    v.this_process = true;
    assert_false(cli_keep_newest(t, &v, &st)); /* 4711 has none */
    put("Shop-4711-20260103.gclog", 10, 900);
    put("Shop-47110-20260103.gclog", 10, 800);
    assert_true(cli_keep_newest(t, &v, &st));
    assert_true(st.st_mtim.tv_sec <= time(NULL) - 900);
    cli_template_free(t);
    assert_int_equal(apply(TEXT, (struct cli_keep){ .days = 1 }, 1), 0);
    assert_int_equal(apply(TEXT, (struct cli_keep){ .files = 5 }, 1), 1);
    assert_true(there("Shop-1-20260101.gclog") && there("Shop-2-20260102.gclog") &&
                !there("Shop-3-20260103.gclog"));
    assert_int_equal(apply(TEXT, (struct cli_keep){ .files = 4 }, 1), 1);
    assert_true(there("Shop-1-20260101.gclog") && !there("Shop-2-20260102.gclog"));
}

static void names_of_programs(void **state)
{
    (void)state;
    static const char *const want[][3] = {
        { "Shop", "/app/Shop --plugin x.dll", "Shop" },
        { "dotnet", "dotnet /my app/My.Shop.dll --with b.dll", "My.Shop" },
        { "dotnet", "dotnet --depsfile a.json ./Shop.dll", "Shop" },
        { "dotnet", "dotnet run", "dotnet" },
        { "dotnet", "", "dotnet" },
        { "dotnet", "dotnet .dll /.dll x", "dotnet" },
        { "dotnet", "dotnet a.dll", "a" },
    };
    char name[16];
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        job_process_name(want[i][0], want[i][1], name, sizeof name);
        assert_string_equal(name, want[i][2]);
    }
    job_process_name("dotnet", "dotnet a-name-longer-than-that.dll", name, sizeof name);
    assert_string_equal(name, "a-name-longer-t");
}

/* A process chooses its name, but cannot remove the dumps of others by it. */
static void dumps_of_other_names_stay(void **state)
{
    (void)state;
    static const char *const takers[] = { "a/b", "a\nb", "a%2Fb", ".a_b", "a_b-1", "a" };
    static const char *const theirs[] = { "a_b-1-20260101.gclog", "a_b-2-20260101.gclog",
                                          "a_b-1-3-20260102.gclog" };
    struct cli_template *t = template_in_folder(TEXT);
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
        put(theirs[i], 9, 99);
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++) {
        struct cli_template_values v = values;
        uint64_t removed;
        struct stat st;
        v.name = takers[i];
        assert_true(cli_keep_newest(t, &v, &st) == (strcmp(takers[i], "a_b-1") == 0));
        assert_int_equal(keep_listed((struct cli_keep){ .files = 1 }, t, &v, 0, &removed),
                         CLI_DONE);
        assert_int_equal(removed, strcmp(takers[i], "a_b-1") == 0);
    }
    assert_true(there(theirs[0]) && there(theirs[1]) && !there(theirs[2]));
    cli_template_free(t);
}

static void strangers_stay(void **state)
{
    (void)state;
    static const char *const strangers[] = {
        "Shop-1-20260101.gclog.gz",  "xShop-1-20260101.gclog",
        "Shop-1-20261301.gclog",     "Shop-1-2026010.gclog",
        "Shop--20260101.gclog",      "Shop-x-20260101.gclog",
        "shop-1-20260101.gclog",     "Shop-1-20260132.gclog",
        "Shop-1-20260101.gclo",      "Shop-123456789012345678901-20260101.gclog",
        "Shopping-1-20260101.gclog", "Shop-1-20260101.gclog/Shop-1-20260101.gclog",
    };
    for (size_t i = 0; i + 1 < sizeof strangers / sizeof *strangers; i++)
        put(strangers[i], 1, 9);
    put("Shop-2-20260101.gclog/Shop-1-20260101.gclog", 1, 9); /* a folder of that name */
    char link[PATH_MAX];
    (void)snprintf(link, sizeof link, "%s/Shop-3-20260101.gclog", folder);
    assert_int_equal(symlink("xShop-1-20260101.gclog", link), 0);
    put("Shop-4-20260101.gclog", 1, 9);
    assert_int_equal(apply(TEXT, (struct cli_keep){ .files = 1 }, 0), 1);
    assert_false(there("Shop-4-20260101.gclog"));
    for (size_t i = 0; i + 1 < sizeof strangers / sizeof *strangers; i++)
        assert_true(there(strangers[i]));
    assert_true(there("Shop-2-20260101.gclog/Shop-1-20260101.gclog") &&
                there("Shop-3-20260101.gclog"));
}

/* A link among the folders with fields is not followed; in front of them it is. */
static void folders_and_links(void **state)
{
    (void)state;
    char from[PATH_MAX];
    put("real/2026/11/Shop-1.gclog", 1, 9);
    put("real/2025/12/Shop-2.gclog", 1, 99);
    put("foreign/11/Shop-3.gclog", 1, 999);
    (void)snprintf(from, sizeof from, "%s/real/2024", folder);
    assert_int_equal(symlink("../foreign", from), 0);
    (void)snprintf(from, sizeof from, "%s/alias", folder);
    assert_int_equal(symlink("real", from), 0);
    assert_int_equal(apply("alias/%Y/%m/%n-%p.gclog", (struct cli_keep){ .files = 2 }, 0), 1);
    assert_true(there("real/2026/11/Shop-1.gclog") && !there("real/2025/12/Shop-2.gclog") &&
                there("foreign/11/Shop-3.gclog"));
    assert_int_equal(apply("nowhere/%Y/%m/%n-%p.gclog", (struct cli_keep){ .files = 1 }, 0), 0);
    struct stat st;
    struct cli_template *t = template_in_folder("alias/%Y/%m/%n-%p.gclog");
    assert_true(cli_keep_newest(t, &values, &st));
    cli_template_free(t);
    t = template_in_folder("alias/new/%Y/%m/%n-%p.gclog");
    assert_false(cli_keep_newest(t, &values, &st));
    assert_int_equal(cli_template_make_folders(t, &values), CLI_DONE);
    assert_int_equal(cli_template_make_folders(t, &values), CLI_DONE);
    (void)snprintf(from, sizeof from, "%s/real/new/2026/11", folder);
    assert_int_equal(lstat(from, &st), 0);
    assert_true(S_ISDIR(st.st_mode) && (st.st_mode & 07777) == 0700);
    cli_template_free(t);
    (void)snprintf(from, sizeof from, "%s/real/Shop", folder);
    assert_int_equal(symlink("../foreign", from), 0);
    t = template_in_folder("alias/%n/%p.gclog");
    assert_int_equal(cli_template_make_folders(t, &values), CLI_FAILED);
    assert_non_null(strstr(said, "alias/Shop: cannot be used as a folder"));
    cli_template_free(t);
}

/* Other users' links are not followed: nothing is made or removed through them. */
static void links_of_others(void **state)
{
    (void)state;
    char link[PATH_MAX];
    struct stat st;
    if (geteuid() != 0)
        skip(); /* only root can make links of another user */
    put("victim/Shop-1.gclog", 1, 99);
    put("victim/Shop-2.gclog", 1, 9);
    put("victim/.x.gclog.1-0.gcdumpc-tmp", 1, 9);
    (void)snprintf(link, sizeof link, "%s/theirs", folder);
    assert_int_equal(symlink("victim", link), 0);
    /* one of our own */
    assert_int_equal(apply("theirs/%n-%p.gclog", (struct cli_keep){ .files = 2 }, 0), 1);
    assert_false(there("victim/Shop-1.gclog"));
    put("victim/Shop-1.gclog", 1, 99);
    assert_int_equal(lchown(link, 12345, 12345), 0);
    struct cli_template *t = template_in_folder("theirs/%n-%p.gclog");
    uint64_t removed = 0;
    assert_int_equal(keep_listed((struct cli_keep){ .files = 1 }, t, &values, 0, &removed),
                     CLI_FAILED);
    assert_true(removed == 0 && there("victim/Shop-1.gclog"));
    assert_false(cli_keep_newest(t, &values, &st));
    cli_template_sweep(t, &values);
    assert_true(there("victim/.x.gclog.1-0.gcdumpc-tmp"));
    cli_template_free(t);
    t = template_in_folder("theirs/new/%n/%p.gclog");
    assert_int_equal(cli_template_make_folders(t, &values), CLI_FAILED);
    assert_non_null(strstr(said, "/theirs: cannot be used as a folder: Not a directory"));
    assert_false(there("victim/new"));
    cli_template_free(t);
}

/* Left-overs of a run killed on another day, in a folder that gets no more files. */
static void left_overs(void **state)
{
    (void)state;
    static const char *const stay[] = { "2026/01/Shop/.x.gclog.gcdumpc-tmp",
                                        "2026/01/Other/.x.1-0.gcdumpc-tmp",
                                        "2026/xx/Shop/.x.1-0.gcdumpc-tmp", "2026/02/Shop/x.gclog",
                                        "2026/.x.1-0.gcdumpc-tmp" };
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++)
        put(stay[i], 1, 9);
    put("2026/01/Shop/.x.gclog.1-0.gcdumpc-tmp", 1, 9);
    put("2026/02/Shop/.x.csv.1-1.gcdumpc-tmp/gcdumpc-folder/objects.csv", 1, 9);
    put("2026/03/Shop/.x.gclog.1-0.gcdumpc-tmp", 1, 9);
    put("2025/12/Shop/.x.gclog.1-0.gcdumpc-tmp", 1, 9);
    put("2024/12/Shop/x.gclog", 1, 9);
    put("2024/11/Shop/1.gclog", 1, 999);
    struct cli_template *t = template_in_folder("%Y/%m/%n/%p.gclog");
    cli_template_sweep(t, &values);
    cli_template_free(t);
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++)
        assert_true(there(stay[i]));
    assert_false(there("2026/01/Shop/.x.gclog.1-0.gcdumpc-tmp") ||
                 there("2026/02/Shop/.x.csv.1-1.gcdumpc-tmp"));
    assert_false(there("2026/03") || there("2025"));
    assert_true(there("2024/11/Shop/1.gclog"));
    assert_int_equal(apply("%Y/%m/%n/%p.gclog", (struct cli_keep){ .files = 1 }, 1), 1);
    assert_true(!there("2024/11") && there("2024/12"));
}

/* In another user's folder, any name can stand for any file of ours. */
static void folders_of_others(void **state)
{
    (void)state;
    static const char *const templates[] = { "theirs/%n-%p.gclog", "theirs/ours/%n-%p.gclog",
                                             "theirs/%n/%p.gclog" };
    char theirs[PATH_MAX];
    if (geteuid() != 0)
        skip(); /* only root can make folders of another user */
    static const char *const files[] = { "theirs/Shop-1.gclog",      "theirs/Shop-2.gclog",
                                         "theirs/ours/Shop-1.gclog", "theirs/ours/Shop-2.gclog",
                                         "theirs/Shop/1.gclog",      "theirs/Shop/2.gclog" };
    static const char left_over[] = "theirs/ours/.x.gclog.1-0.gcdumpc-tmp";
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        put(files[i], 1, 99 + (time_t)i);
    put(left_over, 1, 9);
    (void)snprintf(theirs, sizeof theirs, "%s/theirs", folder);
    for (int ours = 0; ours < 2; ours++) {
        assert_int_equal(chown(theirs, ours ? 0 : 12345, 0), 0);
        for (size_t i = 0; i < sizeof templates / sizeof *templates; i++) {
            struct cli_template *t = template_in_folder(templates[i]);
            uint64_t removed = 9;
            enum cli_exit e = keep_listed((struct cli_keep){ .files = 2 }, t, &values, 0, &removed);
            assert_int_equal(e, ours ? CLI_DONE : CLI_FAILED);
            assert_int_equal(removed, ours);
            assert_true(ours || strstr(said, "belongs to another user") != NULL);
            assert_int_equal(keep_listed((struct cli_keep){ .files = 9 }, t, &values, 0, &removed),
                             CLI_DONE);
            cli_template_sweep(t, &values);
            cli_template_free(t);
        }
        for (size_t i = 0; i < sizeof files / sizeof *files; i++)
            assert_true(there(files[i]) == (!ours || i % 2 == 0));
        assert_true(there(left_over) == !ours);
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(names),
        TEST(names_that_are_too_long),
        TEST(every_name_has_a_spelling_of_its_own),
        TEST(names_that_are_none),
        TEST(what_keeps_names_apart),
        TEST(where_a_name_ends),
        TEST(dumps_of_other_names_stay),
        TEST(the_oldest_go),
        TEST(what_is_not_listed_stays),
        TEST(those_of_the_run_stay),
        TEST(those_of_the_future),
        TEST(names_of_programs),
        TEST(strangers_stay),
        TEST(folders_and_links),
        TEST(links_of_others),
        TEST(folders_of_others),
        TEST(left_overs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
