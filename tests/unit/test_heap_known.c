/*
 * Reused ids of types, modules and assemblies: each walk gets the description that was valid when
 * it ended, and reports it when that is ambiguous.
 */
#include <stdio.h>
#include <string.h>

#include "support/check.h"
#include "support/run.h"
#include "support/tb.h"

#define TYPE     0x100u
#define MODULE   0xa0u
#define ASSEMBLY 0xb0u
#define WALKS    3u

static struct tb t;
static uint64_t assembly_id; /* time of the next event */
static struct run r;
static struct run_options how;

static int setup(void **state)
{
    (void)state;
    tb_init(&t, TB_V4, 8);
    how = (struct run_options){ 0 };
    assembly_id = ASSEMBLY;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    run_done(&r);
    tb_done(&t);
    return 0;
}

/* Walk N lasts from N * 10000 to N * 10000 + 900 ns. */
/* Events of one thread are ordered by time. */
static uint64_t other_thread = 100;

/* The last sequence point is later than all events. */
static void end(void)
{
    t.time_ns = 1000000;
    tb_close(&t);
}

static void walk_without_end(uint32_t n)
{
    t.thread = 7;
    t.time_ns = 10000 * (int64_t)n;
    t.step_ns = 100;
    tb_gc_start(&t, n);
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 24, TYPE, 0 }));
}

static void walk_end(uint32_t n)
{
    t.thread = 7;
    t.time_ns = 10000 * (int64_t)n + 900;
    tb_gc_end(&t, n);
}

static void walk(uint32_t n)
{
    walk_without_end(n);
    walk_end(n);
}

/* One description of the type; in the order of the file. */
struct said {
    int64_t ns;       /* 0 = no more */
    const char *name; /* NULL = none */
    uint32_t token;
};

static void say(const struct said *s, uint64_t thread)
{
    t.thread = thread;
    t.time_ns = s->ns;
    tb_types(&t, TB_LIST(struct tb_type,
                         { .id = TYPE, .module = MODULE, .token = s->token, .name = s->name }));
}

/* Checks the dump of walk N: its type is called "[NAME] [PATH]", and that is CERTAIN or not. */
static void check(uint32_t n, const char *names, bool certain, const char *what)
{
    how.walk_number = n;
    run_done(&r);
    run_trace(t.out.p, t.out.n, &how, &r);
    const char *wrong = run_check(&r);
    char wanted[100];
    (void)snprintf(wanted, sizeof wanted, "type %x module %x %s ", TYPE, MODULE, names);
    if (wrong != NULL || r.st != GCD_OK || strstr(r.text, wanted) == NULL)
        fail_msg("%s, walk %u: %s, wanted %s in\n%s", what, (unsigned)n,
                 wrong != NULL ? wrong : "other names", wanted, r.text);
    bool ambiguous = false;
    for (size_t i = 0; i < r.verdict.reason_count; i++)
        ambiguous = ambiguous || r.verdict.reasons[i].code == GCD_REASON_TYPES_AMBIGUOUS;
    /* a walk without its end makes the others incomplete too, but their names stay certain */
    bool sound = r.verdict.complete || (r.verdict.reason_count == 1 &&
                                        r.verdict.reasons[0].code == GCD_REASON_EVENTS_MISPLACED);
    if (ambiguous == certain || sound != certain)
        fail_msg("%s, walk %u: %s in\n%s", what, (unsigned)n,
                 certain ? "said to be ambiguous" : "taken for certain", r.text);
}

