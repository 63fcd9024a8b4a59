/*
 * The events of .nettrace files as an .etl, so that a heap dump exists in both containers.  See README.md.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/trace.h>

#include "etl_out.h"

#define EVENT_HEADER 0x50u
#define ITEM_BYTES 24u
/* Processor numbers have 11 bits; a thread takes two. */
#define MAX_THREADS 1000u
#define FILETIME_TO_UNIX_MS INT64_C(11644473600000)
/* Between the process ids of two inputs. */
#define PROCESS_STEP 100000u

struct thread {
    size_t input;
    uint64_t id;
    uint64_t last_ticks;
    unsigned side;               /* on which of its two processors it runs */
    unsigned events;
};

struct wrap {
    struct out out;
    struct thread threads[MAX_THREADS];
    size_t thread_count;
    unsigned long events;
};

static const uint8_t *guid_of(const struct gcd_event *ev, uint8_t buf[16])
{
    static const uint8_t known[][16] = {
        [GCD_PROVIDER_RUNTIME] = { 0x23, 0x0d, 0x3c, 0xe1, 0xbc, 0xcc, 0x12, 0x4e, 0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee, 0x27, 0xe4 },
        [GCD_PROVIDER_RUNDOWN] = { 0x1c, 0x02, 0x69, 0xa6, 0x50, 0xc4, 0x09, 0x46, 0xa0, 0x35, 0x5a, 0xf5, 0x9a, 0xf4, 0xdf, 0x18 },
        [GCD_PROVIDER_EVENTPIPE] = { 0xa6, 0x28, 0xf5, 0x92, 0xb8, 0xf5, 0x60, 0x51, 0xa7, 0xee, 0xb3, 0x3d, 0xa7, 0x73, 0x9e, 0x29 },
    };
    if (ev->provider != GCD_PROVIDER_OTHER)
        return known[ev->provider];
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (const char *s = ev->provider_name; *s != '\0'; s++)
        h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
    memset(buf, 0x77, 16);
    put64(buf, h);
    return buf;
}

static struct thread *thread_of(struct wrap *w, size_t input, uint64_t id)
{
    for (size_t i = w->thread_count; i-- > 0;)
        if (w->threads[i].id == id && w->threads[i].input == input)
            return &w->threads[i];
    if (w->thread_count == MAX_THREADS)
        return NULL;
    struct thread *t = &w->threads[w->thread_count++];
    *t = (struct thread){ .input = input, .id = id };
    return t;
}

/* A thread moves to its other processor every few events, but not within one tick: then nothing would tell the order. */
static size_t processor(struct wrap *w, struct thread *t, uint64_t ticks)
{
    if (++t->events % 7 == 0 && ticks > t->last_ticks)
        t->side ^= 1;
    t->last_ticks = ticks;
    return 2 * (size_t)(t - w->threads) + t->side;
}

static bool wrap_event(struct wrap *w, size_t input, const struct gcd_event *ev)
{
    static uint8_t record[65536];
    uint8_t guid[16];
    bool item = w->events++ % 13 == 5;
    size_t n = EVENT_HEADER + (item ? ITEM_BYTES : 0) + ev->payload_bytes;
    struct thread *t = thread_of(w, input, ev->thread);
    if (t == NULL || n > UINT16_MAX) {
        fputs(t == NULL ? "nettrace2etl: too many threads\n" : "nettrace2etl: an event is too long\n", stderr);
        return false;
    }
    uint64_t ticks = OUT_FIRST_TICKS + (uint64_t)ev->time_ns;
    ticks = ticks < t->last_ticks ? t->last_ticks : ticks;
    memset(record, 0, EVENT_HEADER + ITEM_BYTES);
    put16(record, (uint32_t)n);
    put16(record + 2, ev->ptr_bytes == 4 ? 0xc012 : 0xc013);
    put16(record + 4, item);
    put32(record + 0x08, (uint32_t)ev->thread);
    put32(record + 0x0c, (uint32_t)(ev->process + input * PROCESS_STEP));
    put64(record + 0x10, ticks);
    memcpy(record + 0x18, guid_of(ev, guid), 16);
    put16(record + 0x28, ev->id);
    record[0x2a] = (uint8_t)ev->version;
    if (item) {                          /* a stack of two addresses */
        put16(record + EVENT_HEADER, ITEM_BYTES);
        put16(record + EVENT_HEADER + 2, 6);
        put16(record + EVENT_HEADER + 6, 16);
    }
    if (ev->payload_bytes > 0)
        memcpy(record + n - ev->payload_bytes, ev->payload, ev->payload_bytes);
    out_record(&w->out, processor(w, t, ticks), record, n);
    return true;
}

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
    fputs("usage: nettrace2etl [--compress] [--shuffle] [--tight] [--lost-events N] [--lost-buffers N] IN.nettrace... OUT.etl\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    static struct wrap w;
    struct out_options options = { .compress = false };
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--compress") == 0)
            options.compress = true;
        else if (strcmp(argv[i], "--shuffle") == 0)
            options.shuffle = true;
        else if (strcmp(argv[i], "--tight") == 0)
            options.cut_tail = true;
        else if (strcmp(argv[i], "--lost-events") == 0 && i + 1 < argc)
            options.lost_events = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--lost-buffers") == 0 && i + 1 < argc)
            options.lost_buffers = (uint32_t)strtoul(argv[++i], NULL, 10);
        else
            return usage();
    }
    if (argc - i < 2)
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
        fprintf(stderr, "nettrace2etl: %s\n", err.msg[0] != '\0' ? err.msg : "cannot write the output");
    return ok ? 0 : 1;
}
