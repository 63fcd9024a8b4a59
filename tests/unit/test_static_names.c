/* Static variables with and without their class: the words for them, and what each format says. */
#include <stdio.h>
#include <string.h>

#include <gcdumpc/names.h>
#include <gcdumpc/suspects.h>
#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/static_names.h>

#include "read/read.h"
#include "support/check.h"
#include "support/failalloc.h"
#include "support/names_memory.h"
#include "support/run_graph.h"
#include "support/shop.h"

static struct gcd_error err = GCD_ERROR_INIT;

enum { NESTED, OTHER_CLASS, SEVERAL, MONO, BARE, SAME_LABEL };

/* Roots in the order of the enumeration, then a handle. */
static struct gcd_graph *graph(void)
{
    return shop_build(&(struct shop){
        SHOP_TYPES({ .name = "Shop.Item", .named = true, .element_type = 0x12 },
                   { .name = "Shop.Item[]", .named = true, .element_type = 0x1d },
                   { .name = "System.Object", .named = true, .element_type = 0x12 },
                   { .name = "Shop.Cabinet`1+Drawer[System.Int32]",
                     .raw_name = "Drawer[System.Int32]",
                     .named = true,
                     .element_type = 0x12 },
                   { .name = "Mono.Shelf", .named = true }),
        SHOP_NODES({ 1, 40 }, { 1, 48 }, { 2, 24 }, { 3, 32 }, { 0, 24 }),
        SHOP_ROOTS({ .kind = GCD_ROOT_STATIC,
                     .node = 0,
                     .type = 1,
                     .name = "s_items",
                     .class_name = "Shop.Cabinet`1+Drawer[System.Int32]",
                     .label = "Shop.Cabinet<System.Int32>.Drawer.s_items" },
                   { .kind = GCD_ROOT_STATIC,
                     .node = 1,
                     .type = 1,
                     .name = "s_items",
                     .class_name = "Shop.Orders+<>c",
                     .label = "Shop.Orders.<>c.s_items" },
                   { .kind = GCD_ROOT_STATIC,
                     .node = 2,
                     .type = 2,
                     .name = "s_lock",
                     .label = "Shop.A.s_lock or Shop.B.s_lock" },
                   { .kind = GCD_ROOT_STATIC, .node = 3, .type = 4, .name = "shelf" },
                   { .kind = GCD_ROOT_STATIC, .node = 4, .type = 0, .name = "s_items" },
                   { .kind = GCD_ROOT_STATIC,
                     .node = 4,
                     .type = 0,
                     .name = "s_items",
                     .class_name = "Shop.Orders+<>c",
                     .label = "Shop.Orders.<>c.s_items" },
                   { .kind = GCD_ROOT_HANDLE, .node = 4 }),
    });
}

/* ---- words ---- */

static void expect_words(const struct gcd_graph *g, const struct gcd_names *names, size_t root,
                         const char *class_name, const char *label)
{
    char text[200];
    const struct gcd_static_words w =
        gcd_static_words(g, names, &gcd_graph_summary(g)->roots[root]);
    (void)snprintf(text, sizeof text, "%s%s%s", w.label[0], w.label[1], w.label[2]);
    assert_string_equal(w.class_name, class_name);
    assert_string_equal(text, label);
}

static void words_say_what_is_known(void **state)
{
    (void)state;
    struct gcd_graph *g = graph();
    struct gcd_names *names;
    assert_int_equal(gcd_names_new(gcd_graph_summary(g), GCD_NAMES_CSHARP, NULL, &names, &err),
                     GCD_OK);
    expect_words(g, names, NESTED, "Shop.Cabinet<System.Int32>.Drawer",
                 "Shop.Cabinet<System.Int32>.Drawer.s_items");
    expect_words(g, names, OTHER_CLASS, "Shop.Orders.<>c", "Shop.Orders.<>c.s_items");
    expect_words(g, names, SEVERAL, "", "Shop.A.s_lock or Shop.B.s_lock");
    expect_words(g, names, MONO, "Mono.Shelf", "Mono.Shelf.shelf");
    expect_words(g, names, BARE, "", "s_items");
    expect_words(g, names, SAME_LABEL + 1, "", "");
    gcd_names_free(names);
    for (int style = GCD_NAMES_RAW; style <= GCD_NAMES_RUNTIME; style++) {
        assert_int_equal(
            gcd_names_new(gcd_graph_summary(g), (enum gcd_name_style)style, NULL, &names, &err),
            GCD_OK);
        expect_words(g, names, NESTED, "Shop.Cabinet`1+Drawer[System.Int32]",
                     "Shop.Cabinet<System.Int32>.Drawer.s_items");
        expect_words(g, names, MONO, "Mono.Shelf", "Mono.Shelf.shelf");
        assert_string_equal(gcd_names_get(names, 3), style == GCD_NAMES_RAW
                                                         ? "Drawer[System.Int32]"
                                                         : "Shop.Cabinet`1+Drawer[System.Int32]");
        gcd_names_free(names);
    }
    expect_words(g, NULL, NESTED, "Shop.Cabinet`1+Drawer[System.Int32]",
                 "Shop.Cabinet<System.Int32>.Drawer.s_items");
    expect_words(g, NULL, SEVERAL, "", "Shop.A.s_lock or Shop.B.s_lock");
    gcd_graph_free(g);
}

