/*
 * LIKE, GLOB, instr, replace and trim.  SQLite's own take time that grows with the product of two
 * lengths, and notice no cancel meanwhile.
 */
#include <string.h>

#include "base/error.h"
#include "sql/sql.h"

/* Steps of a match between two looks at the cancel flag. */
#define STEPS_PER_LOOK 256u
/* Each character of a text is compared with all characters that trim removes. */
#define TRIM_BYTES 1000u

struct span {
    const unsigned char *at;
    size_t n;
};

static struct span span_of(sqlite3_value *v)
{
    struct span s = { .at = sqlite3_value_text(v) };
    s.n = s.at != NULL ? (size_t)sqlite3_value_bytes(v) : 0;
    return s;
}

/* Takes a character from the start; 0 at the end.  Characters are ordered as in Unicode. */
static uint32_t next_char(struct span *s)
{
    if (s->n == 0)
        return 0;
    uint32_t c = *s->at++;
    s->n--;
    while (c >= 0xc0 && s->n > 0 && (*s->at & 0xc0) == 0x80) {
        c = (c << 6) + (*s->at++ & 0x3f);
        s->n--;
    }
    return c;
}

/* ---- LIKE and GLOB ---- */

struct wildcards {
    uint32_t many, one, set, escape; /* 0 = none */
    bool fold;                       /* a letter of ASCII equals its capital */
};

static const struct wildcards of_like = { .many = '%', .one = '_', .fold = true };
static const struct wildcards of_glob = { .many = '*', .one = '?', .set = '[' };

