#include "image/image_enums.h"

#include <string.h>

#include "base/mem.h"
#include "base/signature.h"
#include "image/clr/clr_names.h"
#include "values/value_rows.h"

#define LITERALS_MAX     65536u /* of an enum */
#define COMBINATIONS_MAX 4096u  /* of an enum, with names of their own */
#define COMBINED_BYTES   1024u  /* of the name of one */
#define PARTS_MAX        64u    /* of one */
#define DEFINITIONS_MAX  (UINT32_C(1) << 22)

void image_enums_init(struct image_enums *e, const struct gcd_alloc *alloc, struct clr *c,
                      struct gcd_textpool *text)
{
    *e = (struct image_enums){ .alloc = *alloc, .clr = c, .text = text, .modules.clr = c };
    gcd_idmap_init(&e->by_name, &e->alloc);
}

void image_enums_done(struct image_enums *e)
{
    for (size_t i = 0; i < e->count; i++)
        gcd_mem_free(&e->alloc, e->items[i].literals,
                     e->items[i].cap * sizeof *e->items[i].literals);
    gcd_mem_free(&e->alloc, e->items, e->cap * sizeof *e->items);
    gcd_mem_free(&e->alloc, e->definitions, e->definition_cap * sizeof *e->definitions);
    gcd_idmap_done(&e->by_name);
    image_modules_done(&e->modules);
}

/* ---- definitions ---- */

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
        value_number_bytes(f.element_type) == 0)
        return false;
    *ret_element = f.element_type;
    return true;
}

static bool read_literals(struct image_enums *e, struct gcd_metadata *m, struct enumeration *to)
{
    struct gcd_literal l = { .token = 0 };
    struct gcd_error own = GCD_ERROR_INIT;
    while (to->count < LITERALS_MAX &&
           gcd_metadata_next_literal(m, to->token, &l, &own) == GCD_OK) {
        if (!gcd_vec_reserve(&e->alloc, &to->literals, &to->cap, to->count + 1,
                             sizeof *to->literals, LITERALS_MAX) ||
            gcd_textpool_add(e->text, l.name, strlen(l.name), &to->literals[to->count].name) !=
                GCD_OK)
            return false;
        to->literals[to->count++].value = l.value;
    }
    to->known = to->count;
    return true;
}

uint32_t image_enum_add(struct image_enums *e, uint64_t module, struct gcd_metadata *m,
                        uint32_t token)
{
    struct enumeration x = { .module = module, .token = token };
    if (!is_enum(m, token, &x.element))
        return 0;
    for (size_t i = 0; i < e->count; i++)
        if (e->items[i].module == module && e->items[i].token == token)
            return (uint32_t)i + 1;
    x.flags = gcd_metadata_is_flags(m, token);
    if (gcd_vec_reserve(&e->alloc, &e->items, &e->cap, e->count + 1, sizeof *e->items,
                        UINT32_MAX - 1) &&
        read_literals(e, m, &x)) {
        e->items[e->count++] = x;
        return (uint32_t)e->count;
    }
    gcd_mem_free(&e->alloc, x.literals, x.cap * sizeof *x.literals);
    return 0;
}

/* ---- by name ---- */

static uint64_t hash_of(const char *name)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *name != '\0'; name++)
        h = (h ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    return h;
}

static bool add_definition(struct image_enums *e, uint32_t module, uint32_t token, const char *name)
{
    uint64_t hash = hash_of(name);
    uint32_t known = gcd_idmap_get(&e->by_name, hash);
    if (known != GCD_IDMAP_NONE) {
        e->definitions[known].token = 0;
        return true;
    }
    if (!gcd_vec_reserve(&e->alloc, &e->definitions, &e->definition_cap, e->definition_count + 1,
                         sizeof *e->definitions, DEFINITIONS_MAX) ||
        !gcd_idmap_put(&e->by_name, hash, (uint32_t)e->definition_count))
        return false;
    e->definitions[e->definition_count++] = (struct definition){ module, token };
    return true;
}

