/*
 * Values in objects: see gcdumpc/unstable/image_numbers.h.
 *
 * Where a field lies says its FieldDesc (vm/field.h), which is believed if its class, its token and
 * its kind agree with the metadata.  A field of an enum has the kind of a value type or of its
 * number.  The parts of a few structs of the core library lie alike in all versions.  Other structs
 * have FieldDescs of their own, if the runtime has such a type that can be found: image_parts.c.
 */
#include "image/image_numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/fields.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/signature.h"
#include "io/attached.h"
#include "metadata/meta_members.h"
#include "values/values.h"

#define BASES_MAX    64u /* classes above a class */
#define NAMES_MAX    (UINT64_C(16) << 20)
#define NAME_BYTES   1024u /* of a field */
#define VECTOR_BASE  24u   /* bytes of an empty array */
#define VECTOR_ITEMS 16u
#define PARTS_DEEP   5u   /* structs in structs */
#define PARTS_MAX    256u /* fields of structs in one type */

/* The image of VIEW; NULL = there is none. */
static struct heap_image *image_of(const struct gcd_values_view *view)
{
    struct heap_image *h = view->memory != NULL ? gcd_input_attached(view->memory) : NULL;
    return h != NULL && h->opened && h->st == GCD_OK ? h : NULL;
}

/* Of H, or else of ROWS. */
static gcd_status make(struct heap_image *h, const struct value_rows *rows, const char *field,
                       const struct gcd_alloc *alloc, struct gcd_image_numbers **ret)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct gcd_image_numbers *r = gcd_mem_new(&a, sizeof *r);
    if (r == NULL)
        return GCD_E_NOMEM;
    r->alloc = a;
    r->image = h;
    r->rows = h != NULL ? NULL : rows;
    gcd_idmap_init(&r->by_type, &r->alloc);
    gcd_idmap_init(&r->by_method, &r->alloc);
    gcd_idmap_init(&r->by_generic, &r->alloc);
    gcd_textpool_init(&r->text, &r->alloc, NAMES_MAX);
    r->classes.clr = r->arguments.clr = h != NULL ? &h->clr : NULL;
    image_enums_init(&r->enums, &r->alloc, h != NULL ? &h->clr : NULL, &r->text);
    gcd_status st =
        field != NULL ? gcd_textpool_add(&r->text, field, strlen(field), &r->field) : GCD_OK;
    if (st == GCD_OK && r->rows != NULL)
        st = recorded_numbers_open(r);
    if (st == GCD_OK)
        *ret = r;
    else
        gcd_image_numbers_free(r);
    return st;
}

static gcd_status made(gcd_status st, struct gcd_error *err)
{
    return st == GCD_OK ? GCD_OK : gcd_fail(err, st, "cannot keep the names of fields");
}

gcd_status image_numbers_of(struct heap_image *h, const struct gcd_alloc *alloc,
                            struct gcd_image_numbers **ret, struct gcd_error *err)
{
    return made(make(h, NULL, NULL, alloc, ret), err);
}

gcd_status gcd_image_numbers_new(const struct gcd_values_view *view, const char *field,
                                 const struct gcd_alloc *alloc, struct gcd_image_numbers **ret,
                                 struct gcd_error *err)
{
    struct heap_image *h = image_of(view);
    const struct value_rows *rows = view->values != NULL ? view->values->rows : NULL;
    if (h == NULL && (rows == NULL || rows->object_count == 0))
        return GCD_END;
    return made(make(h, rows, field, alloc, ret), err);
}

void gcd_image_numbers_free(struct gcd_image_numbers *n)
{
    if (n == NULL)
        return;
    struct gcd_alloc a = n->alloc;
    image_modules_done(&n->classes);
    image_modules_done(&n->arguments);
    image_enums_done(&n->enums);
    gcd_mem_free(&a, n->plans, n->plan_cap * sizeof *n->plans);
    gcd_mem_free(&a, n->places, n->place_cap * sizeof *n->places);
    gcd_mem_free(&a, n->calls, n->call_cap * sizeof *n->calls);
    gcd_idmap_done(&n->by_type);
    gcd_mem_free(&a, n->same_generic, n->generic_cap * sizeof *n->same_generic);
    gcd_idmap_done(&n->by_method);
    gcd_idmap_done(&n->by_generic);
    gcd_textpool_done(&n->text);
    gcd_mem_free(&a, n, sizeof *n);
}

/* ---- kinds of values ---- */

static enum gcd_number_kind kind_of(uint32_t element)
{
    if (element == 2)
        return GCD_NUMBER_BOOL;
    if (element == 3)
        return GCD_NUMBER_CHAR;
    if (element == 12 || element == 13)
        return GCD_NUMBER_REAL;
    if (element == ELEMENT_PTR || element == ELEMENT_FNPTR)
        return GCD_NUMBER_POINTER;
    return element == ELEMENT_INTPTR || (element < 12 && element % 2 == 0) ? GCD_NUMBER_SIGNED
                                                                           : GCD_NUMBER_UNSIGNED;
}

