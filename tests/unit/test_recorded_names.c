/*
 * Names in a recording: written in front of its end mark, read back, without damage to anything
 * else in it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/recording.h>

#include "load/load.h"
#include "nettrace/nt_append.h"
#include "support/check.h"
#include "support/failalloc.h"
#include "support/invent_names.h"
#include "support/opened.h"
#include "support/run.h"
#include "support/tb.h"
#include "support/tb_names.h"

#define OUTER "Tests.Outer`1"

/* The recording P with names in it. */
static uint8_t *with_names(const void *p, size_t n, unsigned walk, const char *outer, size_t *ret_n)
{
    uint64_t names = 0;
    struct opened o = open_walk(p, n, walk);
    invent_names(o.d, outer);
    assert_int_equal(gcd_recording_names(o.d), GCD_RECORDING_NAMES_NEW);
    uint8_t *copy = copy_of(&o, false, ret_n, &names);
    assert_true(names > 0 && *ret_n > n);
    opened_done(&o);
    return copy;
}

static void check_same_heap(const struct gcd_summary *a, const struct gcd_summary *b)
{
    assert_true(a->objects == b->objects && a->bytes == b->bytes && a->edges == b->edges &&
                a->type_count == b->type_count);
    assert_true(a->root_count == b->root_count && a->module_count == b->module_count &&
                a->pauses == b->pauses);
    assert_true(a->gc_start_ns == b->gc_start_ns && a->gc_end_ns == b->gc_end_ns &&
                a->walk_number == b->walk_number);
    assert_true(a->trace.lost_events == b->trace.lost_events &&
                a->trace.loss_verified == b->trace.loss_verified);
    assert_true(a->trace.irregular_steps == b->trace.irregular_steps &&
                a->trace.unknown_events == b->trace.unknown_events);
    assert_int_equal(b->trace.end, GCD_TRACE_CLOSED);
    assert_int_equal(a->verdict.reason_count, b->verdict.reason_count);
    for (size_t i = 0; i < a->verdict.reason_count; i++)
        assert_string_equal(a->verdict.reasons[i].text, b->verdict.reasons[i].text);
}

static bool same_name(const struct gcd_type *t, const struct gcd_type *was, const char *outer)
{
    char wanted[4096];
    (void)snprintf(wanted, sizeof wanted, "%s+%s", outer, was->name);
    return strcmp(t->name, outer != NULL && invent_outer(was) ? wanted : was->name) == 0 &&
           strcmp(t->raw_name, was->name) == 0;
}

/* NAMED is BARE with the names of invent_names; OUTER NULL: without them. */
static void check_names(const struct gcd_summary *named, const struct gcd_summary *bare,
                        const char *outer)
{
    for (uint32_t i = 0; i < bare->type_count; i++) {
        const char *layout = named->types[i].layout;
        assert_true(same_name(&named->types[i], &bare->types[i], outer));
        assert_int_equal(layout != NULL, outer != NULL && i % 2 == 0);
        if (layout != NULL)
            assert_string_equal(layout, INVENTED_LAYOUT);
    }
    for (size_t i = 0; i < bare->root_count; i++) {
        const struct gcd_root *r = &named->roots[i];
        bool known = outer != NULL && r->kind == GCD_ROOT_STATIC && i % 2 == 0;
        assert_string_equal(r->name, bare->roots[i].name);
        assert_string_equal(r->class_name, known ? INVENTED_CLASS : "");
        assert_string_equal(r->label, known ? INVENTED_LABEL : r->name);
    }
    for (size_t i = 0; i < bare->module_count; i++) {
        const struct gcd_module *m = &named->modules[i];
        assert_int_equal(m->state, outer != NULL ? GCD_MODULE_RECORDED : GCD_MODULE_NOT_READ);
        assert_int_equal(m->mvid[15], outer != NULL ? i + 1 : 0);
        assert_int_equal(m->has_public_key, outer != NULL && i % 2 == 0);
        assert_int_equal(m->public_key_token[7], m->has_public_key ? 0xa0 + i % 90 : 0);
    }
}

