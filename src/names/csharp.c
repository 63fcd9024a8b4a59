/*
 * Parses names in the runtime's spelling ("[]" after a type argument list is an array):
 *
 *     type      = part { part } { suffix }
 *     part      = segments [ "[" type { "," type } "]" ]           also with "<" and ">", then "."
 *         or "+" joins the next part
 *     segments  = segment { "+" segment }                          from the outer to the nested
 *         type
 *     segment   = characters [ "`" arity ]                         a "<" at its start or after a
 *         "." belongs to it up to its ">"
 *     suffix    = "[" { "," } "]" | "[*]" | "*" | "&"
 *
 * Type arguments follow the innermost segment; the arity marks say which segment they belong to.
 * Excess arguments (a nested type whose outer type is not named still has its arguments) go to the
 * last segment.  A backslash escapes the next character and is kept, because otherwise the result
 * would be ambiguous.
 *
 * One pass from left to right that reads each character at most twice; open argument lists are on
 * an explicit stack.
 */
#include "names/csharp.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

/* "List`1" without arguments becomes "List<>"; a higher number of commas is not an arity mark. */
#define OPEN_ARITY_MAX 32
#define NO_PARSE       SIZE_MAX

struct csharp_level {
    size_t segment; /* the next one to write */
    uint32_t left;  /* arguments that the last written segment still takes */
    bool last;      /* ... which is the last one and takes all remaining arguments */
    char close;
};

void csharp_init(struct csharp *c, const struct gcd_alloc *alloc)
{
    *c = (struct csharp){ .alloc = alloc };
}

void csharp_done(struct csharp *c)
{
    gcd_mem_free(c->alloc, c->out, c->cap);
    gcd_mem_free(c->alloc, c->levels, c->level_cap * sizeof *c->levels);
    csharp_init(c, c->alloc);
}

bool csharp_put(struct csharp *c, const char *s, size_t n)
{
    if (!gcd_vec_reserve(c->alloc, &c->out, &c->cap, c->n + n, 1, SIZE_MAX))
        return false;
    if (n > 0)
        memcpy(c->out + c->n, s, n);
    c->n += n;
    return true;
}

static bool put_text(struct csharp *c, const char *s)
{
    return csharp_put(c, s, strlen(s));
}

/* ---- scan ---- */

static bool is_escape(const char *p)
{
    return p[0] == '\\' && p[1] != '\0' && strchr(",[]&*+\\", p[1]) != NULL;
}

/* The position after the ">" that closes the "<" at P. */
static size_t skip_angles(const char *raw, size_t p)
{
    for (size_t depth = 0; raw[p] != '\0'; p++) {
        if (is_escape(raw + p))
            p++;
        else if (raw[p] == '<')
            depth++;
        else if (raw[p] == '>' && --depth == 0)
            return p + 1;
    }
    return NO_PARSE;
}

/* The position after "[]", "[,]", "[*]", or "<>", "<,>" at P; P itself when something else is
 * there. */
static size_t skip_empty(const char *raw, size_t p, char close)
{
    size_t q = p + 1;
    if (raw[q] == '*' && close == ']')
        q++;
    else
        while (raw[q] == ',')
            q++;
    return raw[q] == close ? q + 1 : p;
}

/* The end of the segment at START: the position of a "+" or of another character that cannot be
 * part of a name. */
static size_t segment_end(const char *raw, size_t start)
{
    size_t p = start;
    while (raw[p] != '\0' && strchr("+,[]*&>", raw[p]) == NULL) {
        if (raw[p] != '<') {
            p += is_escape(raw + p) ? 2 : 1;
        } else if (p == start || raw[p - 1] == '.') {
            p = skip_angles(raw, p);
            if (p == NO_PARSE)
                return NO_PARSE;
        } else {
            size_t q = skip_empty(raw, p, '>');
            if (q == p)
                break;
            p = q;
        }
    }
    return p > start ? p : NO_PARSE;
}

