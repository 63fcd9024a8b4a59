/*
 * The events of .nettrace files as an .etl, so that a heap dump exists in both containers.  See README.md.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/trace.h>

#include "wrap.h"

#define FILETIME_TO_UNIX_MS INT64_C(11644473600000)

/* All events of a trace.  One that ends early is wrapped as far as it goes. */
static bool wrap_trace(struct wrap *w, size_t input, struct gcd_trace *trace, struct gcd_error *err)
{
    struct gcd_event ev;
    gcd_status st, fetched = GCD_OK;
    do {
        if (fetched == GCD_OK)
            fetched = gcd_trace_fetch(trace, err);
        while ((st = gcd_trace_next(trace, &ev, err)) == GCD_OK)
            if (!wrap_event(w, input, &ev))
                return false;
    } while (st == GCD_NEED_MORE && fetched >= 0);
    return st == GCD_END || st == GCD_E_TRUNCATED;
}

/* What the header says comes first in the file: of the first input, whose beginning is read for it. */
static bool peek_info(const char *path, struct gcd_trace_info *ret, struct gcd_error *err)
{
    struct gcd_input *in = NULL;
    struct gcd_trace *trace = NULL;
    struct gcd_event ev;
    bool ok = gcd_input_open(path, NULL, &in, err) == GCD_OK && gcd_trace_open(in, NULL, NULL, &trace, err) == GCD_OK &&
              gcd_trace_fetch(trace, err) == GCD_OK && gcd_trace_next(trace, &ev, err) >= GCD_OK;
    if (ok)
        gcd_trace_get_info(trace, ret);
    gcd_trace_free(trace);
    gcd_input_free(in);
    return ok;
}

static bool wrap_file(struct wrap *w, size_t input, const char *path, struct gcd_error *err)
{
    struct gcd_input *in = NULL;
    struct gcd_trace *trace = NULL;
    bool ok = gcd_input_open(path, NULL, &in, err) == GCD_OK && gcd_trace_open(in, NULL, NULL, &trace, err) == GCD_OK &&
              wrap_trace(w, input, trace, err);
    gcd_trace_free(trace);
    gcd_input_free(in);
    return ok;
}

static int usage(void)
{
    fputs("usage: nettrace2etl [--compress] [--shuffle] [--tight] [--buffer BYTES] [--lost-events N] [--lost-buffers N]\n"
          "                    IN.nettrace... OUT.etl\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    static struct wrap w;
    struct out_options options = { .buffer_bytes = OUT_CAPACITY };
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--compress") == 0)
            options.compress = true;
        else if (strcmp(argv[i], "--shuffle") == 0)
            options.shuffle = true;
        else if (strcmp(argv[i], "--tight") == 0)
            options.cut_tail = true;
        else if (strcmp(argv[i], "--buffer") == 0 && i + 1 < argc)
            options.buffer_bytes = strtoul(argv[++i], NULL, 10) / 8 * 8;
        else if (strcmp(argv[i], "--lost-events") == 0 && i + 1 < argc)
            options.lost_events = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--lost-buffers") == 0 && i + 1 < argc)
            options.lost_buffers = (uint32_t)strtoul(argv[++i], NULL, 10);
        else
            return usage();
    }
    if (argc - i < 2 || options.buffer_bytes < 256 || options.buffer_bytes > 1u << 30)
        return usage();
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_trace_info info;
    FILE *file = fopen(argv[argc - 1], "wb");
    bool ok = file != NULL && peek_info(argv[i], &info, &err);
    if (ok) {
        if (info.start_unix_ms > 0)
            options.start_filetime = (uint64_t)(info.start_unix_ms + FILETIME_TO_UNIX_MS) * 10000;
        out_begin(&w.out, file, &options);
        for (int k = i; k < argc - 1 && ok; k++)
            ok = wrap_file(&w, (size_t)(k - i), argv[k], &err);
        ok = out_end(&w.out) && ok;
    }
    ok = file != NULL && fclose(file) == 0 && ok;
    if (!ok)
        fprintf(stderr, "nettrace2etl: %s\n", w.problem != NULL ? w.problem : err.msg[0] != '\0' ? err.msg : "cannot write the output");
    return ok ? 0 : 1;
}