/* Structs whose parts are read, from .NET 8 to 11. */
static enum value_form struct_form(const char *name)
{
    static const struct {
        const char *name;
        enum value_form form;
    } structs[] = {
        { "System.DateTime", FORM_DATE_TIME },
        { "System.TimeSpan", FORM_TIME_SPAN },
        { "System.DateOnly", FORM_DATE },
        { "System.TimeOnly", FORM_TIME },
        { "System.Guid", FORM_GUID },
        { "System.Decimal", FORM_DECIMAL },
        { "System.Int128", FORM_INT128 },
        { "System.UInt128", FORM_UINT128 },
        { "System.Half", FORM_HALF },
        /* the runtime puts the offset first */
        { "System.DateTimeOffset", FORM_DATE_TIME_OFFSET },
    };
    for (size_t i = 0; i < sizeof structs / sizeof *structs; i++)
        if (strcmp(structs[i].name, name) == 0)
            return structs[i].form;
    return FORM_OTHER;
}

uint32_t image_place_bytes(const struct image_place *p, uint32_t *ret_alignment)
{
    return value_form_bytes((enum value_form)p->form, p->element, ret_alignment);
}

/* ---- types of fields ---- */

/* What the metadata of a module say of a type. */
struct named_type {
    uint64_t module;
    struct gcd_metadata *m;
    uint32_t token;
};

/* The name of value type T, kept; "" = it is not known. */
static const char *name_of(struct gcd_image_numbers *n, const struct named_type *t)
{
    struct gcd_error own = GCD_ERROR_INIT;
    const char *name;
    return gcd_metadata_reflection_name(t->m, t->token, &name, NULL, &own) == GCD_OK &&
                   gcd_textpool_add(&n->text, name, strlen(name), &name) == GCD_OK
               ? name
               : "";
}

static bool is_definition(uint32_t token)
{
    return token >> 24 == GCD_TOKEN_TYPE >> 24;
}

/* How values of type T, which has NAME, are read. */
static void set_form(struct gcd_image_numbers *n, const struct named_type *t, const char *name,
                     struct image_place *p)
{
    enum value_form form = struct_form(name);
    if (form != FORM_OTHER &&
        (is_definition(t->token) ? image_is_core(t->m) : image_is_of_platform(t->m, t->token))) {
        p->form = (uint8_t)form;
        return;
    }
    p->of = is_definition(t->token) ? image_enum_add(&n->enums, t->module, t->m, t->token)
            : name[0] != '\0'       ? image_enum_find(&n->enums, name)
                                    : 0;
    if (p->of == 0)
        return;
    p->form = FORM_NUMBER;
    p->element = n->enums.items[p->of - 1].element;
}

static void set_element(uint32_t element, struct image_place *p)
{
    if (value_number_bytes(element) != 0) {
        p->form = FORM_NUMBER;
        p->element = (uint8_t)element;
    }
}

/* Is T, which has NAME, Nullable<>? */
static bool is_nullable(const struct named_type *t, const char *name)
{
    return strcmp(name, "System.Nullable`1") == 0 &&
           (is_definition(t->token) ? image_is_core(t->m) : image_is_of_platform(t->m, t->token));
}

/* P is that of a nullable with a value of this form. */
static void make_nullable(struct image_place *p)
{
    uint32_t alignment;
    (void)image_place_bytes(p, &alignment);
    p->value_at = (uint8_t)alignment;
}

/* Of the type of METHOD TABLE itself, or of the value of a nullable: DEPTH 1. */
static void set_table(struct gcd_image_numbers *n, uint64_t table, unsigned depth,
                      struct image_place *p)
{
    struct clr *c = &n->image->clr;
    gcd_status st = GCD_OK;
    uint32_t type = clr_type_of(c, table, &st);
    if (type == CLR_NONE || c->types[type].arg_count > 1 || c->types[type].token == 0)
        return;
    struct clr_type t = c->types[type];
    /* not those of the class: its fields are being read */
    struct gcd_metadata *m = image_modules_get(&n->arguments, t.module);
    if (m == NULL)
        return;
    struct named_type of = { t.module, m, GCD_TOKEN_TYPE | t.token };
    const char *name = name_of(n, &of);
    if (t.arg_count == 1) {
        if (depth == 0 && is_nullable(&of, name)) {
            set_table(n, c->args[t.args], 1, p);
            make_nullable(p);
        }
    } else if (depth == 1 && image_is_core(m) && image_primitive_element(name) != 0) {
        set_element(image_primitive_element(name), p);
    } else {
        set_form(n, &of, name, p);
    }
}

/* Of a field of CLASS whose type is type parameter PARAMETER; DEPTH 1: of its nullable. */
static void set_argument(struct gcd_image_numbers *n, const struct clr_type *class,
                         uint32_t parameter, unsigned depth, struct image_place *p)
{
    if (parameter < class->arg_count)
        set_table(n, n->image->clr.args[class->args + parameter], depth, p);
}

