/*
 * Recordings with damaged blocks and events, compared with the undamaged ones: a complete result
 * equals the original, and no object gets a reference that is not its own, whatever the verdict.
 *
 * GCDUMPC_DAMAGE_CASES: cases per group (1000); GCDUMPC_TEST_SEED: the first seed (1).  A complaint
 * names its seed.
 */
#include <inttypes.h>
#include <unistd.h>

#include "support/damage.h"
#include "support/wrapped.h"
#include "sweep/sweep.h"

/* Limit for one case, which takes some milliseconds. */
#define SECONDS 60

/* ---- recordings ---- */

struct recording {
    const char *name;
    uint8_t *bytes;
    size_t n;
    struct damage *parts;
    struct run whole; /* the result of the undamaged one */
    /* the objects of all its walks, by address; their TARGETS belong to the walk */
    struct known *known;
    size_t known_count, known_cap;
    struct run walks[4];
    size_t walk_count;
};

struct known {
    struct run_object object;
    const uint64_t *targets;
};

static int by_address(const void *a, const void *b)
{
    const struct known *x = a, *y = b;
    return x->object.address < y->object.address ? -1 : x->object.address > y->object.address;
}

static void learn_walk(struct recording *r, const struct run *walk)
{
    for (size_t i = 0; i < walk->object_count; i++) {
        if (r->known_count == r->known_cap) {
            r->known_cap = 2 * r->known_cap + 1024;
            r->known = realloc(r->known, r->known_cap * sizeof *r->known);
            assert_non_null(r->known);
        }
        const struct run_object *o = &walk->objects[i];
        r->known[r->known_count++] =
            (struct known){ *o, o->targets > 0 ? walk->targets + o->first_target : NULL };
    }
}

/* Takes ownership of BYTES. */
static void learn(struct recording *r, const char *name, uint8_t *bytes, size_t n)
{
    struct run_options how = { .input = true, .no_gclog = true };
    *r = (struct recording){ .name = name, .bytes = bytes, .n = n, .parts = damage_open(bytes, n) };
    run_trace(bytes, n, &how, &r->whole);
    if (r->whole.st != GCD_OK)
        fail_msg("%s: %s", name, r->whole.err.msg);
    for (how.walk_number = 1; how.walk_number <= r->whole.facts.dumps && r->walk_count < 4;
         how.walk_number++) {
        run_trace(bytes, n, &how, &r->walks[r->walk_count]);
        learn_walk(r, &r->walks[r->walk_count++]);
    }
    qsort(r->known, r->known_count, sizeof *r->known, by_address);
}

static void forget(struct recording *r)
{
    for (size_t i = 0; i < r->walk_count; i++)
        run_done(&r->walks[i]);
    run_done(&r->whole);
    damage_free(r->parts);
    free(r->known);
    free(r->bytes);
}

/* The output of genheap with OPTIONS. */
static uint8_t *generate(const char *options, size_t *ret_n)
{
    char command[1000];
    const char *build = getenv("GCDUMPC_BUILD");
    struct tb_bytes b = { NULL, 0, 0 };
    static uint8_t part[65536];
    (void)snprintf(command, sizeof command, "'%s/genheap' %s -", build != NULL ? build : ".",
                   options);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
        tb_put(&b, part, n);
    assert_int_equal(pclose(f), 0);
    *ret_n = b.n;
    return b.p;
}

/* ---- invariants ---- */

/* From this line on, the text of a run describes the dump and not how it was recorded. */
static char *contents(char *text)
{
    char *p = strstr(text, "\nobjects ");
    return p != NULL ? p : text;
}

static const char *not_equal(const struct run *hurt, const struct run *whole)
{
    struct run a = *hurt, b = *whole;
    a.text = contents(a.text);
    b.text = contents(b.text);
    return run_diff(&a, &b);
}

/* Is PART a subsequence of ALL? */
static bool is_left_of(const uint64_t *part, size_t n, const uint64_t *all, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count && found < n; i++)
        found += all[i] == part[found];
    return found == n;
}

