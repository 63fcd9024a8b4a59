#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "nettrace/nt.h"

static const char *const provider_names[] = {
    [GCD_PROVIDER_OTHER] = "",
    [GCD_PROVIDER_RUNTIME] = "Microsoft-Windows-DotNETRuntime",
    [GCD_PROVIDER_RUNDOWN] = "Microsoft-Windows-DotNETRuntimeRundown",
    [GCD_PROVIDER_EVENTPIPE] = "Microsoft-DotNETCore-EventPipe",
    [GCD_PROVIDER_WINDOWS] = "Windows Kernel",
    [GCD_PROVIDER_NAMES] = "gcdumpc",
};

const char *gcd_provider_name(enum gcd_provider p)
{
    return (size_t)p < sizeof provider_names / sizeof *provider_names ? provider_names[p] : "";
}

static bool differs(const struct nt_meta *a, const struct nt_meta *b)
{
    return a->contradicted || a->provider != b->provider || a->event_id != b->event_id ||
           a->version != b->version || strcmp(a->provider_name, b->provider_name) != 0;
}

/* A record as it is in the file, at OFF. */
struct description {
    uint64_t off;
    uint32_t meta_id, event_id, version;
    uint64_t keywords;
    const char *provider; /* UTF-8 */
    size_t provider_bytes;
};

/* Providers that describe each event only once (measured, .NET 8 to 11, Native AOT). */
static bool is_of_runtime(enum gcd_provider p)
{
    return p == GCD_PROVIDER_RUNTIME || p == GCD_PROVIDER_RUNDOWN || p == GCD_PROVIDER_EVENTPIPE;
}

static bool is_name_character(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
           c == '.' || c == '_' || c == '/';
}

/* Bytes of the UTF-8 character that begins with C. */
static size_t character_bytes(char c)
{
    uint8_t b = (uint8_t)c;
    return b < 0x80 ? 1 : b < 0xe0 ? 2 : b < 0xf0 ? 3 : 4;
}

/*
 * Is NAME, which is not the name of a known provider, one of them after damage: one character
 * differs, the end is missing, or something follows that is in no name?
 */
static bool is_damaged_name(const char *name, size_t n)
{
    for (unsigned p = GCD_PROVIDER_RUNTIME; p <= GCD_PROVIDER_NAMES; p++) {
        const char *known = provider_names[p];
        if (p == GCD_PROVIDER_WINDOWS)
            continue;
        size_t m = strlen(known), i = 0;
        while (i < n && i < m && name[i] == known[i])
            i++;
        if (i == m && i < n && !is_name_character(name[m]))
            return true;
        if (i == n && n > m / 2)
            return true;
        size_t c = i < n ? character_bytes(name[i]) : 0;
        if (i < m && i + c <= n && n - i - c == m - i - 1 &&
            memcmp(name + i + c, known + i + 1, m - i - 1) == 0)
            return true;
    }
    return false;
}

/* Is the event of M described for the first time?  RET_NEW is set if so. */
static bool put_event(struct gcd_nt *nt, const struct nt_meta *m, bool *ret_new)
{
    uint64_t key = ((uint64_t)m->version << 32 | m->event_id) ^ (uint64_t)m->provider << 60;
    *ret_new =
        !is_of_runtime(m->provider) || gcd_idmap_get(&nt->meta_by_event, key) == GCD_IDMAP_NONE;
    return !is_of_runtime(m->provider) || gcd_idmap_put(&nt->meta_by_event, key, 1);
}

