/*
 * The answers: each function makes one from results of the library, *RET NULL on failure.  Free
 * with answer_free.  A file makes the answers about one thing.
 */
#ifndef GCD_ANSWER_ANSWERS_H
#define GCD_ANSWER_ANSWERS_H

#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/diff.h>
#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/session.h>
#include <gcdumpc/unstable/async.h>
#include <gcdumpc/unstable/duplicates.h>
#include <gcdumpc/unstable/exceptions.h>
#include <gcdumpc/unstable/field_values.h>
#include <gcdumpc/unstable/fields.h>
#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/origins.h>
#include <gcdumpc/unstable/owner_fills.h>
#include <gcdumpc/unstable/pages/pages.h>
#include <gcdumpc/unstable/sites.h>
#include <gcdumpc/unstable/type_names.h>

#include "answer/answer.h"
#include "base/text.h"

enum answer_sort {
    ANSWER_BY_BYTES,
    ANSWER_BY_COUNT,
    ANSWER_BY_NAME,
    ANSWER_BY_RETAINED,
    ANSWER_AS_IS
};

/* Which rows of an answer are wanted. */
struct answer_page {
    uint64_t first; /* skip so many rows */
    uint64_t most;  /* 0 = all */
    uint64_t min_bytes;
    bool no_rest; /* no row for what the page leaves out */
};

/* ---- answer_types.c: a histogram ---- */

struct answer_histogram {
    const struct gcd_histogram *h;
    enum gcd_histogram_by by;
    const struct gcd_summary *summary;
    const struct gcd_names *names;
    /* [types] for rows of types, and then MIN_BYTES is about it; NULL = that of H */
    const uint64_t *retained;
    bool has_retained;    /* --retained, also by root */
    uint64_t alive_bytes; /* retained by all; 0 = not known */
    bool filtered;        /* H leaves types out */
    enum answer_sort sort;
    bool for_people; /* sort by the names that people see */
    struct answer_page page;
};
gcd_status answer_of_histogram(const struct answer_histogram *from, struct answer **ret,
                               struct gcd_error *err);
/* The shapes of the answers by type, and by another property. */
extern const struct answer_shape answer_types_shape;

/* ---- answer_objects.c ---- */

struct answer_of_heap {
    struct gcd_session *session;
    const struct gcd_context *call; /* as for the session; may be NULL */
    const uint8_t *types;           /* [types] that are wanted; NULL = all */
    const uint8_t *skip;            /* [types] no dominators; NULL = none */
    struct answer_page page;
    bool holders; /* of objects: what holds each; takes a walk */
    /* of a list of objects that refer to SUBJECT, or to which it refers: through which field */
    enum answer_list_kind { ANSWER_OBJECTS, ANSWER_REFERRERS, ANSWER_REFERENCES } list;
    uint32_t subject;
};
extern const struct answer_shape answer_objects_shape, answer_neighbours_shape,
    answer_content_shape, answer_dominators_shape, answer_tree_shape;

/* The objects that retain most. */
gcd_status answer_largest_objects(const struct answer_of_heap *of, struct answer **ret,
                                  struct gcd_error *err);
/* The objects of LIST. */
gcd_status answer_list(const struct answer_of_heap *of, const struct gcd_node_list *list,
                       struct answer **ret, struct gcd_error *err);
/* What the objects of the types retain together, by type.  RET_SET may be NULL. */
gcd_status answer_content(const struct answer_of_heap *of, struct answer **ret,
                          struct gcd_retained_set *ret_set, struct gcd_error *err);
/* Which objects dominate the objects of the types, by type. */
gcd_status answer_dominators(const struct answer_of_heap *of, struct answer **ret,
                             struct gcd_error *err);
/* The exact retained size of each type, and of all together. */
gcd_status answer_exact(const struct answer_of_heap *of, struct answer **ret,
                        struct gcd_error *err);
/* DEPTH levels of TREE, which is of dominators, with at most PAGE.MOST children of each step. */
gcd_status answer_tree(const struct answer_of_heap *of, const struct gcd_merged_tree *tree,
                       uint32_t depth, struct answer **ret, struct gcd_error *err);

/* ---- answer_fields.c ---- */

extern const struct answer_shape answer_fields_shape;
/* What the fields of the classes of TYPES retain, and the static variables of classes with these
 * names; TYPES NULL: of the program's own classes. */
