#include "render/render_cells.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "render/render.h"
#include "term/term.h"

bool render_ready(const struct answer *a)
{
    if (a != NULL && a->top->status == GCD_OK)
        return true;
    errno = a != NULL && a->top->status == GCD_E_ARG ? EINVAL : ENOMEM;
    return false;
}

static const char *sign_of(const struct answer_cell *c, enum answer_kind kind)
{
    bool delta = kind == ANSWER_DELTA || kind == ANSWER_BYTES_DELTA;
    return !delta || c->number == 0 ? "" : c->negative ? "-" : "+";
}

const char *render_cell(const struct answer_cell *c, enum answer_kind kind, bool people,
                        char buf[CELL_BYTES])
{
    char n[CLI_NUMBER_BYTES], time[CLI_TIME_BYTES];
    if (!c->known)
        return "";
    switch (kind) {
    case ANSWER_COUNT:
    case ANSWER_DELTA:
    case ANSWER_FLAG:
        (void)snprintf(buf, CELL_BYTES, "%s%s", sign_of(c, kind), cli_number(c->number, people, n));
        break;
    case ANSWER_BYTES:
    case ANSWER_BYTES_DELTA:
        (void)snprintf(buf, CELL_BYTES, "%s%s", sign_of(c, kind),
                       people ? cli_size(c->number, n) : cli_number(c->number, false, n));
        break;
    case ANSWER_SHARE:
        (void)snprintf(buf, CELL_BYTES, "%.2f%%", 100 * c->share);
        break;
    case ANSWER_GROWTH:
        (void)snprintf(buf, CELL_BYTES, "%+.2f%%", 100 * c->share);
        break;
    case ANSWER_ADDRESS:
        (void)snprintf(buf, CELL_BYTES, "0x%" PRIx64, c->number);
        break;
    case ANSWER_TIME:
        (void)snprintf(buf, CELL_BYTES, "%s", cli_time((int64_t)c->number, time));
        break;
    case ANSWER_ROWS:
        return "";
    case ANSWER_DIGITS:
    case ANSWER_TEXT:
    case ANSWER_TREE:
        return c->text != NULL ? c->text : "";
    }
    return buf;
}
