/*
 * Rows of the tables (ECMA-335 II.22): kinds of columns.  All tables are listed, because the
 * position of a table depends on those before it.
 */
#ifndef GCD_METADATA_META_SCHEMA_H
#define GCD_METADATA_META_SCHEMA_H

#include "metadata/meta_tables.h"

/* A column is a row number of table N, or one of these. */
enum {
    COLUMN_CODED = 0x40, /* + enum coded */
    COLUMN_2 = 0x60,
    COLUMN_4,
    COLUMN_STRING,
    COLUMN_GUID,
    COLUMN_BLOB,
    COLUMN_END = 0x7f
};

enum coded {
    TYPE_DEF_OR_REF,
    HAS_CONSTANT,
    HAS_CUSTOM_ATTRIBUTE,
    HAS_FIELD_MARSHAL,
    HAS_DECL_SECURITY,
    MEMBER_REF_PARENT,
    HAS_SEMANTICS,
    METHOD_DEF_OR_REF,
    MEMBER_FORWARDED,
    IMPLEMENTATION,
    CUSTOM_ATTRIBUTE_TYPE,
    RESOLUTION_SCOPE,
    TYPE_OR_METHOD_DEF,
    CODED_KINDS
};

#define CODED_TABLES_MAX 22

/* Tables that a coded index may refer to (II.24.2.6). */
static const struct {
    uint8_t tag_bits, n, table[CODED_TABLES_MAX];
} coded_kinds[CODED_KINDS] = {
    [TYPE_DEF_OR_REF] = { 2, 3, { META_TYPE_DEF, META_TYPE_REF, META_TYPE_SPEC } },
    [HAS_CONSTANT] = { 2, 3, { META_FIELD, META_PARAM, META_PROPERTY } },
    [HAS_CUSTOM_ATTRIBUTE] = { 5, 22, { META_METHOD_DEF,
                                        META_FIELD,
                                        META_TYPE_REF,
                                        META_TYPE_DEF,
                                        META_PARAM,
                                        META_INTERFACE_IMPL,
                                        META_MEMBER_REF,
                                        META_MODULE,
                                        META_DECL_SECURITY,
                                        META_PROPERTY,
                                        META_EVENT,
                                        META_STAND_ALONE_SIG,
                                        META_MODULE_REF,
                                        META_TYPE_SPEC,
                                        META_ASSEMBLY,
                                        META_ASSEMBLY_REF,
                                        META_FILE,
                                        META_EXPORTED_TYPE,
                                        META_MANIFEST_RESOURCE,
                                        META_GENERIC_PARAM,
                                        META_GENERIC_PARAM_CONSTRAINT,
                                        META_METHOD_SPEC } },
    [HAS_FIELD_MARSHAL] = { 1, 2, { META_FIELD, META_PARAM } },
    [HAS_DECL_SECURITY] = { 2, 3, { META_TYPE_DEF, META_METHOD_DEF, META_ASSEMBLY } },
    [MEMBER_REF_PARENT] = { 3,
                            5,
                            { META_TYPE_DEF, META_TYPE_REF, META_MODULE_REF, META_METHOD_DEF,
                              META_TYPE_SPEC } },
    [HAS_SEMANTICS] = { 1, 2, { META_EVENT, META_PROPERTY } },
    [METHOD_DEF_OR_REF] = { 1, 2, { META_METHOD_DEF, META_MEMBER_REF } },
    [MEMBER_FORWARDED] = { 1, 2, { META_FIELD, META_METHOD_DEF } },
    [IMPLEMENTATION] = { 2, 3, { META_FILE, META_ASSEMBLY_REF, META_EXPORTED_TYPE } },
    [CUSTOM_ATTRIBUTE_TYPE] = { 3, 2, { META_METHOD_DEF, META_MEMBER_REF } },
    [RESOLUTION_SCOPE] = { 2,
                           4,
                           { META_MODULE, META_MODULE_REF, META_ASSEMBLY_REF, META_TYPE_REF } },
    [TYPE_OR_METHOD_DEF] = { 1, 2, { META_TYPE_DEF, META_METHOD_DEF } },
};

#define CODED(kind) (COLUMN_CODED + (kind))
#define S           COLUMN_STRING
#define G           COLUMN_GUID
#define B           COLUMN_BLOB
#define ROW(...)                \
    {                           \
        __VA_ARGS__, COLUMN_END \
    }

