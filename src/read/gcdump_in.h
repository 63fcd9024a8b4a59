/*
 * A .gcdump in memory and what was found in it: shared by the parts of the reader.
 *
 *     gcdump_load        reads the file into one block of memory
 *     gcdump_parse       finds types, nodes, references, addresses, facts; nothing is decoded or
 *                        stored twice
 *     gcdump_put_facts   process, time, ranges, verdict
 *     gcdump_join_size_classes
 *                        types that other programs split by the size of their objects
 *     gcdump_find_tree   made-up nodes below the root
 *     nodes, references  in r_gcdump.c
 *     gcdump_put_roots   turns made-up nodes into roots
 *     gcdump_judge       what is damaged
 */
#ifndef GCD_READ_GCDUMP_IN_H
#define GCD_READ_GCDUMP_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/io.h>

#include "base/cur.h"
#include "base/idmap.h"
#include "graph/graph_build.h"

#define GCDUMP_NONE UINT32_MAX
/* Size of the undefined node at the start of a block, so that offset 0 can mean "never described".
 */
#define GCDUMP_UNDEFINED_BYTES 2
/* Nodes between two checks of the cancel flag. */
#define GCDUMP_CHECK_EVERY UINT32_C(65536)

/* A string in the file: UTF-16 code units of one to three bytes each. */
struct gcdump_string {
    size_t off, bytes;
    uint32_t units;
    bool null;
};

struct gcdump_type {
    struct gcdump_string name, module;
    int32_t size;    /* of nodes without their own size; -1 = there are no such nodes */
    uint32_t number; /* in the graph; GCDUMP_NONE = not there yet */
    uint32_t same;   /* the type that stands for it in the graph; see gcdump_names.c */
    bool bracketed;  /* "[...]": the name of a made-up node */
    bool size_class; /* NAME ended in one, which was cut off */
    bool has_objects;
};

/* A type known only by its number in a module. */
struct gcdump_deferred {
    struct gcdump_string module, suffix;
    uint32_t id;
};

/* A made-up node and the root kind of its children. */
struct gcdump_made_up {
    uint32_t node;
    /* the type whose name is that of a static variable, GCDUMP_NONE = none */
    uint32_t name_type;
    uint32_t flags;
    unsigned kind;
};

/* Start, end, ends of the generations 0, 1, 2, large objects, pinned objects (0 in old files). */
#define GCDUMP_SEGMENT_WORDS 7
struct gcdump_segment {
    uint64_t words[GCDUMP_SEGMENT_WORDS];
};

struct gcdump_class {
    uint64_t label; /* position of its type */
    uint32_t version, minimum;
    unsigned class_id;
};
#define GCDUMP_CLASSES 8

/* A class named only by static variables; all others are types of the file. */
struct gcdump_extra {
    struct gcdump_string name;
    uint32_t number;
};

/* The meaning of a made-up node's name for the roots below it. */
struct gcdump_static {
    const char *field; /* "" = none */
    const char *label; /* "A.s_items or B.s_items": it is unknown which class it is; NULL = there is
                          one class, or none */
    uint32_t number;   /* of the declaring class, in the graph */
    uint32_t known;    /* if below type_count, it is this type of the file */
    size_t class_off, class_n; /* with this name, which others may share */
    uint32_t asked, same;      /* the last type compared, and the result: that type or KNOWN */
};

struct gcdump_in {
    struct gcd_alloc alloc;
    const struct gcd_graph_options *options;
    uint64_t text_limit;
    /* [room], BYTES of them are the file; truncated after the blob when the rest has been read */
    uint8_t *file;
    size_t bytes, room;

    /* the container */
    struct gcd_cur cur;
    const char *why;        /* of the first failure other than missing bytes; static */
    unsigned label_bytes;   /* 4 or 8 */
    bool closed;            /* the trailer is in place: nothing is missing at the end */
    uint64_t forward_table; /* when closed: the end of the objects */
    struct gcdump_class classes[GCDUMP_CLASSES];
    size_t class_count;

