/*
 * The results of a heap walk: tables of cases at the limit of each condition.  Only what callers
 * see: facts, roots, objects, references.
 */
#include "support/walk_case.h"

/* ---- which GC ---- */

/* Only after a blocking GC of generation 2 do all objects live, whoever asked for it. */
static void kinds_of_gcs(void **state)
{
    (void)state;
    for (uint32_t depth = 0; depth <= 3; depth++)
        for (uint32_t reason = 0; reason <= 17; reason++)
            for (uint32_t type = 0; type <= 2; type++) {
                anew(TB_V4);
                tb_gc_start_full(&t, 5, depth, reason, type);
                small_walk(24);
                tb_gc_end(&t, 5);
                tb_close(&t);
                run();
                bool right = depth >= 2 && type == 0;
                assert_int_equal(r.verdict.complete, right);
                assert_int_equal(because(GCD_REASON_NO_GC_START), !right);
                assert_true(r.facts.gc_depth == depth && r.facts.gc_reason == reason &&
                            r.facts.gc_type == type && r.facts.gc_number == 5);
                assert_true(r.facts.gc_start_seen && r.facts.gc_end_seen && r.facts.objects == 1);
            }
}

/* The first walk of the right kind is taken, without one the first of all. */
static void which_walk_is_taken(void **state)
{
    (void)state;
    static const struct {
        const char *walks;
        uint64_t bytes;
        bool complete;
    } rows[] = {
        { "r", 100, true },   { "or", 101, true },       { "ro", 100, true },
        { "rr", 100, true },  { "oo", 100, false },      { "oor", 102, true },
        { "orr", 101, true }, { "ooooooor", 107, true }, { "er", 101, true },
        { "eo", 101, false }, { "oer", 102, true },      { "u", 100, false },
        { "ou", 101, false }, { "oou", 102, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        anew(TB_V4);
        for (uint32_t k = 0; rows[i].walks[k] != '\0'; k++) {
            if (rows[i].walks[k] == 'o')
                tb_gc_start_full(&t, k + 1, 1, 0, 0);
            else
                tb_gc_start(&t, k + 1);
            if (rows[i].walks[k] != 'e') /* empty */
                small_walk(100 + k);
            if (rows[i].walks[k] != 'u') /* unfinished */
                tb_gc_end(&t, k + 1);
        }
        tb_close(&t);
        run();
        assert_true(r.facts.bytes == rows[i].bytes && r.objects[0].size_bytes == rows[i].bytes);
        assert_int_equal(r.verdict.complete, rows[i].complete);
    }
}

/* An unfinished walk has no number yet: it belongs to the GC that started last. */
static void the_start_of_a_walk_without_an_end(void **state)
{
    (void)state;
    for (uint32_t right = 1; right <= 2; right++) {
        anew(TB_V4);
        for (uint32_t n = 1; n <= 2; n++)
            tb_gc_start_full(&t, n, n == right ? 2 : 1, n == right, 0);
        small_walk(24);
        tb_close(&t);
        run();
        assert_true(r.facts.gc_start_seen && r.facts.gc_number == 2 &&
                    because(GCD_REASON_NO_GC_END));
        assert_int_equal(because(GCD_REASON_NO_GC_START), right == 1);
    }
}

/* The largest number of simultaneous walks that keep their details. */
static void open_walks(const uint64_t *threads, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        t.thread = threads[i];
        tb_statics(&t, TB_LIST(struct tb_static, { 0x1000, 0x10, 0x100, "cache" }));
    }
}

/* If the first dump could not be kept, asking for it gives none rather than the second. */
static void the_walk_that_was_asked_for(void **state)
{
    (void)state;
    for (unsigned number = 1; number <= 2; number++) {
        anew(TB_V4);
        open_walks((const uint64_t[]){ 11, 12, 13 }, 3);
        t.thread = 14;
        small_walk(100);
        tb_gc_end(&t, 1);
        t.thread = 11;
        small_walk(200);
        tb_gc_end(&t, 2);
        tb_close(&t);
        how.walk_number = number;
        run();
        assert_int_equal(r.st, number == 1 ? GCD_E_NOT_FOUND : GCD_OK);
        assert_true(number == 1 || r.facts.bytes == 200);
    }
}