static void a_recording_keeps_the_names(void **state)
{
    (void)state;
    const char *name;
    size_t n, k, seen = 0;
    uint8_t *bytes;
    for (size_t i = 0; (bytes = run_bundled(GCDUMPC_SOURCE, i, &name, &n)) != NULL;
         i++, free(bytes)) {
        struct opened bare = open_walk(bytes, n, 0);
        invent_names(bare.d, OUTER);
        bool room = gcd_recording_names(bare.d) == GCD_RECORDING_NAMES_NEW;
        bool wanted =
            bare.d->summary.trace.loss_verified && bare.d->summary.trace.format_version == 4;
        assert_int_equal(room, wanted);
        opened_done(&bare);
        if (!room)
            continue;
        bare = open_walk(bytes, n, 0);
        uint8_t *copy = with_names(bytes, n, 0, OUTER, &k);
        struct opened named = open_walk(copy, k, 0);
        check_same_heap(gcd_dump_summary(bare.d), gcd_dump_summary(named.d));
        check_names(gcd_dump_summary(named.d), gcd_dump_summary(bare.d), OUTER);
        assert_memory_equal(copy, bytes, n - 1);
        seen++;
        opened_done(&bare);
        opened_done(&named);
        free(copy);
    }
    assert_true(seen >= 9);
}

static uint8_t *bundled(const char *wanted, size_t *ret_n)
{
    const char *name;
    uint8_t *bytes;
    for (size_t i = 0; (bytes = run_bundled(GCDUMPC_SOURCE, i, &name, ret_n)) != NULL; i++) {
        if (strcmp(name, wanted) == 0)
            return bytes;
        free(bytes);
    }
    fail_msg("no recording %s", wanted);
    return NULL;
}

/* The bytes of a living process that ended without a heap walk are kept. */
static void a_dump_that_cannot_be_closed_is_copied(void **state)
{
    (void)state;
    size_t n, k;
    uint64_t added = 7;
    uint8_t *bytes = bundled("net10-wks", &n);
    struct opened o;
    assert_int_equal(gcd_input_from_memory(bytes, 64, NULL, &o.in, NULL), GCD_OK);
    assert_int_equal(gcd_dump_new(NULL, &o.d, NULL), GCD_OK);
    assert_int_equal(gcd_dump_feed(o.d, bytes, 64, NULL), GCD_OK);
    assert_true(gcd_dump_close(o.d, o.in, NULL) < 0);
    uint8_t *copy = copy_of(&o, false, &k, &added);
    assert_true(k == 64 && memcmp(copy, bytes, k) == 0 && added == 0);
    free(copy);
    opened_done(&o);
    free(bytes);
}

/* A recording that cannot or must not take names stays the same, byte for byte. */
static void the_rest_is_copied(void **state)
{
    (void)state;
    static const char *const names[] = { "net10-wks-killed", "net10-wks" };
    for (size_t i = 0; i < 2; i++) {
        size_t n, k;
        uint64_t added = 7;
        uint8_t *bytes = bundled(names[i], &n);
        struct opened o = open_walk(bytes, n, 0);
        assert_int_equal(gcd_recording_names(o.d), GCD_RECORDING_NAMES_SAME);
        invent_names(o.d, OUTER);
        assert_int_equal(gcd_recording_names(o.d),
                         i == 0 ? GCD_RECORDING_NAMES_NO_ROOM : GCD_RECORDING_NAMES_NEW);
        uint8_t *copy = copy_of(&o, i == 1, &k, &added);
        assert_true(k == n && memcmp(copy, bytes, n) == 0 && added == 0);
        free(copy);
        opened_done(&o);
        free(bytes);
    }
}

static void names_of_other_walks_are_not_taken(void **state)
{
    (void)state;
    size_t n, k, all;
    uint8_t *bytes = bundled("net8-wks-two-dumps", &n);
    uint8_t *first = with_names(bytes, n, 1, "First", &k),
            *both = with_names(first, k, 2, "Second", &all);
    for (unsigned walk = 1; walk <= 2; walk++) {
        struct opened bare = open_walk(bytes, n, walk), one = open_walk(first, k, walk),
                      two = open_walk(both, all, walk);
        check_names(gcd_dump_summary(one.d), gcd_dump_summary(bare.d), walk == 1 ? "First" : NULL);
        check_names(gcd_dump_summary(two.d), gcd_dump_summary(bare.d),
                    walk == 1 ? "First" : "Second");
        check_same_heap(gcd_dump_summary(bare.d), gcd_dump_summary(two.d));
        opened_done(&bare);
        opened_done(&one);
        opened_done(&two);
    }
    free(first);
    free(both);
    free(bytes);
}

