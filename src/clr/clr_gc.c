#include "clr/clr_gc.h"

#include <string.h>

#define KEYWORD_GC     UINT64_C(0x1)
#define KEYWORD_LOADER UINT64_C(0x8)
/* Loader and PerfTrack */
#define KEYWORD_MODULES   UINT64_C(0x20000008)
#define KEYWORD_TYPE      UINT64_C(0x80000)
#define KEYWORD_HEAP_DUMP UINT64_C(0x100000)
#define KEYWORD_SURVIVAL  UINT64_C(0x400000)

/* The keyword that an event of the runtime has in every version (ClrEtwAll.man); 0 = not listed. */
static uint64_t keyword_of(uint32_t id)
{
    switch (id) {
    case GCD_EV_GC_START:
    case GCD_EV_GC_END:
    case GCD_EV_RESTART_EE_END:
    case GCD_EV_SUSPEND_EE_BEGIN:
    case GCD_EV_GLOBAL_HEAP_HISTORY:
        return KEYWORD_GC;
    case GCD_EV_BULK_TYPE:
        return KEYWORD_TYPE;
    case GCD_EV_BULK_ROOT_EDGE:
    case GCD_EV_BULK_DEPENDENT:
    case GCD_EV_BULK_NODE:
    case GCD_EV_BULK_EDGE:
    case GCD_EV_BULK_ROOT_CCW:
    case GCD_EV_BULK_RCW:
    case GCD_EV_BULK_ROOT_STATIC_VAR:
        return KEYWORD_HEAP_DUMP;
    case GCD_EV_GENERATION_RANGE:
        return KEYWORD_SURVIVAL;
    case GCD_EV_MODULE_LOAD:
    case GCD_EV_MODULE_UNLOAD:
    case GCD_EV_ASSEMBLY_LOAD:
    case GCD_EV_ASSEMBLY_UNLOAD:
        return KEYWORD_LOADER;
    default:
        return 0;
    }
}

/*
 * The fields of the rundown's events by version (ClrEtwAll.man): a digit for the bytes of a number,
 * s for text.  A later version begins like the last one.
 */
static const struct rundown_layout {
    uint32_t start, end; /* ids: of the rundown at the start, and at the end */
    const char *fields[3];
} rundown_layouts[] = {
    { 141, 142, { "888444", "8884442", "88844428" } },
    { 143, 144, { "888444sss", "888444sss2", "888444sss28" } },
    { GCD_RD_START_COMPLETE, GCD_RD_END_COMPLETE, { "", "2", NULL } },
    { GCD_RD_START_BEGIN, GCD_RD_END_BEGIN, { "", "2", NULL } },
    { GCD_RD_DOMAIN_MODULE_START, GCD_RD_DOMAIN_MODULE_END, { "88844ss", "88844ss2", NULL } },
    { GCD_RD_MODULE_START, GCD_RD_MODULE_END, { "8844ss", "8844ss2", "8844ss2884s884s" } },
    { GCD_RD_ASSEMBLY_START, GCD_RD_ASSEMBLY_END, { "884s", "8884s2", NULL } },
    { 157, GCD_RD_DOMAIN_END, { "84s", "84s42", NULL } },
    { GCD_RD_RUNTIME_INFO, 188, { "222222222241s88s", NULL, NULL } },
};

static bool has_fields(const struct gcd_event *ev, const char *fields)
{
    struct gcd_cur c = gcd_clr_payload(ev);
    size_t units;
    for (; *fields != '\0'; fields++)
        if (*fields == 's')
            (void)gcd_cur_utf16z(&c, &units);
        else
            gcd_cur_skip(&c, (size_t)(*fields - '0'));
    return c.err == GCD_OK && gcd_cur_left(&c) == 0;
}

/* Any version will do: containers of other tools may lack them. */
static bool is_laid_out(const struct gcd_event *ev)
{
    for (size_t i = 0; i < sizeof rundown_layouts / sizeof *rundown_layouts; i++) {
        const struct rundown_layout *l = &rundown_layouts[i];
        if (ev->id != l->start && ev->id != l->end)
            continue;
        unsigned v = 0;
        bool fits = false;
        for (; v < 3 && l->fields[v] != NULL; v++)
            fits = fits || has_fields(ev, l->fields[v]);
        return fits || ev->version >= v;
    }
    return true;
}