static gcd_status store(struct gcd_nt *nt, const struct description *d, struct gcd_error *err)
{
    const char *provider = d->provider;
    size_t n = d->provider_bytes;
    struct nt_meta m = { .event_id = d->event_id, .version = d->version, .keywords = d->keywords };
    for (unsigned p = GCD_PROVIDER_RUNTIME; p <= GCD_PROVIDER_NAMES; p++)
        if (p != GCD_PROVIDER_WINDOWS && strlen(provider_names[p]) == n &&
            memcmp(provider_names[p], provider, n) == 0) {
            m.provider = p;
            m.provider_name = provider_names[p];
        }
    if (m.provider == GCD_PROVIDER_OTHER) {
        if (nt->last_provider == NULL || strlen(nt->last_provider) != n ||
            memcmp(nt->last_provider, provider, n) != 0) {
            gcd_status st = gcd_textpool_add(&nt->names, provider, n, &nt->last_provider);
            if (st == GCD_E_NOMEM)
                return gcd_fail_nomem(err, "reading event descriptions");
            if (st != GCD_OK)
                return gcd_fail_at(err, st, d->off,
                                   "the names of the event providers exceed the limit for text");
        }
        m.provider_name = nt->last_provider;
        m.contradicted = is_damaged_name(provider, n);
        nt->seq.irregular += m.contradicted;
    }
    uint32_t i = gcd_idmap_get(&nt->meta_by_id, d->meta_id);
    if (i != GCD_IDMAP_NONE && differs(&nt->metas[i], &m)) {
        nt->seq.irregular++;
        m.contradicted = true;
    }
    if (i == GCD_IDMAP_NONE) {
        if (nt->meta_count >= nt->limits.metadata)
            return gcd_fail_at(err, GCD_E_LIMIT, d->off, "more than %zu event descriptions",
                               nt->meta_count);
        bool is_new;
        if (!put_event(nt, &m, &is_new) ||
            !gcd_vec_reserve(&nt->alloc, &nt->metas, &nt->meta_cap, nt->meta_count + 1,
                             sizeof *nt->metas, GCD_IDMAP_NONE) ||
            !gcd_idmap_put(&nt->meta_by_id, d->meta_id, (uint32_t)nt->meta_count))
            return gcd_fail_nomem(err, "reading event descriptions");
        nt->seq.irregular += !is_new;
        i = (uint32_t)nt->meta_count++;
    }
    nt->metas[i] = m;
    if (m.provider == GCD_PROVIDER_NAMES) {
        nt->own_off = nt->own_off == 0 ? nt->off : nt->own_off;
        nt->own_highest = m.event_id > nt->own_highest ? m.event_id : nt->own_highest;
    }
    nt->highest_meta = d->meta_id > nt->highest_meta ? d->meta_id : nt->highest_meta;
    return GCD_OK;
}

/* Scratch for N bytes of text, NULL when out of memory. */
static char *text_buffer(struct gcd_nt *nt, size_t n)
{
    return gcd_vec_reserve(&nt->alloc, &nt->text_buffer, &nt->text_cap, n + 1, 1, SIZE_MAX / 8)
               ? nt->text_buffer
               : NULL;
}

/*
 * Format 3 to 5: id, provider, event id, event name, keywords, version, level, then fields and
 * tags, which are not needed because events are known by number.  A record that cannot be parsed
 * only makes its own event type unknown.
 */
gcd_status nt_meta_record(struct gcd_nt *nt, struct gcd_cur *c, struct gcd_error *err)
{
    struct description d = { .off = gcd_cur_off(c) };
    size_t provider_units, name_units;
    d.meta_id = gcd_cur_u32(c);
    const uint8_t *provider = gcd_cur_utf16z(c, &provider_units);
    d.event_id = gcd_cur_u32(c);
    (void)gcd_cur_utf16z(c, &name_units);
    d.keywords = gcd_cur_u64(c);
    d.version = gcd_cur_u32(c);
    if (c->err != GCD_OK)
        return GCD_OK;
    char *utf8 = text_buffer(nt, 3 * provider_units);
    if (utf8 == NULL)
        return gcd_fail_nomem(err, "reading event descriptions");
    d.provider = utf8;
    d.provider_bytes = gcd_utf16le_to_utf8(provider, provider_units, utf8);
    return store(nt, &d, err);
}

