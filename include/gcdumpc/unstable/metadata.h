/*
 * What an assembly tells about its types: names that the events of a dump leave out.
 *
 * The runtime names a nested type without its outer types and a static variable without its class.
 * The file of the module knows both (ECMA-335).  It is read in small windows, each time anew:
 * memory does not depend on its size, and no earlier check is trusted later, so a file that changes
 * meanwhile causes at worst an error or a wrong name.
 *
 *     struct gcd_metadata *m;
 *     if (gcd_metadata_open(in, 0, UINT64_MAX, NULL, &m, &err) == GCD_OK) {
 *         const char *args[] = { "System.String", "Shop.Item" }, *name;
 *         // "System.Collections.Generic.Dictionary<System.String, Shop.Item>.Entry"
 *         st = gcd_metadata_name(m, 0x02000123, args, 2, &name, &err);
 *         gcd_metadata_free(m);
 *     }
 */
#ifndef GCDUMPC_UNSTABLE_METADATA_H
#define GCDUMPC_UNSTABLE_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>

struct gcd_metadata;

/* A GUID, as the bytes in the file and in the loader events. */
struct gcd_module_guid {
    uint8_t bytes[16];
};

/* A CodeView record of the debug directory: which symbol file belongs to the image. */
struct gcd_codeview {
    struct gcd_module_guid guid;
    uint32_t age;
};

#define GCD_CODEVIEW_MAX 8

struct gcd_module_identity {
    struct gcd_module_guid mvid; /* new with each compilation */
    const char *module_name;     /* "Shop.dll"; UTF-8, as all texts here */
    const char *assembly_name;   /* "" = the module has no assembly */
    uint16_t version[4];
    bool has_public_key;
    uint8_t public_key_token[8]; /* zeros without a public key */
    /* a ReadyToRun image may have another one for its native code */
    size_t codeview_count;
    struct gcd_codeview codeview[GCD_CODEVIEW_MAX];
};

/*
 * Open the image in IN that starts at OFF and has at most N bytes.  IN must be seekable
 * (gcd_input_read_at) and outlive the metadata; gzip is not decompressed.  IL images, ReadyToRun
 * images, trimmed images and components of a composite image are treated alike. ALLOC may be NULL.
 * GCD_E_TRUNCATED: the file ends early; GCD_E_FORMAT: it is damaged; GCD_E_UNSUPPORTED: it has no
 * metadata, or metadata that no compiler writes; GCD_E_LIMIT, GCD_E_IO, GCD_E_NOMEM.
 */
GCD_MUST_CHECK gcd_status gcd_metadata_open(struct gcd_input *in, uint64_t off, uint64_t n,
                                            const struct gcd_alloc *alloc,
                                            struct gcd_metadata **ret, struct gcd_error *err);
void gcd_metadata_free(struct gcd_metadata *m);

/* Valid as long as M. */
const struct gcd_module_identity *gcd_metadata_identity(const struct gcd_metadata *m);

/* What a loader event says about a module (ManagedPdbSignature, ManagedPdbAge); a GUID of zeros =
 * unknown. */
struct gcd_loaded_module {
    struct gcd_module_guid pdb_guid;
    uint32_t pdb_age;
};

enum gcd_module_match {
    GCD_MODULE_SAME, /* the file is the module that was loaded */
    /* it is not: replaced by a deployment, or another file with the same name */
    GCD_MODULE_OTHER,
    GCD_MODULE_UNKNOWN /* one of them has no CodeView record: time and size must decide */
};

/* Is the file the module that was loaded? */
enum gcd_module_match gcd_metadata_match(const struct gcd_module_identity *file,
                                         const struct gcd_loaded_module *loaded);

/* ---- types ---- */

#define GCD_TOKEN_TYPE   UINT32_C(0x02000000)
#define GCD_TOKEN_FIELD  UINT32_C(0x04000000)
#define GCD_TOKEN_METHOD UINT32_C(0x06000000)

/* The number of types that the module defines: their tokens are GCD_TOKEN_TYPE + 1 and so on, and
 * the first is <Module>. */
uint32_t gcd_metadata_type_count(const struct gcd_metadata *m);

struct gcd_type_definition {
    uint32_t flags; /* TypeAttributes, ECMA-335 II.23.1.15 */
    uint32_t outer; /* token of the type that it is nested in; 0 = none */
    /* token of what it extends: definition, reference or specification; 0 = nothing */
    uint32_t base;
    uint32_t parameters; /* type parameters, including those of the outer types */
    uint32_t interfaces; /* number of interfaces that it names: gcd_metadata_interface */
};