/* Of a field of CLASS whose type is value type T, perhaps Nullable<ARGUMENT>. */
static void set_value_type(struct gcd_image_numbers *n, const struct clr_type *class,
                           const struct named_type *t, const struct gcd_instance_field *f,
                           struct image_place *p)
{
    const char *name = name_of(n, t);
    if (f->argument_type == 0) {
        set_form(n, t, name, p);
        return;
    }
    if (!is_nullable(t, name))
        return;
    struct named_type argument = { t->module, t->m, f->argument_token };
    if (f->argument_type == ELEMENT_VALUETYPE && f->argument_token != 0)
        set_form(n, &argument, name_of(n, &argument), p);
    else if (f->argument_type == ELEMENT_VAR)
        set_argument(n, class, f->parameter, 1, p);
    else
        set_element(f->argument_type, p);
    make_nullable(p);
}

/* ---- where fields are ---- */

/* Does the kind of a FieldDesc agree with the metadata of its field? */
static bool agrees(const struct gcd_instance_field *f, uint32_t element)
{
    if (gcd_element_is_reference(f->element_type))
        return gcd_element_is_reference(element);
    if (value_number_bytes(f->element_type) != 0)
        return element == f->element_type;
    return true;
}

/* A class, or a struct in it, whose fields are added. */
struct part {
    uint32_t type;  /* of clr.types */
    uint32_t token; /* of the field that was added last */
    uint32_t at;    /* where its fields begin in an object, */
    uint32_t bytes; /* and how many bytes they have at most */
    size_t prefix;  /* length of its name in the name of a field; 0 = the class */
    size_t first;   /* its first place */
};

struct making {
    struct gcd_image_numbers *n;
    struct image_plan plan;
    uint32_t object_bytes;
    bool full;
    struct part parts[PARTS_DEEP + 1];
    unsigned depth;
    uint32_t count; /* places in structs */
    char name[2 * NAME_BYTES];
};

/* The place of F, which class T declares, in P, but for its name; false: it is not known. */
static bool place_of_field(struct gcd_image_numbers *n, const struct clr_type *t,
                           struct gcd_metadata *m, const struct gcd_instance_field *f,
                           const struct part *part, struct image_place *ret)
{
    struct clr *c = &n->image->clr;
    uint64_t desc = clr_field_desc(c, t->id, f->token);
    uint32_t first = desc != 0 ? image_u32(c->image, desc + 8) : CLR_FIELD_STATIC;
    uint32_t second = desc != 0 ? image_u32(c->image, desc + 12) : 0, element = second >> 27;
    struct image_place p = { .form = FORM_OTHER };
    struct named_type type = { t->module, m, f->type_token };
    if ((first & (CLR_FIELD_STATIC | CLR_FIELD_THREAD | CLR_FIELD_RVA)) != 0 || !agrees(f, element))
        return false;
    bool boxed_enum = strcmp(f->name, "value__") == 0;
    if (gcd_element_is_reference(element))
        p.form = FORM_REFERENCE;
    else if (f->element_type == ELEMENT_VALUETYPE && f->type_token != 0)
        set_value_type(n, t, &type, f, &p);
    else if (f->element_type == ELEMENT_VAR)
        set_argument(n, t, f->parameter, 0, &p);
    if (p.form == FORM_OTHER && f->element_type != ELEMENT_VALUETYPE)
        set_element(element, &p);
    if (boxed_enum)
        p.of = image_enum_add(&n->enums, t->module, m, GCD_TOKEN_TYPE | t->token);
    /* an enum may have the kind of its number */
    if (p.form == FORM_NUMBER && element != ELEMENT_VALUETYPE && element != p.element)
        return false;
    if (p.form == FORM_OTHER) {
        p.element = f->element_type == ELEMENT_VAR ? (uint8_t)element : f->element_type;
        p.of = p.value_at = 0;
    }
    uint32_t offset = second & UINT32_C(0x7ffffff), alignment,
             bytes = image_place_bytes(&p, &alignment) + p.value_at;
    p.offset = part->at + offset;
    if (part->bytes < bytes || offset > part->bytes - bytes)
        return false;
    *ret = p;
    return true;
}

/* Adds P under the first N bytes of W->name. */
static void add_place(struct making *w, const struct image_place *p, size_t n)
{
    struct gcd_image_numbers *to = w->n;
    struct image_place named = *p;
    if (to->place_count >= CLR_NONE ||
        !gcd_vec_reserve(&to->alloc, &to->places, &to->place_cap, to->place_count + 1,
                         sizeof *to->places, SIZE_MAX) ||
        gcd_textpool_add(&to->text, w->name, n, &named.name) != GCD_OK) {
        w->full = true;
        return;
    }
    to->places[to->place_count++] = named;
    w->plan.count++;
    w->count += w->depth > 1;
}

/* The fields of TYPE come next: those of a class, or of a struct that is its field. */
static void begin_part(struct making *w, uint32_t type, uint32_t at, uint32_t bytes, size_t prefix)
{
    w->parts[w->depth++] = (struct part){
        .type = type, .at = at, .bytes = bytes, .prefix = prefix, .first = w->n->place_count
    };
}