static void types_that_are_used_again(void **state)
{
    static const struct {
        const char *what;
        struct said said[4];
        const char *names[WALKS];
        bool certain[WALKS];
    } rows[] = {
        { "described in each walk",
          { { 10500, "Red", 1 }, { 20500, "Green", 2 }, { 30500, "Red", 1 } },
          { "[Red] []", "[Green] []", "[Red] []" },
          { true, true, true } },
        { "described once",
          { { 10500, "Red", 1 } },
          { "[Red] []", "[Red] []", "[Red] []" },
          { true, true, true } },
        { "described when it is new",
          { { 10500, "Red", 1 }, { 30500, "Green", 2 } },
          { "[Red] []", "[Red] []", "[Green] []" },
          { true, true, true } },
        { "at the very end of a walk",
          { { 10900, "Red", 1 }, { 10901, "Green", 2 } },
          { "[Red] []", "[Green] []", "[Green] []" },
          { true, true, true } },
        { "described after all walks",
          { { 40000, "Red", 1 } },
          { "[Red] []", "[Red] []", "[Red] []" },
          { true, true, true } },
        { "two that are younger",
          { { 40000, "Red", 1 }, { 50000, "Green", 2 } },
          { "[Red] []", "[Red] []", "[Red] []" },
          { false, false, false } },
        { "two that are younger, the other way round",
          { { 50000, "Green", 2 }, { 40000, "Red", 1 } },
          { "[Red] []", "[Red] []", "[Red] []" },
          { false, false, false } },
        { "just before the end of a walk",
          { { 5000, "Blue", 3 }, { 10900, "Red", 1 } },
          { "[Red] []", "[Red] []", "[Red] []" },
          { true, true, true } },
        { "the file has another order",
          { { 30500, "Blue", 3 }, { 10500, "Red", 1 }, { 20500, "Green", 2 } },
          { "[Red] []", "[Green] []", "[Blue] []" },
          { true, true, true } },
        { "at the same time",
          { { 10500, "Red", 1 }, { 10500, "Green", 2 } },
          { "[Green] []", "[Green] []", "[Green] []" },
          { false, false, false } },
        { "seen before and after",
          { { 10500, "Red", 1 }, { 25000, "Red", 1 }, { 15000, "Green", 2 } },
          { "[Red] []", "[Green] []", "[Red] []" },
          { true, false, true } },
        { "seen before and after, in another order",
          { { 25000, "Red", 1 }, { 10500, "Red", 1 }, { 15000, "Green", 2 } },
          { "[Red] []", "[Green] []", "[Red] []" },
          { true, false, true } },
        { "two without a name",
          { { 10500, NULL, 1 }, { 10500, NULL, 2 } },
          { "[Type(0x2)] []", "[Type(0x2)] []", "[Type(0x2)] []" },
          { false, false, false } },
        { "a name that is replaced",
          { { 10500, NULL, 1 }, { 10600, "Red", 1 }, { 20500, "Green", 1 } },
          { "[Red] []", "[Green] []", "[Green] []" },
          { true, true, true } },
        { "the same again",
          { { 10500, "Red", 1 },
            { 10500, "Green", 2 },
            { 20500, "Blue", 3 },
            { 20500, "Blue", 4 } },
          { "[Green] []", "[Blue] []", "[Blue] []" },
          { false, true, true } },
        { "a name that comes later",
          { { 10500, NULL, 1 }, { 40000, "Red", 1 } },
          { "[Red] []", "[Red] []", "[Red] []" },
          { true, true, true } },
        { "a name that goes",
          { { 10500, "Red", 1 }, { 20500, NULL, 1 } },
          { "[Red] []", "[Red] []", "[Red] []" },
          { true, true, true } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tb_done(&t);
        tb_init(&t, TB_V4, 8);
        for (uint32_t n = 1; n <= WALKS; n++)
            walk(n);
        for (size_t k = 0; k < 4 && rows[i].said[k].ns != 0; k++)
            say(&rows[i].said[k], 8 + k);
        end();
        for (uint32_t n = 1; n <= WALKS; n++)
            check(n, rows[i].names[n - 1], rows[i].certain[n - 1], rows[i].what);
    }
}

/* Types of two load contexts with one name: the other fields count, too. */
static void the_whole_description_counts(void **state)
{
    static const struct tb_type first = {
        .id = TYPE, .module = MODULE, .token = 1, .flags = 3, .element_type = 0x12, .name = "T"
    };
    struct tb_type others[] = { first, first, first, first };
    (void)state;
    others[0].token = 2;
    others[1].flags = 4;
    others[2].element_type = 0x11;
    others[3].module = MODULE + 1;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        tb_done(&t);
        tb_init(&t, TB_V4, 8);
        for (uint32_t n = 1; n <= 2; n++) {
            walk_without_end(n);
            tb_types(&t, n == 1 ? &first : &others[i], 1);
            walk_end(n);
        }
        end();
        for (uint32_t n = 1; n <= 2; n++) {
            const struct tb_type *x = n == 1 ? &first : &others[i];
            char wanted[100];
            run_done(&r);
            how.walk_number = n;
            run_trace(t.out.p, t.out.n, &how, &r);
            (void)snprintf(wanted, sizeof wanted,
                           "type %x module %x [T] [] 1 24 token %x flags %x element %x", TYPE,
                           (unsigned)x->module, (unsigned)x->token, (unsigned)x->flags,
                           (unsigned)x->element_type);
            assert_true(r.verdict.complete);
            if (strstr(r.text, wanted) == NULL)
                fail_msg("no %s in\n%s", wanted, r.text);
        }
    }
}

