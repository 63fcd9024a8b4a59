#include "support/check.h"

#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/recording.h>
#include <gcdumpc/unstable/sites.h>

#include <gcdumpc/unstable/origins.h>

#include "sites/sites.h"
#include "support/failalloc.h"
#include "support/pdb_file.h"
#include "support/site_trace.h"
#include "support/tb.h"

static struct gcd_error err;

/* ---- files: only the symbols of /app/Shop.dll ---- */

static struct tb_bytes pdb;

static gcd_status open_file(void *ctx, const struct gcd_module *module, unsigned n,
                            struct gcd_module_file *ret, struct gcd_error *e)
{
    (void)ctx;
    if (module == NULL || n > 0 || strcmp(module->path, "/app/Shop.pdb") != 0)
        return GCD_END;
    ret->bytes = UINT64_MAX;
    ret->path = "";
    return gcd_input_from_memory(pdb.p, pdb.n, NULL, &ret->input, e);
}

static void close_file(void *ctx, struct gcd_module_file *file)
{
    (void)ctx;
    gcd_input_free(file->input);
    file->input = NULL;
}

static const struct gcd_module_files files = { .open = open_file, .close = close_file };

/* ---- a recording and its sites ---- */

struct lab {
    struct tb t;
    bool no_movement;
    struct gcd_input *in;
    struct gcd_dump *dump;
    struct gcd_graph *graph;
    struct gcd_sites *sites;
};

/* The stream of allocations, that of collections and the walk are the same trace here. */
static gcd_status find_sites(struct lab *l, const struct gcd_alloc *alloc)
{
    struct gcd_context context = { .alloc = alloc };
    struct gcd_site_recorder *r;
    gcd_status st = gcd_site_recorder_new(&context, &r, &err);
    if (st != GCD_OK)
        return st;
    if (l->no_movement)
        gcd_site_recorder_no_movement(r);
    for (int i = 0; i < GCD_SITE_STREAMS && st == GCD_OK; i++)
        st = gcd_site_recorder_feed(r, (enum gcd_site_stream)i, l->t.out.p, l->t.out.n, &err);
    if (st == GCD_OK)
        st = gcd_site_recorder_walk(r, l->in, gcd_dump_summary(l->dump)->gc_number, &err);
    if (st == GCD_OK)
        st = gcd_site_recorder_finish(r, l->graph, &files, &l->sites, &err);
    gcd_site_recorder_free(r);
    return st;
}

static void begin(struct lab *l, enum site_source source)
{
    err = (struct gcd_error)GCD_ERROR_INIT;
    *l = (struct lab){ .sites = NULL };
    site_trace(&l->t, source);
    pdb.n = 0;
    pdb_file(&pdb, false);
    assert_int_equal(gcd_input_from_memory(l->t.out.p, l->t.out.n, NULL, &l->in, &err), GCD_OK);
    assert_int_equal(gcd_dump_open(l->in, NULL, &l->dump, &err), GCD_OK);
    assert_int_equal(gcd_graph_from_dump(l->dump, NULL, &l->graph, &err), GCD_OK);
}

static void done(struct lab *l)
{
    gcd_sites_free(l->sites);
    gcd_graph_free(l->graph);
    gcd_dump_free(l->dump);
    gcd_input_free(l->in);
    tb_done(&l->t);
    tb_free(&pdb);
    pdb = (struct tb_bytes){ 0 };
}

/* The large object was allocated at line 12, the small one and the dead one at line 10, both in
 * Shop.Store.Open, which Main calls at line 300. */