/* A struct without fields, or whose fields are not known, is a place itself. */
static void end_part(struct making *w)
{
    const struct part *p = &w->parts[w->depth - 1];
    const struct image_place whole = { .offset = p->at,
                                       .form = FORM_OTHER,
                                       .element = ELEMENT_VALUETYPE };
    if (p->prefix > 0 && p->first == w->n->place_count)
        add_place(w, &whole, p->prefix);
    w->depth--;
}

/* Does P have one field for many: an array in its place?  M are its metadata. */
static bool is_inline_array(const struct clr_type *t, struct gcd_metadata *m)
{
    struct gcd_error own = GCD_ERROR_INIT;
    uint32_t length;
    const char *name;
    return meta_inline_length(m, GCD_TOKEN_TYPE | t->token, &length, &own) != GCD_OK ||
           length > 0 ||
           gcd_metadata_reflection_name(m, GCD_TOKEN_TYPE | t->token, &name, NULL, &own) !=
               GCD_OK ||
           strstr(name, ">e__FixedBuffer") != NULL;
}

/* Goes into the struct at P, field TOKEN of class T with a name of N bytes, if its parts are known.
 */
static bool enter(struct making *w, const struct clr_type *t, uint32_t token, struct image_place *p,
                  size_t n)
{
    struct clr *c = &w->n->image->clr;
    const struct part *outer = &w->parts[w->depth - 1];
    if (p->form != FORM_OTHER || p->element != ELEMENT_VALUETYPE || w->depth > PARTS_DEEP ||
        w->count >= PARTS_MAX)
        return false;
    uint32_t type = image_part_type(w->n, t, token), end = outer->at + outer->bytes;
    if (type == CLR_NONE || c->types[type].base_bytes < 16 || p->offset > end)
        return false;
    struct gcd_metadata *m = image_modules_get(&w->n->classes, c->types[type].module);
    if (m == NULL)
        return false;
    if (is_inline_array(&c->types[type], m)) {
        p->element = ELEMENT_ARRAY;
        return false;
    }
    /* an enum in a generic type */
    uint32_t bytes = c->types[type].base_bytes - 16, left = end - p->offset,
             of = image_enum_add(&w->n->enums, c->types[type].module, m,
                                 GCD_TOKEN_TYPE | c->types[type].token);
    if (of != 0) {
        uint32_t element = w->n->enums.items[of - 1].element;
        if (value_number_bytes(element) <= left)
            set_element(element, p);
        p->of = p->form == FORM_NUMBER ? of : 0;
        return false;
    }
    /* the size of a boxed one is rounded up */
    begin_part(w, type, p->offset, bytes < left ? bytes : left, n);
    return true;
}

/* Adds F, which class T declares. */
static void add_field(struct making *w, const struct clr_type *t, struct gcd_metadata *m,
                      const struct gcd_instance_field *f)
{
    struct gcd_image_numbers *n = w->n;
    const struct part *part = &w->parts[w->depth - 1];
    struct image_place p;
    size_t at = part->prefix, length = strlen(f->name);
    uint32_t token = f->token;
    if (length > NAME_BYTES || at + 1 + length >= sizeof w->name)
        return;
    bool wanted = n->field != NULL && at == 0 && strcmp(f->name, n->field) == 0;
    if (at > 0)
        w->name[at++] = '.';
    at += gcd_field_source_name(f->name, length, w->name + at); /* before other names are read */
    w->name[at] = '\0';
    wanted = wanted || (n->field != NULL && strcmp(w->name, n->field) == 0);
    if (!place_of_field(n, t, m, f, part, &p))
        p = (struct image_place){ .form = FORM_OTHER };
    size_t first = n->place_count;
    bool parts = enter(w, t, token, &p, at);
    if (!parts)
        add_place(w, &p, at);
    if (wanted && w->plan.wanted == CLR_NONE) { /* it hides those of the base classes */
        w->plan.wanted = (uint32_t)first;
        w->plan.wanted_parts = parts;
    }
}

/* Metadata are asked for again for each field: others may have taken their place. */
static void add_next(struct making *w)
{
    struct part *p = &w->parts[w->depth - 1];
    struct clr_type t = w->n->image->clr.types[p->type]; /* more types may come */
    struct gcd_instance_field f = { .token = p->token };
    struct gcd_error own = GCD_ERROR_INIT;
    struct gcd_metadata *m =
        t.token != 0 && t.rank == 0 ? image_modules_get(&w->n->classes, t.module) : NULL;
    w->plan.lacking = w->plan.lacking || (m == NULL && w->depth == 1);
    bool rest_left = w->depth == 1 || w->count < PARTS_MAX;
    if (m == NULL || !rest_left ||
        gcd_metadata_next_field(m, GCD_TOKEN_TYPE | t.token, &f, &own) != GCD_OK) {
        end_part(w);
        return;
    }
    p->token = f.token;
    add_field(w, &t, m, &f);
}