/* One name in two modules at the same time: which module is it? */
static void a_name_in_two_modules(void **state)
{
    (void)state;
    walk_without_end(1);
    t.step_ns = 0;
    tb_types(&t, TB_LIST(struct tb_type, { .id = TYPE, .module = MODULE + 1, .name = "T" }));
    tb_types(&t, TB_LIST(struct tb_type, { .id = TYPE, .module = MODULE, .name = "T" }));
    walk_end(1);
    end();
    check(1, "[T] []", false, "two modules");
    assert_string_equal(r.verdict.reasons[0].text,
                        "1 type may have the name or module of another one that had the same id");
}

/* The end of a walk is lost: the descriptions valid at its end are unknown. */
static void a_walk_without_its_end(void **state)
{
    (void)state;
    walk_without_end(1);
    say(&(struct said){ 10500, "Red", 1 }, 7);
    walk_end(1);
    walk_without_end(2);
    say(&(struct said){ 20500, "Green", 2 }, 7);
    end();
    check(1, "[Red] []", true, "the walk before");
    check(2, "[Red] []", false, "the walk without its end");
}

/* ---- modules ---- */

enum kind { NOTHING, LOAD, UNLOAD, RUNDOWN_START, RUNDOWN_END };

struct module_said {
    enum kind kind;
    int64_t ns;
    const char *path;     /* NULL = no event about it */
    const char *assembly; /* "" = no event about it */
};

static void say_module(const struct module_said *m)
{
    static const struct {
        const char *provider;
        uint32_t module, assembly;
    } events[] = { [LOAD] = { TB_RUNTIME, 152, 154 },
                   [UNLOAD] = { TB_RUNTIME, 153, 155 },
                   [RUNDOWN_START] = { TB_RUNDOWN, 153, 155 },
                   [RUNDOWN_END] = { TB_RUNDOWN, 154, 156 } };
    struct tb_bytes b = { NULL, 0, 0 };
    tb_u64(&b, MODULE);
    tb_u64(&b, assembly_id);
    tb_u64(&b, 0);
    tb_utf16z(&b, m->path);
    tb_utf16z(&b, "");
    tb_u16(&b, 0);
    t.thread = other_thread++; /* the file is not ordered by time */
    t.time_ns = m->ns;
    if (m->path != NULL)
        tb_event(&t, events[m->kind].provider, events[m->kind].module, 2, b.p, b.n);
    b.n = 0;
    tb_u64(&b, assembly_id);
    tb_u64(&b, 1);
    tb_u64(&b, 0);
    tb_u32(&b, 8);
    tb_utf16z(&b, m->assembly);
    tb_u16(&b, 0);
    t.time_ns = m->ns;
    if (m->assembly[0] != '\0')
        tb_event(&t, events[m->kind].provider, events[m->kind].assembly, 1, b.p, b.n);
    tb_free(&b);
}

struct module_row {
    const char *what;
    struct said types[4];
    struct module_said said[6];
    const char *names[WALKS];
    bool certain[WALKS];
};