static bool is_own(const struct recording *r, const struct run_object *o, const uint64_t *targets)
{
    size_t low = 0, high = r->known_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->known[middle].object.address < o->address)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < r->known_count && r->known[low].object.address == o->address; low++) {
        const struct run_object *k = &r->known[low].object;
        if (k->size_bytes == o->size_bytes && k->type_id == o->type_id && k->edges == o->edges &&
            is_left_of(targets, (size_t)o->targets, r->known[low].targets, (size_t)k->targets))
            return true;
    }
    return false;
}

static const char *foreign_reference(const struct run *hurt, const struct recording *r,
                                     const struct recording *other)
{
    static char text[200];
    for (size_t i = 0; i < hurt->object_count; i++) {
        const struct run_object *o = &hurt->objects[i];
        if (o->targets == 0) /* then there may be no array at all */
            continue;
        const uint64_t *targets = hurt->targets + o->first_target;
        if (is_own(r, o, targets) || (other != NULL && is_own(other, o, targets)))
            continue;
        (void)snprintf(text, sizeof text, "object %zu at %" PRIx64 " has references of another one",
                       i, o->address);
        return text;
    }
    return NULL;
}

static bool has_reason(const struct gcd_verdict *v, enum gcd_reason_code code)
{
    for (size_t i = 0; i < v->reason_count; i++)
        if (v->reasons[i].code == code)
            return true;
    return false;
}

/* Can the seam of two recordings be seen?  It can look like a loss, and sums can be equal by
 * chance. */
static bool has_seam(const struct gcd_verdict *v)
{
    return has_reason(v, GCD_REASON_EDGES_UNBALANCED) && !has_reason(v, GCD_REASON_EVENTS_LOST) &&
           !has_reason(v, GCD_REASON_NODE_EVENTS_MISSING) &&
           !has_reason(v, GCD_REASON_EDGE_EVENTS_MISSING);
}

static const char *check_case(const struct run *hurt, const struct recording *r,
                              const struct recording *other, bool grafted)
{
    const char *wrong = run_check(hurt);
    if (wrong != NULL || hurt->st != GCD_OK)
        return wrong;
    if (!grafted || has_seam(&hurt->verdict))
        wrong = foreign_reference(hurt, r, other);
    if (wrong != NULL || !hurt->verdict.complete)
        return wrong;
    wrong = not_equal(hurt, &r->whole);
    if (wrong != NULL && other != NULL && not_equal(hurt, &other->whole) == NULL)
        wrong = NULL;
    return wrong;
}

/* One case of R, with or without blocks of OTHER. */
typedef void (*damage_way)(const struct recording *r, const struct recording *other, uint64_t seed,
                           struct tb_bytes *ret, struct damage_notes *notes);

static void damage_parts(const struct recording *r, const struct recording *other, uint64_t seed,
                         struct tb_bytes *ret, struct damage_notes *notes)
{
    damage_make(r->parts, other->parts, seed, ret, notes);
}

/* Each bit once in so many seeds; seeds in a row are far apart. */
static void damage_identity(const struct recording *r, const struct recording *other, uint64_t seed,
                            struct tb_bytes *ret, struct damage_notes *notes)
{
    (void)other;
    uint64_t bits = damage_identity_bits(r->parts);
    damage_flip_identity(r->parts, seed % bits * UINT64_C(1000003) % bits, ret, notes);
}

/* Nearly every seed cuts elsewhere. */
static void damage_seams(const struct recording *r, const struct recording *other, uint64_t seed,
                         struct tb_bytes *ret, struct damage_notes *notes)
{
    damage_graft(r->parts, other->parts, seed, ret, notes);
}

static void try_case(sweep_decoder decode, damage_way way, const struct recording *r,
                     const struct recording *other, uint64_t seed, struct tally *t,
                     unsigned long *ret_complete)
{
    static const struct run_options how = { .input = true, .no_gclog = true };
    struct damage_notes notes;
    struct tb_bytes bytes;
    struct run hurt;
    way(r, other, seed, &bytes, &notes);
    /* keeps the case as a file, for debugging */
    const char *keep = getenv("GCDUMPC_DAMAGE_KEEP");
    FILE *f = keep != NULL ? fopen(keep, "wb") : NULL;
    if (f != NULL)
        (void)(fwrite(bytes.p, 1, bytes.n, f) + (size_t)fclose(f));
    (void)alarm(SECONDS);
    decode(bytes.p, bytes.n, &how, &hurt);
    (void)alarm(0);
    const char *wrong = check_case(&hurt, r, notes.merged ? other : NULL, way == damage_seams);
    if (wrong != NULL)
        tally_complain(t, "%s, seed %" PRIu64 ":%s %s; %.500s", r->name, seed, notes.text, wrong,
                       hurt.text);
    t->runs++;
    *ret_complete += hurt.st == GCD_OK && hurt.verdict.complete;
    run_done(&hurt);
    tb_free(&bytes);
}

