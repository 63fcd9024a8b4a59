#include "answer/answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct answer *answer_new(const struct gcd_alloc *alloc, const struct answer_shape *shape)
{
    struct gcd_alloc used = gcd_alloc_or_default(alloc);
    struct answer *a = gcd_mem_new(&used, sizeof *a);
    if (a == NULL)
        return NULL;
    a->alloc = used;
    a->top = a;
    a->shape = *shape;
    a->sums = SIZE_MAX;
    gcd_textpool_init(&a->texts, &a->alloc, UINT64_MAX);
    return a;
}

struct answer *answer_new_columns(const struct gcd_alloc *alloc, size_t count)
{
    struct answer *a = answer_new(alloc, &(struct answer_shape){ NULL, count });
    if (a == NULL)
        return NULL;
    a->shape.columns = a->own_columns = gcd_mem_new_array(&a->alloc, count, sizeof *a->own_columns);
    if (a->own_columns != NULL)
        return a;
    a->shape.count = 0;
    answer_free(a);
    return NULL;
}

void answer_free(struct answer *a)
{
    if (a == NULL)
        return;
    for (size_t i = 0; i < a->shape.count; i++)
        for (size_t row = 0; row < a->rows && a->shape.columns[i].kind == ANSWER_ROWS; row++)
            answer_free(a->cells[row * a->shape.count + i].rows);
    gcd_textpool_done(&a->texts);
    struct gcd_alloc alloc = a->alloc;
    gcd_mem_free(&alloc, a->own_columns, a->shape.count * sizeof *a->own_columns);
    gcd_mem_free(&alloc, a->cells, a->cell_room * sizeof *a->cells);
    gcd_mem_free(&alloc, a, sizeof *a);
}

/* The index of column KEY; the number of columns: there is none.  Rows are filled in the order of
 * their columns, so the first guess is nearly always right. */
static size_t column_of(const struct answer *a, const char *key, size_t guess)
{
    for (size_t i = 0; i < a->shape.count; i++) {
        size_t at = guess + i < a->shape.count ? guess + i : guess + i - a->shape.count;
        const char *k = a->shape.columns[at].key;
        if (k == key || (k != NULL && key != NULL && strcmp(k, key) == 0))
            return at;
    }
    return a->shape.count;
}

void answer_hide(struct answer *a, const char *key)
{
    size_t i = a != NULL ? column_of(a, key, 0) : 0;
    if (a != NULL && i < a->shape.count && i < 64)
        a->hidden |= UINT64_C(1) << i;
}

void answer_row(struct answer *a)
{
    if (a == NULL || a->top->status != GCD_OK)
        return;
    size_t used = a->rows * a->shape.count;
    if (!gcd_vec_reserve(&a->alloc, &a->cells, &a->cell_room, used + a->shape.count,
                         sizeof *a->cells, SIZE_MAX / sizeof *a->cells)) {
        a->top->status = GCD_E_NOMEM;
        return;
    }
    a->rows++;
    a->next = 0;
}

void answer_begin_sums(struct answer *a)
{
    if (a != NULL)
        a->sums = a->rows;
}

/* The cell KEY of the last row, now known; NULL: nothing to fill. */
static struct answer_cell *cell_of(struct answer *a, const char *key)
{
    if (a == NULL || a->top->status != GCD_OK)
        return NULL;
    size_t at = column_of(a, key, a->next < a->shape.count ? a->next : 0);
    if (at == a->shape.count || a->rows == 0) {
        a->top->status = GCD_E_ARG;
        return NULL;
    }
    a->next = at + 1;
    struct answer_cell *c = &a->cells[(a->rows - 1) * a->shape.count + at];
    c->known = true;
    return c;
}

void answer_count(struct answer *a, const char *key, uint64_t n)
{
    struct answer_cell *c = cell_of(a, key);
    if (c != NULL)
        c->number = n;
}

