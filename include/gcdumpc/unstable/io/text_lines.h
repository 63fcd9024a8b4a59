/* Files whose line ends were converted on the way, as if they were text. */
#ifndef GCDUMPC_UNSTABLE_IO_TEXT_LINES_H
#define GCDUMPC_UNSTABLE_IO_TEXT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GCD_TEXT_LINES_REMEDY                                                               \
    "its line ends were converted (kubectl exec -t, docker run -t, FTP as text); fetch it " \
    "without -t, as binary data"

/* Are there line feeds, and a carriage return before each?  In 1 of 4 billion intact files. */
static inline bool gcd_has_text_lines(const uint8_t *p, size_t n)
{
    size_t feeds = 0;
    for (size_t i = 1; i < n; i++) {
        if (p[i] == '\n' && p[i - 1] != '\r')
            return false;
        feeds += p[i] == '\n';
    }
    return feeds >= 4;
}

#endif