gcd_status answer_fields(const struct answer_of_heap *of, struct answer **ret,
                         struct gcd_error *err);

/* ---- answer_field_values.c ---- */

extern const struct answer_shape answer_field_values_shape;
/* The living objects of TYPES by the value of FIELD, as far as values may be seen.
 * GCD_E_NOT_FOUND: they have no such field. */
gcd_status answer_field_values(const struct answer_of_heap *of, const char *field,
                               struct answer **ret, struct gcd_error *err);
/* The value X, which is no reference, in "shown", "number" and "name". */
void answer_put_number(struct answer *a, const struct gcd_number *x);
/* Has A, of that shape, strings without their texts? */
bool answer_lacks_texts(const struct answer *a);

/* ---- answer_object_values.c ---- */

extern const struct answer_shape answer_object_values_shape;
/*
 * The fields of NODE with their values, as far as these may be seen; *RET NULL without failure:
 * there are none.  From a memory image, or from a recording of all values, all of its instance
 * fields, else those that are references.
 */
gcd_status answer_object_values(struct gcd_session *s, const struct gcd_context *call,
                                uint32_t node, struct answer **ret, struct gcd_error *err);
/* Row ROW of A, of that shape, for people, as a debugger shows a field: "Id = 4711",
 * "Customer → Shop.Customer".  Lives as long as A. */
const char *answer_value_line(struct answer *a, size_t row);

/* ---- answer_async.c ---- */

extern const struct answer_shape answer_stacks_shape;
/* What T says of runtime async, for people: one line, two, or "". */
#define ANSWER_ASYNC_REMARKS_BYTES 300u
void answer_async_remarks(const struct gcd_async_totals *t, char ret[ANSWER_ASYNC_REMARKS_BYTES]);
/* Stacks that differ only in framework code behind the program's last method, as one. */
struct answer_stack {
    uint32_t frame;  /* the end of the stack, or that method */
    uint32_t hidden; /* the most frames behind it */
    bool varies;     /* not all have so many */
    uint64_t stacks, old_stacks, bytes;
};

struct answer_of_stacks {
    const uint32_t *stacks;            /* [n] numbers of their last frames */
    const struct answer_stack *folded; /* [n] in place of them; NULL = each as a whole */
    size_t n;
    bool people; /* each frame has a row of its own */
};

gcd_status answer_stacks(const struct gcd_async *async, const struct answer_of_stacks *of,
                         struct answer **ret, struct gcd_error *err);
/* The methods whose operations are over and still in memory. */
gcd_status answer_completed(const struct gcd_async *async, struct answer **ret,
                            struct gcd_error *err);

/* ---- answer_async_values.c: of memory; *RET NULL: there is none at hand ---- */

struct gcd_async_values;
gcd_status answer_find_async_values(struct gcd_session *s, const struct gcd_context *call,
                                    struct gcd_async_values **ret, struct gcd_error *err);
extern const struct answer_shape answer_tasks_shape, answer_timers_shape, answer_requests_shape;
gcd_status answer_tasks(struct gcd_session *s, const struct gcd_async_values *v,
                        struct answer **ret, struct gcd_error *err);
gcd_status answer_timers(struct gcd_session *s, const struct gcd_async_values *v, size_t most,
                         struct answer **ret, struct gcd_error *err);
/* Paths only if the session may show texts. */
gcd_status answer_requests(struct gcd_session *s, const struct gcd_async_values *v, size_t most,
                           struct answer **ret, struct gcd_error *err);
/* "13 requests are at work: POST /pay (3), GET /orders/0, ..."; NULL: their paths are not known.
 * Belongs to A, their answer. */
const char *answer_requests_sentence(struct answer *a, const struct gcd_async_values *v);

/* ---- answer_async.c ---- */

/* What hangs: threads that wait (gcd_blocked_text), where many calls of the program wait at once
 * (gcd_async_find_jam): a row each, or none. */
extern const struct answer_shape answer_jam_shape;
gcd_status answer_jam(struct gcd_session *s, const struct gcd_context *call, struct answer **ret,
                      struct gcd_error *err);

/* ---- answer_strings.c: values that are there several times ---- */

