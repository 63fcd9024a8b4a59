/* Types: a definition with its arguments, arrays, and their signatures. */
#include <string.h>

#include "base/error.h"
#include "base/signature.h"
#include "layout/layout_impl.h"

gcd_status layout_no_memory(struct gcd_error *err)
{
    return gcd_fail_nomem(err, "finding the fields of types");
}

gcd_status layout_list_add(struct layout *l, uint32_t value, struct gcd_error *err)
{
    if (!LAYOUT_GROW(l, lists, list_count, list_cap))
        return layout_no_memory(err);
    l->lists[l->list_count++] = value;
    return GCD_OK;
}

gcd_status layout_push(struct layout *l, uint32_t value, struct gcd_error *err)
{
    if (!LAYOUT_GROW(l, operands, operand_count, operand_cap))
        return layout_no_memory(err);
    l->operands[l->operand_count++] = value;
    return GCD_OK;
}

/* ---- one number for equal types ---- */

static uint64_t hash_of_type(const struct layout_type *t, const uint32_t *parts)
{
    uint32_t head[] = { (uint32_t)t->kind, t->value, t->number, t->count };
    uint64_t h = gcd_text_hash((const char *)head, sizeof head, GCD_TEXT_HASH);
    return gcd_text_hash((const char *)parts, t->count * sizeof *parts, h);
}

static bool is_same_type(const struct layout *l, const struct layout_type *a,
                         const struct layout_type *b, const uint32_t *parts)
{
    return a->kind == b->kind && a->value == b->value && a->number == b->number &&
           a->count == b->count &&
           (a->count == 0 || memcmp(l->lists + a->first, parts, a->count * sizeof *parts) == 0);
}

/* The number of T with PARTS, which must not be in layout.lists; the unknown type if it is nested
 * too deep. */
static gcd_status intern(struct layout *l, struct layout_type t, const uint32_t *parts,
                         uint32_t *ret, struct gcd_error *err)
{
    for (uint32_t i = 0; parts != NULL && i < t.count; i++) {
        const struct layout_type *part = &l->types[parts[i]];
        t.open = t.open || part->open;
        t.vague = t.vague || part->vague;
        if (part->depth >= t.depth)
            t.depth = (uint8_t)(part->depth + 1);
    }
    if (t.depth > LAYOUT_DEPTH_MAX || !layout_may(l, 1))
        return layout_unknown(l, t.kind != LAYOUT_ARRAY && t.value, ret, err);
    uint64_t hash = hash_of_type(&t, parts);
    uint32_t found;
    /* another type with the same hash: the next one */
    for (; (found = gcd_idmap_get(&l->by_hash, hash)) != GCD_IDMAP_NONE; hash++)
        if (is_same_type(l, &l->types[found], &t, parts)) {
            *ret = found;
            return GCD_OK;
        }
    if (!LAYOUT_GROW(l, types, type_count, type_cap) ||
        !gcd_idmap_put(&l->by_hash, hash, (uint32_t)l->type_count))
        return layout_no_memory(err);
    t.first = (uint32_t)l->list_count;
    t.base = t.same_key = LAYOUT_NONE;
    for (uint32_t i = 0; i < t.count; i++)
        GCD_TRY(layout_list_add(l, parts[i], err));
    *ret = (uint32_t)l->type_count;
    l->types[l->type_count++] = t;
    return GCD_OK;
}

gcd_status layout_plain(struct layout *l, uint8_t element, uint32_t *ret, struct gcd_error *err)
{
    return intern(l, (struct layout_type){ .kind = LAYOUT_PLAIN, .value = true, .number = element },
                  NULL, ret, err);
}

gcd_status layout_unknown(struct layout *l, bool value, uint32_t *ret, struct gcd_error *err)
{
    struct layout_type t = { .kind = LAYOUT_UNKNOWN, .value = value, .vague = true };
    uint32_t found = gcd_idmap_get(&l->by_hash, value);
    if (found != GCD_IDMAP_NONE) {
        *ret = found;
        return GCD_OK;
    }
    if (!LAYOUT_GROW(l, types, type_count, type_cap) ||
        !gcd_idmap_put(&l->by_hash, value, (uint32_t)l->type_count))
        return layout_no_memory(err);
    t.base = t.same_key = LAYOUT_NONE;
    t.state = LAYOUT_BAD;
    *ret = (uint32_t)l->type_count;
    l->types[l->type_count++] = t;
    return GCD_OK;
}

gcd_status layout_array(struct layout *l, uint32_t element, uint32_t rank, uint32_t *ret,
                        struct gcd_error *err)
{
    return intern(l, (struct layout_type){ .kind = LAYOUT_ARRAY, .number = rank, .count = 1 },
                  &element, ret, err);
}