/* Those of a class, or of an element of an array, from AT on. */
static void add_fields(struct making *w, uint32_t type, uint32_t at, uint32_t bytes)
{
    begin_part(w, type, at, bytes, 0);
    while (w->depth > 0 && !w->full)
        add_next(w);
    w->depth = 0;
}

/* Of objects that are boxed values of type T. */
static void find_boxed(struct making *w, const struct clr_type *t)
{
    struct gcd_image_numbers *n = w->n;
    struct gcd_metadata *m =
        t->token != 0 && t->rank == 0 ? image_modules_get(&n->classes, t->module) : NULL;
    struct image_place boxed = { .form = FORM_OTHER };
    if (m == NULL || t->arg_count > 0)
        return;
    struct named_type type = { t->module, m, GCD_TOKEN_TYPE | t->token };
    const char *name = name_of(n, &type);
    set_form(n, &type, name, &boxed); /* that of an enum or of a struct of the core library */
    if (w->plan.count == 1 && image_is_core(m) && image_primitive_element(name) != 0)
        boxed = n->places[w->plan.first];
    uint32_t alignment, bytes = image_place_bytes(&boxed, &alignment);
    boxed.offset = 8;
    if (bytes > 0 && w->object_bytes >= 16 + bytes)
        w->plan.boxed = boxed;
}

/* The class with this method table first, then its base classes. */
static void make_plan(struct making *w, uint64_t table)
{
    struct clr *c = &w->n->image->clr;
    gcd_status st = GCD_OK;
    for (unsigned i = 0; table != 0 && i < BASES_MAX && !w->full; i++) {
        uint32_t type = clr_type_of(c, table, &st);
        if (type == CLR_NONE)
            return;
        struct clr_type t = c->types[type]; /* more types may come */
        if (t.parent == 0)                  /* System.Object has no fields */
            return;
        /* behind the method table; the size of an object includes the word before it */
        add_fields(w, type, 8, w->object_bytes < 16 ? 0 : w->object_bytes - 16);
        if (i == 0)
            find_boxed(w, &t);
        table = t.parent;
    }
}

/* The place of an element of TYPE that is a value of its own; FORM_OTHER: it has parts. */
static void set_whole_element(struct gcd_image_numbers *n, const struct clr_type *type,
                              uint64_t table, struct image_place *p)
{
    struct gcd_metadata *m = image_modules_get(&n->arguments, type->module);
    struct named_type of = { type->module, m, GCD_TOKEN_TYPE | type->token };
    uint32_t element = m != NULL && image_is_core(m) ? image_primitive_element(name_of(n, &of)) : 0;
    if (element != 0)
        set_element(element, p);
    else
        set_table(n, table, 0, p);
}

/* Of an array whose elements are values: what each of them has. */
static void make_elements(struct making *w, const struct clr_type *t)
{
    struct clr *c = &w->n->image->clr;
    struct image_place p = { .form = FORM_OTHER };
    gcd_status st = GCD_OK;
    uint32_t type = t->rank == 1 && t->base_bytes == VECTOR_BASE && !clr_is_type_desc(t->element)
                        ? clr_type_of(c, t->element, &st)
                        : CLR_NONE,
             bytes = t->component_bytes;
    if (type == CLR_NONE || !clr_is_value_type(&c->types[type]))
        return;
    const struct clr_type of = c->types[type]; /* more types may come */
    set_whole_element(w->n, &of, t->element, &p);
    if (p.form == FORM_NUMBER && p.of == 0 && p.element != 2 &&
        value_number_bytes(p.element) < 4) /* bytes and characters may be a secret text */
        return;
    if (p.form != FORM_OTHER)
        add_place(w, &p, 0);
    else
        add_fields(w, type, 0, bytes);
    w->plan.element_bytes = bytes;
    w->plan.element_fields = w->plan.count;
    w->plan.count = 0;
    w->plan.wanted = CLR_NONE;
    w->plan.wanted_parts = false;
}

const struct image_plan *image_plan_of_table(struct gcd_image_numbers *n, uint64_t table)
{
    struct clr *c = &n->image->clr;
    uint32_t known = gcd_idmap_get(&n->by_type, table);
    gcd_status st = GCD_OK;
    if (known != GCD_IDMAP_NONE)
        return &n->plans[known];
    uint32_t type = clr_type_of(c, table, &st);
    if (type == CLR_NONE || n->plan_count == GCD_IDMAP_NONE ||
        !gcd_vec_reserve(&n->alloc, &n->plans, &n->plan_cap, n->plan_count + 1, sizeof *n->plans,
                         SIZE_MAX))
        return NULL;
    struct making w = { .n = n,
                        .plan = { .first = (uint32_t)n->place_count, .wanted = CLR_NONE },
                        .object_bytes = c->types[type].base_bytes };
    const struct clr_type t = c->types[type]; /* more types may come */
    if (t.component_bytes == 0)
        make_plan(&w, table);
    else
        make_elements(&w, &t);
    if (!gcd_idmap_put(&n->by_type, table, (uint32_t)n->plan_count))
        return NULL;
    n->plans[n->plan_count] = w.plan;
    return &n->plans[n->plan_count++];
}

