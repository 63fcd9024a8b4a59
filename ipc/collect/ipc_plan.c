#include "ipc/collect/ipc_plan.h"

#define KEYWORD_GC      UINT64_C(0x1)
#define KEYWORD_RANGES  UINT64_C(0x400000) /* GCHeapSurvivalAndMovement */
#define KEYWORD_COLLECT UINT64_C(0x800000) /* GCHeapCollect */

/*
 * The runtime provider's events that the library reads (src/clr/clr_ids.h names the numbers).  The
 * others are small, except for the ranges of moved and surviving objects, 21 and 22, which come
 * with the keyword of the generation ranges.
 */
static const uint32_t wanted_events[] = { 1,  2,  3,  4,  9,  15,  16,  17,  18,
                                          19, 23, 36, 37, 38, 152, 154, 187, 205 };

/* Up to this version every stop of a second session costs a GC. */
#define LAST_WITH_STOP_GCS 9u
/* A stream of at most this size gains nothing from draining (../README.md). */
#define SMALL_STREAM (UINT64_C(256) << 20)
/* Up to this version the GC runs inside the request. */
#define LAST_WITH_LATE_ANSWER 10u

/* The number before the first dot; 0 when there is none. */
static unsigned major_of(const char *version)
{
    unsigned n = 0;
    for (; *version >= '0' && *version <= '9' && n < 1000; version++)
        n = n * 10 + (unsigned)(*version - '0');
    return *version == '.' ? n : 0;
}

static uint64_t keywords_of(const struct gcd_ipc_collect_options *o)
{
    return (o->keywords != 0 ? o->keywords : GCD_IPC_KEYWORDS_HEAP_SNAPSHOT) |
           (o->ranges ? KEYWORD_RANGES : 0);
}

/* Does the session make the runtime walk its heap? */
static bool forces_walk(const struct gcd_ipc_collect_options *o)
{
    return (keywords_of(o) & KEYWORD_COLLECT) != 0;
}

struct gcd_plan gcd_plan_make(const struct gcd_ipc_collect_options *options, const char *version)
{
    bool core3 = version == NULL;
    bool silent = !core3 && version[0] == '\0'; /* .NET 5, 6 */
    unsigned major = core3 || silent ? 0 : major_of(version);
    struct gcd_plan plan = { .strategy = options->strategy, .command = GCD_WIRE_COLLECT_TRACING6 };
    if (core3 || silent || (major != 0 && major <= 8))
        plan.command = GCD_WIRE_COLLECT_TRACING2;
    else if (major == 9)
        plan.command = GCD_WIRE_COLLECT_TRACING4;
    else if (major == 10)
        plan.command = GCD_WIRE_COLLECT_TRACING5;
    plan.answers_after_walk =
        (silent || (major >= 5 && major <= LAST_WITH_LATE_ANSWER)) && forces_walk(options);
    if (options->strategy == GCD_IPC_STRATEGY_AUTO) {
        /* 3.x and 11 send the dump while they produce it. */
        plan.single_needs_6 = major >= 11;
        uint64_t buffer_bytes = (uint64_t)(options->buffer_mb != 0 ? options->buffer_mb : 1024)
                                << 20;
        bool stop_gcs = silent || (major != 0 && major <= LAST_WITH_STOP_GCS);
        bool fits = options->most_bytes != 0 && options->most_bytes <= buffer_bytes;
        bool small = options->alone && options->most_bytes <= SMALL_STREAM;
        plan.strategy = core3 || major >= 11 || ((stop_gcs || small) && fits)
                            ? GCD_IPC_STRATEGY_SINGLE
                            : GCD_IPC_STRATEGY_DRAIN;
    }
    if (!forces_walk(options)) /* nothing to trigger */
        plan.strategy = GCD_IPC_STRATEGY_SINGLE;
    plan.flush = major >= 8 && !(options->alone && plan.strategy == GCD_IPC_STRATEGY_SINGLE);
    return plan;
}

gcd_status gcd_plan_encode(const struct gcd_ipc_collect_options *options,
                           enum gcd_ipc_strategy strategy, enum gcd_leg leg,
                           enum gcd_wire_command command, struct gcd_plan_request *ret,
                           struct gcd_error *err)
{
    struct gcd_wire_provider provider = { .level = 4, .name = GCD_WIRE_RUNTIME_PROVIDER };
    struct gcd_wire_collect collect = {
        .buffer_mb = 1, .format = GCD_WIRE_FORMAT_NETTRACE, .providers = &provider, .n_providers = 1
    };
    /* Exclude all events of the other two. */
    provider.filter.only = true;
    switch (leg) {
    case GCD_LEG_FLUSH:
        provider.keywords = KEYWORD_GC; /* any keyword except the one for types */
        break;
    case GCD_LEG_TRIGGER:
        provider.keywords = KEYWORD_COLLECT;
        break;
    case GCD_LEG_RECORD:
    case GCD_LEG_COUNT:
        provider.keywords = keywords_of(options);
        if (strategy == GCD_IPC_STRATEGY_DRAIN)
            provider.keywords &= ~KEYWORD_COLLECT;
        if (options->keywords == 0) {
            provider.filter.ids = wanted_events;
            provider.filter.n_ids = sizeof wanted_events / sizeof wanted_events[0];
        } else {
            provider.filter.only = false; /* callers who choose keywords want their events */
        }
        if (options->level != 0)
            provider.level = options->level;
        collect.buffer_mb = options->buffer_mb != 0 ? options->buffer_mb : 1024;
        collect.rundown = options->rundown;
        /* the only part that is read, and small */
        collect.rundown_keyword = options->stacks ? GCD_WIRE_RUNDOWN_METHODS
                                  : options->no_modules && !options->rundown
                                      ? 0
                                      : GCD_WIRE_RUNDOWN_LOADER;
        collect.stackwalk = options->stacks;
        /* A runtime that waits for its reader would wait for a stopped or killed one, too:
         * measured, .NET 11, it then hangs, with all its threads suspended (../README.md).
         */
        collect.block = false;
        break;
    }
    return gcd_wire_encode_collect(command, &collect, ret->bytes, sizeof ret->bytes, &ret->n, err);
}