/* A finished walk makes room, not one whose objects are still to come. */
static void the_walk_that_gives_way(void **state)
{
    (void)state;
    tb_gc_start_full(&t, 1, 1, 0, 0);
    small_walk(100);
    tb_gc_end(&t, 1);
    t.thread = 8;
    tb_gc_start(&t, 2);
    open_walks((const uint64_t[]){ 8, 9 }, 2);
    tb_gc_end(&t, 99); /* of a GC with an unknown start */
    open_walks((const uint64_t[]){ 10 }, 1);
    t.thread = 8;
    small_walk(200);
    tb_gc_end(&t, 2);
    tb_close(&t);
    run();
    assert_true(r.facts.bytes == 200 && r.facts.gc_number == 2 && r.facts.statics == 1 &&
                !because(GCD_REASON_NO_GC_START));
    anew(TB_V4); /* nor by the only one with objects */
    tb_gc_start_full(&t, 1, 1, 0, 0);
    small_walk(100);
    tb_gc_end(&t, 1);
    open_walks((const uint64_t[]){ 8, 9, 10 }, 3);
    tb_close(&t);
    run();
    assert_true(r.facts.bytes == 100 && r.facts.gc_number == 1);
}

/* By number and time, not by position. */
static void the_start_that_belongs_to_a_walk(void **state)
{
    (void)state;
    static const struct {
        uint32_t start, end;
        int64_t start_ns;
        bool found;
    } rows[] = {
        { 5, 5, 10000, true }, { 5, 5, 10001, false }, { 5, 5, 9999, true },
        { 4, 5, 9000, false }, { 5, 4, 9000, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned behind = 0; behind < 2; behind++) {
            anew(TB_V4);
            for (unsigned part = 0; part < 2; part++)
                if (part == behind) {
                    t.thread = 9;
                    t.time_ns = rows[i].start_ns;
                    tb_gc_start(&t, rows[i].start);
                } else {
                    t.thread = 8;
                    t.time_ns = 10000;
                    t.step_ns = 0;
                    tb_roots(&t, NULL, 0);
                    tb_statics(&t, NULL, 0);
                    t.step_ns = 1000;
                    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 24, 0x100, 0 }));
                    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Node" }));
                    tb_gc_end(&t, rows[i].end);
                }
            t.time_ns = 20000;
            tb_close(&t);
            run();
            assert_int_equal(r.facts.gc_start_seen, rows[i].found);
            assert_int_equal(r.verdict.complete, rows[i].found);
            assert_true(r.facts.gc_start_ns == (rows[i].found ? rows[i].start_ns : 10000) &&
                        r.facts.gc_end_ns == 12000);
        }
}

/* The number of heaps comes from the walk's own GC. */
static void heaps_of_the_gc(void **state)
{
    (void)state;
    for (unsigned where = 0; where < 7; where++) {
        anew(TB_V4);
        t.time_ns = 1000;
        if (where == 0)
            tb_heap_count(&t, 7);
        t.time_ns = 2000;
        tb_gc_start(&t, 1);
        if (where == 1)
            tb_heap_count(&t, 7);
        small_walk(24);
        if (where == 2)
            tb_heap_count(&t, 7);
        tb_gc_end(&t, 1);
        int64_t ended = t.time_ns - 1000;
        if (where >= 3) {
            t.thread = 9;
            t.time_ns = where == 3 ? ended : where == 4 ? ended + 1 : where == 5 ? 1999 : 2000;
            tb_heap_count(&t, 7);
        }
        tb_close(&t);
        run();
        assert_int_equal(r.facts.gc_heaps, where == 0 || where == 4 || where == 5 ? 0 : 7);
    }
}

