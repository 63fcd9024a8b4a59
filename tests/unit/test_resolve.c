#include "support/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/full_names.h>
#include <gcdumpc/unstable/recording.h>

#include "support/failalloc.h"
#include "support/resolve_sample.h"

static struct gcd_error err;

/* ---- where they are ---- */

struct folder {
    struct {
        const char *path;
        const struct pe_image *image;
        bool certain;
    } files[6];
    gcd_status failure;              /* of each candidate, GCD_OK = none */
    unsigned opened, closed, loaded; /* this many of the files are loaded by the process */
    size_t cut;                      /* bytes that are missing at the end of each file */
    /* the last of the loaded files exists in any number of copies, each compiled again */
    bool recompiled;
    bool layouts; /* asks for the fields of types, too */
    /* this many files can be opened, then they are gone; 0 = no limit */
    unsigned gone_after;
    unsigned most; /* that can be open at the same time; 0 = no limit */
};

static gcd_status open_file(void *ctx, const struct gcd_module *m, unsigned n,
                            struct gcd_module_file *ret, struct gcd_error *e)
{
    struct folder *f = ctx;
    if (f->most != 0 && f->opened - f->closed >= f->most) {
        *e = (struct gcd_error){ .code = GCD_E_IO, .os_errno = EMFILE, .msg = "too many" };
        return GCD_E_IO;
    }
    if (f->gone_after != 0 && f->opened >= f->gone_after)
        return GCD_END;
    if (m == NULL && f->recompiled && n + 1 >= f->loaded) {
        struct tb_bytes *image = &((struct pe_image *)f->files[f->loaded - 1].image)->out;
        for (size_t i = 0; i + 16 <= image->n; i++)
            if (memcmp(image->p + i, "\xbb\xbb\xbb\xbb\xbb\xbb\xbb\xbb", 8) == 0) {
                memcpy(image->p + i + 8, &n, sizeof n); /* in the MVID */
                break;
            }
        n = f->loaded - 1;
    }
    if (m == NULL && n < f->loaded) {
        f->opened++;
        ret->path = f->files[n].path;
        return gcd_input_from_memory(f->files[n].image->out.p, f->files[n].image->out.n, NULL,
                                     &ret->input, e);
    }
    for (size_t i = 0; m != NULL && i < 6 && f->files[i].path != NULL; i++)
        if (strcmp(f->files[i].path, m->path) == 0 && n-- == 0) {
            if (f->failure != GCD_OK) {
                *e = (struct gcd_error){ .code = f->failure, .msg = "no permission" };
                return f->failure;
            }
            ret->certain = f->files[i].certain;
            f->opened++;
            return gcd_input_from_memory(f->files[i].image->out.p,
                                         f->files[i].image->out.n - f->cut, NULL, &ret->input, e);
        }
    return GCD_END;
}

static void close_file(void *ctx, struct gcd_module_file *file)
{
    ((struct folder *)ctx)->closed++;
    gcd_input_free(file->input);
}

/* ---- dumps ---- */

static enum sample_modules described;

static struct gcd_dump *dump(const struct tb_static *statics, size_t n,
                             const struct gcd_alloc *alloc, struct gcd_input **in)
{
    static struct tb_bytes trace;
    struct gcd_dump_options options = { .context.alloc = alloc };
    struct gcd_dump *d = NULL;
    tb_free(&trace);
    sample_trace(statics, n, described, &trace);
    assert_int_equal(gcd_input_from_memory(trace.p, trace.n, NULL, in, &err), GCD_OK);
    if (gcd_dump_open(*in, &options, &d, &err) != GCD_OK)
        assert_int_equal(err.code, GCD_E_NOMEM);
    return d;
}

static struct pe_image shop_file, tools_file;

static struct folder everything(void)
{
    return (struct folder){ .files = { { "/app/Shop.dll", &shop_file, false },
                                       { "/app/Tools.dll", &tools_file, true } } };
}

static gcd_status resolve(struct gcd_dump *d, struct folder *f)
{
    struct gcd_module_files files = {
        .ctx = f, .open = open_file, .close = close_file, .layouts = f->layouts
    };
    gcd_status st = gcd_dump_resolve(d, &files, &err);
    assert_int_equal(f->opened, f->closed);
    return st;
}