const struct image_plan *image_plan_of(struct gcd_image_numbers *n, uint64_t address)
{
    return n->rows != NULL
               ? recorded_plan_of(n, address)
               : image_plan_of_table(n, image_u64(n->image->clr.image, address) & ~UINT64_C(7));
}

/* ---- values ---- */

/* An integer or a real number of BYTES bytes. */
static void read_number(struct gcd_image_numbers *n, const struct image_place *p, uint32_t bytes,
                        struct gcd_number *x)
{
    unsigned unused = 64 - 8 * bytes;
    x->kind = kind_of(p->element);
    x->of = p->of;
    if (x->kind == GCD_NUMBER_SIGNED && unused > 0)
        x->bits = (uint64_t)((int64_t)(x->bits << unused) >> unused);
    if (x->kind == GCD_NUMBER_REAL && bytes == 4) {
        x->high = bytes;
        uint32_t low = (uint32_t)x->bits;
        float f;
        double d;
        memcpy(&f, &low, sizeof f);
        d = f;
        memcpy(&x->bits, &d, sizeof d);
    }
    if (p->of != 0)
        x->name = image_enum_name(&n->enums, p->of, x->bits);
}

/* The double that is equal to the half-precision number HALF. */
static uint64_t double_of_half(uint32_t half)
{
    uint64_t sign = (uint64_t)(half >> 15 & 1) << 63, part = half & 0x3ff;
    int exponent = (int)(half >> 10 & 0x1f);
    if (exponent == 31)
        return sign | UINT64_C(0x7ff) << 52 | part << 42;
    if (exponent == 0 && part == 0)
        return sign;
    for (exponent += exponent == 0; (half & 0x7c00) == 0 && (part & 0x400) == 0; exponent--)
        part <<= 1;
    return sign | (uint64_t)(exponent - 15 + 1023) << 52 | (part & 0x3ff) << 42;
}

/* X has the bytes of the value in its words. */
static void read_struct(enum value_form form, struct gcd_number *x)
{
    static const enum gcd_number_kind kinds[] = {
        [FORM_OTHER] = GCD_NUMBER_OTHER,
        [FORM_REFERENCE] = GCD_NUMBER_REFERENCE,
        [FORM_DATE_TIME] = GCD_NUMBER_DATE_TIME,
        [FORM_DATE_TIME_OFFSET] = GCD_NUMBER_DATE_TIME_OFFSET,
        [FORM_TIME_SPAN] = GCD_NUMBER_TIME_SPAN,
        [FORM_DATE] = GCD_NUMBER_DATE,
        [FORM_TIME] = GCD_NUMBER_TIME,
        [FORM_GUID] = GCD_NUMBER_GUID,
        [FORM_DECIMAL] = GCD_NUMBER_DECIMAL,
        [FORM_INT128] = GCD_NUMBER_INT128,
        [FORM_UINT128] = GCD_NUMBER_UINT128,
        [FORM_HALF] = GCD_NUMBER_REAL,
    };
    x->kind = kinds[form];
    if (form == FORM_DATE_TIME_OFFSET) { /* the minutes have two bytes in .NET 8, then four */
        uint64_t minutes = (uint64_t)(int64_t)(int16_t)(uint16_t)x->bits;
        x->bits = x->high;
        x->high = minutes;
    }
    if (form == FORM_HALF) {
        x->bits = double_of_half((uint32_t)x->bits & 0xffff);
        x->high = 2;
    }
    if (form == FORM_DECIMAL) { /* flags, high word, the lower 64 bits */
        uint64_t lower = x->high;
        x->high = x->bits << 32 | x->bits >> 32;
        x->bits = lower;
    }
}

bool image_read_place(struct gcd_image_numbers *n, uint64_t address, const struct image_place *p,
                      uint8_t ret[16], bool *ret_has_value)
{
    struct image *image;
    uint8_t flag = 1;
    uint32_t alignment, size = image_place_bytes(p, &alignment);
    if (n->rows != NULL)
        return recorded_read_place(n, address, p, ret, ret_has_value);
    image = n->image->clr.image;
    address += p->offset;
    if ((p->value_at != 0 && !image_read(image, address, &flag, 1)) || flag > 1)
        return false;
    *ret_has_value = flag != 0;
    return size == 0 || flag == 0 || image_read(image, address + p->value_at, ret, size);
}

static gcd_status read_place(struct gcd_image_numbers *n, uint64_t address,
                             const struct image_place *p, struct gcd_number *ret)
{
    uint8_t bytes[16] = { 0 };
    bool has_value;
    uint32_t alignment;
    if (!image_read_place(n, address, p, bytes, &has_value))
        return GCD_E_TRUNCATED;
    if (!has_value) {
        *ret = (struct gcd_number){ .kind = GCD_NUMBER_NULL };
        return GCD_OK;
    }
    struct gcd_number x = { .bits = gcd_le64(bytes), .high = gcd_le64(bytes + 8) };
    if (p->form == FORM_OTHER) {
        *ret = (struct gcd_number){ .kind = GCD_NUMBER_OTHER,
                                    .name = p->element == ELEMENT_ARRAY ? "(inline array)" : NULL };
        return p->element != 0 ? GCD_OK : GCD_E_NOT_FOUND;
    }
    if (p->form == FORM_NUMBER)
        read_number(n, p, image_place_bytes(p, &alignment), &x);
    else
        read_struct((enum value_form)p->form, &x);
    *ret = x;
    return GCD_OK;
}

