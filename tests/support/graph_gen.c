#include "support/graph_gen.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph_build.h"
#include "support/run.h"

struct gen {
    const struct graph_gen *o;
    uint64_t state;
    size_t at; /* in o->bytes */
    struct gcd_build *b;
    struct gcd_error err;
    uint32_t types, nodes;
    uint64_t *addresses; /* [nodes] */
};

static uint64_t below(struct gen *g, uint64_t n)
{
    size_t left = g->o->byte_count - g->at, want = n <= 256 ? 1 : n <= 65536 ? 2 : 8;
    if (left < want)
        return run_random(&g->state) % n;
    uint64_t v = 0;
    while (want-- > 0)
        v = v << 8 | g->o->bytes[g->at++];
    return v % n;
}

static bool chance(struct gen *g, unsigned percent)
{
    return below(g, 100) < percent;
}

/* Out of memory is expected; everything else is a defect of the test. */
static bool failed(struct gen *g, gcd_status st)
{
    if (st == GCD_OK)
        return false;
    if (st == GCD_E_NOMEM && g->o->alloc != NULL)
        return true;
    fprintf(stderr, "graph_gen: %s\n", g->err.msg);
    abort();
}

static const char *const odd_names[] = {
    "a\"b",
    "line\nbreak",
    "comma, semicolon; tab\t",
    "=cmd()",
    "+1",
    "-1",
    "@x",
    "<img src=x onerror=alert(1)>",
    "<>c",
    "\xE2\x82\xAC uro",
    "\xF0\x9F\x98\x80",
    "\xEF\xBF\xBD",
    "back\\slash",
    "'quote'",
    " spaces ",
    "%percent%",
    "Object",
    "[static vars]",
    "Root",
    "a/b:c?d#e",
    "\x01\x1f control",
    "Dictionary`2[System.String,System.Int32[]]",
    "",
    "constructor",
    "__proto__",
};

static size_t make_name(struct gen *g, char *buf, size_t cap)
{
    if (!g->o->plain_names && chance(g, 30)) {
        const char *odd = odd_names[below(g, sizeof odd_names / sizeof *odd_names)];
        size_t n = strlen(odd);
        memcpy(buf, odd, n);
        return n;
    }
    size_t n = !g->o->plain_names && chance(g, 1) ? cap - 1 : 1 + (size_t)below(g, 24);
    for (size_t i = 0; i < n; i++)
        buf[i] = i % 7 == 6 && i + 1 < n ? '.' : (char)('A' + below(g, 26) + (i % 7 != 0 ? 32 : 0));
    return n;
}

static bool make_types(struct gen *g)
{
    static char name[65536];
    static const char *const modules[] = { "", "/app/Shop.dll",
                                           "/usr/share/dotnet/System.Private.CoreLib.dll",
                                           "C:\\app\\\xC3\x9C x.dll" };
    /* whose references count for little: analyze/dominators/callbacks.h */
    static const char *const callbacks[] = { "System.Threading.TimerQueueTimer",
                                             "System.Threading.CancellationTokenSource"
                                             "+CallbackNode" };
    static const char call[] = "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1[System."
                               "Int32]+AsyncStateMachineBox`1[Shop.Cart+<Save>d__3]";
    uint32_t n = 1 + (uint32_t)below(g, 12);
    for (g->types = 0; g->types < n; g->types++) {
        size_t k = make_name(g, name, g->o->name_bytes != 0 ? g->o->name_bytes + 1 : sizeof name);
        if (k == 0) /* the name of a type is never empty */
            name[k++] = 'T';
        name[k] = '\0';
        if (g->o->callbacks && g->types == 1)
            strcpy(name, callbacks[g->o->seed % 2]);
        if (g->o->callbacks && g->types == 2)
            strcpy(name, call);
        struct gcd_type t = { .id = 0x7f0000001000 + 8 * below(g, 1 << 20),
                              .module = below(g, 4),
                              .name = name,
                              .described = true,
                              .named = true,
                              .layout = g->o->fields && g->types % 3 == 0 ? "o *\n0 _a\n0 _b\n0 _c"
                                                                          : NULL,
                              .name_token = 0x02000000u + (uint32_t)below(g, 100),
                              .flags = (uint32_t)below(g, 16) };
        t.module_path = modules[g->o->plain_names ? t.module % 3 : t.module];
        uint32_t number;
        if (failed(g, gcd_build_type(g->b, &t, &number, &g->err)))
            return false;
    }
    return true;
}

static uint64_t make_size(struct gen *g)
{
    if (!g->o->plain_sizes && chance(g, 2)) {
        static const uint64_t odd[] = {
            0,          1,           0x7fffffff,        0x80000000,        0xfffffffe,
            0xffffffff, 0x100000000, UINT64_C(1) << 53, UINT64_C(1) << 63, UINT64_MAX
        };
        return odd[below(g, sizeof odd / sizeof *odd)];
    }
    return 24 + 8 * below(g, chance(g, 5) ? 100000 : 20);
}

static bool make_nodes(struct gen *g)
{
    uint64_t address = 0x7f1000000000 + 8 * below(g, 1000);
    g->nodes = g->o->max_nodes > 0 ? (uint32_t)below(g, (uint64_t)g->o->max_nodes + 1) : 0;
    g->addresses = calloc(g->nodes + 1, sizeof *g->addresses);
    for (uint32_t i = 0; i < g->nodes; i++) {
        uint64_t size = make_size(g);
        if (chance(g, 2)) /* another region, before or after */
            address = 0x7f0000000000 + below(g, UINT64_C(1) << 38) / (1 << 22) * (1 << 22) +
                      8 * (uint64_t)i;
        g->addresses[i] = address;
        if (failed(g, gcd_build_node(g->b, g->o->no_addresses ? 0 : address,
                                     (uint32_t)below(g, g->types), size, &g->err)))
            return false;
        address += (size > 1000000 ? 1000000 : size + 7) / 8 * 8 + 8 * below(g, 3) + 8;
    }
    return !failed(g, gcd_build_nodes_end(g->b, &g->err));
}