struct answer_of_duplicates {
    struct gcd_session *session;
    struct gcd_values_view view;
    const struct gcd_duplicate *const *rows; /* [row_count] that are shown */
    size_t row_count;
    const struct gcd_duplicate_holder *holders; /* [holder_count] of gcd_duplicates_holders */
    size_t holder_count;
};
extern const struct answer_shape answer_strings_shape, answer_arrays_shape;
/* What holds the objects of all rows together, "holders" of one row, most first; at most MOST. */
gcd_status answer_value_holders(const struct answer_of_duplicates *of, size_t most,
                                struct answer **ret, struct gcd_error *err);
gcd_status answer_duplicates(const struct answer_of_duplicates *of, bool arrays,
                             struct answer **ret, struct gcd_error *err);
/* T in the columns "shown", "text", "cut" and "masked", but for what it looks like: SECRET, NULL =
 * nothing to hide. */
void answer_put_text(struct answer *a, const struct gcd_text *t, const char *secret);
/* Leaves these columns out: they are not known, or must not be seen. */
void answer_hide_text(struct answer *a);

/* ---- answer_exceptions.c ---- */

struct answer_of_exceptions {
    struct gcd_session *session;
    struct gcd_values_view view; /* without values: no messages */
    struct gcd_input *in;        /* of the dump; NULL, or no memory image: no calls */
    uint64_t first, most;        /* groups */
    bool people;                 /* lines for the first calls of each */
    /* filled in by answer_find_exceptions */
    struct gcd_exceptions *found;
    struct gcd_image_numbers *numbers;
};
extern const struct answer_shape answer_exceptions_shape;
gcd_status answer_find_exceptions(struct answer_of_exceptions *of, const struct gcd_context *call,
                                  struct gcd_error *err);
gcd_status answer_exceptions(const struct answer_of_exceptions *of, struct answer **ret,
                             struct gcd_error *err);
/* Frees what was found. */
void answer_exceptions_done(struct answer_of_exceptions *of);
/* Is it certain which of FOUND were thrown? */
bool answer_knows_thrown(const struct gcd_exceptions *found, const struct gcd_graph *g);

/* ---- answer_keys.c: the keys of dictionaries ---- */

/* "[\"tenant-42\"]" for the key of E, "" = not known, or it may not be seen; its text in CELL of A,
 * unless that is NULL.  The result belongs to A. */
struct gcd_session_entry;
const char *answer_key(struct answer *a, const char *cell, struct gcd_session *session,
                       const struct gcd_session_entry *e);
extern const struct answer_shape answer_keys_shape;

/* ---- answer_paths.c ---- */

struct answer_of_paths {
    struct gcd_session *session;
    const struct gcd_context *call; /* may be NULL */
    const struct gcd_paths *paths;
    uint32_t object, max; /* at most MAX paths */
    bool to_root;         /* lines from the object to the root */
    bool folds;           /* without hidden steps */
};
extern const struct answer_shape answer_object_paths_shape;
/* The ways by which one object is held, as lines. */
gcd_status answer_object_paths(const struct answer_of_paths *of, struct answer **ret,
                               struct gcd_error *err);

/* ---- answer_path_steps.c ---- */

struct gcd_merged_tree;
struct gcd_tree_diff;
struct answer_of_tree {
    const struct gcd_alloc *alloc; /* may be NULL */
    struct gcd_session *session;
    const struct gcd_names *names;
    bool raw; /* NAMES are the runtime's, which do not tell classes of static variables */
    const struct gcd_merged_tree *tree; /* of paths of that session */
};
/* Adds the steps of a dump, under names that other dumps of its program have, too. */
gcd_status answer_tree_add(struct gcd_tree_diff *to, const struct answer_of_tree *of,
                           struct gcd_error *err);

/* ---- answer_come.c: what has come, by paths ---- */

/* Objects of a class of the program that have come, and what of the program keeps them. */
struct answer_come {
    const char *owner, *field, *element;   /* FIELD of OWNER, NULL = unknown; of the diffs */
    const char *owner_said, *element_said; /* in sentences */
    uint64_t objects[2];                   /* of ELEMENT, in FIELD of OWNER */
    uint64_t bytes;                        /* by which the step on the paths has grown */
    uint64_t owner_bytes;                  /* and that of OWNER, if there are many; else 0 */
    uint64_t owners[2];                    /* everywhere, also those without any; 0 0 = unknown */
    double share;                          /* of the growth of the heap */
    bool listens;                          /* by methods that are in FIELD */
    bool beside;                           /* more has come outside the heap */
};
#define ANSWER_COME_BYTES     2048u
#define ANSWER_GROWTH_OF_HEAP "growth of the heap"
/* The row of the type NAME in TYPES, which are matched; NULL = none. */
const struct gcd_diff_row *answer_type_row(const struct gcd_diff *types, const char *name);
/* The answer for two matched dumps whose heaps have HEAP bytes; false: there is none. */
bool answer_come_find(const struct gcd_tree_diff *paths, const struct gcd_diff *types,
                      const uint64_t heap[2], struct answer_come *ret);
