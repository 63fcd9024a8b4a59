#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* qsort has no context argument in C11; the program has one thread. */
static const struct cli_dump *sort_dump;
static const struct gcd_names *sort_names;
static enum cli_sort sort_key;

static int descending(uint64_t a, uint64_t b)
{
    return a < b ? 1 : a > b ? -1 : 0;
}

/* Ties are broken until nothing is left to chance: the same dump gives the same report. */
static int compare(const void *pa, const void *pb)
{
    uint32_t x = *(const uint32_t *)pa, y = *(const uint32_t *)pb;
    const struct gcd_type *a = cli_type(sort_dump, x), *b = cli_type(sort_dump, y);
    int by_bytes = descending(a->bytes, b->bytes), by_count = descending(a->objects, b->objects);
    int by_name = strcmp(gcd_names_get(sort_names, x), gcd_names_get(sort_names, y));
    const int orders[][3] = { [CLI_SORT_BYTES] = { by_bytes, by_count, by_name }, [CLI_SORT_COUNT] = { by_count, by_bytes, by_name },
                              [CLI_SORT_NAME] = { by_name, by_bytes, by_count } };
    for (int i = 0; i < 3; i++)
        if (orders[sort_key][i] != 0)
            return orders[sort_key][i];
    int by_module = strcmp(a->module_path, b->module_path);
    if (by_module != 0)
        return by_module;
    return a->id < b->id ? -1 : a->id > b->id;
}

static void print_rows(const struct cli_dump *d, const struct gcd_names *names, const uint32_t *order, size_t n, size_t shown)
{
    bool sep = cli_is_terminal(stdout);
    char a[CLI_NUMBER_BYTES], b[CLI_NUMBER_BYTES];
    const struct gcd_dump_facts *f = cli_facts(d);
    printf("%14s %18s %7s  %s\n", "Count", "Bytes", "Share", "Type");
    uint64_t objects = 0, bytes = 0;
    for (size_t i = 0; i < shown; i++) {
        const struct gcd_type *t = cli_type(d, order[i]);
        double share = f->bytes > 0 ? 100.0 * (double)t->bytes / (double)f->bytes : 0;
        printf("%14s %18s %6.2f%%  ", cli_number(t->objects, sep, a), cli_number(t->bytes, sep, b), share);
        cli_print_clean(stdout, gcd_names_get(names, order[i]));
        putchar('\n');
        objects += t->objects;
        bytes += t->bytes;
    }
    if (shown < n)
        printf("%14s %18s %6.2f%%  (%zu more types)\n", cli_number(f->objects - objects, sep, a), cli_number(f->bytes - bytes, sep, b),
               f->bytes > 0 ? 100.0 * (double)(f->bytes - bytes) / (double)f->bytes : 0, n - shown);
    printf("%14s %18s %6.2f%%  total, %zu types\n", cli_number(f->objects, sep, a), cli_number(f->bytes, sep, b), 100.0, n);
}

static enum cli_exit report(const struct cli_args *args, const struct cli_dump *d, const struct gcd_names *names)
{
    uint32_t count = cli_type_count(d);
    uint32_t *order = calloc((size_t)count + 1, sizeof *order);
    if (order == NULL) {
        cli_say(d->subject, "out of memory");
        return CLI_FAILED;
    }
    size_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        if (cli_type(d, i)->objects > 0)
            order[n++] = i;
    sort_dump = d;
    sort_names = names;
    sort_key = args->sort;
    qsort(order, n, sizeof *order, compare);
    size_t shown = args->top != 0 && args->top < n ? (size_t)args->top : n;
    enum cli_exit e = CLI_DONE;
    if (args->json)
        e = cli_json_report(d, names, order, shown) == 0 ? CLI_DONE : CLI_FAILED;
    else
        print_rows(d, names, order, n, shown);
    free(order);
    return e;
}

enum cli_exit cmd_report(const struct cli_args *args)
{
    struct cli_dump d;
    struct gcd_names *names = NULL;
    enum cli_exit e = cli_open(args, CLI_NEED_FACTS, &d);
    if (e == CLI_DONE)
        e = cli_names_of(args, &d, GCD_NAMES_CSHARP, &names);
    if (e == CLI_DONE) {
        e = report(args, &d, names);
        enum cli_exit flushed = cli_flush_stdout();
        if (e == CLI_DONE)
            e = flushed != CLI_DONE ? flushed : cli_verdict(&d, args->quiet);
    }
    gcd_names_free(names);
    cli_close(&d);
    return e;
}
