/* Which of two attempts is kept, when there is another one, and what the program says about each.
 * The dumps are fakes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/ipc.h>

#include "live/live.h"
#include "support/check.h"
#include "term/message.h"

struct made_up {
    struct gcd_summary summary;
};

const struct gcd_summary *__wrap_gcd_dump_summary(const struct gcd_dump *d);
const struct gcd_summary *__wrap_gcd_dump_summary(const struct gcd_dump *d)
{
    return &((const struct made_up *)d)->summary;
}

static struct live_attempt attempt_of(struct made_up *m)
{
    return (struct live_attempt){
        .number = 1, .buffer_mb = 64, .dump = (struct gcd_dump *)m, .usable = true, .ended = true
    };
}

/* ---- the better one ---- */

struct row {
    gcd_status status;
    bool complete, verified;
    uint64_t lost, objects, edges;
};

static bool is_better(const struct row *one, const struct row *other)
{
    struct made_up dumps[2] = { { .summary = { .objects = 0 } }, { .summary = { .objects = 0 } } };
    struct live_attempt a[2];
    const struct row *rows[2] = { one, other };
    for (int i = 0; i < 2; i++) {
        dumps[i].summary.trace.lost_events = rows[i]->lost;
        dumps[i].summary.trace.loss_verified = rows[i]->verified;
        dumps[i].summary.objects = rows[i]->objects;
        dumps[i].summary.edges = rows[i]->edges;
        dumps[i].summary.verdict.complete = rows[i]->complete;
        a[i] = attempt_of(&dumps[i]);
        a[i].status = rows[i]->status;
    }
    return live_attempt_better(&a[0], &a[1]);
}

static void the_better_one(void **state)
{
    (void)state;
    /* the first of each is better than the second, and the second not better than the first */
    static const struct row pairs[][2] = {
        /* an attempt that broke off is never better */
        { { GCD_OK, false, true, 9, 1, 1 }, { GCD_E_PEER, true, true, 0, 5, 5 } },
        /* complete beats anything */
        { { GCD_OK, true, true, 0, 1, 1 }, { GCD_OK, false, true, 0, 5, 5 } },
        { { GCD_OK, true, false, 3, 1, 1 }, { GCD_OK, false, true, 0, 5, 5 } },
        /* fewer lost events */
        { { GCD_OK, false, true, 2, 1, 1 }, { GCD_OK, false, true, 3, 5, 5 } },
        /* if unknown for one of them: more of the heap */
        { { GCD_OK, false, false, 3, 5, 6 }, { GCD_OK, false, true, 2, 5, 5 } },
        { { GCD_OK, false, true, 3, 5, 6 }, { GCD_OK, false, false, 2, 5, 5 } },
        { { GCD_OK, false, true, 2, 5, 6 }, { GCD_OK, false, true, 2, 5, 5 } },
        { { GCD_OK, false, true, 2, 6, 5 }, { GCD_OK, false, true, 2, 5, 5 } },
        { { GCD_OK, true, true, 0, 6, 5 }, { GCD_OK, true, true, 0, 5, 5 } },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_true(is_better(&pairs[i][0], &pairs[i][1]));
        assert_false(is_better(&pairs[i][1], &pairs[i][0]));
        /* if both are equal, the first is kept */
        assert_false(is_better(&pairs[i][0], &pairs[i][0]));
    }
    static const struct row broken = { GCD_E_PEER, true, true, 0, 5, 5 },
                            fewer = { GCD_E_IO, false, true, 9, 1, 1 };
    assert_false(is_better(&broken, &fewer));
}

static void when_to_try_again(void **state)
{
    (void)state;
    static const enum gcd_reason_code lost[] = {
        GCD_REASON_EVENTS_LOST,
        GCD_REASON_NODE_EVENTS_MISSING,
        GCD_REASON_EDGE_EVENTS_MISSING,
        GCD_REASON_ROOT_EVENTS_MISSING,
        GCD_REASON_DEPENDENT_EVENTS_MISSING,
        GCD_REASON_EDGES_UNBALANCED,
        GCD_REASON_NO_GC_END,
    };
    static const enum gcd_reason_code others[] = { GCD_REASON_TYPES_UNDESCRIBED,
                                                   GCD_REASON_EVENTS_DAMAGED,
                                                   GCD_REASON_NO_GC_START };
    struct made_up m = { .summary = { .verdict = { .complete = true } } };
    struct live_attempt a = attempt_of(&m);
    assert_false(live_attempt_lost(&a));
    m.summary.verdict = (struct gcd_verdict){ .reason_count = 2,
                                              .reasons = { { .code = GCD_REASON_NO_GC_START } } };
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        m.summary.verdict.reasons[1].code = lost[i];
        assert_true(live_attempt_lost(&a));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        m.summary.verdict.reasons[1].code = others[i];
        assert_false(live_attempt_lost(&a));
    }
    /* the types went to another session, whose end may have left another walk in the stream */
    m.summary.types_undescribed = 1;
    assert_false(live_attempt_undescribed(&a));
    m.summary.verdict.reasons[0].code = GCD_REASON_EVENTS_MISPLACED;
    m.summary.verdict.reasons[1].code = GCD_REASON_TYPES_UNDESCRIBED;
    assert_true(live_attempt_undescribed(&a));
    m.summary.verdict =
        (struct gcd_verdict){ .reason_count = 1,
                              .reasons = { { .code = GCD_REASON_TYPES_UNDESCRIBED } } };
    assert_true(live_attempt_undescribed(&a));
    /* described, but without a name */
    m.summary.types_undescribed = 0;
    assert_false(live_attempt_undescribed(&a));
    m.summary.types_undescribed = 1;
    m.summary.verdict.reasons[0].code = GCD_REASON_EVENTS_LOST;
    assert_false(live_attempt_undescribed(&a));
    m.summary.verdict = (struct gcd_verdict){ .complete = true };
    assert_false(live_attempt_undescribed(&a));
}

