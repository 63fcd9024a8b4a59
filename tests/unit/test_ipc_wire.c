/*
 * Messages of the diagnostic protocol, byte for byte, and hostile replies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "ipc/wire/ipc_text.h"
#include "ipc/wire/ipc_wire.h"

#define MAGIC "DOTNET_IPC_V1\0"

/* The string literal BYTES is compared without its NUL. */
#define assert_bytes(buf, n, bytes)                             \
    do {                                                        \
        assert_int_equal((n), sizeof(bytes) - 1);               \
        assert_memory_equal((buf), (bytes), sizeof(bytes) - 1); \
    } while (0)

static const struct gcd_wire_provider runtime = { .keywords = UINT64_C(0x1980001),
                                                  .level = 4,
                                                  .name = "AB" };

static struct gcd_wire_collect good_collect(void)
{
    return (struct gcd_wire_collect){
        .buffer_mb = 1024,
        .format = GCD_WIRE_FORMAT_NETTRACE,
        .rundown = true,
        .providers = &runtime,
        .n_providers = 1,
    };
}

static void test_encode_stop(void **state)
{
    (void)state;
    uint8_t buf[64];
    size_t n = 0;
    assert_int_equal(gcd_wire_encode_stop(UINT64_C(0x1122334455667788), buf, sizeof buf, &n, NULL),
                     GCD_OK);
    assert_bytes(buf, n,
                 MAGIC "\x1c\x00\x02\x01\x00\x00"
                       "\x88\x77\x66\x55\x44\x33\x22\x11");
}

static void test_encode_process_info(void **state)
{
    (void)state;
    uint8_t buf[64];
    size_t n = 0;
    assert_int_equal(gcd_wire_encode_plain(GCD_WIRE_PROCESS_INFO, buf, sizeof buf, &n, NULL),
                     GCD_OK);
    assert_bytes(buf, n, MAGIC "\x14\x00\x04\x00\x00\x00");
    assert_int_equal(gcd_wire_encode_plain(GCD_WIRE_PROCESS_INFO2, buf, sizeof buf, &n, NULL),
                     GCD_OK);
    assert_bytes(buf, n, MAGIC "\x14\x00\x04\x04\x00\x00");
    assert_int_equal(gcd_wire_encode_plain(GCD_WIRE_PROCESS_INFO3, buf, sizeof buf, &n, NULL),
                     GCD_OK);
    assert_bytes(buf, n, MAGIC "\x14\x00\x04\x08\x00\x00");
    assert_int_equal(gcd_wire_encode_plain(GCD_WIRE_RESUME_RUNTIME, buf, sizeof buf, &n, NULL),
                     GCD_OK);
    assert_bytes(buf, n, MAGIC "\x14\x00\x04\x01\x00\x00");
}

static void test_encode_collect2(void **state)
{
    (void)state;
    uint8_t buf[256];
    size_t n = 0;
    struct gcd_wire_collect c = good_collect();
    assert_int_equal(
        gcd_wire_encode_collect(GCD_WIRE_COLLECT_TRACING2, &c, buf, sizeof buf, &n, NULL), GCD_OK);
    assert_bytes(buf, n,
                 MAGIC "\x3b\x00\x02\x03\x00\x00" /* header, size 59 */
                       "\x00\x04\x00\x00"         /* 1024 MB */
                       "\x01\x00\x00\x00"         /* nettrace */
                       "\x01"                     /* rundown */
                       "\x01\x00\x00\x00"         /* one provider */
                       "\x01\x00\x98\x01\x00\x00\x00\x00"
                       "\x04\x00\x00\x00"
                       "\x03\x00\x00\x00"
                       "A\0B\0\0\0"
                       "\x00\x00\x00\x00");
}

