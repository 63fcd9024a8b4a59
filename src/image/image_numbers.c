/*
 * Numbers in objects: see gcdumpc/unstable/image_numbers.h.
 *
 * Where a field lies says its FieldDesc (vm/field.h), which is believed if its class, its token and
 * its kind agree with the metadata.  A field of an enum has the kind of a value type or of its
 * number.
 */
#include <gcdumpc/unstable/image_numbers.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/fields.h>

#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/signature.h"
#include "image/clr/clr_names.h"
#include "image/heap_image.h"
#include "io/attached.h"

#define BASES_MAX    64u /* classes above a class */
#define NAMES_MAX    (UINT64_C(4) << 20)
#define LITERALS_MAX 65536u /* of an enum */
#define NAME_BYTES   1024u  /* of a field */
#define SEARCHES_MAX 256u   /* each reads the names of all types */

/* Where a type has the field. */
struct place {
    bool found;
    uint32_t offset; /* from the address of the object */
    uint8_t element; /* CorElementType, of an enum that of its number */
    uint32_t of;     /* the enum + 1, 0 = of none */
};

struct literal {
    uint64_t value;
    const char *name;
};

struct enumeration {
    uint64_t module;
    uint32_t token;
    uint8_t element;
    struct literal *literals; /* [count] in the order of the source */
    size_t count, cap;
};

struct gcd_image_numbers {
    struct gcd_alloc alloc;
    struct heap_image *image;
    const char *field;
    struct gcd_idmap by_type; /* method table -> a place */
    struct place *places;     /* [place_count] */
    size_t place_count, place_cap;
    struct enumeration *enums; /* [enum_count] */
    size_t enum_count, enum_cap;
    struct gcd_textpool text;
    unsigned searches;    /* for enums of other modules */
    uint64_t open_module; /* whose metadata are open; 0 = of none */
    struct clr_metadata open;
};

gcd_status gcd_image_numbers_new(struct gcd_input *in, const char *field,
                                 const struct gcd_alloc *alloc, struct gcd_image_numbers **ret,
                                 struct gcd_error *err)
{
    struct heap_image *h = in != NULL ? gcd_input_attached(in) : NULL;
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    size_t n = strlen(field);
    if (h == NULL || !h->opened || h->st != GCD_OK)
        return GCD_END;
    struct gcd_image_numbers *r = gcd_mem_new(&a, sizeof *r);
    if (r == NULL)
        return gcd_fail_nomem(err, "reading numbers");
    r->alloc = a;
    r->image = h;
    gcd_idmap_init(&r->by_type, &r->alloc);
    gcd_textpool_init(&r->text, &r->alloc, NAMES_MAX);
    gcd_status st = gcd_textpool_add(&r->text, field, n, &r->field);
    if (st != GCD_OK) {
        gcd_image_numbers_free(r);
        return gcd_fail(err, st, "cannot keep the name of a field");
    }
    *ret = r;
    return GCD_OK;
}

void gcd_image_numbers_free(struct gcd_image_numbers *n)
{
    if (n == NULL)
        return;
    struct gcd_alloc a = n->alloc;
    if (n->open_module != 0)
        clr_metadata_close(&n->image->clr, &n->open);
    for (size_t i = 0; i < n->enum_count; i++)
        gcd_mem_free(&a, n->enums[i].literals, n->enums[i].cap * sizeof *n->enums[i].literals);
    gcd_mem_free(&a, n->enums, n->enum_cap * sizeof *n->enums);
    gcd_mem_free(&a, n->places, n->place_cap * sizeof *n->places);
    gcd_idmap_done(&n->by_type);
    gcd_textpool_done(&n->text);
    gcd_mem_free(&a, n, sizeof *n);
}

/* ---- kinds of numbers ---- */

