/*
 * The types in which others are nested.  C# writes a dot after an outer type and after a namespace,
 * "Shop.Cart.Item", but the page must know the difference to leave out namespaces.  The runtime
 * writes "Shop.Cart+Item".  Outer types with parameters need no mention, because of their "<".
 */
#include "write/html/html_data.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/text.h"
#include "write/json_put.h"

#define NAME_BYTES  ((size_t)1000)
#define NAMES_BYTES ((size_t)100000)

struct outer {
    uint64_t hash; /* first member: the sort key */
    const char *p;
    size_t n;
};

/* Collects the outermost types in NAME, once per occurrence; returns their number.  INTO may be
 * NULL. */
static size_t outer_types(const char *name, struct outer *into)
{
    size_t count = 0;
    for (const char *p = name; *p != '\0';) {
        size_t n = strcspn(p, "+`<>[](),*& ");
        if (p[n] == '+' && n > 0 && n <= NAME_BYTES) {
            if (into != NULL)
                into[count] = (struct outer){ gcd_text_hash(p, n, GCD_TEXT_HASH), p, n };
            count++;
        }
        p += n;
        p += strcspn(p, "<>[](),*& "); /* the types nested in it */
        p += *p != '\0';
    }
    return count;
}

/* INTO may be NULL. */
static size_t all_outer_types(const struct html_data *h, const uint32_t *names, struct outer *into)
{
    const struct gcd_summary *f = gcd_graph_summary(h->g);
    size_t count = 0;
    for (size_t i = 0; i < f->type_count; i++)
        if (names[i] != UINT32_MAX)
            count += outer_types(f->types[i].name, into != NULL ? into + count : NULL);
    return count;
}

static void put_sorted(const struct outer *all, size_t n, struct json_put *j)
{
    char text[NAME_BYTES + 1];
    size_t used = 0;
    for (size_t i = 0; i < n && used <= NAMES_BYTES; i++) {
        if (i > 0 && all[i].hash == all[i - 1].hash)
            continue;
        memcpy(text, all[i].p, all[i].n);
        text[all[i].n] = '\0';
        json_put_text(j, NULL, text, NAME_BYTES);
        used += all[i].n;
    }
}

gcd_status html_put_outer(const struct html_data *h, const uint32_t *type_names, struct json_put *j,
                          struct gcd_error *err)
{
    size_t n = all_outer_types(h, type_names, NULL);
    struct outer *all = gcd_mem_new_array(&h->alloc, n, sizeof *all);
    gcd_status st = GCD_OK;
    json_put_open(j, "outer", '[');
    if (all != NULL &&
        gcd_sort_by_u64(&h->alloc, all, all_outer_types(h, type_names, all), sizeof *all))
        put_sorted(all, n, j);
    else
        st = gcd_fail_nomem(err, "collecting outer types");
    json_put_close(j, ']');
    gcd_mem_free(&h->alloc, all, n * sizeof *all);
    return st;
}
