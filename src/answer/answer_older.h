/*
 * What is kept of an older dump, and what is known once a newer one is compared with it.
 */
#ifndef GCD_ANSWER_OLDER_H
#define GCD_ANSWER_OLDER_H

#include "answer/answers.h"

/* Objects of a type in a suspect. */
struct many {
    const char *type;
    uint64_t objects;
};

/* What can be told again of a suspect, or a note, of the older dump. */
struct place {
    enum gcd_suspect_kind kind;
    const char *name, *what; /* as of a suspect */
    uint64_t bytes;
    struct many many[GCD_SUSPECT_HOLDERS + 3]; /* of what growths may be told by */
    size_t many_count;
    uint64_t elements; /* UINT64_MAX = unknown, or no collection */
    uint64_t owned;    /* of these elements nothing else holds so many */
    uint64_t places;   /* of an array; 0 = it is none */
};

/* How a suspect has grown. */
struct growth {
    bool known;                 /* the older dump has a suspect of the same kind and place */
    const struct place *before; /* that one, whose unit tells more than TYPE; else NULL */
    uint64_t bytes_before, bytes;
    uint32_t type;       /* of what there are many of in it; GCD_TYPE_NONE = nothing */
    uint64_t heap[2];    /* of that type, in the older and in the newer heap */
    uint64_t objects[2]; /* of that type in it; those of the older dump only if COUNTED */
    bool counted;
    uint64_t grown;     /* bytes; unless KNOWN estimated by these objects */
    uint64_t own;       /* of these, what no suspect before it has told */
    double share;       /* of OWN in the growth of the heap; 0 = not known */
    bool full;          /* an array as long as before, in which there is no more room */
    bool same_elements; /* it grew without more elements or objects of that type */
    bool within;        /* but of TYPE, which is within these, there are more */
    bool worth;
    bool told;   /* and those before it, which are worth more, have most of the same bytes */
    bool beside; /* more has come outside the heap */
};

struct answer_older {
    struct gcd_alloc alloc;
    struct gcd_diff *types;
    uint64_t come_bytes; /* of all types of which there are more bytes */
    struct place *places;
    size_t place_count, place_room;
    struct gcd_textpool texts;            /* of the places */
    uint64_t heap_bytes[2], own_bytes[2]; /* OWN: without what exists to observe the process */
    bool complete[2];
    uint64_t native_bytes[2];        /* outside the heap; UINT64_MAX = unknown */
    char outside[ANSWER_COME_BYTES]; /* what is said of it if it has grown by more than the heap */
    struct gcd_tree_diff *paths;     /* NULL = not compared here */
    struct answer_come come;         /* OWNER NULL = there is no such answer */
    struct answer_fills fills[2];    /* of the older and the newer heap */
    struct answer_versions versions[2];
    bool is_shared; /* what has come is in other versions of its collection, which has not grown */
    struct answer_limit limit;        /* of what has come */
    const struct gcd_suspect *design; /* the note that has what has come, without a known limit */
    char limited[ANSWER_COME_BYTES]; /* what is said of a single owner with a limit; "" = nothing */
    const struct gcd_suspects *newer; /* those that were matched, the growth of each, their order */
    struct growth *growths;
    size_t *order, growth_count;
};

/* Adds the types of S, which count as they do in diff. */
gcd_status answer_older_add_types(struct answer_older *o, const struct gcd_session *s,
                                  struct gcd_error *err);
/* Adds the paths of S, unless some of its roots are a guess: then O has none. */
gcd_status answer_older_add_paths(struct answer_older *o, struct gcd_session *s,
                                  struct gcd_error *err);
/* The elements of a collection that are of the type of most; UINT64_MAX = no collection. */
uint64_t answer_older_elements(const struct gcd_suspect *s);
/* Those that nothing else holds; they may not be told if they are small. */
uint64_t answer_older_owned(const struct gcd_suspect *s);
/* The length of the array S; 0 = it is none. */
uint64_t answer_older_places(const struct gcd_suspect *s);
/* Objects of TYPE in S, if there are many. */
uint64_t answer_older_many(const struct gcd_suspect *s, uint32_t type);
/* Native memory of the process of S; UINT64_MAX = unknown. */
uint64_t answer_older_native(const struct gcd_session *s);
/* Fills OUTSIDE of O, whose types and sizes are known, for NEWER: answer_outside.c. */
void answer_older_outside(struct answer_older *o, const struct gcd_session *newer,
                          const struct gcd_origins *origins);
/* The bytes of the heap without what exists to observe the process. */
uint64_t answer_older_own_bytes(const struct gcd_suspects *s);

#endif
