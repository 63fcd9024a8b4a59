#include "output/type_pattern.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/type_names.h>

#include "base/text.h"
#include "output/name_variants.h"
#include "term/path.h"

static const char detached[] = "Detached ";

/* One glob per spelling, or the one regular expression. */
struct alternatives {
    struct cli_pattern *patterns[CLI_VARIANTS_MAX];
    size_t n;
};

/* The suffix that tells equal names apart, "[MODULE 0xTOKEN #NUMBER]". */
struct tail {
    struct cli_pattern *module; /* NULL = none */
    uint32_t token;             /* 0 = none */
    char number[16];            /* "#2]"; "" = none */
};

struct cli_type_pattern {
    const char *text; /* as given */
    struct alternatives whole;
    struct alternatives loose; /* without namespaces; empty = not a glob */
    struct alternatives head;  /* the name before a tail; empty = there is none */
    struct tail tail;
    struct cli_pattern *module; /* of module(PATTERN) */
    bool regex;
    bool raw;   /* raw names can match */
    bool tight; /* names without spaces can match */
    /* the last answer about a module, because types are grouped by module */
    const char *last_path;
    uint32_t last_module;
    enum cli_match last_match;
    char *room; /* [room_bytes] for a name */
    size_t room_bytes;
};

/* ---- reading ---- */

static const char *compile(const char *text, size_t n, struct cli_pattern **ret, bool *ret_ok)
{
    const char *wrong = cli_pattern_new(text, n, ret);
    *ret_ok = *ret != NULL;
    return wrong;
}

/* Compiles globs for all spellings of TEXT[N].  *RET_OK false: TEXT is wrong, or memory ran out. */
static const char *compile_variants(const char *text, size_t n, bool loose, struct alternatives *to,
                                    bool *ret_ok)
{
    struct cli_variants v;
    const char *wrong = NULL;
    bool ok = cli_variants_of(text, n, &v), fold = true;
    for (size_t i = 0; i < n; i++)
        fold = fold && !isupper((unsigned char)text[i]);
    for (size_t i = 0; ok && i < v.n; i++) {
        const char *one = v.text[i];
        wrong = loose ? cli_pattern_loose(one, strlen(one), fold, &to->patterns[i])
                      : cli_pattern_glob(one, strlen(one), &to->patterns[i]);
        ok = to->patterns[i] != NULL;
        to->n += ok;
    }
    cli_variants_done(&v);
    *ret_ok = ok;
    return wrong;
}

/* The start of the word of TEXT that ends at END, not before START. */
static size_t last_word(const char *text, size_t start, size_t end)
{
    while (end > start && text[end - 1] != ' ')
        end--;
    return end;
}

/* Reads "#2" and "0x02000005" before *END, and moves *END in front of them. */
static void read_numbers(const char *text, size_t start, size_t *end, struct tail *ret)
{
    size_t at = last_word(text, start, *end), n = *end - at;
    if (n > 1 && n < sizeof ret->number - 1 && text[at] == '#' &&
        strspn(text + at + 1, "0123456789") == n - 1) {
        memcpy(ret->number, text + at, n);
        memcpy(ret->number + n, "]", 2);
        *end = at > start ? at - 1 : start;
        at = last_word(text, start, *end);
        n = *end - at;
    }
    if (n == 10 && text[at] == '0' && text[at + 1] == 'x' &&
        strspn(text + at + 2, "0123456789abcdef") == 8) {
        ret->token = (uint32_t)strtoul(text + at + 2, NULL, 16);
        *end = at > start ? at - 1 : start;
    }
}

/* "HEAD [MODULE 0xTOKEN #NUMBER]", where HEAD has no wildcards: otherwise "* [Shop]" would be all
 * types of a module. */
