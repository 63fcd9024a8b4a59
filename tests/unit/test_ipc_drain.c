/*
 * Collections with several event sessions from a scripted runtime: which requests, in which order,
 * and that every exit stops all sessions.  Failures of a single session are in test_ipc_session.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "ipc/collect/ipc_drain.h"
#include "support/fake_target.h"

/* Session A records, B triggers, F flushes. */
#define ID_A     "\xa1\0\0\0\0\0\0\0"
#define ID_B     "\xb2\0\0\0\0\0\0\0"
#define ID_F     "\xf3\0\0\0\0\0\0\0"
#define OK(id)   FAKE_SEND_LITERAL(FAKE_MAGIC "\x1c\x00\xff\x00\x00\x00" id)
#define STOP(id) FAKE_MAGIC "\x1c\x00\x02\x01\x00\x00" id

#define RECV            \
    {                   \
        .op = FAKE_RECV \
    }
#define CLOSE            \
    {                    \
        .op = FAKE_CLOSE \
    }
#define HOLD            \
    {                   \
        .op = FAKE_HOLD \
    }
#define SET(flag)                 \
    {                             \
        FAKE_SET, (flag), 0, 0, 0 \
    }
#define WAIT(flag)                 \
    {                              \
        FAKE_WAIT, (flag), 0, 0, 0 \
    }
#define SLEEP(ms)                 \
    {                             \
        FAKE_SLEEP, (ms), 0, 0, 0 \
    }
#define TEXT(s) FAKE_SEND_LITERAL(s)

/* Flags of the scripts. */
enum { STOP_A, END_A, GC, STOP_B, END_B, STOP_F, END_F };

struct client {
    char seen[256];
    size_t n_seen;
    bool cancel_in_gc; /* when the trigger has been sent */
    bool idle;         /* the stream does not report the end of the walk */
    uint64_t whole_ms, stop_ms;
    atomic_bool cancel;
    uint64_t grace_ms, answer_ms, rundown_ms, farewell_ms; /* rundown_ms 0 = answer_ms */
    struct gcd_plan plan;
    struct gcd_ipc_collect_options options;
    struct gcd_ipc_collect_result result;
    struct gcd_error err;
};

static uint64_t now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static gcd_status on_data(void *ctx, const uint8_t *bytes, size_t n, struct gcd_error *err)
{
    struct client *c = ctx;
    (void)err;
    for (size_t i = 0; i < n && c->n_seen < sizeof c->seen - 1; i++)
        c->seen[c->n_seen++] = (char)bytes[i];
    if (memchr(bytes, '$', n) == NULL)
        return memchr(bytes, '!', n) != NULL ? GCD_E_LIMIT : GCD_OK;
    c->whole_ms = now_ms();
    return GCD_END;
}

static void on_step(void *ctx, enum gcd_ipc_step step, uint64_t bytes)
{
    struct client *c = ctx;
    (void)bytes;
    if (step == GCD_IPC_STEP_STOP && c->stop_ms == 0)
        c->stop_ms = now_ms();
    if (step == GCD_IPC_STEP_GC && c->cancel_in_gc)
        atomic_store(&c->cancel, true);
}

static bool on_idle(void *ctx, uint64_t silent_ms)
{
    const struct client *c = ctx;
    return c->idle && silent_ms >= 200;
}

static void client_init(struct client *c)
{
    *c = (struct client){
        .grace_ms = 4000, .answer_ms = 4000, .farewell_ms = 60000, .err = GCD_ERROR_INIT
    };
    c->plan = (struct gcd_plan){ .strategy = GCD_IPC_STRATEGY_DRAIN,
                                 .command = GCD_WIRE_COLLECT_TRACING2 };
    c->options = (struct gcd_ipc_collect_options){
        .on_data = on_data,
        .on_step = on_step,
        .on_idle = on_idle,
        .ctx = c,
        .cancel = &c->cancel,
    };
}

