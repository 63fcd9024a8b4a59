#include <cstdio>

#include <gcdumpc/gcdumpc.h>

int main(int argc, char **argv)
{
    gcd_error err = GCD_ERROR_INIT;
    gcd_input *in = nullptr;
    gcd_dump *dump = nullptr;
    if (argc != 2 || gcd_input_open(argv[1], nullptr, &in, &err) != GCD_OK || gcd_dump_open(in, nullptr, &dump, &err) != GCD_OK) {
        std::fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    std::printf("%llu objects\n", static_cast<unsigned long long>(gcd_dump_summary(dump)->objects));
    gcd_dump_free(dump);
    gcd_input_free(in);
    return 0;
}
