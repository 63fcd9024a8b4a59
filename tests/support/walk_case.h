/*
 * For tests of heap walks: the trace being built, and its dump as callers see it.
 */
#ifndef TEST_SUPPORT_WALK_CASE_H
#define TEST_SUPPORT_WALK_CASE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>

#include "support/check.h"
#include "support/run.h"
#include "support/tb.h"

static struct tb t;
static struct run r;
static struct run_options how;

static inline int setup(void **state)
{
    (void)state;
    tb_init(&t, TB_V4, 8);
    how = (struct run_options){ .check_references = true };
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    run_done(&r);
    tb_done(&t);
    return 0;
}

static inline void anew(enum tb_format format)
{
    run_done(&r);
    tb_done(&t);
    tb_init(&t, format, 8);
    how = (struct run_options){ .check_references = true };
}

static inline void run(void)
{
    run_done(&r);
    run_trace(t.out.p, t.out.n, &how, &r);
    const char *wrong = run_check(&r);
    if (wrong != NULL)
        fail_msg("%s", wrong);
}

static inline bool because(enum gcd_reason_code code)
{
    for (size_t i = 0; i < r.verdict.reason_count; i++)
        if (r.verdict.reasons[i].code == code)
            return true;
    return false;
}

/* An object of SIZE bytes that refers to itself. */
static inline void small_walk(uint64_t size)
{
    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Node" }));
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, size, 0x100, 1 }));
    tb_edges(&t, TB_LIST(uint64_t, 0x1000));
}

#endif
