#include "recorded/recorded_names.h"

#include <string.h>

#include "base/cur.h"
#include "base/error.h"
#include "base/text.h"

#define TOKEN_DIGITS 16u
#define GC_UNKNOWN   UINT64_MAX

/* ---- what the events look like ---- */

static const struct gcd_new_field start_fields[] = {
    { GCD_FIELD_UINT32, "GCNumber" },        { GCD_FIELD_UINT32, "WalkNumber" },
    { GCD_FIELD_UINT32, "Modules" },         { GCD_FIELD_UINT32, "NestedTypes" },
    { GCD_FIELD_UINT32, "StaticVariables" }, { GCD_FIELD_UINT32, "Layouts" },
    { GCD_FIELD_UINT32, "Threads" },
};
static const struct gcd_new_field module_fields[] = {
    { GCD_FIELD_UINT64, "ModuleID" },   { GCD_FIELD_GUID, "Mvid" },
    { GCD_FIELD_TEXT, "AssemblyName" }, { GCD_FIELD_TEXT, "PublicKeyToken" },
    { GCD_FIELD_TEXT, "ModulePath" },   { GCD_FIELD_TEXT, "BuildID" },
};
static const struct gcd_new_field type_fields[] = {
    { GCD_FIELD_UINT64, "TypeID" },
    { GCD_FIELD_TEXT, "DeclaringType" },
    { GCD_FIELD_TEXT, "Events" },
    { GCD_FIELD_TEXT, "Name" },
};
static const struct gcd_new_field static_fields[] = {
    { GCD_FIELD_UINT64, "Address" },
    { GCD_FIELD_TEXT, "Field" },
    { GCD_FIELD_TEXT, "DeclaringType" },
    { GCD_FIELD_TEXT, "Label" },
};

static const struct gcd_new_field memory_fields[] = {
    { GCD_FIELD_UINT32, "GCNumber" },         { GCD_FIELD_UINT32, "WalkNumber" },
    { GCD_FIELD_UINT64, "UnixMilliseconds" }, { GCD_FIELD_UINT64, "ResidentBytes" },
    { GCD_FIELD_UINT64, "AnonymousBytes" },   { GCD_FIELD_UINT64, "FileBytes" },
    { GCD_FIELD_UINT64, "SharedBytes" },      { GCD_FIELD_UINT64, "SwappedBytes" },
    { GCD_FIELD_UINT64, "GCBytes" },          { GCD_FIELD_UINT64, "CGroupLimitBytes" },
    { GCD_FIELD_UINT64, "CGroupUsedBytes" },
};

static const struct gcd_new_field image_fields[] = {
    { GCD_FIELD_UINT32, "GCNumber" }, { GCD_FIELD_UINT32, "WalkNumber" },
    { GCD_FIELD_UINT32, "Flags" },    { GCD_FIELD_TEXT, "MadeFrom" },
    { GCD_FIELD_TEXT, "EndedBy" },    { GCD_FIELD_TEXT, "Gaps" },
    { GCD_FIELD_TEXT, "Blocked" },
};

static const struct gcd_new_field layout_fields[] = {
    { GCD_FIELD_UINT64, "TypeID" },
    { GCD_FIELD_TEXT, "Layout" },
    { GCD_FIELD_UINT64, "Check" },
};

