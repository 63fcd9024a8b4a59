#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
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

const char *cli_time(int64_t unix_ms, char buf[CLI_TIME_BYTES])
{
    char seconds[48];
    struct tm tm;
    buf[0] = '\0';
    if (unix_ms == INT64_MIN)
        return buf;
    int ms = (int)((unix_ms % 1000 + 1000) % 1000);  /* also before 1970 */
    time_t s = (time_t)((unix_ms - ms) / 1000);
    if (gmtime_r(&s, &tm) != NULL && strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &tm) > 0)
        (void)snprintf(buf, CLI_TIME_BYTES, "%s.%03dZ", seconds, ms);
    return buf;
}
