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

static const enum gcd_wire_command ladder[] = { GCD_WIRE_PROCESS_INFO3, GCD_WIRE_PROCESS_INFO2,
                                                GCD_WIRE_PROCESS_INFO };
#define RUNGS (sizeof ladder / sizeof ladder[0])

gcd_status gcd_info_ask_all(struct gcd_info_question *questions, size_t n,
                            const struct gcd_ask *how, size_t most, struct gcd_error *err)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    struct gcd_question *asked = gcd_mem_new_array(&alloc, n + 1, sizeof *asked);
    if (asked == NULL)
        return gcd_fail_nomem(err, "asking processes");
    for (size_t i = 0; i < n; i++)
        questions[i].status = GCD_E_UNSUPPORTED;
    for (size_t rung = 0, left = n; rung < RUNGS && left > 0; rung++) {
        left = 0;
        for (size_t i = 0; i < n; i++) {
            struct gcd_info_question *q = &questions[i];
            if (q->status != GCD_E_UNSUPPORTED) /* any other error is final: the command is known */
                continue;
            asked[left] = (struct gcd_question){
                .ask = *how, .command = ladder[rung], .on_ok = on_ok, .ctx = &q->info
            };
            asked[left++].ask.peer = &q->peer;
        }
        gcd_ask_all(asked, left, most);
        for (size_t i = 0, k = 0; i < n && k < left; i++)
            if (questions[i].status == GCD_E_UNSUPPORTED) {
                questions[i].err = asked[k].err;
                questions[i].status = asked[k++].status;
            }
    }
    gcd_mem_free(&alloc, asked, (n + 1) * sizeof *asked);
    return GCD_OK;
}

gcd_status gcd_info_ask(const struct gcd_ask *a, struct gcd_ipc_process_info *ret,
                        struct gcd_error *err)
{
    if (!gcd_peer_is_valid(a->peer))
        return gcd_fail(err, GCD_E_ARG, "process information needs a socket");
    struct gcd_info_question q = { .peer = *a->peer };
    GCD_TRY(gcd_info_ask_all(&q, 1, a, 1, err));
    if (q.status == GCD_OK)
        *ret = q.info;
    if (q.status == GCD_E_UNSUPPORTED)
        gcd_error_wrap(&q.err, "cannot get information about the process");
    if (q.status != GCD_OK && err != NULL)
        *err = q.err;
    return q.status;
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
