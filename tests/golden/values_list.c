/*
 * Lists the values of a recording for tests: values_list FILE prints a line for each object that
 * has one,
 *     ADDRESS LENGTH HASH TEXT
 * where control characters of the text are blanks, and "-" stands for one that is not known.
 */
#include <inttypes.h>
#include <stdio.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/values.h>

static void list(const struct gcd_values *v)
{
    for (size_t i = 0; i < gcd_values_count(v); i++) {
        struct gcd_value value = gcd_values_at(v, i);
        struct gcd_text t = gcd_values_text(v, value.text);
        printf("%" PRIx64 " %" PRIu32 " %016" PRIx64 " ", value.address, t.length, t.hash);
        for (uint32_t k = 0; k < t.bytes; k++)
            putchar((unsigned char)t.utf8[k] < ' ' ? ' ' : t.utf8[k]);
        puts(t.utf8 == NULL ? "-" : "");
    }
}

int main(int argc, char **argv)
{
    struct gcd_input *in = NULL;
    struct gcd_dump *d = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_dump_options options = { .values = true };
    gcd_status st = argc == 2 ? gcd_input_open(argv[1], NULL, &in, &err) : GCD_E_ARG;
    if (st == GCD_OK)
        st = gcd_dump_open(in, &options, &d, &err);
    if (st == GCD_OK && gcd_dump_values(d) != NULL)
        list(gcd_dump_values(d));
    if (st != GCD_OK)
        fprintf(stderr, "values_list: %s\n", err.msg);
    gcd_dump_free(d);
    gcd_input_free(in);
    return st != GCD_OK;
}
