/* The lists that are searched for files of modules, and the messages about files that cannot be
 * used. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <gcdumpc/gcdumpc.h>

#include "modules/finder.h"
#include "modules/folder_index.h"
#include "modules/mapped_files.h"
#include "modules/module_names.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/pe_image.h"
#include "support/tb.h"
#include "term/message.h"

static char folder[FOLDER_BYTES];

static int setup(void **state)
{
    (void)state;
    cli_hold(true);
    return make_folder(folder);
}

static int teardown(void **state)
{
    (void)state;
    return remove_folder(folder);
}

static const char *in_folder(const char *name)
{
    return path_in_folder(folder, name);
}

static void put(const char *name, const void *bytes, size_t n)
{
    fill_file(in_folder(name), bytes, n);
}

static void folder_in(const char *name)
{
    assert_int_equal(mkdir(in_folder(name), 0700), 0);
}

/* ---- /proc/PID/maps ---- */

static void add_line(struct mapped_files *m, const char *text, const char *root)
{
    char line[512];
    (void)snprintf(line, sizeof line, "%s\n", text);
    assert_true(mapped_files_line(m, line, root, strlen(root)));
}

static void check_mapped(const struct mapped_file *f, const char *path, uint64_t start,
                         uint64_t inode, bool deleted)
{
    assert_string_equal(f->path, path);
    assert_int_equal(f->start, start);
    assert_int_equal(f->inode, inode);
    assert_int_equal(f->deleted, deleted);
}

static void what_a_process_maps(void **state)
{
    (void)state;
    struct mapped_files m = { .items = NULL };
    add_line(&m,
             "7f0000002000-7f0000003000 r--p 00001000 fe:00 12                         /app/B.dll",
             "/");
    add_line(&m,
             "7f0000003000-7f0000004000 r-xp 00002000 fe:00 12                         /app/B.dll",
             "/");
    add_line(&m, "7f0000004000-7f0000005000 rw-p 00000000 00:00 0 ", "/");
    add_line(&m, "7f0000005000-7f0000006000 rw-p 00000000 00:00 0                          [heap]",
             "/");
    add_line(&m,
             "7f0000006000-7f0000007000 r--s 00000000 fe:00 13                         /app/two "
             "words\\012line.dll",
             "/");
    add_line(&m,
             "7f0000007000-7f0000008000 r--s 00000000 fe:00 14                         /app/A.dll "
             "(deleted)",
             "/");
    add_line(&m,
             "7f0000008000-7f0000009000 r--s 00000000 fe:00 15                         /app/A.dll "
             "(deleted)",
             "/");
    add_line(&m,
             "7f0000009000-7f000000a000 r--s 00000000 fe:00 16                         /app/A.dll",
             "/");
    add_line(&m,
             "7f0000001000-7f0000002000 r--p 00000000 fe:00 12                         /app/B.dll",
             "/");
    add_line(&m,
             "7f000000b000-7f000000c000 rw-s 00000000 00:01 99                         "
             "anon_inode:[perf_event]",
             "/");
    add_line(&m, "no line", "/");
    mapped_files_sort(&m);
    assert_int_equal(m.count, 5);
    check_mapped(&m.items[0], "/app/A.dll", 0x7f0000009000, 16, false);
    check_mapped(&m.items[1], "/app/A.dll", 0x7f0000007000, 14, true);
    check_mapped(&m.items[2], "/app/A.dll", 0x7f0000008000, 15, true);
    check_mapped(&m.items[3], "/app/B.dll", 0x7f0000001000, 12, false);
    check_mapped(&m.items[4], "/app/two words\nline.dll", 0x7f0000006000, 13, false);
    assert_int_equal(m.items[1].end, 0x7f0000008000);
    assert_int_equal(mapped_files_find(&m, "/app/A.dll"), 0);
    assert_int_equal(mapped_files_find(&m, "/app/B.dll"), 3);
    assert_int_equal(mapped_files_find(&m, "/app/C.dll"), 4);
    assert_int_equal(mapped_files_find(&m, "/b"), 5);
    mapped_files_done(&m);
}

