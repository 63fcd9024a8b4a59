#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "nettrace/nt.h"

/* FastSerialization tags; format 3 begins objects with 4, format 4 with 5. */
#define TAG_NULL          1
#define TAG_BEGIN_OBJECT  4
#define TAG_BEGIN_PRIVATE 5
#define TAG_END           6

#define NAME_MAX_BYTES 64u /* the longest existing name has 38 */
#define TRACE_BYTES    48u

static const char NETTRACE_MAGIC[8] = { 'N', 'e', 't', 't', 'r', 'a', 'c', 'e' };
static const char SERIALIZER_MAGIC[24] = "\x14\0\0\0!FastSerialization.1";

/* Is one of P[0..N) and MAGIC a prefix of the other? */
static bool begins(const uint8_t *p, size_t n, const char *magic, size_t magic_bytes)
{
    return memcmp(p, magic, n < magic_bytes ? n : magic_bytes) == 0;
}

static gcd_status want_more(size_t want, size_t *ret_want)
{
    *ret_want = want;
    return GCD_NEED_MORE;
}

static gcd_status too_large(const struct gcd_nt *nt, uint32_t bytes, uint64_t off, const char *hint,
                            struct gcd_error *err)
{
    return gcd_because(err, GCD_ERROR_BLOCK_LIMIT,
                       gcd_fail_at(err, GCD_E_LIMIT, off,
                                   "a block of %" PRIu32
                                   " bytes is larger than the limit of %" PRIu64 "%s",
                                   bytes, nt->limits.block_bytes, hint));
}

gcd_status nt_file_header(struct gcd_nt *nt, const uint8_t *p, size_t n, size_t *ret_bytes,
                          size_t *ret_want, struct gcd_error *err)
{
    bool v3 = n == 0 || begins(p, n, SERIALIZER_MAGIC, sizeof SERIALIZER_MAGIC);
    bool v4 = n == 0 || begins(p, n, NETTRACE_MAGIC, sizeof NETTRACE_MAGIC);
    if (!v3 && !v4)
        return gcd_fail_at(err, GCD_E_UNSUPPORTED, 0,
                           "is neither an .etl nor a .nettrace recording (that should begin with "
                           "\"Nettrace\" or \"!FastSerialization.1\")");
    if (v3) {
        if (n < sizeof SERIALIZER_MAGIC)
            return want_more(n < sizeof NETTRACE_MAGIC ? n + 1 : sizeof SERIALIZER_MAGIC, ret_want);
        nt->format = 3;
        *ret_bytes = sizeof SERIALIZER_MAGIC;
        return GCD_OK;
    }
    if (n < 12)
        return want_more(n < 8 ? n + 1 : 12, ret_want);
    if (gcd_le32(p + 8) == 0) {
        if (n < 20)
            return want_more(20, ret_want);
        uint32_t major = gcd_le32(p + 12);
        if (major != 6)
            return gcd_fail_at(err, GCD_E_UNSUPPORTED, 12,
                               "nettrace format %" PRIu32 " is not supported, 3 to 6 are", major);
        nt->format = 6;
        *ret_bytes = 20;
        return GCD_OK;
    }
    if (!begins(p + 8, n - 8, SERIALIZER_MAGIC, sizeof SERIALIZER_MAGIC))
        return gcd_fail_at(err, GCD_E_FORMAT, 8, "the header after \"Nettrace\" is damaged");
    if (n < 32)
        return want_more(32, ret_want);
    nt->format = 4;
    *ret_bytes = 32;
    return GCD_OK;
}

static enum nt_kind kind_of(const uint8_t *name, size_t n)
{
    static const struct {
        const char *name;
        enum nt_kind kind;
    } kinds[] = {
        { "Trace", NT_TRACE },
        { "EventBlock", NT_EVENTS },
        { "MetadataBlock", NT_METADATA },
        { "StackBlock", NT_STACKS },
        { "SPBlock", NT_SEQUENCE_POINT },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].name) == n && memcmp(kinds[i].name, name, n) == 0)
            return kinds[i].kind;
    return NT_UNKNOWN;
}

/* The first object of a file that uses the same serializer for something else, for example .gcdump.
 */
static gcd_status foreign_file(const uint8_t *name, uint32_t n, uint64_t off, struct gcd_error *err)
{
    static const char etlx[] = "TraceLog";
    if (n >= sizeof etlx - 1 && memcmp(name + n - (sizeof etlx - 1), etlx, sizeof etlx - 1) == 0)
        return gcd_fail_at(
            err, GCD_E_UNSUPPORTED, off,
            "is an .etlx, PerfView's own copy of a recording: use the .etl or .nettrace instead");
    return gcd_fail_at(err, GCD_E_UNSUPPORTED, off,
                       "is not a .nettrace recording: it holds an object of type \"%.*s\"", (int)n,
                       (const char *)name);
}