    /* the graph */
    bool wide; /* counts of nodes have 8 bytes */
    bool is_64bit;
    uint32_t root;
    uint32_t type_count, node_count;
    size_t offsets, blob, blob_bytes, addresses; /* their positions; the blob's length */
    bool has_addresses;
    uint32_t null_node;               /* stands for the address 0; GCDUMP_NONE = there is none */
    struct gcdump_type *types;        /* [type_count] */
    struct gcdump_deferred *deferred; /* [deferred_count], entry t belongs to type t */
    uint32_t deferred_count;
    struct gcdump_string *modules; /* [module_count] their paths */
    size_t module_count, module_room;
    struct gcd_idmap module_at; /* label -> modules */

    /* the facts */
    uint32_t version;
    struct gcdump_string log, process_name;
    uint64_t ticks;
    uint32_t process, rcws;
    bool sampled, javascript;
    bool ours;                       /* the log is ours, so names are spelled as we spell them */
    struct gcdump_segment *segments; /* [segment_count] */
    uint32_t segment_count;

    /* what the file says twice */
    bool has_sum, sum_right; /* a checksum of everything before SUM_AT */
    size_t sum_at;
    bool fits;             /* the last object ends where the table begins */
    uint64_t total, sizes; /* bytes of all nodes, as named and as found */
    uint64_t extents;      /* 0 in a sound block of nodes, see gcdump_check.c */
    bool odd_names;
    bool log_counts; /* the log counts objects and references */
    uint64_t log_objects, log_references;
    uint64_t references; /* of objects */
    uint64_t dropped;    /* objects */

    /* the future graph: which nodes are objects, and their numbers there */
    uint64_t *kept; /* bits, [node_count / 64 + 1] */
    /* objects before the first node of each word of KEPT; same length */
    uint32_t *kept_before;
    uint64_t *in_tree; /* bits, same length: made-up nodes that group roots */
    struct gcdump_made_up *tree;
    size_t tree_count, tree_room;

    struct gcd_idmap type_by_name; /* hash -> types, or type_count + extras */
    bool names_hashed;
    struct gcdump_static *statics;
    size_t static_count, static_room;
    struct gcd_idmap static_of_type; /* name type -> statics */
    struct gcdump_extra *extras;
    size_t extra_count, extra_room;
    /* strings in UTF-8, NUL-terminated; the second one is the path of MODULE */
    char *text, *text2;
    const struct gcdump_string *module; /* NULL = none yet */
    size_t text_room, text2_room;
};

/* One node up to its children. */
struct gcdump_node {
    uint32_t type, children;
    int32_t size;
    const uint8_t *p, *end; /* the children; each takes at least one byte */
};

static inline bool gcdump_bit(const uint64_t *bits, uint32_t n)
{
    return bits[n / 64] >> (n % 64) & 1;
}

static inline void gcdump_set_bit(uint64_t *bits, uint32_t n)
{
    bits[n / 64] |= UINT64_C(1) << (n % 64);
}

/* A compressed int: seven bits per byte, most significant first, the sign in bit 6 of the first.
 * False: it does not end. */
static inline bool gcdump_cint(const uint8_t **p, const uint8_t *end, int32_t *ret)
{
    const uint8_t *q = *p;
    if (q == end)
        return false;
    uint32_t v = (*q & 0x40) != 0 ? *q | UINT32_C(0xffffff80) : *q & UINT32_C(0x7f);
    for (unsigned n = 1; (*q++ & 0x80) != 0; n++) {
        if (q == end || n == 5)
            return false;
        v = v << 7 | (*q & 0x7f);
    }
    *p = q;
    *ret = (int32_t)v;
    return true;
}