/* After chroot(2) the list still begins at the root of the mount namespace. */
static void what_a_process_in_another_root_maps(void **state)
{
    (void)state;
    struct mapped_files m = { .items = NULL };
    add_line(&m, "1000-2000 r--p 00000000 fe:00 1 /jail/app/A.dll", "/jail");
    add_line(&m, "2000-3000 r--p 00000000 fe:00 2 /jailer/A.dll", "/jail");
    mapped_files_sort(&m);
    assert_int_equal(m.count, 2);
    assert_string_equal(m.items[0].path, "/app/A.dll");
    assert_string_equal(m.items[1].path, "/jailer/A.dll");
    mapped_files_done(&m);
}

static void this_process(void **state)
{
    (void)state;
    struct mapped_files m;
    char self[256];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(n > 0);
    self[n] = '\0';
    assert_true(mapped_files_read((uint32_t)getpid(), &m));
    size_t i = mapped_files_find(&m, self);
    assert_true(i < m.count);
    assert_string_equal(m.items[i].path, self);
    mapped_files_done(&m);
    /* before now, after its program was written */
    struct stat st;
    struct timespec now;
    int64_t start_ns = process_start_ns((uint32_t)getpid());
    assert_int_equal(stat(self, &st), 0);
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
    assert_true(start_ns > (int64_t)st.st_mtim.tv_sec * 1000000000);
    assert_true(start_ns < (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
    assert_true(start_ns > ((int64_t)now.tv_sec - 600) * 1000000000);
    /* no process has this pid */
    assert_true(mapped_files_read(UINT32_MAX, &m));
    assert_int_equal(m.count, 0);
    assert_int_equal(process_start_ns(UINT32_MAX), INT64_MIN);
}

/* ---- --modules ---- */

static void index_of(struct folder_index *x, const char *name, const char *const *want)
{
    size_t i = folder_index_find(x, name);
    for (; *want != NULL; want++, i++) {
        assert_true(i < x->count);
        assert_string_equal(x->items[i].path, in_folder(*want));
    }
    assert_true(i >= x->count || strcasecmp(x->items[i].name, name) != 0);
}

static void files_below_folders(void **state)
{
    (void)state;
    static const char *const folders[] = { "a",
                                           "a/deep",
                                           "b",
                                           "b/1",
                                           "b/1/2",
                                           "b/1/2/3",
                                           "b/1/2/3/4",
                                           "b/1/2/3/4/5",
                                           "b/1/2/3/4/5/6",
                                           "b/1/2/3/4/5/6/7",
                                           "b/1/2/3/4/5/6/7/8",
                                           "b/1/2/3/4/5/6/7/8/9",
                                           "elsewhere" };
    static const char *const files[] = {
        "a/Shop.dll",       "a/deep/shop.DLL",           "a/Other.dll",
        "b/Shop.dll",       "b/1/2/3/4/5/6/7/8/Low.dll", "b/1/2/3/4/5/6/7/8/9/Lower.dll",
        "elsewhere/Far.dll"
    };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        folder_in(folders[i]);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        put(files[i], "x", 1);
    assert_int_equal(symlink("../elsewhere", in_folder("a/link")), 0);
    assert_int_equal(symlink("../elsewhere/Far.dll", in_folder("a/Linked.dll")), 0);
    assert_int_equal(symlink("nothing", in_folder("b/Broken.dll")), 0);
    assert_int_equal(mkfifo(in_folder("b/Pipe.dll"), 0600), 0);
    struct folder_index x = { .items = NULL };
    assert_true(folder_index_add(&x, in_folder("b"), 0));
    assert_true(x.cut); /* nine folders deep */
    x.cut = false;
    assert_true(folder_index_add(&x, in_folder("a"), 1));
    assert_true(folder_index_add(&x, in_folder("missing"), 2));
    assert_true(folder_index_add(&x, in_folder("a/Other.dll"), 3));
    folder_index_sort(&x);
    assert_false(x.cut);
    /* first the folder named first, then the file nearer to its top */
    index_of(&x, "SHOP.dll",
             (const char *const[]){ "b/Shop.dll", "a/Shop.dll", "a/deep/shop.DLL", NULL });
    index_of(&x, "Other.dll", (const char *const[]){ "a/Other.dll", NULL });
    index_of(&x, "Low.dll", (const char *const[]){ "b/1/2/3/4/5/6/7/8/Low.dll", NULL });
    index_of(&x, "Lower.dll", (const char *const[]){ NULL });
    index_of(&x, "Far.dll", (const char *const[]){ NULL });
    index_of(&x, "Linked.dll", (const char *const[]){ "a/Linked.dll", NULL });
    index_of(&x, "Pipe.dll", (const char *const[]){ NULL });
    folder_index_done(&x);
    /* a link named by the user is followed */
    assert_true(folder_index_add(&x, in_folder("a/link"), 0));
    assert_int_equal(x.count, 1);
    folder_index_done(&x);
    x = (struct folder_index){ .most = 6 };
    assert_true(folder_index_add(&x, in_folder("a"), 0));
    assert_true(x.cut && x.seen == 6);
    folder_index_done(&x);
}

/* ---- a complete dump ---- */

#define SHOP UINT64_C(0x5000)
#define KIT  UINT64_C(0x6000)

static struct pe_image shop_file;

/* Token 2 Shop.Store, 3 its Node. */
static void make_shop(struct pe_image *p)
{
    pe_image_init(p);
    (void)pe_image_row(p, 0x01, "2ss", 1u << 2 | 2, "Object", "System");
    (void)pe_image_row(p, 0x02, "4ss222", 0u, "<Module>", "", 0u, 1u, 1u);
    (void)pe_image_row(p, 0x02, "4ss222", 0x100001u, "Store", "Shop", 1u << 2 | 1, 1u, 1u);
    (void)pe_image_row(p, 0x02, "4ss222", 0x100002u, "Node", "", 1u << 2 | 1, 1u, 1u);
    (void)pe_image_row(p, 0x29, "22", 3u, 2u);
    (void)pe_image_row(p, 0x20, "422224bss", 0x8004u, 1u, 0u, 0u, 0u, 0u, "", "Shop", "");
    pe_image_close(p);
}

/* The files of its modules lie in the folder; GUID: of Shop.dll's symbols, 0xc0 for the right one.
 */
static void make_dump(unsigned guid, struct cli_dump *ret)
{
    static struct tb t;
    struct gcd_error err = GCD_ERROR_INIT;
    tb_init(&t, TB_V4, 8);
    tb_types(&t, TB_LIST(struct tb_type,
                         { .id = 0x100,
                           .module = SHOP,
                           .token = 0x02000003,
                           .element_type = 0x12,
                           .name = "Node" },
                         { .id = 0x200,
                           .module = KIT,
                           .token = 0x02000002,
                           .element_type = 0x12,
                           .name = "Kit" }));
    tb_gc_start(&t, 1);
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 24, 0x100, 0 }, { 0x1018, 24, 0x200, 0 }));
    tb_gc_end(&t, 1);
    tb_module_symbols(&t, SHOP, in_folder("Shop.dll"), guid, 1);
    tb_module(&t, KIT, in_folder("Kit.dll"));
    tb_close(&t);
    *ret = (struct cli_dump){ .subject = "it" };
    assert_int_equal(gcd_input_from_memory(t.out.p, t.out.n, NULL, &ret->input, &err), GCD_OK);
    assert_int_equal(gcd_dump_open(ret->input, NULL, &ret->dump, &err), GCD_OK);
    tb_done(&t);
}

