/*
 * An open module, and how names of types are composed.
 */
#ifndef GCD_METADATA_META_IMPL_H
#define GCD_METADATA_META_IMPL_H

#include <gcdumpc/unstable/metadata.h>

#include "metadata/meta_tables.h"
#include "metadata/meta_window.h"

#define META_FIELD_STATIC 0x10u /* FieldAttributes, II.23.1.5 */
#define META_DEPTH_MAX    32u   /* nesting of types; nesting in a signature */
#define META_TEXT_MAX     ((size_t)64 * 1024)

/* A name being written: its types from the outermost to the innermost, and the arguments that each
 * takes. */
struct meta_name {
    uint32_t token[META_DEPTH_MAX], takes[META_DEPTH_MAX];
    uint32_t links, link; /* LINK is the one whose arguments come next */
    uint32_t left;        /* of its arguments */
};

struct gcd_metadata {
    struct gcd_alloc alloc;
    struct meta_window w;
    struct meta_tables t;
    struct gcd_module_identity identity;
    char *names; /* those of the identity */
    size_t names_bytes;
    char *text; /* [text_n], what is being written */
    size_t text_n, text_cap;
    /* inside the signature of a function pointer: nothing is written */
    unsigned muted;
    char field_name[3 * META_STRING_MAX + 2]; /* and a "/" */
    struct meta_name frames[META_DEPTH_MAX];
};

/* Begin a public call: forgets earlier failures.  End it: returns the status, with the error in
 * ERR. */
void meta_begin(struct gcd_metadata *m);
gcd_status meta_end(struct gcd_metadata *m, struct gcd_error *err);

void meta_put(struct gcd_metadata *m, const char *s);

/* Type parameters of type definition ROW: how many, and the row of the first one. */
uint32_t meta_parameters(struct gcd_metadata *m, uint32_t row, uint32_t *ret_first);
/* The row of the type that type definition ROW is nested in, 0 = none. */
uint32_t meta_outer(struct gcd_metadata *m, uint32_t row);

/*
 * Begin to write the name of TOKEN, a definition or a reference, with N_ARGS arguments: all of it
 * if there are none, else up to the first argument. Call meta_name_next after each argument; false
 * after the last.
 */
void meta_name_begin(struct gcd_metadata *m, struct meta_name *n, uint32_t token, uint32_t n_args);
bool meta_name_next(struct gcd_metadata *m, struct meta_name *n);

/* The name of type ROW of TABLE, definitions, references or exported types, until the next text is
 * read. */
const char *meta_type_name(struct gcd_metadata *m, enum meta_table table, uint32_t row);
bool meta_is_type(struct gcd_metadata *m, enum meta_table table, uint32_t row,
                  const char *namespace, const char *name);

/* Writes it as reflection spells it, without the types that it is nested in. */
void meta_put_reflection_name(struct gcd_metadata *m, enum meta_table table, uint32_t row);
/* Write the name of TOKEN as reflection spells it; returns where the name of the type itself
 * begins.  m->frames[0] then has the types that it is nested in. */
size_t meta_reflection_name(struct gcd_metadata *m, uint32_t token);

struct gcd_cur;
/* The first element type of the field at *C after its modifiers; for a generic type, that of its
 * definition.  *RET_TOKEN: class or value type. */
uint8_t meta_element_type(struct gcd_metadata *m, struct gcd_cur *c, uint32_t *ret_token);

/* The base class of ROW if it is in this module; 0 = none.  *RET_ELSEWHERE: it is in another module
 * and not System.Object. */
uint32_t meta_base(struct gcd_metadata *m, uint32_t row, bool *ret_elsewhere);

/* The length of the name of the event of CLASS whose field m->field_name is, 0 = of none. */
size_t meta_event_length(struct gcd_metadata *m, uint32_t class);
/* The attribute System.NAMESPACE.NAME of PARENT, a HasCustomAttribute (II.24.2.6): its row, 0 =
 * none. */
uint32_t meta_attribute(struct gcd_metadata *m, uint32_t parent, const char *namespace,
                        const char *name);

/* The signature of field ROW, after its kind; false = failed. */
bool meta_field_signature(struct gcd_metadata *m, uint32_t row, struct gcd_cur *ret);
/* The row after the last field of type definition ROW. */
uint32_t meta_fields_end(struct gcd_metadata *m, uint32_t row);

/* The row after the last method of type definition ROW; 0 = they are in no order. */
uint32_t meta_methods_end(struct gcd_metadata *m, uint32_t row);
/* The instructions of method ROW; empty = it has none.  Bytes of the one at AT. */
struct meta_region meta_code(struct gcd_metadata *m, uint32_t row);
uint64_t meta_instruction_bytes(struct gcd_metadata *m, struct meta_region code, uint64_t at);

/* Write the type at *C (ECMA-335 II.23.2.12); its type parameters are those of type definition ROW,
 * 0 = none. */
void meta_signature(struct gcd_metadata *m, struct gcd_cur *c, uint32_t row);

/* The last 8 bytes of the SHA-1 of a public key, in reverse order (II.6.3). */
void meta_public_key_token(struct gcd_metadata *m, struct meta_region key, uint8_t ret[8]);

#endif