static const struct gcd_type *type(const struct gcd_dump *d, uint64_t id)
{
    const struct gcd_summary *s = gcd_dump_summary(d);
    for (uint32_t i = 0; i < s->type_count; i++)
        if (s->types[i].id == id)
            return &s->types[i];
    fail_msg("no type %x", (unsigned)id);
    return NULL;
}

static const struct gcd_module *module(const struct gcd_dump *d, uint64_t id)
{
    const struct gcd_summary *s = gcd_dump_summary(d);
    for (size_t i = 0; i < s->module_count; i++)
        if (s->modules[i].id == id)
            return &s->modules[i];
    fail_msg("no module %x", (unsigned)id);
    return NULL;
}

static void done(struct gcd_dump *d, struct gcd_input *in)
{
    gcd_dump_free(d);
    gcd_input_free(in);
}

static void test_outer_types(void **state)
{
    (void)state;
    struct gcd_input *in;
    struct folder f = everything();
    struct gcd_dump *d = dump(NULL, 0, NULL, &in);
    assert_int_equal(resolve(d, &f), GCD_OK);
    assert_string_equal(type(d, 0x100)->name, "Shop.Store`1+Node[System.String]");
    assert_string_equal(type(d, 0x100)->raw_name, "Node[System.String]");
    assert_string_equal(type(d, 0x200)->name, "Shop.Store`1+Node[System.String][]");
    assert_string_equal(type(d, 0x800)->name, "Shop.Store`1+Node[System.String][][]");
    assert_string_equal(type(d, 0xc00)->name, "Shop.Store`1+Node[System.String]*[]");
    assert_string_equal(type(d, 0xf00)->name, "FNPTR[]");
    assert_string_equal(type(d, 0x300)->name, "Shop.Store`1+Node+Deep+er[System.Int32]");
    assert_ptr_equal(type(d, 0x400)->name, type(d, 0x400)->raw_name);
    assert_int_equal(module(d, SAMPLE_SHOP)->state, GCD_MODULE_READ);
    assert_int_equal(module(d, SAMPLE_SHOP)->mvid[3], 0xaa);
    assert_int_equal(module(d, SAMPLE_KIT)->state, GCD_MODULE_READ);
    assert_int_equal(module(d, SAMPLE_CORE)->state, GCD_MODULE_NOT_FOUND);
    done(d, in);
}

/* Labels, a line each; a class in brackets when it is certain. */
static void labels(const struct gcd_dump *d, char *ret, size_t cap)
{
    const struct gcd_summary *s = gcd_dump_summary(d);
    size_t n = 0;
    for (size_t i = 0; i < s->root_count && n < cap; i++) {
        const struct gcd_root *r = &s->roots[i];
        bool certain = r->class_name[0] != '\0';
        n += (size_t)snprintf(ret + n, cap - n, "%s%s%s%s\n", r->label, certain ? " [" : "",
                              r->class_name, certain ? "]" : "");
    }
}

#define OF(type, name)                       \
    {                                        \
        (type) + 0x10000, 0x9000, type, name \
    }

/* An assembly that was loaded again, from a stream, is known by its symbol file; its classes have
 * the same names. */
static void test_same_assembly_again(void **state)
{
    (void)state;
    char text[200] = "";
    struct gcd_input *in;
    struct folder f = everything();
    described = SAMPLE_AND_STREAM;
    struct gcd_dump *d = dump(TB_LIST(struct tb_static, OF(0x400, "s_first")), NULL, &in);
    assert_int_equal(resolve(d, &f), GCD_OK);
    assert_string_equal(type(d, 0xd00)->name, "Shop.Store`1+Node[System.Guid]");
    assert_int_equal(module(d, SAMPLE_STREAM)->state, GCD_MODULE_READ);
    assert_int_equal(module(d, SAMPLE_STREAM)->mvid[3], 0xaa);
    labels(d, text, sizeof text);
    assert_string_equal(text, "Shop.Item.s_first [Shop.Item]\n");
    done(d, in);
    described = SAMPLE_MODULES;
}

/* Another build of the same name, a damaged file, and one without read permission: names stay as
 * they were, and the reason is known. */