static void check_sites(const struct gcd_sites *s, enum site_source source)
{
    assert_int_equal(s->samples, 3);
    assert_int_equal(s->alive, 2);
    assert_int_equal(s->dead, 1);
    assert_int_equal(s->lost, 0);
    assert_int_equal(s->total_count, 2);
    static const uint32_t lines[] = { 12, 10 };
    static const uint64_t addresses[] = { 0x20000, 0x9000 };
    for (size_t i = 0; i < 2; i++) {
        const struct gcd_site_total *t = &s->totals[i];
        const struct gcd_site_stack *stack = &s->stacks[t->stack];
        const struct gcd_site_frame *f = &s->frames[stack->frame],
                                    *caller = &s->frames[s->stacks[stack->caller].frame];
        size_t k = source == SITE_TICKS ? 1 - i : i; /* both stand for 100,000 bytes */
        if (f->line != lines[i])
            k = 1 - k;
        assert_int_equal(t->alive, 1);
        assert_string_equal(t->type, "System.Byte[]");
        assert_string_equal(f->method, "Shop.Store.Open");
        assert_string_equal(f->file, "/src/Shop/Store.cs");
        assert_string_equal(f->module, "/app/Shop.dll");
        assert_string_equal(caller->method, "Shop.Program.Main");
        assert_string_equal(caller->file, "/src/Shop/Orders.cs");
        assert_int_equal(caller->line, 300);
        assert_int_equal(s->stacks[stack->caller].caller, GCD_SITE_NONE);
        assert_int_equal(s->living[i].total, i);
        assert_true(f->line == lines[0] ? s->living[i].address == addresses[0]
                                        : s->living[i].address == addresses[1]);
    }
}

static void test_sites_have_lines_and_callers(void **state)
{
    (void)state;
    for (int source = 0; source < 2; source++) {
        struct lab l;
        begin(&l, (enum site_source)source);
        assert_int_equal(find_sites(&l, NULL), GCD_OK);
        check_sites(l.sites, (enum site_source)source);
        double bytes = 0;
        for (size_t i = 0; i < l.sites->total_count; i++)
            bytes += l.sites->totals[i].bytes;
        /* 48 / p + 48 / p + 100,000 / p, or three times 100,000 */
        double expected = source == SITE_TICKS ? 300000 : 2 * 102424 + 160400;
        assert_true(bytes > expected * 0.999 && bytes < expected * 1.001);
        done(&l);
    }
}

/* Each of the large objects causes a tick, so only the ends of the window are uncertain. */
static void test_estimates_from_ticks_have_an_error(void **state)
{
    (void)state;
    struct lab l;
    begin(&l, SITE_TICKS);
    assert_int_equal(find_sites(&l, NULL), GCD_OK);
    for (size_t i = 0; i < l.sites->total_count; i++) {
        const struct gcd_site_total *t = &l.sites->totals[i];
        double error = gcd_site_error(t->alive_variance);
        bool large = l.sites->living[i].size_bytes >= 100000;
        double wanted = large ? 100000 / 2.449 : 100000;
        assert_true(error > wanted * 0.99 && error < wanted * 1.01);
    }
    done(&l);
}

/* What was sampled with certainty has none. */
static void test_the_standard_error_is_the_root_of_the_variance(void **state)
{
    (void)state;
    static const double cases[] = { 0, 0.5, 1, 3, 1e6, 1e30 };
    assert_true(gcd_site_error(0) == 0);
    assert_true(gcd_site_error(-1) == 0);
    for (size_t i = 1; i < sizeof cases / sizeof *cases; i++) {
        double error = gcd_site_error(cases[i] * cases[i]) / cases[i];
        assert_true(error > 0.999999 && error < 1.000001);
    }
}

static void test_an_object_of_another_size_is_not_the_sampled_one(void **state)
{
    (void)state;
    struct lab l;
    begin(&l, SITE_SAMPLED);
    /* the size of the sampled object at 0x9000, which is 48 in the walk */
    struct tb other;
    tb_init(&other, TB_V4, 8);
    site_sample(&other, SITE_SAMPLED, 0, 0x1000, 56);
    site_collect(&other, 1, 0, 0, TB_LIST(struct site_range, { 0x1000, 0x9000, 0x100 }));
    site_collect(&other, 2, 1, 0, TB_LIST(struct site_range, { 0x9000, 0, 0x100 }));
    tb_close(&other);
    struct tb whole = l.t;
    l.t.out = other.out;
    assert_int_equal(find_sites(&l, NULL), GCD_OK);
    l.t = whole;
    assert_int_equal(l.sites->samples, 1);
    assert_int_equal(l.sites->alive, 0);
    assert_int_equal(l.sites->dead, 1);
    tb_done(&other);
    done(&l);
}

