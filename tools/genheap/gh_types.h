/* The types of the invented program: names, ids, layout rules, how often they occur. */
#ifndef GH_TYPES_H
#define GH_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "gh_opts.h"

enum gh_type_kind {
    GH_T_FIXED, /* header, REFS references, DATA_BYTES of values */
    GH_T_STRING,
    /* elements of DATA_BYTES bytes (0: one pointer) with REFS references each */
    GH_T_ARRAY,
    GH_T_VALUE /* never an object, only a type parameter */
};

#define GH_MODULES   6
#define GH_TYPES_MAX 640
#define GH_NO_TYPE   0xFFFFu

struct gh_type {
    const char *name; /* UTF-8 */
    uint64_t id;      /* MethodTable address */
    uint32_t token;
    uint32_t flags;
    uint32_t weight; /* frequency in shape mix */
    uint16_t data_bytes;
    uint16_t refs;
    uint16_t params[2]; /* indexes of types */
    uint8_t n_params;
    uint8_t module;
    uint8_t element; /* CorElementType */
    uint8_t kind;
    uint8_t shapes; /* bit per enum gh_shape */
};

struct gh_module {
    const char *path;
    const char *assembly;
    uint64_t id, assembly_id;
};

struct gh_types {
    struct gh_type t[GH_TYPES_MAX];
    uint32_t n;
    struct gh_module modules[GH_MODULES];
    unsigned ptr_bytes;
    char names[48 * 1024];
    uint32_t names_used;
};

void gh_types_init(struct gh_types *ty, unsigned ptr_bytes);
uint16_t gh_types_find(const struct gh_types *ty, const char *name);

/* Bytes of an object with LEN elements (strings, arrays; ignored for others), not rounded up. */
uint64_t gh_type_size(const struct gh_types *ty, const struct gh_type *t, uint64_t len);

#endif
