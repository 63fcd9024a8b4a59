#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <gcdumpc/io.h>
#include <gcdumpc/unstable/folders.h>
#include <gcdumpc/unstable/io/input_parts.h>
#include <gcdumpc/unstable/spool.h>

#include "support/check.h"
#include "support/folder.h"
#include "support/meanwhile.h"

static char folder[FOLDER_BYTES]; /* of the temporary files */

static const char *in_folder(const char *name)
{
    return path_in_folder(folder, name);
}

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

static void put_file(const char *name, const void *bytes, size_t n)
{
    FILE *f = fopen(in_folder(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* All bytes of a new reader; *RET_STATUS is the status that ended it. */
static size_t read_all(struct gcd_input *in, char *to, size_t cap, gcd_status *ret_status)
{
    struct gcd_reader *r;
    struct gcd_error err = GCD_ERROR_INIT;
    assert_int_equal(gcd_reader_new(in, &r, &err), GCD_OK);
    size_t used = 0, n;
    const uint8_t *p;
    while ((*ret_status = gcd_reader_next(r, &p, &n, &err)) == GCD_OK) {
        assert_true(n > 0 && n <= cap - used);
        memcpy(to + used, p, n);
        used += n;
    }
    gcd_reader_free(r);
    return used;
}

static char *big_text(size_t n)
{
    char *s = malloc(n);
    assert_non_null(s);
    uint32_t x = 1;
    for (size_t i = 0; i < n; i++) {
        x = x * 1664525 + 1013904223;
        s[i] = (char)('a' + (x >> 28));
    }
    return s;
}

static void write_to(const char *name, const char *text, size_t n)
{
    struct gcd_sink *s;
    struct gcd_error err = GCD_ERROR_INIT;
    assert_int_equal(gcd_sink_open(in_folder(name), NULL, &s, &err), GCD_OK);
    gcd_sink_write(s, text, n);
    assert_true(gcd_sink_bytes(s) == n);
    assert_int_equal(gcd_sink_commit(s, &err), GCD_OK);
    gcd_sink_free(s);
}

static void round_trip(void **state)
{
    (void)state;
    const size_t n = 1500000;
    char *text = big_text(n), *back = malloc(n);
    static const char *const names[] = { "plain", "packed.gz" };
    for (size_t i = 0; i < 2; i++) {
        write_to(names[i], text, n);
        struct stat st;
        assert_int_equal(stat(in_folder(names[i]), &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
        struct gcd_input *in;
        gcd_status end;
        assert_int_equal(gcd_input_open(in_folder(names[i]), NULL, &in, NULL), GCD_OK);
        assert_true(gcd_input_size(in) == (uint64_t)st.st_size);
        for (int pass = 0; pass < 2; pass++) {
            assert_int_equal(read_all(in, back, n, &end), n);
            assert_int_equal(end, GCD_END);
            assert_memory_equal(back, text, n);
        }
        gcd_input_free(in);
    }
    free(text);
    free(back);
}

static void two_readers_are_independent(void **state)
{
    (void)state;
    const size_t n = 900000;
    char *text = big_text(n);
    write_to("shared.gz", text, n);
    struct gcd_input *in;
    struct gcd_reader *r[2];
    assert_int_equal(gcd_input_open(in_folder("shared.gz"), NULL, &in, NULL), GCD_OK);
    size_t at[2] = { 0, 0 }, k;
    const uint8_t *p;
    for (int i = 0; i < 2; i++)
        assert_int_equal(gcd_reader_new(in, &r[i], NULL), GCD_OK);
    for (int i = 0; at[0] < n || at[1] < n; i = !i)
        if (at[i] < n) {
            assert_int_equal(gcd_reader_next(r[i], &p, &k, NULL), GCD_OK);
            assert_memory_equal(p, text + at[i], k);
            at[i] += k;
        }
    for (int i = 0; i < 2; i++)
        gcd_reader_free(r[i]);
    gcd_input_free(in);
    free(text);
}

static void nothing_appears_without_commit(void **state)
{
    (void)state;
    put_file("old", "precious", 8);
    size_t before = folder_entries(folder);
    struct gcd_sink *s;
    assert_int_equal(gcd_sink_open(in_folder("old"), NULL, &s, NULL), GCD_OK);
    gcd_sink_text(s, "new");
    assert_int_equal(folder_entries(folder), before + 1); /* the temporary file */
    gcd_sink_free(s);
    assert_int_equal(folder_entries(folder), before);
    struct gcd_input *in;
    char back[16];
    gcd_status end;
    assert_int_equal(gcd_input_open(in_folder("old"), NULL, &in, NULL), GCD_OK);
    assert_int_equal(read_all(in, back, sizeof back, &end), 8);
    assert_memory_equal(back, "precious", 8);
    gcd_input_free(in);
}

static bool closing_fails;
int __real_close(int fd);
int __wrap_close(int fd);

int __wrap_close(int fd)
{
    if (!closing_fails)
        return __real_close(fd);
    (void)__real_close(fd);
    errno = EIO;
    return -1;
}

/* A device or pipe is not synced, so close may report the loss; a file is synced before it gets its
 * name. */
static void an_error_at_the_end(void **state)
{
    (void)state;
    static const char *const paths[] = { "/dev/null", "file" };
    for (size_t i = 0; i < 2; i++) {
        struct gcd_sink *s;
        struct gcd_error err = GCD_ERROR_INIT;
        assert_int_equal(gcd_sink_open(i == 0 ? paths[i] : in_folder(paths[i]), NULL, &s, &err),
                         GCD_OK);
        gcd_sink_text(s, "text");
        assert_int_equal(gcd_sink_finish(s, NULL, &err), GCD_OK);
        closing_fails = true;
        gcd_status st = gcd_sink_commit(s, &err);
        closing_fails = false;
        assert_int_equal(st, i == 0 ? GCD_E_IO : GCD_OK);
        assert_int_equal(err.os_errno, i == 0 ? EIO : 0);
        gcd_sink_free(s);
    }
    assert_int_equal(unlink(in_folder("file")), 0);
}

static void an_output_appears_only_after_commit(void **state)
{
    (void)state;
    struct gcd_error err = GCD_ERROR_INIT;
    static const char *const names[] = { "done.txt", "done.gz" };
    for (size_t i = 0; i < 2; i++) {
        struct gcd_sink *s = NULL;
        struct stat st;
        uint64_t bytes = 0;
        assert_int_equal(gcd_sink_open(in_folder(names[i]), NULL, &s, &err), GCD_OK);
        gcd_sink_text(s, "some text");
        assert_int_equal(gcd_sink_finish(s, &bytes, &err), GCD_OK);
        assert_int_equal(stat(gcd_sink_temporary(s), &st), 0);
        assert_true(bytes == (uint64_t)st.st_size && (i == 1 || bytes == 9));
        assert_int_equal(access(in_folder(names[i]), F_OK), -1);
        assert_int_equal(gcd_sink_finish(s, &bytes, &err), GCD_OK);
        assert_int_equal(gcd_sink_commit(s, &err), GCD_OK);
        assert_int_equal(stat(in_folder(names[i]), &st), 0);
        assert_true(bytes == (uint64_t)st.st_size);
        assert_int_equal(gcd_sink_finish(s, NULL, &err), GCD_E_STATE);
        gcd_sink_free(s);
        assert_int_equal(unlink(in_folder(names[i])), 0);
    }
}

static void a_full_disk_is_noticed(void **state)
{
    (void)state;
    struct gcd_sink *s;
    struct gcd_error err = GCD_ERROR_INIT;
    assert_int_equal(gcd_sink_open("/dev/full", NULL, &s, &err), GCD_OK);
    gcd_sink_text(s, "x");
    assert_int_equal(gcd_sink_commit(s, &err), GCD_E_IO);
    assert_non_null(strstr(err.msg, "No space left"));
    gcd_sink_free(s);
}

/* Bytes of a mapped file that are in the page cache. */
static size_t cached(void *map, size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = n / page, sum = 0;
    unsigned char *in = malloc(pages);
    assert_int_equal(mincore(map, n, in), 0);
    for (size_t i = 0; i < pages; i++)
        sum += in[i] & 1u;
    free(in);
    return sum * page;
}

static void a_large_file_does_not_stay_in_memory(void **state)
{
    (void)state;
    enum { MIB = 1 << 20, ALL = 96, LEFT = 64 };
    static char part[MIB];
    struct gcd_sink *s;
    struct statfs fs;
    assert_int_equal(gcd_sink_open(in_folder("large"), NULL, &s, NULL), GCD_OK);
    for (int i = 0; i < ALL; i++) {
        memset(part, i + 1, sizeof part);
        gcd_sink_write(s, part, sizeof part);
    }
    assert_int_equal(gcd_sink_commit(s, NULL), GCD_OK);
    gcd_sink_free(s);
    int fd = open(in_folder("large"), O_RDONLY);
    char *map = mmap(NULL, (size_t)ALL * MIB, PROT_READ, MAP_SHARED, fd, 0);
    assert_true(map != MAP_FAILED);
    size_t in_cache = cached(map, (size_t)ALL * MIB);
    for (int i = 0; i < ALL; i++)
        assert_true(map[(size_t)i * MIB] == (char)(i + 1) &&
                    map[(size_t)(i + 1) * MIB - 1] == (char)(i + 1));
    assert_int_equal(fstatfs(fd, &fs), 0);
    assert_int_equal(munmap(map, (size_t)ALL * MIB), 0);
    close(fd);
    assert_int_equal(unlink(in_folder("large")), 0);
    if (fs.f_type != 0xef53 &&
        fs.f_type != 0x58465342) /* ext4, xfs; unknown for others, such as tmpfs */
        skip();
    assert_true(in_cache <= (size_t)LEFT * MIB);
}

static void impossible_outputs(void **state)
{
    (void)state;
    struct gcd_sink *s;
    struct gcd_error err = GCD_ERROR_INIT;
    assert_int_equal(gcd_sink_open(folder, NULL, &s, &err), GCD_E_ARG);
    assert_non_null(strstr(err.msg, "directory"));
    assert_int_equal(gcd_sink_open(in_folder("no/such/file"), NULL, &s, &err), GCD_E_IO);
    assert_non_null(strstr(err.msg, "folder"));
    assert_int_equal(gcd_sink_open("", NULL, &s, &err), GCD_E_ARG);
}

/* The message gives the reason, whatever the link points to. */
static void folders_behind_a_link_of_another_user(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip(); /* only root gives links away */
    char other[sizeof folder + 300], path[sizeof folder + 320], want[sizeof folder + 400];
    (void)snprintf(other, sizeof other, "%s", in_folder("other's"));
    (void)snprintf(path, sizeof path, "%s/file", other);
    static const char *const targets[] = { ".", "/nonexistent" };
    for (size_t i = 0; i < 2; i++) {
        int fd;
        struct gcd_sink *s;
        (void)snprintf(want, sizeof want, "a link of another user leads to the folder \"%s/\"",
                       other);
        struct gcd_error err = GCD_ERROR_INIT;
        assert_int_equal(symlink(targets[i], other), 0);
        assert_int_equal(lchown(other, 65534, 65534), 0);
        assert_int_equal(gcd_sink_open(path, NULL, &s, &err), GCD_E_IO);
        assert_string_equal(err.msg, want);
        assert_int_equal(err.os_errno, ENOTDIR);
        assert_int_equal(access(in_folder("file"), F_OK), -1);
        err = (struct gcd_error)GCD_ERROR_INIT;
        assert_int_equal(gcd_folder_open_parent(path, &fd, &err), GCD_E_IO);
        assert_string_equal(err.msg, want);
        assert_int_equal(gcd_folder_open(other, &fd, &err), GCD_E_IO);
        want[strlen(want) - 2] = '"';
        want[strlen(want) - 1] = '\0';
        assert_string_equal(err.msg, want);
        assert_int_equal(err.os_errno, ENOTDIR);
        assert_int_equal(unlink(other), 0);
    }
}

static unsigned looks;

/* Between the stat that sees a pipe and its opening. */
static void replace_the_pipe(enum meanwhile_call call, const char *name, int flags)
{
    (void)flags;
    if (strcmp(name, "pipe") == 0 && (call == MEANWHILE_STAT || call == MEANWHILE_OPEN) &&
        looks++ == 1)
        (void)rename(in_folder("precious"), in_folder("pipe"));
}

/* It looked like a pipe, which would not overwrite anything. */
static void a_pipe_that_becomes_a_file(void **state)
{
    (void)state;
    struct gcd_sink *s;
    struct gcd_error err = GCD_ERROR_INIT;
    char back[16];
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    put_file("precious", "kept", 4);
    meanwhile(replace_the_pipe);
    assert_int_equal(gcd_sink_open(in_folder("pipe"), NULL, &s, &err), GCD_E_IO);
    meanwhile(NULL);
    assert_string_equal(err.msg, "was replaced by a file while it was opened");
    FILE *f = fopen(in_folder("pipe"), "rb");
    assert_non_null(f);
    assert_int_equal(fread(back, 1, sizeof back, f), 4);
    assert_memory_equal(back, "kept", 4);
    assert_int_equal(fclose(f), 0);
}

static bool take_the_temporary;
int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);

/* Another gcdumpc gets the lock first, takes the file for a left-over, and removes it. */
int __wrap_flock(int fd, int operation)
{
    char path[64], name[sizeof folder + 300];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = take_the_temporary ? readlink(path, name, sizeof name - 1) : -1;
    if (n > 0) {
        take_the_temporary = false;
        name[n] = '\0';
        assert_non_null(strstr(name, "/.taken."));
        assert_int_equal(unlink(name), 0);
    }
    return __real_flock(fd, operation);
}

static void a_temporary_that_is_taken(void **state)
{
    (void)state;
    size_t before = folder_entries(folder);
    take_the_temporary = true;
    write_to("taken", "ours", 4);
    assert_false(take_the_temporary);
    assert_int_equal(folder_entries(folder), before + 1);
    assert_int_equal(access(in_folder("taken"), F_OK), 0);
}

/* Compared by identity, not by name or size. */
static void the_same_file(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool same;
    } rows[] = { { "one", true },
                 { "one's link", true },
                 { "one's name", true },
                 { "another", false },
                 { "nothing", false } };
    struct gcd_input *in;
    put_file("one", "same", 4);
    put_file("another", "same", 4);
    assert_int_equal(link(in_folder("one"), in_folder("one's name")), 0);
    assert_int_equal(symlink("one", in_folder("one's link")), 0);
    assert_int_equal(gcd_input_open(in_folder("one"), NULL, &in, NULL), GCD_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(gcd_input_is_file(in, in_folder(rows[i].name)) == rows[i].same);
    gcd_input_free(in);
}

static void impossible_inputs(void **state)
{
    (void)state;
    struct gcd_input *in;
    struct gcd_error err = GCD_ERROR_INIT;
    assert_int_equal(gcd_input_open(folder, NULL, &in, &err), GCD_E_ARG);
    assert_non_null(strstr(err.msg, "directory"));
    assert_int_equal(gcd_input_open(in_folder("missing"), NULL, &in, &err), GCD_E_IO);
    assert_non_null(strstr(err.msg, "No such file"));
}

/* A truncated gzip file gives its data and then an error; one followed by garbage is complete. */
static void gzip_that_is_not_whole(void **state)
{
    (void)state;
    const size_t n = 300000;
    char *text = big_text(n), *back = malloc(2 * n);
    write_to("whole.gz", text, n);
    struct stat st;
    assert_int_equal(stat(in_folder("whole.gz"), &st), 0);
    size_t packed_n = (size_t)st.st_size;
    uint8_t *packed = malloc(2 * packed_n + 8);
    FILE *f = fopen(in_folder("whole.gz"), "rb");
    assert_int_equal(fread(packed, 1, packed_n, f), packed_n);
    fclose(f);

    struct gcd_input *in;
    gcd_status end;
    assert_int_equal(gcd_input_from_memory(packed, packed_n - 100, NULL, &in, NULL), GCD_OK);
    size_t got = read_all(in, back, 2 * n, &end);
    assert_int_equal(end, GCD_E_TRUNCATED);
    assert_true(got > 0 && got <= n);
    assert_memory_equal(back, text, got);
    gcd_input_free(in);

    memcpy(packed + packed_n, packed, packed_n); /* two members */
    assert_int_equal(gcd_input_from_memory(packed, 2 * packed_n, NULL, &in, NULL), GCD_OK);
    assert_int_equal(read_all(in, back, 2 * n, &end), 2 * n);
    assert_int_equal(end, GCD_END);
    assert_memory_equal(back + n, text, n);
    gcd_input_free(in);

    memset(packed + packed_n, 0, 8); /* padding */
    assert_int_equal(gcd_input_from_memory(packed, packed_n + 8, NULL, &in, NULL), GCD_OK);
    assert_int_equal(read_all(in, back, 2 * n, &end), n);
    assert_int_equal(end, GCD_END);
    gcd_input_free(in);

    packed[packed_n / 2] ^= 0x55;
    assert_int_equal(gcd_input_from_memory(packed, packed_n, NULL, &in, NULL), GCD_OK);
    (void)read_all(in, back, 2 * n, &end);
    assert_int_equal(end, GCD_E_FORMAT);
    gcd_input_free(in);
    free(packed);
    free(text);
    free(back);
}

static void a_pipe_is_kept_for_the_second_reading(void **state)
{
    (void)state;
    int fd[2];
    assert_int_equal(pipe(fd), 0);
    assert_int_equal(write(fd[1], "through a pipe", 14), 14);
    close(fd[1]);
    int old_stdin = dup(0);
    assert_int_equal(dup2(fd[0], 0), 0);
    close(fd[0]);
    struct gcd_input *in, *once;
    struct gcd_input_options keep = { .reread = true, .spool_dir = folder };
    size_t before = folder_entries(folder);
    char back[32];
    gcd_status end;
    assert_int_equal(gcd_input_open("-", &keep, &in, NULL), GCD_OK);
    assert_true(gcd_input_size(in) == UINT64_MAX);
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(read_all(in, back, sizeof back, &end), 14);
        assert_memory_equal(back, "through a pipe", 14);
    }
    assert_int_equal(folder_entries(folder), before); /* the copy has no name */
    gcd_input_free(in);

    assert_int_equal(gcd_input_open("-", NULL, &once, NULL), GCD_OK);
    struct gcd_reader *r;
    (void)read_all(once, back, sizeof back, &end);
    assert_int_equal(gcd_reader_new(once, &r, NULL), GCD_E_STATE);
    gcd_input_free(once);
    assert_int_equal(dup2(old_stdin, 0), 0);
    close(old_stdin);
}

/* No copy of a pipe can be read before its first reader has reached the end. */
static void a_pipe_that_is_not_over(void **state)
{
    (void)state;
    int fd[2], old_stdin = dup(0);
    assert_int_equal(pipe(fd), 0);
    assert_int_equal(write(fd[1], "one", 3), 3);
    assert_int_equal(dup2(fd[0], 0), 0);
    close(fd[0]);
    struct gcd_input *in;
    struct gcd_input_options keep = { .reread = true, .spool_dir = folder };
    struct gcd_reader *first, *second;
    struct gcd_error err = GCD_ERROR_INIT;
    const uint8_t *p;
    char back[16];
    size_t n;
    gcd_status end;
    assert_int_equal(gcd_input_open("-", &keep, &in, NULL), GCD_OK);
    assert_int_equal(gcd_reader_new(in, &first, NULL), GCD_OK);
    assert_int_equal(gcd_reader_new(in, &second, &err), GCD_E_STATE);
    assert_int_equal(gcd_reader_next(first, &p, &n, NULL), GCD_OK);
    assert_int_equal(gcd_reader_new(in, &second, &err), GCD_E_STATE);
    assert_string_equal(err.msg, "a pipe cannot be read a second time");
    assert_int_equal(write(fd[1], "two", 3), 3);
    close(fd[1]);
    assert_int_equal(gcd_reader_next(first, &p, &n, NULL), GCD_OK);
    assert_int_equal(gcd_reader_next(first, &p, &n, NULL), GCD_END);
    gcd_reader_free(first);
    assert_int_equal(read_all(in, back, sizeof back, &end), 6);
    assert_memory_equal(back, "onetwo", 6);
    gcd_input_free(in);
    assert_int_equal(dup2(old_stdin, 0), 0);
    close(old_stdin);
}

/* A file as standard input is read from its current offset. */
static void a_file_that_has_been_read_in_part(void **state)
{
    (void)state;
    static const off_t begins[] = { 0, 1, 8, 9, 10, 20 };
    char back[16];
    gcd_status end;
    write_to("part", "012345678", 9);
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        int fd = open(in_folder("part"), O_RDONLY | O_CLOEXEC), old_stdin = dup(0);
        assert_true(fd >= 0 && lseek(fd, begins[i], SEEK_SET) == begins[i] && dup2(fd, 0) == 0);
        (void)close(fd);
        struct gcd_input *in;
        size_t left = begins[i] < 9 ? (size_t)(9 - begins[i]) : 0;
        assert_int_equal(gcd_input_open("-", NULL, &in, NULL), GCD_OK);
        assert_int_equal(gcd_input_size(in), left);
        for (int pass = 0; pass < 2; pass++) {
            assert_int_equal(read_all(in, back, sizeof back, &end), left);
            assert_memory_equal(back, &"012345678"[9] - left, left);
        }
        gcd_input_free(in);
        assert_int_equal(dup2(old_stdin, 0), 0);
        (void)close(old_stdin);
    }
    assert_int_equal(unlink(in_folder("part")), 0);
}

/* Only after probing a pipe is it known that it must be read again: the probed bytes are kept, too.
 */
static void a_pipe_is_kept_after_a_look(void **state)
{
    (void)state;
    static const struct {
        const char *before, *behind;
    } parts[] = { { "thr", "ough a pipe" }, { "through a pipe", "" }, { "t", "hrough a pipe" } };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        for (size_t want = 1; want <= strlen(parts[i].before); want++) {
            int fd[2], old_stdin = dup(0);
            assert_int_equal(pipe(fd), 0);
            assert_int_equal(dup2(fd[0], 0), 0);
            close(fd[0]);
            struct gcd_input_options keep = { .spool_dir = folder };
            struct gcd_input *in;
            uint8_t head[16];
            char back[32];
            size_t got, before = folder_entries(folder);
            gcd_status end;
            assert_int_equal(gcd_input_open("-", &keep, &in, NULL), GCD_OK);
            assert_int_equal(write(fd[1], parts[i].before, strlen(parts[i].before)),
                             strlen(parts[i].before));
            for (int again = 0; again < 2; again++) {
                assert_int_equal(gcd_input_peek(in, head, want, &got, NULL), GCD_OK);
                assert_int_equal(got, want);
                assert_memory_equal(head, "through a pipe", want);
            }
            assert_int_equal(gcd_input_keep(in, &keep, NULL), GCD_OK);
            assert_int_equal(write(fd[1], parts[i].behind, strlen(parts[i].behind)),
                             strlen(parts[i].behind));
            close(fd[1]);
            for (int pass = 0; pass < 3; pass++) {
                assert_int_equal(read_all(in, back, sizeof back, &end), 14);
                assert_int_equal(end, GCD_END);
                assert_memory_equal(back, "through a pipe", 14);
            }
            assert_int_equal(folder_entries(folder), before);
            gcd_input_free(in);
            assert_int_equal(dup2(old_stdin, 0), 0);
            close(old_stdin);
        }
    }
}

/* IN must hold TEXT, from every offset. */
static void expect_at_any_place(struct gcd_input *in, const char *text)
{
    size_t n = strlen(text), got;
    char back[64];
    gcd_status end;
    for (size_t off = 0; off <= n + 1; off++)
        for (size_t want = 0; want <= n + 1; want++) {
            memset(back, 'x', sizeof back);
            assert_int_equal(gcd_input_read_at(in, off, back, want, &got, NULL), GCD_OK);
            assert_int_equal(got, off >= n ? 0 : want < n - off ? want : n - off);
            assert_memory_equal(back, text + (off < n ? off : n), got);
            assert_int_equal(back[got], 'x');
        }
    assert_int_equal(gcd_input_size(in), n);
    assert_int_equal(read_all(in, back, sizeof back, &end), n);
    assert_memory_equal(back, text, n);
}

static void put_gzip(const char *name, const char *text)
{
    struct gcd_sink *s;
    assert_int_equal(gcd_sink_open(in_folder(name), NULL, &s, NULL), GCD_OK);
    gcd_sink_text(s, text);
    assert_int_equal(gcd_sink_commit(s, NULL), GCD_OK);
    gcd_sink_free(s);
}

static void any_place_can_be_read(void **state)
{
    (void)state;
    struct gcd_input *in;
    struct gcd_input_options options = { .spool_dir = folder };
    char back[8];
    size_t got;
    put_file("plain", "one two three", 13);
    put_gzip("packed.gz", "one two three");
    for (int i = 0; i < 2; i++) {
        const char *path = in_folder(i == 0 ? "plain" : "packed.gz");
        size_t before = folder_entries(folder);
        assert_int_equal(gcd_input_open(path, &options, &in, NULL), GCD_OK);
        assert_int_equal(gcd_input_make_seekable(in, NULL), GCD_OK);
        assert_int_equal(gcd_input_make_seekable(in, NULL), GCD_OK);
        assert_int_equal(folder_entries(folder), before);
        expect_at_any_place(in, "one two three");
        assert_true(gcd_input_is_file(in, path));
        gcd_input_free(in);
    }
    int fd[2];
    assert_int_equal(pipe(fd), 0);
    assert_int_equal(write(fd[1], "one two three", 13), 13);
    close(fd[1]);
    int old_stdin = dup(0);
    assert_int_equal(dup2(fd[0], 0), 0);
    close(fd[0]);
    assert_int_equal(gcd_input_open("-", &options, &in, NULL), GCD_OK);
    assert_int_equal(gcd_input_read_at(in, 0, back, 1, &got, NULL), GCD_E_STATE);
    assert_int_equal(gcd_input_peek(in, (uint8_t *)back, 3, &got, NULL), GCD_OK);
    assert_int_equal(gcd_input_make_seekable(in, NULL), GCD_OK);
    expect_at_any_place(in, "one two three");
    gcd_input_free(in);
    assert_int_equal(dup2(old_stdin, 0), 0);
    close(old_stdin);
}

/* Bytes on the disk of the unlinked file that this process has open; it must have BYTES. */
static uint64_t disk_bytes_of_copy(uint64_t bytes)
{
    for (int fd = 3; fd < 256; fd++) {
        struct stat st;
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0 &&
            (uint64_t)st.st_size == bytes)
            return (uint64_t)st.st_blocks * 512;
    }
    return UINT64_MAX;
}