/* Bytes of a number of this CorElementType; 0 = it is none. */
static uint32_t number_bytes(uint32_t element)
{
    static const uint8_t bytes[] = { [2] = 1, [3] = 2, [4] = 1,  [5] = 1,  [6] = 2,  [7] = 2,
                                     [8] = 4, [9] = 4, [10] = 8, [11] = 8, [12] = 4, [13] = 8 };
    if (element == ELEMENT_INTPTR || element == ELEMENT_UINTPTR)
        return 8;
    return element < sizeof bytes ? bytes[element] : 0;
}

static enum gcd_number_kind kind_of(uint32_t element)
{
    if (element == 2)
        return GCD_NUMBER_BOOL;
    if (element == 3)
        return GCD_NUMBER_CHAR;
    if (element == 12 || element == 13)
        return GCD_NUMBER_REAL;
    return element == ELEMENT_INTPTR || (element < 12 && element % 2 == 0) ? GCD_NUMBER_SIGNED
                                                                           : GCD_NUMBER_UNSIGNED;
}

/* ---- enums ---- */

/* Is type TOKEN an enum?  The kind of its number. */
static bool is_enum(struct gcd_metadata *m, uint32_t token, uint8_t *ret_element)
{
    struct gcd_error own = GCD_ERROR_INIT;
    struct gcd_type_definition def;
    struct gcd_instance_field f = { .token = 0 };
    const char *base;
    if (gcd_metadata_type(m, token, &def, &own) != GCD_OK || def.base == 0 ||
        gcd_metadata_reflection_name(m, def.base, &base, NULL, &own) != GCD_OK ||
        strcmp(base, "System.Enum") != 0 || gcd_metadata_next_field(m, token, &f, &own) != GCD_OK ||
        number_bytes(f.element_type) == 0)
        return false;
    *ret_element = f.element_type;
    return true;
}

/* The definition in M that reflection calls NAME; 0 = there is none. */
static uint32_t find_definition(struct gcd_metadata *m, const char *name)
{
    uint32_t n = gcd_metadata_type_count(m);
    for (uint32_t i = 1; i <= n; i++) {
        struct gcd_error own = GCD_ERROR_INIT;
        const char *x;
        if (gcd_metadata_reflection_name(m, GCD_TOKEN_TYPE | i, &x, NULL, &own) == GCD_OK &&
            strcmp(x, name) == 0)
            return GCD_TOKEN_TYPE | i;
    }
    return 0;
}

static bool read_literals(struct gcd_image_numbers *n, struct gcd_metadata *m, uint32_t token,
                          struct enumeration *e)
{
    struct gcd_literal l = { .token = 0 };
    struct gcd_error own = GCD_ERROR_INIT;
    while (e->count < LITERALS_MAX && gcd_metadata_next_literal(m, token, &l, &own) == GCD_OK) {
        if (!gcd_vec_reserve(&n->alloc, &e->literals, &e->cap, e->count + 1, sizeof *e->literals,
                             LITERALS_MAX) ||
            gcd_textpool_add(&n->text, l.name, strlen(l.name), &e->literals[e->count].name) !=
                GCD_OK)
            return false;
        e->literals[e->count++].value = l.value;
    }
    return true;
}

/* The number + 1 of enum TOKEN of MODULE, whose metadata are M; 0 = it is none, or it cannot be
 * kept. */
static uint32_t add_enum(struct gcd_image_numbers *n, uint64_t module, struct gcd_metadata *m,
                         uint32_t token)
{
    struct enumeration e = { .module = module, .token = token };
    if (!is_enum(m, token, &e.element))
        return 0;
    for (size_t i = 0; i < n->enum_count; i++)
        if (n->enums[i].module == module && n->enums[i].token == token)
            return (uint32_t)i + 1;
    if (gcd_vec_reserve(&n->alloc, &n->enums, &n->enum_cap, n->enum_count + 1, sizeof *n->enums,
                        UINT32_MAX - 1) &&
        read_literals(n, m, token, &e)) {
        n->enums[n->enum_count++] = e;
        return (uint32_t)n->enum_count;
    }
    gcd_mem_free(&n->alloc, e.literals, e.cap * sizeof *e.literals);
    return 0;
}

