/*
 * Streams and tables of metadata (ECMA-335 II.24.2): cells by table, row and column, and the data
 * they refer to.
 */
#ifndef GCD_METADATA_META_TABLES_H
#define GCD_METADATA_META_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "metadata/meta_window.h"

enum meta_table {
    META_MODULE = 0x00,
    META_TYPE_REF = 0x01,
    META_TYPE_DEF = 0x02,
    META_FIELD_PTR = 0x03,
    META_FIELD = 0x04,
    META_METHOD_PTR = 0x05,
    META_METHOD_DEF = 0x06,
    META_PARAM_PTR = 0x07,
    META_PARAM = 0x08,
    META_INTERFACE_IMPL = 0x09,
    META_MEMBER_REF = 0x0a,
    META_CONSTANT = 0x0b,
    META_CUSTOM_ATTRIBUTE = 0x0c,
    META_DECL_SECURITY = 0x0e,
    META_FIELD_LAYOUT = 0x10,
    META_STAND_ALONE_SIG = 0x11,
    META_EVENT_MAP = 0x12,
    META_EVENT_PTR = 0x13,
    META_EVENT = 0x14,
    META_PROPERTY_PTR = 0x16,
    META_PROPERTY = 0x17,
    META_MODULE_REF = 0x1a,
    META_TYPE_SPEC = 0x1b,
    META_EDIT_LOG = 0x1e,
    META_ASSEMBLY = 0x20,
    META_ASSEMBLY_REF = 0x23,
    META_FILE = 0x26,
    META_EXPORTED_TYPE = 0x27,
    META_MANIFEST_RESOURCE = 0x28,
    META_NESTED_CLASS = 0x29,
    META_GENERIC_PARAM = 0x2a,
    META_METHOD_SPEC = 0x2b,
    META_GENERIC_PARAM_CONSTRAINT = 0x2c,
    META_TABLES = 0x2d
};

/* Columns, by their place in the row. */
enum {
    TYPE_REF_SCOPE = 0,
    TYPE_REF_NAME = 1,
    TYPE_REF_NAMESPACE = 2,
    TYPE_DEF_FLAGS = 0,
    TYPE_DEF_NAME = 1,
    TYPE_DEF_NAMESPACE = 2,
    TYPE_DEF_EXTENDS = 3,
    TYPE_DEF_FIELDS = 4,
    TYPE_DEF_METHODS = 5,
    FIELD_FLAGS = 0,
    FIELD_NAME = 1,
    FIELD_SIGNATURE = 2,
    METHOD_RVA = 0,
    METHOD_NAME = 3,
    EVENT_MAP_CLASS = 0,
    EVENT_MAP_EVENTS = 1,
    EVENT_NAME = 1,
    INTERFACE_CLASS = 0,
    INTERFACE_TYPE = 1,
    MEMBER_REF_CLASS = 0,
    CONSTANT_TYPE = 0, /* and a byte of padding */
    CONSTANT_PARENT = 1,
    CONSTANT_VALUE = 2,
    ATTRIBUTE_PARENT = 0,
    ATTRIBUTE_TYPE = 1,
    ATTRIBUTE_VALUE = 2,
    FIELD_LAYOUT_OFFSET = 0,
    FIELD_LAYOUT_FIELD = 1,
    TYPE_SPEC_SIGNATURE = 0,
    MODULE_NAME = 1,
    MODULE_MVID = 2,
    ASSEMBLY_VERSION = 1,
    ASSEMBLY_PUBLIC_KEY = 6,
    ASSEMBLY_NAME = 7,
    ASSEMBLY_REF_NAME = 6,
    EXPORTED_NAME = 2,
    EXPORTED_NAMESPACE = 3,
    EXPORTED_IMPLEMENTATION = 4,
    NESTED_INNER = 0,
    NESTED_OUTER = 1,
    GENERIC_PARAM_OWNER = 2,
    GENERIC_PARAM_NAME = 3
};

#define META_COLUMNS_MAX 9u
#define META_STRING_MAX  ((size_t)4096) /* compilers stop at 1023 bytes */
#define META_BLOB_MAX    ((size_t)4096)

struct meta_tables {
    struct meta_window *w;
    struct meta_region strings, guids, blobs, pdb;
    struct {
        uint64_t off;
        uint32_t rows;
        uint8_t row_bytes, at[META_COLUMNS_MAX + 1]; /* of column I: at[i] to at[i + 1] */
    } table[META_TABLES];
    bool sorted[META_TABLES]; /* has been checked, see meta_find */
    char string[3 * META_STRING_MAX + 1];
    uint8_t blob[META_BLOB_MAX];
};

/* Find the streams in region R of W; returns the one with the tables. */
struct meta_region meta_find_streams(struct meta_tables *t, struct meta_window *w,
                                     struct meta_region r);
/* The same, and lay out the tables. */
void meta_tables_open(struct meta_tables *t, struct meta_window *w, struct meta_region r);

/* Rows are counted from 1, as tokens and other rows do.  A row that does not exist is GCD_E_FORMAT.
 */
uint32_t meta_cell(struct meta_tables *t, enum meta_table table, uint32_t row, unsigned column);

/*
 * Rows whose COLUMN, by which the table is sorted, is VALUE: *RET_FIRST is the first; returns their
 * number.  GCD_E_UNSUPPORTED if the table is not sorted.
 */
uint32_t meta_find(struct meta_tables *t, enum meta_table table, unsigned column, uint32_t value,
                   uint32_t *ret_first);
/* The last row whose COLUMN is not above VALUE, 0 = none.  Same condition and error. */
uint32_t meta_find_last(struct meta_tables *t, enum meta_table table, unsigned column,
                        uint32_t value);

/* The data of a cell with an index into a heap.  A text is well-formed UTF-8; both are valid until
 * the next call for their kind. */
const char *meta_string(struct meta_tables *t, uint32_t index);
const uint8_t *meta_blob(struct meta_tables *t, uint32_t index, size_t *ret_n);
/* The region of a blob of any size. */
struct meta_region meta_blob_region(struct meta_tables *t, uint32_t index);
/* 16 bytes; zeros for index 0. */
const uint8_t *meta_guid(struct meta_tables *t, uint32_t index);

/* A coded index TypeDefOrRef as a token (II.24.2.6), 0 = nil. */
uint32_t meta_type_token(struct meta_tables *t, uint32_t coded);

#endif