/* "SessionStore: 1,000 -> 3,000 UserSession, +3.9 MiB, 51 % of the growth" */
const char *answer_come_text(const struct answer_come *come, char ret[ANSWER_COME_BYTES]);
const char *answer_come_advice(const struct answer_come *come, char ret[ANSWER_COME_BYTES]);

/* ---- answer_observed.c: what exists only to observe the process ---- */

/* Adds such bytes of S to those of each row of D, which is matched and has S. */
gcd_status answer_observed(struct gcd_session *s, const struct gcd_diff *d, uint64_t *ret,
                           struct gcd_error *err);

/* ---- answer_fill.c: owners that fill up to a limit ---- */

/* How many objects of one type each owner has: gcd_owner_fills, with names that outlive the dump.
 */
struct answer_fill {
    const char *owner, *element;
    struct gcd_owner_fill counts;
};
struct answer_fills {
    struct answer_fill fills[GCD_OWNER_FILLS_MAX];
    size_t count;
    struct gcd_textpool text;
};
/* Counts the most numerous types of S, with memory of ALLOC.  RET: with its pool, and empty. */
gcd_status answer_fills_count(struct gcd_session *s, const struct gcd_alloc *alloc,
                              struct answer_fills *ret, struct gcd_error *err);
/* The owners of what has come have no more of it than the fullest of them had before, and many as
 * much; or TRIMMED: hardly more, many nearly as much, and many had that before. */
struct answer_limit {
    const struct answer_fill *fill; /* NULL = no limit */
    uint32_t most_before;
    bool trimmed;
    /* or NUMBER, which they all have in FIELD, allows no more, and many have nearly as many; its
     * name lives as long as the values of the newer dump */
    const char *field;
    uint64_t number;
    /* no limit is known, but nearly all owners have as many as the fullest */
    const struct answer_fill *equal;
};
/* NEWER: the dump of NOW, which may have fields of the owners. */
struct answer_limit answer_fills_limit(const struct answer_fills *before,
                                       const struct answer_fills *now,
                                       const struct answer_come *come, struct gcd_session *newer);

/* ---- answer_versions.c: immutable collections that share elements ---- */

/* Elements, or parts, of one type in the immutable collections that objects of OWNER, a class of
 * the program, or a static variable refer to; with names as in answer_come. */
struct answer_version {
    const char *owner, *element;
    uint64_t versions, most, sum; /* those with any, the largest of them, and of all together */
    uint64_t last, now;           /* while it is counted */
};
struct answer_versions {
    struct answer_version *items;
    size_t count, room;
    struct gcd_textpool text;
};
/* RET: empty; answer_versions_done in any case.  Time: linear.  Memory during the call: a bit per
 * object, and 4 bytes per part of the largest collection. */
gcd_status answer_versions_count(struct gcd_session *s, const struct gcd_alloc *alloc,
                                 struct answer_versions *ret, struct gcd_error *err);
void answer_versions_done(struct answer_versions *v);
/* Elements that seem to be in a collection in the older and the newer dump, and to have come with
 * so many BYTES. */
struct answer_version_counts {
    uint64_t objects[2], bytes;
    bool known; /* it is such a collection */
    bool few;   /* some of them seemed not to be in it, because other versions have them, too */
};
/* Makes them those of the largest collection.  True: the collections have not grown, or by less
 * than half of these bytes; then the rest is in other versions. */
bool answer_versions_correct(const struct answer_versions versions[2], const char *owner,
                             const char *element, struct answer_version_counts *to);
/* Then that is said; ALL: the row of the elements' type. */
const char *answer_versions_text(const struct answer_come *come, const struct gcd_diff_row *all,
                                 char ret[ANSWER_COME_BYTES]);

/* ---- answer_growth.c: how suspects have grown ---- */

/* Thresholds for suspects of both dumps: of a heap that a leak has yet to fill it is a small part.
 */
