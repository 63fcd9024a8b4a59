/*
 * Compiles globs and regular expressions into programs.  The parser does not recurse.  Jumps are
 * relative, so that code can be moved and copied when a repetition is put around it.
 */
#include "output/pattern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "output/pattern_program.h"

/* The largest program, reached by a{1000}{60}; a larger one would take seconds on a long name. */
#define PROGRAM_MAX    65536u
#define REPEAT_MAX     32767u /* the same as in the C library */
#define REPEAT_ENDLESS UINT32_MAX
#define NO_JUMP        INT32_MAX

/* ---- the program ---- */

static const char no_memory[] = "out of memory", too_large[] = "it is too large";

struct group {
    size_t start, branch; /* start of the group, and of its last alternative */
    /* the last jump to its end; each holds the position of the previous one; NO_JUMP = none */
    int32_t jumps;
};

struct parser {
    struct cli_pattern *to;
    const unsigned char *p, *end;
    struct group *groups; /* the open groups; [0] is the whole pattern */
    size_t depth;
    const char *wrong;
};

static bool fail(struct parser *r, const char *why)
{
    if (r->wrong == NULL)
        r->wrong = why;
    return false;
}

/* Makes room for N more instructions at AT. */
static struct cli_instruction *insert(struct parser *r, size_t at, size_t n)
{
    struct cli_pattern *c = r->to;
    if (n > PROGRAM_MAX - c->length) {
        (void)fail(r, too_large);
        return NULL;
    }
    if (c->length + n > c->room) {
        size_t room = c->length + n > 2 * c->room ? c->length + n : 2 * c->room;
        struct cli_instruction *program = reallocarray(c->program, room, sizeof *program);
        if (program == NULL) {
            (void)fail(r, no_memory);
            return NULL;
        }
        c->program = program;
        c->room = room;
    }
    memmove(c->program + at + n, c->program + at, (c->length - at) * sizeof *c->program);
    c->length += n;
    return c->program + at;
}

static bool put(struct parser *r, size_t at, struct cli_instruction x)
{
    struct cli_instruction *to = insert(r, at, 1);
    if (to != NULL)
        *to = x;
    return to != NULL;
}

static bool append(struct parser *r, enum cli_op op)
{
    return put(r, r->to->length, (struct cli_instruction){ .op = (uint8_t)op });
}

static bool append_byte(struct parser *r, unsigned char byte)
{
    return put(r, r->to->length, (struct cli_instruction){ .op = OP_BYTE, .byte = byte });
}

/* Repeats the code from START any number of times. */
static bool repeat_any(struct parser *r, size_t start)
{
    int32_t n = (int32_t)(r->to->length - start);
    return put(r, start, (struct cli_instruction){ .op = OP_SPLIT, .to = n + 2 }) &&
           put(r, r->to->length, (struct cli_instruction){ .op = OP_JUMP, .to = -(n + 1) });
}

/* Repeats the code from START LEAST to MOST times. */
static bool repeat(struct parser *r, size_t start, uint32_t least, uint32_t most)
{
    struct cli_pattern *c = r->to;
    size_t n = c->length - start;
    uint64_t optional = most == REPEAT_ENDLESS ? 1 : most - least,
             size = (uint64_t)n * least + (n + 2) * optional;
    if (size > PROGRAM_MAX)
        return fail(r, too_large);
    if (n == 0)
        return true;
    struct cli_instruction *piece = calloc(n + 1, sizeof *piece);
    if (piece == NULL)
        return fail(r, no_memory);
    memcpy(piece, c->program + start, n * sizeof *piece);
    c->length = start;
    bool ok = true;
    for (uint64_t i = 0; ok && i < least + optional; i++) {
        size_t at = c->length;
        if (i >= least && most != REPEAT_ENDLESS) /* jump to the end of all copies */
            ok = put(r, at,
                     (struct cli_instruction){ .op = OP_SPLIT,
                                               .to = (int32_t)((least + optional - i) * (n + 1)) });
        struct cli_instruction *to = ok ? insert(r, c->length, n) : NULL;
        if (to != NULL)
            memcpy(to, piece, n * sizeof *piece);
        ok = to != NULL && (i < least || most != REPEAT_ENDLESS || repeat_any(r, at));
    }
    free(piece);
    return ok;
}

