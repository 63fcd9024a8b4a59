#include <gcdumpc/unstable/async_names.h>

#include <string.h>

#include "base/text.h"

#define RUNTIME "System.Runtime.CompilerServices."

/* A piece of a name. */
struct piece {
    const char *p;
    size_t n;
};

static bool equals(struct piece x, const char *text)
{
    return x.n == strlen(text) && memcmp(x.p, text, x.n) == 0;
}

static bool begins(struct piece x, const char *text)
{
    size_t n = strlen(text);
    return x.n >= n && memcmp(x.p, text, n) == 0;
}

static struct piece from(struct piece x, size_t at)
{
    return (struct piece){ x.p + at, x.n - at };
}

/* Where the last segment of X begins: after the last dot or plus outside brackets; 0 = there is
 * only one. */
static size_t last_segment(struct piece x)
{
    size_t start = 0;
    int depth = 0;
    for (size_t i = 0; i < x.n; i++) {
        depth += gcd_text_bracket(x.p[i]);
        if (depth == 0 && (x.p[i] == '.' || x.p[i] == '+'))
            start = i + 1;
    }
    return start;
}

/* ---- boxes ---- */

/* The opening bracket of the type arguments at the end of X; X.n = X does not end with any. */
static size_t opening(struct piece x)
{
    size_t at = gcd_text_opening(x.p, x.n);
    return at < x.n && x.p[at] == '<' ? at : x.n;
}

bool gcd_async_machine(const char *type, const char **ret_machine, size_t *ret_n)
{
    struct piece all = { type, strlen(type) };
    size_t open = opening(all), start;
    if (open == all.n)
        return false;
    struct piece head = { type, open }, own;
    start = last_segment(head);
    own = from(head, start);
    if (!equals(own, "AsyncStateMachineBox") && !equals(own, "StateMachineBox") &&
        !equals(own, "DebugFinalizableAsyncStateMachineBox"))
        return false;
    if (start > 0 && !begins(head, RUNTIME))
        return false;
    struct piece last = { type + open + 1, all.n - open - 2 };
    int depth = 0;
    for (size_t i = last.n; i-- > 0;) { /* after the last comma outside brackets */
        depth += gcd_text_bracket(last.p[i]);
        if (depth == 0 && last.p[i] == ',') {
            last = from(last, i + 1);
            break;
        }
    }
    while (last.n > 0 && last.p[0] == ' ')
        last = from(last, 1);
    *ret_machine = last.p;
    *ret_n = last.n;
    return last.n > 0;
}

/* ---- methods ---- */

struct text {
    char *p;
    size_t n, cap;
};

static void put(struct text *t, struct piece x)
{
    size_t room = t->cap - 1 - t->n, n = x.n < room ? x.n : room;
    while (n < x.n && n > 0 && ((unsigned char)x.p[n] & 0xc0) == 0x80) /* not within a character */
        n--;
    if (n > 0)
        memcpy(t->p + t->n, x.p, n);
    t->n += n;
    t->p[t->n] = '\0';
}

static void put_text(struct text *t, const char *s)
{
    put(t, (struct piece){ s, strlen(s) });
}

/* The class of a method, without compiler-generated classes for lambdas. */
static struct piece real_class(struct piece outer)
{
    for (;;) {
        size_t start = last_segment(outer);
        struct piece own = from(outer, start);
        if (!begins(own, "<>c") && !begins(own, "_Closure$__"))
            return outer;
        outer.n = start > 0 ? start - 1 : 0;
    }
}

/* Splits X = "<NAME>REST" into both; false if X has another form. */
static bool split(struct piece x, struct piece *name, struct piece *rest)
{
    size_t close = x.n > 0 && x.p[0] == '<' ? gcd_text_closing(x.p, x.n) : x.n;
    if (close >= x.n || close < 2)
        return false;
    *rest = from(x, close + 1);
    *name = (struct piece){ x.p + 1, close - 1 };
    return true;
}

static size_t find(struct piece x, char c)
{
    const char *p = x.n > 0 ? memchr(x.p, c, x.n) : NULL;
    return p != NULL ? (size_t)(p - x.p) : x.n;
}

/* NAME of a method: "Plant"; "<Plant>b__0" a lambda in it, "<Plant>g__Local|0_1" a function in it,
 * "<Main>$" top-level statements, and "<<Main>$>b__0" a lambda in these. */
static void put_method(struct text *t, struct piece name)
{
    struct piece inner, rest, within;
    if (!split(name, &inner, &rest)) {
        /* without the interface that it implements */
        put(t, from(name, last_segment(name)));
        return;
    }
    while (split(inner, &inner, &within)) {
    }
    put(t, from(inner, last_segment(inner)));
    if (begins(rest, "g__")) {
        put_text(t, ".");
        put(t, (struct piece){ rest.p + 3, find(from(rest, 3), '|') });
    } else if (begins(rest, "b__")) {
        put_text(t, " (lambda)");
    }
}

