/*
 * Any bytes as a message from a runtime: a reply, process information, an advertisement; and any
 * text in our requests.
 *
 * A message is accepted, or refused with a reason; texts are valid UTF-8; memory is in proportion
 * to the message and never leaked, even if an allocation fails.  A request that could be built is a
 * valid message of the length in its header.
 */
#include "fuzz/fuzz.h"
#include "ipc/wire/ipc_wire.h"
#include "support/failalloc.h"
#include "support/run.h"

#define BASE_BYTES ((size_t)64) /* five empty strings */
/* a UTF-16 unit becomes at most three bytes, and each text has grown for a NUL */
#define BYTES_PER_BYTE ((size_t)3)

static void expect_reason(gcd_status st, const struct gcd_error *err)
{
    if (st > 0 || (st != GCD_OK && (err->code != st || err->msg[0] == '\0')))
        fuzz_fail("an error says so", gcd_status_name(st));
}

static void expect_text(const char *s)
{
    if (s == NULL || !run_is_utf8(s, strlen(s)))
        fuzz_fail("texts are well-formed", s == NULL ? "missing" : s);
}

static void check_info(enum gcd_wire_command command, const uint8_t *payload, size_t n,
                       uint64_t fail_at)
{
    struct gcd_ipc_process_info info = { 0 };
    struct gcd_error err = GCD_ERROR_INIT;
    struct failalloc f;
    failalloc_init(&f);
    f.fail_at = fail_at;
    gcd_status st = gcd_wire_decode_process_info(command, payload, n, &f.alloc, &info, &err);
    expect_reason(st, &err);
    if (st != GCD_OK && st != GCD_E_FORMAT && st != GCD_E_ARG && st != GCD_E_NOMEM)
        fuzz_fail("a reply can only be damaged", err.msg);
    if ((st == GCD_E_NOMEM) != (f.failed > 0))
        fuzz_fail("out of memory is told", gcd_status_name(st));
    if (st == GCD_OK) {
        expect_text(info.command_line);
        expect_text(info.os);
        expect_text(info.arch);
        expect_text(info.entry_assembly);
        expect_text(info.runtime_version);
        gcd_wire_process_info_done(&f.alloc, &info);
    }
    if (f.peak_bytes > BASE_BYTES + BYTES_PER_BYTE * n)
        fuzz_fail("memory is bounded by the message", "see peak_bytes");
    fuzz_check_memory(&f);
}

/* Like a connection: the header, then the number of bytes in it. */
static void check_reply(const uint8_t *data, size_t size, uint64_t hash)
{
    static const enum gcd_wire_command infos[] = { GCD_WIRE_PROCESS_INFO, GCD_WIRE_PROCESS_INFO2,
                                                   GCD_WIRE_PROCESS_INFO3, GCD_WIRE_OK };
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_wire_header h;
    uint64_t session;
    uint32_t hresult;
    gcd_status st = gcd_wire_decode_header(data, &h, &err);
    expect_reason(st, &err);
    if (st != GCD_OK)
        return;
    if (h.size < GCD_WIRE_HEADER_BYTES)
        fuzz_fail("a message is as long as its header", "shorter");
    size_t n = h.size - GCD_WIRE_HEADER_BYTES, have = size - GCD_WIRE_HEADER_BYTES;
    const uint8_t *payload = data + GCD_WIRE_HEADER_BYTES;
    n = n < have ? n : have;
    expect_reason(gcd_wire_check_reply(&h, payload, n, hash % 2 == 0 ? &hresult : NULL, &err),
                  &err);
    expect_reason(gcd_wire_decode_session_id(payload, n, &session, &err), &err);
    for (size_t i = 0; i < sizeof infos / sizeof *infos; i++)
        check_info(infos[i], payload, n, (hash >> 8) % 4 == 0 ? 1 + (hash >> 16) % 6 : 0);
}

/* The input as two texts of a provider, and as numbers. */
static void check_request(const uint8_t *data, size_t size, uint64_t hash)
{
    static uint8_t out[GCD_WIRE_MESSAGE_MAX];
    static char text[512];
    uint32_t ids[3] = { (uint32_t)hash, 4, 5 };
    size_t n = size < sizeof text ? size : sizeof text - 1, written;
    memcpy(text, data, n);
    text[n] = '\0';
    struct gcd_wire_provider p = { .keywords = hash,
                                   .level = (uint32_t)(hash >> 3) % 7,
                                   .name = text,
                                   .arguments = text + strlen(text) / 2,
                                   .filter = {
                                       .only = hash % 2, .ids = ids, .n_ids = (hash >> 7) % 4 } };
    struct gcd_wire_collect c = { .buffer_mb = (uint32_t)(hash >> 9) % 5000,
                                  .format = (uint32_t)(hash >> 22) % 3,
                                  .rundown = hash % 2,
                                  .rundown_keyword = hash,
                                  .stackwalk = hash % 3 == 0,
                                  .providers = &p,
                                  .n_providers = (hash >> 30) % 8 != 0 };
    enum gcd_wire_command command =
        (enum gcd_wire_command)(GCD_WIRE_STOP_TRACING + (hash >> 40) % 8);
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_wire_header h;
    gcd_status st = gcd_wire_encode_collect(
        command, &c, out, (hash >> 50) % 2 == 0 ? sizeof out : (size_t)(hash >> 51) % 300, &written,
        &err);
    expect_reason(st, &err);
    if (st == GCD_OK && (gcd_wire_decode_header(out, &h, &err) != GCD_OK || h.size != written ||
                         h.command != command))
        fuzz_fail("a request is a sound message", err.msg);
    if (gcd_wire_older_collect(command, &command) && gcd_wire_command_name(command) == NULL)
        fuzz_fail("a command has a name", "not this one");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t hash = fuzz_hash(data, size);
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_wire_advertise who;
    if (size >= GCD_WIRE_HEADER_BYTES)
        check_reply(data, size, hash);
    if (size >= GCD_WIRE_ADVERTISE_BYTES)
        expect_reason(gcd_wire_decode_advertise(data, &who, &err), &err);
    check_request(data, size, hash);
    return 0;
}
