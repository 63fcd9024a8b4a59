/*
 * The references of an object, in the order of the GC: those of the base type, the fields that are
 * references, the references in fields that are values.  Explicit layouts have an order of their
 * own.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "layout/layout_impl.h"

#define LAYOUT_MASK     0x18u /* TypeAttributes, II.23.1.15 */
#define LAYOUT_EXPLICIT 0x10u
#define LAYOUT_EXTENDED 0x18u /* .NET 11 */
#define NAME_MAX_BYTES  ((size_t)4096)
#define REFERENCE_BYTES 4u /* or more */
#define NO_OFFSET       UINT32_MAX

static gcd_status push_pending(struct layout *l, uint32_t type, struct gcd_error *err)
{
    if (!LAYOUT_GROW(l, pending, pending_count, pending_cap))
        return layout_no_memory(err);
    l->pending[l->pending_count++] = type;
    return GCD_OK;
}

/* The type of FIELD in TYPE. */
static gcd_status type_of_field(struct layout *l, uint32_t type, uint32_t field, uint32_t *ret,
                                struct gcd_error *err)
{
    return layout_substitute(l, l->fields[field].type, type, ret, err);
}

/* Is TYPE a type whose slots the ones of another type contain? */
static bool has_slots(const struct layout *l, uint32_t type)
{
    return l->types[type].kind != LAYOUT_PLAIN && !layout_is_reference(&l->types[type]);
}

/* Notes that the slots of PART are needed; *RET_BAD: they cannot be known. */
static gcd_status need(struct layout *l, uint32_t part, bool *ret_bad, struct gcd_error *err)
{
    enum layout_state st = l->types[part].state;
    if (st == LAYOUT_UNSEEN)
        return push_pending(l, part, err);
    *ret_bad = *ret_bad || st != LAYOUT_KNOWN; /* LAYOUT_VISITED: it contains itself */
    return GCD_OK;
}

/* Pushes the types that TYPE is made of. */
static gcd_status need_parts(struct layout *l, uint32_t type, bool *ret_bad, struct gcd_error *err)
{
    uint32_t def = l->types[type].number;
    GCD_TRY(layout_read_def(l, def, err));
    const struct layout_def *d = &l->defs[def];
    *ret_bad = d->state != LAYOUT_KNOWN || l->types[type].count != d->parameters ||
               (d->flags & LAYOUT_FLAG_INTERFACE) != 0;
    if (!*ret_bad && !l->types[type].value && d->base != LAYOUT_NONE) {
        uint32_t base;
        GCD_TRY(layout_substitute(l, d->base, type, &base, err));
        l->types[type].base = base;
        GCD_TRY(need(l, base, ret_bad, err));
    }
    for (uint32_t i = 0; i < l->defs[def].field_count && !*ret_bad; i++) {
        uint32_t part;
        GCD_TRY(type_of_field(l, type, l->defs[def].first_field + i, &part, err));
        if (has_slots(l, part))
            GCD_TRY(need(l, part, ret_bad, err));
    }
    return GCD_OK;
}

/* ---- the slots of a type whose parts are known ---- */

struct laying {
    struct layout *l;
    uint32_t type;
    bool bad;
};

static gcd_status add_slot(struct laying *y, const char *name, uint32_t type, struct gcd_error *err)
{
    struct layout *l = y->l;
    struct layout_type *t = &l->types[y->type];
    y->bad = y->bad || t->slot_count >= LAYOUT_SLOTS_MAX || !layout_may(l, 1);
    if (y->bad)
        return GCD_OK;
    if (!LAYOUT_GROW(l, slots, slot_count, slot_cap))
        return layout_no_memory(err);
    l->slots[l->slot_count++] = (struct layout_slot){ name, type };
    t->slot_count++;
    return GCD_OK;
}

/* The slots of PART, behind PREFIX; PREFIX "" = its own names. */
static gcd_status add_part(struct laying *y, const char *prefix, uint32_t part,
                           struct gcd_error *err)
{
    struct layout *l = y->l;
    char name[NAME_MAX_BYTES];
    for (uint32_t i = 0; i < l->types[part].slot_count && !y->bad; i++) {
        struct layout_slot s = l->slots[l->types[part].first_slot + i];
        if (prefix[0] != '\0') {
            int n =
                snprintf(name, sizeof name, "%s%s%s", prefix, s.name[0] == '[' ? "" : ".", s.name);
            gcd_status st = n > 0 && (size_t)n < sizeof name
                                ? gcd_textpool_add(&l->text, name, (size_t)n, &s.name)
                                : GCD_E_LIMIT;
            if (st == GCD_E_NOMEM)
                return layout_no_memory(err);
            y->bad = st != GCD_OK;
        }
        GCD_TRY(add_slot(y, s.name, s.type, err));
    }
    return GCD_OK;
}

/* The slots of FIELD under NAME; only the references, or only those in VALUES. */
static gcd_status add_field(struct laying *y, uint32_t field, const char *name, bool values,
                            struct gcd_error *err)
{
    uint32_t part;
    GCD_TRY(type_of_field(y->l, y->type, field, &part, err));
    if (layout_is_reference(&y->l->types[part]))
        return values ? GCD_OK : add_slot(y, name, part, err);
    return values && has_slots(y->l, part) ? add_part(y, name, part, err) : GCD_OK;
}

static gcd_status add_in_order(struct laying *y, const struct layout_def *d, struct gcd_error *err)
{
    uint32_t first = d->first_field, count = d->field_count;
    for (unsigned values = 0; values < 2; values++)
        for (uint32_t i = 0; i < count && !y->bad; i++)
            GCD_TRY(add_field(y, first + i, y->l->fields[first + i].name, values == 1, err));
    return GCD_OK;
}