static bool is_value(const struct image_place *p)
{
    return p->form != FORM_OTHER && p->form != FORM_REFERENCE;
}

/* The place of the field that is asked for; NULL = there is none, or it is a struct. */
static const struct image_place *wanted_place(const struct gcd_image_numbers *n,
                                              const struct image_plan *plan)
{
    bool known = plan != NULL && plan->wanted != CLR_NONE && !plan->wanted_parts;
    return known ? &n->places[plan->wanted] : NULL;
}

gcd_status gcd_image_field_kind(struct gcd_image_numbers *n, uint64_t table,
                                enum gcd_number_kind *ret)
{
    const struct image_plan *plan =
        n->rows != NULL ? recorded_plan_of_table(n, table) : image_plan_of_table(n, table);
    if (plan == NULL)
        return GCD_E_NOT_FOUND;
    if (plan->wanted == CLR_NONE)
        return plan->lacking ? GCD_E_NOT_FOUND : GCD_END;
    const struct image_place *p = wanted_place(n, plan); /* NULL: a struct */
    struct gcd_number x = { .kind = GCD_NUMBER_OTHER };
    if (p != NULL && p->form == FORM_NUMBER)
        x.kind = kind_of(p->element);
    else if (p != NULL)
        read_struct((enum value_form)p->form, &x);
    *ret = x.kind;
    return GCD_OK;
}

gcd_status gcd_image_number(struct gcd_image_numbers *n, uint64_t address, struct gcd_number *ret)
{
    const struct image_place *p = wanted_place(n, image_plan_of(n, address));
    return p != NULL && is_value(p) ? read_place(n, address, p, ret) : GCD_END;
}

gcd_status gcd_image_reference(struct gcd_image_numbers *n, uint64_t address, uint64_t *ret)
{
    const struct image_place *p = wanted_place(n, image_plan_of(n, address));
    struct gcd_number x;
    if (p == NULL || p->form != FORM_REFERENCE)
        return GCD_END;
    gcd_status st = read_place(n, address, p, &x);
    if (st == GCD_OK)
        *ret = x.bits;
    return st;
}

gcd_status gcd_image_boxed(struct gcd_image_numbers *n, uint64_t address, struct gcd_number *ret)
{
    const struct image_plan *plan = image_plan_of(n, address);
    return plan != NULL && is_value(&plan->boxed) ? read_place(n, address, &plan->boxed, ret)
                                                  : GCD_END;
}

uint32_t gcd_image_field_count(struct gcd_image_numbers *n, uint64_t address)
{
    const struct image_plan *plan = image_plan_of(n, address);
    return plan != NULL ? plan->count : 0;
}

struct gcd_image_field gcd_image_field(struct gcd_image_numbers *n, uint64_t address, uint32_t i)
{
    const struct image_plan *plan = image_plan_of(n, address);
    struct gcd_image_field f = { .name = "" };
    if (plan == NULL || i >= plan->count)
        return f;
    const struct image_place *p = &n->places[plan->first + i];
    f.name = p->name;
    f.known = read_place(n, address, p, &f.number) == GCD_OK;
    return f;
}

/* What the elements of the array at ADDRESS have, and how many there are; NULL = it is none. */
static const struct image_plan *elements_of(struct gcd_image_numbers *n, uint64_t address,
                                            uint64_t *ret_count)
{
    if (n->rows != NULL)
        return recorded_elements_of(n, address, ret_count);
    const struct image_plan *plan = image_plan_of(n, address);
    if (plan == NULL || plan->element_fields == 0)
        return NULL;
    *ret_count = image_u32(n->image->clr.image, address + 8);
    return plan;
}

bool gcd_image_elements(struct gcd_image_numbers *n, uint64_t address,
                        struct gcd_image_elements *ret)
{
    const struct image_plan *plan = elements_of(n, address, &ret->count);
    if (plan == NULL)
        return false;
    const struct image_place *first = &n->places[plan->first];
    ret->fields = plan->element_fields;
    ret->bytes = plan->element_bytes;
    ret->numbers = ret->fields == 1 && first->form == FORM_NUMBER && first->name[0] == '\0';
    return true;
}

const char *gcd_element_name(uint64_t index, const char *field, char *ret, size_t cap)
{
    (void)snprintf(ret, cap, "[%" PRIu64 "]%s%s", index, field[0] != '\0' ? "." : "", field);
    return ret;
}

