#include <gcdumpc/unstable/lengths.h>

#include <string.h>

#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/text.h"

#define STRING "System.String"

/* ECMA-335 II.23.1.16, the element types whose size in an array is known. */
static unsigned bytes_of_element_type(uint8_t element_type, unsigned ptr_bytes)
{
    switch (element_type) {
    case 0x02:
    case 0x04:
    case 0x05: /* bool, i1, u1 */
        return 1;
    case 0x03:
    case 0x06:
    case 0x07: /* char, i2, u2 */
        return 2;
    case 0x08:
    case 0x09:
    case 0x0c: /* i4, u4, r4 */
        return 4;
    case 0x0a:
    case 0x0b:
    case 0x0d: /* i8, u8, r8 */
        return 8;
    case 0x0e:
    case 0x12:
    case 0x14:
    case 0x1c:
    case 0x1d: /* string, class, array, object, szarray */
    case 0x18:
    case 0x19: /* native int, native uint */
        return ptr_bytes;
    default:
        return 0;
    }
}

/* Types whose size is known even if the dump does not contain them. */
static unsigned bytes_of_name(const char *name, size_t n, unsigned ptr_bytes)
{
    static const struct {
        const char *name;
        uint8_t element_type;
    } known[] = {
        { "Boolean", 0x02 }, { "Char", 0x03 },   { "SByte", 0x04 },   { "Byte", 0x05 },
        { "Int16", 0x06 },   { "UInt16", 0x07 }, { "Int32", 0x08 },   { "UInt32", 0x09 },
        { "Int64", 0x0a },   { "UInt64", 0x0b }, { "Single", 0x0c },  { "Double", 0x0d },
        { "String", 0x0e },  { "IntPtr", 0x18 }, { "UIntPtr", 0x19 }, { "Object", 0x1c },
    };
    static const char system[] = "System.";
    size_t k = sizeof system - 1;
    if (n <= k || memcmp(name, system, k) != 0)
        return 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == n - k && memcmp(known[i].name, name + k, n - k) == 0)
            return bytes_of_element_type(known[i].element_type, ptr_bytes);
    return 0;
}

/*
 * The rank of the array named NAME, which ends in "[]", "[,]", "[,,]" ...; 0 = no array.
 * *RET_ELEMENT: the length of the element's name.  In the runtime's spelling, the last brackets
 * belong to the outermost array.
 */
static unsigned array_rank(const char *name, size_t n, size_t *ret_element)
{
    if (n < 3 || name[n - 1] != ']')
        return 0;
    size_t i = n - 2;
    unsigned rank = 1;
    while (i > 0 && name[i] == ',' && rank < 32) {
        i--;
        rank++;
    }
    *ret_element = i;
    return name[i] == '[' && i > 0 ? rank : 0;
}

struct elements {
    const struct gcd_summary *from;
    struct gcd_idmap by_name; /* hash of the name -> element size */
    unsigned ptr_bytes;
};

/* Marks a name whose types disagree. */
#define AMBIGUOUS 0u

static gcd_status gather(struct elements *e, struct gcd_error *err)
{
    for (uint32_t i = 0; i < e->from->type_count; i++) {
        const struct gcd_type *t = &e->from->types[i];
        uint64_t hash = gcd_text_hash(t->name, strlen(t->name), GCD_TEXT_HASH);
        uint32_t bytes = bytes_of_element_type(t->element_type, e->ptr_bytes),
                 before = gcd_idmap_get(&e->by_name, hash);
        if (before != GCD_IDMAP_NONE && before != bytes)
            bytes = AMBIGUOUS;
        if (!gcd_idmap_put(&e->by_name, hash, bytes))
            return gcd_fail_nomem(err, "finding the sizes of array elements");
    }
    return GCD_OK;
}

/* The runtime's name of a nested type lacks the outer type and the namespace, so another type may
 * have the same name. */
static bool is_qualified(const char *name, size_t n)
{
    const char *bracket = memchr(name, '[', n);
    return memchr(name, '.', bracket != NULL ? (size_t)(bracket - name) : n) != NULL;
}

static unsigned element_bytes(const struct elements *e, const char *name, size_t n)
{
    size_t inner;
    if (array_rank(name, n, &inner) > 0)
        return e->ptr_bytes;
    unsigned bytes = bytes_of_name(name, n, e->ptr_bytes);
    if (bytes > 0 || !is_qualified(name, n))
        return bytes;
    uint32_t found = gcd_idmap_get(&e->by_name, gcd_text_hash(name, n, GCD_TEXT_HASH));
    return found == GCD_IDMAP_NONE ? 0 : found;
}

static struct gcd_length_rule rule_of_type(const struct elements *e, const struct gcd_type *t)
{
    size_t n = strlen(t->name), element;
    bool wide = e->ptr_bytes == 8;
    if (strcmp(t->name, STRING) == 0)
        return (struct gcd_length_rule){ .header_bytes = wide ? 22 : 14, .element_bytes = 2 };
    unsigned rank = array_rank(t->name, n, &element);
    if (rank == 0 || (rank > 1 && !wide))
        return (struct gcd_length_rule){ 0 };
    unsigned bytes = t->parameters[0] != 0 ? bytes_of_element_type(t->parameters[0], e->ptr_bytes)
                                           : element_bytes(e, t->name, element);
    return (struct gcd_length_rule){ .header_bytes = (uint16_t)(rank > 1 ? 24 + 8 * rank
                                                                : wide   ? 24u
                                                                         : 12u),
                                     .element_bytes = (uint8_t)bytes };
}

static gcd_status make_rules(const struct gcd_summary *from, const struct gcd_alloc *alloc,
                             struct gcd_length_rule *ret, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct elements e = { .from = from, .ptr_bytes = from->trace.ptr_bytes };
    gcd_idmap_init(&e.by_name, &a);
    gcd_status st = gather(&e, err);
    for (uint32_t i = 0; i < from->type_count && st == GCD_OK; i++)
        ret[i] = rule_of_type(&e, &from->types[i]);
    gcd_idmap_done(&e.by_name);
    return st;
}

/* Mono rounds sizes up to multiples of 8, so lengths do not follow from them.  On CoreCLR, at least
 * one string has a size that is no multiple. */
static bool sizes_are_exact(const struct gcd_summary *from)
{
    for (uint32_t i = 0; i < from->type_count; i++)
        if (from->types[i].objects > 0 && strcmp(from->types[i].name, STRING) == 0)
            return from->types[i].uneven_sizes;
    return true;
}

gcd_status gcd_length_rules(const struct gcd_summary *summary, const struct gcd_alloc *alloc,
                            struct gcd_length_rule *ret_rules, struct gcd_error *err)
{
    unsigned ptr_bytes = summary->trace.ptr_bytes;
    for (uint32_t i = 0; i < summary->type_count; i++)
        ret_rules[i] = (struct gcd_length_rule){ 0 };
    if ((ptr_bytes != 4 && ptr_bytes != 8) || !sizes_are_exact(summary))
        return GCD_OK;
    return make_rules(summary, alloc, ret_rules, err);
}
