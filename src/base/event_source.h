/* The sources of the runtime's own events, which hold its descriptions of them: they exist only
 * because a tool observes the process. */
#ifndef GCD_BASE_EVENT_SOURCE_H
#define GCD_BASE_EVENT_SOURCE_H

#include <stddef.h>
#include <string.h>

/* The length of the type of such a source that NAME is, or of whose member it is the name
 * ("….RuntimeEventSource.s_log"); 0 = of none.  NAME may be NULL. */
static inline size_t gcd_event_source(const char *name)
{
    static const char *const sources[] = { "System.Diagnostics.Tracing.NativeRuntimeEventSource",
                                           "System.Diagnostics.Tracing.RuntimeEventSource" };
    for (size_t i = 0; i < sizeof sources / sizeof *sources && name != NULL; i++) {
        size_t n = strlen(sources[i]);
        if (strncmp(name, sources[i], n) == 0 && (name[n] == '\0' || name[n] == '.'))
            return n;
    }
    return 0;
}

#endif