/* Format 6, the optional part of a record: sets the version and the keywords, both 0 by default. */
static void optional_v6(struct gcd_cur *c, struct description *d)
{
    bool has_version = false; /* the first one counts */
    uint8_t version;
    while (c->err == GCD_OK && gcd_cur_left(c) > 0)
        switch (gcd_cur_u8(c)) {
        case 1: /* operation code */
        case 8: /* level */
            gcd_cur_skip(c, 1);
            break;
        case 3:
            d->keywords = gcd_cur_u64(c);
            break;
        case 4: /* message template */
        case 5: /* description */
            gcd_cur_skip(c, gcd_cur_varuint32(c));
            break;
        case 6: /* key and value */
            gcd_cur_skip(c, gcd_cur_varuint32(c));
            gcd_cur_skip(c, gcd_cur_varuint32(c));
            break;
        case 7: /* provider GUID */
            gcd_cur_skip(c, 16);
            break;
        case 9:
            version = gcd_cur_u8(c);
            d->version = has_version ? d->version : version;
            has_version = true;
            break;
        default:
            return; /* its size is unknown, so the rest cannot be read */
        }
}

gcd_status nt_meta_block_v6(struct gcd_nt *nt, struct gcd_cur *c, struct gcd_error *err)
{
    gcd_cur_skip(c, gcd_cur_u16(c)); /* header; here its size does not include itself */
    while (c->err == GCD_OK && gcd_cur_left(c) > 0) {
        struct gcd_cur row = gcd_cur_sub(c, gcd_cur_u16(c));
        struct description d = { .off = gcd_cur_off(&row) };
        d.meta_id = gcd_cur_varuint32(&row);
        size_t provider_bytes = gcd_cur_varuint32(&row);
        const uint8_t *provider = gcd_cur_bytes(&row, provider_bytes);
        d.event_id = gcd_cur_varuint32(&row);
        gcd_cur_skip(&row, gcd_cur_varuint32(&row)); /* event name */
        uint16_t fields = gcd_cur_u16(&row);
        for (uint16_t i = 0; i < fields; i++)
            gcd_cur_skip(&row, gcd_cur_u16(&row));
        struct gcd_cur optional = gcd_cur_sub(&row, gcd_cur_u16(&row));
        if (row.err != GCD_OK)
            continue;
        char *utf8 = text_buffer(nt, 3 * provider_bytes);
        if (utf8 == NULL)
            return gcd_fail_nomem(err, "reading event descriptions");
        optional_v6(&optional, &d);
        d.provider = utf8;
        d.provider_bytes = gcd_utf8_sanitize(provider, provider_bytes, utf8);
        GCD_TRY(store(nt, &d, err));
    }
    return c->err == GCD_OK || nt->block_cut ? GCD_OK : nt_cur_error(c, "a metadata block", err);
}

gcd_status nt_threads_v6(struct gcd_nt *nt, struct gcd_cur *c, struct gcd_error *err)
{
    while (c->err == GCD_OK && gcd_cur_left(c) > 0) {
        struct gcd_cur row = gcd_cur_sub(c, gcd_cur_u16(c));
        struct nt_thread_name t = { .process = 0 };
        uint64_t index = gcd_cur_varuint64(&row);
        bool known = true;
        while (known && row.err == GCD_OK && gcd_cur_left(&row) > 0)
            switch (gcd_cur_u8(&row)) {
            case 1: /* name */
                gcd_cur_skip(&row, gcd_cur_varuint32(&row));
                break;
            case 2:
                t.process = gcd_cur_varuint64(&row);
                break;
            case 3:
                t.os_thread = gcd_cur_varuint64(&row);
                break;
            case 4: /* key and value */
                gcd_cur_skip(&row, gcd_cur_varuint32(&row));
                gcd_cur_skip(&row, gcd_cur_varuint32(&row));
                break;
            default:
                known = false;
            }
        if (c->err != GCD_OK)
            break;
        uint32_t i = gcd_idmap_get(&nt->thread_by_index, index);
        if (i == GCD_IDMAP_NONE) {
            if (nt->thread_name_count >= nt->limits.threads)
                return gcd_fail_at(err, GCD_E_LIMIT, gcd_cur_off(c), "more than %zu threads",
                                   nt->thread_name_count);
            i = (uint32_t)nt->thread_name_count;
            if (!gcd_vec_reserve(&nt->alloc, &nt->thread_names, &nt->thread_name_cap, i + (size_t)1,
                                 sizeof *nt->thread_names, GCD_IDMAP_NONE) ||
                !gcd_idmap_put(&nt->thread_by_index, index, i))
                return gcd_fail_nomem(err, "reading thread names");
            nt->thread_name_count++;
        } else {
            const struct nt_thread_name *old = &nt->thread_names[i];
            nt->seq.irregular +=
                !old->ended && (old->process != t.process || old->os_thread != t.os_thread);
        }
        nt->thread_names[i] = t;
    }
    return c->err == GCD_OK ? GCD_OK : nt_cur_error(c, "a thread block", err);
}

