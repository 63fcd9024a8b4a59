/* Profiles: pprof and collapsed stacks compared with each other, with the graph, and with a slow
 * computation. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/generations.h>
#include <gcdumpc/dominators.h>
#include <gcdumpc/paths.h>
#include <gcdumpc/unstable/fields.h>
#include <gcdumpc/unstable/origins.h>
#include <gcdumpc/writer.h>

#include "graph/graph_build.h"
#include "support/check.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"
#include "support/graph_roots.h"
#include "support/run.h"

static struct gcd_error err = GCD_ERROR_INIT;

/* ---- lines: "frame;frame;frame", objects, bytes ---- */

struct line {
    char *text;
    uint64_t objects, bytes;
};

struct lines {
    struct line items[20000];
    size_t n;
};

static void lines_add(struct lines *l, const char *text, uint64_t objects, uint64_t bytes)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->items[i].text, text) == 0) {
            l->items[i].objects += objects;
            l->items[i].bytes += bytes;
            return;
        }
    assert_true(l->n < sizeof l->items / sizeof *l->items);
    l->items[l->n++] = (struct line){ .text = strdup(text), .objects = objects, .bytes = bytes };
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

static void lines_sort(struct lines *l)
{
    qsort(l->items, l->n, sizeof *l->items, compare_lines);
}

static void lines_clear(struct lines *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->items[i].text);
    l->n = 0;
}

static void append(char *to, size_t cap, const char *frame)
{
    size_t n = strlen(to);
    if (n > 0)
        to[n++] = ';';
    for (; *frame != '\0'; frame++) {
        assert_true(n + 1 < cap);
        bool shown = (unsigned char)*frame >= 0x20 && *frame != 0x7f;
        to[n++] = *frame == ';' ? ':' : shown ? *frame : '?';
    }
    to[n] = '\0';
}

/* ---- a small decoder of pprof ---- */

struct view {
    const uint8_t *p, *end;
};

static uint64_t varint(struct view *v)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        assert_true(v->p < v->end);
        uint8_t b = *v->p++;
        value |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80)
            return value;
    }
    fail_msg("varint without end");
    return 0;
}

/* The next field: its number; *RET_VALUE or *RET_BYTES. */
static unsigned field(struct view *v, uint64_t *ret_value, struct view *ret_bytes)
{
    uint64_t key = varint(v);
    *ret_value = varint(v);
    *ret_bytes = (struct view){ NULL, NULL };
    if ((key & 7) == 2) {
        assert_true(*ret_value <= (uint64_t)(v->end - v->p));
        *ret_bytes = (struct view){ v->p, v->p + *ret_value };
        v->p += *ret_value;
    } else {
        assert_true((key & 7) == 0);
    }
    return (unsigned)(key >> 3);
}

struct profile {
    struct view strings[5000], samples[20000];
    uint64_t function_of[5000], name_of[5000], file_of[5000];
    size_t string_count, sample_count, location_count, function_count, types;
    uint64_t default_type, comments;
};

static void decode(const uint8_t *bytes, size_t n, struct profile *ret)
{
    struct view v = { bytes, bytes + n }, b, c;
    uint64_t x, y;
    memset(ret, 0, sizeof *ret);
    while (v.p < v.end)
        switch (field(&v, &x, &b)) {
        case 1:
            ret->types++;
            break;
        case 2:
            assert_true(ret->sample_count < 20000);
            ret->samples[ret->sample_count++] = b;
            break;
        case 4: {
            uint64_t id = 0;
            while (b.p < b.end)
                if (field(&b, &y, &c) == 1)
                    id = y;
                else
                    assert_int_equal(field(&c, &ret->function_of[id], &(struct view){ NULL, NULL }),
                                     1);
            assert_true(id == ++ret->location_count);
            break;
        }
        case 5: {
            uint64_t id = 0;
            while (b.p < b.end) {
                unsigned f = field(&b, &y, &c);
                assert_true(f == 1 || f == 2 || f == 4); /* no system_name */
                if (f == 1)
                    id = y;
                else
                    *(f == 2 ? &ret->name_of[id] : &ret->file_of[id]) = y;
            }
            assert_true(id == ++ret->function_count);
            break;
        }
        case 6:
            assert_true(ret->string_count < 5000);
            ret->strings[ret->string_count++] = b;
            break;
        case 13:
            ret->comments++;
            assert_true(x < 5000);
            break;
        case 14:
            ret->default_type = x;
            break;
        default:
            break;
        }
    assert_true(ret->types == 2 && ret->string_count > 5 && ret->comments == 3);
    assert_true(ret->strings[0].p == ret->strings[0].end);
    assert_memory_equal(ret->strings[ret->default_type].p, "inuse_space", 11);
    for (size_t i = 1; i <= ret->function_count; i++)
        assert_true(ret->name_of[i] < ret->string_count && ret->file_of[i] < ret->string_count &&
                    ret->function_of[i] == i);
    size_t modules = ret->function_count > 0 ? ret->name_of[ret->function_count] + 1 : 8;
    for (size_t i = modules; i < ret->string_count; i++) /* each module occurs once */
        for (size_t k = modules; k < i; k++)
            assert_false(ret->strings[i].end - ret->strings[i].p ==
                             ret->strings[k].end - ret->strings[k].p &&
                         memcmp(ret->strings[i].p, ret->strings[k].p,
                                (size_t)(ret->strings[i].end - ret->strings[i].p)) == 0);
}