/* GCD_E_ARG: TOKEN is no type definition of M. */
GCD_MUST_CHECK gcd_status gcd_metadata_type(struct gcd_metadata *m, uint32_t token,
                                            struct gcd_type_definition *ret, struct gcd_error *err);
/* Interface I of those in the declaration of type TOKEN: a token like the base.  GCD_E_ARG. */
GCD_MUST_CHECK gcd_status gcd_metadata_interface(struct gcd_metadata *m, uint32_t token, uint32_t i,
                                                 uint32_t *ret, struct gcd_error *err);

/*
 * The name of type TOKEN as C# writes it, with namespace and outer types.  For a definition, the
 * N_ARGS names replace the type parameters, those of the outermost type first; with ARGS NULL the
 * parameters keep their own names.  N_ARGS is ignored for a reference or a specification:
 * "System.Collections.Generic.List<Shop.Item>".
 * The text is valid until the next call on M.  GCD_E_ARG: no such type, or a definition with a
 * different number of parameters.
 */
GCD_MUST_CHECK gcd_status gcd_metadata_name(struct gcd_metadata *m, uint32_t token,
                                            const char *const *args, size_t n_args,
                                            const char **ret, struct gcd_error *err);

/*
 * The same for a definition or a reference, as reflection spells it, without arguments:
 * "System.Collections.Generic.Dictionary`2+Entry".  *RET_LAST (may be NULL) is where the name of
 * the type itself begins, after its outer types: this part is all that the runtime sends.
 * Characters with a meaning in this spelling are escaped with a backslash.
 */
GCD_MUST_CHECK gcd_status gcd_metadata_reflection_name(struct gcd_metadata *m, uint32_t token,
                                                       const char **ret, size_t *ret_last,
                                                       struct gcd_error *err);

/* The assembly that reference TOKEN names, "System.Runtime", "" = M's own; valid until the next
 * call on M.  GCD_E_ARG: no such reference; GCD_E_UNSUPPORTED: another file of the module. */
GCD_MUST_CHECK gcd_status gcd_metadata_reference_assembly(struct gcd_metadata *m, uint32_t token,
                                                          const char **ret, struct gcd_error *err);

/* Is type definition TOKEN [Flags], an enum whose values are combined?  False also if that cannot
 * be read. */
bool gcd_metadata_is_flags(struct gcd_metadata *m, uint32_t token);

/*
 * The events of type TOKEN that have an instance field: "Changed System.EventHandler`1;Closed
 * System.Action;".  Each entry is the name of the field and its delegate type, as reflection spells
 * it, without arguments; "Closed/Event" is the field ClosedEvent of the event Closed in Visual
 * Basic.  The class comes first, then its base classes in M; for each class first
 * the events, then other fields of their types.  A final "?" means that it also derives from a
 * class of another module, which may have more.  "" = none. Valid until the next call on M.
 * GCD_E_ARG: TOKEN is no type definition of M.
 */
GCD_MUST_CHECK gcd_status gcd_metadata_events(struct gcd_metadata *m, uint32_t token,
                                              const char **ret, struct gcd_error *err);

/* ---- methods ---- */

/* The name of method TOKEN, "Run" or "<Main>b__0", valid until the next call on M, and the token of
 * the type that declares it.  GCD_E_ARG: M has no such method. */
GCD_MUST_CHECK gcd_status gcd_metadata_method_name(struct gcd_metadata *m, uint32_t token,
                                                   uint32_t *ret_type, const char **ret,
                                                   struct gcd_error *err);

/*
 * The method of the source whose lambdas use the variables in type TOKEN, a class "<>c...": C#
 * names a lambda in Add "<Add>b__0".  "" = TOKEN is no such class, or has lambdas of several
 * methods. Valid until the next call on M.  GCD_E_ARG: TOKEN is no type definition of M.
 */
GCD_MUST_CHECK gcd_status gcd_metadata_lambda_method(struct gcd_metadata *m, uint32_t token,
                                                     const char **ret, struct gcd_error *err);

/*
 * The methods of type TOKEN that its own methods make delegates of: "Abort &System.Action;", with
 * the type of the delegate as reflection spells it, without arguments.  In this form it can follow
 * or precede the text of gcd_metadata_events.  "" = none, or too many.  Valid until the next call
 * on M.  GCD_E_ARG: TOKEN is no type definition of M.
 */
GCD_MUST_CHECK gcd_status gcd_metadata_delegates(struct gcd_metadata *m, uint32_t token,
                                                 const char **ret, struct gcd_error *err);

/*
 * How objects of type TOKEN are equal as keys.  "* =;": only an object and itself are, since
 * neither the class nor one of its base classes has Equals.  "Tags =;": a record, whose Equals the
 * compiler made, compares its field "Tags", an array or the like, by reference; of several fields
 * the first, as the metadata name it.  "" = otherwise, or a base class is of another module.  Can
 * precede the text of gcd_metadata_events.  Valid until the next call on M.  GCD_E_ARG: TOKEN is
 * no type definition of M.
 */