static gcd_status collect(struct client *c, struct fake_target *t)
{
    c->options.socket_path = fake_target_path(t);
    const struct gcd_session_graces graces = { .reply_ms = c->grace_ms,
                                               .stop_ms = c->grace_ms,
                                               .answer_ms = c->answer_ms,
                                               .rundown_ms = c->rundown_ms != 0 ? c->rundown_ms
                                                                                : c->answer_ms,
                                               .farewell_ms = c->farewell_ms };
    return gcd_session_collect(&c->options, &c->plan, &graces, &c->result, &c->err);
}

static void expect_failure(const struct client *c, gcd_status st, gcd_status want,
                           enum gcd_error_reason reason, const char *text)
{
    assert_string_equal(c->err.msg, text);
    assert_int_equal(st, want);
    assert_int_equal(c->err.reason, reason);
}

static void expect_stop(struct fake_target *t, size_t i, const char *want)
{
    const uint8_t *got;
    assert_int_equal(fake_target_request(t, i, &got), sizeof STOP(ID_A) - 1);
    assert_memory_equal(got, want, sizeof STOP(ID_A) - 1);
}

/* Request I is the collect COMMAND; offsets of CollectTracing2 and CollectTracing5, see
 * test_ipc_wire. */
static void expect_collect(struct fake_target *t, size_t i, enum gcd_wire_command command,
                           uint64_t keywords)
{
    const uint8_t *got;
    size_t off = command == GCD_WIRE_COLLECT_TRACING2   ? 33
                 : command == GCD_WIRE_COLLECT_TRACING4 ? 41
                                                        : 45;
    assert_true(fake_target_request(t, i, &got) > off + 8);
    assert_int_equal(got[16] << 8 | got[17], command);
    uint64_t have = 0;
    for (size_t k = 8; k-- > 0;)
        have = have << 8 | got[off + k];
    assert_true(have == keywords);
}

/* ---- scripts of a runtime that behaves ---- */

static const struct fake_act record[] = { RECV,          OK(ID_A),       TEXT("head"),
                                          WAIT(GC),      TEXT(" walk$"), WAIT(STOP_A),
                                          TEXT(" tail"), SET(END_A),     CLOSE };
static const struct fake_act trigger[] = {
    RECV, SET(GC), SLEEP(300), OK(ID_B), TEXT("not for the caller"), WAIT(STOP_B), SET(END_B), CLOSE
};
static const struct fake_act stop_a[] = { RECV, SET(STOP_A), WAIT(END_A), OK(ID_A), CLOSE };
static const struct fake_act stop_b[] = { RECV, SET(STOP_B), WAIT(END_B), OK(ID_B), CLOSE };
static const struct fake_act flush[] = { RECV,         OK(ID_F),   TEXT("nothing"),
                                         WAIT(STOP_F), SET(END_F), CLOSE };
static const struct fake_act stop_f[] = { RECV, SET(STOP_F), WAIT(END_F), OK(ID_F), CLOSE };
static const struct fake_act unknown[] = { RECV, FAKE_UNKNOWN_COMMAND, CLOSE };
static const struct fake_act refusal[] = { RECV, FAKE_BAD_ENCODING, HOLD, CLOSE };

#define START(...)                                                                          \
    static const struct fake_act *const scripts[] = { __VA_ARGS__ };                        \
    struct fake_target *t = fake_target_start(scripts, sizeof scripts / sizeof scripts[0]); \
    struct client c;                                                                        \
    client_init(&c)

static void test_whole(void **state)
{
    (void)state;
    START(record, trigger, stop_a, stop_b);
    assert_int_equal(collect(&c, t), GCD_OK);
    assert_string_equal(c.seen, "head walk$ tail");
    expect_collect(t, 0, GCD_WIRE_COLLECT_TRACING2, 0x1180001);
    expect_collect(t, 1, GCD_WIRE_COLLECT_TRACING2, 0x800000);
    expect_stop(t, 2, STOP(ID_A)); /* on .NET 8 and 9 the other order describes the heap twice */
    expect_stop(t, 3, STOP(ID_B));
    assert_true(c.stop_ms >= c.whole_ms + 200); /* not before the trigger was answered */
    assert_int_equal(fake_target_accepted(t), 4);
    assert_true(c.result.stopped && c.result.stream_ended);
    assert_int_equal(c.result.strategy, GCD_IPC_STRATEGY_DRAIN);
    assert_string_equal(c.result.command, "CollectTracing2");
    assert_int_equal(c.result.session_id, 0xa1);
    assert_int_equal(c.result.stream_bytes, 15);
    fake_target_stop(t);
}

