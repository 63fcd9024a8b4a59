/*
 * What the browser shows, independent of a terminal: a view is a sequence of lists and texts with a
 * cursor.
 *
 *     browse_open(&model, BROWSE_TREE, GCD_NODE_ROOT, &call, &view, &err);
 *     for (uint64_t i = view->top; i < browse_lines(view); i++) {
 *         struct browse_line line;
 *         browse_line_at(view, i, &line);
 *         ... line.name, line.numbers
 *     }
 *
 * Lines are made on demand.  Work that grows with a list is done by browse_open, browse_sort and
 * browse_find, which take a context with a cancel flag and progress; they may run in another thread
 * as long as nobody uses the view or the model.
 */
#ifndef GCD_CLI_BROWSE_MODEL_H
#define GCD_CLI_BROWSE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/session/views.h>

#include "args.h"
#include "input/input.h"

struct browse_model {
    const struct cli_dump *dump; /* with a graph, a session and names */
    const struct gcd_graph *graph;
    const struct gcd_summary *summary;
    struct gcd_session *session;
    const struct gcd_names *names;
    bool ascii; /* the terminal shows only ASCII */
    /* results that the session has computed so far, for lines; NULL = not computed */
    const struct gcd_dominators *dominators;
    const uint64_t *by_type; /* [types] retained, a lower bound */
    const struct gcd_suspects *suspects, *largest;
    const struct gcd_async *async;
    const struct gcd_origins *origins;
};

enum browse_kind {
    BROWSE_SUSPECTS,
    BROWSE_TREE,
    BROWSE_TYPES,
    BROWSE_ASYNC,   /* the four main views */
    BROWSE_SUSPECT, /* number SUBJECT */
    BROWSE_OBJECT,  /* node SUBJECT */
    BROWSE_TYPE,    /* type SUBJECT */
    BROWSE_STACK,   /* the stack that ends with frame SUBJECT */
    BROWSE_DUMP,    /* facts and verdict */
    BROWSE_ROWS,    /* the answer to a question in SQL */
    BROWSE_HELP
};
#define BROWSE_MAIN_VIEWS 4u

enum browse_order {
    ORDER_AS_IS,
    ORDER_RETAINED,
    ORDER_BYTES,
    ORDER_COUNT,
    ORDER_NAME,
    BROWSE_ORDERS
};
/* The name of an order, such as "retained"; "as recorded" for ORDER_AS_IS. */
const char *browse_order_name(enum browse_order order);

/* What Enter opens. */
enum browse_goal { GOAL_NONE, GOAL_OBJECT, GOAL_TYPE, GOAL_SUSPECT, GOAL_STACK, GOAL_TREE };

enum browse_style { STYLE_BLANK, STYLE_HEADING, STYLE_TEXT, STYLE_ITEM };

#define BROWSE_NUMBERS    3
#define BROWSE_TAIL_BYTES 96

/* Valid until the next call for the same view. */
struct browse_line {
    enum browse_style style;
    bool has[BROWSE_NUMBERS];
    uint64_t numbers[BROWSE_NUMBERS]; /* bytes or counts; the section says which */
    uint64_t part, whole;             /* a share; WHOLE 0 = none */
    unsigned indent;                  /* levels */
    const char *name;                 /* foreign text, not sanitized; NAME_BYTES of it */
    size_t name_bytes;
    char made[GCD_ASYNC_STEP_BYTES]; /* NAME, if it is made for the line */
    char tail[BROWSE_TAIL_BYTES];    /* after the name */
    const char *more;                /* foreign text after that; NULL = none */
    enum browse_goal goal;
    uint32_t to; /* node, type, number of a suspect, frame */
};

struct browse_view;
struct browse_section;

typedef void (*browse_line_fn)(const struct browse_view *v, const struct browse_section *s,
                               uint64_t i, struct browse_line *ret);

struct browse_section {
    const char *title; /* NULL = none: the first list of a view; static */
    /* titles of the number columns; NULL = no such column; static */
    const char *heads[BROWSE_NUMBERS];
    const char *what;            /* title of the names; static */
    bool counts[BROWSE_NUMBERS]; /* the number is a count, not a size */
    bool hidden_share;
    uint64_t count;      /* lines below the title */
    browse_line_fn line; /* makes a line; NULL = the section is TEXT, wrapped */
    /* paragraphs; owned.  With LINE the wrapped names of a list, one for each item: LINE makes all
     * but the name, which may take several lines */
    char *text;
    size_t *breaks;      /* [count + 1] where the lines of TEXT begin */
    const uint32_t *ids; /* [count] nodes or types in line order; NULL = none */
    bool are_types;      /* IDS are types */
    uint32_t *sorted;    /* [count] IDS in another order; owned */
    /* [types] the counts of ORDER_COUNT, when IDS are types; NULL = objects */
    const uint64_t *amounts;
    /* bits 1 << enum browse_order of the possible orders; 0 = fixed order */
    unsigned orders;
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
    char *question, *heading; /* for BROWSE_ROWS: the SQL statement, the column names */
    struct browse_section sections[BROWSE_SECTIONS];
    size_t section_count;
    uint64_t cursor, top; /* lines */
    size_t shift;         /* columns of the names hidden left of the window */
    size_t width;         /* window width that texts are wrapped for */
    bool full;            /* paths with all their steps */
    /* owned by the view: */
    struct browse_made *made; /* [made_count] */
    size_t made_count, made_room;
    size_t first_made[BROWSE_SECTIONS]; /* index of the first made line of each section */
    uint64_t *amounts[2];               /* [types] for lists of types */
    uint32_t *lists[2];                 /* [types] types */
    struct browse_view *below;          /* what Back shows */
};

