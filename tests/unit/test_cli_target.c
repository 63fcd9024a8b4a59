/* Which process a name means.  The list of processes is a fake. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <gcdumpc/ipc.h>

#include "live/target.h"
#include "support/check.h"
#include "support/folder.h"
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
        struct cli_target_args wanted = { .name = rows[i].wanted };
        assert_int_equal(cli_target_fits(&p, &wanted), rows[i].fits);
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

#define ID_A "aaaa0000111122223333444455556666777788889999aaaabbbbccccddddeeee"
#define ID_B "aaaa1000111122223333444455556666777788889999aaaabbbbccccddddeeee"

/* In container ID, with number INNER inside. */
static struct gcd_ipc_process inside(struct gcd_ipc_process p, const char *id, uint32_t inner)
{
    p.container = text(id);
    p.inner_pid = inner;
    return p;
}

static void which_process_of_a_container_is_meant(void **state)
{
    (void)state;
    struct gcd_ipc_process all[] = {
        inside(process(20, "web", "dotnet", "Web"), ID_A, 1),
        inside(process(21, "job", "dotnet", "Job"), ID_A, 7),
        inside(process(22, "web", "dotnet", "Web"), ID_B, 1),
        inside(process(24, "web", "dotnet", "Web"), "", 24),
    };
    listed = (struct gcd_ipc_process_list){ .items = all, .count = sizeof all / sizeof *all };
    static const char several[] = "\"aaaa\" means several containers, such as aaaa00001111 "
                                  "and aaaa10001111; give more of the id";
    static const struct {
        const char *container, *name;
        uint64_t inner;
        enum cli_exit exit;
        uint32_t pid;
        const char *said;
    } rows[] = {
        { "aaaa1", NULL, 0, CLI_DONE, 22, "" },
        { "docker://" ID_B, NULL, 0, CLI_DONE, 22, "" },
        { "aaaa0", "Web", 0, CLI_DONE, 20, "" },
        { "aaaa0", NULL, 7, CLI_DONE, 21, "" },
        { ID_A, "J*", 0, CLI_DONE, 21, "" },
        { "aaaa0", NULL, 0, CLI_USAGE, 0,
          "2 processes of container \"aaaa0\" fit; choose one with --name, or with --pid and its "
          "number inside, the second one:" },
        { "aaaa", NULL, 0, CLI_USAGE, 0, several },
        { "aaaa", "Job", 0, CLI_USAGE, 0, several }, /* also if only one of them has it */
        { "aaaa0", NULL, 20, CLI_FAILED, 0,
          "no .NET process in container \"aaaa0\" fits --name or --pid (its number inside the "
          "container); see gcdumpc ps" },
        { "aaa", NULL, 0, CLI_FAILED, 0,
          "no .NET process is in a container \"aaa\": give at least 4 digits of its id; see "
          "gcdumpc "
          "ps" },
        { ID_A "0", NULL, 0, CLI_FAILED, 0,
          "no .NET process is in a container \"" ID_A "0\": give at least 4 digits of its id; see "
          "gcdumpc ps" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cli_args args = {
            .target = { .container = rows[i].container, .name = rows[i].name, .pid = rows[i].inner }
        };
        struct cli_dump d = { .pid = 0 };
        char path[GCD_IPC_PATH_MAX];
        listed.count = sizeof all / sizeof *all;
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

static void what_docker_calls_a_container(void **state)
{
    (void)state;
    static const char *const folders[] = { "var", "var/lib", "var/lib/docker",
                                           "var/lib/docker/containers",
                                           ("var/lib/docker/containers/" ID_A) };
    static const char file[] = "var/lib/docker/containers/" ID_A "/config.v2.json",
                      good[] = "{\"State\":{},\"Name\":\"/cafe\"}", bad[] = "[{\"Name\"";
    char dir[FOLDER_BYTES], name[CLI_CONTAINER_NAME_BYTES];
    assert_int_equal(make_folder(dir), 0);
    assert_string_equal(cli_container_name(dir, ID_A, name), "");
    assert_false(cli_container_fits(dir, ID_A, "cafe"));
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(mkdir(path_in_folder(dir, folders[i]), 0777), 0);
    fill_file(path_in_folder(dir, file), good, sizeof good - 1);
    assert_string_equal(cli_container_name(dir, ID_A, name), "cafe");
    assert_true(cli_container_fits(dir, ID_A, "cafe"));
    assert_true(cli_container_fits(dir, ID_A, "aaaa"));
    assert_false(cli_container_fits(dir, ID_A, "caf"));
    assert_false(cli_container_fits(dir, ID_A, ""));
    assert_false(cli_container_fits(dir, "", "cafe"));
    fill_file(path_in_folder(dir, file), bad, sizeof bad - 1);
    assert_string_equal(cli_container_name(dir, ID_A, name), "");
    assert_int_equal(remove_folder(dir), 0);
}

static void what_other_engines_call_a_container(void **state)
{
    (void)state;
#define TASKS   "io.containerd.runtime.v2.task/k8s.io/" ID_A "/config.json"
#define STORAGE "var/lib/containers/storage/overlay-containers/"
#define POD     "_shop-7f_prod_5b1e-77_0"
    static const struct {
        const char *file, *text, *name;
    } rows[] = {
        { "run/containerd/" TASKS,
          "{\"ociVersion\":\"1.1\",\"annotations\":{\"io.kubernetes.cri.container-name\":\"till\","
          "\"io.kubernetes.cri.sandbox-name\":\"shop-7f\"}}",
          "till" },
        { "run/k3s/containerd/" TASKS,
          "{\"annotations\":{\"io.kubernetes.cri.container-name\":\"till\"}}", "till" },
        { "run/containerd/" TASKS, "{\"annotations\":{}}", "" }, /* the pause container */
        { STORAGE "containers.json",
          "[{\"id\":\"" ID_B "\",\"names\":[\"bar\"]},{\"names\":[\"x\"]},7,"
          "{\"id\":\"" ID_A "\",\"names\":[\"cafe\",\"other\"],\"image\":\"1\"}]",
          "cafe" },
        { STORAGE "volatile-containers.json", "[{\"id\":\"" ID_A "\",\"names\":[\"cafe\"]}]",
          "cafe" },
        { STORAGE "containers.json", "[{\"id\":\"" ID_A "\",\"names\":[\"k8s_till" POD "\"]}]",
          "till" },
        { STORAGE "containers.json", "[{\"id\":\"" ID_A "\",\"names\":[\"k8s_till\"]}]",
          "k8s_till" },
        { STORAGE "containers.json", "[{\"id\":\"" ID_B "\",\"names\":[\"bar\"]}]", "" },
        { STORAGE "containers.json", "[{\"id\":\"" ID_A "\"}]", "" },
        { STORAGE "containers.json", "{\"id\":\"" ID_A "\",\"names\":[\"bar\"]}", "" },
        { STORAGE "containers.json", "[{\"id\":", "" },
        { "var/lib/docker/containers/" ID_A "/config.v2.json", "{\"Name\":\"/k8s_till" POD "\"}",
          "till" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char dir[FOLDER_BYTES], folder[256], name[CLI_CONTAINER_NAME_BYTES];
        assert_int_equal(make_folder(dir), 0);
        for (const char *c = strchr(rows[i].file, '/'); c != NULL; c = strchr(c + 1, '/')) {
            (void)snprintf(folder, sizeof folder, "%.*s", (int)(c - rows[i].file), rows[i].file);
            assert_int_equal(mkdir(path_in_folder(dir, folder), 0777), 0);
        }
        fill_file(path_in_folder(dir, rows[i].file), rows[i].text, strlen(rows[i].text));
        assert_string_equal(cli_container_name(dir, ID_A, name), rows[i].name);
        assert_int_equal(cli_container_fits(dir, ID_A, "till"), strcmp(name, "till") == 0);
        assert_int_equal(cli_container_fits(dir, ID_A, "cafe"), strcmp(name, "cafe") == 0);
        assert_int_equal(remove_folder(dir), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_well_a_name_fits),
        cmocka_unit_test(which_process_is_meant),
        cmocka_unit_test(which_process_of_a_container_is_meant),
        cmocka_unit_test(what_docker_calls_a_container),
        cmocka_unit_test(what_other_engines_call_a_container),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