static void test_encode_two_providers_and_arguments(void **state)
{
    (void)state;
    /* One character of each length of UTF-8; the last one is a surrogate pair. */
    const struct gcd_wire_provider ps[] = {
        { .keywords = 0, .level = 0, .name = "P" },
        { .keywords = UINT64_MAX,
          .level = 5,
          .name = "x\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
          .arguments = "k=v" },
    };
    struct gcd_wire_collect c = {
        .buffer_mb = 4095, .format = 0, .rundown = false, .providers = ps, .n_providers = 2
    };
    uint8_t buf[256];
    size_t n = 0;
    assert_int_equal(
        gcd_wire_encode_collect(GCD_WIRE_COLLECT_TRACING2, &c, buf, sizeof buf, &n, NULL), GCD_OK);
    assert_bytes(buf, n,
                 MAGIC "\x61\x00\x02\x03\x00\x00"
                       "\xff\x0f\x00\x00"
                       "\x00\x00\x00\x00"
                       "\x00"
                       "\x02\x00\x00\x00"
                       "\x00\x00\x00\x00\x00\x00\x00\x00"
                       "\x00\x00\x00\x00"
                       "\x02\x00\x00\x00"
                       "P\0\0\0"
                       "\x00\x00\x00\x00"
                       "\xff\xff\xff\xff\xff\xff\xff\xff"
                       "\x05\x00\x00\x00"
                       "\x06\x00\x00\x00"
                       "x\0\xe9\0\xac\x20\x3d\xd8\x00\xde\0\0"
                       "\x04\x00\x00\x00"
                       "k\0=\0v\0\0\0");
}

/* Offsets of the protocol text for one provider with the runtime's name. */
static void test_encode_runtime_provider(void **state)
{
    (void)state;
    struct gcd_wire_provider p = runtime;
    struct gcd_wire_collect c = good_collect();
    uint8_t buf[GCD_WIRE_REQUEST_MAX];
    size_t n = 0;
    p.name = GCD_WIRE_RUNTIME_PROVIDER;
    c.providers = &p;
    assert_int_equal(
        gcd_wire_encode_collect(GCD_WIRE_COLLECT_TRACING2, &c, buf, sizeof buf, &n, NULL), GCD_OK);
    assert_int_equal(n, GCD_WIRE_HEADER_BYTES + 97);
    assert_memory_equal(buf + GCD_WIRE_HEADER_BYTES + 25, "\x20\x00\x00\x00M\0i\0c\0", 10);
    assert_memory_equal(buf + GCD_WIRE_HEADER_BYTES + 93, "\x00\x00\x00\x00", 4);
}

