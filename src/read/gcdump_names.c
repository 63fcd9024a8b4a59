/*
 * The names of types in other programs' files, as the runtime spells them.
 *
 * dotnet-gcdump and PerfView write objects of more than 1,000 bytes as another type, with a suffix:
 *
 *     " (" item { "," item } ")"     item = "Bytes > 10K" | "Ptrs" | "NoPtrs" | "ElemSize=4"
 *
 * Every type and its size classes become one type.  dotnet-gcdump also writes "<" for "[" and ">"
 * for "]", and then "[]" for "<>": "<>c" becomes "[]c", and "Foo[,]" becomes "Foo<,>".  Both name
 * an array of arrays from the inside, as the runtime does; names in files count as C#.
 */
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "read/gcdump_in.h"

/* No size class is longer. */
#define SIZE_CLASS_BYTES 64
/* No bracket of a compiler-generated name encloses more: looking further would be quadratic. */
#define BRACKET_BYTES 512

static size_t digits(const char *p, size_t n)
{
    size_t i = 0;
    while (i < n && p[i] >= '0' && p[i] <= '9')
        i++;
    return i;
}

static bool starts(const char *p, size_t n, const char *with)
{
    return n >= strlen(with) && memcmp(p, with, strlen(with)) == 0;
}

/* Length of the item at P, 0 = there is none. */
static size_t item(const char *p, size_t n)
{
    static const char *const words[] = { "Ptrs", "NoPtrs" }, *const numbers[] = { "Bytes > ",
                                                                                  "ElemSize=" };
    for (size_t i = 0; i < 2; i++) {
        size_t k = strlen(numbers[i]);
        if (starts(p, n, words[i]))
            return strlen(words[i]);
        if (!starts(p, n, numbers[i]))
            continue;
        size_t d = digits(p + k, n - k);
        bool unit = k + d < n && memchr("KMG", p[k + d], 3) != NULL;
        return d > 0 ? k + d + unit : 0;
    }
    return 0;
}

/* Length of the size class at the end of S, 0 = none. */
static size_t size_class(const struct gcdump_in *f, const struct gcdump_string *s)
{
    const char *p = (const char *)f->file + s->off;
    size_t n = s->bytes, at = n;
    if (n == 0 || p[n - 1] != ')')
        return 0;
    while (at > 0 && n - at < SIZE_CLASS_BYTES && p[at - 1] != '(')
        at--;
    if (at < 2 || p[at - 1] != '(' || p[at - 2] != ' ')
        return 0;
    size_t begin = at - 2;
    for (;; at++) {
        size_t k = item(p + at, n - 1 - at);
        at += k;
        if (k == 0 || (at < n - 1 && p[at] != ','))
            return 0;
        if (at == n - 1)
            return n - begin;
    }
}

static void cut(struct gcdump_string *s, size_t bytes)
{
    s->bytes -= bytes;
    s->units -= (uint32_t)bytes; /* a size class is ASCII */
}

/* What tells type T from others besides its size class: its name, or its number in a module. */
struct identity {
    struct gcdump_string name, module;
    uint32_t number;
};

static struct identity identity_of(const struct gcdump_in *f, uint32_t t)
{
    const struct gcdump_type *type = &f->types[t];
    bool deferred = t < f->deferred_count;
    return (struct identity){
        .name = deferred && type->name.null ? f->deferred[t].suffix : type->name,
        .module = deferred && type->module.null ? f->deferred[t].module : type->module,
        .number = deferred && type->name.null ? f->deferred[t].id : 0,
    };
}

static bool same_text(const struct gcdump_in *f, const struct gcdump_string *a,
                      const struct gcdump_string *b)
{
    return a->bytes == b->bytes && memcmp(f->file + a->off, f->file + b->off, a->bytes) == 0;
}

static bool same_identity(const struct gcdump_in *f, const struct identity *a,
                          const struct identity *b)
{
    return a->number == b->number && same_text(f, &a->name, &b->name) &&
           same_text(f, &a->module, &b->module);
}

static uint64_t hash(const struct gcdump_in *f, const struct identity *k)
{
    uint64_t h = gcd_text_hash((const char *)f->file + k->name.off, k->name.bytes, GCD_TEXT_HASH);
    h = gcd_text_hash((const char *)f->file + k->module.off, k->module.bytes, h);
    return h ^ (uint64_t)k->number << 32;
}

