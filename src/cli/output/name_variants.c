#include "output/name_variants.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/type_names.h>

/* The most bytes that one byte of a pattern can expand to: "`32" becomes "<>" with 31 commas,
 * "int?" becomes "System.Nullable<System.Int32>". */
#define GROWTH 12u
/* Stand for * and ? while a name is parsed.  A pattern that contains these bytes itself is not
 * parsed. */
#define ANY_TEXT '\1'
#define ANY_CHAR '\2'

struct text {
    char *s;
    size_t n;
};

static void put(struct text *t, const char *s, size_t n)
{
    memcpy(t->s + t->n, s, n);
    t->n += n;
}

static void put_text(struct text *t, const char *s)
{
    put(t, s, strlen(s));
}

/* Adds TEXT[N] unless V has it already. */
static bool add(struct cli_variants *v, const char *text, size_t n)
{
    for (size_t i = 0; i < v->n; i++)
        if (strlen(v->text[i]) == n && memcmp(v->text[i], text, n) == 0)
            return true;
    if (v->n == CLI_VARIANTS_MAX)
        return true;
    v->text[v->n] = strndup(text, n);
    return v->text[v->n] != NULL && ++v->n > 0;
}

/* ---- C# words ---- */

static const struct word {
    const char *word, *type;
    bool reference; /* so "string?" is not a Nullable */
} words[] = {
    { "bool", "System.Boolean", false },    { "byte", "System.Byte", false },
    { "sbyte", "System.SByte", false },     { "char", "System.Char", false },
    { "decimal", "System.Decimal", false }, { "double", "System.Double", false },
    { "float", "System.Single", false },    { "int", "System.Int32", false },
    { "uint", "System.UInt32", false },     { "nint", "System.IntPtr", false },
    { "nuint", "System.UIntPtr", false },   { "long", "System.Int64", false },
    { "ulong", "System.UInt64", false },    { "short", "System.Int16", false },
    { "ushort", "System.UInt16", false },   { "object", "System.Object", true },
    { "string", "System.String", true },
};

static bool is_type_end(char c)
{
    return c == '\0' || strchr(",<>[] ", c) != NULL;
}

/* The C# keyword that makes up the whole type at S; NULL = none. */
static const struct word *word_at(const char *s, size_t *ret_n)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz");
    bool nullable = s[n] == '?' && is_type_end(s[n + 1]);
    *ret_n = n + nullable;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == n && memcmp(words[i].word, s, n) == 0)
            return nullable || is_type_end(s[n]) ? &words[i] : NULL;
    return NULL;
}

static void expand_words(const char *s, struct text *to)
{
    for (size_t i = 0, n; s[i] != '\0'; i += n) {
        const struct word *w =
            i == 0 || strchr(",<[ ", s[i - 1]) != NULL ? word_at(s + i, &n) : NULL;
        bool nullable = w != NULL && s[i + n - 1] == '?' && !w->reference;
        if (w == NULL) {
            n = 1;
            put(to, s + i, n);
            continue;
        }
        put_text(to, nullable ? "System.Nullable<" : "");
        put_text(to, w->type);
        put_text(to, nullable ? ">" : "");
    }
    to->s[to->n] = '\0';
}

/* ---- C# spelling ---- */

/* Turns "+" before a nested type into a dot, and adds a space after a comma between arguments.  A
 * backslash protects the next character. */
static void join(const char *s, struct text *to)
{
    for (size_t i = 0; s[i] != '\0';) {
        size_t n = s[i] == '\\' && s[i + 1] != '\0' ? 2 : 1;
        put(to, s[i] == '+' ? "." : s + i, n);
        if (s[i] == ',') {
            n += strspn(s + i + n, " ");
            if (s[i + n] != '\0' && strchr(",>]", s[i + n]) == NULL)
                put_text(to, " ");
        }
        i += n;
    }
    to->s[to->n] = '\0';
}

/*
 * Can brackets hold type arguments?  Not after a name with wildcards: "*[*]" has always meant
 * arrays and "*[Shop]" a module after the name.  A mark like "`1" shows that they can.
 */
static bool is_runtime_spelling(const char *s)
{
    const char *bracket = strchr(s, '['), *wild = strpbrk(s, "*?");
    bool free = strchr(s, ANY_TEXT) == NULL && strchr(s, ANY_CHAR) == NULL;
    return free && (wild == NULL || strchr(s, '`') != NULL || (bracket != NULL && bracket < wild));
}

/* "[*]" is an array, unless it follows an arity mark. */
static bool is_array_star(const char *s, size_t i)
{
    if (i == 0 || s[i] != '*' || s[i - 1] != '[' || s[i + 1] != ']')
        return false;
    size_t at = i - 1;
    while (at > 0 && s[at - 1] >= '0' && s[at - 1] <= '9')
        at--;
    return at == i - 1 || at == 0 || s[at - 1] != '`';
}

