/* Opening files by names that others can change: other users' links, and the root of a process in a
 * fake /proc. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/safe_open.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/meanwhile.h"

enum { STRANGER = 12345 };

static char folder[256];

/* NAME in the folder of the tests; "%" also means that folder. */
static const char *at(const char *name)
{
    static char path[4][8192];
    static int which;
    char *ret = path[which++ % 4];
    int n = snprintf(ret, sizeof path[0], "%s%s%s", name[0] == '%' ? folder : "",
                     name[0] == '%' ? "/" : "", name + (name[0] == '%'));
    assert_in_range(n, 0, (int)sizeof path[0] - 1);
    return ret;
}

static void put(const char *name)
{
    int fd = open(at(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, name, strlen(name)), strlen(name));
    assert_int_equal(close(fd), 0);
}

static void dir(const char *name)
{
    assert_int_equal(mkdir(at(name), 0755), 0);
}

static void link_to(const char *target, const char *name, unsigned owner)
{
    assert_int_equal(symlink(at(target), at(name)), 0);
    if (owner != geteuid())
        assert_int_equal(lchown(at(name), owner, owner), 0);
}

/* Checks that PATH is the file put as NAME; "" for a folder. */
static void leads_to(const char *path, const char *name, bool *untrusted)
{
    char text[64] = "";
    int fd = gcd_safe_open(at(path), O_RDONLY | O_NONBLOCK, untrusted);
    if (fd < 0)
        fail_msg("%s: %s", path, strerror(-fd));
    if (name[0] != '\0')
        assert_true(read(fd, text, sizeof text - 1) > 0);
    assert_string_equal(text, name);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(close(fd), 0);
    fd = gcd_safe_open(at(path), O_PATH, untrusted); /* the same file, without reading */
    assert_true(fd >= 0);
    struct stat a, b;
    assert_int_equal(fstat(fd, &a), 0);
    if (name[0] != '\0') {
        assert_int_equal(stat(at(name), &b), 0);
        assert_int_equal(a.st_ino, b.st_ino);
    }
    assert_int_equal(S_ISDIR(a.st_mode), name[0] == '\0');
    assert_int_equal(close(fd), 0);
}

static void fails(const char *path, int flags, bool *untrusted, int with)
{
    int before = dup(0), r = gcd_safe_open(at(path), flags, untrusted), after = dup(0);
    if (r != with)
        fail_msg("%s: %d %s", path, r, strerror(-r));
    assert_int_equal(before + 1, after); /* nothing is left open */
    close(before);
    close(after);
}

static int setup(void **state)
{
    (void)state;
    const char *tmp = getenv("TMPDIR");
    (void)snprintf(folder, sizeof folder, "%s/gcdumpc-way-XXXXXX", tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(folder) == NULL)
        return -1;
    dir("%a");
    dir("%a/b");
    dir("%proc");
    dir("%proc/7");
    dir("%proc/7/root");
    dir("%proc/7/root/in");
    dir("%proc/7/root/in/deep");
    put("%out");
    put("%a/file");
    put("%proc/7/root/in/file");
    put("%proc/7/root/file");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return remove_folder(folder);
}

static void ordinary_names(void **state)
{
    (void)state;
    bool untrusted = false;
    link_to("../a", "%a/up", geteuid());
    link_to("%a/up/b", "%abs", geteuid());
    for (int i = 0; i < 2; i++) {
        bool *p = i == 0 ? NULL : &untrusted;
        leads_to("%a/file", "%a/file", p);
        leads_to("%a/./b//../up/../out", "%out", p);
        leads_to("%abs/../file", "%a/file", p);
        leads_to("%a/up/up/", "", p);
        leads_to("%abs", "", p);
        leads_to("/", "", p);
        leads_to(".", "", p);
        leads_to("..", "", p);
        leads_to("/../..", "", p);
        leads_to("/proc/self/cwd/..", "", p); /* a link whose text is not a path */
        fails("", O_RDONLY, p, -ENOENT);
        fails("%a/none", O_RDONLY, p, -ENOENT);
        fails("%a/file/x", O_RDONLY, p, -ENOTDIR);
        fails("%a/file", O_RDONLY | O_DIRECTORY, p, -ENOTDIR);
    }
    assert_false(untrusted);
    assert_int_equal(chdir(folder), 0);
    leads_to("a/file", "%a/file", &untrusted);
    leads_to("a/up/../out", "%out", &untrusted);
    assert_int_equal(chdir("/"), 0);
}

