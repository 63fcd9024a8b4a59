/*
 * Events of objects: fields of a delegate type with the name of an event; compilers make one for
 * each event without accessors.
 */
#include <string.h>

#include <gcdumpc/unstable/metadata.h>

#include "base/signature.h"
#include "metadata/meta_impl.h"

#define BASES_MAX  32u   /* classes that a class is derived from */
#define EVENTS_MAX 64u   /* of one class, and */
#define FIELDS_MAX 1024u /* fields that are compared with them */

/* The fields of one class. */
struct holder {
    uint32_t first_event, event_count;
    uint32_t first_field, field_end;
    uint32_t delegates[EVENTS_MAX]; /* types of the events */
    size_t delegate_count;
};

static struct holder holder_of(struct gcd_metadata *m, uint32_t row)
{
    struct holder h = { .field_end = 0 };
    uint32_t map, n = meta_find(&m->t, META_EVENT_MAP, EVENT_MAP_CLASS, row, &map);
    if (n == 0)
        return h;
    h.first_event = meta_cell(&m->t, META_EVENT_MAP, map, EVENT_MAP_EVENTS);
    uint32_t all = m->t.table[META_EVENT].rows + 1;
    uint32_t end = map < m->t.table[META_EVENT_MAP].rows
                       ? meta_cell(&m->t, META_EVENT_MAP, map + 1, EVENT_MAP_EVENTS)
                       : all;
    h.event_count = end > h.first_event && end <= all ? end - h.first_event : 0;
    h.first_field = meta_cell(&m->t, META_TYPE_DEF, row, TYPE_DEF_FIELDS);
    h.field_end = meta_fields_end(m, row);
    if (h.event_count > EVENTS_MAX ||
        (h.field_end > h.first_field && h.field_end - h.first_field > FIELDS_MAX))
        h.event_count = 0;
    return h;
}

/* Has the class an event with the first N bytes of m->field_name as its name? */
static bool has_event(struct gcd_metadata *m, const struct holder *h, size_t n)
{
    for (uint32_t i = 0; i < h->event_count && m->w.st == GCD_OK; i++) {
        const char *event =
            meta_string(&m->t, meta_cell(&m->t, META_EVENT, h->first_event + i, EVENT_NAME));
        if (strlen(event) == n && memcmp(event, m->field_name, n) == 0)
            return true;
    }
    return false;
}

/* That of Visual Basic is "ClosedEvent". */
static const char event_suffix[] = "Event";

/* The length of the name of the event whose field m->field_name is, 0 = of none. */
static size_t event_length(struct gcd_metadata *m, const struct holder *h)
{
    size_t n = strlen(m->field_name), k = sizeof event_suffix - 1;
    if (has_event(m, h, n))
        return n;
    return n > k && strcmp(m->field_name + n - k, event_suffix) == 0 && has_event(m, h, n - k)
               ? n - k
               : 0;
}

/* Is m->field_name the field of one of the events?  "ClosedEvent" becomes "Closed/Event". */
static bool is_event(struct gcd_metadata *m, const struct holder *h)
{
    size_t n = event_length(m, h);
    if (m->field_name[n] == '\0' || n == 0)
        return n > 0;
    m->field_name[n] = '/';
    memcpy(m->field_name + n + 1, event_suffix, sizeof event_suffix);
    return true;
}

size_t meta_event_length(struct gcd_metadata *m, uint32_t class)
{
    struct holder h = holder_of(m, class);
    return event_length(m, &h);
}

/* The class of instance field ROW (for a generic class, its definition), 0 = another type; stores
 * the name in m->field_name. */
static uint32_t class_of(struct gcd_metadata *m, uint32_t row)
{
    struct gcd_cur c;
    uint32_t token = 0;
    if ((meta_cell(&m->t, META_FIELD, row, FIELD_FLAGS) & META_FIELD_STATIC) != 0 ||
        !meta_field_signature(m, row, &c))
        return 0;
    if (meta_element_type(m, &c, &token) != ELEMENT_CLASS || c.err != GCD_OK)
        return 0;
    const char *name = meta_string(&m->t, meta_cell(&m->t, META_FIELD, row, FIELD_NAME));
    memcpy(m->field_name, name, strlen(name) + 1);
    return strpbrk(m->field_name, " ;") == NULL && m->field_name[0] != '\0' ? token : 0;
}

static void put_field(struct gcd_metadata *m, uint32_t class)
{
    meta_put(m, m->field_name);
    meta_put(m, " ");
    (void)meta_reflection_name(m, class);
    meta_put(m, ";");
}

static bool is_delegate(const struct holder *h, uint32_t class)
{
    for (size_t i = 0; i < h->delegate_count; i++)
        if (h->delegates[i] == class)
            return true;
    return false;
}

/* First the events, then other fields of their types. */
static void put_class(struct gcd_metadata *m, uint32_t row)
{
    struct holder h = holder_of(m, row);
    for (unsigned others = 0; others < 2 && h.event_count > 0; others++)
        for (uint32_t field = h.first_field; field < h.field_end && m->w.st == GCD_OK; field++) {
            uint32_t class = class_of(m, field);
            bool event = class != 0 && is_event(m, &h);
            if (class == 0 || event == (others == 1) || (others == 1 && !is_delegate(&h, class)))
                continue;
            put_field(m, class);
            if (event && h.delegate_count < EVENTS_MAX)
                h.delegates[h.delegate_count++] = class;
        }
}

uint32_t meta_base(struct gcd_metadata *m, uint32_t row, bool *ret_elsewhere)
{
    uint32_t token = meta_type_token(&m->t, meta_cell(&m->t, META_TYPE_DEF, row, TYPE_DEF_EXTENDS)),
             at = token & 0xffffff;
    if (token >> 24 == META_TYPE_SPEC) {
        size_t n;
        const uint8_t *p =
            meta_blob(&m->t, meta_cell(&m->t, META_TYPE_SPEC, at, TYPE_SPEC_SIGNATURE), &n);
        struct gcd_cur c = gcd_cur_make(p, n, 0);
        (void)meta_element_type(m, &c, &token);
        at = c.err == GCD_OK ? token & 0xffffff : 0;
    }
    *ret_elsewhere = false;
    if (token == 0 || at == 0 || token >> 24 == META_TYPE_DEF)
        return at;
    *ret_elsewhere = !meta_is_type(m, META_TYPE_REF, at, "System", "Object");
    return 0;
}

gcd_status gcd_metadata_events(struct gcd_metadata *m, uint32_t token, const char **ret,
                               struct gcd_error *err)
{
    uint32_t row = token & 0xffffff;
    bool elsewhere = false;
    meta_begin(m);
    if (token >> 24 != META_TYPE_DEF || row == 0 || row > m->t.table[META_TYPE_DEF].rows)
        meta_fail(&m->w, GCD_E_ARG, GCD_OFF_NONE, "the module has no such type");
    for (unsigned i = 0; i < BASES_MAX && row != 0 && m->w.st == GCD_OK; i++) {
        put_class(m, row);
        row = meta_base(m, row, &elsewhere);
    }
    if ((elsewhere || row != 0) && m->text_n > 0)
        meta_put(m, "?");
    meta_put(m, "");
    if (m->w.st == GCD_OK)
        *ret = m->text;
    return meta_end(m, err);
}