static void expect_refused(const struct gcd_wire_collect *c, gcd_status want, const char *text)
{
    uint8_t buf[256];
    size_t n = 77;
    struct gcd_error err = GCD_ERROR_INIT;
    assert_int_equal(
        gcd_wire_encode_collect(GCD_WIRE_COLLECT_TRACING2, c, buf, sizeof buf, &n, &err), want);
    assert_int_equal(err.code, want);
    if (strstr(err.msg, text) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", text, err.msg);
    assert_int_equal(n, 77);
}

static void test_values_that_must_not_be_sent(void **state)
{
    (void)state;
    struct gcd_wire_collect c = good_collect();
    c.buffer_mb = 0;
    expect_refused(&c, GCD_E_ARG, "buffer of 0 MB: the size must be 1 to 4095");
    c.buffer_mb = 4096;
    expect_refused(&c, GCD_E_ARG, "buffer of 4096 MB");
    c = good_collect();
    c.format = 2;
    expect_refused(&c, GCD_E_ARG, "stream format 2");
    c = good_collect();
    c.n_providers = 0;
    expect_refused(&c, GCD_E_ARG, "0 event providers");
    struct gcd_wire_provider *many = calloc(1001, sizeof *many);
    assert_non_null(many);
    c.providers = many;
    c.n_providers = 1001;
    expect_refused(&c, GCD_E_ARG, "1001 event providers: their number must be 1 to 1000");
    free(many);

    struct gcd_wire_provider p = runtime;
    c = good_collect();
    c.providers = &p;
    p.level = 6;
    expect_refused(&c, GCD_E_ARG, "level 6");
    p = runtime;
    p.name = "";
    expect_refused(&c, GCD_E_ARG, "without a name");
    p.name = NULL;
    expect_refused(&c, GCD_E_ARG, "without a name");
    static const char *const not_utf8[] = { "\xff",         "a\xc3",        "\xc0\x80",
                                            "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                            "\xc3(",        "\x80",         "\xf0\x9f\x98" };
    for (size_t i = 0; i < sizeof not_utf8 / sizeof not_utf8[0]; i++) {
        p.name = not_utf8[i];
        expect_refused(&c, GCD_E_ARG, "not UTF-8");
    }
    p = runtime;
    p.arguments = "\xff";
    expect_refused(&c, GCD_E_ARG, "not UTF-8");
}

static void test_request_too_large(void **state)
{
    (void)state;
    struct gcd_wire_collect c = good_collect();
    struct gcd_error err = GCD_ERROR_INIT;
    uint8_t small[58];
    size_t n = 77;
    assert_int_equal(
        gcd_wire_encode_collect(GCD_WIRE_COLLECT_TRACING2, &c, small, sizeof small, &n, &err),
        GCD_E_ARG);
    assert_string_equal(err.msg,
                        "the CollectTracing2 request does not fit into a message of 58 bytes");
    assert_int_equal(gcd_wire_encode_stop(1, small, 27, &n, &err), GCD_E_ARG);
    assert_int_equal(gcd_wire_encode_plain(GCD_WIRE_PROCESS_INFO, small, 3, &n, &err), GCD_E_ARG);
    assert_int_equal(n, 77);

    /* The size field ends at 65535, however large the buffer is. */
    enum { ROOM = 1 << 18, TEXT = 40000 };
    uint8_t *buf = malloc(ROOM);
    char *text = malloc(TEXT + 1);
    assert_non_null(buf);
    assert_non_null(text);
    memset(text, 'a', TEXT);
    text[TEXT] = '\0';
    struct gcd_wire_provider p = runtime;
    p.arguments = text;
    c.providers = &p;
    assert_int_equal(gcd_wire_encode_collect(GCD_WIRE_COLLECT_TRACING2, &c, buf, ROOM, &n, &err),
                     GCD_E_ARG);
    assert_string_equal(err.msg,
                        "the CollectTracing2 request does not fit into a message of 65535 bytes");
    /* 59 bytes as above, and two for each character and the NUL: 65535, the largest message */
    text[32737] = '\0';
    assert_int_equal(gcd_wire_encode_collect(GCD_WIRE_COLLECT_TRACING2, &c, buf, ROOM, &n, &err),
                     GCD_OK);
    assert_int_equal(n, 65535);
    assert_int_equal(buf[14] | buf[15] << 8, n);
    free(buf);
    free(text);
}

/* Every command of the ladder from the same request, the fields in the order of the protocol text.
 */
static void test_encode_ladder(void **state)
{
    (void)state;
    static const uint32_t ids[] = { 1, 0x1234 };
    const struct gcd_wire_provider ps[] = {
        { .keywords = UINT64_C(0x1980001),
          .level = 4,
          .name = "AB",
          .filter = { .only = true, .ids = ids, .n_ids = 2 } },
        { .keywords = 2, .level = 5, .name = "C", .arguments = "d" },
    };
    const struct gcd_wire_collect c = {
        .buffer_mb = 256,
        .format = GCD_WIRE_FORMAT_NETTRACE,
        .rundown = true,
        .rundown_keyword = UINT64_C(0x1122334455667708),
        .stackwalk = true,
        .block = true,
        .providers = ps,
        .n_providers = 2,
    };
#define HEAD           \
    "\x00\x01\x00\x00" \
    "\x01\x00\x00\x00"
#define KEYWORD "\x08\x77\x66\x55\x44\x33\x22\x11"
#define FIRST                          \
    "\x02\x00\x00\x00"                 \
    "\x01\x00\x98\x01\x00\x00\x00\x00" \
    "\x04\x00\x00\x00"                 \
    "\x03\x00\x00\x00"                 \
    "A\0B\0\0\0"                       \
    "\0\0\0\0"
#define SECOND                         \
    "\x02\x00\x00\x00\x00\x00\x00\x00" \
    "\x05\x00\x00\x00"                 \
    "\x02\x00\x00\x00"                 \
    "C\0\0\0"                          \
    "\x02\x00\x00\x00"                 \
    "d\0\0\0"
#define ONLY_TWO       \
    "\x01"             \
    "\x02\x00\x00\x00" \
    "\x01\x00\x00\x00" \
    "\x34\x12\x00\x00"
#define EVERYTHING \
    "\x00"         \
    "\x00\x00\x00\x00"
    uint8_t buf[256];
    size_t n = 0;
    assert_int_equal(
        gcd_wire_encode_collect(GCD_WIRE_COLLECT_TRACING, &c, buf, sizeof buf, &n, NULL), GCD_OK);
    assert_bytes(buf, n, MAGIC "\x56\x00\x02\x02\x00\x00" HEAD FIRST SECOND);
    assert_int_equal(
        gcd_wire_encode_collect(GCD_WIRE_COLLECT_TRACING2, &c, buf, sizeof buf, &n, NULL), GCD_OK);
    assert_bytes(buf, n, MAGIC "\x57\x00\x02\x03\x00\x00" HEAD "\x01" FIRST SECOND);
    assert_int_equal(
        gcd_wire_encode_collect(GCD_WIRE_COLLECT_TRACING3, &c, buf, sizeof buf, &n, NULL), GCD_OK);
    assert_bytes(buf, n,
                 MAGIC "\x58\x00\x02\x04\x00\x00" HEAD "\x01"
                       "\x01" FIRST SECOND);
    assert_int_equal(
        gcd_wire_encode_collect(GCD_WIRE_COLLECT_TRACING4, &c, buf, sizeof buf, &n, NULL), GCD_OK);
    assert_bytes(buf, n, MAGIC "\x5f\x00\x02\x05\x00\x00" HEAD KEYWORD "\x01" FIRST SECOND);
    assert_int_equal(
        gcd_wire_encode_collect(GCD_WIRE_COLLECT_TRACING5, &c, buf, sizeof buf, &n, NULL), GCD_OK);
    assert_bytes(buf, n,
                 MAGIC "\x75\x00\x02\x06\x00\x00"
                       "\0\0\0\0" HEAD KEYWORD "\x01" FIRST ONLY_TWO SECOND EVERYTHING);
    assert_int_equal(
        gcd_wire_encode_collect(GCD_WIRE_COLLECT_TRACING6, &c, buf, sizeof buf, &n, NULL), GCD_OK);
    assert_bytes(buf, n,
                 MAGIC "\x79\x00\x02\x07\x00\x00"
                       "\0\0\0\0" HEAD KEYWORD "\x01" FIRST ONLY_TWO SECOND EVERYTHING
                       "\x01\x00\x00\x00");
}

static void test_older_collect(void **state)
{
    (void)state;
    enum gcd_wire_command command = GCD_WIRE_COLLECT_TRACING6;
    for (int want = 0x0206; want >= 0x0202; want--) {
        assert_true(gcd_wire_older_collect(command, &command));
        assert_int_equal(command, want);
    }
    assert_false(gcd_wire_older_collect(command, &command));
    assert_false(gcd_wire_older_collect(GCD_WIRE_PROCESS_INFO, &command));
    assert_int_equal(command, GCD_WIRE_COLLECT_TRACING);
}

static void test_not_a_collect_command(void **state)
{
    (void)state;
    struct gcd_wire_collect c = good_collect();
    struct gcd_error err = GCD_ERROR_INIT;
    uint8_t buf[256];
    size_t n;
    assert_int_equal(gcd_wire_encode_collect(GCD_WIRE_STOP_TRACING, &c, buf, sizeof buf, &n, &err),
                     GCD_E_UNSUPPORTED);
    assert_string_equal(err.msg, "cannot build a StopTracing request");
    assert_int_equal(gcd_wire_encode_collect(GCD_WIRE_PROCESS_INFO, &c, buf, sizeof buf, &n, &err),
                     GCD_E_UNSUPPORTED);
}

static gcd_status decode_header(const char *bytes, struct gcd_wire_header *ret,
                                struct gcd_error *err)
{
    uint8_t b[GCD_WIRE_HEADER_BYTES];
    memcpy(b, bytes, sizeof b);
    return gcd_wire_decode_header(b, ret, err);
}

static void test_decode_header(void **state)
{
    (void)state;
    struct gcd_wire_header h = { 0 };
    struct gcd_error err = GCD_ERROR_INIT;
    assert_int_equal(decode_header(MAGIC "\x1c\x00\xff\x00\x00\x00", &h, &err), GCD_OK);
    assert_int_equal(h.size, 28);
    assert_int_equal(h.command, GCD_WIRE_OK);
    /* reserved: any value */
    assert_int_equal(decode_header(MAGIC "\xff\xff\xff\xff\x01\x02", &h, &err), GCD_OK);
    assert_int_equal(h.size, 65535);
    assert_int_equal(h.command, GCD_WIRE_ERROR);

    assert_int_equal(decode_header("DOTNET_IPC_V2\0\x1c\x00\xff\x00\x00\x00", &h, &err),
                     GCD_E_FORMAT);
    assert_int_equal(err.off, 0);
    assert_string_equal(err.msg,
                        "the answer does not come from a .NET diagnostic port: wrong magic");
    assert_int_equal(decode_header("DOTNET_IPC_V1 \x1c\x00\xff\x00\x00\x00", &h, &err),
                     GCD_E_FORMAT);
    assert_int_equal(decode_header(MAGIC "\x13\x00\xff\x00\x00\x00", &h, &err), GCD_E_FORMAT);
    assert_int_equal(err.off, 14);
    assert_string_equal(err.msg, "the answer claims a size of 19 bytes: its header alone has 20");
    assert_int_equal(decode_header(MAGIC "\x00\x00\xff\x00\x00\x00", &h, &err), GCD_E_FORMAT);
    assert_int_equal(h.size, 65535); /* untouched by failures */
}

static gcd_status check_error(const char *payload, size_t n, uint32_t *ret, struct gcd_error *err)
{
    const struct gcd_wire_header h = { .size = (uint16_t)(20 + n), .command = GCD_WIRE_ERROR };
    return gcd_wire_check_reply(&h, (const uint8_t *)payload, n, ret, err);
}

static void test_check_reply(void **state)
{
    (void)state;
    struct gcd_error err = GCD_ERROR_INIT;
    uint32_t hr = 0;
    const struct gcd_wire_header ok = { .size = 20, .command = GCD_WIRE_OK };
    assert_int_equal(gcd_wire_check_reply(&ok, (const uint8_t *)"", 0, &hr, &err), GCD_OK);
    assert_int_equal(hr, 0);

    assert_int_equal(check_error("\x84\x13\x13\x80", 4, &hr, &err), GCD_E_PEER);
    assert_int_equal(hr, 0x80131384);
    assert_string_equal(
        err.msg, "the runtime refused: it could not read the request (BAD_ENCODING, 0x80131384)");
    /* Only this error may lead to an older command. */
    assert_int_equal(check_error("\x85\x13\x13\x80", 4, &hr, &err), GCD_E_UNSUPPORTED);
    assert_string_equal(
        err.msg, "the runtime refused: it does not know the command (UNKNOWN_COMMAND, 0x80131385)");
    assert_int_equal(check_error("\x05\x40\x00\x80", 4, &hr, &err), GCD_E_PEER);
    assert_string_equal(
        err.msg,
        "the runtime refused: it could not start a session, perhaps because all 64 are taken "
        "(FAIL, 0x80004005)");
    /* Longer than expected: one example in the protocol text has 28 bytes. */
    assert_int_equal(check_error("\x01\x00\x00\x80****", 8, &hr, &err), GCD_E_PEER);
    assert_int_equal(hr, 0x80000001);
    assert_string_equal(err.msg, "the runtime refused with the error 0x80000001");
    assert_int_equal(check_error("\x84\x13\x13", 3, NULL, &err), GCD_E_FORMAT);
    assert_string_equal(err.msg, "the runtime refused, but the error code is missing");

    const struct gcd_wire_header odd = { .size = 20, .command = GCD_WIRE_STOP_TRACING };
    assert_int_equal(gcd_wire_check_reply(&odd, (const uint8_t *)"", 0, NULL, &err), GCD_E_FORMAT);
    assert_int_equal(err.off, 16);
    assert_string_equal(err.msg, "the answer is neither OK nor an error: command 0x0201");
}

static void test_refusals_are_named(void **state)
{
    (void)state;
    static const struct {
        uint32_t code;
        const char *name;
    } want[] = {
        { 0x80131384, "BAD_ENCODING" },      { 0x80131385, "UNKNOWN_COMMAND" },
        { 0x80131386, "UNKNOWN_MAGIC" },     { 0x80131387, "UNKNOWN_ERROR" },
        { 0x80131515, "NOTSUPPORTED" },      { 0x80004005, "FAIL" },
        { 0x8013135b, "NOT_YET_AVAILABLE" }, { 0x80131371, "RUNTIME_UNINITIALIZED" },
        { 0x80070057, "INVALIDARG" },        { 0x8007007a, "INSUFFICIENT_BUFFER" },
        { 0x800000cb, "ENVVAR_NOT_FOUND" },
    };
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        const char payload[] = { (char)want[i].code, (char)(want[i].code >> 8),
                                 (char)(want[i].code >> 16), (char)(want[i].code >> 24) };
        char code[64];
        snprintf(code, sizeof code, "(%s, 0x%08x)", want[i].name, (unsigned)want[i].code);
        struct gcd_error err = GCD_ERROR_INIT;
        assert_int_not_equal(check_error(payload, sizeof payload, NULL, &err), GCD_OK);
        assert_non_null(strstr(err.msg, code));
    }
}

static void test_decode_session_id(void **state)
{
    (void)state;
    uint64_t id = 5;
    struct gcd_error err = GCD_ERROR_INIT;
    assert_int_equal(
        gcd_wire_decode_session_id((const uint8_t *)"\x88\x77\x66\x55\x44\x33\x22", 7, &id, &err),
        GCD_E_FORMAT);
    assert_string_equal(err.msg, "the answer has no session number: 7 bytes of 8");
    assert_int_equal(id, 5);
    assert_int_equal(gcd_wire_decode_session_id(
                         (const uint8_t *)"\x88\x77\x66\x55\x44\x33\x22\x11+", 9, &id, &err),
                     GCD_OK);
    assert_true(id == UINT64_C(0x1122334455667788));
}

static void test_decode_advertise(void **state)
{
    (void)state;
    static const char good[] = "ADVR_V1\0"
                               "0123456789abcdef"
                               "\x88\x77\x66\x55\x44\x33\x22\x11"
                               "\xff\xff";
    struct gcd_wire_advertise a = { .pid = 5 };
    struct gcd_error err = GCD_ERROR_INIT;
    assert_int_equal(sizeof good - 1, GCD_WIRE_ADVERTISE_BYTES);
    assert_int_equal(gcd_wire_decode_advertise((const uint8_t *)good, &a, &err), GCD_OK);
    assert_memory_equal(a.cookie, "0123456789abcdef", 16);
    assert_true(a.pid == UINT64_C(0x1122334455667788));
    for (size_t i = 0; i < 8; i++) {
        uint8_t bad[GCD_WIRE_ADVERTISE_BYTES];
        memcpy(bad, good, sizeof bad);
        bad[i] ^= 1;
        assert_int_equal(gcd_wire_decode_advertise(bad, &a, &err), GCD_E_FORMAT);
        assert_int_equal(err.off, 0);
    }
    assert_true(a.pid == UINT64_C(0x1122334455667788));
}

#define PID_AND_COOKIE     \
    "\x39\x30\0\0\0\0\0\0" \
    "0123456789abcdef"
#define STR3(a, b, c) "\x04\0\0\0" a "\0" b "\0" c "\0\0\0"
#define INFO1         PID_AND_COOKIE STR3("c", "m", "d") "\x02\0\0\0L\0\0\0" STR3("x", "6", "4")
#define INFO2         INFO1 STR3("a", "p", "p") STR3("1", "0", ".")
#define INFO3         "\x01\0\0\0" INFO2 STR3("r", "i", "d") "more"

static gcd_status decode_info(enum gcd_wire_command command, const char *bytes, size_t n,
                              struct gcd_ipc_process_info *ret, struct gcd_error *err)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    uint8_t *exact = malloc(n == 0 ? 1 : n); /* so that a sanitizer sees a read past the end */
    assert_non_null(exact);
    memcpy(exact, bytes, n);
    gcd_status st = gcd_wire_decode_process_info(command, exact, n, &alloc, ret, err);
    free(exact);
    return st;
}

static void expect_info(enum gcd_wire_command command, const char *bytes, size_t n, const char *app,
                        const char *version)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    struct gcd_ipc_process_info info;
    struct gcd_error err = GCD_ERROR_INIT;
    assert_int_equal(decode_info(command, bytes, n, &info, &err), GCD_OK);
    assert_int_equal(info.pid, 12345);
    assert_memory_equal(info.cookie, "0123456789abcdef", 16);
    assert_string_equal(info.command_line, "cmd");
    assert_string_equal(info.os, "L");
    assert_string_equal(info.arch, "x64");
    assert_string_equal(info.entry_assembly, app);
    assert_string_equal(info.runtime_version, version);
    gcd_wire_process_info_done(&alloc, &info);
    assert_null(info.command_line);
}

