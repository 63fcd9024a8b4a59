#include "support/wrapped.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/trace.h>

#include "tools/nettrace2etl/wrap.h"

const struct tb_etl_way *tb_etl_way(size_t row)
{
    static const struct tb_etl_way ways[TB_ETL_WAYS] = {
        { "plain", 1024, false, false, false },
        { "compressed", 1024, true, true, false },
        { "tight", 640, false, true, true },
    };
    return &ways[row];
}

void tb_take_file(FILE *f, struct tb_bytes *ret)
{
    long n = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (n < 0)
        abort();
    rewind(f);
    *ret = (struct tb_bytes){ .p = malloc((size_t)n + 1), .n = (size_t)n, .cap = (size_t)n + 1 };
    if (ret->p == NULL || fread(ret->p, 1, ret->n, f) != ret->n || fclose(f) != 0)
        abort();
}

void tb_etl(const void *bytes, size_t n, const struct tb_etl_way *way, struct tb_bytes *ret)
{
    static struct wrap w;
    struct gcd_trace *t;
    struct gcd_event ev;
    gcd_status st;
    memset(&w, 0, sizeof w);
    FILE *f = tmpfile();
    if (f == NULL || gcd_trace_new(NULL, &t, NULL) != GCD_OK ||
        gcd_trace_feed(t, bytes, n, NULL) != GCD_OK)
        abort();
    out_begin(&w.out, f,
              &(struct out_options){ .buffer_bytes = way->buffer_bytes,
                                     .compress = way->compress,
                                     .shuffle = way->shuffle,
                                     .cut_tail = way->cut_tail,
                                     .start_filetime = UINT64_C(133000000000000000) });
    while ((st = gcd_trace_next(t, &ev, NULL)) == GCD_OK)
        if (!wrap_event(&w, 0, &ev))
            abort();
    if (!out_end(&w.out) || (st != GCD_END && st != GCD_NEED_MORE))
        abort();
    gcd_trace_free(t);
    tb_take_file(f, ret);
}