static void names_of_classes_need_memory(void **state)
{
    (void)state;
    struct gcd_graph *g = graph();
    check_names_memory(gcd_graph_summary(g));
    gcd_graph_free(g);
}

/* Labels as the source spells them. */
static void labels_of_compilers(void **state)
{
    (void)state;
    static const char *const labels[][2] = {
        { "Shop.Cart.<All>k__BackingField", "Shop.Cart.All" },
        { "<All>k__BackingField", "All" },
        { "A.<X>k__BackingField or B<int>.<Y>k__BackingField or another",
          "A.X or B<int>.Y or another" },
        { "<StartupCode$Harbour>.$Main.state@8", "Main.state" },
        { "<StartupCode$Harbour>.$Main.state", "Main.state" },
        { "<StartupCode$Harbour>", "<StartupCode$Harbour>" },
        { "<StartupCode$", "<StartupCode$" },
        { "Harbour.berths@12", "Harbour.berths" },
        { "s_items", "s_items" },
        { "@8", "@8" },
        { "a or ", "a or " },
        { " or ", " or " },
        { "", "" },
    };
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        char buf[100];
        size_t n = gcd_static_source_label(labels[i][0], strlen(labels[i][0]), buf);
        buf[n] = '\0';
        assert_string_equal(buf, labels[i][1]);
    }
}

/* A thread's Object[] that refers to another is where its thread-static variables are. */
static void thread_static_variables(void **state)
{
    (void)state;
    struct gcd_graph *g = shop_build(&(struct shop){
        SHOP_TYPES({ .name = "System.Object[]", .named = true },
                   { .name = "Shop.Item", .named = true }),
        SHOP_NODES({ 0, 40 }, { 0, 48 }, { 1, 24 }),
        SHOP_EDGES({ 0, 1 }, { 1, 2 }),
        SHOP_ROOTS({ .kind = GCD_ROOT_STACK, .node = 0 }, { .kind = GCD_ROOT_STACK, .node = 1 },
                   { .kind = GCD_ROOT_STACK, .node = 2 }, { .kind = GCD_ROOT_HANDLE, .node = 0 }),
    });
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(gcd_root_is_thread_static(g, &gcd_graph_summary(g)->roots[i]), i == 0);
    gcd_graph_free(g);
}

/* ---- one step for each label ---- */

static void variables_with_one_label_are_one_step(void **state)
{
    (void)state;
    struct gcd_graph *g = graph();
    const struct gcd_summary *summary = gcd_graph_summary(g);
    struct gcd_paths *paths;
    struct gcd_merged_tree *t;
    char seen[400] = "";
    size_t n;
    assert_int_equal(gcd_paths_new(g, NULL, &paths, &err), GCD_OK);
    assert_int_equal(
        gcd_merged_tree_new(g, &(struct gcd_merged_tree_options){ .paths = paths }, &t, &err),
        GCD_OK);
    const struct gcd_merged_step *steps = gcd_merged_tree_steps(t, &n);
    for (size_t i = 0; i < n; i++) {
        struct gcd_step_name name = gcd_merged_tree_name(t, steps[i].label);
        if (name.kind == GCD_STEP_VARIABLE)
            (void)snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s %d; ",
                           summary->roots[name.root].label, (int)steps[i].count);
    }
    /* the object of "s_items" belongs to the first of its two variables */
    assert_string_equal(
        seen, "Shop.Orders.<>c.s_items 1; Shop.Cabinet<System.Int32>.Drawer.s_items 1; shelf 1; "
              "Shop.A.s_lock or Shop.B.s_lock 1; s_items 1; ");
    gcd_merged_tree_free(t);
    gcd_paths_free(paths);
    gcd_graph_free(g);
}

