#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/static_names.h>
#include <gcdumpc/unstable/text/plural.h>

#include "args.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/input.h"
#include "output/filter.h"
#include "output/json_out.h"
#include "output/root_labels.h"
#include "term/message.h"
#include "term/term.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *cli_root_label(const struct gcd_graph *g, const struct gcd_names *names,
                     const struct gcd_root *r)
{
    if (r == NULL)
        return strdup("(no root recorded)");
    const char *group = gcd_root_group_label(gcd_root_group(r))->one;
    const struct gcd_static_words w = gcd_static_words(g, names, r);
    if (w.label[0][0] == '\0')
        return strdup(group);
    char *text = NULL;
    int n = asprintf(&text, "%s %s%s%s", group, w.label[0], w.label[1], w.label[2]);
    return n >= 0 ? text : NULL;
}

void cli_say_pseudo_roots(const char *subject, uint32_t n)
{
    if (n > 0)
        cli_say(subject,
                "the dump has no roots; %" PRIu32
                " object%s that nothing else refers to %s, so the results are a guess",
                n, gcd_plural(n),
                gcd_by_number(n, "serves as pseudo-root", "serve as pseudo-roots"));
}

enum cli_exit cli_match_types(const char *pattern, const struct cli_dump *d,
                              const struct gcd_names *names, uint8_t **ret)
{
    struct cli_filter *filter;
    enum cli_exit e = cli_filter_new(pattern, &filter);
    if (e == CLI_DONE)
        e = cli_filter_types(filter, d, names, ret);
    cli_filter_free(filter);
    return e;
}
