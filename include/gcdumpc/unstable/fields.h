/*
 * Fields: through which field of an object a reference goes.
 *
 * The runtime sends the references of an object in the order of its memory, without names and
 * without nulls.  gcd_dump_resolve finds the layouts of types, a recording can contain them; from
 * these follows which fields a reference can be of.  A name is given only if it is certain.
 *
 *     struct gcd_fields *f;
 *     if (gcd_fields_new(graph, NULL, &f, &err) == GCD_OK) {
 *         struct gcd_field field = gcd_fields_get(f, node, 0);    its first reference
 *         char label[GCD_FIELD_LABEL_BYTES];
 *         puts(gcd_field_label(&field, label));                    "_byUser", "[17].key", ""
 *         gcd_fields_free(f);
 *     }
 *
 * gcd_type.layout is a text.  Its first line begins with "o" for an object, "v" for a vector, "m"
 * for another array; "?" follows if the references are unknown; then comes a space and, separated
 * by commas and sorted, the numbers of the keys of which its objects are, "*" = perhaps of all.
 * Each further line is a reference of an object, or of each element of an array, in the order of
 * their memory: the key of what it can refer to, a space, the name of the field in the metadata (as
 * in the source where only an attribute tells), behind those of the values it is in:
 * "_entry.value"; "" = the element itself.  Key 0 is any object.  Keys 1 and 2 are the method and
 * the list of a delegate, whose first reference is neither unless it is of these keys.  Other keys
 * have a meaning only within a dump.
 */
#ifndef GCDUMPC_UNSTABLE_FIELDS_H
#define GCDUMPC_UNSTABLE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/status.h>

struct gcd_fields;

/* G must outlive the fields.  ALLOC may be NULL.  GCD_E_NOMEM. */
GCD_MUST_CHECK gcd_status gcd_fields_new(const struct gcd_graph *g, const struct gcd_alloc *alloc,
                                         struct gcd_fields **ret, struct gcd_error *err);
void gcd_fields_free(struct gcd_fields *f);

/* How many types of the graph have a layout. */
uint32_t gcd_fields_type_count(const struct gcd_fields *f);

/* The names of all fields of all types, for tables of names; equal names may occur again. */
uint32_t gcd_fields_slot_count(const struct gcd_fields *f);
const char *gcd_fields_slot_name(const struct gcd_fields *f, uint32_t slot);

#define GCD_ELEMENT_NONE UINT64_MAX
#define GCD_SLOT_NONE    UINT32_MAX

struct gcd_field {
    /* as in the source where compilers change it: "Instance" for its backing field; NULL = unknown;
     * "" = it has no name: a reference to the element of an array itself */
    const char *name;
    const char *other; /* if it is certain that it is one of two fields: the second one */
    uint32_t slot;     /* if it is certain, the number of NAME: gcd_fields_slot_name; else
                          GCD_SLOT_NONE */
    uint64_t element;  /* of an array, its index if it is certain, else GCD_ELEMENT_NONE */
    bool array;
};

#define GCD_FIELD_UNKNOWN                                  \
    (struct gcd_field)                                     \
    {                                                      \
        .slot = GCD_SLOT_NONE, .element = GCD_ELEMENT_NONE \
    }

/* Is the layout of TYPE known, and are its objects no arrays?  Their references can have fields. */
bool gcd_fields_has_fields(const struct gcd_fields *f, uint32_t type);

/*
 * The field of reference EDGE of NODE.  The names live as long as F, which several threads may use.
 */
struct gcd_field gcd_fields_get(const struct gcd_fields *f, uint32_t node, size_t edge);
/*
 * All references of NODE, whose type has fields: RET[number of references], for each the index of
 * its field among those of the type, ascending.  False: not all are certain.
 */
bool gcd_fields_places(const struct gcd_fields *f, uint32_t node, uint32_t *ret);
/* gcd_field.slot of all references of NODE, whose type has fields: RET[number of references]. */
void gcd_fields_slots(const struct gcd_fields *f, uint32_t node, uint32_t *ret);
/* An object with more references has no certain fields. */
#define GCD_FIELD_EDGES 4097u

/* Objects of one type with references to objects of the same types, in order, have the same slots.
 */
#define GCD_FIELD_PATTERNS      64u
#define GCD_FIELD_PATTERN_EDGES 12u /* of one with more, only the last one is known */
struct gcd_field_pattern {
    uint32_t type, n, targets[GCD_FIELD_PATTERN_EDGES], slots[GCD_FIELD_PATTERN_EDGES];
};

/* The references of one object after the other; NEXT begins with 0. */
struct gcd_field_pass {
    uint32_t next;         /* 1 + the node whose slots these are; 0 = none */
    const uint32_t *slots; /* of all its references */
    struct gcd_field_pattern patterns[GCD_FIELD_PATTERNS];
    uint32_t type, n, many_targets[GCD_FIELD_EDGES], many_slots[GCD_FIELD_EDGES];
};

/* As gcd_fields_get, but only what is certain: in one pass over the references of a node, however
 * often it is called for them. */
struct gcd_field gcd_fields_certain(const struct gcd_fields *f, struct gcd_field_pass *pass,
                                    uint32_t node, size_t edge);
/* The number of fields of TYPE, which has fields; *RET_FIRST: the slot of the first one. */
uint32_t gcd_fields_of_type(const struct gcd_fields *f, uint32_t type, uint32_t *ret_first);
/* That of references of objects of type FROM to some of type TO, by these types alone. */
struct gcd_field gcd_fields_of_types(const struct gcd_fields *f, uint32_t from, uint32_t to);
/* That of the first reference from FROM to TO. */
struct gcd_field gcd_fields_between(const struct gcd_fields *f, uint32_t from, uint32_t to);
/* That of the only one; several: unknown. */
struct gcd_field gcd_fields_only(const struct gcd_fields *f, uint32_t from, uint32_t to);

#define GCD_FIELD_LABEL_BYTES 512

/* FIELD for people, "" = unknown: "_byUser", "_first or _last", "[17]", "[].key".  Returns BUF. */
const char *gcd_field_label(const struct gcd_field *field, char buf[GCD_FIELD_LABEL_BYTES]);

/* The same behind the name of its object: "._byUser", "[17]", "[].key"; "" = unknown. */
const char *gcd_field_suffix(const struct gcd_field *field, char buf[GCD_FIELD_LABEL_BYTES]);

/*
 * The name of a field of N bytes as it is in the source, in BUF: of "<Instance>k__BackingField"
 * "Instance", of "<count>5__2" "count".  Returns its length, at most N.
 */
size_t gcd_field_source_name(const char *name, size_t n, char *buf);

/* Is NAME[N] the field behind a property, "<Instance>k__BackingField"?  *RET_N: the length of
 * "Instance". */
bool gcd_field_property(const char *name, size_t n, size_t *ret_n);

#endif
