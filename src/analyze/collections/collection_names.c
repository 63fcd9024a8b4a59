#include "analyze/collections/collections.h"

#include <string.h>

bool collection_text_is(struct text t, const char *s)
{
    return strlen(s) == t.n && memcmp(s, t.s, t.n) == 0;
}

/* The rest of T behind the last '+' outside of brackets: a nested type without its outer types. */
static struct text innermost(struct text t)
{
    size_t from = 0;
    int depth = 0;
    for (size_t i = 0; i < t.n; i++) {
        depth += (t.s[i] == '[') - (t.s[i] == ']');
        if (t.s[i] == '+' && depth == 0)
            from = i + 1;
    }
    return (struct text){ t.s + from, t.n - from };
}

/* Cuts the dimensions of the outermost array off T; false = it is no array. */
static bool cut_dims(struct text *t, bool *ret_plain)
{
    size_t i = t->n;
    if (i < 3 || t->s[--i] != ']')
        return false;
    while (i > 1 && (t->s[i - 1] == ',' || t->s[i - 1] == '*'))
        i--;
    if (i < 2 || t->s[i - 1] != '[')
        return false;
    *ret_plain = *ret_plain && i + 1 == t->n;
    t->n = i - 1;
    return true;
}

struct type_parts collection_name_parts(const char *name)
{
    struct text t = { name, strlen(name) };
    struct type_parts p = { .dims = 0, .plain_dims = true };
    while (cut_dims(&t, &p.plain_dims))
        p.dims++;
    const char *bracket = t.n > 0 && t.s[t.n - 1] == ']' ? memchr(t.s, '[', t.n) : NULL;
    p.base = t;
    p.args = (struct text){ "", 0 };
    if (bracket != NULL) {
        p.base.n = (size_t)(bracket - t.s);
        p.args = (struct text){ bracket + 1, t.n - p.base.n - 2 };
    }
    p.simple = innermost(p.base);
    return p;
}

bool collection_name_arg(struct text args, unsigned i, struct text *ret)
{
    size_t from = 0;
    int depth = 0;
    for (size_t at = 0; at <= args.n; at++) {
        if (at < args.n && (args.s[at] != ',' || depth != 0)) {
            depth += (args.s[at] == '[') - (args.s[at] == ']');
            continue;
        }
        bool is_last = at == args.n;
        if (i == 0 || (i == LAST_ARG && is_last)) {
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