static void test_wrong_files(void **state)
{
    (void)state;
    static const struct {
        const char *problem;
        enum gcd_module_state state;
        const struct pe_image *image;
        bool certain;
        gcd_status failure;
        size_t cut;
    } cases[] = {
        { "nothing says whether the file is the one that was loaded", GCD_MODULE_REPLACED,
          &tools_file, false, GCD_OK, 0 },
        { "the types of the file are not those that were loaded", GCD_MODULE_REPLACED, &shop_file,
          true, GCD_OK, 0 },
        { "no permission", GCD_MODULE_UNREADABLE, &shop_file, true, GCD_E_IO, 0 },
        { NULL, GCD_MODULE_UNREADABLE, &tools_file, true, GCD_OK, 300 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gcd_input *in;
        struct folder f = { .files = { { "/app/Tools.dll", cases[i].image, cases[i].certain } },
                            .failure = cases[i].failure,
                            .cut = cases[i].cut };
        struct gcd_dump *d = dump(NULL, 0, NULL, &in);
        assert_int_equal(resolve(d, &f), GCD_OK);
        assert_int_equal(module(d, SAMPLE_KIT)->state, cases[i].state);
        if (cases[i].problem != NULL)
            assert_string_equal(module(d, SAMPLE_KIT)->problem, cases[i].problem);
        assert_true(module(d, SAMPLE_KIT)->problem[0] != '\0');
        done(d, in);
    }
    struct gcd_input *in;
    struct pe_image other;
    struct folder f = { .files = { { "/app/Shop.dll", &other, true },
                                   { "/app/Shop.dll", &shop_file, false } } };
    sample_shop(&other);
    for (size_t k = 0; k + 4 <= other.out.n; k++)
        if (memcmp(other.out.p + k, "RSDS", 4) == 0)
            other.out.p[k + 4] ^= 1; /* the GUID of another build */
    struct gcd_dump *d = dump(NULL, 0, NULL, &in);
    assert_int_equal(resolve(d, &f), GCD_OK);
    assert_int_equal(module(d, SAMPLE_SHOP)->state, GCD_MODULE_READ); /* the second candidate */
    done(d, in);
    f.files[1].path = NULL;
    d = dump(NULL, 0, NULL, &in);
    assert_int_equal(resolve(d, &f), GCD_OK);
    assert_int_equal(module(d, SAMPLE_SHOP)->state, GCD_MODULE_REPLACED);
    assert_string_equal(module(d, SAMPLE_SHOP)->problem, "the file is not the one that was loaded");
    assert_string_equal(type(d, 0x100)->name, "Node[System.String]");
    done(d, in);
    pe_image_done(&other);
}

/* Types, static variables and fields come from a file that is opened once, unless only so few can
 * be open at the same time. */
static void test_each_file_is_opened_once(void **state)
{
    (void)state;
    for (unsigned most = 0; most < 4; most += most == 1 ? 2 : 1) {
        struct gcd_input *in;
        struct folder f = everything();
        f.layouts = true;
        f.most = most;
        struct gcd_dump *d = dump(TB_LIST(struct tb_static, OF(0x400, "s_first")), NULL, &in);
        assert_int_equal(resolve(d, &f), GCD_OK);
        assert_int_equal(module(d, SAMPLE_SHOP)->state, GCD_MODULE_READ);
        assert_string_not_equal(gcd_dump_summary(d)->roots[0].class_name, "");
        if (most != 1)
            assert_int_equal(f.opened, 2);
        else
            assert_true(f.opened > 2);
        done(d, in);
    }
}

/* If only one can be open, each file is opened for the types and again for the static variables:
 * one that is gone by then is a module that could not be read. */
static void test_a_file_that_goes(void **state)
{
    (void)state;
    struct gcd_input *in;
    struct folder f = everything();
    f.gone_after = 2;
    f.most = 1;
    struct gcd_dump *d = dump(TB_LIST(struct tb_static, OF(0x400, "s_first")), NULL, &in);
    assert_int_equal(resolve(d, &f), GCD_OK);
    assert_int_equal(module(d, SAMPLE_SHOP)->state, GCD_MODULE_UNREADABLE);
    assert_string_equal(module(d, SAMPLE_SHOP)->problem,
                        "the file is gone: it was there when the types were read");
    assert_string_equal(type(d, 0x100)->name, "Shop.Store`1+Node[System.String]");
    assert_string_equal(gcd_dump_summary(d)->roots[0].class_name, "");
    done(d, in);
}

static void check_labels(const struct tb_static *statics, size_t n, const char *expected)
{
    char text[2000] = "";
    struct gcd_input *in;
    struct folder f = everything();
    struct gcd_dump *d = dump(statics, n, NULL, &in);
    assert_int_equal(resolve(d, &f), GCD_OK);
    labels(d, text, sizeof text);
    assert_string_equal(text, expected);
    done(d, in);
}

static void test_classes_of_statics(void **state)
{
    (void)state;
    /* by what a field can hold: a Special is an Item, not an Other; Store`1 is generic; names alone
     * are not enough for s_lock */
    check_labels(TB_LIST(struct tb_static, OF(0x400, "s_first")),
                 "Shop.Item.s_first [Shop.Item]\n");
    check_labels(TB_LIST(struct tb_static, OF(0x700, "s_first")),
                 "Shop.Item.s_first [Shop.Item]\n");
    check_labels(TB_LIST(struct tb_static, OF(0xa00, "s_first")),
                 "Shop.Other.s_first [Shop.Other]\n");
    /* Shut is sealed */
    check_labels(TB_LIST(struct tb_static, OF(0x500, "s_first")),
                 "Shop.Item.s_first or Shop.Other.s_first or another\n");
    check_labels(TB_LIST(struct tb_static, OF(0x400, "s_all")),
                 "Shop.Store<>.Node.s_all [Shop.Store`1+Node]\n");
    check_labels(TB_LIST(struct tb_static, OF(0x900, "s_lock")),
                 "Shop.Store<>.Node.s_lock or another\n");
    check_labels(TB_LIST(struct tb_static, OF(0x600, "s_none")), "s_none\n");
    /* a module without a file can have a field of that name, too, unless there is a witness */
    check_labels(TB_LIST(struct tb_static, OF(0x900, "s_kit")), "Tools.Kit.s_kit or another\n");
    check_labels(TB_LIST(struct tb_static, OF(0x500, "s_kit")), "Tools.Kit.s_kit [Tools.Kit]\n");
}

static void test_order_of_statics(void **state)
{
    (void)state;
    /* tokens rise within a module: between s_deep (4) and s_first of Other (7) there is only Item's
     * lock (6); after it only Other's (8) */
    check_labels(TB_LIST(struct tb_static, OF(0x600, "s_deep"), OF(0x900, "s_lock"),
                         OF(0xa00, "s_first"), OF(0x900, "s_lock"), OF(0x500, "s_kit")),
                 "Shop.Store<>.Node.Deep\\+er.s_deep [Shop.Store`1+Node+Deep\\+er]\n"
                 "Shop.Item.s_lock [Shop.Item]\n"
                 "Shop.Other.s_first [Shop.Other]\n"
                 "Shop.Other.s_lock or Tools.Kit.s_lock\n"
                 "Tools.Kit.s_kit [Tools.Kit]\n");
    /* the variables of a module are consecutive: Other's lock, or the first of the kit */
    check_labels(
        TB_LIST(struct tb_static, OF(0xa00, "s_first"), OF(0x900, "s_lock"), OF(0x500, "s_kit")),
        "Shop.Other.s_first [Shop.Other]\nShop.Other.s_lock or Tools.Kit.s_lock\nTools.Kit.s_kit "
        "[Tools.Kit]\n");
    check_labels(TB_LIST(struct tb_static, OF(0x500, "s_kit"), OF(0x900, "s_lock")),
                 "Tools.Kit.s_kit [Tools.Kit]\nTools.Kit.s_lock or another\n");
    /* modules come in the order of the rundown: what is before Shop's first is Shop's */
    check_labels(TB_LIST(struct tb_static, OF(0x900, "s_lock"), OF(0x400, "s_first")),
                 "Shop.Store<>.Node.s_lock [Shop.Store`1+Node]\nShop.Item.s_first [Shop.Item]\n");
    /* what is out of order is of a module without a file */
    check_labels(
        TB_LIST(struct tb_static, OF(0x400, "s_first"), OF(0x500, "s_kit"), OF(0x400, "s_first")),
        "Shop.Item.s_first [Shop.Item]\nTools.Kit.s_kit [Tools.Kit]\ns_first\n");
    /* only one of the second and the third is in order: nothing says which */
    check_labels(TB_LIST(struct tb_static, OF(0x600, "s_deep"), OF(0x600, "s_kit"),
                         OF(0x400, "s_first"), OF(0x900, "s_lock")),
                 "Shop.Store<>.Node.Deep\\+er.s_deep [Shop.Store`1+Node+Deep\\+er]\n"
                 "Tools.Kit.s_kit or another\n"
                 "Shop.Item.s_first [Shop.Item]\n"
                 "Shop.Item.s_lock or Shop.Other.s_lock or Tools.Kit.s_lock or another\n");
    check_labels(TB_LIST(struct tb_static, OF(0x600, "s_deep"), OF(0x600, "s_kit"),
                         OF(0x900, "s_first"), OF(0x900, "s_lock")),
                 "Shop.Store<>.Node.Deep\\+er.s_deep [Shop.Store`1+Node+Deep\\+er]\n"
                 "Tools.Kit.s_kit or another\n"
                 "Shop.Item.s_first or Shop.Other.s_first or Shop.Shut.s_first or another\n"
                 "Shop.Item.s_lock or Shop.Other.s_lock or Tools.Kit.s_lock or another\n");
    /* two of the three are in order: the lock with either of the others */
    check_labels(
        TB_LIST(struct tb_static, OF(0x500, "s_kit"), OF(0x900, "s_lock"), OF(0x400, "s_first")),
        "Tools.Kit.s_kit [Tools.Kit]\nShop.Store<>.Node.s_lock or Tools.Kit.s_lock or "
        "another\nShop.Item.s_first [Shop.Item]\n");
}

/* Without module events: a file is a module when it alone has all its types, and what else is
 * loaded can have the class of a variable. */
static void test_modules_without_events(void **state)
{
    (void)state;
    struct gcd_input *in;
    struct pe_image again, empty;
    struct folder f = { .loaded = 3,
                        .files = { { "/app/Empty.dll", &empty, false },
                                   { "/app/Shop.dll", &shop_file, false },
                                   { "/app/Tools.dll", &tools_file, false } } };
    pe_image_init(&empty);
    (void)pe_image_row(&empty, 0x02, "4ss222", 0u, "<Module>", "", 0u, 1u, 1u);
    memset(empty.guids.p, 0xcc, 16);
    pe_image_close(&empty);
    described = SAMPLE_NO_MODULES;
    struct gcd_dump *d =
        dump(TB_LIST(struct tb_static, OF(0x400, "s_first"), OF(0x900, "s_kit")), NULL, &in);
    assert_int_equal(resolve(d, &f), GCD_OK);
    assert_string_equal(type(d, 0x800)->name, "Shop.Store`1+Node[System.String][][]");
    assert_string_equal(type(d, 0x800)->module_path, "/app/Shop.dll");
    assert_string_equal(module(d, SAMPLE_SHOP)->assembly, "Shop");
    assert_int_equal(module(d, SAMPLE_KIT)->state, GCD_MODULE_READ);
    assert_int_equal(module(d, SAMPLE_CORE)->state, GCD_MODULE_NO_PATH);
    assert_string_equal(module(d, 0)->path, "/app/Empty.dll");
    assert_string_equal(gcd_dump_summary(d)->roots[0].class_name, "Shop.Item");
    /* nothing says where Core has its variables */
    assert_string_equal(gcd_dump_summary(d)->roots[1].label, "Tools.Kit.s_kit or another");
    done(d, in);
    /* two different files fit: neither is taken.  A copy of the same is no other file */
    sample_shop(&again);
    f.files[0].image = &again;
    d = dump(NULL, 0, NULL, &in);
    assert_int_equal(resolve(d, &f), GCD_OK);
    assert_int_equal(module(d, SAMPLE_SHOP)->state, GCD_MODULE_READ);
    done(d, in);
    for (size_t k = 0; k + 16 <= again.out.n; k++)
        if (memcmp(again.out.p + k, "\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa", 8) == 0)
            again.out.p[k] ^= 1;
    d = dump(NULL, 0, NULL, &in);
    assert_int_equal(resolve(d, &f), GCD_OK);
    assert_int_equal(module(d, SAMPLE_SHOP)->state, GCD_MODULE_NO_PATH);
    assert_int_equal(module(d, SAMPLE_KIT)->state, GCD_MODULE_READ);
    done(d, in);
    described = SAMPLE_MODULES;
    pe_image_done(&again);
    pe_image_done(&empty);
}

/* ---- bounds: what no program has, a hostile recording can claim ---- */

static struct gcd_dump *close_trace(struct tb *t, struct gcd_input **in)
{
    struct gcd_dump_options options = { .check_references = false };
    struct gcd_dump *d;
    tb_gc_end(t, 1);
    tb_close(t);
    assert_int_equal(gcd_input_from_memory(t->out.p, t->out.n, NULL, in, &err), GCD_OK);
    assert_int_equal(gcd_dump_open(*in, &options, &d, &err), GCD_OK);
    return d;
}

static void put_object(struct tb *t, uint64_t id, uint64_t module, uint32_t token, const char *name)
{
    tb_types(
        t, TB_LIST(
               struct tb_type,
               { .id = id, .module = module, .token = token, .element_type = 0x12, .name = name }));
    tb_nodes(t, TB_LIST(struct tb_node, { id + 0x10000000, 24, id, 0 }));
}

/* One file for 16,385 modules: it is read for all but the last. */
static void test_too_many_modules(void **state)
{
    (void)state;
    enum { MODULES = 16385 };
    struct tb t;
    struct gcd_input *in;
    struct folder f = everything();
    tb_init(&t, TB_V4, 8);
    tb_gc_start(&t, 1);
    put_object(&t, 0x100, 0x900000, 0x02000002, "Tools.Kit");
    for (unsigned i = 0; i < MODULES; i++)
        tb_module(&t, 0x900000 + 0x100 * (uint64_t)i, "/app/Tools.dll");
    struct gcd_dump *d = close_trace(&t, &in);
    assert_int_equal(resolve(d, &f), GCD_OK);
    assert_int_equal(f.opened, MODULES - 1);
    const struct gcd_summary *s = gcd_dump_summary(d);
    assert_int_equal(s->module_count, MODULES);
    assert_int_equal(s->modules[MODULES - 2].state, GCD_MODULE_READ);
    assert_int_equal(s->modules[MODULES - 1].state, GCD_MODULE_UNREADABLE);
    assert_string_equal(s->modules[MODULES - 1].problem,
                        "16384 other files were read before, which is the limit");
    done(d, in);
    tb_done(&t);
}

/* 1,100 modules that can be any of 4,096 files: comparing ends, and nothing is certain. */
static void test_too_many_comparisons(void **state)
{
    (void)state;
    for (unsigned modules = 100; modules <= 1100; modules += 1000) {
        struct tb t;
        struct gcd_input *in;
        struct pe_image kit;
        struct folder f = { .loaded = 2,
                            .recompiled = true,
                            .files = { { "/app/Shop.dll", &shop_file, false },
                                       { "/app/Kit.dll", &kit, false } } };
        sample_tools(&kit);
        tb_init(&t, TB_V4, 8);
        tb_gc_start(&t, 1);
        put_object(&t, 0x100, SAMPLE_SHOP, 0x02000005, "Shop.Item");
        for (uint64_t i = 1; i < modules; i++)
            put_object(&t, 0x100 + 0x10 * i, 0x900000 + 0x100 * i, 0x02000002, "Tools.Other");
        struct gcd_dump *d = close_trace(&t, &in);
        assert_int_equal(resolve(d, &f), GCD_OK);
        assert_int_equal(module(d, SAMPLE_SHOP)->state,
                         modules == 100 ? GCD_MODULE_READ : GCD_MODULE_NO_PATH);
        done(d, in);
        tb_done(&t);
        pe_image_done(&kit);
    }
}

/* A file with 60,000 classes that have a field of that name: a variable can be any of them.  Slow
 * when they are compared with each other. */
static void test_too_many_classes(void **state)
{
    (void)state;
    enum { CLASSES = 60000, VARIABLES = 16 };
    struct tb t;
    struct gcd_input *in;
    struct pe_image many = { .codeviews = 0, .sections = 1, .wide = true };
    struct folder f = { .files = { { "/app/Tools.dll", &many, true } } };
    char name[20];
    pe_image_begin(&many);
    (void)pe_image_row(&many, 0x02, "4ss422", 0u, "<Module>", "", 0u, 1u, 1u);
    for (unsigned i = 1; i <= CLASSES; i++) {
        (void)snprintf(name, sizeof name, "C%u", i);
        (void)pe_image_row(&many, 0x02, "4ss422", 0x100001u, name, "", 0u, i, 1u);
        (void)pe_image_row(&many, 0x04, "2sb", 0x11u, "s_one", "061c");
    }
    pe_image_close(&many);
    tb_init(&t, TB_V4, 8);
    tb_gc_start(&t, 1);
    put_object(&t, 0x100, SAMPLE_KIT, 0x02000002, "C1");
    for (uint64_t i = 0; i < VARIABLES; i++)
        tb_statics(&t, TB_LIST(struct tb_static, { 0x10000100, 0x9000 + i, 0x100, "s_one" }));
    tb_module(&t, SAMPLE_KIT, "/app/Tools.dll");
    struct gcd_dump *d = close_trace(&t, &in);
    assert_int_equal(resolve(d, &f), GCD_OK);
    assert_int_equal(module(d, SAMPLE_KIT)->state, GCD_MODULE_READ);
    assert_string_equal(gcd_dump_summary(d)->roots[0].label, "C1.s_one or one of 59984 others");
    done(d, in);
    tb_done(&t);
    pe_image_done(&many);
}

static void test_every_allocation(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        struct failalloc f;
        struct folder files = everything();
        struct gcd_input *in;
        failalloc_init(&f);
        f.fail_at = n;
        struct gcd_dump *d = dump(
            TB_LIST(struct tb_static, OF(0x400, "s_first"), OF(0x900, "s_lock")), &f.alloc, &in);
        err = (struct gcd_error)GCD_ERROR_INIT;
        gcd_status st = d != NULL ? resolve(d, &files) : GCD_E_NOMEM;
        bool told = d == NULL || err.code == GCD_E_NOMEM;
        done(d, in);
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
        assert_int_equal(st, GCD_E_NOMEM);
        assert_true(told);
    }
}