/* The end of the walk was lost: silence since the trigger's answer ends it. */
static void test_silence(void **state)
{
    (void)state;
    static const struct fake_act endless[] = { RECV,         OK(ID_A),      TEXT("head"),
                                               WAIT(STOP_A), TEXT(" tail"), SET(END_A),
                                               CLOSE };
    START(endless, trigger, stop_a, stop_b);
    c.idle = true;
    uint64_t start_ms = now_ms();
    assert_int_equal(collect(&c, t), GCD_OK);
    assert_true(now_ms() - start_ms >= 500);
    assert_string_equal(c.seen, "head tail");
    expect_stop(t, 2, STOP(ID_A));
    expect_stop(t, 3, STOP(ID_B));
    assert_true(c.result.stopped && c.result.stream_ended);
    fake_target_stop(t);
}

/* A runtime that sends no stream header yet is triggered nevertheless. */
static void test_no_head(void **state)
{
    (void)state;
    static const struct fake_act headless[] = { RECV,         OK(ID_A),   WAIT(GC), TEXT("walk$"),
                                                WAIT(STOP_A), SET(END_A), CLOSE };
    START(headless, trigger, stop_a, stop_b);
    assert_int_equal(collect(&c, t), GCD_OK);
    assert_string_equal(c.seen, "walk$");
    assert_true(c.result.stopped);
    fake_target_stop(t);
}

/* A dump triggered by another tool will do: no GC is requested. */
static void test_dump_of_another(void **state)
{
    (void)state;
    static const struct fake_act lucky[] = { RECV,         OK(ID_A),   TEXT("walk$"),
                                             WAIT(STOP_A), SET(END_A), CLOSE };
    START(lucky, stop_a);
    assert_int_equal(collect(&c, t), GCD_OK);
    assert_true(c.result.stopped && c.result.stream_ended);
    assert_int_equal(fake_target_accepted(t), 2);
    fake_target_stop(t);
}

static void test_flush(void **state)
{
    (void)state;
    START(flush, stop_f, record, trigger, stop_a, stop_b);
    c.plan.flush = true;
    assert_int_equal(collect(&c, t), GCD_OK);
    assert_string_equal(c.seen, "head walk$ tail");
    expect_collect(t, 0, GCD_WIRE_COLLECT_TRACING2, 1);
    expect_stop(t, 1, STOP(ID_F));
    expect_collect(t, 2, GCD_WIRE_COLLECT_TRACING2, 0x1180001);
    expect_stop(t, 5, STOP(ID_B));
    assert_true(c.result.stopped);
    fake_target_stop(t);
}

/* Only the recording session matters: the bytes of the others do not delay their stop. */
static void test_others_go_on_after_the_stop(void **state)
{
    (void)state;
    static char drip[] =
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    static const struct fake_act endless_trigger[] = {
        RECV,
        SET(GC),
        OK(ID_B),
        WAIT(STOP_B),
        FAKE_SEND_PIECES(drip, sizeof drip - 1, 1, 100),
        SET(END_B),
        CLOSE
    };
    static const struct fake_act endless_flush[] = {
        RECV,       OK(ID_F), WAIT(STOP_F), FAKE_SEND_PIECES(drip, sizeof drip - 1, 1, 100),
        SET(END_F), CLOSE
    };
    {
        START(record, endless_trigger, stop_a, stop_b);
        c.grace_ms = c.answer_ms = 1000;
        assert_int_equal(collect(&c, t), GCD_OK);
        assert_string_equal(c.seen, "head walk$ tail");
        assert_true(c.result.stream_ended && !c.result.stopped);
        fake_target_stop(t);
    }
    {
        START(endless_flush, stop_f);
        c.plan.flush = true;
        c.answer_ms = 1000;
        gcd_status st = collect(&c, t);
        expect_failure(&c, st, GCD_E_PEER, GCD_ERROR_TIMEOUT,
                       "cannot stop the event session that makes the runtime report its types "
                       "again: no answer within 1000 ms, the process "
                       "is stopped, or busy with another client");
        fake_target_stop(t);
    }
}