bool gcd_clr_description_fits(const struct gcd_event *ev)
{
    if (ev->provider == GCD_PROVIDER_RUNDOWN && !is_laid_out(ev))
        return false;
    if (ev->provider == GCD_PROVIDER_RUNDOWN && ev->keywords != 0) {
        bool of_module = ev->id == GCD_RD_MODULE_START || ev->id == GCD_RD_MODULE_END;
        bool of_loader = ev->id == GCD_RD_DOMAIN_MODULE_START ||
                         ev->id == GCD_RD_DOMAIN_MODULE_END || ev->id == GCD_RD_ASSEMBLY_START ||
                         ev->id == GCD_RD_ASSEMBLY_END || ev->id == GCD_RD_DOMAIN_END;
        return of_module == (ev->keywords == KEYWORD_MODULES) &&
               of_loader == (ev->keywords == KEYWORD_LOADER);
    }
    if (ev->provider != GCD_PROVIDER_RUNTIME || ev->keywords == 0)
        return true;
    uint64_t keyword = keyword_of(ev->id);
    if (keyword != 0)
        return (ev->keywords & keyword) != 0;
    bool survives = ev->id == GCD_EV_SURVIVING_RANGES || ev->id == GCD_EV_MOVED_RANGES;
    return ev->keywords != KEYWORD_HEAP_DUMP && (survives || ev->keywords != KEYWORD_SURVIVAL);
}

gcd_status gcd_clr_gc_start(const struct gcd_event *ev, struct gcd_clr_gc_start *ret)
{
    struct gcd_cur c = gcd_clr_payload(ev);
    struct gcd_clr_gc_start s = { .number = gcd_cur_u32(&c) };
    /* V0, detected by size: containers of other tools may lack versions */
    if (ev->payload_bytes < 16) {
        s.reason = gcd_cur_u32(&c);
        /* V0 has no depth: the reason alone decides */
        s.depth = s.reason == GCD_GC_REASON_INDUCED ? 2 : 0;
    } else {
        s.depth = gcd_cur_u32(&c);
        s.reason = gcd_cur_u32(&c);
        s.type = gcd_cur_u32(&c);
    }
    if (c.err == GCD_OK)
        *ret = s;
    return c.err;
}

gcd_status gcd_clr_gc_end(const struct gcd_event *ev, uint32_t *ret_number)
{
    struct gcd_cur c = gcd_clr_payload(ev);
    uint32_t n = gcd_cur_u32(&c);
    if (c.err == GCD_OK)
        *ret_number = n;
    return c.err;
}

/*
 * Version 0 ends after its last record.  Further bytes mean that the record count is damaged or
 * something was inserted.  Only later versions may be longer.
 */
static void check_end(const struct gcd_event *ev, struct gcd_cur *c)
{
    if (ev->version == 0 && gcd_cur_left(c) > 0)
        gcd_cur_fail(c, GCD_E_FORMAT);
}

/* {index u32 (when INDEXED), count u32, CLR instance u16} and COUNT records. */
static gcd_status bulk(const struct gcd_event *ev, bool indexed, size_t item_bytes,
                       struct gcd_clr_bulk *ret)
{
    struct gcd_cur c = gcd_clr_payload(ev);
    struct gcd_clr_bulk b = { .item_bytes = item_bytes };
    b.index = indexed ? gcd_cur_u32(&c) : 0;
    b.count = gcd_cur_u32(&c);
    gcd_cur_skip(&c, 2);
    b.items = gcd_cur_array(&c, b.count, item_bytes);
    check_end(ev, &c);
    if (c.err == GCD_OK)
        *ret = b;
    return c.err;
}

gcd_status gcd_clr_bulk_node(const struct gcd_event *ev, struct gcd_clr_bulk *ret)
{
    return bulk(ev, true, ev->ptr_bytes + 24, ret);
}

gcd_status gcd_clr_bulk_edge(const struct gcd_event *ev, struct gcd_clr_bulk *ret)
{
    return bulk(ev, true, ev->ptr_bytes + 4, ret);
}

gcd_status gcd_clr_bulk_root(const struct gcd_event *ev, struct gcd_clr_bulk *ret)
{
    return bulk(ev, true, 2 * ev->ptr_bytes + 5, ret);
}