/* The recording of L with its sites in RET. */
static void store(struct lab *l, struct tb_bytes *ret)
{
    struct gcd_recording_options options = { .sites = l->sites };
    struct gcd_sink *to;
    const uint8_t *bytes;
    size_t n;
    assert_int_equal(gcd_sink_new_memory(NULL, &to, &err), GCD_OK);
    assert_int_equal(gcd_recording_write(l->dump, l->in, to, &options, NULL, &err), GCD_OK);
    assert_int_equal(gcd_sink_commit(to, &err), GCD_OK);
    bytes = gcd_sink_memory(to, &n);
    ret->n = 0;
    tb_put(ret, bytes, n);
    gcd_sink_free(to);
}

static gcd_status read_stored(const struct lab *l, const struct tb_bytes *b,
                              const struct gcd_alloc *alloc, struct gcd_sites **ret)
{
    struct gcd_input *in;
    struct gcd_context context = { .alloc = alloc };
    assert_int_equal(gcd_input_from_memory(b->p, b->n, NULL, &in, &err), GCD_OK);
    *ret = NULL;
    gcd_status st = gcd_sites_read(in, gcd_dump_summary(l->dump), &context, ret, &err);
    gcd_input_free(in);
    return st;
}

static bool same_sites(const struct gcd_sites *a, const struct gcd_sites *b)
{
    bool same = a->samples == b->samples && a->dead == b->dead && a->alive == b->alive &&
                a->frame_count == b->frame_count && a->stack_count == b->stack_count &&
                a->total_count == b->total_count && a->window_ms == b->window_ms;
    for (size_t i = 0; same && i < a->frame_count; i++)
        same = strcmp(a->frames[i].method, b->frames[i].method) == 0 &&
               strcmp(a->frames[i].file, b->frames[i].file) == 0 &&
               a->frames[i].line == b->frames[i].line;
    for (size_t i = 0; same && i < a->total_count; i++)
        same = a->totals[i].bytes == b->totals[i].bytes &&
               a->totals[i].alive_bytes == b->totals[i].alive_bytes &&
               a->totals[i].stack == b->totals[i].stack;
    for (size_t i = 0; same && i < a->living_count; i++)
        same = a->living[i].address == b->living[i].address;
    return same;
}

/* The large object is found at its address; of the small ones, one has the size of an object in the
 * heap.  Its share is a guess, so its error is that of one sample. */
static void test_without_movement_small_objects_are_approximate(void **state)
{
    (void)state;
    struct lab l;
    unsigned guessed = 0;
    begin(&l, SITE_SAMPLED);
    l.no_movement = true;
    assert_int_equal(find_sites(&l, NULL), GCD_OK);
    assert_false(l.sites->followed);
    for (size_t i = 0; i < l.sites->living_count; i++) {
        const struct gcd_site_sample *s = &l.sites->living[i];
        const struct gcd_site_total *t = &l.sites->totals[s->total];
        if (s->address != 0)
            continue;
        guessed++;
        assert_true(s->bytes < 1000);
        /* they may all be others */
        assert_true(t->alive_guessed >= s->bytes);
        assert_true(t->alive_variance >= t->alive_guessed * t->alive_guessed * 0.999);
    }
    assert_int_equal(guessed, 2);
    assert_int_equal(l.sites->living_count, guessed + 1);
    done(&l);
}

