/*
 * Records.  The first four bytes give the kind: bits 24 to 31 C0 (or 90 for messages of WPP), bits
 * 16 to 23 the type; the low half is the size or the version.  Each kind has a 64- and a 32-bit
 * variant, depending on the process that wrote it.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "etl/etl.h"

/* More than any machine has; their names need memory. */
#define MAX_PROVIDERS 16384u

#define TRACE_HEADER 0xc0u
#define WPP_MESSAGE  0x90u

enum header_kind { NO_HEADER, SYSTEM, COMPACT, PERFINFO, EVENT, FULL, INSTANCE };

static const struct {
    enum header_kind kind;
    unsigned ptr_bytes;
} headers[] = {
    [0x01] = { SYSTEM, 4 },   [0x02] = { SYSTEM, 8 },   [0x03] = { COMPACT, 4 },
    [0x04] = { COMPACT, 8 },  [0x0a] = { FULL, 4 },     [0x0b] = { INSTANCE, 4 },
    [0x10] = { PERFINFO, 4 }, [0x11] = { PERFINFO, 8 }, [0x12] = { EVENT, 4 },
    [0x13] = { EVENT, 8 },    [0x14] = { FULL, 8 },     [0x15] = { INSTANCE, 8 },
};

/* Bytes before the payload; without extended items. */
static const size_t fixed_bytes[] = { [SYSTEM] = 0x20, [COMPACT] = 0x18, [PERFINFO] = 0x10,
                                      [EVENT] = 0x50,  [FULL] = 0x30,    [INSTANCE] = 0x48 };

static enum header_kind kind_of(uint8_t type)
{
    return type < sizeof headers / sizeof *headers ? headers[type].kind : NO_HEADER;
}

bool etl_record_next(struct gcd_cur *c, struct etl_record *ret)
{
    *ret = (struct etl_record){ .p = c->p };
    if (gcd_cur_left(c) < 4 || gcd_le32(c->p) == 0 || gcd_le32(c->p) == UINT32_MAX) {
        gcd_cur_skip(c, gcd_cur_left(c));
        return true;
    }
    const uint8_t *p = c->p;
    unsigned mark = p[3];
    if (gcd_cur_left(c) < 8 || (mark != TRACE_HEADER && mark != WPP_MESSAGE))
        return false;
    ret->type = mark == TRACE_HEADER ? p[2] : 0;
    enum header_kind kind = kind_of(ret->type);
    bool by_version = kind == SYSTEM || kind == COMPACT || kind == PERFINFO;
    ret->bytes = gcd_le16(by_version ? p + 4 : p);
    if (ret->bytes < 8 || ret->bytes > gcd_cur_left(c) ||
        (kind != NO_HEADER && ret->bytes < fixed_bytes[kind]))
        return false;
    if (kind == PERFINFO)
        ret->ticks = gcd_le64(p + 8);
    else if (kind != NO_HEADER)
        ret->ticks = gcd_le64(p + 0x10);
    size_t padded = (ret->bytes + 7) & ~(size_t)7;
    gcd_cur_skip(c, padded < gcd_cur_left(c) ? padded : gcd_cur_left(c));
    return true;
}

/* ---- providers ---- */

/* A .NET event source without its own GUID gets one derived from its name, like the last row. */
static const struct etl_provider known[] = {
    { { 0x23, 0x0d, 0x3c, 0xe1, 0xbc, 0xcc, 0x12, 0x4e, 0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee, 0x27,
        0xe4 },
      GCD_PROVIDER_RUNTIME,
      "Microsoft-Windows-DotNETRuntime" },
    { { 0x1c, 0x02, 0x69, 0xa6, 0x50, 0xc4, 0x09, 0x46, 0xa0, 0x35, 0x5a, 0xf5, 0x9a, 0xf4, 0xdf,
        0x18 },
      GCD_PROVIDER_RUNDOWN,
      "Microsoft-Windows-DotNETRuntimeRundown" },
    { { 0xa6, 0x28, 0xf5, 0x92, 0xb8, 0xf5, 0x60, 0x51, 0xa7, 0xee, 0xb3, 0x3d, 0xa7, 0x73, 0x9e,
        0x29 },
      GCD_PROVIDER_EVENTPIPE,
      "Microsoft-DotNETCore-EventPipe" },
};

/* The names of other providers are in their programs, not in the recording, so the GUID is used as
 * the name. */
static gcd_status add_provider(struct gcd_etl *e, size_t at, const uint8_t *guid,
                               struct gcd_error *err)
{
    char name[40];
    int n = snprintf(name, sizeof name, "{%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x}",
                     (unsigned)gcd_le32(guid), (unsigned)gcd_le16(guid + 4),
                     (unsigned)gcd_le16(guid + 6), guid[8], guid[9], guid[10], guid[11], guid[12],
                     guid[13], guid[14], guid[15]);
    if (e->provider_count == MAX_PROVIDERS)
        return gcd_fail(err, GCD_E_LIMIT, "events of more than %u providers", MAX_PROVIDERS);
    if (!gcd_vec_reserve(&e->alloc, &e->providers, &e->provider_cap, e->provider_count + 1,
                         sizeof *e->providers, MAX_PROVIDERS))
        return gcd_fail_nomem(err, "reading providers");
    struct etl_provider p = { .provider = GCD_PROVIDER_OTHER };
    memcpy(p.guid, guid, sizeof p.guid);
    if (gcd_textpool_add(&e->names, name, (size_t)n, &p.name) != GCD_OK)
        return gcd_fail_nomem(err, "reading providers");
    memmove(e->providers + at + 1, e->providers + at,
            (e->provider_count - at) * sizeof *e->providers);
    e->providers[at] = p;
    e->provider_count++;
    return GCD_OK;
}

