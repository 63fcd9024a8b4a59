#include "output/root_labels.h"

#include <stdio.h>

#include "answer/answers.h"

char *cli_root_label(const struct gcd_graph *g, const struct gcd_names *names,
                     const struct gcd_root *r)
{
    const char *p[ANSWER_ROOT_PARTS];
    char *text = NULL;
    answer_root_parts(g, names, r, p);
    int n = asprintf(&text, "%s%s%s%s%s", p[0], p[1], p[2], p[3], p[4]);
    return n >= 0 ? text : NULL;
}
