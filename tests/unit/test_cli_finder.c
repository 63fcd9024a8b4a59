/* The candidates for the file of a module, their order, and which are certain.  The process is this
 * one or a child. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <gcdumpc/gcdumpc.h>

#include "modules/finder.h"
#include "support/bundle_file.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/tb.h"

static char folder[FOLDER_BYTES];
static struct gcd_error err;

static int setup(void **state)
{
    (void)state;
    return make_folder(folder);
}

static int teardown(void **state)
{
    (void)state;
    if (getuid() == 0 && geteuid() != 0) /* if a check failed before the mapping was released */
        (void)syscall(SYS_setresuid, -1, 0, -1);
    return remove_folder(folder);
}

static const char *in_folder(const char *name)
{
    return path_in_folder(folder, name);
}

static void put_text(const char *name, const char *text)
{
    fill_file(in_folder(name), text, strlen(text));
}

/* Makes it years old; only its ctime, which every change sets, is new. */
static void make_old(const char *name)
{
    assert_int_equal(
        utimensat(AT_FDCWD, in_folder(name), (struct timespec[2]){ { 1000, 0 }, { 1000, 0 } }, 0),
        0);
}

/* ---- the candidates as text: "CONTENT", "CONTENT!" when it is certain, an error in brackets ----
 */

static void describe(gcd_status st, struct gcd_module_file *file,
                     const struct gcd_module_files *files, char *ret, size_t cap)
{
    char content[32] = "";
    size_t n = 0;
    if (st != GCD_OK) {
        (void)snprintf(ret, cap, "[%s]", err.msg);
        return;
    }
    assert_int_equal(gcd_input_read_at(file->input, file->off, content,
                                       file->bytes < 20 ? (size_t)file->bytes : 20, &n, &err),
                     GCD_OK);
    (void)snprintf(ret, cap, "%s%s", content, file->certain ? "!" : "");
    files->close(files->ctx, file);
}

/* The folder of the test is printed as F. */
static void shorten(char *text)
{
    for (char *p; (p = strstr(text, folder)) != NULL;) {
        *p = 'F';
        memmove(p + 1, p + strlen(folder), strlen(p + strlen(folder)) + 1);
    }
}

static void check(struct module_finder *f, const char *path, const char *want)
{
    struct gcd_module_files files = module_finder_files(f);
    const struct gcd_module module = { .path = path };
    struct gcd_module_file file;
    char got[1024] = "", one[600], again[600];
    unsigned n = 0;
    for (gcd_status st; (st = files.open(files.ctx, &module, n, &file, &err)) != GCD_END; n++) {
        assert_true(n < 20);
        describe(st, &file, &files, one, sizeof one);
        (void)snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", n > 0 ? " " : "", one);
    }
    shorten(got);
    assert_string_equal(got, want);
    if (n == 0)
        return;
    /* the last one again, out of order */
    describe(files.open(files.ctx, &module, n - 1, &file, &err), &file, &files, again,
             sizeof again);
    assert_string_equal(again, one);
}

/* Every module of the process that is in the folder, with its path. */
static void check_loaded(struct module_finder *f, const char *want)
{
    struct gcd_module_files files = module_finder_files(f);
    struct gcd_module_file file;
    char got[2048] = "", one[600];
    gcd_status st;
    for (unsigned n = 0; (st = files.open(files.ctx, NULL, n, &file, &err)) != GCD_END; n++) {
        assert_true(n < 1000);
        const char *path = st == GCD_OK ? file.path : "";
        describe(st, &file, &files, one, sizeof one);
        if (strncmp(path, folder, strlen(folder)) == 0 || st != GCD_OK)
            (void)snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s=%s",
                           got[0] != '\0' ? " " : "", path, one);
    }
    shorten(got);
    assert_string_equal(got, want);
}

static const struct gcd_summary nothing = { .trace.start_unix_ms = INT64_MIN,
                                            .command_line = "",
                                            .process_name = "" };

static struct module_finder *finder_of(const struct module_search *search)
{
    struct module_finder *f = module_finder_new(search);
    assert_non_null(f);
    return f;
}

/* ---- a living process ---- */

