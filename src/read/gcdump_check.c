/*
 * Damage that still parses: our files have a checksum; of others only what they say twice can be
 * compared.  The sizes of the nodes have a known sum; writers put the nodes into their block one
 * after another, without gaps; an address belongs to one node, and a made-up node has none; names
 * are well-formed.  The damage that remains unseen is in README.md.
 */
#include <gcdumpc/unstable/text/plural.h>

#include "base/error.h"
#include "base/verdict.h"
#include "io/sink_sum.h"
#include "read/gcdump_in.h"

void gcdump_check_sum(struct gcdump_in *f)
{
    if (f->has_sum)
        f->sum_right = gcd_sum(0, f->file, f->sum_at) == gcd_le32(f->file + f->sum_at);
}

/* ---- do the nodes fill their block? ---- */

/* Of splitmix64: sums of such numbers are equal only if the numbers are. */
static uint64_t mix(uint64_t v)
{
    v += UINT64_C(0x9e3779b97f4a7c15);
    v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
    return v ^ v >> 31;
}

gcd_status gcdump_check_node(struct gcdump_in *f, uint32_t n, const struct gcdump_node *node,
                             struct gcd_error *err)
{
    f->sizes += (uint64_t)(uint32_t)node->size;
    if (f->sum_right)
        return GCD_OK;
    const uint8_t *p = node->p;
    int32_t ignored;
    for (uint32_t k = 0; k < node->children; k++)
        if (!gcdump_cint(&p, node->end, &ignored))
            return gcdump_bad(f->blob + f->blob_bytes, "references of a node are missing", err);
    f->extents += mix(gcdump_offset(f, n)) - mix((uint64_t)(p - (f->file + f->blob)));
    return GCD_OK;
}

/* Every node begins where another one ends; the first one begins after the undefined node. */
static bool fills_block(const struct gcdump_in *f)
{
    return f->extents + mix(f->blob_bytes) - mix(GCDUMP_UNDEFINED_BYTES) == 0;
}

/* ---- names ---- */

void gcdump_check_name(struct gcdump_in *f, const struct gcdump_string *s)
{
    const uint8_t *p = f->file + s->off, *end = p + s->bytes;
    while (p < end) {
        size_t n = *p < 0x80 ? 1 : *p < 0xe0 ? 2 : 3;
        f->odd_names = f->odd_names || *p < 0x20 || (*p >= 0x80 && *p < 0xc2) || *p >= 0xf0;
        for (size_t i = 1; i < n; i++)
            f->odd_names = f->odd_names || (p[i] & 0xc0) != 0x80;
        p += n;
    }
}

/* ---- the verdict ---- */

/* A node without address below the root groups roots, and objects have other types. */
static gcd_status count_objects_in_tree(struct gcdump_in *f, uint64_t *count, struct gcd_error *err)
{
    for (size_t i = 0; i < f->tree_count && f->has_addresses; i++) {
        struct gcdump_node node;
        GCD_TRY(gcdump_get_node(f, f->tree[i].node, &node, err));
        *count += f->types[node.type].has_objects;
    }
    return GCD_OK;
}

/* NULL = none. */
static const char *contradiction(const struct gcdump_in *f, const struct gcd_graph_notes *notes)
{
    if (!f->fits)
        return "there are bytes that belong to nothing";
    if (f->sizes != f->total)
        return "the sizes of its nodes do not have the sum that it names";
    if (!fills_block(f))
        return "its nodes have gaps, or overlap";
    if (f->odd_names && !f->javascript)
        return "the name of a type has impossible characters";
    if (f->has_addresses && f->tree_count == 0)
        return "its root is an object";
    return notes->objects_doubled > 0 ? "objects have the address of another one" : NULL;
}

gcd_status gcdump_judge(struct gcdump_in *f, struct gcd_build *b, struct gcd_error *err)
{
    struct gcd_verdict *v = &gcd_build_summary(b)->verdict;
    struct gcd_graph_notes *notes = gcd_build_notes(b);
    uint64_t lost = f->dropped;
    const char *why;
    GCD_TRY(count_objects_in_tree(f, &lost, err));
    if (!f->closed)
        gcd_verdict_add(v, GCD_REASON_TRACE_TRUNCATED, f->bytes,
                        "the file ends early, or the table at its end is damaged");
    if (f->has_sum && !f->sum_right)
        gcd_verdict_add(v, GCD_REASON_INPUT_DAMAGED, 0,
                        "the file was damaged after it was written: its checksum is wrong");
    else if (f->log_counts && !f->has_sum)
        gcd_verdict_add(v, GCD_REASON_INPUT_DAMAGED, 0,
                        "the file was damaged after it was written: its checksum is missing");
    else if (!f->sum_right && (why = contradiction(f, notes)) != NULL)
        gcd_verdict_add(v, GCD_REASON_INPUT_DAMAGED, 0, "the file is damaged: %s", why);
    uint32_t objects = gcd_build_node_count(b);
    if (f->log_counts && f->log_objects > objects + lost)
        lost = f->log_objects - objects;
    if (lost > 0)
        gcd_verdict_add(v, GCD_REASON_OBJECTS_LOST, lost, "%s object%s of the file %s lost",
                        GCD_DIGITS(lost), gcd_plural(lost), gcd_by_number(lost, "is", "are"));
    lost =
        f->log_counts && f->log_references > f->references ? f->log_references - f->references : 0;
    if (lost > 0)
        gcd_verdict_add(v, GCD_REASON_EDGES_LOST, lost, "%s reference%s of the file %s lost",
                        GCD_DIGITS(lost), gcd_plural(lost), gcd_by_number(lost, "is", "are"));
    return GCD_OK;
}