/* The end of the segments at START. */
static size_t segments_end(const char *raw, size_t start)
{
    size_t p = segment_end(raw, start);
    while (p != NO_PARSE && raw[p] == '+')
        p = segment_end(raw, p + 1);
    return p;
}

/* The arity mark at the end of [START, END): its number, 0 = none, and its position. */
static uint32_t arity_mark(const char *raw, size_t start, size_t end, size_t *ret_begin)
{
    size_t p = end;
    uint32_t value = 0, unit = 1;
    while (p > start && raw[p - 1] >= '0' && raw[p - 1] <= '9' && end - p < 5) {
        value += unit * (uint32_t)(raw[--p] - '0');
        unit *= 10;
    }
    *ret_begin = end;
    if (p == end || raw[p] == '0' || p < start + 2 || raw[p - 1] != '`' || raw[p - 2] == '.')
        return 0;
    *ret_begin = p - 1;
    return value;
}

/* ---- a name with its arguments ---- */

/* The result of a step: success, the name does not parse, or out of memory. */
enum step { STEP_OK, STEP_NO_PARSE, STEP_NOMEM };

#define STEP_TRY(expr)            \
    do {                          \
        enum step step_ = (expr); \
        if (step_ != STEP_OK)     \
            return step_;         \
    } while (0)
#define STEP_PUT(expr) STEP_TRY((expr) ? STEP_OK : STEP_NOMEM)

/* Writes the segment at *P without its mark; moves *P to its end. */
static enum step put_segment(struct csharp *c, const char *raw, size_t *p, uint32_t *ret_arity)
{
    size_t start = *p, end = segment_end(raw, start), mark, second;
    *ret_arity = arity_mark(raw, start, end, &mark);
    if (*ret_arity > 0 && arity_mark(raw, start, mark, &second) > 0)
        return STEP_NO_PARSE; /* the rest would be taken for a mark next time */
    STEP_PUT(csharp_put(c, raw + start, mark - start));
    *p = end;
    return STEP_OK;
}

/* Writes the segments from *P on, without arguments. */
static enum step put_open(struct csharp *c, const char *raw, size_t *p)
{
    static const char commas[] = ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,";
    _Static_assert(sizeof commas == OPEN_ARITY_MAX, "a comma less than parameters");
    for (;; (*p)++) {
        uint32_t arity;
        STEP_TRY(put_segment(c, raw, p, &arity));
        if (arity > OPEN_ARITY_MAX)
            return STEP_NO_PARSE;
        if (arity > 0)
            STEP_PUT(put_text(c, "<") && csharp_put(c, commas, arity - 1) && put_text(c, ">"));
        if (raw[*p] != '+')
            return STEP_OK;
        STEP_PUT(put_text(c, "."));
    }
}

/* Writes the segments up to the one that takes the next argument. */
static enum step put_taker(struct csharp *c, const char *raw, struct csharp_level *l)
{
    for (;;) {
        size_t p = l->segment;
        STEP_TRY(put_segment(c, raw, &p, &l->left));
        l->last = raw[p] != '+';
        l->segment = p + 1;
        if (l->last || l->left > 0) {
            STEP_PUT(put_text(c, "<"));
            return STEP_OK;
        }
        STEP_PUT(put_text(c, "."));
    }
}

static enum step open_arguments(struct csharp *c, const char *raw, size_t segments, char close)
{
    if (!gcd_vec_reserve(c->alloc, &c->levels, &c->level_cap, c->depth + 1, sizeof *c->levels,
                         SIZE_MAX))
        return STEP_NOMEM;
    struct csharp_level *l = &c->levels[c->depth++];
    *l = (struct csharp_level){ .segment = segments, .close = close };
    return put_taker(c, raw, l);
}

/* Between two arguments. */
static enum step next_argument(struct csharp *c, const char *raw)
{
    struct csharp_level *l = &c->levels[c->depth - 1];
    if (!l->last && l->left == 1) {
        STEP_PUT(put_text(c, ">."));
        return put_taker(c, raw, l);
    }
    if (l->left > 0)
        l->left--;
    STEP_PUT(put_text(c, ", "));
    return STEP_OK;
}