static const uint8_t columns[META_TABLES][META_COLUMNS_MAX + 1] = {
    [META_MODULE] = ROW(COLUMN_2, S, G, G, G),
    [META_TYPE_REF] = ROW(CODED(RESOLUTION_SCOPE), S, S),
    [META_TYPE_DEF] = ROW(COLUMN_4, S, S, CODED(TYPE_DEF_OR_REF), META_FIELD, META_METHOD_DEF),
    [META_FIELD_PTR] = ROW(META_FIELD),
    [META_FIELD] = ROW(COLUMN_2, S, B),
    [META_METHOD_PTR] = ROW(META_METHOD_DEF),
    [META_METHOD_DEF] = ROW(COLUMN_4, COLUMN_2, COLUMN_2, S, B, META_PARAM),
    [META_PARAM_PTR] = ROW(META_PARAM),
    [META_PARAM] = ROW(COLUMN_2, COLUMN_2, S),
    [META_INTERFACE_IMPL] = ROW(META_TYPE_DEF, CODED(TYPE_DEF_OR_REF)),
    [META_MEMBER_REF] = ROW(CODED(MEMBER_REF_PARENT), S, B),
    [META_CONSTANT] = ROW(COLUMN_2, CODED(HAS_CONSTANT), B),
    [META_CUSTOM_ATTRIBUTE] = ROW(CODED(HAS_CUSTOM_ATTRIBUTE), CODED(CUSTOM_ATTRIBUTE_TYPE), B),
    [0x0d /* FieldMarshal */] = ROW(CODED(HAS_FIELD_MARSHAL), B),
    [META_DECL_SECURITY] = ROW(COLUMN_2, CODED(HAS_DECL_SECURITY), B),
    [0x0f /* ClassLayout */] = ROW(COLUMN_2, COLUMN_4, META_TYPE_DEF),
    [META_FIELD_LAYOUT] = ROW(COLUMN_4, META_FIELD),
    [META_STAND_ALONE_SIG] = ROW(B),
    [META_EVENT_MAP] = ROW(META_TYPE_DEF, META_EVENT),
    [META_EVENT_PTR] = ROW(META_EVENT),
    [META_EVENT] = ROW(COLUMN_2, S, CODED(TYPE_DEF_OR_REF)),
    [0x15 /* PropertyMap */] = ROW(META_TYPE_DEF, META_PROPERTY),
    [META_PROPERTY_PTR] = ROW(META_PROPERTY),
    [META_PROPERTY] = ROW(COLUMN_2, S, B),
    [0x18 /* MethodSemantics */] = ROW(COLUMN_2, META_METHOD_DEF, CODED(HAS_SEMANTICS)),
    [0x19 /* MethodImpl */] =
        ROW(META_TYPE_DEF, CODED(METHOD_DEF_OR_REF), CODED(METHOD_DEF_OR_REF)),
    [META_MODULE_REF] = ROW(S),
    [META_TYPE_SPEC] = ROW(B),
    [0x1c /* ImplMap */] = ROW(COLUMN_2, CODED(MEMBER_FORWARDED), S, META_MODULE_REF),
    [0x1d /* FieldRVA */] = ROW(COLUMN_4, META_FIELD),
    [META_EDIT_LOG] = ROW(COLUMN_4, COLUMN_4),
    [0x1f /* EncMap */] = ROW(COLUMN_4),
    [META_ASSEMBLY] = ROW(COLUMN_4, COLUMN_2, COLUMN_2, COLUMN_2, COLUMN_2, COLUMN_4, B, S, S),
    [0x21 /* AssemblyProcessor */] = ROW(COLUMN_4),
    [0x22 /* AssemblyOS */] = ROW(COLUMN_4, COLUMN_4, COLUMN_4),
    [META_ASSEMBLY_REF] = ROW(COLUMN_2, COLUMN_2, COLUMN_2, COLUMN_2, COLUMN_4, B, S, S, B),
    [0x24 /* AssemblyRefProcessor */] = ROW(COLUMN_4, META_ASSEMBLY_REF),
    [0x25 /* AssemblyRefOS */] = ROW(COLUMN_4, COLUMN_4, COLUMN_4, META_ASSEMBLY_REF),
    [META_FILE] = ROW(COLUMN_4, S, B),
    [META_EXPORTED_TYPE] = ROW(COLUMN_4, COLUMN_4, S, S, CODED(IMPLEMENTATION)),
    [META_MANIFEST_RESOURCE] = ROW(COLUMN_4, COLUMN_4, S, CODED(IMPLEMENTATION)),
    [META_NESTED_CLASS] = ROW(META_TYPE_DEF, META_TYPE_DEF),
    [META_GENERIC_PARAM] = ROW(COLUMN_2, COLUMN_2, CODED(TYPE_OR_METHOD_DEF), S),
    [META_METHOD_SPEC] = ROW(CODED(METHOD_DEF_OR_REF), B),
    [META_GENERIC_PARAM_CONSTRAINT] = ROW(META_GENERIC_PARAM, CODED(TYPE_DEF_OR_REF)),
};

#undef CODED
#undef S
#undef G
#undef B
#undef ROW

#endif