static const struct gcd_new_field values_fields[] = {
    { GCD_FIELD_UINT32, "GCNumber" },    { GCD_FIELD_UINT32, "WalkNumber" },
    { GCD_FIELD_UINT32, "Kind" },        { GCD_FIELD_UINT32, "MaxString" },
    { GCD_FIELD_UINT64, "BeginOffset" },
};
/* Behind them are the records. */
static const struct gcd_new_field values_part_fields[] = {
    { GCD_FIELD_UINT32, "Number" },
    { GCD_FIELD_UINT32, "PlainBytes" },
    { GCD_FIELD_UINT64, "Check" },
};
static const struct gcd_new_field values_end_fields[] = {
    { GCD_FIELD_UINT32, "Parts" },     { GCD_FIELD_UINT64, "Objects" },
    { GCD_FIELD_UINT64, "Collected" }, { GCD_FIELD_UINT64, "Changed" },
    { GCD_FIELD_UINT64, "Unread" },    { GCD_FIELD_UINT64, "AfterMilliseconds" },
    { GCD_FIELD_UINT64, "Numbers" },
};
static const struct gcd_new_field sites_fields[] = {
    { GCD_FIELD_UINT32, "GCNumber" },    { GCD_FIELD_UINT32, "WalkNumber" },
    { GCD_FIELD_UINT32, "Source" },      { GCD_FIELD_UINT32, "Flags" },
    { GCD_FIELD_UINT64, "BeginUnixMs" }, { GCD_FIELD_UINT64, "WindowMs" },
    { GCD_FIELD_UINT64, "SettleMs" },    { GCD_FIELD_UINT64, "LostEvents" },
    { GCD_FIELD_UINT64, "Collections" }, { GCD_FIELD_UINT32, "Frames" },
    { GCD_FIELD_UINT32, "Stacks" },      { GCD_FIELD_UINT32, "Totals" },
    { GCD_FIELD_UINT32, "Samples" },     { GCD_FIELD_UINT64, "Check" },
};
static const struct gcd_new_field site_frame_fields[] = {
    { GCD_FIELD_UINT32, "Line" },
    { GCD_FIELD_TEXT, "Method" },
    { GCD_FIELD_TEXT, "File" },
    { GCD_FIELD_TEXT, "ModulePath" },
};
static const struct gcd_new_field site_stack_fields[] = {
    { GCD_FIELD_UINT32, "Frame" },
    { GCD_FIELD_UINT32, "CallerStack" },
};
static const struct gcd_new_field site_total_fields[] = {
    { GCD_FIELD_UINT32, "Stack" },          { GCD_FIELD_UINT64, "TypeID" },
    { GCD_FIELD_UINT64, "Samples" },        { GCD_FIELD_UINT64, "Dead" },
    { GCD_FIELD_UINT64, "Lost" },           { GCD_FIELD_DOUBLE, "AllocatedObjects" },
    { GCD_FIELD_DOUBLE, "AllocatedBytes" }, { GCD_FIELD_TEXT, "TypeName" },
};
static const struct gcd_new_field site_sample_fields[] = {
    { GCD_FIELD_UINT32, "Total" },      { GCD_FIELD_UINT64, "Address" },
    { GCD_FIELD_UINT64, "ObjectSize" }, { GCD_FIELD_DOUBLE, "Bytes" },
    { GCD_FIELD_UINT64, "AgeMs" },
};

static const struct gcd_new_field thread_fields[] = {
    { GCD_FIELD_UINT64, "Address" },
    { GCD_FIELD_TEXT, "Name" },
    { GCD_FIELD_TEXT, "Label" },
};

static const struct gcd_new_field null_maps_fields[] = {
    { GCD_FIELD_UINT32, "GCNumber" },
    { GCD_FIELD_UINT32, "WalkNumber" },
};
static const struct gcd_new_field null_maps_end_fields[] = {
    { GCD_FIELD_UINT32, "Parts" },     { GCD_FIELD_UINT64, "Objects" },
    { GCD_FIELD_UINT64, "Collected" }, { GCD_FIELD_UINT64, "Changed" },
    { GCD_FIELD_UINT64, "Unread" },    { GCD_FIELD_UINT64, "AfterMilliseconds" },
};

#define EVENT_OF(v, number, text, list)                                   \
    {                                                                     \
        .id = (number), .version = (v), .name = (text), .fields = (list), \
        .field_count = sizeof(list) / sizeof *(list)                      \
    }
#define EVENT(number, text, list) EVENT_OF(1, number, text, list)

static const struct gcd_new_event events[] = {
    EVENT_OF(3, RECORDED_START, "Names", start_fields),
    EVENT_OF(2, RECORDED_MODULE, "Module", module_fields),
    EVENT_OF(3, RECORDED_TYPE, "NestedType", type_fields),
    EVENT(RECORDED_STATIC, "StaticVariable", static_fields),
    EVENT(RECORDED_MEMORY, "ProcessMemory", memory_fields),
    EVENT_OF(2, RECORDED_IMAGE, "MemoryImage", image_fields),
    EVENT(RECORDED_LAYOUT, "Layout", layout_fields),
    EVENT(RECORDED_VALUES, "Values", values_fields),
    EVENT(RECORDED_VALUES_PART, "ValuesPart", values_part_fields),
    EVENT_OF(2, RECORDED_VALUES_END, "ValuesEnd", values_end_fields),
    EVENT(RECORDED_SITES, "Sites", sites_fields),
    EVENT(RECORDED_SITE_FRAME, "SiteFrame", site_frame_fields),
    EVENT(RECORDED_SITE_STACK, "SiteStack", site_stack_fields),
    EVENT(RECORDED_SITE_TOTAL, "SiteTotal", site_total_fields),
    EVENT(RECORDED_SITE_SAMPLE, "SiteSample", site_sample_fields),
    EVENT(RECORDED_THREAD, "Thread", thread_fields),
    EVENT(RECORDED_NULL_MAPS, "NullMaps", null_maps_fields),
    EVENT(RECORDED_NULL_MAPS_PART, "NullMapsPart", values_part_fields),
    EVENT(RECORDED_NULL_MAPS_END, "NullMapsEnd", null_maps_end_fields),
};