static void test_flush_fails(void **state)
{
    (void)state;
    {
        START(refusal);
        c.plan.flush = true;
        gcd_status st = collect(&c, t);
        expect_failure(&c, st, GCD_E_PEER, GCD_ERROR_REFUSED,
                       "cannot start the event session that makes the runtime report its types "
                       "again: the runtime refused: it "
                       "could not read the request (BAD_ENCODING, 0x80131384)");
        assert_int_equal(fake_target_accepted(t), 1);
        assert_null(c.result.command);
        fake_target_stop(t);
    }
    {
        static const struct fake_act broken[] = { RECV, OK(ID_F), CLOSE };
        static const struct fake_act late[] = { RECV, SLEEP(50), OK(ID_F), CLOSE };
        START(broken, late, record, trigger, stop_a, stop_b);
        c.plan.flush = true;
        assert_int_equal(collect(&c, t), GCD_OK); /* it was stopped, which is all that is needed */
        fake_target_stop(t);
    }
}

/* ---- the ladder ---- */

static void test_step_down(void **state)
{
    (void)state;
    START(unknown, unknown, record, trigger, stop_a, stop_b);
    c.plan.command = GCD_WIRE_COLLECT_TRACING6;
    assert_int_equal(collect(&c, t), GCD_OK);
    expect_collect(t, 0, GCD_WIRE_COLLECT_TRACING6, 0x1180001);
    expect_collect(t, 1, GCD_WIRE_COLLECT_TRACING5, 0x1180001);
    expect_collect(t, 2, GCD_WIRE_COLLECT_TRACING4, 0x1180001);
    expect_collect(t, 3, GCD_WIRE_COLLECT_TRACING4, 0x800000); /* known from the first attempt */
    assert_string_equal(c.result.command, "CollectTracing4");
    fake_target_stop(t);
}

/* A runtime without the newest command sends only after the walk. */
static void test_the_newest_command_is_missing(void **state)
{
    (void)state;
    START(unknown, flush, stop_f, record, trigger, stop_a, stop_b);
    c.plan = (struct gcd_plan){
        .strategy = GCD_IPC_STRATEGY_SINGLE,
        .command = GCD_WIRE_COLLECT_TRACING6,
        .flush = true,
        .single_needs_6 = true,
    };
    assert_int_equal(collect(&c, t), GCD_OK);
    expect_collect(t, 3, GCD_WIRE_COLLECT_TRACING5, 0x1180001);
    expect_collect(t, 4, GCD_WIRE_COLLECT_TRACING5, 0x800000);
    assert_int_equal(c.result.strategy, GCD_IPC_STRATEGY_DRAIN);
    fake_target_stop(t);
}

static void test_no_step_is_known(void **state)
{
    (void)state;
    START(unknown, unknown, unknown, unknown, unknown, unknown);
    c.plan.command = GCD_WIRE_COLLECT_TRACING6;
    gcd_status st = collect(&c, t);
    expect_failure(&c, st, GCD_E_UNSUPPORTED, GCD_ERROR_REFUSED,
                   "cannot start the event session: the runtime refused: it does not know the "
                   "command (UNKNOWN_COMMAND, 0x80131385)");
    assert_int_equal(fake_target_accepted(t), 6);
    assert_false(c.result.stopped);
    assert_null(c.result.command);
    fake_target_stop(t);
}

/* BAD_ENCODING means that the command is known: no step down. */
static void test_other_refusals_are_final(void **state)
{
    (void)state;
    START(refusal, record);
    c.plan.command = GCD_WIRE_COLLECT_TRACING5;
    gcd_status st = collect(&c, t);
    assert_int_equal(st, GCD_E_PEER);
    assert_int_equal(fake_target_accepted(t), 1);
    assert_true(fake_target_client_closed(t, 0));
    fake_target_stop(t);
}

