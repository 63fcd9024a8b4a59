#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* qsort has no context argument in C11; the program has one thread. */
static const struct gcd_dump *sort_dump;
static enum cli_sort sort_key;

static int descending(uint64_t a, uint64_t b)
{
    return a < b ? 1 : a > b ? -1 : 0;
}

/* Ties are broken until nothing is left to chance: the same dump gives the same report. */
static int compare(const void *pa, const void *pb)
{
    const struct gcd_type *a = gcd_dump_type(sort_dump, *(const uint32_t *)pa), *b = gcd_dump_type(sort_dump, *(const uint32_t *)pb);
    int by_bytes = descending(a->bytes, b->bytes), by_count = descending(a->objects, b->objects), by_name = strcmp(a->name, b->name);
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

/* By name, then by module. */
static int compare_names(const void *pa, const void *pb)
{
    const struct gcd_type *a = gcd_dump_type(sort_dump, *(const uint32_t *)pa), *b = gcd_dump_type(sort_dump, *(const uint32_t *)pb);
    int by_name = strcmp(a->name, b->name);
    return by_name != 0 ? by_name : strcmp(a->module_path, b->module_path);
}

/* What a row needs beside its name to tell it from the others. */
enum unclear { UNCLEAR_NOTHING, UNCLEAR_NAME, UNCLEAR_MODULE };

static const char *file_name(const char *path)
{
    const char *base = path;
    for (const char *p = path; *p != '\0'; p++)
        if (*p == '/' || *p == '\\')
            base = p + 1;
    return base;
}

/* Which names stand for several types: these rows get their module, and when that is the same, too, their id. */
static void mark_unclear(const uint32_t *order, size_t n, uint32_t *scratch, unsigned char *ret)
{
    memcpy(scratch, order, n * sizeof *scratch);
    qsort(scratch, n, sizeof *scratch, compare_names);
    for (size_t i = 0; i + 1 < n; i++) {
        uint32_t a = scratch[i], b = scratch[i + 1];
        unsigned char how = UNCLEAR_NOTHING;
        if (compare_names(&a, &b) == 0)
            how = UNCLEAR_MODULE;
        else if (strcmp(gcd_dump_type(sort_dump, a)->name, gcd_dump_type(sort_dump, b)->name) == 0)
            how = UNCLEAR_NAME;
        if (how > ret[a])
            ret[a] = how;
        ret[b] = how;
    }
}

static void print_rows(const struct gcd_dump *d, const uint32_t *order, size_t n, size_t shown, const unsigned char *unclear)
{
    bool sep = cli_is_terminal(stdout);
    char a[CLI_NUMBER_BYTES], b[CLI_NUMBER_BYTES];
    const struct gcd_dump_facts *f = gcd_dump_facts(d);
    printf("%14s %18s %7s  %s\n", "Count", "Bytes", "Share", "Type");
    uint64_t objects = 0, bytes = 0;
    for (size_t i = 0; i < shown; i++) {
        const struct gcd_type *t = gcd_dump_type(d, order[i]);
        double share = f->bytes > 0 ? 100.0 * (double)t->bytes / (double)f->bytes : 0;
        printf("%14s %18s %6.2f%%  ", cli_number(t->objects, sep, a), cli_number(t->bytes, sep, b), share);
        cli_print_clean(stdout, t->name);
        if (unclear[order[i]] == UNCLEAR_NAME && t->module_path[0] != '\0') {
            fputs("  [", stdout);
            cli_print_clean(stdout, file_name(t->module_path));
            putchar(']');
        } else if (unclear[order[i]] == UNCLEAR_MODULE) {
            fputs("  [", stdout);
            cli_print_clean(stdout, file_name(t->module_path));
            printf("%s0x%" PRIx64 "]", t->module_path[0] != '\0' ? " " : "", t->id);
        }
        putchar('\n');
        objects += t->objects;
        bytes += t->bytes;
    }
    if (shown < n)
        printf("%14s %18s %6.2f%%  (%zu more types)\n", cli_number(f->objects - objects, sep, a), cli_number(f->bytes - bytes, sep, b),
               f->bytes > 0 ? 100.0 * (double)(f->bytes - bytes) / (double)f->bytes : 0, n - shown);
    printf("%14s %18s %6.2f%%  total, %zu types\n", cli_number(f->objects, sep, a), cli_number(f->bytes, sep, b), 100.0, n);
}

static enum cli_exit report(const struct cli_args *args, const struct gcd_dump *d, const char *subject)
{
    uint32_t count = gcd_dump_type_count(d);
    uint32_t *order = calloc((size_t)count + 1, 2 * sizeof *order);
    unsigned char *unclear = calloc((size_t)count + 1, 1);
    enum cli_exit e = CLI_FAILED;
    if (order == NULL || unclear == NULL) {
        cli_say(subject, "out of memory");
    } else {
        size_t n = 0;
        for (uint32_t i = 0; i < count; i++)
            if (gcd_dump_type(d, i)->objects > 0)
                order[n++] = i;
        sort_dump = d;
        sort_key = args->sort;
        qsort(order, n, sizeof *order, compare);
        mark_unclear(order, n, order + count, unclear);
        size_t shown = args->top != 0 && args->top < n ? (size_t)args->top : n;
        if (args->json)
            e = cli_json_report(d, subject, order, shown) == 0 ? CLI_DONE : CLI_FAILED;
        else {
            print_rows(d, order, n, shown, unclear);
            e = CLI_DONE;
        }
    }
    free(order);
    free(unclear);
    return e;
}

enum cli_exit cmd_report(const struct cli_args *args)
{
    struct cli_dump d;
    enum cli_exit e = cli_open(args, false, &d);
    if (e == CLI_DONE) {
        e = report(args, d.dump, d.subject);
        enum cli_exit flushed = cli_flush_stdout();
        if (e == CLI_DONE)
            e = flushed != CLI_DONE ? flushed : cli_verdict(d.subject, d.dump, args->quiet);
    }
    cli_close(&d);
    return e;
}