/* ---- fields ---- */

#define CACHE UINT64_C(0xf00100)

/* An assembly with System.Object, and one whose class Cache has the field _items. */
static void two_files(struct pe_image *core, struct pe_image *app)
{
    pe_image_init(core);
    core->codeviews = 0;
    (void)pe_image_row(core, 0x02, "4ss222", 0u, "<Module>", "", 0u, 1u, 1u);
    (void)pe_image_row(core, 0x02, "4ss222", 0x100001u, "Object", "System", 0u, 1u, 1u);
    (void)pe_image_row(core, 0x20, "422224bss", 0x8004u, 1u, 0u, 0u, 0u, 0u, "",
                       "System.Private.CoreLib", "");
    memset(core->guids.p, 0xcc, 16);
    pe_image_close(core);
    pe_image_init(app);
    (void)pe_image_row(app, 0x23, "22224bssb", 8u, 0u, 0u, 0u, 0u, "", "System.Private.CoreLib", "",
                       "");
    (void)pe_image_row(app, 0x01, "2ss", 1u << 2 | 2, "Object", "System");
    (void)pe_image_row(app, 0x02, "4ss222", 0u, "<Module>", "", 0u, 1u, 1u);
    (void)pe_image_row(app, 0x02, "4ss222", 0x100001u, "Cache", "App", 1u << 2 | 1, 1u, 1u);
    (void)pe_image_row(app, 0x04, "2sb", 1u, "_items", "061c");
    (void)pe_image_row(app, 0x20, "422224bss", 0x8004u, 1u, 0u, 0u, 0u, 0u, "", "App", "");
    memset(app->guids.p, 0xdd, 16);
    pe_image_close(app);
}