static size_t cut_size_classes(struct gcdump_in *f)
{
    size_t count = 0;
    for (uint32_t t = 1; t < f->type_count; t++) {
        struct gcdump_type *type = &f->types[t];
        struct gcdump_string *s =
            type->name.null && t < f->deferred_count ? &f->deferred[t].suffix : &type->name;
        size_t n = type->bracketed ? 0 : size_class(f, s);
        type->size_class = n > 0 && (type->name.null || n < s->bytes);
        if (type->size_class)
            cut(s, n);
        count += type->size_class;
    }
    return count;
}

static gcd_status join_types(struct gcdump_in *f, struct gcd_idmap *first, struct gcd_error *err)
{
    for (uint32_t t = 1; t < f->type_count; t++) {
        struct gcdump_type *type = &f->types[t];
        struct identity k = identity_of(f, t);
        uint64_t h = hash(f, &k);
        uint32_t at = gcd_idmap_get(first, h);
        if (at == GCD_IDMAP_NONE) {
            if (!gcd_idmap_put(first, h, t))
                return gcd_fail_nomem(err, "reading the types");
            continue;
        }
        /* two types may have one name: in two loads of a module, for example */
        struct identity other = identity_of(f, at);
        if ((type->size_class || f->types[at].size_class) && same_identity(f, &k, &other))
            type->same = at;
    }
    return GCD_OK;
}

gcd_status gcdump_join_size_classes(struct gcdump_in *f, struct gcd_build *b, struct gcd_error *err)
{
    size_t count = f->ours || f->javascript ? 0 : cut_size_classes(f);
    if (count == 0)
        return GCD_OK;
    gcd_build_notes(b)->size_classes = count;
    struct gcd_idmap first;
    gcd_idmap_init(&first, &f->alloc);
    gcd_status st = join_types(f, &first, err);
    gcd_idmap_done(&first);
    return st;
}

/* ---- brackets ---- */

static bool is_name_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c == '$' || (unsigned char)c >= 0x80;
}

/* The "]" that closes the "[" at S and that a name follows, NULL = none. */
static char *close_of_name(char *s)
{
    unsigned depth = 0;
    for (size_t i = 0; i < BRACKET_BYTES && s[i] != '\0'; i++) {
        depth += s[i] == '[';
        depth -= s[i] == ']';
        if (depth == 0)
            return is_name_char(s[i + 1]) ? s + i : NULL;
    }
    return NULL;
}

/* End of the ranks of arrays that begin at P: "[]", "[,]", "[*]" ... */
static char *ranks_end(char *p)
{
    for (;;) {
        size_t n = p[0] != '[' ? 0 : p[1] == '*' ? 2 : 1 + strspn(p + 1, ",");
        if (n == 0 || p[n] != ']')
            return p;
        p += n + 1;
    }
}

/* The runtime names an array of arrays from the inside, C# from the outside. */
static void reverse_ranks(char *p, char *end)
{
    for (char *q = end; p < q--; p++) {
        char c = *p;
        *p = *q == '[' ? ']' : *q == ']' ? '[' : *q;
        *q = c == '[' ? ']' : c == ']' ? '[' : c;
    }
}

void gcdump_undo_brackets(char *name)
{
    for (char *p = name; (p = strpbrk(p, "[<")) != NULL; p++) {
        /* brackets after a name are those of an array or of type arguments */
        bool begins = p == name || strchr(".+<,[ ", p[-1]) != NULL;
        char *close = NULL;
        if (*p == '[' && begins && (close = close_of_name(p)) != NULL) {
            *p = '<';
            *close = '>';
        } else if (*p == '<' && !begins && (p[1] == ',' || p[1] == '*')) {
            close = p + 1 + (p[1] == '*' ? 1 : strspn(p + 1, ","));
            if (*close == '>') {
                *p = '[';
                *close = ']';
            }
        }
    }
    for (char *p = name, *end; (p = strchr(p, '[')) != NULL; p = end > p ? end : p + 1) {
        end = ranks_end(p);
        reverse_ranks(p, end);
    }
}