#define ANSWER_GROWN_SHARE 0.001
#define ANSWER_GROWN_BYTES (UINT64_C(64) << 10)

/* What is kept of an older dump: its suspects by kind and place, its types, and its paths. */
struct answer_older;
/* Copies what it needs, with memory of ALLOC (NULL = malloc), as the heaps are compared; SUSPECTS:
 * of OLDER.  PATHS: keeps them, too; else the caller compares them.  Free *RET in any case. */
gcd_status answer_older_new(struct gcd_session *older, const struct gcd_suspects *suspects,
                            bool paths, const struct gcd_alloc *alloc, struct answer_older **ret,
                            struct gcd_error *err);
void answer_older_free(struct answer_older *o);
/* Adds the newer dump, once, before the functions below.  PATHS: compared by the caller, or NULL;
 * they must outlive O. */
gcd_status answer_older_match(struct answer_older *o, struct gcd_session *newer,
                              const struct gcd_suspects *suspects,
                              const struct gcd_tree_diff *paths, struct gcd_error *err);
/* Has it hardly anything that exists only to observe the process? */
bool answer_older_unobserved(const struct answer_older *o);
uint64_t answer_older_heap_bytes(const struct answer_older *o);
/* Bytes outside the heap, native or unknown, of the two processes; false: not known. */
bool answer_older_native_bytes(const struct answer_older *o, uint64_t ret[2]);
/* The numbers of the newer suspects, the most grown first; *RET_WORTH of them are worth a word. */
const size_t *answer_order_by_growth(const struct answer_older *o, size_t *ret_worth);
/* Has note S of the newer dump grown by as much as makes a suspect? */
bool answer_note_has_grown(const struct answer_older *o, const struct gcd_suspect *s);

/*
 * What is said before the suspects, in one row: what has come and where to look, unless a suspect
 * explains most of it; or that no suspect has grown.  Without "sentence": the suspects say all.
 */
extern const struct answer_shape answer_growth_shape;
struct answer *answer_growth_said(const struct answer_older *o);

/*
 * What leaks says first of two dumps, in one line: how the suspect has grown that has grown most,
 * what has come, or what fills up to a limit.  *RET_ANY false: none of it.  OF: as for
 * answer_suspect_growth, with "suspects".
 */
struct answer_of_suspects;
#define ANSWER_LINE_BYTES (2 * ANSWER_COME_BYTES)
gcd_status answer_growth_line(const struct answer_of_suspects *of, char ret[ANSWER_LINE_BYTES],
                              bool *ret_any, struct gcd_error *err);

/* ---- answer_suspects.c ---- */

/* "field" and "element" of the reference F, if they are certain. */
void answer_field(struct answer *a, const struct gcd_field *f);

struct answer_of_suspects {
    struct gcd_session *session;
    const struct gcd_suspects *suspects; /* of the heap */
    const struct gcd_suspects *shown;    /* these, or the largest consumer */
    const struct gcd_dominators *dominators;
    const struct gcd_origins *origins;
    struct answer_page page;
    /* an older dump of the same program, and the numbers of the ORDERED suspects to list; NULL =
     * none */
    const struct answer_older *older;
    const size_t *order;
    size_t ordered;
};
extern const struct answer_shape answer_suspects_shape, answer_parts_shape, answer_notes_shape;
gcd_status answer_suspects(const struct answer_of_suspects *of, struct answer **ret,
                           struct gcd_error *err);
/* NULL: out of memory, like the next three. */
struct answer *answer_parts(const struct answer_of_suspects *of,
                            const struct gcd_suspect_part *parts, size_t n);
/*
 * What values tell about S, if they may be seen: the keys of that collection, or the text of equal
 * strings.  A sentence in *RET, which belongs to GROUPS, NULL = nothing; and the keys by their
 * beginnings in GROUPS, of answer_keys_shape.
 */
gcd_status answer_suspect_keys(const struct answer_of_suspects *of, const struct gcd_suspect *s,
                               struct answer *groups, const char **ret, struct gcd_error *err);
/* The suspects for a page, the most grown first. */
struct answer_grown {
    struct gcd_page_growth *rows; /* [count] */
    size_t count;
    struct gcd_page_said before;
    struct answer *texts, *said; /* of the rows, of BEFORE */
};
/* Matches SUSPECTS of NEWER and PATHS (answer_older_match).  RET is empty before; answer_grown_done
 * in any case. */