const struct gcd_new_events recorded_events = { .provider = GCD_PROVIDER_NAMES,
                                                .events = events,
                                                .count = RECORDED_VALUES_END };
const struct gcd_new_events recorded_events_all = { .provider = GCD_PROVIDER_NAMES,
                                                    .events = events,
                                                    .count = sizeof events / sizeof *events };

/* ---- reading ---- */

static struct recorded_text read_text(struct gcd_cur *c)
{
    struct recorded_text t;
    t.p = gcd_cur_utf16z(c, &t.units);
    return t;
}

/* Sixteen hexadecimal digits; anything else is not a token. */
static bool read_token(const struct recorded_text *t, uint8_t ret[8])
{
    for (size_t i = 0; i < TOKEN_DIGITS; i++) {
        unsigned c = t->units == TOKEN_DIGITS ? gcd_le16(t->p + 2 * i) : 0;
        bool number = c >= '0' && c <= '9', letter = c >= 'a' && c <= 'f';
        if (!number && !letter)
            return false;
        unsigned digit = number ? c - '0' : c - 'a' + 10;
        ret[i / 2] = (uint8_t)(i % 2 == 0 ? digit << 4 : ret[i / 2] | digit);
    }
    return true;
}

gcd_status recorded_read_start(const struct gcd_event *ev, struct recorded_start *ret)
{
    struct gcd_cur c = gcd_cur_make(ev->payload, ev->payload_bytes, ev->off);
    struct recorded_start s = { .gc_number = gcd_cur_u32(&c) };
    s.walk_number = gcd_cur_u32(&c);
    for (size_t i = 0; i < RECORDED_KINDS; i++)
        if (i < RECORDED_LAYOUTS ||
            gcd_cur_left(&c) > 0) /* older ones have no layouts or threads */
            s.counts[i] = gcd_cur_u32(&c);
    if (c.err == GCD_OK)
        *ret = s;
    return c.err;
}

/* What a layout is compared with: damage must not make wrong names of fields. */
static uint64_t layout_check(uint64_t type, const uint8_t *text, size_t units)
{
    uint64_t h = gcd_text_hash((const char *)&type, sizeof type, GCD_TEXT_HASH);
    return gcd_text_hash((const char *)text, 2 * units, h);
}

static gcd_status read_layout(struct gcd_cur *c, struct recorded_item *item)
{
    item->text[0] = read_text(c);
    uint64_t check = gcd_cur_u64(c);
    if (c->err == GCD_OK && check != layout_check(item->id, item->text[0].p, item->text[0].units))
        return GCD_E_FORMAT;
    return c->err;
}

gcd_status recorded_read_item(const struct gcd_event *ev, struct recorded_item *ret)
{
    struct gcd_cur c = gcd_cur_make(ev->payload, ev->payload_bytes, ev->off);
    struct recorded_item item = { .id = gcd_cur_u64(&c) };
    if (ev->id == RECORDED_MODULE) {
        const uint8_t *mvid = gcd_cur_bytes(&c, sizeof item.mvid);
        if (mvid != NULL)
            memcpy(item.mvid, mvid, sizeof item.mvid);
        item.text[0] = read_text(&c);
        struct recorded_text token = read_text(&c);
        item.text[1] = read_text(&c);
        if (gcd_cur_left(&c) > 0) /* older ones have no build id */
            item.text[2] = read_text(&c);
        item.has_public_key = c.err == GCD_OK && read_token(&token, item.public_key_token);
    } else if (ev->id == RECORDED_LAYOUT) {
        GCD_TRY(read_layout(&c, &item));
    } else {
        size_t texts = ev->id == RECORDED_THREAD ? 2 : 3;
        for (size_t i = 0; i < texts && (i == 0 || ev->id != RECORDED_TYPE || gcd_cur_left(&c) > 0);
             i++) /* older types have no events and no name */
            item.text[i] = read_text(&c);
    }
    if (c.err == GCD_OK)
        *ret = item;
    return c.err;
}

