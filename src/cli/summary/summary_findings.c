#include <stdlib.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/suspect_checks.h>

#include "answer/answers.h"
#include "summary/summary.h"
#include "input/input.h"
#include "output/json_out.h"
#include "output/root_labels.h"

/* More suspects have a common cause; the first ones retain the most. */
#define MOST_FINDINGS 50u

static const char *type_name(const struct cli_summary_graph *g, uint32_t type)
{
    return type != GCD_TYPE_NONE ? gcd_names_plain(g->names, type) : "";
}

static json_t *finding(const struct cli_dump *d, const struct cli_summary_graph *g,
                       const struct gcd_suspect *s)
{
    const struct gcd_root *root =
        s->root != SIZE_MAX ? &gcd_graph_summary(d->graph)->roots[s->root] : NULL;
    char *label = s->path_count > 0 ? cli_root_label(d->graph, g->names, root) : NULL;
    json_t *o = json_object();
    cli_json_put_text(o, "kind", gcd_suspect_kind_name(s->kind));
    cli_json_put_text(o, "type", type_name(g, s->type));
    cli_json_put_text(o, "collection", s->collection != NULL ? s->collection : "");
    cli_json_put_text(o, "element", type_name(g, s->element.type));
    cli_json_put_text(o, "owner", type_name(g, s->owner));
    cli_json_put_text(o, "owner_module", s->owner_module);
    cli_json_put_text(o, "root_kind", s->path_count > 0 ? answer_root_key(root) : "");
    cli_json_put_text(o, "root", label != NULL ? label : "");
    cli_json_count(o, "objects", s->objects);
    cli_json_count(o, "bytes", s->bytes);
    cli_json_count(o, "own_bytes", s->shallow_bytes);
    cli_json_count(o, "retained_bytes", s->retained_bytes);
    (void)json_object_set_new(
        o, "share", gcd_suspect_kind_is_free(s->kind) ? json_null() : json_real(s->share));
    cli_json_put_text(o, "sentence", s->sentence);
    cli_json_put_text(o, "advice", s->advice);
    free(label);
    return o;
}

json_t *cli_summary_findings(const struct cli_dump *d, const struct cli_summary_graph *g)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < gcd_suspects_count(g->suspects) && i < MOST_FINDINGS; i++)
        (void)json_array_append_new(rows, finding(d, g, gcd_suspects_get(g->suspects, i)));
    return rows;
}
