/*
 * Reads mangled names of Native AOT (NativeAotNameMangler of ILCompiler, .NET 8 to 11):
 *
 *     type       = definition [ "<" type { "__" type } ">" ]         generic
 *         or "__Array<" type ">", "__MDArray<" type "," rank ">"
 *         or type "<Pointer>", type "<ByRef>"
 *     definition = assembly "_" { outer type "_" } namespace "_" name
 *         or "Int32", "String" ...                                     of System
 *
 * Only the brackets are unique.  Of the framework, whose assemblies are known, a rule finds the
 * names: all but those with a "_" of their own.  It was compared with the 26,697 types of .NET 10,
 * 11 and ASP.NET Core: 22,415 were right, the others stay as they are, and none was wrong.
 */
#include "names/aot_names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "names/aot_definitions.h"

#define DEPTH_MAX     32u
#define ARITY_UNKNOWN UINT32_MAX

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* No other characters are in mangled names; of a hostile file, they could be anything. */
static bool is_mangled(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_word(s[i]) && s[i] != '_' && s[i] != '<' && s[i] != '>' && s[i] != ',')
            return false;
    return n > 0;
}

bool aot_symbol_of_type(const char *symbol, size_t n, const char **ret, size_t *ret_n)
{
    static const char statics[] = "__GCStaticEEType_";
    size_t at = 4, count = 0, k = sizeof statics - 1;
    if (n >= k && memcmp(symbol, statics, k) == 0) {
        *ret = symbol;
        *ret_n = n;
        return is_mangled(symbol, n);
    }
    if (n < 6 || memcmp(symbol, "_ZTV", 4) != 0 || symbol[at] == '0')
        return false;
    for (; at < n && is_digit(symbol[at]) && count <= AOT_SYMBOL_MAX; at++)
        count = count * 10 + (size_t)(symbol[at] - '0');
    /* a digit that the name begins with would belong to the count */
    *ret = symbol + at;
    *ret_n = n - at;
    return count == n - at && is_mangled(symbol + at, n - at);
}

/* ---- output ---- */

struct out {
    char *p;
    size_t n;
    bool full;
};

static void put(struct out *o, const char *s, size_t n)
{
    o->full = o->full || n >= AOT_NAME_MAX - o->n;
    if (o->full)
        return;
    memcpy(o->p + o->n, s, n);
    o->n += n;
}

static void put_text(struct out *o, const char *s)
{
    put(o, s, strlen(s));
}

/* ---- definitions ---- */

static bool begins(const char *s, size_t n, const char *with)
{
    size_t k = strlen(with);
    return n >= k && memcmp(s, with, k) == 0;
}

static bool equals(const char *s, size_t n, const char *text)
{
    return strlen(text) == n && memcmp(s, text, n) == 0;
}

static size_t digits_at(const char *s, size_t n)
{
    size_t k = 0;
    while (k < n && is_digit(s[k]))
        k++;
    return k;
}