/* More names for the same walk: the existing ones stay, the new ones follow. */
static void names_can_be_added_again(void **state)
{
    (void)state;
    size_t n, k, again;
    uint64_t names;
    uint8_t *bytes = bundled("net10-wks", &n), *first = with_names(bytes, n, 0, OUTER, &k);
    struct opened bare = open_walk(bytes, n, 0), o = open_walk(first, k, 0);
    assert_int_equal(gcd_recording_names(o.d), GCD_RECORDING_NAMES_SAME);
    uint8_t *copy = copy_of(&o, false, &again, &names);
    assert_true(again == k && memcmp(copy, first, k) == 0);
    free(copy);
    o.d->modules[0].state = GCD_MODULE_READ; /* one more module, all others are recorded */
    copy = copy_of(&o, false, &again, &names);
    assert_true(again > k);
    opened_done(&o);
    o = open_walk(copy, again, 0);
    check_names(gcd_dump_summary(o.d), gcd_dump_summary(bare.d), OUTER);
    check_same_heap(gcd_dump_summary(bare.d), gcd_dump_summary(o.d));
    opened_done(&o);
    opened_done(&bare);
    free(copy);
    free(first);
    free(bytes);
}

/* A recording of a memory image says which thread each stack is of; names that are added to it
 * later come with that again. */
static void threads_stay_when_names_are_added(void **state)
{
    (void)state;
    size_t n, k, again, named = 0;
    uint8_t *bytes = run_load(GCDUMPC_SOURCE "/traces/net10-core/heap.core.gz", &n);
    struct opened core = open_walk(bytes, n, 0);
    uint8_t *made = copy_of(&core, false, &k, NULL);
    struct opened o = open_walk(made, k, 0);
    invent_names(o.d, OUTER);
    assert_int_equal(gcd_recording_names(o.d), GCD_RECORDING_NAMES_NEW);
    uint8_t *copy = copy_of(&o, false, &again, NULL);
    opened_done(&o);
    o = open_walk(copy, again, 0);
    const struct gcd_summary *was = gcd_dump_summary(core.d), *is = gcd_dump_summary(o.d);
    assert_int_equal(is->verdict.reason_count, was->verdict.reason_count);
    assert_int_equal(is->root_count, was->root_count);
    for (size_t i = 0; i < is->root_count; i++) {
        if (is->roots[i].kind != GCD_ROOT_STACK)
            continue;
        assert_string_equal(is->roots[i].name, was->roots[i].name);
        assert_string_equal(is->roots[i].label, was->roots[i].label);
        named += is->roots[i].name[0] != '\0';
    }
    assert_true(named > 0);
    opened_done(&o);
    opened_done(&core);
    free(copy);
    free(made);
    free(bytes);
}

/* ---- a small recording ---- */

static struct tb t;

static void begin(unsigned types)
{
    tb_init(&t, TB_V4, 8);
    tb_gc_start(&t, 1);
    for (unsigned i = 0; i < types; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "Node%u[System.Int32][]", i);
        tb_types(&t,
                 TB_LIST(struct tb_type,
                         { .id = 0x300 + 0x300 * (uint64_t)i, .module = 0x7000, .name = name }));
        tb_nodes(&t, TB_LIST(struct tb_node,
                             { 0x100000 + 24 * (uint64_t)i, 24, 0x300 + 0x300 * (uint64_t)i, 0 }));
    }
    tb_gc_end(&t, 1);
    tb_close(&t);
}

/* Long and many names: several blocks, each in order and with complete events. */
static void names_fill_several_blocks(void **state)
{
    (void)state;
    static const size_t lengths[] = { 1, 500, 3000, 16000 };
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        size_t k;
        char *outer = malloc(lengths[l] + 1);
        assert_non_null(outer);
        memset(outer, 'x', lengths[l]);
        outer[lengths[l]] = '\0';
        begin(60);
        uint8_t *copy = with_names(t.out.p, t.out.n, 0, outer, &k);
        struct opened o = open_walk(copy, k, 0);
        const struct gcd_summary *s = gcd_dump_summary(o.d);
        assert_int_equal(s->type_count, 60);
        assert_true(s->verdict.complete);
        for (uint32_t i = 0; i < s->type_count; i++) {
            assert_memory_equal(s->types[i].name, outer, lengths[l]);
            assert_string_equal(s->types[i].name + lengths[l] + 1, s->types[i].raw_name);
        }
        opened_done(&o);
        free(copy);
        free(outer);
        tb_done(&t);
    }
}