/* ---- sets ---- */

static void set_add(struct cli_byteset *s, unsigned char byte)
{
    s->bits[byte / 32] |= UINT32_C(1) << byte % 32;
}

static void set_turn(struct cli_byteset *s)
{
    for (size_t i = 0; i < 8; i++)
        s->bits[i] = ~s->bits[i];
}

static bool append_set(struct parser *r, const struct cli_byteset *s)
{
    struct cli_pattern *c = r->to;
    if (c->set_count == c->set_room) {
        size_t room = c->set_room > 0 ? 2 * c->set_room : 4;
        struct cli_byteset *sets =
            room <= UINT16_MAX ? reallocarray(c->sets, room, sizeof *sets) : NULL;
        if (sets == NULL)
            return fail(r, room <= UINT16_MAX ? no_memory : too_large);
        c->sets = sets;
        c->set_room = room;
    }
    c->sets[c->set_count] = *s;
    return put(r, c->length,
               (struct cli_instruction){ .op = OP_SET, .set = (uint16_t)c->set_count++ });
}

static int word(int c)
{
    return cli_is_word((unsigned char)c);
}

static bool set_of_class(struct parser *r, struct cli_byteset *s, const unsigned char *name,
                         size_t n)
{
    static const struct {
        const char *name;
        int (*has)(int);
    } classes[] = {
        { "alpha", isalpha }, { "digit", isdigit }, { "alnum", isalnum }, { "upper", isupper },
        { "lower", islower }, { "space", isspace }, { "blank", isblank }, { "punct", ispunct },
        { "print", isprint }, { "graph", isgraph }, { "cntrl", iscntrl }, { "xdigit", isxdigit },
    };
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (strlen(classes[i].name) != n || memcmp(classes[i].name, name, n) != 0)
            continue;
        for (int c = 0; c < 256; c++)
            if (classes[i].has(c))
                set_add(s, (unsigned char)c);
        return true;
    }
    return fail(r, "a class in brackets is unknown; there are [:alpha:], [:digit:], [:alnum:], "
                   "[:upper:], [:lower:], [:space:] and some more");
}

/* Reads [:NAME:], [=NAME=] or [.NAME.] after its "["; KIND is its second character. */
static bool bracket_name(struct parser *r, unsigned char kind, const unsigned char **ret,
                         size_t *ret_n)
{
    const unsigned char *start = ++r->p;
    for (; r->end - r->p >= 2; r->p++)
        if (r->p[0] == kind && r->p[1] == ']') {
            *ret = start;
            *ret_n = (size_t)(r->p - start);
            r->p += 2;
            return true;
        }
    return fail(r, "a \"[\" is not closed");
}

/* Reads one member of a set or the start of a range into *RET; -1 = it was a class, which has been
 * added to S. */
static bool bracket_member(struct parser *r, struct cli_byteset *s, int *ret)
{
    const unsigned char *name;
    size_t n;
    unsigned char c = *r->p++, kind = r->p < r->end ? *r->p : 0;
    *ret = c;
    if (c != '[' || (kind != ':' && kind != '=' && kind != '.'))
        return true;
    if (!bracket_name(r, kind, &name, &n))
        return false;
    *ret = -1;
    if (kind == ':')
        return set_of_class(r, s, name, n);
    if (n != 1)
        return fail(r, "[= and [. name one character each");
    if (kind == '.')
        *ret = *name;
    set_add(s, *name);
    return true;
}

static bool bracket_range(struct parser *r, struct cli_byteset *s, int from)
{
    int to;
    struct cli_byteset unused = { { 0 } };
    if (!bracket_member(r, &unused, &to))
        return false;
    if (to < from)
        return fail(r, "a range in brackets ends before it begins");
    for (int c = from; c <= to; c++)
        set_add(s, (unsigned char)c);
    return true;
}

