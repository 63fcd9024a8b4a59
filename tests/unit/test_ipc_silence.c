/* Why a runtime does not answer, from a fake /proc. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "ipc/process/ipc_silence.h"
#include "support/check.h"
#include "support/folder.h"

static char proc[FOLDER_BYTES];

static void put(const char *name, const char *text, size_t n)
{
    fill_file(path_in_folder(proc, name), text, n);
}

static void put_text(const char *name, const char *text)
{
    put(name, text, strlen(text));
}

static int setup(void **state)
{
    static const char *const folders[] = { "42", "42/fd", "42/task", "42/task/42", "42/task/43" };
    (void)state;
    if (make_folder(proc) != 0)
        return -1;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (mkdir(path_in_folder(proc, folders[i]), 0700) != 0)
            return -1;
    put_text("42/limits", "Limit  Soft Limit  Hard Limit  Units\nMax open files            5    "
                          "                10                   files\n");
    for (int i = 0; i < 3; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "42/fd/%d", i);
        put_text(name, "");
    }
    put_text("42/task/42/comm", "dotnet\n");
    put_text("42/task/43/comm", ".NET EventPipe\n");
    put_text("42/environ", "");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return remove_folder(proc);
}

static void expect(const char *want)
{
    char got[500] = "";
    assert_int_equal(gcd_silence_read(proc, 42, got, sizeof got), want != NULL);
    if (want != NULL)
        assert_non_null(strstr(got, want));
}

static void no_descriptor_is_left(void **state)
{
    (void)state;
    expect(NULL);
    put_text("42/fd/3", ""); /* one is free, but the runtime has given up */
    expect("it has 4 of 5 files open, so its runtime cannot accept a connection");
    put_text("42/limits", "Max open files            unlimited            unlimited files\n");
    expect(NULL);
}

static void it_waits_to_be_resumed(void **state)
{
    static const char ports[] = "A=1\0DOTNET_DiagnosticPorts=/a.sock,nosuspend;/b.sock,connect\0",
                      none[] = "DOTNET_DiagnosticPorts=/a.sock,nosuspend\0",
                      own[] = "DOTNET_DefaultDiagnosticPortSuspend=1\0",
                      off[] = "DOTNET_DefaultDiagnosticPortSuspend=0\0";
    (void)state;
    put("42/environ", ports, sizeof ports - 1);
    expect("(DOTNET_DiagnosticPorts=/b.sock): gcdumpc collect --listen /b.sock does");
    put("42/environ", none, sizeof none - 1);
    expect(NULL);
    put("42/environ", off, sizeof off - 1);
    expect(NULL);
    put("42/environ", own, sizeof own - 1);
    expect("(DOTNET_DefaultDiagnosticPortSuspend=1): start it without that");
    put_text("42/task/43/comm", ".NET Finalizer\n"); /* it has started */
    expect(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_descriptor_is_left, setup, teardown),
        cmocka_unit_test_setup_teardown(it_waits_to_be_resumed, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
