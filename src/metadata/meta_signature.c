/*
 * The type of a field or a type specification (ECMA-335 II.23.2), written while it is read.  Open
 * parts are on an explicit stack.
 */
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/metadata.h>

#include "base/signature.h"
#include "metadata/meta_impl.h"

#define METHOD_GENERIC 0x10u
#define RANK_MAX       32u

struct open_type {
    uint8_t element;
    uint32_t left; /* ELEMENT_FNPTR: types that still follow */
};

struct reading {
    struct gcd_metadata *m;
    struct gcd_cur *c;
    uint32_t row;
    struct open_type open[META_DEPTH_MAX];
    unsigned depth;
};

static const char *primitive(uint8_t element)
{
    static const char *const names[] = {
        [0x01] = "System.Void",   [0x02] = "System.Boolean", [0x03] = "System.Char",
        [0x04] = "System.SByte",  [0x05] = "System.Byte",    [0x06] = "System.Int16",
        [0x07] = "System.UInt16", [0x08] = "System.Int32",   [0x09] = "System.UInt32",
        [0x0a] = "System.Int64",  [0x0b] = "System.UInt64",  [0x0c] = "System.Single",
        [0x0d] = "System.Double", [0x0e] = "System.String",  [0x16] = "System.TypedReference",
        [0x18] = "System.IntPtr", [0x19] = "System.UIntPtr", [0x1c] = "System.Object",
    };
    return element < sizeof names / sizeof *names ? names[element] : NULL;
}

static void fail(struct reading *r, gcd_status st, const char *what)
{
    meta_fail(&r->m->w, st, GCD_OFF_NONE, what);
}

static struct open_type *push(struct reading *r, uint8_t element)
{
    if (r->depth == META_DEPTH_MAX) {
        fail(r, GCD_E_LIMIT, "a type has more types in it than any compiler writes");
        r->depth = 0; /* output after a failure is discarded */
    }
    r->open[r->depth] = (struct open_type){ .element = element };
    return &r->open[r->depth++];
}

static void put_parameter(struct reading *r, uint8_t element)
{
    char number[16];
    uint32_t n = gcd_cur_compressed(r->c), first = 0;
    if (element == ELEMENT_VAR && r->row != 0 && n < meta_parameters(r->m, r->row, &first)) {
        meta_put(r->m, meta_string(&r->m->t, meta_cell(&r->m->t, META_GENERIC_PARAM, first + n,
                                                       GENERIC_PARAM_NAME)));
        return;
    }
    (void)snprintf(number, sizeof number, "%s%u", element == ELEMENT_VAR ? "!" : "!!", n);
    meta_put(r->m, number);
}

static uint32_t type_token(struct reading *r)
{
    uint32_t token = meta_type_token(&r->m->t, gcd_cur_compressed(r->c));
    if (token >> 24 != META_TYPE_DEF && token >> 24 != META_TYPE_REF) {
        fail(r, GCD_E_FORMAT, "a signature names no type");
        return 0;
    }
    return token;
}

static void begin_generic(struct reading *r)
{
    (void)gcd_cur_u8(r->c); /* class or value type */
    uint32_t token = type_token(r), count = gcd_cur_compressed(r->c);
    if (count == 0 || count > gcd_cur_left(r->c)) {
        fail(r, GCD_E_FORMAT, "a generic type has no arguments, or more than there are");
        return;
    }
    (void)push(r, ELEMENT_GENERICINST);
    meta_name_begin(r->m, &r->m->frames[r->depth - 1], token, count);
}

static void begin_function(struct reading *r)
{
    uint8_t convention = gcd_cur_u8(r->c);
    if (convention & METHOD_GENERIC)
        (void)gcd_cur_compressed(r->c);
    uint32_t parameters = gcd_cur_compressed(r->c);
    push(r, ELEMENT_FNPTR)->left = parameters < UINT32_MAX ? parameters + 1 : parameters;
    meta_put(r->m, "FNPTR"); /* as the runtime calls it */
    r->m->muted++;
}

