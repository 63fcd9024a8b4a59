/*
 * What is said about the suspects in the piles of a test program, with the numbers behind it, in
 * the file GCDUMPC_PILES: golden/test_said compares it.  What differs only in numbers is there
 * once; a digest of everything that the library tells about a pile notices the rest.  With
 * GCDUMPC_PILES_WHOLE=1, that everything is there instead of its digest.
 */
#ifndef PILE_REPORT_H
#define PILE_REPORT_H

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <gcdumpc/suspects.h>
#include <gcdumpc/unstable/suspect_checks.h>

#include "support/check.h"

static inline uint64_t pile_digest(const char *text, uint64_t hash)
{
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

/* Was nothing said before that is the same but for digits? */
static inline bool pile_is_new(const char *sentence, const char *advice)
{
    static uint64_t seen[2000];
    static size_t count;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *s = sentence; s != NULL; s = s == sentence ? advice : NULL)
        for (const char *c = s; *c != '\0'; c++)
            if (!isdigit((unsigned char)*c) && *c != ',' && *c != '.')
                hash = pile_digest((const char[]){ *c, '\0' }, hash);
    for (size_t i = 0; i < count; i++)
        if (seen[i] == hash)
            return false;
    assert_true(count < sizeof seen / sizeof *seen);
    seen[count++] = hash;
    return true;
}

/* As a signed number, so that the highest ones, which mean none, are short. */
static inline void pile_put(FILE *to, const char *what, uint64_t n)
{
    fprintf(to, "%s%lld", what, (long long)n);
}

static inline void pile_put_parts(FILE *to, const char *what, const struct gcd_suspect_part *p,
                                  size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fprintf(to, "%s%d", i == 0 ? what : ", ", (int)p[i].type);
        pile_put(to, " ", p[i].objects);
        pile_put(to, " ", p[i].bytes);
    }
}

static inline void pile_put_numbers(FILE *to, const struct gcd_suspect *s)
{
    fprintf(to, "%s %d %d", gcd_suspect_kind_name(s->kind), (int)s->type, (int)s->node);
    pile_put(to, " bytes ", s->bytes);
    pile_put(to, " ", s->retained_bytes);
    pile_put(to, " ", s->shallow_bytes);
    pile_put(to, " objects ", s->objects);
    fprintf(to, " share %.4f%s also %zu", s->share, s->overlaps ? " overlaps" : "", s->also_count);
    if (s->collection != NULL) {
        fprintf(to, " %s", s->collection);
        pile_put(to, " ", s->elements);
        pile_put(to, " ", s->elements_at_least);
        pile_put(to, " ", s->elements_at_most);
        pile_put_parts(to, " of ", &s->element, 1);
    }
    pile_put(to, " root ", s->root);
    for (size_t i = 0; i < s->path_count; i++) {
        fprintf(to, " > %d", (int)s->path[i].node);
        if (s->path[i].repeats != 1)
            pile_put(to, " x", s->path[i].repeats);
        fprintf(to, "%s%s", s->path[i].dependent ? " dependent" : "",
                s->path[i].skipped ? " skipped" : "");
    }
    pile_put(to, " alike ", s->alike);
    for (size_t i = 0; i < s->way_count; i++)
        fprintf(to, " way %d %d %d %.4f", (int)s->ways[i].owner, (int)s->ways[i].owner_node,
                (int)s->ways[i].root, s->ways[i].share);
    pile_put_parts(to, " holds ", s->held, s->held_count);
    pile_put(to, " of ", s->held_objects);
    pile_put_parts(to, " in it ", s->content, s->content_count);
    pile_put(to, " of ", s->content_objects);
    fprintf(to, " owner %d %d %s%s", (int)s->owner_node, (int)s->owner, s->owner_module,
            s->owner_alone ? " alone" : "");
    pile_put_parts(to, " own ", s->own, s->own_count);
    fputs("\n", to);
}

static inline void pile_put_suspect(FILE *to, const struct gcd_suspects *s,
                                    const struct gcd_suspect *x)
{
    pile_put_numbers(to, x);
    fprintf(to, "%s\n%s\n%s\n%s\n%s\n", x->sentence, x->advice, x->evidence, x->place, x->what);
    for (size_t i = 0; i < x->path_count; i++)
        fprintf(to, "%d %u %u ", (int)x->path[i].type, x->path[i].origin, x->path[i].fold);
    for (size_t i = 0; i < x->also_count; i++) {
        const struct gcd_suspect *also = gcd_suspects_also(s, x, i);
        fprintf(to, "\nalso ");
        pile_put_numbers(to, also);
        fputs(also->sentence, to);
    }
    fputs("\n", to);
}