static void a_copy_has_holes_for_zeros(void **state)
{
    (void)state;
    enum { BYTES = 8 << 20 };
    struct gcd_input *in;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_input_options options = { .spool_dir = folder };
    static uint8_t plain[BYTES], back[BYTES];
    memset(plain, 0, sizeof plain);
    memcpy(plain + 5000, "one", 3);
    memcpy(plain + (3 << 20) - 1, "two", 3);
    struct gcd_sink *s;
    assert_int_equal(gcd_sink_open(in_folder("holes.gz"), NULL, &s, NULL), GCD_OK);
    gcd_sink_write(s, plain, sizeof plain);
    assert_int_equal(gcd_sink_commit(s, NULL), GCD_OK);
    gcd_sink_free(s);
    size_t got;
    assert_int_equal(gcd_input_open(in_folder("holes.gz"), &options, &in, NULL), GCD_OK);
    assert_int_equal(gcd_input_make_seekable(in, NULL), GCD_OK);
    assert_int_equal(gcd_input_size(in), BYTES);
    assert_int_equal(gcd_input_read_at(in, 0, back, BYTES, &got, NULL), GCD_OK);
    assert_int_equal(got, BYTES);
    assert_memory_equal(back, plain, BYTES);
    assert_true(disk_bytes_of_copy(BYTES) <= BYTES / 8);
    gcd_input_free(in);
    options.most_bytes = BYTES - 1;
    assert_int_equal(gcd_input_open(in_folder("holes.gz"), &options, &in, NULL), GCD_OK);
    assert_int_equal(gcd_input_make_seekable(in, &err), GCD_E_LIMIT);
    assert_int_equal(err.reason, GCD_ERROR_COPY_LIMIT);
    gcd_input_free(in);
}

