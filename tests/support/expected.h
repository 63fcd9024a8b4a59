/*
 * A long text compared with a file below tests/unit/expected.  With GCDUMPC_BLESS=1 the file is
 * written instead: read the difference.
 */
#ifndef EXPECTED_H
#define EXPECTED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

static inline void expect_file(const char *name, const char *text)
{
    char path[500], *line = NULL;
    size_t room = 0;
    bool bless = getenv("GCDUMPC_BLESS") != NULL;
    (void)snprintf(path, sizeof path, "%s/tests/unit/expected/%s", GCDUMPC_SOURCE, name);
    FILE *f = fopen(path, bless ? "w" : "r");
    assert_non_null(f);
    if (bless)
        assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    for (ssize_t n; !bless && (n = getline(&line, &room, f)) > 0; text += n)
        if (strncmp(text, line, (size_t)n) != 0)
            fail_msg("%s: %.*s\ninstead of %s", name, (int)strcspn(text, "\n"), text, line);
    assert_true(bless || *text == '\0');
    free(line);
    assert_int_equal(fclose(f), 0);
}

#endif
