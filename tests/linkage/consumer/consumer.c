/* Ten lines that need only the installed package. */
#include <inttypes.h>
#include <stdio.h>

#include <gcdumpc/gcdumpc.h>

int main(int argc, char **argv)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_input *in;
    struct gcd_dump *dump;
    if (argc != 2 || gcd_input_open(argv[1], NULL, &in, &err) != GCD_OK ||
        gcd_dump_open(in, NULL, &dump, &err) != GCD_OK) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    printf("%" PRIu64 " objects, version %s\n", gcd_dump_summary(dump)->objects, GCDUMPC_VERSION);
    gcd_dump_free(dump);
    gcd_input_free(in);
    return 0;
}