gcd_status recorded_read_memory(const struct gcd_event *ev, struct recorded_memory *ret)
{
    struct gcd_cur c = gcd_cur_make(ev->payload, ev->payload_bytes, ev->off);
    struct recorded_memory r = { .gc_number = gcd_cur_u32(&c) };
    struct gcd_process_memory *m = &r.memory;
    r.walk_number = gcd_cur_u32(&c);
    uint64_t ms = gcd_cur_u64(&c);
    uint64_t *const sizes[] = { &m->resident_bytes,     &m->anonymous_bytes,  &m->file_bytes,
                                &m->shared_bytes,       &m->swapped_bytes,    &m->gc_bytes,
                                &m->cgroup_limit_bytes, &m->cgroup_used_bytes };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        *sizes[i] = gcd_cur_u64(&c);
    if (c.err != GCD_OK)
        return c.err;
    m->unix_ms = ms <= INT64_MAX ? (int64_t)ms : 0;
    m->gc_known = m->gc_bytes != GC_UNKNOWN;
    m->gc_bytes = m->gc_known ? m->gc_bytes : 0;
    if (m->anonymous_bytes > m->resident_bytes || m->gc_bytes > m->resident_bytes)
        return GCD_E_FORMAT;
    *ret = r;
    return GCD_OK;
}

gcd_status recorded_read_image(const struct gcd_event *ev, struct recorded_image *ret)
{
    struct gcd_cur c = gcd_cur_make(ev->payload, ev->payload_bytes, ev->off);
    struct recorded_image r = { .gc_number = gcd_cur_u32(&c) };
    r.walk_number = gcd_cur_u32(&c);
    r.flags = gcd_cur_u32(&c);
    for (size_t i = 0; i < 4 && (i < 3 || gcd_cur_left(&c) > 0); i++) /* older ones have three */
        r.text[i] = read_text(&c);
    if (c.err == GCD_OK)
        *ret = r;
    return c.err;
}

gcd_status recorded_read_values(const struct gcd_event *ev, struct recorded_values *ret)
{
    struct gcd_cur c = gcd_cur_make(ev->payload, ev->payload_bytes, ev->off);
    struct recorded_values r = { .gc_number = gcd_cur_u32(&c) };
    r.walk_number = gcd_cur_u32(&c);
    r.kind = gcd_cur_u32(&c);
    r.max_string = gcd_cur_u32(&c);
    r.off = gcd_cur_u64(&c);
    if (c.err != GCD_OK)
        return c.err;
    if (r.kind == GCD_VALUES_NONE || r.kind > GCD_VALUES_ALL || r.off >= ev->off)
        return GCD_E_FORMAT;
    *ret = r;
    return GCD_OK;
}

gcd_status recorded_read_values_end(const struct gcd_event *ev, struct recorded_values_end *ret)
{
    struct gcd_cur c = gcd_cur_make(ev->payload, ev->payload_bytes, ev->off);
    struct recorded_values_end r = { .parts = gcd_cur_u32(&c) };
    uint64_t *const numbers[] = { &r.objects, &r.collected, &r.changed, &r.unread, &r.after_ms };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = gcd_cur_u64(&c);
    if (gcd_cur_left(&c) > 0) /* older ones have none */
        r.numbers = gcd_cur_u64(&c);
    if (c.err == GCD_OK)
        *ret = r;
    return c.err;
}

gcd_status recorded_read_null_maps(const struct gcd_event *ev, struct recorded_null_maps *ret)
{
    struct gcd_cur c = gcd_cur_make(ev->payload, ev->payload_bytes, ev->off);
    struct recorded_null_maps r = { .gc_number = gcd_cur_u32(&c) };
    r.walk_number = gcd_cur_u32(&c);
    if (c.err == GCD_OK)
        *ret = r;
    return c.err;
}

gcd_status recorded_read_null_maps_end(const struct gcd_event *ev,
                                       struct recorded_null_maps_end *ret)
{
    struct gcd_cur c = gcd_cur_make(ev->payload, ev->payload_bytes, ev->off);
    struct recorded_null_maps_end r = { .parts = gcd_cur_u32(&c) };
    uint64_t *const numbers[] = { &r.objects, &r.collected, &r.changed, &r.unread, &r.after_ms };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = gcd_cur_u64(&c);
    if (c.err == GCD_OK)
        *ret = r;
    return c.err;
}

