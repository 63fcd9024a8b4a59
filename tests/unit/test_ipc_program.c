/* What the program file of a process exports. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/process/ipc_program.h"
#include "support/tb.h"

static char proc[] = "/tmp/gcdumpc-program-XXXXXX";

static void put_number(uint8_t *p, uint64_t n, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = (uint8_t)(n >> (8 * i));
}

/* A header, the names, and three sections: none, the dynamic symbols, their names. */
#define NAMES      "\0first\0DotNetRuntimeInfoX\0DotNetRuntimeInfo\0last"
#define SECTIONS   256u
#define FILE_BYTES (SECTIONS + 3 * 64)
static void make(uint8_t f[FILE_BYTES])
{
    memset(f, 0, FILE_BYTES);
    memcpy(f, "\177ELF\2\1\1", 7);
    put_number(f + 40, SECTIONS, 8);
    put_number(f + 58, 64, 2);
    put_number(f + 60, 3, 2);
    memcpy(f + 64, NAMES, sizeof NAMES);
    put_number(f + SECTIONS + 64 + 4, 11, 4);
    put_number(f + SECTIONS + 64 + 40, 2, 4);
    put_number(f + SECTIONS + 128 + 24, 64, 8);
    put_number(f + SECTIONS + 128 + 32, sizeof NAMES, 8);
}

static bool exports(const uint8_t *f, size_t n, const char *name)
{
    char path[64];
    (void)snprintf(path, sizeof path, "%s/7/exe", proc);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(f, 1, n, out), n);
    assert_int_equal(fclose(out), 0);
    return gcd_program_exports(proc, 7, name);
}

static void whole_names_are_found(void **state)
{
    (void)state;
    uint8_t f[FILE_BYTES];
    make(f);
    assert_true(exports(f, sizeof f, "DotNetRuntimeInfo"));
    assert_true(exports(f, sizeof f, "first"));
    assert_true(exports(f, sizeof f, "last"));
    assert_false(exports(f, sizeof f, "DotNetRuntime"));
    assert_false(exports(f, sizeof f, "RuntimeInfo"));
    assert_false(exports(f, sizeof f, "lastly"));
    assert_false(gcd_program_exports(proc, 8, "first"));
}

/* No byte of a file makes it read what is not there; a cut file exports nothing. */
static void any_file(void **state)
{
    (void)state;
    uint8_t f[FILE_BYTES];
    make(f);
    for (size_t n = 0; n < sizeof f; n += 5) /* every file costs a write */
        assert_false(exports(f, n, "DotNetRuntimeInfo"));
    for (size_t i = 0; i < sizeof f; i += i == 63 ? SECTIONS - 63 : 1) {
        make(f);
        f[i] = 0xff;
        (void)exports(f, sizeof f, "DotNetRuntimeInfo");
    }
    static const struct {
        size_t at;
        uint64_t number;
        size_t bytes;
    } wrong[] = {
        { 0, 0, 1 },                                   /* no ELF */
        { 4, 1, 1 },                                   /* of 32 bits */
        { 40, UINT64_MAX, 8 },                         /* sections behind the end */
        { 58, 40, 2 },                                 /* of another size */
        { 60, 65535, 2 },                              /* too many */
        { SECTIONS + 64 + 40, 3, 4 },                  /* names in no section */
        { SECTIONS + 64 + 4, 2, 4 },                   /* symbols that are not dynamic */
        { SECTIONS + 128 + 24, UINT64_MAX - 8, 8 },    /* names behind the end */
        { SECTIONS + 128 + 32, UINT64_C(1) << 40, 8 }, /* too many */
        { SECTIONS + 128 + 32, 30, 8 },                /* cut within the name */
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        make(f);
        put_number(f + wrong[i].at, wrong[i].number, wrong[i].bytes);
        if (exports(f, sizeof f, "DotNetRuntimeInfo"))
            fail_msg("case %zu", i);
    }
}

/* What a linker does not make is not read. */
static void too_much(void **state)
{
    (void)state;
    static uint8_t f[(1 << 20) + 4096];
    make(f);
    put_number(f + 60, 128, 2); /* sections */
    assert_true(exports(f, sizeof f, "DotNetRuntimeInfo"));
    put_number(f + 60, 129, 2);
    assert_false(exports(f, sizeof f, "DotNetRuntimeInfo"));
    make(f);
    put_number(f + SECTIONS + 128 + 32, 1 << 20, 8); /* bytes of names */
    assert_true(exports(f, sizeof f, "DotNetRuntimeInfo"));
    put_number(f + SECTIONS + 128 + 32, (1 << 20) + 1, 8);
    assert_false(exports(f, sizeof f, "DotNetRuntimeInfo"));
}

static int begin(void **state)
{
    (void)state;
    char path[64];
    assert_non_null(mkdtemp(proc));
    (void)snprintf(path, sizeof path, "%s/7", proc);
    return mkdir(path, 0700);
}

static int end(void **state)
{
    (void)state;
    char path[64];
    (void)snprintf(path, sizeof path, "%s/7/exe", proc);
    (void)unlink(path);
    (void)snprintf(path, sizeof path, "%s/7", proc);
    (void)rmdir(path);
    return rmdir(proc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_names_are_found),
        cmocka_unit_test(any_file),
        cmocka_unit_test(too_much),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
