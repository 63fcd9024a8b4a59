/* Which process a name means.  The list of processes is a fake. */
#include <stdio.h>
#include <string.h>

#include <gcdumpc/ipc.h>

#include "live/target.h"
#include "support/check.h"
#include "term/message.h"

/* The list owns its strings, hence not const; nothing changes them here. */
static char *text(const char *s)
{
    return (char *)(uintptr_t)s;
}

/* Name in the kernel, of the program, of its assembly. */
static struct gcd_ipc_process process(uint32_t pid, const char *name, const char *exe,
                                      const char *assembly)
{
    return (struct gcd_ipc_process){ .pid = pid,
                                     .name = text(name),
                                     .exe = text(exe),
                                     .entry_assembly = text(assembly),
                                     .command_line = text(""),
                                     .socket_path = text(pid % 2 == 0 ? "/tmp/even" : "/tmp/odd"),
                                     .answered = true };
}

static struct gcd_ipc_process_list listed;

gcd_status __wrap_gcd_ipc_list(const struct gcd_ipc_list_options *options,
                               struct gcd_ipc_process_list *ret, struct gcd_error *err);
gcd_status __wrap_gcd_ipc_list(const struct gcd_ipc_list_options *options,
                               struct gcd_ipc_process_list *ret, struct gcd_error *err)
{
    (void)options;
    (void)err;
    *ret = listed;
    return GCD_OK;
}

void __wrap_gcd_ipc_list_done(struct gcd_ipc_process_list *list);
void __wrap_gcd_ipc_list_done(struct gcd_ipc_process_list *list)
{
    list->count = 0;
}

static void how_well_a_name_fits(void **state)
{
    (void)state;
    static const struct {
        const char *name, *exe, *assembly, *wanted;
        int fits;
    } rows[] = {
        { "a", "b", "c", "a", 2 },
        { "a", "b", "c", "b", 2 },
        { "a", "b", "c", "c", 2 },
        { "a", "b", "c", "d", 0 },
        { "a", "b", "c", "A", 0 },
        { "shop", "dotnet", "Shop.Web", "Shop.*", 1 },
        { "shop", "dotnet", "Shop.Web", "s*p", 1 },
        { "shop", "dotnet", "Shop.Web", "?otnet", 1 },
        { "shop", "dotnet", "Shop.Web", "Shop", 0 },
        { "shop", "dotnet", "Shop.Web", "hop*", 0 },
        { "shop", "dotnet", "", "*", 1 },
        /* an unknown name matches nothing */
        { "", "", "", "*", 0 },
        { "", "", "", "", 0 },
        { "s[1]", "", "", "s[1]", 2 },
        { "s1", "", "", "s[1]", 1 },
        { "s1", "s[1]", "", "s[1]", 2 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gcd_ipc_process p = process(1, rows[i].name, rows[i].exe, rows[i].assembly);
        assert_int_equal(cli_target_fits(&p, rows[i].wanted), rows[i].fits);
    }
}

static void which_process_is_meant(void **state)
{
    (void)state;
    struct gcd_ipc_process all[] = {
        process(10, "web1", "dotnet", "Web"), process(11, "web[1]", "dotnet", "Web"),
        process(12, "job", "dotnet", "Job"),  process(13, "web12", "dotnet", "Web"),
        process(14, "twin", "dotnet", "A"),   process(15, "twin", "dotnet", "B"),
    };
    listed = (struct gcd_ipc_process_list){ .items = all, .count = sizeof all / sizeof *all };
    static const struct {
        const char *name;
        enum cli_exit exit;
        uint32_t pid;
        const char *said;
    } rows[] = {
        { "web1", CLI_DONE, 10, "" },
        { "web[1]", CLI_DONE, 11, "" },
        { "Job", CLI_DONE, 12, "" },
        { "job", CLI_DONE, 12, "" },
        { "j*", CLI_DONE, 12, "" },
        { "web1?", CLI_DONE, 13, "" },
        { "A", CLI_DONE, 14, "" },
        { "twin", CLI_USAGE, 0, "2 processes are called \"twin\"; choose one with --pid:" },
        { "web?[12]", CLI_DONE, 13, "" },
        { "web?", CLI_DONE, 10, "" },
        { "web*", CLI_USAGE, 0, "3 processes are called \"web*\"; choose one with --pid:" },
        { "dotnet", CLI_USAGE, 0, "6 processes are called \"dotnet\"; choose one with --pid:" },
        { "weba", CLI_FAILED, 0,
          "no .NET process is called \"weba\" (did you mean \"web1\"?); see gcdumpc ps" },
        { "nothing like it", CLI_FAILED, 0,
          "no .NET process is called \"nothing like it\"; see gcdumpc ps" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cli_args args = { .target.name = rows[i].name };
        struct cli_dump d = { .pid = 0 };
        char path[GCD_IPC_PATH_MAX];
        cli_hold(true);
        assert_int_equal(cli_find_target(&args, &d, path), rows[i].exit);
        assert_string_equal(cli_last_said(), rows[i].said);
        assert_int_equal(d.pid, rows[i].pid);
        assert_string_equal(path, rows[i].pid == 0       ? ""
                                  : rows[i].pid % 2 == 0 ? "/tmp/even"
                                                         : "/tmp/odd");
    }
    cli_hold(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_well_a_name_fits),
        cmocka_unit_test(which_process_is_meant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