struct gcd_image_field gcd_image_element(struct gcd_image_numbers *n, uint64_t address,
                                         uint64_t index, uint32_t i)
{
    uint64_t count;
    const struct image_plan *plan = elements_of(n, address, &count);
    struct gcd_image_field f = { .name = "" };
    if (plan == NULL || i >= plan->element_fields || index >= count)
        return f;
    const struct image_place *p = &n->places[plan->first + i];
    f.name = p->name;
    f.known =
        read_place(n, address + VECTOR_ITEMS + index * plan->element_bytes, p, &f.number) == GCD_OK;
    return f;
}

/* ---- headers ---- */

/* The word before an object (vm/syncblk.h). */
#define HEADER_HASH_OR_INDEX UINT32_C(0x08000000)
#define HEADER_HASH          UINT32_C(0x04000000) /* else the index of a sync block */
#define HEADER_HASH_BITS     (HEADER_HASH - 1)

uint32_t gcd_image_hash_code(struct gcd_image_numbers *n, uint64_t address)
{
    if (n->image == NULL)
        return 0;
    uint32_t header = image_u32(n->image->clr.image, address - 4);
    bool has = (header & HEADER_HASH_OR_INDEX) != 0 && (header & HEADER_HASH) != 0;
    return has ? header & HEADER_HASH_BITS : 0;
}

/* ---- stack traces ---- */

/*
 * The array of an exception (vm/object.h, StackTraceArray; .NET 8 to 11): a head {number of calls
 * u32, ..., the thread}, then for each {code, stack pointer, MethodDesc, flags}.  From .NET 9 on it
 * may be the first element of an array of objects.
 */
#define TRACE_DATA      16u /* of an array, behind its length */
#define TRACE_HEAD      16u
#define TRACE_CALL      32u
#define TRACE_METHOD    16u
#define REFERENCE_BYTES 8u

/* The array of bytes that ADDRESS is or begins with; 0 = neither. */
static uint64_t bytes_of_trace(struct gcd_image_numbers *n, uint64_t address)
{
    struct clr *c = &n->image->clr;
    for (unsigned i = 0; i < 2 && address != 0; i++) {
        gcd_status st = GCD_OK;
        uint32_t type = clr_type_of(c, image_u64(c->image, address) & ~UINT64_C(7), &st);
        if (type == CLR_NONE)
            return 0;
        if (c->types[type].component_bytes == 1)
            return address;
        if (c->types[type].component_bytes != REFERENCE_BYTES ||
            image_u32(c->image, address + 8) == 0)
            return 0;
        address = image_u64(c->image, address + TRACE_DATA);
    }
    return 0;
}

static struct gcd_image_call read_call(struct gcd_image_numbers *n, uint64_t desc)
{
    struct clr *c = &n->image->clr;
    struct clr_frame f = { .module = 0 };
    struct gcd_image_call call = { .name = "", .framework = true };
    char name[CLR_METHOD_BYTES];
    clr_method_of(c, desc, &f);
    struct gcd_metadata *m = image_modules_get(&n->classes, f.module);
    if (m == NULL || clr_name_method(&f, m, name) != GCD_OK || name[0] == '\0' ||
        gcd_textpool_add(&n->text, name, strlen(name), &call.name) != GCD_OK)
        return call;
    call.framework = clr_is_framework(&c->modules[gcd_idmap_get(&c->module_by_id, f.module)]);
    return call;
}

/* Traces have the same methods again and again, of modules in turn: metadata are opened once for
 * each method. */
static struct gcd_image_call call_of(struct gcd_image_numbers *n, uint64_t desc)
{
    uint32_t known = gcd_idmap_get(&n->by_method, desc);
    if (known != GCD_IDMAP_NONE)
        return n->calls[known];
    struct gcd_image_call call = read_call(n, desc);
    if (n->call_count < GCD_IDMAP_NONE &&
        gcd_vec_reserve(&n->alloc, &n->calls, &n->call_cap, n->call_count + 1, sizeof *n->calls,
                        SIZE_MAX) &&
        gcd_idmap_put(&n->by_method, desc, (uint32_t)n->call_count))
        n->calls[n->call_count++] = call;
    return call;
}

size_t gcd_image_calls(struct gcd_image_numbers *n, uint64_t address, struct gcd_image_call *ret,
                       size_t max)
{
    if (n->image == NULL)
        return 0;
    struct image *image = n->image->clr.image;
    uint64_t trace = bytes_of_trace(n, address);
    uint32_t bytes = trace != 0 ? image_u32(image, trace + 8) : 0;
    uint32_t count = bytes >= TRACE_HEAD ? image_u32(image, trace + TRACE_DATA) : 0;
    if (bytes < TRACE_HEAD || count > (bytes - TRACE_HEAD) / TRACE_CALL)
        return 0;
    size_t calls = count < max ? count : max;
    uint64_t first = trace + TRACE_DATA + TRACE_HEAD + TRACE_METHOD;
    for (size_t i = 0; i < calls; i++)
        ret[i] = call_of(n, image_u64(image, first + i * TRACE_CALL));
    return calls;
}
