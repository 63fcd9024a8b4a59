#include <inttypes.h>

#include <gcdumpc/unstable/static_names.h>

#include "answer/answers.h"

const char *answer_root_key(const struct gcd_root *r)
{
    return r != NULL ? gcd_root_group_label(gcd_root_group(r))->key : "stand_in";
}

static struct gcd_static_words words_of(const struct gcd_session *s, const struct gcd_root *r)
{
    return r != NULL ? gcd_static_words(gcd_session_graph(s), gcd_session_names(s), r)
                     : (struct gcd_static_words){ "", { "", "", "" } };
}

void answer_root_label(struct answer *a, const char *key, const struct gcd_session *s,
                       const struct gcd_root *r)
{
    const struct gcd_static_words w = words_of(s, r);
    answer_format(a, key, "%s%s%s%s%s",
                  r != NULL ? gcd_root_group_label(gcd_root_group(r))->one : "(no root recorded)",
                  w.label[0][0] != '\0' ? " " : "", w.label[0], w.label[1], w.label[2]);
}

void answer_static(struct answer *a, const struct gcd_session *s, const struct gcd_root *r)
{
    const struct gcd_static_words w = words_of(s, r);
    answer_known(a, "field", r != NULL && r->kind == GCD_ROOT_STATIC ? r->name : NULL);
    answer_known(a, "class", w.class_name);
    if (w.label[0][0] != '\0')
        answer_format(a, "label", "%s%s%s", w.label[0], w.label[1], w.label[2]);
}

void answer_object(struct answer *a, const struct gcd_session *s, uint32_t node)
{
    const struct gcd_graph *g = gcd_session_graph(s);
    bool known = !gcd_graph_notes(g)->addresses_made_up;
    answer_format(a, "object", known ? "0x%" PRIx64 : "%" PRIu64,
                  known ? gcd_graph_node_address(g, node) : (uint64_t)node);
    if (known)
        answer_count(a, "address", gcd_graph_node_address(g, node));
    answer_count(a, "node", node);
}