/* A link in /proc to an open file opens that file, whatever its name. */
static void links_that_are_no_names(void **state)
{
    (void)state;
    bool untrusted = false;
    char name[64];
    dir("%gone");
    int folder_fd = open(at("%gone"), O_RDONLY | O_DIRECTORY | O_CLOEXEC),
        file_fd = open(at("%out"), O_RDONLY | O_CLOEXEC);
    assert_true(folder_fd >= 0 && file_fd >= 0);
    assert_int_equal(rmdir(at("%gone")), 0);
    assert_int_equal(rename(at("%out"), at("%out of sight")), 0);
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", folder_fd);
    leads_to(name, "", &untrusted);
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", file_fd);
    link_to(name, "%a/link", geteuid());
    assert_int_equal(symlink("out of sight", at("%out")), 0); /* for the comparison */
    leads_to(name, "%out", &untrusted);
    leads_to("%a/link", "%out", &untrusted);
    fails("%a/link/x", O_RDONLY, &untrusted, -ENOTDIR);
    fails("%a/link", O_RDONLY | O_DIRECTORY, &untrusted, -ENOTDIR);
    assert_false(untrusted);
    close(folder_fd);
    close(file_fd);
}

static void links_of_others(void **state)
{
    (void)state;
    bool untrusted = false;
    if (geteuid() != 0)
        skip(); /* only root can make files of another user */
    link_to("%a", "%theirs", STRANGER);
    link_to("%theirs", "%through", 0);
    link_to("%out", "%a/b/theirs", STRANGER);
    static const char *const ways[] = { "%theirs",        "%theirs/",      "%theirs/file",
                                        "%theirs/../out", "%through/file", "%a/b/theirs" };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        untrusted = false;
        fails(ways[i], O_RDONLY, &untrusted, -EACCES);
        assert_true(untrusted);
        int fd = gcd_safe_open(at(ways[i]), O_RDONLY, NULL);
        assert_true(fd >= 0);
        assert_int_equal(close(fd), 0);
    }
    untrusted = false;
    fails("%a/none", O_RDONLY, &untrusted, -ENOENT);
    assert_false(untrusted);
}

static void in_the_root_of_a_process(void **state)
{
    (void)state;
    static const char *const to_the_root[] = {
        "/", "../..", "../../../../..", "/../..", "../in/../..", "/in/../.", "deep/../../../"
    };
    char name[64], path[128];
    for (size_t i = 0; i < sizeof to_the_root / sizeof *to_the_root; i++) {
        (void)snprintf(name, sizeof name, "%%proc/7/root/in/%zu", i);
        link_to(to_the_root[i], name, geteuid());
        (void)snprintf(path, sizeof path, "%s/file", name);
        leads_to(path, "%proc/7/root/file", NULL);
        (void)snprintf(path, sizeof path, "%s/in/deep/../file", name);
        leads_to(path, "%proc/7/root/in/file", NULL);
        leads_to(name, "", NULL);
    }
    leads_to("%proc/7/root", "", NULL);
    leads_to("%proc/7/root/../../../file", "%proc/7/root/file", NULL);
    link_to("/in/file", "%proc/7/root/last", geteuid());
    leads_to("%proc/7/root/last", "%proc/7/root/in/file", NULL);
    /* a name that exists outside only */
    link_to("%out", "%proc/7/root/out", geteuid());
    fails("%proc/7/root/out", O_RDONLY, NULL, -ENOENT);
    fails("%proc/7/root/in/../../../../out2", O_RDONLY, NULL, -ENOENT);
    /* links of /proc itself are names there */
    link_to("/", "%proc/7/root/proc", geteuid());
    fails("%proc/7/root/proc/self/root", O_RDONLY, NULL, -ENOENT);
    link_to("loop", "%proc/7/root/loop", geteuid());
    fails("%proc/7/root/loop", O_RDONLY, NULL, -ELOOP);
    fails("%proc/7/root/file/x", O_RDONLY, NULL, -ENOTDIR);
    fails("%proc/7/root/file", O_RDONLY | O_DIRECTORY, NULL, -ENOTDIR);
    assert_int_equal(mkfifo(at("%proc/7/root/pipe"), 0600), 0);
    fails("%proc/7/root/pipe", O_RDONLY | O_NONBLOCK, NULL, -EINVAL);
    /* only this spelling means the root of a process */
    link_to("%out", "%proc/7/rooted", geteuid());
    leads_to("%proc/7/rooted", "%out", NULL);
    assert_false(gcd_is_in_process_root("/x/proc/7/rooted/y"));
    assert_false(gcd_is_in_process_root("/proc/x/root/y"));
    assert_false(gcd_is_in_process_root("/proc/7/y"));
    assert_false(gcd_is_in_process_root("/aproc/7/root/y"));
    assert_true(gcd_is_in_process_root("proc/7/root"));
    assert_true(gcd_is_in_process_root("/proc/7/x/proc/8/cwd/y"));
}