static enum step close_arguments(struct csharp *c, const char *raw)
{
    struct csharp_level l = c->levels[--c->depth];
    if (l.left > 1)
        return STEP_NO_PARSE;
    STEP_PUT(put_text(c, ">"));
    while (!l.last) {
        uint32_t arity;
        size_t p = l.segment;
        STEP_PUT(put_text(c, "."));
        STEP_TRY(put_segment(c, raw, &p, &arity));
        if (arity > 0)
            return STEP_NO_PARSE;
        l.last = raw[p] != '+';
        l.segment = p + 1;
    }
    return STEP_OK;
}

/*
 * Writes what follows a type.  The runtime appends dimensions from the inside out, C# writes them
 * from the outside in: "[][,]" is a two-dimensional array of vectors there, and a vector of
 * two-dimensional arrays here.
 */
static enum step put_suffixes(struct csharp *c, const char *raw, size_t *p, bool reverse)
{
    for (;;) {
        size_t end = *p, next;
        while (raw[end] == '[' && (next = skip_empty(raw, end, ']')) != end)
            end = next;
        if (reverse) {
            for (size_t at = end, to = end; at > *p;)
                if (raw[--at] == '[') {
                    STEP_PUT(csharp_put(c, raw + at, to - at));
                    to = at;
                }
        } else {
            STEP_PUT(csharp_put(c, raw + *p, end - *p));
        }
        *p = end;
        if (raw[end] != '*' && raw[end] != '&')
            return STEP_OK;
        STEP_PUT(csharp_put(c, raw + end, 1));
        ++*p;
    }
}

/* From the start of a type's part to its possible suffixes, or to its first argument. */
static enum step start_part(struct csharp *c, const char *raw, size_t *p, bool *ret_arguments)
{
    size_t end = segments_end(raw, *p);
    if (end == NO_PARSE)
        return STEP_NO_PARSE;
    *ret_arguments = raw[end] == '<' || (raw[end] == '[' && skip_empty(raw, end, ']') == end);
    if (!*ret_arguments)
        return put_open(c, raw, p);
    if (raw[end - 1] == ' ')
        return STEP_NO_PARSE; /* "Name [Module]" */
    STEP_TRY(open_arguments(c, raw, *p, raw[end] == '<' ? '>' : ']'));
    *p = end + 1;
    return STEP_OK;
}

static enum step convert(struct csharp *c, const char *raw, bool runtime)
{
    size_t p = 0;
    for (;;) {
        bool arguments, another_part = false;
        STEP_TRY(start_part(c, raw, &p, &arguments));
        if (arguments)
            continue;
        bool reverse = c->depth > 0 ? c->levels[c->depth - 1].close == ']' : runtime;
        for (;;) {
            STEP_TRY(put_suffixes(c, raw, &p, reverse));
            if (c->depth == 0)
                return raw[p] == '\0' ? STEP_OK : STEP_NO_PARSE;
            if (raw[p] != c->levels[c->depth - 1].close)
                break;
            reverse = raw[p++] == ']';
            STEP_TRY(close_arguments(c, raw));
            if (!reverse && (raw[p] == '.' || raw[p] == '+')) {
                another_part = true;
                break;
            }
        }
        if (another_part) {
            STEP_PUT(put_text(c, "."));
            p++;
            continue;
        }
        if (raw[p++] != ',')
            return STEP_NO_PARSE;
        p += strspn(raw + p, " ");
        STEP_TRY(next_argument(c, raw));
    }
}

gcd_status csharp_name(struct csharp *c, const char *raw, bool runtime)
{
    c->n = c->depth = 0;
    enum step step = convert(c, raw, runtime);
    if (step == STEP_NO_PARSE) {
        c->n = 0;
        step = put_text(c, raw) ? STEP_OK : STEP_NOMEM;
    }
    return step == STEP_OK ? GCD_OK : GCD_E_NOMEM;
}
