#include "support/invent_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load/load.h"

bool invent_outer(const struct gcd_type *t)
{
    return t->named && t->id % 3 == 0;
}

void invent_names(struct gcd_dump *d, const char *outer)
{
    for (size_t i = 0; i < d->summary.module_count; i++) {
        struct gcd_module *m = &d->modules[i];
        m->state = GCD_MODULE_READ;
        memset(m->mvid, (int)(i + 1), sizeof m->mvid);
        m->has_public_key = i % 2 == 0;
        memset(m->public_key_token, m->has_public_key ? (int)(0xa0 + i % 90) : 0,
               sizeof m->public_key_token);
    }
    for (uint32_t i = 0; i < d->type_count; i++) {
        d->types[i].layout = i % 2 == 0 ? INVENTED_LAYOUT : NULL;
        size_t n = strlen(outer) + strlen(d->types[i].raw_name) + 2;
        char *s = malloc(n);
        if (s == NULL)
            abort();
        (void)snprintf(s, n, "%s+%s", outer, d->types[i].raw_name);
        if (invent_outer(&d->types[i]) &&
            heap_text(d->heap, s, strlen(s), &d->types[i].name, NULL) != GCD_OK)
            abort();
        free(s);
    }
    for (size_t i = 0; i < d->summary.root_count; i++)
        if (d->roots[i].kind == GCD_ROOT_STATIC && i % 2 == 0) {
            d->roots[i].class_name = INVENTED_CLASS;
            d->roots[i].label = INVENTED_LABEL;
        }
}