/* ---- failures between two sessions ---- */

static const struct fake_act record_only[] = { RECV,         OK(ID_A),      TEXT("head"),
                                               WAIT(STOP_A), TEXT(" tail"), SET(END_A),
                                               CLOSE };

static void test_trigger_refused(void **state)
{
    (void)state;
    START(record_only, refusal, stop_a);
    gcd_status st = collect(&c, t);
    expect_failure(&c, st, GCD_E_PEER, GCD_ERROR_REFUSED,
                   "cannot start the event session that triggers the garbage collection: the "
                   "runtime refused: it could not read "
                   "the request (BAD_ENCODING, 0x80131384)");
    assert_true(fake_target_client_closed(t, 1));
    expect_stop(t, 2, STOP(ID_A));
    assert_true(c.result.stopped && c.result.stream_ended);
    assert_string_equal(c.seen, "head");
    fake_target_stop(t);
}

/* The recording session is gone while the GC runs: the trigger must be stopped when it answers. */
static void test_record_lost(void **state)
{
    (void)state;
    static const struct fake_act lost[] = { RECV, OK(ID_A), TEXT("head"), WAIT(GC), CLOSE };
    START(lost, trigger, stop_b);
    gcd_status st = collect(&c, t);
    expect_failure(&c, st, GCD_E_PEER, GCD_ERROR_GONE,
                   "the process ended during the garbage collection, after 4 bytes of events");
    expect_stop(t, 2, STOP(ID_B));
    assert_int_equal(fake_target_accepted(t), 3);
    assert_false(c.result.stream_ended);
    fake_target_stop(t);
}

/* The trigger has done its work once it is answered. */
static void test_trigger_ends_by_itself(void **state)
{
    (void)state;
    static const struct fake_act brief[] = { RECV, OK(ID_B), SET(GC), CLOSE };
    static const struct fake_act slow[] = { RECV,         OK(ID_A),   TEXT("head"),
                                            WAIT(GC),     SLEEP(300), TEXT(" walk$"),
                                            WAIT(STOP_A), SET(END_A), CLOSE };
    START(slow, brief, stop_a);
    assert_int_equal(collect(&c, t), GCD_OK);
    assert_string_equal(c.seen, "head walk$");
    expect_stop(t, 2, STOP(ID_A));
    assert_int_equal(fake_target_accepted(t), 3);
    fake_target_stop(t);
}

static void test_process_dies_in_gc(void **state)
{
    (void)state;
    static const struct fake_act dying[] = { RECV, SLEEP(100), { .op = FAKE_VANISH }, CLOSE };
    START(record_only, dying);
    gcd_status st = collect(&c, t);
    assert_int_equal(st, GCD_E_PEER);
    assert_int_equal(c.err.reason, GCD_ERROR_GONE);
    assert_string_equal(c.err.msg,
                        "the process ended during the garbage collection, after 4 bytes of events");
    assert_false(c.result.stopped);
    fake_target_stop(t);
}

static void test_process_dies_in_walk(void **state)
{
    (void)state;
    static const struct fake_act walking[] = { RECV,          OK(ID_A), TEXT("head"), WAIT(GC),
                                               TEXT(" walk"), HOLD,     CLOSE };
    static const struct fake_act dying[] = { RECV, SET(GC), SLEEP(200), CLOSE };
    START(walking, dying, stop_a);
    c.answer_ms = c.grace_ms = 200;
    gcd_status st = collect(&c, t);
    expect_failure(&c, st, GCD_E_PEER, GCD_ERROR_GONE,
                   "the process ended during the heap walk, after 9 bytes of events");
    fake_target_stop(t);
}

