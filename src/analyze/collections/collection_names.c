#include "analyze/collections/collections.h"
#include "base/text.h"

#include <string.h>

bool collection_text_is(struct text t, const char *s)
{
    return strlen(s) == t.n && memcmp(s, t.s, t.n) == 0;
}

/* The rest of T after the last '+', or '.' after arguments, outside of brackets: a nested type
 * without its outer types. */
static struct text innermost(struct text t)
{
    size_t from = 0;
    int depth = 0;
    for (size_t i = 0; i < t.n; i++) {
        depth += gcd_text_bracket(t.s[i]);
        if (depth == 0 && (t.s[i] == '+' || (t.s[i] == '.' && i > 0 && t.s[i - 1] == '>')))
            from = i + 1;
    }
    return (struct text){ t.s + from, t.n - from };
}

/* Removes the dimensions of the outermost array from the end of T; false = T is no array. */
static bool cut_dims(struct text *t, bool *ret_plain)
{
    size_t i = t->n;
    if (i < 3 || t->s[--i] != ']')
        return false;
    while (i > 1 && t->s[i - 1] == ',')
        i--;
    if (i < 2 || t->s[i - 1] != '[')
        return false;
    *ret_plain = *ret_plain && i + 1 == t->n;
    t->n = i - 1;
    return true;
}

static struct text without_arity(struct text t)
{
    size_t n = t.n;
    while (n > 0 && t.s[n - 1] >= '0' && t.s[n - 1] <= '9')
        n--;
    return n > 0 && n < t.n && t.s[n - 1] == '`' ? (struct text){ t.s, n - 1 } : t;
}

struct type_parts collection_name_parts(const char *name)
{
    struct text t = { name, strlen(name) };
    struct type_parts p = { .dims = 0, .plain_dims = true, .args = { "", 0 } };
    while (cut_dims(&t, &p.plain_dims))
        p.dims++;
    size_t last = t.n;
    bool is_last = t.n > 0 && gcd_text_bracket(t.s[t.n - 1]) < 0;
    while (last > 0 && t.s[last - 1] != '>' &&
           !is_last) /* "Outer<A>.Inner" has the arguments of its outer type */
        last--;
    size_t from = gcd_text_opening(t.s, last);
    p.base = t;
    if (from < last) {
        p.args = (struct text){ t.s + from + 1, last - from - 2 };
        p.base.n = is_last ? from : t.n;
    }
    p.simple = without_arity(innermost(p.base));
    p.base = without_arity(p.base);
    return p;
}

bool collection_name_arg(struct text args, unsigned i, struct text *ret)
{
    size_t from = 0;
    int depth = 0;
    for (size_t at = 0; at <= args.n; at++) {
        if (at < args.n && (args.s[at] != ',' || depth != 0)) {
            depth += gcd_text_bracket(args.s[at]);
            continue;
        }
        if (i == 0 || (i == LAST_ARG && at == args.n)) {
            from += from < at && args.s[from] == ' ';
            *ret = (struct text){ args.s + from, at - from };
            return ret->n > 0;
        }
        i -= i != LAST_ARG;
        from = at + 1;
    }
    return false;
}

bool collection_same_type(struct text name, struct text arg)
{
    if (name.n == arg.n && memcmp(name.s, arg.s, arg.n) == 0)
        return true;
    struct text bare = innermost(arg);
    return bare.n < arg.n && bare.n == name.n && memcmp(name.s, bare.s, bare.n) == 0;
}
