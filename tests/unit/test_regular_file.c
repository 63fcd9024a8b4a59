/* Other users' files: only regular ones are opened, and nothing blocks. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gcdumpc/unstable/regular_file.h>

#include "support/check.h"
#include "support/folder.h"

static char folder[64];
static int here; /* the working directory before the tests */

static int setup(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/gcd-regular-XXXXXX");
    here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return mkdtemp(folder) == NULL || here < 0 || chdir(folder) != 0;
}

static int teardown(void **state)
{
    (void)state;
    int r = fchdir(here);
    (void)close(here);
    return r != 0 || remove_folder(folder) != 0;
}

static void make(const char *name, const char *text)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(close(fd), 0);
}

static void opens(const char *path, const char *text, struct gcd_regular_file *ret)
{
    struct gcd_input *in = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    char got[16] = "";
    size_t n;
    assert_int_equal(gcd_input_open_regular(path, NULL, &in, ret, &err), GCD_OK);
    assert_int_equal(gcd_input_read_at(in, 0, got, sizeof got - 1, &n, &err), GCD_OK);
    assert_string_equal(got, text);
    assert_int_equal(gcd_input_size(in), strlen(text));
    gcd_input_free(in);
}

static void fails(const char *path, gcd_status want, const char *message)
{
    struct gcd_input *in = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    assert_int_equal(gcd_input_open_regular(path, NULL, &in, NULL, &err), want);
    assert_string_equal(err.msg, message);
    assert_int_equal(err.reason == GCD_ERROR_NO_FILE,
                     err.os_errno == ENOENT || err.os_errno == ENOTDIR);
    assert_null(in);
}

static void what_is_known_of_a_file(void **state)
{
    (void)state;
    struct gcd_regular_file file;
    struct stat st;
    make("plain", "content");
    assert_int_equal(utimensat(AT_FDCWD, "plain", (struct timespec[2]){ { 5, 6 }, { 7, 8 } }, 0),
                     0);
    opens("plain", "content", &file);
    assert_int_equal(stat("plain", &st), 0);
    assert_true(file.device == st.st_dev && file.inode == st.st_ino && file.bytes == 7 &&
                !file.deleted);
    assert_int_equal(file.modified_ns, 7000000008);
    assert_int_equal(file.changed_ns, (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec);
    opens("plain", "content", NULL);
    assert_int_equal(symlink("plain", "link"), 0);
    opens("link", "content", NULL);
}

static void a_file_without_a_name(void **state)
{
    (void)state;
    struct gcd_regular_file file;
    char path[64];
    make("gone", "still");
    int fd = open("gone", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(unlink("gone"), 0);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    opens(path, "still", &file);
    assert_true(file.deleted);
    (void)close(fd);
    fails("gone", GCD_E_IO, "cannot open: No such file or directory");
}

/* alarm(2) ends the test if a pipe without a writer blocks it. */
static void only_regular_files(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    make("empty", "");
    assert_int_equal(symlink("pipe", "to-pipe"), 0);
    make("plain", "content");
    (void)alarm(20);
    fails("pipe", GCD_E_ARG, "is a pipe, not a file");
    fails("to-pipe", GCD_E_ARG, "is a pipe, not a file");
    fails("/dev/null", GCD_E_ARG, "is a device, not a file");
    fails(".", GCD_E_ARG, "is a folder, not a file");
    fails("empty", GCD_E_ARG, "is empty");
    fails("/proc/self/status", GCD_E_ARG, "is a file of the kernel");
    fails("plain/below", GCD_E_IO, "cannot open: Not a directory");
    fails("", GCD_E_IO, "cannot open: No such file or directory");
    (void)alarm(0);
}

static void no_link_leads_out_of_a_process_root(void **state)
{
    (void)state;
    char path[128];
    assert_int_equal(mkdir("inside", 0700), 0);
    make("outside", "secret");
    make("inside/plain", "content");
    assert_int_equal(symlink("../outside", "inside/out"), 0);
    assert_int_equal(symlink("plain", "inside/link"), 0);
    assert_int_equal(mkfifo("inside/pipe", 0600), 0);
    assert_int_equal(chdir("inside"), 0);
    (void)snprintf(path, sizeof path, "/proc/%d/cwd/link", (int)getpid());
    opens(path, "content", NULL);
    (void)snprintf(path, sizeof path, "/proc/%d/cwd/out", (int)getpid());
    char message[80];
    (void)snprintf(message, sizeof message, "cannot open: %s", strerror(EXDEV));
    fails(path, GCD_E_IO, message);
    (void)snprintf(path, sizeof path, "/proc/%d/cwd/pipe", (int)getpid());
    fails(path, GCD_E_ARG, "is a pipe, not a file");
}

static void no_permission(void **state)
{
    (void)state;
    make("secret", "content");
    assert_int_equal(chmod("secret", 0), 0);
    if (geteuid() == 0) /* root has every permission; no other thread is concerned */
        assert_int_equal(syscall(SYS_setresuid, -1, 65534, -1), 0);
    fails("secret", GCD_E_IO, "cannot open: Permission denied");
    if (getuid() == 0)
        assert_int_equal(syscall(SYS_setresuid, -1, 0, -1), 0);
}

static void a_large_file_that_shrinks(void **state)
{
    (void)state;
    struct gcd_input *in;
    struct gcd_error err = GCD_ERROR_INIT;
    char got[8];
    size_t n;
    make("large", "x");
    assert_int_equal(truncate("large", (off_t)3 << 30), 0);
    assert_int_equal(gcd_input_open_regular("large", NULL, &in, NULL, &err), GCD_OK);
    assert_int_equal(gcd_input_size(in), UINT64_C(3) << 30);
    assert_int_equal(gcd_input_read_at(in, (UINT64_C(3) << 30) - 4, got, sizeof got, &n, &err),
                     GCD_OK);
    assert_int_equal(n, 4);
    assert_int_equal(truncate("large", 2), 0);
    assert_int_equal(gcd_input_read_at(in, 1000, got, sizeof got, &n, &err), GCD_OK);
    assert_int_equal(n, 0);
    gcd_input_free(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        TEST(what_is_known_of_a_file), TEST(a_file_without_a_name),
        TEST(only_regular_files),      TEST(no_link_leads_out_of_a_process_root),
        TEST(no_permission),           TEST(a_large_file_that_shrinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