/* A name that does not fit into an event is left out, the others are written. */
static void names_can_be_too_long(void **state)
{
    (void)state;
    size_t k;
    char *outer = malloc(40001);
    assert_non_null(outer);
    memset(outer, 'x', 40000);
    outer[40000] = '\0';
    begin(2);
    struct opened o = open_walk(t.out.p, t.out.n, 0);
    invent_names(o.d, outer);
    o.d->types[1].name = "A+Node1[System.Int32][]";
    uint64_t names;
    uint8_t *copy = copy_of(&o, false, &k, &names);
    assert_int_equal(names, 1);
    opened_done(&o);
    o = open_walk(copy, k, 0);
    assert_string_equal(gcd_dump_summary(o.d)->types[0].name, "Node0[System.Int32][]");
    assert_string_equal(gcd_dump_summary(o.d)->types[1].name, "A+Node1[System.Int32][]");
    assert_int_equal(gcd_dump_summary(o.d)->modules[0].state, GCD_MODULE_RECORDED);
    opened_done(&o);
    free(copy);
    free(outer);
    tb_done(&t);
}

/* Only names read from files are recorded: the next reader computes the rest. */
static void what_is_not_known_is_not_recorded(void **state)
{
    (void)state;
    static const enum gcd_module_state states[] = { GCD_MODULE_NOT_READ, GCD_MODULE_READ,
                                                    GCD_MODULE_NO_PATH,  GCD_MODULE_NOT_FOUND,
                                                    GCD_MODULE_REPLACED, GCD_MODULE_UNREADABLE };
    const size_t count = sizeof states / sizeof *states;
    size_t k;
    tb_init(&t, TB_V4, 8);
    tb_gc_start(&t, 1);
    for (uint64_t i = 0; i < count; i++) {
        tb_types(
            &t, TB_LIST(struct tb_type, { .id = 0x300 + i, .module = 0x7000 + i, .name = "Node" }));
        tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000 + 24 * i, 24, 0x300 + i, 0 }));
    }
    tb_gc_end(&t, 1);
    tb_close(&t);
    struct opened o = open_walk(t.out.p, t.out.n, 0);
    for (size_t i = 0; i < count; i++)
        o.d->modules[i].state = states[i];
    o.d->types[0].name = "A-Node"; /* not what a nested type is called */
    o.d->types[1].name = "+Node";
    o.d->types[2].name = "A+Leaf";
    uint64_t names;
    uint8_t *copy = copy_of(&o, false, &k, &names);
    assert_int_equal(names, 0);
    opened_done(&o);
    o = open_walk(copy, k, 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(gcd_dump_summary(o.d)->modules[i].state,
                         states[i] == GCD_MODULE_READ ? GCD_MODULE_RECORDED : GCD_MODULE_NOT_READ);
    opened_done(&o);
    free(copy);
    tb_done(&t);
}

/* Cut anywhere: all names or none, and everything that was there before. */
static void a_cut_leaves_all_names_or_none(void **state)
{
    (void)state;
    size_t k, with = 0;
    begin(20);
    uint8_t *copy = with_names(t.out.p, t.out.n, 0, OUTER, &k);
    for (size_t cut = t.out.n; cut < k; cut++) {
        struct opened o = open_walk(copy, cut, 0);
        const struct gcd_summary *s = gcd_dump_summary(o.d);
        size_t named = 0;
        assert_int_equal(s->type_count, 20);
        for (uint32_t i = 0; i < s->type_count; i++)
            named += strcmp(s->types[i].name, s->types[i].raw_name) != 0;
        assert_true(named == 0 || named == 20);
        assert_true((named == 20) == (s->modules[0].state == GCD_MODULE_RECORDED));
        assert_int_equal(s->trace.end, GCD_TRACE_TRUNCATED);
        with += named > 0;
        opened_done(&o);
    }
    assert_true(with > 0 && with < k - t.out.n); /* layouts follow, and need not be whole */
    free(copy);
    tb_done(&t);
}