/* The MVID in the file is that of another build; the symbol file is the same. */
static void change_mvid(struct pe_image *p)
{
    static const uint8_t mvid[16] = { 0xdd, 0xdd, 0xdd, 0xdd, 0xdd, 0xdd, 0xdd, 0xdd,
                                      0xdd, 0xdd, 0xdd, 0xdd, 0xdd, 0xdd, 0xdd, 0xdd };
    for (size_t i = 0; i + 16 <= p->out.n; i++)
        if (memcmp(p->out.p + i, mvid, sizeof mvid) == 0) {
            p->out.p[i] ^= 1;
            return;
        }
    fail_msg("the file has no MVID");
}

static struct gcd_dump *open_bytes(const void *p, size_t n, struct gcd_input **in)
{
    static const struct gcd_dump_options options = { .check_references = false };
    struct gcd_dump *d;
    assert_int_equal(gcd_input_from_memory(p, n, NULL, in, &err), GCD_OK);
    assert_int_equal(gcd_dump_open(*in, &options, &d, &err), GCD_OK);
    return d;
}

/* The recording of D, which has names but no layouts. */
static void record_names(struct gcd_dump *d, struct gcd_input *in, struct tb_bytes *ret)
{
    struct gcd_sink *s;
    size_t n;
    assert_int_equal(gcd_sink_new_memory(NULL, &s, &err), GCD_OK);
    assert_int_equal(gcd_recording_write(d, in, s, NULL, NULL, &err), GCD_OK);
    assert_int_equal(gcd_sink_commit(s, &err), GCD_OK);
    const uint8_t *p = gcd_sink_memory(s, &n);
    tb_put(ret, p, n);
    gcd_sink_free(s);
}