static uint32_t folded(const struct wildcards *w, uint32_t c)
{
    return w->fold && c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

/* Is C in the set at P, after its bracket?  Moves P behind it; a set without an end has nothing. */
static bool is_in_set(struct span *p, uint32_t c)
{
    uint32_t before = 0, next = next_char(p);
    bool found = false, inverted = next == '^';
    if (inverted)
        next = next_char(p);
    if (next == ']') {
        found = c == ']';
        next = next_char(p);
    }
    for (; next != 0 && next != ']'; next = next_char(p)) {
        if (next == '-' && p->n > 0 && p->at[0] != ']' && before > 0) {
            found = (next_char(p) >= c && c >= before) || found;
            before = 0;
        } else {
            found = found || c == next;
            before = next;
        }
    }
    return next == ']' && found != inverted;
}

/* Takes a character from T and what must match it from P. */
static bool take_one(const struct wildcards *w, struct span *p, struct span *t)
{
    uint32_t want = next_char(p), c = next_char(t);
    if (w->escape != 0 && want == w->escape)
        return p->n > 0 && folded(w, next_char(p)) == folded(w, c);
    if (w->set != 0 && want == w->set)
        return is_in_set(p, c);
    return want == w->one || folded(w, want) == folded(w, c);
}

/* 1 or 0; -1 = canceled.  After a mismatch, only the last wildcard for many characters has to take
 * one more. */
static int matches(const struct wildcards *w, struct span p, struct span t,
                   const gcd_cancel_flag *cancel)
{
    struct span many_p = { .at = NULL }, many_t = { .at = NULL };
    for (unsigned steps = 1;; steps++) {
        struct span rest = p;
        if (steps % STEPS_PER_LOOK == 0 && gcd_is_canceled(cancel))
            return -1;
        if (p.n == 0 && t.n == 0)
            return 1;
        uint32_t c = next_char(&rest);
        if (p.n > 0 && c == w->many && (w->escape == 0 || c != w->escape)) {
            many_p = p = rest;
            many_t = t;
            continue;
        }
        if (p.n > 0 && t.n == 0)
            return 0;
        if (p.n > 0 && take_one(w, &p, &t))
            continue;
        if (many_p.at == NULL || many_t.n == 0)
            return 0;
        (void)next_char(&many_t);
        p = many_p;
        t = many_t;
    }
}

static void match(sqlite3_context *to, const struct wildcards *w, sqlite3_value **argv)
{
    const struct gcd_sql *db = sqlite3_user_data(to);
    struct span pattern = span_of(argv[0]), text = span_of(argv[1]);
    if (pattern.at == NULL || text.at == NULL)
        return;
    int r = matches(w, pattern, text, db->call->cancel);
    if (r < 0)
        sqlite3_result_error_code(to, SQLITE_INTERRUPT);
    else
        sqlite3_result_int(to, r);
}

static void like(sqlite3_context *to, int argc, sqlite3_value **argv)
{
    struct wildcards w = of_like;
    struct span escape = argc == 3 ? span_of(argv[2]) : (struct span){ .at = NULL };
    if (argc == 3 && escape.at == NULL)
        return;
    w.escape = next_char(&escape);
    if (escape.n > 0 || (argc == 3 && w.escape == 0))
        sqlite3_result_error(to, "ESCAPE expression must be a single character", -1);
    else
        match(to, &w, argv);
}

static void glob(sqlite3_context *to, int argc, sqlite3_value **argv)
{
    (void)argc;
    match(to, &of_glob, argv);
}

/* ---- other functions ---- */

static void instr(sqlite3_context *to, int argc, sqlite3_value **argv)
{
    (void)argc;
    if (sqlite3_value_type(argv[0]) == SQLITE_NULL || sqlite3_value_type(argv[1]) == SQLITE_NULL)
        return;
    bool bytes =
        sqlite3_value_type(argv[0]) == SQLITE_BLOB && sqlite3_value_type(argv[1]) == SQLITE_BLOB;
    struct span text = span_of(argv[0]), part = span_of(argv[1]);
    const unsigned char *found = part.n == 0       ? text.at
                                 : part.n > text.n ? NULL
                                                   : memmem(text.at, text.n, part.at, part.n);
    sqlite3_int64 place = found != NULL || part.n == 0;
    for (const unsigned char *s = text.at; found != NULL && s < found; s++)
        place += bytes || (*s & 0xc0) != 0x80;
    sqlite3_result_int64(to, place);
}

static void replace(sqlite3_context *to, int argc, sqlite3_value **argv)
{
    struct gcd_sql *db = sqlite3_user_data(to);
    struct span text = span_of(argv[0]), from = span_of(argv[1]), by = span_of(argv[2]);
    (void)argc;
    if (text.at == NULL || from.at == NULL || by.at == NULL)
        return;
    if (from.n == 0) {
        sqlite3_result_value(to, argv[0]);
        return;
    }
    sqlite3_str *s = sqlite3_str_new(db->db);
    const unsigned char *found;
    while (text.n >= from.n && sqlite3_str_errcode(s) == SQLITE_OK &&
           (found = memmem(text.at, text.n, from.at, from.n)) != NULL) {
        sqlite3_str_append(s, (const char *)text.at, (int)(found - text.at));
        sqlite3_str_append(s, (const char *)by.at, (int)by.n);
        text.n -= (size_t)(found - text.at) + from.n;
        text.at = found + from.n;
    }
    sqlite3_str_append(s, (const char *)text.at, (int)text.n);
    int e = sqlite3_str_errcode(s), n = sqlite3_str_length(s);
    char *result = sqlite3_str_finish(s);
    if (e != SQLITE_OK)
        sqlite3_result_error_code(to, e);
    else if (result == NULL)
        sqlite3_result_text(to, "", 0, SQLITE_STATIC);
    else
        sqlite3_result_text64(to, result, (sqlite3_uint64)n, sqlite3_free, SQLITE_UTF8);
    if (e != SQLITE_OK)
        sqlite3_free(result);
}

/* Length of the character at the start or the end of S, if it is in SET; else 0. */
static size_t removable(struct span s, struct span set, bool at_end)
{
    size_t n = 1;
    if (s.n == 0)
        return 0;
    if (at_end)
        while (n < s.n && (s.at[s.n - n] & 0xc0) == 0x80)
            n++;
    else
        while (n < s.n && (s.at[n] & 0xc0) == 0x80)
            n++;
    const unsigned char *c = at_end ? s.at + s.n - n : s.at;
    while (set.n > 0) {
        struct span rest = set;
        (void)next_char(&rest);
        if (set.n - rest.n == n && memcmp(set.at, c, n) == 0)
            return n;
        set = rest;
    }
    return 0;
}

static void trim(sqlite3_context *to, int argc, sqlite3_value **argv, bool left, bool right)
{
    struct span s = span_of(argv[0]), set = { .at = (const unsigned char *)" ", .n = 1 };
    if (argc == 2)
        set = span_of(argv[1]);
    if (s.at == NULL || set.at == NULL)
        return;
    if (set.n > TRIM_BYTES) {
        sqlite3_result_error_toobig(to);
        return;
    }
    for (size_t n; left && (n = removable(s, set, false)) > 0; s.n -= n)
        s.at += n;
    for (size_t n; right && (n = removable(s, set, true)) > 0;)
        s.n -= n;
    sqlite3_result_text64(to, (const char *)s.at, s.n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void trim_both(sqlite3_context *to, int argc, sqlite3_value **argv)
{
    trim(to, argc, argv, true, true);
}
static void trim_left(sqlite3_context *to, int argc, sqlite3_value **argv)
{
    trim(to, argc, argv, true, false);
}
static void trim_right(sqlite3_context *to, int argc, sqlite3_value **argv)
{
    trim(to, argc, argv, false, true);
}

int sql_text_open(struct gcd_sql *db)
{
    static const struct {
        const char *name;
        int argc;
        void (*call)(sqlite3_context *to, int argc, sqlite3_value **argv);
    } functions[] = {
        { "like", 2, like },        { "like", 3, like },        { "glob", 2, glob },
        { "instr", 2, instr },      { "replace", 3, replace },  { "trim", 1, trim_both },
        { "trim", 2, trim_both },   { "ltrim", 1, trim_left },  { "ltrim", 2, trim_left },
        { "rtrim", 1, trim_right }, { "rtrim", 2, trim_right },
    };
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, rc = SQLITE_OK;
    for (size_t i = 0; i < sizeof functions / sizeof *functions && rc == SQLITE_OK; i++)
        rc = sqlite3_create_function(db->db, functions[i].name, functions[i].argc, flags, db,
                                     functions[i].call, NULL, NULL);
    return rc;
}