static void test_decode_process_info(void **state)
{
    (void)state;
    expect_info(GCD_WIRE_PROCESS_INFO, INFO1, sizeof INFO1 - 1, "", "");
    expect_info(GCD_WIRE_PROCESS_INFO, INFO2, sizeof INFO2 - 1, "", ""); /* not its fields */
    expect_info(GCD_WIRE_PROCESS_INFO2, INFO2, sizeof INFO2 - 1, "app", "10.");
    expect_info(GCD_WIRE_PROCESS_INFO3, INFO3, sizeof INFO3 - 1, "app", "10.");
}

/* Every prefix is an error, and none leaks (the sanitizers look). */
static void test_process_info_cut_off(void **state)
{
    (void)state;
    struct gcd_ipc_process_info info = { .pid = 7 };
    for (size_t n = 0; n < sizeof INFO2 - 1; n++) {
        struct gcd_error err = GCD_ERROR_INIT;
        assert_int_equal(decode_info(GCD_WIRE_PROCESS_INFO2, INFO2, n, &info, &err), GCD_E_FORMAT);
        assert_int_equal(err.off, GCD_WIRE_HEADER_BYTES);
        assert_non_null(strstr(err.msg, "the ProcessInfo2 answer is cut off"));
        assert_int_equal(info.pid, 7);
    }
}

