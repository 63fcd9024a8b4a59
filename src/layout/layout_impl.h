#ifndef GCD_LAYOUT_LAYOUT_IMPL_H
#define GCD_LAYOUT_LAYOUT_IMPL_H

#include "base/idmap.h"
#include "base/mem.h"
#include "base/text.h"
#include "layout/layout.h"

#define LAYOUT_DEPTH_MAX  32u   /* types in the arguments of types */
#define LAYOUT_FIELDS_MAX 8192u /* of one type, and */
#define LAYOUT_SLOTS_MAX  4096u /* its references */

enum layout_kind {
    LAYOUT_PLAIN,
    LAYOUT_NAMED,
    LAYOUT_ARRAY,
    LAYOUT_PARAMETER, /* of the type that has the signature */
    LAYOUT_UNKNOWN
};

enum layout_state { LAYOUT_UNSEEN, LAYOUT_VISITED, LAYOUT_KNOWN, LAYOUT_BAD };

struct layout_type {
    enum layout_kind kind;
    bool value;              /* it is stored in its place, not referred to */
    bool open;               /* has a parameter in it */
    bool vague;              /* has an unknown type in it */
    uint8_t depth;           /* of types in it */
    enum layout_state state; /* of the slots of a value, or of an object */
    uint32_t number;         /* element type, definition, rank, or number of the parameter */
    uint32_t first, count;   /* its arguments, or its element, in layout.lists */
    uint32_t base;           /* of a class, once STATE is LAYOUT_KNOWN; LAYOUT_NONE = none */
    uint32_t first_slot, slot_count;
    uint32_t key;      /* as the declared type of a slot: its number; 0 = not one, or any */
    uint32_t same_key; /* the next such type with the same definition, or the next array */
};

struct layout_slot {
    const char *name;
    uint32_t type;
};

struct layout_field {
    const char *name;
    uint32_t type, offset;
};

struct layout_def {
    uint32_t module, token;
    enum layout_state state;
    uint32_t flags, parameters, inline_length;
    uint32_t base; /* type, LAYOUT_NONE = none */
    uint32_t first_field, field_count;
    uint32_t first_interface, interface_count; /* types in layout.lists */
    bool ancestors_found;
    uint32_t first_ancestor, ancestor_count; /* definitions in layout.lists */
    bool all_ancestors;
    bool arrays;     /* arrays extend or implement it, by its name */
    bool reflection; /* it is of System.Reflection */
    bool castable;   /* its objects can implement any interface */
    uint32_t keys;   /* the first type with a key that has this definition, LAYOUT_NONE = none */
};

struct layout_place {
    uint32_t module; /* LAYOUT_NONE = free */
    struct gcd_metadata *m;
    uint64_t used;
};

struct layout {
    struct gcd_alloc alloc;
    struct layout_files files;
    const struct layout_module *modules;
    uint32_t module_count;
    uint32_t *next_module; /* [module_count] the next with the same assembly name */
    uint8_t *indexed;      /* [module_count] enum layout_state of the names in it */
    struct layout_place places[LAYOUT_OPEN_MAX];
    uint64_t clock;
    /* what may still be done: a hostile file must not take forever */
    uint64_t work;

    struct gcd_idmap by_assembly;  /* hash of the name -> first module */
    struct gcd_idmap by_name;      /* hash of module and name -> row of the definition */
    struct gcd_idmap by_forward;   /* the same of forwarders */
    struct gcd_idmap by_reference; /* module and token of a reference -> definition + 1, 0 = none */
    struct gcd_idmap by_token;     /* module and token -> definition */
    struct gcd_idmap by_hash;      /* of a type -> type */

    struct layout_type *types;
    size_t type_count, type_cap;
    struct layout_def *defs;
    size_t def_count, def_cap;
    struct layout_field *fields;
    size_t field_count, field_cap;
    struct layout_slot *slots;
    size_t slot_count, slot_cap;
    uint32_t *lists;
    size_t list_count, list_cap;
    uint32_t *pending, *operands;
    size_t pending_count, pending_cap, operand_count, operand_cap;
    struct gcd_textpool text;
    char *out;
    size_t out_n, out_cap;

    uint32_t core;                     /* the module of System.Object, LAYOUT_NONE = none */
    uint32_t object, string, delegate; /* definitions; LAYOUT_NONE = unknown */
    uint32_t primitives[32];           /* definitions by element type */
    size_t numbered;                   /* slots whose declared type has a key */
    uint32_t key_count, first_array_key;
    uint32_t *array_keys; /* definitions that an array may extend or implement */
    size_t array_key_count, array_key_cap;
};

#define LAYOUT_FLAG_INTERFACE 0x20u /* TypeAttributes, II.23.1.15 */

/* Takes N from what may still be done; false: too much has been done already. */
static inline bool layout_may(struct layout *l, uint64_t n)
{
    l->work = l->work > n ? l->work - n : 0;
    return l->work > 0;
}

gcd_status layout_no_memory(struct gcd_error *err);
/* Makes room for one more item of a list. */
#define LAYOUT_GROW(l, list, count, cap)                                                   \
    gcd_vec_reserve(&(l)->alloc, &(l)->list, &(l)->cap, (l)->count + 1, sizeof *(l)->list, \
                    LAYOUT_NONE)

static inline bool layout_is_reference(const struct layout_type *t)
{
    return t->kind == LAYOUT_ARRAY || (t->kind != LAYOUT_PLAIN && !t->value);
}

/* ---- layout_types.c ---- */

/* The type at SIGNATURE of MODULE. */
gcd_status layout_read_type(struct layout *l, uint32_t module, const uint8_t *signature, size_t n,
                            uint32_t *ret, struct gcd_error *err);
/* TYPE with the arguments of OWNER for its parameters. */
gcd_status layout_substitute(struct layout *l, uint32_t type, uint32_t owner, uint32_t *ret,
                             struct gcd_error *err);
gcd_status layout_list_add(struct layout *l, uint32_t value, struct gcd_error *err);
/* Puts VALUE on top of layout.operands. */
gcd_status layout_push(struct layout *l, uint32_t value, struct gcd_error *err);

/* ---- layout_modules.c ---- */

/* *RET is NULL when the module cannot be read. */
gcd_status layout_open(struct layout *l, uint32_t module, struct gcd_metadata **ret,
                       struct gcd_error *err);
/* The definition that TOKEN of MODULE, a definition or reference, names; LAYOUT_NONE = unknown. */
gcd_status layout_find_def(struct layout *l, uint32_t module, uint32_t token, uint32_t *ret,
                           struct gcd_error *err);
/* The definition of NAME in the module of System.Object. */
gcd_status layout_find_core(struct layout *l, const char *name, uint32_t *ret,
                            struct gcd_error *err);

/* ---- layout_defs.c ---- */

/* Reads definition DEF, unless that is done; its state is then LAYOUT_KNOWN or LAYOUT_BAD. */
gcd_status layout_read_def(struct layout *l, uint32_t def, struct gcd_error *err);
/* Finds its base types and interfaces; read before. */
gcd_status layout_find_ancestors(struct layout *l, uint32_t def, struct gcd_error *err);

#endif
