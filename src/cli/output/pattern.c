/*
 * Compiles globs and regular expressions for PCRE2, and matches with its second algorithm, which
 * follows all ways at the same time: no way is taken twice, so the time is at most the length of
 * the text times the number of ways.  What has no such bound (back references, recursion,
 * conditions, assertions about more than a character) is refused.
 */
#include "output/pattern.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define LOOK_EVERY  1024u /* bytes between two checks of the cancel flag */
#define WAYS_FIRST  256u  /* integers of workspace, which grows if needed: 6 for each way */
#define WAYS_MAX    (1u << 20)
#define HEAP_MAX_KB (64u << 10) /* of one match */
#define TEXT_MAX    131072u     /* of a pattern; a longer one would take seconds on a long name */

struct cli_pattern {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
    int *ways;
    size_t way_count;
    const gcd_cancel_flag *cancel; /* of the current match */
    unsigned looks;
};

/* ---- text of the pattern for PCRE2 ---- */

struct text {
    char *bytes;
    size_t n, room;
    bool failed;
};

static void put_bytes(struct text *to, const char *bytes, size_t n)
{
    if (to->n + n >= to->room) {
        size_t room = 2 * (to->n + n) + 64;
        char *more = realloc(to->bytes, room);
        to->failed |= more == NULL;
        if (more == NULL)
            return;
        to->bytes = more;
        to->room = room;
    }
    if (n > 0)
        memcpy(to->bytes + to->n, bytes, n);
    to->n += n;
}

static void put(struct text *to, const char *s)
{
    put_bytes(to, s, strlen(s));
}

static void put_literal(struct text *to, char c)
{
    char code[8];
    (void)snprintf(code, sizeof code, "\\x%02x", (unsigned)(unsigned char)c);
    put(to, code);
}

/* Does a name with a namespace begin at TEXT[I]?  Not the name of a nested type, after a dot. */
static bool is_name_start(const char *text, size_t i)
{
    unsigned char c = (unsigned char)text[i];
    return (i == 0 || strchr("<, (", text[i - 1]) != NULL) &&
           (isalpha(c) || c == '_' || c == '?' || c >= 0x80);
}

/* Formats that break lines at "\n" and stacks at ";" write "_" and ":" for them. */
static void put_glob_char(struct text *to, char c)
{
    if (c == '?')
        put(to, ".[\\x80-\\xbf]*");
    else if (c == '*')
        put(to, ".*");
    else if (c == '_')
        put(to, "[_\\n\\r]");
    else if (c == ':')
        put(to, "[:;]");
    else
        put_literal(to, c);
}

/* LOOSE: before each name there may be others with a dot after each. */
static struct text translate_glob(const char *text, size_t n, bool loose)
{
    struct text to = { NULL, 0, 0, false };
    bool plain = memchr(text, '*', n) == NULL && memchr(text, '?', n) == NULL;
    for (size_t i = 0; i < n; i++) {
        if (loose && is_name_start(text, i))
            put(&to, i == 0 && plain ? "(?:.*\\.)?" : "(?:[^][<>(), ]*\\.)?");
        if (text[i] != '*' || i == 0 || text[i - 1] != '*')
            put_glob_char(&to, text[i]);
    }
    put(&to, "\\z");
    return to;
}

/* Takes a set from the "[" at TEXT[I], in which a backslash means itself.  Returns where it ends.
 */
static size_t put_set(const char *text, size_t n, size_t i, struct text *to)
{
    put(to, "[");
    i++;
    if (i < n && text[i] == '^')
        put_bytes(to, &text[i++], 1);
    for (bool first = true; i < n && (first || text[i] != ']'); first = false, i++) {
        const char *end = text[i] == '[' && i + 1 < n && text[i + 1] == ':'
                              ? memmem(text + i + 2, n - i - 2, ":]", 2)
                              : NULL;
        if (end != NULL) {
            put_bytes(to, text + i, (size_t)(end + 2 - text) - i);
            i = (size_t)(end + 1 - text);
        } else {
            put_bytes(to, "\\", text[i] == '\\');
            put_bytes(to, text + i, 1);
        }
    }
    put_bytes(to, "]", i < n);
    return i;
}

/* Puts parentheses around the text from START, a single character or set.  PCRE2 counts how often
 * "a+" has repeated, so each beginning would be another way; "(?:a)+" is one. */