static void put_visual_basic(struct text *t, struct piece outer, struct piece own)
{
    struct piece number = from(own, strlen("VB$StateMachine_"));
    put(t, real_class(outer));
    put_text(t, ".");
    put(t, from(number, find(number, '_') < number.n ? find(number, '_') + 1 : 0));
}

/* The number after the last '@' of X, the line of an F# function; it may have another one behind a
 * dash, and type arguments.  X.n = X is no such name. */
static size_t find_line(struct piece x)
{
    size_t at = find(x, '@'), i = at + 1;
    while (i < x.n && ((x.p[i] >= '0' && x.p[i] <= '9') || (x.p[i] == '-' && i > at + 1)))
        i++;
    return (i == x.n || (i < x.n && x.p[i] == '<')) && i > at + 1 && at > 0 ? at : x.n;
}

/* The module of F# in OUTER, "Harbour" of "<StartupCode$Shop>.$Harbour". */
static struct piece real_module(struct piece outer)
{
    size_t close = begins(outer, "<StartupCode$") ? gcd_text_closing(outer.p, outer.n) : outer.n;
    if (close >= outer.n)
        return outer;
    outer = from(outer, close + 1);
    while (outer.n > 0 && (outer.p[0] == '.' || outer.p[0] == '+' || outer.p[0] == '$'))
        outer = from(outer, 1);
    return outer;
}

/* "Harbour.load, line 23" of "load@23-1" */
static void put_function(struct text *t, struct piece outer, struct piece own)
{
    size_t at = find(own, '@'), end = at + 1;
    outer = real_module(outer);
    put(t, outer);
    put_text(t, outer.n > 0 ? "." : "");
    put(t, (struct piece){ own.p, at });
    put_text(t, ", line ");
    while (end < own.n && own.p[end] >= '0' && own.p[end] <= '9')
        end++;
    put(t, (struct piece){ own.p + at + 1, end - at - 1 });
}

void gcd_async_method(const char *machine, size_t n, char *ret, size_t cap)
{
    struct piece all = { machine, n }, name, rest;
    struct text t = { ret, 0, cap };
    size_t start = last_segment(all);
    struct piece outer = { machine, start > 0 ? start - 1 : 0 }, own = from(all, start);
    ret[0] = '\0';
    if (begins(own, "VB$StateMachine_")) {
        put_visual_basic(&t, outer, own);
    } else if (find_line(own) < own.n) { /* a task of F# */
        put_function(&t, outer, own);
    } else if (!split(own, &name, &rest)) {
        put(&t, all);
    } else {
        outer = real_class(outer);
        put(&t, outer);
        if (outer.n > 0)
            put_text(&t, ".");
        put_method(&t, name);
        put(&t, from(rest, find(rest, '<'))); /* type arguments of the method */
    }
}

/* ---- other types that compilers make ---- */

#define LAMBDA_BLOCKS 100000u /* a method has fewer */

/* "NAME" of "NAME [Shop.dll]" */
static struct piece without_module(const char *name)
{
    const char *module = strstr(name, " [");
    return (struct piece){ name, module != NULL ? (size_t)(module - name) : strlen(name) };
}

enum gcd_made_of gcd_made_of(const char *name)
{
    struct piece all = without_module(name), method, rest;
    const char *machine;
    size_t n;
    if (gcd_async_machine(name, &machine, &n))
        return GCD_MADE_OF_CALL;
    struct piece own = from(all, last_segment(all));
    if (all.n == 0 || all.p[all.n - 1] == ']')
        return GCD_MADE_OF_NOTHING;
    if (begins(own, "<>c") || begins(own, "_Closure$__"))
        return GCD_MADE_OF_LAMBDA;
    if (begins(own, "VB$StateMachine_") ||
        (split(own, &method, &rest) &&
         (begins(rest, "d__") || (begins(rest, "d") && (rest.n == 1 || rest.p[1] == '<')))))
        return GCD_MADE_OF_STATE; /* without a number: of a lambda or a local function */
    return find_line(own) < own.n ? GCD_MADE_OF_FUNCTION : GCD_MADE_OF_NOTHING;
}

void gcd_made_of_method(const char *name, char *ret, size_t cap)
{
    struct piece all = without_module(name);
    struct text t = { ret, 0, cap };
    size_t start = last_segment(all);
    struct piece outer = { name, start > 0 ? start - 1 : 0 }, own = from(all, start);
    const char *machine;
    size_t n;
    ret[0] = '\0';
    switch (gcd_made_of(name)) {
    case GCD_MADE_OF_CALL:
        (void)gcd_async_machine(name, &machine, &n);
        gcd_async_method(machine, n, ret, cap);
        return;
    case GCD_MADE_OF_STATE:
        gcd_async_method(name, all.n, ret, cap);
        return;
    case GCD_MADE_OF_LAMBDA:
        put(&t, real_class(outer));
        return;
    case GCD_MADE_OF_FUNCTION:
        put_function(&t, outer, own);
        return;
    case GCD_MADE_OF_NOTHING:
        put(&t, all);
    }
}