static void test_process_info_lying_count(void **state)
{
    (void)state;
    static const char *const counts[] = { "\xff\xff\xff\xff", "\x00\x00\x00\x80",
                                          "\x01\x00\x00\x80", "\x05\x00\x00\x00" };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        char bytes[sizeof INFO1 - 1];
        struct gcd_ipc_process_info info;
        struct gcd_error err = GCD_ERROR_INIT;
        memcpy(bytes, INFO1, sizeof bytes);
        memcpy(bytes + sizeof bytes - 12, counts[i], 4); /* of the last string */
        assert_int_equal(decode_info(GCD_WIRE_PROCESS_INFO, bytes, sizeof bytes, &info, &err),
                         GCD_E_FORMAT);
    }
}

static void *no_memory(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes)
{
    int *left = ctx;
    (void)old_bytes;
    if (new_bytes == 0) {
        free(ptr);
        return NULL;
    }
    return (*left)-- > 0 ? realloc(ptr, new_bytes) : NULL;
}

static void test_process_info_out_of_memory(void **state)
{
    (void)state;
    for (int calls = 0; calls <= 10; calls++) {
        int left = calls;
        struct gcd_alloc alloc = { .resize = no_memory, .ctx = &left };
        struct gcd_ipc_process_info info;
        struct gcd_error err = GCD_ERROR_INIT;
        gcd_status st = gcd_wire_decode_process_info(GCD_WIRE_PROCESS_INFO2, (const uint8_t *)INFO2,
                                                     sizeof INFO2 - 1, &alloc, &info, &err);
        assert_int_equal(st, calls < 10 ? GCD_E_NOMEM : GCD_OK);
        if (st == GCD_OK)
            gcd_wire_process_info_done(&alloc, &info);
        else
            assert_string_equal(err.msg, "out of memory while reading the process information");
    }
}