/* Everything about S. */
static inline void pile_put_all(FILE *to, const struct gcd_suspects *s)
{
    size_t n;
    for (size_t i = 0; i < gcd_suspects_count(s); i++)
        pile_put_suspect(to, s, gcd_suspects_get(s, i));
    for (size_t i = 0; i < gcd_suspects_note_count(s); i++)
        pile_put_suspect(to, s, gcd_suspects_note(s, i));
    for (int kind = 0; kind < GCD_SUSPECT_KINDS; kind++) {
        const struct gcd_suspect_check *c = gcd_suspects_check(s, (enum gcd_suspect_kind)kind);
        fprintf(to,
                "check %s: %zu found, %" PRIu64 " %s and %" PRIu64 " bytes, least %" PRIu64
                " and %" PRIu64 "%s\n",
                gcd_suspect_kind_name((enum gcd_suspect_kind)kind), c->found, c->objects,
                c->what != NULL ? c->what : "objects", c->bytes, c->least_objects, c->least_bytes,
                c->unknown ? ", unknown" : "");
    }
    for (size_t i = 0; i < gcd_suspects_consumer_count(s); i++)
        pile_put_parts(to, "consumer ", gcd_suspects_consumer(s, i), 1);
    const uint32_t *objects = gcd_suspects_objects(s, &n);
    for (size_t i = 0; i < n; i++)
        pile_put(to, " object ", objects[i]);
    pile_put(to, "\nheap ", gcd_suspects_heap_bytes(s));
    pile_put(to, " threshold ", gcd_suspects_threshold(s));
    pile_put(to, " observed ", gcd_suspects_observed_bytes(s));
    fputs("\n", to);
}

/* What other options find in the heap of S. */
static inline void pile_put_others(FILE *to, const struct gcd_graph *g,
                                   const struct gcd_dominators *d, const struct gcd_suspects *s)
{
    const struct gcd_suspects_options others[] = {
        { .share = GCD_SUSPECTS_SHARE_MIN, .min_bytes = 1, .by_number = true },
        { .share = GCD_SUSPECTS_SHARE_MIN, .min_bytes = 1, .only_large = true },
        { .share = 1, .min_bytes = UINT64_MAX },
        { .share = 0 },
    };
    struct gcd_error err = GCD_ERROR_INIT;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct gcd_suspects *other = NULL;
        bool largest = i + 1 == sizeof others / sizeof *others;
        if (largest && gcd_suspects_count(s) > 0)
            return;
        gcd_status st = largest ? gcd_largest_consumer(g, d, &others[i], s, &other, &err)
                                : gcd_suspects_new(g, d, &others[i], &other, &err);
        fprintf(to, "%s %zu: %d\n", largest ? "largest" : "options", i, (int)st);
        if (other != NULL)
            pile_put_all(to, other);
        gcd_suspects_free(other);
    }
}

/* Adds what is said of S, the suspects of G. */
static inline void pile_report(const struct gcd_graph *g, const struct gcd_dominators *d,
                               const struct gcd_suspects *s)
{
    const char *file = getenv("GCDUMPC_PILES");
    char *all = NULL;
    size_t n, bytes;
    if (file == NULL || s == NULL)
        return;
    FILE *to = fopen(file, "a"), *whole = open_memstream(&all, &bytes);
    assert_non_null(to);
    assert_non_null(whole);
    pile_put_all(whole, s);
    pile_put_others(whole, g, d, s);
    assert_int_equal(fclose(whole), 0);
    n = gcd_suspects_count(s);
    for (size_t i = 0; i < n + gcd_suspects_note_count(s); i++) {
        const struct gcd_suspect *one =
            i < n ? gcd_suspects_get(s, i) : gcd_suspects_note(s, i - n);
        if (!pile_is_new(one->sentence, one->advice))
            continue;
        pile_put_numbers(to, one);
        fprintf(to, "%s\n%s\n\n", one->sentence, one->advice);
    }
    if (getenv("GCDUMPC_PILES_WHOLE") != NULL)
        fprintf(to, "%s\n", all);
    else
        fprintf(to, "all %016" PRIx64 "\n\n", pile_digest(all, UINT64_C(0xcbf29ce484222325)));
    free(all);
    assert_int_equal(fclose(to), 0);
}

#endif