void gcd_call_name(const char *class_name, const char *method, char *ret, size_t cap)
{
    struct text t = { ret, 0, cap };
    ret[0] = '\0';
    switch (gcd_made_of(class_name)) {
    case GCD_MADE_OF_CALL:
    case GCD_MADE_OF_STATE:
    case GCD_MADE_OF_FUNCTION:
        gcd_made_of_method(class_name, ret, cap);
        return;
    case GCD_MADE_OF_LAMBDA:
    case GCD_MADE_OF_NOTHING:
        break;
    }
    struct piece name = { method, strlen(method) };
    put(&t, real_module(real_class(without_module(class_name))));
    if (begins(name, "_Lambda$__")) { /* of Visual Basic, which does not tell its method */
        put_text(&t, " (lambda)");
        return;
    }
    put_text(&t, ".");
    if (name.n > 1 && name.p[name.n - 1] == '@') /* start-up code of F#, "main@" */
        name.n--;
    if (method[0] == '.') /* ".ctor" */
        put(&t, name);
    else
        put_method(&t, name);
}

/* The method that "get_Items" and the like belong to is that of the source, "Items". */
static struct piece without_accessor(struct piece method)
{
    static const char *const accessors[] = { "get_", "set_", "add_", "remove_" };
    struct piece own = from(method, last_segment(method));
    for (size_t i = 0; i < sizeof accessors / sizeof *accessors; i++)
        if (begins(own, accessors[i]) && own.n > strlen(accessors[i]))
            return from(own, strlen(accessors[i]));
    return own;
}

bool gcd_lambda_method(const char *name, const char *method, size_t n, char *ret, size_t cap)
{
    struct piece all = without_module(name), source = { method, n };
    struct text t = { ret, 0, cap };
    size_t start = last_segment(all);
    struct piece outer = real_class((struct piece){ name, start > 0 ? start - 1 : 0 });
    if (gcd_made_of(name) != GCD_MADE_OF_LAMBDA || outer.n == 0 || n == 0)
        return false;
    put(&t, outer);
    if (method[0] != '.') { /* ".ctor" */
        put_text(&t, ".");
        put_method(&t, without_accessor(source));
    }
    return t.n + 1 < cap;
}

unsigned gcd_lambda_block(const char *name)
{
    static const char *const classes[] = { "<>c__DisplayClass", "_Closure$__" };
    struct piece all = without_module(name), own = from(all, last_segment(all));
    unsigned block = 0;
    size_t i = begins(own, classes[0])   ? strlen(classes[0])
               : begins(own, classes[1]) ? strlen(classes[1])
                                         : own.n;
    while (i < own.n && own.p[i] >= '0' && own.p[i] <= '9') /* the number of the method */
        i++;
    if (i < own.n && (own.p[i] == '_' || own.p[i] == '-'))
        for (i++; i < own.n && own.p[i] >= '0' && own.p[i] <= '9' && block < LAMBDA_BLOCKS; i++)
            block = 10 * block + (unsigned)(own.p[i] - '0');
    return block;
}

/* "anonymous type 0<System.String>" of "<>f__AnonymousType0<System.String>". */
static const char *anonymous(const char *name, char buf[GCD_ASYNC_STEP_BYTES])
{
    static const char prefix[] = "<>f__AnonymousType";
    struct text t = { buf, 0, GCD_ASYNC_STEP_BYTES };
    size_t n = sizeof prefix - 1;
    if (strncmp(name, prefix, n) != 0)
        return name;
    put_text(&t, "anonymous type ");
    put_text(&t, name + n);
    return buf;
}

const char *gcd_async_step_name(const char *name, bool known, bool async,
                                char buf[GCD_ASYNC_STEP_BYTES])
{
    static const char *const words[] = { "", "async ", "iterator ", "variables of a lambda in ",
                                         "function in " }; /* enum gcd_made_of */
    enum gcd_made_of made_of = gcd_made_of(name);
    const char *word = async && made_of == GCD_MADE_OF_STATE ? "state of async " : words[made_of];
    if (made_of == GCD_MADE_OF_NOTHING || (made_of == GCD_MADE_OF_STATE && !known))
        return anonymous(name, buf);
    size_t n = strlen(word);
    memcpy(buf, word, n);
    gcd_made_of_method(name, buf + n, GCD_ASYNC_STEP_BYTES - n);
    return buf[n] != '\0' ? buf : name; /* "<>c" without its class */
}