/* The bytes before the damage can be read. */
static void any_place_of_damaged_gzip(void **state)
{
    (void)state;
    struct gcd_input *in;
    char bytes[200];
    put_gzip("cut.gz", "one two three");
    FILE *f = fopen(in_folder("cut.gz"), "rb");
    assert_non_null(f);
    size_t n = fread(bytes, 1, sizeof bytes, f);
    assert_int_equal(fclose(f), 0);
    put_file("cut.gz", bytes, n - 6); /* of the 8 bytes after the data */
    assert_int_equal(gcd_input_open(in_folder("cut.gz"),
                                    &(struct gcd_input_options){ .spool_dir = folder }, &in, NULL),
                     GCD_OK);
    assert_int_equal(gcd_input_make_seekable(in, NULL), GCD_E_TRUNCATED);
    expect_at_any_place(in, "one two three");
    gcd_input_free(in);
}

static void several_are_one(void **state)
{
    (void)state;
    struct gcd_input *parts[4], *in;
    struct gcd_input_options options = { .spool_dir = folder };
    put_file("first", "one ", 4);
    put_gzip("second.gz", "two ");
    assert_int_equal(gcd_input_open(in_folder("first"), &options, &parts[0], NULL), GCD_OK);
    assert_int_equal(gcd_input_open(in_folder("second.gz"), &options, &parts[1], NULL), GCD_OK);
    assert_int_equal(gcd_input_from_memory("", 0, &options, &parts[2], NULL), GCD_OK);
    assert_int_equal(gcd_input_from_memory("three", 5, &options, &parts[3], NULL), GCD_OK);
    assert_int_equal(gcd_input_part_count(parts[0]), 1);
    assert_int_equal(gcd_input_join(parts, 4, &options, &in, NULL), GCD_OK);
    assert_int_equal(gcd_input_part_count(in), 4);
    static const uint64_t sizes[] = { 4, 4, 0, 5 };
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(gcd_input_part_size(in, i), sizes[i]);
    assert_int_equal(gcd_input_make_seekable(in, NULL), GCD_OK);
    expect_at_any_place(in, "one two three");
    assert_true(gcd_input_is_file(in, in_folder("first")));
    assert_true(gcd_input_is_file(in, in_folder("second.gz")));
    gcd_input_free(in);
}

