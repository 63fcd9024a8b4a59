#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/render.h"
#include "render/render_cells.h"

/* Jansson reports exhausted memory at each call, and a report makes very many calls.  So the
 * allocator records it, and then nothing is printed. */
static atomic_bool no_memory;

static void *allocate(size_t n)
{
    void *p = malloc(n);
    if (p == NULL)
        atomic_store(&no_memory, true);
    return p;
}

bool cli_json_no_memory(void)
{
    return atomic_exchange(&no_memory, false);
}

void cli_json_prepare(void)
{
    json_set_alloc_funcs(allocate, free);
}

json_t *cli_json_number(uint64_t n)
{
    return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

json_t *cli_json_text(const char *s)
{
    json_t *j = json_string(s);
    if (j != NULL)
        return j;
    size_t n = strlen(s);
    char *buf = allocate(n + 1);
    for (size_t i = 0; buf != NULL && i < n; i++)
        buf[i] = (signed char)s[i] < 0 ? '?' : s[i];
    j = buf != NULL ? json_stringn(buf, n) : NULL;
    free(buf);
    return j;
}

json_t *cli_json_text_or_null(const char *s)
{
    return s[0] != '\0' ? cli_json_text(s) : json_null();
}

/* DEL is the only control character that JSON allows in a string. */
static int put_part(const char *s, size_t n, void *to)
{
    for (const char *end = s + n; s < end;) {
        const char *del = memchr(s, 0x7f, (size_t)(end - s));
        size_t part = (size_t)((del != NULL ? del : end) - s);
        if (fwrite(s, 1, part, to) != part || (del != NULL && fputs("\\u007F", to) < 0))
            return -1;
        s += part + (del != NULL);
    }
    return 0;
}

int cli_json_dump(const json_t *j, FILE *to, size_t flags)
{
    return json_dump_callback(j, put_part, to, flags | JSON_ENSURE_ASCII);
}

static json_t *(*converter)(json_t *document);
static int schema = 2;

void cli_json_convert(json_t *(*convert)(json_t *document), int number)
{
    converter = convert;
    schema = number;
}

int cli_json_schema(void)
{
    return schema;
}

int cli_json_print(json_t *j, FILE *to)
{
    if (j != NULL && converter != NULL)
        j = converter(j);
    if (j == NULL || no_memory) {
        json_decref(j);
        errno = ENOMEM;
        return -1;
    }
    int failed = cli_json_dump(j, to, JSON_INDENT(2)) != 0;
    putc('\n', to);
    json_decref(j);
    if (no_memory)
        errno = ENOMEM;
    return failed || no_memory ? -1 : 0;
}

char *cli_json_line(json_t *j)
{
    char *text = NULL;
    size_t n;
    FILE *to = j != NULL && !no_memory ? open_memstream(&text, &n) : NULL;
    bool ok = to != NULL && cli_json_dump(j, to, JSON_COMPACT | JSON_REAL_PRECISION(6)) == 0 &&
              putc('\n', to) != EOF;
    if (to != NULL)
        ok = fclose(to) == 0 && ok;
    json_decref(j);
    if (ok && !no_memory)
        return text;
    free(text);
    return NULL;
}

void cli_json_count(json_t *o, const char *key, uint64_t n)
{
    json_object_set_new(o, key, cli_json_number(n));
}

void cli_json_put_text(json_t *o, const char *key, const char *text)
{
    json_object_set_new(o, key, cli_json_text_or_null(text != NULL ? text : ""));
}

bool render_is_brief(const struct answer_column *column)
{
    return column->audience == ANSWER_FOR_ALL;
}

static json_t *signed_number(const struct answer_cell *c)
{
    json_t *n = cli_json_number(c->number);
    if (c->negative)
        json_integer_set(n, -json_integer_value(n));
    return n;
}

static json_t *json_share(double share, bool brief)
{
    return json_real(brief ? (double)(int64_t)(share * 10000 + (share < 0 ? -0.5 : 0.5)) / 10000
                           : share);
}

static json_t *json_cell(const struct answer_cell *c, enum answer_kind kind,
                         const struct render_json *how)
{
    char buf[CELL_BYTES];
    if (!c->known)
        return json_null();
    switch (kind) {
    case ANSWER_SHARE:
    case ANSWER_GROWTH:
        return json_share(c->share, how != NULL && how->brief);
    case ANSWER_FLAG:
        return json_boolean(c->number != 0);
    case ANSWER_ROWS:
        return render_json_rows(c->rows, how);
    case ANSWER_TEXT:
    case ANSWER_TREE:
        return how != NULL && how->text != NULL ? how->text(how->ctx, c->text)
                                                : cli_json_text(c->text);
    case ANSWER_DIGITS:
    case ANSWER_ADDRESS:
    case ANSWER_TIME:
        return cli_json_text(render_cell(c, kind, false, buf));
    default:
        return signed_number(c);
    }
}

void render_json_row(const struct answer *a, size_t row, const struct render_json *how, json_t *o)
{
    bool brief = how != NULL && how->brief;
    for (size_t k = 0; k < a->shape.count; k++) {
        const struct answer_column *column = &a->shape.columns[k];
        const struct answer_cell *c = answer_cell(a, row, k);
        if (!answer_is_hidden(a, k) && column->audience != ANSWER_FOR_PEOPLE &&
            (!brief || (render_is_brief(column) && c->known)))
            json_object_set_new(o, column->key, json_cell(c, column->kind, how));
    }
}

json_t *render_json_rows(const struct answer *a, const struct render_json *how)
{
    json_t *rows = render_ready(a) ? json_array() : NULL;
    for (size_t i = 0; rows != NULL && i < answer_plain_rows(a); i++) {
        if (a->shape.count == 1 && a->shape.columns[0].key == NULL) {
            json_array_append_new(rows,
                                  json_cell(answer_cell(a, i, 0), a->shape.columns[0].kind, how));
            continue;
        }
        json_t *row = json_object();
        render_json_row(a, i, how, row);
        json_array_append_new(rows, row);
    }
    return rows;
}