/* Each byte of the added part changed: the heap is the same, or the trace counts as damaged. */
static void damage_among_names_does_not_reach_the_heap(void **state)
{
    (void)state;
    size_t k;
    begin(3);
    uint8_t *copy = with_names(t.out.p, t.out.n, 0, OUTER, &k);
    for (size_t at = t.out.n; at < k; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            copy[at] ^= (uint8_t)(1u << bit);
            struct opened o = open_walk(copy, k, 0);
            const struct gcd_summary *s = gcd_dump_summary(o.d);
            assert_true(s->objects == 3 && s->type_count == 3 && s->bytes == 72);
            for (uint32_t i = 0; i < s->type_count; i++)
                assert_non_null(strstr(s->types[i].name, s->types[i].raw_name));
            opened_done(&o);
            copy[at] ^= (uint8_t)(1u << bit);
        }
    free(copy);
    tb_done(&t);
}

/* ---- events as other programs might write them ---- */

/* One object, one static variable; GC number 1, walk 1. */
static void small_heap(void)
{
    tb_init(&t, TB_V4, 8);
    tb_gc_start(&t, 1);
    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x300, .module = 0x7000, .name = "Node" }));
    tb_statics(&t, TB_LIST(struct tb_static,
                           { .slot = 0x5000, .object = 0x1000, .type = 0x300, .name = "s_it" }));
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 24, 0x300, 0 }));
    tb_gc_end(&t, 1);
}

/* Closes the trace and checks the name of the type, the label of the variable and the state of the
 * module.  With a problem, and if names are DAMAGED otherwise, the dump is incomplete. */
static bool damaged;
static void expect(const char *name, const char *label, enum gcd_module_state module,
                   const char *problem)
{
    tb_close(&t);
    struct opened o = open_walk(t.out.p, t.out.n, 0);
    const struct gcd_summary *s = gcd_dump_summary(o.d);
    assert_int_equal(s->verdict.complete, problem[0] == '\0' && !damaged);
    assert_int_equal(s->verdict.reason_count, s->verdict.complete ? 0 : 1);
    assert_true(s->verdict.complete || s->verdict.reasons[0].code == GCD_REASON_EVENTS_DAMAGED);
    damaged = false;
    assert_string_equal(s->types[0].name, name);
    assert_string_equal(s->types[0].raw_name, "Node");
    assert_string_equal(s->roots[0].label, label);
    assert_int_equal(s->modules[0].state, module);
    assert_string_equal(s->modules[0].problem, problem);
    assert_string_equal(s->modules[0].assembly, module == GCD_MODULE_RECORDED ? "Lib" : "");
    assert_string_equal(s->modules[0].path, module == GCD_MODULE_RECORDED ? "/srv/Lib.dll" : "");
    assert_string_equal(s->types[0].module_path, s->modules[0].path);
    opened_done(&o);
    tb_done(&t);
}

static void a_batch_must_be_whole(void **state)
{
    (void)state;
    static const char problem[] = "its names in the recording are not complete";
    static const struct {
        uint32_t gc, walk, types, statics;
        size_t missing; /* bytes of the event of the type */
        bool taken;
        const char *problem;
    } rows[] = {
        { 1, 1, 1, 1, 0, true, "" },
        { 2, 1, 1, 1, 0, false, "" },
        { 1, 2, 1, 1, 0, false, "" },
        { 1, 1, 2, 1, 0, false, problem },
        { 1, 1, 1, 2, 0, false, problem },
        { 1, 1, 1, 1, 1, false, problem },
        { 1, 1, UINT32_MAX, 1, 0, false, problem },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        small_heap();
        tb_names(&t, rows[i].gc, rows[i].walk, 1, rows[i].types, rows[i].statics);
        tb_named_module(&t, 0x7000, "Lib", "0123456789abcdef");
        tb_named_type(&t, 0x300, "A.B", rows[i].missing);
        tb_named_static(&t, 0x5000, "s_it", "A.C", "A.C.s_it");
        expect(rows[i].taken ? "A.B+Node" : "Node", rows[i].taken ? "A.C.s_it" : "s_it",
               rows[i].taken ? GCD_MODULE_RECORDED : GCD_MODULE_NOT_READ, rows[i].problem);
    }
}