/* ---- views ---- */

/*
 * Opens a view of SUBJECT: NUMBER for the kinds that have one; FULL shows paths with all steps.
 * Errors of the session and of SQL, GCD_E_NOMEM, GCD_E_CANCELED.  Call browse_learn afterwards,
 * before using lines.
 */
struct browse_subject {
    enum browse_kind kind;
    uint32_t number;
    bool full;
    const char *text; /* for BROWSE_ROWS: the statement; copied */
};
gcd_status browse_open(const struct browse_model *m, const struct browse_subject *subject,
                       const struct gcd_context *call, struct browse_view **ret,
                       struct gcd_error *err);
/* Frees V, which may be NULL, but not the views below it. */
void browse_free(struct browse_view *v);
/* Updates M with what the session has computed by now. */
void browse_learn(struct browse_model *m, enum browse_kind opened);
/* Call it after browse_learn: puts the cursor on the first line that can be opened and that HEIGHT
 * lines of WIDTH columns show, else on the first of all: a long text is read from its beginning. */
void browse_begin(struct browse_view *v, size_t width, uint64_t height);

/* A view of plain TEXT (help, messages), which is copied.  NULL: out of memory. */
struct browse_view *browse_text_view(const struct browse_model *m, const char *title,
                                     const char *text);

/* ---- columns ---- */

/* Widths of number columns; a blank follows each. */
#define BROWSE_FIRST_COLUMNS  10u
#define BROWSE_SHARE_COLUMNS  7u
#define BROWSE_BAR_COLUMNS    10u
#define BROWSE_NUMBER_COLUMNS 11u

/* Which columns a window shows, and where the names begin. */
struct browse_layout {
    bool numbers[BROWSE_NUMBERS], share, bar;
    size_t name_at;
};
struct browse_layout browse_layout_of(const struct browse_section *s, size_t columns);

/* Wraps texts for WIDTH columns.  False: out of memory, texts stay unchanged. */
bool browse_wrap(struct browse_view *v, size_t width);

/* ---- lines ---- */

/* The number of lines of all sections, with their titles. */
uint64_t browse_lines(const struct browse_view *v);
void browse_line_at(const struct browse_view *v, uint64_t line, struct browse_line *ret);
/* The section of LINE; *RET: its index in the section, UINT64_MAX for the title or the blank line
 * above it. */
const struct browse_section *browse_section_at(const struct browse_view *v, uint64_t line,
                                               uint64_t *ret);

/* ---- moves: they keep the cursor on a line, and TOP such that it is visible in a window of HEIGHT
 * lines ---- */

enum browse_move {
    MOVE_UP,
    MOVE_DOWN,
    MOVE_PAGE_UP,
    MOVE_PAGE_DOWN,
    MOVE_FIRST,
    MOVE_LAST,
    MOVE_NEXT_SECTION,
    MOVE_PREVIOUS_SECTION
};
void browse_move(struct browse_view *v, enum browse_move move, uint64_t height);
void browse_go(struct browse_view *v, uint64_t line, uint64_t height);
/* Moves to the first line of a section. */
void browse_first_of(struct browse_view *v, size_t section, uint64_t height);
/* Call it after the height has changed. */
void browse_fit(struct browse_view *v, uint64_t height);

/* ---- order and search ---- */

/* The order after the current one, for the section at the cursor; ORDER_AS_IS when it has only one.
 * *RET_SECTION: index of the section. */
enum browse_order browse_next_order(const struct browse_view *v, size_t *ret_section);
/* Sorts a section and moves the cursor to its first line.  GCD_E_NOMEM, GCD_E_CANCELED, errors of
 * the session. */
gcd_status browse_sort(struct browse_view *v, size_t section, enum browse_order order,
                       const struct gcd_context *call, struct gcd_error *err);
/* Sorts nodes or types IDS[N] into RET[N]: largest first, or names ascending; ties keep their
 * order. */
struct browse_sorting {
    const uint32_t *ids;
    uint64_t count;
    bool are_types;
    const uint64_t *amounts; /* the counts of types for ORDER_COUNT; NULL = objects */
    enum browse_order order;
};
gcd_status browse_sort_ids(const struct browse_model *m, const struct browse_sorting *what,
                           const struct gcd_context *call, uint32_t *ret, struct gcd_error *err);

/*
 * Finds the next line from FROM on, or with BACK before it, whose text matches; wraps around, so
 * all lines are tried.  UINT64_MAX: none.  PATTERN is text anywhere in the line, with * for any
 * text and ? for one character; without capitals, case does not matter; /REGEX/ as in --filter.
 */
struct browse_search {
    const char *pattern;
    uint64_t from;
    bool back;
};
/* GCD_E_ARG: the pattern is wrong, ERR says why; GCD_E_NOMEM; GCD_E_CANCELED. */
gcd_status browse_find(const struct browse_view *v, const struct browse_search *search,
                       const struct gcd_context *call, uint64_t *ret, struct gcd_error *err);

/* ---- files ---- */

/* Writes all lines of V to PATH, completely or not at all, mode 0600.  Errors of sinks. */
gcd_status browse_write(const struct browse_view *v, const char *path,
                        const struct gcd_context *call, struct gcd_error *err);

#endif
