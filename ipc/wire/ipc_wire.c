#include "ipc/wire/ipc_wire.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "ipc/wire/ipc_text.h"

static const char magic[14] = "DOTNET_IPC_V1"; /* the terminating NUL is part of it */

/* Offsets in the header: magic 14, size u16, command set u8, command id u8, reserved u16. */
enum { OFF_SIZE = 14, OFF_COMMAND = 16, OFF_RESERVED = 18 };

const char *gcd_wire_command_name(enum gcd_wire_command command)
{
    switch (command) {
    case GCD_WIRE_STOP_TRACING:
        return "StopTracing";
    case GCD_WIRE_COLLECT_TRACING:
        return "CollectTracing";
    case GCD_WIRE_COLLECT_TRACING2:
        return "CollectTracing2";
    case GCD_WIRE_COLLECT_TRACING3:
        return "CollectTracing3";
    case GCD_WIRE_COLLECT_TRACING4:
        return "CollectTracing4";
    case GCD_WIRE_COLLECT_TRACING5:
        return "CollectTracing5";
    case GCD_WIRE_COLLECT_TRACING6:
        return "CollectTracing6";
    case GCD_WIRE_PROCESS_INFO:
        return "ProcessInfo";
    case GCD_WIRE_RESUME_RUNTIME:
        return "ResumeRuntime";
    case GCD_WIRE_PROCESS_INFO2:
        return "ProcessInfo2";
    case GCD_WIRE_PROCESS_INFO3:
        return "ProcessInfo3";
    case GCD_WIRE_OK:
        return "OK";
    case GCD_WIRE_ERROR:
        return "Error";
    }
    return "unknown command";
}

/* ---- requests ---- */

/* Writes only what fits and remembers that something did not; one check at the end is enough. */
struct out {
    uint8_t *buf;
    size_t n, cap;
    bool full;
};

static void put(struct out *o, const void *bytes, size_t n)
{
    if (n > o->cap - o->n) {
        o->full = true;
        return;
    }
    memcpy(o->buf + o->n, bytes, n);
    o->n += n;
}

static void put_uint(struct out *o, uint64_t v, unsigned bytes)
{
    uint8_t b[8];
    for (unsigned i = 0; i < bytes; i++)
        b[i] = (uint8_t)(v >> (8 * i));
    put(o, b, bytes);
}

/* u32 count of UTF-16 units with the NUL, then the units; an absent string is the count 0. */
static bool put_string(struct out *o, const char *s)
{
    if (s == NULL || s[0] == '\0') {
        put_uint(o, 0, 4);
        return true;
    }
    size_t n_bytes = strlen(s);
    size_t n_units = 0;
    for (size_t i = 0; i < n_bytes;) {
        uint32_t cp;
        size_t used = gcd_utf8_next((const uint8_t *)s + i, n_bytes - i, &cp);
        if (used == 0)
            return false;
        i += used;
        n_units += cp >= 0x10000 ? 2 : 1;
    }
    if (n_units >= GCD_WIRE_MESSAGE_MAX) {
        o->full = true;
        return true;
    }
    put_uint(o, n_units + 1, 4);
    for (size_t i = 0; i < n_bytes && !o->full;) {
        uint32_t cp;
        i += gcd_utf8_next((const uint8_t *)s + i, n_bytes - i, &cp);
        if (cp >= 0x10000) {
            put_uint(o, 0xd800 + ((cp - 0x10000) >> 10), 2);
            put_uint(o, 0xdc00 + ((cp - 0x10000) & 0x3ff), 2);
        } else {
            put_uint(o, cp, 2);
        }
    }
    put_uint(o, 0, 2);
    return true;
}

static struct out message_begin(enum gcd_wire_command command, uint8_t *buf, size_t cap)
{
    struct out o = { .buf = buf, .cap = cap < GCD_WIRE_MESSAGE_MAX ? cap : GCD_WIRE_MESSAGE_MAX };
    put(&o, magic, sizeof magic);
    put_uint(&o, 0, 2); /* size, filled in by message_end */
    put_uint(&o, (uint64_t)command >> 8, 1);
    put_uint(&o, (uint64_t)command & 0xff, 1);
    put_uint(&o, 0, 2);
    return o;
}

static gcd_status message_end(struct out *o, enum gcd_wire_command command, size_t *ret_n,
                              struct gcd_error *err)
{
    if (o->full)
        return gcd_fail(err, GCD_E_ARG, "the %s request does not fit into a message of %zu bytes",
                        gcd_wire_command_name(command), o->cap);
    o->buf[OFF_SIZE] = (uint8_t)o->n;
    o->buf[OFF_SIZE + 1] = (uint8_t)(o->n >> 8);
    *ret_n = o->n;
    return GCD_OK;
}