static void in_the_folder_of_a_process(void **state)
{
    (void)state;
    link_to("root/in", "%proc/7/cwd", geteuid());
    leads_to("%proc/7/cwd/file", "%proc/7/root/in/file", NULL);
    leads_to("%proc/7/cwd/deep/../file", "%proc/7/root/in/file", NULL);
    fails("%proc/7/cwd/../file", O_RDONLY, NULL, -EXDEV);
    link_to("/file", "%proc/7/root/in/absolute", geteuid());
    leads_to("%proc/7/cwd/absolute", "%proc/7/root/file", NULL);
    link_to("/..", "%proc/7/root/in/top", geteuid());
    leads_to("%proc/7/cwd/top/../file", "%proc/7/root/file", NULL);
}

static void links_of_others_in_a_root(void **state)
{
    (void)state;
    bool untrusted = false;
    if (geteuid() != 0)
        skip();
    link_to("/in", "%proc/7/root/theirs", STRANGER);
    fails("%proc/7/root/theirs/file", O_RDONLY, &untrusted, -EACCES);
    assert_true(untrusted);
    leads_to("%proc/7/root/theirs/file", "%proc/7/root/in/file", NULL);
}

static void too_long(void **state)
{
    (void)state;
    static char path[8192], way[4500];
    bool untrusted = false;
    memset(way, 'x', sizeof way - 1);
    (void)snprintf(path, sizeof path, "%%proc/7/root/%s", way);
    fails(path, O_RDONLY, NULL, -ENAMETOOLONG);
    way[300] = '\0';
    (void)snprintf(path, sizeof path, "%%proc/7/root/%s", way);
    fails(path, O_RDONLY, NULL, -ENAMETOOLONG);
    way[200] = '\0';
    link_to(way, "%proc/7/root/short", geteuid());
    size_t n = (size_t)snprintf(path, sizeof path, "%%proc/7/root/short");
    while (n < 4000)
        n += (size_t)snprintf(path + n, sizeof path - n, "/.");
    fails(path, O_RDONLY, NULL, -ENAMETOOLONG);
    /* inside, deeper than the limit; elsewhere, any depth */
    const char *top[] = { "%proc/7/root/in/deep", "%a/b" };
    for (int k = 0; k < 2; k++) {
        n = (size_t)snprintf(path, sizeof path, "%s", top[k]);
        for (int i = 0; i < 70; i++) {
            n += (size_t)snprintf(path + n, sizeof path - n, "/d");
            dir(path);
        }
        if (k == 0)
            fails(path, O_RDONLY, NULL, -ENAMETOOLONG);
        else
            leads_to(path, "", &untrusted);
    }
}