/* The last complete batch counts, an unfinished one after it does not. */
static void the_last_whole_batch_counts(void **state)
{
    (void)state;
    static const char *const outers[] = { "First", "Second", "Third" };
    small_heap();
    tb_named_type(&t, 0x300, "Early", 0); /* outside of any batch */
    damaged = true;
    for (uint32_t i = 0; i < 3; i++) {
        tb_names(&t, 1, 1, 1, i == 2 ? 2 : 1, 0);
        tb_named_module(&t, 0x7000, "Lib", "");
        tb_named_type(&t, 0x300, outers[i], 0);
    }
    expect("Second+Node", "s_it", GCD_MODULE_RECORDED, "");
}

static void names_for_others_change_nothing(void **state)
{
    (void)state;
    small_heap();
    tb_names(&t, 1, 1, 1, 2, 2);
    tb_named_module(&t, 0x7008, "Other", "0123456789abcdeg");
    tb_named_type(&t, 0x301, "A", 0);
    tb_named_type(&t, 0x300, "", 0);
    tb_named_static(&t, 0x5000, "s_other", "A", "A.s_other");
    tb_named_static(&t, 0x5008, "s_it", "A", "A.s_it");
    tb_event(&t, "gcdumpc", 11, 1, "later", 5); /* of a newer version */
    expect("Node", "s_it", GCD_MODULE_NOT_READ, "");
}

/* Events that cannot be read, are too many, or have a description that is nearly ours. */
static void damage_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *provider;
        uint32_t id;
    } rows[] = { { "gcdumpc", 5 },  { "gcdumpc", 6 },  { "gcdumpc", 8 },
                 { "gcdumpc", 9 },  { "gcdumpc", 10 }, { "gcdumpc", 0 },
                 { "gcdumpc", 64 }, { "gcdumpc", 3 },  { "gcdumpb", 3 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        small_heap();
        tb_names(&t, 1, 1, 0, 0, 0);
        tb_event(&t, rows[i].provider, rows[i].id, 1, "\1\0\0\0\0\0\0\0\0\0\0\0", 12);
        tb_close(&t);
        struct opened o = open_walk(t.out.p, t.out.n, 0);
        const struct gcd_verdict *v = &gcd_dump_summary(o.d)->verdict;
        assert_int_equal(v->reason_count, i < 8 ? 1 : 2);
        assert_int_equal(v->reasons[0].code,
                         i < 8 ? GCD_REASON_EVENTS_DAMAGED : GCD_REASON_LOSS_UNVERIFIED);
        opened_done(&o);
        tb_done(&t);
    }
}

/* One wrong bit anywhere in the event of a layout, and there is no layout. */
static void a_damaged_layout_is_none(void **state)
{
    (void)state;
    const struct gcd_type type = {
        .id = 0x300, .name = "A", .raw_name = "A", .layout = INVENTED_LAYOUT
    };
    struct gcd_summary s = { .types = &type, .type_count = 1 };
    struct recorded_pass pass = { .summary = &s };
    enum recorded_kind kind;
    struct recorded_item item;
    uint8_t *payload = calloc(1, RECORDED_PAYLOAD_MAX);
    assert_non_null(payload);
    size_t n = recorded_put_next(&pass, payload, &kind);
    struct gcd_event ev = { .id = RECORDED_LAYOUT, .payload = payload, .payload_bytes = n };
    assert_int_equal(kind, RECORDED_LAYOUTS);
    assert_int_equal(recorded_read_item(&ev, &item), GCD_OK);
    assert_int_equal(item.id, 0x300);
    assert_int_equal(item.text[0].units, strlen(INVENTED_LAYOUT));
    for (size_t bit = 0; bit < 8 * n; bit++) {
        payload[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(recorded_read_item(&ev, &item), GCD_E_FORMAT);
        payload[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (ev.payload_bytes = 0; ev.payload_bytes < n; ev.payload_bytes++)
        assert_int_equal(recorded_read_item(&ev, &item), GCD_E_FORMAT);
    free(payload);
}

static void tokens_are_sixteen_digits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool valid;
    } rows[] = { { "0123456789abcdef", true },   { "", false },
                 { "0123456789abcdeF", false },  { "0123456789abcde", false },
                 { "0123456789abcdef0", false }, { "/123456789abcdef", false },
                 { "0123456789abcde:", false },  { "0123456789abcde`", false },
                 { "0123456789abcdeg", false } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static const uint8_t token[8] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef };
        small_heap();
        tb_names(&t, 1, 1, 1, 0, 0);
        tb_named_module(&t, 0x7000, "Lib", rows[i].text);
        tb_close(&t);
        struct opened o = open_walk(t.out.p, t.out.n, 0);
        const struct gcd_module *m = gcd_dump_summary(o.d)->modules;
        assert_int_equal(m->has_public_key, rows[i].valid);
        if (rows[i].valid)
            assert_memory_equal(m->public_key_token, token, sizeof token);
        opened_done(&o);
        tb_done(&t);
    }
}