static struct profile profile;

/* Text number AT of the profile, terminated; until the next call. */
static const char *string_at(uint64_t at)
{
    static char text[1 << 17];
    assert_true(at < profile.string_count);
    struct view s = profile.strings[at];
    if (s.end > s.p)
        memcpy(text, s.p, (size_t)(s.end - s.p));
    text[s.end - s.p] = '\0';
    return text;
}

static size_t labels_seen;

/* Appends the label of a sample whose other parts are before V, if it has one. */
static void append_label(struct view v, char *text, size_t cap)
{
    struct view label, none;
    uint64_t x, key = 0, value = 0;
    if (v.p == v.end)
        return;
    assert_int_equal(field(&v, &x, &label), 3);
    assert_true(v.p == v.end);
    assert_int_equal(field(&label, &key, &none), 1);
    assert_int_equal(field(&label, &value, &none), 2);
    assert_true(label.p == label.end);
    assert_string_equal(string_at(key), "field");
    append(text, cap, string_at(value));
    labels_seen++;
}

static void lines_of_pprof(const uint8_t *bytes, size_t n, struct lines *ret)
{
    static char text[1 << 20];
    decode(bytes, n, &profile);
    for (size_t i = 0; i < profile.sample_count; i++) {
        struct view v = profile.samples[i], ids, values;
        uint64_t x, at[80];
        size_t depth = 0;
        assert_int_equal(field(&v, &x, &ids), 1);
        assert_int_equal(field(&v, &x, &values), 2);
        while (ids.p < ids.end) {
            assert_true(depth < 67);
            at[depth++] = varint(&ids);
        }
        for (text[0] = '\0'; depth > 0; depth--) {
            assert_true(at[depth - 1] >= 1 && at[depth - 1] <= profile.location_count);
            append(text, sizeof text, string_at(profile.name_of[at[depth - 1]]));
        }
        append_label(v, text, sizeof text);
        uint64_t objects = varint(&values);
        lines_add(ret, text, objects, varint(&values));
        assert_true(values.p == values.end);
    }
}

static void lines_of_folded(const uint8_t *bytes, size_t n, struct lines *ret)
{
    char *copy = malloc(n + 1);
    if (n > 0)
        memcpy(copy, bytes, n);
    copy[n] = '\0';
    for (char *p = copy, *end; *p != '\0'; p = end + 1) {
        end = strchr(p, '\n');
        assert_non_null(end);
        *end = '\0';
        char *space = strrchr(p, ' '), *rest;
        assert_non_null(space);
        *space = '\0';
        uint64_t value = strtoull(space + 1, &rest, 10);
        assert_true(value > 0 && rest == end);
        lines_add(ret, p, 0, value);
    }
    free(copy);
}

/* ---- writing ---- */