static inline uint32_t gcdump_offset(const struct gcdump_in *f, uint32_t node)
{
    return gcd_le32(f->file + f->offsets + (size_t)node * 4);
}

static inline uint64_t gcdump_address(const struct gcdump_in *f, uint32_t node)
{
    return f->has_addresses ? gcd_le64(f->file + f->addresses + (size_t)node * 8) : 0;
}

/* The number in the graph, GCD_NODE_NONE when the node is not an object. */
static inline uint32_t gcdump_graph_node(const struct gcdump_in *f, uint32_t node)
{
    uint64_t word = f->kept[node / 64], bit = UINT64_C(1) << (node % 64);
    return (word & bit) == 0
               ? GCD_NODE_NONE
               : f->kept_before[node / 64] + (uint32_t)__builtin_popcountll(word & (bit - 1));
}

/* ---- gcdump_parse.c ---- */

GCD_MUST_CHECK gcd_status gcdump_load(struct gcdump_in *f, struct gcd_input *in,
                                      struct gcd_error *err);
GCD_MUST_CHECK gcd_status gcdump_parse(struct gcdump_in *f, struct gcd_error *err);
/* Reports an invalid file. */
GCD_MUST_CHECK gcd_status gcdump_bad(uint64_t off, const char *why, struct gcd_error *err);
/* N < node_count, with an offset that is not 0. */
GCD_MUST_CHECK gcd_status gcdump_get_node(const struct gcdump_in *f, uint32_t n,
                                          struct gcdump_node *ret, struct gcd_error *err);
/* The next of NODE's children; call it node->children times. */
GCD_MUST_CHECK gcd_status gcdump_next_child(const struct gcdump_in *f, uint32_t n,
                                            struct gcdump_node *node, uint32_t *ret,
                                            struct gcd_error *err);

/* ---- gcdump_text.c ---- */

/* UTF-8 with NUL, into *TEXT of *ROOM, which are f->text or f->text2 and still belong to F. */
GCD_MUST_CHECK gcd_status gcdump_text(struct gcdump_in *f, const struct gcdump_string *s,
                                      char **text, size_t *room, struct gcd_error *err);
/* Adds type T to the graph if it is missing. */
GCD_MUST_CHECK gcd_status gcdump_put_type(struct gcdump_in *f, struct gcd_build *b, uint32_t t,
                                          struct gcd_error *err);
/* Process, time, ranges of generations and, from our own log, the rest. */
GCD_MUST_CHECK gcd_status gcdump_put_facts(struct gcdump_in *f, struct gcd_build *b,
                                           struct gcd_error *err);

/* ---- gcdump_check.c ---- */

void gcdump_check_sum(struct gcdump_in *f);
/* Call it for every described node. */
GCD_MUST_CHECK gcd_status gcdump_check_node(struct gcdump_in *f, uint32_t n,
                                            const struct gcdump_node *node, struct gcd_error *err);
void gcdump_check_name(struct gcdump_in *f, const struct gcdump_string *s);
/* Adds to the verdict what is damaged or lost; call it last. */
GCD_MUST_CHECK gcd_status gcdump_judge(struct gcdump_in *f, struct gcd_build *b,
                                       struct gcd_error *err);

/* ---- gcdump_names.c ---- */

/* Cuts size classes off the names of types; call it before any type is in the graph. */
GCD_MUST_CHECK gcd_status gcdump_join_size_classes(struct gcdump_in *f, struct gcd_build *b,
                                                   struct gcd_error *err);
/* Undoes what dotnet-gcdump did to the brackets of a name, which keeps its length. */
void gcdump_undo_brackets(char *name);

/* ---- gcdump_tree.c ---- */

GCD_MUST_CHECK gcd_status gcdump_find_tree(struct gcdump_in *f, struct gcd_error *err);
GCD_MUST_CHECK gcd_status gcdump_put_roots(struct gcdump_in *f, struct gcd_build *b,
                                           struct gcd_error *err);

#endif