static gcd_status type_of(struct layout *l, uint32_t def, bool value,
                          struct layout_arguments arguments, uint32_t *ret, struct gcd_error *err)
{
    if (def == LAYOUT_NONE || arguments.count > UINT16_MAX)
        return layout_unknown(l, value, ret, err);
    /* a signature has a shorter form for these */
    for (uint8_t i = 0; l->defs[def].module == l->core && i < 32; i++)
        if (l->primitives[i] == def)
            return layout_plain(l, i, ret, err);
    struct layout_type t = {
        .kind = LAYOUT_NAMED, .value = value, .number = def, .count = (uint32_t)arguments.count
    };
    return intern(l, t, arguments.types, ret, err);
}

gcd_status layout_named(struct layout *l, const struct layout_name *name, uint32_t *ret,
                        struct gcd_error *err)
{
    uint32_t def;
    GCD_TRY(layout_find_def(l, name->module, name->token, &def, err));
    return type_of(l, def, name->value, name->arguments, ret, err);
}

/* ---- types inside types, on an explicit stack ---- */

struct open_type {
    struct layout_type t;
    uint32_t left;     /* parts that follow */
    size_t first_part; /* in layout.operands */
    uint32_t from;     /* layout_substitute: the type that is copied */
};

struct building {
    struct layout *l;
    struct open_type open[LAYOUT_DEPTH_MAX];
    unsigned depth;
};

static bool push_open(struct building *b, struct layout_type t, uint32_t parts, uint32_t from)
{
    if (b->depth == LAYOUT_DEPTH_MAX)
        return false;
    b->open[b->depth++] = (struct open_type){ t, parts, b->l->operand_count, from };
    return true;
}

/* The innermost open type has all its parts. */
static gcd_status close_type(struct building *b, uint32_t *ret, struct gcd_error *err)
{
    const struct open_type *o = &b->open[--b->depth];
    struct layout *l = b->l;
    size_t n = l->operand_count - o->first_part;
    gcd_status st;
    if (o->t.kind == LAYOUT_NAMED)
        st = type_of(l, o->t.number, o->t.value,
                     (struct layout_arguments){ l->operands + o->first_part, n }, ret, err);
    else if (o->t.kind == LAYOUT_ARRAY)
        st = layout_array(l, l->operands[o->first_part], o->t.number, ret, err);
    else
        st = layout_plain(l, (uint8_t)o->t.number, ret, err);
    l->operand_count = o->first_part;
    return st;
}

gcd_status layout_substitute(struct layout *l, uint32_t type, uint32_t owner, uint32_t *ret,
                             struct gcd_error *err)
{
    struct building b = { .l = l };
    size_t bottom = l->operand_count;
    uint32_t done = type;
    for (bool whole = !l->types[type].open;;) {
        if (!whole && l->types[type].kind == LAYOUT_PARAMETER) {
            const struct layout_type *o = &l->types[owner];
            if (l->types[type].number >= o->count)
                break;
            done = l->lists[o->first + l->types[type].number];
            whole = true;
        }
        if (!whole) {
            struct layout_type t = l->types[type];
            if (!push_open(&b, t, t.count, type))
                break;
            type = l->lists[t.first];
            done = type;
            whole = !l->types[type].open;
            continue;
        }
        if (b.depth == 0) {
            *ret = done;
            return GCD_OK;
        }
        GCD_TRY(layout_push(l, done, err));
        struct open_type *o = &b.open[b.depth - 1];
        if (--o->left == 0) {
            GCD_TRY(close_type(&b, &done, err));
            continue;
        }
        const struct layout_type *from = &l->types[o->from];
        done = type = l->lists[from->first + from->count - o->left];
        whole = !l->types[type].open;
    }
    l->operand_count = bottom;
    const struct layout_type *outer = b.depth > 0 ? &b.open[0].t : &l->types[type];
    return layout_unknown(l, outer->kind != LAYOUT_ARRAY && outer->value, ret, err);
}

/* ---- signatures (ECMA-335 II.23.2.12) ---- */

struct signature {
    struct building b;
    struct gcd_cur c;
    uint32_t module;
};

/* The definition of a TypeDefOrRef (II.23.2.8). */
static gcd_status read_def(struct signature *s, uint32_t *ret, struct gcd_error *err)
{
    static const uint32_t table[] = { GCD_TOKEN_TYPE, UINT32_C(0x01000000) };
    uint32_t coded = gcd_cur_compressed(&s->c);
    *ret = LAYOUT_NONE;
    if (s->c.err != GCD_OK || (coded & 3) > 1 || coded >> 2 == 0 || coded >> 26 != 0)
        return GCD_OK;
    return layout_find_def(s->b.l, s->module, table[coded & 3] | coded >> 2, ret, err);
}

