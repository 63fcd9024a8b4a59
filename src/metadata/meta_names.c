/*
 * Names of types as C# writes them.
 *
 * A nested type repeats the type parameters of its outer type in front of its own, and only its own
 * are counted in its name ("`2", which C# does not write).  So the arguments are distributed from
 * the outside in: each type takes as many as it adds.
 */
#include <string.h>

#include <gcdumpc/unstable/metadata.h>

#include "base/mem.h"
#include "metadata/meta_impl.h"

/* the first of the kinds of visibility that nested types have (II.23.1.15) */
#define FLAG_NESTED     2u
#define VISIBILITY_MASK 7u
#define PARAMETERS_MAX  1024u

void meta_put(struct gcd_metadata *m, const char *s)
{
    size_t n = strlen(s);
    if (m->muted > 0 || m->w.st != GCD_OK)
        return;
    if (n >= META_TEXT_MAX - m->text_n)
        meta_fail(&m->w, GCD_E_LIMIT, GCD_OFF_NONE, "the name of a type is too long");
    else if (!gcd_vec_reserve(&m->alloc, &m->text, &m->text_cap, m->text_n + n + 1, 1,
                              META_TEXT_MAX))
        meta_fail(&m->w, GCD_E_NOMEM, GCD_OFF_NONE,
                  "out of memory while reading the name of a type");
    else {
        memcpy(m->text + m->text_n, s, n + 1);
        m->text_n += n;
    }
}

uint32_t meta_parameters(struct gcd_metadata *m, uint32_t row, uint32_t *ret_first)
{
    uint32_t n = meta_find(&m->t, META_GENERIC_PARAM, GENERIC_PARAM_OWNER, row << 1, ret_first);
    if (n > PARAMETERS_MAX)
        meta_fail(&m->w, GCD_E_LIMIT, GCD_OFF_NONE,
                  "a type has more parameters than any compiler gives it");
    return m->w.st == GCD_OK ? n : 0;
}

uint32_t meta_outer(struct gcd_metadata *m, uint32_t row)
{
    uint32_t first;
    if ((meta_cell(&m->t, META_TYPE_DEF, row, TYPE_DEF_FLAGS) & VISIBILITY_MASK) < FLAG_NESTED)
        return 0;
    if (meta_find(&m->t, META_NESTED_CLASS, NESTED_INNER, row, &first) != 1)
        meta_fail(&m->w, GCD_E_FORMAT, GCD_OFF_NONE, "a nested type has no outer type");
    return m->w.st == GCD_OK ? meta_cell(&m->t, META_NESTED_CLASS, first, NESTED_OUTER) : 0;
}

static bool is_definition(uint32_t token)
{
    return token >> 24 == META_TYPE_DEF;
}

const char *meta_type_name(struct gcd_metadata *m, enum meta_table table, uint32_t row)
{
    uint32_t column = table == META_TYPE_DEF   ? TYPE_DEF_NAME
                      : table == META_TYPE_REF ? TYPE_REF_NAME
                                               : EXPORTED_NAME;
    return meta_string(&m->t, meta_cell(&m->t, table, row, column));
}

static const char *namespace_of(struct gcd_metadata *m, enum meta_table table, uint32_t row)
{
    uint32_t column = table == META_TYPE_DEF   ? TYPE_DEF_NAMESPACE
                      : table == META_TYPE_REF ? TYPE_REF_NAMESPACE
                                               : EXPORTED_NAMESPACE;
    return meta_string(&m->t, meta_cell(&m->t, table, row, column));
}

bool meta_is_type(struct gcd_metadata *m, enum meta_table table, uint32_t row,
                  const char *namespace, const char *name)
{
    return strcmp(meta_type_name(m, table, row), name) == 0 &&
           strcmp(namespace_of(m, table, row), namespace) == 0;
}

static enum meta_table table_of(uint32_t token)
{
    return is_definition(token) ? META_TYPE_DEF : META_TYPE_REF;
}

/* The token of the type that TOKEN is nested in, 0 = none. */
static uint32_t outer_token(struct gcd_metadata *m, uint32_t token)
{
    uint32_t row = token & 0xffffff;
    if (is_definition(token)) {
        uint32_t outer = meta_outer(m, row);
        return outer != 0 ? GCD_TOKEN_TYPE | outer : 0;
    }
    /* tag 3: nested in another reference */
    uint32_t scope = meta_cell(&m->t, META_TYPE_REF, row, TYPE_REF_SCOPE);
    return (scope & 3) == 3 ? (uint32_t)META_TYPE_REF << 24 | scope >> 2 : 0;
}

/* The name of TOKEN alone; *RET_MARKED is the number in its arity suffix, 0 = none, and *RET_MARK
 * where the suffix begins. */
