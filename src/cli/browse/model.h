/*
 * What a browser shows, without a terminal: a view is lists and texts one after the other, with a cursor.
 *
 *     browse_open(&model, BROWSE_TREE, GCD_NODE_ROOT, &call, &view, &err);
 *     for (uint64_t i = view->top; i < browse_lines(view); i++) {
 *         struct browse_line line;
 *         browse_line_at(view, i, &line);
 *         ... line.name, line.numbers
 *     }
 *
 * Lines are made when they are looked at.  What takes long, and grows with a list, is done by browse_open, browse_sort and browse_search, which
 * take a context with a flag and progress, and may run in another thread as long as nobody looks at the view or the model.
 */
#ifndef GCD_CLI_BROWSE_MODEL_H
#define GCD_CLI_BROWSE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/session/views.h>

#include "args.h"
#include "input/input.h"

struct browse_model {
    const struct cli_dump *dump; /* with a graph, a session and names */
    const struct gcd_graph *graph;
    const struct gcd_summary *summary;
    struct gcd_session *session;
    const struct gcd_names *names;
    bool ascii;                  /* the terminal shows nothing else */
    /* what the session has computed so far, for lines; NULL = nothing */
    const struct gcd_dominators *dominators;
    const uint64_t *by_type;     /* [types] retained, a lower bound */
    const struct gcd_suspects *suspects, *largest;
    const struct gcd_async *async;
};

enum browse_kind {
    BROWSE_SUSPECTS, BROWSE_TREE, BROWSE_TYPES, BROWSE_ASYNC,    /* the four to begin with */
    BROWSE_SUSPECT,              /* number SUBJECT */
    BROWSE_OBJECT,               /* node SUBJECT */
    BROWSE_TYPE,                 /* type SUBJECT */
    BROWSE_STACK,                /* the stack that ends with frame SUBJECT */
    BROWSE_DUMP,                 /* facts and verdict */
    BROWSE_ROWS,                 /* the answer to a question in SQL */
    BROWSE_HELP
};
#define BROWSE_MAIN_VIEWS 4u

enum browse_order { ORDER_AS_IS, ORDER_RETAINED, ORDER_BYTES, ORDER_COUNT, ORDER_NAME, BROWSE_ORDERS };
/* "retained"; ORDER_AS_IS: "as recorded". */
const char *browse_order_name(enum browse_order order);

/* Where Enter goes. */
enum browse_goal { GOAL_NONE, GOAL_OBJECT, GOAL_TYPE, GOAL_SUSPECT, GOAL_STACK, GOAL_TREE };

enum browse_style { STYLE_BLANK, STYLE_HEADING, STYLE_TEXT, STYLE_ITEM };

#define BROWSE_NUMBERS 3
#define BROWSE_TAIL_BYTES 96

/* Valid until the next call for the same view. */
struct browse_line {
    enum browse_style style;
    bool has[BROWSE_NUMBERS];
    uint64_t numbers[BROWSE_NUMBERS];    /* bytes or counts, as the section says */
    uint64_t part, whole;        /* a share; WHOLE 0 = none */
    unsigned indent;             /* in levels */
    const char *name;            /* foreign text, not sanitized; NAME_BYTES of it */
    size_t name_bytes;
    char tail[BROWSE_TAIL_BYTES];        /* after the name */
    const char *more;            /* foreign text after that; NULL = none */
    enum browse_goal goal;
    uint32_t to;                 /* node, type, number of a suspect, frame */
};

struct browse_view;
struct browse_section;

typedef void (*browse_line_fn)(const struct browse_view *v, const struct browse_section *s, uint64_t i, struct browse_line *ret);

struct browse_section {
    const char *title;           /* NULL = none: the first list of a view; static */
    const char *heads[BROWSE_NUMBERS];   /* above the numbers; NULL = no such number; static */
    const char *what;            /* above the names; static */
    bool counts[BROWSE_NUMBERS]; /* the number is no size */
    bool hidden_share;
    uint64_t count;              /* lines below the title */
    browse_line_fn line;         /* NULL: TEXT, wrapped */
    char *text;                  /* paragraphs, the section's */
    size_t *breaks;              /* [count + 1] where the lines of TEXT begin */
    const uint32_t *ids;         /* [count] nodes or types in the order of the lines; NULL = none */
    bool are_types;              /* IDS are types */
    uint32_t *sorted;            /* [count] IDS in another order, the section's */
    const uint64_t *amounts;     /* [types] of IDS that are types: what ORDER_COUNT means; NULL: objects */
    unsigned orders;             /* bits 1 << enum browse_order that S takes; 0 = it keeps its order */
    enum browse_order order;
};

#define BROWSE_SECTIONS 6

/* A line that is made when the view is opened. */
struct browse_made {
    char *text;
    unsigned indent;
    bool has[BROWSE_NUMBERS];
    uint64_t numbers[BROWSE_NUMBERS];
    enum browse_goal goal;
    uint32_t to;
};