/* Events come in runs of one provider. */
static gcd_status find_provider(struct gcd_etl *e, const uint8_t *guid,
                                const struct etl_provider **ret, struct gcd_error *err)
{
    if (e->last_provider != NULL && memcmp(e->last_provider->guid, guid, sizeof known->guid) == 0) {
        *ret = e->last_provider;
        return GCD_OK;
    }
    const struct etl_provider *found = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (memcmp(known[i].guid, guid, sizeof known->guid) == 0)
            found = &known[i];
    size_t low = 0, high = e->provider_count;
    while (found == NULL && low < high) {
        size_t middle = low + (high - low) / 2;
        int order = memcmp(guid, e->providers[middle].guid, sizeof known->guid);
        if (order == 0)
            found = &e->providers[middle];
        else if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    if (found == NULL) {
        GCD_TRY(add_provider(e, low, guid, err));
        found = &e->providers[low];
    }
    *ret = e->last_provider = found;
    return GCD_OK;
}

/* ---- events ---- */

/* Items lie between the header of an event and its payload: u16 size with padding, u16 kind, u16
 * flags, bit 0 = one more, u16 data. */
static void skip_items(struct gcd_cur *c)
{
    bool more = true;
    while (more && c->err == GCD_OK) {
        size_t bytes = gcd_cur_u16(c);
        gcd_cur_skip(c, 2);
        more = (gcd_cur_u16(c) & 1) != 0;
        if (bytes < 8)
            gcd_cur_fail(c, GCD_E_FORMAT);
        gcd_cur_skip(c, bytes - 6);
    }
}

static gcd_status manifest_event(struct gcd_etl *e, struct gcd_cur *c, const uint8_t *p,
                                 struct gcd_event *ret, struct gcd_error *err)
{
    const struct etl_provider *provider;
    GCD_TRY(find_provider(e, p + 0x18, &provider, err));
    ret->provider = provider->provider;
    ret->provider_name = provider->name;
    ret->thread = gcd_le32(p + 0x08);
    ret->process = gcd_le32(p + 0x0c);
    ret->id = gcd_le16(p + 0x28);
    ret->version = p[0x2a];
    if ((gcd_le16(p + 4) & 1) != 0)
        skip_items(c);
    return GCD_OK;
}

/* Events of old programs: a GUID for the provider or a kind of event, and a number. */
static gcd_status classic_event(struct gcd_etl *e, const uint8_t *p, struct gcd_event *ret,
                                struct gcd_error *err)
{
    const struct etl_provider *provider;
    GCD_TRY(find_provider(e, p + 0x18, &provider, err));
    ret->provider_name = provider->name;
    ret->id = p[4];
    ret->version = gcd_le16(p + 6);
    ret->thread = gcd_le32(p + 0x08);
    ret->process = gcd_le32(p + 0x0c);
    return GCD_OK;
}

/* Differences of times beyond these bounds mean damage; within them, none can overflow. */
#define TIME_MAX ((uint64_t)INT64_MAX / 4)

int64_t etl_time_ns(const struct gcd_etl *e, uint64_t ticks)
{
    bool negative = ticks < e->first_ticks;
    uint64_t d = negative ? e->first_ticks - ticks : ticks - e->first_ticks;
    uint64_t s = d / e->frequency; /* FREQUENCY_MAX: the rest fits in nanoseconds, too */
    uint64_t ns = s > TIME_MAX / ETL_NS_A_SECOND
                      ? TIME_MAX
                      : s * ETL_NS_A_SECOND + d % e->frequency * ETL_NS_A_SECOND / e->frequency;
    int64_t t = (int64_t)(ns > TIME_MAX ? TIME_MAX : ns);
    return negative ? -t : t;
}

gcd_status etl_record_event(struct gcd_etl *e, const struct etl_record *r, struct gcd_event *ret,
                            bool *ret_event, struct gcd_error *err)
{
    enum header_kind kind = kind_of(r->type);
    *ret_event = false;
    if (kind == NO_HEADER || kind == INSTANCE)
        return GCD_OK;
    const uint8_t *p = r->p;
    struct gcd_cur c = gcd_cur_make(p, r->bytes, 0);
    gcd_cur_skip(&c, fixed_bytes[kind]);
    *ret = (struct gcd_event){ .provider = GCD_PROVIDER_OTHER,
                               .ptr_bytes = headers[r->type].ptr_bytes };
    if (kind == EVENT) {
        GCD_TRY(manifest_event(e, &c, p, ret, err));
    } else if (kind == FULL) {
        GCD_TRY(classic_event(e, p, ret, err));
    } else { /* of the kernel */
        ret->provider = GCD_PROVIDER_WINDOWS;
        ret->provider_name = gcd_provider_name(GCD_PROVIDER_WINDOWS);
        ret->id = gcd_le16(p + 6); /* group and event */
        ret->version = p[0];
        ret->thread = kind == PERFINFO ? 0 : gcd_le32(p + 0x08);
        ret->process = kind == PERFINFO ? 0 : gcd_le32(p + 0x0c);
    }
    /* with invalid items the payload is empty, and its reader will find it too short */
    ret->payload = c.p;
    ret->payload_bytes = gcd_cur_left(&c);
    ret->time_ns = etl_time_ns(e, r->ticks);
    ret->off = e->given_bytes;
    *ret_event = true;
    return GCD_OK;
}