static void test_process_dies_after_the_walk(void **state)
{
    (void)state;
    static const struct fake_act walking[] = { RECV,           OK(ID_A), TEXT("head"), WAIT(GC),
                                               TEXT(" walk$"), HOLD,     CLOSE };
    static const struct fake_act dying[] = { RECV, SET(GC), SLEEP(200), CLOSE };
    START(walking, dying, stop_a);
    c.answer_ms = c.grace_ms = 200;
    gcd_status st = collect(&c, t);
    expect_failure(&c, st, GCD_E_PEER, GCD_ERROR_GONE,
                   "the process ended after the heap walk, before its event sessions were over, "
                   "after 10 bytes of events");
    assert_string_equal(c.seen, "head walk$");
    fake_target_stop(t);
}

/* ---- no answer ---- */

static const struct fake_act mute[] = { RECV, HOLD, CLOSE };

static void expect_silence(struct client *c, struct fake_target *t, const char *text)
{
    char all[400];
    c->answer_ms = 300;
    gcd_status st = collect(c, t);
    (void)snprintf(
        all, sizeof all,
        "cannot %s: no answer within 300 ms, the process is stopped, or busy with another client",
        text);
    expect_failure(c, st, GCD_E_PEER, GCD_ERROR_TIMEOUT, all);
    assert_false(c->result.stopped);
    fake_target_stop(t);
}

static void test_silent_flush(void **state)
{
    (void)state;
    START(mute);
    c.plan.flush = true;
    expect_silence(&c, t, "start the event session that makes the runtime report its types again");
}

static void test_silent_flush_stop(void **state)
{
    (void)state;
    START(flush, mute);
    c.plan.flush = true;
    expect_silence(&c, t, "stop the event session that makes the runtime report its types again");
}

static void test_silent_record(void **state)
{
    (void)state;
    START(mute);
    expect_silence(&c, t, "start the event session");
}

static void test_silent_stop(void **state)
{
    (void)state;
    static const struct fake_act endless[] = { RECV,           OK(ID_A), TEXT("head"), WAIT(GC),
                                               TEXT(" walk$"), HOLD,     CLOSE };
    START(endless, trigger, mute, mute);
    expect_silence(&c, t, "stop the event session");
}

/* Before it answers, a runtime lists its modules, which may take it long. */
static void test_long_rundown(void **state)
{
    (void)state;
    static const struct fake_act slow_stop[] = { RECV,       SLEEP(900), SET(STOP_A), WAIT(END_A),
                                                 OK(ID_A), CLOSE };
    START(record, trigger, slow_stop, stop_b);
    c.answer_ms = 300;
    c.rundown_ms = 4000;
    assert_int_equal(collect(&c, t), GCD_OK);
    assert_string_equal(c.seen, "head walk$ tail");
    fake_target_stop(t);
}

/* An answer that needs a GC takes as long as the GC. */
static void test_long_walk(void **state)
{
    (void)state;
    static const struct fake_act slow[] = { RECV,         SLEEP(900), SET(GC), OK(ID_B),
                                            WAIT(STOP_B), SET(END_B), CLOSE };
    START(record, slow, stop_a, stop_b);
    c.answer_ms = 300;
    c.plan.answers_after_walk = true;
    assert_int_equal(collect(&c, t), GCD_OK);
    assert_string_equal(c.seen, "head walk$ tail");
    fake_target_stop(t);
}

static void test_no_walk(void **state)
{
    (void)state;
    START(record_only, trigger, stop_a, stop_b);
    c.answer_ms = 300;
    c.plan.answers_after_walk = true;
    gcd_status st = collect(&c, t);
    expect_failure(&c, st, GCD_E_PEER, GCD_ERROR_TIMEOUT,
                   "the runtime answered, but then sent nothing of a heap walk for 300 ms: it "
                   "forced no garbage collection "
                   "(Native AOT of .NET 8 and 9 never does), or is stopped");
    assert_true(c.result.stopped && c.result.stream_ended);
    fake_target_stop(t);
}

/* The stop of the recording session is sent at once and served after the walk; the trigger's after
 * its answer. */