struct gcd_clr_root gcd_clr_root_at(const struct gcd_clr_bulk *b, uint32_t i)
{
    const uint8_t *p = b->items + i * b->item_bytes;
    unsigned ptr = (unsigned)(b->item_bytes - 5) / 2;
    return (struct gcd_clr_root){ .object = gcd_leptr(p, ptr),
                                  .kind = p[ptr],
                                  .flags = gcd_le32(p + ptr + 1),
                                  .id = gcd_leptr(p + ptr + 5, ptr) };
}

gcd_status gcd_clr_bulk_dependent(const struct gcd_event *ev, struct gcd_clr_bulk *ret)
{
    return bulk(ev, true, 3 * ev->ptr_bytes, ret);
}

struct gcd_clr_dependent gcd_clr_dependent_at(const struct gcd_clr_bulk *b, uint32_t i)
{
    const uint8_t *p = b->items + i * b->item_bytes;
    unsigned ptr = (unsigned)b->item_bytes / 3;
    return (struct gcd_clr_dependent){ .key = gcd_leptr(p, ptr),
                                       .value = gcd_leptr(p + ptr, ptr),
                                       .id = gcd_leptr(p + 2 * ptr, ptr) };
}

gcd_status gcd_clr_bulk_ccw(const struct gcd_event *ev, struct gcd_clr_bulk *ret)
{
    return bulk(ev, false, 44, ret);
}

struct gcd_clr_ccw gcd_clr_ccw_at(const struct gcd_clr_bulk *b, uint32_t i)
{
    const uint8_t *p = b->items + i * b->item_bytes;
    return (struct gcd_clr_ccw){ .id = gcd_le64(p),
                                 .object = gcd_le64(p + 8),
                                 .type = gcd_le64(p + 16) };
}

gcd_status gcd_clr_bulk_rcw(const struct gcd_event *ev, struct gcd_clr_bulk *ret)
{
    return bulk(ev, false, 40, ret);
}

/* Records read one by one: returns their start, unless bytes follow the last one.  The reader of
 * the records detects a shortage. */
static gcd_status varying(const struct gcd_event *ev, const struct gcd_cur *c, uint32_t count,
                          bool (*next)(struct gcd_cur *items), struct gcd_cur *ret_items,
                          uint32_t *ret_count)
{
    struct gcd_cur ahead = *c;
    for (uint32_t i = 0; i < count && next(&ahead); i++)
        continue;
    if (ahead.err == GCD_OK)
        check_end(ev, &ahead);
    else
        ahead.err = c->err;
    if (ahead.err == GCD_OK) {
        *ret_items = *c;
        *ret_count = count;
    }
    return ahead.err;
}

static bool skip_static(struct gcd_cur *items)
{
    struct gcd_clr_static s;
    return gcd_clr_next_static(items, &s);
}

static bool skip_type(struct gcd_cur *items)
{
    struct gcd_clr_type t;
    return gcd_clr_next_type(items, &t);
}

gcd_status gcd_clr_bulk_static(const struct gcd_event *ev, struct gcd_cur *ret_items,
                               uint32_t *ret_count)
{
    struct gcd_cur c = gcd_clr_payload(ev);
    uint32_t count = gcd_cur_u32(&c);
    gcd_cur_skip(&c, 10); /* application domain u64, CLR instance u16 */
    return varying(ev, &c, count, skip_static, ret_items, ret_count);
}

bool gcd_clr_next_static(struct gcd_cur *items, struct gcd_clr_static *ret)
{
    ret->id = gcd_cur_u64(items);
    ret->object = gcd_cur_u64(items);
    ret->type = gcd_cur_u64(items);
    ret->flags = gcd_cur_u32(items);
    ret->name = gcd_cur_utf16z(items, &ret->name_units);
    return items->err == GCD_OK;
}

gcd_status gcd_clr_bulk_type(const struct gcd_event *ev, struct gcd_cur *ret_items,
                             uint32_t *ret_count)
{
    struct gcd_cur c = gcd_clr_payload(ev);
    uint32_t count = gcd_cur_u32(&c);
    gcd_cur_skip(&c, 2);
    return varying(ev, &c, count, skip_type, ret_items, ret_count);
}

