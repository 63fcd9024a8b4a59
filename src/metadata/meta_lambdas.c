/*
 * The methods that lambdas were written in, from the names that C# gives to lambdas.
 */
#include <string.h>

#include "metadata/meta_impl.h"

#define METHODS_MAX 256u /* of one class */

uint32_t meta_methods_end(struct gcd_metadata *m, uint32_t row)
{
    uint32_t all = m->t.table[META_METHOD_DEF].rows + 1;
    if (row == m->t.table[META_TYPE_DEF].rows)
        return all;
    uint32_t end = meta_cell(&m->t, META_TYPE_DEF, row + 1, TYPE_DEF_METHODS);
    return end <= all ? end : 0;
}

/* The length of the method in NAME, "<Add>b__0", whose name may have brackets itself; 0 = NAME is
 * no lambda. */
static size_t method_length(const char *name)
{
    size_t i = 0;
    int depth = 0;
    do {
        depth += (name[i] == '<') - (name[i] == '>');
        i++;
    } while (depth > 0 && name[i] != '\0');
    return depth == 0 && i > 2 && strncmp(name + i, "b__", 3) == 0 ? i - 2 : 0;
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

gcd_status gcd_metadata_lambda_method(struct gcd_metadata *m, uint32_t token, const char **ret,
                                      struct gcd_error *err)
{
    uint32_t row = token & 0xffffff;
    bool one = true;
    meta_begin(m);
    m->field_name[0] = '\0';
    if (token >> 24 != META_TYPE_DEF || row == 0 || row > m->t.table[META_TYPE_DEF].rows)
        meta_fail(&m->w, GCD_E_ARG, GCD_OFF_NONE, "the module has no such type");
    else if (strncmp(meta_type_name(m, META_TYPE_DEF, row), "<>c", 3) == 0) {
        uint32_t first = meta_cell(&m->t, META_TYPE_DEF, row, TYPE_DEF_METHODS);
        uint32_t end = meta_methods_end(m, row);
        one = end > first && end - first <= METHODS_MAX;
        for (uint32_t i = first; one && i < end && m->w.st == GCD_OK; i++)
            one = take(m, meta_string(&m->t, meta_cell(&m->t, META_METHOD_DEF, i, METHOD_NAME)));
    }
    meta_put(m, one ? m->field_name : "");
    if (m->w.st == GCD_OK)
        *ret = m->text;
    return meta_end(m, err);
}