/* ---- what it cost ---- */

static void said(const char *line)
{
    assert_string_equal(cli_last_said(), line);
}

static void what_it_cost(void **state)
{
    (void)state;
    struct made_up m = { .summary = {
                             .objects = 1234567,
                             .pause_ns = 1499999,
                             .pauses = 1,
                             .trace = { .bytes = 3 * LIVE_MIB / 2, .loss_verified = true } } };
    struct live_attempt a = attempt_of(&m);
    struct cli_args args = { .verbose = false };
    struct live l = { .args = &args,
                      .subject = "process 7",
                      .memory = { .rss_bytes = 1500 * LIVE_MIB - 1 } };
    a.number = 2;
    a.duration_ms = 12349;
    a.rss_peak = 1600 * LIVE_MIB;
    a.rss_after = LIVE_MIB - 1;
    a.result = (struct gcd_ipc_collect_result){ .strategy = GCD_IPC_STRATEGY_SINGLE,
                                                .command = "CollectTracing5" };
    cli_hold(true);
    live_say_summary(&l, &a);
    said("paused 1 ms; 1,234,567 objects, incomplete; 12.3 s");
    m.summary.verdict.complete = true;
    live_say_summary(&l, &a);
    said("paused 1 ms; 1,234,567 objects, complete; 12.3 s");
    args.verbose = true;
    live_say_summary(&l, &a);
    said("pause 1 ms; 1,234,567 objects in 2 MiB of events, none lost; memory 1,500 MiB, peak "
         "1,600 MiB, after less than 1 MiB; "
         "single, CollectTracing5, buffer 64 MiB; 12.3 s");
    live_say_attempt(&l, &a);
    said("attempt 2: pause 1 ms; 1,234,567 objects in 2 MiB of events, none lost; "
         "single, CollectTracing5, buffer 64 MiB; 12.3 s");
    /* rounded to the nearest, sizes too */
    m.summary.pause_ns = 1500000;
    m.summary.pauses = 2;
    m.summary.pauses_ns = 2000499999;
    m.summary.objects = 1;
    m.summary.trace.bytes = LIVE_MIB - 1;
    m.summary.trace.lost_events = 1000;
    a.rss_peak = 3;
    a.rss_after = 3 * LIVE_MIB / 2 - 1;
    a.duration_ms = 50;
    a.result = (struct gcd_ipc_collect_result){ .strategy = GCD_IPC_STRATEGY_DRAIN };
    live_say_summary(&l, &a);
    said("pause 2 ms (2 pauses while it was recorded: 2,000 ms); 1 object in less than 1 MiB of "
         "events, "
         "1,000 lost; memory 1,500 MiB, "
         "peak 1,500 MiB, after 1 MiB; drain, no session, buffer 64 MiB; 0.1 s");
    args.verbose = false;
    live_say_summary(&l, &a);
    said("paused 2 ms; 1 object, 1,000 events lost; 0.1 s");
    m.summary.pause_ns = 0;
    m.summary.trace.loss_verified = false;
    live_say_summary(&l, &a);
    said("pause unknown; 1 object, at least 1,000 events lost; 0.1 s");
    args.verbose = true;
    a.rss_after = 1700 * LIVE_MIB; /* no sample saw as much */
    live_say_summary(&l, &a);
    said("pause unknown; 1 object in less than 1 MiB of events, at least 1,000 lost; memory 1,500 "
         "MiB, peak "
         "1,700 MiB, after 1,700 MiB; "
         "drain, no session, buffer 64 MiB; 0.1 s");
    a.rss_after = 0;
    live_say_summary(&l, &a);
    said("pause unknown; 1 object in less than 1 MiB of events, at least 1,000 lost; memory 1,500 "
         "MiB, peak "
         "1,500 MiB, after unknown; "
         "drain, no session, buffer 64 MiB; 0.1 s");
    m.summary.trace.lost_events = 0;
    l.memory.rss_bytes = 0;
    live_say_summary(&l, &a);
    said("pause unknown; 1 object in less than 1 MiB of events, lost ones unknown; memory unknown; "
         "drain, no "
         "session, "
         "buffer 64 MiB; 0.1 s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_better_one),
        cmocka_unit_test(when_to_try_again),
        cmocka_unit_test(what_it_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