/* The same of the type that NAME means in another module: only if a single module has such a type.
 */
static uint32_t find_enum(struct gcd_image_numbers *n, const char *name)
{
    struct clr *c = &n->image->clr;
    uint32_t ret = 0;
    unsigned found = 0;
    if (n->searches++ >= SEARCHES_MAX)
        return 0;
    for (size_t i = 0; i < c->module_count && found < 2; i++) {
        struct clr_metadata m;
        if (!clr_metadata_find(c, &c->modules[i], &m))
            continue;
        uint32_t token = find_definition(m.m, name);
        found += token != 0;
        if (token != 0 && found == 1)
            ret = add_enum(n, c->modules[i].id, m.m, token);
        clr_metadata_close(c, &m);
    }
    return found == 1 ? ret : 0;
}

/* The enum that F of class T is of. */
static uint32_t enum_of(struct gcd_image_numbers *n, const struct clr_type *t,
                        struct gcd_metadata *m, const struct gcd_instance_field *f)
{
    uint64_t module = t->module;
    struct gcd_error own = GCD_ERROR_INIT;
    const char *name;
    if (strcmp(f->name, "value__") == 0) /* of a boxed one */
        return add_enum(n, module, m, GCD_TOKEN_TYPE | t->token);
    if (f->element_type != ELEMENT_VALUETYPE || f->type_token == 0)
        return 0;
    if (f->type_token >> 24 == GCD_TOKEN_TYPE >> 24)
        return add_enum(n, module, m, f->type_token);
    if (gcd_metadata_reflection_name(m, f->type_token, &name, NULL, &own) != GCD_OK ||
        gcd_textpool_add(&n->text, name, strlen(name), &name) != GCD_OK)
        return 0;
    return find_enum(n, name);
}

/* ---- where the field is ---- */

/* The place of F, which class T declares, in objects of type OBJECT; false: it is no number. */
static bool place_of_field(struct gcd_image_numbers *n, const struct clr_type *t,
                           struct gcd_metadata *m, const struct gcd_instance_field *f,
                           uint32_t object_bytes, struct place *ret)
{
    struct clr *c = &n->image->clr;
    uint64_t desc = clr_field_desc(c, t->id, f->token);
    uint32_t first = desc != 0 ? image_u32(c->image, desc + 8) : CLR_FIELD_STATIC;
    uint32_t second = desc != 0 ? image_u32(c->image, desc + 12) : 0;
    struct place p = { .found = true, .element = (uint8_t)(second >> 27) };
    if ((first & (CLR_FIELD_STATIC | CLR_FIELD_THREAD | CLR_FIELD_RVA)) != 0 ||
        (p.element != ELEMENT_VALUETYPE && number_bytes(p.element) == 0))
        return false;
    p.of = enum_of(n, t, m, f);
    if (p.element == ELEMENT_VALUETYPE && p.of == 0)
        return false;
    if (p.element == ELEMENT_VALUETYPE)
        p.element = n->enums[p.of - 1].element;
    uint32_t offset = second & UINT32_C(0x7ffffff), bytes = number_bytes(p.element);
    p.offset = offset + 8; /* behind the method table */
    /* the size of an object includes the word before it */
    if (object_bytes < 16 + bytes || offset > object_bytes - 16 - bytes)
        return false;
    *ret = p;
    return true;
}

static bool has_name(const struct gcd_instance_field *f, const char *wanted)
{
    char buf[NAME_BYTES + 1];
    size_t length = strlen(f->name);
    if (strcmp(f->name, wanted) == 0)
        return true;
    if (length > NAME_BYTES)
        return false;
    buf[gcd_field_source_name(f->name, length, buf)] = '\0';
    return strcmp(buf, wanted) == 0;
}

