/*
 * Small .etl files: the traces of tb.h, wrapped as .etl.
 */
#ifndef WRAPPED_H
#define WRAPPED_H

#include <stdbool.h>
#include <stdio.h>

#include "support/tb.h"

struct tb_etl_way {
    const char *name;
    size_t buffer_bytes;
    bool compress, shuffle, cut_tail;
};

/* The ways in which a trace can be wrapped; ROW 0 .. TB_ETL_WAYS - 1. */
#define TB_ETL_WAYS 3u
const struct tb_etl_way *tb_etl_way(size_t row);

/* The events of the trace in BYTES, into RET (tb_free).  Aborts when it is damaged. */
void tb_etl(const void *bytes, size_t n, const struct tb_etl_way *way, struct tb_bytes *ret);

/* All bytes written to F; closes F.  Memory streams cannot be patched, so F is a temporary file. */
void tb_take_file(FILE *f, struct tb_bytes *ret);

#endif