static const uint8_t *write_to(struct gcd_sink **sink, const struct gcd_graph *g,
                               const char *format, const struct gcd_write_options *o, size_t *ret_n,
                               struct gcd_write_notes *notes)
{
    assert_int_equal(gcd_sink_new_memory(NULL, sink, &err), GCD_OK);
    assert_int_equal(gcd_write_graph(gcd_format_by_name(format), g, *sink, o, notes, &err), GCD_OK);
    assert_int_equal(gcd_sink_commit(*sink, &err), GCD_OK);
    return gcd_sink_memory(*sink, ret_n);
}

/* Does a root of a lower tier than ROOT's reach NODE? */
static bool is_left_to_others(const struct gcd_graph *g, size_t root, uint32_t node)
{
    const struct gcd_summary *summary = gcd_graph_summary(g);
    uint8_t *seen = malloc(gcd_graph_node_count(g) + 1);
    bool ret = false;
    for (size_t i = 0; i < summary->root_count && !ret; i++) {
        if ((summary->roots[i].flags & GCD_ROOT_WEAK) != 0 ||
            graph_root_tier(g, i) >= graph_root_tier(g, root))
            continue;
        graph_mark(g, &summary->roots[i].node, 1, NULL, seen);
        ret = seen[node] != 0;
    }
    free(seen);
    return ret;
}

/* The first root of NODE by rank, a covered one, too: other local variables lead there. */
static size_t first_root(const struct gcd_graph *g, uint32_t node)
{
    const struct gcd_summary *s = gcd_graph_summary(g);
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < s->root_count; i++)
        if (s->roots[i].node == node && (s->roots[i].flags & GCD_ROOT_WEAK) == 0 &&
            (best == SIZE_MAX || graph_root_rank(g, i) < graph_root_rank(g, best)))
            best = i;
    return best;
}

struct slowly {
    const struct gcd_graph *g;
    const struct gcd_write_options *o;
    const struct gcd_dominators *d;
    const struct gcd_paths *p;
    const struct gcd_fields *fields;
    const struct gcd_origins *origins;
};

/* "Class.field" in LABEL if NODE has a field that certainly leads to BELOW. */
static void slow_label(const struct slowly *s, uint32_t node, uint32_t below, char label[2000])
{
    uint32_t type = gcd_graph_node_type(s->g, node);
    struct gcd_field f = gcd_fields_between(s->fields, node, below);
    if (gcd_origins_get(s->origins, type) != GCD_ORIGIN_FRAMEWORK && f.slot != GCD_SLOT_NONE &&
        gcd_fields_has_fields(s->fields, type))
        (void)snprintf(label, 2000, "%s.%s", gcd_names_get(s->o->names, type), f.name);
}

static bool is_frozen(const struct gcd_graph *g, uint32_t node, bool no_roots)
{
    struct gcd_generations *ages;
    size_t hint = 0;
    assert_int_equal(gcd_frozen_new(gcd_graph_summary(g), no_roots, NULL, &ages, &err), GCD_OK);
    bool frozen = gcd_is_frozen(ages, gcd_graph_node_address(g, node), &hint);
    gcd_generations_free(ages);
    return frozen;
}

/* The path of one node, and the innermost field on it, the slow way. */
static void slow_stack(const struct slowly *s, uint32_t node, char *text, size_t cap,
                       char label[2000])
{
    const struct gcd_graph *g = s->g;
    const struct gcd_dominators *d = s->d;
    const struct gcd_paths *p = s->p;
    const struct gcd_summary *summary = gcd_graph_summary(g);
    static const char *const groups[] = { "[static variables]", "[strong handles]",
                                          "[pinned handles]",   "[other roots]",
                                          "[thread stacks]",    "[ref-counted handles]",
                                          "[finalizer queue]" };
    uint32_t path[512];
    size_t n = 0, root;
    uint32_t up = node;
    for (; up < GCD_NODE_ROOT;
         up = d != NULL ? gcd_dominators_parent(d, up) : gcd_paths_parent(p, up)) {
        assert_true(n < 512);
        path[n++] = up;
    }
    text[0] = '\0';
    root = first_root(g, path[n - 1]);
    if (root == SIZE_MAX || (d != NULL && is_left_to_others(g, root, path[n - 1])))
        root = summary->root_count;
    bool no_roots = d != NULL ? gcd_dominators_pseudo_roots(d) > 0 : gcd_paths_pseudo_roots(p) > 0;
    if (up == GCD_NODE_NONE || no_roots)
        append(text, cap, is_frozen(g, node, no_roots) ? "[frozen]" : "[not reachable from roots]");
    else if (root == summary->root_count)
        append(text, cap, "[several roots]");
    else
        append(text, cap, groups[graph_root_rank(g, root)]);
    if (up == GCD_NODE_ROOT && root < summary->root_count &&
        summary->roots[root].kind == GCD_ROOT_STATIC && summary->roots[root].name[0] != '\0')
        append(text, cap, summary->roots[root].name);
    uint32_t last = UINT32_MAX;
    label[0] = '\0';
    for (unsigned depth = 0, above = GCD_NODE_NONE; n > 0; above = path[n - 1], n--) {
        uint32_t type = gcd_graph_node_type(g, path[n - 1]);
        if (type != last && ++depth > 64) {
            append(text, cap, "...");
            break;
        }
        if (type != last)
            append(text, cap, gcd_names_get(s->o->names, type));
        if (type != last && above != GCD_NODE_NONE)
            slow_label(s, above, path[n - 1], label);
        last = type;
    }
}