/* What is done with each field of a class: false ends it. */
struct visitor {
    bool (*fn)(void *ctx, const struct clr_type *t, struct gcd_metadata *m,
               const struct gcd_instance_field *f);
    void *ctx;
};

/* The metadata of the module with this id, of which the last ones stay open; NULL = there are none.
 */
static struct gcd_metadata *metadata_of(struct gcd_image_numbers *n, uint64_t id)
{
    struct clr *c = &n->image->clr;
    uint32_t module = gcd_idmap_get(&c->module_by_id, id);
    if (id != 0 && n->open_module == id)
        return n->open.m;
    if (module == GCD_IDMAP_NONE)
        return NULL;
    if (n->open_module != 0)
        clr_metadata_close(c, &n->open);
    n->open_module = clr_metadata_find(c, &c->modules[module], &n->open) ? id : 0;
    return n->open_module != 0 ? n->open.m : NULL;
}

static bool visit_fields(struct gcd_image_numbers *n, const struct clr_type *t,
                         const struct visitor *v)
{
    struct gcd_instance_field f = { .token = 0 };
    struct gcd_error own = GCD_ERROR_INIT;
    struct gcd_metadata *m = t->token != 0 && t->rank == 0 ? metadata_of(n, t->module) : NULL;
    bool more = true;
    while (m != NULL && more &&
           gcd_metadata_next_field(m, GCD_TOKEN_TYPE | t->token, &f, &own) == GCD_OK)
        more = v->fn(v->ctx, t, m, &f);
    return more;
}

/* The class with this method table first, then its base classes. */
static void visit_classes(struct gcd_image_numbers *n, uint64_t table, const struct visitor *v)
{
    struct clr *c = &n->image->clr;
    gcd_status st = GCD_OK;
    for (unsigned i = 0; table != 0 && i < BASES_MAX; i++) {
        uint32_t type = clr_type_of(c, table, &st);
        if (type == CLR_NONE)
            return;
        struct clr_type t = c->types[type];           /* more types may come */
        if (t.parent == 0 || !visit_fields(n, &t, v)) /* System.Object has no fields */
            return;
        table = t.parent;
    }
}

struct search {
    struct gcd_image_numbers *n;
    uint32_t object_bytes;
    struct place place;
};

static bool try_field(void *ctx, const struct clr_type *t, struct gcd_metadata *m,
                      const struct gcd_instance_field *f)
{
    struct search *s = ctx;
    if (!has_name(f, s->n->field))
        return true;
    (void)place_of_field(s->n, t, m, f, s->object_bytes, &s->place);
    return false; /* it hides those of the base classes */
}

/* Of objects with this method table; NULL = there is none. */
static const struct place *place_of(struct gcd_image_numbers *n, uint64_t table)
{
    struct clr *c = &n->image->clr;
    uint32_t known = gcd_idmap_get(&n->by_type, table);
    gcd_status st = GCD_OK;
    if (known != GCD_IDMAP_NONE)
        return n->places[known].found ? &n->places[known] : NULL;
    uint32_t type = clr_type_of(c, table, &st);
    if (type == CLR_NONE || n->place_count == GCD_IDMAP_NONE ||
        !gcd_vec_reserve(&n->alloc, &n->places, &n->place_cap, n->place_count + 1,
                         sizeof *n->places, SIZE_MAX))
        return NULL;
    struct search s = { .n = n, .object_bytes = c->types[type].base_bytes };
    visit_classes(n, table, &(struct visitor){ try_field, &s });
    if (!gcd_idmap_put(&n->by_type, table, (uint32_t)n->place_count))
        return NULL;
    n->places[n->place_count] = s.place;
    return s.place.found ? &n->places[n->place_count++] : (n->place_count++, NULL);
}

static uint64_t table_of_object(struct gcd_image_numbers *n, uint64_t address)
{
    return image_u64(n->image->clr.image, address) & ~UINT64_C(7);
}