static void check_modules(const struct module_row *row)
{
    tb_done(&t);
    tb_init(&t, TB_V4, 8);
    for (uint32_t n = 1; n <= WALKS; n++)
        walk(n);
    for (size_t k = 0; k < 4 && row->types[k].ns != 0; k++)
        say(&row->types[k], other_thread++);
    for (size_t k = 0; k < 6 && row->said[k].kind != NOTHING; k++)
        say_module(&row->said[k]);
    end();
    for (uint32_t n = 1; n <= WALKS; n++)
        check(n, row->names[n - 1], row->certain[n - 1], row->what);
}

#define T                 \
    {                     \
        {                 \
            10500, "T", 1 \
        }                 \
    }

static void modules_that_are_used_again(void **state)
{
    static const struct module_row rows[] = {
        { "only at the end",
          T,
          { { RUNDOWN_END, 90000, "a", "" } },
          { "[T] [a]", "[T] [a]", "[T] [a]" },
          { true, true, true } },
        { "all that happened",
          T,
          { { LOAD, 1000, "a", "" },
            { UNLOAD, 15000, "a", "" },
            { LOAD, 16000, "b", "" },
            { UNLOAD, 25000, "b", "" },
            { LOAD, 26000, "c", "" },
            { RUNDOWN_END, 90000, "c", "" } },
          { "[T] [a]", "[T] [b]", "[T] [c]" },
          { true, true, true } },
        { "loads only",
          T,
          { { LOAD, 1000, "a", "" }, { LOAD, 15000, "b", "" }, { RUNDOWN_END, 90000, "b", "" } },
          { "[T] [a]", "[T] [b]", "[T] [b]" },
          { true, true, true } },
        { "loaded before the recording",
          T,
          { { UNLOAD, 15000, "a", "" }, { LOAD, 16000, "b", "" }, { RUNDOWN_END, 90000, "b", "" } },
          { "[T] [a]", "[T] [b]", "[T] [b]" },
          { true, true, true } },
        { "the file has another order",
          T,
          { { RUNDOWN_END, 90000, "b", "" }, { LOAD, 16000, "b", "" }, { UNLOAD, 15000, "a", "" } },
          { "[T] [a]", "[T] [b]", "[T] [b]" },
          { true, true, true } },
        { "one moment",
          T,
          { { UNLOAD, 15000, "a", "" }, { LOAD, 15000, "b", "" } },
          { "[T] [a]", "[T] [b]", "[T] [b]" },
          { true, true, true } },
        { "the load is not there",
          T,
          { { UNLOAD, 15000, "a", "" }, { RUNDOWN_END, 90000, "b", "" } },
          { "[T] [a]", "[T] [b]", "[T] [b]" },
          { true, true, true } },
        { "gone",
          T,
          { { LOAD, 1000, "a", "" }, { UNLOAD, 15000, "a", "" } },
          { "[T] [a]", "[T] []", "[T] []" },
          { true, true, true } },
        { "gone before all of them",
          T,
          { { UNLOAD, 1000, "a", "" } },
          { "[T] []", "[T] []", "[T] []" },
          { true, true, true } },
        { "rundowns at both ends",
          T,
          { { RUNDOWN_START, 1000, "a", "" }, { RUNDOWN_END, 90000, "b", "" } },
          { "[T] [a]", "[T] [a]", "[T] [a]" },
          { true, true, true } },
        { "two at the end",
          T,
          { { RUNDOWN_END, 90000, "a", "" }, { RUNDOWN_END, 91000, "b", "" } },
          { "[T] [a]", "[T] [a]", "[T] [a]" },
          { false, false, false } },
        { "nothing but later loads",
          T,
          { { LOAD, 90000, "a", "" } },
          { "[T] [a]", "[T] [a]", "[T] [a]" },
          { true, true, true } },
        { "two later loads",
          T,
          { { LOAD, 90000, "a", "" }, { UNLOAD, 91000, "a", "" }, { LOAD, 92000, "b", "" } },
          { "[T] [a]", "[T] [a]", "[T] [a]" },
          { false, false, false } },
        { "another one is loaded, the same comes back",
          T,
          { { UNLOAD, 15000, "a", "" },
            { LOAD, 16000, "b", "" },
            { UNLOAD, 25000, "b", "" },
            { LOAD, 26000, "a", "" } },
          { "[T] [a]", "[T] [b]", "[T] [a]" },
          { true, true, true } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_modules(&rows[i]);
}

/* Modules without a path are named after their assembly. */
static void assemblies_that_are_used_again(void **state)
{
    static const struct module_row rows[] = {
        { "all that happened",
          T,
          { { LOAD, 1000, "", "A, V" },
            { UNLOAD, 15000, "", "A, V" },
            { LOAD, 16000, "", "B" },
            { RUNDOWN_END, 90000, "", "B" } },
          { "[T] [A]", "[T] [B]", "[T] [B]" },
          { true, true, true } },
        { "two at the end",
          T,
          { { RUNDOWN_END, 90000, "", "A" }, { RUNDOWN_END, 91000, "", "B" } },
          { "[T] [A]", "[T] [A]", "[T] [A]" },
          { false, false, false } },
        { "of no interest beside a path",
          T,
          { { RUNDOWN_END, 90000, "a", "A" }, { RUNDOWN_END, 91000, "a", "B" } },
          { "[T] [a]", "[T] [a]", "[T] [a]" },
          { true, true, true } },
        { "gone",
          T,
          { { RUNDOWN_END, 90000, "", "" },
            { LOAD, 1000, NULL, "A" },
            { UNLOAD, 15000, NULL, "A" } },
          { "[T] [A]", "[T] []", "[T] []" },
          { true, true, true } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_modules(&rows[i]);
}

/* The next module with that id belongs to another assembly; like the first one it has no path. */
static void a_module_of_another_assembly(void **state)
{
    (void)state;
    walk(1);
    walk(2);
    say(&(struct said){ 10500, "T", 1 }, 8);
    say_module(&(struct module_said){ LOAD, 1000, "", "A" });
    say_module(&(struct module_said){ UNLOAD, 15000, "", "A" });
    assembly_id++;
    say_module(&(struct module_said){ LOAD, 16000, "", "B" });
    end();
    check(1, "[T] [A]", true, "the first assembly");
    check(2, "[T] [B]", true, "the second assembly");
}

/* A type of the module was replaced after the walk: at the end the id means another module. */
static void modules_whose_types_were_replaced(void **state)
{
    static const struct module_row rows[] = {
        { "known at the end only",
          { { 10500, "Red", 1 }, { 25000, "Green", 2 } },
          { { RUNDOWN_END, 90000, "b", "" } },
          { "[Red] []", "[Red] []", "[Green] [b]" },
          { true, true, true } },
        { "with its unload",
          { { 10500, "Red", 1 }, { 25000, "Green", 2 } },
          { { UNLOAD, 22000, "a", "" }, { LOAD, 23000, "b", "" }, { RUNDOWN_END, 90000, "b", "" } },
          { "[Red] [a]", "[Red] [a]", "[Green] [b]" },
          { true, true, true } },
        { "known before",
          { { 10500, "Red", 1 }, { 25000, "Green", 2 } },
          { { LOAD, 1000, "a", "" }, { RUNDOWN_END, 90000, "b", "" } },
          { "[Red] [a]", "[Red] [a]", "[Green] [a]" },
          { true, true, true } },
        { "two that are known later only",
          { { 10500, "Red", 1 }, { 25000, "Green", 2 } },
          { { RUNDOWN_START, 80000, "b", "" }, { RUNDOWN_END, 90000, "c", "" } },
          { "[Red] []", "[Red] []", "[Green] [b]" },
          { true, true, false } },
        { "loaded and unloaded later",
          { { 10500, "Red", 1 }, { 25000, "Green", 2 } },
          { { LOAD, 80000, "a", "" }, { UNLOAD, 81000, "a", "" } },
          { "[Red] []", "[Red] []", "[Green] [a]" },
          { true, true, true } },
        { "the same type again",
          { { 10500, "Red", 1 }, { 5000, "Green", 2 }, { 25000, "Red", 1 } },
          { { RUNDOWN_END, 90000, "b", "" } },
          { "[Red] [b]", "[Red] [b]", "[Red] [b]" },
          { true, true, true } },
        { "an instance of a type that stays",
          { { 10500, "List`1[Red]", 1 }, { 25000, "List`1[Green]", 1 } },
          { { RUNDOWN_END, 90000, "b", "" } },
          { "[List`1[Red]] [b]", "[List`1[Red]] [b]", "[List`1[Green]] [b]" },
          { true, true, true } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_modules(&rows[i]);
}

/* One thread loads, the finalizer's unloads; each writes in its order, the file mixes them in any
 * way. */
static void loads_and_unloads_come_from_two_threads(void **state)
{
    static const char *const kinds[][4] = { { "a", "b", "c", "a" }, { "A", "B", "C", "A" } };
    static const int64_t loaded[] = { 1000, 16000, 26000, 30500 },
                         unloaded[] = { 15000, 25000, 30400 };
    (void)state;
    for (unsigned order = 0; order < 1u << 7; order++) {
        if (__builtin_popcount(order) != 4) /* which of the seven events are loads */
            continue;
        for (unsigned k = 0; k < 2; k++) {
            struct module_said said[7];
            for (unsigned n = 0, l = 0, u = 0; n < 7; n++) {
                bool load = (order >> n & 1) != 0;
                const char *name = load ? kinds[k][l] : kinds[k][u];
                said[n] =
                    (struct module_said){ load ? LOAD : UNLOAD, load ? loaded[l++] : unloaded[u++],
                                          k == 0 ? name : "", k == 0 ? "" : name };
            }
            tb_done(&t);
            tb_init(&t, TB_V4, 8);
            for (uint32_t n = 1; n <= WALKS; n++)
                walk(n);
            say(&(struct said){ 10500, "T", 1 }, other_thread++);
            for (unsigned n = 0; n < 7; n++)
                say_module(&said[n]);
            end();
            check(1, k == 0 ? "[T] [a]" : "[T] [A]", true, "the first one");
            check(2, k == 0 ? "[T] [b]" : "[T] [B]", true, "the second one");
            check(3, k == 0 ? "[T] [a]" : "[T] [A]", true, "the first one again");
        }
    }
}

/* A type that comes back after another one: what is said of its first time later in the file does
 * not reach to the second. */
static void a_type_that_comes_back(void **state)
{
    static const struct said all[] = { { 10500, "Red", 1 },
                                       { 20500, "Green", 2 },
                                       { 30500, "Red", 1 },
                                       { 10700, "Red", 1 },
                                       { 20700, "Green", 2 } };
    (void)state;
    for (uint32_t n = 1; n <= WALKS; n++)
        walk(n);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        say(&all[i], 8 + i);
    end();
    check(1, "[Red] []", true, "the first one");
    check(2, "[Green] []", true, "the second one");
    check(3, "[Red] []", true, "the first one again");
}

/* Unlimited descriptions: each is kept, and counts against the limit. */
static void limits_are_kept(void **state)
{
    (void)state;
    walk(1);
    for (uint32_t i = 0; i < 1000; i++)
        say(&(struct said){ 20000 + i, i % 2 != 0 ? "Red" : "Green", i % 2 }, 8);
    end();
    const struct gcd_limits types = { .types = 1000 }, fewer = { .types = 999 };
    how.limits = &types;
    check(1, "[Green] []", false, "as many as are allowed");
    how.limits = &fewer;
    run_done(&r);
    run_trace(t.out.p, t.out.n, &how, &r);
    assert_int_equal(r.st, GCD_E_LIMIT);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(types_that_are_used_again),
        TEST(the_whole_description_counts),
        TEST(a_name_in_two_modules),
        TEST(a_walk_without_its_end),
        TEST(modules_that_are_used_again),
        TEST(assemblies_that_are_used_again),
        TEST(a_module_of_another_assembly),
        TEST(modules_whose_types_were_replaced),
        TEST(loads_and_unloads_come_from_two_threads),
        TEST(a_type_that_comes_back),
        TEST(limits_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