gcd_status answer_grown_suspects(struct answer_older *o, struct gcd_session *newer,
                                 const struct gcd_suspects *suspects,
                                 const struct gcd_tree_diff *paths, struct answer_grown *ret,
                                 struct gcd_error *err);
void answer_grown_done(struct answer_grown *grown);
/* The cells about the growth of S since OF->older. */
void answer_suspect_growth(struct answer *a, const struct answer_of_suspects *of,
                           const struct gcd_suspect *s);
/* Its advice, and how sure it is, as growth tells. */
void answer_grown_advice(struct answer *a, const struct answer_of_suspects *of,
                         const struct gcd_suspect *s);
/* What is large and no fault. */
gcd_status answer_notes(const struct answer_of_suspects *of, struct answer **ret,
                        struct gcd_error *err);
/* The path of S from its root, for people; FOLDS: without hidden steps. */
struct answer *answer_suspect_path(const struct answer_of_suspects *of, const struct gcd_suspect *s,
                                   bool folds);
/* All kinds that were searched for, found or not. */
struct answer *answer_checks(const struct gcd_suspects *suspects);

/* ---- answer_compare.c: dumps side by side ---- */

struct answer_side {
    const char *subject;
    uint64_t process; /* 0 = unknown */
    int64_t unix_ms;  /* INT64_MIN = unknown */
    struct gcd_diff_sum sum;
    uint64_t types;
    /* of a summary that does not list all types: what the others have, and that there are others */
    struct gcd_diff_sum unlisted;
    bool partial;
};
struct answer_compared {
    const struct gcd_diff *diff;
    const uint32_t *order;           /* [rows of DIFF] */
    const struct answer_side *sides; /* [side_count] oldest first */
    size_t side_count;
    bool retained; /* retained sizes are wanted */
    bool filtered; /* DIFF leaves types out */
    bool people;   /* what grows together as part of one thing has one row (answer_alike.h) */
    bool raw_names;
    enum answer_sort sort;
    struct answer_page page; /* MIN_BYTES: of the change */
    /* the last dump, if what observes the process has come with it; else NULL */
    struct gcd_session *observed;
};
extern const struct answer_shape answer_diff_shape, answer_changed_paths_shape;
/* The types that differ: of two dumps; of any number. */
gcd_status answer_diff(const struct answer_compared *from, struct answer **ret,
                       struct gcd_error *err);
gcd_status answer_trend(const struct answer_compared *from, struct answer **ret,
                        struct gcd_error *err);
/* The dumps themselves. */
gcd_status answer_dumps(const struct answer_compared *from, struct answer **ret,
                        struct gcd_error *err);
/* The cells that types and paths share; IS_SUM: of several rows. */
void answer_change(struct answer *a, const struct gcd_diff_sum sums[2], bool is_sum);

/* ---- answer_words.c: cells that many answers have ---- */

/* TYPE without namespaces, cut if it does not fit. */
const char *answer_short_type(const struct gcd_session *s, uint32_t type,
                              char ret[GCD_ASYNC_STEP_BYTES]);
/* The same for a step of a stack: a method keeps its class. */
const char *answer_short_step(const char *name, char ret[GCD_ASYNC_STEP_BYTES]);
/* Where no operation was found in the dump S, with the totals T; some may not be read. */
const char *answer_nothing_waits(const struct gcd_summary *s, const struct gcd_async_totals *t);
/* What follows a sentence about what was not found: "", or of an incomplete dump that it may be
 * missing. */
const char *answer_may_be_missing(bool complete);
/* Of what is known by the names of types N were found.  Is even that there are none not known? */
bool answer_is_untold(const struct gcd_unnamed *u, uint64_t n);
/* In RET: "Exceptions cannot be told: no type has a name." for WHAT "Exceptions" if that holds;
 * "There may be more: 150 of 202 types have no name."; "" if nothing is hidden, or only few types
 * can be and some were found. */
#define ANSWER_UNTOLD_BYTES 192
const char *answer_untold(const struct gcd_unnamed *u, uint64_t n, const char *what,
                          char ret[ANSWER_UNTOLD_BYTES]);

/* A root for people, "static variable Shop.Cache.items" or "thread stack"; R NULL: a pseudo-root.
 */
void answer_root_label(struct answer *a, const char *key, const struct gcd_session *s,
                       const struct gcd_root *r);