/* Two callers of one line, each with an object that was not followed, and code without a name. */
static void test_samples_of_a_line_and_type_are_one_site(void **state)
{
    (void)state;
    struct lab l;
    struct gcd_sites_owner *s;
    struct gcd_origins *origins;
    struct gcd_site_list *list;
    static const struct gcd_site_frame frames[] = { { "Shop.Store.Open", "Store.cs", "Shop.dll",
                                                      12 },
                                                    { "Shop.A.Run", "", "Shop.dll", 0 },
                                                    { "Shop.B.Run", "", "Shop.dll", 0 },
                                                    { "", "", "", 0 } };
    static const uint32_t inner[] = { 0, 0, 3 }, outer[] = { 1, 2, 1 };
    uint32_t number[4], caller, stack, total;
    begin(&l, SITE_SAMPLED);
    assert_int_equal(gcd_origins_new(gcd_graph_summary(l.graph), NULL, &origins, &err), GCD_OK);
    assert_int_equal(sites_new(NULL, &s, &err), GCD_OK);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(sites_frame(s, &frames[i], &number[i], &err), GCD_OK);
    for (size_t i = 0; i < 3; i++) {
        struct gcd_site_total t = { .type_id = SITE_TYPE, .type = "System.Byte[]", .samples = 1 };
        struct gcd_site_sample living = { .size_bytes = 48, .bytes = 1000 };
        assert_int_equal(sites_stack(s, number[outer[i]], GCD_SITE_NONE, &caller, &err), GCD_OK);
        assert_int_equal(sites_stack(s, number[inner[i]], caller, &stack, &err), GCD_OK);
        t.stack = stack;
        assert_int_equal(sites_total(s, &t, &total, &err), GCD_OK);
        living.total = total;
        assert_int_equal(sites_living(s, &living, &err), GCD_OK);
    }
    assert_int_equal(sites_seal(s, &err), GCD_OK);
    assert_int_equal(gcd_site_list_new(&s->sites, gcd_graph_summary(l.graph), origins, &list, &err),
                     GCD_OK);
    assert_int_equal(list->count, 2);
    for (size_t i = 0; i < list->count; i++) {
        const struct gcd_site *site = &list->items[i];
        bool open = strcmp(gcd_site_frame_of(list, site)->method, frames[0].method) == 0;
        /* the caller of unknown code is the program's own */
        assert_string_equal(gcd_site_frame_of(list, site)->method, frames[open ? 0 : 1].method);
        assert_int_equal(site->alive, open ? 2 : 1);
        double error = gcd_site_error(site->variance), all = open ? 2000 : 1000;
        assert_true(error > all * 0.999 && error < all * 1.001);
    }
    gcd_site_list_free(list);
    gcd_sites_free(&s->sites);
    gcd_origins_free(origins);
    done(&l);
}

/* A collection after the last one of the allocations: its ranges are not known.  ANOTHER: of the
 * same stack and type as the sample at 0x1000; the walk does not have it. */
static void find_after(uint32_t depth, uint32_t type, bool another, struct gcd_sites **ret)
{
    struct lab l;
    struct gcd_site_recorder *r;
    struct tb streams[3]; /* allocations, collections, walk */
    begin(&l, SITE_SAMPLED);
    for (size_t i = 0; i < 3; i++)
        tb_init(&streams[i], TB_V4, 8);
    site_sample(&streams[0], SITE_SAMPLED, 0, 0x1000, 48);
    if (another)
        site_sample(&streams[0], SITE_SAMPLED, 0, 0x1040, 48);
    site_collect(&streams[0], 1, 0, 0, TB_LIST(struct site_range, { 0x1000, 0x9000, 0x100 }));
    tb_gc_start_full(&streams[1], 1, 0, 0, 0);
    tb_gc_end(&streams[1], 1);
    tb_gc_start_full(&streams[1], 2, depth, 0, type);
    tb_gc_end(&streams[1], 2);
    tb_gc_start(&streams[2], 3);
    site_ranges(&streams[2], TB_LIST(struct site_range, { 0x9000, 0, 0x100 }));
    tb_gc_end(&streams[2], 3);
    for (size_t i = 0; i < 3; i++)
        tb_close(&streams[i]);
    struct gcd_input *walk;
    assert_int_equal(gcd_input_from_memory(streams[2].out.p, streams[2].out.n, NULL, &walk, &err),
                     GCD_OK);
    assert_int_equal(gcd_site_recorder_new(NULL, &r, &err), GCD_OK);
    for (size_t i = 0; i < GCD_SITE_STREAMS; i++)
        assert_int_equal(gcd_site_recorder_feed(r, (enum gcd_site_stream)i, streams[i].out.p,
                                                streams[i].out.n, &err),
                         GCD_OK);
    assert_int_equal(gcd_site_recorder_walk(r, walk, 3, &err), GCD_OK);
    assert_int_equal(gcd_site_recorder_finish(r, l.graph, NULL, ret, &err), GCD_OK);
    gcd_site_recorder_free(r);
    gcd_input_free(walk);
    for (size_t i = 0; i < 3; i++)
        tb_done(&streams[i]);
    done(&l);
}