static const char *system_name(const char *s, size_t n)
{
    static const char *const names[][2] = {
        { "Bool", "Boolean" },
        { "UInt8", "Byte" },
        { "Int8", "SByte" },
        { "UInt16", "UInt16" },
        { "Int16", "Int16" },
        { "UInt32", "UInt32" },
        { "Int32", "Int32" },
        { "UInt64", "UInt64" },
        { "Int64", "Int64" },
        { "Char", "Char" },
        { "Double", "Double" },
        { "Single", "Single" },
        { "IntPtr", "IntPtr" },
        { "UIntPtr", "UIntPtr" },
        { "String", "String" },
        { "Object", "Object" },
        { "System___Canon", "__Canon" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (equals(s, n, names[i][0]))
            return names[i][1];
    return NULL;
}

bool aot_is_framework(const char *s, size_t n)
{
    size_t low = 0, high = aot_framework_assembly_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const char *a = aot_framework_assemblies[mid];
        int c = strncmp(a, s, n);
        if (c == 0 && a[n] == '\0')
            return true;
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return false;
}

static bool is_in_namespace(const char *s, size_t n)
{
    return begins(s, n, "System_") || begins(s, n, "Microsoft_") || begins(s, n, "Internal_");
}

/* Bytes of the assembly of S[N] and the "_" after it, if it is one of the framework, and if there
 * is only one way to read it; 0 = no. */
static size_t assembly_bytes(const char *s, size_t n)
{
    size_t found = 0;
    for (size_t i = 1; i + 1 < n && (s[i] == '_' || is_word(s[i])); i++) {
        if (s[i] != '_' || !is_in_namespace(s + i + 1, n - i - 1) || !aot_is_framework(s, i))
            continue;
        if (found != 0)
            return 0;
        found = i + 1;
    }
    return found;
}

/* Names of the framework with a "_" that the rule would read as a ".". */
static bool is_exception(const char *s, size_t n)
{
    static const char *const parts[] = { "DebugView",         "OrdinalStringFrozen",
                                         "Datatype_",         "_Abstract",
                                         "InvokeFunc_",       "SecPkgContext_",
                                         "PathNodeIterator_", "_LocalFrame" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (size_t at = 0; at < n; at++)
            if (begins(s + at, n - at, parts[i]))
                return true;
    return false;
}

/* The part of a definition that the compiler made, at its end. */
struct made {
    size_t before;      /* bytes of the definition before it */
    const char *form;   /* how it is written: "+<>c" */
    const char *method; /* [method_n] of an iterator or async method */
    size_t method_n;
    const char *rest; /* [rest_n] its numbers */
    size_t rest_n;
};

/* Ends S[N] in WORD digits "_" digits, or in WORD digits?  From where on; N = no. */
static size_t ends_in_numbers(const char *s, size_t n, const char *word, bool two)
{
    size_t k = strlen(word), at = n;
    for (unsigned i = 0; i < (two ? 2u : 1u); i++) {
        size_t end = at;
        while (at > 0 && is_digit(s[at - 1]))
            at--;
        if (at == end || (i == 0 && two && (at == 0 || s[--at] != '_')))
            return n;
    }
    return at >= k && memcmp(s + at - k, word, k) == 0 ? at - k : n;
}

static struct made made_of(const char *s, size_t n)
{
    static const char lambda[] = "___c__DisplayClass", closure[] = "___c", step[] = "_d__";
    struct made m = { .before = n };
    size_t at = ends_in_numbers(s, n, lambda, true);
    if (at < n) {
        size_t skip = at + strlen(closure);
        return (struct made){ at, "+<>c", NULL, 0, s + skip, n - skip };
    }
    if (n > strlen(closure) && equals(s + n - strlen(closure), strlen(closure), closure))
        return (struct made){ n - strlen(closure), "+<>c", NULL, 0, s + n, 0 };
    at = ends_in_numbers(s, n, step, false);
    if (at == n)
        return m;
    size_t begin = at;
    while (begin > 0 && is_word(s[begin - 1]))
        begin--;
    if (begin < 3 || begin == at || s[begin - 1] != '_' || s[begin - 2] != '_' ||
        s[begin - 3] == '_' || !(s[begin] >= 'A' && s[begin] <= 'Z'))
        return m;
    return (struct made){ begin - 2, "+<", s + begin, at - begin, s + at + 1, n - at - 1 };
}

static bool is_all_capital(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] >= 'a' && s[i] <= 'z')
            return false;
    return n > 1;
}

/* Namespace, types and arities, S[N], of the framework; false: there is a "_" of another kind. */
static bool put_words(struct out *o, const char *s, size_t n, uint32_t *ret_arity)
{
    bool capital = false, nests = false;
    *ret_arity = 0;
    for (size_t at = 0, k; at <= n; at += k + 1) {
        for (k = 0; at + k < n && s[at + k] != '_';)
            k++;
        if (at > 0 && k > 0 && k <= 2 && digits_at(s + at, k) == k && s[at] != '0') {
            *ret_arity += (uint32_t)atoi(s + at);
            put(o, "`", 1);
            put(o, s + at, k);
            nests = true;
            continue;
        }
        bool shouts = is_all_capital(s + at, k);
        if (k == 0 || !(s[at] >= 'A' && s[at] <= 'Z') || (capital && shouts))
            return false;
        if (at > 0)
            put(o, nests ? "+" : ".", 1);
        put(o, s + at, k);
        capital = shouts;
    }
    return true;
}

/* A definition of the framework.  False: it is none, or can be read in several ways. */
static bool put_framework(struct out *o, const char *s, size_t n, uint32_t *ret_arity)
{
    const char *name = system_name(s, n);
    *ret_arity = 0;
    if (name != NULL) {
        put_text(o, "System.");
        put_text(o, name);
        return true;
    }
    size_t assembly = assembly_bytes(s, n), before = o->n;
    if (assembly == 0 || is_exception(s + assembly, n - assembly))
        return false;
    struct made m = made_of(s + assembly, n - assembly);
    if (!put_words(o, s + assembly, m.before, ret_arity)) {
        o->n = before;
        return false;
    }
    if (m.form != NULL) {
        put_text(o, m.form);
        put(o, m.method != NULL ? m.method : "", m.method_n);
        put_text(o, m.method != NULL ? ">" : "");
        put(o, m.rest, m.rest_n);
    }
    return true;
}

/* The number of type arguments that the "_2" in S[N] promise. */
static uint32_t arity_of(const char *s, size_t n)
{
    uint32_t sum = 0;
    for (size_t at = 0; at < n; at++) {
        size_t k = at > 0 && s[at - 1] == '_' && is_digit(s[at]) ? digits_at(s + at, n - at) : 0;
        if (k > 0 && k <= 2 && s[at] != '0' && at > 1 && s[at - 2] != '_' &&
            (at + k == n || s[at + k] == '_'))
            sum += (uint32_t)atoi(s + at);
    }
    return sum;
}

/* The same in "Pair`2+Left". */
static uint32_t arity_in(const char *name)
{
    uint32_t sum = 0;
    for (const char *s = strchr(name, '`'); s != NULL; s = strchr(s + 1, '`'))
        sum += (uint32_t)strtoul(s + 1, NULL, 10);
    return sum;
}

/* ---- types ---- */

enum frame_kind { FRAME_GENERIC, FRAME_ARRAY, FRAME_DIMENSIONS };

struct frame {
    enum frame_kind kind;
    uint32_t arity, arguments;
};

struct reading {
    const char *s; /* [n] */
    size_t n, at;
    struct out *o;
    const struct aot_definitions *known;
    struct frame frames[DEPTH_MAX];
    unsigned depth;
};

static bool at_text(const struct reading *r, size_t at, const char *text)
{
    return at <= r->n && begins(r->s + at, r->n - at, text);
}

/* Does a definition go on behind the "__" at AT, with what the compiler makes: "__Main_d__5"? */
static bool is_made_at(const struct reading *r, size_t at)
{
    size_t k = at + 2;
    while (k < r->n && is_word(r->s[k]))
        k++;
    return at_text(r, k, "_d__") && k + 4 < r->n && is_digit(r->s[k + 4]);
}

/*
 * The end of the definition that begins at R->at: a bracket, a comma, the end, or the "__" before
 * the next argument.  SIZE_MAX: it can be read in several ways.
 */
static size_t definition_end(const struct reading *r)
{
    size_t i = r->at;
    if (at_text(r, i, "System___Canon"))
        return i + strlen("System___Canon");
    while (i < r->n && (is_word(r->s[i]) || r->s[i] == '_')) {
        size_t run = 0;
        while (i + run < r->n && r->s[i + run] == '_')
            run++;
        bool made = run == 2 && i > r->at && is_made_at(r, i);
        if (run == 3 && at_text(r, i, "___c__DisplayClass"))
            i += strlen("___c__DisplayClass");
        else if (run == 3 && at_text(r, i, "___c") && i + 4 <= r->n &&
                 (i + 4 == r->n || !is_word(r->s[i + 4])))
            i += strlen("___c");
        else if (made) {
            i += 2;
            while (!at_text(r, i, "_d__"))
                i++;
            i += strlen("_d__");
        } else if (run == 4 && (at_text(r, i, "____Array<") || at_text(r, i, "____MDArray<")))
            return r->depth > 0 ? i : SIZE_MAX;
        else if (run == 2)
            return r->depth > 0 ? i : SIZE_MAX;
        else if (run > 2)
            return SIZE_MAX;
        else
            i++;
    }
    return i;
}

static bool push(struct reading *r, enum frame_kind kind, uint32_t arity)
{
    if (r->depth == DEPTH_MAX)
        return false;
    r->frames[r->depth++] = (struct frame){ kind, arity, 1 };
    return true;
}

/* A definition, up to the "<" behind it if it is generic. */
static bool read_definition(struct reading *r)
{
    if (at_text(r, r->at, "__Array<")) {
        r->at += strlen("__Array<");
        return push(r, FRAME_ARRAY, 1);
    }
    if (at_text(r, r->at, "__MDArray<")) {
        r->at += strlen("__MDArray<");
        return push(r, FRAME_DIMENSIONS, 1);
    }
    size_t end = definition_end(r), n = end - r->at;
    uint32_t arity;
    if (end == SIZE_MAX || n == 0)
        return false;
    const char *known = aot_definition(r->known, r->s + r->at, n);
    if (known != NULL) {
        put_text(r->o, known);
        arity = arity_in(known);
    } else if (!put_framework(r->o, r->s + r->at, n, &arity)) {
        put(r->o, r->s + r->at, n);
        arity = arity_of(r->s + r->at, n);
    }
    r->at = end;
    if (!at_text(r, end, "<") || at_text(r, end, "<Pointer>") || at_text(r, end, "<ByRef>"))
        return true;
    r->at++;
    put(r->o, "[", 1);
    return arity > 0 && push(r, FRAME_GENERIC, arity);
}

/* ",3>": the dimensions of an array. */
static bool close_dimensions(struct reading *r)
{
    size_t k = digits_at(r->s + r->at, r->n - r->at);
    if (k == 0 || k > 2)
        return false;
    int rank = atoi(r->s + r->at);
    r->at += k;
    if (rank < 1 || rank > 32 || !at_text(r, r->at, ">"))
        return false;
    r->at++;
    put(r->o, "[", 1);
    put(r->o, "*", rank == 1);
    for (int i = 1; i < rank; i++)
        put(r->o, ",", 1);
    put(r->o, "]", 1);
    r->depth--;
    return true;
}

/* What follows a type: suffixes, ends of lists, or the next argument.  *RET_MORE: a type follows.
 */
static bool read_behind(struct reading *r, bool *ret_more)
{
    *ret_more = false;
    while (r->at < r->n && !*ret_more) {
        struct frame *f = r->depth > 0 ? &r->frames[r->depth - 1] : NULL;
        if (at_text(r, r->at, "<Pointer>") || at_text(r, r->at, "<ByRef>")) {
            put(r->o, at_text(r, r->at, "<ByRef>") ? "&" : "*", 1);
            r->at += strcspn(r->s + r->at, ">") + 1;
        } else if (f != NULL && f->kind == FRAME_GENERIC && at_text(r, r->at, "__")) {
            r->at += 2;
            f->arguments++;
            put(r->o, ",", 1);
            *ret_more = true;
        } else if (f != NULL && f->kind == FRAME_DIMENSIONS && at_text(r, r->at, ",")) {
            r->at++;
            if (!close_dimensions(r))
                return false;
        } else if (f != NULL && f->kind != FRAME_DIMENSIONS && at_text(r, r->at, ">") &&
                   f->arguments == f->arity) {
            put_text(r->o, f->kind == FRAME_ARRAY ? "[]" : "]");
            r->at++;
            r->depth--;
        } else {
            return false;
        }
    }
    return true;
}

static bool read_type(struct reading *r)
{
    bool more = true;
    while (more) {
        unsigned depth = r->depth;
        if (!read_definition(r))
            return false;
        if (r->depth > depth)
            continue; /* its first argument */
        if (!read_behind(r, &more))
            return false;
    }
    return r->depth == 0 && r->at == r->n;
}

static bool begins_known(const struct aot_definitions *known, const char *m, size_t n)
{
    size_t k = 0;
    while (k < n && m[k] != '<')
        k++;
    return aot_definition(known, m, k) != NULL;
}

size_t aot_name(const char *m, size_t n, bool value_type, const struct aot_definitions *known,
                char *ret)
{
    static const char boxed[] = "Boxed_";
    struct out o = { .p = ret };
    size_t skip = begins(m, n, boxed) ? strlen(boxed) : 0;
    /* the name of an assembly could also be "Boxed" */
    if (!value_type && assembly_bytes(m + skip, n - skip) == 0 &&
        (begins_known(known, m, n) || !begins_known(known, m + skip, n - skip)))
        skip = 0;
    struct reading r = { .s = m + skip, .n = n - skip, .o = &o, .known = known };
    const char *whole = aot_definition(known, m + skip, n - skip);
    if (whole != NULL || !read_type(&r)) {
        o.n = 0;
        put(&o, whole != NULL ? whole : m + skip, whole != NULL ? strlen(whole) : n - skip);
    }
    if (o.full)
        return 0;
    ret[o.n] = '\0';
    return o.n;
}