/* False: not all can be kept, so that no name is sure to be the only one. */
static bool add_definitions(struct image_enums *e, uint32_t module, struct gcd_metadata *m)
{
    uint32_t n = gcd_metadata_type_count(m);
    for (uint32_t i = 1; i <= n; i++) {
        struct gcd_error own = GCD_ERROR_INIT;
        const char *name;
        if (gcd_metadata_reflection_name(m, GCD_TOKEN_TYPE | i, &name, NULL, &own) == GCD_OK &&
            !add_definition(e, module, GCD_TOKEN_TYPE | i, name))
            return false;
    }
    return true;
}

static void make_index(struct image_enums *e)
{
    bool all = true;
    e->indexed = true;
    for (size_t i = 0; i < e->clr->module_count && all; i++) {
        struct clr_metadata m;
        if (!clr_metadata_find(e->clr, &e->clr->modules[i], &m))
            continue;
        all = add_definitions(e, (uint32_t)i, m.m);
        clr_metadata_close(e->clr, &m);
    }
    if (!all)
        gcd_idmap_clear(&e->by_name);
}

bool image_enums_definition(struct image_enums *e, const char *name, uint64_t *ret_module,
                            struct gcd_metadata **ret_m, uint32_t *ret_token)
{
    struct gcd_error own = GCD_ERROR_INIT;
    const char *found;
    if (!e->indexed)
        make_index(e);
    uint32_t i = gcd_idmap_get(&e->by_name, hash_of(name));
    if (i == GCD_IDMAP_NONE || e->definitions[i].token == 0)
        return false;
    *ret_module = e->clr->modules[e->definitions[i].module].id;
    *ret_token = e->definitions[i].token;
    *ret_m = image_modules_get(&e->modules, *ret_module);
    return *ret_m != NULL &&
           gcd_metadata_reflection_name(*ret_m, *ret_token, &found, NULL, &own) == GCD_OK &&
           strcmp(found, name) == 0; /* not only its hash */
}

uint32_t image_enum_find(struct image_enums *e, const char *name)
{
    uint64_t module;
    struct gcd_metadata *m;
    uint32_t token;
    return image_enums_definition(e, name, &module, &m, &token)
               ? image_enum_add(e, module, m, token)
               : 0;
}

/* ---- names of values ---- */

/* The greatest literal that VALUE has all bits of, as Enum.ToString takes them; NULL = there is
 * none. */
static const struct enum_literal *greatest_in(const struct enumeration *x, uint64_t value)
{
    const struct enum_literal *best = NULL;
    for (size_t i = 0; i < x->count; i++) {
        const struct enum_literal *l = &x->literals[i];
        if (l->value != 0 && (l->value & value) == l->value &&
            (best == NULL || l->value > best->value))
            best = l;
    }
    return best;
}

/* Flags by their names, the lowest first; its length, 0 = some have none. */
static size_t combine(const struct enumeration *x, uint64_t value, char ret[COMBINED_BYTES])
{
    const struct enum_literal *parts[PARTS_MAX] = { NULL };
    size_t count = 0, n = 0;
    while (value != 0 && count < PARTS_MAX) {
        const struct enum_literal *l = greatest_in(x, value);
        if (l == NULL)
            return 0;
        parts[count++] = l;
        value &= ~l->value;
    }
    while (value == 0 && count-- > 0) {
        size_t length = strlen(parts[count]->name);
        if (n + length + 3 > COMBINED_BYTES)
            return 0;
        memcpy(ret + n, parts[count]->name, length);
        n += length;
        if (count > 0) {
            memcpy(ret + n, " | ", 3);
            n += 3;
        }
    }
    return n;
}

const char *image_enum_name(struct image_enums *e, uint32_t number, uint64_t value)
{
    struct enumeration *x = &e->items[number - 1];
    char name[COMBINED_BYTES];
    for (size_t i = 0; i < x->known; i++)
        if (x->literals[i].value == value)
            return x->literals[i].name;
    size_t n = x->flags && x->known - x->count < COMBINATIONS_MAX ? combine(x, value, name) : 0;
    if (n == 0 ||
        !gcd_vec_reserve(&e->alloc, &x->literals, &x->cap, x->known + 1, sizeof *x->literals,
                         LITERALS_MAX + COMBINATIONS_MAX) ||
        gcd_textpool_add(e->text, name, n, &x->literals[x->known].name) != GCD_OK)
        return NULL;
    x->literals[x->known].value = value;
    return x->literals[x->known++].name;
}