/* ---- writing ---- */

/* The payload, or nothing at all. */
static size_t size_of(const struct gcd_put *w)
{
    return w->full ? 0 : gcd_put_bytes_done(w);
}

size_t recorded_put_start(uint8_t *buffer, const struct recorded_start *s)
{
    struct gcd_put w = gcd_put_make(buffer, RECORDED_PAYLOAD_MAX);
    gcd_put_le(&w, s->gc_number, 4);
    gcd_put_le(&w, s->walk_number, 4);
    for (size_t i = 0; i < RECORDED_KINDS; i++)
        gcd_put_le(&w, s->counts[i], 4);
    return size_of(&w);
}

size_t recorded_put_memory(uint8_t *buffer, const struct recorded_memory *r)
{
    struct gcd_put w = gcd_put_make(buffer, RECORDED_PAYLOAD_MAX);
    const struct gcd_process_memory *m = &r->memory;
    const uint64_t values[] = { m->unix_ms > 0 ? (uint64_t)m->unix_ms : 0,
                                m->resident_bytes,
                                m->anonymous_bytes,
                                m->file_bytes,
                                m->shared_bytes,
                                m->swapped_bytes,
                                m->gc_known ? m->gc_bytes : GC_UNKNOWN,
                                m->cgroup_limit_bytes,
                                m->cgroup_used_bytes };
    gcd_put_le(&w, r->gc_number, 4);
    gcd_put_le(&w, r->walk_number, 4);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        gcd_put_le(&w, values[i], 8);
    return size_of(&w);
}

size_t recorded_put_values(uint8_t *buffer, const struct recorded_values *r)
{
    struct gcd_put w = gcd_put_make(buffer, RECORDED_PAYLOAD_MAX);
    gcd_put_le(&w, r->gc_number, 4);
    gcd_put_le(&w, r->walk_number, 4);
    gcd_put_le(&w, r->kind, 4);
    gcd_put_le(&w, r->max_string, 4);
    gcd_put_le(&w, r->off, 8);
    return size_of(&w);
}

size_t recorded_put_values_end(uint8_t *buffer, const struct recorded_values_end *r)
{
    struct gcd_put w = gcd_put_make(buffer, RECORDED_PAYLOAD_MAX);
    const uint64_t numbers[] = { r->objects, r->collected, r->changed,
                                 r->unread,  r->after_ms,  r->numbers };
    gcd_put_le(&w, r->parts, 4);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        gcd_put_le(&w, numbers[i], 8);
    return size_of(&w);
}

size_t recorded_put_null_maps(uint8_t *buffer, const struct recorded_null_maps *m)
{
    struct gcd_put w = gcd_put_make(buffer, RECORDED_PAYLOAD_MAX);
    gcd_put_le(&w, m->gc_number, 4);
    gcd_put_le(&w, m->walk_number, 4);
    return size_of(&w);
}

size_t recorded_put_null_maps_end(uint8_t *buffer, const struct recorded_null_maps_end *m)
{
    struct gcd_put w = gcd_put_make(buffer, RECORDED_PAYLOAD_MAX);
    const uint64_t numbers[] = { m->objects, m->collected, m->changed, m->unread, m->after_ms };
    gcd_put_le(&w, m->parts, 4);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        gcd_put_le(&w, numbers[i], 8);
    return size_of(&w);
}

static void put_text(struct gcd_put *w, const char *s)
{
    gcd_put_utf16z(w, s, strlen(s));
}

/* Only modules whose names are known, or whose build is; the reader looks for the files of all
 * others. */