/* ---- groups ---- */

static const char *const genheap_v4[] = { "-n 5000 --dumps 2",
                                          "-n 4500 --dumps 3 --server --ranges",
                                          "-n 20000 --dumps 2 --sp-bytes 200000",
                                          "-n 3000 --dumps 2 --thread-reuse --late-types", NULL };
static const char *const genheap_v5[] = {
    "-n 5000 --dumps 2 --noise", "-n 4500 --dumps 2 --noise --server --ranges --sp-bytes 100000",
    "-n 4200 --noise --uncompressed --dumps 2", NULL
};
static const char *const genheap_v6[] = {
    "-n 5000 --dumps 2 --format v6", "-n 30000 --format v6 --sp-bytes 200000",
    "-n 4500 --format v6 --dumps 2 --noise --forget-threads --sp-bytes 100000",
    "-n 4200 --format v6 --dumps 2 --thread-reuse --server --ranges", NULL
};

enum { RECORDINGS_MAX = 32 };

static size_t learn_generated(struct recording *all, const char *const *options, bool etl)
{
    size_t count = 0;
    for (; options[count] != NULL; count++) {
        size_t n;
        uint8_t *p = generate(options[count], &n);
        if (etl) {
            static const struct tb_etl_way way = { "buffers of 64 KiB", 65664, false, false,
                                                   false };
            static const struct tb_etl_way packed = { "compressed", 65664, true, true, false };
            struct tb_bytes b;
            tb_etl(p, n, count % 2 == 0 ? &way : &packed, &b);
            free(p);
            p = b.p;
            n = b.n;
        }
        learn(&all[count], options[count], p, n);
    }
    return count;
}

static size_t learn_bundled(struct recording *all, bool etl)
{
    const char *name;
    size_t n, count = 0;
    uint8_t *p;
    for (size_t i = 0;
         i < RECORDINGS_MAX / 2 && (p = run_bundled(GCDUMPC_SOURCE, i, &name, &n)) != NULL; i++) {
        if (etl && strstr(name, "lossy") != NULL) { /* as an .etl it would report no loss */
            free(p);
            continue;
        }
        if (etl) {
            static const struct tb_etl_way way = { "buffers of 64 KiB", 65664, false, false,
                                                   false };
            struct tb_bytes b;
            tb_etl(p, n, &way, &b);
            free(p);
            p = b.p;
            n = b.n;
        }
        learn(&all[count++], name, p, n);
    }
    return count;
}

static uint64_t number_of(const char *variable, uint64_t otherwise)
{
    const char *s = getenv(variable);
    return s != NULL && *s != '\0' ? strtoull(s, NULL, 10) : otherwise;
}

static void run_group(sweep_decoder decode, damage_way way, const char *what, struct recording *all,
                      size_t count, uint64_t cases, struct tally *t)
{
    uint64_t first = number_of("GCDUMPC_TEST_SEED", 1);
    unsigned long complete = 0;
    for (uint64_t k = 0; k < cases; k++) {
        size_t i = (size_t)((first + k) % count);
        try_case(decode, way, &all[i], &all[(i + 1 + k % 3) % count], first + k, t, &complete);
    }
    print_message("%s: %lu cases from seed %" PRIu64 " on, %lu called complete, %lu complaints\n",
                  what, t->runs, first, complete, t->complaints);
    for (size_t i = 0; i < count; i++)
        forget(&all[i]);
}

static void expect_group(const char *what, damage_way way, const char *const *options, bool bundled,
                         bool etl)
{
    struct recording all[RECORDINGS_MAX];
    struct tally t = { 0 };
    size_t count = options != NULL ? learn_generated(all, options, etl) : 0;
    if (bundled)
        count += learn_bundled(all + count, etl);
    run_group(sweep_decode, way, what, all, count, number_of("GCDUMPC_DAMAGE_CASES", 1000), &t);
    tally_expect_none(&t);
}

