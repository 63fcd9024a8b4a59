/*
 * Names of methods; the methods that lambdas were written in, from the names that C# gives to
 * lambdas.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "metadata/meta_impl.h"

#define METHODS_MAX 256u /* of one class */
#define BLOCKS_MAX  32u  /* of one method, whose variables no lambda of their own uses */

uint32_t meta_methods_end(struct gcd_metadata *m, uint32_t row)
{
    uint32_t all = m->t.table[META_METHOD_DEF].rows + 1;
    if (row == m->t.table[META_TYPE_DEF].rows)
        return all;
    uint32_t end = meta_cell(&m->t, META_TYPE_DEF, row + 1, TYPE_DEF_METHODS);
    return end <= all ? end : 0;
}

/* The type that declares method ROW: the last one whose methods begin at it or before; 0 = none. */
static uint32_t declaring_type(struct gcd_metadata *m, uint32_t row)
{
    uint32_t first = 1, end = m->t.table[META_TYPE_DEF].rows + 1;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (meta_cell(&m->t, META_TYPE_DEF, middle, TYPE_DEF_METHODS) <= row)
            first = middle + 1;
        else
            end = middle;
    }
    return first > 1 && row < meta_methods_end(m, first - 1) ? first - 1 : 0;
}

gcd_status gcd_metadata_method_name(struct gcd_metadata *m, uint32_t token, uint32_t *ret_type,
                                    const char **ret, struct gcd_error *err)
{
    uint32_t row = token & 0xffffff, type = 0;
    meta_begin(m);
    if (token >> 24 == META_METHOD_DEF && row > 0 && row <= m->t.table[META_METHOD_DEF].rows)
        type = declaring_type(m, row);
    if (type == 0)
        meta_fail(&m->w, GCD_E_ARG, GCD_OFF_NONE, "the module has no such method");
    else
        meta_put(m, meta_string(&m->t, meta_cell(&m->t, META_METHOD_DEF, row, METHOD_NAME)));
    if (m->w.st == GCD_OK) {
        *ret_type = GCD_TOKEN_TYPE | type;
        *ret = m->text;
    }
    return meta_end(m, err);
}

/* The length of the method in NAME, "<Add>b__0", whose name may have brackets itself; 0 = NAME is
 * no lambda, and no local function, "<Add>g__Next|0". */
static size_t method_length(const char *name)
{
    size_t n = strlen(name), i = gcd_text_closing(name, n);
    return i > 1 && i < n &&
                   (gcd_text_begins(name + i + 1, "b__") || gcd_text_begins(name + i + 1, "g__"))
               ? i - 1
               : 0;
}

/* Takes the method of lambda NAME; false if the class has lambdas of another one, too. */
static bool take(struct gcd_metadata *m, const char *name)
{
    size_t n = method_length(name);
    if (n == 0)
        return true;
    if (m->field_name[0] != '\0')
        return strlen(m->field_name) == n && memcmp(m->field_name, name + 1, n) == 0;
    memcpy(m->field_name, name + 1, n);
    m->field_name[n] = '\0';
    return true;
}

/* Takes the method of the lambdas in class ROW; false if they are of several methods. */
static bool take_all(struct gcd_metadata *m, uint32_t row)
{
    uint32_t first = meta_cell(&m->t, META_TYPE_DEF, row, TYPE_DEF_METHODS);
    uint32_t end = meta_methods_end(m, row);
    bool one = end > first && end - first <= METHODS_MAX;
    for (uint32_t i = first; one && i < end && m->w.st == GCD_OK; i++)
        one = take(m, meta_string(&m->t, meta_cell(&m->t, META_METHOD_DEF, i, METHOD_NAME)));
    return one;
}

/* Has class ROW the variables of another block of the method that the class of variables before it
 * belongs to?  "<>c__DisplayClass2_1" follows "<>c__DisplayClass2_0". */
static bool is_next_block(struct gcd_metadata *m, uint32_t row)
{
    char before[META_STRING_MAX + 1];
    if (row > m->t.table[META_TYPE_DEF].rows)
        return false;
    (void)snprintf(before, sizeof before, "%s", meta_type_name(m, META_TYPE_DEF, row - 1));
    const char *name = meta_type_name(m, META_TYPE_DEF, row), *end = strrchr(name, '_');
    return end != NULL && gcd_text_begins(name, "<>c__D") &&
           strncmp(name, before, (size_t)(end - name) + 1) == 0 &&
           meta_outer(m, row) == meta_outer(m, row - 1);
}

gcd_status gcd_metadata_lambda_method(struct gcd_metadata *m, uint32_t token, const char **ret,
                                      struct gcd_error *err)
{
    uint32_t row = token & 0xffffff;
    bool one = true;
    meta_begin(m);
    m->field_name[0] = '\0';
    if (token >> 24 != META_TYPE_DEF || row == 0 || row > m->t.table[META_TYPE_DEF].rows)
        meta_fail(&m->w, GCD_E_ARG, GCD_OFF_NONE, "the module has no such type");
    else if (gcd_text_begins(meta_type_name(m, META_TYPE_DEF, row), "<>c")) {
        /* only lambdas of blocks inside may use the variables of a block, whose class then has none
         */
        unsigned blocks = 0;
        do
            one = take_all(m, row++);
        while (one && m->field_name[0] == '\0' && m->w.st == GCD_OK && ++blocks < BLOCKS_MAX &&
               is_next_block(m, row));
    }
    meta_put(m, one ? m->field_name : "");
    if (m->w.st == GCD_OK)
        *ret = m->text;
    return meta_end(m, err);
}