/* The field of D with the lowest offset above AFTER that has slots; LAYOUT_NONE = none. */
static gcd_status next_by_offset(struct laying *y, const struct layout_def *d, int64_t after,
                                 uint32_t *ret, bool *ret_reference, struct gcd_error *err)
{
    struct layout *l = y->l;
    uint32_t first = d->first_field, count = d->field_count;
    *ret = LAYOUT_NONE;
    for (uint32_t i = first; i < first + count && layout_may(l, 1); i++) {
        uint32_t part;
        if (l->fields[i].offset <= after)
            continue;
        GCD_TRY(type_of_field(l, y->type, i, &part, err));
        bool reference = layout_is_reference(&l->types[part]);
        if (!reference && (!has_slots(l, part) || l->types[part].slot_count == 0))
            continue;
        if (*ret != LAYOUT_NONE && l->fields[i].offset == l->fields[*ret].offset)
            y->bad = true; /* two names for one slot */
        if (*ret != LAYOUT_NONE && l->fields[i].offset >= l->fields[*ret].offset)
            continue;
        *ret = i;
        *ret_reference = reference;
    }
    return GCD_OK;
}

/* By offset.  The size of a value is not known here, so two of them, or one and a reference, could
 * overlap. */
static gcd_status add_explicit(struct laying *y, const struct layout_def *d, struct gcd_error *err)
{
    int64_t after = -1;
    unsigned values = 0, fields = 0;
    for (;;) {
        uint32_t field;
        bool reference;
        GCD_TRY(next_by_offset(y, d, after, &field, &reference, err));
        if (field == LAYOUT_NONE || y->bad)
            break;
        int64_t offset = y->l->fields[field].offset;
        values += !reference;
        y->bad = offset == NO_OFFSET || (fields > 0 && offset < after + REFERENCE_BYTES) ||
                 (fields > 0 && values > 0);
        fields++;
        after = offset;
        GCD_TRY(add_field(y, field, y->l->fields[field].name, !reference, err));
    }
    return GCD_OK;
}

static gcd_status add_inline(struct laying *y, const struct layout_def *d, struct gcd_error *err)
{
    uint32_t field = d->first_field, length = d->inline_length;
    y->bad = d->field_count != 1;
    for (uint32_t i = 0; i < length && !y->bad; i++) {
        char name[16];
        const char *kept;
        size_t before = y->l->slot_count;
        int n = snprintf(name, sizeof name, "[%u]", i);
        gcd_status st = gcd_textpool_add(&y->l->text, name, (size_t)n, &kept);
        if (st == GCD_E_NOMEM)
            return layout_no_memory(err);
        y->bad = st != GCD_OK;
        for (unsigned values = 0; values < 2 && !y->bad; values++)
            GCD_TRY(add_field(y, field, kept, values == 1, err));
        if (y->l->slot_count == before)
            break; /* no references, however many there are */
    }
    return GCD_OK;
}

static gcd_status add_all(struct laying *y, struct gcd_error *err)
{
    struct layout *l = y->l;
    struct layout_type *t = &l->types[y->type];
    struct layout_def d = l->defs[t->number];
    t->first_slot = (uint32_t)l->slot_count;
    t->slot_count = 0;
    if (t->base != LAYOUT_NONE)
        GCD_TRY(add_part(y, "", t->base, err));
    if (d.inline_length > 0)
        return add_inline(y, &d, err);
    if ((d.flags & LAYOUT_MASK) == LAYOUT_EXPLICIT)
        return add_explicit(y, &d, err);
    size_t before = l->slot_count;
    GCD_TRY(add_in_order(y, &d, err));
    y->bad = y->bad || ((d.flags & LAYOUT_MASK) == LAYOUT_EXTENDED && l->slot_count > before);
    return GCD_OK;
}

gcd_status layout_find_slots(struct layout *l, uint32_t type, struct gcd_error *err)
{
    size_t bottom = l->pending_count;
    if (l->types[type].kind == LAYOUT_ARRAY) /* those of its elements */
        type = l->lists[l->types[type].first];
    if (l->types[type].kind == LAYOUT_ARRAY) /* which are references */
        return GCD_OK;
    GCD_TRY(push_pending(l, type, err));
    while (l->pending_count > bottom) {
        uint32_t top = l->pending[l->pending_count - 1];
        struct layout_type *t = &l->types[top];
        struct laying y = { .l = l, .type = top };
        if (t->kind != LAYOUT_NAMED)
            t->state = LAYOUT_BAD;
        if (t->state == LAYOUT_KNOWN || t->state == LAYOUT_BAD) {
            l->pending_count--;
            continue;
        }
        size_t before = l->pending_count;
        bool first = t->state == LAYOUT_UNSEEN;
        t->state = LAYOUT_VISITED;
        GCD_TRY(need_parts(l, top, &y.bad, err));
        if (l->pending_count > before && first && !y.bad)
            continue; /* and once more when they are known */
        y.bad = y.bad || l->pending_count > before;
        l->pending_count = before - 1;
        size_t slots = l->slot_count;
        if (!y.bad)
            GCD_TRY(add_all(&y, err));
        if (y.bad) {
            l->slot_count = slots;
            l->types[top].slot_count = 0;
        }
        l->types[top].state = y.bad ? LAYOUT_BAD : LAYOUT_KNOWN;
    }
    return GCD_OK;
}