/* The recording shrinks between reading and copying. */
static void an_input_that_shrinks_is_not_copied(void **state)
{
    (void)state;
    begin(3);
    struct opened whole = open_walk(t.out.p, t.out.n, 0), cut;
    struct gcd_sink *s;
    struct gcd_error err = GCD_ERROR_INIT;
    invent_names(whole.d, OUTER);
    assert_int_equal(gcd_input_from_memory(t.out.p, t.out.n - 9, NULL, &cut.in, NULL), GCD_OK);
    assert_int_equal(gcd_sink_new_memory(NULL, &s, NULL), GCD_OK);
    assert_int_equal(gcd_recording_write(whole.d, cut.in, s, NULL, NULL, &err), GCD_E_FORMAT);
    gcd_sink_free(s);
    gcd_input_free(cut.in);
    opened_done(&whole);
    tb_done(&t);
}

/* Each allocation of the writer fails once: the status says so, and nothing is leaked. */
static void memory_that_ends(void **state)
{
    (void)state;
    uint64_t failed = 0;
    begin(3);
    for (uint64_t n = 1; failed == n - 1; n++) {
        struct failalloc f;
        struct gcd_sink *s;
        struct gcd_error err = GCD_ERROR_INIT;
        failalloc_init(&f);
        struct gcd_dump_options options = { .context.alloc = &f.alloc };
        struct opened o;
        assert_int_equal(gcd_input_from_memory(t.out.p, t.out.n, NULL, &o.in, NULL), GCD_OK);
        assert_int_equal(gcd_dump_open(o.in, &options, &o.d, NULL), GCD_OK);
        invent_names(o.d, OUTER);
        assert_int_equal(gcd_sink_new_memory(NULL, &s, NULL), GCD_OK);
        f.fail_at = f.calls + n;
        gcd_status st = gcd_recording_write(o.d, o.in, s, NULL, NULL, &err);
        failed += f.failed;
        assert_int_equal(st, f.failed > 0 ? GCD_E_NOMEM : GCD_OK);
        assert_true(st == GCD_OK || strstr(err.msg, "names") != NULL);
        gcd_sink_free(s);
        opened_done(&o);
        assert_null(failalloc_complaint(&f));
    }
    assert_int_equal(failed, 2);
    tb_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_keeps_the_names),
        cmocka_unit_test(a_dump_that_cannot_be_closed_is_copied),
        cmocka_unit_test(the_rest_is_copied),
        cmocka_unit_test(names_of_other_walks_are_not_taken),
        cmocka_unit_test(names_can_be_added_again),
        cmocka_unit_test(threads_stay_when_names_are_added),
        cmocka_unit_test(names_fill_several_blocks),
        cmocka_unit_test(names_can_be_too_long),
        cmocka_unit_test(what_is_not_known_is_not_recorded),
        cmocka_unit_test(a_cut_leaves_all_names_or_none),
        cmocka_unit_test(damage_among_names_does_not_reach_the_heap),
        cmocka_unit_test(a_batch_must_be_whole),
        cmocka_unit_test(the_last_whole_batch_counts),
        cmocka_unit_test(names_for_others_change_nothing),
        cmocka_unit_test(damage_is_said),
        cmocka_unit_test(tokens_are_sixteen_digits),
        cmocka_unit_test(a_damaged_layout_is_none),
        cmocka_unit_test(memory_that_ends),
        cmocka_unit_test(an_input_that_shrinks_is_not_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