/* After a full collection that nobody followed, the memory of a dead object may hold another of its
 * type and size.  If others with its stack have died, nobody can tell. */
static void test_what_died_unseen_makes_others_of_its_stack_unknown(void **state)
{
    (void)state;
    static const struct {
        uint32_t depth, type;
        bool another;
        uint64_t alive, dead, lost;
    } cases[] = { { 2, 1, false, 1, 0, 0 }, /* a background collection */
                  { 2, 1, true, 0, 1, 1 },
                  { 1, 0, false, 0, 0, 1 }, /* it may have moved them */
                  { 0, 0, false, 1, 0, 0 }, /* they are older */
                  { 0, 0, true, 1, 1, 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gcd_sites *s;
        find_after(cases[i].depth, cases[i].type, cases[i].another, &s);
        assert_int_equal(s->alive, cases[i].alive);
        assert_int_equal(s->dead, cases[i].dead);
        assert_int_equal(s->lost, cases[i].lost);
        gcd_sites_free(s);
    }
}

static void test_a_text_that_is_too_long_keeps_the_line_of_a_frame(void **state)
{
    (void)state;
    char text[40];
    struct gcd_site_frame f = { "Shop.SessionStore.Open", "/src/Shop/Store.cs", "", 41 };
    gcd_site_frame_text(&f, text, sizeof text);
    assert_string_equal(text, "Shop.SessionStore.Open (Store.cs:41)");
    gcd_site_frame_text(&f, text, 20);
    assert_string_equal(text, "Shop. (Store.cs:41)");
    f = (struct gcd_site_frame){ "", "", "", 0 };
    gcd_site_frame_text(&f, text, sizeof text);
    assert_string_equal(text, "(unknown code)");
    gcd_site_frame_text(&f, text, 1);
    assert_string_equal(text, "");
}

static void test_a_recording_keeps_sites(void **state)
{
    (void)state;
    struct lab l;
    struct tb_bytes b = { 0 };
    struct gcd_sites *read;
    begin(&l, SITE_SAMPLED);
    assert_int_equal(find_sites(&l, NULL), GCD_OK);
    store(&l, &b);
    assert_int_equal(read_stored(&l, &b, NULL, &read), GCD_OK);
    assert_true(same_sites(l.sites, read));
    gcd_sites_free(read);
    /* it is still the same dump */
    struct gcd_input *in;
    struct gcd_dump *d;
    assert_int_equal(gcd_input_from_memory(b.p, b.n, NULL, &in, &err), GCD_OK);
    assert_int_equal(gcd_dump_open(in, NULL, &d, &err), GCD_OK);
    assert_int_equal(gcd_dump_summary(d)->objects, 2);
    assert_int_equal(gcd_dump_summary(d)->trace.lost_events, 0);
    assert_int_equal(gcd_dump_summary(d)->verdict.complete,
                     gcd_dump_summary(l.dump)->verdict.complete);
    gcd_dump_free(d);
    gcd_input_free(in);
    /* without them, there are none */
    assert_int_equal(read_stored(&l, &l.t.out, NULL, &read), GCD_OK);
    assert_null(read);
    tb_free(&b);
    done(&l);
}

/* Only their modules are lost, which no event can hold. */
static void test_frames_with_too_long_texts_are_kept(void **state)
{
    (void)state;
    static char path[40000];
    struct lab l;
    struct tb_bytes b = { 0 };
    struct gcd_sites *read, *found;
    struct gcd_site_frame frames[8];
    begin(&l, SITE_SAMPLED);
    assert_int_equal(find_sites(&l, NULL), GCD_OK);
    found = l.sites;
    assert_in_range(found->frame_count, 2, 8);
    memset(path, 'p', sizeof path - 1);
    for (size_t i = 0; i < found->frame_count; i++) {
        frames[i] = found->frames[i];
        frames[i].module = path;
    }
    struct gcd_sites long_ones = *found;
    long_ones.frames = frames;
    l.sites = &long_ones;
    store(&l, &b);
    l.sites = found;
    assert_int_equal(read_stored(&l, &b, NULL, &read), GCD_OK);
    assert_true(same_sites(found, read));
    assert_string_equal(read->frames[0].module, "");
    /* with no room for any text, the numbers are still right */
    for (size_t i = 0; i < found->frame_count; i++)
        frames[i] = (struct gcd_site_frame){ path, path, path, 1 };
    l.sites = &long_ones;
    store(&l, &b);
    l.sites = found;
    gcd_sites_free(read);
    assert_int_equal(read_stored(&l, &b, NULL, &read), GCD_OK);
    assert_int_equal(read->frame_count, found->frame_count);
    assert_int_equal(read->frames[1].line, 0);
    assert_string_equal(read->frames[1].method, "");
    gcd_sites_free(read);
    tb_free(&b);
    done(&l);
}

/* No damage gives other sites: they are the same, refused, or not there. */
static void test_damaged_sites_are_refused(void **state)
{
    (void)state;
    struct lab l;
    struct tb_bytes b = { 0 };
    begin(&l, SITE_SAMPLED);
    assert_int_equal(find_sites(&l, NULL), GCD_OK);
    store(&l, &b);
    size_t refused = 0;
    for (size_t i = l.t.out.n; i < b.n; i++) {
        struct gcd_sites *read;
        b.p[i] ^= 0x15;
        gcd_status st = read_stored(&l, &b, NULL, &read);
        if (st != GCD_OK)
            refused++;
        else if (read != NULL)
            assert_true(same_sites(l.sites, read));
        gcd_sites_free(read);
        b.p[i] ^= 0x15;
    }
    assert_true(refused > 200);
    for (size_t n = l.t.out.n - 20; n < b.n; n += 3) { /* cut */
        struct tb_bytes cut = { .p = b.p, .n = n };
        struct gcd_sites *read;
        gcd_status st = read_stored(&l, &cut, NULL, &read);
        assert_true(st != GCD_OK || read == NULL || same_sites(l.sites, read));
        gcd_sites_free(read);
    }
    tb_free(&b);
    done(&l);
}

static void test_every_allocation_can_fail(void **state)
{
    (void)state;
    struct lab l;
    struct tb_bytes b = { 0 };
    begin(&l, SITE_SAMPLED);
    for (uint64_t n = 1;; n++) {
        struct failalloc f;
        failalloc_init(&f);
        f.fail_at = n;
        gcd_status st = find_sites(&l, &f.alloc);
        assert_int_equal(st, f.failed > 0 ? GCD_E_NOMEM : GCD_OK);
        if (st == GCD_OK) {
            store(&l, &b);
            gcd_sites_free(l.sites);
            l.sites = NULL;
        }
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
    }
    for (uint64_t n = 1;; n++) {
        struct failalloc f;
        struct gcd_sites *read;
        failalloc_init(&f);
        f.fail_at = n;
        gcd_status st = read_stored(&l, &b, &f.alloc, &read);
        assert_int_equal(st, f.failed > 0 ? GCD_E_NOMEM : GCD_OK);
        gcd_sites_free(read);
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
    }
    tb_free(&b);
    done(&l);
}

/* ---- progress ---- */

static bool background_runs(const struct gcd_site_recorder *r)
{
    return gcd_site_recorder_progress(r).background_runs;
}

static void feed_collections(struct gcd_site_recorder *r, const struct tb *t, size_t from)
{
    assert_int_equal(
        gcd_site_recorder_feed(r, GCD_SITE_COLLECTIONS, t->out.p + from, t->out.n - from, &err),
        GCD_OK);
}

/* A foreground collection may begin and end inside it. */
static void test_a_background_collection_runs_until_its_own_end(void **state)
{
    (void)state;
    struct gcd_site_recorder *r;
    struct tb t;
    uint32_t ends[] = { 2, 1 };
    assert_int_equal(gcd_site_recorder_new(NULL, &r, &err), GCD_OK);
    tb_init(&t, TB_V4, 8);
    size_t from = 0;
    tb_gc_start_full(&t, 1, 2, 0, 1);
    tb_flush(&t);
    feed_collections(r, &t, from);
    assert_true(background_runs(r));
    tb_gc_start_full(&t, 2, 0, 0, 2);
    for (size_t i = 0; i < 2; i++) {
        from = t.out.n;
        tb_gc_end(&t, ends[i]);
        tb_flush(&t);
        feed_collections(r, &t, from);
        assert_int_equal(background_runs(r), i == 0);
    }
    gcd_site_recorder_free(r);
    tb_done(&t);
}

/* ---- profiles ---- */

static void test_profiles_have_stacks_and_lines(void **state)
{
    (void)state;
    static const char *const wanted[] = {
        [GCD_SITES_COLLAPSED] = "Shop.Program.Main (Orders.cs:300);Shop.Store.Open (Store.cs:12);"
                                "System.Byte[] 1604",
        [GCD_SITES_SPEEDSCOPE] = "{\"name\":\"Shop.Store.Open\",\"file\":\"/src/Shop/Store.cs\","
                                 "\"line\":12}",
        [GCD_SITES_PPROF] = "Shop.Store.Open",
    };
    struct lab l;
    begin(&l, SITE_SAMPLED);
    assert_int_equal(find_sites(&l, NULL), GCD_OK);
    for (int f = GCD_SITES_PPROF; f <= GCD_SITES_SPEEDSCOPE; f++) {
        struct gcd_sink *to;
        const uint8_t *bytes;
        size_t n;
        assert_int_equal(gcd_sink_new_memory(NULL, &to, &err), GCD_OK);
        assert_int_equal(gcd_sites_write(l.sites, (enum gcd_sites_format)f, false, to, &err),
                         GCD_OK);
        assert_int_equal(gcd_sink_commit(to, &err), GCD_OK);
        bytes = gcd_sink_memory(to, &n);
        if (memmem(bytes, n, wanted[f], strlen(wanted[f])) == NULL)
            fail_msg("%.*s", (int)n, (const char *)bytes);
        gcd_sink_free(to);
    }
    done(&l);
}

/* The two texts have the same FNV-1a hash. */
static void test_names_with_the_same_hash_stay_apart(void **state)
{
    (void)state;
    static const char *const names[] = { "8yn0iYCKYHlIj4-BwPqk", "GReLUrM4wMqfg9yzV3KQ" };
    struct gcd_site_frame frames[8];
    struct gcd_sink *to;
    struct lab l;
    size_t n;
    begin(&l, SITE_SAMPLED);
    assert_int_equal(find_sites(&l, NULL), GCD_OK);
    struct gcd_sites other = *l.sites;
    assert_in_range(other.frame_count, 2, 8);
    for (size_t i = 0; i < other.frame_count; i++) {
        frames[i] = other.frames[i];
        frames[i].method = names[i % 2];
    }
    other.frames = frames;
    assert_int_equal(gcd_sink_new_memory(NULL, &to, &err), GCD_OK);
    assert_int_equal(gcd_sites_write(&other, GCD_SITES_PPROF, false, to, &err), GCD_OK);
    assert_int_equal(gcd_sink_commit(to, &err), GCD_OK);
    const uint8_t *bytes = gcd_sink_memory(to, &n);
    for (size_t i = 0; i < 2; i++)
        assert_non_null(memmem(bytes, n, names[i], strlen(names[i])));
    gcd_sink_free(to);
    done(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sites_have_lines_and_callers),
        cmocka_unit_test(test_estimates_from_ticks_have_an_error),
        cmocka_unit_test(test_the_standard_error_is_the_root_of_the_variance),
        cmocka_unit_test(test_an_object_of_another_size_is_not_the_sampled_one),
        cmocka_unit_test(test_without_movement_small_objects_are_approximate),
        cmocka_unit_test(test_samples_of_a_line_and_type_are_one_site),
        cmocka_unit_test(test_what_died_unseen_makes_others_of_its_stack_unknown),
        cmocka_unit_test(test_a_text_that_is_too_long_keeps_the_line_of_a_frame),
        cmocka_unit_test(test_a_recording_keeps_sites),
        cmocka_unit_test(test_frames_with_too_long_texts_are_kept),
        cmocka_unit_test(test_damaged_sites_are_refused),
        cmocka_unit_test(test_every_allocation_can_fail),
        cmocka_unit_test(test_a_background_collection_runs_until_its_own_end),
        cmocka_unit_test(test_profiles_have_stacks_and_lines),
        cmocka_unit_test(test_names_with_the_same_hash_stay_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
