/*
 * Process information from a scripted runtime.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <gcdumpc/ipc.h>

#include "support/fake_target.h"

#define TEXT(c) "\x02\0\0\0" c "\0\0\0"
#define COOKIE  "0123456789abcdef"
#define INFO1   "\x39\x30\0\0\0\0\0\0" COOKIE TEXT("c") TEXT("o") TEXT("a") /* 48 bytes */
#define INFO2   INFO1 TEXT("e") TEXT("v")                                   /* 64 */
#define INFO3   "\x01\0\0\0" INFO2 TEXT("r")                                /* 76 */

static const struct fake_act answer3[] = { { .op = FAKE_RECV },
                                           FAKE_SEND_LITERAL(FAKE_MAGIC
                                                             "\x60\x00\xff\x00\x00\x00" INFO3),
                                           { .op = FAKE_HOLD },
                                           { .op = FAKE_CLOSE } };
static const struct fake_act answer2[] = { { .op = FAKE_RECV },
                                           FAKE_SEND_LITERAL(FAKE_MAGIC
                                                             "\x54\x00\xff\x00\x00\x00" INFO2),
                                           { .op = FAKE_CLOSE } };
static const struct fake_act answer1[] = {
    { .op = FAKE_RECV },
    FAKE_SEND_PIECES(FAKE_MAGIC "\x44\x00\xff\x00\x00\x00" INFO1, 68, 1, 1),
    { .op = FAKE_CLOSE }
};
static const struct fake_act unknown[] = { { .op = FAKE_RECV },
                                           FAKE_UNKNOWN_COMMAND,
                                           { .op = FAKE_CLOSE } };

static void expect_asked(struct fake_target *t, size_t i, char command)
{
    const uint8_t *request;
    assert_int_equal(fake_target_request(t, i, &request), 20);
    assert_memory_equal(request, FAKE_MAGIC "\x14\x00\x04", 17);
    assert_int_equal(request[17], command);
}

static void expect_info(struct fake_target *t, const char *entry, const char *version)
{
    struct gcd_ipc_process_info info;
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st = gcd_ipc_process_info(fake_target_path(t), 2000, &info, &err);
    assert_string_equal(err.msg, "");
    assert_int_equal(st, GCD_OK);
    assert_int_equal(info.pid, 12345);
    assert_memory_equal(info.cookie, COOKIE, 16);
    assert_string_equal(info.command_line, "c");
    assert_string_equal(info.os, "o");
    assert_string_equal(info.arch, "a");
    assert_string_equal(info.entry_assembly, entry);
    assert_string_equal(info.runtime_version, version);
    gcd_ipc_process_info_done(&info);
    gcd_ipc_process_info_done(&info); /* twice is fine */
}

static void test_newest(void **state)
{
    (void)state;
    static const struct fake_act *const scripts[] = { answer3 };
    struct fake_target *t = fake_target_start(scripts, 1);
    expect_info(t, "e", "v");
    expect_asked(t, 0, 0x08);
    assert_int_equal(fake_target_accepted(t), 1);
    assert_true(fake_target_client_closed(t, 0)); /* not kept open: it would block the port */
    fake_target_stop(t);
}

static void test_step_down(void **state)
{
    (void)state;
    static const struct fake_act *const scripts[] = { unknown, answer2, unknown, unknown, answer1 };
    struct fake_target *t = fake_target_start(scripts, 5);
    expect_info(t, "e", "v");
    expect_info(t, "", "");
    static const char want[] = { 0x08, 0x04, 0x08, 0x04, 0x00 };
    for (size_t i = 0; i < sizeof want; i++)
        expect_asked(t, i, want[i]);
    assert_int_equal(fake_target_accepted(t), 5);
    fake_target_stop(t);
}

static void expect_failure(const struct fake_act *const *scripts, size_t n, uint64_t timeout_ms,
                           gcd_status want, enum gcd_error_reason want_reason, const char *text)
{
    struct fake_target *t = fake_target_start(scripts, n);
    struct gcd_ipc_process_info info = { .pid = 99 };
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st = gcd_ipc_process_info(fake_target_path(t), timeout_ms, &info, &err);
    assert_string_equal(err.msg, text);
    assert_int_equal(st, want);
    assert_int_equal(err.code, want);
    assert_int_equal(err.reason, want_reason);
    assert_int_equal(info.pid, 99); /* untouched */
    assert_int_equal(fake_target_accepted(t), n);
    fake_target_stop(t);
}
#define EXPECT_FAILURE(scripts, ...) \
    expect_failure((scripts), sizeof(scripts) / sizeof((scripts)[0]), __VA_ARGS__)