static struct lines want, labelled, folded, pprof;

static void compare_all(const struct gcd_graph *g, enum gcd_stack_by fold)
{
    static char text[1 << 20], label[2000];
    struct gcd_names *names;
    struct gcd_sink *a, *b;
    struct gcd_dominators *d = NULL;
    struct gcd_paths *p = NULL;
    struct gcd_fields *fields;
    struct gcd_origins *origins;
    struct gcd_write_notes notes;
    size_t an, bn;
    assert_int_equal(gcd_names_new(gcd_graph_summary(g), GCD_NAMES_CSHARP, NULL, &names, &err),
                     GCD_OK);
    struct gcd_write_options o = { .names = names, .stack_by = fold };
    const uint8_t *ab = write_to(&a, g, "collapsed", &o, &an, &notes),
                  *bb = write_to(&b, g, "pprof", &o, &bn, &notes);
    assert_true(notes.objects == gcd_graph_node_count(g));
    lines_of_folded(ab, an, &folded);
    lines_of_pprof(bb, bn, &pprof);
    if (fold == GCD_STACK_BY_DOMINATORS)
        assert_int_equal(gcd_dominators_new(g, NULL, &d, &err), GCD_OK);
    else
        assert_int_equal(gcd_paths_new(g, NULL, &p, &err), GCD_OK);
    uint64_t bytes = 0, objects = 0;
    assert_int_equal(gcd_fields_new(g, NULL, &fields, &err), GCD_OK);
    assert_int_equal(gcd_origins_new(gcd_graph_summary(g), NULL, &origins, &err), GCD_OK);
    struct slowly s = { g, &o, d, p, fields, origins };
    for (uint32_t i = 0; i < gcd_graph_node_count(g); i++) {
        slow_stack(&s, i, text, sizeof text, label);
        lines_add(&want, text, 1, gcd_graph_node_size(g, i));
        if (label[0] != '\0')
            append(text, sizeof text, label);
        lines_add(&labelled, text, 1, gcd_graph_node_size(g, i));
    }
    lines_sort(&want);
    lines_sort(&labelled);
    lines_sort(&folded);
    lines_sort(&pprof);
    assert_int_equal(pprof.n, labelled.n);
    size_t at = 0;
    for (size_t i = 0; i < labelled.n; i++) {
        assert_string_equal(pprof.items[i].text, labelled.items[i].text);
        assert_true(pprof.items[i].objects == labelled.items[i].objects &&
                    pprof.items[i].bytes == labelled.items[i].bytes);
        bytes += pprof.items[i].bytes;
        objects += pprof.items[i].objects;
    }
    for (size_t i = 0; i < want.n; i++) {
        if (want.items[i].bytes > 0) {
            assert_string_equal(folded.items[at].text, want.items[i].text);
            assert_true(folded.items[at++].bytes == want.items[i].bytes);
        }
    }
    assert_int_equal(at, folded.n);
    assert_true(objects == gcd_graph_node_count(g));
    assert_true(bytes == gcd_graph_summary(g)->bytes);
    lines_clear(&want);
    lines_clear(&labelled);
    gcd_fields_free(fields);
    gcd_origins_free(origins);
    lines_clear(&folded);
    lines_clear(&pprof);
    gcd_dominators_free(d);
    gcd_paths_free(p);
    gcd_sink_free(a);
    gcd_sink_free(b);
    gcd_names_free(names);
}

