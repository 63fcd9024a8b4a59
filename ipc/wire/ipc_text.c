#include "ipc/wire/ipc_text.h"

#include <string.h>

#include "base/cur.h"
#include "base/mem.h"
#include "base/text.h"

char *gcd_text_from_utf16(const struct gcd_alloc *alloc, const uint8_t *units, size_t n_units)
{
    if (n_units > 0 && gcd_le16(units + 2 * (n_units - 1)) == 0)
        n_units--;
    /* At most three bytes per unit, and a message has less than 64 KiB: the product cannot
     * overflow. */
    char *buffer = gcd_mem_new_array(alloc, n_units, 3);
    if (buffer == NULL)
        return NULL;
    char *s = gcd_mem_strndup(alloc, buffer, gcd_utf16le_to_utf8(units, n_units, buffer));
    gcd_mem_free(alloc, buffer, 3 * n_units);
    return s;
}

void gcd_text_free(const struct gcd_alloc *alloc, char *s)
{
    gcd_mem_free(alloc, s, strlen(s) + 1);
}