static void test_bundled(void **state)
{
    (void)state;
    expect_group("bundled recordings", damage_parts, NULL, true, false);
}

static void test_v4(void **state)
{
    (void)state;
    expect_group("format 4", damage_parts, genheap_v4, false, false);
}

static void test_v5(void **state)
{
    (void)state;
    expect_group("format 5", damage_parts, genheap_v5, false, false);
}

static void test_v6(void **state)
{
    (void)state;
    expect_group("format 6", damage_parts, genheap_v6, false, false);
}

static void test_etl(void **state)
{
    (void)state;
    expect_group(".etl", damage_parts, genheap_v4, true, true);
}

static void test_identity(void **state)
{
    (void)state;
    static const char *const options[] = { "-n 5000 --dumps 2 --noise",
                                           "-n 5000 --dumps 2 --format v6 --ranges --noise",
                                           "-n 4200 --server --uncompressed", NULL };
    expect_group("what events are", damage_identity, options, true, false);
}

/* Two recordings of one program, the end of one after the beginning of the other. */
static void test_grafts(void **state)
{
    (void)state;
    static const char *const options[] = {
        "-n 20000 --sp-bytes 200000",          "-n 20000 --seed 2 --sp-bytes 200000",
        "-n 20100 --seed 3 --sp-bytes 200000", "-n 20000 --shape random --sp-bytes 200000",
        "-n 30000 --sp-bytes 200000",          "-n 20050 --seed 4 --sp-bytes 200000",
        "-n 20000 --seed 5 --sp-bytes 200000", NULL
    };
    expect_group("grafted recordings", damage_seams, options, false, false);
}

/* Splitting and joining alone changes nothing. */
static void test_undamaged(void **state)
{
    (void)state;
    static const struct run_options how = { .input = true, .no_gclog = true };
    static const char *const *const groups[] = { genheap_v4, genheap_v5, genheap_v6 };
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        struct recording all[RECORDINGS_MAX];
        size_t count = learn_generated(all, groups[g], false);
        for (size_t i = 0; i < count; i++) {
            struct tb_bytes b;
            struct run r;
            damage_none(all[i].parts, &b);
            run_trace(b.p, b.n, &how, &r);
            const char *wrong = not_equal(&r, &all[i].whole);
            if (wrong != NULL || !r.verdict.complete)
                fail_msg("%s: %s; %.600s", all[i].name, wrong != NULL ? wrong : "not complete",
                         r.text);
            run_done(&r);
            tb_free(&b);
            forget(&all[i]);
        }
    }
}

/* ---- decoders broken on purpose ---- */

static void decode_blind(const uint8_t *bytes, size_t n, const struct run_options *options,
                         struct run *ret)
{
    run_trace(bytes, n, options, ret);
    ret->verdict.complete = true;
    ret->verdict.reason_count = 0;
}

/* Gives the references of one object to the next. */
static void decode_shifted(const uint8_t *bytes, size_t n, const struct run_options *options,
                           struct run *ret)
{
    run_trace(bytes, n, options, ret);
    for (size_t i = 0; i + 1 < ret->object_count && !ret->verdict.complete; i++)
        if (ret->objects[i].targets > 0 && ret->objects[i + 1].targets == ret->objects[i].targets)
            ret->objects[i + 1].first_target = ret->objects[i].first_target;
}

static void test_self(void **state)
{
    (void)state;
    static const sweep_decoder broken[] = { decode_blind, decode_shifted };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct recording all[RECORDINGS_MAX];
        struct tally t = { 0 };
        size_t count = learn_generated(all, genheap_v4, false);
        run_group(broken[i], damage_parts, "broken on purpose", all, count, 40, &t);
        tally_expect_some(&t);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) /* one group: test_v6 */
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undamaged), cmocka_unit_test(test_bundled),
        cmocka_unit_test(test_v4),        cmocka_unit_test(test_v5),
        cmocka_unit_test(test_v6),        cmocka_unit_test(test_etl),
        cmocka_unit_test(test_identity),  cmocka_unit_test(test_grafts),
        cmocka_unit_test(test_self),
    };
    return cmocka_run_group_tests_name("sweep_damage", tests, NULL, NULL);
}