static void group(struct text *to, size_t start)
{
    put(to, "(?:)");
    if (to->failed)
        return;
    memmove(to->bytes + start + 3, to->bytes + start, to->n - 4 - start);
    memcpy(to->bytes + start, "(?:", 3);
    to->bytes[to->n - 1] = ')';
}

/* The escapes of the C library that PCRE2 spells otherwise, and what has no bound on time.  Returns
 * what is wrong. */
static const char *translate_regex(const char *text, size_t n, struct text *to)
{
    static const char *const escapes[][2] = {
        { "<", "\\b(?=\\w)" }, { ">", "\\b(?<=\\w)" }, { "`", "\\A" }, { "'", "\\z" }
    };
    for (size_t i = 0, single = 0; i < n; i++) {
        size_t known = 0, start = to->n;
        char next = i + 1 < n ? text[i + 1] : '\0', after = i + 2 < n ? text[i + 2] : '\0';
        bool endless = text[i] == '+' || (n - i >= 4 && memcmp(text + i, "{1,}", 4) == 0);
        if (text[i] == '(' && next == '*')
            return "one of * + ? { has nothing before it to repeat";
        if (text[i] == '(' && next == '?' && after != ':' && after != 'i')
            return "of the groups that begin with (? only (?: and (?i) are supported";
        if (endless && single < to->n)
            group(to, single);
        if (text[i] == '[') {
            i = put_set(text, n, i, to);
        } else if (text[i] != '\\') {
            put_bytes(to, text + i, 1);
        } else {
            if (next != '\0' && strchr("123456789gkKGRXCQENpP", next) != NULL)
                return "\\1 to \\9 (what a group has matched) and Perl's own escapes are not "
                       "supported";
            while (known < 4 && escapes[known][0][0] != next)
                known++;
            if (known < 4)
                put(to, escapes[known][1]);
            else
                put_bytes(to, text + i, next != '\0' ? 2 : 1);
            i++;
        }
        single = strchr("()|*+?{}^$", text[i]) != NULL && to->n == start + 1 ? SIZE_MAX : start;
    }
    return NULL;
}

/* ---- compiling ---- */

/* What is wrong with a pattern; PCRE2's words for what nobody has seen. */
static const char *explain(int code)
{
    static const struct {
        int code;
        const char *text;
    } known[] = {
        { PCRE2_ERROR_MISSING_CLOSING_PARENTHESIS, "a \"(\" is not closed" },
        { PCRE2_ERROR_UNMATCHED_CLOSING_PARENTHESIS,
          "a \")\" is not opened; \\) is the character" },
        { PCRE2_ERROR_MISSING_SQUARE_BRACKET, "a \"[\" is not closed" },
        { PCRE2_ERROR_END_BACKSLASH,
          "a backslash at its end means nothing; \\\\ is the character" },
        { PCRE2_ERROR_QUANTIFIER_INVALID, "one of * + ? { has nothing before it to repeat" },
        { PCRE2_ERROR_QUANTIFIER_OUT_OF_ORDER,
          "numbers in braces go up to 65535, and the second one is not less than the first" },
        { PCRE2_ERROR_QUANTIFIER_TOO_BIG,
          "numbers in braces go up to 65535, and the second one is not less than the first" },
        { PCRE2_ERROR_CLASS_RANGE_ORDER, "a range in brackets ends before it begins" },
        { PCRE2_ERROR_UNKNOWN_POSIX_CLASS,
          "a class in brackets is unknown; there are [:alpha:], [:digit:], [:alnum:], [:upper:], "
          "[:lower:], [:space:] and some more" },
        { PCRE2_ERROR_PATTERN_TOO_LARGE, "it is too large" },
        { PCRE2_ERROR_PATTERN_STRING_TOO_LONG, "it is too large" },
    };
    static char other[120];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].code == code)
            return known[i].text;
    (void)pcre2_get_error_message(code, (PCRE2_UCHAR *)other, sizeof other);
    return other;
}

/* Called for each byte that a regular expression skips. */
static int look_at_cancel(pcre2_callout_block *block, void *ctx)
{
    struct cli_pattern *p = ctx;
    (void)block;
    return p->looks++ % LOOK_EVERY == 0 && atomic_load_explicit(p->cancel, memory_order_relaxed)
               ? PCRE2_ERROR_CALLOUT
               : 0;
}