/* The same in parts, which are shown one after the other.  As gcd_static_words. */
#define ANSWER_ROOT_PARTS 5
void answer_root_parts(const struct gcd_graph *g, const struct gcd_names *names,
                       const struct gcd_root *r, const char *ret[ANSWER_ROOT_PARTS]);
#define ANSWER_NO_ROOT "(no root recorded)"
/* What no root reaches and gcd_is_frozen, alone and as a step or row. */
#define ANSWER_FROZEN_WORDS "frozen: literals and types, which only code holds"
#define ANSWER_FROZEN       "(" ANSWER_FROZEN_WORDS ")"
/* The cells "field", "class" and "label" of a static variable; unknown for other roots and NULL. */
void answer_static(struct answer *a, const struct gcd_session *s, const struct gcd_root *r);
/* The group of R for programs, such as "statics"; "stand_in" for R NULL. */
const char *answer_root_key(const struct gcd_root *r);
/* An object as people see it and --object takes it: its address, or its number when the dump has no
 * real addresses. */
#define ANSWER_OBJECT_BYTES 32
const char *answer_object_text(const struct gcd_graph *g, uint32_t node,
                               char buf[ANSWER_OBJECT_BYTES]);
/* The cells "object", as people name NODE, "address", unknown when it is made up, and "node". */
void answer_object(struct answer *a, const struct gcd_session *s, uint32_t node);
/* The columns of a type: its name for programs, what people call it for them; and their cells. */
#define ANSWER_TYPE(title) FIELD("type", ANSWER_TEXT), PEOPLE("shown", title, ANSWER_TEXT)
void answer_type(struct answer *a, const struct gcd_names *names, uint32_t type);
/* Both cells: "(3 more types)". */
void answer_types_note(struct answer *a, const char *form, ...) GCD_PRINTF(2, 3);

#define ANSWER_HIDDEN_BYTES 64
/* The text for N hidden steps, LIBRARY of them from libraries. */
const char *answer_hidden_text(uint64_t n, uint64_t library, char buf[ANSWER_HIDDEN_BYTES]);
/* For programs: "shown", "inside", "hidden"; static. */
const char *answer_fold_name(enum gcd_fold fold);
#define ANSWER_ELEMENTS_BYTES 64
/* " (5,040 elements)", " (at least 5,040 elements)"; "" when nothing is known. */
void answer_elements_text(uint64_t n, uint64_t least, uint64_t most,
                          char ret[ANSWER_ELEMENTS_BYTES]);
/* The same for NODE of the session's graph if it is a collection whose number of elements is known,
 * else "".  CALL as for gcd_session_collection. */
gcd_status answer_elements_of(struct gcd_session *s, const struct gcd_context *call, uint32_t node,
                              char ret[ANSWER_ELEMENTS_BYTES], struct gcd_error *err);
/* The cells "origin" and "fold" of a step of TYPE. */
void answer_fold(struct answer *a, const struct gcd_origins *o, uint32_t type, enum gcd_fold fold);

/* ---- answer_sites.c ---- */

struct answer_of_sites {
    const struct gcd_site_list *list;
    const struct gcd_summary *summary; /* of the dump, */
    const struct gcd_names *names;     /* and the names of its types */
    const uint32_t *type;              /* only of this type; NULL = of all */
    struct answer_page page;
    bool people;    /* callers as lines of their own */
    bool full;      /* all callers, also those of the framework */
    bool also_dead; /* most allocated first; sites with no living object, too */
};
/* Where living objects were allocated: by the innermost line of the program, and type. */
gcd_status answer_sites(const struct answer_of_sites *of, struct answer **ret,
                        struct gcd_error *err);

/* A part of the living samples of something, by the line that allocated them. */
extern const struct answer_shape answer_site_parts_shape;
#define ANSWER_SITE_BYTES GCD_SITE_TEXT_BYTES
/* gcd_site_parts_text in TEXT[ANSWER_SITE_BYTES], "" without sites; all lines in ROWS, NULL: they
 * are not wanted.  false: out of memory. */
bool answer_suspect_site(const struct answer_of_suspects *of, const struct gcd_suspect *s,
                         struct answer *rows, char *text);
/* In RET[ANSWER_SITE_BYTES]: "SessionStore.cs:41 Shop.SessionStore.Open (System.Byte[])"; TYPE may
 * be NULL. */
void answer_site_text(const struct gcd_site_frame *f, const char *type, char *ret);

#endif