/* One class and field, but different types of objects, as in two instances of a generic class. */
static void one_label_of_two_types_is_one_step(void **state)
{
    (void)state;
    static const struct gcd_type types[] = { { .name = "A", .named = true },
                                             { .name = "B", .named = true } };
    for (int known = 0; known < 2; known++) {
        const struct gcd_root roots[] = {
            { .kind = GCD_ROOT_STATIC,
              .node = 0,
              .type = 0,
              .name = "s_x",
              .class_name = known ? "Box" : "",
              .label = known ? "Box.s_x" : "s_x" },
            { .kind = GCD_ROOT_STATIC,
              .node = 1,
              .type = 1,
              .name = "s_x",
              .class_name = known ? "Box" : "",
              .label = known ? "Box.s_x" : "s_x" },
        };
        struct gcd_graph *g = shop_build(&(struct shop){ .types = types,
                                                         .type_count = 2,
                                                         SHOP_NODES({ 0, 24 }, { 1, 24 }),
                                                         .roots = roots,
                                                         .root_count = 2 });
        struct gcd_paths *paths;
        struct gcd_merged_tree *t;
        size_t n, variables = 0;
        assert_int_equal(gcd_paths_new(g, NULL, &paths, &err), GCD_OK);
        assert_int_equal(
            gcd_merged_tree_new(g, &(struct gcd_merged_tree_options){ .paths = paths }, &t, &err),
            GCD_OK);
        const struct gcd_merged_step *steps = gcd_merged_tree_steps(t, &n);
        for (size_t i = 0; i < n; i++)
            variables += gcd_merged_tree_name(t, steps[i].label).kind == GCD_STEP_VARIABLE;
        assert_int_equal(variables, known ? 1 : 2);
        gcd_merged_tree_free(t);
        gcd_paths_free(paths);
        gcd_graph_free(g);
    }
}

static void suspects_name_the_class(void **state)
{
    (void)state;
    struct gcd_graph *g = graph();
    struct gcd_dominators *d;
    struct gcd_suspects *s;
    struct gcd_names *names;
    assert_int_equal(gcd_names_new(gcd_graph_summary(g), GCD_NAMES_CSHARP, NULL, &names, &err),
                     GCD_OK);
    assert_int_equal(gcd_dominators_new(g, NULL, &d, &err), GCD_OK);
    assert_int_equal(
        gcd_suspects_new(
            g, d, &(struct gcd_suspects_options){ .share = 0.01, .min_bytes = 1, .names = names },
            &s, &err),
        GCD_OK);
    char all[4000] = "";
    for (size_t i = 0; i < gcd_suspects_count(s); i++)
        (void)snprintf(all + strlen(all), sizeof all - strlen(all), "%s\n",
                       gcd_suspects_get(s, i)->sentence);
    assert_non_null(
        strstr(all, "held by the static variable Shop.Cabinet<System.Int32>.Drawer.s_items"));
    assert_non_null(strstr(all, "held by the static variable Shop.A.s_lock or Shop.B.s_lock"));
    assert_non_null(strstr(all, "held by the static variable Mono.Shelf.shelf"));
    gcd_suspects_free(s);
    gcd_dominators_free(d);
    gcd_names_free(names);
    gcd_graph_free(g);
}

/* ---- formats ---- */

static void expect_in(const char *format, const char *const *texts)
{
    struct gcd_graph *g = graph();
    struct gcd_write_notes notes;
    struct gcd_names *names;
    struct gcd_sink *s;
    size_t n;
    const struct gcd_format *f = gcd_format_by_name(format);
    assert_int_equal(gcd_names_new(gcd_graph_summary(g), gcd_format_names(f), NULL, &names, &err),
                     GCD_OK);
    assert_int_equal(gcd_sink_new_memory(NULL, &s, &err), GCD_OK);
    assert_int_equal(
        gcd_write_graph(f, g, s, &(struct gcd_write_options){ .names = names }, &notes, &err),
        GCD_OK);
    assert_int_equal(gcd_sink_commit(s, &err), GCD_OK);
    const uint8_t *p = gcd_sink_memory(s, &n);
    for (; *texts != NULL; texts++)
        if (memmem(p, n, *texts, strlen(*texts)) == NULL)
            fail_msg("%s: %s is not in\n%.*s", format, *texts, (int)n, (const char *)p);
    gcd_sink_free(s);
    gcd_names_free(names);
    gcd_graph_free(g);
}

