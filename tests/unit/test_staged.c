/* Staged outputs: a file or a folder that appears complete or not at all. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gcdumpc/io.h>
#include <gcdumpc/unstable/staged_file.h>

#include "support/check.h"
#include "support/failalloc.h"
#include "support/folder.h"

static char folder[FOLDER_BYTES];
static struct gcd_error err = GCD_ERROR_INIT;

static const char *at(const char *name)
{
    return path_in_folder(folder, name);
}

static int setup(void **state)
{
    (void)state;
    return make_folder(folder);
}

/* Each test removes what it made. */
static int teardown(void **state)
{
    (void)state;
    return rmdir(folder);
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void assert_file(const char *path, const char *text)
{
    char buf[64] = "";
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t n = fread(buf, 1, sizeof buf - 1, f);
    fclose(f);
    assert_int_equal(n, strlen(text));
    assert_string_equal(buf, text);
}

static unsigned mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static struct gcd_staged *opened(const char *name, enum gcd_staged_kind kind)
{
    struct gcd_staged *p = NULL;
    assert_int_equal(gcd_staged_open(at(name), kind, NULL, &p, &err), GCD_OK);
    return p;
}

static void a_file_takes_the_place_of_another(void **state)
{
    (void)state;
    put(at("f"), "old");
    struct gcd_staged *p = opened("f", GCD_STAGED_FILE);
    assert_string_equal(gcd_staged_path(p), at("f"));
    assert_int_equal(mode_of(gcd_staged_temporary(p)), 0600);
    put(gcd_staged_temporary(p), "given up");
    gcd_staged_free(p);
    assert_int_equal(folder_entries(folder), 1);
    assert_file(at("f"), "old");

    p = opened("f", GCD_STAGED_FILE);
    put(gcd_staged_temporary(p), "new");
    assert_file(at("f"), "old");
    assert_int_equal(gcd_staged_commit(p, &err), GCD_OK);
    assert_string_equal(gcd_staged_temporary(p), "");
    assert_int_equal(gcd_staged_commit(p, &err), GCD_E_STATE);
    gcd_staged_free(p);
    assert_int_equal(folder_entries(folder), 1);
    assert_file(at("f"), "new");
    assert_int_equal(mode_of(at("f")), 0600);
    assert_int_equal(unlink(at("f")), 0);
}

static void a_file_is_filled_in_any_order(void **state)
{
    (void)state;
    char buf[16];
    size_t n = 0;
    struct gcd_staged *p = opened("f", GCD_STAGED_FILE);
    assert_int_equal(gcd_staged_write_at(p, 6, "end", 3, &err), GCD_OK);
    assert_int_equal(gcd_staged_write_at(p, 0, "begin", 5, &err), GCD_OK);
    assert_int_equal(gcd_staged_bytes(p), 9);
    memset(buf, 'x', sizeof buf);
    assert_int_equal(gcd_staged_read_at(p, 1, buf, sizeof buf, &n, &err), GCD_OK);
    assert_int_equal(n, 8);
    assert_memory_equal(buf, "egin\0endxxxxxxxx", sizeof buf);
    assert_int_equal(gcd_staged_read_at(p, 100, buf, sizeof buf, &n, &err), GCD_OK);
    assert_int_equal(n, 0);
    assert_int_equal(gcd_staged_resize(p, 3, &err), GCD_OK);
    assert_int_equal(gcd_staged_resize(p, UINT64_MAX, &err), GCD_E_IO);
    assert_int_equal(gcd_staged_write_at(p, UINT64_MAX, "x", 1, &err), GCD_E_IO);
    assert_int_equal(gcd_staged_read_at(p, UINT64_MAX, buf, 1, &n, &err), GCD_E_IO);
    assert_int_equal(gcd_staged_commit(p, &err), GCD_OK);
    assert_file(at("f"), "beg");
    for (int folder_too = 0; folder_too < 2; folder_too++) {
        assert_int_equal(gcd_staged_read_at(p, 0, buf, 1, &n, &err), GCD_E_STATE);
        assert_int_equal(gcd_staged_write_at(p, 0, "x", 1, NULL), GCD_E_STATE);
        assert_int_equal(gcd_staged_resize(p, 0, &err), GCD_E_STATE);
        gcd_staged_free(p);
        p = folder_too ? NULL : opened("d", GCD_STAGED_FOLDER);
    }
    assert_int_equal(unlink(at("f")), 0);
}

static void a_folder_takes_the_place_of_an_empty_one(void **state)
{
    (void)state;
    char inside[sizeof folder + 300];
    assert_int_equal(mkdir(at("d"), 0755), 0);
    for (int commit = 0; commit < 2; commit++) {
        struct gcd_staged *p = opened("d//", GCD_STAGED_FOLDER);
        assert_int_equal(mode_of(gcd_staged_temporary(p)), 0700);
        (void)snprintf(inside, sizeof inside, "%s/x.csv", gcd_staged_temporary(p));
        put(inside, "1");
        if (commit)
            assert_int_equal(gcd_staged_commit(p, &err), GCD_OK);
        gcd_staged_free(p);
        assert_int_equal(folder_entries(folder), 1);
        assert_int_equal(folder_entries(at("d")), commit);
    }
    assert_file(at("d/x.csv"), "1");
    assert_int_equal(mode_of(at("d")), 0700);

    struct gcd_staged *p = NULL; /* now it is not empty */
    assert_int_equal(gcd_staged_open(at("d"), GCD_STAGED_FOLDER, NULL, &p, &err), GCD_E_IO);
    assert_non_null(strstr(err.msg, "not empty"));
    assert_int_equal(folder_entries(folder), 1);
    assert_int_equal(unlink(at("d/x.csv")), 0);
    assert_int_equal(rmdir(at("d")), 0);
}

/* Another program made it between the opening and the commit. */
static void a_folder_that_is_no_longer_empty_is_kept(void **state)
{
    (void)state;
    struct gcd_staged *p = opened("d", GCD_STAGED_FOLDER);
    assert_int_equal(mkdir(at("d"), 0700), 0);
    put(at("d/theirs"), "x");
    assert_int_equal(gcd_staged_commit(p, &err), GCD_E_IO);
    assert_non_null(strstr(err.msg, "not empty"));
    gcd_staged_free(p);
    assert_int_equal(folder_entries(folder), 1);
    assert_file(at("d/theirs"), "x");
    assert_int_equal(unlink(at("d/theirs")), 0);
    assert_int_equal(rmdir(at("d")), 0);
}

static void opened_sink(const char *name, struct gcd_sink **ret)
{
    assert_int_equal(gcd_sink_open(at(name), NULL, ret, &err), GCD_OK);
    gcd_sink_text(*ret, "ours");
}

/* The folder is renamed and a link elsewhere takes its name: the outputs stay in the original
 * folder. */
static void the_folder_is_renamed_meanwhile(void **state)
{
    (void)state;
    struct gcd_sink *given_up = NULL, *kept = NULL;
    assert_int_equal(mkdir(at("way"), 0700), 0);
    assert_int_equal(mkdir(at("elsewhere"), 0700), 0);
    opened_sink("way/given up", &given_up);
    opened_sink("way/sink", &kept);
    struct gcd_staged *file = opened("way/file", GCD_STAGED_FILE),
                      *tables = opened("way/tables", GCD_STAGED_FOLDER);
    struct gcd_staged *no_file = opened("way/no file", GCD_STAGED_FILE),
                      *no_tables = opened("way/no tables", GCD_STAGED_FOLDER);
    assert_int_equal(rename(at("way"), at("moved")), 0);
    assert_int_equal(symlink("elsewhere", at("way")), 0);
    assert_int_equal(folder_entries(at("moved")), 6);
    char inside[PATH_MAX + 8];
    put(gcd_staged_temporary(file), "theirs");
    struct gcd_staged *both[] = { tables, no_tables };
    for (int i = 0; i < 2; i++) {
        (void)snprintf(inside, sizeof inside, "%s/x", gcd_staged_temporary(both[i]));
        put(inside, "in it");
    }
    assert_int_equal(gcd_sink_commit(kept, &err), GCD_OK);
    assert_int_equal(gcd_staged_commit(file, &err), GCD_OK);
    assert_int_equal(gcd_staged_commit(tables, &err), GCD_OK);
    gcd_sink_free(given_up);
    gcd_sink_free(kept);
    gcd_staged_free(file);
    gcd_staged_free(tables);
    gcd_staged_free(no_file);
    gcd_staged_free(no_tables);
    assert_int_equal(folder_entries(at("elsewhere")), 0);
    assert_int_equal(folder_entries(at("moved")), 3);
    assert_file(at("moved/sink"), "ours");
    assert_file(at("moved/file"), "theirs");
    assert_file(at("moved/tables/x"), "in it");
    static const char *const files[] = { "moved/sink", "moved/file", "moved/tables/x", "way" };
    static const char *const folders[] = { "moved/tables", "moved", "elsewhere" };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_int_equal(unlink(at(files[i])), 0);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(rmdir(at(folders[i])), 0);
}

static void impossible_places(void **state)
{
    (void)state;
    char name[300];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    put(at("file"), "x");
    assert_int_equal(symlink("nowhere", at("link")), 0);
    static const struct {
        const char *name;
        enum gcd_staged_kind kind;
        gcd_status st;
        const char *text;
    } bad[] = {
        { "file", GCD_STAGED_FOLDER, GCD_E_IO, "is not a folder" },
        { "link", GCD_STAGED_FOLDER, GCD_E_IO, "is not a folder" },
        { ".", GCD_STAGED_FOLDER, GCD_E_ARG, "of its own" },
        { "..", GCD_STAGED_FOLDER, GCD_E_ARG, "of its own" },
        { "no/such/folder", GCD_STAGED_FOLDER, GCD_E_IO, "no/such/" },
        { "no/such/file", GCD_STAGED_FILE, GCD_E_IO, "no/such/" },
        { "x/", GCD_STAGED_FILE, GCD_E_ARG, "of its own" },
        { "../../dev/null", GCD_STAGED_FILE, GCD_E_ARG, "not a regular file" },
        { "../../tmp", GCD_STAGED_FILE, GCD_E_ARG, "is a directory" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gcd_staged *p = NULL;
        const char *path =
            strncmp(bad[i].name, "../../", 6) == 0 ? bad[i].name + 5 : at(bad[i].name);
        assert_int_equal(gcd_staged_open(path, bad[i].kind, NULL, &p, &err), bad[i].st);
        assert_null(p);
        assert_non_null(strstr(err.msg, bad[i].text));
    }
    for (int kind = GCD_STAGED_FILE; kind <= GCD_STAGED_FOLDER; kind++) {
        struct gcd_staged *p = NULL;
        assert_int_equal(gcd_staged_open(at(name), (enum gcd_staged_kind)kind, NULL, &p, &err),
                         GCD_E_IO);
        assert_int_equal(gcd_staged_open("", (enum gcd_staged_kind)kind, NULL, &p, &err),
                         GCD_E_ARG);
        assert_int_equal(gcd_staged_open("/", (enum gcd_staged_kind)kind, NULL, &p, &err),
                         GCD_E_ARG);
    }
    assert_int_equal(unlink(at("file")), 0);
    assert_int_equal(unlink(at("link")), 0);
}

static void no_memory(void **state)
{
    (void)state;
    struct failalloc f;
    for (uint64_t n = 1;; n++) {
        struct gcd_staged *p = NULL;
        failalloc_init(&f);
        f.fail_at = n;
        gcd_status st = gcd_staged_open(at("d"), GCD_STAGED_FOLDER, &f.alloc, &p, &err);
        assert_int_equal(st, f.failed > 0 ? GCD_E_NOMEM : GCD_OK);
        gcd_staged_free(p);
        assert_null(failalloc_complaint(&f));
        assert_int_equal(folder_entries(folder), 0);
        if (f.failed == 0)
            break;
    }
}

/* A folder left by a killed process. */
static void put_folder(const char *name)
{
    char inside[300];
    (void)snprintf(inside, sizeof inside, "%s/gcdumpc-folder", name);
    assert_int_equal(mkdir(at(name), 0700), 0);
    assert_int_equal(mkdir(at(inside), 0700), 0);
    (void)snprintf(inside, sizeof inside, "%s/gcdumpc-folder/objects.csv", name);
    put(at(inside), "half");
}

static void sweep(void)
{
    struct gcd_sink *s = NULL;
    assert_int_equal(gcd_sink_open(at("new"), NULL, &s, &err), GCD_OK);
    gcd_sink_free(s);
}

/* Left-overs of a killed process: recognised by name, owned by us, not locked. */
static void left_overs_are_removed(void **state)
{
    (void)state;
    static const char *const strangers[] = { ".x.gcdumpc-tmp",      "x.1-0.gcdumpc-tmp",
                                             ".x.1-0.gcdumpc-tmp2", ".x.1.gcdumpc-tmp",
                                             ".x.-0.gcdumpc-tmp",   "..1-0.gcdumpc-tmp",
                                             ".x.1-.gcdumpc-tmp",   ".x.-.gcdumpc-tmp",
                                             ".x.1-0a.gcdumpc-tmp" };
    struct gcd_staged *live = opened("live", GCD_STAGED_FILE),
                      *live_folder = opened("live folder", GCD_STAGED_FOLDER);
    put(at(".dead one.4194305-0.gcdumpc-tmp"), "half");
    put_folder(".dead.1-12.gcdumpc-tmp");
    /* killed between two calls */
    assert_int_equal(mkdir(at(".empty.1-0.gcdumpc-tmp"), 0700), 0);
    assert_int_equal(mkdir(at(".empty.1-1.gcdumpc-tmp"), 0700), 0);
    assert_int_equal(mkdir(at(".empty.1-1.gcdumpc-tmp/gcdumpc-folder"), 0700), 0);
    put(at("aim"), "kept");
    assert_int_equal(symlink("aim", at(".link.1-0.gcdumpc-tmp")), 0);
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        put(at(strangers[i]), "not ours");
    /* besides: the live ones, aim, link */
    size_t n = sizeof strangers / sizeof *strangers + 4;
    assert_int_equal(folder_entries(folder), n + 4);
    sweep();
    assert_int_equal(folder_entries(folder), n);
    assert_int_equal(access(gcd_staged_temporary(live), F_OK), 0);
    assert_int_equal(access(gcd_staged_temporary(live_folder), F_OK), 0);
    assert_file(at("aim"), "kept");
    gcd_staged_free(live);
    gcd_staged_free(live_folder);
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        assert_int_equal(unlink(at(strangers[i])), 0);
    assert_int_equal(unlink(at(".link.1-0.gcdumpc-tmp")), 0);
    assert_int_equal(unlink(at("aim")), 0);
}

/* The name alone proves nothing: each of these belongs to this user and is named like a left-over,
 * but cannot be one. */
static void look_alikes_stay(void **state)
{
    (void)state;
    static const char *const things[] = { "precious",
                                          "precious/data",
                                          "linked",
                                          ".f.1-0.gcdumpc-tmp",
                                          ".d.1-0.gcdumpc-tmp/data",
                                          ".e.1-0.gcdumpc-tmp/gcdumpc-folder",
                                          ".g.1-0.gcdumpc-tmp/gcdumpc-folder/data",
                                          ".h.1-0.gcdumpc-tmp/gcdumpc-folder/data",
                                          ".i.1-0.gcdumpc-tmp/gcdumpc-folder" };
    static const char *const folders[] = { "precious",
                                           ".d.1-0.gcdumpc-tmp",
                                           ".e.1-0.gcdumpc-tmp",
                                           ".g.1-0.gcdumpc-tmp",
                                           ".g.1-0.gcdumpc-tmp/gcdumpc-folder",
                                           ".h.1-0.gcdumpc-tmp",
                                           ".h.1-0.gcdumpc-tmp/gcdumpc-folder",
                                           ".i.1-0.gcdumpc-tmp" };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(mkdir(at(folders[i]), 0700), 0);
    static const char *const files[] = { "precious/data",
                                         "linked",
                                         ".d.1-0.gcdumpc-tmp/data",
                                         ".e.1-0.gcdumpc-tmp/gcdumpc-folder",
                                         ".g.1-0.gcdumpc-tmp/gcdumpc-folder/data",
                                         ".h.1-0.gcdumpc-tmp/gcdumpc-folder/data" };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        put(at(files[i]), "kept");
    /* another user can make a hard link */
    assert_int_equal(link(at("linked"), at(".f.1-0.gcdumpc-tmp")), 0);
    /* ours are mode 0700 */
    assert_int_equal(chmod(at(".g.1-0.gcdumpc-tmp"), 0755), 0);
    assert_int_equal(chmod(at(".h.1-0.gcdumpc-tmp/gcdumpc-folder"), 0770), 0);
    assert_int_equal(symlink("../precious", at(".i.1-0.gcdumpc-tmp/gcdumpc-folder")), 0);
    sweep();
    for (size_t i = 0; i < sizeof things / sizeof *things; i++)
        assert_int_equal(access(at(things[i]), F_OK), 0);
    assert_int_equal(unlink(at(".f.1-0.gcdumpc-tmp")), 0);
    assert_int_equal(unlink(at(".i.1-0.gcdumpc-tmp/gcdumpc-folder")), 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_int_equal(unlink(at(files[i])), 0);
    for (size_t i = sizeof folders / sizeof *folders; i-- > 0;)
        assert_int_equal(rmdir(at(folders[i])), 0);
}

/* Another user may have given the name to his own file. */
static void files_of_others_stay(void **state)
{
    (void)state;
    static const char *const names[] = { ".f.1-0.gcdumpc-tmp", ".d.1-0.gcdumpc-tmp" };
    if (geteuid() != 0)
        skip(); /* only root can make files of another user */
    put(at(names[0]), "theirs");
    put_folder(names[1]);
    for (int ours = 0; ours < 2; ours++) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            assert_int_equal(chown(at(names[i]), ours ? 0 : 12345, 0), 0);
        sweep();
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            assert_true((access(at(names[i]), F_OK) == 0) == !ours);
    }
}

/* In another user's folder, this name can be given to any folder of ours. */
static void nothing_is_removed_in_folders_of_others(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip(); /* only root can make folders of another user */
    char theirs[sizeof folder];
    assert_int_equal(mkdir(at("theirs"), 0755), 0);
    assert_int_equal(mkdir(at("theirs/ours"), 0755), 0);
    memcpy(theirs, folder, sizeof folder);
    for (int inner = 0; inner < 2; inner++) {
        (void)snprintf(folder, sizeof folder, "%.40s/%s", theirs, inner ? "theirs/ours" : "theirs");
        put(at(".x.1-0.gcdumpc-tmp"), "half");
        put_folder(".x.1-1.gcdumpc-tmp");
        assert_int_equal(chown(inner ? at("..") : at("."), 12345, 12345), 0);
        size_t n = folder_entries(folder);
        sweep();
        assert_int_equal(folder_entries(folder), n);
        assert_file(at(".x.1-1.gcdumpc-tmp/gcdumpc-folder/objects.csv"), "half");
        /* what this test makes there is removed, of course */
        struct gcd_staged *p = opened("d", GCD_STAGED_FOLDER);
        gcd_staged_free(p);
        p = opened("d", GCD_STAGED_FOLDER);
        assert_int_equal(gcd_staged_commit(p, &err), GCD_OK);
        gcd_staged_free(p);
        assert_int_equal(folder_entries(folder), n + 1);
        assert_int_equal(rmdir(at("d")), 0);
        assert_int_equal(chown(inner ? at("..") : at("."), 0, 0), 0);
        sweep();
        assert_int_equal(folder_entries(folder), n - 2);
    }
    memcpy(folder, theirs, sizeof folder);
    assert_int_equal(rmdir(at("theirs/ours")), 0);
    assert_int_equal(rmdir(at("theirs")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_takes_the_place_of_another),
        cmocka_unit_test(a_file_is_filled_in_any_order),
        cmocka_unit_test(a_folder_takes_the_place_of_an_empty_one),
        cmocka_unit_test(a_folder_that_is_no_longer_empty_is_kept),
        cmocka_unit_test(the_folder_is_renamed_meanwhile),
        cmocka_unit_test(impossible_places),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(left_overs_are_removed),
        cmocka_unit_test(look_alikes_stay),
        cmocka_unit_test(files_of_others_stay),
        cmocka_unit_test(nothing_is_removed_in_folders_of_others),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
