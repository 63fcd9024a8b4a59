/*
 * Pages for browsers, in the style of the format html: two dumps side by side, several over time,
 * and one dump whose suspects come first.
 *
 * A page is one file that loads nothing.  It has at most 5 MB: the smallest items are left out and
 * counted.  Texts need not be well-formed UTF-8, and nothing in them becomes markup.
 */
#ifndef GCDUMPC_UNSTABLE_PAGES_PAGES_H
#define GCDUMPC_UNSTABLE_PAGES_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/diff.h>
#include <gcdumpc/dump.h>
#include <gcdumpc/io.h>
#include <gcdumpc/session.h>
#include <gcdumpc/status.h>
#include <gcdumpc/unstable/tree_diff.h>
#include <gcdumpc/writer.h>

/* What a page says about a dump as a whole. */
struct gcd_page_dump {
    const char *name;    /* of its file, UTF-8 */
    const char *title;   /* the name of the process; "" = unknown */
    const char *program; /* its command line; "" = unknown */
    uint64_t process;    /* 0 = unknown */
    int64_t unix_ms;     /* when it was made; INT64_MIN = unknown */
    const struct gcd_verdict *verdict;
    struct gcd_diff_sum sum;
    /* only in a page of several dumps: not all of its types are known, so a missing one may exist
     */
    bool partial;
};

/* What is said before the suspects of the newer dump that have grown; NULL = nothing. */
struct gcd_page_said {
    const char *sentence, *advice, *evidence;
};

/* How one of the suspects of the newer dump has grown. */
struct gcd_page_growth {
    size_t suspect;                /* its number among those of the session */
    int64_t grown;                 /* bytes, maybe estimated */
    bool worth;                    /* a part of the growth that is worth a word */
    const char *said;              /* "Carts: 10 -> 40 Cart, +1.8 MiB, 90 % of the growth" */
    const char *advice, *evidence; /* instead of those of the suspect */
};

struct gcd_diff_page {
    struct gcd_page_dump sides[2];     /* older, newer */
    const struct gcd_diff *types;      /* matched, of two dumps */
    const struct gcd_tree_diff *paths; /* matched, of the same two; NULL = none */
    bool retained;                     /* retained sizes are known */
    /* for its map, its suspects and all details of single types; NULL = without these */
    struct gcd_session *newer;
    /* for NEWER, may be NULL; names and origins are those of the session */
    const struct gcd_write_options *options;
    /*
     * Called once with the SUSPECTS of NEWER: how each has grown, *RET_COUNT of them, the most
     * grown first, and what is said before; valid until the page is written.  NULL: the suspects
     * are in their own order.
     */
    gcd_status (*grown)(void *ctx, const struct gcd_suspects *suspects,
                        const struct gcd_page_growth **ret, size_t *ret_count,
                        struct gcd_page_said *ret_said, struct gcd_error *err);
    void *grown_ctx;
};

/*
 * Writes the page to S; the caller commits S.  GCD_E_ARG: not two dumps; errors of the sink.  With
 * NEWER also GCD_E_NOMEM, GCD_E_CANCELED; it then takes as much memory as gcd_write_graph with the
 * format html, part of which the session keeps.  The allocator of NEWER must be thread-safe.
 */
GCD_MUST_CHECK gcd_status gcd_write_diff_page(const struct gcd_diff_page *page, struct gcd_sink *s,
                                              struct gcd_error *err);

/* A line of the program whose sampled allocations keep more than in the first dump with them. */
struct gcd_page_site {
    const char *type, *method, *file; /* "" = unknown */
    uint64_t line;                    /* 0 = unknown */
    uint64_t before, after;           /* bytes per hour, in the first and last dump with samples */
};

struct gcd_trend_page {
    const struct gcd_page_dump *dumps; /* [dump_count] oldest first */
    size_t dump_count;
    const struct gcd_diff *types; /* matched, of these dumps */
    bool retained;                /* retained sizes are known */
    /* [site_count] most growth first, of which the page has the first 100; NULL = no two dumps have
     * sampled allocations */
    const struct gcd_page_site *sites;
    size_t site_count;
};

/*
 * Writes the page of several dumps over time to S; the caller commits S.  GCD_E_ARG: TYPES has a
 * different number of dumps, or none; GCD_E_LIMIT: more than 1,000 dumps; errors of the sink.
 * Memory does not grow with the number of dumps or types.
 */
GCD_MUST_CHECK gcd_status gcd_write_trend_page(const struct gcd_trend_page *page,
                                               struct gcd_sink *s, struct gcd_error *err);

/*
 * The page of the graph of SESSION, its suspects first: those of the session, with its thresholds,
 * names and origins.  OPTIONS, which may be NULL: context and name.  The caller commits S.  Errors
 * and memory as with NEWER above; the allocator of SESSION must be thread-safe.
 */
GCD_MUST_CHECK gcd_status gcd_write_leaks_page(struct gcd_session *session, struct gcd_sink *s,
                                               const struct gcd_write_options *options,
                                               struct gcd_error *err);

#endif