static bool add_spelt(struct cli_variants *v, const char *s, bool runtime, struct text *room)
{
    size_t n = strlen(s), cap = GROWTH * n + 64;
    char *in = strdup(s);
    if (in == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        if (s[i] == '?' || (s[i] == '*' && !is_array_star(s, i)))
            in[i] = s[i] == '*' ? ANY_TEXT : ANY_CHAR;
    gcd_status st = gcd_name_csharp(in, runtime, room->s, cap);
    free(in);
    if (st != GCD_OK)
        return st != GCD_E_NOMEM;
    for (char *p = room->s; *p != '\0'; p++)
        *p = *p == ANY_TEXT ? '*' : *p == ANY_CHAR ? '?' : *p;
    return add(v, room->s, strlen(room->s));
}

/* Adds TEXT and its C# spellings. */
static bool add_spellings(struct cli_variants *v, const char *text)
{
    size_t cap = GROWTH * strlen(text) + 64;
    struct text worded = { malloc(cap), 0 }, room = { malloc(GROWTH * cap + 64), 0 };
    bool ok = worded.s != NULL && room.s != NULL && add(v, text, strlen(text));
    if (ok) {
        expand_words(text, &worded);
        join(worded.s, &room);
        ok = add(v, worded.s, worded.n) && add(v, room.s, room.n);
    }
    if (ok && is_runtime_spelling(worded.s))
        ok = add_spelt(v, worded.s, true, &room) && add_spelt(v, worded.s, false, &room);
    free(worded.s);
    free(room.s);
    return ok;
}

/* ---- as outputs spell it ---- */

/* The value of four hexadecimal digits; UINT32_MAX = there are none. */
static uint32_t hex4(const char *s)
{
    char digits[5] = "";
    for (int i = 0; i < 4; i++) {
        if (!isxdigit((unsigned char)s[i]))
            return UINT32_MAX;
        digits[i] = s[i];
    }
    return (uint32_t)strtoul(digits, NULL, 16);
}

static void put_utf8(struct text *to, uint32_t c)
{
    char b[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6)
        b[i] = (char)(0x80 | (c & 0x3f));
    b[0] = (char)(n == 1 ? c : (0xf00u >> n & 0xff) | c);
    put(to, b, n);
}

/* Reads "\u003c" or a surrogate pair at S.  Its length; 0 = not a character that a name can
 * contain. */
static size_t unicode(const char *s, uint32_t *ret)
{
    uint32_t c = s[1] == 'u' ? hex4(s + 2) : UINT32_MAX, low;
    *ret = c;
    if (c == UINT32_MAX || c == 0 || (c >= 0xdc00 && c < 0xe000))
        return 0;
    if (c < 0xd800 || c >= 0xe000)
        return 6;
    low = s[6] == '\\' && s[7] == 'u' ? hex4(s + 8) : 0;
    *ret = 0x10000 + ((c - 0xd800) << 10 | (low - 0xdc00));
    return low >= 0xdc00 && low < 0xe000 ? 12 : 0;
}

/* Undoes backslash escapes of JSON. */
static void unescape(const char *s, struct text *to)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    for (size_t i = 0; s[i] != '\0';) {
        uint32_t c;
        const char *at = s[i] == '\\' && s[i + 1] != '\0' ? strchr(letters, s[i + 1]) : NULL;
        size_t n = s[i] == '\\' ? unicode(s + i, &c) : 0;
        if (at != NULL)
            put(to, meant + (at - letters), 1);
        else if (n > 0)
            put_utf8(to, c);
        else
            put(to, s + i, 1);
        i += at != NULL ? 2 : n > 0 ? n : 1;
    }
    to->s[to->n] = '\0';
}

/* Undoes those of Prometheus labels, whose codes are escaped themselves. */
static void from_label(const char *s, struct text *to)
{
    struct text again = { to->s, 0 };
    unescape(s, to);
    unescape(again.s, &again); /* it never grows */
    to->n = again.n;
}

/* Undoes doubled quotes, and drops the apostrophe that keeps spreadsheets from reading a formula.
 */
static void from_csv(const char *s, struct text *to)
{
    for (size_t i = *s == '\''; s[i] != '\0'; i++) {
        put(to, s + i, 1);
        i += s[i] == '"' && s[i + 1] == '"';
    }
    to->s[to->n] = '\0';
}

/* Undoes the cut of a long name: "..." becomes "*". */
static void from_cut(const char *s, struct text *to)
{
    const char *cut;
    for (; (cut = strstr(s, "...")) != NULL && cut != s; s = cut + strlen("...")) {
        put(to, s, (size_t)(cut - s));
        put_text(to, "*");
    }
    put_text(to, s);
    to->s[to->n] = '\0';
}

/* The HTML page shows U+FFFD for characters that would make a name look like another one; each
 * becomes "?". */
static void from_page(const char *s, struct text *to)
{
    static const char replacement[] = "\xef\xbf\xbd";
    for (size_t i = 0, n; s[i] != '\0'; i += n) {
        n = strncmp(s + i, replacement, 3) == 0 ? 3 : 1;
        put(to, n == 3 ? "?" : s + i, 1);
    }
    to->s[to->n] = '\0';
}

bool cli_variants_of(const char *text, size_t n, struct cli_variants *v)
{
    static void (*const readings[])(
        const char *s, struct text *to) = { unescape, from_label, from_csv, from_cut, from_page };
    char *own = strndup(text, n), *room = malloc(n + 2);
    *v = (struct cli_variants){ .n = 0 };
    bool ok = own != NULL && room != NULL && add_spellings(v, own);
    for (size_t i = 0; ok && i < sizeof readings / sizeof *readings; i++) {
        struct text to = { room, 0 };
        readings[i](own, &to);
        ok = to.n == 0 || strcmp(room, own) == 0 || add_spellings(v, room);
    }
    free(own);
    free(room);
    return ok;
}

void cli_variants_done(struct cli_variants *v)
{
    for (size_t i = 0; i < v->n; i++)
        free(v->text[i]);
    v->n = 0;
}