GCD_MUST_CHECK gcd_status gcd_metadata_equality(struct gcd_metadata *m, uint32_t token,
                                                const char **ret, struct gcd_error *err);

/* What is noted of a type; begins with ALLOC only.  TEXT: gcd_type.events, "" = nothing. */
struct gcd_noted {
    const struct gcd_alloc *alloc;
    char *text;
    size_t n, room;
};
/* Does gcd_metadata_note look at the methods of types?  Not at those of the framework. */
bool gcd_metadata_notes_code(struct gcd_metadata *m);
/*
 * The method of a class of lambdas, "Add <>;", or else the equality, the delegates, the limits
 * ("MaxItems #4000;") and the events of type TOKEN.
 * CODE: the same module with the instructions of its methods, which the metadata in a memory image
 * lack; NULL = no delegates are known.  GCD_E_ARG; GCD_E_NOMEM.
 */
GCD_MUST_CHECK gcd_status gcd_metadata_note(struct gcd_metadata *m, struct gcd_metadata *code,
                                            uint32_t token, struct gcd_noted *to,
                                            struct gcd_error *err);
void gcd_noted_done(struct gcd_noted *n);

/* The IL offsets from FIRST up to, but not including, END. */
struct gcd_il_range {
    uint32_t first, end;
};
/*
 * The IL offset of the first instruction of method TOKEN in RANGE that allocates an object, or
 * else calls; with ALLOCATES false, the first that calls.  For code that the compiler has
 * optimized: it tells only in which part of the method it is.  GCD_END: there is none.
 */
GCD_MUST_CHECK gcd_status gcd_metadata_instruction(struct gcd_metadata *m, uint32_t token,
                                                   struct gcd_il_range range, bool allocates,
                                                   uint32_t *ret, struct gcd_error *err);

/* ---- fields of objects ---- */

struct gcd_instance_field {
    uint32_t token; /* 0 at the start */
    /* as in struct gcd_static_field */
    uint8_t element_type;
    uint32_t type_token;
    /* of a generic value type with one argument, that argument; else 0 */
    uint8_t argument_type;
    uint32_t argument_token;
    /* if the element type, or the type of the argument, is a type parameter, its number */
    uint32_t parameter;
    const char *name; /* as in the metadata; valid until the next call on M */
};

/* The next instance field of type TOKEN after F->token.  GCD_END after the last. */
GCD_MUST_CHECK gcd_status gcd_metadata_next_field(struct gcd_metadata *m, uint32_t token,
                                                  struct gcd_instance_field *f,
                                                  struct gcd_error *err);

struct gcd_literal {
    uint32_t token;   /* of the field; 0 at the start */
    const char *name; /* valid until the next call on M */
    uint64_t value;   /* negative ones with their sign in all bits */
};

/* The next constant number of type TOKEN after L->token: a value of an enum.  GCD_END after the
 * last. */
GCD_MUST_CHECK gcd_status gcd_metadata_next_literal(struct gcd_metadata *m, uint32_t token,
                                                    struct gcd_literal *l, struct gcd_error *err);

/* ---- static fields ---- */

struct gcd_static_field {
    uint32_t token;       /* of the field; 0 at the start */
    uint32_t class_token; /* of the type that declares it */
    uint32_t flags;       /* FieldAttributes, ECMA-335 II.23.1.5 */
    /* first of its signature, ECMA-335 II.23.1.16; for a generic type 0x11 (value type) or 0x12
     * (class) */
    uint8_t element_type;
    /* its declared class or value type; for a generic type, the definition; 0 = another type */
    uint32_t type_token;
    bool thread_static; /* [ThreadStatic]: one slot per thread */
    const char *name;   /* valid until the next call of gcd_metadata_next_static on M */
};

/*
 * The next static field after F->token; skips constants, which have no memory.  GCD_END after the
 * last.
 *
 *     struct gcd_static_field f = { 0 };
 *     while ((st = gcd_metadata_next_static(m, &f, &err)) == GCD_OK)
 */
GCD_MUST_CHECK gcd_status gcd_metadata_next_static(struct gcd_metadata *m,
                                                   struct gcd_static_field *f,
                                                   struct gcd_error *err);

/* The declared type of field F, as C# writes it; type parameters have their own names.  Valid until
 * the next call on M. */
GCD_MUST_CHECK gcd_status gcd_metadata_field_type(struct gcd_metadata *m,
                                                  const struct gcd_static_field *f,
                                                  const char **ret, struct gcd_error *err);

#endif
