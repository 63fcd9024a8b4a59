/*
 * Converts the events of .nettrace files to an .etl, so that the same heap dump exists in both
 * containers.  See README.md.
 */
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/trace.h>

#include "wrap.h"

#define FILETIME_TO_UNIX_MS INT64_C(11644473600000)

/* Output files: one for all events, or a second one for the events that PerfView keeps apart. */
struct target {
    struct wrap *all, *rundown; /* RUNDOWN may be NULL */
};

static struct wrap *target_of(const struct target *to, const struct gcd_event *ev)
{
    return to->rundown != NULL && ev->provider != GCD_PROVIDER_RUNTIME ? to->rundown : to->all;
}

/* Wraps all events of a trace, up to the end of the data if it is truncated. */
static bool wrap_trace(const struct target *to, size_t input, struct gcd_trace *trace,
                       struct gcd_error *err)
{
    struct gcd_event ev;
    gcd_status st, fetched = GCD_OK;
    do {
        if (fetched == GCD_OK)
            fetched = gcd_trace_fetch(trace, err);
        while ((st = gcd_trace_next(trace, &ev, err)) == GCD_OK)
            if (!wrap_event(target_of(to, &ev), input, &ev))
                return false;
    } while (st == GCD_NEED_MORE && fetched >= 0);
    return st == GCD_END || st == GCD_E_TRUNCATED;
}

/* Reads the beginning of the first input, because the output starts with a header that describes
 * it. */
static bool peek_info(const char *path, struct gcd_trace_info *ret, struct gcd_error *err)
{
    struct gcd_input *in = NULL;
    struct gcd_trace *trace = NULL;
    struct gcd_event ev;
    bool ok = gcd_input_open(path, NULL, &in, err) == GCD_OK &&
              gcd_trace_open(in, NULL, &trace, err) == GCD_OK &&
              gcd_trace_fetch(trace, err) == GCD_OK && gcd_trace_next(trace, &ev, err) >= GCD_OK;
    if (ok)
        gcd_trace_get_info(trace, ret);
    gcd_trace_free(trace);
    gcd_input_free(in);
    return ok;
}

static bool wrap_file(const struct target *to, size_t input, const char *path,
                      struct gcd_error *err)
{
    struct gcd_input *in = NULL;
    struct gcd_trace *trace = NULL;
    bool ok = gcd_input_open(path, NULL, &in, err) == GCD_OK &&
              gcd_trace_open(in, NULL, &trace, err) == GCD_OK && wrap_trace(to, input, trace, err);
    gcd_trace_free(trace);
    gcd_input_free(in);
    return ok;
}

static int usage(void)
{
    fputs("usage: nettrace2etl [--compress] [--shuffle] [--tight] [--buffer BYTES] [--lost-events "
          "N] [--lost-buffers N] [--rundown OUT2.etl]\n"
          "                    IN.nettrace... OUT.etl\n",
          stderr);
    return 2;
}

/* Reads the options.  Returns the index of the first input, or 0. */
static int parse(int argc, char **argv, struct out_options *ret, const char **ret_rundown)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--compress") == 0)
            ret->compress = true;
        else if (strcmp(argv[i], "--shuffle") == 0)
            ret->shuffle = true;
        else if (strcmp(argv[i], "--tight") == 0)
            ret->cut_tail = true;
        else if (more && strcmp(argv[i], "--buffer") == 0)
            ret->buffer_bytes = strtoul(argv[++i], NULL, 10) / 8 * 8;
        else if (more && strcmp(argv[i], "--lost-events") == 0)
            ret->lost_events = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (more && strcmp(argv[i], "--lost-buffers") == 0)
            ret->lost_buffers = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (more && strcmp(argv[i], "--rundown") == 0)
            *ret_rundown = argv[++i];
        else
            return 0;
    }
    return argc - i < 2 || ret->buffer_bytes < 256 || ret->buffer_bytes > 1u << 30 ? 0 : i;
}

static bool begin(struct wrap *w, const char *path, const struct out_options *options)
{
    FILE *file = fopen(path, "wb");
    if (file != NULL)
        out_begin(&w->out, file, options);
    return file != NULL;
}

static bool end(struct wrap *w)
{
    FILE *file = w->out.file;
    bool ok = file == NULL || out_end(&w->out);
    return (file == NULL || fclose(file) == 0) && ok;
}

int main(int argc, char **argv)
{
    static struct wrap all, rundown;
    struct out_options options = { .buffer_bytes = OUT_CAPACITY };
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_trace_info info;
    const char *second = NULL;
    int first = parse(argc, argv, &options, &second);
    if (first == 0)
        return usage();
    bool ok = peek_info(argv[first], &info, &err);
    if (ok && info.start_unix_ms > 0)
        options.start_filetime = (uint64_t)(info.start_unix_ms + FILETIME_TO_UNIX_MS) * 10000;
    ok = ok && begin(&all, argv[argc - 1], &options);
    options.start_filetime++; /* a second session, started later */
    ok = ok && (second == NULL || begin(&rundown, second, &options));
    struct target to = { .all = &all, .rundown = second != NULL ? &rundown : NULL };
    for (int i = first; i < argc - 1 && ok; i++)
        ok = wrap_file(&to, (size_t)(i - first), argv[i], &err);
    ok = end(&all) && ok;
    ok = end(&rundown) && ok;
    const char *problem = all.problem != NULL ? all.problem : rundown.problem;
    if (!ok)
        fprintf(stderr, "nettrace2etl: %s\n",
                problem != NULL      ? problem
                : err.msg[0] != '\0' ? err.msg
                                     : "cannot write the output");
    return ok ? 0 : 1;
}
