/* Asks a runtime for process information, newest command first. */
#include "ipc/collect/ipc_info.h"

#include <uv.h>

#include "base/error.h"
#include "base/mem.h"
#include "ipc/collect/ipc_ask.h"
#include "ipc/wire/ipc_wire.h"

static gcd_status on_ok(void *ctx, enum gcd_wire_command command, const uint8_t *payload, size_t n,
                        struct gcd_error *err)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    return gcd_wire_decode_process_info(command, payload, n, &alloc, ctx, err);
}

gcd_status gcd_info_ask(const struct gcd_ask *a, struct gcd_ipc_process_info *ret,
                        struct gcd_error *err)
{
    static const enum gcd_wire_command ladder[] = { GCD_WIRE_PROCESS_INFO3, GCD_WIRE_PROCESS_INFO2,
                                                    GCD_WIRE_PROCESS_INFO };
    if (!gcd_peer_is_valid(a->peer))
        return gcd_fail(err, GCD_E_ARG, "process information needs a socket");
    gcd_status st = GCD_E_UNSUPPORTED;
    struct gcd_error e = GCD_ERROR_INIT;
    for (size_t i = 0; st == GCD_E_UNSUPPORTED && i < sizeof ladder / sizeof ladder[0]; i++)
        st = gcd_ask(a, ladder[i], on_ok, ret,
                     &e); /* any other error is final: the command is known */
    if (st == GCD_E_UNSUPPORTED)
        gcd_error_wrap(&e, "cannot get information about the process");
    if (st != GCD_OK && err != NULL)
        *err = e;
    return st;
}

gcd_status gcd_ipc_process_info(const char *socket_path, uint64_t timeout_ms,
                                struct gcd_ipc_process_info *ret, struct gcd_error *err)
{
    struct gcd_peer peer = { .socket_path = socket_path };
    struct gcd_ask a = { .peer = &peer, .timeout_ms = timeout_ms, .start_ns = uv_hrtime() };
    return gcd_info_ask(&a, ret, err);
}

gcd_status gcd_ipc_port_process_info(struct gcd_ipc_port *port, uint64_t timeout_ms,
                                     const gcd_cancel_flag *cancel,
                                     struct gcd_ipc_process_info *ret, struct gcd_error *err)
{
    struct gcd_peer peer = { .port = port };
    struct gcd_ask a = {
        .peer = &peer, .timeout_ms = timeout_ms, .start_ns = uv_hrtime(), .cancel = cancel
    };
    return gcd_info_ask(&a, ret, err);
}

gcd_status gcd_ipc_port_resume(struct gcd_ipc_port *port, uint64_t timeout_ms,
                               const gcd_cancel_flag *cancel, struct gcd_error *err)
{
    struct gcd_peer peer = { .port = port };
    struct gcd_ask a = {
        .peer = &peer, .timeout_ms = timeout_ms, .start_ns = uv_hrtime(), .cancel = cancel
    };
    if (port == NULL)
        return gcd_fail(err, GCD_E_ARG, "resuming a runtime needs a port");
    /* The payload is an i32 0, which adds nothing to the OK. */
    return gcd_ask(&a, GCD_WIRE_RESUME_RUNTIME, NULL, NULL, err);
}

void gcd_ipc_process_info_done(struct gcd_ipc_process_info *info)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    gcd_wire_process_info_done(&alloc, info);
}
