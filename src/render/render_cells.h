/* How one cell is written, for all renderers. */
#ifndef GCD_RENDER_CELLS_H
#define GCD_RENDER_CELLS_H

#include "answer/answer.h"

#define CELL_BYTES 48
/* The text of a cell, possibly in BUF; "" when it is unknown.  PEOPLE: with separators and units.
 */
const char *render_cell(const struct answer_cell *c, enum answer_kind kind, bool people,
                        char buf[CELL_BYTES]);

static inline bool render_is_share(enum answer_kind kind)
{
    return kind == ANSWER_SHARE || kind == ANSWER_GROWTH;
}

#endif
