#include "term/path.h"

#include <stdio.h>
#include <string.h>

const char *cli_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

const char *cli_any_path_name(const char *path)
{
    const char *name = cli_path_name(path), *backslash = strrchr(name, '\\');
    return backslash == NULL ? name : backslash + 1;
}

void cli_path_folder(const char *path, char *ret, size_t cap)
{
    size_t n = (size_t)(cli_path_name(path) - path);
    if (n > 1)
        n--; /* without the slash, unless it is the whole folder */
    (void)snprintf(ret, cap, "%.*s", n == 0 ? 1 : (int)n, n == 0 ? "." : path);
}
