#include "job/job.h"

#include <stdio.h>
#include <string.h>

#define SUFFIX ".dll"

/* Runtimes before .NET 7 do not report the entry assembly; the argument of "dotnet" names it. */
void job_process_name(const char *exe, const char *command_line, char *ret, size_t cap)
{
    (void)snprintf(ret, cap, "%s", exe);
    if (strcmp(exe, "dotnet") != 0)
        return;
    for (const char *word = command_line; *word != '\0';) {
        size_t n = strcspn(word, " "), k = sizeof SUFFIX - 1, start = n;
        while (start > 0 && word[start - 1] != '/')
            start--;
        if (n > start + k && memcmp(word + n - k, SUFFIX, k) == 0) {
            (void)snprintf(ret, cap, "%.*s", (int)(n - k - start), word + start);
            return;
        }
        word += n + strspn(word + n, " ");
    }
}