/* Takes TEXT.  As cli_pattern_glob. */
static const char *compile(struct text *text, uint32_t options, struct cli_pattern **ret)
{
    struct cli_pattern *p = calloc(1, sizeof *p);
    pcre2_compile_context *limits = pcre2_compile_context_create(NULL);
    const char *wrong = NULL;
    int code;
    size_t at;
    *ret = NULL;
    if (p != NULL && limits != NULL && !text->failed) {
        (void)pcre2_set_max_pattern_length(limits, TEXT_MAX);
        p->code = pcre2_compile((PCRE2_SPTR)(text->bytes != NULL ? text->bytes : ""), text->n,
                                options | PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY | PCRE2_ANCHORED |
                                    PCRE2_NEVER_UTF,
                                &code, &at, limits);
        if (p->code == NULL && code != PCRE2_ERROR_HEAP_FAILED) /* CODE is not 0 after success */
            wrong = explain(code);
    }
    free(text->bytes);
    pcre2_compile_context_free(limits);
    if (p != NULL && p->code != NULL) {
        p->data = pcre2_match_data_create(1, NULL);
        p->context = pcre2_match_context_create(NULL);
        p->ways = calloc(WAYS_FIRST, sizeof *p->ways);
        p->way_count = WAYS_FIRST;
    }
    if (p == NULL || p->data == NULL || p->context == NULL || p->ways == NULL) {
        cli_pattern_free(p);
        return wrong;
    }
    (void)pcre2_set_heap_limit(p->context, HEAP_MAX_KB);
    (void)pcre2_set_callout(p->context, look_at_cancel, p);
    *ret = p;
    return NULL;
}

const char *cli_pattern_glob(const char *text, size_t n, struct cli_pattern **ret)
{
    struct text to = translate_glob(text, n, false);
    return compile(&to, 0, ret);
}

const char *cli_pattern_loose(const char *text, size_t n, bool fold, struct cli_pattern **ret)
{
    struct text to = translate_glob(text, n, true);
    return compile(&to, fold ? PCRE2_CASELESS : 0, ret);
}

const char *cli_pattern_regex(const char *text, size_t n, struct cli_pattern **ret)
{
    struct text alone = { NULL, 0, 0, false }, to = alone;
    const char *wrong = translate_regex(text, n, &alone);
    *ret = NULL;
    if (wrong != NULL) {
        free(alone.bytes);
        return wrong;
    }
    put(&to, "(?:(?C1).)*(?:"); /* anywhere, in one pass */
    put_bytes(&to, alone.bytes, alone.n);
    put(&to, ")");
    to.failed |= alone.failed;
    wrong = compile(&alone, 0, ret); /* so that no ")" closes ours */
    if (wrong != NULL || *ret == NULL) {
        free(to.bytes);
        return wrong;
    }
    cli_pattern_free(*ret);
    return compile(&to, 0, ret);
}

bool cli_pattern_is_regex(const char *text, size_t n)
{
    return n > 2 && text[0] == '/' && text[n - 1] == '/';
}

const char *cli_pattern_new(const char *text, size_t n, struct cli_pattern **ret)
{
    return cli_pattern_is_regex(text, n) ? cli_pattern_regex(text + 1, n - 2, ret)
                                         : cli_pattern_glob(text, n, ret);
}

void cli_pattern_free(struct cli_pattern *p)
{
    if (p == NULL)
        return;
    pcre2_code_free(p->code);
    pcre2_match_data_free(p->data);
    pcre2_match_context_free(p->context);
    free(p->ways);
    free(p);
}

/* ---- matching ---- */

enum cli_match cli_pattern_match(struct cli_pattern *p, const char *text,
                                 const gcd_cancel_flag *cancel)
{
    p->cancel = cancel;
    p->looks = 0;
    if (atomic_load_explicit(cancel, memory_order_relaxed))
        return CLI_MATCH_CANCELED;
    for (;;) {
        int r = pcre2_dfa_match(p->code, (PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0,
                                PCRE2_DFA_SHORTEST, p->data, p->context, p->ways, p->way_count);
        if (r >= 0)
            return CLI_MATCH;
        if (r == PCRE2_ERROR_NOMATCH)
            return CLI_NO_MATCH;
        if (r == PCRE2_ERROR_CALLOUT)
            return CLI_MATCH_CANCELED;
        size_t more = 4 * p->way_count;
        int *ways = r == PCRE2_ERROR_DFA_WSSIZE && more <= WAYS_MAX
                        ? reallocarray(p->ways, more, sizeof *ways)
                        : NULL;
        if (ways == NULL)
            return CLI_MATCH_NO_MEMORY;
        p->ways = ways;
        p->way_count = more;
    }
}