static const char *compile_tail(const char *text, size_t n, struct cli_type_pattern *to,
                                bool *ret_ok)
{
    size_t head = n;
    while (head > 0 && text[head - 1] != '[')
        head--;
    if (n < 5 || text[n - 1] != ']' || head < 3 || text[head - 2] != ' ' ||
        strcspn(text, "*?") < head)
        return NULL;
    size_t end = n - 1;
    const char *wrong = NULL;
    read_numbers(text, head, &end, &to->tail);
    if (end > head) {
        wrong = cli_pattern_glob(text + head, end - head, &to->tail.module);
        *ret_ok = to->tail.module != NULL;
    }
    return *ret_ok ? compile_variants(text, head - 2, false, &to->head, ret_ok) : wrong;
}

/* The length and start of PATTERN in "module(PATTERN)"; 0 = TEXT is not of that form. */
static size_t module_pattern(const char *text, size_t n, const char **ret)
{
    static const char begin[] = "module(";
    size_t k = sizeof begin - 1;
    if (n < k || strncmp(text, begin, k) != 0)
        return 0;
    *ret = text + k;
    n -= k + (text[n - 1] == ')');
    for (; n > 0 && **ret == ' '; n--)
        ++*ret;
    while (n > 0 && (*ret)[n - 1] == ' ')
        n--;
    return n;
}

static const char *read_pattern(const char *text, struct cli_type_pattern *to, bool *ret_ok)
{
    const char *module = NULL;
    size_t n = strlen(text), k = module_pattern(text, n, &module);
    if (module != NULL && (k == 0 || text[n - 1] != ')'))
        return "module( takes a pattern for modules and a \")\"";
    if (module != NULL)
        return compile(module, k, &to->module, ret_ok);
    to->raw = memchr(text, '`', n) != NULL;
    to->regex = cli_pattern_is_regex(text, n);
    if (to->regex) {
        const char *wrong = compile(text, n, &to->whole.patterns[0], ret_ok);
        to->whole.n = *ret_ok;
        return wrong;
    }
    const char *rest =
        text + (strncmp(text, detached, sizeof detached - 1) == 0 ? sizeof detached - 1 : 0);
    to->tight = *rest == '<' && strchr(rest, ' ') == NULL;
    const char *wrong = compile_variants(text, n, false, &to->whole, ret_ok);
    if (*ret_ok)
        wrong = compile_variants(text, n, true, &to->loose, ret_ok);
    return *ret_ok ? compile_tail(text, n, to, ret_ok) : wrong;
}

const char *cli_type_pattern_new(const char *text, struct cli_type_pattern **ret)
{
    struct cli_type_pattern *p = calloc(1, sizeof *p);
    bool ok = false;
    if (p != NULL)
        p->text = text;
    const char *wrong = p != NULL ? read_pattern(text, p, &ok) : NULL;
    if (!ok)
        cli_type_pattern_free(p);
    *ret = ok ? p : NULL;
    return wrong;
}

static void free_alternatives(struct alternatives *a)
{
    for (size_t i = 0; i < a->n; i++)
        cli_pattern_free(a->patterns[i]);
}

void cli_type_pattern_free(struct cli_type_pattern *p)
{
    if (p == NULL)
        return;
    free_alternatives(&p->whole);
    free_alternatives(&p->loose);
    free_alternatives(&p->head);
    cli_pattern_free(p->tail.module);
    cli_pattern_free(p->module);
    free(p->room);
    free(p);
}

bool cli_type_pattern_is_regex(const struct cli_type_pattern *p)
{
    return p->regex;
}

bool cli_type_pattern_is_plain(const struct cli_type_pattern *p)
{
    return !p->regex && p->module == NULL && strpbrk(p->text, "*?") == NULL;
}

bool cli_type_pattern_is_module(const struct cli_type_pattern *p)
{
    return p->module != NULL;
}

/* ---- modules ---- */

const char *cli_module_file(const struct gcd_type *t)
{
    const char *file = cli_any_path_name(t->module_path);
    return *file != '\0' ? file : "(unknown)";
}