static size_t put_module(uint8_t *buffer, const struct gcd_module *m)
{
    struct gcd_put w = gcd_put_make(buffer, RECORDED_PAYLOAD_MAX);
    char token[TOKEN_DIGITS + 1] = "";
    bool known = m->state == GCD_MODULE_READ || m->state == GCD_MODULE_RECORDED;
    if (m->id == 0 || (!known && m->build_id == NULL))
        return 0;
    for (size_t i = 0; i < TOKEN_DIGITS && m->has_public_key; i++)
        token[i] = "0123456789abcdef"[m->public_key_token[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15];
    gcd_put_le(&w, m->id, 8);
    gcd_put_bytes(&w, m->mvid, sizeof m->mvid);
    put_text(&w, m->assembly);
    put_text(&w, token);
    put_text(&w, m->path);
    put_text(&w, m->build_id != NULL ? m->build_id : "");
    return size_of(&w);
}

/* The name of a nested type is DECLARING+RAW: without type arguments, which follow the raw name.
 * Other types are included for their events, and those of a native program for their names. */
static size_t put_type(uint8_t *buffer, const struct gcd_type *t)
{
    struct gcd_put w = gcd_put_make(buffer, RECORDED_PAYLOAD_MAX);
    size_t n = strlen(t->name), raw = strlen(t->raw_name);
    bool nested = n > raw + 1 && t->name[n - raw - 1] == '+' &&
                  memcmp(t->name + n - raw, t->raw_name, raw) == 0;
    bool native = (t->flags & GCD_TYPE_NATIVE) != 0 && t->named;
    if (t->id == 0 || (!nested && !native && t->events == NULL))
        return 0;
    gcd_put_le(&w, t->id, 8);
    gcd_put_utf16z(&w, t->name, nested ? n - raw - 1 : 0);
    put_text(&w, t->events != NULL ? t->events : "");
    put_text(&w, native ? t->name : "");
    return size_of(&w);
}

static size_t put_static(uint8_t *buffer, const struct gcd_root *r)
{
    struct gcd_put w = gcd_put_make(buffer, RECORDED_PAYLOAD_MAX);
    if (r->kind != GCD_ROOT_STATIC || r->id == 0 ||
        (r->class_name[0] == '\0' && strcmp(r->label, r->name) == 0))
        return 0;
    gcd_put_le(&w, r->id, 8);
    put_text(&w, r->name);
    put_text(&w, r->class_name);
    put_text(&w, r->label);
    return size_of(&w);
}

static size_t put_layout(uint8_t *buffer, const struct gcd_type *t)
{
    struct gcd_put w = gcd_put_make(buffer, RECORDED_PAYLOAD_MAX);
    if (t->id == 0 || t->layout == NULL)
        return 0;
    gcd_put_le(&w, t->id, 8);
    put_text(&w, t->layout);
    size_t units = (gcd_put_bytes_done(&w) - 8) / 2;
    gcd_put_le(&w, layout_check(t->id, buffer + 8, units > 0 ? units - 1 : 0), 8);
    return size_of(&w);
}

static bool tells_thread(const struct gcd_root *r)
{
    return r->kind == GCD_ROOT_STACK && r->id != 0 && r->label[0] != '\0';
}

/* The first of its roots that follow each other. */
static size_t put_thread(uint8_t *buffer, const struct gcd_summary *s, size_t i)
{
    struct gcd_put w = gcd_put_make(buffer, RECORDED_PAYLOAD_MAX);
    const struct gcd_root *r = &s->roots[i];
    if (!tells_thread(r) || (i > 0 && tells_thread(r - 1) && r[-1].id == r->id))
        return 0;
    gcd_put_le(&w, r->id, 8);
    put_text(&w, r->name);
    put_text(&w, r->label);
    return size_of(&w);
}

static size_t put_item(uint8_t *buffer, const struct gcd_summary *s, enum recorded_kind kind,
                       size_t i)
{
    switch (kind) {
    case RECORDED_MODULES:
        return put_module(buffer, &s->modules[i]);
    case RECORDED_TYPES:
        return put_type(buffer, &s->types[i]);
    case RECORDED_STATICS:
        return put_static(buffer, &s->roots[i]);
    case RECORDED_THREADS:
        return put_thread(buffer, s, i);
    default:
        return put_layout(buffer, &s->types[i]);
    }
}

size_t recorded_put_next(struct recorded_pass *pass, uint8_t *buffer, enum recorded_kind *ret_kind)
{
    const struct gcd_summary *s = pass->summary;
    const size_t counts[RECORDED_KINDS] = { s->module_count, s->type_count, s->root_count,
                                            s->type_count, s->root_count };
    for (; pass->kind < RECORDED_KINDS; pass->kind++, pass->next = 0)
        while (pass->next < counts[pass->kind]) {
            size_t i = pass->next++;
            *ret_kind = pass->kind;
            size_t n = put_item(buffer, s, pass->kind, i);
            if (n > 0)
                return n;
        }
    return 0;
}