static void *map(const char *name)
{
    int fd = open(in_folder(name), O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    void *at = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_true(at != MAP_FAILED);
    (void)close(fd);
    return at;
}

static void files_of_a_process(void **state)
{
    (void)state;
    struct module_search search = { .pid = (uint32_t)getpid(), .summary = &nothing };
    /* which differs from one kind of machine to the other */
    char self[256], header[32] = "";
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(n > 0);
    self[n] = '\0';
    int fd = open(self, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && read(fd, header, 20) == 20 && close(fd) == 0);
    assert_memory_equal(header,
                        "\x7f"
                        "ELF",
                        4);
    (void)strcat(header, "!");
    put_text("New.dll", "new");
    put_text("Old.dll", "old");
    put_text("Unmapped.dll", "unmapped");
    make_old("Old.dll");
    assert_int_equal(mkfifo(in_folder("Pipe.dll"), 0600), 0);
    assert_int_equal(symlink("New.dll", in_folder("Link.dll")), 0);
    void *a = map("New.dll"), *b = map("Old.dll");
    struct module_finder *f = finder_of(&search);
    check(f, self, header);
    check(f, in_folder("New.dll"), "new");
    /* its content is older than the process, but it was moved there later */
    check(f, in_folder("Old.dll"), "old");
    check(f, in_folder("Unmapped.dll"), "unmapped");
    check(f, in_folder("Link.dll"), "new");
    check(f, in_folder("Pipe.dll"), "[is a pipe, not a file]");
    check(f, in_folder("Missing.dll"), "");
    check(f, folder, "[is a folder, not a file]");
    check(f, "New.dll", ""); /* relative to an unknown folder */
    check(f, "", "");
    check_loaded(f, "F/New.dll=new F/Old.dll=old");
    /* older than the process, but not mapped: a link may have pointed elsewhere when the module was
     * loaded */
    struct gcd_module_files files = module_finder_files(f);
    struct gcd_module_file file;
    assert_int_equal(
        files.open(files.ctx, &(struct gcd_module){ .path = "/etc/passwd" }, 0, &file, &err),
        GCD_OK);
    assert_false(file.certain);
    files.close(files.ctx, &file);
    module_finder_free(f);
    (void)munmap(a, 1);
    (void)munmap(b, 1);
}

/* Kernels let only the administrator follow the links of /proc/PID/map_files. */
static bool map_files_work(const void *mapped)
{
    char path[96];
    uintptr_t at = (uintptr_t)mapped;
    (void)snprintf(path, sizeof path, "/proc/self/map_files/%jx-%jx", (uintmax_t)at,
                   (uintmax_t)at + (uintmax_t)sysconf(_SC_PAGESIZE));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        (void)close(fd);
    return fd >= 0;
}

static void files_that_were_deleted(void **state)
{
    (void)state;
    struct module_search search = { .pid = (uint32_t)getpid(), .summary = &nothing };
    put_text("Gone.dll", "gone");
    put_text("Replaced.dll", "first");
    put_text("Young.dll", "young");
    make_old("Gone.dll");
    make_old("Replaced.dll");
    void *mapped[] = { map("Gone.dll"), map("Replaced.dll"), map("Young.dll") };
    assert_int_equal(unlink(in_folder("Gone.dll")), 0);
    assert_int_equal(unlink(in_folder("Young.dll")), 0);
    put_text("Next.dll", "second");
    assert_int_equal(rename(in_folder("Next.dll"), in_folder("Replaced.dll")), 0);
    bool root = map_files_work(mapped[0]);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(chmod(in_folder("Replaced.dll"), 0644), 0);
    struct module_finder *f = finder_of(&search);
    if (root) {
        check(f, in_folder("Gone.dll"), "gone!");
        check(f, in_folder("Young.dll"), "young");
        check(f, in_folder("Replaced.dll"), "second first!");
        check_loaded(f, "F/Gone.dll=gone! F/Replaced.dll=first! F/Young.dll=young");
        assert_int_equal(syscall(SYS_setresuid, -1, 65534, -1), 0);
    }
    check(f, in_folder("Gone.dll"),
          "[was deleted or replaced, and only root can still read what the process maps]");
    check(f, in_folder("Replaced.dll"), "second");
    if (root)
        assert_int_equal(syscall(SYS_setresuid, -1, 0, -1), 0);
    module_finder_free(f);
    for (size_t i = 0; i < sizeof mapped / sizeof *mapped; i++)
        (void)munmap(mapped[i], 1);
}

/* The pid was reused: the recording is older than the process. */
static void another_process_with_this_number(void **state)
{
    (void)state;
    struct gcd_summary summary = nothing;
    struct module_search search = { .pid = (uint32_t)getpid(), .summary = &summary };
    put_text("Shop.dll", "here");
    void *a = map("Shop.dll");
    summary.trace.start_unix_ms = 1000;
    struct module_finder *f = finder_of(&search);
    check(f, in_folder("Shop.dll"), "here");
    check_loaded(f, "");
    module_finder_free(f);
    (void)munmap(a, 1);
    search.pid = 0;
    f = finder_of(&search);
    check(f, in_folder("Shop.dll"), "here");
    check(f, in_folder("Missing.dll"), "");
    module_finder_free(f);
}

/* Process 1 belongs to root.  Its paths may exist on this machine. */
static void a_process_behind_a_closed_door(void **state)
{
    (void)state;
    struct module_search search = { .pid = 1, .summary = &nothing };
    char target[8];
    bool root = geteuid() == 0;
    put_text("Shop.dll", "here");
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(chmod(in_folder("Shop.dll"), 0644), 0);
    if (root)
        assert_int_equal(syscall(SYS_setresuid, -1, 65534, -1), 0);
    bool closed = readlink("/proc/1/root", target, sizeof target) < 0;
    struct module_finder *f = finder_of(&search);
    if (closed) {
        check(f, in_folder("Shop.dll"), "here");
        check(f, in_folder("Missing.dll"),
              "[cannot look at the files of the process: Permission denied]");
        check(f, "", "");
        check_loaded(f, "");
    }
    module_finder_free(f);
    if (root)
        assert_int_equal(syscall(SYS_setresuid, -1, 0, -1), 0);
    if (!closed)
        skip();
}

/* ---- single-file programs ---- */

static const struct bundle_part parts[] = {
    { .path = "Shop.dll", .bytes = "shop", .n = 4 },
    { .path = "de/Shop.resources.dll", .bytes = "german", .n = 6 },
    { .path = "fr/Shop.resources.dll", .bytes = "french", .n = 6, .compressed = true },
};
#define PARTS (sizeof parts / sizeof *parts)

static void read_all(const char *path, struct tb_bytes *ret)
{
    char buf[65536];
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    *ret = (struct tb_bytes){ .n = 0 };
    for (size_t n; (n = fread(buf, 1, sizeof buf, f)) > 0;)
        tb_put(ret, buf, n);
    (void)fclose(f);
}

/* A copy of this program followed by the assemblies; CUT bytes are missing at the end. */
static void make_program(const char *name, size_t cut)
{
    struct tb_bytes self, all;
    read_all("/proc/self/exe", &self);
    bundle_file(&all, self.n, 6, parts, PARTS);
    memcpy(all.p, self.p, self.n);
    fill_file(in_folder(name), all.p, all.n - cut);
    assert_int_equal(chmod(in_folder(name), 0700), 0);
    tb_free(&self);
    tb_free(&all);
}

static pid_t start(const char *name)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)alarm(60); /* if a check fails, nothing else ends it */
        (void)dup2(ready[1], STDOUT_FILENO);
        (void)execl(in_folder(name), name, "--wait", (char *)NULL);
        _exit(1);
    }
    (void)close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    return pid;
}