static void test_none_known(void **state)
{
    (void)state;
    static const struct fake_act *const scripts[] = { unknown, unknown, unknown };
    EXPECT_FAILURE(scripts, 0, GCD_E_UNSUPPORTED, GCD_ERROR_REFUSED,
                   "cannot get information about the process: the runtime refused: it does not "
                   "know the command "
                   "(UNKNOWN_COMMAND, 0x80131385)");
}

/* Every other error is final: the runtime knows the command. */
static void test_final_errors(void **state)
{
    (void)state;
    static const struct fake_act refuse[] = {
        { .op = FAKE_RECV }, FAKE_BAD_ENCODING, { .op = FAKE_HOLD }, { .op = FAKE_CLOSE }
    };
    static const struct fake_act *const refused[] = { refuse };
    EXPECT_FAILURE(refused, 0, GCD_E_PEER, GCD_ERROR_REFUSED,
                   "the runtime refused: it could not read the request (BAD_ENCODING, 0x80131384)");
    static const struct fake_act cut[] = { { .op = FAKE_RECV },
                                           FAKE_SEND(FAKE_MAGIC "\x54\x00\xff\x00\x00\x00", 19),
                                           { .op = FAKE_CLOSE } };
    static const struct fake_act *const cut_off[] = { cut };
    EXPECT_FAILURE(cut_off, 0, GCD_E_PEER, GCD_ERROR_GONE,
                   "the answer is cut off after 19 bytes of its header: the process has ended");
    static const struct fake_act strange[] = { { .op = FAKE_RECV },
                                               FAKE_SEND_LITERAL("220 smtp.example.com ready\r\n"),
                                               { .op = FAKE_HOLD },
                                               { .op = FAKE_CLOSE } };
    static const struct fake_act *const stranger[] = { strange };
    EXPECT_FAILURE(stranger, 0, GCD_E_FORMAT, GCD_ERROR_OTHER,
                   "the answer does not come from a .NET diagnostic port: wrong magic");
    static const struct fake_act wrong[] = { { .op = FAKE_RECV },
                                             FAKE_SEND_LITERAL(FAKE_MAGIC
                                                               "\x44\x00\xff\x00\x00\x00" INFO1),
                                             { .op = FAKE_HOLD },
                                             { .op = FAKE_CLOSE } };
    static const struct fake_act *const too_short[] = { wrong };
    EXPECT_FAILURE(too_short, 0, GCD_E_FORMAT, GCD_ERROR_OTHER,
                   "the ProcessInfo3 answer is cut off: 48 bytes are too few");
}

static void test_timeout(void **state)
{
    (void)state;
    static const struct fake_act silent[] = { { .op = FAKE_RECV },
                                              { .op = FAKE_HOLD },
                                              { .op = FAKE_CLOSE } };
    static const struct fake_act *const first[] = { silent };
    EXPECT_FAILURE(
        first, 100, GCD_E_PEER, GCD_ERROR_TIMEOUT,
        "the runtime has not answered within 100 ms: it is stopped, or busy with another client");
    /* The timeout is for all steps together: the first takes 1000 ms, which leaves a busy machine
     * 800 ms for all else, and both take more. */
    static const struct fake_act slow[] = { { .op = FAKE_RECV },
                                            { FAKE_SLEEP, 1000, 0, 0, 0 },
                                            FAKE_UNKNOWN_COMMAND,
                                            { .op = FAKE_CLOSE } };
    static const struct fake_act *const second[] = { slow, slow };
    EXPECT_FAILURE(
        second, 1800, GCD_E_PEER, GCD_ERROR_TIMEOUT,
        "the runtime has not answered within 1800 ms: it is stopped, or busy with another client");
}

static void test_nobody_there(void **state)
{
    (void)state;
    struct gcd_ipc_process_info info;
    struct gcd_error err = GCD_ERROR_INIT;
    assert_int_equal(gcd_ipc_process_info("/nonexistent/socket", 0, &info, &err), GCD_E_NOT_FOUND);
    assert_int_equal(err.reason, GCD_ERROR_NO_SOCKET);
    assert_string_equal(err.msg,
                        "cannot connect: there is no diagnostic socket /nonexistent/socket");
    assert_int_equal(gcd_ipc_process_info(NULL, 0, &info, NULL), GCD_E_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_newest),     cmocka_unit_test(test_step_down),
        cmocka_unit_test(test_none_known), cmocka_unit_test(test_final_errors),
        cmocka_unit_test(test_timeout),    cmocka_unit_test(test_nobody_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