/*
 * 05 05 01 | version i32 | minimum reader i32 | name length i32 | name | 06 | body | 06.  The body
 * of a block is size i32 | zero bytes up to a multiple of 4 of the file offset | size bytes.  A
 * null tag instead ends the file.
 */
static gcd_status frame_object(struct gcd_nt *nt, const uint8_t *p, size_t n, struct nt_frame *ret,
                               size_t *ret_want, struct gcd_error *err)
{
    uint64_t off = nt->off;
    if (n < 1)
        return want_more(1, ret_want);
    if (p[0] == TAG_NULL) {
        *ret = (struct nt_frame){
            .kind = NT_END, .body = p + 1, .body_off = off + 1, .total_bytes = 1
        };
        return GCD_OK;
    }
    static const char *const expected = "an object (05 05 01) or the end mark (01)";
    for (size_t i = 0; i < 3 && i < n; i++) {
        bool ok = i == 2 ? p[i] == TAG_NULL : p[i] == TAG_BEGIN_PRIVATE || p[i] == TAG_BEGIN_OBJECT;
        if (!ok)
            return gcd_fail_at(err, GCD_E_FORMAT, off + i, "expected %s, found byte %02x", expected,
                               p[i]);
    }
    if (n < 15)
        return want_more(n < 3 ? n + 1 : 15, ret_want);
    uint32_t min_reader = gcd_le32(p + 7);
    uint32_t name_bytes = gcd_le32(p + 11);
    if (name_bytes > NAME_MAX_BYTES)
        return gcd_fail_at(err, GCD_E_FORMAT, off + 11,
                           "an object name of %" PRIu32 " bytes (at most %u are possible)",
                           name_bytes, NAME_MAX_BYTES);
    size_t at = 15 + name_bytes + 1;
    if (n < at)
        return want_more(at, ret_want);
    if (p[at - 1] != TAG_END)
        return gcd_fail_at(err, GCD_E_FORMAT, off + at - 1,
                           "expected the end of an object header (06), found byte %02x", p[at - 1]);
    enum nt_kind kind = kind_of(p + 15, name_bytes);
    if (!nt->have_trace && kind != NT_TRACE)
        return foreign_file(p + 15, name_bytes, off + 15, err);
    if (min_reader > 4)
        return gcd_fail_at(err, nt->have_trace ? GCD_E_FORMAT : GCD_E_UNSUPPORTED, off + 7,
                           "an object needs a reader of version %" PRIu32 ", this one is 4",
                           min_reader);
    uint32_t body_bytes = TRACE_BYTES;
    if (kind != NT_TRACE) {
        if (n < at + 4)
            return want_more(at + 4, ret_want);
        body_bytes = gcd_le32(p + at);
        if (body_bytes > INT32_MAX)
            return gcd_fail_at(err, GCD_E_FORMAT, off + at, "a block of negative size");
        if (body_bytes > nt->limits.block_bytes)
            return too_large(nt, body_bytes, off + at, " (runtimes write at most 102420)", err);
        at += 4;
        size_t pad = (size_t)((4 - (off + at) % 4) % 4);
        if (n < at + pad)
            return want_more(at + pad, ret_want);
        at += pad;
    }
    *ret = (struct nt_frame){ .kind = kind,
                              .body = p + at,
                              .body_bytes = body_bytes,
                              .body_off = off + at,
                              .total_bytes = at + body_bytes + 1 };
    if (n < ret->total_bytes)
        return want_more(ret->total_bytes, ret_want);
    if (p[ret->total_bytes - 1] != TAG_END)
        return gcd_fail_at(err, GCD_E_FORMAT, off + ret->total_bytes - 1,
                           "expected the end of an object (06), found byte %02x: its size is wrong",
                           p[ret->total_bytes - 1]);
    return GCD_OK;
}

/* u32: low 24 bits size, high 8 bits kind; no padding. */
static gcd_status frame_v6(struct gcd_nt *nt, const uint8_t *p, size_t n, struct nt_frame *ret,
                           size_t *ret_want, struct gcd_error *err)
{
    static const enum nt_kind kinds[] = { NT_END,      NT_TRACE,          NT_EVENTS,
                                          NT_METADATA, NT_SEQUENCE_POINT, NT_STACKS,
                                          NT_THREADS,  NT_REMOVE_THREADS, NT_LABELS };
    if (n < 4)
        return want_more(4, ret_want);
    uint32_t x = gcd_le32(p);
    uint32_t body_bytes = x & 0xffffff, kind = x >> 24;
    if (body_bytes > nt->limits.block_bytes)
        return too_large(nt, body_bytes, nt->off, "", err);
    *ret =
        (struct nt_frame){ .kind = kind < sizeof kinds / sizeof *kinds ? kinds[kind] : NT_UNKNOWN,
                           .body = p + 4,
                           .body_bytes = body_bytes,
                           .body_off = nt->off + 4,
                           .total_bytes = 4 + (size_t)body_bytes };
    if (!nt->have_trace && ret->kind != NT_TRACE)
        return gcd_fail_at(err, GCD_E_FORMAT, nt->off,
                           "expected the trace block first, found a block of kind %" PRIu32, kind);
    return n < ret->total_bytes ? want_more(ret->total_bytes, ret_want) : GCD_OK;
}