static char *segment(struct gcd_metadata *m, uint32_t token, uint32_t *ret_marked, size_t *ret_mark)
{
    uint32_t marked = 0, unit = 1;
    (void)meta_type_name(m, table_of(token), token & 0xffffff);
    char *name = m->t.string;
    size_t end = strlen(name), p = end;
    while (p > 0 && name[p - 1] >= '0' && name[p - 1] <= '9' && end - p < 4) {
        marked += unit * (uint32_t)(name[--p] - '0');
        unit *= 10;
    }
    bool is_mark = p < end && p > 1 && name[p - 1] == '`' && name[p] != '0';
    *ret_marked = is_mark ? marked : 0;
    *ret_mark = is_mark ? p - 1 : end;
    return name;
}

/* The types that TOKEN is nested in and TOKEN itself, from the outside in. */
static void find_links(struct gcd_metadata *m, struct meta_name *n, uint32_t token)
{
    uint32_t inner[META_DEPTH_MAX];
    n->links = n->link = n->left = 0;
    for (; token != 0 && m->w.st == GCD_OK; token = outer_token(m, token)) {
        if (n->links == META_DEPTH_MAX) {
            meta_fail(&m->w, GCD_E_FORMAT, GCD_OFF_NONE,
                      "types are nested in each other without an end");
            return;
        }
        inner[n->links++] = token;
    }
    for (uint32_t i = 0; i < n->links; i++)
        n->token[i] = inner[n->links - 1 - i];
}

/* How many of N_ARGS arguments each type takes; the innermost takes the rest. */
static void distribute(struct gcd_metadata *m, struct meta_name *n, uint32_t n_args)
{
    uint32_t given = 0;
    for (uint32_t i = 0; i < n->links; i++) {
        uint32_t own = 0, first;
        size_t mark;
        if (is_definition(n->token[i])) {
            uint32_t all = meta_parameters(m, n->token[i] & 0xffffff, &first);
            own = all > given ? all - given : 0;
        } else {
            (void)segment(m, n->token[i], &own, &mark);
        }
        if (own > n_args - given || i + 1 == n->links)
            own = n_args - given;
        n->takes[i] = own;
        given += own;
    }
}

static void put_link(struct gcd_metadata *m, const struct meta_name *n, uint32_t i)
{
    uint32_t token = n->token[i], takes = n->takes[i], marked;
    size_t mark;
    if (i > 0) {
        meta_put(m, ".");
    } else {
        const char *space = namespace_of(m, table_of(token), token & 0xffffff);
        meta_put(m, space);
        if (space[0] != '\0')
            meta_put(m, ".");
    }
    char *name = segment(m, token, &marked, &mark);
    if (marked == takes)
        name[mark] = '\0';
    meta_put(m, name);
    if (takes > 0)
        meta_put(m, "<");
}

/* Writes from link FROM on, up to one that takes arguments. */
static bool put_links(struct gcd_metadata *m, struct meta_name *n, uint32_t from)
{
    for (n->link = from; n->link < n->links && m->w.st == GCD_OK; n->link++) {
        put_link(m, n, n->link);
        n->left = n->takes[n->link];
        if (n->left > 0)
            return true;
    }
    return false;
}

void meta_name_begin(struct gcd_metadata *m, struct meta_name *n, uint32_t token, uint32_t n_args)
{
    find_links(m, n, token);
    distribute(m, n, n_args);
    (void)put_links(m, n, 0);
}

bool meta_name_next(struct gcd_metadata *m, struct meta_name *n)
{
    if (m->w.st != GCD_OK)
        return false;
    if (--n->left > 0) {
        meta_put(m, ", ");
        return true;
    }
    meta_put(m, ">");
    return put_links(m, n, n->link + 1);
}

/* Writes what meta_string has read, with a backslash before each character that has a meaning. */
static void put_escaped(struct gcd_metadata *m)
{
    char piece[2 * 64 + 1];
    size_t n = 0;
    for (const char *p = m->t.string; *p != '\0'; p++) {
        if (strchr(",[]&*+\\", *p) != NULL)
            piece[n++] = '\\';
        piece[n++] = *p;
        if (n >= sizeof piece - 2) {
            piece[n] = '\0';
            meta_put(m, piece);
            n = 0;
        }
    }
    piece[n] = '\0';
    meta_put(m, piece);
}

void meta_put_reflection_name(struct gcd_metadata *m, enum meta_table table, uint32_t row)
{
    if (namespace_of(m, table, row)[0] != '\0') {
        put_escaped(m);
        meta_put(m, ".");
    }
    (void)meta_type_name(m, table, row);
    put_escaped(m);
}

size_t meta_reflection_name(struct gcd_metadata *m, uint32_t token)
{
    struct meta_name *n = &m->frames[0];
    size_t last = 0;
    find_links(m, n, token);
    for (uint32_t i = 0; i < n->links && m->w.st == GCD_OK; i++) {
        last = i > 0 ? m->text_n + 1 : 0;
        if (i > 0)
            meta_put(m, "+");
        meta_put_reflection_name(m, table_of(n->token[i]), n->token[i] & 0xffffff);
    }
    return last;
}