/* A recording has names, but no layouts: they come from the file whose MVID it has, and from no
 * other, whatever its symbols and its name. */
static void fields_are_those_of_the_mvid(void **state)
{
    (void)state;
    struct gcd_input *in;
    struct pe_image core, app;
    struct tb t;
    struct tb_bytes recorded = { 0 };
    two_files(&core, &app);
    struct folder f = { .files = { { "/app/System.Private.CoreLib.dll", &core, true },
                                   { "/app/App.dll", &app, true } } };
    tb_init(&t, TB_V4, 8);
    tb_gc_start(&t, 1);
    put_object(&t, CACHE, SAMPLE_SHOP, 0x02000002, "App.Cache");
    put_object(&t, CACHE + 8, SAMPLE_CORE, 0x02000002, "System.Object");
    tb_gc_end(&t, 1);
    tb_module_symbols(&t, SAMPLE_SHOP, "/app/App.dll", 0xc0, 1);
    tb_module(&t, SAMPLE_CORE, "/app/System.Private.CoreLib.dll");
    tb_close(&t);
    struct gcd_dump *d = open_bytes(t.out.p, t.out.n, &in);
    assert_int_equal(resolve(d, &f), GCD_OK);
    assert_int_equal(module(d, SAMPLE_SHOP)->state, GCD_MODULE_READ);
    assert_null(type(d, CACHE)->layout);
    f.layouts = true;
    record_names(d, in, &recorded);
    done(d, in);
    for (unsigned other = 0; other < 2; other++) {
        d = open_bytes(recorded.p, recorded.n, &in);
        assert_int_equal(module(d, SAMPLE_SHOP)->state, GCD_MODULE_RECORDED);
        assert_null(type(d, CACHE)->layout);
        assert_int_equal(resolve(d, &f), GCD_OK);
        assert_true(other == (type(d, CACHE)->layout == NULL ||
                              strstr(type(d, CACHE)->layout, "_items") == NULL));
        done(d, in);
        if (other == 0)
            change_mvid(&app);
    }
    tb_free(&recorded);
    tb_done(&t);
    pe_image_done(&core);
    pe_image_done(&app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outer_types),
        cmocka_unit_test(test_same_assembly_again),
        cmocka_unit_test(test_wrong_files),
        cmocka_unit_test(test_each_file_is_opened_once),
        cmocka_unit_test(test_a_file_that_goes),
        cmocka_unit_test(test_classes_of_statics),
        cmocka_unit_test(test_order_of_statics),
        cmocka_unit_test(test_modules_without_events),
        cmocka_unit_test(test_every_allocation),
        cmocka_unit_test(test_too_many_modules),
        cmocka_unit_test(test_too_many_classes),
        cmocka_unit_test(test_too_many_comparisons),
        cmocka_unit_test(fields_are_those_of_the_mvid),
    };
    sample_shop(&shop_file);
    sample_tools(&tools_file);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pe_image_done(&shop_file);
    pe_image_done(&tools_file);
    return failed;
}