/* The blocks of the file system cannot be counted here, but the size of the spool's descriptor can.
 */
static uint64_t bytes_on_disk(void)
{
    char link[64], target[sizeof folder + 300];
    uint64_t found = UINT64_MAX;
    for (int fd = 3; fd < 64; fd++) {
        struct stat sb;
        (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, target, sizeof target - 1);
        if (n <= 0 || fstat(fd, &sb) != 0 || !S_ISREG(sb.st_mode) || sb.st_nlink != 0)
            continue;
        target[n] = '\0';
        if (strstr(target, folder + strlen(folder) - 6) != NULL)
            found = (uint64_t)sb.st_size;
    }
    return found;
}

static void a_spool_moves_to_the_disk_when_it_is_large(void **state)
{
    (void)state;
    enum { MEMORY = 1000, STEP = 300, STEPS = 10 };
    char *text = big_text(STEP * STEPS), back[STEP * STEPS];
    struct gcd_input_options options = { .spool_dir = folder, .spool_memory_bytes = MEMORY };
    struct gcd_input *in;
    gcd_status end;
    assert_int_equal(gcd_input_new_spool(&options, &in, NULL), GCD_OK);
    assert_int_equal(read_all(in, back, sizeof back, &end), 0);
    assert_int_equal(end, GCD_END);
    for (size_t i = 0; i < STEPS; i++) {
        assert_int_equal(gcd_input_append(in, text + i * STEP, STEP, NULL), GCD_OK);
        size_t n = (i + 1) * STEP;
        assert_true(gcd_input_size(in) == n);
        assert_true(bytes_on_disk() == (n <= MEMORY ? 0 : n));
        for (int pass = 0; pass < 2; pass++) {
            assert_int_equal(read_all(in, back, sizeof back, &end), n);
            assert_memory_equal(back, text, n);
        }
    }
    gcd_input_free(in);
    assert_true(bytes_on_disk() == UINT64_MAX);
    /* the last byte that fits, and one append that never could */
    assert_int_equal(gcd_input_new_spool(&options, &in, NULL), GCD_OK);
    assert_int_equal(gcd_input_append(in, text, MEMORY, NULL), GCD_OK);
    assert_true(bytes_on_disk() == 0);
    assert_int_equal(gcd_input_append(in, text + MEMORY, 1, NULL), GCD_OK);
    assert_true(bytes_on_disk() == MEMORY + 1);
    assert_int_equal(gcd_input_append(in, text, 0, NULL), GCD_OK);
    gcd_input_free(in);
    assert_int_equal(gcd_input_new_spool(&options, &in, NULL), GCD_OK);
    assert_int_equal(gcd_input_append(in, text, sizeof back, NULL), GCD_OK);
    assert_int_equal(read_all(in, back, sizeof back, &end), sizeof back);
    assert_memory_equal(back, text, sizeof back);
    gcd_input_free(in);
    free(text);
}