/* ---- pauses ---- */

static void mark(bool restart, uint64_t thread, int64_t time_ns)
{
    static const uint8_t payload[10] = { 1 };
    t.thread = thread;
    t.time_ns = time_ns;
    tb_event(&t, TB_RUNTIME, restart ? 3 : 9, 1, payload, restart ? 2 : 10);
}

/* With equal times the suspension comes first, whatever its position: a pause may have length zero.
 */
static void pauses_of_no_length(void **state)
{
    (void)state;
    for (unsigned order = 0; order < 2; order++) {
        anew(TB_V4);
        mark(order == 0, 7, 500);
        mark(order == 1, 8, 500);
        mark(false, 7, 700);
        mark(true, 7, 900);
        t.time_ns = 2000;
        tb_gc_start(&t, 1);
        small_walk(24);
        tb_gc_end(&t, 1);
        tb_close(&t);
        run();
        assert_true(r.facts.pauses == 2 && r.facts.pauses_ns == 200 && r.facts.pause_ns == 0);
    }
}

/* A pause includes GCs that start at its first and at its last moment. */
static void the_pause_of_the_walk(void **state)
{
    (void)state;
    for (int64_t start = 4999; start <= 9001; start++) {
        if (start == 5002)
            start = 8999;
        anew(TB_V4);
        mark(false, 7, 5000);
        mark(true, 7, 9000);
        t.time_ns = start;
        tb_gc_start(&t, 1);
        small_walk(24);
        tb_gc_end(&t, 1);
        tb_close(&t);
        run();
        assert_true(r.facts.pause_ns == (start >= 5000 && start <= 9000 ? 4000 : 0) &&
                    r.facts.pauses_ns == 4000);
    }
}

/* ---- what belongs to a walk ---- */

static const struct gcd_dump *open_dump(struct gcd_input **ret_in)
{
    struct gcd_dump *d = NULL;
    assert_int_equal(gcd_input_from_memory(t.out.p, t.out.n, NULL, ret_in, NULL), GCD_OK);
    assert_int_equal(gcd_dump_open(*ret_in, NULL, &d, NULL), GCD_OK);
    return d;
}

/* Sorted by key; the values of one key keep the order of the events, also across events. */
static void dependent_handles_are_in_order(void **state)
{
    (void)state;
    static const struct tb_dependent first[] = { { 0x3000, 0x1000 },
                                                 { 0x1000, 0x3000 },
                                                 { 0x2000, 0x1000 },
                                                 { 0x1000, 0x2000 } },
                                     second[] = { { 0x1000, 0x1008 },
                                                  { 0x3000, 0x2000 },
                                                  { 0x800, 0x1000 },
                                                  { 0x2000, 0x800 } };
    static const struct tb_dependent expected[] = { { 0x800, 0x1000 },  { 0x1000, 0x3000 },
                                                    { 0x1000, 0x2000 }, { 0x1000, 0x1008 },
                                                    { 0x2000, 0x1000 }, { 0x2000, 0x800 },
                                                    { 0x3000, 0x1000 }, { 0x3000, 0x2000 } };
    tb_gc_start(&t, 1);
    small_walk(24);
    tb_dependents(&t, first, 4);
    tb_dependents(&t, second, 4);
    tb_gc_end(&t, 1);
    tb_close(&t);
    struct gcd_input *in;
    const struct gcd_dump *d = open_dump(&in);
    assert_int_equal(gcd_dump_dependent_count(d), 8);
    for (size_t i = 0; i < 8; i++)
        assert_true(gcd_dump_dependent(d, i)->key == expected[i].key &&
                    gcd_dump_dependent(d, i)->value == expected[i].value);
    gcd_dump_free((struct gcd_dump *)(uintptr_t)d);
    gcd_input_free(in);
}

