/* The keys of all collections of a bundled core file, as people read them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/session.h>
#include <gcdumpc/unstable/image.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/values.h>

#include "support/check.h"
#include "support/run.h"

#define DICTIONARY "System.Collections.Generic.Dictionary<"
#define TREE       "System.Collections.Generic.SortedSet<System.Collections.Generic.KeyValuePair<"

/* HeapLab fills them with the numbers 0 to 99; the framework fills the others. */
static const struct keys {
    const char *type;           /* of the entries */
    const char *before, *after; /* the key of number N; NULL: LISTED */
    unsigned count;
    const char *listed[8];
} all[] = {
    { DICTIONARY "HeapLab.Key, HeapLab.Book>.Entry[]", "(Id = ", ")", 100, { NULL } },
    { DICTIONARY "System.Int32, HeapLab.Book>.Entry[]", "", "", 100, { NULL } },
    { TREE "System.String, HeapLab.Book>>.Node", "\"book ", "\"", 100, { NULL } },
    { DICTIONARY "System.Char, System.String>.Entry[]",
      NULL,
      NULL,
      7,
      { "'\"'", "'\\'", "'\\u0008'", "'\\u0009'", "'\\u000a'", "'\\u000c'", "'\\u000d'" } },
    { DICTIONARY
      "System.Guid, System.Diagnostics.Tracing.EventSource.OverrideEventProvider>.Entry[]",
      NULL,
      NULL,
      1,
      { "20752bc4-c151-50f5-f27b-df92d8af5a61" } },
};
#define KINDS (sizeof all / sizeof *all)

struct core {
    uint8_t *bytes;
    struct gcd_input *in;
    struct gcd_dump *d;
    struct gcd_graph *g;
    struct gcd_session *s;
};

static void open_core(struct core *c)
{
    const struct gcd_image_options image = { .values = { .kind = GCD_VALUES_ALL,
                                                         .max_string = 100 } };
    const struct gcd_dump_options options = { .values = true };
    size_t n;
    c->bytes = run_load(GCDUMPC_SOURCE "/traces/net10-core/heap.core.gz", &n);
    assert_int_equal(gcd_input_from_memory(c->bytes, n, NULL, &c->in, NULL), GCD_OK);
    assert_int_equal(gcd_input_set_image(c->in, &image, NULL), GCD_OK);
    assert_int_equal(gcd_dump_open(c->in, &options, &c->d, NULL), GCD_OK);
    assert_int_equal(gcd_graph_from_dump(c->d, NULL, &c->g, NULL), GCD_OK);
    assert_int_equal(gcd_session_new(c->g, NULL, &c->s, NULL), GCD_OK);
}

static void close_core(struct core *c)
{
    gcd_session_free(c->s);
    gcd_graph_free(c->g);
    gcd_dump_free(c->d);
    gcd_input_free(c->in);
    free(c->bytes);
}

/* Calls SEE for the key of each reference that has one. */
static void each_key(struct core *c, void (*see)(void *ctx, const char *type, const char *key),
                     void *ctx)
{
    const struct gcd_names *names = gcd_session_names(c->s);
    for (uint32_t from = 0; from < gcd_graph_node_count(c->g); from++) {
        size_t n;
        const uint32_t *to = gcd_graph_node_edges(c->g, from, &n);
        for (size_t i = 0; i < n; i++) {
            char buf[GCD_QUOTED_BYTES];
            struct gcd_text text;
            const struct gcd_session_entry e = { GCD_NODE_NONE, from, to[i] };
            const char *key = gcd_session_key(c->s, &e, &text, buf);
            if (key != NULL)
                see(ctx, gcd_names_get(names, gcd_graph_node_type(c->g, from)), key);
        }
    }
}

struct seen {
    unsigned count[KINDS][100];
};

static void mark(void *ctx, const char *type, const char *key)
{
    struct seen *seen = ctx;
    char wanted[100];
    for (size_t k = 0; k < KINDS; k++) {
        if (strcmp(type, all[k].type) != 0)
            continue;
        for (unsigned i = 0; i < all[k].count; i++) {
            if (all[k].before == NULL)
                (void)snprintf(wanted, sizeof wanted, "%s", all[k].listed[i]);
            else
                (void)snprintf(wanted, sizeof wanted, "%s%u%s", all[k].before, i, all[k].after);
            if (strcmp(key, wanted) == 0) {
                seen->count[k][i]++;
                return;
            }
        }
        fail_msg("%s: %s", type, key);
    }
}

static void each_entry_has_its_key(void **state)
{
    (void)state;
    struct core c;
    struct seen seen = { .count = { { 0 } } };
    open_core(&c);
    gcd_session_use_values(c.s,
                           &(struct gcd_values_view){ gcd_dump_values(c.d), GCD_SHOW_RAW, c.in });
    each_key(&c, mark, &seen);
    for (size_t k = 0; k < KINDS; k++)
        for (unsigned i = 0; i < all[k].count; i++)
            assert_int_equal(seen.count[k][i], 1);
    close_core(&c);
}

static void no_key(void *ctx, const char *type, const char *key)
{
    (void)ctx;
    fail_msg("%s: %s", type, key);
}

static void nothing_is_shown_unasked(void **state)
{
    (void)state;
    struct core c;
    open_core(&c);
    gcd_session_use_values(c.s,
                           &(struct gcd_values_view){ gcd_dump_values(c.d), GCD_SHOW_EQUAL, c.in });
    each_key(&c, no_key, NULL);
    close_core(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_entry_has_its_key),
        cmocka_unit_test(nothing_is_shown_unasked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
