/*
 * Messages of a runtime cut at every byte, with every bit changed, with every allocation failing:
 * accepted, or refused with a reason.
 */
#include <inttypes.h>

#include "ipc/wire/ipc_wire.h"
#include "support/failalloc.h"
#include "support/fake_target.h"
#include "sweep/sweep.h"

typedef gcd_status (*decoder)(enum gcd_wire_command command, const uint8_t *p, size_t n,
                              const struct gcd_alloc *alloc, struct gcd_ipc_process_info *ret,
                              struct gcd_error *err);

static const struct {
    enum gcd_wire_command command;
    unsigned texts;
} versions[] = { { GCD_WIRE_PROCESS_INFO, 3 },
                 { GCD_WIRE_PROCESS_INFO2, 5 },
                 { GCD_WIRE_PROCESS_INFO3, 5 } };
#define VERSIONS (sizeof versions / sizeof *versions)

/* The payload of the reply to a process information command. */
static void payload(size_t version, struct tb_bytes *ret)
{
    static const char *const texts[] = { "dotnet Shop.dll", "Linux", "x64", "", "10.0.12" };
    *ret = (struct tb_bytes){ NULL, 0, 0 };
    if (versions[version].command == GCD_WIRE_PROCESS_INFO3)
        tb_u32(ret, 1);
    tb_u64(ret, 6703);
    tb_put(ret, "0123456789abcdef", 16);
    for (size_t i = 0; i < versions[version].texts; i++) {
        size_t n = texts[i][0] != '\0' ? strlen(texts[i]) + 1 : 0;
        tb_u32(ret, (uint32_t)n);
        for (size_t k = 0; k < n; k++)
            tb_u16(ret, (unsigned char)texts[i][k]);
    }
}

static void try_info(decoder decode, size_t version, const uint8_t *p, size_t n, size_t at,
                     bool cut, uint64_t fail_at, uint64_t *ret_failed, struct tally *t)
{
    struct gcd_ipc_process_info info = { 0 };
    struct gcd_error err = GCD_ERROR_INIT;
    struct failalloc f;
    uint8_t *copy = malloc(n + 1);
    assert_non_null(copy);
    memcpy(copy + 1, p, n);
    failalloc_init(&f);
    f.fail_at = fail_at;
    f.max_bytes = 10 * n + 100;
    gcd_status st = decode(versions[version].command, copy + 1, n, &f.alloc, &info, &err);
    const char *wrong = st != GCD_OK && (err.code != st || err.msg[0] == '\0')
                            ? "the error does not say what it is"
                            : NULL;
    if (wrong == NULL && cut && st == GCD_OK)
        wrong = "a part was taken for the whole";
    if (wrong == NULL && st != GCD_OK && st != (fail_at != 0 ? GCD_E_NOMEM : GCD_E_FORMAT))
        wrong = "not an error of the message";
    if (wrong == NULL && st == GCD_OK &&
        (!run_is_utf8(info.command_line, strlen(info.command_line)) ||
         !run_is_utf8(info.os, strlen(info.os))))
        wrong = "texts that are not well-formed";
    if (st == GCD_OK)
        gcd_wire_process_info_done(&f.alloc, &info);
    if (wrong == NULL)
        wrong = failalloc_complaint(&f);
    if (wrong != NULL)
        tally_complain(t, "%s, %zu: %s; %s", gcd_wire_command_name(versions[version].command), at,
                       wrong, err.msg);
    *ret_failed = f.failed;
    free(copy);
    t->runs++;
}

static void sweep(decoder decode, struct tally *t)
{
    struct tb_bytes b;
    uint64_t failed;
    for (size_t version = 0; version < VERSIONS; version++) {
        payload(version, &b);
        for (size_t n = 0; n < b.n; n++)
            try_info(decode, version, b.p, n, n, true, 0, &failed, t);
        for (size_t bit = 0; bit < 8 * b.n; bit++) {
            b.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
            try_info(decode, version, b.p, b.n, bit / 8, false, 0, &failed, t);
            b.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        failed = 1;
        for (uint64_t k = 1; failed > 0; k++)
            try_info(decode, version, b.p, b.n, (size_t)k, false, k, &failed, t);
        tb_free(&b);
    }
}

static void test_process_info(void **state)
{
    (void)state;
    struct tally t = { 0 };
    sweep(gcd_wire_decode_process_info, &t);
    tally_expect_none(&t);
}

/* A header, session id or advertisement must be what a runtime sends; each has a fixed size, so no
 * prefix is valid. */
static void test_fixed_messages(void **state)
{
    (void)state;
    uint8_t header[] = FAKE_OK_SESSION_BYTES,
            greeting[] = FAKE_ADVERTISE_BYTES("0123456789abcdef", "\x2f\x1a\0\0\0\0\0\0");
    struct gcd_wire_header h;
    struct gcd_wire_advertise who;
    struct gcd_error err = GCD_ERROR_INIT;
    uint64_t id;
    assert_int_equal(gcd_wire_decode_header(header, &h, &err), GCD_OK);
    for (size_t bit = 0; bit < (size_t)8 * 14; bit++) { /* the magic word */
        header[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(gcd_wire_decode_header(header, &h, &err), GCD_E_FORMAT);
        header[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t n = 0; n < 8; n++)
        assert_int_equal(gcd_wire_decode_session_id(header + GCD_WIRE_HEADER_BYTES, n, &id, &err),
                         GCD_E_FORMAT);
    assert_int_equal(gcd_wire_decode_session_id(header + GCD_WIRE_HEADER_BYTES, 8, &id, &err),
                     GCD_OK);
    assert_true(id == FAKE_SESSION);
    assert_int_equal(gcd_wire_decode_advertise(greeting, &who, &err), GCD_OK);
    for (size_t bit = 0; bit < (size_t)8 * 8; bit++) {
        greeting[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(gcd_wire_decode_advertise(greeting, &who, &err), GCD_E_FORMAT);
        greeting[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

/* ---- decoders broken on purpose ---- */

static gcd_status decode_padded(enum gcd_wire_command command, const uint8_t *p, size_t n,
                                const struct gcd_alloc *alloc, struct gcd_ipc_process_info *ret,
                                struct gcd_error *err)
{
    uint8_t more[1000] = { 0 };
    memcpy(more, p, n);
    return gcd_wire_decode_process_info(command, more, sizeof more, alloc, ret, err);
}

static gcd_status decode_silent(enum gcd_wire_command command, const uint8_t *p, size_t n,
                                const struct gcd_alloc *alloc, struct gcd_ipc_process_info *ret,
                                struct gcd_error *err)
{
    gcd_status st = gcd_wire_decode_process_info(command, p, n, alloc, ret, err);
    err->msg[0] = '\0';
    return st;
}

static void test_self(void **state)
{
    (void)state;
    static const decoder broken[] = { decode_padded, decode_silent };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct tally t = { 0 };
        sweep(broken[i], &t);
        tally_expect_some(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_process_info),
                                        cmocka_unit_test(test_fixed_messages),
                                        cmocka_unit_test(test_self) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