struct browse_view {
    enum browse_kind kind;
    uint32_t subject;
    const struct browse_model *model;
    char *title;
    char *question, *heading;    /* of BROWSE_ROWS: in SQL; the names of the columns */
    struct browse_section sections[BROWSE_SECTIONS];
    size_t section_count;
    uint64_t cursor, top;        /* lines */
    size_t shift;                /* columns of the names that are left of the window */
    size_t width;                /* of the window that texts are wrapped for */
    bool full;                   /* paths with all their steps */
    /* of the view's own: */
    struct browse_made *made;    /* [made_count] */
    size_t made_count, made_room;
    size_t first_made[BROWSE_SECTIONS];  /* of each section that shows made lines */
    uint64_t *amounts[2];        /* [types] for lists of types */
    uint32_t *lists[2];          /* [types] types */
    struct browse_view *below;   /* what Back shows */
};

/* ---- views ---- */

/*
 * Opens a view; SUBJECT of the kinds that have one.  FULL: paths with all their steps.  Errors of the session and of SQL, GCD_E_NOMEM,
 * GCD_E_CANCELED.  Call browse_learn when it is done, before lines are looked at.
 */
struct browse_subject {
    enum browse_kind kind;
    uint32_t number;
    bool full;
    const char *text;            /* of BROWSE_ROWS: the question; copied */
};
gcd_status browse_open(const struct browse_model *m, const struct browse_subject *subject, const struct gcd_context *call,
                       struct browse_view **ret, struct gcd_error *err);
/* NULL is fine; those below it stay. */
void browse_free(struct browse_view *v);
/* Notes what the session has by now. */
void browse_learn(struct browse_model *m, enum browse_kind opened);
/* After that: the cursor begins on the first line that can be opened. */
void browse_begin(struct browse_view *v);

/* An empty view for browse_open's helpers, and one of plain TEXT (help, messages), which is copied.  NULL: no memory. */
struct browse_view *browse_view_new(const struct browse_model *m, const struct browse_subject *subject);
struct browse_view *browse_text_view(const struct browse_model *m, const char *title, const char *text);

/* Wraps texts for WIDTH columns.  False: no memory, texts stay as they were. */
bool browse_wrap(struct browse_view *v, size_t width);

/* ---- lines ---- */

/* Of all sections, with their titles. */
uint64_t browse_lines(const struct browse_view *v);
void browse_line_at(const struct browse_view *v, uint64_t line, struct browse_line *ret);
/* The section of LINE, and the number of the line in it in *RET (UINT64_MAX: its title or the blank line above). */
const struct browse_section *browse_section_at(const struct browse_view *v, uint64_t line, uint64_t *ret);

/* ---- moves: the cursor stays on lines, TOP such that it is seen in a window of HEIGHT lines ---- */

enum browse_move { MOVE_UP, MOVE_DOWN, MOVE_PAGE_UP, MOVE_PAGE_DOWN, MOVE_FIRST, MOVE_LAST, MOVE_NEXT_SECTION, MOVE_PREVIOUS_SECTION };
void browse_move(struct browse_view *v, enum browse_move move, uint64_t height);
void browse_go(struct browse_view *v, uint64_t line, uint64_t height);
/* To the first line of a section. */
void browse_first_of(struct browse_view *v, size_t section, uint64_t height);
/* After a change of the height. */
void browse_fit(struct browse_view *v, uint64_t height);

/* ---- order and search ---- */

/* The order that follows that of the section at the cursor; ORDER_AS_IS when it has only one.  *RET_SECTION: its number. */
enum browse_order browse_next_order(const struct browse_view *v, size_t *ret_section);
/* Sorts a section; the cursor goes to its first line.  GCD_E_NOMEM, GCD_E_CANCELED, errors of the session. */
gcd_status browse_sort(struct browse_view *v, size_t section, enum browse_order order, const struct gcd_context *call, struct gcd_error *err);
/* Sorts NODES or types IDS[N] into RET[N]: the largest first, names in ascending order; equal ones keep their order. */
struct browse_sorting {
    const uint32_t *ids;
    uint64_t count;
    bool are_types;
    const uint64_t *amounts;     /* of types: what ORDER_COUNT means; NULL: objects */
    enum browse_order order;
};
gcd_status browse_sort_ids(const struct browse_model *m, const struct browse_sorting *what, const struct gcd_context *call, uint32_t *ret,
                           struct gcd_error *err);

/*
 * The next line from FROM on, or with BACK before it, whose text matches; all lines are tried, around the end.  UINT64_MAX: none.  PATTERN: text that
 * stands anywhere in the line, with * for any text and ? for one character; without capitals, case does not matter; /REGEX/ as in --filter.
 */
struct browse_search {
    const char *pattern;
    uint64_t from;
    bool back;
};
/* GCD_E_ARG: what is wrong with the pattern; GCD_E_NOMEM; GCD_E_CANCELED. */
gcd_status browse_find(const struct browse_view *v, const struct browse_search *search, const struct gcd_context *call, uint64_t *ret,
                       struct gcd_error *err);

/* ---- files ---- */

/* Writes all lines of V to PATH, whole or not at all, mode 0600.  Errors of sinks. */
gcd_status browse_write(const struct browse_view *v, const char *path, const struct gcd_context *call, struct gcd_error *err);

#endif