gcd_status gcd_image_number(struct gcd_image_numbers *n, uint64_t address, struct gcd_number *ret)
{
    uint8_t bytes[8] = { 0 };
    const struct place *p = place_of(n, table_of_object(n, address));
    uint32_t size = p != NULL ? number_bytes(p->element) : 0;
    if (p == NULL)
        return GCD_END;
    if (!image_read(n->image->clr.image, address + p->offset, bytes, size))
        return GCD_E_TRUNCATED;
    struct gcd_number x = { .kind = kind_of(p->element), .bits = gcd_le64(bytes), .of = p->of };
    unsigned unused = 64 - 8 * size;
    if (x.kind == GCD_NUMBER_SIGNED && unused > 0)
        x.bits = (uint64_t)((int64_t)(x.bits << unused) >> unused);
    if (x.kind == GCD_NUMBER_REAL && size == 4) {
        uint32_t low = (uint32_t)x.bits;
        float f;
        double d;
        memcpy(&f, &low, sizeof f);
        d = f;
        memcpy(&x.bits, &d, sizeof d);
    }
    for (size_t i = 0; p->of != 0 && x.name == NULL && i < n->enums[p->of - 1].count; i++)
        if (n->enums[p->of - 1].literals[i].value == x.bits)
            x.name = n->enums[p->of - 1].literals[i].name;
    *ret = x;
    return GCD_OK;
}

struct listing {
    struct gcd_image_numbers *n;
    uint32_t object_bytes;
    void (*fn)(void *ctx, const char *name);
    void *ctx;
};

static bool list_field(void *ctx, const struct clr_type *t, struct gcd_metadata *m,
                       const struct gcd_instance_field *f)
{
    const struct listing *l = ctx;
    char buf[NAME_BYTES + 1];
    struct place p;
    size_t length = strlen(f->name);
    if (length > NAME_BYTES)
        return true;
    buf[gcd_field_source_name(f->name, length, buf)] = '\0'; /* before other names are read */
    if (place_of_field(l->n, t, m, f, l->object_bytes, &p))
        l->fn(l->ctx, buf);
    return true;
}

void gcd_image_number_fields(struct gcd_image_numbers *n, uint64_t address,
                             void (*fn)(void *ctx, const char *name), void *ctx)
{
    struct clr *c = &n->image->clr;
    uint64_t table = table_of_object(n, address);
    gcd_status st = GCD_OK;
    uint32_t type = clr_type_of(c, table, &st);
    if (type == CLR_NONE)
        return;
    struct listing l = { n, c->types[type].base_bytes, fn, ctx };
    visit_classes(n, table, &(struct visitor){ list_field, &l });
}

/* ---- texts ---- */

const char *gcd_number_text(const struct gcd_number *x, char buf[GCD_NUMBER_BYTES])
{
    double d;
    if (x->name != NULL)
        return x->name;
    switch (x->kind) {
    case GCD_NUMBER_BOOL:
        return x->bits != 0 ? "true" : "false";
    case GCD_NUMBER_CHAR:
        (void)snprintf(buf, GCD_NUMBER_BYTES,
                       x->bits > 0x20 && x->bits < 0x7f ? "'%c'" : "'\\u%04x'", (unsigned)x->bits);
        return buf;
    case GCD_NUMBER_SIGNED:
        (void)snprintf(buf, GCD_NUMBER_BYTES, "%" PRId64, (int64_t)x->bits);
        return buf;
    case GCD_NUMBER_REAL:
        memcpy(&d, &x->bits, sizeof d);
        (void)snprintf(buf, GCD_NUMBER_BYTES, "%.15g", d);
        if (strtod(buf, NULL) < d || strtod(buf, NULL) > d) /* not all digits that tell it apart */
            (void)snprintf(buf, GCD_NUMBER_BYTES, "%.17g", d);
        return buf;
    case GCD_NUMBER_UNSIGNED:
    default:
        (void)snprintf(buf, GCD_NUMBER_BYTES, "%" PRIu64, x->bits);
        return buf;
    }
}