/* An open that would block returns EAGAIN, which must not be taken for "continue". */
static void a_file_that_is_leased(void **state)
{
    (void)state;
    bool untrusted = false;
    int fd = open(at("%out"), O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    (void)signal(SIGIO, SIG_IGN);
    if (fcntl(fd, F_SETLEASE, F_WRLCK) != 0) {
        (void)close(fd);
        skip(); /* not on every file system */
    }
    fails("%out", O_RDONLY | O_NONBLOCK, &untrusted, -EAGAIN);
    assert_int_equal(fcntl(fd, F_SETLEASE, F_UNLCK), 0);
    assert_int_equal(close(fd), 0);
    leads_to("%out", "%out", &untrusted);
}

/* Another file takes the name between the check and the opening. */
static void swap(enum meanwhile_call call, const char *name, int flags)
{
    if (call != MEANWHILE_OPEN || strcmp(name, "swapped") != 0 || (flags & O_PATH) != 0)
        return;
    meanwhile(NULL);
    assert_int_equal(renameat(AT_FDCWD, at("%other"), AT_FDCWD, at("%swapped")), 0);
}

static void another_one_by_now(void **state)
{
    (void)state;
    bool untrusted = false;
    static const char *const others[] = { "a file", "a link", "a link to it" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        put("%swapped");
        put("%seen");
        if (i == 0)
            put("%other");
        else
            link_to(i == 1 ? "%out" : "%seen", "%other", geteuid());
        if (i == 2) /* the checked file, reached by a link */
            assert_true(rename(at("%swapped"), at("%seen")) == 0 &&
                        link(at("%seen"), at("%swapped")) == 0);
        leads_to("%swapped", "%swapped", &untrusted);
        meanwhile(swap);
        fails("%swapped", O_RDONLY | O_NONBLOCK, &untrusted, -ELOOP);
        assert_int_equal(unlink(at("%swapped")), 0);
        assert_int_equal(unlink(at("%seen")), 0);
    }
    assert_false(untrusted);
}

/* A link owned by neither root nor ourselves. */
static void owners_of_files(void **state)
{
    (void)state;
    static const struct {
        uid_t owner, we;
        bool untrusted;
    } rows[] = {
        { 0, 0, false },       { 1000, 0, true },    { 0, 1000, false },
        { 1000, 1000, false }, { 1001, 1000, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct stat st = { .st_uid = rows[i].owner };
        if (geteuid() != 0 && rows[i].we != 0)
            st.st_uid = rows[i].owner == rows[i].we ? geteuid()
                        : rows[i].owner == 0        ? 0
                                                    : geteuid() + 1;
        else if (geteuid() != 0)
            continue;
        else
            assert_int_equal(seteuid(rows[i].we), 0);
        assert_true(gcd_is_untrusted_link(&st) == rows[i].untrusted);
        if (rows[i].we != 0 && getuid() == 0)
            assert_int_equal(seteuid(0), 0);
    }
}

static void the_folder_that_a_path_is_in(void **state)
{
    (void)state;
    static const struct {
        const char *path, *name;
    } cases[] = { { "%a/file", "file" }, { "%a/none", "none" }, { "%a/", "" } };
    struct stat a, b;
    bool untrusted = false;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(gcd_path_name(at(cases[i].path)), cases[i].name);
        int fd = gcd_safe_open_parent(at(cases[i].path), &untrusted);
        assert_true(fd >= 0);
        assert_true(fstat(fd, &a) == 0 && stat(at("%a"), &b) == 0 && a.st_ino == b.st_ino);
        assert_int_equal(close(fd), 0);
    }
    assert_string_equal(gcd_path_name("x"), "x");
    int fd = gcd_safe_open_parent("x", NULL);
    assert_true(fd >= 0);
    assert_true(fstat(fd, &a) == 0 && stat(".", &b) == 0 && a.st_ino == b.st_ino);
    assert_int_equal(close(fd), 0);
    char *path = malloc(PATH_MAX + 2);
    assert_non_null(path);
    memset(path, '/', PATH_MAX);
    memcpy(path + PATH_MAX, "x", 2);
    assert_int_equal(gcd_safe_open_parent(path, NULL), -ENAMETOOLONG);
    free(path);
    assert_int_equal(gcd_safe_open_parent("%none/x", NULL), -ENOENT);
    assert_false(untrusted);
}

static bool ours(const char *name)
{
    int fd = open(at(name), O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    bool ret = gcd_folder_fd_is_ours(fd);
    assert_int_equal(close(fd), 0);
    return ret;
}

/* A folder and its parents up to the root: who owns them, and who may rename entries in them. */
static void folders_of_ours(void **state)
{
    (void)state;
    dir("%f");
    dir("%f/g");
    dir("%f/g/h");
    assert_true(ours("/") && ours("%f") && ours("%f/g/h"));
    assert_int_equal(chmod(at("%f"), 0777), 0);
    assert_true(ours("%f") && !ours("%f/g") && !ours("%f/g/h"));
    assert_int_equal(chmod(at("%f"), 01777), 0);
    assert_true(ours("%f") && ours("%f/g") && ours("%f/g/h"));
    assert_int_equal(chmod(at("%f"), 02775), 0); /* of a group */
    assert_true(ours("%f/g/h"));
    link_to("%f/g", "%link", geteuid());
    assert_true(ours("%link/h"));
    assert_false(gcd_folder_fd_is_ours(-1));
    int fd = open(at("%f/g/h"), O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(rmdir(at("%f/g/h")), 0);
    /* a removed folder: any answer will do, but there is one */
    (void)gcd_folder_fd_is_ours(fd);
    assert_int_equal(close(fd), 0);
    dir("%f/g/h");
    if (geteuid() != 0)
        return; /* only root can make folders of another user */
    assert_int_equal(chown(at("%f/g"), STRANGER, STRANGER), 0);
    assert_true(ours("%f") && !ours("%f/g") && !ours("%f/g/h") && !ours("%link/h"));
    assert_int_equal(chown(at("%f/g"), 0, STRANGER), 0);
    assert_int_equal(chown(at("%f/g/h"), STRANGER, 0), 0);
    assert_true(ours("%f/g") && !ours("%f/g/h"));
}

int main(void)
{
#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(ordinary_names),
        IN_FOLDER(links_that_are_no_names),
        IN_FOLDER(links_of_others),
        IN_FOLDER(in_the_root_of_a_process),
        IN_FOLDER(in_the_folder_of_a_process),
        IN_FOLDER(links_of_others_in_a_root),
        IN_FOLDER(too_long),
        IN_FOLDER(a_file_that_is_leased),
        IN_FOLDER(the_folder_that_a_path_is_in),
        IN_FOLDER(another_one_by_now),
        IN_FOLDER(folders_of_ours),
        cmocka_unit_test(owners_of_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