void answer_delta(struct answer *a, const char *key, uint64_t before, uint64_t after)
{
    struct answer_cell *c = cell_of(a, key);
    if (c == NULL)
        return;
    c->negative = after < before;
    c->number = after < before ? before - after : after - before;
}

void answer_share(struct answer *a, const char *key, uint64_t part, uint64_t whole)
{
    struct answer_cell *c = cell_of(a, key);
    if (c != NULL)
        c->share = whole > 0 ? (double)part / (double)whole : 0;
}

void answer_growth(struct answer *a, const char *key, uint64_t before, uint64_t after)
{
    struct answer_cell *c = before > 0 ? cell_of(a, key) : NULL;
    if (c != NULL)
        c->share = ((double)after - (double)before) / (double)before;
}

void answer_flag(struct answer *a, const char *key, bool is)
{
    answer_count(a, key, is);
}

static void keep_text(struct answer *a, struct answer_cell *c, const char *text, size_t n)
{
    if (c == NULL)
        return;
    c->text = "";
    if (gcd_textpool_add(&a->top->texts, text, n, &c->text) != GCD_OK)
        a->top->status = GCD_E_NOMEM;
}

void answer_text(struct answer *a, const char *key, const char *text)
{
    if (text != NULL)
        keep_text(a, cell_of(a, key), text, strlen(text));
}

void answer_known(struct answer *a, const char *key, const char *text)
{
    answer_text(a, key, text != NULL && text[0] != '\0' ? text : NULL);
}

/* Adds the formatted text to the texts of A; NULL when out of memory. */
GCD_PRINTF(2, 0)
static const char *format_text(struct answer *a, const char *fmt, va_list ap)
{
    char few[256], *text = few;
    const char *ret = NULL;
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(few, sizeof few, fmt, ap);
    size_t bytes = n >= 0 ? (size_t)n + 1 : 0;
    if (bytes > sizeof few && (text = gcd_mem_new(&a->alloc, bytes)) != NULL)
        (void)vsnprintf(text, bytes, fmt, again);
    va_end(again);
    if (n < 0 || text == NULL || gcd_textpool_add(&a->top->texts, text, (size_t)n, &ret) != GCD_OK)
        a->top->status = GCD_E_NOMEM;
    if (text != few)
        gcd_mem_free(&a->alloc, text, bytes);
    return ret;
}

void answer_format(struct answer *a, const char *key, const char *fmt, ...)
{
    va_list ap;
    struct answer_cell *c = cell_of(a, key);
    if (c == NULL)
        return;
    va_start(ap, fmt);
    const char *text = format_text(a, fmt, ap);
    va_end(ap);
    c->text = text != NULL ? text : "";
}

const char *answer_keep(struct answer *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *text = a != NULL ? format_text(a, fmt, ap) : NULL;
    va_end(ap);
    return text != NULL ? text : "";
}

void answer_time(struct answer *a, const char *key, int64_t unix_ms)
{
    if (unix_ms != INT64_MIN)
        answer_count(a, key, (uint64_t)unix_ms);
}

void answer_depth(struct answer *a, const char *key, uint32_t depth)
{
    answer_count(a, key, depth);
}

struct answer *answer_rows(struct answer *a, const char *key)
{
    struct answer_cell *c = cell_of(a, key);
    if (c == NULL)
        return NULL;
    c->rows = answer_new(&a->alloc, a->shape.columns[a->next - 1].of);
    if (c->rows == NULL)
        a->top->status = GCD_E_NOMEM;
    else
        c->rows->top = a->top;
    return c->rows;
}

size_t answer_plain_rows(const struct answer *a)
{
    return a == NULL ? 0 : a->sums < a->rows ? a->sums : a->rows;
}

bool answer_has(const struct answer *a, const char *key)
{
    size_t at = column_of(a, key, 0);
    return at < a->shape.count && !answer_is_hidden(a, at);
}

const struct answer_cell *answer_find(const struct answer *a, size_t row, const char *key)
{
    return answer_has(a, key) ? answer_cell(a, row, column_of(a, key, 0)) : NULL;
}