/* What was stored before the disk became full can still be read, and nothing else. */
static void a_spool_without_room_keeps_what_it_has(void **state)
{
    (void)state;
    enum { LIMIT = 5000, STEP = 1500 };
    char *text = big_text(4 * STEP), back[4 * STEP];
    struct rlimit old, small;
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status end;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = LIMIT;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    for (size_t memory = 1; memory <= 3 * STEP; memory += 3 * STEP - 1) {
        struct gcd_input_options options = { .spool_dir = folder, .spool_memory_bytes = memory };
        struct gcd_input *in;
        assert_int_equal(gcd_input_new_spool(&options, &in, NULL), GCD_OK);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(gcd_input_append(in, text + i * STEP, STEP, &err), GCD_OK);
        assert_int_equal(gcd_input_append(in, text + 3 * (size_t)STEP, STEP, &err), GCD_E_IO);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        assert_non_null(strstr(err.msg, "temporary copy of the stream"));
        assert_int_equal(read_all(in, back, sizeof back, &end), 3 * STEP);
        assert_memory_equal(back, text, 3 * STEP);
        gcd_input_free(in);
    }
    (void)signal(SIGXFSZ, handler);
    free(text);
}

static void spool_and_memory(void **state)
{
    (void)state;
    struct gcd_input_options options = { .spool_dir = folder };
    struct gcd_input *in;
    char back[16];
    gcd_status end;
    assert_int_equal(gcd_input_new_spool(&options, &in, NULL), GCD_OK);
    assert_int_equal(gcd_input_append(in, "abc", 3, NULL), GCD_OK);
    assert_int_equal(gcd_input_append(in, "def", 3, NULL), GCD_OK);
    assert_int_equal(read_all(in, back, sizeof back, &end), 6);
    assert_memory_equal(back, "abcdef", 6);
    assert_true(bytes_on_disk() == 0);
    gcd_input_free(in);
    struct gcd_sink *s;
    size_t n;
    assert_int_equal(gcd_sink_new_memory(NULL, &s, NULL), GCD_OK);
    gcd_sink_text(s, "xyz");
    assert_int_equal(gcd_sink_commit(s, NULL), GCD_OK);
    assert_memory_equal(gcd_sink_memory(s, &n), "xyz", 3);
    assert_int_equal(n, 3);
    assert_int_equal(gcd_sink_commit(s, NULL), GCD_E_STATE);
    gcd_sink_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(two_readers_are_independent),
        cmocka_unit_test(nothing_appears_without_commit),
        cmocka_unit_test(a_full_disk_is_noticed),
        cmocka_unit_test(an_output_appears_only_after_commit),
        cmocka_unit_test(an_error_at_the_end),
        cmocka_unit_test(a_large_file_does_not_stay_in_memory),
        cmocka_unit_test(impossible_outputs),
        cmocka_unit_test(folders_behind_a_link_of_another_user),
        cmocka_unit_test(a_pipe_that_becomes_a_file),
        cmocka_unit_test(a_temporary_that_is_taken),
        cmocka_unit_test(the_same_file),
        cmocka_unit_test(impossible_inputs),
        cmocka_unit_test(gzip_that_is_not_whole),
        cmocka_unit_test(a_copy_has_holes_for_zeros),
        cmocka_unit_test(any_place_can_be_read),
        cmocka_unit_test(any_place_of_damaged_gzip),
        cmocka_unit_test(several_are_one),
        cmocka_unit_test(a_pipe_is_kept_for_the_second_reading),
        cmocka_unit_test(a_file_that_has_been_read_in_part),
        cmocka_unit_test(a_pipe_that_is_not_over),
        cmocka_unit_test(a_pipe_is_kept_after_a_look),
        cmocka_unit_test(spool_and_memory),
        cmocka_unit_test(a_spool_moves_to_the_disk_when_it_is_large),
        cmocka_unit_test(a_spool_without_room_keeps_what_it_has),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