/* Writes the beginning of a type; true if the type is complete. */
static bool begin_type(struct reading *r)
{
    struct meta_name whole;
    uint8_t element = gcd_cur_u8(r->c);
    switch (element) {
    case ELEMENT_CMOD_REQD:
    case ELEMENT_CMOD_OPT:
        (void)gcd_cur_compressed(r->c);
        return false;
    case ELEMENT_SENTINEL:
    case ELEMENT_PINNED:
        return false;
    case ELEMENT_PTR:
    case ELEMENT_BYREF:
    case ELEMENT_SZARRAY:
    case ELEMENT_ARRAY:
        (void)push(r, element);
        return false;
    case ELEMENT_GENERICINST:
        begin_generic(r);
        return false;
    case ELEMENT_FNPTR:
        begin_function(r);
        return false;
    case ELEMENT_VAR:
    case ELEMENT_MVAR:
        put_parameter(r, element);
        return true;
    case ELEMENT_CLASS:
    case ELEMENT_VALUETYPE:
        meta_name_begin(r->m, &whole, type_token(r), 0);
        return true;
    default:
        if (primitive(element) == NULL)
            fail(r, GCD_E_FORMAT, "a signature has an element of no known kind");
        else
            meta_put(r->m, primitive(element));
        return true;
    }
}

/* Skips the sizes and lower bounds of an array; returns its rank. */
static uint32_t array_shape(struct reading *r)
{
    uint32_t rank = gcd_cur_compressed(r->c);
    for (int part = 0; part < 2; part++) {
        uint32_t n = gcd_cur_compressed(r->c);
        if (n > gcd_cur_left(r->c))
            fail(r, GCD_E_FORMAT, "an array has more dimensions than its signature has bytes");
        for (uint32_t i = 0; i < n && r->m->w.st == GCD_OK; i++)
            (void)gcd_cur_compressed(r->c);
    }
    if (rank == 0 || rank > RANK_MAX)
        fail(r, GCD_E_FORMAT, "an array has a rank that no array has");
    return r->m->w.st == GCD_OK ? rank : 1;
}

/* Arrays of arrays are read from the inside out, and C# writes the outermost dimension first. */
static void end_arrays(struct reading *r)
{
    static const char commas[] = ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,";
    uint32_t rank[META_DEPTH_MAX] = { 0 }, n = 0;
    while (r->depth > 0 && (r->open[r->depth - 1].element == ELEMENT_SZARRAY ||
                            r->open[r->depth - 1].element == ELEMENT_ARRAY))
        rank[n++] = r->open[--r->depth].element == ELEMENT_ARRAY ? array_shape(r) : 0;
    while (n-- > 0) {
        meta_put(r->m, "[");
        meta_put(r->m, rank[n] == 0 ? "" : rank[n] == 1 ? "*" : commas + (sizeof commas - rank[n]));
        meta_put(r->m, "]");
    }
}

/* Ends a type and those of which it was the last part; true if another type must follow. */
static bool end_types(struct reading *r)
{
    while (r->depth > 0) {
        struct open_type *o = &r->open[r->depth - 1];
        if (o->element == ELEMENT_SZARRAY || o->element == ELEMENT_ARRAY) {
            end_arrays(r);
            continue;
        }
        if (o->element == ELEMENT_GENERICINST && meta_name_next(r->m, &r->m->frames[r->depth - 1]))
            return true;
        if (o->element == ELEMENT_FNPTR && --o->left > 0)
            return true;
        if (o->element == ELEMENT_FNPTR)
            r->m->muted--;
        else if (o->element != ELEMENT_GENERICINST)
            meta_put(r->m, o->element == ELEMENT_PTR ? "*" : "&");
        r->depth--;
    }
    return false;
}

uint8_t meta_element_type(struct gcd_metadata *m, struct gcd_cur *c, uint32_t *ret_token)
{
    uint8_t element = gcd_cur_u8(c);
    while (c->err == GCD_OK && (element == ELEMENT_CMOD_REQD || element == ELEMENT_CMOD_OPT)) {
        (void)gcd_cur_compressed(c);
        element = gcd_cur_u8(c);
    }
    if (element == ELEMENT_GENERICINST)
        element = gcd_cur_u8(c);
    *ret_token = element == ELEMENT_CLASS || element == ELEMENT_VALUETYPE
                     ? meta_type_token(&m->t, gcd_cur_compressed(c))
                     : 0;
    return element;
}

void meta_signature(struct gcd_metadata *m, struct gcd_cur *c, uint32_t row)
{
    struct reading r = { .m = m, .c = c, .row = row };
    bool more = true;
    while (more && m->w.st == GCD_OK) {
        more = !begin_type(&r) || end_types(&r);
        if (c->err != GCD_OK)
            fail(&r, GCD_E_FORMAT, "a signature ends early");
    }
    m->muted = 0;
}