static void expect_text(const char *units, size_t n_units, const char *want)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    char *s = gcd_text_from_utf16(&alloc, (const uint8_t *)units, n_units);
    assert_non_null(s);
    assert_string_equal(s, want);
    gcd_text_free(&alloc, s);
}

static void test_text(void **state)
{
    (void)state;
    expect_text("", 0, "");
    expect_text("\0\0", 1, "");
    expect_text("a\0", 1, "a"); /* without its NUL */
    expect_text("a\0\0\0", 2, "a");
    expect_text("a\0\0\0b\0\0\0", 4,
                "a\xef\xbf\xbd"
                "b");
    expect_text("\xe9\0\xac\x20\x3d\xd8\x00\xde\0\0", 5, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    expect_text("\x3d\xd8", 1, "\xef\xbf\xbd");
    expect_text("\x00\xde\x3d\xd8"
                "a\0",
                3,
                "\xef\xbf\xbd\xef\xbf\xbd"
                "a");
}

static void test_command_names(void **state)
{
    (void)state;
    static const enum gcd_wire_command commands[] = {
        GCD_WIRE_STOP_TRACING,
        GCD_WIRE_COLLECT_TRACING,
        GCD_WIRE_COLLECT_TRACING2,
        GCD_WIRE_COLLECT_TRACING3,
        GCD_WIRE_COLLECT_TRACING4,
        GCD_WIRE_COLLECT_TRACING5,
        GCD_WIRE_COLLECT_TRACING6,
        GCD_WIRE_PROCESS_INFO,
        GCD_WIRE_PROCESS_INFO2,
        GCD_WIRE_PROCESS_INFO3,
        GCD_WIRE_OK,
        GCD_WIRE_ERROR,
    };
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(gcd_wire_command_name(commands[i]),
                                    gcd_wire_command_name(commands[j]));
    assert_string_equal(gcd_wire_command_name(GCD_WIRE_PROCESS_INFO3), "ProcessInfo3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encode_stop),
        cmocka_unit_test(test_encode_process_info),
        cmocka_unit_test(test_encode_collect2),
        cmocka_unit_test(test_encode_two_providers_and_arguments),
        cmocka_unit_test(test_encode_runtime_provider),
        cmocka_unit_test(test_values_that_must_not_be_sent),
        cmocka_unit_test(test_request_too_large),
        cmocka_unit_test(test_encode_ladder),
        cmocka_unit_test(test_older_collect),
        cmocka_unit_test(test_not_a_collect_command),
        cmocka_unit_test(test_decode_header),
        cmocka_unit_test(test_check_reply),
        cmocka_unit_test(test_refusals_are_named),
        cmocka_unit_test(test_decode_session_id),
        cmocka_unit_test(test_decode_advertise),
        cmocka_unit_test(test_decode_process_info),
        cmocka_unit_test(test_process_info_cut_off),
        cmocka_unit_test(test_process_info_lying_count),
        cmocka_unit_test(test_process_info_out_of_memory),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_command_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