/*
 * Values a runtime must never see.  Measured: a buffer of 0, a format above 1 and more than 1000
 * providers crash .NET 8 and 9 (SIGSEGV in the target); .NET 10 answers BAD_ENCODING, and every
 * version does for the rest of the list.
 */
static gcd_status check_collect(const struct gcd_wire_collect *c, struct gcd_error *err)
{
    /* The runtime clamps the budget to 4 GiB - 1, so nothing above 4095 has an effect. */
    if (c->buffer_mb < 1 || c->buffer_mb > 4095)
        return gcd_fail(err, GCD_E_ARG,
                        "cannot ask for an event buffer of %" PRIu32
                        " MB: the size must be 1 to 4095",
                        c->buffer_mb);
    if (c->format > GCD_WIRE_FORMAT_NETTRACE)
        return gcd_fail(err, GCD_E_ARG,
                        "cannot ask for the stream format %" PRIu32 ": only 0 and 1 exist",
                        c->format);
    if (c->n_providers < 1 || c->n_providers > 1000)
        return gcd_fail(err, GCD_E_ARG,
                        "cannot ask for %zu event providers: their number must be 1 to 1000",
                        c->n_providers);
    for (size_t i = 0; i < c->n_providers; i++) {
        const struct gcd_wire_provider *p = &c->providers[i];
        if (p->level > 5)
            return gcd_fail(err, GCD_E_ARG,
                            "cannot ask for events of level %" PRIu32 ": the highest level is 5",
                            p->level);
        if (p->name == NULL || p->name[0] == '\0')
            return gcd_fail(err, GCD_E_ARG, "cannot ask for an event provider without a name");
    }
    return GCD_OK;
}

static void put_filter(struct out *o, const struct gcd_wire_filter *f)
{
    put_uint(o, f->only, 1);
    put_uint(o, f->n_ids, 4);
    for (size_t i = 0; i < f->n_ids && !o->full; i++)
        put_uint(o, f->ids[i], 4);
}

/* False: a text is not UTF-8. */
static bool put_providers(struct out *o, enum gcd_wire_command command,
                          const struct gcd_wire_collect *c)
{
    put_uint(o, c->n_providers, 4);
    for (size_t i = 0; i < c->n_providers; i++) {
        const struct gcd_wire_provider *p = &c->providers[i];
        put_uint(o, p->keywords, 8);
        put_uint(o, p->level, 4);
        if (!put_string(o, p->name) || !put_string(o, p->arguments))
            return false;
        if (command >= GCD_WIRE_COLLECT_TRACING5)
            put_filter(o, &p->filter);
    }
    return true;
}

gcd_status gcd_wire_encode_collect(enum gcd_wire_command command,
                                   const struct gcd_wire_collect *collect, uint8_t *buf, size_t cap,
                                   size_t *ret_n, struct gcd_error *err)
{
    GCD_TRY(check_collect(collect, err));
    if (command < GCD_WIRE_COLLECT_TRACING || command > GCD_WIRE_COLLECT_TRACING6)
        return gcd_fail(err, GCD_E_UNSUPPORTED, "cannot build a %s request",
                        gcd_wire_command_name(command));
    struct out o = message_begin(command, buf, cap);
    if (command >= GCD_WIRE_COLLECT_TRACING5)
        put_uint(&o, 0, 4); /* kind of session: a stream on this connection */
    put_uint(&o, collect->buffer_mb, 4);
    put_uint(&o, collect->format, 4);
    if (command >= GCD_WIRE_COLLECT_TRACING4)
        put_uint(&o, collect->rundown_keyword, 8);
    else if (command >= GCD_WIRE_COLLECT_TRACING2)
        put_uint(&o, collect->rundown, 1);
    if (command >= GCD_WIRE_COLLECT_TRACING3)
        put_uint(&o, collect->stackwalk, 1);
    if (!put_providers(&o, command, collect))
        return gcd_fail(err, GCD_E_ARG,
                        "the name or the arguments of an event provider are not UTF-8");
    if (command >= GCD_WIRE_COLLECT_TRACING6)
        put_uint(&o, collect->block, 4);
    return message_end(&o, command, ret_n, err);
}

bool gcd_wire_older_collect(enum gcd_wire_command command, enum gcd_wire_command *ret)
{
    if (command <= GCD_WIRE_COLLECT_TRACING || command > GCD_WIRE_COLLECT_TRACING6)
        return false;
    *ret = (enum gcd_wire_command)(command - 1);
    return true;
}

gcd_status gcd_wire_encode_stop(uint64_t session_id, uint8_t *buf, size_t cap, size_t *ret_n,
                                struct gcd_error *err)
{
    struct out o = message_begin(GCD_WIRE_STOP_TRACING, buf, cap);
    put_uint(&o, session_id, 8);
    return message_end(&o, GCD_WIRE_STOP_TRACING, ret_n, err);
}

