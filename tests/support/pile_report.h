/*
 * What is said about the suspects in the piles of a test program, with the numbers behind it, in
 * the file GCDUMPC_PILES: golden/test_said compares it.  What differs only in numbers is there
 * once.
 */
#ifndef PILE_REPORT_H
#define PILE_REPORT_H

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include <gcdumpc/suspects.h>

#include "support/check.h"

/* Was nothing said before that is the same but for digits? */
static inline bool pile_is_new(const char *sentence, const char *advice)
{
    static uint64_t seen[2000];
    static size_t count;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *s = sentence; s != NULL; s = s == sentence ? advice : NULL)
        for (const char *c = s; *c != '\0'; c++)
            if (!isdigit((unsigned char)*c) && *c != ',' && *c != '.')
                hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
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

/* Adds what is said of S. */
static inline void pile_report(const struct gcd_suspects *s)
{
    const char *file = getenv("GCDUMPC_PILES");
    if (file == NULL || s == NULL)
        return;
    FILE *to = fopen(file, "a");
    assert_non_null(to);
    size_t n = gcd_suspects_count(s);
    for (size_t i = 0; i < n + gcd_suspects_note_count(s); i++) {
        const struct gcd_suspect *one =
            i < n ? gcd_suspects_get(s, i) : gcd_suspects_note(s, i - n);
        if (!pile_is_new(one->sentence, one->advice))
            continue;
        pile_put_numbers(to, one);
        fprintf(to, "%s\n%s\n\n", one->sentence, one->advice);
    }
    assert_int_equal(fclose(to), 0);
}

#endif