static void random_graphs_fold_as_expected(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 600; seed++) {
        /* odd names, but none long enough to be cut: another test does that */
        struct gcd_graph *g = graph_gen(&(struct graph_gen){ .seed = seed,
                                                             .max_nodes = seed % 20 == 0 ? 400 : 30,
                                                             .plain_sizes = true,
                                                             .plain_names = seed % 4 != 0,
                                                             .fields = seed % 2 == 0,
                                                             .keep_unknown = seed % 3 == 0 });
        bool long_names = false;
        for (uint32_t i = 0; i < gcd_graph_summary(g)->type_count; i++)
            long_names |= strlen(gcd_graph_summary(g)->types[i].name) > 900;
        if (!long_names) {
            compare_all(g, GCD_STACK_BY_DOMINATORS);
            compare_all(g, GCD_STACK_BY_PATHS);
        }
        gcd_graph_free(g);
    }
    assert_true(labels_seen > 100);
}

/* A list of NODES nodes whose types repeat in turn. */
static struct gcd_graph *list_of(uint32_t nodes, uint32_t types, const char *name)
{
    struct gcd_build *b;
    struct gcd_graph *g;
    uint32_t type;
    char text[4096];
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    for (uint32_t i = 0; i < types; i++) {
        (void)snprintf(text, sizeof text, "%s%u", name, (unsigned)i);
        struct gcd_type t = { .name = text, .named = true, .module_path = "/app/Shop.dll" };
        assert_int_equal(gcd_build_type(b, &t, &type, &err), GCD_OK);
    }
    for (uint32_t i = 0; i < nodes; i++)
        assert_int_equal(gcd_build_node(b, 0, i % types, 10, &err), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t next = i + 1;
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        assert_int_equal(gcd_build_edge_nodes(b, &next, i + 1 < nodes, &err), GCD_OK);
    }
    assert_int_equal(
        gcd_build_root(b, &(struct gcd_root){ .node = 0, .kind = GCD_ROOT_STATIC, .name = "head" },
                       &err),
        GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    return g;
}

static void lists_stay_small(void **state)
{
    (void)state;
    struct gcd_sink *s;
    struct gcd_write_options o = { .stack_by = GCD_STACK_BY_DOMINATORS };
    size_t n;
    struct gcd_graph *g = list_of(100000, 1, "Node");
    const uint8_t *bytes = write_to(&s, g, "collapsed", &o, &n, NULL);
    assert_int_equal(n, strlen("[static variables];head;Node0 1000000\n"));
    assert_memory_equal(bytes, "[static variables];head;Node0 1000000\n", n);
    gcd_sink_free(s);
    gcd_graph_free(g);
    g = list_of(1000, 2, "Node"); /* 64 frames, then the rest in one */
    struct gcd_write_notes notes;
    bytes = write_to(&s, g, "collapsed", &o, &n, &notes);
    lines_of_folded(bytes, n, &folded);
    assert_true(folded.n == 65 && notes.loss_count == 1 && notes.losses[0].count == 936);
    const struct line *last = &folded.items[64];
    assert_true(last->bytes == 9360 && strcmp(last->text + strlen(last->text) - 4, ";...") == 0);
    lines_clear(&folded);
    gcd_sink_free(s);
    gcd_graph_free(g);
}

static void long_frames_are_cut_between_characters(void **state)
{
    (void)state;
    char name[1202] = "x";
    for (size_t i = 1; i + 2 < sizeof name; i += 2)
        memcpy(name + i, "\xC3\xA9", 3);
    struct gcd_sink *s;
    struct gcd_write_options o = { .stack_by = GCD_STACK_BY_PATHS };
    size_t n;
    struct gcd_graph *g = list_of(1, 1, name);
    const uint8_t *bytes = write_to(&s, g, "collapsed", &o, &n, NULL);
    assert_true(run_is_utf8((const char *)bytes, n));
    assert_true(n < 1100 && memcmp(bytes + n - 7, "... 10\n", 7) == 0);
    gcd_sink_free(s);
    gcd_graph_free(g);
}

/* 300 types, each object with children of 3 other types: more paths than there may be stacks. */
static void stacks_have_a_ceiling_and_sums_hold(void **state)
{
    (void)state;
    const uint32_t nodes = 600000, types = 301;
    struct gcd_build *b;
    struct gcd_graph *g;
    uint32_t type;
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    for (uint32_t i = 0; i < types; i++) {
        char text[16];
        (void)snprintf(text, sizeof text, "T%u", (unsigned)i);
        assert_int_equal(
            gcd_build_type(b, &(struct gcd_type){ .name = text, .named = true, .module_path = "" },
                           &type, &err),
            GCD_OK);
    }
    for (uint32_t i = 0; i < nodes; i++)
        assert_int_equal(gcd_build_node(b, 0, i % types, 1, &err), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (uint32_t i = 0; i < nodes; i++) {
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        for (uint32_t k = 1; k <= 3; k++) {
            uint32_t child = 3 * i + k;
            assert_int_equal(gcd_build_edge_nodes(b, &child, child < nodes, &err), GCD_OK);
        }
    }
    assert_int_equal(gcd_build_root(b, &(struct gcd_root){ .node = 0 }, &err), GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    struct gcd_sink *s;
    struct gcd_write_notes notes;
    struct gcd_write_options o = { .stack_by = GCD_STACK_BY_DOMINATORS };
    size_t n, lines = 0;
    uint64_t sum = 0;
    const uint8_t *bytes = write_to(&s, g, "collapsed", &o, &n, &notes);
    for (size_t i = 0, value = 0; i < n; i++) {
        value = bytes[i] == ' '                      ? 0
                : bytes[i] >= '0' && bytes[i] <= '9' ? value * 10 + (bytes[i] - '0')
                                                     : value;
        if (bytes[i] == '\n') {
            sum += value;
            lines++;
        }
    }
    assert_true(sum == nodes && lines > 200000 && lines <= 2 * 262144);
    assert_int_equal(notes.loss_count, 1);
    assert_true(notes.losses[0].count > 100000 && notes.losses[0].count < nodes);
    gcd_sink_free(s);
    gcd_graph_free(g);
}

static void formats_are_found_by_name_and_path(void **state)
{
    (void)state;
    assert_string_equal(gcd_format_name(gcd_format_by_path("x.pb.gz")), "pprof");
    assert_string_equal(gcd_format_name(gcd_format_by_path("x.pb")), "pprof");
    assert_string_equal(gcd_format_name(gcd_format_by_path("x.folded")), "collapsed");
    assert_int_equal(gcd_format_kind(gcd_format_by_name("pprof")), GCD_FORMAT_GRAPH);
    assert_false(gcd_format_is_text(gcd_format_by_name("pprof")));
    assert_true(gcd_format_is_text(gcd_format_by_name("collapsed")));
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct gcd_graph *g =
        graph_gen(&(struct graph_gen){ .seed = 11, .max_nodes = 60, .fields = true });
    for (unsigned k = 0; k < 6; k++)
        for (uint64_t at = 1;; at++) {
            struct failalloc f;
            struct gcd_sink *s;
            struct gcd_write_options o = { .context.alloc = &f.alloc,
                                           .stack_by = (enum gcd_stack_by)(k / 2) };
            failalloc_init(&f);
            f.fail_at = at;
            assert_int_equal(gcd_sink_new_memory(NULL, &s, &err), GCD_OK);
            gcd_status st = gcd_write_graph(gcd_format_by_name(k % 2 == 0 ? "pprof" : "collapsed"),
                                            g, s, &o, NULL, &err);
            assert_int_equal(st, f.failed == 0 ? GCD_OK : GCD_E_NOMEM);
            gcd_sink_free(s);
            assert_null(failalloc_complaint(&f));
            if (f.failed == 0)
                break;
        }
    gcd_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_fold_as_expected),
        cmocka_unit_test(lists_stay_small),
        cmocka_unit_test(long_frames_are_cut_between_characters),
        cmocka_unit_test(stacks_have_a_ceiling_and_sums_hold),
        cmocka_unit_test(formats_are_found_by_name_and_path),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
