/*
 * Prints the ten types whose objects take the most memory:
 *
 *     cc largest_types.c $(pkg-config --cflags --libs gcdumpc) -o largest_types &&
 *         ./largest_types app.nettrace
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <gcdumpc/gcdumpc.h>

static int by_bytes(const void *a, const void *b)
{
    const struct gcd_type *x = *(const struct gcd_type *const *)a,
                          *y = *(const struct gcd_type *const *)b;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

int main(int argc, char **argv)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_input *in = NULL;
    struct gcd_dump *dump = NULL;
    if (argc != 2 || gcd_input_open(argv[1], NULL, &in, &err) != GCD_OK ||
        gcd_dump_open(in, NULL, &dump, &err) != GCD_OK) {
        fprintf(stderr, "%s\n", argc == 2 ? err.msg : "usage: largest_types FILE");
        return 1;
    }
    uint32_t n = gcd_dump_summary(dump)->type_count;
    const struct gcd_type **types = calloc((size_t)n + 1, sizeof *types);
    for (uint32_t i = 0; types != NULL && i < n; i++)
        types[i] = &gcd_dump_summary(dump)->types[i];
    if (types != NULL)
        qsort(types, n, sizeof *types, by_bytes);
    for (uint32_t i = 0; types != NULL && i < n && i < 10; i++)
        printf("%10" PRIu64 " %10" PRIu64 "  %s\n", types[i]->objects, types[i]->bytes,
               types[i]->name);
    int status = types == NULL;
    free(types);
    gcd_dump_free(dump);
    gcd_input_free(in);
    return status;
}