static void formats_show_the_label(void **state)
{
    (void)state;
    expect_in("v8",
              (const char *const[]){
                  ",\"Shop.Cabinet<System.Int32>.Drawer.s_items\",\"Shop.Orders.<>c.s_items\","
                  "\"Shop.A.s_lock or Shop.B.s_lock\",\"Mono.Shelf.shelf\",\"Shop.Item.s_items\",",
                  NULL });
    expect_in("collapsed", (const char *const[]){
                               "[static variables];Shop.Cabinet<System.Int32>.Drawer.s_items;",
                               ";Shop.A.s_lock or Shop.B.s_lock;", ";shelf;", NULL });
    expect_in("gclog", (const char *const[]){
                           "t 1 Shop.Cabinet`1+Drawer[System.Int32]\nt 2 Shop.Orders+<>c\nt 3 "
                           "System.Object\nt 4 Mono.Shelf\nt 5 Shop.Item\nt 6 Shop.Item[]\nr ",
                           "r 7f0000001000 4 0 1\nr 7f0000002000 4 0 2\nr 7f0000003000 4 0 3\nr "
                           "7f0000004000 4 0 4\nr 7f0000005000 4 0 5\nr 7f0000005000 4 0 2\n",
                           NULL });
}

/* Reads back what was written to FORMAT. */
static struct gcd_graph *there_and_back(const char *format, const struct graph_reader *reader)
{
    struct gcd_graph *g = graph(), *back;
    struct tb_bytes bytes;
    assert_int_equal(run_graph_write(format, g, NULL, &bytes, NULL, &err), GCD_OK);
    assert_int_equal(run_graph_read(reader, bytes.p, bytes.n, NULL, &back, &err), GCD_OK);
    tb_free(&bytes);
    gcd_graph_free(g);
    return back;
}

/* Without names for the writer: classes in the runtime's spelling. */
static void gcdump_keeps_classes(void **state)
{
    (void)state;
    struct gcd_graph *g = there_and_back("gcdump", &gcd_r_gcdump);
    const struct gcd_summary *summary = gcd_graph_summary(g);
    assert_int_equal(summary->root_count, SAME_LABEL + 2);
    for (size_t i = 0; i <= SAME_LABEL; i++)
        assert_string_equal(summary->roots[i].name, i == SEVERAL ? "s_lock"
                                                    : i == MONO  ? "shelf"
                                                                 : "s_items");
    expect_words(g, NULL, NESTED, "Shop.Cabinet`1+Drawer[System.Int32]",
                 "Shop.Cabinet`1+Drawer[System.Int32].s_items");
    expect_words(g, NULL, OTHER_CLASS, "Shop.Orders+<>c", "Shop.Orders+<>c.s_items");
    expect_words(g, NULL, SEVERAL, "", "Shop.A.s_lock or Shop.B.s_lock");
    expect_words(g, NULL, MONO, "Mono.Shelf", "Mono.Shelf.shelf");
    expect_words(g, NULL, BARE, "", "s_items");
    assert_int_equal(summary->roots[SEVERAL].type,
                     gcd_graph_node_type(g, summary->roots[SEVERAL].node));
    for (uint32_t i = 0; i < summary->type_count; i++)
        assert_null(strstr(summary->types[i].name, " or "));
    gcd_graph_free(g);
}

static void gclog_keeps_classes(void **state)
{
    (void)state;
    struct gcd_graph *g = there_and_back("gclog", &gcd_r_gclog);
    expect_words(g, NULL, NESTED, "Shop.Cabinet`1+Drawer[System.Int32]", "");
    expect_words(g, NULL, OTHER_CLASS, "Shop.Orders+<>c", "");
    expect_words(g, NULL, SEVERAL, "", "");
    expect_words(g, NULL, MONO, "Mono.Shelf", "");
    gcd_graph_free(g);
}

/* Classes take memory in gclog, and so do labels of several parts in tables. */
static void formats_need_memory(void **state)
{
    (void)state;
    struct gcd_graph *g = graph();
    for (uint64_t at = 1;; at++) {
        struct failalloc f;
        struct gcd_sink *s;
        failalloc_init(&f);
        f.fail_at = at;
        assert_int_equal(gcd_sink_new_memory(NULL, &s, &err), GCD_OK);
        gcd_status st =
            gcd_write_graph(gcd_format_by_name("gclog"), g, s,
                            &(struct gcd_write_options){ .context.alloc = &f.alloc }, NULL, &err);
        assert_int_equal(st, f.failed > 0 ? GCD_E_NOMEM : GCD_OK);
        gcd_sink_free(s);
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
        assert_true(at < 1000);
    }
    gcd_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_of_compilers),
        cmocka_unit_test(thread_static_variables),
        cmocka_unit_test(words_say_what_is_known),
        cmocka_unit_test(names_of_classes_need_memory),
        cmocka_unit_test(variables_with_one_label_are_one_step),
        cmocka_unit_test(one_label_of_two_types_is_one_step),
        cmocka_unit_test(suspects_name_the_class),
        cmocka_unit_test(formats_show_the_label),
        cmocka_unit_test(gcdump_keeps_classes),
        cmocka_unit_test(gclog_keeps_classes),
        cmocka_unit_test(formats_need_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