static uint32_t any_node(struct gen *g)
{
    bool nowhere = g->nodes == 0 || (g->o->keep_unknown && chance(g, 3));
    return nowhere ? GCD_NODE_NONE : (uint32_t)below(g, g->nodes);
}

static bool make_edges(struct gen *g)
{
    unsigned shape = (unsigned)below(g, 4);
    for (uint32_t i = 0; i < g->nodes; i++) {
        uint32_t targets[96];
        size_t n = 0, want = (size_t)below(g, chance(g, 5) ? 60 : 4);
        if (g->o->snapshots && chance(g, 6))
            want = 60 + (size_t)below(g, 36);
        if (failed(g, gcd_build_next_node(g->b, &g->err)))
            return false;
        if (shape == 0 && i + 1 < g->nodes) /* a list */
            targets[n++] = i + 1;
        while (n < want) {
            uint32_t t = any_node(g);
            if (shape == 1 && t != GCD_NODE_NONE && t <= i && chance(g, 80)) /* mostly a forest */
                t = i + 1 < g->nodes ? i + 1 : t;
            targets[n++] = chance(g, 3) ? i : t;
        }
        if (failed(g, gcd_build_edge_nodes(g->b, targets, n, &g->err)))
            return false;
    }
    return true;
}

static bool make_roots(struct gen *g)
{
    static const uint32_t flags[] = { 0,
                                      0,
                                      0,
                                      GCD_ROOT_PINNED,
                                      GCD_ROOT_WEAK,
                                      GCD_ROOT_REFCOUNTED,
                                      GCD_ROOT_INTERIOR | GCD_ROOT_PINNED };
    char name[300];
    /* the second: any of the GC's */
    static const unsigned order[] = { GCD_ROOT_STATIC, GCD_ROOT_ALL_KINDS, GCD_ROOT_COM };
    for (size_t k = 0; k < 3 && g->nodes > 0; k++)
        for (uint64_t n = below(g, 8); n > 0; n--) {
            struct gcd_root r = { .id = 8 * below(g, 1 << 20),
                                  .node = any_node(g),
                                  .kind = order[k] };
            if (g->o->snapshots && chance(g, 80))
                r.kind = GCD_ROOT_STACK;
            if (r.kind == GCD_ROOT_ALL_KINDS) {
                r.kind = (unsigned)below(g, GCD_ROOT_KINDS);
                r.flags = flags[below(g, sizeof flags / sizeof *flags)];
                if (r.kind != GCD_ROOT_HANDLE)
                    r.flags &= ~(GCD_ROOT_WEAK | GCD_ROOT_REFCOUNTED);
            } else if (r.kind == GCD_ROOT_COM) {
                r.flags = GCD_ROOT_REFCOUNTED;
            } else {
                name[make_name(g, name, sizeof name)] = '\0';
                r.name = name;
                r.type = (uint32_t)below(g, g->types);
            }
            if (failed(g, gcd_build_root(g->b, &r, &g->err)))
                return false;
        }
    for (uint64_t n = chance(g, 50) ? below(g, 6) : 0; n > 0 && g->nodes > 0; n--) {
        uint32_t value = any_node(g), key = any_node(g); /* in this order with every compiler */
        if (failed(g, gcd_build_dependent(g->b, key, value, &g->err)))
            return false;
    }
    for (uint64_t n = below(g, 4); n > 0; n--) {
        struct gcd_range r = { .start = 0x7f0000000000 + (below(g, 64) << 22),
                               .used_bytes = below(g, 1 << 22),
                               .reserved_bytes = 1 << 22,
                               .generation = (unsigned)below(g, 5) };
        if (failed(g, gcd_build_range(g->b, &r, &g->err)))
            return false;
    }
    return true;
}

static bool make_facts(struct gen *g)
{
    struct gcd_summary *f = gcd_build_summary(g->b);
    f->process = 1 + below(g, 100000);
    f->trace.ptr_bytes = 8;
    f->trace.start_unix_ms = (int64_t)(1700000000000u + below(g, 1000000) * 1000);
    f->gc_start_ns = (int64_t)below(g, 1000) * 1000000;
    gcd_build_summary(g->b)->verdict.complete = true;
    return !failed(g, gcd_build_text(g->b, "shop", 4, &f->process_name, &g->err)) &&
           !failed(g, gcd_build_text(g->b, "10.0.12", 7, &f->runtime_version, &g->err));
}

struct gcd_graph *graph_gen(const struct graph_gen *options)
{
    struct gen g = { .o = options, .state = options->seed, .err = GCD_ERROR_INIT };
    struct gcd_graph_options go = { .context.alloc = options->alloc,
                                    .keep_unknown = options->keep_unknown };
    struct gcd_graph *graph = NULL;
    if (failed(&g, gcd_build_new(&go, &g.b, &g.err)))
        return NULL;
    bool made =
        make_facts(&g) && make_types(&g) && make_nodes(&g) && make_edges(&g) && make_roots(&g);
    free(g.addresses);
    if (!made) {
        gcd_build_free(g.b);
        return NULL;
    }
    return failed(&g, gcd_build_seal(g.b, &graph, &g.err)) ? NULL : graph;
}

struct gcd_graph *graph_gen_random(uint64_t seed, uint32_t max_nodes)
{
    return graph_gen(&(struct graph_gen){ .seed = seed, .max_nodes = max_nodes });
}