/* NAME of the first type, and the message SAID, with F for the folder. */
static void check_names(const struct cli_args *args, unsigned guid, const char *name,
                        const char *said)
{
    struct cli_dump d;
    char text[1024];
    const char *at = strchr(said, '@');
    (void)snprintf(text, sizeof text, "%.*s%s%s", at != NULL ? (int)(at - said) : (int)strlen(said),
                   said, at != NULL ? folder : "", at != NULL ? at + 1 : "");
    cli_hold(true);
    make_dump(guid, &d);
    assert_int_equal(cli_read_modules(args, &d, true), CLI_DONE);
    assert_string_equal(gcd_dump_summary(d.dump)->types[0].name, name);
    assert_string_equal(cli_last_said(), text);
    gcd_dump_free(d.dump);
    gcd_input_free(d.input);
}

static void names_of_a_dump(void **state)
{
    (void)state;
    struct cli_args args = { .input = NULL };
    check_names(&args, 0xc0, "Node", ""); /* no file: nothing to say */
    put("Shop.dll", shop_file.out.p, shop_file.out.n);
    check_names(&args, 0xc0, "Shop.Store+Node", "");
    check_names(&args, 0xc1, "Node",
                "names from one module are incomplete: @/Shop.dll: the file is not the one that "
                "was loaded");
    assert_int_equal(mkfifo(in_folder("Kit.dll"), 0600), 0);
    check_names(&args, 0xc0, "Shop.Store+Node",
                "names from one module are incomplete: @/Kit.dll: is a pipe, not a file");
    check_names(&args, 0xc1, "Node",
                "names from 2 modules are incomplete: @/Shop.dll: the file is not the one that was "
                "loaded, and others");
    args.modules.off = true;
    check_names(&args, 0xc0, "Node", "");
}