gcd_status nt_remove_threads_v6(struct gcd_nt *nt, struct gcd_cur *c, struct gcd_error *err)
{
    while (c->err == GCD_OK && gcd_cur_left(c) > 0) {
        uint64_t index = gcd_cur_varuint64(c);
        uint32_t number = gcd_cur_varuint32(c);
        if (c->err != GCD_OK)
            break;
        if (!nt_seq_point(&nt->seq, &nt->alloc, index, number))
            return gcd_fail_nomem(err, "counting events");
        nt_seq_forget_thread(&nt->seq, index);
        uint32_t i = gcd_idmap_get(&nt->thread_by_index, index);
        if (i != GCD_IDMAP_NONE)
            nt->thread_names[i].ended = true;
    }
    return c->err == GCD_OK ? GCD_OK : nt_cur_error(c, "a block of ended threads", err);
}

/* Skips the value of a label; false when its kind, and so its size, is unknown. */
static bool skip_label(struct gcd_cur *c, unsigned kind)
{
    switch (kind) {
    case 1:
    case 2:
    case 3: /* activity, related activity, trace id */
        gcd_cur_skip(c, 16);
        return true;
    case 4:
    case 8: /* span id, keywords */
        gcd_cur_skip(c, 8);
        return true;
    case 5: /* two strings */
        gcd_cur_skip(c, gcd_cur_varuint32(c));
        gcd_cur_skip(c, gcd_cur_varuint32(c));
        return true;
    case 6: /* string and number */
        gcd_cur_skip(c, gcd_cur_varuint32(c));
        (void)gcd_cur_varuint64(c);
        return true;
    case 7:
    case 9: /* operation code, level */
        gcd_cur_skip(c, 1);
        return true;
    default:
        return false;
    }
}

/* Lists without a version are stored, too: an event with an unknown list has lost it. */
static gcd_status put_label_list(struct gcd_nt *nt, uint32_t list, uint32_t version, uint64_t off,
                                 struct gcd_error *err)
{
    bool full = nt->label_version.used >= nt->limits.metadata;
    if (full && version != NT_NO_VERSION)
        return gcd_fail_at(err, GCD_E_LIMIT, off, "more than %zu label lists",
                           nt->label_version.used);
    nt->label_overflow = nt->label_overflow || full;
    return full || gcd_idmap_put(&nt->label_version, list, version)
               ? GCD_OK
               : gcd_fail_nomem(err, "reading labels");
}

/* Labels can prescribe the version of an event; a heap walk needs nothing else from them. */
gcd_status nt_labels_v6(struct gcd_nt *nt, struct gcd_cur *c, struct gcd_error *err)
{
    uint32_t index = gcd_cur_u32(c);
    uint32_t count = gcd_cur_u32(c);
    for (uint32_t i = 0; i < count && c->err == GCD_OK; i++) {
        uint8_t kind;
        uint32_t version = NT_NO_VERSION;
        do {
            kind = gcd_cur_u8(c);
            if ((kind & 0x7f) == 10)
                version = gcd_cur_u8(c);
            else if (c->err == GCD_OK && !skip_label(c, kind & 0x7f))
                return GCD_OK; /* the rest of the block cannot be read */
        } while (c->err == GCD_OK && (kind & 0x80) == 0);
        if (c->err == GCD_OK)
            GCD_TRY(put_label_list(nt, index + i, version, gcd_cur_off(c), err));
    }
    return c->err == GCD_OK ? GCD_OK : nt_cur_error(c, "a label block", err);
}