/* Reads a set, after its "[". */
static bool bracket(struct parser *r)
{
    struct cli_byteset s = { { 0 } };
    bool negated = r->p < r->end && *r->p == '^', first = true;
    r->p += negated;
    for (;; first = false) {
        int from;
        if (r->p == r->end)
            return fail(r, "a \"[\" is not closed");
        if (*r->p == ']' && !first)
            break;
        if (*r->p == '-' && !first && r->end - r->p >= 2 && r->p[1] != ']')
            return fail(r, "a \"-\" in brackets means itself only at the beginning and at the end");
        if (!bracket_member(r, &s, &from))
            return false;
        if (from < 0)
            continue;
        set_add(&s, (unsigned char)from);
        if (r->end - r->p >= 2 && r->p[0] == '-' && r->p[1] != ']') {
            r->p++;
            if (!bracket_range(r, &s, from))
                return false;
        }
    }
    r->p++;
    if (negated)
        set_turn(&s);
    return append_set(r, &s);
}

/* ---- regular expressions ---- */

/* Reads a number that may be missing. */
static bool number(struct parser *r, uint32_t *ret)
{
    bool some = false;
    uint32_t v = 0;
    for (; r->p < r->end && isdigit(*r->p); r->p++, some = true)
        v = v > REPEAT_MAX ? v : v * 10 + (uint32_t)(*r->p - '0');
    if (some)
        *ret = v;
    return some;
}

/* Reads the rest of "{LEAST,MOST}" after the brace. */
static bool braces(struct parser *r, size_t start)
{
    uint32_t least = 0, most = REPEAT_ENDLESS;
    bool some = number(r, &least);
    if (r->p < r->end && *r->p == ',') {
        r->p++;
        (void)number(r, &most);
    } else {
        most = least;
        if (!some)
            r->p = r->end;
    }
    if (r->p == r->end || *r->p++ != '}')
        return fail(
            r, "braces repeat what is before them as in {3}, {3,} or {3,5}; \\{ is the character");
    if (least > REPEAT_MAX || (most != REPEAT_ENDLESS && (most > REPEAT_MAX || most < least)))
        return fail(
            r, "numbers in braces go up to 32767, and the second one is not less than the first");
    return repeat(r, start, least, most);
}

/* Reads the repetitions that follow, if any, and applies them to the code from START. */
static bool repeats(struct parser *r, size_t start)
{
    bool ok = true;
    while (ok && r->p < r->end && memchr("*+?{", *r->p, 4) != NULL)
        switch (*r->p++) {
        case '*':
            ok = repeat_any(r, start);
            break;
        case '+':
            ok = put(r, r->to->length,
                     (struct cli_instruction){ .op = OP_SPLIT,
                                               .to = -(int32_t)(r->to->length - start) });
            break;
        case '?':
            ok = put(r, start,
                     (struct cli_instruction){ .op = OP_SPLIT,
                                               .to = (int32_t)(r->to->length - start) + 1 });
            break;
        default:
            ok = braces(r, start);
        }
    return ok;
}

static bool open_group(struct parser *r)
{
    r->groups[++r->depth] = (struct group){ r->to->length, r->to->length, NO_JUMP };
    return true;
}

static void close_group(struct parser *r)
{
    struct cli_instruction *program = r->to->program;
    for (int32_t at = r->groups[r->depth].jumps, before; at != NO_JUMP; at = before) {
        before = program[at].to;
        program[at].to = (int32_t)r->to->length - at;
    }
}

/* After "|": lets the alternative so far jump over the rest. */
static bool alternative(struct parser *r)
{
    struct group *g = &r->groups[r->depth];
    int32_t n = (int32_t)(r->to->length - g->branch);
    if (!put(r, g->branch, (struct cli_instruction){ .op = OP_SPLIT, .to = n + 2 }) ||
        !put(r, r->to->length, (struct cli_instruction){ .op = OP_JUMP, .to = g->jumps }))
        return false;
    g->jumps = (int32_t)r->to->length - 1;
    g->branch = r->to->length;
    return true;
}

