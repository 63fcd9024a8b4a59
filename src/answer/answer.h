/*
 * An answer about a heap: columns and rows, filled once and shown by any renderer (src/render).
 *
 *     static const struct answer_column columns[] = {
 *         COLUMN("count", "Count", ANSWER_COUNT), COLUMN("bytes", "Bytes", ANSWER_BYTES),
 *         COLUMN("type", "Type", ANSWER_TEXT),
 *     };
 *     static const struct answer_shape shape = ANSWER_SHAPE(columns);
 *     struct answer *a = answer_new(NULL, &shape);
 *     answer_row(a);
 *     answer_count(a, "count", 5);
 *     answer_text(a, "type", "Shop.Order");     what is not filled is unknown
 *     render_text(a, stdout);
 *     answer_free(a);
 *
 * An answer never formats for a medium, and a renderer knows no command.  The answer remembers that
 * memory was exhausted or that a column does not exist, and rendering fails then; so the filling
 * functions return nothing.
 */
#ifndef GCD_ANSWER_ANSWER_H
#define GCD_ANSWER_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/gcdumpc.h>

#include "base/text.h"

enum answer_kind {
    ANSWER_COUNT,
    ANSWER_DELTA, /* of a count, with its sign */
    ANSWER_BYTES,
    ANSWER_BYTES_DELTA,
    ANSWER_SHARE,  /* a share of 1 */
    ANSWER_GROWTH, /* the same with a sign; unknown when it was 0 before */
    ANSWER_FLAG,
    ANSWER_DIGITS, /* a number that comes as text */
    ANSWER_ADDRESS,
    ANSWER_TIME, /* milliseconds since 1970 */
    ANSWER_TEXT,
    ANSWER_TREE, /* a text, indented for people */
    ANSWER_ROWS  /* another answer; not in a table of text or CSV */
};

enum answer_audience {
    ANSWER_FOR_ALL,      /* for people only with a title */
    ANSWER_FOR_PEOPLE,   /* not for programs */
    ANSWER_FOR_PROGRAMS, /* JSON and CSV, not for agents, which read every word */
};

struct answer_shape;

struct answer_column {
    const char *key;   /* one fact has one key in all answers */
    const char *title; /* for people; NULL = only for programs */
    enum answer_kind kind;
    enum answer_audience audience;
    /* of ANSWER_ROWS.  Rows of a single column without a key are plain values. */
    const struct answer_shape *of;
};

/* A column for all; without a title; not for agents; only for people; of rows. */
#define COLUMN(key, title, kind)               \
    {                                          \
        key, title, kind, ANSWER_FOR_ALL, NULL \
    }
#define FIELD(key, kind)                      \
    {                                         \
        key, NULL, kind, ANSWER_FOR_ALL, NULL \
    }
#define DETAIL(key, kind)                          \
    {                                              \
        key, NULL, kind, ANSWER_FOR_PROGRAMS, NULL \
    }
#define PEOPLE(key, title, kind)                  \
    {                                             \
        key, title, kind, ANSWER_FOR_PEOPLE, NULL \
    }
#define ROWS(key, audience, shape)              \
    {                                           \
        key, NULL, ANSWER_ROWS, audience, shape \
    }

struct answer_shape {
    const struct answer_column *columns;
    size_t count;
};
#define ANSWER_SHAPE(array)                    \
    {                                          \
        array, sizeof(array) / sizeof *(array) \
    }

struct answer_cell {
    bool known;
    bool negative; /* a change below 0 */
    union {
        uint64_t number; /* a magnitude, an address; of a tree its depth */
        double share;
        struct answer *rows;
    };
    const char *text;
};

struct answer {
    struct gcd_alloc alloc;
    struct answer *top; /* the answer that this one is a cell of, at last; owns texts and status */
    struct answer_shape shape;
    struct answer_column *own_columns; /* [shape.count] NULL = they are in the program */
    uint64_t hidden;           /* a bit for each of the first 64 columns: nobody asked for it */
    struct answer_cell *cells; /* row by row */
    size_t cell_room;
    size_t rows; /* with the sums */
    size_t sums; /* the first row that sums up others; SIZE_MAX = none */
    /* of a page of rows: number of its first row, and how many there are */
    uint64_t first, total;
    size_t next; /* the column expected next */
    bool whole;  /* people see even very long texts whole */
    struct gcd_textpool texts;
    gcd_status status; /* GCD_E_NOMEM, GCD_E_ARG: there is no such column */
};

/* The columns of SHAPE must outlive the answer; ALLOC may be NULL.  NULL when out of memory; all
 * functions take NULL. */
struct answer *answer_new(const struct gcd_alloc *alloc, const struct answer_shape *shape);
/* An answer with COUNT columns of its own, which the caller fills before the first row. */
struct answer *answer_new_columns(const struct gcd_alloc *alloc, size_t count);
/* A text that lives as long as A; "" when out of memory. */
const char *answer_keep(struct answer *a, const char *fmt, ...) GCD_PRINTF(2, 3);
void answer_free(struct answer *a);
/* Leaves column KEY out. */
void answer_hide(struct answer *a, const char *key);

/* Begins the next row; all its cells are unknown. */
void answer_row(struct answer *a);
/* The following rows are sums, only for people. */
void answer_begin_sums(struct answer *a);

/* Set a cell of the row; its column must have that kind. */
void answer_count(struct answer *a, const char *key, uint64_t n);
void answer_delta(struct answer *a, const char *key, uint64_t before, uint64_t after);
void answer_share(struct answer *a, const char *key, uint64_t part, uint64_t whole);
void answer_growth(struct answer *a, const char *key, uint64_t before, uint64_t after);
void answer_flag(struct answer *a, const char *key, bool is);
/* Copy TEXT; NULL is unknown.  answer_known: "" is unknown, too. */
void answer_text(struct answer *a, const char *key, const char *text);
void answer_known(struct answer *a, const char *key, const char *text);
void answer_format(struct answer *a, const char *key, const char *fmt, ...) GCD_PRINTF(3, 4);
/* INT64_MIN is unknown. */
void answer_time(struct answer *a, const char *key, int64_t unix_ms);
/* The depth of the row, for its tree column KEY. */
void answer_depth(struct answer *a, const char *key, uint32_t depth);
/* Begins the answer in cell KEY, of the shape of its column; freed with A. */
struct answer *answer_rows(struct answer *a, const char *key);

/* The number of rows without the sums. */
size_t answer_plain_rows(const struct answer *a);
static inline const struct answer_cell *answer_cell(const struct answer *a, size_t row,
                                                    size_t column)
{
    return &a->cells[row * a->shape.count + column];
}
/* Is there a column KEY that is not hidden? */
bool answer_has(const struct answer *a, const char *key);
/* Cell KEY of ROW; NULL: there is no such column, or it is hidden. */
const struct answer_cell *answer_find(const struct answer *a, size_t row, const char *key);
static inline bool answer_is_hidden(const struct answer *a, size_t column)
{
    return column < 64 && (a->hidden >> column & 1) != 0;
}
static inline bool answer_is_text(enum answer_kind kind)
{
    return kind == ANSWER_TEXT || kind == ANSWER_TREE;
}

#endif