static void test_cancel_in_gc(void **state)
{
    (void)state;
    static const struct fake_act slow_trigger[] = { RECV,         SLEEP(600), OK(ID_B),
                                                    WAIT(STOP_B), SET(END_B), CLOSE };
    START(record_only, slow_trigger, stop_a, stop_b);
    c.cancel_in_gc = true;
    gcd_status st = collect(&c, t);
    expect_failure(&c, st, GCD_E_CANCELED, GCD_ERROR_OTHER, "canceled");
    expect_stop(t, 2, STOP(ID_A));
    expect_stop(t, 3, STOP(ID_B));
    assert_true(c.result.stopped);
    fake_target_stop(t);
}

static void test_timeout_in_gc(void **state)
{
    (void)state;
    static const struct fake_act silent[] = { RECV, HOLD, CLOSE };
    START(record_only, silent, silent);
    c.options.timeout_ms = 300;
    c.grace_ms = 200;
    gcd_status st = collect(&c, t);
    expect_failure(
        &c, st, GCD_E_PEER, GCD_ERROR_TIMEOUT,
        "the runtime has not answered (it does so after the garbage collection) within 300 ms");
    assert_true(fake_target_client_closed(t, 1));
    expect_stop(t, 2, STOP(ID_A));
    assert_false(c.result.stopped);
    fake_target_stop(t);
}

static void test_caller_fails_in_walk(void **state)
{
    (void)state;
    static const struct fake_act bad[] = { RECV,           OK(ID_A),     TEXT("head"), WAIT(GC),
                                           TEXT(" walk!"), WAIT(STOP_A), SET(END_A),   CLOSE };
    START(bad, trigger, stop_a, stop_b);
    gcd_status st = collect(&c, t);
    assert_int_equal(st, GCD_E_LIMIT);
    expect_stop(t, 2, STOP(ID_A));
    expect_stop(t, 3, STOP(ID_B));
    assert_true(c.result.stopped && c.result.stream_ended);
    fake_target_stop(t);
}

/* A complete dump, but a session may be left behind: that is reported. */
static void test_trigger_cannot_be_stopped(void **state)
{
    (void)state;
    static const struct fake_act held[] = { RECV, SET(GC), OK(ID_B), HOLD, CLOSE };
    START(record, held, stop_a, refusal);
    c.grace_ms = 300;
    gcd_status st = collect(&c, t);
    expect_failure(&c, st, GCD_E_PEER, GCD_ERROR_REFUSED,
                   "cannot stop the event session that triggers the garbage collection: the "
                   "runtime refused: it could not read the "
                   "request (BAD_ENCODING, 0x80131384)");
    assert_string_equal(c.seen, "head walk$ tail");
    assert_true(c.result.stream_ended && !c.result.stopped);
    assert_true(fake_target_client_closed(t, 1));
    fake_target_stop(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_no_head),
        cmocka_unit_test(test_dump_of_another),
        cmocka_unit_test(test_flush),
        cmocka_unit_test(test_flush_fails),
        cmocka_unit_test(test_others_go_on_after_the_stop),
        cmocka_unit_test(test_step_down),
        cmocka_unit_test(test_the_newest_command_is_missing),
        cmocka_unit_test(test_no_step_is_known),
        cmocka_unit_test(test_other_refusals_are_final),
        cmocka_unit_test(test_trigger_refused),
        cmocka_unit_test(test_record_lost),
        cmocka_unit_test(test_trigger_ends_by_itself),
        cmocka_unit_test(test_process_dies_in_gc),
        cmocka_unit_test(test_process_dies_in_walk),
        cmocka_unit_test(test_process_dies_after_the_walk),
        cmocka_unit_test(test_silent_flush),
        cmocka_unit_test(test_silent_flush_stop),
        cmocka_unit_test(test_silent_record),
        cmocka_unit_test(test_silent_stop),
        cmocka_unit_test(test_long_rundown),
        cmocka_unit_test(test_long_walk),
        cmocka_unit_test(test_no_walk),
        cmocka_unit_test(test_cancel_in_gc),
        cmocka_unit_test(test_timeout_in_gc),
        cmocka_unit_test(test_caller_fails_in_walk),
        cmocka_unit_test(test_trigger_cannot_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