/* Reads the rest of an escape after its backslash.  *RET_REPEATS: can it be repeated? */
static bool escape(struct parser *r, bool *ret_repeats)
{
    static const struct {
        char c;
        enum cli_op op;
    } places[] = {
        { '`', OP_BEGIN },    { '\'', OP_END },      { '<', OP_WORD_BEGIN },
        { '>', OP_WORD_END }, { 'b', OP_WORD_EDGE }, { 'B', OP_NO_WORD_EDGE },
    };
    if (r->p == r->end)
        return fail(r, "a backslash at its end means nothing; \\\\ is the character");
    unsigned char c = *r->p++;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (c == (unsigned char)places[i].c) {
            *ret_repeats = false;
            return append(r, places[i].op);
        }
    if (c >= '1' && c <= '9')
        return fail(r, "\\1 to \\9 (what a group has matched) are not supported");
    if (memchr("wWsS", c, 4) == NULL)
        return append_byte(r, c);
    struct cli_byteset s = { { 0 } };
    for (int i = 0; i < 256; i++)
        if ((c == 'w' || c == 'W' ? word : isspace)(i))
            set_add(&s, (unsigned char)i);
    if (isupper(c))
        set_turn(&s);
    return append_set(r, &s);
}

/* Reads one character, set or group with its repetitions. */
static bool piece(struct parser *r)
{
    size_t start = r->to->length;
    bool ok = true, can_repeat = true;
    unsigned char c = *r->p++;
    switch (c) {
    case '(':
        return open_group(r);
    case '|':
        return alternative(r);
    case '*':
    case '+':
    case '?':
    case '{':
        return fail(r, "one of * + ? { has nothing before it to repeat");
    case '^':
    case '$':
        return append(r, c == '^' ? OP_BEGIN : OP_END);
    case '.':
        ok = append(r, OP_ANY);
        break;
    case '[':
        ok = bracket(r);
        break;
    case '\\':
        ok = escape(r, &can_repeat);
        break;
    case ')':
        if (r->depth > 0) { /* else it means itself, as in the C library */
            close_group(r);
            start = r->groups[r->depth--].start;
            break;
        }
        /* fall through */
    default:
        ok = append_byte(r, c);
    }
    return ok && (!can_repeat || repeats(r, start));
}

/* ---- globs and regular expressions ---- */

static bool new_places(struct cli_places *s, size_t n)
{
    s->order = calloc(n, sizeof *s->order);
    s->at = calloc(n, sizeof *s->at);
    return s->order != NULL && s->at != NULL;
}

static const char *finish(struct parser *r, struct cli_pattern **ret)
{
    struct cli_pattern *c = r->to;
    if (r->wrong == NULL && append(r, OP_MATCH)) {
        c->stack = calloc(c->length, sizeof *c->stack);
        if (!new_places(&c->now, c->length) || !new_places(&c->next, c->length) || c->stack == NULL)
            (void)fail(r, no_memory);
    }
    free(r->groups);
    if (r->wrong != NULL) {
        cli_pattern_free(c);
        return r->wrong == no_memory ? NULL : r->wrong;
    }
    /* an alternative would begin with a split */
    c->from_begin = c->program[0].op == OP_BEGIN;
    *ret = c;
    return NULL;
}

static bool append_one_of(struct parser *r, const char *bytes)
{
    struct cli_byteset s = { { 0 } };
    for (; *bytes != '\0'; bytes++)
        set_add(&s, (unsigned char)*bytes);
    return append_set(r, &s);
}

/* Matches the rest of a UTF-8 character after its first byte. */
static bool append_continuation(struct parser *r)
{
    struct cli_byteset s = { { 0 } };
    for (unsigned c = 0x80; c < 0xc0; c++)
        set_add(&s, (unsigned char)c);
    return append_set(r, &s) && repeat_any(r, r->to->length - 1);
}

