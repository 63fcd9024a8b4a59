/*
 * The sweep of a file format that holds a graph: each sample cut at every byte, with every byte
 * changed, and with every allocation failing.
 */
#ifndef SWEEP_GRAPH_H
#define SWEEP_GRAPH_H

#include "support/graph_gen.h"
#include "support/run_graph.h"
#include "sweep/sweep.h"

/* From bytes to a graph: the reader of the format, or a broken version of it. */
typedef gcd_status (*graph_decoder)(const uint8_t *p, size_t n, const struct gcd_alloc *alloc,
                                    struct gcd_graph **ret, struct gcd_error *err);

/* What a decoder made of N bytes.  WHOLE: the graph of the uncut sample; NULL if a byte was changed
 * instead. */
struct graph_outcome {
    gcd_status st;
    const struct gcd_graph *graph; /* NULL unless ST is GCD_OK */
    const struct gcd_graph *whole;
    const struct gcd_error *err;
    const struct failalloc *memory;
    size_t n;
};

struct graph_sweep {
    graph_decoder decode;
    /* Sample number I and its name; NULL after the last.  RET is freed with tb_free. */
    const char *(*sample)(size_t i, struct tb_bytes *ret);
    /* NULL, or the defect. */
    const char *(*check)(const struct graph_outcome *o);
    uint8_t masks[8]; /* of changed bytes after the header, 0 after the last */
    /* false: changes that make a sample look like gzip are left out */
    bool may_be_gzip;
};

static inline void sweep_graph_bytes(const struct graph_sweep *s, graph_decoder decode,
                                     const char *name, size_t at, const struct tb_bytes *b,
                                     const struct gcd_graph *whole, struct tally *t)
{
    /* in its own block, at an odd address: a sanitizer sees reads past the end and unaligned ones
     */
    uint8_t *copy = malloc(b->n + 1);
    assert_non_null(copy);
    if (b->n > 0)
        memcpy(copy + 1, b->p, b->n);
    struct failalloc f;
    struct gcd_graph *g = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    failalloc_init(&f);
    f.max_bytes = (size_t)8 << 20;
    gcd_status st = decode(copy + 1, b->n, &f.alloc, &g, &err);
    const char *wrong = s->check(&(struct graph_outcome){ .st = st,
                                                          .graph = st == GCD_OK ? g : NULL,
                                                          .whole = whole,
                                                          .err = &err,
                                                          .memory = &f,
                                                          .n = b->n });
    if (st == GCD_OK)
        gcd_graph_free(g);
    if (wrong == NULL)
        wrong = failalloc_complaint(&f);
    if (wrong != NULL)
        tally_complain(t, "%s, %s byte %zu: %s; %s", name, whole != NULL ? "cut at" : "changed", at,
                       wrong, err.msg);
    t->runs++;
    free(copy);
}

/* DECODE: s->decode, or a broken one. */
static inline void sweep_graph_cuts(const struct graph_sweep *s, graph_decoder decode,
                                    struct tally *t)
{
    struct tb_bytes b;
    const char *name;
    for (size_t i = 0; (name = s->sample(i, &b)) != NULL; i++) {
        struct gcd_graph *whole;
        assert_int_equal(s->decode(b.p, b.n, NULL, &whole, NULL), GCD_OK);
        for (size_t n = 0; n < b.n; n += sweep_stride())
            sweep_graph_bytes(s, decode, name, n, &(struct tb_bytes){ b.p, n, n }, whole, t);
        gcd_graph_free(whole);
        tb_free(&b);
    }
}

static inline void sweep_graph_flips(const struct graph_sweep *s, graph_decoder decode,
                                     struct tally *t)
{
    uint8_t change;
    struct tb_bytes b;
    const char *name;
    for (size_t i = 0; (name = s->sample(i, &b)) != NULL; i++) {
        for (size_t at = 0; at < b.n; at += sweep_stride())
            for (size_t k = 0;
                 (change = sweep_change(at, k, s->masks, strlen((const char *)s->masks))) != 0;
                 k++) {
                b.p[at] ^= change;
                if (s->may_be_gzip || b.p[0] != 0x1f)
                    sweep_graph_bytes(s, decode, name, at, &b, NULL, t);
                b.p[at] ^= change;
            }
        tb_free(&b);
    }
}

/* Damage number K < 14 * b->n of a copy of a sound file. */
static inline void sweep_damage(struct tb_bytes *b, size_t k)
{
    size_t bits = 8 * b->n, ranges = 4 * b->n, at;
    if (k < bits) {
        b->p[k / 8] ^= (uint8_t)(1u << k % 8);
    } else if (k < bits + ranges) { /* zeros, of 2 bytes to a sixth of the file */
        at = (k - bits) / 4;
        size_t n = (size_t[]){ 2, 16, 100, b->n / 6 }[k % 4];
        memset(b->p + at, 0, n < b->n - at ? n : b->n - at);
    } else if (k < bits + ranges + b->n) { /* two parts exchanged */
        at = k - bits - ranges;
        for (size_t i = 0; i < 24 && at + 72 < b->n; i++) {
            uint8_t byte = b->p[at + i];
            b->p[at + i] = b->p[at + 48 + i];
            b->p[at + 48 + i] = byte;
        }
    } else {
        b->n = k - bits - ranges - b->n; /* a cut */
    }
}

/*
 * Files that we write: if a damaged one is complete, its graph is that of the sound one. MAY_DIFFER
 * as for graph_eq.
 */
static inline void sweep_graph_damage(graph_decoder decode, const char *format, unsigned may_differ,
                                      struct tally *t)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct graph_gen how = { .seed = seed, .max_nodes = 25, .plain_names = true };
        struct gcd_graph *g = graph_gen(&how), *whole, *back;
        struct gcd_write_notes notes;
        struct tb_bytes b, copy;
        assert_int_equal(run_graph_write(format, g, NULL, &b, &notes, NULL), GCD_OK);
        assert_int_equal(decode(b.p, b.n, NULL, &whole, NULL), GCD_OK);
        assert_true(gcd_graph_summary(whole)->verdict.complete);
        copy.p = malloc(b.n);
        assert_non_null(copy.p);
        for (size_t k = 0; k < 14 * b.n; k += sweep_stride()) {
            struct gcd_error err = GCD_ERROR_INIT;
            memcpy(copy.p, b.p, b.n);
            copy.n = b.n;
            sweep_damage(&copy, k);
            if ((copy.n == b.n && memcmp(copy.p, b.p, b.n) == 0) ||
                decode(copy.p, copy.n, NULL, &back, &err) != GCD_OK)
                continue;
            const char *wrong = gcd_graph_summary(back)->verdict.complete
                                    ? graph_eq(whole, back, may_differ)
                                    : NULL;
            if (wrong != NULL)
                tally_complain(t, "seed %" PRIu64 ", damage %zu of %zu: %s", seed, k, b.n, wrong);
            t->runs++;
            gcd_graph_free(back);
        }
        free(copy.p);
        tb_free(&b);
        gcd_graph_free(whole);
        gcd_graph_free(g);
    }
}

/* RUN reads, and writes what it read. */
static inline void sweep_graph_allocations(const struct graph_sweep *s, sweep_job run,
                                           struct tally *t)
{
    struct tb_bytes b;
    const char *name;
    for (size_t i = 0; (name = s->sample(i, &b)) != NULL; i++) {
        sweep_allocations(run, name, b.p, b.n, SWEEP_CAN_DO_WITHOUT, t);
        tb_free(&b);
    }
}

#endif