/* Copies N bytes of a name to P->room; NULL = out of memory. */
static char *copy(struct cli_type_pattern *p, const char *s, size_t n)
{
    if (p->room_bytes < n + 1) {
        char *room = realloc(p->room, n + 1);
        if (room == NULL)
            return NULL;
        p->room = room;
        p->room_bytes = n + 1;
    }
    memcpy(p->room, s, n);
    p->room[n] = '\0';
    return p->room;
}

/* Does any name of the module of T match: its path, its file with and without the suffix, or its
 * assembly? */
static enum cli_match match_module(struct cli_type_pattern *p, struct cli_pattern *pattern,
                                   const struct gcd_type *t, const struct gcd_summary *summary,
                                   const gcd_cancel_flag *cancel)
{
    const char *file = cli_module_file(t), *assembly = "", *stem;
    if (t->module_number < summary->module_count)
        assembly = summary->modules[t->module_number].assembly;
    stem = copy(p, file, gcd_module_stem(file));
    if (stem == NULL)
        return CLI_MATCH_NO_MEMORY;
    const char *const names[] = { file, stem, t->module_path, assembly };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        enum cli_match m =
            names[i][0] != '\0' ? cli_pattern_match(pattern, names[i], cancel) : CLI_NO_MATCH;
        if (m != CLI_NO_MATCH)
            return m;
    }
    return CLI_NO_MATCH;
}

static enum cli_match match_module_of_type(struct cli_type_pattern *p, const struct gcd_type *t,
                                           const struct gcd_summary *summary,
                                           const gcd_cancel_flag *cancel)
{
    if (p->last_path != t->module_path || p->last_module != t->module_number) {
        p->last_match = match_module(p, p->module, t, summary, cancel);
        p->last_path = t->module_path;
        p->last_module = t->module_number;
    }
    return p->last_match;
}

/* ---- names ---- */

static enum cli_match match_any(const struct alternatives *a, const char *text,
                                const gcd_cancel_flag *cancel)
{
    enum cli_match m = CLI_NO_MATCH;
    for (size_t i = 0; i < a->n && m == CLI_NO_MATCH; i++)
        m = cli_pattern_match(a->patterns[i], text, cancel);
    return m;
}

/* Does one of TEXTS[N] match?  NULL ones are skipped, equal pointers tried once. */
static enum cli_match match_texts(const struct alternatives *a, const char *const *texts, size_t n,
                                  const gcd_cancel_flag *cancel)
{
    enum cli_match m = CLI_NO_MATCH;
    for (size_t i = 0; i < n && m == CLI_NO_MATCH; i++) {
        bool again = texts[i] == NULL;
        for (size_t k = 0; k < i; k++)
            again = again || texts[k] == texts[i];
        if (!again)
            m = match_any(a, texts[i], cancel);
    }
    return m;
}

/* Tries NAME without its spaces: V8 snapshots spell names that begin with "<" this way. */
static enum cli_match match_tight(struct cli_type_pattern *p, const char *name,
                                  const gcd_cancel_flag *cancel)
{
    size_t head = strncmp(name, detached, sizeof detached - 1) == 0 ? sizeof detached - 1 : 0;
    if (name[head] != '<' || strchr(name + head, ' ') == NULL)
        return CLI_NO_MATCH;
    char *to = copy(p, name, strlen(name));
    if (to == NULL)
        return CLI_MATCH_NO_MEMORY;
    to += head;
    for (const char *s = name + head; *s != '\0'; s++)
        if (*s != ' ')
            *to++ = *s;
    *to = '\0';
    return match_any(&p->whole, p->room, cancel);
}

/* Tries the name without a "[MODULE]" at its end: in files that gcdumpc wrote with such suffixes,
 * the suffix is part of the name. */
static enum cli_match match_short(struct cli_type_pattern *p, const char *plain,
                                  const gcd_cancel_flag *cancel)
{
    size_t n = strlen(plain);
    const char *bracket = n > 0 && plain[n - 1] == ']' ? strrchr(plain, '[') : NULL;
    if (bracket == NULL || bracket - plain < 2 || bracket[-1] != ' ')
        return CLI_NO_MATCH;
    const char *head = copy(p, plain, (size_t)(bracket - plain) - 1);
    return head != NULL ? match_any(&p->whole, head, cancel) : CLI_MATCH_NO_MEMORY;
}