bool gcd_clr_next_type(struct gcd_cur *items, struct gcd_clr_type *ret)
{
    ret->id = gcd_cur_u64(items);
    ret->module = gcd_cur_u64(items);
    ret->name_token = gcd_cur_u32(items);
    ret->flags = gcd_cur_u32(items);
    ret->element_type = gcd_cur_u8(items);
    ret->name = gcd_cur_utf16z(items, &ret->name_units);
    ret->parameter_count = gcd_cur_u32(items);
    ret->parameters = gcd_cur_array(items, ret->parameter_count, 8);
    return items->err == GCD_OK;
}

gcd_status gcd_clr_range(const struct gcd_event *ev, struct gcd_clr_range *ret)
{
    struct gcd_cur c = gcd_clr_payload(ev);
    struct gcd_clr_range r = { .generation = gcd_cur_u8(&c) };
    r.start = gcd_cur_ptr(&c, ev->ptr_bytes);
    r.used_bytes = gcd_cur_u64(&c);
    r.reserved_bytes = gcd_cur_u64(&c);
    if (c.err == GCD_OK)
        *ret = r;
    return c.err;
}

gcd_status gcd_clr_heap_count(const struct gcd_event *ev, uint32_t *ret_heaps)
{
    struct gcd_cur c = gcd_clr_payload(ev);
    gcd_cur_skip(&c, 8); /* final youngest desired u64 */
    uint32_t n = gcd_cur_u32(&c);
    if (c.err == GCD_OK)
        *ret_heaps = n;
    return c.err;
}

gcd_status gcd_clr_module(const struct gcd_event *ev, struct gcd_clr_module *ret)
{
    struct gcd_cur c = gcd_clr_payload(ev);
    struct gcd_clr_module m = { .id = gcd_cur_u64(&c) };
    m.assembly = gcd_cur_u64(&c);
    m.flags = gcd_cur_u32(&c);
    gcd_cur_skip(&c, 4);
    m.path = gcd_cur_utf16z(&c, &m.path_units);
    gcd_status st = c.err;
    if (st == GCD_OK && ev->version >= 2) {
        size_t units;
        (void)gcd_cur_utf16z(&c, &units);
        gcd_cur_skip(&c, 2);
        const uint8_t *guid = gcd_cur_bytes(&c, sizeof m.pdb_guid);
        uint32_t age = gcd_cur_u32(&c);
        if (c.err == GCD_OK) { /* a short one is as good as an old one */
            memcpy(m.pdb_guid, guid, sizeof m.pdb_guid);
            m.pdb_age = age;
            m.pdb_path = gcd_cur_utf16z(&c, &units);
            m.pdb_path_units = c.err == GCD_OK ? units : 0;
        }
    }
    if (st == GCD_OK)
        *ret = m;
    return st;
}

gcd_status gcd_clr_assembly(const struct gcd_event *ev, struct gcd_clr_assembly *ret)
{
    struct gcd_cur c = gcd_clr_payload(ev);
    struct gcd_clr_assembly a = { .id = gcd_cur_u64(&c) };
    gcd_cur_skip(&c, 20); /* application domain u64, binding u64, flags u32 */
    a.name = gcd_cur_utf16z(&c, &a.name_units);
    if (c.err == GCD_OK)
        *ret = a;
    return c.err;
}

gcd_status gcd_clr_runtime(const struct gcd_event *ev, struct gcd_clr_runtime *ret)
{
    struct gcd_cur c = gcd_clr_payload(ev);
    struct gcd_clr_runtime r = { .sku = 0 };
    gcd_cur_skip(&c, 2);
    r.sku = gcd_cur_u16(&c);
    for (size_t i = 0; i < 4; i++)
        r.version[i] = gcd_cur_u16(&c);
    gcd_cur_skip(&c, 13); /* VM file version, start-up flags u32, mode u8 */
    if (c.err != GCD_OK)
        return c.err;
    r.command_line = gcd_cur_utf16z(&c, &r.command_line_units);
    *ret = r;
    return GCD_OK;
}

gcd_status gcd_clr_process(const struct gcd_event *ev, struct gcd_clr_process *ret)
{
    struct gcd_cur c = gcd_clr_payload(ev);
    memset(ret, 0, sizeof *ret);
    ret->text[0] = gcd_cur_utf16z(&c, &ret->units[0]);
    gcd_status st = c.err;
    for (size_t i = 1; i < 3; i++)
        ret->text[i] = gcd_cur_utf16z(&c, &ret->units[i]);
    return st;
}