gcd_status nt_frame_next(struct gcd_nt *nt, const uint8_t *p, size_t n, struct nt_frame *ret,
                         size_t *ret_want, struct gcd_error *err)
{
    *ret = (struct nt_frame){ .kind = NT_UNKNOWN };
    return nt->format == 6 ? frame_v6(nt, p, n, ret, ret_want, err)
                           : frame_object(nt, p, n, ret, ret_want, err);
}

/* Days since 1970-01-01 of a date in the proleptic Gregorian calendar (algorithm of H. Hinnant's
 * public notes on dates). */
static int64_t days_from_civil(int64_t y, unsigned m, unsigned d)
{
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t yoe = y - era * 400;
    int64_t doy = (153 * ((int64_t)m + (m > 2 ? -3 : 9)) + 2) / 5 + (int64_t)d - 1;
    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

#define WINDOWS_ZERO_MS INT64_C(-11644473600000) /* 1601-01-01 */

/* SYSTEMTIME: year, month, day of week, day, hour, minute, second, millisecond. */
static int64_t read_system_time(struct gcd_cur *c)
{
    uint16_t f[8];
    for (size_t i = 0; i < 8; i++)
        f[i] = gcd_cur_u16(c);
    if (f[1] < 1 || f[1] > 12 || f[3] < 1 || f[3] > 31)
        return INT64_MIN;
    int64_t ms =
        (((days_from_civil(f[0], f[1], f[3]) * 24 + f[4]) * 60 + f[5]) * 60 + f[6]) * 1000 + f[7];
    return ms != WINDOWS_ZERO_MS ? ms : INT64_MIN; /* nt_write_new: without a time */
}

static gcd_status read_key_values_v6(struct gcd_nt *nt, struct gcd_cur *c)
{
    uint32_t pairs = gcd_cur_u32(c);
    for (uint32_t i = 0; i < pairs && c->err == GCD_OK; i++) {
        struct gcd_cur key = gcd_cur_sub(c, gcd_cur_varuint32(c));
        struct gcd_cur value = gcd_cur_sub(c, gcd_cur_varuint32(c));
        size_t key_n = gcd_cur_left(&key);
        uint64_t number = 0;
        while (gcd_cur_left(&value) > 0) {
            unsigned digit = (unsigned)(gcd_cur_u8(&value) - '0');
            if (digit > 9 || number > UINT32_MAX)
                break;
            number = number * 10 + digit;
        }
        if (key_n == 9 && memcmp(key.p, "ProcessId", 9) == 0)
            nt->info.process = number;
        else if (key_n == 19 && memcmp(key.p, "HardwareThreadCount", 19) == 0)
            nt->info.processors = (uint32_t)number;
    }
    return c->err;
}

gcd_status nt_read_trace(struct gcd_nt *nt, struct gcd_cur *c, struct gcd_error *err)
{
    uint64_t at = gcd_cur_off(c);
    nt->info.start_unix_ms = read_system_time(c);
    nt->sync_ticks = (int64_t)gcd_cur_u64(c);
    nt->frequency = gcd_cur_u64(c);
    nt->info.ptr_bytes = gcd_cur_u32(c);
    if (nt->format == 6) {
        (void)read_key_values_v6(nt, c);
    } else {
        nt->info.process = gcd_cur_u32(c);
        nt->info.processors = gcd_cur_u32(c);
    }
    if (c->err != GCD_OK)
        return nt_cur_error(c, "the trace header", err);
    if (nt->frequency == 0 || nt->frequency > INT64_MAX)
        return gcd_fail_at(err, GCD_E_FORMAT, at + 24,
                           "the clock frequency of the trace is %" PRIu64, nt->frequency);
    if (nt->info.ptr_bytes != 4 && nt->info.ptr_bytes != 8)
        return gcd_fail_at(err, GCD_E_FORMAT, at + 32,
                           "the pointer size of the trace is %u, not 4 or 8", nt->info.ptr_bytes);
    nt->info.start_ticks = (uint64_t)nt->sync_ticks;
    nt->info.ticks_per_second = nt->frequency;
    nt->have_trace = true;
    return GCD_OK;
}