/* Ranges before the first object describe the layout before the GC. */
static void ranges_of_the_layout_after_the_gc(void **state)
{
    (void)state;
    tb_gc_start(&t, 1);
    tb_range(&t, 0, 0x9000, 1, 2);
    tb_roots(&t, TB_LIST(struct tb_root, { .object = 0x1000, .kind = 2 }));
    tb_range(&t, 1, 0x9100, 3, 4);
    small_walk(24);
    tb_range(&t, 2, 0x1000, 24, 64);
    tb_range(&t, 4, 0x5000, 0x10, 0x20);
    tb_gc_end(&t, 1);
    tb_range(&t, 3, 0x9200, 5, 6);
    tb_close(&t);
    struct gcd_input *in;
    const struct gcd_dump *d = open_dump(&in);
    assert_int_equal(gcd_dump_summary(d)->range_count, 2);
    const struct gcd_range *a = &gcd_dump_summary(d)->ranges[0],
                           *b = &gcd_dump_summary(d)->ranges[1];
    assert_true(a->generation == 2 && a->start == 0x1000 && a->used_bytes == 24 &&
                a->reserved_bytes == 64);
    assert_true(b->generation == 4 && b->start == 0x5000 && b->used_bytes == 0x10 &&
                b->reserved_bytes == 0x20);
    assert_int_equal(gcd_dump_summary(d)->range_count, 2);
    gcd_dump_free((struct gcd_dump *)(uintptr_t)d);
    gcd_input_free(in);
}

/* Static variables that are null do not count; of wrappers each record counts. */
static void records_that_count(void **state)
{
    (void)state;
    tb_gc_start(&t, 1);
    small_walk(24);
    tb_statics(&t, TB_LIST(struct tb_static, { 0, 0x10, 0x100, "empty" },
                           { 0x1000, 0x18, 0x100, "full" }));
    tb_rcws(&t, TB_LIST(uint64_t, 0x1000, 0, 0x1000));
    tb_ccws(&t, TB_LIST(uint64_t, 0x1000, 0, 0x1000));
    tb_gc_end(&t, 1);
    tb_close(&t);
    struct gcd_input *in;
    const struct gcd_dump *d = open_dump(&in);
    const struct gcd_summary *f = gcd_dump_summary(d);
    assert_true(f->statics == 1 && f->rcws == 3 && f->ccws == 2);
    assert_true(f->root_count > 2 && f->roots[0].kind == GCD_ROOT_STATIC && f->roots[0].id == 0x18);
    gcd_dump_free((struct gcd_dump *)(uintptr_t)d);
    gcd_input_free(in);
}

/* The totals of a type are the sums of its objects. */
static void sums_of_types(void **state)
{
    (void)state;
    tb_gc_start(&t, 1);
    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "A" },
                         { .id = 0x200, .name = "B", .token = 0x2000012, .flags = 4 }));
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 24, 0x100, 1 }, { 0x1018, 32, 0x200, 0 },
                         { 0x1038, 40, 0x100, 2 }));
    tb_edges(&t, TB_LIST(uint64_t, 0x1000, 0x1018, 0x1038));
    tb_gc_end(&t, 1);
    tb_close(&t);
    struct gcd_input *in;
    const struct gcd_dump *d = open_dump(&in);
    assert_int_equal(gcd_dump_summary(d)->type_count, 2);
    const struct gcd_type *a = &gcd_dump_summary(d)->types[0], *b = &gcd_dump_summary(d)->types[1];
    assert_true(a->objects == 2 && a->bytes == 64 && a->edges == 3 && b->objects == 1 &&
                b->bytes == 32 && b->edges == 0);
    gcd_dump_free((struct gcd_dump *)(uintptr_t)d);
    gcd_input_free(in);
}

/* ---- process and runtime ---- */