static bool read_shape(struct gcd_cur *c, uint32_t *ret_rank)
{
    *ret_rank = gcd_cur_compressed(c);
    for (int part = 0; part < 2; part++)
        for (uint32_t n = gcd_cur_compressed(c); n > 0 && c->err == GCD_OK; n--)
            (void)gcd_cur_compressed(c);
    return c->err == GCD_OK && *ret_rank > 0 && *ret_rank <= 32;
}

/* One step: *RET_WHOLE when *RET is a complete type; *RET_BAD when nothing can be said. */
static gcd_status begin_type(struct signature *s, uint32_t *ret, bool *ret_whole, bool *ret_bad,
                             struct gcd_error *err)
{
    struct layout *l = s->b.l;
    uint8_t element = gcd_cur_u8(&s->c);
    const struct layout_arguments none = { NULL, 0 };
    struct layout_type t = { .kind = LAYOUT_NAMED };
    uint32_t parts = 1;
    *ret_whole = true;
    *ret_bad = s->c.err != GCD_OK;
    switch (element) {
    case ELEMENT_CMOD_REQD:
    case ELEMENT_CMOD_OPT:
        (void)gcd_cur_compressed(&s->c);
        *ret_whole = false;
        return GCD_OK;
    case ELEMENT_PINNED:
        *ret_whole = false;
        return GCD_OK;
    case ELEMENT_STRING:
        return type_of(l, l->string, false, none, ret, err);
    case ELEMENT_OBJECT:
        return type_of(l, l->object, false, none, ret, err);
    case ELEMENT_FNPTR: /* the rest is needed only if something follows it */
        *ret_bad = s->b.depth > 0;
        return layout_plain(l, element, ret, err);
    case ELEMENT_VAR:
        t = (struct layout_type){ .kind = LAYOUT_PARAMETER, .open = true };
        t.number = gcd_cur_compressed(&s->c);
        return intern(l, t, NULL, ret, err);
    case ELEMENT_CLASS:
    case ELEMENT_VALUETYPE:
        GCD_TRY(read_def(s, &t.number, err));
        return type_of(l, t.number, element == ELEMENT_VALUETYPE, none, ret, err);
    case ELEMENT_GENERICINST:
        t.value = gcd_cur_u8(&s->c) == ELEMENT_VALUETYPE;
        GCD_TRY(read_def(s, &t.number, err));
        parts = gcd_cur_compressed(&s->c);
        break;
    case ELEMENT_SZARRAY:
    case ELEMENT_ARRAY:
        t.kind = LAYOUT_ARRAY;
        t.number = element == ELEMENT_ARRAY; /* until its shape follows */
        break;
    case ELEMENT_PTR:
    case ELEMENT_BYREF:
        t = (struct layout_type){ .kind = LAYOUT_PLAIN, .value = true, .number = element };
        break;
    default:
        *ret_bad = *ret_bad || element == 0 ||
                   (element > 0x0d && element != ELEMENT_INTPTR && element != ELEMENT_UINTPTR);
        return layout_plain(l, element, ret, err);
    }
    *ret_whole = false;
    *ret_bad = parts == 0 || parts > gcd_cur_left(&s->c) || !push_open(&s->b, t, parts, 0);
    return GCD_OK;
}

gcd_status layout_read_type(struct layout *l, uint32_t module, const uint8_t *signature, size_t n,
                            uint32_t *ret, struct gcd_error *err)
{
    struct signature s = { .b.l = l, .c = gcd_cur_make(signature, n, 0), .module = module };
    size_t bottom = l->operand_count;
    bool whole = false, bad = false;
    uint32_t type = LAYOUT_NONE;
    while (!bad) {
        GCD_TRY(begin_type(&s, &type, &whole, &bad, err));
        while (whole && !bad && s.b.depth > 0) {
            struct open_type *o = &s.b.open[s.b.depth - 1];
            GCD_TRY(layout_push(l, type, err));
            whole = --o->left == 0;
            if (whole && o->t.kind == LAYOUT_ARRAY && o->t.number > 0)
                bad = !read_shape(&s.c, &o->t.number);
            if (whole && !bad)
                GCD_TRY(close_type(&s.b, &type, err));
        }
        bad = bad || s.c.err != GCD_OK;
        if (whole && !bad) {
            *ret = type;
            return GCD_OK;
        }
    }
    l->operand_count = bottom;
    /* a generic class or an array is a reference whatever is in it */
    const struct layout_type *outer = s.b.depth > 0 ? &s.b.open[0].t : NULL;
    return layout_unknown(l, outer == NULL || (outer->kind != LAYOUT_ARRAY && outer->value), ret,
                          err);
}