gcd_status gcd_wire_encode_plain(enum gcd_wire_command command, uint8_t *buf, size_t cap,
                                 size_t *ret_n, struct gcd_error *err)
{
    struct out o = message_begin(command, buf, cap);
    return message_end(&o, command, ret_n, err);
}

/* ---- replies ---- */

/* A reader with a sticky error: missing bytes read as zero, and one check at the end of the record
 * reports it. */
struct in {
    const uint8_t *p, *end;
    bool bad;
};

static const uint8_t *take(struct in *in, size_t n)
{
    if (in->bad || n > (size_t)(in->end - in->p)) {
        in->bad = true;
        return NULL;
    }
    const uint8_t *p = in->p;
    in->p += n;
    return p;
}

static uint64_t take_uint(struct in *in, unsigned bytes)
{
    const uint8_t *p = take(in, bytes);
    uint64_t v = 0;
    for (unsigned i = 0; p != NULL && i < bytes; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

gcd_status gcd_wire_decode_header(const uint8_t *bytes, struct gcd_wire_header *ret,
                                  struct gcd_error *err)
{
    if (memcmp(bytes, magic, sizeof magic) != 0)
        return gcd_fail_at(err, GCD_E_FORMAT, 0,
                           "the answer does not come from a .NET diagnostic port: wrong magic");
    struct in in = { .p = bytes + OFF_SIZE, .end = bytes + GCD_WIRE_HEADER_BYTES };
    struct gcd_wire_header h = { .size = (uint16_t)take_uint(&in, 2) };
    uint64_t set = take_uint(&in, 1);
    h.command = (uint16_t)(set << 8 | take_uint(&in, 1));
    /* The reserved field is ignored: a later protocol may use it. */
    if (h.size < GCD_WIRE_HEADER_BYTES)
        return gcd_fail_at(err, GCD_E_FORMAT, OFF_SIZE,
                           "the answer claims a size of %u bytes: its header alone has %u",
                           (unsigned)h.size, GCD_WIRE_HEADER_BYTES);
    *ret = h;
    return GCD_OK;
}

/* DS_IPC_E_* in dotnet/runtime, src/native/eventpipe; the texts say when a runtime was seen to
 * answer this way. */
static const struct {
    uint32_t code;
    const char *name, *text;
} hresults[] = {
    { 0x80131384, "BAD_ENCODING", "it could not read the request" },
    { 0x80131385, "UNKNOWN_COMMAND", "it does not know the command" },
    { 0x80131386, "UNKNOWN_MAGIC", "it does not speak this protocol" },
    { 0x80131387, "UNKNOWN_ERROR", "it gave no reason" },
    { 0x80131515, "NOTSUPPORTED", "it does not support the request" },
    { 0x80004005, "FAIL", "it could not start a session, perhaps because all 64 are taken" },
    { 0x8013135b, "NOT_YET_AVAILABLE", "it is still starting" },
    { 0x80131371, "RUNTIME_UNINITIALIZED", "it is still starting" },
    { 0x80070057, "INVALIDARG", "it found an argument invalid" },
    { 0x8007007a, "INSUFFICIENT_BUFFER", "a buffer was too small" },
    { 0x800000cb, "ENVVAR_NOT_FOUND", "an environment variable does not exist" },
};
#define HRESULT_UNKNOWN_COMMAND UINT32_C(0x80131385)

gcd_status gcd_wire_check_reply(const struct gcd_wire_header *header, const uint8_t *payload,
                                size_t n, uint32_t *ret_hresult, struct gcd_error *err)
{
    if (header->command == GCD_WIRE_OK)
        return GCD_OK;
    if (header->command != GCD_WIRE_ERROR)
        return gcd_fail_at(err, GCD_E_FORMAT, OFF_COMMAND,
                           "the answer is neither OK nor an error: command 0x%04x",
                           (unsigned)header->command);
    struct in in = { .p = payload, .end = payload + n };
    uint32_t code = (uint32_t)take_uint(&in, 4);
    if (in.bad)
        return gcd_fail_at(err, GCD_E_FORMAT, GCD_WIRE_HEADER_BYTES,
                           "the runtime refused, but the error code is missing");
    if (ret_hresult != NULL)
        *ret_hresult = code;
    gcd_status st = code == HRESULT_UNKNOWN_COMMAND ? GCD_E_UNSUPPORTED : GCD_E_PEER;
    for (size_t i = 0; i < sizeof hresults / sizeof hresults[0]; i++)
        if (hresults[i].code == code)
            return gcd_because(err, GCD_ERROR_REFUSED,
                               gcd_fail(err, st, "the runtime refused: %s (%s, 0x%08" PRIx32 ")",
                                        hresults[i].text, hresults[i].name, code));
    return gcd_because(err, GCD_ERROR_REFUSED,
                       gcd_fail(err, st, "the runtime refused with the error 0x%08" PRIx32, code));
}

gcd_status gcd_wire_decode_session_id(const uint8_t *payload, size_t n, uint64_t *ret_session_id,
                                      struct gcd_error *err)
{
    struct in in = { .p = payload, .end = payload + n };
    uint64_t id = take_uint(&in, 8);
    if (in.bad)
        return gcd_fail_at(err, GCD_E_FORMAT, GCD_WIRE_HEADER_BYTES,
                           "the answer has no session number: %zu bytes of 8", n);
    *ret_session_id = id;
    return GCD_OK;
}

/* *RET is NULL only when memory ran out; a truncated string makes IN bad and reads as empty. */
static bool take_string(struct in *in, const struct gcd_alloc *alloc, char **ret)
{
    uint64_t n_units = take_uint(in, 4);
    if (n_units > (uint64_t)(in->end - in->p) / 2)
        in->bad = true;
    if (in->bad)
        n_units = 0;
    const uint8_t *units = take(in, (size_t)n_units * 2);
    if (units == NULL)
        n_units = 0;
    *ret = gcd_text_from_utf16(alloc, units, (size_t)n_units);
    return *ret != NULL;
}

gcd_status gcd_wire_decode_process_info(enum gcd_wire_command command, const uint8_t *payload,
                                        size_t n, const struct gcd_alloc *alloc,
                                        struct gcd_ipc_process_info *ret, struct gcd_error *err)
{
    struct in in = { .p = payload, .end = payload + n };
    struct gcd_ipc_process_info info = { 0 };
    if (command == GCD_WIRE_PROCESS_INFO3)
        (void)take_uint(&in, 4); /* version; later versions only append fields */
    info.pid = take_uint(&in, 8);
    const uint8_t *cookie = take(&in, sizeof info.cookie);
    if (cookie != NULL)
        memcpy(info.cookie, cookie, sizeof info.cookie);
    /* The order of the lists in the protocol text; its C structs show a different one.  Measured on
     * .NET 8, 9, 10. */
    bool mem_ok = take_string(&in, alloc, &info.command_line) &&
                  take_string(&in, alloc, &info.os) && take_string(&in, alloc, &info.arch);
    struct in none = { .p = in.end, .end = in.end };
    struct in *rest = command == GCD_WIRE_PROCESS_INFO ? &none : &in;
    mem_ok = mem_ok && take_string(rest, alloc, &info.entry_assembly) &&
             take_string(rest, alloc, &info.runtime_version);
    if (mem_ok && !in.bad) {
        *ret = info;
        return GCD_OK;
    }
    gcd_wire_process_info_done(alloc, &info);
    if (!mem_ok)
        return gcd_fail_nomem(err, "reading the process information");
    return gcd_fail_at(err, GCD_E_FORMAT, GCD_WIRE_HEADER_BYTES,
                       "the %s answer is cut off: %zu bytes are too few",
                       gcd_wire_command_name(command), n);
}

static void free_string(const struct gcd_alloc *alloc, char **s)
{
    if (*s != NULL)
        gcd_text_free(alloc, *s);
    *s = NULL;
}

void gcd_wire_process_info_done(const struct gcd_alloc *alloc, struct gcd_ipc_process_info *info)
{
    free_string(alloc, &info->command_line);
    free_string(alloc, &info->os);
    free_string(alloc, &info->arch);
    free_string(alloc, &info->entry_assembly);
    free_string(alloc, &info->runtime_version);
    *info = (struct gcd_ipc_process_info){ 0 };
}

/* ---- runtimes that connect to us ---- */

gcd_status gcd_wire_decode_advertise(const uint8_t *bytes, struct gcd_wire_advertise *ret,
                                     struct gcd_error *err)
{
    static const char advertise_magic[8] = "ADVR_V1"; /* the terminating NUL is part of it */
    if (memcmp(bytes, advertise_magic, sizeof advertise_magic) != 0)
        return gcd_fail_at(err, GCD_E_FORMAT, 0, "the client is not a .NET runtime: wrong magic");
    struct in in = { .p = bytes + sizeof advertise_magic, .end = bytes + GCD_WIRE_ADVERTISE_BYTES };
    struct gcd_wire_advertise a = { .pid = 0 };
    memcpy(a.cookie, take(&in, sizeof a.cookie), sizeof a.cookie);
    a.pid = take_uint(&in, 8);
    /* The last two bytes are reserved and ignored: a later protocol may use them. */
    *ret = a;
    return GCD_OK;
}