static void expect_process(const char *command_line, const char *os, const char *arch,
                           const char *runtime, const char *name)
{
    struct gcd_input *in;
    const struct gcd_dump *d = open_dump(&in);
    const struct gcd_summary *f = gcd_dump_summary(d);
    assert_string_equal(f->command_line, command_line);
    assert_string_equal(f->os, os);
    assert_string_equal(f->arch, arch);
    assert_string_equal(f->runtime_version, runtime);
    assert_string_equal(f->process_name, name);
    gcd_dump_free((struct gcd_dump *)(uintptr_t)d);
    gcd_input_free(in);
}

/* The process event overrides the runtime's, in either order; missing fields change nothing. */
static void what_the_process_says(void **state)
{
    (void)state;
    for (unsigned order = 0; order < 4; order++) {
        anew(TB_V4);
        tb_gc_start(&t, 1);
        small_walk(24);
        tb_gc_end(&t, 1);
        if (order == 0 || order == 2)
            tb_runtime_info(&t, 9, 8, 7, "/opt/runtime says");
        if (order > 0)
            tb_process_info(&t, "p", "L", "6");
        if (order == 3) {
            tb_runtime_info(&t, 65535, 1, 65535, "/opt/runtime says");
            tb_process_info(&t, "", "", "");
        }
        tb_close(&t);
        if (order == 0)
            expect_process("/opt/runtime says", "", "", "9.8.7", "runtime");
        else
            expect_process("p", "L", "6",
                           order == 1   ? ""
                           : order == 2 ? "9.8.7"
                                        : "65535.1.65535",
                           "p");
    }
    anew(TB_V4);
    tb_gc_start(&t, 1);
    small_walk(24);
    tb_gc_end(&t, 1);
    tb_runtime_info(&t, 1, 2, 3, ""); /* no command line */
    struct tb_bytes b = { NULL, 0, 0 };
    tb_utf16z(&b, "line");
    tb_utf16z(&b, "os");
    tb_event(&t, TB_EVENTPIPE, 1, 1, b.p, b.n); /* no event about the machine */
    tb_event(&t, TB_EVENTPIPE, 2, 1, b.p, b.n); /* another event */
    tb_free(&b);
    tb_close(&t);
    expect_process("line", "os", "", "1.2.3", "line");
}

/* .NET Core 3 calls itself 4.0.0. */
static void the_version_of_core_3(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "/usr/share/dotnet/shared/Microsoft.NETCore.App/3.0.0/System.Private.CoreLib.dll",
          "3.0.0" },
        { "C:\\dotnet\\shared\\Microsoft.NETCore.App\\3.1.32\\System.Private.CoreLib.dll",
          "3.1.32" },
        { "/srv/shop/System.Private.CoreLib.dll", "3" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        anew(TB_V4);
        tb_gc_start(&t, 1);
        small_walk(24);
        tb_gc_end(&t, 1);
        tb_module(&t, 0x99, rows[i][0]);
        tb_runtime_info(&t, 4, 0, 0, "p");
        tb_close(&t);
        expect_process("p", "", "", rows[i][1], "p");
    }
}

