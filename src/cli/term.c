#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

bool cli_is_terminal(FILE *f)
{
    const char *term = getenv("TERM");
    return isatty(fileno(f)) && term != NULL && strcmp(term, "dumb") != 0;
}

const char *cli_number(uint64_t n, bool separators, char buf[CLI_NUMBER_BYTES])
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n);
    char *o = buf;
    for (int i = 0; i < len; i++) {
        if (separators && i > 0 && (len - i) % 3 == 0)
            *o++ = ',';
        *o++ = digits[i];
    }
    *o = '\0';
    return buf;
}