/* A process that ends while its types are read: its files are still there. */
static void a_process_that_ends(void **state)
{
    (void)state;
    struct cli_dump d;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_module_file file;
    put("Shop.dll", shop_file.out.p, shop_file.out.n);
    make_dump(0xc0, &d);
    pid_t child = fork();
    if (child == 0) {
        (void)pause();
        _exit(0);
    }
    struct gcd_summary summary = *gcd_dump_summary(d.dump);
    summary.trace.start_unix_ms = INT64_MIN;
    struct module_finder *f =
        module_finder_new(&(struct module_search){ .pid = (uint32_t)child, .summary = &summary });
    assert_non_null(f);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    struct gcd_module_files files = module_finder_files(f);
    assert_int_equal(files.open(files.ctx, &summary.modules[0], 0, &file, &err), GCD_OK);
    files.close(files.ctx, &file);
    module_finder_free(f);
    gcd_dump_free(d.dump);
    gcd_input_free(d.input);
}

static void names_from_another_folder(void **state)
{
    (void)state;
    char more[256], other[256];
    (void)snprintf(more, sizeof more, "%s/more", folder);
    (void)snprintf(other, sizeof other, "%s/other", folder);
    struct cli_args args = { .modules.folders = { more, other } };
    folder_in("other");
    assert_int_equal(cli_check_module_folders(&args), CLI_FAILED);
    assert_string_equal(cli_error_text(),
                        "cannot search the folder of --modules: No such file or directory");
    folder_in("more");
    assert_int_equal(cli_check_module_folders(&args), CLI_DONE);
    folder_in("other/bin");
    put("more/shop.dll", "no assembly", 11);
    put("other/bin/Shop.dll", shop_file.out.p, shop_file.out.n);
    check_names(&args, 0xc0, "Shop.Store+Node", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        TEST(what_a_process_maps),
        TEST(what_a_process_in_another_root_maps),
        TEST(this_process),
        TEST(files_below_folders),
        TEST(a_process_that_ends),
        TEST(names_of_a_dump),
        TEST(names_from_another_folder),
    };
    make_shop(&shop_file);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pe_image_done(&shop_file);
    return failed;
}