/* Matches a name with its tail.  A part that the dump does not know is not compared: a gclog has
 * neither modules nor tokens. */
static enum cli_match match_tail(struct cli_type_pattern *p, const struct cli_type_names *names,
                                 uint32_t type, const gcd_cancel_flag *cancel)
{
    const struct gcd_type *t = &names->summary->types[type];
    const char *const heads[] = { gcd_names_plain(names->csharp, type),
                                  gcd_names_runtime(names->csharp, type) };
    const char *number = strrchr(gcd_names_get(names->csharp, type), '#');
    if (p->tail.token != 0 && t->name_token != 0 && p->tail.token != t->name_token)
        return CLI_NO_MATCH;
    if (p->tail.number[0] != '\0' && number != NULL && strcmp(number, p->tail.number) != 0)
        return CLI_NO_MATCH;
    bool module = p->tail.module != NULL && t->module_path[0] != '\0';
    enum cli_match m =
        module ? match_module(p, p->tail.module, t, names->summary, cancel) : CLI_MATCH;
    return m == CLI_MATCH ? match_texts(&p->head, heads, 2, cancel) : m;
}

static enum cli_match match_type(struct cli_type_pattern *p, const struct cli_type_names *names,
                                 uint32_t type, const gcd_cancel_flag *cancel)
{
    const struct gcd_type *t = &names->summary->types[type];
    if (p->module != NULL)
        return match_module_of_type(p, t, names->summary, cancel);
    if (strcmp(p->text, t->raw_name) == 0 || strcmp(p->text, t->name) == 0)
        return CLI_MATCH;
    const char *full = gcd_names_get(names->csharp, type);
    bool raw = p->raw || !t->named;
    const char *const texts[] = { gcd_names_get(names->shown, type),
                                  full,
                                  gcd_names_plain(names->csharp, type),
                                  gcd_names_runtime(names->csharp, type),
                                  raw ? t->name : NULL,
                                  raw ? t->raw_name : NULL };
    enum cli_match m = match_texts(&p->whole, texts, sizeof texts / sizeof *texts, cancel);
    if (m == CLI_NO_MATCH)
        m = match_short(p, gcd_names_plain(names->csharp, type), cancel);
    if (m == CLI_NO_MATCH && p->tight)
        m = match_tight(p, full, cancel);
    if (m == CLI_NO_MATCH && p->head.n > 0)
        m = match_tail(p, names, type, cancel);
    return m;
}

/* Tries the name without namespaces, and the method of an async state machine as outputs spell it:
 * "async Poller.LoopAsync" and, in sentences, without the "async". */
static enum cli_match match_loosely(const struct cli_type_pattern *p,
                                    const struct cli_type_names *names, uint32_t type,
                                    const gcd_cancel_flag *cancel)
{
    char call[GCD_ASYNC_STEP_BYTES];
    const char *plain = gcd_names_plain(names->csharp, type),
               *step = gcd_names_step(names->csharp, type, call);
    const char *const texts[] = { plain, step, step == call ? strchr(step, ' ') + 1 : NULL };
    return match_texts(&p->loose, texts, sizeof texts / sizeof *texts, cancel);
}

enum cli_match cli_type_pattern_select(struct cli_type_pattern *p,
                                       const struct cli_type_names *names, bool loose,
                                       const gcd_cancel_flag *cancel, uint8_t *ret)
{
    p->last_path = NULL; /* it may be from another dump */
    for (uint32_t i = 0; i < names->summary->type_count; i++) {
        enum cli_match m =
            loose ? match_loosely(p, names, i, cancel) : match_type(p, names, i, cancel);
        if (m == CLI_MATCH_CANCELED || m == CLI_MATCH_NO_MEMORY)
            return m;
        ret[i] = m == CLI_MATCH;
    }
    return CLI_MATCH;
}