/* Reads one character of a glob.  Formats that break lines at "\n" and stacks at ";" write "_" and
 * ":" for them. */
static bool glob_char(struct parser *r, char c)
{
    switch (c) {
    case '?':
        return append(r, OP_ANY) && append_continuation(r);
    case '*':
        return append(r, OP_ANY) && repeat_any(r, r->to->length - 1);
    case '_':
        return append_one_of(r, "_\n\r");
    case ':':
        return append_one_of(r, ":;");
    default:
        return append_byte(r, (unsigned char)c);
    }
}

/* Does a name with a namespace begin at TEXT[I]?  Not the name of a nested type, after a dot. */
static bool is_name_start(const char *text, size_t i)
{
    unsigned char c = (unsigned char)text[i];
    return (i == 0 || strchr("<, (", text[i - 1]) != NULL) &&
           (isalpha(c) || c == '_' || c == '?' || c >= 0x80);
}

/* Skips any number of names with a dot after each, or nothing.  GENERIC: they may have type
 * arguments. */
static bool append_namespace(struct parser *r, bool generic)
{
    struct cli_byteset name = { { 0 } };
    size_t start = r->to->length;
    for (unsigned c = 1; c < 256; c++)
        if (generic || strchr("<>[](), ", (int)c) == NULL)
            set_add(&name, (unsigned char)c);
    if (!append_set(r, &name) || !repeat_any(r, start) || !append_byte(r, '.'))
        return false;
    int32_t whole = (int32_t)(r->to->length - start);
    return put(r, start, (struct cli_instruction){ .op = OP_SPLIT, .to = whole + 1 });
}

static const char *compile_glob(const char *text, size_t n, bool loose, bool fold,
                                struct cli_pattern **ret)
{
    struct parser r = { .to = calloc(1, sizeof *r.to) };
    *ret = NULL;
    if (r.to == NULL)
        return NULL;
    bool plain = memchr(text, '*', n) == NULL && memchr(text, '?', n) == NULL;
    bool ok = append(&r, OP_BEGIN);
    for (size_t i = 0; ok && i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (loose && is_name_start(text, i))
            ok = append_namespace(&r, i == 0 && plain);
        if (ok && fold && isalpha(c))
            ok = append_one_of(&r, (char[]){ (char)tolower(c), (char)toupper(c), '\0' });
        else if (ok && (c != '*' || i == 0 || text[i - 1] != '*'))
            ok = glob_char(&r, text[i]);
    }
    if (ok)
        (void)append(&r, OP_END);
    return finish(&r, ret);
}

const char *cli_pattern_glob(const char *text, size_t n, struct cli_pattern **ret)
{
    return compile_glob(text, n, false, false, ret);
}

const char *cli_pattern_loose(const char *text, size_t n, bool fold, struct cli_pattern **ret)
{
    return compile_glob(text, n, true, fold, ret);
}

const char *cli_pattern_regex(const char *text, size_t n, struct cli_pattern **ret)
{
    const unsigned char *p = (const unsigned char *)text;
    struct parser r = { .to = calloc(1, sizeof *r.to),
                        .p = p,
                        .end = p + n,
                        .groups = calloc(n + 1, sizeof *r.groups) };
    *ret = NULL;
    if (r.to == NULL || r.groups == NULL) {
        free(r.groups);
        free(r.to);
        return NULL;
    }
    r.groups[0] = (struct group){ .jumps = NO_JUMP };
    while (r.p < r.end && piece(&r))
        continue;
    if (r.wrong == NULL && r.depth > 0)
        (void)fail(&r, "a \"(\" is not closed");
    if (r.wrong == NULL)
        close_group(&r);
    return finish(&r, ret);
}

void cli_pattern_free(struct cli_pattern *p)
{
    if (p == NULL)
        return;
    free(p->program);
    free(p->sets);
    free(p->now.order);
    free(p->now.at);
    free(p->next.order);
    free(p->next.at);
    free(p->stack);
    free(p);
}