static void stop(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_single_file_program(void **state)
{
    (void)state;
    make_program("Shop", 0);
    pid_t pid = start("Shop");
    struct module_search search = { .pid = (uint32_t)pid, .summary = &nothing };
    struct module_finder *f = finder_of(&search);
    /* from an earlier deployment that was not a single file */
    put_text("Shop.dll", "stale");
    check(f, in_folder("Shop.dll"), "shop! stale");
    check(f, in_folder("de/Shop.resources.dll"), "german! french");
    check(f, in_folder("fr/Shop.resources.dll"), "german french!");
    check(f, "/elsewhere/Shop.dll", "shop");
    check(f, "/elsewhere/Other.dll", "");
    check_loaded(
        f, "F/Shop.dll=shop! F/de/Shop.resources.dll=german! F/fr/Shop.resources.dll=french!");
    module_finder_free(f);
    stop(pid);
}

/* The manifest is at the end of the file; the files in front of the damage are still readable. */
static void a_damaged_single_file_program(void **state)
{
    (void)state;
    make_program("Shop", 5);
    pid_t pid = start("Shop");
    struct module_search search = { .pid = (uint32_t)pid, .summary = &nothing };
    struct module_finder *f = finder_of(&search);
    check(f, in_folder("Shop.dll"), "shop!");
    check(f, in_folder("Other.dll"), "[the program: the file ends early]");
    module_finder_free(f);
    stop(pid);
}

/* ---- --modules ---- */

static void folders_in_order(void **state)
{
    (void)state;
    char first[256], second[256];
    const char *const folders[] = { first, second };
    struct module_search search = { .folders = folders, .folder_count = 2, .summary = &nothing };
    (void)snprintf(first, sizeof first, "%s/first", folder);
    (void)snprintf(second, sizeof second, "%s/second", folder);
    assert_int_equal(
        mkdir(first, 0700) | mkdir(second, 0700) | mkdir(in_folder("first/deep"), 0700), 0);
    put_text("first/deep/Shop.dll", "deep");
    put_text("first/SHOP.dll", "first");
    put_text("second/shop.dll", "second");
    put_text("Shop.dll", "here");
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    assert_int_equal(symlink("../pipe", in_folder("second/Pipe.dll")), 0);
    struct module_finder *f = finder_of(&search);
    check(f, in_folder("Shop.dll"), "first deep second here");
    check(f, "C:\\shop\\bin\\Shop.dll", "first deep second");
    check(f, "/srv/a\\Shop.dll", ""); /* on Linux a file name may contain a backslash */
    check(f, "C:\\shop\\Pipe.dll", "[F/second/Pipe.dll: is a pipe, not a file]");
    check_loaded(f, "");
    assert_false(module_finder_cut(f));
    module_finder_free(f);
    /* only there: not what is at the recorded path */
    search.folders_only = true;
    f = finder_of(&search);
    check(f, in_folder("Shop.dll"), "first deep second");
    check(f, "C:\\shop\\bin\\Shop.dll", "first deep second");
    module_finder_free(f);
    search.folders_only = false;
    /* a living process: its own files first */
    search.pid = (uint32_t)getpid();
    f = finder_of(&search);
    check(f, in_folder("Shop.dll"), "here first deep second");
    module_finder_free(f);
}

static void bundles_in_folders(void **state)
{
    (void)state;
    const char *const folders[] = { folder };
    struct gcd_module modules[] = { { .path = "C:\\x\\Shop.dll" }, { .path = "C:\\x\\Other.dll" } };
    struct gcd_summary summary = { .command_line = "/srv/run/Store --fast",
                                   .process_name = "",
                                   .modules = modules,
                                   .module_count = 2 };
    struct module_search search = { .folders = folders, .folder_count = 1, .summary = &summary };
    make_program("Store", 0);
    struct module_finder *f = finder_of(&search);
    check(f, "C:\\x\\Shop.dll", "shop");
    check(f, "C:\\x\\de\\Shop.resources.dll", "german french");
    check(f, "C:\\x\\Other.dll", "");
    module_finder_free(f);
    /* its name comes from a module, not from the command line; a bundle is the last resort */
    assert_int_equal(rename(in_folder("Store"), in_folder("shop.exe")), 0);
    put_text("Shop.dll", "plain");
    f = finder_of(&search);
    check(f, "C:\\x\\Shop.dll", "plain shop");
    module_finder_free(f);
    assert_int_equal(rename(in_folder("shop.exe"), in_folder("unknown")), 0);
    f = finder_of(&search);
    check(f, "C:\\x\\Shop.dll", "plain");
    module_finder_free(f);
    summary.process_name = "unknown";
    f = finder_of(&search);
    check(f, "C:\\x\\Shop.dll", "plain shop");
    module_finder_free(f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        TEST(files_of_a_process),
        TEST(files_that_were_deleted),
        TEST(another_process_with_this_number),
        TEST(a_process_behind_a_closed_door),
        TEST(a_single_file_program),
        TEST(a_damaged_single_file_program),
        TEST(folders_in_order),
        TEST(bundles_in_folders),
    };
    if (argc > 1 && strcmp(argv[1], "--wait") == 0) {
        (void)!write(STDOUT_FILENO, "x", 1);
        (void)pause();
        return 0;
    }
    /* files written in the first moments of a process count as older */
    (void)nanosleep(&(struct timespec){ .tv_nsec = 50 * 1000000L }, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