static void names_of_processes(void **state)
{
    (void)state;
    static const struct {
        const char *line, *name;
    } rows[] = {
        { "", "" },
        { "   ", "" },
        { "a", "a" },
        { "/usr/bin/app", "app" },
        { "/usr/bin/app --x /y.dll", "app" },
        { "C:\\A B\\app.exe", "A" },
        { "\"C:\\A B\\app.exe\" -x", "app" },
        { "\"C:\\A B\\app.exe", "app" },
        { "app.EXE", "app.EXE" },
        { ".exe", ".exe" },
        { "x.exe", "x" },
        { "dotnet", "dotnet" },
        { "dotnet app.dll", "app" },
        { "dotnet exec /srv/my.app.dll --x b.dll", "my.app" },
        { "dotnet run", "dotnet" },
        { "dotnet \"C:\\A B\\c.dll\" d.dll", "c" },
        { "C:\\dotnet.exe x.dll", "x" },
        { "/usr/bin/dotnet .dll y.dll", "y" },
        { "dotnets app.dll", "dotnets" },
        { "Dotnet app.dll", "Dotnet" },
        { "  dotnet   app.dll  ", "app" },
        { "dir/", "" },
        { "\"\" x", "" },
        { "dotnet app.dllx", "dotnet" },
        { "dotnet \"a.dll", "a" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        anew(TB_V4);
        tb_gc_start(&t, 1);
        small_walk(24);
        tb_gc_end(&t, 1);
        tb_process_info(&t, rows[i].line, "", "");
        tb_close(&t);
        struct gcd_input *in;
        const struct gcd_dump *d = open_dump(&in);
        if (strcmp(gcd_dump_summary(d)->process_name, rows[i].name) != 0)
            fail_msg("%s: %s", rows[i].line, gcd_dump_summary(d)->process_name);
        gcd_dump_free((struct gcd_dump *)(uintptr_t)d);
        gcd_input_free(in);
    }
}

/* ---- which process ---- */

static void walk_of(uint32_t process, bool requested, uint64_t size)
{
    t.process = process;
    t.thread = process;
    tb_gc_start_full(&t, 1, requested ? 2 : 1, requested, 0);
    small_walk(size);
    tb_gc_end(&t, 1);
    tb_flush(&t);
}

/* The first process with a requested walk, else the first one with any walk. */
static void which_process_is_taken(void **state)
{
    (void)state;
    static const struct {
        bool requested[3];
        unsigned taken;
        bool complete;
    } rows[] = {
        { { 1, 1, 1 }, 0, true }, { { 0, 1, 1 }, 1, true },  { { 0, 0, 1 }, 2, true },
        { { 1, 0, 1 }, 0, true }, { { 0, 0, 0 }, 0, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        anew(TB_V6);
        for (uint32_t k = 0; k < 3; k++)
            walk_of(100 + k, rows[i].requested[k], 24 + 8 * k);
        tb_close(&t);
        run();
        assert_true(r.facts.process == 100 + rows[i].taken &&
                    r.facts.bytes == 24 + 8 * rows[i].taken && r.facts.processes_ignored == 2);
        assert_int_equal(r.verdict.complete, rows[i].complete);
    }
}

static void processes_by_name_and_number(void **state)
{
    (void)state;
    static const char *const lines[] = { "/opt/one --x", "dotnet /srv/two.dll", "C:\\three.exe" };
    anew(TB_V6);
    for (uint32_t k = 0; k < 3; k++) {
        walk_of(100 + k, k != 0, 24 + 8 * k);
        tb_process_info(&t, lines[k], "", "");
        tb_flush(&t);
    }
    tb_close(&t);
    static const struct {
        uint64_t process;
        const char *name;
        unsigned dump;
        gcd_status st;
        uint64_t taken;
    } rows[] = {
        { 0, NULL, 0, GCD_OK, 101 },           { 0, "one", 0, GCD_OK, 100 },
        { 0, "two", 0, GCD_OK, 101 },          { 0, "three", 0, GCD_OK, 102 },
        { 102, NULL, 0, GCD_OK, 102 },         { 100, "one", 0, GCD_OK, 100 },
        { 100, "two", 0, GCD_E_NOT_FOUND, 0 }, { 0, "four", 0, GCD_E_NOT_FOUND, 0 },
        { 7, NULL, 0, GCD_E_NOT_FOUND, 0 },    { 0, "two", 2, GCD_E_NOT_FOUND, 0 },
        { 0, "two", 1, GCD_OK, 101 },          { 0, "tw", 0, GCD_E_NOT_FOUND, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gcd_input *in;
        struct gcd_dump *d = NULL;
        struct gcd_error err = GCD_ERROR_INIT;
        struct gcd_dump_options o = { .process = rows[i].process,
                                      .process_name = rows[i].name,
                                      .walk_number = rows[i].dump };
        assert_int_equal(gcd_input_from_memory(t.out.p, t.out.n, NULL, &in, NULL), GCD_OK);
        assert_int_equal(gcd_dump_open(in, &o, &d, &err), rows[i].st);
        if (d != NULL) {
            assert_true(gcd_dump_summary(d)->process == rows[i].taken);
            assert_int_equal(gcd_dump_summary(d)->process_count, rows[i].process == 0 ? 3 : 1);
            for (size_t k = 0; k < gcd_dump_summary(d)->process_count; k++) {
                const struct gcd_process *p = &gcd_dump_summary(d)->processes[k];
                static const char *const names[] = { "one", "two", "three" };
                assert_true(p->dumps == 1 && p->chosen == (p->process == rows[i].taken));
                assert_string_equal(p->name, names[p->process - 100]);
            }
        }
        gcd_dump_free(d);
        gcd_input_free(in);
    }
}

/* ---- the second pass ---- */

static const uint8_t *find(const void *needle, size_t n, size_t nth)
{
    for (size_t i = 0; i + n <= t.out.n; i++)
        if (memcmp(t.out.p + i, needle, n) == 0 && nth-- == 0)
            return t.out.p + i;
    fail_msg("not found");
    return NULL;
}

/* An event of each kind that holds less than in the first pass. */
static void an_input_that_says_less_than_before(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 2; kind++)
        for (unsigned change = 0; change < 2; change++) {
            struct gcd_input *in;
            struct gcd_dump *d = NULL;
            struct gcd_objects *o;
            struct gcd_object object;
            struct gcd_error err = GCD_ERROR_INIT;
            const uint64_t *targets;
            size_t n;
            anew(TB_V4);
            tb_gc_start(&t, 1);
            tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Node" }));
            for (uint64_t i = 0; i < 4; i++) {
                tb_nodes(&t, TB_LIST(struct tb_node, { 0xabcd00 + 24 * i, 24, 0x100, 1 }));
                tb_edges(&t, TB_LIST(uint64_t, 0xabcd00 + 24 * i));
            }
            tb_gc_end(&t, 1);
            tb_close(&t);
            assert_int_equal(gcd_input_from_memory(t.out.p, t.out.n, NULL, &in, NULL), GCD_OK);
            assert_int_equal(gcd_dump_open(in, NULL, &d, NULL), GCD_OK);
            assert_true(gcd_dump_summary(d)->verdict.complete);
            /* the count of the last event, in front of its only record */
            if (change == 1) {
                /* its address in a recording, on whatever machine this is */
                static const uint8_t last[8] = { 0x48, 0xcd, 0xab };
                uint8_t *at = (uint8_t *)(uintptr_t)find(last, sizeof last, kind);
                assert_memory_equal(at - 10, "\x03\0\0\0\x01\0\0\0\0\0", 10);
                at[-6] = 0;
            }
            assert_int_equal(gcd_objects_new(d, &o, &err), GCD_OK);
            gcd_status st;
            while ((st = gcd_objects_next(o, &object, &err)) == GCD_OK)
                while (gcd_objects_edges(o, &targets, &n, &err) == GCD_OK)
                    ;
            assert_int_equal(st, change == 0 ? GCD_END : GCD_E_FORMAT);
            gcd_objects_free(o);
            gcd_dump_free(d);
            gcd_input_free(in);
        }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(kinds_of_gcs),
        TEST(which_walk_is_taken),
        TEST(the_start_of_a_walk_without_an_end),
        TEST(the_walk_that_was_asked_for),
        TEST(the_walk_that_gives_way),
        TEST(records_that_count),
        TEST(sums_of_types),
        TEST(the_start_that_belongs_to_a_walk),
        TEST(heaps_of_the_gc),
        TEST(pauses_of_no_length),
        TEST(the_pause_of_the_walk),
        TEST(dependent_handles_are_in_order),
        TEST(ranges_of_the_layout_after_the_gc),
        TEST(what_the_process_says),
        TEST(the_version_of_core_3),
        TEST(names_of_processes),
        TEST(which_process_is_taken),
        TEST(processes_by_name_and_number),
        TEST(an_input_that_says_less_than_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
